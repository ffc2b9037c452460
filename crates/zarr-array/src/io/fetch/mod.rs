//! Reads the bytes of a chunk or of its pieces with as few requests as possible: first the index of the shard, which is
//! cached and gives the places of the pieces, then all pieces at once. Pieces that lie close together are one range.

pub(crate) mod elements;
mod error;
pub(crate) mod opened;
pub(crate) mod parts;

use zarr_engine::run::caught;
use zarr_strided::Dims;
use zarr_strided::to_usize;
use zarr_traits::{
    Buffer, ByteRange, CodecError, CodecErrorKind, Fetching, Key, Region, Scratch, Span, StoreError,
    StoreErrorKind, Version,
    codec::EncodedSize,
    partial::{ChunkRead, Piece, PieceDecode},
    store::{ObjectMeta, Read, ReadBuffer, ReadVersion, Stored},
};

use crate::error::{ArrayError, ArrayErrorKind, ArrayResult};
use crate::io::core::Core;
use crate::io::fetch::opened::Opened;
use crate::io::loaded::{Fetched, Loaded, outside};
use crate::plan::Cell;
use crate::plan::one_or_many::OneOrMany;
use error::short;
pub(crate) use error::{FetchError, changed_often, strange, too_large, wrong_size};

/// A chunk and its object.
#[derive(Clone, Copy)]
pub(crate) struct ChunkObject<'a> {
    /// The index of the chunk in the grid.
    pub(crate) index: &'a Dims,
    /// The shape of the chunk.
    pub(crate) shape: &'a [u64],
    /// In dimension `d` every `steps[d]`-th element of each part is selected.
    pub(crate) steps: &'a [u64],
    /// The key of the object.
    pub(crate) key: &'a Key,
    /// The opened object, if the chunk is read in several blocks.
    pub(crate) opened: Option<&'a Opened>,
}

impl<'a> ChunkObject<'a> {
    /// Returns the chunk of a cell, whose object has this key.
    pub(crate) fn of(cell: &'a Cell, steps: &'a [u64], key: &'a Key, opened: Option<&'a Opened>) -> Self {
        Self { index: &cell.chunk, shape: &cell.shape, steps, key, opened }
    }
}

/// The part of an object that must be read.
pub(crate) enum Wish {
    Absent,
    /// The whole object. The `ChunkRead`, if any, takes it apart.
    Whole(Option<Box<dyn ChunkRead>>),
    Pieces(Box<dyn ChunkRead>, Seen),
}

/// The observed state of an object.
#[derive(Default, Clone)]
pub(crate) struct Seen {
    pub(crate) version: Option<Version>,
    pub(crate) size: Option<u64>,
    /// Whether the object exists.
    pub(crate) there: bool,
    /// Whether the state comes from a cached index, and must be confirmed.
    pub(crate) remembered: bool,
}

impl Seen {
    /// Returns the state that an earlier read observed. The object may have been replaced since.
    fn before(version: Option<Version>, size: Option<u64>) -> Self {
        Self { version, size, there: true, remembered: true }
    }
}

/// The requests made to find out what must be read.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Tally {
    pub(crate) requests: u64,
    pub(crate) ranges: u64,
    pub(crate) bytes: u64,
}

/// The expected and the largest size of one read of the store, in bytes.
struct Bounds {
    /// The size if the object is valid; 0 if it is not known.
    expected: u64,
    limit: u64,
}

/// How often a read of an object is tried if another writer changes the object meanwhile.
pub(crate) const RESTARTS: usize = 4;

impl Core {
    /// Finds out what must be read for a part, which may need a read of the index. If `remembered`, a cached index may be used.
    pub(crate) async fn wish(
        &self,
        object: ChunkObject<'_>,
        part: &Region,
        fetching: Fetching,
        remembered: bool,
        tally: &mut Tally,
    ) -> Result<Wish, FetchError> {
        let (known, mut seen) = match (object.opened, self.indexes.get(object.index).filter(|_| remembered)) {
            (Some(Opened::Absent), _) => return Ok(Wish::Absent),
            (Some(Opened::There(known, seen)), _) => (known.clone(), seen.clone()),
            (None, Some(entry)) => (Some(entry.value), Seen::before(entry.version, entry.size)),
            (None, None) => (None, Seen::default()),
        };
        let partial = || Ok(self.chain.partial(object.shape, part, fetching, known.as_ref())?);
        let read: Option<_> = caught::<_, ArrayError>(partial)?;
        let Some(mut read) = read else { return Ok(Wish::Whole(None)) };
        let had_index = read.known().is_some();
        while !read.wants().is_empty() {
            if read.wants() == [ByteRange::All] {
                return Ok(Wish::Whole(Some(read)));
            }
            // In a box, so that the other reads, most of all, do not move its state.
            match Box::pin(self.answer(object.key, &mut *read, seen, tally)).await? {
                Some(now) => seen = now,
                None => return Ok(Wish::Absent),
            }
        }
        if let (true, false, Some(version)) = (remembered, had_index, &seen.version)
            && let Some(known) = read.known()
        {
            self.indexes.keep(object.index, known, version, seen.size);
        }
        Ok(Wish::Pieces(read, seen))
    }

    /// Reads what `read` asks for and feeds it. Returns the state of the object, or `None` if it does not exist.
    async fn answer(
        &self,
        key: &Key,
        read: &mut dyn ChunkRead,
        mut seen: Seen,
        tally: &mut Tally,
    ) -> Result<Option<Seen>, FetchError> {
        let mut wants = read.wants().to_vec();
        if !self.storage.capabilities().suffix {
            // Without suffix ranges the size must be known first, and the read must be of that version.
            if seen.size.is_none() {
                tally.requests += 1;
                let Some(meta) = self.storage.head(key).await? else { return Ok(None) };
                seen = Seen { version: meta.version, size: meta.size, there: true, remembered: false };
            }
            wants.iter_mut().for_each(|want| *want = from_start(*want, seen.size));
        }
        let len = self.check_sum(wants.iter().map(|want| wanted_bytes(*want)))?;
        tally.requests += 1;
        tally.ranges += wants.len() as u64;
        let version = seen.version.as_ref().map_or(ReadVersion::Report, ReadVersion::Pinned);
        let mut buffer = ReadBuffer::new(len as u64);
        let Some(meta) = self.storage.read(Read::new(key, &wants, &mut buffer).version(version)).await?
        else {
            return if seen.there { Err(FetchError::Changed) } else { Ok(None) };
        };
        tally.bytes += buffer.len() as u64;
        let (version, size) = (seen.version.or(meta.version), seen.size.or(meta.size));
        let parts = buffer.parts(&wants, size).ok_or_else(|| short(buffer.len(), len))?;
        caught::<_, ArrayError>(|| Ok(read.feed(&parts, size)?))?;
        Ok(Some(Seen { version, size, there: true, remembered: false }))
    }

    /// Reads the whole object of a chunk, and returns its version.
    async fn load_whole(
        &self,
        object: ChunkObject<'_>,
        has_pieces: bool,
        scratch: Option<&mut Scratch>,
    ) -> Result<Option<(Loaded, Option<Version>)>, FetchError> {
        if !has_pieces && let Err(e) = self.check_chunk(object.shape) {
            // Fails before the object is read. A missing chunk takes no memory, so its size does not matter.
            return if self.storage.exists(object.key).await? { Err(e.into()) } else { Ok(None) };
        }
        // A version is asked for only if chunks are cached by it.
        let version = if self.decoded.is_some() { ReadVersion::Report } else { ReadVersion::Any };
        Ok(self.load(object.key, object.shape, version, scratch).await?)
    }

    /// Fetches the bytes in spans of an object, which must have the size `expected`. Returns `None` if the object does
    /// not exist.
    async fn fetch_spans(
        &self,
        key: &Key,
        spans: impl Iterator<Item = Span>,
        expected: Option<u64>,
        seen: Seen,
        scratch: Option<&mut Scratch>,
    ) -> Result<Option<Fetched>, FetchError> {
        let (ranges, len) = match self.plan_ranges(spans, &seen) {
            Err(_) if seen.remembered => return Err(FetchError::Changed),
            planned => planned?,
        };
        if ranges.is_empty() && seen.there {
            if seen.remembered && !self.confirm(key, &seen).await? {
                return Err(FetchError::Changed);
            }
            return Ok(Some(Fetched::new(Loaded::empty(), Vec::new())));
        }
        let wants: OneOrMany<ByteRange> = ranges.iter().map(|span| ByteRange::from(*span)).collect();
        let version = seen.version.as_ref().map_or(ReadVersion::Any, ReadVersion::Pinned);
        let bounds = Bounds { expected: 0, limit: len as u64 };
        let (loaded, size) = match self.read(key, &wants, version, bounds, scratch).await? {
            Some((loaded, _)) if loaded.len() != len => return Err(short(loaded.len(), len)),
            Some((loaded, meta)) => (Some(loaded), meta.size),
            None => (None, None),
        };
        match (loaded, seen.there, size.zip(expected)) {
            (None, true, _) => Err(FetchError::Changed),
            (None, false, _) => Ok(None),
            (_, _, Some((size, expected))) if size != expected => {
                Err(FetchError::Other(wrong_size(size, expected)))
            }
            // In a store without versions: this is not the object whose index was read.
            _ if size.zip(seen.size).is_some_and(|(now, then)| now != then) => Err(FetchError::Changed),
            (Some(loaded), _, _) => Ok(Some(Fetched::new(loaded, ranges))),
        }
    }

    /// Returns how a part is fetched. If steps skip inner chunks, the object is not read whole.
    pub(crate) fn fetching_of(&self, steps: &[u64]) -> Fetching {
        let mut fetching = self.fetching;
        if steps.iter().any(|step| *step > 1)
            && let Some(inner) = self.chain.inner_shape(steps.len())
            && steps.iter().zip(&inner).any(|(step, inner)| step > inner)
        {
            fetching.whole = 0;
        }
        fetching
    }

    /// Returns the pieces of a part that hold selected elements.
    ///
    /// # Errors
    /// When the pieces do not cover exactly that part, or an inner chunk exceeds the limits.
    pub(crate) fn pieces_of(
        &self,
        read: &dyn ChunkRead,
        steps: &[u64],
        part: &Region,
    ) -> ArrayResult<Vec<Piece>> {
        let mut pieces = Vec::new();
        read.pieces(&mut pieces)?;
        let mut covered = 0_u64;
        for piece in &pieces {
            let len = piece.shape.product().filter(|_| is_within(piece, part.shape()));
            let len = len.ok_or_else(|| strange("a codec returned a piece outside the requested part"))?;
            covered = covered.saturating_add(len);
            if let PieceDecode::Chain(inner) = &piece.job {
                self.check_chunk(&inner.chunk)?;
            }
        }
        if part.len() != Some(covered) {
            return Err(strange("a codec returned pieces that do not cover the requested part"));
        }
        if steps.iter().any(|step| *step > 1) {
            pieces.retain(|piece| is_hit(piece, steps));
        }
        Ok(pieces)
    }

    /// Returns the ranges that hold spans of an object, and their size in bytes.
    pub(crate) fn plan_ranges(
        &self,
        spans: impl Iterator<Item = Span>,
        seen: &Seen,
    ) -> ArrayResult<(Vec<Span>, usize)> {
        let ranges = zarr_engine::merge(self.fetching, spans).map_err(outside)?;
        check_inside(ranges.iter().copied(), seen.size)?;
        let len = self.check_sum(ranges.iter().map(|span| span.len))?;
        Ok((ranges, len))
    }

    /// Reads the whole object at `key`, of a chunk of `shape`, into recycled memory of `scratch`, if given. An object
    /// of a wrong size fails before its bytes are in memory.
    pub(crate) async fn load(
        &self,
        key: &Key,
        shape: &[u64],
        version: ReadVersion<'_>,
        scratch: Option<&mut Scratch>,
    ) -> ArrayResult<Option<(Loaded, Option<Version>)>> {
        let expected = self.chain.encoded_size(shape);
        let limit = self.largest_object(expected);
        let exact = if let EncodedSize::Exact(exact) = expected { exact } else { 0 };
        let bounds = Bounds { expected: exact, limit };
        let read = self.read(key, &[ByteRange::All], version, bounds, scratch).await;
        let Some((loaded, meta)) = read.map_err(|e| too_large(e, expected, limit))? else { return Ok(None) };
        match expected {
            EncodedSize::Exact(exact) if loaded.len() as u64 != exact => {
                Err(wrong_size(loaded.len() as u64, exact))
            }
            _ => Ok(Some((loaded, meta.version))),
        }
    }

    /// Reads ranges of an object into recycled memory of `scratch`, if given. Bytes that the store shares are not
    /// copied.
    async fn read(
        &self,
        key: &Key,
        ranges: &[ByteRange],
        version: ReadVersion<'_>,
        bounds: Bounds,
        mut scratch: Option<&mut Scratch>,
    ) -> Result<Option<(Loaded, ObjectMeta)>, StoreError> {
        let memory =
            scratch.as_deref_mut().map(|scratch| scratch.take_memory(bounds.limit)).unwrap_or_default();
        let mut buffer = ReadBuffer::reusing(memory, bounds.limit).expecting(bounds.expected);
        let meta = self.storage.read(Read::new(key, ranges, &mut buffer).version(version)).await?;
        let loaded = match buffer.into_stored() {
            Stored::Memory { memory, len } => Loaded::Scratch(Buffer::of(memory, len)),
            Stored::Shared { parts, memory } => Loaded::Bytes(parts, Buffer::of(memory, 0)),
            _ => {
                let message = "this version does not support the memory that the store shares";
                return Err(StoreError::new(StoreErrorKind::Unsupported, message));
            }
        };
        match (meta, scratch) {
            (Some(meta), _) => return Ok(Some((loaded, meta))),
            (None, Some(scratch)) => loaded.give_to(scratch),
            (None, None) => {}
        }
        Ok(None)
    }

    /// Returns the largest allowed size of the object of a chunk, in bytes.
    fn largest_object(&self, expected: EncodedSize) -> u64 {
        let encoded = self.limits.encoded_bytes;
        match expected {
            // Uncompressed chunks may be as large as decoded ones.
            EncodedSize::Exact(exact) => exact.min(encoded.max(self.limits.chunk_bytes)),
            // Another encoder may compress worse than ours.
            EncodedSize::AtMost(bound) if !self.has_inner() => {
                bound.saturating_mul(4).max(1 << 20).min(encoded)
            }
            _ => encoded,
        }
    }

    /// Returns the sum of sizes that will be read: `LimitExceeded` if it exceeds `Limits::encoded_bytes`.
    fn check_sum(&self, bytes: impl Iterator<Item = u64>) -> ArrayResult<usize> {
        let sum = bytes.fold(0_u64, u64::saturating_add);
        if sum > self.limits.encoded_bytes {
            let message = format!("pieces of {sum} bytes exceed the limit of {}", self.limits.encoded_bytes);
            return Err(ArrayError::new(ArrayErrorKind::LimitExceeded, message));
        }
        Ok(to_usize(sum))
    }

    /// Checks that a chunk to decode does not exceed the limits.
    pub(crate) fn check_chunk(&self, shape: &[u64]) -> ArrayResult<()> {
        let bytes = zarr_strided::byte_len(shape, self.size)? as u64;
        if bytes <= self.limits.chunk_bytes {
            return Ok(());
        }
        let message = format!("a chunk of {bytes} bytes exceeds the limit of {}", self.limits.chunk_bytes);
        Err(CodecError::new(CodecErrorKind::LimitExceeded, message).into())
    }
}

/// Whether a piece lies in a part of `shape`.
fn is_within(piece: &Piece, shape: &[u64]) -> bool {
    let (at, len) = (&piece.at, &piece.shape);
    (at.len(), len.len()) == (shape.len(), shape.len())
        && at
            .iter()
            .zip(len)
            .zip(shape)
            .all(|((at, len), most)| at.checked_add(*len).is_some_and(|end| end <= *most))
}

/// Whether a piece holds an element that `steps` selects in its part.
fn is_hit(piece: &Piece, steps: &[u64]) -> bool {
    let dims = piece.at.iter().zip(&piece.shape).zip(steps);
    dims.into_iter().all(|((at, len), step)| at.div_ceil(*step) * step < at + len)
}

/// Turns a suffix range into a span if the size of the object is known.
fn from_start(range: ByteRange, size: Option<u64>) -> ByteRange {
    match (range, size) {
        (ByteRange::Suffix(n), Some(size)) => {
            let len = n.min(size);
            ByteRange::Span { offset: size - len, len }
        }
        (range, _) => range,
    }
}

fn wanted_bytes(range: ByteRange) -> u64 {
    match range {
        ByteRange::All => 0,
        ByteRange::Span { len, .. } | ByteRange::Suffix(len) => len,
    }
}

pub(crate) fn check_inside(spans: impl Iterator<Item = Span>, size: Option<u64>) -> ArrayResult<()> {
    let Some(size) = size else { return Ok(()) };
    for span in spans {
        if span.end().is_none_or(|end| end > size) {
            return Err(outside(span));
        }
    }
    Ok(())
}
