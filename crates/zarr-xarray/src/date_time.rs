//! A date with a time of day. The calendar is stored elsewhere.

use std::fmt;

use crate::calendar::{Calendar, Date};

/// Nanoseconds of a day.
pub(crate) const DAY: i64 = 86_400_000_000_000;

const SECOND: i64 = 1_000_000_000;

/// A date and a time of day, in the calendar of the [`Times`](crate::Times) or [`TimeUnits`](crate::TimeUnits) that it
/// comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DateTime {
    /// The date.
    pub date: Date,
    /// The hour, 0 to 23.
    pub hour: u8,
    /// The minute, 0 to 59.
    pub minute: u8,
    /// The second, 0 to 59.
    pub second: u8,
    /// Nanoseconds of the second.
    pub nanosecond: u32,
}

impl DateTime {
    /// The beginning of a day.
    pub const fn midnight(year: i64, month: u8, day: u8) -> Self {
        Self { date: Date { year, month, day }, hour: 0, minute: 0, second: 0, nanosecond: 0 }
    }

    /// The same day at another time.
    #[must_use]
    pub const fn at(self, hour: u8, minute: u8, second: u8, nanosecond: u32) -> Self {
        Self { hour, minute, second, nanosecond, ..self }
    }

    /// Nanoseconds since 1970-01-01 of the calendar. `None` for a date or a time of day that does not exist.
    pub fn to_nanoseconds(self, calendar: Calendar) -> Option<i128> {
        let exists =
            self.hour < 24 && self.minute < 60 && self.second < 60 && i64::from(self.nanosecond) < SECOND;
        let days = exists.then(|| calendar.days(self.date))??;
        Some(i128::from(days) * i128::from(DAY) + i128::from(self.nanosecond_of_day()))
    }

    /// Returns the time `nanoseconds` after 1970-01-01 of the calendar, or `None` beyond the range of the calendar.
    pub fn from_nanoseconds(calendar: Calendar, nanoseconds: i128) -> Option<Self> {
        let day = i128::from(DAY);
        let days = i64::try_from(nanoseconds.div_euclid(day)).ok()?;
        Self::on_day(calendar, days, i64::try_from(nanoseconds.rem_euclid(day)).ok()?)
    }

    /// The time `nanosecond` after the beginning of a day that lies `days` after 1970-01-01.
    #[expect(clippy::cast_possible_truncation, reason = "each part of a day is smaller than its type")]
    pub(crate) fn on_day(calendar: Calendar, days: i64, nanosecond: i64) -> Option<Self> {
        let date = calendar.date(days)?;
        let (seconds, nanosecond) = ((nanosecond / SECOND) as u32, (nanosecond % SECOND) as u32);
        let (hour, minute, second) =
            ((seconds / 3600) as u8, (seconds / 60 % 60) as u8, (seconds % 60) as u8);
        Some(Self { date, hour, minute, second, nanosecond })
    }

    fn nanosecond_of_day(self) -> i64 {
        let minutes = i64::from(self.hour) * 60 + i64::from(self.minute);
        (minutes * 60 + i64::from(self.second)) * SECOND + i64::from(self.nanosecond)
    }

    /// Returns the time as text with seconds: `2000-01-01`, `separator`, `06:05:04`, and a fraction of six or nine
    /// digits if it is not 0.
    pub(crate) fn to_seconds_text(self, separator: char) -> String {
        let Self { date, hour, minute, second, nanosecond } = self;
        let fraction = match nanosecond {
            0 => String::new(),
            n if n % 1000 == 0 => format!(".{:06}", n / 1000),
            n => format!(".{n:09}"),
        };
        format!("{date}{separator}{hour:02}:{minute:02}:{second:02}{fraction}")
    }
}

/// ISO 8601, as short as the time allows: `2000-01-01`, `2000-01-01T06:00`, `2000-01-01T06:00:04.5`.
impl fmt::Display for DateTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { date, hour, minute, second, nanosecond } = self;
        write!(f, "{date}")?;
        if self.nanosecond_of_day() == 0 {
            return Ok(());
        }
        write!(f, "T{hour:02}:{minute:02}")?;
        if (*second, *nanosecond) != (0, 0) {
            write!(f, ":{second:02}")?;
        }
        if *nanosecond != 0 {
            write!(f, ".{}", format!("{nanosecond:09}").trim_end_matches('0'))?;
        }
        Ok(())
    }
}

/// ISO 8601: `2000-01-01`, and with a sign and five digits or more for years beyond 9999: `+10000-01-01`.
impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { year, month, day } = self;
        match year {
            ..0 => write!(f, "-{:04}", year.unsigned_abs())?,
            0..10_000 => write!(f, "{year:04}")?,
            _ => write!(f, "+{year}")?,
        }
        write!(f, "-{month:02}-{day:02}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_as_short_as_they_can_be() {
        let day = DateTime::midnight(2000, 2, 29);
        for (time, text) in [
            (day, "2000-02-29"),
            (day.at(6, 0, 0, 0), "2000-02-29T06:00"),
            (day.at(0, 0, 7, 0), "2000-02-29T00:00:07"),
            (day.at(0, 0, 0, 1), "2000-02-29T00:00:00.000000001"),
            (day.at(23, 59, 59, 500_000_000), "2000-02-29T23:59:59.5"),
            (DateTime::midnight(-1, 1, 1), "-0001-01-01"),
            (DateTime::midnight(99, 1, 1), "0099-01-01"),
            (DateTime::midnight(10_000, 1, 1), "+10000-01-01"),
        ] {
            assert_eq!(time.to_string(), text);
        }
    }

    #[test]
    fn nanoseconds_come_back() {
        let most = i128::from(i64::MAX) * i128::from(SECOND);
        for &calendar in Calendar::ALL {
            for nanoseconds in [0, -1, 1, most, -most, 951_782_400_123_456_789] {
                let time = DateTime::from_nanoseconds(calendar, nanoseconds).unwrap();
                assert_eq!(time.to_nanoseconds(calendar), Some(nanoseconds), "{calendar:?} {time}");
            }
            assert_eq!(DateTime::from_nanoseconds(calendar, i128::MAX), None);
            assert_eq!(DateTime::from_nanoseconds(calendar, i128::MIN), None);
        }
    }

    #[test]
    fn times_of_day_that_do_not_exist_are_refused() {
        let day = DateTime::midnight(2000, 1, 1);
        for time in [day.at(24, 0, 0, 0), day.at(0, 60, 0, 0), day.at(0, 0, 60, 0), day.at(0, 0, 0, 1 << 30)]
        {
            assert_eq!(time.to_nanoseconds(Calendar::Standard), None);
        }
    }
}
