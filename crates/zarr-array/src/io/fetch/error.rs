//! The errors of fetching.

use std::fmt;

use zarr_traits::{CodecError, CodecErrorKind, StoreError, StoreErrorKind, codec::EncodedSize};

use crate::error::{ArrayError, ArrayErrorKind};

pub(crate) fn changed_often() -> ArrayError {
    ArrayError::new(
        ArrayErrorKind::Conflict,
        "other writers changed the object during each of several attempts to read it",
    )
}

/// Returns the error for a codec that breaks its contract.
pub(crate) fn strange(message: &str) -> ArrayError {
    CodecError::new(CodecErrorKind::InvalidArgument, message).into()
}

/// Returns the error for a store that breaks its contract.
pub(super) fn short(got: usize, expected: usize) -> FetchError {
    let message = format!("the store returned {got} bytes where {expected} were requested");
    ArrayError::new(ArrayErrorKind::Io, message).into()
}

/// Turns the error that an object exceeds the limit of its read into one about the chunk.
pub(crate) fn too_large(e: StoreError, expected: EncodedSize, limit: u64) -> ArrayError {
    let StoreErrorKind::TooLarge { size } = e.kind() else { return e.into() };
    let size = size.map_or_else(|| format!("more than {limit}"), |size| size.to_string());
    match expected {
        EncodedSize::Exact(exact) if exact <= limit => wrong_size(size, exact),
        _ => {
            let message =
                format!("the object has {size} bytes, but a chunk of this array may have at most {limit}");
            ArrayError::new(ArrayErrorKind::LimitExceeded, message)
        }
    }
}

pub(crate) fn wrong_size(size: impl fmt::Display, expected: u64) -> ArrayError {
    ArrayError::new(ArrayErrorKind::Corrupt, format!("the object has {size} bytes, expected {expected}"))
}

/// Why an object could not be fetched.
pub(crate) enum FetchError {
    /// The object was changed meanwhile: start again.
    Changed,
    Other(ArrayError),
}

impl From<zarr_traits::StoreError> for FetchError {
    fn from(e: zarr_traits::StoreError) -> Self {
        if e.kind() == StoreErrorKind::Changed { Self::Changed } else { Self::Other(e.into()) }
    }
}

impl From<CodecError> for FetchError {
    fn from(e: CodecError) -> Self {
        Self::Other(e.into())
    }
}

impl From<ArrayError> for FetchError {
    fn from(e: ArrayError) -> Self {
        Self::Other(e)
    }
}
