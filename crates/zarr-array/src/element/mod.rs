//! Element types: the Rust types for the elements of each data type.

pub(crate) mod any;
pub(crate) mod borrowed;
pub(crate) mod check;
#[cfg(feature = "dlpack")]
mod dlpack;
mod form;
mod narrow;
mod number;
pub(crate) mod rows;
mod small_float;
#[cfg(any(feature = "columns", feature = "chrono", feature = "jiff"))]
pub(crate) mod step;
pub(crate) mod text;
#[cfg(any(feature = "chrono", feature = "jiff"))]
mod time;

use std::borrow::Cow;

use zarr_strided::{Plain, View, ViewMut};
use zarr_traits::{DataType, Layout};

use crate::error::{ArrayError, ArrayResult};

pub use form::Form;
pub use small_float::SmallFloat;

/// A Rust type for elements of an array, for reads and writes.
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
/// | `bytes`, and any other type of variable length | `Vec<u8>`: the contents; written from `&[u8]` as well | |
/// | `numpy.datetime64`, `numpy.timedelta64` | `i64`: the steps; `i64::MIN` is NaT | |
/// | `numpy.datetime64` | `chrono::DateTime<Utc>`, `NaiveDateTime`, and `Option` of them: `None` is NaT | `chrono` |
/// | `numpy.timedelta64` | `chrono::TimeDelta`, and `Option` of it | `chrono` |
/// | `numpy.datetime64` | `jiff::Timestamp`, and `Option` of it | `jiff` |
/// | `numpy.timedelta64` | `jiff::SignedDuration`; in years and months `jiff::Span`; and `Option` of them | `jiff` |
/// | `struct`, `structured` | a struct of your own, by [`row!`](crate::row); or [`Rows`](crate::Rows) | |
/// | `struct`, `structured`, `r<8N>`, `raw_bytes` | a type that is `bytemuck::Pod`, by `pod!` | `bytemuck` |
/// Values are never rounded or cut. A value that the data type cannot represent exactly is an error that names the
/// element: a string that is too long or ends with padding, or a time between two steps. The same holds for reads.
///
/// With the feature `columns`, `Array::read_column` and `write_column` read and write elements in the memory layout of
/// Arrow.
///
/// **For authors of data types:** implement this trait and [`WriteElement`] for the element type. In memory, elements
/// have the type [`Memory`](WriteElement::Memory), for which every bit pattern is valid; if the element is such a type
/// itself, nothing is copied. The memory of an element of variable length is a [`Slot`](zarr_traits::heap::Slot) of a
/// [`Heap`](zarr_traits::heap::Heap); other types have no heap.
pub trait Element: WriteElement + 'static {
    /// Turns memory that was read into all elements that it holds.
    ///
    /// # Errors
    /// When a stored value is not valid for this type.
    fn from_memory(memory: Vec<Self::Memory>, form: &Form<'_>) -> ArrayResult<Vec<Self>>;

    /// Returns the elements as memory to read into, where they lie, or `None` if memory must be converted into elements.
    fn plain_mut<'a>(elements: ViewMut<'a, Self>, data_type: &DataType) -> Option<ViewMut<'a, Self::Memory>> {
        let _ = (elements, data_type);
        None
    }

    /// As [`plain_mut`](Self::plain_mut), for owned elements.
    fn reuse(elements: Vec<Self>, data_type: &DataType) -> Option<Vec<Self::Memory>> {
        let _ = (elements, data_type);
        None
    }
}

/// A Rust type that can be written to arrays: every [`Element`], and the borrowed `&str` and `&[u8]`.
pub trait WriteElement: Clone + Send + Sync {
    /// The type of elements in memory. An element is one or several of them (for `u8`: its bytes).
    type Memory: Plain;

    /// The name for messages.
    const NAME: &'static str;

    /// Whether this is an element type of `data_type`. Called before anything is read or written.
    ///
    /// # Errors
    /// When the kind of data type fits, but not its details, with the reason.
    fn fits(data_type: &DataType) -> ArrayResult<bool>;

    /// Returns the data type of new arrays of these elements, or `None` if there is no usual one.
    fn data_type() -> Option<DataType> {
        None
    }

    /// Returns the elements as memory to write, where they lie, or `None` if they must be converted or checked.
    fn plain<'a>(elements: View<'a, Self>, data_type: &DataType) -> Option<View<'a, Self::Memory>> {
        let _ = (elements, data_type);
        None
    }

    /// Returns the elements as memory to write.
    ///
    /// # Errors
    /// When the data type cannot represent an element.
    fn as_memory<'a>(elements: &'a [Self], form: &Form<'_>) -> ArrayResult<Cow<'a, [Self::Memory]>>;

    /// Turns elements into memory to write.
    ///
    /// # Errors
    /// As [`as_memory`](Self::as_memory).
    fn into_memory(elements: Vec<Self>, form: &Form<'_>) -> ArrayResult<Vec<Self::Memory>> {
        Self::as_memory(&elements, form).map(Cow::into_owned)
    }
}

/// Returns the data type for a new array of elements of type `T`: `int32` for `i32`, `string` for `String`,
/// `numpy.datetime64` in nanoseconds for times, `struct` for a type of [`row!`](crate::row).
///
/// ```
/// # use zarr_array::{ArrayMeta, ArrayResult, NdVec, blocking::Array, data_type_of, standard};
/// #[derive(Debug, Clone, PartialEq)]
/// struct Station {
///     lat: f32,
///     lon: f32,
///     number: u32,
/// }
/// zarr_array::row!(Station { lat, lon, number });
///
/// let meta = ArrayMeta::builder([100], data_type_of::<Station>()?).build()?;
/// let array = Array::create(zarr_store::MemoryStore::new(), "/stations", meta, &standard())?;
/// array.write(7, &[Station { lat: 59.9, lon: 10.7, number: 18_700 }])?;
/// let stations: NdVec<Station> = array.read(7..9)?;
/// assert_eq!((stations[[0]].number, stations[[1]].number), (18_700, 0));
/// # ArrayResult::Ok(())
/// ```
///
/// # Errors
/// [`InvalidArgument`](crate::ArrayErrorKind::InvalidArgument) when there is no usual data type: for
/// [`SmallFloat`], a type of `pod!`, `jiff::Span`.
pub fn data_type_of<T: WriteElement>() -> ArrayResult<DataType> {
    T::data_type().ok_or_else(|| ArrayError::invalid(format!("{} has no data type of its own", T::NAME)))
}

/// Returns the data type with this name and no configuration.
pub(crate) fn named(name: &str) -> Option<DataType> {
    DataType::core(name).or_else(|| zarr_meta::types::named(name, zarr_traits::json::json!({})).ok())
}

/// Whether `data_type` is an extension with one of these names and a fixed size.
pub(crate) fn is_named(data_type: &DataType, names: &[&str]) -> bool {
    let fixed = matches!(data_type.layout(), Layout::Fixed { size, .. } if size > 0);
    fixed && matches!(data_type, DataType::Extension(extension) if names.contains(&extension.name()))
}
