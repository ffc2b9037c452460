//! The progress of calls is counted, and calls are cancelled through it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use zarr_array::blocking::Array;
use zarr_array::{Amount, ArrayErrorKind, Cpu, Progress, Selection, Storage, block_on, standard};
use zarr_store::MemoryStore;

use crate::common::{Odd, chains, counted, meta, numbers, refused};

fn amounts(progress: &Progress) -> [(u64, u64); 2] {
    [progress.done(), progress.expected()].map(|amount| (amount.chunks, amount.bytes))
}

#[test]
fn every_chunk_of_a_call_is_counted_once() {
    for chain in chains() {
        let (array, _) = counted(&[40, 60], &[8, 10], &chain);
        let cases: [(Selection, u64, u64); 5] = [
            ((..).into(), 30, 40 * 60),
            ((3..20, -1).into(), 3, 17),
            ((.., [59, 0, 7]).into(), 10, 40 * 3),
            ((0..0, ..).into(), 0, 0),
            ((39, ..).into(), 6, 60),
        ];
        let mut written = Progress::new();
        for (selection, chunks, elements) in cases {
            written = Progress::new();
            let values = vec![3_u16; usize::try_from(elements).unwrap()];
            array.clone().with_progress(written.clone()).write(selection.clone(), &values).unwrap();
            assert_eq!(amounts(&written), [(chunks, 2 * elements); 2], "write {selection:?}");
            for cpu in [Cpu::inline(), Cpu::threads(2)] {
                let read = Progress::new();
                let watched = array.clone().with_cpu(cpu).with_progress(read.clone());
                watched.read::<u16>(selection.clone()).unwrap();
                assert_eq!(amounts(&read), [(chunks, 2 * elements); 2], "read {selection:?}");
            }
        }
        array.clone().with_progress(written.clone()).read::<u16>((39, ..)).unwrap();
        assert_eq!(amounts(&written), [(12, 240); 2], "calls add up");
    }
}

#[test]
fn progress_grows_to_what_is_expected() {
    let (array, _) = counted(&[40, 60], &[8, 10], &chains()[4]);
    let seen = Arc::new(Mutex::new(Vec::<(Amount, Amount)>::new()));
    let inside = seen.clone();
    let progress = Progress::reporting(move |done, expected| inside.lock().unwrap().push((done, expected)));
    array.with_cpu(Cpu::inline()).with_progress(progress).write(.., &numbers(&[40, 60])).unwrap();
    let seen = seen.lock().unwrap();
    assert!(seen.is_sorted_by_key(|(done, _)| (done.chunks, done.bytes)));
    let chunks: Vec<_> = seen.iter().map(|(done, expected)| (done.chunks, expected.chunks)).collect();
    assert_eq!(chunks, (0..=30).map(|n| (n, 30)).collect::<Vec<_>>());
}

#[test]
fn a_cancelled_call_starts_no_further_chunk() {
    let memory = Storage::from(MemoryStore::new());
    let array = Array::create(memory.clone(), "/", meta(&[200], &[2], &chains()[4]), &standard()).unwrap();
    array.write(.., &numbers(&[200])).unwrap();
    for storage in [memory.clone(), Odd::slow(&memory, Duration::from_millis(1), 4)] {
        let array = Array::open(storage, "/", &standard()).unwrap();
        for cpu in [Cpu::inline(), Cpu::threads(2)] {
            let own: Arc<Mutex<Option<Progress>>> = Arc::default();
            let inside = own.clone();
            let progress = Progress::reporting(move |done, _| {
                if let (3.., Some(progress)) = (done.chunks, &*inside.lock().unwrap()) {
                    progress.cancel();
                }
            });
            *own.lock().unwrap() = Some(progress.clone());
            let watched = array.clone().with_cpu(cpu).with_progress(progress.clone());
            let (kind, message) = refused(watched.read::<u16>(..));
            assert_eq!((kind, message.contains("the call was cancelled")), (ArrayErrorKind::Cancelled, true));
            assert!((3..20).contains(&progress.done().chunks), "{} chunks", progress.done().chunks);
            let later = block_on(watched.clone().into_async().read::<u16>(0));
            assert_eq!(refused(later).0, ArrayErrorKind::Cancelled);
            assert_eq!(refused(watched.write(0, &[1_u16])).0, ArrayErrorKind::Cancelled);
            *own.lock().unwrap() = None;
        }
        assert_eq!(array.read::<u16>(..).unwrap().as_slice(), numbers(&[200]));
    }
}
