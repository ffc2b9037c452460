//! JSON numbers as they are spelled. Only a conversion rounds them.

use std::fmt;

/// A number in the spelling of its document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Number<'a>(&'a str);

impl<'a> Number<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self(text)
    }

    /// Reads a number. Returns `None` unless all of `text` is a JSON number.
    pub fn parse(text: &'a str) -> Option<Self> {
        let digits = |s: &'a str| s.trim_start_matches(|c: char| c.is_ascii_digit());
        let rest = text.strip_prefix('-').unwrap_or(text);
        let mut end = digits(rest);
        let whole = &rest[..rest.len() - end.len()];
        if whole.is_empty() || (whole.len() > 1 && whole.starts_with('0')) {
            return None;
        }
        if let Some(fraction) = end.strip_prefix('.') {
            end = digits(fraction);
            if end.len() == fraction.len() {
                return None;
            }
        }
        if let Some(exponent) = end.strip_prefix(['e', 'E']) {
            let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
            end = digits(exponent);
            if end.len() == exponent.len() {
                return None;
            }
        }
        end.is_empty().then_some(Self(text))
    }

    /// Returns the spelling.
    pub fn as_str(self) -> &'a str {
        self.0
    }

    /// Whether the number is spelled without fraction and exponent, as integers must be.
    pub fn is_plain_integer(self) -> bool {
        !self.0.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E'))
    }

    /// Returns the exact value of an integer of at most 38 digits, whatever its spelling: `4`, `4.0`, `40e-1`.
    pub fn to_integer(self) -> Option<i128> {
        if self.is_plain_integer() {
            // Most numbers fit, and are read faster so.
            return self.0.parse::<u64>().map(i128::from).or_else(|_| self.0.parse()).ok();
        }
        let Decimal { negative, digits, exponent } = self.decimal();
        if digits.is_empty() {
            return Some(0);
        }
        let zeros = usize::try_from(exponent).ok()?;
        if digits.len().saturating_add(zeros) > 38 {
            return None;
        }
        let magnitude = digits.bytes().chain(std::iter::repeat_n(b'0', zeros));
        let magnitude = magnitude.fold(0i128, |n, d| n * 10 + i128::from(d - b'0'));
        Some(if negative { -magnitude } else { magnitude })
    }

    /// Returns the nearest `f64`, or `None` if the number is beyond the range of `f64`.
    pub fn to_f64(self) -> Option<f64> {
        self.0.parse().ok().filter(|float: &f64| float.is_finite())
    }

    /// Returns the exact value as digits and a power of ten.
    pub fn decimal(self) -> Decimal {
        let (negative, rest) = self.0.strip_prefix('-').map_or((false, self.0), |r| (true, r));
        let (mantissa, exponent) = rest.split_once(['e', 'E']).unwrap_or((rest, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        // An exponent beyond i64 is beyond the range of every type, so it may be clamped.
        let beyond = if exponent.starts_with('-') { i64::MIN / 2 } else { i64::MAX / 2 };
        let exponent: i64 = exponent.parse().unwrap_or(beyond).clamp(i64::MIN / 2, i64::MAX / 2);
        let all = format!("{whole}{fraction}");
        let trimmed = all.trim_end_matches('0');
        let length = |s: &str| i64::try_from(s.len()).unwrap_or(i64::MAX / 4);
        let exponent = exponent - length(fraction) + length(&all) - length(trimmed);
        Decimal { negative, digits: trimmed.trim_start_matches('0').to_owned(), exponent }
    }
}

impl fmt::Display for Number<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// An exact decimal value: `±digits × 10^exponent`, without zeros at either end of `digits`; zero has no digits.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Decimal {
    /// Whether the number has a minus sign.
    pub negative: bool,
    /// The digits; empty for zero.
    pub digits: String,
    /// The power of ten.
    pub exponent: i64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_read_in_any_spelling() {
        let cases = [
            ("4", Some(4)),
            ("-0", Some(0)),
            ("4.0", Some(4)),
            ("40e-1", Some(4)),
            ("1E2", Some(100)),
            ("0e99999999999999999999", Some(0)),
            ("0.00", Some(0)),
            ("-1.50e+1", Some(-15)),
            ("18446744073709551616", Some(1 << 64)),
            ("7.5", None),
            ("1e-1", None),
            ("1e39", None),
            ("1e99999999999999999999", None),
            ("1e-99999999999999999999", None),
        ];
        for (text, value) in cases {
            assert_eq!(Number::parse(text).and_then(Number::to_integer), value, "{text}");
        }
    }

    #[test]
    fn only_the_grammar_of_json_numbers_is_accepted() {
        for bad in ["", "-", "+1", "01", "1.", ".5", "1e", "1e+", "0x1", "1 ", "NaN", "--1", "1.e1"] {
            assert_eq!(Number::parse(bad), None, "{bad}");
        }
        for good in ["0", "-0.0", "1e400", "123456789012345678901234567890", "1.5E-7"] {
            assert_eq!(Number::parse(good).map(Number::as_str), Some(good));
        }
    }
}
