//! Decoded chunks are cached, by the version of their object.

use proptest::prelude::*;
use zarr_array::blocking::Array;
use zarr_array::meta::v3::Extension;
use zarr_array::traits::codec::{Codec, Repr};
use zarr_array::traits::{Key, Prefix, kernel};
use zarr_array::{
    ArrayMeta, Axis, ChunkCache, Cpu, DataType, FillValue, NdVec, Selection, Storage, block_on, standard,
};
use zarr_store::{MemoryStore, Prefixed};

use crate::common::{chains, counted, meta, numbers, sharded_with};

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

/// Creates an array of format 3 in a storage.
fn create(storage: &Storage, path: &str, codecs: &[Extension]) -> Array {
    Array::create(storage.clone(), path, meta(&[20, 20], &[20, 20], codecs), &standard()).unwrap()
}

fn open(storage: &Storage, path: &str, cache: &ChunkCache) -> Array {
    Array::open(storage.clone(), path, &standard()).unwrap().with_chunk_cache(cache.clone())
}

#[test]
fn two_hundred_arrays_share_one_budget() {
    let storage = Storage::from(MemoryStore::new());
    let cache = ChunkCache::new(11_000);
    let arrays: Vec<Array> = (0_u16..200)
        .map(|i| {
            let array = create(&storage, &format!("a{i}"), &zstd());
            array.write(.., &[i + 1000; 400]).unwrap();
            open(&storage, &format!("a{i}"), &cache)
        })
        .collect();
    assert_eq!((cache.counts().bytes, cache.counts().budget), (0, 11_000));
    for round in 1..3 {
        for (i, array) in (0_u16..).zip(&arrays) {
            assert_eq!(array.read::<u16>((7, 7..9)).unwrap().as_slice(), [i + 1000; 2]);
            assert_eq!(array.read::<u16>((8, 3..4)).unwrap().as_slice(), [i + 1000]);
            let counts = cache.counts();
            assert!(counts.bytes <= counts.budget, "{counts:?}");
        }
        // Ten chunks fit: the second read finds the chunk of the first one, and no round those of the round before.
        assert_eq!((cache.counts().misses, cache.counts().hits), (200 * round, 200 * round));
        assert!(cache.counts().bytes > 10_000, "{:?}", cache.counts());
    }
    cache.clear();
    assert_eq!((cache.counts().bytes, cache.counts().hits), (0, 400));
    assert_eq!(arrays[199].read::<u16>((7, 7..9)).unwrap().as_slice(), [1199; 2]);
    assert_eq!((cache.counts().misses, cache.counts().hits), (401, 400));
}

#[test]
fn handles_on_one_array_share_its_chunks() {
    for codecs in [zstd(), sharded_with(&[5, 5], "end", &zstd())] {
        let (array, counting) = counted(&[20, 20], &[20, 20], &codecs);
        array.write(.., &numbers(&[20, 20])).unwrap();
        let cache = ChunkCache::new(1 << 20);
        let cost = |array: &Array| {
            let before = counting.counts();
            assert_eq!(array.read::<u16>((3, 2..4)).unwrap().as_slice(), [62, 63]);
            let cost = counting.counts() - before;
            (cost.reads, cost.heads)
        };
        assert_ne!(cost(&open(array.storage(), "/a", &cache)).0, 0);
        // The first handle is gone. Its chunks stay for the next one.
        assert_eq!(cost(&open(array.storage(), "/a", &cache)), (0, 1));
        assert_eq!(cost(&open(&array.storage().read_only(), "a", &cache)), (0, 1));
        let unchecked = cache.clone().unchecked();
        assert_eq!(cost(&open(array.storage(), "/a", &unchecked)), (0, 0));
        assert_eq!((cache.counts().misses, cache.counts().hits), (1, 3));
        assert_eq!(unchecked.counts(), cache.counts());
        cache.clear();
        assert_ne!(cost(&open(array.storage(), "/a", &unchecked)).0, 0);
        // A chunk that was kept without its version is read again by a handle that checks.
        let (before, checked) = (cache.counts(), open(array.storage(), "/a", &cache));
        assert_ne!(cost(&checked).0, 0);
        assert_eq!(cost(&checked), (0, 1));
        assert_eq!((cache.counts().misses, cache.counts().hits), (before.misses + 1, before.hits + 1));
    }
}

#[test]
fn an_array_that_is_decoded_in_another_way_gets_no_chunks_of_others() {
    let storage = Storage::from(MemoryStore::new());
    let cache = ChunkCache::new(1 << 20).unchecked();
    create(&storage, "a", &zstd()).write(.., &[0x0102_u16; 400]).unwrap();
    let read = |array: &Array| array.read::<u16>((3, 2)).unwrap().as_slice()[0];
    assert_eq!(read(&open(&storage, "a", &cache)), 0x0102);
    // The same chunks with another byte order, in a document that another writer has put.
    let zarr_json = Key::new("a/zarr.json").unwrap();
    let document = block_on(storage.get(&zarr_json, 10_000)).unwrap().unwrap();
    let document = std::str::from_utf8(&document).unwrap().replace("little", "big");
    block_on(storage.put(&zarr_json, document)).unwrap();
    assert_eq!(read(&open(&storage, "a", &cache)), 0x0201);
    // Another place, and the same place of another store.
    create(&storage, "b", &zstd()).write(.., &[5_u16; 400]).unwrap();
    assert_eq!(read(&open(&storage, "b", &cache)), 5);
    let other = Storage::from(MemoryStore::new());
    create(&other, "b", &zstd()).write(.., &[6_u16; 400]).unwrap();
    assert_eq!(read(&open(&other, "b", &cache)), 6);
    // Two layers over one store, which both have the key `x/c/0/0`.
    for (i, folder) in [(7_u16, "one/"), (8, "two/")] {
        let below = Prefixed::over(&storage, Prefix::new(folder).unwrap());
        create(&below, "x", &zstd()).write(.., &[i; 400]).unwrap();
        assert_eq!(read(&open(&below, "x", &cache)), i);
    }
    let before = cache.counts();
    assert_eq!((before.misses, before.hits), (6, 0));
    assert_eq!(read(&open(&storage, "b", &cache)), 5);
    assert_eq!(cache.counts().hits, 1);
}

#[test]
fn a_recoded_handle_shares_the_budget_and_no_chunk() {
    let (array, _) = counted(&[8], &[4], &zstd());
    array.write(.., &numbers(&[8])).unwrap();
    let cache = ChunkCache::new(1 << 20);
    let wide = Repr::new(DataType::UInt32, FillValue::of(7_u32), 1);
    let narrow = |n: [u8; 4]| Ok(u16::try_from(u32::from_ne_bytes(n)).unwrap_or(u16::MAX).to_ne_bytes());
    let widen = |n: [u8; 2]| Ok(u32::from(u16::from_ne_bytes(n)).to_ne_bytes());
    let codec = kernel::elementwise(&wide, DataType::UInt16, narrow, widen).unwrap();
    let Codec::ArrayArray(codec) = codec else { panic!("{codec:?}") };
    let array = array.into_async().with_chunk_cache(cache.clone());
    let recode = || array.recode("wide", DataType::UInt32, FillValue::of(7_u32), codec.clone()).unwrap();
    for recoded in [recode(), recode().with_chunk_cache(cache.clone())] {
        let before = cache.counts().misses;
        for _ in 0..2 {
            assert_eq!(block_on(array.read::<u16>(1..3)).unwrap().as_slice(), [1, 2]);
            assert_eq!(block_on(recoded.read::<u32>(1..3)).unwrap().as_slice(), [1, 2]);
        }
        assert_eq!(cache.counts().misses - before, 1 + u64::from(before == 0));
    }
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
