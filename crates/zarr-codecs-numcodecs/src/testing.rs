//! Helpers for the tests of all codecs: codecs from configurations, bytes from hexadecimal, damage.
#![allow(dead_code, clippy::unwrap_used, reason = "tests only; enabled features decide which items are used")]

use std::sync::Arc;

use zarr_traits::codec::{ArrayBytesCodec, BytesBytesCodec, Codec, Repr};
use zarr_traits::extension::{Configuration, Context, Spec};
use zarr_traits::heap::{Heap, Slot};
use zarr_traits::json::{Object, Value};
use zarr_traits::strided::{Destination, Source};
use zarr_traits::{
    CodecError, CodecErrorKind, CodecResult, DataType, ExtensionType, FillValue, Layout, Limits, Region,
    Registry, Scratch,
};

use crate::CODECS;

/// Returns a representation of one dimension with a fill value of zeros.
pub(crate) fn repr(data_type: DataType) -> Repr {
    let fill = FillValue::from_bytes(vec![0; data_type.size().unwrap_or(0)]);
    Repr::new(data_type, fill, 1)
}

/// Builds a codec without a chain.
pub(crate) fn build(name: &str, configuration: &Value, repr: &Repr) -> CodecResult<Codec> {
    let registry = Registry::core().with(CODECS).unwrap();
    let limits = Limits::default();
    let context = Context::new(&registry, &limits);
    let entry = registry.codec(name).unwrap();
    entry.build(&mut Configuration::new(&configuration.as_object().unwrap()), repr, &context)
}

/// Builds a bytes → bytes codec without a chain.
pub(crate) fn bytes_codec(name: &str, configuration: &Value) -> Arc<dyn BytesBytesCodec> {
    match build(name, configuration, &repr(DataType::Int32)).unwrap() {
        Codec::BytesBytes(codec) => codec,
        other => unreachable!("{other:?}"),
    }
}

/// Returns the error for a wrong configuration.
pub(crate) fn refused(name: &str, configuration: &Value) -> CodecError {
    let e = build(name, configuration, &repr(DataType::Int32)).unwrap_err();
    assert_eq!(e.kind(), CodecErrorKind::Configuration, "{configuration}: {e:#}");
    e
}

pub(crate) fn encode(codec: &dyn BytesBytesCodec, decoded: &[u8]) -> Vec<u8> {
    let mut out = vec![0xee];
    codec.encode(decoded, &mut out, &mut Scratch::new()).unwrap();
    assert_eq!(out.remove(0), 0xee, "the encoder keeps existing bytes");
    let bound = codec.encoded_size(decoded.len() as u64).bound();
    assert!(bound.is_none_or(|bound| out.len() as u64 <= bound), "{bound:?}");
    out
}

/// Decodes into room for exactly `len` bytes, and checks that nothing is written after it.
pub(crate) fn decode(codec: &dyn BytesBytesCodec, encoded: &[u8], len: usize) -> CodecResult<Vec<u8>> {
    let mut room = vec![0xaa; len + 8];
    let (dst, behind) = room.split_at_mut(len);
    let result = codec.decode_into(encoded, dst, &mut Scratch::new());
    assert_eq!(behind, [0xaa; 8], "nothing is written after the destination");
    result.map(|made| {
        room.truncate(made);
        room
    })
}

/// Checks that these bytes decode to `decoded`, and that less room or fewer bytes are an error.
pub(crate) fn decodes(codec: &dyn BytesBytesCodec, encoded: &[u8], decoded: &[u8]) {
    assert_eq!(decode(codec, encoded, decoded.len()).unwrap(), decoded);
    assert_eq!(decode(codec, encoded, decoded.len() + 3).unwrap(), decoded, "more room than needed");
    if !decoded.is_empty() {
        let e = decode(codec, encoded, decoded.len() - 1).unwrap_err();
        assert!(matches!(e.kind(), CodecErrorKind::TooLarge | CodecErrorKind::Corrupt), "{e:#}"); // rule L101
    }
    assert_eq!(decode(codec, &encode(codec, decoded), decoded.len()).unwrap(), decoded, "the round trip");
}

/// Damages `encoded` in many ways, and checks that decoding neither panics nor gives wrong bytes. With `lenient`, for
/// codecs without a checksum, wrong bytes are allowed.
pub(crate) fn survives(codec: &dyn BytesBytesCodec, encoded: &[u8], decoded: &[u8], lenient: bool) {
    // the chain compares lengths
    let seen = |made: &[u8]| made.len() != decoded.len() || made == decoded;
    for len in 0..encoded.len() {
        match decode(codec, &encoded[..len], decoded.len()) {
            Err(_) => {}
            Ok(made) => assert!(lenient || seen(&made), "cut to {len} of {}", encoded.len()),
        }
    }
    let mut damaged = encoded.to_vec();
    for at in 0..encoded.len() {
        for bit in 0..8 {
            damaged[at] ^= 1 << bit;
            match decode(codec, &damaged, decoded.len()) {
                Err(_) => {}
                Ok(made) => assert!(lenient || seen(&made), "bit {bit} of byte {at}"),
            }
            damaged[at] ^= 1 << bit;
        }
    }
}

pub(crate) fn hex(digits: &str) -> Vec<u8> {
    let digits: String = digits.split_whitespace().collect();
    let pair = |at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
    (0..digits.len()).step_by(2).map(pair).collect()
}

pub(crate) fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns values of all kinds that the codecs of objects write, and then `more`.
pub(crate) fn values<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let all = [
        r#""a""#,
        "null",
        "1",
        "true",
        "-5",
        "1.5",
        "NaN",
        "Infinity",
        "-Infinity",
        r#"{"b":[1,{}],"a":"é"}"#,
        "[]",
        r#""é😀\n\"\\""#,
        "300",
        "1099511627776",
        "-1099511627776",
        "-200",
    ];
    [&all, more].concat()
}

/// The input of most golden bytes: int32 1 to 4, little endian.
pub(crate) fn four() -> Vec<u8> {
    (1..=4_i32).flat_map(i32::to_le_bytes).collect()
}

/// int32 0 to 15, little endian.
pub(crate) fn sixteen() -> Vec<u8> {
    (0..16_i32).flat_map(i32::to_le_bytes).collect()
}

/// Decodes elements of fixed size through a codec from array to bytes.
pub(crate) fn decode_fixed(
    name: &str,
    configuration: &Value,
    repr: &Repr,
    encoded: &[u8],
    shape: &[u64],
) -> CodecResult<Vec<u8>> {
    let Codec::ArrayBytes(codec) = build(name, configuration, repr).unwrap() else { unreachable!() };
    let size = repr.fixed().unwrap().0;
    let mut memory = vec![0xaa; usize::try_from(shape.iter().product::<u64>()).unwrap() * size];
    let dst = Destination::dense(&mut memory, shape, size).unwrap();
    codec.decode_into(encoded, shape, &Region::whole(shape), dst, &mut Scratch::new()).map(|()| memory)
}

/// A codec for elements of variable length, with the arguments to run it.
#[derive(Debug)]
pub(crate) struct Variable {
    codec: Arc<dyn ArrayBytesCodec>,
    heap: Arc<Heap>,
    scratch: Scratch,
}

/// Returns the representation of objects.
pub(crate) fn objects() -> Repr {
    let registry = Registry::core().with(CODECS).unwrap();
    let limits = Limits::default();
    let context = Context::new(&registry, &limits);
    let spec = Spec::named("numcodecs:object");
    repr(registry.data_type(&spec, &context).unwrap().0)
}

/// Returns the representation of strings of fixed length, as zarr-meta makes it.
pub(crate) fn texts(size: usize) -> Repr {
    let fill = FillValue::from_bytes(vec![0; size]);
    Repr::new(DataType::Extension(Arc::new(Texts(size))), fill, 1)
}

#[derive(Debug)]
struct Texts(usize);

impl ExtensionType for Texts {
    fn name(&self) -> &str {
        "fixed_length_utf32"
    }

    fn configuration(&self) -> Object {
        Object::new()
    }

    fn layout(&self) -> Layout {
        Layout::Fixed { size: self.0, unit: 4 }
    }

    fn fill_from_json(&self, _: &Value) -> CodecResult<FillValue> {
        unreachable!("no test asks for it")
    }

    fn fill_to_json(&self, _: &FillValue) -> CodecResult<Value> {
        unreachable!("no test asks for it")
    }
}

impl Variable {
    pub(crate) fn new(name: &str, configuration: &Value, repr: &Repr) -> Self {
        let Codec::ArrayBytes(codec) = build(name, configuration, repr).unwrap() else { unreachable!() };
        let heap = Arc::new(Heap::new(FillValue::from_bytes(*b"\"fill\""), 1 << 20));
        let mut scratch = Scratch::new();
        scratch.set_heap(Some(heap.clone()));
        Self { codec, heap, scratch }
    }

    pub(crate) fn encode(&mut self, elements: &[&str], shape: &[u64]) -> CodecResult<Vec<u8>> {
        let (mut memory, mut ranges, mut block) = (Vec::new(), Vec::new(), Vec::new());
        for element in elements {
            ranges.push(block.len()..block.len() + element.len());
            block.extend_from_slice(element.as_bytes());
        }
        self.heap.add(block, ranges.into_iter(), |slot| memory.extend_from_slice(&slot.to_bytes())).unwrap();
        let mut out = vec![0xee];
        self.codec.encode(Source::dense(&memory, shape, Slot::SIZE).unwrap(), &mut out, &mut self.scratch)?;
        assert_eq!(out.remove(0), 0xee, "the encoder keeps existing bytes");
        Ok(out)
    }

    pub(crate) fn decode(&mut self, encoded: &[u8], shape: &[u64]) -> CodecResult<Vec<String>> {
        let len: u64 = shape.iter().product();
        let mut memory = vec![0; usize::try_from(len).unwrap() * Slot::SIZE];
        let dst = Destination::dense(&mut memory, shape, Slot::SIZE).unwrap();
        self.codec.decode_into(encoded, shape, &Region::whole(shape), dst, &mut self.scratch)?;
        self.heap.with(|blocks| {
            let content = |slot: &[u8; 16]| Slot::from_bytes(*slot).of(blocks).map(<[u8]>::to_vec);
            let text = |slot| Ok(String::from_utf8(content(slot)?).unwrap());
            memory.as_chunks().0.iter().map(text).collect()
        })
    }

    /// These bytes are these elements.
    pub(crate) fn golden(&mut self, elements: &[&str], shape: &[u64], encoded: &[u8]) {
        assert_eq!(self.decode(encoded, shape).unwrap(), elements);
        assert_eq!(self.encode(elements, shape).unwrap(), encoded);
    }

    /// Checks that damaged forms of `encoded` are decoded or refused without a panic.
    pub(crate) fn survives(name: &str, configuration: &Value, repr: &Repr, encoded: &[u8], shape: &[u64]) {
        let decode = |damaged: &[u8]| Self::new(name, configuration, repr).decode(damaged, shape);
        for len in 0..encoded.len() {
            assert!(decode(&encoded[..len]).is_err(), "cut to {len} of {}", encoded.len());
        }
        assert!(decode(&[encoded, &[0x20, 0x21]].concat()).is_err());
        let mut damaged = encoded.to_vec();
        for bit in 0..encoded.len() * 8 {
            damaged[bit / 8] ^= 1 << (bit % 8);
            let _ = decode(&damaged);
            damaged[bit / 8] ^= 1 << (bit % 8);
        }
    }
}
