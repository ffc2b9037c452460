//! The ranges of an uncompressed chunk that a write changes.

use zarr_strided::Dims;
use zarr_traits::{Bytes, Region, Span};

/// The least number of bytes of the object for each range. With more ranges it is cheaper to write the object whole.
const SPREAD: u64 = 4096;

/// The new bytes of some ranges of an object of `size` bytes.
pub(super) struct Ranges {
    pub(super) size: u64,
    pub(super) spans: Vec<Span>,
    /// The bytes of all ranges, one after the other.
    pub(super) bytes: Bytes,
}

/// Returns the ranges of `part` of a chunk of `shape`, stored in C order with elements of `size` bytes, in that order.
/// `object` is the number of bytes of the whole chunk, so no offset exceeds it. Returns `None` if the ranges are too many.
pub(super) fn spans(shape: &[u64], part: &Region, size: u64, object: u64) -> Option<Vec<Span>> {
    let mut strides = Dims::filled(size, shape.len());
    for dim in (1..shape.len()).rev() {
        strides[dim - 1] = strides[dim] * shape[dim];
    }
    let (start, counts) = (part.start(), part.shape());
    // The dimensions from `split` on are in one range: all of them but the first are covered whole.
    let mut split = shape.len();
    let mut len = size;
    while let Some(dim) = split.checked_sub(1) {
        split = dim;
        len = counts[dim] * strides[dim];
        if counts[dim] < shape[dim] {
            break;
        }
    }
    let ranges = counts[..split].iter().try_fold(1_u64, |n, count| n.checked_mul(*count))?;
    if ranges > 1 && ranges > object / SPREAD {
        return None;
    }
    let first: u64 = start.iter().zip(&strides).map(|(at, stride)| at * stride).sum();
    let offset = |mut number: u64| {
        (0..split).rev().fold(first, |offset, dim| {
            let at = number % counts[dim];
            number /= counts[dim];
            offset + at * strides[dim]
        })
    };
    Some((0..ranges).map(|number| Span { offset: offset(number), len }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans_of(shape: &[u64], start: &[u64], part: &[u64]) -> Option<Vec<(u64, u64)>> {
        let object = 2 * shape.iter().product::<u64>();
        let spans = spans(shape, &Region::new(start, part).unwrap(), 2, object)?;
        Some(spans.iter().map(|span| (span.offset, span.len)).collect())
    }

    #[test]
    fn a_range_is_as_long_as_elements_are_adjacent() {
        // 32 KiB: at most eight ranges.
        assert_eq!(spans_of(&[16, 32, 32], &[3, 0, 0], &[2, 32, 32]).unwrap(), [(3 * 2048, 4096)]);
        assert_eq!(spans_of(&[16, 32, 32], &[3, 4, 0], &[1, 5, 32]).unwrap(), [(3 * 2048 + 256, 320)]);
        let rows = spans_of(&[16, 32, 32], &[3, 4, 5], &[2, 3, 6]).unwrap();
        let row = |plane: u64, row: u64| (plane * 2048 + row * 64 + 10, 12);
        assert_eq!(rows, [row(3, 4), row(3, 5), row(3, 6), row(4, 4), row(4, 5), row(4, 6)]);
        assert_eq!(spans_of(&[16, 32, 32], &[0, 0, 5], &[3, 3, 6]), None);
        assert_eq!(spans_of(&[4], &[1], &[2]).unwrap(), [(2, 4)]);
        assert_eq!(spans_of(&[4, 4], &[1, 1], &[2, 2]), None);
        assert_eq!(spans_of(&[], &[], &[]).unwrap(), [(0, 2)]);
    }
}
