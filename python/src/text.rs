//! Elements of variable length, as Python objects: strings as `str`, bytes as `bytes`.

use pyo3::exceptions::PyNotImplementedError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};
use zarr_array::{ArrayResult, DataType, NdVec, Selection, blocking::Array};

use crate::error::raised;
use crate::interrupt::run;

/// Whether the elements are strings or bytes of variable length.
pub(crate) fn is_text(array: &Array) -> bool {
    matches!(array.data_type(), DataType::String | DataType::Bytes)
}

/// Reads a selection into a list, in C order.
pub(crate) fn read<'py>(
    py: Python<'py>,
    array: &Array,
    selection: Selection,
) -> PyResult<Bound<'py, PyList>> {
    let failed = |e| raised(py, array.storage(), &e);
    match array.data_type() {
        DataType::String => {
            let read: ArrayResult<NdVec<String>> = run(py, array, usize::MAX, |array| array.read(selection))?;
            PyList::new(py, read.map_err(failed)?.as_slice().iter().map(|text| PyString::new(py, text)))
        }
        DataType::Bytes => {
            let read: ArrayResult<NdVec<Vec<u8>>> =
                run(py, array, usize::MAX, |array| array.read(selection))?;
            PyList::new(py, read.map_err(failed)?.as_slice().iter().map(|bytes| PyBytes::new(py, bytes)))
        }
        other => Err(unknown(other)),
    }
}

/// Writes a list, in C order, to a selection.
pub(crate) fn write(array: &Array, selection: Selection, values: &Bound<'_, PyList>) -> PyResult<()> {
    let py = values.py();
    let written = match array.data_type() {
        DataType::String => {
            let values: Vec<String> = values.extract()?;
            run(py, array, usize::MAX, |array| array.write(selection, &values))?
        }
        DataType::Bytes => {
            let values = values.iter().map(|value| Ok(value.cast::<PyBytes>()?.as_bytes().to_vec()));
            let values: Vec<Vec<u8>> = values.collect::<PyResult<_>>()?;
            run(py, array, usize::MAX, |array| array.write(selection, &values))?
        }
        other => return Err(unknown(other)),
    };
    written.map_err(|e| raised(py, array.storage(), &e))
}

fn unknown(data_type: &DataType) -> PyErr {
    PyNotImplementedError::new_err(format!("elements of data type {data_type} are neither strings nor bytes"))
}
