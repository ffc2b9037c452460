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
        Ok(Self { step, reference, cuts: unit == TimeUnit::Nanoseconds })
    }

    /// Whether the reference is in the range of counts.
    pub(crate) fn reaches_reference(self) -> bool {
        count_of(self.reference).is_some()
    }

    /// Returns the count of a whole number, or `None` if it is out of range. [`NOT_A_TIME`] is unchanged.
    pub(crate) fn integer(self, number: i128) -> Option<i64> {
        match number == i128::from(NOT_A_TIME) {
            true => Some(NOT_A_TIME),
            false => count_of(number * i128::from(self.step) + self.reference),
        }
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
        Self { step: 1, ..self }
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
