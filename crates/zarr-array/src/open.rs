//! Opening: one document, resolved against a registry.

use std::sync::Arc;

use zarr_meta::path::DOCUMENT;
use zarr_meta::v3::NodeDocument;
use zarr_meta::{ArrayMeta, Diagnostic, Sink, Strict};
use zarr_traits::{InnerOrder, Limits, Prefix, Registry, Storage};

use crate::array::Array;
use crate::core::{Core, FillChunks, Missing, PartialWrites};
use crate::cpu::Cpu;
use crate::error::{ArrayError, ArrayErrorKind, ArrayResult};
use crate::indexes::{self, Indexes};

/// How an array is opened, where the defaults will not do.
///
/// ```
/// # use zarr_array::{Array, ArrayResult, OpenOptions, Registry, Storage};
/// # async fn example(storage: Storage, registry: &Registry) -> ArrayResult<()> {
/// let array = OpenOptions::new().strict(true).open(storage, "/t2m", registry).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
pub struct OpenOptions {
    strict: bool,
    limits: Limits,
}

impl OpenOptions {
    /// Tolerant, with the default limits.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether any deviation of the metadata from the specification is an error.
    #[must_use]
    pub fn strict(mut self, strict: bool) -> Self {
        self.strict = strict;
        self
    }

    /// The limits on what stored data may make us do.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Opens the array at `path`: one request, and one more for a good message if it is not there.
    ///
    /// # Errors
    /// As [`Array::open`].
    pub async fn open(
        &self,
        storage: impl Into<Storage>,
        path: &str,
        registry: &Registry,
    ) -> ArrayResult<Array> {
        let storage = storage.into();
        let prefix = Prefix::of_node(path)?;
        let path = prefix.node_path();
        let opened = async {
            let Some(document) = storage.get(&prefix.key(DOCUMENT)?).await? else {
                return Err(not_found(&storage, &prefix).await);
            };
            let mut diagnostics = Vec::new();
            let sink: &mut dyn Sink = if self.strict { &mut Strict } else { &mut diagnostics };
            let meta = match NodeDocument::parse(&document, &self.limits, sink)? {
                NodeDocument::Array(document) => ArrayMeta::from(document),
                _ => return Err(ArrayError::new(ArrayErrorKind::NotFound, "there is a group, not an array")),
            };
            self.resolve(storage.clone(), prefix, meta, registry, diagnostics)
        };
        opened.await.map_err(|e| e.in_array(&path))
    }

    /// From metadata that is there already.
    pub(crate) fn resolve(
        &self,
        storage: Storage,
        prefix: Prefix,
        meta: ArrayMeta,
        registry: &Registry,
        mut diagnostics: Vec<Diagnostic>,
    ) -> ArrayResult<Array> {
        let sink: &mut dyn Sink = if self.strict { &mut Strict } else { &mut diagnostics };
        let resolved = meta.resolve(registry, &self.limits, sink)?;
        let chunks = resolved.transformers.iter().fold(storage.clone(), |inner, t| t.wrap(&inner, &prefix));
        let core = Core {
            path: prefix.node_path(),
            prefix,
            cpu: Cpu::of(&storage),
            shape: meta.shape().into(),
            size: resolved.data_type.memory_size(),
            fill_element: resolved.chain.repr().fill_element(),
            data_type: resolved.data_type,
            fill: resolved.fill,
            grid: resolved.grid,
            keys: resolved.key_encoding,
            chain: resolved.chain,
            limits: self.limits.clone(),
            missing: Missing::default(),
            fill_chunks: FillChunks::default(),
            inner_order: InnerOrder::default(),
            partial_writes: PartialWrites::default(),
            fetching: chunks.capabilities().drive.hints(),
            indexes: Arc::new(Indexes::new(indexes::BYTES)),
            beside: false,
            storage: chunks,
        };
        Ok(Array {
            core: Arc::new(core),
            meta: Arc::new(meta),
            registry: registry.clone(),
            node: storage,
            diagnostics: diagnostics.into(),
        })
    }
}

impl Array {
    /// Opens the array at `path` (`/`, `a/b`, `/a/b`), tolerantly; see [`OpenOptions`] for more.
    ///
    /// # Errors
    /// [`NotFound`](ArrayErrorKind::NotFound) when there is no array; [`Metadata`](ArrayErrorKind::Metadata) when its
    /// document is invalid; [`UnknownExtension`](ArrayErrorKind::UnknownExtension) when `registry` does not know what it
    /// uses; and those of the store.
    pub async fn open(storage: impl Into<Storage>, path: &str, registry: &Registry) -> ArrayResult<Self> {
        OpenOptions::new().open(storage, path, registry).await
    }
}

/// The error for an array that is not there; one more request tells whether an older format is.
async fn not_found(storage: &Storage, prefix: &Prefix) -> ArrayError {
    let (name, what) = zarr_meta::path::OLD_ARRAY;
    let old = match prefix.key(name) {
        Ok(key) => storage.reader().size(&key).await.ok().flatten(),
        Err(_) => None,
    };
    match old {
        None => ArrayError::new(ArrayErrorKind::NotFound, "there is no zarr.json"),
        Some(_) => {
            ArrayError::new(ArrayErrorKind::Unsupported, format!("{what}, which is not supported yet"))
        }
    }
}
