//! Element types: what an array of a data type looks like in Rust.

use std::borrow::Cow;

use zarr_strided::Plain;
use zarr_traits::{CodecError, CodecResult, DataType, Heap, Layout, Slot};

use crate::error::{ArrayError, ArrayErrorKind, ArrayResult};

/// A Rust type that elements of an array are read into and written from.
///
/// Implemented for the core data types: integers and floats of the same name, `bool`, `[u8; N]` for `r<8N>`, `String` for
/// `string`, `Vec<u8>` for what every type of variable length contains; `half::f16` and `num_complex::Complex` behind
/// features of those names. A crate that brings a data type of its own implements it for its element.
///
/// Elements lie in memory as [`Memory`](Self::Memory), for which every bit pattern is valid; only types such as `bool`,
/// for which that is not so, differ from it. Of elements of variable length it is a [`Slot`] of a [`Heap`]; with all other
/// types there is no heap.
pub trait Element: Clone + Send + Sync + 'static {
    /// What the elements lie in memory as: of the same size.
    type Memory: Plain;

    /// The name for messages.
    const NAME: &'static str;

    /// Whether this is the type for elements of `data_type`.
    fn is(data_type: &DataType) -> bool;

    /// Turns memory that was read into elements.
    ///
    /// # Errors
    /// When what is stored is no such element.
    fn from_memory(memory: Vec<Self::Memory>, heap: Option<&Heap>) -> ArrayResult<Vec<Self>>;

    /// Turns elements into memory: to be written, or to be read into.
    ///
    /// # Errors
    /// When they have no place in the heap.
    fn into_memory(elements: Vec<Self>, heap: Option<&Heap>) -> ArrayResult<Vec<Self::Memory>>;

    /// The elements as memory, to be written.
    ///
    /// # Errors
    /// As [`into_memory`](Self::into_memory).
    fn as_memory<'a>(elements: &'a [Self], heap: Option<&Heap>) -> ArrayResult<Cow<'a, [Self::Memory]>>;

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

            fn from_memory(memory: Vec<Self>, _: Option<&Heap>) -> ArrayResult<Vec<Self>> {
                Ok(memory)
            }

            fn into_memory(elements: Vec<Self>, _: Option<&Heap>) -> ArrayResult<Vec<Self>> {
                Ok(elements)
            }

            fn as_memory<'a>(elements: &'a [Self], _: Option<&Heap>) -> ArrayResult<Cow<'a, [Self]>> {
                Ok(Cow::Borrowed(elements))
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

    fn from_memory(memory: Vec<Self>, _: Option<&Heap>) -> ArrayResult<Vec<Self>> {
        Ok(memory)
    }

    fn into_memory(elements: Vec<Self>, _: Option<&Heap>) -> ArrayResult<Vec<Self>> {
        Ok(elements)
    }

    fn as_memory<'a>(elements: &'a [Self], _: Option<&Heap>) -> ArrayResult<Cow<'a, [Self]>> {
        Ok(Cow::Borrowed(elements))
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
    fn from_memory(memory: Vec<u8>, _: Option<&Heap>) -> ArrayResult<Vec<Self>> {
        Ok(memory.into_iter().map(|b| b != 0).collect())
    }

    fn into_memory(elements: Vec<Self>, _: Option<&Heap>) -> ArrayResult<Vec<u8>> {
        Ok(elements.into_iter().map(u8::from).collect())
    }

    fn as_memory<'a>(elements: &'a [Self], _: Option<&Heap>) -> ArrayResult<Cow<'a, [u8]>> {
        Ok(Cow::Owned(elements.iter().map(|b| u8::from(*b)).collect()))
    }

    fn as_memory_mut(_: &mut [Self]) -> Option<&mut [u8]> {
        None
    }
}

/// The memory of a slot.
type SlotBytes = [u8; Slot::SIZE];

macro_rules! variable {
    ($element:ty, $name:literal, $is:expr, $from:expr) => {
        impl Element for $element {
            type Memory = SlotBytes;

            const NAME: &'static str = $name;

            fn is(data_type: &DataType) -> bool {
                $is(data_type)
            }

            fn from_memory(memory: Vec<SlotBytes>, heap: Option<&Heap>) -> ArrayResult<Vec<Self>> {
                let element = |content: &[u8]| $from(content.to_vec());
                heap.ok_or_else(no_heap)?.with(|blocks| {
                    let found = memory.iter().map(|slot| element(Slot::from_bytes(*slot).of(blocks)?));
                    Ok(found.collect::<CodecResult<_>>()?)
                })
            }

            fn into_memory(elements: Vec<Self>, heap: Option<&Heap>) -> ArrayResult<Vec<SlotBytes>> {
                Self::as_memory(&elements, heap).map(Cow::into_owned)
            }

            fn as_memory<'a>(elements: &'a [Self], heap: Option<&Heap>) -> ArrayResult<Cow<'a, [SlotBytes]>> {
                let mut slots = Vec::with_capacity(elements.len());
                let mut end = 0;
                let ranges = elements.iter().map(|element| {
                    let start = end;
                    end += element.len();
                    start..end
                });
                heap.ok_or_else(no_heap)?
                    .add(elements.concat(), ranges, |slot| slots.push(slot.to_bytes()))?;
                Ok(Cow::Owned(slots))
            }

            fn as_memory_mut(_: &mut [Self]) -> Option<&mut [SlotBytes]> {
                None
            }
        }
    };
}

variable!(String, "string", |data_type: &DataType| matches!(data_type, DataType::String), |content| {
    String::from_utf8(content).map_err(|e| CodecError::corrupt("an element is not UTF-8").with_source(e))
});
variable!(Vec<u8>, "bytes", |data_type: &DataType| data_type.layout() == Layout::Variable, CodecResult::Ok);

fn no_heap() -> ArrayError {
    ArrayError::new(ArrayErrorKind::Unsupported, "elements of variable length have no heap here")
}
