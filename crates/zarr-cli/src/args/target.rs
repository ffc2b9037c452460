//! The node that the user named.

use std::fs;
use std::io::{self, Read};
use std::ops::Deref;
use std::path::Path;
use std::sync::Once;

use zarr_array::blocking::Array;
use zarr_array::meta::{DocumentName, Documents, Format, Ignore, NodeMeta};
use zarr_array::traits::Prefix;
use zarr_array::{
    ArrayError, ArrayErrorKind, ArrayMeta, ArrayResult, Diagnostic, Limits, OpenOptions, Registry, Storage,
    block_on, node,
};
use zarr_copy::marker;
use zarr_hierarchy::blocking::Group;
use zarr_hierarchy::{ChildState, Formats, GroupOptions, HierarchyResult, UseConsolidated};

use crate::args::around::{has_document, is_node};
use crate::args::foreign;
use crate::args::named;
use crate::args::place::Place;
use crate::args::similar::did_you_mean;
use crate::args::stores::Stores;
use crate::exit::{Exit, Failure, say};
use crate::visit::{Source, Visit};

/// The largest number of nodes that a message names.
const NAMED: usize = 5;

/// A node that exists, and its place.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    place: Place,
    pub(crate) storage: Storage,
    /// The documents of the node, if they were read while finding it.
    documents: Option<Documents>,
    /// Whether no note says where the children come from.
    is_quiet: bool,
}

/// Where the children of a group come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Children {
    Consolidated,
    Listed,
    /// The documents of a store that cannot list name them.
    Named,
}

impl Deref for Target {
    type Target = Place;

    fn deref(&self) -> &Place {
        &self.place
    }
}

impl Target {
    /// Finds the node.
    pub(crate) fn find(given: &Path, stores: &Stores) -> Result<Self, Failure> {
        Self::found(given, Place::of(given, stores), stores)
    }

    /// Finds the node for a verb that changes it: also at a URL as a part of the hierarchy around it.
    pub(crate) fn to_change(given: &Path, stores: &Stores) -> Result<Self, Failure> {
        Self::found(given, Place::to_change(given, stores)?, stores)
    }

    /// Finds the node at a place whose store is open.
    pub(crate) fn find_in(place: Place, storage: Storage) -> Result<Self, Failure> {
        Self { place, storage, documents: None, is_quiet: false }.read()
    }

    /// Opens a place, whether or not a node is there.
    pub(crate) fn opened(place: Place, stores: &Stores) -> Result<Self, Failure> {
        let storage = place.open(stores)?;
        Ok(Self { place, storage, documents: None, is_quiet: false })
    }

    fn found(given: &Path, mut place: Place, stores: &Stores) -> Result<Self, Failure> {
        if place.url().is_some() {
            return Self::opened(place, stores)?.read();
        }
        place.format = format_in(given)?;
        Self::opened(place, stores)
    }

    /// Reads the documents of the node.
    fn read(mut self) -> Result<Self, Failure> {
        let prefix = self.prefix()?;
        let read = |format| {
            block_on(node::documents(&self.storage, &prefix, format, &Limits::default()))
                .map_err(|e| self.fail(e))
        };
        let mut documents = read(self.format)?;
        if let Some(name) = foreign::page(&documents) {
            let message = format!(
                "{:?}: the server answers {name:?} with a web page: the URL is not that of a store, or the server answers \
                 every URL with a page",
                self.path
            );
            return Err(self.fail(Failure::unsupported(message)));
        }
        if !documents.make_node() {
            documents = read(Some(Format::V1))?;
            if self.format.is_some() || !documents.get(DocumentName::Array1).is_some_and(|text| is_v1(text)) {
                return Err(self.unfinished(&prefix).unwrap_or_else(|| self.no_node()));
            }
            self.place.format = Some(Format::V1);
        }
        self.documents = Some(documents);
        Ok(self)
    }

    /// Returns the root of a storage, for tests.
    #[cfg(test)]
    pub(crate) fn over(storage: Storage) -> Self {
        Self { place: Place::unnamed(), storage, documents: None, is_quiet: false }
    }

    /// Returns the node at another path of the store, whether or not it exists.
    pub(crate) fn at_path(&self, path: &str) -> Self {
        let mut place = self.place.clone();
        path.clone_into(&mut place.path);
        Self { place, storage: self.storage.clone(), documents: None, is_quiet: self.is_quiet }
    }

    /// Returns the node at a path of another storage, which messages name as this one.
    pub(crate) fn in_storage(&self, path: &str, storage: Storage) -> Self {
        let mut target = Self { storage, ..self.at_path(path) };
        target.place.format = None;
        target
    }

    /// Returns the node as the root of a store that refuses links out of it, if the node is a directory.
    #[cfg(feature = "serve")]
    pub(crate) fn confined(self, stores: &Stores) -> Result<Self, Failure> {
        let Some(store) = self.directory() else { return Ok(self) };
        let mut place = Place::in_directory(&store, "/");
        place.format = self.format;
        Self::opened(place, &stores.confined())
    }

    /// The error for a group whose children cannot be listed.
    pub(crate) fn unlisted(&self, source: Source) -> Failure {
        let instead = match source.is_documents() {
            true => "; consolidated metadata is ignored here",
            false => {
                ", and it has no consolidated metadata: run `zarr consolidate` where the store can be listed, or name \
                 a node with `URL|zarr:path`"
            }
        };
        let message = format!("the store cannot list the children of the group {:?}{instead}", self.path);
        self.fail(Failure::unsupported(message))
    }

    /// The error for a node that does not exist.
    fn no_node(&self) -> Failure {
        let of = self.format.map(|format| format!(" of format {format}")).unwrap_or_default();
        let hint = self.similar().or_else(|| self.holds()).unwrap_or_default();
        self.fail(Failure::new(Exit::NotFound, format!("there is no node{of} at {:?}{hint}", self.path)))
    }

    /// Names the folders in the root of a store that is not a node, if the store can list: they may be stores.
    fn holds(&self) -> Option<String> {
        let prefix = self.prefix().ok().filter(|prefix| prefix.is_root() && self.lists())?;
        let dir = block_on(self.storage.list_dir(&prefix)).ok()?;
        let names = dir.prefixes.iter().map(|prefix| prefix.as_str().trim_end_matches('/').to_owned());
        let held = held(names.collect());
        (!held.is_empty()).then(|| format!("{held}, and `zarr ls` lists the stores"))
    }

    /// Names the folder whose name is like that of this node, if the store can list.
    fn similar(&self) -> Option<String> {
        let (above, name) = self.path.trim_end_matches('/').rsplit_once('/')?;
        let above = Prefix::of_node(above).ok().filter(|_| self.lists())?;
        // The error is that of the missing node, also if listing fails.
        let dir = block_on(self.storage.list_dir(&above)).ok()?;
        let names = dir.prefixes.iter().filter_map(|prefix| prefix.as_str().strip_prefix(above.as_str()));
        did_you_mean(name, names.map(|name| name.trim_end_matches('/').to_owned()))
    }

    /// The error for a node whose copy is unfinished.
    fn unfinished(&self, prefix: &Prefix) -> Option<Failure> {
        // If the marker cannot be read, the error is "there is no node" as well.
        let of = block_on(marker::unfinished(&self.storage, prefix)).ok()??;
        Some(self.fail(Failure::new(
            Exit::NotFound,
            format!(
                "there is no node at {:?}, but an unfinished copy of {of:?}: `zarr copy --resume` continues it, \
                 `zarr rm --unfinished` erases it",
                self.path
            ),
        )))
    }

    /// Reads the node, without looking up codecs and data types.
    pub(crate) fn look(&self) -> Result<Visit, Failure> {
        let (prefix, limits, mut notes) = (self.prefix()?, Limits::default(), Vec::new());
        let read = match &self.documents {
            Some(documents) => NodeMeta::parse(documents, &limits, &mut notes).map_err(ArrayError::from),
            None => block_on(node::read(&self.storage, &prefix, self.format, &limits, false)).map(|read| {
                read.map(|(node, found)| {
                    notes = found;
                    node
                })
            }),
        };
        let found = match read {
            Ok(Some(node)) => ChildState::Node(node),
            Ok(None) => return Err(self.no_node()),
            Err(e) => {
                notes.clear();
                ChildState::Broken(e.into())
            }
        };
        Ok(Visit { prefix, notes, found })
    }

    /// Reads the metadata of the node with the tolerated deviations, without looking up codecs and data types.
    pub(crate) fn node(&self) -> Result<(NodeMeta, Vec<Diagnostic>), Failure> {
        let Visit { notes, found, .. } = self.look()?;
        match found {
            ChildState::Node(node) => Ok((node, notes)),
            ChildState::Broken(e) => {
                Err(self.fail(Failure::from(e).within(format_args!("node {:?}", self.path))))
            }
            _ => Err(self.no_node()),
        }
    }

    /// Fails if the store is read-only. Called first, because this is the clearest reason.
    pub(crate) fn check_writable(&self) -> Result<(), Failure> {
        self.storage.check_writable().map_err(|e| self.fail(e))
    }

    /// Whether the store can list its objects.
    pub(crate) fn lists(&self) -> bool {
        self.storage.capabilities().list
    }

    /// Opens the node as a group whose children can be listed, or are named by documents. If consolidated metadata cannot
    /// be read, it is not used, and a note says so.
    pub(crate) fn group(&self, source: Source) -> Result<Group, Failure> {
        self.find_group(source)?.map(|(group, _)| group).ok_or_else(|| self.unlisted(source))
    }

    /// Like [`group`](Self::group), and returns where its children come from. Returns `None` if they are not known.
    pub(crate) fn find_group(&self, source: Source) -> Result<Option<(Group, Children)>, Failure> {
        let trusted = match self.group_with(source.use_consolidated()) {
            Ok(group) if group.is_consolidated() => return Ok(Some((group, Children::Consolidated))),
            Ok(group) if self.lists() => return Ok(Some((group, Children::Listed))),
            Ok(_) => {
                let Some(named) = self.named()? else { return Ok(None) };
                let group = named.group_with(UseConsolidated::IfPresent).map_err(|e| self.fail(e))?;
                return Ok(Some((group, Children::Named)));
            }
            Err(e) if !self.lists() => return Err(self.fail(e)),
            Err(e) => e,
        };
        let group = self.group_with(UseConsolidated::Ignore).map_err(|e| self.fail(e))?;
        say(&format!(
            "note: the consolidated metadata cannot be read, so the documents of all nodes are read: {}",
            Failure::from(trusted).message()
        ));
        Ok(Some((group, Children::Listed)))
    }

    /// Prints a note about where the children of groups come from.
    pub(crate) fn note(&self, message: &str) {
        if !self.is_quiet {
            say(&format!("note: {message}"));
        }
    }

    /// Whether no note says where the children of groups come from.
    pub(crate) fn is_quiet(&self) -> bool {
        self.is_quiet
    }

    /// Returns the same node without notes about where the children of groups come from: for pages, which show what is known.
    #[cfg(feature = "page")]
    pub(crate) fn quiet(self) -> Self {
        Self { is_quiet: true, ..self }
    }

    /// Returns the same group with consolidated metadata of what documents name, if its children cannot be listed.
    pub(crate) fn with_children(self, source: Source) -> Result<Self, Failure> {
        match self.find_group(source)? {
            Some((_, Children::Named)) => self.named()?.ok_or_else(|| self.unlisted(source)),
            Some(_) => Ok(self),
            None => Err(self.unlisted(source)),
        }
    }

    /// Returns the same group with consolidated metadata of what documents name. Returns `None` if they name nothing.
    fn named(&self) -> Result<Option<Self>, Failure> {
        static NOTED: Once = Once::new();
        let prefix = self.prefix()?;
        let found = named::with_named(&self.storage, &prefix, self.format).map_err(|e| self.fail(e))?;
        let Some(storage) = found else { return Ok(None) };
        NOTED.call_once(|| {
            self.note("the store cannot list its objects, so the nodes are those that its documents name");
        });
        Ok(Some(Self { storage, documents: None, is_quiet: true, ..self.clone() }))
    }

    fn group_with(&self, use_consolidated: UseConsolidated) -> HierarchyResult<Group> {
        let options =
            GroupOptions::new().use_consolidated(use_consolidated).formats(Formats::Both).format(self.format);
        Group::open_with(self.storage.clone(), &self.path, &registry(), &options)
    }

    /// Opens the node as an array.
    pub(crate) fn array(&self) -> Result<Array, Failure> {
        let mut notes = Vec::new();
        let known = self.documents.as_ref();
        let known = known.and_then(|all| NodeMeta::parse(all, &Limits::default(), &mut notes).ok()?);
        let opened = match known {
            Some(NodeMeta::Array(meta)) => {
                let (storage, options) = (self.storage.clone(), OpenOptions::new());
                Array::from_metadata(storage, self.prefix()?, meta, notes, &registry(), &options)
            }
            // Opening reports the error.
            _ => self.open(&self.path),
        };
        opened.map_err(|e| {
            let is_missing = e.kind() == ArrayErrorKind::NotFound;
            let hint = is_missing.then(|| self.names_below()).flatten().unwrap_or_default();
            let e = Failure::from(e);
            self.fail(Failure::new(e.exit(), format!("{}{hint}", e.message())))
        })
    }

    /// Names what is in the group, if the store can list.
    fn names_below(&self) -> Option<String> {
        let prefix = self.prefix().ok().filter(|_| self.lists())?;
        // The error is that of the array, also if listing fails.
        let dir = block_on(self.storage.list_dir(&prefix)).ok()?;
        let names = dir.prefixes.iter().filter_map(|below| below.as_str().strip_prefix(prefix.as_str()));
        let names: Vec<String> = names.map(|name| format!("{:?}", name.trim_end_matches('/'))).collect();
        let more = if names.len() > NAMED { ", …" } else { "" };
        let first = names[..names.len().min(NAMED)].join(", ");
        (!names.is_empty()).then(|| format!("; it holds {first}{more}"))
    }

    /// Opens the array at a path of the store.
    pub(crate) fn open(&self, path: &str) -> ArrayResult<Array> {
        let options = OpenOptions::new().format(self.format);
        Array::open_with(self.storage.clone(), path, &registry(), &options)
    }

    /// Opens the array at a path of the store, whose metadata is known, without a request.
    pub(crate) fn open_known(&self, path: &str, meta: ArrayMeta) -> Result<Array, Failure> {
        let prefix = Prefix::of_node(path).map_err(|e| self.fail(e))?;
        let (storage, options) = (self.storage.clone(), OpenOptions::new());
        let opened = Array::from_metadata(storage, prefix, meta, Vec::new(), &registry(), &options);
        opened.map_err(|e| self.fail(e))
    }
}

/// Returns the format of the nearest group above a node.
pub(crate) fn format_above(storage: &Storage, node: &Prefix) -> Result<Option<Format>, Failure> {
    for group in node::above(node).iter().rev() {
        let format = block_on(node::documents(storage, group, None, &Limits::default()))?.format();
        if format.is_some() {
            return Ok(format);
        }
    }
    Ok(None)
}

/// Returns all codecs, data types and other extensions that this command knows.
pub(crate) fn registry() -> Registry {
    zarr_array::standard().overriding(zarr_codecs_numcodecs::CODECS)
}

/// Reads the document at a path. Returns `None` if there is no regular file, or if it is larger than a document may be.
pub(crate) fn document(path: &Path) -> Option<Vec<u8>> {
    let most = Limits::default().metadata_bytes;
    // A FIFO must not be opened: that would wait for a writer.
    let found = fs::metadata(path).ok()?;
    if !found.is_file() || found.len() > most {
        return None;
    }
    let mut text = Vec::new();
    fs::File::open(path).ok()?.take(most).read_to_end(&mut text).ok()?;
    Some(text)
}

/// Returns the format of the node in a directory, if it must be given.
///
/// # Errors
/// If there is no node.
fn format_in(given: &Path) -> Result<Option<Format>, Failure> {
    match fs::metadata(given) {
        Ok(found) if found.is_dir() => {}
        // A device or a pipe is not opened.
        Ok(found) => {
            return Err(match found.is_file().then(|| foreign::file(given)).flatten() {
                Some(format) => Failure::unsupported(format!("{given:?} is {format}, not a Zarr store")),
                None => {
                    let node = given.ancestors().skip(1).find(|above| is_node(above));
                    let what = match node {
                        Some(node) => format!("a file of the node {node:?}"),
                        None => "neither a directory nor a ZIP archive".to_owned(),
                    };
                    Failure::new(Exit::NotFound, format!("{given:?} is {what}"))
                }
            });
        }
        Err(e) => return Err(missing(given, &e)),
    }
    if has_document(given)? {
        return Ok(None);
    }
    let is_v1 = document(&given.join(DocumentName::Array1.as_str())).is_some_and(|text| is_v1(&text));
    if is_v1 { Ok(Some(Format::V1)) } else { Err(no_node_in(given)) }
}

/// Whether a document is that of an array of format 1. Its name, `meta`, is ordinary, so the content decides.
fn is_v1(document: &[u8]) -> bool {
    ArrayMeta::parse_v1(document, None, false, &Limits::default(), &mut Ignore).is_ok()
}

/// The error for a path that does not exist; names the nearest node above it.
fn missing(given: &Path, e: &io::Error) -> Failure {
    let above = given.ancestors().skip(1).find(|p| is_node(p));
    match above {
        Some(node) if e.kind() == io::ErrorKind::NotFound => {
            let rest = given.strip_prefix(node).unwrap_or(given);
            let first = rest.components().next().map(|name| name.as_os_str().to_string_lossy());
            let hint = first.and_then(|first| did_you_mean(&first, nodes_in(node)));
            let hint = hint.unwrap_or_else(|| held(nodes_in(node).collect()));
            Failure::new(Exit::NotFound, format!("store {node:?}: there is no node {rest:?}{hint}"))
        }
        _ if e.kind() == io::ErrorKind::NotFound => {
            let name = given.file_name().map(|name| name.to_string_lossy());
            let above =
                given.parent().map(|above| if above.as_os_str().is_empty() { Path::new(".") } else { above });
            let hint = name.zip(above).and_then(|(name, above)| did_you_mean(&name, nodes_in(above)));
            let hint = url_meant(given).or(hint).unwrap_or_default();
            Failure::new(Exit::NotFound, format!("there is no directory {given:?}{hint}"))
        }
        _ => Failure::io(e, format_args!("cannot open {given:?}")),
    }
}

/// Names the nodes in a directory, if there are few.
fn held(mut names: Vec<String>) -> String {
    names.sort_unstable();
    let shown: Vec<String> = names.iter().take(NAMED).map(|name| format!("{name:?}")).collect();
    let more = if names.len() > NAMED { ", …" } else { "" };
    if shown.is_empty() { String::new() } else { format!("; it holds {}{more}", shown.join(", ")) }
}

/// Suggests the URL for a path that has a scheme, but only one slash behind it.
fn url_meant(given: &Path) -> Option<String> {
    let (scheme, rest) = given.to_str()?.split_once(":/")?;
    let is_scheme = scheme.len() > 1 && scheme.chars().all(|c| c.is_ascii_alphanumeric());
    is_scheme.then(|| format!("; did you mean {:?}?", format!("{scheme}://{}", rest.trim_start_matches('/'))))
}

/// The error for a directory that is not a node.
fn no_node_in(directory: &Path) -> Failure {
    if let Some(format) = foreign::directory(directory) {
        return Failure::unsupported(format!("{directory:?} is {format}, not a Zarr store"));
    }
    let mut below: Vec<String> = nodes_in(directory).collect();
    below.sort_unstable();
    let hint = match &below[..] {
        [] => String::new(),
        [one] => format!(", but there is one in {one:?} below it"),
        [first, ..] => format!(", but there are {} in directories below it, such as {first:?}", below.len()),
    };
    Failure::new(Exit::NotFound, format!("{directory:?}: there is no node{hint}"))
}

/// Returns the names of the nodes directly in a directory.
fn nodes_in(directory: &Path) -> impl Iterator<Item = String> {
    let entries = fs::read_dir(directory).into_iter().flatten();
    let nodes = entries.filter_map(|entry| entry.ok().filter(|e| is_node(&e.path())));
    nodes.map(|entry| entry.file_name().to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use zarr_store::Access;

    use super::*;

    fn find(given: &Path) -> Result<Target, Failure> {
        Target::find(given, &Stores::new(Access::new()))
    }

    #[test]
    fn the_store_is_the_hierarchy_around_the_node() {
        let temporary = tempfile::tempdir().unwrap();
        let root = temporary.path().join("h.zarr");
        fs::create_dir_all(root.join("a/b")).unwrap();
        for node in [&root, &root.join("a"), &root.join("a/b")] {
            fs::write(node.join("zarr.json"), r#"{"zarr_format":3,"node_type":"group"}"#).unwrap();
        }
        let found = find(&root.join("a/b/")).unwrap();
        assert_eq!((found.path.as_str(), &found.store), ("/a/b", &root));
        assert_eq!(find(&root).unwrap().path, "/");
        assert_eq!(find(&root.join("a/b/..")).unwrap().path, "/a");
        assert_eq!(find(&root.join("a/../a/b")).unwrap().path, "/a/b");
    }

    #[test]
    fn a_node_has_one_identity_for_all_its_names() {
        let temporary = tempfile::tempdir().unwrap();
        let root = temporary.path().join("h h.zarr");
        fs::create_dir_all(root.join("a")).unwrap();
        for node in [&root, &root.join("a")] {
            fs::write(node.join("zarr.json"), r#"{"zarr_format":3,"node_type":"group"}"#).unwrap();
        }
        let url = format!("{}/h%20h.zarr", temporary.path().display());
        let names = [
            root.join("a"),
            root.join("a/../a"),
            format!("file://{url}/a").into(),
            format!("FILE://localhost{url}|zarr:a").into(),
            format!("file://{url}|zarr3:/a/").into(),
        ];
        for name in names {
            let wanted = fs::canonicalize(root.join("a")).unwrap();
            assert_eq!(find(&name).unwrap().identity(), wanted.to_str().unwrap(), "{name:?}");
        }
    }

    #[test]
    fn errors_for_missing_nodes_name_the_nearest_node() {
        let temporary = tempfile::tempdir().unwrap();
        let root = temporary.path();
        fs::create_dir_all(root.join("g/x")).unwrap();
        fs::write(root.join("g/zarr.json"), r#"{"zarr_format":3,"node_type":"group"}"#).unwrap();
        let fails = |path: &Path| {
            let e = find(path).unwrap_err();
            (e.exit(), e.message().to_owned())
        };
        let (exit, message) = fails(&root.join("g/nope"));
        assert_eq!(exit, Exit::NotFound);
        assert!(message.ends_with("there is no node \"nope\""), "{message}");
        let (exit, message) = fails(root);
        assert_eq!(exit, Exit::NotFound);
        assert!(message.ends_with("there is no node, but there is one in \"g\" below it"), "{message}");
        assert_eq!(fails(&root.join("g/x")).0, Exit::NotFound);
        assert_eq!(fails(&root.join("g/zarr.json")).0, Exit::NotFound);
    }
}
