//! Getting the bytes of a chunk, or of its pieces, with as few requests as can be: first what tells where the pieces are
//! (the index of a shard, which is remembered), then all of them at once, those that lie close together as one range.

use std::fmt;

use zarr_traits::{
    Buffer, ByteRange, CodecError, CodecErrorKind, Dims, Key, Region, Scratch, StoreError, StoreErrorKind,
    Version,
    codec::EncodedSize,
    partial::{ChunkRead, Hints, Job, Piece, Span},
    store::{ObjectMeta, Read, ReadBuffer, ReadVersion, Stored},
};

use crate::core::Core;
use crate::error::{ArrayError, ArrayErrorKind, ArrayResult};
use crate::feed::caught;
use crate::loaded::{Fetched, Loaded};
use crate::opened::Opened;

/// What a read of a part of a chunk brought.
pub(crate) enum Data {
    Absent,
    /// The object, of which the part is decoded at once.
    Whole(Loaded),
    /// The pieces, and the bytes they are made of.
    Pieces(Vec<Piece>, Fetched),
}

/// A part of a chunk.
#[derive(Clone, Copy)]
pub(crate) struct ChunkPart<'a> {
    /// The place of the chunk in the grid.
    pub(crate) index: &'a Dims,
    /// Its shape.
    pub(crate) shape: &'a [u64],
    pub(crate) part: &'a Region,
    /// In dimension `d` every `steps[d]`-th element of the part is wanted.
    pub(crate) steps: &'a [u64],
    /// The key of its object.
    pub(crate) key: &'a Key,
    /// What is known of the object, where the chunk is read in several blocks.
    pub(crate) opened: Option<&'a Opened>,
}

/// What is to be read of an object, once that is known.
pub(crate) enum Wish {
    Absent,
    /// All of it; taken apart by this, if by anything.
    Whole(Option<Box<dyn ChunkRead>>),
    Pieces(Box<dyn ChunkRead>, Seen),
}

/// What has been seen of an object.
#[derive(Default, Clone)]
pub(crate) struct Seen {
    pub(crate) version: Option<Version>,
    pub(crate) size: Option<u64>,
    /// Whether it is there.
    pub(crate) there: bool,
    /// Whether all of that is remembered, and has to be confirmed.
    pub(crate) remembered: bool,
}

impl Seen {
    /// What an earlier read has seen, of an object that may have been replaced since.
    fn before(version: Version, size: Option<u64>) -> Self {
        Self { version: Some(version), size, there: true, remembered: true }
    }
}

/// What it took to know that.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Tally {
    pub(crate) requests: u64,
    pub(crate) ranges: u64,
    pub(crate) bytes: u64,
}

/// How many bytes a read may return.
struct Bounds {
    /// How many it returns if the object is what it should be; 0 if that is not known.
    expected: u64,
    limit: u64,
}

/// How often the reading of one object begins again because it was changed meanwhile.
pub(crate) const RESTARTS: usize = 4;

impl Core {
    /// Fetches a part of a chunk.
    pub(crate) async fn fetch(
        &self,
        mut chunk: ChunkPart<'_>,
        mut scratch: Option<&mut Scratch>,
    ) -> ArrayResult<Data> {
        let hints = self.hints(chunk);
        for _ in 0..RESTARTS {
            let wish = self.wish(chunk, hints, true, &mut Tally::default()).await;
            let done = match wish {
                Ok(Wish::Absent) => Ok(Data::Absent),
                Ok(Wish::Whole(read)) => self.fetch_whole(chunk, read, scratch.as_deref_mut()).await,
                Ok(Wish::Pieces(read, seen)) => {
                    self.fetch_pieces(chunk, read, seen, scratch.as_deref_mut()).await
                }
                Err(e) => Err(e),
            };
            match done {
                Err(FetchError::Changed) => self.indexes.forget(chunk.index),
                Err(FetchError::Other(e)) => return Err(e),
                Ok(data) => return Ok(data),
            }
            chunk.opened = None;
        }
        Err(changed_often())
    }

    /// Finds out what is to be read, which may take reading an index; one that is `remembered` will do.
    pub(crate) async fn wish(
        &self,
        chunk: ChunkPart<'_>,
        hints: Hints,
        remembered: bool,
        tally: &mut Tally,
    ) -> Result<Wish, FetchError> {
        let (known, mut seen) = match (chunk.opened, self.indexes.get(chunk.index).filter(|_| remembered)) {
            (Some(Opened::Absent), _) => return Ok(Wish::Absent),
            (Some(Opened::There(known, seen)), _) => (known.clone(), seen.clone()),
            (None, Some(entry)) => (Some(entry.known), Seen::before(entry.version, entry.size)),
            (None, None) => (None, Seen::default()),
        };
        let read = caught(|| Ok(self.chain.partial(chunk.shape, chunk.part, hints, known.as_ref())))?;
        let Some(mut read) = read else { return Ok(Wish::Whole(None)) };
        let had_index = read.known().is_some();
        while !read.wants().is_empty() {
            if read.wants() == [ByteRange::All] {
                return Ok(Wish::Whole(Some(read)));
            }
            match self.answer(chunk.key, &mut *read, seen, tally).await? {
                Some(now) => seen = now,
                None => return Ok(Wish::Absent),
            }
        }
        if let (true, false, Some(version)) = (remembered, had_index, &seen.version)
            && let Some(known) = read.known()
        {
            self.indexes.keep(chunk.index, known, version, seen.size);
        }
        Ok(Wish::Pieces(read, seen))
    }

    /// Reads what `read` wants, and feeds it. Returns what is seen of the object by now; `None`: there is none.
    async fn answer(
        &self,
        key: &Key,
        read: &mut dyn ChunkRead,
        mut seen: Seen,
        tally: &mut Tally,
    ) -> Result<Option<Seen>, FetchError> {
        let mut wants = read.wants().to_vec();
        if !self.storage.capabilities().suffix {
            // Without suffix ranges the size must be known first, of the version that is then read.
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
        caught(|| Ok(read.feed(&parts, size)?))?;
        Ok(Some(Seen { version, size, there: true, remembered: false }))
    }

    async fn fetch_whole(
        &self,
        chunk: ChunkPart<'_>,
        read: Option<Box<dyn ChunkRead>>,
        scratch: Option<&mut Scratch>,
    ) -> Result<Data, FetchError> {
        if read.is_none()
            && let Err(e) = self.check_chunk(chunk.shape)
        {
            // Refused before a byte of it is read. An absent chunk takes no memory, whatever its size.
            return if self.storage.exists(chunk.key).await? { Err(e.into()) } else { Ok(Data::Absent) };
        }
        let Some((loaded, _)) = self.load(chunk.key, chunk.shape, ReadVersion::Any, scratch).await? else {
            return Ok(Data::Absent);
        };
        let Some(mut read) = read else { return Ok(Data::Whole(loaded)) };
        let (object, size) = (loaded.whole(), loaded.len() as u64);
        let pieces = caught(|| {
            read.feed(&[object], Some(size))?;
            self.pieces_of(&*read, chunk)
        })?;
        check_inside(pieces.iter().map(|piece| piece.span), Some(size))?;
        Ok(Data::Pieces(pieces, Fetched::new(loaded, vec![Span { offset: 0, len: size }])))
    }

    async fn fetch_pieces(
        &self,
        chunk: ChunkPart<'_>,
        read: Box<dyn ChunkRead>,
        seen: Seen,
        scratch: Option<&mut Scratch>,
    ) -> Result<Data, FetchError> {
        let expected = read.object_size();
        let key = chunk.key;
        let planned = self.plan_ranges(read, chunk, &seen);
        // What is remembered may be of an object that has been replaced: only what is read now can be at fault.
        let (pieces, ranges, len) = match planned {
            Err(_) if seen.remembered => return Err(FetchError::Changed),
            planned => planned?,
        };
        if ranges.is_empty() && seen.there {
            if seen.remembered && !self.confirm(key, &seen).await? {
                return Err(FetchError::Changed);
            }
            return Ok(Data::Pieces(pieces, Fetched::new(Loaded::empty(), Vec::new())));
        }
        let wants: Vec<ByteRange> = ranges.iter().map(|span| ByteRange::from(*span)).collect();
        let version = seen.version.as_ref().map_or(ReadVersion::Any, ReadVersion::Pinned);
        let bounds = Bounds { expected: 0, limit: len as u64 };
        let (loaded, size) = match self.read(key, &wants, version, bounds, scratch).await? {
            Some((loaded, _)) if loaded.len() != len => return Err(short(loaded.len(), len)),
            Some((loaded, meta)) => (Some(loaded), meta.size),
            None => (None, None),
        };
        match (loaded, seen.there, size.zip(expected)) {
            (None, true, _) => Err(FetchError::Changed),
            (None, false, _) => Ok(Data::Absent),
            (_, _, Some((size, expected))) if size != expected => {
                Err(FetchError::Other(wrong_size(size, expected)))
            }
            // A store without versions: this is not the object whose index was read.
            _ if size.zip(seen.size).is_some_and(|(now, then)| now != then) => Err(FetchError::Changed),
            (Some(loaded), _, _) => Ok(Data::Pieces(pieces, Fetched::new(loaded, ranges))),
        }
    }

    /// How a part is best fetched: where steps skip inner chunks, not whole.
    pub(crate) fn hints(&self, chunk: ChunkPart<'_>) -> Hints {
        let mut hints = self.fetching;
        if let Some(inner) = self.chain.inner_shape(chunk.steps.len())
            && chunk.steps.iter().zip(&inner).any(|(step, inner)| step > inner)
        {
            hints.whole = 0;
        }
        hints
    }

    /// The pieces of a part that hold something that is wanted. Refused are pieces that are not just that part, and inner
    /// chunks that are larger than the limits allow.
    pub(crate) fn pieces_of(&self, read: &dyn ChunkRead, chunk: ChunkPart<'_>) -> ArrayResult<Vec<Piece>> {
        let mut pieces = Vec::new();
        read.pieces(&mut pieces)?;
        let mut covered = 0_u64;
        for piece in &pieces {
            let len = piece.shape.product().filter(|_| is_within(piece, chunk.part.shape()));
            let len = len
                .ok_or_else(|| strange("a codec has made a piece that lies outside of what was asked for"))?;
            covered = covered.saturating_add(len);
            if let Job::Chain(inner) = &piece.job {
                self.check_chunk(&inner.chunk)?;
            }
        }
        if chunk.part.len() != Some(covered) {
            return Err(strange("a codec has made pieces that are not all of what was asked for"));
        }
        if chunk.steps.iter().any(|step| *step > 1) {
            pieces.retain(|piece| is_hit(piece, chunk.steps));
        }
        Ok(pieces)
    }

    /// The pieces of a read, the ranges that hold them, and how many bytes these are.
    pub(crate) fn plan_ranges(
        &self,
        read: Box<dyn ChunkRead>,
        chunk: ChunkPart<'_>,
        seen: &Seen,
    ) -> ArrayResult<(Vec<Piece>, Vec<Span>, usize)> {
        let pieces = caught(|| self.pieces_of(&*read, chunk))?;
        let ranges =
            zarr_engine::merge(self.fetching, pieces.iter().map(|piece| piece.span)).map_err(outside)?;
        check_inside(ranges.iter().copied(), seen.size)?;
        let len = self.check_sum(ranges.iter().map(|span| span.len))?;
        Ok((pieces, ranges, len))
    }

    /// Reads the whole object at `key`, of a chunk of `shape`, into recycled memory if there is `scratch`. An object that
    /// cannot be such a chunk is refused before its bytes are in memory.
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

    /// Reads ranges of an object, into recycled memory if there is `scratch`. What the store shares is not copied.
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
        };
        match (meta, scratch) {
            (Some(meta), _) => return Ok(Some((loaded, meta))),
            (None, Some(scratch)) => loaded.give_to(scratch),
            (None, None) => {}
        }
        Ok(None)
    }

    /// The bytes that the object of a chunk may have.
    fn largest_object(&self, expected: EncodedSize) -> u64 {
        let encoded = self.limits.encoded_bytes;
        match expected {
            // Uncompressed chunks may be as large as decoded ones.
            EncodedSize::Exact(exact) => exact.min(encoded.max(self.limits.chunk_bytes)),
            // Another encoder may do worse than ours, within reason.
            EncodedSize::AtMost(bound) if !self.has_inner() => {
                bound.saturating_mul(4).max(1 << 20).min(encoded)
            }
            _ => encoded,
        }
    }

    /// The sum of some bytes that are to be read, which must be within what a chunk may have.
    fn check_sum(&self, bytes: impl Iterator<Item = u64>) -> ArrayResult<usize> {
        let sum = bytes.fold(0_u64, u64::saturating_add);
        if sum > self.limits.encoded_bytes {
            let message = format!("pieces of {sum} bytes exceed the limit of {}", self.limits.encoded_bytes);
            return Err(ArrayError::new(ArrayErrorKind::LimitExceeded, message));
        }
        Ok(in_memory(sum))
    }

    /// Refuses to decode a chunk that is larger than the limits allow.
    pub(crate) fn check_chunk(&self, shape: &[u64]) -> ArrayResult<()> {
        let bytes = zarr_traits::byte_len(shape, self.size)? as u64;
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

/// Whether a piece holds one of the elements that are `steps` apart in its part.
fn is_hit(piece: &Piece, steps: &[u64]) -> bool {
    let dims = piece.at.iter().zip(&piece.shape).zip(steps);
    dims.into_iter().all(|((at, len), step)| at.div_ceil(*step) * step < at + len)
}

pub(crate) fn changed_often() -> ArrayError {
    ArrayError::new(ArrayErrorKind::Conflict, "the object was changed while it was read, several times")
}

/// A codec does what it must not.
pub(crate) fn strange(message: &str) -> ArrayError {
    CodecError::new(CodecErrorKind::InvalidArgument, message).into()
}

/// A suffix of an object of known size, as a span.
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

fn check_inside(spans: impl Iterator<Item = Span>, size: Option<u64>) -> ArrayResult<()> {
    let Some(size) = size else { return Ok(()) };
    for span in spans {
        if span.end().is_none_or(|end| end > size) {
            return Err(outside(span));
        }
    }
    Ok(())
}

pub(crate) fn outside(Span { offset, len }: Span) -> ArrayError {
    CodecError::corrupt(format!("{len} bytes at offset {offset} are not inside the object")).into()
}

/// A number of bytes that memory is asked for; what exceeds it will be refused.
pub(crate) fn in_memory(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// The store has broken its contract.
fn short(got: usize, expected: usize) -> FetchError {
    let message = format!("the store has answered with {got} bytes where {expected} were asked for");
    ArrayError::new(ArrayErrorKind::Io, message).into()
}

/// The error about an object that exceeds the limit of its read, in terms of the chunk.
fn too_large(e: StoreError, expected: EncodedSize, limit: u64) -> ArrayError {
    let StoreErrorKind::TooLarge { size } = e.kind() else { return e.into() };
    let size = size.map_or_else(|| format!("more than {limit}"), |size| size.to_string());
    match expected {
        EncodedSize::Exact(exact) if exact <= limit => wrong_size(size, exact),
        _ => {
            let message = format!("the object has {size} bytes, a chunk of this array may have {limit}");
            ArrayError::new(ArrayErrorKind::LimitExceeded, message)
        }
    }
}

fn wrong_size(size: impl fmt::Display, expected: u64) -> ArrayError {
    ArrayError::new(ArrayErrorKind::Corrupt, format!("the object has {size} bytes, expected {expected}"))
}

/// Why an object could not be fetched.
pub(crate) enum FetchError {
    /// It is another one by now: begin again.
    Changed,
    Other(ArrayError),
}

impl From<zarr_traits::StoreError> for FetchError {
    fn from(e: zarr_traits::StoreError) -> Self {
        if e.kind() == StoreErrorKind::Changed { Self::Changed } else { Self::Other(e.into()) }
    }
}

impl From<CodecError> for FetchError {
    fn from(e: CodecError) -> Self {
        Self::Other(e.into())
    }
}

impl From<ArrayError> for FetchError {
    fn from(e: ArrayError) -> Self {
        Self::Other(e)
    }
}
