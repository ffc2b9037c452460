//! Element types: what an array of a data type looks like in Rust.

use std::borrow::Cow;

use zarr_strided::Plain;
use zarr_traits::DataType;

/// A Rust type that elements of an array are read into and written from.
///
/// Implemented for the core data types: integers and floats of the same name, `bool`, `[u8; N]` for `r<8N>`; `half::f16`
/// and `num_complex::Complex` behind features of those names. A crate that brings a data type of its own implements it
/// for its element.
///
/// Elements lie in memory as [`Memory`](Self::Memory), for which every bit pattern is valid; only types such as `bool`,
/// for which that is not so, differ from it.
pub trait Element: Copy + Send + Sync + 'static {
    /// What the elements lie in memory as: of the same size.
    type Memory: Plain;

    /// The name for messages.
    const NAME: &'static str;

    /// Whether this is the type for elements of `data_type`.
    fn is(data_type: &DataType) -> bool;

    /// Turns memory that was read into elements.
    fn from_memory(memory: Vec<Self::Memory>) -> Vec<Self>;

    /// Turns elements into memory that can be read into.
    fn into_memory(elements: Vec<Self>) -> Vec<Self::Memory>;

    /// The elements as memory, to be written.
    fn as_memory(elements: &[Self]) -> Cow<'_, [Self::Memory]>;

    /// The elements as memory, to be read into; `None` when that is not possible in place.
    fn as_memory_mut(elements: &mut [Self]) -> Option<&mut [Self::Memory]>;
}

macro_rules! plain {
    ($($(#[$attr:meta])* $element:ty => $name:literal, $data_type:ident;)*) => {$(
        $(#[$attr])*
        impl Element for $element {
            type Memory = Self;

            const NAME: &'static str = $name;

            fn is(data_type: &DataType) -> bool {
                matches!(data_type, DataType::$data_type)
            }

            fn from_memory(memory: Vec<Self>) -> Vec<Self> {
                memory
            }

            fn into_memory(elements: Vec<Self>) -> Vec<Self> {
                elements
            }

            fn as_memory(elements: &[Self]) -> Cow<'_, [Self]> {
                Cow::Borrowed(elements)
            }

            fn as_memory_mut(elements: &mut [Self]) -> Option<&mut [Self]> {
                Some(elements)
            }
        }
    )*};
}

plain! {
    i8 => "int8", Int8;
    i16 => "int16", Int16;
    i32 => "int32", Int32;
    i64 => "int64", Int64;
    u8 => "uint8", UInt8;
    u16 => "uint16", UInt16;
    u32 => "uint32", UInt32;
    u64 => "uint64", UInt64;
    f32 => "float32", Float32;
    f64 => "float64", Float64;
    #[cfg(feature = "half")]
    half::f16 => "float16", Float16;
    #[cfg(feature = "num-complex")]
    num_complex::Complex<f32> => "complex64", Complex64;
    #[cfg(feature = "num-complex")]
    num_complex::Complex<f64> => "complex128", Complex128;
}

impl<const N: usize> Element for [u8; N] {
    type Memory = Self;

    const NAME: &'static str = "raw bytes";

    fn is(data_type: &DataType) -> bool {
        matches!(data_type, DataType::Raw(bytes) if *bytes as usize == N)
    }

    fn from_memory(memory: Vec<Self>) -> Vec<Self> {
        memory
    }

    fn into_memory(elements: Vec<Self>) -> Vec<Self> {
        elements
    }

    fn as_memory(elements: &[Self]) -> Cow<'_, [Self]> {
        Cow::Borrowed(elements)
    }

    fn as_memory_mut(elements: &mut [Self]) -> Option<&mut [Self]> {
        Some(elements)
    }
}

impl Element for bool {
    type Memory = u8;

    const NAME: &'static str = "bool";

    fn is(data_type: &DataType) -> bool {
        matches!(data_type, DataType::Bool)
    }

    /// Any byte but 0 is true (checklist D1.t7).
    fn from_memory(memory: Vec<u8>) -> Vec<Self> {
        memory.into_iter().map(|b| b != 0).collect()
    }

    fn into_memory(elements: Vec<Self>) -> Vec<u8> {
        elements.into_iter().map(u8::from).collect()
    }

    fn as_memory(elements: &[Self]) -> Cow<'_, [u8]> {
        Cow::Owned(elements.iter().map(|b| u8::from(*b)).collect())
    }

    fn as_memory_mut(_: &mut [Self]) -> Option<&mut [u8]> {
        None
    }
}
