//! Conventions of xarray that differ between format 3 and older formats.
//!
//! The rules are in [labelled datasets](https://github.com/zarr-rs/zarr/blob/v0.1.0/docs/specification/xarray.md).

use zarr_traits::{
    DataType, FillValue,
    number::{FloatFormat, Numeric},
};

use crate::diagnostic::Ignore;
use crate::documents::Format;
use crate::fill;
use crate::forms::base64;
use crate::json::{Object, Value};
pub use crate::lower::DIMENSIONS;
use crate::model::ArrayMeta;
use crate::v3::Extension;

/// The attribute with the value of missing elements in format 3. In older formats that value is the fill value.
pub const FILL_VALUE: &str = "_FillValue";

/// Returns the attributes for a copy of the array in format 3: without the names of dimensions, which are a member
/// there, and with the [attribute of the missing value](fill_value_attribute).
pub fn attributes_of_format_3(array: &ArrayMeta) -> Object {
    let mut attributes = array.attributes_without_names();
    let missing = missing_value(array);
    if let Some(missing) =
        missing.and_then(|value| fill_value_attribute(array.document().data_type(), &value))
    {
        attributes.set(FILL_VALUE, missing);
    }
    attributes
}

/// Returns the attributes for a copy of the array in format 2, and its fill value there; `None` if the fill value does
/// not change. The names of dimensions are not added here, because every conversion to format 2 adds them. Only a
/// scalar gets an empty list of names, without which xarray does not open the dataset.
pub fn attributes_of_format_2(array: &ArrayMeta) -> (Object, Option<Value>) {
    let (mut attributes, fill) = (array.attributes(), fill_value_of_format_2(array));
    if fill.is_some() {
        attributes.remove(FILL_VALUE);
    }
    if array.shape().is_empty() {
        attributes.set(DIMENSIONS, std::iter::empty::<u64>().collect::<Value>());
    }
    (attributes, fill)
}

/// Returns the value that xarray treats as missing in an array of format 2, in the JSON form of a fill value of format
/// 3: the fill value, or the attribute [`FILL_VALUE`] if the fill value is null. Returns `None` for arrays of format 3,
/// and for arrays without names of dimensions, which xarray does not open.
pub fn missing_value(array: &ArrayMeta) -> Option<Value> {
    let attributes = array.attributes();
    if array.format() == Format::V3 || !attributes.contains(DIMENSIONS) {
        return None;
    }
    match array.fill_is_undefined() {
        false => Some(array.document().fill_value().clone()),
        true => attributes.get(FILL_VALUE),
    }
}

/// Returns the attribute [`FILL_VALUE`] with which xarray treats `value` as missing in an array of format 3. Floats of
/// any width are base64 of a little-endian float64, because JSON has no NaN.
///
/// Returns `None` for a value that does not fit the type, and for strings, bytes and times: xarray writes the attribute
/// for strings, but does not open a dataset that has it (seen with 2026.9).
pub fn fill_value_attribute(data_type: &Extension, value: &Value) -> Option<Value> {
    let data_type = DataType::core(data_type.name())?;
    let fill = fill::read(&data_type, value, &mut Ignore).ok()?;
    let numeric = data_type.numeric()?;
    let float = |format: FloatFormat, bytes: &[u8]| {
        Value::from(base64::encode(&format.to_f64(numeric.load(bytes)).to_le_bytes()))
    };
    match numeric {
        Numeric::Float(format) => Some(float(format, fill.bytes())),
        Numeric::Complex(format) => {
            Some(fill.bytes().chunks_exact(numeric.size()).map(|part| float(format, part)).collect())
        }
        _ => fill::write(&data_type, &fill).ok(),
    }
}

/// Returns the fill value with which xarray treats the same elements as missing in format 2 as in this array of format
/// 3. It is null without the attribute [`FILL_VALUE`], for every data type, because only in format 2 does the fill
/// value mean missing elements. Otherwise it is the value of the attribute.
///
/// Returns `None` if the fill value does not change: for arrays of older formats, for arrays without names of
/// dimensions that are not scalars, which xarray does not open, and for an attribute that does not fit the type or
/// belongs to a type other than numbers and booleans.
fn fill_value_of_format_2(array: &ArrayMeta) -> Option<Value> {
    let is_opened = array.dimension_names().is_some() || array.shape().is_empty();
    if array.format() != Format::V3 || !is_opened {
        return None;
    }
    let Some(attribute) = array.attributes().get(FILL_VALUE) else { return Some(Value::from(None::<bool>)) };
    let data_type = DataType::core(array.document().data_type().name())?;
    let value = match &data_type {
        DataType::String | DataType::Bytes | DataType::Raw(_) => return None,
        DataType::Float16 | DataType::Float32 | DataType::Float64 => float_of(&attribute)?,
        DataType::Complex64 | DataType::Complex128 => {
            attribute.elements()?.map(|part| float_of(&part)).collect::<Option<Value>>()?
        }
        _ => attribute,
    };
    fill::write(&data_type, &fill::read(&data_type, &value, &mut Ignore).ok()?).ok()
}

/// Returns the JSON form of the float64 in a base64 string.
fn float_of(encoded: &Value) -> Option<Value> {
    let bytes = base64::decode(&encoded.to_text().ok()?)?;
    let float = f64::from_le_bytes(bytes.try_into().ok()?);
    fill::write(&DataType::Float64, &FillValue::from_bytes(float.to_ne_bytes())).ok()
}

#[cfg(test)]
mod tests {
    use crate::json;
    use zarr_traits::Limits;

    use super::*;

    /// The values are those of `FillValueCoder.encode` of xarray 2026.9 for the fill values of zarr-python 3.1.6.
    #[test]
    fn missing_values_are_encoded_as_xarray_does() {
        for (data_type, fill, attribute) in [
            ("float32", json!("NaN"), json!("AAAAAAAA+H8=")),
            ("float64", json!("-Infinity"), json!("AAAAAAAA8P8=")),
            ("float64", json!(-9999.5), json!("AAAAAMCHw8A=")),
            ("float32", json!(0.1), json!("AAAAoJmZuT8=")),
            ("float16", json!(0.1), json!("AAAAAACYuT8=")),
            ("float16", json!("Infinity"), json!("AAAAAAAA8H8=")),
            ("float16", json!(6e-8), json!("AAAAAAAAcD4=")),
            ("float16", json!(-65504.0), json!("AAAAAAD878A=")),
            ("complex64", json!([1.0, "NaN"]), json!(["AAAAAAAA8D8=", "AAAAAAAA+H8="])),
            ("complex128", json!([0.0, -2.0]), json!(["AAAAAAAAAAA=", "AAAAAAAAAMA="])),
            ("int16", json!(-9), json!(-9)),
            ("uint64", json!(u64::MAX), json!(u64::MAX)),
            ("bool", json!(true), json!(true)),
        ] {
            let encoded = fill_value_attribute(&Extension::new(data_type), &fill);
            assert_eq!(encoded, Some(attribute), "{data_type}");
        }
    }

    /// A copy to format 2 masks the same elements as the original; without the attribute it masks none, whatever the
    /// type.
    #[test]
    fn missing_values_of_format_3_are_fill_values_of_format_2() {
        let fill = |data_type: &str, names: &str, attributes: &str| {
            let text = format!(
                r#"{{"zarr_format":3,"node_type":"array","shape":[4],"data_type":"{data_type}","fill_value":0,
                "chunk_grid":{{"name":"regular","configuration":{{"chunk_shape":[2]}}}},
                "chunk_key_encoding":{{"name":"default"}},"codecs":["bytes"]{names},"attributes":{attributes}}}"#
            );
            let array = ArrayMeta::parse(text.as_bytes(), &Limits::default(), &mut Ignore).unwrap();
            fill_value_of_format_2(&array).map(|value| value.as_raw().to_owned())
        };
        const NAMED: &str = r#","dimension_names":["x"]"#;
        for (data_type, attribute, wanted) in [
            ("float32", r#"{"_FillValue":"AAAAoJmZuT8="}"#, Some("0.1")),
            ("float64", r#"{"_FillValue":"AAAAAAAA+H8="}"#, Some(r#""NaN""#)),
            ("float64", r#"{"_FillValue":-1}"#, None),
            ("float64", "{}", Some("null")),
            ("int16", r#"{"_FillValue":-9}"#, Some("-9")),
            ("int16", r#"{"_FillValue":70000}"#, None),
            ("bool", r#"{"_FillValue":true}"#, Some("true")),
            ("int16", "{}", Some("null")),
            // xarray 2026.9 reads an empty string that equals the fill value as NaN.
            ("string", "{}", Some("null")),
            ("bytes", "{}", Some("null")),
            ("r16", "{}", Some("null")),
            ("numpy.datetime64", "{}", Some("null")),
            ("fixed_length_utf32", "{}", Some("null")),
            ("null_terminated_bytes", "{}", Some("null")),
            ("string", r#"{"_FillValue":"x"}"#, None),
        ] {
            assert_eq!(fill(data_type, NAMED, attribute).as_deref(), wanted, "{data_type} {attribute}");
        }
        assert_eq!(fill("int16", "", r#"{"_FillValue":-9}"#), None, "xarray does not open it");
    }

    /// xarray does not open a dataset with one of these attributes.
    #[test]
    fn values_that_break_xarray_are_not_encoded() {
        for (data_type, fill) in [
            ("string", json!("")),
            ("bytes", json!("YWI=")),
            ("fixed_length_utf32", json!("")),
            ("numpy.datetime64", json!("NaT")),
            ("int8", json!(1000)),
            ("float32", json!("no number")),
            ("unknown", json!(1)),
        ] {
            assert_eq!(fill_value_attribute(&Extension::new(data_type), &fill), None, "{data_type}");
        }
    }

    /// The fill value takes precedence over the attribute, and a null fill value is not a missing value (rule J.t4).
    #[test]
    fn the_fill_value_of_format_2_is_the_missing_value_of_xarray() {
        let missing = |fill: &str, attributes: &str| {
            let array = format!(
                r#"{{"zarr_format":2,"shape":[4],"chunks":[2],"dtype":"<f4","compressor":null,"filters":null,
                "order":"C","fill_value":{fill}}}"#
            );
            let attributes = Some(attributes.as_bytes());
            let array = ArrayMeta::parse_v2(array.as_bytes(), attributes, &Limits::default(), &mut Ignore);
            missing_value(&array.unwrap()).map(|value| value.as_raw().to_owned())
        };
        let named = r#"{"_ARRAY_DIMENSIONS":["x"]}"#;
        let both = r#"{"_ARRAY_DIMENSIONS":["x"],"_FillValue":7.5}"#;
        assert_eq!(missing("-1", named).as_deref(), Some("-1.0"));
        assert_eq!(missing("null", named), None);
        assert_eq!(missing("-1", both).as_deref(), Some("-1.0"));
        assert_eq!(missing("null", both).as_deref(), Some("7.5"));
        assert_eq!(missing("-1", r#"{"_FillValue":7.5}"#), None);
    }

    /// xarray gives a scalar an empty list of names, an ordinary attribute in format 3 (rules J2 and J3).
    #[test]
    fn a_scalar_keeps_no_list_of_names() {
        for (names, kept) in [("[]", false), (r#"["x"]"#, true)] {
            let array =
                br#"{"zarr_format":2,"shape":[],"chunks":[],"dtype":"<f4","compressor":null,"filters":null,
                "order":"C","fill_value":null}"#;
            let attributes = format!(r#"{{"_ARRAY_DIMENSIONS":{names},"a":1}}"#);
            let attributes = Some(attributes.as_bytes());
            let array = ArrayMeta::parse_v2(array, attributes, &Limits::default(), &mut Ignore).unwrap();
            let attributes = array.to_v3(false).unwrap().attributes();
            assert_eq!((attributes.contains(DIMENSIONS), attributes.contains("a")), (kept, true), "{names}");
            assert!(array.to_v3(true).unwrap().attributes().contains(DIMENSIONS));
            assert_eq!(
                array.to_builder(DataType::Float32).build().unwrap().attributes(),
                attributes,
                "{names}"
            );
        }
    }
}
