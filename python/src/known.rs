//! What this package knows, and what it permits.

use std::sync::OnceLock;

use zarr_array::{ArrayError, ArrayResult, Limits, Registry, standard};

/// Chunks of several GiB occur: zarr-python has no limits.
pub(crate) fn limits() -> Limits {
    let mut limits = Limits::default();
    (limits.chunk_bytes, limits.encoded_bytes) = (1 << 36, 1 << 36);
    limits
}

/// All codecs, data types and grids that this package knows.
pub(crate) fn registry() -> ArrayResult<&'static Registry> {
    static REGISTRY: OnceLock<Registry> = OnceLock::new();
    if let Some(registry) = REGISTRY.get() {
        return Ok(registry);
    }
    let all = standard().with(zarr_codecs_numcodecs::CODECS).map_err(ArrayError::from)?;
    Ok(REGISTRY.get_or_init(|| all))
}
