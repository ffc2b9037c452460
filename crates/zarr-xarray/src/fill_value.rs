//! The attribute `_FillValue`, in all forms that writers use.
//!
//! xarray writes floats of format 3 as the base64 of a float64 and reads nothing else. Other writers write JSON numbers
//! (NZ-1.0, VirtualiZarr), names such as `"NaN"`, or the bits of the type.

use zarr_meta::json::{Value, ValueKind};
use zarr_meta::{DataType, FillValue, Ignore, Strict, fill};

use crate::attribute::{alone, number};
use crate::element_kind::ElementKind;
use crate::error::{XarrayError, XarrayResult};
use crate::finding::{Finding, FindingCode};
use crate::number::{NumberType, Scalar};

/// The element that marks missing elements.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Missing {
    /// A number. It need not be a value of the data type.
    Number(Scalar),
    /// A boolean.
    Boolean(bool),
    /// A text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
}

impl Missing {
    /// Whether the missing value is NaN.
    pub(crate) fn is_nan(&self) -> bool {
        matches!(self, Self::Number(scalar) if scalar.is_nan())
    }
}

/// Reads the attribute `_FillValue` of an array of format 3. Returns `None` for null, and for a value of another kind
/// if the elements are not floats. Adds a form that xarray refuses to `findings`.
///
/// # Errors
/// `Invalid` if the elements are floats and the value is not a number in any known form.
pub fn read_fill_value(
    kind: ElementKind,
    value: &Value,
    findings: &mut Vec<Finding>,
) -> XarrayResult<Option<Missing>> {
    let given = value;
    let value = &alone_unless_complex(kind, given);
    let is_list = value != given;
    let (missing, is_form_of_xarray) = match kind {
        _ if value.is_null() => (None, false),
        ElementKind::Number(of) if of.is_integer() => (integer(value), true),
        ElementKind::Number(of) => {
            let (read, is_form) = float(of, value).ok_or_else(|| {
                XarrayError::invalid(format!("_FillValue is {value}, not a number in any known form"))
            })?;
            (Some(Missing::Number(read)), is_form)
        }
        ElementKind::Boolean => (boolean(value), true),
        ElementKind::Text => (Some(Missing::Text(text(value))), false),
        ElementKind::Bytes { .. } => (base64(value).map(Missing::Bytes), false),
        ElementKind::NumpyTime | ElementKind::Other => (None, true),
    };
    if missing.is_none() && !value.is_null() {
        let message = format!("_FillValue is {value}, not an element of the data type: it is ignored");
        findings.push(Finding::new(FindingCode::MissingValueType, message));
    } else if is_list || !is_form_of_xarray {
        findings.push(Finding::new(FindingCode::FillValueForm, format!("_FillValue is {given}")));
    }
    Ok(missing)
}

/// Returns the attribute `_FillValue` of format 3 in the form that xarray writes: floats are the base64 of a float64 in
/// little-endian order, bytes are base64.
pub fn write_fill_value(missing: &Missing) -> Value {
    let float = |float: f64| in_base64(&float.to_le_bytes());
    match missing {
        Missing::Number(Scalar::Integer(integer)) => {
            Value::parse(&integer.to_string()).unwrap_or(Value::from(0))
        }
        Missing::Number(Scalar::Float(real)) => float(*real),
        Missing::Number(Scalar::Complex(real, imaginary)) => {
            [float(*real), float(*imaginary)].into_iter().collect()
        }
        Missing::Boolean(truth) => Value::from(*truth),
        Missing::Text(text) => Value::from(text),
        Missing::Bytes(bytes) => in_base64(bytes),
    }
}

/// Replaces a list of length one by its element, unless elements are complex.
fn alone_unless_complex(kind: ElementKind, value: &Value) -> Value {
    match kind {
        ElementKind::Number(NumberType::Complex64 | NumberType::Complex128) => value.clone(),
        _ => alone(value.clone()),
    }
}

/// Reads a float or a complex number. Also returns whether xarray reads this form.
fn float(of: NumberType, value: &Value) -> Option<(Scalar, bool)> {
    let part = match of {
        NumberType::Complex64 => NumberType::Float32,
        NumberType::Complex128 => NumberType::Float64,
        real => return real_float(real, value).map(|(float, is_form)| (Scalar::Float(float), is_form)),
    };
    let parts: Option<Vec<_>> = value.elements()?.map(|element| real_float(part, &element)).collect();
    match parts?[..] {
        [(real, first), (imaginary, second)] => Some((Scalar::Complex(real, imaginary), first && second)),
        _ => None,
    }
}

fn real_float(of: NumberType, value: &Value) -> Option<(f64, bool)> {
    if let Some(bytes) = base64(value).and_then(|bytes| bytes.try_into().ok()) {
        return Some((f64::from_le_bytes(bytes), true));
    }
    let named = || Scalar::load(of, fill::read(&of.into(), value, &mut Strict).ok()?.bytes());
    let read = if value.kind() == ValueKind::String { named() } else { number(value) };
    Some((read?.to_f64()?, false))
}

/// Reads an integer as Python's `int` does: fractions are truncated, `true` is 1.
#[expect(clippy::cast_possible_truncation, reason = "the fraction is truncated on purpose")]
fn integer(value: &Value) -> Option<Missing> {
    let truth = value.as_bool().map(|truth| Scalar::Integer(truth.into()));
    let scalar = match truth.or_else(|| number(value))? {
        Scalar::Float(float) if float.is_finite() => Scalar::Integer(float as i128),
        scalar => scalar,
    };
    Some(Missing::Number(scalar))
}

fn boolean(value: &Value) -> Option<Missing> {
    if let Some(truth) = value.as_bool() {
        return Some(Missing::Boolean(truth));
    }
    match number(value)? {
        Scalar::Integer(0) => Some(Missing::Boolean(false)),
        Scalar::Integer(1) => Some(Missing::Boolean(true)),
        other => Some(Missing::Number(other)),
    }
}

/// Returns a text unchanged, and any other value as JSON text, as Python's `str` does.
fn text(value: &Value) -> String {
    value.to_text().map_or_else(|_| value.to_compact(), |text| text.into_owned())
}

fn base64(value: &Value) -> Option<Vec<u8>> {
    let is_text = value.kind() == ValueKind::String;
    is_text.then(|| fill::read(&DataType::Bytes, value, &mut Ignore).ok())?.map(|read| read.bytes().to_vec())
}

fn in_base64(bytes: &[u8]) -> Value {
    // Every byte slice is a valid element of this type, so the write does not fail.
    fill::write(&DataType::Bytes, &FillValue::from_bytes(bytes)).unwrap_or_else(|_| Value::from(""))
}
