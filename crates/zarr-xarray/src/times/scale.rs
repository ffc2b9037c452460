//! The meaning of a stored number: a number of steps after a reference.

use super::{NOT_A_TIME, count_of};
use crate::error::{XarrayError, XarrayResult};
use crate::units::{TimeUnit, Unit};

/// Converts stored numbers to counts of a unit, and back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Scale {
    /// The number of counts in one stored unit.
    step: i64,
    /// The reference as a count.
    reference: i128,
    /// The reference modulo 2^64.
    wrapped: i64,
    /// The smallest and the largest whole number whose counts fit, if there are any. [`NOT_A_TIME`] is not between them.
    fitting: Option<(i64, i64)>,
    /// Whether the fraction of a count is truncated, not rounded.
    cuts: bool,
}

impl Scale {
    /// Returns the scale from `stored` units after `reference`, in nanoseconds, to counts of `unit`.
    ///
    /// # Errors
    /// `Invalid` if `unit` is too coarse: the counts would not be whole.
    pub(crate) fn new(stored: Unit, reference: i128, unit: TimeUnit) -> XarrayResult<Self> {
        let length = unit.nanoseconds();
        if stored.nanoseconds() % length != 0 || reference % i128::from(length) != 0 {
            let (stored, unit) = (stored.name(), unit.name());
            return Err(XarrayError::invalid(format!(
                "{stored} since this reference are not whole numbers of {unit}"
            )));
        }
        let (step, reference) = (stored.nanoseconds() / length, reference / i128::from(length));
        Ok(Self::of(step, reference, unit == TimeUnit::Nanoseconds))
    }

    #[expect(clippy::cast_possible_truncation, reason = "sums are taken modulo 2^64")]
    fn of(step: i64, reference: i128, cuts: bool) -> Self {
        let [first, last] = [NOT_A_TIME + 1, i64::MAX].map(|count| i128::from(count) - reference);
        let first = -(-first).div_euclid(step.into());
        let last = last.div_euclid(step.into());
        let [first, last] = [first.max((NOT_A_TIME + 1).into()), last.min(i64::MAX.into())];
        // Both are in 64 bits, or the first is larger.
        let fitting = (first <= last).then_some((first as i64, last as i64));
        Self { step, reference, wrapped: reference as i64, fitting, cuts }
    }

    /// Whether the reference is in the range of counts.
    pub(crate) fn reaches_reference(self) -> bool {
        count_of(self.reference).is_some()
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
    ///
    /// Nanoseconds are truncated, as xarray does for `datetime64`. Other units are rounded, as cftime does.
    pub(crate) fn float(self, number: f64) -> Option<i64> {
        let step = self.step as f64;
        if number.is_nan() {
            return Some(NOT_A_TIME);
        }
        let count = if self.cuts {
            whole(number * step)?
        } else {
            // The whole part is exact, so that a large count keeps its digits.
            whole(number)? * i128::from(self.step) + whole((number.fract() * step).round_ties_even())?
        };
        count_of(count + self.reference)
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

    /// Returns the same scale for numbers that have been multiplied by the step.
    pub(crate) fn of_counts(self) -> Self {
        Self::of(1, self.reference, self.cuts)
    }

    /// The factor from stored numbers to counts.
    pub(crate) fn factor(self) -> f64 {
        self.step as f64
    }
}

/// Returns the whole part of a float, or `None` beyond 2^70, which no count reaches.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the float is smaller than i128::MAX, truncation is wanted"
)]
fn whole(float: f64) -> Option<i128> {
    (float.abs() < 2.0_f64.powi(70)).then_some(float as i128)
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
                let scale = Scale::new(unit, reference * 1_000_000_000, TimeUnit::Seconds).unwrap();
                let edge = i64::MAX / scale.step;
                let any = (0..200).map(|_| random.i64(..) >> random.u32(..64)).collect::<Vec<_>>();
                for number in [0, 1, -1, edge, -edge, edge.saturating_add(1), i64::MAX].into_iter().chain(any)
                {
                    let wanted = if number == NOT_A_TIME { Some(NOT_A_TIME) } else { wide(scale, number) };
                    assert_eq!(scale.integer(number.into()), wanted, "{number} {unit:?} since {reference}");
                }
            }
        }
        assert_eq!(
            Scale::new(Unit::Days, 0, TimeUnit::Seconds).unwrap().integer(NOT_A_TIME.into()),
            Some(NOT_A_TIME)
        );
    }
}
