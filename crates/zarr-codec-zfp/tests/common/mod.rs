//! Chains of this crate's codecs, and the elements of the golden streams.
#![allow(dead_code, clippy::unwrap_used, reason = "tests only; each test binary uses some of it")]

use zarr_engine::Chain;
use zarr_traits::codec::Repr;
use zarr_traits::extension::{Context, Note, Spec};
use zarr_traits::json::Value;
use zarr_traits::strided::{Destination, Source, bytes_of};
use zarr_traits::{CodecResult, DataType, FillValue, Limits, Region, Registry, Scratch};

pub(crate) fn open(
    name: &str,
    configuration: &Value,
    data_type: DataType,
    rank: usize,
) -> CodecResult<(Chain, Vec<Note>)> {
    let registry = Registry::core().with(zarr_codec_zfp::CODECS)?.with(&[zarr_codec_zfp::zfpy::ENTRY])?;
    let limits = Limits::default();
    let context = Context::new(&registry, &limits);
    let fill = FillValue::from_bytes(vec![0; data_type.size().unwrap_or(0)]);
    let mut notes = Vec::new();
    let spec = Spec::new(name, configuration.clone()).unwrap();
    let chain = Chain::build(&[spec], Repr::new(data_type, fill, rank), &context, &mut notes)?;
    Ok((chain, notes))
}

pub(crate) fn chain(name: &str, configuration: &Value, data_type: &str, rank: usize) -> Chain {
    let (chain, notes) = open(name, configuration, DataType::core(data_type).unwrap(), rank).unwrap();
    assert_eq!(notes, [], "{configuration}");
    chain
}

pub(crate) fn encode(chain: &Chain, shape: &[u64], elements: &[u8]) -> CodecResult<Vec<u8>> {
    let mut out = vec![0xee];
    let size = chain.repr().data_type.size().unwrap();
    chain.encode(Source::dense(elements, shape, size)?, &mut out, &mut Scratch::new())?;
    assert_eq!(out.remove(0), 0xee, "the earlier content is kept");
    let bound = chain.encoded_size(shape).bound().unwrap();
    assert!(out.len() as u64 <= bound, "{} of {bound} bytes", out.len());
    Ok(out)
}

pub(crate) fn decode(chain: &Chain, shape: &[u64], encoded: &[u8]) -> CodecResult<Vec<u8>> {
    let size = chain.repr().data_type.size().unwrap();
    let mut out = vec![0xaa; usize::try_from(shape.iter().product::<u64>()).unwrap() * size];
    let dst = Destination::dense(&mut out, shape, size)?;
    chain.decode_into(encoded, shape, &Region::whole(shape), dst, &mut Scratch::new())?;
    Ok(out)
}

pub(crate) fn hex(digits: &str) -> Vec<u8> {
    let pair = |at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
    (0..digits.len()).step_by(2).map(pair).collect()
}

/// One line of `testdata`.
#[derive(Debug)]
pub(crate) struct Golden {
    pub(crate) data_type: &'static str,
    pub(crate) shape: Vec<u64>,
    pub(crate) configuration: Value,
    pub(crate) encoded: Vec<u8>,
    /// The bytes of the stream from a writer of shorter words.
    pub(crate) short: usize,
    /// The elements before encoding.
    pub(crate) elements: Vec<u8>,
    /// The elements after decoding.
    pub(crate) decoded: Vec<u8>,
}

pub(crate) fn golden(file: &'static str) -> impl Iterator<Item = Golden> {
    file.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let cells: Vec<&str> = line.split(" | ").collect();
        let [data_type, shape, configuration, encoded, short, decoded] = cells[..] else {
            unreachable!("{line}")
        };
        let shape: Vec<u64> = Value::parse(shape).unwrap().deserialize().unwrap();
        let elements = elements(data_type, shape.iter().product());
        let decoded = if decoded == "same" { elements.clone() } else { native(data_type, hex(decoded)) };
        let configuration = Value::parse(configuration).unwrap();
        Golden {
            data_type,
            shape,
            configuration,
            encoded: hex(encoded),
            short: short.parse().unwrap(),
            elements,
            decoded,
        }
    })
}

/// Converts little endian to the byte order of this machine.
fn native(data_type: &str, mut elements: Vec<u8>) -> Vec<u8> {
    if cfg!(target_endian = "big") {
        let size = DataType::core(data_type).unwrap().size().unwrap();
        elements.chunks_exact_mut(size).for_each(<[u8]>::reverse);
    }
    elements
}

/// Returns the elements of `testdata`.
#[allow(clippy::cast_possible_truncation, reason = "the numbers are small")]
fn elements(data_type: &str, count: u64) -> Vec<u8> {
    let numbers: Vec<i64> =
        (0..i64::try_from(count).unwrap()).map(|i| (7 * i * i + 3 * i) % 101 + i).collect();
    macro_rules! of {
        ($map:expr) => {
            bytes_of(&numbers.iter().copied().map($map).collect::<Vec<_>>()).to_vec()
        };
    }
    match data_type {
        "int8" => of!(|n| (n - 50) as i8),
        "int16" => of!(|n| (n - 50) as i16),
        "int32" => of!(|n| (n - 50) as i32),
        "int64" => of!(|n| n - 50),
        "uint8" => of!(|n| n as u8),
        "uint16" => of!(|n| n as u16),
        "uint32" => of!(|n| n as u32),
        "uint64" => of!(|n| n as u64),
        "float32" => of!(|n| n as f32 / 8.0 - 5.0),
        "float64" => of!(|n| n as f64 / 8.0 - 5.0),
        other => unreachable!("{other}"),
    }
}
