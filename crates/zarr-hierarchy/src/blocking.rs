//! The same groups for programs without async: the same names, no runtime anywhere.

use std::ops::Deref;

use zarr_array::blocking::Array;
use zarr_array::meta::consolidated::Difference;
use zarr_array::meta::json::{Object, Value};
use zarr_array::meta::{ArrayMeta, GroupMeta};
use zarr_array::{Existing, Registry, Storage, block_on};

use crate::child::{Child, Node};
use crate::consolidate::{Report, Unresolved};
use crate::copy::{Copied, CopyOptions};
use crate::erase::EraseOptions;
use crate::error::HierarchyResult;
use crate::options::GroupOptions;

/// The blocking twin of [`zarr_hierarchy::Group`](crate::Group), to which it dereferences for everything that reads and
/// writes nothing. What a [`Child`] opens becomes blocking by `Array::from` and `Group::from`.
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

/// As [`zarr_hierarchy::erase`](crate::erase()).
///
/// # Errors
/// As there.
pub fn erase(storage: impl Into<Storage>, path: &str, options: &EraseOptions) -> HierarchyResult<()> {
    block_on(crate::erase(storage, path, options))
}

/// As [`zarr_hierarchy::copy`](crate::copy()).
///
/// # Errors
/// As there.
pub fn copy(
    storage: impl Into<Storage>,
    path: &str,
    to: impl Into<Storage>,
    to_path: &str,
    options: &CopyOptions,
) -> HierarchyResult<Copied> {
    block_on(crate::copy(storage, path, to, to_path, options))
}

impl Group {
    /// As [`zarr_hierarchy::Group::open`](crate::Group::open).
    ///
    /// # Errors
    /// As there.
    pub fn open(storage: impl Into<Storage>, path: &str, registry: &Registry) -> HierarchyResult<Self> {
        block_on(crate::Group::open(storage, path, registry)).map(Self)
    }

    /// As [`GroupOptions::open`].
    ///
    /// # Errors
    /// As there.
    pub fn open_with(
        storage: impl Into<Storage>,
        path: &str,
        registry: &Registry,
        options: &GroupOptions,
    ) -> HierarchyResult<Self> {
        block_on(options.open(storage, path, registry)).map(Self)
    }

    /// As [`zarr_hierarchy::Group::create`](crate::Group::create).
    ///
    /// # Errors
    /// As there.
    pub fn create(storage: impl Into<Storage>, path: &str, registry: &Registry) -> HierarchyResult<Self> {
        block_on(crate::Group::create(storage, path, registry)).map(Self)
    }

    /// As [`GroupOptions::create`].
    ///
    /// # Errors
    /// As there.
    pub fn create_with(
        storage: impl Into<Storage>,
        path: &str,
        meta: GroupMeta,
        existing: Existing,
        registry: &Registry,
        options: &GroupOptions,
    ) -> HierarchyResult<Self> {
        block_on(options.create(storage, path, meta, existing, registry)).map(Self)
    }

    /// As [`zarr_hierarchy::Group::children`](crate::Group::children).
    ///
    /// # Errors
    /// As there.
    pub fn children(&self) -> HierarchyResult<Vec<Child>> {
        block_on(self.0.children())
    }

    /// As [`zarr_hierarchy::Group::walk`](crate::Group::walk); an iterator.
    pub fn walk(&self) -> Walk {
        Walk(self.0.walk())
    }

    /// As [`zarr_hierarchy::Group::node`](crate::Group::node).
    ///
    /// # Errors
    /// As there.
    pub fn node(&self, path: &str) -> HierarchyResult<Option<Node>> {
        block_on(self.0.node(path))
    }

    /// As [`zarr_hierarchy::Group::exists`](crate::Group::exists).
    ///
    /// # Errors
    /// As there.
    pub fn exists(&self, path: &str) -> HierarchyResult<bool> {
        block_on(self.0.exists(path))
    }

    /// As [`zarr_hierarchy::Group::group`](crate::Group::group).
    ///
    /// # Errors
    /// As there.
    pub fn group(&self, path: &str) -> HierarchyResult<Self> {
        block_on(self.0.group(path)).map(Self)
    }

    /// As [`zarr_hierarchy::Group::array`](crate::Group::array).
    ///
    /// # Errors
    /// As there.
    pub fn array(&self, path: &str) -> HierarchyResult<Array> {
        block_on(self.0.array(path)).map(Array::from)
    }

    /// As [`zarr_hierarchy::Group::reload`](crate::Group::reload).
    ///
    /// # Errors
    /// As there.
    pub fn reload(&mut self) -> HierarchyResult<()> {
        block_on(self.0.reload())
    }

    /// As [`zarr_hierarchy::Group::edit_attributes`](crate::Group::edit_attributes).
    ///
    /// # Errors
    /// As there.
    pub fn edit_attributes(&mut self, change: impl Fn(&mut Object)) -> HierarchyResult<()> {
        block_on(self.0.edit_attributes(change))
    }

    /// As [`zarr_hierarchy::Group::set_attributes`](crate::Group::set_attributes).
    ///
    /// # Errors
    /// As there.
    pub fn set_attributes(&mut self, attributes: impl Into<Value>) -> HierarchyResult<()> {
        block_on(self.0.set_attributes(attributes))
    }

    /// As [`zarr_hierarchy::Group::merge_attributes`](crate::Group::merge_attributes).
    ///
    /// # Errors
    /// As there.
    pub fn merge_attributes(&mut self, attributes: impl Into<Value>) -> HierarchyResult<()> {
        block_on(self.0.merge_attributes(attributes))
    }

    /// As [`zarr_hierarchy::Group::create_group`](crate::Group::create_group).
    ///
    /// # Errors
    /// As there.
    pub fn create_group(&self, path: &str) -> HierarchyResult<Self> {
        block_on(self.0.create_group(path)).map(Self)
    }

    /// As [`zarr_hierarchy::Group::create_group_with`](crate::Group::create_group_with).
    ///
    /// # Errors
    /// As there.
    pub fn create_group_with(
        &self,
        path: &str,
        meta: GroupMeta,
        existing: Existing,
    ) -> HierarchyResult<Self> {
        block_on(self.0.create_group_with(path, meta, existing)).map(Self)
    }

    /// As [`zarr_hierarchy::Group::create_array`](crate::Group::create_array).
    ///
    /// # Errors
    /// As there.
    pub fn create_array(&self, path: &str, meta: ArrayMeta) -> HierarchyResult<Array> {
        block_on(self.0.create_array(path, meta)).map(Array::from)
    }

    /// As [`zarr_hierarchy::Group::create_array_with`](crate::Group::create_array_with).
    ///
    /// # Errors
    /// As there.
    pub fn create_array_with(
        &self,
        path: &str,
        meta: ArrayMeta,
        existing: Existing,
    ) -> HierarchyResult<Array> {
        block_on(self.0.create_array_with(path, meta, existing)).map(Array::from)
    }

    /// As [`zarr_hierarchy::Group::erase`](crate::Group::erase).
    ///
    /// # Errors
    /// As there.
    pub fn erase(&self, path: &str) -> HierarchyResult<()> {
        block_on(self.0.erase(path))
    }

    /// As [`zarr_hierarchy::Group::copy_to`](crate::Group::copy_to).
    ///
    /// # Errors
    /// As there.
    pub fn copy_to(&self, path: &str, to: &Self, to_path: &str) -> HierarchyResult<Copied> {
        block_on(self.0.copy_to(path, &to.0, to_path))
    }

    /// As [`zarr_hierarchy::Group::move_to`](crate::Group::move_to).
    ///
    /// # Errors
    /// As there.
    pub fn move_to(&self, path: &str, to: &Self, to_path: &str) -> HierarchyResult<Copied> {
        block_on(self.0.move_to(path, &to.0, to_path))
    }

    /// As [`zarr_hierarchy::Group::consolidate`](crate::Group::consolidate).
    ///
    /// # Errors
    /// As there.
    pub fn consolidate(&mut self) -> HierarchyResult<Report> {
        block_on(self.0.consolidate())
    }

    /// As [`zarr_hierarchy::Group::consolidate_with`](crate::Group::consolidate_with).
    ///
    /// # Errors
    /// As there.
    pub fn consolidate_with(&mut self, unresolved: Unresolved) -> HierarchyResult<Report> {
        block_on(self.0.consolidate_with(unresolved))
    }

    /// As [`zarr_hierarchy::Group::check_consolidated`](crate::Group::check_consolidated).
    ///
    /// # Errors
    /// As there.
    pub fn check_consolidated(&self) -> HierarchyResult<Option<Vec<Difference>>> {
        block_on(self.0.check_consolidated())
    }

    /// As [`zarr_hierarchy::Group::remove_consolidated`](crate::Group::remove_consolidated).
    ///
    /// # Errors
    /// As there.
    pub fn remove_consolidated(&mut self) -> HierarchyResult<()> {
        block_on(self.0.remove_consolidated())
    }

    /// The async handle.
    pub fn into_async(self) -> crate::Group {
        self.0
    }
}

impl From<crate::Group> for Group {
    fn from(group: crate::Group) -> Self {
        Self(group)
    }
}

impl Deref for Group {
    type Target = crate::Group;

    fn deref(&self) -> &crate::Group {
        &self.0
    }
}

/// The nodes below a group: as [`zarr_hierarchy::Walk`](crate::Walk), an iterator.
#[derive(Debug)]
pub struct Walk(crate::Walk);

impl Walk {
    /// As [`zarr_hierarchy::Walk::levels`](crate::Walk::levels).
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
