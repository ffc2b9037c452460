//! Pieces whose elements and bytes follow each other are decoded as one: most of the time of a small piece is its
//! preparation. A slab of a large uncompressed chunk has thousands of them.

use std::sync::Arc;

use zarr_traits::partial::{Piece, PieceDecode};

use crate::error::ArrayResult;
use crate::io::loaded::Fetched;

/// A piece, or several that follow each other.
pub(super) struct Run<'a> {
    first: &'a Piece,
    /// In a box, so that runs of one piece, the most, move fast.
    joined: Option<Box<Piece>>,
    pub(super) bytes: &'a [u8],
}

impl<'a> Run<'a> {
    /// Takes the first run off the pieces.
    #[inline]
    pub(super) fn next(pieces: &mut &'a [Piece], fetched: &'a Fetched) -> ArrayResult<Option<Self>> {
        let Some((first, others)) = pieces.split_first() else { return Ok(None) };
        let (joined, count) = joined(first, others, fetched).map_or((None, 1), |(piece, n)| (Some(piece), n));
        *pieces = pieces.get(count..).unwrap_or_default();
        Ok(Some(Self { first, joined, bytes: fetched.bytes(first.span, count)? }))
    }

    /// The piece that has all elements and bytes.
    pub(super) fn piece(&self) -> &Piece {
        self.joined.as_deref().unwrap_or(self.first)
    }
}

/// Returns a piece joined with those that follow it, and their number.
fn joined(first: &Piece, others: &[Piece], fetched: &Fetched) -> Option<(Box<Piece>, usize)> {
    let second = others.first()?;
    let PieceDecode::Strided { strides, swap } = &first.job else { return None };
    let dim = first.at.iter().zip(&second.at).position(|(at, next)| at != next)?;
    if first.shape.get(dim) != Some(&1) {
        return None;
    }
    let mut at = first.at.clone();
    let follows = others.iter().take_while(|next| {
        at[dim] += 1;
        let PieceDecode::Strided { strides: of, swap: by } = &next.job else { return false };
        let same = Arc::ptr_eq(of, strides) && by == swap;
        same && next.at == at && next.shape == first.shape
    });
    let spans = [first.span].into_iter().chain(follows.map(|next| next.span));
    let count = fetched.run(spans);
    if count < 2 {
        return None;
    }
    let (mut shape, mut strides) = (first.shape.clone(), strides.to_vec());
    shape[dim] = count as u64;
    strides[dim] = i64::try_from(first.span.len).ok()?;
    let job = PieceDecode::Strided { strides: strides.into(), swap: *swap };
    Some((Box::new(Piece::new(first.span, first.at.clone(), shape, job)), count))
}

#[cfg(test)]
mod tests {
    use zarr_strided::Swap;
    use zarr_traits::{Buffer, Span};

    use super::*;
    use crate::io::loaded::Loaded;

    /// The position, the offset and the shape of a piece of two bytes an element.
    type Place = ([u64; 2], u64, [u64; 2]);

    /// The offset and the shape of a run.
    type Joined = (u64, [u64; 2]);

    #[test]
    fn pieces_whose_elements_and_bytes_go_on_are_one() {
        let table: [(&[Place], &[Joined]); 6] = [
            // Rows of a slab, below each other.
            (&[([0, 0], 0, [1, 4]), ([1, 0], 100, [1, 4]), ([2, 0], 200, [1, 4])], &[(0, [3, 4])]),
            // The next plane begins another run.
            (
                &[([0, 0], 0, [1, 1]), ([0, 1], 10, [1, 1]), ([1, 0], 20, [1, 1]), ([1, 1], 30, [1, 1])],
                &[(0, [1, 2]), (20, [1, 2])],
            ),
            // The rows are not in the order of the object.
            (&[([0, 0], 100, [1, 4]), ([1, 0], 0, [1, 4])], &[(100, [1, 4]), (0, [1, 4])]),
            // A row is missing.
            (&[([0, 0], 0, [1, 4]), ([2, 0], 100, [1, 4])], &[(0, [1, 4]), (100, [1, 4])]),
            // The last piece is shorter.
            (&[([0, 0], 0, [1, 4]), ([1, 0], 100, [1, 3])], &[(0, [1, 4]), (100, [1, 3])]),
            // Pieces of several rows stay as they are.
            (&[([0, 0], 0, [2, 4]), ([2, 0], 100, [2, 4])], &[(0, [2, 4]), (100, [2, 4])]),
        ];
        for (places, expected) in table {
            let strides: Arc<[i64]> = [8, 2].into();
            let piece = |(at, offset, shape): &Place| {
                let job = PieceDecode::Strided { strides: strides.clone(), swap: Swap::NONE };
                Piece::new(
                    Span { offset: *offset, len: 2 * shape[0] * shape[1] },
                    (*at).into(),
                    (*shape).into(),
                    job,
                )
            };
            let pieces: Vec<Piece> = places.iter().map(piece).collect();
            let mut ranges: Vec<Span> = pieces.iter().map(|piece| piece.span).collect();
            ranges.sort_unstable_by_key(|span| span.offset);
            let fetched = Fetched::new(Loaded::Scratch(Buffer::of(vec![0; 64], 64)), ranges);
            let (mut rest, mut runs) = (&pieces[..], Vec::new());
            while let Some(run) = Run::next(&mut rest, &fetched).unwrap() {
                let piece = run.piece();
                assert_eq!(run.bytes.len() as u64, 2 * piece.shape.product().unwrap());
                runs.push((piece.span.offset, [piece.shape[0], piece.shape[1]]));
            }
            assert_eq!(runs, expected, "{places:?}");
        }
    }
}
