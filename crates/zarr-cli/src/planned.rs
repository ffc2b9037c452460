//! Carries out a planned change of metadata and reports it.

use std::path::Path;

use zarr_array::meta::json::{Object, Value};
use zarr_hierarchy::migrate::{MigrationPlan, MigrationState, PlannedNode, Step, blocking};
use zarr_hierarchy::{HierarchyError, NodeKind};

use crate::exit::{Exit, Failure, Outcome, say};
use crate::out::json::{self, object};
use crate::out::progress::Progress;
use crate::out::stdout::print;

/// The options for carrying out a plan.
#[derive(Debug, Clone, Copy)]
pub(crate) struct How {
    pub(crate) dry_run: bool,
    pub(crate) json: bool,
    pub(crate) quiet: bool,
}

impl How {
    /// Carries out a plan on the store at `directory`, or prints it for a dry run.
    pub(crate) fn carry_out(self, plan: &MigrationPlan, directory: &Path) -> Outcome {
        let possible = plan.check().is_ok();
        if possible && !self.dry_run {
            self.run(plan).map_err(|e| Failure::from(e).within(format_args!("store {directory:?}")))?;
        }
        if self.json {
            print(&json::pretty(&report(plan, possible && !self.dry_run)))?;
        } else {
            self.tell(plan, possible)?;
        }
        let blocked = plan.nodes().iter().filter(|node| node.state == MigrationState::Blocked);
        let obstacles: Vec<_> =
            blocked.flat_map(|node| node.obstacles.iter().map(|o| (&node.path, o))).collect();
        let Some((_, first)) = obstacles.first() else { return Ok(Exit::Ok) };
        for (path, obstacle) in &obstacles {
            say(&format!("node {path:?}: {obstacle:#}"));
        }
        if !possible {
            say("nothing was changed");
        }
        Err(Failure::silent(first.kind().into()))
    }

    fn tell(self, plan: &MigrationPlan, possible: bool) -> Result<(), Failure> {
        if !self.quiet {
            for node in plan.nodes() {
                node.notes.iter().for_each(|note| say(&format!("note: node {:?}: {note}", node.path)));
            }
        }
        match (possible, self.dry_run) {
            (true, true) if plan.steps().next().is_none() && !self.quiet => {
                let nodes = match plan.nodes().len() {
                    1 => "1 node is".to_owned(),
                    nodes => format!("{nodes} nodes are"),
                };
                say(&format!("note: nothing to change: {nodes} up to date"));
                Ok(())
            }
            (true, true) => {
                let lines = plan.steps().map(|step| format!("{} {}\n", verb(step), step.key()));
                print(&lines.collect::<String>())
            }
            (true, false) if !self.quiet => print(&summary(plan)),
            _ => Ok(()),
        }
    }

    fn run(self, plan: &MigrationPlan) -> Result<(), HierarchyError> {
        let progress = Progress::documents(plan.steps().count(), self.quiet || self.json);
        blocking::run(plan, &|_| progress.add(1))
    }
}

fn verb(step: &Step) -> &'static str {
    match step {
        Step::Delete(_) => "delete",
        _ => "write",
    }
}

fn summary(plan: &MigrationPlan) -> String {
    let nodes = |state| plan.nodes().iter().filter(|node| node.state == state).count();
    let (changed, done) = (nodes(MigrationState::Changes), nodes(MigrationState::Done));
    let deleted = plan.steps().filter(|step| verb(step) == "delete").count();
    let written = plan.steps().count() - deleted;
    let noun = if changed == 1 { "node" } else { "nodes" };
    format!(
        "{changed} {noun} changed, {done} already up to date; {written} documents written, {deleted} deleted\n"
    )
}

fn report(plan: &MigrationPlan, changed: bool) -> Value {
    let steps =
        plan.steps().map(|step| object([("action", verb(step).into()), ("key", step.key().as_str().into())]));
    json::document([
        ("changed", changed.into()),
        ("nodes", plan.nodes().iter().map(node).collect()),
        ("steps", steps.collect()),
    ])
    .into()
}

fn node(node: &PlannedNode) -> Object {
    let kind = node.kind.map(|kind| if kind == NodeKind::Array { "array" } else { "group" });
    let state = match node.state {
        MigrationState::Changes => "changes",
        MigrationState::Done => "done",
        _ => "blocked",
    };
    object([
        ("path", (&node.path).into()),
        ("node_type", kind.into()),
        ("state", state.into()),
        ("obstacles", node.obstacles.iter().map(|e| format!("{e:#}")).collect()),
        ("notes", node.notes.iter().collect()),
    ])
}
