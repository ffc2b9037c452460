//! Helpers for tests: chains from documents, shards through chains, and partial reads step by step.
#![allow(dead_code, clippy::unwrap_used, reason = "tests only; each test binary uses some of it")]

use zarr_codec_sharding::ENTRY;
use zarr_codecs_core::CODECS;
use zarr_engine::Chain;
use zarr_traits::codec::Repr;
use zarr_traits::extension::{Context, Entry, Note, Spec};
use zarr_traits::json::{Value, json};
use zarr_traits::strided::{Destination, Source};
use zarr_traits::{
    ByteRange, Bytes, CodecError, CodecResult, DataType, Fetching, FillValue, Limits, Region, Registry,
    Scratch,
};

pub(crate) const FETCHING: Fetching = Fetching::new(4096, 1 << 20, 1);

#[derive(Default)]
pub(crate) struct Opening<'a> {
    pub(crate) more: &'a [Entry],
    pub(crate) limits: Limits,
}

impl Opening<'_> {
    pub(crate) fn open(
        &self,
        codecs: &Value,
        data_type: &str,
        fill: &[u8],
        rank: usize,
    ) -> CodecResult<(Chain, Vec<Note>)> {
        let registry = Registry::core().with(CODECS)?.with(&[ENTRY])?.with(self.more)?;
        let context = Context::new(&registry, &self.limits);
        let data_type = DataType::core(data_type).unwrap();
        let fill = FillValue::from_bytes(fill);
        let mut notes = Vec::new();
        let specs: Vec<Spec> =
            codecs.elements().unwrap().map(|codec| Spec::try_from(&codec).unwrap()).collect();
        let chain = Chain::build(&specs, Repr::new(data_type, fill, rank), &context, &mut notes)?;
        Ok((chain, notes))
    }
}

/// Builds a chain that has no notes.
pub(crate) fn chain(codecs: &Value, data_type: &str, fill: &[u8], rank: usize) -> Chain {
    let (chain, notes) = Opening::default().open(codecs, data_type, fill, rank).unwrap();
    assert_eq!(notes, [], "{codecs}");
    chain
}

/// Returns the error of building a chain for `uint8`.
pub(crate) fn refused(codecs: &Value, rank: usize) -> CodecError {
    Opening::default().open(codecs, "uint8", &[0], rank).unwrap_err()
}

pub(crate) fn bytes(endian: &str) -> Value {
    json!({"name": "bytes", "configuration": {"endian": endian}})
}

pub(crate) fn transpose(order: &[u64]) -> Value {
    json!({"name": "transpose", "configuration": {"order": order}})
}

/// The usual index codecs.
pub(crate) fn checked() -> Value {
    json!([bytes("little"), {"name": "crc32c"}])
}

pub(crate) fn sharding(chunk: &[u64], codecs: &Value, index_codecs: &Value, location: &str) -> Value {
    json!({"name": "sharding_indexed", "configuration": {
        "chunk_shape": chunk, "codecs": codecs, "index_codecs": index_codecs, "index_location": location,
    }})
}

pub(crate) fn encode(chain: &Chain, shape: &[u64], elements: &[u8]) -> Vec<u8> {
    let mut out = vec![0xee];
    let size = chain.repr().data_type.size().unwrap();
    chain.encode(Source::dense(elements, shape, size).unwrap(), &mut out, &mut Scratch::new()).unwrap();
    assert_eq!(out.remove(0), 0xee, "the earlier content is kept");
    out
}

pub(crate) fn decode(chain: &Chain, shape: &[u64], encoded: &[u8]) -> CodecResult<Vec<u8>> {
    decode_part(chain, shape, &Region::whole(shape), encoded)
}

fn room(chain: &Chain, part: &Region) -> (Vec<u8>, usize) {
    let size = chain.repr().data_type.size().unwrap();
    (vec![0xaa; usize::try_from(part.len().unwrap()).unwrap() * size], size)
}

pub(crate) fn decode_part(
    chain: &Chain,
    shape: &[u64],
    part: &Region,
    encoded: &[u8],
) -> CodecResult<Vec<u8>> {
    let (mut out, size) = room(chain, part);
    let dst = Destination::dense(&mut out, part.shape(), size)?;
    chain.decode_into(encoded, shape, part, dst, &mut Scratch::new())?;
    Ok(out)
}

/// The ranges that a partial read requested.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) index: Vec<ByteRange>,
    pub(crate) pieces: Vec<(u64, u64)>,
}

/// Reads a part as an engine does. Returns `None` if the object has to be read whole.
pub(crate) fn partial(
    chain: &Chain,
    shape: &[u64],
    part: &Region,
    object: &[u8],
) -> CodecResult<Option<(Vec<u8>, Asked)>> {
    let get = |range: ByteRange| {
        let range =
            range.resolve(object.len() as u64).map_err(|e| CodecError::corrupt("store").with_source(e))?;
        Ok::<_, CodecError>(Bytes::copy_from_slice(
            &object[usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap()],
        ))
    };
    let Some(mut read) = chain.partial(shape, part, FETCHING, None)? else { return Ok(None) };
    let mut asked = Asked::default();
    while !read.wants().is_empty() {
        asked.index.extend(read.wants());
        let fed = read.wants().iter().map(|want| get(*want)).collect::<CodecResult<Vec<_>>>()?;
        let fed: Vec<&[u8]> = fed.iter().map(|bytes| &bytes[..]).collect();
        read.feed(&fed, Some(object.len() as u64))?;
    }
    let mut pieces = Vec::new();
    read.pieces(&mut pieces)?;
    let (mut out, size) = room(chain, part);
    let mut view = Destination::dense(&mut out, part.shape(), size)?;
    let mut elements = 0;
    for piece in &pieces {
        if piece.span.len > 0 {
            asked.pieces.push((piece.span.offset, piece.span.len));
        }
        elements += piece.shape.iter().product::<u64>();
        let dst = view.reborrow().sub(&piece.at, &piece.shape)?;
        zarr_engine::run_piece(piece, &get(piece.span.into())?, dst, &mut Scratch::new())?;
    }
    assert_eq!(Some(elements), part.len(), "the pieces cover the part");
    Ok(Some((out, asked)))
}

pub(crate) fn hex(digits: &str) -> Vec<u8> {
    let digits: String = digits.chars().filter(|c| c.is_ascii_hexdigit()).collect();
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
}

/// Pseudo-random numbers, the same in every run (xorshift64*).
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
}
