//! Binary floating-point formats of any width up to 64 bits.

use super::{Beyond, Real, Rounding};

/// A binary floating-point format: the sizes of its sign, exponent and fraction, and its special values.
///
/// The rules of the small formats are in [registered data
/// types](https://github.com/zarr-rs/zarr/blob/traits-v0.1.0/docs/specification/extensions.md#b.5).
///
/// The bits of a number are the low bits of a `u64`.
///
/// ```
/// use zarr_number::{FloatFormat, Real, Rounding};
/// let bits = FloatFormat::BFLOAT16.round(Real::from(1.01), Rounding::NearestEven);
/// assert_eq!(bits, Ok(0x3f81));
/// assert_eq!(FloatFormat::BFLOAT16.to_f64(0x3f81), 1.0078125);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FloatFormat {
    name: &'static str,
    exponent: u32,
    fraction: u32,
    bias: i32,
    specials: Specials,
}

/// The bit patterns that do not represent a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Specials {
    /// As in IEEE 754: the largest exponent marks infinities and NaNs.
    Ieee,
    /// No special values ("fn" in formats of less than a byte).
    None,
    /// The NaN has all bits below the sign set ("fn").
    LastIsNan,
    /// The pattern of negative zero is the NaN ("fnuz").
    NegativeZeroIsNan,
    /// The format has no sign, no zero and no fraction. The NaN has all bits set ("fnu").
    ExponentOnly,
}

const fn format(
    name: &'static str,
    exponent: u32,
    fraction: u32,
    bias: i32,
    specials: Specials,
) -> FloatFormat {
    FloatFormat { name, exponent, fraction, bias, specials }
}

impl FloatFormat {
    /// IEEE 754 binary16.
    pub const FLOAT16: Self = format("float16", 5, 10, 15, Specials::Ieee);
    /// IEEE 754 binary32.
    pub const FLOAT32: Self = format("float32", 8, 23, 127, Specials::Ieee);
    /// IEEE 754 binary64.
    pub const FLOAT64: Self = format("float64", 11, 52, 1023, Specials::Ieee);
    /// The upper half of a binary32.
    pub const BFLOAT16: Self = format("bfloat16", 8, 7, 127, Specials::Ieee);

    /// `float4_e2m1fn`.
    pub const FLOAT4_E2M1FN: Self = format("float4_e2m1fn", 2, 1, 1, Specials::None);
    /// `float6_e2m3fn`.
    pub const FLOAT6_E2M3FN: Self = format("float6_e2m3fn", 2, 3, 1, Specials::None);
    /// `float6_e3m2fn`.
    pub const FLOAT6_E3M2FN: Self = format("float6_e3m2fn", 3, 2, 3, Specials::None);
    /// `float8_e3m4`.
    pub const FLOAT8_E3M4: Self = format("float8_e3m4", 3, 4, 3, Specials::Ieee);
    /// `float8_e4m3`.
    pub const FLOAT8_E4M3: Self = format("float8_e4m3", 4, 3, 7, Specials::Ieee);
    /// `float8_e4m3b11fnuz`.
    pub const FLOAT8_E4M3B11FNUZ: Self = format("float8_e4m3b11fnuz", 4, 3, 11, Specials::NegativeZeroIsNan);
    /// `float8_e4m3fn`, which is not registered.
    pub const FLOAT8_E4M3FN: Self = format("float8_e4m3fn", 4, 3, 7, Specials::LastIsNan);
    /// `float8_e4m3fnuz`.
    pub const FLOAT8_E4M3FNUZ: Self = format("float8_e4m3fnuz", 4, 3, 8, Specials::NegativeZeroIsNan);
    /// `float8_e5m2`.
    pub const FLOAT8_E5M2: Self = format("float8_e5m2", 5, 2, 15, Specials::Ieee);
    /// `float8_e5m2fnuz`.
    pub const FLOAT8_E5M2FNUZ: Self = format("float8_e5m2fnuz", 5, 2, 16, Specials::NegativeZeroIsNan);
    /// `float8_e8m0fnu`.
    pub const FLOAT8_E8M0FNU: Self = format("float8_e8m0fnu", 8, 0, 127, Specials::ExponentOnly);

    /// The name of the data type whose elements have this format.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// The number of bits of a number.
    pub fn bits(self) -> u32 {
        u32::from(self.is_signed()) + self.exponent + self.fraction
    }

    /// The number of bits of the fraction, without the leading bit that is not stored.
    pub fn fraction_bits(self) -> u32 {
        self.fraction
    }

    /// The bytes that a number takes in memory.
    pub fn size(self) -> usize {
        self.bits().div_ceil(8) as usize
    }

    fn is_signed(self) -> bool {
        self.specials != Specials::ExponentOnly
    }

    /// The sign bit, or 0 if the format has no sign.
    fn sign(self) -> u64 {
        u64::from(self.is_signed()) << (self.exponent + self.fraction)
    }

    /// All bits below the sign.
    fn magnitude(self) -> u64 {
        (1 << (self.exponent + self.fraction)) - 1
    }

    /// Returns the bits of positive infinity, or `None` if the format has none.
    pub fn infinity(self) -> Option<u64> {
        (self.specials == Specials::Ieee).then_some(self.top())
    }

    /// The largest exponent with a zero fraction.
    fn top(self) -> u64 {
        ((1 << self.exponent) - 1) << self.fraction
    }

    /// Returns the bits that `"NaN"` means in documents, or `None` if the format has no NaN. In IEEE formats it is the
    /// positive quiet NaN without payload.
    pub fn nan(self) -> Option<u64> {
        match self.specials {
            Specials::Ieee => Some(self.top() | 1 << (self.fraction - 1)),
            Specials::None => None,
            Specials::LastIsNan | Specials::ExponentOnly => Some(self.magnitude()),
            Specials::NegativeZeroIsNan => Some(self.sign()),
        }
    }

    /// Whether the bits are a NaN, with any payload.
    pub fn is_nan(self, bits: u64) -> bool {
        let magnitude = bits & self.magnitude();
        match self.specials {
            Specials::Ieee => magnitude > self.top(),
            Specials::None => false,
            Specials::LastIsNan | Specials::ExponentOnly => magnitude == self.magnitude(),
            Specials::NegativeZeroIsNan => bits & (self.sign() | self.magnitude()) == self.sign(),
        }
    }

    /// The magnitude bits of the largest number.
    fn largest(self) -> u64 {
        match self.specials {
            Specials::Ieee => self.top() - 1,
            Specials::None | Specials::NegativeZeroIsNan => self.magnitude(),
            Specials::LastIsNan | Specials::ExponentOnly => self.magnitude() - 1,
        }
    }

    /// Returns the exponent of numbers with this exponent field. They are `fraction × 2^exponent`.
    fn scale(self, field: i32) -> i32 {
        // Signed formats have subnormal numbers, which scale like the smallest normal numbers.
        let field = if self.is_signed() { field.max(1) } else { field };
        field.saturating_sub(self.bias).saturating_sub(self.fraction.cast_signed())
    }

    /// Returns the number that the bits represent.
    pub fn real(self, bits: u64) -> Real {
        let magnitude = bits & self.magnitude();
        let negative = bits & self.sign() != 0;
        if self.is_nan(bits) {
            return Real::Nan;
        }
        if self.infinity() == Some(magnitude) {
            return Real::Infinite { negative };
        }
        let (field, fraction) = (magnitude >> self.fraction, magnitude & ((1 << self.fraction) - 1));
        let implied = u64::from(field > 0 || self.specials == Specials::ExponentOnly) << self.fraction;
        Real::Finite {
            negative,
            mantissa: fraction | implied,
            exponent: self.scale(i32::try_from(field).unwrap_or(i32::MAX)),
        }
    }

    /// Returns the value as a double, exactly. A NaN may lose its payload.
    pub fn to_f64(self, bits: u64) -> f64 {
        match self.real(bits) {
            _ if self == Self::FLOAT64 => f64::from_bits(bits),
            Real::Nan => f64::NAN,
            Real::Infinite { negative: false } => f64::INFINITY,
            Real::Infinite { negative: true } => f64::NEG_INFINITY,
            Real::Finite { negative, mantissa, exponent } => {
                // The mantissa has at most 24 bits, so both factors and the product are exact doubles.
                let magnitude = mantissa as f64 * 2f64.powi(exponent);
                if negative { -magnitude } else { magnitude }
            }
        }
    }

    /// Rounds `real` to this format. A zero keeps its sign if the format has two zeros.
    ///
    /// # Errors
    /// [`Beyond`] if the number, rounded as if the exponent had no limits, is outside the range of the format; if it is
    /// an infinity or NaN and the format has none.
    pub fn round(self, real: Real, rounding: Rounding) -> Result<u64, Beyond> {
        let (negative, mantissa, exponent) = match real {
            Real::Nan => return self.nan().ok_or(Beyond::Nan),
            Real::Infinite { negative } => {
                let infinity = self.infinity().ok_or(Beyond::side(negative))?;
                return Ok(self.signed(infinity, negative));
            }
            Real::Finite { negative, mantissa, exponent } => (negative, mantissa, exponent),
        };
        let beyond = Beyond::side(negative);
        if self.specials == Specials::ExponentOnly && (negative || mantissa == 0) {
            return if mantissa == 0 { Err(Beyond::Below) } else { Err(beyond) };
        }
        if mantissa == 0 {
            return Ok(self.signed(0, negative));
        }
        // The exponent field that the number would have if it were normal: 1 and a fraction, times a power of two.
        let power = exponent.saturating_add(63 - mantissa.leading_zeros().cast_signed());
        let field = match power.saturating_add(self.bias) {
            field if self.is_signed() => field.max(1),
            // Rounding can add at most one.
            field if field < -1 => return Err(Beyond::Below),
            field => field,
        };
        if field >= 1 << self.exponent {
            return Err(beyond);
        }
        let places = rounding.shift(mantissa, self.scale(field).saturating_sub(exponent), negative);
        // `places` is in units of the last place. If it has a leading bit, that bit is not stored. A carry out of the
        // fraction correctly increments the exponent.
        let Some(stored) = places.checked_sub(1 << self.fraction) else {
            return Ok(self.signed(places, negative));
        };
        let magnitude = (i64::from(field) << self.fraction) + stored.cast_signed();
        match u64::try_from(magnitude) {
            Ok(magnitude) if magnitude <= self.largest() => Ok(self.signed(magnitude, negative)),
            Ok(_) => Err(beyond),
            Err(_) => Err(Beyond::Below),
        }
    }

    /// Returns the replacement for a number outside the range: an infinity if the format has one, else the number at
    /// that end. Returns `None` for NaN.
    pub fn clamp(self, beyond: Beyond) -> Option<u64> {
        let most = self.infinity().unwrap_or(self.largest());
        match beyond {
            Beyond::Above => Some(most),
            Beyond::Below => Some(if self.is_signed() { self.signed(most, true) } else { 0 }),
            Beyond::Nan => None,
        }
    }

    fn signed(self, magnitude: u64, negative: bool) -> u64 {
        let has_sign = magnitude != 0 || self.specials != Specials::NegativeZeroIsNan;
        if negative && has_sign { self.sign() | magnitude } else { magnitude }
    }

    /// Parses a string of a document: `NaN`, `Infinity` and `-Infinity` if the format has them, and `0x` with two
    /// hexadecimal digits per byte.
    pub fn from_text(self, text: &str) -> Option<u64> {
        match text {
            "NaN" => self.nan(),
            "Infinity" => self.infinity(),
            "-Infinity" => Some(self.sign() | self.infinity()?),
            _ => {
                let digits = text.strip_prefix("0x")?;
                let exact = digits.len() == 2 * self.size() && digits.bytes().all(|b| b.is_ascii_hexdigit());
                let bits = exact.then(|| u64::from_str_radix(digits, 16).ok()).flatten()?;
                // Bits above those of the format are ignored.
                Some(bits & (self.sign() | self.magnitude()))
            }
        }
    }

    /// Returns the string for bits that no JSON number represents, in the form that [`from_text`](Self::from_text)
    /// reads, or `None` for other bits.
    pub fn to_text(self, bits: u64) -> Option<String> {
        match self.real(bits) {
            Real::Finite { .. } => None,
            Real::Infinite { negative: false } => Some("Infinity".to_owned()),
            Real::Infinite { negative: true } => Some("-Infinity".to_owned()),
            Real::Nan if Some(bits) == self.nan() => Some("NaN".to_owned()),
            Real::Nan => Some(format!("0x{bits:0width$x}", width = 2 * self.size())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> impl Iterator<Item = FloatFormat> {
        [
            FloatFormat::FLOAT4_E2M1FN,
            FloatFormat::FLOAT6_E2M3FN,
            FloatFormat::FLOAT6_E3M2FN,
            FloatFormat::FLOAT8_E3M4,
            FloatFormat::FLOAT8_E4M3,
            FloatFormat::FLOAT8_E4M3B11FNUZ,
            FloatFormat::FLOAT8_E4M3FN,
            FloatFormat::FLOAT8_E4M3FNUZ,
            FloatFormat::FLOAT8_E5M2,
            FloatFormat::FLOAT8_E5M2FNUZ,
            FloatFormat::FLOAT8_E8M0FNU,
            FloatFormat::FLOAT16,
            FloatFormat::BFLOAT16,
        ]
        .into_iter()
    }

    fn named(name: &str) -> FloatFormat {
        all().find(|f| f.name() == name).unwrap()
    }

    #[test]
    fn each_format_has_its_smallest_and_largest_number() {
        // rules B20 and B23 to B28
        // name, smallest number above zero, largest number, bits of the largest, according to ml_dtypes
        for (name, least, most, bits) in [
            ("float4_e2m1fn", 0.5, 6.0, 0x7),
            ("float6_e2m3fn", 0.125, 7.5, 0x1f),
            ("float6_e3m2fn", 0.0625, 28.0, 0x1f),
            ("float8_e3m4", 0.015625, 15.5, 0x6f),
            ("float8_e4m3", 0.001953125, 240.0, 0x77),
            ("float8_e4m3b11fnuz", 0.0001220703125, 30.0, 0x7f),
            ("float8_e4m3fn", 0.001953125, 448.0, 0x7e),
            ("float8_e4m3fnuz", 0.0009765625, 240.0, 0x7f),
            ("float8_e5m2", 1.52587890625e-5, 57344.0, 0x7b),
            ("float8_e5m2fnuz", 7.62939453125e-6, 57344.0, 0x7f),
            ("float8_e8m0fnu", 1.1754943508222875e-38, 1.7014118346046923e38, 0xfe),
            ("float16", 5.960464477539063e-8, 65504.0, 0x7bff),
            ("bfloat16", 9.183549615799121e-41, 3.3895313892515355e38, 0x7f7f),
        ] {
            let format = named(name);
            assert_eq!(format.to_f64(bits), most, "{name}");
            let first = u64::from(name != "float8_e8m0fnu");
            let expected = if first == 0 { 2f64.powi(-127) } else { least };
            assert_eq!(format.to_f64(first), expected, "{name}");
            assert_eq!(format.round(Real::from(most), Rounding::NearestEven), Ok(bits), "{name}");
            assert_eq!(format.round(Real::from(most * 2.0), Rounding::NearestEven), Err(Beyond::Above));
        }
        let values: Vec<f64> = (0..8).map(|bits| named("float4_e2m1fn").to_f64(bits)).collect();
        assert_eq!(values, [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]); // rule B28
    }

    #[test]
    fn special_values_have_names_and_bits() {
        // section B.3
        for (name, nan, infinity) in [
            ("float16", Some(0x7e00), Some(0x7c00)),
            ("bfloat16", Some(0x7fc0), Some(0x7f80)),
            ("float8_e3m4", Some(0x78), Some(0x70)), // rule B23
            ("float8_e4m3", Some(0x7c), Some(0x78)), // rule B24
            ("float8_e5m2", Some(0x7e), Some(0x7c)), // rules B25 and B.t75
            ("float8_e4m3fnuz", Some(0x80), None),   // rule B26
            ("float8_e4m3fn", Some(0x7f), None),     // rule B43
            ("float8_e8m0fnu", Some(0xff), None),    // rule B27
            ("float4_e2m1fn", None, None),           // rules B28 and B.t76
        ] {
            let format = named(name);
            assert_eq!(format.from_text("NaN"), nan, "{name}");
            assert_eq!(format.from_text("Infinity"), infinity, "{name}");
            assert_eq!(nan.and_then(|bits| format.to_text(bits)).as_deref(), nan.map(|_| "NaN"), "{name}");
        }
        assert_eq!(FloatFormat::FLOAT32.from_text("0x7fc00001"), Some(0x7fc0_0001)); // rule B.t25
        assert_eq!(FloatFormat::FLOAT32.to_text(0x7fc0_0001).as_deref(), Some("0x7fc00001"));
        assert_eq!(FloatFormat::FLOAT64.from_text("-Infinity"), Some(0xfff0 << 48));
        for bad in ["0x1", "0X7fc00001", "0x7ff8000000000001", "nan", "0x+fc00001", ""] {
            assert_eq!(FloatFormat::FLOAT32.from_text(bad), None, "{bad}"); // rules B.t27 to B.t29
        }
        assert_eq!(named("float6_e2m3fn").from_text("0xff"), Some(0x3f));
    }

    #[test]
    fn every_number_survives_every_rounding() {
        for format in all() {
            for bits in 0..1_u64 << format.bits() {
                for rounding in Rounding::ALL {
                    match format.round(format.real(bits), rounding) {
                        Ok(again) if format.is_nan(bits) => assert_eq!(Some(again), format.nan()),
                        again => assert_eq!(again, Ok(bits), "{} {bits:#x} {rounding:?}", format.name()),
                    }
                }
                if !format.is_nan(bits) {
                    let double = Real::from(format.to_f64(bits));
                    assert_eq!(format.round(double, Rounding::TowardsZero), Ok(bits));
                }
            }
        }
    }

    #[test]
    fn a_number_between_two_numbers_rounds_to_one_of_them() {
        for format in all() {
            let last = format.largest();
            for bits in 0..last {
                let (low, high) = (format.to_f64(bits), format.to_f64(bits + 1));
                let middle = low + (high - low) / 2.0;
                let round = |value: f64, rounding| format.round(Real::from(value), rounding).unwrap();
                // Without a fraction both are odd, and IEEE 754 takes the larger number.
                let even = if format.fraction == 0 { bits + 1 } else { bits + (bits & 1) };
                let context = format!("{} {bits:#x}", format.name());
                assert_eq!(round(middle, Rounding::NearestEven), even, "{context}");
                assert_eq!(round(middle, Rounding::NearestAway), bits + 1, "{context}");
                assert_eq!(round(middle, Rounding::TowardsZero), bits, "{context}");
                assert_eq!(round(middle, Rounding::TowardsNegative), bits, "{context}");
                assert_eq!(round(middle, Rounding::TowardsPositive), bits + 1, "{context}");
                assert_eq!(round(low + (high - low) / 4.0, Rounding::NearestAway), bits, "{context}");
                if format.is_signed() && bits > 0 {
                    let minus = |bits: u64| format.sign() | bits;
                    assert_eq!(round(-middle, Rounding::TowardsPositive), minus(bits), "{context}");
                    assert_eq!(round(-middle, Rounding::TowardsNegative), minus(bits + 1), "{context}");
                }
            }
        }
    }

    #[test]
    fn doubles_round_to_singles_like_on_the_machine() {
        let mut x = 0x9e37_79b9_7f4a_7c15_u64;
        for _ in 0..20_000 {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            // exponents around those of singles
            let value = f64::from_bits(x & !(0x7ff << 52) | (850 + (x >> 52 & 0x1ff)) << 52);
            let single = FloatFormat::FLOAT32.round(Real::from(value), Rounding::NearestEven);
            #[allow(clippy::cast_possible_truncation, reason = "the test compares this conversion")]
            let expected = value as f32;
            match single {
                Ok(bits) => assert_eq!(bits, u64::from(expected.to_bits()), "{value:e}"),
                Err(_) => assert!(expected.is_infinite(), "{value:e}"),
            }
        }
    }

    #[test]
    fn numbers_outside_the_range_are_errors_or_clamped() {
        let clamp = |name: &str, beyond| named(name).clamp(beyond).unwrap();
        assert_eq!(clamp("float8_e5m2", Beyond::Above), 0x7c);
        assert_eq!(clamp("float8_e5m2", Beyond::Below), 0xfc);
        assert_eq!(clamp("float8_e4m3fnuz", Beyond::Below), 0xff);
        assert_eq!(clamp("float8_e8m0fnu", Beyond::Below), 0);
        assert_eq!(named("float16").clamp(Beyond::Nan), None);
        let e8 = named("float8_e8m0fnu");
        for (value, expected) in [(0.0, Err(Beyond::Below)), (-1.0, Err(Beyond::Below)), (1.0, Ok(127))] {
            assert_eq!(e8.round(Real::from(value), Rounding::NearestEven), expected, "{value}");
        }
        assert_eq!(named("float4_e2m1fn").round(Real::Nan, Rounding::NearestEven), Err(Beyond::Nan));
        // The format has no zero, so smaller numbers cannot round to it.
        let tiny = |power: i32, rounding| e8.round(Real::from(2f64.powi(power)), rounding);
        assert_eq!(tiny(-127, Rounding::NearestEven), Ok(0));
        for power in [-128, -140, -1000] {
            for rounding in Rounding::ALL {
                assert_eq!(tiny(power, rounding), Err(Beyond::Below), "2^{power} {rounding:?}");
            }
        }
        let almost = Real::from(1.75 * 2f64.powi(-128));
        assert_eq!(
            e8.round(almost, Rounding::NearestEven),
            Ok(0),
            "rounding comes before the check of the range"
        );
        assert_eq!(e8.round(almost, Rounding::TowardsZero), Err(Beyond::Below));
        for exponent in [3073, 1_000_000, i32::MAX, i32::MIN] {
            for format in all().chain([FloatFormat::FLOAT32, FloatFormat::FLOAT64]) {
                let real = Real::Finite { negative: false, mantissa: u64::MAX, exponent };
                let rounded = format.round(real, Rounding::NearestEven);
                let expected = match exponent {
                    i32::MIN if format.is_signed() => Ok(0),
                    i32::MIN => Err(Beyond::Below),
                    _ => Err(Beyond::Above),
                };
                assert_eq!(rounded, expected, "{} 2^{exponent}", format.name());
            }
        }
        let zeros = |name: &str| named(name).round(Real::from(-0.0), Rounding::NearestEven);
        assert_eq!([zeros("float16"), zeros("float8_e4m3fnuz")], [Ok(0x8000), Ok(0)]);
    }
}
