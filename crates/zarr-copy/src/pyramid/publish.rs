//! Makes levels nodes, and lets their group name them.

use zarr_array::meta::{Format, MetaError, NodeMeta};
use zarr_array::node::{self, Writing};
use zarr_array::traits::Prefix;
use zarr_hierarchy::{Group, GroupOptions, UnresolvedArrays, UseConsolidated};

use super::group::MultiscaleMetadata;
use super::plan::PyramidPlan;
use crate::destination::below;
use crate::document;
use crate::error::{CopyError, CopyResult};

impl PyramidPlan {
    /// Returns the places of the levels.
    pub(super) fn places(&self) -> CopyResult<Vec<Prefix>> {
        self.levels().iter().map(|level| self.place(&level.path)).collect()
    }

    pub(super) fn place(&self, path: &str) -> CopyResult<Prefix> {
        Ok(Prefix::new(format!("{}{path}/", self.group))?)
    }

    /// Makes the levels nodes, and lets the group name them.
    pub(super) async fn publish(&self, resumed: bool) -> CopyResult<()> {
        self.storage.sync().await?;
        let places = self.places()?;
        for (place, meta) in places.iter().zip(&self.metas) {
            node::create_above(&self.storage, place, self.format, &Writing::default()).await?;
            let written = document::put(&below(&self.storage, place), meta.documents(), resumed).await;
            written.map_err(|e| e.within(format_args!("array {:?}", place.node_path())))?;
        }
        self.storage.sync().await?;
        self.edit_group(self.described.levels.len()).await?;
        node::refresh_all(&self.storage, &places, self.format, &Writing::default()).await?;
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
