//! From formats 2 and 1 to format 3 by new metadata alone, with the chunks where they are; and removing the
//! metadata of one format where there is that of another.
//!
//! Everything is planned before anything is changed. A [`Plan`] says what it will write and delete, and which nodes cannot
//! be converted and why; [`Plan::run`] does it.
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

use zarr_array::traits::Prefix;
use zarr_array::{Format, Limits, Storage};

use crate::error::HierarchyResult;

pub use plan::{Plan, PlannedNode, State};
pub use remove::RemoveOptions;
pub use steps::Step;

/// How a hierarchy becomes one of format 3.
#[derive(Debug, Clone)]
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
    /// From format 2; all nodes or none; what is there stays.
    pub fn new() -> Self {
        Self::default()
    }

    /// The format of the hierarchy so far: 2, or 1, where there is a single array.
    #[must_use]
    pub fn format(mut self, format: Format) -> Self {
        self.format = format;
        self
    }

    /// Whether documents of format 3 that are there already, and say something else, are deleted first. Otherwise they are
    /// in the way.
    #[must_use]
    pub fn overwrite(mut self, overwrite: bool) -> Self {
        self.overwrite = overwrite;
        self
    }

    /// Whether that goes for nodes as well which are of format 3 only: there is nothing else that would make them nodes.
    #[must_use]
    pub fn force(mut self, force: bool) -> Self {
        self.force = force;
        self
    }

    /// Whether the older documents are deleted in the end, consolidated metadata among them.
    #[must_use]
    pub fn remove_old(mut self, remove: bool) -> Self {
        self.remove_old = remove;
        self
    }

    /// Whether nodes are converted although others cannot be. What lies in a group that cannot be converted is left alone,
    /// and so are the older documents of groups around a node that cannot be.
    #[must_use]
    pub fn keep_going(mut self, keep_going: bool) -> Self {
        self.keep_going = keep_going;
        self
    }

    /// Whether the attribute with the names of dimensions is kept, beside the member `dimension_names`.
    #[must_use]
    pub fn keep_dimensions(mut self, keep: bool) -> Self {
        self.keep_dimensions = keep;
        self
    }

    /// Whether arrays of xarray get the attribute by which it knows missing values in format 3.
    #[must_use]
    pub fn fill_attribute(mut self, set: bool) -> Self {
        self.fill_attribute = set;
        self
    }

    /// The limits on what stored documents may make us do.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// How many documents are read or written at once; by default as many as the store says are worth it.
    #[must_use]
    pub fn at_once(mut self, requests: usize) -> Self {
        self.at_once = Some(requests.max(1));
        self
    }

    /// Plans the migration of the node at `path`, with all below it, in place: documents of format 3 beside the older ones.
    ///
    /// Those of the deepest nodes are written first, that of the node itself last. Until then the hierarchy is one of the
    /// older format to whoever opens it, and a run that was interrupted can be repeated: a document that is there and says
    /// what would be written is as good as written.
    ///
    /// A group with consolidated metadata of format 2 gets inline consolidated metadata.
    ///
    /// # Errors
    /// [`NotFound`](zarr_array::ArrayErrorKind::NotFound) when there is no node;
    /// [`InvalidArgument`](zarr_array::ArrayErrorKind::InvalidArgument) when it lies in a group that would remain one of
    /// format 2; [`Unsupported`](zarr_array::ArrayErrorKind::Unsupported) when the store cannot list; those
    /// of the store. What is wrong with single nodes is in the plan.
    pub async fn plan(&self, storage: impl Into<Storage>, path: &str) -> HierarchyResult<Plan> {
        let (storage, prefix) = (storage.into(), Prefix::of_node(path)?);
        let planned = plan::migration(self, &storage, &prefix, None).await;
        planned.map_err(|e| e.at(&prefix.node_path()))
    }

    /// Plans a migration whose documents are written elsewhere, and no chunks: to `to_path` in another store.
    ///
    /// # Errors
    /// As [`plan`](Self::plan), and [`Exists`](zarr_array::ArrayErrorKind::Exists) when anything is at the destination that
    /// an earlier run has not written, unless it is to be [overwritten](Self::overwrite).
    pub async fn plan_into(
        &self,
        storage: impl Into<Storage>,
        path: &str,
        to: impl Into<Storage>,
        to_path: &str,
    ) -> HierarchyResult<Plan> {
        let (storage, prefix) = (storage.into(), Prefix::of_node(path)?);
        let to = (to.into(), Prefix::of_node(to_path)?);
        let planned = plan::migration(self, &storage, &prefix, Some(to)).await;
        planned.map_err(|e| e.at(&prefix.node_path()))
    }
}
