//! The destination of a copy, and how the copy becomes a node when it is complete.

use std::path::{Path, PathBuf};
use std::time::Duration;

use zarr_array::meta::Format;
use zarr_array::{Storage, block_on};
use zarr_copy::{CopyDestination, CopyPlan, DestinationState};
use zarr_store::split_node;
use zarr_store_fs::FsStore;

use super::directory::{Directory, Hidden, Rules};
use super::path;
use super::url::Url;
use crate::args::around;
use crate::args::stores::{Stores, directory_of, shown};
use crate::args::target::Target;
use crate::exit::Failure;

/// A checked destination.
#[derive(Debug)]
pub(super) enum Place {
    Directory(Directory),
    Url(Url),
}

/// The growing copy. It has no metadata documents until it is published, so it is not a node.
#[derive(Debug)]
pub(super) struct Growing {
    /// The root of the storage is the root of the copy.
    storage: Storage,
    found: DestinationState,
    grows: Grows,
}

#[derive(Debug)]
enum Grows {
    /// In a hidden directory, which is renamed at the end.
    Hidden(Hidden),
    /// In its final place.
    There(CopyDestination),
    /// Not at all: it is complete.
    Nowhere,
}

/// Returns the name of a destination in the form of [`Target::identity`]. A destination that cannot be used has its
/// own name.
pub(crate) fn identity(given: &Path, stores: &Stores) -> String {
    let resolved =
        |path: &Path| path::resolved(path).unwrap_or_else(|_| path.to_owned()).display().to_string();
    let Some(url) = stores.url(given) else { return resolved(given) };
    match node_directory(&url) {
        Some(directory) => resolved(&directory),
        None => {
            let (store, node, _) = split_node(&url);
            format!("{}|zarr:{node}", shown(store).display())
        }
    }
}

/// Returns the directory of the node that a URL names, if its store is a directory.
fn node_directory(url: &str) -> Option<PathBuf> {
    let (store, node, _) = split_node(url);
    Some(directory_of(store)?.join(node.trim_matches('/')))
}

/// Deletes the hidden files that killed writers have left, if the destination is a directory. Other destinations have
/// none.
pub(super) fn sweep(given: &Path, stores: &Stores) -> Result<(), Failure> {
    let Some(directory) = node_directory(&url_of(given, stores)?) else { return Ok(()) };
    let swept = FsStore::open(&directory).and_then(|store| store.sweep(Duration::ZERO));
    swept.map(|_| ()).map_err(Failure::from)
}

/// Returns the URL of a destination that changes in its place, as a part of the hierarchy around it.
pub(crate) fn url_of(given: &Path, stores: &Stores) -> Result<String, Failure> {
    match stores.destination_url(given) {
        Some(url) if Directory::in_archive(&url).is_some() => {
            let reason = "an archive is written as a whole, by `zarr copy` without --join";
            Err(Failure::usage(format!("{:?}: {reason}", shown(given))))
        }
        Some(url) => Ok(around::url(&url, stores)?.unwrap_or_else(|| url.into_owned())),
        None => Ok(around::file_url(&path::resolved(given)?)),
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
                Directory::find(given, rules, source.as_deref(), stores).map(Self::Directory)
            }
        }
    }

    /// Checks a destination that several processes share, so that the copy grows in its place.
    pub(super) fn shared(given: &Path, stores: &Stores) -> Result<Self, Failure> {
        Url::find(&url_of(given, stores)?, false, true, stores).map(Self::Url)
    }

    /// Returns the storage of the destination, which is created if needed, and the node in it.
    pub(super) fn storage(self, stores: &Stores) -> Result<(Storage, String), Failure> {
        match self {
            Self::Url(url) => url.storage(stores),
            Self::Directory(_) => Err(Failure::usage("processes cannot share a hidden directory")),
        }
    }

    /// Returns the required format of the copy, with the reason.
    pub(super) fn format(&self) -> Option<(Format, &'static str)> {
        match self {
            Self::Directory(directory) => directory.format(),
            Self::Url(url) => url.format(),
        }
    }

    /// Prepares the place for the copy.
    pub(super) fn begin(self, plan: &CopyPlan, rules: Rules, stores: &Stores) -> Result<Growing, Failure> {
        let (storage, found, grows) = match self {
            Self::Directory(mut directory) => match directory.complete(plan, stores)? {
                Some(storage) => (storage, DestinationState::Complete, Grows::Nowhere),
                None => {
                    let (hidden, found) = directory.begin(&plan.marker(), rules.resume)?;
                    (hidden.storage(stores)?, found, Grows::Hidden(hidden))
                }
            },
            Self::Url(url) => {
                let (there, found) = url.begin(plan, stores)?;
                (there.storage(), found, Grows::There(there))
            }
        };
        Ok(Growing { storage, found, grows })
    }
}

impl Growing {
    /// Returns the storage whose root is the root of the copy.
    pub(super) fn storage(&self) -> &Storage {
        &self.storage
    }

    /// Returns what an earlier run has done.
    pub(super) fn found(&self) -> DestinationState {
        self.found
    }

    /// Whether an earlier run has finished the copy.
    pub(super) fn is_complete(&self) -> bool {
        self.found == DestinationState::Complete
    }

    /// Whether the copy stays when it fails, so that it can be resumed.
    pub(super) fn is_kept(&self) -> bool {
        match &self.grows {
            Grows::Hidden(hidden) => hidden.is_kept(),
            Grows::There(_) | Grows::Nowhere => true,
        }
    }

    /// Writes the documents of the nodes and publishes the copy.
    pub(super) fn publish(mut self, plan: &CopyPlan, stores: &Stores) -> Result<(), Failure> {
        let resumes = if self.is_kept() { "; `--resume` continues the copy" } else { "" };
        self.finish(plan, stores).map_err(|e| Failure::new(e.exit(), format!("{}{resumes}", e.message())))
    }

    fn finish(&mut self, plan: &CopyPlan, stores: &Stores) -> Result<(), Failure> {
        match &mut self.grows {
            Grows::Hidden(hidden) => {
                block_on(plan.write_documents(&self.storage, self.found))?;
                hidden.publish(plan, stores)
            }
            Grows::There(there) => Ok(block_on(there.publish(plan, self.found))?),
            Grows::Nowhere => Ok(()),
        }
    }
}
