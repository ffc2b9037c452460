//! Converts hierarchies of formats 2 and 1 to format 3 by writing new metadata; chunks stay unchanged. Also removes the
//! metadata of one format where there is metadata of another.
//!
//! Everything is planned before anything is changed. A [`MigrationPlan`] lists what it will write and delete, and the
//! nodes that cannot be converted, with the reasons. [`MigrationPlan::run`] carries it out.
//!
//! ```
//! # use zarr_hierarchy::{HierarchyResult, migrate::MigrateOptions, zarr_array::Storage};
//! # async fn example(storage: Storage) -> HierarchyResult<()> {
//! let plan = MigrateOptions::new().plan(storage, "/").await?;
//! for step in plan.steps() {
//!     println!("{}", step.key());
//! }
//! plan.run(&|_| {}).await?;
//! # Ok(())
//! # }
//! ```

pub mod blocking;
mod convert;
mod draft;
mod plan;
mod remove;
mod steps;
mod survey;

use zarr_array::{Format, Limits, Storage};

use crate::error::{HierarchyResult, prefix_of};

pub use plan::{MigrationPlan, MigrationState, PlannedNode};
pub use remove::RemoveOptions;
pub use steps::Step;

/// The options for converting a hierarchy to format 3.
#[derive(Debug, Clone)]
#[doc(alias("upgrade", "convert"))]
pub struct MigrateOptions {
    format: Format,
    overwrite: bool,
    force: bool,
    remove_old: bool,
    keep_going: bool,
    keep_dimensions: bool,
    fill_attribute: bool,
    limits: Limits,
    at_once: Option<usize>,
}

impl Default for MigrateOptions {
    fn default() -> Self {
        Self {
            format: Format::V2,
            overwrite: false,
            force: false,
            remove_old: false,
            keep_going: false,
            keep_dimensions: false,
            fill_attribute: true,
            limits: Limits::default(),
            at_once: None,
        }
    }
}

impl MigrateOptions {
    /// The defaults: from format 2, all nodes or none, keep existing documents.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the format of the hierarchy: 2, or 1 for a single array.
    #[must_use]
    pub fn format(mut self, format: Format) -> Self {
        self.format = format;
        self
    }

    /// Sets whether existing documents of format 3 that differ are deleted first. By default they are errors of the
    /// plan.
    #[must_use]
    pub fn overwrite(mut self, overwrite: bool) -> Self {
        self.overwrite = overwrite;
        self
    }

    /// Sets whether [`overwrite`](Self::overwrite) applies also to nodes that have only metadata of format 3.
    #[must_use]
    pub fn force(mut self, force: bool) -> Self {
        self.force = force;
        self
    }

    /// Sets whether the older documents are deleted at the end, with their consolidated metadata.
    #[must_use]
    pub fn remove_old(mut self, remove: bool) -> Self {
        self.remove_old = remove;
        self
    }

    /// Sets whether nodes are converted although others cannot be. The nodes in a group that cannot be converted stay
    /// unchanged. Groups above a node that cannot be converted keep their older documents.
    #[must_use]
    pub fn keep_going(mut self, keep_going: bool) -> Self {
        self.keep_going = keep_going;
        self
    }

    /// Sets whether the attribute with the dimension names is kept beside the member `dimension_names`.
    #[must_use]
    pub fn keep_dimensions(mut self, keep: bool) -> Self {
        self.keep_dimensions = keep;
        self
    }

    /// Sets whether arrays of xarray get the attribute that marks missing values in format 3.
    #[must_use]
    pub fn fill_attribute(mut self, set: bool) -> Self {
        self.fill_attribute = set;
        self
    }

    /// Sets the limits for stored documents.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets how many documents are read or written at once. By default the store decides.
    #[must_use]
    pub fn at_once(mut self, requests: usize) -> Self {
        self.at_once = Some(requests.max(1));
        self
    }

    /// Plans the migration of the node at `path` with everything below it, in place: documents of format 3 beside the
    /// older ones.
    ///
    /// The documents of the deepest nodes are written first, that of the node at `path` last. Until then readers see
    /// the hierarchy in the older format, and an interrupted run can be repeated: an existing document that equals the
    /// new one is not written again.
    ///
    /// A group with consolidated metadata of format 2 gets inline consolidated metadata.
    ///
    /// # Errors
    /// [`NotFound`](zarr_array::ArrayErrorKind::NotFound) if there is no node;
    /// [`InvalidArgument`](zarr_array::ArrayErrorKind::InvalidArgument) if a group above would stay in format 2;
    /// [`Unsupported`](zarr_array::ArrayErrorKind::Unsupported) if the store cannot list; errors of the store. Errors
    /// of single nodes are in the plan.
    pub async fn plan(&self, storage: impl Into<Storage>, path: &str) -> HierarchyResult<MigrationPlan> {
        let storage = storage.into();
        let prefix = prefix_of(&storage, path)?;
        let planned = plan::migration(self, &storage, &prefix, None).await;
        planned.map_err(|e| e.at(&storage, &prefix.node_path()))
    }

    /// Plans a migration that writes its documents, without chunks, to `to_path` in another store.
    ///
    /// # Errors
    /// As [`plan`](Self::plan), and [`Exists`](zarr_array::ArrayErrorKind::Exists) if the destination holds anything
    /// that an earlier run has not written, unless [`overwrite`](Self::overwrite) is set.
    pub async fn plan_into(
        &self,
        storage: impl Into<Storage>,
        path: &str,
        to: impl Into<Storage>,
        to_path: &str,
    ) -> HierarchyResult<MigrationPlan> {
        let storage = storage.into();
        let prefix = prefix_of(&storage, path)?;
        let to = to.into();
        let to_prefix = prefix_of(&to, to_path)?;
        let to = (to, to_prefix);
        let planned = plan::migration(self, &storage, &prefix, Some(to)).await;
        planned.map_err(|e| e.at(&storage, &prefix.node_path()))
    }
}
