//! The part of an array that is copied, if it is not all of it.

use std::collections::BTreeMap;
use std::ops::Range;

use zarr_array::traits::{ChunkGrid, RegularGrid};
use zarr_array::{Array, Axis, LazyView, Selection};

use crate::error::{CopyError, CopyResult};
use crate::rules::dimensions;

/// The selected parts of arrays.
#[derive(Debug, Clone, Default)]
pub(crate) struct Parts {
    /// By the paths of arrays below the source.
    pub(crate) arrays: BTreeMap<String, Selection>,
    /// By the path of a group below the source and the name of a dimension.
    pub(crate) dimensions: BTreeMap<(String, String), Axis>,
}

impl Parts {
    /// Returns what is selected of the array at a path below the source; `None` for all of it.
    pub(crate) fn of(&self, array: &Array, below: &str) -> Option<Selection> {
        if let Some(selection) = self.arrays.get(below) {
            return Some(selection.clone());
        }
        let group = below.rsplit_once('/').map_or("", |(group, _)| group);
        let along = |name: Option<String>| self.dimensions.get(&(group.to_owned(), name?)).cloned();
        let axes: Vec<Option<Axis>> = dimensions(array).into_iter().map(along).collect();
        let is_any = axes.iter().any(Option::is_some);
        let axes = axes.into_iter().map(|axis| axis.unwrap_or_else(|| (..).into()));
        is_any.then(|| Selection::new(axes.collect()))
    }
}

/// The selected elements of an array. The copy has their shape.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    view: LazyView<Array>,
    grid: RegularGrid,
}

impl Part {
    /// Selects elements of `source`.
    pub(crate) fn new(source: &Array, selection: &Selection) -> CopyResult<Self> {
        let view = source.lazy().select(selection.clone())?;
        if view.shape().len() != source.shape().len() {
            return Err(CopyError::settings(
                "`select` drops a dimension, but a copy has all dimensions: select a range of one element",
            ));
        }
        let bounds = selection.bounds(source.shape())?;
        let longest = |dim| source.chunk_grid().lengths(dim).into_iter().max().unwrap_or(1);
        let lengths = bounds.iter().zip(view.shape()).enumerate();
        let lengths = lengths.map(|(dim, (span, count))| length_in(longest(dim), span, *count));
        let grid = RegularGrid::new(lengths.collect::<Vec<_>>());
        let grid = grid.map_err(|e| CopyError::unsupported(format!("{e:#}")))?;
        Ok(Self { view, grid })
    }

    /// Returns the shape of the copy.
    pub(crate) fn shape(&self) -> &[u64] {
        self.view.shape()
    }

    /// Returns the chunks of the source as they are in this part, about: what a plan needs to count reads.
    pub(crate) fn grid(&self) -> &dyn ChunkGrid {
        &self.grid
    }

    /// Returns the selection of the source that has the elements in a box of the copy.
    pub(crate) fn selection(&self, spans: &[Range<u64>]) -> CopyResult<Selection> {
        let view = self.view.select(spans)?;
        let none = || CopyError::unsupported(format!("no elements are selected in {spans:?}"));
        view.source().map(|(_, selection)| selection).ok_or_else(none)
    }
}

/// Returns how many of `count` elements, which lie in `span`, are in a chunk of a length, on average.
fn length_in(length: u64, span: &Range<u64>, count: u64) -> u64 {
    let within = u128::from(length)
        .saturating_mul(u128::from(count))
        .div_ceil(u128::from(span.end - span.start).max(1));
    u64::try_from(within).unwrap_or(u64::MAX).clamp(1, count.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_shrink_with_the_distance_of_the_elements() {
        for (length, span, count, within) in [
            (100, 50..1050, 1000, 100),
            (100, 0..1000, 10, 1),
            (100, 0..991, 100, 11),
            (100, 7..8, 1, 1),
            (9, 0..0, 0, 1),
        ] {
            assert_eq!(length_in(length, &span, count), within, "{span:?} {count}");
        }
    }
}
