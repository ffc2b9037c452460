//! Creates many nodes at once.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::{StreamExt, TryStreamExt, stream};
use zarr_array::meta::{ArrayMeta, GroupMeta, NodeMeta};
use zarr_array::traits::{Prefix, store::Listed};
use zarr_array::{Array, ArrayErrorKind, ConsolidatedPolicy, CreateOptions, ExistingNode, node};

use crate::error::{HierarchyError, HierarchyResult};
use crate::group::Group;

impl Group {
    /// Creates groups and arrays below this group: pairs of a path and metadata, in any order. Missing groups in between
    /// are created as well.
    ///
    /// Everything that can be checked without the store is checked before the first node is written. Nodes are written
    /// level by level, several at a time. Consolidated metadata is brought up to date once, at the end: its readers see
    /// all of the nodes or none. No store can promise that to readers of single documents. After an interruption, some
    /// of the nodes exist.
    ///
    /// In an empty group no other nodes are looked for, so this costs a listing and a request for each document. In another
    /// group each node costs the requests of [`create_group`](Self::create_group), and chunks that are stored without an
    /// array are looked for, as [`create_array`](Self::create_array) does: by a listing of each group that gets several
    /// arrays, and by one more for each array whose folder is there.
    ///
    /// ```
    /// # use zarr_hierarchy::{ArrayMeta, Group, HierarchyResult, NodeMeta, zarr_array::{DataType, Storage, standard}};
    /// # async fn example(storage: Storage) -> HierarchyResult<()> {
    /// let mut root = Group::create(storage, "/", &standard()).await?;
    /// root.consolidate().await?; // the empty group: each later change keeps it up to date
    /// let level = |n: u64| ArrayMeta::builder([4096 >> n, 4096 >> n], DataType::UInt16).build();
    /// let pyramid = (0..5).map(|n| Ok((format!("image/{n}"), level(n)?))).collect::<HierarchyResult<Vec<_>>>()?;
    /// root.create_nodes(pyramid).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`InvalidArgument`](ArrayErrorKind::InvalidArgument) if a path occurs twice or is below one of the arrays; as
    /// [`create_array`](Self::create_array) and [`create_group_with`](Self::create_group_with).
    pub async fn create_nodes<P: AsRef<str>, N: Into<NodeMeta>>(
        &self,
        nodes: impl IntoIterator<Item = (P, N)>,
    ) -> HierarchyResult<()> {
        self.create_levels(self.levels(nodes)?, false).await
    }

    /// As [`create_nodes`](Self::create_nodes), for a caller that has written the chunks of the arrays before: chunks that
    /// are stored become those of the arrays.
    ///
    /// # Errors
    /// As [`create_nodes`](Self::create_nodes).
    pub async fn create_written_nodes<P: AsRef<str>, N: Into<NodeMeta>>(
        &self,
        nodes: impl IntoIterator<Item = (P, N)>,
    ) -> HierarchyResult<()> {
        self.create_levels(self.levels(nodes)?, true).await
    }

    async fn create_levels(
        &self,
        mut levels: BTreeMap<usize, Vec<(Prefix, NodeMeta)>>,
        takes_chunks: bool,
    ) -> HierarchyResult<()> {
        let (storage, writing) = (self.storage(), &self.shared.options.writing);
        let is_empty = levels.values().map(Vec::len).sum::<usize>() > 1 && self.is_empty().await?;
        if is_empty {
            self.add_between(&mut levels)?;
        } else if !takes_chunks {
            self.check_no_chunks(levels.values().flatten()).await?;
        }
        let mut each = writing.clone();
        each.consolidated = ConsolidatedPolicy::Keep;
        for level in levels.values() {
            let created = level.iter().map(|(prefix, meta)| {
                let each = &each;
                async move {
                    let done = match is_empty {
                        true => node::create_in_empty(storage, prefix, meta).await,
                        false => {
                            let created = node::create(storage, prefix, meta, ExistingNode::Fail, each);
                            created.await.map(drop)
                        }
                    };
                    done.map_err(|e| HierarchyError::from(e).at(storage, &prefix.node_path()))
                }
            });
            let created: Vec<_> = created.collect();
            stream::iter(created).buffer_unordered(node::at_once(storage)).try_collect::<()>().await?;
        }
        let all = levels.values().flatten().map(|(prefix, _)| prefix);
        let between = all.clone().flat_map(node::above).filter(|above| self.is_above(above));
        let touched: BTreeSet<Prefix> = all.cloned().chain(between).collect();
        let touched: Vec<Prefix> = touched.into_iter().collect();
        Ok(node::refresh_all(storage, &touched, self.format(), writing).await?)
    }

    /// Whether there is nothing below this group but its documents. One request; a store that cannot list is never empty.
    async fn is_empty(&self) -> HierarchyResult<bool> {
        let storage = self.storage();
        if !storage.capabilities().list {
            return Ok(false);
        }
        let page = storage.list(&self.prefix, None).await?;
        let is_own = |listed: &Listed| self.prefix.strip(&listed.key).is_some_and(|name| !name.contains('/'));
        Ok(!page.more && page.entries.iter().all(is_own))
    }

    /// Fails if chunks are stored where one of the arrays will be: its elements would be theirs.
    async fn check_no_chunks(&self, nodes: impl Iterator<Item = &(Prefix, NodeMeta)>) -> HierarchyResult<()> {
        let storage = self.storage();
        if !storage.capabilities().list {
            return Ok(());
        }
        let mut families = BTreeMap::<Option<Prefix>, Vec<(&Prefix, &ArrayMeta)>>::new();
        for (prefix, node) in nodes {
            if let NodeMeta::Array(meta) = node {
                families.entry(node::above(prefix).pop()).or_default().push((prefix, meta));
            }
        }
        let options = CreateOptions::new().or(&self.shared.options.writing);
        let looks = families.into_iter().map(|(group, mut arrays)| {
            let options = &options;
            async move {
                if let Some(group) = group.filter(|_| arrays.len() > 1) {
                    let there: BTreeSet<Prefix> =
                        storage.list_dir(&group).await?.prefixes.into_iter().collect();
                    arrays.retain(|(prefix, _)| there.contains(*prefix));
                }
                for (prefix, meta) in arrays {
                    let path = prefix.node_path();
                    Array::check_no_chunks(storage, &path, meta, self.registry(), options).await?;
                }
                Ok::<_, HierarchyError>(())
            }
        });
        let looks: Vec<_> = looks.collect();
        stream::iter(looks).buffer_unordered(node::at_once(storage)).try_collect().await
    }

    /// Adds the missing groups between this group and the nodes.
    fn add_between(&self, levels: &mut BTreeMap<usize, Vec<(Prefix, NodeMeta)>>) -> HierarchyResult<()> {
        let given: BTreeSet<Prefix> = levels.values().flatten().map(|(prefix, _)| prefix.clone()).collect();
        let between = given.iter().flat_map(node::above).filter(|above| self.is_above(above));
        for prefix in between.filter(|above| !given.contains(above)).collect::<BTreeSet<_>>() {
            let group = NodeMeta::from(GroupMeta::new(self.format())?);
            levels.entry(depth(&prefix)).or_default().push((prefix, group));
        }
        Ok(())
    }

    /// Checks the nodes and returns them by the depths of their paths.
    fn levels<P: AsRef<str>, N: Into<NodeMeta>>(
        &self,
        nodes: impl IntoIterator<Item = (P, N)>,
    ) -> HierarchyResult<BTreeMap<usize, Vec<(Prefix, NodeMeta)>>> {
        let refused = |prefix: &Prefix, message: &str| {
            Err(HierarchyError::new(ArrayErrorKind::InvalidArgument, message)
                .at(self.storage(), &prefix.node_path()))
        };
        let options = CreateOptions::new().or(&self.shared.options.writing);
        let mut all: BTreeMap<Prefix, NodeMeta> = BTreeMap::new();
        for (path, meta) in nodes {
            let (prefix, meta) = (self.child(path.as_ref())?, meta.into());
            if meta.format() != self.format() {
                return refused(&prefix, "the node has another format than the group");
            }
            if let NodeMeta::Array(meta) = &meta {
                Array::check_new(self.storage(), &prefix.node_path(), meta, self.registry(), &options)?;
            }
            if all.insert(prefix.clone(), meta).is_some() {
                return refused(&prefix, "the path occurs twice");
            }
        }
        let mut levels = BTreeMap::<usize, Vec<_>>::new();
        for (prefix, meta) in &all {
            if node::above(prefix).iter().any(|above| matches!(all.get(above), Some(NodeMeta::Array(_)))) {
                return refused(prefix, "the path is below one of the arrays");
            }
            levels.entry(depth(prefix)).or_default().push((prefix.clone(), meta.clone()));
        }
        Ok(levels)
    }

    /// Whether this group is above the node at `prefix`.
    fn is_above(&self, prefix: &Prefix) -> bool {
        *prefix != self.prefix && prefix.as_str().starts_with(self.prefix.as_str())
    }
}

/// The depth of a path.
fn depth(prefix: &Prefix) -> usize {
    prefix.as_str().matches('/').count()
}
