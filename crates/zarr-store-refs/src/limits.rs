//! The limits on reference files.

/// Limits on a file of references, which come from strangers.
///
/// ```
/// let mut limits = zarr_store_refs::RefsLimits::default();
/// limits.references = 1 << 20;
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RefsLimits {
    /// The size of a JSON file in bytes, also after it is inflated. Default: 1 GiB.
    pub json_bytes: u64,
    /// The number of references, also of those that `gen` makes. Default: 10,000,000.
    pub references: usize,
    /// The length of a location in bytes. Default: 8 KiB.
    pub location_bytes: usize,
}

impl Default for RefsLimits {
    fn default() -> Self {
        Self { json_bytes: 1 << 30, references: 10_000_000, location_bytes: 8 << 10 }
    }
}
