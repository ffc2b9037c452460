//! All nodes of a hierarchy, parents before children (checklist F.3).

use zarr_array::meta::MetaError;
use zarr_array::meta::path::{DOCUMENT, Listed, OLD_ARRAY, listed};
use zarr_array::meta::v3::NodeDocument;
use zarr_array::traits::{Key, Prefix, StoreError};
use zarr_array::{Diagnostic, Limits, Storage, block_on};

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
    Node(NodeDocument),
    /// The document is no valid metadata.
    Invalid(MetaError),
    /// The document or the list of children cannot be read.
    Unreadable(StoreError),
    /// A directory of a group that is no node, and why.
    NoNode(&'static str),
}

impl Visit {
    /// The path of the node: `/`, `/a/b`.
    pub(crate) fn path(&self) -> String {
        self.prefix.node_path()
    }
}

/// Visits the node at `start` and all below it; what is wrong with one does not keep from others.
pub(crate) fn walk(
    storage: &Storage,
    start: Prefix,
    visit: &mut dyn FnMut(Visit) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut stack = vec![(start, Vec::new())];
    while let Some((prefix, notes)) = stack.pop() {
        let visited = look(storage, prefix.clone(), notes);
        let is_group = matches!(visited.found, Found::Node(NodeDocument::Group(_)));
        visit(visited)?;
        if !is_group {
            continue;
        }
        match children(storage, &prefix) {
            Ok(children) => stack.extend(children.into_iter().rev()),
            Err(e) => visit(Visit { prefix, notes: Vec::new(), found: Found::Unreadable(e) })?,
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

/// Reads the document at `prefix`.
pub(crate) fn look(storage: &Storage, prefix: Prefix, mut notes: Vec<Diagnostic>) -> Visit {
    let found = document(storage, &prefix, &mut notes);
    Visit { prefix, notes, found }
}

fn document(storage: &Storage, prefix: &Prefix, notes: &mut Vec<Diagnostic>) -> Found {
    let get = |name| -> Result<_, StoreError> {
        let key: Key = prefix.key(name)?;
        block_on(storage.get(&key))
    };
    match get(DOCUMENT) {
        Err(e) => Found::Unreadable(e),
        Ok(Some(bytes)) => match NodeDocument::parse(&bytes, &Limits::default(), notes) {
            Ok(document) => Found::Node(document),
            Err(e) => Found::Invalid(e.with_node(prefix.node_path())),
        },
        Ok(None) => {
            let (old, what) = OLD_ARRAY;
            let is_old = matches!(get(old), Ok(Some(_)));
            Found::NoNode(if is_old { what } else { "there is no zarr.json, so this is no node" })
        }
    }
}
