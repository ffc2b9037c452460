//! The number of requests and bytes of reads and writes, which does not depend on the machine.

use std::ops::Range;

use crate::common::{self, chains, counted, numbers};
use zarr_array::blocking::Array;
use zarr_array::{
    ArrayErrorKind, EmptyChunks, PartialWrites, Selection, Storage, block_on, meta::v3::Extension, standard,
};
use zarr_conformance::instruments::{Counting, RequestCounts};
use zarr_store::MemoryStore;
use zarr_traits::Key;

/// Returns the requests of `work`.
fn cost(counting: &Counting, work: impl FnOnce()) -> RequestCounts {
    let before = counting.counts();
    work();
    counting.counts() - before
}

#[test]
fn opening_is_one_request() {
    let (array, _) = counted(&[4], &[2], &chains()[0]);
    let (storage, counting) = Counting::over(array.storage());
    let open = |path: &str| {
        let storage = storage.clone();
        cost(&counting, move || drop(Array::open(storage, path, &standard()))).requests()
    };
    assert_eq!(open("/a"), 1);
    assert_eq!(open("/none"), 1 + 3, "and the documents of format 2, at once (rule F15)");
}

#[test]
fn a_read_is_one_request_a_chunk() {
    for codecs in chains() {
        let (array, counting) = counted(&[8, 8], &[2, 4], &codecs);
        array.write(.., &numbers(&[8, 8])).unwrap();
        let reads =
            |selection: Selection| cost(&counting, || drop(array.read::<u16>(selection).unwrap())).requests();
        assert_eq!(reads([0..2, 4..8].into()), 1, "one whole chunk");
        assert_eq!(reads([3..4, 1..3].into()), 1, "part of one chunk");
        assert_eq!(reads([1..5, 3..5].into()), 6, "a box over three times two chunks");
        assert_eq!(reads((..).into()), 8);
        assert_eq!(reads([3..3, 0..8].into()), 0, "nothing");
    }
}

#[test]
fn a_selection_of_too_many_chunks_is_not_explained() {
    let (array, counting) = counted(&[1 << 21], &[1], &chains()[0]);
    let ranges = Selection::from([0..(1 << 20) + 1]);
    let used = cost(&counting, || {
        for selection in [(..).into(), ranges] {
            let e = array.explain(selection).unwrap_err();
            assert_eq!((e.kind(), e.array()), (ArrayErrorKind::LimitExceeded, Some("/a")));
            assert!(format!("{e:#}").contains("at most 1048576 are examined"), "{e:#}");
        }
    });
    assert_eq!(used.requests(), 0);
    assert_eq!(array.explain([5..9]).unwrap().chunks, 4);
}

#[test]
fn part_of_an_uncompressed_chunk_is_read_alone() {
    let (array, counting) = counted(&[128, 128, 128], &[128, 128, 128], &chains()[0][..1]);
    array.write(.., &numbers(&[128, 128, 128])).unwrap();
    let used = cost(&counting, || drop(array.read::<u16>([3..11, 4..12, 5..13]).unwrap()));
    assert_eq!(
        (used.requests(), used.ranges),
        (1, 8),
        "a range for each of the eight planes, in one request"
    );
    assert!(used.bytes_read < 8 * 2048, "{} bytes for a box of 1024", used.bytes_read);
}

#[test]
fn whole_chunks_are_written_without_a_read() {
    for codecs in chains() {
        // 5 x 7 in chunks of 2 x 4: chunks at the edge are written whole as far as they lie inside
        let (array, counting) = counted(&[5, 7], &[2, 4], &codecs);
        let used = cost(&counting, || array.write(.., &numbers(&[5, 7])).unwrap());
        assert_eq!((used.reads, used.heads, used.puts), (0, 0, 6));
        let again = cost(&counting, || array.write([0..2, 0..4], &[1_u16; 8]).unwrap());
        assert_eq!((again.reads, again.puts), (0, 1), "a whole chunk, over an existing object");
        let used = cost(&counting, || array.write([4..5, 4..7], &[1_u16; 3]).unwrap());
        assert_eq!(
            (used.reads, used.puts),
            (1, 2),
            "the corner: the object exists, and another writer may have lengthened the array"
        );
        let alone = array.clone().with_partial_writes(PartialWrites::Unchecked);
        let used = cost(&counting, || alone.write([4..5, 4..7], &[1_u16; 3]).unwrap());
        assert_eq!((used.reads, used.puts), (0, 1), "a single writer need not read");
        let used = cost(&counting, || array.write([0..1, 0..1], &[1_u16]).unwrap());
        match is_plain(&codecs) {
            true => assert_eq!((used.requests(), used.put_ranges), (1, 1), "the store changes a part"),
            false => assert_eq!((used.reads, used.puts), (1, 1), "a part is read, changed and written"),
        }
    }
}

/// Whether a chunk is stored as its elements.
fn is_plain(codecs: &[Extension]) -> bool {
    codecs.iter().all(|codec| ["bytes", "transpose"].contains(&codec.name()))
}

#[test]
fn part_of_an_uncompressed_chunk_is_written_alone() {
    for codecs in chains().iter().filter(|codecs| is_plain(codecs)) {
        let (array, counting) = counted(&[100, 100], &[100, 100], codecs);
        let requests =
            |used: RequestCounts| (used.reads, used.puts, used.put_ranges, used.deletes, used.bytes_written);
        let write = |rows: Range<u64>, columns: Range<u64>, value: u16| {
            let values = vec![
                value;
                usize::try_from((rows.end - rows.start) * (columns.end - columns.start))
                    .unwrap()
            ];
            requests(cost(&counting, || array.write([rows, columns], &values).unwrap()))
        };
        assert_eq!(write(0..2, 0..3, 1), (1, 1, 1, 0, 20_000), "there is no object yet");
        assert_eq!(write(50..52, 10..12, 2), (0, 0, 1, 0, 8), "two ranges");
        assert_eq!(
            write(10..20, 10..20, 3),
            (1, 1, 0, 0, 20_000),
            "ten ranges are too many for an object of 20 kB"
        );
        assert_eq!(write(0..2, 0..3, 7), (1, 1, 0, 0, 20_000), "fill: the chunk may become empty");
        let keep = array.clone().with_empty_chunks(EmptyChunks::Store);
        let used = cost(&counting, || keep.write([50..52, 10..12], &[7_u16; 4]).unwrap());
        assert_eq!(requests(used), (0, 0, 1, 0, 8), "an empty chunk may stay");
        assert_eq!(write(10..20, 10..20, 7), (1, 0, 0, 1, 0), "the chunk is empty");
        // Half a chunk is no chunk.
        let key = Key::new("a/c/0/0").unwrap();
        block_on(array.storage().put(&key, vec![0; 10_000])).unwrap();
        let e = array.write([0..1, 0..1], &[1_u16]).unwrap_err();
        assert_eq!(e.key(), Some("a/c/0/0"), "{e:#}");
    }
}

#[test]
fn an_uncompressed_chunk_beyond_memory_is_refused_before_it_is_written() {
    let (array, counting) = counted(&[4, 1 << 62], &[4, 1 << 62], &chains()[0]);
    let used = cost(&counting, || {
        let e = array.write([3..4, 0..1], &[1_u16]).unwrap_err();
        assert_eq!(e.kind(), ArrayErrorKind::LimitExceeded, "{e:#}");
    });
    assert_eq!(used.requests(), 0);
}

#[test]
fn an_array_without_elements_costs_no_request() {
    let (array, counting) = counted(&[0, 8], &[2, 4], &chains()[0]);
    let used = cost(&counting, || {
        assert!(array.read::<u16>(..).unwrap().as_slice().is_empty());
        array.write(.., &[] as &[u16]).unwrap();
    });
    assert_eq!(used, RequestCounts::default(), "rule A.t24");
}

#[test]
fn creating_writes_the_document_and_the_missing_groups() {
    let (storage, counting) = Counting::over(&Storage::from(MemoryStore::new()));
    let make = |path: &str| {
        let meta = common::meta(&[4], &[2], &chains()[0]);
        drop(Array::create(storage.clone(), path, meta, &standard()).unwrap());
    };
    assert_eq!(cost(&counting, || make("/a/b")).puts, 3);
    assert_eq!(cost(&counting, || make("/a/c")).puts, 1);
}
