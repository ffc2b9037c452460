//! A node and all below it, as the verbs about hierarchies meet them (checklist F.3).

use std::iter;

use zarr_array::Diagnostic;
use zarr_array::meta::NodeMeta;
use zarr_array::traits::Prefix;
use zarr_hierarchy::{Child, Found, HierarchyError, UseConsolidated};

use crate::exit::{Failure, say};
use crate::target::Target;

/// Where the verbs that list nodes find them.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub(crate) struct Source {
    /// Read the documents of all nodes, also of a group with consolidated metadata. That is trusted otherwise; when it is
    /// stale it hides nodes, or shows what they were.
    #[arg(long)]
    no_consolidated: bool,
}

impl Source {
    /// The documents themselves.
    pub(crate) const DOCUMENTS: Self = Self { no_consolidated: true };

    pub(crate) fn is_documents(self) -> bool {
        self.no_consolidated
    }

    pub(crate) fn use_consolidated(self) -> UseConsolidated {
        if self.no_consolidated { UseConsolidated::Ignore } else { UseConsolidated::IfPresent }
    }
}

/// What is at a path.
#[derive(Debug)]
pub(crate) struct Visit {
    pub(crate) prefix: Prefix,
    /// What was tolerated: in the name, then in the document.
    pub(crate) notes: Vec<Diagnostic>,
    pub(crate) found: Found,
}

/// What a folder without a document is.
pub(crate) const NO_NODE: &str = "there is no document, so this is no node";

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

/// Visits the node that is meant and all below it, so many levels deep, parents before children. What is wrong with one does
/// not keep from others; a group whose children cannot be listed comes a second time. Where a store cannot list, consolidated
/// metadata says what is in it, with a note if it was not to be asked.
///
/// # Errors
/// When the node that is meant is a group that cannot be opened.
pub(crate) fn walk(
    target: &Target,
    source: Source,
    levels: usize,
) -> Result<impl Iterator<Item = Visit>, Failure> {
    let start = target.look()?;
    let source = if source.is_documents() && !target.lists() {
        say("note: the store cannot list what is in it; nodes are those that consolidated metadata names");
        Source::default()
    } else {
        source
    };
    let below = match &start.found {
        Found::Node(NodeMeta::Group(_)) => Some(target.group(source)?.walk().levels(levels)),
        _ => None,
    };
    Ok(iter::once(start).chain(below.into_iter().flatten().map(Visit::from)))
}

/// What is wrong with the node at a path, for a place where that path stands already.
pub(crate) fn reason(e: &HierarchyError, path: &str) -> String {
    let message = e.to_string();
    let named = ["node", "array"].map(|kind| format!("{kind} {path:?}: "));
    named.iter().find_map(|named| message.strip_prefix(named)).unwrap_or(&message).to_owned()
}
