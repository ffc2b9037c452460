//! Migration for programs without async.

use zarr_array::{Format, Storage, block_on};

use super::{MigrateOptions, MigrationPlan, RemoveOptions, Step};
use crate::error::HierarchyResult;

/// Plans the migration of the node at `path`, with everything below it, in place. Nothing is written.
///
/// # Errors
/// As [`MigrateOptions::plan`].
pub fn plan(
    storage: impl Into<Storage>,
    path: &str,
    options: &MigrateOptions,
) -> HierarchyResult<MigrationPlan> {
    block_on(options.plan(storage, path))
}

/// Plans a migration that writes its documents, without chunks, to `to_path` in another store.
///
/// # Errors
/// As [`MigrateOptions::plan_into`].
pub fn plan_into(
    storage: impl Into<Storage>,
    path: &str,
    to: impl Into<Storage>,
    to_path: &str,
    options: &MigrateOptions,
) -> HierarchyResult<MigrationPlan> {
    block_on(options.plan_into(storage, path, to, to_path))
}

/// Plans the removal of the documents of `format` from the node at `path`, with everything below it.
///
/// # Errors
/// As [`RemoveOptions::plan`].
pub fn plan_removal(
    storage: impl Into<Storage>,
    path: &str,
    format: Format,
    options: &RemoveOptions,
) -> HierarchyResult<MigrationPlan> {
    block_on(options.plan(storage, path, format))
}

/// Carries out a plan and calls `done` after each step.
///
/// # Errors
/// As [`MigrationPlan::run`].
pub fn run(plan: &MigrationPlan, done: &(dyn Fn(&Step) + Sync)) -> HierarchyResult<()> {
    block_on(plan.run(done))
}
