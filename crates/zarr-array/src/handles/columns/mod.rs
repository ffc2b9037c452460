//! Reads into and writes from columns, which have the memory layout of Arrow.

mod read;
mod write;

use zarr_traits::{DataType, block_on};

use crate::element::step::{DATETIME, SECOND, Step, TIMEDELTA, Unit};
use crate::error::{ArrayError, ArrayErrorKind, ArrayResult};
use crate::handles::{array, blocking};
use crate::select::Selection;
use crate::values::{Column, ColumnUnit};

impl array::Array {
    /// Reads a selection in the memory layout of Arrow. Returns the shape and the elements in C order. `zarr-arrow` turns
    /// them into an array of a version of Arrow.
    ///
    /// | data type | Arrow |
    /// |---|---|
    /// | `bool`, `int8` … `uint64`, `float16`, `float32`, `float64` | the type of that name; numbers without a copy |
    /// | `int2`, `int4`; `uint2`, `uint4`, and the bits of floats of up to 8 bits | Int8; UInt8 |
    /// | `string`, `fixed_length_utf32` | LargeUtf8 |
    /// | `null_terminated_bytes`, `bytes` and any other type of variable length | LargeBinary |
    /// | `r<N>`, `raw_bytes` | FixedSizeBinary |
    /// | `numpy.datetime64` in steps of 1 s, ms, us or ns | Timestamp without a time zone; NaT is null |
    /// | `numpy.timedelta64` in steps of 1 s, ms, us or ns | Duration; NaT is null |
    /// | `struct`, `structured` | Struct, without fields that are padding; sub-arrays are FixedSizeList |
    ///
    /// The contents of strings are copied once, into one buffer, without an allocation per element.
    ///
    /// ```
    /// # use zarr_array::{ArrayMeta, DataType, blocking::Array, standard};
    /// # let meta = ArrayMeta::builder([1000], DataType::String).chunks([100]).build()?;
    /// # let array = Array::create(zarr_store::MemoryStore::new(), "/names", meta, &standard())?;
    /// use zarr_array::Column;
    ///
    /// array.write_column(2..4, &Column::texts(["Oslo", "Quito"]))?;
    /// let (shape, names) = array.read_column(1..4)?;
    /// assert_eq!(shape, [3]);
    /// assert_eq!(names, Column::texts(["", "Oslo", "Quito"]));
    /// # Ok::<(), zarr_array::ArrayError>(())
    /// ```
    ///
    /// # Errors
    /// As [`read`](Self::read); [`Unsupported`](ArrayErrorKind::Unsupported) for data types that are not in the table.
    #[doc(alias = "arrow")]
    pub async fn read_column(&self, selection: impl Into<Selection>) -> ArrayResult<(Vec<u64>, Column)> {
        read::read(&self.core, selection.into()).await
    }

    /// Writes a column to a selection of as many elements, in C order. The types are those of
    /// [`read_column`](Self::read_column); strings and bytes may have any string or binary type.
    ///
    /// # Errors
    /// As [`write`](Self::write), and for nulls in data types other than times.
    #[doc(alias = "arrow")]
    pub async fn write_column(&self, selection: impl Into<Selection>, values: &Column) -> ArrayResult<()> {
        write::write(&self.core, selection.into(), values).await
    }
}

impl blocking::Array {
    /// Reads a selection in the memory layout of Arrow. Returns the shape and the elements in C order. The types are in
    /// the table of [`zarr_array::Array::read_column`](crate::Array::read_column).
    ///
    /// # Errors
    /// As [`zarr_array::Array::read_column`](crate::Array::read_column).
    #[doc(alias = "arrow")]
    pub fn read_column(&self, selection: impl Into<Selection>) -> ArrayResult<(Vec<u64>, Column)> {
        block_on(self.inner().read_column(selection))
    }

    /// Writes a column to a selection of as many elements, in C order.
    ///
    /// # Errors
    /// As [`zarr_array::Array::write_column`](crate::Array::write_column).
    #[doc(alias = "arrow")]
    pub fn write_column(&self, selection: impl Into<Selection>, values: &Column) -> ArrayResult<()> {
        block_on(self.inner().write_column(selection, values))
    }
}

/// Calls `$number!(element, type of the column)` for each numeric type.
macro_rules! for_each_number {
    ($number:ident) => {
        $number!(i8, Int8);
        $number!(i16, Int16);
        $number!(i32, Int32);
        $number!(i64, Int64);
        $number!(u8, UInt8);
        $number!(u16, UInt16);
        $number!(u32, UInt32);
        $number!(u64, UInt64);
        $number!(half::f16, Float16);
        $number!(f32, Float32);
        $number!(f64, Float64);
    };
}
use for_each_number;

/// Returns the unit of a data type of times, and whether they are timestamps.
fn time_of(data_type: &DataType) -> ArrayResult<Option<(ColumnUnit, bool)>> {
    let stamps = Step::of(data_type, DATETIME)?.map(|step| (step, true));
    let Some((step, stamps)) = stamps.or(Step::of(data_type, TIMEDELTA)?.map(|step| (step, false))) else {
        return Ok(None);
    };
    let count = (step.unit == Unit::Attosecond).then(|| SECOND / step.length);
    let unit = match count.filter(|count| count * step.length == SECOND) {
        Some(1) => ColumnUnit::Second,
        Some(1000) => ColumnUnit::Millisecond,
        Some(1_000_000) => ColumnUnit::Microsecond,
        Some(1_000_000_000) => ColumnUnit::Nanosecond,
        _ => return Err(unsupported(&format!("{data_type} in steps of {}", step.shown))),
    };
    Ok(Some((unit, stamps)))
}

fn unsupported(what: &str) -> ArrayError {
    ArrayError::new(ArrayErrorKind::Unsupported, format!("Arrow has no type for {what}"))
}
