//! `array[key]` of positions, slices and `...`: most calls of programs, with one crossing between the languages. The
//! selections that are written in Python do everything else, and raise the errors.

use numpy::{PyArrayDyn, PyUntypedArrayMethods, dtype};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyEllipsis, PyInt, PySlice, PySliceMethods, PyTuple, PyType};
use zarr_array::{Axis, Element, Selection, WriteElement, blocking::Array};

use crate::elements::{read_into, write_from};

/// A selection with an element or more.
pub(crate) struct Basic {
    selection: Selection,
    /// The shape of the result.
    shape: Vec<usize>,
}

impl Basic {
    /// Returns the selection `array[key]` of an array of shape `lengths`, or `None` if it has anything but positions,
    /// slices and one `...`, is empty, or is not inside the array.
    pub(crate) fn new(key: &Bound<'_, PyAny>, lengths: &[u64]) -> Option<Self> {
        let one;
        let items: &[Bound<'_, PyAny>] = match key.cast::<PyTuple>() {
            Ok(items) => &items.iter().collect::<Vec<_>>(),
            Err(_) => {
                one = [key.clone()];
                &one
            }
        };
        let is_dots = |item: &Bound<'_, PyAny>| item.is_instance_of::<PyEllipsis>();
        let dots = items.iter().position(is_dots);
        let (before, after) = match dots {
            Some(place) => (items.get(..place)?, items.get(place + 1..)?),
            None => (items, &[][..]),
        };
        let skipped = lengths.len().checked_sub(before.len() + after.len())?;
        let (mut axes, mut shape) = (Vec::with_capacity(lengths.len()), Vec::with_capacity(lengths.len()));
        let items = before.iter().map(Some).chain((0..skipped).map(|_| None)).chain(after.iter().map(Some));
        for (item, length) in items.zip(lengths) {
            let (axis, count) = match item {
                Some(item) => along(item, *length)?,
                None => whole(*length)?,
            };
            axes.push(axis);
            shape.extend(count);
        }
        Some(Self { selection: Selection::new(axes), shape })
    }
}

/// Returns the selection in a dimension, and the number of elements, or `None` in its place for a position.
fn along(item: &Bound<'_, PyAny>, length: u64) -> Option<(Axis, Option<usize>)> {
    if let Ok(slice) = item.cast::<PySlice>() {
        let found = slice.indices(isize::try_from(length).ok()?).ok()?;
        let start = i64::try_from(found.start).ok()?;
        let step = i64::try_from(found.step).ok()?;
        let count = Some(found.slicelength).filter(|count| *count > 0)?;
        let last = start + step * i64::try_from(count - 1).ok()?;
        return Some((Axis::step(start.min(last)..start.max(last) + 1, step), Some(count)));
    }
    if !is_position(item) {
        return None;
    }
    let (index, length) = (item.extract::<i64>().ok()?, i64::try_from(length).ok()?);
    let index = if index < 0 { index.checked_add(length)? } else { index };
    (0..length).contains(&index).then(|| (Axis::from(index), None))
}

fn whole(length: u64) -> Option<(Axis, Option<usize>)> {
    let count = usize::try_from(length).ok().filter(|count| *count > 0)?;
    Some((Axis::step(0..length, 1), Some(count)))
}

/// Whether an item is an integer of Python or NumPy. A truth value is not.
fn is_position(item: &Bound<'_, PyAny>) -> bool {
    static INTEGER: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let integer = || INTEGER.import(item.py(), "numpy", "integer");
    item.is_exact_instance_of::<PyInt>()
        || integer().is_ok_and(|kind| item.is_instance(kind).unwrap_or(false))
}

/// Reads a selection into `out`, which must have its shape, or into new memory. Returns the elements, or `None` if `out`
/// is not such memory.
pub(crate) fn read<'py, T>(
    array: &Array,
    basic: Basic,
    out: Option<&Bound<'py, PyAny>>,
    py: Python<'py>,
) -> PyResult<Option<Bound<'py, PyAny>>>
where
    T: Element + numpy::Element,
{
    static EMPTY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    if let Some(out) = out {
        let fits = out.cast::<PyArrayDyn<T>>().is_ok_and(|memory| memory.shape() == basic.shape);
        if !fits || !out.getattr(intern!(py, "flags"))?.getattr(intern!(py, "writeable"))?.is_truthy()? {
            return Ok(None);
        }
        read_into::<T>(array, basic.selection, out)?;
        return Ok(Some(out.clone()));
    }
    let shape = PyTuple::new(py, &basic.shape)?;
    let memory = EMPTY.import(py, "numpy", "empty")?.call1((shape, dtype::<T>(py)))?;
    read_into::<T>(array, basic.selection, &memory)?;
    // A single element is a scalar, as with NumPy.
    if basic.shape.is_empty() { memory.get_item(()).map(Some) } else { Ok(Some(memory)) }
}

/// Writes values that have the shape of the selection and the type of the elements. Returns whether they do.
pub(crate) fn write<T>(array: &Array, basic: Basic, values: &Bound<'_, PyAny>) -> PyResult<bool>
where
    T: WriteElement + numpy::Element,
{
    let fits = values.cast::<PyArrayDyn<T>>().is_ok_and(|values| values.shape() == basic.shape);
    if fits {
        write_from::<T>(array, basic.selection, values)?;
    }
    Ok(fits)
}

#[expect(clippy::unnecessary_wraps, reason = "as `read`")]
pub(crate) fn not_read<'py>(
    _: &Array,
    _: Basic,
    _: Option<&Bound<'py, PyAny>>,
    _: Python<'py>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    Ok(None)
}

#[expect(clippy::unnecessary_wraps, reason = "as `write`")]
pub(crate) fn not_written(_: &Array, _: Basic, _: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(false)
}
