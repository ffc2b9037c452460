//! The three kinds of codec. **For codec authors.**
//!
//! A codec turns bytes into elements and back. It does no I/O, is not async, and its only state is its configuration.
//! Memory to keep between calls is in the [`Scratch`] of the calling worker.
//!
//! A codec is built for one representation: data type, fill value and rank. The shape comes with each call, since a
//! grid may have chunks of several shapes. If a codec cannot work on a representation, opening the array fails, not
//! reading a chunk.
//!
//! The bytes that a decoder gets come from a store and are untrusted. The decoder returns an error for bad bytes. It
//! never panics, and never allocates more than the destination it was given. Destinations are initialised memory, so a
//! codec needs no `unsafe`.
//!
//! # The contract
//!
//! The suite of `zarr-conformance` has a check for each rule.
//!
//! 1. Decoding returns the encoded elements, bit for bit: for every data type that the codec accepts, and for chunks of
//!    every shape, also with no dimensions or no elements. A codec that rounds returns the same elements after a second
//!    round trip.
//! 2. Building a codec fails for a representation that it cannot work on. It refuses shapes in
//!    [`check_shape`](ArrayBytesCodec::check_shape) or [`encoded_shape`](ArrayArrayCodec::encoded_shape), which are
//!    called when an array is opened. It refuses a chunk only for the values of its elements, with the kind
//!    [`Value`](crate::CodecErrorKind::Value).
//! 3. An [entry](crate::extension::CodecEntry) builds codecs of the kind that it states.
//! 4. Every member of a configuration is used, noted or refused, also in nested objects. No value of a member causes a
//!    panic.
//! 5. Sizes and shapes are known without the elements, and correct: exact, or an upper bound that grows with the input.
//! 6. Encoding appends to the output and does not change what is already there.
//! 7. Sources and destinations may have any strides.
//! 8. Decoding a part returns the same elements as decoding the whole chunk, by every method. Decoding a span of a
//!    chunk fails if the chunk does not have the declared size.
//! 9. An array → array codec encodes the fill value as it encodes an element.
//! 10. A decoder returns exactly the encoded content. If the destination is too small, it returns
//!     [`TooLarge`](crate::CodecErrorKind::TooLarge). It consumes all of its input. An empty input is an error, unless
//!     it is the encoded form of the chunk.
//! 11. Damaged or invented bytes decode to an error or to other elements, never to a panic. Truncated or extended bytes
//!     are an error. With a checksum, every damage is an error.
//! 12. Memory is allocated for declared sizes, never for sizes that the bytes claim.
//! 13. After an error the same [`Scratch`] encodes and decodes the next chunk correctly.
//! 14. The encoded form is that of the codec's specification, so the codec reads what other implementations wrote.
//! 15. What a codec says of itself is true: its [`effect`](ArrayArrayCodec::effect) and its
//!     [`access`](ArrayBytesCodec::access).
//!
//! # A codec
//!
//! A complete codec, with its registry entry:
//!
//! ```
//! use std::sync::Arc;
//! use zarr_traits::{codec::*, extension::*, *};
//!
//! #[derive(Debug)]
//! struct Xor(u8);
//!
//! impl BytesBytesCodec for Xor {
//!     fn decode_into(&self, src: &[u8], dst: &mut [u8], _: &mut Scratch) -> CodecResult<usize> {
//!         let dst = dst.get_mut(..src.len()).ok_or_else(too_large)?;
//!         dst.iter_mut().zip(src).for_each(|(d, s)| *d = s ^ self.0);
//!         Ok(src.len())
//!     }
//!     fn encode(&self, src: &[u8], out: &mut Vec<u8>, _: &mut Scratch) -> CodecResult<()> {
//!         out.extend(src.iter().map(|b| b ^ self.0));
//!         Ok(())
//!     }
//!     fn encoded_size(&self, decoded: u64) -> EncodedSize {
//!         EncodedSize::Exact(decoded)
//!     }
//! }
//!
//! const XOR: Entry = Entry::Codec(CodecEntry::new("example.xor", CodecKind::BytesBytes, |configuration, _, _| {
//!     let mask = configuration.integer("mask", 0..=255)?;
//!     Ok(Codec::BytesBytes(Arc::new(Xor(u8::try_from(mask).unwrap_or(0)))))
//! }));
//! let registry = Registry::core().with(&[XOR])?;
//! # Ok::<(), CodecError>(())
//! ```
//!
//! In the metadata of an array it comes after the array → bytes codec:
//! `.codecs([Extension::new("bytes").with("endian", "little"), Extension::new("example.xor").with("mask", 90)])`.
//! (The builder of zarr-meta adds the array → bytes codec itself if it knows all codecs of the list by name.)

mod repr;
mod steps;
mod variable;

use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

use zarr_strided::{Destination, Dims, Source, Swap};

pub use self::repr::Repr;
pub use self::steps::{too_large, with_dense, with_runs};
pub use self::variable::{decode_elements, each_element};
use crate::error::CodecResult;
use crate::partial::{ChunkRead, DecodePart, Known};
use crate::range::Fetching;
use crate::region::Region;
use crate::scratch::Scratch;
use crate::update::{ChunkUpdate, InnerChunks, SelectedPart};

/// The kind of a codec. It follows from the name alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodecKind {
    /// Elements to elements.
    ArrayArray,
    /// Elements to bytes; exactly one in a chain.
    ArrayBytes,
    /// Bytes to bytes.
    BytesBytes,
}

/// A built codec.
#[derive(Debug, Clone)]
pub enum Codec {
    /// Elements to elements.
    ArrayArray(Arc<dyn ArrayArrayCodec>),
    /// Elements to bytes.
    ArrayBytes(Arc<dyn ArrayBytesCodec>),
    /// Bytes to bytes.
    BytesBytes(Arc<dyn BytesBytesCodec>),
}

impl Codec {
    /// Returns the kind of the codec.
    pub fn kind(&self) -> CodecKind {
        match self {
            Self::ArrayArray(_) => CodecKind::ArrayArray,
            Self::ArrayBytes(_) => CodecKind::ArrayBytes,
            Self::BytesBytes(_) => CodecKind::BytesBytes,
        }
    }
}

/// The size of encoded data in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum EncodedSize {
    /// Exactly this size.
    Exact(u64),
    /// At most this size with our encoder; other encoders may need more.
    AtMost(u64),
    /// The size is unknown.
    Unknown,
}

impl EncodedSize {
    /// Returns the exact size or the bound, or `None` if the size is unknown.
    pub fn bound(self) -> Option<u64> {
        match self {
            Self::Exact(n) | Self::AtMost(n) => Some(n),
            Self::Unknown => None,
        }
    }

    /// Returns the size after one more step. `next` maps a number of bytes to their size after that step.
    #[must_use]
    pub fn then(self, next: impl FnOnce(u64) -> Self) -> Self {
        match (self, self.bound().map(next)) {
            (Self::Exact(_), Some(size)) => size,
            (_, Some(Self::Exact(n) | Self::AtMost(n))) => Self::AtMost(n),
            _ => Self::Unknown,
        }
    }
}

/// The effect of an array → array codec on a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Effect<'a> {
    /// It only reorders dimensions: dimension `i` of the encoded chunk is dimension `order[i]` of the chunk. The chain
    /// changes strides instead of moving elements, and calls neither `decode` nor `encode`.
    Reorder(&'a [u64]),
    /// It converts each element alone and keeps its place, so that parts and reordered dimensions are encoded and decoded
    /// as whole chunks are. The encoded shape is that of the chunk. Partial reads and writes of the codecs after it work
    /// through such a codec.
    Elementwise,
    /// It only changes the shape, and keeps the elements and their C order. If the elements are contiguous, the chain uses
    /// the same memory with the other shape, and calls neither `decode` nor `encode`.
    Reshape,
    /// Anything else. It gets whole chunks.
    Whole,
}

/// How parts of a chunk are reached in its encoded form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PartAccess<'a> {
    /// Only with the whole encoded form.
    Whole,
    /// The encoded form is the elements in C order, with this swap of bytes. The chain decodes directly into the
    /// destination, and reads parts without calling the codec.
    Plain(Swap),
    /// By ranges of bytes that [`partial`](ArrayBytesCodec::partial) names.
    Ranges,
    /// By inner chunks of this shape, which can be read and written separately.
    Inner(&'a [u64]),
}

/// A bytes → bytes codec: a compressor, a checksum.
pub trait BytesBytesCodec: Debug + Send + Sync {
    /// Decodes all of `src` into the start of `dst` and returns the number of decoded bytes.
    ///
    /// A caller that knows the decoded size passes a `dst` of that size and compares the result.
    ///
    /// # Errors
    /// [`TooLarge`](crate::CodecErrorKind::TooLarge) if the output does not fit;
    /// [`Corrupt`](crate::CodecErrorKind::Corrupt) for malformed, truncated or trailing bytes;
    /// [`Checksum`](crate::CodecErrorKind::Checksum).
    fn decode_into(&self, src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> CodecResult<usize>;

    /// Decodes only bytes `span` of the `size` decoded bytes into `dst`, which has room for them. Returns `Ok(false)`
    /// if this is not cheaper than decoding everything, or would skip a checksum. The caller then decodes everything.
    ///
    /// # Errors
    /// As [`decode_into`](Self::decode_into).
    fn decode_span(
        &self,
        src: &[u8],
        size: usize,
        span: Range<usize>,
        dst: &mut [u8],
        scratch: &mut Scratch,
    ) -> CodecResult<bool> {
        let _ = (src, size, span, dst, scratch);
        Ok(false)
    }

    /// Appends the encoded form of `src` to `out`.
    ///
    /// # Errors
    /// If `src` cannot be encoded, for example because it is too large for the format.
    fn encode(&self, src: &[u8], out: &mut Vec<u8>, scratch: &mut Scratch) -> CodecResult<()>;

    /// Returns the encoded size of `decoded` bytes.
    fn encoded_size(&self, decoded: u64) -> EncodedSize;
}

/// An array → bytes codec.
pub trait ArrayBytesCodec: Debug + Send + Sync {
    /// Returns how parts of a chunk are reached in its encoded form.
    fn access(&self) -> PartAccess<'_>;

    /// Checks that the codec can work on chunks of `shape`. It is called when the array is opened.
    ///
    /// # Errors
    /// If the codec cannot work on them.
    fn check_shape(&self, shape: &[u64]) -> CodecResult<()> {
        let _ = shape;
        Ok(())
    }

    /// Decodes `part` of a chunk of `shape` into `dst`, which has the shape of the part.
    ///
    /// # Errors
    /// As for bytes → bytes codecs. All of `src` must be consumed.
    fn decode_into(
        &self,
        src: &[u8],
        shape: &[u64],
        part: &Region,
        dst: Destination<'_>,
        scratch: &mut Scratch,
    ) -> CodecResult<()>;

    /// Appends the encoded form of a chunk to `out`.
    ///
    /// # Errors
    /// If an element cannot be encoded.
    fn encode(&self, src: Source<'_>, out: &mut Vec<u8>, scratch: &mut Scratch) -> CodecResult<()>;

    /// Returns the encoded size of a chunk of `shape`.
    fn encoded_size(&self, shape: &[u64]) -> EncodedSize;

    /// Returns a reader for `part` of a chunk of `shape`; called for [`PartAccess::Ranges`] and [`PartAccess::Inner`].
    /// With inner chunks, each of its pieces lies in one of them. `known` is what an earlier read learnt about the same
    /// version of the object. With `None` the chunk is read whole; a codec of inner chunks never returns it.
    ///
    /// # Errors
    /// If the codec cannot work on this shape.
    #[doc(alias = "partial_decode")]
    fn partial(
        &self,
        shape: &[u64],
        part: &Region,
        fetching: Fetching,
        known: Option<&Known>,
    ) -> CodecResult<Option<Box<dyn ChunkRead>>> {
        let _ = (shape, part, fetching, known);
        Ok(None)
    }

    /// Returns a writer for elements of a chunk of `shape` by its inner chunks; called for [`PartAccess::Inner`]. With
    /// `None` the chunk is encoded whole.
    fn update(&self, shape: &[u64], picks: &SelectedPart, how: InnerChunks) -> Option<Box<dyn ChunkUpdate>> {
        let _ = (shape, picks, how);
        None
    }
}

/// A codec can decode the pieces of its own [partial](ArrayBytesCodec::partial) reads.
impl<C: ArrayBytesCodec> DecodePart for C {
    fn decode_part(
        &self,
        src: &[u8],
        shape: &[u64],
        part: &Region,
        dst: Destination<'_>,
        scratch: &mut Scratch,
    ) -> CodecResult<()> {
        self.decode_into(src, shape, part, dst, scratch)
    }
}

/// An array → array codec.
pub trait ArrayArrayCodec: Debug + Send + Sync {
    /// Returns the representation that the next codec of the chain gets.
    ///
    /// # Errors
    /// If the fill value cannot be encoded.
    fn encoded_repr(&self) -> CodecResult<Repr>;

    /// Returns the encoded shape of a chunk of `shape`.
    ///
    /// # Errors
    /// If the codec cannot work on this shape.
    fn encoded_shape(&self, shape: &[u64]) -> CodecResult<Dims>;

    /// Returns what the codec does to a chunk.
    fn effect(&self) -> Effect<'_>;

    /// Returns the region of the encoded chunk that has the elements of `part`, in the same order, or `None` if the whole
    /// chunk is needed. Called for [`Effect::Reshape`] only.
    fn map_part(&self, shape: &[u64], part: &Region) -> Option<Region> {
        let _ = (shape, part);
        None
    }

    /// Decodes the elements of `src` into `dst`. `src` is a whole encoded chunk, or a part of one as the
    /// [effect](Self::effect) allows.
    ///
    /// # Errors
    /// If an element cannot be decoded.
    fn decode(&self, src: Source<'_>, dst: Destination<'_>, scratch: &mut Scratch) -> CodecResult<()>;

    /// Encodes the elements of `src` into `dst`, which has the encoded shape.
    ///
    /// # Errors
    /// If an element cannot be encoded.
    fn encode(&self, src: Source<'_>, dst: Destination<'_>, scratch: &mut Scratch) -> CodecResult<()>;
}
