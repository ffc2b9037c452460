//! `struct`: named fields, packed without padding.
//!
//! | member | value |
//! |---|---|
//! | `fields` | a list of `{"name": …, "data_type": …}`; names are unique and not empty |
//!
//! Fields may be of any type of fixed size, including structs. All have the same byte order.
//!
//! `structured` is an older name, with fields as pairs `[name, data type]`.
//!
//! `numcodecs:struct` is a private name for structs of format 2 that the registered types cannot represent. There a
//! field may have a `shape`, which makes it a sub-array, and a field of a raw type may have an empty name, which makes
//! it padding.

mod fields;

use std::any::Any;
use std::sync::Arc;

use crate::json::{Object, Value, json};
use zarr_traits::extension::{Configuration, Context, DataTypeEntry, Entry};
use zarr_traits::{CodecResult, DataType, ExtensionType, FillValue, Layout};

use super::not_an_element;
use crate::diagnostic::Ignore;

/// The entry of `struct` in a registry.
pub(super) const STRUCT: Entry = entry("struct", |c, context| open(Form::Struct, c, context));

/// The entry of `structured` in a registry.
pub(super) const STRUCTURED: Entry = entry("structured", |c, context| open(Form::Structured, c, context));

/// The entry of `numcodecs:struct` in a registry.
pub(super) const PRIVATE: Entry = entry("numcodecs:struct", |c, context| open(Form::Private, c, context));

const fn entry(
    name: &'static str,
    build: fn(&mut Configuration<'_>, &Context<'_>) -> CodecResult<Arc<dyn ExtensionType>>,
) -> Entry {
    Entry::DataType(DataTypeEntry::new(name, build))
}

/// The name under which a struct is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Struct,
    Structured,
    Private,
}

/// A data type of named fields, packed one after the other.
#[derive(Debug)]
pub struct StructType {
    pub(crate) form: Form,
    fields: Vec<Field>,
    pub(crate) size: usize,
}

/// One field of a [`StructType`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Field {
    /// The name; empty for padding.
    pub name: String,
    /// The type of the field, or of each element of a sub-array.
    pub data_type: DataType,
    /// The shape of a sub-array, in C order; empty for a single element.
    pub shape: Vec<u64>,
    /// The number of elements: the product of the shape.
    pub count: usize,
    /// The offset from the start of the struct in bytes.
    pub offset: usize,
    /// The size of the field, with all its elements, in bytes.
    pub size: usize,
}

impl Field {
    /// Whether the field is padding, without meaning.
    pub fn is_padding(&self) -> bool {
        self.name.is_empty()
    }

    pub(crate) fn of<'a>(&self, element: &'a [u8]) -> Option<&'a [u8]> {
        element.get(self.offset..)?.get(..self.size)
    }
}

impl StructType {
    /// Returns the struct, or `None` for another data type.
    pub fn of(data_type: &DataType) -> Option<&Self> {
        match data_type {
            DataType::Extension(extension) => (&**extension as &dyn Any).downcast_ref(),
            _ => None,
        }
    }

    /// Returns the fields in their order in memory, including padding.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// Whether the struct is written under its older name `structured`.
    pub(crate) fn is_legacy(&self) -> bool {
        self.form == Form::Structured
    }

    fn needs_private_name(&self) -> bool {
        self.fields.iter().any(|field| field.is_padding() || !field.shape.is_empty())
    }
}

fn open(
    form: Form,
    configuration: &mut Configuration<'_>,
    context: &Context<'_>,
) -> CodecResult<Arc<dyn ExtensionType>> {
    let (fields, size) = fields::read(form, configuration, context)?;
    let mut made = StructType { form, fields, size };
    if form == Form::Private && !made.needs_private_name() {
        made.form = Form::Struct;
    }
    Ok(Arc::new(made))
}

impl ExtensionType for StructType {
    fn name(&self) -> &str {
        match self.form {
            Form::Struct => "struct",
            Form::Structured => "structured",
            Form::Private => "numcodecs:struct",
        }
    }

    fn configuration(&self) -> Object {
        let fields = self.fields.iter().map(|field| match self.form {
            Form::Structured => json!([field.name, named(&field.data_type)]),
            _ if field.shape.is_empty() => {
                json!({"name": field.name, "data_type": named(&field.data_type)})
            }
            _ => {
                json!({"name": field.name, "data_type": named(&field.data_type), "shape": field.shape})
            }
        });
        Object::from_iter([("fields", Value::from_iter(fields))])
    }

    fn layout(&self) -> Layout {
        let has_order = |field: &Field| match field.data_type.layout() {
            Layout::Fixed { unit, .. } => unit > 1,
            _ => true,
        };
        match self.fields.iter().any(has_order) {
            true => Layout::Packed { size: self.size },
            false => Layout::Fixed { size: self.size, unit: 1 },
        }
    }

    fn parts(&self) -> usize {
        self.fields.iter().map(|field| field.data_type.parts()).sum()
    }

    fn swap(&self, elements: &mut [u8], turn: &[bool]) {
        for element in elements.chunks_exact_mut(self.size) {
            let mut turn = turn;
            for field in &self.fields {
                let Some((here, rest)) = turn.split_at_checked(field.data_type.parts()) else { return };
                turn = rest;
                if let Some(bytes) = element.get_mut(field.offset..field.offset + field.size) {
                    field.data_type.swap_parts(bytes, here);
                }
            }
        }
    }

    fn fill_from_json(&self, value: &Value) -> CodecResult<FillValue> {
        let read = self.read_fill(value, &mut Ignore);
        read.map_err(|e| not_an_element("not an element of this struct").with_source(e))
    }

    fn fill_to_json(&self, fill: &FillValue) -> CodecResult<Value> {
        self.show(fill)
    }
}

/// Returns a data type as documents have it: a plain name if it has no configuration.
fn named(data_type: &DataType) -> Value {
    let name = &*data_type.name();
    match data_type {
        DataType::Extension(extension) if !extension.configuration().is_empty() => {
            json!({"name": name, "configuration": extension.configuration()})
        }
        _ => json!(name),
    }
}
