//! The places of a metadata document where extensions stand.

use std::fmt;

/// The five extension points. Each has its own table, so equal names in two of them do not clash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ExtensionPoint {
    /// An element of `codecs`.
    Codec,
    /// `data_type`.
    DataType,
    /// `chunk_grid`.
    ChunkGrid,
    /// `chunk_key_encoding`.
    KeyEncoding,
    /// An element of `storage_transformers`.
    Transformer,
}

/// Displays the name used in messages: `chunk grid`.
impl fmt::Display for ExtensionPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Codec => "codec",
            Self::DataType => "data type",
            Self::ChunkGrid => "chunk grid",
            Self::KeyEncoding => "chunk key encoding",
            Self::Transformer => "storage transformer",
        })
    }
}
