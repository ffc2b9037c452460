//! Reads into and writes from the memory of NumPy arrays.

use numpy::{PyArray1, PyArrayDyn, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use zarr_array::{ArrayResult, Element, Selection, WriteElement, blocking::Array};

use crate::error::raised;
use crate::interrupt::run;
use crate::memory::{filled, regular};

/// Calls a generic function with the type of the elements of an array in NumPy, or `bytes` if Rust has no such type.
macro_rules! by_type {
    ($array:expr, $typed:ident, $bytes:ident, ($($argument:expr),*)) => {
        match $array.data_type() {
            zarr_array::DataType::Bool => $typed::<bool>($($argument),*),
            zarr_array::DataType::Int8 => $typed::<i8>($($argument),*),
            zarr_array::DataType::Int16 => $typed::<i16>($($argument),*),
            zarr_array::DataType::Int32 => $typed::<i32>($($argument),*),
            zarr_array::DataType::Int64 => $typed::<i64>($($argument),*),
            zarr_array::DataType::UInt8 => $typed::<u8>($($argument),*),
            zarr_array::DataType::UInt16 => $typed::<u16>($($argument),*),
            zarr_array::DataType::UInt32 => $typed::<u32>($($argument),*),
            zarr_array::DataType::UInt64 => $typed::<u64>($($argument),*),
            zarr_array::DataType::Float16 => $typed::<half::f16>($($argument),*),
            zarr_array::DataType::Float32 => $typed::<f32>($($argument),*),
            zarr_array::DataType::Float64 => $typed::<f64>($($argument),*),
            zarr_array::DataType::Complex64 => $typed::<num_complex::Complex<f32>>($($argument),*),
            zarr_array::DataType::Complex128 => $typed::<num_complex::Complex<f64>>($($argument),*),
            _ => $bytes($($argument),*),
        }
    };
}

pub(crate) use by_type;

/// Reads a selection into `out`: one dimension, in C order, of the type in NumPy that [`by_type`] names, or of bytes.
pub(crate) fn read(array: &Array, selection: Selection, out: &Bound<'_, PyAny>) -> PyResult<()> {
    by_type!(array, read_typed, read_bytes, (array, selection, out))
}

/// Writes `values`, given as [`read`] returns them, to a selection.
pub(crate) fn write(array: &Array, selection: Selection, values: &Bound<'_, PyAny>) -> PyResult<()> {
    by_type!(array, write_typed, write_bytes, (array, selection, values))
}

/// Reads a selection into `out`, which has its shape.
pub(crate) fn read_into<T>(array: &Array, selection: Selection, out: &Bound<'_, PyAny>) -> PyResult<()>
where
    T: Element + numpy::Element,
{
    let py = out.py();
    filled(out, |memory: &Bound<'_, PyArrayDyn<T>>| {
        let mut memory = memory.try_readwrite()?;
        let mut memory = memory.as_array_mut();
        let bytes = memory.len().saturating_mul(size_of::<T>());
        run(py, array, bytes, move |array| array.read_into(selection, &mut memory))?
            .map_err(|e| raised(py, array.storage(), &e))
    })
}

/// Writes values that have the shape of a selection.
pub(crate) fn write_from<T>(array: &Array, selection: Selection, values: &Bound<'_, PyAny>) -> PyResult<()>
where
    T: WriteElement + numpy::Element,
{
    let py = values.py();
    let values: Bound<'_, PyArrayDyn<T>> = regular(values)?;
    let values = values.try_readonly()?;
    let memory = values.as_array();
    let bytes = memory.len().saturating_mul(size_of::<T>());
    run(py, array, bytes, move |array| array.write(selection, &memory))?
        .map_err(|e| raised(py, array.storage(), &e))
}

fn read_typed<T>(array: &Array, selection: Selection, out: &Bound<'_, PyAny>) -> PyResult<()>
where
    T: Element + numpy::Element,
{
    let py = out.py();
    filled(out, |memory: &Bound<'_, PyArray1<T>>| {
        let mut memory = memory.try_readwrite()?;
        let memory = memory.as_slice_mut()?;
        let bytes = size_of_val(memory);
        done(py, array, run(py, array, bytes, |array| array.read_into(selection, memory))?)
    })
}

fn write_typed<T>(array: &Array, selection: Selection, values: &Bound<'_, PyAny>) -> PyResult<()>
where
    T: WriteElement + numpy::Element,
{
    let py = values.py();
    let values: Bound<'_, PyArray1<T>> = regular(values)?;
    let values = values.try_readonly()?;
    let memory = values.as_slice()?;
    let bytes = size_of_val(memory);
    done(py, array, run(py, array, bytes, |array| array.write(selection, memory))?)
}

pub(crate) fn read_bytes(array: &Array, selection: Selection, out: &Bound<'_, PyAny>) -> PyResult<()> {
    if out.is_instance_of::<PyArray1<i64>>() {
        return read_typed::<i64>(array, selection, out); // a time or a span of time
    }
    let py = out.py();
    let mut out = out.cast::<PyArray1<u8>>()?.try_readwrite()?;
    let memory = out.as_slice_mut()?;
    let read = run(py, array, memory.len(), |array| array.read_bytes(selection))?;
    let (_, bytes) = read.map_err(|e| raised(py, array.storage(), &e))?;
    if bytes.len() != memory.len() {
        let (expected, got) = (bytes.len(), memory.len());
        return Err(PyValueError::new_err(format!(
            "the selection has {expected} bytes, the memory has {got}"
        )));
    }
    memory.copy_from_slice(&bytes);
    Ok(())
}

pub(crate) fn write_bytes(array: &Array, selection: Selection, values: &Bound<'_, PyAny>) -> PyResult<()> {
    if values.is_instance_of::<PyArray1<i64>>() {
        return write_typed::<i64>(array, selection, values); // a time or a span of time
    }
    let py = values.py();
    let values = values.cast::<PyArray1<u8>>()?.try_readonly()?;
    let bytes = values.as_slice()?.to_vec();
    done(py, array, run(py, array, bytes.len(), |array| array.write_bytes(selection, bytes))?)
}

fn done(py: Python<'_>, array: &Array, result: ArrayResult<()>) -> PyResult<()> {
    result.map_err(|e| raised(py, array.storage(), &e))
}
