//! Reading: the whole object of a chunk, or the ranges that its codecs want, decoded into its cell of the result.

use std::ops::Range;
use std::sync::Arc;

use zarr_strided::{Destination, Output, Plain, Source, Swap};
use zarr_traits::byte_len;
use zarr_traits::{
    Dims, Scratch, block_on,
    heap::Heap,
    partial::{Job, Piece},
};

use crate::core::{Core, MissingChunks, with_heap};
use crate::element::Element;
use crate::error::{ArrayError, ArrayErrorKind, ArrayResult};
use crate::feed::{PART, SMALL, Stored, Task, run};
use crate::fetch::{Data, strange};
use crate::loaded::Fetched;
use crate::plan::{Cell, Leaf, Plan};
use crate::select::{Picked, Selection};
use crate::values::{NdVec, check_element, fresh};

struct Read {
    core: Arc<Core>,
    plan: Plan,
    output: Output,
    /// Bytes that will be decoded, about.
    decoded: u64,
    /// Bytes of a chunk, about, as the store holds it.
    chunk_bytes: u64,
    /// Whether the result is known to be zero where nothing is written.
    zeroed: bool,
    /// What elements of variable length contain.
    heap: Option<Arc<Heap>>,
}

pub(crate) struct Found {
    cell: Cell,
    data: Data,
    /// Pieces that are decoded together, where several threads may share them: whole leaves.
    parts: Vec<Range<usize>>,
}

/// A selection resolved against an array: the shape of all its dimensions, and of those it keeps.
pub(crate) struct Target {
    pub(crate) plan: Plan,
    pub(crate) full: Dims,
    pub(crate) kept: Vec<u64>,
    /// Which elements of the array they are.
    pub(crate) picked: Vec<Picked>,
}

impl Target {
    pub(crate) fn new(core: &Core, selection: &Selection) -> ArrayResult<Self> {
        let picked = selection.resolve(&core.shape).map_err(|e| e.in_array(&core.path))?;
        let full: Dims = picked.iter().map(|p| p.count).collect();
        let fits = byte_len(&full, core.size).map_err(ArrayError::from);
        let inner = core.chain.inner_shape(full.len());
        let plan = fits.and_then(|_| Plan::new(&picked, &core.shape, &*core.grid, inner));
        let plan = plan.map_err(|e| e.in_array(&core.path))?;
        let kept = full.iter().zip(plan.keep()).filter(|(_, keep)| **keep).map(|(n, _)| *n).collect();
        Ok(Self { plan, full, kept, picked })
    }
}

/// Reads into new memory.
pub(crate) async fn read<T: Element>(
    core: &Arc<Core>,
    selection: Selection,
    may_block: bool,
) -> ArrayResult<NdVec<T>> {
    check_element::<T>(&core.data_type).map_err(|e| e.in_array(&core.path))?;
    let Target { plan, full, kept, picked } = Target::new(core, &selection)?;
    let (memory, heap) = read_memory(core, plan, &full, may_block).await?;
    let elements = T::from_memory(memory, &core.form(heap.as_deref(), &picked));
    elements.and_then(|elements| NdVec::new(kept, elements)).map_err(|e| e.in_array(&core.path))
}

/// Reads the memory of elements, without making any of it, and what they contain.
pub(crate) async fn read_memory<M: Plain>(
    core: &Arc<Core>,
    plan: Plan,
    full: &[u64],
    may_block: bool,
) -> ArrayResult<(Vec<M>, Option<Arc<Heap>>)> {
    let memory = fresh::<M>(full, core.size, core.limits.result_bytes);
    let memory = memory.map_err(|e| e.in_array(&core.path))?;
    let cuts = plan.cuts(full);
    let output = Output::sized(memory, core.size, full, cuts)?;
    fill(core, plan, output, true, may_block).await
}

/// Reads the bytes of elements of any data type, in the byte order of this machine, into new memory.
pub(crate) async fn read_bytes(
    core: &Arc<Core>,
    selection: Selection,
    may_block: bool,
) -> ArrayResult<(Vec<u64>, Vec<u8>)> {
    core.check_fixed()?;
    let Target { plan, full, kept, .. } = Target::new(core, &selection)?;
    Ok((kept, read_memory(core, plan, &full, may_block).await?.0))
}

/// Reads into memory that the caller gives away and gets back.
pub(crate) async fn read_into<T: Element>(
    core: &Arc<Core>,
    selection: Selection,
    values: NdVec<T>,
    may_block: bool,
) -> ArrayResult<NdVec<T>> {
    let Target { plan, full, kept, picked } = Target::new(core, &selection)?;
    if values.shape() != kept {
        return Err(wrong_shape(&kept, values.shape()).in_array(&core.path));
    }
    check_element::<T>(&core.data_type).map_err(|e| e.in_array(&core.path))?;
    let Some(memory) = T::reuse(values.into_vec(), &core.data_type) else {
        return read(core, selection, may_block).await;
    };
    let output = Output::sized(memory, core.size, &full, plan.cuts(&full))?;
    let (memory, heap) = fill(core, plan, output, false, may_block).await?;
    let elements = T::from_memory(memory, &core.form(heap.as_deref(), &picked));
    elements.and_then(|elements| NdVec::new(kept, elements)).map_err(|e| e.in_array(&core.path))
}

/// Reads into borrowed memory: only a blocking caller may lend it.
pub(crate) fn read_into_slice<T: Element>(
    core: &Arc<Core>,
    selection: &Selection,
    values: &mut [T],
) -> ArrayResult<()> {
    check_element::<T>(&core.data_type).map_err(|e| e.in_array(&core.path))?;
    let Target { plan, full, .. } = Target::new(core, selection)?;
    if full.product() != Some(values.len() as u64) {
        return Err(wrong_shape(&full, &[values.len() as u64]).in_array(&core.path));
    }
    let memory = T::as_memory_mut(values, &core.data_type).filter(|_| size_of::<T::Memory>() == core.size);
    let Some(memory) = memory else {
        let read = block_on(read::<T>(core, selection.clone(), true))?;
        values.clone_from_slice(read.as_slice());
        return Ok(());
    };
    let cuts = plan.cuts(&full);
    Output::lend(memory, &full, cuts, |output| {
        let task = task(core, plan, output, false);
        block_on(run(&task, &core.place(true))).map_err(|e| e.in_array(&core.path))
    })?
}

fn wrong_shape(expected: &[u64], got: &[u64]) -> ArrayError {
    ArrayError::invalid(format!("the selection has shape {expected:?}, the memory has {got:?}"))
}

fn task(core: &Arc<Core>, plan: Plan, output: Output, zeroed: bool) -> Arc<Read> {
    let size = core.size as u64;
    let bytes = Dims::from(output.shape()).product().unwrap_or(u64::MAX).saturating_mul(size);
    let leaf = match plan.leaf_shape() {
        Some(leaf) => leaf.product().unwrap_or(u64::MAX).saturating_mul(size),
        None => core.chunk_bytes(&plan),
    };
    let plain = core.chain.is_plain();
    let decoded = if plain { bytes } else { leaf.saturating_mul(plan.leaves()) };
    let chunk_bytes = match plan.leaf_shape() {
        None if !plain => core.chunk_bytes(&plan),
        // Not all of a shard, or of an uncompressed chunk, need be read.
        _ => core.chunk_bytes(&plan).min(decoded / plan.cells().max(1)),
    };
    let heap = core.heap(core.limits.result_bytes);
    Arc::new(Read { core: core.clone(), plan, output, decoded, chunk_bytes, zeroed, heap })
}

/// Runs the read, and takes the memory back out of it, and the heap.
async fn fill<M: Plain>(
    core: &Arc<Core>,
    plan: Plan,
    output: Output,
    zeroed: bool,
    may_block: bool,
) -> ArrayResult<(Vec<M>, Option<Arc<Heap>>)> {
    let task = task(core, plan, output, zeroed);
    run(&task, &core.place(may_block)).await.map_err(|e| e.in_array(&core.path))?;
    let done = Arc::into_inner(task).map(|task| (task.output.into_vec(), task.heap));
    match done {
        Some((Ok(memory), heap)) => Ok((memory, heap)),
        _ => unreachable!("a task that has run is held by nobody else"),
    }
}

impl Task for Read {
    const STORES: bool = false;

    type Found = Found;
    type Made = ();
    type Held = ();

    fn cells(&self) -> u64 {
        self.plan.cells()
    }

    fn is_small(&self) -> bool {
        let (cells, leaves) = (self.plan.cells(), self.plan.leaves());
        leaves <= 1 || self.decoded < SMALL || (cells <= 2 && self.core.chain.is_plain())
    }

    fn shares(&self) -> bool {
        self.plan.leaf_shape().is_some()
    }

    fn made_bytes((): &()) -> u64 {
        0
    }

    fn expected_bytes(&self) -> u64 {
        self.chunk_bytes
    }

    fn locate(&self, cell: u64, error: ArrayError) -> ArrayError {
        self.core.locate(&self.plan, cell, error)
    }

    async fn hold(&self, _: u64) -> ArrayResult<()> {
        Ok(())
    }

    async fn fetch(&self, number: u64, (): &mut (), scratch: Option<&mut Scratch>) -> ArrayResult<Found> {
        let cell = self.plan.cell(number);
        let key = self.core.key(&cell.chunk)?;
        if !cell.is_dense() {
            // the box around what is wanted is held in memory, however little of it is wanted
            self.core.check_chunk(cell.part.shape())?;
        }
        let data = self.core.fetch(cell.at(&key), scratch).await?;
        let parts = match &data {
            Data::Pieces(pieces, _) if self.plan.leaf_shape().is_some() => self.divide(number, pieces),
            _ => Vec::new(),
        };
        Ok(Found { cell, data, parts })
    }

    fn bytes(found: &Found) -> u64 {
        match &found.data {
            Data::Absent => 0,
            Data::Whole(loaded) => loaded.len() as u64,
            Data::Pieces(_, fetched) => fetched.len() as u64,
        }
    }

    fn parts(found: &Found) -> usize {
        found.parts.len()
    }

    fn part(&self, number: u64, found: &Found, part: usize, scratch: &mut Scratch) -> ArrayResult<()> {
        match &found.data {
            Data::Pieces(pieces, fetched) => with_heap(self.heap.as_ref(), scratch, |scratch| {
                self.decode_leaves(number, &pieces[found.parts[part].clone()], fetched, scratch)
            }),
            _ => Ok(()),
        }
    }

    fn work(&self, number: u64, found: Found, scratch: &mut Scratch) -> ArrayResult<()> {
        let Found { cell, data, parts } = found;
        with_heap(self.heap.as_ref(), scratch, |scratch| match data {
            Data::Absent => self.fill(number, &cell),
            Data::Whole(loaded) => {
                self.decode_whole(number, &cell, loaded.whole(), scratch)?;
                loaded.give_to(scratch);
                Ok(())
            }
            Data::Pieces(pieces, fetched) => {
                if parts.is_empty() {
                    self.decode_pieces(number, &cell, &pieces, &fetched, scratch)?;
                }
                fetched.give_to(scratch);
                Ok(())
            }
        })
    }

    async fn store(&self, _: u64, (): (), _: Option<&mut Scratch>) -> ArrayResult<Stored> {
        Ok(Stored::Done)
    }
}

impl Read {
    /// Takes pieces together that are decoded by one thread at once: those of one leaf, and small leaves.
    fn divide(&self, number: u64, pieces: &[Piece]) -> Vec<Range<usize>> {
        let mut parts = Vec::new();
        let (mut first, mut bytes, mut last) = (0, 0_u64, None);
        for (i, piece) in pieces.iter().enumerate() {
            let leaf = self.plan.leaf(number, &piece.at).number;
            if last.is_some_and(|last| last != leaf) && bytes >= PART {
                parts.push(first..i);
                (first, bytes) = (i, 0);
            }
            last = Some(leaf);
            let decoded = match &piece.job {
                Job::Chain(inner) => inner.chunk.product(),
                _ => piece.shape.product(),
            };
            bytes = bytes.saturating_add(decoded.unwrap_or(u64::MAX).saturating_mul(self.core.size as u64));
        }
        if first < pieces.len() {
            parts.push(first..pieces.len());
        }
        parts
    }

    fn leaf(&self, leaf: &Leaf) -> ArrayResult<Destination<'_>> {
        let taken = self.output.take(leaf.number);
        taken
            .ok_or_else(|| ArrayError::new(ArrayErrorKind::Panic, "a part of the result was asked for twice"))
    }

    /// Writes fill values, or says that the chunk must be there.
    fn fill(&self, number: u64, cell: &Cell) -> ArrayResult<()> {
        if self.core.missing == MissingChunks::Error {
            return Err(ArrayError::new(ArrayErrorKind::NotFound, "the chunk is missing"));
        }
        if self.zeroed && self.core.fill_element.is_zero() {
            return Ok(());
        }
        for leaf in self.plan.leaves_of(number, cell.part.shape()) {
            self.leaf(&leaf)?.fill(self.core.fill_element.bytes())?;
        }
        Ok(())
    }

    /// Decodes pieces, which lie in leaves of their own.
    fn decode_leaves(
        &self,
        number: u64,
        pieces: &[Piece],
        fetched: &Fetched,
        scratch: &mut Scratch,
    ) -> ArrayResult<()> {
        let mut open: Option<(Leaf, Destination<'_>)> = None;
        for piece in pieces {
            let leaf = self.plan.leaf(number, &piece.at);
            let (leaf, dst) = match &mut open {
                Some((now, dst)) if *now == leaf => (now, dst),
                _ => {
                    let dst = self.leaf(&leaf)?;
                    let (now, dst) = open.insert((leaf, dst));
                    (now, dst)
                }
            };
            let at: Dims = piece.at.iter().zip(leaf.within.start()).map(|(at, start)| at - start).collect();
            zarr_engine::run_piece(
                piece,
                fetched.bytes(piece.span)?,
                dst.reborrow().sub(&at, &piece.shape)?,
                scratch,
            )?;
        }
        Ok(())
    }

    /// Decodes the pieces of a cell that is not cut into leaves.
    fn decode_pieces(
        &self,
        number: u64,
        cell: &Cell,
        pieces: &[Piece],
        fetched: &Fetched,
        scratch: &mut Scratch,
    ) -> ArrayResult<()> {
        self.through_box(number, cell, scratch, |mut dst, scratch| {
            for piece in pieces {
                let dst = dst.reborrow().sub(&piece.at, &piece.shape)?;
                zarr_engine::run_piece(piece, fetched.bytes(piece.span)?, dst, scratch)?;
            }
            Ok(())
        })
    }

    fn decode_whole(&self, number: u64, cell: &Cell, src: &[u8], scratch: &mut Scratch) -> ArrayResult<()> {
        let chain = &self.core.chain;
        if self.plan.leaf_shape().is_some() {
            return Err(strange("a codec of inner chunks does not read them one by one"));
        }
        self.through_box(number, cell, scratch, |dst, scratch| {
            Ok(chain.decode_into(src, &cell.shape, &cell.part, dst, scratch)?)
        })
    }

    /// Decodes into the place of a cell; where steps are wanted, into the box around them first.
    fn through_box(
        &self,
        number: u64,
        cell: &Cell,
        scratch: &mut Scratch,
        decode: impl FnOnce(Destination<'_>, &mut Scratch) -> ArrayResult<()>,
    ) -> ArrayResult<()> {
        let mut dst = self.leaf(&self.plan.leaf(number, &Dims::filled(0, cell.part.rank())))?;
        if cell.is_dense() {
            return decode(dst, scratch);
        }
        let size = self.core.size;
        let mut around = scratch.take(byte_len(cell.part.shape(), size)?)?;
        decode(Destination::dense(&mut around, cell.part.shape(), size)?, scratch)?;
        dst.put(Source::dense(&around, cell.part.shape(), size)?.step(&cell.steps)?, Swap::NONE)?;
        scratch.give(around);
        Ok(())
    }
}
