//! Arrays for programs without async: the same names and the same engine as the async handle, without a runtime.

mod block_writer;
mod chunks;
mod each;
mod open;
mod shape;

use std::mem::MaybeUninit;
use std::sync::Arc;

use serde_core::Serialize;
use serde_core::de::DeserializeOwned;
use zarr_engine::Chain;
use zarr_engine::run::Progress;
use zarr_meta::json::Object;
use zarr_meta::{ArrayBuilder, ArrayMeta, Diagnostic};
use zarr_strided::Plain;
use zarr_traits::{
    ChunkGrid, DataType, Fetching, FillValue, Key, KeyEncoding, Limits, Storage, StoreResult, block_on,
    update::InnerOrder,
};

use crate::cpu::Cpu;
use crate::element::any::AnyArray;
use crate::element::borrowed::{ArrayMemory, ArrayValues};
use crate::element::rows::Rows;
use crate::element::{Element, WriteElement};
use crate::error::ArrayResult;
use crate::handles::common::common_methods;
use crate::handles::explain::{Explanation, InnerChunk};
use crate::handles::resize::CutElements;
use crate::io::chunk_cache::ChunkCache;
use crate::io::versioned::Indexes;
use crate::io::{read, write};
use crate::node::ConsolidatedPolicy;
use crate::plan::chunks::{Chunk, Chunks, blocks};
use crate::select::Selection;
use crate::settings::{BlockSize, EmptyChunks, MissingChunks, PartialWrites};
use crate::values::NdVec;

pub use block_writer::BlockWriter;
pub use each::ReadEach;

/// An array in a store, for programs without async. It has the methods of [`zarr_array::Array`](crate::Array); each
/// returns when it is done.
///
/// Cheap to clone. Calls block the thread, so async programs use [`zarr_array::Array`](crate::Array);
/// [`into_async`](Self::into_async) converts the handle.
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
    common_methods!();

    /// Reads a selection into new memory. The result has the dimensions of the selection; an index drops its dimension.
    ///
    /// ```
    /// # use zarr_array::{ArrayMeta, ArrayResult, DataType, NdVec, blocking::Array, standard};
    /// # let meta = ArrayMeta::builder([4, 6], DataType::Int32).chunks([2, 3]).build()?;
    /// # let array = Array::create(zarr_store::MemoryStore::new(), "/a", meta, &standard())?;
    /// array.write([1..3, 0..2], &[1, 2, 3, 4])?;
    /// let part: NdVec<i32> = array.read([2..4, 0..3])?;
    /// assert_eq!((part.shape(), part.as_slice()), (&[2, 3][..], &[3, 4, 0, 0, 0, 0][..]));
    /// assert_eq!(array.read::<i32>((2, ..))?.shape(), [6]);
    /// # ArrayResult::Ok(())
    /// ```
    ///
    /// # Errors
    /// As [`zarr_array::Array::read`](crate::Array::read).
    #[doc(alias("retrieve", "subset", "retrieve_array_subset"))]
    pub fn read<T: Element>(&self, selection: impl Into<Selection>) -> ArrayResult<NdVec<T>> {
        block_on(self.0.read(selection))
    }

    /// Reads a selection into borrowed memory: a slice in C order with the length of the selection, or memory with any
    /// strides and the shape of the selection, such as a view of `ndarray`.
    ///
    /// ```
    /// # use zarr_array::{ArrayResult, blocking::Array};
    /// # fn example(array: Array) -> ArrayResult<()> {
    /// let mut frame = vec![0.0_f32; 180 * 360];
    /// for hour in 0..array.shape()[0] {
    ///     array.read_into((hour, 0..180, 0..360), &mut frame)?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`zarr_array::Array::read`](crate::Array::read). After an error, part of `into` may be overwritten.
    pub fn read_into<T: Element>(
        &self,
        selection: impl Into<Selection>,
        into: &mut (impl ArrayMemory<T> + ?Sized),
    ) -> ArrayResult<()> {
        let has_shape = into.has_shape();
        read::read_into_view(&self.0.core, selection.into(), into.as_view_mut(), has_shape)
    }

    /// Reads a selection into memory that the call owns meanwhile, and returns it. The shape of `memory` must be that of the
    /// selection. [`read_into`](Self::read_into) borrows the memory.
    ///
    /// # Errors
    /// As [`zarr_array::Array::read_owned`](crate::Array::read_owned).
    pub fn read_owned<T: Element>(
        &self,
        selection: impl Into<Selection>,
        memory: NdVec<T>,
    ) -> ArrayResult<NdVec<T>> {
        block_on(self.0.read_owned(selection, memory))
    }

    /// Reads a selection into borrowed memory without values, in C order, and returns it with the values. `into` must
    /// have the length of the selection.
    ///
    /// ```
    /// # use zarr_array::{ArrayResult, blocking::Array};
    /// # fn example(array: Array) -> ArrayResult<()> {
    /// let mut buffer = Vec::<f32>::with_capacity(180 * 360);
    /// let frame: &mut [f32] = array.read_uninit((0, ..180, ..360), &mut buffer.spare_capacity_mut()[..180 * 360])?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`read_into`](Self::read_into).
    pub fn read_uninit<'a, T: Element + Plain>(
        &self,
        selection: impl Into<Selection>,
        into: &'a mut [MaybeUninit<T>],
    ) -> ArrayResult<&'a mut [T]> {
        let into = zarr_strided::zero(into);
        self.read_into(selection, into)?;
        Ok(into)
    }

    /// Reads one selection after the other: an iterator over values in the order of `selections`. Up to `ahead` further
    /// ones are read by other threads while the caller works on one; they are the memory that the iterator takes.
    ///
    /// The selections may be an iterator without end. They are taken from it when their turn comes.
    ///
    /// ```
    /// # use zarr_array::{ArrayMeta, ArrayResult, DataType, NdVec, blocking::Array, standard};
    /// # let meta = ArrayMeta::builder([4, 6], DataType::Int32).chunks([2, 3]).build()?;
    /// # let array = Array::create(zarr_store::MemoryStore::new(), "/a", meta, &standard())?;
    /// let mut sum = 0;
    /// for values in array.read_each(array.chunks(..)?, 4) {
    ///     let values: NdVec<i32> = values?;
    ///     sum += values.into_iter().sum::<i32>();
    /// }
    /// # assert_eq!(sum, 0);
    /// # ArrayResult::Ok(())
    /// ```
    ///
    /// # Errors
    /// An item is an error as in [`read`](Self::read). The iterator goes on behind it.
    #[doc(alias("stream", "prefetch"))]
    pub fn read_each<T: Element, S: Into<Selection>, I: IntoIterator<Item = S>>(
        &self,
        selections: I,
        ahead: usize,
    ) -> ReadEach<T, I::IntoIter> {
        ReadEach::new(self.clone(), selections.into_iter(), ahead)
    }

    /// Reads several selections. Each chunk that they touch is fetched and decoded once, however many of them share it.
    /// The results have the order of the selections.
    ///
    /// ```
    /// # use zarr_array::{ArrayMeta, ArrayResult, DataType, NdVec, blocking::Array, standard};
    /// # let meta = ArrayMeta::builder([40, 60], DataType::Int32).chunks([20, 30]).build()?;
    /// # let array = Array::create(zarr_store::MemoryStore::new(), "/a", meta, &standard())?;
    /// let patches = [[1, 2], [3, 7], [18, 28]].map(|[y, x]| [y..y + 8, x..x + 8]);
    /// let patches: Vec<NdVec<i32>> = array.read_many(patches)?;
    /// # assert_eq!((patches.len(), patches[2].shape()), (3, &[8, 8][..]));
    /// # ArrayResult::Ok(())
    /// ```
    ///
    /// # Errors
    /// As [`zarr_array::Array::read_many`](crate::Array::read_many).
    pub fn read_many<T: Element, S: Into<Selection>>(
        &self,
        selections: impl IntoIterator<Item = S>,
    ) -> ArrayResult<Vec<NdVec<T>>> {
        block_on(self.0.read_many(selections))
    }

    /// Reads a selection of an array whose data type is known only at run time.
    ///
    /// # Errors
    /// As [`zarr_array::Array::read_any`](crate::Array::read_any).
    pub fn read_any(&self, selection: impl Into<Selection>) -> ArrayResult<AnyArray> {
        block_on(self.0.read_any(selection))
    }

    /// Reads elements of any fixed-size data type as bytes, in C order and the byte order of this machine. Returns the
    /// shape of the selection and the bytes.
    ///
    /// # Errors
    /// As [`zarr_array::Array::read_bytes`](crate::Array::read_bytes).
    pub fn read_bytes(&self, selection: impl Into<Selection>) -> ArrayResult<(Vec<u64>, Vec<u8>)> {
        block_on(self.0.read_bytes(selection))
    }

    /// Reads a selection of an array of structs as [`Rows`].
    ///
    /// # Errors
    /// As [`zarr_array::Array::read_rows`](crate::Array::read_rows).
    pub fn read_rows(&self, selection: impl Into<Selection>) -> ArrayResult<Rows> {
        block_on(self.0.read_rows(selection))
    }

    /// Writes values to a selection: either values with the shape of the selection, or a flat slice of as many elements
    /// in C order. See [`ArrayValues`].
    ///
    /// ```
    /// # use zarr_array::{ArrayMeta, ArrayResult, DataType, NdVec, blocking::Array, standard};
    /// # let meta = ArrayMeta::builder([4, 6], DataType::Int32).chunks([2, 3]).build()?;
    /// # let array = Array::create(zarr_store::MemoryStore::new(), "/a", meta, &standard())?;
    /// array.write((1, ..), &[1, 2, 3, 4, 5, 6])?; // a row
    /// array.write([2..4, 0..2], &NdVec::new([2, 2], vec![1, 2, 3, 4])?)?;
    /// # ArrayResult::Ok(())
    /// ```
    ///
    /// # Errors
    /// As [`zarr_array::Array::write`](crate::Array::write).
    #[doc(alias("store_array_subset", "store_chunk"))]
    pub fn write<T: WriteElement>(
        &self,
        selection: impl Into<Selection>,
        values: &(impl ArrayValues<T> + ?Sized),
    ) -> ArrayResult<()> {
        write::write_view(&self.0.core, &selection.into(), values.as_view(), values.has_shape())
    }

    /// Writes elements of any fixed-size data type, given as bytes in C order and the byte order of this machine. The
    /// bytes may have other owners; they are not copied.
    ///
    /// # Errors
    /// As [`zarr_array::Array::write_bytes`](crate::Array::write_bytes).
    pub fn write_bytes(
        &self,
        selection: impl Into<Selection>,
        bytes: impl AsRef<[u8]> + Send + Sync + 'static,
    ) -> ArrayResult<()> {
        block_on(self.0.write_bytes(selection, bytes))
    }

    /// Writes rows of structs to a selection of the same shape.
    ///
    /// # Errors
    /// As [`zarr_array::Array::write_rows`](crate::Array::write_rows).
    pub fn write_rows(&self, selection: impl Into<Selection>, rows: Rows) -> ArrayResult<()> {
        block_on(self.0.write_rows(selection, rows))
    }

    /// Changes the shape to one with the same number of dimensions. Elements outside a smaller shape are deleted.
    ///
    /// ```
    /// # use zarr_array::{ArrayMeta, ArrayResult, DataType, blocking::Array, standard};
    /// # let meta = ArrayMeta::builder([4, 6], DataType::Int32).chunks([2, 3]).build()?;
    /// # let mut array = Array::create(zarr_store::MemoryStore::new(), "/a", meta, &standard())?;
    /// array.resize([10, 6])?;
    /// assert_eq!(array.shape(), [10, 6]);
    /// # ArrayResult::Ok(())
    /// ```
    ///
    /// # Errors
    /// As [`zarr_array::Array::resize`](crate::Array::resize).
    pub fn resize(&mut self, shape: impl Into<Vec<u64>>) -> ArrayResult<()> {
        block_on(self.0.resize(shape))
    }

    /// As [`resize`](Self::resize), with a choice of what happens to elements outside the new shape.
    ///
    /// # Errors
    /// As [`resize`](Self::resize).
    pub fn resize_with(&mut self, shape: impl Into<Vec<u64>>, cut: CutElements) -> ArrayResult<()> {
        block_on(self.0.resize_with(shape, cut))
    }

    /// Appends `values` along dimension `axis`, which grows by their length. In the other dimensions the values must
    /// have the lengths of the array. Threads and processes may append at the same time: each gets its own range.
    ///
    /// ```
    /// # use zarr_array::{ArrayMeta, ArrayResult, DataType, NdVec, blocking::Array, standard};
    /// # let meta = ArrayMeta::builder([0, 3], DataType::Int32).chunks([2, 3]).build()?;
    /// # let mut array = Array::create(zarr_store::MemoryStore::new(), "/a", meta, &standard())?;
    /// array.append(0, NdVec::new([1, 3], vec![1, 2, 3])?)?;
    /// array.append(0, NdVec::new([2, 3], vec![4, 5, 6, 7, 8, 9])?)?;
    /// assert_eq!(array.shape(), [3, 3]);
    /// # ArrayResult::Ok(())
    /// ```
    ///
    /// # Errors
    /// As [`zarr_array::Array::append`](crate::Array::append).
    pub fn append<T: WriteElement>(&mut self, axis: usize, values: NdVec<T>) -> ArrayResult<()> {
        block_on(self.0.append(axis, values))
    }

    /// Reads the attributes from the store, changes them and writes them back. `change` is called again if another
    /// writer wrote them in between. Members that `change` does not touch keep their bytes.
    ///
    /// ```
    /// # use zarr_array::{ArrayMeta, ArrayResult, DataType, blocking::Array, standard};
    /// # let meta = ArrayMeta::builder([4, 6], DataType::Int32).chunks([2, 3]).build()?;
    /// # let mut array = Array::create(zarr_store::MemoryStore::new(), "/a", meta, &standard())?;
    /// array.edit_attributes(|attributes| {
    ///     attributes.set("units", "K");
    ///     attributes.remove("note");
    /// })?;
    /// # ArrayResult::Ok(())
    /// ```
    ///
    /// # Errors
    /// As [`zarr_array::Array::edit_attributes`](crate::Array::edit_attributes).
    pub fn edit_attributes(&mut self, change: impl Fn(&mut Object)) -> ArrayResult<()> {
        block_on(self.0.edit_attributes(change))
    }

    /// Sets one attribute to any serializable value and keeps the others.
    ///
    /// ```
    /// # use zarr_array::{ArrayMeta, ArrayResult, DataType, blocking::Array, standard};
    /// # let meta = ArrayMeta::builder([4, 6], DataType::Int32).chunks([2, 3]).build()?;
    /// # let mut array = Array::create(zarr_store::MemoryStore::new(), "/a", meta, &standard())?;
    /// array.set_attribute("units", "K")?;
    /// array.set_attribute("valid_range", &[150.0, 350.0])?;
    /// assert!(array.attributes().contains("units"));
    /// # ArrayResult::Ok(())
    /// ```
    ///
    /// # Errors
    /// As [`zarr_array::Array::set_attribute`](crate::Array::set_attribute).
    pub fn set_attribute<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> ArrayResult<()> {
        block_on(self.0.set_attribute(name, value))
    }

    /// Returns the requests that [`read`](Self::read) of a selection would make to the store. Reads only shard indexes
    /// and object sizes.
    ///
    /// # Errors
    /// As [`zarr_array::Array::explain`](crate::Array::explain).
    pub fn explain(&self, selection: impl Into<Selection>) -> ArrayResult<Explanation> {
        block_on(self.0.explain(selection))
    }

    /// Returns the places of the inner chunks of the chunk at `index` of the chunk grid, in C order, or `None` if the
    /// chunk is not stored. Reads the index of the shard.
    ///
    /// # Errors
    /// As [`zarr_array::Array::inner_chunks`](crate::Array::inner_chunks).
    pub fn inner_chunks(&self, index: &[u64]) -> ArrayResult<Option<Vec<InnerChunk>>> {
        block_on(self.0.inner_chunks(index))
    }

    /// Returns an async handle on the same array, with the same settings. A blocking handle is made
    /// `from` an async one.
    ///
    /// No trait covers both handles, because a function cannot be async and blocking. A library writes the async
    /// function, and its blocking callers wait for it:
    ///
    /// ```
    /// # use zarr_array::{ArrayMeta, ArrayResult, DataType, block_on, blocking, standard};
    /// async fn mean(array: &zarr_array::Array) -> ArrayResult<f32> {
    ///     let values = array.read::<f32>(..).await?;
    ///     Ok(values.as_slice().iter().sum::<f32>() / values.as_slice().len() as f32)
    /// }
    ///
    /// # let meta = ArrayMeta::builder([4], DataType::Float32).chunks([2]).build()?;
    /// # let array = blocking::Array::create(zarr_store::MemoryStore::new(), "/", meta, &standard())?;
    /// array.write(.., &[1.0_f32, 2.0, 3.0, 4.0])?;
    /// assert_eq!(block_on(mean(&array.clone().into_async()))?, 2.5);
    ///
    /// let array = blocking::Array::from(array.into_async());
    /// # ArrayResult::Ok(())
    /// ```
    pub fn into_async(self) -> crate::Array {
        self.0.blocking(false)
    }

    pub(crate) fn inner(&self) -> &crate::Array {
        &self.0
    }

    fn with(mut self, change: impl FnOnce(&mut crate::Array)) -> Self {
        change(&mut self.0);
        self
    }
}

impl From<crate::Array> for Array {
    fn from(array: crate::Array) -> Self {
        Self(array.blocking(true))
    }
}

/// Calls of the handle may not block their thread any more.
impl From<Array> for crate::Array {
    fn from(array: Array) -> Self {
        array.0.blocking(false)
    }
}
