//! rustix, whose calls on names in directories are steps of an exploration: others may go first before each, and a writer
//! that is dead makes none. Which files are on the disk is only noted. Outside of an exploration the calls are as always.

pub use rustix::path;

pub mod steps {
    //! When a writer makes its steps, and when it dies.

    use std::cell::Cell;

    use rustix::io::{Errno, Result};
    use shuttle::current::try_get_current_task;
    use shuttle::sync::atomic::{AtomicBool, Ordering};

    shuttle::thread_local! {
        /// The steps that this writer takes before it dies.
        static LEFT: Cell<u64> = Cell::new(u64::MAX);
    }

    /// Lets this writer die after so many steps: all further calls fail and do nothing. Its files are closed as its errors
    /// return, as the kernel does it for a dead process.
    pub fn die_after(steps: u64) {
        LEFT.with(|left| left.set(steps));
    }

    /// Whether this writer is dead.
    pub fn is_dead() -> bool {
        LEFT.with(Cell::get) == 0
    }

    /// Whether this is a call of an exploration.
    pub(crate) fn is_explored() -> bool {
        try_get_current_task().is_some()
    }

    /// Lets others go first, and takes a step.
    pub(crate) fn step() -> Result<()> {
        if !is_explored() {
            return Ok(());
        }
        // Each use of such a variable lets the scheduler choose who goes on.
        AtomicBool::new(false).load(Ordering::SeqCst);
        LEFT.with(|left| match left.get().checked_sub(1) {
            Some(fewer) => {
                left.set(fewer);
                Ok(())
            }
            None => Err(Errno::IO),
        })
    }

    /// How often a writer that waits lets others go on: about as often as a holder of the lock needs, because a wait of the
    /// store takes the time of the machine.
    const WAIT: usize = 30;

    /// Lets others go on, for whom this writer waits.
    pub(crate) fn wait() {
        if is_explored() {
            (0..WAIT).for_each(|_| shuttle::thread::yield_now());
        }
    }
}

pub mod disk {
    //! Which files a power cut would leave as they are.

    use std::collections::BTreeSet;
    use std::os::fd::AsFd;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::sync::{Mutex, MutexGuard, PoisonError};

    use rustix::fs::{Stat, fstat};

    /// The inodes of files that were made and are not on the disk yet.
    static VOLATILE: Mutex<BTreeSet<(u64, u64)>> = Mutex::new(BTreeSet::new());
    static LOST: AtomicU64 = AtomicU64::new(0);

    /// Returns how often, since the last call, a file that was on the disk was replaced by one that was not.
    pub fn lost() -> u64 {
        LOST.swap(0, Ordering::Relaxed)
    }

    fn volatile() -> MutexGuard<'static, BTreeSet<(u64, u64)>> {
        VOLATILE.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn inode(stat: &Stat) -> (u64, u64) {
        (stat.st_dev, stat.st_ino)
    }

    /// Notes that a file was made. One with data was there already, such as a lock file that becomes an object.
    pub(crate) fn made(file: impl AsFd) {
        volatile().extend(fstat(file).as_ref().ok().filter(|stat| stat.st_size == 0).map(inode));
    }

    /// Notes that a file is on the disk.
    pub(crate) fn is_on_disk(file: impl AsFd) {
        if let Ok(stat) = fstat(file) {
            volatile().remove(&inode(&stat));
        }
    }

    /// Notes that all files are on the disk.
    pub(crate) fn all_on_disk() {
        volatile().clear();
    }

    /// Notes that a file replaced another one.
    pub(crate) fn replaced(old: &Stat, new: &Stat) {
        let volatile = volatile();
        if !volatile.contains(&inode(old)) && volatile.contains(&inode(new)) {
            LOST.fetch_add(1, Ordering::Relaxed);
        }
    }
}

pub mod io {
    //! As `rustix::io`; a lock that somebody else holds lets others go on.

    pub use rustix::io::*;

    use crate::steps::{step, wait};

    /// As `rustix::io::retry_on_intr`.
    ///
    /// # Errors
    /// Those of `call`.
    pub fn retry_on_intr<T>(call: impl FnMut() -> Result<T>) -> Result<T> {
        step()?;
        let done = rustix::io::retry_on_intr(call);
        if matches!(done, Err(Errno::AGAIN | Errno::ACCESS)) {
            wait();
        }
        done
    }
}

pub mod fs {
    //! As `rustix::fs`, with a step before each call on a name.

    use std::os::fd::{AsFd, OwnedFd};

    pub use rustix::fs::*;
    use rustix::io::Result;
    use rustix::path::Arg;

    use crate::disk;
    use crate::steps::{is_explored, step};

    /// Makes functions that take a step first.
    macro_rules! stepped {
        ($($name:ident [$($generic:ident: $bound:ident),*] ($($argument:ident: $type:ty),*) -> $result:ty;)*) => {$(
            #[doc = concat!("As `rustix::fs::", stringify!($name), "`.")]
            ///
            /// # Errors
            /// Those of the call.
            pub fn $name<$($generic: $bound),*>($($argument: $type),*) -> Result<$result> {
                step()?;
                rustix::fs::$name($($argument),*)
            }
        )*};
    }

    stepped! {
        fstat [F: AsFd] (file: F) -> Stat;
        linkat [P: Arg, Q: Arg, D: AsFd, E: AsFd] (old: D, name: P, new: E, to: Q, flags: AtFlags) -> ();
        mkdirat [P: Arg, D: AsFd] (dir: D, name: P, mode: Mode) -> ();
        statat [P: Arg, D: AsFd] (dir: D, name: P, flags: AtFlags) -> Stat;
        unlinkat [P: Arg, D: AsFd] (dir: D, name: P, flags: AtFlags) -> ();
    }

    /// As `rustix::fs::openat`. A file that is made is not on the disk.
    ///
    /// # Errors
    /// Those of the call.
    pub fn openat<P: Arg, D: AsFd>(dir: D, name: P, flags: OFlags, mode: Mode) -> Result<OwnedFd> {
        step()?;
        let file = rustix::fs::openat(dir, name, flags, mode)?;
        if flags.contains(OFlags::CREATE) || flags.contains(OFlags::TMPFILE) {
            disk::made(&file);
        }
        Ok(file)
    }

    /// As `rustix::fs::renameat`. It is noted if a file that is on the disk is replaced by one that is not.
    ///
    /// # Errors
    /// Those of the call.
    pub fn renameat<P: Arg + Copy, Q: Arg + Copy, D: AsFd, E: AsFd>(
        old: D,
        name: P,
        new: E,
        to: Q,
    ) -> Result<()> {
        step()?;
        let from = rustix::fs::statat(&old, name, AtFlags::SYMLINK_NOFOLLOW);
        let replaced = rustix::fs::statat(&new, to, AtFlags::SYMLINK_NOFOLLOW);
        rustix::fs::renameat(old, name, new, to)?;
        if let (Ok(from), Ok(replaced)) = (from, replaced) {
            disk::replaced(&replaced, &from);
        }
        Ok(())
    }

    /// As `rustix::fs::fdatasync`; in an exploration it is only noted.
    ///
    /// # Errors
    /// Those of the call.
    pub fn fdatasync<F: AsFd>(file: F) -> Result<()> {
        if !is_explored() {
            return rustix::fs::fdatasync(file);
        }
        step()?;
        disk::is_on_disk(file);
        Ok(())
    }

    /// As `rustix::fs::syncfs`; in an exploration it is only noted.
    ///
    /// # Errors
    /// Those of the call.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub fn syncfs<F: AsFd>(file: F) -> Result<()> {
        if !is_explored() {
            return rustix::fs::syncfs(file);
        }
        step()?;
        disk::all_on_disk();
        Ok(())
    }

    /// As `rustix::fs::renameat_with`.
    ///
    /// # Errors
    /// Those of the call.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub fn renameat_with<P: Arg, Q: Arg, D: AsFd, E: AsFd>(
        old: D,
        name: P,
        new: E,
        to: Q,
        flags: RenameFlags,
    ) -> Result<()> {
        step()?;
        rustix::fs::renameat_with(old, name, new, to, flags)
    }
}
