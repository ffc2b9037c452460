//! Converts fill values between the JSON forms of format 2 and format 3.

use zarr_traits::{DataType, FillValue};

use super::dtype::{Dtype, Endian, Field, Kind, Scalar};
use crate::diagnostic::{Below, Code, Diagnostic, Sink};
use crate::error::{MetaError, MetaResult};
use crate::fill;
use crate::forms::{base64, from_base64};
use crate::json::{Object, Value, ValueKind, pointer};

/// How strings are read as bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strings {
    /// As base64, in format 2.
    Base64,
    /// Not at all: format 1 defines no form for them.
    Unknown,
}

/// Returns the form of a fill value in a document of format 3. Null becomes zero, an empty string or `"NaT"`. Pointers
/// of errors and reports are relative to the fill value. Fill values of objects are kept as they are.
pub(crate) fn lower(
    dtype: &Dtype,
    value: &Value,
    strings: Strings,
    sink: &mut dyn Sink,
) -> MetaResult<Value> {
    match dtype {
        Dtype::Object => Ok(value.clone()),
        Dtype::Scalar(scalar) => match (scalar.number(), scalar.kind) {
            (Some(number), kind) => {
                let time = matches!(kind, Kind::Datetime(_) | Kind::Timedelta(_));
                lower_number(&number, time, value, sink)
            }
            (None, Kind::Text) => {
                let text = lower_text(value, sink)?;
                // Trailing U+0000 are padding.
                let text = text.trim_end_matches('\0');
                let (count, most) = (text.chars().count(), scalar.size / 4);
                if count as u64 > u64::from(most) {
                    let message = format!("expected at most {most} characters, found {count}");
                    return Err(MetaError::invalid(message));
                }
                Ok(text.into())
            }
            (None, _) => show(dtype, &bytes(scalar.size as usize, value, strings, sink)?),
        },
        Dtype::Struct(_) => show(dtype, &bytes(size(dtype), value, strings, sink)?),
    }
}

/// Returns the fill value of a string type. Null and 0 become `""`.
pub(crate) fn lower_text(value: &Value, sink: &mut dyn Sink) -> MetaResult<String> {
    if value.kind() == ValueKind::String {
        return Ok(value.to_text()?.into_owned());
    }
    nothing(value, "a string", sink)?;
    Ok(String::new())
}

/// Returns the fill value of byte strings of variable length.
pub(crate) fn lower_bytes(value: &Value, sink: &mut dyn Sink) -> MetaResult<Value> {
    if value.kind() == ValueKind::String {
        let bytes = from_base64(value).ok_or_else(|| value.expected("a string in base64"))?;
        return Ok(base64::encode(&bytes).into());
    }
    nothing(value, "a string in base64", sink)?;
    Ok("".into())
}

/// Accepts null, and tolerates 0 in place of a value that is not a number.
fn nothing(value: &Value, what: &str, sink: &mut dyn Sink) -> MetaResult<()> {
    if value.is_null() {
        return Ok(());
    }
    if value.as_number().and_then(|n| n.to_integer()) != Some(0) {
        return Err(value.expected(what).into());
    }
    sink.report(Diagnostic::new(Code::OldFill, "", format!("expected {what}, found 0, read as all zeros")))
}

fn lower_number(number: &DataType, time: bool, value: &Value, sink: &mut dyn Sink) -> MetaResult<Value> {
    let text = if value.kind() == ValueKind::String { value.to_text()? } else { "".into() };
    if text.starts_with("0x") {
        return Err(value.expected("a number: format 2 has no hexadecimal fill values").into());
    }
    if time && text == "NaT" {
        sink.report(Diagnostic::new(Code::OldFill, "", "expected an integer, found \"NaT\""))?;
        return Ok("NaT".into());
    }
    if value.is_null() {
        return if time { Ok("NaT".into()) } else { fill::write(number, &fill::default(number)) };
    }
    let element = fill::read(number, value, sink)?;
    if time && element.bytes() == i64::MIN.to_ne_bytes() {
        return Ok("NaT".into());
    }
    fill::write(number, &element)
}

/// Returns the bytes of an element from base64, in which zeros at the end may be missing.
fn bytes(size: usize, value: &Value, strings: Strings, sink: &mut dyn Sink) -> MetaResult<Vec<u8>> {
    if value.kind() != ValueKind::String {
        nothing(value, "a string in base64", sink)?;
        return Ok(vec![0; size]);
    }
    let decoded = from_base64(value).ok_or_else(|| value.expected("a string in base64"))?;
    if strings == Strings::Unknown && !decoded.is_empty() {
        return Err(MetaError::invalid("format 1 has no fill values for this dtype, expected null"));
    }
    let mut bytes = decoded;
    if bytes.len() > size {
        return Err(MetaError::invalid(format!("expected {size} bytes in base64, found {}", bytes.len())));
    }
    if bytes.len() < size && !bytes.is_empty() {
        let message = format!("expected {size} bytes in base64, found {}, filled up with zeros", bytes.len());
        sink.report(Diagnostic::new(Code::OldFill, "", message))?;
    }
    bytes.resize(size, 0);
    Ok(bytes)
}

/// Returns the form of a fill value of format 3 in a document of format 2. Tolerated forms are reported to `sink`.
pub(crate) fn raise(dtype: &Dtype, value: &Value, sink: &mut dyn Sink) -> MetaResult<Value> {
    match dtype {
        Dtype::Object => Ok(value.clone()),
        Dtype::Scalar(Scalar { kind: Kind::Text, .. }) => Ok(value.clone()),
        Dtype::Scalar(scalar) if scalar.number().is_some() => {
            let number = scalar.number().unwrap_or(DataType::Int64);
            let raised = fill::write(&number, &native(scalar, value, sink)?)?;
            if raised.as_raw().contains("\"0x") {
                return Err(MetaError::invalid("format 2 cannot represent a NaN with a payload"));
            }
            Ok(raised)
        }
        _ => {
            let mut bytes = Vec::new();
            pack(dtype, value, &mut bytes, sink)?;
            Ok(base64::encode(&bytes).into())
        }
    }
}

/// Reads a number in its form of format 3, in the byte order of this machine.
fn native(scalar: &Scalar, value: &Value, sink: &mut dyn Sink) -> MetaResult<FillValue> {
    let number = scalar.number().unwrap_or(DataType::Int64);
    let time = matches!(scalar.kind, Kind::Datetime(_) | Kind::Timedelta(_));
    match value.to_text().as_deref() {
        Ok("NaT") if time => Ok(FillValue::of(i64::MIN)),
        _ => fill::read(&number, value, sink),
    }
}

/// Appends the bytes of an element in its form of format 3.
fn pack(dtype: &Dtype, value: &Value, out: &mut Vec<u8>, sink: &mut dyn Sink) -> MetaResult<()> {
    let end = out.len() + size(dtype);
    match dtype {
        Dtype::Scalar(scalar) if scalar.number().is_some() => {
            let mut bytes = native(scalar, value, sink)?.bytes().to_vec();
            reorder(&mut bytes, scalar);
            out.extend(bytes);
        }
        Dtype::Scalar(Scalar { kind: Kind::Text, endian, .. }) => {
            for c in value.to_text()?.chars() {
                let code = u32::from(c);
                out.extend(if *endian == Endian::Big { code.to_be_bytes() } else { code.to_le_bytes() });
            }
        }
        Dtype::Scalar(Scalar { kind: Kind::Raw, size, .. }) => {
            // The form of `raw_bytes` or that of `r<N>`.
            let bytes = fill::read(&DataType::Bytes, value, sink)?;
            if bytes.bytes().len() != *size as usize {
                let message = format!("{size} bytes in base64, or an array of {size} integers");
                return Err(value.expected(&message).into());
            }
            out.extend_from_slice(bytes.bytes());
        }
        Dtype::Scalar(_) => {
            out.extend(from_base64(value).ok_or_else(|| value.expected("a string in base64"))?);
        }
        // The little-endian bytes of the element, as zarr-python 3.1 writes them.
        Dtype::Struct(_) if value.kind() == ValueKind::String => {
            let expected = || {
                let size = size(dtype);
                value.expected(&format!("an object with all fields, or {size} bytes in base64"))
            };
            let bytes = from_base64(value).filter(|bytes| bytes.len() == size(dtype));
            pack(dtype, &show(&little(dtype), &bytes.ok_or_else(expected)?)?, out, sink)?;
        }
        Dtype::Struct(fields) => {
            let object = value.as_object().ok_or_else(|| value.expected("an object with all fields"))?;
            for field in fields {
                if field.name.is_empty() {
                    out.resize(out.len() + size(&field.dtype), 0);
                    continue;
                }
                let place = pointer::join("", &field.name);
                let missing = || MetaError::invalid("the field is missing").at(&place);
                let value = object.get(&field.name).ok_or_else(missing)?;
                pack_all(&field.dtype, &field.shape, &value, out, &mut Below::member(&place, &mut *sink))
                    .map_err(|e| e.at(&place))?;
            }
        }
        Dtype::Object => return Err(value.expected("an element of a fixed size").into()),
    }
    if out.len() > end {
        return Err(MetaError::invalid("the fill value is longer than an element"));
    }
    out.resize(end, 0);
    Ok(())
}

/// Returns the dtype with every part little-endian.
fn little(dtype: &Dtype) -> Dtype {
    match dtype {
        Dtype::Scalar(scalar) => Dtype::Scalar(Scalar { endian: Endian::Little, ..*scalar }),
        Dtype::Struct(fields) => {
            let field = |field: &Field| Field { dtype: little(&field.dtype), ..field.clone() };
            Dtype::Struct(fields.iter().map(field).collect())
        }
        Dtype::Object => Dtype::Object,
    }
}

fn pack_all(
    dtype: &Dtype,
    shape: &[u64],
    value: &Value,
    out: &mut Vec<u8>,
    sink: &mut dyn Sink,
) -> MetaResult<()> {
    let Some((length, inner)) = shape.split_first() else { return pack(dtype, value, out, sink) };
    let elements = value.elements().filter(|e| e.clone().count() as u64 == *length);
    let mut elements = elements.ok_or_else(|| value.expected(&format!("an array of {length}")))?;
    elements.try_for_each(|element| pack_all(dtype, inner, &element, out, sink))
}

/// Returns the form of format 3 for the stored bytes of an element.
fn show(dtype: &Dtype, bytes: &[u8]) -> MetaResult<Value> {
    let scalar = match dtype {
        Dtype::Scalar(scalar) => scalar,
        Dtype::Struct(fields) => return show_fields(fields, bytes),
        Dtype::Object => return Err(short()),
    };
    match (scalar.number(), scalar.kind) {
        (Some(number), kind) => {
            let mut bytes = bytes.to_vec();
            reorder(&mut bytes, scalar);
            let time = matches!(kind, Kind::Datetime(_) | Kind::Timedelta(_));
            if time && bytes == i64::MIN.to_ne_bytes() {
                return Ok("NaT".into());
            }
            fill::write(&number, &FillValue::from_bytes(bytes))
        }
        (None, Kind::Text) => {
            let unit = |unit: &[u8; 4]| match scalar.endian {
                Endian::Little => u32::from_le_bytes(*unit),
                Endian::Big => u32::from_be_bytes(*unit),
            };
            let text: Option<String> = bytes.as_chunks().0.iter().map(|u| char::from_u32(unit(u))).collect();
            let text =
                text.ok_or_else(|| MetaError::invalid("a code point of the text is not a character"))?;
            Ok(text.trim_end_matches('\0').into())
        }
        (None, Kind::Bytes) => {
            let length = bytes.iter().rposition(|b| *b != 0).map_or(0, |last| last + 1);
            Ok(base64::encode(&bytes[..length]).into())
        }
        (None, _) => Ok(base64::encode(bytes).into()),
    }
}

fn show_fields(fields: &[Field], bytes: &[u8]) -> MetaResult<Value> {
    let (mut members, mut rest) = (Vec::new(), bytes);
    for field in fields {
        let (this, behind) = rest.split_at_checked(field_size(field)).ok_or_else(short)?;
        rest = behind;
        if !field.name.is_empty() {
            members.push((&field.name, show_all(&field.dtype, &field.shape, this)?));
        }
    }
    Ok(Object::from_iter(members).into())
}

fn show_all(dtype: &Dtype, shape: &[u64], bytes: &[u8]) -> MetaResult<Value> {
    let Some((length, inner)) = shape.split_first() else { return show(dtype, bytes) };
    let size = usize::try_from(*length).ok().and_then(|n| bytes.len().checked_div(n)).unwrap_or(0).max(1);
    let parts = bytes.chunks(size).map(|part| show_all(dtype, inner, part));
    parts.collect::<MetaResult<Vec<Value>>>().map(Value::from)
}

fn short() -> MetaError {
    MetaError::invalid("the fill value does not have the size of an element")
}

/// Returns the size in bytes of an element of a checked dtype.
fn size(dtype: &Dtype) -> usize {
    match dtype {
        Dtype::Scalar(scalar) => scalar.size as usize,
        Dtype::Object => 0,
        Dtype::Struct(fields) => fields.iter().map(field_size).sum(),
    }
}

fn field_size(field: &Field) -> usize {
    let length = |n: &u64| usize::try_from(*n).unwrap_or(usize::MAX);
    field.shape.iter().map(length).fold(size(&field.dtype), usize::saturating_mul)
}

/// Swaps bytes between the byte order of the dtype and that of this machine.
fn reorder(bytes: &mut [u8], scalar: &Scalar) {
    if (scalar.endian == Endian::Big) != cfg!(target_endian = "big") {
        bytes.chunks_exact_mut(scalar.unit() as usize).for_each(<[u8]>::reverse);
    }
}
