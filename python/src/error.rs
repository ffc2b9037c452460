//! Errors as the exceptions of `zarr_rs.errors`.

use std::error::Error;
use std::io;

use pyo3::prelude::*;
use zarr_array::{ArrayError, ArrayErrorKind as Kind};
use zarr_copy::{CopyError, CopyErrorKind};
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

/// Returns the exception of an error of a copy. The errors of further nodes are notes of the exception.
pub(crate) fn raised_in_copy(py: Python<'_>, e: &CopyError) -> PyErr {
    let raised = match e.kind() {
        CopyErrorKind::Node(kind) => exception(py, e, kind, None, cause::<ArrayError>(e)),
        kind => {
            let kind = match kind {
                CopyErrorKind::Taken => "Exists",
                CopyErrorKind::Differs => "Differs",
                _ => "InvalidArgument",
            };
            raised_of_kind(py, kind, e.to_string())
        }
    };
    for other in e.others() {
        // A note is a help.
        let _ = raised.value(py).call_method1("add_note", (other.to_string(),));
    }
    raised
}

/// Returns the exception of a kind that no node is named in.
pub(crate) fn raised_of_kind(py: Python<'_>, kind: &str, text: String) -> PyErr {
    of_kind(py, kind, text, None, None)
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
    of_kind(py, &format!("{kind:?}"), text, node.or_else(|| inner.and_then(ArrayError::array)), inner)
}

fn of_kind(
    py: Python<'_>,
    kind: &str,
    text: String,
    node: Option<&str>,
    inner: Option<&ArrayError>,
) -> PyErr {
    let chunk = inner.and_then(ArrayError::chunk).map(<[u64]>::to_vec);
    let key = inner.and_then(ArrayError::key);
    let made = py
        .import("zarr_rs.errors")
        .and_then(|errors| errors.getattr("of_kind")?.call1((kind, text, node, chunk, key)));
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
