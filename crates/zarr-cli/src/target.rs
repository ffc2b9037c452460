//! `STORE[/path]`: from what the user typed to a node in a store.
//!
//! The path given is a directory, and the node lies in it. The store is the hierarchy around it: every directory above
//! that has a document as well. So messages name a node by its path in the hierarchy, and keys as the store has them.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use zarr_array::blocking::Array;
use zarr_array::meta::path::{DOCUMENT, OLD_ARRAY};
use zarr_array::meta::v3::NodeDocument;
use zarr_array::traits::Prefix;
use zarr_array::{Diagnostic, Limits, Registry, Storage, block_on};
use zarr_store_fs::FsStore;

use crate::exit::{Exit, Failure};

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
        if !given.join(DOCUMENT).is_file() {
            return Err(no_node(given));
        }
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
            });
        }
        Ok(Self { storage: opened(&store)?.into(), path, directory: given.to_owned(), store })
    }

    /// The prefix of the node's keys.
    pub(crate) fn prefix(&self) -> Result<Prefix, Failure> {
        Prefix::of_node(&self.path).map_err(|e| self.fail(e))
    }

    /// The document of the node, not resolved, with what was tolerated.
    pub(crate) fn document(&self) -> Result<(NodeDocument, Vec<Diagnostic>), Failure> {
        let key = self.prefix()?.key(DOCUMENT).map_err(|e| self.fail(e))?;
        let bytes = block_on(self.storage.get(&key)).map_err(|e| self.fail(e))?;
        let bytes = bytes.ok_or_else(|| no_node(&self.directory))?;
        let mut notes = Vec::new();
        let document = NodeDocument::parse(&bytes, &Limits::default(), &mut notes)
            .map_err(|e| self.fail(e.with_node(&self.path)))?;
        Ok((document, notes))
    }

    /// The array that the node is.
    pub(crate) fn array(&self) -> Result<Array, Failure> {
        Array::open(self.storage.clone(), &self.path, &registry()).map_err(|e| self.fail(e))
    }

    /// An error of a library, with the store it happened in.
    pub(crate) fn fail(&self, e: impl Into<Failure>) -> Failure {
        e.into().within(format_args!("store {:?}", self.store))
    }
}

/// Everything that this command knows.
pub(crate) fn registry() -> Registry {
    zarr_array::standard()
}

/// The topmost directory above `given` up to which every directory has a document, and the names of those below it.
fn hierarchy(given: &Path) -> (PathBuf, Vec<String>) {
    let mut names = Vec::new();
    let mut shown = given.to_owned();
    let Ok(mut directory) = std::path::absolute(given) else { return (shown, names) };
    if directory.components().any(|c| c == Component::ParentDir) {
        return (shown, names);
    }
    while let Some(parent) = directory.parent().filter(|p| p.join(DOCUMENT).is_file()) {
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
    let above = given.ancestors().skip(1).find(|p| p.join(DOCUMENT).is_file());
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

/// The error for a directory without a document.
fn no_node(directory: &Path) -> Failure {
    let (old, what) = OLD_ARRAY;
    if directory.join(old).is_file() {
        return Failure::unsupported(format!("{directory:?}: {what}, which is not supported yet"));
    }
    let mut below: Vec<String> = fs::read_dir(directory)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok().filter(|e| e.path().join(DOCUMENT).is_file()))
        .map(|entry| format!("{:?}", entry.file_name()))
        .collect();
    below.sort_unstable();
    let hint = match &below[..] {
        [] => String::new(),
        [one] => format!(", but there is one in {one} below it"),
        [first, ..] => format!(", but there are {} in directories below it, such as {first}", below.len()),
    };
    Failure::new(Exit::NotFound, format!("{directory:?}: there is no zarr.json{hint}"))
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
            fs::write(node.join(DOCUMENT), r#"{"zarr_format":3,"node_type":"group"}"#).unwrap();
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
        fs::write(root.join("g").join(DOCUMENT), r#"{"zarr_format":3,"node_type":"group"}"#).unwrap();
        let fails = |path: &Path| {
            let e = Target::find(path).unwrap_err();
            (e.exit(), e.message().to_owned())
        };
        let (exit, message) = fails(&root.join("g/nope"));
        assert_eq!(exit, Exit::NotFound);
        assert!(message.ends_with("there is no node \"nope\""), "{message}");
        let (exit, message) = fails(root);
        assert_eq!(exit, Exit::NotFound);
        assert!(message.ends_with("there is no zarr.json, but there is one in \"g\" below it"), "{message}");
        assert_eq!(fails(&root.join("g/x")).0, Exit::NotFound);
        assert_eq!(fails(&root.join("g/zarr.json")).0, Exit::NotFound);
        fs::write(root.join("g/x").join(OLD_ARRAY.0), "{}").unwrap();
        assert_eq!(fails(&root.join("g/x")).0, Exit::Unsupported);
        assert_eq!(fails(Path::new("s3://bucket/x.zarr")).0, Exit::Unsupported);
    }
}
