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

/// Pyramids for programs without async.
#[cfg(feature = "pyramid")]
pub mod pyramid {
    use std::ops::Range;

    use zarr_array::{block_on, blocking::Array};

    use crate::error::CopyResult;
    use crate::join::SharedCopy;
    use crate::pyramid::{self, Downsample, Factors, Pyramid, PyramidDone, PyramidPlans, PyramidShare};
    use crate::run::{CopyProgress, RunOptions};

    /// Plans the levels of all images at a path, as [`Pyramid::plan_all`].
    ///
    /// ```
    /// # #[cfg(feature = "standard")] {
    /// # use zarr_copy::zarr_hierarchy::{blocking::Group, zarr_array::{ArrayMeta, DataType, Storage, blocking::Array, standard}};
    /// use zarr_copy::{RunOptions, blocking, pyramid::Pyramid};
    ///
    /// # let storage = Storage::from(zarr_store::MemoryStore::new());
    /// # Group::create(storage.clone(), "/", &standard())?;
    /// # let meta = ArrayMeta::builder([4, 600], DataType::UInt16).chunks([4, 64]).dimension_names(["y", "x"]).build()?;
    /// # Array::create(storage.clone(), "/0", meta, &standard())?;
    /// let plans = blocking::pyramid::plan(&Pyramid::new(storage, "/", &standard()))?;
    /// let done = blocking::pyramid::run(&plans, RunOptions::new(), &|_| {})?;
    /// assert_eq!((plans.plans()[0].levels().len(), done.was_complete), (2, false));
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Pyramid::plan_all`].
    pub fn plan(pyramid: &Pyramid) -> CopyResult<PyramidPlans> {
        block_on(pyramid.plan_all())
    }

    /// Makes the levels, as [`PyramidPlans::run`].
    ///
    /// # Errors
    /// As [`PyramidPlans::run`].
    pub fn run(
        plans: &PyramidPlans,
        options: RunOptions,
        progress: CopyProgress<'_>,
    ) -> CopyResult<PyramidDone> {
        block_on(plans.run(options, progress))
    }

    /// Takes part in a job, as [`PyramidPlans::join`].
    ///
    /// # Errors
    /// As [`PyramidPlans::join`].
    pub fn join(
        plans: &PyramidPlans,
        job: &SharedCopy,
        progress: CopyProgress<'_>,
    ) -> CopyResult<PyramidShare> {
        block_on(plans.join(job, progress))
    }

    /// Reads a part of an array and reduces it, as [`downsample`](pyramid::downsample).
    ///
    /// # Errors
    /// As [`downsample`](pyramid::downsample).
    pub fn downsample(
        array: &Array,
        part: &[Range<u64>],
        factors: &Factors,
        method: Downsample,
    ) -> CopyResult<(Vec<u64>, Vec<u8>)> {
        block_on(pyramid::downsample(&array.clone().into_async(), part, factors, method))
    }
}
