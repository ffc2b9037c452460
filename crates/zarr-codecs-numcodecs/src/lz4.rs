//! `numcodecs.lz4`: the uncompressed size as a little-endian `u32`, then one LZ4 block.
//!
//! | member | value |
//! |---|---|
//! | `acceleration` | an integer, 1 when absent; a hint that our encoder ignores |
//!
//! The size is compared with the destination first, and must be right. `lz4` is read as another name.

use std::sync::Arc;

use lz4_flex::block::{DecompressError, compress_into, decompress_into, get_maximum_output_size};
use zarr_traits::codec::{BytesBytesCodec, Codec, CodecKind, EncodedSize, Repr, too_large};
use zarr_traits::extension::{CodecEntry, Configuration, Context, Entry};
use zarr_traits::{CodecError, CodecErrorKind, CodecResult, Scratch};

use crate::stream::reserve;

/// The row of this codec in a registry.
pub const ENTRY: Entry =
    Entry::Codec(CodecEntry::aliased("numcodecs.lz4", &["lz4"], CodecKind::BytesBytes, build));

/// The number of bytes before the block.
const HEADER: usize = 4;

#[derive(Debug)]
struct Lz4;

fn build(configuration: &mut Configuration<'_>, _: &Repr, _: &Context<'_>) -> CodecResult<Codec> {
    configuration.optional_integer("acceleration", i64::MIN..=i64::MAX)?;
    Ok(Codec::BytesBytes(Arc::new(Lz4)))
}

impl BytesBytesCodec for Lz4 {
    fn decode_into(&self, src: &[u8], dst: &mut [u8], _: &mut Scratch) -> CodecResult<usize> {
        let cut = || CodecError::corrupt(format!("{} bytes are too few for an LZ4 block", src.len()));
        let (size, block) = src.split_first_chunk::<HEADER>().ok_or_else(cut)?;
        let size = usize::try_from(u32::from_le_bytes(*size)).map_err(|_| too_large())?;
        let dst = dst.get_mut(..size).ok_or_else(too_large)?;
        let damaged = |e: DecompressError| CodecError::corrupt("the LZ4 block is damaged").with_source(e);
        let made = decompress_into(block, dst).map_err(damaged)?;
        if made != size {
            return Err(CodecError::corrupt(format!("the LZ4 block has {made} bytes, its header {size}")));
        }
        Ok(made)
    }

    fn encode(&self, src: &[u8], out: &mut Vec<u8>, _: &mut Scratch) -> CodecResult<()> {
        // the limit of the reference implementation
        let size = i32::try_from(src.len()).ok().filter(|size| *size <= 0x7e00_0000);
        let too_many = || {
            CodecError::new(
                CodecErrorKind::LimitExceeded,
                format!("{} bytes are too many for an LZ4 block", src.len()),
            )
        };
        let header = size.ok_or_else(too_many)?.to_le_bytes();
        let most = HEADER + get_maximum_output_size(src.len());
        reserve(out, most)?;
        let start = out.len();
        out.extend_from_slice(&header);
        out.resize(start + most, 0);
        let made = compress_into(src, &mut out[start + HEADER..]).map_err(|_| too_many())?;
        out.truncate(start + HEADER + made);
        Ok(())
    }

    fn encoded_size(&self, decoded: u64) -> EncodedSize {
        match usize::try_from(decoded) {
            Ok(n) if n <= 0x7e00_0000 => EncodedSize::AtMost((HEADER + get_maximum_output_size(n)) as u64),
            _ => EncodedSize::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use zarr_traits::CodecErrorKind;
    use zarr_traits::json;

    use crate::testing::{bytes_codec, decode, decodes, hex, refused, sixteen, survives};

    #[test]
    fn blocks_of_numcodecs_are_decoded() {
        // rules H7 and D10.4
        let codec = bytes_codec("lz4", &json!({"acceleration": 1}));
        let zeros = hex("1000000016000100500000000000");
        decodes(&*codec, &zeros, &[0; 16]);
        survives(&*codec, &zeros, &[0; 16], true);
        let encoded =
            hex("40000000f0310000000001000000020000000300000004000000050000000600000007000000080000000900 \
             00000a0000000b0000000c0000000d0000000e0000000f000000");
        decodes(&*codec, &encoded, &sixteen());
        survives(&*codec, &encoded, &sixteen(), true);
        decodes(&*codec, &hex("0000000000"), &[]);
        refused("numcodecs.lz4", &json!({"acceleration": 1.5}));
    }

    #[test]
    fn the_size_before_the_block_is_not_trusted() {
        // rule L104
        let codec = bytes_codec("numcodecs.lz4", &json!({}));
        let kind = |encoded: &str| decode(&*codec, &hex(encoded), 16).unwrap_err().kind();
        assert_eq!(kind("ffffffff16000100500000000000"), CodecErrorKind::TooLarge);
        assert_eq!(kind("1100000016000100500000000000"), CodecErrorKind::TooLarge);
        assert_eq!(kind("0f00000016000100500000000000"), CodecErrorKind::Corrupt);
        assert_eq!(kind("100000"), CodecErrorKind::Corrupt);
    }
}
