//! Binary floating-point numbers in documents: as decimals, by name and in hexadecimal.

use std::cmp::Ordering;

use zarr_traits::number::{Beyond, FloatFormat, Real, Rounding};

use crate::diagnostic::Code;
use crate::json::{Decimal, Number, Value};

/// Returns the bits of the number nearest to a decimal one, rounded once, ties to even.
///
/// # Errors
/// If the number is beyond the range of the format, or would be rounded to an infinity.
pub(super) fn decimal(format: FloatFormat, number: Number<'_>) -> Result<u64, Beyond> {
    // A JSON number is also a Rust float literal, so these fallbacks are never used.
    let bits = match format {
        FloatFormat::FLOAT32 => u64::from(number.as_str().parse().unwrap_or(f32::NAN).to_bits()),
        FloatFormat::FLOAT64 => number.as_str().parse().unwrap_or(f64::NAN).to_bits(),
        _ => return narrow(format, number),
    };
    match format.real(bits) {
        Real::Finite { .. } => Ok(bits),
        _ => Err(Beyond::Above),
    }
}

/// Like [`decimal`], for formats much narrower than a double. The midpoint between two neighbours of such a format is a
/// double, so the nearest double of a decimal decides on which side of the midpoint the decimal is. Only if the double
/// may be the midpoint itself must the digits be compared.
fn narrow(format: FloatFormat, number: Number<'_>) -> Result<u64, Beyond> {
    let near: f64 = number.as_str().parse().unwrap_or(f64::NAN);
    let Real::Finite { negative, mantissa, exponent } = Real::from(near) else { return Err(Beyond::Above) };
    let nearest = |real| format.round(real, Rounding::NearestEven);
    let places = mantissa.checked_ilog2().map_or(0, |log| log.saturating_sub(mantissa.trailing_zeros()));
    if places > format.fraction_bits() + 1 || nearest(near.into()).is_ok_and(|b| format.to_f64(b) == near) {
        return nearest(near.into());
    }
    // Two more bits record on which side of the double the digits are.
    let mantissa = match compare(&number.decimal(), near) {
        Ordering::Less => mantissa * 4 - 1,
        Ordering::Equal => mantissa * 4,
        Ordering::Greater => mantissa * 4 + 1,
    };
    nearest(Real::Finite { negative, mantissa, exponent: exponent - 2 })
}

/// Compares the magnitude of a decimal number with that of a double, exactly.
fn compare(decimal: &Decimal, double: f64) -> Ordering {
    let printed = format!("{:.1074}", double.abs());
    let Some(exact) = Number::parse(&printed).map(Number::decimal) else { return Ordering::Equal };
    let size = |d: &Decimal| i64::try_from(d.digits.len()).unwrap_or(i64::MAX / 4).saturating_add(d.exponent);
    size(decimal).cmp(&size(&exact)).then_with(|| decimal.digits.cmp(&exact.digits))
}

/// Reads a number in a string. The code is that of a form that is tolerated but not specified.
pub(super) fn text(format: FloatFormat, text: &str) -> Option<(Result<u64, Beyond>, Option<Code>)> {
    if let Some(bits) = format.from_text(text) {
        return Some((Ok(bits), None));
    }
    Number::parse(text).map(|number| (decimal(format, number), Some(Code::NumericStringFill)))
}

/// Returns the canonical form.
pub(super) fn to_json(format: FloatFormat, bits: u64) -> Value {
    match format.to_text(bits) {
        Some(text) => text.into(),
        // Rust spells finite numbers as JSON does.
        None => Number::parse(&shortest(format, bits)).map_or_else(|| Value::from(0), Value::from),
    }
}

/// Returns the fewest digits that identify a finite number; for one-byte formats all digits, which are few.
fn shortest(format: FloatFormat, bits: u64) -> String {
    let value = format.to_f64(bits);
    match (format, u32::try_from(bits)) {
        (FloatFormat::FLOAT64, _) => return format!("{value:?}"),
        (FloatFormat::FLOAT32, Ok(bits)) => return format!("{:?}", f32::from_bits(bits)),
        _ if format.size() == 1 => return format!("{value:?}"),
        _ => {}
    }
    for digits in 0..5 {
        let text = format!("{value:.digits$e}");
        if Number::parse(&text).map(|number| decimal(format, number)) == Some(Ok(bits)) {
            // Printed as a double, these digits appear in the usual notation.
            return format!("{:?}", text.parse().unwrap_or(value));
        }
    }
    format!("{value:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const HALF: FloatFormat = FloatFormat::FLOAT16;

    fn parse(format: FloatFormat, text: &str) -> Result<u64, Beyond> {
        decimal(format, Number::parse(text).unwrap())
    }

    fn parse_half(text: &str) -> Result<u64, Beyond> {
        parse(HALF, text)
    }

    fn half_to_double(bits: u16) -> f64 {
        HALF.to_f64(bits.into())
    }

    fn half_shortest(bits: u16) -> String {
        shortest(HALF, bits.into())
    }

    #[test]
    fn every_half_comes_back() {
        for bits in 0..=u16::MAX {
            if bits & 0x7C00 == 0x7C00 {
                continue;
            }
            let text = half_shortest(bits);
            assert_eq!(parse_half(&text), Ok(u64::from(bits)), "{text}");
            assert_eq!(parse_half(&format!("{:e}", half_to_double(bits))), Ok(u64::from(bits)));
            assert!(text.len() <= 12, "{text}");
        }
        assert_eq!(half_shortest(0x2E66), "0.1");
        assert_eq!(half_shortest(0x8000), "-0.0");
        assert_eq!(half_shortest(0x7BFF), "65500.0");
        assert_eq!(half_shortest(1), "6e-8");
    }

    #[test]
    fn ties_between_halves_are_decided_by_the_digits() {
        for bits in (0..0x7BFFu16).step_by(31) {
            let (low, high) = (half_to_double(bits), half_to_double(bits + 1));
            let middle = format!("{:.40}", (low + high) / 2.0);
            let even = u64::from(bits + (bits & 1));
            assert_eq!(parse_half(&middle), Ok(even), "{middle}");
            // A double cannot distinguish these from the midpoint.
            let above = format!("{middle}{}1", "0".repeat(400));
            assert_eq!(parse_half(&above), Ok(u64::from(bits) + 1), "{above}");
            let nines = "9".repeat(400);
            let digits = middle.trim_end_matches('0');
            let below = match digits.strip_suffix('.') {
                Some(whole) => format!("{}.{nines}", whole.parse::<u32>().unwrap() - 1),
                None => {
                    let (rest, last) = digits.split_at(digits.len() - 1);
                    format!("{rest}{}{nines}", last.parse::<u8>().unwrap() - 1)
                }
            };
            assert_eq!(parse_half(&below), Ok(u64::from(bits)), "{below}");
        }
        for (text, bits) in [
            ("65504", Ok(0x7BFF)),
            ("65519", Ok(0x7BFF)),
            ("65519.9999999999999999999999", Ok(0x7BFF)),
            ("65520", Err(Beyond::Above)),
            ("-65520", Err(Beyond::Below)),
            ("1e400", Err(Beyond::Above)),
            ("1e-400", Ok(0)),
            ("-1e-400", Ok(0x8000)),
            ("2.98023223876953125e-8", Ok(0)),
            ("2.98023223876953125000001e-8", Ok(1)),
        ] {
            assert_eq!(parse_half(text), bits, "rule B.t32: {text}");
        }
    }

    #[test]
    fn every_narrow_number_comes_back() {
        let formats = [
            FloatFormat::BFLOAT16,
            FloatFormat::FLOAT4_E2M1FN,
            FloatFormat::FLOAT6_E3M2FN,
            FloatFormat::FLOAT8_E3M4,
            FloatFormat::FLOAT8_E4M3B11FNUZ,
            FloatFormat::FLOAT8_E5M2,
            FloatFormat::FLOAT8_E8M0FNU,
        ];
        for format in formats {
            for bits in 0..1_u64 << format.bits() {
                if format.to_text(bits).is_none() {
                    let text = shortest(format, bits);
                    assert_eq!(parse(format, &text), Ok(bits), "{} {text}", format.name());
                }
            }
        }
        let bfloat = |text| parse(FloatFormat::BFLOAT16, text);
        // The midpoint between 0x3f80 and 0x3f81, and decimals that a double cannot distinguish from it.
        assert_eq!(bfloat("1.00390625"), Ok(0x3f80));
        assert_eq!(bfloat("1.003906250000000000000000000001"), Ok(0x3f81));
        assert_eq!(bfloat("1.003906249999999999999999999999"), Ok(0x3f80));
        assert_eq!(parse(FloatFormat::FLOAT8_E8M0FNU, "0"), Err(Beyond::Below)); // rule B27
        assert_eq!(shortest(FloatFormat::FLOAT8_E8M0FNU, 126), "0.5");
        assert_eq!(shortest(FloatFormat::BFLOAT16, 0x3dcd), "0.1");
    }
}
