//! A node and all nodes below it, for the verbs that work on hierarchies.

use std::iter;

use zarr_array::Diagnostic;
use zarr_array::meta::{Code, NodeMeta};
use zarr_array::traits::Prefix;
use zarr_hierarchy::blocking::Group;
use zarr_hierarchy::{Child, ChildState, HierarchyError, UseConsolidated};

use crate::exit::{Failure, say};
use crate::target::Target;

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

/// What was found at a path.
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

/// Visits the target node and all nodes below it, `levels` deep, parents before children. A broken node does not end
/// the walk. A group whose children cannot be listed is visited a second time. If the store cannot list, the nodes come
/// from consolidated metadata, with a note if `source` excludes it.
///
/// # Errors
/// If the target node is a group that cannot be opened.
pub(crate) fn walk(
    target: &Target,
    source: Source,
    levels: usize,
) -> Result<impl Iterator<Item = Visit>, Failure> {
    walk_known(target, source, levels).map(|(visits, _)| visits)
}

/// Like [`walk`], and returns the group if the nodes come from its consolidated metadata.
pub(crate) fn walk_known(
    target: &Target,
    source: Source,
    levels: usize,
) -> Result<(impl Iterator<Item = Visit>, Option<Group>), Failure> {
    let Visit { prefix, notes, found } = target.look()?;
    let source = if source.is_documents() && !target.lists() {
        say(
            "note: the store cannot list its objects, so the nodes are taken from consolidated metadata, and nodes that \
             it does not name are not looked for",
        );
        Source::default()
    } else {
        source
    };
    let (found, group) = match found {
        ChildState::Node(NodeMeta::Group(meta)) => {
            // Consolidated metadata may be long, and are read once more.
            drop(meta);
            let group = target.group(source)?;
            (ChildState::Node(group.metadata().clone().into()), Some(group))
        }
        found => (found, None),
    };
    let below = group.as_ref().map(|group| group.walk().levels(levels));
    let known = group.filter(Group::is_consolidated);
    Ok((
        iter::once(Visit { prefix, notes, found }).chain(below.into_iter().flatten().map(Visit::from)),
        known,
    ))
}

/// Returns the reports of paths in the consolidated metadata of a group that are odd, or name no node below the group.
pub(crate) fn odd_paths(group: &Group) -> impl Iterator<Item = &Diagnostic> {
    group.diagnostics().iter().filter(|note| note.code == Code::ConsolidatedKey)
}

/// Prints a note if there are [odd paths](odd_paths).
pub(crate) fn note_odd_paths(group: &Group) {
    let mut odd = odd_paths(group);
    if let Some(first) = odd.next() {
        let more = match odd.count() {
            0 => String::new(),
            more => format!("; {more} more: `zarr validate` lists them"),
        };
        say(&format!("note: the consolidated metadata has odd paths: {first}{more}"));
    }
}

/// Returns the message of `e` without the path of the node, for output that shows the path already.
pub(crate) fn reason(e: &HierarchyError, path: &str) -> String {
    let message = e.to_string();
    let named = ["node", "array"].map(|kind| format!("{kind} {path:?}: "));
    named.iter().find_map(|named| message.strip_prefix(named)).unwrap_or(&message).to_owned()
}
