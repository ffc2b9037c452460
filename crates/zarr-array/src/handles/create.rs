//! Creating: writes the documents of missing parent groups, then those of the array.

use zarr_meta::{ArrayMeta, Diagnostic, NodeMeta, is_document};
use zarr_traits::{BoxFuture, Key, Limits, Prefix, Registry, Storage};

use crate::element::{WriteElement, data_type_of};
use crate::error::{ArrayError, ArrayErrorKind, ArrayResult};
use crate::handles::array::Array;
use crate::handles::metadata::same_array;
use crate::handles::open::OpenOptions;
use crate::node;
use crate::node::{ConsolidatedPolicy, ExistingNode, Writing};
use crate::values::NdVec;

/// Options for creating an array with [`Array::create_with`].
///
/// ```
/// # use zarr_array::{Array, ArrayMeta, ArrayResult, CreateOptions, ExistingNode, Registry, Storage};
/// # async fn example(storage: Storage, meta: ArrayMeta, registry: &Registry) -> ArrayResult<()> {
/// // Any number of processes may run this at once, and all get the same array.
/// let options = CreateOptions::new().existing(ExistingNode::Open);
/// let array = Array::create_with(storage, "/t2m", meta, registry, &options).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
pub struct CreateOptions {
    existing: ExistingNode,
    takes_chunks: bool,
    consolidated: Option<ConsolidatedPolicy>,
    limits: Option<Limits>,
}

impl CreateOptions {
    /// The defaults: an existing node is an error, consolidated metadata in parent groups is kept up to date, and
    /// `Limits::default()` holds.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets what happens if a node exists at the path.
    #[must_use]
    pub fn existing(mut self, existing: ExistingNode) -> Self {
        self.existing = existing;
        self
    }

    /// Sets whether chunks that are stored at the path already become those of the array: for a caller that has written them
    /// before the metadata. By default they are an error of kind [`Exists`](ArrayErrorKind::Exists), because the elements of
    /// an erased array would come back; one listing looks for them.
    #[must_use]
    pub fn take_chunks(mut self, take: bool) -> Self {
        self.takes_chunks = take;
        self
    }

    /// Sets what happens to consolidated metadata in parent groups.
    #[must_use]
    pub fn consolidated(mut self, consolidated: ConsolidatedPolicy) -> Self {
        self.consolidated = Some(consolidated);
        self
    }

    /// Sets the limits on the memory and work that stored data may demand.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = Some(limits);
        self
    }

    /// Sets what is not set yet of consolidated metadata and limits to that of `writing`.
    #[must_use]
    pub fn or(mut self, writing: &Writing) -> Self {
        self.consolidated.get_or_insert(writing.consolidated);
        self.limits.get_or_insert_with(|| writing.limits.clone());
        self
    }

    fn writing(&self) -> Writing {
        let (consolidated, limits) = (self.consolidated.unwrap_or_default(), self.limits.clone());
        Writing { consolidated, limits: limits.unwrap_or_default(), ..Writing::default() }
    }

    /// Returns the handle of a new array at `path`.
    fn checked(
        &self,
        storage: &Storage,
        path: &str,
        meta: &ArrayMeta,
        registry: &Registry,
    ) -> ArrayResult<Array> {
        let prefix = node::prefix_of(storage, path)?;
        let path = prefix.node_path();
        self.resolve(storage, prefix, meta.clone(), registry).map_err(|e| e.in_array(&path, storage))
    }

    /// Returns the handle of a new array.
    fn resolve(
        &self,
        storage: &Storage,
        prefix: Prefix,
        meta: ArrayMeta,
        registry: &Registry,
    ) -> ArrayResult<Array> {
        let mut advice: Vec<Diagnostic> = Vec::new();
        meta.lint(&mut advice)?;
        let array = self.opening().resolve(storage.clone(), prefix, meta, registry, advice)?;
        check_keys(&array)?;
        match array.codecs().skipped().first() {
            None => Ok(array),
            Some(skipped) => {
                let message =
                    format!("unknown codec {skipped:?}: the registry must know every codec of a new array");
                Err(ArrayError::new(ArrayErrorKind::UnknownExtension, message))
            }
        }
    }

    fn opening(&self) -> OpenOptions {
        OpenOptions::new().limits(self.limits.clone().unwrap_or_default())
    }

    /// Makes all checks before it deletes an existing node. A wall (decision 0026).
    fn make<'a>(
        &'a self,
        storage: Storage,
        prefix: Prefix,
        meta: ArrayMeta,
        registry: &'a Registry,
    ) -> BoxFuture<'a, ArrayResult<Array>> {
        let (path, at) = (prefix.node_path(), storage.clone());
        let made = async move {
            let node = NodeMeta::Array(meta.clone());
            let array = self.resolve(&storage, prefix.clone(), meta, registry)?;
            let how = self.writing();
            let is_same = |there: &ArrayMeta| same_array(there, array.metadata(), registry, &how.limits);
            // A node that is there decides by itself, and `Replace` looks for all objects.
            if self.existing == ExistingNode::Fail && !self.takes_chunks {
                array.check_unoccupied().await?;
            }
            let array = match node::create(&storage, &prefix, &node, self.existing, &how).await? {
                None => array,
                Some(NodeMeta::Array(there)) if is_same(&there) => {
                    self.opening().resolve(storage, prefix, there, registry, Vec::new())?
                }
                Some(_) => {
                    return Err(ArrayError::new(ArrayErrorKind::Exists, "another node exists already"));
                }
            };
            Ok(array.with_consolidated(how.consolidated))
        };
        Box::pin(async move { made.await.map_err(|e: ArrayError| e.in_array(&path, &at)) })
    }
}

/// Checks the keys of the first and the last chunk, as far as that finds a key encoding that breaks the rules of
/// [`KeyEncoding`](zarr_traits::KeyEncoding).
fn check_keys(array: &Array) -> ArrayResult<()> {
    let (keys, counts) = (&array.core.keys, array.chunk_counts());
    if counts.contains(&0) {
        return Ok(());
    }
    let name = array.meta.document().chunk_key_encoding().name().to_owned();
    let broken = |what: String| Err(ArrayError::invalid(format!("chunk key encoding {name:?}: {what}")));
    let key = |index: &[u64]| {
        let mut key = String::new();
        keys.encode(index, &mut key);
        key
    };
    let first = vec![0; counts.len()];
    let last: Vec<u64> = counts.iter().map(|count| count - 1).collect();
    if first != last && key(&first) == key(&last) {
        return broken(format!("chunks {first:?} and {last:?} have the same key {:?}", key(&first)));
    }
    for index in [&first, &last] {
        let key = key(index);
        if let Err(e) = Key::new(&*key) {
            return broken(format!("chunk {index:?}: {e:#}"));
        }
        if key.rsplit('/').next().is_some_and(is_document) {
            return broken(format!("chunk {index:?} has the key {key:?}, the name of a document"));
        }
        let decoded = keys.decode(&key, index.len());
        if decoded.as_deref() != Some(index) {
            let decoded = decoded.map_or("no index".to_owned(), |index| format!("{:?}", &index[..]));
            return broken(format!("chunk {index:?} has the key {key:?}, which is decoded to {decoded}"));
        }
    }
    Ok(())
}

impl Array {
    /// Creates an array at `path` and writes its metadata, but no chunk. Missing parent groups are created first: an
    /// interruption can leave empty groups, but no incomplete array.
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
    /// [`Exists`](ArrayErrorKind::Exists) when a node or chunks without a node exist at `path`, or above it an array or a
    /// group of another format; [`UnknownExtension`](ArrayErrorKind::UnknownExtension) when `registry` does not know a codec, data type
    /// or grid of `meta`; and those of the store.
    pub async fn create(
        storage: impl Into<Storage>,
        path: &str,
        meta: ArrayMeta,
        registry: &Registry,
    ) -> ArrayResult<Self> {
        Self::create_with(storage, path, meta, registry, &CreateOptions::new()).await
    }

    /// Creates an array at `path` with options: what happens to an existing node, to stored chunks and to consolidated
    /// metadata, limits.
    ///
    /// # Errors
    /// As [`create`](Self::create).
    pub async fn create_with(
        storage: impl Into<Storage>,
        path: &str,
        meta: ArrayMeta,
        registry: &Registry,
        options: &CreateOptions,
    ) -> ArrayResult<Self> {
        let storage = storage.into();
        let prefix = node::prefix_of(&storage, path)?;
        options.make(storage, prefix, meta, registry).await
    }

    /// Checks whether the metadata of an array can be stored at `path`, as [`create_with`](Self::create_with) does before it
    /// writes. Makes no request.
    ///
    /// # Errors
    /// When `registry` does not know a codec, data type or grid of `meta`, or a configuration is invalid.
    pub fn check_new(
        storage: &Storage,
        path: &str,
        meta: &ArrayMeta,
        registry: &Registry,
        options: &CreateOptions,
    ) -> ArrayResult<()> {
        options.checked(storage, path, meta, registry).map(drop)
    }

    /// Checks that no chunks are stored at `path`, as [`create_with`](Self::create_with) does before it writes, unless the
    /// array [takes](CreateOptions::take_chunks) them. Makes one listing.
    ///
    /// # Errors
    /// [`Exists`](ArrayErrorKind::Exists) if there are chunks without an array; as [`check_new`](Self::check_new); and
    /// those of the store.
    pub async fn check_no_chunks(
        storage: &Storage,
        path: &str,
        meta: &ArrayMeta,
        registry: &Registry,
        options: &CreateOptions,
    ) -> ArrayResult<()> {
        let array = options.checked(storage, path, meta, registry)?;
        match options.takes_chunks {
            true => Ok(()),
            false => array.check_unoccupied().await.map_err(|e| array.core.in_array(e)),
        }
    }

    /// Creates an array at `path` that holds `values`, with the defaults of
    /// [`ArrayBuilder`](zarr_meta::ArrayBuilder): compressed, with chunks of a suitable shape.
    ///
    /// ```
    /// # use zarr_array::{Array, ArrayResult, NdVec, Storage, standard};
    /// # async fn example(storage: Storage, values: NdVec<f32>) -> ArrayResult<()> {
    /// let array = Array::create_from(storage, "/t2m", values, &standard()).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`create`](Self::create) and [`write`](Self::write); and as [`data_type_of`] if elements of type `T` have no
    /// data type of their own.
    pub async fn create_from<T: WriteElement>(
        storage: impl Into<Storage>,
        path: &str,
        values: NdVec<T>,
        registry: &Registry,
    ) -> ArrayResult<Self> {
        let meta = ArrayMeta::builder(values.shape(), data_type_of::<T>()?).build()?;
        let array = Self::create(storage, path, meta, registry).await?;
        array.write(.., values).await?;
        Ok(array)
    }

    /// Deletes the node at `path`, if any, with all nodes below it, and creates an array there. Metadata is deleted
    /// first, so that an interruption never leaves a node without its chunks.
    ///
    /// # Errors
    /// As [`create`](Self::create); an existing node is not an error.
    pub async fn replace(
        storage: impl Into<Storage>,
        path: &str,
        meta: ArrayMeta,
        registry: &Registry,
    ) -> ArrayResult<Self> {
        let options = CreateOptions::new().existing(ExistingNode::Replace);
        Self::create_with(storage, path, meta, registry, &options).await
    }
}
