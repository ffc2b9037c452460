//! Errors of the files of a repository.

use zarr_traits::{StoreError, StoreErrorKind};

/// Returns the error of a file that is damaged.
pub(crate) fn corrupt(message: impl Into<String>) -> StoreError {
    StoreError::new(StoreErrorKind::Corrupt, message)
}

/// Returns the error of a limit of this process.
pub(crate) fn too_much(message: impl Into<String>) -> StoreError {
    StoreError::new(StoreErrorKind::LimitExceeded, message)
}
