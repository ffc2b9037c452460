//! The directories of objects: opened, and created if they are missing.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::Mode;
use rustix::io::Errno;
use zarr_store::Durability;
use zarr_traits::{Key, Prefix, StoreError, StoreErrorKind, StoreResult};

use crate::path::failed;
use crate::store::FsStore;

/// How often a change starts again because its directory or its temporary file was deleted.
pub(crate) const ATTEMPTS: usize = 8;

impl FsStore {
    /// Returns the directory of `key`, open. Creates it if it is missing.
    pub(crate) fn parent(&self, key: &Key) -> StoreResult<OwnedFd> {
        let prefix = key.parent();
        for _ in 0..ATTEMPTS {
            match self.root.directory(prefix.as_str()) {
                Ok(dir) => return Ok(dir),
                Err(Errno::NOENT) => self.make(&prefix)?,
                Err(Errno::NOTDIR) => {
                    let message =
                        "a part of this key is an object, so there can be no directory of that name";
                    return Err(StoreError::new(StoreErrorKind::Io, message));
                }
                Err(e) => return Err(failed(e, "cannot open the directory")),
            }
        }
        Err(failed(
            Errno::NOENT,
            "cannot create the directory: the root, or a directory above it, is deleted repeatedly",
        ))
    }

    /// Creates the directories of a prefix, from the root on.
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
