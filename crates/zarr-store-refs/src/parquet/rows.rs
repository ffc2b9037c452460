//! The decoded records of a row group.

use std::collections::HashMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use zarr_store::references::Reference;
use zarr_traits::Bytes;

use crate::limits::RefsLimits;
use crate::parquet::bits::Hybrid;
use crate::parquet::footer::{COLUMNS, Column, Group, OFFSET, PATH, RAW, SIZE};
use crate::parquet::page::{Page, Pages};
use crate::parquet::problem::{Parsed, Problem};
use crate::parquet::values::{BYTE_ARRAY, INT32, INT64, Integers, Text, Texts, beyond};

/// The records of a row group: 4 to 20 bytes each, and each location once.
#[derive(Debug)]
pub(crate) struct Rows {
    /// The number of the first row in the file, and the number of rows.
    first: u64,
    len: u64,
    /// The index of the location of each row, up to the last row that has one; or [`NONE`].
    paths: Vec<u32>,
    offsets: Narrow,
    sizes: Narrow,
    /// A location, or why it cannot be one.
    locations: Vec<Result<Arc<str>, String>>,
    /// The rows whose bytes are in the file, in order.
    inline: Vec<(u64, Bytes)>,
    memory: usize,
}

/// The index of no location.
const NONE: u32 = u32::MAX;

/// The memory of a row without locations and bytes, at most.
const ROW: u64 = 20;

impl Rows {
    /// Decodes the records of a row group of a whole file.
    pub(crate) fn decode(file: &Bytes, group: &Group, limits: &RefsLimits) -> Parsed<Self> {
        let mut budget = Budget { left: limits.decoded_bytes, most: limits.decoded_bytes };
        budget.take(group.rows.saturating_mul(ROW))?;
        let reading = |index: usize| Reading { file, group, limits, index };
        if group.columns[PATH].is_none() && group.columns[RAW].is_none() {
            return Err(Problem::corrupt("there is neither a column \"path\" nor a column \"raw\""));
        }
        let mut locations = Locations::new(limits);
        let paths = reading(PATH).paths(&mut locations, &mut budget)?;
        let (offsets, sizes) = if paths.is_empty() {
            (Narrow::default(), Narrow::default())
        } else {
            (reading(OFFSET).integers(paths.len())?, reading(SIZE).integers(paths.len())?)
        };
        let inline = reading(RAW).inline(&mut budget)?;
        let rows = paths.capacity() * 4 + offsets.memory() + sizes.memory();
        let memory = rows + to_usize(budget.most - budget.left - group.rows * ROW);
        let (first, len) = (group.first, group.rows);
        Ok(Self { first, len, paths, offsets, sizes, locations: locations.list, inline, memory })
    }

    /// Whether a row, by its number in the file, is one of them.
    pub(crate) fn holds(&self, row: u64) -> bool {
        row.checked_sub(self.first).is_some_and(|at| at < self.len)
    }

    /// The memory of the records in bytes, about.
    pub(crate) fn memory(&self) -> usize {
        self.memory
    }

    /// Returns the reference in a row, by its number in the file.
    pub(crate) fn reference(&self, row: u64) -> Parsed<Option<Reference>> {
        let wrong = |column: usize, why: String| Err(Problem::corrupt(why).at(place(column, row)));
        if let Ok(at) = self.inline.binary_search_by_key(&row, |(row, _)| *row) {
            let bytes = &self.inline[at].1;
            return match bytes.strip_prefix(b"base64:") {
                None => Ok(Some(Reference::Bytes(bytes.clone()))),
                Some(encoded) => match STANDARD.decode(encoded) {
                    Ok(bytes) => Ok(Some(Reference::Bytes(bytes.into()))),
                    Err(e) => wrong(RAW, format!("the reference is not base64: {e}")),
                },
            };
        }
        let at = to_usize(row.saturating_sub(self.first));
        let Some(path) = self.paths.get(at).filter(|path| **path != NONE) else { return Ok(None) };
        let location = match &self.locations[*path as usize] {
            Ok(location) => Arc::clone(location),
            Err(why) => return wrong(PATH, why.clone()),
        };
        let (offset, size) = (self.offsets.get(at), self.sizes.get(at));
        match (u64::try_from(offset), u64::try_from(size)) {
            (Ok(0), Ok(0)) => Ok(Some(Reference::Object(location))),
            (Ok(offset), Ok(0)) => wrong(SIZE, format!("the reference has 0 bytes at offset {offset}")),
            (Ok(offset), Ok(len)) => Ok(Some(Reference::Range { location, offset, len, check: None })),
            (Err(_), _) => wrong(OFFSET, format!("{offset} is not an offset")),
            (_, Err(_)) => wrong(SIZE, format!("{size} is not a size")),
        }
    }
}

fn place(column: usize, row: u64) -> String {
    format!("column {:?}, row {row}", COLUMNS[column])
}

fn to_usize(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Integers in as few bytes as their largest one needs: none as long as all are the same, then four or eight each.
#[derive(Debug)]
enum Narrow {
    Same(i64, usize),
    Four(Vec<u32>),
    Eight(Vec<i64>),
}

impl Default for Narrow {
    fn default() -> Self {
        Self::Same(0, 0)
    }
}

impl Narrow {
    /// Adds one of `most` values.
    fn push(&mut self, value: i64, most: usize) {
        match (&mut *self, u32::try_from(value)) {
            (Self::Same(same, len), _) if *len == 0 || *same == value => (*same, *len) = (value, *len + 1),
            (Self::Same(same, len), _) => {
                let (same, len) = (*same, *len);
                *self = match u32::try_from(same) {
                    Ok(same) => Self::Four(filled(same, len, most.min(len.max(FIRST)))),
                    Err(_) => Self::Eight(filled(same, len, most)),
                };
                self.push(value, most);
            }
            (Self::Four(values), Ok(value)) => {
                if values.len() == values.capacity() {
                    values.reserve_exact(most.saturating_sub(values.len()));
                }
                values.push(value);
            }
            (Self::Four(values), Err(_)) => {
                let mut wide = Vec::with_capacity(most);
                wide.extend(values.iter().map(|value| i64::from(*value)));
                wide.push(value);
                *self = Self::Eight(wide);
            }
            (Self::Eight(values), _) => values.push(value),
        }
    }

    /// Returns a value, or 0 if it was not pushed.
    fn get(&self, at: usize) -> i64 {
        match self {
            Self::Same(value, len) => {
                if at < *len {
                    *value
                } else {
                    0
                }
            }
            Self::Four(values) => values.get(at).copied().map_or(0, i64::from),
            Self::Eight(values) => values.get(at).copied().unwrap_or(0),
        }
    }

    fn memory(&self) -> usize {
        match self {
            Self::Same(..) => 0,
            Self::Four(values) => values.capacity() * 4,
            Self::Eight(values) => values.capacity() * 8,
        }
    }
}

/// The integers for which room is made at first: if one of them needs eight bytes, little was taken in vain.
const FIRST: usize = 1 << 12;

/// Returns `len` times a value, with room for `most`.
fn filled<T: Clone>(value: T, len: usize, most: usize) -> Vec<T> {
    let mut values = Vec::with_capacity(most);
    values.resize(len, value);
    values
}

/// The memory that the records of a row group may take.
struct Budget {
    left: u64,
    most: u64,
}

impl Budget {
    fn take(&mut self, bytes: u64) -> Parsed<()> {
        self.left = self.left.checked_sub(bytes).ok_or_else(|| {
            Problem::limit(format!(
                "the records of a row group need more memory than the {} bytes accepted",
                self.most
            ))
        })?;
        Ok(())
    }
}

/// Locations, each once.
struct Locations {
    list: Vec<Result<Arc<str>, String>>,
    known: HashMap<Arc<str>, u32>,
    /// The one that was asked for last, which is often the next one, too.
    last: Option<(Arc<str>, u32)>,
    most: usize,
}

impl Locations {
    fn new(limits: &RefsLimits) -> Self {
        Self { list: Vec::new(), known: HashMap::new(), last: None, most: limits.location_bytes }
    }

    /// Returns the index of a location.
    fn index(&mut self, bytes: &[u8], budget: &mut Budget) -> Parsed<u32> {
        if let Some((last, index)) = &self.last
            && last.as_bytes() == bytes
        {
            return Ok(*index);
        }
        let (len, most) = (bytes.len(), self.most);
        let location = match std::str::from_utf8(bytes) {
            _ if len > most => Err(format!("the location has {len} bytes, at most {most} are accepted")),
            Ok(location) => match self.known.get_key_value(location) {
                Some((location, index)) => {
                    self.last = Some((Arc::clone(location), *index));
                    return Ok(*index);
                }
                None => Ok(Arc::<str>::from(location)),
            },
            Err(_) => Err("the location is not UTF-8".to_owned()),
        };
        let index = u32::try_from(self.list.len()).ok().filter(|index| *index != NONE);
        let index = index.ok_or_else(|| Problem::limit("the file has more locations than accepted"))?;
        // What the list and the map take for it.
        budget.take(128 + location.as_ref().map_or(0, |location| location.len() as u64))?;
        if let Ok(location) = &location {
            self.known.insert(Arc::clone(location), index);
        }
        self.list.push(location);
        Ok(index)
    }
}

/// The reading of one column.
struct Reading<'a> {
    file: &'a Bytes,
    group: &'a Group,
    limits: &'a RefsLimits,
    /// The index in [`COLUMNS`].
    index: usize,
}

impl Reading<'_> {
    /// Calls `each` for the pages of the column. It gets the number of the row in the group at which the page begins, keeps
    /// it at the row that it reads, and leaves it behind the page.
    fn pages(&self, column: &Column, mut each: impl FnMut(Page, &mut u64) -> Parsed<()>) -> Parsed<()> {
        let mut row = 0;
        let mut read = || {
            let rows = self.group.rows;
            if column.values != rows {
                let message =
                    format!("the column has {} values in a row group of {rows} rows", column.values);
                return Err(Problem::corrupt(message));
            }
            let mut pages = Pages::new(self.file, column, self.limits);
            let mut has_dictionary = false;
            while row < rows {
                let Some(page) = pages.next()? else {
                    return Err(Problem::corrupt(format!("the column ends before its {rows} values")));
                };
                if page.is_dictionary && std::mem::replace(&mut has_dictionary, true) {
                    return Err(Problem::corrupt("the column has two dictionaries"));
                }
                if page.values > rows - row && !page.is_dictionary {
                    let message = format!("a page of {} values in a row group of {rows} rows", page.values);
                    return Err(Problem::corrupt(message));
                }
                each(page, &mut row)?;
            }
            Ok(())
        };
        let read = read();
        read.map_err(|problem| problem.at(place(self.index, self.group.first + row)))
    }

    fn column(&self, kinds: &[i64]) -> Parsed<Option<&Column>> {
        match &self.group.columns[self.index] {
            Some(column) if !kinds.contains(&column.kind) => {
                let message = format!("the column {:?} has the type {}", COLUMNS[self.index], column.kind);
                Err(Problem::unsupported(message))
            }
            column => Ok(column.as_ref()),
        }
    }

    /// Returns the first `most` integers. Null is 0.
    fn integers(&self, most: usize) -> Parsed<Narrow> {
        let Some(column) = self.column(&[INT32, INT64])? else {
            return Err(Problem::corrupt(format!("there is no column {:?}", COLUMNS[self.index])));
        };
        let mut numbers = Narrow::default();
        let mut dictionary = Vec::new();
        self.pages(column, |page, row| {
            if page.is_dictionary {
                let mut values = Integers::new(&page, column.kind, &[])?;
                dictionary = (0..page.values).map(|_| values.next()).collect::<Parsed<_>>()?;
                return Ok(());
            }
            let mut values = Integers::new(&page, column.kind, &dictionary)?;
            let mut levels = page.levels;
            for _ in 0..page.values {
                let value = if is_there(&mut levels)? { values.next()? } else { 0 };
                if *row < most as u64 {
                    numbers.push(value, most);
                }
                *row += 1;
            }
            Ok(())
        })?;
        Ok(numbers)
    }

    /// Returns the index of the location of each row, up to the last row that has one.
    fn paths(&self, locations: &mut Locations, budget: &mut Budget) -> Parsed<Vec<u32>> {
        let Some(column) = self.column(&[BYTE_ARRAY])? else { return Ok(Vec::new()) };
        let mut paths = Vec::new();
        let mut dictionary: Vec<u32> = Vec::new();
        self.texts(column, |row, text| {
            let index = match text {
                Text::Index(index) => {
                    *dictionary.get(index as usize).ok_or_else(|| beyond(index, dictionary.len()))?
                }
                Text::Value(value) => locations.index(&value, budget)?,
            };
            match row {
                None => dictionary.push(index),
                Some(row) => {
                    paths.resize(to_usize(row), NONE);
                    paths.push(index);
                }
            }
            Ok(())
        })?;
        paths.shrink_to_fit();
        Ok(paths)
    }

    /// Returns the rows whose bytes are in the file.
    fn inline(&self, budget: &mut Budget) -> Parsed<Vec<(u64, Bytes)>> {
        let Some(column) = self.column(&[BYTE_ARRAY])? else { return Ok(Vec::new()) };
        let mut inline = Vec::new();
        let mut dictionary: Vec<Bytes> = Vec::new();
        let entry = size_of::<(u64, Bytes)>() as u64;
        self.texts(column, |row, text| {
            let value = match text {
                Text::Index(index) => {
                    dictionary.get(index as usize).cloned().ok_or_else(|| beyond(index, dictionary.len()))?
                }
                Text::Value(value) => {
                    budget.take(value.len() as u64 + entry)?;
                    // A copy, because a part of a page keeps all of it in memory.
                    Bytes::copy_from_slice(&value)
                }
            };
            match row {
                None => dictionary.push(value),
                Some(row) => {
                    budget.take(entry)?;
                    inline.push((self.group.first + row, value));
                }
            }
            Ok(())
        })?;
        Ok(inline)
    }

    /// Calls `each` for the values that are not null, with the number of the row in the group; and before for those of the
    /// dictionary, without a row.
    fn texts(&self, column: &Column, mut each: impl FnMut(Option<u64>, Text) -> Parsed<()>) -> Parsed<()> {
        self.pages(column, |page, row| {
            if page.is_dictionary {
                let mut values = Texts::new(&page, self.limits.page_bytes)?;
                return (0..page.values).try_for_each(|_| each(None, values.next()?));
            }
            let mut values = Texts::new(&page, self.limits.page_bytes)?;
            let mut levels = page.levels;
            for _ in 0..page.values {
                if is_there(&mut levels)? {
                    each(Some(*row), values.next()?)?;
                }
                *row += 1;
            }
            Ok(())
        })
    }
}

/// Whether the next value is not null.
fn is_there(levels: &mut Option<Hybrid>) -> Parsed<bool> {
    match levels {
        None => Ok(true),
        Some(levels) => Ok(levels.next()? == 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_take_no_more_memory_than_the_largest_one_needs() {
        let (small, large) = (7_i64, 1_i64 << 40);
        for (values, bytes) in [
            (&[][..], 0),
            (&[small; 5], 0),
            (&[large; 5], 0),
            (&[-1; 5], 0),
            (&[small, small, 8, 9, 10], 20),
            (&[small, small, 8, large, 10], 40),
            (&[small, small, large, 9, -1], 40),
            (&[large, large, small, 9, 10], 40),
        ] {
            let mut narrow = Narrow::default();
            values.iter().for_each(|value| narrow.push(*value, values.len()));
            assert_eq!(narrow.memory(), bytes, "{values:?}");
            let read: Vec<i64> = (0..=values.len()).map(|at| narrow.get(at)).collect();
            assert_eq!(read, [values, &[0][..]].concat());
        }
    }
}
