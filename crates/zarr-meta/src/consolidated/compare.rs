//! Compares consolidated metadata with the stored documents.

use super::write::{is_group, without_member};
use super::{ATTRIBUTES2, ConsolidatedForm, ConsolidatedIndex, key_of};
use crate::json::{Object, Value, ValueKind};

/// A difference between consolidated metadata and the stored documents of a node. Paths are relative to the group.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Difference {
    /// The node is stored, but not in the consolidated metadata: readers do not see it.
    Missing(String),
    /// The node is in the consolidated metadata, but not stored.
    Gone(String),
    /// The documents of the node differ.
    Changed(String),
}

impl Difference {
    /// Returns the path of the node, relative to the group.
    pub fn path(&self) -> &str {
        match self {
            Self::Missing(path) | Self::Gone(path) | Self::Changed(path) => path,
        }
    }
}

impl ConsolidatedIndex {
    /// Returns the differences between this consolidated metadata and `stored`, the index of the stored documents,
    /// ordered by path.
    pub fn differences(&self, stored: &ConsolidatedIndex) -> Vec<Difference> {
        let mut all: Vec<&str> = self.paths().chain(stored.paths()).collect();
        all.sort_unstable();
        all.dedup();
        let differ = |path: &str| match (self.has_node(path), stored.has_node(path)) {
            (false, false) => None,
            (false, true) => Some(Difference::Missing(path.to_owned())),
            (true, false) => Some(Difference::Gone(path.to_owned())),
            (true, true) => (!self.same_node(stored, path)).then(|| Difference::Changed(path.to_owned())),
        };
        all.into_iter().filter_map(differ).collect()
    }

    fn same_node(&self, other: &ConsolidatedIndex, path: &str) -> bool {
        self.form.names().iter().all(|name| {
            let key = key_of(path, name);
            match (self.comparable(&key), other.comparable(&key)) {
                (Some(ours), Some(theirs)) => same(&ours, &theirs),
                (None, None) => true,
                // Missing attributes are equal to empty ones.
                (Some(one), None) | (None, Some(one)) => {
                    *name == ATTRIBUTES2 && one.as_object().is_some_and(|members| members.is_empty())
                }
            }
        })
    }

    /// Returns a document without members that do not matter: empty attributes and nested consolidated metadata.
    fn comparable(&self, key: &str) -> Option<Value> {
        let document = self.get(key)?;
        if self.form == ConsolidatedForm::Inline && !is_group(document) {
            return Some(without_empty_attributes(document));
        }
        Some(without_empty_attributes(&without_member(document)))
    }
}

fn without_empty_attributes(document: &Value) -> Value {
    let Some(mut members) = document.as_object() else { return document.clone() };
    let empty =
        |value: Value| value.is_null() || value.as_object().is_some_and(|attributes| attributes.is_empty());
    if members.get("attributes").is_some_and(empty) {
        members.remove("attributes");
    }
    members.into()
}

/// Whether two JSON values are equal, regardless of the order of members, escapes and the spelling of numbers.
pub fn same(a: &Value, b: &Value) -> bool {
    if a.as_raw() == b.as_raw() {
        return true;
    }
    match (a.kind(), b.kind()) {
        (ValueKind::Object, ValueKind::Object) => {
            let (a, b) = (a.as_object().unwrap_or_default(), b.as_object().unwrap_or_default());
            same_members(&a, &b)
        }
        (ValueKind::Array, ValueKind::Array) => {
            let (mut a, mut b) = (a.elements().into_iter().flatten(), b.elements().into_iter().flatten());
            loop {
                match (a.next(), b.next()) {
                    (None, None) => return true,
                    (Some(a), Some(b)) if same(&a, &b) => {}
                    _ => return false,
                }
            }
        }
        (ValueKind::String, ValueKind::String) => {
            matches!((a.to_text(), b.to_text()), (Ok(a), Ok(b)) if a == b)
        }
        (ValueKind::Number, ValueKind::Number) => same_number(a, b),
        _ => false,
    }
}

fn same_members(a: &Object, b: &Object) -> bool {
    let sorted = |object: &Object| {
        let mut members: Vec<(String, Value)> =
            object.members().map(|m| (m.name_lossy().into_owned(), m.value())).collect();
        // The last of several members with one name counts. It comes first after reversing, so `dedup` keeps it.
        members.reverse();
        members.sort_by(|a, b| a.0.cmp(&b.0));
        members.dedup_by(|later, first| later.0 == first.0);
        members
    };
    let (a, b) = (sorted(a), sorted(b));
    a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| a.0 == b.0 && same(&a.1, &b.1))
}

/// Compares integers exactly, other numbers as the nearest 64-bit float.
fn same_number(a: &Value, b: &Value) -> bool {
    let (Some(a), Some(b)) = (a.as_number(), b.as_number()) else { return false };
    match (a.to_integer(), b.to_integer()) {
        (Some(a), Some(b)) => a == b,
        _ => {
            matches!((a.as_str().parse::<f64>(), b.as_str().parse::<f64>()), (Ok(a), Ok(b)) if a == b && a.is_finite())
        }
    }
}
