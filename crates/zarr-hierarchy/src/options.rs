//! The options for opening a group.

use zarr_array::node::Writing;
use zarr_array::{ConsolidatedPolicy, ExistingNode, Format, Limits};

/// Whether the consolidated metadata of a group is used. It is trusted: nodes that it does not name are not found, and
/// its documents replace those in the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum UseConsolidated {
    /// Use it if present.
    #[default]
    IfPresent,
    /// Fail if it is not present.
    Require,
    /// Ignore it and read the documents themselves.
    Ignore,
}

/// How a folder without a Zarr document is listed. Pre-release software may have written it as a group, or it may have
/// nothing to do with Zarr.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ImplicitGroups {
    /// Do not list it.
    Ignore,
    /// List it as [`ChildState::Undocumented`](crate::ChildState::Undocumented), and do not walk into it. Folders whose
    /// names begin with a period are not listed.
    #[default]
    Report,
    /// Treat it as a group without attributes.
    Treat,
}

/// Which children of a group are listed, by format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Formats {
    /// Only nodes in the format of the group: one request for each child of format 3.
    #[default]
    Same,
    /// Nodes of formats 3 and 2; format 3 if a path has both. Up to four requests for each child.
    Both,
}

/// The options for opening a group with [`Group::open_with`](crate::Group::open_with), or creating one with
/// [`Group::create_with`](crate::Group::create_with). Nodes opened through the group share them.
///
/// ```
/// # use zarr_hierarchy::{Group, GroupOptions, HierarchyResult, UseConsolidated, zarr_array::{Registry, Storage}};
/// # async fn example(storage: Storage, registry: &Registry) -> HierarchyResult<()> {
/// let options = GroupOptions::new().use_consolidated(UseConsolidated::Ignore);
/// let group = Group::open_with(storage, "/", registry, &options).await?;
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
    pub(crate) existing: ExistingNode,
    pub(crate) writing: Writing,
}

impl GroupOptions {
    /// The defaults: tolerant reading, consolidated metadata used if present and kept up to date, default limits.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets whether any deviation from the specification is an error.
    #[must_use]
    pub fn strict(mut self, strict: bool) -> Self {
        self.strict = strict;
        self
    }

    /// Sets the limits for stored data.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.writing.limits = limits;
        self
    }

    /// Sets the format of the group, if known. By default format 3 is tried first, then 2.
    #[must_use]
    pub fn format(mut self, format: impl Into<Option<Format>>) -> Self {
        self.format = format.into();
        self
    }

    /// Sets whether consolidated metadata is used.
    #[must_use]
    pub fn use_consolidated(mut self, use_consolidated: UseConsolidated) -> Self {
        self.use_consolidated = use_consolidated;
        self
    }

    /// Sets what happens to consolidated metadata above a node that is created, changed or erased.
    #[must_use]
    pub fn consolidated(mut self, consolidated: ConsolidatedPolicy) -> Self {
        self.writing.consolidated = consolidated;
        self
    }

    /// Sets what happens if a node exists where the group is created. Opening a group and nodes below it do not use it.
    #[must_use]
    pub fn existing(mut self, existing: ExistingNode) -> Self {
        self.existing = existing;
        self
    }

    /// Sets how folders without a document are treated.
    #[must_use]
    pub fn implicit_groups(mut self, implicit: ImplicitGroups) -> Self {
        self.implicit = implicit;
        self
    }

    /// Sets which children are listed, by format.
    #[must_use]
    pub fn formats(mut self, formats: Formats) -> Self {
        self.formats = formats;
        self
    }

    /// Sets how many documents are read at once. By default the store decides, and the threads of a local storage share
    /// them.
    #[must_use]
    pub fn at_once(mut self, requests: usize) -> Self {
        self.at_once = Some(requests.max(1));
        self
    }
}
