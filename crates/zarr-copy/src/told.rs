//! Reports of the work for an array: the estimate, the result, and the place of an error.

use std::ops::AddAssign;

use zarr_array::Array;
use zarr_hierarchy::objects::Moved;

use crate::error::CopyError;

/// Is called with bytes of elements that are done.
pub(crate) type Told<'a> = &'a (dyn Fn(u64) + Sync);

/// An array with more chunks than this, in the source or in the copy, is listed to find the stored chunks.
pub(crate) const MANY: u128 = 1 << 20;

/// The work on a part of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    Copy,
    Compare,
}

/// The work of copying an array, in numbers. Chunks that are not stored count as well, so these are upper bounds.
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

/// Returns the name of an array in errors: its path, and the location of its store, if that is known.
pub(crate) fn array_of(source: &Array) -> String {
    let of = source.storage().location().map_or(String::new(), |location| format!(" of {location}"));
    format!("array {:?}{of}", source.path())
}

/// The names of the array in error messages.
#[derive(Debug, Default)]
pub(crate) struct Places {
    path: String,
    /// The array with the location of its store.
    array: String,
    /// Whether what is read belongs to the copy.
    reads_copy: bool,
}

impl Places {
    pub(crate) fn new(source: &Array) -> Self {
        Self { path: source.path().to_owned(), array: array_of(source), reads_copy: false }
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
    pub(crate) fn in_array(&self, e: impl Into<CopyError>) -> CopyError {
        self.in_source(e.into().within(&self.array))
    }

    /// Adds the path to an error of the copy, whose array is at the root of its own storage.
    pub(crate) fn in_copy(&self, e: impl Into<CopyError>) -> CopyError {
        let place = format!("copy of array {:?}", self.path);
        e.into().edited(|text| match text.strip_prefix("array \"/\"") {
            Some(rest) => format!("{place}{rest}"),
            None => format!("{place}: {text}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_in_the_copy_names_one_array() {
        let places = Places { path: "/a".to_owned(), array: "array \"/a\"".to_owned(), reads_copy: false };
        let place = |message: &str| places.in_copy(CopyError::settings(message)).line().to_owned();
        assert_eq!(place("array \"/\", chunk [0]: no space"), "copy of array \"/a\", chunk [0]: no space");
        assert_eq!(place("array \"/\": no"), "copy of array \"/a\": no");
        assert_eq!(place("no"), "copy of array \"/a\": no");
        let message = places.in_array(CopyError::settings("no")).line().to_owned();
        assert_eq!(message, "array \"/a\": no");
    }
}
