//! The directories of objects: opened, and created if they are missing.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::Mode;
use rustix::io::{Errno, Result};
use zarr_store::Durability;
use zarr_traits::{Key, Prefix, StoreError, StoreErrorKind, StoreResult};

use crate::path::failed;
use crate::store::FsStore;

/// How often a change starts again because its directory or its temporary file was deleted.
pub(crate) const ATTEMPTS: usize = 8;

impl FsStore {
    /// Returns the directory of `key`, open. Creates it if it is missing.
    pub(crate) fn parent(&self, key: &Key) -> StoreResult<OwnedFd> {
        let opened = self.in_parent(key, |prefix| self.root.directory(prefix))?;
        opened.map_err(|e| failed(e, "cannot open the directory"))
    }

    /// Opens a file in the directory of `key`, by the prefix of the key. Creates the directory if it is missing.
    pub(crate) fn in_parent<T>(&self, key: &Key, open: impl Fn(&str) -> Result<T>) -> StoreResult<Result<T>> {
        let prefix = key.parent();
        for _ in 0..ATTEMPTS {
            match open(prefix.as_str()) {
                Err(Errno::NOENT) => self.make(&prefix)?,
                Err(Errno::NOTDIR) => {
                    let message =
                        "a part of this key is an object, so there can be no directory of that name";
                    return Err(StoreError::new(StoreErrorKind::Io, message));
                }
                opened => return Ok(opened),
            }
        }
        Err(failed(
            Errno::NOENT,
            "cannot create the directory: the root, or a directory above it, is deleted repeatedly",
        ))
    }

    /// Creates the directories of a prefix that are missing. Looks for the others from below: most often one is missing.
    fn make(&self, prefix: &Prefix) -> StoreResult<()> {
        let prefix = prefix.as_str();
        let mut start = 0;
        let next = |(end, _)| (std::mem::replace(&mut start, end + 1), end);
        let names: Vec<(usize, usize)> = prefix.match_indices('/').map(next).collect();
        let is_in_nothing =
            |(start, _): &(usize, usize)| matches!(self.root.stat(&prefix[..*start]), Ok(None));
        let there = names.iter().rposition(|name| !is_in_nothing(name)).unwrap_or(0);
        for &(start, end) in names.iter().skip(there) {
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
        }
        Ok(())
    }

    /// Makes a change of a directory durable, if the store is set so.
    pub(crate) fn settle(&self, dir: BorrowedFd<'_>) -> StoreResult<()> {
        if self.writing.durability != Durability::Durable {
            return Ok(());
        }
        rustix::fs::fsync(dir).map_err(|e| uncertain(e, "the change is visible, but may not be durable"))
    }
}

pub(crate) fn uncertain(e: impl Into<std::io::Error>, message: &str) -> StoreError {
    StoreError::new(StoreErrorKind::Uncertain, message).with_source(e.into())
}
