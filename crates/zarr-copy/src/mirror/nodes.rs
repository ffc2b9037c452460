//! The nodes of the source, and the objects that belong to them.

use std::collections::BTreeMap;

use zarr_array::Limits;
use zarr_array::meta::{self, DocumentName, Documents, Ignore, NodeMeta, consolidated, parse_json};

/// The kinds of the nodes by their keys below the source: `""`, `a/b/`.
#[derive(Debug, Default)]
pub(super) struct Nodes(BTreeMap<String, Kind>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Group,
    Array,
}

/// Splits a key into the folder, with a slash at its end, and the name.
fn split(below: &str) -> (&str, &str) {
    below.split_at(below.rfind('/').map_or(0, |at| at + 1))
}

/// Whether a key is that of a document of a node, or of consolidated metadata.
pub(super) fn is_document(below: &str) -> bool {
    meta::is_document(split(below).1)
}

/// Orders documents so that a node appears after the nodes in it, and consolidated metadata at the very end.
pub(super) fn order(below: &str) -> (std::cmp::Reverse<usize>, bool, &str) {
    let (folder, name) = split(below);
    (std::cmp::Reverse(folder.matches('/').count()), name == consolidated::OBJECT2, below)
}

/// Whether a document can be read.
pub(super) fn is_valid(below: &str, document: &[u8]) -> bool {
    let (_, name) = split(below);
    match DocumentName::of(name) {
        Some(name @ (DocumentName::Node | DocumentName::Array2 | DocumentName::Group2)) => {
            let documents = Documents::new().with(name, document.to_vec());
            NodeMeta::parse(&documents, &Limits::default(), &mut Ignore).is_ok_and(|node| node.is_some())
        }
        _ => parse_json(document, &Limits::default(), &mut Ignore).is_ok(),
    }
}

impl Nodes {
    /// Whether the node itself is among these.
    pub(super) fn has_root(&self) -> bool {
        self.0.contains_key("")
    }

    /// Adds the node that a document of the source makes.
    pub(super) fn add(&mut self, below: &str, document: &[u8]) {
        let (folder, name) = split(below);
        let kind = match DocumentName::of(name) {
            Some(DocumentName::Array2) => Kind::Array,
            Some(DocumentName::Group2) => Kind::Group,
            Some(DocumentName::Node) => {
                let documents = Documents::new().with(DocumentName::Node, document.to_vec());
                match NodeMeta::parse(&documents, &Limits::default(), &mut Ignore) {
                    Ok(Some(NodeMeta::Array(_))) => Kind::Array,
                    // An unreadable node owns only its document.
                    _ => Kind::Group,
                }
            }
            _ => return,
        };
        self.0.insert(folder.to_owned(), kind);
    }

    /// Whether an object that only the destination has belongs to a node of the source: a chunk that the source does not
    /// store, or a document that it lacks.
    pub(super) fn owns(&self, below: &str) -> bool {
        let (mut folder, _) = split(below);
        if is_document(below) && self.0.contains_key(folder) {
            return true;
        }
        loop {
            match self.0.get(folder) {
                Some(kind) => return *kind == Kind::Array,
                None if folder.is_empty() => return false,
                None => folder = split(folder.trim_end_matches('/')).0,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_and_documents_belong_to_nodes() {
        let mut nodes = Nodes::default();
        for (below, text) in [
            ("zarr.json", r#"{"zarr_format": 3, "node_type": "group"}"#),
            ("a/.zarray", "{}"),
            ("g/.zgroup", "{}"),
        ] {
            nodes.add(below, text.as_bytes());
        }
        for (below, is_owned) in [
            ("a/0.0", true),
            ("a/c/0/0", true),
            ("a/zarr.json", true),
            ("a/b/.zarray", true),
            (".zmetadata", true),
            ("g/.zattrs", true),
            ("g/readme", false),
            ("readme", false),
            ("b/zarr.json", false),
            ("b/c/0", false),
        ] {
            assert_eq!(nodes.owns(below), is_owned, "{below}");
        }
    }

    #[test]
    fn documents_of_children_come_first_and_consolidated_metadata_last() {
        let mut keys = [".zmetadata", ".zgroup", "a/.zarray", "a/b/.zarray", ".zattrs"];
        keys.sort_by(|a, b| order(a).cmp(&order(b)));
        assert_eq!(keys, ["a/b/.zarray", "a/.zarray", ".zattrs", ".zgroup", ".zmetadata"]);
    }
}
