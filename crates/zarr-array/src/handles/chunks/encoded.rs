//! Chunks and inner chunks as they are stored, encoded by their codecs.

use std::sync::Arc;

use zarr_engine::run::caught;
use zarr_strided::{Destination, Dims, byte_len};
use zarr_traits::codec::EncodedSize;
use zarr_traits::partial::{Known, PieceDecode};
use zarr_traits::store::ReadVersion;
use zarr_traits::{ByteRange, Bytes, Key, Region, RegularGrid, Scratch, Span};

use crate::error::{ArrayError, ArrayResult};
use crate::handles::array::Array;
use crate::io::core::{Core, with_heap};
use crate::io::fetch::parts::Parts;
use crate::io::fetch::{ChunkObject, wrong_size};
use crate::io::write;
use crate::plan::chunks::Chunks;
use crate::select::Selection;

impl Array {
    /// Returns the object of the chunk at `index` of the chunk grid as it is stored, encoded by all codecs. `None` if
    /// the chunk is not stored.
    ///
    /// # Errors
    /// When `index` is outside the array or the object is larger than the limits allow; and those of the store.
    pub async fn read_encoded_chunk(&self, index: &[u64]) -> ArrayResult<Option<Bytes>> {
        let core = &*self.core;
        let read = async {
            let (key, index) = (core.key_inside(index)?, Dims::from(index));
            let shape = core.full_shape(&index);
            let loaded = core.load(&key, &shape, ReadVersion::Any, None).await;
            loaded.map_err(|e| e.in_chunk(&index, &key))
        };
        let loaded = read.await.map_err(|e| self.core.in_array(e))?;
        Ok(loaded.map(|(loaded, _)| loaded.into_bytes().0))
    }

    /// Stores an encoded chunk at `index` of the chunk grid. It replaces a stored one. The object is decoded first, so
    /// an object that cannot be read is not stored.
    ///
    /// # Errors
    /// When `index` is outside the array or the object cannot be decoded; and those of the store.
    pub async fn write_encoded_chunk(&self, index: &[u64], object: impl Into<Bytes>) -> ArrayResult<()> {
        let (core, object) = (&*self.core, object.into());
        let written = async {
            let (key, index) = (core.key_inside(index)?, Dims::from(index));
            let stored = async {
                core.chain.check_writable()?;
                let check = core.check_object(&core.full_shape(&index), &object)?;
                if let Some((_, e)) = check.broken.into_iter().next() {
                    return Err(e);
                }
                let _lock = zarr_engine::lock(&core.storage, &key).await;
                let stored = core.storage.put(&key, object).await;
                core.indexes.forget(&index);
                stored.map_err(ArrayError::from)
            };
            stored.await.map_err(|e| e.in_chunk(&index, &key))
        };
        written.await.map_err(|e| self.core.in_array(e))
    }

    /// Decodes `object` as the chunk at `index` of the chunk grid would be decoded, with its part outside of the array,
    /// and drops the elements. Verifies all checksums. Reads nothing from the store.
    ///
    /// An inner chunk that cannot be decoded is an entry of [`ChunkCheck::broken`]; the others are decoded as well.
    ///
    /// # Errors
    /// When `index` is outside the array, or the object cannot be decoded as a whole: a chunk without inner chunks, or
    /// an invalid index of a shard.
    pub fn check_encoded_chunk(&self, index: &[u64], object: &Bytes) -> ArrayResult<ChunkCheck> {
        let core = &*self.core;
        let checked = || {
            let (key, index) = (core.key_inside(index)?, Dims::from(index));
            let in_chunk = |e: ArrayError| e.in_chunk(&index, &key);
            let mut check = core.check_object(&core.full_shape(&index), object).map_err(in_chunk)?;
            let broken = check.broken.drain(..);
            check.broken = broken.map(|(at, e)| (at, self.core.in_array(in_chunk(e)))).collect();
            Ok(check)
        };
        checked().map_err(|e: ArrayError| self.core.in_array(e))
    }

    /// Returns the bytes of an inner chunk as they are in its shard, encoded by the inner codecs. `None` if the inner
    /// chunk is not stored. `index` counts inner chunks through the whole array, as that of
    /// [`smallest_chunks`](Self::smallest_chunks).
    ///
    /// # Errors
    /// When `index` is outside the array, the array has no shards, or the index of the shard is invalid; and those of
    /// the store.
    pub async fn read_encoded_inner_chunk(&self, index: &[u64]) -> ArrayResult<Option<Bytes>> {
        let core = &*self.core;
        let read = async {
            let inner = core.find_inner(index)?;
            let key = core.key(&inner.chunk)?;
            core.encoded_inner(&inner, &key).await.map_err(|e| e.in_chunk(&inner.chunk, &key))
        };
        read.await.map_err(|e: ArrayError| self.core.in_array(e))
    }

    /// Stores an encoded inner chunk in its shard, after decoding it. The other inner chunks keep their bytes. Like a
    /// [`write`](Self::write) to part of a chunk, it loses no update of another writer.
    ///
    /// # Errors
    /// When `index` is outside the array, the array has no shards, or the bytes cannot be decoded; and as
    /// [`write`](Self::write).
    pub async fn write_encoded_inner_chunk(&self, index: &[u64], bytes: impl Into<Bytes>) -> ArrayResult<()> {
        let region = self.core.find_inner(index).and_then(|_| self.core.inner_chunk(index));
        let region = region.map_err(|e| self.core.in_array(e))?;
        write::write_encoded(&self.core, &Selection::from(&region), bytes.into()).await
    }
}

/// The result of [`Array::check_encoded_chunk`] for an object.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ChunkCheck {
    /// The number of stored inner chunks; 0 if chunks have no inner chunks.
    pub inner_chunks: u64,
    /// The inner chunks that cannot be decoded: the position of the first element, relative to the chunk, and the error.
    pub broken: Vec<(Vec<u64>, ArrayError)>,
}

/// The place of an inner chunk.
struct InnerPlace {
    /// The index of its chunk in the chunk grid, and the shape of that chunk.
    chunk: Dims,
    shape: Dims,
    /// The inner chunk, relative to the chunk.
    part: Region,
}

impl Core {
    /// Returns the shape of a chunk inside the grid, not clipped to the array.
    fn full_shape(&self, index: &[u64]) -> Dims {
        let span = |(dim, index): (usize, &u64)| self.grid.span(dim, *index).unwrap_or_default();
        index.iter().enumerate().map(span).map(|span| span.end - span.start).collect()
    }

    /// Finds an inner chunk by its index in the grid of all inner chunks.
    fn find_inner(&self, index: &[u64]) -> ArrayResult<InnerPlace> {
        let Some(shape) = self.chain.inner_shape(self.shape.len()) else {
            return Err(ArrayError::invalid("chunks of this array have no inner chunks"));
        };
        let region = self.inner_chunk(index)?.region().clone();
        let (mut chunk, mut within) = (Dims::new(), Dims::new());
        for (dim, start) in region.start().iter().enumerate() {
            let found = self.grid.find(dim, *start).unwrap_or_default();
            within.push(start - self.grid.span(dim, found).unwrap_or_default().start);
            chunk.push(found);
        }
        let part = Region::new(within, shape).unwrap_or_default();
        Ok(InnerPlace { shape: self.full_shape(&chunk), chunk, part })
    }

    async fn encoded_inner(&self, inner: &InnerPlace, key: &Key) -> ArrayResult<Option<Bytes>> {
        let InnerPlace { chunk, shape, part } = inner;
        let steps = Dims::filled(1, part.rank());
        let object = ChunkObject { index: chunk, shape, steps: &steps, key, opened: None };
        let (Parts::Pieces(pieces, fetched), _) = self.fetch(object, &[part], None).await? else {
            return Ok(None);
        };
        let pieces = pieces.iter().flatten();
        let mut spans = pieces.filter(|p| !matches!(p.job, PieceDecode::Fill(_))).map(|piece| piece.span);
        let Some(first) = spans.next() else { return Ok(None) };
        // An uncompressed inner chunk may have several pieces, one after the other.
        let len = spans.fold(first.len, |len, span| len.saturating_add(span.len));
        Ok(Some(Bytes::copy_from_slice(fetched.bytes(Span { offset: first.offset, len }, 1)?)))
    }

    /// Decodes the object of a chunk of `shape` completely, and drops the elements.
    fn check_object(&self, shape: &[u64], object: &Bytes) -> ArrayResult<ChunkCheck> {
        match self.chain.encoded_size(shape) {
            EncodedSize::Exact(size) if object.len() as u64 != size => {
                return Err(wrong_size(object.len(), size));
            }
            _ => {}
        }
        let (mut known, mut scratch, mut check) = (None, Scratch::default(), ChunkCheck::default());
        let Some(inner) = self.chain.inner_shape(shape.len()) else {
            self.check_part(shape, &Region::whole(shape), object, &mut known, &mut scratch)?;
            return Ok(check);
        };
        let chunks = Chunks::new(shape, Arc::new(RegularGrid::new(inner)?), &Selection::all())?;
        let mut is_first = true;
        for chunk in chunks {
            match self.check_part(shape, chunk.region(), object, &mut known, &mut scratch) {
                Ok(is_stored) => check.inner_chunks += u64::from(is_stored),
                // Without the index no inner chunk is found.
                Err(e) if is_first && known.is_none() => return Err(e),
                Err(e) => {
                    check.inner_chunks += 1;
                    check.broken.push((chunk.region().start().to_vec(), e));
                }
            }
            is_first = false;
        }
        Ok(check)
    }

    /// Decodes a part of the object of a chunk of `shape`, and drops the elements. `known` keeps the index from one
    /// part to the next. Returns whether anything of the part is stored.
    pub(crate) fn check_part(
        &self,
        shape: &[u64],
        part: &Region,
        object: &Bytes,
        known: &mut Option<Known>,
        scratch: &mut Scratch,
    ) -> ArrayResult<bool> {
        let heap = self.heap(self.limits.result_bytes);
        let mut decode = |scratch: &mut Scratch| {
            let Some(read) = self.read_in(shape, part, object, known)? else {
                self.check_chunk(shape)?;
                let mut chunk = scratch.take(byte_len(shape, self.size)?)?;
                let dst = Destination::dense(&mut chunk, shape, self.size)?;
                self.chain.decode_into(object, shape, &Region::whole(shape), dst, scratch)?;
                scratch.give(chunk);
                return Ok(true);
            };
            let mut pieces = Vec::new();
            read.pieces(&mut pieces)?;
            let is_stored = pieces.iter().any(|piece| !matches!(piece.job, PieceDecode::Fill(_)));
            for piece in pieces {
                if let PieceDecode::Chain(inner) = &piece.job {
                    self.check_chunk(&inner.chunk)?;
                }
                let src = ByteRange::from(piece.span).of(object)?;
                let mut memory = scratch.take(byte_len(&piece.shape, self.size)?)?;
                let dst = Destination::dense(&mut memory, &piece.shape, self.size)?;
                zarr_engine::run_piece(&piece, &src, dst, scratch)?;
                scratch.give(memory);
            }
            Ok(is_stored)
        };
        with_heap(heap.as_ref(), scratch, |scratch| caught(|| decode(scratch)))
    }
}
