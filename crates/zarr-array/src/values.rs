//! What reads give and writes take: elements with a shape.

use std::fmt;

use zarr_strided::Plain;
use zarr_traits::{DataType, Dims};

use crate::element::WriteElement;
use crate::error::{ArrayError, ArrayResult};
use crate::rows::Rows;

/// Elements in C order, with a shape. Deliberately small: [`into_vec`](Self::into_vec) or, with the feature `ndarray`,
/// `into_ndarray` hand the memory on without a copy.
#[derive(Clone, PartialEq, Default)]
pub struct NdVec<T> {
    shape: Vec<u64>,
    values: Vec<T>,
}

impl<T> NdVec<T> {
    /// Elements with a shape.
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::ArrayErrorKind::InvalidArgument) when there are not as many as the shape says.
    ///
    /// ```
    /// let v = zarr_array::NdVec::new([2, 3], vec![1, 2, 3, 4, 5, 6])?;
    /// # Ok::<(), zarr_array::ArrayError>(())
    /// ```
    pub fn new(shape: impl Into<Vec<u64>>, values: Vec<T>) -> ArrayResult<Self> {
        let shape = shape.into();
        if Dims::from(&shape[..]).product() != Some(values.len() as u64) {
            return Err(ArrayError::invalid(format!("{} values do not fill shape {shape:?}", values.len())));
        }
        Ok(Self { shape, values })
    }

    /// The lengths of the dimensions.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// The elements, in C order.
    pub fn as_slice(&self) -> &[T] {
        &self.values
    }

    /// The elements, in C order.
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        &mut self.values
    }

    /// The elements alone.
    pub fn into_vec(self) -> Vec<T> {
        self.values
    }

    /// Shape and elements.
    pub fn into_parts(self) -> (Vec<u64>, Vec<T>) {
        (self.shape, self.values)
    }

    /// The element at `index`; `None` outside.
    pub fn get(&self, index: &[u64]) -> Option<&T> {
        if index.len() != self.shape.len() {
            return None;
        }
        let at =
            index.iter().zip(&self.shape).try_fold(0_u64, |at, (i, len)| (i < len).then(|| at * len + i))?;
        self.values.get(usize::try_from(at).ok()?)
    }
}

impl<T: fmt::Debug> fmt::Debug for NdVec<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NdVec {:?} ", self.shape)?;
        let shown = &self.values[..self.values.len().min(16)];
        shown.fmt(f)?;
        if shown.len() < self.values.len() { f.write_str("…") } else { Ok(()) }
    }
}

#[cfg(feature = "ndarray")]
impl<T> NdVec<T> {
    /// As an array of the crate `ndarray`, without a copy.
    pub fn into_ndarray(self) -> ndarray::ArrayD<T> {
        let shape: Vec<usize> =
            self.shape.iter().map(|n| usize::try_from(*n).unwrap_or(usize::MAX)).collect();
        match ndarray::ArrayD::from_shape_vec(shape, self.values) {
            Ok(array) => array,
            Err(_) => unreachable!("the number of values is that of the shape"),
        }
    }

    /// From an array of the crate `ndarray`; without a copy when it is in C order.
    pub fn from_ndarray<D: ndarray::Dimension>(array: ndarray::Array<T, D>) -> Self
    where
        T: Clone,
    {
        let shape = array.shape().iter().map(|n| *n as u64).collect();
        let values = if array.is_standard_layout() {
            array.into_raw_vec_and_offset().0
        } else {
            array.iter().cloned().collect()
        };
        Self { shape, values }
    }
}

/// Elements of a data type that is only known when the array is opened.
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
    /// Every other type of variable length: what its elements contain.
    Variable {
        /// The data type.
        data_type: DataType,
        /// What the elements contain.
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

/// Runs `$typed!(Variant, type)` for the data type, or `$other`.
macro_rules! for_data_type {
    ($data_type:expr, $typed:ident, $other:expr) => {
        match $data_type {
            DataType::Bool => $typed!(Bool, bool),
            DataType::Int16 => $typed!(Int16, i16),
            DataType::Int32 => $typed!(Int32, i32),
            DataType::Int64 => $typed!(Int64, i64),
            DataType::UInt16 => $typed!(UInt16, u16),
            DataType::UInt32 => $typed!(UInt32, u32),
            DataType::UInt64 => $typed!(UInt64, u64),
            DataType::Float32 => $typed!(Float32, f32),
            DataType::Float64 => $typed!(Float64, f64),
            DataType::String => $typed!(String, String),
            DataType::Bytes => $typed!(Bytes, Vec<u8>),
            t if matches!(t.numeric(), Some(Numeric::Integer { bits: ..=8, signed: true })) => {
                $typed!(Int8, i8)
            }
            t if matches!(t.numeric(), Some(Numeric::Integer { bits: ..=8, .. })) => $typed!(UInt8, u8),
            t if is_named(t, &["fixed_length_utf32"]) => $typed!(String, String),
            t if is_named(t, &["null_terminated_bytes"]) => $typed!(Bytes, Vec<u8>),
            _ => $other,
        }
    };
}
pub(crate) use for_data_type;

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

/// Checks that `T` is the element of `data_type`.
pub(crate) fn check_element<T: WriteElement>(data_type: &DataType) -> ArrayResult<()> {
    if T::fits(data_type)? && data_type.memory_size().is_multiple_of(size_of::<T::Memory>()) {
        return Ok(());
    }
    Err(ArrayError::invalid(format!("the data type is {data_type}, not {}", T::NAME)))
}

/// Fresh memory for elements of `size` bytes, all zero.
pub(crate) fn fresh<M: Plain>(shape: &[u64], size: usize, limit: u64) -> ArrayResult<Vec<M>> {
    let bytes = zarr_traits::chain::byte_len(shape, size)?;
    if bytes as u64 > limit {
        return Err(ArrayError::new(
            crate::ArrayErrorKind::LimitExceeded,
            format!("a result of {bytes} bytes exceeds the limit of {limit}"),
        ));
    }
    Ok(zarr_strided::zeroed(bytes / size_of::<M>().max(1))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shape_and_values_fit() {
        let v = NdVec::new([2, 3], vec![1, 2, 3, 4, 5, 6]).unwrap();
        assert_eq!((v.get(&[1, 2]), v.get(&[2, 0]), v.get(&[0])), (Some(&6), None, None));
        assert!(NdVec::new([2, 3], vec![1]).is_err());
        assert!(NdVec::<u8>::new([u64::MAX, 2], vec![]).is_err());
        assert_eq!(NdVec::new([], vec![7]).unwrap().get(&[]), Some(&7));
    }
}
