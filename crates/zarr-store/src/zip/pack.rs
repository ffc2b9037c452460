//! Writing an archive: sizes and checksums are known before a member is written, so nothing is ever gone back to, and an
//! archive that was given up has no directory (APPNOTE 4.3).

use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use flate2::{Compression, Crc, write::DeflateEncoder};
use futures_util::{StreamExt, TryStreamExt, stream};
use zarr_traits::{Bytes, Key, Prefix, Storage, StoreError, StoreErrorKind, StoreResult};

use super::{DEFLATED, STORED};

/// The largest number of 32 and of 16 bits: it says that the number is found in zip64.
const WIDE: u64 = u32::MAX as u64;
const MANY: u64 = u16::MAX as u64;
/// Version 4.5 of the format has zip64; written as under Unix, so that modes of files count.
const VERSION: u64 = 45;
const MADE_BY: u64 = 3 << 8 | VERSION;
/// An ordinary file that all may read.
const MODE: u64 = 0o100_644 << 16;
/// Names are UTF-8.
const FLAGS: u64 = 1 << 11;
/// Midnight of 1980-01-01, the first time that there is: equal stores give equal archives.
const TIME: u64 = 0x21 << 16;
/// Objects that are read at once, at most.
const AT_ONCE: usize = 16;

/// How a store is packed.
///
/// ```
/// let mut options = zarr_store::zip::PackOptions::new(|key| key.name() == "zarr.json");
/// options.deflate = Some(6);
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PackOptions {
    /// Which keys are documents of nodes: these come first. What they are called is for the format to say
    /// (`zarr_array::node::is_document`).
    pub documents: fn(&Key) -> bool,
    /// The level, 1 to 9, at which members are deflated that become smaller by it. By default none is: chunks are mostly
    /// compressed already, and of a deflated member no part can be read without the rest.
    pub deflate: Option<u8>,
    /// The largest object that is packed, in bytes: each is held in memory once; 4 GiB.
    pub object_bytes: u64,
}

impl PackOptions {
    /// Stored members, with these documents before everything else.
    pub fn new(documents: fn(&Key) -> bool) -> Self {
        Self { documents, deflate: None, object_bytes: 4 << 30 }
    }
}

/// Writes what lies below `prefix` in `from` as a ZIP archive: the documents of nodes first, those of parents before those
/// of children, then everything else by its key. The hierarchy is at the root of the archive (checklist E44, E45).
///
/// Of an archive that is not finished the directory is missing, so nobody takes it for a smaller one.
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
/// Those of the store and of `into`; [`StoreErrorKind::Unsupported`] when the store cannot list,
/// [`StoreErrorKind::Changed`] when an object is deleted meanwhile, [`StoreErrorKind::InvalidArgument`] for a key of more
/// than 65535 bytes or another level than there is.
pub async fn pack(
    from: &Storage,
    prefix: &Prefix,
    into: impl Write,
    options: &PackOptions,
) -> StoreResult<()> {
    if options.deflate.is_some_and(|level| !(1..=9).contains(&level)) {
        let message = "levels of deflate are 1 to 9";
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

/// As [`pack`], into a file, which takes the place of one that is there once it is whole and on the disk. Whatever happens
/// before that, at `path` is what was there.
///
/// # Errors
/// As [`pack`]; [`StoreErrorKind::Uncertain`] when the file is in its place, but perhaps not for good.
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

/// What makes an archive quick to list over a network: documents first, level by level.
fn order(key: &Key, document: bool) -> (bool, usize, String) {
    let level = if document { key.as_str().matches('/').count() } else { 0 };
    (!document, level, key.to_string())
}

async fn object(from: Storage, key: Key, limit: u64) -> StoreResult<(Key, Bytes)> {
    match from.get(&key, limit).await? {
        Some(bytes) => Ok((key, bytes)),
        None => {
            let message = "this object was deleted while it was to be packed";
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

/// What the header of a member and its entry in the directory have in common.
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
            let message = "the name of a member has at most 65535 bytes";
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
    /// What stands before the data. With zip64 it has both sizes, or none.
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

    /// Appends what stands in the directory, for a header at `offset`. With zip64 it has what is too large.
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

/// Appends numbers of so many bytes, little-endian.
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

/// A file beside the one that it is to be; it is deleted unless it gets there.
struct Temporary {
    file: File,
    /// Until it has got there.
    path: Option<PathBuf>,
}

impl Temporary {
    /// Its name is one that a store in the same directory hides.
    fn beside(path: &Path) -> StoreResult<Self> {
        let Some(name) = path.file_name() else {
            return Err(StoreError::new(StoreErrorKind::InvalidArgument, "this path names no file"));
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
        Err(StoreError::new(StoreErrorKind::LimitExceeded, "no name is left for a temporary file"))
    }

    fn publish(mut self, path: &Path) -> StoreResult<()> {
        self.file.sync_all()?;
        if let Some(temporary) = &self.path {
            fs::rename(temporary, path)?;
            self.path = None;
        }
        sync_parent(path).map_err(|e| {
            let message = "the archive is in its place, but perhaps not for good";
            StoreError::new(StoreErrorKind::Uncertain, message).with_source(e)
        })
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            // There is nobody to tell.
            let _ = fs::remove_file(path);
        }
    }
}

/// Makes the name durable.
#[cfg(unix)]
fn sync_parent(path: &Path) -> std::io::Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    File::open(parent.unwrap_or(Path::new(".")))?.sync_all()
}

/// Elsewhere a directory is no file, and the system sees to it.
#[cfg(not(unix))]
fn sync_parent(_: &Path) -> std::io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::directory::{Directory, End};
    use super::*;

    /// E44. CPython's `zipfile` reads the same archive, with 5 GiB of zeros before it.
    #[test]
    fn what_lies_far_behind_is_found_by_zip64() {
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

    /// The sizes of a large member are in zip64 alone, in its header as in the directory.
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
