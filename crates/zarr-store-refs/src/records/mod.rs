//! A directory of references in Parquet: `.zmetadata` with all documents, and for each array files with its references.
//!
//! Chunk `n` of an array, in C order, is in row `n % record_size` of the file `ARRAY/refs.M.parq`, where `M` is
//! `n / record_size`. A file is read as a whole when it is first needed, and several row groups are decoded one by one.

mod grid;
mod list;
mod part;

use std::collections::BTreeMap;
use std::sync::Arc;

use zarr_json::{DEPTH, Document};
use zarr_store::references::{Kept, Reference, References};
use zarr_store::{PathEncoding, scheme_of};
use zarr_traits::store::{Answer, List, ListDir, ReadVersion};
use zarr_traits::{
    BoxFuture, ByteRange, Bytes, Key, Prefix, Storage, StoreError, StoreErrorKind, StoreResult, Version,
};

use crate::error::corrupt;
use crate::limits::RefsLimits;
use crate::parquet::{Layout, Problem, Rows};
use grid::Grid;
use part::{File, LEAST, Name, Part};

/// The references of a directory.
#[derive(Debug)]
pub(crate) struct Records {
    storage: Storage,
    directory: Prefix,
    version: Option<Version>,
    documents: BTreeMap<String, Bytes>,
    /// In ascending order of their paths.
    arrays: Vec<Array>,
    record_size: u64,
    limits: Arc<RefsLimits>,
    parts: Kept<Name, Part>,
}

#[derive(Debug)]
struct Array {
    /// The path, with `/` at its end unless it is the root.
    prefix: String,
    /// The grid, or what is wrong with the document.
    grid: Result<Grid, String>,
}

/// A row of a file that exists.
struct Record {
    rows: Arc<Rows>,
    row: u64,
}

/// The document with all documents.
pub(crate) const METADATA: &str = ".zmetadata";

/// The document of an array, whose grid numbers the chunks.
const ARRAY: &str = ".zarray";

/// The last row group that was read.
type Held = Option<((usize, u64, usize), Arc<Rows>)>;

impl Records {
    /// Opens a directory; `None` if it has no `.zmetadata`.
    pub(crate) async fn open(
        storage: &Storage,
        directory: &Prefix,
        limits: RefsLimits,
    ) -> StoreResult<Option<Self>> {
        let key = directory.key(METADATA)?;
        let most = limits.json_bytes;
        let Some(reply) = storage.get_ranges(&key, &[ByteRange::All], ReadVersion::Report, most).await?
        else {
            return Ok(None);
        };
        let text = reply.bytes.into_iter().next().unwrap_or_default();
        let mut opened = Self {
            storage: storage.clone(),
            directory: directory.clone(),
            version: reply.version,
            documents: BTreeMap::new(),
            arrays: Vec::new(),
            record_size: 0,
            parts: Kept::new(limits.cache_bytes as u64, LEAST),
            limits: Arc::new(limits),
        };
        opened.parse(&text).map_err(|e| e.with_key(&key))?;
        Ok(Some(opened))
    }

    /// Reads the text of `.zmetadata`.
    fn parse(&mut self, text: &[u8]) -> StoreResult<()> {
        let document = Document::parse(text, DEPTH, &mut Vec::new()).map_err(|e| {
            StoreError::new(StoreErrorKind::Corrupt, "the document is not JSON").with_source(e)
        })?;
        let size = document.root.get("record_size");
        let size = size.ok_or_else(|| {
            corrupt("there is no \"record_size\": this is a Zarr store, not a directory of references")
        })?;
        let size = size.as_u64().filter(|size| *size > 0);
        self.record_size = size.ok_or_else(|| corrupt("\"record_size\" must be a positive integer"))?;
        let documents = document.root.get("metadata");
        let documents = documents.as_ref().and_then(|documents| documents.members());
        for member in documents.ok_or_else(|| corrupt("\"metadata\" must be an object"))? {
            let (key, value) = (member.name_lossy(), member.value());
            if Key::new(key.as_ref()).is_err() {
                continue;
            }
            if self.documents.len() >= self.limits.references {
                let message = "the directory has more documents than accepted";
                return Err(StoreError::new(StoreErrorKind::LimitExceeded, message));
            }
            let (folder, name) = key.split_at(key.rfind('/').map_or(0, |at| at + 1));
            if name == "zarr.json" {
                let message = format!("{key:?}: references in Parquet are known for format 2 only");
                return Err(StoreError::new(StoreErrorKind::Unsupported, message));
            }
            let text = value.as_text().unwrap_or_else(|| value.to_compact());
            if name == ARRAY {
                let grid = Grid::of_document(&value);
                self.arrays.push(Array { prefix: folder.to_owned(), grid });
            }
            self.documents.insert(key.into_owned(), text.into());
        }
        // Of documents with one key the last counts.
        self.arrays.reverse();
        self.arrays.sort_by(|a, b| a.prefix.cmp(&b.prefix));
        self.arrays.dedup_by(|a, b| a.prefix == b.prefix);
        Ok(())
    }

    /// Returns the array to which a key of a chunk belongs, and the number of the chunk.
    fn chunk(&self, key: &str) -> StoreResult<Option<(usize, u64)>> {
        let ends = key.bytes().enumerate().rev().filter(|(_, byte)| *byte == b'/').map(|(at, _)| at + 1);
        for end in ends.chain([0]) {
            let (prefix, name) = key.split_at(end);
            let Ok(index) = self.arrays.binary_search_by(|array| array.prefix.as_str().cmp(prefix)) else {
                continue;
            };
            match &self.arrays[index].grid {
                Ok(grid) => {
                    if let Some(number) = grid.number(name) {
                        return Ok(Some((index, number)));
                    }
                }
                Err(why) if name.starts_with(|c: char| c.is_ascii_digit()) => {
                    return Err(corrupt(why).with_key(key));
                }
                Err(_) => {}
            }
        }
        Ok(None)
    }

    /// Returns the key of a file of references.
    fn file(&self, array: usize, number: u64) -> StoreResult<Key> {
        self.directory.key(&format!("{}refs.{number}.parq", self.arrays[array].prefix))
    }

    /// Returns the record of a chunk; `None` if there is no such file or row.
    async fn record(&self, array: usize, chunk: u64, held: &mut Held) -> StoreResult<Option<Record>> {
        let (number, row) = (chunk / self.record_size, chunk % self.record_size);
        let key = self.file(array, number)?;
        let reading = || {
            let (storage, key, limits) = (self.storage.clone(), key.clone(), Arc::clone(&self.limits));
            read_file(storage, key, limits, self.record_size)
        };
        let part = self.part((array, number, None), || Box::pin(reading())).await?;
        let file = match part {
            Part::Absent => return Ok(None),
            Part::Rows(rows) => return Ok(rows.holds(row).then_some(Record { rows, row })),
            Part::File(file) => file,
        };
        let Some(group) = file.layout.group_of(row) else { return Ok(None) };
        let name = (array, number, group);
        if let Some((_, rows)) = held.as_ref().filter(|(held, _)| *held == name) {
            return Ok(Some(Record { rows: Arc::clone(rows), row }));
        }
        let limits = Arc::clone(&self.limits);
        let decoding = || async move {
            let rows = Rows::decode(&file.bytes, &file.layout.groups[group], &limits);
            Ok(Part::Rows(Arc::new(rows.map_err(|problem| problem.of_file(&key))?)))
        };
        match self.part((array, number, Some(group)), || Box::pin(decoding())).await? {
            Part::Rows(rows) => {
                *held = Some((name, Arc::clone(&rows)));
                Ok(Some(Record { rows, row }))
            }
            _ => Ok(None),
        }
    }

    async fn part(
        &self,
        name: Name,
        read: impl FnOnce() -> BoxFuture<'static, StoreResult<Part>>,
    ) -> StoreResult<Part> {
        self.parts.get(name, read, |part| part.memory() as u64).await
    }

    /// Returns the reference of a record.
    fn reference(&self, record: &Record) -> Result<Option<Reference>, Problem> {
        let mut reference = record.rows.reference(record.row)?;
        if let Some(Reference::Object(location) | Reference::Range { location, .. }) = &mut reference
            && self.directory.is_root()
            && !location.starts_with('/')
            && scheme_of(location).is_none()
        {
            // Relative to the folder that holds the directory.
            *location = format!("../{location}").into();
        }
        Ok(reference)
    }

    async fn find_chunk(&self, key: &Key) -> StoreResult<Option<Reference>> {
        let Some((array, chunk)) = self.chunk(key.as_str())? else { return Ok(None) };
        let Some(record) = self.record(array, chunk, &mut None).await.map_err(|e| of(e, key))? else {
            return Ok(None);
        };
        let file = self.file(array, chunk / self.record_size)?;
        self.reference(&record).map_err(|problem| problem.of_file(file).with_key(key))
    }
}

/// Returns an error of a file of references as that of the key that was read.
fn of(mut error: StoreError, key: &Key) -> StoreError {
    match error.take_key() {
        None => error.with_key(key),
        Some(file) => {
            let message = format!("the references in file {file:?} cannot be read");
            StoreError::new(error.kind(), message).with_key(key).with_source(error)
        }
    }
}

/// Reads a file of references as a whole.
async fn read_file(
    storage: Storage,
    key: Key,
    limits: Arc<RefsLimits>,
    record_size: u64,
) -> StoreResult<Part> {
    let Some(bytes) = storage.get(&key, limits.parquet_bytes).await.map_err(|e| e.with_key(&key))? else {
        return Ok(Part::Absent);
    };
    let layout = Layout::parse(&bytes).map_err(|problem| problem.of_file(&key))?;
    if layout.rows > record_size {
        let message = format!("it has {} rows, but \"record_size\" is {record_size}", layout.rows);
        return Err(Problem::corrupt(message).of_file(&key));
    }
    // Of a file with one row group the bytes are not kept beside the records. If the records are wrong, they are: each read says
    // so without another request.
    if let [group] = &layout.groups[..]
        && let Ok(rows) = Rows::decode(&bytes, group, &limits)
    {
        return Ok(Part::Rows(Arc::new(rows)));
    }
    Ok(Part::File(Arc::new(File { bytes, layout })))
}

impl References for Records {
    fn find<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, StoreResult<Option<Reference>>> {
        if let Some(document) = self.documents.get(key.as_str()) {
            return zarr_traits::store::ready(Ok(Some(Reference::Bytes(document.clone()))));
        }
        Box::pin(self.find_chunk(key))
    }

    fn list<'a>(&'a self, list: List<'a>) -> BoxFuture<'a, StoreResult<Answer>> {
        Box::pin(self.list_keys(list))
    }

    fn list_dir<'a>(&'a self, list: ListDir<'a>) -> BoxFuture<'a, StoreResult<Answer>> {
        Box::pin(self.list_level(list))
    }

    fn version(&self) -> Option<Version> {
        self.version.clone()
    }

    fn paths(&self) -> PathEncoding {
        PathEncoding::Plain
    }
}
