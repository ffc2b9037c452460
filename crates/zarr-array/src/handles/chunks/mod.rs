//! Chunks as they are stored.

mod encoded;
mod stored;

pub use encoded::ChunkCheck;
pub use stored::{StorageInfo, StoredChunk};
