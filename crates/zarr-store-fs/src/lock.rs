//! The lock of an object, which keeps writers in other processes away: ours, and TensorStore's, whose protocol it is.
//!
//! The lock of `a/b` is an open-file-description lock on the empty file `a/b.__lock`, which is there only as long as
//! somebody wants it. In system calls: open the file (created if it is missing) and inspect it, lock it, and look whether
//! it still has its name. If not, its last holder has unlinked it while we waited, and we start again. Then comes the
//! change, and at the end the file is unlinked and closed. A process that dies leaves an empty file without a lock, which
//! the next writer takes over.
//!
//! - *Whoever has the lock, and nobody else, may unlink the file and change the object.*
//! - *No data is ever in it*, unlike with TensorStore, which renames its lock file: what a dead writer of theirs has left
//!   in there gets into no object of ours.
//! - *The temporary is written before the lock is taken.* So a slow disk, or a process that is stopped, rarely keeps others
//!   waiting; and if the directory is deleted and made again between, a rename or a link in the old one fails, under a
//!   lock that is no longer the right one.
//! - *Every temporary that has a name is locked by its writer*, so that of all files `*.__lock` one rule holds: what can be
//!   locked belongs to nobody.

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

/// The first pause of one who waits, and the longest one.
const FIRST_PAUSE: Duration = Duration::from_micros(100);
const LONGEST_PAUSE: Duration = Duration::from_micros(25_600);

/// As long as this lives, nobody else changes the object.
pub(crate) struct Lock<'a> {
    // Dropped in this order: the next thread of this process finds the lock free.
    _file: Option<LockFile<'a>>,
    _turn: Turn<'a>,
}

/// What a change does where the file of its lock cannot be made or locked.
#[derive(Clone, Copy)]
pub(crate) enum Unlocked {
    /// It fails, because it has a condition that only the lock keeps true.
    Fails,
    /// It goes ahead on a file system without locks, where nobody else has one either.
    Goes,
    /// And also where there is no room for the file: deleting makes room.
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
    /// Waits for the lock of the object `name` in `dir`, which is at `path`; `None` when `dir` has been deleted.
    pub(crate) fn lock<'a>(
        &'a self,
        dir: BorrowedFd<'a>,
        path: &str,
        name: &[u8],
        unlocked: Unlocked,
    ) -> StoreResult<Option<Lock<'a>>> {
        let file = || format!("the lock file {}{LOCK}", self.root.path().join(path).display());
        let late = || {
            let message = format!("waited {:?} in vain: some process holds {}", self.patience, file());
            StoreError::new(StoreErrorKind::Io, message)
        };
        let wait = Wait { store: self, start: Instant::now(), pauses: 0 };
        let turn = self.shared.turns.wait(path, wait.rest()).ok_or_else(late)?;
        if self.single_writer {
            return Ok(Some(Lock { _file: None, _turn: turn }));
        }
        match LockFile::take(dir, [name, LOCK.as_bytes()].concat(), wait) {
            Ok(Some(file)) => Ok(Some(Lock { _file: Some(file), _turn: turn })),
            Ok(None) => Err(late()),
            Err(Errno::NOENT) => Ok(None),
            Err(e) if unlocked.permits(e) => Ok(Some(Lock { _file: None, _turn: turn })),
            Err(Errno::LOOP | Errno::ISDIR | Errno::NXIO) => {
                Err(StoreError::new(StoreErrorKind::Io, format!("{} is no regular file", file())))
            }
            Err(e) if has_no_locks(e) => {
                let message = format!("{} cannot be locked, without which updates can be lost", file());
                Err(StoreError::new(StoreErrorKind::Unsupported, message)
                    .with_source(std::io::Error::from(e)))
            }
            Err(e) => Err(failed(e, format!("cannot open {}", file()))),
        }
    }
}

/// The lock file of an object, which this process has locked. It is deleted when this is dropped.
struct LockFile<'a> {
    dir: BorrowedFd<'a>,
    name: Vec<u8>,
    _file: OwnedFd,
}

impl<'a> LockFile<'a> {
    /// Waits for it; `None` when it was held by others for all the time that there was.
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
                        // Nobody can use it, so that it need not lie beside every object.
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
        // Closing it ends the lock. If the name cannot go, it is an empty file that the next writer takes over.
        let _ = rustix::fs::unlinkat(self.dir, &self.name, AtFlags::empty());
    }
}

/// Deletes a file `*.__lock` that belongs to nobody; `false` if it is locked, is gone, or is not ours to open.
pub(crate) fn discard(dir: BorrowedFd<'_>, name: &[u8]) -> Result<bool> {
    let file = match open(dir, name, OFlags::empty()) {
        Ok(file) => file,
        Err(Errno::NOENT | Errno::ACCESS) => return Ok(false),
        Err(e) => return Err(e),
    };
    let opened = rustix::fs::fstat(&file)?;
    let is_free = match try_lock(&file) {
        Err(e) if has_no_locks(e) => true,
        locked => locked?,
    };
    // Without its name it is not the file that others lock.
    if !is_free || !is_at(dir, name, &opened)? {
        return Ok(false);
    }
    rustix::fs::unlinkat(dir, name, AtFlags::empty())?;
    Ok(true)
}

/// Waiting with pauses, as long as the store is ready to. Futures of this store do their work while they are polled, so
/// that sleeping is right.
struct Wait<'a> {
    store: &'a FsStore,
    start: Instant,
    pauses: u32,
}

impl Wait<'_> {
    fn rest(&self) -> Duration {
        self.store.patience.saturating_sub(self.start.elapsed())
    }

    /// Sleeps for a [`pause`]; `false` when there is no time left for one.
    fn pause(&mut self) -> bool {
        let rest = self.rest();
        self.pauses = self.pauses.saturating_add(1);
        thread::sleep(pause(FIRST_PAUSE, LONGEST_PAUSE, self.pauses).min(rest));
        !rest.is_zero()
    }
}

/// Opens a lock file. Neither a link leads elsewhere, nor does a FIFO hold us up.
fn open(dir: BorrowedFd<'_>, name: &[u8], create: OFlags) -> Result<OwnedFd> {
    let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    retry_on_intr(|| rustix::fs::openat(dir, name, flags | create, Mode::from_raw_mode(0o666)))
}

/// Whether this name leads to the file that was opened.
fn is_at(dir: BorrowedFd<'_>, name: &[u8], opened: &Stat) -> Result<bool> {
    let there = present(rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW))?;
    Ok(there.is_some_and(|there| (there.st_dev, there.st_ino) == (opened.st_dev, opened.st_ino)))
}

/// Locks a file until it is closed; `false` if another has it open and locked.
///
/// Where there are no open-file-description locks it is `flock`: everywhere but on Linux, and on its file systems that
/// refuse them. On one file system all programs come to the same of the two, which do not know of each other.
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

/// Whether a lock failed for good. A name too long for a lock file has none, with TensorStore neither.
pub(crate) fn has_no_locks(e: Errno) -> bool {
    [Errno::INVAL, Errno::NOTSUP, Errno::OPNOTSUPP, Errno::NOLCK, Errno::NOSYS, Errno::NAMETOOLONG]
        .contains(&e)
}
