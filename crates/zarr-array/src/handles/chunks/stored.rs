//! Which chunks are stored, and erasing them.

use zarr_traits::{Key, StoreResult, store::Listed};

use crate::error::{ArrayError, ArrayResult};
use crate::handles::array::Array;
use crate::io::core::Core;
use crate::node;
use crate::plan::chunks::Chunk;

/// A chunk that is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredChunk {
    /// The chunk.
    pub chunk: Chunk,
    /// The key of its object.
    pub key: Key,
    /// The size of its object in bytes, if the store lists sizes.
    pub size: Option<u64>,
}

/// How much of an array is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct StorageInfo {
    /// The number of chunks that cover the array.
    pub chunks: u64,
    /// The number of chunks that are stored. The others hold only the fill value.
    pub stored_chunks: u64,
    /// The size of all elements in bytes; of elements of variable length only the part with a fixed size.
    pub bytes: u64,
    /// The sum of the sizes of the objects in bytes, if the store lists sizes.
    pub stored_bytes: Option<u64>,
}

impl Array {
    /// Lists the chunks that are stored, in C order. Chunks that are not stored hold only the fill value. Lists the
    /// objects of the array and makes no other request.
    ///
    /// # Errors
    /// [`Unsupported`](crate::ArrayErrorKind::Unsupported) when the store cannot list; and those of the store.
    pub async fn stored_chunks(&self) -> ArrayResult<Vec<StoredChunk>> {
        let core = &*self.core;
        let mut stored = Vec::new();
        let listed = core.each_stored(|chunk| stored.push(chunk));
        listed.await.map_err(|e| self.core.in_array(e))?;
        stored.sort_unstable_by(|a, b| a.chunk.index().cmp(b.chunk.index()));
        Ok(stored)
    }

    /// Returns the number of chunks that are stored. As [`stored_chunks`](Self::stored_chunks), without their list.
    ///
    /// # Errors
    /// As [`stored_chunks`](Self::stored_chunks).
    pub async fn count_stored_chunks(&self) -> ArrayResult<u64> {
        Ok(self.storage_info().await?.stored_chunks)
    }

    /// Returns how many chunks are stored, and in how many bytes. Lists the objects of the array and makes no other
    /// request.
    ///
    /// # Errors
    /// As [`stored_chunks`](Self::stored_chunks).
    #[doc(alias = "nchunks_initialized")]
    pub async fn storage_info(&self) -> ArrayResult<StorageInfo> {
        let core = &*self.core;
        let chunks = self.chunk_counts().iter().copied().fold(1, u64::saturating_mul);
        let bytes = core.bytes_of(&core.shape);
        let mut info = StorageInfo { chunks, bytes, stored_chunks: 0, stored_bytes: Some(0) };
        let listed = core.each_stored(|stored| {
            info.stored_chunks += 1;
            let sum = info.stored_bytes.zip(stored.size);
            info.stored_bytes = sum.map(|(sum, size)| sum.saturating_add(size));
        });
        listed.await.map_err(|e| self.core.in_array(e))?;
        Ok(info)
    }

    /// Returns the size in bytes of the object of the chunk at `index` of the chunk grid, or `None` if the chunk is not
    /// stored. Makes one request, which does not read the object.
    ///
    /// # Errors
    /// When `index` is outside the array; and those of the store.
    pub async fn stored_chunk_size(&self, index: &[u64]) -> ArrayResult<Option<u64>> {
        let core = &*self.core;
        let size = async { Ok(core.storage.size(&core.key_inside(index)?).await?) };
        size.await.map_err(|e: ArrayError| self.core.in_array(e))
    }

    /// Deletes the object of the chunk at `index` of the chunk grid, if it is stored. Its elements then read as the
    /// fill value.
    ///
    /// # Errors
    /// When `index` is outside the array; and those of the store.
    pub async fn erase_chunk(&self, index: &[u64]) -> ArrayResult<()> {
        let core = &*self.core;
        let erased = async {
            let key = core.key_inside(index)?;
            let _lock = zarr_engine::lock(&core.storage, &key).await;
            let erased = core.storage.delete(&key).await;
            core.indexes.forget(&index.into());
            erased.map_err(ArrayError::from).map_err(|e| e.in_chunk(&index.into(), &key))
        };
        erased.await.map_err(|e| self.core.in_array(e))
    }
}

impl Core {
    /// Returns the key of the chunk at `index`, which must touch the array.
    pub(super) fn key_inside(&self, index: &[u64]) -> ArrayResult<Key> {
        self.chunk(index)?;
        Ok(self.key(index)?)
    }

    /// Calls `each` with every stored chunk.
    async fn each_stored(&self, mut each: impl FnMut(StoredChunk)) -> StoreResult<()> {
        let mut strays = Vec::new();
        let add = |listed: Listed| match self.stored(&listed) {
            Some(chunk) => each(chunk),
            // A size says that the store has looked at the object.
            None if listed.meta.size.is_none() => strays.push(listed),
            None => {}
        };
        self.storage.list_each(&self.prefix, add).await?;
        for stray in &strays {
            node::check_stray(&self.storage, stray).await?;
        }
        Ok(())
    }

    /// Returns the chunk whose object this is, or `None` if it is not the object of a chunk inside the array.
    fn stored(&self, listed: &Listed) -> Option<StoredChunk> {
        let chunk = self.chunk(&self.index(&listed.key)?).ok()?;
        Some(StoredChunk { chunk, key: listed.key.clone(), size: listed.meta.size })
    }
}
