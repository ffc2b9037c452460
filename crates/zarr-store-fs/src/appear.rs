//! A new object appears: a file without a name is written, and linked to the name of the object once it is complete, without
//! the lock of the object. If its writer dies, nothing is left of it.
//!
//! | call | what for | when |
//! | --- | --- | --- |
//! | `openat` with `O_TMPFILE`, of the directory | the file | always |
//! | `writev` | the value | always, once for 64 parts |
//! | `linkat` | gives the file its name, and fails if there is an object | always |
//! | `newfstatat` of the lock file | finds a holder of the lock who may have seen no object | not for a [single writer](FsStore::with_single_writer) |
//! | `fstat` | the number of links: whether a holder who is gone has replaced the file | not for a single writer |
//! | `close` | | always |
//!
//! All names are paths below the root. No directory is opened for them, and none is kept open for the next put: a put into an
//! open directory would go where that was moved meanwhile, and to check that it still is where its path leads costs as much as
//! the path. If the directory is replaced during the put, the file goes into the one that is at the path when it is linked.
//!
//! The link is safe beside writers that hold the lock. It is exclusive, so it changes nothing that they have found. Only one
//! that has found no object, and then renames its own file to the name, would replace an object that it has not seen.
//! (TensorStore does; our writers create by a link.) Such a writer has the lock when we look for it, or has replaced the file
//! by then. A look before the link could not spare the one after it.

use std::fs::File;
use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::{Errno, Result};
use zarr_traits::{Key, StoreResult};

use crate::path::LOCK;
use crate::store::FsStore;

/// The outcome of linking a file to the name of a new object, without the lock of the object.
pub(crate) enum Appeared {
    Yes,
    /// It has not: there is an object already, or the file cannot be linked.
    No,
    /// It has, but another writer may not have seen it, and may have replaced it.
    Disturbed,
}

impl FsStore {
    /// Creates a file without a name where `key` is, and the directory if it is missing. Returns `None` if that fails: then
    /// a file with a name fails as well and reports the error, or can be created.
    pub(crate) fn create_unnamed(&self, key: &Key) -> StoreResult<Option<File>> {
        let created = self.in_parent(key, |prefix| open_unnamed(self.root.fd(), prefix))?;
        Ok(created.ok().map(File::from))
    }

    /// Makes a file without a name the object at `path` in `dir`, without its lock, if there is no object yet.
    pub(crate) fn appear(&self, file: &File, dir: BorrowedFd<'_>, path: &str) -> Appeared {
        if link_unnamed(file, dir, path).is_err() {
            return Appeared::No;
        }
        match self.writing.single_writer || is_undisturbed(file, dir, path) {
            true => Appeared::Yes,
            false => Appeared::Disturbed,
        }
    }
}

/// Whether no holder of the lock can have found no object before the file was linked.
fn is_undisturbed(file: &File, dir: BorrowedFd<'_>, path: &str) -> bool {
    let lock = [path, LOCK].concat();
    let lock = rustix::fs::statat(dir, lock.as_str(), AtFlags::SYMLINK_NOFOLLOW);
    // In this order: a holder that is gone by now has replaced the file before.
    matches!(lock, Err(Errno::NOENT)) && rustix::fs::fstat(file).is_ok_and(|stat| stat.st_nlink > 0)
}

/// Creates a file without a name in the directory of a prefix.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) fn open_unnamed(dir: impl std::os::fd::AsFd, prefix: &str) -> Result<OwnedFd> {
    let path = if prefix.is_empty() { "." } else { prefix };
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    rustix::fs::openat(dir, path, flags, Mode::from_raw_mode(0o666))
}

/// Gives a file without a name its first name, or a file another one.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) fn link_unnamed(file: &File, dir: BorrowedFd<'_>, path: &str) -> Result<()> {
    rustix::fs::linkat(file, c"", dir, path, AtFlags::EMPTY_PATH)
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) fn open_unnamed(_: impl std::os::fd::AsFd, _: &str) -> Result<OwnedFd> {
    Err(Errno::NOTSUP)
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) fn link_unnamed(_: &File, _: BorrowedFd<'_>, _: &str) -> Result<()> {
    Err(Errno::NOTSUP)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs;
    use std::os::fd::AsFd;

    use tempfile::TempDir;

    use super::*;

    #[test]
    fn a_new_object_appears_unless_a_holder_of_the_lock_may_not_have_seen_it() {
        let dir = TempDir::new().unwrap();
        let store = FsStore::open(dir.path()).unwrap();
        let [object, lock] = ["a/b", "a/b.__lock"].map(|name| dir.path().join(name));
        let key = Key::new("a/b").unwrap();
        let make = || store.create_unnamed(&key).unwrap();
        let appear = |file: &File| store.appear(file, store.root.fd().as_fd(), "a/b");
        let Some(file) = make() else {
            return; // Files without a name are refused here.
        };
        assert!(matches!(appear(&file), Appeared::Yes));
        assert!(matches!(appear(&make().unwrap()), Appeared::No), "there is an object");
        fs::remove_file(&object).unwrap();

        let file = make().unwrap();
        fs::write(&lock, "theirs").unwrap();
        assert!(matches!(appear(&file), Appeared::Disturbed), "a holder came, perhaps before the link");
        fs::rename(&lock, &object).unwrap();
        let root = store.root.fd().as_fd();
        assert!(!is_undisturbed(&file, root, "a/b"), "a holder came and went");
    }
}
