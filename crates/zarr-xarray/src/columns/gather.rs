//! Repeats the elements of one dimension for each row of a table.

use zarr_array::traits::strided::zeroed;
use zarr_array::{AnyArray, ArrayError, NdVec};

use crate::decoded::Decoded;
use crate::error::{XarrayError, XarrayResult};
use crate::times::{Spans, Times};

/// Returns the elements along dimension `axis` of a table of this shape, one for each of its rows.
///
/// # Errors
/// `Invalid` for elements that are not those of the dimension; `Access` if the memory is not available.
pub(super) fn along(values: Decoded, shape: &[u64], axis: usize) -> XarrayResult<Decoded> {
    let positions = positions(shape, axis)?;
    let count = vec![positions.len() as u64];
    macro_rules! picked {
        ($($variant:ident),*) => {
            match values {
                Decoded::Numbers(numbers) => match numbers {
                    $(AnyArray::$variant(values) => {
                        Decoded::Numbers(AnyArray::$variant(picked(values, count, &positions)?))
                    })*
                    _ => return Err(XarrayError::invalid("the elements of this type cannot be a column")),
                },
                Decoded::Booleans(values) => Decoded::Booleans(picked(values, count, &positions)?),
                Decoded::Texts(values) => Decoded::Texts(picked(values, count, &positions)?),
                Decoded::Bytes(values) => Decoded::Bytes(picked(values, count, &positions)?),
                Decoded::Times { times, .. } => {
                    let (calendar, unit) = (times.calendar(), times.unit());
                    Times::new(calendar, unit, pick(times.values(), &positions)?).into()
                }
                Decoded::Spans { spans, .. } => {
                    Spans::new(spans.unit(), pick(spans.values(), &positions)?).into()
                }
                Decoded::Other(_) => return Err(XarrayError::invalid("the elements cannot be a column")),
            }
        };
    }
    Ok(picked!(Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64, Float32, Float64))
}

/// Returns the position along `axis` of each row.
fn positions(shape: &[u64], axis: usize) -> XarrayResult<Vec<u64>> {
    let too_many = || XarrayError::out_of_range("the table has too many rows");
    let product = |lengths: &[u64]| {
        let product = lengths.iter().try_fold(1_u64, |product, length| product.checked_mul(*length));
        product.ok_or_else(too_many)
    };
    let length = product(shape.get(axis..).and_then(|rest| rest.get(..1)).unwrap_or(&[]))?;
    let inner = product(shape.get(axis.saturating_add(1)..).unwrap_or(&[]))?.max(1);
    let size = usize::try_from(product(shape)?).map_err(|_| too_many())?;
    let mut positions = zeroed::<u64>(size).map_err(ArrayError::from)?;
    for (row, position) in (0..).zip(&mut positions) {
        *position = row / inner % length.max(1);
    }
    Ok(positions)
}

fn picked<T: Clone>(values: NdVec<T>, count: Vec<u64>, positions: &[u64]) -> XarrayResult<NdVec<T>> {
    Ok(NdVec::new(count, pick(values.as_slice(), positions)?)?)
}

fn pick<T: Clone>(values: &[T], positions: &[u64]) -> XarrayResult<Vec<T>> {
    let short = || XarrayError::invalid("an index is shorter than its dimension");
    let one = |position: &u64| values.get(usize::try_from(*position).ok()?).cloned();
    positions.iter().map(|position| one(position).ok_or_else(short)).collect()
}
