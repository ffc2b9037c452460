//! Elements in memory as numbers.

use std::marker::PhantomData;

use zarr_array::traits::number::{FloatFormat, Numeric, Real, Rounding};

/// A format of elements in the byte order of this machine.
pub(super) trait Number: Copy {
    /// The bytes of an element.
    type Raw: Copy;
    type Value: Copy + PartialOrd;

    fn raws(bytes: &[u8]) -> &[Self::Raw];
    fn raws_mut(bytes: &mut [u8]) -> &mut [Self::Raw];
    fn load(self, raw: Self::Raw) -> Self::Value;
    fn store(self, value: Self::Value) -> Self::Raw;
    fn is_nan(self, value: Self::Value) -> bool;

    /// Returns the mean of values, of which there is at least one.
    fn mean(self, values: &[Self::Value]) -> Self::Value;
}

/// Returns the integer nearest to `total / count`, the even one of two.
pub(super) fn half_even(total: i128, count: i128) -> i128 {
    let (quotient, twice) = (total.div_euclid(count), 2 * total.rem_euclid(count));
    quotient + i128::from(twice > count || twice == count && quotient & 1 == 1)
}

/// Returns the mean of floats: their sum in C order in double precision, and one division.
fn mean_of_floats(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len() as f64;
    values.reduce(|sum, value| sum + value).unwrap_or(f64::NAN) / count
}

/// The elements are values of a type of Rust.
#[derive(Debug, Clone, Copy)]
pub(super) struct Of<T>(PhantomData<T>);

impl<T> Of<T> {
    pub(super) const fn new() -> Self {
        Self(PhantomData)
    }
}

/// The methods that are the same for all types of Rust.
macro_rules! native {
    ($type:ty) => {
        type Raw = [u8; size_of::<$type>()];
        type Value = $type;

        fn raws(bytes: &[u8]) -> &[Self::Raw] {
            bytes.as_chunks().0
        }

        fn raws_mut(bytes: &mut [u8]) -> &mut [Self::Raw] {
            bytes.as_chunks_mut().0
        }

        #[inline]
        fn load(self, raw: Self::Raw) -> $type {
            <$type>::from_ne_bytes(raw)
        }

        #[inline]
        fn store(self, value: $type) -> Self::Raw {
            value.to_ne_bytes()
        }
    };
}

macro_rules! integers {
    ($($type:ty)*) => {$(
        impl Number for Of<$type> {
            native!($type);

            #[inline]
            fn is_nan(self, _: $type) -> bool {
                false
            }

            fn mean(self, values: &[$type]) -> $type {
                let total: i128 = values.iter().map(|value| i128::from(*value)).sum();
                // A mean lies between the values.
                half_even(total, values.len() as i128).try_into().unwrap_or_default()
            }
        }
    )*};
}

integers!(u8 i8 u16 i16 u32 i32 u64 i64);

impl Number for Of<f64> {
    native!(f64);

    #[inline]
    fn is_nan(self, value: f64) -> bool {
        value.is_nan()
    }

    fn mean(self, values: &[f64]) -> f64 {
        mean_of_floats(values.iter().copied())
    }
}

impl Number for Of<f32> {
    native!(f32);

    #[inline]
    fn is_nan(self, value: f32) -> bool {
        value.is_nan()
    }

    #[expect(clippy::cast_possible_truncation, reason = "the mean is rounded once")]
    fn mean(self, values: &[f32]) -> f32 {
        mean_of_floats(values.iter().copied().map(f64::from)) as f32
    }
}

/// Floats in any format of `SIZE` bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Small<const SIZE: usize>(pub(super) FloatFormat);

/// Reads a float.
fn load(format: FloatFormat, bytes: &[u8]) -> f64 {
    format.to_f64(Numeric::Float(format).load(bytes))
}

/// Writes the float that is nearest to a value. Formats without infinities get their largest number.
fn store(format: FloatFormat, value: f64, bytes: &mut [u8]) {
    let bits = format.round(Real::from(value), Rounding::NearestEven);
    let bits = bits.or_else(|beyond| format.clamp(beyond).or(format.nan()).ok_or(beyond));
    Numeric::Float(format).store(bits.unwrap_or_default(), bytes);
}

impl<const SIZE: usize> Number for Small<SIZE> {
    type Raw = [u8; SIZE];
    type Value = f64;

    fn raws(bytes: &[u8]) -> &[Self::Raw] {
        bytes.as_chunks().0
    }

    fn raws_mut(bytes: &mut [u8]) -> &mut [Self::Raw] {
        bytes.as_chunks_mut().0
    }

    fn load(self, raw: Self::Raw) -> f64 {
        load(self.0, &raw)
    }

    fn store(self, value: f64) -> Self::Raw {
        let mut raw = [0; SIZE];
        store(self.0, value, &mut raw);
        raw
    }

    fn is_nan(self, value: f64) -> bool {
        value.is_nan()
    }

    fn mean(self, values: &[f64]) -> f64 {
        mean_of_floats(values.iter().copied())
    }
}

/// Complex numbers of `SIZE` bytes, whose parts are floats.
#[derive(Debug, Clone, Copy)]
pub(super) struct Complex<const SIZE: usize>(pub(super) FloatFormat);

impl<const SIZE: usize> Number for Complex<SIZE> {
    type Raw = [u8; SIZE];
    type Value = [f64; 2];

    fn raws(bytes: &[u8]) -> &[Self::Raw] {
        bytes.as_chunks().0
    }

    fn raws_mut(bytes: &mut [u8]) -> &mut [Self::Raw] {
        bytes.as_chunks_mut().0
    }

    fn load(self, raw: Self::Raw) -> [f64; 2] {
        let (real, imaginary) = raw.split_at(SIZE / 2);
        [real, imaginary].map(|part| load(self.0, part))
    }

    fn store(self, value: [f64; 2]) -> Self::Raw {
        let mut raw = [0; SIZE];
        for (part, value) in raw.chunks_exact_mut(SIZE / 2).zip(value) {
            store(self.0, value, part);
        }
        raw
    }

    fn is_nan(self, value: [f64; 2]) -> bool {
        value.iter().any(|part| part.is_nan())
    }

    fn mean(self, values: &[[f64; 2]]) -> [f64; 2] {
        [0, 1].map(|part| mean_of_floats(values.iter().map(|value| value[part])))
    }
}
