//! Partial writes of a chunk made of inner chunks, without I/O in the codec. Inner chunks are encoded separately, on
//! any thread; all others keep their bytes. **For codec authors (sharding) and engine authors.**

use std::fmt::Debug;

use bytes::Bytes;
use zarr_strided::{Dims, Source};

use crate::error::CodecResult;
use crate::region::Region;
use crate::scratch::Scratch;

/// A strided selection within a chunk: every `steps[d]`-th element of a box in dimension `d`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SelectedPart {
    /// The box, relative to the chunk. It starts at the first selected element and ends with the last one.
    pub part: Region,
    /// The distance from one selected element to the next in each dimension. All 1 selects the whole box.
    pub steps: Dims,
}

impl SelectedPart {
    /// Selects every `steps[d]`-th element of a box in dimension `d`.
    pub fn new(part: Region, steps: Dims) -> Self {
        Self { part, steps }
    }

    /// Selects all elements of a box.
    pub fn all(part: Region) -> Self {
        let steps = Dims::filled(1, part.rank());
        Self { part, steps }
    }

    /// Returns the number of selected elements in each dimension.
    pub fn counts(&self) -> Dims {
        self.part.shape().iter().zip(&self.steps).map(|(len, step)| len.div_ceil(*step)).collect()
    }

    /// Returns the selection with its dimensions reordered, or `None` if `order` is not a permutation.
    pub fn permute(&self, order: &[u64]) -> Option<Self> {
        Some(Self { part: self.part.permute(order)?, steps: self.steps.permuted(order)? })
    }
}

/// How inner chunks are stored. This is a choice of the writer: documents do not contain it and readers need not know
/// it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct InnerChunks {
    /// Their order in the object.
    pub order: InnerOrder,
    /// Whether to store inner chunks that contain only the fill value.
    pub store_fill: bool,
}

/// The order of inner chunks in their object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum InnerOrder {
    /// C order, the last dimension fastest. Rows are read with the fewest ranges.
    #[default]
    C,
    /// Morton order, along a Z-shaped curve whose first steps are along the first dimension. Boxes are read with fewer
    /// ranges.
    Morton,
    /// Fortran order, the first dimension fastest. Columns are read with the fewest ranges.
    F,
}

/// The new state of an inner chunk that a write touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NewInner {
    /// It has these bytes.
    Encoded(EncodedInner),
    /// It is not stored, because it contains only the fill value.
    Fill,
    /// It stays as it is in the stored object.
    Kept,
}

/// The place of an encoded inner chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct EncodedInner {
    /// The number of the buffer.
    pub buffer: usize,
    /// Its first byte in that buffer.
    pub start: usize,
    /// The number of bytes.
    pub len: usize,
}

impl EncodedInner {
    /// Returns the place of `len` bytes from `start` in the buffer of this number.
    pub const fn new(buffer: usize, start: usize, len: usize) -> Self {
        Self { buffer, start, len }
    }
}

/// A complete object.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct JoinedObject {
    /// The bytes of the object, as consecutive parts.
    pub parts: Vec<Bytes>,
    /// Whether it contains no inner chunks, as all elements are fill values.
    pub is_empty: bool,
}

impl JoinedObject {
    /// Returns an object of these consecutive parts. `is_empty` says that it contains no inner chunks.
    pub fn new(parts: Vec<Bytes>, is_empty: bool) -> Self {
        Self { parts, is_empty }
    }
}

/// A partial write of one chunk.
///
/// The engine passes the stored object to [`feed`](Self::feed), unless there is no object or all of it is overwritten.
/// Then it calls [`encode`](Self::encode) for the affected inner chunks, in any order and on any thread, and finally
/// [`join`](Self::join).
pub trait ChunkUpdate: Debug + Send + Sync {
    /// Receives the object as it is now. Elements that are not written keep their values.
    ///
    /// # Errors
    /// If the object is corrupt.
    fn feed(&mut self, object: Bytes) -> CodecResult<()>;

    /// The number of affected inner chunks.
    fn count(&self) -> usize;

    /// Returns which of the written elements lie in an affected inner chunk: a box, counted in written elements.
    ///
    /// # Errors
    /// If there is no such inner chunk.
    fn elements(&self, number: usize) -> CodecResult<Region>;

    /// Appends the encoded form of one affected inner chunk to `out`. `src` has its [`elements`](Self::elements).
    /// Returns `false`, and appends nothing, if the inner chunk contains only the fill value and is not stored.
    ///
    /// # Errors
    /// If the inner chunk cannot be encoded, or its old content cannot be decoded.
    fn encode(
        &self,
        number: usize,
        src: &Source<'_>,
        out: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> CodecResult<bool>;

    /// Returns the whole object. `inner` says what becomes of each affected inner chunk.
    ///
    /// # Errors
    /// If the parts around the inner chunks cannot be encoded.
    fn join(&self, buffers: &[Bytes], inner: &[NewInner], scratch: &mut Scratch)
    -> CodecResult<JoinedObject>;
}
