//! The footer of a file: its row groups, and where their columns are.

use std::ops::Range;

use crate::parquet::problem::{Parsed, Problem};
use crate::parquet::thrift::{STRUCT, Thrift};

/// The columns of references. Others are not read.
pub(crate) const COLUMNS: [&str; 4] = ["path", "offset", "size", "raw"];
pub(crate) const PATH: usize = 0;
pub(crate) const OFFSET: usize = 1;
pub(crate) const SIZE: usize = 2;
pub(crate) const RAW: usize = 3;

/// The row groups of a file that are accepted. Each takes some 300 bytes of memory.
const GROUPS: usize = 1 << 16;

const MAGIC: &[u8] = b"PAR1";
const ENCRYPTED: &[u8] = b"PARE";

/// The row groups of a file.
#[derive(Debug)]
pub(crate) struct Layout {
    pub(crate) groups: Vec<Group>,
    pub(crate) rows: u64,
}

/// Rows that follow each other.
#[derive(Debug)]
pub(crate) struct Group {
    /// The number of the first row in the file.
    pub(crate) first: u64,
    pub(crate) rows: u64,
    /// In the order of [`COLUMNS`].
    pub(crate) columns: [Option<Column>; 4],
}

/// A column of a row group.
#[derive(Debug, Clone, Default)]
pub(crate) struct Column {
    /// The physical type.
    pub(crate) kind: i64,
    pub(crate) codec: i64,
    pub(crate) values: u64,
    /// Where its pages are.
    pub(crate) pages: Range<usize>,
    /// Whether a value may be null.
    pub(crate) optional: bool,
}

impl Layout {
    /// Reads the footer of a whole file.
    pub(crate) fn parse(file: &[u8]) -> Parsed<Self> {
        let Some((file, end)) = file.split_last_chunk::<4>() else { return Err(no_parquet()) };
        if end == ENCRYPTED {
            return Err(Problem::unsupported("the file is encrypted"));
        }
        let Some((content, len)) = file.split_last_chunk::<4>() else { return Err(no_parquet()) };
        if end != MAGIC || !content.starts_with(MAGIC) {
            return Err(no_parquet());
        }
        let len = usize::try_from(u32::from_le_bytes(*len)).unwrap_or(usize::MAX);
        let start = content.len().checked_sub(len).filter(|start| *start >= MAGIC.len());
        let start = start.ok_or_else(|| Problem::corrupt("the footer is longer than the file"))?;
        Self::parse_footer(&content[start..], start).map_err(|problem| problem.at("footer"))
    }

    /// The memory of it in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.groups.capacity() * size_of::<Group>()
    }

    /// Returns the index of the row group with a row.
    pub(crate) fn group_of(&self, row: u64) -> Option<usize> {
        let behind = self.groups.partition_point(|group| group.first <= row);
        behind.checked_sub(1).filter(|_| row < self.rows)
    }

    /// Reads the footer of a file whose pages are before `end`.
    fn parse_footer(footer: &[u8], end: usize) -> Parsed<Self> {
        let mut schema = Schema::default();
        let mut groups = Vec::new();
        let (mut rows, mut expected) = (0_u64, 0);
        Thrift::new(footer).fields(|thrift, number, kind| {
            match number {
                2 => thrift.list(kind, |thrift, kind| schema.read(thrift, kind))?,
                3 => expected = thrift.count(kind)?,
                4 => thrift.list(kind, |thrift, kind| {
                    if groups.len() == GROUPS {
                        return Err(Problem::limit("the file has more row groups than accepted"));
                    }
                    let group = Group::read(thrift, kind, rows, end)?;
                    let all = rows.checked_add(group.rows);
                    rows = all.ok_or_else(|| Problem::corrupt("the row groups have too many rows"))?;
                    groups.push(group);
                    Ok(())
                })?,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        if rows != expected {
            let message = format!("the file has {expected} rows, but its row groups have {rows}");
            return Err(Problem::corrupt(message));
        }
        for group in &mut groups {
            for ((column, optional), name) in group.columns.iter_mut().zip(schema.optional).zip(COLUMNS) {
                if let Some(column) = column {
                    let optional = optional
                        .ok_or_else(|| Problem::corrupt(format!("column {name:?} is not in the schema")))?;
                    column.optional = match optional {
                        0 => false,
                        1 => true,
                        _ => return Err(Problem::corrupt(format!("column {name:?} has lists"))),
                    };
                }
            }
        }
        Ok(Self { groups, rows })
    }
}

fn no_parquet() -> Problem {
    Problem::corrupt("this is not a file of Parquet")
}

/// What the schema says about the columns: 0 is required, 1 optional, 2 repeated.
#[derive(Debug, Default)]
struct Schema {
    optional: [Option<i64>; 4],
    /// Whether the root was read.
    rooted: bool,
    /// The elements that still belong to a structure.
    inside: u64,
}

impl Schema {
    /// Reads one element of the schema, which is a tree in the order of its lines.
    fn read(&mut self, thrift: &mut Thrift<'_>, kind: u8) -> Parsed<()> {
        let (mut repetition, mut name, mut children) = (0, &b""[..], 0);
        structure(kind)?;
        thrift.fields(|thrift, number, kind| {
            match number {
                3 => repetition = thrift.integer(kind)?,
                4 => name = thrift.binary(kind)?,
                5 => children = thrift.count(kind)?,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        if !std::mem::replace(&mut self.rooted, true) {
            return Ok(());
        }
        let is_column = self.inside == 0 && children == 0;
        self.inside = self.inside.saturating_sub(1).saturating_add(children);
        if is_column && let Some(index) = COLUMNS.iter().position(|column| column.as_bytes() == name) {
            self.optional[index] = Some(repetition);
        }
        Ok(())
    }
}

impl Group {
    fn read(thrift: &mut Thrift<'_>, kind: u8, first: u64, end: usize) -> Parsed<Self> {
        let mut group = Self { first, rows: 0, columns: Default::default() };
        structure(kind)?;
        thrift.fields(|thrift, number, kind| {
            match number {
                1 => thrift.list(kind, |thrift, kind| {
                    if let Some((index, column)) = Column::read(thrift, kind, end)? {
                        group.columns[index] = Some(column);
                    }
                    Ok(())
                })?,
                3 => group.rows = thrift.count(kind)?,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        Ok(group)
    }
}

impl Column {
    /// Reads a column of a row group, and returns its index in [`COLUMNS`] if it is one of them.
    fn read(thrift: &mut Thrift<'_>, kind: u8, end: usize) -> Parsed<Option<(usize, Self)>> {
        let mut column = Self::default();
        let (mut name, mut names) = (&b""[..], 0);
        let (mut len, mut data, mut dictionary) = (0, 0, 0);
        let mut elsewhere = false;
        structure(kind)?;
        thrift.fields(|thrift, number, kind| {
            match number {
                1 => elsewhere = !thrift.binary(kind)?.is_empty(),
                3 => {
                    structure(kind)?;
                    thrift.fields(|thrift, number, kind| {
                        match number {
                            1 => column.kind = thrift.integer(kind)?,
                            3 => thrift.list(kind, |thrift, kind| {
                                name = thrift.binary(kind)?;
                                names += 1;
                                Ok(())
                            })?,
                            4 => column.codec = thrift.integer(kind)?,
                            5 => column.values = thrift.count(kind)?,
                            7 => len = thrift.count(kind)?,
                            9 => data = thrift.count(kind)?,
                            11 => dictionary = thrift.count(kind)?,
                            _ => return Ok(false),
                        }
                        Ok(true)
                    })?;
                }
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        let index = COLUMNS.iter().position(|column| column.as_bytes() == name && names == 1);
        let Some(index) = index else { return Ok(None) };
        let place = format!("column {:?}", COLUMNS[index]);
        if elsewhere {
            return Err(Problem::unsupported("the column is in another file").at(place));
        }
        let start = if dictionary > 0 { data.min(dictionary) } else { data };
        let pages =
            usize::try_from(start).ok().zip(start.checked_add(len).and_then(|e| usize::try_from(e).ok()));
        let Some((start, stop)) = pages.filter(|(start, stop)| *start >= MAGIC.len() && *stop <= end) else {
            return Err(Problem::corrupt(format!("{len} bytes at {start} are not in the file")).at(place));
        };
        column.pages = start..stop;
        Ok(Some((index, column)))
    }
}

fn structure(kind: u8) -> Parsed<()> {
    if kind == STRUCT { Ok(()) } else { Err(Problem::corrupt("a structure is expected")) }
}
