//! Reads the member `fields` and computes offsets.

use std::collections::HashSet;

use crate::json::{Member, Value};
use zarr_traits::extension::{Configuration, Context};
use zarr_traits::strided::Swap;
use zarr_traits::{CodecError, CodecErrorKind, CodecResult, DataType, Layout, Limits};

use super::{Field, Form};
use crate::types::element_size;

/// Returns the fields of a struct, and their total size in bytes.
pub(super) fn read(
    form: Form,
    configuration: &mut Configuration<'_>,
    context: &Context<'_>,
) -> CodecResult<(Vec<Field>, usize)> {
    const PLACE: &str = "/configuration/fields";
    let list = match configuration.get("fields") {
        Some(fields) => fields.elements().filter(|list| list.clone().next().is_some()).ok_or_else(|| {
            CodecError::configuration("fields must be a list of at least one field").at(PLACE)
        })?,
        None => return Err(CodecError::configuration("fields is missing").at(PLACE)),
    };
    let (mut fields, mut names, mut offset) = (Vec::new(), HashSet::new(), 0);
    for (i, item) in list.enumerate() {
        let here = |e: CodecError| e.at(&format!("{PLACE}/{i}"));
        let given = given(form, &item).map_err(here)?;
        if !given.name.is_empty() && !names.insert(given.name.clone()) {
            let message = format!("two fields have the name {:?}", given.name);
            return Err(here(CodecError::configuration(message).at(given.name_at)));
        }
        let place = format!("/fields/{i}{}", given.type_at);
        let data_type = configuration.data_type(&given.data_type, &place, context)?;
        let field = place_at(offset, given, data_type, context.limits).map_err(here)?;
        offset = field.offset + field.size;
        fields.push(field);
    }
    if names.is_empty() {
        return Err(CodecError::configuration("fields must have one that is not padding").at(PLACE));
    }
    Ok((fields, offset))
}

/// An item of the list of fields.
struct Given {
    name: String,
    name_at: &'static str,
    data_type: Value,
    type_at: &'static str,
    shape: Option<Value>,
}

fn given(form: Form, item: &Value) -> CodecResult<Given> {
    let wrong = |message: &str| CodecError::configuration(message);
    let (name, name_at, data_type, type_at, shape) = if form == Form::Structured {
        let pair: Option<Vec<Value>> = item.elements().map(Iterator::collect);
        let pair = pair.and_then(|pair| <[Value; 2]>::try_from(pair).ok());
        let [name, data_type] =
            pair.ok_or_else(|| wrong("a field must be a list of a name and a data type"))?;
        (name, "/0", data_type, "/1", None)
    } else {
        let Some(members) = item.as_object() else {
            return Err(wrong("a field must be an object with name and data_type"));
        };
        let member = |name: &str| members.get(name).ok_or_else(|| wrong(&format!("{name} is missing")));
        let shape = members.get("shape").filter(|_| form == Form::Private);
        // No other member may be ignored: it might be an offset.
        let known = |key: &str| matches!(key, "name" | "data_type") || key == "shape" && shape.is_some();
        if let Some(key) = members.members().map(Member::name_lossy).find(|key| !known(key)) {
            return Err(wrong(&format!("unknown key {key:?} in the definition of a field")));
        }
        (member("name")?, "/name", member("data_type")?, "/data_type", shape)
    };
    match name.as_text() {
        Some(name) if name.is_empty() && form != Form::Private => {
            Err(wrong("the name of a field is empty").at(name_at))
        }
        Some(name) => Ok(Given { name, name_at, data_type, type_at, shape }),
        None => Err(wrong("the name of a field must be a string").at(name_at)),
    }
}

/// Returns the field at `offset`.
fn place_at(offset: usize, given: Given, data_type: DataType, limits: &Limits) -> CodecResult<Field> {
    let size = fixed_size(&data_type).map_err(|e| e.at(given.type_at))?;
    let shape =
        given.shape.map_or(Ok(Vec::new()), |shape| lengths(&shape, limits)).map_err(|e| e.at("/shape"))?;
    if given.name.is_empty() && !(matches!(data_type, DataType::Raw(_)) && shape.is_empty()) {
        return Err(CodecError::configuration(
            "a field without a name is padding, so its data type must be r<N>",
        ));
    }
    let count = shape.iter().try_fold(1_u64, |count, n| count.checked_mul(*n));
    let bytes = count.and_then(|count| count.checked_mul(size as u64));
    let end = element_size(bytes.and_then(|bytes| bytes.checked_add(offset as u64)), limits)?;
    let bytes = end - offset;
    Ok(Field { name: given.name, data_type, shape, count: bytes / size, offset, size: bytes })
}

/// Returns the size in bytes of an element, which must be fixed, above zero, and have a byte order that can be swapped.
fn fixed_size(data_type: &DataType) -> CodecResult<usize> {
    let unsupported = |why: &str| {
        let message = format!("a field cannot be of data type {data_type}: {why}");
        CodecError::new(CodecErrorKind::Unsupported, message)
    };
    match data_type.layout() {
        Layout::Fixed { size: 0, .. } | Layout::Packed { size: 0 } => {
            Err(unsupported("its elements have no bytes"))
        }
        Layout::Fixed { size, unit }
            if unit <= 1 || Swap::units(unit).is_some() && size.is_multiple_of(unit) =>
        {
            Ok(size)
        }
        Layout::Fixed { unit, .. } => Err(unsupported(&format!("units of {unit} bytes have no byte order"))),
        Layout::Packed { size } => Ok(size),
        _ => Err(unsupported("its elements differ in length")),
    }
}

/// Reads the shape of a sub-array, which must have at least one element.
fn lengths(shape: &Value, limits: &Limits) -> CodecResult<Vec<u64>> {
    let lengths = shape.elements().filter(|list| list.clone().count() <= limits.rank);
    let lengths = lengths.and_then(|list| list.map(|n| n.as_u64().filter(|n| *n > 0)).collect());
    lengths.ok_or_else(|| {
        CodecError::configuration(format!(
            "shape must be a list of at most {} integers from 1 on",
            limits.rank
        ))
    })
}
