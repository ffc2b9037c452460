//! Shards with very many inner chunks, and shards larger than the limits on decoded bytes.

use std::time::Duration;

use crate::common::{Odd, meta, numbers, sharded};
use proptest::prelude::*;
use zarr_array::blocking::Array;
use zarr_array::{Axis, Cpu, Limits, NdVec, OpenOptions, Selection, Storage, standard};
use zarr_store::MemoryStore;

/// Opens an array with limits that allow half of a shard of so many bytes.
fn open(storage: &Storage, shard: u64) -> Array {
    let mut limits = Limits::default();
    limits.chunk_bytes = shard / 2;
    let options = OpenOptions::new().limits(limits);
    Array::open_with(storage.clone(), "/a", &standard(), &options).unwrap().with_cpu(Cpu::threads(2))
}

#[test]
fn any_number_of_inner_chunks_is_read_and_written() {
    one_shard(24_000);
}

#[test]
#[ignore = "large: cargo xtask full"]
fn large_any_number_of_inner_chunks_is_read_and_written() {
    one_shard(1 << 17);
}

/// Writes and reads one shard with so many inner chunks of 64 bytes, which are several blocks of them.
fn one_shard(count: u64) {
    const INNER: u64 = 32;
    let shard = INNER * count;
    let storage = Storage::from(MemoryStore::new());
    Array::create(storage.clone(), "/a", meta(&[shard], &[shard], &sharded(&[INNER], "end")), &standard())
        .unwrap();
    let array = open(&storage, 2 * shard);
    let all = numbers(&[shard]);
    array.write(.., &all).unwrap();
    for part in [0..shard, 0..INNER * (count / 2 + 1), 5..INNER * (count - 500) + 3, shard - 7..shard] {
        let [from, to] = [part.start, part.end].map(|n| usize::try_from(n).unwrap());
        assert_eq!(array.read::<u16>(part.clone()).unwrap().as_slice(), &all[from..to], "{part:?}");
    }
    let listed = array.inner_chunks(&[0]).unwrap().unwrap();
    let spans = listed.iter().map(|inner| (inner.start[0], inner.span.map(|span| span.offset)));
    assert!(spans.eq((0..count).map(|i| (i * INNER, Some(i * INNER * 2)))));
    // remote, and with steps that hit every inner chunk or every third one
    let remote = open(&Odd::slow(&storage, Duration::ZERO, 4), 2 * shard);
    assert_eq!(remote.read::<u16>(..).unwrap().into_vec(), all);
    for step in [5, 3 * INNER] {
        let expected: Vec<u16> =
            all.iter().copied().skip(2).step_by(usize::try_from(step).unwrap()).collect();
        for array in [&array, &remote] {
            let axis = Axis::step(2..shard, step);
            assert_eq!(array.read::<u16>(Selection::new(vec![axis])).unwrap().into_vec(), expected);
        }
    }
    // most inner chunks, the first and the last one in part
    let part = 5..INNER * (count - 4000) - 5;
    array.write(part.clone(), &vec![7_u16; usize::try_from(part.end - part.start).unwrap()]).unwrap();
    let now = array.read::<u16>(..).unwrap().into_vec();
    for (i, (now, old)) in (0..).zip(now.iter().zip(&all)) {
        assert_eq!(*now, if part.contains(&i) { 7 } else { *old }, "element {i}");
    }
    // most of them hold only fill values now
    assert_eq!(array.read::<u16>(40..INNER * (count - 4100)).unwrap().as_slice().iter().max(), Some(&7));
}

/// The fill value of [`meta`].
const FILL: u16 = 7;

#[test]
fn a_shard_of_few_stored_inner_chunks_is_read_and_written() {
    many_inner_chunks(1 << 18);
}

/// Its index has 256 MiB.
#[test]
#[ignore = "large: cargo xtask full"]
fn large_a_shard_of_sixteen_million_inner_chunks_is_read_and_written() {
    many_inner_chunks(1 << 24);
}

/// Writes and reads parts of one shard with so many inner chunks of two elements.
fn many_inner_chunks(count: u64) {
    let all = 2 * count;
    let storage = Storage::from(MemoryStore::new());
    let meta = meta(&[all], &[all], &sharded(&[2], "end"));
    let array = Array::create(storage, "/a", meta, &standard()).unwrap().with_cpu(Cpu::threads(2));
    let (first, last) = (3..all / 14, all - 5..all);
    let len = |range: &std::ops::Range<u64>| usize::try_from(range.end - range.start).unwrap();
    array.write(first.clone(), &vec![5_u16; len(&first)]).unwrap();
    array.write(last.clone(), &vec![9_u16; len(&last)]).unwrap();
    let wanted = |i: u64| match i {
        i if first.contains(&i) => 5,
        i if last.contains(&i) => 9,
        _ => FILL,
    };
    for part in [0..all, first.end - 10..first.end + 10, all - all / 10..all] {
        let got = array.read::<u16>(part.clone()).unwrap();
        assert!(part.clone().zip(got.as_slice()).all(|(i, got)| *got == wanted(i)), "{part:?}");
    }
}

/// The shape of a shard of 16 GiB decoded, in inner chunks of 512 KiB. Few of them are stored.
const LARGE: [u64; 3] = [512, 4096, 4096];

/// Generates a box of the shard, as start and shape.
fn large_box() -> impl Strategy<Value = ([u64; 3], [u64; 3])> {
    let side = |dim: usize| (0..LARGE[dim] - 1, 1..80_u64);
    (side(0), side(1), side(2)).prop_map(|sides| {
        let sides = [sides.0, sides.1, sides.2];
        let len = |dim: usize| sides[dim].1.min(LARGE[dim] - sides[dim].0);
        ([0, 1, 2].map(|dim| sides[dim].0), [len(0), len(1), len(2)])
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    /// Any box of the shard is written and read, no matter what else is stored.
    #[test]
    fn any_box_of_a_shard_of_16_gib_is_read_and_written(
        boxes in prop::collection::vec(large_box(), 1..4), remote in any::<bool>(),
    ) {
        let storage = Storage::from(MemoryStore::new());
        let meta = meta(&LARGE, &LARGE, &sharded(&[64, 64, 64], "end"));
        Array::create(storage.clone(), "/a", meta, &standard()).unwrap();
        let storage = if remote { Odd::slow(&storage, Duration::ZERO, 4) } else { storage };
        let array = Array::open(storage, "/a", &standard()).unwrap().with_cpu(Cpu::threads(2));
        let ranges = |(start, shape): &([u64; 3], [u64; 3])| [0, 1, 2].map(|d| start[d]..start[d] + shape[d]);
        for (number, one) in (1_u16..).zip(&boxes) {
            let count = usize::try_from(one.1.iter().product::<u64>()).unwrap();
            array.write(ranges(one), &vec![number; count]).unwrap();
        }
        for one in &boxes {
            let got = array.read::<u16>(ranges(one)).unwrap();
            check_box(&got, one, &boxes)?;
        }
        // a line through the whole shard
        let line = array.read::<u16>([0..1, 5..6, 0..LARGE[2]]).unwrap();
        check_box(&line, &([0, 5, 0], [1, 1, LARGE[2]]), &boxes)?;
    }
}

/// Checks that each element of a box comes from the last box that was written there.
fn check_box(
    got: &NdVec<u16>,
    (start, shape): &([u64; 3], [u64; 3]),
    boxes: &[([u64; 3], [u64; 3])],
) -> Result<(), TestCaseError> {
    let mut elements = got.as_slice().iter();
    for x in start[0]..start[0] + shape[0] {
        for y in start[1]..start[1] + shape[1] {
            for z in start[2]..start[2] + shape[2] {
                let at = [x, y, z];
                let inside = |(start, shape): &([u64; 3], [u64; 3])| {
                    (0..3).all(|dim| (start[dim]..start[dim] + shape[dim]).contains(&at[dim]))
                };
                let last = boxes.iter().rposition(inside).map_or(usize::from(FILL), |at| at + 1);
                prop_assert_eq!(usize::from(*elements.next().unwrap()), last, "{:?}", at);
            }
        }
    }
    Ok(())
}
