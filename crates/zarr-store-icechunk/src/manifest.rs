//! Manifests: where the chunks of arrays are, searched in place.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, UNIX_EPOCH};

use zarr_store::references::Check;
use zarr_traits::lock::unpoisoned;
use zarr_traits::{Bytes, Prefix, Storage, StoreError, StoreErrorKind, StoreResult};
use zrip::Dictionary;

use crate::error::{corrupt, too_much};
use crate::file::{self, Kind};
use crate::flat::{Elements, Flat, Table, Wrong};
use crate::id::SnapshotId;
use crate::limits::IcechunkLimits;
use crate::snapshot::searched;

/// Where a chunk is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Chunk {
    Inline(Bytes),
    /// A range of a file of the repository.
    Native {
        id: SnapshotId,
        offset: u64,
        len: u64,
    },
    /// A range of any object.
    Virtual {
        location: String,
        offset: u64,
        len: u64,
        check: Option<Check>,
    },
}

/// A manifest, whose arrays are known to be in the order of their ids.
pub(crate) struct Manifest {
    payload: Bytes,
    arrays: Elements,
    dictionary: OnceLock<Result<Dictionary, zrip::DecompressError>>,
    location_bytes: usize,
    /// The arrays whose references are known to be in order.
    in_order: Mutex<BTreeSet<usize>>,
}

impl std::fmt::Debug for Manifest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Manifest({} arrays, {} bytes)", self.arrays.len, self.payload.len())
    }
}

const REFS: &str = "refs";
const INDEX: &str = "index";
/// The bytes of the longest index.
const INDEX_BYTES: usize = 255 * 4;

impl Manifest {
    /// Reads the manifest with this id.
    pub(crate) async fn read(
        storage: &Storage,
        root: &Prefix,
        id: SnapshotId,
        limits: &IcechunkLimits,
    ) -> StoreResult<Self> {
        let key = root.key(&format!("manifests/{id}"))?;
        let payload = file::read(storage, &key, Kind::Manifest, limits).await?;
        let missing =
            || StoreError::absent("the manifest that the snapshot names does not exist").with_key(&key);
        Self::of(payload.ok_or_else(missing)?, id, limits).map_err(|e| e.with_key(&key))
    }

    fn of(payload: Bytes, id: SnapshotId, limits: &IcechunkLimits) -> StoreResult<Self> {
        let root = Table::root(&payload)?;
        file::check_id(&root, id, "manifest")?;
        let arrays = root.elements(1, "arrays")?.ok_or(root.missing("arrays"))?;
        let location_bytes = limits.location_bytes;
        let (dictionary, in_order) = (OnceLock::new(), Mutex::default());
        let manifest = Self { payload, arrays, dictionary, location_bytes, in_order };
        let mut before = None;
        for index in 0..arrays.len {
            let (id, _) = manifest.array(index)?;
            if before.is_some_and(|before| before >= id) {
                return Err(corrupt("the arrays are not in the order of their ids"));
            }
            before = Some(id);
        }
        Ok(manifest)
    }

    /// The size of the manifest in memory.
    pub(crate) fn size(&self) -> u64 {
        self.payload.len() as u64
    }

    /// Returns the id and the references of an array.
    fn array(&self, index: usize) -> Flat<(&[u8; 8], Elements)> {
        let array = self.arrays.table(&self.payload, index, "arrays")?;
        let id = array.fixed(0, "node_id")?.ok_or(array.missing("node_id"))?;
        Ok((id, array.elements(1, REFS)?.ok_or(array.missing(REFS))?))
    }

    /// Returns the place of an array, and its references.
    fn array_of(&self, node: &[u8; 8]) -> Flat<Option<(usize, Elements)>> {
        let found = searched(self.arrays.len, |index| Ok(self.array(index)?.0.cmp(node)))?;
        found.ok().map(|index| Ok((index, self.array(index)?.1))).transpose()
    }

    fn reference(&self, refs: Elements, index: usize) -> Flat<(Table<'_>, Index<'_>)> {
        let reference = refs.table(&self.payload, index, REFS)?;
        let bytes = reference.structs(0, 4, INDEX)?.ok_or(reference.missing(INDEX))?;
        if bytes.len() > INDEX_BYTES {
            return Err(Wrong::new(INDEX, reference.place(), "it has more than 255 dimensions"));
        }
        Ok((reference, Index(bytes.as_chunks().0)))
    }

    /// Returns where a chunk of an array is, or `None` if the manifest has no such chunk.
    pub(crate) fn find(&self, node: &[u8; 8], index: &[u32]) -> StoreResult<Option<Chunk>> {
        let Some((array, refs)) = self.array_of(node)? else { return Ok(None) };
        match searched(refs.len, |at| Ok(self.reference(refs, at)?.1.numbers().cmp(index.iter().copied())))? {
            Ok(at) => self.chunk(&self.reference(refs, at)?.0).map(Some),
            // In another order the search would miss a chunk, whose elements would be the fill value.
            Err(_) if !unpoisoned(self.in_order.lock()).contains(&array) => {
                self.each(refs, |_, _| Ok(()))?;
                unpoisoned(self.in_order.lock()).insert(array);
                Ok(None)
            }
            Err(_) => Ok(None),
        }
    }

    /// Calls a function with the index and the length of each chunk of an array, in the order of the indices.
    pub(crate) fn chunks(
        &self,
        node: &[u8; 8],
        mut found: impl FnMut(Index<'_>, u64) -> StoreResult<()>,
    ) -> StoreResult<()> {
        let Some((_, refs)) = self.array_of(node)? else { return Ok(()) };
        self.each(refs, |reference, index| {
            let len = match reference.bytes(1, "inline")? {
                Some(bytes) => bytes.len() as u64,
                None => reference.u64(3, "length")?,
            };
            found(index, len)
        })
    }

    /// Calls a function with each reference, which must be in the order of their indices.
    fn each(
        &self,
        refs: Elements,
        mut found: impl FnMut(Table<'_>, Index<'_>) -> StoreResult<()>,
    ) -> StoreResult<()> {
        let mut before: Option<Index<'_>> = None;
        for at in 0..refs.len {
            let (reference, index) = self.reference(refs, at)?;
            if before.is_some_and(|before| before.numbers().cmp(index.numbers()) != Ordering::Less) {
                return Err(Wrong::new(
                    REFS,
                    reference.place(),
                    "the chunks are not in the order of their indices",
                )
                .into());
            }
            found(reference, index)?;
            before = Some(index);
        }
        Ok(())
    }

    /// Returns what a reference says.
    fn chunk(&self, reference: &Table<'_>) -> StoreResult<Chunk> {
        let (offset, len) = (reference.u64(2, "offset")?, reference.u64(3, "length")?);
        let inline = reference.bytes(1, "inline")?;
        let native = reference.fixed(4, "chunk_id")?;
        let plain = reference.text(5, "location")?;
        let compressed = reference.bytes(8, "compressed_location")?;
        let location = match (inline, native, plain, compressed) {
            (Some(bytes), None, None, None) => return Ok(Chunk::Inline(self.payload.slice_ref(bytes))),
            (None, Some(id), None, None) => {
                return Ok(Chunk::Native { id: SnapshotId::new(*id), offset, len });
            }
            (None, None, Some(location), None) => self.plain(location)?,
            (None, None, None, Some(frame)) => self.inflated(frame)?,
            _ => {
                let why = "a chunk is one of inline, chunk_id, location and compressed_location";
                return Err(Wrong::new(REFS, reference.place(), why).into());
            }
        };
        Ok(Chunk::Virtual { location, offset, len, check: check(reference)? })
    }

    fn plain(&self, location: &str) -> StoreResult<String> {
        let (len, most) = (location.len(), self.location_bytes);
        if len > most {
            return Err(too_much(format!("the location has {len} bytes, at most {most} are accepted")));
        }
        Ok(location.to_owned())
    }

    /// Inflates a location.
    fn inflated(&self, frame: &[u8]) -> StoreResult<String> {
        let root = Table::root(&self.payload)?;
        match root.u8(3, 1, "compression_algorithm")? {
            1 => {}
            number => {
                let message = format!("compression {number} of locations is not known, 1 (Zstandard) is");
                return Err(StoreError::new(StoreErrorKind::Unsupported, message));
            }
        }
        let wrong = |e| corrupt("a location cannot be inflated").with_source(e);
        let dictionary = match root.bytes(2, "location_dictionary")? {
            None | Some([]) => None,
            Some(bytes) => Some(self.dictionary.get_or_init(|| Dictionary::from_bytes(bytes))),
        };
        let dictionary =
            dictionary.map(|parsed| parsed.as_ref().map_err(|e| wrong(e.clone()))).transpose()?;
        let bytes = match dictionary {
            Some(dictionary) => zrip::decompress_with_dict_and_limit(frame, dictionary, self.location_bytes),
            None => zrip::decompress_with_limit(frame, self.location_bytes),
        };
        String::from_utf8(bytes.map_err(wrong)?).map_err(|_| corrupt("a location is not text"))
    }
}

/// Returns what a reference says of the object with the bytes of a chunk.
fn check(reference: &Table<'_>) -> StoreResult<Option<Check>> {
    if let Some(etag) = reference.text(6, "checksum_etag")? {
        return Ok(Some(Check::Etag(etag.into())));
    }
    let seconds = reference.u32(7, "checksum_last_modified")?;
    let since = UNIX_EPOCH.checked_add(Duration::from_secs(seconds.into()));
    Ok(since.filter(|_| seconds != 0).map(Check::UnchangedSince))
}

/// The index of a chunk, as it is stored.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Index<'a>(&'a [[u8; 4]]);

impl<'a> Index<'a> {
    pub(crate) fn numbers(self) -> impl Iterator<Item = u32> + use<'a> {
        self.0.iter().map(|bytes| u32::from_le_bytes(*bytes))
    }
}
