//! Deletes objects and whole directories.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};
use rustix::io::{Errno, Result};
use zarr_traits::{Key, Prefix, StoreResult, Version, store::Outcome};

use crate::list::is_dot;
use crate::lock::{Unlocked, discard};
use crate::path::{LOCK, check, failed, is_hidden, present};
use crate::store::FsStore;

impl FsStore {
    pub(crate) fn remove(&self, key: &Key, version: Option<&Version>) -> StoreResult<Outcome> {
        check(key.as_str())?;
        let parent = present(self.root.directory(key.parent().as_str()));
        let Some(parent) = parent.map_err(|e| failed(e, "cannot open the directory"))? else {
            return Ok(Outcome::Done(None));
        };
        let error = |e| failed(e, "cannot delete");
        // A missing object needs no lock, and a read-only directory has no room for the lock file.
        if !is_there(parent.as_fd(), key.name()).map_err(error)? {
            return Ok(Outcome::Done(None));
        }
        let unlocked = if version.is_some() { Unlocked::Fails } else { Unlocked::GoesIfFull };
        let Some(lock) = self.lock(parent.as_fd(), key.as_str(), key.name().as_bytes(), unlocked)? else {
            return Ok(Outcome::Done(None));
        };
        if let Some(version) = version {
            match self.version(key)? {
                None => return Ok(Outcome::Done(None)),
                Some(now) if now != *version => return Ok(Outcome::Conflict),
                Some(_) => {}
            }
        }
        let removed = unlink(parent.as_fd(), key.name()).map_err(error)?;
        drop(lock);
        if removed == Removed::Yes {
            self.settle(parent.as_fd())?;
        }
        Ok(Outcome::Done(None))
    }

    /// Empties the directory of `prefix` and removes it. The root stays.
    pub(crate) fn remove_prefix(&self, prefix: &Prefix) -> StoreResult<()> {
        check(prefix.as_str())?;
        let error = |e| failed(e, "cannot delete the directory");
        let Some(path) = prefix.as_str().strip_suffix('/') else {
            let root = self.root.directory("").map_err(error)?;
            self.remove_below(root.as_fd(), "")?;
            return self.settle(root.as_fd());
        };
        let (above, name) = path.rfind('/').map_or(("", path), |at| path.split_at(at + 1));
        let Some(parent) = present(self.root.directory(above)).map_err(error)? else {
            return Ok(());
        };
        match open_here(parent.as_fd(), name) {
            Ok(dir) => {
                self.remove_below(dir.as_fd(), prefix.as_str())?;
                remove_if_empty(parent.as_fd(), name).map_err(error)?;
            }
            Err(Errno::NOENT) => return Ok(()),
            // A file is an object of its own, not a part of this prefix. A link to a directory is removed; its target
            // stays.
            Err(Errno::NOTDIR | Errno::LOOP) => {
                let stat = self.root.stat(path).map_err(error)?;
                if !stat.is_some_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory) {
                    return Ok(());
                }
                unlink(parent.as_fd(), name).map_err(error)?;
            }
            Err(e) => return Err(error(e)),
        }
        self.settle(parent.as_fd())
    }

    /// Deletes everything in `dir`, which is at `path`, including leftovers and links. Targets of links stay, and so do
    /// files that running writers have locked.
    fn remove_below(&self, dir: BorrowedFd<'_>, path: &str) -> StoreResult<()> {
        let error = |e| failed(e, "cannot delete the directory");
        for (name, kind) in entries(dir).map_err(error)? {
            let path = format!("{path}{}", name.to_string_lossy());
            if kind != FileType::Directory {
                self.remove_file(dir, &path, &name, kind)?;
                continue;
            }
            match open_here(dir, &name) {
                Ok(below) => self.remove_below(below.as_fd(), &format!("{path}/"))?,
                // Another process was faster, or replaced the directory by a file meanwhile.
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => continue,
                Err(e) => return Err(error(e)),
            }
            remove_if_empty(dir, &name).map_err(error)?;
        }
        Ok(())
    }

    fn remove_file(&self, dir: BorrowedFd<'_>, path: &str, name: &CStr, kind: FileType) -> StoreResult<()> {
        let error = |e| failed(e, "cannot delete");
        if path.ends_with(LOCK) && kind == FileType::RegularFile {
            return discard(dir, name.to_bytes()).map(|_| ()).map_err(error);
        }
        // A hidden name is not a key, so it has no lock.
        let lock = match is_hidden(path) {
            true => None,
            false => self.lock(dir, path, name.to_bytes(), Unlocked::GoesIfFull)?,
        };
        unlink(dir, name).map_err(error)?;
        drop(lock);
        Ok(())
    }
}

#[derive(PartialEq, Eq)]
enum Removed {
    Yes,
    Absent,
    /// The name belongs to a directory, which stays.
    Directory,
}

fn unlink(dir: BorrowedFd<'_>, name: impl rustix::path::Arg + Copy) -> Result<Removed> {
    match rustix::fs::unlinkat(dir, name, AtFlags::empty()) {
        Ok(()) => Ok(Removed::Yes),
        Err(Errno::NOENT) => Ok(Removed::Absent),
        Err(Errno::ISDIR) => Ok(Removed::Directory),
        // POSIX returns `EPERM` for a directory, Linux for a file that may not be deleted.
        Err(Errno::PERM) => match rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Directory => {
                Ok(Removed::Directory)
            }
            _ => Err(Errno::PERM),
        },
        Err(e) => Err(e),
    }
}

/// Removes a directory unless another process has put something into it.
fn remove_if_empty(dir: BorrowedFd<'_>, name: impl rustix::path::Arg) -> Result<()> {
    match rustix::fs::unlinkat(dir, name, AtFlags::REMOVEDIR) {
        Ok(()) | Err(Errno::NOENT | Errno::NOTDIR | Errno::NOTEMPTY | Errno::EXIST) => Ok(()),
        Err(e) => Err(e),
    }
}

/// Removes a directory that holds only empty directories. Returns whether it is gone.
pub(crate) fn remove_empty(dir: BorrowedFd<'_>, name: impl rustix::path::Arg + Copy) -> bool {
    let Ok(here) = open_here(dir, name) else {
        return false;
    };
    let Ok(entries) = entries(here.as_fd()) else {
        return false;
    };
    entries
        .iter()
        .all(|(name, kind)| *kind == FileType::Directory && remove_empty(here.as_fd(), name.as_c_str()))
        && rustix::fs::unlinkat(dir, name, AtFlags::REMOVEDIR).is_ok()
}

pub(crate) fn open_here(dir: BorrowedFd<'_>, name: impl rustix::path::Arg) -> Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(dir, name, flags, Mode::empty())
}

fn is_there(dir: BorrowedFd<'_>, name: impl rustix::path::Arg) -> Result<bool> {
    Ok(present(rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW))?.is_some())
}

/// Returns the names in a directory with their types.
pub(crate) fn entries(dir: BorrowedFd<'_>) -> Result<Vec<(CString, FileType)>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(dir)? {
        let entry = entry?;
        let name = entry.file_name();
        if is_dot(name) {
            continue;
        }
        let kind = match entry.file_type() {
            FileType::Unknown => match present(rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW))? {
                Some(stat) => FileType::from_raw_mode(stat.st_mode),
                None => continue,
            },
            kind => kind,
        };
        names.push((name.to_owned(), kind));
    }
    Ok(names)
}
