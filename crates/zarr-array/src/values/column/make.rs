//! Columns from values of Rust.

use zarr_strided::{Plain, bytes_of};
use zarr_traits::Bytes;

use super::{Column, ColumnType, ColumnUnit};
use crate::error::{ArrayError, ArrayErrorKind, ArrayResult};
use crate::values::NOT_A_TIME;

impl Column {
    /// Returns a column of times: counts of `unit` since 1970. `i64::MIN` is null.
    pub fn timestamps(unit: ColumnUnit, counts: Vec<i64>) -> Self {
        times(ColumnType::Timestamp(unit), counts)
    }

    /// Returns a column of spans of time: counts of `unit`. `i64::MIN` is null.
    pub fn durations(unit: ColumnUnit, counts: Vec<i64>) -> Self {
        times(ColumnType::Duration(unit), counts)
    }

    /// Returns a column of strings.
    pub fn texts<S: AsRef<str>>(texts: impl IntoIterator<Item = S>) -> Self {
        let mut gathered = Gathered::default();
        texts.into_iter().for_each(|text| gathered.push(text.as_ref().as_bytes()));
        gathered.finish(ColumnType::LargeUtf8)
    }

    /// Returns a column of byte strings.
    pub fn byte_strings<B: AsRef<[u8]>>(contents: impl IntoIterator<Item = B>) -> Self {
        let mut gathered = Gathered::default();
        contents.into_iter().for_each(|content| gathered.push(content.as_ref()));
        gathered.finish(ColumnType::LargeBinary)
    }

    /// Returns a column of structs, or a table: a row has an element of each column.
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::ArrayErrorKind::InvalidArgument) when there is no column, or the columns have different
    /// lengths.
    pub fn structs<N: Into<String>>(columns: impl IntoIterator<Item = (N, Column)>) -> ArrayResult<Self> {
        let (names, columns): (Vec<String>, Vec<Column>) =
            columns.into_iter().map(|(name, column)| (name.into(), column)).unzip();
        let Some(first) = columns.first() else { return Err(ArrayError::invalid("a struct needs a field")) };
        let len = first.len;
        if let Some((name, other)) = names.iter().zip(&columns).find(|(_, column)| column.len != len) {
            let message = format!("field {name:?} has {} rows, the first field has {len}", other.len);
            return Err(ArrayError::invalid(message));
        }
        Self::new(ColumnType::Struct(names), len, None, [], columns)
    }

    /// Returns the column with nulls in the rows for which `is_null` is true. Nulls that were there before are replaced. The
    /// column is [nullable](Self::is_nullable) even if no row is null, so that parts of a variable have the same schema.
    #[must_use]
    pub fn with_nulls(mut self, is_null: impl Fn(usize) -> bool) -> Self {
        let has_nulls = (0..self.len).any(&is_null);
        self.validity = has_nulls.then(|| bits((0..self.len).map(|row| !is_null(row))));
        self.nullable = true;
        self
    }

    /// Returns a column whose buffers fit its type and its rows.
    pub(crate) fn made(column_type: ColumnType, len: usize, buffers: Vec<Bytes>) -> Self {
        Self { column_type, len, nullable: false, validity: None, buffers, children: Vec::new() }
    }
}

macro_rules! numbers {
    ($($number:ty => $column_type:ident,)*) => {$(
        /// A column of numbers, without a copy.
        impl From<Vec<$number>> for Column {
            fn from(numbers: Vec<$number>) -> Self {
                let len = numbers.len();
                Self::made(ColumnType::$column_type, len, vec![Bytes::from_owner(Numbers(numbers))])
            }
        }
    )*};
}

numbers! {
    i8 => Int8,
    i16 => Int16,
    i32 => Int32,
    i64 => Int64,
    u8 => UInt8,
    u16 => UInt16,
    u32 => UInt32,
    u64 => UInt64,
    half::f16 => Float16,
    f32 => Float32,
    f64 => Float64,
}

impl From<Vec<bool>> for Column {
    fn from(values: Vec<bool>) -> Self {
        let len = values.len();
        Self::made(ColumnType::Boolean, len, vec![bits(values.into_iter())])
    }
}

/// Numbers whose memory is the bytes of a buffer.
struct Numbers<T>(Vec<T>);

impl<T: Plain> AsRef<[u8]> for Numbers<T> {
    fn as_ref(&self) -> &[u8] {
        bytes_of(&self.0)
    }
}

fn times(column_type: ColumnType, counts: Vec<i64>) -> Column {
    let nulls: Option<Bytes> =
        counts.contains(&NOT_A_TIME).then(|| bits(counts.iter().map(|count| *count != NOT_A_TIME)));
    let mut column = Column { column_type, validity: nulls, ..Column::from(counts) };
    column.nullable = true;
    column
}

/// Packs booleans into bits, from the lowest bit of the first byte on.
fn bits(values: impl ExactSizeIterator<Item = bool>) -> Bytes {
    let mut bits = vec![0_u8; values.len().div_ceil(8)];
    for (row, value) in values.enumerate() {
        bits[row / 8] |= u8::from(value) << (row % 8);
    }
    bits.into()
}

/// Contents of variable length, one after the other, and their ends.
pub(crate) struct Gathered {
    offsets: Vec<i64>,
    values: Vec<u8>,
}

impl Default for Gathered {
    fn default() -> Self {
        Self { offsets: vec![0], values: Vec::new() }
    }
}

impl Gathered {
    /// Reserves room for `count` elements whose contents have `bytes` bytes together.
    ///
    /// # Errors
    /// [`LimitExceeded`](crate::ArrayErrorKind::LimitExceeded) without memory.
    pub(crate) fn with_room(count: usize, bytes: usize) -> ArrayResult<Self> {
        let mut gathered = Self::default();
        let no_memory = |_| {
            let message = format!("no memory for elements of {bytes} bytes");
            ArrayError::new(ArrayErrorKind::LimitExceeded, message)
        };
        gathered.offsets.try_reserve_exact(count).map_err(no_memory)?;
        gathered.values.try_reserve_exact(bytes).map_err(no_memory)?;
        Ok(gathered)
    }

    /// Appends part of an element.
    pub(crate) fn extend(&mut self, part: &[u8]) {
        self.values.extend_from_slice(part);
    }

    /// Ends an element.
    pub(crate) fn end(&mut self) {
        // A vector has at most `isize::MAX` bytes.
        self.offsets.push(i64::try_from(self.values.len()).unwrap_or(i64::MAX));
    }

    /// Appends an element.
    pub(crate) fn push(&mut self, content: &[u8]) {
        self.extend(content);
        self.end();
    }

    pub(crate) fn finish(self, column_type: ColumnType) -> Column {
        let len = self.offsets.len() - 1;
        let offsets = Bytes::from_owner(Numbers(self.offsets));
        Column::made(column_type, len, vec![offsets, self.values.into()])
    }
}
