//! Decodes stored numbers to times and spans, in a unit that suits all of them.

use std::fmt::Debug;

use super::scale::Scale;
use super::{Spans, Times};
use crate::error::{XarrayError, XarrayResult};
use crate::units::{TimeUnit, TimeUnits, Unit};

/// Numbers that count units of time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Counts<'a> {
    /// Whole numbers. [`NOT_A_TIME`](crate::NOT_A_TIME) is missing.
    Integers(&'a [i64]),
    /// Any numbers. NaN is missing.
    Floats(&'a [f64]),
}

/// Decodes a time axis. The result is in `unit`, or in a finer unit if the units or the fractions of floats need it. If
/// a time is out of the range of nanoseconds, the result is in microseconds.
///
/// Whole numbers are exact. A float is multiplied to nanoseconds and truncated, or to microseconds and rounded.
///
/// # Errors
/// `OutOfRange` if a time lies beyond ±292 thousand years, or out of the range of a coarser `unit`.
pub fn decode_times(counts: Counts<'_>, units: &TimeUnits, unit: TimeUnit) -> XarrayResult<Times> {
    let unit = unit.max(units.resolution());
    let times = |(unit, values)| Times::new(units.calendar(), unit, values);
    let axis = Axis { stored: units.unit(), reference: units.nanoseconds() };
    match axis.decode(counts, unit) {
        Err(too_far) if unit == TimeUnit::Nanoseconds || matches!(counts, Counts::Floats(_)) => {
            let far = axis.far(counts).map(times).map_err(|_| too_far)?;
            Ok(far.in_unit(TimeUnit::Nanoseconds).unwrap_or(far))
        }
        found => found.map(times),
    }
}

/// Decodes spans. The result is in `unit`, or in a finer unit if the stored unit or the fractions of floats need it.
///
/// # Errors
/// `OutOfRange` if a span is out of the range of the unit of the result.
pub fn decode_spans(counts: Counts<'_>, stored: Unit, unit: TimeUnit) -> XarrayResult<Spans> {
    let unit = unit.max(TimeUnit::dividing(i128::from(stored.nanoseconds())));
    let (unit, values) = Axis { stored, reference: 0 }.decode(counts, unit)?;
    Ok(Spans::new(unit, values))
}

/// The stored unit and its reference.
#[derive(Debug, Clone, Copy)]
struct Axis {
    stored: Unit,
    /// In nanoseconds.
    reference: i128,
}

/// Counts and their unit.
type Counted = (TimeUnit, Vec<i64>);

impl Axis {
    fn scale(self, unit: TimeUnit) -> XarrayResult<Scale> {
        Scale::new(self.stored, self.reference, unit)
    }

    /// Decodes in `unit`, or for floats in the first finer unit in which no float has a fraction.
    fn decode(self, counts: Counts<'_>, unit: TimeUnit) -> XarrayResult<Counted> {
        let scale = self.scale(unit)?;
        match counts {
            Counts::Integers(values) => Ok((unit, integers(values, scale)?)),
            Counts::Floats(_) if !scale.reaches_reference() => {
                Err(XarrayError::out_of_range("the reference time is too far away"))
            }
            Counts::Floats(values) => self.floats(values, unit, scale.factor()),
        }
    }

    fn floats(self, values: &[f64], mut unit: TimeUnit, factor: f64) -> XarrayResult<Counted> {
        let mut scaled: Vec<f64> = values.iter().map(|number| number * factor).collect();
        let has_fraction = |number: &f64| number.is_finite() && number.fract() != 0.0;
        while scaled.iter().any(has_fraction)
            && let Some(finer) = unit.finer()
        {
            scaled.iter_mut().for_each(|number| *number *= 1000.0);
            unit = finer;
        }
        let scale = self.scale(unit)?.of_counts();
        Ok((unit, each(&scaled, |number| scale.float(*number))?))
    }

    /// Decodes in microseconds.
    fn far(self, counts: Counts<'_>) -> XarrayResult<Counted> {
        let unit = TimeUnit::Microseconds;
        let scale = self.scale(unit)?;
        let values = match counts {
            Counts::Integers(values) => integers(values, scale)?,
            Counts::Floats(values) => each(values, |number| scale.float(*number))?,
        };
        Ok((unit, values))
    }
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
