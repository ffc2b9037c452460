//! Elements as tensors of DLPack, the exchange format of PyTorch, JAX, CuPy and others.

use dlpk::{DLPackTensor, GetDLPackDataType};

use super::any::AnyArray;
use crate::error::{ArrayError, ArrayErrorKind, ArrayResult};
use crate::values::NdVec;

impl<T: GetDLPackDataType + 'static> NdVec<T> {
    /// Returns a tensor of DLPack, without a copy. The tensor owns the memory.
    ///
    /// ```
    /// # use zarr_array::{ArrayMeta, ArrayResult, DataType, blocking::Array, standard};
    /// # let meta = ArrayMeta::builder([4, 6], DataType::Float32).chunks([2, 3]).build()?;
    /// # let array = Array::create(zarr_store::MemoryStore::new(), "/a", meta, &standard())?;
    /// let tensor = array.read::<f32>((.., 0..2))?.into_dlpack()?;
    /// assert_eq!(tensor.shape(), [4, 2]);
    /// # ArrayResult::Ok(())
    /// ```
    ///
    /// # Errors
    /// [`LimitExceeded`](ArrayErrorKind::LimitExceeded) when a dimension has 2^63 elements or more, which only arrays
    /// without elements can have.
    pub fn into_dlpack(self) -> ArrayResult<DLPackTensor> {
        if let Some(dim) = self.shape().iter().position(|length| i64::try_from(*length).is_err()) {
            let message = format!("dimension {dim} is too long for DLPack");
            return Err(ArrayError::new(ArrayErrorKind::LimitExceeded, message));
        }
        let tensor = DLPackTensor::try_from(self.into_ndarray());
        tensor.map_err(|e| ArrayError::new(ArrayErrorKind::Unsupported, e.to_string()))
    }
}

impl AnyArray {
    /// Returns a tensor of DLPack, without a copy. The tensor owns the memory.
    ///
    /// # Errors
    /// [`Unsupported`](ArrayErrorKind::Unsupported) for elements that DLPack does not have: all but booleans, integers,
    /// `float32` and `float64`.
    pub fn into_dlpack(self) -> ArrayResult<DLPackTensor> {
        match self {
            Self::Bool(v) => v.into_dlpack(),
            Self::Int8(v) => v.into_dlpack(),
            Self::Int16(v) => v.into_dlpack(),
            Self::Int32(v) => v.into_dlpack(),
            Self::Int64(v) => v.into_dlpack(),
            Self::UInt8(v) => v.into_dlpack(),
            Self::UInt16(v) => v.into_dlpack(),
            Self::UInt32(v) => v.into_dlpack(),
            Self::UInt64(v) => v.into_dlpack(),
            Self::Float32(v) => v.into_dlpack(),
            Self::Float64(v) => v.into_dlpack(),
            _ => {
                let message = "DLPack has only booleans, integers, and floating point numbers";
                Err(ArrayError::new(ArrayErrorKind::Unsupported, message))
            }
        }
    }
}
