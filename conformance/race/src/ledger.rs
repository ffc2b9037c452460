//! What is known to have been written, and what a cell may hold: the same rules for a reader beside the writers and for
//! the end.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::plan::{Part, Plan, SIDE, origin};

/// For each cell the number of the last write of its owner that was acknowledged.
#[derive(Debug)]
pub(crate) struct Ledger {
    plan: Plan,
    acknowledged: Vec<AtomicU64>,
}

/// What is wrong with the value of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrong {
    /// The owner of the cell has never written this to it.
    Foreign,
    /// There was a newer value.
    Old,
}

impl Ledger {
    pub(crate) fn new(plan: Plan) -> Self {
        Self { plan, acknowledged: Part::ALL.cells().map(|_| AtomicU64::new(0)).collect() }
    }

    /// Notes an acknowledged write. Whoever reads its cells from now on must see it.
    pub(crate) fn acknowledge(&self, writer: u64, number: u64) {
        for cell in self.plan.part(writer, number).cells() {
            self.acknowledged[index(cell)].store(number, Ordering::SeqCst);
        }
    }

    /// The oldest writes that a read which begins now may see.
    pub(crate) fn snapshot(&self) -> Vec<u64> {
        self.acknowledged.iter().map(|number| number.load(Ordering::SeqCst)).collect()
    }

    /// The number of the write that the value of a cell is from, if it is one of the owner and not older than `oldest`. A
    /// newer one than was acknowledged is right: in flight, or begun by a process that was killed, or failed half way.
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

/// Where a cell is in a list of all, in C order.
pub(crate) fn index((row, column): (u64, u64)) -> usize {
    usize::try_from(row * SIDE + column).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::value;

    #[test]
    fn a_cell_may_hold_what_its_owner_wrote_and_nothing_older_than_acknowledged() {
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
