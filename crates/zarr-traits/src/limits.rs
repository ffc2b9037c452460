//! Limits on what stored bytes may make us do.

/// What a reader accepts before it answers with an error of kind "limit exceeded".
///
/// The defaults are safe for data from strangers. Change a field to raise one:
///
/// ```
/// let mut limits = zarr_traits::Limits::default();
/// limits.chunk_bytes = 8 << 30;
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of one metadata document; 64 MiB.
    pub metadata_bytes: u64,
    /// Levels of nesting in a metadata document; 128.
    pub json_depth: usize,
    /// Dimensions of an array; 64.
    pub rank: usize,
    /// Bytes of one decoded chunk; 1 GiB.
    pub chunk_bytes: u64,
    /// Bytes of one encoded chunk, as stored; 1 GiB.
    pub encoded_bytes: u64,
    /// Codecs in one chain; 32.
    pub chain_length: usize,
    /// Chains inside chains (sharding in sharding); 4.
    pub chain_depth: usize,
    /// Changes of the chunk length along one dimension of a chunk grid; 2^20.
    pub grid_runs: usize,
    /// Bytes that one read may return; unlimited, since it is the caller who asks for them.
    pub result_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            metadata_bytes: 64 << 20,
            json_depth: 128,
            rank: 64,
            chunk_bytes: 1 << 30,
            encoded_bytes: 1 << 30,
            chain_length: 32,
            chain_depth: 4,
            grid_runs: 1 << 20,
            result_bytes: u64::MAX,
        }
    }
}

impl Limits {
    /// No limits but those of the machine: for data that you trust.
    pub fn unlimited() -> Self {
        Self {
            metadata_bytes: u64::MAX,
            json_depth: 1 << 10,
            rank: 255,
            chunk_bytes: u64::MAX,
            encoded_bytes: u64::MAX,
            chain_length: 1 << 10,
            chain_depth: 32,
            grid_runs: usize::MAX,
            result_bytes: u64::MAX,
        }
    }
}
