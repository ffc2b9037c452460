//! Times and spans of time as types of `chrono` and `jiff`. The expected times are those of numpy 2.4.
#![cfg(all(feature = "chrono", feature = "jiff"))]
use std::fmt::Debug;

use crate::common::{data_type, message};
use chrono::{DateTime, NaiveDate, NaiveDateTime, TimeDelta, Utc};
use jiff::{SignedDuration, Span, Timestamp};
use proptest::prelude::*;
use zarr_array::blocking::Array;
use zarr_array::traits::json;
use zarr_array::{ArrayMeta, ArrayResult, Element, standard};
use zarr_store::MemoryStore;

/// Creates an array of three elements, all NaT.
fn array(name: &str, unit: &str, scale: i32) -> Array {
    let data_type = data_type(name, json!({"unit": unit, "scale_factor": scale}));
    let meta = ArrayMeta::builder([3], data_type).chunks([3]).fill(i64::MIN).build().unwrap();
    Array::create(MemoryStore::new(), "/a", meta, &standard()).unwrap()
}

fn times(unit: &str, scale: i32) -> Array {
    array("numpy.datetime64", unit, scale)
}

fn spans(unit: &str, scale: i32) -> Array {
    array("numpy.timedelta64", unit, scale)
}

fn at(seconds: i64, nanoseconds: u32) -> DateTime<Utc> {
    DateTime::from_timestamp(seconds, nanoseconds).unwrap()
}

/// Asserts that the steps are read as the element, and the element is written as the steps.
fn there_and_back<T: Element + PartialEq + Debug>(array: &Array, steps: i64, element: T) {
    array.write(1, &[steps]).unwrap();
    assert_eq!(array.read::<T>(1).unwrap().into_vec(), std::slice::from_ref(&element));
    array.write(1, &[0_i64]).unwrap();
    array.write(1, &[element]).unwrap();
    assert_eq!(array.read::<i64>(1).unwrap().into_vec(), [steps]);
}

#[test]
fn b34_times_of_every_unit_round_trip() {
    for (unit, scale, steps, expected) in [
        ("Y", 1, -1, "1969-01-01T00:00:00Z"),
        ("Y", 10, 5, "2020-01-01T00:00:00Z"),
        ("M", 1, -1, "1969-12-01T00:00:00Z"),
        ("M", 3, 650, "2132-07-01T00:00:00Z"),
        ("W", 1, -1, "1969-12-25T00:00:00Z"),
        ("D", 1, 19782, "2024-02-29T00:00:00Z"),
        ("h", 6, 79128, "2024-02-29T00:00:00Z"),
        ("m", 15, -1, "1969-12-31T23:45:00Z"),
        ("s", 1, -1, "1969-12-31T23:59:59Z"),
        ("ms", 1, 1_709_209_845_123, "2024-02-29T12:30:45.123Z"),
        ("us", 10, -1, "1969-12-31T23:59:59.99999Z"),
        ("ns", 1, 1_709_209_845_123_456_789, "2024-02-29T12:30:45.123456789Z"),
        ("ps", 1000, -1, "1969-12-31T23:59:59.999999999Z"),
        ("fs", 1, -1_000_000, "1969-12-31T23:59:59.999999999Z"),
        ("as", 1, 2_000_000_000, "1970-01-01T00:00:00.000000002Z"),
    ] {
        let array = times(unit, scale);
        let timestamp: Timestamp = expected.parse().unwrap();
        let nanoseconds = timestamp.as_nanosecond();
        let second = i64::try_from(nanoseconds.div_euclid(1_000_000_000)).unwrap();
        let time = at(second, u32::try_from(nanoseconds.rem_euclid(1_000_000_000)).unwrap());
        there_and_back(&array, steps, timestamp);
        there_and_back(&array, steps, time);
        there_and_back(&array, steps, time.naive_utc());
        there_and_back(&array, steps, Some(time));
    }
}

#[test]
fn b34_spans_of_every_unit_round_trip() {
    let week = 7 * 86_400;
    for (unit, scale, steps, seconds, nanoseconds) in [
        ("W", 2, -1, -2 * week, 0),
        ("D", 1, 3, 3 * 86_400, 0),
        ("h", 1, -1, -3600, 0),
        ("m", 1, 90, 5400, 0),
        ("s", 1, i64::MAX / 1000, i64::MAX / 1000, 0),
        ("ms", 1, -1, 0, -1_000_000),
        ("us", 10, 3, 0, 30_000),
        ("ns", 1, -1_000_000_001, -1, -1),
        ("ps", 1000, 1, 0, 1),
        ("fs", 1, -1_000_000, 0, -1),
        ("as", 1, 1_000_000_000, 0, 1),
    ] {
        let array = spans(unit, scale);
        there_and_back(&array, steps, SignedDuration::new(seconds, nanoseconds));
        let span = TimeDelta::seconds(seconds) + TimeDelta::nanoseconds(nanoseconds.into());
        there_and_back(&array, steps, span);
        there_and_back(&array, steps, Some(span));
    }
    for (unit, scale, steps, years, months) in [("Y", 2, -3, -6, 0), ("M", 1, 30, 2, 6), ("M", 5, -3, -1, -3)]
    {
        let array = spans(unit, scale);
        array.write(1, &[Span::new().years(years).months(months)]).unwrap();
        assert_eq!(array.read::<i64>(1).unwrap().as_slice(), [steps]);
        let span = array.read::<Span>(1).unwrap().into_vec()[0];
        assert_eq!((span.get_years(), span.get_months()), (i16::try_from(years).unwrap(), months), "{unit}");
        // Other units than years and months are errors, and seconds are never turned into months.
        assert!(
            message(array.write(1, &[Span::new().years(years).days(years)]))
                .contains("[1] has units other than years")
        );
        for e in [message(array.read::<TimeDelta>(1)), message(array.read::<Option<SignedDuration>>(1))] {
            assert_eq!(
                e,
                format!("a step is {scale} {unit}, and years and months have no length in seconds")
            );
        }
    }
    assert!(message(spans("s", 1).read::<Span>(..)).contains("use SignedDuration"));
}

#[test]
fn b34_only_nat_is_none() {
    let array = times("s", 1);
    let time = at(5, 0);
    array.write(1, &[time]).unwrap();
    assert_eq!(array.read::<Option<DateTime<Utc>>>(..).unwrap().into_vec(), [None, Some(time), None]);
    array.write(1.., &[None, Some(time)]).unwrap();
    assert_eq!(array.read::<i64>(..).unwrap().into_vec(), [i64::MIN, i64::MIN, 5], "rule B.t51");
    assert_eq!(array.read::<Option<Timestamp>>(..).unwrap().into_vec()[2].unwrap().as_second(), 5);
    array.write(0, &[0_i64]).unwrap();
    let e = message(array.read::<DateTime<Utc>>(..));
    assert_eq!(e, "the element at [1] is not a time (NaT): read an Option");
    assert!(message(array.read::<NaiveDateTime>(1)).contains("[1]"));
    assert!(message(array.read::<Timestamp>(1)).contains("[1]"));
    // A time that would be written as NaT: 2^63 ns before 1970.
    let e = message(times("ns", 1).write(2, &[at(-9_223_372_037, 145_224_192)]));
    assert_eq!(e, "the element at [2] is out of range in steps of 1 ns");
    times("ns", 1).write(2, &[at(-9_223_372_037, 145_224_193)]).unwrap();
}

#[test]
fn b34_nothing_is_rounded_and_nothing_wraps() {
    let half = NaiveDate::from_ymd_opt(2024, 2, 1).unwrap().and_hms_nano_opt(0, 0, 0, 500_000_000).unwrap();
    for (unit, scale, time) in [
        ("s", 1, half),
        ("ms", 1000, half),
        ("M", 1, half),
        ("M", 12, NaiveDate::from_ymd_opt(2024, 2, 1).unwrap().into()),
        ("Y", 1, NaiveDate::from_ymd_opt(2024, 2, 1).unwrap().into()),
        ("Y", 5, NaiveDate::from_ymd_opt(2024, 1, 1).unwrap().into()),
        ("D", 2, NaiveDate::from_ymd_opt(1970, 1, 2).unwrap().into()),
    ] {
        let finer = format!("the element at [2] is not exact in steps of {scale} {unit}");
        assert_eq!(message(times(unit, scale).write(1.., &[NaiveDateTime::default(), time])), finer);
        let timestamp = Timestamp::from_second(time.and_utc().timestamp()).unwrap()
            + SignedDuration::from_nanos(time.and_utc().timestamp_subsec_nanos().into());
        assert_eq!(message(times(unit, scale).write(1.., &[Timestamp::UNIX_EPOCH, timestamp])), finer);
    }
    for (unit, scale, steps, problem) in [
        ("as", 1, 1, "is not exact"),
        ("ps", 1, -1, "is not exact"),
        ("Y", 1, 300_000, "is out of range"),
        ("W", i32::MAX, i64::MAX, "is out of range"),
        ("s", 1, i64::MIN + 1, "is out of range"),
    ] {
        let array = times(unit, scale);
        array.write(1, &[steps]).unwrap();
        let expected =
            format!("the element at [1] is {steps} steps of {scale} {unit}, which {problem} in this type");
        assert_eq!(message(array.read::<Option<DateTime<Utc>>>(..)), expected);
        assert_eq!(message(array.read::<Option<Timestamp>>(..)), expected);
    }
    let array = spans("W", i32::MAX);
    array.write(1, &[i64::MAX]).unwrap();
    assert!(message(array.read::<TimeDelta>(1)).contains("is out of range"));
    assert!(message(array.read::<SignedDuration>(1)).contains("is out of range"));
    let array = spans("M", i32::MAX);
    array.write(1, &[1_i64]).unwrap();
    assert!(message(array.read::<Span>(1)).contains("is out of range"));
    assert!(message(spans("ns", 1).write(1, &[TimeDelta::MAX])).contains("is out of range"));
    let leap =
        NaiveDate::from_ymd_opt(2016, 12, 31).unwrap().and_hms_nano_opt(23, 59, 59, 1_000_000_000).unwrap();
    assert!(message(times("ns", 1).write(1, &[leap])).contains("[1] is a leap second"));
}

#[test]
fn bt52_times_without_a_unit_and_spans_cannot_be_read_as_times() {
    let array = times("generic", 1);
    let e = "a step of this numpy.datetime64 has no length, its unit is \"generic\": read i64";
    assert_eq!(message(array.read::<Option<NaiveDateTime>>(..)), e);
    assert_eq!(message(array.write(1, &[at(0, 0)])), e);
    assert_eq!(array.read::<i64>(..).unwrap().into_vec(), [i64::MIN; 3]);
    let e = message(spans("s", 1).read::<DateTime<Utc>>(..));
    assert_eq!(e, "the data type is numpy.timedelta64, not chrono::DateTime<Utc>");
    assert!(times("s", 1).read::<SignedDuration>(..).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(100) })]

    #[test]
    fn b34_every_time_that_can_be_read_is_written_back_unchanged(
        unit in proptest::sample::select(vec!["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as"]),
        scale in prop_oneof![3 => Just(1), 1 => 1..=i32::MAX],
        steps in prop_oneof![any::<i64>(), -1_000_000_i64..1_000_000, Just(i64::MIN)],
    ) {
        fn check<T: Element>(array: &Array, steps: i64) -> ArrayResult<bool> {
            array.write(1, &[steps])?;
            let Ok(element) = array.read::<T>(1) else { return Ok(true) };
            array.write(1, &[0_i64])?;
            array.write(1, element.as_slice())?;
            Ok(array.read::<i64>(1)?.as_slice() == [steps])
        }
        let (times, spans) = (times(unit, scale), spans(unit, scale));
        prop_assert!(check::<Option<DateTime<Utc>>>(&times, steps).unwrap());
        prop_assert!(check::<NaiveDateTime>(&times, steps).unwrap());
        prop_assert!(check::<Timestamp>(&times, steps).unwrap());
        prop_assert!(check::<Option<TimeDelta>>(&spans, steps).unwrap());
        prop_assert!(check::<SignedDuration>(&spans, steps).unwrap());
        prop_assert!(check::<Option<Span>>(&spans, steps).unwrap());
    }
}
