//! The digits of a date and a time of day, as they stand in units of time and in labels. No calendar has seen them yet.

use crate::calendar::Date;
use crate::date_time::DateTime;

/// What a text begins with: `[+-]y[-m[-d[{T| }H[:M[:S[.f]]]]]]`, or `yyyymmdd` for the date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Parts<'a> {
    pub(crate) year: i64,
    /// Digits of the year as it is written.
    pub(crate) year_digits: usize,
    pub(crate) month: Option<u8>,
    pub(crate) day: Option<u8>,
    pub(crate) hour: Option<u8>,
    pub(crate) minute: Option<u8>,
    pub(crate) second: Option<u8>,
    /// The fraction of the second in nanoseconds, and how many digits it has.
    pub(crate) fraction: Option<(u32, usize)>,
    /// What follows.
    pub(crate) rest: &'a str,
}

impl<'a> Parts<'a> {
    /// `None` when the text does not begin with a date, or has more digits in a place than belong there.
    pub(crate) fn of(text: &'a str) -> Option<Self> {
        let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
        let (digits, rest) = digits(unsigned);
        let sign = if text.starts_with('-') { -1 } else { 1 };
        let parts = |year: &str| {
            let read: i64 = year.parse().ok()?;
            let year_digits = year.len();
            Some(Self { year: sign * read, year_digits, rest, ..Self::EMPTY })
        };
        match digits.len() {
            8 if !rest.starts_with('-') => {
                let (year, day) = digits.split_at(4);
                Self { month: two(&day[..2]), day: two(&day[2..]), ..parts(year)? }.time()
            }
            1..=6 => parts(digits)?.month_and_day(),
            _ => None,
        }
    }

    const EMPTY: Parts<'static> = Parts {
        year: 0,
        year_digits: 0,
        month: None,
        day: None,
        hour: None,
        minute: None,
        second: None,
        fraction: None,
        rest: "",
    };

    fn month_and_day(mut self) -> Option<Self> {
        self.month = self.part('-')?;
        self.day = if self.month.is_some() { self.part('-')? } else { None };
        if self.day.is_some() { self.time() } else { Some(self) }
    }

    fn time(mut self) -> Option<Self> {
        let spaced = self.rest.trim_start();
        let blank = spaced.len() < self.rest.len();
        let hour = if blank { spaced } else { self.rest.strip_prefix(['T', 't']).unwrap_or("") };
        if !hour.starts_with(|c: char| c.is_ascii_digit()) {
            return Some(self);
        }
        let (hour, rest) = digits(hour);
        (self.hour, self.rest) = (Some(two(hour)?), rest);
        self.minute = self.part(':')?;
        self.second = if self.minute.is_some() { self.part(':')? } else { None };
        match self.rest.strip_prefix('.') {
            Some(rest) if self.second.is_some() => {
                let (fraction, rest) = digits(rest);
                (self.fraction, self.rest) = (Some((nanoseconds(fraction)?, fraction.len())), rest);
                Some(self)
            }
            _ => Some(self),
        }
    }

    /// A number of one or two digits behind `separator`, if that is what follows. `None` when there are more digits, or none.
    fn part(&mut self, separator: char) -> Option<Option<u8>> {
        let Some(rest) = self.rest.strip_prefix(separator) else { return Some(None) };
        let (number, rest) = digits(rest);
        self.rest = rest;
        two(number).map(Some)
    }

    /// The first instant of the time that is written. It may be one that a calendar lacks.
    pub(crate) fn first(&self) -> DateTime {
        let date = Date { year: self.year, month: self.month.unwrap_or(1), day: self.day.unwrap_or(1) };
        DateTime {
            date,
            hour: self.hour.unwrap_or(0),
            minute: self.minute.unwrap_or(0),
            second: self.second.unwrap_or(0),
            nanosecond: self.fraction.map_or(0, |(nanoseconds, _)| nanoseconds),
        }
    }
}

/// The digits at the beginning, and what follows.
pub(crate) fn digits(text: &str) -> (&str, &str) {
    text.split_at(text.bytes().take_while(u8::is_ascii_digit).count())
}

/// A number of one or two digits.
pub(crate) fn two(digits: &str) -> Option<u8> {
    (digits.len() <= 2).then(|| digits.parse().ok())?
}

/// A fraction of a second in nanoseconds. Digits beyond the ninth must be zeros.
fn nanoseconds(fraction: &str) -> Option<u32> {
    let (kept, beyond) = fraction.split_at(fraction.len().min(9));
    if kept.is_empty() || beyond.bytes().any(|digit| digit != b'0') {
        return None;
    }
    format!("{kept:0<9}").parse().ok()
}
