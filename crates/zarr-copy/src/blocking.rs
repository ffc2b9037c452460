//! Copies for programs without async: the same names, no runtime.

use zarr_array::{Storage, block_on};

use crate::error::CopyResult;
use crate::join::{Job, Share};
use crate::plan::Plan;
use crate::run::{Progress, RunOptions};
use crate::work::Done;

/// Plans a copy, as [`Copy::plan`](crate::Copy::plan).
///
/// # Errors
/// As [`Copy::plan`](crate::Copy::plan).
pub fn plan(copy: &crate::Copy) -> CopyResult<Plan> {
    block_on(copy.plan())
}

/// Runs a plan, as [`Plan::run`].
///
/// # Errors
/// As [`Plan::run`].
pub fn run(
    plan: &Plan,
    to: impl Into<Storage>,
    path: &str,
    options: RunOptions,
    progress: Progress<'_>,
) -> CopyResult<Done> {
    block_on(plan.run(to, path, options, progress))
}

/// Takes part in a job, as [`Plan::join`].
///
/// # Errors
/// As [`Plan::join`].
pub fn join(
    plan: &Plan,
    to: impl Into<Storage>,
    path: &str,
    job: &Job,
    progress: Progress<'_>,
) -> CopyResult<Share> {
    block_on(plan.join(to, path, job, progress))
}
