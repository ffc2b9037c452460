//! Binary floating point, as bits: decimal, by name, in hexadecimal, and back (checklist B.3).

use std::cmp::Ordering;

use crate::diagnostic::Code;
use crate::json::{Decimal, Number, Value};

/// An IEEE 754 interchange format: a sign, `exponent` bits, and `fraction` bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Format {
    exponent: u32,
    fraction: u32,
}

/// A number beyond the range of the format.
pub(super) type Beyond = ();

impl Format {
    pub(super) const HALF: Self = Self { exponent: 5, fraction: 10 };
    pub(super) const SINGLE: Self = Self { exponent: 8, fraction: 23 };
    pub(super) const DOUBLE: Self = Self { exponent: 11, fraction: 52 };

    pub(super) fn size(self) -> usize {
        match self {
            Self::HALF => 2,
            Self::SINGLE => 4,
            _ => 8,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::HALF => "float16",
            Self::SINGLE => "float32",
            _ => "float64",
        }
    }

    fn sign(self) -> u64 {
        1 << (self.exponent + self.fraction)
    }

    fn infinity(self) -> u64 {
        ((1 << self.exponent) - 1) << self.fraction
    }

    /// The one NaN that `"NaN"` means: positive, quiet, no payload.
    fn nan(self) -> u64 {
        self.infinity() | 1 << (self.fraction - 1)
    }

    /// The bits in the byte order of this machine.
    pub(super) fn to_bytes(self, bits: u64) -> Vec<u8> {
        let bytes = bits.to_be_bytes();
        let mut bytes = bytes[8 - self.size()..].to_vec();
        if cfg!(target_endian = "little") {
            bytes.reverse();
        }
        bytes
    }

    /// The bits from an element in the byte order of this machine.
    pub(super) fn bits_of(self, bytes: &[u8]) -> Option<u64> {
        if bytes.len() != self.size() {
            return None;
        }
        let shift = |bits: u64, byte: &u8| bits << 8 | u64::from(*byte);
        Some(if cfg!(target_endian = "little") {
            bytes.iter().rev().fold(0, shift)
        } else {
            bytes.iter().fold(0, shift)
        })
    }

    /// The nearest number, ties to even, in one rounding.
    pub(super) fn decimal(self, number: Number<'_>) -> Result<u64, Beyond> {
        // A JSON number is a Rust float literal, so these fall-backs are never taken.
        let bits = match self {
            Self::HALF => return half(number),
            Self::SINGLE => u64::from(number.as_str().parse().unwrap_or(f32::NAN).to_bits()),
            _ => number.as_str().parse().unwrap_or(f64::NAN).to_bits(),
        };
        if bits & self.infinity() == self.infinity() { Err(()) } else { Ok(bits) }
    }

    /// A non-finite number by one of its three names.
    pub(super) fn named(self, name: &str) -> Option<u64> {
        match name {
            "NaN" => Some(self.nan()),
            "Infinity" => Some(self.infinity()),
            "-Infinity" => Some(self.sign() | self.infinity()),
            _ => None,
        }
    }

    /// A number in a string, and the code under which that form is tolerated when it is not specified.
    pub(super) fn text(self, text: &str) -> Option<(Result<u64, Beyond>, Option<Code>)> {
        if let Some(bits) = self.named(text) {
            return Some((Ok(bits), None));
        }
        if let Some(digits) = text.strip_prefix("0x") {
            // B.t28, B.t29: all digits of the width, no sign.
            let exact = digits.len() == 2 * self.size() && digits.bytes().all(|b| b.is_ascii_hexdigit());
            return exact
                .then(|| u64::from_str_radix(digits, 16).ok())
                .flatten()
                .map(|bits| (Ok(bits), None));
        }
        Number::parse(text).map(|number| (self.decimal(number), Some(Code::NumericStringFill)))
    }

    /// The canonical form.
    pub(super) fn to_json(self, bits: u64) -> Value {
        let infinity = self.infinity();
        if bits & infinity != infinity {
            // Rust spells finite numbers as JSON does.
            return Number::parse(&self.shortest(bits)).map_or_else(|| Value::from(0), Value::from);
        }
        match bits {
            _ if bits == self.nan() => "NaN".into(),
            _ if bits == infinity => "Infinity".into(),
            _ if bits == self.sign() | infinity => "-Infinity".into(),
            _ => format!("0x{bits:0width$x}", width = 2 * self.size()).into(),
        }
    }

    /// The fewest digits that give a finite number back.
    fn shortest(self, bits: u64) -> String {
        match (self, u16::try_from(bits), u32::try_from(bits)) {
            (Self::HALF, Ok(bits), _) => half_shortest(bits),
            (Self::SINGLE, _, Ok(bits)) => format!("{:?}", f32::from_bits(bits)),
            _ => format!("{:?}", f64::from_bits(bits)),
        }
    }
}

/// Rounds to binary16. The nearest binary64 decides on which side of the middle between two halves the number lies,
/// because every such middle is a binary64; only when it is the middle itself must the digits be compared.
fn half(number: Number<'_>) -> Result<u64, Beyond> {
    let near: f64 = number.as_str().parse().unwrap_or(f64::NAN);
    if !near.is_finite() {
        return Err(());
    }
    let bits = near.to_bits();
    let sign = (bits >> 63) << 15;
    let exponent = ((bits >> 52) & 0x7FF).cast_signed() - 1023;
    if exponent < -26 {
        return Ok(sign);
    }
    let mantissa = bits & ((1 << 52) - 1) | 1 << 52;
    // How many bits of the mantissa lie below the last bit of a half of this size.
    let below = 42 + (-14 - exponent).max(0);
    let kept = mantissa >> below;
    let rest = mantissa & ((1 << below) - 1);
    let middle = 1 << (below - 1);
    let up = match rest.cmp(&middle) {
        Ordering::Less => false,
        Ordering::Greater => true,
        Ordering::Equal => match compare(&number.decimal(), near) {
            Ordering::Less => false,
            Ordering::Greater => true,
            Ordering::Equal => kept & 1 == 1,
        },
    };
    // A carry out of the fraction lands in the exponent, where it belongs.
    let scale = (exponent + 14).max(0).cast_unsigned() << 10;
    let magnitude = scale + kept + u64::from(up);
    if magnitude >= Format::HALF.infinity() { Err(()) } else { Ok(sign | magnitude) }
}

/// Compares the magnitude of a decimal number with that of a double which has few enough digits to be printed exactly.
fn compare(decimal: &Decimal, double: f64) -> Ordering {
    let printed = format!("{:.40}", double.abs());
    let Some(exact) = Number::parse(&printed).map(Number::decimal) else { return Ordering::Equal };
    let size = |d: &Decimal| i64::try_from(d.digits.len()).unwrap_or(i64::MAX / 4).saturating_add(d.exponent);
    size(decimal).cmp(&size(&exact)).then_with(|| decimal.digits.cmp(&exact.digits))
}

/// The value of a half, which is exact as a double.
fn half_to_double(bits: u16) -> f64 {
    let exponent = i32::from(bits >> 10 & 0x1F);
    let fraction = f64::from(bits & 0x3FF);
    let magnitude = match exponent {
        0 => fraction * 2f64.powi(-24),
        _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
    };
    if bits >> 15 == 1 { -magnitude } else { magnitude }
}

fn half_shortest(bits: u16) -> String {
    let value = half_to_double(bits);
    for digits in 0..5 {
        let text = format!("{value:.digits$e}");
        let again = Number::parse(&text).map(half);
        if again == Some(Ok(u64::from(bits))) {
            // Printed as a double, the same few digits come out in the usual notation.
            return format!("{:?}", text.parse().unwrap_or(value));
        }
    }
    format!("{value:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_half(text: &str) -> Result<u64, Beyond> {
        half(Number::parse(text).unwrap())
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
        for bits in (0..0x7BFFu16).step_by(7) {
            let (low, high) = (half_to_double(bits), half_to_double(bits + 1));
            let middle = format!("{:.40}", (low + high) / 2.0);
            let even = u64::from(bits + (bits & 1));
            assert_eq!(parse_half(&middle), Ok(even), "{middle}");
            // A double cannot tell these from the middle.
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
            ("65520", Err(())),
            ("-65520", Err(())),
            ("1e400", Err(())),
            ("1e-400", Ok(0)),
            ("-1e-400", Ok(0x8000)),
            ("2.98023223876953125e-8", Ok(0)),
            ("2.98023223876953125000001e-8", Ok(1)),
        ] {
            assert_eq!(parse_half(text), bits, "B.t32 {text}");
        }
    }
}
