//! Checks of whole chunks: round trips, from and to memory of any layout.

use zarr_engine::Chain;
use zarr_traits::strided::{Destination, Source, StridedError, Swap};
use zarr_traits::{
    FillValue, Region,
    codec::{Codec, Effect, Repr},
};

use super::chunk::{Case, Elements, Worker};
use super::subject::Bench;
use crate::report::{Check, Excerpt, Fault, ensure};

/// Rule 1.
pub(super) fn round_trip(bench: &Bench) -> Check {
    let cases = bench.cases();
    ensure!(!cases.is_empty(), "no tried type and shape is accepted");
    let mut worker = Worker::new();
    for case in cases {
        worker.at(&case.chunk);
        for chain in &case.chains {
            let first = there_and_back(&case, chain, &case.chunk.elements, &mut worker)?;
            let (expected, got) = match bench.subject.lossy {
                true => (&first, &there_and_back(&case, chain, &first, &mut worker)?),
                false => (&case.chunk.elements, &first),
            };
            ensure!(got == expected, "{}: {}", case.chunk, difference(got, expected));
        }
    }
    Ok(())
}

fn there_and_back(
    case: &Case,
    chain: &Chain,
    elements: &Elements,
    worker: &mut Worker,
) -> Result<Elements, Fault> {
    let encoded = case.encode_elements(chain, elements, worker)?;
    let decoded = case.decode_whole(chain, &encoded, worker);
    decoded.map_err(|e| Fault(format!("{} cannot be decoded from its encoded form: {e:#}", case.chunk)))
}

/// Describes the first difference of two chunks.
pub(super) fn difference(got: &Elements, expected: &Elements) -> String {
    let at = got.iter().zip(expected).position(|(a, b)| a != b);
    match at {
        Some(at) => format!("element {at} is {}, not {}", Excerpt(&got[at]), Excerpt(&expected[at])),
        None => format!("{} elements, not {}", got.len(), expected.len()),
    }
}

/// Rule 6.
pub(super) fn appends(bench: &Bench) -> Check {
    const BEFORE: [u8; 3] = [0xd0, 0xd1, 0xd2];
    let mut worker = Worker::new();
    for (case, _) in bench.small_cases()? {
        let chunk = &case.chunk;
        worker.at(chunk);
        for chain in &case.chains {
            let memory = worker.memory(&chunk.elements)?;
            let mut out = BEFORE.to_vec();
            let source = Source::dense(&memory, &chunk.shape, chunk.size())?;
            chain.encode(source, &mut out, &mut worker.scratch)?;
            ensure!(out.starts_with(&BEFORE), "{chunk}: bytes in the output were changed: {}", Excerpt(&out));
            let alone = case.encode(chain, &mut worker)?;
            let expected = case.decode_whole(chain, &alone, &mut worker)?;
            let decoded = case.decode_whole(chain, &out[BEFORE.len()..], &mut worker);
            ensure!(
                decoded.is_ok_and(|got| got == expected),
                "{chunk}: appended to {} bytes it is encoded to other elements: {}",
                BEFORE.len(),
                Excerpt(&out)
            );
        }
    }
    Ok(())
}

/// Rule 7: dimensions in another order, with gaps between elements.
pub(super) fn views(bench: &Bench) -> Check {
    let mut worker = Worker::new();
    for case in bench.cases() {
        let (chunk, size) = (&case.chunk, case.chunk.size());
        let layout = Spread::of(&chunk.shape, size);
        worker.at(chunk);
        for chain in &case.chains {
            let dense = case.encode(chain, &mut worker)?;
            let expected = case.decode_whole(chain, &dense, &mut worker)?;

            let mut memory = vec![0xa5; layout.bytes];
            let elements = worker.memory(&chunk.elements)?;
            layout.scatter(&chunk.shape, size, &elements, &mut memory)?;
            let source = Source::strided(&memory, layout.offset, &chunk.shape, &layout.strides, size);
            let mut encoded = Vec::new();
            let done = source.map_err(Into::into);
            let done = done.and_then(|source| chain.encode(source, &mut encoded, &mut worker.scratch));
            ensure!(done.is_ok(), "{chunk} with strides {:?} cannot be encoded: {done:?}", layout.strides);
            let got = case.decode_whole(chain, &encoded, &mut worker)?;
            ensure!(
                got == expected,
                "{chunk} from strides {:?}: {}",
                layout.strides,
                difference(&got, &expected)
            );

            let mut memory = vec![0xa5; layout.bytes];
            let target =
                Destination::strided(&mut memory, layout.offset, &chunk.shape, &layout.strides, size);
            let whole = Region::whole(&chunk.shape);
            let done = target.map_err(Into::into).and_then(|target| {
                chain.decode_into(&dense, &chunk.shape, &whole, target, &mut worker.scratch)
            });
            ensure!(done.is_ok(), "{chunk} with strides {:?} cannot be decoded: {done:?}", layout.strides);
            let gathered = layout.gather(&chunk.shape, size, &memory)?;
            let got = worker.elements(&gathered, size)?;
            ensure!(
                got == expected,
                "{chunk} to strides {:?}: {}",
                layout.strides,
                difference(&got, &expected)
            );
        }
    }
    Ok(())
}

/// A layout where the first dimension varies fastest, the last dimension goes backwards, and a gap follows each
/// element.
struct Spread {
    offset: usize,
    strides: Vec<i64>,
    bytes: usize,
}

impl Spread {
    fn of(shape: &[u64], size: usize) -> Self {
        let len = |n: u64| usize::try_from(n).unwrap_or(0);
        let mut step = size + 3;
        let mut strides = Vec::new();
        for n in shape {
            strides.push(i64::try_from(step).unwrap_or(0));
            step *= len(*n).max(1);
        }
        let mut offset = 0;
        if let (Some(last), Some(n)) = (strides.last_mut(), shape.last()) {
            offset = usize::try_from(*last).unwrap_or(0) * len(*n).saturating_sub(1);
            *last = -*last;
        }
        Self { offset, strides, bytes: step }
    }

    fn scatter(
        &self,
        shape: &[u64],
        size: usize,
        elements: &[u8],
        memory: &mut [u8],
    ) -> Result<(), StridedError> {
        let dense = Source::dense(elements, shape, size)?;
        Destination::strided(memory, self.offset, shape, &self.strides, size)?.put(dense, Swap::NONE)
    }

    fn gather(&self, shape: &[u64], size: usize, memory: &[u8]) -> Result<Vec<u8>, StridedError> {
        let mut elements = Vec::new();
        let source = Source::strided(memory, self.offset, shape, &self.strides, size)?;
        source.append_to(&mut elements, Swap::NONE)?;
        Ok(elements)
    }
}

/// Rule 9.
pub(super) fn fill(bench: &Bench) -> Check {
    for case in bench.cases() {
        let repr = &case.chunk.repr;
        let Ok((Codec::ArrayArray(codec), _)) = bench.build(&bench.subject.spec, repr) else { continue };
        let Repr { data_type, fill, rank, .. } = codec.encoded_repr()?;
        let one = vec![1; repr.rank];
        let Ok(shape) = codec.encoded_shape(&one) else { continue };
        ensure!(
            shape.len() == rank,
            "it declares {rank} dimensions, but encodes shape {:?} to shape {shape:?}",
            one
        );
        if repr.data_type.size().is_none() {
            continue;
        }
        let mut encoded = repr.fill.bytes().to_vec();
        if !matches!(codec.effect(), Effect::Reorder(_)) {
            encoded = vec![0; data_type.memory_size()];
            let source = Source::dense(repr.fill.bytes(), &one, repr.data_type.memory_size());
            let target = Destination::dense(&mut encoded, &shape, data_type.memory_size());
            let (Ok(source), Ok(target)) = (source, target) else { continue };
            codec.encode(source, target, &mut Worker::new().at(&case.chunk).scratch)?;
        }
        ensure!(
            FillValue::from_bytes(&*encoded) == fill,
            "the fill value {:?} of {} is encoded to {}, but the codec declares {fill:?}",
            repr.fill,
            repr.data_type,
            Excerpt(&encoded)
        );
    }
    Ok(())
}

/// Rule 14.
pub(super) fn answers(bench: &Bench) -> Check {
    for answer in &bench.subject.answers {
        let case = bench.answered(answer)?;
        let mut worker = Worker::new();
        let chain = &case.chains[0];
        let decoded = case.decode_whole(chain, &answer.encoded, worker.at(&case.chunk));
        let got =
            decoded.map_err(|e| Fault(format!("{} cannot be decoded: {e:#}", Excerpt(&answer.encoded))))?;
        let elements = &case.chunk.elements;
        ensure!(got == *elements, "{}: {}", Excerpt(&answer.encoded), difference(&got, elements));
        if answer.both_ways {
            let encoded = case.encode(chain, &mut worker)?;
            ensure!(
                encoded == answer.encoded,
                "{} is encoded to {}, not {}",
                case.chunk,
                Excerpt(&encoded),
                Excerpt(&answer.encoded)
            );
        }
    }
    Ok(())
}
