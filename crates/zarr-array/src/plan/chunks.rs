//! Chunks as values: an index in the chunk grid and a region of the array.

use std::sync::Arc;

use zarr_strided::Dims;
use zarr_traits::{ChunkGrid, Region};

use crate::error::{ArrayError, ArrayResult};
use crate::plan::{Layout, Plan};
use crate::select::{Picked, Selection};

/// A chunk of an array, or an inner chunk: its index and its region. It is a selection as well, so it can be read and
/// written like any other.
///
/// ```
/// # use zarr_array::{ArrayMeta, ArrayResult, DataType, NdVec, blocking::Array, standard};
/// # let meta = ArrayMeta::builder([4, 5], DataType::Int32).chunks([2, 3]).build()?;
/// # let array = Array::create(zarr_store::MemoryStore::new(), "/a", meta, &standard())?;
/// for chunk in array.chunks(..)? {
///     let ones = NdVec::new(chunk.shape(), vec![1; chunk.len()])?;
///     array.write(&chunk, &ones)?;
/// }
/// assert_eq!(array.chunk(&[1, 1])?.shape(), [2, 2]); // clipped at the edge of the array
/// # ArrayResult::Ok(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Chunk {
    index: Vec<u64>,
    region: Region,
}

impl Chunk {
    /// Returns the chunk at `index` of `grid`, clipped to an array of `shape`. `None` outside the array.
    pub(crate) fn at(index: &[u64], grid: &dyn ChunkGrid, shape: &[u64]) -> Option<Self> {
        if index.len() != shape.len() {
            return None;
        }
        let (mut start, mut clipped) = (Vec::new(), Vec::new());
        for (dim, (index, length)) in index.iter().zip(shape).enumerate() {
            let span = grid.span(dim, *index).filter(|span| span.start < *length)?;
            start.push(span.start);
            clipped.push(span.end.min(*length) - span.start);
        }
        Some(Self { index: index.to_vec(), region: Region::new(start, clipped)? })
    }

    /// The index in the chunk grid, or in the grid of inner chunks.
    pub fn index(&self) -> &[u64] {
        &self.index
    }

    /// The elements of the chunk that lie inside the array.
    pub fn region(&self) -> &Region {
        &self.region
    }

    /// The shape of [`region`](Self::region).
    pub fn shape(&self) -> &[u64] {
        self.region.shape()
    }

    /// The number of elements in [`region`](Self::region); `usize::MAX` if it is larger.
    #[allow(clippy::len_without_is_empty, reason = "a chunk is never empty")]
    pub fn len(&self) -> usize {
        self.region.len().and_then(|len| usize::try_from(len).ok()).unwrap_or(usize::MAX)
    }
}

impl From<&Chunk> for Selection {
    fn from(chunk: &Chunk) -> Self {
        Self::from(&chunk.region)
    }
}

impl From<Chunk> for Selection {
    fn from(chunk: Chunk) -> Self {
        Self::from(&chunk.region)
    }
}

/// An iterator over chunks, in C order. Each chunk is computed on demand; no list of them is held in memory.
///
/// It can be sent to threads and cloned. `nth` is as fast as `next`.
#[derive(Debug, Clone)]
pub struct Chunks {
    grid: Arc<dyn ChunkGrid>,
    /// The shape of the array.
    shape: Dims,
    plan: Arc<Plan>,
    next: u64,
    end: u64,
}

impl Chunks {
    /// Returns the chunks of `grid` that a selection of an array of `shape` touches.
    pub(crate) fn new(shape: &[u64], grid: Arc<dyn ChunkGrid>, selection: &Selection) -> ArrayResult<Self> {
        let layout = Layout { shape, grid: &*grid, inner: None, reads_parts: false, gap: 0 };
        let (plan, _) = Plan::new(&selection.resolve(shape)?, &layout)?;
        if !plan.is_steps() {
            return Err(ArrayError::invalid("chunks are selected by ranges, not by lists of positions"));
        }
        Ok(Self { grid, shape: shape.into(), next: 0, end: plan.cells(), plan: Arc::new(plan) })
    }

    /// The number of chunks that are left.
    pub fn len(&self) -> u64 {
        self.end - self.next
    }

    /// Whether no chunk is left.
    pub fn is_empty(&self) -> bool {
        self.next == self.end
    }

    fn chunk(&self, number: u64) -> Option<Chunk> {
        Chunk::at(&self.plan.cell(number).chunk, &*self.grid, &self.shape)
    }
}

impl Iterator for Chunks {
    type Item = Chunk;

    fn next(&mut self) -> Option<Chunk> {
        self.nth(0)
    }

    fn nth(&mut self, n: usize) -> Option<Chunk> {
        self.next = self.next.saturating_add(n as u64).min(self.end);
        if self.is_empty() {
            return None;
        }
        self.next += 1;
        self.chunk(self.next - 1)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = usize::try_from(self.len());
        (left.unwrap_or(usize::MAX), left.ok())
    }
}

impl DoubleEndedIterator for Chunks {
    fn next_back(&mut self) -> Option<Chunk> {
        if self.is_empty() {
            return None;
        }
        self.end -= 1;
        self.chunk(self.end)
    }
}

/// Returns the elements of the selected chunks of `grid` in an array of `shape`.
pub(crate) fn blocks(grid: &dyn ChunkGrid, shape: &[u64], chunks: &Selection) -> ArrayResult<Selection> {
    let counts: Vec<u64> = (0..).zip(shape).map(|(dim, length)| grid.count(dim, *length)).collect();
    let mut ranges = Vec::with_capacity(shape.len());
    for (dim, along) in chunks.resolve(&counts)?.iter().enumerate() {
        let picked = along.ascending().filter(|picked| picked.step == 1);
        let wrong = || {
            let form = "blocks are indices and ranges of chunks (`2`, `1..4`), without steps and lists";
            ArrayError::invalid(format!("dimension {dim}: {form}"))
        };
        let Picked { start, count, .. } = picked.ok_or_else(wrong)?;
        let border = |chunk: u64| grid.span(dim, chunk).map_or(shape[dim], |span| span.start).min(shape[dim]);
        ranges.push(border(start)..border(start + count));
    }
    Ok(ranges.into())
}
