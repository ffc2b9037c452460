//! Copies the elements of one array block by block, decoding and encoding them.
//!
//! A block is a box of whole chunks or shards of the copy that fits into memory, so each of these is written once and
//! never read. Several blocks are under way at once, so that reads, work and writes overlap; each takes its memory
//! before it begins. In arrays of very many chunks, blocks without stored chunks of the source are skipped.

use std::collections::BTreeSet;
use std::ops::Range;
use std::pin::pin;
use std::sync::Arc;

use futures_util::{StreamExt, TryStreamExt, stream};
use zarr_array::meta::ArrayMeta;
use zarr_array::traits::{ChunkGrid, Prefix};
use zarr_array::{Array, ArrayErrorKind, Cpu, OpenOptions, Registry, Storage, node};
use zarr_hierarchy::objects::listed;
use zarr_store::MemoryStore;

pub(crate) use crate::choice::product;
use crate::choice::{Choice, Grids};
use crate::elements::{self, Elements};
use crate::error::{CopyError, CopyErrorKind, CopyResult};
use crate::indices::indices;
use crate::memory::{Allowed, Room, Shares, limited};
use crate::objects::{chunk_at, chunk_bytes};
use crate::part::Part;
use crate::pause::pause;
use crate::size::Size;
use crate::told::{Action, Done, Estimate, MANY, Places, Told};

/// The calling task copies an array of up to so many bytes of elements.
const SMALL: u64 = 64 << 10;

/// The largest number of blocks at once. Their memory allows fewer, unless they are small.
const AT_ONCE: usize = 16;

/// The blocks of an array to copy.
#[derive(Debug)]
pub(crate) struct Blocks {
    shape: Vec<u64>,
    /// The chunk grid of the copy.
    grid: Arc<dyn ChunkGrid>,
    choice: Choice,
    /// The number of chunks of the source.
    chunks_read: u128,
    /// The blocks in which the source stores chunks; `None` for all blocks.
    only: Option<BTreeSet<Vec<u64>>>,
    /// Bytes of elements in the blocks to copy.
    pub(crate) bytes: u64,
    size: u64,
    /// How many times the elements of a block are in memory.
    copies: u64,
    shares: Shares,
    room: Room,
    registry: Registry,
    /// The metadata of the copy, if its codecs may be lossy.
    lossy: Option<ArrayMeta>,
    /// The copied part, unless the whole source is copied.
    part: Option<Part>,
    places: Places,
}

/// The parts of the copy of an array.
#[derive(Debug, Clone)]
pub(crate) struct Parts<'a> {
    /// The chunk grid of the copy.
    pub(crate) grid: Arc<dyn ChunkGrid>,
    pub(crate) has_shards: bool,
    /// Whether elements that the source does not store need not be stored in the copy.
    pub(crate) keeps_fill: bool,
    /// The metadata of the copy, if its codecs may be lossy.
    pub(crate) lossy: Option<ArrayMeta>,
    pub(crate) registry: &'a Registry,
    pub(crate) memory: Allowed,
    pub(crate) threads: usize,
    /// The copied part, unless the whole source is copied.
    pub(crate) part: Option<Part>,
}

impl Parts<'_> {
    /// Returns the chunks that are read.
    pub(crate) fn from<'a>(&'a self, source: &'a Array) -> &'a dyn ChunkGrid {
        self.part.as_ref().map_or(source.chunk_grid(), Part::grid)
    }
}

impl Blocks {
    /// Plans the copy of `source`, which has the shape of the copy.
    pub(crate) async fn new(source: &Array, parts: Parts<'_>) -> CopyResult<Self> {
        let grids =
            Grids::new(source.shape(), parts.from(source), &*parts.grid, elements::size(source.data_type()));
        let Parts { grid, has_shards, keeps_fill, lossy, registry, memory: allowed, threads, part } = parts;
        let shape = source.shape().to_vec();
        let size = elements::size(source.data_type());
        let places = Places::new(source);
        // Elements, and their encoded bytes; lossy elements are compared with both. The encoded inner chunks of a shard
        // wait for it, and memory of this size is kept for the next shard: measured.
        let copies = match (has_shards, &lossy) {
            (true, _) => 6,
            (false, Some(_)) => 3,
            _ => 2,
        };
        let chunk = chunk_bytes(source);
        let chunk = if part.is_some() { chunk } else { chunk.min(bytes_of(&shape, size)) };
        let mut memory = allowed.bytes();
        let (shares, choice, fits) = loop {
            let shares = Shares::new(memory, chunk, threads);
            match (grids.choose(copies, shares.blocks), allowed.grown(memory)) {
                (Ok(choice), _) => break (shares, choice, true),
                (Err(single), None) => break (shares, single, false),
                (Err(_), Some(more)) => memory = more,
            }
        };
        let room = Room::new(shares.blocks);
        let mut blocks = Self {
            shape,
            grid,
            choice,
            chunks_read: grids.chunks(),
            only: None,
            bytes: 0,
            size,
            copies,
            registry: registry.clone(),
            shares,
            room,
            lossy,
            part,
            places,
        };
        let lists = source.storage().capabilities().list;
        let chunks = product(&source.chunk_counts()).max(product(&blocks.chunks()));
        if keeps_fill && lists && chunks > MANY && blocks.part.is_none() {
            blocks.only = Some(blocks.stored(source).await?);
        }
        // If nothing is stored, nothing is read.
        if !fits && blocks.only.as_ref().is_none_or(|only| !only.is_empty()) {
            return Err(blocks.too_large(memory, has_shards));
        }
        let size = source.data_type().memory_size() as u64;
        blocks.bytes = match &blocks.only {
            None => bytes_of(&blocks.shape, size),
            Some(only) => only.iter().map(|index| blocks.length(index)).fold(0, u64::saturating_add),
        };
        Ok(blocks)
    }

    /// The error for a chunk or shard of the copy that needs more than `memory` bytes.
    fn too_large(&self, memory: u64, has_shards: bool) -> CopyError {
        let what = if has_shards { "shard" } else { "chunk" };
        let needed = self.shares.fixed(u128::MAX).saturating_add(self.choice.memory);
        let [needed, memory] = [needed, memory].map(|bytes| Size(bytes.into()));
        let message = format!(
            "one {what} needs {needed} of memory, and {memory} are allowed; allow more with `max_memory`"
        );
        self.places.in_copy(CopyError::node(ArrayErrorKind::LimitExceeded, message))
    }

    /// Returns the work as numbers, for a plan.
    pub(crate) fn estimate(&self) -> Estimate {
        let elements = u128::from(bytes_of(&self.shape, self.size));
        let under_way = (self.shares.blocks / self.choice.memory.max(1)).clamp(1, AT_ONCE as u64);
        let blocks = u64::try_from(product(&self.counts())).unwrap_or(u64::MAX);
        Estimate {
            passes: 1,
            intermediate: 0,
            reads: self.choice.reads,
            writes: product(&self.chunks()),
            bytes_read: elements.saturating_mul(self.choice.reads) / self.chunks_read.max(1),
            bytes_written: elements,
            memory: self
                .shares
                .fixed(elements)
                .saturating_add(self.choice.memory.saturating_mul(under_way.min(blocks))),
        }
    }

    /// Whether the blocks without stored chunks are skipped.
    pub(crate) fn is_sparse(&self) -> bool {
        self.only.is_some()
    }

    /// How many times the elements of a block are in memory.
    pub(crate) fn copies(&self) -> u64 {
        self.copies
    }

    /// Says that the blocks are read from an array of the copy of `source`, which errors name.
    pub(crate) fn of_copy(mut self, source: &Array) -> Self {
        self.places = Places::of_copy(source);
        self
    }

    /// Returns that so many bytes of elements were compared.
    pub(crate) fn compared(&self, bytes: u64) -> Done {
        let bytes = u128::from(bytes);
        // Lossy codecs may have changed the elements.
        let (elements, kept) = if self.lossy.is_some() { (0, bytes) } else { (bytes, 0) };
        Done { elements, kept, ..Done::default() }
    }

    /// Copies all blocks. Calls `done` with the bytes of each block. With `resumes` a block that the copy stores is
    /// compared with the source; equal chunks stay.
    pub(crate) async fn copy(
        &self,
        resumes: bool,
        source: &Array,
        copy: &Array,
        done: Told<'_>,
    ) -> CopyResult<()> {
        let task = if resumes { Task::Resume(self.stored(copy).await?) } else { Task::Copy };
        self.each(&task, source, copy, done).await
    }

    /// Compares all blocks.
    pub(crate) async fn compare(&self, source: &Array, copy: &Array, done: Told<'_>) -> CopyResult<()> {
        self.each(&Task::Compare, source, copy, done).await
    }

    /// Returns the indices of all blocks to copy.
    pub(crate) fn all(&self) -> Box<dyn Iterator<Item = Vec<u64>> + Send + '_> {
        match &self.only {
            Some(only) => Box::new(only.iter().cloned()),
            None => Box::new(indices(&self.counts())),
        }
    }

    /// Copies the blocks at these indices, or compares them.
    pub(crate) async fn some(
        &self,
        action: Action,
        indices: &[Vec<u64>],
        source: &Array,
        copy: &Array,
        done: Told<'_>,
    ) -> CopyResult<()> {
        let task = match action {
            Action::Copy => Task::Copy,
            Action::Compare => Task::Compare,
        };
        self.each_of(indices.iter().cloned(), &task, source, copy, done).await
    }

    async fn each(&self, task: &Task, source: &Array, copy: &Array, done: Told<'_>) -> CopyResult<()> {
        self.each_of(self.all(), task, source, copy, done).await
    }

    async fn each_of(
        &self,
        indices: impl Iterator<Item = Vec<u64>> + Send,
        task: &Task,
        source: &Array,
        copy: &Array,
        done: Told<'_>,
    ) -> CopyResult<()> {
        // The threads and handles of a large array are its own. A small one needs neither.
        let cpu = Cpu::threads(if self.bytes <= SMALL { 0 } else { self.shares.threads });
        let of = |array: &Array| match self.bytes <= SMALL {
            true => Ok(array.clone().with_cpu(cpu.clone())),
            false => limited(array, &self.registry, &cpu, self.shares.in_flight),
        };
        let (source, copy) = (&of(source)?, &of(copy)?);
        let one = |index: Vec<u64>| async move {
            let spans = self.spans(&index);
            let _taken = self.room.take(self.choice.memory).await;
            match task {
                Task::Copy => self.copy_box(source, copy, &spans).await?,
                Task::Resume(there) if there.contains(&index) => {
                    self.resume_block(source, copy, &index, &spans).await?;
                }
                Task::Resume(_) => self.copy_box(source, copy, &spans).await?,
                Task::Compare => self.compare_box(source, copy, &spans).await?,
            }
            done(self.length(&index));
            Ok::<_, CopyError>(())
        };
        let mut all = pin!(stream::iter(indices).map(one).buffer_unordered(AT_ONCE));
        while all.try_next().await?.is_some() {
            pause().await;
        }
        Ok(())
    }

    /// Copies a box of whole chunks of the copy.
    async fn copy_box(&self, source: &Array, copy: &Array, spans: &[Range<u64>]) -> CopyResult<()> {
        let elements = self.read(source, spans).await?;
        elements.write(copy, spans).await.map_err(|e| self.places.in_copy(e))
    }

    /// Copies the chunks of a block that differ in the copy.
    async fn resume_block(
        &self,
        source: &Array,
        copy: &Array,
        index: &[u64],
        spans: &[Range<u64>],
    ) -> CopyResult<()> {
        if self.is_copied(source, copy, spans).await? {
            return Ok(());
        }
        for chunk in self.chunks_of(index) {
            if !self.is_copied(source, copy, &chunk).await? {
                self.copy_box(source, copy, &chunk).await?;
            }
        }
        Ok(())
    }

    /// Reads the elements of the source that belong into a box of the copy.
    async fn read(&self, source: &Array, spans: &[Range<u64>]) -> CopyResult<Elements> {
        let selection = match &self.part {
            Some(part) => part.selection(spans)?,
            None => spans.into(),
        };
        Elements::read(source, selection).await.map_err(|e| self.places.in_source(e))
    }

    async fn compare_box(&self, source: &Array, copy: &Array, spans: &[Range<u64>]) -> CopyResult<()> {
        let wanted = self.wanted(source, spans).await?;
        if Elements::read(copy, spans).await.map_err(|e| self.places.in_copy(e))? == wanted {
            return Ok(());
        }
        let start: Vec<u64> = spans.iter().map(|span| span.start).collect();
        let message = format!("the elements from {start:?} on differ from the source");
        Err(self.places.in_copy(CopyError::new(CopyErrorKind::Differs, message)))
    }

    /// Whether a box of whole chunks of the copy has the right elements. Corrupt chunks do not.
    async fn is_copied(&self, source: &Array, copy: &Array, spans: &[Range<u64>]) -> CopyResult<bool> {
        let wanted = self.wanted(source, spans).await?;
        match Elements::read(copy, spans).await.map_err(CopyError::from) {
            Ok(there) => Ok(there == wanted),
            Err(e) if e.is_corrupt() => Ok(false),
            Err(e) => Err(self.places.in_copy(e)),
        }
    }

    /// Returns the elements that a box of whole chunks of the copy must have: those of the source, after encoding and
    /// decoding them in memory if the codecs are lossy.
    async fn wanted(&self, source: &Array, spans: &[Range<u64>]) -> CopyResult<Elements> {
        let elements = self.read(source, spans).await?;
        let Some(meta) = &self.lossy else { return Ok(elements) };
        let memory = Storage::from(MemoryStore::new());
        let made = Array::from_metadata(
            memory,
            Prefix::root(),
            meta.clone(),
            Vec::new(),
            &self.registry,
            &OpenOptions::new(),
        );
        let in_copy = |e| self.places.in_copy(e);
        let made = made.map_err(in_copy)?;
        elements.write(&made, spans).await.map_err(in_copy)?;
        Elements::read(&made, spans).await.map_err(in_copy)
    }

    /// Returns the boxes of all chunks in a block.
    fn chunks_of(&self, index: &[u64]) -> impl Iterator<Item = Vec<Range<u64>>> + Send {
        self.chunk_indices(index).map(|chunk| {
            let span = |(dim, i): (usize, &u64)| {
                let length = self.shape[dim];
                let span = self.grid.span(dim, *i).unwrap_or(length..length);
                span.start.min(length)..span.end.min(length)
            };
            chunk.iter().enumerate().map(span).collect()
        })
    }

    /// Returns the indices of all chunks of the copy in a block.
    pub(crate) fn chunk_indices(&self, index: &[u64]) -> impl Iterator<Item = Vec<u64>> + Send + use<> {
        let block = &self.choice.block;
        let first: Vec<u64> = index.iter().zip(block).map(|(i, block)| i * block).collect();
        let left = self.chunks().into_iter().zip(&first).map(|(chunks, first)| chunks - first);
        let counts: Vec<u64> = left.zip(block).map(|(left, block)| left.min(*block)).collect();
        indices(&counts).map(move |chunk| chunk.iter().zip(&first).map(|(i, first)| first + i).collect())
    }

    /// Returns the number of chunks of the copy in each dimension.
    fn chunks(&self) -> Vec<u64> {
        self.shape.iter().enumerate().map(|(dim, length)| self.grid.count(dim, *length)).collect()
    }

    /// Returns the number of blocks in each dimension.
    fn counts(&self) -> Vec<u64> {
        self.chunks().iter().zip(&self.choice.block).map(|(chunks, block)| chunks.div_ceil(*block)).collect()
    }

    fn span(&self, dim: usize, index: u64) -> Range<u64> {
        let (length, block) = (self.shape[dim], self.choice.block[dim]);
        let first = index * block;
        let start = self.grid.span(dim, first).map_or(length, |chunk| chunk.start.min(length));
        let next = first.checked_add(block).and_then(|next| self.grid.span(dim, next));
        start..next.map_or(length, |chunk| chunk.start.min(length))
    }

    /// Returns the block of a position.
    fn find(&self, dim: usize, position: u64) -> Option<u64> {
        Some(self.grid.find(dim, position)? / self.choice.block[dim])
    }

    pub(crate) fn spans(&self, index: &[u64]) -> Vec<Range<u64>> {
        index.iter().enumerate().map(|(dim, i)| self.span(dim, *i)).collect()
    }

    /// Returns the size of the elements in a block, in bytes.
    pub(crate) fn length(&self, index: &[u64]) -> u64 {
        self.spans(index).into_iter().map(|span| span.end - span.start).fold(self.size, u64::saturating_mul)
    }

    /// Returns the blocks that hold stored chunks of `array`.
    async fn stored(&self, array: &Array) -> CopyResult<BTreeSet<Vec<u64>>> {
        let mut blocks = BTreeSet::new();
        let prefix = Prefix::of_node(array.path())?;
        let mut objects = pin!(listed(array.storage(), &prefix));
        while let Some(object) = objects.try_next().await? {
            // A stray object is not part of the array.
            let Some(chunk) = chunk_at(array, &object.key) else {
                node::check_stray(array.storage(), &object).await?;
                continue;
            };
            let spans = chunk.iter().enumerate().map(|(dim, i)| {
                let span = array.chunk_grid().span(dim, *i)?;
                let end = span.end.min(self.shape[dim]);
                if span.start < end { self.find(dim, span.start).zip(self.find(dim, end - 1)) } else { None }
            });
            let Some(spans) = spans.collect::<Option<Vec<_>>>() else { continue };
            let counts: Vec<u64> = spans.iter().map(|(first, last)| last - first + 1).collect();
            if product(&counts) > MANY {
                let message = format!("chunk {chunk:?} would be cut into more than 2^20 blocks");
                return Err(self.places.in_copy(CopyError::node(ArrayErrorKind::LimitExceeded, message)));
            }
            let block = |index: Vec<u64>| index.iter().zip(&spans).map(|(i, (first, _))| first + i).collect();
            blocks.extend(indices(&counts).map(block));
        }
        Ok(blocks)
    }
}

/// The work on each block.
#[derive(Debug)]
enum Task {
    Copy,
    /// The blocks that the copy stores are compared first.
    Resume(BTreeSet<Vec<u64>>),
    Compare,
}

fn bytes_of(shape: &[u64], size: u64) -> u64 {
    u64::try_from(product(shape).saturating_mul(u128::from(size))).unwrap_or(u64::MAX)
}

#[cfg(all(test, feature = "standard"))]
mod tests {
    use zarr_array::blocking::Array;
    use zarr_array::meta::RectilinearGrid;
    use zarr_array::traits::{ChunkRun, RegularGrid};
    use zarr_array::{DataType, block_on};

    use super::*;

    fn parts(grid: Arc<dyn ChunkGrid>, registry: &Registry) -> Parts<'_> {
        let (has_shards, lossy, memory, threads) = (false, None, Allowed::Set(1 << 20), 1);
        Parts { grid, has_shards, keeps_fill: true, lossy, registry, memory, threads, part: None }
    }

    #[test]
    fn a_difference_is_found_with_its_position() {
        let registry = zarr_array::standard();
        let array = |last: u8| {
            let meta = ArrayMeta::builder([2, 2], DataType::UInt8).chunks([1, 2]).build().unwrap();
            let array = Array::create(MemoryStore::new(), "/", meta, &registry).unwrap();
            array.write(.., &[1_u8, 2, 3, last]).unwrap();
            array.into_async()
        };
        let (source, copy) = (array(4), array(5));
        let grid = Arc::new(RegularGrid::new([1, 2]).unwrap());
        let mut work = block_on(Blocks::new(&source, parts(grid, &registry))).unwrap();
        work.choice.block = vec![1, 1];
        let compare = |work: &Blocks, copy: &_| block_on(work.compare(&source, copy, &|_| {}));
        assert!(compare(&work, &source).is_ok());
        let e = compare(&work, &copy).unwrap_err();
        assert_eq!(e.kind(), CopyErrorKind::Differs);
        assert_eq!(e.to_string(), "copy of array \"/\": the elements from [1, 0] on differ from the source");
        block_on(work.copy(false, &source, &copy, &|_| {})).unwrap();
        assert!(compare(&work, &copy).is_ok());
    }

    #[test]
    fn blocks_end_where_chunks_end() {
        let registry = zarr_array::standard();
        let run = |(length, count)| ChunkRun::new(length, count);
        let grid = Arc::new(RectilinearGrid::new([[(4, 2), (2, 1), (9, 3)].map(run).to_vec()]).unwrap());
        let meta = ArrayMeta::builder([21], DataType::UInt8).chunks([21]).build().unwrap();
        let source = Array::create(MemoryStore::new(), "/", meta, &registry).unwrap().into_async();
        let mut work = block_on(Blocks::new(&source, parts(grid, &registry))).unwrap();
        work.choice.block = vec![2];
        let spans: Vec<_> = (0..work.counts()[0]).map(|i| work.span(0, i)).collect();
        assert_eq!(spans, [0..8, 8..19, 19..21]);
        assert_eq!([0, 7, 8, 18, 19].map(|position| work.find(0, position).unwrap()), [0, 0, 1, 1, 2]);
    }
}
