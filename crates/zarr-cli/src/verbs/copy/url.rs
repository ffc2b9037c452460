//! A copy to a URL grows in its final place, without metadata documents, because nothing can be renamed there.

use zarr_array::meta::Format;
use zarr_array::traits::Prefix;
use zarr_array::{Storage, block_on};
use zarr_copy::{CopyDestination, CopyPlan, DestinationState};

use crate::args::place::Place;
use crate::args::stores::{Stores, shown};
use crate::exit::Failure;

/// A checked destination.
#[derive(Debug)]
pub(super) struct Url {
    place: Place,
    /// The store, if it exists.
    there: Option<CopyDestination>,
    /// The node in the store.
    root: Prefix,
    /// The format that the URL asks for, or that of the group above it.
    format: Option<(Format, &'static str)>,
}

impl Url {
    /// Checks the destination. It must be empty, or with `resume` hold an unfinished copy or this copy, complete.
    pub(super) fn find(place: Place, replace: bool, resume: bool, stores: &Stores) -> Result<Self, Failure> {
        let fail = |e: Failure| within(&place, e);
        let root = Prefix::of_node(&place.path).map_err(|e| fail(Failure::usage(format!("{e:#}"))))?;
        let asked = place.format.map(|format| (format, "asks for format"));
        let Some(storage) = place.open_if_there(stores)? else {
            return Ok(Self { place, there: None, root, format: asked });
        };
        let there = block_on(CopyDestination::find(storage, root.clone())).map_err(|e| fail(e.into()))?;
        if replace && there.is_taken() {
            return Err(fail(Failure::usage(
                "the place is not empty, and only directories can be replaced: erase the node with `zarr rm`",
            )));
        }
        there.check(resume).map_err(|e| fail(e.into()))?;
        let around = block_on(there.format_above()).map_err(|e| fail(e.into()))?;
        let format = asked.or(around.map(|format| (format, "lies in a group of format")));
        Ok(Self { place, there: Some(there), root, format })
    }

    pub(super) fn format(&self) -> Option<(Format, &'static str)> {
        self.format
    }

    /// Creates the store if needed. Returns it with the node of the copy.
    pub(super) fn storage(self, stores: &Stores) -> Result<(Storage, String), Failure> {
        Ok((self.place.create(stores)?, self.root.node_path()))
    }

    /// Creates the store and the groups above the copy, and puts the marker, or compares what is there with the copy.
    pub(super) fn begin(
        self,
        plan: &CopyPlan,
        stores: &Stores,
    ) -> Result<(CopyDestination, DestinationState), Failure> {
        let Self { place, there, root, .. } = self;
        let begun = match there {
            Some(there) => Ok(there),
            None => block_on(CopyDestination::find(place.create(stores)?, root)),
        };
        let begun = begun.and_then(|there| {
            let found = block_on(there.begin(plan))?;
            Ok((there, found))
        });
        begun.map_err(|e| within(&place, e.into()))
    }
}

/// Puts the destination in front of an error.
fn within(place: &Place, e: Failure) -> Failure {
    match place.url() {
        Some(url) => e.within(format_args!("{:?}", shown(url))),
        None => place.fail(e),
    }
}
