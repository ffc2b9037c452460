//! Errors as the exceptions of `zarr_rs.errors`.

use std::error::Error;

use pyo3::prelude::*;
use zarr_array::{ArrayError, ArrayErrorKind as Kind};
use zarr_copy::{CopyError, CopyErrorKind};
use zarr_hierarchy::HierarchyError;
use zarr_traits::cause::raw_os_error;
use zarr_traits::strided::StridedError;
use zarr_traits::{Storage, StoreError};

/// Returns the exception of an error. It has the attributes `kind`, `location`, `array`, `chunk` and `key`, and for an error
/// of the operating system also `errno` and `filename`.
///
/// If a store that is written in Python raised an exception, that exception is returned, with the place as a note.
pub(crate) fn raised(py: Python<'_>, storage: &Storage, e: &ArrayError) -> PyErr {
    raised_at(py, storage.location(), e)
}

/// Returns the exception of an error of a store at `place`, as [`raised`].
pub(crate) fn raised_at(py: Python<'_>, place: Option<&str>, e: &ArrayError) -> PyErr {
    exception(py, place, e, e.kind(), e.array(), Some(e))
}

/// Returns the exception of an error of a group, as [`raised`].
pub(crate) fn raised_in_group(py: Python<'_>, storage: &Storage, e: &HierarchyError) -> PyErr {
    exception(py, storage.location(), e, e.kind(), e.node(), Some(e.array_error()))
}

/// Returns the exception of an error of a copy from one storage to another, as [`raised`]. The errors of further nodes are
/// notes of the exception.
pub(crate) fn raised_in_copy(py: Python<'_>, from: &Storage, to: &Storage, e: &CopyError) -> PyErr {
    let raised = match e.kind() {
        CopyErrorKind::Node(kind) => {
            let place = if e.is_of_source() { from } else { to }.location();
            exception(py, place, e, kind, None, e.hierarchy_error().map(HierarchyError::array_error))
        }
        kind => {
            let kind = match kind {
                CopyErrorKind::Taken => "Exists",
                CopyErrorKind::Differs => "Differs",
                _ => "InvalidArgument",
            };
            raised_of_kind(py, kind, format!("{e:#}"))
        }
    };
    for other in e.others() {
        // A note is a help.
        let _ = raised.value(py).call_method1("add_note", (format!("{other:#}"),));
    }
    raised
}

/// Returns the exception of a kind that no node is named in.
pub(crate) fn raised_of_kind(py: Python<'_>, kind: &str, text: String) -> PyErr {
    of_kind(py, kind, text, None, None, (None, None, None))
}

fn exception(
    py: Python<'_>,
    place: Option<&str>,
    e: &(dyn Error + 'static),
    kind: Kind,
    node: Option<&str>,
    inner: Option<&ArrayError>,
) -> PyErr {
    let text = format!("{e:#}");
    if let Some(raised) = cause::<PyErr>(e) {
        let raised = raised.clone_ref(py);
        // A note is a help: an exception that refuses it is still the cause.
        let _ = raised.value(py).call_method1("add_note", (text,));
        return raised;
    }
    let kind = match (kind, cause::<StridedError>(e)) {
        (Kind::LimitExceeded, Some(StridedError::Memory { .. })) => "OutOfMemory".to_owned(),
        _ => format!("{kind:?}"),
    };
    let node = node.or_else(|| inner.and_then(ArrayError::array));
    of_kind(py, &kind, text, node, inner, system(e, place, inner))
}

/// The number of an error of the operating system, the path or URL that it is about, and the location of the store.
type System = (Option<i32>, Option<String>, Option<String>);

fn system(e: &(dyn Error + 'static), place: Option<&str>, inner: Option<&ArrayError>) -> System {
    let key = inner.and_then(ArrayError::key).or(cause::<StoreError>(e).and_then(StoreError::key));
    let file = place.map(|place| match key {
        Some(key) => format!("{}/{key}", place.trim_end_matches('/')),
        None => place.to_owned(),
    });
    (raw_os_error(e), file, place.map(str::to_owned))
}

/// The advice in messages of the libraries, and the arguments of the package that do the same.
const ARGUMENTS: [(&str, &str); 3] = [
    ("Access::redirects does not allow", "redirects= does not allow"),
    ("allow it, or a folder above it", "allow it, or a folder above it, with references="),
    ("can be read anonymously", "can be read with anonymous=True"),
];

fn of_kind(
    py: Python<'_>,
    kind: &str,
    text: String,
    node: Option<&str>,
    inner: Option<&ArrayError>,
    system: System,
) -> PyErr {
    let chunk = inner.and_then(ArrayError::chunk).map(<[u64]>::to_vec);
    let key = inner.and_then(ArrayError::key);
    let text = ARGUMENTS.iter().fold(text, |text, (advice, argument)| text.replace(advice, argument));
    let made = py
        .import("zarr_rs.errors")
        .and_then(|errors| errors.getattr("of_kind")?.call1((kind, text, node, chunk, key, system)));
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
