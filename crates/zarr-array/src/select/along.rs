//! The elements that a selection has along one dimension of its result.

use std::ops::Range;
use std::sync::Arc;

use crate::error::{ArrayError, ArrayResult};

/// The selected elements along one dimension of the result, in the order of the selection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Along {
    /// Elements at equal steps in one dimension of the array.
    Steps {
        dim: usize,
        picked: Picked,
        /// Whether the last element comes first.
        reversed: bool,
    },
    /// Elements at any places.
    List {
        /// The dimensions of the array that vary together.
        dims: Vec<usize>,
        /// The position of each element in each of these dimensions, one element after the other.
        positions: Arc<[u64]>,
    },
}

impl Along {
    /// All elements of a dimension.
    pub(crate) fn whole(dim: usize, length: u64) -> Self {
        Self::Steps { dim, picked: Picked::whole(length), reversed: false }
    }

    /// The number of elements.
    pub(crate) fn count(&self) -> u64 {
        match self {
            Self::Steps { picked, .. } => picked.count,
            Self::List { dims, positions } => (positions.len() / dims.len().max(1)) as u64,
        }
    }

    /// The number of dimensions of the array that vary along it.
    pub(crate) fn rank(&self) -> usize {
        match self {
            Self::Steps { .. } => 1,
            Self::List { dims, .. } => dims.len(),
        }
    }

    /// Whether the dimension is in the result.
    pub(crate) fn keeps(&self) -> bool {
        match self {
            Self::Steps { picked, .. } => picked.keep,
            Self::List { .. } => true,
        }
    }

    /// Calls `set` with each dimension of the array and the position of an element in it.
    pub(crate) fn locate(&self, element: u64, mut set: impl FnMut(usize, u64)) {
        match self {
            Self::Steps { dim, picked, reversed } => {
                let element = if *reversed { picked.count.saturating_sub(1 + element) } else { element };
                set(*dim, picked.start.saturating_add(element.saturating_mul(picked.step)));
            }
            Self::List { dims, positions } => {
                let first = usize::try_from(element).unwrap_or(usize::MAX).saturating_mul(dims.len());
                dims.iter()
                    .zip(positions.iter().skip(first))
                    .for_each(|(dim, position)| set(*dim, *position));
            }
        }
    }

    /// Calls `set` with each dimension of the array and the range that the positions in it span.
    pub(crate) fn bounds(&self, mut set: impl FnMut(usize, Range<u64>)) {
        match self {
            Self::Steps { dim, picked, .. } => {
                let last = picked.count.checked_sub(1).map(|last| last.saturating_mul(picked.step));
                let end = last.map_or(0, |last| last.saturating_add(1));
                set(*dim, picked.start..picked.start.saturating_add(end));
            }
            Self::List { dims, positions } => {
                for (place, dim) in dims.iter().enumerate() {
                    let of = || positions.iter().skip(place).step_by(dims.len()).copied();
                    set(*dim, of().min().unwrap_or(0)..of().max().map_or(0, |last| last.saturating_add(1)));
                }
            }
        }
    }

    /// The first dimension of the array that varies along it.
    pub(crate) fn first_dim(&self) -> Option<usize> {
        match self {
            Self::Steps { dim, .. } => Some(*dim),
            Self::List { dims, .. } => dims.iter().min().copied(),
        }
    }

    /// Returns those of the elements at equal steps, the last one first if `backwards`.
    pub(crate) fn steps(&self, of: Picked, backwards: bool) -> Self {
        match self {
            Self::Steps { dim, picked, reversed } => {
                let last = of.start.saturating_add(of.count.saturating_sub(1).saturating_mul(of.step));
                let first = if *reversed { picked.count.saturating_sub(1 + last) } else { of.start };
                let start = picked.start.saturating_add(first.saturating_mul(picked.step));
                let step = if of.count > 1 { picked.step.saturating_mul(of.step) } else { 1 };
                let picked = Picked { start, step, ..of };
                Self::Steps { dim: *dim, picked, reversed: of.count > 1 && *reversed != backwards }
            }
            Self::List { dims, positions } => {
                let element = |n: u64| of.start + if backwards { of.count - 1 - n } else { n } * of.step;
                let points = (0..of.count).map(element).flat_map(|element| {
                    let first = usize::try_from(element).unwrap_or(usize::MAX).saturating_mul(dims.len());
                    positions.iter().skip(first).take(dims.len()).copied()
                });
                Self::List { dims: dims.clone(), positions: points.collect() }
            }
        }
    }

    /// Returns the elements as ascending steps, whatever their order, or `None` for a list.
    pub(crate) fn ascending(&self) -> Option<Picked> {
        match self {
            Self::Steps { picked, .. } => Some(*picked),
            Self::List { .. } => None,
        }
    }

    /// Adds the positions of these points in one more dimension to `points`.
    pub(super) fn join(self, points: &mut Self) -> ArrayResult<()> {
        let (Self::List { dims, positions }, Self::List { dims: more, positions: other }) = (points, self)
        else {
            return Ok(());
        };
        let rank = dims.len();
        let counts = (positions.len() / rank, other.len());
        if counts.0 != counts.1 {
            return Err(ArrayError::invalid(format!(
                "the points have {} positions in dimension {}, but {} in dimension {}",
                counts.0, dims[0], counts.1, more[0]
            )));
        }
        let mut joined = Vec::with_capacity(positions.len() + other.len());
        for (point, last) in positions.chunks(rank).zip(other.iter()) {
            joined.extend_from_slice(point);
            joined.push(*last);
        }
        *positions = joined.into();
        dims.extend(more);
        Ok(())
    }
}

/// Elements at equal steps in one dimension of known length.
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
