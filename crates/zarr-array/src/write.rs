//! Writing: whole chunks are encoded and put without a read; a part of a chunk is a read-modify-write under the lock of
//! its key, put only if the object is still the version that was read.

use std::sync::Arc;

use zarr_strided::{Destination, Input, Source, Swap};
use zarr_traits::chain::byte_len;
use zarr_traits::lock::KeyGuard;
use zarr_traits::{Bytes, If, Key, Outcome, Put, Region, Scratch, Version, block_on};

use crate::core::{Core, FillChunks, Loaded};
use crate::element::Element;
use crate::error::{ArrayError, ArrayErrorKind, ArrayResult};
use crate::feed::{Stored, Task, run};
use crate::plan::Cell;
use crate::read::Target;
use crate::select::Selection;
use crate::values::{NdVec, check_element};

struct Write {
    core: Arc<Core>,
    target: Target,
    input: Input,
}

/// What a cell holds while it is written.
pub(crate) struct Held {
    /// The cell and its key, until they are fetched.
    chunk: Option<(Cell, Key)>,
    _lock: KeyGuard,
}

pub(crate) struct Found {
    cell: Cell,
    key: Key,
    /// What is there now, where that matters.
    current: Current,
}

enum Current {
    /// The chunk is written whole, whatever is there.
    Unread,
    Absent,
    Present(Loaded, Option<Version>),
}

pub(crate) struct Made {
    key: Key,
    change: Change,
}

enum Change {
    Nothing,
    Delete(Option<Version>),
    Put(Vec<u8>, Condition),
}

/// [`Put`], owned.
enum Condition {
    Replace,
    Create,
    IfUnchanged(Version),
}

/// Writes elements that the caller gives away.
pub(crate) async fn write<T: Element>(
    core: &Arc<Core>,
    selection: Selection,
    values: NdVec<T>,
    may_block: bool,
) -> ArrayResult<()> {
    check_element::<T>(&core.data_type).map_err(|e| e.in_array(&core.path))?;
    let target = Target::new(core, &selection)?;
    check_shape(&target, values.shape()).map_err(|e| e.in_array(&core.path))?;
    let input = Input::new(T::into_memory(values.into_vec()), &target.full)?;
    write_input(core, target, input, may_block).await
}

/// Writes borrowed elements: only a blocking caller may lend them.
pub(crate) fn write_slice<T: Element>(
    core: &Arc<Core>,
    selection: &Selection,
    values: &[T],
) -> ArrayResult<()> {
    check_element::<T>(&core.data_type).map_err(|e| e.in_array(&core.path))?;
    let target = Target::new(core, selection)?;
    if target.full.product() != Some(values.len() as u64) {
        let message = format!("the selection has shape {:?}, there are {} values", target.kept, values.len());
        return Err(ArrayError::invalid(message).in_array(&core.path));
    }
    let full = target.full.clone();
    let memory = T::as_memory(values);
    Input::lend(&memory, &full, |input| block_on(write_input(core, target, input, true)))?
}

/// Writes the bytes of elements of any data type, in the byte order of this machine.
pub(crate) async fn write_bytes(
    core: &Arc<Core>,
    selection: Selection,
    bytes: Vec<u8>,
    may_block: bool,
) -> ArrayResult<()> {
    let target = Target::new(core, &selection)?;
    let input =
        Input::sized(bytes, core.size, &target.full).map_err(|e| ArrayError::from(e).in_array(&core.path))?;
    write_input(core, target, input, may_block).await
}

/// Writes the fill value.
pub(crate) async fn write_fill(core: &Arc<Core>, selection: Selection, may_block: bool) -> ArrayResult<()> {
    let target = Target::new(core, &selection)?;
    let input = Input::repeat(core.fill.bytes().to_vec(), &target.full)?;
    write_input(core, target, input, may_block).await
}

async fn write_input(core: &Arc<Core>, target: Target, input: Input, may_block: bool) -> ArrayResult<()> {
    let task = Arc::new(Write { core: core.clone(), target, input });
    run(&task, &core.place(may_block)).await.map_err(|e| e.in_array(&core.path))
}

fn check_shape(target: &Target, got: &[u64]) -> ArrayResult<()> {
    if target.kept == got {
        return Ok(());
    }
    Err(ArrayError::invalid(format!("the selection has shape {:?}, the values have {got:?}", target.kept)))
}

impl Task for Write {
    const STORES: bool = true;

    type Found = Found;
    type Made = Made;
    type Held = Held;

    fn cells(&self) -> u64 {
        self.target.plan.cells()
    }

    fn is_small(&self) -> bool {
        self.cells() <= 1
    }

    fn expected_bytes(&self) -> u64 {
        self.core.chunk_bytes(&self.target.plan)
    }

    fn locate(&self, cell: u64, error: ArrayError) -> ArrayError {
        self.core.locate(&self.target.plan, cell, error)
    }

    async fn hold(&self, cell: u64) -> ArrayResult<Held> {
        let cell = self.target.plan.cell(cell);
        let key = self.core.key(&cell.chunk)?;
        let lock = self.core.storage.lock(&key).await;
        Ok(Held { chunk: Some((cell, key)), _lock: lock })
    }

    async fn fetch(&self, _: u64, held: &mut Held, scratch: Option<&mut Scratch>) -> ArrayResult<Found> {
        let Some((cell, key)) = held.chunk.take() else { unreachable!("what is held is fetched once") };
        let current = self.current(&cell, &key, scratch).await?;
        Ok(Found { cell, key, current })
    }

    fn bytes(found: &Found) -> u64 {
        match &found.current {
            Current::Present(loaded, _) => loaded.len() as u64,
            _ => 0,
        }
    }

    fn work(&self, number: u64, found: Found, scratch: &mut Scratch) -> ArrayResult<Made> {
        let change = self.change(number, &found.cell, found.current, scratch)?;
        Ok(Made { key: found.key, change })
    }

    async fn store(&self, _: u64, made: Made, scratch: Option<&mut Scratch>) -> ArrayResult<Stored> {
        self.apply(&made.key, made.change, scratch).await
    }
}

impl Write {
    async fn current(&self, cell: &Cell, key: &Key, scratch: Option<&mut Scratch>) -> ArrayResult<Current> {
        let whole = cell.is_dense() && cell.part.is_whole(&cell.shape);
        if whole || (cell.complete && !self.core.beside) {
            return Ok(Current::Unread);
        }
        let can = self.core.storage.capabilities();
        if !(can.put_if && can.put_create || self.core.single_writer) {
            return Err(unsafe_update());
        }
        match self.core.load(key, &cell.shape, If::Versioned, scratch).await? {
            None => Ok(Current::Absent),
            Some((_, None)) if !self.core.single_writer => Err(unsafe_update()),
            Some((loaded, version)) => Ok(Current::Present(loaded, version)),
        }
    }

    /// What the chunk becomes, encoded.
    fn change(
        &self,
        number: u64,
        cell: &Cell,
        current: Current,
        scratch: &mut Scratch,
    ) -> ArrayResult<Change> {
        let core = &*self.core;
        core.check_chunk(&cell.shape)?;
        let (at, shape) = self.target.plan.place(number);
        let values = self.input.source().sub(&at, &shape)?;
        if cell.is_dense() && cell.part.is_whole(&cell.shape) {
            return self.encode(values, Condition::Replace, scratch);
        }
        let mut chunk = scratch.take(byte_len(&cell.shape, core.size)?)?;
        let mut whole = Destination::dense(&mut chunk, &cell.shape, core.size)?;
        let can = core.storage.capabilities();
        let condition = match current {
            Current::Present(loaded, version) => {
                let all = Region::whole(&cell.shape);
                core.chain.decode_into(loaded.whole(), &cell.shape, &all, whole.reborrow(), scratch)?;
                loaded.give_to(scratch);
                version.filter(|_| can.put_if).map_or(Condition::Replace, Condition::IfUnchanged)
            }
            absent => {
                whole.fill(core.fill.bytes())?;
                let unread = matches!(absent, Current::Unread) || !can.put_create;
                if unread { Condition::Replace } else { Condition::Create }
            }
        };
        let mut part = whole.sub(cell.part.start(), cell.part.shape())?;
        if cell.is_dense() {
            part.put(values, Swap::NONE)?;
        } else {
            part.step(&cell.steps)?.put(values, Swap::NONE)?;
        }
        let change = self.encode(Source::dense(&chunk, &cell.shape, core.size)?, condition, scratch)?;
        scratch.give(chunk);
        Ok(change)
    }

    fn encode(&self, chunk: Source<'_>, condition: Condition, scratch: &mut Scratch) -> ArrayResult<Change> {
        let core = &*self.core;
        if core.fill_chunks == FillChunks::Skip && chunk.is_filled_with(core.fill.bytes()) {
            // A chunk that is all fill is deleted; inside a read-modify-write only where that can be conditional.
            match &condition {
                Condition::Create => return Ok(Change::Nothing),
                Condition::Replace => return Ok(Change::Delete(None)),
                Condition::IfUnchanged(version) if core.storage.capabilities().delete_if => {
                    return Ok(Change::Delete(Some(version.clone())));
                }
                Condition::IfUnchanged(_) => {}
            }
        }
        let mut encoded = scratch.take_vec();
        core.chain.encode(chunk, &mut encoded, scratch)?;
        Ok(Change::Put(encoded, condition))
    }

    async fn apply(&self, key: &Key, change: Change, scratch: Option<&mut Scratch>) -> ArrayResult<Stored> {
        let writer = self.core.storage.writer()?;
        let outcome = match change {
            Change::Nothing => return Ok(Stored::Done),
            Change::Delete(version) => writer.delete(key, version.as_ref()).await?,
            Change::Put(encoded, condition) => {
                let how = match &condition {
                    Condition::Replace => Put::Replace,
                    Condition::Create => Put::Create,
                    Condition::IfUnchanged(version) => Put::IfUnchanged(version),
                };
                let value = [Bytes::from(encoded)];
                let outcome = writer.put(key, &value, how).await?;
                recycle(value, scratch);
                outcome
            }
        };
        Ok(match outcome {
            Outcome::Done(_) => Stored::Done,
            _ => Stored::Again,
        })
    }
}

/// Part of a chunk cannot be written beside other writers.
pub(crate) fn unsafe_update() -> ArrayError {
    let message = "this store has no conditional puts, so that this cannot be written safely beside other writers; say \
                   `single_writer` if there are none";
    ArrayError::new(ArrayErrorKind::Unsupported, message)
}

/// The memory of a value that the store did not keep serves the next chunk.
fn recycle([value]: [Bytes; 1], scratch: Option<&mut Scratch>) {
    if let (Some(scratch), Ok(mut memory)) = (scratch, value.try_into_mut()) {
        memory.clear();
        scratch.give_vec(memory.into());
    }
}
