//! The decoding of numbers as a codec of zarr-array, which runs for each chunk and writes directly into the result. No
//! document names it.

use std::sync::Arc;

use zarr_array::traits::codec::{ArrayArrayCodec, Effect, Repr, with_runs};
use zarr_array::traits::strided::{Destination, Dims, Source};
use zarr_array::traits::{CodecError, CodecErrorKind, CodecResult, Scratch};
use zarr_array::{Array, DataType, FillValue};

use crate::error::{XarrayError, XarrayResult};
use crate::kernel::{Packing, decode_booleans, encode_booleans};

/// The elements that numbers are decoded to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unpacked {
    /// Numbers of the type that the packing names.
    Numbers,
    /// Booleans.
    Booleans,
}

#[derive(Debug)]
struct Unpack {
    packing: Packing,
    to: Unpacked,
    stored: Repr,
}

/// Returns a handle whose elements are decoded.
///
/// # Errors
/// `Invalid` for a packing that cannot decode any element.
pub(crate) fn unpacked(array: &Array, packing: &Packing, to: Unpacked) -> XarrayResult<Array> {
    let data_type = match to {
        Unpacked::Numbers => packing.decoded.into(),
        Unpacked::Booleans => DataType::Bool,
    };
    let stored = Repr::new(array.data_type().clone(), array.fill().clone(), array.shape().len());
    let unpack = Unpack { packing: packing.clone(), to, stored };
    let mut fill = vec![0; data_type.memory_size()];
    unpack.elements(array.fill().bytes(), &mut fill)?;
    Ok(array.recode("xarray", data_type, FillValue::from_bytes(fill), Arc::new(unpack))?)
}

impl Unpack {
    fn elements(&self, src: &[u8], dst: &mut [u8]) -> XarrayResult<()> {
        match self.to {
            Unpacked::Numbers => self.packing.decode(src, dst),
            Unpacked::Booleans => decode_booleans(&self.packing, src, dst),
        }
    }
}

fn value(error: XarrayError) -> CodecError {
    CodecError::new(CodecErrorKind::Value, format!("{error:#}"))
}

impl ArrayArrayCodec for Unpack {
    fn encoded_repr(&self) -> CodecResult<Repr> {
        Ok(self.stored.clone())
    }

    fn encoded_shape(&self, shape: &[u64]) -> CodecResult<Dims> {
        Ok(shape.into())
    }

    fn effect(&self) -> Effect<'_> {
        Effect::Elementwise
    }

    fn decode(&self, src: Source<'_>, dst: Destination<'_>, scratch: &mut Scratch) -> CodecResult<()> {
        with_runs(&src, dst, scratch, |src, dst, _| self.elements(src, dst).map_err(value))
    }

    fn encode(&self, src: Source<'_>, dst: Destination<'_>, scratch: &mut Scratch) -> CodecResult<()> {
        let packing = &self.packing;
        with_runs(&src, dst, scratch, |src, dst, _| {
            let encoded = match self.to {
                Unpacked::Numbers => packing.encode(packing.decoded, src, dst),
                Unpacked::Booleans => encode_booleans(packing.stored, src, dst),
            };
            encoded.map_err(value)
        })
    }
}
