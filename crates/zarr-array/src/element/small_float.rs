//! Floats of up to 8 bits as numbers.

use std::borrow::Cow;

use zarr_traits::{
    DataType,
    number::{FloatFormat, Numeric, Real, Rounding},
};

use super::{Element, Form, WriteElement};
use crate::error::ArrayResult;

/// The value of an element of `float8_…`, `float6_…` or `float4_…`.
///
/// `f32` represents all of them exactly. A write never rounds, because there are several ways to do so: a number that
/// is not exact is an error that names the element. NaN is written as the `"NaN"` of the specification.
///
/// ```
/// # fn example(weights: zarr_array::blocking::Array) -> zarr_array::ArrayResult<()> {
/// use zarr_array::{NdVec, SmallFloat};
///
/// let row: NdVec<SmallFloat> = weights.read((0, ..))?;
/// let sum: f32 = row.as_slice().iter().map(|weight| weight.0).sum();
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default)]
pub struct SmallFloat(pub f32);

impl WriteElement for SmallFloat {
    type Memory = u8;

    const NAME: &'static str = "a float of up to 8 bits";

    fn fits(data_type: &DataType) -> ArrayResult<bool> {
        Ok(format(data_type).is_some())
    }

    fn as_memory<'a>(elements: &'a [Self], form: &Form<'_>) -> ArrayResult<Cow<'a, [u8]>> {
        let byte = |(position, element): (usize, &Self)| {
            let byte = format(form.data_type()).and_then(|format| exact(format, element.0));
            let what = || format!("is {:?}, which {} cannot represent", element.0, form.data_type());
            byte.ok_or_else(|| form.wrong(position, what()))
        };
        elements.iter().enumerate().map(byte).collect()
    }
}

impl Element for SmallFloat {
    #[expect(clippy::cast_possible_truncation, reason = "f32 represents all of them exactly")]
    fn from_memory(memory: Vec<u8>, form: &Form<'_>) -> ArrayResult<Vec<Self>> {
        let Some(format) = format(form.data_type()) else { return Ok(Vec::new()) };
        let numbers: Vec<f32> = (0..=u8::MAX).map(|bits| format.to_f64(bits.into()) as f32).collect();
        Ok(memory.into_iter().map(|bits| Self(numbers[usize::from(bits)])).collect())
    }
}

/// Returns the format of the elements, if they are floats of one byte.
fn format(data_type: &DataType) -> Option<FloatFormat> {
    match data_type.numeric()? {
        Numeric::Float(format) if format.size() == 1 => Some(format),
        _ => None,
    }
}

/// Returns the bits of a number, or `None` if the format cannot represent it exactly.
fn exact(format: FloatFormat, number: f32) -> Option<u8> {
    let bits = format.round(Real::from(f64::from(number)), Rounding::TowardsZero).ok()?;
    let back = format.to_f64(bits);
    let is_same = back.is_nan() || back.to_bits() == f64::from(number).to_bits();
    u8::try_from(bits).ok().filter(|_| is_same)
}
