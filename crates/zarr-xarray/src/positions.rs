//! Positions along one dimension: as they are given to `isel`, and as a selection leaves them.

use std::ops::{Range, RangeFrom, RangeFull, RangeTo};

use zarr_array::Axis;

use crate::error::{XarrayError, XarrayResult};

/// Positions along one dimension: one position, which drops the dimension, a range with a step, or a list.
///
/// They are those of Python. A negative position counts from the end: -1 is the last one. A range is clipped to the
/// dimension. A single position outside of the dimension is an error.
///
/// ```
/// # use zarr_xarray::Positions;
/// let (last, day) = (Positions::from(-1), Positions::from(0..24));
/// let (north_up, stations) = (Positions::step(.., -1), Positions::from([17, 4, 4]));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Positions(Kind);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    One(i64),
    Range { start: Option<i64>, end: Option<i64>, step: i64 },
    List(Vec<i64>),
    Mask(Vec<bool>),
}

/// The selected positions of a stored dimension, in the order of the selection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Picked {
    /// One position. The selection does not have the dimension.
    One(u64),
    /// `count` positions from `start` on.
    Steps {
        /// The first position.
        start: u64,
        /// The number of positions.
        count: u64,
        /// The distance of two positions, which may be negative.
        step: i128,
    },
    /// Any positions.
    List(Vec<u64>),
}

impl Picked {
    /// All positions of a dimension.
    pub(crate) fn whole(length: u64) -> Self {
        Self::Steps { start: 0, count: length, step: 1 }
    }

    /// The number of positions.
    pub(crate) fn len(&self) -> u64 {
        match self {
            Self::One(_) => 1,
            Self::Steps { count, .. } => *count,
            Self::List(list) => list.len() as u64,
        }
    }

    /// The stored position of a position of the view. A position beyond the end gives the last stored one.
    pub(crate) fn at(&self, position: u64) -> u64 {
        match self {
            Self::One(stored) => *stored,
            Self::Steps { start, step, .. } => {
                let stored = i128::from(*start).saturating_add(i128::from(position).saturating_mul(*step));
                u64::try_from(stored.max(0)).unwrap_or(u64::MAX)
            }
            Self::List(list) => {
                let position = usize::try_from(position).unwrap_or(usize::MAX);
                list.get(position).or(list.last()).copied().unwrap_or(0)
            }
        }
    }

    /// Returns the stored positions of `chosen`, which are positions in this view.
    pub(crate) fn then(&self, chosen: &Self) -> Self {
        match (self, chosen) {
            (_, Self::One(position)) => Self::One(self.at(*position)),
            (Self::Steps { step, .. }, Self::Steps { start, count, step: more }) => {
                Self::Steps { start: self.at(*start), count: *count, step: step.saturating_mul(*more) }
            }
            _ => Self::List((0..chosen.len()).map(|position| self.at(chosen.at(position))).collect()),
        }
    }

    /// Returns the selection of these positions in a stored array.
    pub(crate) fn axis(&self) -> Axis {
        match self {
            Self::One(position) => (*position).into(),
            Self::List(list) => Axis::list(list.iter().copied()),
            Self::Steps { count: 0, .. } => (0_u64..0).into(),
            Self::Steps { start, count, step } => {
                let last = self.at(count - 1);
                let (low, high) = (*start.min(&last), *start.max(&last));
                match i64::try_from(*step) {
                    Ok(step) => Axis::step(low..high.saturating_add(1), step),
                    // Steps that are so large have few positions.
                    Err(_) => Axis::list((0..*count).map(|position| self.at(position))),
                }
            }
        }
    }
}

impl Positions {
    /// Every `step`-th position of `range`, as `start:end:step` in Python. With a negative step the positions run
    /// backwards from the last one of `range`.
    ///
    /// ```
    /// # use zarr_xarray::Positions;
    /// assert_ne!(Positions::step(0..100, 10), Positions::step(0..100, -10)); // 0, 10, …, 90 and 99, 89, …, 9
    /// ```
    #[must_use]
    pub fn step(range: impl Into<Self>, step: i64) -> Self {
        match range.into().0 {
            Kind::Range { start, end, .. } => Self(Kind::Range { start, end, step }),
            other => Self(other),
        }
    }

    /// Returns the positions in a dimension.
    ///
    /// # Errors
    /// `Invalid` for a position outside of the dimension, a step of 0, and a mask of another length.
    pub(crate) fn resolve(&self, length: u64) -> XarrayResult<Picked> {
        match &self.0 {
            Kind::One(position) => inside(*position, length).map(Picked::One),
            Kind::List(list) => {
                let list = list.iter().map(|position| inside(*position, length));
                list.collect::<XarrayResult<_>>().map(Picked::List)
            }
            Kind::Mask(mask) if mask.len() as u64 != length => Err(XarrayError::invalid(format!(
                "the mask has length {}, but the dimension has length {length}",
                mask.len()
            ))),
            Kind::Mask(mask) => {
                let chosen = mask.iter().zip(0_u64..).filter(|(is_in, _)| **is_in);
                Ok(Picked::List(chosen.map(|(_, position)| position).collect()))
            }
            Kind::Range { step: 0, .. } => Err(XarrayError::invalid("the step of a range is 0")),
            Kind::Range { start, end, step } => {
                let from = start.map_or(0, |start| clipped(start, length));
                let to = end.map_or(length, |end| clipped(end, length)).max(from);
                let apart = step.unsigned_abs();
                let count = (to - from).div_ceil(apart);
                let first = if *step < 0 && count > 0 { to - 1 } else { from };
                Ok(Picked::Steps { start: first, count, step: (*step).into() })
            }
        }
    }
}

/// Returns a position, which must be inside of the dimension.
fn inside(position: i64, length: u64) -> XarrayResult<u64> {
    let counted = counted(position, length);
    u64::try_from(counted).ok().filter(|counted| *counted < length).ok_or_else(|| {
        XarrayError::invalid(format!("position {position} is outside of a dimension of length {length}"))
    })
}

/// Returns an end of a range, clipped to the dimension.
fn clipped(position: i64, length: u64) -> u64 {
    u64::try_from(counted(position, length)).unwrap_or(0).min(length)
}

/// Returns a position from the start of the dimension.
fn counted(position: i64, length: u64) -> i128 {
    if position < 0 { i128::from(position) + i128::from(length) } else { position.into() }
}

impl From<i64> for Positions {
    fn from(position: i64) -> Self {
        Self(Kind::One(position))
    }
}

impl From<Range<i64>> for Positions {
    fn from(range: Range<i64>) -> Self {
        Self(Kind::Range { start: Some(range.start), end: Some(range.end), step: 1 })
    }
}

impl From<RangeFrom<i64>> for Positions {
    fn from(range: RangeFrom<i64>) -> Self {
        Self(Kind::Range { start: Some(range.start), end: None, step: 1 })
    }
}

impl From<RangeTo<i64>> for Positions {
    fn from(range: RangeTo<i64>) -> Self {
        Self(Kind::Range { start: None, end: Some(range.end), step: 1 })
    }
}

impl From<RangeFull> for Positions {
    fn from(_: RangeFull) -> Self {
        Self(Kind::Range { start: None, end: None, step: 1 })
    }
}

impl From<Vec<i64>> for Positions {
    fn from(list: Vec<i64>) -> Self {
        Self(Kind::List(list))
    }
}

impl<const N: usize> From<[i64; N]> for Positions {
    fn from(list: [i64; N]) -> Self {
        Self(Kind::List(list.into()))
    }
}

/// The positions where the mask is true. It must be as long as the dimension.
impl From<&[bool]> for Positions {
    fn from(mask: &[bool]) -> Self {
        Self(Kind::Mask(mask.to_vec()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_those_of_python() {
        let list = |positions: Positions, length| {
            let picked = positions.resolve(length).unwrap();
            (0..picked.len()).map(|at| picked.at(at)).collect::<Vec<_>>()
        };
        for (positions, expected) in [
            (Positions::from(-1), &[9][..]),
            (Positions::from(-3..), &[7, 8, 9]),
            (Positions::from(8..99), &[8, 9]),
            (Positions::from(-99..2), &[0, 1]),
            (Positions::from(..-8), &[0, 1]),
            (Positions::from(12..14), &[]),
            (Positions::from(i64::MIN..i64::MAX), &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]),
            (Positions::step(.., 4), &[0, 4, 8]),
            (Positions::step(2..9, -4), &[8, 4]),
            (Positions::step(.., i64::MIN), &[9]),
            (Positions::from([3, -1, 3]), &[3, 9, 3]),
            (Positions::from(&[false, true][..]), &[1]),
        ] {
            let length = if expected == [1] { 2 } else { 10 };
            assert_eq!(list(positions.clone(), length), expected, "{positions:?}");
        }
        for wrong in [Positions::from(10), [0, -11].into(), Positions::step(.., 0), [true; 9][..].into()] {
            assert!(wrong.resolve(10).is_err(), "{wrong:?}");
        }
    }
}
