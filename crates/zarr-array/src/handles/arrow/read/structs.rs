//! Structs: a column of Arrow for each field of rows.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray, FixedSizeListArray, PrimitiveArray, StructArray};
use arrow_schema::{Field, Fields};
use zarr_traits::DataType;

use super::super::{for_each_number, time_of, unsupported};
use super::{bytes, refused, strings, times};
use crate::element::rows::{Rows, is_struct};
use crate::element::{Element, Form, WriteElement};
use crate::error::ArrayResult;

/// Returns rows as a struct of Arrow.
pub(super) fn read(rows: &Rows) -> ArrayResult<ArrayRef> {
    let (mut fields, mut columns) = (Vec::new(), Vec::new());
    for field in rows.fields().iter().filter(|field| !field.is_padding()) {
        let column =
            column(rows, &field.name).map_err(|e| e.while_doing(format!("field {:?}", field.name)))?;
        fields.push(Field::new(&field.name, column.data_type().clone(), is_nullable(&field.data_type)));
        columns.push(column);
    }
    Ok(Arc::new(StructArray::try_new(Fields::from(fields), columns, None).map_err(refused)?))
}

/// Whether a column can have nulls: those of times are NaT.
fn is_nullable(data_type: &DataType) -> bool {
    time_of(data_type).is_ok_and(|time| time.is_some())
}

/// Returns the elements of a field in all rows.
fn column(rows: &Rows, name: &str) -> ArrayResult<ArrayRef> {
    let (data_type, shape, memory) = rows.column(name)?;
    let mut column = elements(&data_type, memory)?;
    for length in shape.iter().rev() {
        let length =
            i32::try_from(*length).map_err(|_| unsupported("sub-arrays of more than 2^31 elements"))?;
        let item = Arc::new(Field::new_list_field(column.data_type().clone(), is_nullable(&data_type)));
        column = Arc::new(FixedSizeListArray::try_new(item, length, column, None).map_err(refused)?);
    }
    Ok(column)
}

/// Returns elements of a fixed size, which are in memory, as an array of Arrow.
fn elements(data_type: &DataType, memory: Vec<u8>) -> ArrayResult<ArrayRef> {
    let form = Form::new(data_type, None, 0, &[]);
    if is_struct(data_type) {
        return read(&form.rows(memory)?);
    }
    if let Some((unit, stamps)) = time_of(data_type)? {
        return Ok(times(typed::<i64>(memory, &form)?, unit, stamps));
    }
    if *data_type == DataType::Bool {
        return Ok(Arc::new(BooleanArray::from(bool::from_memory(memory, &form)?)));
    }
    macro_rules! number {
        ($element:ty, $arrow:ty) => {
            if <$element>::fits(data_type)? {
                let values = typed::<$element>(memory, &form)?;
                return Ok(Arc::new(PrimitiveArray::<$arrow>::new(values.into(), None)));
            }
        };
    }
    for_each_number!(number);
    if String::fits(data_type)? {
        return strings(memory, &form);
    }
    if Vec::<u8>::fits(data_type)? {
        return bytes(memory, &form);
    }
    Err(unsupported(&data_type.to_string()))
}

/// Returns numbers from their bytes in memory.
fn typed<T: Element>(memory: Vec<u8>, form: &Form<'_>) -> ArrayResult<Vec<T>> {
    let mut values = zarr_strided::zeroed::<T::Memory>(memory.len() / size_of::<T::Memory>().max(1))?;
    zarr_strided::bytes_of_mut(&mut values).copy_from_slice(&memory);
    T::from_memory(values, form)
}
