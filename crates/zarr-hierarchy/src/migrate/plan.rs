//! The plan of a migration or a removal.

use std::collections::{BTreeMap, HashSet};

use futures_util::{StreamExt, TryStreamExt, stream};
use zarr_array::meta::DocumentName;
use zarr_array::node::{self, Writing};
use zarr_array::traits::Prefix;
use zarr_array::{ArrayErrorKind, Format, Limits, Storage};

use super::MigrateOptions;
use super::draft::{Draft, drafts};
use super::steps::{Stages, Step};
use super::survey::{Place, survey};
use crate::child::NodeKind;
use crate::copy::moved;
use crate::error::{HierarchyError, HierarchyResult};

/// The planned changes and the obstacles. Nothing has been changed yet.
#[derive(Debug)]
pub struct MigrationPlan {
    pub(super) storage: Storage,
    pub(super) prefix: Prefix,
    pub(super) nodes: Vec<PlannedNode>,
    pub(super) stages: Stages,
    pub(super) keep_going: bool,
    pub(super) at_once: usize,
    pub(super) limits: Limits,
}

/// A node and its planned change.
#[derive(Debug)]
#[non_exhaustive]
pub struct PlannedNode {
    /// The path of the node.
    pub path: String,
    /// The kind of the node, if it could be read.
    pub kind: Option<NodeKind>,
    /// The planned change.
    pub state: MigrationState,
    /// The reasons why the change is not possible.
    pub obstacles: Vec<HierarchyError>,
    /// Tolerated deviations in its documents, and changes of meaning.
    pub notes: Vec<String>,
}

/// The planned change of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MigrationState {
    /// Its documents change.
    Changes,
    /// Nothing needs to be done.
    Done,
    /// Nothing is done because of obstacles.
    Blocked,
}

impl MigrationPlan {
    /// The nodes, ordered by path.
    pub fn nodes(&self) -> &[PlannedNode] {
        &self.nodes
    }

    /// The steps in the order in which they are taken. Steps of one stage run in any order.
    pub fn steps(&self) -> impl Iterator<Item = &Step> {
        self.stages.steps()
    }

    /// Whether the plan can be run: there are no obstacles, or `keep_going` skips their nodes.
    ///
    /// # Errors
    /// The first obstacle, and the number of further nodes with obstacles.
    pub fn check(&self) -> HierarchyResult<()> {
        let mut blocked = self.nodes.iter().filter(|node| node.state == MigrationState::Blocked);
        let Some(first) = blocked.next().filter(|_| !self.keep_going) else { return Ok(()) };
        let Some(obstacle) = first.obstacles.first() else { return Ok(()) };
        let others = match blocked.count() {
            0 => String::new(),
            n => format!("; and {n} more {}", if n == 1 { "node" } else { "nodes" }),
        };
        let message = format!("{obstacle:#}{others}; nothing was changed");
        Err(HierarchyError::new(obstacle.kind(), message).at(&self.storage, &first.path))
    }

    /// Carries out the plan and calls `done` after each step.
    ///
    /// Steps are taken as planned: changes of older documents since the planning are not noticed.
    ///
    /// # Errors
    /// Those of [`check`](Self::check), and nothing is changed; [`Conflict`](ArrayErrorKind::Conflict) if another
    /// writer writes documents of format 3; errors of the store. After any error a new plan can be made and run.
    pub async fn run(&self, done: &(dyn Fn(&Step) + Sync)) -> HierarchyResult<()> {
        self.check()?;
        self.stages.take(&self.storage, self.at_once, done).await?;
        let touched = Vec::from_iter(self.touched());
        let mut how = Writing::default();
        how.limits = self.limits.clone();
        let written = |format: &Format| {
            let is_of =
                |step: &Step| DocumentName::of(step.key().name()).is_some_and(|n| n.format() == *format);
            self.steps().any(is_of)
        };
        for format in [Format::V3, Format::V2].into_iter().filter(written) {
            node::refresh(&self.storage, &self.prefix, &touched, format, &how).await?;
        }
        Ok(())
    }

    /// The prefixes of the nodes whose documents change.
    fn touched(&self) -> HashSet<Prefix> {
        self.steps().map(|step| step.key().parent()).collect()
    }
}

/// Plans a migration, in place or to another destination.
pub(super) async fn migration(
    options: &MigrateOptions,
    storage: &Storage,
    source: &Prefix,
    elsewhere: Option<(Storage, Prefix)>,
) -> HierarchyResult<MigrationPlan> {
    let limits = &options.limits;
    let at_once = |storage: &Storage| options.at_once.unwrap_or_else(|| node::at_once(storage));
    let levels = survey(storage, source, options.format, limits, at_once(storage)).await?;
    if !levels.iter().flatten().any(|place| place.has_node(options.format) || place.has_node(Format::V3)) {
        let message = format!("there is no node of format {}", options.format);
        return Err(HierarchyError::new(ArrayErrorKind::NotFound, message));
    }
    let mut there = Vec::new();
    let (to, target) = match elsewhere {
        None => {
            check_above(storage, source, limits).await?;
            (storage.clone(), source.clone())
        }
        Some((to, target)) => {
            let prefixes = levels.iter().flatten().map(|place| moved(source, &target, &place.prefix));
            let prefixes = prefixes.collect::<HierarchyResult<Vec<_>>>()?;
            if !options.overwrite {
                check_vacant(&to, &target, &prefixes).await?;
            }
            let looks = prefixes.into_iter().map(|prefix| Place::look(&to, prefix, options.format, limits));
            there = stream::iter(looks).buffered(at_once(&to)).try_collect().await?;
            (to, target)
        }
    };
    let places = levels.iter().flatten().enumerate().map(|(i, place)| (place, there.get(i).unwrap_or(place)));
    let drafts = drafts(places, options)?;
    let mut plan = MigrationPlan {
        at_once: at_once(&to),
        storage: to,
        prefix: target,
        nodes: Vec::new(),
        stages: Stages::default(),
        keep_going: options.keep_going,
        limits: limits.clone(),
    };
    plan.stages = stages(&drafts, options)?;
    let touched = plan.touched();
    plan.nodes = drafts.into_iter().map(|draft| planned(draft, &touched)).collect();
    plan.nodes.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(plan)
}

/// Returns the stages: first stale documents are deleted, those of groups before those of their children. Then new
/// documents are written, groups last. Then older documents are deleted, groups last.
fn stages(drafts: &[Draft<'_>], options: &MigrateOptions) -> HierarchyResult<Stages> {
    let mut levels: BTreeMap<usize, Vec<&Draft<'_>>> = BTreeMap::new();
    for draft in drafts {
        levels.entry(draft.from.prefix.as_str().matches('/').count()).or_default().push(draft);
    }
    let mut stages = Stages::default();
    for level in levels.values() {
        let steps = level.iter().filter_map(|draft| draft.clear().transpose());
        stages.push(steps.collect::<HierarchyResult<Vec<_>>>()?);
    }
    for level in levels.values().rev() {
        let steps = level.iter().filter_map(|draft| draft.write(&options.limits).transpose());
        stages.push(steps.collect::<HierarchyResult<Vec<_>>>()?);
    }
    if options.remove_old {
        let blocked = drafts.iter().filter(|draft| !draft.obstacles.is_empty());
        let needed: HashSet<Prefix> = blocked.flat_map(|draft| node::above(&draft.from.prefix)).collect();
        for level in levels.values().rev() {
            let removable =
                level.iter().filter(|draft| draft.lives() && !needed.contains(&draft.from.prefix));
            let keys = removable.map(|draft| draft.to.keys(options.format));
            stages.delete(keys.collect::<HierarchyResult<_>>()?);
        }
    }
    Ok(stages)
}

fn planned(draft: Draft<'_>, touched: &HashSet<Prefix>) -> PlannedNode {
    let state = match draft.obstacles.is_empty() {
        false => MigrationState::Blocked,
        true if touched.contains(&draft.to.prefix) => MigrationState::Changes,
        true => MigrationState::Done,
    };
    let path = draft.from.prefix.node_path();
    PlannedNode { path, kind: draft.kind, state, obstacles: draft.obstacles, notes: draft.notes }
}

/// Fails if a group above has only format 2: groups above a node of format 3 must have format 3.
async fn check_above(storage: &Storage, prefix: &Prefix, limits: &Limits) -> HierarchyResult<()> {
    for above in node::above(prefix) {
        let place = Place::look(storage, above, Format::V2, limits).await?;
        if place.has_node(Format::V2) && !place.has_node(Format::V3) {
            let path = place.prefix.node_path();
            let message = format!("the group {path:?} above it has format 2 and must be migrated first");
            return Err(HierarchyError::invalid(message));
        }
    }
    Ok(())
}

/// Refuses a destination that holds anything an earlier run has not written.
async fn check_vacant(to: &Storage, target: &Prefix, prefixes: &[Prefix]) -> HierarchyResult<()> {
    if !to.capabilities().list {
        return Ok(());
    }
    let there = to.list_dir(target).await?;
    let mut keys = there.objects.iter().map(|listed| &listed.key);
    let key = keys.find(|key| key.name() != DocumentName::Node.as_str()).map(|key| key.as_str());
    let prefix =
        there.prefixes.iter().find(|prefix| !prefixes.contains(prefix)).map(|prefix| prefix.as_str());
    match key.or(prefix) {
        None => Ok(()),
        Some(other) => {
            let message = format!("the destination is not empty: it holds {other:?}");
            Err(HierarchyError::new(ArrayErrorKind::Exists, message))
        }
    }
}
