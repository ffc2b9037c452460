//! Texts about time: units of CF, labels, partial dates, in every calendar.

use zarr_xarray::{Calendar, Interval, TimeUnits};

const CALENDARS: [&str; 6] = ["standard", "proleptic_gregorian", "julian", "noleap", "360_day", "all_leap"];

pub(crate) fn run(input: &[u8]) {
    let Some((number, text)) = input.split_first() else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    let name = CALENDARS[usize::from(*number) % CALENDARS.len()];
    let calendar = Calendar::from_name(name).expect("a name of CF");
    if let Ok(units) = TimeUnits::parse(text, calendar, &mut Vec::new()) {
        let shown = units.to_string();
        let again = TimeUnits::parse(&shown, calendar, &mut Vec::new());
        let again = again.unwrap_or_else(|e| panic!("{text:?} is shown as {shown:?}: {e:#}"));
        assert_eq!(again.to_string(), shown);
    }
    if let Ok(interval) = Interval::parse(text, calendar) {
        let (first, last) = (interval.first(), interval.last());
        assert!(first.is_none() || last.is_none() || first <= last, "{text:?} ends before it begins");
    }
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let texts = [
        "days since 1970-01-01",
        "hours since 1900-1-1 00:00:0.0",
        "seconds since 2000-01-01T06:05:04 -6",
        "months since 0001-01-01",
        "2020-01",
        "20200131",
        "-0044-03-15 12",
        "2020-02-30T23:59:59.999999999",
        "microseconds since 1582-10-15 5:30",
    ];
    texts.iter().enumerate().map(|(i, text)| [&[i as u8], text.as_bytes()].concat()).collect()
}
