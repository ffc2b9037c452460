//! Erases nodes.

use zarr_array::node::{self, Writing};
use zarr_array::traits::Prefix;
use zarr_array::{ConsolidatedPolicy, Storage};

use crate::error::{HierarchyError, HierarchyResult, prefix_of};
use crate::group::Group;

/// The options for erasing a node.
#[derive(Debug, Clone, Default)]
pub struct EraseOptions {
    root: bool,
    writing: Writing,
}

impl EraseOptions {
    /// The defaults: refuse the root, and update consolidated metadata above the node.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets whether the root may be erased, with everything in the store.
    #[must_use]
    pub fn root(mut self, root: bool) -> Self {
        self.root = root;
        self
    }

    /// Sets what happens to consolidated metadata above the node.
    #[must_use]
    pub fn consolidated(mut self, consolidated: ConsolidatedPolicy) -> Self {
        self.writing.consolidated = consolidated;
        self
    }
}

/// Erases the node at `path` with everything below it. Its documents go first, so an interruption leaves no partial
/// node.
///
/// # Errors
/// [`NotFound`](zarr_array::ArrayErrorKind::NotFound) if there is no node; nothing is erased then.
/// [`InvalidArgument`](zarr_array::ArrayErrorKind::InvalidArgument) for the root, unless the options allow it.
/// [`Unsupported`](zarr_array::ArrayErrorKind::Unsupported) if the store is read-only. Errors of the store.
pub async fn erase(storage: impl Into<Storage>, path: &str, options: &EraseOptions) -> HierarchyResult<()> {
    let storage = storage.into();
    erase_at(&storage, &prefix_of(&storage, path)?, options).await
}

async fn erase_at(storage: &Storage, prefix: &Prefix, options: &EraseOptions) -> HierarchyResult<()> {
    let erased = async {
        if prefix.is_root() && !options.root {
            let message =
                "erasing the root erases everything in the store; allow it with `EraseOptions::root`";
            return Err(HierarchyError::invalid(message));
        }
        match node::erase(storage, prefix, &options.writing).await? {
            true => Ok(()),
            false => Err(HierarchyError::not_found("there is no node; nothing was erased")),
        }
    };
    erased.await.map_err(|e| e.at(storage, &prefix.node_path()))
}

impl Group {
    /// Erases a node below this group, with everything below it.
    ///
    /// # Errors
    /// As [`erase`].
    #[doc(alias("delete", "remove"))]
    pub async fn erase(&self, path: &str) -> HierarchyResult<()> {
        let options = EraseOptions { root: false, writing: self.shared.options.writing.clone() };
        erase_at(&self.shared.storage, &self.child(path)?, &options).await
    }
}
