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
    /// Reads the documents of a node, tolerantly; what was tolerated is reported to `sink`. `None` when there is no node.
    ///
    /// Where documents of several formats are given the newest counts (checklist F14, L73), and in format 2 an array goes
    /// before a group (H.t10).
    ///
    /// # Errors
    /// When the documents are not valid, exceed `limits`, or `sink` says so.
    pub fn parse(documents: &Documents, limits: &Limits, sink: &mut dyn Sink) -> MetaResult<Option<Self>> {
        use DocumentName::{Array1, Array2, Attributes1, Attributes2, Group2, Node};
        if let Some(bytes) = documents.get(Node) {
            if let Some(other) = [Array2, Group2].into_iter().find(|name| documents.get(*name).is_some()) {
                let message = format!("{Node} and {other} are side by side, only the former is read");
                sink.report(Diagnostic::new(Code::TwoFormats, "", message))?;
            }
            return NodeDocument::parse(bytes, limits, sink).map(|node| Some(node.into()));
        }
        let attributes = documents.get(Attributes2);
        if let Some(bytes) = documents.get(Array2) {
            if documents.get(Group2).is_some() {
                let message = format!("{Array2} and {Group2} are side by side, only the former is read");
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

    /// The version of the format.
    pub fn format(&self) -> Format {
        match self {
            Self::Array(array) => array.format(),
            Self::Group(group) => group.format(),
        }
    }

    /// The array, when it is one.
    pub fn array(self) -> Option<ArrayMeta> {
        match self {
            Self::Array(array) => Some(array),
            Self::Group(_) => None,
        }
    }

    /// The group, when it is one.
    pub fn group(self) -> Option<GroupMeta> {
        match self {
            Self::Array(_) => None,
            Self::Group(group) => Some(group),
        }
    }

    /// The attributes; empty when there are none, or when they [cannot be read](Self::attributes_error).
    pub fn attributes(&self) -> Object {
        match self {
            Self::Array(array) => array.attributes(),
            Self::Group(group) => group.attributes(),
        }
    }

    /// Why the attributes cannot be read: before format 3 they have a document of their own (checklist H.t8).
    pub fn attributes_error(&self) -> Option<&MetaError> {
        match self {
            Self::Array(array) => array.attributes_error(),
            Self::Group(group) => group.attributes_error(),
        }
    }

    /// Gives the node other attributes, an object.
    ///
    /// # Errors
    /// When `attributes` is no object, or holds what JSON cannot: a bare `NaN`, a lone surrogate; and when those that
    /// are there [cannot be read](Self::attributes_error).
    pub fn set_attributes(&mut self, attributes: impl Into<Value>) -> MetaResult<()> {
        match self {
            Self::Array(array) => array.set_attributes(attributes),
            Self::Group(group) => group.set_attributes(attributes),
        }
    }

    /// Changes the attributes; what the change does not touch keeps its bytes.
    ///
    /// # Errors
    /// When the attributes [cannot be read](Self::attributes_error).
    pub fn edit_attributes<R>(&mut self, change: impl FnOnce(&mut Object) -> R) -> MetaResult<R> {
        match self {
            Self::Array(array) => array.edit_attributes(change),
            Self::Group(group) => group.edit_attributes(change),
        }
    }

    /// All documents of the node as they would be stored now, with `None` for one that must not exist. Attributes that
    /// cannot be read are left out: what is stored may stay.
    pub fn documents(&self) -> Vec<(DocumentName, Option<String>)> {
        match self {
            Self::Array(array) => array.documents(),
            Self::Group(group) => group.documents(),
        }
    }

    /// Reports what is valid, but unwise: advice of [`Severity::Warning`](crate::Severity::Warning).
    ///
    /// # Errors
    /// What `sink` answers.
    pub fn lint(&self, sink: &mut dyn Sink) -> MetaResult<()> {
        match self {
            Self::Array(array) => array.lint(sink),
            Self::Group(group) => group.lint(sink),
        }
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
