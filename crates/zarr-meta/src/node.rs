//! A node of a hierarchy: an array or a group, of any format.

use zarr_traits::Limits;

use crate::diagnostic::{Code, Diagnostic, Sink};
use crate::documents::{DocumentName, Documents, Format};
use crate::error::{MetaError, MetaResult};
use crate::group::GroupMeta;
use crate::json::{Object, Value};
use crate::model::ArrayMeta;
use crate::v2;
use crate::v3::NodeDocument;

/// The metadata of an array or of a group.
#[derive(Debug, Clone)]
#[allow(clippy::large_enum_variant, reason = "there is one per node, and it is matched at once")]
pub enum NodeMeta {
    /// An array.
    Array(ArrayMeta),
    /// A group.
    Group(GroupMeta),
}

impl NodeMeta {
    /// Reads the documents of a node. Tolerated deviations are reported to `sink`. Returns `None` if there is no node.
    ///
    /// Of documents of several formats the newest counts, and in format 2 an array takes precedence over a group.
    ///
    /// # Errors
    /// If the documents are not valid or exceed `limits`; and those of `sink`.
    pub fn parse(documents: &Documents, limits: &Limits, sink: &mut dyn Sink) -> MetaResult<Option<Self>> {
        use DocumentName::{Array1, Array2, Attributes1, Attributes2, Group2, Node};
        if let Some(bytes) = documents.get(Node) {
            if let Some(other) = [Array2, Group2].into_iter().find(|name| documents.get(*name).is_some()) {
                let message = format!("found both {Node} and {other}, only the former is read");
                sink.report(Diagnostic::new(Code::TwoFormats, "", message))?;
            }
            return NodeDocument::parse(bytes, limits, sink).map(|node| Some(node.into()));
        }
        let attributes = documents.get(Attributes2);
        if let Some(bytes) = documents.get(Array2) {
            if documents.get(Group2).is_some() {
                let message = format!("found both {Array2} and {Group2}, only the former is read");
                sink.report(Diagnostic::new(Code::ArrayAndGroup, "", message))?;
            }
            let array = ArrayMeta::parse_v2(bytes, attributes.map(|b| &**b), limits, sink)?;
            return Ok(Some(Self::Array(array)));
        }
        if let Some(bytes) = documents.get(Group2) {
            let group = v2::Group::parse(bytes, attributes.map(|b| &**b), limits, sink)?;
            return Ok(Some(Self::Group(group.into())));
        }
        let Some(bytes) = documents.get(Array1) else { return Ok(None) };
        let attributes = documents.get(Attributes1).map(|b| &**b);
        ArrayMeta::parse_v1(bytes, attributes, false, limits, sink).map(|array| Some(Self::Array(array)))
    }

    /// Returns the format of the documents.
    pub fn format(&self) -> Format {
        match self {
            Self::Array(array) => array.format(),
            Self::Group(group) => group.format(),
        }
    }

    /// Returns the metadata of an array, or `None` for a group.
    pub fn array(self) -> Option<ArrayMeta> {
        match self {
            Self::Array(array) => Some(array),
            Self::Group(_) => None,
        }
    }

    /// Returns the metadata of a group, or `None` for an array.
    pub fn group(self) -> Option<GroupMeta> {
        match self {
            Self::Array(_) => None,
            Self::Group(group) => Some(group),
        }
    }

    /// Returns the attributes; empty if there are none or if they [cannot be read](Self::attributes_error).
    pub fn attributes(&self) -> Object {
        match self {
            Self::Array(array) => array.attributes(),
            Self::Group(group) => group.attributes(),
        }
    }

    /// Returns why the attributes cannot be read. Before format 3 they are a separate document.
    pub fn attributes_error(&self) -> Option<&MetaError> {
        match self {
            Self::Array(array) => array.attributes_error(),
            Self::Group(group) => group.attributes_error(),
        }
    }

    /// Replaces the attributes. `attributes` must be an object.
    ///
    /// # Errors
    /// If `attributes` is not an object or has a value that JSON cannot represent (a bare `NaN`, a lone surrogate), if
    /// the present attributes [cannot be read](Self::attributes_error), or for an array of format 1, which is
    /// read-only.
    pub fn set_attributes(&mut self, attributes: impl Into<Value>) -> MetaResult<()> {
        match self {
            Self::Array(array) => array.set_attributes(attributes),
            Self::Group(group) => group.set_attributes(attributes),
        }
    }

    /// Changes the attributes. Members that are not changed keep their bytes.
    ///
    /// # Errors
    /// If the attributes [cannot be read](Self::attributes_error), or for an array of format 1, which is read-only.
    pub fn edit_attributes<R>(&mut self, change: impl FnOnce(&mut Object) -> R) -> MetaResult<R> {
        match self {
            Self::Array(array) => array.edit_attributes(change),
            Self::Group(group) => group.edit_attributes(change),
        }
    }

    /// Returns all documents of the node to store, with `None` for a document that must not exist. Attributes that
    /// cannot be read are left out, so that the stored ones stay.
    pub fn documents(&self) -> Vec<(DocumentName, Option<String>)> {
        match self {
            Self::Array(array) => array.documents(),
            Self::Group(group) => group.documents(),
        }
    }

    /// Reports advice about valid but unwise metadata, of [`Severity::Warning`](crate::Severity::Warning).
    ///
    /// # Errors
    /// Only those of `sink`.
    pub fn lint(&self, sink: &mut dyn Sink) -> MetaResult<()> {
        match self {
            Self::Array(array) => array.lint(sink),
            Self::Group(group) => group.lint(sink),
        }
    }
}

impl From<ArrayMeta> for NodeMeta {
    fn from(meta: ArrayMeta) -> Self {
        Self::Array(meta)
    }
}

impl From<GroupMeta> for NodeMeta {
    fn from(meta: GroupMeta) -> Self {
        Self::Group(meta)
    }
}

impl From<NodeDocument> for NodeMeta {
    fn from(document: NodeDocument) -> Self {
        match document {
            NodeDocument::Array(array) => Self::Array(array.into()),
            NodeDocument::Group(group) => Self::Group(group.into()),
        }
    }
}
