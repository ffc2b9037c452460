//! Writing either form: in a settled order, with every group in between.

use super::{DOCUMENT, Form, GROUP2, Index, node_of};
use crate::diagnostic::Ignore;
use crate::error::{MetaError, MetaResult};
use crate::json::{Document, Object, Value};
use crate::v3::GroupDocument;
use zarr_traits::Limits;

pub(super) const MEMBER: &str = "consolidated_metadata";

/// Groups that are added because nodes lie below them: a map of few hostile paths could ask for any number.
const MOST_ADDED: usize = 10_000;

impl Index {
    /// The text of the object of version 2, [`OBJECT2`](super::OBJECT2). Groups that are missing in between are added.
    pub fn to_text(&self) -> String {
        let metadata: Object = self.complete().into_iter().collect();
        let object =
            Object::from_iter([("zarr_consolidated_format", 1.into()), ("metadata", Value::from(metadata))]);
        object.to_value().to_pretty()
    }

    /// The member `consolidated_metadata` of version 3. Groups that are missing in between are added, and child groups
    /// have an empty one of their own, as zarr-python writes it (checklist F42, F49).
    pub fn to_member(&self) -> Value {
        member(self.complete().iter().map(|(key, document)| (node_of(key), document)).collect())
    }

    /// The text of the document of a group of version 3 with this as its consolidated metadata. Everything else in it keeps
    /// its bytes.
    ///
    /// # Errors
    /// When `group` is no JSON object within `limits`.
    pub fn write_into(&self, group: &[u8], limits: &Limits) -> MetaResult<String> {
        edit(group, limits, |members| members.set(MEMBER, self.to_member()))
    }

    /// All documents in the order in which they are written: by depth, then by name.
    fn complete(&self) -> Vec<(String, Value)> {
        let mut all: Vec<(String, Value)> =
            self.documents().map(|(key, document)| (key.to_owned(), self.cleaned(key, document))).collect();
        for path in self.implicit(MOST_ADDED) {
            let (name, document) = match self.form {
                Form::Inline => (DOCUMENT, inline_group(&GroupDocument::new().to_value())),
                Form::Object => (GROUP2, Object::from_iter([("zarr_format", 2)]).into()),
            };
            all.push((format!("{path}/{name}"), document));
        }
        all.sort_by_cached_key(|(key, _)| (key.matches('/').count(), key.clone()));
        all
    }

    /// A document as it is written: of consolidated metadata inside of it nothing remains but the marker.
    fn cleaned(&self, key: &str, document: &Value) -> Value {
        match self.form {
            Form::Inline if is_group(document) => inline_group(document),
            Form::Object if key.ends_with(GROUP2) => without_member(document),
            _ => document.clone(),
        }
    }
}

/// The text of the document of a group of version 3 without consolidated metadata.
///
/// # Errors
/// When `group` is no JSON object within `limits`.
pub fn remove_inline(group: &[u8], limits: &Limits) -> MetaResult<String> {
    edit(group, limits, |members| {
        members.remove(MEMBER);
    })
}

fn edit(group: &[u8], limits: &Limits, change: impl FnOnce(&mut Object)) -> MetaResult<String> {
    let mut document = Document::parse(group, limits, &mut Ignore)?;
    let members = document.root.as_object();
    let mut members = members.ok_or_else(|| MetaError::invalid("the document of the group is no object"))?;
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

/// A document without a member `consolidated_metadata`.
pub(super) fn without_member(document: &Value) -> Value {
    match document.as_object() {
        Some(mut members) if members.contains(MEMBER) => {
            members.remove(MEMBER);
            members.into()
        }
        _ => document.clone(),
    }
}

/// Whether a document of version 3 is that of a group.
pub(super) fn is_group(document: &Value) -> bool {
    let kind = document.as_object().and_then(|members| members.get("node_type"));
    kind.is_some_and(|kind| kind.to_text().is_ok_and(|kind| kind == "group"))
}
