//! Writing an archive (APPNOTE 4.3). Sizes and checksums are known before a member is written, so the output is written
//! in one pass. An unfinished archive has no directory.

use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use flate2::{Compression, Crc, write::DeflateEncoder};
use futures_util::{StreamExt, TryStreamExt, stream};
use zarr_traits::{Bytes, Key, Prefix, Storage, StoreError, StoreErrorKind, StoreResult};

use super::{DEFLATED, STORED};

/// The largest numbers of 32 and 16 bits. They mean that the real number is in zip64.
const WIDE: u64 = u32::MAX as u64;
const MANY: u64 = u16::MAX as u64;
/// Version 4.5 of the format, which has zip64. Made by Unix, so that file modes are used.
const VERSION: u64 = 45;
const MADE_BY: u64 = 3 << 8 | VERSION;
/// The mode of a regular file that everyone may read.
const MODE: u64 = 0o100_644 << 16;
/// The flag for names in UTF-8.
const FLAGS: u64 = 1 << 11;
/// Midnight of 1980-01-01, the earliest time of the format. It is fixed, so that equal stores give equal archives.
const TIME: u64 = 0x21 << 16;
/// The largest number of objects read at once.
const AT_ONCE: usize = 16;

/// Options for packing a store.
///
/// ```
/// let mut options = zarr_store::zip::PackOptions::new(|key| key.name() == "zarr.json");
/// options.deflate = Some(6);
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PackOptions {
    /// Whether a key is a metadata document. Documents come first. For Zarr use `zarr_array::node::is_document`.
    pub documents: fn(&Key) -> bool,
    /// The level, 1 to 9, for deflating members that become smaller. By default no member is deflated: chunks are
    /// mostly compressed already, and a deflated member cannot be read in part.
    pub deflate: Option<u8>,
    /// The largest size of an object, in bytes. Each object is held in memory once. Default: 4 GiB.
    pub object_bytes: u64,
}

impl PackOptions {
    /// Returns options for stored members, with these documents first.
    pub fn new(documents: fn(&Key) -> bool) -> Self {
        Self { documents, deflate: None, object_bytes: 4 << 30 }
    }
}

/// Writes the objects below `prefix` in `from` as a ZIP archive: first the documents of nodes, parents before children,
/// then all other objects by key. The hierarchy is at the root of the archive.
///
/// An unfinished archive has no directory, so it cannot be mistaken for a smaller one.
///
/// ```
/// # use zarr_store::{MemoryStore, zip::{PackOptions, pack}};
/// # use zarr_traits::{Key, Prefix, Storage, block_on};
/// let storage = Storage::from(MemoryStore::new());
/// block_on(storage.put(&Key::new("zarr.json")?, "{}"))?;
/// let mut archive = Vec::new();
/// block_on(pack(&storage, &Prefix::root(), &mut archive, &PackOptions::new(|key| key.name() == "zarr.json")))?;
/// # Ok::<(), zarr_traits::StoreError>(())
/// ```
///
/// # Errors
/// Those of the store and of `into`; [`StoreErrorKind::Unsupported`] when the store cannot list;
/// [`StoreErrorKind::Changed`] when an object is deleted meanwhile; [`StoreErrorKind::InvalidArgument`] for a key of
/// more than 65,535 bytes or a level outside 1 to 9.
pub async fn pack(
    from: &Storage,
    prefix: &Prefix,
    into: impl Write,
    options: &PackOptions,
) -> StoreResult<()> {
    if options.deflate.is_some_and(|level| !(1..=9).contains(&level)) {
        let message = "the level of deflate must be 1 to 9";
        return Err(StoreError::new(StoreErrorKind::InvalidArgument, message));
    }
    let listed = from.list_all(prefix).await?;
    let mut keys: Vec<Key> = listed.into_iter().map(|listed| listed.key).collect();
    keys.sort_by_cached_key(|key| order(key, (options.documents)(key)));
    let at_once = from.capabilities().drive.in_flight().min(AT_ONCE);
    let reads = keys.into_iter().map(|key| object(from.clone(), key, options.object_bytes));
    let mut objects = stream::iter(reads).buffered(at_once);
    let mut archive = Archive { into, at: 0, directory: Vec::new(), members: 0 };
    while let Some((key, bytes)) = objects.try_next().await? {
        let name = prefix.strip(&key).unwrap_or(key.as_str());
        archive.add(name, &bytes, options).map_err(|e| e.with_key(&key))?;
    }
    archive.finish()
}

/// As [`pack`], into the file `path`. An existing file is replaced only when the new one is complete and on the disk.
///
/// # Errors
/// As [`pack`]; [`StoreErrorKind::Uncertain`] when the file is in its place, but a crash of the system may lose it.
pub async fn write_file(
    from: &Storage,
    prefix: &Prefix,
    path: &Path,
    options: &PackOptions,
) -> StoreResult<()> {
    let named = |e: StoreError| e.with_key(path.display());
    let temporary = Temporary::beside(path).map_err(named)?;
    pack(from, prefix, BufWriter::new(&temporary.file), options).await?;
    temporary.publish(path).map_err(named)
}

/// Returns the sort key of a member: documents first, level by level, so that the archive is quick to list over a
/// network.
fn order(key: &Key, document: bool) -> (bool, usize, String) {
    let level = if document { key.as_str().matches('/').count() } else { 0 };
    (!document, level, key.to_string())
}

async fn object(from: Storage, key: Key, limit: u64) -> StoreResult<(Key, Bytes)> {
    match from.get(&key, limit).await? {
        Some(bytes) => Ok((key, bytes)),
        None => {
            let message = "the object was deleted during packing";
            Err(StoreError::new(StoreErrorKind::Changed, message).with_key(key))
        }
    }
}

/// An archive that is being written.
struct Archive<W> {
    into: W,
    at: u64,
    directory: Vec<u8>,
    members: u64,
}

/// The common values of a member's header and its entry in the directory.
struct Member<'a> {
    name: &'a str,
    method: u16,
    crc: u32,
    compressed: u64,
    size: u64,
}

impl<W: Write> Archive<W> {
    fn add(&mut self, name: &str, bytes: &[u8], options: &PackOptions) -> StoreResult<()> {
        if name.len() as u64 > MANY {
            let message = "the name of a member may have at most 65,535 bytes";
            return Err(StoreError::new(StoreErrorKind::InvalidArgument, message));
        }
        let mut crc = Crc::new();
        crc.update(bytes);
        let deflated = options.deflate.map(|level| deflate(bytes, level)).transpose()?;
        let (method, data) = match &deflated {
            Some(deflated) if deflated.len() < bytes.len() => (DEFLATED, &deflated[..]),
            _ => (STORED, bytes),
        };
        let (compressed, size) = (data.len() as u64, bytes.len() as u64);
        let member = Member { name, method, crc: crc.sum(), compressed, size };
        member.entry(self.at, &mut self.directory);
        self.members += 1;
        self.write(&member.header())?;
        self.write(data)
    }

    fn finish(mut self) -> StoreResult<()> {
        let (offset, len, members) = (self.at, self.directory.len() as u64, self.members);
        let directory = std::mem::take(&mut self.directory);
        self.write(&directory)?;
        let mut end = Vec::new();
        if offset >= WIDE || len >= WIDE || members >= MANY {
            end.extend(b"PK\x06\x06");
            fields(&mut end, &[(44, 8), (MADE_BY, 2), (VERSION, 2), (0, 4), (0, 4)]);
            fields(&mut end, &[(members, 8), (members, 8), (len, 8), (offset, 8)]);
            end.extend(b"PK\x06\x07");
            fields(&mut end, &[(0, 4), (self.at, 8), (1, 4)]);
        }
        let members = members.min(MANY);
        end.extend(b"PK\x05\x06");
        fields(&mut end, &[(0, 2), (0, 2), (members, 2), (members, 2)]);
        fields(&mut end, &[(len.min(WIDE), 4), (offset.min(WIDE), 4), (0, 2)]);
        self.write(&end)?;
        Ok(self.into.flush()?)
    }

    fn write(&mut self, bytes: &[u8]) -> StoreResult<()> {
        self.into.write_all(bytes)?;
        self.at += bytes.len() as u64;
        Ok(())
    }
}

impl Member<'_> {
    /// Returns the header before the data. Its zip64 field has both sizes, or is missing.
    fn header(&self) -> Vec<u8> {
        let wide = self.size.max(self.compressed) >= WIDE;
        let sizes = if wide { vec![self.size, self.compressed] } else { Vec::new() };
        let narrow = |size| if wide { WIDE } else { size };
        let mut header = b"PK\x03\x04".to_vec();
        self.common(&mut header, narrow(self.compressed), narrow(self.size), &sizes);
        header.extend(self.name.as_bytes());
        zip64(&mut header, &sizes);
        header
    }

    /// Appends the entry in the directory, for a header at `offset`. Its zip64 field has only the numbers that are too
    /// large.
    fn entry(&self, offset: u64, directory: &mut Vec<u8>) {
        let mut wide = vec![self.size, self.compressed, offset];
        wide.retain(|number| *number >= WIDE);
        directory.extend(b"PK\x01\x02");
        fields(directory, &[(MADE_BY, 2)]);
        self.common(directory, self.compressed.min(WIDE), self.size.min(WIDE), &wide);
        fields(directory, &[(0, 2), (0, 2), (0, 2), (MODE, 4), (offset.min(WIDE), 4)]);
        directory.extend(self.name.as_bytes());
        zip64(directory, &wide);
    }

    fn common(&self, out: &mut Vec<u8>, compressed: u64, size: u64, wide: &[u64]) {
        fields(out, &[(VERSION, 2), (FLAGS, 2), (self.method.into(), 2), (TIME, 4), (self.crc.into(), 4)]);
        fields(out, &[(compressed, 4), (size, 4), (self.name.len() as u64, 2), (zip64_len(wide), 2)]);
    }
}

fn zip64_len(numbers: &[u64]) -> u64 {
    if numbers.is_empty() { 0 } else { 4 + 8 * numbers.len() as u64 }
}

/// Appends the extra field of zip64 with these numbers.
fn zip64(out: &mut Vec<u8>, numbers: &[u64]) {
    if !numbers.is_empty() {
        fields(out, &[(1, 2), (zip64_len(numbers) - 4, 2)]);
        numbers.iter().for_each(|number| fields(out, &[(*number, 8)]));
    }
}

/// Appends numbers in little-endian order, each with its number of bytes.
fn fields(out: &mut Vec<u8>, fields: &[(u64, usize)]) {
    for (value, bytes) in fields {
        out.extend(&value.to_le_bytes()[..*bytes]);
    }
}

fn deflate(bytes: &[u8], level: u8) -> StoreResult<Vec<u8>> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::new(level.into()));
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?)
}

/// A temporary file in the folder of the final one. It is deleted unless it is published.
struct Temporary {
    file: File,
    /// The path of the file, until it is published.
    path: Option<PathBuf>,
}

impl Temporary {
    /// Creates a file with a name that a store in the same directory ignores.
    fn beside(path: &Path) -> StoreResult<Self> {
        let Some(name) = path.file_name() else {
            return Err(StoreError::new(StoreErrorKind::InvalidArgument, "the path has no file name"));
        };
        for number in 0u32.. {
            let mut name = name.to_owned();
            name.push(format!(".{}-{number}.partial", std::process::id()));
            let path = path.with_file_name(name);
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => return Ok(Self { file, path: Some(path) }),
                Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
                Err(e) => return Err(e.into()),
            }
        }
        Err(StoreError::new(StoreErrorKind::LimitExceeded, "no free name for a temporary file"))
    }

    fn publish(mut self, path: &Path) -> StoreResult<()> {
        self.file.sync_all()?;
        if let Some(temporary) = &self.path {
            fs::rename(temporary, path)?;
            self.path = None;
        }
        sync_parent(path).map_err(|e| {
            let message = "the archive is in its place, but a crash of the system may lose it";
            StoreError::new(StoreErrorKind::Uncertain, message).with_source(e)
        })
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            // An error cannot be reported here.
            let _ = fs::remove_file(path);
        }
    }
}

/// Makes the name of a file durable.
#[cfg(unix)]
fn sync_parent(path: &Path) -> std::io::Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    File::open(parent.unwrap_or(Path::new(".")))?.sync_all()
}

/// On other systems a directory cannot be synced.
#[cfg(not(unix))]
fn sync_parent(_: &Path) -> std::io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::directory::{Directory, End};
    use super::*;

    /// Rule E44. CPython's `zipfile` reads the same archive after 5 GiB of zeros.
    #[test]
    fn members_at_large_offsets_are_found_by_zip64() {
        let start = 5 << 30;
        let mut into = Vec::new();
        let mut archive = Archive { into: &mut into, at: start, directory: Vec::new(), members: 0 };
        archive.add("k", b"value", &PackOptions::new(|_| false)).unwrap();
        archive.finish().unwrap();

        let end = End::find(&into, start + into.len() as u64).unwrap();
        let at = usize::try_from(end.offset - start).unwrap();
        let directory = Bytes::copy_from_slice(&into[at..at + usize::try_from(end.len).unwrap()]);
        let directory = Directory::parse(directory, &end, &Prefix::root()).unwrap();
        let member = directory.find(&Key::new("k").unwrap()).unwrap();
        let (header, _) = member.guess(&[]);
        assert_eq!((header.start, member.size), (start, 5));
        assert_eq!(member.found(&into[..31], b"k").unwrap(), (start + 31, 0));
    }

    /// The sizes of a large member are only in zip64, in its header and in the directory.
    #[test]
    fn a_large_member_has_its_sizes_in_zip64() {
        let size = WIDE + 7;
        let member = Member { name: "k", method: STORED, crc: 0, compressed: size, size };
        let mut directory = Vec::new();
        member.entry(9, &mut directory);
        let zip64 = [&[1, 0, 16, 0][..], &size.to_le_bytes(), &size.to_le_bytes()].concat();
        for (bytes, sizes, offset) in [(member.header(), 18, None), (directory, 20, Some(42))] {
            assert_eq!(bytes[sizes..sizes + 8], [0xff; 8]);
            assert!(bytes.ends_with(&zip64));
            assert!(offset.is_none_or(|at| bytes[at..at + 4] == [9, 0, 0, 0]));
        }
    }
}
