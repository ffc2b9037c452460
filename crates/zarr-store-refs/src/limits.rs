//! The limits on reference files.

/// Limits on references, which come from strangers.
///
/// ```
/// let mut limits = zarr_store_refs::RefsLimits::default();
/// limits.references = 1 << 20;
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RefsLimits {
    /// The size of a JSON file in bytes, also after it is inflated, and of `.zmetadata`. Default: 1 GiB.
    pub json_bytes: u64,
    /// The number of references in JSON, also of those that `gen` makes; and of the chunks of an array that are listed from
    /// references in Parquet. Default: 10,000,000.
    pub references: usize,
    /// The length of a location in bytes. Default: 8 KiB.
    pub location_bytes: usize,
    /// The size of a Parquet file in bytes. Default: 256 MiB.
    pub parquet_bytes: u64,
    /// The size of a page or dictionary in a Parquet file in bytes, also after it is inflated. Default: 64 MiB.
    pub page_bytes: u64,
    /// The memory of the decoded records of a row group in bytes, 20 for each row and those of locations and values.
    /// Default: 256 MiB.
    pub decoded_bytes: u64,
    /// The memory of decoded records, and of Parquet files with several row groups, that are kept for the next reads, in bytes;
    /// those of the last two files are kept in any case. Default: 16 MiB.
    pub cache_bytes: usize,
}

impl Default for RefsLimits {
    fn default() -> Self {
        Self {
            json_bytes: 1 << 30,
            references: 10_000_000,
            location_bytes: 8 << 10,
            parquet_bytes: 256 << 20,
            page_bytes: 64 << 20,
            decoded_bytes: 256 << 20,
            cache_bytes: 16 << 20,
        }
    }
}
