//! The place of a new node, and the store that is there already.

use std::path::Path;

use zarr_array::meta::Format;
use zarr_array::{Limits, Storage, block_on, node};

use crate::args::place::Place;
use crate::args::stores::{Stores, shown};
use crate::args::target::format_above;
use crate::exit::{Exit, Failure};
use crate::verbs::copy::check_name;

/// The place of a new node.
#[derive(Debug)]
pub(super) struct New {
    pub(super) place: Place,
    /// The store, if it exists.
    there: Option<Storage>,
}

impl New {
    /// Finds the place. The directory of a new store is created, but none above it.
    pub(super) fn find(given: &Path, stores: &Stores) -> Result<Self, Failure> {
        let place = Place::new_node(given, stores)?;
        let above = given.parent().filter(|above| !above.as_os_str().is_empty());
        if let Some(above) =
            above.filter(|above| !above.exists() && place.url().is_none() && place.path == "/")
        {
            let group = shown(above).display().to_string();
            let group = if group.contains(' ') { format!("'{group}'") } else { group };
            let is_near =
                above.parent().is_none_or(|parent| parent.as_os_str().is_empty() || parent.exists());
            let help = match is_near {
                true => format!("`zarr create --group {group}` creates a group there"),
                false => format!("`mkdir -p {group}` makes it"),
            };
            let message = format!("there is no directory {above:?}; {help}");
            return Err(Failure::new(Exit::NotFound, message));
        }
        if place.path == "/" {
            check_name(given, stores)?;
        }
        let there = place.open_if_there(stores)?;
        if there.is_none() && place.is_in_archive() {
            let message =
                format!("{:?}: a new archive cannot be empty; `zarr copy` writes archives", shown(given));
            return Err(Failure::unsupported(message));
        }
        Ok(Self { place, there })
    }

    /// Whether a node exists there.
    pub(super) fn is_node(&self) -> Result<bool, Failure> {
        let Some(storage) = &self.there else { return Ok(false) };
        Ok(block_on(node::documents(storage, &self.place.prefix()?, None, &Limits::default()))?.make_node())
    }

    /// Whether the store exists already.
    pub(super) fn has_store(&self) -> bool {
        self.there.is_some()
    }

    /// Returns the format that the URL asks for, or that of the nearest group above.
    pub(super) fn format(&self) -> Result<Option<Format>, Failure> {
        match (self.place.format, &self.there) {
            (None, Some(storage)) => format_above(storage, &self.place.prefix()?),
            (asked, _) => Ok(asked),
        }
    }

    /// Returns the store to write to; creates it if needed.
    pub(super) fn storage(&self, stores: &Stores) -> Result<Storage, Failure> {
        self.there.as_ref().map_or_else(|| self.place.create(stores), |there| Ok(there.clone()))
    }
}
