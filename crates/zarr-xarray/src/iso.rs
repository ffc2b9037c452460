//! Parses the digits of a date and a time of day in time units and labels. No calendar has checked them yet.

use crate::calendar::Date;
use crate::date_time::DateTime;

/// A date and time at the beginning of a text: `[+-]y[-m[-d[{T| }H[:M[:S[.f]]]]]]`, or `yyyymmdd` for the date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Parts<'a> {
    pub(crate) year: i64,
    /// The number of digits of the year in the text.
    pub(crate) year_digits: usize,
    pub(crate) month: Option<u8>,
    pub(crate) day: Option<u8>,
    pub(crate) hour: Option<u8>,
    pub(crate) minute: Option<u8>,
    pub(crate) second: Option<u8>,
    /// The fraction of the second in nanoseconds, and its number of digits.
    pub(crate) fraction: Option<(u32, usize)>,
    /// The text after the time.
    pub(crate) rest: &'a str,
}

impl<'a> Parts<'a> {
    /// Returns `None` if the text does not begin with a date, or a part has too many digits.
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

    /// Reads `separator` and a number of one or two digits, if `separator` comes next. Returns `None` for another
    /// number of digits.
    fn part(&mut self, separator: char) -> Option<Option<u8>> {
        let Some(rest) = self.rest.strip_prefix(separator) else { return Some(None) };
        let (number, rest) = digits(rest);
        self.rest = rest;
        two(number).map(Some)
    }

    /// Returns the first instant of the written time. A calendar may not have this time.
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

/// Splits a text into its leading digits and the rest.
pub(crate) fn digits(text: &str) -> (&str, &str) {
    text.split_at(text.bytes().take_while(u8::is_ascii_digit).count())
}

/// Reads a number of one or two digits.
pub(crate) fn two(digits: &str) -> Option<u8> {
    (digits.len() <= 2).then(|| digits.parse().ok())?
}

/// Returns a fraction of a second in nanoseconds. Digits after the ninth must be zeros.
fn nanoseconds(fraction: &str) -> Option<u32> {
    let (kept, beyond) = fraction.split_at(fraction.len().min(9));
    if kept.is_empty() || beyond.bytes().any(|digit| digit != b'0') {
        return None;
    }
    format!("{kept:0<9}").parse().ok()
}
