//! Selections: Rust ranges, ranges with steps, and indices that drop their dimension.

use std::fmt::Debug;
use std::ops::{Bound, Range, RangeBounds, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

use crate::error::{ArrayError, ArrayResult};

/// An integer type for positions in selections and indices.
///
/// `i32` is among them because untyped integer literals have that type, as in `[0..8, 0..41]`. A literal of 2^31 or
/// more needs a suffix: `0..4_000_000_000_u64`. A negative position is an error; it does not count from the end.
pub trait Position: Copy + Debug {
    /// The position as `i128`.
    fn position(self) -> i128;
}

macro_rules! positions {
    ($($integer:ty),*) => {$(
        impl Position for $integer {
            #[allow(clippy::cast_lossless, reason = "`usize` has no `From`; `i128` holds every value of these types")]
            fn position(self) -> i128 {
                self as i128
            }
        }
    )*};
}
positions!(i32, i64, u32, u64, usize);

/// A selection in one dimension: a range, a range with a step, or one index, which drops the dimension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Axis {
    start: i128,
    /// The exclusive end, or `None` for the end of the dimension.
    end: Option<i128>,
    step: i128,
    keep: bool,
}

impl Axis {
    const WHOLE: Self = Self { start: 0, end: None, step: 1, keep: true };

    /// Every `step`-th element of `range`, starting with the first.
    ///
    /// ```
    /// # use zarr_array::{Axis, Selection};
    /// let selection = Selection::from((Axis::step(0..100, 10), 5));
    /// let coarse = Selection::from([Axis::step(.., 2), Axis::step(.., 2)]);
    /// ```
    pub fn step(range: impl Into<Self>, step: impl Position) -> Self {
        Self { step: step.position(), ..range.into() }
    }

    fn of<T: Position>(range: &impl RangeBounds<T>) -> Self {
        let start = match range.start_bound() {
            Bound::Included(n) => n.position(),
            Bound::Excluded(n) => n.position() + 1,
            Bound::Unbounded => 0,
        };
        let end = match range.end_bound() {
            Bound::Included(n) => Some(n.position() + 1),
            Bound::Excluded(n) => Some(n.position()),
            Bound::Unbounded => None,
        };
        Self { start, end, ..Self::WHOLE }
    }

    fn resolve(&self, dim: usize, length: u64) -> ArrayResult<Picked> {
        let wrong = |what: String| Err(ArrayError::invalid(what));
        let (start, last) = (self.start, i128::from(length));
        let end = self.end.unwrap_or(last);
        if self.step <= 0 {
            return wrong(format!("the step of dimension {dim} is {}, it must be 1 or more", self.step));
        }
        if !self.keep && !(0..last).contains(&start) {
            return wrong(format!("index {start} of dimension {dim} is not inside its length {length}"));
        }
        if self.end.is_some_and(|end| end < start) {
            return wrong(format!(
                "the range {start}..{end} of dimension {dim} runs backwards: its end is before its start"
            ));
        }
        // A range without an end that starts beyond the array selects nothing.
        let start = if self.end.is_none() { start.min(last) } else { start };
        let (Ok(first), true) = (u64::try_from(start), end <= last) else {
            return wrong(format!(
                "selection {start}..{end} of dimension {dim} is not inside its length {length}"
            ));
        };
        let (elements, step) =
            (u64::try_from(end - start).unwrap_or(0), u64::try_from(self.step).unwrap_or(u64::MAX));
        let count = elements.div_ceil(step);
        // The step of a single element has no meaning.
        let step = if count <= 1 { 1 } else { step };
        Ok(Picked { start: first, count, step, keep: self.keep })
    }
}

macro_rules! ranges {
    ($($range:ident),*) => {$(
        impl<T: Position> From<$range<T>> for Axis {
            fn from(range: $range<T>) -> Self {
                Self::of(&range)
            }
        }

        impl<T: Position> From<$range<T>> for Selection {
            fn from(range: $range<T>) -> Self {
                Self(vec![range.into()])
            }
        }
    )*};
}
ranges!(Range, RangeInclusive, RangeFrom, RangeTo, RangeToInclusive);

impl From<RangeFull> for Axis {
    fn from(_: RangeFull) -> Self {
        Self::WHOLE
    }
}

impl<T: Position> From<T> for Axis {
    fn from(index: T) -> Self {
        let start = index.position();
        Self { start, end: Some(start + 1), step: 1, keep: false }
    }
}

/// A selection of elements of an array, dimension by dimension. Dimensions after the last entry are selected whole.
///
/// Positions are integers of any [`Position`] type, such as `usize` or `u64`. A tuple may mix types.
///
/// ```
/// # use zarr_array::Selection;
/// let day = Selection::from([0..24, 100..200, 0..360]);     // ranges of one kind, as an array
/// let map = Selection::from((5, .., 0..360));               // mixed, as a tuple: index 5 drops its dimension
/// let rows = Selection::from(10..20);                       // a range of the first dimension
/// let all = Selection::from(..);
/// # let values = [0.0; 8];
/// let read = Selection::from((3_u64, 0..values.len()));     // `usize`, the type of slice lengths
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Selection(Vec<Axis>);

impl Selection {
    /// Selects all elements.
    pub fn all() -> Self {
        Self::default()
    }

    /// A selection from one entry per dimension.
    pub fn new(axes: Vec<Axis>) -> Self {
        Self(axes)
    }

    /// Returns the elements that it selects in an array of `shape`.
    pub(crate) fn resolve(&self, shape: &[u64]) -> ArrayResult<Vec<Picked>> {
        if self.0.len() > shape.len() {
            return Err(ArrayError::invalid(format!(
                "the selection has {} dimensions, the array has {}",
                self.0.len(),
                shape.len()
            )));
        }
        let axes = self.0.iter().chain(std::iter::repeat(&Axis::WHOLE));
        axes.zip(shape).enumerate().map(|(dim, (axis, length))| axis.resolve(dim, *length)).collect()
    }
}

impl From<RangeFull> for Selection {
    fn from(_: RangeFull) -> Self {
        Self::all()
    }
}

impl<T: Position> From<T> for Selection {
    fn from(index: T) -> Self {
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

/// The selected elements in one dimension of known length.
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

    #[test]
    fn positions_of_any_integer_type_can_be_mixed() {
        let (values, from) = ([0_u8; 8], 3_u64);
        let expected = [(3, 1, false), (0, 8, true)];
        assert_eq!(counts((3, 0..8), &[10, 20]).unwrap(), expected);
        assert_eq!(counts((from, ..values.len()), &[10, 20]).unwrap(), expected);
        assert_eq!(counts((3_usize, 0_i64..=7), &[10, 20]).unwrap(), expected);
        assert_eq!(counts([from..9, 0..values.len() as u64], &[10, 20]).unwrap()[0], (3, 6, true));
        assert_eq!(counts([0..values.len()], &[8]).unwrap(), [(0, 8, true)]);
        assert_eq!(counts([Axis::step(1..values.len(), 4_u32)], &[8]).unwrap(), [(1, 2, true)]);
        assert_eq!(counts(u64::MAX - 1, &[u64::MAX]).unwrap(), [(u64::MAX - 1, 1, false)]);
        assert_eq!(counts(..=u64::MAX - 1, &[u64::MAX]).unwrap(), [(0, u64::MAX, true)]);
    }

    #[test]
    #[allow(clippy::reversed_empty_ranges, reason = "the test needs them")]
    fn a_selection_that_does_not_fit_says_why() {
        let message = |axis: Axis| Selection::new(vec![axis]).resolve(&[10]).unwrap_err().to_string();
        for (axis, expected) in [
            (Axis::from(8..4), "the range 8..4 of dimension 0 runs backwards: its end is before its start"),
            (
                Axis::from(12..11),
                "the range 12..11 of dimension 0 runs backwards: its end is before its start",
            ),
            (Axis::from(8..11), "selection 8..11 of dimension 0 is not inside its length 10"),
            (Axis::from(-2..4), "selection -2..4 of dimension 0 is not inside its length 10"),
            (Axis::from(-1..), "selection -1..10 of dimension 0 is not inside its length 10"),
            (Axis::from(-1), "index -1 of dimension 0 is not inside its length 10"),
            (Axis::from(10), "index 10 of dimension 0 is not inside its length 10"),
            (Axis::step(.., -1), "the step of dimension 0 is -1, it must be 1 or more"),
        ] {
            assert_eq!(message(axis), expected);
        }
    }
}
