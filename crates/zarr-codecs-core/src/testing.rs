//! Helpers for the tests of all codecs: chains from documents, chunks through chains, bytes from hexadecimal.
#![allow(dead_code, clippy::unwrap_used, reason = "tests only; each test binary uses some of it")]

use std::sync::Arc;

use zarr_codecs_core::CODECS;
use zarr_engine::Chain;
use zarr_traits::codec::{BytesBytesCodec, Codec, Repr};
use zarr_traits::extension::{Configuration, Context, Entry, Note, Spec};
use zarr_traits::json::{Object, Value, json};
use zarr_traits::number::{FloatFormat, Numeric};
use zarr_traits::strided::{Destination, Source};
use zarr_traits::{
    CodecError, CodecErrorKind, CodecResult, DataType, ExtensionType, FillValue, Layout, Limits, Region,
    Registry, Scratch,
};

/// Builds the chain for the `codecs` of a document, with its notes.
pub(crate) fn open(codecs: &Value, data_type: DataType, rank: usize) -> CodecResult<(Chain, Vec<Note>)> {
    let fill = FillValue::from_bytes(vec![0; data_type.size().unwrap_or(0)]);
    open_filled(codecs, data_type, fill, rank)
}

/// As [`open`], with a fill value.
pub(crate) fn open_filled(
    codecs: &Value,
    data_type: DataType,
    fill: FillValue,
    rank: usize,
) -> CodecResult<(Chain, Vec<Note>)> {
    let registry = Registry::core().with(CODECS)?;
    let limits = Limits::default();
    let context = Context::new(&registry, &limits);
    let mut notes = Vec::new();
    let specs: Vec<Spec> = codecs.elements().unwrap().map(|codec| Spec::try_from(&codec).unwrap()).collect();
    let chain = Chain::build(&specs, Repr::new(data_type, fill, rank), &context, &mut notes)?;
    Ok((chain, notes))
}

/// Builds a chain that has no notes.
pub(crate) fn chain(codecs: &Value, data_type: &str, rank: usize) -> Chain {
    let (chain, notes) = open(codecs, DataType::core(data_type).unwrap(), rank).unwrap();
    assert_eq!(notes, [], "{codecs}");
    chain
}

/// Returns the pointers of the notes.
pub(crate) fn noted(codecs: &Value, data_type: &str, rank: usize) -> Vec<String> {
    let (_, notes) = open(codecs, DataType::core(data_type).unwrap(), rank).unwrap();
    notes.into_iter().map(|note| note.pointer).collect()
}

/// Builds a single bytes → bytes codec.
pub(crate) fn bytes_codec(name: &str, configuration: &Value) -> Arc<dyn BytesBytesCodec> {
    bytes_codec_of(CODECS, name, configuration)
}

/// As [`bytes_codec`], for a table of codecs.
pub(crate) fn bytes_codec_of(
    codecs: &[Entry],
    name: &str,
    configuration: &Value,
) -> Arc<dyn BytesBytesCodec> {
    let registry = Registry::core().with(codecs).unwrap();
    let limits = Limits::default();
    let context = Context::new(&registry, &limits);
    let repr = Repr::new(DataType::UInt8, FillValue::of(0_u8), 1);
    let members = configuration.as_object().unwrap();
    let mut configuration = Configuration::new(&members);
    match registry.codec(name).unwrap().build(&mut configuration, &repr, &context).unwrap() {
        Codec::BytesBytes(codec) => codec,
        other => unreachable!("{other:?}"),
    }
}

/// Returns the error of building `codecs`.
pub(crate) fn refused(codecs: &Value, data_type: &str, rank: usize) -> CodecError {
    let e = open(codecs, DataType::core(data_type).unwrap(), rank).unwrap_err();
    assert_eq!(e.kind(), CodecErrorKind::Configuration, "{codecs}: {e:#}");
    e
}

/// Returns the codecs `bytes` (little endian) and `codec` with a configuration.
pub(crate) fn after_bytes(codec: &str, configuration: Value) -> Value {
    let codec = match configuration.is_null() {
        true => json!({ "name": codec }),
        false => json!({ "name": codec, "configuration": configuration }),
    };
    json!([bytes("little"), codec])
}

/// Returns the codec `bytes` with a byte order.
pub(crate) fn bytes(endian: &str) -> Value {
    json!({"name": "bytes", "configuration": {"endian": endian}})
}

pub(crate) fn encode(chain: &Chain, shape: &[u64], elements: &[u8]) -> Vec<u8> {
    let mut out = vec![0xee];
    let size = chain.repr().data_type.size().unwrap();
    chain.encode(Source::dense(elements, shape, size).unwrap(), &mut out, &mut Scratch::new()).unwrap();
    assert_eq!(out.remove(0), 0xee, "the earlier content is kept");
    out
}

pub(crate) fn decode(chain: &Chain, shape: &[u64], encoded: &[u8]) -> CodecResult<Vec<u8>> {
    decode_part(chain, shape, &Region::whole(shape), encoded, &mut Scratch::new())
}

pub(crate) fn decode_part(
    chain: &Chain,
    shape: &[u64],
    part: &Region,
    encoded: &[u8],
    scratch: &mut Scratch,
) -> CodecResult<Vec<u8>> {
    let size = chain.repr().data_type.size().unwrap();
    let mut out = vec![0xaa; usize::try_from(part.len().unwrap()).unwrap() * size];
    chain.decode_into(encoded, shape, part, Destination::dense(&mut out, part.shape(), size)?, scratch)?;
    Ok(out)
}

/// Checks that `elements` encode to exactly these bytes, and that these bytes decode to the elements.
pub(crate) fn golden(codecs: &Value, data_type: &str, shape: &[u64], elements: &[u8], encoded: &str) {
    let chain = chain(codecs, data_type, shape.len());
    assert_eq!(to_hex(&encode(&chain, shape, elements)), encoded, "{codecs}");
    assert_eq!(decode(&chain, shape, &hex(encoded)).unwrap(), elements, "{codecs}");
}

pub(crate) fn hex(digits: &str) -> Vec<u8> {
    let pair = |at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
    (0..digits.len()).step_by(2).map(pair).collect()
}

pub(crate) fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Reads the lines `name hex` of a file in `testdata`.
pub(crate) fn vectors(file: &'static str) -> impl Iterator<Item = (&'static str, Vec<u8>)> {
    let lines = file.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split_once(' ').unwrap()).map(|(name, digits)| (name, hex(digits)))
}

/// Returns the elements of the lines in `testdata`: int32 0 to 15.
pub(crate) fn sixteen() -> Vec<u8> {
    (0..16).flat_map(i32::to_ne_bytes).collect()
}

/// Pseudo-random numbers, the same in every run (xorshift64*).
#[derive(Debug, Clone)]
pub(crate) struct Noise(pub(crate) u64);

impl Noise {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Returns a number below `n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() >> 32).unwrap() % n
    }

    pub(crate) fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.next().to_le_bytes()[7]).collect()
    }

    /// Returns two-byte numbers that change slowly, with some noise.
    pub(crate) fn waves(&mut self, len: usize) -> Vec<u8> {
        let wave =
            |i: usize, noise: u64| u16::try_from(i / 16 % 30_000).unwrap().wrapping_add((noise & 15) as u16);
        (0..len / 2).flat_map(|i| wave(i, self.next() >> 40).to_le_bytes()).collect()
    }
}

/// A data type with fewer bits than a byte.
#[derive(Debug)]
pub(crate) struct Few(Numeric);

impl Few {
    pub(crate) fn integer(bits: u32, signed: bool) -> DataType {
        DataType::Extension(Arc::new(Self(Numeric::Integer { bits, signed })))
    }

    pub(crate) fn float(format: FloatFormat) -> DataType {
        DataType::Extension(Arc::new(Self(Numeric::Float(format))))
    }
}

impl ExtensionType for Few {
    fn name(&self) -> &str {
        "few"
    }

    fn configuration(&self) -> Object {
        Object::new()
    }

    fn layout(&self) -> Layout {
        Layout::Fixed { size: self.0.size(), unit: self.0.size() }
    }

    fn numeric(&self) -> Option<Numeric> {
        Some(self.0)
    }

    fn fill_from_json(&self, _: &Value) -> CodecResult<FillValue> {
        unreachable!("these tests read no fill value from JSON")
    }

    fn fill_to_json(&self, _: &FillValue) -> CodecResult<Value> {
        unreachable!("these tests write no fill value to JSON")
    }
}
