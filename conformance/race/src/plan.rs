//! What each writer writes: columns of its own, between those of the others, so that no write is aligned to a chunk and all
//! chunks are everybody's. `writer.py` has the same rules.

use std::ops::Range;

/// Rows and columns of the array.
pub(crate) const SIDE: u64 = 64;

/// All that is written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) writers: u64,
    /// Of each writer.
    pub(crate) writes: u64,
}

/// One write: some rows of some of the columns of a writer, all with the same value.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Write {
    pub(crate) rows: Range<u64>,
    /// From the first to behind the last; each [`Plan::writers`]th of them.
    pub(crate) columns: Range<u64>,
    pub(crate) value: i64,
}

impl Plan {
    /// Write number `number` of a writer.
    pub(crate) fn write(self, writer: u64, number: u64) -> Write {
        let random = mix(writer * 1_000_000 + number);
        let own = SIDE / self.writers;
        let row = random % SIDE;
        let height = (1 + (random >> 8) % 3).min(SIDE - row);
        let first = (random >> 16) % own;
        let count = (1 + (random >> 24) % 4).min(own - first);
        let column = writer + first * self.writers;
        let end = column + (count - 1) * self.writers + 1;
        Write { rows: row..row + height, columns: column..end, value: value(writer, number) }
    }

    /// Whether a value may stand in a cell: that of a write of its owner which covers it, or nothing yet.
    pub(crate) fn is_possible(self, row: u64, column: u64, value: i64) -> bool {
        let Some((writer, number)) = parts(value) else { return value == 0 };
        let owner = column % self.writers;
        let write = self.write(owner, number);
        writer == owner
            && column / self.writers < SIDE / self.writers
            && number < self.writes
            && write.rows.contains(&row)
            && write.columns.contains(&column)
    }

    /// What must be there at the end, row by row.
    pub(crate) fn outcome(self) -> Vec<i64> {
        let mut cells = vec![0; usize::try_from(SIDE * SIDE).unwrap_or(0)];
        for writer in 0..self.writers {
            for number in 0..self.writes {
                let write = self.write(writer, number);
                for row in write.rows {
                    for column in write.columns.clone().step_by(usize::try_from(self.writers).unwrap_or(1)) {
                        cells[usize::try_from(row * SIDE + column).unwrap_or(0)] = write.value;
                    }
                }
            }
        }
        cells
    }
}

/// A value tells who has written it, and when.
fn value(writer: u64, number: u64) -> i64 {
    i64::try_from(((writer + 1) << 32) + number + 1).unwrap_or(-1)
}

/// The writer and the number of its write.
pub(crate) fn parts(value: i64) -> Option<(u64, u64)> {
    let value = u64::try_from(value).ok()?;
    Some(((value >> 32).checked_sub(1)?, (value & 0xffff_ffff).checked_sub(1)?))
}

/// splitmix64.
fn mix(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outcome_is_possible_and_a_value_in_a_strange_cell_is_not() {
        let plan = Plan { writers: 4, writes: 100 };
        let outcome = plan.outcome();
        for (cell, value) in (0..).zip(&outcome) {
            assert!(plan.is_possible(cell / SIDE, cell % SIDE, *value), "cell {cell}: {value}");
        }
        let written = (0..).zip(&outcome).find(|(_, value)| **value != 0);
        let (cell, value) = written.expect("something was written");
        assert!(
            !plan.is_possible(cell / SIDE, cell % SIDE + 1, *value),
            "the next column is another writer's"
        );
        assert!(!plan.is_possible(cell / SIDE, cell % SIDE, value + 1000), "a write that does not exist");
    }
}
