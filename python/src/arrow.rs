//! Elements as arrays of Arrow, in capsules that every library of Arrow takes.

use arrow_array::{Array as _, ffi::to_ffi};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use zarr_array::{Selection, blocking::Array};

use crate::error::raised;
use crate::interrupt::run;

/// The schema and the array.
pub(crate) type Capsules<'py> = (Bound<'py, PyCapsule>, Bound<'py, PyCapsule>);

/// Reads a selection.
pub(crate) fn read<'py>(py: Python<'py>, array: &Array, selection: Selection) -> PyResult<Capsules<'py>> {
    let read = run(py, array, usize::MAX, move |array| array.read_arrow(selection))?;
    let (_, elements) = read.map_err(|e| raised(py, &e))?;
    let failed = |e: arrow_schema::ArrowError| PyRuntimeError::new_err(e.to_string());
    let (elements, schema) = to_ffi(&elements.to_data()).map_err(failed)?;
    // The names are those of the PyCapsule interface of Arrow.
    let schema = PyCapsule::new_with_value(py, schema, c"arrow_schema")?;
    Ok((schema, PyCapsule::new_with_value(py, elements, c"arrow_array")?))
}
