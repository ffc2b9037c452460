//! Creating: the documents of the array, after the groups that it lies in.

use zarr_meta::{ArrayMeta, Diagnostic, NodeMeta};
use zarr_traits::{Limits, Prefix, Registry, Storage};

use crate::array::Array;
use crate::error::{ArrayError, ArrayErrorKind, ArrayResult};
use crate::metadata::same_array;
use crate::node::{self, Consolidated, ExistingNode, Writing};
use crate::open::OpenOptions;

/// How an array is created, where the defaults will not do.
///
/// ```
/// # use zarr_array::{Array, ArrayMeta, ArrayResult, CreateOptions, ExistingNode, Registry, Storage};
/// # async fn example(storage: Storage, meta: ArrayMeta, registry: &Registry) -> ArrayResult<()> {
/// // Any number of processes may say this at once, and all get the same array.
/// let options = CreateOptions::new().existing(ExistingNode::Open);
/// let array = options.create(storage, "/t2m", meta, registry).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
pub struct CreateOptions {
    existing: ExistingNode,
    writing: Writing,
}

impl CreateOptions {
    /// The defaults: an existing node is an error, consolidated metadata in parent groups is kept up to date, and the default
    /// limits hold.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets what happens to a node that exists at the path.
    #[must_use]
    pub fn existing(mut self, existing: ExistingNode) -> Self {
        self.existing = existing;
        self
    }

    /// Sets what happens to consolidated metadata in parent groups.
    #[must_use]
    pub fn consolidated(mut self, consolidated: Consolidated) -> Self {
        self.writing.consolidated = consolidated;
        self
    }

    /// Sets the limits on what stored data may make us do.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.writing.limits = limits;
        self
    }

    /// Creates the array at `path`.
    ///
    /// # Errors
    /// As [`Array::create`].
    pub async fn create(
        &self,
        storage: impl Into<Storage>,
        path: &str,
        meta: ArrayMeta,
        registry: &Registry,
    ) -> ArrayResult<Array> {
        let (storage, prefix) = (storage.into(), Prefix::of_node(path)?);
        let path = prefix.node_path();
        self.make(&storage, prefix, meta, registry).await.map_err(|e| e.in_array(&path))
    }

    /// Everything that can be refused is refused before anything is deleted.
    async fn make(
        &self,
        storage: &Storage,
        prefix: Prefix,
        meta: ArrayMeta,
        registry: &Registry,
    ) -> ArrayResult<Array> {
        let options = OpenOptions::new().limits(self.writing.limits.clone());
        let node = NodeMeta::Array(meta.clone());
        let mut advice: Vec<Diagnostic> = Vec::new();
        meta.lint(&mut advice)?;
        let array = options.resolve(storage.clone(), prefix.clone(), meta, registry, advice)?;
        if let Some(skipped) = array.codecs().skipped().first() {
            let message = format!("codec {skipped:?} is unknown, an array that uses it cannot be created");
            return Err(ArrayError::new(ArrayErrorKind::UnknownExtension, message));
        }
        let is_same = |there: &ArrayMeta| same_array(there, array.metadata(), registry, &self.writing.limits);
        let array = match node::create(storage, &prefix, &node, self.existing, &self.writing).await? {
            None => array,
            Some(NodeMeta::Array(there)) if is_same(&there) => {
                options.resolve(storage.clone(), prefix, there, registry, Vec::new())?
            }
            Some(_) => return Err(ArrayError::new(ArrayErrorKind::Exists, "there is another node already")),
        };
        Ok(array.with_consolidated(self.writing.consolidated))
    }
}

impl Array {
    /// Creates an array at `path` and writes its metadata; no chunk is written. Missing parent groups are created first, so that
    /// an interruption leaves empty groups and no incomplete array.
    ///
    /// ```
    /// # use zarr_array::{Array, ArrayMeta, ArrayResult, DataType, Storage, standard};
    /// # async fn example(storage: Storage) -> ArrayResult<()> {
    /// let meta = ArrayMeta::builder([24, 180, 360], DataType::Float32).chunks([12, 90, 90]).build()?;
    /// let array = Array::create(storage, "/surface/t2m", meta, &standard()).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Exists`](ArrayErrorKind::Exists) when there is a node at `path`, or an array or a group of another format above
    /// it; [`UnknownExtension`](ArrayErrorKind::UnknownExtension) when `registry` does not know a codec, data type or grid of
    /// `meta`; and those of the store.
    pub async fn create(
        storage: impl Into<Storage>,
        path: &str,
        meta: ArrayMeta,
        registry: &Registry,
    ) -> ArrayResult<Self> {
        CreateOptions::new().create(storage, path, meta, registry).await
    }

    /// Creates an array at `path` after deleting the node that exists there, with all nodes below it. Metadata is deleted first,
    /// so that an interruption never leaves a node without its chunks.
    ///
    /// # Errors
    /// As [`create`](Self::create); an existing node is not an error.
    pub async fn replace(
        storage: impl Into<Storage>,
        path: &str,
        meta: ArrayMeta,
        registry: &Registry,
    ) -> ArrayResult<Self> {
        CreateOptions::new().existing(ExistingNode::Replace).create(storage, path, meta, registry).await
    }
}
