//! A copy to a directory: it grows in a hidden one beside it, which takes its name when the copy is complete. A copy to a ZIP
//! archive grows in the same way, and is packed then.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

use zarr_array::meta::diagnostic::Ignore;
use zarr_array::meta::json::Document;
use zarr_array::meta::{DocumentName, Documents, Format, GroupMeta, NodeMeta};
use zarr_array::traits::Prefix;
use zarr_array::{Limits, Storage, block_on};
use zarr_store::split_node;
use zarr_store::zip::{PackOptions, write_file};
use zarr_store_fs::FsStore;

use super::marker::{self, Marker};
use super::place::{Found, refresh};
use super::plan::Node;
use super::publish::{self, Left, on_disk};
use crate::exit::{Exit, Failure, say};
use crate::stores::{Stores, directory_of, shown};
use crate::target::{is_document, is_node};

/// A destination that may be written.
#[derive(Debug)]
pub(super) struct Directory {
    /// From the root of the file system, without links.
    destination: PathBuf,
    /// The directory that the destination lies in.
    parent: PathBuf,
    /// Whether there is a node that is to give way.
    replaces: bool,
    /// The format that the copy has to be of, and why.
    format: Option<(Format, &'static str)>,
    /// The destination is an archive, in which the copy lies here.
    archive: Option<Prefix>,
}

/// The directory in which the copy grows. It is removed again, unless the copy is published or is to be resumed.
#[derive(Debug)]
pub(super) struct Hidden {
    directory: Directory,
    path: PathBuf,
    /// Its marker, locked: whoever can lock it knows that nobody works here.
    _lock: Option<File>,
    keep: bool,
}

/// The part of the destination's name that the hidden directory keeps: with the rest it stays a legal name.
const STEM: usize = 100;

impl Directory {
    /// Checks the destination. What is there is replaced only if that is asked for, and only if it is a Zarr node that
    /// the source is not a part of.
    pub(super) fn find(given: &Path, replace: bool, source: Option<&Path>) -> Result<Self, Failure> {
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
        let around = nodes_above(&destination).first().map(|(_, group)| group.format());
        let format = around.map(|format| (format, "lies in a group of format"));
        Ok(Self { destination, parent, replaces, format, archive: None })
    }

    /// A new archive, if the URL is that of one: there is nothing yet that could say whether it may be replaced.
    pub(super) fn in_archive(url: &str) -> Option<Result<Self, Failure>> {
        let (store, node, format) = split_node(url);
        let (file, adapter) = store.rsplit_once('|')?;
        let (_, below) = adapter.split_once(':').filter(|(name, _)| name.eq_ignore_ascii_case("zip"))?;
        let format = format.and_then(Format::of).map(|format| (format, "asks for format"));
        Some(
            Self::archive(file, below, &node, format).map_err(|e| e.within(format_args!("{:?}", shown(url)))),
        )
    }

    fn archive(
        file: &str,
        below: &str,
        node: &str,
        format: Option<(Format, &'static str)>,
    ) -> Result<Self, Failure> {
        let Some(path) = directory_of(file) else {
            return Err(Failure::unsupported(
                "archives are packed into files of this machine: make one there, and upload it",
            ));
        };
        if node != "/" {
            return Err(Failure::usage(
                "a new archive has no groups around a node: `|zip:path` says where it lies",
            ));
        }
        let archive = Prefix::of_node(below).map_err(|e| Failure::usage(e.to_string()))?;
        let destination = resolved(&path)?;
        match destination.parent().map(Path::to_owned) {
            Some(parent) if fs::symlink_metadata(&destination).is_err() => {
                Ok(Self { destination, parent, replaces: false, format, archive: Some(archive) })
            }
            _ => Err(Failure::usage("there is something already, and archives are not replaced")),
        }
    }

    pub(super) fn format(&self) -> Option<(Format, &'static str)> {
        self.format
    }

    /// Makes the directory in which the copy grows, or finds the one that an earlier run has left, if this is to resume it.
    pub(super) fn begin(self, marker: &Marker, resume: bool) -> Result<(Hidden, Found), Failure> {
        make_parents(&self.parent)?;
        if resume && let Some((path, lock)) = self.left_over(marker) {
            let hidden = Hidden { directory: self, path, _lock: Some(lock), keep: true };
            return Ok((hidden, Found::Unfinished));
        }
        for attempt in 0..100 {
            let path = self.parent.join(self.hidden(&format!("{attempt}.partial")));
            match fs::create_dir(&path) {
                Ok(()) => {}
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(e) => return Err(Failure::io(&e, format_args!("cannot create {path:?}"))),
            }
            let mut hidden = Hidden { directory: self, path, _lock: None, keep: resume };
            hidden.mark(marker)?;
            return Ok((hidden, Found::Nothing));
        }
        Err(Failure::new(Exit::Io, format!("there are too many unfinished copies in {:?}", self.parent)))
    }

    /// What a run for the same copy has left, and its marker, locked.
    fn left_over(&self, marker: &Marker) -> Option<(PathBuf, File)> {
        let stem = format!(".{}.", self.stem());
        let is_hidden = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.strip_prefix(&stem).and_then(|rest| rest.strip_suffix(".partial")).is_some_and(|middle| {
                middle.split('.').count() == 2
                    && middle.split('.').all(|number| number.parse::<u32>().is_ok())
            })
        };
        let mut left: Vec<PathBuf> =
            fs::read_dir(&self.parent).ok()?.filter_map(|e| Some(e.ok()?.path())).collect();
        left.retain(is_hidden);
        left.sort_unstable();
        left.into_iter().find_map(|path| {
            let file = File::open(path.join(marker::NAME)).ok()?;
            file.try_lock().ok()?;
            let text = fs::read(path.join(marker::NAME)).ok()?;
            (text == marker.text().as_bytes()).then_some((path, file))
        })
    }

    /// A name beside the destination that listings do not show.
    fn hidden(&self, ending: &str) -> OsString {
        format!(".{}.{}.{ending}", self.stem(), std::process::id()).into()
    }

    fn stem(&self) -> String {
        let name = self.destination.file_name().unwrap_or_default().to_string_lossy();
        name.char_indices().take_while(|(at, c)| at + c.len_utf8() <= STEM).map(|(_, c)| c).collect()
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

fn check_replaceable(
    given: &Path,
    destination: &Path,
    replace: bool,
    source: Option<&Path>,
) -> Result<(), Failure> {
    if !replace {
        let message = format!("{given:?} is there already; `--if-exists replace` puts the copy in its place");
        return Err(Failure::usage(message));
    }
    if !is_node(destination) {
        return Err(Failure::usage(format!("{given:?} is no Zarr node, and is not replaced")));
    }
    let Some(source) = source else { return Ok(()) };
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

impl Hidden {
    /// The storage whose root is the copy's.
    pub(super) fn storage(&self, stores: &Stores) -> Result<Storage, Failure> {
        let root = match &self.directory.archive {
            Some(below) => self.content().join(below.as_str()),
            None => self.path.clone(),
        };
        // Nobody else writes here.
        Ok(stores.traced(FsStore::create(root)?.single_writer()))
    }

    /// What is packed: without the marker.
    fn content(&self) -> PathBuf {
        self.path.join("content")
    }

    /// Makes the archive of what is there, which is removed.
    fn pack(&mut self, stores: &Stores) -> Result<(), Failure> {
        let Directory { destination, .. } = &self.directory;
        let content = stores.traced(FsStore::open(self.content())?);
        block_on(write_file(
            &content,
            &Prefix::root(),
            destination,
            &PackOptions::new(|key| is_document(key.name())),
        ))?;
        self.keep = false;
        Ok(())
    }

    /// Leaves the marker, locked.
    fn mark(&mut self, marker: &Marker) -> Result<(), Failure> {
        let path = self.path.join(marker::NAME);
        let failed = |e: io::Error| Failure::io(&e, format_args!("cannot write {path:?}"));
        let mut file = File::create_new(&path).map_err(failed)?;
        // Before there is anything in it that others look for. Without locks in the file system nobody resumes either.
        let _ = file.lock();
        file.write_all(marker.text().as_bytes()).map_err(failed)?;
        self._lock = Some(file);
        Ok(())
    }

    /// Whether it stays when the copy fails.
    pub(super) fn is_kept(&self) -> bool {
        self.keep
    }

    /// Gives the copy, which is complete, the name of the destination.
    pub(super) fn publish(&mut self, nodes: &[Node], stores: &Stores) -> Result<(), Failure> {
        if self.directory.archive.is_some() {
            return self.pack(stores);
        }
        let Directory { destination, replaces, .. } = &self.directory;
        let marker = self.path.join(marker::NAME);
        fs::remove_file(&marker).map_err(|e| Failure::io(&e, format_args!("cannot remove {marker:?}")))?;
        let failed = |e| Failure::io(&e, format_args!("cannot put the copy in place of {destination:?}"));
        if *replaces {
            let aside = self.directory.parent.join(self.directory.hidden("old.partial"));
            let left = publish::replace(&self.path, destination, &aside, on_disk).map_err(failed)?;
            // The hidden directory is what was replaced, by now.
            self.keep = true;
            if let Some(Left(path, e)) = left {
                say(&format!("note: what was replaced is left in {path:?}: {e}"));
            }
        } else {
            publish::place(&self.path, destination, on_disk).map_err(failed)?;
            self.keep = true;
        }
        self.refresh(nodes, stores)
    }

    /// Tells consolidated metadata above the destination of the nodes that are there now.
    fn refresh(&self, nodes: &[Node], stores: &Stores) -> Result<(), Failure> {
        let destination = &self.directory.destination;
        let Some((directory, top)) = nodes_above(destination).pop() else { return Ok(()) };
        let below = destination.strip_prefix(&directory).ok().and_then(Path::to_str);
        let Some(below) = below.filter(|below| !below.is_empty()) else { return Ok(()) };
        let storage = stores.traced(FsStore::open(&directory)?);
        refresh(&storage, &Prefix::new(format!("{below}/"))?, nodes, top.format())
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        if !self.keep {
            // Its name is hidden; there is nothing more to be done about it.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}
