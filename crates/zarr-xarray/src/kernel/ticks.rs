//! Times and spans: stored numbers to counts of a fixed unit since 1970, and back.
//!
//! [`decode_times`](crate::decode_times) chooses the unit from the values of a whole axis. Here the caller gives the
//! unit, so each chunk can be decoded alone.

use zarr_array::traits::number::with_number;

use super::element::{Float as _, Real, each, extremes, try_each};
use super::packing::{Missing, Packing, refused, too_far, try_masked};
use crate::error::{XarrayError, XarrayResult};
use crate::number::NumberType;
use crate::times::NOT_A_TIME;
use crate::times::scale::{Axis, Scale};
use crate::units::{TimeUnit, TimeUnits, Unit};

/// The stored form of times or spans, and the unit of the decoded counts.
#[derive(Debug, Clone, PartialEq)]
pub struct TimeCoding {
    packing: Packing,
    scale: Scale,
}

impl TimeCoding {
    /// Returns the coding of times that are stored as counts of `units` and decoded in `unit`.
    ///
    /// Decoded elements equal those of a whole axis, for which [`decode_times`](crate::decode_times) was asked for
    /// `wanted` and has chosen `unit`.
    ///
    /// # Errors
    /// `Invalid` if `unit` is too coarse for the units or their reference.
    pub fn times(
        packing: Packing,
        units: &TimeUnits,
        wanted: TimeUnit,
        unit: TimeUnit,
    ) -> XarrayResult<Self> {
        Ok(Self { packing, scale: Axis::times(units).scale(wanted, unit)? })
    }

    /// Returns the coding of spans that are stored as counts of `stored` and decoded in `unit`.
    ///
    /// Decoded elements equal those for which [`decode_spans`](crate::decode_spans) was asked for `wanted` and has
    /// chosen `unit`.
    ///
    /// # Errors
    /// `Invalid` if `unit` is coarser than `stored`.
    pub fn spans(packing: Packing, stored: Unit, wanted: TimeUnit, unit: TimeUnit) -> XarrayResult<Self> {
        Ok(Self { packing, scale: Axis::spans(stored).scale(wanted, unit)? })
    }

    /// The type of the stored elements.
    pub fn stored(&self) -> NumberType {
        self.packing.stored
    }

    /// Decodes elements to `i64`. A missing element becomes [`NOT_A_TIME`], and so do NaN and the smallest int64.
    ///
    /// # Errors
    /// `OutOfRange` if a time is out of the range of the unit. The error names the first such element.
    pub fn decode(&self, src: &[u8], dst: &mut [u8]) -> XarrayResult<()> {
        let (factor, offset) = self.packing.factors::<f64>(-0.0);
        let is_exact = !self.packing.is_scaled();
        with_number!(
            self.packing.stored,
            S => {
                let missing = self.packing.missing_elements();
                if is_exact && self.decode_fitting::<S>(src, dst, &missing)? {
                    return Ok(());
                }
                let count = |stored: S| match stored.to_integer() {
                    Some(integer) if is_exact => self.scale.integer(integer),
                    _ => self.scale.float(stored.to_f64().scaled(factor, offset)),
                };
                try_masked(src, dst, &missing, NOT_A_TIME, count, too_far::<S>)
            },
            Err(self.packing.impossible())
        )
    }

    /// Decodes whole numbers if the counts of all of them fit. Two loops without branches are several times faster than
    /// one that looks at each number.
    fn decode_fitting<S: Real>(
        &self,
        src: &[u8],
        dst: &mut [u8],
        missing: &Missing<S>,
    ) -> XarrayResult<bool> {
        match *missing {
            Missing::None => self.decode_without(src, dst, |_: S| false),
            Missing::One(a) => self.decode_without(src, dst, |stored: S| stored == a),
            _ => Ok(false),
        }
    }

    fn decode_without<S: Real>(
        &self,
        src: &[u8],
        dst: &mut [u8],
        is_missing: impl Fn(S) -> bool,
    ) -> XarrayResult<bool> {
        let Some((low, high)) = extremes(src, &is_missing) else { return Ok(false) };
        let near = |stored: S| i64::try_from(stored.to_integer()?).ok();
        if !near(low).zip(near(high)).is_some_and(|(low, high)| self.scale.fits(low, high)) {
            return Ok(false);
        }
        each(src, dst, |stored| match near(stored) {
            Some(near) if !is_missing(stored) => self.scale.count(near),
            _ => NOT_A_TIME,
        })?;
        Ok(true)
    }

    /// Checks that encoded elements decode to `counts` again. Packed integers round.
    ///
    /// # Errors
    /// `OutOfRange` for the first element that differs.
    pub(crate) fn check_exact(&self, encoded: &[u8], counts: &[i64]) -> XarrayResult<()> {
        let mut decoded = vec![0; size_of_val(counts)];
        self.decode(encoded, &mut decoded)?;
        let pairs = decoded.as_chunks().0.iter().zip(counts);
        let differs = |(decoded, count): (&[u8; 8], &i64)| i64::from_ne_bytes(*decoded) != *count;
        pairs.into_iter().position(differs).map_or(Ok(()), |position| {
            let message = format!("element {position} lies between two numbers of the stored units");
            Err(XarrayError::out_of_range(message))
        })
    }

    /// Encodes elements of `i64`. [`NOT_A_TIME`] becomes the first missing value. Without missing values it becomes NaN
    /// in floats and is unchanged in int64.
    ///
    /// # Errors
    /// `OutOfRange` if the stored type does not have an element, also if an integer cannot express it in the stored
    /// units. The error names the first such element.
    pub fn encode(&self, src: &[u8], dst: &mut [u8]) -> XarrayResult<()> {
        let (factor, offset) = self.packing.factors::<f64>(0.0);
        let is_exact = !self.packing.is_scaled() && self.packing.stored.is_integer();
        with_number!(
            self.packing.stored,
            S => {
                let missing = self.packing.missing_elements::<S>().first();
                let none = missing.or(S::of_f64(f64::NAN)).or(S::of_integer(NOT_A_TIME.into()));
                let stored = |count: i64| match count {
                    NOT_A_TIME => none,
                    _ if is_exact => self.scale.steps(count).and_then(S::of_integer),
                    _ => S::of_f64(self.scale.fraction(count).unscaled(factor, offset)),
                };
                try_each(src, dst, stored, |count| refused(count as f64, self.packing.stored))
            },
            Err(self.packing.impossible())
        )
    }
}
