//! Texts as intervals of time: `2000-02` is all of February, up to its last nanosecond.

use crate::calendar::{Calendar, Date};
use crate::date_time::DateTime;
use crate::error::{XarrayError, XarrayResult};
use crate::iso::Parts;
use crate::units::{TimeUnit, Unit};

/// The precision of a time in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Precision {
    /// `2000`
    Year,
    /// `2000-02`
    Month,
    /// `2000-02-29`
    Day,
    /// `2000-02-29T13`
    Hour,
    /// `2000-02-29T13:05`
    Minute,
    /// `2000-02-29T13:05:07`
    Second,
    /// One to three digits after the point.
    Millisecond,
    /// Four to six digits.
    Microsecond,
    /// Seven to nine digits.
    Nanosecond,
}

/// The interval of time that a text stands for, in a calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interval {
    precision: Precision,
    calendar: Calendar,
    first: i128,
    last: i128,
}

impl Interval {
    /// Reads a text: `[±]YYYY[-MM[-DD[T hh[:mm[:ss[.f]]]]]]`, or `YYYYMMDD` for the date. Months to seconds may have
    /// one digit, and a blank may replace the `T`.
    ///
    /// # Errors
    /// `Invalid` for another form, an offset from UTC, and a time that the calendar does not have.
    pub fn parse(text: &str, calendar: Calendar) -> XarrayResult<Self> {
        let wrong = |why: &str| XarrayError::invalid(format!("{text:?} is not a time: {why}"));
        let parts = Parts::of(text.trim()).filter(|parts| parts.year_digits >= 4);
        let parts = parts.ok_or_else(|| wrong("it must be of the form YYYY-MM-DD hh:mm:ss"))?;
        if !parts.rest.is_empty() {
            return Err(wrong(&format!("unexpected text {:?} after the time", parts.rest)));
        }
        let lacks = || wrong(&format!("the calendar {} does not have it", calendar.name()));
        let (first, precision) = (parts.first(), precision(&parts));
        let start = first.to_nanoseconds(calendar).ok_or_else(lacks)?;
        let next = match precision.length() {
            Some(length) => start + i128::from(length),
            None => following(first.date, precision, calendar).to_nanoseconds(calendar).ok_or_else(lacks)?,
        };
        Ok(Self { precision, calendar, first: start, last: next - 1 })
    }

    /// The precision of the text.
    pub fn precision(&self) -> Precision {
        self.precision
    }

    /// The first instant.
    pub fn first(&self) -> Option<DateTime> {
        DateTime::from_nanoseconds(self.calendar, self.first)
    }

    /// The last nanosecond.
    pub fn last(&self) -> Option<DateTime> {
        DateTime::from_nanoseconds(self.calendar, self.last)
    }

    /// The first and the last nanosecond since 1970 of the calendar.
    pub(crate) fn nanoseconds(&self) -> (i128, i128) {
        (self.first, self.last)
    }
}

impl Precision {
    /// Returns the length of the interval in nanoseconds, or `None` for months and years, whose lengths differ.
    fn length(self) -> Option<i64> {
        Some(match self {
            Self::Year | Self::Month => return None,
            Self::Day => Unit::Days.nanoseconds(),
            Self::Hour => Unit::Hours.nanoseconds(),
            Self::Minute => Unit::Minutes.nanoseconds(),
            Self::Second => TimeUnit::Seconds.nanoseconds(),
            Self::Millisecond => TimeUnit::Milliseconds.nanoseconds(),
            Self::Microsecond => TimeUnit::Microseconds.nanoseconds(),
            Self::Nanosecond => TimeUnit::Nanoseconds.nanoseconds(),
        })
    }

    /// Returns the coarsest precision, days or finer, whose length divides `nanoseconds`.
    pub(crate) fn of_step(nanoseconds: i128) -> Self {
        const FROM_DAYS: [Precision; 7] = [
            Precision::Day,
            Precision::Hour,
            Precision::Minute,
            Precision::Second,
            Precision::Millisecond,
            Precision::Microsecond,
            Precision::Nanosecond,
        ];
        let divides =
            |precision: &Self| precision.length().is_some_and(|length| nanoseconds % i128::from(length) == 0);
        FROM_DAYS.into_iter().find(divides).unwrap_or(Self::Nanosecond)
    }
}

fn precision(parts: &Parts<'_>) -> Precision {
    match (parts.fraction, parts.second, parts.minute, parts.hour, parts.day, parts.month) {
        (Some((_, ..=3)), ..) => Precision::Millisecond,
        (Some((_, ..=6)), ..) => Precision::Microsecond,
        (Some(_), ..) => Precision::Nanosecond,
        (_, Some(_), ..) => Precision::Second,
        (_, _, Some(_), ..) => Precision::Minute,
        (_, _, _, Some(_), ..) => Precision::Hour,
        (.., Some(_), _) => Precision::Day,
        (.., Some(_)) => Precision::Month,
        _ => Precision::Year,
    }
}

/// Returns the first day of the next month or year.
fn following(date: Date, precision: Precision, calendar: Calendar) -> DateTime {
    let (year, month) = match precision {
        Precision::Month if date.month < 12 => (date.year, date.month + 1),
        _ if date.year == -1 && !calendar.has_year_zero() => (1, 1),
        _ => (date.year + 1, 1),
    };
    DateTime::midnight(year, month, 1)
}
