//! JSON text from Python.

use std::collections::BTreeMap;

use pyo3::prelude::*;
use zarr_array::meta::MetaResult;
use zarr_array::meta::json::{Object, Value};

/// Changes of attributes.
pub(crate) struct Changes {
    clear: bool,
    /// The new value of each attribute; `None` removes it.
    members: Vec<(String, Option<Value>)>,
}

/// Whether all attributes are removed first, and the JSON text of each new value, or `None` to remove it.
impl<'py> FromPyObject<'_, 'py> for Changes {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let (clear, members): (bool, BTreeMap<String, Option<String>>) = object.extract()?;
        let value =
            |(name, text): (String, Option<String>)| Ok((name, text.as_deref().map(parse).transpose()?));
        let members = members.into_iter().map(value).collect::<MetaResult<_>>();
        members.map(|members| Self { clear, members }).map_err(|e| invalid(object.py(), e))
    }
}

impl Changes {
    pub(crate) fn apply(&self, attributes: &mut Object) {
        if self.clear {
            *attributes = Object::new();
        }
        for (name, value) in &self.members {
            match value {
                Some(value) => attributes.set(name, value.clone()),
                None => drop(attributes.remove(name)),
            }
        }
    }
}

pub(crate) fn parse(text: &str) -> MetaResult<Value> {
    Ok(Value::parse(text)?)
}

/// Returns the exception of an error of a document.
pub(crate) fn invalid(py: Python<'_>, e: zarr_array::meta::MetaError) -> PyErr {
    crate::error::raised_at(py, None, &e.into())
}
