//! The handle on an array.

use std::sync::Arc;

use zarr_meta::{ArrayMeta, Diagnostic};
use zarr_traits::{
    Chain, ChunkGrid, DataType, FillValue, Hints, InnerOrder, Key, KeyEncoding, Limits, Numeric, Registry,
    Storage, StoreResult,
};

use crate::core::{Core, FillChunks, Missing, PartialWrites};
use crate::cpu::Cpu;
use crate::element::{Element, WriteElement, is_named};
use crate::error::ArrayResult;
use crate::indexes::Indexes;
use crate::node::Consolidated;
use crate::select::Selection;
use crate::values::{AnyArray, NdVec, for_data_type};
use crate::{read, rows, write};

/// An array in a store, open: its metadata, resolved, and the means to read and write its elements.
///
/// Cheap to clone. The blocking twin, with the same names, is [`blocking::Array`](crate::blocking::Array).
///
/// ```
/// # use zarr_array::{Array, ArrayResult, NdVec, Registry, Storage};
/// # async fn example(storage: Storage, registry: &Registry) -> ArrayResult<()> {
/// let array = Array::open(storage, "/t2m", registry).await?;
/// let t: NdVec<f32> = array.read([0..24, 100..200, 0..360]).await?;
/// assert_eq!(t.shape(), [24, 100, 360]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Array {
    pub(crate) core: Arc<Core>,
    pub(crate) meta: Arc<ArrayMeta>,
    pub(crate) registry: Registry,
    /// Where the metadata document lies.
    pub(crate) node: Storage,
    pub(crate) consolidated: Consolidated,
    pub(crate) diagnostics: Arc<[Diagnostic]>,
}

impl Array {
    /// The path in the store: `/`, `/a/b`.
    pub fn path(&self) -> &str {
        &self.core.path
    }

    /// The lengths of the dimensions, in elements; none for a scalar.
    pub fn shape(&self) -> &[u64] {
        &self.core.shape
    }

    /// The data type.
    pub fn data_type(&self) -> &DataType {
        &self.core.data_type
    }

    /// The element that stands wherever nothing is stored.
    pub fn fill(&self) -> &FillValue {
        &self.core.fill
    }

    /// How the array is cut into chunks.
    pub fn chunk_grid(&self) -> &dyn ChunkGrid {
        &*self.core.grid
    }

    /// The shape of the chunk at `index` of the grid, in elements; `None` beyond the grid.
    pub fn chunk_shape(&self, index: &[u64]) -> Option<Vec<u64>> {
        if index.len() != self.shape().len() {
            return None;
        }
        index
            .iter()
            .enumerate()
            .map(|(dim, i)| self.core.grid.span(dim, *i).map(|s| s.end - s.start))
            .collect()
    }

    /// How many chunks cover the array, per dimension.
    pub fn chunk_counts(&self) -> Vec<u64> {
        self.shape().iter().enumerate().map(|(dim, len)| self.core.grid.count(dim, *len)).collect()
    }

    /// The key of the chunk at `index` of the grid.
    ///
    /// # Errors
    /// When the key is none that a store may have.
    pub fn chunk_key(&self, index: &[u64]) -> StoreResult<Key> {
        self.core.key(index)
    }

    /// How chunk keys are made.
    pub fn key_encoding(&self) -> &dyn KeyEncoding {
        &*self.core.keys
    }

    /// The codecs.
    pub fn codecs(&self) -> &Chain {
        &self.core.chain
    }

    /// The metadata: the document as it is stored, with the model on top.
    pub fn metadata(&self) -> &ArrayMeta {
        &self.meta
    }

    /// What deviated from the specification when the array was opened, and was tolerated; of an array that this handle has
    /// created, also what is unwise to write.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// The limits on what stored data may make this handle do.
    pub fn limits(&self) -> &Limits {
        &self.core.limits
    }

    /// The storage that the chunks lie in.
    pub fn storage(&self) -> &Storage {
        &self.core.storage
    }

    /// Reads a selection into new memory.
    ///
    /// # Errors
    /// When the selection is not inside the array, `T` is not the element of its data type, a chunk cannot be read or
    /// decoded, or the result exceeds the limits.
    pub async fn read<T: Element>(&self, selection: impl Into<Selection>) -> ArrayResult<NdVec<T>> {
        read::read(&self.core, selection.into(), false).await
    }

    /// Reads a selection into memory that is given away and comes back: its shape must be that of the selection.
    ///
    /// An async read works on other threads, and may be dropped or forgotten half-way; so it cannot borrow.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub async fn read_into<T: Element>(
        &self,
        selection: impl Into<Selection>,
        memory: NdVec<T>,
    ) -> ArrayResult<NdVec<T>> {
        read::read_into(&self.core, selection.into(), memory, false).await
    }

    /// Reads a selection of an array of whatever data type.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub async fn read_any(&self, selection: impl Into<Selection>) -> ArrayResult<AnyArray> {
        self.any(selection.into(), false).await
    }

    /// Reads the bytes of elements of whatever data type, in C order and the byte order of this machine, with the shape
    /// of the selection.
    ///
    /// # Errors
    /// As [`read`](Self::read); [`Unsupported`](crate::ArrayErrorKind::Unsupported) for elements of variable length, which
    /// are read as `Vec<u8>`.
    pub async fn read_bytes(&self, selection: impl Into<Selection>) -> ArrayResult<(Vec<u64>, Vec<u8>)> {
        read::read_bytes(&self.core, selection.into(), false).await
    }

    /// Writes `values` to a selection of the same shape.
    ///
    /// Chunks that are written whole are not read, nor are those at the edge of the array of which all that lies inside is
    /// written, unless there is an object already: others may have made the array longer. A part of a chunk is a
    /// read-modify-write: put only if the object is still what was read, else done again.
    ///
    /// That loses no write of anybody, in this process or another, in a store with conditional puts (a directory, memory,
    /// most buckets); see [`PartialWrites`] for the other ways. Of a shard only the inner chunks that are written are
    /// decoded and encoded; the others keep their bytes, and the object is put anew.
    ///
    /// # Errors
    /// When the selection is not inside the array, shapes differ, `T` is not the element of the data type, or a chunk
    /// cannot be encoded or stored. Chunks before that error are written.
    pub async fn write<T: WriteElement>(
        &self,
        selection: impl Into<Selection>,
        values: NdVec<T>,
    ) -> ArrayResult<()> {
        write::write(&self.core, selection.into(), values, false).await
    }

    /// Writes the bytes of elements of whatever data type, in C order and the byte order of this machine.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub async fn write_bytes(&self, selection: impl Into<Selection>, bytes: Vec<u8>) -> ArrayResult<()> {
        write::write_bytes(&self.core, selection.into(), bytes, false).await
    }

    /// The same array, decoding and encoding on other threads.
    #[must_use]
    pub fn with_cpu(self, cpu: Cpu) -> Self {
        self.with(|core| core.cpu = cpu)
    }

    /// The same array with other limits on what a chunk or a result may be.
    #[must_use]
    pub fn with_limits(self, limits: Limits) -> Self {
        self.with(|core| core.limits = limits)
    }

    /// The same array with room for `requests` and `bytes` in flight at once, over all reads and writes of this handle.
    /// In a local store it bounds the chunks (shards) that one read or write works on at once: so many `bytes` decoded, and
    /// one chunk in any case.
    #[must_use]
    pub fn with_in_flight(self, requests: usize, bytes: u64) -> Self {
        self.with(|core| core.storage = core.storage.with_in_flight(requests, bytes))
    }

    /// The same array, to which a missing chunk means something else.
    #[must_use]
    pub fn with_missing(self, missing: Missing) -> Self {
        self.with(|core| core.missing = missing)
    }

    /// The same array, which stores chunks of nothing but fill values, or not.
    #[must_use]
    pub fn with_fill_chunks(self, fill_chunks: FillChunks) -> Self {
        self.with(|core| core.fill_chunks = fill_chunks)
    }

    /// The same array, which writes parts of chunks in another way.
    #[must_use]
    pub fn with_partial_writes(self, partial_writes: PartialWrites) -> Self {
        self.with(|core| core.partial_writes = partial_writes)
    }

    /// The same array, which stores the inner chunks of its shards in this order. Readers need not know.
    #[must_use]
    pub fn with_inner_order(self, order: InnerOrder) -> Self {
        self.with(|core| core.inner_order = order)
    }

    /// How parts of objects are fetched.
    pub fn fetching(&self) -> Hints {
        self.core.fetching
    }

    /// The same array, which fetches parts of objects in another way.
    ///
    /// ```
    /// # fn example(array: zarr_array::Array) -> zarr_array::Array {
    /// let mut fetching = array.fetching();
    /// fetching.gap = 64 << 10;     // a slow disk: read over longer gaps
    /// array.with_fetching(fetching)
    /// # }
    /// ```
    #[must_use]
    pub fn with_fetching(self, fetching: Hints) -> Self {
        self.with(|core| core.fetching = fetching)
    }

    /// The same array with a cache of its own for `bytes` of indexes of shards; 0 turns it off. By default a handle and
    /// its clones share one of 32 MiB.
    ///
    /// A remembered index is used only together with the very version of the object that it was read from: a shard that
    /// anybody has written since is noticed, and its index read again. In a store without versions nothing is remembered.
    #[must_use]
    pub fn with_index_cache(self, bytes: usize) -> Self {
        self.with(|core| core.indexes = Arc::new(Indexes::new(bytes)))
    }

    /// The same array, whose changes of metadata do something else to consolidated metadata in the groups above it. By
    /// default that is kept up to date, for which every change looks at each of these groups: a read for each, at once.
    #[must_use]
    pub fn with_consolidated(mut self, consolidated: Consolidated) -> Self {
        self.consolidated = consolidated;
        self
    }

    fn with(mut self, change: impl FnOnce(&mut Core)) -> Self {
        change(Arc::make_mut(&mut self.core));
        self
    }

    pub(crate) async fn any(&self, selection: Selection, may_block: bool) -> ArrayResult<AnyArray> {
        macro_rules! typed {
            ($variant:ident, $element:ty) => {
                AnyArray::$variant(read::read::<$element>(&self.core, selection, may_block).await?)
            };
        }
        Ok(for_data_type!(self.data_type(), typed, {
            if rows::is_struct(self.data_type()) {
                return Ok(AnyArray::Rows(rows::read(&self.core, selection, may_block).await?));
            }
            if self.data_type().size().is_none() {
                let contents = read::read(&self.core, selection, may_block).await?;
                return Ok(AnyArray::Variable { data_type: self.data_type().clone(), contents });
            }
            let (shape, bytes) = read::read_bytes(&self.core, selection, may_block).await?;
            AnyArray::Other { data_type: self.data_type().clone(), shape, bytes }
        }))
    }
}
