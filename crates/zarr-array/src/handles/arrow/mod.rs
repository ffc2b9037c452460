//! Reads into and writes from arrays of Arrow.

mod read;
mod write;

use arrow_array::ArrayRef;
use arrow_schema::TimeUnit;
use zarr_traits::{DataType, block_on};

use crate::element::step::{DATETIME, SECOND, Step, TIMEDELTA, Unit};
use crate::error::{ArrayError, ArrayErrorKind, ArrayResult};
use crate::handles::{array, blocking};
use crate::select::Selection;

impl array::Array {
    /// Reads a selection as an array of Arrow. Returns the shape and the elements in C order.
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
    /// use arrow_array::{LargeStringArray, StringArray, cast::AsArray};
    ///
    /// array.write_arrow(2..4, &StringArray::from(vec!["Oslo", "Quito"]))?;
    /// let (shape, names) = array.read_arrow(1..4)?;
    /// assert_eq!(shape, [3]);
    /// assert_eq!(names.as_string::<i64>(), &LargeStringArray::from(vec!["", "Oslo", "Quito"]));
    /// # Ok::<(), zarr_array::ArrayError>(())
    /// ```
    ///
    /// # Errors
    /// As [`read`](Self::read); [`Unsupported`](ArrayErrorKind::Unsupported) for data types that are not in the table.
    pub async fn read_arrow(&self, selection: impl Into<Selection>) -> ArrayResult<(Vec<u64>, ArrayRef)> {
        read::read(&self.core, selection.into()).await
    }

    /// Writes an array of Arrow to a selection of as many elements, in C order. The types are those of
    /// [`read_arrow`](Self::read_arrow); strings and bytes may have any string or binary type of Arrow.
    ///
    /// # Errors
    /// As [`write`](Self::write), and for nulls in data types other than times.
    pub async fn write_arrow(
        &self,
        selection: impl Into<Selection>,
        values: &dyn arrow_array::Array,
    ) -> ArrayResult<()> {
        write::write(&self.core, selection.into(), values).await
    }
}

impl blocking::Array {
    /// Reads a selection as an array of Arrow. Returns the shape and the elements in C order. The types are in the
    /// table of [`zarr_array::Array::read_arrow`](crate::Array::read_arrow).
    ///
    /// # Errors
    /// As [`zarr_array::Array::read_arrow`](crate::Array::read_arrow).
    pub fn read_arrow(&self, selection: impl Into<Selection>) -> ArrayResult<(Vec<u64>, ArrayRef)> {
        block_on(self.inner().read_arrow(selection))
    }

    /// Writes an array of Arrow to a selection of as many elements, in C order.
    ///
    /// # Errors
    /// As [`zarr_array::Array::write_arrow`](crate::Array::write_arrow).
    pub fn write_arrow(
        &self,
        selection: impl Into<Selection>,
        values: &dyn arrow_array::Array,
    ) -> ArrayResult<()> {
        block_on(self.inner().write_arrow(selection, values))
    }
}

/// Calls `$number!(element, type in Arrow)` for each numeric type.
macro_rules! for_each_number {
    ($number:ident) => {
        $number!(i8, arrow_array::types::Int8Type);
        $number!(i16, arrow_array::types::Int16Type);
        $number!(i32, arrow_array::types::Int32Type);
        $number!(i64, arrow_array::types::Int64Type);
        $number!(u8, arrow_array::types::UInt8Type);
        $number!(u16, arrow_array::types::UInt16Type);
        $number!(u32, arrow_array::types::UInt32Type);
        $number!(u64, arrow_array::types::UInt64Type);
        $number!(half::f16, arrow_array::types::Float16Type);
        $number!(f32, arrow_array::types::Float32Type);
        $number!(f64, arrow_array::types::Float64Type);
    };
}
use for_each_number;

/// Calls `$time!(unit, type of timestamps, type of durations)` for each time unit.
macro_rules! for_each_time {
    ($time:ident) => {
        $time!(Second, arrow_array::types::TimestampSecondType, arrow_array::types::DurationSecondType);
        $time!(
            Millisecond,
            arrow_array::types::TimestampMillisecondType,
            arrow_array::types::DurationMillisecondType
        );
        $time!(
            Microsecond,
            arrow_array::types::TimestampMicrosecondType,
            arrow_array::types::DurationMicrosecondType
        );
        $time!(
            Nanosecond,
            arrow_array::types::TimestampNanosecondType,
            arrow_array::types::DurationNanosecondType
        );
    };
}
use for_each_time;

/// Returns the unit of a data type of times, and whether they are timestamps.
fn time_of(data_type: &DataType) -> ArrayResult<Option<(TimeUnit, bool)>> {
    let stamps = Step::of(data_type, DATETIME)?.map(|step| (step, true));
    let Some((step, stamps)) = stamps.or(Step::of(data_type, TIMEDELTA)?.map(|step| (step, false))) else {
        return Ok(None);
    };
    let count = (step.unit == Unit::Attosecond).then(|| SECOND / step.length);
    let unit = match count.filter(|count| count * step.length == SECOND) {
        Some(1) => TimeUnit::Second,
        Some(1000) => TimeUnit::Millisecond,
        Some(1_000_000) => TimeUnit::Microsecond,
        Some(1_000_000_000) => TimeUnit::Nanosecond,
        _ => return Err(unsupported(&format!("{data_type} in steps of {}", step.shown))),
    };
    Ok(Some((unit, stamps)))
}

fn unsupported(what: &str) -> ArrayError {
    ArrayError::new(ArrayErrorKind::Unsupported, format!("Arrow has no type for {what}"))
}
