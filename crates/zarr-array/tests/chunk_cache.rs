//! Decoded chunks are cached, by the version of their object.

use proptest::prelude::*;
use zarr_array::blocking::Array;
use zarr_array::meta::v3::Extension;
use zarr_array::{ArrayMeta, Axis, ChunkCache, Cpu, DataType, NdVec, Selection, standard};
use zarr_store::MemoryStore;

use crate::common::{chains, counted, numbers, sharded_with};

fn zstd() -> Vec<Extension> {
    chains().swap_remove(4)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(100) })]

    #[test]
    fn reads_and_writes_with_a_cache_have_the_elements_of_those_without(
        chain in 0..chains().len() + 2,
        steps in prop::collection::vec((0_u64..30, 0_u64..30, 0_u64..40, 0_u64..40, 1_i64..4, any::<bool>()), 1..12),
        bytes in prop::sample::select(vec![0_usize, 1000, 1 << 20]),
        threads in 0_usize..3,
    ) {
        let sharded = || sharded_with(&[4, 4], if chain % 2 == 0 { "end" } else { "start" }, &zstd());
        let codecs = chains().into_iter().nth(chain).unwrap_or_else(sharded);
        let (plain, _) = counted(&[30, 40], &[12, 8], &codecs);
        plain.write((2.., 1..), &numbers(&[28, 39])).unwrap();
        let cached = plain.clone().with_cpu(Cpu::threads(threads)).with_chunk_cache(ChunkCache::new(bytes));
        for (a, b, c, d, step, writes) in steps {
            let rows = Axis::step(a.min(b)..a.max(b), step);
            let selection = Selection::from((rows, c.min(d)..c.max(d)));
            let expected: NdVec<u16> = plain.read(selection.clone()).unwrap();
            prop_assert_eq!(&cached.read::<u16>(selection.clone()).unwrap(), &expected);
            let mut memory = vec![0_u16; expected.as_slice().len()];
            cached.read_into(selection.clone(), &mut memory).unwrap();
            prop_assert_eq!(&memory[..], expected.as_slice());
            let list = Selection::from(([b, a, a.min(b)], Axis::step(c.min(d)..c.max(d), -step)));
            prop_assert_eq!(cached.read::<u16>(list.clone()).unwrap(), plain.read::<u16>(list).unwrap());
            if writes {
                plain.write(selection, &NdVec::new(expected.shape(), vec![9_u16; memory.len()]).unwrap()).unwrap();
            }
        }
    }
}

#[test]
fn a_cached_chunk_costs_one_request_without_bytes() {
    for (codecs, first) in [(zstd(), 1), (sharded_with(&[5, 5], "end", &zstd()), 1)] {
        let (array, counting) = counted(&[20, 20], &[20, 20], &codecs);
        array.write(.., &numbers(&[20, 20])).unwrap();
        let read = |array: &Array| {
            let before = counting.counts();
            assert_eq!(array.read::<u16>((3, 2..4)).unwrap().as_slice(), [62, 63]);
            let cost = counting.counts() - before;
            (cost.requests(), cost.heads)
        };
        let open = || Array::open(array.storage().clone(), "/a", &standard()).unwrap();
        let checked = open().with_chunk_cache(ChunkCache::new(1 << 20));
        assert_eq!([read(&checked), read(&checked), read(&checked.clone())], [(first, 0), (1, 1), (1, 1)]);
        let before = counting.counts();
        assert_eq!(checked.read::<u16>((3, [3, 2])).unwrap().as_slice(), [63, 62]);
        assert_eq!((counting.counts() - before).requests(), 1, "a list is read from the cache, too");
        let unchecked = open().with_chunk_cache(ChunkCache::new(1 << 20).unchecked());
        assert_eq!([read(&unchecked), read(&unchecked)], [(first, 0), (0, 0)]);
        let small = open().with_chunk_cache(ChunkCache::new(10));
        assert_eq!([read(&small), read(&small)].map(|cost| cost.1), [0, 0], "too small for a chunk");
    }
}

#[test]
fn writes_of_others_are_seen_if_the_cache_is_checked() {
    let (array, _) = counted(&[8], &[4], &zstd());
    array.write(.., &numbers(&[8])).unwrap();
    let checked = array.clone().with_chunk_cache(ChunkCache::new(1 << 20));
    let unchecked = array.clone().with_chunk_cache(ChunkCache::new(1 << 20).unchecked());
    for cached in [&checked, &unchecked] {
        assert_eq!(cached.read::<u16>(1..3).unwrap().as_slice(), [1, 2]);
    }
    array.write(1..3, &[70_u16, 80]).unwrap();
    assert_eq!(checked.read::<u16>(..4).unwrap().as_slice(), [0, 70, 80, 3]);
    assert_eq!(unchecked.read::<u16>(..4).unwrap().as_slice(), [0, 1, 2, 3]);
    array.erase_chunk(&[0]).unwrap();
    assert_eq!(checked.read::<u16>(..4).unwrap().as_slice(), [7; 4]);
}

#[test]
fn elements_of_variable_length_are_read_beside_the_cache() {
    let meta = ArrayMeta::builder([4], DataType::String).chunks([2]).build().unwrap();
    let array = Array::create(MemoryStore::new(), "/", meta, &standard()).unwrap();
    let array = array.with_chunk_cache(ChunkCache::new(1 << 20));
    array.write(.., &["a", "b", "c", "d"].map(String::from)).unwrap();
    for _ in 0..2 {
        assert_eq!(array.read::<String>(1..3).unwrap().as_slice(), ["b", "c"]);
    }
}
