//! What an open array is made of: everything that a read or a write of a chunk needs to know.

use std::sync::Arc;

use zarr_engine::{Chain, Gate};
use zarr_traits::{
    ChunkGrid, DataType, Dims, FillValue, Key, KeyEncoding, Limits, Prefix, Scratch, Storage, StoreResult,
    heap::Heap,
    partial::Hints,
    update::{InnerChunks, InnerOrder},
};

use crate::cpu::Cpu;
use crate::element::Form;
use crate::error::{ArrayError, ArrayErrorKind, ArrayResult};
use crate::feed::Place;
use crate::indexes::Indexes;
use crate::plan::Plan;
use crate::select::Picked;

/// What a read does where a chunk is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum MissingChunks {
    /// It reads as the fill value, as the specification says.
    #[default]
    Fill,
    /// It fails with an error of kind [`NotFound`](crate::ArrayErrorKind::NotFound): for data that must be complete.
    Error,
}

/// What a write does with an empty chunk, or inner chunk: one in which every element is the fill value, bit for bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum EmptyChunks {
    /// The chunk is not stored. An object that was stored before is deleted.
    #[default]
    Skip,
    /// The chunk is stored like any other.
    Store,
}

/// How part of a chunk is written while others may write the rest of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum PartialWrites {
    /// The object is put only if it is still the version that was read, else it is read again. No writer loses an update.
    /// Refused in a store without conditional puts.
    #[default]
    Safe,
    /// Refused. Every write must cover whole chunks (whole shards), as far as they lie inside the array.
    RejectUnaligned,
    /// The object is put unconditionally: for a single writer, in a store without conditional puts.
    Unchecked,
}

/// How much of a shard is fetched and decoded at once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BlockSize {
    /// Inner chunks.
    pub(crate) inner_chunks: u64,
    /// Bytes of inner chunks, decoded; a single one may be larger.
    pub(crate) bytes: u64,
}

impl Default for BlockSize {
    /// What is known of an inner chunk while it is read takes some hundred bytes: a few megabytes for this many.
    fn default() -> Self {
        Self { inner_chunks: 1 << 14, bytes: 64 << 20 }
    }
}

/// An open array, resolved. Cloned only when a setting of its handle is changed.
#[derive(Debug, Clone)]
pub(crate) struct Core {
    pub(crate) path: String,
    pub(crate) prefix: Prefix,
    /// Where chunks lie: the storage behind the array's storage transformers.
    pub(crate) storage: Storage,
    pub(crate) gate: Gate,
    pub(crate) shape: Dims,
    pub(crate) data_type: DataType,
    /// Bytes of an element in memory.
    pub(crate) size: usize,
    pub(crate) fill: FillValue,
    /// The fill value as it lies in memory.
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
    pub(crate) fetching: Hints,
    pub(crate) indexes: Arc<Indexes>,
    pub(crate) block_size: BlockSize,
    /// Whether others may have made the array longer meanwhile: what lies beyond its edge is not ours to fill.
    pub(crate) beside: bool,
}

impl Core {
    pub(crate) fn place(&self, may_block: bool) -> Place {
        Place { storage: self.storage.clone(), gate: self.gate.clone(), cpu: self.cpu.clone(), may_block }
    }

    /// What the elements of one read or write will contain, where they differ in length: not more than `limit` bytes.
    pub(crate) fn heap(&self, limit: u64) -> Option<Arc<Heap>> {
        let variable = self.data_type.size().is_none();
        variable.then(|| Arc::new(Heap::new(self.fill.clone(), limit)))
    }

    /// What the elements at `places` are made from, or into.
    pub(crate) fn form<'a>(&'a self, heap: Option<&'a Heap>, places: &'a [Picked]) -> Form<'a> {
        Form::new(&self.data_type, heap, self.limits.result_bytes, places)
    }

    /// Whether elements have a size, so that they can be handed out as bytes.
    pub(crate) fn check_fixed(&self) -> ArrayResult<()> {
        if self.data_type.size().is_some() {
            return Ok(());
        }
        let message = format!("elements of data type {} differ in length", self.data_type);
        Err(ArrayError::new(ArrayErrorKind::Unsupported, message).in_array(&self.path))
    }

    /// Whether chunks are made of inner chunks, between which there may be anything.
    pub(crate) fn has_inner(&self) -> bool {
        self.chain.inner_shape(self.shape.len()).is_some()
    }

    /// How inner chunks are stored.
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

    /// An error with the chunk that it is about.
    pub(crate) fn locate(&self, chunk: &Dims, error: ArrayError) -> ArrayError {
        match self.key(chunk) {
            Ok(key) => error.in_chunk(chunk, &key),
            Err(_) => error,
        }
    }

    /// Decoded bytes of the largest chunk of a plan.
    pub(crate) fn chunk_bytes(&self, plan: &Plan) -> u64 {
        plan.largest_chunk().saturating_mul(self.size as u64)
    }

    /// Bytes of decoded elements in this shape.
    pub(crate) fn bytes_of(&self, shape: &[u64]) -> u64 {
        Dims::from(shape).product().unwrap_or(u64::MAX).saturating_mul(self.size as u64)
    }
}

/// Runs `work` with scratch that knows the heap of this read or write, and no longer: what elements contain is not kept.
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
