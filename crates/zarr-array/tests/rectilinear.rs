//! Arrays whose chunks differ in length: all operations work as with chunks of one shape.

use std::time::Duration;

use crate::common::{self, Odd, chains, numbers, sharded};
use proptest::prelude::*;
use zarr_array::blocking::Array;
use zarr_array::meta::RectilinearGrid;
use zarr_array::meta::v3::Extension;
use zarr_array::traits::Key;
use zarr_array::traits::extension::Entry;
use zarr_array::traits::json;
use zarr_array::{
    ArrayErrorKind, ArrayMeta, Axis, CreateOptions, CutElements, DataType, EmptyChunks, ExistingNode, Limits,
    NdVec, OpenOptions, Storage, block_on, standard,
};
use zarr_conformance::instruments::Counting;
use zarr_store::MemoryStore;

fn memory() -> Storage {
    Storage::from(MemoryStore::new())
}

/// Returns metadata with these `chunk_shapes`.
fn meta(shape: &[u64], lists: json::Value, codecs: &[Extension]) -> ArrayMeta {
    let grid = Extension::new("rectilinear").with("kind", "inline").with("chunk_shapes", lists);
    let builder = ArrayMeta::builder(shape, DataType::UInt16).chunk_grid(grid).fill(7);
    builder.codecs(codecs.to_vec()).build().unwrap()
}

fn create(storage: &Storage, shape: &[u64], lists: json::Value, codecs: &[Extension]) -> Array {
    Array::create(storage.clone(), "/", meta(shape, lists, codecs), &standard()).unwrap()
}

fn plain(storage: &Storage, shape: &[u64], lists: json::Value) -> Array {
    create(storage, shape, lists, &chains()[0])
}

fn open(storage: &Storage) -> Array {
    Array::open(storage.clone(), "/", &standard()).unwrap()
}

fn row(values: &[u16]) -> NdVec<u16> {
    NdVec::new([values.len() as u64], values.to_vec()).unwrap()
}

fn read(array: &Array) -> Vec<u16> {
    array.read::<u16>(..).unwrap().into_vec()
}

/// Returns the entry of `chunk_shapes` for the first dimension.
fn lengths(array: &Array) -> json::Value {
    let grid = array.metadata().document().chunk_grid().to_spec();
    grid.configuration.get("chunk_shapes").unwrap().element(0).unwrap()
}

/// Returns all keys except that of the document, with the sizes of their objects.
fn stored(storage: &Storage) -> Vec<(String, usize)> {
    let keys = common::keys(storage).into_iter().filter(|key| key != "zarr.json");
    let value = |key: &str| block_on(storage.get(&Key::new(key).unwrap(), u64::MAX)).unwrap().unwrap();
    keys.map(|key| (key.clone(), value(&key).len())).collect()
}

#[test]
fn c14_c15_a_chunk_is_stored_at_its_own_full_shape() {
    let storage = memory();
    let array = plain(&storage, &[6, 5], json!([[1, 2, 4], [4, 3, 9]]));
    array.write(.., &numbers(&[6, 5])).unwrap();
    // Rows of 1, 2 and 4, columns of 4 and 3. The last ones reach over the edge, and a third column lies beyond it.
    let sizes = [("c/0/0", 4), ("c/0/1", 3), ("c/1/0", 8), ("c/1/1", 6), ("c/2/0", 16), ("c/2/1", 12)];
    assert_eq!(stored(&storage), sizes.map(|(key, elements)| (key.to_owned(), 2 * elements)));
    let last = block_on(storage.get(&Key::new("c/2/1").unwrap(), u64::MAX)).unwrap().unwrap();
    let last: Vec<u8> = last.chunks(2).map(|pair| pair[0]).collect();
    assert_eq!(last, [19, 7, 7, 24, 7, 7, 29, 7, 7, 7, 7, 7], "rule G4");
    assert_eq!((array.chunk_counts(), array.chunk_shape(&[1, 0])), (vec![3, 2], Some(vec![2, 4])));
    assert_eq!((array.chunk_shape(&[0, 2]), array.chunk_shape(&[3, 0])), (Some(vec![1, 9]), None));
    let one = array.explain([1..3, 0..4]).unwrap();
    assert_eq!((one.chunks, one.chunks_stored, one.bytes), (1, 1, 16));
}

#[test]
fn only_the_selected_chunks_are_read_and_written() {
    let (storage, counting) = Counting::over(&memory());
    let array = plain(&storage, &[6, 5], json!([[1, 2, 3], [4, 1]]));
    let used = |act: &dyn Fn()| {
        let before = counting.counts();
        act();
        counting.counts() - before
    };
    let write = used(&|| array.write([1..6, 0..4], &numbers(&[5, 4])).unwrap());
    assert_eq!((write.puts, write.reads), (2, 0), "whole chunks");
    let read = used(&|| drop(array.read::<u16>([2..4, 0..4]).unwrap()));
    assert_eq!((read.requests(), read.bytes_read), (2, 16), "a row of each");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Chunks or shards of any lengths: whole and partial writes are read back, whole and in parts.
    #[test]
    fn any_lengths_hold_any_elements(
        rows in prop::collection::vec(1_u64..4, 1..5), columns in prop::collection::vec(1_u64..4, 1..5),
        beyond in (0_u64..3, 0_u64..3), chain in 0..chains().len() + 4,
        start in (0_u64..9, 0_u64..9), count in (0_u64..9, 0_u64..9), step in (1_u64..3, 1_u64..3),
        remote in any::<bool>(),
    ) {
        // Numbers after the last chain stand for shards of whole inner chunks.
        let (codecs, scale) = match chains().get(chain) {
            Some(codecs) => (codecs.clone(), (1, 1)),
            None => (sharded(&[2, 3], "end"), (2, 3)),
        };
        let lists = [
            rows.iter().map(|n| n * scale.0).collect::<Vec<_>>(),
            columns.iter().map(|n| n * scale.1).collect(),
        ];
        let [height, width] = [0, 1].map(|dim| lists[dim].iter().sum::<u64>());
        let (height, width) = (height.saturating_sub(beyond.0).max(1), width.saturating_sub(beyond.1).max(1));
        let shape = [height, width];
        let storage = memory();
        create(&storage, &shape, json!(lists), &codecs);
        let seen = if remote { Odd::slow(&storage, Duration::ZERO, 4) } else { storage };
        let array = Array::open(seen, "/", &standard()).unwrap();
        let mut model = numbers(&shape);
        array.write(.., &model).unwrap();
        let range = |start: u64, count: u64, len: u64| start.min(len)..(start + count).min(len);
        let (r, c) = (range(start.0, count.0, height), range(start.1, count.1, width));
        let axes = || [Axis::step(r.clone(), step.0), Axis::step(c.clone(), step.1)];
        let steps = |n: u64| usize::try_from(n).unwrap();
        let places: Vec<usize> = r.clone()
            .step_by(steps(step.0))
            .flat_map(|row| c.clone().step_by(steps(step.1)).map(move |column| row * width + column))
            .map(steps)
            .collect();
        let part: Vec<u16> = places.iter().map(|place| model[*place]).collect();
        prop_assert_eq!(array.read::<u16>(axes()).unwrap().into_vec(), part);
        let values: Vec<u16> = (0..places.len()).map(|k| u16::try_from(1000 + k).unwrap()).collect();
        array.write(axes(), &values).unwrap();
        places.iter().zip(&values).for_each(|(place, value)| model[*place] = *value);
        prop_assert_eq!(read(&array), model);
    }
}

#[test]
fn c12_chunks_beyond_the_array_hold_nothing() {
    let storage = memory();
    let mut array = plain(&storage, &[6], json!([[2, 4, 3, 5]]));
    array.write(.., &numbers(&[6])).unwrap();
    assert_eq!(array.chunk_counts(), [2]);
    let stray = Key::new("c/2").unwrap();
    block_on(storage.put(&stray, [1, 0, 2, 0, 3, 0].to_vec())).unwrap();
    assert_eq!(read(&array), numbers(&[6]));
    // A smaller shape deletes it, so that it is not read when the array grows again.
    array.resize([5]).unwrap();
    array.resize([14]).unwrap();
    assert_eq!(lengths(&array), json!([2, 4, 3, 5]));
    assert_eq!(read(&array), [0, 1, 2, 3, 4, 7, 7, 7, 7, 7, 7, 7, 7, 7]);
}

#[test]
fn c18_g7_a_grid_grows_with_the_array_and_keeps_its_chunks_when_it_shrinks() {
    for shrink in [CutElements::Delete, CutElements::Keep] {
        let storage = memory();
        let mut array = plain(&storage, &[6], json!([[1, 2, 3]]));
        array.write(.., &numbers(&[6])).unwrap();
        for (shape, written) in [
            (4, json!([1, 2, 3])),
            (0, json!([1, 2, 3])),
            (6, json!([1, 2, 3])),
            (7, json!([1, 2, 3, 1])),
            (12, json!([1, 2, 3, 1, 5])),
        ] {
            array.resize_with([shape], shrink).unwrap();
            assert_eq!((lengths(&array), lengths(&open(&storage))), (written.clone(), written));
        }
        let kept = if shrink == CutElements::Keep { numbers(&[6]) } else { vec![7; 6] };
        assert_eq!(read(&array)[..6], kept);
        array.write(.., &numbers(&[12])).unwrap();
        assert_eq!(read(&open(&storage)), numbers(&[12]));
        assert_eq!(stored(&storage).last(), Some(&("c/4".to_owned(), 10)));
    }
    // A dimension with one length for all chunks grows by that length.
    let mut array = plain(&memory(), &[6, 3], json!([4, [1, 2]]));
    array.resize([100, 5]).unwrap();
    let grid = array.metadata().document().chunk_grid().to_spec();
    assert_eq!(grid.configuration.get("chunk_shapes").unwrap(), json!([4, [1, 2, 2]]));
}

#[test]
fn each_append_is_a_chunk_of_its_own() {
    let (storage, counting) = Counting::over(&memory());
    let mut array = plain(&storage, &[3], json!([[1, 2]]));
    for month in [&[31_u16; 31][..], &[28; 28], &[30; 30]] {
        let before = counting.counts();
        array.append(0, row(month)).unwrap();
        let used = counting.counts() - before;
        assert_eq!(used.puts, 2, "the document and the chunk: {used:?}");
    }
    assert_eq!(lengths(&array), json!([1, 2, 31, 28, 30]));
    assert_eq!(open(&storage).read::<u16>(34..62).unwrap().into_vec(), [28; 28]);
    // The last chunk has room for some of the next elements.
    array.resize([91]).unwrap();
    array.append(0, row(&[9, 9, 9])).unwrap();
    assert_eq!(lengths(&array), json!([1, 2, 31, 28, 30, 2]));
    assert_eq!(open(&storage).read::<u16>(90..).unwrap().into_vec(), [30, 9, 9, 9]);
}

#[test]
fn c17_a_list_of_one_length_is_stored_as_that_length_and_grows_by_it() {
    for (length, lists, stored, chunks) in [
        (0, json!([[]]), json!([1]), 3), // a list without chunks is stored as length 1
        (4, json!([[4]]), json!([4]), 2),
        (8, json!([[4, 4]]), json!([4]), 3),
    ] {
        let mut array = plain(&memory(), &[length], lists);
        let grid = array.metadata().document().chunk_grid().to_spec();
        assert_eq!((grid.name.as_str(), grid.configuration.get("chunk_shape").unwrap()), ("regular", stored));
        array.append(0, row(&[5; 3])).unwrap();
        assert_eq!(array.chunk_counts(), [chunks]);
    }
}

#[test]
fn concurrent_appends_get_their_own_chunks() {
    let storage = memory();
    plain(&storage, &[3], json!([[1, 2]]));
    let odd = Odd::new(&storage);
    let others = storage.clone();
    // Another writer appends between the read and the put of the document, and again before the elements are put.
    odd.before_put("zarr.json", move || open(&others).append(0, row(&[60, 70])).unwrap());
    let mut first = open(&odd.storage());
    first.append(0, row(&[40, 50, 55])).unwrap();
    assert_eq!(lengths(&first), json!([1, 2, 2, 3]));
    let others = storage.clone();
    odd.before_put("c/4", move || open(&others).append(0, row(&[90])).unwrap());
    first.append(0, row(&[80])).unwrap();
    assert_eq!(read(&open(&storage))[3..], [60, 70, 40, 50, 55, 80, 90]);
    // A handle with an old shape reads and writes within that shape, but appends after all others.
    let mut late = open(&storage);
    first.append(0, row(&[91, 92])).unwrap();
    late.write(0..2, &[1_u16, 2]).unwrap();
    late.append(0, row(&[93])).unwrap();
    assert_eq!(read(&late)[8..], [80, 90, 91, 92, 93]);
    assert_eq!(lengths(&late), json!([1, 2, 2, 3, 1, 1, 2, 1]));
    assert_eq!(first.resize([5]).unwrap_err().kind(), ArrayErrorKind::Conflict);
}

#[test]
fn many_concurrent_appends_lose_nothing() {
    let storage = memory();
    plain(&storage, &[3], json!([[1, 2]]));
    std::thread::scope(|threads| {
        for thread in 1..5_u16 {
            let storage = &storage;
            threads.spawn(move || {
                let mut array = open(storage);
                (0..12).for_each(|i| array.append(0, row(&vec![thread; 1 + i % 3])).unwrap());
            });
        }
    });
    let all = read(&open(&storage));
    let count = |value: u16| all.iter().filter(|element| **element == value).count();
    assert_eq!([1, 2, 3, 4].map(count), [24; 4]);
}

#[test]
fn an_array_that_has_grown_is_still_the_same_array() {
    let storage = memory();
    let made = || meta(&[3], json!([[1, 2]]), &chains()[0]);
    let there = CreateOptions::new().existing(ExistingNode::Open);
    let create = |meta| Array::create_with(storage.clone(), "/", meta, &standard(), &there);
    create(made()).unwrap().append(0, row(&[5, 6, 7])).unwrap();
    assert_eq!(create(made()).unwrap().shape(), [6]);
    let other = meta(&[3], json!([[2, 1]]), &chains()[0]);
    assert_eq!(create(other).unwrap_err().kind(), ArrayErrorKind::Exists);
    // An array that was replaced by another one is not resized.
    let mut handle = open(&storage);
    let other = meta(&[3], json!([[2, 1]]), &chains()[0]);
    Array::replace(storage.clone(), "/", other, &standard()).unwrap();
    assert_eq!(handle.append(0, row(&[1])).unwrap_err().kind(), ArrayErrorKind::Conflict);
}

#[test]
fn c19_shards_of_different_lengths_hold_inner_chunks_of_one_length() {
    let storage = memory();
    let codecs = sharded(&[2], "end");
    let mut array = create(&storage, &[9], json!([[2, 6, 4]]), &codecs);
    array.write(.., &numbers(&[9])).unwrap();
    array.write(3..5, &[50_u16, 51]).unwrap();
    assert_eq!(read(&array), [0, 1, 2, 50, 51, 5, 6, 7, 8]);
    let inner = array.inner_chunks(&[1]).unwrap().unwrap();
    assert_eq!(inner.iter().map(|chunk| chunk.start[0]).collect::<Vec<_>>(), [0, 2, 4]);
    // The added shard has a whole number of inner chunks. The array uses only a part of it.
    array.append(0, row(&[90; 6])).unwrap();
    assert_eq!((array.shape(), lengths(&array)), (&[15][..], json!([2, 6, 4, 4])));
    assert_eq!(open(&storage).read::<u16>(8..).unwrap().into_vec(), [8, 90, 90, 90, 90, 90, 90]);
    for lists in [json!([[2, 6, 3]]), json!([[2, 8, 5]])] {
        let refused = Array::create(memory(), "/", meta(&[10], lists, &codecs), &standard()).unwrap_err();
        assert_eq!(refused.kind(), ArrayErrorKind::Metadata);
    }
}

/// A document, the elements, and the objects in hexadecimal.
type Recorded = (&'static str, &'static [u16], &'static [(&'static str, &'static str)]);

/// Data of zarr-python 3.4.2: shards of 4 and 2; and chunks of 1, 2 and 3, with 4 elements appended before the array
/// was cut to length 5.
const ZARR_PYTHON: [Recorded; 2] = [
    (
        r#"{"shape": [6], "data_type": "uint16", "chunk_grid": {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [[4, 2]]}}, "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}}, "fill_value": 0, "codecs": [{"name": "sharding_indexed", "configuration": {"chunk_shape": [2], "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}], "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}], "index_location": "end"}}], "attributes": {}, "zarr_format": 3, "node_type": "array", "storage_transformers": []}"#,
        &[1, 2, 3, 4, 5, 6],
        &[
            (
                "c/0",
                "01000200030004000000000000000000040000000000000004000000000000000400000000000000f6ff6f8f",
            ),
            ("c/1", "050006000000000000000000040000000000000087186d63"),
        ],
    ),
    (
        r#"{"shape": [5], "data_type": "uint16", "chunk_grid": {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [[1, 2, 3, 4]]}}, "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}}, "fill_value": 7, "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}], "attributes": {}, "zarr_format": 3, "node_type": "array", "storage_transformers": []}"#,
        &[1, 2, 30, 40, 50],
        &[("c/0", "0100"), ("c/1", "02001e00"), ("c/2", "280032000700")],
    ),
];

#[test]
fn data_of_zarr_python_is_read_and_written_alike() {
    for (document, elements, objects) in ZARR_PYTHON {
        let [theirs, ours] = [memory(), memory()];
        let put = |storage: &Storage, key: &str, value: Vec<u8>| {
            block_on(storage.put(&Key::new(key).unwrap(), value)).unwrap();
        };
        for storage in [&theirs, &ours] {
            put(storage, "zarr.json", document.into());
        }
        for (key, hex) in objects {
            let byte = |i: usize| u8::from_str_radix(&hex[i..i + 2], 16).unwrap();
            put(&theirs, key, (0..hex.len()).step_by(2).map(byte).collect());
        }
        assert_eq!(read(&open(&theirs)), elements);
        open(&ours).write(.., elements).unwrap();
        let get =
            |storage: &Storage, key: &str| block_on(storage.get(&Key::new(key).unwrap(), u64::MAX)).unwrap();
        assert_eq!(stored(&ours).len(), objects.len());
        for (key, _) in objects {
            assert_eq!(get(&ours, key), get(&theirs, key), "{key}");
        }
    }
}

#[test]
fn a_chunk_that_is_too_large_to_read_is_not_added() {
    let storage = memory();
    plain(&storage, &[3], json!([[1, 2]]));
    let mut limits = Limits::default();
    limits.chunk_bytes = 100;
    let mut array = Array::open(storage.clone(), "/", &standard()).unwrap().with_limits(limits);
    let e = array.resize([54]).unwrap_err();
    assert_eq!(e.kind(), ArrayErrorKind::LimitExceeded);
    assert!(format!("{e:#}").contains("add fewer at once"), "{e:#}");
    assert_eq!(open(&storage).shape(), [3]);
    array.resize([53]).unwrap();
    array.resize([54]).unwrap();
    assert_eq!(lengths(&array), json!([1, 2, 50, 1]));
}

#[test]
fn huge_chunk_lengths_cost_no_memory() {
    let most = u64::MAX;
    for lists in [json!([[most]]), json!([[3, most - 3]]), json!([[[1, 3], [most / 4, 2]]])] {
        let array = plain(&memory(), &[6], lists.clone());
        let stored = Key::new(format!("c/{}", array.chunk_counts()[0] - 1)).unwrap();
        block_on(array.storage().put(&stored, vec![0; 64])).unwrap();
        assert!(array.read::<u16>(..).is_err(), "{lists}");
        assert!(array.write(.., &numbers(&[6])).is_err(), "{lists}");
    }
    // Four thousand million chunks. One is written.
    let mut array = plain(&memory(), &[4_000_000_001], json!([[[1, 4_000_000_000_u64], 1000]]));
    array.write(3_999_999_999..4_000_000_001_u64, &[1_u16, 2]).unwrap();
    array.resize([4_000_000_005]).unwrap();
    assert_eq!(array.read::<u16>(3_999_999_998..4_000_000_002_u64).unwrap().into_vec(), [7, 1, 2, 7]);
    let mut limits = array.limits().clone();
    limits.result_bytes = 1 << 30;
    let limited = array.clone().with_limits(limits);
    assert_eq!(limited.read::<u16>(..).unwrap_err().kind(), ArrayErrorKind::LimitExceeded);
}

#[test]
fn a_smaller_shape_deletes_chunks_in_a_store_that_cannot_list() {
    let storage = memory();
    let made = plain(&storage, &[9], json!([[2, 3, 4]])).with_empty_chunks(EmptyChunks::Store);
    made.write(.., &numbers(&[9])).unwrap();
    let mut array = open(&Odd::unlisted(&storage));
    array.resize([3]).unwrap();
    assert_eq!(stored(&storage), [("c/0".to_owned(), 4), ("c/1".to_owned(), 6)]);
    array.resize([9]).unwrap();
    assert_eq!(self::read(&array), [0, 1, 2, 7, 7, 7, 7, 7, 7]);
}

#[test]
fn c20_the_draft_is_read_if_it_is_registered() {
    let storage = memory();
    let array = plain(&storage, &[6], json!([[1, 2, 3]]));
    array.write(.., &numbers(&[6])).unwrap();
    let text = array.metadata().to_text().replace("rectilinear", "rectangular");
    let text = text.replace("chunk_shapes", "chunk_shape").replace("\"kind\": \"inline\",", "");
    block_on(storage.put(&Key::new("zarr.json").unwrap(), text)).unwrap();
    let e = Array::open(storage.clone(), "/", &standard()).unwrap_err();
    assert_eq!(e.kind(), ArrayErrorKind::UnknownExtension);
    let registry = standard().with(&[Entry::ChunkGrid(RectilinearGrid::RECTANGULAR)]).unwrap();
    let mut array = Array::open_with(storage, "/", &registry, &OpenOptions::new()).unwrap();
    assert_eq!(read(&array), numbers(&[6]));
    array.resize([4]).unwrap();
    assert_eq!(array.resize([7]).unwrap_err().kind(), ArrayErrorKind::Unsupported);
}
