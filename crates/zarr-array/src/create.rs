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
    /// Nothing may be there, consolidated metadata above the array is kept up to date, and the default limits.
    pub fn new() -> Self {
        Self::default()
    }

    /// What becomes of a node that is there already.
    #[must_use]
    pub fn existing(mut self, existing: ExistingNode) -> Self {
        self.existing = existing;
        self
    }

    /// What becomes of consolidated metadata in the groups above the array.
    #[must_use]
    pub fn consolidated(mut self, consolidated: Consolidated) -> Self {
        self.writing.consolidated = consolidated;
        self
    }

    /// The limits on what stored data may make us do.
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
        meta.lint(&mut advice)?; // K9
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
    /// Creates an array at `path` and writes its metadata; no chunk is written. Groups that it lies in and that are not
    /// there are created first (checklist F11), so that an interrupted creation leaves empty groups, no half array.
    ///
    /// # Errors
    /// [`Exists`](ArrayErrorKind::Exists) when there is a node at `path`, or an array or a group of another format above
    /// it; [`UnknownExtension`](ArrayErrorKind::UnknownExtension) when `registry` does not know what `meta` uses; and those
    /// of the store.
    pub async fn create(
        storage: impl Into<Storage>,
        path: &str,
        meta: ArrayMeta,
        registry: &Registry,
    ) -> ArrayResult<Self> {
        CreateOptions::new().create(storage, path, meta, registry).await
    }

    /// Creates an array at `path` in the place of whatever is there: all of it is deleted, its metadata first, so that
    /// an interruption leaves no node and not a node without its chunks (checklist F17).
    ///
    /// # Errors
    /// As [`create`](Self::create), but not when there is a node already.
    pub async fn replace(
        storage: impl Into<Storage>,
        path: &str,
        meta: ArrayMeta,
        registry: &Registry,
    ) -> ArrayResult<Self> {
        CreateOptions::new().existing(ExistingNode::Replace).create(storage, path, meta, registry).await
    }
}
