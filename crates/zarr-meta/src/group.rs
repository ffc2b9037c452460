//! The metadata of a group, whatever the format of its documents.

use serde_core::Serialize;
use serde_core::de::DeserializeOwned;

use crate::diagnostic::Sink;
use crate::documents::{DocumentName, Format};
use crate::error::{MetaError, MetaResult};
use crate::json::{Object, Value, pointer};
use crate::v2;
use crate::v3::GroupDocument;

/// The metadata of a group: its documents, kept as they are spelled.
#[derive(Debug, Clone)]
pub struct GroupMeta(Inner);

#[derive(Debug, Clone)]
enum Inner {
    V3(GroupDocument),
    V2(v2::Group),
}

impl GroupMeta {
    /// Returns a new group without attributes.
    ///
    /// # Errors
    /// For format 1, which has no groups.
    pub fn new(format: Format) -> MetaResult<Self> {
        match format {
            Format::V3 => Ok(Self(Inner::V3(GroupDocument::new()))),
            Format::V2 => Ok(Self(Inner::V2(v2::Group::new()))),
            Format::V1 => Err(MetaError::argument("Zarr format 1 has no groups")),
        }
    }

    /// Returns the format of the documents.
    pub fn format(&self) -> Format {
        match &self.0 {
            Inner::V3(_) => Format::V3,
            Inner::V2(_) => Format::V2,
        }
    }

    /// Returns the document of format 3, or `None` in format 2.
    pub fn document(&self) -> Option<&GroupDocument> {
        match &self.0 {
            Inner::V3(document) => Some(document),
            Inner::V2(_) => None,
        }
    }

    /// Returns the document of format 3 for editing, or `None` in format 2.
    pub fn document_mut(&mut self) -> Option<&mut GroupDocument> {
        match &mut self.0 {
            Inner::V3(document) => Some(document),
            Inner::V2(_) => None,
        }
    }

    /// Returns the attributes; empty if there are none or if they [cannot be read](Self::attributes_error).
    pub fn attributes(&self) -> Object {
        match &self.0 {
            Inner::V3(document) => document.attributes(),
            Inner::V2(group) => group.attributes.object(),
        }
    }

    /// Returns why the attributes cannot be read. In format 2 they are a separate document.
    pub fn attributes_error(&self) -> Option<&MetaError> {
        match &self.0 {
            Inner::V3(_) => None,
            Inner::V2(group) => group.attributes.error(),
        }
    }

    /// Returns the attributes as a Rust type; see [`Object::deserialize`].
    ///
    /// ```
    /// # use zarr_meta::{MetaError, Format, GroupMeta};
    /// #[derive(serde::Serialize, serde::Deserialize)]
    /// struct Attributes {
    ///     units: String,
    ///     valid_range: Option<[f32; 2]>,
    /// }
    /// let mut meta = GroupMeta::new(Format::V3)?;
    /// meta.set_attribute("units", "K")?;
    /// meta.set_attribute("valid_range", &[150.0, 350.0])?;
    /// let attributes: Attributes = meta.attributes_as()?;
    /// assert_eq!((attributes.units.as_str(), attributes.valid_range), ("K", Some([150.0, 350.0])));
    /// # Ok::<(), MetaError>(())
    /// ```
    ///
    /// # Errors
    /// If the attributes do not fit the type, with the JSON pointer to the member; or if they [cannot be
    /// read](Self::attributes_error).
    pub fn attributes_as<T: DeserializeOwned>(&self) -> MetaResult<T> {
        self.attributes_error().map_or(Ok(()), |e| Err(e.clone()))?;
        Ok(self.attributes().deserialize().map_err(|e| e.at("/attributes"))?)
    }

    /// Sets one attribute to a value that can be serialized; see [`Value::serialize`]. The others keep their bytes.
    ///
    /// # Errors
    /// If `value` cannot be represented in JSON, and those of [`edit_attributes`](Self::edit_attributes).
    pub fn set_attribute<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> MetaResult<()> {
        let value = Value::serialize(value).map_err(|e| e.at(&pointer::join("/attributes", name)))?;
        self.edit_attributes(|attributes| attributes.set(name, value))
    }

    /// Replaces the attributes. `attributes` must be an object.
    ///
    /// # Errors
    /// If `attributes` is not an object or has a value that JSON cannot represent (a bare `NaN`, a lone surrogate), or
    /// if the present attributes [cannot be read](Self::attributes_error).
    pub fn set_attributes(&mut self, attributes: impl Into<Value>) -> MetaResult<()> {
        match &mut self.0 {
            Inner::V3(document) => document.set_attributes(attributes),
            Inner::V2(group) => group.attributes.set(&attributes.into()),
        }
    }

    /// Replaces the attributes like [`set_attributes`](Self::set_attributes).
    ///
    /// # Errors
    /// Those of [`set_attributes`](Self::set_attributes).
    pub fn with_attributes(mut self, attributes: impl Into<Value>) -> MetaResult<Self> {
        self.set_attributes(attributes)?;
        Ok(self)
    }

    /// Changes the attributes. Members that are not changed keep their bytes.
    ///
    /// # Errors
    /// If the attributes [cannot be read](Self::attributes_error).
    pub fn edit_attributes<R>(&mut self, change: impl FnOnce(&mut Object) -> R) -> MetaResult<R> {
        match &mut self.0 {
            Inner::V3(document) => Ok(document.edit_attributes(change)),
            Inner::V2(group) => group.attributes.edit(change),
        }
    }

    /// Returns this group in another format, without consolidated metadata.
    ///
    /// # Errors
    /// For format 1, which has no groups, and if the attributes cannot be read.
    pub fn to_format(&self, format: Format) -> MetaResult<Self> {
        self.attributes_error().map_or(Ok(()), |e| Err(e.clone()))?;
        let mut group = Self::new(format)?;
        group.edit_attributes(|attributes| *attributes = self.attributes())?;
        Ok(group)
    }

    /// Returns the inline consolidated metadata of format 3; see [`GroupDocument::consolidated`].
    pub fn consolidated(&self) -> Option<Object> {
        self.document()?.consolidated()
    }

    /// Removes the inline consolidated metadata of format 3, whatever its form.
    pub fn remove_consolidated(&mut self) {
        if let Some(document) = self.document_mut() {
            document.remove_consolidated();
        }
    }

    /// Returns all documents of the group to store, with `None` for a document that must not exist. Attributes that
    /// cannot be read are left out, so that the stored ones stay.
    pub fn documents(&self) -> Vec<(DocumentName, Option<String>)> {
        match &self.0 {
            Inner::V3(document) => vec![(DocumentName::Node, Some(document.to_text()))],
            Inner::V2(group) => group.documents(),
        }
    }

    /// Reports advice about valid but unwise metadata, of [`Severity::Warning`](crate::Severity::Warning).
    ///
    /// # Errors
    /// Only those of `sink`.
    pub fn lint(&self, sink: &mut dyn Sink) -> MetaResult<()> {
        match &self.0 {
            Inner::V3(document) => document.lint(sink),
            Inner::V2(group) => group.attributes.lint(sink),
        }
    }
}

impl From<GroupDocument> for GroupMeta {
    fn from(document: GroupDocument) -> Self {
        Self(Inner::V3(document))
    }
}

impl From<v2::Group> for GroupMeta {
    fn from(group: v2::Group) -> Self {
        Self(Inner::V2(group))
    }
}
