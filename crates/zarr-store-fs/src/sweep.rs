//! Removes the files that dead writers have left.

use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, FileType};
use rustix::io::{Errno, Result};
use zarr_traits::StoreResult;

use crate::delete::{entries, open_here};
use crate::lock::discard;
use crate::path::{LOCK, failed, present};
use crate::store::FsStore;

impl FsStore {
    /// Deletes the lock files and temporary files of dead writers (`*.__lock`) that were last written at least
    /// `older_than` ago. Returns the number of deleted files.
    ///
    /// Leftovers do no harm: they are hidden, and the next writer takes a lock file over. So this is never done
    /// automatically. A file that a running writer has locked stays at any age. The age protects the files of writers
    /// that take no locks (a [`with_single_writer`](Self::with_single_writer), and TensorStore with `file_io_locking` off): a day
    /// is ample. Directories behind links are not swept.
    ///
    /// # Errors
    /// If a directory cannot be read, or a file in it cannot be deleted.
    pub fn sweep(&self, older_than: Duration) -> StoreResult<u64> {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let error = |e| failed(e, "cannot sweep the directory");
        let root = self.root.directory("").map_err(error)?;
        sweep_below(root.as_fd(), since.saturating_sub(older_than)).map_err(error)
    }
}

/// Sweeps files that were last written before a time, counted since 1970.
fn sweep_below(dir: BorrowedFd<'_>, before: Duration) -> Result<u64> {
    let mut swept = 0;
    let entries = match entries(dir) {
        // It was deleted since it was opened, and with it what was left there.
        Err(Errno::NOENT) => return Ok(0),
        entries => entries?,
    };
    for (name, kind) in entries {
        if kind == FileType::Directory {
            match open_here(dir, &name) {
                Ok(below) => swept += sweep_below(below.as_fd(), before)?,
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {}
                Err(e) => return Err(e),
            }
        } else if kind == FileType::RegularFile && name.to_bytes().ends_with(LOCK.as_bytes()) {
            let Some(stat) = present(rustix::fs::statat(dir, &name, AtFlags::SYMLINK_NOFOLLOW))? else {
                continue;
            };
            let is_old = u64::try_from(stat.st_mtime).unwrap_or(0) <= before.as_secs();
            swept += u64::from(is_old && discard(dir, name.to_bytes())?);
        }
    }
    Ok(swept)
}
