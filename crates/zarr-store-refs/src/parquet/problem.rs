//! Errors inside a Parquet file, to which the callers add the place.

use std::fmt::Display;

use zarr_traits::{StoreError, StoreErrorKind};

/// Why a file, or one of its references, cannot be read.
#[derive(Debug)]
pub(crate) struct Problem {
    kind: StoreErrorKind,
    message: String,
}

pub(crate) type Parsed<T> = Result<T, Problem>;

impl Problem {
    pub(crate) fn corrupt(message: impl Into<String>) -> Self {
        Self { kind: StoreErrorKind::Corrupt, message: message.into() }
    }

    pub(crate) fn limit(message: impl Into<String>) -> Self {
        Self { kind: StoreErrorKind::LimitExceeded, message: message.into() }
    }

    pub(crate) fn unsupported(message: impl Into<String>) -> Self {
        Self { kind: StoreErrorKind::Unsupported, message: message.into() }
    }

    /// Returns the error of content that ends too early.
    pub(crate) fn truncated() -> Self {
        Self::corrupt("the content ends too early")
    }

    /// Adds a place, which is around those that were added before.
    pub(crate) fn at(self, place: impl Display) -> Self {
        Self { kind: self.kind, message: format!("{place}: {}", self.message) }
    }

    /// Returns the error of a store, for a file.
    pub(crate) fn of_file(self, file: impl Display) -> StoreError {
        StoreError::new(self.kind, format!("file \"{file}\": {}", self.message))
    }
}
