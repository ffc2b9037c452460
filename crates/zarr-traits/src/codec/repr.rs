//! The chunk that a codec is built for.

use crate::dtype::{DataType, Layout};
use crate::error::{CodecError, CodecErrorKind, CodecResult};
use crate::fill::FillValue;
use crate::heap::Slot;

/// The representation of a chunk at one place of a codec chain: all but its shape and its values.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repr {
    /// The data type of the elements.
    pub data_type: DataType,
    /// The fill value at this place of the chain, encoded by the codecs before it.
    pub fill: FillValue,
    /// The number of dimensions.
    pub rank: usize,
}

impl Repr {
    /// Builds the representation of chunks with `rank` dimensions and elements of `data_type`.
    pub fn new(data_type: DataType, fill: FillValue, rank: usize) -> Self {
        Self { data_type, fill, rank }
    }

    /// Returns the size of an element and the unit of its byte order, both in bytes. The unit of a packed type is 1.
    ///
    /// # Errors
    /// [`CodecErrorKind::Unsupported`] for a type of variable length.
    pub fn fixed(&self) -> CodecResult<(usize, usize)> {
        match self.data_type.layout() {
            Layout::Fixed { size, unit } => Ok((size, unit)),
            Layout::Packed { size } => Ok((size, 1)),
            Layout::Variable => Err(CodecError::new(
                CodecErrorKind::Unsupported,
                format!("data type {:?} has elements of variable length", self.data_type.name()),
            )),
        }
    }

    /// Returns the fill value as it is in the memory of a chunk.
    pub fn fill_element(&self) -> FillValue {
        match self.data_type.layout() {
            Layout::Variable => Slot::fill(&self.fill).to_element(),
            _ => self.fill.clone(),
        }
    }
}
