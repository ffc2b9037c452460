//! Units of time: `hours since 2000-01-01 06:00 +01:00`.
//!
//! Specification: CF 1.12, section 4.4.

mod reference;

use std::fmt;

use crate::calendar::Calendar;
use crate::date_time::DateTime;
use crate::error::{XarrayError, XarrayResult};
use crate::finding::{Finding, FindingCode};

use reference::Reference;

/// A unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Unit {
    /// 10⁻⁹ seconds.
    Nanoseconds,
    /// 10⁻⁶ seconds.
    Microseconds,
    /// 10⁻³ seconds.
    Milliseconds,
    /// Seconds.
    Seconds,
    /// 60 seconds.
    Minutes,
    /// 60 minutes.
    Hours,
    /// 24 hours.
    Days,
    /// 7 days.
    Weeks,
    /// 30 days, only in the calendar `360_day`.
    Months,
    /// 365 days, only in the calendar `noleap`.
    CommonYears,
}

impl Unit {
    /// Units in which times and spans are written, the longest first.
    pub(crate) const WRITTEN: [Self; 7] = [
        Self::Days,
        Self::Hours,
        Self::Minutes,
        Self::Seconds,
        Self::Milliseconds,
        Self::Microseconds,
        Self::Nanoseconds,
    ];

    /// The length in nanoseconds.
    pub const fn nanoseconds(self) -> i64 {
        match self {
            Self::Nanoseconds => 1,
            Self::Microseconds => 1000,
            Self::Milliseconds => 1_000_000,
            Self::Seconds => 1_000_000_000,
            Self::Minutes => 60 * Self::Seconds.nanoseconds(),
            Self::Hours => 60 * Self::Minutes.nanoseconds(),
            Self::Days => 24 * Self::Hours.nanoseconds(),
            Self::Weeks => 7 * Self::Days.nanoseconds(),
            Self::Months => 30 * Self::Days.nanoseconds(),
            Self::CommonYears => 365 * Self::Days.nanoseconds(),
        }
    }

    /// The name in the plural, as this crate writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nanoseconds => "nanoseconds",
            Self::Microseconds => "microseconds",
            Self::Milliseconds => "milliseconds",
            Self::Seconds => "seconds",
            Self::Minutes => "minutes",
            Self::Hours => "hours",
            Self::Days => "days",
            Self::Weeks => "weeks",
            Self::Months => "months",
            Self::CommonYears => "common_years",
        }
    }

    /// Returns the unit that the text before `since` names, in upper or lower case. `m` is refused: CF reads it as
    /// metres.
    fn parse(text: &str) -> Option<Self> {
        Some(match &*text.to_lowercase() {
            "nanosecond" | "nanoseconds" | "ns" => Self::Nanoseconds,
            "microsecond" | "microseconds" | "microsec" | "microsecs" | "us" | "µs" | "μs" => {
                Self::Microseconds
            }
            "millisecond" | "milliseconds" | "millisec" | "millisecs" | "msec" | "msecs" | "ms" => {
                Self::Milliseconds
            }
            "second" | "seconds" | "sec" | "secs" | "s" => Self::Seconds,
            "minute" | "minutes" | "min" | "mins" => Self::Minutes,
            "hour" | "hours" | "hr" | "hrs" | "h" => Self::Hours,
            "day" | "days" | "d" => Self::Days,
            "week" | "weeks" => Self::Weeks,
            "month" | "months" => Self::Months,
            "common_year" | "common_years" => Self::CommonYears,
            _ => return None,
        })
    }

    /// Returns the unit of spans that a text names: only days to nanoseconds in the plural, as xarray writes them.
    pub fn of_spans(text: &str) -> Option<Self> {
        Self::WRITTEN.into_iter().find(|unit| unit.name() == text)
    }

    /// Whether xarray accepts this spelling of the unit.
    fn is_known_to_xarray(self, text: &str) -> bool {
        !matches!(&*text.to_lowercase(), "us" | "µs" | "μs" | "ns") && self != Self::Weeks
    }
}

/// The unit in which decoded times and spans are counted. The variants give the range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TimeUnit {
    /// ±292 thousand million years.
    Seconds,
    /// ±292 million years.
    Milliseconds,
    /// ±292 thousand years.
    Microseconds,
    /// ±292 years.
    Nanoseconds,
}

impl TimeUnit {
    /// All units, the longest first.
    pub const ALL: [Self; 4] = [Self::Seconds, Self::Milliseconds, Self::Microseconds, Self::Nanoseconds];

    /// The length in nanoseconds.
    pub const fn nanoseconds(self) -> i64 {
        match self {
            Self::Seconds => 1_000_000_000,
            Self::Milliseconds => 1_000_000,
            Self::Microseconds => 1000,
            Self::Nanoseconds => 1,
        }
    }

    /// The name in numpy: `ns`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Seconds => "s",
            Self::Milliseconds => "ms",
            Self::Microseconds => "us",
            Self::Nanoseconds => "ns",
        }
    }

    /// Returns the next shorter unit.
    pub(crate) fn finer(self) -> Option<Self> {
        Self::ALL.into_iter().find(|unit| *unit > self)
    }

    /// Returns the longest unit of which a length is a whole number, or nanoseconds.
    pub fn dividing(nanoseconds: i128) -> Self {
        let divides = |unit: &Self| nanoseconds % i128::from(unit.nanoseconds()) == 0;
        Self::ALL.into_iter().find(divides).unwrap_or(Self::Nanoseconds)
    }
}

/// The units of a time axis: counts of a unit since a reference time in a calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeUnits {
    unit: Unit,
    calendar: Calendar,
    /// The reference time in UTC.
    reference: DateTime,
    /// The reference time in nanoseconds since 1970 of the calendar.
    nanoseconds: i128,
}

impl TimeUnits {
    /// Whether an attribute `units` is that of a time axis: it contains the word `since`.
    pub fn are_meant_by(units: &str) -> bool {
        units.contains("since")
    }

    /// Returns units that count `unit` since `reference`, a time in UTC, or `None` if the calendar does not have that
    /// time.
    pub fn new(unit: Unit, reference: DateTime, calendar: Calendar) -> Option<Self> {
        let nanoseconds = reference.to_nanoseconds(calendar)?;
        Some(Self { unit, calendar, reference, nanoseconds })
    }

    /// Reads an attribute `units`. Adds spellings that differ from CF to `findings`.
    ///
    /// # Errors
    /// `Invalid` if the text is not `UNIT since TIME`, if the calendar does not have that time, and for units without a
    /// fixed length: `years`, and `months` in all calendars but `360_day`.
    pub fn parse(text: &str, calendar: Calendar, findings: &mut Vec<Finding>) -> XarrayResult<Self> {
        let wrong = |why: String| XarrayError::invalid(format!("time units {text:?}: {why}"));
        let form = || wrong("they must be UNIT since TIME".to_owned());
        let mut words = text.trim_start().splitn(2, char::is_whitespace);
        let unit = words.next().unwrap_or_default();
        let since = words.next().and_then(|rest| rest.trim_start().strip_prefix("since"));
        let time = since.filter(|rest| rest.starts_with(char::is_whitespace)).ok_or_else(form)?;
        let read = read_unit(unit, calendar).map_err(wrong)?;
        let reference = Reference::parse(time.trim())
            .ok_or_else(|| wrong(format!("{:?} does not have the form YYYY-MM-DD hh:mm:ss", time.trim())))?;
        let units = reference.in_utc(calendar).and_then(|reference| Self::new(read, reference, calendar));
        let units = units
            .ok_or_else(|| wrong(format!("the calendar {} does not have this time", calendar.name())))?;
        if !read.is_known_to_xarray(unit) {
            let message = format!("the unit {unit:?} is read as {}", read.name());
            findings.push(Finding::new(FindingCode::UnitsSpelling, message));
        }
        reference.report(text, &units.reference, findings);
        Ok(units)
    }

    /// The unit of the counts.
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// The calendar of the reference time.
    pub fn calendar(&self) -> Calendar {
        self.calendar
    }

    /// The reference time, in UTC.
    pub fn reference(&self) -> DateTime {
        self.reference
    }

    /// The reference time in nanoseconds since 1970-01-01 of the calendar.
    pub(crate) fn nanoseconds(&self) -> i128 {
        self.nanoseconds
    }

    /// Returns the same reference with another unit.
    pub(crate) fn with_unit(self, unit: Unit) -> Self {
        Self { unit, ..self }
    }
}

/// Writes units as xarray does: `days since 2000-01-01`, `days since 2000-01-01T12:00:00`.
impl fmt::Display for TimeUnits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reference = self.reference;
        write!(f, "{} since ", self.unit.name())?;
        if reference == DateTime::midnight(reference.date.year, reference.date.month, reference.date.day) {
            return write!(f, "{}", reference.date);
        }
        f.write_str(&reference.to_seconds_text('T'))
    }
}

/// Reads a unit, or returns why this calendar does not have it.
fn read_unit(text: &str, calendar: Calendar) -> Result<Unit, String> {
    let no_length = || {
        let name = calendar.name();
        Err(format!("{text:?} has no fixed length in the calendar {name} (CF 4.4.1): use days"))
    };
    match Unit::parse(text) {
        Some(Unit::Months) if calendar != Calendar::Days360 => no_length(),
        Some(Unit::CommonYears) if calendar != Calendar::NoLeap => no_length(),
        Some(unit) => Ok(unit),
        None if ["year", "years"].contains(&&*text.to_ascii_lowercase()) => no_length(),
        None => Err(format!("unknown unit of time {text:?}")),
    }
}
