//! A cache of decoded chunks.

use std::sync::Arc;

use zarr_strided::Dims;
use zarr_traits::{Key, Storage, Version};

use crate::error::ArrayResult;
use crate::io::versioned::Versioned;

/// The settings of a cache of decoded chunks, or of inner chunks where an array has shards. See
/// [`with_chunk_cache`](crate::Array::with_chunk_cache).
///
/// A cached chunk is used only if its object is still the version that was read, which costs a request without bytes per
/// object. Nothing is cached in stores without versions. [`unchecked`](Self::unchecked) is without these requests.
///
/// Elements of variable length and uncompressed chunks are read without the cache.
#[derive(Debug, Clone, Copy)]
pub struct ChunkCache {
    bytes: usize,
    is_checked: bool,
}

impl ChunkCache {
    /// Returns the settings of a cache of up to `bytes` bytes. Chunks that were not used for the longest time are dropped
    /// first.
    pub fn new(bytes: usize) -> Self {
        Self { bytes, is_checked: true }
    }

    /// Uses cached chunks without asking the store. For data that does not change: writes are not seen, not even those of
    /// this program.
    #[must_use]
    pub fn unchecked(self) -> Self {
        Self { is_checked: false, ..self }
    }

    pub(crate) fn start(self) -> Decoded {
        Decoded { chunks: Arc::new(Versioned::new(self.bytes)), is_checked: self.is_checked }
    }
}

/// A cache of decoded chunks, by their numbers in the grid of the smallest chunks.
#[derive(Debug, Clone)]
pub(crate) struct Decoded {
    chunks: Arc<Versioned<Arc<Vec<u8>>>>,
    is_checked: bool,
}

impl Decoded {
    /// Returns the elements of each chunk that is cached. All are parts of the object at `key`.
    pub(crate) async fn find(
        &self,
        storage: &Storage,
        key: &Key,
        chunks: impl Iterator<Item = &Dims>,
    ) -> ArrayResult<Vec<Option<Arc<Vec<u8>>>>> {
        let mut found: Vec<_> = chunks.map(|chunk| self.chunks.get(chunk)).collect();
        if self.is_checked && found.iter().any(Option::is_some) {
            let now = storage.head(key).await?.and_then(|meta| meta.version);
            let is_now = |version: &Option<Version>| now.is_some() && *version == now;
            found.iter_mut().for_each(|entry| drop(entry.take_if(|entry| !is_now(&entry.version))));
        }
        Ok(found.into_iter().map(|entry| entry.map(|entry| entry.value)).collect())
    }

    /// Caches the elements of a chunk that were read from this version of its object.
    pub(crate) fn keep(&self, chunk: &Dims, elements: Arc<Vec<u8>>, version: Option<&Version>) {
        match version {
            _ if !self.is_checked => self.chunks.keep_forever(chunk, elements),
            Some(version) => self.chunks.keep(chunk, elements, version, None),
            None => {}
        }
    }
}
