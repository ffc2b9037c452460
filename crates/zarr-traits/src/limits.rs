//! Limits on what stored bytes can cause.

/// The most that a reader accepts. Beyond it the error is of kind "limit exceeded".
///
/// The defaults are safe for untrusted data. To raise a limit, change its field:
///
/// ```
/// let mut limits = zarr_traits::Limits::default();
/// limits.chunk_bytes = 8 << 30;
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The bytes of one metadata document; 64 MiB.
    pub metadata_bytes: u64,
    /// The levels of nesting in a metadata document; 128.
    pub json_depth: usize,
    /// The dimensions of an array; 64.
    pub rank: usize,
    /// The bytes of one decoded chunk; 1 GiB.
    pub chunk_bytes: u64,
    /// The bytes of one encoded chunk, as stored; 1 GiB.
    pub encoded_bytes: u64,
    /// The codecs in one chain; 32.
    pub chain_length: usize,
    /// The depth of chains inside chains (sharding in sharding); 4.
    pub chain_depth: usize,
    /// The changes of the chunk length along one dimension of a chunk grid; 2^20. Lists of chunk lengths in a document may
    /// have twice as many entries in all.
    pub grid_runs: usize,
    /// The bytes that one read may return. Unlimited by default, as the caller chooses what to read.
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
    /// Returns limits for trusted data: as large as this implementation supports.
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
