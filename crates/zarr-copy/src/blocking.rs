//! Copies for programs without async: the same names, no runtime.

use zarr_array::{Storage, block_on};

use crate::error::CopyResult;
use crate::join::{Share, SharedCopy};
use crate::plan::CopyPlan;
use crate::run::{CopyProgress, RunOptions};
use crate::told::Done;

/// Plans a copy, as [`Copy::plan`](crate::Copy::plan).
///
/// # Errors
/// As [`Copy::plan`](crate::Copy::plan).
pub fn plan(copy: &crate::Copy) -> CopyResult<CopyPlan> {
    block_on(copy.plan())
}

/// Runs a plan, as [`CopyPlan::run`].
///
/// # Errors
/// As [`CopyPlan::run`].
pub fn run(
    plan: &CopyPlan,
    to: impl Into<Storage>,
    path: &str,
    options: RunOptions,
    progress: CopyProgress<'_>,
) -> CopyResult<Done> {
    block_on(plan.run(to, path, options, progress))
}

/// Takes part in a job, as [`CopyPlan::join`].
///
/// # Errors
/// As [`CopyPlan::join`].
pub fn join(
    plan: &CopyPlan,
    to: impl Into<Storage>,
    path: &str,
    job: &SharedCopy,
    progress: CopyProgress<'_>,
) -> CopyResult<Share> {
    block_on(plan.join(to, path, job, progress))
}
