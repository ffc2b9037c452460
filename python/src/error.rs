//! Errors as Python exceptions of the built-in classes, with the place of the error as attributes.

use std::error::Error;

use pyo3::exceptions::{
    PyFileNotFoundError, PyMemoryError, PyNotImplementedError, PyOSError, PyPermissionError, PyRuntimeError,
    PyValueError,
};
use pyo3::prelude::*;
use zarr_array::{ArrayError, ArrayErrorKind as Kind};

/// Returns the exception of an error. It has the attributes `kind`, `array`, `chunk` and `key`.
///
/// If a store that is written in Python raised an exception, that exception is returned, with the place as a note.
pub(crate) fn raised(py: Python<'_>, e: &ArrayError) -> PyErr {
    let text = e.to_string();
    let raised = match of_python(py, e) {
        Some(raised) => {
            // A note is a help: an exception that refuses it is still the cause.
            let _ = raised.value(py).call_method1("add_note", (text,));
            raised
        }
        None => match e.kind() {
            Kind::NotFound => PyFileNotFoundError::new_err(text),
            Kind::PermissionDenied => PyPermissionError::new_err(text),
            Kind::Unsupported | Kind::UnknownExtension => PyNotImplementedError::new_err(text),
            Kind::InvalidArgument | Kind::Metadata | Kind::Corrupt | Kind::Checksum => {
                PyValueError::new_err(text)
            }
            Kind::LimitExceeded => PyMemoryError::new_err(text),
            Kind::Conflict | Kind::Uncertain | Kind::Unavailable | Kind::Io => PyOSError::new_err(text),
            _ => PyRuntimeError::new_err(text),
        },
    };
    let value = raised.value(py);
    let chunk = e.chunk().map(<[u64]>::to_vec);
    // Exceptions without a dictionary keep only the text.
    let _ = value.setattr("kind", format!("{:?}", e.kind()));
    let _ = value.setattr("array", e.array());
    let _ = value.setattr("chunk", chunk);
    let _ = value.setattr("key", e.key());
    raised
}

/// Returns the Python exception among the causes of an error.
fn of_python(py: Python<'_>, e: &ArrayError) -> Option<PyErr> {
    let mut cause = e.source();
    while let Some(e) = cause {
        if let Some(raised) = e.downcast_ref::<PyErr>() {
            return Some(raised.clone_ref(py));
        }
        cause = e.source();
    }
    None
}
