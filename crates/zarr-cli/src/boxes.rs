//! Splits a selection into boxes of whole chunks that fit into memory, for writing.

use zarr_array::traits::ChunkGrid;

use crate::pick::Pick;
use crate::slabs::{Budget, Slab};

/// The boxes of a selection. Each ends where runs of elements in a chunk end, so every chunk is written once, unless a
/// list of the selection returns to it.
#[derive(Debug)]
pub(crate) struct Boxes<'a> {
    picks: &'a [Pick],
    grid: &'a dyn ChunkGrid,
    /// The largest length of a box in each dimension, unless one run is longer.
    most: Vec<u64>,
    next: Option<Slab>,
}

impl<'a> Boxes<'a> {
    pub(crate) fn new(picks: &'a [Pick], grid: &'a dyn ChunkGrid, size: usize, budget: Budget) -> Self {
        let longest =
            |(dim, pick): (usize, &Pick)| grid.lengths(dim).pop().unwrap_or(1).clamp(1, pick.count.max(1));
        let mut most: Vec<u64> = picks.iter().enumerate().map(longest).collect();
        let product =
            |most: &[u64]| most.iter().fold(size.max(1) as u64, |n, length| n.saturating_mul(*length));
        let mut chunks = 1_u64;
        for dim in (0..picks.len()).rev() {
            let fits = (budget.bytes / product(&most)).min(budget.chunks / chunks).max(1);
            let longer = most[dim].saturating_mul(fits).min(picks[dim].count.max(1));
            chunks = chunks.saturating_mul(longer.div_ceil(most[dim])).min(budget.chunks);
            most[dim] = longer;
        }
        let mut boxes = Self { picks, grid, most, next: None };
        if picks.iter().all(|pick| pick.count > 0) {
            let start = vec![0; picks.len()];
            let count = (0..picks.len()).map(|dim| boxes.length(dim, 0)).collect();
            boxes.next = Some(Slab { start, count });
        }
        boxes
    }

    /// Returns the length of the box that begins with element `at` of a dimension.
    fn length(&self, dim: usize, at: u64) -> u64 {
        let pick = &self.picks[dim];
        let mut length = pick.run(at, self.grid, dim);
        while at + length < pick.count {
            let run = pick.run(at + length, self.grid, dim);
            if length.saturating_add(run) > self.most[dim] {
                break;
            }
            length += run;
        }
        length
    }

    fn after(&self, slab: &Slab) -> Option<Slab> {
        let end = |dim: &usize| slab.start[*dim] + slab.count[*dim];
        let dim = (0..self.picks.len()).rev().find(|dim| end(dim) < self.picks[*dim].count)?;
        let mut next = slab.clone();
        next.start[dim] = end(&dim);
        next.count[dim] = self.length(dim, next.start[dim]);
        for behind in dim + 1..self.picks.len() {
            next.start[behind] = 0;
            next.count[behind] = self.length(behind, 0);
        }
        Some(next)
    }
}

impl Iterator for Boxes<'_> {
    type Item = Slab;

    fn next(&mut self) -> Option<Slab> {
        let slab = self.next.take()?;
        self.next = self.after(&slab);
        Some(slab)
    }
}

#[cfg(test)]
mod tests {
    use zarr_array::traits::RegularGrid;

    use super::*;

    fn boxes(picks: &[Pick], chunk: &[u64], bytes: u64) -> Vec<(Vec<u64>, Vec<u64>)> {
        let grid = RegularGrid::new(chunk).unwrap();
        let budget = Budget { bytes, most: bytes, chunks: 1 << 16 };
        Boxes::new(picks, &grid, 1, budget).map(|slab| (slab.start, slab.count)).collect()
    }

    #[test]
    fn boxes_hold_whole_chunks() {
        let whole = [Pick::range(0..10), Pick::range(0..10)];
        // Two chunks fit, side by side.
        let lengths =
            |bytes| boxes(&whole, &[4, 3], bytes).into_iter().map(|(_, count)| count).collect::<Vec<_>>();
        assert_eq!(lengths(24)[..3], [[4, 6], [4, 4], [4, 6]]);
        assert_eq!(lengths(1000), [[10, 10]]);
        // A chunk that exceeds the budget is a box.
        assert_eq!(lengths(1).len(), 12);
        // The runs of a list are joined up to the length of a chunk.
        let part = [Pick::range(3..10), Pick::list([9, 0, 1, 2, 7])];
        let wanted = [([0, 0], [1, 1]), ([0, 1], [1, 3]), ([0, 4], [1, 1]), ([1, 0], [4, 1])];
        for (found, (start, count)) in boxes(&part, &[4, 3], 8).into_iter().zip(wanted) {
            assert_eq!(found, (start.to_vec(), count.to_vec()));
        }
    }

    #[test]
    fn boxes_cover_every_element_once() {
        let picks = [Pick::steps(1, 5, 2), Pick::steps(9, 4, -3), Pick::list([5, 5, 0, 7])];
        for (bytes, chunk) in [(1, [1, 1, 1]), (5, [2, 3, 4]), (30, [4, 4, 4]), (1000, [1, 7, 2])] {
            let mut seen = vec![0; 5 * 4 * 4];
            for (start, count) in boxes(&picks, &chunk, bytes) {
                for (x, y, z) in (0..count[0]).flat_map(|x| {
                    let (y, z) = (count[1], count[2]);
                    (0..y).flat_map(move |y| (0..z).map(move |z| (x, y, z)))
                }) {
                    let place = ((start[0] + x) * 4 + start[1] + y) * 4 + start[2] + z;
                    seen[usize::try_from(place).unwrap()] += 1;
                }
            }
            assert_eq!(seen, [1; 80], "{bytes} {chunk:?}");
        }
        assert_eq!(boxes(&[], &[], 1), [(vec![], vec![])]);
        assert!(boxes(&[Pick::range(0..0)], &[1], 1).is_empty());
    }
}
