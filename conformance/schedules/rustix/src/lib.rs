//! rustix, whose calls on names in directories are steps of an exploration: others may go first before each, and a writer
//! that is dead makes none. Outside of an exploration the calls are as always.

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

    /// Lets others go first, and takes a step.
    pub(crate) fn step() -> Result<()> {
        if try_get_current_task().is_none() {
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
        if try_get_current_task().is_some() {
            (0..WAIT).for_each(|_| shuttle::thread::yield_now());
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

    use crate::steps::step;

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
        openat [P: Arg, D: AsFd] (dir: D, name: P, flags: OFlags, mode: Mode) -> OwnedFd;
        renameat [P: Arg, Q: Arg, D: AsFd, E: AsFd] (old: D, name: P, new: E, to: Q) -> ();
        statat [P: Arg, D: AsFd] (dir: D, name: P, flags: AtFlags) -> Stat;
        unlinkat [P: Arg, D: AsFd] (dir: D, name: P, flags: AtFlags) -> ();
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
