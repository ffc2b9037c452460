//! The state of an open array: everything that a read or a write of a chunk needs.

use std::sync::Arc;

use zarr_engine::run::{Place, Progress};
use zarr_engine::{Chain, Gate};
use zarr_strided::Dims;
use zarr_traits::{
    ChunkGrid, DataType, Fetching, FillValue, Key, KeyEncoding, Limits, Prefix, RegularGrid, Scratch,
    Storage, StoreResult,
    heap::Heap,
    update::{InnerChunks, InnerOrder},
};

use crate::cpu::Cpu;
use crate::element::Form;
use crate::error::{ArrayError, ArrayErrorKind, ArrayResult};
use crate::io::chunk_cache::Decoded;
use crate::io::versioned::Indexes;
use crate::plan::chunks::Chunk;
use crate::plan::{Inner, Layout};
use crate::select::Along;
use crate::settings::{BlockSize, EmptyChunks, MissingChunks, PartialWrites};

/// An open array, resolved. It is cloned only when a setting of its handle changes.
#[derive(Debug, Clone)]
pub(crate) struct Core {
    pub(crate) path: String,
    pub(crate) prefix: Prefix,
    /// The storage of the chunks, with the storage transformers of the array applied.
    pub(crate) storage: Storage,
    pub(crate) gate: Gate,
    pub(crate) shape: Dims,
    pub(crate) data_type: DataType,
    /// The size of an element in memory, in bytes.
    pub(crate) size: usize,
    pub(crate) fill: FillValue,
    /// The fill value in its form in memory.
    pub(crate) fill_element: FillValue,
    pub(crate) grid: Arc<dyn ChunkGrid>,
    pub(crate) keys: Arc<dyn KeyEncoding>,
    pub(crate) chain: Arc<Chain>,
    pub(crate) limits: Limits,
    pub(crate) cpu: Cpu,
    pub(crate) missing: MissingChunks,
    pub(crate) empty_chunks: EmptyChunks,
    pub(crate) inner_order: InnerOrder,
    pub(crate) partial_writes: PartialWrites,
    pub(crate) fetching: Fetching,
    pub(crate) indexes: Arc<Indexes>,
    /// The cache of decoded chunks, if the handle has one.
    pub(crate) decoded: Option<Decoded>,
    /// Whether a codec that no document names changes the elements.
    pub(crate) is_recoded: bool,
    pub(crate) block_size: BlockSize,
    pub(crate) progress: Option<Progress>,
    /// Whether a blocking handle uses it, so that calls may block their thread.
    pub(crate) may_block: bool,
    /// Whether other writers may have lengthened the array, so that a write must not fill elements beyond its edge.
    pub(crate) beside: bool,
}

impl Core {
    /// Adds the array and the location of its store to an error.
    pub(crate) fn in_array(&self, e: impl Into<ArrayError>) -> ArrayError {
        e.into().in_array(&self.path, &self.storage)
    }

    pub(crate) fn place(&self) -> Place {
        Place::new(self.storage.clone(), self.gate.clone())
            .pool(self.cpu.pool().cloned())
            .progress(self.progress.clone())
            .may_block(self.may_block)
    }

    /// Returns a heap of at most `limit` bytes for the contents of one read or write, or `None` for fixed-size
    /// elements.
    pub(crate) fn heap(&self, limit: u64) -> Option<Arc<Heap>> {
        let variable = self.data_type.size().is_none();
        variable.then(|| Arc::new(Heap::new(self.fill.clone(), limit)))
    }

    /// Returns the form of the elements at `places`.
    pub(crate) fn form<'a>(&'a self, heap: Option<&'a Heap>, places: &'a [Along]) -> Form<'a> {
        Form::new(&self.data_type, heap, self.limits.result_bytes, places)
    }

    /// Checks that elements have a fixed size, so that they can be read and written as bytes.
    pub(crate) fn check_fixed(&self) -> ArrayResult<()> {
        if self.data_type.size().is_some() {
            return Ok(());
        }
        let message = format!("elements of data type {} have no fixed size", self.data_type);
        Err(self.in_array(ArrayError::new(ArrayErrorKind::Unsupported, message)))
    }

    /// Returns the cache of decoded chunks, if reads use it: chunks without compression and elements of variable length are
    /// read without.
    pub(crate) fn decoded(&self) -> Option<&Decoded> {
        let is_useful = self.data_type.size().is_some() && !self.chain.is_plain();
        self.decoded.as_ref().filter(|_| is_useful)
    }

    /// Whether chunks have inner chunks.
    pub(crate) fn has_inner(&self) -> bool {
        self.chain.inner_shape(self.shape.len()).is_some()
    }

    /// Returns the shape of inner chunks and how many are read at once, or `None` if chunks have no inner chunks.
    pub(crate) fn inner(&self) -> Option<Inner> {
        let shape = self.chain.inner_shape(self.shape.len())?;
        let BlockSize { inner_chunks, bytes } = self.block_size;
        let together = inner_chunks.min(bytes / self.bytes_of(&shape).max(1));
        Some(Inner { shape, together })
    }

    /// Returns the properties of the array that a plan needs.
    pub(crate) fn layout(&self) -> Layout<'_> {
        let inner = self.inner();
        Layout {
            shape: &self.shape,
            grid: &*self.grid,
            reads_parts: inner.is_some() || self.chain.is_plain(),
            gap: self.fetching.gap / (self.size as u64).max(1),
            inner,
        }
    }

    /// The settings for storing inner chunks.
    pub(crate) fn inner_chunks(&self) -> InnerChunks {
        let mut how = InnerChunks::default();
        (how.order, how.store_fill) = (self.inner_order, self.empty_chunks == EmptyChunks::Store);
        how
    }

    pub(crate) fn key(&self, chunk: &[u64]) -> StoreResult<Key> {
        let mut key = String::with_capacity(self.prefix.as_str().len() + 8 + 4 * chunk.len());
        key.push_str(self.prefix.as_str());
        self.keys.encode(chunk, &mut key);
        Key::new(key)
    }

    /// Adds the chunk to an error.
    pub(crate) fn locate(&self, chunk: &Dims, error: ArrayError) -> ArrayError {
        match self.key(chunk) {
            Ok(key) => error.in_chunk(chunk, &key),
            Err(_) => error,
        }
    }

    /// Returns the size of decoded elements of this shape, in bytes.
    pub(crate) fn bytes_of(&self, shape: &[u64]) -> u64 {
        Dims::from(shape).product().unwrap_or(u64::MAX).saturating_mul(self.size as u64)
    }

    /// Returns the chunk at `index` of the chunk grid.
    pub(crate) fn chunk(&self, index: &[u64]) -> ArrayResult<Chunk> {
        self.chunk_of(&*self.grid, "chunk", index)
    }

    /// Returns the inner chunk at `index` of the grid of inner chunks of the whole array.
    pub(crate) fn inner_chunk(&self, index: &[u64]) -> ArrayResult<Chunk> {
        self.chunk_of(&*self.smallest_grid()?, "inner chunk", index)
    }

    fn chunk_of(&self, grid: &dyn ChunkGrid, what: &str, index: &[u64]) -> ArrayResult<Chunk> {
        Chunk::at(index, grid, &self.shape).ok_or_else(|| {
            let shape = &self.shape;
            ArrayError::invalid(format!("{what} {index:?} is outside the array of shape {shape:?}"))
        })
    }

    /// Returns the grid of inner chunks, or the chunk grid if there are none.
    pub(crate) fn smallest_grid(&self) -> ArrayResult<Arc<dyn ChunkGrid>> {
        Ok(match self.chain.inner_shape(self.shape.len()) {
            Some(inner) => Arc::new(RegularGrid::new(inner)?),
            None => self.grid.clone(),
        })
    }
}

/// Runs `work` with the heap of this read or write in `scratch`, and takes the heap out again, so that contents are not
/// kept.
pub(crate) fn with_heap<R>(
    heap: Option<&Arc<Heap>>,
    scratch: &mut Scratch,
    work: impl FnOnce(&mut Scratch) -> R,
) -> R {
    scratch.set_heap(heap.cloned());
    let result = work(scratch);
    scratch.set_heap(None);
    result
}
