//! A copy to a URL grows in its final place, without metadata documents, because nothing can be renamed there.

use std::path::PathBuf;

use zarr_array::meta::Format;
use zarr_array::traits::Prefix;
use zarr_array::{Storage, block_on};
use zarr_copy::{CopyDestination, CopyPlan, DestinationState};
use zarr_store::Located;
use zarr_store::split_node;

use crate::args::stores::{Stores, shown};
use crate::exit::Failure;

/// A checked destination.
#[derive(Debug)]
pub(super) struct Url {
    url: String,
    /// The place, if the store exists.
    there: Option<CopyDestination>,
    /// The URL without secrets, for messages.
    shown: PathBuf,
    /// The node in the store.
    root: Prefix,
    /// The format that the URL asks for, or that of the group above it.
    format: Option<(Format, &'static str)>,
}

impl Url {
    /// Checks the destination. It must be empty, or with `resume` hold an unfinished copy or this copy, complete.
    pub(super) fn find(url: &str, replace: bool, resume: bool, stores: &Stores) -> Result<Self, Failure> {
        let shown = shown(url);
        let fail = |e: Failure| e.within(format_args!("{shown:?}"));
        let (_, node, format) = split_node(url);
        let root = Prefix::of_node(&node).map_err(|e| fail(Failure::usage(format!("{e:#}"))))?;
        let asked = format.and_then(Format::of).map(|f| (f, "asks for format"));
        let url = url.to_owned();
        let Some(Located { storage, .. }) = stores.open_if_there(&url)? else {
            return Ok(Self { url, there: None, shown, root, format: asked });
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
        Ok(Self { url, there: Some(there), shown, root, format })
    }

    pub(super) fn format(&self) -> Option<(Format, &'static str)> {
        self.format
    }

    /// Creates the store if needed. Returns it with the node of the copy.
    pub(super) fn storage(self, stores: &Stores) -> Result<(Storage, String), Failure> {
        let node = self.root.node_path();
        Ok((stores.create(&self.url)?.storage, node))
    }

    /// Creates the store and the groups above the copy, and puts the marker, or compares what is there with the copy.
    pub(super) fn begin(
        self,
        plan: &CopyPlan,
        stores: &Stores,
    ) -> Result<(CopyDestination, DestinationState), Failure> {
        let Self { url, there, shown, root, .. } = self;
        let begun = match there {
            Some(there) => Ok(there),
            None => block_on(CopyDestination::find(stores.create(&url)?.storage, root)),
        };
        let begun = begun.and_then(|there| {
            let found = block_on(there.begin(plan))?;
            Ok((there, found))
        });
        begun.map_err(|e| Failure::from(e).within(format_args!("{shown:?}")))
    }
}
