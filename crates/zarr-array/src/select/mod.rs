//! Selections: Rust ranges, ranges with steps, lists of positions, points, and indices that drop their dimension.

mod along;

use std::fmt::Debug;
use std::ops::{Bound, Range, RangeBounds, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};
use std::sync::Arc;

use crate::error::{ArrayError, ArrayResult};
use crate::values::{NdVec, Position};
pub(crate) use along::{Along, Picked};

/// A selection in one dimension: a range, a range with a step, a list of positions, or one index, which drops the
/// dimension.
///
/// Negative positions count from the end: -1 is the last one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Axis(Kind);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    /// The exclusive end is `None` for the end of the dimension.
    Range {
        start: i128,
        end: Option<i128>,
        step: i128,
    },
    Index(i128),
    List(Positions),
    /// As `List`, but all dimensions with points of the same group vary together.
    Points(Positions, usize),
}

/// Positions in one dimension.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Positions {
    list: Arc<[i128]>,
    /// The length that the dimension must have: that of the mask that they come from.
    length: Option<u64>,
}

impl Axis {
    const WHOLE: Self = Self(Kind::Range { start: 0, end: None, step: 1 });

    /// Every `step`-th element of `range`, starting with the first. A negative step goes backwards and starts with the
    /// last one.
    ///
    /// ```
    /// # use zarr_array::{Axis, Selection};
    /// let selection = Selection::from((Axis::step(0..100, 10), 5));
    /// let coarse = Selection::from([Axis::step(.., 2), Axis::step(.., 2)]);
    /// let north_up = Selection::from((.., Axis::step(.., -1)));
    /// ```
    pub fn step(range: impl Into<Self>, step: impl Position) -> Self {
        match range.into().0 {
            Kind::Range { start, end, .. } => Self(Kind::Range { start, end, step: step.position() }),
            other => Self(other),
        }
    }

    /// The elements at these positions, in any order. A position may occur several times.
    ///
    /// A list, slice or array inside of a tuple means the same.
    ///
    /// ```
    /// # use zarr_array::{Axis, Selection};
    /// let stations = Selection::from((.., Axis::list([17, 4, 4])));
    /// assert_eq!(stations, Selection::from((.., [17, 4, 4])));
    /// ```
    pub fn list<T: Position>(positions: impl IntoIterator<Item = T>) -> Self {
        Self(Kind::List(Positions::new(positions, None)))
    }

    /// The elements where `mask` is true. It must be as long as the dimension.
    pub fn mask(mask: &[bool]) -> Self {
        let places = mask.iter().zip(0_u64..).filter(|(is_in, _)| **is_in).map(|(_, place)| place);
        Self(Kind::List(Positions::new(places, Some(mask.len() as u64))))
    }

    /// The positions of points in this dimension. All dimensions with points vary together: the first positions of all
    /// lists are the first point. They are one dimension of the result, in the place of the first of them.
    ///
    /// ```
    /// # use zarr_array::{Axis, Selection};
    /// let (lat, lon) = ([10, 52, 90], [5, 13, 120]);
    /// let series = Selection::from((.., Axis::points(lat), Axis::points(lon))); // all times at three places
    /// ```
    pub fn points<T: Position>(positions: impl IntoIterator<Item = T>) -> Self {
        Self(Kind::Points(Positions::new(positions, None), 0))
    }

    /// The elements at equal steps.
    fn steps(picked: &Picked, reversed: bool) -> Self {
        let Picked { start, count, step, keep } = *picked;
        let (start, step) = (i128::from(start), i128::from(step));
        if !keep {
            return Self(Kind::Index(start));
        }
        let end = start + i128::from(count.saturating_sub(1)) * step + i128::from(count > 0);
        Self(Kind::Range { start, end: Some(end), step: if reversed { -step } else { step } })
    }

    fn of<T: Position>(range: &impl RangeBounds<T>) -> Self {
        let start = match range.start_bound() {
            Bound::Included(n) => n.position(),
            Bound::Excluded(n) => n.position() + 1,
            Bound::Unbounded => 0,
        };
        let end = match range.end_bound() {
            // The position after the last one is the end.
            Bound::Included(n) => Some(n.position() + 1).filter(|_| n.position() != -1),
            Bound::Excluded(n) => Some(n.position()),
            Bound::Unbounded => None,
        };
        Self(Kind::Range { start, end, step: 1 })
    }

    fn resolve(&self, dim: usize, length: u64) -> ArrayResult<Along> {
        match &self.0 {
            Kind::Range { start, end, step } => range(*start, *end, *step, dim, length),
            Kind::Index(index) => {
                let start = inside(*index, dim, length)?;
                let picked = Picked { start, count: 1, step: 1, keep: false };
                Ok(Along::Steps { dim, picked, reversed: false })
            }
            Kind::List(positions) | Kind::Points(positions, _) => {
                if let Some(expected) = positions.length.filter(|expected| *expected != length) {
                    let message =
                        format!("the mask has length {expected} in dimension {dim}, the array has {length}");
                    return Err(ArrayError::invalid(message));
                }
                let mut list = Vec::with_capacity(positions.list.len());
                for position in positions.list.iter() {
                    list.push(inside(*position, dim, length)?);
                }
                Ok(Along::List { dims: vec![dim], positions: list.into() })
            }
        }
    }
}

impl Positions {
    fn new<T: Position>(list: impl IntoIterator<Item = T>, length: Option<u64>) -> Self {
        Self { list: list.into_iter().map(Position::position).collect(), length }
    }
}

/// Returns a position of a dimension. A negative one counts from the end.
fn inside(position: i128, dim: usize, length: u64) -> ArrayResult<u64> {
    let counted = if position < 0 { position + i128::from(length) } else { position };
    u64::try_from(counted).ok().filter(|counted| *counted < length).ok_or_else(|| {
        ArrayError::invalid(format!("index {position} of dimension {dim} is not inside its length {length}"))
    })
}

/// Resolves a range with a step.
fn range(start: i128, end: Option<i128>, step: i128, dim: usize, length: u64) -> ArrayResult<Along> {
    let wrong = |what: String| Err(ArrayError::invalid(what));
    let last = i128::from(length);
    if step == 0 {
        return wrong(format!("the step of dimension {dim} is 0"));
    }
    let counted = |position: i128| if position < 0 { position + last } else { position };
    let (from, to) = (counted(start), end.map_or(last, counted));
    if end.is_some() && to < from {
        let end = end.unwrap_or(last);
        return wrong(format!(
            "the range {start}..{end} of dimension {dim} runs backwards: its end is before its start"
        ));
    }
    // A range without an end that starts beyond the array selects nothing.
    let from = if end.is_none() { from.min(last) } else { from };
    let (Ok(first), true) = (u64::try_from(from), to <= last) else {
        let end = end.unwrap_or(last);
        return wrong(format!(
            "selection {start}..{end} of dimension {dim} is not inside its length {length}"
        ));
    };
    let elements = u64::try_from(to - from).unwrap_or(0);
    let apart = u64::try_from(step.unsigned_abs()).unwrap_or(u64::MAX);
    let count = elements.div_ceil(apart);
    // The step of a single element has no meaning.
    let picked = |start| Picked { start, count, step: if count <= 1 { 1 } else { apart }, keep: true };
    let reversed = step < 0;
    // Backwards, the selected elements end with the last one of the range.
    let start = if reversed && count > 0 { first + (elements - 1) % apart } else { first };
    Ok(Along::Steps { dim, picked: picked(start), reversed: reversed && count > 1 })
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
        Self(Kind::Index(index.position()))
    }
}

impl<T: Position> From<Vec<T>> for Axis {
    fn from(positions: Vec<T>) -> Self {
        Self::list(positions)
    }
}

impl<T: Position> From<&[T]> for Axis {
    fn from(positions: &[T]) -> Self {
        Self::list(positions.iter().copied())
    }
}

impl<T: Position, const N: usize> From<[T; N]> for Axis {
    fn from(positions: [T; N]) -> Self {
        Self::list(positions)
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
/// let last = Selection::from((-1, .., -10..));              // negative positions count from the end
/// let rows = Selection::from(([7, 3, 3], ..));              // a list of positions, in any order
/// # let values = [0.0; 8];
/// let read = Selection::from((3_u64, 0..values.len()));     // `usize`, the type of slice lengths
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[doc(alias("oindex", "vindex", "slice"))]
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

    /// Selects single elements, each by its position in every dimension. The result has one dimension.
    ///
    /// ```
    /// # use zarr_array::{ArrayMeta, ArrayResult, DataType, Selection, blocking::Array, standard};
    /// # let meta = ArrayMeta::builder([4, 6], DataType::Int32).chunks([2, 3]).build()?;
    /// # let array = Array::create(zarr_store::MemoryStore::new(), "/a", meta, &standard())?;
    /// # array.write(.., &(0..24).collect::<Vec<i32>>())?;
    /// let corners = array.read::<i32>(Selection::points([[0, 0], [0, -1], [-1, 0], [-1, -1]]))?;
    /// assert_eq!(corners.as_slice(), [0, 5, 18, 23]);
    /// # ArrayResult::Ok(())
    /// ```
    #[doc(alias = "vindex")]
    pub fn points<T: Position, const N: usize>(points: impl IntoIterator<Item = [T; N]>) -> Self {
        let mut lists = [const { Vec::new() }; N];
        for point in points {
            lists.iter_mut().zip(point).for_each(|(list, position)| list.push(position));
        }
        Self(lists.into_iter().map(Axis::points).collect())
    }

    /// Selects the elements where `mask` is true, in C order. The result has one dimension. The mask must have the
    /// lengths of the first dimensions of the array; further dimensions are selected whole.
    ///
    /// ```
    /// # use zarr_array::{ArrayMeta, ArrayResult, DataType, NdVec, Selection, blocking::Array, standard};
    /// # let meta = ArrayMeta::builder([2, 3], DataType::Int32).chunks([2, 2]).build()?;
    /// # let array = Array::create(zarr_store::MemoryStore::new(), "/a", meta, &standard())?;
    /// # array.write(.., &[1, 2, 3, 4, 5, 6])?;
    /// let mask = NdVec::new([2, 3], vec![true, false, true, false, false, true])?;
    /// assert_eq!(array.read::<i32>(Selection::mask(&mask))?.as_slice(), [1, 3, 6]);
    /// # ArrayResult::Ok(())
    /// ```
    pub fn mask(mask: &NdVec<bool>) -> Self {
        let shape = mask.shape();
        let mut lists = vec![Vec::new(); shape.len()];
        for (number, _) in (0_u64..).zip(mask.as_slice()).filter(|(_, is_in)| **is_in) {
            let mut rest = number;
            for (list, length) in lists.iter_mut().zip(shape).rev() {
                list.push(rest % length);
                rest /= length;
            }
        }
        let axis =
            |(list, length): (_, &u64)| Axis(Kind::Points(Positions::new::<u64>(list, Some(*length)), 0));
        Self(lists.into_iter().zip(shape).map(axis).collect())
    }

    /// Returns the smallest box that has all selected elements of an array of `shape`. The ranges are empty if nothing is
    /// selected.
    ///
    /// ```
    /// # use zarr_array::{ArrayResult, Axis, Selection};
    /// let selection = Selection::from((Axis::step(.., -10), [7, 3, 3]));
    /// assert_eq!(selection.bounds(&[95, 10, 2])?, [4..95, 3..8, 0..2]);
    /// # ArrayResult::Ok(())
    /// ```
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::ArrayErrorKind::InvalidArgument) if the selection is not inside the array.
    pub fn bounds(&self, shape: &[u64]) -> ArrayResult<Vec<Range<u64>>> {
        let mut bounds = vec![0..0; shape.len()];
        for along in self.resolve(shape)? {
            along.bounds(|dim, range| bounds[dim] = range);
        }
        Ok(bounds)
    }

    /// Returns the selection of these elements of an array with `rank` dimensions, each of which varies along one entry.
    pub(crate) fn of(places: &[Along], rank: usize) -> Self {
        let mut axes = vec![Axis::WHOLE; rank];
        for (group, along) in places.iter().enumerate() {
            match along {
                Along::Steps { dim, picked, reversed } => axes[*dim] = Axis::steps(picked, *reversed),
                Along::List { dims, positions } => {
                    for (place, dim) in dims.iter().enumerate() {
                        let list = positions.iter().skip(place).step_by(dims.len()).copied();
                        axes[*dim] = Axis(Kind::Points(Positions::new(list, None), group));
                    }
                }
            }
        }
        Self(axes)
    }

    /// Returns the elements that it selects in an array of `shape`: one entry per dimension of the result, and per
    /// index, which has none.
    pub(crate) fn resolve(&self, shape: &[u64]) -> ArrayResult<Vec<Along>> {
        if self.0.len() > shape.len() {
            return Err(ArrayError::invalid(format!(
                "the selection has {} dimensions, the array has {}",
                self.0.len(),
                shape.len()
            )));
        }
        let axes = self.0.iter().chain(std::iter::repeat(&Axis::WHOLE));
        let mut all = Vec::with_capacity(shape.len());
        // Where the points of each group are in `all`.
        let mut points: Vec<(usize, usize)> = Vec::new();
        for (dim, (axis, length)) in axes.zip(shape).enumerate() {
            let along = axis.resolve(dim, *length)?;
            let Kind::Points(_, group) = axis.0 else {
                all.push(along);
                continue;
            };
            match points.iter().find(|(of, _)| *of == group) {
                Some((_, first)) => along.join(&mut all[*first])?,
                None => {
                    points.push((group, all.len()));
                    all.push(along);
                }
            }
        }
        Ok(all)
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

impl From<Axis> for Selection {
    fn from(axis: Axis) -> Self {
        Self(vec![axis])
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

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(selection: impl Into<Selection>, shape: &[u64]) -> Option<Vec<(u64, u64, bool)>> {
        let along = selection.into().resolve(shape).ok()?;
        let picked = along.iter().filter_map(Along::ascending);
        Some(picked.map(|p| (p.start, p.count, p.keep)).collect())
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
        let message = |axis: Axis| format!("{:#}", Selection::new(vec![axis]).resolve(&[10]).unwrap_err());
        for (axis, expected) in [
            (Axis::from(8..4), "the range 8..4 of dimension 0 runs backwards: its end is before its start"),
            (
                Axis::from(12..11),
                "the range 12..11 of dimension 0 runs backwards: its end is before its start",
            ),
            (Axis::from(8..11), "selection 8..11 of dimension 0 is not inside its length 10"),
            (Axis::from(-2..4), "the range -2..4 of dimension 0 runs backwards: its end is before its start"),
            (Axis::from(-11..4), "selection -11..4 of dimension 0 is not inside its length 10"),
            (Axis::from(-11), "index -11 of dimension 0 is not inside its length 10"),
            (Axis::from(10), "index 10 of dimension 0 is not inside its length 10"),
            (Axis::list([0, 10]), "index 10 of dimension 0 is not inside its length 10"),
            (Axis::mask(&[true; 9]), "the mask has length 9 in dimension 0, the array has 10"),
            (Axis::step(.., 0), "the step of dimension 0 is 0"),
        ] {
            assert_eq!(message(axis), expected);
        }
    }

    #[test]
    fn negative_positions_count_from_the_end() {
        let shape = [10, 20];
        assert_eq!(counts((-1, -3..), &shape).unwrap(), [(9, 1, false), (17, 3, true)]);
        assert_eq!(counts((-10..-1, ..=-1), &shape).unwrap(), [(0, 9, true), (0, 20, true)]);
        assert_eq!(counts((..=-2, -5..=-4), &shape).unwrap(), [(0, 9, true), (15, 2, true)]);
        assert_eq!(counts([Axis::step(-4.., 2)], &shape).unwrap()[0], (6, 2, true));
    }

    #[test]
    fn a_negative_step_begins_with_the_last_element() {
        let positions = |axis: Axis| {
            let along = axis.resolve(0, 10).unwrap();
            let mut all = Vec::new();
            (0..along.count()).for_each(|element| along.locate(element, |_, position| all.push(position)));
            all
        };
        assert_eq!(positions(Axis::step(.., -1)), [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
        assert_eq!(positions(Axis::step(2..9, -2)), [8, 6, 4, 2]);
        assert_eq!(positions(Axis::step(2..9, -4)), [8, 4]);
        assert_eq!(positions(Axis::step(2..9, -100)), [8]);
        assert_eq!(positions(Axis::step(3..3, -1)), [] as [u64; 0]);
        assert_eq!(positions(Axis::step(2..9, i64::MIN)), [8]);
    }

    #[test]
    fn points_vary_together_in_the_place_of_the_first() {
        let selection = Selection::from((Axis::points([1, 2]), .., Axis::points([-1, 0])));
        let along = selection.resolve(&[4, 5, 6]).unwrap();
        assert_eq!(along.iter().map(Along::count).collect::<Vec<_>>(), [2, 5]);
        assert_eq!(along[0], Along::List { dims: vec![0, 2], positions: [1, 5, 2, 0].into() });
        let wrong = Selection::from([Axis::points([1, 2]), Axis::points([0])]);
        assert_eq!(
            format!("{:#}", wrong.resolve(&[4, 5]).unwrap_err()),
            "the points have 2 positions in dimension 0, but 1 in dimension 1"
        );
    }
}
