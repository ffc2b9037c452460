//! The document of a node, whose kind it says itself.

use zarr_traits::Limits;

use super::node::{Node, NodeType};
use super::{ArrayDocument, GroupDocument};
use crate::diagnostic::Sink;
use crate::documents::DocumentName;
use crate::error::MetaResult;
use crate::json::{Document, Object, Value};
use crate::text::parse_json;

/// The document of an array or of a group.
#[derive(Debug, Clone)]
#[non_exhaustive]
#[allow(clippy::large_enum_variant, reason = "there is one per node, and it is matched at once")]
pub enum NodeDocument {
    /// `node_type` is `"array"`.
    Array(ArrayDocument),
    /// `node_type` is `"group"`.
    Group(GroupDocument),
}

impl NodeDocument {
    /// Reads a `zarr.json`. Tolerated deviations are reported to `sink`.
    ///
    /// # Errors
    /// If it is not a valid document or exceeds `limits`; and those of `sink`.
    pub fn parse(bytes: &[u8], limits: &Limits, sink: &mut dyn Sink) -> MetaResult<Self> {
        let document = parse_json(bytes, limits, sink);
        document
            .and_then(|document| Self::read(document, limits, sink))
            .map_err(|e| e.in_document(DocumentName::Node.as_str()))
    }

    /// Reads a document that is part of another one, such as consolidated metadata.
    ///
    /// # Errors
    /// Those of [`parse`](Self::parse).
    pub fn from_value(value: Value, limits: &Limits, sink: &mut dyn Sink) -> MetaResult<Self> {
        Self::read(value.into(), limits, sink)
    }

    fn read(document: Document, limits: &Limits, sink: &mut dyn Sink) -> MetaResult<Self> {
        let (node, kind) = Node::read(document, sink)?;
        Ok(match kind {
            NodeType::Array => Self::Array(ArrayDocument::read(node, limits, sink)?),
            NodeType::Group => Self::Group(GroupDocument::read(node, sink)?),
        })
    }

    /// Returns the attributes of the node; empty if there are none.
    pub fn attributes(&self) -> Object {
        match self {
            Self::Array(array) => array.attributes(),
            Self::Group(group) => group.attributes(),
        }
    }

    /// Changes the attributes. Members that are not changed keep their bytes.
    pub fn edit_attributes<R>(&mut self, change: impl FnOnce(&mut Object) -> R) -> R {
        match self {
            Self::Array(array) => array.edit_attributes(change),
            Self::Group(group) => group.edit_attributes(change),
        }
    }

    /// Returns the text of the document. Every byte that was not edited is as it was read.
    pub fn to_text(&self) -> String {
        match self {
            Self::Array(array) => array.to_text(),
            Self::Group(group) => group.to_text(),
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
