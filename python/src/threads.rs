//! The threads of the process.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use zarr_array::Cpu;

/// Threads that decode and encode chunks, for all storages that use them. They start when they are needed.
#[pyclass(frozen, module = "zarr_rs._native")]
pub(crate) struct Threads {
    pub(crate) cpu: Cpu,
}

#[pymethods]
impl Threads {
    #[new]
    fn new(width: usize) -> PyResult<Self> {
        let threads = Self { cpu: Cpu::threads(1) };
        threads.resize(width)?;
        Ok(threads)
    }

    /// The number of threads.
    #[getter]
    fn width(&self) -> usize {
        self.cpu.width()
    }

    /// Changes the number of threads, also for storages that use them.
    fn resize(&self, width: usize) -> PyResult<()> {
        if self.cpu.resize(width) { Ok(()) } else { Err(PyValueError::new_err("no thread is left")) }
    }
}

/// Returns the number of cores that this process may use, by its affinity and the quota of its control group.
#[pyfunction]
pub(crate) fn available_threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
