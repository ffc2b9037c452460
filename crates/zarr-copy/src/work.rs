//! The work for one array: moving its objects, or encoding its elements again.

use zarr_array::Array;
use zarr_hierarchy::objects::{Moved, TransferError};

use crate::blocks::{Blocks, product};
use crate::error::{CopyError, CopyErrorKind, CopyResult};
use crate::memory::Room;
use crate::objects;
use crate::told::{Action, Done, Estimate, MANY, Places, Told};
use crate::twice::{self, Twice};

/// The planned work for an array.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) places: Places,
    /// Bytes of all elements, stored or not.
    pub(crate) elements: u128,
    /// Bytes of elements to copy, as far as known.
    pub(crate) bytes: u64,
    pub(crate) how: How,
}

#[derive(Debug)]
pub(crate) enum How {
    /// The chunks of the copy equal those of the source.
    Objects,
    Blocks(Box<Blocks>),
    Twice(Box<Twice>),
}

impl Work {
    /// Moves the objects of `source`.
    pub(crate) fn objects(source: &Array) -> Self {
        let elements = elements(source);
        // The stored part of so many chunks is unknown.
        let bytes = if product(&source.chunk_counts()) > MANY { 0 } else { elements };
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        Self { places: Places::new(source), elements, bytes, how: How::Objects }
    }

    /// Encodes the elements of `source` again, block by block.
    pub(crate) fn blocks(source: &Array, blocks: Blocks) -> Self {
        let (elements, bytes) = (elements(source), blocks.bytes);
        Self { places: Places::new(source), elements, bytes, how: How::Blocks(Box::new(blocks)) }
    }

    /// Encodes the elements of `source` again, in two passes.
    pub(crate) fn twice(source: &Array, twice: Box<Twice>) -> Self {
        let (elements, bytes) = (elements(source), twice.bytes());
        Self { places: Places::new(source), elements, bytes, how: How::Twice(twice) }
    }

    /// Whether stored objects are copied as they are.
    pub(crate) fn moves_objects(&self) -> bool {
        matches!(self.how, How::Objects)
    }

    /// Returns the work as numbers.
    pub(crate) fn estimate(&self, source: &Array) -> Estimate {
        match &self.how {
            How::Blocks(blocks) => blocks.estimate(),
            How::Twice(twice) => twice.estimate(),
            How::Objects => {
                let (objects, bytes) = (product(&source.chunk_counts()), self.elements);
                Estimate {
                    reads: objects,
                    writes: objects,
                    bytes_read: bytes,
                    bytes_written: bytes,
                    ..Estimate::default()
                }
            }
        }
    }

    /// Copies everything, with `resumes` what an earlier run has not copied. Calls `done` with bytes of elements.
    pub(crate) async fn copy(
        &self,
        resumes: bool,
        source: &Array,
        copy: &Array,
        room: &Room,
        done: Told<'_>,
    ) -> CopyResult<Done> {
        match &self.how {
            How::Objects if resumes => self.moved(objects::mend(source, copy, room, done).await),
            How::Objects => self.moved(objects::all(Action::Copy, source, copy, room, done).await),
            How::Blocks(blocks) => blocks.copy(resumes, source, copy, done).await.map(|()| Done::default()),
            How::Twice(twice) => twice.copy(resumes, source, copy, done).await.map(|()| Done::default()),
        }
    }

    /// Compares source and copy. `is_complete`: an earlier run has finished the copy.
    pub(crate) async fn compare(
        &self,
        source: &Array,
        copy: &Array,
        is_complete: bool,
        room: &Room,
        done: Told<'_>,
    ) -> CopyResult<Done> {
        let blocks = match &self.how {
            How::Objects => {
                let compared = objects::all(Action::Compare, source, copy, room, done).await;
                return Ok(Done { objects: compared.map_err(|e| self.failed(e))?, ..Done::default() });
            }
            How::Blocks(blocks) => {
                blocks.compare(source, copy, done).await?;
                blocks
            }
            How::Twice(twice) => {
                twice.compare(source, copy, !is_complete, done).await?;
                twice.last()
            }
        };
        Ok(blocks.compared(blocks.bytes))
    }

    /// Deletes what only helped to copy. An earlier run that was `resumed` may have had other memory, and so two passes.
    pub(crate) async fn finish(&self, copy: &Array, resumed: bool) -> CopyResult<()> {
        match &self.how {
            How::Twice(_) => {}
            How::Blocks(_) if resumed => {}
            _ => return Ok(()),
        }
        twice::clear(copy).await.map_err(|e| self.places.in_copy(e))
    }

    pub(crate) fn moved(&self, result: Result<Moved, TransferError>) -> CopyResult<Done> {
        let moved = result.map_err(|e| self.failed(e))?;
        Ok(Done { moved, ..Done::default() })
    }

    pub(crate) fn failed(&self, e: TransferError) -> CopyError {
        match e {
            TransferError::From(e) => self.places.in_array(e),
            TransferError::To(e) => self.places.in_copy(e),
            e => self.places.in_copy(CopyError::new(CopyErrorKind::Differs, e.to_string())),
        }
    }
}

fn elements(source: &Array) -> u128 {
    product(source.shape()).saturating_mul(source.data_type().memory_size() as u128)
}
