//! `numcodecs.zlib`: one DEFLATE stream with a zlib header ([RFC 1950](https://www.rfc-editor.org/rfc/rfc1950)).
//!
//! | member | value |
//! |---|---|
//! | `level` | 0 (stored) to 9, −1 for the default of zlib; 1 when absent |
//!
//! The checksum is verified. Streams may have any window size, but no preset dictionary. `zlib` is read as another
//! name.

use std::sync::Arc;
use zarr_traits::strided::to_usize;

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};
use zarr_traits::codec::{BytesBytesCodec, Codec, CodecKind, EncodedSize, too_large};
use zarr_traits::extension::{CodecEntry, Configuration, Entry};
use zarr_traits::{CodecError, CodecResult, Scratch};

use crate::stream::{bound, decode_all, encode_within, piece};

/// The row of this codec in a registry.
pub const ENTRY: Entry =
    Entry::Codec(CodecEntry::aliased(NAME, ALIASES, CodecKind::BytesBytes, |configuration, _, _| {
        build(configuration, false)
    }));

/// The row of this codec without C code, whatever other features are on.
#[cfg(feature = "pure-decode")]
pub const ENTRY_IN_RUST: Entry =
    Entry::Codec(CodecEntry::aliased(NAME, ALIASES, CodecKind::BytesBytes, |configuration, _, _| {
        build(configuration, true)
    }));

const NAME: &str = "numcodecs.zlib";
const ALIASES: &[&str] = &["zlib"];

#[derive(Debug)]
struct Zlib {
    level: u32,
    #[cfg_attr(not(feature = "libdeflate"), expect(dead_code, reason = "all is in Rust"))]
    in_rust: bool,
}

fn build(configuration: &mut Configuration<'_>, in_rust: bool) -> CodecResult<Codec> {
    let level = configuration.optional_integer("level", -1..=9)?.unwrap_or(1);
    Ok(Codec::BytesBytes(Arc::new(Zlib { level: u32::try_from(level).unwrap_or(6), in_rust })))
}

/// The decoder of a worker.
#[derive(Default)]
struct Decoder(Option<Decompress>);

impl BytesBytesCodec for Zlib {
    fn decode_into(&self, src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> CodecResult<usize> {
        #[cfg(feature = "libdeflate")]
        if !self.in_rust && zarr_codecs_core::libdeflate::decode_zlib(src, dst, scratch) {
            return Ok(dst.len());
        }
        let state = scratch.slot::<Decoder>().0.get_or_insert_with(|| Decompress::new(true));
        decode_all(src, dst, |src, dst| inflate(state, src, dst))
    }

    fn encode(&self, src: &[u8], out: &mut Vec<u8>, scratch: &mut Scratch) -> CodecResult<()> {
        #[cfg(not(feature = "libdeflate"))]
        let _ = scratch;
        encode_within(src.len(), out, |out| {
            #[cfg(feature = "libdeflate")]
            if let (false, Ok(level @ 1..)) = (self.in_rust, u8::try_from(self.level)) {
                let most = to_usize(bound(src.len() as u64));
                return Ok(zarr_codecs_core::libdeflate::zlib(level, src, out, most, scratch));
            }
            let mut state = Compress::new(Compression::new(self.level), true);
            loop {
                let before = (state.total_in(), out.len());
                let (piece, last) = piece(&src[to_usize(before.0)..]);
                let flush = if last { FlushCompress::Finish } else { FlushCompress::None };
                match state.compress_vec(piece, out, flush) {
                    Ok(Status::StreamEnd) => return Ok(true),
                    Ok(_) if before != (state.total_in(), out.len()) => {}
                    _ => return Ok(false),
                }
            }
        })
    }

    fn encoded_size(&self, decoded: u64) -> EncodedSize {
        EncodedSize::AtMost(bound(decoded))
    }
}

/// Decodes one stream. Returns how many bytes were read and how many were written.
fn inflate(state: &mut Decompress, src: &[u8], dst: &mut [u8]) -> CodecResult<(usize, usize)> {
    state.reset(true);
    loop {
        let before = (to_usize(state.total_in()), to_usize(state.total_out()));
        let status = state
            .decompress(&src[before.0..], &mut dst[before.1..], FlushDecompress::Finish)
            .map_err(|e| CodecError::corrupt("the zlib stream is damaged").with_source(e))?;
        let (used, made) = (to_usize(state.total_in()), to_usize(state.total_out()));
        if matches!(status, Status::StreamEnd) {
            return Ok((used, made));
        }
        if before == (used, made) {
            let full = made == dst.len() && used < src.len();
            let cut = || CodecError::corrupt("unexpected end of zlib stream");
            return Err(if full { too_large() } else { cut() });
        }
    }
}

#[cfg(test)]
mod tests {
    use zarr_traits::CodecErrorKind;
    use zarr_traits::json;

    use crate::testing::{bytes_codec, decode, decodes, encode, hex, refused, sixteen, survives};

    #[test]
    fn streams_of_numcodecs_are_decoded() {
        // rule H7
        for (level, encoded) in [
            (1, "78010dc30912c0101000b075548be2ffbf95cc242222992d561f9baf9fdde1f477b93d5e0ae00079"),
            (9, "78da0dc30912c0101000b075548be2ffbf95cc242222992d561f9baf9fdde1f477b93d5e0ae00079"),
            (
                0,
                "7801014000bfff00000000010000000200000003000000040000000500000006000000070000000800000009 \
                 0000000a0000000b0000000c0000000d0000000e0000000f0000000ae00079",
            ),
            (-1, "789c0dc30912c0101000b075548be2ffbf95cc242222992d561f9baf9fdde1f477b93d5e0ae00079"),
        ] {
            let codec = bytes_codec("zlib", &json!({ "level": level })); // rule D10.4
            decodes(&*codec, &hex(encoded), &sixteen());
            survives(&*codec, &hex(encoded), &sixteen(), false);
        }
        let codec = bytes_codec("numcodecs.zlib", &json!({}));
        decodes(&*codec, &hex("7801636080000000080001"), &[0; 8]);
        decodes(&*codec, &encode(&*codec, &[]), &[]);
        for bad in [json!({"level": 10}), json!({"level": -2}), json!({"level": "1"})] {
            refused("numcodecs.zlib", &bad);
        }
    }

    #[test]
    fn streams_in_a_row_are_one_and_padding_is_ignored() {
        let codec = bytes_codec("numcodecs.zlib", &json!({}));
        let (one, two) = (encode(&*codec, b"abc"), encode(&*codec, b"de"));
        decodes(&*codec, &[&one[..], &two, &[0; 3]].concat(), b"abcde");
        decodes(&*codec, &[&one[..], &one].concat(), b"abcabc");
        let twice = decode(&*codec, &[&one[..], &one].concat(), 3);
        assert_eq!(twice.unwrap_err().kind(), CodecErrorKind::TooLarge);
        assert_eq!(
            decode(&*codec, &[&one[..], b"x"].concat(), 9).unwrap_err().kind(),
            CodecErrorKind::Corrupt
        );
        assert_eq!(decode(&*codec, &[], 0).unwrap_err().kind(), CodecErrorKind::Corrupt); // rule D.07
    }

    #[test]
    fn a_bomb_stops_where_the_destination_ends() {
        let codec = bytes_codec("numcodecs.zlib", &json!({}));
        let bomb = encode(&*codec, &[0; 1 << 20]);
        assert_eq!(decode(&*codec, &bomb, 100).unwrap_err().kind(), CodecErrorKind::TooLarge); // rule L101
    }
}
