//! Integers of a byte, and of fewer bits than a byte has; the bits of floats of a byte.
//!
//! In the memory of chunks the bits above those of the type are set by rule, so that nothing is to be done here but to
//! refuse what the type has not.

use std::borrow::Cow;

use zarr_traits::{DataType, number::Numeric};

use super::{Element, Form, WriteElement};
use crate::error::ArrayResult;

/// Bits of an element of one byte, if it is an integer that is `signed`, or bits that are as good as one that is not.
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

            fn as_memory<'a>(elements: &'a [Self], form: &Form<'_>) -> ArrayResult<Cow<'a, [Self]>> {
                let upper = 8 - bits(form.data_type(), $signed).unwrap_or(8);
                if upper == 0 {
                    return Ok(Cow::Borrowed(elements)); // every byte is an element, there is nothing to look for
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

            fn as_memory_mut<'a>(elements: &'a mut [Self], _: &DataType) -> Option<&'a mut [Self]> {
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
