//! What a read would ask of the store, without reading data: the same plan, the same decisions, and only indexes read.

use futures_util::{StreamExt, stream};
use zarr_traits::{
    Dims, Key, Region, RegularGrid,
    partial::{ChunkRead, Hints, Job, Piece, Span},
};

use crate::array::Array;
use crate::core::Core;
use crate::error::{ArrayError, ArrayErrorKind, ArrayResult};
use crate::fetch::{ChunkPart, FetchError, Seen, Tally, Wish};
use crate::opened::Opened;
use crate::plan::{Cell, Plan};
use crate::read::Target;
use crate::select::{Picked, Selection};

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

impl Explanation {
    /// Adds what another cell or block costs, but for what is known of the whole.
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

/// Chunks that are asked for at once, at most.
const AT_ONCE: usize = 64;

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
        let most = core.gate.width().min(AT_ONCE);
        let cells = (0..plan.cells()).map(|number| core.explain_cell(plan, plan.cell(number)));
        let mut cells = stream::iter(cells).buffered(most);
        while let Some(one) = cells.next().await {
            let one = one.map_err(|e| e.in_array(self.path()))?;
            largest = largest.max(one.bytes.saturating_add(one.peak_memory));
            sum.add(&one);
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
        let shape = self.chunk_shape(index);
        let listed = async {
            let shape = shape.ok_or_else(|| ArrayError::invalid(format!("there is no chunk {index:?}")))?;
            let (chunk, key) = (Dims::from(index), self.core.key(index)?);
            let listed = self.core.inner_chunks_of(chunk.clone(), &shape, &key).await;
            listed.map_err(|e| e.in_chunk(&chunk, &key))
        };
        listed.await.map_err(|e: ArrayError| e.in_array(self.path()))
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

    /// The inner chunks of a chunk, listed block by block: a piece takes more memory than what is told of it.
    async fn inner_chunks_of(
        &self,
        chunk: Dims,
        shape: &[u64],
        key: &Key,
    ) -> ArrayResult<Option<Vec<InnerChunk>>> {
        let picked: Vec<Picked> = shape.iter().map(|n| Picked::whole(*n)).collect();
        let plan = Plan::new(&picked, shape, &RegularGrid::new(shape)?, self.inner())?;
        let cell = Cell { chunk, ..plan.cell(0) };
        let opened = match plan.blocks(&cell) {
            1 => None,
            _ => Some(self.open(cell.of(key), false, &mut Tally::default()).await?),
        };
        let mut inner_chunks = Vec::new();
        for number in 0..plan.blocks(&cell) {
            let block = plan.block(&cell, number);
            let part = ChunkPart { opened: opened.as_ref(), ..block.of(key) };
            let Some(pieces) = self.index_pieces(part).await? else { return Ok(None) };
            let place = |at: &Dims| block.part.start().iter().zip(at).map(|(start, at)| start + at).collect();
            inner_chunks.extend(pieces.into_iter().map(|piece| InnerChunk {
                start: place(&piece.at),
                shape: piece.shape.to_vec(),
                span: (!matches!(piece.job, Job::Fill(_))).then_some(piece.span),
            }));
        }
        Ok(Some(inner_chunks))
    }

    /// In how many inner chunks the elements lie that are `steps` apart in a part.
    fn inner_touched(&self, part: &Region, steps: &[u64]) -> u64 {
        let Some(inner) = self.chain.inner_shape(part.rank()) else { return 0 };
        let dims = part.start().iter().zip(part.shape()).zip(steps.iter().zip(&inner));
        let touched = dims.map(|((start, len), (step, inner))| match step > inner {
            true => len.div_ceil(*step),
            false => (start + len).div_ceil(*inner) - start / inner,
        });
        touched.fold(1, u64::saturating_mul)
    }

    /// What a read of one cell costs, with all of its blocks.
    async fn explain_cell(&self, plan: &Plan, cell: Cell) -> ArrayResult<Explanation> {
        let _flying = self.gate.enter(0).await;
        let explained = match plan.blocks(&cell) {
            1 => self.explain(&cell, None).await,
            blocks => self.explain_blocks(plan, &cell, blocks).await,
        };
        explained.map_err(|e| self.locate(&cell.chunk, e))
    }

    /// What a read of a cell costs that has several blocks.
    async fn explain_blocks(&self, plan: &Plan, cell: &Cell, blocks: u64) -> ArrayResult<Explanation> {
        let (key, mut tally) = (self.key(&cell.chunk)?, Tally::default());
        let opened = self.open(cell.of(&key), false, &mut tally).await?;
        let Tally { requests, ranges, bytes } = tally;
        let mut sum =
            Explanation { requests, ranges, ranges_wanted: ranges, bytes, ..Explanation::default() };
        for number in 0..blocks {
            let one = self.explain(&plan.block(cell, number), Some(&opened)).await?;
            let peak = one.bytes.saturating_add(one.peak_memory);
            sum.peak_memory = sum.peak_memory.max(peak);
            sum.add(&one);
        }
        sum.chunks_stored = sum.chunks_stored.min(1);
        Ok(sum)
    }

    /// What a read of one cell or block costs; as its peak, the memory that its decoding needs besides what is fetched.
    async fn explain(&self, cell: &Cell, opened: Option<&Opened>) -> ArrayResult<Explanation> {
        let key = self.key(&cell.chunk)?;
        let part = ChunkPart { opened, ..cell.of(&key) };
        let mut tally = Tally::default();
        let wish = self.wish(part, self.hints(part), false, &mut tally).await;
        let one = Explanation {
            inner_chunks: self.inner_touched(&cell.part, &cell.steps),
            requests: tally.requests,
            ranges: tally.ranges,
            ranges_wanted: tally.ranges,
            bytes: tally.bytes,
            ..Explanation::default()
        };
        match wish? {
            Wish::Absent => Ok(one),
            Wish::Whole(read) => self.explain_whole(part, read.is_some(), one).await,
            Wish::Pieces(read, seen) => self.explain_pieces(part, read, &seen, one).await,
        }
    }

    /// Adds what it costs to read the whole object, which inner chunks are taken out of if `has_pieces`.
    async fn explain_whole(
        &self,
        part: ChunkPart<'_>,
        has_pieces: bool,
        mut one: Explanation,
    ) -> ArrayResult<Explanation> {
        let size = self.storage.size(part.key).await?;
        one.requests += 1;
        (one.ranges, one.ranges_wanted) = (one.ranges + 1, one.ranges_wanted + 1);
        let size = size.inspect(|_| one.chunks_stored = 1).unwrap_or(0);
        (one.bytes, one.bytes_useful) = (one.bytes + size, size);
        // Its index tells how much of that is wanted.
        if has_pieces && one.chunks_stored > 0 {
            let pieces = self.index_pieces(part).await?.unwrap_or_default();
            one.bytes_useful = pieces.iter().map(|piece| self.useful(piece)).fold(0, u64::saturating_add);
        }
        let unit = self.chain.inner_shape(part.shape.len());
        one.peak_memory = self.bytes_of(unit.as_deref().unwrap_or(part.shape));
        Ok(one)
    }

    /// Adds what it costs to read an object by its pieces.
    async fn explain_pieces(
        &self,
        part: ChunkPart<'_>,
        read: Box<dyn ChunkRead>,
        seen: &Seen,
        mut one: Explanation,
    ) -> ArrayResult<Explanation> {
        let (pieces, merged, fetched) = self.plan_ranges(read, part, seen)?;
        if !seen.there || !merged.is_empty() {
            one.requests += 1;
            one.ranges += merged.len() as u64;
        }
        // Nothing of it was read so far; it may not be there.
        if !seen.there && self.storage.size(part.key).await?.is_none() {
            one.ranges_wanted = one.ranges;
            return Ok(one);
        }
        one.chunks_stored = 1;
        one.bytes += fetched as u64;
        for piece in pieces.iter().filter(|piece| piece.span.len > 0) {
            one.ranges_wanted += 1;
            one.bytes_useful = one.bytes_useful.saturating_add(self.useful(piece));
            if let Job::Chain(inner) = &piece.job {
                one.peak_memory = one.peak_memory.max(self.bytes_of(&inner.chunk));
            }
        }
        Ok(one)
    }

    /// Bytes of a piece that hold what is wanted.
    fn useful(&self, piece: &Piece) -> u64 {
        match &piece.job {
            Job::Strided { .. } => self.bytes_of(&piece.shape),
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
