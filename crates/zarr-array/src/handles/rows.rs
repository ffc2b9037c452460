//! Reading and writing the rows of an array of structs.

use crate::element::rows::Rows;
use crate::error::ArrayResult;
use crate::handles::array::Array;
use crate::io::rows::{read_rows, write_rows};
use crate::select::Selection;

impl Array {
    /// Reads a selection of an array of structs.
    ///
    /// # Errors
    /// As [`read`](Self::read), and when the data type is not a struct.
    pub async fn read_rows(&self, selection: impl Into<Selection>) -> ArrayResult<Rows> {
        read_rows(&self.core, selection.into()).await
    }

    /// Writes rows to a selection of the same shape.
    ///
    /// # Errors
    /// As [`write`](Self::write), and when the rows have another data type.
    pub async fn write_rows(&self, selection: impl Into<Selection>, rows: Rows) -> ArrayResult<()> {
        write_rows(&self.core, selection.into(), rows).await
    }
}
