//! What appenders write, and what a reader may see of it: the rule for readers, without its processes.

use std::collections::HashMap;

/// The columns of the array, and the shape of its chunks: each append is in several chunks.
pub(crate) const COLUMNS: usize = 6;
pub(crate) const CHUNK: [u64; 2] = [4, 2];

const WIDTH: u64 = COLUMNS as u64;

/// The rows of a store from one on, as they were read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window<'a> {
    /// The first row, which begins a chunk.
    pub(crate) from: u64,
    pub(crate) values: &'a [u64],
    /// The length of the array, as the handle knows it.
    pub(crate) length: u64,
}

/// An append, which no other process repeats. Its values tell it and their place in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Append {
    pub(crate) process: u64,
    /// From 1.
    pub(crate) number: u64,
}

impl Append {
    pub(crate) fn rows(self) -> u64 {
        1 + (self.process + self.number) % 7
    }

    pub(crate) fn values(self) -> Vec<u64> {
        (0..self.rows() * WIDTH).map(|place| self.value(place)).collect()
    }

    pub(crate) fn value(self, place: u64) -> u64 {
        self.process << 40 | self.number << 8 | place
    }

    /// Returns the append that wrote a value, and its row there.
    pub(crate) fn of(value: u64) -> Option<(Self, u64)> {
        let (append, place) = (Self { process: value >> 40, number: value >> 8 & 0xFFFF_FFFF }, value & 0xFF);
        (append.number > 0 && place < append.rows() * WIDTH).then_some((append, place / WIDTH))
    }

    /// The line of a writer that acknowledges the append at row `start`.
    pub(crate) fn line(self, start: u64) -> String {
        format!("{} {} {start}\n", self.process, self.number)
    }
}

/// The appends that were acknowledged, of the lines of their writers.
#[derive(Debug, Default)]
pub(crate) struct Acknowledged {
    /// How many.
    pub(crate) count: u64,
    /// The append at each row, the row in it, and how many were acknowledged before.
    rows: Vec<Option<(Append, u64, u64)>>,
    /// The last append of each process.
    last: HashMap<u64, u64>,
}

impl Acknowledged {
    /// Adds a line. Returns `None` for text that is none.
    pub(crate) fn add(&mut self, line: &str) -> Option<()> {
        let mut numbers = line.split(' ').map(|word| word.parse::<u64>().ok());
        let mut next = || numbers.next().flatten();
        let (append, start) = (Append { process: next()?, number: next()? }, next()?);
        for row in 0..append.rows() {
            let at = usize::try_from(start + row).ok()?;
            self.rows.resize(self.rows.len().max(at + 1), None);
            self.rows[at] = Some((append, row, self.count));
        }
        self.last.insert(append.process, append.number);
        self.count += 1;
        Some(())
    }

    /// The least length of the array.
    pub(crate) fn length(&self) -> u64 {
        self.rows.len() as u64
    }

    /// Returns the value of a cell, if that was among the first `count` acknowledged appends.
    fn value(&self, row: u64, column: u64, count: u64) -> Option<u64> {
        let (append, at, number) = (*self.rows.get(usize::try_from(row).ok()?)?)?;
        (number < count).then(|| append.value(at * WIDTH + column))
    }

    /// Whether the append was begun: each process has at most one that is not acknowledged.
    fn has_begun(&self, append: Append) -> bool {
        append.number <= self.last.get(&append.process).unwrap_or(&0) + 1
    }
}

/// What reads have seen of appends that were not acknowledged when they began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sights {
    /// Appends of which some chunks were there, and others not.
    pub(crate) parts: u64,
    /// Whole appends.
    pub(crate) wholes: u64,
    /// Rows with nothing but the fill value.
    pub(crate) empty: u64,
}

/// What one reader has seen so far.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    values: Vec<u64>,
    starts: HashMap<Append, u64>,
}

impl Reader {
    /// Checks what was read after the first `before` appends had been acknowledged, with all that were when it had ended. If
    /// the writer stores the shape last, no element below it may be missing.
    pub(crate) fn check(
        &mut self,
        window: Window<'_>,
        before: u64,
        acknowledged: &Acknowledged,
        is_last: bool,
    ) -> Result<Sights, String> {
        let mut sights = Sights::default();
        let mut unfinished: Vec<Append> = Vec::new();
        for (row, values) in (window.from..).zip(window.values.chunks_exact(COLUMNS)) {
            sights.empty += u64::from(values.iter().all(|value| *value == 0));
            for (column, value) in (0..).zip(values.iter().copied()) {
                let wrong = |why: &str| Err(format!("row {row}, column {column}: {value:#x} {why}"));
                let expected = acknowledged.value(row, column, before);
                if expected.is_some_and(|expected| value != expected) {
                    return wrong("is not what was acknowledged");
                }
                if !self.remembers(row, column, value) {
                    return wrong("was another value before");
                }
                if value == 0 {
                    if is_last {
                        return wrong("is below the shape");
                    }
                    continue;
                }
                let Some((append, at)) = Append::of(value) else { return wrong("was never written") };
                if append.value(at * WIDTH + column) != value {
                    return wrong("is of another column");
                }
                let start = row.checked_sub(at);
                if start.is_none_or(|start| *self.starts.entry(append).or_insert(start) != start) {
                    return wrong("is of another row");
                }
                if start.is_some_and(|start| start + append.rows() > window.length) {
                    return wrong("is of an append beyond the shape");
                }
                if !acknowledged.has_begun(append) {
                    return wrong("is of an append that has not begun");
                }
                if expected.is_none() && !unfinished.contains(&append) {
                    unfinished.push(append);
                }
            }
        }
        for append in unfinished {
            let is_whole = self.chunks(window, append)?;
            *if is_whole { &mut sights.wholes } else { &mut sights.parts } += 1;
        }
        Ok(sights)
    }

    /// Whether a cell still has the value that was seen in it. The fill value may become another one.
    fn remembers(&mut self, row: u64, column: u64, value: u64) -> bool {
        let Ok(cell) = usize::try_from(row * WIDTH + column) else { return false };
        self.values.resize(self.values.len().max(cell + 1), 0);
        let seen = std::mem::replace(&mut self.values[cell], value);
        seen == 0 || seen == value
    }

    /// Checks that each chunk has all of its elements of an append or none. Returns whether all chunks have them.
    fn chunks(&self, window: Window<'_>, append: Append) -> Result<bool, String> {
        let start = self.starts.get(&append).copied().unwrap_or(0);
        let is_there = |row: u64, column: u64| {
            let cell = usize::try_from((row - window.from) * WIDTH + column).ok();
            let value = cell.and_then(|cell| window.values.get(cell));
            value == Some(&append.value((row - start) * WIDTH + column))
        };
        let read = window.from + (window.values.len() / COLUMNS) as u64;
        let (first, end) = (start.max(window.from), read.min(start + append.rows()));
        let mut is_whole = true;
        for chunk in first / CHUNK[0]..=(end - 1) / CHUNK[0] {
            let rows = first.max(chunk * CHUNK[0])..end.min((chunk + 1) * CHUNK[0]);
            for left in (0..WIDTH / CHUNK[1]).map(|column| column * CHUNK[1]) {
                let cells =
                    || rows.clone().flat_map(|row| (left..left + CHUNK[1]).map(move |column| (row, column)));
                let there = cells().filter(|(row, column)| is_there(*row, *column)).count();
                if there != 0 && there != cells().count() {
                    return Err(format!("chunk [{chunk}, {}]: a part of {append:?}", left / CHUNK[1]));
                }
                is_whole &= there > 0;
            }
        }
        Ok(is_whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two appends of process 1, of three and of four rows: the first one is acknowledged. The array has seven rows.
    const APPENDS: [Append; 2] = [Append { process: 1, number: 1 }, Append { process: 1, number: 2 }];

    fn acknowledged() -> Acknowledged {
        let mut acknowledged = Acknowledged::default();
        acknowledged.add("1 1 0").unwrap();
        assert_eq!(acknowledged.length(), 3);
        acknowledged
    }

    /// Reads all rows with a change of some cells, of an array with all values.
    fn read(reader: &mut Reader, cells: &[(usize, u64)], is_last: bool) -> Result<Sights, String> {
        let mut values = [APPENDS[0].values(), APPENDS[1].values()].concat();
        cells.iter().for_each(|(cell, value)| values[*cell] = *value);
        reader.check(Window { from: 0, values: &values, length: 7 }, 1, &acknowledged(), is_last)
    }

    #[test]
    fn a_reader_sees_whole_chunks_of_appends_in_their_places_and_all_that_was_acknowledged() {
        let empty = |cells: &[usize]| cells.iter().map(|cell| (*cell, 0)).collect::<Vec<_>>();
        // The second append is in row 3 of the first row of chunks, and in rows 4 to 6 of the second.
        let rest: Vec<usize> = (18..42).collect();
        let (first, second) = (empty(&rest), empty(&[18, 19]));
        let mut reader = Reader::default();
        let none = Sights::default();
        for (cells, expected) in [
            (&first, Sights { empty: 4, ..none }),
            (&second, Sights { parts: 1, ..none }),
            (&vec![], Sights { wholes: 1, ..none }),
        ] {
            assert_eq!(read(&mut reader, cells, cells.is_empty()), Ok(expected), "{cells:?}");
        }
        // The rows of whole chunks that were read count, not those behind them.
        let values = [APPENDS[0].values(), APPENDS[1].values()].concat();
        let window = Window { from: 0, values: &values[..24], length: 7 };
        let seen = reader.check(window, 1, &acknowledged(), true);
        assert_eq!(seen, Ok(Sights { wholes: 1, ..none }));
        let gone = read(&mut reader, &second, false).unwrap_err();
        assert!(gone.contains("was another value before"), "{gone}");
        let of = |process, number, place| Append { process, number }.value(place);
        for (cells, is_last, why) in [
            (empty(&[0]), false, "is not what was acknowledged"),
            (empty(&[18, 19]), true, "is below the shape"),
            (empty(&[18]), false, "a part of"),
            (vec![(18, 5)], false, "was never written"),
            (vec![(19, of(1, 2, 0))], false, "is of another column"),
            (vec![(24, of(1, 2, 0))], false, "is of another row"),
            (vec![(36, of(1, 3, 0))], false, "beyond the shape"),
            (vec![(36, of(3, 3, 36))], false, "has not begun"),
        ] {
            let found = read(&mut Reader::default(), &cells, is_last).unwrap_err();
            assert!(found.contains(why), "{cells:?}: {found}");
        }
    }
}
