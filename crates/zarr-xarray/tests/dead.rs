//! Writers of shared appends that die at any call of the store: readers go on, and after a release the next writers.

use std::pin::pin;
use std::process::{Command, Stdio};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use zarr_conformance::instruments::{Fault, Faulty, Network, Simulated};
use zarr_hierarchy::blocking::Group;
use zarr_hierarchy::zarr_array::traits::store::Op;
use zarr_hierarchy::zarr_array::{ConsolidatedPolicy, NdVec, Storage, block_on, standard};
use zarr_hierarchy::{GroupOptions, UseConsolidated};
use zarr_store::MemoryStore;
use zarr_store_fs::FsStore;
use zarr_xarray::blocking::Dataset;
use zarr_xarray::{
    Append, Calendar, Encoding, FromOptions, InterruptedAppend, NewDataset, NewVariable, NumberType,
    TimeUnit, Times,
};

const DAY: i64 = 86_400;

/// There are no other living writers to wait for.
const BRIEFLY: Append = Append::SharedFor(Duration::from_millis(3));

fn days(from: i64, to: i64) -> NewDataset {
    let times = Times::new(Calendar::Standard, TimeUnit::Seconds, (from..to).map(|day| day * DAY).collect());
    let numbers: Vec<f64> = (from..to).flat_map(|day| [day as f64, f64::NAN]).collect();
    let shape = [u64::try_from(to - from).unwrap(), 2];
    NewDataset::new()
        .coordinate("time", NewVariable::new(["time"], times))
        .variable("t", NewVariable::new(["time", "x"], NdVec::new(shape, numbers).unwrap()))
}

fn create(storage: &Storage) {
    let packed = Encoding::new().data_type(NumberType::Int16).scale(0.5).missing(-1).chunks([2, 2]);
    let numbers = NdVec::new([3, 2], (0..3).flat_map(|day| [f64::from(day), f64::NAN]).collect()).unwrap();
    let new = days(0, 3).variable("t", NewVariable::new(["time", "x"], numbers).encoding(packed));
    Dataset::create(storage.clone(), "/", new, &standard()).unwrap();
}

fn open(storage: &Storage) -> Dataset {
    Dataset::open(Group::open(storage.clone(), "/", &standard()).unwrap()).unwrap()
}

fn from_documents(storage: &Storage) -> Dataset {
    let options = GroupOptions::new().use_consolidated(UseConsolidated::Ignore);
    Dataset::open(Group::open_with(storage.clone(), "/", &standard(), &options).unwrap()).unwrap()
}

/// Checks that all variables have the same days, and returns them.
fn found(dataset: &Dataset) -> Vec<i64> {
    let times = dataset.variable("time").unwrap().read_times().unwrap().in_unit(TimeUnit::Seconds).unwrap();
    let days: Vec<i64> = times.values().iter().map(|second| second / DAY).collect();
    let numbers = dataset.variable("t").unwrap().read_masked::<f64>().unwrap().into_vec();
    assert_eq!(numbers, days.iter().flat_map(|day| [Some(*day as f64), None]).collect::<Vec<_>>());
    days
}

/// Polls an append until a call of the store hangs, and drops it. Returns `false` if it ends before.
fn is_dropped(append: impl Future<Output = ()>, layer: &Faulty) -> bool {
    let mut append = pin!(append);
    let mut late = 0;
    while late < 20 {
        if let Poll::Ready(()) = append.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return false;
        }
        // Other threads may still be working.
        std::thread::sleep(Duration::from_millis(1));
        late += layer.faults();
    }
    true
}

/// Lets an append die.
fn die(storage: &Storage, layer: &Faulty) -> bool {
    let append = async {
        let group = zarr_xarray::Group::open(storage.clone(), "/", &standard()).await.unwrap();
        let mut dataset = zarr_xarray::Dataset::open(group).await.unwrap();
        dataset.append_with("time", days(3, 5), BRIEFLY).await.unwrap();
    };
    is_dropped(append, layer)
}

#[test]
fn a_dead_writer_stops_no_reader_and_after_a_release_no_writer() {
    let (mut stopped, mut went_on) = (0, 0);
    for fault in [Fault::HangBefore, Fault::HangAfter] {
        for number in 1.. {
            let storage = Storage::from(MemoryStore::new());
            create(&storage);
            // A remote store is polled by the append itself, which can be dropped in the middle of a call.
            let network = Network::default().round_trip(Duration::ZERO);
            let (faulty, layer) = Faulty::nth(&Simulated::over(&storage, network).0, number, fault);
            let is_dead = die(&faulty, &layer);
            // What is seen is all or nothing of the append.
            let seen = found(&open(&storage));
            assert!(seen == [0, 1, 2] || seen == [0, 1, 2, 3, 4], "{fault:?}, call {number}: {seen:?}");

            let first = i64::try_from(seen.len()).unwrap();
            let more = || days(first, first + 1);
            match open(&storage).append_with("time", more(), BRIEFLY) {
                Ok(()) => went_on += 1,
                Err(error) => {
                    stopped += 1;
                    assert!(is_dead, "{error:#}");
                    assert_eq!(found(&open(&storage)), seen, "{fault:?}, call {number}");
                    open(&storage).release("time").unwrap();
                    assert_eq!(found(&from_documents(&storage)), seen, "{fault:?}, call {number}");
                    open(&storage).append_with("time", more(), BRIEFLY).unwrap();
                }
            }
            let all: Vec<i64> = (0..=first).collect();
            assert_eq!(found(&open(&storage)), all, "{fault:?}, call {number}");
            if !is_dead {
                break;
            }
        }
    }
    assert!(stopped > 3 && went_on > 3, "{stopped} {went_on}");
}

/// Lets an append of a lone writer die.
fn die_alone(storage: &Storage, layer: &Faulty) -> bool {
    let append = async {
        let group = zarr_xarray::Group::open(storage.clone(), "/", &standard()).await.unwrap();
        let mut dataset = zarr_xarray::Dataset::open(group).await.unwrap();
        let more = Storage::from(MemoryStore::new());
        let more = zarr_xarray::Dataset::create(more, "/", days(3, 5), &standard()).await.unwrap();
        dataset.append_from("time", &more, &FromOptions::new(), &|_| ()).await.unwrap();
    };
    is_dropped(append, layer)
}

/// A lone writer that dies at any write leaves the dataset as it was, or a marker by which the append is finished or
/// undone, also where the arrays have different lengths.
#[test]
fn a_dead_lone_writer_leaves_a_marker_by_which_its_append_is_finished_or_undone() {
    let (mut torn, mut whole) = (0, 0);
    for (fault, finishes) in [
        (Fault::HangBefore, true),
        (Fault::HangBefore, false),
        (Fault::HangAfter, true),
        (Fault::HangAfter, false),
    ] {
        for number in 1.. {
            let storage = Storage::from(MemoryStore::new());
            create(&storage);
            let network = Network::default().round_trip(Duration::ZERO);
            let mut writes = 0;
            let (faulty, layer) = Faulty::over(&Simulated::over(&storage, network).0, move |_, op| {
                writes += u32::from(matches!(op, Op::Put(_) | Op::Delete(_)));
                (writes == number && matches!(op, Op::Put(_) | Op::Delete(_))).then_some(fault)
            });
            let is_dead = die_alone(&faulty, &layer);
            // Readers of consolidated metadata see all or nothing.
            let seen = found(&open(&storage));
            assert!(seen == [0, 1, 2] || seen == [0, 1, 2, 3, 4], "{fault:?}, write {number}: {seen:?}");
            let group = Group::open(storage.clone(), "/", &standard()).unwrap().into_async();
            let left = block_on(InterruptedAppend::find(&group)).unwrap();
            let wanted: &[i64] = match &left {
                None => &seen,
                Some(append) => {
                    torn += 1;
                    assert_eq!((append.dimension(), append.from(), append.to()), ("time", 3, 5));
                    assert_eq!(append.arrays().collect::<Vec<_>>(), ["t", "time"]);
                    // Nothing is appended before.
                    let error = open(&storage).append("time", days(7, 8)).unwrap_err();
                    assert!(format!("{error:#}").contains("was interrupted"), "{error:#}");
                    if finishes { &[0, 1, 2, 3, 4] } else { &[0, 1, 2] }
                }
            };
            whole += u32::from(left.is_none());
            match left {
                Some(append) if finishes => block_on(append.finish()).unwrap(),
                Some(append) => block_on(append.undo()).unwrap(),
                None => {}
            }
            assert_eq!(found(&open(&storage)), wanted, "{fault:?}, write {number}");
            assert_eq!(found(&from_documents(&storage)), wanted, "{fault:?}, write {number}");
            assert!(block_on(InterruptedAppend::find(&group)).unwrap().is_none());
            let first = i64::try_from(wanted.len()).unwrap();
            open(&storage).append("time", days(first, first + 1)).unwrap();
            assert_eq!(found(&from_documents(&storage)), (0..=first).collect::<Vec<_>>());
            if !is_dead {
                break;
            }
        }
    }
    assert!(torn > 8 && whole > 8, "{torn} {whole}");
}

#[test]
fn an_append_that_waits_in_vain_says_so() {
    let storage = Storage::from(MemoryStore::new());
    create(&storage);
    // The document of the time axis is one longer than consolidated metadata says.
    let group = Group::open(storage.clone(), "/", &standard()).unwrap();
    block_on(async {
        let array = group.array("time").unwrap().into_async();
        array.with_consolidated(ConsolidatedPolicy::Keep).extend(0, 1).await.unwrap();
    });
    let error = open(&storage).append_with("time", days(3, 4), BRIEFLY).unwrap_err();
    let text = format!("{error:#}");
    assert!(text.contains("positions 3..4 are reserved") && text.contains("release"), "{text}");
    open(&storage).release("time").unwrap();
    assert!(open(&storage).release("x").is_ok());
    assert!(open(&storage).release("nope").is_err());
    open(&storage).append_with("time", days(3, 4), BRIEFLY).unwrap();
    assert_eq!(found(&from_documents(&storage)), [0, 1, 2, 3]);
}

/// The variable that makes the test below a writer that ends itself: its directory.
const WRITER: &str = "ZARR_XARRAY_DYING_WRITER";

#[test]
fn a_process_that_ends_in_an_append_stops_no_reader() {
    if let Ok(directory) = std::env::var(WRITER) {
        let storage = Storage::from(FsStore::open(directory).unwrap());
        let mut puts = 0;
        let (dying, _) = Faulty::over(&storage, move |_, op| {
            puts += u32::from(matches!(op, Op::Put(_)));
            if puts == 3 {
                std::process::abort();
            }
            None
        });
        let _ = open(&dying).append_with("time", days(3, 5), BRIEFLY);
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let storage = Storage::from(FsStore::create(directory.path()).unwrap());
    create(&storage);
    let mut writer = Command::new(std::env::current_exe().unwrap());
    writer.args(["--exact", "dead::a_process_that_ends_in_an_append_stops_no_reader"]);
    writer.env(WRITER, directory.path()).stdout(Stdio::null()).stderr(Stdio::null());
    assert!(!writer.status().unwrap().success());
    assert_eq!(found(&open(&storage)), [0, 1, 2]);
    if open(&storage).append_with("time", days(3, 4), BRIEFLY).is_err() {
        open(&storage).release("time").unwrap();
        open(&storage).append_with("time", days(3, 4), BRIEFLY).unwrap();
    }
    assert_eq!(found(&open(&storage)), [0, 1, 2, 3]);
}
