//! `numcodecs.bz2`: bzip2 streams.
//!
//! | member | value |
//! |---|---|
//! | `level` | 1 to 9: the block size in 100 000 bytes; 1 when absent |
//!
//! Several streams in a row are decoded as one. The checksums of all blocks are verified.

use std::sync::Arc;
use zarr_traits::strided::to_usize;

use bzip2::{Action, Compress, Compression, Decompress, Status};
use zarr_traits::codec::{BytesBytesCodec, Codec, CodecKind, EncodedSize, Repr, too_large};
use zarr_traits::extension::{CodecEntry, Configuration, Context, Entry};
use zarr_traits::{CodecError, CodecErrorKind, CodecResult, Scratch};

use crate::stream::{bound, decode_all, encode_within, piece};

/// The row of this codec in a registry.
pub const ENTRY: Entry = Entry::Codec(CodecEntry::new("numcodecs.bz2", CodecKind::BytesBytes, build));

#[derive(Debug)]
struct Bz2 {
    level: u32,
}

fn build(configuration: &mut Configuration<'_>, _: &Repr, _: &Context<'_>) -> CodecResult<Codec> {
    let level = configuration.optional_integer("level", 1..=9)?.unwrap_or(1);
    Ok(Codec::BytesBytes(Arc::new(Bz2 { level: u32::try_from(level).unwrap_or(1) })))
}

impl BytesBytesCodec for Bz2 {
    fn decode_into(&self, src: &[u8], dst: &mut [u8], _: &mut Scratch) -> CodecResult<usize> {
        decode_all(src, dst, decode_stream)
    }

    fn encode(&self, src: &[u8], out: &mut Vec<u8>, _: &mut Scratch) -> CodecResult<()> {
        encode_within(src.len(), out, |out| {
            let mut state = Compress::new(Compression::new(self.level), 0);
            loop {
                let before = (state.total_in(), out.len());
                let (piece, last) = piece(&src[to_usize(before.0)..]);
                match state.compress_vec(piece, out, if last { Action::Finish } else { Action::Run }) {
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
fn decode_stream(src: &[u8], dst: &mut [u8]) -> CodecResult<(usize, usize)> {
    let mut state = Decompress::new(false);
    loop {
        let before = (to_usize(state.total_in()), to_usize(state.total_out()));
        let status = state
            .decompress(&src[before.0..], &mut dst[before.1..])
            .map_err(|e| CodecError::corrupt("the bzip2 stream is damaged").with_source(e))?;
        let (used, made) = (to_usize(state.total_in()), to_usize(state.total_out()));
        match status {
            Status::StreamEnd => return Ok((used, made)),
            Status::MemNeeded => {
                return Err(CodecError::new(CodecErrorKind::LimitExceeded, "no memory for a bzip2 block"));
            }
            _ if before == (used, made) => {
                let full = made == dst.len() && used < src.len();
                let cut = || CodecError::corrupt("unexpected end of bzip2 stream");
                return Err(if full { too_large() } else { cut() });
            }
            _ => {}
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
            (
                1,
                "425a6831314159265359ffa2b9da000001c0007fffa000219432308c8530004d2f046748bbe33c4f7d574412 \
                 3e2ee48a70a121ff4573b4",
            ),
            (
                9,
                "425a6839314159265359ffa2b9da000001c0007fffa000219432308c8530004d2f046748bbe33c4f7d574412 \
                 3e2ee48a70a121ff4573b4",
            ),
        ] {
            let codec = bytes_codec("numcodecs.bz2", &json!({ "level": level }));
            decodes(&*codec, &hex(encoded), &sixteen());
            assert_eq!(encode(&*codec, &sixteen()), hex(encoded), "bzip2 has one encoded form per level");
            survives(&*codec, &hex(encoded), &sixteen(), false);
        }
        let codec = bytes_codec("numcodecs.bz2", &json!({}));
        decodes(&*codec, &encode(&*codec, &[]), &[]);
        refused("numcodecs.bz2", &json!({"level": 0}));
    }

    #[test]
    fn too_many_empty_streams_are_an_error() {
        let codec = bytes_codec("numcodecs.bz2", &json!({}));
        let (empty, one) = (encode(&*codec, b""), encode(&*codec, b"abc"));
        decodes(&*codec, &[&empty.repeat(1000)[..], &one].concat(), b"abc");
        let e = decode(&*codec, &[&empty.repeat(1001)[..], &one].concat(), 3).unwrap_err();
        assert_eq!(e.kind(), CodecErrorKind::Corrupt, "{e:#}");
        assert!(format!("{e:#}").contains("more than 1000 streams are empty"), "{e:#}");
    }

    #[test]
    fn streams_in_a_row_are_one_and_bombs_stop() {
        let codec = bytes_codec("numcodecs.bz2", &json!({}));
        let (one, two) = (encode(&*codec, b"abc"), encode(&*codec, b"de"));
        decodes(&*codec, &[&one[..], &two].concat(), b"abcde");
        assert_eq!(
            decode(&*codec, &[&one[..], b"x"].concat(), 9).unwrap_err().kind(),
            CodecErrorKind::Corrupt
        );
        let bomb = encode(&*codec, &[0; 1 << 20]);
        assert_eq!(decode(&*codec, &bomb, 100).unwrap_err().kind(), CodecErrorKind::TooLarge); // rule L101
        let large: Vec<u8> = (0..300_000_u32).flat_map(|i| i.wrapping_mul(i).to_le_bytes()).collect();
        decodes(&*codec, &encode(&*codec, &large), &large);
    }
}
