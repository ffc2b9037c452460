//! Chunk grids: how an array is divided into chunks. The `regular` grid is here; others are registered.

use std::fmt::Debug;
use std::ops::Range;

use zarr_json::Object;
use zarr_strided::Dims;

use crate::error::{CodecError, CodecResult};

/// A chunk grid. It divides each dimension independently; the chunks are the product of these divisions.
///
/// Positions are in elements. A chunk is stored with its full shape, also if it extends beyond the edge of the array;
/// readers ignore its elements beyond the edge. A grid may be larger than the array, and may be finite.
pub trait ChunkGrid: Debug + Send + Sync {
    /// The number of dimensions.
    fn rank(&self) -> usize;

    /// Returns the number of chunks that cover the first `length` elements of dimension `dim`.
    fn count(&self, dim: usize, length: u64) -> u64;

    /// Returns the elements of chunk `index` in dimension `dim`, not clipped to the array. `None` is beyond the grid.
    fn span(&self, dim: usize, index: u64) -> Option<Range<u64>>;

    /// Returns the chunk of dimension `dim` that contains the element at `position`. `None` is beyond the grid.
    fn find(&self, dim: usize, position: u64) -> Option<u64>;

    /// Returns the lengths of all chunks of dimension `dim`, in order.
    fn runs(&self, dim: usize) -> Vec<ChunkRun>;

    /// Returns the distinct chunk lengths in dimension `dim`, in ascending order. A codec must support all of them.
    fn lengths(&self, dim: usize) -> Vec<u64> {
        let mut lengths: Vec<u64> = self.runs(dim).iter().map(|run| run.length).collect();
        lengths.sort_unstable();
        lengths.dedup();
        lengths
    }

    /// Returns the configuration members that must change so that the grid covers `shape`. Returns an empty object if the
    /// grid already covers it, as every unlimited grid does. Existing chunks keep their shape. The length of a new
    /// chunk must be a multiple of the length of inner chunks, `inner`.
    ///
    /// # Errors
    /// If the grid cannot grow that far.
    fn grown(&self, shape: &[u64], inner: &[u64]) -> CodecResult<Object> {
        let _ = (shape, inner);
        Ok(Object::new())
    }
}

/// Consecutive chunks of one length in a dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChunkRun {
    /// The length of each chunk in elements, above zero.
    pub length: u64,
    /// The number of chunks, above zero. `None`: the run is unlimited and the last one.
    pub count: Option<u64>,
}

impl ChunkRun {
    /// Returns a run of chunks of this length, above zero. Without a `count` it is unlimited.
    ///
    /// ```
    /// # use zarr_traits::ChunkRun;
    /// let months = [31, 28, 31].map(|days| ChunkRun::new(days, 1));
    /// let all = ChunkRun::new(100, None);
    /// ```
    pub fn new(length: u64, count: impl Into<Option<u64>>) -> Self {
        Self { length, count: count.into() }
    }
}

impl dyn ChunkGrid {
    /// Whether this grid and `other` have the same chunks as far as both reach, so that one can be the grown other.
    pub fn agrees_with(&self, other: &dyn ChunkGrid) -> bool {
        self.rank() == other.rank()
            && (0..self.rank()).all(|dim| have_same_start(self.runs(dim), other.runs(dim)))
    }
}

fn have_same_start(a: Vec<ChunkRun>, b: Vec<ChunkRun>) -> bool {
    let [mut a, mut b] = [a, b].map(|runs| runs.into_iter().map(|r| (r.length, r.count.unwrap_or(u64::MAX))));
    let (mut x, mut y) = (a.next(), b.next());
    while let (Some((length, n)), Some((other, m))) = (x, y) {
        if length != other {
            return false;
        }
        let both = n.min(m);
        x = if n > both { Some((length, n - both)) } else { a.next() };
        y = if m > both { Some((length, m - both)) } else { b.next() };
    }
    true
}

/// The `regular` grid: chunks of one shape.
///
/// Rules: [the regular grid](https://github.com/zarr-rs/zarr/blob/traits-v0.1.0/docs/specification/grids-and-keys.md#c.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegularGrid(Dims);

impl RegularGrid {
    /// Returns a grid of chunks of `chunk_shape`.
    ///
    /// # Errors
    /// If a length is zero.
    pub fn new(chunk_shape: impl Into<Dims>) -> CodecResult<Self> {
        let shape = chunk_shape.into();
        match shape.iter().position(|n| *n == 0) {
            Some(dim) => {
                Err(CodecError::configuration(format!("chunk_shape[{dim}] is 0, it must be above 0")))
            }
            None => Ok(Self(shape)),
        }
    }

    /// The shape of every chunk.
    pub fn chunk_shape(&self) -> &[u64] {
        &self.0
    }
}

impl ChunkGrid for RegularGrid {
    fn rank(&self) -> usize {
        self.0.len()
    }

    fn count(&self, dim: usize, length: u64) -> u64 {
        length.div_ceil(self.0[dim])
    }

    fn span(&self, dim: usize, index: u64) -> Option<Range<u64>> {
        let start = index.checked_mul(self.0[dim])?;
        Some(start..start.checked_add(self.0[dim])?)
    }

    fn find(&self, dim: usize, position: u64) -> Option<u64> {
        Some(position / self.0[dim])
    }

    fn runs(&self, dim: usize) -> Vec<ChunkRun> {
        vec![ChunkRun::new(self.0[dim], None)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_regular_grid_covers_every_element_once() {
        let grid = RegularGrid::new([4, 3]).unwrap();
        assert_eq!([grid.count(0, 9), grid.count(1, 3), grid.count(0, 0)], [3, 1, 0]); // rule C2
        assert_eq!((grid.count(0, 2), grid.span(0, 0)), (1, Some(0..4))); // rule C4
        for position in 0..12 {
            let span = grid.span(0, grid.find(0, position).unwrap()).unwrap();
            assert!(span.contains(&position) && span.end - span.start == 4); // rule C3
        }
        assert_eq!(grid.span(0, u64::MAX), None);
        assert!(RegularGrid::new([2, 0]).is_err()); // rule C.t2
    }
}
