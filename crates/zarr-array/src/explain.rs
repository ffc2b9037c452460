//! What a read would ask of the store, without reading data: the same plan, the same decisions, and only indexes read.

use zarr_traits::{
    Dims, Region,
    partial::{Hints, Job, Piece, Span},
};

use crate::array::Array;
use crate::core::Core;
use crate::error::{ArrayError, ArrayErrorKind, ArrayResult};
use crate::fetch::{ChunkPart, FetchError, Tally, Wish};
use crate::plan::Cell;
use crate::read::Target;
use crate::select::Selection;

/// What reading a selection costs, of a handle that remembers no indexes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Explanation {
    /// Chunks (of a sharded array: shards) that the selection touches.
    pub chunks: u64,
    /// Those of them that are stored.
    pub chunks_stored: u64,
    /// Inner chunks of those that are read, stored or not; 0 where chunks are not made of such.
    pub inner_chunks: u64,
    /// Calls of the store: what is wanted of one object is wanted at once.
    pub requests: u64,
    /// Ranges that are wanted, one by one: of inner chunks, or of neighbouring rows of an uncompressed chunk; and of indexes.
    pub ranges_wanted: u64,
    /// Ranges that are read, once those that lie close together are one.
    pub ranges: u64,
    /// Bytes that are read, of indexes and gaps as well.
    pub bytes: u64,
    /// Bytes that hold what is wanted, as it is stored.
    pub bytes_useful: u64,
    /// Bytes of the result.
    pub bytes_result: u64,
    /// Bytes of memory that a read needs at its peak, about: the result, and on each thread what is fetched and decoded.
    pub peak_memory: u64,
}

/// Where an inner chunk of a stored chunk lies.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InnerChunk {
    /// Its first element, relative to the chunk.
    pub start: Vec<u64>,
    /// Its shape.
    pub shape: Vec<u64>,
    /// Its bytes in the object; `None`: it is not stored, all of it is fill value.
    pub span: Option<Span>,
}

impl Array {
    /// What [`read`](Self::read) of a selection asks of the store. Reads indexes and asks for sizes, and no data.
    ///
    /// # Errors
    /// When the selection is not inside the array, an index is broken, and those of the store.
    pub async fn explain(&self, selection: impl Into<Selection>) -> ArrayResult<Explanation> {
        let core = &*self.core;
        let target = Target::new(core, &selection.into())?;
        let plan = &target.plan;
        let mut sum = Explanation {
            chunks: plan.cells(),
            bytes_result: target.full.product().unwrap_or(u64::MAX).saturating_mul(core.size as u64),
            ..Explanation::default()
        };
        let mut largest = 0;
        for number in 0..plan.cells() {
            let cell = plan.cell(number);
            let one = core.explain(&cell).await;
            let one = one.map_err(|e| core.locate(plan, number, e).in_array(self.path()))?;
            sum.chunks_stored += one.chunks_stored;
            sum.inner_chunks = sum.inner_chunks.saturating_add(one.inner_chunks);
            sum.requests += one.requests;
            sum.ranges_wanted += one.ranges_wanted;
            sum.ranges += one.ranges;
            sum.bytes += one.bytes;
            sum.bytes_useful = sum.bytes_useful.saturating_add(one.bytes_useful);
            largest = largest.max(one.bytes.saturating_add(one.peak_memory));
        }
        let width = core.cpu.pool().map_or(1, |pool| pool.width() as u64).min(plan.cells());
        sum.peak_memory = sum.bytes_result.saturating_add(largest.saturating_mul(width));
        Ok(sum)
    }

    /// Where the inner chunks of the chunk at `index` of the grid lie, in C order; none of a chunk that is not made of
    /// such. `None`: the chunk is not stored. Reads the index of the shard.
    ///
    /// # Errors
    /// When there is no such chunk, its index is broken, and those of the store.
    pub async fn inner_chunks(&self, index: &[u64]) -> ArrayResult<Option<Vec<InnerChunk>>> {
        let core = &*self.core;
        let shape = self.chunk_shape(index);
        let pieces = async {
            let shape = shape.ok_or_else(|| ArrayError::invalid(format!("there is no chunk {index:?}")))?;
            let (chunk, part, key) = (Dims::from(index), Region::whole(&shape), core.key(index)?);
            let steps = Dims::filled(1, shape.len());
            let part = ChunkPart { index: &chunk, shape: &shape, part: &part, steps: &steps, key: &key };
            let pieces = core.index_pieces(part).await;
            pieces.map_err(|e| e.in_chunk(&chunk, &key))
        };
        let pieces = pieces.await.map_err(|e: ArrayError| e.in_array(self.path()))?;
        let inner = |piece: Piece| InnerChunk {
            start: piece.at.to_vec(),
            shape: piece.shape.to_vec(),
            span: (!matches!(piece.job, Job::Fill(_))).then_some(piece.span),
        };
        Ok(pieces.map(|pieces| pieces.into_iter().map(inner).collect()))
    }
}

impl Core {
    /// The pieces of a part of a chunk, as the index of the object tells them; none where there is no index. `None`: the
    /// object is not there.
    async fn index_pieces(&self, part: ChunkPart<'_>) -> ArrayResult<Option<Vec<Piece>>> {
        let hints = Hints { whole: 0, ..self.hints(part) };
        match self.wish(part, hints, false, &mut Tally::default()).await? {
            Wish::Absent => Ok(None),
            Wish::Whole(_) => Ok(self.storage.size(part.key).await?.map(|_| Vec::new())),
            Wish::Pieces(read, _) => Ok(Some(self.pieces_of(&*read, part)?)),
        }
    }

    /// In how many inner chunks every so manyth element of a part lies.
    fn inner_touched(&self, part: &Region, steps: &[u64]) -> u64 {
        let Some(inner) = self.chain.inner_shape(part.rank()) else { return 0 };
        let dims = part.start().iter().zip(part.shape()).zip(steps.iter().zip(&inner));
        let touched = dims.map(|((start, len), (step, inner))| match step > inner {
            true => len.div_ceil(*step),
            false => (start + len).div_ceil(*inner) - start / inner,
        });
        touched.fold(1, u64::saturating_mul)
    }

    /// What a read of one cell costs; as its peak, the memory that its decoding needs besides what is fetched.
    async fn explain(&self, cell: &Cell) -> ArrayResult<Explanation> {
        let key = self.key(&cell.chunk)?;
        let mut tally = Tally::default();
        let wish = self.wish(cell.at(&key), self.hints(cell.at(&key)), false, &mut tally).await;
        let mut one = Explanation {
            inner_chunks: self.inner_touched(&cell.part, &cell.steps),
            requests: tally.requests,
            ranges: tally.ranges,
            ranges_wanted: tally.ranges,
            bytes: tally.bytes,
            ..Explanation::default()
        };
        let decoded =
            |shape: &[u64]| Dims::from(shape).product().unwrap_or(u64::MAX).saturating_mul(self.size as u64);
        match wish? {
            Wish::Absent => {}
            Wish::Whole(read) => {
                let size = self.storage.size(&key).await?;
                one.requests += 1;
                (one.ranges, one.ranges_wanted) = (one.ranges + 1, one.ranges_wanted + 1);
                let size = size.inspect(|_| one.chunks_stored = 1).unwrap_or(0);
                (one.bytes, one.bytes_useful) = (one.bytes + size, size);
                // Its index tells how much of that is wanted.
                if read.is_some() && one.chunks_stored > 0 {
                    let pieces = self.index_pieces(cell.at(&key)).await?.unwrap_or_default();
                    one.bytes_useful =
                        pieces.iter().map(|piece| self.useful(piece)).fold(0, u64::saturating_add);
                }
                let unit = self.chain.inner_shape(cell.shape.len());
                one.peak_memory = decoded(unit.as_deref().unwrap_or(&cell.shape));
            }
            Wish::Pieces(read, seen) => {
                let (pieces, merged, fetched) = self.plan_ranges(read, cell.at(&key), &seen)?;
                if !seen.there {
                    // Nothing of it was read so far; it may not be there.
                    one.requests += 1;
                    one.ranges += merged.len() as u64;
                    if self.storage.size(&key).await?.is_none() {
                        one.ranges_wanted = one.ranges;
                        return Ok(one);
                    }
                } else if !merged.is_empty() {
                    one.requests += 1;
                    one.ranges += merged.len() as u64;
                }
                one.chunks_stored = 1;
                one.bytes += fetched as u64;
                for piece in pieces.iter().filter(|piece| piece.span.len > 0) {
                    one.ranges_wanted += 1;
                    one.bytes_useful = one.bytes_useful.saturating_add(self.useful(piece));
                    if let Job::Chain(inner) = &piece.job {
                        one.peak_memory = one.peak_memory.max(decoded(&inner.chunk));
                    }
                }
            }
        }
        Ok(one)
    }

    /// Bytes of a piece that hold what is wanted.
    fn useful(&self, piece: &Piece) -> u64 {
        match &piece.job {
            Job::Strided { .. } => piece.shape.product().unwrap_or(u64::MAX).saturating_mul(self.size as u64),
            _ => piece.span.len,
        }
    }
}

impl From<FetchError> for ArrayError {
    fn from(e: FetchError) -> Self {
        match e {
            FetchError::Other(e) => e,
            FetchError::Changed => {
                Self::new(ArrayErrorKind::Conflict, "the object was changed while its index was read")
            }
        }
    }
}
