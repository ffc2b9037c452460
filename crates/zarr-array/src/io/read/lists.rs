//! Reading a selection with lists: every chunk is fetched once, and the selected elements are taken out of its boxes.

use std::ops::Range;
use std::sync::Arc;

use zarr_strided::{Destination, Output, Plain};
use zarr_traits::{BoxFuture, Dims, Region, Scratch, byte_len, heap::Heap, partial::Piece};

use super::{finished, memory_of};
use crate::error::{ArrayError, ArrayErrorKind, ArrayResult};
use crate::io::core::{Core, with_heap};
use crate::io::fetch::opened::Opened;
use crate::io::fetch::{ChunkPart, Parts, Tally};
use crate::io::loaded::Fetched;
use crate::plan::lists::{PickBox, PickCell, PickPlan};
use crate::run::{PART, SMALL, Stored, Task};
use crate::settings::MissingChunks;

struct PickRead {
    core: Arc<Core>,
    plan: PickPlan,
    output: Output,
    heap: Option<Arc<Heap>>,
}

pub(crate) struct Found {
    parts: Parts,
    boxes: Vec<PickBox>,
    /// Groups of boxes that threads can decode in parallel.
    groups: Vec<Range<usize>>,
}

/// Reads the elements of a plan as memory, without converting them, and the heap of their contents.
pub(crate) async fn read<M: Plain>(
    core: &Arc<Core>,
    plan: PickPlan,
    memory: Vec<M>,
) -> ArrayResult<(Vec<M>, Option<Arc<Heap>>)> {
    let output = Output::sized(memory, core.size, &plan.shape(), plan.cuts()?)?;
    let (output, heap) = fill(core, plan, output).await?;
    Ok((memory_of(output), heap))
}

/// Reads into the memory of `output`. Returns it, and the heap of its contents. A wall (decision 0026).
fn fill(
    core: &Arc<Core>,
    plan: PickPlan,
    output: Output,
) -> BoxFuture<'_, ArrayResult<(Output, Option<Arc<Heap>>)>> {
    Box::pin(async move {
        let heap = core.heap(core.limits.result_bytes);
        let PickRead { output, heap, .. } =
            finished(core, PickRead { core: core.clone(), plan, output, heap }).await?;
        Ok((output, heap))
    })
}

impl Task for PickRead {
    const STORES: bool = false;

    type Cell = PickCell;
    type Found = Found;
    type Made = ();
    type Held = ();
    type Opened = Opened;

    fn cells(&self) -> u64 {
        self.plan.cells()
    }

    fn cell(&self, number: u64) -> PickCell {
        self.plan.cell(number)
    }

    fn bytes_of(&self, cell: Option<&PickCell>) -> u64 {
        let elements = cell.map_or_else(|| self.plan.shape().product(), |cell| self.plan.chosen(cell));
        elements.unwrap_or(u64::MAX).saturating_mul(self.core.size as u64)
    }

    fn is_small(&self) -> bool {
        let decoded = self.decoded_bytes().saturating_mul(self.plan.boxes());
        self.plan.boxes() <= 1 || decoded < SMALL
    }

    fn shares(&self) -> bool {
        self.core.has_inner()
    }

    fn made_bytes((): &()) -> u64 {
        0
    }

    fn expected_bytes(&self) -> u64 {
        if self.core.chain.inner_shape(self.core.shape.len()).is_none() && !self.core.chain.is_plain() {
            return self.decoded_bytes();
        }
        let boxes = self.plan.boxes().div_ceil(self.plan.cells().max(1)).min(self.plan.together());
        self.decoded_bytes().saturating_mul(boxes)
    }

    fn locate(&self, cell: &PickCell, error: ArrayError) -> ArrayError {
        self.core.locate(&cell.chunk, error)
    }

    async fn hold(&self, _: &PickCell) -> ArrayResult<()> {
        Ok(())
    }

    fn blocks(&self, cell: &PickCell) -> u64 {
        self.plan.blocks(cell)
    }

    fn block(&self, cell: &PickCell, number: u64) -> PickCell {
        self.plan.block(cell, number)
    }

    async fn open(&self, cell: &PickCell) -> ArrayResult<Opened> {
        let (key, around) = (self.core.key(&cell.chunk)?, self.plan.around(cell));
        let steps = Dims::filled(1, around.rank());
        self.core.open(cell.of(&key, &around, &steps), true, &mut Tally::default()).await
    }

    async fn fetch(
        &self,
        cell: &PickCell,
        (): &(),
        opened: Option<&Opened>,
        scratch: Option<&mut Scratch>,
    ) -> ArrayResult<Found> {
        let (key, around) = (self.core.key(&cell.chunk)?, self.plan.around(cell));
        let steps = Dims::filled(1, around.rank());
        let boxes: Vec<PickBox> = cell.boxes.clone().map(|number| self.plan.at(cell, number)).collect();
        let chunk = ChunkPart { opened, ..cell.of(&key, &around, &steps) };
        let parts: Vec<_> = boxes.iter().map(|inside| &inside.part).collect();
        let (parts, _) = self.core.fetch_parts(chunk, &parts, scratch).await?;
        let groups = self.divide(&parts);
        Ok(Found { parts, boxes, groups })
    }

    fn bytes(found: &Found) -> u64 {
        found.parts.fetched_bytes()
    }

    fn parts(found: &Found) -> u64 {
        found.groups.len() as u64
    }

    fn part(&self, cell: &PickCell, found: &Found, part: u64, scratch: &mut Scratch) -> ArrayResult<()> {
        let group = usize::try_from(part).ok().and_then(|part| found.groups.get(part));
        let (Parts::Pieces(pieces, fetched), Some(group)) = (&found.parts, group) else { return Ok(()) };
        with_heap(self.heap.as_ref(), scratch, |scratch| {
            let boxes = found.boxes.iter().zip(pieces).skip(group.start).take(group.len());
            boxes
                .into_iter()
                .try_for_each(|(inside, pieces)| self.pieces(cell, inside, pieces, fetched, scratch))
        })
    }

    fn work(&self, cell: &PickCell, found: Found, scratch: &mut Scratch) -> ArrayResult<()> {
        let Found { parts, boxes, groups } = found;
        with_heap(self.heap.as_ref(), scratch, |scratch| match parts {
            Parts::Absent => boxes.iter().try_for_each(|inside| self.fill(inside)),
            Parts::Whole(loaded) => {
                let around = self.plan.around(cell);
                self.whole(cell, &around, &boxes, loaded.whole(), scratch)?;
                loaded.give_to(scratch);
                Ok(())
            }
            Parts::Pieces(pieces, fetched) => {
                if groups.is_empty() {
                    let mut boxes = boxes.iter().zip(&pieces);
                    boxes.try_for_each(|(inside, pieces)| {
                        self.pieces(cell, inside, pieces, &fetched, scratch)
                    })?;
                }
                fetched.give_to(scratch);
                Ok(())
            }
        })
    }

    async fn store(&self, _: &PickCell, (): (), _: Option<&mut Scratch>) -> ArrayResult<Stored> {
        Ok(Stored::Done)
    }
}

impl PickRead {
    /// The approximate number of bytes that are decoded for a box.
    fn decoded_bytes(&self) -> u64 {
        match self.core.chain.inner_shape(self.core.shape.len()) {
            Some(inner) => self.core.bytes_of(&inner),
            // Only the selected elements of an uncompressed chunk are read.
            None if self.core.chain.is_plain() => {
                self.core.bytes_of(&self.plan.shape()).div_ceil(self.plan.boxes().max(1))
            }
            None => self.plan.largest_chunk().saturating_mul(self.core.size as u64),
        }
    }

    /// Groups the boxes of a chunk with inner chunks into parts that one thread decodes.
    fn divide(&self, parts: &Parts) -> Vec<Range<usize>> {
        let Parts::Pieces(boxes, _) = parts else { return Vec::new() };
        if !self.core.has_inner() {
            return Vec::new();
        }
        let (mut groups, mut first, mut bytes) = (Vec::new(), 0, 0_u64);
        for (number, pieces) in boxes.iter().enumerate() {
            bytes = bytes.saturating_add(self.decoded_bytes().saturating_mul(pieces.len() as u64));
            if bytes >= PART || number + 1 == boxes.len() {
                groups.push(first..number + 1);
                (first, bytes) = (number + 1, 0);
            }
        }
        groups
    }

    fn tile(&self, inside: &PickBox) -> ArrayResult<Destination<'_>> {
        let taken = self.output.take(inside.tile);
        taken.ok_or_else(|| ArrayError::new(ArrayErrorKind::Panic, "a part of the result was decoded twice"))
    }

    fn fill(&self, inside: &PickBox) -> ArrayResult<()> {
        if self.core.missing == MissingChunks::Error {
            return Err(ArrayError::new(ArrayErrorKind::NotFound, "the chunk is missing"));
        }
        Ok(self.tile(inside)?.fill(self.core.fill_element.bytes())?)
    }

    /// Decodes the pieces of a box, and takes its elements out of them.
    fn pieces(
        &self,
        cell: &PickCell,
        inside: &PickBox,
        pieces: &[Piece],
        fetched: &Fetched,
        scratch: &mut Scratch,
    ) -> ArrayResult<()> {
        let (mut tile, size) = (self.tile(inside)?, self.core.size);
        for piece in pieces {
            let src = fetched.bytes(piece.span)?;
            if inside.is_dense {
                let dst = tile.reborrow().sub(&piece.at, &piece.shape)?;
                zarr_engine::run_piece(piece, src, dst, scratch)?;
                continue;
            }
            let at: Dims = inside.part.start().iter().zip(&piece.at).map(|(start, at)| start + at).collect();
            let hits = self.plan.hits(inside, &cell.corner(&at), &piece.shape);
            if hits.is_empty() {
                continue;
            }
            let mut memory = scratch.take(byte_len(&piece.shape, size)?)?;
            let whole = Destination::dense(&mut memory, &piece.shape, size)?;
            zarr_engine::run_piece(piece, src, whole, scratch)?;
            for hits in hits {
                let places: Vec<&[u64]> = hits.places.iter().map(|places| &places[..]).collect();
                tile.reborrow().sub(&hits.at, &hits.count)?.gather(&memory, &places)?;
            }
            scratch.give(memory);
        }
        Ok(())
    }

    /// Decodes the box `around` all selected elements of a chunk, and takes them out of it.
    fn whole(
        &self,
        cell: &PickCell,
        around: &Region,
        boxes: &[PickBox],
        src: &[u8],
        scratch: &mut Scratch,
    ) -> ArrayResult<()> {
        let (chain, size) = (&self.core.chain, self.core.size);
        if let ([inside], true) = (boxes, boxes.iter().all(|inside| inside.is_dense)) {
            return Ok(chain.decode_into(src, &cell.shape, around, self.tile(inside)?, scratch)?);
        }
        let mut memory = scratch.take(byte_len(around.shape(), size)?)?;
        let whole = Destination::dense(&mut memory, around.shape(), size)?;
        chain.decode_into(src, &cell.shape, around, whole, scratch)?;
        for inside in boxes {
            let mut tile = self.tile(inside)?;
            for hits in self.plan.hits(inside, &cell.corner(around.start()), around.shape()) {
                let places: Vec<&[u64]> = hits.places.iter().map(|places| &places[..]).collect();
                tile.reborrow().sub(&hits.at, &hits.count)?.gather(&memory, &places)?;
            }
        }
        scratch.give(memory);
        Ok(())
    }
}
