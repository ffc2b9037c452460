//! The decoder and encoder of `ruzstd`.

use std::io::Read;
use std::ops::Range;

use ruzstd::decoding::errors::FrameDecoderError;
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use zarr_traits::{CodecError, CodecErrorKind, CodecResult, Scratch, codec::too_large};

use super::{BLOCK, MAGIC, Zstd, cut};

/// The bytes of a header of ours: magic number, descriptor, window, content size.
const HEADER: usize = 4 + 1 + 1 + 8;
/// The bytes of the header of a block.
const BLOCK_HEADER: usize = 3;
const CHECKSUM: usize = 4;
/// The smallest window, as a power of two.
const WINDOW_LOG: u32 = 10;

// RFC 8878, 3.1.1.1.1: the descriptor of a frame
const CONTENT_SIZE_OF_8: u8 = 0b1100_0000;
const SINGLE_SEGMENT: u8 = 0b0010_0000;
const RESERVED: u8 = 0b0000_1000;
const HAS_CHECKSUM: u8 = 0b0000_0100;

/// The decoder of a worker.
#[derive(Default)]
struct Decoder(FrameDecoder);

/// Decodes the first frame of `src` into the start of `dst`. Returns the number of decoded bytes and the rest of `src`.
pub(super) fn decode<'a>(
    src: &'a [u8],
    dst: &mut [u8],
    scratch: &mut Scratch,
) -> CodecResult<(usize, &'a [u8])> {
    let (header, mut rest) = Header::parse(src)?;
    if header.content.is_some_and(|content| content > dst.len() as u64) {
        return Err(too_large());
    }
    // A match cannot reach farther back than the destination, so a larger window would only take memory.
    let log = dst.len().next_power_of_two().ilog2().max(WINDOW_LOG);
    let window = u8::try_from((log - WINDOW_LOG) << 3).map_err(|_| too_large())?;
    let bytes = [&MAGIC.to_le_bytes()[..], &[header.checksum, window]].concat();
    let decoder = &mut scratch.slot::<Decoder>().0;
    decoder.set_max_window_size(1 << log);
    decoder.reset(&bytes[..]).map_err(failed)?;
    let mut made = 0;
    while !decoder.is_finished() {
        decoder.decode_blocks(&mut rest, BlockDecodingStrategy::UptoBlocks(1)).map_err(failed)?;
        made += decoder
            .read(&mut dst[made..])
            .map_err(|e| CodecError::corrupt("a damaged frame").with_source(e))?;
        if decoder.can_collect() > 0 {
            return Err(too_large());
        }
    }
    if decoder
        .get_checksum_from_data()
        .is_some_and(|stored| decoder.get_calculated_checksum() != Some(stored))
    {
        return Err(CodecError::new(CodecErrorKind::Checksum, "the checksum of the frame does not match"));
    }
    if header.content.is_some_and(|content| content != made as u64) {
        return Err(CodecError::corrupt("the frame has less content than its header states"));
    }
    Ok((made, rest))
}

/// Declines: frames are decoded whole.
pub(super) fn decode_span(
    _: &[u8],
    _: usize,
    _: Range<usize>,
    _: &mut [u8],
    _: &mut Scratch,
) -> CodecResult<bool> {
    Ok(false)
}

/// Appends one frame to `out`, with its content size. `out` has room for `bound` more bytes.
pub(super) fn encode(
    codec: &Zstd,
    src: &[u8],
    out: &mut Vec<u8>,
    bound: usize,
    _: &mut Scratch,
) -> CodecResult<()> {
    let start = out.len();
    for level in [CompressionLevel::Fastest, CompressionLevel::Uncompressed] {
        let frame = compress_to_vec(src, level);
        let (&[a, b, c, d, descriptor, window], mut blocks) = frame.split_first_chunk().ok_or_else(cut)?;
        let mut flags = CONTENT_SIZE_OF_8;
        if descriptor & HAS_CHECKSUM != 0 && codec.checksum {
            flags |= HAS_CHECKSUM;
        } else if descriptor & HAS_CHECKSUM != 0 {
            blocks = &blocks[..blocks.len() - CHECKSUM];
        }
        out.truncate(start);
        out.extend_from_slice(&[a, b, c, d, flags, window]);
        out.extend_from_slice(&(src.len() as u64).to_le_bytes());
        out.extend_from_slice(blocks);
        if out.len() - start <= bound {
            break;
        }
    }
    Ok(())
}

/// Returns the size that a frame does not exceed: that of blocks that are not compressed, and an empty one.
pub(super) fn bound(len: usize) -> Option<usize> {
    let blocks = len.div_ceil(BLOCK) + 1;
    len.checked_add(HEADER + CHECKSUM + blocks * BLOCK_HEADER)
}

/// The facts in the header of a frame.
struct Header {
    /// [`HAS_CHECKSUM`] or 0.
    checksum: u8,
    content: Option<u64>,
}

impl Header {
    /// Parses the header of a frame, and returns the bytes after it.
    fn parse(src: &[u8]) -> CodecResult<(Self, &[u8])> {
        let (&[_, _, _, _, descriptor], mut rest) = src.split_first_chunk().ok_or_else(cut)?;
        if descriptor & RESERVED != 0 {
            return Err(CodecError::corrupt("the header of the frame has an unknown flag"));
        }
        let single = descriptor & SINGLE_SEGMENT != 0;
        let mut number = |len: usize| {
            let (bytes, behind) = rest.split_at_checked(len).ok_or_else(cut)?;
            rest = behind;
            Ok::<_, CodecError>(bytes.iter().rev().fold(0, |n, byte| n << 8 | u64::from(*byte)))
        };
        number(usize::from(!single))?;
        let dictionary = number([0, 1, 2, 4][usize::from(descriptor & 3)])?;
        if dictionary != 0 {
            let message = format!("the frame needs dictionary {dictionary}");
            return Err(CodecError::new(CodecErrorKind::Unsupported, message));
        }
        let content = match descriptor >> 6 {
            0 if single => Some(number(1)?),
            0 => None,
            1 => Some(number(2)? + 256),
            2 => Some(number(4)?),
            _ => Some(number(8)?),
        };
        Ok((Self { checksum: descriptor & HAS_CHECKSUM, content }, rest))
    }
}

fn failed(e: FrameDecoderError) -> CodecError {
    CodecError::corrupt("the frame is damaged").with_source(e)
}
