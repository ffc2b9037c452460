//! The selected elements of one dimension.

use std::ops::Range;
use std::sync::Arc;

use zarr_array::traits::ChunkGrid;
use zarr_array::{Axis, Position, Selection};

/// The selected elements of one dimension, in the order of the result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pick {
    /// The number of elements.
    pub(crate) count: u64,
    /// Whether the result has this dimension; an index drops it.
    pub(crate) keep: bool,
    places: Places,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Places {
    /// Every `step`-th element from `start` on; a negative step goes backwards. All positions are below 2^64.
    Steps { start: u64, step: i128 },
    /// The positions behind the first `skipped` ones.
    List { positions: Arc<[u64]>, skipped: usize },
}

/// Returns the selection of the picked elements.
pub(crate) fn selection(picks: impl IntoIterator<Item = Pick>) -> Selection {
    Selection::new(picks.into_iter().map(|pick| pick.axis()).collect())
}

impl Pick {
    pub(crate) fn range(range: Range<u64>) -> Self {
        Self::steps(range.start, range.end.saturating_sub(range.start), 1)
    }

    /// Picks `count` elements from `start` on. The caller makes sure that all positions are inside of the dimension.
    pub(crate) fn steps(start: u64, count: u64, step: i128) -> Self {
        Self { count, keep: true, places: Places::Steps { start, step } }
    }

    pub(crate) fn index(position: u64) -> Self {
        Self { keep: false, ..Self::steps(position, 1, 1) }
    }

    pub(crate) fn list(positions: impl Into<Arc<[u64]>>) -> Self {
        let positions = positions.into();
        Self { count: positions.len() as u64, keep: true, places: Places::List { positions, skipped: 0 } }
    }

    /// Returns the position in the array of element `i` of the result, which must be below `count`.
    pub(crate) fn position(&self, i: u64) -> u64 {
        match &self.places {
            Places::Steps { start, step } => {
                let position = i128::from(*start) + i128::from(i) * step;
                u64::try_from(position).unwrap_or(*start)
            }
            Places::List { positions, skipped } => {
                let at = usize::try_from(i).ok().and_then(|i| positions.get(skipped.checked_add(i)?));
                at.copied().unwrap_or(0)
            }
        }
    }

    /// Returns `count` elements, beginning with element `start` of these.
    pub(crate) fn part(&self, start: u64, count: u64) -> Self {
        let places = match &self.places {
            Places::Steps { step, .. } => Places::Steps { start: self.position(start), step: *step },
            Places::List { positions, skipped } => Places::List {
                positions: positions.clone(),
                skipped: skipped.saturating_add(usize::try_from(start).unwrap_or(usize::MAX)),
            },
        };
        Self { count, keep: self.keep, places }
    }

    /// Whether these are all elements of a dimension of this length, in order.
    pub(crate) fn is_all(&self, length: u64) -> bool {
        self.count == length && matches!(self.places, Places::Steps { start: 0, step: 1 })
    }

    /// Returns the range and the step of elements in ascending order at equal distances.
    pub(crate) fn as_range(&self) -> Option<(Range<u64>, u64)> {
        let Places::Steps { start, step } = self.places else { return None };
        let step = u64::try_from(step).ok()?;
        let end = self.bounds().map_or(start, |(_, last)| last + 1);
        Some((start..end, step))
    }

    /// Whether the elements follow each other in the array.
    pub(crate) fn is_dense(&self) -> bool {
        matches!(self.places, Places::Steps { step: 1 | -1, .. }) || self.count <= 1
    }

    /// Returns the smallest and the largest position, or `None` without elements.
    pub(crate) fn bounds(&self) -> Option<(u64, u64)> {
        let last = self.position(self.count.checked_sub(1)?);
        match &self.places {
            Places::Steps { start, .. } => Some((last.min(*start), last.max(*start))),
            Places::List { .. } => {
                let positions = || (0..self.count).map(|i| self.position(i));
                Some((positions().min()?, positions().max()?))
            }
        }
    }

    /// Returns the number of elements from element `i` on that follow each other in one chunk; at least 1.
    pub(crate) fn run(&self, i: u64, grid: &dyn ChunkGrid, dim: usize) -> u64 {
        let left = self.count.saturating_sub(i).max(1);
        let position = self.position(i);
        let Some(span) = grid.find(dim, position).and_then(|chunk| grid.span(dim, chunk)) else {
            return left;
        };
        match &self.places {
            Places::Steps { step, .. } => {
                let room = if *step > 0 { span.end - 1 - position } else { position - span.start };
                let apart = u64::try_from(step.unsigned_abs()).unwrap_or(u64::MAX);
                (room / apart.max(1)).saturating_add(1).min(left)
            }
            Places::List { .. } => {
                let outside = (i + 1..self.count).find(|i| !span.contains(&self.position(*i)));
                outside.unwrap_or(self.count).saturating_sub(i).max(1)
            }
        }
    }

    /// Returns the entry of a selection. The dimension is kept even for one element.
    pub(crate) fn axis(&self) -> Axis {
        match &self.places {
            Places::Steps { start, step } => {
                let (first, last) = self.bounds().unwrap_or((*start, *start));
                Axis::step(first..last + u64::from(self.count > 0), Step(*step))
            }
            Places::List { .. } => Axis::list((0..self.count).map(|i| self.position(i))),
        }
    }
}

/// A step of any size.
#[derive(Debug, Clone, Copy)]
struct Step(i128);

impl Position for Step {
    fn position(self) -> i128 {
        self.0
    }
}
