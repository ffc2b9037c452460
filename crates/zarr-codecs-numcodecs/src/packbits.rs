//! `numcodecs.packbits`: booleans as bits.
//!
//! It has no configuration. The first byte is the number of padding bits in the last byte. Then follow the bits, the
//! most significant bit of each byte first. (The registered codec `packbits` has the opposite order.)
//!
//! In format 3 the data type is `bool`, and the encoded array has one dimension of bytes.

use std::sync::Arc;

use zarr_traits::codec::{
    ArrayArrayCodec, BytesBytesCodec, Codec, CodecKind, Effect, EncodedSize, Repr, too_large,
};
use zarr_traits::extension::{CodecEntry, Configuration, Context, Entry};
use zarr_traits::strided::{Destination, Dims, Source, Swap};
use zarr_traits::{CodecError, CodecErrorKind, CodecResult, DataType, FillValue, Scratch};

use crate::stream::reserve;

/// The row of this codec in a registry, for format 3.
pub const ENTRY: Entry =
    Entry::Codec(CodecEntry::new("numcodecs.packbits", CodecKind::ArrayArray, array_codec));

/// The row of this codec for bytes of format 2.
pub const BYTES_ENTRY: Entry =
    Entry::Codec(CodecEntry::new("numcodecs:packbits", CodecKind::BytesBytes, |_, _, _| {
        Ok(Codec::BytesBytes(Arc::new(PackBits { fill: 0 })))
    }));

#[derive(Debug)]
struct PackBits {
    /// A packed byte of fill values.
    fill: u8,
}

fn array_codec(_: &mut Configuration<'_>, repr: &Repr, _: &Context<'_>) -> CodecResult<Codec> {
    if repr.data_type != DataType::Bool {
        let message = format!("expected data type bool, found {}", repr.data_type);
        return Err(CodecError::configuration(message));
    }
    Ok(Codec::ArrayArray(Arc::new(PackBits { fill: if repr.fill.is_zero() { 0 } else { 0xff } })))
}

/// Returns the number of bytes for `values` booleans, without the leading byte.
fn packed(values: u64) -> u64 {
    values.div_ceil(8)
}

/// Packs `values` into `dst`, which has exactly the right length.
fn pack(values: &[u8], dst: &mut [u8]) {
    let Some((padding, bytes)) = dst.split_first_mut() else { return };
    *padding = (8 - values.len().to_le_bytes()[0] % 8) % 8;
    for (byte, values) in bytes.iter_mut().zip(values.chunks(8)) {
        *byte = (0..).zip(values).fold(0, |byte, (i, value)| byte | u8::from(*value != 0) << (7 - i));
    }
}

/// Returns the number of booleans that are packed into `src`, and their bytes.
fn unpacked(src: &[u8]) -> CodecResult<(usize, &[u8])> {
    let (padding, bytes) = src
        .split_first()
        .ok_or_else(|| CodecError::corrupt("the byte with the number of padding bits is missing"))?;
    let bits = bytes.len().checked_mul(8).and_then(|bits| bits.checked_sub((*padding).into()));
    let bits = bits.filter(|_| *padding < 8).ok_or_else(|| {
        CodecError::corrupt(format!("{} bytes cannot have {padding} bits of padding", bytes.len()))
    })?;
    // Writers fill the last byte with zeros. Other bits are damage, or a chunk of more booleans.
    if let Some(last) = bytes.last().filter(|last| u32::from(*padding) > last.trailing_zeros()) {
        let message = format!("the {padding} padding bits of the last byte {last:#04x} are not zeros");
        return Err(CodecError::corrupt(message));
    }
    Ok((bits, bytes))
}

/// Unpacks as many booleans as fit into `dst`.
fn unpack(bytes: &[u8], dst: &mut [u8]) {
    for (byte, values) in bytes.iter().zip(dst.chunks_mut(8)) {
        (0..).zip(values).for_each(|(i, value)| *value = byte >> (7 - i) & 1);
    }
}

impl BytesBytesCodec for PackBits {
    fn decode_into(&self, src: &[u8], dst: &mut [u8], _: &mut Scratch) -> CodecResult<usize> {
        let (values, bytes) = unpacked(src)?;
        unpack(bytes, dst.get_mut(..values).ok_or_else(too_large)?);
        Ok(values)
    }

    fn encode(&self, src: &[u8], out: &mut Vec<u8>, _: &mut Scratch) -> CodecResult<()> {
        let len = 1 + src.len().div_ceil(8);
        reserve(out, len)?;
        let start = out.len();
        out.resize(start + len, 0);
        pack(src, &mut out[start..]);
        Ok(())
    }

    fn encoded_size(&self, decoded: u64) -> EncodedSize {
        EncodedSize::Exact(1 + packed(decoded))
    }
}

impl ArrayArrayCodec for PackBits {
    fn effect(&self) -> Effect<'_> {
        Effect::Whole
    }

    fn encoded_repr(&self) -> CodecResult<Repr> {
        Ok(Repr::new(DataType::UInt8, FillValue::of(self.fill), 1))
    }

    fn encoded_shape(&self, shape: &[u64]) -> CodecResult<Dims> {
        let values = Dims::from(shape).product();
        let values = values.ok_or_else(|| {
            CodecError::new(CodecErrorKind::LimitExceeded, format!("shape {shape:?} exceeds memory"))
        })?;
        Ok([1 + packed(values)].into())
    }

    fn decode(&self, src: Source<'_>, mut dst: Destination<'_>, scratch: &mut Scratch) -> CodecResult<()> {
        let mut encoded = scratch.take_vec();
        src.append_to(&mut encoded, Swap::NONE)?;
        let (values, bytes) = unpacked(&encoded)?;
        if values as u64 != dst.len() {
            return Err(CodecError::corrupt(format!("decoded {values} values, expected {}", dst.len())));
        }
        let mut decoded = scratch.take(values)?;
        unpack(bytes, &mut decoded);
        let shape = Dims::from(dst.shape());
        dst.put(Source::dense(&decoded, &shape, 1)?, Swap::NONE)?;
        scratch.give(decoded);
        scratch.give_vec(encoded);
        Ok(())
    }

    fn encode(&self, src: Source<'_>, mut dst: Destination<'_>, scratch: &mut Scratch) -> CodecResult<()> {
        let mut values = scratch.take_vec();
        src.append_to(&mut values, Swap::NONE)?;
        let mut encoded = scratch.take(1 + values.len().div_ceil(8))?;
        pack(&values, &mut encoded);
        dst.put(Source::dense(&encoded, &[encoded.len() as u64], 1)?, Swap::NONE)?;
        scratch.give(encoded);
        scratch.give_vec(values);
        Ok(())
    }
}
