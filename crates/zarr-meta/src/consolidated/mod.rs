//! Consolidated metadata: the documents of a whole subtree in one place (checklist F.5).
//!
//! Version 3 has it inline, as a member of the document of a group; version 2 in an object of its own beside the root. Either
//! way it becomes an [`Index`]: the keys that the documents have in the store, relative to the group, and their text as it
//! stands. No node is looked at before somebody asks for it, so that one that is broken hides nobody (F48), and megabytes
//! of it open in milliseconds.
//!
//! ```
//! use zarr_meta::{Ignore, Limits, consolidated::Index, v3::GroupDocument};
//! let group = br#"{"zarr_format":3,"node_type":"group","consolidated_metadata":{"kind":"inline","must_understand":false,
//!     "metadata":{"a":{"zarr_format":3,"node_type":"group","attributes":{}}}}}"#;
//! let group = GroupDocument::parse(group, &Limits::default(), &mut Ignore)?;
//! let index = Index::inline(&group.consolidated().unwrap_or_default(), &mut Ignore)?;
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

/// The name of the object that holds the consolidated metadata of a hierarchy of version 2, below its root.
pub const OBJECT2: &str = ".zmetadata";

/// Which of the two forms consolidated metadata has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Version 3: the member `consolidated_metadata` of a group.
    Inline,
    /// Version 2: an object of its own, [`OBJECT2`].
    Object,
}

impl Form {
    /// The form that hierarchies of a format have.
    pub const fn of(format: Format) -> Self {
        match format {
            Format::V3 => Self::Inline,
            Format::V2 | Format::V1 => Self::Object,
        }
    }

    /// The names that documents of nodes have.
    fn names(self) -> &'static [&'static str] {
        match self {
            Self::Inline => &[DOCUMENT],
            Self::Object => &[ARRAY2, GROUP2, ATTRIBUTES2],
        }
    }
}

/// The documents of a subtree by the keys that they have in the store, relative to the group that they belong to.
#[derive(Debug, Clone)]
pub struct Index {
    form: Form,
    /// Keys such as `a/x/zarr.json`, in ascending order.
    documents: BTreeMap<String, Value>,
}

impl Index {
    /// An index without documents.
    pub fn new(form: Form) -> Self {
        Self { form, documents: BTreeMap::new() }
    }

    /// Which form it has, or will be written in.
    pub fn form(&self) -> Form {
        self.form
    }

    /// Whether there is no document.
    pub fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }

    /// The keys, relative to the group, and the documents, in ascending order of the keys.
    pub fn documents(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.documents.iter().map(|(key, document)| (key.as_str(), document))
    }

    /// The document at a key relative to the group.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.documents.get(key)
    }

    /// The paths of all nodes, relative to the group, each once; the group itself, where it has documents here, is `""`.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        let mut paths: Vec<&str> = self.documents.keys().map(|key| node_of(key)).collect();
        paths.sort_unstable();
        paths.dedup();
        paths.into_iter()
    }

    /// Puts a document at a key relative to the group, in the place of the one that is there.
    pub fn insert(&mut self, key: &str, document: Value) {
        self.documents.insert(key.to_owned(), document);
    }

    /// Takes away the document at a key relative to the group.
    pub fn remove(&mut self, key: &str) -> Option<Value> {
        self.documents.remove(key)
    }

    /// Takes away the documents of the node at `path`, relative to the group, and of all nodes below it.
    pub fn remove_subtree(&mut self, path: &str) {
        let below = format!("{path}/");
        self.documents.retain(|key, _| !path.is_empty() && !key.starts_with(&below));
    }

    /// Whether the node at a path is documented as a node.
    fn has_node(&self, path: &str) -> bool {
        let names = self.form.names();
        names
            .iter()
            .filter(|name| **name != ATTRIBUTES2)
            .any(|name| self.documents.contains_key(&key_of(path, name)))
    }

    /// Groups that lie above a node and have no document, about `most` of them: they are implicit (checklist F.t10).
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

/// The path of the node that a key is about.
fn node_of(key: &str) -> &str {
    key.rsplit_once('/').map_or("", |(path, _)| path)
}

/// The key of a document of the node at a path.
fn key_of(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") }
}

/// The path of the group around a node; none for the group that all of this belongs to.
fn parent_of(path: &str) -> Option<&str> {
    (!path.is_empty()).then(|| node_of(path))
}
