//! Several selections are read at once: each chunk is fetched and decoded once.

use proptest::prelude::*;
use zarr_array::blocking::Array;
use zarr_array::{
    ArrayErrorKind, ArrayMeta, Axis, ChunkCache, Cpu, DataType, Limits, MissingChunks, NdVec, Progress,
    Selection, standard,
};
use zarr_store::MemoryStore;

use crate::common::{chains, counted, numbers, refused, sharded};

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(100) })]

    #[test]
    fn many_selections_have_the_elements_of_single_reads(
        chain in 0..chains().len() + 2,
        boxes in prop::collection::vec((0_u64..30, 0_u64..30, 0_u64..40, 0_u64..40, 1_i64..4, -1_i64..3), 0..8),
        threads in 0_usize..3,
        blocks in 1_u64..5,
        list in prop::collection::btree_set(0_u64..30, 0..6),
    ) {
        let codecs = chains().into_iter().nth(chain).unwrap_or_else(|| sharded(&[4, 4], if chain % 2 == 0 { "end" } else { "start" }));
        let (array, counting) = counted(&[30, 40], &[12, 8], &codecs);
        array.write((2.., 1..), &numbers(&[28, 39])).unwrap();
        let array = array.with_cpu(Cpu::threads(threads)).with_block_size(blocks, u64::MAX);
        let axis = |a: u64, b: u64, step: i64| Axis::step(a.min(b)..a.max(b), if step == 0 { 1 } else { step });
        let of_box = |(a, b, c, d, step, other): &_| Selection::from((axis(*a, *b, *step), axis(*c, *d, *other)));
        let mut selections: Vec<Selection> = boxes.iter().map(of_box).collect();
        selections.extend(boxes.first().map(|(_, _, c, d, ..)| Selection::from((list.iter().rev().copied().collect::<Vec<_>>(), axis(*c, *d, -1)))));
        let progress = Progress::new();
        let watched = array.clone().with_progress(progress.clone());
        let before = counting.counts();
        let many: Vec<NdVec<u16>> = watched.read_many(selections.clone()).unwrap();
        let requests = (counting.counts() - before).requests();
        let single: Vec<NdVec<u16>> = selections.iter().map(|s| array.read(s.clone()).unwrap()).collect();
        prop_assert_eq!(&many, &single);
        prop_assert_eq!(progress.done(), progress.expected());
        prop_assert_eq!(progress.done().bytes, many.iter().map(|v| 2 * v.as_slice().len() as u64).sum::<u64>());
        // A shard costs its index and two blocks: it has six inner chunks, and a block at least four.
        prop_assert!(blocks < 4 || requests <= 3 * 15, "{} requests for 15 chunks", requests);
    }
}

#[test]
fn shared_chunks_are_read_once() {
    let boxes = [[0..5, 0..5], [1..6, 3..8], [9..11, 9..11], [2..3, 0..20]];
    for (codecs, reads) in [(chains().swap_remove(4), 4), (sharded(&[5, 5], "end"), 4)] {
        let (array, counting) = counted(&[20, 20], &[10, 10], &codecs);
        array.write(.., &numbers(&[20, 20])).unwrap();
        let array = Array::open(array.storage().clone(), "/a", &standard()).unwrap();
        let before = counting.counts();
        let many: Vec<NdVec<u16>> = array.read_many(boxes.clone()).unwrap();
        assert_eq!((counting.counts() - before).requests(), reads);
        assert_eq!(many[3].as_slice(), (40..60).collect::<Vec<u16>>());
        let selections = [
            Selection::from(([19, 3, 3], Axis::step(.., -2))),
            ([0, 12], [5, 5, 15]).into(),
            (3..5, ..).into(),
        ];
        let array = Array::open(array.storage().clone(), "/a", &standard()).unwrap();
        let before = counting.counts();
        let many: Vec<NdVec<u16>> = array.read_many(selections).unwrap();
        assert_eq!((counting.counts() - before).requests(), reads);
        assert_eq!((many[0].as_slice()[0], many[1].as_slice()), (399, &[5, 5, 15, 245, 245, 255][..]));
    }
}

#[test]
fn threads_share_the_large_inner_chunks_of_several_selections() {
    let (array, _) = counted(&[512, 512], &[512, 512], &sharded(&[256, 256], "end"));
    let values = numbers(&[512, 512]);
    array.write(.., &values).unwrap();
    let selections =
        || [Selection::from((0..512, 3..509)), (.., Axis::step(.., -5)).into(), ([300, 7], ..).into()];
    let single: Vec<NdVec<u16>> = selections().map(|selection| array.read(selection).unwrap()).into();
    for threads in [0, 1, 2] {
        let array = array.clone().with_cpu(Cpu::threads(threads));
        assert!(array.read_many::<u16, _>(selections()).unwrap() == single);
        let array = array.with_chunk_cache(ChunkCache::new(1 << 20));
        for selection in [0, 1, 2, 0] {
            assert!(array.read::<u16>(selections()[selection].clone()).unwrap() == single[selection]);
        }
    }
}

#[test]
fn elements_of_any_type_are_read_and_missing_chunks_are_filled() {
    let meta = ArrayMeta::builder([6, 6], DataType::String).chunks([4, 4]).fill("none").build().unwrap();
    let array = Array::create(MemoryStore::new(), "/", meta, &standard()).unwrap();
    array.write((0, ..), &["a", "b", "c", "d", "e", "f"].map(String::from)).unwrap();
    let many: Vec<NdVec<String>> = array.read_many([[0..1, 2..6], [0..2, 3..5]]).unwrap();
    assert_eq!(many[0].as_slice(), ["c", "d", "e", "f"]);
    assert_eq!(many[1].as_slice(), ["d", "e", "none", "none"]);
    let mixed: Vec<NdVec<String>> =
        array.read_many(vec![Selection::from((0, [5, 0])), (.., 0).into()]).unwrap();
    assert_eq!((mixed[0].as_slice(), mixed[1].shape()), (&["f".to_owned(), "a".to_owned()][..], &[6][..]));
    let strict = array.with_missing_chunks(MissingChunks::Error);
    assert_eq!(refused(strict.read_many::<String, _>([4..5, 0..1])).0, ArrayErrorKind::NotFound);
}

#[test]
fn the_limit_of_a_result_holds_for_all_together() {
    let mut limits = Limits::default();
    limits.result_bytes = 1000;
    let (array, _) = counted(&[20, 20], &[10, 10], &chains()[4]);
    let array = array.with_limits(limits);
    assert!(array.read_many::<u16, _>([0..10, 0..10]).is_ok());
    assert_eq!(refused(array.read_many::<u16, _>([0..10, 0..10, 0..10])).0, ArrayErrorKind::LimitExceeded);
    assert_eq!(array.read_many::<u16, Selection>([]).unwrap(), []);
    let e = refused(array.read_many::<u32, _>([0..1]));
    assert_eq!(e.0, ArrayErrorKind::InvalidArgument);
    let (whole, _) = counted(&[4], &[2], &chains()[0]);
    assert!(whole.read_many::<u16, _>([0..5]).is_err());
}
