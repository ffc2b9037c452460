//! `numcodecs.base64`: text of the standard alphabet. It has no configuration.
//!
//! Padding is required. White space between digits is ignored; other characters, which numcodecs ignores, are an error.

use std::sync::Arc;

use zarr_traits::codec::{BytesBytesCodec, Codec, CodecKind, EncodedSize, Repr};
use zarr_traits::extension::{CodecEntry, Configuration, Context, Entry};
use zarr_traits::{CodecResult, Scratch};

use crate::{base64_text, stream::reserve};

/// The row of this codec in a registry.
pub const ENTRY: Entry = Entry::Codec(CodecEntry::new("numcodecs.base64", CodecKind::BytesBytes, build));

#[derive(Debug)]
struct Base64;

fn build(_: &mut Configuration<'_>, _: &Repr, _: &Context<'_>) -> CodecResult<Codec> {
    Ok(Codec::BytesBytes(Arc::new(Base64)))
}

impl BytesBytesCodec for Base64 {
    fn decode_into(&self, src: &[u8], dst: &mut [u8], _: &mut Scratch) -> CodecResult<usize> {
        base64_text::decode(src, dst)
    }

    fn encode(&self, src: &[u8], out: &mut Vec<u8>, _: &mut Scratch) -> CodecResult<()> {
        reserve(out, src.len().div_ceil(3).saturating_mul(4))?;
        base64_text::encode(src, out);
        Ok(())
    }

    fn encoded_size(&self, decoded: u64) -> EncodedSize {
        // other writers may break lines, so the encoded size can be larger
        decoded.div_ceil(3).checked_mul(4).map_or(EncodedSize::Unknown, EncodedSize::AtMost)
    }
}

#[cfg(test)]
mod tests {
    use zarr_traits::CodecErrorKind;
    use zarr_traits::json;

    use crate::testing::{bytes_codec, decode, decodes, encode, survives};

    #[test]
    fn bytes_of_numcodecs_are_reproduced() {
        // rule H7
        let codec = bytes_codec("numcodecs.base64", &json!({}));
        for (decoded, encoded) in
            [(&[1, 2, 3, 4][..], &b"AQIDBA=="[..]), (&[1, 2, 3], b"AQID"), (&[251, 255], b"+/8="), (&[], b"")]
        {
            assert_eq!(encode(&*codec, decoded), encoded);
            decodes(&*codec, encoded, decoded);
            survives(&*codec, encoded, decoded, true);
        }
        decodes(&*codec, b"AQ\r\nID\n", &[1, 2, 3]);
        for bad in [&b"A"[..], b"AQ", b"AQ=", b"AQI", b"AQ=D", b"AQID=", b"AQ-_", b"===="] {
            assert_eq!(decode(&*codec, bad, 9).unwrap_err().kind(), CodecErrorKind::Corrupt);
        }
    }
}
