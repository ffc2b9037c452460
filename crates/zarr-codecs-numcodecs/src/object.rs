//! The data type `numcodecs:object`: the Python objects in arrays of format 2.
//!
//! An element is the JSON text of a value, without white space. Non-finite floats are the words that Python writes,
//! `NaN`, `Infinity` and `-Infinity`, which differ from strings. In fill values, which must be standard JSON, they are
//! strings. Bytes are base64. There is no configuration.

use std::sync::Arc;

use zarr_traits::extension::{DataTypeEntry, Entry};
use zarr_traits::json::{self, Document, Value};
use zarr_traits::{CodecError, CodecErrorKind, CodecResult, ExtensionType, FillValue, Layout};

use crate::json_text::{DEPTH, Reader, Style};

/// The name of the data type.
const NAME: &str = "numcodecs:object";

/// The row of this data type in a registry.
pub const ENTRY: Entry = Entry::DataType(DataTypeEntry::new(NAME, |_, _| Ok(Arc::new(Object))));

#[derive(Debug)]
struct Object;

impl ExtensionType for Object {
    fn name(&self) -> &str {
        NAME
    }

    fn configuration(&self) -> json::Object {
        json::Object::new()
    }

    fn layout(&self) -> Layout {
        Layout::Variable
    }

    fn fill_from_json(&self, value: &Value) -> CodecResult<FillValue> {
        let mut text = Vec::new();
        Reader::new(value.as_raw().as_bytes())?.value(Style::Plain, &mut text)?;
        Ok(FillValue::from_bytes(text))
    }

    fn fill_to_json(&self, fill: &FillValue) -> CodecResult<Value> {
        parse(fill.bytes())
    }
}

/// Returns the value of an element. Words that JSON does not have become strings.
///
/// # Errors
/// [`CodecErrorKind::InvalidArgument`] if the element is not JSON text.
pub(crate) fn parse(content: &[u8]) -> CodecResult<Value> {
    parse_as(Style::Strict, content)
}

/// Returns the value of an element, with words and strings [marked](Style::Marked).
///
/// # Errors
/// As [`parse`].
#[cfg(feature = "msgpack")]
pub(crate) fn parse_marked(content: &[u8]) -> CodecResult<Value> {
    parse_as(Style::Marked, content)
}

fn parse_as(style: Style, content: &[u8]) -> CodecResult<Value> {
    let wrong = || CodecError::new(CodecErrorKind::InvalidArgument, "an element is not JSON text");
    let mut strict = Vec::with_capacity(content.len());
    let read = Reader::new(content).and_then(|mut reader| {
        reader.value(style, &mut strict)?;
        reader.end()
    });
    read.map_err(|e| wrong().with_source(e))?;
    let document = Document::parse(&strict, DEPTH, &mut Vec::new());
    Ok(document.map_err(|e| wrong().with_source(e))?.root)
}

/// Checks that the data type is `numcodecs:object`.
///
/// # Errors
/// `Configuration` for another data type.
pub(crate) fn check(repr: &zarr_traits::codec::Repr) -> CodecResult<()> {
    if repr.data_type.name() == NAME {
        return Ok(());
    }
    let message = format!("expected data type {NAME}, found {}", repr.data_type);
    Err(CodecError::configuration(message))
}

#[cfg(test)]
mod tests {
    use zarr_traits::extension::{Context, Spec};
    use zarr_traits::json;
    use zarr_traits::{DataType, Limits, Registry};

    use super::*;
    use crate::CODECS;

    #[test]
    fn fill_values_are_json_texts() {
        let registry = Registry::core().with(CODECS).unwrap();
        let limits = Limits::default();
        let context = Context::new(&registry, &limits);
        let (data_type, notes) = registry.data_type(&Spec::named(NAME), &context).unwrap();
        assert_eq!((data_type.layout(), notes.len()), (Layout::Variable, 0));
        let DataType::Extension(objects) = data_type else { unreachable!() };
        for (value, content) in
            [(json!(null), "null"), (json!({"b": [1.5, "é"], "a": 0}), r#"{"b":[1.5,"é"],"a":0}"#)]
        {
            let fill = objects.fill_from_json(&value).unwrap();
            assert_eq!(fill.bytes(), content.as_bytes());
            assert_eq!(objects.fill_to_json(&fill).unwrap(), value);
        }
        assert!(objects.fill_to_json(&FillValue::from_bytes(*b"")).is_err());
        let words = FillValue::from_bytes(*b"[NaN,-Infinity]");
        assert_eq!(objects.fill_to_json(&words).unwrap(), json!(["NaN", "-Infinity"]));
    }
}
