//! The inner chunks that a part of a shard touches, and their overlaps.

use zarr_traits::strided::Dims;
use zarr_traits::{Region, update::InnerOrder};

/// The inner chunks that a part touches: a box of the grid of inner chunks.
#[derive(Debug, Clone)]
pub(crate) struct Touched {
    /// The first of them.
    pub(crate) first: Dims,
    /// Their number in each dimension.
    pub(crate) count: Dims,
}

impl Touched {
    /// Returns the inner chunks of shape `chunk` (without zeros) that `part` touches.
    pub(crate) fn by(part: &Region, chunk: &[u64]) -> Self {
        let first: Dims = part.start().iter().zip(chunk).map(|(start, len)| start / len).collect();
        let ends = part.start().iter().zip(part.shape()).map(|(start, len)| start + len);
        let count = ends
            .zip(part.shape())
            .zip(chunk.iter().zip(&first))
            .map(|((end, len), (chunk, first))| if *len == 0 { 0 } else { end.div_ceil(*chunk) - first })
            .collect();
        Self { first, count }
    }

    /// Returns all inner chunks of a grid.
    pub(crate) fn all(chunks: &Dims) -> Self {
        Self { first: Dims::filled(0, chunks.len()), count: chunks.clone() }
    }

    /// The number of inner chunks. It fits, as the index was checked to fit into memory.
    pub(crate) fn len(&self) -> u64 {
        self.count.product().unwrap_or(u64::MAX)
    }

    /// Returns the position of inner chunk `number` in C order of the box, or `None` if it is outside.
    pub(crate) fn place(&self, number: &[u64]) -> Option<usize> {
        let mut place = 0;
        for (dim, number) in number.iter().enumerate() {
            let at = number.checked_sub(self.first[dim]).filter(|at| *at < self.count[dim])?;
            place = place * self.count[dim] + at;
        }
        usize::try_from(place).ok()
    }

    /// Whether the box contains all of `others`.
    pub(crate) fn covers(&self, others: &Self) -> bool {
        let ends = |of: &Self, dim: usize| of.first[dim].saturating_add(of.count[dim]);
        (0..self.first.len())
            .all(|dim| self.first[dim] <= others.first[dim] && ends(others, dim) <= ends(self, dim))
    }

    /// Returns all positions in the box, in the given order.
    pub(crate) fn positions(&self, order: InnerOrder) -> Positions {
        let none = self.count.contains(&0);
        let first = Dims::filled(0, self.count.len());
        Positions { count: self.count.clone(), order, next: (!none).then_some(first) }
    }

    /// Returns the number of the inner chunk at a position in the box.
    pub(crate) fn chunk(&self, position: &[u64]) -> Dims {
        self.first.iter().zip(position).map(|(first, at)| first + at).collect()
    }
}

/// An iterator over the positions in a box.
pub(crate) struct Positions {
    count: Dims,
    order: InnerOrder,
    next: Option<Dims>,
}

impl Positions {
    /// Returns the position after `at`. `dims` are all dimensions, the fastest one first.
    fn next_line_by_line(&self, mut at: Dims, dims: impl Iterator<Item = usize>) -> Option<Dims> {
        for dim in dims {
            at[dim] += 1;
            if at[dim] < self.count[dim] {
                return Some(at);
            }
            at[dim] = 0;
        }
        None
    }

    /// Returns the position after `at` on a Z-shaped curve. It adds one to the number made of the interleaved bits of
    /// all dimensions: lowest bits first, and within equal bits the first dimension first. A bit that would leave the
    /// box is carried over, because all bits below it are then 0.
    fn next_on_curve(&self, mut at: Dims) -> Option<Dims> {
        let longest = self.count.iter().copied().max().unwrap_or(1);
        for bit in 0..u64::BITS - (longest - 1).leading_zeros() {
            for dim in 0..at.len() {
                let set = at[dim] | (1 << bit);
                if set != at[dim] && set < self.count[dim] {
                    at[dim] = set;
                    return Some(at);
                }
                at[dim] &= !(1 << bit);
            }
        }
        None
    }
}

impl Iterator for Positions {
    type Item = Dims;

    fn next(&mut self) -> Option<Dims> {
        let now = self.next.take()?;
        let (at, rank) = (now.clone(), now.len());
        self.next = match self.order {
            InnerOrder::Morton => self.next_on_curve(at),
            InnerOrder::F => self.next_line_by_line(at, 0..rank),
            _ => self.next_line_by_line(at, (0..rank).rev()),
        };
        Some(now)
    }
}

/// The overlap of a part of a shard with an inner chunk.
#[derive(Debug)]
pub(crate) struct Overlap {
    /// The position of the overlap in the part.
    pub(crate) at: Dims,
    /// The overlap within the inner chunk.
    pub(crate) within: Region,
}

impl Overlap {
    /// Returns the overlap of `part` with inner chunk `number` of shape `chunk`, or `None` if they do not touch.
    pub(crate) fn of(part: &Region, number: &[u64], chunk: &[u64]) -> Option<Self> {
        let (mut at, mut start, mut shape) = (Dims::new(), Dims::new(), Dims::new());
        for (dim, (number, len)) in number.iter().zip(chunk).enumerate() {
            let (from, to) = (part.start()[dim], part.start()[dim] + part.shape()[dim]);
            let begin = number.checked_mul(*len)?;
            let (low, high) = (begin.max(from), begin.checked_add(*len)?.min(to));
            at.push(low.checked_sub(from)?);
            start.push(low - begin);
            shape.push(high.checked_sub(low)?);
        }
        Some(Self { at, within: Region::new(start, shape)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_order_visits_every_position_once() {
        let bits = |position: &Dims| {
            let bits = (0..8).rev().flat_map(|bit| position.iter().rev().map(move |n| n >> bit & 1));
            bits.fold(0_u64, |key, bit| key << 1 | bit)
        };
        for shape in [&[4, 4][..], &[5, 3], &[1, 7], &[3, 1, 6], &[9], &[], &[2, 0], &[1, 1]] {
            let all = Touched::all(&shape.into());
            let [c, curve, f] = [InnerOrder::C, InnerOrder::Morton, InnerOrder::F]
                .map(|order| all.positions(order).collect::<Vec<Dims>>());
            assert_eq!(Some(c.len() as u64), all.count.product(), "{shape:?}");
            assert!(c.is_sorted_by(|one, next| one.to_vec() < next.to_vec()), "{shape:?}: {c:?}");
            let mut expected = c.clone();
            expected.sort_by_key(bits);
            assert_eq!(curve, expected, "{shape:?}");
            expected.sort_by_key(|position| position.iter().rev().copied().collect::<Vec<_>>());
            assert_eq!(f, expected, "{shape:?}");
        }
    }
}
