//! Labels to positions of an index.

use serde_json::{Value, json};
use zarr_xarray::{
    Calendar, DateTime, Index, IndexValues, Interval, Label, LabelPositions, Method, Spans, TimeUnit,
    XarrayError, XarrayResult,
};

use crate::vectors::tally::{Verdict, check_rows, equal, float, floats, integers, table};
use crate::vectors::time_encode::times;

#[test]
fn labels_are_found_where_xarray_finds_them() {
    let document = table("sel.json");
    let totals = [(Verdict::Same, 196), (Verdict::Better, 2), (Verdict::Optional, 15)];
    check_rows("sel.json", &totals, |row, verdict| {
        let index = index(&document["indexes"][row["index"].as_str().unwrap()]);
        match (select(&index, row), row.get("positions").filter(|_| verdict != Verdict::Better)) {
            (Ok(found), Some(positions)) => match (verdict, positions) {
                // A single position or a list of one.
                (Verdict::Optional, Value::Array(list)) if list.len() == 1 => equal(&found, &list[0]),
                _ => equal(&found, positions),
            },
            (Err(_), None) => Ok(()),
            (Err(_), Some(_)) if verdict == Verdict::Optional => Ok(()),
            (found, _) => Err(format!("found {found:?}")),
        }
    });
}

fn index(document: &Value) -> Index {
    let values = &document["values"];
    let texts = |values: &Value| serde_json::from_value(values.clone()).unwrap();
    Index::new(match document["dtype"].as_str().unwrap() {
        "float64" => IndexValues::Floats(floats(values)),
        "float32" => IndexValues::SmallFloats(floats(values).into_iter().map(|float| float as f32).collect()),
        "int64" | "uint8" => IndexValues::Integers(integers(values)),
        "bool" => IndexValues::Booleans(serde_json::from_value(values.clone()).unwrap()),
        "string" => IndexValues::Texts(texts(values)),
        "timedelta64[ns]" => IndexValues::Spans(Spans::new(TimeUnit::Nanoseconds, integers(values))),
        _ => IndexValues::Times(times(document)),
    })
}

fn select(index: &Index, row: &Value) -> XarrayResult<Value> {
    let given = &row["label"];
    let method = row["method"].as_str().map(|name| match name {
        "nearest" => Method::Nearest,
        "ffill" | "pad" => Method::Pad,
        "bfill" | "backfill" => Method::Backfill,
        other => panic!("unknown method {other}"),
    });
    if let Some(slice) = given.get("slice") {
        let end = |at: usize| slice.get(at).filter(|label| !label.is_null()).map(label).transpose();
        let range = index.slice(end(0)?.as_ref(), end(1)?.as_ref())?;
        let step = slice.get(2).map_or(1, |step| usize::try_from(step.as_u64().unwrap()).unwrap());
        return Ok(range.step_by(step).collect());
    }
    let near = |label: &Label, method| index.find_near(label, method, tolerance(&row["tolerance"])?);
    if let Some(list) = given.get("list") {
        let list = list.as_array().unwrap();
        if let Some(mask) = mask(list) {
            return Ok(mask);
        }
        let labels = list.iter().map(label).collect::<XarrayResult<Vec<_>>>()?;
        return match method {
            None => index.find_all(&labels).map(|positions| json!(positions)),
            Some(method) => labels.iter().map(|label| near(label, method).map(|at| json!(at))).collect(),
        };
    }
    match method {
        Some(method) => near(&label(given)?, method).map(|position| json!(position)),
        None => index.find(&label(given)?).map(|found| match found {
            LabelPositions::One(position) => json!(position),
            LabelPositions::Range(range) => range.collect(),
            LabelPositions::Many(positions) => json!(positions),
            other => panic!("{other:?}"),
        }),
    }
}

/// Returns the positions of `true` in a list of booleans.
fn mask(list: &[Value]) -> Option<Value> {
    let mask: Option<Vec<bool>> = list.iter().map(Value::as_bool).collect();
    let chosen = |(position, truth): (usize, bool)| truth.then_some(position);
    mask.filter(|mask| !mask.is_empty()).map(|mask| mask.into_iter().enumerate().filter_map(chosen).collect())
}

fn label(given: &Value) -> XarrayResult<Label> {
    match given {
        Value::String(nan) if nan == "NaN" => Ok(f64::NAN.into()),
        Value::String(text) => Ok(text.as_str().into()),
        Value::Bool(truth) => Ok((*truth).into()),
        Value::Number(number) => Ok(number.as_i64().map_or_else(|| float(given).into(), Label::Integer)),
        _ if given.get("time").is_some() => {
            let text = given["time"].as_str().unwrap();
            let first = Interval::parse(text, Calendar::ProlepticGregorian)?.first().unwrap();
            Ok(Label::Time(first, Calendar::ProlepticGregorian))
        }
        _ if given.get("timedelta").is_some() => Ok(Label::Span(hours(&given["timedelta"]))),
        _ => Ok(Label::Time(
            fields(&given["cftime"]),
            Calendar::from_name(given["calendar"].as_str().unwrap()).unwrap(),
        )),
    }
}

/// `6 hours` in nanoseconds.
fn hours(text: &Value) -> i64 {
    let hours: i64 = text.as_str().unwrap().strip_suffix(" hours").unwrap().parse().unwrap();
    hours * 3_600_000_000_000
}

fn fields(list: &Value) -> DateTime {
    let part = |at: usize| u8::try_from(list[at].as_u64().unwrap()).unwrap();
    DateTime::midnight(list[0].as_i64().unwrap(), part(1), part(2)).at(part(3), part(4), part(5), 0)
}

/// A tolerance of numbers, or of times in nanoseconds.
fn tolerance(given: &Value) -> XarrayResult<Option<f64>> {
    match given {
        Value::Null => Ok(None),
        Value::String(text) => Err(XarrayError::new(zarr_xarray::XarrayErrorKind::Invalid, text.clone())),
        Value::Object(_) => Ok(Some(hours(&given["timedelta"]) as f64)),
        number => Ok(Some(float(number))),
    }
}
