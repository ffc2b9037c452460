//! `zstd`: Zstandard frames.
//!
//! Spec: [zstd codec](https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/zstd), [RFC
//! 8878](https://www.rfc-editor.org/rfc/rfc8878).
//! Rules: [zstd](https://github.com/zarr-rs/zarr/blob/v0.1.0/docs/specification/codecs.md#d.6).
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
//!
//! [`ENTRY`] uses the C library if the feature `zstd` is on. `ENTRY_IN_RUST` has the feature `pure-decode` and no C code: decoding
//! is slower, parts of a frame are not decoded by themselves, and levels above 4 are written as 4. Its encoder needs the
//! feature `pure`.

use std::ops::Range;
use std::sync::Arc;

use zarr_traits::codec::{BytesBytesCodec, Codec, CodecKind, EncodedSize};
use zarr_traits::extension::{CodecEntry, Configuration, Entry};
use zarr_traits::{CodecError, CodecErrorKind, CodecResult, Scratch};

#[cfg(feature = "zstd")]
mod c;
#[cfg(feature = "pure-decode")]
mod rust;
// With one of the features, its library is the only one.
#[cfg(not(feature = "pure-decode"))]
use c as rust;
#[cfg(not(feature = "zstd"))]
use rust as c;

/// The registry entry of this codec.
pub const ENTRY: Entry =
    Entry::Codec(CodecEntry::new("zstd", CodecKind::BytesBytes, |configuration, _, _| {
        build(configuration, false)
    }));

/// The registry entry of this codec without C code, whatever other features are on.
#[cfg(feature = "pure-decode")]
pub const ENTRY_IN_RUST: Entry =
    Entry::Codec(CodecEntry::new("zstd", CodecKind::BytesBytes, |configuration, _, _| {
        build(configuration, true)
    }));

/// The magic number of a frame, and the first of those of skippable frames.
const MAGIC: u32 = 0xfd2f_b528;
const SKIPPABLE: u32 = 0x184d_2a50;

/// The largest content of a block.
const BLOCK: usize = 128 << 10;

#[derive(Debug)]
#[cfg_attr(not(any(feature = "pure", feature = "zstd")), expect(dead_code, reason = "without an encoder"))]
struct Zstd {
    level: i32,
    checksum: bool,
    in_rust: bool,
}

fn build(configuration: &mut Configuration<'_>, in_rust: bool) -> CodecResult<Codec> {
    let level = configuration.optional_integer("level", -131_072..=22)?;
    if level.is_none() {
        configuration.note("level", "level is missing, read as 0 (the default)");
    }
    let level = level.and_then(|level| i32::try_from(level).ok()).unwrap_or(0);
    let checksum = configuration.optional_bool("checksum")?.unwrap_or(false);
    Ok(Codec::BytesBytes(Arc::new(Zstd { level, checksum, in_rust })))
}

impl Zstd {
    /// Returns the size that an encoded frame does not exceed.
    fn bound(&self, len: usize) -> Option<usize> {
        if self.in_rust { rust::bound(len) } else { c::bound(len) }
    }
}

impl BytesBytesCodec for Zstd {
    fn decode_into(&self, src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> CodecResult<usize> {
        if src.is_empty() {
            return Err(CodecError::corrupt("the input is empty, expected at least an empty frame"));
        }
        let (mut rest, mut made) = (src, 0);
        while !rest.is_empty() {
            if let Some(behind) = skip(rest)? {
                rest = behind;
            } else {
                let len;
                let dst = &mut dst[made..];
                (len, rest) = if self.in_rust {
                    rust::decode(rest, dst, scratch)?
                } else {
                    c::decode(rest, dst, scratch)?
                };
                made += len;
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
        if size <= BLOCK || span.end > size / 4 * 3 || span.start > span.end || skip(src)?.is_some() {
            return Ok(false);
        }
        if self.in_rust {
            rust::decode_span(src, size, span, dst, scratch)
        } else {
            c::decode_span(src, size, span, dst, scratch)
        }
    }

    fn encode(&self, src: &[u8], out: &mut Vec<u8>, scratch: &mut Scratch) -> CodecResult<()> {
        let bound = self.bound(src.len()).ok_or_else(|| {
            CodecError::new(CodecErrorKind::LimitExceeded, format!("{} bytes are too many", src.len()))
        })?;
        crate::reserve(out, bound)?;
        if self.in_rust {
            rust::encode(self, src, out, bound, scratch)
        } else {
            c::encode(self, src, out, bound, scratch)
        }
    }

    fn encoded_size(&self, decoded: u64) -> EncodedSize {
        let bound = usize::try_from(decoded).ok().and_then(|len| self.bound(len));
        bound.map_or(EncodedSize::Unknown, |bound| EncodedSize::AtMost(bound as u64))
    }
}

/// Returns the bytes after a skippable frame; `None`: `src` begins with a frame. Checks the magic number, because the
/// formats that the library knows depend on how it was built.
fn skip(src: &[u8]) -> CodecResult<Option<&[u8]>> {
    let magic = u32::from_le_bytes(*src.first_chunk().ok_or_else(cut)?);
    if magic & !0xf == SKIPPABLE {
        let len = src[4..].first_chunk().map(|len| u32::from_le_bytes(*len)).ok_or_else(cut)?;
        let len = usize::try_from(len).map_err(|_| cut())?;
        return src[8..].get(len..).map(Some).ok_or_else(cut);
    }
    if magic == MAGIC {
        return Ok(None);
    }
    Err(CodecError::corrupt(format!("{magic:#010x} is not the magic number of a zstd frame")))
}

fn cut() -> CodecError {
    CodecError::corrupt("unexpected end of frame")
}

#[cfg(test)]
#[cfg(feature = "bytes")]
mod tests {
    use zarr_traits::CodecErrorKind;
    use zarr_traits::json::{Value, json};

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
                assert!(encoded[4] & 0xe0 != 0, "some readers need the content size");
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
        for configuration in [Value::null(), json!({})] {
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
            assert!(format!("{:#}", decode(&chain, &[4], &old).unwrap_err()).contains("magic"));
        }
        assert!(decode(&chain, &[0], &[]).is_err()); // rule D.07
        assert_eq!(decode(&chain, &[0], &encode(&chain, &[0], &[])).unwrap(), [0_u8; 0]);
    }
}
