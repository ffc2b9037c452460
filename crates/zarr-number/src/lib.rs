#![doc = include_str!("../README.md")]

mod float;

pub use float::FloatFormat;

use serde_json::Value;

/// What the elements of a data type are. A component is the element itself, or one of the two parts of a complex number.
/// Its bits are the low ones of a `u64`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Numeric {
    /// 0 or 1.
    Bool,
    /// Integers of `bits` bits, in two's complement if `signed`.
    Integer {
        /// 64 at most.
        bits: u32,
        /// Whether there are negative ones.
        signed: bool,
    },
    /// Floating-point numbers.
    Float(FloatFormat),
    /// A real and an imaginary part.
    Complex(FloatFormat),
}

impl Numeric {
    /// Parts of an element: two of a complex number.
    pub fn components(self) -> usize {
        if let Self::Complex(_) = self { 2 } else { 1 }
    }

    /// Bits of a component that have a meaning.
    pub fn bits(self) -> u32 {
        match self {
            Self::Bool => 1,
            Self::Integer { bits, .. } => bits,
            Self::Float(format) | Self::Complex(format) => format.bits(),
        }
    }

    /// Bytes of a component in memory.
    pub fn size(self) -> usize {
        self.bits().div_ceil(8) as usize
    }

    /// Whether a component has bits in memory that mean nothing, as int4 has. In memory these are what
    /// [`extend`](Self::extend) makes of the others.
    pub fn is_padded(self) -> bool {
        self != Self::Bool && !self.bits().is_multiple_of(8)
    }

    /// The component with the bits above its own set by rule: copies of the sign for signed integers, else zeros
    /// (checklist B30).
    pub fn extend(self, bits: u64) -> u64 {
        let unused = 64 - self.bits().clamp(1, 64);
        match self {
            Self::Integer { signed: true, .. } => ((bits << unused).cast_signed() >> unused).cast_unsigned(),
            _ => bits << unused >> unused,
        }
    }

    /// Sets the bits of elements in memory that mean nothing, as [`extend`](Self::extend) has them. Each component is one
    /// byte, because no wider type has such bits.
    pub fn extend_all(self, elements: &mut [u8]) {
        if self.is_padded() {
            elements.iter_mut().for_each(|byte| *byte = self.extend((*byte).into()).to_le_bytes()[0]);
        }
    }

    /// The bits of a component from its memory, which has [`size`](Self::size) bytes.
    pub fn load(self, memory: &[u8]) -> u64 {
        let mut bytes = [0; 8];
        let len = memory.len().min(8);
        if cfg!(target_endian = "little") {
            bytes[..len].copy_from_slice(&memory[..len]);
        } else {
            bytes[8 - len..].copy_from_slice(&memory[..len]);
        }
        u64::from_ne_bytes(bytes)
    }

    /// Puts a component into its memory, which has [`size`](Self::size) bytes.
    pub fn store(self, bits: u64, memory: &mut [u8]) {
        let bytes = self.extend(bits).to_ne_bytes();
        let len = memory.len().min(8);
        let low = if cfg!(target_endian = "little") { &bytes[..len] } else { &bytes[8 - len..] };
        memory[..len].copy_from_slice(low);
    }

    /// What a component stands for.
    pub fn real(self, bits: u64) -> Real {
        match self {
            Self::Float(format) | Self::Complex(format) => format.real(bits),
            Self::Integer { signed: true, .. } => {
                let integer = self.extend(bits).cast_signed();
                Real::Finite { negative: integer < 0, mantissa: integer.unsigned_abs(), exponent: 0 }
            }
            Self::Bool | Self::Integer { .. } => {
                Real::Finite { negative: false, mantissa: self.extend(bits), exponent: 0 }
            }
        }
    }

    /// The smallest and the largest integer; `None` for floats.
    pub fn range(self) -> Option<(i128, i128)> {
        let power = |bits: u32| 1_i128 << bits;
        match self {
            Self::Bool => Some((0, 1)),
            Self::Integer { bits, signed: false } => Some((0, power(bits) - 1)),
            Self::Integer { bits, signed: true } => Some((-power(bits - 1), power(bits - 1) - 1)),
            Self::Float(_) | Self::Complex(_) => None,
        }
    }

    /// The integer that a component is; `None` for floats.
    pub fn integer(self, bits: u64) -> Option<i128> {
        let bits = self.extend(bits);
        match self {
            Self::Integer { signed: true, .. } => Some(bits.cast_signed().into()),
            Self::Bool | Self::Integer { .. } => Some(bits.into()),
            Self::Float(_) | Self::Complex(_) => None,
        }
    }

    /// The component that is this integer; `None` where the type has none such, and for floats.
    pub fn from_integer(self, integer: i128) -> Option<u64> {
        let (least, most) = self.range()?;
        (least..=most).contains(&integer).then_some(low_bits(integer))
    }

    /// The component of integers or real floats that a scalar of a document stands for, in the JSON form of fill values
    /// (checklist B.2, B.3).
    ///
    /// A decimal fraction goes by way of a double, as everything in a parsed document does.
    pub fn from_json(self, value: &Value) -> Option<u64> {
        match (self, value) {
            (Self::Float(format), Value::String(text)) => format.from_text(text),
            (Self::Float(format), Value::Number(number)) => {
                format.round(Real::from(number.as_f64()?), Rounding::NearestEven).ok()
            }
            (Self::Integer { .. }, Value::Number(number)) => {
                let integer = number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from));
                self.from_integer(integer?)
            }
            _ => None,
        }
    }
}

/// An integer modulo 2^64.
pub fn low_bits(integer: i128) -> u64 {
    #[allow(clippy::cast_possible_truncation, reason = "this is what it is for")]
    let low = integer.cast_unsigned() as u64;
    low
}

/// A number, exactly, or what floating point has beside numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Real {
    /// Not a number.
    Nan,
    /// Larger than any number, or smaller.
    Infinite {
        /// Whether it is smaller.
        negative: bool,
    },
    /// `mantissa × 2^exponent`, or that below zero. A zero has a sign.
    Finite {
        /// Whether it is below zero.
        negative: bool,
        /// The factor.
        mantissa: u64,
        /// The power of two.
        exponent: i32,
    },
}

impl From<f64> for Real {
    fn from(value: f64) -> Self {
        FloatFormat::FLOAT64.real(value.to_bits())
    }
}

impl Real {
    /// The integer closest to it in the way of `rounding`; `None` for what is no number, and for integers of more than 127
    /// bits, which are multiples of 2^64.
    pub fn to_integer(self, rounding: Rounding) -> Option<i128> {
        let Self::Finite { negative, mantissa, exponent } = self else { return None };
        let magnitude = match u32::try_from(exponent) {
            Ok(up) => i128::from(mantissa).checked_shl(up).filter(|n| up < 64 && *n >= 0)?,
            Err(_) => rounding.shift(mantissa, exponent.saturating_neg(), negative).into(),
        };
        Some(if negative { -magnitude } else { magnitude })
    }
}

/// Why a number is none of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beyond {
    /// It is larger than the largest.
    Above,
    /// It is smaller than the smallest.
    Below,
    /// It is not a number.
    Nan,
}

impl Beyond {
    fn side(negative: bool) -> Self {
        if negative { Self::Below } else { Self::Above }
    }
}

/// How a number between two that a type has becomes one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rounding {
    /// The closer one; from the middle that whose last bit is 0.
    NearestEven,
    /// The one that is closer to zero.
    TowardsZero,
    /// The larger one.
    TowardsPositive,
    /// The smaller one.
    TowardsNegative,
    /// The closer one; from the middle that which is farther from zero.
    NearestAway,
}

impl Rounding {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::NearestEven,
        Self::TowardsZero,
        Self::TowardsPositive,
        Self::TowardsNegative,
        Self::NearestAway,
    ];

    /// The magnitude `mantissa / 2^places`, rounded; negative `places` multiply, which the caller knows to fit.
    fn shift(self, mantissa: u64, places: i32, negative: bool) -> u64 {
        let Ok(places) = u32::try_from(places) else { return mantissa << places.unsigned_abs().min(63) };
        if places == 0 {
            return mantissa;
        }
        // Beyond 65 places every number is a small part of one.
        let wide = u128::from(mantissa);
        let places = places.min(66);
        let (kept, rest) = (wide >> places, wide & ((1 << places) - 1));
        let middle = 1_u128 << (places - 1);
        let up = rest > 0
            && match self {
                Self::NearestEven => rest > middle || rest == middle && kept & 1 == 1,
                Self::NearestAway => rest >= middle,
                Self::TowardsZero => false,
                Self::TowardsPositive => !negative,
                Self::TowardsNegative => negative,
            };
        #[allow(clippy::cast_possible_truncation, reason = "at least one bit has gone")]
        let kept = kept as u64;
        kept + u64::from(up)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const INT4: Numeric = Numeric::Integer { bits: 4, signed: true };
    const UINT2: Numeric = Numeric::Integer { bits: 2, signed: false };
    const UINT64: Numeric = Numeric::Integer { bits: 64, signed: false };
    const INT64: Numeric = Numeric::Integer { bits: 64, signed: true };

    #[test]
    fn b_t74_bits_above_an_element_mean_nothing() {
        let mut elements = [0xf7, 0x08, 0x7f, 0x00];
        INT4.extend_all(&mut elements);
        assert_eq!(elements, [0x07, 0xf8, 0xff, 0x00]);
        UINT2.extend_all(&mut elements);
        assert_eq!(elements, [3, 0, 3, 0]);
        let mut bools = [0, 1, 2];
        Numeric::Bool.extend_all(&mut bools);
        assert_eq!(bools, [0, 1, 2], "a bool is a whole byte, which others judge");
    }

    #[test]
    fn b_t73_scalars_of_documents() {
        for (numeric, value, bits) in [
            (INT4, json!(-8), Some(-8_i64)),
            (INT4, json!(8), None),
            (UINT2, json!(3), Some(3)),
            (UINT2, json!(4), None),
            (UINT2, json!(-1), None),
            (UINT64, json!(u64::MAX), Some(-1)),
            (INT64, json!(i64::MIN), Some(i64::MIN)),
            (INT64, json!(1.5), None),
            (INT64, json!("1"), None),
            (Numeric::Float(FloatFormat::FLOAT32), json!(0.1), Some(0x3dcc_cccd)),
            (Numeric::Float(FloatFormat::FLOAT32), json!("NaN"), Some(0x7fc0_0000)),
            (Numeric::Float(FloatFormat::FLOAT16), json!(1e6), None),
            (Numeric::Bool, json!(true), None),
        ] {
            assert_eq!(numeric.from_json(&value), bits.map(i64::cast_unsigned), "{numeric:?} {value}");
        }
    }

    #[test]
    fn integers_are_rounded_once() {
        let whole = |value: f64, rounding| Real::from(value).to_integer(rounding);
        for (value, expected) in [
            // nearest-even, towards-zero, towards-positive, towards-negative, nearest-away
            (2.5, [2, 2, 3, 2, 3]),
            (-2.5, [-2, -2, -2, -3, -3]),
            (3.5, [4, 3, 4, 3, 4]),
            (0.49, [0, 0, 1, 0, 0]),
            (-1e-300, [0, 0, 0, -1, 0]),
            (9007199254740993.0, [9_007_199_254_740_992; 5]),
        ] {
            assert_eq!(Rounding::ALL.map(|r| whole(value, r)), expected.map(Some), "{value}");
        }
        assert_eq!(whole(2f64.powi(100), Rounding::TowardsZero), Some(1 << 100));
        assert_eq!(whole(1e300, Rounding::TowardsZero), None);
        assert_eq!(whole(f64::NAN, Rounding::TowardsZero), None);
    }

    #[test]
    fn components_lie_in_memory_in_the_order_of_the_machine() {
        let mut memory = [0; 2];
        let int16 = Numeric::Integer { bits: 16, signed: true };
        int16.store((-2_i64).cast_unsigned(), &mut memory);
        assert_eq!(memory, (-2_i16).to_ne_bytes());
        assert_eq!(
            int16.real(int16.load(&memory)),
            Real::Finite { negative: true, mantissa: 2, exponent: 0 }
        );
    }
}
