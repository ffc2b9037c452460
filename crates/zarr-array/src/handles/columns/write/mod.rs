//! Turns columns into elements.

mod structs;

use std::sync::Arc;

use zarr_strided::Input;
use zarr_traits::{DataType, Layout, heap::Slot};

use super::{for_each_number, time_of};
use crate::element::rows::is_struct;
use crate::element::{Form, WriteElement, text};
use crate::error::{ArrayError, ArrayResult};
use crate::io::core::Core;
use crate::io::target::Target;
use crate::io::write::write_input;
use crate::select::Selection;
use crate::values::column::bit;
use crate::values::{Column, ColumnType, NOT_A_TIME};

pub(super) async fn write(core: &Arc<Core>, selection: Selection, values: &Column) -> ArrayResult<()> {
    let target = Target::new(core, &selection)?;
    let heap = core.heap(u64::MAX);
    let input = {
        let form = core.form(heap.as_deref(), &target.places);
        checked(&target, values, &form).map_err(|e| core.in_array(e))?
    };
    write_input(core, target, input, heap).await
}

/// Returns the elements of `values`, which must be as many as are selected, as memory.
fn checked(target: &Target, values: &Column, form: &Form<'_>) -> ArrayResult<Input> {
    if target.full.product() != Some(values.len() as u64) {
        let (shape, count) = (&target.kept, values.len());
        return Err(ArrayError::invalid(format!(
            "the selection has shape {shape:?}, there are {count} values"
        )));
    }
    input(&target.full, values, form)
}

/// Returns the elements of `values` as memory of this shape.
pub(super) fn input(shape: &[u64], values: &Column, form: &Form<'_>) -> ArrayResult<Input> {
    let data_type = form.data_type();
    if is_struct(data_type) {
        return sized(structs::write(values, form)?.into_bytes(), shape, form);
    }
    let buffer = values.buffers().first().cloned().unwrap_or_default();
    macro_rules! number {
        ($element:ty, $column_type:ident) => {
            if *values.column_type() == ColumnType::$column_type && <$element>::fits(data_type)? {
                check_nulls(values, form)?;
                check_bytes(values.column_type(), &buffer, form)?;
                return Ok(Input::held(buffer, form.size(), shape)?);
            }
        };
    }
    for_each_number!(number);
    if *data_type == DataType::Bool && *values.column_type() == ColumnType::Boolean {
        check_nulls(values, form)?;
        return sized((0..values.len()).map(|row| u8::from(bit(&buffer, row))).collect(), shape, form);
    }
    if let Some((unit, stamps)) = time_of(data_type)? {
        let expected = if stamps { ColumnType::Timestamp(unit) } else { ColumnType::Duration(unit) };
        if *values.column_type() != expected {
            return Err(other(values, form));
        }
        return sized(steps(values, &buffer, form)?, shape, form);
    }
    sized(contents(values, form)?, shape, form)
}

fn sized(memory: Vec<u8>, shape: &[u64], form: &Form<'_>) -> ArrayResult<Input> {
    Ok(Input::sized(memory, form.size(), shape)?)
}

pub(super) fn check_nulls(values: &Column, form: &Form<'_>) -> ArrayResult<()> {
    match (0..values.len()).find(|row| !values.is_valid(*row)) {
        Some(at) => Err(form.wrong(at, format!("is null, but {} has no null", form.data_type()))),
        None => Ok(()),
    }
}

/// Checks the range of integers in data types of fewer than 8 bits. All other numbers are valid.
fn check_bytes(column_type: &ColumnType, numbers: &[u8], form: &Form<'_>) -> ArrayResult<()> {
    match column_type {
        ColumnType::Int8 if *form.data_type() != DataType::Int8 => {
            let mut signed = zarr_strided::zeroed::<i8>(numbers.len())?;
            zarr_strided::bytes_of_mut(&mut signed).copy_from_slice(numbers);
            i8::as_memory(&signed, form).map(drop)
        }
        ColumnType::UInt8 => u8::as_memory(numbers, form).map(drop),
        _ => Ok(()),
    }
}

/// Returns times as steps. Null becomes NaT; the number of NaT itself is an error.
fn steps(times: &Column, buffer: &[u8], form: &Form<'_>) -> ArrayResult<Vec<u8>> {
    let mut memory = buffer.to_vec();
    for (row, step) in memory.as_chunks_mut().0.iter_mut().enumerate() {
        if !times.is_valid(row) {
            *step = NOT_A_TIME.to_ne_bytes();
        } else if i64::from_ne_bytes(*step) == NOT_A_TIME {
            return Err(form.wrong(row, "is out of range, because that number means NaT"));
        }
    }
    Ok(memory)
}

/// Returns the memory of strings or byte strings. With variable length their buffer becomes the heap.
fn contents(values: &Column, form: &Form<'_>) -> ArrayResult<Vec<u8>> {
    let is_text = String::fits(form.data_type())?;
    let is_bytes = !is_text && Vec::<u8>::fits(form.data_type())?;
    check_nulls(values, form)?;
    let is_held = match values.column_type() {
        ColumnType::Utf8 | ColumnType::LargeUtf8 => is_text,
        ColumnType::Binary | ColumnType::LargeBinary | ColumnType::FixedSizeBinary(_) => is_bytes,
        _ => false,
    };
    let (Some(all), true) = (values.buffers().last(), is_held) else { return Err(other(values, form)) };
    let ranges = (0..values.len()).map(|row| values.range(row));
    if form.data_type().layout() != Layout::Variable {
        return text::fixed(ranges.map(|range| &all[range]), form);
    }
    let mut slots = Vec::with_capacity(values.len() * Slot::SIZE);
    form.heap()?.add(all.clone(), ranges, |slot| slots.extend_from_slice(&slot.to_bytes()))?;
    Ok(slots)
}

pub(super) fn other(values: &Column, form: &Form<'_>) -> ArrayError {
    ArrayError::invalid(format!("the data type is {}, not {}", form.data_type(), values.column_type()))
}
