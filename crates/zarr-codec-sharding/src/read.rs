//! Partial reads of a shard: first the index, then only the inner chunks that the part touches. Inner chunks that
//! support partial reads (shards in shards, uncompressed chunks) are read in the same way.

use std::sync::Arc;

use zarr_traits::strided::Dims;
use zarr_traits::{
    ByteRange, CodecError, CodecErrorKind, CodecResult, Fetching, Region, Scratch, Span,
    partial::{ChunkRead, InnerPart, Known, Piece, PieceDecode},
    update::InnerOrder,
};

use crate::NAME;
use crate::index::{Entries, Layout};
use crate::inner::{Overlap, Touched};
use crate::shard::{Shard, outside};

/// A read that touches at least this share of the inner chunks reads the whole object.
const MOST: (u64, u64) = (3, 4);

/// An index with at most this many entries is decoded completely, so that other reads can use it.
const REMEMBERED: u64 = 1 << 20;

#[derive(Debug)]
pub(crate) struct ShardRead {
    shard: Arc<Shard>,
    layout: Layout,
    part: Region,
    fetching: Fetching,
    touched: Touched,
    /// The index or the object; later the ranges that inner chunks want.
    wants: Vec<ByteRange>,
    index: Option<Arc<Index>>,
    /// The inner chunks that are read in part, in order of position.
    nested: Vec<Nested>,
}

/// The decoded index of a shard.
#[derive(Debug)]
struct Index {
    entries: Entries,
    /// The size of the object, if the store reports it. Otherwise the store refuses ranges outside the object.
    size: Option<u64>,
}

/// An inner chunk that is read in part.
#[derive(Debug)]
struct Nested {
    number: Dims,
    span: Span,
    read: Box<dyn ChunkRead>,
}

impl ShardRead {
    pub(crate) fn new(
        shard: Arc<Shard>,
        layout: Layout,
        part: Region,
        fetching: Fetching,
        known: Option<&Known>,
    ) -> Self {
        let touched = Touched::by(&part, &shard.chunk);
        let index = known.and_then(Known::get::<Index>).filter(|index| index.entries.covers(&touched));
        let wants = match &index {
            _ if part.is_empty() => Vec::new(),
            Some(_) => Vec::new(),
            None if shard.is_better_whole(&layout, &touched, fetching) => vec![ByteRange::All],
            None if shard.at_start => vec![ByteRange::Span { offset: 0, len: layout.index_len }],
            None => vec![ByteRange::Suffix(layout.index_len)],
        };
        let mut read = Self { shard, layout, part, fetching, touched, wants, index, nested: Vec::new() };
        if read.index.is_some() && read.look_inside().is_err() {
            // Errors are reported with the pieces, where these inner chunks are read whole.
            (read.nested, read.wants) = (Vec::new(), Vec::new());
        }
        read
    }

    /// Starts partial reads of those inner chunks that need not be read whole.
    fn look_inside(&mut self) -> CodecResult<()> {
        if self.is_aligned() {
            return Ok(());
        }
        for position in self.touched.positions(InnerOrder::C) {
            let (number, overlap) = self.inner_chunk(&position)?;
            let Some(span) = self.span(&number)? else { continue };
            if !self.is_better_in_part(&overlap.within) {
                continue;
            }
            let read = self.shard.inner.partial(&self.shard.chunk, &overlap.within, self.fetching, None)?;
            let Some(read) = read.filter(|read| read.wants() != [ByteRange::All]) else { continue };
            if let Some(size) = read.object_size()
                && size != span.len
            {
                let message = format!("it has {} bytes, expected {size}", span.len);
                return Err(CodecError::corrupt(message).in_inner_chunk(&number));
            }
            self.nested.push(Nested { number, span, read });
        }
        self.ask_nested()
    }

    /// Whether the part consists of whole inner chunks.
    fn is_aligned(&self) -> bool {
        let sides = self.part.start().iter().zip(self.part.shape()).zip(&self.shard.chunk);
        sides.into_iter().all(|((start, len), chunk)| start % chunk == 0 && len % chunk == 0)
    }

    /// Whether reading part of an inner chunk by its pieces takes less memory than the whole inner chunk.
    fn is_better_in_part(&self, within: &Region) -> bool {
        let Shard { chunk, inner, fill, object_limit, .. } = &*self.shard;
        if within.is_whole(chunk) {
            return false;
        }
        let Some(nested) = inner.inner_shape(chunk.len()) else { return true };
        let whole = chunk.product().and_then(|len| len.checked_mul(fill.bytes().len() as u64));
        let pieces = Touched::by(within, &nested).len().saturating_mul(Piece::BYTES);
        pieces <= whole.unwrap_or(u64::MAX).min(*object_limit)
    }

    /// Collects the ranges that inner chunks want, as ranges of the object.
    fn ask_nested(&mut self) -> CodecResult<()> {
        self.wants.clear();
        for nested in &self.nested {
            for want in nested.read.wants() {
                let range = want.resolve(nested.span.len).map_err(|_| {
                    let message = format!("its {} bytes are too few", nested.span.len);
                    CodecError::corrupt(message).in_inner_chunk(&nested.number)
                })?;
                let offset = nested.span.offset.checked_add(range.start).ok_or_else(outside)?;
                self.wants.push(ByteRange::Span { offset, len: range.end - range.start });
            }
        }
        Ok(())
    }

    fn feed_nested(&mut self, mut bytes: &[&[u8]]) -> CodecResult<()> {
        for nested in &mut self.nested {
            let count = nested.read.wants().len();
            if count == 0 {
                continue;
            }
            let (own, rest) = bytes.split_at_checked(count).ok_or_else(misused)?;
            nested.read.feed(own, Some(nested.span.len)).map_err(|e| e.in_inner_chunk(&nested.number))?;
            bytes = rest;
        }
        self.ask_nested()
    }

    fn feed_index(&mut self, bytes: &[u8], size: Option<u64>) -> CodecResult<()> {
        let whole = self.wants == [ByteRange::All];
        let (index, size) = match whole {
            true => (self.shard.index_of(bytes, &self.layout)?, Some(bytes.len() as u64)),
            false => (bytes, size),
        };
        // A suffix range of a shorter object returns the whole object.
        if index.len() as u64 != self.layout.index_len {
            return Err(self.shard.too_short(index.len(), &self.layout));
        }
        let all = self.layout.len() <= REMEMBERED;
        let touched = if all { Touched::all(&self.layout.chunks) } else { self.touched.clone() };
        let entries = self.shard.entries(index, &self.layout, touched, &mut Scratch::new())?;
        self.index = Some(Arc::new(Index { entries, size }));
        self.wants.clear();
        if whole { Ok(()) } else { self.look_inside() }
    }

    /// Returns the inner chunk at a position and its overlap with the part.
    fn inner_chunk(&self, position: &[u64]) -> CodecResult<(Dims, Overlap)> {
        let number = self.touched.chunk(position);
        let overlap = Overlap::of(&self.part, &number, &self.shard.chunk).ok_or_else(outside)?;
        Ok((number, overlap))
    }

    /// Returns the bytes of an inner chunk, or `None` if it is missing.
    fn span(&self, number: &[u64]) -> CodecResult<Option<Span>> {
        let index = self.index.as_ref().ok_or_else(misused)?;
        self.shard.room(&self.layout, index.size).span(number, index.entries.of(number))
    }

    fn all_pieces(&self, out: &mut Vec<Piece>) -> CodecResult<()> {
        let mut nested = self.nested.iter().peekable();
        for position in self.touched.positions(InnerOrder::C) {
            let (number, overlap) = self.inner_chunk(&position)?;
            let span = self.span(&number)?;
            if let Some(inner) = nested.next_if(|inner| inner.number == number) {
                let first = out.len();
                inner.read.pieces(out).map_err(|e| e.in_inner_chunk(&number))?;
                for piece in &mut out[first..] {
                    piece.span.offset =
                        piece.span.offset.checked_add(inner.span.offset).ok_or_else(outside)?;
                    let inside =
                        piece.span.end().zip(inner.span.end()).is_some_and(|(end, last)| end <= last);
                    if piece.span.len > 0 && !inside {
                        let message = format!("a part of it lies outside its {} bytes", inner.span.len);
                        return Err(CodecError::corrupt(message).in_inner_chunk(&number));
                    }
                    piece.at = piece.at.iter().zip(&overlap.at).map(|(at, first)| at + first).collect();
                }
                continue;
            }
            let shape = overlap.within.shape().into();
            let job = match span {
                None => PieceDecode::Fill(self.shard.fill.clone()),
                Some(_) => {
                    let (chain, chunk) = (self.shard.inner.clone(), self.shard.chunk.clone());
                    PieceDecode::Chain(Box::new(InnerPart::new(chain, chunk, overlap.within).number(number)))
                }
            };
            let span = span.unwrap_or(Span { offset: 0, len: 0 });
            out.push(Piece::new(span, overlap.at, shape, job));
        }
        Ok(())
    }
}

impl Shard {
    /// Whether one request for the whole object is better than two for a part.
    fn is_better_whole(&self, layout: &Layout, touched: &Touched, fetching: Fetching) -> bool {
        let most = touched.len().saturating_mul(MOST.1) >= layout.len().saturating_mul(MOST.0);
        let small = self.object_bound(layout).is_some_and(|bound| bound <= fetching.whole);
        fetching.whole > 0 && (most || small)
    }
}

impl ChunkRead for ShardRead {
    fn wants(&self) -> &[ByteRange] {
        &self.wants
    }

    fn feed(&mut self, bytes: &[&[u8]], size: Option<u64>) -> CodecResult<()> {
        let fed = match (bytes, &self.index) {
            _ if bytes.len() != self.wants.len() => Err(misused()),
            (bytes, Some(_)) => self.feed_nested(bytes),
            ([bytes], None) => self.feed_index(bytes, size),
            _ => Err(misused()),
        };
        fed.map_err(|e| e.in_codec(NAME, "decode"))
    }

    fn known(&self) -> Option<Known> {
        let index = self.index.as_ref()?;
        Some(Known::new(index.clone(), index.entries.bytes()))
    }

    fn pieces(&self, out: &mut Vec<Piece>) -> CodecResult<()> {
        if !self.wants.is_empty() {
            return Err(misused().in_codec(NAME, "decode"));
        }
        self.all_pieces(out).map_err(|e| e.in_codec(NAME, "decode"))
    }
}

fn misused() -> CodecError {
    CodecError::new(
        CodecErrorKind::InvalidArgument,
        "feed a shard the ranges it wants before asking for pieces",
    )
}
