//! Reading part of a chunk without I/O in the codec: the codec says which ranges of the object it wants, is fed them,
//! and hands back pieces that run anywhere. **For codec authors (sharding), and engine authors.**

use std::any::Any;
use std::fmt;
use std::fmt::Debug;
use std::sync::Arc;

use zarr_strided::{Destination, Dims, Swap};

use crate::error::CodecResult;
use crate::fill::FillValue;
use crate::range::ByteRange;
use crate::region::Region;
use crate::scratch::Scratch;

/// How parts of objects are best fetched. The defaults are those of the kind of store: [`Drive::hints`](crate::store::Drive::hints).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hints {
    /// Ranges of one object at most this many bytes apart are read as one: 4 KiB in a store on this machine, what the
    /// store asks for otherwise.
    pub gap: u64,
    /// Bytes that a range may have on account of gaps in it; 1 MiB on this machine, 16 times the gap otherwise. Ranges
    /// that touch each other are one in any case.
    pub span: u64,
    /// An object of at most this many bytes is read whole rather than in two steps (a small shard), and one of any size
    /// where most of it is wanted; 16 KiB on this machine, as much as the gap otherwise. 0: never.
    pub whole: u64,
}

/// The bytes of an object that a piece needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// The first byte.
    pub offset: u64,
    /// The number of bytes.
    pub len: u64,
}

impl Span {
    /// The first byte behind it; `None` when that exceeds `u64`.
    pub fn end(self) -> Option<u64> {
        self.offset.checked_add(self.len)
    }
}

impl From<Span> for ByteRange {
    fn from(span: Span) -> Self {
        Self::Span { offset: span.offset, len: span.len }
    }
}

/// The reading of one part of one chunk.
///
/// The engine asks for [`wants`](Self::wants), reads those ranges in one call, and [`feed`](Self::feed)s them, until
/// nothing more is wanted; then it takes the [`pieces`](Self::pieces), reads their ranges and runs them, in any order and
/// on any thread. All reads are of one version of the object. Where [`ByteRange::All`] was wanted the pieces are made of
/// what was fed then.
pub trait ChunkRead: Debug + Send {
    /// The ranges that must be known before there are pieces (an index); empty: there is nothing more to know.
    fn wants(&self) -> &[ByteRange] {
        &[]
    }

    /// Takes the bytes of [`wants`](Self::wants), in that order, and the size of the whole object where the store tells it.
    ///
    /// # Errors
    /// When they are corrupt.
    fn feed(&mut self, bytes: &[&[u8]], size: Option<u64>) -> CodecResult<()> {
        let _ = (bytes, size);
        Ok(())
    }

    /// What was learnt from the bytes fed that serves other parts of the same version of the object as well; to be handed
    /// to [`ArrayBytesCodec::partial`](crate::codec::ArrayBytesCodec::partial).
    fn known(&self) -> Option<Known> {
        None
    }

    /// The size that the whole object must have, where that is known. A reader that learns another one reports it.
    fn object_size(&self) -> Option<u64> {
        None
    }

    /// Appends the pieces, which together cover the part and do not overlap.
    ///
    /// # Errors
    /// When what was fed makes no sense.
    fn pieces(&self, out: &mut Vec<Piece>) -> CodecResult<()>;
}

/// What the codec of a chunk has learnt about one version of an object: the index of a shard. Cheap to clone.
#[derive(Clone)]
pub struct Known {
    what: Arc<dyn Any + Send + Sync>,
    bytes: usize,
}

impl Known {
    /// `what` is known, which takes up some `bytes` of memory.
    pub fn new<T: Any + Send + Sync>(what: Arc<T>, bytes: usize) -> Self {
        Self { what, bytes }
    }

    /// What is known, if it is a `T`: how a codec finds its own again.
    pub fn get<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        self.what.clone().downcast().ok()
    }

    /// Bytes of memory.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Debug for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Known({} bytes)", self.bytes)
    }
}

/// One piece of a part of a chunk: which bytes it needs, and where its elements go.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Piece {
    /// The bytes it is made of; none of them for a piece that needs none.
    pub span: Span,
    /// Where it goes, relative to the part of the chunk that is being read.
    pub at: Dims,
    /// The shape of what it gives.
    pub shape: Dims,
    /// How the bytes become elements.
    pub job: Job,
}

impl Piece {
    /// Bytes of memory that a piece of an inner chunk takes: what a reader counts for each piece that it makes.
    pub const BYTES: u64 = (size_of::<Self>() + size_of::<InnerPart>()) as u64;

    /// The piece of `shape` at `at`, which `job` makes of the bytes in `span`.
    pub fn new(span: Span, at: Dims, shape: Dims, job: Job) -> Self {
        Self { span, at, shape, job }
    }
}

/// How the bytes of a piece become elements.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Job {
    /// They are the elements, `strides` bytes apart in each dimension, with their bytes swapped.
    Strided {
        /// Bytes from one element to the next, per dimension.
        strides: Arc<[i64]>,
        /// The swap to do on the way.
        swap: Swap,
    },
    /// They are a chunk of its own (an inner chunk), of which a part is wanted.
    Chain(Box<InnerPart>),
    /// There are none (the span is empty): every element is this one.
    Fill(FillValue),
}

/// Decodes a part of an inner chunk: the chain of its codecs.
pub trait DecodePart: Debug + Send + Sync {
    /// Decodes `part` of a chunk of `shape`, whose encoded form is `src`, into `dst`.
    ///
    /// # Errors
    /// When the bytes are corrupt.
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
pub struct InnerPart {
    /// Which of the inner chunks it is: what errors call it.
    pub number: Dims,
    /// The codecs of the inner chunk.
    pub chain: Arc<dyn DecodePart>,
    /// The shape of the inner chunk.
    pub chunk: Dims,
    /// The part of it that the piece gives.
    pub part: Region,
    /// Dimension `i` of the inner chunk is dimension `order[i]` of the piece; none: they are in the same order.
    pub order: Option<Dims>,
}
