//! The handle on a variable of a dataset.

mod decode;
mod encoding;
mod write;

use std::sync::Arc;

use zarr_array::traits::strided::Plain;
use zarr_array::{Element, NdVec};
use zarr_meta::ArrayMeta;
use zarr_meta::json::Object;

use crate::conventions::{Decoding, VariablePlan};
use crate::decoded::{Decoded, DecodedType, Maskable};
use crate::element_kind::ElementKind;
use crate::encode::Elements;
use crate::error::{XarrayError, XarrayResult};
use crate::flags::Flags;
use crate::handle::variable_methods;
use crate::positions::Positions;
use crate::shared::{Shared, repeated};
use crate::stored::{Reader, StoredArray};
use crate::times::{Spans, Times};
use crate::view::{Seen, View};

/// A variable of a dataset: reads its elements as the attributes say, or as they are stored.
///
/// Cheap to clone. [`blocking::Variable`](crate::blocking::Variable) has the same methods for programs without async.
///
/// ```
/// # use zarr_xarray::{Dataset, XarrayResult};
/// # async fn example(dataset: Dataset) -> XarrayResult<()> {
/// let t2m = dataset.variable("t2m")?;
/// assert_eq!(t2m.dimensions(), ["time", "lat", "lon"]);
/// let day = t2m.isel([("time", 0..24)])?.read::<f64>().await?; // unpacked, NaN for missing elements
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Variable {
    pub(crate) shared: Arc<Shared>,
    pub(crate) name: Arc<str>,
    pub(crate) view: View,
    pub(crate) plan: Arc<VariablePlan>,
    pub(crate) stored: Arc<StoredArray>,
    pub(crate) seen: Seen,
    /// Whether a blocking handle wraps this handle.
    pub(crate) may_block: bool,
}

impl Variable {
    variable_methods!();

    pub(crate) fn new(shared: Arc<Shared>, name: &str, view: View, may_block: bool) -> XarrayResult<Self> {
        let plan = shared.planned(name)?.clone();
        let missing = || XarrayError::invalid("the variable has no array").with_variable(name);
        let stored = shared.arrays.get(name).ok_or_else(missing)?.clone();
        let seen = view.see(&plan.dimensions, &plan.shape);
        Ok(Self { shared, name: name.into(), view, plan, stored, seen, may_block })
    }

    /// Reads decoded numbers. `T` is the type of the decoded elements, such as `f64` for packed numbers. Missing
    /// elements are NaN.
    ///
    /// # Errors
    /// [`Invalid`](crate::XarrayErrorKind::Invalid) if `T` is not the type of the decoded elements;
    /// [`Access`](crate::XarrayErrorKind::Access) if a chunk cannot be read, or the result exceeds the limits.
    pub async fn read<T: Element + Plain>(&self) -> XarrayResult<NdVec<T>> {
        self.named(self.numbers().await)
    }

    /// Reads decoded elements of a type that is known only at run time.
    ///
    /// # Errors
    /// [`Invalid`](crate::XarrayErrorKind::Invalid) and [`OutOfRange`](crate::XarrayErrorKind::OutOfRange) if an element
    /// cannot be decoded; [`Access`](crate::XarrayErrorKind::Access) if a chunk cannot be read, or the result exceeds the
    /// limits.
    pub async fn read_any(&self) -> XarrayResult<Decoded> {
        self.named(self.decoded().await)
    }

    /// Reads decoded elements, with `None` for missing ones: `f32` or `f64`, `bool`, `String`, or `Vec<u8>`.
    ///
    /// ```
    /// # use zarr_xarray::{Dataset, XarrayResult};
    /// # async fn example(dataset: Dataset) -> XarrayResult<()> {
    /// let names = dataset.variable("station_name")?.read_masked::<String>().await?;
    /// let first: Option<&str> = names[[0]].as_deref();
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`read_any`](Self::read_any), and [`Invalid`](crate::XarrayErrorKind::Invalid) for decoded elements of
    /// another type.
    pub async fn read_masked<T: Maskable>(&self) -> XarrayResult<NdVec<Option<T>>> {
        let values = T::masked(self.read_any().await?).ok_or_else(|| self.another_type(T::NAME));
        self.named(values)
    }

    /// Reads times. Those of several dimensions are in C order.
    ///
    /// # Errors
    /// As [`read_any`](Self::read_any), and [`Invalid`](crate::XarrayErrorKind::Invalid) for a variable that has no
    /// times.
    pub async fn read_times(&self) -> XarrayResult<Times> {
        match self.read_any().await? {
            Decoded::Times { times, .. } => Ok(times),
            _ => self.named(Err(self.another_type("a time"))),
        }
    }

    /// Reads spans of time. Those of several dimensions are in C order.
    ///
    /// # Errors
    /// As [`read_any`](Self::read_any), and [`Invalid`](crate::XarrayErrorKind::Invalid) for a variable that has no
    /// spans.
    pub async fn read_spans(&self) -> XarrayResult<Spans> {
        match self.read_any().await? {
            Decoded::Spans { spans, .. } => Ok(spans),
            _ => self.named(Err(self.another_type("a span of time"))),
        }
    }

    /// Reads the elements as they are stored: packed numbers, counts of time units, single characters. The shape is that
    /// of the stored array after selections.
    ///
    /// # Errors
    /// As [`Array::read`](zarr_array::Array::read).
    pub async fn read_raw<T: Element>(&self) -> XarrayResult<NdVec<T>> {
        let read = async { Ok(self.reader()?.read(self.seen.selection.clone()).await?) };
        self.named(read.await)
    }

    /// Writes decoded elements to the part of the variable that is selected: numbers of the decoded type, which are
    /// packed, or times, spans, texts and booleans. All of them are encoded before the first request.
    ///
    /// ```
    /// # use zarr_xarray::{Dataset, XarrayResult, zarr_array::NdVec};
    /// # async fn example(dataset: Dataset) -> XarrayResult<()> {
    /// let day = dataset.variable("t2m")?.isel([("time", 24..48)])?;
    /// day.write(NdVec::new([24, 180, 360], vec![280.5; 24 * 180 * 360])?).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Invalid`](crate::XarrayErrorKind::Invalid) for another shape, type or calendar, and for an index;
    /// [`OutOfRange`](crate::XarrayErrorKind::OutOfRange) for an element that its stored type does not have, such as NaN
    /// in integers without a missing value, or a time between two counts of the stored units;
    /// [`Unsupported`](crate::XarrayErrorKind::Unsupported) for other encodings. Then nothing is written.
    /// [`Access`](crate::XarrayErrorKind::Access) for errors of the store, after which some chunks may be written.
    pub async fn write(&self, values: impl Into<Decoded>) -> XarrayResult<()> {
        let written = async { self.write_prepared(self.prepared(values.into())?).await };
        self.named(written.await)
    }

    pub(crate) fn reader(&self) -> XarrayResult<Reader<'_>> {
        let array = self.stored.array.as_ref().map_err(|error| XarrayError::from(error.clone()))?;
        Ok(Reader { array, may_block: self.may_block })
    }

    fn another_type(&self, wanted: &str) -> XarrayError {
        XarrayError::invalid(format!("the decoded type is {:?}, not {wanted}", self.data_type()))
    }

    /// Adds the name of the variable to an error.
    fn named<T>(&self, result: XarrayResult<T>) -> XarrayResult<T> {
        result.map_err(|error| error.with_variable(&self.name))
    }

    fn inner(&self) -> &Self {
        self
    }

    fn with(&self, change: impl FnOnce(&Self) -> XarrayResult<Self>) -> XarrayResult<Self> {
        change(self)
    }

    /// Returns the variable at positions.
    pub(crate) fn at<N: AsRef<str>, P: Into<Positions>>(
        &self,
        positions: impl IntoIterator<Item = (N, P)>,
    ) -> XarrayResult<Self> {
        let VariablePlan { dimensions, shape, .. } = &*self.plan;
        let lengths = dimensions.iter().cloned().zip(shape.iter().copied()).collect();
        let mut selected = self.clone();
        for (dimension, positions) in positions {
            let dimension = dimension.as_ref();
            let select = match dimensions.iter().filter(|own| *own == dimension).count() {
                0 | 1 => selected.view.select(&lengths, dimension, &positions.into()),
                _ => Err(repeated(dimension)),
            };
            self.named(select)?;
        }
        selected.seen = selected.view.see(dimensions, shape);
        Ok(selected)
    }

    /// The type of the decoded elements.
    pub(crate) fn decoded_type(&self) -> DecodedType {
        match &self.plan.decoding {
            Decoding::Numbers(packing) => DecodedType::Numbers(packing.decoded),
            Decoding::Booleans(_) => DecodedType::Booleans,
            Decoding::Texts { charset: Some(_), .. } => DecodedType::Texts,
            Decoding::Texts { charset: None, .. } => DecodedType::Bytes,
            Decoding::Times { units, unit, .. } => DecodedType::Times(units.calendar(), *unit),
            Decoding::Spans { unit, .. } => DecodedType::Spans(*unit),
            Decoding::Stored | Decoding::Nullable(_) => match self.kind() {
                ElementKind::Number(of) => DecodedType::Numbers(of),
                ElementKind::Boolean => DecodedType::Booleans,
                ElementKind::Text => DecodedType::Texts,
                ElementKind::Bytes { .. } => DecodedType::Bytes,
                ElementKind::NumpyTime | ElementKind::Other => DecodedType::Other,
            },
        }
    }

    /// The kind of the stored elements.
    pub(crate) fn kind(&self) -> ElementKind {
        ElementKind::of(self.stored.meta.document().data_type())
    }
}
