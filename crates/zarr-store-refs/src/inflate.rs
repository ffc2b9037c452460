//! Reference files that are compressed as a whole.

use zarr_traits::{Bytes, StoreError, StoreErrorKind, StoreResult};

const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Returns the content of a file, which may be a frame of Zstandard.
pub(crate) fn content(file: Bytes, most: u64) -> StoreResult<Bytes> {
    if !file.starts_with(&MAGIC) {
        return Ok(file);
    }
    inflated(&file, most)
}

#[cfg(feature = "zstd")]
fn inflated(file: &[u8], most: u64) -> StoreResult<Bytes> {
    let limit = usize::try_from(most).unwrap_or(usize::MAX);
    zrip::decompress_with_limit(file, limit).map(Bytes::from).map_err(|e| match e {
        zrip::DecompressError::OutputTooSmall => {
            let message = format!("the inflated references have more than {most} bytes, which is the limit");
            StoreError::new(StoreErrorKind::LimitExceeded, message)
        }
        e => StoreError::new(StoreErrorKind::Corrupt, "the references cannot be inflated").with_source(e),
    })
}

#[cfg(not(feature = "zstd"))]
fn inflated(_: &[u8], _: u64) -> StoreResult<Bytes> {
    let message = "the references are compressed with Zstandard: enable the feature zstd of zarr-store-refs";
    Err(StoreError::new(StoreErrorKind::Unsupported, message))
}
