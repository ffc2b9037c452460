//! The children of a group.

use std::sync::Arc;

use zarr_array::meta::NodeMeta;
use zarr_array::traits::Prefix;
use zarr_array::{Array, Diagnostic};

use crate::error::{HierarchyError, HierarchyResult};
use crate::group::{Group, Shared};

/// An open node.
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
                let options = shared.array_options();
                let array = Array::from_metadata(storage, prefix.clone(), meta, notes, registry, &options)?;
                Ok(Self::Array(array.with_consolidated(shared.options.writing.consolidated)))
            }
        }
    }
}

impl Group {
    /// Opens the array or group at a path. Returns `None` if there is no node. Costs one request, up to four if format
    /// 2 is tried as well, none with consolidated metadata.
    ///
    /// # Errors
    /// If the documents are invalid, or the array uses an extension that the registry does not have; errors of the
    /// store.
    pub async fn node(&self, path: &str) -> HierarchyResult<Option<Node>> {
        let prefix = self.below(path)?;
        let found = self.shared.read(&prefix, self.shared.only).await;
        let node = found.and_then(|found| {
            let opened = found.map(|(meta, notes)| Node::open(&self.shared, &prefix, meta, notes));
            opened.transpose()
        });
        node.map_err(|e| e.at(&self.shared.storage, &prefix.node_path()))
    }
}

/// The kind of a node, as its documents say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeKind {
    /// An array.
    Array,
    /// A group.
    Group,
}

/// The state of the node at the path of a child.
#[derive(Debug)]
#[non_exhaustive]
#[allow(clippy::large_enum_variant, reason = "there is one per child, and it is matched at once")]
pub enum ChildState {
    /// A node with its metadata. Codecs and data types are not resolved yet: [`Child::open`] fails for unknown ones.
    Node(NodeMeta),
    /// A folder without a document of the listed formats: an implicit group, a node of another format, or a folder that
    /// has nothing to do with Zarr.
    Undocumented,
    /// Documents that are invalid or cannot be read.
    Broken(HierarchyError),
    /// A group whose children cannot be listed. The group itself was found before.
    Unlisted(HierarchyError),
}

/// A child of a group, or another node below it.
#[derive(Debug)]
pub struct Child {
    pub(crate) shared: Arc<Shared>,
    pub(crate) prefix: Prefix,
    pub(crate) notes: Vec<Diagnostic>,
    pub(crate) found: ChildState,
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

    /// Returns what was found at the path.
    pub fn found(&self) -> &ChildState {
        &self.found
    }

    /// Returns what was found at the path, by value.
    pub fn into_found(self) -> ChildState {
        self.found
    }

    /// The metadata, if this is a readable node.
    pub fn metadata(&self) -> Option<&NodeMeta> {
        match &self.found {
            ChildState::Node(meta) => Some(meta),
            _ => None,
        }
    }

    /// The kind, if this is a readable node.
    pub fn kind(&self) -> Option<NodeKind> {
        self.metadata().map(|meta| match meta {
            NodeMeta::Array(_) => NodeKind::Array,
            NodeMeta::Group(_) => NodeKind::Group,
        })
    }

    /// The error, if the documents are invalid or cannot be read, or the children cannot be listed.
    pub fn error(&self) -> Option<&HierarchyError> {
        match &self.found {
            ChildState::Broken(error) | ChildState::Unlisted(error) => Some(error),
            _ => None,
        }
    }

    /// The tolerated deviations, first those of the name, then those of the documents.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.notes
    }

    /// Opens the node, for async programs. Makes no request. [`blocking::Node::from`](crate::blocking::Node) converts it.
    ///
    /// # Errors
    /// If there is no node, its documents are invalid, or an array uses an extension that the registry does not have.
    pub fn open(self) -> HierarchyResult<Node> {
        let path = self.path();
        match self.found {
            ChildState::Node(meta) => Node::open(&self.shared, &self.prefix, meta, self.notes),
            ChildState::Broken(error) | ChildState::Unlisted(error) => Err(error),
            ChildState::Undocumented => {
                Err(HierarchyError::not_found("there is no node: it has no document"))
            }
        }
        .map_err(|e| e.at(&self.shared.storage, &path))
    }

    /// Opens the array, for async programs. Makes no request. `blocking::Array::from` converts it:
    ///
    /// ```
    /// # use zarr_hierarchy::{ArrayMeta, HierarchyResult, NodeKind, blocking::Group, zarr_array::{DataType, standard}};
    /// use zarr_hierarchy::zarr_array::blocking::Array;
    ///
    /// # let root = Group::create(zarr_store::MemoryStore::new(), "/", &standard())?;
    /// # root.create_array("t2m", ArrayMeta::builder([4], DataType::Int8).build()?)?;
    /// for child in root.children()? {
    ///     if child.kind() == Some(NodeKind::Array) {
    ///         let array = Array::from(child.array()?);
    ///         assert_eq!(array.read::<i8>(..)?.as_slice(), [0; 4]);
    ///     }
    /// }
    /// # HierarchyResult::Ok(())
    /// ```
    ///
    /// # Errors
    /// As [`open`](Self::open), and if the node is a group.
    pub fn array(self) -> HierarchyResult<Array> {
        let (storage, path) = (self.shared.storage.clone(), self.path());
        match self.open()? {
            Node::Array(array) => Ok(array),
            Node::Group(_) => {
                Err(HierarchyError::not_found("there is a group, not an array").at(&storage, &path))
            }
        }
    }

    /// Opens the group, for async programs. Makes no request. [`blocking::Group::from`](crate::blocking::Group) converts it.
    ///
    /// # Errors
    /// As [`open`](Self::open), and if the node is an array.
    pub fn group(self) -> HierarchyResult<Group> {
        let (storage, path) = (self.shared.storage.clone(), self.path());
        match self.open()? {
            Node::Group(group) => Ok(group),
            Node::Array(_) => {
                Err(HierarchyError::not_found("there is an array, not a group").at(&storage, &path))
            }
        }
    }
}
