//! Writing: a temporary in the directory of the object, which takes its place under the lock once it is whole.
//!
//! `put` of a new `a/b` in system calls: open the directory (which is made if it is missing), create a file in it that has no
//! name, and write; take the lock of the object ([`lock`](crate::lock)), look whether the condition holds, link, end the
//! lock, close. To replace `a/b`, the file is `a/b_<16 hex>.__lock`, locked and renamed. TensorStore hides files of that name,
//! and so do we. Which of both, [`temporary`](crate::temporary) decides.
//!
//! No directory is kept open for the next put. To know that it still is where its path leads costs nearly as much as to open
//! it: whoever moves a directory moves what is put into the one that is open.

use std::fs::File;
use std::io::{IoSlice, Seek, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::fs::{Mode, Stat};
use rustix::io::Errno;
use zarr_traits::{
    Bytes, Key, Prefix, StoreError, StoreErrorKind, StoreResult, Version,
    store::{Copied, CopyFrom, Outcome, Put, PutMode},
};

use crate::lock::Unlocked;
use crate::path::{check, failed, is_object, size_of, version_of};
use crate::read::Opened;
use crate::store::{Durability, FsStore};
use crate::temporary::{Published, Temporary};

/// How often a put starts again because its directory, or its temporary, was deleted under it.
pub(crate) const ATTEMPTS: usize = 8;

/// Parts that one system call writes.
const VECTOR: usize = 64;

impl FsStore {
    pub(crate) fn put(&self, put: Put<'_>) -> StoreResult<Outcome> {
        self.write(put, |file| write_all(file, put.parts))
    }

    /// Copies an open file. The kernel moves the bytes, or shares the blocks where the file system can.
    pub(crate) fn copy(&self, copy: CopyFrom<'_>) -> StoreResult<Copied> {
        let Some(source) = copy.origin.get::<Opened>() else { return Ok(Copied::Unable) };
        let put = Put::new(copy.key, &[], PutMode::Replace);
        self.write(put, |file| copy_all(file, source)).map(|_| Copied::Done)
    }

    /// Performs a put whose value `write` writes into a new file; more than once if the directory goes away.
    fn write(&self, put: Put<'_>, write: impl Fn(&File) -> StoreResult<()>) -> StoreResult<Outcome> {
        let Put { key, mode, .. } = put;
        check(key.as_str())?;
        // To create is exclusive by itself, and the last to replace wins.
        let unlocked = match mode {
            PutMode::Replace | PutMode::Create => Unlocked::Goes,
            _ => Unlocked::Fails,
        };
        for _ in 0..ATTEMPTS {
            // A conflict that can be seen now costs no write.
            if !self.allows(put)? {
                return Ok(Outcome::Conflict);
            }
            let parent = self.parent(key)?;
            let Some((mut temporary, file)) = Temporary::create(self, parent.as_fd(), key.name())? else {
                continue;
            };
            write(&file)?;
            if self.durability == Durability::Durable {
                rustix::fs::fdatasync(&file).map_err(|e| failed(e, "cannot write to the disk"))?;
            }
            // Only who puts on a condition is told the version, and may want to keep it.
            let written = match mode {
                PutMode::Replace => None,
                _ => Some(rustix::fs::fstat(&file).map_err(|e| failed(e, "cannot inspect"))?),
            };
            let Some(lock) = self.lock(parent.as_fd(), key.as_str(), key.name().as_bytes(), unlocked)? else {
                continue;
            };
            let is_new = matches!(mode, PutMode::Create);
            // What creates sees by itself whether it may.
            if !is_new && !self.allows(put)? {
                return Ok(Outcome::Conflict);
            }
            let published = temporary.publish(&file, is_new)?;
            drop(lock);
            match published {
                Published::Yes => {
                    self.settle(parent.as_fd())?;
                    return Ok(Outcome::Done(written.map(|stat| pinned(&stat, file))));
                }
                Published::Exists => return Ok(Outcome::Conflict),
                Published::Gone => {}
            }
        }
        Err(StoreError::new(StoreErrorKind::Io, "the directory was deleted again and again during the write"))
    }

    /// Whether the condition of a put holds now.
    fn allows(&self, put: Put<'_>) -> StoreResult<bool> {
        match put.mode {
            PutMode::Replace => Ok(true),
            PutMode::Create => Ok(self.version(put.key)?.is_none()),
            PutMode::IfUnchanged(version) => Ok(self.version(put.key)?.as_ref() == Some(version)),
            _ => put.unsupported_mode(),
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
                Err(Errno::NOTDIR) => {
                    let message = "a part of this key is an object, and a directory cannot take its place";
                    return Err(StoreError::new(StoreErrorKind::Io, message));
                }
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

    /// Makes everything written so far durable.
    pub(crate) fn flush(&self) -> StoreResult<()> {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        let flushed = rustix::fs::syncfs(self.root.fd());
        #[cfg(not(any(target_os = "linux", target_os = "android")))]
        let flushed = rustix::fs::fsync(self.root.fd()).map(|()| rustix::fs::sync());
        flushed.map_err(|e| uncertain(e, "what was written may not be durable"))
    }
}

fn uncertain(e: Errno, message: &str) -> StoreError {
    StoreError::new(StoreErrorKind::Uncertain, message).with_source(std::io::Error::from(e))
}

/// Writes all of `parts`.
fn write_all(mut file: &File, parts: &[Bytes]) -> StoreResult<()> {
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
    Ok(())
}

/// Writes all of another file.
fn copy_all(mut file: &File, source: &Opened) -> StoreResult<()> {
    let mut from = &source.file;
    from.rewind()?;
    if std::io::copy(&mut from, &mut file)? == source.size {
        return Ok(());
    }
    Err(StoreError::new(StoreErrorKind::Changed, "the file changed its length while it was copied"))
}

/// The version of a file that was written, with the file.
fn pinned(stat: &Stat, file: File) -> Version {
    version_of(stat).with_pin(Arc::new(Opened { file, size: size_of(stat) }))
}
