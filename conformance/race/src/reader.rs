//! The reader beside the writers: every value that it sees must be possible, and none older than one it has seen.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Result;

use crate::plan::{Plan, SIDE, parts};
use crate::store;

/// What it has seen.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) reads: u64,
    /// Reads that failed, with the first error.
    pub(crate) errors: u64,
    pub(crate) first_error: Option<String>,
    /// Values that nobody has written to their cell.
    pub(crate) torn: u64,
    /// Values older than what was there before.
    pub(crate) stale: u64,
}

/// Reads until it is told to stop: all of the array, and parts of it.
pub(crate) fn watch(directory: &Path, plan: Plan, stop: &AtomicBool) -> Result<Seen> {
    let array = store::open(directory)?;
    let mut seen = Seen::default();
    let mut last = vec![0; usize::try_from(SIDE * SIDE)?];
    while !stop.load(Ordering::Relaxed) {
        let part = match seen.reads % 4 {
            0 => [0..SIDE, 0..SIDE],
            n => [n * 9..n * 9 + 11, n * 13..n * 13 + 7],
        };
        seen.reads += 1;
        let values = match array.read::<i64>(part.clone()) {
            Ok(values) => values.into_vec(),
            Err(e) => {
                seen.errors += 1;
                seen.first_error.get_or_insert_with(|| e.to_string());
                continue;
            }
        };
        let cells = part[0].clone().flat_map(|row| part[1].clone().map(move |column| (row, column)));
        for ((row, column), value) in cells.zip(values) {
            let before = &mut last[usize::try_from(row * SIDE + column)?];
            let number = |value| parts(value).map_or(0, |(_, number)| number + 1);
            if !plan.is_possible(row, column, value) {
                seen.torn += 1;
            } else if number(value) < number(*before) {
                seen.stale += 1;
            } else {
                *before = value;
            }
        }
    }
    Ok(seen)
}
