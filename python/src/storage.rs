//! Handles on stores.

use pyo3::prelude::*;
use zarr_array::ArrayError;
use zarr_store_fs::FsStore;
use zarr_traits::Storage as Handle;

use crate::error::raised;
use crate::foreign::Foreign;

/// A store. Arrays of one handle share its threads and its locks.
#[pyclass(frozen, module = "zarr_rs._native")]
#[derive(Debug)]
pub(crate) struct Storage(pub(crate) Handle);

#[pymethods]
impl Storage {
    /// Opens a directory, which is created if `create` is set.
    #[staticmethod]
    fn directory(py: Python<'_>, path: &str, create: bool) -> PyResult<Self> {
        let opened = py.detach(|| if create { FsStore::create(path) } else { FsStore::open(path) });
        opened.map(|store| Self(store.into())).map_err(|e| raised(py, &ArrayError::from(e)))
    }

    /// Uses a store that is written in Python, through the methods of `helper`. At most `in_flight` requests run at a
    /// time.
    #[staticmethod]
    fn foreign(helper: Py<PyAny>, in_flight: usize) -> Self {
        Self(Foreign::new(helper, in_flight).into())
    }
}
