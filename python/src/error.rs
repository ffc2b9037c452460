//! Errors as the exceptions of `zarr_rs.errors`.

use std::error::Error;
use std::io;

use pyo3::prelude::*;
use zarr_array::{ArrayError, ArrayErrorKind as Kind};
use zarr_hierarchy::HierarchyError;

/// Returns the exception of an error. It has the attributes `kind`, `array`, `chunk` and `key`.
///
/// If a store that is written in Python raised an exception, that exception is returned, with the place as a note.
pub(crate) fn raised(py: Python<'_>, e: &ArrayError) -> PyErr {
    exception(py, e, e.kind(), e.array(), Some(e))
}

/// Returns the exception of an error of a group, as [`raised`].
pub(crate) fn raised_in_group(py: Python<'_>, e: &HierarchyError) -> PyErr {
    let inner = e.source().and_then(|e| e.downcast_ref::<ArrayError>());
    exception(py, e, e.kind(), e.node(), inner)
}

fn exception(
    py: Python<'_>,
    e: &(dyn Error + 'static),
    kind: Kind,
    node: Option<&str>,
    inner: Option<&ArrayError>,
) -> PyErr {
    let text = e.to_string();
    if let Some(raised) = cause::<PyErr>(e) {
        let raised = raised.clone_ref(py);
        // A note is a help: an exception that refuses it is still the cause.
        let _ = raised.value(py).call_method1("add_note", (text,));
        return raised;
    }
    let is_missing = cause::<io::Error>(e).is_some_and(|e| e.kind() == io::ErrorKind::NotFound);
    let kind = if kind == Kind::Io && is_missing { Kind::NotFound } else { kind };
    let chunk = inner.and_then(ArrayError::chunk).map(<[u64]>::to_vec);
    let key = inner.and_then(ArrayError::key);
    let made = py
        .import("zarr_rs.errors")
        .and_then(|errors| errors.getattr("of_kind")?.call1((format!("{kind:?}"), text, node, chunk, key)));
    made.map_or_else(|failed| failed, PyErr::from_value)
}

/// Returns the first cause of an error that has the type `E`.
fn cause<'a, E: Error + 'static>(e: &'a (dyn Error + 'static)) -> Option<&'a E> {
    let mut cause = e.source();
    while let Some(e) = cause {
        if let Some(found) = e.downcast_ref::<E>() {
            return Some(found);
        }
        cause = e.source();
    }
    None
}
