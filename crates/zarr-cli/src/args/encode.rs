//! One element, as users type it and `cat` prints it, in the form in which a variable stores it.

use zarr_array::DataType;
use zarr_xarray::blocking::Variable;
use zarr_xarray::{
    Calendar, Decoded, DecodedType, Decoding, Interval, NOT_A_TIME, NumberType, Scalar, Spans, TimeUnit,
    Times,
};

use crate::args::scalar;
use crate::exit::{Exit, Failure};

/// The word for a missing element.
pub(crate) const MISSING: &str = "missing";

/// What to do where elements cannot be encoded.
const STORED: &str = "--stored takes elements as they are stored";

/// Returns the stored bytes of an element of a variable, whose stored elements are of `data_type`; `None` is a missing
/// element.
///
/// # Errors
/// If the variable does not store such an element.
pub(crate) fn element(
    text: Option<&str>,
    variable: &Variable,
    data_type: &DataType,
) -> Result<Vec<u8>, Failure> {
    let plain = text.map(str::trim);
    let wrong = |what: &str| Failure::usage(format!("{:?} is not {what}", text.unwrap_or(MISSING)));
    let decoded: Decoded = match (variable.data_type(), plain) {
        (DecodedType::Numbers(of), plain) => return number(plain, of, variable),
        (DecodedType::Booleans, Some("true" | "True" | "1")) => vec![true].into(),
        (DecodedType::Booleans, Some("false" | "False" | "0")) => vec![false].into(),
        (DecodedType::Booleans, _) => return Err(wrong("true or false")),
        (DecodedType::Times(calendar, _), None) => {
            Times::new(calendar, TimeUnit::Seconds, vec![NOT_A_TIME]).into()
        }
        (DecodedType::Times(calendar, _), Some(plain)) => time(plain, calendar)?.into(),
        (DecodedType::Spans(unit), None) => Spans::new(unit, vec![NOT_A_TIME]).into(),
        (DecodedType::Spans(unit), Some(plain)) => span(plain, unit)
            .ok_or_else(|| wrong(&format!("a span, such as P1DT6H, or a number of {}", unit.name())))?
            .into(),
        (DecodedType::Texts, _) if is_plain(variable) => {
            return Ok(text.ok_or_else(|| wrong("a text of this array"))?.as_bytes().to_vec());
        }
        (DecodedType::Texts, _) => {
            let texts = zarr_array::NdVec::new([1], vec![text.map(str::to_owned)]).map_err(Failure::from)?;
            Decoded::Texts(texts)
        }
        // Times and spans of NumPy.
        (DecodedType::Other, _) => return stored(plain.unwrap_or("NaT"), data_type),
        (other, _) => {
            return Err(Failure::unsupported(format!(
                "decoded elements of type {other:?} are not written; {STORED}"
            )));
        }
    };
    encoded(variable, decoded)
}

/// Whether texts are stored as they are.
fn is_plain(variable: &Variable) -> bool {
    *variable.decoding() == Decoding::Stored
}

/// Returns decoded elements as the variable stores them.
pub(crate) fn encoded(variable: &Variable, decoded: impl Into<Decoded>) -> Result<Vec<u8>, Failure> {
    variable.encode(decoded).map_err(|e| {
        let failure = Failure::from(e);
        match failure.exit() {
            Exit::Invalid => Failure::usage(format!("{}; {STORED}", failure.message())),
            Exit::Unsupported => Failure::unsupported(format!("{}; {STORED}", failure.message())),
            _ => failure,
        }
    })
}

fn number(plain: Option<&str>, of: NumberType, variable: &Variable) -> Result<Vec<u8>, Failure> {
    let plain = plain.unwrap_or("nan");
    if let Decoding::Numbers(packing) = variable.decoding()
        && packing.stored.is_integer()
        && !packing.is_scaled()
    {
        // Floats do not have all integers.
        let missing = packing.missing.iter().find_map(|missing| match missing {
            Scalar::Integer(integer) => Some(integer.to_string()),
            _ => None,
        });
        let is_missing = plain.eq_ignore_ascii_case("nan");
        let text = missing.as_deref().filter(|_| is_missing).unwrap_or(plain);
        return stored(text, &packing.stored.into());
    }
    let bytes = stored(plain, &of.into())?;
    let wide = || bytes.as_slice().try_into().ok().map(f64::from_ne_bytes);
    let narrow = || bytes.as_slice().try_into().ok().map(f32::from_ne_bytes);
    let decoded: Option<Decoded> = match of {
        _ if is_plain(variable) => return Ok(bytes),
        NumberType::Float64 => wide().map(|number| vec![number].into()),
        NumberType::Float32 => narrow().map(|number| vec![number].into()),
        _ => None,
    };
    let of_type = || Failure::unsupported(format!("decoded elements of {} are not written", of.name()));
    encoded(variable, decoded.ok_or_else(of_type)?)
}

/// Returns the bytes of an element of a data type.
pub(crate) fn stored(text: &str, data_type: &DataType) -> Result<Vec<u8>, Failure> {
    let fast = match data_type {
        DataType::Float64 => text.parse().ok().map(|n: f64| n.to_ne_bytes().to_vec()),
        DataType::Float32 => text.parse().ok().map(|n: f32| n.to_ne_bytes().to_vec()),
        DataType::Int64 => text.parse().ok().map(|n: i64| n.to_ne_bytes().to_vec()),
        DataType::Int32 => text.parse().ok().map(|n: i32| n.to_ne_bytes().to_vec()),
        DataType::Int16 => text.parse().ok().map(|n: i16| n.to_ne_bytes().to_vec()),
        _ => None,
    };
    match fast {
        Some(bytes) => Ok(bytes),
        None => Ok(scalar::element(text, data_type)?.bytes().to_vec()),
    }
}

/// Returns the first instant of a date.
fn time(text: &str, calendar: Calendar) -> Result<Times, Failure> {
    let hint = if text.parse::<f64>().is_ok() { format!("; {STORED}") } else { String::new() };
    let interval = Interval::parse(text, calendar).map_err(|e| Failure::usage(format!("{e:#}{hint}")))?;
    let nanoseconds = interval.first().and_then(|time| time.to_nanoseconds(calendar));
    let found = nanoseconds.and_then(counted).map(|(unit, count)| Times::new(calendar, unit, vec![count]));
    found.ok_or_else(|| Failure::usage(format!("{text:?} is out of the range of times")))
}

/// Returns the longest unit of which a time is a whole number, and this number if it fits.
fn counted(nanoseconds: i128) -> Option<(TimeUnit, i64)> {
    let unit = TimeUnit::dividing(nanoseconds);
    Some((unit, i64::try_from(nanoseconds / i128::from(unit.nanoseconds())).ok()?))
}

/// Returns a span in ISO 8601, as `cat` prints it, or a number of `unit`.
fn span(text: &str, unit: TimeUnit) -> Option<Spans> {
    if let Ok(count) = text.parse() {
        return Some(Spans::new(unit, vec![count]));
    }
    let (unit, count) = counted(scalar::span(text)?)?;
    Some(Spans::new(unit, vec![count]))
}
