//! `STORE[/path]`: from what the user typed to a node in a store.
//!
//! The path given is a directory, and the node lies in it. The store is the hierarchy around it: every directory above
//! that has a document as well. So messages name a node by its path in the hierarchy, and keys as the store has them.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use zarr_array::blocking::Array;
use zarr_array::meta::{DocumentName, Format, Ignore, NodeMeta};
use zarr_array::traits::Prefix;
use zarr_array::{
    ArrayMeta, ArrayResult, Diagnostic, Limits, OpenOptions, Registry, Storage, block_on, node,
};
use zarr_hierarchy::blocking::Group;
use zarr_hierarchy::{Formats, Found, GroupOptions, HierarchyResult, UseConsolidated};
use zarr_store_fs::FsStore;

use crate::exit::{Exit, Failure, say};
use crate::walk::{Source, Visit};

/// A node that is there.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) storage: Storage,
    /// The node's path in the store: `/`, `/a/b`.
    pub(crate) path: String,
    /// The directory of the node.
    pub(crate) directory: PathBuf,
    /// The directory of the store, as it is named in messages.
    pub(crate) store: PathBuf,
    /// The format, where it has to be named.
    pub(crate) format: Option<Format>,
}

impl Target {
    /// Finds the node.
    pub(crate) fn find(given: &Path) -> Result<Self, Failure> {
        if let Some((scheme, _)) = given.to_str().and_then(|text| text.split_once("://")) {
            let message =
                format!("{given:?}: stores are local directories so far, {scheme:?} is not supported yet");
            return Err(Failure::unsupported(message));
        }
        match fs::metadata(given) {
            Ok(found) if found.is_dir() => {}
            Ok(_) => return Err(Failure::new(Exit::NotFound, format!("{given:?} is no directory"))),
            Err(e) => return Err(missing(given, &e)),
        }
        let format = match (is_node(given), is_old_array(given)) {
            (true, _) => None,
            (false, true) => Some(Format::V1),
            (false, false) => return Err(no_node(given)),
        };
        let (store, names) = hierarchy(given);
        let path = format!("/{}", names.join("/"));
        let opened = |directory: &Path| {
            FsStore::open(directory).map_err(|e| Failure::from(e).within(format_args!("store {directory:?}")))
        };
        // A name that no key can have is the root of a store of its own.
        if Prefix::of_node(&path).is_err() {
            let storage = opened(given)?.into();
            return Ok(Self {
                storage,
                path: "/".to_owned(),
                directory: given.to_owned(),
                store: given.to_owned(),
                format,
            });
        }
        Ok(Self { storage: opened(&store)?.into(), path, directory: given.to_owned(), store, format })
    }

    /// The prefix of the node's keys.
    pub(crate) fn prefix(&self) -> Result<Prefix, Failure> {
        Prefix::of_node(&self.path).map_err(|e| self.fail(e))
    }

    /// What is there, not resolved.
    pub(crate) fn look(&self) -> Result<Visit, Failure> {
        let prefix = self.prefix()?;
        let read = block_on(node::read(&self.storage, &prefix, self.format, &Limits::default(), false));
        let (found, notes) = match read {
            Ok(Some((node, notes))) => (Found::Node(node), notes),
            Ok(None) => return Err(no_node(&self.directory)),
            Err(e) => (Found::Broken(e.into()), Vec::new()),
        };
        Ok(Visit { prefix, notes, found })
    }

    /// The metadata of the node, not resolved, with what was tolerated.
    pub(crate) fn node(&self) -> Result<(NodeMeta, Vec<Diagnostic>), Failure> {
        let Visit { notes, found, .. } = self.look()?;
        match found {
            Found::Node(node) => Ok((node, notes)),
            Found::Broken(e) => Err(self.fail(Failure::from(e).within(format_args!("node {:?}", self.path)))),
            _ => Err(no_node(&self.directory)),
        }
    }

    /// The group that the node is. Consolidated metadata that cannot be read is not used, with a note.
    pub(crate) fn group(&self, source: Source) -> Result<Group, Failure> {
        let trusted = match self.group_with(source.use_consolidated()) {
            Ok(group) => return Ok(group),
            Err(e) => e,
        };
        let group = self.group_with(UseConsolidated::Ignore).map_err(|e| self.fail(e))?;
        say(&format!(
            "note: the documents of all nodes are read, because the consolidated metadata cannot be: {}",
            Failure::from(trusted).message()
        ));
        Ok(group)
    }

    fn group_with(&self, use_consolidated: UseConsolidated) -> HierarchyResult<Group> {
        let options =
            GroupOptions::new().use_consolidated(use_consolidated).formats(Formats::Both).format(self.format);
        Group::open_with(self.storage.clone(), &self.path, &registry(), &options)
    }

    /// The array that the node is.
    pub(crate) fn array(&self) -> Result<Array, Failure> {
        self.open(&self.path).map_err(|e| self.fail(e))
    }

    /// The array at a path of the store.
    pub(crate) fn open(&self, path: &str) -> ArrayResult<Array> {
        let options = OpenOptions::new().format(self.format);
        block_on(options.open(self.storage.clone(), path, &registry())).map(Array::from)
    }

    /// An error of a library, with the store it happened in.
    pub(crate) fn fail(&self, e: impl Into<Failure>) -> Failure {
        e.into().within(format_args!("store {:?}", self.store))
    }
}

/// Everything that this command knows.
pub(crate) fn registry() -> Registry {
    zarr_array::standard().overriding(zarr_codecs_numcodecs::CODECS)
}

/// Whether a directory has a document that makes it a node.
pub(crate) fn is_node(directory: &Path) -> bool {
    use DocumentName::{Array2, Group2, Node};
    [Node, Array2, Group2].iter().any(|name| directory.join(name.as_str()).is_file())
}

/// Whether a directory is a whole store of format 1. Its names are those of ordinary files, so that what is in it decides
/// (checklist I5).
fn is_old_array(directory: &Path) -> bool {
    let document = fs::read(directory.join(DocumentName::Array1.as_str()));
    document
        .is_ok_and(|text| ArrayMeta::parse_v1(&text, None, false, &Limits::default(), &mut Ignore).is_ok())
}

/// The topmost directory above `given` up to which every directory has a document, and the names of those below it.
fn hierarchy(given: &Path) -> (PathBuf, Vec<String>) {
    let mut names = Vec::new();
    let mut shown = given.to_owned();
    let Ok(mut directory) = std::path::absolute(given) else { return (shown, names) };
    if directory.components().any(|c| c == Component::ParentDir) {
        return (shown, names);
    }
    while let Some(parent) = directory.parent().filter(|p| is_node(p)) {
        let Some(name) = directory.file_name().and_then(OsStr::to_str) else { break };
        names.insert(0, name.to_owned());
        // What the user typed, as long as that reaches; then the path from the root of the file system.
        shown = match shown.parent() {
            Some(above) if !above.as_os_str().is_empty() && shown.file_name().is_some() => above.to_owned(),
            _ => parent.to_owned(),
        };
        directory = parent.to_owned();
    }
    (shown, names)
}

/// The error for a path that does not exist, with the node above it, if there is one.
fn missing(given: &Path, e: &io::Error) -> Failure {
    let above = given.ancestors().skip(1).find(|p| is_node(p));
    match above {
        Some(node) if e.kind() == io::ErrorKind::NotFound => {
            let rest = given.strip_prefix(node).unwrap_or(given);
            Failure::new(Exit::NotFound, format!("store {node:?}: there is no node {rest:?}"))
        }
        _ if e.kind() == io::ErrorKind::NotFound => {
            Failure::new(Exit::NotFound, format!("there is no directory {given:?}"))
        }
        _ => Failure::io(e, format_args!("cannot open {given:?}")),
    }
}

/// The error for a directory that is no node.
fn no_node(directory: &Path) -> Failure {
    let mut below: Vec<String> = fs::read_dir(directory)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok().filter(|e| is_node(&e.path())))
        .map(|entry| format!("{:?}", entry.file_name()))
        .collect();
    below.sort_unstable();
    let hint = match &below[..] {
        [] => String::new(),
        [one] => format!(", but there is one in {one} below it"),
        [first, ..] => format!(", but there are {} in directories below it, such as {first}", below.len()),
    };
    Failure::new(Exit::NotFound, format!("{directory:?}: there is no node{hint}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_store_is_the_hierarchy_around_the_node() {
        let temporary = tempfile::tempdir().unwrap();
        let root = temporary.path().join("h.zarr");
        fs::create_dir_all(root.join("a/b")).unwrap();
        for node in [&root, &root.join("a"), &root.join("a/b")] {
            fs::write(node.join("zarr.json"), r#"{"zarr_format":3,"node_type":"group"}"#).unwrap();
        }
        let found = Target::find(&root.join("a/b/")).unwrap();
        assert_eq!((found.path.as_str(), &found.store), ("/a/b", &root));
        assert_eq!(Target::find(&root).unwrap().path, "/");
        // Whoever goes up by `..` has a store that begins there.
        assert_eq!(Target::find(&root.join("a/b/..")).unwrap().path, "/");
    }

    #[test]
    fn what_is_not_there_says_what_is() {
        let temporary = tempfile::tempdir().unwrap();
        let root = temporary.path();
        fs::create_dir_all(root.join("g/x")).unwrap();
        fs::write(root.join("g/zarr.json"), r#"{"zarr_format":3,"node_type":"group"}"#).unwrap();
        let fails = |path: &Path| {
            let e = Target::find(path).unwrap_err();
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
        assert_eq!(fails(Path::new("s3://bucket/x.zarr")).0, Exit::Unsupported);
    }
}
