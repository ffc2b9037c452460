//! Where the copy goes: a hidden directory beside the destination, which takes its name when the copy is complete.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use zarr_array::meta::diagnostic::Ignore;
use zarr_array::meta::json::Document;
use zarr_array::meta::{DocumentName, Documents, Format, GroupMeta, NodeMeta};
use zarr_array::traits::Prefix;
use zarr_array::{Limits, Storage, block_on, node};
use zarr_hierarchy::blocking::Group;
use zarr_hierarchy::{GroupOptions, Unresolved, UseConsolidated};
use zarr_store_fs::FsStore;

use super::document;
use super::plan::Node;
use crate::exit::{Exit, Failure, say};
use crate::target::{is_node, registry};

/// A destination that may be written.
#[derive(Debug)]
pub(crate) struct Place {
    /// From the root of the file system, without links.
    destination: PathBuf,
    /// The directory that the destination lies in.
    parent: PathBuf,
    /// Whether there is a node that is to give way.
    replaces: bool,
}

/// The directory in which the copy grows. It is removed again, unless the copy is published.
#[derive(Debug)]
pub(crate) struct Growing {
    place: Place,
    directory: PathBuf,
    published: bool,
}

/// The part of the destination's name that the hidden directory keeps: with the rest it stays a legal name.
const STEM: usize = 100;

impl Place {
    /// Checks the destination. What is there is replaced only if that is asked for, and only if it is a Zarr node that
    /// the source is not a part of.
    pub(crate) fn find(given: &Path, replace: bool, source: &Path) -> Result<Self, Failure> {
        if given.to_str().is_some_and(|text| text.contains("://")) {
            return Err(Failure::unsupported(format!("{given:?}: a copy goes to a local directory so far")));
        }
        let destination = resolved(given)?;
        let mut replaces = false;
        match fs::read_dir(&destination) {
            Ok(mut entries) => replaces = entries.next().is_some(),
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) if e.kind() == io::ErrorKind::NotADirectory => {
                return Err(Failure::usage(format!("{given:?} is there, and is no directory")));
            }
            Err(e) => return Err(unusable(given, &e)),
        }
        if replaces {
            check_replaceable(given, &destination, replace, source)?;
        }
        let Some(parent) = destination.parent().map(Path::to_owned) else {
            return Err(Failure::usage(format!("{given:?} is no place for a copy")));
        };
        if let Some(above) = destination.ancestors().skip(1).find(|p| is_array(p)) {
            return Err(Failure::usage(format!("{above:?} is an array, nothing can lie below it")));
        }
        Ok(Self { destination, parent, replaces })
    }

    /// The format of the group that the copy will lie in.
    pub(crate) fn format(&self) -> Option<Format> {
        nodes_above(&self.destination).first().map(|(_, group)| group.format())
    }

    /// Makes the directory in which the copy grows.
    pub(crate) fn begin(self) -> Result<Growing, Failure> {
        make_parents(&self.parent)?;
        for attempt in 0..100 {
            let directory = self.parent.join(self.hidden(&format!("{attempt}.partial")));
            match fs::create_dir(&directory) {
                Ok(()) => return Ok(Growing { place: self, directory, published: false }),
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(Failure::io(&e, format_args!("cannot create {directory:?}"))),
            }
        }
        Err(Failure::new(Exit::Io, format!("there are too many unfinished copies in {:?}", self.parent)))
    }

    /// A name beside the destination that listings do not show.
    fn hidden(&self, ending: &str) -> OsString {
        let name = self.destination.file_name().unwrap_or_default().to_string_lossy();
        let stem: String =
            name.char_indices().take_while(|(at, c)| at + c.len_utf8() <= STEM).map(|(_, c)| c).collect();
        format!(".{stem}.{}.{ending}", std::process::id()).into()
    }
}

/// The path from the root of the file system, without links and `..`, so that what lies above it is what it says.
fn resolved(given: &Path) -> Result<PathBuf, Failure> {
    // A link that leads nowhere is there, and is no place for a copy.
    let is_there = |path: &Path| fs::symlink_metadata(path).is_ok();
    let here = Path::new("");
    let existing = given.ancestors().find(|p| *p == here || is_there(p)).unwrap_or(here);
    let rest = given.strip_prefix(existing).unwrap_or(here);
    if rest.components().any(|c| !matches!(c, Component::Normal(_))) {
        return Err(Failure::usage(format!("{given:?} goes up from a directory that does not exist")));
    }
    let directory = fs::canonicalize(if existing == here { Path::new(".") } else { existing });
    let directory = directory.map_err(|e| unusable(given, &e))?;
    Ok(if rest == here { directory } else { directory.join(rest) })
}

fn unusable(given: &Path, e: &io::Error) -> Failure {
    Failure::io(e, format_args!("cannot use {given:?} as the destination"))
}

fn check_replaceable(given: &Path, destination: &Path, replace: bool, source: &Path) -> Result<(), Failure> {
    if !replace {
        let message = format!("{given:?} is there already; `--if-exists replace` puts the copy in its place");
        return Err(Failure::usage(message));
    }
    if !is_node(destination) {
        return Err(Failure::usage(format!("{given:?} is no Zarr node, and is not replaced")));
    }
    let source =
        fs::canonicalize(source).map_err(|e| Failure::io(&e, format_args!("cannot find {source:?}")))?;
    if source != destination && source.starts_with(destination) {
        return Err(Failure::usage(format!("{source:?} is a part of {given:?}, and would be lost with it")));
    }
    Ok(())
}

/// Whether `directory` is that of an array, also of one that cannot be read.
fn is_array(directory: &Path) -> bool {
    let is_array = |bytes: &[u8]| {
        let document = Document::parse(bytes, &Limits::default(), &mut Ignore).ok()?;
        let kind = document.root.as_object()?.get("node_type")?;
        kind.to_text().ok().map(|kind| kind == "array")
    };
    let document = fs::read(directory.join(DocumentName::Node.as_str()));
    document.is_ok_and(|bytes| is_array(&bytes).unwrap_or(false))
        || directory.join(DocumentName::Array2.as_str()).is_file()
}

/// The nodes that the destination lies in, the nearest first.
fn nodes_above(destination: &Path) -> Vec<(PathBuf, NodeMeta)> {
    let above = destination.ancestors().skip(1);
    let above = above.skip_while(|p| !p.exists()).take_while(|p| is_node(p));
    above.filter_map(|directory| Some((directory.to_owned(), node_at(directory)?))).collect()
}

/// The node that a directory is, if it can be read.
fn node_at(directory: &Path) -> Option<NodeMeta> {
    let mut documents = Documents::new();
    for name in Documents::steps(None).iter().copied().flatten() {
        if let Ok(bytes) = fs::read(directory.join(name.as_str())) {
            documents.insert(*name, bytes);
        }
    }
    NodeMeta::parse(&documents, &Limits::default(), &mut Ignore).ok().flatten()
}

/// Makes the directories above the copy that are missing. Below a group they become groups, because every node above a
/// node has a document (checklist F11).
fn make_parents(parent: &Path) -> Result<(), Failure> {
    let missing: Vec<&Path> = parent.ancestors().take_while(|p| !p.exists()).collect();
    for directory in missing.into_iter().rev() {
        let failed = |e: io::Error| Failure::io(&e, format_args!("cannot create {directory:?}"));
        fs::create_dir(directory).map_err(failed)?;
        let Some(above) = directory.parent().and_then(node_at) else { continue };
        for (name, text) in GroupMeta::new(above.format())?.documents() {
            let written = text.map_or(Ok(()), |text| fs::write(directory.join(name.as_str()), text));
            written.map_err(failed)?;
        }
    }
    Ok(())
}

impl Growing {
    /// A store for the node that lies `below` the copy.
    pub(crate) fn store(&self, below: &Prefix) -> Result<Storage, Failure> {
        // Nobody else knows of this directory yet.
        Ok(FsStore::create(self.directory.join(below.as_str()))?.single_writer().into())
    }

    /// Takes the documents of the node `below` away again: what is not complete is no node.
    pub(crate) fn hide(
        &self,
        below: &Prefix,
        documents: &[(DocumentName, Option<String>)],
    ) -> Result<(), Failure> {
        for (name, _) in documents.iter().filter(|(_, text)| text.is_some()) {
            let document = self.directory.join(below.as_str()).join(name.as_str());
            fs::remove_file(&document)
                .map_err(|e| Failure::io(&e, format_args!("cannot remove {document:?}")))?;
        }
        Ok(())
    }

    /// Writes the documents of nodes, given parents before children, and gives the copy the name of the destination.
    pub(crate) fn publish(mut self, nodes: &[Node]) -> Result<(), Failure> {
        // Children before parents.
        for node in nodes.iter().rev() {
            let written = document::put(&self.store(&node.below)?, node.documents())
                .and_then(|()| if node.consolidated { self.consolidate(&node.below) } else { Ok(()) });
            let place = self.directory.join(node.below.as_str());
            written.map_err(|e| e.within(format_args!("copy in {place:?}")))?;
        }
        let Place { destination, replaces, .. } = &self.place;
        let failed =
            |e: &io::Error| Failure::io(e, format_args!("cannot put the copy in place of {destination:?}"));
        if !replaces {
            fs::rename(&self.directory, destination).map_err(|e| failed(&e))?;
            self.published = true;
        } else {
            let old = self.place.parent.join(self.place.hidden("old.partial"));
            fs::rename(destination, &old).map_err(|e| failed(&e))?;
            if let Err(e) = fs::rename(&self.directory, destination) {
                // As it was.
                let _ = fs::rename(&old, destination);
                return Err(failed(&e));
            }
            self.published = true;
            // First of all it stops being a node; if that fails, so does the rest.
            for name in Documents::steps(None).iter().copied().flatten() {
                let _ = fs::remove_file(old.join(name.as_str()));
            }
            if let Err(e) = fs::remove_dir_all(&old) {
                say(&format!("note: what was replaced is left in {old:?}: {e}"));
            }
        }
        self.refresh(nodes)
    }

    /// Consolidates the metadata of a group of the copy, as that of the source was.
    fn consolidate(&self, below: &Prefix) -> Result<(), Failure> {
        let options = GroupOptions::new().use_consolidated(UseConsolidated::Ignore);
        let mut group = Group::open_with(self.store(below)?, "/", &registry(), &options)?;
        group.consolidate_with(Unresolved::Include)?;
        Ok(())
    }

    /// Tells consolidated metadata above the destination of the nodes that are there now.
    fn refresh(&self, nodes: &[Node]) -> Result<(), Failure> {
        let destination = &self.place.destination;
        let Some((directory, top)) = nodes_above(destination).pop() else { return Ok(()) };
        let below = destination.strip_prefix(&directory).ok().and_then(Path::to_str);
        let Some(below) = below.filter(|below| !below.is_empty()) else { return Ok(()) };
        let storage = FsStore::open(&directory)?.into();
        let at = |node: &str| Prefix::new(format!("{below}/{node}"));
        let (root, how) = (at("")?, node::Writing::default());
        let copied = nodes.iter().map(|node| at(node.below.as_str()));
        // Groups on the way may be new as well.
        let touched = node::above(&root).into_iter().map(Ok).chain(copied).collect::<Result<Vec<_>, _>>()?;
        Ok(block_on(node::refresh(&storage, &root, &touched, top.format(), &how))?)
    }
}

impl Drop for Growing {
    fn drop(&mut self) {
        if !self.published {
            // Its name is hidden; there is nothing more to be done about it.
            let _ = fs::remove_dir_all(&self.directory);
        }
    }
}
