//! What a view or a buffer can be asked for in vain.

use std::error::Error;
use std::fmt;

/// Why a view, a copy or a buffer was refused. The messages name what was expected and what was given.
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
    /// A buffer is not as long as its shape asks for.
    #[non_exhaustive]
    Length {
        /// The shape of the view.
        shape: Box<[u64]>,
        /// Bytes of an element.
        size: usize,
        /// Bytes the shape asks for.
        expected: usize,
        /// Bytes given.
        got: usize,
    },
    /// A shape has more elements or bytes than can be addressed.
    #[non_exhaustive]
    TooLarge {
        /// The shape asked for.
        shape: Box<[u64]>,
        /// Bytes of an element.
        size: usize,
    },
    /// A strided view leaves its buffer.
    #[non_exhaustive]
    OutOfBuffer {
        /// The shape of the view.
        shape: Box<[u64]>,
        /// Bytes from one element to the next, per dimension.
        strides: Box<[i64]>,
        /// The byte the first element begins at.
        offset: usize,
        /// Bytes of the buffer.
        got: usize,
    },
    /// Two elements of a writable view share bytes, or may do so.
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
        /// The list at fault.
        what: &'static str,
        /// Dimensions of the view.
        expected: usize,
        /// Dimensions of the list.
        got: usize,
    },
    /// A box is not inside the view.
    #[non_exhaustive]
    OutOfShape {
        /// Where the box begins.
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
    /// An order of dimensions that does not name each exactly once.
    #[non_exhaustive]
    Order {
        /// The order given.
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
        /// The shape given.
        got: Box<[u64]>,
    },
    /// An element is not as long as those of the view.
    #[non_exhaustive]
    Size {
        /// Bytes of an element of the view.
        expected: usize,
        /// Bytes given.
        got: usize,
    },
    /// Elements are not whole units of the byte swap.
    #[non_exhaustive]
    Unit {
        /// Bytes of an element.
        size: usize,
        /// Bytes of a unit.
        unit: usize,
    },
    /// The system has not the memory.
    #[non_exhaustive]
    Memory {
        /// Bytes asked for.
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
                write!(f, "shape {shape:?} of {size}-byte elements is more than can be addressed")
            }
            OutOfBuffer { shape, strides, offset, got } => {
                write!(
                    f,
                    "shape {shape:?} with strides {strides:?} from byte {offset} leaves its {got} bytes"
                )
            }
            Overlap { shape, strides, size } => write!(
                f,
                "elements of {size} bytes in shape {shape:?} with strides {strides:?} overlap, \
                 expected apart for writing"
            ),
            Rank { what, expected, got } => write!(f, "{what} has {got} dimensions, expected {expected}"),
            OutOfShape { at, shape, whole } => {
                write!(f, "box of shape {shape:?} at {at:?} is outside of shape {whole:?}")
            }
            Step { dim } => write!(f, "step of dimension {dim} is 0, expected at least 1"),
            Order { order, rank } => {
                write!(f, "order {order:?} does not name each of {rank} dimensions once")
            }
            Squeeze { dim, got } => write!(f, "dimension {dim} to be dropped has length {got}, expected 1"),
            Shape { expected, got } => write!(f, "expected shape {expected:?}, got {got:?}"),
            Size { expected, got } => write!(f, "expected elements of {expected} bytes, got {got}"),
            Unit { size, unit } => write!(f, "elements of {size} bytes are not whole units of {unit} bytes"),
            Memory { bytes } => write!(f, "no memory for {bytes} bytes"),
        }
    }
}

impl Error for StridedError {}
