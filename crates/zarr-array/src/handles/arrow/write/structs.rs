//! Structs: the fields of rows from columns of Arrow.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};

use super::{check_nulls, input, other};
use crate::element::Form;
use crate::element::rows::Rows;
use crate::error::{ArrayError, ArrayResult};

/// Returns a struct of Arrow as rows. It must have all fields of the data type.
pub(super) fn write(values: &dyn Array, form: &Form<'_>) -> ArrayResult<Rows> {
    let Some(values) = values.as_struct_opt() else { return Err(other(values, form)) };
    check_nulls(values, form)?;
    let mut rows = form.blank_rows(values.len(), &values.column_names())?;
    let names: Vec<String> = values.column_names().into_iter().map(str::to_owned).collect();
    for (name, column) in names.iter().zip(values.columns()) {
        let set = set_column(&mut rows, name, column);
        set.map_err(|e| e.while_doing(format!("field {name:?}")))?;
    }
    Ok(rows)
}

fn set_column(rows: &mut Rows, name: &str, column: &ArrayRef) -> ArrayResult<()> {
    let (data_type, shape, _) = rows.column(name)?;
    let form = Form::new(&data_type, None, 0, &[]);
    let mut elements: ArrayRef = column.clone();
    for length in &shape {
        let list = elements.as_fixed_size_list_opt().ok_or_else(|| other(&elements, &form))?;
        check_nulls(list, &form)?;
        if u64::try_from(list.value_length()) != Ok(*length) {
            let message = format!("lists of {} elements, not {length}", list.value_length());
            return Err(ArrayError::invalid(message));
        }
        elements = list.values().clone();
    }
    let input = input(&[elements.len() as u64], &elements, &form)?;
    rows.set_column(name, &input.source())
}
