//! `conditional`: bytes → bytes codecs that are applied to some chunks only; each chunk records which.
//!
//! Spec: [conditional codec](https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/conditional).
//! Rules: [conditional](https://github.com/zarr-rs/zarr/blob/v0.1.0/docs/specification/extensions.md#d.9f).
//!
//! | member | value |
//! |---|---|
//! | `codecs` | bytes → bytes codecs |
//! | `header_bits` | the bits of the header: a multiple of 8, at least one per codec; by default the fewest |
//!
//! A stored chunk is a header and data. Bit `i` of the header, from the lowest bit of the first byte, states that codec
//! `i` was applied. Bits without a codec must be 0.
//!
//! **Writing.** Each codec is tried in order on the current data, and kept only if the result is smaller. So a chunk
//! never grows by more than the header. A codec that does not shrink data by itself, such as a checksum or a shuffle,
//! is never applied; put it outside of `conditional`.
//!
//! An unknown codec that the document allows to skip (`must_understand`) is never applied when writing, and is skipped
//! when reading.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use zarr_engine::OptionalCodecs;
use zarr_traits::codec::{BytesBytesCodec, Codec, CodecKind, EncodedSize, Repr, too_large};
use zarr_traits::extension::{CodecEntry, Configuration, Context, Entry};
use zarr_traits::{CodecError, CodecErrorKind, CodecResult, Scratch};

/// The registry entry of this codec.
pub const ENTRY: Entry = Entry::Codec(CodecEntry::new("conditional", CodecKind::BytesBytes, build));

#[derive(Debug)]
struct Conditional {
    steps: OptionalCodecs,
    /// The bytes of the header.
    header: usize,
}

fn build(configuration: &mut Configuration<'_>, repr: &Repr, context: &Context<'_>) -> CodecResult<Codec> {
    let steps = OptionalCodecs::of_member(configuration, "codecs", repr, context)?;
    let least = steps.count().next_multiple_of(8);
    let bits = configuration.optional_integer("header_bits", 0..=i64::MAX)?;
    let bits = bits.map_or(Ok(least), usize::try_from).unwrap_or(usize::MAX);
    let wrong = |kind, why: &str| {
        let message = format!("header_bits is {bits}, {why}");
        Err(CodecError::new(kind, message).at("/configuration/header_bits"))
    };
    if !bits.is_multiple_of(8) {
        return wrong(CodecErrorKind::Configuration, "it must be a multiple of 8");
    }
    if bits < steps.count() {
        return wrong(CodecErrorKind::Configuration, "it must be at least one for each codec");
    }
    let header = bits / 8;
    if header as u64 > context.limits.encoded_bytes {
        return wrong(CodecErrorKind::LimitExceeded, "which exceeds the limit for a chunk");
    }
    Ok(Codec::BytesBytes(Arc::new(Conditional { steps, header })))
}

/// Whether bit `number` of a header is set.
fn is_set(header: &[u8], number: usize) -> bool {
    header.get(number / 8).is_some_and(|byte| byte >> (number % 8) & 1 == 1)
}

impl Conditional {
    /// Splits `src` into a valid header and the data.
    fn split<'a>(&self, src: &'a [u8]) -> CodecResult<(&'a [u8], &'a [u8])> {
        let Some((header, data)) = src.split_at_checked(self.header) else {
            let message = format!("{} bytes are too few for a header of {}", src.len(), self.header);
            return Err(CodecError::corrupt(message));
        };
        let used = self.steps.count();
        let spare = (0..).zip(header).skip(used / 8).find_map(|(at, byte)| {
            let mask = if at == used / 8 { u8::MAX << (used % 8) } else { u8::MAX };
            let first = (byte & mask).trailing_zeros();
            (first < 8).then(|| at * 8 + first as usize)
        });
        match spare {
            None => Ok((header, data)),
            Some(bit) => {
                Err(CodecError::corrupt(format!("bit {bit} of the header is set, there are {used} codecs")))
            }
        }
    }
}

impl BytesBytesCodec for Conditional {
    fn decode_into(&self, src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> CodecResult<usize> {
        let (header, data) = self.split(src)?;
        self.steps.decode_into(|number| is_set(header, number), data, dst, scratch)
    }

    fn decode_span(
        &self,
        src: &[u8],
        size: usize,
        span: Range<usize>,
        dst: &mut [u8],
        _: &mut Scratch,
    ) -> CodecResult<bool> {
        let (header, data) = self.split(src)?;
        if header.iter().any(|byte| *byte != 0) {
            return Ok(false);
        }
        let (true, Some(wanted)) = (data.len() == size, data.get(span)) else {
            return Err(CodecError::corrupt(format!("it decodes to {} bytes, expected {size}", data.len())));
        };
        dst.get_mut(..wanted.len()).ok_or_else(too_large)?.copy_from_slice(wanted);
        Ok(true)
    }

    fn encode(&self, src: &[u8], out: &mut Vec<u8>, scratch: &mut Scratch) -> CodecResult<()> {
        let start = out.len();
        crate::reserve(out, self.header)?;
        out.resize(start + self.header, 0);
        let mut bytes = Cow::Borrowed(src);
        for number in 0..self.steps.count() {
            let mut tried = scratch.take_vec();
            let is_known = self.steps.encode(number, &bytes, &mut tried, scratch)?;
            if !is_known || tried.len() >= bytes.len() {
                scratch.give_vec(tried);
                continue;
            }
            out[start + number / 8] |= 1 << (number % 8);
            if let Cow::Owned(used) = std::mem::replace(&mut bytes, Cow::Owned(tried)) {
                scratch.give_vec(used);
            }
        }
        crate::reserve(out, bytes.len())?;
        out.extend_from_slice(&bytes);
        if let Cow::Owned(used) = bytes {
            scratch.give_vec(used);
        }
        Ok(())
    }

    fn encoded_size(&self, decoded: u64) -> EncodedSize {
        EncodedSize::AtMost(decoded.saturating_add(self.header as u64))
    }
}

#[cfg(test)]
#[cfg(all(feature = "bytes", feature = "crc32c", feature = "gzip", feature = "zstd"))]
mod tests {
    use zarr_traits::extension::NoteKind;
    use zarr_traits::extension::Spec;
    use zarr_traits::json::{Value, json};
    use zarr_traits::{DataType, Limits};

    use super::*;
    use crate::testing::{Noise, after_bytes, bytes_codec, chain, decode, encode, noted, open, refused};

    fn zstd() -> Value {
        json!({"name": "zstd", "configuration": {"level": 3}})
    }

    fn gzip() -> Value {
        json!({"name": "gzip", "configuration": {"level": 5}})
    }

    fn conditional(codecs: &Value, header_bits: &Value) -> Value {
        let configuration = match header_bits.is_null() {
            true => json!({"codecs": codecs}),
            false => json!({"codecs": codecs, "header_bits": header_bits}),
        };
        after_bytes("conditional", configuration)
    }

    /// Returns `src` encoded with a codec.
    fn applied(codec: &Value, src: &[u8]) -> Vec<u8> {
        let (spec, mut out) = (Spec::try_from(codec).unwrap(), Vec::new());
        bytes_codec(&spec.name, &spec.configuration.into())
            .encode(src, &mut out, &mut Scratch::new())
            .unwrap();
        out
    }

    #[test]
    fn the_header_states_which_codecs_were_applied() {
        // rule D.9f
        let crc32c = json!({"name": "crc32c"});
        let codecs = json!([zstd(), gzip(), crc32c]);
        let chain = chain(&conditional(&codecs, &Value::null()), "uint8", 1);
        let elements = vec![7; 1000];
        let of = |steps: &[&Value]| steps.iter().fold(elements.clone(), |bytes, step| applied(step, &bytes));
        for (header, data) in [
            (0b000, of(&[])),
            (0b001, of(&[&zstd()])),
            (0b010, of(&[&gzip()])),
            (0b100, of(&[&crc32c])),
            (0b101, of(&[&zstd(), &crc32c])),
            (0b111, of(&[&zstd(), &gzip(), &crc32c])),
        ] {
            let stored = [&[header][..], &data].concat();
            assert_eq!(decode(&chain, &[1000], &stored).unwrap(), elements, "{header:03b}");
            let other = [&[header ^ 0b001][..], &data].concat();
            assert!(decode(&chain, &[1000], &other).is_err(), "{header:03b}");
        }
        assert_eq!(decode(&chain, &[1000], &[]).unwrap_err().kind(), CodecErrorKind::Corrupt);
        assert_eq!(decode(&chain, &[1000], &[0]).unwrap_err().kind(), CodecErrorKind::Corrupt);
        assert_eq!(decode(&chain, &[0], &[0]).unwrap(), [0; 0]);
    }

    #[test]
    fn the_header_has_the_configured_size() {
        // rule D.9f
        // n codecs, header_bits, bytes of the header
        for (n, bits, len) in [
            (0, Value::null(), 0),
            (0, json!(8), 1),
            (1, Value::null(), 1),
            (8, Value::null(), 1),
            (9, Value::null(), 2),
            (9, json!(16), 2),
            (2, json!(32), 4),
        ] {
            let codecs = json!(vec![json!("crc32c"); n]);
            let chain = chain(&conditional(&codecs, &bits), "uint8", 1);
            let stored = encode(&chain, &[3], &[1, 2, 3]);
            assert_eq!(stored, [&vec![0; len][..], &[1, 2, 3]].concat(), "{n} {bits}");
            assert_eq!(chain.encoded_size(&[3]), EncodedSize::AtMost(3 + len as u64));
            // spare bits are 0, also at the other end
            for bit in 0..len * 8 {
                let mut stored = stored.clone();
                stored[bit / 8] |= 1 << (bit % 8);
                let said = format!("{:#}", decode(&chain, &[3], &stored).unwrap_err());
                let spare = format!("bit {bit} of the header is set, there are {n} codecs");
                assert_eq!(said.contains(&spare), bit >= n, "{said}");
            }
        }
        let ninth = json!(vec![gzip(); 9]);
        let chain = chain(&conditional(&ninth, &Value::null()), "uint8", 1);
        let stored = [&[0, 1][..], &applied(&gzip(), &[5; 9])].concat();
        assert_eq!(decode(&chain, &[9], &stored).unwrap(), [5; 9], "bit 8 is the lowest of the second byte");
    }

    #[test]
    fn invalid_configurations_are_refused() {
        // rule D.9f
        for (codecs, bits, pointer) in [
            (json!([zstd()]), json!(12), "header_bits"),
            (json!([zstd()]), json!(0), "header_bits"),
            (json!([zstd()]), json!(-8), "header_bits"),
            (json!([zstd()]), json!("8"), "header_bits"),
            (json!(vec![gzip(); 9]), json!(8), "header_bits"),
            (json!({}), Value::null(), "codecs"),
            (json!([zstd(), "bytes"]), Value::null(), "codecs/1"),
            (
                json!([{"name": "gzip", "configuration": {"level": 99}}]),
                Value::null(),
                "codecs/0/configuration/level",
            ),
        ] {
            let e = refused(&conditional(&codecs, &bits), "uint8", 1);
            assert_eq!(e.pointer(), format!("/1/configuration/{pointer}"), "{e}");
        }
        assert_eq!(
            refused(&after_bytes("conditional", Value::null()), "uint8", 1).pointer(),
            "/1/configuration/codecs"
        );
        let limited = |codecs: Value| open(&codecs, DataType::UInt8, 1).map(drop).unwrap_err().kind();
        let limit = CodecErrorKind::LimitExceeded;
        assert_eq!(limited(conditional(&json!([zstd()]), &json!(1_u64 << 62))), limit);
        assert_eq!(limited(conditional(&json!(vec![zstd(); 1000]), &Value::null())), limit);
        let mut deep = conditional(&json!([]), &Value::null());
        for _ in 0..Limits::default().chain_depth {
            deep = conditional(&json!([deep.element(1)]), &Value::null());
        }
        assert_eq!(limited(deep), limit); // rule L103
    }

    #[test]
    fn a_codec_that_may_be_skipped_is_never_applied() {
        // rule K.3
        let lenient = json!({"name": "example.unknown", "must_understand": false});
        let codecs = conditional(&json!([lenient, zstd()]), &Value::null());
        let (chain, notes) = open(&codecs, DataType::UInt8, 1).unwrap();
        let noted: Vec<_> = notes.iter().map(|note| (note.kind, &*note.pointer)).collect();
        assert_eq!(noted, [(NoteKind::SkippedCodec, "/1/configuration/codecs/0")]);
        let stored = encode(&chain, &[1000], &[7; 1000]);
        assert_eq!(stored[0], 0b10);
        assert_eq!(decode(&chain, &[1000], &stored).unwrap(), [7; 1000]);
        assert_eq!(decode(&chain, &[3], &[1, 4, 5, 6]).unwrap(), [4, 5, 6], "skipped");
        let strict = conditional(&json!([{"name": "example.unknown"}]), &Value::null());
        let e = open(&strict, DataType::UInt8, 1).unwrap_err();
        assert_eq!((e.kind(), e.pointer()), (CodecErrorKind::UnknownExtension, "/1/configuration/codecs/0"));
    }

    #[test]
    fn deviations_of_inner_codecs_are_noted_with_a_pointer() {
        let codecs = conditional(&json!([{"name": "gzip", "configuration": {"level": 1.0}}]), &Value::null());
        assert_eq!(noted(&codecs, "uint8", 1), ["/1/configuration/codecs/0/configuration/level"]);
    }

    #[test]
    fn only_codecs_that_make_a_chunk_smaller_are_applied() {
        let chain = chain(&conditional(&json!([gzip(), zstd(), "crc32c"]), &Value::null()), "uint8", 1);
        let header = |elements: &[u8]| {
            let stored = encode(&chain, &[elements.len() as u64], elements);
            assert!(stored.len() <= elements.len() + 1);
            assert_eq!(decode(&chain, &[elements.len() as u64], &stored).unwrap(), elements);
            stored[0]
        };
        assert_eq!(header(&Noise(5).bytes(1000)), 0, "noise is stored as it is");
        assert_eq!(header(&Noise(5).waves(10_000)), 0b001);
        // gzip of very many zeros leaves zeros for zstd
        assert_eq!(header(&vec![0; 1 << 20]), 0b011);
        assert_eq!(header(&[]), 0);
    }

    #[test]
    fn a_span_is_read_only_from_data_stored_as_it_is() {
        // rule D.04
        let codec = bytes_codec("conditional", &json!({"codecs": [zstd()]}));
        let (mut dst, mut scratch) = ([0; 2], Scratch::new());
        let mut span = |src: &[u8], size, span| codec.decode_span(src, size, span, &mut dst, &mut scratch);
        assert!(span(&[0, 5, 6, 7, 8], 4, 1..3).unwrap());
        assert!(!span(&[1, 5, 6, 7, 8], 4, 1..3).unwrap(), "compressed data is decoded whole");
        assert!(span(&[0, 5, 6, 7], 4, 1..3).is_err(), "another size");
        assert!(span(&[2, 5, 6, 7, 8], 4, 1..3).is_err(), "a spare bit");
        assert!(span(&[0, 5, 6, 7, 8], 4, 3..5).is_err());
        assert_eq!(dst, [6, 7]);
    }

    #[test]
    fn intermediate_results_are_bounded() {
        // rule L101
        let chain = chain(&conditional(&json!([zstd(), zstd()]), &Value::null()), "uint8", 1);
        // 64 MiB of zeros cannot be a frame of a chunk of 16 bytes
        let bomb = [&[0b10][..], &applied(&zstd(), &vec![0; 64 << 20])].concat();
        assert_eq!(decode(&chain, &[16], &bomb).unwrap_err().kind(), CodecErrorKind::TooLarge);
        let bomb = [&[0b11][..], &bomb[1..]].concat();
        assert_eq!(decode(&chain, &[16], &bomb).unwrap_err().kind(), CodecErrorKind::TooLarge);
    }
}
