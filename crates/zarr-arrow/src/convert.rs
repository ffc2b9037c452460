//! Conversions for one version of Arrow. This file is compiled once for each version, as a child of the module that names
//! the crates of that version.
#![allow(clippy::duplicate_mod, reason = "one source for all versions")]

use std::sync::Arc;

use zarr_array::traits::Bytes;
use zarr_array::{ArrayError, Column, ColumnType, ColumnUnit};

use super::arrow_array::cast::AsArray;
use super::arrow_array::{Array, ArrayRef, RecordBatch, make_array};
use super::arrow_buffer::{Buffer, NullBuffer};
use super::arrow_data::ArrayData;
use super::arrow_schema::{ArrowError, DataType, Field, Fields, TimeUnit};
use crate::held::bytes;

/// Returns a column as an array of Arrow. Nothing is copied.
///
/// # Errors
/// When Arrow has no such type, such as byte strings of 2³¹ bytes each.
pub fn array(column: &Column) -> Result<ArrayRef, ArrowError> {
    data(column).map(make_array)
}

/// Returns a column of structs, such as the tables of `zarr-xarray`, as a record batch. Nothing is copied.
///
/// # Errors
/// [`InvalidArgumentError`](ArrowError::InvalidArgumentError) when the column has no structs or a null; and those of
/// [`array`](fn@array).
pub fn record_batch(table: &Column) -> Result<RecordBatch, ArrowError> {
    let rows = array(table)?;
    match rows.as_struct_opt() {
        Some(rows) if rows.null_count() == 0 => Ok(RecordBatch::from(rows)),
        _ => Err(ArrowError::InvalidArgumentError(format!(
            "a record batch needs a column of structs without nulls, not {}",
            table.column_type()
        ))),
    }
}

/// Returns an array of Arrow as a column, for `write_column`. Nothing is copied but the contents of views.
///
/// # Errors
/// [`NotYetImplemented`](ArrowError::NotYetImplemented) when no column has the type of the array.
pub fn column(array: &dyn Array) -> Result<Column, ArrowError> {
    use DataType as Type;

    let data = array.to_data();
    let part = |buffer: usize, width: usize, count: usize| -> Bytes {
        let all = &data.buffers()[buffer];
        // Without rows, offsets may be missing.
        let count = if all.is_empty() { 0 } else { count };
        bytes(all.slice_with_length(data.offset() * width, count * width))
    };
    let len = array.len();
    let numbers = |width| vec![part(0, width, len)];
    let strings = |width| vec![part(0, width, len + 1), bytes(data.buffers()[1].clone())];
    let (column_type, buffers, children) = match array.data_type() {
        Type::Boolean => (ColumnType::Boolean, vec![bytes(array.as_boolean().values().sliced())], vec![]),
        Type::Int8 => (ColumnType::Int8, numbers(1), vec![]),
        Type::Int16 => (ColumnType::Int16, numbers(2), vec![]),
        Type::Int32 => (ColumnType::Int32, numbers(4), vec![]),
        Type::Int64 => (ColumnType::Int64, numbers(8), vec![]),
        Type::UInt8 => (ColumnType::UInt8, numbers(1), vec![]),
        Type::UInt16 => (ColumnType::UInt16, numbers(2), vec![]),
        Type::UInt32 => (ColumnType::UInt32, numbers(4), vec![]),
        Type::UInt64 => (ColumnType::UInt64, numbers(8), vec![]),
        Type::Float16 => (ColumnType::Float16, numbers(2), vec![]),
        Type::Float32 => (ColumnType::Float32, numbers(4), vec![]),
        Type::Float64 => (ColumnType::Float64, numbers(8), vec![]),
        Type::Timestamp(unit, _) => (ColumnType::Timestamp(of_arrow(*unit)), numbers(8), vec![]),
        Type::Duration(unit) => (ColumnType::Duration(of_arrow(*unit)), numbers(8), vec![]),
        Type::Utf8 => (ColumnType::Utf8, strings(4), vec![]),
        Type::LargeUtf8 => (ColumnType::LargeUtf8, strings(8), vec![]),
        Type::Binary => (ColumnType::Binary, strings(4), vec![]),
        Type::LargeBinary => (ColumnType::LargeBinary, strings(8), vec![]),
        Type::Utf8View => {
            let texts = Column::texts(array.as_string_view().iter().map(Option::unwrap_or_default));
            return Ok(texts.with_nulls(|row| array.is_null(row)));
        }
        Type::BinaryView => {
            let contents = array.as_binary_view().iter().map(Option::unwrap_or_default);
            return Ok(Column::byte_strings(contents).with_nulls(|row| array.is_null(row)));
        }
        Type::FixedSizeBinary(size) => {
            let size = usize::try_from(*size).map_err(|_| unsupported(array.data_type()))?;
            (ColumnType::FixedSizeBinary(size), numbers(size), vec![])
        }
        Type::FixedSizeList(_, size) => {
            let size = usize::try_from(*size).map_err(|_| unsupported(array.data_type()))?;
            let items = column(array.as_fixed_size_list().values())?;
            (ColumnType::FixedSizeList(size), vec![], vec![items])
        }
        Type::Struct(fields) => {
            let names = fields.iter().map(|field| field.name().clone()).collect();
            let children = array.as_struct().columns().iter().map(|child| column(child));
            (ColumnType::Struct(names), vec![], children.collect::<Result<_, _>>()?)
        }
        other => return Err(unsupported(other)),
    };
    let nulls: Option<&NullBuffer> = array.nulls().filter(|nulls| nulls.null_count() > 0);
    let validity = nulls.map(|nulls| bytes(nulls.inner().sliced()));
    let refused = |error: ArrayError| ArrowError::ExternalError(Box::new(error));
    Column::new(column_type, len, validity, buffers, children).map_err(refused)
}

fn data(column: &Column) -> Result<ArrayData, ArrowError> {
    let buffer = |bytes: &Bytes| Buffer::from(bytes.clone());
    let children = column.children().iter().map(data).collect::<Result<_, _>>()?;
    ArrayData::builder(data_type(column)?)
        .len(column.len())
        .null_bit_buffer(column.validity().map(buffer))
        .buffers(column.buffers().iter().map(buffer).collect())
        .child_data(children)
        .align_buffers(true)
        .build()
}

fn data_type(column: &Column) -> Result<DataType, ArrowError> {
    let size = |size: usize| {
        let too_large = |_| ArrowError::InvalidArgumentError(format!("Arrow has no elements of size {size}"));
        i32::try_from(size).map_err(too_large)
    };
    Ok(match column.column_type() {
        ColumnType::Boolean => DataType::Boolean,
        ColumnType::Int8 => DataType::Int8,
        ColumnType::Int16 => DataType::Int16,
        ColumnType::Int32 => DataType::Int32,
        ColumnType::Int64 => DataType::Int64,
        ColumnType::UInt8 => DataType::UInt8,
        ColumnType::UInt16 => DataType::UInt16,
        ColumnType::UInt32 => DataType::UInt32,
        ColumnType::UInt64 => DataType::UInt64,
        ColumnType::Float16 => DataType::Float16,
        ColumnType::Float32 => DataType::Float32,
        ColumnType::Float64 => DataType::Float64,
        ColumnType::Timestamp(unit) => DataType::Timestamp(to_arrow(*unit, column)?, None),
        ColumnType::Duration(unit) => DataType::Duration(to_arrow(*unit, column)?),
        ColumnType::Utf8 => DataType::Utf8,
        ColumnType::LargeUtf8 => DataType::LargeUtf8,
        ColumnType::Binary => DataType::Binary,
        ColumnType::LargeBinary => DataType::LargeBinary,
        ColumnType::FixedSizeBinary(bytes) => DataType::FixedSizeBinary(size(*bytes)?),
        ColumnType::FixedSizeList(count) => {
            let [items] = column.children() else { return Err(other(column)) };
            let field = Field::new_list_field(data_type(items)?, items.is_nullable());
            DataType::FixedSizeList(Arc::new(field), size(*count)?)
        }
        ColumnType::Struct(names) => {
            let fields = names.iter().zip(column.children());
            let field = |(name, child): (&String, &Column)| {
                Ok::<_, ArrowError>(Field::new(name, data_type(child)?, child.is_nullable()))
            };
            DataType::Struct(fields.map(field).collect::<Result<Fields, _>>()?)
        }
        _ => return Err(other(column)),
    })
}

fn to_arrow(unit: ColumnUnit, column: &Column) -> Result<TimeUnit, ArrowError> {
    Ok(match unit {
        ColumnUnit::Second => TimeUnit::Second,
        ColumnUnit::Millisecond => TimeUnit::Millisecond,
        ColumnUnit::Microsecond => TimeUnit::Microsecond,
        ColumnUnit::Nanosecond => TimeUnit::Nanosecond,
        _ => return Err(other(column)),
    })
}

fn of_arrow(unit: TimeUnit) -> ColumnUnit {
    match unit {
        TimeUnit::Second => ColumnUnit::Second,
        TimeUnit::Millisecond => ColumnUnit::Millisecond,
        TimeUnit::Microsecond => ColumnUnit::Microsecond,
        TimeUnit::Nanosecond => ColumnUnit::Nanosecond,
    }
}

fn other(column: &Column) -> ArrowError {
    ArrowError::NotYetImplemented(format!("a column of {} as an array", column.column_type()))
}

fn unsupported(data_type: &DataType) -> ArrowError {
    ArrowError::NotYetImplemented(format!("an array of {data_type} as a column"))
}
