//! The place of a new node: a path or a URL, in the hierarchy around it.

use std::fs;
use std::path::{Component, Path, PathBuf};

use zarr_array::meta::path::check_new_path;
use zarr_array::meta::{Format, MetaError};
use zarr_array::traits::Prefix;
use zarr_array::{Limits, Storage, block_on, node};
use zarr_store::{names_of, split_node};
use zarr_store_fs::FsStore;

use crate::args::around::{self, hierarchy, is_node};
use crate::args::stores::{Stores, directory_of, shown};
use crate::args::target::{Target, format_above};
use crate::exit::{Exit, Failure};

/// The place of a new node.
#[derive(Debug)]
pub(crate) struct Place {
    /// The name of the store in messages.
    pub(crate) store: PathBuf,
    /// The store, if it exists.
    url: Option<String>,
    /// The store, if it is there.
    there: Option<Storage>,
    /// The path in the store.
    pub(crate) path: String,
    /// The format that the URL asks for.
    pub(super) wanted: Option<Format>,
}

impl Place {
    /// Finds the place for a path. If the nearest existing directory is a node, the store is the hierarchy around it;
    /// otherwise the store begins at `given`.
    pub(crate) fn find(given: &Path, stores: &Stores) -> Result<Self, Failure> {
        if let Some(url) = stores.destination_url(given) {
            return Self::at(&around::url(&url, stores)?.unwrap_or_else(|| url.into_owned()), stores);
        }
        let here = Path::new("");
        let is_there = |path: &&Path| **path == *here || path.exists();
        let above = given.ancestors().find(is_there).unwrap_or(here);
        let rest = given.strip_prefix(above).unwrap_or(here);
        let mut names = Vec::new();
        for component in rest.components() {
            match component {
                Component::Normal(name) => {
                    names.push(name.to_str().ok_or_else(|| not_a_name(given))?.to_owned())
                }
                _ => return Err(not_a_name(given)),
            }
        }
        let above = if above == here { Path::new(".") } else { above };
        let (store, mut path) = hierarchy(above);
        let is_store = names.is_empty() || is_node(above);
        if !is_store && names.len() > 1 {
            let parent = given.parent().unwrap_or(given);
            let message = format!("there is no directory {parent:?}; `zarr create --group` creates a group");
            return Err(Failure::new(Exit::NotFound, message));
        }
        if !is_store {
            return Ok(Self::in_directory(given.to_owned(), "/".to_owned(), stores));
        }
        path.append(&mut names);
        let path = check_new_path(&format!("/{}", path.join("/")));
        let path = path.map_err(|e: MetaError| Failure::usage(format!("{e:#}")))?;
        Ok(Self::in_directory(store, path, stores))
    }

    fn in_directory(store: PathBuf, path: String, stores: &Stores) -> Self {
        let there = FsStore::open(&store).and_then(|opened| stores.directory(opened)).ok();
        Self { store, url: None, there, path, wanted: None }
    }

    /// Finds the place for a URL: the root of the store, or the node that the URL names.
    fn at(url: &str, stores: &Stores) -> Result<Self, Failure> {
        let (store, node, format) = split_node(url);
        let path = check_new_path(&node).map_err(|e| Failure::usage(format!("{e:#}")))?;
        let there = stores.open_if_there(url)?.map(|located| located.storage);
        if there.is_none() && names_of(url).iter().any(|name| name.eq_ignore_ascii_case("zip")) {
            let message =
                format!("{:?}: a new archive cannot be empty; `zarr copy` writes archives", shown(url));
            return Err(Failure::unsupported(message));
        }
        let wanted = format.and_then(Format::of);
        Ok(Self { store: shown(store), url: Some(url.to_owned()), there, path, wanted })
    }

    /// Whether a node exists there.
    pub(crate) fn is_node(&self) -> Result<bool, Failure> {
        let Some(storage) = &self.there else { return Ok(false) };
        Ok(block_on(node::documents(storage, &Prefix::of_node(&self.path)?, None, &Limits::default()))?
            .make_node())
    }

    /// Whether this is a place in the store of `target`.
    pub(crate) fn is_in_store_of(&self, target: &Target) -> bool {
        let url = self.url.as_deref().map(|url| split_node(url).0);
        let root = url.map_or_else(|| Some(self.store.clone()), directory_of);
        match (root, &target.root) {
            (Some(own), Some(other)) => {
                let both = (fs::canonicalize(own), fs::canonicalize(other));
                matches!(both, (Ok(own), Ok(other)) if own == other)
            }
            (None, None) => self.store == target.store,
            _ => false,
        }
    }

    /// Whether the store exists already.
    pub(super) fn has_store(&self) -> bool {
        self.there.is_some()
    }

    /// Returns the format of the nearest group above.
    pub(super) fn format(&self) -> Result<Option<Format>, Failure> {
        let Some(storage) = &self.there else { return Ok(None) };
        format_above(storage, &Prefix::of_node(&self.path)?)
    }

    /// Returns the store to write to; creates it if needed.
    pub(super) fn storage(&self, stores: &Stores) -> Result<Storage, Failure> {
        match (&self.there, &self.url) {
            (Some(storage), _) => Ok(storage.clone()),
            (None, Some(url)) => Ok(stores.create(url)?.storage),
            (None, None) => Ok(stores.directory(FsStore::create(&self.store)?)?),
        }
    }
}

fn not_a_name(given: &Path) -> Failure {
    Failure::usage(format!("{given:?} cannot be the path of a node"))
}
