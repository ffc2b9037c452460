//! Stores in ZIP archives: reads an archive in any store, and packs a store into one. With the feature `zip`.
//!
//! Keys are the names of members. [`ZipStore`] reads archives of any writer: of several members with the same name the
//! last one counts, folders are ignored, members are stored or deflated, and zip64 is supported. Names that are not a
//! valid [`Key`] are ignored. [`pack`] and [`write_file`] write archives that other programs can read.
//!
//! The directory is at the end of an archive, so opening costs one to three requests, whatever its content. Stored
//! members are then read like objects: each range of a member is a range of the archive. A deflated member is always
//! read and inflated whole, but only the wanted ranges of it are held.
//!
//! Archives are not trusted: members must not overlap, sizes must be possible, no more memory is allocated than the
//! wanted bytes need, and members must have their checksum. The exception is a part of a stored member: the checksum is
//! one of the whole member, so damage of a part is not noticed. Arrays with the codec `crc32c` notice it.
//!
//! Spec: [APPNOTE](https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT), the format of ZIP files.
//! Rules: [other stores](https://github.com/zarr-rs/zarr/blob/v0.1.0/docs/specification/stores.md#e.5).

mod directory;
mod fields;
mod member;
mod pack;

use std::fmt;
use std::ops::{ControlFlow, Range};
use zarr_traits::strided::to_usize;

use crate::{Below, Scheme};
use zarr_traits::{
    BoxFuture, ByteRange, Bytes, Key, Prefix, Storage, StoreError, StoreErrorKind, StoreResult, Version,
    store::{
        Answer, Capabilities, Dir, List, Listed, ObjectMeta, Op, Page, Read, ReadBuffer, ReadVersion, Store,
        ready,
    },
};

use directory::{Directory, End, folders};
use member::Member;

pub use pack::{PackOptions, pack, write_file};

/// The supported compression methods (APPNOTE 4.4.5).
const STORED: u16 = 0;
const DEFLATED: u16 = 8;

/// The size of the first read of the end of an archive. Usually this is the whole directory, and never less than the
/// longest end record.
const TAIL: u64 = 512 << 10;
/// The number of keys in one page of a listing.
const PAGE: usize = 10_000;
/// The largest number of folders that an error names.
const SUGGESTED: usize = 5;

/// The adapter `|zip:path` in URLs of stores: the part of an archive below a path.
pub const SCHEME: Scheme = Scheme::adapter("zip", open);

fn open(below: Below<'_>) -> BoxFuture<'_, StoreResult<Storage>> {
    Box::pin(async move {
        let (storage, archive) = below.object().await?;
        ZipStore::open(&storage, archive, Prefix::of_node(below.path)?).await
    })
}

/// Limits on the size of an archive.
///
/// ```
/// let mut limits = zarr_store::zip::ZipLimits::default();
/// limits.inflated_bytes = 8 << 30;
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ZipLimits {
    /// The size of the directory in bytes. It is held in memory, with up to twice as much beside it. Default: 1 GiB.
    pub directory_bytes: u64,
    /// The inflated size of a deflated member, in bytes. Default: 1 GiB.
    pub inflated_bytes: u64,
}

impl Default for ZipLimits {
    fn default() -> Self {
        Self { directory_bytes: 1 << 30, inflated_bytes: 1 << 30 }
    }
}

/// A store in a ZIP archive, which is an object of another store. It can be read and listed.
///
/// All reads are of the archive as it was when it was opened. If it is replaced, reads fail with
/// [`StoreErrorKind::Changed`], unless the store below still has the old version. This is only detected in stores with
/// versions.
pub struct ZipStore {
    storage: Storage,
    archive: Key,
    version: Option<Version>,
    directory: Directory,
    limits: ZipLimits,
}

impl ZipStore {
    /// Opens the part below `prefix` of the archive at the key `archive` in `storage`.
    ///
    /// ```
    /// # use zarr_store::{MemoryStore, zip::{PackOptions, ZipStore, pack}};
    /// # use zarr_traits::{Key, Prefix, Storage, block_on};
    /// # let (folder, mut file) = (Storage::from(MemoryStore::new()), Vec::new());
    /// # block_on(folder.put(&Key::new("zarr.json")?, "{}"))?;
    /// # block_on(pack(&folder, &Prefix::root(), &mut file, &PackOptions::new(|key| key.name() == "zarr.json")))?;
    /// # block_on(folder.put(&Key::new("weather.zip")?, file))?;
    /// let weather = block_on(ZipStore::open(&folder, Key::new("weather.zip")?, Prefix::root()))?;
    /// assert!(block_on(weather.get(&Key::new("zarr.json")?, 100))?.is_some());
    /// # Ok::<(), zarr_traits::StoreError>(())
    /// ```
    ///
    /// # Errors
    /// [`StoreErrorKind::InvalidArgument`] when the archive has nothing below `prefix`, with a list of its folders;
    /// [`StoreErrorKind::Unsupported`] for an archive in several parts; [`StoreErrorKind::LimitExceeded`] for too large
    /// a directory; [`StoreErrorKind::Corrupt`] when the object is damaged or not an archive, [`StoreErrorKind::Io`] when
    /// it is missing; and those of the store.
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
        opened.map(Storage::from).map_err(|e| e.with_key(archive))
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
            // A copy, so that the rest of the tail can be freed.
            Some(at) => Bytes::copy_from_slice(&tail[to_usize(at)..][..to_usize(end.len)]),
            None => fetch(storage, archive, version.as_ref(), &[place]).await?.remove(0),
        };
        let directory = Directory::parse(bytes.clone(), &end, prefix)?;
        if directory.members.is_empty() && !prefix.is_root() {
            return Err(nothing_below(prefix, &bytes));
        }
        Ok(Self { storage: storage.clone(), archive: archive.clone(), version, directory, limits })
    }

    /// Returns the member at a key, if it exists, after checking that it can be read.
    fn member(&self, key: &Key, wanted: ReadVersion<'_>) -> StoreResult<Option<&Member>> {
        let Some(member) = self.directory.find(key) else { return Ok(None) };
        if matches!(wanted, ReadVersion::Pinned(pinned) if self.version.as_ref() != Some(pinned)) {
            return Err(StoreError::new(StoreErrorKind::Changed, "the archive is not the requested version"));
        }
        member.check(&self.limits)?;
        Ok(Some(member))
    }

    /// Returns the size of a member, and the version of its archive.
    fn meta(&self, member: &Member) -> ObjectMeta {
        ObjectMeta::new(member.size, self.version.clone())
    }

    /// Reads `spans` of the raw data of a member, with one request and rarely a second one.
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

    /// Reads `spans` of a member together with its header, which was not read yet. Returns the start of the data
    /// instead if it is beyond the guess.
    async fn first(
        &self,
        member: &Member,
        spans: &[Range<u64>],
    ) -> StoreResult<ControlFlow<Vec<Bytes>, u64>> {
        let (header, mut ranges) = member.guess(spans);
        match ranges.first_mut() {
            // A range at the start of the data is joined with the header.
            Some(first) if first.start == header.end => first.start = header.start,
            _ => ranges.insert(0, header),
        }
        let mut bytes = self.fetch(&ranges).await?;
        let header = bytes[0].split_to(to_usize(member.front()));
        if ranges.len() > spans.len() {
            bytes.remove(0);
        }
        let (data, extra) = member.found(&header, self.directory.full_name(member))?;
        if extra > member.slack() {
            return Ok(ControlFlow::Continue(data));
        }
        let exact = |(bytes, span): (Bytes, &Range<u64>)| {
            bytes.slice(to_usize(extra)..to_usize(extra + span.end - span.start))
        };
        Ok(ControlFlow::Break(bytes.into_iter().zip(spans).map(exact).collect()))
    }

    async fn fetch(&self, spans: &[Range<u64>]) -> StoreResult<Vec<Bytes>> {
        fetch(&self.storage, &self.archive, self.version.as_ref(), spans).await
    }

    async fn read(&self, read: Read<'_>) -> StoreResult<Option<ObjectMeta>> {
        let Some(member) = self.member(read.key, read.version)? else { return Ok(None) };
        let resolved = read.ranges.iter().map(|range| range.resolve(member.size));
        let spans = resolved.collect::<StoreResult<Vec<_>>>()?;
        let total = read.total(member.size)?;
        if member.is_stored() {
            self.read_stored(member, &spans, read.into).await?;
        } else if !spans.is_empty() {
            self.read_deflated(member, &spans, total, read.into).await?;
        }
        let mut meta = self.meta(member);
        meta.version = meta.version.filter(|_| !matches!(read.version, ReadVersion::Any));
        Ok(Some(meta))
    }

    /// Reads spans of a stored member. After the first read the place of its data is known, and bytes go directly into
    /// the buffer.
    async fn read_stored(
        &self,
        member: &Member,
        spans: &[Range<u64>],
        into: &mut ReadBuffer,
    ) -> StoreResult<()> {
        let whole = spans == [0..member.size];
        if let Some(data) = member.data() {
            let ranges: Vec<_> =
                spans.iter().map(|span| ByteRange::from(data + span.start..data + span.end)).collect();
            let read = Read::new(&self.archive, &ranges, &mut *into).version(pinned(self.version.as_ref()));
            self.storage.read(read).await.map_err(inside)?.ok_or_else(gone)?;
            let Some(parts) = into.parts(&ranges, None) else { return Err(gone()) };
            return if whole { member.verify(parts[0]) } else { Ok(()) };
        }
        for (bytes, span) in self.data(member, spans).await?.into_iter().zip(spans) {
            if *span == (0..member.size) {
                member.verify(&bytes)?;
            }
            into.share(bytes)?;
        }
        Ok(())
    }

    /// Reads and inflates a whole member, and returns its spans, `total` bytes. Holds no more of its content.
    async fn read_deflated(
        &self,
        member: &Member,
        spans: &[Range<u64>],
        total: u64,
        into: &mut ReadBuffer,
    ) -> StoreResult<()> {
        let compressed = self.data(member, &[0..member.compressed]).await?.remove(0);
        if spans == [0..member.size] {
            return member.inflate(&compressed, into.grow(member.size)?);
        }
        member.inflate_spans(&compressed, spans, into.grow(total)?)
    }
}

/// The end of an archive.
struct Tail {
    bytes: Bytes,
    /// The size of the archive.
    size: u64,
    version: Option<Version>,
}

impl Tail {
    async fn read(storage: &Storage, archive: &Key) -> StoreResult<Self> {
        let absent = || StoreError::absent("no such archive");
        let mut known = None;
        let range = if storage.capabilities().suffix {
            ByteRange::Suffix(TAIL)
        } else {
            let size = storage.size(archive).await?.ok_or_else(absent)?;
            known = Some(size);
            ByteRange::from(size.saturating_sub(TAIL)..size)
        };
        let reply =
            storage.get_ranges(archive, &[range], ReadVersion::Report, TAIL).await?.ok_or_else(absent)?;
        let bytes = reply.bytes.into_iter().next().unwrap_or_default();
        let size = match known.or(reply.size) {
            Some(size) => size,
            None if (bytes.len() as u64) < TAIL => bytes.len() as u64,
            None => storage.size(archive).await?.ok_or_else(absent)?,
        };
        // The archive may have been replaced between two requests.
        if reply.size.is_some_and(|now| now != size) || bytes.len() as u64 != size.min(TAIL) {
            return Err(gone());
        }
        Ok(Self { bytes, size, version: reply.version })
    }
}

/// Reads `spans` of the opened version of the archive with one request.
async fn fetch(
    storage: &Storage,
    archive: &Key,
    version: Option<&Version>,
    spans: &[Range<u64>],
) -> StoreResult<Vec<Bytes>> {
    let ranges: Vec<_> = spans.iter().cloned().map(ByteRange::from).collect();
    let total = spans.iter().fold(0_u64, |total, span| total.saturating_add(span.end - span.start));
    let reply = storage.get_ranges(archive, &ranges, pinned(version), total).await;
    let bytes = reply.map_err(inside)?.ok_or_else(gone)?.bytes;
    let asked = spans.iter().map(|span| span.end - span.start);
    if !bytes.iter().map(|bytes| bytes.len() as u64).eq(asked) {
        return Err(gone());
    }
    Ok(bytes)
}

fn pinned(version: Option<&Version>) -> ReadVersion<'_> {
    version.map_or(ReadVersion::Any, ReadVersion::Pinned)
}

/// Allocates memory.
fn zeroed(len: u64) -> StoreResult<Vec<u8>> {
    let mut memory = Vec::new();
    let len = to_usize(len);
    memory.try_reserve_exact(len).map_err(|e| {
        StoreError::new(StoreErrorKind::LimitExceeded, "no memory for a part of this member").with_source(e)
    })?;
    memory.resize(len, 0);
    Ok(memory)
}

/// Converts an error of the store below. A range beyond its end means that the archive has changed.
fn inside(e: StoreError) -> StoreError {
    if matches!(e.kind(), StoreErrorKind::RangeNotSatisfiable { .. }) { gone().with_source(e) } else { e }
}

fn gone() -> StoreError {
    StoreError::new(StoreErrorKind::Changed, "the archive has changed since it was opened")
}

fn damaged(why: impl fmt::Display) -> StoreError {
    StoreError::new(StoreErrorKind::Corrupt, format!("the archive is damaged: {why}"))
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

impl Store for ZipStore {
    fn location(&self) -> Option<String> {
        let folder = self.storage.location()?.trim_end_matches('/');
        Some(format!("{folder}/{}|zip:", self.archive))
    }

    /// Suffix ranges and listings always work, because sizes and names are known.
    fn capabilities(&self) -> Capabilities {
        let mut capabilities = self.storage.capabilities().read_only();
        (capabilities.suffix, capabilities.list) = (true, true);
        capabilities
    }

    fn call<'a>(&'a self, op: Op<'a>) -> BoxFuture<'a, StoreResult<Answer>> {
        match op {
            Op::Read(read) => Box::pin(async move {
                let key = read.key;
                self.read(read).await.map(Answer::Read).map_err(|e| e.with_key(key))
            }),
            Op::Head(head) => {
                let member = self.member(head.key, ReadVersion::Any).map_err(|e| e.with_key(head.key));
                ready(member.map(|member| Answer::Head(member.map(|member| self.meta(member)))))
            }
            Op::List(list) => ready(self.page(list).map(Answer::List)),
            Op::ListDir(list) => ready(self.dir(list.prefix).map(Answer::ListDir)),
            op => ready(op.unsupported()),
        }
    }
}

impl ZipStore {
    fn page(&self, List { prefix, after, .. }: List<'_>) -> StoreResult<Page> {
        let after = after.map_or("", Key::as_str);
        let members = self.directory.from(after.max(prefix.as_str())).iter();
        let named = members.map(|member| (self.directory.name(member), member));
        let behind = named.filter(move |(name, _)| *name > after);
        let mut below = behind.take_while(|(name, _)| name.starts_with(prefix.as_str()));
        let entries = below.by_ref().take(PAGE).map(listed).collect::<StoreResult<_>>()?;
        Ok(Page::new(entries, below.next().is_some()))
    }

    fn dir(&self, prefix: &Prefix) -> StoreResult<Dir> {
        let mut dir = Dir::default();
        let mut start = prefix.to_string();
        // One step per child: after a prefix `a/`, the next name outside it is at least `a0`.
        while let Some(member) = self.directory.from(&start).first() {
            let name = self.directory.name(member);
            let Some(below) = name.strip_prefix(prefix.as_str()) else { break };
            start = match below.split_once('/') {
                None => {
                    dir.objects.push(listed((name, member))?);
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

fn listed((name, member): (&str, &Member)) -> StoreResult<Listed> {
    Ok(Listed::new(Key::new(name)?).with_size(member.size))
}
