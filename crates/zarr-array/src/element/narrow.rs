//! Integers of up to 8 bits, and the bits of floats of up to 8 bits.
//!
//! In the memory of chunks the unused upper bits are already valid, so this module only checks the range of values to
//! write.

use std::borrow::Cow;

use zarr_strided::{View, ViewMut};
use zarr_traits::{DataType, number::Numeric};

use super::{Element, Form, WriteElement};
use crate::error::ArrayResult;

/// Returns the number of bits of a one-byte element if it is an integer of that signedness. The bits of a float count
/// as unsigned.
fn bits(data_type: &DataType, signed: bool) -> Option<u32> {
    match data_type.numeric()? {
        Numeric::Integer { bits, signed: this } if bits <= 8 && this == signed => Some(bits),
        Numeric::Float(format) if format.size() == 1 && !signed => Some(format.bits()),
        _ => None,
    }
}

macro_rules! byte {
    ($element:ident, $name:literal, $signed:literal) => {
        impl WriteElement for $element {
            type Memory = Self;

            const NAME: &'static str = $name;

            fn fits(data_type: &DataType) -> ArrayResult<bool> {
                Ok(bits(data_type, $signed).is_some())
            }

            fn data_type() -> Option<DataType> {
                DataType::core($name)
            }

            fn plain<'a>(elements: View<'a, Self>, data_type: &DataType) -> Option<View<'a, Self>> {
                // With fewer bits, the range must be checked.
                (bits(data_type, $signed) == Some(8)).then_some(elements)
            }

            fn as_memory<'a>(elements: &'a [Self], form: &Form<'_>) -> ArrayResult<Cow<'a, [Self]>> {
                let upper = 8 - bits(form.data_type(), $signed).unwrap_or(8);
                if upper == 0 {
                    return Ok(Cow::Borrowed(elements)); // every byte is a valid element
                }
                let (least, most) = ($element::MIN >> upper, $element::MAX >> upper);
                match elements.iter().position(|number| !(least..=most).contains(number)) {
                    Some(at) => {
                        Err(form.wrong(at, format!("is {}, not from {least} to {most}", elements[at])))
                    }
                    None => Ok(Cow::Borrowed(elements)),
                }
            }

            fn into_memory(elements: Vec<Self>, form: &Form<'_>) -> ArrayResult<Vec<Self>> {
                Self::as_memory(&elements, form)?;
                Ok(elements)
            }
        }

        impl Element for $element {
            fn from_memory(memory: Vec<Self>, _: &Form<'_>) -> ArrayResult<Vec<Self>> {
                Ok(memory)
            }

            fn plain_mut<'a>(elements: ViewMut<'a, Self>, _: &DataType) -> Option<ViewMut<'a, Self>> {
                Some(elements)
            }

            fn reuse(elements: Vec<Self>, _: &DataType) -> Option<Vec<Self>> {
                Some(elements)
            }
        }
    };
}

byte!(i8, "int8", true);
byte!(u8, "uint8", false);
