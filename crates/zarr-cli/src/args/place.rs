//! `STORE[/path]`: where the argument of a verb is. Nothing needs to be there.
//!
//! A path is the directory of a node. The store is the hierarchy around it: it begins at the topmost directory that
//! is reached through directories that are nodes. So messages name a node by its path in the hierarchy, and keys are
//! those of the store.
//!
//! A URL names a store, and the node is its root; `|zarr:path` at the end names a node in the store. Only verbs that
//! change a node at a URL without this end look for the hierarchy around it.

use std::fs;
use std::path::{Component, Path, PathBuf};

use zarr_array::Storage;
use zarr_array::meta::Format;
use zarr_array::meta::path::check_new_path;
use zarr_array::traits::Prefix;
use zarr_store::{MemoryStore, names_of, split_adapters, split_node};

use crate::args::around::{self, hierarchy, is_node, resolved};
use crate::args::stores::{Stores, directory_of, shown};
use crate::exit::{Exit, Failure};

/// A store, and a node in it.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    /// The name of the store in messages: a path, or a URL without secrets.
    pub(crate) store: PathBuf,
    /// The path of the node in the store: `/`, `/a/b`.
    pub(crate) path: String,
    /// The directory of the store, if it has one.
    pub(crate) root: Option<PathBuf>,
    /// The format of the node, if it must be given: a URL may ask for one.
    pub(crate) format: Option<Format>,
    /// The URL of the node; `None` for a path.
    url: Option<String>,
}

impl Place {
    /// Returns the place as it is named: a directory as the root of a store, or what a URL names.
    pub(crate) fn exact(given: &Path, stores: &Stores) -> Self {
        stores.url(given).map_or_else(|| Self::in_directory(given, "/"), |url| Self::at(&url))
    }

    /// Returns the place for a verb that reads: a path in the hierarchy around it, or what a URL names.
    pub(crate) fn of(given: &Path, stores: &Stores) -> Self {
        stores.url(given).map_or_else(|| Self::in_hierarchy(given), |url| Self::at(&url))
    }

    /// Returns the place for a verb that changes a node: also at a URL in the hierarchy around it.
    pub(crate) fn to_change(given: &Path, stores: &Stores) -> Result<Self, Failure> {
        stores.url(given).map_or_else(|| Ok(Self::in_hierarchy(given)), |url| Self::around(&url, stores))
    }

    /// Returns the place of something that is made or changed, in the hierarchy around it. The groups above it need not
    /// exist.
    pub(crate) fn destination(given: &Path, stores: &Stores) -> Result<Self, Failure> {
        if let Some(url) = stores.destination_url(given) {
            return Self::around(&url, stores);
        }
        let here = Path::new("");
        let is_there = |path: &&Path| **path == *here || path.exists();
        let above = given.ancestors().find(is_there).unwrap_or(here);
        let name = |component| match component {
            Component::Normal(name) => name.to_str().map(str::to_owned),
            _ => None,
        };
        let rest = given.strip_prefix(above).unwrap_or(here).components().map(name);
        let rest = rest.collect::<Option<Vec<_>>>();
        let rest = rest.ok_or_else(|| Failure::usage(format!("{given:?} cannot be the path of a node")))?;
        let (root, mut names) = hierarchy(if above == here { Path::new(".") } else { above });
        names.extend(rest);
        Ok(match names.is_empty() || !is_node(&root) {
            true => Self::in_directory(given, "/"),
            false => Self::in_directory(&root, &format!("/{}", names.join("/"))),
        })
    }

    /// As [`destination`](Self::destination), behind all links of a path.
    pub(crate) fn behind_links(given: &Path, stores: &Stores) -> Result<Self, Failure> {
        match stores.destination_url(given) {
            Some(_) => Self::destination(given, stores),
            None => Self::destination(&resolved(given)?, stores),
        }
    }

    /// As [`destination`](Self::destination), for a new node. Its path must be one that every implementation reads.
    pub(crate) fn new_node(given: &Path, stores: &Stores) -> Result<Self, Failure> {
        let place = Self::destination(given, stores)?;
        let path = check_new_path(&place.path).map_err(|e| Failure::usage(format!("{e:#}")))?;
        Ok(Self { path, ..place })
    }

    fn at(url: &str) -> Self {
        let (store, path, format) = split_node(url);
        let (root, store) = (directory_of(store), shown(store));
        Self { store, path, root, format: format.and_then(Format::of), url: Some(url.to_owned()) }
    }

    fn around(url: &str, stores: &Stores) -> Result<Self, Failure> {
        Ok(around::url(url, stores)?.map_or_else(|| Self::at(url), |url| Self::at(&url)))
    }

    fn in_hierarchy(given: &Path) -> Self {
        let (store, names) = hierarchy(given);
        let path = format!("/{}", names.join("/"));
        // A name that cannot be part of a key: this node becomes the root of its own store.
        match Prefix::of_node(&path) {
            Ok(_) => Self::in_directory(&store, &path),
            Err(_) => Self::in_directory(given, "/"),
        }
    }

    /// Returns a node in the store of a directory.
    pub(crate) fn in_directory(store: &Path, path: &str) -> Self {
        let root = Some(store.to_owned());
        Self { store: store.to_owned(), path: path.to_owned(), root, format: None, url: None }
    }

    /// Returns the root of a storage that has no name, for tests.
    #[cfg(test)]
    pub(crate) fn unnamed() -> Self {
        Self { root: None, ..Self::in_directory(Path::new("memory"), "/") }
    }

    /// Returns the URL of the node; `None` for a path.
    pub(crate) fn url(&self) -> Option<&str> {
        self.url.as_deref()
    }

    /// Whether the store is an archive, which is written only as a whole.
    pub(crate) fn is_in_archive(&self) -> bool {
        self.url.iter().flat_map(|url| names_of(url)).any(|name| name.eq_ignore_ascii_case("zip"))
    }

    /// Returns the directory of the node, if it has one.
    pub(crate) fn directory(&self) -> Option<PathBuf> {
        let below = self.path.trim_matches('/');
        self.root.as_ref().map(|root| if below.is_empty() { root.clone() } else { root.join(below) })
    }

    /// The prefix of the node's keys.
    pub(crate) fn prefix(&self) -> Result<Prefix, Failure> {
        Prefix::of_node(&self.path).map_err(|e| self.fail(e))
    }

    /// Opens the store. Returns [`Exit::NotFound`] if it does not exist.
    pub(crate) fn open(&self, stores: &Stores) -> Result<Storage, Failure> {
        match &self.url {
            Some(url) => stores.open(url),
            None => stores.open_directory(&self.store),
        }
    }

    /// Opens the store. Returns `None` if it does not exist.
    pub(crate) fn open_if_there(&self, stores: &Stores) -> Result<Option<Storage>, Failure> {
        match self.open(stores) {
            Ok(storage) => Ok(Some(storage)),
            Err(e) if e.exit() == Exit::NotFound => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// Opens the store for writing, and creates it if needed.
    pub(crate) fn create(&self, stores: &Stores) -> Result<Storage, Failure> {
        match &self.url {
            Some(url) => stores.create(url),
            None => stores.create_directory(&self.store),
        }
    }

    /// Opens the store for writing, and creates it if needed. A dry run creates nothing: a missing store is empty.
    pub(crate) fn create_unless(&self, dry_run: bool, stores: &Stores) -> Result<Storage, Failure> {
        match dry_run {
            true => Ok(self.open_if_there(stores)?.unwrap_or_else(|| stores.traced(MemoryStore::new()))),
            false => self.create(stores),
        }
    }

    /// Returns a name that is the same for all paths and URLs of the node: a directory without links, or a URL without
    /// secrets.
    pub(crate) fn identity(&self) -> String {
        let real = |path: PathBuf| resolved(&path).unwrap_or(path);
        if let Some(directory) = self.directory() {
            return real(directory).display().to_string();
        }
        let store = self.store.to_string_lossy();
        let (root, adapters) = split_adapters(&store);
        let root = directory_of(root).map_or_else(|| root.into(), real);
        format!("{}{adapters}|zarr:{}", root.display(), self.path)
    }

    /// Whether both places are in the same store.
    pub(crate) fn is_in_store_of(&self, other: &Self) -> bool {
        match (&self.root, &other.root) {
            (Some(own), Some(other)) => {
                let both = (fs::canonicalize(own), fs::canonicalize(other));
                matches!(both, (Ok(own), Ok(other)) if own == other)
            }
            (None, None) => self.store == other.store,
            _ => false,
        }
    }

    /// Puts the store in front of an error.
    pub(crate) fn fail(&self, e: impl Into<Failure>) -> Failure {
        e.into().within(format_args!("store {:?}", self.store))
    }
}
