//! The settings of a job, and what a worker did in it.

use std::time::Duration;

use crate::error::{CopyError, CopyResult};
use crate::told::Done;

/// The longest name of a job, in bytes.
const LONGEST: usize = 64;

/// A copy that several workers share, see [`CopyPlan::join`](crate::CopyPlan::join), or a pyramid. All of them give the same name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedCopy {
    pub(crate) name: String,
    pub(crate) lease: Duration,
    pub(crate) verify: bool,
    pub(crate) unit_bytes: u64,
}

/// The share of one worker in a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Share {
    /// The objects and bytes that this worker copied and compared.
    pub done: Done,
    /// The number of units that this worker copied.
    pub units: u64,
    /// Bytes of elements in these units.
    pub bytes: u128,
}

impl SharedCopy {
    /// Makes a job. The name has letters, digits, `-`, `_` and `.`, which is not the first; at most 64 of them.
    ///
    /// # Errors
    /// [`Settings`](crate::CopyErrorKind::Settings) for other names.
    pub fn new(name: impl Into<String>) -> CopyResult<Self> {
        let name = name.into();
        let is_good = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if name.is_empty() || name.len() > LONGEST || name.starts_with('.') || !name.chars().all(is_good) {
            let message = format!(
                "`join`: {name:?} is not the name of a job: at most {LONGEST} letters, digits, `-`, `_` and `.`, which \
                 is not the first"
            );
            return Err(CopyError::settings(message));
        }
        Ok(Self { name, lease: Duration::from_secs(60), verify: false, unit_bytes: 64 << 20 })
    }

    /// Sets how long another worker may give no sign of life before its units are taken over; 60 seconds by default. Workers
    /// give a sign four times as often. If a worker was only slow, it writes the same bytes once more.
    #[must_use]
    pub fn lease(mut self, lease: Duration) -> Self {
        self.lease = lease;
        self
    }

    /// Compares each unit with the source before it is recorded as done, and in the end those that an earlier run has
    /// recorded, as [`RunOptions::verify`](crate::RunOptions::verify). What differs there is copied again.
    #[must_use]
    pub fn verify(mut self, verify: bool) -> Self {
        self.verify = verify;
        self
    }

    /// Sets about how many bytes of elements a worker claims at once; 64 MiB by default. A unit has at least one block or
    /// object, and at most 256.
    #[must_use]
    pub fn unit_bytes(mut self, bytes: u64) -> Self {
        self.unit_bytes = bytes.max(1);
        self
    }
}
