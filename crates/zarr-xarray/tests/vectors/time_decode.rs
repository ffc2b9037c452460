//! Numbers and units to times.

use serde_json::Value;
use zarr_xarray::kernel::{Packing, TimeCoding};
use zarr_xarray::{
    Calendar, DateTime, NOT_A_TIME, NumberType, StoredCounts, TimeUnit, TimeUnits, Times, XarrayResult,
    decode_times,
};

use crate::vectors::tally::{Verdict, check_rows, equal, floats, integers};

/// Rows in which xarray is wrong: the units, whether the calendar is a model calendar, and the first time.
const BETTER: [(&str, &str); 6] = [
    ("hours since 2000-01-01T06", "2000-01-01T06:00"),
    ("hours since 2000-01-01 06", "2000-01-01T06:00"),
    ("hours since 2000-01-01 06:05:04 -6", "2000-01-01T12:05:04"),
    ("hours since 2000-01-01 06:05:04 5:30", "2000-01-01T00:35:04"),
    ("days since 2000-01-01", "2000-01-01"),
    ("days since 2000-01-01", "2000-01-01"),
];

#[test]
fn times_are_decoded_as_xarray_does_or_better() {
    let totals =
        [(Verdict::Same, 176), (Verdict::Reject, 74), (Verdict::Better, 10), (Verdict::Optional, 33)];
    check_rows("time_decode.json", &totals, |row, verdict| match (verdict, decode(row)) {
        (Verdict::Reject, Ok(times)) => Err(format!("found {times:?}, wanted an error")),
        (Verdict::Reject, Err(_)) | (Verdict::Optional, Err(_)) => Ok(()),
        (Verdict::Optional, Ok(_)) if row.get("result").is_none() => Ok(()),
        (_, Err(error)) => Err(format!("{error:#}")),
        (Verdict::Better, Ok(times)) => is_better(row, &times),
        (_, Ok(times)) => is_same(&row["result"], &times),
    });
}

fn decode(row: &Value) -> XarrayResult<Times> {
    let calendar = Calendar::from_name(row["calendar"].as_str().unwrap()).unwrap();
    let units = TimeUnits::parse(row["units"].as_str().unwrap(), calendar, &mut Vec::new())?;
    let unit = row["options"]["time_unit"].as_str().unwrap_or("ns");
    let unit = TimeUnit::ALL.into_iter().find(|known| known.name() == unit).unwrap();
    match row["dtype"].as_str().unwrap() {
        "float64" => {
            let stored = floats(&row["data"]);
            let times = decode_times(StoredCounts::Floats(&stored), &units, unit)?;
            check_kernel(&units, unit, NumberType::Float64, bytemuck(&stored, f64::to_ne_bytes), &times);
            Ok(times)
        }
        _ => {
            let stored = integers(&row["data"]);
            let times = decode_times(StoredCounts::Integers(&stored), &units, unit)?;
            check_kernel(&units, unit, NumberType::Int64, bytemuck(&stored, i64::to_ne_bytes), &times);
            Ok(times)
        }
    }
}

fn bytemuck<T: Copy, const N: usize>(elements: &[T], bytes: impl Fn(T) -> [u8; N]) -> Vec<u8> {
    elements.iter().flat_map(|element| bytes(*element)).collect()
}

/// The kernel for chunks gives the same times as the axis.
fn check_kernel(units: &TimeUnits, wanted: TimeUnit, stored: NumberType, src: Vec<u8>, times: &Times) {
    let coding = TimeCoding::times(Packing::plain(stored), units, wanted, times.unit()).unwrap();
    let mut dst = vec![0; src.len()];
    coding.decode(&src, &mut dst).unwrap();
    assert_eq!(dst, bytemuck(times.values(), i64::to_ne_bytes), "{units}");
}

fn is_better(row: &Value, times: &Times) -> Result<(), String> {
    let units = row["units"].as_str().unwrap();
    let (_, first) = BETTER.iter().find(|(known, _)| *known == units).ok_or("not among the better rows")?;
    equal(&times.get(0).unwrap().to_string().as_str(), first)?;
    let has_nan = row["data"].as_array().unwrap().iter().any(|value| value == "NaN");
    equal(&times.values().contains(&NOT_A_TIME), &has_nan)
}

/// Equal counts where xarray gives `datetime64`; equal fields, in microseconds, where it gives times of cftime.
fn is_same(result: &Value, times: &Times) -> Result<(), String> {
    let dtype = result["dtype"].as_str().unwrap();
    if let Some(unit) = dtype.strip_prefix("datetime64[") {
        equal(&times.unit().name(), &unit.trim_end_matches(']'))?;
        return equal(&times.values().to_vec(), &integers(&result["values"]));
    }
    equal(&Some(times.calendar()), &Calendar::from_name(result["calendar"].as_str().unwrap()))?;
    equal(&fields(times), &result["values"])
}

/// `[year, month, day, hour, minute, second, microsecond]` of each time.
pub(crate) fn fields(times: &Times) -> Value {
    let one = |time: Option<DateTime>| time.map(|time| microseconds(times.calendar(), time));
    times.iter().map(one).collect()
}

/// A time rounded to microseconds.
fn microseconds(calendar: Calendar, time: DateTime) -> Vec<i64> {
    let nanoseconds = time.to_nanoseconds(calendar).unwrap();
    let rounded = (nanoseconds + 500).div_euclid(1000) * 1000;
    let DateTime { date, hour, minute, second, nanosecond } =
        DateTime::from_nanoseconds(calendar, rounded).unwrap();
    let [month, day, hour, minute, second] = [date.month, date.day, hour, minute, second].map(i64::from);
    vec![date.year, month, day, hour, minute, second, i64::from(nanosecond / 1000)]
}
