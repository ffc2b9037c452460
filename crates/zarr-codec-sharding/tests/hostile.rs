//! Damaged shards: reads fail or return correct elements of undamaged inner chunks, and never panic.

use zarr_engine::Chain;
use zarr_traits::json::{Value, json};
use zarr_traits::{CodecErrorKind, Region};

use crate::common::*;

const SHAPE: [u64; 2] = [4, 6];
const CHUNK: [u64; 2] = [2, 2];
const CHUNKS: usize = 6;

struct Victim {
    chain: Chain,
    elements: Vec<u8>,
    object: Vec<u8>,
    /// The index in the object, without its checksum.
    index: std::ops::Range<usize>,
}

fn victim(inner: &Value, index_codecs: &Value, location: &str) -> Victim {
    let codecs = json!([sharding(&CHUNK, inner, index_codecs, location)]);
    let chain = chain(&codecs, "int16", &[0, 0], 2);
    // all inner chunks except the third are stored
    let element = |i: u16| if i < 12 && i % 6 / 2 == 2 { 0 } else { i + 1 };
    let elements: Vec<u8> = (0..24).map(element).flat_map(u16::to_ne_bytes).collect();
    let object = encode(&chain, &SHAPE, &elements);
    let len = 16 * CHUNKS;
    let tail = index_codecs.elements().unwrap().count() * 4 - 4;
    let start = if location == "start" { 0 } else { object.len() - len - tail };
    Victim { chain, elements, object, index: start..start + len }
}

fn victims(index_codecs: &Value) -> Vec<Victim> {
    let zstd = json!([bytes("little"), {"name": "zstd", "configuration": {"level": 1, "checksum": true}}]);
    let nested = json!([sharding(&[1, 2], &json!([bytes("big"), "crc32c"]), &checked(), "start")]);
    let inners = [json!([bytes("little"), "crc32c"]), zstd, nested];
    let both = |inner| ["end", "start"].map(|location| victim(inner, index_codecs, location));
    inners.iter().flat_map(both).collect()
}

/// Returns inner chunk `number` as a part of the shard, and its elements.
fn part(victim: &Victim, number: usize) -> (Region, Vec<u8>) {
    let at = [number as u64 / 3 * 2, number as u64 % 3 * 2];
    let rows = (at[0]..at[0] + 2).flat_map(|row| {
        let from = usize::try_from(row * 6 + at[1]).unwrap() * 2;
        victim.elements[from..from + 4].to_vec()
    });
    (Region::new(at, CHUNK).unwrap(), rows.collect())
}

/// Reads everything with every method. Each read must fail or be right.
fn honest(victim: &Victim, object: &[u8]) {
    if let Ok(whole) = decode(&victim.chain, &SHAPE, object) {
        assert_eq!(whole, victim.elements);
    }
    for number in 0..CHUNKS {
        let (part, expected) = part(victim, number);
        if let Ok(got) = decode_part(&victim.chain, &SHAPE, &part, object) {
            assert_eq!(got, expected);
        }
        if let Ok(got) = partial(&victim.chain, &SHAPE, &part, object) {
            assert_eq!(got.unwrap().0, expected);
        }
    }
}

#[test]
fn every_truncation_is_an_error() {
    for victim in victims(&checked()) {
        honest(&victim, &victim.object);
        for len in 0..victim.object.len() {
            let object = &victim.object[..len];
            let e = decode(&victim.chain, &SHAPE, object).unwrap_err();
            assert!(matches!(e.kind(), CodecErrorKind::Corrupt | CodecErrorKind::Checksum), "{e:#}");
            honest(&victim, object);
        }
    }
}

/// Every third bit, which is any bit of a byte.
#[test]
fn no_flipped_bit_returns_wrong_elements_with_checksums() {
    flipped(3);
}

#[test]
#[ignore = "large: cargo xtask full"]
fn large_no_flipped_bit_returns_wrong_elements_with_checksums() {
    flipped(1);
}

/// Flips every `step`-th bit.
fn flipped(step: usize) {
    for victim in victims(&checked()) {
        for bit in (0..victim.object.len() * 8).step_by(step) {
            let mut object = victim.object.clone();
            object[bit / 8] ^= 1 << (bit % 8);
            honest(&victim, &object);
        }
    }
}

#[test]
fn a_flipped_bit_in_a_valid_index_affects_one_inner_chunk() {
    // An index without a checksum behaves like one with a correct checksum.
    for victim in victims(&json!([bytes("little")])) {
        for bit in victim.index.start * 8..victim.index.end * 8 {
            let mut object = victim.object.clone();
            object[bit / 8] ^= 1 << (bit % 8);
            let harmed = (bit / 8 - victim.index.start) / 16;
            for number in 0..CHUNKS {
                let (part, expected) = part(&victim, number);
                let read = decode_part(&victim.chain, &SHAPE, &part, &object);
                let fetched = partial(&victim.chain, &SHAPE, &part, &object);
                if number == harmed {
                    // The entry selects other bytes, which do not match their checksum. Or it has another length, which
                    // does not matter to a nested shard with its index at the start.
                    assert!(read.is_err() || read.is_ok_and(|got| got == expected), "bit {bit}");
                    assert!(fetched.is_err() || fetched.is_ok_and(|got| got.unwrap().0 == expected));
                } else {
                    assert_eq!(read.unwrap(), expected);
                    assert_eq!(fetched.unwrap().unwrap().0, expected);
                }
            }
        }
    }
}

#[test]
fn any_numbers_in_an_index_never_panic() {
    let mut noise = Noise(7);
    for victim in victims(&json!([bytes("little")])) {
        let size = victim.object.len() as u64;
        let numbers =
            [0, 1, 2, size - 1, size, size + 1, 96, 1 << 32, 1 << 50, 1 << 63, u64::MAX - 1, u64::MAX];
        for _ in 0..500 {
            let mut object = victim.object.clone();
            for _ in 0..=noise.below(4) {
                let at = victim.index.start + noise.below(2 * CHUNKS) * 8;
                let number =
                    numbers[noise.below(numbers.len())].wrapping_add(noise.next() % 3).wrapping_sub(1);
                object[at..at + 8].copy_from_slice(&number.to_le_bytes());
            }
            object.truncate(object.len() - noise.below(2) * noise.below(8));
            let _ = decode(&victim.chain, &SHAPE, &object);
            for number in 0..CHUNKS {
                let (part, _) = part(&victim, number);
                let _ = decode_part(&victim.chain, &SHAPE, &part, &object);
                let _ = partial(&victim.chain, &SHAPE, &part, &object);
            }
        }
    }
}
