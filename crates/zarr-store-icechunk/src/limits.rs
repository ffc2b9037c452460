//! The limits on the files of a repository.

/// Limits on a repository, which may come from strangers.
///
/// ```
/// let mut limits = zarr_store_icechunk::IcechunkLimits::default();
/// limits.cache_bytes = 4 << 30;
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct IcechunkLimits {
    /// The size of one file of metadata in bytes, as stored and inflated. A manifest has about 70 bytes for each chunk.
    /// Default: 2 GiB.
    pub file_bytes: u64,
    /// The bytes of the inflated manifests that are kept. The one that is in use is kept also if it is larger. Default:
    /// 512 MiB.
    pub cache_bytes: u64,
    /// The number of nodes in a snapshot. Default: 1,000,000.
    pub nodes: usize,
    /// The number of chunks of one array in a listing, which holds about 30 bytes for each. Default: 10,000,000.
    pub listed_chunks: usize,
    /// The length of a location in bytes. Default: 1,024.
    pub location_bytes: usize,
    /// The number of branches, of tags, and of containers of virtual chunks, when they are listed. Default: 100,000.
    pub names: usize,
}

impl Default for IcechunkLimits {
    fn default() -> Self {
        Self {
            file_bytes: 2 << 30,
            cache_bytes: 512 << 20,
            nodes: 1_000_000,
            listed_chunks: 10_000_000,
            location_bytes: 1024,
            names: 100_000,
        }
    }
}
