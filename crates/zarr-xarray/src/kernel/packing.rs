//! Numbers with missing values, a scale and an offset.
//!
//! Decoding compares an element with the missing values in its stored type, then multiplies and adds, and rounds after
//! each step. Encoding subtracts and divides, rounds to the nearest integer (ties to even), and refuses numbers that
//! the stored type does not have.

use zarr_array::traits::number::with_number;

use super::element::{Complex, Element, Float, Real, each, try_each};
use crate::error::{XarrayError, XarrayResult};
use crate::number::{NumberType, Scalar};
use crate::times::NOT_A_TIME;

/// How numbers are stored.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Packing {
    /// The type of the stored elements, after `_Unsigned` is applied.
    pub stored: NumberType,
    /// The missing values in the stored type. Encoding writes the first.
    pub missing: Vec<Scalar>,
    /// The attribute `scale_factor`.
    pub scale: Option<f64>,
    /// The attribute `add_offset`.
    pub offset: Option<f64>,
    /// The type of the decoded elements: the stored type, or a float if elements can be missing or are scaled.
    pub decoded: NumberType,
}

impl Packing {
    /// Returns a packing that changes nothing.
    pub const fn plain(stored: NumberType) -> Self {
        Self { stored, missing: Vec::new(), scale: None, offset: None, decoded: stored }
    }

    /// Sets the missing values, in the stored type.
    #[must_use]
    pub fn missing(self, missing: Vec<Scalar>) -> Self {
        Self { missing, ..self }
    }

    /// Sets the scale.
    #[must_use]
    pub fn scale(self, scale: impl Into<Option<f64>>) -> Self {
        Self { scale: scale.into(), ..self }
    }

    /// Sets the offset.
    #[must_use]
    pub fn offset(self, offset: impl Into<Option<f64>>) -> Self {
        Self { offset: offset.into(), ..self }
    }

    /// Sets the type of the decoded elements.
    #[must_use]
    pub fn decoded(self, decoded: NumberType) -> Self {
        Self { decoded, ..self }
    }

    /// Whether elements are scaled.
    pub fn is_scaled(&self) -> bool {
        self.scale.is_some() || self.offset.is_some()
    }

    /// Whether decoding changes nothing.
    pub fn is_plain(&self) -> bool {
        !self.is_scaled() && self.missing.is_empty() && self.stored == self.decoded
    }

    /// Decodes elements. Missing elements become NaN.
    ///
    /// # Errors
    /// `Invalid` if `dst` and `src` have different numbers of elements, and for a decoded type that is neither the
    /// stored type nor a float.
    pub fn decode(&self, src: &[u8], dst: &mut [u8]) -> XarrayResult<()> {
        match self.decoded {
            _ if self.is_plain() => each::<u8, u8>(src, dst, |byte| byte),
            NumberType::Float16 => self.decode_floats::<half::f16>(src, dst),
            NumberType::Float32 => self.decode_floats::<f32>(src, dst),
            NumberType::Float64 => self.decode_floats::<f64>(src, dst),
            NumberType::Complex64 if self.stored == self.decoded => {
                masked(src, dst, &self.missing_elements(), Complex(f32::NAN, f32::NAN), |s: Complex<f32>| s)
            }
            NumberType::Complex128 if self.stored == self.decoded => {
                masked(src, dst, &self.missing_elements(), Complex(f64::NAN, f64::NAN), |s: Complex<f64>| s)
            }
            _ => Err(self.impossible()),
        }
    }

    /// Decodes whole numbers of time units to `i64`. A missing element becomes [`NOT_A_TIME`](crate::NOT_A_TIME).
    ///
    /// # Errors
    /// `OutOfRange` for a number that `i64` does not have. The error names the first such element. `Invalid` as
    /// [`decode`](Self::decode), and for floats.
    pub(crate) fn decode_counts(&self, src: &[u8], dst: &mut [u8]) -> XarrayResult<()> {
        with_number!(
            self.stored,
            S => {
                let count = |stored: S| i64::try_from(stored.to_integer()?).ok();
                try_masked(src, dst, &self.missing_elements(), NOT_A_TIME, count, too_far::<S>)
            },
            Err(self.impossible())
        )
    }

    fn decode_floats<D: Float>(&self, src: &[u8], dst: &mut [u8]) -> XarrayResult<()> {
        let (scale, offset) = self.factors::<D>(-0.0);
        with_number!(
            self.stored,
            S => if self.is_scaled() {
                let scaled = |s: S| D::nearest(s.to_f64()).scaled(scale, offset);
                masked(src, dst, &self.missing_elements(), D::NAN, scaled)
            } else {
                masked(src, dst, &self.missing_elements(), D::NAN, |s: S| D::nearest(s.to_f64()))
            },
            Err(self.impossible())
        )
    }

    /// Encodes elements of type `given`: float16, float32 or float64, or the stored type if elements are not scaled.
    /// NaN becomes the first missing value.
    ///
    /// The arithmetic is in float64, and with missing values in `given`, as in xarray.
    ///
    /// # Errors
    /// `OutOfRange` if the stored type does not have an element: a number out of range, a finite number that would
    /// become infinite, or NaN in an integer type without a missing value. The error names the first such element.
    pub fn encode(&self, given: NumberType, src: &[u8], dst: &mut [u8]) -> XarrayResult<()> {
        let is_untouched = given == self.stored && !self.is_scaled();
        match given {
            _ if is_untouched && (self.missing.is_empty() || !given.is_float()) => {
                each::<u8, u8>(src, dst, |byte| byte)
            }
            NumberType::Float16 if !self.missing.is_empty() => {
                self.encode_floats::<half::f16, half::f16>(src, dst)
            }
            NumberType::Float32 if !self.missing.is_empty() => self.encode_floats::<f32, f32>(src, dst),
            NumberType::Float16 => self.encode_floats::<half::f16, f64>(src, dst),
            NumberType::Float32 => self.encode_floats::<f32, f64>(src, dst),
            NumberType::Float64 => self.encode_floats::<f64, f64>(src, dst),
            _ => Err(self.impossible()),
        }
    }

    /// Encodes elements of type `G` with arithmetic in type `A`.
    fn encode_floats<G: Float, A: Float>(&self, src: &[u8], dst: &mut [u8]) -> XarrayResult<()> {
        let (scale, offset) = self.factors::<A>(0.0);
        let is_scaled = self.is_scaled();
        with_number!(
            self.stored,
            S => {
                let missing = self.missing_elements::<S>().first().or_else(|| S::of_f64(f64::NAN));
                let encoded = |given: G| {
                    let float = given.to_f64();
                    match (float.is_nan(), is_scaled) {
                        (true, _) => missing,
                        (false, true) => S::of_f64(A::nearest(float).unscaled(scale, offset).to_f64()),
                        (false, false) => S::of_f64(float),
                    }
                };
                try_each(src, dst, encoded, |given| refused(given.to_f64(), self.stored))
            },
            Err(self.impossible())
        )
    }

    /// Returns scale and offset in the type of the arithmetic. `zero` replaces a missing offset. It must keep the sign
    /// of 0: −0 if it is added, 0 if it is subtracted.
    pub(super) fn factors<A: Float>(&self, zero: f64) -> (A, A) {
        (A::nearest(self.scale.unwrap_or(1.0)), A::nearest(self.offset.unwrap_or(zero)))
    }

    /// Returns the missing values as elements.
    pub(super) fn missing_elements<S: Element>(&self) -> Missing<S> {
        let mut found = self.missing.iter().filter_map(|scalar| S::of(*scalar));
        match (found.next(), found.next(), found.next()) {
            (None, ..) => Missing::None,
            (Some(a), None, _) => Missing::One(a),
            (Some(a), Some(b), None) => Missing::Two(a, b),
            (Some(a), Some(b), Some(c)) => Missing::Many([a, b, c].into_iter().chain(found).collect()),
        }
    }

    pub(super) fn impossible(&self) -> XarrayError {
        let (stored, decoded) = (self.stored.name(), self.decoded.name());
        XarrayError::invalid(format!("elements of {stored} cannot be decoded to {decoded}"))
    }
}

/// Returns the reason why a number is refused.
pub(super) fn refused(float: f64, stored: NumberType) -> String {
    format!("is {float}, which {} does not have", stored.name())
}

/// Returns the reason why a number is no count of a time.
pub(super) fn too_far<S: Real>(stored: S) -> String {
    format!("({}) is too far away", stored.to_f64())
}

/// The missing values of a type. Each number of values has a loop of its own, which the compiler can turn into vector
/// instructions.
pub(super) enum Missing<S> {
    None,
    One(S),
    Two(S, S),
    Many(Vec<S>),
}

impl<S: Element> Missing<S> {
    /// The value that encoding writes.
    pub(super) fn first(&self) -> Option<S> {
        match self {
            Self::None => None,
            Self::One(first) | Self::Two(first, _) => Some(*first),
            Self::Many(all) => all.first().copied(),
        }
    }
}

/// Replaces missing elements by `none` and converts all others with `make`.
pub(super) fn masked<S: Element, D: Element>(
    src: &[u8],
    dst: &mut [u8],
    missing: &Missing<S>,
    none: D,
    make: impl Fn(S) -> D,
) -> XarrayResult<()> {
    match missing {
        Missing::None => each(src, dst, make),
        Missing::One(a) => each(src, dst, |s| if s == *a { none } else { make(s) }),
        Missing::Two(a, b) => each(src, dst, |s| if (s == *a) | (s == *b) { none } else { make(s) }),
        Missing::Many(many) => each(src, dst, |s| if many.contains(&s) { none } else { make(s) }),
    }
}

/// Like [`masked`] for functions that may fail, as [`try_each`].
pub(super) fn try_masked<S: Element, D: Element>(
    src: &[u8],
    dst: &mut [u8],
    missing: &Missing<S>,
    none: D,
    make: impl Fn(S) -> Option<D>,
    wrong: impl Fn(S) -> String,
) -> XarrayResult<()> {
    match missing {
        Missing::None => try_each(src, dst, make, wrong),
        Missing::One(a) => try_each(src, dst, |s| if s == *a { Some(none) } else { make(s) }, wrong),
        Missing::Two(a, b) => {
            try_each(src, dst, |s| if (s == *a) | (s == *b) { Some(none) } else { make(s) }, wrong)
        }
        Missing::Many(many) => {
            try_each(src, dst, |s| if many.contains(&s) { Some(none) } else { make(s) }, wrong)
        }
    }
}
