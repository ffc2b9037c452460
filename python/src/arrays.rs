//! Arrays of the package's own API.

use std::sync::Mutex;

use bytes::Bytes;
use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};
use zarr_array::traits::BoxFuture;
use zarr_array::{
    ArrayResult, DataType, Diagnostic, Element, EmptyChunks, Format, NdVec, Selection, WriteElement,
    blocking::Array,
};
use zarr_traits::lock::unpoisoned;

use crate::arrow;
use crate::basic::{Basic, not_read, not_written, read, write};
use crate::elements::{by_type, read_bytes, read_into, write_bytes, write_from};
use crate::error::raised;
use crate::interrupt::{run, wait};
use crate::json::Changes;
use crate::memory::regular;
use crate::missing::{Found, missing_value};
use crate::selection::{Along, selection};
use crate::text;

/// An open array. Documents pass as JSON text.
#[pyclass(frozen, module = "zarr_rs._native")]
pub(crate) struct ArrayHandle {
    array: Mutex<Array>,
    memo: Mutex<Option<Py<PyDict>>>,
}

#[pymethods]
impl ArrayHandle {
    #[getter]
    fn path(&self) -> String {
        self.array().path().to_owned()
    }

    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.array().shape())
    }

    /// What Python derives from the metadata. A change of the array replaces it by a new one, so whoever takes it before it
    /// reads the metadata never keeps anything old in it.
    #[getter]
    fn memo(&self, py: Python<'_>) -> Py<PyDict> {
        unpoisoned(self.memo.lock()).get_or_insert_with(|| PyDict::new(py).unbind()).clone_ref(py)
    }

    #[getter]
    fn zarr_format(&self) -> u8 {
        format_number(self.array().metadata().format())
    }

    /// The metadata document as it is stored.
    #[getter]
    fn metadata(&self) -> String {
        self.array().metadata().to_text()
    }

    /// The metadata in terms of format 3, whatever the format of the array.
    #[getter]
    fn document(&self) -> String {
        self.array().metadata().document().to_text()
    }

    /// Reads the attribute `_FillValue`, in the forms of format 3. Returns the missing value, and what is odd about its form,
    /// as code and message.
    fn missing_value<'py>(&self, py: Python<'py>) -> PyResult<Found<'py>> {
        missing_value(py, &self.array())
    }

    /// The bytes of the fill value, in the byte order of this machine.
    #[getter]
    fn fill<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.array().fill().bytes())
    }

    #[getter]
    fn attributes(&self) -> String {
        self.array().attributes().to_value().to_compact()
    }

    #[getter]
    fn diagnostics(&self) -> Vec<(String, String, String)> {
        notes(self.array().diagnostics())
    }

    /// Whether elements are strings or bytes of variable length.
    #[getter]
    fn is_text(&self) -> bool {
        text::is_text(&self.array())
    }

    /// The number of chunks, or of shards, in each dimension.
    #[getter]
    fn chunk_counts(&self) -> Vec<u64> {
        self.array().chunk_counts()
    }

    /// Returns the elements of chunk `index` in dimension `dim`, or `None` beyond the grid.
    fn span(&self, dim: usize, index: u64) -> Option<(u64, u64)> {
        self.array().chunk_grid().span(dim, index).map(|span| (span.start, span.end))
    }

    /// Returns the lengths of the chunks, or of the shards, in dimension `dim`, without what lies outside of the array.
    fn chunk_lengths(&self, dim: usize) -> Vec<u64> {
        let array = self.array();
        let (grid, length) = (array.chunk_grid(), array.shape()[dim]);
        let spans = (0..array.chunk_counts()[dim]).map_while(|index| grid.span(dim, index));
        spans.take_while(|span| span.start < length).map(|span| span.end.min(length) - span.start).collect()
    }

    /// Stores chunks that have only fill values, as the others. Otherwise they are left out.
    fn store_empty_chunks(&self) {
        let mut array = unpoisoned(self.array.lock());
        *array = array.clone().with_empty_chunks(EmptyChunks::Store);
    }

    /// Reads a selection into `out`, which has its shape. Elements that Rust has no type for are bytes: `out` then has
    /// one dimension.
    fn read(&self, entries: Vec<Along<'_>>, points: bool, out: &Bound<'_, PyAny>) -> PyResult<()> {
        let (array, selection) = (self.array(), selection(entries, points)?);
        by_type!(array, read_into, read_bytes, (&array, selection, out))
    }

    /// Writes values to a selection: with its shape, or in one dimension as [`read`](Self::read) returns them.
    fn write(&self, entries: Vec<Along<'_>>, points: bool, values: &Bound<'_, PyAny>) -> PyResult<()> {
        let (array, selection) = (self.array(), selection(entries, points)?);
        by_type!(array, write_from, write_bytes, (&array, selection, values))
    }

    /// Reads `array[key]` of positions and slices, into `out` if it is given. Returns `None`, and reads nothing, if the
    /// selection, the elements or `out` are of another kind.
    #[pyo3(signature = (key, out=None))]
    fn get<'py>(
        &self,
        key: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let array = self.array();
        let Some(selection) = Basic::new(key, array.shape()) else { return Ok(None) };
        by_type!(array, read, not_read, (&array, selection, out, key.py()))
    }

    /// Writes `array[key] = values` of positions and slices. Returns `False`, and writes nothing, if the selection is of
    /// another kind, or if the values have another shape or type than what is selected.
    fn set(&self, key: &Bound<'_, PyAny>, values: &Bound<'_, PyAny>) -> PyResult<bool> {
        let array = self.array();
        let Some(selection) = Basic::new(key, array.shape()) else { return Ok(false) };
        by_type!(array, write, not_written, (&array, selection, values))
    }

    /// Reads strings or bytes of variable length.
    fn read_text<'py>(
        &self,
        py: Python<'py>,
        entries: Vec<Along<'_>>,
        points: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        text::read(py, &self.array(), selection(entries, points)?)
    }

    /// Writes strings or bytes of variable length.
    fn write_text(&self, entries: Vec<Along<'_>>, points: bool, values: &Bound<'_, PyList>) -> PyResult<()> {
        text::write(&self.array(), selection(entries, points)?, values)
    }

    /// Reads a selection as an array of Arrow in one dimension: capsules of the schema and of the array.
    fn read_arrow<'py>(
        &self,
        py: Python<'py>,
        entries: Vec<Along<'_>>,
        points: bool,
    ) -> PyResult<arrow::Capsules<'py>> {
        arrow::read(py, &self.array(), selection(entries, points)?)
    }

    /// Writes the bytes of a stream of Arrow, which has one batch with one column, to a selection.
    fn write_arrow(
        &self,
        py: Python<'_>,
        entries: Vec<Along<'_>>,
        points: bool,
        stream: Bytes,
    ) -> PyResult<()> {
        arrow::write(py, &self.array(), selection(entries, points)?, stream)
    }

    /// Reads several selections, each into one dimension. Chunks that they share are fetched and decoded once. Returns
    /// `None` for elements that Rust has no type for.
    fn read_many<'py>(
        &self,
        py: Python<'py>,
        selections: Vec<Vec<Along<'_>>>,
    ) -> PyResult<Option<Vec<Bound<'py, PyAny>>>> {
        let selections: Vec<Selection> =
            selections.into_iter().map(|entries| selection(entries, false)).collect::<PyResult<_>>()?;
        let array = self.array();
        by_type!(array, read_many, none, (py, &array, selections))
    }

    /// Returns what a read of a selection costs.
    fn explain<'py>(
        &self,
        py: Python<'py>,
        entries: Vec<Along<'_>>,
        points: bool,
    ) -> PyResult<Bound<'py, PyDict>> {
        let (array, selection) = (self.array(), selection(entries, points)?);
        let array = zarr_array::Array::from(array);
        let found = wait(py, array.explain(selection))?.map_err(|e| raised(py, array.storage(), &e))?;
        let costs = PyDict::new(py);
        for (name, number) in [
            ("chunks", found.chunks),
            ("chunks_stored", found.chunks_stored),
            ("inner_chunks", found.inner_chunks),
            ("requests", found.requests),
            ("ranges_wanted", found.ranges_wanted),
            ("ranges", found.ranges),
            ("bytes", found.bytes),
            ("bytes_useful", found.bytes_useful),
            ("bytes_result", found.bytes_result),
            ("peak_memory", found.peak_memory),
        ] {
            costs.set_item(name, number)?;
        }
        Ok(costs)
    }

    /// Changes the shape. Elements outside of it are deleted.
    fn resize(&self, py: Python<'_>, shape: Vec<u64>) -> PyResult<()> {
        self.change(py, |array| Box::pin(array.resize(shape)))
    }

    /// Appends values, given in one dimension, that have this shape. Returns `False`, and does nothing, for elements that
    /// Rust has no type for.
    fn append(
        &self,
        py: Python<'_>,
        axis: usize,
        shape: Vec<u64>,
        values: &Bound<'_, PyAny>,
    ) -> PyResult<bool> {
        let data_type = self.array().data_type().clone();
        if data_type == DataType::String {
            let values: Vec<String> = values.extract()?;
            let values = NdVec::new(shape, values).map_err(|e| raised(py, self.array().storage(), &e))?;
            return self.change(py, |array| Box::pin(array.append(axis, values))).map(|()| true);
        }
        let array = self.array();
        by_type!(array, append, not_appended, (py, self, axis, shape, values))
    }

    /// Changes attributes.
    fn edit_attributes(&self, py: Python<'_>, changes: Changes) -> PyResult<()> {
        self.change(py, |array| Box::pin(array.edit_attributes(move |attributes| changes.apply(attributes))))
    }
}

impl From<Array> for ArrayHandle {
    fn from(array: Array) -> Self {
        Self { array: Mutex::new(array), memo: Mutex::default() }
    }
}

impl ArrayHandle {
    /// Returns the array as it is now: a resize does not change calls that are at work.
    fn array(&self) -> Array {
        unpoisoned(self.array.lock()).clone()
    }

    /// Changes the array.
    fn change(
        &self,
        py: Python<'_>,
        change: impl for<'a> FnOnce(&'a mut zarr_array::Array) -> BoxFuture<'a, ArrayResult<()>>,
    ) -> PyResult<()> {
        let mut array = zarr_array::Array::from(self.array());
        wait(py, change(&mut array))?.map_err(|e| raised(py, self.array().storage(), &e))?;
        *unpoisoned(self.array.lock()) = array.into();
        let old = unpoisoned(self.memo.lock()).take();
        drop(old);
        Ok(())
    }
}

/// The number of a format.
pub(crate) fn format_number(format: Format) -> u8 {
    match format {
        Format::V2 => 2,
        Format::V3 => 3,
        _ => 1,
    }
}

/// Returns the code, the place in the document, and the text of each diagnostic.
pub(crate) fn notes(diagnostics: &[Diagnostic]) -> Vec<(String, String, String)> {
    diagnostics.iter().map(|d| (d.code.to_string(), d.pointer.clone(), d.message.clone())).collect()
}

fn read_many<'py, T>(
    py: Python<'py>,
    array: &Array,
    selections: Vec<Selection>,
) -> PyResult<Option<Vec<Bound<'py, PyAny>>>>
where
    T: Element + numpy::Element,
{
    let read = run(py, array, usize::MAX, move |array| array.read_many::<T, Selection>(selections))?;
    let read: Vec<NdVec<T>> = read.map_err(|e| raised(py, array.storage(), &e))?;
    Ok(Some(read.into_iter().map(|values| PyArray1::from_vec(py, values.into_vec()).into_any()).collect()))
}

#[expect(clippy::unnecessary_wraps, reason = "as `read_many`")]
fn none<'py>(_: Python<'py>, _: &Array, _: Vec<Selection>) -> PyResult<Option<Vec<Bound<'py, PyAny>>>> {
    Ok(None)
}

fn append<T>(
    py: Python<'_>,
    handle: &ArrayHandle,
    axis: usize,
    shape: Vec<u64>,
    values: &Bound<'_, PyAny>,
) -> PyResult<bool>
where
    T: WriteElement + numpy::Element + Copy + 'static,
{
    let values: Bound<'_, PyArray1<T>> = regular(values)?;
    let values = values.try_readonly()?.as_slice()?.to_vec();
    let values = NdVec::new(shape, values).map_err(|e| raised(py, handle.array().storage(), &e))?;
    handle.change(py, |array| Box::pin(array.append(axis, values))).map(|()| true)
}

#[expect(clippy::unnecessary_wraps, reason = "as `append`")]
fn not_appended(
    _: Python<'_>,
    _: &ArrayHandle,
    _: usize,
    _: Vec<u64>,
    _: &Bound<'_, PyAny>,
) -> PyResult<bool> {
    Ok(false)
}
