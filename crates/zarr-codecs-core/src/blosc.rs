//! `blosc`: frames of c-blosc 1, which shuffle bytes or bits and compress blocks.
//!
//! Spec: [blosc codec](https://zarr-specs.readthedocs.io/en/latest/v3/codecs/blosc/index.html).
//! Rules: [blosc](https://github.com/zarr-rs/zarr/blob/v0.1.0/docs/specification/codecs.md#d.4).
//!
//! | member | value |
//! |---|---|
//! | `cname` | `"lz4"`, `"lz4hc"`, `"blosclz"`, `"zstd"`, `"snappy"` or `"zlib"` |
//! | `clevel` | 0 (stored) to 9 |
//! | `shuffle` | `"noshuffle"`, `"shuffle"` or `"bitshuffle"` |
//! | `typesize` | bytes of an element, at least 1; frames state 1 if it is above 255; ignored for `"noshuffle"` |
//! | `blocksize` | bytes of a block; 0 lets c-blosc choose |
//!
//! Frames describe themselves, so only writers need the configuration. Missing members and spellings of format 2 are
//! noted: an absent `typesize` is that of the data type, an absent `blocksize` is 0, an absent `shuffle` is
//! `"bitshuffle"` for elements of one byte and else `"shuffle"`, and a number is the shuffle with that number in
//! numcodecs.
//!
//! A frame must have the length that it states: trailing bytes are an error, not padding. Chunks of Blosc 2 are
//! refused.
//!
//! [`zarr_blosc`] reads and writes the frames. [`ENTRY`] uses the C libraries of LZ4 and Zstandard if the feature `blosc` is
//! on. `ENTRY_IN_RUST` has the feature `pure-decode` and no C code; there `lz4` and `lz4hc` have one level, and levels of `zstd` end
//! with 4.

use std::ops::Range;
use std::sync::Arc;

use zarr_blosc::{BloscMemory, Compressor, Error, ErrorKind, Frame, OVERHEAD, Settings, Shuffle};
use zarr_traits::codec::{BytesBytesCodec, Codec, CodecKind, EncodedSize, Repr, too_large};
use zarr_traits::extension::{CodecEntry, Configuration, Entry};
use zarr_traits::json::Value;
use zarr_traits::{CodecError, CodecErrorKind, CodecResult, Scratch};

/// The registry entry of this codec.
pub const ENTRY: Entry =
    Entry::Codec(CodecEntry::new("blosc", CodecKind::BytesBytes, |configuration, repr, _| {
        build(configuration, repr, false)
    }));

/// The registry entry of this codec without C code, whatever other features are on.
#[cfg(feature = "pure-decode")]
pub const ENTRY_IN_RUST: Entry =
    Entry::Codec(CodecEntry::new("blosc", CodecKind::BytesBytes, |configuration, repr, _| {
        build(configuration, repr, true)
    }));

const COMPRESSORS: [&str; 6] = ["lz4", "lz4hc", "blosclz", "zstd", "snappy", "zlib"];
const SHUFFLES: [&str; 3] = ["noshuffle", "shuffle", "bitshuffle"];

#[derive(Debug)]
struct Blosc {
    settings: Settings,
    in_rust: bool,
}

/// The memory of a worker without C libraries.
struct RustMemory(BloscMemory);

impl Default for RustMemory {
    fn default() -> Self {
        Self(BloscMemory::in_rust())
    }
}

fn build(configuration: &mut Configuration<'_>, repr: &Repr, in_rust: bool) -> CodecResult<Codec> {
    let cname = configuration.optional_string("cname")?;
    let cname = cname.as_deref();
    let compressor = cname.and_then(Compressor::from_name).ok_or_else(|| match cname {
        Some(other) => wrong("cname", format!("cname is {other:?}, it must be one of {COMPRESSORS:?}")),
        None => wrong("cname", "cname is missing".into()),
    })?;
    let level = configuration.integer("clevel", 0..=9)?;
    let element = repr.fixed().map_or(1, |(size, _)| size);
    let shuffle = shuffle(configuration, element)?;
    let typesize = match (shuffle, configuration.get("typesize")) {
        (Shuffle::None, given) => {
            given.and_then(|given| given.as_u64()).and_then(|n| usize::try_from(n).ok()).unwrap_or(1)
        }
        (_, Some(_)) => whole(configuration.integer("typesize", 1..=i64::MAX)?),
        (_, None) => {
            configuration.note("typesize", format!("typesize is missing, read as {element}"));
            element
        }
    };
    let blocksize = configuration.optional_integer("blocksize", 0..=i64::MAX)?;
    if blocksize.is_none() {
        configuration.note("blocksize", "blocksize is missing, read as 0 (automatic)");
    }
    let mut settings = Settings::default();
    settings.compressor = compressor;
    settings.level = u8::try_from(level).unwrap_or(5);
    settings.shuffle = shuffle;
    settings.typesize = if (1..=255).contains(&typesize) { typesize } else { 1 };
    settings.blocksize = whole(blocksize.unwrap_or(0));
    Ok(Codec::BytesBytes(Arc::new(Blosc { settings, in_rust })))
}

/// Returns the shuffle. Its number in c-blosc is its index in [`SHUFFLES`].
fn shuffle(configuration: &mut Configuration<'_>, element: usize) -> CodecResult<Shuffle> {
    const ALL: [Shuffle; 3] = [Shuffle::None, Shuffle::Bytes, Shuffle::Bits];
    let value = configuration.get("shuffle");
    let named = value
        .as_ref()
        .and_then(Value::as_text)
        .and_then(|name| SHUFFLES.into_iter().zip(ALL).find(|(s, _)| *s == name));
    if let Some((_, shuffle)) = named {
        return Ok(shuffle);
    }
    let shown = value.as_ref().map_or("missing".into(), Value::to_string);
    let number = match value.map(|value| value.as_i64()) {
        None | Some(Some(-1)) if element == 1 => 2,
        None | Some(Some(-1)) => 1,
        Some(Some(0)) => 0,
        Some(Some(1)) => 1,
        Some(Some(2)) => 2,
        _ => return Err(wrong("shuffle", format!("shuffle is {shown}, it must be one of {SHUFFLES:?}"))),
    };
    configuration.note("shuffle", format!("shuffle is {shown}, read as number {number} of {SHUFFLES:?}"));
    Ok(ALL[number])
}

fn wrong(member: &str, message: String) -> CodecError {
    CodecError::configuration(message).at(&format!("/configuration/{member}"))
}

/// Converts a number that is not negative; too large numbers become the maximum.
fn whole(n: i64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

impl Blosc {
    fn memory<'a>(&self, scratch: &'a mut Scratch) -> &'a mut BloscMemory {
        if self.in_rust { &mut scratch.slot::<RustMemory>().0 } else { scratch.slot::<BloscMemory>() }
    }
}

impl BytesBytesCodec for Blosc {
    fn decode_into(&self, src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> CodecResult<usize> {
        zarr_blosc::decode(src, dst, self.memory(scratch)).map_err(failed)
    }

    fn decode_span(
        &self,
        src: &[u8],
        size: usize,
        span: Range<usize>,
        dst: &mut [u8],
        scratch: &mut Scratch,
    ) -> CodecResult<bool> {
        let frame = Frame::parse(src).map_err(failed)?;
        if frame.len() != size {
            return Err(CodecError::corrupt(format!("it decodes to {} bytes, expected {size}", frame.len())));
        }
        let dst = dst.get_mut(..span.len()).ok_or_else(too_large)?;
        frame.decode_part(span, dst, self.memory(scratch)).map_err(failed)?;
        Ok(true)
    }

    fn encode(&self, src: &[u8], out: &mut Vec<u8>, scratch: &mut Scratch) -> CodecResult<()> {
        zarr_blosc::encode(&self.settings, src, out, self.memory(scratch)).map_err(failed)
    }

    fn encoded_size(&self, decoded: u64) -> EncodedSize {
        decoded.checked_add(OVERHEAD as u64).map_or(EncodedSize::Unknown, EncodedSize::AtMost)
    }
}

fn failed(e: Error) -> CodecError {
    match e.kind() {
        ErrorKind::Unsupported => CodecError::new(CodecErrorKind::Unsupported, e.to_string()),
        ErrorKind::TooLarge => too_large(),
        ErrorKind::LimitExceeded => CodecError::new(CodecErrorKind::LimitExceeded, e.to_string()),
        _ => CodecError::corrupt(e.to_string()),
    }
}

#[cfg(test)]
#[cfg(feature = "bytes")]
mod tests {
    use zarr_traits::json;

    use super::*;
    use crate::testing::{Noise, after_bytes, chain, decode, encode, golden, hex, noted, refused};

    /// Returns a complete configuration with one member replaced or removed.
    fn with(member: &str, value: Option<Value>) -> Value {
        let full = json!({"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": 4, "blocksize": 0});
        let mut members = full.as_object().unwrap();
        match value {
            Some(value) => members.set(member, value),
            None => drop(members.remove(member)),
        }
        after_bytes("blosc", members.into())
    }

    const GOLDEN: &str = "0201330410000000100000002000000000000000010000000200000003000000";

    #[test]
    fn chunks_are_encoded_to_the_golden_bytes() {
        // rule D4.t8
        let elements: Vec<u8> = (0..4).flat_map(i32::to_ne_bytes).collect();
        golden(&with("clevel", Some(json!(5))), "int32", &[4], &elements, GOLDEN); // rule D4.t1
    }

    #[test]
    fn configurations_are_accepted_noted_or_refused() {
        // rules D4.t2 to D4.t7
        let note = |member: &str, value: Option<Value>| noted(&with(member, value), "int32", 1);
        for member in ["typesize", "blocksize", "shuffle"] {
            assert_eq!(note(member, None), [format!("/1/configuration/{member}")]); // rules D4.t2, D4.t6 and D4.t7
        }
        for number in [-1, 0, 1, 2] {
            assert_eq!(note("shuffle", Some(json!(number))), ["/1/configuration/shuffle"]); // rule D4.t5
        }
        for typesize in [json!(0), json!(4), Value::null()] {
            let plain = json!({"cname": "lz4", "clevel": 5, "shuffle": "noshuffle", "typesize": typesize, "blocksize": 0});
            chain(&after_bytes("blosc", plain), "int32", 1); // rule D4.t4
        }
        let none = json!({"cname": "lz4", "clevel": 5, "shuffle": "noshuffle", "blocksize": 0});
        chain(&after_bytes("blosc", none), "int32", 1); // rule D4.t3
        for (member, value) in [
            ("cname", json!("lzma")),
            ("cname", json!(1)),
            ("clevel", json!(10)),
            ("clevel", json!(-1)),
            ("clevel", json!("5")),
            ("shuffle", json!("bits")),
            ("shuffle", json!(3)),
            ("shuffle", json!(-2)),
            ("shuffle", json!(null)),
            ("typesize", json!(0)),
            ("typesize", json!(-4)),
            ("blocksize", json!(-1)),
        ] {
            refused(&with(member, Some(value)), "int32", 1);
        }
        for member in ["cname", "clevel"] {
            assert_eq!(
                refused(&with(member, None), "int32", 1).pointer(),
                format!("/1/configuration/{member}")
            );
        }
        refused(&after_bytes("blosc", Value::null()), "int32", 1);
    }

    #[test]
    fn a_missing_shuffle_depends_on_the_element_size() {
        // rule D4.t7
        let flags = |codecs: &Value, data_type: &str| {
            let (chain, _) =
                crate::testing::open(codecs, zarr_traits::DataType::core(data_type).unwrap(), 1).unwrap();
            let size = chain.repr().data_type.size().unwrap();
            let encoded = encode(&chain, &[1000], &vec![1; 1000 * size]);
            (encoded[2] & 0x07, encoded[3])
        };
        assert_eq!(flags(&with("shuffle", None), "int32"), (1, 4));
        assert_eq!(flags(&with("shuffle", None), "uint8"), (4, 4));
        assert_eq!(flags(&with("typesize", None), "int16"), (1, 2)); // rule D4.t2
        assert_eq!(flags(&with("typesize", Some(json!(256))), "int16"), (1, 1)); // rule D4.4
        assert_eq!(flags(&with("typesize", Some(json!(255))), "int16"), (1, 255));
    }

    #[test]
    fn every_compressor_and_shuffle_round_trips() {
        // rule D4.t10
        for cname in ["lz4", "lz4hc", "blosclz", "zstd", "snappy", "zlib"] {
            for shuffle in SHUFFLES {
                for (level, blocksize) in [(5, 0), (0, 0), (1, 1), (9, 4096), (5, 1_u64 << 40)] {
                    let configuration = json!({
                        "cname": cname, "clevel": level, "shuffle": shuffle, "typesize": 2, "blocksize": blocksize
                    });
                    let chain = chain(&after_bytes("blosc", configuration), "uint8", 1);
                    for elements in [
                        vec![],
                        vec![7],
                        vec![0; 100_000],
                        Noise(1).bytes(100_000),
                        Noise(1).waves(100_000),
                        Noise(1).bytes(77),
                    ] {
                        let shape = [elements.len() as u64];
                        let encoded = encode(&chain, &shape, &elements);
                        assert!(encoded.len() as u64 <= chain.encoded_size(&shape).bound().unwrap());
                        assert_eq!(decode(&chain, &shape, &encoded).unwrap(), elements);
                        assert_eq!(encoded.len() == elements.len() + 16, encoded[2] & 2 != 0, "rule D4.5");
                    }
                }
            }
        }
    }

    #[test]
    fn wrong_headers_are_refused() {
        // rule D4.t9
        let chain = chain(&with("cname", Some(json!("lz4"))), "int32", 1);
        let lie = |at: usize, value: &[u8]| {
            let mut frame = hex(GOLDEN);
            frame[at..at + value.len()].copy_from_slice(value);
            decode(&chain, &[4], &frame).unwrap_err()
        };
        for size in [0, 15, 17, i32::MAX, -1, i32::MIN, 31] {
            lie(4, &size.to_le_bytes()); // nbytes
            lie(12, &size.to_le_bytes()); // cbytes
            if size != 15 {
                lie(8, &size.to_le_bytes()); // blocksize
            }
        }
        assert!(lie(0, &[5]).to_string().contains("Blosc 2")); // rule D4.7
        for version in [0, 1, 3, 4] {
            lie(0, &[version]);
        }
        for flags in [0x08, 0x3b, 0xb3, 0xf3] {
            lie(2, &[flags]);
        }
        lie(2, &[0x31]); // the elements are not a compressed block
        lie(3, &[0]);
        let huge = lie(4, &(1_u32 << 30).to_le_bytes());
        assert_eq!(huge.kind(), CodecErrorKind::Corrupt);
        for len in 0..32 {
            decode(&chain, &[4], &hex(GOLDEN)[..len]).unwrap_err();
        }
        let longer = [hex(GOLDEN), vec![0]].concat();
        let e = decode(&chain, &[4], &longer).unwrap_err();
        assert!(e.to_string().ends_with("the frame states 32 bytes, but has 33"), "{e}");
        // rule D.06; a valid frame that is larger than declared
        assert_eq!(decode(&chain, &[3], &hex(GOLDEN)).unwrap_err().kind(), CodecErrorKind::TooLarge);
        assert!(decode(&chain, &[5], &hex(GOLDEN)).is_err());
    }
}
