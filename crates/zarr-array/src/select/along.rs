//! The elements that a selection has along one dimension of its result.

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
        let points = positions.chunks(rank).zip(other.iter());
        *positions = points.flat_map(|(point, last)| point.iter().chain([last]).copied()).collect();
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
