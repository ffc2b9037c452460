//! The read of one run of bytes of an uncompressed chunk, such as a whole chunk, a slab of it or an element: the store puts
//! the bytes straight into the result. Other reads copy them there from scratch memory.

use std::sync::Arc;

use zarr_engine::run::Amount;
use zarr_strided::{Destination, Dims, Plain, Swap, bytes_of_mut};
use zarr_traits::{
    ByteRange, Key, Span, StoreErrorKind, StoreResult,
    codec::EncodedSize,
    store::{Drive, ObjectMeta, Read, ReadBuffer},
};

use crate::error::{ArrayError, ArrayErrorKind, ArrayResult};
use crate::io::core::Core;
use crate::io::fetch::{too_large, wrong_size};
use crate::plan::{Cell, Plan};
use crate::settings::MissingChunks;

/// Elements that follow each other in an uncompressed chunk, in the order of the result.
pub(crate) struct Run {
    chunk: Dims,
    key: Key,
    range: ByteRange,
    /// The size of the object, in bytes.
    object: u64,
}

impl Run {
    /// Returns the run of a plan, or `None` if it is none, or the store does not answer at once.
    pub(crate) fn of(core: &Core, plan: &Plan) -> Option<Self> {
        let answers = || core.may_block && matches!(core.storage.capabilities().drive, Drive::Inline);
        if plan.cells() != 1 || !answers() || !core.chain.is_plain() {
            return None;
        }
        let (order, swap) = core.chain.plain(core.shape.len())?;
        if swap != Swap::NONE || !order.iter().enumerate().all(|(at, dim)| at as u64 == *dim) {
            return None;
        }
        let cell = plan.cell(0);
        let (span, object) = span(plan, &cell, core.size as u64)?;
        core.check_chunk(&cell.shape).ok()?;
        let range = if span.len == object { ByteRange::All } else { span.into() };
        Some(Self { key: core.key(&cell.chunk).ok()?, chunk: cell.chunk, range, object })
    }

    /// Reads the run into `memory`, which has its size and is all zero if `zeroed`. Returns whether that is done: not if the
    /// object changed meanwhile. Then the read must begin again.
    pub(crate) async fn read<M: Plain>(
        self,
        core: &Arc<Core>,
        memory: Vec<M>,
        zeroed: bool,
    ) -> ArrayResult<(Vec<M>, bool)> {
        if let Some(progress) = &core.progress {
            progress.check().map_err(|e| core.in_array(e))?;
        }
        let mut buffer = ReadBuffer::filling(memory);
        let size = buffer.limit();
        if self.range == ByteRange::All {
            buffer = buffer.expecting(size);
        }
        let found = core.storage.read(Read::new(&self.key, &[self.range], &mut buffer)).await;
        let len = buffer.len() as u64;
        let Some((mut memory, touched)) = buffer.into_filled::<M>() else {
            unreachable!("the buffer was made of this memory")
        };
        let is_there = match found {
            Err(e) if e.kind() == StoreErrorKind::Changed => return Ok((memory, false)),
            found => {
                self.check(core, found, len, size).map_err(|e| core.in_array(core.locate(&self.chunk, e)))?
            }
        };
        let fill = &core.fill_element;
        let is_filled = is_there || zeroed && touched == 0 && fill.is_zero();
        if !is_filled {
            let elements = [size / core.size.max(1) as u64];
            Destination::dense(bytes_of_mut(&mut memory), &elements, core.size)?.fill(fill.bytes())?;
        }
        if let Some(progress) = &core.progress {
            progress.expect(Amount::new(1, size));
            progress.add(Amount::new(1, size));
        }
        Ok((memory, true))
    }

    /// Returns whether the object exists, of which the store has read `len` of `size` bytes.
    fn check(
        &self,
        core: &Core,
        found: StoreResult<Option<ObjectMeta>>,
        len: u64,
        size: u64,
    ) -> ArrayResult<bool> {
        match found.map_err(|e| too_large(e, EncodedSize::Exact(self.object), size))? {
            Some(meta) => match meta.size.filter(|size| *size != self.object) {
                Some(size) => Err(wrong_size(size, self.object)),
                None if len != size => Err(wrong_size(len, size)),
                None => Ok(true),
            },
            None if core.missing == MissingChunks::Error => {
                Err(ArrayError::new(ArrayErrorKind::NotFound, "the chunk is missing"))
            }
            None => Ok(false),
        }
    }
}

/// Returns the bytes of all selected elements of a cell, and the size of its object, if the elements are all between the
/// first and the last one, in the order of the chunk.
fn span(plan: &Plan, cell: &Cell, size: u64) -> Option<(Span, u64)> {
    if !plan.is_dense(cell) {
        return None;
    }
    let part = plan.around(cell);
    let (mut offset, mut stride, mut is_cut) = (0_u64, size, false);
    for (length, (start, count)) in cell.shape.iter().zip(part.start().iter().zip(part.shape())).rev() {
        if is_cut && *count != 1 {
            return None;
        }
        is_cut |= count != length;
        offset = offset.checked_add(start.checked_mul(stride)?)?;
        stride = stride.checked_mul(*length)?;
    }
    let len = Dims::from(part.shape()).product()?.checked_mul(size)?;
    Some((Span { offset, len }, stride))
}
