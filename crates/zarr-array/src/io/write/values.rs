//! The elements of a write, and their places in the chunks.

use zarr_strided::{Destination, Dims, Input, Source, Swap, byte_len};
use zarr_traits::{Bytes, Region, Scratch, partial::Known, update::SelectedPart};

use crate::error::ArrayResult;
use crate::io::core::Core;
use crate::io::encoding::Encode;
use crate::io::fetch::strange;
use crate::plan::hits::Hits;
use crate::plan::{Cell, Plan};

/// The values that are written to one chunk.
#[derive(Clone, Copy)]
pub(super) struct Values<'a> {
    pub(super) core: &'a Core,
    pub(super) plan: &'a Plan,
    pub(super) cell: &'a Cell,
    /// The elements of the whole plan.
    pub(super) input: &'a Input,
}

impl<'a> Values<'a> {
    /// Returns the elements as a box, which they are in the order of the chunk if they are at equal steps.
    pub(super) fn steps(&self) -> ArrayResult<Source<'a>> {
        Ok(self.input.source().sub(&self.cell.at, &self.cell.count)?)
    }

    /// Returns the elements of a chunk of which all are written, if they have its order.
    pub(super) fn whole(&self) -> ArrayResult<Option<Source<'a>>> {
        let is_whole = self.plan.is_whole(self.cell) && self.plan.is_dense(self.cell);
        if is_whole { self.steps().map(Some) } else { Ok(None) }
    }

    /// Puts the elements into the chunk, which has elements in C order.
    pub(super) fn put(&self, chunk: &mut [u8]) -> ArrayResult<()> {
        let Cell { start, shape, .. } = self.cell;
        self.hits(start, shape).put(&self.input.source(), chunk, shape)
    }

    /// Puts elements at equal steps into a view of the chunk.
    pub(super) fn put_into(&self, chunk: Destination<'_>, swap: Swap) -> ArrayResult<()> {
        let Cell { start, shape, .. } = self.cell;
        match self.hits(start, shape) {
            Hits::Steps(steps) => steps.put(&self.input.source(), chunk, swap),
            _ => Err(strange("elements of a list have no view")),
        }
    }

    fn hits(&self, corner: &[u64], shape: &[u64]) -> Hits {
        self.plan.hits(&self.cell.at, &self.cell.count, corner, shape)
    }

    /// Returns the part of the chunk whose inner chunks are affected: with a list, all of them in the box around the
    /// elements, whole.
    pub(super) fn selected(&self) -> SelectedPart {
        let around = self.plan.around(self.cell);
        match self.plan.is_steps() {
            true => SelectedPart::new(around, self.plan.steps()),
            false => SelectedPart::all(self.core.around(&around)),
        }
    }

    /// Calls `encode` with the new elements of an inner chunk, given as a box of the [selected](Self::selected) part.
    /// `object` is the stored object. Returns whether the inner chunk is stored, or `None` if nothing is written to it.
    pub(super) fn encode(
        &self,
        object: Option<&Bytes>,
        elements: &Region,
        scratch: &mut Scratch,
        encode: &mut Encode<'_>,
    ) -> ArrayResult<Option<bool>> {
        if self.plan.is_steps() {
            let values = self.steps()?.sub(elements.start(), elements.shape())?;
            return encode(&values, scratch).map(Some);
        }
        let (selected, shape) = (self.selected().part, elements.shape());
        let start: Dims = selected.start().iter().zip(elements.start()).map(|(a, b)| a + b).collect();
        let corner: Dims = self.cell.start.iter().zip(&start).map(|(chunk, at)| chunk + at).collect();
        let hits = self.hits(&corner, shape);
        if hits.first().is_none() {
            return Ok(None);
        }
        let mut memory = scratch.take(byte_len(shape, self.core.size)?)?;
        let region = Region::new(start, shape).unwrap_or_default();
        self.old_elements(object, &region, &mut memory, scratch)?;
        hits.put(&self.input.source(), &mut memory, shape)?;
        let stored = encode(&Source::dense(&memory, shape, self.core.size)?, scratch);
        scratch.give(memory);
        stored.map(Some)
    }

    /// Fills `memory` with the stored elements of a region of the chunk.
    fn old_elements(
        &self,
        object: Option<&Bytes>,
        region: &Region,
        memory: &mut [u8],
        scratch: &mut Scratch,
    ) -> ArrayResult<()> {
        let core = self.core;
        let mut dst = Destination::dense(memory, region.shape(), core.size)?;
        let Some(object) = object else {
            return Ok(dst.fill(core.fill_element.bytes())?);
        };
        let mut known: Option<Known> = None;
        let Some(read) = core.read_in(&self.cell.shape, region, object, &mut known)? else {
            return Err(strange("a codec with inner chunks cannot read them one by one"));
        };
        let mut pieces = Vec::new();
        read.pieces(&mut pieces)?;
        for piece in pieces {
            let src = zarr_traits::ByteRange::from(piece.span).of(object)?;
            zarr_engine::run_piece(&piece, &src, dst.reborrow().sub(&piece.at, &piece.shape)?, scratch)?;
        }
        Ok(())
    }
}
