//! The destination of a copy, and how the copy becomes a node when it is complete.

use std::path::Path;

use zarr_array::meta::Format;
use zarr_array::node::{self, Writing};
use zarr_array::traits::Prefix;
use zarr_array::{Limits, Storage, block_on};
use zarr_hierarchy::blocking::Group;
use zarr_hierarchy::{GroupOptions, UnresolvedArrays, UseConsolidated};
use zarr_store::{Prefixed, split_node};

use super::directory::{self, Directory, Hidden};
use super::document;
use super::marker::Marker;
use super::plan::Node;
use super::url::{There, Url};
use crate::around;
use crate::exit::Failure;
use crate::stores::{Stores, directory_of, shown};
use crate::target::{Target, registry};

/// A checked destination.
#[derive(Debug)]
pub(super) enum Place {
    Directory(Directory),
    Url(Url),
}

/// What may be done with something that exists at the destination.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules {
    pub(super) replace: bool,
    pub(super) resume: bool,
}

/// What was found at the destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    Nothing,
    Unfinished,
    /// The same copy, finished by an earlier run.
    Complete,
}

/// The growing copy. It has no metadata documents until it is published, so it is not a node.
#[derive(Debug)]
pub(super) struct Growing {
    /// The root of the storage is the root of the copy.
    storage: Storage,
    found: Found,
    format: Format,
    grows: Grows,
}

#[derive(Debug)]
enum Grows {
    /// In a hidden directory, which is renamed at the end.
    Hidden(Hidden),
    /// In its final place.
    There(There),
    /// Not at all: it is complete.
    Nowhere,
}

/// Returns the name of a destination in the form of [`Target::identity`]. A destination that cannot be used has its
/// own name.
pub(super) fn identity(given: &Path, stores: &Stores) -> String {
    let resolved =
        |path: &Path| directory::resolved(path).unwrap_or_else(|_| path.to_owned()).display().to_string();
    let Some(url) = stores.url(given) else { return resolved(given) };
    let (store, node, _) = split_node(&url);
    match directory_of(store) {
        Some(directory) => resolved(&directory.join(node.trim_matches('/'))),
        None => format!("{}|zarr:{node}", shown(store).display()),
    }
}

impl Place {
    /// Checks the destination.
    pub(super) fn find(
        given: &Path,
        rules: Rules,
        source: &Target,
        stores: &Stores,
    ) -> Result<Self, Failure> {
        match stores.destination_url(given) {
            Some(url) => match Directory::in_archive(&url) {
                Some(found) => found.map(Self::Directory),
                None => {
                    let url = around::url(&url, stores)?.unwrap_or_else(|| url.into_owned());
                    Url::find(&url, rules.replace, rules.resume, stores).map(Self::Url)
                }
            },
            None => {
                let source = source.directory();
                Directory::find(given, rules, source.as_deref()).map(Self::Directory)
            }
        }
    }

    /// Returns the required format of the copy, with the reason.
    pub(super) fn format(&self) -> Option<(Format, &'static str)> {
        match self {
            Self::Directory(directory) => directory.format(),
            Self::Url(url) => url.format(),
        }
    }

    /// Prepares the place for the copy of these nodes.
    pub(super) fn begin(
        self,
        source: &Target,
        nodes: &[Node],
        rules: Rules,
        stores: &Stores,
    ) -> Result<Growing, Failure> {
        let marker = Marker::of(source, nodes);
        let format = nodes.first().map_or(Format::V3, Node::format);
        let (storage, found, grows) = match self {
            Self::Directory(mut directory) => match directory.complete(nodes, stores)? {
                Some(storage) => (storage, Found::Complete, Grows::Nowhere),
                None => {
                    let (hidden, found) = directory.begin(&marker, rules.resume)?;
                    (hidden.storage(stores)?, found, Grows::Hidden(hidden))
                }
            },
            Self::Url(mut url) => match url.complete(nodes)? {
                Some(storage) => (storage, Found::Complete, Grows::Nowhere),
                None => {
                    let (there, found) = url.begin(&marker, format, stores)?;
                    (there.storage(), found, Grows::There(there))
                }
            },
        };
        Ok(Growing { storage, found, format, grows })
    }
}

impl Growing {
    /// Returns the storage whose root is the node `below` the root of the copy.
    pub(super) fn storage(&self, below: &Prefix) -> Storage {
        if below.is_root() {
            return self.storage.clone();
        }
        Prefixed::over(&self.storage, below.clone()).made_of(&self.storage)
    }

    /// Whether an earlier run may have put some objects.
    pub(super) fn is_resumed(&self) -> bool {
        self.found == Found::Unfinished
    }

    /// Whether an earlier run has finished the copy.
    pub(super) fn is_complete(&self) -> bool {
        self.found == Found::Complete
    }

    /// Whether the copy stays when it fails, so that it can be resumed.
    pub(super) fn is_kept(&self) -> bool {
        match &self.grows {
            Grows::Hidden(hidden) => hidden.is_kept(),
            Grows::There(_) | Grows::Nowhere => true,
        }
    }

    /// Writes the documents of the nodes and publishes the copy. `nodes` has parents before children.
    pub(super) fn publish(mut self, nodes: &[Node], stores: &Stores) -> Result<(), Failure> {
        let resumes = if self.is_kept() { "; `--resume` continues the copy" } else { "" };
        self.finish(nodes, stores).map_err(|e| Failure::new(e.exit(), format!("{}{resumes}", e.message())))
    }

    fn finish(&mut self, nodes: &[Node], stores: &Stores) -> Result<(), Failure> {
        // In its final place, the copy must be durable before it becomes a node.
        if matches!(self.grows, Grows::There(_)) {
            self.sync()?;
        }
        // Children before parents.
        for node in nodes.iter().rev() {
            let storage = self.storage(&node.below);
            let written = document::put(&storage, node.documents(), self.is_resumed())
                .and_then(|()| if node.consolidated { consolidate(storage) } else { Ok(()) });
            written.map_err(|e| e.within(format_args!("copy of node {:?}", node.path)))?;
        }
        if matches!(self.grows, Grows::There(_)) {
            self.sync()?;
        }
        match &mut self.grows {
            Grows::Hidden(hidden) => hidden.publish(nodes, stores),
            Grows::There(there) => there.publish(nodes, self.format),
            Grows::Nowhere => Ok(()),
        }
    }

    fn sync(&self) -> Result<(), Failure> {
        Ok(block_on(self.storage.sync())?)
    }
}

/// Whether the store has exactly the documents of these nodes, so that the copy of them is complete. Chunks are not
/// compared.
pub(super) fn is_complete(storage: &Storage, nodes: &[Node]) -> Result<bool, Failure> {
    for node in nodes {
        for (name, text) in node.documents() {
            let key = node.below.key(name.as_str())?;
            let there = block_on(storage.get(&key, Limits::default().metadata_bytes))?;
            let same = match (&there, &text) {
                (Some(there), Some(text)) => document::same(there, text.as_bytes(), node.consolidated),
                (there, text) => there.is_none() && text.is_none(),
            };
            if !same {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Writes consolidated metadata for the group at the root of a storage, including unresolved arrays.
fn consolidate(storage: Storage) -> Result<(), Failure> {
    let options = GroupOptions::new().use_consolidated(UseConsolidated::Ignore);
    let mut group = Group::open_with(storage, "/", &registry(), &options)?;
    group.consolidate_with(UnresolvedArrays::Include)?;
    Ok(())
}

/// Updates the consolidated metadata above `root` with the nodes of the copy.
pub(super) fn refresh(
    storage: &Storage,
    root: &Prefix,
    nodes: &[Node],
    format: Format,
) -> Result<(), Failure> {
    let copied = nodes.iter().map(|node| Prefix::new(format!("{root}{}", node.below)));
    // Groups above may be new as well.
    let touched = node::above(root).into_iter().map(Ok).chain(copied).collect::<Result<Vec<_>, _>>()?;
    Ok(block_on(node::refresh(storage, root, &touched, format, &Writing::default()))?)
}
