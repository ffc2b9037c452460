//! Times of the crate `chrono`.

use ::chrono::{DateTime, Datelike, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, Utc};

use super::{NO_LENGTH, Problem, Time, Unit, attoseconds, months, seconds, times, year_and_month};

times! {
    /// Times are read and written exactly, or not at all.
    ///
    /// ```
    /// # use zarr_array::{ArrayMeta, NdVec, blocking::Array, data_types, standard};
    /// # use zarr_store::MemoryStore;
    /// use chrono::{DateTime, NaiveDate, Utc};
    ///
    /// // numpy.datetime64, in steps of 6 hours; the fill value is NaT
    /// let meta = ArrayMeta::builder([3], data_types::datetime64("6h")?).fill(i64::MIN).build()?;
    /// let array = Array::create(MemoryStore::new(), "/time", meta, &standard())?;
    /// let noon = NaiveDate::from_ymd_opt(2024, 2, 29).unwrap().and_hms_opt(12, 0, 0).unwrap().and_utc();
    /// array.write(1, &[noon])?;
    /// let times: NdVec<Option<DateTime<Utc>>> = array.read(..)?;
    /// assert_eq!(times.as_slice(), [None, Some(noon), None]);
    /// assert!(array.read::<DateTime<Utc>>(..).is_err()); // NaT needs an `Option`
    /// let e = array.write(2, &[noon + chrono::TimeDelta::minutes(1)]).unwrap_err(); // between two steps
    /// assert!(e.to_string().contains("the element at [2]"));
    /// # Ok::<(), zarr_array::ArrayError>(())
    /// ```
    DateTime<Utc> => "chrono::DateTime<Utc>";
    NaiveDateTime => "chrono::NaiveDateTime";
    TimeDelta => "chrono::TimeDelta";
}

impl Time for DateTime<Utc> {
    const OF: &'static str = super::DATETIME;

    fn new(unit: Unit, count: i128) -> Result<Self, Problem> {
        match unit {
            Unit::Month => {
                let (year, month) = year_and_month(count)?;
                let date = NaiveDate::from_ymd_opt(year, month, 1).ok_or(Problem::Range)?;
                Ok(date.and_time(NaiveTime::MIN).and_utc())
            }
            Unit::Attosecond => {
                let (seconds, nanoseconds) = seconds(count)?;
                DateTime::from_timestamp(seconds, nanoseconds).ok_or(Problem::Range)
            }
        }
    }

    fn count(&self, unit: Unit) -> Result<i128, Problem> {
        let nanoseconds = self.timestamp_subsec_nanos();
        if nanoseconds >= 1_000_000_000 {
            return Err(Problem::Kind("is a leap second, which cannot be stored"));
        }
        match unit {
            Unit::Month if self.day() == 1 && self.time() == NaiveTime::MIN => {
                Ok(months(self.year(), self.month()))
            }
            Unit::Month => Err(Problem::Fraction),
            Unit::Attosecond => Ok(attoseconds(self.timestamp(), nanoseconds)),
        }
    }
}

impl Time for NaiveDateTime {
    const OF: &'static str = super::DATETIME;

    fn new(unit: Unit, count: i128) -> Result<Self, Problem> {
        DateTime::new(unit, count).map(|time| time.naive_utc())
    }

    fn count(&self, unit: Unit) -> Result<i128, Problem> {
        self.and_utc().count(unit)
    }
}

impl Time for TimeDelta {
    const OF: &'static str = super::TIMEDELTA;

    fn refuses(unit: Unit) -> Option<&'static str> {
        (unit == Unit::Month).then_some(NO_LENGTH)
    }

    fn new(_: Unit, count: i128) -> Result<Self, Problem> {
        let (seconds, nanoseconds) = seconds(count)?;
        Self::new(seconds, nanoseconds).ok_or(Problem::Range)
    }

    fn count(&self, _: Unit) -> Result<i128, Problem> {
        Ok(attoseconds(self.num_seconds(), self.subsec_nanos()))
    }
}
