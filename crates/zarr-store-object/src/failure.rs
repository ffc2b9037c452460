//! Why a request failed: a type of our own that travels through `object_store`, so that nothing has to be guessed from texts.

use std::error::Error;
use std::fmt;

use zarr_traits::{StoreError, StoreErrorKind};

/// A request that failed for good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) why: Why,
    /// The last status of HTTP, if one came.
    pub(crate) status: Option<u16>,
    /// How often it was tried.
    pub(crate) attempts: u32,
    /// In words, without secrets.
    pub(crate) text: String,
}

/// Why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Why {
    /// Nobody took the request: it was not applied.
    NotSent,
    /// The service was busy, down or silent, or the connection broke. A write may have been applied.
    Broken,
    /// Not with these credentials, or with none.
    Refused,
    /// The range does not lie in the object, of this many bytes where that was told.
    Range(Option<u64>),
    /// There is a folder of that name: a web server asks for a `/` at its end.
    Folder,
    /// The answer is larger than what is to be held in memory.
    TooLarge,
    /// The service cannot do this.
    Unsupported,
    /// The service says that the request is wrong, or its answer cannot be right.
    Wrong,
}

impl Failure {
    pub(crate) fn new(why: Why, text: impl Into<String>) -> Self {
        Self { why, status: None, attempts: 1, text: text.into() }
    }

    pub(crate) fn with_status(self, status: u16) -> Self {
        Self { status: Some(status), ..self }
    }

    /// The failure that an error of `object_store` was caused by.
    pub(crate) fn within<'e>(e: &'e (dyn Error + 'static)) -> Option<&'e Self> {
        let mut error = Some(e);
        while let Some(e) = error {
            if let Some(found) = e.downcast_ref::<Self>() {
                return Some(found);
            }
            error = e.source();
        }
        None
    }

    /// As the store reports it; `write`: it may have been applied.
    pub(crate) fn report(&self, write: bool) -> StoreError {
        let kind = match self.why {
            Why::NotSent => StoreErrorKind::Unavailable,
            Why::Broken if write => StoreErrorKind::Uncertain,
            Why::Broken => StoreErrorKind::Unavailable,
            Why::Refused => StoreErrorKind::PermissionDenied,
            Why::Range(Some(size)) => StoreErrorKind::RangeNotSatisfiable { size },
            Why::Unsupported => StoreErrorKind::Unsupported,
            Why::TooLarge => StoreErrorKind::LimitExceeded,
            Why::Range(None) | Why::Folder | Why::Wrong => StoreErrorKind::Io,
        };
        StoreError::new(kind, self.to_string())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        match self.attempts {
            0 | 1 => Ok(()),
            n => write!(f, " (tried {n} times)"),
        }
    }
}

impl Error for Failure {}
