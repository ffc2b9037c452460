//! The missing value of an array, for xarray.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyComplex};
use zarr_array::blocking::Array;
use zarr_xarray::{ElementKind, Missing, Scalar, read_fill_value};

/// A missing value, and what is odd about its form, as code and message.
pub(crate) type Found<'py> = (Option<Bound<'py, PyAny>>, Vec<(String, String)>);

/// Reads the attribute `_FillValue` of an array, in the forms of format 3.
pub(crate) fn missing_value<'py>(py: Python<'py>, array: &Array) -> PyResult<Found<'py>> {
    let kind = ElementKind::of(array.metadata().document().data_type());
    let Some(value) = array.attributes().get("_FillValue") else { return Ok((None, Vec::new())) };
    let mut findings = Vec::new();
    let missing = read_fill_value(kind, &value, &mut findings);
    let missing = missing.map_err(|e| PyValueError::new_err(format!("{e:#}")))?;
    let missing = missing.map(|missing| object(py, missing)).transpose()?;
    let findings = findings.into_iter().map(|finding| (finding.code.to_string(), finding.message));
    Ok((missing, findings.collect()))
}

fn object(py: Python<'_>, missing: Missing) -> PyResult<Bound<'_, PyAny>> {
    Ok(match missing {
        Missing::Number(Scalar::Integer(integer)) => integer.into_pyobject(py)?.into_any(),
        Missing::Number(Scalar::Float(float)) => float.into_pyobject(py)?.into_any(),
        Missing::Number(Scalar::Complex(real, imaginary)) => {
            PyComplex::from_doubles(py, real, imaginary).into_any()
        }
        Missing::Boolean(truth) => truth.into_pyobject(py)?.to_owned().into_any(),
        Missing::Text(text) => text.into_pyobject(py)?.into_any(),
        Missing::Bytes(bytes) => PyBytes::new(py, &bytes).into_any(),
        other => return Err(PyValueError::new_err(format!("no value of Python for {other:?}"))),
    })
}
