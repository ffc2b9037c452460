//! Reading part of a chunk without I/O in the codec: the codec says which ranges of the object it wants, is fed them,
//! and hands back pieces that run anywhere. **For codec authors (sharding), and engine authors.**

use std::fmt::Debug;
use std::sync::Arc;

use bytes::Bytes;
use zarr_strided::{Destination, Dims, Source, Swap};

use crate::chain::Chain;
use crate::error::{CodecError, CodecResult};
use crate::fill::FillValue;
use crate::range::ByteRange;
use crate::region::Region;
use crate::scratch::Scratch;

/// What a store would like reads to look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hints {
    /// Ranges at most this many bytes apart are cheaper read as one.
    pub gap: u64,
    /// Bytes that one range should not exceed, so that several workers can share a chunk.
    pub span: u64,
}

/// The bytes of an object that a piece needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// The first byte.
    pub offset: u64,
    /// The number of bytes.
    pub len: u64,
}

impl From<Span> for ByteRange {
    fn from(span: Span) -> Self {
        Self::Span { offset: span.offset, len: span.len }
    }
}

/// The reading of one part of one chunk.
///
/// The engine asks for [`wants`](Self::wants), reads those ranges in one call, and [`feed`](Self::feed)s them, until
/// nothing more is wanted; then it takes the [`pieces`](Self::pieces), reads their ranges and runs them, in any order and
/// on any thread. All reads are of one version of the object.
pub trait ChunkRead: Debug + Send {
    /// The ranges that must be known before there are pieces (an index); empty: there is nothing more to know.
    fn wants(&self) -> &[ByteRange] {
        &[]
    }

    /// Takes the bytes of [`wants`](Self::wants), in that order, and the size of the whole object where the store tells it.
    ///
    /// # Errors
    /// When they are corrupt.
    fn feed(&mut self, bytes: &[Bytes], size: Option<u64>) -> CodecResult<()> {
        let _ = (bytes, size);
        Ok(())
    }

    /// The size that the whole object must have, where that is known. A reader that learns another one reports it.
    fn object_size(&self) -> Option<u64> {
        None
    }

    /// Appends the pieces, which together cover the part and do not overlap.
    ///
    /// # Errors
    /// When what was fed makes no sense.
    fn pieces(&self, out: &mut Vec<Piece>) -> CodecResult<()>;
}

/// One piece of a part of a chunk: which bytes it needs, and where its elements go.
#[derive(Debug, Clone)]
pub struct Piece {
    /// The bytes it is made of; none of them for a piece that needs none.
    pub span: Span,
    /// Where it goes, relative to the part of the chunk that is being read.
    pub at: Dims,
    /// The shape of what it gives.
    pub shape: Dims,
    /// How the bytes become elements.
    pub job: Job,
}

/// How the bytes of a piece become elements.
#[derive(Debug, Clone)]
pub enum Job {
    /// They are the elements, `strides` bytes apart in each dimension, with their bytes swapped.
    Strided {
        /// Bytes from one element to the next, per dimension.
        strides: Vec<i64>,
        /// The swap to do on the way.
        swap: Swap,
    },
    /// They are a chunk of its own (an inner chunk), of which a part is wanted.
    Chain {
        /// The codecs of the inner chunk.
        chain: Arc<Chain>,
        /// The shape of the inner chunk.
        chunk: Dims,
        /// The part of it that the piece gives.
        part: Region,
    },
    /// There are none (the span is empty): every element is this one.
    Fill(FillValue),
}

impl Piece {
    /// Turns the bytes of [`span`](Self::span) into elements in `dst`, which has the [`shape`](Self::shape) of the piece.
    ///
    /// # Errors
    /// When the bytes are corrupt.
    pub fn run(&self, src: &[u8], mut dst: Destination<'_>, scratch: &mut Scratch) -> CodecResult<()> {
        match &self.job {
            Job::Strided { strides, swap } => {
                let elements = Source::strided(src, 0, &self.shape, strides, dst.size());
                let elements = elements.map_err(|e| CodecError::corrupt(e.to_string()))?;
                Ok(dst.put(elements, *swap)?)
            }
            Job::Chain { chain, chunk, part } => chain.decode_into(src, chunk, part, dst, scratch),
            Job::Fill(fill) => Ok(dst.fill(fill.bytes())?),
        }
    }
}

/// The reading of part of a chunk whose encoded form is just its elements.
#[derive(Debug)]
pub(crate) struct PlainRead {
    pub(crate) shape: Dims,
    pub(crate) part: Region,
    pub(crate) size: usize,
    pub(crate) swap: Swap,
    pub(crate) hints: Hints,
}

impl ChunkRead for PlainRead {
    fn object_size(&self) -> Option<u64> {
        self.shape.product()?.checked_mul(self.size as u64)
    }

    fn pieces(&self, out: &mut Vec<Piece>) -> CodecResult<()> {
        if self.part.is_empty() {
            return Ok(());
        }
        let strides = self.strides().ok_or_else(|| CodecError::corrupt("the chunk is larger than memory"))?;
        let part = self.part.shape();
        // From the last dimension outwards: a dimension joins the span as long as the gaps in it are small and the span
        // does not grow too long. `split` is the first dimension that is wholly inside the span.
        let mut covered = self.size as u64;
        let mut split = part.len();
        while let Some(dim) = split.checked_sub(1) {
            let longer = (part[dim] - 1) * strides[dim] + covered;
            let gap = if part[dim] == 1 { 0 } else { strides[dim] - covered };
            if gap > self.hints.gap || (longer > self.hints.span && gap > 0) {
                break;
            }
            covered = longer;
            split = dim;
        }
        let mut shape: Dims = part.into();
        shape[..split].fill(1);
        // The dimension before the split may still be taken several rows at a time, up to the length of a span.
        let mut group = 1;
        if let Some(dim) = split.checked_sub(1)
            && part[dim] > 1
            && strides[dim] - covered <= self.hints.gap
        {
            group = (self.hints.span.saturating_sub(covered) / strides[dim] + 1).min(part[dim]);
        }
        let start: u64 = self.part.start().iter().zip(&strides[..]).map(|(s, stride)| s * stride).sum();
        let signed: Vec<i64> = strides.iter().map(|s| i64::try_from(*s).unwrap_or(i64::MAX)).collect();
        let mut at = Dims::filled(0, part.len());
        loop {
            let offset = start + at.iter().zip(&strides[..]).map(|(i, stride)| i * stride).sum::<u64>();
            let mut len = covered;
            if let Some(dim) = split.checked_sub(1) {
                shape[dim] = group.min(part[dim] - at[dim]);
                len += (shape[dim] - 1) * strides[dim];
            }
            out.push(Piece {
                span: Span { offset, len },
                at: at.clone(),
                shape: shape.clone(),
                job: Job::Strided { strides: signed.clone(), swap: self.swap },
            });
            // the next position, as an odometer over the dimensions before the split
            let mut dim = split;
            loop {
                let Some(d) = dim.checked_sub(1) else { return Ok(()) };
                at[d] += if d + 1 == split { group } else { 1 };
                if at[d] < part[d] {
                    break;
                }
                at[d] = 0;
                dim = d;
            }
        }
    }
}

impl PlainRead {
    /// Bytes from one element to the next; `None` when the chunk does not fit into memory.
    fn strides(&self) -> Option<Dims> {
        self.object_size().filter(|n| i64::try_from(*n).is_ok())?;
        let mut strides = Dims::filled(self.size as u64, self.shape.len());
        for dim in (1..self.shape.len()).rev() {
            strides[dim - 1] = strides[dim].checked_mul(self.shape[dim])?;
        }
        Some(strides)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The spans that a read of `part` wants, and the check that running them gives what the whole chunk has there.
    fn spans(shape: &[u64], start: &[u64], part: &[u64], hints: Hints) -> Vec<(u64, u64)> {
        let part = Region::new(start, part).unwrap();
        let read = PlainRead { shape: shape.into(), part: part.clone(), size: 2, swap: Swap::NONE, hints };
        let chunk: Vec<u16> =
            (0..shape.iter().product::<u64>()).map(|i| u16::try_from(i % 65_521).unwrap()).collect();
        let bytes = zarr_strided::bytes_of(&chunk);
        let mut pieces = Vec::new();
        read.pieces(&mut pieces).unwrap();
        let mut got = vec![0u16; usize::try_from(part.len().unwrap()).unwrap()];
        for piece in &pieces {
            let at = usize::try_from(piece.span.offset).unwrap();
            let src = &bytes[at..at + usize::try_from(piece.span.len).unwrap()];
            let dst = Destination::of(&mut got, part.shape()).unwrap().sub(&piece.at, &piece.shape).unwrap();
            piece.run(src, dst, &mut Scratch::new()).unwrap();
        }
        let mut whole = Vec::new();
        let source = Source::of(&chunk, shape).unwrap().sub(start, part.shape()).unwrap();
        source.append_to(&mut whole, Swap::NONE).unwrap();
        assert_eq!(zarr_strided::bytes_of(&got), whole);
        pieces.iter().map(|p| (p.span.offset, p.span.len)).collect()
    }

    #[test]
    fn rows_are_merged_by_gap_and_cut_by_length() {
        let hints = |gap, span| Hints { gap, span };
        // an 8 x 8 x 8 box of a 128^3 chunk: one span a plane
        let boxes = spans(&[128, 128, 128], &[3, 4, 5], &[8, 8, 8], hints(4096, 1 << 20));
        assert_eq!((boxes.len(), boxes[0]), (8, (2 * ((3 * 128 + 4) * 128 + 5), 7 * 256 + 16)));
        // without gaps every row by itself; with large ones everything at once
        assert_eq!(spans(&[8, 8, 8], &[1, 1, 1], &[3, 3, 3], hints(0, 1 << 20)).len(), 9);
        assert_eq!(spans(&[8, 8, 8], &[1, 1, 1], &[3, 3, 3], hints(1 << 20, 1 << 20)).len(), 1);
        // whole rows are no gaps; a contiguous chunk is one span however long
        assert_eq!(spans(&[8, 8], &[2, 0], &[3, 8], hints(0, 8)), [(32, 48)]);
        // a long column is cut into groups of rows
        assert_eq!(spans(&[64, 8], &[0, 3], &[64, 1], hints(16, 64)).len(), 16);
        assert_eq!(spans(&[], &[], &[], hints(0, 0)), [(0, 2)]);
        assert_eq!(spans(&[4, 4], &[0, 0], &[0, 4], hints(0, 0)), []);
    }
}
