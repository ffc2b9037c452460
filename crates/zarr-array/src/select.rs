//! Selections: regions written as Rust ranges, with steps, and with indices that drop a dimension.

use std::ops::{Bound, Range, RangeBounds, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

use crate::error::{ArrayError, ArrayResult};

/// What is wanted of one dimension: a range, a range with a step, or one index, which drops the dimension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Axis {
    start: u64,
    /// Exclusive; `None`: to the end.
    end: Option<u64>,
    step: u64,
    keep: bool,
}

impl Axis {
    /// Every `step`-th element of `range`, beginning with its first.
    ///
    /// ```
    /// # use zarr_array::{Axis, Selection};
    /// let selection = Selection::from((Axis::step(0..100, 10), 5));
    /// ```
    pub fn step(range: impl RangeBounds<u64>, step: u64) -> Self {
        Self { step, ..Self::of(&range) }
    }

    fn of(range: &impl RangeBounds<u64>) -> Self {
        let start = match range.start_bound() {
            Bound::Included(n) => *n,
            Bound::Excluded(n) => n.saturating_add(1),
            Bound::Unbounded => 0,
        };
        let end = match range.end_bound() {
            Bound::Included(n) => Some(n.saturating_add(1)),
            Bound::Excluded(n) => Some(*n),
            Bound::Unbounded => None,
        };
        Self { start, end, step: 1, keep: true }
    }

    fn resolve(&self, dim: usize, length: u64) -> ArrayResult<Picked> {
        let end = self.end.unwrap_or(length);
        let start = if self.end.is_none() { self.start.min(end) } else { self.start };
        if self.step == 0 {
            return Err(ArrayError::invalid(format!("the step of dimension {dim} is 0")));
        }
        if end > length || start > end {
            return Err(ArrayError::invalid(format!(
                "selection {start}..{end} of dimension {dim} is not inside its length {length}"
            )));
        }
        let count = (end - start).div_ceil(self.step);
        if !self.keep && count != 1 {
            return Err(ArrayError::invalid(format!(
                "index {start} of dimension {dim} is not inside its length {length}"
            )));
        }
        // Of a single element the step says nothing.
        let step = if count <= 1 { 1 } else { self.step };
        Ok(Picked { start, count, step, keep: self.keep })
    }
}

macro_rules! ranges {
    ($($range:ty),*) => {$(
        impl From<$range> for Axis {
            fn from(range: $range) -> Self {
                Self::of(&range)
            }
        }

        impl From<$range> for Selection {
            fn from(range: $range) -> Self {
                Self(vec![range.into()])
            }
        }
    )*};
}
ranges!(Range<u64>, RangeInclusive<u64>, RangeFrom<u64>, RangeTo<u64>, RangeToInclusive<u64>);

impl From<RangeFull> for Axis {
    fn from(_: RangeFull) -> Self {
        Self { start: 0, end: None, step: 1, keep: true }
    }
}

impl From<u64> for Axis {
    fn from(index: u64) -> Self {
        Self { start: index, end: Some(index.saturating_add(1)), step: 1, keep: false }
    }
}

/// What is wanted of an array, dimension by dimension; dimensions that are not named are wanted whole.
///
/// ```
/// # use zarr_array::Selection;
/// let day = Selection::from([0..24, 100..200, 0..360]);     // ranges of one kind, as an array
/// let map = Selection::from((5, .., 0..360));               // mixed, as a tuple: index 5 drops its dimension
/// let rows = Selection::from(10..20);                      // of the first dimension
/// let all = Selection::from(..);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Selection(Vec<Axis>);

impl Selection {
    /// Everything.
    pub fn all() -> Self {
        Self::default()
    }

    /// From one entry a dimension.
    pub fn new(axes: Vec<Axis>) -> Self {
        Self(axes)
    }

    /// What it means in an array of `shape`.
    pub(crate) fn resolve(&self, shape: &[u64]) -> ArrayResult<Vec<Picked>> {
        if self.0.len() > shape.len() {
            return Err(ArrayError::invalid(format!(
                "the selection has {} dimensions, the array has {}",
                self.0.len(),
                shape.len()
            )));
        }
        let whole = Axis::from(..);
        let axes = self.0.iter().chain(std::iter::repeat(&whole));
        axes.zip(shape).enumerate().map(|(dim, (axis, length))| axis.resolve(dim, *length)).collect()
    }
}

impl From<RangeFull> for Selection {
    fn from(_: RangeFull) -> Self {
        Self::all()
    }
}

impl From<u64> for Selection {
    fn from(index: u64) -> Self {
        Self(vec![index.into()])
    }
}

impl From<()> for Selection {
    fn from((): ()) -> Self {
        Self::all()
    }
}

impl<A: Into<Axis>, const N: usize> From<[A; N]> for Selection {
    fn from(axes: [A; N]) -> Self {
        Self(axes.into_iter().map(Into::into).collect())
    }
}

impl<A: Into<Axis>> From<Vec<A>> for Selection {
    fn from(axes: Vec<A>) -> Self {
        Self(axes.into_iter().map(Into::into).collect())
    }
}

impl<A: Into<Axis> + Clone> From<&[A]> for Selection {
    fn from(axes: &[A]) -> Self {
        Self(axes.iter().cloned().map(Into::into).collect())
    }
}

impl From<&zarr_traits::Region> for Selection {
    fn from(region: &zarr_traits::Region) -> Self {
        Self(region.start().iter().zip(region.shape()).map(|(s, n)| (*s..s + n).into()).collect())
    }
}

macro_rules! tuples {
    ($(($($name:ident),+))*) => {$(
        impl<$($name: Into<Axis>),+> From<($($name,)+)> for Selection {
            #[allow(non_snake_case, reason = "one name for type and value")]
            fn from(($($name,)+): ($($name,)+)) -> Self {
                Self(vec![$($name.into()),+])
            }
        }
    )*};
}
tuples!((A)(A, B)(A, B, C)(A, B, C, D)(A, B, C, D, E)(A, B, C, D, E, F)(A, B, C, D, E, F, G)(
    A, B, C, D, E, F, G, H
));

/// What is wanted of one dimension, of which the length is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Picked {
    pub(crate) start: u64,
    pub(crate) count: u64,
    pub(crate) step: u64,
    /// Whether the dimension appears in the result.
    pub(crate) keep: bool,
}

impl Picked {
    /// All of a dimension.
    pub(crate) fn whole(length: u64) -> Self {
        Self { start: 0, count: length, step: 1, keep: true }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(selection: impl Into<Selection>, shape: &[u64]) -> Option<Vec<(u64, u64, bool)>> {
        let picked = selection.into().resolve(shape).ok()?;
        Some(picked.into_iter().map(|p| (p.start, p.count, p.keep)).collect())
    }

    #[test]
    fn ranges_steps_and_indices_resolve_against_the_shape() {
        let shape = [10, 20];
        assert_eq!(counts(.., &shape).unwrap(), [(0, 10, true), (0, 20, true)]);
        assert_eq!(counts((2.., ..=3), &shape).unwrap(), [(2, 8, true), (0, 4, true)]);
        assert_eq!(counts((9, 4..4), &shape).unwrap(), [(9, 1, false), (4, 0, true)]);
        assert_eq!(counts([Axis::step(1..10, 4)], &shape).unwrap(), [(1, 3, true), (0, 20, true)]);
        assert_eq!(counts([20..], &shape).unwrap()[0], (10, 0, true));
        for bad in [[0..11], [11..11], [Range { start: 5, end: 4 }]] {
            assert!(counts(bad, &shape).is_none());
        }
        assert!(counts([10], &shape).is_none());
        assert!(counts([u64::MAX], &[u64::MAX]).is_none());
        assert!(counts((.., .., ..), &shape).is_none());
        assert!(counts([Axis::step(.., 0)], &shape).is_none());
        assert_eq!(counts((), &[]).unwrap(), []);
    }
}
