//! Settings of a handle on an array.

/// How a read treats a missing chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum MissingChunks {
    /// The chunk reads as the fill value, as the specification says.
    #[default]
    Fill,
    /// The read fails with an error of kind [`NotFound`](crate::ArrayErrorKind::NotFound). For data that must be
    /// complete.
    Error,
}

/// How a write treats an empty chunk or inner chunk, in which every element is the fill value, bit for bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum EmptyChunks {
    /// The chunk is not stored. An existing object is deleted.
    #[default]
    Skip,
    /// The chunk is stored like any other.
    Store,
}

/// How part of a chunk is written while other writers may write the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum PartialWrites {
    /// The object is put only if the stored one is still the version that was read; otherwise it is read again. No
    /// writer loses an update. An error in a store without conditional puts.
    #[default]
    Safe,
    /// Writes of parts of chunks are errors. A write must cover every chunk (or shard) as far as it lies inside the
    /// array.
    RejectUnaligned,
    /// The object is put unconditionally. For a single writer, in a store without conditional puts.
    Unchecked,
}

/// The largest part of a shard that is fetched and decoded at once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BlockSize {
    /// The number of inner chunks.
    pub(crate) inner_chunks: u64,
    /// The decoded bytes of the inner chunks. A single inner chunk may be larger.
    pub(crate) bytes: u64,
}

impl Default for BlockSize {
    /// A read keeps some hundred bytes for each inner chunk: a few megabytes for this many.
    fn default() -> Self {
        Self { inner_chunks: 1 << 14, bytes: 64 << 20 }
    }
}
