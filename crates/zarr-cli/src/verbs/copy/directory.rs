//! A copy to a directory grows in a hidden directory beside it, which is renamed when the copy is complete. A copy to a
//! ZIP archive grows in the same way and is packed at the end.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use zarr_array::meta::diagnostic::Ignore;
use zarr_array::meta::{DocumentName, Documents, Format, GroupMeta, NodeMeta, parse_json};
use zarr_array::traits::Prefix;
use zarr_array::{Limits, Storage, block_on, node};
use zarr_copy::{CopyPlan, DestinationState, marker};
use zarr_store::split_node;
use zarr_store::zip::{PackOptions, write_file};
use zarr_store_fs::FsStore;

use super::left::left_in;
use super::path::stem;
use super::publish::{self, Left, on_disk};
use crate::args::around::{is_node, resolved, unusable};
use crate::args::stores::{Stores, directory_of, shown};
use crate::args::target::{Target, document};
use crate::doomed::check_replaced;
use crate::exit::{Exit, Failure, say};

/// A checked destination.
#[derive(Debug)]
pub(super) struct Directory {
    /// The absolute path, without links.
    destination: PathBuf,
    /// The directory that holds the destination.
    parent: PathBuf,
    /// Whether a node is replaced.
    replaces: bool,
    /// Why the destination cannot be used, unless it is this copy, complete. Only with `resume`.
    taken: Option<Failure>,
    /// The required format of the copy, with the reason.
    format: Option<(Format, &'static str)>,
    /// The place of the copy in the archive, if the destination is an archive.
    archive: Option<Prefix>,
}

/// The permitted changes of existing objects at the destination.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules {
    pub(super) replace: bool,
    /// Whether objects that belong to no node are erased with a replaced node.
    pub(super) force: bool,
    pub(super) resume: bool,
}

/// The hidden directory in which the copy grows. It is removed at the end, unless the copy is published or kept for
/// `--resume`.
#[derive(Debug)]
pub(super) struct Hidden {
    directory: Directory,
    path: PathBuf,
    /// The marker, locked while this process works here.
    _lock: Option<File>,
    keep: bool,
}

impl Directory {
    /// Checks the destination. Something that exists is replaced only if that is wanted, it is a Zarr node without foreign
    /// files, and the source is not inside of it. With `resume` it may be the complete copy.
    pub(super) fn find(
        given: &Path,
        rules: Rules,
        source: Option<&Path>,
        stores: &Stores,
    ) -> Result<Self, Failure> {
        let Rules { replace, force, resume } = rules;
        let mut taken = None;
        let destination = resolved(given)?;
        let mut replaces = false;
        match fs::read_dir(&destination) {
            Ok(mut entries) => replaces = entries.next().is_some(),
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) if e.kind() == io::ErrorKind::NotADirectory => {
                return Err(Failure::usage(format!("{given:?} exists and is not a directory")));
            }
            Err(e) => return Err(unusable(given, &e)),
        }
        if replaces && let Err(e) = check_replaceable(given, &destination, replace, source) {
            if replace || !resume {
                return Err(e);
            }
            (taken, replaces) = (Some(e), false);
        }
        if replaces && !force {
            check_replaced(&Target::find(&destination, stores)?)?;
        }
        let Some(parent) = destination.parent().map(Path::to_owned) else {
            return Err(Failure::usage(format!("{given:?} cannot be the destination of a copy")));
        };
        if let Some(above) = destination.ancestors().skip(1).find(|p| is_array(p)) {
            return Err(Failure::usage(format!("{above:?} is an array and cannot contain nodes")));
        }
        let around = nodes_above(&destination).first().map(|(_, group)| group.format());
        let format = around.map(|format| (format, "lies in a group of format"));
        Ok(Self { destination, parent, replaces, taken, format, archive: None })
    }

    /// Makes the destination for a URL of an archive, or returns `None` for other URLs. The archive must not exist.
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
                "archives can be written to local files only: write it locally and upload it",
            ));
        };
        if node != "/" {
            return Err(Failure::usage(
                "a new archive has no groups above the node: give the place as `|zip:path`",
            ));
        }
        let archive = Prefix::of_node(below).map_err(|e| Failure::usage(format!("{e:#}")))?;
        let destination = resolved(&path)?;
        match destination.parent().map(Path::to_owned) {
            Some(parent) if fs::symlink_metadata(&destination).is_err() => {
                Ok(Self { destination, parent, replaces: false, taken: None, format, archive: Some(archive) })
            }
            _ => Err(Failure::usage("the file exists already, and archives are not replaced")),
        }
    }

    pub(super) fn format(&self) -> Option<(Format, &'static str)> {
        self.format
    }

    /// Returns the store of the copy if it is complete.
    ///
    /// # Errors
    /// If something else is there.
    pub(super) fn complete(&mut self, plan: &CopyPlan, stores: &Stores) -> Result<Option<Storage>, Failure> {
        let Some(taken) = self.taken.take() else { return Ok(None) };
        let storage = stores.traced(FsStore::open(&self.destination)?);
        if block_on(plan.is_complete(&storage))? { Ok(Some(storage)) } else { Err(taken) }
    }

    /// Creates the directory in which the copy grows, or with `resume` finds the one that an earlier run has left.
    pub(super) fn begin(self, marker: &str, resume: bool) -> Result<(Hidden, DestinationState), Failure> {
        make_parents(&self.parent)?;
        if resume && let Some((path, lock)) = self.left_over(marker) {
            let hidden = Hidden { directory: self, path, _lock: Some(lock), keep: true };
            return Ok((hidden, DestinationState::Unfinished));
        }
        for attempt in 0..100 {
            let path = self.parent.join(self.hidden(&format!("{attempt}.partial")));
            match fs::create_dir(&path) {
                Ok(()) => {}
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(e) => {
                    let failure =
                        Failure::io(&e, format_args!("cannot create a directory in {:?}", self.parent));
                    // The directory exists, so its file system cannot do this.
                    let exit = if failure.exit() == Exit::NotFound { Exit::Io } else { failure.exit() };
                    return Err(Failure::new(exit, failure.message()));
                }
            }
            let mut hidden = Hidden { directory: self, path, _lock: None, keep: resume };
            hidden.mark(marker)?;
            hidden.directory.name_left_overs();
            return Ok((hidden, DestinationState::Nothing));
        }
        Err(Failure::new(Exit::Io, format!("too many unfinished copies in {:?}", self.parent)))
    }

    /// Finds the directory that an earlier run of the same copy has left. Returns it with its locked marker.
    fn left_over(&self, marker: &str) -> Option<(PathBuf, File)> {
        let mut left = left_in(&self.parent, &self.stem()).ok()?.into_iter();
        left.find(|left| left.text == marker.as_bytes()).map(|left| (left.path, left.lock))
    }

    /// Names what interrupted copies to the same place have left. An error says nothing about this copy.
    fn name_left_overs(&self) {
        for left in left_in(&self.parent, &self.stem()).unwrap_or_default() {
            let destination = &self.destination;
            say(&format!(
                "note: an interrupted copy of {:?} has left {:?}; `zarr rm --unfinished {}` erases it",
                left.source(),
                left.path,
                destination.display()
            ));
        }
    }

    /// Returns a name beside the destination that listings hide.
    fn hidden(&self, ending: &str) -> OsString {
        format!(".{}.{}.{ending}", self.stem(), std::process::id()).into()
    }

    fn stem(&self) -> String {
        stem(&self.destination)
    }
}

fn check_replaceable(
    given: &Path,
    destination: &Path,
    replace: bool,
    source: Option<&Path>,
) -> Result<(), Failure> {
    if destination.join(marker::NAME).is_file() {
        return Err(Failure::usage(format!(
            "{given:?} holds an unfinished copy that processes share: `--join` continues it, and `zarr rm --unfinished` \
             erases it"
        )));
    }
    if !replace {
        let message = format!("{given:?} exists already; `--if-exists replace` replaces it");
        return Err(Failure::usage(message));
    }
    if !is_node(destination) {
        return Err(Failure::usage(format!("{given:?} is not a Zarr node, so it is not replaced")));
    }
    let Some(source) = source else { return Ok(()) };
    let source =
        fs::canonicalize(source).map_err(|e| Failure::io(&e, format_args!("cannot find {source:?}")))?;
    if source != destination && source.starts_with(destination) {
        return Err(Failure::usage(format!("{source:?} is inside of {given:?} and would be erased with it")));
    }
    Ok(())
}

/// Whether `directory` is that of an array, even of an unreadable one.
fn is_array(directory: &Path) -> bool {
    let is_array = |bytes: &[u8]| {
        let document = parse_json(bytes, &Limits::default(), &mut Ignore).ok()?;
        let kind = document.root.as_object()?.get("node_type")?;
        kind.to_text().ok().map(|kind| kind == "array")
    };
    let found = document(&directory.join(DocumentName::Node.as_str()));
    found.is_some_and(|bytes| is_array(&bytes).unwrap_or(false))
        || directory.join(DocumentName::Array2.as_str()).is_file()
}

/// Returns the nodes above the destination, the nearest first.
fn nodes_above(destination: &Path) -> Vec<(PathBuf, NodeMeta)> {
    let above = destination.ancestors().skip(1);
    let above = above.skip_while(|p| !p.exists()).take_while(|p| is_node(p));
    above.filter_map(|directory| Some((directory.to_owned(), node_at(directory)?))).collect()
}

/// Returns the node in a directory, if it can be read.
fn node_at(directory: &Path) -> Option<NodeMeta> {
    let mut documents = Documents::new();
    for name in Documents::steps(None).iter().copied().flatten() {
        if let Some(bytes) = document(&directory.join(name.as_str())) {
            documents.insert(*name, bytes);
        }
    }
    NodeMeta::parse(&documents, &Limits::default(), &mut Ignore).ok().flatten()
}

/// Creates the missing directories above the copy. Below a group they become groups, because a node without a document
/// above it cannot be found.
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
    /// Returns the storage with the copy at its root.
    pub(super) fn storage(&self, stores: &Stores) -> Result<Storage, Failure> {
        let root = match &self.directory.archive {
            Some(below) => self.content().join(below.as_str()),
            None => self.path.clone(),
        };
        // No other process writes here or reads, and `--resume` compares what is there with the source.
        Ok(stores.traced(FsStore::create(root)?.with_no_readers()))
    }

    /// Returns the directory to pack, which excludes the marker.
    fn content(&self) -> PathBuf {
        self.path.join("content")
    }

    /// Packs the archive; the hidden directory is then removed.
    fn pack(&mut self, stores: &Stores) -> Result<(), Failure> {
        let Directory { destination, .. } = &self.directory;
        let content = stores.traced(FsStore::open(self.content())?);
        block_on(write_file(&content, &Prefix::root(), destination, &PackOptions::new(node::is_document)))?;
        self.keep = false;
        Ok(())
    }

    /// Writes the marker and locks it.
    fn mark(&mut self, marker: &str) -> Result<(), Failure> {
        let path = self.path.join(marker::NAME);
        let failed = |e: io::Error| Failure::io(&e, format_args!("cannot write {path:?}"));
        let mut file = File::create_new(&path).map_err(failed)?;
        // Lock before writing, so that no other process resumes a new copy. If the file system has no locks, nobody can
        // resume either.
        let _ = file.lock();
        file.write_all(marker.as_bytes()).map_err(failed)?;
        self._lock = Some(file);
        Ok(())
    }

    /// Whether the directory stays when the copy fails.
    pub(super) fn is_kept(&self) -> bool {
        self.keep
    }

    /// Renames the complete copy to the destination.
    pub(super) fn publish(&mut self, plan: &CopyPlan, stores: &Stores) -> Result<(), Failure> {
        if self.directory.archive.is_some() {
            return self.pack(stores);
        }
        let Directory { destination, replaces, .. } = &self.directory;
        let marker = self.path.join(marker::NAME);
        fs::remove_file(&marker).map_err(|e| Failure::io(&e, format_args!("cannot remove {marker:?}")))?;
        let failed = |e| Failure::io(&e, format_args!("cannot rename the copy to {destination:?}"));
        if *replaces {
            let aside = self.directory.parent.join(self.directory.hidden("old.partial"));
            let left = publish::replace(&self.path, destination, &aside, on_disk).map_err(failed)?;
            // The hidden directory is now the replaced one.
            self.keep = true;
            if let Some(Left(path, e)) = left {
                say(&format!("note: the replaced directory is left at {path:?}: {e:#}"));
            }
        } else {
            publish::place(&self.path, destination, on_disk).map_err(failed)?;
            self.keep = true;
        }
        self.refresh(plan, stores)
    }

    /// Updates the consolidated metadata above the destination.
    fn refresh(&self, plan: &CopyPlan, stores: &Stores) -> Result<(), Failure> {
        let destination = &self.directory.destination;
        let Some((directory, top)) = nodes_above(destination).pop() else { return Ok(()) };
        let below = destination.strip_prefix(&directory).ok().and_then(Path::to_str);
        let Some(below) = below.filter(|below| !below.is_empty()) else { return Ok(()) };
        let storage = stores.open_directory(&directory)?;
        Ok(block_on(plan.refresh(&storage, &Prefix::new(format!("{below}/"))?, top.format()))?)
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        if !self.keep {
            // The directory has a hidden name; a failure to remove it is ignored.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}
