//! Divides a variable between writers that share no chunk.

use std::collections::BTreeMap;
use std::ops::Range;

use zarr_array::Array;

use crate::error::{XarrayError, XarrayResult};
use crate::variable::Variable;

impl Variable {
    /// Divides the variable into regions of whole chunks, or of whole shards if it has shards. A region has at most
    /// `bytes` of stored elements, but at least one chunk. Writers of different regions share no object.
    ///
    /// ```
    /// # use zarr_xarray::{Dataset, XarrayResult, zarr_array::NdVec};
    /// # async fn example(dataset: Dataset) -> XarrayResult<()> {
    /// for region in dataset.variable("t2m")?.partitions(64 << 20)? {
    ///     // Each of these regions can be written by another worker.
    ///     let part = dataset.isel(region)?.variable("t2m")?;
    ///     let count = part.shape().iter().product::<u64>() as usize;
    ///     part.write(NdVec::new(part.shape(), vec![0.0; count])?).await?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Invalid`](crate::XarrayErrorKind::Invalid) after a selection, and for a dimension that occurs twice;
    /// [`Access`](crate::XarrayErrorKind::Access) if the array has an unknown codec.
    pub fn partitions(
        &self,
        bytes: u64,
    ) -> XarrayResult<impl Iterator<Item = BTreeMap<String, Range<i64>>> + use<>> {
        let names = &self.plan.dimensions;
        let is_whole = self.seen.names == *names && self.seen.shape == self.plan.shape;
        let is_twice = (1..names.len()).any(|at| names[..at].contains(&names[at]));
        if !is_whole || is_twice {
            let message = "only a whole variable whose dimensions have different names can be divided";
            return Err(XarrayError::invalid(message).with_variable(&self.name));
        }
        let array = self.reader()?.array.clone();
        let whole: Vec<_> = array.shape().iter().take(names.len()).map(|length| 0..*length).collect();
        let names = names.clone();
        let signed =
            |range: Range<u64>| Some(i64::try_from(range.start).ok()?..i64::try_from(range.end).ok()?);
        Ok(pieces(array, whole, bytes)?.filter_map(move |piece| {
            names.iter().zip(piece).map(|(name, range)| Some((name.clone(), signed(range)?))).collect()
        }))
    }
}

/// Divides a box of an array into pieces that share no chunk. A piece has at most `bytes` of elements, but at least one
/// chunk, as far as the box goes.
///
/// # Errors
/// `OutOfRange` if there are too many chunks.
pub(crate) fn pieces(
    array: Array,
    within: Vec<Range<u64>>,
    bytes: u64,
) -> XarrayResult<impl Iterator<Item = Vec<Range<u64>>> + use<>> {
    let chunks: Vec<Range<u64>> =
        within.iter().enumerate().map(|(axis, of)| touched(&array, axis, of)).collect();
    let counts: Vec<u64> = chunks.iter().map(|chunks| chunks.end - chunks.start).collect();
    let steps = blocks(&array, &counts, bytes);
    let total = counts
        .iter()
        .zip(&steps)
        .try_fold(1_u64, |total, (count, step)| total.checked_mul(count.div_ceil(*step)));
    let total = total.ok_or_else(|| XarrayError::out_of_range("there are too many chunks"))?;
    Ok((0..total).filter_map(move |number| {
        let mut rest = number;
        let mut piece = vec![0..0; within.len()];
        for (axis, range) in piece.iter_mut().enumerate().rev() {
            let (count, step) = (counts.get(axis)?, steps.get(axis)?);
            let blocks = count.div_ceil(*step);
            let first = rest % blocks * step;
            rest /= blocks;
            let last = first.saturating_add(*step).min(*count) - 1;
            let (offset, of) = (chunks.get(axis)?.start, within.get(axis)?);
            let (start, end) = (border(&array, axis, offset + first)?, border(&array, axis, offset + last)?);
            *range = start.start.max(of.start)..end.end.min(of.end);
        }
        Some(piece)
    }))
}

/// Returns the numbers of the chunks that a range of one dimension touches.
fn touched(array: &Array, axis: usize, range: &Range<u64>) -> Range<u64> {
    let grid = array.chunk_grid();
    let last = range.end.checked_sub(1).filter(|last| *last >= range.start);
    let found =
        last.and_then(|last| Some(grid.find(axis, range.start)?..grid.find(axis, last)?.checked_add(1)?));
    found.unwrap_or(0..0)
}

/// Returns the number of chunks of a region along each dimension. The last dimensions grow first.
fn blocks(array: &Array, counts: &[u64], bytes: u64) -> Vec<u64> {
    let mut steps: Vec<u64> = counts.iter().map(|_| 1).collect();
    let first = array.chunk_shape(&vec![0; counts.len()]).unwrap_or_default();
    let element = array.data_type().size().unwrap_or(16) as u64;
    let chunk = first.iter().fold(element, |bytes, length| bytes.saturating_mul(*length)).max(1);
    let mut room = (bytes / chunk).max(1);
    for (step, count) in steps.iter_mut().zip(counts).rev() {
        *step = room.min(*count).max(1);
        room /= *step;
        if *step < *count {
            break;
        }
    }
    steps
}

/// Returns the positions of a chunk along one dimension, inside the array.
fn border(array: &Array, axis: usize, number: u64) -> Option<Range<u64>> {
    let end = *array.shape().get(axis)?;
    let mut span = array.chunk_grid().span(axis, number)?;
    span.end = span.end.min(end);
    Some(span)
}
