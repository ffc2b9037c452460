//! The native module of the Python package `zarr_rs`. Its types and functions are private to that package.

mod array;
mod arrays;
mod arrow;
mod basic;
mod batch;
mod call;
mod copies;
mod directory;
mod elements;
mod error;
mod foreign;
mod groups;
mod interrupt;
mod json;
mod known;
mod memory;
mod missing;
mod multiscale;
mod request;
mod selection;
mod storage;
mod text;
mod threads;

use std::ffi::OsString;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("HAS_DIRECTORIES", cfg!(unix))?;
    module.add_class::<array::Array>()?;
    module.add_class::<arrays::ArrayHandle>()?;
    module.add_class::<batch::Plan>()?;
    module.add_class::<call::Call>()?;
    module.add_class::<call::Calls>()?;
    module.add_class::<copies::CopyPlan>()?;
    module.add_class::<foreign::Reply>()?;
    module.add_class::<groups::ChildHandle>()?;
    module.add_class::<groups::GroupHandle>()?;
    module.add_class::<request::Request>()?;
    module.add_class::<storage::Storage>()?;
    module.add_class::<threads::Threads>()?;
    module.add_function(wrap_pyfunction!(copies::mirror, module)?)?;
    module.add_function(wrap_pyfunction!(copies::plan_copy, module)?)?;
    module.add_function(wrap_pyfunction!(groups::create_array, module)?)?;
    module.add_function(wrap_pyfunction!(groups::create_group, module)?)?;
    module.add_function(wrap_pyfunction!(groups::erase, module)?)?;
    module.add_function(wrap_pyfunction!(groups::open_node, module)?)?;
    module.add_function(wrap_pyfunction!(command, module)?)?;
    module.add_function(wrap_pyfunction!(forget, module)?)?;
    module.add_function(wrap_pyfunction!(multiscale::multiscale, module)?)?;
    module.add_function(wrap_pyfunction!(redacted, module)?)?;
    module.add_function(wrap_pyfunction!(split_location, module)?)?;
    module.add_function(wrap_pyfunction!(threads::available_threads, module)?)
}

/// Runs the command with its arguments, the first of which is its name, and returns the exit code.
#[pyfunction]
fn command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| zarr_cli::run(arguments))
}

/// Forgets an object without dropping what it holds. After a fork, a lock inside may be held by a thread of the parent.
#[pyfunction]
fn forget(object: Py<PyAny>) {
    std::mem::forget(object);
}

/// Splits the location of a store into its root and the adapters behind it, and says whether the root is a path of the
/// file system. The URL of a file becomes its path.
#[pyfunction]
fn split_location(py: Python<'_>, location: &str) -> PyResult<(String, String, bool)> {
    let (root, adapters) = zarr_store::split_adapters(location);
    let (root, is_path) = match zarr_store::scheme_of(root) {
        None => (root.to_owned(), true),
        Some(scheme) if scheme.eq_ignore_ascii_case("file") => {
            let path = directory::path_of(root).map_err(|e| storage::failed(py, None, e))?;
            (path.into_string().map_err(|_| PyValueError::new_err("the path of the URL is not UTF-8"))?, true)
        }
        Some(_) => (root.to_owned(), false),
    };
    Ok((root, adapters.to_owned(), is_path))
}

/// Returns the location of a store without secrets, for messages.
#[pyfunction]
pub(crate) fn redacted(location: &str) -> String {
    let (root, adapters) = zarr_store::split_adapters(location);
    zarr_store::redacted(root) + adapters
}
