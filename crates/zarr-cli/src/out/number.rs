//! Numbers for people.

/// The longest number that is written without an exponent.
const LONGEST: usize = 24;

/// Returns a number with all its digits, or in the scientific form if the zeros around them are many.
pub(crate) fn short(number: f64) -> String {
    let text = number.to_string();
    if text.len() > LONGEST { format!("{number:e}") } else { text }
}

/// Returns a number with at most so many significant digits, without zeros at the end, and with an exponent outside of
/// 1e-4 to 1e15.
pub(crate) fn significant(number: f64, digits: usize) -> String {
    if !number.is_finite() || number == 0.0 {
        return number.to_string();
    }
    let rounded: f64 = format!("{number:.*e}", digits.max(1) - 1).parse().unwrap_or(number);
    match rounded.abs() {
        1e-4..1e15 => rounded.to_string(),
        _ => format!("{rounded:e}"),
    }
}

/// Returns a count with commas from 1,000 on.
pub(crate) fn grouped(count: impl Into<u128>) -> String {
    let digits = count.into().to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (number, text) in [
            (295.729_999_999_999_96, "295.73"),
            (1.5, "1.5"),
            (-0.1 - 0.2, "-0.3"),
            (123_456_789.0, "123457000"),
            (1.234_567_8e-7, "1.23457e-7"),
            (2.5e17, "2.5e17"),
            (0.0, "0"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(significant(number, 6), text);
        }
        assert_eq!([0_u32, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!((short(0.1), short(1e-300)), ("0.1".to_owned(), "1e-300".to_owned()));
    }
}
