//! Stored type and attributes to decoded type and values.

use serde_json::{Value, json};
use zarr_meta::json::Object;
use zarr_meta::{ArrayMeta, DataType, Ignore, Limits};
use zarr_xarray::{
    DatasetPlan, DecodeOptions, Decoding, Missing, NumberType, Scalar, kernel::Packing, write_fill_value,
};

use crate::vectors::tally::{Verdict, check_rows, equal};

#[test]
fn types_and_values_are_those_of_xarray_or_better() {
    check_rows("types.json", &[(Verdict::Same, 125), (Verdict::Better, 14)], |row, verdict| {
        let stored = DataType::core(row["stored"].as_str().unwrap()).unwrap();
        let array = array(row);
        let plan = DatasetPlan::new(Object::new(), [("a", &array)], &DecodeOptions::default());
        let plan = plan.map_err(|error| format!("{error:#}"))?;
        let variable = plan.variables["a"].as_ref().map_err(ToString::to_string)?;
        let found = decode(&stored, &variable.decoding, &row["data"]);
        let is_reported = row.get("warnings").is_some() || verdict == Verdict::Better;
        equal(&!plan.findings.is_empty(), &is_reported)?;
        match verdict {
            // An integer factor is the number, not a type.
            Verdict::Better => equal(&found, &json!({ "dtype": "float64", "values": doubled(row) })),
            _ => {
                let mut wanted = row["result"].clone();
                wanted.as_object_mut().unwrap().remove("numpy_dtype");
                equal(&found, &wanted)
            }
        }
    });
}

/// The document of a row. Its attributes are written as text, since some have a bare NaN.
fn array(row: &Value) -> ArrayMeta {
    let stored = row["stored"].as_str().unwrap();
    let attributes = row["attrs"].as_object().unwrap().iter();
    let attributes = attributes.map(|(name, value)| format!("{name:?}:{}", attribute(stored, name, value)));
    let (attributes, fill) = (attributes.collect::<Vec<_>>().join(","), fill(stored));
    let text = format!(
        r#"{{"zarr_format":3,"node_type":"array","shape":[3],"data_type":"{stored}","fill_value":{fill},
        "chunk_grid":{{"name":"regular","configuration":{{"chunk_shape":[3]}}}},
        "chunk_key_encoding":{{"name":"default"}},"codecs":["bytes"],"dimension_names":["x"],
        "attributes":{{{attributes}}}}}"#
    );
    ArrayMeta::parse(text.as_bytes(), &Limits::default(), &mut Ignore).unwrap()
}

fn fill(stored: &str) -> &str {
    match stored {
        "bool" => "true",
        "complex64" | "complex128" => "[1, 0]",
        _ => "1",
    }
}

/// An attribute as it is stored: `F` stands for the fill value, and `_FillValue` of floats is base64.
fn attribute(stored: &str, name: &str, value: &Value) -> String {
    let is_encoded = name == "_FillValue" && (stored.starts_with("float") || stored.starts_with("complex"));
    let scalar = |float: f64| match stored.starts_with("complex") {
        true => Scalar::Complex(float, if float.is_nan() { float } else { 0.0 }),
        false => Scalar::Float(float),
    };
    match value.as_str() {
        Some("F") if is_encoded => write_fill_value(&Missing::Number(scalar(1.0))).to_string(),
        Some("NaN") if is_encoded => write_fill_value(&Missing::Number(scalar(f64::NAN))).to_string(),
        Some("F") if stored == "bool" => "true".to_owned(),
        Some("F") => "1".to_owned(),
        Some("NaN") => "NaN".to_owned(),
        _ => value.to_string(),
    }
}

/// The decoded type and values of the elements of a row.
fn decode(stored: &DataType, decoding: &Decoding, data: &Value) -> Value {
    let data: Vec<Value> = data.as_array().unwrap().clone();
    if *stored == DataType::Bool {
        let missing = match decoding {
            Decoding::Nullable(missing) => missing.clone(),
            _ => Vec::new(),
        };
        let is_missing = |value: &Value| missing.contains(&Missing::Boolean(value.as_bool().unwrap()));
        let values: Vec<_> =
            data.into_iter().map(|value| if is_missing(&value) { Value::Null } else { value }).collect();
        return json!({ "dtype": "bool", "values": values });
    }
    let stored = stored.number().unwrap();
    let packing = match decoding {
        Decoding::Stored => Packing::plain(stored),
        Decoding::Numbers(packing) => packing.clone(),
        other => panic!("{other:?}"),
    };
    let src: Vec<u8> = data.iter().flat_map(|value| element(stored, value)).collect();
    let mut dst = vec![0xAA; data.len() * packing.decoded.size()];
    packing.decode(&src, &mut dst).unwrap();
    let values: Vec<Value> =
        dst.chunks(packing.decoded.size()).map(|bytes| shown(packing.decoded, bytes)).collect();
    json!({ "dtype": packing.decoded.name(), "values": values })
}

/// An element in memory.
fn element(of: NumberType, value: &Value) -> Vec<u8> {
    let float = |value: &Value| value.as_f64().unwrap();
    match of {
        NumberType::Complex64 => {
            [0, 1].iter().flat_map(|part| element(NumberType::Float32, &value[part])).collect()
        }
        NumberType::Complex128 => {
            [0, 1].iter().flat_map(|part| element(NumberType::Float64, &value[part])).collect()
        }
        NumberType::Float16 => half::f16::from_f64(float(value)).to_ne_bytes().into(),
        NumberType::Float32 => (float(value) as f32).to_ne_bytes().into(),
        NumberType::Float64 => float(value).to_ne_bytes().into(),
        integer => {
            let bytes = value.as_i64().unwrap().to_le_bytes();
            let mut bytes = bytes[..integer.size()].to_vec();
            if cfg!(target_endian = "big") {
                bytes.reverse();
            }
            bytes
        }
    }
}

/// An element as the table shows it.
fn shown(of: NumberType, bytes: &[u8]) -> Value {
    let float = |float: f64| if float.is_nan() { json!("NaN") } else { json!(float) };
    let mut padded = bytes.to_vec();
    if cfg!(target_endian = "big") {
        padded.reverse();
    }
    padded.resize(8.max(bytes.len()), 0);
    match of {
        NumberType::Complex64 | NumberType::Complex128 => {
            let part = if of == NumberType::Complex64 { NumberType::Float32 } else { NumberType::Float64 };
            bytes.chunks(part.size()).map(|bytes| shown(part, bytes)).collect()
        }
        NumberType::Float16 => float(half::f16::from_ne_bytes(bytes.try_into().unwrap()).to_f64()),
        NumberType::Float32 => float(f32::from_ne_bytes(bytes.try_into().unwrap()).into()),
        NumberType::Float64 => float(f64::from_ne_bytes(bytes.try_into().unwrap())),
        // No element of the table is negative.
        _ => json!(i64::from_le_bytes(padded.try_into().unwrap())),
    }
}

/// The data of a row times two, with NaN for what is missing.
fn doubled(row: &Value) -> Vec<Value> {
    let is_masked = row["attrs"].get("_FillValue") == Some(&json!("F"));
    let one = |value: &Value| match value.as_f64().unwrap() {
        1.0 if is_masked => json!("NaN"),
        float => json!(2.0 * float),
    };
    row["data"].as_array().unwrap().iter().map(one).collect()
}
