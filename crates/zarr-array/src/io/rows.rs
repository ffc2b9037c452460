//! Reading and writing the rows of an array of structs.

use std::sync::Arc;

use zarr_strided::Input;

use crate::element::rows::{Rows, struct_of};
use crate::error::{ArrayError, ArrayResult};
use crate::io::core::Core;
use crate::io::read::read_memory;
use crate::io::target::Target;
use crate::io::write::write_input;
use crate::select::Selection;

/// Reads the rows of a selection.
pub(crate) async fn read_rows(core: &Arc<Core>, selection: Selection) -> ArrayResult<Rows> {
    struct_of(&core.data_type).map_err(|e| core.in_array(e))?;
    let Target { plan, orders, full, kept, places } = Target::new(core, &selection)?;
    let (bytes, _) = read_memory(core, plan, &orders, &full).await?;
    Ok(Rows::at(places, core.data_type.clone(), kept, bytes))
}

/// Writes rows to a selection.
pub(crate) async fn write_rows(core: &Arc<Core>, selection: Selection, rows: Rows) -> ArrayResult<()> {
    let checked = || {
        if *rows.data_type() != core.data_type {
            return Err(ArrayError::invalid("the rows have another data type"));
        }
        let target = Target::new(core, &selection)?;
        target.check_shape(rows.shape())?;
        Ok(target)
    };
    let target = checked().map_err(|e| core.in_array(e))?;
    let input = Input::sized(rows.into_bytes(), core.size, &target.full)?;
    write_input(core, target, input, None).await
}
