//! Writing: whole chunks are encoded and put without a read. A part of a chunk is a read-modify-write under the lock of
//! its key; the object is put only if the stored one is still the version that was read.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use zarr_engine::KeyGuard;
use zarr_engine::run::{self, Attempt, Cells, SMALL, caught};
use zarr_strided::{Destination, Dims, Input, Source, Swap, byte_len, swap_in_place};
use zarr_traits::heap::Heap;
use zarr_traits::lock::unpoisoned;
use zarr_traits::store::{Answer, Op, Outcome, Put, PutMode, ReadVersion};
use zarr_traits::{Buffer, Bytes, Key, Region, Scratch, Version};

use super::ranges::{Ranges, spans};
use super::values::Values;
use crate::error::{ArrayError, ArrayErrorKind, ArrayResult, unsafe_update};
use crate::io::core::{Core, with_heap};
use crate::io::encoding::{Encoding, Value};
use crate::io::loaded::Loaded;
use crate::plan::{Cell, Plan};
use crate::settings::{EmptyChunks, PartialWrites};

pub(crate) struct Write {
    pub(super) core: Arc<Core>,
    pub(super) plan: Plan,
    pub(super) input: Input,
    /// The encoded inner chunk to store in place of elements of `input`.
    pub(super) encoded: Option<Bytes>,
    /// The contents of elements of variable length.
    pub(super) heap: Option<Arc<Heap>>,
    /// The version that the only chunk must have. A write without one takes any, and begins again after a conflict.
    pub(super) version: Option<Version>,
    /// The chunks whose objects must be read first: they could not be [claimed](Condition::Claim), because they exist, or
    /// [changed by ranges](Condition::Ranges).
    pub(super) taken: Mutex<HashSet<Dims>>,
}

/// A cell of a write.
pub(crate) struct WriteCell {
    write: Arc<Write>,
    cell: Cell,
    /// Its key, and the lock of the key.
    held: Option<(Key, KeyGuard)>,
    found: Option<Found>,
    made: Option<Made>,
}

struct Found {
    /// The stored object, if part of it is kept. With inner chunks, `encoding` holds it instead.
    object: Option<Loaded>,
    /// The size of the stored object in bytes.
    bytes: u64,
    condition: Condition,
    /// The writer of inner chunks, if the chunk has inner chunks, and the stored object.
    encoding: Option<(Encoding, Option<Bytes>)>,
}

struct Made {
    change: Change,
    /// Whether elements of the stored object are kept, which a power cut must not destroy.
    keeps_old: bool,
}

enum Change {
    Nothing,
    /// The stored object must be read first.
    Look,
    Delete(Option<Version>),
    Put(Value, Condition),
    PutRanges(Ranges),
}

/// The condition under which a chunk is changed.
enum Condition {
    /// Always.
    Replace,
    /// The object does not exist. The store was not asked before.
    Claim,
    /// The object still does not exist.
    Create,
    /// The object is still the version that was read.
    IfUnchanged(Version),
    /// The object has the size of the chunk. The store replaces ranges of it.
    Ranges,
}

impl Cells for Write {
    type Error = ArrayError;
    type Cell = WriteCell;

    fn sizes(&self) -> run::Sizes {
        let cells = self.plan.cells();
        let is_small = match self.core.inner() {
            Some(inner) => {
                let (tiles, inner) = (self.plan.tiles(), self.core.bytes_of(&inner.shape));
                tiles <= 1 || tiles.saturating_mul(inner) < SMALL
            }
            None => cells <= 1,
        };
        run::Sizes::new(cells, self.core.bytes_of(&self.plan.shape()))
            .is_small(is_small)
            .shares(self.core.has_inner())
            .expected(self.plan.largest_chunk().saturating_mul(self.core.size as u64))
            .stores(true)
    }

    fn cell(self: &Arc<Self>, number: u64) -> WriteCell {
        WriteCell::new(self.clone(), self.plan.cell(number))
    }

    fn locate(&self, number: u64, error: ArrayError) -> ArrayError {
        self.core.locate(&self.plan.cell(number).chunk, error)
    }
}

impl WriteCell {
    fn new(write: Arc<Write>, cell: Cell) -> Self {
        Self { write, cell, held: None, found: None, made: None }
    }
}

impl run::Cell for WriteCell {
    type Error = ArrayError;

    fn bytes(&self) -> u64 {
        self.write.core.bytes_of(&self.cell.count)
    }

    /// Always one block: a write to a chunk puts one object.
    fn blocks(&self) -> u64 {
        1
    }

    async fn open(&mut self) -> ArrayResult<()> {
        Ok(())
    }

    fn block(&self, _: u64) -> Self {
        Self::new(self.write.clone(), self.cell.clone())
    }

    async fn hold(&mut self) -> ArrayResult<()> {
        let key = self.write.core.key(&self.cell.chunk)?;
        let lock = zarr_engine::lock(&self.write.core.storage, &key).await;
        self.held = Some((key, lock));
        Ok(())
    }

    async fn fetch(&mut self, mut scratch: Option<&mut Scratch>) -> ArrayResult<u64> {
        let (write, Some((key, _))) = (&self.write, &self.held) else { return Err(not_held()) };
        let (mut object, condition) = write.current(&self.cell, key, scratch.as_deref_mut()).await?;
        let bytes = object.as_ref().map_or(0, |object| object.len() as u64);
        let encoding = caught(|| write.encoding(&self.cell, &mut object, scratch))?;
        self.found = Some(Found { object, bytes, condition, encoding });
        Ok(bytes)
    }

    fn parts(&self) -> u64 {
        let encoding = self.found.as_ref().and_then(|found| found.encoding.as_ref());
        encoding.map_or(0, |(encoding, _)| encoding.parts())
    }

    fn part(&self, part: u64, scratch: &mut Scratch) -> ArrayResult<()> {
        let (write, found) = (&self.write, self.found.as_ref());
        let Some((encoding, object)) = found.and_then(|found| found.encoding.as_ref()) else { return Ok(()) };
        if let Some(encoded) = &write.encoded {
            encoding.insert(part, encoded);
            return Ok(());
        }
        with_heap(write.heap.as_ref(), scratch, |scratch| {
            encoding.encode(part, scratch, |elements, scratch, encode| {
                write.values(&self.cell).encode(object.as_ref(), elements, scratch, encode)
            })
        })
    }

    fn work(&mut self, scratch: &mut Scratch) -> ArrayResult<u64> {
        let (write, cell) = (&self.write, &self.cell);
        let Some(Found { object, bytes, condition, encoding }) = self.found.take() else { return Ok(0) };
        let keeps_old = bytes > 0 && !write.covers(cell);
        let change = match encoding {
            Some((encoding, _)) => write.join(cell, encoding, condition, scratch)?,
            None => with_heap(write.heap.as_ref(), scratch, |scratch| {
                write.change(cell, object, condition, scratch)
            })?,
        };
        let made = match &change {
            Change::Put(value, _) => value.len(),
            Change::PutRanges(ranges) => ranges.bytes.len() as u64,
            _ => 0,
        };
        self.made = Some(Made { change, keeps_old });
        Ok(made)
    }

    async fn store(&mut self, scratch: Option<&mut Scratch>) -> ArrayResult<Attempt> {
        let (Some((key, _)), Some(made)) = (&self.held, self.made.take()) else { return Err(not_held()) };
        self.write.apply(&self.cell, key, made, scratch).await
    }
}

impl Write {
    fn values<'a>(&'a self, cell: &'a Cell) -> Values<'a> {
        Values { core: &self.core, plan: &self.plan, cell, input: &self.input }
    }

    /// Returns the stored object, if part of it is kept, and the condition under which it is changed.
    async fn current(
        &self,
        cell: &Cell,
        key: &Key,
        scratch: Option<&mut Scratch>,
    ) -> ArrayResult<(Option<Loaded>, Condition)> {
        let (core, can) = (&*self.core, self.core.storage.capabilities());
        let (safe, able) = (core.partial_writes != PartialWrites::Unchecked, can.put_if && can.put_create);
        if self.plan.is_whole(cell) {
            let version = self.version.clone();
            return Ok((None, version.map_or(Condition::Replace, Condition::IfUnchanged)));
        }
        if self.covers(cell) {
            // Another writer may have lengthened the array and written the rest of the chunk.
            if !(safe && able) {
                return Ok((None, Condition::Replace));
            }
            if !unpoisoned(self.taken.lock()).contains(&cell.chunk) {
                return Ok((None, Condition::Claim));
            }
        }
        if core.partial_writes == PartialWrites::RejectUnaligned && !self.plan.is_complete(cell) {
            return Err(unaligned());
        }
        if safe && !able {
            return Err(unsafe_update());
        }
        if self.plan.is_steps()
            && can.put_ranges
            && core.chain.is_plain()
            && self.version.is_none()
            && !unpoisoned(self.taken.lock()).contains(&cell.chunk)
        {
            return Ok((None, Condition::Ranges));
        }
        if !core.has_inner() {
            // The whole chunk will be decoded: check its size before reading it.
            core.check_chunk(&cell.shape)?;
        }
        let found = core.load(key, &cell.shape, ReadVersion::Report, scratch).await?;
        if self.version.is_some() && self.version.as_ref() != found.as_ref().and_then(|(_, v)| v.as_ref()) {
            return Err(changed());
        }
        Ok(match found {
            None if safe => (None, Condition::Create),
            None => (None, Condition::Replace),
            Some((_, None)) if safe => return Err(unsafe_update()),
            Some((object, Some(version))) if safe => (Some(object), Condition::IfUnchanged(version)),
            Some((object, _)) => (Some(object), Condition::Replace),
        })
    }

    /// Whether the write covers all of a chunk inside the array, as this handle knows it.
    fn covers(&self, cell: &Cell) -> bool {
        self.plan.is_complete(cell) && !self.core.beside && self.version.is_none()
    }

    /// Starts the writing of inner chunks, if the chunk has inner chunks. It takes the stored `object`.
    fn encoding(
        &self,
        cell: &Cell,
        object: &mut Option<Loaded>,
        scratch: Option<&mut Scratch>,
    ) -> ArrayResult<Option<(Encoding, Option<Bytes>)>> {
        let (core, shape) = (&*self.core, &cell.shape);
        let picks = self.values(cell).selected();
        let Some(mut update) = core.chain.update(shape, &picks, core.inner_chunks()) else {
            return Ok(None);
        };
        let inner = core.chain.inner_shape(shape.len()).unwrap_or_default();
        core.check_chunk(&inner)?;
        let (mut memory, mut old) = (None, None);
        if let Some(object) = object.take() {
            let (bytes, whole) = object.into_bytes();
            update.feed(bytes.clone())?;
            (memory, old) = (Some(whole), Some(bytes));
        }
        let encoding = Encoding::new(update, memory, scratch, byte_len(&inner, core.size)?)?;
        Ok(Some((encoding, old)))
    }

    /// Returns the change that stores the joined inner chunks.
    fn join(
        &self,
        cell: &Cell,
        encoding: Encoding,
        condition: Condition,
        scratch: &mut Scratch,
    ) -> ArrayResult<Change> {
        let (value, is_fill) = encoding.join(scratch)?;
        if self.encoded.is_some() {
            // Only the shard says how its inner chunks are decoded.
            let object = value.parts.concat().into();
            let part = self.values(cell).selected().part;
            self.core.check_part(&cell.shape, &part, &object, &mut None, scratch)?;
        }
        Ok(self.absence(|| is_fill, &condition).unwrap_or(Change::Put(value, condition)))
    }

    /// Returns the change that leaves an empty chunk out of the store, or `None` if the chunk must be stored. A
    /// read-modify-write deletes only if the store has conditional deletes.
    fn absence(&self, is_fill: impl FnOnce() -> bool, condition: &Condition) -> Option<Change> {
        if self.core.empty_chunks == EmptyChunks::Store || !is_fill() {
            return None;
        }
        match condition {
            Condition::Claim | Condition::Ranges => Some(Change::Look),
            Condition::Create => Some(Change::Nothing),
            Condition::Replace => Some(Change::Delete(None)),
            Condition::IfUnchanged(version) => {
                let can = self.core.storage.capabilities().delete_if;
                can.then(|| Change::Delete(Some(version.clone())))
            }
        }
    }

    /// Returns the change that stores the new chunk, encoded.
    fn change(
        &self,
        cell: &Cell,
        object: Option<Loaded>,
        condition: Condition,
        scratch: &mut Scratch,
    ) -> ArrayResult<Change> {
        let (core, shape) = (&*self.core, &cell.shape);
        if matches!(condition, Condition::Ranges) {
            return Ok(self.ranges(cell)?.map_or(Change::Look, Change::PutRanges));
        }
        core.check_chunk(shape)?;
        if let Some(values) = self.values(cell).whole()? {
            return self.encode(values, condition, scratch);
        }
        let object = match (object, core.chain.plain(shape.len())) {
            (Some(Loaded::Scratch(object)), Some(plain)) if self.plan.is_steps() => {
                return self.patch(object, plain, cell, condition);
            }
            (object, _) => object,
        };
        let mut chunk = scratch.take(byte_len(shape, core.size)?)?;
        let mut whole = Destination::dense(&mut chunk, shape, core.size)?;
        match object {
            Some(object) => {
                let all = Region::whole(shape);
                core.chain.decode_into(object.whole(), shape, &all, whole, scratch)?;
                object.give_to(scratch);
            }
            None => whole.fill(core.fill_element.bytes())?,
        }
        self.values(cell).put(&mut chunk)?;
        let change = self.encode(Source::dense(&chunk, shape, core.size)?, condition, scratch)?;
        scratch.give(chunk);
        Ok(change)
    }

    /// Returns the ranges of an uncompressed chunk that are written, or `None` if the stored object must be read first:
    /// because they are too many, or because the chunk may become empty.
    fn ranges(&self, cell: &Cell) -> ArrayResult<Option<Ranges>> {
        let (core, shape) = (&*self.core, &cell.shape);
        let Some((order, swap)) = core.chain.plain(shape.len()) else { return Ok(None) };
        let values = self.values(cell).steps()?;
        let absence = self.absence(|| values.is_filled_with(core.fill_element.bytes()), &Condition::Ranges);
        let selected = self.values(cell).selected();
        if absence.is_some() || selected.steps.iter().any(|step| *step != 1) {
            return Ok(None);
        }
        let stored = shape.permuted(&order).zip(selected.part.permute(&order)).ok_or_else(no_order)?;
        // Before any offset is calculated: the shape may be of any size.
        let size = byte_len(shape, core.size)? as u64;
        let Some(spans) = spans(&stored.0, &stored.1, core.size as u64, size) else { return Ok(None) };
        let mut bytes = Vec::new();
        values.permute(&order)?.append_to(&mut bytes, swap)?;
        Ok(Some(Ranges { size, spans, bytes: bytes.into() }))
    }

    /// Changes the elements of an uncompressed chunk within the object that was read.
    fn patch(
        &self,
        mut object: Buffer,
        (order, swap): (Dims, Swap),
        cell: &Cell,
        condition: Condition,
    ) -> ArrayResult<Change> {
        let core = &*self.core;
        let stored = cell.shape.permuted(&order).ok_or_else(no_order)?;
        let back = order.inverse().ok_or_else(no_order)?;
        let view = Destination::dense(&mut object, &stored, core.size)?.permute(&back)?;
        self.values(cell).put_into(view, swap)?;
        let mut fill = core.fill_element.bytes().to_vec();
        swap_in_place(&mut fill, swap);
        let whole = Source::dense(&object, &stored, core.size)?;
        if let Some(change) = self.absence(|| whole.is_filled_with(&fill), &condition) {
            return Ok(change);
        }
        Ok(Change::Put(Value::patched(object), condition))
    }

    fn encode(&self, chunk: Source<'_>, condition: Condition, scratch: &mut Scratch) -> ArrayResult<Change> {
        let core = &*self.core;
        if let Some(change) = self.absence(|| chunk.is_filled_with(core.fill_element.bytes()), &condition) {
            return Ok(change);
        }
        let mut encoded = scratch.take_vec();
        core.chain.encode(chunk, &mut encoded, scratch)?;
        Ok(Change::Put(Value::encoded(encoded), condition))
    }

    async fn apply(
        &self,
        cell: &Cell,
        key: &Key,
        made: Made,
        scratch: Option<&mut Scratch>,
    ) -> ArrayResult<Attempt> {
        let Made { change, keeps_old } = made;
        let storage = &self.core.storage;
        let unread = matches!(change, Change::Look | Change::PutRanges(_) | Change::Put(_, Condition::Claim));
        let outcome = match change {
            Change::Nothing => return Ok(Attempt::Done),
            Change::Look => Ok(Outcome::Conflict),
            Change::Delete(version) => storage.delete_if(key, version.as_ref()).await,
            Change::PutRanges(Ranges { size, spans, bytes }) => {
                storage.put_ranges(key, size, &spans, &bytes).await
            }
            Change::Put(value, condition) => {
                let how = match &condition {
                    Condition::Replace | Condition::Ranges => PutMode::Replace,
                    Condition::Claim | Condition::Create => PutMode::Create,
                    Condition::IfUnchanged(version) => PutMode::IfUnchanged(version),
                };
                let mut put = Put::new(key, &value.parts, how);
                put.keeps_old = keeps_old;
                let outcome = storage.call(Op::Put(put)).await.and_then(Answer::into_outcome);
                value.recycle(scratch);
                outcome
            }
        };
        // Also after an error: the change may have been applied.
        self.core.indexes.forget(&cell.chunk);
        match outcome? {
            Outcome::Done(_) => Ok(Attempt::Done),
            _ if unread => {
                unpoisoned(self.taken.lock()).insert(cell.chunk.clone());
                Ok(Attempt::AtOnce)
            }
            _ if self.version.is_some() => Err(changed()),
            _ => Ok(Attempt::Again),
        }
    }
}

/// The error for a step out of order.
fn not_held() -> ArrayError {
    ArrayError::new(ArrayErrorKind::Panic, "a chunk is written without its lock")
}

fn no_order() -> ArrayError {
    ArrayError::invalid("the codecs define no valid order of dimensions")
}

fn changed() -> ArrayError {
    ArrayError::new(ArrayErrorKind::Conflict, "another writer has changed the chunk")
}

fn unaligned() -> ArrayError {
    ArrayError::invalid(
        "the write covers part of the chunk, but `PartialWrites::RejectUnaligned` allows only whole chunks",
    )
}
