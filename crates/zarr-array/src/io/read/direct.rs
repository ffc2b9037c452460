//! Reads of little data: the calling thread decodes one chunk after the other straight into the result. Most of the time
//! of such a read is its preparation, so nothing is prepared for other threads.

use std::sync::Arc;

use zarr_strided::Destination;
use zarr_traits::{Scratch, block_on, heap::Heap, store::Drive};

use crate::error::ArrayResult;
use crate::io::core::{Core, with_heap};
use crate::io::fetch::Data;
use crate::io::read::Sizes;
use crate::plan::{Cell, Plan};
use crate::run::progress::Amount;
use crate::run::{Scratches, caught};

/// Whether a read is done here: the store answers at once, the caller may wait, and other threads would not help.
pub(crate) fn suits(core: &Core, plan: &Plan) -> bool {
    core.may_block
        && matches!(core.storage.capabilities().drive, Drive::Inline)
        && !core.caches(plan)
        && plan.is_one_block()
        && Sizes::of(core, plan).are_small(core, plan)
}

/// Reads into `dst`, which has the shape of the result and is all zero if `zeroed`. Returns the heap of its contents.
pub(crate) fn fill(
    core: &Core,
    plan: &Plan,
    mut dst: Destination<'_>,
    zeroed: bool,
) -> ArrayResult<Option<Arc<Heap>>> {
    if let Some(progress) = &core.progress {
        progress.expect(Amount { chunks: plan.cells(), bytes: core.bytes_of(dst.shape()) });
    }
    let heap = core.heap(core.limits.result_bytes);
    let scratches = core.storage.shared::<Scratches>();
    let mut scratch = scratches.take();
    let mut done = Ok(());
    for number in 0..plan.cells() {
        let cell = plan.cell(number);
        let read = Read { core, cell: &cell, heap: heap.as_ref(), zeroed };
        let place = dst.reborrow().sub(&cell.at, &cell.count)?;
        done = read.run(place, &mut scratch).map_err(|e| core.locate(&cell.chunk, e));
        if done.is_err() {
            break;
        }
    }
    scratches.give(scratch);
    done.map(|()| heap).map_err(|e| e.in_array(&core.path))
}

/// The read of the selected part of one chunk.
struct Read<'a> {
    core: &'a Core,
    cell: &'a Cell,
    heap: Option<&'a Arc<Heap>>,
    zeroed: bool,
}

impl Read<'_> {
    fn run(&self, dst: Destination<'_>, scratch: &mut Scratch) -> ArrayResult<()> {
        if let Some(progress) = &self.core.progress {
            progress.check()?;
        }
        let data = block_on(self.core.fetch_cell(self.cell, None, Some(scratch)))?;
        caught(|| with_heap(self.heap, scratch, |scratch| self.decode(data, dst, scratch)))?;
        if let Some(progress) = &self.core.progress {
            progress.add(Amount { chunks: 1, bytes: self.core.bytes_of(&self.cell.count) });
        }
        Ok(())
    }

    fn decode(&self, data: Data, mut dst: Destination<'_>, scratch: &mut Scratch) -> ArrayResult<()> {
        let (core, cell) = (self.core, self.cell);
        match data {
            Data::Absent if core.writes_fill(self.zeroed)? => dst.fill(core.fill_element.bytes())?,
            Data::Absent => {}
            Data::Whole(loaded) => {
                core.decode_whole(cell, loaded.whole(), dst, scratch)?;
                loaded.give_to(scratch);
            }
            Data::Pieces(pieces, fetched) => {
                for piece in &pieces {
                    let (at, count) = cell.place_of(piece);
                    let place = dst.reborrow().sub(&at, &count)?;
                    core.decode_piece(cell, piece, fetched.bytes(piece.span)?, place, scratch)?;
                }
                fetched.give_to(scratch);
            }
        }
        Ok(())
    }
}
