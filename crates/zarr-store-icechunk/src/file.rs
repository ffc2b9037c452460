//! Files of metadata: a header, and a payload that may be compressed.

use zarr_traits::{Bytes, Key, Storage, StoreError, StoreErrorKind, StoreResult};

use crate::error::corrupt;
use crate::flat::Table;
use crate::id::SnapshotId;
use crate::limits::IcechunkLimits;

const MAGIC: &[u8; 12] = b"ICE\xf0\x9f\xa7\x8aCHUNK";
/// The bytes before the payload: the magic, the name of the writer, version, kind and compression.
const HEADER: usize = 39;
const VERSION: usize = 36;
const KIND: usize = 37;
const COMPRESSION: usize = 38;

/// The kinds of files that are read, with their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    Snapshot = 1,
    Manifest = 2,
    Repository = 6,
}

/// Returns the payload of a file, or `None` if there is no such file.
pub(crate) async fn read(
    storage: &Storage,
    key: &Key,
    kind: Kind,
    limits: &IcechunkLimits,
) -> StoreResult<Option<Bytes>> {
    let Some(file) = storage.get(key, limits.file_bytes).await? else { return Ok(None) };
    payload(&file, kind, limits.file_bytes).map(Some).map_err(|e| e.with_key(key))
}

fn payload(file: &Bytes, kind: Kind, most: u64) -> StoreResult<Bytes> {
    let Some((header, rest)) = file.split_at_checked(HEADER).filter(|(header, _)| header.starts_with(MAGIC))
    else {
        return Err(corrupt("this is not a file of Icechunk: it does not begin with \"ICE🧊CHUNK\""));
    };
    let unsupported = |message| Err(StoreError::new(StoreErrorKind::Unsupported, message));
    match header[VERSION] {
        1 | 2 => {}
        version => return unsupported(format!("specification version {version} is not known, 1 and 2 are")),
    }
    if header[KIND] != kind as u8 {
        let message = format!("the kind of the file is {}, expected {} ({kind:?})", header[KIND], kind as u8);
        return Err(corrupt(message));
    }
    match header[COMPRESSION] {
        0 => Ok(file.slice_ref(rest)),
        1 => inflated(rest, most),
        number => unsupported(format!("compression {number} is not known, 0 and 1 (Zstandard) are")),
    }
}

/// Checks that the root of a file, `what` it is, has the id of its name.
pub(crate) fn check_id(root: &Table<'_>, id: SnapshotId, what: &str) -> StoreResult<()> {
    let own = SnapshotId::new(*root.fixed(0, "id")?.ok_or(root.missing("id"))?);
    if own == id { Ok(()) } else { Err(corrupt(format!("the file is that of the {what} {own}"))) }
}

fn inflated(frame: &[u8], most: u64) -> StoreResult<Bytes> {
    let limit = usize::try_from(most).unwrap_or(usize::MAX);
    zrip::decompress_with_limit(frame, limit).map(Bytes::from).map_err(|e| match e {
        zrip::DecompressError::OutputTooSmall => {
            let message = format!("the inflated file has more than {most} bytes, which is the limit");
            StoreError::new(StoreErrorKind::LimitExceeded, message)
        }
        e => corrupt("the file cannot be inflated").with_source(e),
    })
}
