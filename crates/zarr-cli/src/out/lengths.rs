//! Chunk lengths, as they are shown.

use std::fmt;

use zarr_array::traits::ChunkGrid;

/// The lengths of an array's chunks in one dimension: the shortest and the longest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Extent(pub(crate) u64, pub(crate) u64);

impl Extent {
    /// Returns the extents of an array of `shape`.
    pub(crate) fn of(grid: &dyn ChunkGrid, shape: &[u64]) -> Vec<Self> {
        (0..grid.rank()).map(|dim| Self::of_dimension(grid, dim, shape[dim])).collect()
    }

    /// Chunks outside of the array count only if the array has no chunks.
    fn of_dimension(grid: &dyn ChunkGrid, dim: usize, length: u64) -> Self {
        let (mut left, mut extent) = (grid.count(dim, length).max(1), None);
        for run in grid.runs(dim) {
            let Self(shortest, longest) = extent.unwrap_or(Self(run.length, run.length));
            extent = Some(Self(shortest.min(run.length), longest.max(run.length)));
            match run.count {
                Some(count) if count < left => left -= count,
                _ => break,
            }
        }
        extent.unwrap_or(Self(0, 0))
    }

    /// The length, if all chunks have the same.
    pub(crate) fn only(self) -> Option<u64> {
        (self.0 == self.1).then_some(self.0)
    }

    /// Divides the shortest and the longest length by `length`, rounded down.
    pub(crate) fn divided(self, length: u64) -> Self {
        Self(self.0 / length, self.1 / length)
    }
}

/// Returns the shape of all chunks of an array, if they have the same.
pub(crate) fn only_shape(grid: &dyn ChunkGrid, shape: &[u64]) -> Option<Vec<u64>> {
    Extent::of(grid, shape).into_iter().map(Extent::only).collect()
}

impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self(shortest, longest) if shortest < longest => write!(f, "{shortest}–{longest}"),
            Self(length, _) => write!(f, "{length}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use zarr_array::{meta::RectilinearGrid, traits::ChunkRun};

    use super::*;

    #[test]
    fn only_chunks_inside_of_the_array_are_shown() {
        let run = |(length, count)| ChunkRun::new(length, count);
        let runs = [(4, Some(2)), (2, Some(1)), (9, Some(3))].map(run).to_vec();
        let grid = RectilinearGrid::new([runs, vec![run((5, None))], vec![]]).unwrap();
        for (length, shown) in [(0, "4"), (8, "4"), (9, "2–4"), (10, "2–4"), (11, "2–9")] {
            let extents = Extent::of(&grid, &[length, 7, 0]);
            assert_eq!([0, 1, 2].map(|dim| extents[dim].to_string()), [shown, "5", "0"], "{length}");
        }
        assert_eq!(Extent(2, 9).divided(2), Extent(1, 4));
        assert_eq!(only_shape(&grid, &[8, 1, 0]), Some(vec![4, 5, 0]));
        assert_eq!(only_shape(&grid, &[9, 1, 0]), None);
    }
}
