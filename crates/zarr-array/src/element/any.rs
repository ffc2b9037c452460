//! Elements of a data type that is known only at run time.

use zarr_traits::DataType;

use crate::element::rows::Rows;
use crate::values::NdVec;

/// Elements of a data type that is known only at run time.
///
/// ```
/// # use zarr_array::{AnyArray, NdVec};
/// fn mean(values: &AnyArray) -> Option<f64> {
///     match values {
///         AnyArray::Float32(v) => Some(v.as_slice().iter().copied().map(f64::from).sum::<f64>() / v.as_slice().len() as f64),
///         _ => None,
///     }
/// }
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum AnyArray {
    /// `bool`.
    Bool(NdVec<bool>),
    /// `int8`, and integers of fewer bits.
    Int8(NdVec<i8>),
    /// `int16`.
    Int16(NdVec<i16>),
    /// `int32`.
    Int32(NdVec<i32>),
    /// `int64`.
    Int64(NdVec<i64>),
    /// `uint8`, and integers of fewer bits.
    UInt8(NdVec<u8>),
    /// `uint16`.
    UInt16(NdVec<u16>),
    /// `uint32`.
    UInt32(NdVec<u32>),
    /// `uint64`.
    UInt64(NdVec<u64>),
    /// `float32`.
    Float32(NdVec<f32>),
    /// `float64`.
    Float64(NdVec<f64>),
    /// `string` and `fixed_length_utf32`.
    String(NdVec<String>),
    /// `bytes` and `null_terminated_bytes`.
    Bytes(NdVec<Vec<u8>>),
    /// `struct` and `structured`.
    Rows(Rows),
    /// Every other type of variable length: the contents of its elements.
    Variable {
        /// The data type.
        data_type: DataType,
        /// The contents of the elements.
        contents: NdVec<Vec<u8>>,
    },
    /// Every other type: the bytes of its elements, in the byte order of this machine.
    Other {
        /// The data type.
        data_type: DataType,
        /// The lengths of the dimensions.
        shape: Vec<u64>,
        /// The elements, in C order.
        bytes: Vec<u8>,
    },
}

impl AnyArray {
    /// The lengths of the dimensions.
    pub fn shape(&self) -> &[u64] {
        match self {
            Self::Bool(v) => v.shape(),
            Self::Int8(v) => v.shape(),
            Self::Int16(v) => v.shape(),
            Self::Int32(v) => v.shape(),
            Self::Int64(v) => v.shape(),
            Self::UInt8(v) => v.shape(),
            Self::UInt16(v) => v.shape(),
            Self::UInt32(v) => v.shape(),
            Self::UInt64(v) => v.shape(),
            Self::Float32(v) => v.shape(),
            Self::Float64(v) => v.shape(),
            Self::String(v) => v.shape(),
            Self::Bytes(v) | Self::Variable { contents: v, .. } => v.shape(),
            Self::Rows(v) => v.shape(),
            Self::Other { shape, .. } => shape,
        }
    }
}
