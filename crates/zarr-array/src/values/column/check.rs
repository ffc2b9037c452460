//! Whether buffers fit the type and the rows of a column.

use zarr_traits::Bytes;

use super::{Column, ColumnType};

/// Cuts the buffers to what the rows need. Returns what is wrong.
pub(super) fn fit(column: &mut Column) -> Result<(), String> {
    let Column { column_type, len, validity, buffers, children, .. } = column;
    let len = *len;
    if let Some(bits) = validity {
        cut(bits, Some(len.div_ceil(8)), "validity")?;
    }
    let (expected, size) = match column_type {
        ColumnType::Boolean => (1, None),
        ColumnType::Int8 | ColumnType::UInt8 => (1, Some(1)),
        ColumnType::Int16 | ColumnType::UInt16 | ColumnType::Float16 => (1, Some(2)),
        ColumnType::Int32 | ColumnType::UInt32 | ColumnType::Float32 => (1, Some(4)),
        ColumnType::Int64 | ColumnType::UInt64 | ColumnType::Float64 => (1, Some(8)),
        ColumnType::Timestamp(_) | ColumnType::Duration(_) => (1, Some(8)),
        ColumnType::FixedSizeBinary(size) => (1, Some(*size)),
        ColumnType::Utf8 | ColumnType::Binary => (2, Some(4)),
        ColumnType::LargeUtf8 | ColumnType::LargeBinary => (2, Some(8)),
        ColumnType::FixedSizeList(_) | ColumnType::Struct(_) => (0, None),
    };
    if buffers.len() != expected {
        return Err(format!("{} buffers, expected {expected}", buffers.len()));
    }
    match (&mut buffers[..], size) {
        ([bits], None) => cut(bits, Some(len.div_ceil(8)), "values")?,
        ([values], Some(size)) => cut(values, len.checked_mul(size), "values")?,
        ([offsets, _], Some(width)) => {
            // Arrow allows no offsets without rows.
            if len == 0 && offsets.is_empty() {
                *offsets = vec![0; width].into();
            }
            cut(offsets, len.checked_add(1).and_then(|count| count.checked_mul(width)), "offsets")?;
        }
        _ => {}
    }
    let rows: Vec<usize> = match column_type {
        ColumnType::FixedSizeList(size) => vec![len.checked_mul(*size).ok_or("too many elements")?],
        ColumnType::Struct(names) => vec![len; names.len()],
        _ => Vec::new(),
    };
    if rows.len() != children.len() || rows.iter().zip(&*children).any(|(rows, child)| *rows != child.len) {
        let found: Vec<usize> = children.iter().map(|child| child.len).collect();
        return Err(format!("children of {found:?} rows, expected {rows:?}"));
    }
    contents(column)
}

/// Cuts a buffer to this many bytes.
fn cut(buffer: &mut Bytes, bytes: Option<usize>, name: &str) -> Result<(), String> {
    match bytes.filter(|bytes| *bytes <= buffer.len()) {
        Some(bytes) => buffer.truncate(bytes),
        None => return Err(format!("the buffer of {name} has {} bytes, too few for its rows", buffer.len())),
    }
    Ok(())
}

/// Checks that the contents of strings are in their buffer, and that texts are UTF-8.
fn contents(column: &Column) -> Result<(), String> {
    let [_, values] = &column.buffers[..] else { return Ok(()) };
    let is_text = matches!(column.column_type, ColumnType::Utf8 | ColumnType::LargeUtf8);
    let mut end = 0;
    for row in 0..column.len {
        let range = column.range(row);
        if range.start < end {
            return Err(format!("row {row} begins before the end of the row before"));
        }
        end = range.end;
        let content =
            values.get(range).ok_or_else(|| format!("row {row} is not in the {} bytes", values.len()))?;
        if is_text && str::from_utf8(content).is_err() {
            return Err(format!("row {row} is not UTF-8"));
        }
    }
    Ok(())
}
