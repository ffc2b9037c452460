//! Fill values: from the JSON forms of each core data type to exact bits, and back.
//!
//! An extension type reads its own fill values. Only those of structs are read here, field by field.
//!
//! The rules are in [data types](https://github.com/zarr-rs/zarr/blob/v0.1.0/docs/specification/data-types.md).

mod given;
mod structs;

use zarr_traits::{DataType, FillValue, number::Numeric};

pub use self::given::Fill;

use crate::diagnostic::{Code, Diagnostic, Sink};
use crate::error::{MetaError, MetaResult};
use crate::forms::{base64, from_base64, integer, number, number_to_json};
use crate::json::{Value, ValueKind, pointer};
use crate::types::{SmallNumber, StructType};

/// Reads a `fill_value`. Pointers of errors and reports are relative to it.
///
/// # Errors
/// If `value` is not an element of the type: of another kind, out of range, or of another size. Tolerated forms are
/// reported to `sink`, which may return an error.
pub fn read(data_type: &DataType, value: &Value, sink: &mut dyn Sink) -> MetaResult<FillValue> {
    if let Some(fields) = StructType::of(data_type) {
        return fields.read_fill(value, sink);
    }
    if let Some(numeric) = numeric(data_type) {
        return number(numeric, value, sink);
    }
    match data_type {
        DataType::Raw(size) => raw(*size as usize, value, sink),
        DataType::String => Ok(FillValue::from_bytes(value.to_text()?.as_bytes())),
        DataType::Bytes => bytes(value, sink),
        DataType::Extension(extension) => {
            let fill = extension.fill_from_json(value).map_err(|e| {
                MetaError::invalid(format!("not a fill value of data type {data_type}")).with_source(e)
            })?;
            match data_type.size() {
                Some(size) if size != fill.bytes().len() => {
                    let found = fill.bytes().len();
                    let message =
                        format!("the fill value has {found} bytes, an element of {data_type} has {size}");
                    Err(MetaError::invalid(message))
                }
                _ => Ok(fill),
            }
        }
        other => Err(MetaError::invalid(format!("data type {other} has no known fill values"))),
    }
}

/// Writes a `fill_value` in the canonical form: NaN and infinities by name, any other NaN as its bits, and a finite
/// number with the fewest digits that identify it in its width.
///
/// # Errors
/// If `fill` does not have the size of an element, or an extension type refuses it.
pub fn write(data_type: &DataType, fill: &FillValue) -> MetaResult<Value> {
    let bytes = fill.bytes();
    let size =
        || MetaError::argument(format!("a fill value of {} bytes does not fit {data_type}", bytes.len()));
    if let Some(numeric) = numeric(data_type) {
        return number_to_json(numeric, bytes).ok_or_else(size);
    }
    match data_type {
        DataType::Raw(n) if bytes.len() == *n as usize => Ok(bytes.iter().copied().collect()),
        DataType::String => {
            let text = std::str::from_utf8(bytes);
            text.map(Value::from).map_err(|e| MetaError::argument("a string is not UTF-8").with_source(e))
        }
        // zarr-python reads base64 only.
        DataType::Bytes => Ok(base64::encode(bytes).into()),
        DataType::Extension(extension) => {
            let refused = || MetaError::argument(format!("not a fill value of data type {data_type}"));
            extension.fill_to_json(fill).map_err(|e| refused().with_source(e))
        }
        _ => Err(size()),
    }
}

/// Returns the numeric form of the elements, if this module can read and write it.
fn numeric(data_type: &DataType) -> Option<Numeric> {
    match data_type {
        DataType::Extension(_) => SmallNumber::of(data_type),
        core => core.numeric(),
    }
}

/// Writes a `fill_value` for a new document: like [`write()`], but in the form that more readers accept. That is base64
/// for the older type of structs, and the bits for one-byte floats, because zarrs reads no numbers there.
pub(crate) fn for_document(data_type: &DataType, fill: &FillValue) -> MetaResult<Value> {
    if let Some(fields) = StructType::of(data_type).filter(|fields| fields.is_legacy()) {
        return fields.write_base64(fill);
    }
    let hex = |byte: &u8| Value::from(format!("0x{byte:02x}"));
    match (numeric(data_type), fill.bytes()) {
        (Some(Numeric::Float(format)), [byte]) if format.size() == 1 => Ok(hex(byte)),
        (Some(Numeric::Complex(format)), parts @ [_, _]) if format.size() == 1 => {
            Ok(parts.iter().map(hex).collect())
        }
        _ => write(data_type, fill),
    }
}

/// Returns the default fill value, all bits zero: false, 0, an empty string, or the smallest number of a type without
/// zero.
pub(crate) fn default(data_type: &DataType) -> FillValue {
    FillValue::from_bytes(vec![0; data_type.size().unwrap_or(0)])
}

/// Reads `size` bytes from an array of integers from 0 to 255. Base64 is tolerated.
fn raw(size: usize, value: &Value, sink: &mut dyn Sink) -> MetaResult<FillValue> {
    let expected = || value.expected(&format!("an array of {size} integers from 0 to 255"));
    let bytes = byte_list(value, sink)?.or_else(|| from_base64(value)).ok_or_else(expected)?;
    if bytes.len() != size {
        return Err(MetaError::invalid(format!("expected {size} bytes, found {}", bytes.len())));
    }
    if value.kind() == ValueKind::String {
        let message = "expected an array of integers, found a string, read as base64";
        sink.report(Diagnostic::new(Code::Base64Fill, "", message))?;
    }
    Ok(FillValue::from_bytes(bytes))
}

/// Reads bytes from base64 or an array of integers from 0 to 255.
fn bytes(value: &Value, sink: &mut dyn Sink) -> MetaResult<FillValue> {
    let expected = || value.expected("a string in base64 or an array of integers from 0 to 255");
    let bytes = byte_list(value, sink)?.or_else(|| from_base64(value)).ok_or_else(expected)?;
    Ok(FillValue::from_bytes(bytes))
}

/// Returns the bytes of an array of integers, or `None` if `value` is not an array.
fn byte_list(value: &Value, sink: &mut dyn Sink) -> MetaResult<Option<Vec<u8>>> {
    let Some(elements) = value.elements() else { return Ok(None) };
    let mut bytes = Vec::new();
    for (i, element) in elements.enumerate() {
        let place = pointer::element("", i);
        let byte = u8::try_from(integer(&element, &place, sink)?);
        bytes.push(byte.map_err(|_| element.expected("an integer from 0 to 255").at(&place))?);
    }
    Ok(Some(bytes))
}
