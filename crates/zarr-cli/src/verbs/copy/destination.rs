//! The destination of a copy, and how the copy becomes a node when it is complete.

use std::path::Path;
use std::time::Duration;

use zarr_array::meta::Format;
use zarr_array::{Storage, block_on};
use zarr_copy::{CopyDestination, CopyPlan, DestinationState};
use zarr_store_fs::FsStore;

use super::directory::{Directory, Hidden, Rules};
use super::url::Url;
use crate::args::place::Place;
use crate::args::stores::{Stores, shown};
use crate::args::target::Target;
use crate::exit::Failure;

/// A checked destination.
#[derive(Debug)]
pub(super) enum Destination {
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

/// Deletes the hidden files that killed writers have left, if the destination is a directory. Other destinations have
/// none.
pub(super) fn sweep(place: &Place) -> Result<(), Failure> {
    let Some(directory) = place.directory() else { return Ok(()) };
    let swept = FsStore::open(&directory).and_then(|store| store.sweep(Duration::ZERO));
    swept.map(|_| ()).map_err(Failure::from)
}

/// Returns the place of a destination that changes in its place.
pub(crate) fn shared(given: &Path, stores: &Stores) -> Result<Place, Failure> {
    let place = Place::behind_links(given, stores)?;
    if place.url().is_some_and(|url| Directory::in_archive(url).is_some()) {
        let reason = "an archive is written as a whole, by `zarr copy` without --join";
        return Err(Failure::usage(format!("{:?}: {reason}", shown(given))));
    }
    Ok(place)
}

impl Destination {
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
                    let place = Place::destination(given, stores)?;
                    Url::find(place, rules.replace, rules.resume, stores).map(Self::Url)
                }
            },
            None => {
                let source = source.directory();
                Directory::find(given, rules, source.as_deref(), stores).map(Self::Directory)
            }
        }
    }

    /// Checks a destination that several processes share, so that the copy grows in its place.
    pub(super) fn shared(place: Place, stores: &Stores) -> Result<Self, Failure> {
        Url::find(place, false, true, stores).map(Self::Url)
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
