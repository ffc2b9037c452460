//! Parts of Parquet files, which are kept for the next reads.

use std::sync::Arc;

use zarr_traits::Bytes;

use crate::parquet::{Layout, Rows};

/// The array, the number of the file, and perhaps the number of the row group.
pub(crate) type Name = (usize, u64, Option<usize>);

/// The parts that are kept in any case: two files, each with a row group, or the records of four files. A listing goes to and fro
/// between files.
pub(crate) const LEAST: usize = 4;

/// A part of a file.
#[derive(Debug, Clone)]
pub(crate) enum Part {
    /// There is no such file.
    Absent,
    /// A file with several row groups, or with one that cannot be decoded.
    File(Arc<File>),
    /// A row group, or a whole file that has only one.
    Rows(Arc<Rows>),
}

/// A whole file, whose row groups are not decoded.
#[derive(Debug)]
pub(crate) struct File {
    pub(crate) bytes: Bytes,
    pub(crate) layout: Layout,
}

impl Part {
    /// The memory of it in bytes, about.
    pub(crate) fn memory(&self) -> usize {
        // What its place among the others takes.
        256 + match self {
            Self::Absent => 0,
            Self::File(file) => file.bytes.len() + file.layout.memory(),
            Self::Rows(rows) => rows.memory(),
        }
    }
}
