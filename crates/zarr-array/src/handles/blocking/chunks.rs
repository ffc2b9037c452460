//! Stored and encoded chunks, for programs without async.

use zarr_traits::{Bytes, block_on};

use super::Array;
use crate::error::ArrayResult;
use crate::handles::chunks::{ChunkCheck, StorageInfo, StoredChunk};

impl Array {
    /// Lists the chunks that are stored, in C order.
    ///
    /// ```
    /// # use zarr_array::{ArrayMeta, ArrayResult, DataType, blocking::Array, standard};
    /// # let meta = ArrayMeta::builder([4, 6], DataType::Int32).chunks([2, 3]).codecs([]).build()?;
    /// # let array = Array::create(zarr_store::MemoryStore::new(), "/a", meta, &standard())?;
    /// array.write(3, &[1, 2, 3, 4, 5, 6])?;
    /// let stored = array.stored_chunks()?;
    /// assert_eq!(stored.iter().map(|stored| stored.chunk.index()).collect::<Vec<_>>(), [[1, 0], [1, 1]]);
    /// assert_eq!((stored[0].key.as_str(), stored[0].size), ("a/c/1/0", Some(24)));
    /// # ArrayResult::Ok(())
    /// ```
    ///
    /// # Errors
    /// As [`zarr_array::Array::stored_chunks`](crate::Array::stored_chunks).
    pub fn stored_chunks(&self) -> ArrayResult<Vec<StoredChunk>> {
        block_on(self.0.stored_chunks())
    }

    /// Returns the number of chunks that are stored.
    ///
    /// # Errors
    /// As [`zarr_array::Array::stored_chunks`](crate::Array::stored_chunks).
    pub fn count_stored_chunks(&self) -> ArrayResult<u64> {
        block_on(self.0.count_stored_chunks())
    }

    /// Returns how many chunks are stored, and in how many bytes.
    ///
    /// # Errors
    /// As [`zarr_array::Array::storage_info`](crate::Array::storage_info).
    #[doc(alias = "nchunks_initialized")]
    pub fn storage_info(&self) -> ArrayResult<StorageInfo> {
        block_on(self.0.storage_info())
    }

    /// Returns the size in bytes of the object of the chunk at `index` of the chunk grid, or `None` if the chunk is not
    /// stored.
    ///
    /// # Errors
    /// As [`zarr_array::Array::stored_chunk_size`](crate::Array::stored_chunk_size).
    pub fn stored_chunk_size(&self, index: &[u64]) -> ArrayResult<Option<u64>> {
        block_on(self.0.stored_chunk_size(index))
    }

    /// Deletes the object of the chunk at `index` of the chunk grid, if it is stored. Its elements then read as the
    /// fill value.
    ///
    /// # Errors
    /// As [`zarr_array::Array::erase_chunk`](crate::Array::erase_chunk).
    pub fn erase_chunk(&self, index: &[u64]) -> ArrayResult<()> {
        block_on(self.0.erase_chunk(index))
    }

    /// Returns the object of the chunk at `index` of the chunk grid as it is stored, encoded by all codecs.
    ///
    /// ```
    /// # use zarr_array::{ArrayMeta, ArrayResult, DataType, blocking::Array, standard};
    /// # let meta = ArrayMeta::builder([4, 6], DataType::UInt8).chunks([2, 3]).build()?;
    /// # let array = Array::create(zarr_store::MemoryStore::new(), "/a", meta, &standard())?;
    /// array.write([0..2, 0..3], &[1_u8, 2, 3, 4, 5, 6])?;
    /// let object = array.read_encoded_chunk(&[0, 0])?.unwrap();
    /// array.write_encoded_chunk(&[1, 1], object)?;
    /// assert_eq!(array.read::<u8>((3, 3..6))?.as_slice(), [4, 5, 6]);
    /// # ArrayResult::Ok(())
    /// ```
    ///
    /// # Errors
    /// As [`zarr_array::Array::read_encoded_chunk`](crate::Array::read_encoded_chunk).
    pub fn read_encoded_chunk(&self, index: &[u64]) -> ArrayResult<Option<Bytes>> {
        block_on(self.0.read_encoded_chunk(index))
    }

    /// Stores an encoded chunk at `index` of the chunk grid. It is decoded first, so that no invalid chunk is stored.
    ///
    /// # Errors
    /// As [`zarr_array::Array::write_encoded_chunk`](crate::Array::write_encoded_chunk).
    pub fn write_encoded_chunk(&self, index: &[u64], object: impl Into<Bytes>) -> ArrayResult<()> {
        block_on(self.0.write_encoded_chunk(index, object))
    }

    /// Decodes `object` as the chunk at `index` of the chunk grid would be decoded, and drops the elements.
    ///
    /// ```
    /// # use zarr_array::{ArrayMeta, ArrayResult, DataType, blocking::Array, standard};
    /// # let meta = ArrayMeta::builder([4, 6], DataType::UInt8).chunks([2, 3]).build()?;
    /// # let array = Array::create(zarr_store::MemoryStore::new(), "/a", meta, &standard())?;
    /// # array.write(.., &[7_u8; 24])?;
    /// for stored in array.stored_chunks()? {
    ///     let index = stored.chunk.index();
    ///     let Some(object) = array.read_encoded_chunk(index)? else { continue };
    ///     assert!(array.check_encoded_chunk(index, &object)?.broken.is_empty());
    /// }
    /// # ArrayResult::Ok(())
    /// ```
    ///
    /// # Errors
    /// As [`zarr_array::Array::check_encoded_chunk`](crate::Array::check_encoded_chunk).
    pub fn check_encoded_chunk(&self, index: &[u64], object: &Bytes) -> ArrayResult<ChunkCheck> {
        self.0.check_encoded_chunk(index, object)
    }

    /// Returns the bytes of an inner chunk as they are in its shard. `index` counts inner chunks through the whole
    /// array, as that of [`smallest_chunks`](Self::smallest_chunks).
    ///
    /// # Errors
    /// As [`zarr_array::Array::read_encoded_inner_chunk`](crate::Array::read_encoded_inner_chunk).
    pub fn read_encoded_inner_chunk(&self, index: &[u64]) -> ArrayResult<Option<Bytes>> {
        block_on(self.0.read_encoded_inner_chunk(index))
    }

    /// Stores an encoded inner chunk in its shard, after decoding it. The other inner chunks keep their bytes.
    ///
    /// # Errors
    /// As [`zarr_array::Array::write_encoded_inner_chunk`](crate::Array::write_encoded_inner_chunk).
    pub fn write_encoded_inner_chunk(&self, index: &[u64], bytes: impl Into<Bytes>) -> ArrayResult<()> {
        block_on(self.0.write_encoded_inner_chunk(index, bytes))
    }
}
