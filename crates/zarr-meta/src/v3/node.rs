//! What arrays and groups share: the version, the node type, attributes, and unknown members.

use zarr_traits::Limits;

use super::{ArrayDocument, GroupDocument};
use crate::diagnostic::{Code, Diagnostic, Sink};
use crate::documents::DocumentName;
use crate::error::{MetaError, MetaErrorKind, MetaResult};
use crate::json::{DEPTH, Document, Object, Value, ValueKind, pointer};

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
        let document = Document::parse(bytes, limits, sink);
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
        let kind = match node_type.to_text().as_deref() {
            Ok("array") => NodeType::Array,
            Ok("group") => NodeType::Group,
            _ => return Err(node_type.expected("\"array\" or \"group\"").at("/node_type")),
        };
        match members.get("attributes") {
            Some(v) if v.is_null() => {
                let message = "expected an object, found null, read as {}";
                sink.report(Diagnostic::new(Code::NullAttributes, "/attributes", message))?;
            }
            Some(v) if v.kind() != ValueKind::Object => {
                return Err(v.expected("an object").at("/attributes"));
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
            if known.contains(&&*name) {
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

/// Whether `value` is an object with `"must_understand": false`.
pub(super) fn waived(value: &Value) -> bool {
    let must = value.as_object().and_then(|o| o.get("must_understand"));
    must.and_then(|v| v.as_bool()) == Some(false)
}

/// Returns the member of the root at `place`, which must be present.
pub(crate) fn required(members: &Object, place: &str) -> MetaResult<Value> {
    let name = place.trim_start_matches('/');
    members.get(name).ok_or_else(|| MetaError::invalid("this member is missing").at(place))
}

/// Returns attributes that may be written: an object without bare `NaN` and lone surrogates.
pub(crate) fn writable(attributes: &Value) -> MetaResult<Value> {
    if attributes.kind() != ValueKind::Object {
        return Err(attributes.expected("an object").at("/attributes"));
    }
    // The document around the attributes is one more level.
    Value::parse_within(attributes.as_raw(), DEPTH - 1).map_err(|e| e.at("/attributes"))
}

/// Reads at most `most` integers from zero. A fraction of zero such as `4.0` is tolerated.
pub(crate) fn lengths(value: &Value, place: &str, most: usize, sink: &mut dyn Sink) -> MetaResult<Vec<u64>> {
    let elements = value.elements().ok_or_else(|| value.expected("an array of integers").at(place))?;
    let mut lengths = Vec::new();
    for (i, element) in elements.enumerate() {
        if i >= most {
            return Err(MetaError::limit(format!("the array has more than {most} dimensions")).at(place));
        }
        let number = element.as_number();
        let integer = number.and_then(|n| n.to_integer()).and_then(|n| u64::try_from(n).ok());
        let Some(integer) = integer else {
            let what = "an integer from 0 to 2^64 - 1";
            return Err(element.expected(what).at(&pointer::element(place, i)));
        };
        if number.is_some_and(|n| !n.is_plain_integer()) {
            let message = format!("the integer {integer} is written as {}", element.as_raw());
            sink.report(Diagnostic::new(Code::IntegerSpelling, pointer::element(place, i), message))?;
        }
        lengths.push(integer);
    }
    Ok(lengths)
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
    if value.to_text().is_ok_and(|text| text.contains("zarr/spec")) {
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
        None => return Err(value.expected(&format!("the number {expected}")).at(PLACE)),
    }
    if number.is_some_and(|n| !n.is_plain_integer()) {
        let message = format!("the integer {expected} is written as {}", value.as_raw());
        sink.report(Diagnostic::new(Code::FormatSpelling, PLACE, message))?;
    }
    Ok(())
}
