//! One block of elements, reduced in memory.

use std::ops::Range;

use zarr_array::{Array, ArrayErrorKind};

use super::factors::Factors;
use super::kernel::Kernel;
use super::levels::shorter;
use super::method::Downsample;
use super::missing::MissingValues;
use super::plan::has_other_sign;
use super::work::{fixed, lengths, zeroed};
use crate::elements::Elements;
use crate::error::{CopyError, CopyResult};
use crate::told::array_of;

/// Reads a part of an array and returns it reduced by factors, as [`Pyramid`](super::Pyramid) makes the next level: the shape,
/// and the elements in C order, as bytes in the byte order of this machine. Boxes begin at the start of the part; those at its end
/// may have fewer elements. What the array declares as missing does not count.
///
/// ```
/// # #[cfg(feature = "standard")] {
/// # use zarr_copy::zarr_hierarchy::zarr_array::{ArrayMeta, Array, DataType, Storage, block_on, blocking, standard};
/// use zarr_copy::pyramid::{Downsample, Factors, downsample};
///
/// # let storage = Storage::from(zarr_store::MemoryStore::new());
/// # let meta = ArrayMeta::builder([2, 6], DataType::UInt8).chunks([2, 2]).dimension_names(["y", "x"]).build()?;
/// # blocking::Array::create(storage.clone(), "/", meta, &standard())?.write(.., &(0..12).collect::<Vec<u8>>()[..])?;
/// let array = block_on(Array::open(storage, "/", &standard()))?; // 0, 1, … in two rows
/// let factors: Factors = "y=2,x=2".parse()?;
/// let block = block_on(downsample(&array, &[0..2, 1..6], &factors, Downsample::Max))?;
/// assert_eq!(block, (vec![1, 3], vec![8, 10, 11]));
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Settings`](crate::CopyErrorKind::Settings) if the factors do not fit; [`Unsupported`](ArrayErrorKind::Unsupported) for
/// elements that cannot be reduced by the method; and those of reading the part.
pub async fn downsample(
    array: &Array,
    part: &[Range<u64>],
    factors: &Factors,
    method: Downsample,
) -> CopyResult<(Vec<u64>, Vec<u8>)> {
    block(array, part, factors, method).await.map_err(|e| e.within(array_of(array)))
}

async fn block(
    array: &Array,
    part: &[Range<u64>],
    factors: &Factors,
    method: Downsample,
) -> CopyResult<(Vec<u64>, Vec<u8>)> {
    if let Some(obstacle) = method.obstacle(array.data_type()) {
        return Err(CopyError::unsupported(obstacle));
    }
    let rank = array.shape().len();
    let names = array.metadata().dimension_names().filter(|names| names.len() == rank);
    let names = names.map_or_else(|| vec![None; rank], <[Option<String>]>::to_vec);
    let factors = factors.of(&names).map_err(|e| CopyError::settings(format!("`factors`: {e}")))?;
    let missing = MissingValues::Declared.of(array, false)?;
    let kernel = Kernel::new(array.data_type(), method, has_other_sign(array), missing);
    let elements = fixed(Elements::read(array, part).await?)?;
    let from = lengths(part);
    let shape = shorter(&from, &factors);
    let mut to = zeroed(array.data_type(), &shape)?;
    let made = kernel.run((&elements, &from), &factors, (&mut to, &shape), &vec![0; rank]);
    made.map_err(|e| CopyError::node(ArrayErrorKind::InvalidArgument, e.to_string()))?;
    Ok((shape, to))
}
