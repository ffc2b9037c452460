//! Array → array codecs that encode each element separately.

use std::fmt;

use crate::codec::{Codec, Repr};
use crate::dtype::DataType;
use crate::error::{CodecError, CodecErrorKind, CodecResult};
use crate::kernel::{self, Kernel};
use crate::scratch::Scratch;

/// Returns a codec that encodes each element of `repr` (`D` bytes) to an element of type `encoded` (`E` bytes). Shapes,
/// partial reads and the fill value follow from that. Elements are in the byte order of this machine.
///
/// ```
/// # use zarr_traits::{codec::*, extension::*, *};
/// // float64 as float32: the build function of a codec
/// fn build(repr: &Repr) -> CodecResult<Codec> {
///     let narrow = |n: [u8; 8]| Ok((f64::from_ne_bytes(n) as f32).to_ne_bytes());
///     let widen = |n: [u8; 4]| Ok(f64::from(f32::from_ne_bytes(n)).to_ne_bytes());
///     kernel::elementwise(repr, DataType::Float32, narrow, widen)
/// }
/// # let fill = FillValue::of(1_f64);
/// # let repr = Repr::new(DataType::Float64, fill, 1);
/// # let Codec::ArrayArray(codec) = build(&repr)? else { panic!() };
/// # assert_eq!(codec.encoded_repr()?.fill, FillValue::of(1_f32));
/// # assert!(build(&Repr::new(DataType::Int32, repr.fill, 1)).is_err());
/// # Ok::<(), CodecError>(())
/// ```
///
/// # Errors
/// [`CodecErrorKind::Unsupported`] if the elements have other sizes than `D` and `E`; errors of `encode` for the fill
/// value.
pub fn elementwise<const D: usize, const E: usize>(
    repr: &Repr,
    encoded: DataType,
    encode: impl Fn([u8; D]) -> CodecResult<[u8; E]> + Send + Sync + 'static,
    decode: impl Fn([u8; E]) -> CodecResult<[u8; D]> + Send + Sync + 'static,
) -> CodecResult<Codec> {
    for (data_type, size) in [(&repr.data_type, D), (&encoded, E)] {
        if data_type.size() != Some(size) {
            let message = format!("it needs elements of {size} bytes, {data_type} has another size");
            return Err(CodecError::new(CodecErrorKind::Unsupported, message));
        }
    }
    kernel::codec(Elementwise { encode, decode }, repr, encoded)
}

struct Elementwise<F, G, const D: usize, const E: usize> {
    encode: F,
    decode: G,
}

impl<F, G, const D: usize, const E: usize> fmt::Debug for Elementwise<F, G, D, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Elementwise").finish_non_exhaustive()
    }
}

impl<F, G, const D: usize, const E: usize> Kernel for Elementwise<F, G, D, E>
where
    F: Fn([u8; D]) -> CodecResult<[u8; E]> + Send + Sync + 'static,
    G: Fn([u8; E]) -> CodecResult<[u8; D]> + Send + Sync + 'static,
{
    fn encode(&self, src: &[u8], dst: &mut [u8], _: &mut Scratch) -> CodecResult<()> {
        each(src, dst, &self.encode)
    }

    fn decode(&self, src: &[u8], dst: &mut [u8], _: &mut Scratch) -> CodecResult<()> {
        each(src, dst, &self.decode)
    }
}

fn each<const A: usize, const B: usize>(
    src: &[u8],
    dst: &mut [u8],
    one: impl Fn([u8; A]) -> CodecResult<[u8; B]>,
) -> CodecResult<()> {
    let mut pairs = src.as_chunks().0.iter().zip(dst.as_chunks_mut().0);
    pairs.try_for_each(|(from, to)| {
        *to = one(*from)?;
        Ok(())
    })
}
