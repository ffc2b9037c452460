//! Writing: a temporary beside the object, which takes its place once it is whole.
//!
//! `put` of `a/b` in system calls: create `a/b_<16 hex>.__lock` (and the directory, if it is missing), write, rename it to
//! `a/b`, close. TensorStore hides files of that name, and so do we.

use std::fs::File;
use std::io::{IoSlice, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

#[cfg(any(target_os = "linux", target_os = "android"))]
use rustix::fs::RenameFlags;
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;
use zarr_traits::{
    BoxFuture, Bytes, Key, Outcome, Prefix, Put, StoreError, StoreErrorKind, StoreResult, Version, WriteStore,
};

use crate::delete::remove_empty;
use crate::path::{check, failed, is_object, size_of, version_of};
use crate::read::Opened;
use crate::store::{Durability, FsStore};

/// How often a put starts again because its directory was deleted under it.
const ATTEMPTS: usize = 8;

/// The part of an object's name that its temporary keeps: with the rest it stays a legal name everywhere.
const STEM: usize = 100;

/// Parts that one system call writes.
const VECTOR: usize = 64;

impl FsStore {
    fn replace(&self, key: &Key, parts: &[Bytes], how: Put<'_>) -> StoreResult<Outcome> {
        check(key.as_str())?;
        let prefix = key.parent();
        for _ in 0..ATTEMPTS {
            // A conflict that can be seen now costs no write.
            if !self.allows(key, how)? {
                return Ok(Outcome::Conflict);
            }
            // The directory is opened where that is needed: to look no further than the root, and to be made durable.
            let parent = match self.root.is_confined() || self.durability == Durability::Durable {
                true => Some(self.parent(key)?),
                false => None,
            };
            let (dir, within) = match &parent {
                Some(parent) => (parent.as_fd(), ""),
                None => (self.root.fd().as_fd(), prefix.as_str()),
            };
            let Some((mut temporary, file)) = Temporary::create(self, dir, within, key.name())? else {
                self.make(&prefix)?;
                continue;
            };
            write_all(&file, parts, self.durability)?;
            // Only who puts on a condition is told the version, and may want to keep it.
            let version = match how {
                Put::Replace => None,
                _ => Some(pinned(file)?),
            };
            let lock = self.shared.lock(key.as_str());
            if !self.allows(key, how)? {
                return Ok(Outcome::Conflict);
            }
            let published = temporary.publish(key.name(), matches!(how, Put::Create))?;
            drop(lock);
            match published {
                Published::Yes => {
                    if let Some(parent) = &parent {
                        self.settle(parent.as_fd())?;
                    }
                    return Ok(Outcome::Done(version));
                }
                Published::Exists => return Ok(Outcome::Conflict),
                Published::Gone => self.make(&prefix)?,
            }
        }
        Err(StoreError::new(StoreErrorKind::Io, "the directory was deleted again and again during the write"))
    }

    /// Whether a change may be made now.
    fn allows(&self, key: &Key, how: Put<'_>) -> StoreResult<bool> {
        match how {
            Put::Replace => Ok(true),
            Put::Create => Ok(self.version(key)?.is_none()),
            Put::IfUnchanged(version) => Ok(self.version(key)?.as_ref() == Some(version)),
            _ => Err(StoreError::new(StoreErrorKind::Unsupported, "this way to put is not known here")),
        }
    }

    /// The version of the object at `key` now, if there is one.
    pub(crate) fn version(&self, key: &Key) -> StoreResult<Option<Version>> {
        match self.root.stat(key.as_str()).map_err(|e| failed(e, "cannot inspect"))? {
            Some(stat) if is_object(&stat)? => Ok(Some(version_of(&stat))),
            _ => Ok(None),
        }
    }

    /// The directory of `key`, open; made if it is missing.
    fn parent(&self, key: &Key) -> StoreResult<OwnedFd> {
        let prefix = key.parent();
        for _ in 0..ATTEMPTS {
            match self.root.directory(prefix.as_str()) {
                Ok(dir) => return Ok(dir),
                Err(Errno::NOENT) => self.make(&prefix)?,
                Err(Errno::NOTDIR) => return Err(below_object()),
                Err(e) => return Err(failed(e, "cannot open the directory")),
            }
        }
        Err(failed(
            Errno::NOENT,
            "cannot create the directory: the root, or one on the way, is deleted again and again",
        ))
    }

    /// Makes the directories of a prefix, from the root on.
    fn make(&self, prefix: &Prefix) -> StoreResult<()> {
        let prefix = prefix.as_str();
        let ends = prefix.match_indices('/').map(|(at, _)| at);
        let mut start = 0;
        for end in ends {
            let parent = match self.root.directory(&prefix[..start]) {
                Ok(parent) => parent,
                Err(Errno::NOENT) => return Ok(()),
                Err(e) => return Err(failed(e, "cannot open the directory")),
            };
            match rustix::fs::mkdirat(&parent, &prefix[start..end], Mode::from_raw_mode(0o777)) {
                Ok(()) => self.settle(parent.as_fd())?,
                Err(Errno::EXIST) => {}
                Err(Errno::NOENT) => return Ok(()),
                Err(e) => return Err(failed(e, "cannot create the directory")),
            }
            start = end + 1;
        }
        Ok(())
    }

    /// Makes a change of a directory durable, if that is wanted.
    pub(crate) fn settle(&self, dir: BorrowedFd<'_>) -> StoreResult<()> {
        if self.durability != Durability::Durable {
            return Ok(());
        }
        rustix::fs::fsync(dir).map_err(|e| uncertain(e, "the change is visible, but may not be durable"))
    }

    fn flush(&self) -> StoreResult<()> {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        let flushed = rustix::fs::syncfs(self.root.fd());
        #[cfg(not(any(target_os = "linux", target_os = "android")))]
        let flushed = rustix::fs::fsync(self.root.fd()).map(|()| rustix::fs::sync());
        flushed.map_err(|e| uncertain(e, "what was written may not be durable"))
    }
}

fn below_object() -> StoreError {
    let message = "a part of this key is an object, and a directory cannot take its place";
    StoreError::new(StoreErrorKind::Io, message)
}

fn uncertain(e: Errno, message: &str) -> StoreError {
    StoreError::new(StoreErrorKind::Uncertain, message).with_source(std::io::Error::from(e))
}

/// The name of a file that nobody sees yet. The file is deleted when this is dropped before it was published.
struct Temporary<'a> {
    dir: BorrowedFd<'a>,
    /// The directory of the object in `dir`: empty, or ending in `/`.
    within: &'a str,
    /// In `dir`; empty once it was published.
    name: String,
}

enum Published {
    Yes,
    /// There is an object, and it was to be created.
    Exists,
    /// The directory, and the temporary in it, were deleted.
    Gone,
}

impl<'a> Temporary<'a> {
    /// A new file beside `object`; `None` when the directory has been deleted.
    fn create(
        store: &FsStore,
        dir: BorrowedFd<'a>,
        within: &'a str,
        object: &str,
    ) -> StoreResult<Option<(Self, File)>> {
        let end = (0..=STEM.min(object.len())).rev().find(|at| object.is_char_boundary(*at)).unwrap_or(0);
        // Readable, because the version that the put reports pins it.
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR | OFlags::CLOEXEC;
        loop {
            let name = format!("{within}{}_{:016x}.__lock", &object[..end], store.shared.unique());
            match rustix::fs::openat(dir, &name, flags, Mode::from_raw_mode(0o666)) {
                Ok(file) => return Ok(Some((Self { dir, within, name }, file.into()))),
                Err(Errno::EXIST) => {}
                Err(Errno::NOENT) => return Ok(None),
                Err(Errno::NOTDIR) => return Err(below_object()),
                Err(e) => return Err(failed(e, "cannot create a file")),
            }
        }
    }

    /// Makes the file the object of this name.
    fn publish(&mut self, object: &str, create: bool) -> StoreResult<Published> {
        let object = &*format!("{}{object}", self.within);
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

    /// Renames unless there is something at `object`, also for other processes.
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

/// Writes all of `parts`.
fn write_all(mut file: &File, parts: &[Bytes], durability: Durability) -> StoreResult<()> {
    for parts in parts.chunks(VECTOR) {
        let mut slices = [IoSlice::new(&[]); VECTOR];
        for (slice, part) in slices.iter_mut().zip(parts) {
            *slice = IoSlice::new(part);
        }
        let mut rest = &mut slices[..parts.len()];
        // Steps over parts without bytes, for which nothing would be written.
        IoSlice::advance_slices(&mut rest, 0);
        while !rest.is_empty() {
            match file.write_vectored(rest) {
                Ok(0) => {
                    return Err(StoreError::new(
                        StoreErrorKind::LimitExceeded,
                        "no room for the whole value",
                    ));
                }
                Ok(n) => IoSlice::advance_slices(&mut rest, n),
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(e) => return Err(StoreError::from(e)),
            }
        }
    }
    if durability == Durability::Durable {
        rustix::fs::fdatasync(file).map_err(|e| failed(e, "cannot write to the disk"))?;
    }
    Ok(())
}

/// The version that a file has once it is written, with the file.
fn pinned(file: File) -> StoreResult<Version> {
    let stat = rustix::fs::fstat(&file).map_err(|e| failed(e, "cannot inspect"))?;
    let size = size_of(&stat);
    Ok(version_of(&stat).with_pin(Arc::new(Opened { file, size })))
}

impl WriteStore for FsStore {
    fn put<'a>(
        &'a self,
        key: &'a Key,
        parts: &'a [Bytes],
        how: Put<'a>,
    ) -> BoxFuture<'a, StoreResult<Outcome>> {
        Box::pin(async move { self.replace(key, parts, how).map_err(|e| e.with_key(key)) })
    }

    fn delete<'a>(
        &'a self,
        key: &'a Key,
        version: Option<&'a Version>,
    ) -> BoxFuture<'a, StoreResult<Outcome>> {
        Box::pin(async move { self.remove(key, version).map_err(|e| e.with_key(key)) })
    }

    fn delete_prefix<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, StoreResult<()>> {
        Box::pin(async move { self.remove_prefix(prefix).map_err(|e| e.with_key(prefix)) })
    }

    fn sync(&self) -> BoxFuture<'_, StoreResult<()>> {
        Box::pin(async move { self.flush() })
    }
}
