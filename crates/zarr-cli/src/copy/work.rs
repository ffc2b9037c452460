//! The work for one array: moving its objects, or encoding its elements again.

use std::ops::AddAssign;
use std::path::Path;

use zarr_array::block_on;
use zarr_array::blocking::Array;
use zarr_hierarchy::objects::{Moved, TransferError};

use super::blocks::{Blocks, product};
use super::objects;
use crate::exit::{Exit, Failure};

/// An array with more chunks than this, in the source or in the copy, is listed to find the stored chunks.
pub(super) const MANY: u128 = 1 << 20;

/// The planned work for an array.
#[derive(Debug)]
pub(crate) struct Work {
    pub(super) places: Places,
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
}

/// The amounts that were copied and compared.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Done {
    /// Objects that were moved.
    pub(crate) moved: Moved,
    /// Objects that were compared.
    pub(crate) objects: Moved,
    /// Bytes of elements that were compared.
    pub(crate) elements: u128,
    /// Bytes of elements that were compared after encoding by lossy codecs.
    pub(crate) kept: u128,
}

impl Work {
    /// Moves the objects of `source`, an array of `store`.
    pub(crate) fn objects(source: &Array, store: &Path) -> Self {
        let elements = elements(source);
        // The stored part of so many chunks is unknown.
        let bytes = if product(&source.chunk_counts()) > MANY { 0 } else { elements };
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        Self { places: Places::new(source, store), elements, bytes, how: How::Objects }
    }

    /// Encodes the elements of `source` again, block by block.
    pub(crate) fn blocks(source: &Array, store: &Path, blocks: Blocks) -> Self {
        let (elements, bytes) = (elements(source), blocks.bytes);
        Self { places: Places::new(source, store), elements, bytes, how: How::Blocks(Box::new(blocks)) }
    }

    /// Copies everything. Calls `done` with bytes of elements.
    pub(crate) fn copy(&self, source: &Array, copy: &Array, done: &dyn Fn(u64)) -> Result<Done, Failure> {
        match &self.how {
            How::Objects => self.moved(block_on(objects::copy(source, copy, done))),
            How::Blocks(blocks) => blocks.copy(source, copy, done).map(|()| Done::default()),
        }
    }

    /// Copies what an earlier run has not copied.
    pub(crate) fn resume(&self, source: &Array, copy: &Array, done: &dyn Fn(u64)) -> Result<Done, Failure> {
        match &self.how {
            How::Objects => self.moved(block_on(objects::mend(source, copy, done))),
            How::Blocks(blocks) => blocks.resume(source, copy, done).map(|()| Done::default()),
        }
    }

    /// Compares source and copy.
    pub(crate) fn compare(&self, source: &Array, copy: &Array, done: &dyn Fn(u64)) -> Result<Done, Failure> {
        match &self.how {
            How::Objects => {
                let objects = block_on(objects::compare(source, copy, done)).map_err(|e| self.failed(e))?;
                Ok(Done { objects, ..Done::default() })
            }
            How::Blocks(blocks) => {
                blocks.compare(source, copy, done)?;
                let bytes = u128::from(blocks.bytes);
                let (elements, kept) = if blocks.is_lossy() { (0, bytes) } else { (bytes, 0) };
                Ok(Done { elements, kept, ..Done::default() })
            }
        }
    }

    fn moved(&self, result: Result<Moved, TransferError>) -> Result<Done, Failure> {
        let moved = result.map_err(|e| self.failed(e))?;
        Ok(Done { moved, ..Done::default() })
    }

    fn failed(&self, e: TransferError) -> Failure {
        match e {
            TransferError::From(e) => self.places.in_array(e),
            TransferError::To(e) => self.places.in_copy(e),
            e => self.places.in_copy(Failure::new(Exit::Invalid, e.to_string())),
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
    }
}

/// The names for error messages.
#[derive(Debug, Default)]
pub(crate) struct Places {
    store: String,
    path: String,
}

impl Places {
    pub(super) fn new(source: &Array, store: &Path) -> Self {
        Self { store: format!("store {store:?}"), path: source.path().to_owned() }
    }

    /// Adds the store to an error of the source that names the array already.
    pub(super) fn in_source(&self, e: impl Into<Failure>) -> Failure {
        e.into().within(&self.store)
    }

    /// Adds store and array to an error of the source.
    fn in_array(&self, e: impl Into<Failure>) -> Failure {
        self.in_source(e.into().within(format_args!("array {:?}", self.path)))
    }

    /// Adds the path to an error of the copy, whose array is at the root of its own storage.
    pub(super) fn in_copy(&self, e: impl Into<Failure>) -> Failure {
        let (e, place) = (e.into(), format!("copy of array {:?}", self.path));
        match e.message().strip_prefix("array \"/\"") {
            Some(rest) => Failure::new(e.exit(), format!("{place}{rest}")),
            None => e.within(place),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_in_the_copy_names_one_array() {
        let places = Places { store: "store \"s\"".to_owned(), path: "/a".to_owned() };
        let place = |message: &str| places.in_copy(Failure::usage(message)).message().to_owned();
        assert_eq!(place("array \"/\", chunk [0]: no space"), "copy of array \"/a\", chunk [0]: no space");
        assert_eq!(place("array \"/\": no"), "copy of array \"/a\": no");
        assert_eq!(place("no"), "copy of array \"/a\": no");
        let message = places.in_array(Failure::usage("no")).message().to_owned();
        assert_eq!(message, "store \"s\": array \"/a\": no");
    }
}
