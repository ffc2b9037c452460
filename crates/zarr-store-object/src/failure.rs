//! The reason why a request failed. It travels through the errors of `object_store`, so no error texts are parsed.

use std::error::Error;
use std::fmt;

use zarr_traits::{StoreError, StoreErrorKind};

/// A request that failed after all attempts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) why: Why,
    /// The last HTTP status, if one was received.
    pub(crate) status: Option<u16>,
    /// The number of attempts.
    pub(crate) attempts: u32,
    /// The message, without secrets.
    pub(crate) text: String,
}

/// The reason of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Why {
    /// The request was not applied: no connection, or too many requests.
    NotTaken,
    /// The service was busy, down or silent, or the connection broke. A write may have been applied.
    Broken,
    /// Credentials are missing or not sufficient.
    Refused,
    /// The range is outside of the object; with the size of the object in bytes, if the service sends it.
    Range(Option<u64>),
    /// The name is a folder: the web server redirects to the name with a `/` at the end.
    Folder,
    /// The answer has more bytes than the caller accepts.
    TooLarge,
    /// There is not enough memory for the answer.
    NoMemory,
    /// The service does not support the request.
    Unsupported,
    /// The service calls the request wrong, or its answer is invalid.
    Wrong,
}

impl Failure {
    pub(crate) fn new(why: Why, text: impl Into<String>) -> Self {
        Self { why, status: None, attempts: 1, text: text.into() }
    }

    pub(crate) fn with_status(self, status: u16) -> Self {
        Self { status: Some(status), ..self }
    }

    /// Finds the failure among the causes of an error of `object_store`.
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

    /// Converts the failure into a store error. `write` says that the request may have been applied.
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
