//! The document of a group.

use zarr_traits::Limits;

use super::members::waived;
use super::node::{Node, NodeType};
use crate::diagnostic::{Capped, Code, Diagnostic, Sink};
use crate::documents::DocumentName;
use crate::error::{MetaError, MetaErrorKind, MetaResult};
use crate::json::{Object, Value, ValueKind, pointer};
use crate::text::parse_json;

const KNOWN: &[&str] = &["zarr_format", "node_type", "attributes", "consolidated_metadata"];

/// The `zarr.json` of a group.
#[derive(Debug, Clone)]
pub struct GroupDocument {
    node: Node,
    consolidated: Option<Value>,
}

impl GroupDocument {
    /// Reads a `zarr.json`. Tolerated deviations are reported to `sink`.
    ///
    /// # Errors
    /// If it is not a valid document of a group or exceeds `limits`; and those of `sink`.
    pub fn parse(bytes: &[u8], limits: &Limits, sink: &mut dyn Sink) -> MetaResult<Self> {
        let document = parse_json(bytes, limits, sink);
        document
            .and_then(|document| Self::read(Node::read_only(document, NodeType::Group, sink)?, sink))
            .map_err(|e| e.in_document(DocumentName::Node.as_str()))
    }

    pub(super) fn read(node: Node, sink: &mut dyn Sink) -> MetaResult<Self> {
        let sink: &mut dyn Sink = &mut Capped::new(sink);
        let consolidated = match node.members.get("consolidated_metadata") {
            Some(value) => consolidated(&value, sink)?,
            None => None,
        };
        node.check_unknown(KNOWN, sink)?;
        Ok(Self { node, consolidated })
    }

    /// Returns a new group without attributes, indented like documents of
    /// [`ArrayMeta::builder`](crate::ArrayMeta::builder).
    pub fn new() -> Self {
        let mut members = Object::new();
        members.set("zarr_format", 3);
        members.set("node_type", "group");
        members.set("attributes", Object::new());
        Self { node: Node::new(&members.to_value()), consolidated: None }
    }

    /// Replaces the attributes like [`set_attributes`](Self::set_attributes).
    ///
    /// # Errors
    /// Those of [`set_attributes`](Self::set_attributes).
    pub fn with_attributes(mut self, attributes: impl Into<Value>) -> MetaResult<Self> {
        self.set_attributes(attributes)?;
        Ok(self)
    }

    /// Replaces the attributes. `attributes` must be an object.
    ///
    /// # Errors
    /// If `attributes` is not an object, or has a value that JSON cannot represent: a bare `NaN`, a lone surrogate.
    pub fn set_attributes(&mut self, attributes: impl Into<Value>) -> MetaResult<()> {
        self.node.set_attributes(&attributes.into())
    }

    /// Returns the attributes; empty if there are none.
    pub fn attributes(&self) -> Object {
        self.node.attributes()
    }

    /// Changes the attributes. Members that are not changed keep their bytes.
    pub fn edit_attributes<R>(&mut self, change: impl FnOnce(&mut Object) -> R) -> R {
        self.node.edit_attributes(change)
    }

    /// Iterates over the members that the specification does not define, with `must_understand: false` or null. They
    /// are kept on writing.
    pub fn additional(&self) -> impl Iterator<Item = (String, Value)> {
        self.node.additional(KNOWN)
    }

    /// Returns the inline consolidated metadata: paths relative to this group, and documents of nodes as they stand.
    /// The documents are not checked; read one with [`NodeDocument::from_value`](super::NodeDocument::from_value).
    pub fn consolidated(&self) -> Option<Object> {
        self.consolidated.as_ref().and_then(Value::as_object)
    }

    /// Removes the consolidated metadata, whatever its form.
    pub fn remove_consolidated(&mut self) {
        self.node.members.remove("consolidated_metadata");
        self.consolidated = None;
    }

    /// Returns the text of the document. Every byte that was not edited is as it was read.
    pub fn to_text(&self) -> String {
        self.node.to_text()
    }

    /// Returns the document as a JSON value.
    pub fn to_value(&self) -> Value {
        self.node.members.to_value()
    }
}

impl Default for GroupDocument {
    fn default() -> Self {
        Self::new()
    }
}

/// Returns the object `metadata` of `consolidated_metadata`.
fn consolidated(value: &Value, sink: &mut dyn Sink) -> MetaResult<Option<Value>> {
    const PLACE: &str = "/consolidated_metadata";
    if value.is_null() {
        let message = "expected an object, found null, read as if it were absent";
        sink.report(Diagnostic::new(Code::NullConsolidated, PLACE, message))?;
        return Ok(None);
    }
    let object = value.as_object().ok_or_else(|| value.expected("an object").at(PLACE))?;
    let mut report = |step: &str, message: &str| {
        let place = if step.is_empty() { PLACE.to_owned() } else { pointer::join(PLACE, step) };
        sink.report(Diagnostic::new(Code::ConsolidatedForm, place, message))
    };
    let inline = object.get("kind").is_some_and(|k| k.to_text().is_ok_and(|k| k == "inline"));
    let metadata = object.get("metadata").filter(|m| m.kind() == ValueKind::Object);
    let (true, Some(metadata)) = (inline, metadata) else {
        if waived(value) {
            report("", "expected kind \"inline\" and an object metadata, ignored")?;
            return Ok(None);
        }
        let message =
            "expected kind \"inline\" and an object metadata, found something else that must be understood";
        return Err(MetaError::new(MetaErrorKind::UnknownExtension, message).at(PLACE));
    };
    if !waived(value) {
        report("must_understand", "expected false, ignored")?;
    }
    for member in object.members() {
        let name = member.name_lossy();
        if !matches!(&*name, "kind" | "must_understand" | "metadata") {
            report(&name, "unknown member, ignored")?;
        }
    }
    Ok(Some(metadata))
}
