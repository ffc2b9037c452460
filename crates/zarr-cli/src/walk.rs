//! All nodes of a hierarchy, parents before children (checklist F.3).

use zarr_array::meta::path::{Listed, listed};
use zarr_array::meta::{Format, MetaError, NodeMeta};
use zarr_array::traits::{Prefix, StoreError};
use zarr_array::{ArrayError, Diagnostic, Limits, Storage, block_on, node};

use crate::exit::Failure;

/// What is at a path.
#[derive(Debug)]
pub(crate) struct Visit {
    pub(crate) prefix: Prefix,
    /// What was tolerated: in the name, then in the document.
    pub(crate) notes: Vec<Diagnostic>,
    pub(crate) found: Found,
}

#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one at a time")]
pub(crate) enum Found {
    Node(NodeMeta),
    /// The document is no valid metadata.
    Invalid(MetaError),
    /// The document or the list of children cannot be read.
    Unreadable(ArrayError),
    /// A directory of a group that is no node, and why.
    NoNode(&'static str),
}

impl Visit {
    /// The path of the node: `/`, `/a/b`.
    pub(crate) fn path(&self) -> String {
        self.prefix.node_path()
    }
}

/// Visits the node at `start`, of a format that may have to be named, and all below it; what is wrong with one does not
/// keep from others.
pub(crate) fn walk(
    storage: &Storage,
    start: Prefix,
    format: Option<Format>,
    visit: &mut dyn FnMut(Visit) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut stack = vec![(start, Vec::new())];
    let mut format = format;
    while let Some((prefix, mut notes)) = stack.pop() {
        let found = look_for(storage, &prefix, format.take(), &mut notes);
        let visited = Visit { prefix: prefix.clone(), notes, found };
        let is_group = matches!(visited.found, Found::Node(NodeMeta::Group(_)));
        visit(visited)?;
        if !is_group {
            continue;
        }
        match children(storage, &prefix) {
            Ok(children) => stack.extend(children.into_iter().rev()),
            Err(e) => visit(Visit { prefix, notes: Vec::new(), found: Found::Unreadable(e.into()) })?,
        }
    }
    Ok(())
}

/// What may be nodes directly below a group, in order, with what is odd about their names.
pub(crate) fn children(
    storage: &Storage,
    group: &Prefix,
) -> Result<Vec<(Prefix, Vec<Diagnostic>)>, StoreError> {
    let prefixes = block_on(storage.lister()?.list_dir(group))?.prefixes;
    let judged = prefixes.into_iter().filter_map(|prefix| {
        let name = prefix.as_str().strip_prefix(group.as_str()).unwrap_or_default();
        match listed(name.strip_suffix('/').unwrap_or(name)) {
            Listed::Node => Some((prefix, Vec::new())),
            Listed::Odd(note) => Some((prefix, vec![note])),
            Listed::Never => None,
        }
    });
    Ok(judged.collect())
}

/// Reads the documents at `prefix`.
pub(crate) fn look(storage: &Storage, prefix: Prefix, mut notes: Vec<Diagnostic>) -> Visit {
    let found = look_for(storage, &prefix, None, &mut notes);
    Visit { prefix, notes, found }
}

/// What is at `prefix`, of any format but the first, unless that is asked for.
pub(crate) fn look_for(
    storage: &Storage,
    prefix: &Prefix,
    format: Option<Format>,
    notes: &mut Vec<Diagnostic>,
) -> Found {
    let documents = match block_on(node::documents(storage, prefix, format)) {
        Ok(documents) => documents,
        Err(e) => return Found::Unreadable(e),
    };
    match NodeMeta::parse(&documents, &Limits::default(), notes) {
        Ok(Some(node)) => Found::Node(node),
        Ok(None) => Found::NoNode("there is no zarr.json, so this is no node"),
        Err(e) => Found::Invalid(e.with_node(prefix.node_path())),
    }
}
