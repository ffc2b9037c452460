//! Stores in ZIP archives: reading what lies in one, wherever the archive itself lies, and packing a store into one
//! (checklist E44, E45). With the feature `zip`.
//!
//! Keys are the names of members. [`ZipStore`] reads archives of any writer: of several members with a name the last one
//! is meant, folders are nothing, members are stored or deflated, and zip64 is understood. A name that is no [`Key`] cannot
//! be asked for, and is left out. [`pack`] and [`write_file`] write what others read.
//!
//! An archive is read by its end, where its directory is, so opening costs one to three requests, whatever is in it. Stored
//! members are then as good as objects of their own: each range of one is a range of the archive. A deflated member is read
//! and inflated whole, whatever is wanted of it.
//!
//! What comes from strangers is believed as far as it can be checked: members may not reach into each other, sizes must be
//! possible, nothing is allocated beyond them, whole members must have their checksum.
//!
//! Spec: [APPNOTE](https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT), the format of ZIP files.

mod directory;
mod member;
mod pack;

use std::fmt;
use std::ops::{ControlFlow, Range};

use zarr_traits::store::{copy_into, too_small};
use zarr_traits::{
    Access, BoxFuture, ByteRange, Bytes, Capabilities, Dir, Filled, If, Key, ListStore, OpenScheme, Page,
    Prefix, ReadStore, Reply, Scheme, Stat, Storage, StoreError, StoreErrorKind, StoreResult, Version,
};

use directory::{Directory, End, folders};
use member::Member;

pub use pack::{PackOptions, pack, write_file};

/// The methods that are known (APPNOTE 4.4.5).
const STORED: u16 = 0;
const DEFLATED: u16 = 8;

/// What is read of the end of an archive: usually all of its directory, and never less than the longest end record.
const TAIL: u64 = 512 << 10;
/// Keys in one page of a listing.
const PAGE: usize = 10_000;
/// Folders that an error names.
const SUGGESTED: usize = 5;

/// The adapter `|zip:path` in URLs of stores: what lies below a path in an archive.
pub const SCHEME: Scheme = Scheme { name: "zip", encoded: false, open: OpenScheme::Adapter(open) };

fn open<'a>(
    storage: Storage,
    archive: Key,
    path: &'a str,
    _: &'a Access,
) -> BoxFuture<'a, StoreResult<Storage>> {
    Box::pin(async move { ZipStore::open(&storage, archive, Prefix::of_node(path)?).await })
}

/// What is accepted of an archive.
///
/// ```
/// let mut limits = zarr_store::zip::ZipLimits::default();
/// limits.inflated_bytes = 8 << 30;
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ZipLimits {
    /// Bytes of its directory, which is held in memory, with up to two times as much beside it; 1 GiB.
    pub directory_bytes: u64,
    /// Bytes of a deflated member once it is inflated; 1 GiB.
    pub inflated_bytes: u64,
}

impl Default for ZipLimits {
    fn default() -> Self {
        Self { directory_bytes: 1 << 30, inflated_bytes: 1 << 30 }
    }
}

/// The store in a ZIP archive, which is an object of another store. It can be read and listed.
///
/// The archive is read as it was when it was opened: once it has been replaced, reads fail with
/// [`StoreErrorKind::Changed`], unless the store below keeps what was there. That is known where that store has versions.
pub struct ZipStore {
    storage: Storage,
    archive: Key,
    version: Option<Version>,
    directory: Directory,
    limits: ZipLimits,
}

impl ZipStore {
    /// What lies below `prefix` in the archive at `archive` in `storage`.
    ///
    /// ```
    /// # use zarr_store::{MemoryStore, zip::{PackOptions, ZipStore, pack}};
    /// # use zarr_traits::{Key, Prefix, Storage, block_on};
    /// # let (folder, mut file) = (Storage::from(MemoryStore::new()), Vec::new());
    /// # block_on(folder.put(&Key::new("zarr.json")?, "{}"))?;
    /// # block_on(pack(&folder, &Prefix::root(), &mut file, &PackOptions::new(|key| key.name() == "zarr.json")))?;
    /// # block_on(folder.put(&Key::new("weather.zip")?, file))?;
    /// let weather = block_on(ZipStore::open(&folder, Key::new("weather.zip")?, Prefix::root()))?;
    /// assert!(block_on(weather.get(&Key::new("zarr.json")?))?.is_some());
    /// # Ok::<(), zarr_traits::StoreError>(())
    /// ```
    ///
    /// # Errors
    /// [`StoreErrorKind::InvalidArgument`] when nothing lies below `prefix`, with the folders that may be meant;
    /// [`StoreErrorKind::Unsupported`] for an archive in several parts; [`StoreErrorKind::LimitExceeded`] for too large a
    /// directory; [`StoreErrorKind::Io`] for what is no archive, damaged or not there; and those of the store.
    pub async fn open(storage: &Storage, archive: Key, prefix: Prefix) -> StoreResult<Storage> {
        Self::open_with(storage, archive, prefix, ZipLimits::default()).await
    }

    /// As [`open`](Self::open), with other limits.
    ///
    /// # Errors
    /// As `open`.
    pub async fn open_with(
        storage: &Storage,
        archive: Key,
        prefix: Prefix,
        limits: ZipLimits,
    ) -> StoreResult<Storage> {
        let opened = Self::opened(storage, &archive, &prefix, limits).await;
        opened.map(Storage::listing).map_err(|e| e.with_key(archive))
    }

    async fn opened(
        storage: &Storage,
        archive: &Key,
        prefix: &Prefix,
        limits: ZipLimits,
    ) -> StoreResult<Self> {
        let Tail { bytes: tail, size, version } = Tail::read(storage, archive).await?;
        let end = End::find(&tail, size)?;
        if end.len > limits.directory_bytes {
            let message = format!(
                "the directory of the archive has {} bytes, more than the limit of {}",
                end.len, limits.directory_bytes
            );
            return Err(StoreError::new(StoreErrorKind::LimitExceeded, message));
        }
        let place = end.offset..end.offset + end.len;
        let bytes = match place.start.checked_sub(size - tail.len() as u64) {
            // A copy, because the rest of the tail is of no use any more.
            Some(at) => Bytes::copy_from_slice(&tail[index(at)..][..index(end.len)]),
            None => fetch(storage, archive, version.as_ref(), &[place]).await?.remove(0),
        };
        let directory = Directory::parse(bytes.clone(), &end, prefix)?;
        if directory.members.is_empty() && !prefix.is_root() {
            return Err(nothing_below(prefix, &bytes));
        }
        Ok(Self { storage: storage.clone(), archive: archive.clone(), version, directory, limits })
    }

    /// The member at a key, if there is one and it can be read.
    fn member(&self, key: &Key, condition: If<'_>) -> StoreResult<Option<&Member>> {
        let Some(member) = self.directory.find(key) else { return Ok(None) };
        if matches!(condition, If::Pinned(wanted) if self.version.as_ref() != Some(wanted)) {
            return Err(StoreError::new(StoreErrorKind::Changed, "the archive is not the version asked for"));
        }
        member.check(&self.limits)?;
        Ok(Some(member))
    }

    /// The version of a member is that of its archive.
    fn version(&self, condition: If<'_>) -> Option<Version> {
        self.version.clone().filter(|_| !matches!(condition, If::Any))
    }

    /// `spans` of the data of a member, as it lies in the archive: one request, and rarely another one.
    async fn data(&self, member: &Member, spans: &[Range<u64>]) -> StoreResult<Vec<Bytes>> {
        let data = match member.data() {
            Some(data) => data,
            None => match self.first(member, spans).await? {
                ControlFlow::Break(bytes) => return Ok(bytes),
                ControlFlow::Continue(data) => data,
            },
        };
        let spans: Vec<_> = spans.iter().map(|span| data + span.start..data + span.end).collect();
        self.fetch(&spans).await
    }

    /// The same, of a member whose own header was not read yet, together with that; where its data begins if that is
    /// further off than was guessed.
    async fn first(
        &self,
        member: &Member,
        spans: &[Range<u64>],
    ) -> StoreResult<ControlFlow<Vec<Bytes>, u64>> {
        let (header, mut ranges) = member.guess(spans);
        match ranges.first_mut() {
            // What begins with the data is one range with the header.
            Some(first) if first.start == header.end => first.start = header.start,
            _ => ranges.insert(0, header),
        }
        let mut bytes = self.fetch(&ranges).await?;
        let header = bytes[0].split_to(index(member.front()));
        if ranges.len() > spans.len() {
            bytes.remove(0);
        }
        let (data, extra) = member.found(&header, self.directory.full_name(member))?;
        if extra > member.slack() {
            return Ok(ControlFlow::Continue(data));
        }
        let exact = |(bytes, span): (Bytes, &Range<u64>)| {
            bytes.slice(index(extra)..index(extra + span.end - span.start))
        };
        Ok(ControlFlow::Break(bytes.into_iter().zip(spans).map(exact).collect()))
    }

    async fn fetch(&self, spans: &[Range<u64>]) -> StoreResult<Vec<Bytes>> {
        fetch(&self.storage, &self.archive, self.version.as_ref(), spans).await
    }

    async fn reply(&self, key: &Key, ranges: &[ByteRange], condition: If<'_>) -> StoreResult<Option<Reply>> {
        let Some(member) = self.member(key, condition)? else { return Ok(None) };
        let resolved = ranges.iter().map(|range| range.resolve(member.size));
        let spans = resolved.collect::<StoreResult<Vec<_>>>()?;
        let bytes = if spans.is_empty() {
            Vec::new()
        } else if member.is_stored() {
            let bytes = self.data(member, &spans).await?;
            let whole = bytes.iter().zip(&spans).find(|(_, span)| **span == (0..member.size));
            whole.map_or(Ok(()), |(whole, _)| member.verify(whole))?;
            bytes
        } else {
            let compressed = self.data(member, &[0..member.compressed]).await?.remove(0);
            let mut whole = zeroed(member.size)?;
            member.inflate(&compressed, &mut whole)?;
            let whole = Bytes::from(whole);
            spans.iter().map(|span| whole.slice(index(span.start)..index(span.end))).collect()
        };
        Ok(Some(Reply { bytes, size: Some(member.size), version: self.version(condition) }))
    }

    async fn filled(
        &self,
        key: &Key,
        ranges: &[ByteRange],
        condition: If<'_>,
        into: &mut [u8],
    ) -> StoreResult<Option<Filled>> {
        let Some(member) = self.member(key, condition)? else { return Ok(None) };
        let (size, version) = (Some(member.size), self.version(condition));
        let resolved = ranges.iter().map(|range| range.resolve(member.size));
        let spans = resolved.collect::<StoreResult<Vec<_>>>()?;
        let total = spans.iter().fold(0u64, |total, span| total.saturating_add(span.end - span.start));
        let room = into.len();
        let Some(into) = usize::try_from(total).ok().and_then(|total| into.get_mut(..total)) else {
            let whole = ranges == [ByteRange::All];
            return if whole {
                Ok(Some(Filled { len: 0, size, version }))
            } else {
                Err(too_small(total, room))
            };
        };
        let whole = spans == [0..member.size];
        match member.data() {
            Some(data) if member.is_stored() => {
                let shift = |span: &Range<u64>| range(&(data + span.start..data + span.end));
                let spans: Vec<_> = spans.iter().map(shift).collect();
                let pinned = pinned(self.version.as_ref());
                let read = self.storage.reader().read_into(&self.archive, &spans, pinned, into).await;
                let filled = read.map_err(inside)?.ok_or_else(gone)?;
                if filled.len != into.len() {
                    return Err(gone());
                }
                if whole {
                    member.verify(into)?;
                }
            }
            _ if whole && !member.is_stored() => {
                let compressed = self.data(member, &[0..member.compressed]).await?.remove(0);
                member.inflate(&compressed, into)?;
            }
            _ => {
                let reply = self.reply(key, ranges, condition).await?;
                return reply.map(|reply| copy_into(reply, ranges, into)).transpose();
            }
        }
        Ok(Some(Filled { len: into.len(), size, version }))
    }
}

/// The end of an archive.
struct Tail {
    bytes: Bytes,
    /// That of the archive.
    size: u64,
    version: Option<Version>,
}

impl Tail {
    async fn read(storage: &Storage, archive: &Key) -> StoreResult<Self> {
        let absent = || {
            let absent = std::io::Error::from(std::io::ErrorKind::NotFound);
            StoreError::new(StoreErrorKind::Io, "there is no such archive").with_source(absent)
        };
        let (store, mut known) = (storage.reader(), None);
        let range = if storage.capabilities().suffix {
            ByteRange::Suffix(TAIL)
        } else {
            let size = store.size(archive).await?.ok_or_else(absent)?.size;
            known = Some(size);
            range(&(size.saturating_sub(TAIL)..size))
        };
        let reply = store.get_ranges(archive, &[range], If::Versioned).await?.ok_or_else(absent)?;
        let bytes = reply.bytes.into_iter().next().unwrap_or_default();
        let size = match known.or(reply.size) {
            Some(size) => size,
            None if (bytes.len() as u64) < TAIL => bytes.len() as u64,
            None => store.size(archive).await?.ok_or_else(absent)?.size,
        };
        // Between two requests the archive may have been replaced.
        if reply.size.is_some_and(|now| now != size) || bytes.len() as u64 != size.min(TAIL) {
            return Err(gone());
        }
        Ok(Self { bytes, size, version: reply.version })
    }
}

/// `spans` of the archive, of the version that was opened: one request.
async fn fetch(
    storage: &Storage,
    archive: &Key,
    version: Option<&Version>,
    spans: &[Range<u64>],
) -> StoreResult<Vec<Bytes>> {
    let ranges: Vec<_> = spans.iter().map(range).collect();
    let reply = storage.reader().get_ranges(archive, &ranges, pinned(version)).await;
    let bytes = reply.map_err(inside)?.ok_or_else(gone)?.bytes;
    let asked = spans.iter().map(|span| span.end - span.start);
    if !bytes.iter().map(|bytes| bytes.len() as u64).eq(asked) {
        return Err(gone());
    }
    Ok(bytes)
}

fn pinned(version: Option<&Version>) -> If<'_> {
    version.map_or(If::Any, If::Pinned)
}

fn range(span: &Range<u64>) -> ByteRange {
    ByteRange::Span { offset: span.start, len: span.end - span.start }
}

/// A position in memory.
fn index(at: u64) -> usize {
    usize::try_from(at).unwrap_or(usize::MAX)
}

/// Memory for a member, or an error where there is none.
fn zeroed(len: u64) -> StoreResult<Vec<u8>> {
    let mut memory = Vec::new();
    let len = index(len);
    memory.try_reserve_exact(len).map_err(|e| {
        StoreError::new(StoreErrorKind::LimitExceeded, "there is no memory for this member").with_source(e)
    })?;
    memory.resize(len, 0);
    Ok(memory)
}

/// An error of the store below; where an archive ends is nothing that a member's reader asked for.
fn inside(e: StoreError) -> StoreError {
    if matches!(e.kind(), StoreErrorKind::RangeNotSatisfiable { .. }) { gone().with_source(e) } else { e }
}

fn gone() -> StoreError {
    StoreError::new(StoreErrorKind::Changed, "the archive is no longer the one that was opened")
}

fn damaged(why: impl fmt::Display) -> StoreError {
    StoreError::new(StoreErrorKind::Io, format!("the archive is damaged: {why}"))
}

fn nothing_below(prefix: &Prefix, directory: &[u8]) -> StoreError {
    let known = folders(directory, SUGGESTED);
    let hint = match &known[..] {
        [] => String::new(),
        known => format!("; its folders are {}", known.join(", ")),
    };
    let message = format!("the archive has nothing below {prefix:?}{hint}");
    StoreError::new(StoreErrorKind::InvalidArgument, message)
}

impl fmt::Debug for ZipStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ZipStore")
            .field("storage", &self.storage)
            .field("archive", &self.archive)
            .field("members", &self.directory.members.len())
            .field("unusable", &self.directory.unusable)
            .finish_non_exhaustive()
    }
}

impl ReadStore for ZipStore {
    /// Sizes are known, so that a suffix is a range.
    fn capabilities(&self) -> Capabilities {
        let mut capabilities = self.storage.capabilities();
        capabilities.suffix = true;
        (capabilities.put_create, capabilities.put_if, capabilities.delete_if) = (false, false, false);
        capabilities
    }

    fn get_ranges<'a>(
        &'a self,
        key: &'a Key,
        ranges: &'a [ByteRange],
        condition: If<'a>,
    ) -> BoxFuture<'a, StoreResult<Option<Reply>>> {
        Box::pin(async move { self.reply(key, ranges, condition).await.map_err(|e| e.with_key(key)) })
    }

    fn read_into<'a>(
        &'a self,
        key: &'a Key,
        ranges: &'a [ByteRange],
        condition: If<'a>,
        into: &'a mut [u8],
    ) -> BoxFuture<'a, StoreResult<Option<Filled>>> {
        Box::pin(async move { self.filled(key, ranges, condition, into).await.map_err(|e| e.with_key(key)) })
    }

    fn size<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, StoreResult<Option<Stat>>> {
        let member = self.member(key, If::Any).map_err(|e| e.with_key(key));
        let stat = |member: &Member| Stat { size: member.size, version: self.version.clone() };
        zarr_traits::ready(member.map(|member| member.map(stat)))
    }
}

impl ListStore for ZipStore {
    fn list<'a>(&'a self, prefix: &'a Prefix, after: Option<&'a Key>) -> BoxFuture<'a, StoreResult<Page>> {
        let after = after.map_or("", Key::as_str);
        let members = self.directory.from(after.max(prefix.as_str())).iter();
        let names = members.map(|member| self.directory.name(member)).filter(move |name| *name > after);
        let mut below = names.take_while(|name| name.starts_with(prefix.as_str()));
        let keys = below.by_ref().take(PAGE).map(Key::new).collect::<StoreResult<_>>();
        zarr_traits::ready(keys.map(|keys| Page { keys, more: below.next().is_some() }))
    }

    fn list_dir<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, StoreResult<Dir>> {
        zarr_traits::ready(self.dir(prefix))
    }
}

impl ZipStore {
    fn dir(&self, prefix: &Prefix) -> StoreResult<Dir> {
        let mut dir = Dir::default();
        let mut start = prefix.to_string();
        // One step per child: behind a prefix `a/` the next that is not below it is at least `a0`.
        while let Some(member) = self.directory.from(&start).first() {
            let name = self.directory.name(member);
            let Some(below) = name.strip_prefix(prefix.as_str()) else { break };
            start = match below.split_once('/') {
                None => {
                    dir.keys.push(Key::new(name)?);
                    format!("{name}\0")
                }
                Some((child, _)) => {
                    dir.prefixes.push(prefix.child(child)?);
                    format!("{prefix}{child}0")
                }
            };
        }
        Ok(dir)
    }
}
