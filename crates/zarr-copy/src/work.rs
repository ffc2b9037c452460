//! The work for one array: moving its objects, or encoding its elements again.

use std::ops::AddAssign;

use zarr_array::Array;
use zarr_hierarchy::objects::{Moved, TransferError};

use crate::blocks::{Blocks, product};
use crate::error::{CopyError, CopyErrorKind, CopyResult};
use crate::memory::Room;
use crate::objects;
use crate::twice::{self, Twice};
use crate::units::Pass;

/// Is called with bytes of elements that are done.
pub(crate) type Told<'a> = &'a (dyn Fn(u64) + Sync);

/// An array with more chunks than this, in the source or in the copy, is listed to find the stored chunks.
pub(crate) const MANY: u128 = 1 << 20;

/// What is done with a part of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    Copy,
    Compare,
}

/// The planned work for an array.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) places: Places,
    /// Bytes of all elements, stored or not.
    pub(crate) elements: u128,
    /// Bytes of elements to copy, as far as known.
    pub(crate) bytes: u64,
    how: How,
}

#[derive(Debug)]
enum How {
    /// The chunks of the copy equal those of the source.
    Objects,
    Blocks(Box<Blocks>),
    Twice(Box<Twice>),
}

/// What the copy of an array will do, in numbers. Chunks that are not stored count as well, so these are upper bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Estimate {
    /// How many times all elements are read and written: zero if objects are copied as they are stored.
    pub passes: u32,
    /// Reads of chunks or shards of the source. One that lies in two blocks is read twice.
    pub reads: u128,
    /// Writes of chunks or shards of the copy.
    pub writes: u128,
    /// Decoded bytes that are read.
    pub bytes_read: u128,
    /// Bytes of elements that are written.
    pub bytes_written: u128,
    /// The size of an intermediate array beside the copy, in bytes: zero with one pass. It is counted in the reads and
    /// writes as well, and deleted in the end.
    pub intermediate: u128,
    /// The memory that is taken at most, in bytes. For objects their sizes decide, which are not known yet: zero.
    pub memory: u64,
}

/// The amounts that were copied and compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Done {
    /// Objects that were copied as they are stored.
    pub moved: Moved,
    /// Objects that were compared byte for byte.
    pub objects: Moved,
    /// Bytes of elements that were compared.
    pub elements: u128,
    /// Bytes of elements that were compared after encoding by lossy codecs.
    pub kept: u128,
    /// Whether an earlier run had finished the copy, so that nothing was copied.
    pub was_complete: bool,
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

    /// Copies everything. Calls `done` with bytes of elements.
    pub(crate) async fn copy(
        &self,
        source: &Array,
        copy: &Array,
        room: &Room,
        done: Told<'_>,
    ) -> CopyResult<Done> {
        match &self.how {
            How::Objects => self.moved(objects::copy(source, copy, room, done).await),
            How::Blocks(blocks) => blocks.copy(source, copy, done).await.map(|()| Done::default()),
            How::Twice(twice) => twice.copy(source, copy, done).await.map(|()| Done::default()),
        }
    }

    /// Copies what an earlier run has not copied.
    pub(crate) async fn resume(
        &self,
        source: &Array,
        copy: &Array,
        room: &Room,
        done: Told<'_>,
    ) -> CopyResult<Done> {
        match &self.how {
            How::Objects => self.moved(objects::mend(source, copy, room, done).await),
            How::Blocks(blocks) => blocks.resume(source, copy, done).await.map(|()| Done::default()),
            How::Twice(twice) => twice.resume(source, copy, done).await.map(|()| Done::default()),
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
                let compared = objects::compare(source, copy, room, done).await;
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

    /// Returns the passes of the copy, in order, for workers that share it.
    pub(crate) fn passes(&self, source: &Array, copy: &Array) -> CopyResult<Vec<Pass<'_>>> {
        Ok(match &self.how {
            How::Objects => vec![Pass::objects(self, source, copy)?],
            How::Blocks(blocks) => vec![Pass::blocks(self, blocks, source.clone(), copy.clone())],
            How::Twice(twice) => {
                let passes = twice.passes(source, copy)?.into_iter();
                let name = twice.name();
                passes.map(|(blocks, from, to)| Pass::blocks(self, blocks, from, to).named(&name)).collect()
            }
        })
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

impl AddAssign for Done {
    fn add_assign(&mut self, other: Self) {
        for (sum, more) in [(&mut self.moved, other.moved), (&mut self.objects, other.objects)] {
            sum.objects += more.objects;
            sum.bytes += more.bytes;
        }
        self.elements += other.elements;
        self.kept += other.kept;
        self.was_complete |= other.was_complete;
    }
}

/// The name of the array in error messages.
#[derive(Debug, Default)]
pub(crate) struct Places {
    path: String,
    /// Whether what is read belongs to the copy.
    reads_copy: bool,
}

impl Places {
    pub(crate) fn new(source: &Array) -> Self {
        Self { path: source.path().to_owned(), reads_copy: false }
    }

    /// Returns the name for errors of a pass that reads an array of the copy.
    pub(crate) fn of_copy(source: &Array) -> Self {
        Self { reads_copy: true, ..Self::new(source) }
    }

    /// Marks an error of the source that names the array already.
    pub(crate) fn in_source(&self, e: impl Into<CopyError>) -> CopyError {
        if self.reads_copy { self.in_copy(e) } else { e.into().of_source() }
    }

    /// Adds the array to an error of the source.
    fn in_array(&self, e: impl Into<CopyError>) -> CopyError {
        self.in_source(e.into().within(format_args!("array {:?}", self.path)))
    }

    /// Adds the path to an error of the copy, whose array is at the root of its own storage.
    pub(crate) fn in_copy(&self, e: impl Into<CopyError>) -> CopyError {
        let (e, place) = (e.into(), format!("copy of array {:?}", self.path));
        match e.message().strip_prefix("array \"/\"") {
            Some(rest) => {
                let message = format!("{place}{rest}");
                e.with_message(message)
            }
            None => e.within(place),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_in_the_copy_names_one_array() {
        let places = Places { path: "/a".to_owned(), reads_copy: false };
        let place = |message: &str| places.in_copy(CopyError::settings(message)).message().to_owned();
        assert_eq!(place("array \"/\", chunk [0]: no space"), "copy of array \"/a\", chunk [0]: no space");
        assert_eq!(place("array \"/\": no"), "copy of array \"/a\": no");
        assert_eq!(place("no"), "copy of array \"/a\": no");
        let message = places.in_array(CopyError::settings("no")).message().to_owned();
        assert_eq!(message, "array \"/a\": no");
    }
}
