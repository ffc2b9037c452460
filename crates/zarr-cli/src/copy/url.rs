//! A copy to a URL grows in its final place, without metadata documents, because nothing can be renamed there.

use std::path::PathBuf;

use zarr_array::meta::Format;
use zarr_array::node::{self, Writing};
use zarr_array::traits::Prefix;
use zarr_array::{Limits, Storage, block_on};
use zarr_store::Located;
use zarr_store::Prefixed;
use zarr_store::split_node;

use super::marker::{self, Marker};
use super::place::{Found, is_complete, refresh};
use super::plan::Node;
use crate::exit::Failure;
use crate::stores::{Stores, shown};
use crate::target::format_above;

/// A checked destination.
#[derive(Debug)]
pub(super) struct Url {
    url: String,
    /// The store, if it exists.
    there: Option<Storage>,
    /// The URL without secrets, for messages.
    shown: PathBuf,
    /// The node in the store.
    root: Prefix,
    /// The format that the URL asks for, or that of the group above it.
    format: Option<(Format, &'static str)>,
    /// The marker of an existing unfinished copy.
    unfinished: Option<Vec<u8>>,
    /// Why the place cannot be used, unless it is this copy, complete. Only with `resume`.
    taken: Option<Failure>,
}

/// The place where the copy grows.
#[derive(Debug)]
pub(super) struct There {
    storage: Storage,
    root: Prefix,
}

impl Url {
    /// Checks the destination. It must be empty, or with `resume` hold an unfinished copy.
    pub(super) fn find(url: &str, replace: bool, resume: bool, stores: &Stores) -> Result<Self, Failure> {
        let shown = shown(url);
        let fail = |e: Failure| e.within(format_args!("{shown:?}"));
        let (_, node, format) = split_node(url);
        let root = Prefix::of_node(&node).map_err(|e| fail(Failure::usage(e.to_string())))?;
        let asked = format.and_then(Format::of).map(|f| (f, "asks for format"));
        let url = url.to_owned();
        let Some(Located { storage, .. }) = stores.open_if_there(&url)? else {
            return Ok(Self { url, there: None, shown, root, format: asked, unfinished: None, taken: None });
        };
        storage.check_writable().map_err(|e| fail(e.into()))?;
        let marker =
            block_on(storage.get(&marker::key(&root)?, marker::LARGEST)).map_err(|e| fail(e.into()))?;
        let mut taken = None;
        match &marker {
            Some(found) if !resume => {
                let of = Marker::source(found).unwrap_or_default();
                return Err(fail(Failure::usage(format!(
                    "an unfinished copy of {of:?} exists already; `--resume` continues it"
                ))));
            }
            None if is_taken(&storage, &root).map_err(fail)? => {
                let e = fail(Failure::usage(match (replace, resume) {
                    (true, _) => {
                        "the place is not empty, and only directories can be replaced: erase the node with `zarr rm`"
                    }
                    (_, true) => "the place is not empty, and it holds no unfinished copy",
                    _ => "the place is not empty",
                }));
                if replace || !resume {
                    return Err(e);
                }
                taken = Some(e);
            }
            _ => {}
        }
        let around = format_above(&storage, &root).map_err(fail)?;
        let format = asked.or(around.map(|format| (format, "lies in a group of format")));
        let unfinished = marker.map(Into::into);
        Ok(Self { url, there: Some(storage), shown, root, format, unfinished, taken })
    }

    pub(super) fn format(&self) -> Option<(Format, &'static str)> {
        self.format
    }

    /// Returns the storage of the copy if it is complete.
    ///
    /// # Errors
    /// If something else is there.
    pub(super) fn complete(&mut self, nodes: &[Node]) -> Result<Option<Storage>, Failure> {
        let (Some(taken), Some(storage)) = (self.taken.take(), &self.there) else { return Ok(None) };
        let there = There { storage: storage.clone(), root: self.root.clone() }.storage();
        if is_complete(&there, nodes)? { Ok(Some(there)) } else { Err(taken) }
    }

    /// Creates the groups above the copy and puts the marker, or compares the marker with the existing one.
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
                    "an unfinished copy of {of:?} exists, but of another source or with other options: it cannot be \
                     resumed with these"
                ))));
            }
            None => {
                let begun = async {
                    node::create_above(&storage, &self.root, format, &Writing::default()).await?;
                    node::put_new(&storage, &marker::key(&self.root)?, marker.text().to_owned()).await
                };
                if !block_on(begun).map_err(|e| fail(e.into()))? {
                    return Err(fail(Failure::usage("another writer has begun a copy there")));
                }
                Found::Nothing
            }
        };
        Ok((There { storage, root: self.root }, found))
    }
}

/// Whether there is an object below `root`. If the store cannot list, whether there is a node.
fn is_taken(storage: &Storage, root: &Prefix) -> Result<bool, Failure> {
    if storage.capabilities().list {
        return Ok(!block_on(storage.list(root, None))?.entries.is_empty());
    }
    Ok(block_on(node::documents(storage, root, None, &Limits::default()))?.make_node())
}

impl There {
    /// Returns the storage with the copy at its root.
    pub(super) fn storage(&self) -> Storage {
        if self.root.is_root() {
            return self.storage.clone();
        }
        Prefixed::over(&self.storage, self.root.clone()).made_of(&self.storage)
    }

    /// Updates the consolidated metadata above the copy, and deletes the marker last: until then the copy can be
    /// resumed.
    pub(super) fn publish(&self, nodes: &[Node], format: Format) -> Result<(), Failure> {
        refresh(&self.storage, &self.root, nodes, format)?;
        let marker = marker::key(&self.root)?;
        block_on(self.storage.delete(&marker))?;
        Ok(())
    }
}
