//! Splits an array into parts that fit into memory: in C order for printing, along the chunks for copying.

use zarr_array::Selection;
use zarr_array::traits::ChunkGrid;

use crate::pick::{Pick, selection};

/// The limits of one part.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget {
    /// The target size in bytes.
    pub(crate) bytes: u64,
    /// The largest size in bytes, used if that avoids decoding chunks several times.
    pub(crate) most: u64,
    /// The number of chunks that a part may touch.
    pub(crate) chunks: u64,
}

impl Budget {
    pub(crate) const DEFAULT: Self = Self { bytes: 64 << 20, most: 256 << 20, chunks: 1 << 16 };
}

/// A box of the result of a selection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Slab {
    pub(crate) start: Vec<u64>,
    pub(crate) count: Vec<u64>,
}

impl Slab {
    /// Returns the part of the array as a selection.
    pub(crate) fn selection(&self, picks: &[Pick]) -> Selection {
        let boxes = self.start.iter().zip(&self.count);
        selection(picks.iter().zip(boxes).map(|(pick, (start, count))| pick.part(*start, *count)))
    }
}

/// The parts of a selection in C order. Every part holds whole rows of chunks if the budget allows, so that no chunk is
/// decoded twice.
#[derive(Debug)]
pub(crate) struct Slabs<'a> {
    picks: &'a [Pick],
    grid: &'a dyn ChunkGrid,
    budget: Budget,
    /// The dimension that is split. A part has length 1 in the dimensions before it, and all of those behind it.
    split: usize,
    /// Bytes and chunks for one index of the split dimension.
    row: (u128, u128),
    at: Vec<u64>,
    done: bool,
}

impl<'a> Slabs<'a> {
    pub(crate) fn new(picks: &'a [Pick], grid: &'a dyn ChunkGrid, size: usize, budget: Budget) -> Self {
        let mut split = picks.len().saturating_sub(1);
        let mut row = (size.max(1) as u128, 1_u128);
        for dim in (1..picks.len()).rev() {
            let pick = &picks[dim];
            let bytes = row.0.saturating_mul(u128::from(pick.count));
            let chunks = row.1.saturating_mul(chunks(grid, dim, pick));
            if bytes > u128::from(budget.bytes) || chunks > u128::from(budget.chunks) {
                break;
            }
            (split, row) = (dim - 1, (bytes, chunks));
        }
        let done = picks.iter().any(|p| p.count == 0);
        Self { picks, grid, budget, split, row, at: vec![0; picks.len()], done }
    }

    /// Returns the length of the next part in the split dimension: as many whole runs of elements in a chunk as fit.
    fn length(&self) -> u64 {
        let (dim, pick, at) = (self.split, &self.picks[self.split], self.at[self.split]);
        let (bytes, chunks) = self.row;
        let left = pick.count - at;
        let fits = |budget: u64| u64::try_from(u128::from(budget) / bytes).unwrap_or(u64::MAX);
        let most = fits(self.budget.bytes).clamp(1, left);
        let runs = u64::try_from(u128::from(self.budget.chunks) / chunks).unwrap_or(1).max(1);
        let mut length = 0;
        for _ in 0..runs {
            let run = pick.run(at + length, self.grid, dim);
            if run > most - length {
                let is_first = length == 0;
                return match is_first {
                    true if run <= fits(self.budget.most) => run,
                    true => most,
                    false => length,
                };
            }
            length += run;
            if length == most {
                break;
            }
        }
        length
    }
}

/// Returns the largest number of chunks that a selection can touch in a dimension.
pub(crate) fn chunks(grid: &dyn ChunkGrid, dim: usize, pick: &Pick) -> u128 {
    let Some((first, last)) = pick.bounds() else { return 1 };
    match (grid.find(dim, first), grid.find(dim, last)) {
        (Some(first), Some(last)) => u128::from((last - first).min(pick.count - 1)) + 1,
        _ => u128::from(pick.count),
    }
}

impl Iterator for Slabs<'_> {
    type Item = Slab;

    fn next(&mut self) -> Option<Slab> {
        if self.done {
            return None;
        }
        let start = self.at.clone();
        let mut count: Vec<u64> = self.picks.iter().map(|p| p.count).collect();
        if self.picks.is_empty() {
            self.done = true;
            return Some(Slab { start, count });
        }
        count[..self.split].fill(1);
        count[self.split] = self.length();
        self.at[self.split] += count[self.split];
        let mut dim = self.split;
        while self.at[dim] == self.picks[dim].count {
            self.at[dim] = 0;
            if dim == 0 {
                self.done = true;
                break;
            }
            dim -= 1;
            self.at[dim] += 1;
        }
        Some(Slab { start, count })
    }
}

#[cfg(test)]
mod tests {
    use zarr_array::traits::RegularGrid;

    use super::*;

    fn pick(start: u64, count: u64, step: i128) -> Pick {
        Pick::steps(start, count, step)
    }

    fn slabs(picks: &[Pick], chunk: &[u64], bytes: u64, most: u64) -> Vec<(Vec<u64>, Vec<u64>)> {
        let grid = RegularGrid::new(chunk).unwrap();
        let budget = Budget { bytes, most, chunks: 1 << 16 };
        Slabs::new(picks, &grid, 1, budget).map(|s| (s.start, s.count)).collect()
    }

    #[test]
    fn parts_hold_whole_rows_of_chunks_where_they_fit() {
        let picks = [pick(0, 10, 1), pick(0, 10, 1)];
        let rows: Vec<u64> = slabs(&picks, &[3, 10], 70, 70).into_iter().map(|s| s.1[0]).collect();
        assert_eq!(rows, [6, 4]);
        // One row of chunks exceeds the budget; `most` allows it.
        let rows: Vec<u64> = slabs(&picks, &[3, 10], 20, 30).into_iter().map(|s| s.1[0]).collect();
        assert_eq!(rows, [3, 3, 3, 1]);
        let rows: Vec<u64> = slabs(&picks, &[3, 10], 20, 20).into_iter().map(|s| s.1[0]).collect();
        assert_eq!(rows, [2, 1, 2, 1, 2, 2]);
        // Not even one row fits, so the next dimension is split.
        let parts = slabs(&picks, &[3, 3], 7, 7);
        assert_eq!(parts.len(), 20);
        assert_eq!(parts[1], (vec![0, 6], vec![1, 4]));
    }

    #[test]
    fn parts_follow_each_other_in_c_order_and_cover_everything() {
        for (bytes, chunk) in [(1, [1, 1, 1]), (5, [2, 3, 4]), (13, [4, 4, 4]), (1000, [1, 7, 2])] {
            let picks = [pick(1, 5, 2), pick(0, 4, 1), pick(3, 6, 3)];
            let mut next = 0;
            for (start, count) in slabs(&picks, &chunk, bytes, bytes * 2) {
                let at = (start[0] * 4 + start[1]) * 6 + start[2];
                assert_eq!(at, next, "{bytes} {chunk:?}");
                assert!(count.iter().product::<u64>() <= bytes * 2);
                next += count.iter().product::<u64>();
            }
            assert_eq!(next, 5 * 4 * 6);
        }
    }

    #[test]
    fn parts_of_backward_steps_and_lists_hold_whole_runs_of_a_chunk() {
        let rows = |pick: &Pick, bytes, most| {
            let parts = slabs(std::slice::from_ref(pick), &[4], bytes, most);
            parts.into_iter().map(|(_, count)| count[0]).collect::<Vec<u64>>()
        };
        // 9 8 | 7 6 5 4 | 3 2 1 0
        assert_eq!(rows(&pick(9, 10, -1), 6, 6), [6, 4]);
        assert_eq!(rows(&pick(9, 10, -1), 3, 4), [2, 4, 4]);
        // 9 | 6 | 3 0
        assert_eq!(rows(&pick(9, 4, -3), 3, 3), [2, 2]);
        let list = Pick::list([8, 9, 0, 1, 3, 8, 2]);
        assert_eq!(rows(&list, 5, 5), [5, 2]);
        assert_eq!(rows(&list, 2, 2), [2, 2, 2, 1]);
        assert_eq!(list.part(2, 3).bounds(), Some((0, 3)));
    }

    #[test]
    fn a_scalar_has_one_part_and_an_empty_selection_none() {
        assert_eq!(slabs(&[], &[], 1, 1), [(vec![], vec![])]);
        assert!(slabs(&[pick(0, 0, 1), pick(0, 5, 1)], &[1, 1], 9, 9).is_empty());
        // As many chunks as elements, and more than fits into memory: parts stay small.
        let grid = RegularGrid::new([1, 1]).unwrap();
        let picks = [pick(0, 1 << 62, 1), pick(0, 1 << 62, 1)];
        let first = Slabs::new(&picks, &grid, 4, Budget::DEFAULT).next().unwrap();
        assert_eq!(first.count, [1, 1 << 16]);
    }
}
