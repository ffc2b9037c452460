//! A variable in the form of the table.

use serde_json::{Value, json};
use zarr_hierarchy::zarr_array::{AnyArray, DataType};
use zarr_xarray::{DateTime, Decoded, Decoding, NOT_A_TIME, TimeUnit, Times, Variable};

use crate::datasets::store::bytes;
use crate::vectors::tally::exact;

/// Compares a variable with the one of the table, which may be without a data type.
pub(crate) async fn compare(variable: &Variable, wanted: &Value) -> Result<(), String> {
    let name = variable.name();
    equal(name, "dims", &json!(variable.dimensions()), &wanted["dims"])?;
    equal(name, "shape", &json!(variable.shape()), &wanted["shape"])?;
    let attributes = wanted.get("attrs").cloned().unwrap_or_else(|| json!({}));
    equal(name, "attributes", &attributes_of(variable.attributes()), &attributes)?;
    let decoded = variable.read_any().await.map_err(|error| format!("{error:#}"))?;
    equal(name, "shape of the elements", &json!(decoded.shape()), &wanted["shape"])?;
    let (dtype, found) = elements(variable, &decoded, wanted);
    if let Some(wanted) = wanted.get("dtype") {
        equal(name, "dtype", &json!(dtype), wanted)?;
    }
    equal(name, "elements", &found, &values(dtype.as_str(), &wanted["values"]))
}

pub(crate) fn equal(name: &str, what: &str, found: &Value, wanted: &Value) -> Result<(), String> {
    if found == wanted { Ok(()) } else { Err(format!("{name}: {what} {found}, wanted {wanted}")) }
}

/// Attributes as the table shows them: NaN is a text.
pub(crate) fn attributes_of(attributes: &zarr_meta::json::Object) -> Value {
    let text = attributes.to_value().to_compact().replace("NaN", "\"NaN\"").replace("\"\"NaN\"\"", "\"NaN\"");
    exact(&text)
}

/// The values of the table, with bytes as numbers and floats as floats.
pub(crate) fn values(dtype: &str, values: &Value) -> Value {
    let is_bytes = dtype.starts_with("bytes");
    let decoded = |value: &Value| match value.as_str() {
        Some(text) if is_bytes => {
            let bytes = bytes(text);
            let length = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
            json!(bytes[..length])
        }
        None if dtype.starts_with("float") && value.is_number() => json!(value.as_f64()),
        _ => value.clone(),
    };
    values.as_array().unwrap().iter().map(decoded).collect()
}

/// The data type of elements and the elements. `wanted` decides between the two forms of times.
fn elements(variable: &Variable, decoded: &Decoded, wanted: &Value) -> (String, Value) {
    match decoded {
        Decoded::Numbers(numbers) => numbers_of(numbers),
        Decoded::Booleans(values) => ("bool".to_owned(), json!(values.as_slice())),
        Decoded::Texts(values) => ("string".to_owned(), json!(values.as_slice())),
        Decoded::Bytes(values) => (bytes_name(variable), json!(values.as_slice())),
        Decoded::Times { times, .. } if wanted["dtype"] == "cftime" => {
            let calendar = wanted["calendar"].as_str();
            assert!(calendar.is_none_or(|name| name == times.calendar().name()), "{:?}", times.calendar());
            ("cftime".to_owned(), rounded(times).iter().map(fields).collect())
        }
        Decoded::Times { times, .. } => (format!("datetime64[{}]", times.unit().name()), counts(times)),
        Decoded::Spans { spans, .. } => {
            let values = spans.values().iter().map(|count| count_of(*count)).collect();
            (format!("timedelta64[{}]", spans.unit().name()), values)
        }
        Decoded::Other(AnyArray::Other { data_type, bytes, .. }) => {
            let counts = bytes.as_chunks().0.iter().map(|bytes| count_of(i64::from_ne_bytes(*bytes)));
            let name = data_type.name().strip_prefix("numpy.").unwrap_or_default().to_owned();
            let unit = variable.metadata().document().data_type().configuration().get("unit").unwrap();
            (format!("{name}[{}]", unit.to_text().unwrap()), counts.collect())
        }
        other => panic!("{other:?}"),
    }
}

/// The data type of stored elements and the elements.
pub(crate) fn stored(elements: &AnyArray) -> (String, Value) {
    match elements {
        AnyArray::Bool(values) => ("bool".to_owned(), json!(values.as_slice())),
        AnyArray::String(values) => ("string".to_owned(), json!(values.as_slice())),
        AnyArray::Bytes(values) => ("bytes".to_owned(), json!(values.as_slice())),
        numbers => numbers_of(numbers),
    }
}

fn bytes_name(variable: &Variable) -> String {
    if let Decoding::Texts { joined: Some(length), .. } = variable.decoding() {
        return format!("bytes{length}");
    }
    // Elements that can be missing are Python objects of any length.
    if let Decoding::Nullable(_) = variable.decoding() {
        return "bytes".to_owned();
    }
    let length = variable.metadata().document().data_type().configuration().get("length_bytes");
    length.map_or_else(|| "bytes".to_owned(), |length| format!("bytes{length}"))
}

fn counts(times: &Times) -> Value {
    times.values().iter().map(|count| count_of(*count)).collect()
}

fn count_of(count: i64) -> Value {
    if count == NOT_A_TIME { Value::Null } else { json!(count) }
}

/// Returns times rounded to microseconds, the unit of cftime.
fn rounded(times: &Times) -> Times {
    let round = |count: &i64| match *count {
        NOT_A_TIME => NOT_A_TIME,
        count => (count + 500).div_euclid(1000) * 1000,
    };
    match times.unit() {
        TimeUnit::Nanoseconds => {
            Times::new(times.calendar(), times.unit(), times.values().iter().map(round).collect())
        }
        _ => times.clone(),
    }
}

fn fields(time: Option<DateTime>) -> Value {
    let Some(DateTime { date, hour, minute, second, nanosecond }) = time else { return Value::Null };
    json!([date.year, date.month, date.day, hour, minute, second, nanosecond / 1000])
}

fn numbers_of(numbers: &AnyArray) -> (String, Value) {
    macro_rules! integers {
        ($values:expr, $name:literal) => {
            ($name.to_owned(), json!($values.as_slice()))
        };
    }
    match numbers {
        AnyArray::Int8(values) => integers!(values, "int8"),
        AnyArray::Int16(values) => integers!(values, "int16"),
        AnyArray::Int32(values) => integers!(values, "int32"),
        AnyArray::Int64(values) => integers!(values, "int64"),
        AnyArray::UInt8(values) => integers!(values, "uint8"),
        AnyArray::UInt16(values) => integers!(values, "uint16"),
        AnyArray::UInt32(values) => integers!(values, "uint32"),
        AnyArray::UInt64(values) => integers!(values, "uint64"),
        AnyArray::Float32(values) => {
            ("float32".to_owned(), floats(values.into_iter().map(|v| f64::from(*v))))
        }
        AnyArray::Float64(values) => ("float64".to_owned(), floats(values.into_iter().copied())),
        AnyArray::Other { data_type, bytes, .. } => (data_type.name().into_owned(), small(data_type, bytes)),
        other => panic!("{other:?}"),
    }
}

/// Numbers of types without a variant of `AnyArray`.
fn small(data_type: &DataType, bytes: &[u8]) -> Value {
    let pairs = |parts: Vec<f64>| parts.chunks(2).map(|pair| floats(pair.iter().copied())).collect();
    match data_type {
        DataType::Float16 => {
            floats(bytes.as_chunks().0.iter().map(|bytes| half::f16::from_ne_bytes(*bytes).to_f64()))
        }
        DataType::Complex64 => {
            pairs(bytes.as_chunks().0.iter().map(|bytes| f32::from_ne_bytes(*bytes).into()).collect())
        }
        DataType::Complex128 => {
            pairs(bytes.as_chunks().0.iter().map(|bytes| f64::from_ne_bytes(*bytes)).collect())
        }
        other => panic!("{other:?}"),
    }
}

fn floats(values: impl Iterator<Item = f64>) -> Value {
    let shown = |value: f64| match value {
        value if value.is_nan() => json!("NaN"),
        f64::INFINITY => json!("Infinity"),
        f64::NEG_INFINITY => json!("-Infinity"),
        value => json!(value),
    };
    values.map(shown).collect()
}
