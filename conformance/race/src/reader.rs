//! Reads the array repeatedly during the writes.

use std::sync::atomic::{AtomicBool, Ordering};

use zarr_array::blocking::Array;

use crate::ledger::{Ledger, Wrong, index};
use crate::plan::{Part, Random, SIDE, Span};

/// The number of parts that are read after each pass over the whole array.
const PARTS: usize = 8;

/// Counts of reads and of wrong reads.
#[derive(Debug, Default)]
pub(crate) struct Reads {
    pub(crate) passes: u64,
    pub(crate) parts: u64,
    /// Reads that failed.
    pub(crate) errors: u64,
    /// Reads with a value that was never written to its cell.
    pub(crate) foreign: u64,
    /// Reads with a value older than one that was acknowledged or seen before the read began.
    pub(crate) old: u64,
    pub(crate) first_error: Option<String>,
}

/// Reads until the writers are done, and then once more.
pub(crate) fn run(array: &Array, ledger: &Ledger, done: &AtomicBool) -> Reads {
    let mut reader = Reader { array, ledger, oldest: ledger.snapshot(), reads: Reads::default() };
    let mut random = Random(0);
    let mut span = || {
        let start = random.below(SIDE);
        Span { start, stop: start + 1 + random.below(SIDE - start), step: 1 + random.below(3) }
    };
    loop {
        let is_last = done.load(Ordering::SeqCst);
        reader.read(Part::ALL);
        reader.reads.passes += 1;
        for _ in 0..PARTS {
            reader.read(Part { rows: span(), columns: span() });
            reader.reads.parts += 1;
        }
        if is_last {
            return reader.reads;
        }
    }
}

struct Reader<'a> {
    array: &'a Array,
    ledger: &'a Ledger,
    /// The oldest write that may be seen in each cell.
    oldest: Vec<u64>,
    reads: Reads,
}

impl Reader<'_> {
    fn read(&mut self, part: Part) {
        for (oldest, acknowledged) in self.oldest.iter_mut().zip(self.ledger.snapshot()) {
            *oldest = acknowledged.max(*oldest);
        }
        let values = match self.array.read::<u32>(part.selection()) {
            Ok(values) => values,
            Err(e) => {
                self.reads.errors += 1;
                self.reads.first_error.get_or_insert_with(|| format!("{e:#}"));
                return;
            }
        };
        let (mut foreign, mut old) = (false, false);
        for (cell, value) in part.cells().zip(values.as_slice()) {
            let oldest = &mut self.oldest[index(cell)];
            match self.ledger.check(cell, *value, *oldest) {
                Ok(number) => *oldest = number,
                Err(Wrong::Foreign) => foreign = true,
                Err(Wrong::Old) => old = true,
            }
        }
        self.reads.foreign += u64::from(foreign);
        self.reads.old += u64::from(old);
    }
}
