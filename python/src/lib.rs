//! The native module of the Python package `zarr_rs`. Its types and functions are private to that package.

mod array;
mod batch;
mod elements;
mod error;
mod foreign;
mod storage;
mod text;

use pyo3::prelude::*;

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<array::Array>()?;
    module.add_class::<batch::Plan>()?;
    module.add_class::<foreign::Reply>()?;
    module.add_class::<storage::Storage>()?;
    module.add_function(wrap_pyfunction!(forget, module)?)
}

/// Forgets an object without dropping what it holds. After a fork, a lock inside may be held by a thread of the parent.
#[pyfunction]
fn forget(object: Py<PyAny>) {
    std::mem::forget(object);
}
