//! Errors of reference files.

use zarr_traits::{StoreError, StoreErrorKind};

/// Returns the error of a file that is not one of references.
pub(crate) fn corrupt(message: impl Into<String>) -> StoreError {
    StoreError::new(StoreErrorKind::Corrupt, message)
}
