//! Reads elements into memory of JavaScript. Elements of a fixed size are bytes, which `lib/elements.js` gives a type.

use js_sys::{Array as List, Uint8Array};
use wasm_bindgen::JsValue;
use zarr_array::{Array, ArrayResult, Axis, DataType, NdVec, Selection};

use crate::error::{JsResult, number, object, of_array, wrong};

/// How the elements of an array are passed to JavaScript.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Form {
    /// Bytes, in C order and little-endian.
    Fixed,
    /// A list of strings.
    Text,
    /// A list of byte strings.
    Bytes,
}

pub(crate) fn form_of(data_type: &DataType) -> Form {
    match (data_type, &*data_type.name()) {
        (DataType::String, _) | (_, "fixed_length_utf32") => Form::Text,
        (_, "null_terminated_bytes") => Form::Bytes,
        (other, _) if other.size().is_none() => Form::Bytes,
        _ => Form::Fixed,
    }
}

/// Reads a selection. Returns an object with the members `shape`, and `bytes` or `list`.
pub(crate) async fn read(array: &Array, selection: Selection) -> JsResult<JsValue> {
    let (shape, name, data) = match form_of(array.data_type()) {
        Form::Fixed => {
            let (shape, bytes) = array.read_bytes(selection).await.map_err(|e| of_array(&e))?;
            (shape, "bytes", Uint8Array::from(&bytes[..]).into())
        }
        Form::Text => {
            let read: ArrayResult<NdVec<String>> = array.read(selection).await;
            list(read, |text| JsValue::from_str(text))?
        }
        Form::Bytes => {
            let read: ArrayResult<NdVec<Vec<u8>>> = array.read(selection).await;
            list(read, |bytes| Uint8Array::from(&bytes[..]).into())?
        }
    };
    Ok(object(&[("shape", lengths(&shape)), (name, data)]))
}

fn list<T>(
    read: ArrayResult<NdVec<T>>,
    value: impl Fn(&T) -> JsValue,
) -> JsResult<(Vec<u64>, &'static str, JsValue)> {
    let (shape, values) = read.map_err(|e| of_array(&e))?.into_parts();
    Ok((shape, "list", List::from_iter(values.iter().map(value)).into()))
}

/// Returns the selection of `lib/selection.js`: three numbers per dimension. They are the first position, the position
/// after the last and the step of a range; a step of 0 is an index, which drops its dimension.
pub(crate) fn selection(numbers: &[f64]) -> JsResult<Selection> {
    let axis = |three: &[f64]| match three {
        [from, to, step] => {
            let (from, to, step) = (whole(*from)?, whole(*to)?, whole(*step)?);
            Some(if step == 0 { Axis::from(from) } else { Axis::step(from..to, step) })
        }
        _ => None,
    };
    let axes: Option<_> = numbers.chunks(3).map(axis).collect();
    axes.map(Selection::new).ok_or_else(|| wrong("a selection has other numbers than whole ones"))
}

/// Returns lengths as an array of numbers.
pub(crate) fn lengths(lengths: &[u64]) -> JsValue {
    List::from_iter(lengths.iter().map(|n| number(*n))).into()
}

#[allow(clippy::cast_possible_truncation, reason = "the range is checked")]
fn whole(n: f64) -> Option<i64> {
    (n.fract() == 0.0 && n.abs() < 9e15).then_some(n as i64)
}
