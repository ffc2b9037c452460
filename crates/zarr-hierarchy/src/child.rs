//! What is found below a group.

use std::sync::Arc;

use zarr_array::meta::NodeMeta;
use zarr_array::traits::Prefix;
use zarr_array::{Array, Diagnostic};

use crate::error::{HierarchyError, HierarchyResult};
use crate::group::{Group, Shared};

/// A node, open.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Node {
    /// An array.
    Array(Array),
    /// A group.
    Group(Group),
}

impl Node {
    pub(crate) fn open(
        shared: &Arc<Shared>,
        prefix: &Prefix,
        meta: NodeMeta,
        notes: Vec<Diagnostic>,
    ) -> HierarchyResult<Self> {
        match meta {
            NodeMeta::Group(meta) => Ok(Self::Group(Group::at(shared, prefix, meta, notes))),
            NodeMeta::Array(meta) => {
                let (storage, registry) = (shared.storage.clone(), &shared.registry);
                let array =
                    shared.array_options().with_metadata(storage, prefix.clone(), meta, notes, registry)?;
                Ok(Self::Array(array.with_consolidated(shared.options.writing.consolidated)))
            }
        }
    }
}

/// What a child of a group is, as far as its documents tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// An array.
    Array,
    /// A group.
    Group,
}

/// What was found at the path of a child.
#[derive(Debug)]
#[non_exhaustive]
#[allow(clippy::large_enum_variant, reason = "there is one per child, and it is matched at once")]
pub enum Found {
    /// A node, with its metadata. Codecs and data types have not been looked up: one that is unknown is an error of
    /// [`Child::open`].
    Node(NodeMeta),
    /// No document of the formats that are shown: an implicit group, a node of the other format, or a folder that is no
    /// business of Zarr's.
    Undocumented,
    /// Documents that are invalid or cannot be read.
    Broken(HierarchyError),
    /// A group that was found before, whose children cannot be listed.
    Unlisted(HierarchyError),
}

/// One of the children of a group, or of the nodes below it.
#[derive(Debug)]
pub struct Child {
    pub(crate) shared: Arc<Shared>,
    pub(crate) prefix: Prefix,
    pub(crate) notes: Vec<Diagnostic>,
    pub(crate) found: Found,
}

impl Child {
    /// The name: the last segment of the path.
    pub fn name(&self) -> &str {
        let path = self.prefix.as_str().trim_end_matches('/');
        path.rsplit('/').next().unwrap_or(path)
    }

    /// The path in the store: `/a/b`.
    pub fn path(&self) -> String {
        self.prefix.node_path()
    }

    /// The prefix in the store.
    pub fn prefix(&self) -> &Prefix {
        &self.prefix
    }

    /// What was found there.
    pub fn found(&self) -> &Found {
        &self.found
    }

    /// What was found there, taken out.
    pub fn into_found(self) -> Found {
        self.found
    }

    /// The metadata, when there is a node.
    pub fn metadata(&self) -> Option<&NodeMeta> {
        match &self.found {
            Found::Node(meta) => Some(meta),
            _ => None,
        }
    }

    /// The kind of node, when there is one.
    pub fn kind(&self) -> Option<Kind> {
        self.metadata().map(|meta| match meta {
            NodeMeta::Array(_) => Kind::Array,
            NodeMeta::Group(_) => Kind::Group,
        })
    }

    /// What is wrong with it: its documents are invalid or cannot be read, or its children cannot be listed.
    pub fn error(&self) -> Option<&HierarchyError> {
        match &self.found {
            Found::Broken(error) | Found::Unlisted(error) => Some(error),
            _ => None,
        }
    }

    /// What was tolerated: in the name, then in the documents.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.notes
    }

    /// Opens the node. No request is made.
    ///
    /// # Errors
    /// When there is no node, its documents are invalid, or an array uses what the registry does not know.
    pub fn open(self) -> HierarchyResult<Node> {
        let path = self.path();
        match self.found {
            Found::Node(meta) => Node::open(&self.shared, &self.prefix, meta, self.notes),
            Found::Broken(error) | Found::Unlisted(error) => Err(error),
            Found::Undocumented => Err(HierarchyError::not_found("there is no node: no document is here")),
        }
        .map_err(|e| e.at(&path))
    }

    /// Opens the array. No request is made.
    ///
    /// # Errors
    /// As [`open`](Self::open), and when it is a group.
    pub fn array(self) -> HierarchyResult<Array> {
        let path = self.path();
        match self.open()? {
            Node::Array(array) => Ok(array),
            Node::Group(_) => Err(HierarchyError::not_found("there is a group, not an array").at(&path)),
        }
    }

    /// Opens the group. No request is made.
    ///
    /// # Errors
    /// As [`open`](Self::open), and when it is an array.
    pub fn group(self) -> HierarchyResult<Group> {
        let path = self.path();
        match self.open()? {
            Node::Group(group) => Ok(group),
            Node::Array(_) => Err(HierarchyError::not_found("there is an array, not a group").at(&path)),
        }
    }
}
