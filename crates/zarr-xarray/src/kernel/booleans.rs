//! Booleans that are stored as numbers, in arrays with the attribute `dtype: "bool"`.

use zarr_array::traits::number::with_number;

use super::element::{Real, try_each};
use super::packing::{Packing, masked};
use crate::error::XarrayResult;
use crate::number::NumberType;

/// Decodes booleans, one byte each. Every number except 0 is true, also NaN and a missing number: xarray turns missing
/// numbers into NaN first.
///
/// # Errors
/// `Invalid` if `dst` does not have one byte for each element of `src`, and for complex numbers.
pub fn decode_booleans(packing: &Packing, src: &[u8], dst: &mut [u8]) -> XarrayResult<()> {
    let (yes, no) = (1_u8, 0_u8);
    with_number!(
        packing.stored,
        S => masked(src, dst, &packing.missing_elements(), yes, |s: S| if s.to_f64() == 0.0 { no } else { yes }),
        Err(packing.impossible())
    )
}

/// Encodes booleans, one byte each, as the numbers 0 and 1.
///
/// # Errors
/// `Invalid` if `src` does not have one byte for each element of `dst`, and for complex numbers.
pub fn encode_booleans(stored: NumberType, src: &[u8], dst: &mut [u8]) -> XarrayResult<()> {
    with_number!(
        stored,
        S => try_each(src, dst, |truth: u8| S::of_integer(i128::from(truth != 0)), |truth| truth.to_string()),
        Err(Packing::plain(stored).impossible())
    )
}
