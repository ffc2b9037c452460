//! Opening references as a store.

use zarr_store::references::{Reference, ReferenceStore, References};
use zarr_store::{Below, PathEncoding, Prefixed, Scheme, Targets};
use zarr_traits::store::{Answer, List, ListDir, ReadVersion, ready};
use zarr_traits::{BoxFuture, ByteRange, Key, Prefix, Storage, StoreError, StoreResult, Version};

use crate::document;
use crate::inflate;
use crate::limits::RefsLimits;
use crate::table::Table;

/// The adapter `|kerchunk:path` in URLs of stores: what is below a path in a file of references.
pub const SCHEMES: &[Scheme] = &[Scheme::adapter("kerchunk", open)];

fn open(below: Below<'_>) -> BoxFuture<'_, StoreResult<Storage>> {
    Box::pin(async move {
        let (storage, file) = below.object().await?;
        let prefix = Prefix::of_node(below.path)?;
        let whole = Refs::open(&storage, file, below.targets()).await?;
        Ok(if prefix.is_root() { whole } else { Prefixed::over(&whole, prefix) })
    })
}

/// Opens references of kerchunk as read-only stores.
#[derive(Debug)]
pub struct Refs {
    table: Table,
    version: Option<Version>,
}

impl Refs {
    /// Opens the JSON file at the key `file` of `storage`. Its references may name `targets`, and by relative locations what
    /// is in the folder of the file.
    ///
    /// ```
    /// # use zarr_store::{MemoryStore, Targets};
    /// # use zarr_store_refs::Refs;
    /// # use zarr_traits::{Key, Storage, block_on};
    /// let folder = Storage::from(MemoryStore::new());
    /// let references = r#"{"version": 1, "refs": {"a/0": ["data.bin", 4, 3]}}"#;
    /// block_on(folder.put(&Key::new("a.json")?, references))?;
    /// block_on(folder.put(&Key::new("data.bin")?, "0123456789"))?;
    /// let store = block_on(Refs::open(&folder, Key::new("a.json")?, Targets::none()))?;
    /// assert_eq!(block_on(store.get(&Key::new("a/0")?, 100))?.as_deref(), Some(&b"456"[..]));
    /// # Ok::<(), zarr_traits::StoreError>(())
    /// ```
    ///
    /// # Errors
    /// [`StoreErrorKind::Corrupt`](zarr_traits::StoreErrorKind::Corrupt) if the object is not a file of references; `Unsupported` for another
    /// version; `LimitExceeded` for too many references; `Io` if there is no such
    /// object; and those of the store.
    pub async fn open(storage: &Storage, file: Key, targets: Targets) -> StoreResult<Storage> {
        Self::open_with(storage, file, targets, RefsLimits::default()).await
    }

    /// As [`open`](Self::open), with other limits.
    ///
    /// # Errors
    /// As `open`.
    pub async fn open_with(
        storage: &Storage,
        file: Key,
        targets: Targets,
        limits: RefsLimits,
    ) -> StoreResult<Storage> {
        let opened = Self::read(storage, &file, &limits).await.map_err(|e| e.with_key(&file))?;
        Ok(Storage::from(ReferenceStore::new(opened, targets, storage, file.parent())))
    }

    async fn read(storage: &Storage, file: &Key, limits: &RefsLimits) -> StoreResult<Self> {
        let most = limits.json_bytes;
        let reply = storage.get_ranges(file, &[ByteRange::All], ReadVersion::Report, most).await?;
        let reply = reply.ok_or_else(|| StoreError::absent("no such file of references"))?;
        let content = inflate::content(reply.bytes.into_iter().next().unwrap_or_default(), most)?;
        Ok(Self { table: document::parse(&content, limits)?, version: reply.version })
    }
}

impl References for Refs {
    fn find<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, StoreResult<Option<Reference>>> {
        ready(self.table.find(key.as_str()))
    }

    fn list<'a>(&'a self, list: List<'a>) -> BoxFuture<'a, StoreResult<Answer>> {
        ready(self.table.list(list))
    }

    fn list_dir<'a>(&'a self, list: ListDir<'a>) -> BoxFuture<'a, StoreResult<Answer>> {
        ready(self.table.list_dir(list))
    }

    fn version(&self) -> Option<Version> {
        self.version.clone()
    }

    fn paths(&self) -> PathEncoding {
        PathEncoding::Plain
    }
}
