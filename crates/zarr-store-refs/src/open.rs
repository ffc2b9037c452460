//! Opening references as a store.

use zarr_store::references::{Reference, ReferenceStore, References};
use zarr_store::{Below, PathEncoding, Prefixed, Scheme, Targets};
use zarr_traits::store::{Answer, List, ListDir, ReadVersion, ready};
use zarr_traits::{
    BoxFuture, ByteRange, Key, Prefix, Storage, StoreError, StoreErrorKind, StoreResult, Version,
};

use crate::document;
use crate::inflate;
use crate::limits::RefsLimits;
use crate::records::{METADATA, Records};
use crate::table::Table;

/// The adapter `|kerchunk:path` in URLs of stores: what is below a path in a file or directory of references.
pub const SCHEMES: &[Scheme] = &[Scheme::adapter("kerchunk", open)];

/// The ends of names that are first tried as files, and not as directories.
const FILES: [&str; 3] = [".json", ".zst", ".zstd"];

fn open(below: Below<'_>) -> BoxFuture<'_, StoreResult<Storage>> {
    Box::pin(async move {
        let prefix = Prefix::of_node(below.path)?;
        let whole = found(below).await?;
        Ok(if prefix.is_root() { whole } else { Prefixed::over(&whole, prefix) })
    })
}

/// Opens what is at the root of a URL: a directory with `.zmetadata`, or a file.
async fn found(below: Below<'_>) -> StoreResult<Storage> {
    let (limits, targets) = (RefsLimits::default(), below.targets());
    let trimmed = below.root.trim_end_matches('/');
    let is_directory = trimmed.len() < below.root.len();
    let mut object = below;
    object.root = trimmed;
    let (storage, key) = match object.object().await {
        Ok(object) => object,
        // The root of a store, such as a bucket.
        Err(e) if e.kind() == StoreErrorKind::InvalidArgument => {
            return Refs::open_parquet(&below.folder().await?, Prefix::root(), targets).await;
        }
        Err(e) => return Err(e),
    };
    let directory = Prefix::root().child(key.as_str())?;
    if is_directory {
        return Refs::open_parquet(&storage, directory, targets).await;
    }
    let file_first = FILES.iter().any(|end| key.as_str().ends_with(end));
    for is_file in [file_first, !file_first] {
        let opened = if is_file {
            Refs::open_file(&storage, &key, &targets, &limits).await?
        } else {
            Refs::open_records(&storage, &directory, &targets, &limits).await?
        };
        if let Some(opened) = opened {
            return Ok(opened);
        }
    }
    let message = format!("there is neither a file of references nor a directory of them with {METADATA}");
    Err(StoreError::absent(message).with_key(key))
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
    /// [`StoreErrorKind::Corrupt`] if the object is not a file of references; `Unsupported` for another
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
        let opened = Self::open_file(storage, &file, &targets, &limits).await?;
        opened.ok_or_else(|| StoreError::absent("no such file of references").with_key(file))
    }

    /// Opens a directory of references in Parquet: `.zmetadata`, and files `ARRAY/refs.N.parq`, which are read when they are
    /// first needed. References may name `targets`, and by relative locations what is in the folder that holds the
    /// directory.
    ///
    /// ```
    /// # use zarr_store::{MemoryStore, Targets};
    /// # use zarr_store_refs::Refs;
    /// # use zarr_traits::{Key, Prefix, Storage, block_on};
    /// let folder = Storage::from(MemoryStore::new());
    /// let documents = r#"{"metadata": {".zgroup": {"zarr_format": 2}}, "record_size": 10000}"#;
    /// block_on(folder.put(&Key::new("a.parq/.zmetadata")?, documents))?;
    /// let store = block_on(Refs::open_parquet(&folder, Prefix::new("a.parq/")?, Targets::none()))?;
    /// assert_eq!(block_on(store.get(&Key::new(".zgroup")?, 100))?.as_deref(), Some(&br#"{"zarr_format":2}"#[..]));
    /// # Ok::<(), zarr_traits::StoreError>(())
    /// ```
    ///
    /// # Errors
    /// [`StoreErrorKind::Corrupt`] if `.zmetadata` is not that of references; `Unsupported` for documents of Zarr 3; `Io` if
    /// there is no `.zmetadata`; and those of the store.
    pub async fn open_parquet(
        storage: &Storage,
        directory: Prefix,
        targets: Targets,
    ) -> StoreResult<Storage> {
        Self::open_parquet_with(storage, directory, targets, RefsLimits::default()).await
    }

    /// As [`open_parquet`](Self::open_parquet), with other limits.
    ///
    /// # Errors
    /// As `open_parquet`.
    pub async fn open_parquet_with(
        storage: &Storage,
        directory: Prefix,
        targets: Targets,
        limits: RefsLimits,
    ) -> StoreResult<Storage> {
        let opened = Self::open_records(storage, &directory, &targets, &limits).await?;
        let message = || format!("no such directory with {METADATA}");
        opened.ok_or_else(|| StoreError::absent(message()).with_key(directory))
    }

    /// Opens a file, or returns `None` if it does not exist.
    async fn open_file(
        storage: &Storage,
        file: &Key,
        targets: &Targets,
        limits: &RefsLimits,
    ) -> StoreResult<Option<Storage>> {
        let opened = Self::read(storage, file, limits).await.map_err(|e| e.with_key(file))?;
        Ok(opened.map(|refs| ReferenceStore::new(refs, targets.clone(), storage, file.parent()).into()))
    }

    /// Opens a directory, or returns `None` if it does not exist.
    async fn open_records(
        storage: &Storage,
        directory: &Prefix,
        targets: &Targets,
        limits: &RefsLimits,
    ) -> StoreResult<Option<Storage>> {
        let Some(records) = Records::open(storage, directory, limits.clone()).await? else { return Ok(None) };
        let folder = match directory.as_str().strip_suffix('/') {
            Some(name) => Key::new(name)?.parent(),
            None => Prefix::root(),
        };
        Ok(Some(ReferenceStore::new(records, targets.clone(), storage, folder).into()))
    }

    async fn read(storage: &Storage, file: &Key, limits: &RefsLimits) -> StoreResult<Option<Self>> {
        let most = limits.json_bytes;
        let Some(reply) = storage.get_ranges(file, &[ByteRange::All], ReadVersion::Report, most).await?
        else {
            return Ok(None);
        };
        let content = inflate::content(reply.bytes.into_iter().next().unwrap_or_default(), most)?;
        Ok(Some(Self { table: document::parse(&content, limits)?, version: reply.version }))
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
