//! Typed loops over elements in slices of bytes.

use half::f16;

use crate::error::{XarrayError, XarrayResult};
use crate::number::Scalar;

/// A type of contiguous elements in the byte order of the machine.
pub(super) trait Element: Copy + PartialEq {
    /// The bytes of an element.
    type Bytes;

    /// Returns the elements of a slice. An incomplete last element is left out.
    fn all(memory: &[u8]) -> &[Self::Bytes];

    /// Like `all`, mutable.
    fn all_mut(memory: &mut [u8]) -> &mut [Self::Bytes];

    fn load(bytes: &Self::Bytes) -> Self;

    fn store(self, bytes: &mut Self::Bytes);

    /// Converts a number to this type, or returns `None` if the type cannot hold it exactly.
    fn of(scalar: Scalar) -> Option<Self>;
}

/// Elements that are real numbers.
pub(super) trait Real: Element + PartialOrd {
    fn to_f64(self) -> f64;

    /// Returns the number if the type is an integer type.
    fn to_integer(self) -> Option<i128>;

    /// Returns the nearest element, ties to even. Returns `None` if an integer type does not have the number, or if a
    /// finite number would become infinite.
    fn of_f64(float: f64) -> Option<Self>;

    /// Returns the element that equals an integer, or for floats the nearest element.
    fn of_integer(integer: i128) -> Option<Self>;
}

/// Floating point types.
pub(super) trait Float: Real {
    const NAN: Self;

    /// Returns the nearest element.
    fn nearest(float: f64) -> Self;

    /// `self * scale + offset`, rounded after each step.
    fn scaled(self, scale: Self, offset: Self) -> Self;

    /// `(self - offset) / scale`, rounded after each step.
    fn unscaled(self, scale: Self, offset: Self) -> Self;
}

macro_rules! element {
    ($($t:ty)*) => {$(
        impl Element for $t {
            type Bytes = [u8; size_of::<$t>()];

            fn all(memory: &[u8]) -> &[Self::Bytes] {
                memory.as_chunks().0
            }

            fn all_mut(memory: &mut [u8]) -> &mut [Self::Bytes] {
                memory.as_chunks_mut().0
            }

            fn load(bytes: &Self::Bytes) -> Self {
                Self::from_ne_bytes(*bytes)
            }

            fn store(self, bytes: &mut Self::Bytes) {
                *bytes = self.to_ne_bytes();
            }

            fn of(scalar: Scalar) -> Option<Self> {
                match scalar {
                    Scalar::Integer(integer) => Self::of_integer(integer),
                    scalar => Self::of_f64(scalar.to_f64()?),
                }
            }
        }
    )*};
}

element!(i8 i16 i32 i64 u8 u16 u32 u64 f16 f32 f64);

macro_rules! integers {
    ($($t:ty)*) => {$(
        #[expect(clippy::cast_possible_truncation, reason = "the float is a whole number within the range")]
        impl Real for $t {
            fn to_f64(self) -> f64 {
                self as f64
            }

            fn to_integer(self) -> Option<i128> {
                Some(self.into())
            }

            fn of_f64(float: f64) -> Option<Self> {
                // A float represents the power of two above the range exactly, but not always the largest integer.
                const BEYOND: f64 = (<$t>::MAX / 2 + 1) as f64 * 2.0;
                let float = float.round_ties_even();
                (float >= <$t>::MIN as f64 && float < BEYOND).then_some(float as $t)
            }

            fn of_integer(integer: i128) -> Option<Self> {
                integer.try_into().ok()
            }
        }
    )*};
}

integers!(i8 i16 i32 i64 u8 u16 u32 u64);

macro_rules! floats {
    ($($t:ty, $nearest:expr, $wide:expr;)*) => {$(
        impl Real for $t {
            fn to_f64(self) -> f64 {
                $wide(self)
            }

            fn to_integer(self) -> Option<i128> {
                None
            }

            fn of_f64(float: f64) -> Option<Self> {
                let nearest = Self::nearest(float);
                (nearest.is_finite() || !float.is_finite()).then_some(nearest)
            }

            fn of_integer(integer: i128) -> Option<Self> {
                Self::of_f64(integer as f64)
            }
        }

        impl Float for $t {
            const NAN: Self = <$t>::NAN;

            fn nearest(float: f64) -> Self {
                $nearest(float)
            }

            fn scaled(self, scale: Self, offset: Self) -> Self {
                self * scale + offset
            }

            fn unscaled(self, scale: Self, offset: Self) -> Self {
                (self - offset) / scale
            }
        }
    )*};
}

floats! {
    f16, f16::from_f64, f16::to_f64;
    f32, narrow, f64::from;
    f64, std::convert::identity, std::convert::identity;
}

#[expect(clippy::cast_possible_truncation, reason = "the number is rounded on purpose")]
fn narrow(float: f64) -> f32 {
    float as f32
}

/// A complex number.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Complex<T>(pub(super) T, pub(super) T);

macro_rules! complex {
    ($($t:ty)*) => {$(
        impl Element for Complex<$t> {
            type Bytes = [[u8; size_of::<$t>()]; 2];

            fn all(memory: &[u8]) -> &[Self::Bytes] {
                memory.as_chunks().0.as_chunks().0
            }

            fn all_mut(memory: &mut [u8]) -> &mut [Self::Bytes] {
                memory.as_chunks_mut().0.as_chunks_mut().0
            }

            fn load([real, imaginary]: &Self::Bytes) -> Self {
                Self(<$t>::load(real), <$t>::load(imaginary))
            }

            fn store(self, [real, imaginary]: &mut Self::Bytes) {
                self.0.store(real);
                self.1.store(imaginary);
            }

            fn of(scalar: Scalar) -> Option<Self> {
                match scalar {
                    Scalar::Complex(real, imaginary) => Some(Self(<$t>::nearest(real), <$t>::nearest(imaginary))),
                    real => Some(Self(<$t>::of(real)?, 0.0)),
                }
            }
        }
    )*};
}

complex!(f32 f64);

/// Returns the smallest and the largest element that is not missing; `None` if there is none.
pub(super) fn extremes<S: Real>(src: &[u8], is_missing: impl Fn(S) -> bool) -> Option<(S, S)> {
    let elements = || S::all(src).iter().map(S::load);
    let first = elements().find(|element| !is_missing(*element))?;
    Some(elements().fold((first, first), |(low, high), element| {
        let element = if is_missing(element) { first } else { element };
        (if element < low { element } else { low }, if element > high { element } else { high })
    }))
}

/// Calculates each element of `dst` from the element of `src` at the same position.
pub(super) fn each<S: Element, D: Element>(
    src: &[u8],
    dst: &mut [u8],
    make: impl Fn(S) -> D,
) -> XarrayResult<()> {
    check_lengths::<S, D>(src, dst)?;
    for (src, dst) in S::all(src).iter().zip(D::all_mut(dst)) {
        make(S::load(src)).store(dst);
    }
    Ok(())
}

/// Like [`each`] for functions that may fail. The error names the first such element and the reason.
pub(super) fn try_each<S: Element, D: Element>(
    src: &[u8],
    dst: &mut [u8],
    make: impl Fn(S) -> Option<D>,
    wrong: impl Fn(S) -> String,
) -> XarrayResult<()> {
    check_lengths::<S, D>(src, dst)?;
    for (position, (src, dst)) in S::all(src).iter().zip(D::all_mut(dst)).enumerate() {
        let Some(made) = make(S::load(src)) else {
            return Err(XarrayError::out_of_range(format!("element {position} {}", wrong(S::load(src)))));
        };
        made.store(dst);
    }
    Ok(())
}

/// Checks that source and destination have the same number of elements.
fn check_lengths<S: Element, D: Element>(src: &[u8], dst: &[u8]) -> XarrayResult<()> {
    let (src_size, dst_size) = (size_of::<S::Bytes>(), size_of::<D::Bytes>());
    let (src, dst) = (src.len(), dst.len());
    let is_whole = src.is_multiple_of(src_size) && dst.is_multiple_of(dst_size);
    if is_whole && src / src_size == dst / dst_size {
        return Ok(());
    }
    Err(XarrayError::invalid(format!(
        "{src} bytes with elements of {src_size} do not match {dst} bytes with elements of {dst_size}"
    )))
}
