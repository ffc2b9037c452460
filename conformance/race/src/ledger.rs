//! The acknowledged writes, and the values that a cell may have, during the race and at the end.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::plan::{Part, Plan, SIDE, origin};

/// The number of the last acknowledged write for each cell.
#[derive(Debug)]
pub(crate) struct Ledger {
    plan: Plan,
    acknowledged: Vec<AtomicU64>,
}

/// A wrong value of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrong {
    /// The owner of the cell has never written this value.
    Foreign,
    /// The value is older than allowed.
    Old,
}

impl Ledger {
    pub(crate) fn new(plan: Plan) -> Self {
        Self { plan, acknowledged: Part::ALL.cells().map(|_| AtomicU64::new(0)).collect() }
    }

    /// Notes an acknowledged write. Reads that begin later must see it.
    pub(crate) fn acknowledge(&self, writer: u64, number: u64) {
        for cell in self.plan.part(writer, number).cells() {
            self.acknowledged[index(cell)].store(number, Ordering::SeqCst);
        }
    }

    /// Returns the oldest writes that a read may see if it begins now.
    pub(crate) fn snapshot(&self) -> Vec<u64> {
        self.acknowledged.iter().map(|number| number.load(Ordering::SeqCst)).collect()
    }

    /// Returns the number of the write of a cell's value, if its owner wrote it and it is not older than `oldest`. A
    /// value that is not acknowledged yet is right: its write may be in flight or have failed in part, or its process
    /// was killed.
    pub(crate) fn check(&self, cell: (u64, u64), value: u32, oldest: u64) -> Result<u64, Wrong> {
        let (writer, number) = origin(value);
        let is_whole = value == 0
            || number > 0 && writer == self.plan.owner(cell) && self.plan.part(writer, number).has(cell);
        match is_whole {
            false => Err(Wrong::Foreign),
            true if number < oldest => Err(Wrong::Old),
            true => Ok(number),
        }
    }
}

/// Returns the index of a cell in C order.
pub(crate) fn index((row, column): (u64, u64)) -> usize {
    usize::try_from(row * SIDE + column).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::value;

    #[test]
    fn a_cell_has_a_value_of_its_owner_and_none_older_than_acknowledged() {
        let plan = Plan { seed: 1, writers: 2 };
        let ledger = Ledger::new(plan);
        let cell = plan.part(1, 5).cells().next().unwrap();
        let elsewhere = (1..).find(|&number| !plan.part(1, number).has(cell)).unwrap();
        assert_eq!(ledger.check(cell, 0, 0), Ok(0));
        assert_eq!(ledger.check(cell, value(1, 5), 0), Ok(5));
        assert_eq!(ledger.check(cell, value(0, 5), 0), Err(Wrong::Foreign));
        assert_eq!(ledger.check(cell, value(1, 0), 0), Err(Wrong::Foreign));
        assert_eq!(ledger.check(cell, value(1, elsewhere), 0), Err(Wrong::Foreign));
        ledger.acknowledge(1, 5);
        let oldest = ledger.snapshot()[index(cell)];
        assert_eq!(ledger.check(cell, 0, oldest), Err(Wrong::Old));
        assert_eq!(ledger.check(cell, value(1, 5), oldest), Ok(5));
    }
}
