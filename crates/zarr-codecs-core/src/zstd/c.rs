//! The C library.

use std::io::Cursor;
use std::ops::Range;

use ::zstd::zstd_safe::{
    self, CCtx, CParameter, DCtx, InBuffer, OutBuffer, ResetDirective, zstd_sys::ZSTD_ErrorCode,
};
use zarr_traits::{CodecError, CodecErrorKind, CodecResult, Scratch, codec::too_large};

use super::{BLOCK, Zstd, cut};

/// The largest window for decoding part of a frame, since that needs a buffer of this size. Levels up to 19 need no
/// more.
const WINDOW: u64 = 8 << 20;

/// The decoder of a worker.
#[derive(Default)]
struct Decoder(Option<DCtx<'static>>);

/// The encoder of a worker.
#[derive(Default)]
struct Encoder(Option<CCtx<'static>>);

impl Decoder {
    fn context(&mut self) -> CodecResult<&mut DCtx<'static>> {
        if self.0.is_none() {
            self.0 = DCtx::try_create();
        }
        self.0.as_mut().ok_or_else(no_context)
    }
}

impl Encoder {
    fn context(&mut self) -> CodecResult<&mut CCtx<'static>> {
        if self.0.is_none() {
            self.0 = CCtx::try_create();
        }
        self.0.as_mut().ok_or_else(no_context)
    }
}

/// Decodes the first frame of `src` into the start of `dst`. Returns the number of decoded bytes and the rest of `src`.
pub(super) fn decode<'a>(
    src: &'a [u8],
    dst: &mut [u8],
    scratch: &mut Scratch,
) -> CodecResult<(usize, &'a [u8])> {
    let context = scratch.slot::<Decoder>().context()?;
    let (frame, rest) = split_frame(src)?;
    let made = context.decompress(dst, frame).map_err(failed)?;
    Ok((made, rest))
}

/// Decodes part of a frame, up to its end. Returns false if `src` is not one suitable frame.
pub(super) fn decode_span(
    src: &[u8],
    size: usize,
    span: Range<usize>,
    dst: &mut [u8],
    scratch: &mut Scratch,
) -> CodecResult<bool> {
    if !is_one_bare_frame(src, size)? {
        return Ok(false);
    }
    let mut skipped = scratch.take(BLOCK.min(span.start))?;
    let context = scratch.slot::<Decoder>().context()?;
    context.reset(ResetDirective::SessionOnly).map_err(failed)?;
    let mut input = InBuffer::around(src);
    let mut left = span.start;
    while left > 0 {
        let len = left.min(skipped.len());
        stream(context, &mut input, &mut skipped[..len])?;
        left -= len;
    }
    stream(context, &mut input, dst.get_mut(..span.len()).ok_or_else(too_large)?)?;
    scratch.give(skipped);
    Ok(true)
}

/// Appends one frame to `out`, which has room for it.
pub(super) fn encode(
    codec: &Zstd,
    src: &[u8],
    out: &mut Vec<u8>,
    _: usize,
    scratch: &mut Scratch,
) -> CodecResult<()> {
    let context = scratch.slot::<Encoder>().context()?;
    context.set_parameter(CParameter::CompressionLevel(codec.level)).map_err(failed)?;
    context.set_parameter(CParameter::ChecksumFlag(codec.checksum)).map_err(failed)?;
    // A cursor at the end makes it append into the spare capacity.
    let end = out.len() as u64;
    let mut tail = Cursor::new(out);
    tail.set_position(end);
    context.compress2(&mut tail, src).map_err(failed)?;
    Ok(())
}

/// Returns the size that a frame does not exceed, or `None` if the content is too large.
pub(super) fn bound(len: usize) -> Option<usize> {
    Some(zstd_safe::compress_bound(len)).filter(|bound| *bound >= len)
}

/// Splits `src` into its first frame and the rest.
fn split_frame(src: &[u8]) -> CodecResult<(&[u8], &[u8])> {
    if let Some(id) = zstd_safe::get_dict_id_from_frame(src) {
        return Err(CodecError::new(CodecErrorKind::Unsupported, format!("the frame needs dictionary {id}")));
    }
    let len = zstd_safe::find_frame_compressed_size(src).map_err(failed)?;
    src.split_at_checked(len).ok_or_else(cut)
}

/// Whether `src` is one frame with a content size of `size`, a small window and no checksum.
fn is_one_bare_frame(src: &[u8], size: usize) -> CodecResult<bool> {
    let (frame, []) = split_frame(src)? else { return Ok(false) };
    // RFC 8878, 3.1.1.1: the descriptor; then the window, except for a single segment
    let &[_, _, _, _, descriptor, window, ..] = frame else { return Ok(false) };
    let (single_segment, checksum) = (descriptor & 0x20 != 0, descriptor & 0x04 != 0);
    let window = match single_segment {
        true => size as u64,
        false => (1_u64 << (10 + (window >> 3))) / 8 * u64::from(8 + (window & 7)),
    };
    let content = zstd_safe::get_frame_content_size(frame).ok().flatten();
    Ok(!checksum && content == Some(size as u64) && window <= WINDOW)
}

/// Decodes exactly as many bytes as `dst` has room for.
fn stream(context: &mut DCtx<'static>, input: &mut InBuffer<'_>, dst: &mut [u8]) -> CodecResult<()> {
    let mut output = OutBuffer::around(dst);
    while output.pos() < output.capacity() {
        let before = (output.pos(), input.pos());
        let ended = context.decompress_stream(&mut output, input).map_err(failed)? == 0;
        if output.pos() < output.capacity() && (ended || before == (output.pos(), input.pos())) {
            return Err(CodecError::corrupt("the frame has less content than its header states"));
        }
    }
    Ok(())
}

fn failed(code: usize) -> CodecError {
    let is = |known: ZSTD_ErrorCode| code == (known as usize).wrapping_neg();
    let message = zstd_safe::get_error_name(code).to_lowercase();
    if is(ZSTD_ErrorCode::ZSTD_error_dstSize_tooSmall) {
        too_large()
    } else if is(ZSTD_ErrorCode::ZSTD_error_checksum_wrong) {
        CodecError::new(CodecErrorKind::Checksum, message)
    } else if is(ZSTD_ErrorCode::ZSTD_error_memory_allocation) {
        CodecError::new(CodecErrorKind::LimitExceeded, message)
    } else {
        CodecError::corrupt(message)
    }
}

fn no_context() -> CodecError {
    CodecError::new(CodecErrorKind::LimitExceeded, "no memory for a zstd context")
}
