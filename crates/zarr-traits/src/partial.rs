//! Partial reads of a chunk, without I/O in the codec. The codec states the byte ranges that it needs, receives their
//! bytes and returns pieces, which can be decoded on any thread. **For codec authors and engine authors.**
//!
//! [A codec with a checksum for each row](https://github.com/zarr-rs/zarr/blob/traits-v0.1.0/docs/guide/src/extending.md#parts-of-a-chunk)
//! shows a whole one.

use std::any::Any;
use std::fmt;
use std::fmt::Debug;
use std::sync::Arc;

use zarr_strided::{Destination, Dims, Swap};

use crate::error::CodecResult;
use crate::fill::FillValue;
use crate::range::{ByteRange, Span};
use crate::region::Region;
use crate::scratch::Scratch;

/// A partial read of one chunk.
///
/// The engine reads the ranges of [`wants`](Self::wants) in one call and passes their bytes to [`feed`](Self::feed). It
/// repeats this until `wants` is empty. Then it takes the [`pieces`](Self::pieces), reads their spans and decodes them,
/// in any order and on any thread. All reads are of one version of the object. If [`ByteRange::All`] was wanted, the
/// pieces refer to the object that was fed then.
pub trait ChunkRead: Debug + Send {
    /// The ranges needed before there are pieces (the index of a shard). Empty if the pieces are known.
    fn wants(&self) -> &[ByteRange] {
        &[]
    }

    /// Receives the bytes of [`wants`](Self::wants), in that order, and the size of the whole object if the store
    /// reports it.
    ///
    /// # Errors
    /// If they are corrupt.
    fn feed(&mut self, bytes: &[&[u8]], size: Option<u64>) -> CodecResult<()> {
        let _ = (bytes, size);
        Ok(())
    }

    /// Returns what other partial reads of the same version of the object can reuse. It is passed to
    /// [`ArrayBytesCodec::partial`](crate::codec::ArrayBytesCodec::partial).
    fn known(&self) -> Option<Known> {
        None
    }

    /// The size that the whole object must have, if known. A reader that finds another size reports an error.
    fn object_size(&self) -> Option<u64> {
        None
    }

    /// Appends the pieces to `out`. Together they cover the part; they do not overlap.
    ///
    /// # Errors
    /// If the fed bytes are inconsistent.
    fn pieces(&self, out: &mut Vec<Piece>) -> CodecResult<()>;
}

/// Data that a codec has learnt about one version of an object, such as the index of a shard. It is cheap to clone.
#[derive(Clone)]
pub struct Known {
    what: Arc<dyn Any + Send + Sync>,
    bytes: usize,
}

impl Known {
    /// Wraps `what`, which takes about `bytes` bytes of memory.
    pub fn new<T: Any + Send + Sync>(what: Arc<T>, bytes: usize) -> Self {
        Self { what, bytes }
    }

    /// Returns the data if it is a `T`.
    pub fn get<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        self.what.clone().downcast().ok()
    }

    /// The bytes of memory that the data takes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Debug for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Known({} bytes)", self.bytes)
    }
}

/// One piece of a partial read: the bytes that it needs and the place of its elements.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Piece {
    /// The bytes to read; empty if the piece needs none.
    pub span: Span,
    /// The position of the piece, relative to the part of the chunk that is read.
    pub at: Dims,
    /// The shape of the piece.
    pub shape: Dims,
    /// How the bytes become elements.
    pub job: PieceDecode,
}

impl Piece {
    /// The bytes of memory that a piece of an inner chunk takes.
    pub const BYTES: u64 = (size_of::<Self>() + size_of::<InnerPart>()) as u64;

    /// Builds a piece of `shape` at `at`, which `job` decodes from the bytes in `span`.
    pub fn new(span: Span, at: Dims, shape: Dims, job: PieceDecode) -> Self {
        Self { span, at, shape, job }
    }
}

/// How the bytes of a piece become elements.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum PieceDecode {
    /// The bytes are the elements, at distances of `strides`, with swapped bytes.
    Strided {
        /// The bytes from one element to the next, per dimension.
        strides: Arc<[i64]>,
        /// The swap of byte order.
        swap: Swap,
    },
    /// The bytes are an inner chunk, of which a part is needed.
    Chain(Box<InnerPart>),
    /// The span is empty; every element has this value.
    Fill(FillValue),
}

/// The decoder of a piece: the codec chain of an inner chunk, or any
/// [`ArrayBytesCodec`](crate::codec::ArrayBytesCodec), which decodes parts of its own form.
pub trait DecodePart: Debug + Send + Sync {
    /// Decodes `part` of a chunk of `shape` from its encoded form `src` into `dst`.
    ///
    /// # Errors
    /// If the bytes are corrupt.
    fn decode_part(
        &self,
        src: &[u8],
        shape: &[u64],
        part: &Region,
        dst: Destination<'_>,
        scratch: &mut Scratch,
    ) -> CodecResult<()>;
}

/// A part of an inner chunk.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct InnerPart {
    /// The index of the inner chunk, for error messages. Empty if the chunk has no inner chunks.
    pub number: Dims,
    /// The codecs of the inner chunk.
    pub chain: Arc<dyn DecodePart>,
    /// The shape of the inner chunk.
    pub chunk: Dims,
    /// The part of the inner chunk that the piece contains.
    pub part: Region,
    /// The order of dimensions: dimension `i` of the inner chunk is dimension `order[i]` of the piece. `None` keeps the
    /// order.
    pub order: Option<Dims>,
}

impl InnerPart {
    /// Returns `part` of an inner chunk of the shape `chunk`, which `chain` decodes. It has no number and keeps the order
    /// of dimensions.
    pub fn new(chain: Arc<dyn DecodePart>, chunk: Dims, part: Region) -> Self {
        Self { number: Dims::new(), chain, chunk, part, order: None }
    }

    /// Returns the part with the index of its inner chunk.
    #[must_use]
    pub fn number(self, number: Dims) -> Self {
        Self { number, ..self }
    }

    /// Returns the part with another order of dimensions.
    #[must_use]
    pub fn order(self, order: Option<Dims>) -> Self {
        Self { order, ..self }
    }

    /// Returns the part with other codecs.
    #[must_use]
    pub fn chain(self, chain: Arc<dyn DecodePart>) -> Self {
        Self { chain, ..self }
    }
}
