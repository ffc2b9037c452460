//! `example.snappy`: compresses chunks with [Snappy](https://github.com/google/snappy), a fast compressor.

use std::sync::Arc;

use snap::raw::{Decoder, Encoder, decompress_len, max_compress_len};
use zarr_traits::{codec::*, extension::*, *};

/// For a registry: `zarr_array::standard().with(CODECS)`.
pub const CODECS: &[Entry] =
    &[Entry::Codec(CodecEntry::new("example.snappy", CodecKind::BytesBytes, |_, _, _| {
        Ok(Codec::BytesBytes(Arc::new(Snappy)))
    }))];

#[derive(Debug)]
struct Snappy;

impl BytesBytesCodec for Snappy {
    fn decode_into(&self, src: &[u8], dst: &mut [u8], _: &mut Scratch) -> CodecResult<usize> {
        // Check the size that the block claims before decoding: it must fit into `dst`.
        let len = decompress_len(src).map_err(damaged)?;
        let dst = dst.get_mut(..len).ok_or_else(too_large)?;
        Decoder::new().decompress(src, dst).map_err(damaged)
    }

    fn encode(&self, src: &[u8], out: &mut Vec<u8>, _: &mut Scratch) -> CodecResult<()> {
        let start = out.len();
        out.resize(start + max_compress_len(src.len()), 0);
        let large = |e: snap::Error| {
            CodecError::new(CodecErrorKind::LimitExceeded, "too large for Snappy").with_source(e)
        };
        let len = Encoder::new().compress(src, &mut out[start..]).map_err(large)?;
        out.truncate(start + len);
        Ok(())
    }

    fn encoded_size(&self, decoded: u64) -> EncodedSize {
        let most = decoded.checked_add(decoded / 6).and_then(|len| len.checked_add(32));
        most.map_or(EncodedSize::Unknown, EncodedSize::AtMost)
    }
}

fn damaged(e: snap::Error) -> CodecError {
    CodecError::corrupt("the Snappy block is damaged").with_source(e)
}
