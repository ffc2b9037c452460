//! Reads of little data: the calling thread decodes one chunk after the other straight into the result. Most of the time
//! of such a read is its preparation, so nothing is prepared for other threads.

use zarr_engine::run::{Amount, Scratches, Sizes, UNCOUNTED, caught};
use zarr_strided::Destination;
use zarr_traits::{Scratch, block_on, store::Drive};

use crate::error::ArrayResult;
use crate::io::core::Core;
use crate::io::read::reader::Reader;
use crate::io::read::sink::Sink;
use crate::plan::Cell;

/// Whether a read is done here: the store answers at once, the caller may wait, and other threads would not help.
pub(crate) fn suits(core: &Core, reader: &Reader<'_>, sizes: Sizes) -> bool {
    core.may_block
        && matches!(core.storage.capabilities().drive, Drive::Inline)
        && reader.joint.is_one_block()
        && sizes.is_small
        && sizes.expected <= UNCOUNTED
}

/// Reads into `dst`, which has the shape of the result.
pub(crate) fn fill(reader: &Reader<'_>, dst: Destination<'_>) -> ArrayResult<()> {
    let core = reader.core;
    if let Some(progress) = &core.progress {
        progress.expect(Amount::new(reader.joint.cells(), core.bytes_of(dst.shape())));
    }
    let scratches = Scratches::of(&core.storage);
    let mut scratch = scratches.take();
    let mut sink = Sink::View(dst);
    let done = (0..reader.joint.cells()).try_for_each(|number| {
        let cell = reader.joint.cell(number);
        let read = read(reader, &cell, &mut sink, &mut scratch);
        read.map_err(|e| core.locate(&cell.chunk, e))
    });
    scratches.give(scratch);
    done.map_err(|e| core.in_array(e))
}

/// Reads the selected part of one chunk.
fn read(reader: &Reader<'_>, cell: &Cell, sink: &mut Sink<'_>, scratch: &mut Scratch) -> ArrayResult<()> {
    let progress = reader.core.progress.as_ref();
    progress.map_or(Ok(()), |progress| progress.check())?;
    let found = block_on(reader.fetch(cell, None, Some(scratch)))?;
    reader.copy_cached(cell, &found, sink)?;
    caught(|| reader.decode(cell, &found, sink, scratch))?;
    found.give_to(scratch);
    if let Some(progress) = progress {
        let bytes = reader.joint.elements(cell).saturating_mul(reader.core.size as u64);
        progress.add(Amount::new(1, bytes));
    }
    Ok(())
}
