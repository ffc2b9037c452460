//! The work of a pass: a job makes a unit of its highest level with all units below it, depth first.

use std::ops::Range;

use zarr_array::traits::{BoxFuture, Bytes};
use zarr_array::{Array, ArrayErrorKind, DataType};

use super::kernel::Kernel;
use super::passes::{Grid, Pass, region};
use crate::elements::{self, Elements};
use crate::error::{CopyError, CopyErrorKind, CopyResult};
use crate::indices::indices;

/// A pass with its arrays.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) pass: Pass,
    pub(crate) kernel: Kernel,
    pub(crate) factors: Vec<u64>,
    /// The level that is read.
    pub(crate) source: Array,
    /// The levels that are made, the lowest first.
    pub(crate) made: Vec<Made>,
}

/// A level that is made.
#[derive(Debug)]
pub(crate) struct Made {
    pub(crate) grid: Grid,
    pub(crate) array: Array,
}

/// Is called with the bytes of elements that were read, and returns whether the work goes on.
pub(crate) type Goes<'a> = &'a (dyn Fn(u64) -> bool + Sync);

impl Work {
    /// Returns the units of the highest level in each dimension: a job is one of them, counted in C order.
    fn counts(&self) -> Vec<u64> {
        self.made.last().map_or_else(Vec::new, |top| top.grid.counts())
    }

    /// Does a job. Returns the numbers of units and bytes of elements that it made; `None` if the work ended before.
    pub(crate) async fn job(&self, number: u64, goes: Goes<'_>) -> CopyResult<Option<(u64, u64)>> {
        let unit = unravel(number, &self.counts());
        let mut sum = (0, 0);
        let made = self.make(self.made.len() - 1, unit, goes, &mut sum).await?;
        Ok(made.map(|_| sum))
    }

    /// Makes a unit of a level with everything below it, and returns its elements.
    fn make<'a>(
        &'a self,
        level: usize,
        unit: Vec<u64>,
        goes: Goes<'a>,
        sum: &'a mut (u64, u64),
    ) -> BoxFuture<'a, CopyResult<Option<Bytes>>> {
        Box::pin(async move {
            let Made { grid, array } = &self.made[level];
            let span = grid.span(&unit);
            let Some(elements) = self.reduce(level, &span, goes, sum).await? else { return Ok(None) };
            let elements = Bytes::from(elements);
            array.write_bytes(span.clone(), elements.clone()).await?;
            *sum = (sum.0 + 1, sum.1 + elements.len() as u64);
            if !grid.is_lossy || level + 1 == self.made.len() {
                return Ok(Some(elements));
            }
            // The next level is made of what is stored.
            let stored = fixed(Elements::read(array, &span[..]).await?)?;
            Ok(Some(stored.into()))
        })
    }

    /// Makes the elements of a part of a level from those of the level before.
    async fn reduce(
        &self,
        level: usize,
        span: &[Range<u64>],
        goes: Goes<'_>,
        sum: &mut (u64, u64),
    ) -> CopyResult<Option<Vec<u8>>> {
        let shape = lengths(span);
        let mut to = zeroed(self.source.data_type(), &shape)?;
        let below = level.checked_sub(1).map(|below| &self.made[below].grid);
        let wanted = region(span, &self.factors, below.map_or(self.source.shape(), |grid| &grid.shape));
        let mut put = |part: &[Range<u64>], elements: &[u8]| {
            let starts = part.iter().zip(&wanted).zip(&self.factors);
            let at: Vec<u64> = starts.map(|((part, all), f)| (part.start - all.start) / f).collect();
            let from = (elements, &lengths(part)[..]);
            let put = self.kernel.run(from, &self.factors, (&mut to, &shape), &at);
            put.map_err(|e| CopyError::node(ArrayErrorKind::InvalidArgument, e.to_string()))
        };
        match below {
            None => {
                for piece in self.pass.pieces(&wanted) {
                    let elements = fixed(Elements::read(&self.source, &piece[..]).await?)?;
                    put(&piece, &elements)?;
                    if !goes(elements.len() as u64) {
                        return Ok(None);
                    }
                }
            }
            Some(grid) => {
                let first: Vec<u64> =
                    wanted.iter().zip(&grid.units).map(|(range, unit)| range.start / unit).collect();
                let counts: Vec<u64> = wanted
                    .iter()
                    .zip(&grid.units)
                    .map(|(range, unit)| range.end.div_ceil(*unit) - range.start / unit)
                    .collect();
                for index in indices(&counts) {
                    let unit: Vec<u64> = index.iter().zip(&first).map(|(at, first)| at + first).collect();
                    let part = grid.span(&unit);
                    let made = self.make(level - 1, unit, goes, sum).await?;
                    let Some(elements) = made else { return Ok(None) };
                    put(&part, &elements)?;
                }
            }
        }
        Ok(Some(to))
    }

    /// Compares a unit of the lowest level with what the level below gives. Returns `false` if the work ended before.
    pub(crate) async fn compare(&self, number: u64, goes: Goes<'_>) -> CopyResult<bool> {
        let Made { grid, array } = &self.made[0];
        let span = grid.span(&unravel(number, &grid.counts()));
        let Some(wanted) = self.reduce(0, &span, goes, &mut (0, 0)).await? else { return Ok(false) };
        // Lossy codecs have changed the elements. They can be read at least.
        if fixed(Elements::read(array, &span[..]).await?)? == wanted || grid.is_lossy {
            return Ok(true);
        }
        let start: Vec<u64> = span.iter().map(|range| range.start).collect();
        let message = format!(
            "array {:?}: the elements from {start:?} on differ from what the level before gives",
            array.path()
        );
        Err(CopyError::new(CopyErrorKind::Differs, message))
    }
}

/// Returns zeroed memory for the elements of a block.
pub(super) fn zeroed(data_type: &DataType, shape: &[u64]) -> CopyResult<Vec<u8>> {
    let bytes = shape.iter().copied().fold(elements::size(data_type), u64::saturating_mul);
    let bytes = usize::try_from(bytes).ok().and_then(|bytes| zarr_array::traits::strided::zeroed(bytes).ok());
    bytes.ok_or_else(|| CopyError::node(ArrayErrorKind::LimitExceeded, "there is no memory for a chunk"))
}

pub(super) fn lengths(ranges: &[Range<u64>]) -> Vec<u64> {
    ranges.iter().map(|range| range.end - range.start).collect()
}

/// Returns elements of one size: a plan has no others.
pub(super) fn fixed(elements: Elements) -> CopyResult<Vec<u8>> {
    match elements {
        Elements::Fixed(bytes) => Ok(bytes),
        Elements::Variable(_) => Err(CopyError::unsupported("elements of variable length have no levels")),
    }
}

/// Returns the index of an element of a box, counted in C order.
fn unravel(mut number: u64, counts: &[u64]) -> Vec<u64> {
    let mut index = vec![0; counts.len()];
    for (at, count) in index.iter_mut().zip(counts).rev() {
        (*at, number) = (number % (*count).max(1), number / (*count).max(1));
    }
    index
}
