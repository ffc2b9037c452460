//! Array → array codecs that ignore the shape of a chunk: a kernel on contiguous elements, turned into a codec. **For
//! codec authors.**
//!
//! ```
//! use zarr_traits::kernel::{self, Kernel};
//! use zarr_traits::codec::CodecKind;
//! use zarr_traits::extension::{CodecEntry, Entry};
//! use zarr_traits::{CodecResult, Scratch};
//!
//! /// Bytes with all bits inverted.
//! #[derive(Debug)]
//! struct Invert;
//!
//! impl Kernel for Invert {
//!     fn encode(&self, src: &[u8], dst: &mut [u8], _: &mut Scratch) -> CodecResult<()> {
//!         dst.iter_mut().zip(src).for_each(|(d, s)| *d = !s);
//!         Ok(())
//!     }
//!     fn decode(&self, src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> CodecResult<()> {
//!         self.encode(src, dst, scratch)
//!     }
//! }
//!
//! const INVERT: Entry = Entry::Codec(CodecEntry::new("example.invert", CodecKind::ArrayArray, |_, repr, _| {
//!     repr.fixed()?; // strings are refused
//!     kernel::codec(Invert, repr, repr.data_type.clone())
//! }));
//! ```

mod elementwise;

use std::fmt::Debug;
use std::sync::Arc;

use zarr_strided::{Destination, Dims, Source};

use crate::codec::{ArrayArrayCodec, Codec, Effect, Repr, with_dense, with_runs};
use crate::dtype::DataType;
use crate::error::CodecResult;
use crate::fill::FillValue;
use crate::scratch::Scratch;

pub use elementwise::elementwise;

/// An operation on elements. They are contiguous in C order and in the byte order of this machine. Source and
/// destination hold the same number of elements.
pub trait Kernel: Debug + Send + Sync + 'static {
    /// Whether each element is encoded separately. Parts of chunks are then decoded without the rest, and a call may
    /// get any elements of a chunk.
    fn is_elementwise(&self) -> bool {
        true
    }

    /// Encodes elements.
    ///
    /// # Errors
    /// If an element cannot be encoded.
    fn encode(&self, src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> CodecResult<()>;

    /// Decodes elements.
    ///
    /// # Errors
    /// If an element cannot be decoded.
    fn decode(&self, src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> CodecResult<()>;
}

/// Returns a codec that applies `kernel` to elements of `repr` and encodes them to elements of `encoded`. The fill
/// value is encoded like any element.
///
/// # Errors
/// If the fill value cannot be encoded.
pub fn codec(kernel: impl Kernel, repr: &Repr, encoded: DataType) -> CodecResult<Codec> {
    let mut fill = vec![0; encoded.memory_size()];
    kernel.encode(repr.fill.bytes(), &mut fill, &mut Scratch::new())?;
    let encoded_repr = Repr::new(encoded, FillValue::from_bytes(fill), repr.rank);
    Ok(Codec::ArrayArray(Arc::new(KernelCodec { kernel, encoded_repr })))
}

#[derive(Debug)]
struct KernelCodec<K> {
    kernel: K,
    encoded_repr: Repr,
}

impl<K: Kernel> ArrayArrayCodec for KernelCodec<K> {
    fn encoded_repr(&self) -> CodecResult<Repr> {
        Ok(self.encoded_repr.clone())
    }

    fn encoded_shape(&self, shape: &[u64]) -> CodecResult<Dims> {
        Ok(shape.into())
    }

    fn effect(&self) -> Effect<'_> {
        if self.kernel.is_elementwise() { Effect::Elementwise } else { Effect::Whole }
    }

    fn decode(&self, src: Source<'_>, dst: Destination<'_>, scratch: &mut Scratch) -> CodecResult<()> {
        let step = |src: &[u8], dst: &mut [u8], scratch: &mut _| self.kernel.decode(src, dst, scratch);
        if self.kernel.is_elementwise() {
            with_runs(&src, dst, scratch, step)
        } else {
            with_dense(&src, dst, scratch, step)
        }
    }

    fn encode(&self, src: Source<'_>, dst: Destination<'_>, scratch: &mut Scratch) -> CodecResult<()> {
        let step = |src: &[u8], dst: &mut [u8], scratch: &mut _| self.kernel.encode(src, dst, scratch);
        if self.kernel.is_elementwise() {
            with_runs(&src, dst, scratch, step)
        } else {
            with_dense(&src, dst, scratch, step)
        }
    }
}
