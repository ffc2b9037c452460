//! An array that is opened from the metadata of zarr-python.

use std::sync::Mutex;

use pyo3::prelude::*;
use pyo3::types::PyList;
use zarr_array::blocking::Array as Handle;
use zarr_array::{
    ArrayError, ArrayMeta, ArrayResult, EmptyChunks, InnerOrder, MissingChunks, OpenOptions, PartialWrites,
};
use zarr_traits::lock::unpoisoned;
use zarr_traits::{Prefix, Storage as Store};

use crate::batch::Plan;
use crate::elements;
use crate::error::raised;
use crate::interrupt::wait;
use crate::known::{limits, registry};
use crate::storage::Storage;
use crate::text;

/// An array whose shape may change: each batch says how far it reaches.
#[pyclass(frozen, module = "zarr_rs._native")]
#[derive(Debug)]
pub(crate) struct Array {
    handle: Handle,
    prefix: Prefix,
    path: String,
    settings: Settings,
    /// The storage whose writes wait for other writers, if those of the handle fail then.
    patient: Option<Store>,
    /// The handles of the last batch, for writes that do not wait and for those that do: usually the next one has the same
    /// shape.
    last: [Mutex<Option<Handle>>; 2],
}

#[derive(Debug)]
struct Settings {
    store_empty: bool,
    is_foreign: bool,
    /// The order of inner chunks, if the array has shards.
    inner_order: Option<InnerOrder>,
    missing: MissingChunks,
}

#[pymethods]
impl Array {
    /// Opens the array at `path` from its metadata document. Makes no request.
    ///
    /// `inner_order` is the `subchunk_write_order` of shards; without shards `None`.
    #[new]
    #[pyo3(signature = (
        storage, path, document, zarr_format, *, write_empty_chunks, is_foreign, inner_order=None,
        missing_is_error=false
    ))]
    #[expect(clippy::too_many_arguments, reason = "Python names most of them")]
    fn new(
        py: Python<'_>,
        storage: &Storage,
        path: &str,
        document: &[u8],
        zarr_format: u8,
        write_empty_chunks: bool,
        is_foreign: bool,
        inner_order: Option<&str>,
        missing_is_error: bool,
    ) -> PyResult<Self> {
        let inner_order = inner_order.map(|order| match order {
            "morton" => InnerOrder::Morton,
            "colexicographic" => InnerOrder::F,
            _ => InnerOrder::C,
        });
        let missing = if missing_is_error { MissingChunks::Error } else { MissingChunks::Fill };
        let settings = Settings { store_empty: write_empty_chunks, is_foreign, inner_order, missing };
        Self::open(storage, path, document, zarr_format, settings).map_err(|e| raised(py, &storage.0, &e))
    }

    /// Returns the plan of a batch, or `None` if the batch has a selection of an unknown kind.
    fn plan(&self, batch: &Bound<'_, PyList>) -> PyResult<Option<Plan>> {
        // zarr-python writes a part of a shard that reaches over the end of the array: what lies behind it stays.
        let has_shards = self.settings.inner_order.is_some();
        Plan::new(&self.handle, &self.path, batch, has_shards)
    }

    /// Returns for each chunk of a plan whether it is missing in the store.
    fn missing(&self, py: Python<'_>, plan: &Plan) -> PyResult<Vec<bool>> {
        let array = self.reaching(plan).map_err(|e| self.raised(py, &e))?;
        let array = zarr_array::Array::from(array);
        let found = wait(py, async {
            let mut missing = Vec::new();
            for index in plan.indexes() {
                missing.push(array.stored_chunk_size(index).await?.is_none());
            }
            Ok(missing)
        })?;
        found.map_err(|e| self.raised(py, &e))
    }

    /// Reads an item of a plan, or all of them, into `out`: one dimension, in C order.
    #[pyo3(signature = (plan, out, item=None))]
    fn read(&self, plan: &Plan, out: &Bound<'_, PyAny>, item: Option<usize>) -> PyResult<()> {
        let array = self.reaching(plan).map_err(|e| self.raised(out.py(), &e))?;
        elements::read(&array, plan.selected(item)?.selection, out)
    }

    /// Writes `values`, one dimension in C order, to an item of a plan, or to all of them. If it does not `wait`, it fails
    /// where another writer holds a chunk; some of the chunks may then be written.
    #[pyo3(signature = (plan, values, item=None, *, wait=true))]
    fn write(&self, plan: &Plan, values: &Bound<'_, PyAny>, item: Option<usize>, wait: bool) -> PyResult<()> {
        let array = self.of_shape(&plan.extent, wait).map_err(|e| self.raised(values.py(), &e))?;
        elements::write(&array, plan.selected(item)?.selection, values)
    }

    /// Whether the elements are strings or bytes of variable length.
    #[getter]
    fn is_text(&self) -> bool {
        text::is_text(&self.handle)
    }

    /// Reads an item of a plan, or all of them, of an array of strings or bytes of variable length.
    #[pyo3(signature = (plan, item=None))]
    fn read_text<'py>(
        &self,
        py: Python<'py>,
        plan: &Plan,
        item: Option<usize>,
    ) -> PyResult<Bound<'py, PyList>> {
        let array = self.reaching(plan).map_err(|e| self.raised(py, &e))?;
        text::read(py, &array, plan.selected(item)?.selection)
    }

    /// Writes strings or bytes to an item of a plan, or to all of them.
    #[pyo3(signature = (plan, values, item=None))]
    fn write_text(&self, plan: &Plan, values: &Bound<'_, PyList>, item: Option<usize>) -> PyResult<()> {
        let array = self.of_shape(&plan.extent, true).map_err(|e| self.raised(values.py(), &e))?;
        text::write(&array, plan.selected(item)?.selection, values)
    }
}

impl Array {
    fn open(
        storage: &Storage,
        path: &str,
        document: &[u8],
        format: u8,
        settings: Settings,
    ) -> ArrayResult<Self> {
        let (limits, mut notes) = (limits(), Vec::new());
        let meta = match format {
            2 => ArrayMeta::parse_v2(document, None, &limits, &mut notes)?,
            _ => ArrayMeta::parse(document, &limits, &mut notes)?,
        };
        let prefix = Prefix::of_node(path)?;
        let patient = storage.1.is_some().then(|| storage.0.clone());
        let (storage, options) =
            (storage.1.as_ref().unwrap_or(&storage.0).clone(), OpenOptions::new().limits(limits));
        let array = Handle::from_metadata(storage, prefix.clone(), meta, notes, registry()?, &options)?;
        let handle = settings.apply(array);
        let last = [Mutex::new(Some(handle.clone())), Mutex::default()];
        Ok(Self { last, path: path.to_owned(), handle, prefix, patient, settings })
    }

    fn raised(&self, py: Python<'_>, e: &ArrayError) -> PyErr {
        raised(py, self.handle.storage(), e)
    }

    /// Returns a handle for a read: always the same one, unless the array has become larger since it was opened.
    fn reaching(&self, plan: &Plan) -> ArrayResult<Handle> {
        let fits = plan.reach.iter().zip(self.handle.shape()).all(|(end, length)| end <= length);
        if fits { Ok(self.handle.clone()) } else { self.of_shape(&plan.extent, false) }
    }

    /// Returns a handle on the array as if it had this shape. Its writes `wait` for other writers.
    fn of_shape(&self, shape: &[u64], wait: bool) -> ArrayResult<Handle> {
        let patient = self.patient.as_ref().filter(|_| wait);
        let [hasty, waiting] = &self.last;
        let mut last = unpoisoned(if patient.is_some() { waiting } else { hasty }.lock());
        if let Some(last) = last.as_ref().filter(|last| last.shape() == shape) {
            return Ok(last.clone());
        }
        let mut meta = self.handle.metadata().clone();
        meta.set_shape(shape)?;
        let storage = patient.unwrap_or(self.handle.storage()).clone();
        let options = OpenOptions::new().limits(limits());
        let array =
            Handle::from_metadata(storage, self.prefix.clone(), meta, Vec::new(), registry()?, &options)?;
        Ok(last.insert(self.settings.apply(array)).clone())
    }
}

impl Settings {
    fn apply(&self, array: Handle) -> Handle {
        let array =
            array.with_empty_chunks(if self.store_empty { EmptyChunks::Store } else { EmptyChunks::Skip });
        // A store of zarr-python has no conditional writes, and its users expect none.
        let array = if self.is_foreign { array.with_partial_writes(PartialWrites::Unchecked) } else { array };
        array.with_inner_order(self.inner_order.unwrap_or_default()).with_missing_chunks(self.missing)
    }
}
