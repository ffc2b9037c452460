//! Why a request failed. A failure travels through the errors of `object_store`, so that nothing is guessed from their texts.

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
    /// The request was not taken, and not applied: there was no connection, or the service has too many requests.
    NotTaken,
    /// The service was busy, down or silent, or the connection broke. A write may have been applied.
    Broken,
    /// Credentials are missing, or do not allow it.
    Refused,
    /// The range does not lie in the object. The size of the object in bytes, where the service tells it.
    Range(Option<u64>),
    /// There is a folder of that name: a web server redirects to a `/` at its end.
    Folder,
    /// The answer has more bytes than the caller takes.
    TooLarge,
    /// There is no memory for the answer.
    NoMemory,
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

    /// The failure among the causes of an error of `object_store`.
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

    /// The failure as an error of the store. `write`: the request may have been applied.
    pub(crate) fn report(&self, write: bool) -> StoreError {
        let kind = match self.why {
            Why::NotTaken => StoreErrorKind::Unavailable,
            Why::Broken if write => StoreErrorKind::Uncertain,
            Why::Broken => StoreErrorKind::Unavailable,
            Why::Refused => StoreErrorKind::PermissionDenied,
            Why::Range(Some(size)) => StoreErrorKind::RangeNotSatisfiable { size },
            Why::Unsupported => StoreErrorKind::Unsupported,
            Why::TooLarge => StoreErrorKind::TooLarge { size: None },
            Why::NoMemory => StoreErrorKind::LimitExceeded,
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
