//! `numcodecs.packbits`: truth values as bits.
//!
//! It has no configuration. The first byte says how many bits of the last one are padding; then the bits, of each byte the
//! most significant first. (The registered codec `packbits` has them the other way round: checklist D.9a.)
//!
//! In format 3 the data type is `bool`, and what is encoded has one dimension of bytes.

use std::sync::Arc;

use zarr_traits::{
    CodecError, CodecErrorKind, CodecResult, DataType, Destination, Dims, Entry, FillValue, Scratch, Source,
    Swap,
    codec::{
        ArrayArrayCodec, BytesBytesCodec, Codec, CodecEntry, CodecKind, Configuration, Context, EncodedSize,
        Repr, too_large,
    },
};

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
    /// What a packed byte of fill values is.
    fill: u8,
}

fn array_codec(_: &mut Configuration<'_>, repr: &Repr, _: &Context<'_>) -> CodecResult<Codec> {
    if repr.data_type != DataType::Bool {
        let message = format!("it works on bool, what reaches it is {}", repr.data_type);
        return Err(CodecError::configuration(message));
    }
    Ok(Codec::ArrayArray(Arc::new(PackBits { fill: if repr.fill.is_zero() { 0 } else { 0xff } })))
}

/// Bytes that so many truth values are packed into, without the one before them.
fn packed(values: u64) -> u64 {
    values.div_ceil(8)
}

/// Packs `values` into `dst`, which has just the room for it.
fn pack(values: &[u8], dst: &mut [u8]) {
    let Some((padding, bytes)) = dst.split_first_mut() else { return };
    *padding = (8 - values.len().to_le_bytes()[0] % 8) % 8;
    for (byte, values) in bytes.iter_mut().zip(values.chunks(8)) {
        *byte = (0..).zip(values).fold(0, |byte, (i, value)| byte | u8::from(*value != 0) << (7 - i));
    }
}

/// How many truth values are packed into `src`, and the bytes of them.
fn unpacked(src: &[u8]) -> CodecResult<(usize, &[u8])> {
    let (padding, bytes) =
        src.split_first().ok_or_else(|| CodecError::corrupt("there is not even a count of padding"))?;
    let bits = bytes.len().checked_mul(8).and_then(|bits| bits.checked_sub((*padding).into()));
    let bits = bits.filter(|_| *padding < 8).ok_or_else(|| {
        CodecError::corrupt(format!("{} bytes cannot have {padding} bits of padding", bytes.len()))
    })?;
    Ok((bits, bytes))
}

/// Unpacks as many truth values as there is room for.
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
            return Err(CodecError::corrupt(format!("it holds {values} values, expected {}", dst.len())));
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
