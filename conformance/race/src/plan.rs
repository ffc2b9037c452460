//! The array, the owners of its cells, and the values to write. `writer.py` has the same in Python.

use std::collections::BTreeSet;

use zarr_array::{Axis, Selection};

/// The number of rows and columns of the array.
pub(crate) const SIDE: u64 = 64;
/// Rows and columns of a chunk, or of a shard.
pub(crate) const CHUNK: u64 = 32;
/// Rows and columns of an inner chunk.
pub(crate) const INNER: u64 = 8;
/// The side of the squares of cells with one owner. Each square is inside one inner chunk.
const SQUARE: u64 = 2;
/// The most writers for which every inner chunk has cells of each writer.
pub(crate) const MOST_WRITERS: usize = 7;

/// The plan that all processes of a race share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) seed: u16,
    pub(crate) writers: u64,
}

/// Every `step`-th index from `start` to before `stop`, as a slice in Python.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub(crate) start: u64,
    pub(crate) stop: u64,
    pub(crate) step: u64,
}

/// A part of the array.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub(crate) rows: Span,
    pub(crate) columns: Span,
}

impl Plan {
    /// Returns the owner of a cell, which is the only writer to it.
    pub(crate) fn owner(self, (row, column): (u64, u64)) -> u64 {
        (row / SQUARE + column / SQUARE) % self.writers
    }

    /// Returns the part of the `number`-th write of a writer. It has no state, so a writer can continue anywhere.
    pub(crate) fn part(self, writer: u64, number: u64) -> Part {
        let mut random = Random(u64::from(self.seed) << 48 | writer << 32 | number);
        let squares = SIDE / SQUARE;
        // One square of the writer.
        let row = random.below(squares);
        let first = (writer + squares * self.writers - row) % self.writers;
        let column = first + self.writers * random.below((squares - 1 - first) / self.writers + 1);
        let (row, column) = (SQUARE * row, SQUARE * column);
        // One cell in it. The next square of the writer begins this many steps further.
        let (r, c) = (row + random.below(SQUARE), column + random.below(SQUARE));
        let step = SQUARE * self.writers;
        let one = |at| Span { start: at, stop: at + 1, step: 1 };
        let side = |at| Span { start: at, stop: at + SQUARE, step: 1 };
        let some = |at| Span { start: at, stop: SIDE.min(at + 3 * step + 1), step };
        let (rows, columns) = match random.below(5) {
            0 => (one(r), one(c)),
            1 => (one(r), side(column)),
            2 => (side(row), side(column)),
            3 => (one(r), some(c)),
            _ => (some(r), one(c)),
        };
        Part { rows, columns }
    }
}

/// Returns the value that a write puts into each of its cells.
pub(crate) fn value(writer: u64, number: u64) -> u32 {
    u32::try_from(writer << 24 | number).unwrap_or(u32::MAX)
}

/// Returns the writer and the number of the write of a value. The number 0 means a cell that was not written.
pub(crate) fn origin(value: u32) -> (u64, u64) {
    (u64::from(value >> 24), u64::from(value & 0xFF_FFFF))
}

impl Span {
    fn iter(self) -> impl Iterator<Item = u64> {
        (self.start..self.stop).step_by(usize::try_from(self.step).unwrap_or(usize::MAX))
    }

    fn has(self, at: u64) -> bool {
        (self.start..self.stop).contains(&at) && (at - self.start).is_multiple_of(self.step)
    }
}

impl Part {
    pub(crate) const ALL: Self = {
        let all = Span { start: 0, stop: SIDE, step: 1 };
        Self { rows: all, columns: all }
    };

    /// Returns the row and column of each cell, in C order.
    pub(crate) fn cells(self) -> impl Iterator<Item = (u64, u64)> {
        self.rows.iter().flat_map(move |row| self.columns.iter().map(move |column| (row, column)))
    }

    pub(crate) fn has(self, (row, column): (u64, u64)) -> bool {
        self.rows.has(row) && self.columns.has(column)
    }

    /// Returns the number of chunks or shards with cells of this part.
    pub(crate) fn chunks(self) -> usize {
        self.cells().map(|(row, column)| (row / CHUNK, column / CHUNK)).collect::<BTreeSet<_>>().len()
    }

    pub(crate) fn selection(self) -> Selection {
        let axis = |span: Span| Axis::step(span.start..span.stop, span.step);
        Selection::new(vec![axis(self.rows), axis(self.columns)])
    }
}

/// splitmix64.
#[derive(Debug)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % n
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writers_write_only_to_their_own_cells() {
        for writers in 1..=MOST_WRITERS as u64 {
            let plan = Plan { seed: 3, writers };
            for (writer, number) in (0..writers).flat_map(|w| (1..500).map(move |n| (w, n))) {
                let part = plan.part(writer, number);
                assert!(part.cells().all(|cell| plan.owner(cell) == writer && part.has(cell)));
                assert!((1..=4).contains(&part.cells().count()));
                assert!(part.rows.stop <= SIDE && part.columns.stop <= SIDE);
                assert_eq!(origin(value(writer, number)), (writer, number));
            }
        }
    }

    #[test]
    fn all_writers_have_cells_in_every_inner_chunk() {
        let plan = Plan { seed: 0, writers: MOST_WRITERS as u64 };
        for (row, column) in (0..SIDE).step_by(8).flat_map(|r| (0..SIDE).step_by(8).map(move |c| (r, c))) {
            let cells = (row..row + INNER).flat_map(|r| (column..column + INNER).map(move |c| (r, c)));
            let owners: BTreeSet<u64> = cells.map(|cell| plan.owner(cell)).collect();
            assert_eq!(owners.len(), MOST_WRITERS);
        }
    }
}
