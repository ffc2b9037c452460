//! Reports for people and for programs.

mod data;
mod files;
mod junit;
mod page;
mod table;

use std::time::{SystemTime, UNIX_EPOCH};

/// The head of a report. The version of the suite is that of this crate.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct About {
    /// The day, as `2026-11-22`.
    pub date: String,
}

impl About {
    /// Returns the head of a report of today, in UTC.
    pub fn today() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { date: date(since.as_secs() / (24 * 60 * 60)) }
    }
}

/// Returns a date from the number of days since 1970-01-01.
fn date(days: u64) -> String {
    // Years from March to February, so that a leap day is the last day of a year, and eras of 400 years.
    const ERA: u64 = 146_097;
    let days = days + 719_468;
    let (era, day) = (days / ERA, days % ERA);
    let year = (day - day / 1_460 + day / 36_524 - day / (ERA - 1)) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let (day, month) = (day - (153 * month + 2) / 5 + 1, (month + 2) % 12 + 1);
    let year = 400 * era + year + u64::from(month <= 2);
    format!("{year}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_become_dates() {
        for (days, expected) in [
            (0, "1970-01-01"),
            (58, "1970-02-28"),
            (59, "1970-03-01"),
            (11_016, "2000-02-29"),
            (20_779, "2026-11-22"),
            (47_540, "2100-02-28"),
            (47_541, "2100-03-01"),
        ] {
            assert_eq!(date(days), expected);
        }
    }
}
