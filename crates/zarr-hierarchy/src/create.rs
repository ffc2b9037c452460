//! Creates groups and arrays.

use zarr_array::meta::{ArrayMeta, GroupMeta, NodeMeta};
use zarr_array::traits::Prefix;
use zarr_array::{Array, ArrayErrorKind, CreateOptions, ExistingNode, Format, Registry, Storage, node};

use crate::error::{HierarchyError, HierarchyResult, prefix_of};
use crate::group::{Group, Shared};
use crate::options::GroupOptions;

impl GroupOptions {
    async fn create_at(
        &self,
        storage: &Storage,
        prefix: &Prefix,
        meta: GroupMeta,
        existing: ExistingNode,
    ) -> HierarchyResult<GroupMeta> {
        let node = NodeMeta::Group(meta.clone());
        let there = node::create(storage, prefix, &node, existing, &self.writing).await;
        match there.map_err(|e| HierarchyError::from(e).at(storage, &prefix.node_path()))? {
            None => Ok(meta),
            Some(NodeMeta::Group(meta)) => Ok(meta),
            Some(NodeMeta::Array(_)) => {
                let e = HierarchyError::new(ArrayErrorKind::Exists, "there is an array already");
                Err(e.at(storage, &prefix.node_path()))
            }
        }
    }
}

impl Group {
    /// Creates a group of format 3 without attributes at `path`. Missing parent groups are created first.
    /// [`create_with`](Self::create_with) takes metadata and options.
    ///
    /// ```
    /// # use zarr_hierarchy::{ArrayMeta, Group, HierarchyResult, zarr_array::{DataType, Storage, standard}};
    /// # async fn example(storage: Storage) -> HierarchyResult<()> {
    /// let root = Group::create(storage, "/", &standard()).await?;
    /// let meta = ArrayMeta::builder([24, 180], DataType::Float32).chunks([12, 90]).build()?;
    /// let t2m = root.create_array("surface/t2m", meta).await?; // and the group `surface`
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`create_with`](Self::create_with).
    pub async fn create(
        storage: impl Into<Storage>,
        path: &str,
        registry: &Registry,
    ) -> HierarchyResult<Self> {
        let meta = GroupMeta::new(Format::V3)?;
        Self::create_with(storage, path, meta, registry, &GroupOptions::new()).await
    }

    /// Creates a group at `path` in the format of `meta`, with options: what happens to an existing node and to consolidated
    /// metadata, limits. Missing parent groups are created first.
    ///
    /// ```
    /// # use zarr_hierarchy::{Group, GroupMeta, GroupOptions, HierarchyResult};
    /// # use zarr_hierarchy::{ExistingNode, zarr_array::{Format, Storage, standard}};
    /// # async fn example(storage: Storage) -> HierarchyResult<()> {
    /// // Any number of processes may run this at once, and all get the same group.
    /// let options = GroupOptions::new().existing(ExistingNode::Open);
    /// let root = Group::create_with(storage, "/", GroupMeta::new(Format::V3)?, &standard(), &options).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Costs one read per parent group, three reads at once that look for a node of the other format, and one put. Each
    /// parent group with consolidated metadata costs also two reads, one read of each group that was created, and one
    /// put.
    ///
    /// # Errors
    /// [`Exists`](ArrayErrorKind::Exists) if the options do not accept the existing node, or an array or a group of
    /// another format is above the path; [`InvalidArgument`](ArrayErrorKind::InvalidArgument) for a reserved or invalid
    /// name; errors of the store.
    pub async fn create_with(
        storage: impl Into<Storage>,
        path: &str,
        meta: GroupMeta,
        registry: &Registry,
        options: &GroupOptions,
    ) -> HierarchyResult<Self> {
        let storage = storage.into();
        let prefix = prefix_of(&storage, path)?;
        let meta = options.create_at(&storage, &prefix, meta, options.existing).await?;
        let shared = Shared::new(storage, registry, options);
        Ok(Self::at(&shared.into(), &prefix, meta, Vec::new()))
    }

    /// Creates a group without attributes below this one, in its format.
    ///
    /// # Errors
    /// As [`create_group_with`](Self::create_group_with).
    pub async fn create_group(&self, path: &str) -> HierarchyResult<Self> {
        self.create_group_with(path, GroupMeta::new(self.format())?, ExistingNode::Fail).await
    }

    /// Creates a group below this one with the metadata `meta`; `existing` says what happens to an existing node. Missing
    /// groups in between are created first.
    ///
    /// # Errors
    /// As [`create_with`](Self::create_with).
    pub async fn create_group_with(
        &self,
        path: &str,
        meta: GroupMeta,
        existing: ExistingNode,
    ) -> HierarchyResult<Self> {
        let prefix = self.child(path)?;
        let meta = self.shared.options.create_at(&self.shared.storage, &prefix, meta, existing).await?;
        Ok(Self::at(&self.shared, &prefix, meta, Vec::new()))
    }

    /// Creates an array below this group; no chunk is written. Missing groups in between are created first.
    ///
    /// # Errors
    /// As [`Array::create`].
    pub async fn create_array(&self, path: &str, meta: ArrayMeta) -> HierarchyResult<Array> {
        self.create_array_with(path, meta, &CreateOptions::new()).await
    }

    /// As [`create_array`](Self::create_array), with options. Limits and what happens to consolidated metadata are those of
    /// the group where the options do not set them.
    ///
    /// ```
    /// # use zarr_hierarchy::{ArrayMeta, ExistingNode, Group, HierarchyResult, zarr_array::CreateOptions};
    /// # async fn example(group: Group, meta: ArrayMeta) -> HierarchyResult<()> {
    /// let replace = CreateOptions::new().existing(ExistingNode::Replace);
    /// let t2m = group.create_array_with("surface/t2m", meta, &replace).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Array::create_with`].
    pub async fn create_array_with(
        &self,
        path: &str,
        meta: ArrayMeta,
        options: &CreateOptions,
    ) -> HierarchyResult<Array> {
        let Shared { storage, registry, options: own, .. } = &*self.shared;
        let (path, options) = (self.child(path)?.node_path(), options.clone().or(&own.writing));
        Ok(Array::create_with(storage.clone(), &path, meta, registry, &options).await?)
    }

    /// Returns the prefix of a node below this group, which must not be the group itself.
    pub(crate) fn child(&self, path: &str) -> HierarchyResult<Prefix> {
        let prefix = self.below(path)?;
        if prefix == self.prefix {
            return Err(
                HierarchyError::invalid("expected a path below the group").at(self.storage(), &self.path())
            );
        }
        Ok(prefix)
    }
}
