//! The reason why a request failed.

use zarr_traits::{StoreError, StoreErrorKind};

/// A request that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) why: Why,
    /// The message, without secrets.
    text: String,
    /// The pause that the server asks for, in seconds.
    pub(crate) retry_after: Option<u64>,
}

/// The reason of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Why {
    /// The server is busy, down or silent: the same request may succeed later.
    Passing,
    /// No connection, or it broke, or the browser does not allow the request: it does not tell these apart.
    Broken,
    /// Credentials are missing or not sufficient.
    Refused,
    /// The range is outside of the object; with the size of the object, if the server sends it.
    Outside(Option<u64>),
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

impl Failure {
    pub(crate) fn new(why: Why, text: impl Into<String>) -> Self {
        Self { why, text: text.into(), retry_after: None }
    }

    /// Returns the same failure with another reason.
    pub(crate) fn because(self, why: Why) -> Self {
        Self { why, ..self }
    }

    pub(crate) fn retry_after(self, seconds: Option<u64>) -> Self {
        Self { retry_after: seconds, ..self }
    }

    /// Whether the same request may succeed later.
    pub(crate) fn may_pass(&self) -> bool {
        matches!(self.why, Why::Passing | Why::Broken)
    }

    /// Adds the number of attempts to the message.
    pub(crate) fn tried(mut self, attempts: u32) -> Self {
        if attempts > 1 {
            self.text += &format!(" (tried {attempts} times)");
        }
        self
    }
}

impl From<Failure> for StoreError {
    fn from(failure: Failure) -> Self {
        let kind = match failure.why {
            Why::Passing | Why::Broken => StoreErrorKind::Unavailable,
            Why::Refused => StoreErrorKind::PermissionDenied,
            Why::Outside(Some(size)) => StoreErrorKind::RangeNotSatisfiable { size },
            Why::TooLarge(size) => StoreErrorKind::TooLarge { size },
            Why::NoMemory => StoreErrorKind::LimitExceeded,
            Why::Unsupported => StoreErrorKind::Unsupported,
            Why::Changed => StoreErrorKind::Changed,
            Why::Outside(None) | Why::Wrong => StoreErrorKind::Io,
        };
        Self::new(kind, failure.text)
    }
}
