//! Elements as arrays of Arrow: read into capsules that every library of Arrow takes, and written from a stream of Arrow,
//! which is checked. A capsule from outside is not, so taking one is not safe.

use arrow_array::{Array as _, ffi::to_ffi};
use arrow_buffer::Buffer;
use arrow_ipc::reader::StreamDecoder;
use arrow_schema::ArrowError;
use bytes::Bytes;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use zarr_array::{Column, Selection, blocking::Array};
use zarr_arrow::arrow_60;

use crate::error::raised;
use crate::interrupt::run;

/// The schema and the array.
pub(crate) type Capsules<'py> = (Bound<'py, PyCapsule>, Bound<'py, PyCapsule>);

/// Reads a selection.
pub(crate) fn read<'py>(py: Python<'py>, array: &Array, selection: Selection) -> PyResult<Capsules<'py>> {
    let read = run(py, array, usize::MAX, move |array| array.read_column(selection))?;
    let (_, elements) = read.map_err(|e| raised(py, array.storage(), &e))?;
    let elements = py.detach(|| arrow_60::array(&elements)).map_err(failed)?;
    let (elements, schema) = to_ffi(&elements.to_data()).map_err(failed)?;
    // The names are those of the PyCapsule interface of Arrow.
    let schema = PyCapsule::new_with_value(py, schema, c"arrow_schema")?;
    Ok((schema, PyCapsule::new_with_value(py, elements, c"arrow_array")?))
}

/// Writes the column of a stream, which has one batch, to a selection of as many elements.
pub(crate) fn write(py: Python<'_>, array: &Array, selection: Selection, stream: Bytes) -> PyResult<()> {
    let bytes = stream.len();
    let values = py.detach(|| column(stream)).map_err(failed)?;
    run(py, array, bytes, move |array| array.write_column(selection, &values))?
        .map_err(|e| raised(py, array.storage(), &e))
}

fn column(stream: Bytes) -> Result<Column, ArrowError> {
    let missing = || ArrowError::IpcError("the stream has no column".to_owned());
    let batch = StreamDecoder::new().decode(&mut Buffer::from(stream))?.ok_or_else(missing)?;
    arrow_60::column(batch.columns().first().ok_or_else(missing)?)
}

fn failed(e: ArrowError) -> PyErr {
    PyRuntimeError::new_err(e.to_string())
}
