//! The same array for programs without async: the same names, the same engine, no runtime anywhere.

use std::ops::Deref;

use zarr_meta::ArrayMeta;
use zarr_meta::json::Object;
use zarr_traits::{Hints, InnerOrder, Limits, Registry, Storage, block_on};

use crate::core::{FillChunks, Missing, PartialWrites};
use crate::cpu::Cpu;
use crate::create::CreateOptions;
use crate::element::{Element, WriteElement};
use crate::error::ArrayResult;
use crate::explain::{Explanation, InnerChunk};
use crate::node::Consolidated;
use crate::open::OpenOptions;
use crate::resize::Shrink;
use crate::select::Selection;
use crate::values::{AnyArray, NdVec};
use crate::{read, write};

/// The blocking twin of [`zarr_array::Array`](crate::Array), to which it dereferences for everything that reads and
/// writes nothing.
///
/// ```
/// # use zarr_array::{ArrayResult, NdVec, Registry, Storage, blocking::Array};
/// # fn example(storage: Storage, registry: &Registry) -> ArrayResult<()> {
/// let array = Array::open(storage, "/t2m", registry)?;
/// let day: NdVec<f32> = array.read([0..24, 100..200, 0..360])?;
/// let mut buffer = vec![0.0_f32; 24 * 100 * 360];
/// array.read_into([0..24, 100..200, 0..360], &mut buffer)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Array(crate::Array);

impl Array {
    /// As [`zarr_array::Array::open`](crate::Array::open).
    ///
    /// # Errors
    /// As there.
    pub fn open(storage: impl Into<Storage>, path: &str, registry: &Registry) -> ArrayResult<Self> {
        block_on(crate::Array::open(storage, path, registry)).map(Self)
    }

    /// As [`zarr_array::Array::create`](crate::Array::create).
    ///
    /// # Errors
    /// As there.
    pub fn create(
        storage: impl Into<Storage>,
        path: &str,
        meta: ArrayMeta,
        registry: &Registry,
    ) -> ArrayResult<Self> {
        block_on(crate::Array::create(storage, path, meta, registry)).map(Self)
    }

    /// As [`zarr_array::Array::replace`](crate::Array::replace).
    ///
    /// # Errors
    /// As there.
    pub fn replace(
        storage: impl Into<Storage>,
        path: &str,
        meta: ArrayMeta,
        registry: &Registry,
    ) -> ArrayResult<Self> {
        block_on(crate::Array::replace(storage, path, meta, registry)).map(Self)
    }

    /// As [`OpenOptions::open`].
    ///
    /// # Errors
    /// As there.
    pub fn open_with(
        storage: impl Into<Storage>,
        path: &str,
        registry: &Registry,
        options: &OpenOptions,
    ) -> ArrayResult<Self> {
        block_on(options.open(storage, path, registry)).map(Self)
    }

    /// As [`CreateOptions::create`].
    ///
    /// # Errors
    /// As there.
    pub fn create_with(
        storage: impl Into<Storage>,
        path: &str,
        meta: ArrayMeta,
        registry: &Registry,
        options: &CreateOptions,
    ) -> ArrayResult<Self> {
        block_on(options.create(storage, path, meta, registry)).map(Self)
    }

    /// As [`zarr_array::Array::read`](crate::Array::read).
    ///
    /// # Errors
    /// As there.
    pub fn read<T: Element>(&self, selection: impl Into<Selection>) -> ArrayResult<NdVec<T>> {
        block_on(read::read(&self.0.core, selection.into(), true))
    }

    /// Reads a selection into borrowed memory, which must have as many elements.
    ///
    /// # Errors
    /// As [`zarr_array::Array::read`](crate::Array::read); the memory then holds whatever had been read.
    pub fn read_into<T: Element>(&self, selection: impl Into<Selection>, into: &mut [T]) -> ArrayResult<()> {
        read::read_into_slice(&self.0.core, &selection.into(), into)
    }

    /// As [`zarr_array::Array::read_any`](crate::Array::read_any).
    ///
    /// # Errors
    /// As there.
    pub fn read_any(&self, selection: impl Into<Selection>) -> ArrayResult<AnyArray> {
        block_on(self.0.any(selection.into(), true))
    }

    /// As [`zarr_array::Array::read_bytes`](crate::Array::read_bytes).
    ///
    /// # Errors
    /// As there.
    pub fn read_bytes(&self, selection: impl Into<Selection>) -> ArrayResult<(Vec<u64>, Vec<u8>)> {
        block_on(read::read_bytes(&self.0.core, selection.into(), true))
    }

    /// Writes borrowed elements, in C order, to a selection of as many.
    ///
    /// # Errors
    /// As [`zarr_array::Array::write`](crate::Array::write).
    pub fn write<T: WriteElement>(&self, selection: impl Into<Selection>, values: &[T]) -> ArrayResult<()> {
        write::write_slice(&self.0.core, &selection.into(), values)
    }

    /// As [`zarr_array::Array::write_bytes`](crate::Array::write_bytes).
    ///
    /// # Errors
    /// As there.
    pub fn write_bytes(&self, selection: impl Into<Selection>, bytes: Vec<u8>) -> ArrayResult<()> {
        block_on(write::write_bytes(&self.0.core, selection.into(), bytes, true))
    }

    /// As [`zarr_array::Array::resize`](crate::Array::resize).
    ///
    /// # Errors
    /// As there.
    pub fn resize(&mut self, shape: impl Into<Vec<u64>>) -> ArrayResult<()> {
        self.resize_with(shape, Shrink::default())
    }

    /// As [`zarr_array::Array::resize_with`](crate::Array::resize_with).
    ///
    /// # Errors
    /// As there.
    pub fn resize_with(&mut self, shape: impl Into<Vec<u64>>, shrink: Shrink) -> ArrayResult<()> {
        block_on(self.0.change_shape(&shape.into(), shrink, true))
    }

    /// As [`zarr_array::Array::append`](crate::Array::append).
    ///
    /// # Errors
    /// As there.
    pub fn append<T: WriteElement>(&mut self, axis: usize, values: NdVec<T>) -> ArrayResult<()> {
        block_on(self.0.append_with(axis, values, true))
    }

    /// As [`zarr_array::Array::edit_attributes`](crate::Array::edit_attributes).
    ///
    /// # Errors
    /// As there.
    pub fn edit_attributes(&mut self, change: impl Fn(&mut Object)) -> ArrayResult<()> {
        block_on(self.0.edit_attributes(change))
    }

    /// As [`zarr_array::Array::explain`](crate::Array::explain).
    ///
    /// # Errors
    /// As there.
    pub fn explain(&self, selection: impl Into<Selection>) -> ArrayResult<Explanation> {
        block_on(self.0.explain(selection))
    }

    /// As [`zarr_array::Array::inner_chunks`](crate::Array::inner_chunks).
    ///
    /// # Errors
    /// As there.
    pub fn inner_chunks(&self, index: &[u64]) -> ArrayResult<Option<Vec<InnerChunk>>> {
        block_on(self.0.inner_chunks(index))
    }

    /// As [`zarr_array::Array::with_cpu`](crate::Array::with_cpu).
    #[must_use]
    pub fn with_cpu(self, cpu: Cpu) -> Self {
        Self(self.0.with_cpu(cpu))
    }

    /// As [`zarr_array::Array::with_limits`](crate::Array::with_limits).
    #[must_use]
    pub fn with_limits(self, limits: Limits) -> Self {
        Self(self.0.with_limits(limits))
    }

    /// As [`zarr_array::Array::with_in_flight`](crate::Array::with_in_flight).
    #[must_use]
    pub fn with_in_flight(self, requests: usize, bytes: u64) -> Self {
        Self(self.0.with_in_flight(requests, bytes))
    }

    /// As [`zarr_array::Array::with_missing`](crate::Array::with_missing).
    #[must_use]
    pub fn with_missing(self, missing: Missing) -> Self {
        Self(self.0.with_missing(missing))
    }

    /// As [`zarr_array::Array::with_fill_chunks`](crate::Array::with_fill_chunks).
    #[must_use]
    pub fn with_fill_chunks(self, fill_chunks: FillChunks) -> Self {
        Self(self.0.with_fill_chunks(fill_chunks))
    }

    /// As [`zarr_array::Array::with_partial_writes`](crate::Array::with_partial_writes).
    #[must_use]
    pub fn with_partial_writes(self, partial_writes: PartialWrites) -> Self {
        Self(self.0.with_partial_writes(partial_writes))
    }

    /// As [`zarr_array::Array::with_inner_order`](crate::Array::with_inner_order).
    #[must_use]
    pub fn with_inner_order(self, order: InnerOrder) -> Self {
        Self(self.0.with_inner_order(order))
    }

    /// As [`zarr_array::Array::with_fetching`](crate::Array::with_fetching).
    #[must_use]
    pub fn with_fetching(self, fetching: Hints) -> Self {
        Self(self.0.with_fetching(fetching))
    }

    /// As [`zarr_array::Array::with_index_cache`](crate::Array::with_index_cache).
    #[must_use]
    pub fn with_index_cache(self, bytes: usize) -> Self {
        Self(self.0.with_index_cache(bytes))
    }

    /// As [`zarr_array::Array::with_consolidated`](crate::Array::with_consolidated).
    #[must_use]
    pub fn with_consolidated(self, consolidated: Consolidated) -> Self {
        Self(self.0.with_consolidated(consolidated))
    }

    /// The async handle.
    pub fn into_async(self) -> crate::Array {
        self.0
    }
}

impl From<crate::Array> for Array {
    fn from(array: crate::Array) -> Self {
        Self(array)
    }
}

impl Deref for Array {
    type Target = crate::Array;

    fn deref(&self) -> &crate::Array {
        &self.0
    }
}
