//! Elements in the memory layout of Apache Arrow, without a crate of Arrow in a signature.

mod check;
mod make;

use std::fmt;
use std::ops::Range;

use zarr_traits::Bytes;

use crate::error::{ArrayError, ArrayResult};

pub(crate) use make::Gathered;

/// Elements of one type in the [memory layout of Apache Arrow], for libraries of Arrow.
///
/// The crate `zarr-arrow` turns columns into arrays and record batches of a version of Arrow, and back. Numbers and
/// contents of strings are not copied. [`Array::read_column`](crate::Array::read_column) and
/// [`write_column`](crate::Array::write_column) read and write columns.
///
/// A column has the buffers that the C Data Interface lists for its [type](ColumnType), without the first one, which is
/// [`validity`](Self::validity).
///
/// ```
/// use zarr_array::{Column, ColumnType};
///
/// let names = Column::texts(["Oslo", "Quito"]);
/// assert_eq!((names.column_type(), names.len()), (&ColumnType::LargeUtf8, 2));
/// assert_eq!(names.buffers()[1], "OsloQuito");
/// let degrees = Column::from(vec![3.5_f32, 14.0]).with_nulls(|row| row == 1);
/// assert_eq!(degrees.validity().map(|bits| bits[0]), Some(0b01));
/// ```
///
/// [memory layout of Apache Arrow]: https://arrow.apache.org/docs/format/Columnar.html
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    column_type: ColumnType,
    len: usize,
    nullable: bool,
    /// A bit per row from the lowest bit of the first byte: 1 for elements, 0 for nulls.
    validity: Option<Bytes>,
    buffers: Vec<Bytes>,
    children: Vec<Column>,
}

/// The type of the elements of a [`Column`]. The names are those of Arrow.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ColumnType {
    /// A bit per row.
    Boolean,
    /// Signed integers of 8 bits.
    Int8,
    /// Signed integers of 16 bits.
    Int16,
    /// Signed integers of 32 bits.
    Int32,
    /// Signed integers of 64 bits.
    Int64,
    /// Unsigned integers of 8 bits.
    UInt8,
    /// Unsigned integers of 16 bits.
    UInt16,
    /// Unsigned integers of 32 bits.
    UInt32,
    /// Unsigned integers of 64 bits.
    UInt64,
    /// Floats of 16 bits.
    Float16,
    /// Floats of 32 bits.
    Float32,
    /// Floats of 64 bits.
    Float64,
    /// Counts of this unit since 1970, in 64 bits, without a time zone.
    Timestamp(ColumnUnit),
    /// Counts of this unit, in 64 bits.
    Duration(ColumnUnit),
    /// Strings: offsets of 32 bits, and UTF-8.
    Utf8,
    /// Strings: offsets of 64 bits, and UTF-8.
    LargeUtf8,
    /// Byte strings: offsets of 32 bits, and bytes.
    Binary,
    /// Byte strings: offsets of 64 bits, and bytes.
    LargeBinary,
    /// Byte strings of this many bytes.
    FixedSizeBinary(usize),
    /// Lists of this many elements of the only child.
    FixedSizeList(usize),
    /// Structs: a child for each of these names.
    Struct(Vec<String>),
}

/// The unit of times and spans of time in a [`Column`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ColumnUnit {
    /// 1 s.
    Second,
    /// 10⁻³ s.
    Millisecond,
    /// 10⁻⁶ s.
    Microsecond,
    /// 10⁻⁹ s.
    Nanosecond,
}

impl Column {
    /// Returns a column from its buffers.
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::ArrayErrorKind::InvalidArgument) when the number of buffers or of children is not that
    /// of the type, a buffer or a child is too short for `len` rows, offsets descend or exceed their buffer, or strings
    /// are not UTF-8.
    pub fn new(
        column_type: ColumnType,
        len: usize,
        validity: Option<Bytes>,
        buffers: impl Into<Vec<Bytes>>,
        children: impl Into<Vec<Column>>,
    ) -> ArrayResult<Self> {
        let nullable = validity.is_some();
        let (buffers, children) = (buffers.into(), children.into());
        let mut column = Self { column_type, len, nullable, validity, buffers, children };
        match check::fit(&mut column) {
            Ok(()) => Ok(column),
            Err(what) => Err(ArrayError::invalid(format!("a column of {}: {what}", column.column_type))),
        }
    }

    /// The type of the elements.
    pub fn column_type(&self) -> &ColumnType {
        &self.column_type
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether a column of this kind can have nulls: it was made with [nulls](Self::with_nulls) or a validity, or it holds
    /// times, which may be NaT.
    pub fn is_nullable(&self) -> bool {
        self.nullable
    }

    /// Returns a bit per row, from the lowest bit of the first byte on: 0 for nulls. `None`: no row is null.
    pub fn validity(&self) -> Option<&Bytes> {
        self.validity.as_ref()
    }

    /// The buffers of the elements. Each has exactly the bytes of all rows, except for the contents of strings.
    pub fn buffers(&self) -> &[Bytes] {
        &self.buffers
    }

    /// The columns inside of lists and structs.
    pub fn children(&self) -> &[Column] {
        &self.children
    }

    /// Returns which rows are not null.
    pub(crate) fn is_valid(&self, row: usize) -> bool {
        self.validity.as_ref().is_none_or(|bits| bit(bits, row))
    }

    /// Returns the range of the contents of a row in the last buffer, for strings and byte strings. A row whose offsets are
    /// missing or negative is outside of each buffer.
    pub(crate) fn range(&self, row: usize) -> Range<usize> {
        self.end(row)..self.end(row.saturating_add(1))
    }

    /// Returns where the content of a row begins, which is the end of the row before.
    fn end(&self, row: usize) -> usize {
        let offsets = self.buffers.first().map_or(&[][..], AsRef::as_ref);
        let offset = match &self.column_type {
            ColumnType::FixedSizeBinary(size) => return row.saturating_mul(*size),
            ColumnType::Utf8 | ColumnType::Binary => {
                offsets.as_chunks().0.get(row).map(|end| i64::from(i32::from_ne_bytes(*end)))
            }
            _ => offsets.as_chunks().0.get(row).map(|end| i64::from_ne_bytes(*end)),
        };
        offset.and_then(|offset| usize::try_from(offset).ok()).unwrap_or(usize::MAX)
    }
}

pub(crate) fn bit(bits: &[u8], row: usize) -> bool {
    bits.get(row / 8).is_some_and(|byte| byte >> (row % 8) & 1 == 1)
}

impl fmt::Display for ColumnType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Struct(names) => write!(f, "Struct({})", names.join(", ")),
            other => write!(f, "{other:?}"),
        }
    }
}
