//! Checks the rows of a table and counts them by verdict.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

/// The verdict of a row on its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
    Same,
    Reject,
    Better,
    Optional,
}

impl Verdict {
    pub(crate) fn of(row: &Value) -> Self {
        match row.get("verdict").and_then(Value::as_str) {
            None | Some("same") => Self::Same,
            Some("reject") => Self::Reject,
            Some("better") => Self::Better,
            Some("optional") => Self::Optional,
            Some(other) => panic!("unknown verdict {other}"),
        }
    }
}

/// The document of a table.
pub(crate) fn table(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    exact(&std::fs::read_to_string(path).unwrap())
}

/// Reads a JSON text with correctly rounded floats.
pub(crate) fn exact(text: &str) -> Value {
    zarr_meta::json::Value::parse(text).unwrap().deserialize().unwrap()
}

/// A value of a table as one of a document.
pub(crate) fn json_of(value: &Value) -> zarr_meta::json::Value {
    zarr_meta::json::Value::serialize(value).unwrap()
}

/// Checks each row of a table, and fails with a list of all failing rows. `totals` has the expected counts by verdict.
pub(crate) fn check_rows(
    name: &str,
    totals: &[(Verdict, usize)],
    check: impl Fn(&Value, Verdict) -> Result<(), String>,
) {
    let document = table(name);
    let mut counts: BTreeMap<Verdict, (usize, usize)> = BTreeMap::new();
    let mut failures = Vec::new();
    for row in document["rows"].as_array().unwrap() {
        let verdict = Verdict::of(row);
        let (passed, total) = counts.entry(verdict).or_default();
        *total += 1;
        match check(row, verdict) {
            Ok(()) => *passed += 1,
            Err(why) => failures.push(format!("{why}\n    {row}")),
        }
    }
    println!("{name}: {counts:?}");
    assert!(failures.is_empty(), "{name}, {} rows fail:\n{}", failures.len(), failures.join("\n"));
    let found: Vec<_> = counts.into_iter().map(|(verdict, (_, total))| (verdict, total)).collect();
    assert_eq!(found, totals, "{name}");
}

/// Returns an error unless both are equal.
pub(crate) fn equal<T: PartialEq + std::fmt::Debug>(found: &T, wanted: &T) -> Result<(), String> {
    if found == wanted { Ok(()) } else { Err(format!("found {found:?}, wanted {wanted:?}")) }
}

/// Reads a number of a table, where NaN and infinities are texts.
pub(crate) fn float(value: &Value) -> f64 {
    match value.as_str() {
        Some(text) => text.parse().unwrap(),
        None => value.as_f64().unwrap(),
    }
}

pub(crate) fn floats(values: &Value) -> Vec<f64> {
    values.as_array().unwrap().iter().map(float).collect()
}

pub(crate) fn integers(values: &Value) -> Vec<i64> {
    let integer = |value: &Value| if value.is_null() { i64::MIN } else { value.as_i64().unwrap() };
    values.as_array().unwrap().iter().map(integer).collect()
}
