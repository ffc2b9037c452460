//! Makes levels nodes, and lets their group name them.

use zarr_array::meta::{ArrayMeta, Format, MetaError, NodeMeta};
use zarr_array::node::{self, Writing};
use zarr_array::traits::Prefix;
use zarr_hierarchy::{Group, GroupOptions, UnresolvedArrays, UseConsolidated};

use super::group::MultiscaleMetadata;
use super::plan::PyramidPlan;
use crate::copy::Copy;
use crate::destination::below;
use crate::document;
use crate::error::{CopyError, CopyResult};
use crate::run::RunOptions;

impl PyramidPlan {
    /// Returns the paths of the levels below the group: of arrays, or of groups with several arrays.
    pub(super) fn paths(&self) -> Vec<&str> {
        match &self.described.assets {
            Some(assets) => assets.iter().skip(1).map(String::as_str).collect(),
            None => self.levels().iter().map(|level| level.path.as_str()).collect(),
        }
    }

    /// Returns the places of all arrays of the levels, with their metadata.
    pub(super) fn documents(&self) -> CopyResult<Vec<(Prefix, &ArrayMeta)>> {
        let mut all = Vec::new();
        for plan in self.all() {
            for (level, meta) in plan.levels().iter().zip(&plan.metas) {
                all.push((self.place(&level.path)?, meta));
            }
        }
        Ok(all)
    }

    /// Copies the arrays that are the same in each level.
    pub(super) async fn copy_kept(&self) -> CopyResult<()> {
        let Some(assets) = &self.described.assets else { return Ok(()) };
        for name in &self.kept {
            let path = |asset: &str| Ok::<_, CopyError>(self.place(asset)?.child(name)?.node_path());
            let plan = Copy::new(self.storage.clone(), &path(&assets[0])?, &self.registry).plan().await?;
            for asset in &assets[1..] {
                let options = RunOptions::new().resume(true);
                plan.run(self.storage.clone(), &path(asset)?, options, &|_| {}).await?;
            }
        }
        Ok(())
    }

    pub(super) fn place(&self, path: &str) -> CopyResult<Prefix> {
        Ok(Prefix::new(format!("{}{path}/", self.group))?)
    }

    /// Makes the levels nodes, and lets the group name them.
    pub(super) async fn publish(&self, resumed: bool) -> CopyResult<()> {
        self.storage.sync().await?;
        let mut all = Vec::new();
        for (place, meta) in self.documents()? {
            node::create_above(&self.storage, &place, self.format, &Writing::default()).await?;
            let written = document::put(&below(&self.storage, &place), meta.documents(), resumed).await;
            written.map_err(|e| e.within(format_args!("array {:?}", place.node_path())))?;
            all.push(place);
        }
        self.storage.sync().await?;
        self.edit_group(self.described.levels.len()).await?;
        node::refresh_all(&self.storage, &all, self.format, &Writing::default()).await?;
        self.consolidate().await
    }

    /// Lets the group name the first `count` levels.
    pub(super) async fn edit_group(&self, count: usize) -> CopyResult<()> {
        if self.described.metadata.is_empty() {
            return Ok(());
        }
        let change = |node: &mut NodeMeta| match node {
            NodeMeta::Group(group) => {
                Ok(group.edit_attributes(|attributes| self.described.write(attributes, count))?)
            }
            NodeMeta::Array(_) => Err(MetaError::invalid("the group was replaced by an array").into()),
        };
        let edited = node::edit(&self.storage, &self.group, self.format, &Writing::default(), change).await;
        edited.map_err(|e| CopyError::from(e).within(format_args!("group {:?}", self.group.node_path())))?;
        Ok(())
    }

    /// Writes consolidated metadata of the group, which readers of the convention want.
    async fn consolidate(&self) -> CopyResult<()> {
        let wants = self.described.metadata.contains(&MultiscaleMetadata::Convention);
        if !wants || self.format != Format::V3 || !self.storage.capabilities().list {
            return Ok(());
        }
        let options = GroupOptions::new().use_consolidated(UseConsolidated::Ignore);
        let path = self.group.node_path();
        let mut group = Group::open_with(self.storage.clone(), &path, &self.registry, &options).await?;
        group.consolidate_with(UnresolvedArrays::Include).await?;
        Ok(())
    }
}
