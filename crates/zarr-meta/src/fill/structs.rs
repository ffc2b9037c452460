//! Fill values of structs from and to JSON: an object with all fields, or the bytes in base64.

use std::collections::HashMap;

use zarr_traits::{CodecError, CodecResult, ExtensionType, FillValue};

use crate::diagnostic::{Below, Code, Diagnostic, Sink};
use crate::error::{MetaError, MetaResult};
use crate::forms::{base64, from_base64};
use crate::json::{Object, Value, ValueKind, pointer};
use crate::types::{Field, Form, StructType, not_an_element, of_size};

impl StructType {
    /// Reads a `fill_value` from the text of a document, so that the numbers in it keep all digits.
    pub(crate) fn read_fill(&self, value: &Value, sink: &mut dyn Sink) -> MetaResult<FillValue> {
        let bytes = match value.as_object() {
            Some(object) => self.read_object(&object, sink)?,
            None if value.kind() == ValueKind::String => self.read_base64(value, sink)?,
            None => return Err(value.expected("an object with all fields").into()),
        };
        Ok(FillValue::from_bytes(bytes))
    }

    /// Reads an object with every field and no other members. Padding is zero.
    fn read_object(&self, object: &Object, sink: &mut dyn Sink) -> MetaResult<Vec<u8>> {
        let mut values = HashMap::with_capacity(object.len());
        for member in object.members() {
            values.insert(member.name()?.into_owned(), member.value());
        }
        let mut bytes = Vec::with_capacity(self.size);
        for field in self.fields() {
            if !field.is_padding() {
                let missing = || MetaError::invalid(format!("the field {:?} is missing", field.name));
                let value = values.remove(&field.name).ok_or_else(missing)?;
                let place = pointer::join("", &field.name);
                read_field(field, &field.shape, &value, &mut bytes, &mut Below::member(&place, &mut *sink))
                    .map_err(|e| e.at(&place))?;
            }
            bytes.resize(field.offset + field.size, 0);
        }
        match values.keys().min() {
            None => Ok(bytes),
            Some(name) => Err(MetaError::invalid("unknown field").at(&pointer::join("", name))),
        }
    }

    /// Reads the little-endian bytes of the element in base64.
    fn read_base64(&self, value: &Value, sink: &mut dyn Sink) -> MetaResult<Vec<u8>> {
        let expected =
            || value.expected(&format!("an object with all fields, or {} bytes in base64", self.size));
        let bytes = from_base64(value).filter(|bytes| bytes.len() == self.size);
        let mut bytes = bytes.ok_or_else(expected)?;
        if cfg!(target_endian = "big") {
            self.swap(&mut bytes, &vec![true; self.parts()]);
        }
        if self.form == Form::Struct {
            let message = "expected an object with all fields, found a string, read as base64";
            sink.report(Diagnostic::new(Code::Base64Fill, "", message))?;
        }
        Ok(bytes)
    }

    /// Returns the little-endian bytes of the element in base64, the only form that zarr-python 3.1 reads.
    pub(crate) fn write_base64(&self, fill: &FillValue) -> MetaResult<Value> {
        let mut bytes = of_size(fill, self.size).map_err(refused)?.to_vec();
        if cfg!(target_endian = "big") {
            self.swap(&mut bytes, &vec![true; self.parts()]);
        }
        Ok(base64::encode(&bytes).into())
    }

    /// Returns the element as a JSON object, without padding.
    pub(crate) fn show(&self, fill: &FillValue) -> CodecResult<Value> {
        let element = of_size(fill, self.size)?;
        let mut members = Object::new();
        for field in self.fields().iter().filter(|field| !field.is_padding()) {
            let bytes = field.of(element).unwrap_or_default();
            members.set(&field.name, show_field(field, &field.shape, bytes)?);
        }
        Ok(members.into())
    }
}

/// Reads one element, or nested lists of the elements of a sub-array.
fn read_field(
    field: &Field,
    shape: &[u64],
    value: &Value,
    bytes: &mut Vec<u8>,
    sink: &mut dyn Sink,
) -> MetaResult<()> {
    let Some((length, inner)) = shape.split_first() else {
        let element = super::read(&field.data_type, value, sink)?;
        bytes.extend_from_slice(of_size(&element, field.size / field.count).map_err(refused)?);
        return Ok(());
    };
    let elements = value.elements().filter(|list| list.clone().count() as u64 == *length);
    let elements = elements.ok_or_else(|| value.expected(&format!("an array of {length}")))?;
    for (i, element) in elements.enumerate() {
        read_field(field, inner, &element, bytes, &mut Below::element("", i, &mut *sink))
            .map_err(|e| e.at(&pointer::element("", i)))?;
    }
    Ok(())
}

/// The inverse of [`read_field`].
fn show_field(field: &Field, shape: &[u64], bytes: &[u8]) -> CodecResult<Value> {
    let Some((length, inner)) = shape.split_first() else {
        let shown = super::write(&field.data_type, &FillValue::from_bytes(bytes));
        return shown.map_err(|e| not_an_element(format!("field {:?}", field.name)).with_source(e));
    };
    let size = usize::try_from(*length).ok().and_then(|length| bytes.len().checked_div(length));
    bytes.chunks(size.unwrap_or(1).max(1)).map(|part| show_field(field, inner, part)).collect()
}

fn refused(e: CodecError) -> MetaError {
    MetaError::invalid("not an element of its data type").with_source(e)
}
