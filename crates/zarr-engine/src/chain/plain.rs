//! Partial reads of a chunk whose encoded form is its elements.

use std::sync::Arc;

use zarr_strided::{Dims, Swap};

use zarr_traits::partial::{ChunkRead, Piece, PieceDecode};
use zarr_traits::{CodecError, CodecErrorKind, CodecResult, Fetching, Region, Span};

/// The most pieces of one read; each takes about two hundred bytes of memory.
const MOST: u64 = 1 << 20;

/// A partial read of a chunk whose encoded form is its elements.
#[derive(Debug)]
pub(crate) struct PlainRead {
    pub(crate) shape: Dims,
    pub(crate) part: Region,
    pub(crate) size: usize,
    pub(crate) swap: Swap,
    pub(crate) fetching: Fetching,
}

impl ChunkRead for PlainRead {
    fn object_size(&self) -> Option<u64> {
        self.shape.product()?.checked_mul(self.size as u64)
    }

    fn pieces(&self, out: &mut Vec<Piece>) -> CodecResult<()> {
        if self.part.is_empty() {
            return Ok(());
        }
        let strides = self.strides().ok_or_else(|| CodecError::corrupt("the chunk exceeds memory"))?;
        let part = self.part.shape();
        // Extend the span from the last dimension outwards, as long as its gaps and its length stay small. `split` is
        // the first dimension that is completely inside the span.
        let mut covered = self.size as u64;
        let mut split = part.len();
        while let Some(dim) = split.checked_sub(1) {
            let longer = (part[dim] - 1) * strides[dim] + covered;
            let gap = if part[dim] == 1 { 0 } else { strides[dim] - covered };
            if gap > self.fetching.gap || (longer > self.fetching.span && gap > 0) {
                break;
            }
            covered = longer;
            split = dim;
        }
        let mut shape: Dims = part.into();
        shape[..split].fill(1);
        // The dimension before the split may contribute several rows per span, up to the largest span.
        let mut group = 1;
        if let Some(dim) = split.checked_sub(1)
            && part[dim] > 1
            && strides[dim] - covered <= self.fetching.gap
        {
            group = (self.fetching.span.saturating_sub(covered) / strides[dim] + 1).min(part[dim]);
        }
        let pieces =
            part[..split].iter().try_fold(1_u64, |n, len| n.checked_mul(*len)).map(|n| n / group.max(1));
        if pieces.is_none_or(|pieces| pieces > MOST) {
            let message =
                format!("the part consists of more than {MOST} pieces of the chunk, read a smaller part");
            return Err(CodecError::new(CodecErrorKind::LimitExceeded, message));
        }
        let start: u64 = self.part.start().iter().zip(&strides[..]).map(|(s, stride)| s * stride).sum();
        let signed: Arc<[i64]> = strides.iter().map(|s| i64::try_from(*s).unwrap_or(i64::MAX)).collect();
        let mut at = Dims::filled(0, part.len());
        loop {
            let offset = start + at.iter().zip(&strides[..]).map(|(i, stride)| i * stride).sum::<u64>();
            let mut len = covered;
            if let Some(dim) = split.checked_sub(1) {
                shape[dim] = group.min(part[dim] - at[dim]);
                len += (shape[dim] - 1) * strides[dim];
            }
            out.push(Piece::new(
                Span { offset, len },
                at.clone(),
                shape.clone(),
                PieceDecode::Strided { strides: signed.clone(), swap: self.swap },
            ));
            // Advance to the next position in the dimensions before the split, the last one first.
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
    /// Returns the bytes from one element to the next, or `None` if the chunk exceeds memory.
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
    use zarr_strided::{Destination, Source};

    use super::*;
    use crate::run_piece;
    use zarr_traits::Scratch;

    /// Returns the spans of a read of `part`, and checks that decoding them gives this part of the chunk.
    fn spans(shape: &[u64], start: &[u64], part: &[u64], fetching: Fetching) -> Vec<(u64, u64)> {
        let part = Region::new(start, part).unwrap();
        let read = PlainRead { shape: shape.into(), part: part.clone(), size: 2, swap: Swap::NONE, fetching };
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
            run_piece(piece, src, dst, &mut Scratch::new()).unwrap();
        }
        let mut whole = Vec::new();
        let source = Source::of(&chunk, shape).unwrap().sub(start, part.shape()).unwrap();
        source.append_to(&mut whole, Swap::NONE).unwrap();
        assert_eq!(zarr_strided::bytes_of(&got), whole);
        pieces.iter().map(|p| (p.span.offset, p.span.len)).collect()
    }

    #[test]
    fn rows_are_merged_by_gap_and_cut_by_length() {
        let fetching = |gap, span| Fetching::new(gap, span, 0);
        // an 8 x 8 x 8 box of a 128^3 chunk: one span per plane
        let boxes = spans(&[128, 128, 128], &[3, 4, 5], &[8, 8, 8], fetching(4096, 1 << 20));
        assert_eq!((boxes.len(), boxes[0]), (8, (2 * ((3 * 128 + 4) * 128 + 5), 7 * 256 + 16)));
        // without gaps one span per row; with large gaps one span in total
        assert_eq!(spans(&[8, 8, 8], &[1, 1, 1], &[3, 3, 3], fetching(0, 1 << 20)).len(), 9);
        assert_eq!(spans(&[8, 8, 8], &[1, 1, 1], &[3, 3, 3], fetching(1 << 20, 1 << 20)).len(), 1);
        // whole rows leave no gaps; a contiguous part is one span of any length
        assert_eq!(spans(&[8, 8], &[2, 0], &[3, 8], fetching(0, 8)), [(32, 48)]);
        // a long column is cut into groups of rows
        assert_eq!(spans(&[64, 8], &[0, 3], &[64, 1], fetching(16, 64)).len(), 16);
        assert_eq!(spans(&[], &[], &[], fetching(0, 0)), [(0, 2)]);
        assert_eq!(spans(&[4, 4], &[0, 0], &[0, 4], fetching(0, 0)), []);
    }
}
