//! Why the scheduler ends a run before its cells are done.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Why the scheduler ended a run. Errors of cells pass through it unchanged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Stop {
    /// [`Progress::cancel`](super::Progress::cancel) was called.
    #[error("the call was cancelled")]
    Cancelled,
    /// Other writers changed a cell during each of so many attempts to store it.
    #[error("other writers changed it during each of {attempts} attempts")]
    Lost {
        /// The number of attempts.
        attempts: u32,
    },
    /// The work of a codec or the call of a store panicked.
    #[error("{who} panicked: {message}")]
    Panicked {
        /// The origin of the code that panicked.
        who: &'static str,
        /// The message of the panic.
        message: String,
    },
    /// The thread pool dropped a job because it is shut down.
    #[error("the thread pool dropped a job because it is shut down")]
    Dropped,
}

/// Runs the work of codecs and turns a panic into an error.
///
/// # Errors
/// Those of the work, and [`Stop::Panicked`].
pub fn caught<R, E: From<Stop>>(work: impl FnOnce() -> Result<R, E>) -> Result<R, E> {
    caught_in("a codec", work)
}

pub(super) fn caught_in<R, E: From<Stop>>(
    who: &'static str,
    work: impl FnOnce() -> Result<R, E>,
) -> Result<R, E> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let message = panic.downcast_ref::<&str>().copied().map(str::to_owned);
        let message = message.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
        Err(Stop::Panicked { who, message }.into())
    })
}
