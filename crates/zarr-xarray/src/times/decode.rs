//! Decodes stored numbers to times and spans, in a unit that suits all of them.

use std::fmt::Debug;

use super::scale::{Axis, Scale};
use super::{Spans, Times};
use crate::error::{XarrayError, XarrayResult};
use crate::units::{TimeUnit, TimeUnits, Unit};

/// Numbers that count units of time.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum StoredCounts<'a> {
    /// Whole numbers. [`NOT_A_TIME`](crate::NOT_A_TIME) is missing.
    Integers(&'a [i64]),
    /// Any numbers. NaN is missing.
    Floats(&'a [f64]),
}

/// Decodes a time axis. The result is in `unit`, or in a finer unit if the units or the fractions of floats need it. If
/// a time is out of the range of nanoseconds, the result is in microseconds.
///
/// Whole numbers are exact. Floats are decoded as xarray does. In calendars that are not
/// [civil](crate::Calendar::is_civil), in the standard calendar if the reference is before 1582-10-15, and beyond the
/// range of nanoseconds the product is exact and rounded to microseconds, as by cftime. Else it is one of float64, and
/// nanoseconds are truncated.
///
/// # Errors
/// `OutOfRange` if a time lies beyond ±292 thousand years, or out of the range of a coarser `unit`.
pub fn decode_times(counts: StoredCounts<'_>, units: &TimeUnits, unit: TimeUnit) -> XarrayResult<Times> {
    let axis = Axis::times(units);
    let wanted = unit.max(axis.resolution());
    let (unit, values) = match decode(axis, counts, wanted) {
        Err(too_far) if wanted == TimeUnit::Nanoseconds || matches!(counts, StoredCounts::Floats(_)) => {
            let far = axis.scale(wanted, TimeUnit::Microseconds).and_then(|scale| converted(counts, scale));
            far.map_err(|_| too_far)?
        }
        found => found?,
    };
    Ok(Times::new(units.calendar(), unit, values))
}

/// Decodes spans. The result is in `unit`, or in a finer unit if the stored unit or the fractions of floats need it.
///
/// # Errors
/// `OutOfRange` if a span is out of the range of the unit of the result.
pub fn decode_spans(counts: StoredCounts<'_>, stored: Unit, unit: TimeUnit) -> XarrayResult<Spans> {
    let axis = Axis::spans(stored);
    let (unit, values) = decode(axis, counts, unit.max(axis.resolution()))?;
    Ok(Spans::new(unit, values))
}

/// Counts and their unit.
type Counted = (TimeUnit, Vec<i64>);

/// Decodes in `wanted`, or for floats in the first finer unit in which no float has a fraction.
fn decode(axis: Axis, counts: StoredCounts<'_>, wanted: TimeUnit) -> XarrayResult<Counted> {
    let mut scale = axis.scale(wanted, wanted)?;
    if let StoredCounts::Floats(values) = counts {
        while let Some(finer) = scale.unit().finer()
            && !values.iter().all(|number| scale.is_whole(*number))
        {
            scale = axis.scale(wanted, finer)?;
        }
    }
    converted(counts, scale)
}

/// Converts all numbers with one scale.
fn converted(counts: StoredCounts<'_>, scale: Scale) -> XarrayResult<Counted> {
    let values = match counts {
        StoredCounts::Integers(values) => integers(values, scale)?,
        StoredCounts::Floats(values) => each(values, |number| scale.float(*number))?,
    };
    Ok((scale.unit(), values))
}

/// Converts whole numbers.
fn integers(values: &[i64], scale: Scale) -> XarrayResult<Vec<i64>> {
    // Two loops without branches are several times faster than one that looks at each number.
    let extremes = |(low, high): (i64, i64), number: &i64| (low.min(*number), high.max(*number));
    let (low, high) = values.iter().fold((i64::MAX, i64::MIN), extremes);
    match scale.fits(low, high) {
        true => Ok(values.iter().map(|number| scale.count(*number)).collect()),
        false => each(values, |number| scale.integer((*number).into())),
    }
}

/// Converts each element. The error names the first element without a result.
fn each<T: Debug>(values: &[T], one: impl Fn(&T) -> Option<i64>) -> XarrayResult<Vec<i64>> {
    // The memory is allocated once: a collected result would not know its length.
    let mut counts = Vec::with_capacity(values.len());
    for (position, value) in values.iter().enumerate() {
        let Some(count) = one(value) else {
            let message = format!("element {position} ({value:?}) is too far away");
            return Err(XarrayError::out_of_range(message));
        };
        counts.push(count);
    }
    Ok(counts)
}
