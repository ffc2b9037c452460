//! Reads both forms of consolidated metadata without parsing the nodes.

use std::borrow::Cow;

use zarr_traits::Limits;

use super::write::{MEMBER, is_group, without_member};
use super::{ConsolidatedForm, ConsolidatedIndex, DOCUMENT, OBJECT2, key_of};
use crate::diagnostic::{Capped, Code, Diagnostic, MOST_REPORTS, Sink};
use crate::error::{MetaError, MetaErrorKind, MetaResult};
use crate::json::{Object, Value, pointer};
use crate::text::parse_json;

/// The longest path in bytes, more than any store permits.
const LONGEST_PATH: usize = 4 << 10;

const INLINE: &str = "/consolidated_metadata/metadata";

impl ConsolidatedIndex {
    /// Reads the inline form of format 3: the object `metadata` with paths and documents. Tolerated are a slash at
    /// either end of a path and missing groups above a node. Consolidated metadata in the document of an array is left
    /// out.
    ///
    /// # Errors
    /// Only those of `sink`.
    pub fn inline(metadata: &Object, sink: &mut dyn Sink) -> MetaResult<Self> {
        let sink = &mut Capped::new(sink);
        let mut index = Self::new(ConsolidatedForm::Inline);
        for member in metadata.members() {
            let name = member.name_lossy();
            match normal(&name) {
                Some(path) => {
                    index.take(key_of(path, DOCUMENT), &name, entry(member.value()), INLINE, sink)?
                }
                None => refuse(&name, INLINE, sink)?,
            }
        }
        index.report_implicit(INLINE, sink)?;
        Ok(index)
    }

    /// Reads the object of format 2.
    ///
    /// # Errors
    /// If it is not JSON, not version 1 of this form, or exceeds `limits`; and those of `sink`.
    pub fn parse(bytes: &[u8], limits: &Limits, sink: &mut dyn Sink) -> MetaResult<Self> {
        Self::read(bytes, limits, sink).map_err(|e| e.in_document(OBJECT2))
    }

    fn read(bytes: &[u8], limits: &Limits, sink: &mut dyn Sink) -> MetaResult<Self> {
        let document = parse_json(bytes, limits, sink)?;
        let members = document.root.as_object().ok_or_else(|| document.root.expected("an object"))?;
        let sink = &mut Capped::new(sink);
        version(&members, sink)?;
        let metadata = members.get("metadata").unwrap_or_else(|| Object::new().into());
        let metadata = metadata.as_object().ok_or_else(|| metadata.expected("an object").at("/metadata"))?;
        let mut index = Self::new(ConsolidatedForm::Object);
        for member in metadata.members() {
            let name = member.name_lossy();
            let (path, document) = name.rsplit_once('/').unwrap_or(("", &name));
            let path = if path.is_empty() { Some("") } else { normal(path) };
            match path.filter(|_| ConsolidatedForm::Object.names().contains(&document)) {
                Some(path) => {
                    index.take(key_of(path, document), &name, member.value(), "/metadata", sink)?;
                }
                None => refuse(&name, "/metadata", sink)?,
            }
        }
        index.report_implicit("/metadata", sink)?;
        Ok(index)
    }

    /// Adds a document, and reports if its key was changed or is already present.
    fn take(
        &mut self,
        key: String,
        name: &str,
        document: Value,
        place: &str,
        sink: &mut dyn Sink,
    ) -> MetaResult<()> {
        let spelled: Cow<'_, str> = match self.form {
            ConsolidatedForm::Inline => Cow::Owned(key_of(name, DOCUMENT)),
            ConsolidatedForm::Object => Cow::Borrowed(name),
        };
        if spelled != key {
            let message = format!("expected a path without a slash at either end, read as {key:?}");
            sink.report(Diagnostic::new(Code::ConsolidatedKey, pointer::join(place, name), message))?;
        }
        if self.documents.insert(key, document).is_some() {
            let message = "this node occurs more than once, the last one counts";
            sink.report(Diagnostic::new(Code::ConsolidatedKey, pointer::join(place, name), message))?;
        }
        Ok(())
    }

    fn report_implicit(&self, place: &str, sink: &mut dyn Sink) -> MetaResult<()> {
        for path in self.implicit(MOST_REPORTS) {
            let message = format!("the group {path:?} has no document, but nodes below it have");
            sink.report(Diagnostic::new(Code::ImplicitGroup, place, message))?;
        }
        Ok(())
    }
}

/// Returns the document of a node. An array's consolidated metadata is removed, because it has no meaning. Groups stay
/// as they are: their readers know the member.
fn entry(document: Value) -> Value {
    let odd = document.as_raw().contains(MEMBER) && !is_group(&document);
    if odd { without_member(&document) } else { document }
}

/// Returns a path without a slash at either end, or `None` if it cannot be the path of a node below the group.
fn normal(path: &str) -> Option<&str> {
    let path = path.strip_prefix('/').unwrap_or(path);
    let path = path.strip_suffix('/').unwrap_or(path);
    let legal = path.len() <= LONGEST_PATH && path.split('/').all(|s| !matches!(s, "" | "." | ".."));
    legal.then_some(path)
}

fn refuse(name: &str, place: &str, sink: &mut dyn Sink) -> MetaResult<()> {
    let message = "this is not a path of a node below the group, ignored";
    sink.report(Diagnostic::new(Code::ConsolidatedKey, pointer::join(place, name), message))
}

/// Checks the member `zarr_consolidated_format`.
fn version(members: &Object, sink: &mut dyn Sink) -> MetaResult<()> {
    const PLACE: &str = "/zarr_consolidated_format";
    let Some(value) = members.get("zarr_consolidated_format") else {
        return Err(MetaError::invalid("this member is missing").at(PLACE));
    };
    let number = value.as_number();
    match number.and_then(|n| n.to_integer()) {
        Some(1) => {}
        Some(n) => {
            let message = format!("version {n} of consolidated metadata is not supported, expected 1");
            return Err(MetaError::new(MetaErrorKind::Unsupported, message).at(PLACE));
        }
        None => return Err(value.expected("the number 1").at(PLACE).into()),
    }
    if number.is_some_and(|n| !n.is_plain_integer()) {
        let message = format!("the integer 1 is written as {}", value.as_raw());
        sink.report(Diagnostic::new(Code::FormatSpelling, PLACE, message))?;
    }
    Ok(())
}
