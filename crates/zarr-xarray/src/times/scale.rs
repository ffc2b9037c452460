//! The meaning of a stored number: a number of steps after a reference.

use super::{NOT_A_TIME, count_of};
use crate::calendar::{Calendar, Date};
use crate::error::{XarrayError, XarrayResult};
use crate::units::{TimeUnit, TimeUnits, Unit};

/// Nanoseconds of a microsecond.
const MICROSECOND: i64 = 1000;

/// A stored unit and its reference.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Axis {
    stored: Unit,
    /// In nanoseconds.
    reference: i128,
    /// Whether xarray decodes with cftime, which rounds floats to microseconds, whatever unit is wanted.
    is_cftime: bool,
}

impl Axis {
    /// The axis of times with these units.
    pub(crate) fn times(units: &TimeUnits) -> Self {
        let is_julian = units.calendar() == Calendar::Standard && units.reference().date < Date::REFORM;
        let is_cftime = !units.calendar().is_civil() || is_julian;
        Self { stored: units.unit(), reference: units.nanoseconds(), is_cftime }
    }

    /// The axis of spans in a unit.
    pub(crate) fn spans(stored: Unit) -> Self {
        Self { stored, reference: 0, is_cftime: false }
    }

    /// Returns the longest unit in which whole counts are exact.
    pub(crate) fn resolution(self) -> TimeUnit {
        TimeUnit::dividing(self.stored.nanoseconds().into()).max(TimeUnit::dividing(self.reference))
    }

    /// Returns the scale to counts of `unit`, where the caller has asked for `wanted`.
    ///
    /// # Errors
    /// `Invalid` if `unit` is too coarse: the counts would not be whole.
    pub(crate) fn scale(self, wanted: TimeUnit, unit: TimeUnit) -> XarrayResult<Scale> {
        if self.resolution() > unit {
            let (stored, unit) = (self.stored.name(), unit.name());
            return Err(XarrayError::invalid(format!(
                "{stored} since this reference are not whole numbers of {unit}"
            )));
        }
        let wanted = wanted.max(self.resolution());
        let (step, reference) = (self.step(unit), self.reference / i128::from(unit.nanoseconds()));
        let is_near = unit != TimeUnit::Nanoseconds || count_of(reference).is_some();
        let floats = match unit >= wanted && is_near && !self.is_cftime {
            true => Floats::Products { first: self.step(wanted) as f64, wanted },
            false => Floats::Rounded,
        };
        let (wrapped, fitting) = fitting(step, reference);
        Ok(Scale { stored: self.stored, unit, step, reference, wrapped, fitting, floats })
    }

    /// The number of counts of `unit` in one stored unit.
    fn step(self, unit: TimeUnit) -> i64 {
        self.stored.nanoseconds() / unit.nanoseconds()
    }
}

/// Converts stored numbers to counts of a unit, and back.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scale {
    stored: Unit,
    /// The unit of the counts.
    unit: TimeUnit,
    /// The number of counts in one stored unit.
    step: i64,
    /// The reference as a count.
    reference: i128,
    /// The reference modulo 2^64.
    wrapped: i64,
    /// The smallest and the largest whole number whose counts fit, if there are any. [`NOT_A_TIME`] is not between them.
    fitting: Option<(i64, i64)>,
    floats: Floats,
}

/// The computation for floats.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Floats {
    /// As numpy: products of float64 with the counts in a stored unit, `first` of the wanted unit, then 1000 for each
    /// finer unit. Nanoseconds are truncated.
    Products { first: f64, wanted: TimeUnit },
    /// As cftime: the product is exact and rounded to microseconds.
    Rounded,
}

impl Scale {
    /// The unit of the counts.
    pub(crate) fn unit(self) -> TimeUnit {
        self.unit
    }

    /// Returns the count of a whole number, or `None` if it is out of range. [`NOT_A_TIME`] is unchanged.
    #[inline]
    pub(crate) fn integer(self, number: i128) -> Option<i64> {
        if number == i128::from(NOT_A_TIME) {
            return Some(NOT_A_TIME);
        }
        match i64::try_from(number) {
            Ok(near) if self.fits(near, near) => Some(self.count(near)),
            _ => None,
        }
    }

    /// Whether the counts of all whole numbers between two fit, so that [`count`](Self::count) gives them.
    #[inline]
    pub(crate) fn fits(self, smallest: i64, largest: i64) -> bool {
        self.fitting.is_some_and(|(first, last)| first <= smallest && largest <= last)
    }

    /// Returns the count of a whole number that fits. The result is right although the way to it may overflow.
    #[inline]
    pub(crate) fn count(self, number: i64) -> i64 {
        number.wrapping_mul(self.step).wrapping_add(self.wrapped)
    }

    /// Returns the count of a float, or `None` if it is out of range. NaN becomes [`NOT_A_TIME`].
    pub(crate) fn float(self, number: f64) -> Option<i64> {
        if number.is_nan() {
            return Some(NOT_A_TIME);
        }
        let count = match self.product(number) {
            // xarray truncates `datetime64`. In another unit only axes out of the range of nanoseconds have fractions.
            Some(product) if self.unit == TimeUnit::Nanoseconds || product.fract() == 0.0 => whole(product)?,
            _ => {
                let (length, unit) = (rounded(number, self.stored)?, i128::from(self.unit.nanoseconds()));
                nearest(length.div_euclid(unit), length.rem_euclid(unit), unit)
            }
        };
        count_of(count + self.reference)
    }

    /// Whether a float is a whole count or no finite number.
    pub(crate) fn is_whole(self, number: f64) -> bool {
        let is_multiple = |length: i128| length % i128::from(self.unit.nanoseconds()) == 0;
        match self.product(number) {
            _ if !number.is_finite() => true,
            Some(product) => product.fract() == 0.0,
            None => rounded(number, self.stored).is_none_or(is_multiple),
        }
    }

    /// Multiplies a float as xarray does: it tries each unit from the wanted one on. Returns `None` if xarray leaves
    /// that to cftime.
    fn product(self, number: f64) -> Option<f64> {
        let Floats::Products { first, wanted } = self.floats else { return None };
        let finer = TimeUnit::ALL.into_iter().filter(|unit| wanted < *unit && *unit <= self.unit);
        Some(finer.fold(number * first, |product, _| product * 1000.0))
    }

    /// Returns the number of steps from the reference to a count, or `None` if it is not whole.
    pub(crate) fn steps(self, count: i64) -> Option<i128> {
        let difference = i128::from(count) - self.reference;
        (difference % i128::from(self.step) == 0).then_some(difference / i128::from(self.step))
    }

    /// Returns the number of steps from the reference to a count.
    pub(crate) fn fraction(self, count: i64) -> f64 {
        (i128::from(count) - self.reference) as f64 / self.step as f64
    }
}

/// Returns the reference modulo 2^64, and the smallest and the largest whole number whose counts fit.
#[expect(clippy::cast_possible_truncation, reason = "sums are taken modulo 2^64")]
fn fitting(step: i64, reference: i128) -> (i64, Option<(i64, i64)>) {
    let [first, last] = [NOT_A_TIME + 1, i64::MAX].map(|count| i128::from(count) - reference);
    let first = -(-first).div_euclid(step.into());
    let last = last.div_euclid(step.into());
    let [first, last] = [first.max((NOT_A_TIME + 1).into()), last.min(i64::MAX.into())];
    // Both are in 64 bits, or the first is larger.
    (reference as i64, (first <= last).then_some((first as i64, last as i64)))
}

/// Returns the whole part of a float, or `None` beyond 2^70, which no count reaches.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the float is smaller than i128::MAX, truncation is wanted"
)]
fn whole(float: f64) -> Option<i128> {
    (float.abs() < 2.0_f64.powi(70)).then_some(float as i128)
}

/// Returns the length of a number of units in nanoseconds, or `None` if no count reaches it. The product is exact. It is
/// rounded to microseconds as cftime does, and for the unit `nanoseconds`, which cftime does not have, to nanoseconds.
#[expect(clippy::cast_possible_truncation, reason = "bits beyond 2^-80 are too small to decide a rounding")]
fn rounded(number: f64, stored: Unit) -> Option<i128> {
    const FRACTION: u32 = 80;
    let grain = MICROSECOND.min(stored.nanoseconds());
    let factor = i128::from(stored.nanoseconds() / grain);
    let parts = (number.fract() * (1_u128 << FRACTION) as f64) as i128 * factor;
    let (floor, rest) = (whole(number)? * factor + (parts >> FRACTION), parts & ((1 << FRACTION) - 1));
    let near = nearest(floor, rest, 1 << FRACTION);
    let count = match near.rem_euclid(1_000_000) {
        // cftime takes a microsecond beside a whole second for an error of rounding.
        1 if stored >= Unit::Seconds => floor,
        999_999 if stored >= Unit::Seconds => floor + i128::from(rest != 0),
        _ => near,
    };
    Some(count * i128::from(grain))
}

/// Returns the whole number nearest to `below + rest / by`, ties to even.
fn nearest(below: i128, rest: i128, by: i128) -> i128 {
    below + i128::from(2 * rest > by || 2 * rest == by && below % 2 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Arithmetic in 64 bits gives the counts of arithmetic in 128 bits, also where only the sum fits.
    #[test]
    fn counts_are_those_of_wide_arithmetic() {
        let wide = |scale: Scale, number: i64| {
            count_of(i128::from(number) * i128::from(scale.step) + scale.reference)
        };
        let mut random = fastrand::Rng::with_seed(5);
        let far = i128::from(i64::MAX);
        for reference in [0, -719_162 * 86_400, far, far + 1, -far, -far - 1, -far - 2, 3 * far] {
            for unit in [Unit::Seconds, Unit::Hours, Unit::Days] {
                let axis = Axis { stored: unit, reference: reference * 1_000_000_000, is_cftime: false };
                let scale = axis.scale(TimeUnit::Seconds, TimeUnit::Seconds).unwrap();
                let edge = i64::MAX / scale.step;
                let any = (0..200).map(|_| random.i64(..) >> random.u32(..64)).collect::<Vec<_>>();
                for number in [0, 1, -1, edge, -edge, edge.saturating_add(1), i64::MAX].into_iter().chain(any)
                {
                    let wanted = if number == NOT_A_TIME { Some(NOT_A_TIME) } else { wide(scale, number) };
                    assert_eq!(scale.integer(number.into()), wanted, "{number} {unit:?} since {reference}");
                }
            }
        }
        let days = Axis::spans(Unit::Days).scale(TimeUnit::Seconds, TimeUnit::Seconds).unwrap();
        assert_eq!(days.integer(NOT_A_TIME.into()), Some(NOT_A_TIME));
    }
}
