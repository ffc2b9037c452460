//! Damaged bytes, as a store may return them: cut, lengthened, flipped, invented.

use std::panic::{AssertUnwindSafe, catch_unwind};

use zarr_traits::{
    Scratch,
    codec::{BytesBytesCodec, Codec},
};

use super::chunk::{Case, Elements, Noise, Worker};
use super::subject::Bench;
use super::whole::difference;
use crate::report::{Check, Excerpt, Fault, ensure, panic_text};

/// The most places that are tried in an encoded form.
const MOST: usize = 150;

/// A way to damage bytes.
#[derive(Debug, Clone, Copy)]
enum Damage {
    Cut(usize),
    Lengthened(u8),
    Flipped(usize),
    MadeUp(u64),
}

impl Damage {
    /// Returns all ways to damage `len` bytes.
    fn all(len: usize) -> Vec<Self> {
        let few = |n: usize| (0..n).step_by(n.div_ceil(MOST).max(1));
        let cut = few(len).map(Self::Cut);
        let more = [1, 0x5a, 0xff].map(Self::Lengthened);
        let flipped = few(len * 8).map(Self::Flipped);
        cut.chain(more).chain(flipped).chain((1..=40).map(Self::MadeUp)).collect()
    }

    fn of(self, bytes: &[u8]) -> Vec<u8> {
        let mut damaged = bytes.to_vec();
        match self {
            Self::Cut(len) => damaged.truncate(len),
            Self::Lengthened(byte) => damaged.push(byte),
            Self::Flipped(bit) => damaged[bit / 8] ^= 1 << (bit % 8),
            Self::MadeUp(seed) => {
                let mut noise = Noise(seed);
                // half of them begin like the real bytes, so that they pass the check of a header
                damaged.truncate(if seed.is_multiple_of(2) { noise.place(bytes.len() + 1) } else { 0 });
                let more = noise.place(2 * bytes.len() + 9);
                damaged.extend((0..more).map(|_| noise.next().to_le_bytes()[7]));
            }
        }
        damaged
    }
}

/// Decodes damaged bytes. A panic is a fault that names the damage.
fn decode(
    case: &Case,
    damage: Damage,
    bytes: &[u8],
    decode: impl FnOnce(&[u8]) -> Result<Option<Elements>, Fault>,
) -> Result<Option<Elements>, Fault> {
    let damaged = damage.of(bytes);
    catch_unwind(AssertUnwindSafe(|| decode(&damaged))).unwrap_or_else(|panic| {
        let text = panic_text(&*panic);
        Err(Fault(format!("{damage:?} of {}, {}: panicked: {text}", case.chunk, Excerpt(bytes))))
    })
}

/// Rule 11.
pub(super) fn survived(bench: &Bench) -> Check {
    let mut worker = Worker::new();
    for (case, encoded) in bench.small_cases()? {
        let chain = &case.chains[0];
        worker.at(&case.chunk);
        let right = case.decode_whole(chain, &encoded, &mut worker)?;
        for damage in Damage::all(encoded.len()) {
            let got =
                decode(&case, damage, &encoded, |src| Ok(case.decode_whole(chain, src, &mut worker).ok()))?;
            let Some(got) = got else { continue };
            let passes = match damage {
                Damage::Cut(_) => got == right,
                Damage::Lengthened(_) => false,
                _ => !bench.subject.checksum || got == right,
            };
            ensure!(passes, "{damage:?} of {}, {}: {}", case.chunk, Excerpt(&encoded), {
                if got == right { "accepted unchanged".to_owned() } else { difference(&got, &right) }
            });
        }
        if let (Codec::BytesBytes(codec), _) = bench.build(&bench.subject.spec, &case.chunk.repr)? {
            alone(&case, &*codec, &mut worker.scratch)?;
        }
    }
    Ok(())
}

/// Checks a codec alone, and that it does not write after the destination.
fn alone(case: &Case, codec: &dyn BytesBytesCodec, scratch: &mut Scratch) -> Check {
    const BEHIND: [u8; 16] = [0x5a; 16];
    let bytes = case.chunk.elements.concat();
    let mut encoded = Vec::new();
    codec.encode(&bytes, &mut encoded, scratch)?;
    for damage in Damage::all(encoded.len()) {
        decode(case, damage, &encoded, |src| {
            let mut memory = [&vec![0xa5; bytes.len()][..], &BEHIND].concat();
            let (dst, behind) = memory.split_at_mut(bytes.len());
            let len = codec.decode_into(src, dst, scratch).unwrap_or(0);
            ensure!(len <= dst.len(), "{damage:?}: the codec reports {len} bytes in room for {}", dst.len());
            ensure!(behind == BEHIND, "{damage:?}: bytes after the destination were written");
            let span = bytes.len() / 4..bytes.len() / 2;
            let (dst, behind) = memory.split_at_mut(span.len());
            behind.fill(0x5a);
            let _ = codec.decode_span(src, bytes.len(), span, dst, scratch);
            let kept = behind.iter().all(|byte| *byte == 0x5a);
            ensure!(kept, "{damage:?}: bytes after the destination of a span were written");
            Ok(None)
        })?;
    }
    Ok(())
}

/// Rule 12.
pub(super) fn memory(bench: &Bench) -> Check {
    let Some(largest) = bench.subject.largest else { return Ok(()) };
    let mut worker = Worker::new();
    for (case, encoded) in bench.small_cases()? {
        worker.at(&case.chunk);
        for damage in Damage::all(encoded.len()) {
            let damaged = damage.of(&encoded);
            let _ = largest();
            let _ = case.decode_whole(&case.chains[0], &damaged, &mut worker);
            let (taken, fair) = (largest(), (1 << 20) + 64 * (damaged.len() + encoded.len()));
            ensure!(
                taken <= fair,
                "{damage:?} of {}, {}: an allocation has {taken} bytes",
                case.chunk,
                Excerpt(&encoded)
            );
        }
    }
    Ok(())
}

/// Rule 13.
pub(super) fn forgotten(bench: &Bench) -> Check {
    let worker = &mut Worker::new();
    for (case, encoded) in bench.small_cases()? {
        let chain = &case.chains[0];
        let right = case.decode_whole(chain, &encoded, worker.at(&case.chunk))?;
        for damage in Damage::all(encoded.len()).into_iter().step_by(7) {
            // rule 11 checks these results
            let damaged = damage.of(&encoded);
            let _ = catch_unwind(AssertUnwindSafe(|| case.decode_whole(chain, &damaged, worker).is_ok()));
            let got = case.decode_whole(chain, &encoded, worker);
            let same = got.as_ref().is_ok_and(|got| *got == right);
            ensure!(same, "after {damage:?} {} can no longer be decoded: {:?}", case.chunk, got.err());
        }
        let again = case.encode(chain, worker)?;
        let got = case.decode_whole(chain, &again, worker)?;
        ensure!(
            got == right,
            "after damage {} is encoded differently: {}",
            case.chunk,
            difference(&got, &right)
        );
    }
    Ok(())
}
