//! The state of an open array: everything that a read or a write of a chunk needs.

use std::sync::Arc;

use zarr_engine::{Chain, Gate};
use zarr_traits::{
    ChunkGrid, DataType, Dims, Fetching, FillValue, Key, KeyEncoding, Limits, Prefix, Scratch, Storage,
    StoreResult,
    heap::Heap,
    update::{InnerChunks, InnerOrder},
};

use crate::chunk_cache::Decoded;
use crate::cpu::Cpu;
use crate::element::Form;
use crate::error::{ArrayError, ArrayErrorKind, ArrayResult};
use crate::feed::Place;
use crate::plan::Plan;
use crate::progress::Progress;
use crate::select::Along;
use crate::versioned::Indexes;

/// What a read does if a chunk is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum MissingChunks {
    /// The chunk reads as the fill value, as the specification says.
    #[default]
    Fill,
    /// The read fails with an error of kind [`NotFound`](crate::ArrayErrorKind::NotFound). For data that must be
    /// complete.
    Error,
}

/// What a write does with an empty chunk or inner chunk, in which every element is the fill value, bit for bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum EmptyChunks {
    /// The chunk is not stored. An existing object is deleted.
    #[default]
    Skip,
    /// The chunk is stored like any other.
    Store,
}

/// How part of a chunk is written while other writers may write the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum PartialWrites {
    /// The object is put only if the stored one is still the version that was read; otherwise it is read again. No
    /// writer loses an update. An error in a store without conditional puts.
    #[default]
    Safe,
    /// Writes of parts of chunks are errors. A write must cover every chunk (or shard) as far as it lies inside the
    /// array.
    RejectUnaligned,
    /// The object is put unconditionally. For a single writer, in a store without conditional puts.
    Unchecked,
}

/// The largest part of a shard that is fetched and decoded at once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BlockSize {
    /// The number of inner chunks.
    pub(crate) inner_chunks: u64,
    /// The decoded bytes of the inner chunks. A single inner chunk may be larger.
    pub(crate) bytes: u64,
}

impl Default for BlockSize {
    /// A read keeps some hundred bytes for each inner chunk: a few megabytes for this many.
    fn default() -> Self {
        Self { inner_chunks: 1 << 14, bytes: 64 << 20 }
    }
}

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
    pub(crate) block_size: BlockSize,
    pub(crate) progress: Option<Progress>,
    /// Whether other writers may have lengthened the array, so that a write must not fill elements beyond its edge.
    pub(crate) beside: bool,
}

impl Core {
    pub(crate) fn place(&self, may_block: bool) -> Place {
        Place {
            storage: self.storage.clone(),
            gate: self.gate.clone(),
            cpu: self.cpu.clone(),
            progress: self.progress.clone(),
            may_block,
        }
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
        Err(ArrayError::new(ArrayErrorKind::Unsupported, message).in_array(&self.path))
    }

    /// Whether chunks have inner chunks.
    pub(crate) fn has_inner(&self) -> bool {
        self.chain.inner_shape(self.shape.len()).is_some()
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

    /// Returns the decoded size of the largest chunk of a plan, in bytes.
    pub(crate) fn chunk_bytes(&self, plan: &Plan) -> u64 {
        plan.largest_chunk().saturating_mul(self.size as u64)
    }

    /// Returns the size of decoded elements of this shape, in bytes.
    pub(crate) fn bytes_of(&self, shape: &[u64]) -> u64 {
        Dims::from(shape).product().unwrap_or(u64::MAX).saturating_mul(self.size as u64)
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
