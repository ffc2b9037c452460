//! Times with random units and references: round trips, and no text or number causes a panic.

use zarr_xarray::kernel::{Packing, TimeCoding};
use zarr_xarray::{
    Calendar, DateTime, Index, IndexValues, Interval, LabelPositions, NOT_A_TIME, NumberKind, NumberType,
    StoredCounts, StoredNumbers, TimeEncoding, TimeUnit, TimeUnits, Times, Unit, decode_spans, decode_times,
    encode_times,
};

const UNITS: [Unit; 7] = [
    Unit::Days,
    Unit::Hours,
    Unit::Minutes,
    Unit::Seconds,
    Unit::Milliseconds,
    Unit::Microseconds,
    Unit::Nanoseconds,
];

/// A time of day on a random date of the calendar.
fn reference(random: &mut fastrand::Rng, calendar: Calendar) -> DateTime {
    let date = calendar.date(random.i64(-1_000_000..1_000_000)).unwrap();
    let second = random.u8(0..60);
    DateTime::midnight(date.year, date.month, date.day).at(random.u8(0..24), random.u8(0..60), second, 0)
}

/// Decisions of the specification, where xarray does something else.
#[test]
fn axes_without_times_are_whole_numbers_and_offsets_become_utc() {
    let times = |counts: Vec<i64>| Times::new(Calendar::Standard, TimeUnit::Seconds, counts);
    for counts in [vec![], vec![NOT_A_TIME, NOT_A_TIME]] {
        let encoded = encode_times(&times(counts.clone()), &TimeEncoding::default()).unwrap();
        assert_eq!(encoded.values, StoredNumbers::Integers(counts));
    }
    let units = Some("hours since 1970-01-01 00:00:00 +01:00");
    let encoded = encode_times(&times(vec![0, 3600]), &TimeEncoding::default().units(units)).unwrap();
    assert_eq!(encoded.values, StoredNumbers::Integers(vec![1, 2]));
    assert_eq!(encoded.units, "hours since 1969-12-31T23:00:00");
    let spans = decode_spans(StoredCounts::Integers(&[]), Unit::Days, TimeUnit::Nanoseconds).unwrap();
    assert_eq!(spans.unit(), TimeUnit::Nanoseconds);
}

#[test]
fn encoding_undoes_decoding() {
    let mut random = fastrand::Rng::with_seed(11);
    for round in 0..3000 {
        let calendar = Calendar::ALL[round % 6];
        let unit = UNITS[random.usize(..4)];
        let units = TimeUnits::new(unit, reference(&mut random, calendar), calendar).unwrap();
        let stored: Vec<i64> = (0..10).map(|_| random.i64(-100_000..100_000)).collect();
        let times = decode_times(StoredCounts::Integers(&stored), &units, TimeUnit::Seconds).unwrap();
        let text = units.to_string();
        let encoding = TimeEncoding::default().units(&*text).kind(NumberKind::Integers);
        let encoded = encode_times(&times, &encoding).unwrap();
        assert_eq!(encoded.values, StoredNumbers::Integers(stored), "{text} {}", calendar.name());
        assert_eq!((encoded.units.as_str(), encoded.is_refined), (text.as_str(), false));
    }
}

#[test]
fn inferred_units_give_the_same_times() {
    let mut random = fastrand::Rng::with_seed(13);
    for round in 0..3000 {
        let calendar = Calendar::ALL[round % 6];
        let unit = TimeUnit::ALL[random.usize(..4)];
        let values: Vec<i64> = (0..5).map(|_| random.i64(-1_000_000_000..1_000_000_000)).collect();
        let times = Times::new(calendar, unit, values);
        let encoded = encode_times(&times, &TimeEncoding::default()).unwrap();
        let StoredNumbers::Integers(stored) = encoded.values else {
            panic!("inferred units divide all times")
        };
        let units = TimeUnits::parse(&encoded.units, calendar, &mut Vec::new()).unwrap();
        let again = decode_times(StoredCounts::Integers(&stored), &units, unit).unwrap();
        assert_eq!(again.iter().collect::<Vec<_>>(), times.iter().collect::<Vec<_>>(), "{}", encoded.units);
    }
}

#[test]
fn times_read_their_own_texts() {
    let mut random = fastrand::Rng::with_seed(17);
    for round in 0..3000 {
        let calendar = Calendar::ALL[round % 6];
        let time = reference(&mut random, calendar);
        let interval = Interval::parse(&time.to_string(), calendar).unwrap();
        assert_eq!(interval.first(), Some(time), "{}", calendar.name());
    }
}

fn units(text: &str, calendar: Calendar) -> TimeUnits {
    TimeUnits::parse(text, calendar, &mut Vec::new()).unwrap()
}

/// In nanoseconds a fraction is truncated towards zero, as in xarray.
#[test]
fn fractions_of_nanoseconds_are_truncated() {
    let seconds = units("seconds since 1970-01-01", Calendar::Standard);
    let times =
        decode_times(StoredCounts::Floats(&[1.6e-9, -1.6e-9]), &seconds, TimeUnit::Nanoseconds).unwrap();
    assert_eq!(times.values(), [1, -1]);
}

/// Beyond the range of nanoseconds, fractions of microseconds are rounded. The answers are those of cftime 1.6.6.1.
#[test]
fn far_times_are_rounded_to_microseconds() {
    for (calendar, text, count, wanted) in [
        (Calendar::NoLeap, "days since 0001-01-01", 0.1234567890123, "0001-01-01T02:57:46.666571"),
        (Calendar::Days360, "days since 0001-01-01", 33_333.333_333_333_336, "0093-08-04T08:00"),
        (Calendar::Julian, "hours since 0850-01-01", -0.700_000_000_1, "0849-12-31T23:18"),
        (Calendar::AllLeap, "seconds since 0001-01-01", 63_072_000_000.123_46, "1995-07-15T00:00:00.123459"),
    ] {
        let times =
            decode_times(StoredCounts::Floats(&[count]), &units(text, calendar), TimeUnit::Nanoseconds)
                .unwrap();
        assert_eq!(times.get(0).unwrap().to_string(), wanted, "{text}");
    }
}

/// Issue 37, D7: 7/24 of a day is stored as 0.29166666666666663, which cftime reads as 07:00.
#[test]
fn hours_in_float_days_of_model_calendars_are_found_by_their_label() {
    let stored: Vec<f64> = (0..48).map(|hour| f64::from(hour) * (1.0 / 24.0)).collect();
    for calendar in [Calendar::NoLeap, Calendar::AllLeap, Calendar::Days360, Calendar::Julian] {
        let days = units("days since 1850-01-01", calendar);
        let times = decode_times(StoredCounts::Floats(&stored), &days, TimeUnit::Nanoseconds).unwrap();
        let index = Index::new(IndexValues::Times(times.clone()));
        for (hour, time) in times.iter().enumerate() {
            let text = format!("1850-01-{:02}T{:02}", 1 + hour / 24, hour % 24);
            assert_eq!(index.find(&text.as_str().into()).unwrap(), LabelPositions::One(hour), "{text}");
            assert_eq!(time.unwrap().to_string(), format!("{text}:00").trim_end_matches("T00:00"));
        }
    }
}

/// The calendar, the units, the number, and the time.
const ROUNDED: [(Calendar, &str, f64, &str); 12] = [
    (Calendar::NoLeap, "days since 1850-01-01", 0.791_666_666_666_666_6, "1850-01-01T19:00"),
    (Calendar::Julian, "days since 1850-01-01", 0.041_666_664_814_814_82, "1850-01-01T00:59:59.99984"),
    (Calendar::Days360, "seconds since 1850-01-01", 1.000_000_6, "1850-01-01T00:00:01"),
    (Calendar::Days360, "seconds since 1850-01-01", 1.999_999_4, "1850-01-01T00:00:02"),
    (Calendar::Days360, "seconds since 1850-01-01", 1.000_001_4, "1850-01-01T00:00:01.000001"),
    (Calendar::Days360, "seconds since 1850-01-01", -0.999_999_4, "1849-12-30T23:59:59"),
    (Calendar::Days360, "milliseconds since 1850-01-01", 1000.0006, "1850-01-01T00:00:01.000001"),
    (Calendar::AllLeap, "microseconds since 1850-01-01", 1.5, "1850-01-01T00:00:00.000002"),
    (Calendar::AllLeap, "microseconds since 1850-01-01", 2.5, "1850-01-01T00:00:00.000002"),
    (Calendar::NoLeap, "common_years since 1850-01-01", 1.0 / 3.0, "1850-05-02T16:00"),
    (Calendar::Standard, "days since 1500-01-01", 130_000.0 + 7.0 / 24.0, "1855-12-15T07:00"),
    (Calendar::NoLeap, "days since 1850-01-01 00:00:00.25", 7.0 / 24.0, "1850-01-01T07:00:00.25"),
];

/// The answers are those of cftime 1.6.6.1: it takes a microsecond beside a whole second for an error, and xarray uses
/// it in the standard calendar if the reference is before the reform.
#[test]
fn floats_are_rounded_where_xarray_uses_cftime() {
    for (calendar, text, count, wanted) in ROUNDED {
        for unit in TimeUnit::ALL {
            let times = decode_times(StoredCounts::Floats(&[count]), &units(text, calendar), unit).unwrap();
            assert_eq!(times.get(0).unwrap().to_string(), wanted, "{count} {text} {}", calendar.name());
        }
    }
}

/// Times near 1970 are in nanoseconds, even if their reference is far away.
#[test]
fn near_times_with_a_far_reference_are_in_nanoseconds() {
    let days = units("days since 0001-01-01", Calendar::ProlepticGregorian);
    for counts in [StoredCounts::Floats(&[735_000.25]), StoredCounts::Integers(&[735_000])] {
        let times = decode_times(counts, &days, TimeUnit::Nanoseconds).unwrap();
        assert_eq!(times.unit(), TimeUnit::Nanoseconds);
        assert_eq!(times.get(0).unwrap().date, DateTime::midnight(2013, 5, 13).date);
    }
}

/// Issue 37, D5: a chunk that is decoded alone has the times of the whole axis. Its time is that of xarray, also where
/// xarray rounds the product to float64 (civil calendars).
#[test]
fn floats_of_a_chunk_are_decoded_as_their_axis() {
    use TimeUnit::{Microseconds, Milliseconds, Nanoseconds, Seconds};
    for (calendar, text, count, wanted, found) in [
        (Calendar::NoLeap, "hours since 1970-11-01", 19_699_318.1, Microseconds, 70_943_810_760_000_005),
        (
            Calendar::AllLeap,
            "milliseconds since 1582-08-15 09:21:02",
            4_811_373_367_353.0,
            Nanoseconds,
            -7_438_471_370_647_000_000,
        ),
        (Calendar::Standard, "hours since 1970-11-01", 19_699_318.1, Microseconds, 70_943_810_760_000_008),
        (Calendar::Standard, "days since 1970-01-01", 7.3 / 24.0, Seconds, 26_279_999_999_999),
        (
            Calendar::ProlepticGregorian,
            "days since 0001-01-01",
            735_000.123_456_789,
            Milliseconds,
            1_368_413_866_666_560,
        ),
    ] {
        let units = units(text, calendar);
        let times = decode_times(StoredCounts::Floats(&[count]), &units, wanted).unwrap();
        let packing = Packing::plain(NumberType::Float64);
        let coding = TimeCoding::times(packing, &units, wanted, times.unit()).unwrap();
        let mut chunk = [0; 8];
        coding.decode(&count.to_ne_bytes(), &mut chunk).unwrap();
        assert_eq!((times.values(), i64::from_ne_bytes(chunk)), (&[found][..], found), "{text}");
    }
}

#[test]
fn the_year_before_the_year_1_depends_on_the_calendar() {
    for (calendar, text, last) in [
        (Calendar::Standard, "-0001", "-0001-12-31T23:59:59.999999999"),
        (Calendar::NoLeap, "-0001", "-0001-12-31T23:59:59.999999999"),
        (Calendar::NoLeap, "0000-12", "0000-12-31T23:59:59.999999999"),
    ] {
        let interval = Interval::parse(text, calendar).unwrap();
        assert_eq!(interval.last().unwrap().to_string(), last, "{}", calendar.name());
    }
    assert!(Interval::parse("0000", Calendar::Standard).is_err());
}

#[test]
fn wrong_references_are_refused() {
    for text in [
        "99",
        "2000-",
        "2000-01-",
        "2000-01-01 00:00 +24:00",
        "2000-01-01 00:00 +01:60",
        "2000-01-01 00:00 5:",
        "2000-01-01 00:00 +12345",
        "2000-01-01 00:00 EST",
        "2000-01-01T",
        "2000-01-01 00:00:00.",
        "100000-01-01",
        "2000-01-01 00:00:00.1234567891",
        "2000-01-01 00:00:",
        "2000-01-01 000:00",
    ] {
        let units = format!("days since {text}");
        assert!(TimeUnits::parse(&units, Calendar::NoLeap, &mut Vec::new()).is_err(), "{text}");
    }
    for (text, utc) in [
        ("2000-01-01 00:00:00.1234567890", "2000-01-01T00:00:00.123456789"),
        ("2000-01-01 00:00 -0330", "2000-01-01T03:30"),
        ("2000-01-01 00:00 +330", "1999-12-31T20:30"),
        ("2000-01-01 +1:00", "1999-12-31T23:00"),
        ("2000-01-01t06 utc", "2000-01-01T06:00"),
        ("2000-02", "2000-02-01"),
        ("20000229", "2000-02-29"),
    ] {
        let found = units(&format!("days since {text}"), Calendar::Standard).reference();
        assert_eq!(found.to_string(), utc, "{text}");
    }
}

#[test]
fn no_text_causes_a_panic() {
    const PARTS: [&str; 28] = [
        "days",
        "hours",
        "s",
        "months",
        " since ",
        "since",
        " ",
        "-",
        "+",
        ":",
        ".",
        "T",
        "Z",
        "UTC",
        "0",
        "1",
        "12",
        "29",
        "2000",
        "99999",
        "1582",
        "10",
        "999999999999999999999",
        "é",
        "\0",
        "\n",
        "-0001",
        "24:00:00",
    ];
    let mut random = fastrand::Rng::with_seed(19);
    let (mut units, mut intervals) = (0, 0);
    for round in 0..200_000 {
        let calendar = Calendar::ALL[round % 6];
        let mut text: String = (0..random.usize(0..9)).map(|_| PARTS[random.usize(..PARTS.len())]).collect();
        intervals += usize::from(Interval::parse(&text, calendar).is_ok());
        text.insert_str(0, "days since 2000-1");
        units += usize::from(TimeUnits::parse(&text, calendar, &mut Vec::new()).is_ok());
    }
    assert!(
        units > 100 && intervals > 100,
        "too few random texts are valid: {units} units, {intervals} intervals"
    );
}

#[test]
fn no_number_causes_a_panic() {
    let integers = [i64::MIN, i64::MIN + 1, -1, 0, 1, i64::MAX];
    let floats =
        [f64::MIN, f64::MAX, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e300, -1e-300, 9.3e18, 5e-324];
    for &calendar in Calendar::ALL {
        for unit in UNITS {
            for year in [-99_999, -1, 1, 1970, 99_999] {
                let units = TimeUnits::new(unit, DateTime::midnight(year, 1, 1), calendar).unwrap();
                for wanted in TimeUnit::ALL {
                    let found = integers.map(|n| decode_times(StoredCounts::Integers(&[n]), &units, wanted));
                    let more = floats.map(|x| decode_times(StoredCounts::Floats(&[x]), &units, wanted));
                    for times in found.into_iter().chain(more).flatten() {
                        let again = encode_times(&times, &TimeEncoding::default());
                        assert!(again.is_ok() || times.get(0).is_none(), "{units} {times:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn counts_beyond_the_dates_of_a_calendar_have_no_fields() {
    for unit in TimeUnit::ALL {
        for &calendar in Calendar::ALL {
            let times = Times::new(calendar, unit, vec![i64::MIN + 1, i64::MAX]);
            assert!(
                times.iter().all(|time| time.is_some()),
                "{unit:?} reaches no further than the calendars"
            );
            assert_eq!(times.get(2), None);
        }
    }
}
