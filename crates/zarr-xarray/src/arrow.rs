//! Reads decoded elements as arrays and tables of Arrow.

mod gather;

use std::sync::Arc;

use arrow_array::types::{
    DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType, DurationSecondType,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
};
use arrow_array::{
    Array as _, ArrayRef, ArrowPrimitiveType, BooleanArray, LargeBinaryArray, LargeStringArray,
    PrimitiveArray, RecordBatch,
};
use arrow_buffer::NullBuffer;
use arrow_schema::{ArrowError, Field, Schema};
use futures_util::future::try_join_all;
use zarr_array::{AnyArray, DataType};

use crate::calendar::Calendar;
use crate::dataset::Dataset;
use crate::decoded::Decoded;
use crate::error::{XarrayError, XarrayErrorKind, XarrayResult};
use crate::times::NOT_A_TIME;
use crate::units::TimeUnit;
use crate::variable::Variable;

impl Variable {
    /// Reads decoded elements as an array of Arrow, in C order. Missing elements are null.
    ///
    /// | decoded elements | Arrow |
    /// |---|---|
    /// | numbers but complex ones | the type of that name; NaN is null |
    /// | booleans, texts, byte strings | Boolean, LargeUtf8, LargeBinary |
    /// | times of `standard` and `proleptic_gregorian` | Timestamp without a time zone |
    /// | spans of time | Duration |
    ///
    /// ```
    /// # use arrow_array::cast::AsArray;
    /// # use zarr_xarray::{Dataset, XarrayResult};
    /// # async fn example(dataset: Dataset) -> XarrayResult<()> {
    /// let t2m = dataset.variable("t2m")?.read_arrow().await?;
    /// let sum: f64 = t2m.as_primitive::<arrow_array::types::Float64Type>().iter().flatten().sum();
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`read_any`](Self::read_any); [`Unsupported`](XarrayErrorKind::Unsupported) for elements that are not in the
    /// table; [`OutOfRange`](XarrayErrorKind::OutOfRange) for a date that the calendar of Arrow does not have.
    pub async fn read_arrow(&self) -> XarrayResult<ArrayRef> {
        let decoded = self.read_any().await?;
        array(decoded).map_err(|error| error.with_variable(self.name()))
    }
}

impl Dataset {
    /// Reads variables with the same dimensions as a table: a row for each position, in C order, a column for each
    /// variable, and before them a column for each index of their dimensions. The types are those of
    /// [`Variable::read_arrow`].
    ///
    /// ```
    /// # use zarr_xarray::{Dataset, Labels, XarrayResult};
    /// # async fn example(dataset: Dataset) -> XarrayResult<()> {
    /// let january = dataset.sel([("time", Labels::from("2020-01"))]).await?;
    /// let table = january.read_arrow(["t2m", "wind"]).await?; // time, lat, lon, t2m, wind
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Variable::read_arrow`]; [`Invalid`](XarrayErrorKind::Invalid) for variables with different dimensions, and
    /// without variables.
    #[doc(alias = "record_batch")]
    pub async fn read_arrow<N: AsRef<str>>(
        &self,
        variables: impl IntoIterator<Item = N>,
    ) -> XarrayResult<RecordBatch> {
        let names = variables.into_iter().map(|name| self.variable(name.as_ref()));
        let variables: Vec<Variable> = names.collect::<XarrayResult<_>>()?;
        let Some(first) = variables.first() else {
            return Err(XarrayError::invalid("a table needs a variable"));
        };
        let (dimensions, shape) = (first.dimensions(), first.shape());
        if let Some(other) = variables.iter().find(|other| other.dimensions() != dimensions) {
            let message = format!("it has dimensions {:?}, expected {dimensions:?}", other.dimensions());
            return Err(XarrayError::invalid(message).with_variable(other.name()));
        }
        let is_index = |name: &&String| self.indexes().any(|index| index == name.as_str());
        let is_column = |name: &&String| variables.iter().all(|variable| variable.name() != name.as_str());
        let indexes = dimensions.iter().filter(is_index).filter(is_column);
        let indexes: Vec<Variable> = indexes.map(|name| self.variable(name)).collect::<XarrayResult<_>>()?;
        let columns = indexes.iter().chain(&variables).map(|variable| column(variable, dimensions, shape));
        let columns = try_join_all(columns).await?;
        let fields: Vec<Field> = columns
            .iter()
            .map(|(name, array)| Field::new(name, array.data_type().clone(), array.is_nullable()))
            .collect();
        let arrays = columns.into_iter().map(|(_, array)| array).collect();
        RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).map_err(of_arrow)
    }
}

/// Reads the column of a variable whose dimensions are among `dimensions`.
async fn column(
    variable: &Variable,
    dimensions: &[String],
    shape: &[u64],
) -> XarrayResult<(String, ArrayRef)> {
    let name = variable.name().to_owned();
    if variable.dimensions() == dimensions {
        return Ok((name, variable.read_arrow().await?));
    }
    let axis = dimensions.iter().position(|own| variable.dimensions() == [own.as_str()]).unwrap_or(0);
    let column = async { array(gather::along(variable.read_any().await?, shape, axis)?) };
    let array = column.await.map_err(|error: XarrayError| error.with_variable(&name))?;
    Ok((name, array))
}

fn of_arrow(error: ArrowError) -> XarrayError {
    XarrayError::invalid(error.to_string())
}

/// Returns decoded elements as an array of Arrow.
fn array(decoded: Decoded) -> XarrayResult<ArrayRef> {
    Ok(match decoded {
        Decoded::Numbers(numbers) => of_numbers(numbers)?,
        Decoded::Booleans(values) => Arc::new(BooleanArray::from(values.into_vec())),
        Decoded::Texts(values) => Arc::new(LargeStringArray::from_iter(values.into_vec())),
        Decoded::Bytes(values) => Arc::new(LargeBinaryArray::from_iter(values.into_vec())),
        Decoded::Times { times, .. } if times.calendar().is_civil() => {
            let times = times.in_calendar(Calendar::ProlepticGregorian)?;
            let values = times.values().to_vec();
            match times.unit() {
                TimeUnit::Seconds => of_counts::<TimestampSecondType>(values),
                TimeUnit::Milliseconds => of_counts::<TimestampMillisecondType>(values),
                TimeUnit::Microseconds => of_counts::<TimestampMicrosecondType>(values),
                TimeUnit::Nanoseconds => of_counts::<TimestampNanosecondType>(values),
            }
        }
        Decoded::Times { times, .. } => {
            return Err(unsupported(&format!("times of the calendar {}", times.calendar().name())));
        }
        Decoded::Spans { spans, .. } => {
            let values = spans.values().to_vec();
            match spans.unit() {
                TimeUnit::Seconds => of_counts::<DurationSecondType>(values),
                TimeUnit::Milliseconds => of_counts::<DurationMillisecondType>(values),
                TimeUnit::Microseconds => of_counts::<DurationMicrosecondType>(values),
                TimeUnit::Nanoseconds => of_counts::<DurationNanosecondType>(values),
            }
        }
        Decoded::Other(_) => return Err(unsupported("elements of other types")),
    })
}

fn unsupported(what: &str) -> XarrayError {
    XarrayError::new(XarrayErrorKind::Unsupported, format!("{what} have no type in Arrow"))
}

fn of_counts<T: ArrowPrimitiveType<Native = i64>>(counts: Vec<i64>) -> ArrayRef {
    let nulls = nulls(&counts, |count| *count == NOT_A_TIME);
    Arc::new(PrimitiveArray::<T>::new(counts.into(), nulls))
}

/// Returns which elements are not missing, or `None` if none is missing.
fn nulls<T>(values: &[T], is_missing: impl Fn(&T) -> bool) -> Option<NullBuffer> {
    let has_missing = values.iter().any(&is_missing);
    has_missing.then(|| values.iter().map(|value| !is_missing(value)).collect())
}

fn of_numbers(numbers: AnyArray) -> XarrayResult<ArrayRef> {
    use arrow_array::types::{
        Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
        UInt16Type, UInt32Type, UInt64Type,
    };
    macro_rules! integers {
        ($values:expr, $arrow:ty) => {
            Arc::new(PrimitiveArray::<$arrow>::new($values.into_vec().into(), None))
        };
    }
    macro_rules! floats {
        ($values:expr, $arrow:ty) => {{
            let values = $values;
            let nulls = nulls(&values, |value| value.is_nan());
            Arc::new(PrimitiveArray::<$arrow>::new(values.into(), nulls))
        }};
    }
    Ok(match numbers {
        AnyArray::Int8(values) => integers!(values, Int8Type),
        AnyArray::Int16(values) => integers!(values, Int16Type),
        AnyArray::Int32(values) => integers!(values, Int32Type),
        AnyArray::Int64(values) => integers!(values, Int64Type),
        AnyArray::UInt8(values) => integers!(values, UInt8Type),
        AnyArray::UInt16(values) => integers!(values, UInt16Type),
        AnyArray::UInt32(values) => integers!(values, UInt32Type),
        AnyArray::UInt64(values) => integers!(values, UInt64Type),
        AnyArray::Float32(values) => floats!(values.into_vec(), Float32Type),
        AnyArray::Float64(values) => floats!(values.into_vec(), Float64Type),
        AnyArray::Other { data_type: DataType::Float16, bytes, .. } => {
            let halves = bytes.as_chunks().0.iter().map(|bytes| half::f16::from_ne_bytes(*bytes));
            floats!(halves.collect::<Vec<_>>(), Float16Type)
        }
        _ => return Err(unsupported("complex numbers")),
    })
}
