//! Opening: reads the documents of an array and resolves them against a registry.

use std::sync::Arc;

use zarr_meta::{ArrayMeta, Diagnostic, Format, NodeMeta, Sink, Strict};
use zarr_traits::{BoxFuture, Limits, Located, Prefix, Registry, Storage, update::InnerOrder};

use crate::cpu::Cpu;
use crate::error::{ArrayError, ArrayErrorKind, ArrayResult};
use crate::handles::array::Array;
use crate::io::core::Core;
use crate::io::versioned;
use crate::io::versioned::Indexes;
use crate::node;
use crate::node::ConsolidatedPolicy;
use crate::settings::{BlockSize, EmptyChunks, MissingChunks, PartialWrites};

/// Options for opening an array with [`Array::open_with`].
///
/// ```
/// # use zarr_array::{Array, ArrayResult, OpenOptions, Registry, Storage};
/// # async fn example(storage: Storage, registry: &Registry) -> ArrayResult<()> {
/// let options = OpenOptions::new().strict(true);
/// let array = Array::open_with(storage, "/t2m", registry, &options).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
pub struct OpenOptions {
    strict: bool,
    limits: Limits,
    format: Option<Format>,
    separator: Option<char>,
}

impl OpenOptions {
    /// The defaults: tolerant, formats 3 and 2, and the default limits.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets whether any deviation of the metadata from the specification is an error.
    #[must_use]
    pub fn strict(mut self, strict: bool) -> Self {
        self.strict = strict;
        self
    }

    /// Sets the limits on the memory and work that stored data may demand.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the format of the array. By default format 3 is tried first, then 2. Format 1 is read only if it is set
    /// here.
    #[must_use]
    pub fn format(mut self, format: impl Into<Option<Format>>) -> Self {
        self.format = format.into();
        self
    }

    /// Sets the separator of the numbers in chunk keys, `.` or `/`, for an array of format 2 whose document does not
    /// state it.
    ///
    /// zarr-python before version 2.8 wrote keys with `/` but did not state it in the document. Read with `.`, the
    /// default of the format, such an array seems to hold only fill values.
    ///
    /// ```
    /// # use zarr_array::{Array, ArrayResult, OpenOptions, Registry, Storage};
    /// # async fn example(storage: Storage, registry: &Registry) -> ArrayResult<()> {
    /// let options = OpenOptions::new().separator('/');
    /// let array = Array::open_with(storage, "/t2m", registry, &options).await?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn separator(mut self, separator: impl Into<Option<char>>) -> Self {
        self.separator = separator.into();
        self
    }

    /// Opens the array at `prefix`. A wall (decision 0026).
    fn read_at<'a>(
        &'a self,
        storage: Storage,
        prefix: Prefix,
        registry: &'a Registry,
    ) -> BoxFuture<'a, ArrayResult<Array>> {
        Box::pin(async move {
            let path = prefix.node_path();
            let opened = async {
                let found = node::read(&storage, &prefix, self.format, &self.limits, self.strict).await?;
                let not_found = |what| Err(ArrayError::new(ArrayErrorKind::NotFound, what));
                match found {
                    None => not_found(node::absent("array", self.format)),
                    Some((NodeMeta::Group(_), _)) => not_found("there is a group, not an array".to_owned()),
                    Some((NodeMeta::Array(meta), diagnostics)) => {
                        self.open_known(storage.clone(), prefix, meta, diagnostics, registry)
                    }
                }
            };
            opened.await.map_err(|e| e.in_array(&path, &storage))
        })
    }

    /// Opens the array at `prefix` from metadata that was read before.
    pub(crate) fn open_known(
        &self,
        storage: Storage,
        prefix: Prefix,
        meta: ArrayMeta,
        diagnostics: Vec<Diagnostic>,
        registry: &Registry,
    ) -> ArrayResult<Array> {
        let path = prefix.node_path();
        let document = meta.format().array_document().as_str();
        let resolved = self.resolve(storage.clone(), prefix, meta, registry, diagnostics);
        resolved.map_err(|e| e.in_document(document).in_array(&path, &storage))
    }

    /// Resolves metadata against a registry and returns a handle.
    pub(crate) fn resolve(
        &self,
        storage: Storage,
        prefix: Prefix,
        mut meta: ArrayMeta,
        registry: &Registry,
        mut diagnostics: Vec<Diagnostic>,
    ) -> ArrayResult<Array> {
        self.separator.map_or(Ok(()), |separator| meta.assume_separator(separator))?;
        let sink: &mut dyn Sink = if self.strict { &mut Strict } else { &mut diagnostics };
        let resolved = meta.resolve(registry, &self.limits, sink)?;
        let empty_chunks = match meta.fill_is_undefined() {
            // A missing chunk has no defined value, so every chunk must be stored.
            true => EmptyChunks::Store,
            false => EmptyChunks::default(),
        };
        let chunks = resolved.storage(&storage, &prefix);
        let core = Core {
            path: prefix.node_path(),
            prefix,
            cpu: Cpu::of(&storage),
            may_block: false,
            shape: meta.shape().into(),
            size: resolved.data_type.memory_size(),
            fill_element: resolved.chain.repr().fill_element(),
            data_type: resolved.data_type,
            fill: resolved.fill,
            grid: resolved.grid,
            keys: resolved.key_encoding,
            chain: resolved.chain,
            limits: self.limits.clone(),
            missing: MissingChunks::default(),
            empty_chunks,
            inner_order: InnerOrder::default(),
            partial_writes: PartialWrites::default(),
            fetching: chunks.capabilities().drive.fetching(),
            indexes: Arc::new(Indexes::new(versioned::BYTES)),
            block_size: BlockSize::default(),
            progress: None,
            decoded: None,
            is_recoded: false,
            beside: false,
            gate: zarr_engine::gate(&chunks),
            storage: chunks,
        };
        Ok(Array {
            core: Arc::new(core),
            meta: Arc::new(meta),
            registry: registry.clone(),
            node: storage,
            consolidated: ConsolidatedPolicy::default(),
            diagnostics: diagnostics.into(),
        })
    }
}

impl Array {
    /// Opens the array at `path` (`/`, `a/b`, `/a/b`). Deviations from the specification that do no harm are tolerated
    /// and listed by [`diagnostics`](Self::diagnostics). [`open_with`](Self::open_with) changes that.
    ///
    /// ```
    /// # use zarr_array::{Array, ArrayResult, Storage, standard};
    /// # async fn example(storage: Storage) -> ArrayResult<()> {
    /// let array = Array::open(storage, "/t2m", &standard()).await?;
    /// println!("{:?} of {}", array.shape(), array.data_type());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`NotFound`](ArrayErrorKind::NotFound) when no array is at `path`; [`Metadata`](ArrayErrorKind::Metadata) when
    /// its document is invalid; [`UnknownExtension`](ArrayErrorKind::UnknownExtension) when `registry` does not know a
    /// codec, data type or grid of the array; and those of the store.
    pub async fn open(storage: impl Into<Storage>, path: &str, registry: &Registry) -> ArrayResult<Self> {
        Self::open_with(storage, path, registry, &OpenOptions::new()).await
    }

    /// Opens the array at `path` with options: strictness, limits, the format, the separator of chunk keys.
    ///
    /// Costs one request for an array of format 3. Without a stated format, an array of format 2 costs two more
    /// concurrent requests.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub async fn open_with(
        storage: impl Into<Storage>,
        path: &str,
        registry: &Registry,
        options: &OpenOptions,
    ) -> ArrayResult<Self> {
        let storage = storage.into();
        let prefix = node::prefix_of(&storage, path)?;
        options.read_at(storage, prefix, registry).await
    }

    /// Opens the array that a URL names, in the format that the URL asks for, if any.
    ///
    /// ```
    /// # use zarr_array::{Array, ArrayResult, Registry};
    /// # use zarr_store::Schemes;
    /// # async fn example(schemes: Schemes, registry: &Registry) -> ArrayResult<()> {
    /// let located = schemes.open("s3://bucket/weather.zarr|zarr3:t2m", &zarr_store::Access::new()).await?;
    /// let t2m = Array::open_at(&located, registry).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`open`](Self::open); [`Unsupported`](ArrayErrorKind::Unsupported) if this crate does not know the format.
    #[doc(alias = "open_url")]
    pub async fn open_at(located: &Located, registry: &Registry) -> ArrayResult<Self> {
        let options = OpenOptions::new().format(node::format_at(located)?);
        Self::open_with(located.storage.clone(), &located.node, registry, &options).await
    }

    /// Opens the array at `prefix` from metadata that was read before, with the diagnostics of that read. Makes no request.
    ///
    /// ```
    /// # use zarr_array::traits::Prefix;
    /// # use zarr_array::{Array, ArrayMeta, ArrayResult, DataType, OpenOptions, Storage, standard};
    /// # let storage = Storage::from(zarr_store::MemoryStore::new());
    /// # let meta = ArrayMeta::builder([4, 6], DataType::Float32).chunks([2, 3]).build()?;
    /// let (prefix, options) = (Prefix::of_node("/t2m")?, OpenOptions::new());
    /// let array = Array::from_metadata(storage, prefix, meta, Vec::new(), &standard(), &options)?;
    /// assert_eq!(array.shape(), [4, 6]);
    /// # ArrayResult::Ok(())
    /// ```
    ///
    /// # Errors
    /// As [`open`](Self::open), without those of the store.
    pub fn from_metadata(
        storage: impl Into<Storage>,
        prefix: Prefix,
        meta: ArrayMeta,
        diagnostics: Vec<Diagnostic>,
        registry: &Registry,
        options: &OpenOptions,
    ) -> ArrayResult<Self> {
        options.open_known(storage.into(), prefix, meta, diagnostics, registry)
    }
}
