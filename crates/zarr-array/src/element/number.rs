//! Elements that are their own memory: numbers and byte arrays of a fixed length. Also `bool`, which must be converted.

use std::borrow::Cow;

use zarr_strided::{View, ViewMut};
use zarr_traits::DataType;

use super::{Element, Form, WriteElement, is_named};
use crate::error::{ArrayErrorKind, ArrayResult};

/// The methods of elements that are their own memory.
macro_rules! as_it_is {
    (written) => {
        type Memory = Self;

        fn plain<'a>(elements: View<'a, Self>, _: &DataType) -> Option<View<'a, Self>> {
            Some(elements)
        }

        fn as_memory<'a>(elements: &'a [Self], _: &Form<'_>) -> ArrayResult<Cow<'a, [Self]>> {
            Ok(Cow::Borrowed(elements))
        }

        fn into_memory(elements: Vec<Self>, _: &Form<'_>) -> ArrayResult<Vec<Self>> {
            Ok(elements)
        }
    };
    (read) => {
        fn from_memory(memory: Vec<Self>, _: &Form<'_>) -> ArrayResult<Vec<Self>> {
            Ok(memory)
        }

        fn plain_mut<'a>(elements: ViewMut<'a, Self>, _: &DataType) -> Option<ViewMut<'a, Self>> {
            Some(elements)
        }

        fn reuse(elements: Vec<Self>, _: &DataType) -> Option<Vec<Self>> {
            Some(elements)
        }
    };
}

/// Implements the element traits for types of data types with one of these names and the same size.
macro_rules! numbers {
    ($($(#[$attr:meta])* $element:ty => $name:literal $(, $other:literal)*;)*) => {$(
        $(#[$attr])*
        impl WriteElement for $element {
            const NAME: &'static str = $name;

            fn fits(data_type: &DataType) -> ArrayResult<bool> {
                let named = [$name $(, $other)*].contains(&&*data_type.name());
                Ok(named && data_type.size() == Some(size_of::<Self>()))
            }

            fn data_type() -> Option<DataType> {
                super::named($name)
            }

            as_it_is!(written);
        }

        $(#[$attr])*
        impl Element for $element {
            as_it_is!(read);
        }
    )*};
}

numbers! {
    i16 => "int16";
    i32 => "int32";
    i64 => "int64", "numpy.datetime64", "numpy.timedelta64";
    u16 => "uint16";
    u32 => "uint32";
    u64 => "uint64";
    f32 => "float32";
    f64 => "float64";
    #[cfg(feature = "half")]
    half::f16 => "float16";
    #[cfg(feature = "half")]
    half::bf16 => "bfloat16";
    #[cfg(feature = "num-complex")]
    num_complex::Complex<f32> => "complex64", "complex_float32";
    #[cfg(feature = "num-complex")]
    num_complex::Complex<f64> => "complex128", "complex_float64";
    #[cfg(all(feature = "half", feature = "num-complex"))]
    num_complex::Complex<half::f16> => "complex_float16";
    #[cfg(all(feature = "half", feature = "num-complex"))]
    num_complex::Complex<half::bf16> => "complex_bfloat16";
}

impl<const N: usize> WriteElement for [u8; N] {
    const NAME: &'static str = "raw bytes";

    fn fits(data_type: &DataType) -> ArrayResult<bool> {
        let raw = matches!(data_type, DataType::Raw(_))
            || is_named(data_type, &["raw_bytes", "null_terminated_bytes"]);
        Ok(raw && data_type.size() == Some(N))
    }

    fn data_type() -> Option<DataType> {
        u32::try_from(N).ok().map(DataType::Raw)
    }

    as_it_is!(written);
}

impl<const N: usize> Element for [u8; N] {
    as_it_is!(read);
}

impl WriteElement for bool {
    type Memory = u8;

    const NAME: &'static str = "bool";

    fn fits(data_type: &DataType) -> ArrayResult<bool> {
        Ok(matches!(data_type, DataType::Bool))
    }

    fn data_type() -> Option<DataType> {
        Some(DataType::Bool)
    }

    fn as_memory<'a>(elements: &'a [Self], _: &Form<'_>) -> ArrayResult<Cow<'a, [u8]>> {
        Ok(Cow::Owned(elements.iter().map(|b| u8::from(*b)).collect()))
    }
}

impl Element for bool {
    fn from_memory(memory: Vec<u8>, form: &Form<'_>) -> ArrayResult<Vec<Self>> {
        // One pass without branches finds out whether any byte is wrong.
        if memory.iter().fold(0, |all, byte| all | byte) > 1
            && let Some(position) = memory.iter().position(|byte| *byte > 1)
        {
            let what = format!("is stored as the byte {}, a bool is 0 or 1", memory[position]);
            return Err(form.error(ArrayErrorKind::Corrupt, position, what));
        }
        Ok(memory.into_iter().map(|byte| byte != 0).collect())
    }
}
