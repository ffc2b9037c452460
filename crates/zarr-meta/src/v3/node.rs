//! The members that arrays and groups share: the version, the node type, attributes, and unknown members.

use super::members::{required, waived, writable};
use crate::diagnostic::{Code, Diagnostic, Sink};
use crate::error::{MetaError, MetaErrorKind, MetaResult};
use crate::json::{Document, Object, Value, ValueKind, pointer};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NodeType {
    Array,
    Group,
}

/// A document whose version, node type and attributes have been checked, but nothing else.
#[derive(Debug, Clone)]
pub(super) struct Node {
    document: Document,
    pub(super) members: Object,
}

impl Node {
    /// Returns a new document, indented for readability.
    pub(super) fn new(root: &Value) -> Self {
        let document = Document::from(root.laid_out());
        let members = document.root.as_object().unwrap_or_default();
        Self { document, members }
    }

    /// Checks `zarr_format`, `node_type` and the kind of `attributes`.
    pub(super) fn read(document: Document, sink: &mut dyn Sink) -> MetaResult<(Self, NodeType)> {
        let members = document.root.as_object().ok_or_else(|| document.root.expected("an object"))?;
        version(&members, sink)?;
        let node_type = required(&members, "/node_type")?;
        let kind = match &node_type {
            text if *text == "array" => NodeType::Array,
            text if *text == "group" => NodeType::Group,
            _ => return Err(node_type.expected("\"array\" or \"group\"").at("/node_type").into()),
        };
        match members.get("attributes") {
            Some(v) if v.is_null() => {
                let message = "expected an object, found null, read as {}";
                sink.report(Diagnostic::new(Code::NullAttributes, "/attributes", message))?;
            }
            Some(v) if v.kind() != ValueKind::Object => {
                return Err(v.expected("an object").at("/attributes").into());
            }
            _ => {}
        }
        Ok((Self { document, members }, kind))
    }

    /// Like [`read`](Self::read), for one kind of node.
    pub(super) fn read_only(document: Document, wanted: NodeType, sink: &mut dyn Sink) -> MetaResult<Self> {
        let (node, kind) = Self::read(document, sink)?;
        match (wanted, kind) {
            (NodeType::Array, NodeType::Group) => Err(MetaError::invalid("expected an array, found a group")),
            (NodeType::Group, NodeType::Array) => Err(MetaError::invalid("expected a group, found an array")),
            _ => Ok(node),
        }
    }

    /// Checks that members that are not `known` may be ignored: objects with `must_understand: false`, and null.
    pub(super) fn check_unknown(&self, known: &[&str], sink: &mut dyn Sink) -> MetaResult<()> {
        for member in self.members.members() {
            let name = member.name_lossy();
            if known.iter().any(|known| known.len() == name.len() && **known == *name) {
                continue;
            }
            let value = member.value();
            if waived(&value) {
                continue;
            }
            let place = pointer::join("", &name);
            if !value.is_null() {
                let hint = match &*name {
                    "chunks" | "dtype" | "compressor" | "filters" | "order" => {
                        ", it belongs to Zarr version 2"
                    }
                    "chunk_memory_layout" | "extensions" => ", it belongs to drafts of Zarr version 3",
                    "consolidated_metadata" => ", only groups have it",
                    _ => "",
                };
                let message = format!("unknown member that must be understood{hint}");
                return Err(MetaError::new(MetaErrorKind::UnknownExtension, message).at(&place));
            }
            sink.report(Diagnostic::new(
                Code::NullMember,
                place,
                "unknown member, ignored because it is null",
            ))?;
        }
        Ok(())
    }

    /// Iterates over the members that are not `known`.
    pub(super) fn additional(&self, known: &[&str]) -> impl Iterator<Item = (String, Value)> {
        let unknown = self.members.members().filter(|m| !known.contains(&&*m.name_lossy()));
        unknown.map(|m| (m.name_lossy().into_owned(), m.value()))
    }

    pub(super) fn attributes(&self) -> Object {
        self.members.get("attributes").and_then(|v| v.as_object()).unwrap_or_default()
    }

    pub(super) fn set_attributes(&mut self, attributes: &Value) -> MetaResult<()> {
        self.members.set("attributes", writable(attributes)?);
        Ok(())
    }

    pub(super) fn edit_attributes<R>(&mut self, change: impl FnOnce(&mut Object) -> R) -> R {
        self.members.edit("attributes", change)
    }

    pub(super) fn to_text(&self) -> String {
        let mut document = self.document.clone();
        document.root = self.members.to_value();
        document.to_text()
    }
}

/// Checks `zarr_format`, and refuses drafts of version 3.
fn version(members: &Object, sink: &mut dyn Sink) -> MetaResult<()> {
    let unsupported =
        |message: String| Err(MetaError::new(MetaErrorKind::Unsupported, message).at("/zarr_format"));
    let draft =
        || unsupported("this is a pre-release draft of Zarr version 3, which is not supported".to_owned());
    if members.contains("metadata_encoding") || members.contains("metadata_key_suffix") {
        return draft();
    }
    let Some(value) = members.get("zarr_format") else {
        if members.contains("chunk_memory_layout") {
            return draft();
        }
        return Err(MetaError::invalid("this member is missing").at("/zarr_format"));
    };
    if value.as_text().is_some_and(|text| text.contains("zarr/spec")) {
        return draft();
    }
    integer_format(&value, 3, sink)
}

/// Checks that `zarr_format` is the number `expected`.
pub(crate) fn integer_format(value: &Value, expected: u8, sink: &mut dyn Sink) -> MetaResult<()> {
    const PLACE: &str = "/zarr_format";
    let number = value.as_number();
    let unsupported = |message: String| Err(MetaError::new(MetaErrorKind::Unsupported, message).at(PLACE));
    match number.and_then(|n| n.to_integer()) {
        Some(n) if n == i128::from(expected) => {}
        Some(n @ 1..=3) => {
            return unsupported(format!("this document is of Zarr version {n}, expected version {expected}"));
        }
        Some(n) => return unsupported(format!("unsupported version {n} of Zarr")),
        None => return Err(value.expected(&format!("the number {expected}")).at(PLACE).into()),
    }
    if number.is_some_and(|n| !n.is_plain_integer()) {
        let message = format!("the integer {expected} is written as {}", value.as_raw());
        sink.report(Diagnostic::new(Code::FormatSpelling, PLACE, message))?;
    }
    Ok(())
}
