//! Predicts the requests of a read without reading data: makes the same plan and the same decisions, but reads only
//! indexes.

use futures_util::{StreamExt, stream};
use zarr_strided::Dims;
use zarr_traits::{
    BoxFuture, Key, Region, RegularGrid, Span,
    partial::{Piece, PieceDecode},
};

use crate::error::{ArrayError, ArrayErrorKind, ArrayResult};
use crate::handles::array::Array;
use crate::io::core::Core;
use crate::io::fetch::parts::PartsWish;
use crate::io::fetch::{ChunkObject, FetchError, Seen, Tally, Wish};
use crate::io::target::Target;
use crate::plan::{Cell, Layout, Plan, Take};
use crate::select::{Along, Selection};

/// The cost of reading a selection with a handle that has no cached indexes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Explanation {
    /// The number of chunks (in a sharded array: shards) that the selection touches.
    pub chunks: u64,
    /// The number of those chunks that are stored.
    pub chunks_stored: u64,
    /// The number of inner chunks that the selection touches, stored or not; 0 if chunks have no inner chunks.
    pub inner_chunks: u64,
    /// The number of calls of the store. One call may read several ranges of an object.
    pub requests: u64,
    /// The number of ranges needed: of inner chunks, of neighbouring rows of an uncompressed chunk, and of indexes.
    pub ranges_wanted: u64,
    /// The number of ranges read, after ranges that lie close together are merged.
    pub ranges: u64,
    /// The number of bytes read, with indexes and gaps between ranges.
    pub bytes: u64,
    /// The number of stored bytes that hold selected elements.
    pub bytes_useful: u64,
    /// The size of the result in bytes.
    pub bytes_result: u64,
    /// The approximate peak memory of the read in bytes: the result, and the fetched and decoded bytes of each thread.
    pub peak_memory: u64,
}

/// The place of an inner chunk in a stored chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[doc(alias = "subchunk")]
pub struct InnerChunk {
    /// The position of its first element, relative to the chunk.
    pub start: Vec<u64>,
    /// The shape of the inner chunk.
    pub shape: Vec<u64>,
    /// The bytes of the object that hold it; `None` if it is not stored and holds only the fill value.
    pub span: Option<Span>,
}

impl Explanation {
    /// Adds the cost of a read of another array.
    pub(crate) fn join(&mut self, other: &Self) {
        self.chunks += other.chunks;
        self.bytes_result += other.bytes_result;
        self.peak_memory = self.peak_memory.max(other.peak_memory);
        self.add(other);
    }

    /// Adds the cost of another cell or block. Counts of the whole selection stay.
    fn add(&mut self, one: &Self) {
        self.chunks_stored += one.chunks_stored;
        self.inner_chunks = self.inner_chunks.saturating_add(one.inner_chunks);
        self.requests += one.requests;
        self.ranges_wanted += one.ranges_wanted;
        self.ranges += one.ranges;
        self.bytes += one.bytes;
        self.bytes_useful = self.bytes_useful.saturating_add(one.bytes_useful);
    }
}

impl From<Tally> for Explanation {
    /// The requests that find out what must be read.
    fn from(Tally { requests, ranges, bytes }: Tally) -> Self {
        Self { requests, ranges, ranges_wanted: ranges, bytes, ..Self::default() }
    }
}

/// The largest number of chunks examined. A store answers for each of them, so the time is bounded as well.
const MOST: u64 = 1 << 20;

/// The largest number of chunks examined at once.
const AT_ONCE: usize = 64;

impl Array {
    /// Returns the requests that [`read`](Self::read) of a selection would make to the store. Reads only shard indexes
    /// and object sizes.
    ///
    /// # Errors
    /// When the selection is not inside the array or an index is invalid;
    /// [`LimitExceeded`](ArrayErrorKind::LimitExceeded) when it touches more than 2^20 chunks; and those of the store.
    pub async fn explain(&self, selection: impl Into<Selection>) -> ArrayResult<Explanation> {
        let target = Target::new(&self.core, &selection.into())?;
        self.explain_target(target).await
    }

    /// As [`explain`](Self::explain). A wall (decision 0026).
    fn explain_target(&self, target: Target) -> BoxFuture<'_, ArrayResult<Explanation>> {
        Box::pin(async move {
            let core = &*self.core;
            let chunks = target.plan.cells();
            if chunks > MOST {
                let message = format!(
                    "the selection touches {chunks} chunks, at most {MOST} are examined: explain a smaller selection"
                );
                return Err(self.core.in_array(ArrayError::new(ArrayErrorKind::LimitExceeded, message)));
            }
            let mut sum = Explanation {
                chunks,
                bytes_result: target.full.product().unwrap_or(u64::MAX).saturating_mul(core.size as u64),
                ..Explanation::default()
            };
            let mut largest = 0;
            let most = core.gate.width().min(AT_ONCE);
            let cells = (0..chunks).map(|number| core.explain_cell(&target.plan, number));
            let mut cells = stream::iter(cells).buffered(most);
            while let Some(one) = cells.next().await {
                let one = one.map_err(|e| self.core.in_array(e))?;
                largest = largest.max(one.bytes.saturating_add(one.peak_memory));
                sum.add(&one);
            }
            let width = core.cpu.pool().map_or(1, |pool| pool.width() as u64).min(chunks);
            sum.peak_memory = sum.bytes_result.saturating_add(largest.saturating_mul(width));
            Ok(sum)
        })
    }

    /// Returns the places of the inner chunks of the chunk at `index` of the chunk grid, in C order, or `None` if the
    /// chunk is not stored. The list is empty if chunks have no inner chunks. Reads the index of the shard.
    ///
    /// # Errors
    /// When `index` is outside the grid or the index of the shard is invalid; and those of the store.
    pub async fn inner_chunks(&self, index: &[u64]) -> ArrayResult<Option<Vec<InnerChunk>>> {
        let shape = self.chunk_shape(index);
        let listed = async {
            let shape =
                shape.ok_or_else(|| ArrayError::invalid(format!("chunk {index:?} is outside the grid")))?;
            let (chunk, key) = (Dims::from(index), self.core.key(index)?);
            let listed = self.core.inner_chunks_of(chunk.clone(), &shape, &key).await;
            listed.map_err(|e| e.in_chunk(&chunk, &key))
        };
        listed.await.map_err(|e: ArrayError| self.core.in_array(e))
    }
}

impl Core {
    /// Returns the pieces of a part of a chunk from the index of its object, or `None` if the object does not exist.
    /// The list is empty if the object has no index.
    async fn index_pieces(&self, object: ChunkObject<'_>, part: &Region) -> ArrayResult<Option<Vec<Piece>>> {
        let fetching = self.fetching.with_whole(0);
        match self.wish(object, part, fetching, false, &mut Tally::default()).await? {
            Wish::Absent => Ok(None),
            Wish::Whole(_) => Ok(self.storage.size(object.key).await?.map(|_| Vec::new())),
            Wish::Pieces(read, _) => Ok(Some(self.pieces_of(&*read, object.steps, part)?)),
        }
    }

    /// Lists the inner chunks of a chunk. It works block by block, because a piece takes more memory than an
    /// `InnerChunk`.
    async fn inner_chunks_of(
        &self,
        chunk: Dims,
        shape: &[u64],
        key: &Key,
    ) -> ArrayResult<Option<Vec<InnerChunk>>> {
        let all: Vec<Along> = (0..).zip(shape).map(|(dim, length)| Along::whole(dim, *length)).collect();
        let grid = RegularGrid::new(shape)?;
        let (plan, _) = Plan::new(&all, &Layout { shape, grid: &grid, ..self.layout() })?;
        let (mut cell, steps) = (plan.cell(0), plan.steps());
        cell.chunk = chunk;
        let object = ChunkObject::of(&cell, &steps, key, None);
        let opened = match plan.blocks(&cell) {
            1 => None,
            _ => Some(self.open(object, &plan.around(&cell), false, &mut Tally::default()).await?),
        };
        let object = ChunkObject { opened: opened.as_ref(), ..object };
        let mut inner_chunks = Vec::new();
        for number in 0..plan.blocks(&cell) {
            for take in plan.takes(&plan.block(&cell, number)).iter() {
                let Some(pieces) = self.index_pieces(object, &take.part).await? else { return Ok(None) };
                let starts = take.part.start();
                inner_chunks.extend(pieces.into_iter().map(|piece| InnerChunk {
                    start: starts.iter().zip(&piece.at).map(|(start, at)| start + at).collect(),
                    shape: piece.shape.to_vec(),
                    span: (!matches!(piece.job, PieceDecode::Fill(_))).then_some(piece.span),
                }));
            }
        }
        Ok(Some(inner_chunks))
    }

    /// Returns the number of inner chunks that a part with `steps` touches.
    fn inner_touched(&self, part: &Region, steps: &[u64]) -> u64 {
        let Some(inner) = self.chain.inner_shape(part.rank()) else { return 0 };
        let dims = part.start().iter().zip(part.shape()).zip(steps.iter().zip(&inner));
        let touched = dims.map(|((start, len), (step, inner))| match step > inner {
            true => len.div_ceil(*step),
            false => (start + len).div_ceil(*inner) - start / inner,
        });
        touched.fold(1, u64::saturating_mul)
    }

    /// Returns the cost of reading one cell with all its blocks.
    async fn explain_cell(&self, plan: &Plan, number: u64) -> ArrayResult<Explanation> {
        let _flying = self.gate.enter(0).await;
        let cell = plan.cell(number);
        self.explain_blocks(plan, &cell).await.map_err(|e| self.locate(&cell.chunk, e))
    }

    async fn explain_blocks(&self, plan: &Plan, cell: &Cell) -> ArrayResult<Explanation> {
        let (key, steps, blocks) = (self.key(&cell.chunk)?, plan.steps(), plan.blocks(cell));
        let object = ChunkObject::of(cell, &steps, &key, None);
        if blocks == 1 {
            return self.explain_takes(object, &plan.takes(cell)).await;
        }
        let mut tally = Tally::default();
        let opened = self.open(object, &plan.around(cell), false, &mut tally).await?;
        let object = ChunkObject { opened: Some(&opened), ..object };
        let mut sum = Explanation::from(tally);
        for number in 0..blocks {
            let one = self.explain_takes(object, &plan.takes(&plan.block(cell, number))).await?;
            let peak = one.bytes.saturating_add(one.peak_memory);
            sum.peak_memory = sum.peak_memory.max(peak);
            sum.add(&one);
        }
        sum.chunks_stored = sum.chunks_stored.min(1);
        Ok(sum)
    }

    /// Returns the cost of reading one cell or block. Its peak memory is that of decoding, without the fetched bytes.
    async fn explain_takes(&self, object: ChunkObject<'_>, takes: &[Take]) -> ArrayResult<Explanation> {
        let parts: Vec<&Region> = takes.iter().map(|take| &take.part).collect();
        let Some(first) = parts.first() else { return Ok(Explanation::default()) };
        let mut tally = Tally::default();
        let wish = self.wish(object, first, self.fetching_of(object.steps), false, &mut tally).await;
        let touched = parts.iter().map(|part| self.inner_touched(part, object.steps));
        let one = Explanation { inner_chunks: touched.fold(0, u64::saturating_add), ..tally.into() };
        match wish? {
            Wish::Absent => Ok(one),
            Wish::Whole(read) => self.explain_whole(object, &parts, read.is_some(), one).await,
            Wish::Pieces(read, seen) => match self.pieces_of_parts(object, &parts, read, &seen).await? {
                PartsWish::Pieces(pieces) => {
                    let pieces = pieces.into_vec().into_iter().flatten().collect();
                    self.explain_pieces(object.key, pieces, &seen, one).await
                }
                PartsWish::Whole { has_pieces } => self.explain_whole(object, &parts, has_pieces, one).await,
            },
        }
    }

    /// Adds the cost of reading the whole object. If `has_pieces`, inner chunks are taken out of it.
    async fn explain_whole(
        &self,
        object: ChunkObject<'_>,
        parts: &[&Region],
        has_pieces: bool,
        mut one: Explanation,
    ) -> ArrayResult<Explanation> {
        let size = self.storage.size(object.key).await?;
        one.requests += 1;
        (one.ranges, one.ranges_wanted) = (one.ranges + 1, one.ranges_wanted + 1);
        let size = size.inspect(|_| one.chunks_stored = 1).unwrap_or(0);
        (one.bytes, one.bytes_useful) = (one.bytes + size, size);
        // The index tells how many of these bytes are needed.
        if has_pieces && one.chunks_stored > 0 {
            one.bytes_useful = 0;
            for part in parts {
                let pieces = self.index_pieces(object, part).await?.unwrap_or_default();
                let useful = pieces.iter().map(|piece| self.useful(piece)).fold(0, u64::saturating_add);
                one.bytes_useful = one.bytes_useful.saturating_add(useful);
            }
        }
        let unit = self.chain.inner_shape(object.shape.len());
        one.peak_memory = self.bytes_of(unit.as_deref().unwrap_or(object.shape));
        Ok(one)
    }

    /// Adds the cost of reading the pieces of an object.
    async fn explain_pieces(
        &self,
        key: &Key,
        pieces: Vec<Piece>,
        seen: &Seen,
        mut one: Explanation,
    ) -> ArrayResult<Explanation> {
        let (merged, fetched) = self.plan_ranges(pieces.iter().map(|piece| piece.span), seen)?;
        if !seen.there || !merged.is_empty() {
            one.requests += 1;
            one.ranges += merged.len() as u64;
        }
        // Nothing was read from the object so far, so it may not exist.
        if !seen.there && self.storage.size(key).await?.is_none() {
            one.ranges_wanted = one.ranges;
            return Ok(one);
        }
        one.chunks_stored = 1;
        one.bytes += fetched as u64;
        for piece in pieces.iter().filter(|piece| piece.span.len > 0) {
            one.ranges_wanted += 1;
            one.bytes_useful = one.bytes_useful.saturating_add(self.useful(piece));
            if let PieceDecode::Chain(inner) = &piece.job {
                one.peak_memory = one.peak_memory.max(self.bytes_of(&inner.chunk));
            }
        }
        Ok(one)
    }

    /// Returns the number of bytes of a piece that hold selected elements.
    fn useful(&self, piece: &Piece) -> u64 {
        match &piece.job {
            PieceDecode::Strided { .. } => self.bytes_of(&piece.shape),
            _ => piece.span.len,
        }
    }
}

impl From<FetchError> for ArrayError {
    fn from(e: FetchError) -> Self {
        match e {
            FetchError::Other(e) => e,
            FetchError::Changed => {
                Self::new(ArrayErrorKind::Conflict, "the object changed while its index was being read")
            }
        }
    }
}
