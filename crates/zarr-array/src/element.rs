//! Element types: what an array of a data type looks like in Rust.

mod form;
mod narrow;
mod number;
mod small_float;
#[cfg(any(feature = "arrow", feature = "chrono", feature = "jiff"))]
pub(crate) mod step;
pub(crate) mod text;
#[cfg(any(feature = "chrono", feature = "jiff"))]
mod time;

use std::borrow::Cow;

use zarr_strided::Plain;
use zarr_traits::{DataType, Layout};

use crate::error::ArrayResult;

pub use form::Form;
pub use small_float::SmallFloat;

/// A Rust type that elements of an array are read into and written from.
///
/// | data type | element | feature |
/// |---|---|---|
/// | `bool` | `bool` | |
/// | `int8` … `int64`, `uint8` … `uint64` | the integer of that size | |
/// | `float32`, `float64` | `f32`, `f64` | |
/// | `float16`, `bfloat16` | `half::f16`, `half::bf16` | `half` |
/// | `complex64`, `complex128` | `num_complex::Complex<f32>`, `Complex<f64>` | `num-complex` |
/// | `complex_float16`, `complex_bfloat16` | `Complex<f16>`, `Complex<bf16>` | both |
/// | `int2`, `int4` | `i8` | |
/// | `uint2`, `uint4` | `u8` | |
/// | `float8_…`, `float6_…`, `float4_…` | [`SmallFloat`](crate::SmallFloat); `u8`: the bits | |
/// | `r<8N>`, `raw_bytes`, `null_terminated_bytes` of N bytes | `[u8; N]`: all bytes | |
/// | `r<8N>`, `raw_bytes` | `Vec<u8>`: all bytes | |
/// | `string` | `String`; written from `&str` as well | |
/// | `fixed_length_utf32` | `String`, without the padding | |
/// | `null_terminated_bytes` | `Vec<u8>`, without the padding | |
/// | `bytes`, and any other type of variable length: what its elements contain | `Vec<u8>`; written from `&[u8]` as well | |
/// | `numpy.datetime64`, `numpy.timedelta64` | `i64`: the steps, of which the smallest is NaT | |
/// | `numpy.datetime64` | `chrono::DateTime<Utc>`, `chrono::NaiveDateTime`, and `Option` of them: `None` is NaT | `chrono` |
/// | `numpy.timedelta64` | `chrono::TimeDelta`, and `Option` of it | `chrono` |
/// | `numpy.datetime64` | `jiff::Timestamp`, and `Option` of it | `jiff` |
/// | `numpy.timedelta64` | `jiff::SignedDuration`; in years and months `jiff::Span`; and `Option` of them | `jiff` |
/// | `struct`, `structured` | a struct of your own, by [`row!`](crate::row); or [`Rows`](crate::Rows) | |
/// | `struct`, `structured`, `r<8N>`, `raw_bytes` | a type that is `bytemuck::Pod`, by `pod!` | `bytemuck` |
///
/// What is written must come back: a string that is too long, or ends with what would be taken for padding, is an error
/// that names the element, and so is a time that would have to be rounded, and every other value that the data type
/// does not have. The same holds for what is read.
///
/// Arrays of Arrow are read and written by [`read_arrow`](crate::Array#method.read_arrow) and `write_arrow`, behind the
/// feature `arrow`.
///
/// A crate that brings a data type of its own implements this and [`WriteElement`] for its element.
///
/// Elements lie in memory as [`Memory`](WriteElement::Memory), for which every bit pattern is valid; where the element
/// is such a type itself, nothing is copied. Of elements of variable length the memory is a
/// [`Slot`](zarr_traits::heap::Slot) of a [`Heap`](zarr_traits::heap::Heap); with all other types there is no heap.
pub trait Element: WriteElement + 'static {
    /// Turns memory that was read into elements, as many as lie in it.
    ///
    /// # Errors
    /// When what is stored is no such element.
    fn from_memory(memory: Vec<Self::Memory>, form: &Form<'_>) -> ArrayResult<Vec<Self>>;

    /// The elements as memory, to be read into, whatever they are; `None` where memory that was read has to be turned
    /// into elements first.
    fn as_memory_mut<'a>(elements: &'a mut [Self], data_type: &DataType) -> Option<&'a mut [Self::Memory]> {
        let _ = (elements, data_type);
        None
    }

    /// As [`as_memory_mut`](Self::as_memory_mut), of elements that are given away.
    fn reuse(elements: Vec<Self>, data_type: &DataType) -> Option<Vec<Self::Memory>> {
        let _ = (elements, data_type);
        None
    }
}

/// What arrays are written from: every [`Element`], and what only borrows one, `&str` and `&[u8]`.
pub trait WriteElement: Clone + Send + Sync {
    /// What elements lie in memory as: one of these each, or more of them that make one element (`u8`: its bytes).
    type Memory: Plain;

    /// The name for messages.
    const NAME: &'static str;

    /// Whether this is the type for elements of `data_type`. It is asked before anything is read or written.
    ///
    /// # Errors
    /// When it would be, but for what this data type is in particular: the reason.
    fn fits(data_type: &DataType) -> ArrayResult<bool>;

    /// The elements as memory, to be written.
    ///
    /// # Errors
    /// When one of them is no element of the data type.
    fn as_memory<'a>(elements: &'a [Self], form: &Form<'_>) -> ArrayResult<Cow<'a, [Self::Memory]>>;

    /// Turns elements into memory, to be written.
    ///
    /// # Errors
    /// As [`as_memory`](Self::as_memory).
    fn into_memory(elements: Vec<Self>, form: &Form<'_>) -> ArrayResult<Vec<Self::Memory>> {
        Self::as_memory(&elements, form).map(Cow::into_owned)
    }
}

/// Whether `data_type` is the extension of one of these names, with elements of one size.
pub(crate) fn is_named(data_type: &DataType, names: &[&str]) -> bool {
    let fixed = matches!(data_type.layout(), Layout::Fixed { size, .. } if size > 0);
    fixed && matches!(data_type, DataType::Extension(extension) if names.contains(&extension.name()))
}
