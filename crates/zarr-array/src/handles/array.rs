//! The handle on an array.

use std::sync::Arc;

use serde_core::de::DeserializeOwned;
use zarr_engine::Chain;
use zarr_engine::run::Progress;
use zarr_meta::json::Object;
use zarr_meta::{ArrayBuilder, ArrayMeta, Diagnostic};
use zarr_traits::{
    BoxFuture, ChunkGrid, DataType, Fetching, FillValue, Key, KeyEncoding, Limits, Registry, Storage,
    StoreResult, number::Numeric, update::InnerOrder,
};

use crate::cpu::Cpu;
use crate::element::any::AnyArray;
use crate::element::rows::{Rows, is_struct};
use crate::element::{Element, WriteElement, is_named};
use crate::error::ArrayResult;
use crate::handles::common::common_methods;
use crate::io::chunk_cache::{ChunkCache, Decoding};
use crate::io::core::Core;
use crate::io::rows::read_rows;
use crate::io::versioned::Indexes;
use crate::io::{read, write};
use crate::node::ConsolidatedPolicy;
use crate::plan::chunks::{Chunk, Chunks, blocks};
use crate::select::Selection;
use crate::settings::{BlockSize, EmptyChunks, MissingChunks, PartialWrites};
use crate::values::NdVec;

/// An array in a store: reads and writes its elements, attributes and shape.
///
/// Cheap to clone; clones share caches. [`blocking::Array`](crate::blocking::Array) has the same methods for programs
/// without async.
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
    /// The storage that holds the metadata document.
    pub(crate) node: Storage,
    pub(crate) consolidated: ConsolidatedPolicy,
    pub(crate) diagnostics: Arc<[Diagnostic]>,
}

impl Array {
    common_methods!();

    /// Reads a selection into new memory. The result has the dimensions of the selection; an index drops its dimension.
    ///
    /// ```
    /// # use zarr_array::{Array, ArrayResult, NdVec};
    /// # async fn example(array: Array) -> ArrayResult<()> {
    /// let day: NdVec<f32> = array.read([0..24, 100..200, 0..360]).await?;
    /// let series: NdVec<f32> = array.read((.., 10, 20)).await?;
    /// assert_eq!((day.shape(), series.shape().len()), (&[24, 100, 360][..], 1));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the selection is not inside the array, `T` is not an element type of its data type, a chunk cannot be read
    /// or decoded, or the result exceeds the limits.
    #[doc(alias("retrieve", "subset", "retrieve_array_subset"))]
    pub async fn read<T: Element>(&self, selection: impl Into<Selection>) -> ArrayResult<NdVec<T>> {
        read::read(&self.core, selection.into()).await
    }

    /// Reads a selection into memory that the call owns meanwhile, and returns it. The shape of `memory` must be that of the
    /// selection.
    ///
    /// ```
    /// # use zarr_array::{Array, ArrayResult, NdVec};
    /// # async fn example(array: Array) -> ArrayResult<()> {
    /// let mut frame = NdVec::new([180, 360], vec![0.0_f32; 180 * 360])?;
    /// for hour in 0..array.shape()[0] {
    ///     frame = array.read_owned((hour, 0..180, 0..360), frame).await?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// An async read runs on other threads and may be dropped before it ends, so it cannot borrow the memory. A blocking one
    /// can: [`read_into`](crate::blocking::Array::read_into).
    ///
    /// # Errors
    /// As [`read`](Self::read). After an error the memory is lost.
    pub async fn read_owned<T: Element>(
        &self,
        selection: impl Into<Selection>,
        memory: NdVec<T>,
    ) -> ArrayResult<NdVec<T>> {
        read::read_owned(&self.core, selection.into(), memory).await
    }

    /// Reads a selection of an array whose data type is known only at run time.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub async fn read_any(&self, selection: impl Into<Selection>) -> ArrayResult<AnyArray> {
        self.any(selection.into()).await
    }

    /// Reads elements of any fixed-size data type as bytes, in C order and the byte order of this machine. Returns the
    /// shape of the selection and the bytes.
    ///
    /// # Errors
    /// As [`read`](Self::read); [`Unsupported`](crate::ArrayErrorKind::Unsupported) for elements of variable length:
    /// read them with [`read`](Self::read) as `Vec<u8>`.
    pub async fn read_bytes(&self, selection: impl Into<Selection>) -> ArrayResult<(Vec<u64>, Vec<u8>)> {
        read::read_bytes(&self.core, selection.into()).await
    }

    /// Writes `values` to a selection of the same shape.
    ///
    /// ```
    /// # use zarr_array::{Array, ArrayResult, NdVec};
    /// # async fn example(array: Array) -> ArrayResult<()> {
    /// let values = NdVec::new([2, 3], vec![1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    /// array.write((7, 0..2, 0..3), values).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// A chunk that is written whole is not read first. A write to part of a chunk is a read-modify-write: the new
    /// object is put only if the stored object is still the version that was read; otherwise the write starts again. In
    /// a store with conditional puts (a directory, memory, most buckets) no writer of any process loses an update.
    /// [`PartialWrites`] sets another way.
    ///
    /// A chunk at the edge of the array counts as written whole if the write covers its part inside the array and the
    /// chunk is not stored yet. A stored one is read first, because another writer may have lengthened the array. In a
    /// shard, only the inner chunks that are written are decoded and encoded; the others keep their bytes in the new
    /// object.
    ///
    /// # Errors
    /// When the selection is not inside the array, shapes differ, `T` is not an element type of the data type, or a
    /// chunk cannot be encoded or stored. After an error some of the chunks may be written.
    #[doc(alias("store_array_subset", "store_chunk"))]
    pub async fn write<T: WriteElement>(
        &self,
        selection: impl Into<Selection>,
        values: NdVec<T>,
    ) -> ArrayResult<()> {
        write::write(&self.core, selection.into(), values).await
    }

    /// Writes elements of any fixed-size data type, given as bytes in C order and the byte order of this machine. The
    /// bytes may have other owners (`bytes::Bytes`, `Arc<[u8]>`, a memory map); they are not copied.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub async fn write_bytes(
        &self,
        selection: impl Into<Selection>,
        bytes: impl AsRef<[u8]> + Send + Sync + 'static,
    ) -> ArrayResult<()> {
        write::write_bytes(&self.core, selection.into(), bytes).await
    }

    pub(crate) fn inner(&self) -> &Self {
        self
    }

    fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// Where the chunks are and what they are decoded to, or `None` if the metadata does not say it.
    pub(crate) fn decoding(&self) -> Option<Decoding> {
        let document = self.meta.document();
        let extensions = [document.data_type(), document.chunk_grid(), document.chunk_key_encoding()];
        let lists = document.codecs().iter().chain(document.storage_transformers());
        let mut text = format!("{} {}", document.shape().len(), document.fill_value().to_compact());
        for extension in extensions.into_iter().chain(lists) {
            text.push('\n');
            text.push_str(&extension.to_value().to_compact());
        }
        let (store, prefix) = (self.node.store_id(), self.core.prefix.clone());
        (!self.core.is_recoded).then_some(Decoding { store, prefix, text })
    }

    /// Returns the settings. A change affects this handle only.
    pub(crate) fn core_mut(&mut self) -> &mut Core {
        Arc::make_mut(&mut self.core)
    }

    /// Returns a handle whose calls may block their thread, or may not.
    pub(crate) fn blocking(self, may_block: bool) -> Self {
        match self.core.may_block == may_block {
            true => self,
            false => self.with(|array| array.core_mut().may_block = may_block),
        }
    }

    /// Reads a selection as elements of the data type. A wall (decision 0026).
    pub(crate) fn any(&self, selection: Selection) -> BoxFuture<'_, ArrayResult<AnyArray>> {
        macro_rules! typed {
            ($variant:ident) => {
                AnyArray::$variant(read::read(&self.core, selection).await?)
            };
        }
        Box::pin(async move {
            let data_type = self.data_type();
            Ok(match (data_type, data_type.numeric()) {
                (DataType::Bool, _) => typed!(Bool),
                (_, Some(Numeric::Integer { bits: ..=8, signed: true })) => typed!(Int8),
                (DataType::Int16, _) => typed!(Int16),
                (DataType::Int32, _) => typed!(Int32),
                (DataType::Int64, _) => typed!(Int64),
                (_, Some(Numeric::Integer { bits: ..=8, .. })) => typed!(UInt8),
                (DataType::UInt16, _) => typed!(UInt16),
                (DataType::UInt32, _) => typed!(UInt32),
                (DataType::UInt64, _) => typed!(UInt64),
                (DataType::Float32, _) => typed!(Float32),
                (DataType::Float64, _) => typed!(Float64),
                (DataType::String, _) => typed!(String),
                (DataType::Bytes, _) => typed!(Bytes),
                _ if is_named(data_type, &["fixed_length_utf32"]) => typed!(String),
                _ if is_named(data_type, &["null_terminated_bytes"]) => typed!(Bytes),
                _ if is_struct(data_type) => AnyArray::Rows(read_rows(&self.core, selection).await?),
                _ if data_type.size().is_none() => {
                    let contents = read::read(&self.core, selection).await?;
                    AnyArray::Variable { data_type: data_type.clone(), contents }
                }
                _ => {
                    let (shape, bytes) = read::read_bytes(&self.core, selection).await?;
                    AnyArray::Other { data_type: data_type.clone(), shape, bytes }
                }
            })
        })
    }
}
