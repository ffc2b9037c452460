//! The node or problem at a path, and the paths where the verbs look for nodes.

use zarr_array::Diagnostic;
use zarr_array::traits::Prefix;
use zarr_hierarchy::{Child, ChildState, UseConsolidated};

/// Where the verbs that list nodes look for them.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub(crate) struct Source {
    /// Read the documents of all nodes and ignore consolidated metadata. By default consolidated metadata is trusted;
    /// if it is stale, it hides nodes or shows them as they were.
    #[arg(long)]
    no_consolidated: bool,
}

impl Source {
    /// Reads the documents and ignores consolidated metadata.
    pub(crate) const DOCUMENTS: Self = Self { no_consolidated: true };

    pub(crate) fn is_documents(self) -> bool {
        self.no_consolidated
    }

    pub(crate) fn use_consolidated(self) -> UseConsolidated {
        if self.no_consolidated { UseConsolidated::Ignore } else { UseConsolidated::IfPresent }
    }
}

/// The node or problem that was found at a path.
#[derive(Debug)]
pub(crate) struct Visit {
    pub(crate) prefix: Prefix,
    /// The tolerated deviations: first those of the name, then those of the document.
    pub(crate) notes: Vec<Diagnostic>,
    pub(crate) found: ChildState,
}

/// The message for a folder without a document.
pub(crate) const NO_NODE: &str = "there is no metadata document, so this is not a node";

impl Visit {
    /// The path of the node: `/`, `/a/b`.
    pub(crate) fn path(&self) -> String {
        self.prefix.node_path()
    }
}

impl From<Child> for Visit {
    fn from(child: Child) -> Self {
        let (prefix, notes) = (child.prefix().clone(), child.diagnostics().to_vec());
        Self { prefix, notes, found: child.into_found() }
    }
}
