//! One element, as users type it.

use zarr_array::meta::json::{Object, Value, ValueKind};
use zarr_array::meta::{Strict, fill};
use zarr_array::traits::number::Numeric;
use zarr_array::{DataType, FillValue};
use zarr_xarray::{Calendar, DateTime, Interval};

use crate::args::value::given;
use crate::exit::Failure;

/// Returns the JSON form of an element: that of a fill value in a document. Text that has no meaning for the data type
/// is returned as it is, so that the data type refuses it.
///
/// # Errors
/// If a date or time is no whole number of the steps of its data type.
pub(crate) fn value(text: &str, data_type: &DataType) -> Result<Value, Failure> {
    let plain = text.trim();
    let known = match data_type.numeric() {
        Some(Numeric::Bool) => truth(plain),
        Some(Numeric::Integer { .. }) => integer(plain),
        Some(Numeric::Float(_)) => float(plain),
        _ => None,
    };
    if let Some(known) = known {
        return Ok(known);
    }
    match data_type {
        DataType::String => Ok(quoted(text).unwrap_or_else(|| text.into())),
        DataType::Extension(extension) if extension.name() == "fixed_length_utf32" => {
            Ok(quoted(text).unwrap_or_else(|| text.into()))
        }
        DataType::Extension(time) if time.name() == "numpy.datetime64" => {
            let (unit, scale) = step(&time.configuration());
            datetime(plain, &unit, scale)
        }
        DataType::Extension(time) if time.name() == "numpy.timedelta64" => {
            let (unit, scale) = step(&time.configuration());
            match (not_a_time(plain), span(plain)) {
                (Some(none), _) => Ok(none),
                (None, Some(nanoseconds)) => steps(plain, nanoseconds, &unit, scale),
                (None, None) => Ok(given(text)),
            }
        }
        _ => Ok(given(text)),
    }
}

/// Returns the element.
///
/// # Errors
/// If the text is not an element of the data type.
pub(crate) fn element(text: &str, data_type: &DataType) -> Result<FillValue, Failure> {
    let value = value(text, data_type)?;
    fill::read(data_type, &value, &mut Strict)
        .map_err(|e| Failure::usage(format!("{text:?} is not an element of data type {data_type}: {e:#}")))
}

/// Returns a string that is written as in JSON.
fn quoted(text: &str) -> Option<Value> {
    Value::parse(text).ok().filter(|value| value.kind() == ValueKind::String)
}

fn truth(text: &str) -> Option<Value> {
    match text {
        "true" | "True" | "1" => Some(true.into()),
        "false" | "False" | "0" => Some(false.into()),
        _ => None,
    }
}

/// Returns a whole number in any spelling: `1`, `+1`, `1.0`, `1e3`.
fn integer(text: &str) -> Option<Value> {
    let number = Value::parse(text.strip_prefix('+').unwrap_or(text)).ok()?;
    Value::parse(&number.as_number()?.to_integer()?.to_string()).ok()
}

fn float(text: &str) -> Option<Value> {
    let text = text.strip_prefix('+').unwrap_or(text);
    let (sign, name) = text.strip_prefix('-').map_or(("", text), |name| ("-", name));
    match name.to_ascii_lowercase().as_str() {
        "nan" => Some("NaN".into()),
        "inf" | "infinity" => Some(format!("{sign}Infinity").as_str().into()),
        _ => Value::parse(text).ok().filter(|value| value.kind() == ValueKind::Number),
    }
}

fn not_a_time(text: &str) -> Option<Value> {
    text.eq_ignore_ascii_case("nat").then(|| "NaT".into())
}

/// Returns the number of steps of `scale` units from the start of 1970 to a date, or a date and a time, in the form of
/// ISO 8601.
fn datetime(text: &str, unit: &str, scale: i64) -> Result<Value, Failure> {
    if let Some(none) = not_a_time(text) {
        return Ok(none);
    }
    let Some((time, nanoseconds)) = parsed(text) else { return Ok(given(text)) };
    let date = time.date;
    let months = i128::from(date.year - 1970) * 12 + i128::from(date.month) - 1;
    match unit {
        "Y" | "M" if time != DateTime::midnight(date.year, date.month, 1) => Err(between(text, unit, scale)),
        "Y" => whole(text, months, 12, unit, scale),
        "M" => whole(text, months, 1, unit, scale),
        _ => steps(text, nanoseconds, unit, scale),
    }
}

/// Returns the unit of a data type of times, and how many of it a step has.
fn step(configuration: &Object) -> (String, i64) {
    let unit = configuration.get("unit").and_then(|unit| unit.as_text()).unwrap_or_default();
    (unit, configuration.get("scale_factor").and_then(|scale| scale.as_i64()).unwrap_or(1))
}

fn between(text: &str, unit: &str, scale: i64) -> Failure {
    Failure::usage(format!("{text:?} is not a whole number of steps of {scale} {unit}"))
}

/// Returns the number of steps of `scale` units in these nanoseconds.
fn steps(text: &str, nanoseconds: i128, unit: &str, scale: i64) -> Result<Value, Failure> {
    let (amount, size) = match unit {
        "W" => (nanoseconds, 7 * 86_400_000_000_000),
        "D" => (nanoseconds, 86_400_000_000_000),
        "h" => (nanoseconds, 3_600_000_000_000),
        "m" => (nanoseconds, 60_000_000_000),
        "s" => (nanoseconds, 1_000_000_000),
        "ms" => (nanoseconds, 1_000_000),
        "us" | "μs" => (nanoseconds, 1_000),
        "ns" => (nanoseconds, 1),
        "ps" => (nanoseconds * 1_000, 1),
        "fs" => (nanoseconds * 1_000_000, 1),
        "as" => (nanoseconds * 1_000_000_000, 1),
        _ => return Err(Failure::usage(format!("{text:?}: the data type has no unit of time"))),
    };
    whole(text, amount, size, unit, scale)
}

/// Returns the number of steps of `scale` units, of which each has the size `size`, in an amount.
fn whole(text: &str, amount: i128, size: i128, unit: &str, scale: i64) -> Result<Value, Failure> {
    let step = size * i128::from(scale.max(1));
    if amount % step != 0 {
        return Err(between(text, unit, scale));
    }
    let steps = i64::try_from(amount / step).ok().filter(|steps| *steps != i64::MIN);
    steps
        .map(Value::from)
        .ok_or_else(|| Failure::usage(format!("{text:?} is outside of the range of {unit}")))
}

/// Reads `2020-01`, `2020-01-02`, and a time of day behind a date: `T12`, `T12:30`, `T12:30:15.5`, with `Z` or without.
/// Returns the time, and the nanoseconds from the start of 1970 to it.
fn parsed(text: &str) -> Option<(DateTime, i128)> {
    // A number alone is the number of steps.
    if text.parse::<i64>().is_ok() {
        return None;
    }
    let calendar = Calendar::ProlepticGregorian;
    let time = Interval::parse(text.strip_suffix('Z').unwrap_or(text), calendar).ok()?.first()?;
    Some((time, time.to_nanoseconds(calendar)?))
}

/// Returns the nanoseconds of a span in ISO 8601, such as `P1DT6H` and `-PT0.5S`.
pub(crate) fn span(text: &str) -> Option<i128> {
    let (sign, rest) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    let rest = rest.strip_prefix('P').filter(|rest| !rest.is_empty())?;
    let (days, times) = rest.split_once('T').unwrap_or((rest, ""));
    let mut all = 0_i128;
    for (mut part, units) in [(days, &[('D', 86_400)][..]), (times, &[('H', 3600), ('M', 60), ('S', 1)])] {
        for (letter, seconds) in units {
            let Some((number, rest)) = part.split_once(*letter) else { continue };
            let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
            let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
            if !is_digits(whole) || !is_digits(fraction) || fraction.len() > 9 || whole.len() > 20 {
                return None;
            }
            let fraction: i128 = format!("{fraction:0<9}").parse().ok()?;
            all += (whole.parse::<i128>().ok()? * 1_000_000_000 + fraction) * seconds;
            part = rest;
        }
        if !part.is_empty() {
            return None;
        }
    }
    Some(sign * all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::data_type;

    #[test]
    fn an_element_is_typed_in_the_usual_ways() {
        let i8_ = |n: i8| FillValue::of(n);
        let f4 = |n: f32| FillValue::of(n);
        let time = |n: i64| FillValue::of(n);
        for (dtype, text, wanted) in [
            ("i1", "1.0", i8_(1)),
            ("i1", "-1e2", i8_(-100)),
            ("i1", "+7", i8_(7)),
            ("bool", "True", FillValue::from_bytes([1])),
            ("bool", "0", FillValue::from_bytes([0])),
            ("f4", "nan", f4(f32::NAN)),
            ("f4", "-inf", f4(f32::NEG_INFINITY)),
            ("f4", "Infinity", f4(f32::INFINITY)),
            ("f4", "+0.1", f4(0.1)),
            ("str", "5", FillValue::from_bytes(*b"5")),
            ("str", "\"a b\"", FillValue::from_bytes(*b"a b")),
            ("U1", "5", FillValue::of(u32::from('5'))),
            ("datetime64[D]", "2020-01-01", time(18262)),
            ("datetime64[h]", "1970-01-02T01", time(25)),
            ("datetime64[15m]", "1969-12-31 23:45", time(-1)),
            ("datetime64[ns]", "2020-01-01T00:00:00.000000001Z", time(1_577_836_800_000_000_001)),
            ("datetime64[M]", "1971-03", time(14)),
            ("datetime64[Y]", "1969-01", time(-1)),
            ("datetime64[W]", "1970-01-15", time(2)),
            ("datetime64[s]", "2020", time(2020)),
            ("datetime64[s]", "-2020", time(-2020)),
            ("datetime64[D]", "+10000-01-01", time(2_932_897)),
            ("datetime64[s]", "nat", time(i64::MIN)),
            ("timedelta64[s]", "NaT", time(i64::MIN)),
            ("timedelta64[s]", "-5", time(-5)),
            ("timedelta64[h]", "P1DT6H", time(30)),
        ] {
            let (data_type, _) = data_type::named(dtype).unwrap();
            let found =
                element(text, &data_type).unwrap_or_else(|e| panic!("{dtype} {text}: {}", e.message()));
            assert_eq!(found, wanted, "{dtype} {text}");
        }
    }

    #[test]
    fn other_text_is_refused() {
        for (dtype, text) in [
            ("i1", "1.5"),
            ("i1", "128"),
            ("i1", "nan"),
            ("i1", "2020-01-01"),
            ("f4", "abc"),
            ("bool", "2"),
            ("datetime64[D]", "2020-01-01T12"),
            ("datetime64[D]", "2020-02-30"),
            ("datetime64[Y]", "2020-02"),
            ("datetime64[ns]", "2500-01-01"),
            ("datetime64[s]", "1.5"),
            (
                r#"{"name": "numpy.datetime64", "configuration": {"unit": "generic", "scale_factor": 1}}"#,
                "2020-01-01",
            ),
            ("U1", "ab"),
        ] {
            let (data_type, _) = data_type::named(dtype).unwrap();
            assert!(element(text, &data_type).is_err(), "{dtype} {text}");
        }
    }

    #[test]
    fn spans_are_read_as_they_are_printed() {
        for (text, wanted) in [
            ("PT0S", Some(0)),
            ("P1D", Some(86_400_000_000_000)),
            ("P1DT6H", Some(108_000_000_000_000)),
            ("-PT6H", Some(-21_600_000_000_000)),
            ("PT1M30.5S", Some(90_500_000_000)),
            ("PT0.000000001S", Some(1)),
            ("P", None),
            ("PT5", None),
            ("P1H", None),
            ("PT1S1M", None),
            ("6 hours", None),
        ] {
            assert_eq!(span(text), wanted, "{text}");
        }
    }
}
