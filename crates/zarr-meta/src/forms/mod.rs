//! Numbers and bytes in JSON: from their forms to exact bits, and back.
//!
//! No value passes through a wider or narrower type. Integers are read from their digits, decimal fractions are rounded
//! once, directly to the width of the type, and NaN payloads stay bits.

pub(crate) mod base64;
mod float;

use zarr_traits::{
    FillValue,
    number::{FloatFormat, Numeric},
};

use crate::diagnostic::{Code, Diagnostic, Sink};
use crate::error::{MetaError, MetaResult};
use crate::json::{Value, ValueKind, pointer};

/// Reads a bool. 0 and 1 are tolerated.
fn boolean(value: &Value, sink: &mut dyn Sink) -> MetaResult<bool> {
    if let Some(b) = value.as_bool() {
        return Ok(b);
    }
    let b = match value.as_raw() {
        "0" => false,
        "1" => true,
        _ => return Err(value.expected("true or false").into()),
    };
    let message = format!("expected true or false, found {}, read as {b}", value.as_raw());
    sink.report(Diagnostic::new(Code::BoolFill, "", message))?;
    Ok(b)
}

/// Reads an integer. A spelling with a fraction or an exponent is tolerated.
pub(crate) fn integer(value: &Value, place: &str, sink: &mut dyn Sink) -> MetaResult<i128> {
    let number = value.as_number().ok_or_else(|| value.expected("an integer").at(place))?;
    let integer = number.to_integer().ok_or_else(|| value.expected("an integer").at(place))?;
    if !number.is_plain_integer() {
        let message = format!("the integer {integer} is written as {number}");
        sink.report(Diagnostic::new(Code::IntegerFill, place, message))?;
    }
    Ok(integer)
}

/// Reads a number, complex number or bool.
pub(crate) fn number(numeric: Numeric, value: &Value, sink: &mut dyn Sink) -> MetaResult<FillValue> {
    let mut memory = vec![0; numeric.size() * numeric.components()];
    match numeric {
        Numeric::Bool => memory.fill(boolean(value, sink)?.into()),
        Numeric::Float(format) => numeric.store(float(format, value, "", sink)?, &mut memory),
        Numeric::Complex(format) => {
            // A complex number is an array of its real and imaginary part.
            let parts = value.elements().filter(|e| e.clone().count() == 2);
            let parts = parts.ok_or_else(|| value.expected("an array of two numbers, real and imaginary"))?;
            for ((i, part), memory) in parts.enumerate().zip(memory.chunks_exact_mut(numeric.size())) {
                numeric.store(float(format, &part, &pointer::element("", i), sink)?, memory);
            }
        }
        _ => {
            let integer = integer(value, "", sink)?;
            let range = || {
                let (least, most) = numeric.range().unwrap_or((0, 0));
                value.expected(&format!("an integer from {least} to {most}"))
            };
            numeric.store(numeric.from_integer(integer).ok_or_else(range)?, &mut memory);
        }
    }
    Ok(FillValue::from_bytes(memory))
}

/// The inverse of [`number`]. Returns `None` for bytes that are not an element.
pub(crate) fn number_to_json(numeric: Numeric, bytes: &[u8]) -> Option<Value> {
    if bytes.len() != numeric.size() * numeric.components() {
        return None;
    }
    let bits = numeric.extend(numeric.load(bytes));
    Some(match numeric {
        Numeric::Bool => (*bytes.first().filter(|b| **b <= 1)? == 1).into(),
        Numeric::Float(format) => float::to_json(format, bits),
        Numeric::Complex(format) => {
            let part = |bytes| float::to_json(format, numeric.extend(numeric.load(bytes)));
            bytes.chunks_exact(numeric.size()).map(part).collect()
        }
        Numeric::Integer { signed: true, .. } => bits.cast_signed().into(),
        _ => bits.into(),
    })
}

/// Reads a float and returns its bits.
fn float(format: FloatFormat, value: &Value, place: &str, sink: &mut dyn Sink) -> MetaResult<u64> {
    let names = match (format.nan(), format.infinity()) {
        (Some(_), Some(_)) => "\"NaN\", \"Infinity\", \"-Infinity\" or ",
        (Some(_), None) => "\"NaN\" or ",
        _ => "",
    };
    let bits = match value.kind() {
        ValueKind::Number => value.as_number().map(|n| float::decimal(format, n)),
        // The scanner has reported the bare token.
        ValueKind::NonFinite => format.from_text(value.as_raw()).map(Ok),
        ValueKind::String => {
            let text = value.to_text().map_err(|e| e.at(place))?;
            match float::text(format, &text) {
                Some((bits, tolerated)) => {
                    if let Some(code) = tolerated.filter(|_| bits.is_ok()) {
                        let message =
                            format!("{text:?} is not a specified form, read as the number it spells");
                        sink.report(Diagnostic::new(code, place, message))?;
                    }
                    Some(bits)
                }
                None if text.starts_with("0x") => {
                    let message = format!("\"0x\" and {} hexadecimal digits", 2 * format.size());
                    return Err(value.expected(&message).at(place).into());
                }
                None => None,
            }
        }
        _ => None,
    };
    let bits = bits.ok_or_else(|| value.expected(&format!("a number, {names}\"0x…\"")).at(place))?;
    bits.map_err(|_| {
        let hint = if format.infinity().is_some() { ", write \"Infinity\" if it is meant" } else { "" };
        let message = format!("{} is beyond the range of {}{hint}", value.summary(), format.name());
        MetaError::invalid(message).at(place)
    })
}

/// Returns the bytes of a base64 string, or `None` for any other value.
pub(crate) fn from_base64(value: &Value) -> Option<Vec<u8>> {
    base64::decode(&value.to_text().ok()?)
}
