//! The meaning of answers of HTTP servers, for stores that send requests.

use std::error::Error;
use std::ops::Range;
use std::time::Duration;

use zarr_traits::{StoreError, StoreErrorKind};

/// A request that failed after all attempts. It passes through the errors of other libraries unchanged, so no error texts are
/// parsed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}{}", tried(*.attempts))]
#[non_exhaustive]
pub struct HttpFailure {
    /// The reason.
    pub why: Why,
    /// The last HTTP status, if one was received.
    pub status: Option<u16>,
    /// The number of attempts.
    pub attempts: u32,
    /// The message, without secrets.
    pub text: String,
    /// The pause that the server asks for.
    pub retry_after: Option<Duration>,
}

/// The reason of an [`HttpFailure`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Why {
    /// The request was not applied: no connection, or too many requests.
    NotTaken,
    /// The server was busy, down or silent, or the connection broke. A write may have been applied.
    Broken,
    /// Credentials are missing or not sufficient.
    Refused,
    /// The range is outside of the object; with the size of the object in bytes, if the server sends it.
    Range(Option<u64>),
    /// The name is a folder: the web server redirects to the name with a `/` at the end.
    Folder,
    /// The answer has more bytes than the caller accepts; with the size of the object, if known.
    TooLarge(Option<u64>),
    /// There is not enough memory for the answer.
    NoMemory,
    /// The server does not support the request.
    Unsupported,
    /// The object is not, or no longer, the requested version.
    Changed,
    /// The server calls the request wrong, or its answer is invalid.
    Wrong,
}

impl HttpFailure {
    /// Returns the failure of a first attempt. `text` must not have secrets.
    pub fn new(why: Why, text: impl Into<String>) -> Self {
        Self { why, status: None, attempts: 1, text: text.into(), retry_after: None }
    }

    /// Returns the failure for a range outside of an object of `size` bytes, if known.
    #[must_use]
    pub fn outside(size: Option<u64>) -> Self {
        let size_told = size.map_or(String::new(), |size| format!(", which has {size} bytes"));
        Self::new(Why::Range(size), format!("the range is outside of the object{size_told}")).with_status(416)
    }

    /// Sets the HTTP status.
    #[must_use]
    pub fn with_status(self, status: u16) -> Self {
        Self { status: Some(status), ..self }
    }

    /// Sets the reason.
    #[must_use]
    pub fn because(self, why: Why) -> Self {
        Self { why, ..self }
    }

    /// Sets the number of attempts.
    #[must_use]
    pub fn tried(self, attempts: u32) -> Self {
        Self { attempts, ..self }
    }

    /// Sets the pause that the server asks for.
    #[must_use]
    pub fn with_retry_after(self, retry_after: Option<Duration>) -> Self {
        Self { retry_after, ..self }
    }

    /// Finds the failure among the causes of an error of another library.
    #[must_use]
    pub fn within<'e>(e: &'e (dyn Error + 'static)) -> Option<&'e Self> {
        e.downcast_ref().or_else(|| Self::within(e.source()?))
    }

    /// Converts the failure into a store error. `write` says that the request may have been applied.
    #[must_use]
    pub fn report(&self, write: bool) -> StoreError {
        let kind = match self.why {
            Why::Broken if write => StoreErrorKind::Uncertain,
            Why::NotTaken | Why::Broken => StoreErrorKind::Unavailable,
            Why::Refused => StoreErrorKind::PermissionDenied,
            Why::Range(Some(size)) => StoreErrorKind::RangeNotSatisfiable { size },
            Why::TooLarge(size) => StoreErrorKind::TooLarge { size },
            Why::NoMemory => StoreErrorKind::LimitExceeded,
            Why::Unsupported => StoreErrorKind::Unsupported,
            Why::Changed => StoreErrorKind::Changed,
            Why::Range(None) | Why::Folder | Why::Wrong => StoreErrorKind::Io,
        };
        StoreError::new(kind, self.to_string())
    }
}

impl Why {
    /// Returns the reason for an error status. `size` is the size of the object, if the head of the answer has it.
    #[must_use]
    pub fn of_status(status: u16, size: Option<u64>) -> Self {
        match status {
            401 | 403 | 407 => Self::Refused,
            416 => Self::Range(size),
            405 | 501 | 505 => Self::Unsupported,
            429 => Self::NotTaken,
            408 | 500 | 502 | 503 | 504 => Self::Broken,
            _ => Self::Wrong,
        }
    }

    /// Whether the same request may succeed later.
    #[must_use]
    pub fn may_pass(self) -> bool {
        matches!(self, Self::NotTaken | Self::Broken)
    }
}

/// Returns the number of attempts for a message, if there were several.
fn tried(attempts: u32) -> String {
    if attempts > 1 { format!(" (tried {attempts} times)") } else { String::new() }
}

impl From<HttpFailure> for StoreError {
    /// Converts the failure of a request that changes nothing.
    fn from(failure: HttpFailure) -> Self {
        failure.report(false)
    }
}

/// Parses a header `Content-Range`: the range, and the size of the object. Each is `None` if it is missing or not valid.
#[must_use]
pub fn content_range(told: &str) -> (Option<Range<u64>>, Option<u64>) {
    let Some((range, size)) = told.trim().rsplit_once('/') else { return (None, None) };
    let parsed = || {
        let (first, last) = range.strip_prefix("bytes ")?.split_once('-')?;
        Some(first.trim().parse().ok()?..last.trim().parse::<u64>().ok()?.checked_add(1)?)
    };
    (parsed(), size.trim().parse().ok())
}

/// Parses a header `Retry-After` in seconds. `None`: it is not a number, but may be a date.
#[must_use]
pub fn retry_after(told: &str) -> Option<Duration> {
    told.trim().parse().ok().map(Duration::from_secs)
}
