//! Consolidated metadata: the documents of a whole subtree in one place.
//!
//! Format 3 has it inline, as a member of a group document; format 2 in a separate object beside the root. Both are
//! read into a [`ConsolidatedIndex`]: the keys of the documents in the store, relative to the group, and their text as
//! it stands. Reading does not parse the documents, so a broken node does not hide the others, and megabytes open in
//! milliseconds.
//!
//! Rules: [consolidated metadata](https://github.com/zarr-rs/zarr/blob/v0.1.0/docs/specification/consolidated.md).
//!
//! ```
//! use zarr_meta::{Ignore, Limits, consolidated::ConsolidatedIndex, v3::GroupDocument};
//! let group = br#"{"zarr_format":3,"node_type":"group","consolidated_metadata":{"kind":"inline","must_understand":false,
//!     "metadata":{"a":{"zarr_format":3,"node_type":"group","attributes":{}}}}}"#;
//! let group = GroupDocument::parse(group, &Limits::default(), &mut Ignore)?;
//! let index = ConsolidatedIndex::inline(&group.consolidated().unwrap_or_default(), &mut Ignore)?;
//! assert_eq!(index.paths().collect::<Vec<_>>(), ["a"]);
//! # Ok::<(), zarr_meta::MetaError>(())
//! ```

mod compare;
mod holder;
mod read;
mod write;

pub use compare::{Difference, same};
pub use write::remove_inline;

use std::collections::{BTreeMap, BTreeSet};

use crate::documents::{DocumentName, Format};
use crate::json::Value;

const DOCUMENT: &str = DocumentName::Node.as_str();
const ARRAY2: &str = DocumentName::Array2.as_str();
const GROUP2: &str = DocumentName::Group2.as_str();
const ATTRIBUTES2: &str = DocumentName::Attributes2.as_str();

/// The name of the object that holds the consolidated metadata of a hierarchy of format 2, below its root.
pub const OBJECT2: &str = ".zmetadata";

/// Whether an object of this name is a metadata document of format 2 or 3: of a node, or consolidated metadata. Documents of
/// format 1 have ordinary names, so they are not known by them.
pub fn is_document(name: &str) -> bool {
    DocumentName::of(name).is_some() || name == OBJECT2
}

/// The form of consolidated metadata.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConsolidatedForm {
    /// Format 3: the member `consolidated_metadata` of a group.
    Inline,
    /// Format 2: a separate object, [`OBJECT2`].
    Object,
}

impl ConsolidatedForm {
    /// Returns the form that a format uses.
    pub const fn of(format: Format) -> Self {
        match format {
            Format::V3 => Self::Inline,
            Format::V2 | Format::V1 => Self::Object,
        }
    }

    /// Returns the names of the documents of a node.
    fn names(self) -> &'static [&'static str] {
        match self {
            Self::Inline => &[DOCUMENT],
            Self::Object => &[ARRAY2, GROUP2, ATTRIBUTES2],
        }
    }
}

/// The documents of a subtree, by their keys in the store relative to the group.
#[derive(Debug, Clone)]
pub struct ConsolidatedIndex {
    form: ConsolidatedForm,
    /// Keys such as `a/x/zarr.json`, in ascending order.
    documents: BTreeMap<String, Value>,
}

impl ConsolidatedIndex {
    /// Returns an index without documents.
    pub fn new(form: ConsolidatedForm) -> Self {
        Self { form, documents: BTreeMap::new() }
    }

    /// Returns the form that the index was read from and is written in.
    pub fn form(&self) -> ConsolidatedForm {
        self.form
    }

    /// Whether the index has no documents.
    pub fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }

    /// Iterates over keys, relative to the group, and documents, in ascending order of the keys.
    pub fn documents(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.documents.iter().map(|(key, document)| (key.as_str(), document))
    }

    /// Returns the document at a key relative to the group.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.documents.get(key)
    }

    /// Iterates over the paths of all nodes, relative to the group, without repetition. The path of the group itself is
    /// `""`.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        let mut paths: Vec<&str> = self.documents.keys().map(|key| node_of(key)).collect();
        paths.sort_unstable();
        paths.dedup();
        paths.into_iter()
    }

    /// Puts a document at a key relative to the group, and replaces an earlier one.
    pub fn insert(&mut self, key: &str, document: Value) {
        self.documents.insert(key.to_owned(), document);
    }

    /// Removes and returns the document at a key relative to the group.
    pub fn remove(&mut self, key: &str) -> Option<Value> {
        self.documents.remove(key)
    }

    /// Removes the documents of the node at `path`, relative to the group, and of all nodes below it.
    pub fn remove_subtree(&mut self, path: &str) {
        let below = format!("{path}/");
        self.documents.retain(|key, _| !path.is_empty() && !key.starts_with(&below));
    }

    /// Whether the node at `path` has a document of its own. Attributes alone do not count.
    fn has_node(&self, path: &str) -> bool {
        let names = self.form.names();
        names
            .iter()
            .filter(|name| **name != ATTRIBUTES2)
            .any(|name| self.documents.contains_key(&key_of(path, name)))
    }

    /// Returns the paths of implicit groups: those above a node that have no document. Returns at most `most` of them.
    pub fn implicit(&self, most: usize) -> BTreeSet<String> {
        let mut missing = BTreeSet::new();
        for path in self.paths() {
            let mut above = parent_of(path);
            while let Some(group) = above.filter(|group| !group.is_empty()) {
                if missing.len() == most {
                    return missing;
                }
                if self.has_node(group) || !missing.insert(group.to_owned()) {
                    break;
                }
                above = parent_of(group);
            }
        }
        missing
    }
}

/// Returns the path of the node that a key belongs to.
fn node_of(key: &str) -> &str {
    key.rsplit_once('/').map_or("", |(path, _)| path)
}

/// Returns the key of a document of the node at a path.
fn key_of(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") }
}

/// Returns the path of the parent group, or `None` for the group of the index.
fn parent_of(path: &str) -> Option<&str> {
    (!path.is_empty()).then(|| node_of(path))
}
