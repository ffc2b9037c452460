#![doc = include_str!("../README.md")]

mod float;
mod types;

pub use float::FloatFormat;
pub use types::NumberType;

/// The numeric format of the elements of a data type. A component is an element, or one of the two parts of a complex
/// number. Its bits are the low bits of a `u64`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Numeric {
    /// 0 or 1.
    Bool,
    /// Integers of `bits` bits, in two's complement if `signed`.
    Integer {
        /// The number of bits, at most 64.
        bits: u32,
        /// Whether negative integers exist.
        signed: bool,
    },
    /// Floating-point numbers.
    Float(FloatFormat),
    /// A real and an imaginary part.
    Complex(FloatFormat),
}

impl Numeric {
    /// The number of components of an element: two for complex numbers, else one.
    pub fn components(self) -> usize {
        if let Self::Complex(_) = self { 2 } else { 1 }
    }

    /// The number of significant bits of a component.
    pub fn bits(self) -> u32 {
        match self {
            Self::Bool => 1,
            Self::Integer { bits, .. } => bits,
            Self::Float(format) | Self::Complex(format) => format.bits(),
        }
    }

    /// The bytes of a component in memory.
    pub fn size(self) -> usize {
        self.bits().div_ceil(8) as usize
    }

    /// Whether a component has unused bits in memory, as for int4. [`extend`](Self::extend) sets them.
    pub fn is_padded(self) -> bool {
        self != Self::Bool && !self.bits().is_multiple_of(8)
    }

    /// Returns the component with its unused bits set: to copies of the sign for signed integers, else to zeros.
    pub fn extend(self, bits: u64) -> u64 {
        let unused = 64 - self.bits().clamp(1, 64);
        match self {
            Self::Integer { signed: true, .. } => ((bits << unused).cast_signed() >> unused).cast_unsigned(),
            _ => bits << unused >> unused,
        }
    }

    /// Sets the unused bits of elements in memory, as [`extend`](Self::extend) does. Each component is one byte,
    /// because no wider type has unused bits.
    pub fn extend_all(self, elements: &mut [u8]) {
        if self.is_padded() {
            elements.iter_mut().for_each(|byte| *byte = self.extend((*byte).into()).to_le_bytes()[0]);
        }
    }

    /// Reads the bits of a component from memory of [`size`](Self::size) bytes.
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

    /// Writes a component to memory of [`size`](Self::size) bytes.
    pub fn store(self, bits: u64, memory: &mut [u8]) {
        let bytes = self.extend(bits).to_ne_bytes();
        let len = memory.len().min(8);
        let low = if cfg!(target_endian = "little") { &bytes[..len] } else { &bytes[8 - len..] };
        memory[..len].copy_from_slice(low);
    }

    /// Returns the number that a component represents.
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

    /// Returns the smallest and the largest integer, or `None` for floats.
    pub fn range(self) -> Option<(i128, i128)> {
        let power = |bits: u32| 1_i128 << bits;
        match self {
            Self::Bool => Some((0, 1)),
            Self::Integer { bits, signed: false } => Some((0, power(bits) - 1)),
            Self::Integer { bits, signed: true } => Some((-power(bits - 1), power(bits - 1) - 1)),
            Self::Float(_) | Self::Complex(_) => None,
        }
    }

    /// Returns the integer that a component represents, or `None` for floats.
    pub fn integer(self, bits: u64) -> Option<i128> {
        let bits = self.extend(bits);
        match self {
            Self::Integer { signed: true, .. } => Some(bits.cast_signed().into()),
            Self::Bool | Self::Integer { .. } => Some(bits.into()),
            Self::Float(_) | Self::Complex(_) => None,
        }
    }

    /// Returns the component for an integer, or `None` if the type cannot hold it or is a float.
    pub fn from_integer(self, integer: i128) -> Option<u64> {
        let (least, most) = self.range()?;
        (least..=most).contains(&integer).then_some(low_bits(integer))
    }
}

/// Returns `integer` modulo 2^64.
pub fn low_bits(integer: i128) -> u64 {
    #[allow(clippy::cast_possible_truncation, reason = "the function is for this")]
    let low = integer.cast_unsigned() as u64;
    low
}

/// An exact number, or one of the special values of floating point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Real {
    /// Not a number.
    Nan,
    /// Positive or negative infinity.
    Infinite {
        /// Whether it is negative infinity.
        negative: bool,
    },
    /// `mantissa × 2^exponent`, negated if `negative`. A zero has a sign.
    Finite {
        /// Whether the sign is negative.
        negative: bool,
        /// The magnitude without the power of two.
        mantissa: u64,
        /// The exponent of the power of two.
        exponent: i32,
    },
}

impl From<f64> for Real {
    fn from(value: f64) -> Self {
        FloatFormat::FLOAT64.real(value.to_bits())
    }
}

impl Real {
    /// Returns the number rounded to an integer. Returns `None` for NaN and infinities, and for integers of more than
    /// 127 bits, which are multiples of 2^64.
    pub fn to_integer(self, rounding: Rounding) -> Option<i128> {
        let Self::Finite { negative, mantissa, exponent } = self else { return None };
        let magnitude = match u32::try_from(exponent) {
            Ok(up) => i128::from(mantissa).checked_shl(up).filter(|n| up < 64 && *n >= 0)?,
            Err(_) => rounding.shift(mantissa, exponent.saturating_neg(), negative).into(),
        };
        Some(if negative { -magnitude } else { magnitude })
    }
}

/// Why a type cannot represent a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Beyond {
    /// It is larger than the largest number of the type.
    Above,
    /// It is smaller than the smallest number of the type.
    Below,
    /// It is NaN.
    Nan,
}

impl Beyond {
    fn side(negative: bool) -> Self {
        if negative { Self::Below } else { Self::Above }
    }
}

/// How to round a number between two numbers that a type can represent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rounding {
    /// To the closer number; a tie goes to the number whose last bit is 0.
    NearestEven,
    /// Towards zero.
    TowardsZero,
    /// To the larger number.
    TowardsPositive,
    /// To the smaller number.
    TowardsNegative,
    /// To the closer number; a tie goes away from zero.
    NearestAway,
}

impl Rounding {
    /// All ways of rounding.
    pub const ALL: [Self; 5] = [
        Self::NearestEven,
        Self::TowardsZero,
        Self::TowardsPositive,
        Self::TowardsNegative,
        Self::NearestAway,
    ];

    /// Returns `mantissa / 2^places`, rounded. Negative `places` multiply; the caller ensures that the result fits.
    fn shift(self, mantissa: u64, places: i32, negative: bool) -> u64 {
        let Ok(places) = u32::try_from(places) else { return mantissa << places.unsigned_abs().min(63) };
        if places == 0 {
            return mantissa;
        }
        // With more than 65 places every number is a small fraction of 1.
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
    use super::*;

    const INT4: Numeric = Numeric::Integer { bits: 4, signed: true };
    const UINT2: Numeric = Numeric::Integer { bits: 2, signed: false };

    #[test]
    fn unused_bits_of_an_element_are_ignored() {
        // rule B.t74
        let mut elements = [0xf7, 0x08, 0x7f, 0x00];
        INT4.extend_all(&mut elements);
        assert_eq!(elements, [0x07, 0xf8, 0xff, 0x00]);
        UINT2.extend_all(&mut elements);
        assert_eq!(elements, [3, 0, 3, 0]);
        let mut bools = [0, 1, 2];
        Numeric::Bool.extend_all(&mut bools);
        assert_eq!(bools, [0, 1, 2], "a bool is a whole byte and is not changed");
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
    fn components_in_memory_have_the_byte_order_of_the_machine() {
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
