//! Any chunks become any others, in any memory, in at most two passes.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use zarr_conformance::instruments::{Fault, Faulty};
use zarr_copy::zarr_hierarchy::standard;
use zarr_copy::zarr_hierarchy::zarr_array::blocking::Array;
use zarr_copy::zarr_hierarchy::zarr_array::traits::{
    Prefix, StoreErrorKind,
    store::{Op, Read},
};
use zarr_copy::zarr_hierarchy::zarr_array::{ArrayMeta, Axis, DataType, NdVec, Selection, Storage, block_on};
use zarr_copy::{Copy, CopyPlan, Lengths, RunOptions, blocking};
use zarr_store::MemoryStore;

/// Counts of requests by key.
type Counts = Arc<Mutex<BTreeMap<String, u64>>>;

/// Makes an array of random-looking numbers, some chunks of which are not stored.
fn source(shape: &[u64], chunks: &[u64]) -> Storage {
    let storage = Storage::from(MemoryStore::new());
    let meta = ArrayMeta::builder(shape, DataType::UInt16).chunks(chunks).build().unwrap();
    let array = Array::create(storage.clone(), "/", meta, &standard()).unwrap();
    let number = |i: u64| u16::try_from(i.wrapping_mul(40_503) % 65_521).unwrap();
    let numbers = (0..shape.iter().product()).map(number).map(|n| if n < 9000 { 0 } else { n }).collect();
    array.write(.., &NdVec::new(shape, numbers).unwrap()).unwrap();
    storage
}

fn plan(source: &Storage, chunks: &[u64], memory: u64) -> Option<CopyPlan> {
    let copy = Copy::new(source.clone(), "/", &standard()).chunks(Lengths::Shape(chunks.to_vec()));
    blocking::plan(&copy.max_memory(memory).threads(1)).ok()
}

/// Returns a storage that counts reads and puts, and fails every n-th put.
fn counted(storage: &Storage, fails: Option<u64>) -> (Storage, Counts, Counts) {
    let (reads, puts) = (Counts::default(), Counts::default());
    let (in_reads, in_puts) = (reads.clone(), puts.clone());
    let mut number = 0;
    let (storage, _) = Faulty::over(storage, move |_, call| {
        let add = |counts: &Counts| *counts.lock().unwrap().entry(call.target().to_owned()).or_default() += 1;
        match call {
            Op::Read(Read { .. }) => add(&in_reads),
            Op::Put(_) => {
                number += 1;
                if fails.is_some_and(|every| number % every == 0) {
                    return Some(Fault::ErrorBefore(StoreErrorKind::Unavailable));
                }
                add(&in_puts);
            }
            _ => {}
        }
        None
    });
    (storage, reads, puts)
}

fn keys(storage: &Storage) -> Vec<String> {
    let listed = block_on(storage.list_all(&Prefix::root())).unwrap();
    listed.into_iter().map(|object| object.key.to_string()).collect()
}

fn elements(storage: &Storage) -> Vec<u16> {
    Array::open(storage.clone(), "/", &standard()).unwrap().read::<u16>(..).unwrap().into_vec()
}

fn is_own(key: &str) -> bool {
    key == "zarr.json" || key.starts_with("c/") || key == "c"
}

/// From maps to series, with memory for a part.
const SHAPE: [u64; 3] = [128, 32, 32];
const MAPS: [u64; 3] = [1, 32, 32];
const SERIES: [u64; 3] = [128, 2, 2];
const MEMORY: u64 = 40 << 10;

#[test]
fn two_passes_read_every_chunk_once_and_leave_nothing() {
    let maps = source(&SHAPE, &MAPS);
    let (counted_maps, reads, _) = counted(&maps, None);
    let plan = plan(&counted_maps, &SERIES, MEMORY).unwrap();
    let estimate = plan.nodes()[0].estimate().unwrap();
    assert_eq!((estimate.passes, estimate.intermediate), (2, 128 * 32 * 32 * 2));
    assert!(estimate.memory <= MEMORY);
    reads.lock().unwrap().clear();
    let copy = Storage::from(MemoryStore::new());
    let (to, _, puts) = counted(&copy, None);
    blocking::run(&plan, to, "/", RunOptions::new(), &|_| {}).unwrap();
    assert!(elements(&maps) == elements(&copy));
    assert!(keys(&copy).iter().all(|key| is_own(key)), "{:?}", keys(&copy));
    assert!(puts.lock().unwrap().values().all(|times| *times == 1));
    let reads = reads.lock().unwrap();
    let chunks = || reads.iter().filter(|(key, _)| key.starts_with("c/"));
    assert_eq!((chunks().count(), chunks().map(|(_, times)| *times).max()), (128, Some(1)));
    // One pass would have read each chunk more often.
    assert!(estimate.reads < 128 * 10);
}

#[test]
fn two_passes_are_compared_and_resumed() {
    let maps = source(&SHAPE, &MAPS);
    let plan = plan(&maps, &SERIES, MEMORY).unwrap();
    let whole = Storage::from(MemoryStore::new());
    let done = blocking::run(&plan, whole.clone(), "/", RunOptions::new().verify(true), &|_| {}).unwrap();
    assert_eq!(done.elements, plan.elements());
    // A complete copy is compared without an intermediate array.
    let options = RunOptions::new().resume(true).verify(true);
    assert!(blocking::run(&plan, whole.clone(), "/", options, &|_| {}).unwrap().was_complete);

    let copy = Storage::from(MemoryStore::new());
    let mut put = BTreeMap::<String, u64>::new();
    for run in 0.. {
        assert!(run < 200);
        let (to, _, puts) = counted(&copy, Some(50));
        let result = blocking::run(&plan, to, "/", RunOptions::new().resume(true), &|_| {});
        for (key, times) in puts.lock().unwrap().iter() {
            *put.entry(key.clone()).or_default() += times;
        }
        if result.is_ok() {
            assert!(run > 0);
            break;
        }
    }
    assert_eq!(keys(&copy), keys(&whole));
    assert!(elements(&copy) == elements(&maps));
    assert!(put.iter().all(|(key, times)| *times == 1 || !key.starts_with("c/")), "{put:?}");
}

#[test]
fn a_copy_is_resumed_with_other_memory() {
    let maps = source(&SHAPE, &MAPS);
    for other in [MEMORY * 2, 64 << 20] {
        let copy = Storage::from(MemoryStore::new());
        let (to, _, _) = counted(&copy, Some(80));
        let small = plan(&maps, &SERIES, MEMORY).unwrap();
        blocking::run(&small, to, "/", RunOptions::new(), &|_| {}).unwrap_err();
        assert!(!keys(&copy).iter().all(|key| is_own(key)));
        let plan = plan(&maps, &SERIES, other).unwrap();
        blocking::run(&plan, copy.clone(), "/", RunOptions::new().resume(true).verify(true), &|_| {})
            .unwrap();
        assert!(keys(&copy).iter().all(|key| is_own(key)), "{other}");
        assert!(elements(&copy) == elements(&maps));
    }
}

fn lengths() -> impl Strategy<Value = (Vec<u64>, Vec<u64>, Vec<u64>)> {
    let dimension = || (1..25_u64, 1..25_u64, 1..25_u64);
    prop::collection::vec(dimension(), 1..4).prop_map(|dimensions| {
        let pick = |part: fn(&(u64, u64, u64)) -> u64| dimensions.iter().map(part).collect::<Vec<_>>();
        (pick(|d| d.0), pick(|d| d.1.min(d.0)), pick(|d| d.2.min(d.0)))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    #[test]
    fn a_copy_equals_its_source_for_any_chunks_and_memory(
        (shape, from, to) in lengths(),
        memory in 1_u64..200_000,
    ) {
        // Objects that stay as they are are read whole, and a plan does not know their sizes.
        let memory = if from == to { memory + (1 << 20) } else { memory };
        let from = source(&shape, &from);
        if let Some(plan) = plan(&from, &to, memory) {
            let estimate = plan.nodes()[0].estimate().unwrap();
            prop_assert!(estimate.passes <= 2 && estimate.memory <= memory);
            let copy = Storage::from(MemoryStore::new());
            let (counted, _, puts) = counted(&copy, None);
            blocking::run(&plan, counted, "/", RunOptions::new().verify(true), &|_| {}).unwrap();
            prop_assert!(elements(&copy) == elements(&from));
            prop_assert!(keys(&copy).iter().all(|key| is_own(key)));
            prop_assert!(puts.lock().unwrap().values().all(|times| *times == 1));
        }
    }

    #[test]
    fn a_copy_of_a_part_equals_the_part(
        ((shape, from, to), parts) in lengths().prop_flat_map(|lengths| {
            let parts: Vec<_> = lengths.0.iter().map(|length| axis(*length)).collect();
            (Just(lengths), parts)
        }),
        memory in 1_u64..50_000,
    ) {
        let from = source(&shape, &from);
        let selection = Selection::new(parts);
        let copy = Copy::new(from.clone(), "/", &standard()).chunks(Lengths::Shape(to)).select("", selection.clone());
        if let Ok(plan) = blocking::plan(&copy.max_memory(memory).threads(1)) {
            prop_assert!(plan.nodes()[0].estimate().unwrap().memory <= memory);
            let copy = Storage::from(MemoryStore::new());
            blocking::run(&plan, copy.clone(), "/", RunOptions::new().verify(true), &|_| {}).unwrap();
            let wanted = Array::open(from, "/", &standard()).unwrap().read::<u16>(selection).unwrap();
            let copied = Array::open(copy.clone(), "/", &standard()).unwrap();
            prop_assert_eq!(copied.shape(), wanted.shape());
            prop_assert!(copied.read::<u16>(..).unwrap() == wanted);
            prop_assert!(keys(&copy).iter().all(|key| is_own(key)));
        }
    }
}

/// Any elements of a dimension, which stays.
fn axis(length: u64) -> impl Strategy<Value = Axis> {
    let end = i64::try_from(length).unwrap();
    prop_oneof![
        (0..=end, 0..=end, 1_i64..4, any::<bool>())
            .prop_map(|(a, b, step, back)| Axis::step(a.min(b)..a.max(b), if back { -step } else { step })),
        prop::collection::vec(-end..end, 1..12).prop_map(Axis::list),
    ]
}
