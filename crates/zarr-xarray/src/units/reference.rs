//! The reference time of time units: `[+-]y-m-d[{T| }H[:M[:S[.f]]]] [zone]`.

use crate::calendar::Calendar;
use crate::date_time::DateTime;
use crate::finding::{Finding, FindingCode};
use crate::iso::{self, Parts};

/// A reference time as it is written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reference<'a> {
    parts: Parts<'a>,
    zone: Zone,
}

/// The offset from UTC as it is written.
#[derive(Debug, Clone, Copy, Default)]
struct Zone {
    minutes: i16,
    /// Whether the offset has digits.
    has_digits: bool,
    has_minutes: bool,
    has_sign: bool,
}

impl<'a> Reference<'a> {
    /// Returns `None` for another form, and for a year of more than five digits. A year with a month, or a year of four
    /// digits, may stand alone.
    pub(super) fn parse(text: &'a str) -> Option<Self> {
        let parts = Parts::of(text)?;
        let is_date = parts.day.is_some() || parts.rest.is_empty() && parts.year_digits == 4;
        let zone = Zone::parse(parts.rest.trim_start())?;
        (is_date && parts.year_digits <= 5).then_some(Self { parts, zone })
    }

    /// Returns the time in UTC, or `None` if the calendar does not have it.
    pub(super) fn in_utc(&self, calendar: Calendar) -> Option<DateTime> {
        const MINUTE: i128 = 60_000_000_000;
        let local = self.parts.first().to_nanoseconds(calendar)?;
        DateTime::from_nanoseconds(calendar, local - i128::from(self.zone.minutes) * MINUTE)
    }

    /// Reports spellings that differ from CF, and texts that xarray reads differently.
    pub(super) fn report(&self, units: &str, utc: &DateTime, findings: &mut Vec<Finding>) {
        let Self { parts, zone } = self;
        let mut found = |code, message: String| findings.push(Finding::new(code, message));
        if parts.year_digits < 4 {
            found(FindingCode::UnitsSpelling, format!("the year of {units:?} is read as {:04}", parts.year));
        }
        if parts.day.is_none() {
            found(FindingCode::UnitsSpelling, format!("the reference of {units:?} is read as {utc}"));
        }
        let odd_zone = zone.has_digits && !(zone.has_sign && zone.has_minutes);
        let odd_hour = parts.hour.is_some() && parts.minute.is_none();
        if odd_zone || odd_hour {
            found(FindingCode::ReferenceOffset, format!("the reference of {units:?} is {utc} in UTC"));
        }
    }
}

impl Zone {
    /// Reads `Z`, `UTC`, `GMT`, `±H`, `±H:M`, `±HMM`, `±HHMM`, the same without a sign, or an empty text.
    fn parse(text: &str) -> Option<Self> {
        if text.is_empty() || ["z", "utc", "gmt"].contains(&&*text.to_ascii_lowercase()) {
            return Some(Self::default());
        }
        let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
        let (digits, rest) = iso::digits(unsigned);
        let (hours, minutes) = match (digits.len(), rest.strip_prefix(':')) {
            (1 | 2, Some(minutes)) => (digits, minutes),
            (1 | 2, None) if rest.is_empty() => (digits, ""),
            (3 | 4, None) if rest.is_empty() => digits.split_at(digits.len() - 2),
            _ => return None,
        };
        let has_minutes = !minutes.is_empty();
        let (hour, minute) = (iso::two(hours)?, if has_minutes { iso::two(minutes)? } else { 0 });
        let size = i16::from(hour) * 60 + i16::from(minute);
        let minutes = if text.starts_with('-') { -size } else { size };
        let exists = hour < 24 && minute < 60 && (has_minutes || rest.is_empty());
        exists.then_some(Self { minutes, has_digits: true, has_minutes, has_sign: unsigned != text })
    }
}
