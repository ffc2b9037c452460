//! Times to numbers and units.

use serde_json::Value;
use zarr_xarray::{
    Calendar, DateTime, EncodedTimes, NOT_A_TIME, NumberKind, StoredNumbers, TimeEncoding, TimeUnit,
    TimeUnits, Times, XarrayResult, encode_times,
};

use crate::vectors::tally::{Verdict, check_rows, equal, floats, integers};

/// Rows in which xarray fails by accident, with a `TypeError`, a `KeyError` or a message about empty arrays:
/// nanoseconds in a model calendar, and axes without a single time. Each has its dates, the wanted calendar, and the
/// values written here.
const ACCIDENTS: [(&str, &str, &str); 9] = [
    ("[946684800000000001,946771200000000000]", "noleap", "Floats([1.1574074074074074e-14, 1.0])"),
    ("[946684800000000001,946771200000000000]", "360_day", "Floats([1.1574074074074074e-14, 1.0])"),
    ("[946684800000000001,946771200000000000]", "julian", "Floats([1.1574074074074074e-14, 1.0])"),
    ("[null]", "standard", "Integers([-9223372036854775808])"),
    ("[null]", "gregorian", "Integers([-9223372036854775808])"),
    ("[null]", "360_day", "Floats([NaN])"),
    ("[null]", "julian", "Floats([NaN])"),
    ("[]", "noleap", "Integers([])"),
    ("[]", "360_day", "Integers([])"),
];

#[test]
fn times_are_encoded_as_xarray_does() {
    check_rows("time_encode.json", &[(Verdict::Same, 215)], |row, _| {
        let found = encode(row);
        match (found, row.get("result"), accident(row)) {
            (Ok(found), None, Some(wanted)) => equal(&format!("{:?}", found.values).as_str(), &wanted),
            (Ok(found), Some(result), None) => is_same(row, result, &found),
            (Err(_), None, None) => Ok(()),
            (found, ..) => Err(format!("found {found:?}")),
        }
    });
    let document = crate::vectors::tally::table("time_encode.json");
    let met = document["rows"].as_array().unwrap().iter().filter(|row| accident(row).is_some()).count();
    assert_eq!(met, ACCIDENTS.len());
}

fn accident(row: &Value) -> Option<&'static str> {
    let (dates, calendar) = (row["dates"]["values"].to_string(), row["calendar"].as_str());
    let is_it = |(known, of, _): &&(&str, &str, &str)| *known == dates && Some(*of) == calendar;
    row.get("error").and(ACCIDENTS.iter().find(is_it)).map(|(.., wanted)| *wanted)
}

fn encode(row: &Value) -> XarrayResult<EncodedTimes> {
    let kind = match row["dtype"].as_str() {
        Some("int64") => NumberKind::Integers,
        Some("float64") => NumberKind::Floats,
        _ => NumberKind::Free,
    };
    let encoding =
        TimeEncoding::default().units(row["units"].as_str()).calendar(row["calendar"].as_str()).kind(kind);
    encode_times(&times(&row["dates"]), &encoding)
}

/// The times of a row: counts of `datetime64`, or lists of fields.
pub(crate) fn times(dates: &Value) -> Times {
    let dtype = dates["dtype"].as_str().unwrap();
    if let Some(unit) = dtype.strip_prefix("datetime64[") {
        let unit =
            TimeUnit::ALL.into_iter().find(|known| known.name() == unit.trim_end_matches(']')).unwrap();
        return Times::new(Calendar::ProlepticGregorian, unit, integers(&dates["values"]));
    }
    let calendar = Calendar::from_name(dates["calendar"].as_str().unwrap()).unwrap();
    let values = dates["values"].as_array().unwrap().iter().map(|fields| microseconds(fields, calendar));
    Times::new(calendar, TimeUnit::Microseconds, values.collect())
}

/// The microseconds since 1970 of a time that is given by its fields.
pub(crate) fn microseconds(fields: &Value, calendar: Calendar) -> i64 {
    let fields: Vec<i64> = fields.as_array().unwrap().iter().map(|field| field.as_i64().unwrap()).collect();
    let part = |position: usize| u8::try_from(fields[position]).unwrap();
    let nanosecond = u32::try_from(fields[6]).unwrap() * 1000;
    let time = DateTime::midnight(fields[0], part(1), part(2)).at(part(3), part(4), part(5), nanosecond);
    i64::try_from(time.to_nanoseconds(calendar).unwrap() / 1000).unwrap()
}

fn is_same(row: &Value, result: &Value, found: &EncodedTimes) -> Result<(), String> {
    equal(&found.calendar.as_str(), &result["calendar"].as_str().unwrap())?;
    match (&found.values, result["dtype"].as_str().unwrap()) {
        (StoredNumbers::Integers(values), "int64") => equal(values, &integers(&result["values"]))?,
        (StoredNumbers::Floats(values), "float64") => {
            let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
            equal(&bits(values), &bits(&floats(&result["values"])))?;
        }
        (values, dtype) => return Err(format!("found {values:?}, wanted {dtype}")),
    }
    let wanted = result["units"].as_str().unwrap();
    if row["dates"]["dtype"] != "cftime" {
        return equal(&found.units.as_str(), &wanted);
    }
    // cftime always writes six digits of a fraction.
    let calendar = Calendar::from_name(&found.calendar).unwrap();
    let meaning = |units: &str| TimeUnits::parse(units, calendar, &mut Vec::new()).unwrap();
    equal(&meaning(&found.units), &meaning(wanted))
}

#[test]
fn missing_times_are_written_in_a_readable_form() {
    for (calendar, wanted) in [
        (Calendar::Standard, "Integers([-9223372036854775808, 0])"),
        (Calendar::NoLeap, "Floats([NaN, 0.0])"),
    ] {
        let times = Times::new(calendar, TimeUnit::Seconds, vec![NOT_A_TIME, 0]);
        let found = encode_times(&times, &TimeEncoding::default()).unwrap();
        assert_eq!(format!("{:?}", found.values), wanted);
    }
}
