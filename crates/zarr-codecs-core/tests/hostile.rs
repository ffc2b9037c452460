//! Damaged bytes: an error, never a panic, never a write outside the destination. (Under AddressSanitizer these tests
//! also find reads outside the source: both are allocations of exactly their length.)
#![cfg(all(
    any(feature = "blosc", feature = "pure"),
    feature = "bytes",
    feature = "conditional",
    feature = "crc32c",
    feature = "gzip",
    any(feature = "pure", feature = "zstd")
))]

use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use zarr_traits::json::{Value, json};
use zarr_traits::{CodecErrorKind, CodecResult, Scratch, codec::BytesBytesCodec};

use crate::testing::{Noise, bytes_codec};

/// The time for damaged input per decoder; `ZARR_FUZZ_SECONDS` changes it.
fn fuzz_time() -> Duration {
    let seconds = std::env::var("ZARR_FUZZ_SECONDS").ok().and_then(|s| s.parse().ok());
    Duration::from_secs_f64(seconds.unwrap_or(0.05))
}

struct Victim {
    codec: Arc<dyn BytesBytesCodec>,
    elements: Vec<u8>,
    encoded: Vec<u8>,
    /// Whether a checksum detects every damage.
    checksum: bool,
}

fn victims(len: usize) -> Vec<Victim> {
    let blosc = |cname: &str, shuffle: &str, blocksize: usize| json!({"cname": cname, "clevel": 5, "shuffle": shuffle, "typesize": 2, "blocksize": blocksize});
    let mut codecs: Vec<(&str, Value, bool)> = vec![
        ("crc32c", json!({}), true),
        ("gzip", json!({"level": 0}), true),
        ("gzip", json!({"level": 6}), true),
        ("zstd", json!({"level": 1}), false),
        ("zstd", json!({"level": 9, "checksum": true}), true),
        (
            "conditional",
            json!({"codecs": [{"name": "zstd", "configuration": {"level": 1}}, "crc32c"]}),
            false,
        ),
    ];
    for cname in ["lz4", "lz4hc", "blosclz", "zstd", "snappy", "zlib"] {
        for shuffle in ["noshuffle", "shuffle", "bitshuffle"] {
            codecs.push(("blosc", blosc(cname, shuffle, 0), false));
            codecs.push(("blosc", blosc(cname, shuffle, 512), false));
        }
    }
    let elements = Noise(77).waves(len);
    codecs
        .into_iter()
        .flat_map(|(name, configuration, checksum)| {
            #[allow(unused_mut, reason = "without a feature")]
            let mut codecs = vec![bytes_codec(name, &configuration)];
            #[cfg(feature = "pure")]
            if ["blosc", "gzip", "zstd"].contains(&name) {
                let codecs_in_rust = zarr_codecs_core::pure::CODECS;
                codecs.push(crate::testing::bytes_codec_of(codecs_in_rust, name, &configuration));
            }
            codecs.into_iter().map(move |codec| (codec, checksum))
        })
        .map(|(codec, checksum)| {
            let mut encoded = Vec::new();
            codec.encode(&elements, &mut encoded, &mut Scratch::new()).unwrap();
            Victim { codec, elements: elements.clone(), encoded, checksum }
        })
        .collect()
}

impl Victim {
    fn decode(&self, src: &[u8], scratch: &mut Scratch) -> CodecResult<Vec<u8>> {
        let src = src.to_vec().into_boxed_slice();
        let mut dst = vec![0x55; self.elements.len()].into_boxed_slice();
        let len = self.codec.decode_into(&src, &mut dst, scratch)?;
        assert!(len <= dst.len());
        Ok(dst[..len].to_vec())
    }

    fn decode_span(
        &self,
        src: &[u8],
        span: Range<usize>,
        scratch: &mut Scratch,
    ) -> CodecResult<Option<Vec<u8>>> {
        let src = src.to_vec().into_boxed_slice();
        let mut dst = vec![0x55; span.len()].into_boxed_slice();
        let done = self.codec.decode_span(&src, self.elements.len(), span, &mut dst, scratch)?;
        Ok(done.then(|| dst.to_vec()))
    }
}

#[test]
fn every_truncation_is_an_error() {
    let mut scratch = Scratch::new();
    for victim in victims(4000) {
        assert_eq!(victim.decode(&victim.encoded, &mut scratch).unwrap(), victim.elements);
        for len in 0..victim.encoded.len() {
            let e = victim.decode(&victim.encoded[..len], &mut scratch).unwrap_err();
            assert!(
                matches!(e.kind(), CodecErrorKind::Corrupt | CodecErrorKind::Checksum),
                "{:?}: {e:#}",
                victim.codec
            );
        }
        assert_eq!(
            victim.decode(&victim.encoded, &mut scratch).unwrap(),
            victim.elements,
            "errors leave no state"
        );
    }
}

#[test]
fn no_flipped_bit_returns_wrong_elements_with_a_checksum() {
    let mut scratch = Scratch::new();
    for victim in victims(600) {
        for bit in 0..victim.encoded.len() * 8 {
            let mut damaged = victim.encoded.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            if let Ok(decoded) = victim.decode(&damaged, &mut scratch) {
                // Harmless bits: time, hints and system of a gzip header; an unused bit in the descriptor of a zstd
                // frame.
                assert!(!victim.checksum || decoded == victim.elements, "{:?} bit {bit}", victim.codec);
            }
            if let Ok(Some(decoded)) = victim.decode_span(&damaged, 100..200, &mut scratch) {
                assert!(
                    !victim.checksum || decoded == victim.elements[100..200],
                    "{:?} bit {bit}",
                    victim.codec
                );
            }
        }
        assert_eq!(
            victim.decode(&victim.encoded, &mut scratch).unwrap(),
            victim.elements,
            "errors leave no state"
        );
    }
}

/// Damages some bytes, anywhere or in the first 32, where headers are.
fn mutate(bytes: &mut Vec<u8>, noise: &mut Noise) {
    const WORDS: [u32; 10] =
        [0, 1, 0x7f, 0xff, 0xffff, 0x10_0000, 0x7fff_ffef, 0x7fff_ffff, 0x8000_0000, u32::MAX];
    for _ in 0..=noise.below(3) {
        if bytes.is_empty() {
            return;
        }
        let at = match noise.below(2) {
            0 => noise.below(bytes.len()),
            _ => noise.below(bytes.len().min(32)),
        };
        match noise.below(6) {
            0 => bytes[at] ^= 1 << noise.below(8),
            1 => bytes[at] = noise.bytes(1)[0],
            2 => bytes.truncate(at),
            3 => bytes.insert(at, noise.bytes(1)[0]),
            4 => {
                let word = WORDS[noise.below(WORDS.len())].to_le_bytes();
                bytes.iter_mut().skip(at / 4 * 4).zip(word).for_each(|(byte, new)| *byte = new);
            }
            _ => {
                let from = noise.below(bytes.len());
                let len = noise.below(16).min(bytes.len() - from.max(at));
                bytes.copy_within(from..from + len, at);
            }
        }
    }
}

fn find(bytes: &[u8], magic: [u8; 4]) -> Option<usize> {
    bytes.windows(4).take(100).position(|window| window == magic)
}

#[test]
fn random_damage_never_panics() {
    let (mut noise, mut scratch, mut runs) = (Noise(2026), Scratch::new(), 0_u64);
    for len in [3000, 300_000] {
        let victims = victims(len);
        for victim in &victims {
            let end =
                Instant::now() + fuzz_time().mul_f64(if victim.encoded[..2] == [2, 1] { 0.25 } else { 1. });
            while Instant::now() < end {
                let mut damaged = victim.encoded.clone();
                mutate(&mut damaged, &mut noise);
                if victim.encoded[..2] == [2, 1] && damaged.len() >= 16 && noise.below(4) > 0 {
                    // A blosc frame with a wrong size is refused at once, so correct the size to get further.
                    let size = u32::try_from(damaged.len()).unwrap().to_le_bytes();
                    damaged[12..16].copy_from_slice(&size);
                }
                if let (0, Some(at)) = (noise.below(8), find(&damaged, [0x28, 0xb5, 0x2f, 0xfd])) {
                    // the magic number of a format before zstd 0.8, which the library may know
                    damaged[at] = [0x1e, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27][noise.below(7)];
                }
                let decoded = victim.decode(&damaged, &mut scratch);
                assert!(
                    !victim.checksum || decoded.is_err() || decoded.unwrap().len() <= victim.elements.len()
                );
                let start = noise.below(len / 4);
                let span = start..start + noise.below(len / 4);
                let _ = victim.decode_span(&damaged, span, &mut scratch);
                runs += 1;
            }
            assert_eq!(victim.decode(&victim.encoded, &mut scratch).unwrap(), victim.elements);
        }
    }
    println!("{runs} damaged inputs");
}
