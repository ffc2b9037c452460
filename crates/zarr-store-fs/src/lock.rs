//! The lock of an object, which excludes writers in other processes: ours, and TensorStore's, which defined the
//! protocol.
//!
//! The lock of `a/b` is an open-file-description lock on the empty file `a/b.__lock`, which exists only while a writer
//! uses it. In system calls: open the file (create it if missing) and inspect it, lock it, and check that it still has
//! its name. If not, its last holder has unlinked it meanwhile, and we start again. Then comes the change; at the end
//! the file is unlinked and closed. A process that dies leaves an empty unlocked file, which the next writer takes
//! over.
//!
//! - *Only the holder of the lock may unlink the file and change the object.* Without the lock a new object may
//!   [appear](crate::appear), if it can be told that no holder is affected.
//! - *Data in the file is never taken over.* TensorStore renames its lock file to the object. So do we, when a complete file
//!   [replaces](crate::temporary::Temporary::supplant) an object without a condition. What a dead writer has left in it never
//!   gets into our objects.
//! - *The temporary file is written before the lock is taken.* So a slow disk or a stopped process rarely blocks
//!   others. If the directory is deleted and created again in between, the rename or link in the old one fails, so the
//!   lock in the old one does no harm.
//! - *Every temporary file with a name is locked by its writer.* So one rule holds for all files `*.__lock`: a file
//!   that can be locked has no owner.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, FileType, FlockOperation, Mode, OFlags, Stat};
use rustix::io::{Errno, Result, retry_on_intr};
use zarr_store::pause;
use zarr_traits::{StoreError, StoreErrorKind, StoreResult};

use crate::path::{LOCK, failed, present};
use crate::store::FsStore;
use crate::turn::Turn;

/// The first and the longest pause while waiting.
const FIRST_PAUSE: Duration = Duration::from_micros(100);
const LONGEST_PAUSE: Duration = Duration::from_micros(25_600);

/// While this exists, no other writer changes the object.
pub(crate) struct Lock<'a> {
    // Dropped in this order, so that the next thread of this process finds the file unlocked.
    _file: Option<LockFile<'a>>,
    _turn: Turn<'a>,
}

/// How a change proceeds if its lock file cannot be created or locked.
#[derive(Clone, Copy)]
pub(crate) enum Unlocked {
    /// Fails: its condition needs the lock.
    Fails,
    /// Goes ahead on a file system without locks, where other writers have none either.
    Goes,
    /// Goes ahead also if there is no space for the file: deleting makes space.
    GoesIfFull,
}

impl Unlocked {
    fn permits(self, e: Errno) -> bool {
        match self {
            Self::Fails => false,
            Self::Goes => has_no_locks(e),
            Self::GoesIfFull => has_no_locks(e) || [Errno::NOSPC, Errno::DQUOT].contains(&e),
        }
    }
}

impl FsStore {
    /// Waits for the lock of the object `name` in `dir`, which is at `path`. Returns `None` if `dir` was deleted.
    pub(crate) fn lock<'a>(
        &'a self,
        dir: BorrowedFd<'a>,
        path: &str,
        name: &[u8],
        unlocked: Unlocked,
    ) -> StoreResult<Option<Lock<'a>>> {
        let file = || format!("the lock file {}{LOCK}", self.root.path().join(path).display());
        let late = || {
            let message =
                format!("timed out after {:?}: another process holds {}", self.writing.patience, file());
            StoreError::new(StoreErrorKind::Io, message)
        };
        let wait = Wait { store: self, start: Instant::now(), pauses: 0 };
        let turn = self.writing.shared.turns.wait(path, wait.rest()).ok_or_else(late)?;
        if self.writing.single_writer {
            return Ok(Some(Lock { _file: None, _turn: turn }));
        }
        match LockFile::take(dir, [name, LOCK.as_bytes()].concat(), wait) {
            Ok(Some(file)) => Ok(Some(Lock { _file: Some(file), _turn: turn })),
            Ok(None) => Err(late()),
            Err(Errno::NOENT) => Ok(None),
            Err(e) if unlocked.permits(e) => Ok(Some(Lock { _file: None, _turn: turn })),
            Err(Errno::LOOP | Errno::ISDIR | Errno::NXIO) => {
                Err(StoreError::new(StoreErrorKind::Io, format!("{} is not a regular file", file())))
            }
            Err(e) if has_no_locks(e) => {
                let message =
                    format!("{} cannot be locked, and without the lock updates can be lost", file());
                Err(StoreError::new(StoreErrorKind::Unsupported, message)
                    .with_source(std::io::Error::from(e)))
            }
            Err(e) => Err(failed(e, format!("cannot open {}", file()))),
        }
    }
}

/// The lock file of an object, locked by this process. It is deleted on drop.
struct LockFile<'a> {
    dir: BorrowedFd<'a>,
    name: Vec<u8>,
    _file: OwnedFd,
}

impl<'a> LockFile<'a> {
    /// Waits for the lock. Returns `None` if the time is up.
    fn take(dir: BorrowedFd<'a>, name: Vec<u8>, mut wait: Wait<'_>) -> Result<Option<Self>> {
        loop {
            let file = open(dir, &name, OFlags::CREATE)?;
            let opened = rustix::fs::fstat(&file)?;
            if FileType::from_raw_mode(opened.st_mode) != FileType::RegularFile {
                return Err(Errno::NXIO);
            }
            loop {
                match try_lock(&file) {
                    Ok(true) => break,
                    Ok(false) if wait.pause() => {}
                    Ok(false) => return Ok(None),
                    Err(e) => {
                        // The file is useless, so it need not stay.
                        let _ = rustix::fs::unlinkat(dir, &name, AtFlags::empty());
                        return Err(e);
                    }
                }
            }
            if is_at(dir, &name, &opened)? {
                return Ok(Some(Self { dir, name, _file: file }));
            }
            if wait.rest().is_zero() {
                return Ok(None);
            }
        }
    }
}

impl Drop for LockFile<'_> {
    fn drop(&mut self) {
        // Closing the file ends the lock. If it cannot be unlinked, the next writer takes the empty file over.
        let _ = rustix::fs::unlinkat(self.dir, &self.name, AtFlags::empty());
    }
}

/// Deletes a file `*.__lock` without an owner. Returns `false` if it is locked, gone, or may not be opened.
pub(crate) fn discard(dir: BorrowedFd<'_>, name: &[u8]) -> Result<bool> {
    let file = match open(dir, name, OFlags::empty()) {
        Ok(file) => file,
        Err(Errno::NOENT | Errno::ACCESS) => return Ok(false),
        Err(e) => return Err(e),
    };
    discard_opened(dir, name, &file)
}

/// As [`discard`], of a file that was opened by this name.
fn discard_opened(dir: BorrowedFd<'_>, name: &[u8], file: &OwnedFd) -> Result<bool> {
    let opened = rustix::fs::fstat(file)?;
    let is_free = match try_lock(file) {
        Err(e) if has_no_locks(e) => true,
        locked => locked?,
    };
    // If the file has lost its name, other writers lock another file.
    if !is_free || !is_at(dir, name, &opened)? {
        return Ok(false);
    }
    // Its writer may have renamed or deleted it since.
    Ok(present(rustix::fs::unlinkat(dir, name, AtFlags::empty()))?.is_some())
}

/// Waits with pauses, up to the patience of the store. Sleeping is fine: futures of this store work while they are
/// polled.
struct Wait<'a> {
    store: &'a FsStore,
    start: Instant,
    pauses: u32,
}

impl Wait<'_> {
    fn rest(&self) -> Duration {
        self.store.writing.patience.saturating_sub(self.start.elapsed())
    }

    /// Sleeps for a [`pause`]. Returns `false` if the time is up.
    fn pause(&mut self) -> bool {
        let rest = self.rest();
        self.pauses = self.pauses.saturating_add(1);
        thread::sleep(pause(FIRST_PAUSE, LONGEST_PAUSE, self.pauses).min(rest));
        !rest.is_zero()
    }
}

/// Opens a lock file. Does not follow links, and a FIFO does not block.
fn open(dir: BorrowedFd<'_>, name: &[u8], create: OFlags) -> Result<OwnedFd> {
    let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    retry_on_intr(|| rustix::fs::openat(dir, name, flags | create, Mode::from_raw_mode(0o666)))
}

/// Whether the name still belongs to the opened file.
fn is_at(dir: BorrowedFd<'_>, name: &[u8], opened: &Stat) -> Result<bool> {
    let there = present(rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW))?;
    Ok(there.is_some_and(|there| (there.st_dev, there.st_ino) == (opened.st_dev, opened.st_ino)))
}

/// Locks a file until it is closed. Returns `false` if another process has locked it.
///
/// Falls back to `flock` where there are no open-file-description locks: outside of Linux, and on file systems that
/// refuse them. All programs on a file system make the same choice; the two kinds of locks ignore each other.
pub(crate) fn try_lock(file: impl AsFd) -> Result<bool> {
    let file = file.as_fd();
    let locked = match retry_on_intr(|| lock_description(file)) {
        Err(e) if has_no_locks(e) => {
            retry_on_intr(|| rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive))
        }
        done => done,
    };
    match locked {
        Ok(()) => Ok(true),
        Err(Errno::AGAIN | Errno::ACCESS) => Ok(false),
        Err(e) => Err(e),
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn lock_description(file: BorrowedFd<'_>) -> Result<()> {
    use nix::fcntl::{FcntlArg, fcntl};
    use nix::libc;
    #[allow(
        clippy::cast_possible_truncation,
        reason = "small constants, whose type is not that of the fields"
    )]
    let whole = libc::flock {
        l_type: libc::F_WRLCK as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: 0,
        l_len: 0,
        l_pid: 0,
    };
    match fcntl(file, FcntlArg::F_OFD_SETLK(&whole)) {
        Ok(_) => Ok(()),
        Err(e) => Err(Errno::from_raw_os_error(e as i32)),
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn lock_description(_: BorrowedFd<'_>) -> Result<()> {
    Err(Errno::INVAL)
}

/// Whether locking can never succeed. A name too long for a lock file has no lock, in TensorStore neither.
pub(crate) fn has_no_locks(e: Errno) -> bool {
    [Errno::INVAL, Errno::NOTSUP, Errno::OPNOTSUPP, Errno::NOLCK, Errno::NOSYS, Errno::NAMETOOLONG]
        .contains(&e)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn a_lock_file_that_another_writer_has_made_since_is_not_discarded() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("a.__lock");
        let dir = OwnedFd::from(File::open(place.path()).unwrap());
        fs::write(&path, "").unwrap();
        let opened = OwnedFd::from(File::options().read(true).write(true).open(&path).unwrap());
        let moved = place.path().join("b.__lock");
        fs::rename(&path, &moved).unwrap();
        fs::write(&path, "of another writer").unwrap();
        assert!(!discard_opened(dir.as_fd(), b"a.__lock", &opened).unwrap());
        assert!(path.exists() && moved.exists());
        fs::rename(&moved, &path).unwrap();
        assert!(discard_opened(dir.as_fd(), b"a.__lock", &opened).unwrap());
        assert!(!path.exists());
    }
}
