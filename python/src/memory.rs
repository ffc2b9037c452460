//! Memory of NumPy as Rust may refer to it.

use numpy::{Element, PyArray, PyArrayMethods, PyUntypedArrayMethods, ndarray::Dimension};
use pyo3::prelude::*;

/// Returns an array whose elements Rust can refer to: `values`, or a copy.
pub(crate) fn regular<'py, T: Element, D: Dimension>(
    values: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyArray<T, D>>> {
    let array = values.cast::<PyArray<T, D>>()?;
    if is_regular(array) {
        return Ok(array.clone());
    }
    Ok(array.call_method0("copy")?.cast_into()?)
}

/// Calls `fill` with `out` if Rust can refer to its elements, and otherwise with a copy that `out` then takes over.
pub(crate) fn filled<'py, T: Element, D: Dimension>(
    out: &Bound<'py, PyAny>,
    fill: impl FnOnce(&Bound<'py, PyArray<T, D>>) -> PyResult<()>,
) -> PyResult<()> {
    let memory = regular(out)?;
    fill(&memory)?;
    if memory.is(out) { Ok(()) } else { out.set_item(out.py().Ellipsis(), memory) }
}

/// Whether the elements are aligned and lie whole elements apart. Views of structs and of received bytes need not be so.
fn is_regular<T: Element, D: Dimension>(array: &Bound<'_, PyArray<T, D>>) -> bool {
    let step = isize::try_from(size_of::<T>()).unwrap_or(isize::MAX);
    let mut steps = array.shape().iter().zip(array.strides());
    array.data().is_aligned() && steps.all(|(length, stride)| *length < 2 || stride % step == 0)
}
