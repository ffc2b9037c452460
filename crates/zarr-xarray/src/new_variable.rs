//! Variables to be written: their values, and how they are stored.

use zarr_array::{AnyArray, NdVec};
use zarr_meta::json::{Object, Value};
use zarr_meta::v3::Extension;

use crate::decoded::{Decoded, DecodedType};
use crate::number::{NumberType, Scalar};
use crate::times::{Spans, Times};

/// A variable to be written.
///
/// ```
/// # use zarr_xarray::{Encoding, NewVariable, NumberType, zarr_array::NdVec};
/// let values = NdVec::new([2, 3], vec![280.15, 281.2, 282.0, f64::NAN, 279.95, 280.0])?;
/// let packed = Encoding::new().data_type(NumberType::Int16).scale(0.01).offset(273.15).missing(-32767);
/// let t2m = NewVariable::new(["time", "lat"], values).attribute("units", "K").encoding(packed);
/// # Ok::<(), zarr_xarray::zarr_array::ArrayError>(())
/// ```
#[derive(Debug, Clone)]
pub struct NewVariable {
    pub(crate) dimensions: Vec<String>,
    pub(crate) values: Decoded,
    pub(crate) attributes: Object,
    pub(crate) encoding: Encoding,
    /// The shape of elements that are written later.
    pub(crate) later: Option<Vec<u64>>,
}

impl NewVariable {
    /// A variable with these dimensions and elements. A scalar has no dimensions.
    pub fn new<N: Into<String>>(dimensions: impl IntoIterator<Item = N>, values: impl Into<Decoded>) -> Self {
        Self {
            dimensions: dimensions.into_iter().map(Into::into).collect(),
            values: values.into(),
            attributes: Object::new(),
            encoding: Encoding::default(),
            later: None,
        }
    }

    /// A variable whose elements are written later, region by region. Until then they are missing, or 0. Times and spans
    /// need units in their encoding.
    ///
    /// ```
    /// # use zarr_xarray::{DecodedType, Encoding, NewDataset, NewVariable, NumberType, XarrayResult};
    /// # use zarr_xarray::{blocking::Dataset, zarr_array::{Storage, standard}};
    /// # fn example(storage: Storage, day: Vec<f64>) -> XarrayResult<()> {
    /// let t2m = NewVariable::later(["time", "x"], [365, 1000], DecodedType::Numbers(NumberType::Float64));
    /// let t2m = t2m.encoding(Encoding::new().chunks([1, 1000]));
    /// let dataset = Dataset::create(storage, "/", NewDataset::new().variable("t2m", t2m), &standard())?;
    /// dataset.isel([("time", 0)])?.variable("t2m")?.write(day)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn later<N: Into<String>>(
        dimensions: impl IntoIterator<Item = N>,
        shape: impl Into<Vec<u64>>,
        data_type: DecodedType,
    ) -> Self {
        Self { later: Some(shape.into()), ..Self::new(dimensions, Decoded::none(data_type)) }
    }

    /// The length of each dimension.
    pub(crate) fn shape(&self) -> &[u64] {
        self.later.as_deref().unwrap_or(self.values.shape())
    }

    /// Sets an attribute.
    #[must_use]
    pub fn attribute(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.attributes.set(name, value);
        self
    }

    /// Sets how the elements are stored.
    #[must_use]
    pub fn encoding(mut self, encoding: Encoding) -> Self {
        self.encoding = encoding;
        self
    }
}

/// How the elements of a variable are stored.
///
/// By default numbers keep their type, and NaN is the missing value of floats. Times and spans are integers in the
/// longest unit in which all of them are whole. A chunk has at most 4 MiB.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Encoding {
    pub(crate) data_type: Option<NumberType>,
    pub(crate) scale: Option<f64>,
    pub(crate) offset: Option<f64>,
    pub(crate) missing: MissingValue,
    pub(crate) missing_value: Option<Scalar>,
    pub(crate) coordinates: Option<Vec<String>>,
    pub(crate) texts_as_bytes: bool,
    pub(crate) units: Option<String>,
    pub(crate) calendar: Option<String>,
    pub(crate) chunks: Option<Vec<u64>>,
    pub(crate) shards: Option<Vec<u64>>,
    pub(crate) codecs: Option<Vec<Extension>>,
}

/// The stored number of missing elements.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) enum MissingValue {
    /// NaN for floats, and none for other types.
    #[default]
    ByType,
    None,
    Number(Scalar),
}

impl Encoding {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the type of the stored numbers. Fractions are rounded half to even in integer types.
    #[must_use]
    pub fn data_type(mut self, data_type: NumberType) -> Self {
        self.data_type = Some(data_type);
        self
    }

    /// Sets `scale_factor`. Numbers are divided by it.
    #[must_use]
    pub fn scale(mut self, scale: f64) -> Self {
        self.scale = Some(scale);
        self
    }

    /// Sets `add_offset`. It is subtracted first.
    #[must_use]
    pub fn offset(mut self, offset: f64) -> Self {
        self.offset = Some(offset);
        self
    }

    /// Sets `_FillValue`, the stored number of missing elements.
    #[must_use]
    pub fn missing(mut self, missing: impl Into<Scalar>) -> Self {
        self.missing = MissingValue::Number(missing.into());
        self
    }

    /// Writes no `_FillValue`, also for floats.
    #[must_use]
    pub fn without_missing(mut self) -> Self {
        self.missing = MissingValue::None;
        self
    }

    /// Sets the attribute `missing_value`, which older programs read. Missing elements are stored as this number, if no
    /// other one is set by [`missing`](Self::missing).
    #[must_use]
    pub fn missing_value(mut self, missing: impl Into<Scalar>) -> Self {
        self.missing_value = Some(missing.into());
        self
    }

    /// Sets the attribute `coordinates`, which names the coordinates of the variable. By default these are all
    /// coordinates without an index whose dimensions the variable has. An empty list writes no attribute.
    #[must_use]
    pub fn coordinates<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.coordinates = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Stores texts as byte strings of one length in UTF-8, and sets the attribute `_Encoding`.
    #[must_use]
    pub fn texts_as_bytes(mut self) -> Self {
        self.texts_as_bytes = true;
        self
    }

    /// Sets the units of times, such as `hours since 1970-01-01`, or of spans, such as `hours`.
    #[must_use]
    pub fn units(mut self, units: &str) -> Self {
        self.units = Some(units.to_owned());
        self
    }

    /// Sets the calendar of times. By default it is the calendar that they have.
    #[must_use]
    pub fn calendar(mut self, calendar: &str) -> Self {
        self.calendar = Some(calendar.to_owned());
        self
    }

    /// Sets the shape of chunks.
    #[must_use]
    pub fn chunks(mut self, chunks: impl Into<Vec<u64>>) -> Self {
        self.chunks = Some(chunks.into());
        self
    }

    /// Packs the chunks into shards of this shape, which must be a multiple of the shape of chunks.
    #[must_use]
    pub fn shards(mut self, shards: impl Into<Vec<u64>>) -> Self {
        self.shards = Some(shards.into());
        self
    }

    /// Sets the codecs, in the order of encoding.
    #[must_use]
    pub fn codecs(mut self, codecs: impl IntoIterator<Item = Extension>) -> Self {
        self.codecs = Some(codecs.into_iter().collect());
        self
    }
}

macro_rules! numbers {
    ($($t:ty, $variant:ident;)*) => {$(
        impl From<NdVec<$t>> for Decoded {
            fn from(values: NdVec<$t>) -> Self {
                Self::Numbers(AnyArray::$variant(values))
            }
        }

        /// The elements of one dimension.
        impl From<Vec<$t>> for Decoded {
            fn from(values: Vec<$t>) -> Self {
                line(values).into()
            }
        }
    )*};
}

numbers! {
    i8, Int8;
    i16, Int16;
    i32, Int32;
    i64, Int64;
    u8, UInt8;
    u16, UInt16;
    u32, UInt32;
    u64, UInt64;
    f32, Float32;
    f64, Float64;
}

macro_rules! nullable {
    ($($t:ty, $variant:ident;)*) => {$(
        impl From<NdVec<$t>> for Decoded {
            fn from(values: NdVec<$t>) -> Self {
                Self::$variant(nullable(values))
            }
        }

        /// The elements of one dimension.
        impl From<Vec<$t>> for Decoded {
            fn from(values: Vec<$t>) -> Self {
                line(values).into()
            }
        }
    )*};
}

nullable! {
    bool, Booleans;
    String, Texts;
    Vec<u8>, Bytes;
}

/// Times along one dimension.
impl From<Times> for Decoded {
    fn from(times: Times) -> Self {
        Self::Times { shape: vec![times.len() as u64], times }
    }
}

/// Spans along one dimension.
impl From<Spans> for Decoded {
    fn from(spans: Spans) -> Self {
        Self::Spans { shape: vec![spans.values().len() as u64], spans }
    }
}

/// Returns elements of one dimension.
fn line<T>(values: Vec<T>) -> NdVec<T> {
    filled(vec![values.len() as u64], values)
}

/// Returns elements none of which is missing.
fn nullable<T>(values: NdVec<T>) -> NdVec<Option<T>> {
    let (shape, values) = values.into_parts();
    filled(shape, values.into_iter().map(Some).collect())
}

/// Returns elements that fill a shape.
fn filled<T>(shape: Vec<u64>, values: Vec<T>) -> NdVec<T> {
    match NdVec::new(shape, values) {
        Ok(values) => values,
        Err(_) => unreachable!("the callers pass the number of values"),
    }
}
