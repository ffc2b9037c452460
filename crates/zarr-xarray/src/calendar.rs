//! The calendars of the CF conventions: days since 1970 to year, month and day, and back.
//!
//! All calendars use the same computation. A year begins in March, so that a leap day is its last day, and a [`Rule`]
//! says how many days lie before a year. The mixed calendar uses one rule up to 4 October 1582 and another from the
//! next day, 15 October.
//!
//! Specification: CF 1.12, section 4.4.1, "Calendar".

/// A calendar of the CF conventions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Calendar {
    /// Gregorian from 1582-10-15 on, Julian before. Without a year 0.
    Standard,
    /// Gregorian at all times. Has a year 0.
    ProlepticGregorian,
    /// Julian at all times. Without a year 0.
    Julian,
    /// Years of 365 days. Has a year 0.
    NoLeap,
    /// Years of 366 days. Has a year 0.
    AllLeap,
    /// Years of 12 months of 30 days. Has a year 0.
    Days360,
}

/// A day in a calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date {
    /// The year as the calendar counts it: before the year 1 comes the year 0 or the year −1.
    pub year: i64,
    /// The month, from 1.
    pub month: u8,
    /// The day of the month, from 1.
    pub day: u8,
}

impl Date {
    /// The first day of the Gregorian calendar.
    pub(crate) const REFORM: Self = Self { year: 1582, month: 10, day: 15 };
}

/// Dates are limited to this many days before and after 1970: more than an `i64` holds in seconds.
const MOST_DAYS: i64 = 1 << 47;

/// Years beyond this limit are refused: their days would overflow.
const MOST_YEARS: u64 = 1 << 40;

/// The first day of the Gregorian calendar, in days since 1970.
const REFORM: i64 = -141_427;

impl Calendar {
    /// All calendars.
    pub const ALL: &'static [Self] =
        &[Self::Standard, Self::ProlepticGregorian, Self::Julian, Self::NoLeap, Self::AllLeap, Self::Days360];

    /// Returns the calendar that an attribute `calendar` names, in upper or lower case. Returns `None` for unknown
    /// names, also for `none`, `utc` and `tai`.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match &*name.to_ascii_lowercase() {
            "standard" | "gregorian" => Self::Standard,
            "proleptic_gregorian" => Self::ProlepticGregorian,
            "julian" => Self::Julian,
            "noleap" | "365_day" => Self::NoLeap,
            "all_leap" | "366_day" => Self::AllLeap,
            "360_day" => Self::Days360,
            _ => return None,
        })
    }

    /// The name that CF recommends.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::ProlepticGregorian => "proleptic_gregorian",
            Self::Julian => "julian",
            Self::NoLeap => "noleap",
            Self::AllLeap => "all_leap",
            Self::Days360 => "360_day",
        }
    }

    /// Whether recent dates are those of the civil calendar. xarray decodes these calendars to `datetime64`, and all
    /// others to cftime objects.
    pub const fn is_civil(self) -> bool {
        matches!(self, Self::Standard | Self::ProlepticGregorian)
    }

    /// Whether the year 0 lies between the years −1 and 1.
    pub const fn has_year_zero(self) -> bool {
        !matches!(self, Self::Standard | Self::Julian)
    }

    /// Returns the days from 1970-01-01 of this calendar to `date`, or `None` for a date that the calendar does not
    /// have or beyond ±2^47 days.
    pub fn days(self, date: Date) -> Option<i64> {
        let may_be =
            date.year.unsigned_abs() < MOST_YEARS && (1..=12).contains(&date.month) && date.day <= 31;
        let year = if date.year < 0 && !self.has_year_zero() { date.year + 1 } else { date.year };
        let (rule, shift) = match self {
            Self::Standard if date < Date::REFORM => MIXED,
            _ => self.rule(),
        };
        let days = may_be.then(|| rule.days(year, date.month.into(), date.day.into()) - shift)?;
        // A date that does not exist, such as 30 February, gives the days of another date.
        (self.date(days)? == date).then_some(days)
    }

    /// Returns the date `days` after 1970-01-01 of this calendar, or `None` beyond ±2^47 days.
    pub fn date(self, days: i64) -> Option<Date> {
        if days.unsigned_abs() > MOST_DAYS.unsigned_abs() {
            return None;
        }
        let (rule, shift) = if self == Self::Standard && days < REFORM { MIXED } else { self.rule() };
        // A branch for each rule: divisions by constants are several times faster.
        let days = days + shift;
        let (year, month, day) = match rule {
            Rule::Gregorian => Rule::Gregorian.date(days),
            Rule::Julian => Rule::Julian.date(days),
            Rule::NoLeap => Rule::NoLeap.date(days),
            Rule::AllLeap => Rule::AllLeap.date(days),
            Rule::Days360 => Rule::Days360.date(days),
        };
        let year = if year <= 0 && !self.has_year_zero() { year - 1 } else { year };
        Some(Date { year, month, day })
    }

    /// The rule of recent years, and 1970-01-01 in the days of that rule.
    const fn rule(self) -> (Rule, i64) {
        let rule = match self {
            Self::Standard | Self::ProlepticGregorian => Rule::Gregorian,
            Self::Julian => Rule::Julian,
            Self::NoLeap => Rule::NoLeap,
            Self::AllLeap => Rule::AllLeap,
            Self::Days360 => Rule::Days360,
        };
        (rule, rule.days(1970, 1, 1))
    }
}

/// The rule of the standard calendar before the reform, and 1970-01-01 in its days.
const MIXED: (Rule, i64) = (Rule::Julian, Rule::Julian.days(1582, 10, 4) - (REFORM - 1));

/// The rule for leap years. Years count with a year 0, days from 1 March of the year 0.
#[derive(Clone, Copy)]
enum Rule {
    Gregorian,
    Julian,
    NoLeap,
    AllLeap,
    Days360,
}

impl Rule {
    /// Days before 1 March of `year`.
    #[inline(always)]
    const fn before(self, year: i64) -> i64 {
        match self {
            Self::Gregorian => 365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400),
            Self::Julian => 365 * year + year.div_euclid(4),
            Self::NoLeap => 365 * year,
            Self::AllLeap => 366 * year,
            Self::Days360 => 360 * year,
        }
    }

    /// The number of years after which the rule repeats, and their days.
    #[inline(always)]
    const fn cycle(self) -> (i64, i64) {
        match self {
            Self::Gregorian => (400, 146_097),
            Self::Julian => (4, 1461),
            Self::NoLeap => (1, 365),
            Self::AllLeap => (1, 366),
            Self::Days360 => (1, 360),
        }
    }

    /// Days from 1 March to the first of a month, where March is month 0. Five months from March or August on have 153
    /// days.
    #[inline(always)]
    const fn before_month(self, month: i64) -> i64 {
        match self {
            Self::Days360 => 30 * month,
            _ => (153 * month + 2) / 5,
        }
    }

    /// The month with the day that lies `days` after 1 March, where March is month 0.
    #[inline(always)]
    const fn month(self, days: u32) -> u32 {
        match self {
            Self::Days360 => days / 30,
            _ => (5 * days + 2) / 153,
        }
    }

    const fn days(self, year: i64, month: i64, day: i64) -> i64 {
        let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
        self.before(year) + self.before_month(month) + day - 1
    }

    /// Divides days in a cycle into years with leap days and the days after them. Every fourth year is longer, so that
    /// `n` years have a quarter of `1461 n` days, rounded down; and centuries likewise.
    #[inline(always)]
    const fn split(days: u32, four: u32) -> (u32, u32) {
        let quarters = 4 * days + 3;
        (quarters / four, quarters % four / 4)
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "days of a cycle, a month, a day"
    )]
    #[inline(always)]
    const fn date(self, days: i64) -> (i64, u8, u8) {
        let (years, cycle) = self.cycle();
        let day = days.rem_euclid(cycle) as u32;
        let (centuries, day) = match self {
            Self::Gregorian => Self::split(day, 146_097),
            _ => (0, day),
        };
        let (year, day) = match self {
            Self::Gregorian | Self::Julian => Self::split(day, 1461),
            _ => (0, day),
        };
        let year = days.div_euclid(cycle) * years + (100 * centuries + year) as i64;
        let month = self.month(day);
        let day = day - self.before_month(month as i64) as u32 + 1;
        let (year, month) = if month < 10 { (year, month + 3) } else { (year + 1, month - 9) };
        (year, month as u8, day as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::Calendar::{AllLeap, Days360, Julian, NoLeap, ProlepticGregorian, Standard};
    use super::*;

    fn date(year: i64, month: u8, day: u8) -> Date {
        Date { year, month, day }
    }

    #[test]
    fn known_days() {
        for (calendar, days, (year, month, day)) in [
            (Standard, 0, (1970, 1, 1)),
            (Standard, REFORM, (1582, 10, 15)),
            (Standard, REFORM - 1, (1582, 10, 4)),
            (Standard, -719_164, (1, 1, 1)),
            (Standard, -719_165, (-1, 12, 31)),
            (ProlepticGregorian, -719_162, (1, 1, 1)),
            (ProlepticGregorian, -719_163, (0, 12, 31)),
            (ProlepticGregorian, 11_016, (2000, 2, 29)),
            (ProlepticGregorian, -25_508, (1900, 3, 1)),
            (Julian, -25_509, (1900, 2, 29)),
            (Julian, -719_177, (1, 1, 1)),
            (NoLeap, 59, (1970, 3, 1)),
            (NoLeap, -365 * 1970, (0, 1, 1)),
            (AllLeap, 59, (1970, 2, 29)),
            (Days360, 59, (1970, 2, 30)),
            (Days360, -1, (1969, 12, 30)),
        ] {
            assert_eq!(calendar.date(days), Some(date(year, month, day)), "{calendar:?} {days}");
            assert_eq!(calendar.days(date(year, month, day)), Some(days), "{calendar:?} {days}");
        }
    }

    /// The digests are of the answers of cftime 1.6.6.1: as FNV-1a, but of whole numbers `year * 10000 + month * 100 + day`
    /// instead of bytes, for each day from a million days before 1970 to a million days after.
    #[test]
    fn two_million_days_are_those_of_cftime() {
        for (calendar, digest) in DIGESTS {
            let mut hash = 0xcbf2_9ce4_8422_2325_u64;
            for days in -1_000_000..=1_000_000 {
                let found = calendar.date(days).unwrap();
                let number = found.year * 10_000 + i64::from(found.month) * 100 + i64::from(found.day);
                hash = (hash ^ number.cast_unsigned()).wrapping_mul(0x0000_0100_0000_01b3);
                assert_eq!(calendar.days(found), Some(days), "{calendar:?}");
            }
            assert_eq!(hash, digest, "{calendar:?}");
        }
    }

    #[test]
    fn dates_that_a_calendar_lacks_have_no_days() {
        for (calendar, (year, month, day)) in [
            (Standard, (1582, 10, 5)),
            (Standard, (1582, 10, 14)),
            (Standard, (0, 1, 1)),
            (Standard, (1900, 2, 29)),
            (Julian, (0, 1, 1)),
            (Julian, (1901, 2, 29)),
            (ProlepticGregorian, (1900, 2, 29)),
            (NoLeap, (2000, 2, 29)),
            (AllLeap, (2000, 2, 30)),
            (AllLeap, (2000, 4, 31)),
            (Days360, (2000, 1, 31)),
            (Standard, (2000, 0, 1)),
            (Standard, (2000, 13, 1)),
            (Standard, (2000, 1, 0)),
            (Standard, (2000, 1, 255)),
            (Standard, (i64::MIN, 1, 1)),
            (NoLeap, (i64::MAX, 12, 31)),
        ] {
            assert_eq!(calendar.days(date(year, month, day)), None, "{calendar:?} {year}-{month}-{day}");
        }
    }

    #[test]
    fn days_far_from_the_epoch_keep_their_number_or_have_no_date() {
        for &calendar in Calendar::ALL {
            for days in [i64::MIN, i64::MAX, MOST_DAYS + 1, -MOST_DAYS - 1] {
                assert_eq!(calendar.date(days), None, "{calendar:?} {days}");
            }
            for days in [i64::MIN / 86_400, i64::MAX / 86_400, MOST_DAYS - 400, 400 - MOST_DAYS] {
                let date = calendar.date(days).unwrap();
                assert_eq!(calendar.days(date), Some(days), "{calendar:?} {date:?}");
            }
        }
    }

    #[test]
    fn names_in_any_case() {
        for &calendar in Calendar::ALL {
            assert_eq!(Calendar::from_name(&calendar.name().to_uppercase()), Some(calendar));
        }
        assert_eq!(Calendar::from_name("Gregorian"), Some(Standard));
        assert_eq!(Calendar::from_name("365_day"), Some(NoLeap));
        assert_eq!(Calendar::from_name("366_day"), Some(AllLeap));
        for unknown in ["none", "tai", "utc", "", " standard"] {
            assert_eq!(Calendar::from_name(unknown), None, "{unknown}");
        }
    }

    const DIGESTS: [(Calendar, u64); 6] = [
        (Standard, 0x6cbe_f01f_6349_575f),
        (ProlepticGregorian, 0xc7dd_d017_1374_a30e),
        (Julian, 0xf138_92de_dbde_6ff7),
        (NoLeap, 0xb8ca_b443_bb8d_81f0),
        (AllLeap, 0x26f4_6839_fffd_3ff2),
        (Days360, 0xc9ca_9abf_9dda_fcfe),
    ];
}
