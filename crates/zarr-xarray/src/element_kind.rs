//! The kinds of elements that the conventions distinguish.

use zarr_meta::DataType;
use zarr_meta::v3::Extension;

use crate::number::NumberType;

/// The kind of the elements of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ElementKind {
    /// Numbers.
    Number(NumberType),
    /// Booleans.
    Boolean,
    /// Texts of variable or fixed length.
    Text,
    /// Byte strings of variable or fixed length.
    Bytes {
        /// The number of bytes of an element if it is fixed.
        length: Option<u64>,
    },
    /// Times and spans of numpy, to which no attribute applies.
    NumpyTime,
    /// Anything else.
    Other,
}

impl ElementKind {
    /// Returns the kind of the elements of a data type.
    pub fn of(data_type: &Extension) -> Self {
        let number = || DataType::core(data_type.name())?.number();
        match data_type.name() {
            "bool" => Self::Boolean,
            "string" | "fixed_length_utf32" => Self::Text,
            "bytes" => Self::Bytes { length: None },
            "null_terminated_bytes" => {
                let length = data_type.configuration().get("length_bytes");
                let length = length.and_then(|length| length.as_number()?.to_integer()?.try_into().ok());
                length.map_or(Self::Other, |length| Self::Bytes { length: Some(length) })
            }
            "numpy.datetime64" | "numpy.timedelta64" => Self::NumpyTime,
            _ => number().map_or(Self::Other, Self::Number),
        }
    }
}
