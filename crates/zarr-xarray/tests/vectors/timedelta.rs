//! Spans of time, both ways.

use serde_json::{Value, json};
use zarr_xarray::{
    NOT_A_TIME, NumberKind, Spans, StoredCounts, StoredNumbers, TimeUnit, Unit, decode_spans, encode_spans,
};

use crate::vectors::tally::{Verdict, check_rows, equal, floats, integers};

#[test]
fn spans_are_decoded_and_encoded_as_xarray_does() {
    check_rows("timedelta.json", &[(Verdict::Same, 13)], |row, _| {
        let found = if row["op"] == "decode" { decode(row) } else { encode(row) };
        match (found, row.get("result")) {
            (Ok(found), Some(result)) => equal(&found, result),
            (Err(_), None) => Ok(()),
            (found, _) => Err(format!("found {found:?}")),
        }
    });
}

fn decode(row: &Value) -> Result<Value, String> {
    let unit = unit(row["time_unit"].as_str().unwrap());
    let stored = Unit::of_spans(row["units"].as_str().unwrap()).ok_or("no unit of spans")?;
    let spans = match row["dtype"].as_str().unwrap() {
        "float64" => decode_spans(StoredCounts::Floats(&floats(&row["data"])), stored, unit),
        _ => decode_spans(StoredCounts::Integers(&integers(&row["data"])), stored, unit),
    };
    let spans = spans.map_err(|error| format!("{error:#}"))?;
    let values: Vec<_> =
        spans.values().iter().map(|count| (*count != NOT_A_TIME).then_some(*count)).collect();
    Ok(json!({ "dtype": format!("timedelta64[{}]", spans.unit().name()), "values": values }))
}

fn encode(row: &Value) -> Result<Value, String> {
    let dtype = row["dtype"].as_str().unwrap();
    let unit = unit(dtype.trim_start_matches("timedelta64[").trim_end_matches(']'));
    let kind = if row["as"] == "int64" { NumberKind::Integers } else { NumberKind::Free };
    let encoded = encode_spans(&Spans::new(unit, integers(&row["data"])), row["units"].as_str(), kind);
    let encoded = encoded.map_err(|error| format!("{error:#}"))?;
    let StoredNumbers::Integers(values) = encoded.values else { panic!("floats") };
    Ok(json!({ "units": encoded.units, "dtype": "int64", "values": values }))
}

fn unit(name: &str) -> TimeUnit {
    TimeUnit::ALL.into_iter().find(|unit| unit.name() == name).unwrap()
}
