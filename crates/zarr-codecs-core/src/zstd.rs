//! `zstd`: Zstandard frames.
//!
//! Spec: [zstd codec](https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/zstd), [RFC
//! 8878](https://www.rfc-editor.org/rfc/rfc8878).
//! Rules: [zstd](https://github.com/zarr-rs/zarr/blob/main/docs/specification/codecs.md#d.6).
//!
//! | member | value |
//! |---|---|
//! | `level` | −131072 to 22; 0 is the default of the library |
//! | `checksum` | whether frames get a checksum of their content; false by default |
//!
//! An absent `level` is noted, as only writers need it. A level that is a string is refused.
//!
//! Frames of all writers are read: several frames, skippable frames between them, with or without content size and
//! checksum. Checksums are verified. Frames are decoded into the destination, so large windows cost no memory and no
//! size in a header is trusted. Frames that need a dictionary and frames from before Zstandard 0.8 are refused.

use std::io::Cursor;
use std::ops::Range;
use std::sync::Arc;

use ::zstd::zstd_safe::{
    self, CCtx, CParameter, DCtx, InBuffer, OutBuffer, ResetDirective, zstd_sys::ZSTD_ErrorCode,
};
use zarr_traits::{
    CodecError, CodecErrorKind, CodecResult, Entry, Scratch,
    codec::{
        BytesBytesCodec, Codec, CodecEntry, CodecKind, Configuration, Context, EncodedSize, Repr, too_large,
    },
};

/// The registry entry of this codec.
pub const ENTRY: Entry = Entry::Codec(CodecEntry::new("zstd", CodecKind::BytesBytes, build));

/// The largest content of a block. Smaller frames are always decoded whole.
const BLOCK: usize = 128 << 10;

/// The largest window for decoding part of a frame, since that needs a buffer of this size. Levels up to 19 need no
/// more.
const WINDOW: u64 = 8 << 20;

#[derive(Debug)]
struct Zstd {
    level: i32,
    checksum: bool,
}

fn build(configuration: &mut Configuration<'_>, _: &Repr, _: &Context<'_>) -> CodecResult<Codec> {
    let level = configuration.optional_integer("level", -131_072..=22)?;
    if level.is_none() {
        configuration.note("level", "level is missing, read as 0 (the default)");
    }
    let level = level.and_then(|level| i32::try_from(level).ok()).unwrap_or(0);
    let checksum = configuration.optional_bool("checksum")?.unwrap_or(false);
    Ok(Codec::BytesBytes(Arc::new(Zstd { level, checksum })))
}

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

impl BytesBytesCodec for Zstd {
    fn decode_into(&self, src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> CodecResult<usize> {
        if src.is_empty() {
            return Err(CodecError::corrupt("the input is empty, expected at least an empty frame"));
        }
        let context = scratch.slot::<Decoder>().context()?;
        let (mut rest, mut made) = (src, 0);
        while !rest.is_empty() {
            let frame;
            (frame, rest) = split_frame(rest)?;
            if let Frame::Data(bytes) = frame {
                made += context.decompress(&mut dst[made..], bytes).map_err(failed)?;
            }
        }
        Ok(made)
    }

    fn decode_span(
        &self,
        src: &[u8],
        size: usize,
        span: Range<usize>,
        dst: &mut [u8],
        scratch: &mut Scratch,
    ) -> CodecResult<bool> {
        // Only worthwhile if the end can be left out; bytes before the span are always decoded.
        if size <= BLOCK || span.end > size / 4 * 3 || span.start > span.end || !is_one_bare_frame(src, size)?
        {
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

    fn encode(&self, src: &[u8], out: &mut Vec<u8>, scratch: &mut Scratch) -> CodecResult<()> {
        let bound = zstd_safe::compress_bound(src.len());
        if bound < src.len() {
            return Err(CodecError::new(
                CodecErrorKind::LimitExceeded,
                format!("{} bytes are too many", src.len()),
            ));
        }
        crate::reserve(out, bound)?;
        let context = scratch.slot::<Encoder>().context()?;
        context.set_parameter(CParameter::CompressionLevel(self.level)).map_err(failed)?;
        context.set_parameter(CParameter::ChecksumFlag(self.checksum)).map_err(failed)?;
        // A cursor at the end makes it append into the spare capacity.
        let end = out.len() as u64;
        let mut tail = Cursor::new(out);
        tail.set_position(end);
        context.compress2(&mut tail, src).map_err(failed)?;
        Ok(())
    }

    fn encoded_size(&self, decoded: u64) -> EncodedSize {
        match usize::try_from(decoded).map(zstd_safe::compress_bound) {
            Ok(bound) if bound as u64 >= decoded => EncodedSize::AtMost(bound as u64),
            _ => EncodedSize::Unknown,
        }
    }
}

/// One frame at the start of a stored object.
enum Frame<'a> {
    Data(&'a [u8]),
    Skippable,
}

/// Splits `src` into its first frame and the rest. Checks the magic number, because the formats that the library knows
/// depend on how it was built.
fn split_frame(src: &[u8]) -> CodecResult<(Frame<'_>, &[u8])> {
    let cut = || CodecError::corrupt("unexpected end of frame");
    let magic = u32::from_le_bytes(*src.first_chunk().ok_or_else(cut)?);
    if magic & zstd_safe::MAGIC_SKIPPABLE_MASK == zstd_safe::MAGIC_SKIPPABLE_START {
        let len = src[4..].first_chunk().map(|len| u32::from_le_bytes(*len)).ok_or_else(cut)?;
        let len = usize::try_from(len).map_err(|_| cut())?;
        return Ok((Frame::Skippable, src[8..].get(len..).ok_or_else(cut)?));
    }
    if magic != zstd_safe::MAGICNUMBER {
        return Err(CodecError::corrupt(format!("{magic:#010x} is not the magic number of a zstd frame")));
    }
    if let Some(id) = zstd_safe::get_dict_id_from_frame(src) {
        return Err(CodecError::new(CodecErrorKind::Unsupported, format!("the frame needs dictionary {id}")));
    }
    let len = zstd_safe::find_frame_compressed_size(src).map_err(failed)?;
    let (frame, rest) = src.split_at_checked(len).ok_or_else(cut)?;
    Ok((Frame::Data(frame), rest))
}

/// Whether `src` is one frame with a content size of `size`, a small window and no checksum.
fn is_one_bare_frame(src: &[u8], size: usize) -> CodecResult<bool> {
    let (Frame::Data(frame), []) = split_frame(src)? else { return Ok(false) };
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

#[cfg(test)]
#[cfg(feature = "bytes")]
mod tests {
    use zarr_traits::serde_json::{Value, json};

    use super::*;
    use crate::testing::{Noise, after_bytes, chain, decode, encode, noted, refused, sixteen, vectors};

    const VECTORS: &str = include_str!("../testdata/zstd.txt");

    fn level(level: i32) -> Value {
        after_bytes("zstd", json!({ "level": level }))
    }

    #[test]
    fn frames_of_other_writers_are_read() {
        // rule D6.t5
        let chain = chain(&level(0), "int32", 1);
        for (name, encoded) in vectors(VECTORS).filter(|(name, _)| *name != "dictionary-7") {
            assert_eq!(decode(&chain, &[16], &encoded).unwrap(), sixteen(), "{name}"); // rule D6.3
            let e = decode(&chain, &[15], &encoded).unwrap_err(); // rule D.06
            assert_eq!(e.kind(), CodecErrorKind::TooLarge, "{name}: {e}");
            let e = decode(&chain, &[17], &encoded).unwrap_err();
            assert!(e.to_string().ends_with("it decodes to 64 bytes, expected 68"), "{name}: {e}");
            for len in (0..encoded.len()).filter(|len| name != "skippable-last" || *len != encoded.len() - 8)
            {
                let e = decode(&chain, &[16], &encoded[..len]).unwrap_err();
                assert_eq!(e.kind(), CodecErrorKind::Corrupt, "{name}: {e}");
            }
        }
    }

    #[test]
    fn frames_with_a_dictionary_are_refused() {
        // rule D6.4
        let (_, frame) = vectors(VECTORS).find(|(name, _)| *name == "dictionary-7").unwrap();
        let e = decode(&chain(&level(0), "int32", 1), &[16], &frame).unwrap_err();
        assert_eq!(
            (e.kind(), e.to_string().contains("dictionary 7")),
            (CodecErrorKind::Unsupported, true),
            "{e}"
        );
    }

    #[test]
    fn every_level_and_checksum_round_trips() {
        // rule D6.1
        let elements = Noise(5).waves(100_000);
        for level in [-131_072, -5, 0, 1, 3, 19, 22] {
            for checksum in [false, true] {
                let codecs = after_bytes("zstd", json!({"level": level, "checksum": checksum})); // rule D6.t3
                let chain = chain(&codecs, "uint16", 1);
                let mut encoded = encode(&chain, &[50_000], &elements);
                assert_eq!(encoded[4] & 0x04 != 0, checksum);
                assert!(encoded.len() as u64 <= chain.encoded_size(&[50_000]).bound().unwrap());
                assert_eq!(decode(&chain, &[50_000], &encoded).unwrap(), elements);
                if checksum {
                    *encoded.last_mut().unwrap() ^= 1;
                    let e = decode(&chain, &[50_000], &encoded).unwrap_err();
                    assert_eq!(e.kind(), CodecErrorKind::Checksum, "{e}"); // rule D6.3
                }
            }
        }
    }

    #[test]
    fn configurations_are_accepted_noted_or_refused() {
        // rules D6.t1 to D6.t4
        chain(&level(3), "int32", 1); // rule D6.t1
        for configuration in [Value::Null, json!({})] {
            assert_eq!(noted(&after_bytes("zstd", configuration), "int32", 1), ["/1/configuration/level"]); // rule D6.t2
        }
        for bad in
            [json!({"level": "3"}), json!({"level": 23}), json!({"level": -131_073}), json!({"level": 1.5})]
        {
            refused(&after_bytes("zstd", bad), "int32", 1); // rule D6.t4
        }
        refused(&after_bytes("zstd", json!({"level": 1, "checksum": 1})), "int32", 1);
    }

    #[test]
    fn foreign_magic_numbers_are_refused() {
        let chain = chain(&level(3), "uint8", 1);
        // the formats 0.1 to 0.7, which the library decodes if another crate of the program enables them
        for magic in
            [0xfd2f_b51e_u32, 0xfd2f_b522, 0xfd2f_b523, 0xfd2f_b524, 0xfd2f_b525, 0xfd2f_b526, 0xfd2f_b527]
        {
            let old = [&magic.to_le_bytes()[..], &[0; 60]].concat();
            assert!(decode(&chain, &[4], &old).unwrap_err().to_string().contains("magic"));
        }
        assert!(decode(&chain, &[0], &[]).is_err()); // rule D.07
        assert_eq!(decode(&chain, &[0], &encode(&chain, &[0], &[])).unwrap(), [0_u8; 0]);
    }
}
