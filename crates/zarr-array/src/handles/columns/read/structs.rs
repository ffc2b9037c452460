//! Structs: a column for each field of rows.

use zarr_traits::DataType;

use super::super::{for_each_number, time_of, unsupported};
use super::{bytes, strings, times};
use crate::element::rows::{Rows, is_struct};
use crate::element::{Element, Form, WriteElement};
use crate::error::ArrayResult;
use crate::values::{Column, ColumnType};

/// Returns rows as a column of structs.
pub(super) fn read(rows: &Rows) -> ArrayResult<Column> {
    let fields = rows.fields().iter().filter(|field| !field.is_padding());
    let columns = fields.map(|field| {
        let column = column(rows, &field.name);
        let column = column.map_err(|e| e.while_doing(format!("field {:?}", field.name)))?;
        Ok((field.name.clone(), column))
    });
    Column::structs(columns.collect::<ArrayResult<Vec<_>>>()?)
}

/// Returns the elements of a field in all rows.
fn column(rows: &Rows, name: &str) -> ArrayResult<Column> {
    let (data_type, shape, memory) = rows.column(name)?;
    let mut column = elements(&data_type, memory)?;
    for length in shape.iter().rev() {
        let size = usize::try_from(*length).map_err(|_| unsupported("sub-arrays of this length"))?;
        let lists = column.len() / size.max(1);
        column = Column::new(ColumnType::FixedSizeList(size), lists, None, [], [column])?;
    }
    Ok(column)
}

/// Returns elements of a fixed size, which are in memory, as a column.
fn elements(data_type: &DataType, memory: Vec<u8>) -> ArrayResult<Column> {
    let form = Form::new(data_type, None, 0, &[]);
    if is_struct(data_type) {
        return read(&form.rows(memory)?);
    }
    if let Some((unit, stamps)) = time_of(data_type)? {
        return Ok(times(typed::<i64>(memory, &form)?, unit, stamps));
    }
    macro_rules! plain {
        ($element:ty $(, $column_type:ident)?) => {
            if <$element>::fits(data_type)? {
                return Ok(Column::from(typed::<$element>(memory, &form)?));
            }
        };
    }
    plain!(bool);
    for_each_number!(plain);
    if String::fits(data_type)? {
        return strings(memory, &form);
    }
    if Vec::<u8>::fits(data_type)? {
        return bytes(memory, &form);
    }
    Err(unsupported(&data_type.to_string()))
}

/// Returns elements from their bytes in memory.
fn typed<T: Element>(memory: Vec<u8>, form: &Form<'_>) -> ArrayResult<Vec<T>> {
    let mut values = zarr_strided::zeroed::<T::Memory>(memory.len() / size_of::<T::Memory>().max(1))?;
    zarr_strided::bytes_of_mut(&mut values).copy_from_slice(&memory);
    T::from_memory(values, form)
}
