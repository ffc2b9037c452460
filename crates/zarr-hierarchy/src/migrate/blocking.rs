//! The same for programs without async.

use zarr_array::{Format, Storage, block_on};

use super::{MigrateOptions, Plan, RemoveOptions, Step};
use crate::error::HierarchyResult;

/// As [`MigrateOptions::plan`].
///
/// # Errors
/// As there.
pub fn plan(storage: impl Into<Storage>, path: &str, options: &MigrateOptions) -> HierarchyResult<Plan> {
    block_on(options.plan(storage, path))
}

/// As [`MigrateOptions::plan_into`].
///
/// # Errors
/// As there.
pub fn plan_into(
    storage: impl Into<Storage>,
    path: &str,
    to: impl Into<Storage>,
    to_path: &str,
    options: &MigrateOptions,
) -> HierarchyResult<Plan> {
    block_on(options.plan_into(storage, path, to, to_path))
}

/// As [`RemoveOptions::plan`].
///
/// # Errors
/// As there.
pub fn plan_removal(
    storage: impl Into<Storage>,
    path: &str,
    format: Format,
    options: &RemoveOptions,
) -> HierarchyResult<Plan> {
    block_on(options.plan(storage, path, format))
}

/// As [`Plan::run`].
///
/// # Errors
/// As there.
pub fn run(plan: &Plan, done: &(dyn Fn(&Step) + Sync)) -> HierarchyResult<()> {
    block_on(plan.run(done))
}
