//! The methods that both handles share: those that do not access the store.

/// Defines the shared methods in an `impl` block of [`Array`](crate::Array) or
/// [`blocking::Array`](crate::blocking::Array), so that each handle has its own documentation and neither dereferences
/// to the other. The block must have two helpers: `inner`, which borrows the async handle, and `with`, which changes
/// it.
macro_rules! common_methods {
    () => {
        /// The path of the array in the store, for example `/` or `/a/b`.
        pub fn path(&self) -> &str {
            &self.inner().core.path
        }

        /// The lengths of the dimensions, in elements. A scalar has none.
        ///
        /// This is the shape when this handle was opened or last changed the metadata.
        pub fn shape(&self) -> &[u64] {
            &self.inner().core.shape
        }

        /// The data type.
        pub fn data_type(&self) -> &DataType {
            &self.inner().core.data_type
        }

        /// The fill value: every element of a missing chunk.
        #[doc(alias = "nodata")]
        pub fn fill(&self) -> &FillValue {
            &self.inner().core.fill
        }

        /// The chunk grid.
        pub fn chunk_grid(&self) -> &dyn ChunkGrid {
            &*self.inner().core.grid
        }

        /// Returns the shape of the chunk at `index` of the chunk grid, in elements, or `None` outside the grid.
        pub fn chunk_shape(&self, index: &[u64]) -> Option<Vec<u64>> {
            let grid = &self.inner().core.grid;
            let length = |(dim, i): (usize, &u64)| grid.span(dim, *i).map(|span| span.end - span.start);
            let fits = index.len() == self.shape().len();
            fits.then(|| index.iter().enumerate().map(length).collect())?
        }

        /// The number of chunks that cover the array, per dimension.
        pub fn chunk_counts(&self) -> Vec<u64> {
            let grid = &self.inner().core.grid;
            self.shape().iter().enumerate().map(|(dim, length)| grid.count(dim, *length)).collect()
        }

        /// Returns the chunks that a selection touches, in C order; `..` for all of them. In a sharded array these are
        /// the shards. Makes no request.
        ///
        /// ```
        /// # use zarr_array::{ArrayMeta, ArrayResult, DataType, blocking::Array, standard};
        /// # let meta = ArrayMeta::builder([4, 5], DataType::Int32).chunks([2, 3]).build()?;
        /// # let array = Array::create(zarr_store::MemoryStore::new(), "/a", meta, &standard())?;
        /// for chunk in array.chunks(0..2)? {
        ///     let values = array.read::<i32>(&chunk)?;
        ///     println!("{:?}: {:?}", chunk.index(), values.shape());
        /// }
        /// assert_eq!(array.chunks(..)?.len(), 4);
        /// # ArrayResult::Ok(())
        /// ```
        ///
        /// # Errors
        /// When the selection is not inside the array, or touches 2^64 chunks or more.
        pub fn chunks(&self, selection: impl Into<Selection>) -> ArrayResult<Chunks> {
            let core = &self.inner().core;
            let chunks = Chunks::new(&core.shape, core.grid.clone(), &selection.into());
            chunks.map_err(|e| core.in_array(e))
        }

        /// As [`chunks`](Self::chunks), but with the smallest chunks that can be read alone: the inner chunks of
        /// shards, or the chunks of an array without shards. Their indexes count through the whole array.
        ///
        /// # Errors
        /// As [`chunks`](Self::chunks).
        #[doc(alias = "subchunk")]
        pub fn smallest_chunks(&self, selection: impl Into<Selection>) -> ArrayResult<Chunks> {
            let core = &self.inner().core;
            let grid = core.smallest_grid();
            let chunks = grid.and_then(|grid| Chunks::new(&core.shape, grid, &selection.into()));
            chunks.map_err(|e| core.in_array(e))
        }

        /// Returns the chunk at `index` of the chunk grid, clipped to the array. It is a selection.
        ///
        /// # Errors
        /// When `index` is outside the array.
        pub fn chunk(&self, index: &[u64]) -> ArrayResult<Chunk> {
            let core = &self.inner().core;
            core.chunk(index).map_err(|e| core.in_array(e))
        }

        /// Returns the selection of whole chunks: `chunks` selects ranges and indexes of the chunk grid. A selected index
        /// keeps its dimension.
        ///
        /// ```
        /// # use zarr_array::{ArrayMeta, ArrayResult, DataType, blocking::Array, standard};
        /// # let meta = ArrayMeta::builder([4, 5], DataType::Int32).chunks([2, 3]).build()?;
        /// # let array = Array::create(zarr_store::MemoryStore::new(), "/a", meta, &standard())?;
        /// let right = array.read::<i32>(array.blocks((.., -1))?)?; // the last column of chunks
        /// assert_eq!(right.shape(), [4, 2]);
        /// # ArrayResult::Ok(())
        /// ```
        ///
        /// # Errors
        /// When `chunks` is not inside the chunk grid, or has a step or a list.
        pub fn blocks(&self, chunks: impl Into<Selection>) -> ArrayResult<Selection> {
            let core = &self.inner().core;
            let blocks = blocks(&*core.grid, &core.shape, &chunks.into());
            blocks.map_err(|e| core.in_array(e))
        }

        /// The key of the chunk at `index` of the chunk grid.
        ///
        /// # Errors
        /// When the chunk key encoding produces an invalid key.
        pub fn chunk_key(&self, index: &[u64]) -> StoreResult<Key> {
            self.inner().core.key(index)
        }

        /// The chunk key encoding.
        pub fn key_encoding(&self) -> &dyn KeyEncoding {
            &*self.inner().core.keys
        }

        /// The codecs.
        pub fn codecs(&self) -> &Chain {
            &self.inner().core.chain
        }

        /// The metadata: the stored document, with typed access to its members.
        pub fn metadata(&self) -> &ArrayMeta {
            &self.inner().meta
        }

        /// Returns a builder for a new array like this one, in format 3: with its data type, shape, chunks, shards,
        /// codecs, fill value, names and attributes.
        ///
        /// ```
        /// # use zarr_array::{ArrayMeta, ArrayResult, DataType, Storage, blocking::Array, standard};
        /// # let storage = Storage::from(zarr_store::MemoryStore::new());
        /// # let meta = ArrayMeta::builder([400, 600], DataType::Float32).chunks([20, 30]).build()?;
        /// # let array = Array::create(storage.clone(), "/t2m", meta, &standard())?;
        /// let anomaly = array.builder().fill(f32::NAN).build()?;
        /// let anomaly = Array::create(storage, "/anomaly", anomaly, &standard())?;
        /// assert_eq!(anomaly.chunk_counts(), array.chunk_counts());
        /// # ArrayResult::Ok(())
        /// ```
        pub fn builder(&self) -> ArrayBuilder {
            self.metadata().to_builder(self.data_type().clone())
        }

        /// The attributes; empty if the array has none.
        #[doc(alias = "attrs")]
        pub fn attributes(&self) -> Object {
            self.inner().meta.attributes()
        }

        /// The attributes as a Rust type.
        ///
        /// ```
        /// # use zarr_array::{ArrayMeta, ArrayResult, DataType, blocking::Array, standard};
        /// #[derive(serde::Deserialize)]
        /// struct Attributes {
        ///     units: String,
        ///     valid_range: Option<[f32; 2]>,
        /// }
        /// # let meta = ArrayMeta::builder([4, 6], DataType::Int32).chunks([2, 3]).build()?;
        /// # let mut array = Array::create(zarr_store::MemoryStore::new(), "/a", meta, &standard())?;
        /// array.set_attribute("units", "K")?;
        /// let attributes: Attributes = array.attributes_as()?;
        /// assert_eq!((attributes.units.as_str(), attributes.valid_range), ("K", None));
        /// # ArrayResult::Ok(())
        /// ```
        ///
        /// # Errors
        /// [`InvalidArgument`](crate::ArrayErrorKind::InvalidArgument), with the JSON pointer to the member, when the
        /// attributes do not fit `T`. In format 2 also the error of the document `.zattrs`, if it cannot be read.
        pub fn attributes_as<T: DeserializeOwned>(&self) -> ArrayResult<T> {
            let attributes = self.metadata().attributes_as();
            attributes.map_err(|e| self.inner().core.in_array(e))
        }

        /// Deviations from the specification that were tolerated when the array was opened. For an array that this
        /// handle created, also advice about metadata that other implementations cannot read.
        pub fn diagnostics(&self) -> &[Diagnostic] {
            &self.inner().diagnostics
        }

        /// The limits on the memory and work that stored data may demand from this handle.
        pub fn limits(&self) -> &Limits {
            &self.inner().core.limits
        }

        /// The storage that holds the chunks.
        pub fn storage(&self) -> &Storage {
            &self.inner().core.storage
        }

        /// The settings for reads of parts of objects.
        pub fn fetching(&self) -> Fetching {
            self.inner().core.fetching
        }

        /// Returns rows of the given shape that hold the fill value. Set their fields and write them with
        /// [`write_rows`](Self::write_rows).
        ///
        /// # Errors
        /// When the data type is not a struct, or memory cannot be allocated.
        pub fn rows(&self, shape: impl Into<Vec<u64>>) -> ArrayResult<Rows> {
            let core = &self.inner().core;
            Rows::filled(&core.data_type, &core.fill, &shape.into()).map_err(|e| core.in_array(e))
        }

        /// Sets the threads that decode and encode chunks.
        #[must_use]
        #[doc(alias("parallel", "concurrency"))]
        pub fn with_cpu(self, cpu: Cpu) -> Self {
            self.with(|array| array.core_mut().cpu = cpu)
        }

        /// Sets the limits on the sizes of chunks and results.
        #[must_use]
        pub fn with_limits(self, limits: Limits) -> Self {
            self.with(|array| array.core_mut().limits = limits)
        }

        /// Sets how many requests and bytes may be in flight at once, summed over all reads and writes of this handle.
        ///
        /// In a local store this bounds the shards, and the blocks of shards, that they process at once: at most
        /// `bytes` decoded bytes, but always at least one block.
        #[must_use]
        #[doc(alias = "concurrency")]
        pub fn with_in_flight(self, requests: usize, bytes: u64) -> Self {
            self.with(|array| {
                let core = array.core_mut();
                core.gate = zarr_engine::Gate::new(requests, bytes);
            })
        }

        /// Sets what a read does where a chunk is missing.
        #[must_use]
        pub fn with_missing_chunks(self, missing: MissingChunks) -> Self {
            self.with(|array| array.core_mut().missing = missing)
        }

        /// Returns what a read does where a chunk is missing.
        pub fn missing_chunks(&self) -> MissingChunks {
            self.inner().core.missing
        }

        /// Sets whether chunks are stored in which every element is the fill value.
        #[must_use]
        pub fn with_empty_chunks(self, empty_chunks: EmptyChunks) -> Self {
            self.with(|array| array.core_mut().empty_chunks = empty_chunks)
        }

        /// Returns whether chunks are stored in which every element is the fill value.
        pub fn empty_chunks(&self) -> EmptyChunks {
            self.inner().core.empty_chunks
        }

        /// Sets how parts of chunks are written.
        #[must_use]
        pub fn with_partial_writes(self, partial_writes: PartialWrites) -> Self {
            self.with(|array| array.core_mut().partial_writes = partial_writes)
        }

        /// Sets the order in which a shard stores its inner chunks. Readers do not depend on it.
        #[must_use]
        pub fn with_inner_order(self, order: InnerOrder) -> Self {
            self.with(|array| array.core_mut().inner_order = order)
        }

        /// Sets how parts of objects are read.
        ///
        /// ```
        /// # fn example(array: zarr_array::Array) -> zarr_array::Array {
        /// let mut fetching = array.fetching();
        /// fetching.gap = 64 << 10;     // a slow disk: read longer gaps along with the data
        /// array.with_fetching(fetching)
        /// # }
        /// ```
        #[must_use]
        pub fn with_fetching(self, fetching: Fetching) -> Self {
            self.with(|array| array.core_mut().fetching = fetching)
        }

        /// Gives the handle its own cache of `bytes` bytes for shard indexes; 0 disables the cache. By default a handle
        /// and its clones share a cache of 32 MiB.
        ///
        /// A cached index is used only with the version of the object that it was read from. If the shard was written
        /// since, its index is read again. Nothing is cached for stores without versions.
        #[must_use]
        pub fn with_index_cache(self, bytes: usize) -> Self {
            self.with(|array| array.core_mut().indexes = Arc::new(Indexes::new(bytes)))
        }

        /// Counts the work of this handle in `progress`, through which it can be cancelled.
        ///
        /// ```
        /// # use zarr_array::{ArrayErrorKind, ArrayMeta, ArrayResult, DataType, NdVec, Progress, blocking::Array, standard};
        /// # let meta = ArrayMeta::builder([64, 64], DataType::Int32).chunks([16, 16]).build()?;
        /// # let array = Array::create(zarr_store::MemoryStore::new(), "/a", meta, &standard())?;
        /// let progress = Progress::reporting(|done, expected| eprintln!("{} of {} chunks", done.chunks, expected.chunks));
        /// let watched = array.clone().with_progress(progress.clone());
        /// let values: NdVec<i32> = watched.read(..)?;
        /// assert_eq!((progress.done().chunks, progress.done().bytes), (16, 64 * 64 * 4));
        ///
        /// progress.cancel(); // from any thread, also while a call is at work
        /// let error = watched.read::<i32>(..).unwrap_err();
        /// assert_eq!(error.kind(), ArrayErrorKind::Cancelled);
        /// # ArrayResult::Ok(())
        /// ```
        #[must_use]
        pub fn with_progress(self, progress: Progress) -> Self {
            self.with(|array| array.core_mut().progress = Some(progress))
        }

        /// Gives the handle a cache of decoded chunks. Its clones use it, too, and so do all arrays that get a clone of
        /// `cache`: they share its budget. For programs that read small parts of the same chunks again and again.
        ///
        /// ```
        /// # use zarr_array::{ArrayMeta, ArrayResult, ChunkCache, DataType, blocking::Array, standard};
        /// # let meta = ArrayMeta::builder([400, 600], DataType::Float32).chunks([100, 100]).build()?;
        /// # let array = Array::create(zarr_store::MemoryStore::new(), "/a", meta, &standard())?;
        /// let array = array.with_chunk_cache(ChunkCache::new(256 << 20));
        /// for x in 0..600 {
        ///     let column = array.read::<f32>((.., x))?; // decodes each chunk once, not a hundred times
        /// }
        /// # ArrayResult::Ok(())
        /// ```
        #[must_use]
        pub fn with_chunk_cache(self, cache: ChunkCache) -> Self {
            self.with(|array| {
                let decoding = array.decoding();
                array.core_mut().decoded = Some(cache.of(decoding));
            })
        }

        /// Sets the largest part of a shard that is read at once: `inner_chunks` inner chunks and `bytes` decoded
        /// bytes, but at least one inner chunk. The default is 2^14 inner chunks and 64 MiB.
        ///
        /// A read that touches more of a shard is split into such blocks, which are fetched and decoded independently.
        /// Smaller blocks take less memory and more requests.
        #[must_use]
        pub fn with_block_size(self, inner_chunks: u64, bytes: u64) -> Self {
            self.with(|array| array.core_mut().block_size = BlockSize { inner_chunks, bytes })
        }

        /// Sets how metadata changes made through this handle affect consolidated metadata in parent groups.
        ///
        /// By default it is kept up to date: every change reads each parent group once, all at the same time.
        #[must_use]
        pub fn with_consolidated(self, consolidated: ConsolidatedPolicy) -> Self {
            self.with(|array| array.consolidated = consolidated)
        }
    };
}
pub(crate) use common_methods;
