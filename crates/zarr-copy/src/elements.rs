//! Elements of any data type in memory.

use std::ops::Range;

use zarr_array::{Array, ArrayResult, DataType, NdVec, Selection};

/// Elements in C order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Elements {
    /// Elements of one size, as bytes in the byte order of this machine.
    Fixed(Vec<u8>),
    /// Elements of variable length: the content of each.
    Variable(Vec<Vec<u8>>),
}

/// The memory that is counted for an element of variable length, in bytes. Its content is not known before it is read.
const VARIABLE: u64 = 64;

/// Returns the memory of one element in bytes.
pub(crate) fn size(data_type: &DataType) -> u64 {
    data_type.size().map_or(VARIABLE, |size| size as u64).max(1)
}

impl Elements {
    /// Reads selected elements. Booleans are bytes 0 and 1; other stored bytes are an error.
    pub(crate) async fn read(array: &Array, selection: impl Into<Selection>) -> ArrayResult<Self> {
        if array.data_type().size().is_none() {
            return Ok(Self::Variable(array.read::<Vec<u8>>(selection).await?.into_vec()));
        }
        if *array.data_type() == DataType::Bool {
            let truths = array.read::<bool>(selection).await?.into_vec();
            return Ok(Self::Fixed(truths.into_iter().map(u8::from).collect()));
        }
        Ok(Self::Fixed(array.read_bytes(selection).await?.1))
    }

    /// Writes the elements to a box of the same size.
    pub(crate) async fn write(self, array: &Array, spans: &[Range<u64>]) -> ArrayResult<()> {
        let selection = spans.to_vec();
        match self {
            Self::Fixed(bytes) => array.write_bytes(selection, bytes).await,
            Self::Variable(contents) => {
                let shape = spans.iter().map(|span| span.end - span.start).collect::<Vec<_>>();
                array.write(selection, NdVec::new(shape, contents)?).await
            }
        }
    }
}
