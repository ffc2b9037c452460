//! Converts elements to numbers that zfp supports, and back.

use zarr_traits::strided::Plain;
use zarr_traits::{CodecError, CodecErrorKind, CodecResult, DataType};
use zfp_rs::ZfpScalar;

/// A number type that zfp supports.
pub(crate) trait Number: ZfpScalar + Plain + Default + PartialOrd + std::fmt::Debug {
    /// The signed integer of the same size.
    type Bits: ZfpScalar;

    /// Returns the number with these bits.
    fn from_bits(bits: Self::Bits) -> Self;

    /// Whether lossy modes of zfp can represent the number: floats must be finite, and the sum of two integers must not
    /// overflow.
    fn is_tame(self) -> bool;
}

macro_rules! number {
    ($($t:ty, $bits:ty, $b:ident => $from:expr, $n:ident => $tame:expr;)*) => {$(
        impl Number for $t {
            type Bits = $bits;

            fn from_bits($b: $bits) -> Self {
                $from
            }

            fn is_tame(self) -> bool {
                let $n = self;
                $tame
            }
        }
    )*};
}
number! {
    i32, i32, bits => bits, n => (-(1 << 30)..1 << 30).contains(&n);
    i64, i64, bits => bits, n => (-(1 << 62)..1 << 62).contains(&n);
    f32, i32, bits => Self::from_bits(bits.cast_unsigned()), n => n.is_finite();
    f64, i64, bits => Self::from_bits(bits.cast_unsigned()), n => n.is_finite();
}

/// How elements of a data type become numbers of zfp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Elements are numbers.
    Same,
    /// The bits are those of a signed integer that must not be negative.
    NotNegative,
    /// An int32, shifted up so that one bit is free: `zfp_promote_int8_to_int32` and similar.
    Int8,
    Int16,
    /// The same after subtracting half the range: `zfp_promote_uint8_to_int32` and similar.
    UInt8,
    UInt16,
}

impl Form {
    /// Returns the form of a data type, or `None` if zfp does not support it.
    pub(crate) fn of(data_type: &DataType) -> Option<Self> {
        Some(match data_type {
            DataType::Int32 | DataType::Int64 | DataType::Float32 | DataType::Float64 => Self::Same,
            DataType::UInt32 | DataType::UInt64 => Self::NotNegative,
            DataType::Int8 => Self::Int8,
            DataType::Int16 => Self::Int16,
            DataType::UInt8 => Self::UInt8,
            DataType::UInt16 => Self::UInt16,
            _ => return None,
        })
    }

    /// Whether an element has the size of its number.
    pub(crate) fn is_as_wide(self) -> bool {
        matches!(self, Self::Same | Self::NotNegative)
    }

    /// Converts narrower elements to numbers, both in the byte order of this machine.
    pub(crate) fn promote(self, elements: &[u8], numbers: &mut [u8]) {
        match self {
            Self::Same | Self::NotNegative => {}
            Self::Int8 => widen(elements, numbers, |e| i32::from(i8::from_ne_bytes(e)) << 23),
            Self::Int16 => widen(elements, numbers, |e| i32::from(i16::from_ne_bytes(e)) << 15),
            Self::UInt8 => widen(elements, numbers, |e| (i32::from(u8::from_ne_bytes(e)) - 0x80) << 23),
            Self::UInt16 => widen(elements, numbers, |e| (i32::from(u16::from_ne_bytes(e)) - 0x8000) << 15),
        }
    }

    /// Converts numbers back to elements, clamped to their range.
    #[allow(clippy::cast_possible_truncation, reason = "clamped to what fits")]
    pub(crate) fn demote(self, numbers: &[u8], elements: &mut [u8]) {
        match self {
            Self::Same | Self::NotNegative => {}
            Self::Int8 => narrow(numbers, elements, |n| ((n >> 23).clamp(-0x80, 0x7f) as i8).to_ne_bytes()),
            Self::Int16 => {
                narrow(numbers, elements, |n| ((n >> 15).clamp(-0x8000, 0x7fff) as i16).to_ne_bytes());
            }
            Self::UInt8 => {
                narrow(numbers, elements, |n| (((n >> 23) + 0x80).clamp(0, 0xff) as u8).to_ne_bytes());
            }
            Self::UInt16 => {
                narrow(numbers, elements, |n| (((n >> 15) + 0x8000).clamp(0, 0xffff) as u16).to_ne_bytes());
            }
        }
    }

    /// Checks that zfp can represent these numbers.
    pub(crate) fn check<N: Number>(self, numbers: &[N], lossless: bool) -> CodecResult<()> {
        let wrong = |i: usize, why: &str| {
            let message = format!("element {i} in C order {why}");
            Err(CodecError::new(CodecErrorKind::Value, message))
        };
        if self == Self::NotNegative
            && let Some(i) = numbers.iter().position(|n| *n < N::default())
        {
            return wrong(i, &format!("is 2^{} or more, zfp has no such number", 8 * size_of::<N>() - 1));
        }
        match numbers.iter().position(|n| !lossless && !n.is_tame()) {
            None => Ok(()),
            Some(i) => wrong(i, &format!("is {:?}, which only lossless modes of zfp keep", numbers[i])),
        }
    }

    /// Replaces negative numbers by 0 in unsigned elements.
    pub(crate) fn mend<N: Number>(self, numbers: &mut [N]) {
        if self == Self::NotNegative {
            let zero = N::default();
            numbers.iter_mut().filter(|n| **n < zero).for_each(|n| *n = zero);
        }
    }
}

fn widen<const N: usize>(elements: &[u8], numbers: &mut [u8], promote: impl Fn([u8; N]) -> i32) {
    let numbers = numbers.as_chunks_mut().0.iter_mut();
    numbers
        .zip(elements.as_chunks().0)
        .for_each(|(number, element)| *number = promote(*element).to_ne_bytes());
}

fn narrow<const N: usize>(numbers: &[u8], elements: &mut [u8], demote: impl Fn(i32) -> [u8; N]) {
    let elements = elements.as_chunks_mut().0.iter_mut();
    elements
        .zip(numbers.as_chunks().0)
        .for_each(|(element, number)| *element = demote(i32::from_ne_bytes(*number)));
}
