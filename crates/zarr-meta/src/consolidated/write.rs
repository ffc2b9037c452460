//! Writes both forms of consolidated metadata: in a fixed order, with the missing groups added.

use super::{ConsolidatedForm, ConsolidatedIndex, DOCUMENT, GROUP2, node_of};
use crate::diagnostic::Ignore;
use crate::error::{MetaError, MetaResult};
use crate::json::{Object, Value};
use crate::text::parse_json;
use crate::v3::GroupDocument;
use zarr_traits::Limits;

pub(super) const MEMBER: &str = "consolidated_metadata";

/// The most groups that are added because nodes lie below them. Without a limit a few hostile paths could ask for
/// millions.
const MOST_ADDED: usize = 10_000;

impl ConsolidatedIndex {
    /// Returns the object of format 2, [`OBJECT2`](super::OBJECT2), as text. Missing groups above nodes are added.
    pub fn to_text(&self) -> String {
        let metadata: Object = self.complete().into_iter().collect();
        let object =
            Object::from_iter([("zarr_consolidated_format", 1.into()), ("metadata", Value::from(metadata))]);
        object.to_value().to_pretty()
    }

    /// Returns the member `consolidated_metadata` of format 3. Missing groups above nodes are added, and child groups
    /// have an empty `consolidated_metadata` of their own, as zarr-python writes it.
    pub fn to_member(&self) -> Value {
        member(self.complete().iter().map(|(key, document)| (node_of(key), document)).collect())
    }

    /// Returns the text of a group document of format 3 with this consolidated metadata. All other members keep their
    /// bytes.
    ///
    /// # Errors
    /// If `group` is not a JSON object within `limits`.
    pub fn write_into(&self, group: &[u8], limits: &Limits) -> MetaResult<String> {
        edit(group, limits, |members| members.set(MEMBER, self.to_member()))
    }

    /// Returns all documents in the order of writing: by depth, then by name.
    fn complete(&self) -> Vec<(String, Value)> {
        let mut all: Vec<(String, Value)> =
            self.documents().map(|(key, document)| (key.to_owned(), self.cleaned(key, document))).collect();
        for path in self.implicit(MOST_ADDED) {
            let (name, document) = match self.form {
                ConsolidatedForm::Inline => (DOCUMENT, inline_group(&GroupDocument::new().to_value())),
                ConsolidatedForm::Object => (GROUP2, Object::from_iter([("zarr_format", 2)]).into()),
            };
            all.push((format!("{path}/{name}"), document));
        }
        all.sort_by_cached_key(|(key, _)| (key.matches('/').count(), key.clone()));
        all
    }

    /// Returns a document as it is written: of nested consolidated metadata only an empty member remains.
    fn cleaned(&self, key: &str, document: &Value) -> Value {
        match self.form {
            ConsolidatedForm::Inline if is_group(document) => inline_group(document),
            ConsolidatedForm::Object if key.ends_with(GROUP2) => without_member(document),
            _ => document.clone(),
        }
    }
}

/// Returns the text of a group document of format 3 without consolidated metadata.
///
/// # Errors
/// If `group` is not a JSON object within `limits`.
pub fn remove_inline(group: &[u8], limits: &Limits) -> MetaResult<String> {
    edit(group, limits, |members| {
        members.remove(MEMBER);
    })
}

fn edit(group: &[u8], limits: &Limits, change: impl FnOnce(&mut Object)) -> MetaResult<String> {
    let mut document = parse_json(group, limits, &mut Ignore)?;
    let members = document.root.as_object();
    let mut members =
        members.ok_or_else(|| MetaError::invalid("the document of the group is not a JSON object"))?;
    change(&mut members);
    document.root = members.into();
    Ok(document.to_text())
}

fn member(metadata: Object) -> Value {
    let members =
        [("kind", "inline".into()), ("must_understand", false.into()), ("metadata", Value::from(metadata))];
    Object::from_iter(members).into()
}

fn inline_group(document: &Value) -> Value {
    let mut members = document.as_object().unwrap_or_default();
    members.set(MEMBER, member(Object::new()));
    members.into()
}

/// Returns a document without the member `consolidated_metadata`.
pub(super) fn without_member(document: &Value) -> Value {
    match document.as_object() {
        Some(mut members) if members.contains(MEMBER) => {
            members.remove(MEMBER);
            members.into()
        }
        _ => document.clone(),
    }
}

/// Whether a document of format 3 is that of a group.
pub(super) fn is_group(document: &Value) -> bool {
    let kind = document.as_object().and_then(|members| members.get("node_type"));
    kind.is_some_and(|kind| kind.to_text().is_ok_and(|kind| kind == "group"))
}
