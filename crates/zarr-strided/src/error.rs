//! The errors of views and buffers.

use std::error::Error;
use std::fmt;

/// The reason why a view, a copy or a buffer was refused. Messages name the expected and the given value.
///
/// ```
/// use zarr_strided::Source;
///
/// let error = Source::dense(&[0; 20], &[2, 3], 4).unwrap_err();
/// assert_eq!(error.to_string(), "shape [2, 3] of 4-byte elements needs 24 bytes, got 20");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StridedError {
    /// The length of a buffer does not match its shape.
    #[non_exhaustive]
    Length {
        /// The shape of the view.
        shape: Box<[u64]>,
        /// Bytes of an element.
        size: usize,
        /// The bytes that the shape needs.
        expected: usize,
        /// Bytes given.
        got: usize,
    },
    /// A shape has more elements or bytes than the address space.
    #[non_exhaustive]
    TooLarge {
        /// The requested shape.
        shape: Box<[u64]>,
        /// Bytes of an element.
        size: usize,
    },
    /// A strided view extends beyond its buffer.
    #[non_exhaustive]
    OutOfBuffer {
        /// The shape of the view.
        shape: Box<[u64]>,
        /// Bytes from one element to the next, per dimension.
        strides: Box<[i64]>,
        /// The byte offset of the first element.
        offset: usize,
        /// The bytes of the buffer.
        got: usize,
    },
    /// Two elements of a writable view overlap, or may overlap.
    #[non_exhaustive]
    Overlap {
        /// The shape of the view.
        shape: Box<[u64]>,
        /// Bytes from one element to the next, per dimension.
        strides: Box<[i64]>,
        /// Bytes of an element.
        size: usize,
    },
    /// A list has the wrong number of dimensions.
    #[non_exhaustive]
    Rank {
        /// The name of the list.
        what: &'static str,
        /// Dimensions of the view.
        expected: usize,
        /// The dimensions of the list.
        got: usize,
    },
    /// A box is not inside the view.
    #[non_exhaustive]
    OutOfShape {
        /// The first position of the box.
        at: Box<[u64]>,
        /// The shape of the box.
        shape: Box<[u64]>,
        /// The shape of the view.
        whole: Box<[u64]>,
    },
    /// A step of zero.
    #[non_exhaustive]
    Step {
        /// The dimension at fault.
        dim: usize,
    },
    /// An order of dimensions does not contain each dimension exactly once.
    #[non_exhaustive]
    Order {
        /// The given order.
        order: Box<[u64]>,
        /// Dimensions of the view.
        rank: usize,
    },
    /// A dimension to be dropped is not of length 1.
    #[non_exhaustive]
    Squeeze {
        /// The dimension at fault.
        dim: usize,
        /// Its length.
        got: u64,
    },
    /// Two shapes that must be equal are not.
    #[non_exhaustive]
    Shape {
        /// The shape of the destination.
        expected: Box<[u64]>,
        /// The given shape.
        got: Box<[u64]>,
    },
    /// An element does not have the element size of the view.
    #[non_exhaustive]
    Size {
        /// The bytes of an element of the view.
        expected: usize,
        /// Bytes given.
        got: usize,
    },
    /// The element size is not a multiple of the unit of the byte swap.
    #[non_exhaustive]
    Unit {
        /// Bytes of an element.
        size: usize,
        /// The bytes of a unit.
        unit: usize,
    },
    /// Allocation failed.
    #[non_exhaustive]
    Memory {
        /// The requested bytes.
        bytes: usize,
    },
}

impl fmt::Display for StridedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use StridedError::*;
        match self {
            Length { shape, size, expected, got } => {
                write!(f, "shape {shape:?} of {size}-byte elements needs {expected} bytes, got {got}")
            }
            TooLarge { shape, size } => {
                write!(f, "shape {shape:?} of {size}-byte elements exceeds the address space")
            }
            OutOfBuffer { shape, strides, offset, got } => {
                write!(
                    f,
                    "shape {shape:?} with strides {strides:?} from byte {offset} exceeds its buffer of {got} bytes"
                )
            }
            Overlap { shape, strides, size } => write!(
                f,
                "elements of {size} bytes in shape {shape:?} with strides {strides:?} overlap, \
                 a writable view needs separate elements"
            ),
            Rank { what, expected, got } => write!(f, "{what} has {got} dimensions, expected {expected}"),
            OutOfShape { at, shape, whole } => {
                write!(f, "box of shape {shape:?} at {at:?} is not inside shape {whole:?}")
            }
            Step { dim } => write!(f, "step of dimension {dim} is 0, expected at least 1"),
            Order { order, rank } => {
                write!(f, "order {order:?} does not contain each of {rank} dimensions once")
            }
            Squeeze { dim, got } => write!(f, "dimension {dim} to be dropped has length {got}, expected 1"),
            Shape { expected, got } => write!(f, "expected shape {expected:?}, got {got:?}"),
            Size { expected, got } => write!(f, "expected elements of {expected} bytes, got {got}"),
            Unit { size, unit } => write!(f, "element size {size} is not a multiple of {unit} bytes"),
            Memory { bytes } => write!(f, "no memory for {bytes} bytes"),
        }
    }
}

impl Error for StridedError {}
