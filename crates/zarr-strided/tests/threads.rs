//! Cells are taken once and are disjoint, and memory outlives them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use proptest::prelude::*;
use zarr_strided::{Cut, Cuts, Destination, Output, StridedError, zeroed};

/// Returns a cut with pieces of these lengths.
fn listed(lengths: &[u64]) -> Cut {
    Cut::new(0, 1, lengths.iter().sum(), lengths.iter().map(|length| (*length, 1))).unwrap()
}

#[test]
fn a_cell_is_handed_out_once() {
    let mut values = [0u8; 6];
    let tiles = Destination::of(&mut values, &[2, 3]).unwrap();
    let tiles = tiles.split(Cuts::new(vec![listed(&[1, 1]), listed(&[1, 0, 2])])).unwrap();
    for cell in 0..4 {
        let taken = tiles.take(cell).unwrap();
        assert_eq!(taken.shape(), [[1, 1], [1, 2]][cell as usize % 2]);
        assert!(tiles.take(cell).is_none());
    }
    assert!(tiles.take(4).is_none());
    assert!(tiles.take(u64::MAX).is_none());
}

#[test]
fn cuts_must_add_up() {
    let mut values = [0u8; 6];
    let mut split = |cuts| Destination::of(&mut values, &[6]).unwrap().split(Cuts::new(cuts)).map(|_| ());
    assert!(matches!(split(vec![listed(&[3, 2])]), Err(StridedError::Shape { .. })));
    assert!(split(vec![listed(&[6]), listed(&[1])]).is_err());
    assert!(split(vec![listed(&[3, 3])]).is_ok());
    assert!(Cut::new(0, 1, 7, [(u64::MAX, 1), (1, 1)]).is_ok());
    assert!(Cut::new(0, 1, 7, [(3, 2)]).is_err(), "the intervals end before the elements");
    assert!(Cut::new(0, 0, 7, [(7, 1)]).is_err() && Cut::even(1, u64::MAX, 2, 4).is_err());
    assert!(Cut::even(0, 1, u64::MAX, u64::MAX - 1).is_ok_and(|cut| cut.len() == 2));
    assert!(Cut::one(4, 3, 3, 1, 4..8).is_err() && Cut::one(4, 1, 2, 1, 5..8).is_err());
    assert_eq!(Cut::one(4, 3, 2, 1, 4..8).unwrap().piece(0), Cut::even(4, 3, 2, 4).unwrap().piece(0));
    assert!(Cut::one(9, 1, 0, 0, 0..4).unwrap().is_empty());
    assert!(Cuts::new(vec![Cut::even(0, 1, 1 << 16, 1).unwrap(); 4]).cells().is_err());
    assert!(Output::new(vec![0u8; 5], &[6], Cuts::whole(&[6])).is_err());
    let output = Output::new(vec![0u8; 1], &[], Cuts::whole(&[])).unwrap();
    assert_eq!(output.cells(), 1);
    output.take(0).unwrap().fill(&[3]).unwrap();
    assert_eq!(output.into_vec::<u8>().unwrap(), [3]);
    let empty = Output::new(Vec::<u8>::new(), &[0], Cuts::new(vec![listed(&[])])).unwrap();
    assert!(empty.take(0).is_none());
}

#[test]
fn threads_take_each_cell_once_and_fill_it() {
    let (rows, columns) = (vec![7, 1, 25, 31], vec![13, 3, 50]);
    let output = Output::new(
        zeroed::<u32>(64 * 66).unwrap(),
        &[64, 66],
        Cuts::new(vec![listed(&rows), listed(&columns)]),
    )
    .unwrap();
    let taken = AtomicU64::new(0);
    thread::scope(|threads| {
        for _ in 0..4 {
            let (output, taken) = (output.clone(), &taken);
            threads.spawn(move || {
                for cell in 0..output.cells() {
                    if let Some(mut part) = output.take(cell) {
                        taken.fetch_add(1, Ordering::Relaxed);
                        part.fill(&(cell as u32 + 1).to_ne_bytes()).unwrap();
                    }
                }
            });
        }
    });
    assert_eq!(taken.into_inner(), 12);
    let values = output.into_vec::<u32>().unwrap();
    let number = |pieces: &[u64], at: usize| {
        pieces
            .iter()
            .scan(0, |end, n| {
                *end += n;
                Some(*end)
            })
            .position(|end| (at as u64) < end)
            .unwrap()
    };
    for (i, value) in values.iter().enumerate() {
        let cell = number(&rows, i / 66) * 3 + number(&columns, i % 66);
        assert_eq!(*value as usize, cell + 1, "element {i}");
    }
}

#[test]
fn into_vec_needs_the_last_handle_and_the_right_type() {
    let output = Output::new(vec![1u16, 2], &[2], Cuts::whole(&[2])).unwrap();
    let other = output.clone();
    let output = output.into_vec::<u16>().unwrap_err();
    drop(other);
    let output = output.into_vec::<i16>().unwrap_err();
    assert_eq!(output.shape(), [2]);
    assert_eq!(output.into_vec::<u16>().unwrap(), [1, 2]);
    let mut values = [1u16, 2];
    Output::lend(Destination::of(&mut values, &[2]).unwrap(), Cuts::whole(&[2]), |output| {
        assert!(output.into_vec::<u16>().is_err());
    })
    .unwrap();
}

/// Keeps a clone of the handle on another thread for a while, then writes.
fn write_late(output: &Output, done: &'static AtomicBool) {
    let output = output.clone();
    thread::spawn(move || {
        thread::sleep(Duration::from_millis(50));
        output.take(0).unwrap().fill(&[5]).unwrap();
        done.store(true, Ordering::SeqCst);
    });
}

#[test]
fn lend_waits_for_every_handle() {
    static DONE: AtomicBool = AtomicBool::new(false);
    let mut values = [0u8; 3];
    let answer = Output::lend(Destination::of(&mut values, &[3]).unwrap(), Cuts::whole(&[3]), |output| {
        write_late(&output, &DONE);
        42
    });
    assert!(DONE.load(Ordering::SeqCst));
    assert_eq!((answer, values), (Ok(42), [5; 3]));
}

#[test]
fn lend_waits_also_when_the_call_panics() {
    static DONE: AtomicBool = AtomicBool::new(false);
    let mut values = [0u8; 3];
    let lend = || {
        Output::lend(Destination::of(&mut values, &[3]).unwrap(), Cuts::whole(&[3]), |output| {
            write_late(&output, &DONE);
            panic!("a job failed");
        })
    };
    assert!(catch_unwind(AssertUnwindSafe(lend)).is_err());
    assert!(DONE.load(Ordering::SeqCst));
    assert_eq!(values, [5; 3]);
}

#[test]
fn lend_checks_its_arguments_before_the_call() {
    let called =
        Output::lend(Destination::of(&mut [0u8; 3], &[3]).unwrap(), Cuts::whole(&[4]), |_| panic!("called"));
    assert!(called.is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(if cfg!(miri) { 8 } else { 100 }) })]

    /// Every element is in exactly one cell.
    #[test]
    fn cells_cover_each_element_once(pieces in prop::collection::vec(prop::collection::vec(0..5u64, 0..5), 0..4)) {
        let cuts = Cuts::new(pieces.iter().map(|lengths| listed(lengths)).collect());
        let shape = cuts.shape();
        let cells = cuts.cells().unwrap();
        let mut values = vec![0u8; shape.product().unwrap() as usize];
        let tiles = Destination::of(&mut values, &shape).unwrap().split(cuts).unwrap();
        let mut elements = 0;
        for cell in 0..cells {
            let mut part = tiles.take(cell).unwrap();
            elements += part.len();
            part.fill(&[1]).unwrap();
        }
        prop_assert_eq!(Some(elements), shape.product());
        drop(tiles);
        prop_assert!(values.iter().all(|&value| value == 1));
    }

    /// The pieces of a cut are those found by counting through its intervals.
    #[test]
    fn pieces_follow_from_the_intervals(
        start in 0..20u64, step in 1..12u64, count in 0..30u64,
        runs in prop::collection::vec((0..9u64, 0..4u64), 0..8),
    ) {
        let ends = |intervals: &[(u64, u64)]| {
            let lengths = intervals.iter().flat_map(|(length, times)| vec![*length; *times as usize]);
            lengths.scan(0, |end, length| { *end += length; Some((*end - length, *end)) }).collect::<Vec<_>>()
        };
        let intervals = ends(&runs);
        let end = intervals.last().map_or(0, |(_, end)| *end);
        let cut = Cut::new(start, step, count, runs);
        let Ok(cut) = cut else {
            prop_assert!(count > 0 && start + (count - 1) * step >= end);
            return Ok(());
        };
        let mut number = 0;
        for (interval, (from, to)) in intervals.into_iter().enumerate() {
            let elements: Vec<u64> = (0..count).filter(|i| (from..to).contains(&(start + i * step))).collect();
            let interval = interval as u64;
            let Some(first) = elements.first() else {
                prop_assert_eq!(cut.find_interval(interval), None);
                continue;
            };
            let piece = cut.piece(number).unwrap();
            prop_assert_eq!((piece.interval, piece.start, piece.length), (interval, from, to - from));
            prop_assert_eq!(piece.elements, *first..first + elements.len() as u64);
            prop_assert_eq!(cut.find_interval(interval), Some(number));
            for element in elements {
                prop_assert_eq!(cut.find(element), Some(number));
            }
            number += 1;
        }
        prop_assert_eq!((cut.len(), cut.piece(number), cut.find(count)), (number, None, None));
    }
}
