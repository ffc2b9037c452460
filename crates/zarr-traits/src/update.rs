//! Writing a chunk that is made of inner chunks: they are encoded one by one, on any threads, and what is not written
//! keeps its bytes. No I/O in the codec. **For codec authors (sharding), and engine authors.**

use std::fmt::Debug;

use bytes::Bytes;
use zarr_strided::{Dims, Source};

use crate::error::CodecResult;
use crate::region::{Region, permute};
use crate::scratch::Scratch;

/// Which elements of a chunk are written: in dimension `d` of a box every `steps[d]`-th one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectedPart {
    /// The box, relative to the chunk: from the first to the last of them.
    pub part: Region,
    /// The distance from one element to the next in each dimension, in elements; all 1 for all of the box.
    pub steps: Dims,
}

impl SelectedPart {
    /// All of a box.
    pub fn all(part: Region) -> Self {
        let steps = Dims::filled(1, part.rank());
        Self { part, steps }
    }

    /// How many elements are written in each dimension.
    pub fn counts(&self) -> Dims {
        self.part.shape().iter().zip(&self.steps).map(|(len, step)| len.div_ceil(*step)).collect()
    }

    /// The same with its dimensions in another order; `None` when `order` is no permutation.
    pub fn permute(&self, order: &[u64]) -> Option<Self> {
        Some(Self { part: self.part.permute(order)?, steps: permute(&self.steps, order)? })
    }
}

/// How inner chunks are stored. No document tells it; readers need not know (checklist D7.8, D7.9, D7.15).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct InnerChunks {
    /// In which order they lie in the object.
    pub order: InnerOrder,
    /// Whether those of nothing but the fill value are stored like any other.
    pub store_fill: bool,
}

/// In which order inner chunks lie in their object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum InnerOrder {
    /// The last dimension fastest: rows are read with the fewest ranges.
    #[default]
    C,
    /// Along a Z-shaped curve: boxes are read with fewer ranges.
    Morton,
}

/// Where an inner chunk was encoded to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Encoded {
    /// The number of the buffer.
    pub buffer: usize,
    /// Its first byte there.
    pub start: usize,
    /// The number of bytes.
    pub len: usize,
}

/// An object that was put together.
#[derive(Debug, Clone)]
pub struct JoinedObject {
    /// Its bytes, one part after the other.
    pub parts: Vec<Bytes>,
    /// Whether no inner chunk is stored in it: it is all fill value.
    pub is_empty: bool,
}

/// The writing of one part of one chunk.
///
/// The engine [`feed`](Self::feed)s the object as it is stored, unless there is none or all of it is written. Then it
/// [`encode`](Self::encode)s each of the inner chunks touched, in any order and on any thread, and
/// [`join`](Self::join)s them.
pub trait ChunkUpdate: Debug + Send + Sync {
    /// Takes the object as it is now. What it holds of elements that are not written is kept.
    ///
    /// # Errors
    /// When it is corrupt.
    fn feed(&mut self, object: Bytes) -> CodecResult<()>;

    /// How many inner chunks are touched.
    fn count(&self) -> usize;

    /// Appends one of the inner chunks touched, encoded. `src` are all the elements that are written. `false`: it holds
    /// nothing but the fill value and is not stored; nothing was appended.
    ///
    /// # Errors
    /// When it cannot be encoded, or what was there of it before not be decoded.
    fn encode(
        &self,
        number: usize,
        src: &Source<'_>,
        out: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> CodecResult<bool>;

    /// The whole object, from where each of the inner chunks touched was encoded to.
    ///
    /// # Errors
    /// When what surrounds the inner chunks cannot be encoded.
    fn join(
        &self,
        buffers: &[Bytes],
        encoded: &[Option<Encoded>],
        scratch: &mut Scratch,
    ) -> CodecResult<JoinedObject>;
}
