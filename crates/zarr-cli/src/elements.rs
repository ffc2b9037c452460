//! Elements of any data type in memory.

use zarr_array::blocking::Array;
use zarr_array::{DataType, Selection};

use crate::exit::Failure;

/// Elements in C order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Elements {
    /// Elements of one size, as bytes in the byte order of this machine.
    Fixed(Vec<u8>),
    /// Elements of variable length: the content of each.
    Variable(Vec<Vec<u8>>),
}

impl Elements {
    /// Reads the elements of a selection. Booleans are bytes 0 and 1; other stored bytes are an error.
    pub(crate) fn read(array: &Array, selection: Selection) -> Result<Self, Failure> {
        if array.data_type().size().is_none() {
            return Ok(Self::Variable(array.read::<Vec<u8>>(selection)?.into_vec()));
        }
        if *array.data_type() == DataType::Bool {
            let truths = array.read::<bool>(selection)?.into_vec();
            return Ok(Self::Fixed(truths.into_iter().map(u8::from).collect()));
        }
        Ok(Self::Fixed(array.read_bytes(selection)?.1))
    }

    /// Writes the elements to a selection of the same size.
    pub(crate) fn write(self, array: &Array, selection: Selection) -> Result<(), Failure> {
        match self {
            Self::Fixed(bytes) => array.write_bytes(selection, bytes)?,
            Self::Variable(contents) => array.write(selection, &contents[..])?,
        }
        Ok(())
    }

    /// Calls `visit` with each element. `size` is the size of an element of fixed size.
    pub(crate) fn each(
        &self,
        size: usize,
        mut visit: impl FnMut(&[u8]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        match self {
            Self::Fixed(bytes) => bytes.chunks_exact(size.max(1)).try_for_each(visit),
            Self::Variable(contents) => contents.iter().try_for_each(|content| visit(content)),
        }
    }
}
