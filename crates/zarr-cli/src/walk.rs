//! A node and all nodes below it, for the verbs that work on hierarchies.

use std::iter;

use zarr_array::Diagnostic;
use zarr_array::meta::{Code, NodeMeta};
use zarr_hierarchy::blocking::Group;
use zarr_hierarchy::{ChildState, HierarchyError};

use crate::args::target::{Children, Target};
use crate::exit::{Failure, say};
use crate::visit::{Source, Visit};

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
    let is_unlisted = source.is_documents() && !target.lists();
    let source = if is_unlisted { Source::default() } else { source };
    let (found, group) = match found {
        ChildState::Node(NodeMeta::Group(meta)) => {
            // Consolidated metadata may be long, and are read once more.
            drop(meta);
            let (group, origin) = target.find_group(source)?.ok_or_else(|| target.unlisted(source))?;
            if is_unlisted && origin == Children::Consolidated {
                target.note(
                    "the store cannot list its objects, so the nodes are taken from consolidated metadata, and nodes that \
                     it does not name are not looked for",
                );
            }
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
    let message = format!("{e:#}");
    let named = ["node", "array"].map(|kind| format!("{kind} {path:?}: "));
    named.iter().find_map(|named| message.strip_prefix(named)).unwrap_or(&message).to_owned()
}
