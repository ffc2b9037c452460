//! How a group is opened and what its handle remembers.

use zarr_array::node::Writing;
use zarr_array::{Consolidated, Format, Limits};

/// Whether the consolidated metadata of a group is used. It is trusted: nodes that it does not name are not found, and its
/// documents are used in place of those in the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum UseConsolidated {
    /// It is used where it is present.
    #[default]
    IfPresent,
    /// It must be present, else opening the group is an error.
    Require,
    /// It is ignored: the documents themselves are read.
    Ignore,
}

/// How a folder without a Zarr document is listed. It may be a group that pre-release software wrote, or have nothing to do with
/// Zarr.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ImplicitGroups {
    /// It is not listed.
    Ignore,
    /// It is listed as [`Found::Undocumented`](crate::Found::Undocumented), and walks do not enter it. Folders whose names
    /// begin with a period are not listed.
    #[default]
    Report,
    /// It is a group without attributes.
    Treat,
}

/// Which children of a group are listed, by their format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Formats {
    /// Those of the format of the group: a request for each child of format 3.
    #[default]
    Same,
    /// Those of formats 3 and 2; where there are both at a path, the former. Up to four requests for each child.
    Both,
}

/// How a group is opened, and what its handle and those that are opened through it remember.
///
/// ```
/// # use zarr_hierarchy::{GroupOptions, HierarchyResult, UseConsolidated, zarr_array::{Registry, Storage}};
/// # async fn example(storage: Storage, registry: &Registry) -> HierarchyResult<()> {
/// let options = GroupOptions::new().use_consolidated(UseConsolidated::Ignore);
/// let group = options.open(storage, "/", registry).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
pub struct GroupOptions {
    pub(crate) strict: bool,
    pub(crate) format: Option<Format>,
    pub(crate) use_consolidated: UseConsolidated,
    pub(crate) implicit: ImplicitGroups,
    pub(crate) formats: Formats,
    pub(crate) at_once: Option<usize>,
    pub(crate) writing: Writing,
}

impl GroupOptions {
    /// Tolerant, consolidated metadata used where present and kept up to date, the default limits.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether any deviation of a document from the specification is an error.
    #[must_use]
    pub fn strict(mut self, strict: bool) -> Self {
        self.strict = strict;
        self
    }

    /// The limits on what stored data may make us do.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.writing.limits = limits;
        self
    }

    /// The format of the group, when it is known. By default format 3 is looked for first, then 2.
    #[must_use]
    pub fn format(mut self, format: impl Into<Option<Format>>) -> Self {
        self.format = format.into();
        self
    }

    /// Whether consolidated metadata is used.
    #[must_use]
    pub fn use_consolidated(mut self, use_consolidated: UseConsolidated) -> Self {
        self.use_consolidated = use_consolidated;
        self
    }

    /// What becomes of consolidated metadata above a node that is created, changed or erased.
    #[must_use]
    pub fn consolidated(mut self, consolidated: Consolidated) -> Self {
        self.writing.consolidated = consolidated;
        self
    }

    /// What is made of folders without a document.
    #[must_use]
    pub fn implicit_groups(mut self, implicit: ImplicitGroups) -> Self {
        self.implicit = implicit;
        self
    }

    /// Which children are shown.
    #[must_use]
    pub fn formats(mut self, formats: Formats) -> Self {
        self.formats = formats;
        self
    }

    /// How many documents are asked for at once; by default as many as the store says are worth it.
    #[must_use]
    pub fn at_once(mut self, requests: usize) -> Self {
        self.at_once = Some(requests.max(1));
        self
    }
}
