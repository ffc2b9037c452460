//! Times of the crate `jiff`.

use ::jiff::civil::Date;
use ::jiff::tz::Offset;
use ::jiff::{SignedDuration, Span, Timestamp};

use super::{NO_LENGTH, Problem, Time, Unit, attoseconds, months, seconds, times, year_and_month};

times! {
    Timestamp => "jiff::Timestamp";
    SignedDuration => "jiff::SignedDuration";
    /// For spans in years and months. Others are [`SignedDuration`].
    Span => "jiff::Span";
}

impl Time for Timestamp {
    const OF: &'static str = super::DATETIME;

    fn new(unit: Unit, count: i128) -> Result<Self, Problem> {
        match unit {
            Unit::Month => {
                let (year, month) = year_and_month(count)?;
                let date = Date::new(year, month, 1).map_err(|_| Problem::Range)?;
                Offset::UTC.to_timestamp(date.at(0, 0, 0, 0)).map_err(|_| Problem::Range)
            }
            Unit::Attosecond => {
                let (seconds, nanoseconds) = seconds(count)?;
                Self::new(seconds, nanoseconds.cast_signed()).map_err(|_| Problem::Range)
            }
        }
    }

    fn count(&self, unit: Unit) -> Result<i128, Problem> {
        match unit {
            Unit::Month => {
                let time = Offset::UTC.to_datetime(*self);
                if time == time.date().first_of_month().at(0, 0, 0, 0) {
                    Ok(months(time.year(), time.month()))
                } else {
                    Err(Problem::Fraction)
                }
            }
            Unit::Attosecond => Ok(attoseconds(self.as_second(), self.subsec_nanosecond())),
        }
    }
}

impl Time for SignedDuration {
    const OF: &'static str = super::TIMEDELTA;

    fn refuses(unit: Unit) -> Option<&'static str> {
        (unit == Unit::Month).then_some(NO_LENGTH)
    }

    fn new(_: Unit, count: i128) -> Result<Self, Problem> {
        let (seconds, nanoseconds) = seconds(count)?;
        Ok(Self::new(seconds, nanoseconds.cast_signed()))
    }

    fn count(&self, _: Unit) -> Result<i128, Problem> {
        Ok(attoseconds(self.as_secs(), self.subsec_nanos()))
    }
}

impl Time for Span {
    const OF: &'static str = super::TIMEDELTA;

    fn refuses(unit: Unit) -> Option<&'static str> {
        (unit == Unit::Attosecond).then_some("such a span has a fixed length: use SignedDuration")
    }

    fn new(_: Unit, count: i128) -> Result<Self, Problem> {
        let range = |_| Problem::Range;
        let (years, months) = (i64::try_from(count / 12).map_err(|_| Problem::Range)?, count % 12);
        let months = i64::try_from(months).map_err(|_| Problem::Range)?;
        Self::new().try_years(years).and_then(|span| span.try_months(months)).map_err(range)
    }

    fn count(&self, _: Unit) -> Result<i128, Problem> {
        let months = i128::from(self.get_years()) * 12 + i128::from(self.get_months());
        let calendar = Self::new().try_years(self.get_years()).and_then(|s| s.try_months(self.get_months()));
        match calendar {
            Ok(calendar) if calendar.fieldwise() == *self => Ok(months),
            _ => Err(Problem::Kind("has units other than years and months, which cannot be stored")),
        }
    }
}
