//! Checks of parts of chunks: a decoded part equals that part of the whole chunk.

use std::ops::Range;
use zarr_traits::strided::to_usize;

use zarr_engine::Chain;
use zarr_traits::strided::Destination;
use zarr_traits::{
    CodecResult, Fetching, Region, Scratch,
    codec::{BytesBytesCodec, Codec, Effect},
    partial::Known,
};

use super::chunk::{Case, Elements, Noise, Worker};
use super::subject::Bench;
use super::whole::difference;
use crate::report::{Check, Excerpt, Fault, ensure};

/// The number of regions that are tried in each chunk, besides the whole chunk and the empty region.
const REGIONS: usize = 6;

/// Rule 8.
pub(super) fn parts(bench: &Bench) -> Check {
    let mut worker = Worker::new();
    for case in bench.cases() {
        worker.at(&case.chunk);
        for chain in &case.chains {
            let encoded = case.encode(chain, &mut worker)?;
            let mut whole = case.chunk.clone();
            whole.elements = case.decode_whole(chain, &encoded, &mut worker)?;
            for part in regions(&whole.shape) {
                let (expected, what) = (whole.part(&part), format!("{part:?} of {whole}"));
                let got = case.decode(chain, &part, &encoded, &mut worker);
                let got = got.map_err(|e| Fault(format!("{what} cannot be decoded: {e:#}")))?;
                ensure!(got == expected, "{what}: {}", difference(&got, &expected));
                for fetching in FETCHING {
                    let Some((got, known)) =
                        fetched(&case, chain, &part, fetching, None, &encoded, &mut worker)?
                    else {
                        continue;
                    };
                    ensure!(got == expected, "{what}, fetched: {}", difference(&got, &expected));
                    let again =
                        fetched(&case, chain, &part, fetching, known.as_ref(), &encoded, &mut worker)?;
                    let same = again.is_none_or(|(got, _)| got == expected);
                    ensure!(same, "{what} changes when the remembered index of the object is used");
                }
            }
        }
        match bench.build(&bench.subject.spec, &case.chunk.repr)?.0 {
            Codec::ArrayArray(codec) if codec.effect() == Effect::Reshape => {
                for part in regions(&case.chunk.shape) {
                    let Some(region) = codec.map_part(&case.chunk.shape, &part) else { continue };
                    let encoded = codec.encoded_shape(&case.chunk.shape)?;
                    ensure!(
                        region.is_inside(&encoded),
                        "{part:?} of {} is mapped to {region:?}, outside of {encoded:?}",
                        case.chunk
                    );
                }
            }
            Codec::BytesBytes(codec) => spans(&case, &*codec, &mut worker.scratch)?,
            Codec::ArrayArray(_) | Codec::ArrayBytes(_) => {}
        }
    }
    Ok(())
}

/// Returns regions of a chunk: all, none, corners, and random regions.
pub(super) fn regions(shape: &[u64]) -> Vec<Region> {
    let mut noise = Noise(shape.iter().fold(7, |seed, n| seed * 31 + n));
    let mut regions = vec![Region::whole(shape)];
    for i in 0..REGIONS {
        let (start, len): (Vec<u64>, Vec<u64>) = shape
            .iter()
            .map(|n| {
                let start = if i == 0 { *n } else { noise.below(n + 1) };
                (start, if i == 1 { u64::from(start < *n) } else { noise.below(n - start + 1) })
            })
            .unzip();
        regions.extend(Region::new(start, len));
    }
    regions
}

/// How to fetch from stores that read ranges one by one, and from stores that prefer to read everything at once.
const FETCHING: [Fetching; 2] = [Fetching::new(0, 0, 0), Fetching::new(4 << 10, 1 << 20, 64)];

type Fetched = Option<(Elements, Option<Known>)>;

/// Reads a part as an engine does. Returns `None` if the codec wants the whole object.
fn fetched(
    case: &Case,
    chain: &Chain,
    part: &Region,
    fetching: Fetching,
    known: Option<&Known>,
    object: &[u8],
    worker: &mut Worker,
) -> Result<Fetched, Fault> {
    let chunk = &case.chunk;
    let Some(mut read) = chain.partial(&chunk.shape, part, fetching, known)? else { return Ok(None) };
    let get = |range: zarr_traits::ByteRange| -> Result<&[u8], Fault> {
        let outside = |e| Fault(format!("{part:?} of {chunk} wants bytes outside of the object: {e:#}"));
        let range = range.resolve(object.len() as u64).map_err(outside)?;
        Ok(&object[to_usize(range.start)..to_usize(range.end)])
    };
    while !read.wants().is_empty() {
        let bytes = read.wants().to_vec().into_iter().map(get).collect::<Result<Vec<_>, _>>()?;
        read.feed(&bytes, Some(object.len() as u64))?;
    }
    let mut pieces = Vec::new();
    read.pieces(&mut pieces)?;
    let covered: u64 = pieces.iter().map(|piece| piece.shape.iter().product::<u64>()).sum();
    ensure!(Some(covered) == part.len(), "{part:?} of {chunk}: the pieces have {covered} elements");
    let mut memory = chunk.room(part);
    let mut target = Destination::dense(&mut memory, part.shape(), chunk.size())?;
    for piece in &pieces {
        let place = target.reborrow().sub(&piece.at, &piece.shape)?;
        zarr_engine::run_piece(piece, get(piece.span.into())?, place, &mut worker.scratch)?;
    }
    Ok(Some((worker.elements(&memory, chunk.size())?, read.known())))
}

/// Checks spans of decoded bytes, with the right total size and with another.
fn spans(case: &Case, codec: &dyn BytesBytesCodec, scratch: &mut Scratch) -> Check {
    let decoded = case.chunk.elements.concat();
    let (size, mut encoded) = (decoded.len(), Vec::new());
    codec.encode(&decoded, &mut encoded, scratch)?;
    let mut whole = vec![0; size];
    let len = codec.decode_into(&encoded, &mut whole, scratch)?;
    ensure!(len == size, "{size} bytes are decoded to {len}");
    let mut noise = Noise(size as u64 + 1);
    for _ in 0..REGIONS {
        let start = noise.place(size + 1);
        let span = start..start + noise.place(size - start + 1);
        let wanted = &whole[span.clone()];
        if let Some(got) = span_of(codec, &encoded, size, span.clone(), scratch)? {
            ensure!(
                got == wanted,
                "bytes {span:?} of {size} are decoded to {}, not {}",
                Excerpt(&got),
                Excerpt(wanted)
            );
        }
        for other in [size + 1, size.saturating_sub(1).max(span.end)] {
            let got = span_of(codec, &encoded, other, span.clone(), scratch);
            ensure!(
                other == size || !matches!(got, Ok(Some(_))),
                "bytes {span:?} of {size} are returned although the caller expects {other} bytes"
            );
        }
    }
    Ok(())
}

fn span_of(
    codec: &dyn BytesBytesCodec,
    src: &[u8],
    size: usize,
    span: Range<usize>,
    scratch: &mut Scratch,
) -> CodecResult<Option<Vec<u8>>> {
    let mut memory = vec![0xa5; span.len()];
    Ok(codec.decode_span(src, size, span, &mut memory, scratch)?.then_some(memory))
}
