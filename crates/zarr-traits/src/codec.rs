//! The three kinds of codec. **For codec authors.**
//!
//! A codec turns bytes into elements and back. It does no I/O, is not async, and has no state but its configuration:
//! what it wants to keep between calls lies in the [`Scratch`] of the worker that calls it.
//!
//! A codec is built for one representation (data type, fill value, rank; not shape, which comes with each call since a
//! grid may have chunks of several shapes). What it cannot work on it refuses then: when the array is opened, not when a
//! chunk is read (checklist D.02).
//!
//! The bytes that a decoder is given come from a store and are hostile: it must answer with an error, never with a panic
//! or with more memory than the destination it was given. Destinations are initialised memory, so that a codec needs no
//! `unsafe`.
//!
//! # The contract
//!
//! The suite of `zarr-conformance` has a check for each rule; in brackets stand ids of the checklist.
//!
//! 1. What is encoded is decoded again, bit for bit: elements of every type that the codec accepts, in chunks of every
//!    shape, also of no dimension or of no element. A codec that rounds gives back what it gave once (D.03).
//! 2. What it cannot work on it refuses when it is built, and shapes by [`check_shape`](ArrayBytesCodec::check_shape) or
//!    [`encoded_shape`](ArrayArrayCodec::encoded_shape), which are asked when an array is opened. A chunk is refused for
//!    its elements alone, with the kind [`Value`](CodecErrorKind::Value) (D.02, D.10).
//! 3. [`build`](CodecEntry::build) makes a codec of the [`kind`](CodecEntry::kind) that its entry states (D.01).
//! 4. Every member of a configuration is used, noted or refused, also the members of what lies in it, and no value of one
//!    is a panic (D.08).
//! 5. Sizes and shapes are known without the elements, and true: exact, or a bound that grows with what is encoded (D.02,
//!    D.04).
//! 6. Encoding appends; what is in the output already stays.
//! 7. Sources and destinations may have any strides.
//! 8. A part is that part of the whole, in whichever way it is decoded, and no span of a chunk is given whose size is not
//!    the declared one (D.04).
//! 9. An array → array codec encodes the fill value as it encodes an element (D.05).
//! 10. A decoder gives exactly what is there. In too little room it says [`TooLarge`](CodecErrorKind::TooLarge); it uses
//!     its source up; no bytes at all are no chunk, unless they are its encoded form (D.06, D.07).
//! 11. Bytes are hostile. Damaged or made up, they decode to an error or to other elements, never to a panic; cut short or
//!     lengthened, they do not pass for a chunk; and behind a checksum no damage does (L100, L101, L104).
//! 12. Memory is taken for what is declared, never for what bytes claim (L101).
//! 13. After an error the same [`Scratch`] encodes and decodes the next chunk as if nothing had been.
//! 14. The encoded form is that of the codec's specification: what others wrote is read.
//!
//! # A codec
//!
//! A whole codec, with its entry in the registry:
//!
//! ```
//! use std::sync::Arc;
//! use zarr_traits::{codec::*, *};
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
//! In the metadata of an array it stands behind the codec that turns elements into bytes:
//! `.codecs([Extension::new("bytes").with("endian", "little"), Extension::new("example.xor").with("mask", 90)])`. (Of a list
//! of codecs that it knows by name the builder of zarr-meta puts that one in by itself.)

use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

use zarr_strided::{Destination, Dims, Source, Swap};

pub use crate::configuration::{Configuration, Note, NoteKind, summary};
use crate::dtype::{DataType, Layout};
use crate::error::{CodecError, CodecErrorKind, CodecResult};
use crate::fill::FillValue;
use crate::heap::Slot;
use crate::limits::Limits;
use crate::partial::{ChunkRead, Hints, Known};
use crate::region::Region;
use crate::region::byte_len;
use crate::registry::Registry;
use crate::scratch::Scratch;
use crate::update::{ChunkUpdate, InnerChunks, SelectedPart};

/// What reaches a codec: everything about a chunk but its shape and its values.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repr {
    /// The data type of the elements.
    pub data_type: DataType,
    /// The fill value, as it is at this place of the chain (checklist D.05).
    pub fill: FillValue,
    /// The number of dimensions.
    pub rank: usize,
}

impl Repr {
    /// Elements of `data_type`, in chunks of `rank` dimensions.
    pub fn new(data_type: DataType, fill: FillValue, rank: usize) -> Self {
        Self { data_type, fill, rank }
    }

    /// Size and unit of an element, 1 for a packed one; an error that says so for a type of variable length (checklist
    /// D.10).
    ///
    /// # Errors
    /// [`CodecErrorKind::Unsupported`].
    pub fn fixed(&self) -> CodecResult<(usize, usize)> {
        match self.data_type.layout() {
            Layout::Fixed { size, unit } => Ok((size, unit)),
            Layout::Packed { size } => Ok((size, 1)),
            Layout::Variable => Err(CodecError::new(
                CodecErrorKind::Unsupported,
                format!("data type {:?} has elements of variable length", self.data_type.name()),
            )),
        }
    }

    /// The fill value as it lies in the memory of a chunk.
    pub fn fill_element(&self) -> FillValue {
        match self.data_type.layout() {
            Layout::Variable => Slot::fill(&self.fill).to_element(),
            _ => self.fill.clone(),
        }
    }
}

/// What the building of an extension may look at.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Context<'a> {
    /// Where inner chains and types are looked up.
    pub registry: &'a Registry,
    /// What stored data may make us do.
    pub limits: &'a Limits,
    /// How many chains, or data types, this one lies in.
    pub depth: usize,
}

impl<'a> Context<'a> {
    /// The context of the extensions of an array.
    pub fn new(registry: &'a Registry, limits: &'a Limits) -> Self {
        Self { registry, limits, depth: 0 }
    }

    /// The context one level further inside.
    #[must_use]
    pub fn inside(self) -> Self {
        Self { depth: self.depth.saturating_add(1), ..self }
    }
}

/// The kind of a codec, known from its name alone (checklist A22).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodecKind {
    /// Elements to elements.
    ArrayArray,
    /// Elements to bytes; exactly one in a chain.
    ArrayBytes,
    /// Bytes to bytes.
    BytesBytes,
}

/// A codec, built.
#[derive(Debug, Clone)]
pub enum Codec {
    /// Elements to elements.
    ArrayArray(Arc<dyn ArrayArrayCodec>),
    /// Elements to bytes.
    ArrayBytes(Arc<dyn ArrayBytesCodec>),
    /// Bytes to bytes.
    BytesBytes(Arc<dyn BytesBytesCodec>),
}

/// Makes a codec from its configuration and the representation that reaches it.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct CodecEntry {
    /// The name in metadata documents.
    pub name: &'static str,
    /// Other names that are read and never written.
    pub aliases: &'static [&'static str],
    /// Which kind [`build`](Self::build) returns.
    pub kind: CodecKind,
    /// Builds it.
    pub build: BuildCodec,
}

/// Builds a codec for elements of a representation.
pub type BuildCodec = fn(&mut Configuration<'_>, &Repr, &Context<'_>) -> CodecResult<Codec>;

impl CodecEntry {
    /// The codec `name`, of which `build` makes one of the stated kind.
    pub const fn new(name: &'static str, kind: CodecKind, build: BuildCodec) -> Self {
        Self { name, aliases: &[], kind, build }
    }

    /// The same codec, found by other names as well.
    #[must_use]
    pub const fn with_aliases(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }
}

/// How large something is once it is encoded, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum EncodedSize {
    /// Always exactly this.
    Exact(u64),
    /// No more than this, as far as our own encoder goes; other encoders may be worse.
    AtMost(u64),
    /// Nobody knows.
    Unknown,
}

impl EncodedSize {
    /// The number in it.
    pub fn bound(self) -> Option<u64> {
        match self {
            Self::Exact(n) | Self::AtMost(n) => Some(n),
            Self::Unknown => None,
        }
    }

    /// The size after one more step, of which `next` says what becomes of a given number of bytes.
    #[must_use]
    pub fn then(self, next: impl FnOnce(u64) -> Self) -> Self {
        match (self, self.bound().map(next)) {
            (Self::Exact(_), Some(size)) => size,
            (_, Some(Self::Exact(n) | Self::AtMost(n))) => Self::AtMost(n),
            _ => Self::Unknown,
        }
    }
}

/// The error of a decoder whose output does not fit into its destination.
pub fn too_large() -> CodecError {
    CodecError::new(CodecErrorKind::TooLarge, "it decodes to more bytes than declared")
}

/// Runs `step` over the dense elements of `src` and those of `dst`, by way of scratch where they do not lie densely: all that
/// there is to an array → array codec that keeps the order of its elements.
///
/// ```
/// # use zarr_traits::{codec::*, *};
/// fn negate(src: Source<'_>, dst: Destination<'_>, scratch: &mut Scratch) -> CodecResult<()> {
///     with_dense(&src, dst, scratch, |src, dst, _| {
///         for (from, to) in src.as_chunks().0.iter().zip(dst.as_chunks_mut().0) {
///             *to = i32::from_ne_bytes(*from).wrapping_neg().to_ne_bytes();
///         }
///         Ok(())
///     })
/// }
/// # let (src, mut dst, scratch) = ([1, 2, 3, 4_i32], [0_i32; 4], &mut Scratch::new());
/// # let turned = Source::of(&src, &[2, 2])?.permute(&[1, 0])?;
/// # negate(turned, Destination::of(&mut dst, &[2, 2])?, scratch)?;
/// # assert_eq!(dst, [-1, -3, -2, -4]);
/// # negate(Source::of(&src, &[2, 2])?, Destination::of(&mut dst, &[2, 2])?.permute(&[1, 0])?, scratch)?;
/// # assert_eq!(dst, [-1, -3, -2, -4]);
/// # Ok::<(), CodecError>(())
/// ```
///
/// # Errors
/// Those of `step`, and [`CodecErrorKind::LimitExceeded`] when there is no memory.
pub fn with_dense(
    src: &Source<'_>,
    mut dst: Destination<'_>,
    scratch: &mut Scratch,
    step: impl FnOnce(&[u8], &mut [u8], &mut Scratch) -> CodecResult<()>,
) -> CodecResult<()> {
    let mut gathered = scratch.take_vec();
    let elements = match src.as_dense() {
        Some(dense) => dense,
        None => {
            src.append_to(&mut gathered, Swap::NONE)?;
            &gathered
        }
    };
    if let Some(target) = dst.as_dense_mut() {
        step(elements, target, scratch)?;
    } else {
        let (shape, size) = (Dims::from(dst.shape()), dst.size());
        let mut made = scratch.take(byte_len(&shape, size)?)?;
        step(elements, &mut made, scratch)?;
        dst.put(Source::dense(&made, &shape, size)?, Swap::NONE)?;
        scratch.give(made);
    }
    scratch.give_vec(gathered);
    Ok(())
}

/// A codec from bytes to bytes: a compressor, a checksum.
pub trait BytesBytesCodec: Debug + Send + Sync {
    /// Decodes all of `src` into the start of `dst` and returns how many bytes that made.
    ///
    /// Whoever knows the decoded size passes a `dst` of just that size and compares.
    ///
    /// # Errors
    /// [`CodecErrorKind::TooLarge`] when they do not fit, [`CodecErrorKind::Corrupt`] for anything malformed, truncated
    /// or trailing, [`CodecErrorKind::Checksum`].
    fn decode_into(&self, src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> CodecResult<usize>;

    /// Decodes only bytes `span` of the `size` decoded ones, which `dst` has room for. `Ok(false)`: cannot do that
    /// cheaper or not without skipping a checksum, decode it all.
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
    /// When the input cannot be encoded (too large for the format).
    fn encode(&self, src: &[u8], out: &mut Vec<u8>, scratch: &mut Scratch) -> CodecResult<()>;

    /// How many bytes `decoded` bytes become.
    fn encoded_size(&self, decoded: u64) -> EncodedSize;
}

/// The codec from elements to bytes.
pub trait ArrayBytesCodec: Debug + Send + Sync {
    /// `Some` when the encoded form is just the elements in C order, with this swap of bytes: then the chain decodes
    /// straight into the destination and reads parts without asking further.
    fn plain(&self) -> Option<Swap> {
        None
    }

    /// Whether the codec can work on chunks of `shape`.
    ///
    /// # Errors
    /// When it cannot; called when the array is opened.
    fn check_shape(&self, shape: &[u64]) -> CodecResult<()> {
        let _ = shape;
        Ok(())
    }

    /// Decodes the `part` of a chunk of `shape` into `dst`, which has the shape of the part.
    ///
    /// # Errors
    /// As for bytes → bytes codecs; `src` must be used up.
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
    /// When an element cannot be encoded.
    fn encode(&self, src: Source<'_>, out: &mut Vec<u8>, scratch: &mut Scratch) -> CodecResult<()>;

    /// How many bytes a chunk of `shape` becomes.
    fn encoded_size(&self, shape: &[u64]) -> EncodedSize;

    /// The shape of inner chunks, where chunks are made of such: each can be read and written by itself.
    fn inner_shape(&self) -> Option<&[u64]> {
        None
    }

    /// A way to read the `part` of a chunk of `shape` by its pieces, each of which lies in one inner chunk; `None`: read
    /// it whole. `known` is what an earlier read has learnt of the same version of the object.
    fn partial(
        &self,
        shape: &[u64],
        part: &Region,
        hints: Hints,
        known: Option<&Known>,
    ) -> Option<Box<dyn ChunkRead>> {
        let _ = (shape, part, hints, known);
        None
    }

    /// A way to write elements of a chunk of `shape` by its inner chunks; `None`: encode it whole.
    fn update(&self, shape: &[u64], picks: &SelectedPart, how: InnerChunks) -> Option<Box<dyn ChunkUpdate>> {
        let _ = (shape, picks, how);
        None
    }
}

/// A codec from elements to elements.
pub trait ArrayArrayCodec: Debug + Send + Sync {
    /// What the next codec of the chain gets.
    ///
    /// # Errors
    /// When the fill value cannot be encoded.
    fn encoded_repr(&self) -> CodecResult<Repr>;

    /// The shape of a chunk of `shape` once it is encoded.
    ///
    /// # Errors
    /// When the codec cannot work on it.
    fn encoded_shape(&self, shape: &[u64]) -> CodecResult<Dims>;

    /// `Some` when the codec only reorders dimensions: dimension `i` of the encoded chunk is dimension `order[i]`. The
    /// chain then changes strides instead of moving elements, and calls neither `decode` nor `encode`.
    fn as_layout(&self) -> Option<&[u64]> {
        None
    }

    /// Whether the elements stay as they are, one after the other in C order, and only get another shape. Where they lie
    /// dense the chain then looks at the same memory in that shape, and calls neither `decode` nor `encode`.
    fn keeps_elements(&self) -> bool {
        false
    }

    /// The region of the encoded chunk that is enough to decode `part`, and whose elements are those of the encoded part in
    /// the same order; `None`: the whole chunk is needed.
    fn map_part(&self, shape: &[u64], part: &Region) -> Option<Region> {
        let _ = (shape, part);
        None
    }

    /// Decodes the elements of `src` (a whole encoded chunk, or the region from [`map_part`](Self::map_part)) into `dst`.
    ///
    /// # Errors
    /// When an element cannot be decoded.
    fn decode(&self, src: Source<'_>, dst: Destination<'_>, scratch: &mut Scratch) -> CodecResult<()>;

    /// Encodes the elements of `src` into `dst`, which has the encoded shape.
    ///
    /// # Errors
    /// When an element cannot be encoded.
    fn encode(&self, src: Source<'_>, dst: Destination<'_>, scratch: &mut Scratch) -> CodecResult<()>;
}
