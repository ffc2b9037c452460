//! Compares elements of variable length with a plain model: chunks and shards, parts and steps, and fill values.

use std::time::Duration;

use crate::common::Odd;
use proptest::prelude::*;
use proptest::sample::Index;
use zarr_array::blocking::Array;
use zarr_array::meta::v3::Extension;
use zarr_array::{AnyArray, ArrayErrorKind, ArrayMeta, Axis, DataType, FillValue, Limits, Storage, standard};
use zarr_conformance::instruments::Counting;
use zarr_store::MemoryStore;

const SHAPE: [u64; 2] = [7, 9];

fn create(storage: impl Into<Storage>, data_type: DataType, fill: &str, chain: usize) -> Array {
    let zstd = Extension::new("zstd").with("level", 1).with("checksum", false);
    let order = || [1_u64, 0].into_iter().collect::<zarr_array::meta::json::Value>();
    let transpose = Extension::new("transpose").with("order", order());
    let builder = ArrayMeta::builder(SHAPE, data_type).fill(FillValue::from_bytes(fill.as_bytes()));
    let builder = match chain % 4 {
        0 => builder.chunks([3, 4]),
        1 => builder.chunks([7, 9]).codecs([transpose, zstd]),
        2 => builder.chunks([2, 2]).shards([4, 6]),
        _ => builder.chunks([1, 3]).shards([8, 3]).codecs([transpose, zstd]),
    };
    Array::create(storage, "/a", builder.build().unwrap(), &standard()).unwrap()
}

#[derive(Debug, Clone)]
struct Step {
    axes: Vec<(Index, Index, u64)>,
    /// The words to write, or `None` for a read.
    words: Option<Vec<String>>,
}

fn step() -> impl Strategy<Value = Step> {
    let axis = (any::<Index>(), any::<Index>(), prop_oneof![3 => Just(1_u64), 1 => 2_u64..4]);
    let word = prop_oneof![2 => Just("fill".to_owned()), 1 => Just(String::new()), 5 => "[a-zé漢]{1,9}"];
    let words = proptest::collection::vec(word, 1..9);
    (proptest::collection::vec(axis, 2), proptest::option::of(words))
        .prop_map(|(axes, words)| Step { axes, words })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn words_are_read_as_they_were_written(
        chain in 0_usize..4,
        remote in any::<bool>(),
        fill in prop_oneof![Just(""), Just("fill")],
        steps in proptest::collection::vec(step(), 1..8),
    ) {
        let storage = Storage::from(MemoryStore::new());
        let storage = if remote { Odd::slow(&storage, Duration::ZERO, 3) } else { storage };
        let array = create(storage, DataType::String, fill, chain);
        let mut model = vec![fill.to_owned(); 63];
        for Step { axes, words } in steps {
            let mut picked = [Vec::new(), Vec::new()];
            let mut selection = Vec::new();
            for (dim, (a, b, step)) in axes.iter().enumerate() {
                let length = SHAPE[dim];
                let (a, b) = (a.index(usize::try_from(length).unwrap()) as u64, b.index(usize::try_from(length + 1).unwrap()) as u64);
                let (start, end) = (a.min(b), a.max(b));
                selection.push(Axis::step(start..end, *step));
                picked[dim] = (start..end).step_by(usize::try_from(*step).unwrap()).collect();
            }
            let places: Vec<usize> = picked[0].iter().flat_map(|y| picked[1].iter().map(move |x| usize::try_from(y * 9 + x).unwrap())).collect();
            match words {
                Some(words) => {
                    let values: Vec<String> = words.into_iter().cycle().take(places.len()).collect();
                    array.write(selection, &values[..]).unwrap();
                    places.iter().zip(values).for_each(|(at, value)| model[*at] = value);
                }
                None => {
                    let expected: Vec<String> = places.iter().map(|at| model[*at].clone()).collect();
                    prop_assert_eq!(array.read::<String>(selection).unwrap().into_vec(), expected);
                }
            }
        }
        prop_assert_eq!(array.read::<String>(..).unwrap().into_vec(), model);
    }
}

#[test]
fn chunks_of_nothing_but_the_fill_value_are_not_stored() {
    for chain in 0..4 {
        let (storage, counting) = Counting::over(&Storage::from(MemoryStore::new()));
        let array = create(storage, DataType::String, "fill", chain);
        let words = vec!["fill".to_owned(); 63];
        let before = counting.counts();
        array.write(.., &words[..]).unwrap();
        assert_eq!((counting.counts() - before).puts, 0, "rule L92, chain {chain}");
        // An empty string has no bytes, but is not the fill value.
        array.write([0..1, 0..1], &[String::new()][..]).unwrap();
        assert_eq!(array.read::<String>([0..1, 0..2]).unwrap().as_slice(), ["", "fill"], "chain {chain}");
    }
}

#[test]
fn contents_of_variable_length_are_read_as_bytes() {
    let array = create(MemoryStore::new(), DataType::Bytes, "", 2);
    array.write([0..1, 0..2], &[vec![0, 255], vec![]][..]).unwrap();
    assert_eq!(array.read::<Vec<u8>>([0..1, 0..2]).unwrap().as_slice(), [vec![0, 255], vec![]]);
    assert!(matches!(array.read_any([0..1, 0..2]).unwrap(), AnyArray::Bytes(_)));
    for e in [array.read_bytes(..).unwrap_err(), array.write_bytes([0..1, 0..1], vec![0; 16]).unwrap_err()] {
        assert_eq!(e.kind(), ArrayErrorKind::Unsupported, "slots are not visible: {e:#}");
    }
    assert!(array.read::<String>(..).is_err() && array.read::<[u8; 16]>(..).is_err());
}

#[test]
fn a_result_has_a_limit() {
    let array = create(MemoryStore::new(), DataType::String, "", 0);
    array.write([0..1, 0..4], &["x".repeat(1000), String::new(), String::new(), String::new()][..]).unwrap();
    let mut limits = Limits::default();
    limits.result_bytes = 1900;
    let array = array.with_limits(limits);
    assert_eq!(array.read::<String>([0..1, 0..4]).unwrap().as_slice()[0].len(), 1000);
    let again = array.write([1..2, 0..1], &["y".repeat(1000)][..]);
    again.unwrap();
    let e = array.read::<String>([0..2, 0..4]).unwrap_err();
    assert_eq!(e.kind(), ArrayErrorKind::LimitExceeded, "{e:#}");
}

#[test]
fn l92_elements_that_share_the_bytes_of_the_fill_value_but_not_its_length_are_stored() {
    for chain in 0..4 {
        // If the fill value is "ab", the neighbours "" and "abab" have the same bytes as two fill values.
        for (fill, words) in [("ab", ["", "abab"]), ("ab", ["abab", ""]), ("a", ["", "aa"]), ("", ["", "ab"])]
        {
            let array = create(MemoryStore::new(), DataType::String, fill, chain);
            let words = words.map(str::to_owned);
            let all: Vec<_> = words.iter().cycle().take(63).cloned().collect();
            array.write(.., &all[..]).unwrap();
            assert_eq!(array.read::<String>(..).unwrap().into_vec(), all, "{fill:?} chain {chain}");
            // and over an existing object
            let other: Vec<_> = words.iter().rev().cycle().take(20).cloned().collect();
            array.write([0..4, 2..7], &other[..]).unwrap();
            assert_eq!(
                array.read::<String>([0..4, 2..7]).unwrap().into_vec(),
                other,
                "{fill:?} chain {chain}"
            );
        }
    }
}

#[test]
fn a_fill_value_is_counted_as_often_as_it_is_read() {
    let array = create(MemoryStore::new(), DataType::String, &"x".repeat(1000), 0);
    let mut limits = Limits::default();
    limits.result_bytes = 1900;
    let array = array.with_limits(limits);
    assert_eq!(array.read::<String>([0..1, 0..1]).unwrap().as_slice()[0].len(), 1000);
    let e = array.read::<String>([0..1, 0..2]).unwrap_err();
    assert_eq!(e.kind(), ArrayErrorKind::LimitExceeded, "{e:#}");
    assert_eq!(array.read::<Vec<u8>>([0..1, 0..2]).unwrap_err().kind(), ArrayErrorKind::LimitExceeded);
}

#[test]
fn borrowed_and_owned_elements_are_written_alike() {
    let array = create(MemoryStore::new(), DataType::String, "fill", 2);
    let line = "a b fill  é";
    let words: Vec<&str> = line.split(' ').collect();
    array.write((0, ..5), &words).unwrap();
    assert_eq!(
        array.read::<String>((0, ..7)).unwrap().as_slice(),
        ["a", "b", "fill", "", "é", "fill", "fill"]
    );
    let bytes = create(MemoryStore::new(), DataType::Bytes, "", 0);
    bytes.write((1, ..2), &[&b"\0\xff"[..], b""]).unwrap();
    assert_eq!(bytes.read::<Vec<u8>>((1, ..2)).unwrap().as_slice(), [&b"\0\xff"[..], b""]);
}
