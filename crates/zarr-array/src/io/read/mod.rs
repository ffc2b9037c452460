//! Reading: fetches the whole object of a chunk, or the ranges that its codecs ask for, and decodes into a cell of the
//! result.

pub(crate) mod boxes;
mod decode;
mod direct;
mod lists;

use std::ops::Range;
use std::sync::Arc;

use zarr_strided::{Destination, Output, Plain, ViewMut, bytes_of_mut};
use zarr_traits::{
    BoxFuture, Dims, Scratch, block_on,
    heap::Heap,
    partial::{Piece, PieceDecode},
};

use crate::element::Element;
use crate::element::check::{check_element, fresh};
use crate::error::{ArrayError, ArrayErrorKind, ArrayResult};
use crate::io::core::{Core, with_heap};
use crate::io::fetch::opened::Opened;
use crate::io::fetch::{Data, Tally, strange};
use crate::io::loaded::Fetched;
use crate::io::read::boxes::fill_boxes;
use crate::io::target::{Target, TargetPlan};
use crate::plan::order::Orders;
use crate::plan::{Cell, Leaf, Plan};
use crate::run::{PART, SMALL, Stored, Task, UNCOUNTED, run};
use crate::select::Selection;
use crate::values::NdVec;

struct Read {
    core: Arc<Core>,
    plan: Plan,
    output: Output,
    sizes: Sizes,
    /// Whether the result is all zero at first, so that a fill value of zero need not be written.
    zeroed: bool,
    /// The contents of elements of variable length.
    heap: Option<Arc<Heap>>,
}

/// The approximate sizes of a read, in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    /// All decoded elements.
    decoded: u64,
    /// What is fetched of a chunk at once.
    fetched: u64,
}

pub(crate) struct Found {
    data: Data,
    /// Groups of pieces that threads can decode in parallel. A group holds whole leaves.
    parts: Vec<Range<usize>>,
}

/// Reads into new memory.
pub(crate) async fn read<T: Element>(core: &Arc<Core>, selection: Selection) -> ArrayResult<NdVec<T>> {
    check_element::<T>(&core.data_type).map_err(|e| e.in_array(&core.path))?;
    let Target { plan, orders, full, places, kept } = Target::new(core, &selection)?;
    let (memory, heap) = read_memory(core, plan, &orders, &full).await?;
    let elements = T::from_memory(memory, &core.form(heap.as_deref(), &places));
    elements.and_then(|elements| NdVec::new(kept, elements)).map_err(|e| e.in_array(&core.path))
}

/// Reads the elements of a selection of shape `full` as memory, without converting them, and the heap of their
/// contents.
pub(crate) async fn read_memory<M: Plain>(
    core: &Arc<Core>,
    plan: TargetPlan,
    orders: &Orders,
    full: &[u64],
) -> ArrayResult<(Vec<M>, Option<Arc<Heap>>)> {
    let fresh = |shape: &[u64]| {
        fresh::<M>(shape, core.size, core.limits.result_bytes).map_err(|e| e.in_array(&core.path))
    };
    // Fails before anything is read if the result exceeds the limits.
    let mut ordered = if orders.are_same() { Vec::new() } else { fresh(full)? };
    let shape = plan.shape();
    let memory = fresh(&shape)?;
    let (memory, heap) = match plan {
        TargetPlan::Ranges(plan) => fill_owned(core, plan, memory, &shape, true).await?,
        TargetPlan::Lists(plan) => lists::read(core, plan, memory).await?,
    };
    if orders.are_same() {
        return Ok((memory, heap));
    }
    orders.reorder(&memory, &shape, &mut ordered, core.size)?;
    Ok((ordered, heap))
}

/// Reads elements of any data type as bytes, in the byte order of this machine, into new memory.
pub(crate) async fn read_bytes(core: &Arc<Core>, selection: Selection) -> ArrayResult<(Vec<u64>, Vec<u8>)> {
    core.check_fixed()?;
    let Target { plan, orders, full, kept, .. } = Target::new(core, &selection)?;
    Ok((kept, read_memory(core, plan, &orders, &full).await?.0))
}

/// Reads into owned memory and returns it.
pub(crate) async fn read_into<T: Element>(
    core: &Arc<Core>,
    selection: Selection,
    values: NdVec<T>,
) -> ArrayResult<NdVec<T>> {
    let target = Target::new(core, &selection)?;
    target.check_shape(values.shape()).map_err(|e| e.in_array(&core.path))?;
    let Target { plan, orders, full, kept, places } = target;
    check_element::<T>(&core.data_type).map_err(|e| e.in_array(&core.path))?;
    let (TargetPlan::Ranges(plan), true) = (plan, orders.are_same()) else {
        return read(core, selection).await;
    };
    let Some(memory) = T::reuse(values.into_vec(), &core.data_type) else {
        return read(core, selection).await;
    };
    let (memory, heap) = fill_owned(core, plan, memory, &full, false).await?;
    let elements = T::from_memory(memory, &core.form(heap.as_deref(), &places));
    elements.and_then(|elements| NdVec::new(kept, elements)).map_err(|e| e.in_array(&core.path))
}

/// Reads into borrowed memory, which only a blocking caller can lend.
pub(crate) fn read_into_view<T: Element>(
    core: &Arc<Core>,
    selection: Selection,
    mut memory: ViewMut<'_, T>,
    has_shape: bool,
) -> ArrayResult<()> {
    check_element::<T>(&core.data_type).map_err(|e| e.in_array(&core.path))?;
    let target = Target::new(core, &selection)?;
    target.check_lent(memory.shape(), has_shape).map_err(|e| e.in_array(&core.path))?;
    let Target { plan, orders, full, .. } = target;
    if let (TargetPlan::Ranges(plan), true) = (plan, orders.are_same() && size_of::<T::Memory>() == core.size)
        && let Some(plain) = T::plain_mut(memory.reborrow(), &core.data_type)
    {
        let memory = Destination::from(plain).reshape(&full)?;
        if direct::suits(core, &plan) {
            return direct::fill(core, &plan, memory, false).map(drop);
        }
        return Output::lend(memory, plan.cuts(), |output| {
            block_on(fill(core, plan, output, false)).map(drop)
        })?;
    }
    Ok(memory.assign(block_on(read(core, selection))?.into_vec())?)
}

impl Sizes {
    pub(crate) fn of(core: &Core, plan: &Plan) -> Self {
        let chunk = core.chunk_bytes(plan);
        let plain = core.chain.is_plain();
        let leaf = plan.inner().map(|inner| core.bytes_of(&inner.shape));
        let decoded = if plain {
            core.bytes_of(&plan.result_shape())
        } else {
            leaf.unwrap_or(chunk).saturating_mul(plan.leaves())
        };
        let fetched = match plan.inner() {
            None if !plain => chunk,
            // Only the selected part of an uncompressed chunk is read.
            None => chunk.min(decoded / plan.cells().max(1)),
            // Only the selected part of a shard is read, in blocks.
            Some(inner) => {
                let leaves = inner.together.max(1).min(plan.leaves().div_ceil(plan.cells().max(1)));
                leaf.unwrap_or(chunk).saturating_add(Piece::BYTES).saturating_mul(leaves)
            }
        };
        Self { decoded, fetched }
    }

    /// Whether handing cells to other threads would cost more than it gains.
    fn is_quick(&self, core: &Core, plan: &Plan) -> bool {
        let (cells, leaves) = (plan.cells(), plan.leaves());
        leaves <= 1 || self.decoded < SMALL || (cells <= 2 && core.chain.is_plain())
    }

    /// Whether the read is quick, and so small that its memory need not be counted.
    pub(crate) fn are_small(&self, core: &Core, plan: &Plan) -> bool {
        self.is_quick(core, plan) && self.fetched <= UNCOUNTED
    }
}

/// Reads into the memory of `output`. Returns it, and the heap of its contents. A wall (decision 0026).
fn fill(
    core: &Arc<Core>,
    plan: Plan,
    output: Output,
    zeroed: bool,
) -> BoxFuture<'_, ArrayResult<(Output, Option<Arc<Heap>>)>> {
    Box::pin(async move {
        if core.caches(&plan) {
            let read = fill_boxes(core, vec![(plan, output)]).await;
            let (mut outputs, heap) = read.map_err(|e| e.in_array(&core.path))?;
            let output = outputs.pop().ok_or_else(|| strange("a read of a box has no result"))?;
            return Ok((output, heap));
        }
        let (sizes, heap) = (Sizes::of(core, &plan), core.heap(core.limits.result_bytes));
        let read = Read { core: core.clone(), plan, output, sizes, zeroed, heap };
        let Read { output, heap, .. } = finished(core, read).await?;
        Ok((output, heap))
    })
}

/// Runs a read, and returns it when it is done.
async fn finished<T: Task>(core: &Core, read: T) -> ArrayResult<T> {
    let read = Arc::new(read);
    run(&read, &core.place()).await.map_err(|e| e.in_array(&core.path))?;
    match Arc::into_inner(read) {
        Some(read) => Ok(read),
        None => unreachable!("a finished task has one owner"),
    }
}

/// Returns the memory of a read that is done.
fn memory_of<M: Plain>(output: Output) -> Vec<M> {
    match output.into_vec() {
        Ok(memory) => memory,
        Err(_) => unreachable!("a finished task has one owner"),
    }
}

/// Reads into owned memory of this shape, and returns it and the heap of its contents.
async fn fill_owned<M: Plain>(
    core: &Arc<Core>,
    plan: Plan,
    mut memory: Vec<M>,
    shape: &[u64],
    zeroed: bool,
) -> ArrayResult<(Vec<M>, Option<Arc<Heap>>)> {
    if direct::suits(core, &plan) {
        let dst = Destination::dense(bytes_of_mut(&mut memory), shape, core.size)?;
        let heap = direct::fill(core, &plan, dst, zeroed)?;
        return Ok((memory, heap));
    }
    let output = Output::sized(memory, core.size, shape, plan.cuts())?;
    let (output, heap) = fill(core, plan, output, zeroed).await?;
    Ok((memory_of(output), heap))
}

impl Task for Read {
    const STORES: bool = false;

    type Cell = Cell;
    type Found = Found;
    type Made = ();
    type Held = ();
    type Opened = Opened;

    fn cells(&self) -> u64 {
        self.plan.cells()
    }

    fn cell(&self, number: u64) -> Cell {
        self.plan.cell(number)
    }

    fn bytes_of(&self, cell: Option<&Cell>) -> u64 {
        match cell {
            Some(cell) => self.core.bytes_of(&cell.count),
            None => self.core.bytes_of(self.output.shape()),
        }
    }

    fn is_small(&self) -> bool {
        self.sizes.is_quick(&self.core, &self.plan)
    }

    fn shares(&self) -> bool {
        self.plan.inner().is_some()
    }

    fn made_bytes((): &()) -> u64 {
        0
    }

    fn expected_bytes(&self) -> u64 {
        self.sizes.fetched
    }

    fn locate(&self, cell: &Cell, error: ArrayError) -> ArrayError {
        self.core.locate(&cell.chunk, error)
    }

    async fn hold(&self, _: &Cell) -> ArrayResult<()> {
        Ok(())
    }

    fn blocks(&self, cell: &Cell) -> u64 {
        self.plan.blocks(cell)
    }

    fn block(&self, cell: &Cell, number: u64) -> Cell {
        self.plan.block(cell, number)
    }

    async fn open(&self, cell: &Cell) -> ArrayResult<Opened> {
        let key = self.core.key(&cell.chunk)?;
        self.core.open(cell.of(&key), true, &mut Tally::default()).await
    }

    async fn fetch(
        &self,
        cell: &Cell,
        (): &(),
        opened: Option<&Opened>,
        scratch: Option<&mut Scratch>,
    ) -> ArrayResult<Found> {
        let data = self.core.fetch_cell(cell, opened, scratch).await?;
        let parts = match &data {
            Data::Pieces(pieces, _) if self.plan.inner().is_some() => self.divide(cell, pieces),
            _ => Vec::new(),
        };
        Ok(Found { data, parts })
    }

    fn bytes(found: &Found) -> u64 {
        match &found.data {
            Data::Absent => 0,
            Data::Whole(loaded) => loaded.len() as u64,
            Data::Pieces(_, fetched) => fetched.len() as u64,
        }
    }

    fn parts(found: &Found) -> u64 {
        found.parts.len() as u64
    }

    fn part(&self, cell: &Cell, found: &Found, part: u64, scratch: &mut Scratch) -> ArrayResult<()> {
        let part = usize::try_from(part).ok().and_then(|part| found.parts.get(part));
        match (&found.data, part) {
            (Data::Pieces(pieces, fetched), Some(part)) => {
                with_heap(self.heap.as_ref(), scratch, |scratch| {
                    self.decode_pieces(cell, &pieces[part.clone()], fetched, scratch)
                })
            }
            _ => Ok(()),
        }
    }

    fn work(&self, cell: &Cell, found: Found, scratch: &mut Scratch) -> ArrayResult<()> {
        let Found { data, parts } = found;
        with_heap(self.heap.as_ref(), scratch, |scratch| match data {
            Data::Absent => self.fill(cell),
            Data::Whole(loaded) => {
                self.decode_whole(cell, loaded.whole(), scratch)?;
                loaded.give_to(scratch);
                Ok(())
            }
            Data::Pieces(pieces, fetched) => {
                if parts.is_empty() {
                    self.decode_pieces(cell, &pieces, &fetched, scratch)?;
                }
                fetched.give_to(scratch);
                Ok(())
            }
        })
    }

    async fn store(&self, _: &Cell, (): (), _: Option<&mut Scratch>) -> ArrayResult<Stored> {
        Ok(Stored::Done)
    }
}

impl Read {
    /// Groups pieces into parts that one thread decodes: the pieces of one leaf, or of several small leaves.
    fn divide(&self, cell: &Cell, pieces: &[Piece]) -> Vec<Range<usize>> {
        let mut parts = Vec::new();
        let (mut first, mut bytes, mut last) = (0, 0_u64, None::<Leaf>);
        for (i, piece) in pieces.iter().enumerate() {
            let (hit, _) = place(cell, piece);
            if !last.as_ref().is_some_and(|last| last.holds(&hit)) {
                if last.is_some() && bytes >= PART {
                    parts.push(first..i);
                    (first, bytes) = (i, 0);
                }
                last = Some(self.plan.leaf(&hit));
            }
            bytes = bytes.saturating_add(self.core.bytes_of(match &piece.job {
                PieceDecode::Chain(inner) => &inner.chunk,
                _ => &piece.shape,
            }));
        }
        if first < pieces.len() {
            parts.push(first..pieces.len());
        }
        parts
    }

    fn leaf(&self, number: u64) -> ArrayResult<Destination<'_>> {
        let taken = self.output.take(number);
        taken.ok_or_else(|| ArrayError::new(ArrayErrorKind::Panic, "a part of the result was decoded twice"))
    }

    /// Writes fill values, or fails if a missing chunk is an error.
    fn fill(&self, cell: &Cell) -> ArrayResult<()> {
        if !self.core.writes_fill(self.zeroed)? {
            return Ok(());
        }
        self.plan
            .leaves_of(cell)
            .try_for_each(|leaf| Ok(self.leaf(leaf)?.fill(self.core.fill_element.bytes())?))
    }

    /// Decodes pieces. Each piece lies in one leaf, and the pieces of a leaf follow each other.
    fn decode_pieces(
        &self,
        cell: &Cell,
        pieces: &[Piece],
        fetched: &Fetched,
        scratch: &mut Scratch,
    ) -> ArrayResult<()> {
        let mut open: Option<(Leaf, Destination<'_>)> = None;
        for piece in pieces {
            let (mut at, count) = place(cell, piece);
            if !open.as_ref().is_some_and(|(leaf, _)| leaf.holds(&at)) {
                let leaf = self.plan.leaf(&at);
                let dst = self.leaf(leaf.number)?;
                open = Some((leaf, dst));
            }
            let Some((leaf, dst)) = &mut open else { continue };
            at.iter_mut().zip(&leaf.at).for_each(|(at, leaf)| *at -= leaf);
            let place = dst.reborrow().sub(&at, &count)?;
            self.core.decode_piece(cell, piece, fetched.bytes(piece.span)?, place, scratch)?;
        }
        Ok(())
    }

    fn decode_whole(&self, cell: &Cell, src: &[u8], scratch: &mut Scratch) -> ArrayResult<()> {
        if self.plan.inner().is_some() {
            return Err(strange("a codec with inner chunks cannot read them one by one"));
        }
        let leaf = self.plan.leaf(&cell.at);
        self.core.decode_whole(cell, src, self.leaf(leaf.number)?, scratch)
    }
}

/// Returns the place of a piece's selected elements in the result, and their number in each dimension.
fn place(cell: &Cell, piece: &Piece) -> (Dims, Dims) {
    let (mut at, count) = cell.place_of(piece);
    at.iter_mut().zip(&cell.at).for_each(|(at, cell)| *at += cell);
    (at, count)
}
