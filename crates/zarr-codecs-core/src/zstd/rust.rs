//! The decoder of `zrip`, and its encoder unless this build only decodes.

use std::ops::Range;

use zarr_traits::{Buffer, CodecError, CodecErrorKind, CodecResult, Scratch, codec::too_large};
use zrip::{DecompressContext, DecompressError};

use super::cut;

#[cfg(feature = "pure")]
mod encoder;

// RFC 8878, 3.1.1: the parts of a frame
const MAGIC: usize = 4;
const BLOCK_HEADER: usize = 3;
const CHECKSUM: usize = 4;
const SINGLE_SEGMENT: u8 = 0b0010_0000;
const HAS_CHECKSUM: u8 = 0b0000_0100;
const RUN: u32 = 1;
/// The largest window that `zrip` allows, 2^27 bytes, as headers have it.
const WINDOW: u8 = (27 - 10) << 3;

/// The decoder of a worker.
#[derive(Default)]
struct Decoder(DecompressContext);

/// Decodes the first frame of `src` into the start of `dst`. Returns the number of decoded bytes and the rest of `src`.
pub(super) fn decode<'a>(
    src: &'a [u8],
    dst: &mut [u8],
    scratch: &mut Scratch,
) -> CodecResult<(usize, &'a [u8])> {
    let (frame, rest) = split_frame(src)?;
    let smaller = smaller_window(frame, scratch)?;
    let decoder = &mut scratch.slot::<Decoder>().0;
    let made = decoder
        .decompress_with_limit(smaller.as_ref().map_or(frame, |copy| &copy[..]), dst.len())
        .map_err(failed)?;
    let len = made.len();
    dst.get_mut(..len).ok_or_else(too_large)?.copy_from_slice(&made);
    smaller.into_iter().for_each(|copy| scratch.give(copy));
    Ok((len, rest))
}

/// Returns a copy of a frame whose window is larger than `zrip` allows, with the largest allowed one. The window does not
/// matter for frames that are decoded at once.
fn smaller_window(frame: &[u8], scratch: &mut Scratch) -> CodecResult<Option<Buffer>> {
    let is_single = frame.get(MAGIC).is_some_and(|descriptor| descriptor & SINGLE_SEGMENT != 0);
    if is_single || frame.get(MAGIC + 1).is_none_or(|window| *window <= WINDOW) {
        return Ok(None);
    }
    let mut copy = scratch.take(frame.len())?;
    copy.copy_from_slice(frame);
    copy[MAGIC + 1] = WINDOW;
    Ok(Some(copy))
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

#[cfg(feature = "pure")]
pub(super) use encoder::encode;

/// Refuses: without the feature `pure` nothing is encoded.
#[cfg(not(feature = "pure"))]
pub(super) fn encode(
    _: &super::Zstd,
    _: &[u8],
    _: &mut Vec<u8>,
    _: usize,
    _: &mut Scratch,
) -> CodecResult<()> {
    Err(CodecError::new(CodecErrorKind::Unsupported, "this build of zarr-codecs-core does not encode zstd"))
}

/// Returns the size that a frame does not exceed.
pub(super) fn bound(len: usize) -> Option<usize> {
    len.checked_mul(2).map(|_| zrip::compress_bound(len))
}

/// Splits `src` after its first frame, by the sizes in the headers of its blocks.
fn split_frame(src: &[u8]) -> CodecResult<(&[u8], &[u8])> {
    let descriptor = *src.get(MAGIC).ok_or_else(cut)?;
    let single = descriptor & SINGLE_SEGMENT != 0;
    let mut end = MAGIC + 1 + usize::from(!single);
    let dictionary = src.get(end..).and_then(|rest| rest.get(..[0, 1, 2, 4][usize::from(descriptor & 3)]));
    let dictionary = dictionary.ok_or_else(cut)?;
    let number = dictionary.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte));
    if number != 0 {
        let message = format!("the frame needs dictionary {number}");
        return Err(CodecError::new(CodecErrorKind::Unsupported, message));
    }
    end += dictionary.len() + [usize::from(single), 2, 4, 8][usize::from(descriptor >> 6)];
    loop {
        let header = src.get(end..).and_then(|rest| rest.first_chunk::<BLOCK_HEADER>()).ok_or_else(cut)?;
        let header = u32::from_le_bytes([header[0], header[1], header[2], 0]);
        let size = if header >> 1 & 3 == RUN { 1 } else { header >> 3 };
        end += BLOCK_HEADER + usize::try_from(size).map_err(|_| cut())?;
        if header & 1 != 0 {
            break;
        }
    }
    if descriptor & HAS_CHECKSUM != 0 {
        end += CHECKSUM;
    }
    src.split_at_checked(end).ok_or_else(cut)
}

fn failed(e: DecompressError) -> CodecError {
    match e {
        DecompressError::OutputTooSmall => too_large(),
        DecompressError::InputExhausted => cut(),
        DecompressError::ChecksumMismatch { .. } => {
            CodecError::new(CodecErrorKind::Checksum, "the checksum of the frame does not match")
        }
        e => CodecError::corrupt("the frame is damaged").with_source(e),
    }
}
