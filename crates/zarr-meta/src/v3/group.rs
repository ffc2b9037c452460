//! The document of a group (checklist A7, A26 to A28, F.5).

use zarr_traits::Limits;

use super::lint;
use super::node::{Node, NodeType, waived};
use crate::diagnostic::{Capped, Code, Diagnostic, Sink};
use crate::error::{MetaError, MetaErrorKind, MetaResult};
use crate::json::{Document, Kind, Object, Value, pointer};

const KNOWN: &[&str] = &["zarr_format", "node_type", "attributes", "consolidated_metadata"];

/// The `zarr.json` of a group.
#[derive(Debug, Clone)]
pub struct GroupDocument {
    node: Node,
    consolidated: Option<Value>,
}

impl GroupDocument {
    /// Reads a `zarr.json`, tolerantly; what was tolerated is reported to `sink`.
    ///
    /// # Errors
    /// When it is no valid document of a group, exceeds `limits`, or `sink` says so.
    pub fn parse(bytes: &[u8], limits: &Limits, sink: &mut dyn Sink) -> MetaResult<Self> {
        let document = Document::parse(bytes, limits, sink)?;
        Self::read(Node::read_only(document, NodeType::Group, sink)?, sink)
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

    /// A new group without attributes, laid out as [`ArrayMeta::builder`](crate::ArrayMeta::builder) does.
    pub fn new() -> Self {
        let mut members = Object::new();
        members.set("zarr_format", 3);
        members.set("node_type", "group");
        members.set("attributes", Object::new());
        Self { node: Node::new(&members.to_value()), consolidated: None }
    }

    /// With these attributes in place of those that are there.
    ///
    /// # Errors
    /// When `attributes` is no object, or holds what JSON cannot: a bare `NaN`, a lone surrogate.
    pub fn with_attributes(mut self, attributes: impl Into<Value>) -> MetaResult<Self> {
        self.set_attributes(attributes)?;
        Ok(self)
    }

    /// Gives the group other attributes, an object.
    ///
    /// # Errors
    /// As [`with_attributes`](Self::with_attributes).
    pub fn set_attributes(&mut self, attributes: impl Into<Value>) -> MetaResult<()> {
        self.node.set_attributes(&attributes.into())
    }

    /// The attributes; empty when there are none.
    pub fn attributes(&self) -> Object {
        self.node.attributes()
    }

    /// Changes the attributes; what the change does not touch keeps its bytes.
    pub fn edit_attributes<R>(&mut self, change: impl FnOnce(&mut Object) -> R) -> R {
        self.node.edit_attributes(change)
    }

    /// The members that the specification does not define: waived by `must_understand: false`, or null. They are kept
    /// (checklist A29).
    pub fn additional(&self) -> impl Iterator<Item = (String, Value)> {
        self.node.additional(KNOWN)
    }

    /// The inline consolidated metadata: paths relative to this group, and documents of nodes as they stand
    /// (checklist F41, F48). None of them has been looked at; read one with
    /// [`NodeDocument::from_value`](super::NodeDocument::from_value).
    pub fn consolidated(&self) -> Option<Object> {
        self.consolidated.as_ref().and_then(Value::as_object)
    }

    /// Takes the consolidated metadata away, whatever form it has.
    pub fn remove_consolidated(&mut self) {
        self.node.members.remove("consolidated_metadata");
        self.consolidated = None;
    }

    /// The text of the document; every byte that was not edited is as it was read.
    pub fn to_text(&self) -> String {
        self.node.to_text()
    }

    /// The document as a JSON value.
    pub fn to_value(&self) -> Value {
        self.node.members.to_value()
    }

    /// Reports what is valid, but unwise (checklist L.2): advice of [`Severity::Warning`](crate::Severity::Warning).
    ///
    /// # Errors
    /// What `sink` answers.
    pub fn lint(&self, sink: &mut dyn Sink) -> MetaResult<()> {
        lint::group(self, sink)
    }
}

impl Default for GroupDocument {
    fn default() -> Self {
        Self::new()
    }
}

/// The `metadata` object of `consolidated_metadata` (checklist F40, F45, F49, F.t5).
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
    let metadata = object.get("metadata").filter(|m| m.kind() == Kind::Object);
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
