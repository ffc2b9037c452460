//! Invalid shards: the error names the affected inner chunk, and the others can still be read.

use crate::common::{self, counted, numbers, sharded_with};
use zarr_array::blocking::Array;
use zarr_array::meta::json::Value;
use zarr_array::meta::v3::Extension;
use zarr_array::{ArrayErrorKind, block_on};

/// A shard has 4 x 4 inner chunks of 16 x 16, each with a checksum.
const INNER: u64 = 4;
const LEN: u64 = 16 * 16 * 2 + 4;
const INDEX: u64 = 16 * 16;

/// The index is at the end, without a checksum, so that only the checks of its entries find errors.
fn array() -> (Array, Vec<u8>) {
    let bytes = || Extension::new("bytes").with("endian", "little");
    let codec = sharded_with(&[16, 16], "end", &[bytes(), Extension::new("crc32c")]).remove(0);
    let index: Value = [bytes().to_value()].into_iter().collect();
    let (array, _) = counted(&[128, 64], &[64, 64], &[codec.with("index_codecs", index)]);
    let mut fetching = array.fetching();
    fetching.whole = 1; // so that parts are read in two steps
    let array = array.with_fetching(fetching);
    array.write(.., &numbers(&[128, 64])).unwrap();
    let object =
        block_on(array.storage().get(&array.chunk_key(&[0, 0]).unwrap(), u64::MAX)).unwrap().unwrap();
    assert_eq!(object.len() as u64, 16 * LEN + INDEX);
    (array, object.to_vec())
}

fn put(array: &Array, object: Vec<u8>) {
    block_on(array.storage().put(&array.chunk_key(&[0, 0]).unwrap(), object)).unwrap();
}

/// Returns the object with another index entry for the inner chunk [1, 2].
fn with_entry(mut object: Vec<u8>, entry: [u64; 2]) -> Vec<u8> {
    let at = usize::try_from(16 * LEN + 16 * (INNER + 2)).unwrap();
    object[at..at + 8].copy_from_slice(&entry[0].to_le_bytes());
    object[at + 8..at + 16].copy_from_slice(&entry[1].to_le_bytes());
    object
}

#[test]
fn a_broken_entry_fails_its_inner_chunk_and_no_other() {
    const MAX: u64 = u64::MAX;
    let (array, object) = array();
    let place = (INNER + 2) * LEN;
    use ArrayErrorKind::{Checksum, Corrupt};
    for (entry, kind, why) in [
        ([MAX - 7, 16], Corrupt, "end beyond 2^64"),
        ([MAX - 3, 4], Corrupt, "end beyond 2^64"),
        ([0, 1 << 50], Corrupt, "overlap the index or lie outside"),
        ([16 * LEN, 16], Corrupt, "overlap the index"),
        ([16 * LEN + INDEX, LEN], Corrupt, "overlap the index or lie outside"),
        ([MAX, LEN], Corrupt, "both numbers are 2^64 - 1"),
        ([place, MAX], Corrupt, "both numbers are 2^64 - 1"),
        ([place, 2], Corrupt, "crc32c"),
        ([place, 0], Corrupt, "crc32c"),
        ([place, LEN - 2], Checksum, "crc32c"),
        ([0, 2 * LEN], Checksum, "crc32c"),
        ([place + 1, LEN], Checksum, "crc32c"),
    ] {
        put(&array, with_entry(object.clone(), entry));
        // in two steps, and whole
        for part in [[20..21, 40..41], [16..32, 0..64], [0..64, 0..64], [0..128, 0..64]] {
            let e = array.read::<u16>(part).unwrap_err();
            assert_eq!(e.kind(), kind, "{entry:?}: {e:#}");
            let text = format!("{e:#}");
            assert!(text.starts_with("array \"/a\", chunk [0, 0] (key \"a/c/0/0\"): "), "{text}");
            assert!(text.contains("inner chunk [1, 2]") && text.contains(why), "{entry:?}: {text}");
        }
        for part in [[0..16, 0..64], [32..64, 0..64], [16..32, 0..32], [64..128, 0..64]] {
            let (row, column) = (part[0].start, part[1].start);
            let values = array.read::<u16>(part).unwrap();
            assert_eq!(values.as_slice()[0], u16::try_from(row * 64 + column).unwrap(), "{entry:?}");
        }
    }
}

#[test]
fn writing_beside_a_broken_entry_changes_nothing_and_writing_over_it_heals_it() {
    let (array, object) = array();
    let key = array.chunk_key(&[0, 0]).unwrap();
    let broken = with_entry(object, [0, u64::MAX]);
    put(&array, broken.clone());
    let e = array.write([0..1, 0..1], &[1_u16]).unwrap_err();
    assert_eq!(e.kind(), ArrayErrorKind::Corrupt);
    assert!(format!("{e:#}").contains("inner chunk [1, 2]"), "{e:#}");
    assert_eq!(
        block_on(array.storage().get(&key, u64::MAX)).unwrap().unwrap(),
        broken,
        "the old value is kept"
    );
    assert!(array.write([16..17, 32..33], &[1_u16]).is_err(), "a part of the broken inner chunk");
    array.write([16..32, 32..48], &[3_u16; 256]).unwrap();
    assert_eq!(array.read::<u16>([20..21, 40..41]).unwrap().into_vec(), [3]);
    assert_eq!(array.read::<u16>([0..1, 0..2]).unwrap().into_vec(), [0, 1]);
}

#[test]
fn a_truncated_shard_is_corrupt_and_never_reads_as_fill() {
    let (array, object) = array();
    for len in [0, 1, 100, object.len() / 2, object.len() - 1] {
        put(&array, object[..len].to_vec());
        for part in [[20..21, 40..41], [0..64, 0..64]] {
            let e = array.read::<u16>(part).unwrap_err();
            assert!(
                matches!(e.kind(), ArrayErrorKind::Corrupt | ArrayErrorKind::Checksum),
                "{len} bytes: {:?} {e:#}",
                e.kind()
            );
        }
        assert!(array.write([0..1, 0..1], &[1_u16]).is_err(), "{len} bytes");
        assert_eq!(array.read::<u16>([64..65, 0..1]).unwrap().into_vec(), [64 * 64], "the other shard");
    }
}

#[test]
fn an_index_with_a_wrong_checksum_fails_the_shard() {
    let (array, _) = counted(&[64, 64], &[64, 64], &common::sharded(&[16, 16], "start"));
    array.write(.., &numbers(&[64, 64])).unwrap();
    let key = array.chunk_key(&[0, 0]).unwrap();
    let mut object = block_on(array.storage().get(&key, u64::MAX)).unwrap().unwrap().to_vec();
    object[3] ^= 1;
    block_on(array.storage().put(&key, object)).unwrap();
    for whole in [1, 1 << 20] {
        let mut fetching = array.fetching();
        fetching.whole = whole;
        let e = array.clone().with_fetching(fetching).read::<u16>([0..1, 0..1]).unwrap_err();
        assert_eq!(e.kind(), ArrayErrorKind::Checksum);
        assert!(format!("{e:#}").contains("in the index of the shard"), "{e:#}");
    }
}

/// An update gives each inner chunk its own bytes, and the size of the new object is limited.
#[test]
fn an_update_of_a_shard_full_of_shared_bytes_has_a_bounded_size() {
    let (array, object) = array();
    let mut shared = object.clone();
    for inner in 1..16 {
        let at = usize::try_from(16 * LEN + 16 * inner).unwrap();
        shared[at..at + 8].copy_from_slice(&0_u64.to_le_bytes());
    }
    put(&array, shared.clone());
    array.write([0..1, 0..1], &[9_u16]).unwrap();
    assert_eq!(
        array.read::<u16>([20..21, 40..41]).unwrap().into_vec(),
        [4 * 64 + 8],
        "each inner chunk has its own copy now"
    );
    let mut limits = array.limits().clone();
    limits.encoded_bytes = 8 * LEN;
    let small = zarr_array::OpenOptions::new().limits(limits);
    let small = Array::open_with(array.storage().clone(), "/a", &zarr_array::standard(), &small).unwrap();
    put(
        &array,
        shared[..usize::try_from(LEN).unwrap()]
            .iter()
            .chain(&shared[usize::try_from(16 * LEN).unwrap()..])
            .copied()
            .collect(),
    );
    let e = small.write([0..1, 0..1], &[9_u16]).unwrap_err();
    assert_eq!(e.kind(), ArrayErrorKind::LimitExceeded, "{e:#}");
}

/// Rule D7.8: unused bytes between inner chunks are legal. Writers that append leave them.
#[test]
fn a_shard_with_much_garbage_in_it_is_read_and_written() {
    let (array, object) = array();
    let data = usize::try_from(16 * LEN).unwrap();
    let garbage = [&object[..data], &vec![0xee; 2 << 20], &object[data..]].concat();
    put(&array, garbage);
    assert_eq!(array.read::<u16>(..).unwrap().into_vec(), numbers(&[128, 64]));
    array.write([0..1, 0..1], &[9_u16]).unwrap();
    let key = array.chunk_key(&[0, 0]).unwrap();
    let now = block_on(array.storage().get(&key, u64::MAX)).unwrap().unwrap();
    assert_eq!(now.len(), object.len(), "the garbage is gone");
}
