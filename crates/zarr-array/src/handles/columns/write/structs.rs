//! Structs: the fields of rows from columns.

use super::{check_nulls, input, other};
use crate::element::Form;
use crate::element::rows::Rows;
use crate::error::{ArrayError, ArrayResult};
use crate::values::{Column, ColumnType};

/// Returns a column of structs as rows. It must have all fields of the data type.
pub(super) fn write(values: &Column, form: &Form<'_>) -> ArrayResult<Rows> {
    let ColumnType::Struct(names) = values.column_type() else { return Err(other(values, form)) };
    check_nulls(values, form)?;
    let fields: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut rows = form.blank_rows(values.len(), &fields)?;
    for (name, column) in names.iter().zip(values.children()) {
        let set = set_column(&mut rows, name, column);
        set.map_err(|e| e.while_doing(format!("field {name:?}")))?;
    }
    Ok(rows)
}

fn set_column(rows: &mut Rows, name: &str, column: &Column) -> ArrayResult<()> {
    let (data_type, shape, _) = rows.column(name)?;
    let form = Form::new(&data_type, None, 0, &[]);
    let mut elements = column;
    for length in &shape {
        let (ColumnType::FixedSizeList(size), [items]) = (elements.column_type(), elements.children()) else {
            return Err(other(elements, &form));
        };
        check_nulls(elements, &form)?;
        if *size as u64 != *length {
            return Err(ArrayError::invalid(format!("lists of {size} elements, not {length}")));
        }
        elements = items;
    }
    let input = input(&[elements.len() as u64], elements, &form)?;
    rows.set_column(name, &input.source())
}
