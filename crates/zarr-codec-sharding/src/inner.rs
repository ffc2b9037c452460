//! Which inner chunks a part of a shard touches, and what of each.

use zarr_traits::{Dims, Region};

/// The inner chunks that a part touches: a box of the grid of inner chunks.
#[derive(Debug, Clone)]
pub(crate) struct Touched {
    /// The first of them.
    pub(crate) first: Dims,
    /// How many there are in each dimension.
    pub(crate) count: Dims,
}

impl Touched {
    /// Those that `part` touches where inner chunks are of shape `chunk`, which has no 0.
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

    /// All of a grid.
    pub(crate) fn all(chunks: &Dims) -> Self {
        Self { first: Dims::filled(0, chunks.len()), count: chunks.clone() }
    }

    /// How many they are; the index has been checked to fit into memory.
    pub(crate) fn len(&self) -> u64 {
        self.count.product().unwrap_or(u64::MAX)
    }

    /// Where the inner chunk `number` stands among them, in C order; `None` when it is not touched.
    pub(crate) fn place(&self, number: &[u64]) -> Option<usize> {
        let mut place = 0;
        for (dim, number) in number.iter().enumerate() {
            let at = number.checked_sub(self.first[dim]).filter(|at| *at < self.count[dim])?;
            place = place * self.count[dim] + at;
        }
        usize::try_from(place).ok()
    }

    /// Positions among those touched, in C order.
    pub(crate) fn positions(&self) -> Positions {
        let none = self.count.contains(&0);
        let first = Dims::filled(0, self.count.len());
        Positions { count: self.count.clone(), next: (!none).then_some(first) }
    }

    /// The inner chunk at a position.
    pub(crate) fn chunk(&self, position: &[u64]) -> Dims {
        self.first.iter().zip(position).map(|(first, at)| first + at).collect()
    }
}

/// Counts through a box in C order.
pub(crate) struct Positions {
    count: Dims,
    next: Option<Dims>,
}

impl Iterator for Positions {
    type Item = Dims;

    fn next(&mut self) -> Option<Dims> {
        let now = self.next.take()?;
        let mut after = now.clone();
        for dim in (0..after.len()).rev() {
            after[dim] += 1;
            if after[dim] < self.count[dim] {
                self.next = Some(after);
                break;
            }
            after[dim] = 0;
        }
        Some(now)
    }
}

/// What a part of the shard and an inner chunk have in common.
#[derive(Debug)]
pub(crate) struct Overlap {
    /// Where it begins in the part.
    pub(crate) at: Dims,
    /// Where it lies in the inner chunk.
    pub(crate) within: Region,
}

impl Overlap {
    /// Of `part` and the inner chunk number `number`, of shape `chunk`. `None` when they do not touch.
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
