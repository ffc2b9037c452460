//! The temporary: a file beside the object, which takes its place once it is whole.

use std::fs::File;
use std::os::fd::BorrowedFd;

#[cfg(any(target_os = "linux", target_os = "android"))]
use rustix::fs::RenameFlags;
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;
use zarr_traits::StoreResult;

use crate::delete::remove_empty;
use crate::lock::try_lock;
use crate::path::{LOCK, failed};
use crate::store::FsStore;
use crate::write::ATTEMPTS;

/// The part of an object's name that its temporary keeps: with the rest it stays a legal name everywhere.
const STEM: usize = 100;

/// The name of a file that nobody sees yet. The file is deleted when this is dropped before it was published.
pub(crate) struct Temporary<'a> {
    dir: BorrowedFd<'a>,
    /// Empty once it was published.
    name: String,
}

pub(crate) enum Published {
    Yes,
    /// There is an object, and it was to be created.
    Exists,
    /// The temporary was deleted, perhaps with its directory.
    Gone,
}

impl<'a> Temporary<'a> {
    /// A new file beside `object` in `dir`; `None` when the directory has been deleted.
    pub(crate) fn create(
        store: &FsStore,
        dir: BorrowedFd<'a>,
        object: &str,
    ) -> StoreResult<Option<(Self, File)>> {
        let end = (0..=STEM.min(object.len())).rev().find(|at| object.is_char_boundary(*at)).unwrap_or(0);
        // Readable, because the version that the put reports pins it.
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR | OFlags::CLOEXEC;
        let (name, file) = loop {
            let name = format!("{}_{:016x}{LOCK}", &object[..end], store.shared.unique());
            match rustix::fs::openat(dir, &name, flags, Mode::from_raw_mode(0o666)) {
                Ok(file) => break (name, file),
                Err(Errno::EXIST) => {}
                Err(Errno::NOENT) => return Ok(None),
                Err(e) => return Err(failed(e, "cannot create a file")),
            }
        };
        if !store.single_writer {
            // Says that its writer lives. Where it cannot be said, it may be taken for a leftover and be deleted, and is
            // written again.
            let _ = try_lock(&file);
        }
        Ok(Some((Self { dir, name }, file.into())))
    }

    /// Makes the file the object of this name.
    pub(crate) fn publish(&mut self, object: &str, create: bool) -> StoreResult<Published> {
        for _ in 0..ATTEMPTS {
            let done = if create { self.link(object) } else { self.rename(object) };
            match done {
                Ok(()) => {
                    self.name.clear();
                    return Ok(Published::Yes);
                }
                Err(Errno::NOENT) => return Ok(Published::Gone),
                Err(Errno::EXIST | Errno::ISDIR | Errno::NOTEMPTY) => {}
                Err(e) => return Err(failed(e, "cannot put the file in its place")),
            }
            // Something is there. A directory without files is nothing to a store, and gives way.
            let Ok(stat) = rustix::fs::statat(self.dir, object, AtFlags::SYMLINK_NOFOLLOW) else {
                continue;
            };
            if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
                return Ok(Published::Exists);
            }
            if !remove_empty(self.dir, object) {
                return Err(failed(
                    Errno::ISDIR,
                    "this key is a part of other keys, and their directory is in its place",
                ));
            }
        }
        Err(failed(Errno::EXIST, "cannot put the file in its place"))
    }

    fn rename(&self, object: &str) -> rustix::io::Result<()> {
        rustix::fs::renameat(self.dir, &self.name, self.dir, object)
    }

    /// Renames unless there is something at `object`: exclusive also where there are no locks.
    fn link(&self, object: &str) -> rustix::io::Result<()> {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        match rustix::fs::renameat_with(self.dir, &self.name, self.dir, object, RenameFlags::NOREPLACE) {
            Err(Errno::INVAL | Errno::NOSYS) => {}
            done => return done,
        }
        rustix::fs::linkat(self.dir, &self.name, self.dir, object, AtFlags::empty())?;
        // The object is there under both names. If this one cannot go, it is a hidden leftover.
        let _ = rustix::fs::unlinkat(self.dir, &self.name, AtFlags::empty());
        Ok(())
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if !self.name.is_empty() {
            // What remains is hidden from listings; there is nobody to tell.
            let _ = rustix::fs::unlinkat(self.dir, &self.name, AtFlags::empty());
        }
    }
}
