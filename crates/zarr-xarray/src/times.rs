//! Times and spans as counts of seconds, milliseconds, microseconds or nanoseconds.
//!
//! [`decode`] makes them from stored numbers, [`encode`] converts them back.

pub(crate) mod decode;
pub(crate) mod encode;
pub(crate) mod scale;

use crate::calendar::Calendar;
use crate::date_time::{DAY, DateTime};
use crate::units::TimeUnit;

/// The count that stands for a missing time or span, as in numpy (`NaT`).
pub const NOT_A_TIME: i64 = i64::MIN;

/// Times of one calendar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Times {
    calendar: Calendar,
    unit: TimeUnit,
    values: Vec<i64>,
}

impl Times {
    /// Returns times that are counts of `unit` since 1970-01-01 of the calendar. [`NOT_A_TIME`] is a missing time.
    pub fn new(calendar: Calendar, unit: TimeUnit, values: Vec<i64>) -> Self {
        Self { calendar, unit, values }
    }

    /// The calendar.
    pub fn calendar(&self) -> Calendar {
        self.calendar
    }

    /// The unit of the counts.
    pub fn unit(&self) -> TimeUnit {
        self.unit
    }

    /// The counts since 1970-01-01 of the calendar. For the calendars `standard` from 1582-10-15 on and
    /// `proleptic_gregorian` these are the counts of `datetime64` in numpy.
    pub fn values(&self) -> &[i64] {
        &self.values
    }

    /// The number of times.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there are no times.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns the date and time of day at a position. Returns `None` for a missing time, beyond the end, and for a
    /// time out of the range of the calendar.
    pub fn get(&self, position: usize) -> Option<DateTime> {
        date_time(self.calendar, self.unit, *self.values.get(position)?)
    }

    /// Returns all times in order, with `None` for missing times.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Option<DateTime>> {
        self.values.iter().map(|count| date_time(self.calendar, self.unit, *count))
    }

    /// Returns the same times in another unit, or `None` if a count is out of range or not whole.
    pub fn in_unit(&self, unit: TimeUnit) -> Option<Self> {
        let values = convert(&self.values, self.unit, unit)?;
        Some(Self { values, unit, ..*self })
    }

    /// Returns a time in nanoseconds since 1970 of the calendar.
    pub(crate) fn nanoseconds(&self, position: usize) -> Option<i128> {
        nanoseconds(self.unit, *self.values.get(position)?)
    }
}

/// Spans of time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spans {
    unit: TimeUnit,
    values: Vec<i64>,
}

impl Spans {
    /// Returns spans that are counts of `unit`. [`NOT_A_TIME`] is a missing span.
    pub fn new(unit: TimeUnit, values: Vec<i64>) -> Self {
        Self { unit, values }
    }

    /// The unit of the counts.
    pub fn unit(&self) -> TimeUnit {
        self.unit
    }

    /// The counts.
    pub fn values(&self) -> &[i64] {
        &self.values
    }

    /// Returns a span in nanoseconds.
    pub(crate) fn nanoseconds(&self, position: usize) -> Option<i128> {
        nanoseconds(self.unit, *self.values.get(position)?)
    }
}

/// Returns the nanoseconds of a count, or `None` if it is missing.
pub(crate) fn nanoseconds(unit: TimeUnit, count: i64) -> Option<i128> {
    (count != NOT_A_TIME).then(|| i128::from(count) * i128::from(unit.nanoseconds()))
}

/// Returns the fields of a time, or `None` if it is missing. It uses 64 bits because it runs for every element that is
/// shown.
fn date_time(calendar: Calendar, unit: TimeUnit, count: i64) -> Option<DateTime> {
    // A branch for each unit: divisions by constants are several times faster.
    let (day, of_day) = match unit {
        TimeUnit::Seconds => split::<1_000_000_000>(count),
        TimeUnit::Milliseconds => split::<1_000_000>(count),
        TimeUnit::Microseconds => split::<1000>(count),
        TimeUnit::Nanoseconds => split::<1>(count),
    };
    (count != NOT_A_TIME).then(|| DateTime::on_day(calendar, day, of_day))?
}

/// Returns the day of a count of `NANOSECONDS`, and the nanoseconds since its beginning.
fn split<const NANOSECONDS: i64>(count: i64) -> (i64, i64) {
    let counts = DAY / NANOSECONDS;
    (count.div_euclid(counts), count.rem_euclid(counts) * NANOSECONDS)
}

/// Converts counts to another unit. Missing values stay missing.
fn convert(values: &[i64], from: TimeUnit, to: TimeUnit) -> Option<Vec<i64>> {
    let to = i128::from(to.nanoseconds());
    let one = |count: &i64| match nanoseconds(from, *count) {
        None => Some(NOT_A_TIME),
        Some(length) if length % to != 0 => None,
        Some(length) => count_of(length / to),
    };
    values.iter().map(one).collect()
}

/// Returns a count as an element, or `None` if it is out of range or equals [`NOT_A_TIME`].
pub(crate) fn count_of(count: i128) -> Option<i64> {
    i64::try_from(count).ok().filter(|count| *count != NOT_A_TIME)
}
