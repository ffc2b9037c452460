//! Parts of Parquet files that are kept for the next reads, within a number of bytes.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex};

use futures_util::future::{FutureExt as _, Shared};
use zarr_traits::lock::unpoisoned;
use zarr_traits::{BoxFuture, Bytes, StoreResult};

use crate::parquet::{Layout, Rows};

/// The array, the number of the file, and perhaps the number of the row group.
pub(crate) type Name = (usize, u64, Option<usize>);

/// The parts that are kept in any case: two files, each with a row group. A listing goes to and fro between files.
const KEPT: usize = 4;

/// A part of a file.
#[derive(Debug, Clone)]
pub(crate) enum Part {
    /// There is no such file.
    Absent,
    File(Arc<File>),
    Rows(Arc<Rows>),
}

/// A whole file, whose row groups are not decoded.
#[derive(Debug)]
pub(crate) struct File {
    pub(crate) bytes: Bytes,
    pub(crate) layout: Layout,
}

impl Part {
    /// The memory of it in bytes, about.
    fn memory(&self) -> usize {
        // What the shelf takes for it.
        256 + match self {
            Self::Absent => 0,
            Self::File(file) => file.bytes.len() + file.layout.memory(),
            Self::Rows(rows) => rows.memory(),
        }
    }
}

/// Parts by their names. Those that were not used for the longest time are dropped first. A part that several reads need is
/// read once.
pub(crate) struct Shelf {
    most: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    slots: HashMap<Name, Slot>,
    /// The names by the time of the last use.
    order: BTreeMap<u64, Name>,
    clock: u64,
    memory: usize,
}

struct Slot {
    part: Reading,
    used: u64,
    /// 0 as long as it is read.
    memory: usize,
}

type Reading = Shared<BoxFuture<'static, StoreResult<Part>>>;

impl Shelf {
    /// Returns an empty shelf for `most` bytes.
    pub(crate) fn new(most: usize) -> Self {
        Self { most, state: Mutex::default() }
    }

    /// Returns the part with a name, which `read` reads if it is not here.
    pub(crate) async fn part(
        &self,
        name: Name,
        read: impl FnOnce() -> BoxFuture<'static, StoreResult<Part>>,
    ) -> StoreResult<Part> {
        let reading = unpoisoned(self.state.lock()).reading(name, read);
        let part = reading.clone().await;
        unpoisoned(self.state.lock()).settle(name, &reading, &part, self.most);
        part
    }
}

impl State {
    fn reading(
        &mut self,
        name: Name,
        read: impl FnOnce() -> BoxFuture<'static, StoreResult<Part>>,
    ) -> Reading {
        self.clock += 1;
        let clock = self.clock;
        let slot =
            self.slots.entry(name).or_insert_with(|| Slot { part: read().shared(), used: clock, memory: 0 });
        self.order.remove(&slot.used);
        slot.used = clock;
        self.order.insert(clock, name);
        slot.part.clone()
    }

    /// Counts the memory of a part that was read. An error is not kept, so that the next read tries again.
    fn settle(&mut self, name: Name, reading: &Reading, part: &StoreResult<Part>, most: usize) {
        let Some(slot) = self.slots.get_mut(&name).filter(|slot| slot.part.ptr_eq(reading)) else { return };
        match part {
            Err(_) => self.remove(&name),
            Ok(part) if slot.memory == 0 => {
                slot.memory = part.memory();
                self.memory += slot.memory;
            }
            Ok(_) => return,
        }
        while self.memory > most
            && self.order.len() > KEPT
            && let Some(oldest) = self.order.first_key_value().map(|(_, oldest)| *oldest)
        {
            self.remove(&oldest);
        }
    }

    fn remove(&mut self, name: &Name) {
        if let Some(slot) = self.slots.remove(name) {
            self.order.remove(&slot.used);
            self.memory -= slot.memory;
        }
    }
}

impl fmt::Debug for Shelf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = unpoisoned(self.state.lock());
        write!(f, "Shelf({} parts, {} of {} bytes)", state.slots.len(), state.memory, self.most)
    }
}
