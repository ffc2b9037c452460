//! Reads decoded elements as columns and tables in the memory layout of Arrow.

mod gather;

use futures_util::future::try_join_all;
use zarr_array::{AnyArray, Column, ColumnUnit, DataType};

use crate::calendar::Calendar;
use crate::dataset::Dataset;
use crate::decoded::Decoded;
use crate::error::{XarrayError, XarrayErrorKind, XarrayResult};
use crate::units::TimeUnit;
use crate::variable::Variable;

impl Variable {
    /// Reads decoded elements in the memory layout of Arrow, in C order. Missing elements are null. `zarr-arrow` turns them
    /// into an array of a version of Arrow.
    ///
    /// | decoded elements | Arrow |
    /// |---|---|
    /// | numbers but complex ones | the type of that name; NaN is null |
    /// | booleans, texts, byte strings | Boolean, LargeUtf8, LargeBinary |
    /// | times of `standard` and `proleptic_gregorian` | Timestamp without a time zone |
    /// | spans of time | Duration |
    ///
    /// ```
    /// # use zarr_xarray::{Dataset, XarrayResult};
    /// # async fn example(dataset: Dataset) -> XarrayResult<()> {
    /// let t2m = dataset.variable("t2m")?.read_column().await?;
    /// assert_eq!(t2m.column_type(), &zarr_array::ColumnType::Float64);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`read_any`](Self::read_any); [`Unsupported`](XarrayErrorKind::Unsupported) for elements that are not in the
    /// table; [`OutOfRange`](XarrayErrorKind::OutOfRange) for a date that the calendar of Arrow does not have.
    #[doc(alias = "arrow")]
    pub async fn read_column(&self) -> XarrayResult<Column> {
        let decoded = self.read_any().await?;
        column(decoded).map_err(|error| error.with_variable(self.name()))
    }
}

impl Dataset {
    /// Reads variables with the same dimensions as a table: a row for each position, in C order, a column for each
    /// variable, and before them a column for each index of their dimensions. The types are those of
    /// [`Variable::read_column`]. The table is a column of structs, which `zarr-arrow` turns into a record batch.
    ///
    /// ```
    /// # use zarr_xarray::{Dataset, Labels, XarrayResult};
    /// # async fn example(dataset: Dataset) -> XarrayResult<()> {
    /// let january = dataset.sel([("time", Labels::from("2020-01"))]).await?;
    /// let table = january.read_table(["t2m", "wind"]).await?; // time, lat, lon, t2m, wind
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Variable::read_column`]; [`Invalid`](XarrayErrorKind::Invalid) for variables with different dimensions, and
    /// without variables.
    #[doc(alias = "arrow")]
    #[doc(alias = "record_batch")]
    pub async fn read_table<N: AsRef<str>>(
        &self,
        variables: impl IntoIterator<Item = N>,
    ) -> XarrayResult<Column> {
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
        let columns = indexes.iter().chain(&variables).map(|variable| named(variable, dimensions, shape));
        Ok(Column::structs(try_join_all(columns).await?)?)
    }
}

/// Reads the column of a variable whose dimensions are among `dimensions`.
async fn named(variable: &Variable, dimensions: &[String], shape: &[u64]) -> XarrayResult<(String, Column)> {
    let name = variable.name().to_owned();
    if variable.dimensions() == dimensions {
        return Ok((name, variable.read_column().await?));
    }
    let axis = dimensions.iter().position(|own| variable.dimensions() == [own.as_str()]).unwrap_or(0);
    let read = async { column(gather::along(variable.read_any().await?, shape, axis)?) };
    let column = read.await.map_err(|error: XarrayError| error.with_variable(&name))?;
    Ok((name, column))
}

/// Returns decoded elements as a column.
fn column(decoded: Decoded) -> XarrayResult<Column> {
    Ok(match decoded {
        Decoded::Numbers(numbers) => of_numbers(numbers)?,
        Decoded::Booleans(values) => {
            let present: Vec<bool> =
                values.as_slice().iter().map(|value| value.unwrap_or_default()).collect();
            Column::from(present).with_nulls(is_missing(values.as_slice()))
        }
        Decoded::Texts(values) => {
            let texts = values.as_slice().iter().map(|value| value.as_deref().unwrap_or_default());
            Column::texts(texts).with_nulls(is_missing(values.as_slice()))
        }
        Decoded::Bytes(values) => {
            let contents = values.as_slice().iter().map(|value| value.as_deref().unwrap_or_default());
            Column::byte_strings(contents).with_nulls(is_missing(values.as_slice()))
        }
        Decoded::Times { times, .. } if times.calendar().is_civil() => {
            let times = times.in_calendar(Calendar::ProlepticGregorian)?;
            Column::timestamps(unit(times.unit()), times.values().to_vec())
        }
        Decoded::Times { times, .. } => {
            return Err(unsupported(&format!("times of the calendar {}", times.calendar().name())));
        }
        Decoded::Spans { spans, .. } => Column::durations(unit(spans.unit()), spans.values().to_vec()),
        Decoded::Other(_) => return Err(unsupported("elements of other types")),
    })
}

fn is_missing<T>(values: &[Option<T>]) -> impl Fn(usize) -> bool {
    |row| values[row].is_none()
}

fn unsupported(what: &str) -> XarrayError {
    XarrayError::new(XarrayErrorKind::Unsupported, format!("{what} have no type in Arrow"))
}

fn unit(unit: TimeUnit) -> ColumnUnit {
    match unit {
        TimeUnit::Seconds => ColumnUnit::Second,
        TimeUnit::Milliseconds => ColumnUnit::Millisecond,
        TimeUnit::Microseconds => ColumnUnit::Microsecond,
        TimeUnit::Nanoseconds => ColumnUnit::Nanosecond,
    }
}

fn of_numbers(numbers: AnyArray) -> XarrayResult<Column> {
    macro_rules! floats {
        ($values:expr) => {{
            let values = $values;
            let is_nan: Vec<bool> = values.iter().map(|value| value.is_nan()).collect();
            Column::from(values).with_nulls(|row| is_nan[row])
        }};
    }
    Ok(match numbers {
        AnyArray::Int8(values) => values.into_vec().into(),
        AnyArray::Int16(values) => values.into_vec().into(),
        AnyArray::Int32(values) => values.into_vec().into(),
        AnyArray::Int64(values) => values.into_vec().into(),
        AnyArray::UInt8(values) => values.into_vec().into(),
        AnyArray::UInt16(values) => values.into_vec().into(),
        AnyArray::UInt32(values) => values.into_vec().into(),
        AnyArray::UInt64(values) => values.into_vec().into(),
        AnyArray::Float32(values) => floats!(values.into_vec()),
        AnyArray::Float64(values) => floats!(values.into_vec()),
        AnyArray::Other { data_type: DataType::Float16, bytes, .. } => {
            let halves = bytes.as_chunks().0.iter().map(|bytes| half::f16::from_ne_bytes(*bytes));
            floats!(halves.collect::<Vec<_>>())
        }
        _ => return Err(unsupported("complex numbers")),
    })
}
