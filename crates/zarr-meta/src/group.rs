//! What the rest of the workspace sees of a group's metadata, whatever the version of its documents.

use serde_core::Serialize;
use serde_core::de::DeserializeOwned;

use crate::diagnostic::Sink;
use crate::documents::{DocumentName, Format};
use crate::error::{MetaError, MetaResult};
use crate::json::{Object, Value, pointer};
use crate::v2;
use crate::v3::GroupDocument;

/// The metadata of a group: documents, kept as they are spelled.
#[derive(Debug, Clone)]
pub struct GroupMeta(Inner);

#[derive(Debug, Clone)]
enum Inner {
    V3(GroupDocument),
    V2(v2::Group),
}

impl GroupMeta {
    /// A new group without attributes.
    ///
    /// # Errors
    /// Format 1 has no groups.
    pub fn new(format: Format) -> MetaResult<Self> {
        match format {
            Format::V3 => Ok(Self(Inner::V3(GroupDocument::new()))),
            Format::V2 => Ok(Self(Inner::V2(v2::Group::new()))),
            Format::V1 => Err(MetaError::argument("Zarr format 1 has no groups")),
        }
    }

    /// The version of the format.
    pub fn format(&self) -> Format {
        match &self.0 {
            Inner::V3(_) => Format::V3,
            Inner::V2(_) => Format::V2,
        }
    }

    /// The document of format 3; `None` in format 2.
    pub fn document(&self) -> Option<&GroupDocument> {
        match &self.0 {
            Inner::V3(document) => Some(document),
            Inner::V2(_) => None,
        }
    }

    /// The document of format 3, to be changed; `None` in format 2.
    pub fn document_mut(&mut self) -> Option<&mut GroupDocument> {
        match &mut self.0 {
            Inner::V3(document) => Some(document),
            Inner::V2(_) => None,
        }
    }

    /// The attributes; empty when there are none, or when they [cannot be read](Self::attributes_error).
    pub fn attributes(&self) -> Object {
        match &self.0 {
            Inner::V3(document) => document.attributes(),
            Inner::V2(group) => group.attributes.object(),
        }
    }

    /// Why the attributes cannot be read: in format 2 they have a document of their own.
    pub fn attributes_error(&self) -> Option<&MetaError> {
        match &self.0 {
            Inner::V3(_) => None,
            Inner::V2(group) => group.attributes.error(),
        }
    }

    /// The attributes as a Rust type; see [`Object::deserialize`].
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
    /// When they are no such value, with the JSON pointer to the member; when they [cannot be
    /// read](Self::attributes_error).
    pub fn attributes_as<T: DeserializeOwned>(&self) -> MetaResult<T> {
        self.attributes_error().map_or(Ok(()), |e| Err(e.clone()))?;
        self.attributes().deserialize().map_err(|e| e.at("/attributes"))
    }

    /// Sets one attribute to anything that serializes; see [`Value::serialize`]. The others keep their bytes.
    ///
    /// # Errors
    /// When `value` has no form in JSON, and as [`edit_attributes`](Self::edit_attributes).
    pub fn set_attribute<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> MetaResult<()> {
        let value = Value::serialize(value).map_err(|e| e.at(&pointer::join("/attributes", name)))?;
        self.edit_attributes(|attributes| attributes.set(name, value))
    }

    /// Gives the group other attributes, an object.
    ///
    /// # Errors
    /// When `attributes` is no object, or holds what JSON cannot: a bare `NaN`, a lone surrogate; and when those that
    /// are there [cannot be read](Self::attributes_error).
    pub fn set_attributes(&mut self, attributes: impl Into<Value>) -> MetaResult<()> {
        match &mut self.0 {
            Inner::V3(document) => document.set_attributes(attributes),
            Inner::V2(group) => group.attributes.set(&attributes.into()),
        }
    }

    /// With these attributes in place of those that are there.
    ///
    /// # Errors
    /// As [`set_attributes`](Self::set_attributes).
    pub fn with_attributes(mut self, attributes: impl Into<Value>) -> MetaResult<Self> {
        self.set_attributes(attributes)?;
        Ok(self)
    }

    /// Changes the attributes; what the change does not touch keeps its bytes.
    ///
    /// # Errors
    /// When the attributes [cannot be read](Self::attributes_error).
    pub fn edit_attributes<R>(&mut self, change: impl FnOnce(&mut Object) -> R) -> MetaResult<R> {
        match &mut self.0 {
            Inner::V3(document) => Ok(document.edit_attributes(change)),
            Inner::V2(group) => group.attributes.edit(change),
        }
    }

    /// This group as one of that format, without consolidated metadata.
    ///
    /// # Errors
    /// Format 1 has no groups, and attributes that cannot be read cannot be written either.
    pub fn to_format(&self, format: Format) -> MetaResult<Self> {
        self.attributes_error().map_or(Ok(()), |e| Err(e.clone()))?;
        let mut group = Self::new(format)?;
        group.edit_attributes(|attributes| *attributes = self.attributes())?;
        Ok(group)
    }

    /// The inline consolidated metadata of format 3; see [`GroupDocument::consolidated`].
    pub fn consolidated(&self) -> Option<Object> {
        self.document()?.consolidated()
    }

    /// Takes the inline consolidated metadata of format 3 away, whatever form it has.
    pub fn remove_consolidated(&mut self) {
        if let Some(document) = self.document_mut() {
            document.remove_consolidated();
        }
    }

    /// All documents of the group as they would be stored now, with `None` for one that must not exist. Attributes that
    /// cannot be read are left out: what is stored may stay.
    pub fn documents(&self) -> Vec<(DocumentName, Option<String>)> {
        match &self.0 {
            Inner::V3(document) => vec![(DocumentName::Node, Some(document.to_text()))],
            Inner::V2(group) => group.documents(),
        }
    }

    /// Reports what is valid, but unwise: advice of [`Severity::Warning`](crate::Severity::Warning).
    ///
    /// # Errors
    /// What `sink` answers.
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
