//! Getting the bytes of a chunk, or of its pieces, with as few requests as can be: first what tells where the pieces are
//! (the index of a shard, which is remembered), then all of them at once, those that lie close together as one range.

use zarr_traits::{
    ByteRange, Bytes, ChunkRead, CodecError, CodecErrorKind, Dims, EncodedSize, Hints, If, Job, Key, Piece,
    Region, Reply, Scratch, Span, StoreErrorKind, Version,
};

use crate::core::Core;
use crate::error::{ArrayError, ArrayErrorKind, ArrayResult};
use crate::feed::caught;
use crate::loaded::{Fetched, Loaded};

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
    /// What is wanted of the part: every so manyth element.
    pub(crate) steps: &'a [u64],
    /// The key of its object.
    pub(crate) key: &'a Key,
}

/// What is to be read of an object, once that is known.
pub(crate) enum Wish {
    Absent,
    /// All of it; taken apart by this, if by anything.
    Whole(Option<Box<dyn ChunkRead>>),
    Pieces(Box<dyn ChunkRead>, Seen),
}

/// What has been seen of an object.
#[derive(Default)]
pub(crate) struct Seen {
    version: Option<Version>,
    pub(crate) size: Option<u64>,
    /// Whether it is there.
    pub(crate) there: bool,
    /// Whether all of that is remembered, and has to be confirmed.
    remembered: bool,
}

/// What it took to know that.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Tally {
    pub(crate) requests: u64,
    pub(crate) ranges: u64,
    pub(crate) bytes: u64,
}

/// How often the reading of one object begins again because it was changed meanwhile.
const RESTARTS: usize = 4;

/// Up to this bound of its size an object is read without asking for its size first: the memory for it is taken from the
/// system piece by piece, as bytes arrive.
const BLIND: u64 = 128 << 20;

impl Core {
    /// Fetches a part of a chunk.
    pub(crate) async fn fetch(
        &self,
        chunk: ChunkPart<'_>,
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
        }
        Err(ArrayError::new(
            ArrayErrorKind::Conflict,
            "the object was changed while it was read, several times",
        ))
    }

    /// Finds out what is to be read, which may take reading an index; one that is `remembered` will do.
    pub(crate) async fn wish(
        &self,
        ChunkPart { index, shape, part, key, .. }: ChunkPart<'_>,
        hints: Hints,
        remembered: bool,
        tally: &mut Tally,
    ) -> Result<Wish, FetchError> {
        let (mut seen, mut known) = (Seen::default(), None);
        if let Some(entry) = self.indexes.get(index).filter(|_| remembered) {
            known = Some(entry.known);
            seen = Seen { version: Some(entry.version), size: entry.size, there: true, remembered: true };
        }
        let Some(mut read) = caught(|| Ok(self.chain.partial(shape, part, hints, known.as_ref())))? else {
            return Ok(Wish::Whole(None));
        };
        let reader = self.storage.reader();
        while !read.wants().is_empty() {
            if read.wants() == [ByteRange::All] {
                return Ok(Wish::Whole(Some(read)));
            }
            let mut wants = read.wants().to_vec();
            if !self.storage.capabilities().suffix {
                // Without suffix ranges the size must be known first, of the version that is then read.
                if seen.size.is_none() {
                    tally.requests += 1;
                    let Some(stat) = reader.size(key).await? else { return Ok(Wish::Absent) };
                    seen =
                        Seen { version: stat.version, size: Some(stat.size), there: true, remembered: false };
                }
                wants.iter_mut().for_each(|want| *want = from_start(*want, seen.size));
            }
            self.check_sum(wants.iter().map(|want| wanted_bytes(*want)))?;
            tally.requests += 1;
            tally.ranges += wants.len() as u64;
            let condition = seen.version.as_ref().map_or(If::Versioned, If::Pinned);
            let Some(Reply { bytes, size, version }) = reader.get_ranges(key, &wants, condition).await?
            else {
                return if seen.there { Err(FetchError::Changed) } else { Ok(Wish::Absent) };
            };
            let slices: Vec<&[u8]> = bytes.iter().map(|b| &b[..]).collect();
            tally.bytes += slices.iter().map(|b| b.len() as u64).sum::<u64>();
            seen = Seen {
                version: seen.version.or(version),
                size: seen.size.or(size),
                there: true,
                remembered: false,
            };
            caught(|| Ok(read.feed(&slices, seen.size)?))?;
        }
        if let (true, None, Some(version)) = (remembered, known, &seen.version)
            && let Some(known) = read.known()
        {
            self.indexes.keep(index, known, version, seen.size);
        }
        Ok(Wish::Pieces(read, seen))
    }

    async fn fetch_whole(
        &self,
        chunk: ChunkPart<'_>,
        read: Option<Box<dyn ChunkRead>>,
        scratch: Option<&mut Scratch>,
    ) -> Result<Data, FetchError> {
        let Some((loaded, _)) = self.load(chunk.key, chunk.shape, If::Any, scratch).await? else {
            return Ok(Data::Absent);
        };
        let Some(mut read) = read else {
            self.check_chunk(chunk.shape)?;
            return Ok(Data::Whole(loaded));
        };
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
        let reader = self.storage.reader();
        let expected = read.object_size();
        let key = chunk.key;
        let planned = self.plan_ranges(read, chunk, &seen);
        // What is remembered may be of an object that has been replaced: only what is read now can be at fault.
        let (pieces, ranges, len) = match planned {
            Err(_) if seen.remembered => return Err(FetchError::Changed),
            planned => planned?,
        };
        if ranges.is_empty() && seen.there {
            if seen.remembered {
                let version = reader.size(key).await?.and_then(|stat| stat.version);
                if version.is_none() || version != seen.version {
                    return Err(FetchError::Changed);
                }
            }
            return Ok(Data::Pieces(pieces, Fetched::new(Loaded::Bytes(Vec::new()), Vec::new())));
        }
        let wants: Vec<ByteRange> = ranges.iter().map(|span| ByteRange::from(*span)).collect();
        let condition = seen.version.as_ref().map_or(If::Any, If::Pinned);
        let (loaded, size) = match scratch {
            Some(scratch) => {
                let mut buffer = scratch.take(len)?;
                match reader.read_into(key, &wants, condition, &mut buffer).await? {
                    Some(filled) if filled.len != len => return Err(short(filled.len, len)),
                    Some(filled) => (Some(Loaded::Scratch(buffer)), filled.size),
                    None => (None, None),
                }
            }
            None => match reader.get_ranges(key, &wants, condition).await? {
                Some(reply) => {
                    let got: usize = reply.bytes.iter().map(Bytes::len).sum();
                    if got != len {
                        return Err(short(got, len));
                    }
                    (Some(Loaded::Bytes(reply.bytes)), reply.size)
                }
                None => (None, None),
            },
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
        let ranges = self.fetching.merge(pieces.iter().map(|piece| piece.span)).map_err(outside)?;
        check_inside(ranges.iter().copied(), seen.size)?;
        let len = self.check_sum(ranges.iter().map(|span| span.len))?;
        Ok((pieces, ranges, len))
    }

    /// The whole object at `key`, of a chunk of `shape`.
    pub(crate) async fn load(
        &self,
        key: &Key,
        shape: &[u64],
        condition: If<'_>,
        scratch: Option<&mut Scratch>,
    ) -> ArrayResult<Option<(Loaded, Option<Version>)>> {
        let expected = self.chain.encoded_size(shape);
        let Some(scratch) = scratch else {
            let Some(Reply { bytes, version, .. }) =
                self.storage.reader().get_ranges(key, &[ByteRange::All], condition).await?
            else {
                return Ok(None);
            };
            let len: usize = bytes.iter().map(Bytes::len).sum();
            self.check_size(len as u64, expected)?;
            return Ok(Some((Loaded::Bytes(bytes), version)));
        };
        let mut room = match self.room(expected) {
            Some(room) => room,
            // Too much to take on the word of a document: the object says how large it is.
            None => {
                let Some(stat) = self.storage.reader().size(key).await? else { return Ok(None) };
                self.check_size(stat.size, expected)?;
                in_memory(stat.size)
            }
        };
        loop {
            let mut buffer = scratch.take(room)?;
            let filled =
                self.storage.reader().read_into(key, &[ByteRange::All], condition, &mut buffer).await;
            let Some(filled) = filled? else {
                scratch.give(buffer);
                return Ok(None);
            };
            let size = filled.size.unwrap_or(filled.len as u64);
            self.check_size(size, expected)?;
            if size <= room as u64 {
                buffer.truncate(filled.len);
                return Ok(Some((Loaded::Scratch(buffer), filled.version)));
            }
            scratch.give(buffer);
            room = in_memory(size);
        }
    }

    /// The memory to read an object of this size into that nobody has asked for its size; `None`: ask it.
    pub(crate) fn room(&self, expected: EncodedSize) -> Option<usize> {
        match expected {
            EncodedSize::Exact(exact) if exact <= self.limits.chunk_bytes => Some(in_memory(exact)),
            EncodedSize::AtMost(bound) if bound <= BLIND => Some(in_memory(bound)),
            EncodedSize::Unknown => Some(64 << 10),
            _ => None,
        }
    }

    /// Refuses an object that cannot be a chunk, before memory is taken for it.
    fn check_size(&self, size: u64, expected: EncodedSize) -> ArrayResult<()> {
        let most = match expected {
            EncodedSize::Exact(exact) if size == exact => return Ok(()),
            EncodedSize::Exact(exact) => return Err(wrong_size(size, exact)),
            // another encoder may do worse than ours, within reason
            EncodedSize::AtMost(_) if self.has_inner() => self.limits.encoded_bytes,
            EncodedSize::AtMost(bound) => bound.saturating_mul(4).max(1 << 20).min(self.limits.encoded_bytes),
            EncodedSize::Unknown => self.limits.encoded_bytes,
        };
        if size <= most {
            return Ok(());
        }
        Err(ArrayError::new(
            ArrayErrorKind::LimitExceeded,
            format!("the object has {size} bytes, a chunk of this array may have {most}"),
        ))
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
        let bytes = zarr_traits::chain::byte_len(shape, self.size)? as u64;
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

/// Whether a piece holds one of every so manyth element of its part.
fn is_hit(piece: &Piece, steps: &[u64]) -> bool {
    let dims = piece.at.iter().zip(&piece.shape).zip(steps);
    dims.into_iter().all(|((at, len), step)| at.div_ceil(*step) * step < at + len)
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

pub(crate) fn wrong_size(size: u64, expected: u64) -> ArrayError {
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
