//! Selections as Python gives them.

use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use zarr_array::{Axis, Selection};

/// The selected positions in a dimension, inside the array.
#[derive(FromPyObject)]
pub(crate) enum Along<'py> {
    /// A position, which drops the dimension.
    Index(u64),
    /// Every `step`-th element of a range from `start` to `end`. A negative step begins with the last one.
    Steps(u64, u64, i64),
    /// Positions in any order.
    List(Bound<'py, PyArray1<u64>>),
}

/// Returns the selection of an entry per dimension. If `points` is set, all lists vary together.
pub(crate) fn selection(entries: Vec<Along<'_>>, points: bool) -> PyResult<Selection> {
    entries.into_iter().map(|entry| axis(entry, points)).collect::<PyResult<_>>().map(Selection::new)
}

/// Returns the selection in one dimension. If `points` is set, a list varies together with the other lists.
pub(crate) fn axis(entry: Along<'_>, points: bool) -> PyResult<Axis> {
    match entry {
        Along::Index(index) => Ok(Axis::from(index)),
        Along::Steps(start, end, step) => Ok(Axis::step(start..end, step)),
        Along::List(list) => {
            let list = list.try_readonly()?;
            let positions = list.as_slice()?.iter().copied();
            Ok(if points { Axis::points(positions) } else { Axis::list(positions) })
        }
    }
}
