//! Writing a selection with lists: every chunk is read, changed and put once.

use std::collections::HashMap;

use zarr_strided::{Destination, Input, Source, Swap};
use zarr_traits::{Bytes, Dims, Region, Scratch, byte_len, partial::Known, update::SelectedPart};

use crate::error::ArrayResult;
use crate::io::core::Core;
use crate::io::encoding::Encode;
use crate::io::write::{WritePlan, not_asked};
use crate::plan::lists::{PickCell, PickPlan};

/// The stored object of a chunk, and the boxes that touch each inner chunk.
pub(crate) struct Inner {
    object: Option<Bytes>,
    boxes: HashMap<Dims, Vec<u64>>,
}

impl WritePlan for PickPlan {
    type Cell = PickCell;
    type Inner = Inner;

    const PUTS_INTO_VIEWS: bool = false;

    fn cells(&self) -> u64 {
        self.cells()
    }

    fn cell(&self, number: u64) -> PickCell {
        self.cell(number)
    }

    fn elements(&self, cell: Option<&PickCell>) -> u64 {
        let elements = cell.map_or_else(|| self.shape().product(), |cell| self.chosen(cell));
        elements.unwrap_or(u64::MAX)
    }

    fn leaves(&self) -> u64 {
        self.boxes()
    }

    fn largest_chunk(&self) -> u64 {
        self.largest_chunk()
    }

    fn chunk(cell: &PickCell) -> &Dims {
        &cell.chunk
    }

    fn shape(cell: &PickCell) -> &Dims {
        &cell.shape
    }

    fn is_whole(&self, cell: &PickCell) -> bool {
        self.is_whole(cell)
    }

    fn is_complete(&self, cell: &PickCell) -> bool {
        self.is_complete(cell)
    }

    fn whole<'a>(&self, _: &PickCell, _: &'a Input) -> ArrayResult<Option<Source<'a>>> {
        Ok(None)
    }

    fn put(&self, cell: &PickCell, chunk: &mut [u8], _: usize, input: &Input) -> ArrayResult<()> {
        let start = Dims::filled(0, cell.shape.len());
        cell.boxes
            .clone()
            .try_for_each(|number| self.put_box(cell, number, &start, &cell.shape, chunk, input))
    }

    fn put_into(&self, _: &PickCell, _: Destination<'_>, _: &Input, _: Swap) -> ArrayResult<()> {
        Err(not_asked())
    }

    fn values<'a>(&self, _: &PickCell, _: &'a Input) -> ArrayResult<Source<'a>> {
        Err(not_asked())
    }

    /// All inner chunks in the box around the elements, whole.
    fn selected(&self, core: &Core, cell: &PickCell) -> SelectedPart {
        SelectedPart::all(core.around(&self.around(cell)))
    }

    fn inner(&self, core: &Core, cell: &PickCell, object: Option<Bytes>) -> Inner {
        let shape = core.chain.inner_shape(cell.shape.len()).unwrap_or_default();
        let mut boxes: HashMap<Dims, Vec<u64>> = HashMap::new();
        for number in cell.boxes.clone() {
            let part = core.around(&self.at(cell, number).part);
            let counts: Dims = part.shape().iter().zip(&shape).map(|(len, inner)| len / inner).collect();
            for nth in 0..counts.product().unwrap_or(0) {
                let within = crate::plan::unravel(nth, &counts);
                let dims = part.start().iter().zip(&within).zip(&shape);
                let start = dims.map(|((start, nth), inner)| start + nth * inner).collect();
                boxes.entry(start).or_default().push(number);
            }
        }
        Inner { object, boxes }
    }

    fn encode(
        &self,
        core: &Core,
        cell: &PickCell,
        inner: &Inner,
        elements: &Region,
        input: &Input,
        scratch: &mut Scratch,
        encode: &mut Encode<'_>,
    ) -> ArrayResult<Option<bool>> {
        let selected = self.selected(core, cell).part;
        let start: Dims = selected.start().iter().zip(elements.start()).map(|(a, b)| a + b).collect();
        let Some(boxes) = inner.boxes.get(&start) else { return Ok(None) };
        let shape = elements.shape();
        let mut memory = scratch.take(byte_len(shape, core.size)?)?;
        let region = Region::new(start.clone(), shape).unwrap_or_default();
        self.old_elements(core, cell, inner, &region, &mut memory, scratch)?;
        for number in boxes {
            self.put_box(cell, *number, &start, shape, &mut memory, input)?;
        }
        let stored = encode(&Source::dense(&memory, shape, core.size)?, scratch);
        scratch.give(memory);
        stored.map(Some)
    }
}

impl PickPlan {
    /// Puts the elements of a box that lie in a part of the chunk into that part, which has `shape` and begins at
    /// `start` of the chunk.
    fn put_box(
        &self,
        cell: &PickCell,
        number: u64,
        start: &[u64],
        shape: &[u64],
        part: &mut [u8],
        input: &Input,
    ) -> ArrayResult<()> {
        let inside = self.at(cell, number);
        for hits in self.hits(&inside, &cell.corner(start), shape) {
            let at: Dims = hits.at.iter().zip(inside.first()).map(|(at, first)| at + first).collect();
            let places: Vec<&[u64]> = hits.places.iter().map(|places| &places[..]).collect();
            input.source().sub(&at, &hits.count)?.scatter(part, &places)?;
        }
        Ok(())
    }

    /// Fills `memory` with the stored elements of a region of a chunk.
    fn old_elements(
        &self,
        core: &Core,
        cell: &PickCell,
        inner: &Inner,
        region: &Region,
        memory: &mut [u8],
        scratch: &mut Scratch,
    ) -> ArrayResult<()> {
        let mut dst = Destination::dense(memory, region.shape(), core.size)?;
        let Some(object) = &inner.object else {
            return Ok(dst.fill(core.fill_element.bytes())?);
        };
        let mut known: Option<Known> = None;
        let Some(read) = core.read_in(&cell.shape, region, object, &mut known)? else {
            return Err(not_asked());
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
