//! The number of requests of reads and writes of shards, and that `explain` predicts it.

use crate::common::{self, counted, numbers, sharded};
use proptest::prelude::*;
use proptest::sample::Index;
use zarr_array::blocking::Array;
use zarr_array::{Cpu, EmptyChunks, Selection, standard};
use zarr_conformance::instruments::{Counting, RequestCounts};

fn cost(counting: &Counting, work: impl FnOnce()) -> RequestCounts {
    let before = counting.counts();
    work();
    counting.counts() - before
}

/// An array of 512 x 512 in shards of 256 x 256 with 16 x 16 inner chunks of 16 x 16. Indexes have 4100 bytes.
fn shards() -> (Array, Counting) {
    let (array, counting) = counted(&[512, 512], &[256, 256], &sharded(&[16, 16], "end"));
    array.write(.., &numbers(&[512, 512])).unwrap();
    (array, counting)
}

const INDEX: u64 = 16 * 256 + 4;

#[test]
fn parts_of_a_shard_cost_two_requests_and_one_once_its_index_is_known() {
    type Part = [std::ops::Range<u64>; 2];
    // parts, and the number of inner chunks that they touch
    let parts: [(Part, u64); 4] = [
        ([0..16, 16..32], 1),
        ([20..21, 0..256], 16), // 16 neighbours
        ([3..4, 30..40], 2),
        ([0..64, 16..32], 4), // a column
    ];
    for (part, inner) in &parts {
        let (array, counting) = shards();
        let read = |array: &Array| cost(&counting, || drop(array.read::<u16>(part.clone()).unwrap()));
        let cold = read(&array);
        assert_eq!(cold.requests(), 2, "{part:?}, cold");
        let warm = read(&array.clone());
        assert_eq!(warm.requests(), 1, "{part:?}, warm: clones share the cache");
        assert_eq!(cold.bytes_read - warm.bytes_read, INDEX, "{part:?}");
        assert!(warm.bytes_read <= inner * 512, "{part:?}: {} bytes", warm.bytes_read);
        let off = array.with_index_cache(0);
        assert_eq!([read(&off).requests(), read(&off).requests()], [2, 2], "{part:?}, nothing is cached");
    }
}

#[test]
fn neighbouring_inner_chunks_are_one_range() {
    let (array, counting) = shards();
    let used = cost(&counting, || drop(array.read::<u16>([16..32, 0..256]).unwrap()));
    assert_eq!((used.requests(), used.ranges), (2, 2), "the index, and 16 inner chunks at once");
    let used = cost(&counting, || drop(array.read::<u16>([0..64, 16..32]).unwrap()));
    assert_eq!((used.requests(), used.ranges), (1, 4), "gaps of 7 KiB are not read by default");
    let mut fetching = array.fetching();
    fetching.gap = 8 << 10;
    let patient = array.with_fetching(fetching);
    let used = cost(&counting, || drop(patient.read::<u16>([0..64, 16..32]).unwrap()));
    assert_eq!((used.requests(), used.ranges), (1, 1), "gaps of 7 KiB are read with `gap` of 8 KiB");
}

#[test]
fn a_shard_that_is_small_or_mostly_selected_is_one_request() {
    let (array, counting) = shards();
    for most in [[0..256, 0..256], [256..512, 0..200]] {
        let used = cost(&counting, || drop(array.read::<u16>(most).unwrap()));
        assert_eq!(used.requests(), 1);
    }
    let (small, counting) = counted(&[64, 64], &[32, 32], &sharded(&[4, 4], "start"));
    small.write(.., &numbers(&[64, 64])).unwrap();
    let used = cost(&counting, || drop(small.read::<u16>([0..1, 0..1]).unwrap()));
    assert_eq!(used.requests(), 1, "a shard of 3 KiB is read whole");
}

#[test]
fn a_row_through_64_shards_is_two_requests_each() {
    let (array, counting) = counted(&[64, 64 * 64], &[64, 64], &sharded(&[1, 64], "end"));
    array.write(.., &numbers(&[64, 64 * 64])).unwrap();
    let mut fetching = array.fetching();
    fetching.whole = 1; // these small shards are not read whole
    let array = array.with_fetching(fetching);
    let used = cost(&counting, || drop(array.read::<u16>([9..10, 0..64 * 64]).unwrap()));
    assert_eq!(used.requests(), 128);
    let used = cost(&counting, || drop(array.read::<u16>([10..11, 0..64 * 64]).unwrap()));
    assert_eq!(used.requests(), 64);
}

#[test]
fn an_inner_chunk_of_a_shard_in_a_shard_is_three_requests() {
    let inner = sharded(&[16, 16], "end").remove(0);
    let nested = common::sharded_with(&[128, 128], "end", &[inner]);
    let (array, counting) = counted(&[512, 512], &[512, 512], &nested);
    array.write(.., &numbers(&[512, 512])).unwrap();
    let used = cost(&counting, || {
        assert_eq!(array.read::<u16>([100..101, 300..301]).unwrap().into_vec(), [100 * 512 + 300]);
    });
    assert_eq!(used.requests(), 3);
}

#[test]
fn steps_over_inner_chunks_read_only_those_that_they_hit() {
    let (array, counting) = shards();
    let mut fetching = array.fetching();
    fetching.gap = 0;
    let array = array.with_fetching(fetching);
    let rows = zarr_array::Axis::step(5..250, 64);
    let columns = zarr_array::Axis::step(3..256, 100);
    let told = array.clone().with_index_cache(0).explain((rows.clone(), columns.clone())).unwrap();
    let used = cost(&counting, || {
        let values = array.read::<u16>((rows.clone(), columns.clone())).unwrap();
        assert_eq!(values.shape(), [4, 3]);
        assert_eq!(*values.get(&[1, 2]).unwrap(), 69_u16.wrapping_mul(512).wrapping_add(203));
    });
    assert_eq!((used.requests(), told.inner_chunks), (2, 12));
    assert!(used.bytes_read <= INDEX + 12 * 512, "{} bytes of a shard of 128 KiB", used.bytes_read);
    assert_eq!((told.requests, told.bytes), (used.requests(), used.bytes_read));
}

#[test]
fn inner_chunks_that_are_not_stored_cost_no_further_request() {
    let (array, counting) = shards();
    array.write([0..64, 0..64], &[7_u16; 64 * 64]).unwrap();
    let used =
        cost(&counting, || assert_eq!(array.read::<u16>([2..34, 3..35]).unwrap().into_vec(), [7; 1024]));
    assert_eq!((used.requests(), used.bytes_read), (1, INDEX), "the index says that they are not stored");
    let used = cost(&counting, || assert_eq!(array.read::<u16>([9..10, 3..35]).unwrap().into_vec(), [7; 32]));
    assert_eq!((used.heads, used.requests()), (1, 1), "a cached index is confirmed");
    array.write([0..256, 0..256], &[7_u16; 256 * 256]).unwrap();
    let used = cost(&counting, || assert_eq!(array.read::<u16>([0..1, 0..1]).unwrap().into_vec(), [7]));
    assert_eq!((used.requests(), used.bytes_read), (1, 0), "the shard is gone");
}

#[test]
fn the_index_of_a_shard_that_is_read_in_blocks_is_read_once() {
    let (array, counting) = shards();
    let blocks = array.with_block_size(16, 1 << 20);
    let read = |array: &Array| {
        cost(&counting, || assert_eq!(array.read::<u16>(..).unwrap().into_vec(), numbers(&[512, 512])))
    };
    let cold = read(&blocks);
    assert_eq!((cold.requests(), cold.bytes_read), (4 * (1 + 16), 4 * INDEX + (512 << 10)));
    let warm = read(&blocks);
    assert_eq!(
        (warm.heads, warm.requests(), warm.bytes_read),
        (4, 4 * (1 + 16), 512 << 10),
        "the version is checked once per shard"
    );
    let off = blocks.clone().with_index_cache(0);
    assert_eq!(read(&off).bytes_read, cold.bytes_read, "the index is kept only within a call");
    // a store without versions
    let mut odd = common::Odd::new(blocks.storage());
    odd.versions = false;
    let poor = Array::open(odd.storage(), "/a", &standard()).unwrap().with_block_size(16, 1 << 20);
    assert_eq!(read(&poor).bytes_read, cold.bytes_read);
    // missing shards, and missing inner chunks
    blocks.write([0..256, 0..512], &[7_u16; 256 * 512]).unwrap();
    blocks.write([256..496, 0..512], &[7_u16; 240 * 512]).unwrap();
    let used = cost(&counting, || drop(off.read::<u16>(..).unwrap()));
    assert_eq!(used.requests(), 2 + 2 * (1 + 1), "and a row of inner chunks in each of two shards");
}

#[test]
fn an_index_that_another_writer_changed_is_read_again() {
    let (array, counting) = shards();
    let read = |expected: u16| {
        cost(&counting, || assert_eq!(array.read::<u16>([5..6, 5..6]).unwrap().into_vec(), [expected]))
    };
    assert_eq!(read(5 * 512 + 5).requests(), 2);
    array.write([5..6, 5..6], &[1_u16]).unwrap();
    assert_eq!(read(1).requests(), 2, "a handle knows its own writes");
    let other = Array::open(array.storage().clone(), "/a", &standard()).unwrap();
    other.write([5..6, 5..6], &[2_u16]).unwrap();
    assert_eq!(read(2).requests(), 3, "one more request notices a write of another handle");
    assert_eq!(read(2).requests(), 1);
    // an inner chunk that is missing in the cached index
    array.write([0..64, 0..64], &[7_u16; 64 * 64]).unwrap();
    assert_eq!(read(7).requests(), 1);
    other.write([5..6, 5..6], &[3_u16]).unwrap();
    assert_eq!(read(3).requests(), 3);
}

#[test]
fn part_of_a_shard_is_read_once_and_put_once_and_a_whole_one_only_put() {
    let (array, counting) = shards();
    let used = cost(&counting, || array.write([5..9, 7..8], &[1_u16; 4]).unwrap());
    assert_eq!((used.reads, used.heads, used.puts, used.requests()), (1, 0, 1, 2));
    let used = cost(&counting, || array.write([0..512, 0..256], &numbers(&[512, 256])).unwrap());
    assert_eq!((used.puts, used.requests()), (2, 2));
    // the array ends inside its shards: a write up to its end covers them
    let (array, counting) = counted(&[300, 100], &[256, 256], &sharded(&[16, 16], "end"));
    let used = cost(&counting, || array.write(.., &numbers(&[300, 100])).unwrap());
    assert_eq!((used.puts, used.requests()), (2, 2));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    /// Selections of sharded, nested, uncompressed and compressed arrays, with missing chunks and inner chunks.
    #[test]
    fn explain_predicts_what_the_store_sees(
        kind in 0_usize..6,
        corners in [any::<[Index; 2]>(), any::<[Index; 2]>()],
        step in prop_oneof![3 => Just(1_u64), 1 => Just(3_u64)],
        holes in any::<[Index; 4]>(),
        block in prop_oneof![Just(1_u64 << 14), 1_u64..40],
    ) {
        let chains = common::chains();
        let codecs = match kind {
            0 => sharded(&[4, 8], "end"),
            1 => sharded(&[16, 16], "start"),
            2 => common::sharded_with(&[32, 32], "end", &[sharded(&[8, 8], "end").remove(0)]),
            kind => chains[[0, 2, 4][kind - 3]].clone(),
        };
        let (array, counting) = counted(&[300, 200], &[128, 128], &codecs);
        array.write(.., &numbers(&[300, 200])).unwrap();
        // a hole of whole chunks or parts of chunks
        let hole = [0, 1].map(|dim| {
            let length = [300, 200][dim];
            let start = holes[dim].index(length) as u64;
            start..(start + holes[dim + 2].index(200) as u64).min(length as u64)
        });
        let count = hole.iter().map(|range| range.end - range.start).product::<u64>();
        array.clone().with_empty_chunks(EmptyChunks::Skip)
            .write(hole, &vec![7_u16; usize::try_from(count).unwrap()]).unwrap();
        let axes = [0, 1].map(|dim| {
            let length = [300, 200][dim];
            let start = corners[dim][0].index(length) as u64;
            let end = start + corners[dim][1].index(length + 1 - usize::try_from(start).unwrap()) as u64;
            zarr_array::Axis::step(start..end, if dim == 0 { step } else { 1 })
        });
        let selection = Selection::new(axes.to_vec());
        let array = array.with_index_cache(0).with_cpu(Cpu::threads(2)).with_block_size(block, 64 << 20);
        let told = array.explain(selection.clone()).unwrap();
        let mut got = 0;
        let used = cost(&counting, || got = array.read::<u16>(selection).unwrap().as_slice().len());
        prop_assert_eq!(
            (told.requests, told.ranges, told.bytes, told.bytes_result),
            (used.requests(), used.ranges, used.bytes_read, got as u64 * 2)
        );
        prop_assert!(told.ranges <= told.ranges_wanted && told.bytes_useful <= told.bytes, "{told:?}");
    }
}
