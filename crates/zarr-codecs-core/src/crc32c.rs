//! `crc32c`: appends a checksum of four bytes to the data.
//!
//! Spec: [crc32c codec](https://zarr-specs.readthedocs.io/en/latest/v3/codecs/crc32c/index.html).
//! Rules: [crc32c](https://github.com/zarr-rs/zarr/blob/v0.1.0/docs/specification/codecs.md#d.5).
//!
//! The codec has no configuration. The checksum is CRC-32C (Castagnoli) in little endian. A mismatch is an error of
//! kind [`CodecErrorKind::Checksum`]. It is also verified when only a part of a chunk is read, which the specification
//! does not demand: all bytes are present, and reading them costs less than wrong data.

use std::ops::Range;
use std::sync::Arc;

use zarr_traits::codec::{BytesBytesCodec, Codec, CodecKind, EncodedSize, Repr, too_large};
use zarr_traits::extension::{CodecEntry, Configuration, Context, Entry};
use zarr_traits::{CodecError, CodecErrorKind, CodecResult, Scratch};

/// The registry entry of this codec.
pub const ENTRY: Entry = Entry::Codec(CodecEntry::new("crc32c", CodecKind::BytesBytes, build));

/// The bytes of the checksum.
const SIZE: usize = 4;

#[derive(Debug)]
struct Crc32c;

fn build(_: &mut Configuration<'_>, _: &Repr, _: &Context<'_>) -> CodecResult<Codec> {
    Ok(Codec::BytesBytes(Arc::new(Crc32c)))
}

/// Returns the data without the checksum, if the checksum is correct.
fn verified(src: &[u8]) -> CodecResult<&[u8]> {
    let Some((data, stored)) = src.split_last_chunk::<SIZE>() else {
        return Err(CodecError::corrupt(format!("{} bytes are too few for a checksum of {SIZE}", src.len())));
    };
    let (stored, computed) = (u32::from_le_bytes(*stored), ::crc32c::crc32c(data));
    if stored == computed {
        return Ok(data);
    }
    let message = format!("the stored checksum is {stored:08x}, that of the data is {computed:08x}");
    Err(CodecError::new(CodecErrorKind::Checksum, message))
}

impl BytesBytesCodec for Crc32c {
    fn decode_into(&self, src: &[u8], dst: &mut [u8], _: &mut Scratch) -> CodecResult<usize> {
        let data = verified(src)?;
        dst.get_mut(..data.len()).ok_or_else(too_large)?.copy_from_slice(data);
        Ok(data.len())
    }

    fn decode_span(
        &self,
        src: &[u8],
        size: usize,
        span: Range<usize>,
        dst: &mut [u8],
        _: &mut Scratch,
    ) -> CodecResult<bool> {
        let data = verified(src)?;
        let (true, Some(wanted)) = (data.len() == size, data.get(span)) else {
            return Err(CodecError::corrupt(format!("it decodes to {} bytes, expected {size}", data.len())));
        };
        dst.get_mut(..wanted.len()).ok_or_else(too_large)?.copy_from_slice(wanted);
        Ok(true)
    }

    fn encode(&self, src: &[u8], out: &mut Vec<u8>, _: &mut Scratch) -> CodecResult<()> {
        crate::reserve(out, src.len().saturating_add(SIZE))?;
        out.extend_from_slice(src);
        out.extend_from_slice(&::crc32c::crc32c(src).to_le_bytes());
        Ok(())
    }

    fn encoded_size(&self, decoded: u64) -> EncodedSize {
        EncodedSize::Exact(decoded.saturating_add(SIZE as u64))
    }
}

#[cfg(test)]
#[cfg(feature = "bytes")]
mod tests {
    use zarr_traits::json::{Value, json};
    use zarr_traits::strided::bytes_of;

    use super::*;
    use crate::testing::{after_bytes, chain, decode, encode, golden, hex, noted};

    #[test]
    fn chunks_are_encoded_to_the_golden_bytes() {
        // rule D5.1
        let elements = bytes_of(&[1_i32, 2, 3, 4]);
        let encoded = "01000000020000000300000004000000ee89f972";
        for configuration in [Value::null(), json!({})] {
            golden(&after_bytes("crc32c", configuration), "int32", &[4], elements, encoded);
        }
        golden(
            &after_bytes("crc32c", Value::null()),
            "uint8",
            &[9],
            b"123456789",
            "313233343536373839839206e3",
        );
        let more = after_bytes("crc32c", json!({"x": 1}));
        assert_eq!(noted(&more, "uint8", 1), ["/1/configuration/x"]); // rule D.08
    }

    #[test]
    fn sizes_are_exact() {
        // rule D5.2
        let chain = chain(&after_bytes("crc32c", Value::null()), "uint8", 1);
        assert_eq!(chain.encoded_size(&[9]), EncodedSize::Exact(13));
        assert_eq!(encode(&chain, &[0], &[]), [0; 4]);
        for len in 0..4 {
            let e = decode(&chain, &[9], &vec![0; len]).unwrap_err();
            assert_eq!(e.kind(), CodecErrorKind::Corrupt);
        }
        let longer = encode(&chain, &[10], &[1; 10]);
        assert_eq!(decode(&chain, &[9], &longer).unwrap_err().kind(), CodecErrorKind::TooLarge);
        assert_eq!(decode(&chain, &[11], &longer).unwrap_err().kind(), CodecErrorKind::Corrupt);
    }

    #[test]
    fn every_flipped_bit_fails_the_checksum() {
        // rule D5.2
        let chain = chain(&after_bytes("crc32c", Value::null()), "int32", 1);
        let encoded = hex("01000000020000000300000004000000ee89f972");
        for bit in 0..encoded.len() * 8 {
            let mut damaged = encoded.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(decode(&chain, &[4], &damaged).unwrap_err().kind(), CodecErrorKind::Checksum);
            // Reading a span fails, too.
            let e = Crc32c.decode_span(&damaged, 16, 4..8, &mut [0; 4], &mut Scratch::new()).unwrap_err();
            assert_eq!(e.kind(), CodecErrorKind::Checksum);
        }
    }

    #[test]
    fn a_span_is_verified_and_copied() {
        // rule D5.3
        let encoded = hex("01000000020000000300000004000000ee89f972");
        let mut dst = [0; 4];
        assert!(Crc32c.decode_span(&encoded, 16, 4..8, &mut dst, &mut Scratch::new()).unwrap());
        assert_eq!(dst, [2, 0, 0, 0]);
        assert!(Crc32c.decode_span(&encoded, 17, 4..8, &mut dst, &mut Scratch::new()).is_err());
        assert!(Crc32c.decode_span(&encoded, 16, 14..18, &mut dst, &mut Scratch::new()).is_err());
    }
}
