//! The table for people, printed while the store is listed, with its sum.

use zarr_array::blocking::Array;

use super::Entry;
use super::inside::{Inside, is_sharded};
use crate::exit::{Exit, Failure, Outcome, line};
use crate::out::table::{bytes, number};

/// The widths of the columns key and index. They are known before the first row: those of the last chunk.
pub(super) struct Rows {
    key: usize,
    index: usize,
    is_sharded: bool,
    /// Whether inner chunks have their own rows.
    inner: bool,
}

/// The width of the column size, enough for most sizes.
const SIZE: usize = "1023 bytes".len();

impl Rows {
    pub(super) fn of(array: &Array, inner: bool) -> Result<Self, Failure> {
        let last: Vec<u64> = array.chunk_counts().iter().map(|count| count.saturating_sub(1)).collect();
        let key = array.chunk_key(&last)?.as_str().chars().count();
        let index = format!("{last:?}").len();
        Ok(Self {
            key: key.max("key".len()),
            index: index.max("index".len()),
            is_sharded: is_sharded(array),
            inner,
        })
    }

    pub(super) fn head(&self) -> String {
        self.row("key", "index", "size", if self.is_sharded { "inner chunks" } else { "" })
    }

    /// Returns the lines of an object.
    pub(super) fn of_entry(&self, entry: &Entry) -> String {
        let (key, size) = (entry.key.as_str(), bytes(entry.bytes.into()));
        let row = match (&entry.chunk, &entry.inside) {
            (Ok(index), None) => self.row(key, &format!("{index:?}"), &size, ""),
            (Ok(index), Some(inside)) => self.row(key, &format!("{index:?}"), &size, &inside.summary()),
            (Err(why), _) => self.row(key, "stray", &format!("{size}, {why}"), ""),
        };
        let inside = entry.inside.as_ref().filter(|_| self.inner);
        row + &inside.map(Inside::to_text).unwrap_or_default()
    }

    fn row(&self, key: &str, index: &str, size: &str, inside: &str) -> String {
        let Self { key: wide, index: narrow, .. } = self;
        let row = format!("{:wide$}  {index:narrow$}  {size:SIZE$}  {}", line(key), line(inside));
        format!("{}\n", row.trim_end())
    }
}

/// The sum of the listed objects.
#[derive(Default)]
pub(super) struct Sum {
    chunks: u64,
    bytes: u128,
    strays: u64,
    /// Inner chunks: stored, and possible.
    inner: (u128, u128),
    /// Shards whose inner chunks are unknown, and the exit code of the first one.
    unreadable: u64,
    exit: Option<Exit>,
}

impl Sum {
    pub(super) fn add(&mut self, entry: &Entry) {
        if entry.chunk.is_err() {
            self.strays += 1;
            return;
        }
        self.chunks += 1;
        self.bytes += u128::from(entry.bytes);
        let (stored, all) = entry.inside.as_ref().and_then(Inside::count).unwrap_or_default();
        self.inner = (self.inner.0 + u128::from(stored), self.inner.1 + u128::from(all));
        if let Some(Inside::Unreadable(e)) = &entry.inside {
            self.unreadable += 1;
            self.exit.get_or_insert(e.exit());
        }
    }

    /// Returns the last line of the table.
    pub(super) fn to_text(&self, array: &Array) -> String {
        let what = if is_sharded(array) { "shards" } else { "chunks" };
        let all = number(&array.chunk_counts());
        let mut text = format!("{} of {all} {what} stored, {}", self.chunks, bytes(self.bytes));
        if let (stored, all @ 1..) = self.inner {
            text += &format!("; {stored} of {all} inner chunks in them");
        }
        if self.unreadable > 0 {
            text += &format!("; {} unreadable", self.unreadable);
        }
        if self.strays > 0 {
            text += &format!("; {} stray", self.strays);
        }
        text + "\n"
    }

    /// Returns how the command ends.
    pub(super) fn outcome(&self) -> Outcome {
        let Some(exit) = self.exit else { return Ok(Exit::Ok) };
        let what = if self.unreadable == 1 { "shard" } else { "shards" };
        Err(Failure::new(exit, format!("the inner chunks of {} {what} cannot be read", self.unreadable)))
    }
}
