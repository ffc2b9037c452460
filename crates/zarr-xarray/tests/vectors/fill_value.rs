//! The attribute `_FillValue` of format 3, both ways.

use serde_json::{Value, json};
use zarr_meta::v3::Extension;
use zarr_xarray::{ElementKind, Missing, NumberType, Scalar, read_fill_value, write_fill_value};

use crate::vectors::tally::{Verdict, check_rows, equal, float, json_of};

/// Values that xarray refuses and this crate reads: numbers and names of numbers for floats, and null, which means no
/// value.
const READ: [(&str, &str); 4] =
    [("\"NaN\"", "\"NaN\""), ("-9999.0", "-9999.0"), ("5", "5.0"), ("null", "null")];

#[test]
fn missing_values_are_read_and_written_as_xarray_does_or_better() {
    check_rows("fill_value.json", &[(Verdict::Same, 50)], |row, _| {
        let kind = kind(row["data_type"].as_str().unwrap());
        if row["op"] == "encode" {
            let found = write_fill_value(&missing(kind, &row["value"]));
            return equal(&found.deserialize::<Value>().unwrap(), &row["result"]);
        }
        let mut findings = Vec::new();
        let found = read_fill_value(kind, &json_of(&row["json"]), &mut findings);
        let json = row.get("error").map(|_| row["json"].to_string());
        let better = READ.iter().find(|(known, _)| json.as_deref() == Some(known));
        match (found, row.get("result"), better) {
            (Ok(found), _, Some((_, wanted))) => {
                equal(&findings.len(), &1)?;
                equal(&shown(found).to_string().as_str(), wanted)
            }
            (Ok(found), Some(result), None) => equal(&shown(found), result),
            (Err(_), None, None) => Ok(()),
            (found, ..) => Err(format!("found {found:?}")),
        }
    });
}

fn kind(data_type: &str) -> ElementKind {
    match data_type {
        "utf32" => ElementKind::Text,
        name => ElementKind::of(&Extension::new(name)),
    }
}

/// A value of the table as an element.
fn missing(kind: ElementKind, value: &Value) -> Missing {
    match kind {
        ElementKind::Number(NumberType::Complex64 | NumberType::Complex128) => {
            Missing::Number(Scalar::Complex(float(&value[0]), float(&value[1])))
        }
        ElementKind::Number(of) if of.is_float() => Missing::Number(Scalar::Float(float(value))),
        ElementKind::Number(_) => Missing::Number(Scalar::Integer(value.to_string().parse().unwrap())),
        ElementKind::Boolean => Missing::Boolean(value.as_bool().unwrap()),
        ElementKind::Text => Missing::Text(value.as_str().unwrap().to_owned()),
        _ => match read_fill_value(kind, &json_of(&value["base64"]), &mut Vec::new()) {
            Ok(Some(bytes)) => bytes,
            other => panic!("{other:?}"),
        },
    }
}

/// An element as the table shows it: float16 and float32 are rounded.
fn shown(missing: Option<Missing>) -> Value {
    let number = |float: f64| match float {
        float if float.is_nan() => json!("NaN"),
        float if float.is_infinite() => json!(if float > 0.0 { "Infinity" } else { "-Infinity" }),
        float => json!(float),
    };
    match missing {
        None => Value::Null,
        Some(Missing::Number(Scalar::Integer(integer))) => {
            serde_json::from_str(&integer.to_string()).unwrap()
        }
        Some(Missing::Number(Scalar::Float(real))) => number(real),
        Some(Missing::Number(Scalar::Complex(real, imaginary))) => json!([number(real), number(imaginary)]),
        Some(Missing::Boolean(truth)) => json!(truth),
        Some(Missing::Text(text)) => json!(text),
        Some(Missing::Bytes(bytes)) => json!(bytes),
        Some(other) => panic!("{other:?}"),
    }
}
