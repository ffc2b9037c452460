//! The elements of an array, as bytes and as JSON.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use zarrs::array::{
    Array, ArrayBytes, ArrayBytesOffsets, ArrayMetadata, DataTypeSize, FillValue, FillValueMetadata,
};
use zarrs::filesystem::FilesystemStore;

use crate::refusal::Refusal;

type Stored = Array<FilesystemStore>;

pub fn to_bytes(array: &Stored, values: ArrayBytes<'_>) -> Result<Vec<u8>, Refusal> {
    match values {
        ArrayBytes::Fixed(bytes) => Ok(bytes.into_owned()),
        ArrayBytes::Variable(_) => Err(failed("elements of variable length exist in JSON only")),
        ArrayBytes::Optional(_) => {
            Err(Refusal::NotImplemented(format!("elements of {:?}", array.data_type())))
        }
    }
}

pub fn from_bytes(array: &Stored, bytes: Vec<u8>) -> Result<ArrayBytes<'static>, Refusal> {
    match array.data_type().size() {
        DataTypeSize::Fixed(_) => Ok(ArrayBytes::new_flen(bytes)),
        DataTypeSize::Variable => Err(failed("elements of variable length exist in JSON only")),
    }
}

pub fn to_json(array: &Stored, values: ArrayBytes<'_>) -> Result<Value, Refusal> {
    let data_type = array.data_type();
    let flat: Result<Vec<Value>, Refusal> = match (values, data_type.size()) {
        (ArrayBytes::Fixed(bytes), DataTypeSize::Fixed(size)) => {
            bytes.chunks_exact(size).map(|element| element_to_json(array, element)).collect()
        }
        (ArrayBytes::Variable(values), _) => {
            let (bytes, offsets) = values.into_parts();
            offsets.windows(2).map(|ends| element_to_json(array, &bytes[ends[0]..ends[1]])).collect()
        }
        _ => Err(Refusal::NotImplemented(format!("elements of {data_type:?}"))),
    };
    Ok(nested(&flat?, array.shape()))
}

/// Returns an element in the form of a fill value, except for byte strings and floats that are not numbers.
fn element_to_json(array: &Stored, element: &[u8]) -> Result<Value, Refusal> {
    if is_byte_string(array) {
        return Ok(Value::from(STANDARD.encode(element)));
    }
    let spelled =
        serde_json::to_value(array.data_type().metadata_fill_value(&FillValue::new(element.to_vec()))?)?;
    Ok(plain(spelled))
}

fn plain(value: Value) -> Value {
    match value {
        Value::String(text) if text == "NaT" => Value::from(i64::MIN),
        Value::String(text) if text.starts_with("0x") => "NaN".into(),
        Value::Array(parts) => parts.into_iter().map(plain).collect(),
        other => other,
    }
}

/// Whether elements are byte strings. In format 2 only the codec tells byte strings from strings, and zarrs reads both
/// as strings.
fn is_byte_string(array: &Stored) -> bool {
    use zarrs::array::data_type::{BytesDataType, RawBitsDataType};
    let data_type = array.data_type();
    let is_vlen_bytes = match array.metadata() {
        ArrayMetadata::V2(v2) => v2.filters.iter().flatten().any(|filter| filter.id() == "vlen-bytes"),
        ArrayMetadata::V3(_) => false,
    };
    is_vlen_bytes || data_type.is::<BytesDataType>() || data_type.is::<RawBitsDataType>()
}

pub fn from_json(array: &Stored, text: &[u8]) -> Result<ArrayBytes<'static>, Refusal> {
    let data_type = array.data_type();
    let mut flat = Vec::new();
    let values = serde_json::from_slice(text)?;
    flatten(&values, array.shape(), &mut flat)?;
    let elements = flat.into_iter().map(|value| element_from_json(array, value));
    let elements = elements.collect::<Result<Vec<Vec<u8>>, Refusal>>()?;
    let bytes = elements.concat();
    if data_type.is_fixed() {
        return Ok(ArrayBytes::new_flen(bytes));
    }
    let ends = elements.iter().scan(0, |end, element| {
        *end += element.len();
        Some(*end)
    });
    let offsets = ArrayBytesOffsets::new(std::iter::once(0).chain(ends).collect::<Vec<usize>>())?;
    Ok(ArrayBytes::new_vlen(bytes, offsets)?)
}

fn element_from_json(array: &Stored, value: &Value) -> Result<Vec<u8>, Refusal> {
    if let (true, Some(text)) = (is_byte_string(array), value.as_str()) {
        return Ok(STANDARD.decode(text)?);
    }
    let spelled: FillValueMetadata = serde_json::from_value(value.clone())?;
    Ok(array.data_type().fill_value_v3(&spelled)?.as_ne_bytes().to_vec())
}

fn nested(flat: &[Value], shape: &[u64]) -> Value {
    let Some((&length, inner)) = shape.split_first() else { return flat[0].clone() };
    let size = flat.len() / length.max(1) as usize;
    (0..length as usize).map(|i| nested(&flat[i * size..(i + 1) * size], inner)).collect()
}

fn flatten<'a>(value: &'a Value, shape: &[u64], flat: &mut Vec<&'a Value>) -> Result<(), Refusal> {
    let Some((&length, inner)) = shape.split_first() else {
        flat.push(value);
        return Ok(());
    };
    let items = value.as_array().filter(|items| items.len() as u64 == length);
    let items = items.ok_or_else(|| failed("the JSON does not have the shape of the array"))?;
    items.iter().try_for_each(|item| flatten(item, inner, flat))
}

fn failed(text: &str) -> Refusal {
    Refusal::Failed(text.to_owned())
}
