//! Groups for programs without async: the same names, no runtime.

use serde_core::Serialize;
use serde_core::de::DeserializeOwned;
use zarr_array::blocking::Array;
use zarr_array::meta::consolidated::Difference;
use zarr_array::meta::json::{Object, Value};
use zarr_array::meta::{ArrayMeta, GroupMeta, NodeMeta};
use zarr_array::traits::Prefix;
use zarr_array::{CreateOptions, Diagnostic, ExistingNode, Format, Located, Registry, Storage, block_on};

use crate::child::Child;
use crate::consolidate::{Report, UnresolvedArrays};
use crate::copy::{CopyOptions, CopyReport};
use crate::erase::EraseOptions;
use crate::error::{HierarchyError, HierarchyResult};
use crate::handle::common_methods;
use crate::options::GroupOptions;

/// A group in a store, for programs without async. Has the methods of [`zarr_hierarchy::Group`](crate::Group), which
/// block until they are done.
///
/// Cheap to clone. Paths are relative to the group; a leading slash changes nothing. [`Node::from`], `Array::from` and
/// `Group::from` convert the nodes that a [`Child`] opens.
///
/// ```
/// # use zarr_hierarchy::{HierarchyResult, blocking::Group, zarr_array::{Registry, Storage}};
/// # fn example(storage: Storage, registry: &Registry) -> HierarchyResult<()> {
/// let root = Group::open(storage, "/", registry)?;
/// for child in root.walk() {
///     println!("{}: {:?}", child.path(), child.kind());
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Group(crate::Group);

/// An open node, for programs without async.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Node {
    /// An array.
    Array(Array),
    /// A group.
    Group(Group),
}

/// Erases the node at `path` with everything below it. Its documents go first, so an interruption never leaves a node
/// without its chunks.
///
/// # Errors
/// As [`zarr_hierarchy::erase`](crate::erase()).
pub fn erase(storage: impl Into<Storage>, path: &str, options: &EraseOptions) -> HierarchyResult<()> {
    block_on(crate::erase(storage, path, options))
}

/// Copies the node at `path` with everything below it to `to_path`, object by object, within a store or to another one.
/// Chunks are not decoded. The documents are written last, so an interruption never leaves a node without its chunks.
///
/// # Errors
/// As [`zarr_hierarchy::copy`](crate::copy()).
pub fn copy(
    storage: impl Into<Storage>,
    path: &str,
    to: impl Into<Storage>,
    to_path: &str,
    options: &CopyOptions,
) -> HierarchyResult<CopyReport> {
    block_on(crate::copy(storage, path, to, to_path, options))
}

impl Node {
    /// Opens the array or the group at `path`, whose kind is not known: its documents are read once.
    ///
    /// # Errors
    /// As [`zarr_hierarchy::Node::open_with`](crate::Node::open_with).
    pub fn open_with(
        storage: impl Into<Storage>,
        path: &str,
        registry: &Registry,
        options: &GroupOptions,
    ) -> HierarchyResult<Self> {
        block_on(crate::Node::open_with(storage, path, registry, options)).map(Self::from)
    }
}

impl Group {
    common_methods!();

    /// Opens the group at `path` (`/`, `a/b`, `/a/b`), with its consolidated metadata if it has some. Harmless
    /// deviations from the specification are tolerated and listed by [`diagnostics`](Self::diagnostics).
    ///
    /// # Errors
    /// As [`zarr_hierarchy::Group::open`](crate::Group::open).
    #[doc(alias = "open_group")]
    pub fn open(storage: impl Into<Storage>, path: &str, registry: &Registry) -> HierarchyResult<Self> {
        block_on(crate::Group::open(storage, path, registry)).map(Self)
    }

    /// Opens the group at `path` with options: strictness, limits, the format, the use of consolidated metadata.
    ///
    /// # Errors
    /// As [`zarr_hierarchy::Group::open_with`](crate::Group::open_with).
    pub fn open_with(
        storage: impl Into<Storage>,
        path: &str,
        registry: &Registry,
        options: &GroupOptions,
    ) -> HierarchyResult<Self> {
        block_on(crate::Group::open_with(storage, path, registry, options)).map(Self)
    }

    /// Opens the group that a URL names, in the format that the URL asks for, if any.
    ///
    /// # Errors
    /// As [`zarr_hierarchy::Group::open_at`](crate::Group::open_at).
    #[doc(alias = "open_url")]
    pub fn open_at(located: &Located, registry: &Registry) -> HierarchyResult<Self> {
        block_on(crate::Group::open_at(located, registry)).map(Self)
    }

    /// Creates a group of format 3 without attributes at `path`. Missing parent groups are created first.
    ///
    /// ```
    /// # use zarr_hierarchy::{ArrayMeta, HierarchyResult, blocking::Group, zarr_array::{DataType, standard}};
    /// let root = Group::create(zarr_store::MemoryStore::new(), "/", &standard())?;
    /// let meta = ArrayMeta::builder([24, 180], DataType::Float32).chunks([12, 90]).build()?;
    /// root.create_array("surface/t2m", meta)?; // and the group `surface`
    /// assert!(root.exists("surface")?);
    /// # HierarchyResult::Ok(())
    /// ```
    ///
    /// # Errors
    /// As [`zarr_hierarchy::Group::create`](crate::Group::create).
    pub fn create(storage: impl Into<Storage>, path: &str, registry: &Registry) -> HierarchyResult<Self> {
        block_on(crate::Group::create(storage, path, registry)).map(Self)
    }

    /// Creates a group at `path` in the format of `meta`, with options: what happens to an existing node and to consolidated
    /// metadata, limits.
    ///
    /// # Errors
    /// As [`zarr_hierarchy::Group::create_with`](crate::Group::create_with).
    pub fn create_with(
        storage: impl Into<Storage>,
        path: &str,
        meta: GroupMeta,
        registry: &Registry,
        options: &GroupOptions,
    ) -> HierarchyResult<Self> {
        block_on(crate::Group::create_with(storage, path, meta, registry, options)).map(Self)
    }

    /// Lists the children, ordered by name. A broken child is listed with its error.
    ///
    /// ```
    /// # use zarr_hierarchy::{HierarchyResult, NodeKind, blocking::Group, zarr_array::standard};
    /// # let root = Group::create(zarr_store::MemoryStore::new(), "/", &standard())?;
    /// root.create_group("surface")?;
    /// for child in root.children()? {
    ///     assert_eq!((child.name(), child.kind()), ("surface", Some(NodeKind::Group)));
    /// }
    /// # HierarchyResult::Ok(())
    /// ```
    ///
    /// # Errors
    /// As [`zarr_hierarchy::Group::children`](crate::Group::children).
    #[doc(alias = "members")]
    pub fn children(&self) -> HierarchyResult<Vec<Child>> {
        block_on(self.0.children())
    }

    /// Iterates over all nodes below the group, depth first, each group before its children.
    #[doc(alias = "tree")]
    pub fn walk(&self) -> Walk {
        Walk(self.0.walk())
    }

    /// Opens the array or group at a path. Returns `None` if there is no node.
    ///
    /// # Errors
    /// As [`zarr_hierarchy::Group::node`](crate::Group::node).
    pub fn node(&self, path: &str) -> HierarchyResult<Option<Node>> {
        Ok(block_on(self.0.node(path))?.map(Node::from))
    }

    /// Whether there is a node at a path. A node with invalid documents exists.
    ///
    /// # Errors
    /// As [`zarr_hierarchy::Group::exists`](crate::Group::exists).
    pub fn exists(&self, path: &str) -> HierarchyResult<bool> {
        block_on(self.0.exists(path))
    }

    /// Opens the group at a path.
    ///
    /// # Errors
    /// As [`zarr_hierarchy::Group::group`](crate::Group::group).
    pub fn group(&self, path: &str) -> HierarchyResult<Self> {
        block_on(self.0.group(path)).map(Self)
    }

    /// Opens the array at a path.
    ///
    /// # Errors
    /// As [`zarr_hierarchy::Group::array`](crate::Group::array).
    pub fn array(&self, path: &str) -> HierarchyResult<Array> {
        block_on(self.0.array(path)).map(Array::from)
    }

    /// Reads the metadata of the group again, with its consolidated metadata.
    ///
    /// # Errors
    /// As [`zarr_hierarchy::Group::reload`](crate::Group::reload).
    pub fn reload(&mut self) -> HierarchyResult<()> {
        block_on(self.0.reload())
    }

    /// Reads the attributes from the store, changes them and writes them back. `change` is called again if another
    /// writer changed them in between. Members that `change` does not touch keep their bytes.
    ///
    /// ```
    /// # use zarr_hierarchy::{HierarchyResult, blocking::Group, zarr_array::standard};
    /// # let mut root = Group::create(zarr_store::MemoryStore::new(), "/", &standard())?;
    /// root.edit_attributes(|attributes| attributes.set("title", "weather"))?;
    /// # HierarchyResult::Ok(())
    /// ```
    ///
    /// # Errors
    /// As [`zarr_hierarchy::Group::edit_attributes`](crate::Group::edit_attributes).
    pub fn edit_attributes(&mut self, change: impl Fn(&mut Object)) -> HierarchyResult<()> {
        block_on(self.0.edit_attributes(change))
    }

    /// Sets one attribute to any serializable value, and keeps the others.
    ///
    /// # Errors
    /// As [`zarr_hierarchy::Group::set_attribute`](crate::Group::set_attribute).
    pub fn set_attribute<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> HierarchyResult<()> {
        block_on(self.0.set_attribute(name, value))
    }

    /// Replaces all attributes by the members of `attributes`, an object.
    ///
    /// # Errors
    /// As [`zarr_hierarchy::Group::set_attributes`](crate::Group::set_attributes).
    pub fn set_attributes(&mut self, attributes: impl Into<Value>) -> HierarchyResult<()> {
        block_on(self.0.set_attributes(attributes))
    }

    /// Sets the attributes that are members of `attributes`, an object, and keeps the others.
    ///
    /// # Errors
    /// As [`zarr_hierarchy::Group::merge_attributes`](crate::Group::merge_attributes).
    pub fn merge_attributes(&mut self, attributes: impl Into<Value>) -> HierarchyResult<()> {
        block_on(self.0.merge_attributes(attributes))
    }

    /// Creates a group without attributes below this one, in its format. Missing groups in between are created first.
    ///
    /// # Errors
    /// As [`zarr_hierarchy::Group::create_group`](crate::Group::create_group).
    pub fn create_group(&self, path: &str) -> HierarchyResult<Self> {
        block_on(self.0.create_group(path)).map(Self)
    }

    /// As [`create_group`](Self::create_group), with metadata; `existing` says what happens to an existing node.
    ///
    /// # Errors
    /// As [`zarr_hierarchy::Group::create_group_with`](crate::Group::create_group_with).
    pub fn create_group_with(
        &self,
        path: &str,
        meta: GroupMeta,
        existing: ExistingNode,
    ) -> HierarchyResult<Self> {
        block_on(self.0.create_group_with(path, meta, existing)).map(Self)
    }

    /// Creates an array below this group; no chunk is written. Missing groups in between are created first.
    ///
    /// # Errors
    /// As [`zarr_hierarchy::Group::create_array`](crate::Group::create_array).
    pub fn create_array(&self, path: &str, meta: ArrayMeta) -> HierarchyResult<Array> {
        block_on(self.0.create_array(path, meta)).map(Array::from)
    }

    /// As [`create_array`](Self::create_array), with options. Limits and what happens to consolidated metadata are those of
    /// the group where the options do not set them.
    ///
    /// # Errors
    /// As [`zarr_hierarchy::Group::create_array_with`](crate::Group::create_array_with).
    pub fn create_array_with(
        &self,
        path: &str,
        meta: ArrayMeta,
        options: &CreateOptions,
    ) -> HierarchyResult<Array> {
        block_on(self.0.create_array_with(path, meta, options)).map(Array::from)
    }

    /// Creates groups and arrays below this group: pairs of a path and metadata, in any order.
    ///
    /// ```
    /// # use zarr_hierarchy::{ArrayMeta, HierarchyResult, blocking::Group, zarr_array::{DataType, standard}};
    /// let mut root = Group::create(zarr_store::MemoryStore::new(), "/", &standard())?;
    /// root.consolidate()?; // the empty group: each later change keeps it up to date
    /// let level = |n: u64| ArrayMeta::builder([4096 >> n, 4096 >> n], DataType::UInt16).build();
    /// let pyramid = (0..5).map(|n| Ok((format!("image/{n}"), level(n)?))).collect::<HierarchyResult<Vec<_>>>()?;
    /// root.create_nodes(pyramid)?;
    /// assert_eq!(root.array("image/4")?.shape(), [256, 256]);
    /// # HierarchyResult::Ok(())
    /// ```
    ///
    /// # Errors
    /// As [`zarr_hierarchy::Group::create_nodes`](crate::Group::create_nodes).
    pub fn create_nodes<P: AsRef<str>, N: Into<NodeMeta>>(
        &self,
        nodes: impl IntoIterator<Item = (P, N)>,
    ) -> HierarchyResult<()> {
        block_on(self.0.create_nodes(nodes))
    }

    /// As [`create_nodes`](Self::create_nodes), for a caller that has written the chunks of the arrays before.
    ///
    /// # Errors
    /// As [`zarr_hierarchy::Group::create_written_nodes`](crate::Group::create_written_nodes).
    pub fn create_written_nodes<P: AsRef<str>, N: Into<NodeMeta>>(
        &self,
        nodes: impl IntoIterator<Item = (P, N)>,
    ) -> HierarchyResult<()> {
        block_on(self.0.create_written_nodes(nodes))
    }

    /// Erases the node at a path below this group, with everything below it.
    ///
    /// # Errors
    /// As [`zarr_hierarchy::Group::erase`](crate::Group::erase).
    #[doc(alias("delete", "remove"))]
    pub fn erase(&self, path: &str) -> HierarchyResult<()> {
        block_on(self.0.erase(path))
    }

    /// Copies the node at a path below this group, with everything below it, to a path below the group `to`. The groups
    /// may be in different stores.
    ///
    /// # Errors
    /// As [`zarr_hierarchy::Group::copy_to`](crate::Group::copy_to).
    pub fn copy_to(&self, path: &str, to: &Self, to_path: &str) -> HierarchyResult<CopyReport> {
        block_on(self.0.copy_to(path, &to.0, to_path))
    }

    /// Moves the node at a path below this group, with everything below it, to a path below the group `to`: copies it,
    /// then erases the original.
    ///
    /// # Errors
    /// As [`zarr_hierarchy::Group::move_to`](crate::Group::move_to).
    #[doc(alias = "rename")]
    pub fn move_to(&self, path: &str, to: &Self, to_path: &str) -> HierarchyResult<CopyReport> {
        block_on(self.0.move_to(path, &to.0, to_path))
    }

    /// Writes consolidated metadata of all nodes below this group.
    ///
    /// ```
    /// # use zarr_hierarchy::{HierarchyResult, blocking::Group, zarr_array::standard};
    /// # let mut root = Group::create(zarr_store::MemoryStore::new(), "/", &standard())?;
    /// root.create_group("surface")?;
    /// assert_eq!(root.consolidate()?.nodes, 1);
    /// assert!(root.is_consolidated());
    /// # HierarchyResult::Ok(())
    /// ```
    ///
    /// # Errors
    /// As [`zarr_hierarchy::Group::consolidate`](crate::Group::consolidate).
    #[doc(alias = "consolidate_metadata")]
    pub fn consolidate(&mut self) -> HierarchyResult<Report> {
        block_on(self.0.consolidate())
    }

    /// As [`consolidate`](Self::consolidate); `unresolved` says what happens to arrays that the registry cannot
    /// resolve.
    ///
    /// # Errors
    /// As [`zarr_hierarchy::Group::consolidate_with`](crate::Group::consolidate_with).
    pub fn consolidate_with(&mut self, unresolved: UnresolvedArrays) -> HierarchyResult<Report> {
        block_on(self.0.consolidate_with(unresolved))
    }

    /// Compares the consolidated metadata of this group with the documents. Returns the differences ordered by path, or
    /// `None` if there is no consolidated metadata.
    ///
    /// # Errors
    /// As [`zarr_hierarchy::Group::check_consolidated`](crate::Group::check_consolidated).
    pub fn check_consolidated(&self) -> HierarchyResult<Option<Vec<Difference>>> {
        block_on(self.0.check_consolidated())
    }

    /// Removes the consolidated metadata of this group, if there is any.
    ///
    /// # Errors
    /// As [`zarr_hierarchy::Group::remove_consolidated`](crate::Group::remove_consolidated).
    pub fn remove_consolidated(&mut self) -> HierarchyResult<()> {
        block_on(self.0.remove_consolidated())
    }

    /// Returns the async handle of the same group.
    pub fn into_async(self) -> crate::Group {
        self.0
    }

    fn inner(&self) -> &crate::Group {
        &self.0
    }
}

impl From<crate::Group> for Group {
    fn from(group: crate::Group) -> Self {
        Self(group)
    }
}

impl From<crate::Node> for Node {
    fn from(node: crate::Node) -> Self {
        match node {
            crate::Node::Array(array) => Self::Array(array.into()),
            crate::Node::Group(group) => Self::Group(group.into()),
        }
    }
}

/// An iterator over all nodes below a group, made by [`Group::walk`]. It reads while it iterates.
#[derive(Debug)]
pub struct Walk(crate::Walk);

impl Walk {
    /// Limits the walk to `levels`; 1 means the children of the group.
    #[must_use]
    pub fn levels(self, levels: usize) -> Self {
        Self(self.0.levels(levels))
    }
}

impl Iterator for Walk {
    type Item = Child;

    fn next(&mut self) -> Option<Child> {
        block_on(self.0.next())
    }
}
