//! A copy to where a URL says: there is nothing to be renamed, so that it grows in its place, without documents.

use std::path::PathBuf;

use zarr_array::meta::Format;
use zarr_array::node::{self, Writing};
use zarr_array::traits::Prefix;
use zarr_array::{Limits, Storage, block_on};
use zarr_store::Located;
use zarr_store::Prefixed;
use zarr_store::split_node;

use super::marker::{self, Marker};
use super::place::{Found, refresh};
use super::plan::Node;
use crate::exit::Failure;
use crate::stores::{Stores, shown};
use crate::target::format_above;

/// A destination that may be written.
#[derive(Debug)]
pub(super) struct Url {
    url: String,
    /// The store, if it is there.
    there: Option<Storage>,
    /// The whole of it, as it is named in messages.
    shown: PathBuf,
    /// The node in the store.
    root: Prefix,
    /// The format that the URL asks for, or that of the group around it.
    format: Option<(Format, &'static str)>,
    /// The marker of an unfinished copy that is there.
    unfinished: Option<Vec<u8>>,
}

/// The place where the copy grows.
#[derive(Debug)]
pub(super) struct There {
    storage: Storage,
    root: Prefix,
}

impl Url {
    /// Checks the destination: nothing may be there but an unfinished copy, if that is to be resumed.
    pub(super) fn find(url: &str, replace: bool, resume: bool, stores: &Stores) -> Result<Self, Failure> {
        let shown = shown(url);
        let fail = |e: Failure| e.within(format_args!("{shown:?}"));
        let (_, node, format) = split_node(url);
        let root = Prefix::of_node(&node).map_err(|e| fail(Failure::usage(e.to_string())))?;
        let asked = format.and_then(Format::of).map(|f| (f, "asks for format"));
        let url = url.to_owned();
        let Some(Located { storage, .. }) = stores.open_if_there(&url)? else {
            return Ok(Self { url, there: None, shown, root, format: asked, unfinished: None });
        };
        storage.check_writable().map_err(|e| fail(e.into()))?;
        let marker =
            block_on(storage.get(&marker::key(&root)?, marker::LARGEST)).map_err(|e| fail(e.into()))?;
        match &marker {
            Some(found) if !resume => {
                let of = Marker::source(found).unwrap_or_default();
                return Err(fail(Failure::usage(format!(
                    "there is an unfinished copy of {of:?} already; `--resume` continues it"
                ))));
            }
            None if is_taken(&storage, &root).map_err(fail)? => {
                return Err(fail(Failure::usage(match (replace, resume) {
                    (true, _) => {
                        "there is something already, and only directories are replaced: `zarr rm` erases nodes"
                    }
                    (_, true) => "there is something already, which is no unfinished copy",
                    _ => "there is something already",
                })));
            }
            _ => {}
        }
        let around = format_above(&storage, &root).map_err(fail)?;
        let format = asked.or(around.map(|format| (format, "lies in a group of format")));
        Ok(Self { url, there: Some(storage), shown, root, format, unfinished: marker.map(Into::into) })
    }

    pub(super) fn format(&self) -> Option<(Format, &'static str)> {
        self.format
    }

    /// Puts the marker, after the groups above the copy, or compares it with the one that is there.
    pub(super) fn begin(
        self,
        marker: &Marker,
        format: Format,
        stores: &Stores,
    ) -> Result<(There, Found), Failure> {
        let fail = |e: Failure| e.within(format_args!("{:?}", self.shown));
        let storage = match self.there {
            Some(storage) => storage,
            None => stores.create(&self.url)?.storage,
        };
        let found = match &self.unfinished {
            Some(found) if found == marker.text().as_bytes() => Found::Unfinished,
            Some(found) => {
                let of = Marker::source(found).unwrap_or_default();
                return Err(fail(Failure::usage(format!(
                    "there is an unfinished copy of {of:?}, and that was another source or made with other options: it \
                     cannot be resumed with these"
                ))));
            }
            None => {
                let begun = async {
                    node::create_above(&storage, &self.root, format, &Writing::default()).await?;
                    node::put_new(&storage, &marker::key(&self.root)?, marker.text().to_owned()).await
                };
                if !block_on(begun).map_err(|e| fail(e.into()))? {
                    return Err(fail(Failure::usage("somebody else has begun a copy there")));
                }
                Found::Nothing
            }
        };
        Ok((There { storage, root: self.root }, found))
    }
}

/// Whether there is an object below `root`; of a store that cannot list, whether there is a node.
fn is_taken(storage: &Storage, root: &Prefix) -> Result<bool, Failure> {
    if storage.capabilities().list {
        return Ok(!block_on(storage.list(root, None))?.entries.is_empty());
    }
    Ok(block_on(node::documents(storage, root, None, &Limits::default()))?.make_node())
}

impl There {
    /// The storage whose root is the copy's.
    pub(super) fn storage(&self) -> Storage {
        if self.root.is_root() {
            return self.storage.clone();
        }
        Prefixed::over(&self.storage, self.root.clone()).made_of(&self.storage)
    }

    /// Tells consolidated metadata above the copy of the nodes that are there now, and takes the marker away: as long as
    /// there is something to be done the copy can be resumed.
    pub(super) fn publish(&self, nodes: &[Node], format: Format) -> Result<(), Failure> {
        refresh(&self.storage, &self.root, nodes, format)?;
        let marker = marker::key(&self.root)?;
        block_on(self.storage.delete(&marker))?;
        Ok(())
    }
}
