//! Removes the metadata of one format.

use zarr_array::meta::NodeMeta;
use zarr_array::traits::Prefix;
use zarr_array::{ArrayErrorKind, Format, Limits, Storage, node};

use super::plan::{MigrationPlan, MigrationState, PlannedNode};
use super::steps::Stages;
use super::survey::{Place, survey};
use crate::child::NodeKind;
use crate::error::{HierarchyError, HierarchyResult, prefix_of};

/// The options for removing the metadata of one format from a hierarchy.
#[derive(Debug, Clone, Default)]
pub struct RemoveOptions {
    force: bool,
    limits: Limits,
    at_once: Option<usize>,
}

impl RemoveOptions {
    /// The defaults: remove only where there is valid metadata of another format.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets whether documents are removed even if no node is left.
    #[must_use]
    pub fn force(mut self, force: bool) -> Self {
        self.force = force;
        self
    }

    /// Sets the limits for stored documents.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets how many documents are read or deleted at once. By default the store decides.
    #[must_use]
    pub fn at_once(mut self, requests: usize) -> Self {
        self.at_once = Some(requests.max(1));
        self
    }

    /// Plans the removal of all documents of `format`, 3 or 2, from the node at `path` and all nodes below it. The
    /// deepest nodes come first, the node itself last. Consolidated metadata of format 2 is removed as well.
    ///
    /// # Errors
    /// [`NotFound`](ArrayErrorKind::NotFound) if there is no document at all;
    /// [`InvalidArgument`](ArrayErrorKind::InvalidArgument) for format 1; [`Unsupported`](ArrayErrorKind::Unsupported)
    /// if the store cannot list; errors of the store.
    pub async fn plan(
        &self,
        storage: impl Into<Storage>,
        path: &str,
        format: Format,
    ) -> HierarchyResult<MigrationPlan> {
        let storage = storage.into();
        let prefix = prefix_of(&storage, path)?;
        let planned = self.plan_at(storage.clone(), &prefix, format).await;
        planned.map_err(|e| e.at(&storage, &prefix.node_path()))
    }

    async fn plan_at(
        &self,
        storage: Storage,
        prefix: &Prefix,
        format: Format,
    ) -> HierarchyResult<MigrationPlan> {
        let other = match format {
            Format::V3 => Format::V2,
            Format::V2 => Format::V3,
            other => {
                let message = format!("documents of format {other} are not removed");
                return Err(HierarchyError::invalid(message));
            }
        };
        let at_once = self.at_once.unwrap_or_else(|| node::at_once(&storage));
        let levels = survey(&storage, prefix, Format::V2, &self.limits, at_once).await?;
        if levels.iter().all(Vec::is_empty) {
            return Err(HierarchyError::not_found("there is no node"));
        }
        let (mut stages, mut nodes) = (Stages::default(), Vec::new());
        for level in levels.iter().rev() {
            let keys = level.iter().map(|place| place.keys(format)).collect::<HierarchyResult<Vec<_>>>()?;
            nodes.extend(
                level
                    .iter()
                    .zip(&keys)
                    .map(|(place, keys)| self.judge(place, keys.concat().is_empty(), other)),
            );
            stages.delete(keys);
        }
        nodes.sort_by(|a, b| a.path.cmp(&b.path));
        let (prefix, limits) = (prefix.clone(), self.limits.clone());
        Ok(MigrationPlan { storage, prefix, nodes, stages, keep_going: false, at_once, limits })
    }

    /// Plans the change of a place. `none` says that the place has no documents to delete.
    fn judge(&self, place: &Place, none: bool, other: Format) -> PlannedNode {
        let remaining = place.node(other, &self.limits);
        let kind = match &remaining {
            Ok(Some((NodeMeta::Array(_), _))) => Some(NodeKind::Array),
            Ok(Some((NodeMeta::Group(_), _))) => Some(NodeKind::Group),
            _ => None,
        };
        let obstacle = match remaining {
            _ if none || self.force => None,
            Ok(Some(_)) => None,
            Ok(None) => {
                let message =
                    format!("there is no metadata of format {other}; removing the last metadata needs force");
                Some(HierarchyError::new(ArrayErrorKind::NotFound, message))
            }
            Err(e) => Some(e.into()),
        };
        let state = match &obstacle {
            Some(_) => MigrationState::Blocked,
            None if none => MigrationState::Done,
            None => MigrationState::Changes,
        };
        let obstacles = Vec::from_iter(obstacle);
        PlannedNode { path: place.prefix.node_path(), kind, state, obstacles, notes: Vec::new() }
    }
}
