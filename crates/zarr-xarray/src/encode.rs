//! Encodes a variable in memory: the document of its array, and the elements to be stored.

mod document;

use std::borrow::Cow;

use zarr_array::traits::strided::{bytes_of, zeroed};
use zarr_array::{AnyArray, Array, DataType, NdVec, Selection};
use zarr_meta::json::{Object, Value};
use zarr_meta::{ArrayMeta, Format, types};

use crate::decoded::Decoded;
use crate::error::{XarrayError, XarrayErrorKind, XarrayResult};
use crate::kernel::Packing;
use crate::new_variable::{Encoding, MissingValue, NewVariable};
use crate::number::{self, NumberType, Scalar};
use crate::times::encode::{NumberKind, StoredNumbers, TimeEncoding, encode_spans, encode_times};
use crate::times::{Spans, Times};

/// The number of arrays that are written at the same time. Their elements are in memory anyhow, and the storage limits its
/// requests.
pub(crate) const AT_ONCE: usize = 64;

/// The attributes that this crate writes itself. As attributes of the user they would change the elements.
const RESERVED: [&str; 8] = [
    "_FillValue",
    "missing_value",
    "scale_factor",
    "add_offset",
    "_Unsigned",
    "_Encoding",
    "_ARRAY_DIMENSIONS",
    "coordinates",
];

/// A variable ready to be written.
#[derive(Debug)]
pub(crate) struct Ready {
    pub(crate) meta: ArrayMeta,
    /// The elements, or `None` if there are none, or they are written later.
    elements: Option<Elements>,
}

impl Ready {
    /// Writes the elements, if there are any. Returns the document.
    pub(crate) async fn write(self, array: &Array) -> XarrayResult<ArrayMeta> {
        if let Some(elements) = self.elements {
            elements.write(array, Selection::all()).await?;
        }
        Ok(self.meta)
    }
}

/// The elements to be stored.
#[derive(Debug, PartialEq)]
pub(crate) enum Elements {
    /// In C order and the byte order of the machine.
    Bytes(Vec<u8>),
    Texts(NdVec<String>),
}

impl Elements {
    /// The size of the elements. Of texts, that of their content.
    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::Texts(texts) => texts.as_slice().iter().map(|text| text.len() as u64).sum(),
        }
    }

    /// Returns the bytes of the elements. Of texts, their content.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Texts(texts) => texts.into_iter().collect::<String>().into_bytes(),
        }
    }

    /// Writes the elements to a selection of an array.
    pub(crate) async fn write(self, array: &Array, selection: Selection) -> XarrayResult<()> {
        match self {
            Self::Bytes(bytes) => array.write_bytes(selection, bytes).await?,
            Self::Texts(texts) => array.write(selection, texts).await?,
        }
        Ok(())
    }
}

/// Elements as they are stored, and their type.
struct Form {
    data_type: DataType,
    elements: Elements,
    /// The stored number of missing elements, `_FillValue`.
    missing: Option<Scalar>,
}

impl Form {
    fn new(data_type: DataType, elements: Elements) -> Self {
        Self { data_type, elements, missing: None }
    }
}

/// Encodes a variable for an array of a format. `coordinates` is the attribute of that name.
///
/// # Errors
/// `Invalid` for dimensions, attributes and encodings that do not fit. `OutOfRange` for an element that the stored type
/// does not have.
pub(crate) fn encode(
    variable: &NewVariable,
    coordinates: Option<&str>,
    format: Format,
) -> XarrayResult<Ready> {
    let NewVariable { dimensions, values, attributes, encoding, .. } = variable;
    if let Some(name) = RESERVED.into_iter().find(|name| attributes.contains(name)) {
        return Err(XarrayError::invalid(format!("the attribute {name} is set by an encoding")));
    }
    let shape = variable.shape();
    if shape.len() != dimensions.len() {
        let (rank, names) = (shape.len(), dimensions.len());
        return Err(XarrayError::invalid(format!("the elements have {rank} dimensions, but {names} names")));
    }
    let mut attributes = attributes.clone();
    if let Some(names) = coordinates {
        attributes.set("coordinates", names);
    }
    let form = match values {
        Decoded::Numbers(numbers) => {
            encoding.check_no_units()?;
            let (given, bytes) = bytes_of_numbers(numbers)?;
            encoding.numbers(given, &bytes, &mut attributes)?
        }
        Decoded::Times { .. } | Decoded::Spans { .. }
            if variable.later.is_some() && encoding.units.is_none() =>
        {
            return Err(XarrayError::invalid("the units of times that are written later must be given"));
        }
        Decoded::Times { times, .. } => encoding.times(times, &mut attributes)?,
        Decoded::Spans { spans, .. } => encoding.spans(spans, &mut attributes)?,
        Decoded::Booleans(truths) => {
            encoding.check_plain("booleans")?;
            let truths = present(truths, "booleans")?.into_iter().map(u8::from).collect();
            Form::new(DataType::Bool, Elements::Bytes(truths))
        }
        Decoded::Texts(texts) => {
            encoding.check_plain("texts")?;
            let texts = present(texts, "texts")?;
            match encoding.texts_as_bytes {
                true => {
                    attributes.set("_Encoding", "utf-8");
                    padded(&texts.into_iter().map(String::into_bytes).collect::<Vec<_>>())?
                }
                false => Form::new(DataType::String, Elements::Texts(NdVec::new(values.shape(), texts)?)),
            }
        }
        Decoded::Bytes(values) => {
            encoding.check_plain("byte strings")?;
            padded(&present(values, "byte strings")?)?
        }
        Decoded::Other(_) => {
            return Err(XarrayError::new(
                XarrayErrorKind::Unsupported,
                "elements of other types are not written",
            ));
        }
    };
    let meta = encoding.document(shape, &form, dimensions, attributes, format)?;
    let is_empty = variable.later.is_some() || shape.contains(&0);
    Ok(Ready { meta, elements: (!is_empty).then_some(form.elements) })
}

impl Encoding {
    fn check_plain(&self, elements: &str) -> XarrayResult<()> {
        let is_packed = self.data_type.is_some() || self.scale.is_some() || self.offset.is_some();
        let has_missing = matches!(self.missing, MissingValue::Number(_)) || self.missing_value.is_some();
        let is_plain = !is_packed && !has_missing;
        match is_plain {
            true => self.check_no_units(),
            false => Err(XarrayError::invalid(format!("{elements} are stored as they are, without packing"))),
        }
    }

    fn check_no_units(&self) -> XarrayResult<()> {
        match (&self.units, &self.calendar) {
            (None, None) => Ok(()),
            _ => Err(XarrayError::invalid("only times and spans have units in their encoding")),
        }
    }

    /// Encodes numbers of type `given`, and sets the attributes of their packing.
    fn numbers(&self, given: NumberType, bytes: &[u8], attributes: &mut Object) -> XarrayResult<Form> {
        let is_scaled = self.scale.is_some() || self.offset.is_some();
        let stored = self.data_type.unwrap_or(given);
        let missing = match self.missing {
            MissingValue::Number(scalar) => Some(element(stored, scalar)?),
            MissingValue::ByType if stored.is_float() => Some(Scalar::Float(f64::NAN)),
            _ => None,
        };
        for (name, factor) in [("scale_factor", self.scale), ("add_offset", self.offset)] {
            let Some(factor) = factor else { continue };
            if !factor.is_finite() || name == "scale_factor" && factor == 0.0 {
                return Err(XarrayError::invalid(format!("{name} is {factor}")));
            }
            attributes.set(name, Value::float(factor)?);
        }
        let also = self.missing_value.map(|scalar| element(stored, scalar)).transpose()?;
        if let Some(also) = also {
            attributes.set("missing_value", also.to_json()?);
        }
        let compared = missing.filter(|missing| !missing.is_nan());
        if let (Some(compared), Some(also)) = (compared, also)
            && compared != also
        {
            return Err(XarrayError::invalid(format!(
                "_FillValue is {compared}, but missing_value is {also}"
            )));
        }
        let compared = compared.or(also).filter(|missing| !missing.is_nan());
        let packing = Packing {
            stored,
            missing: compared.into_iter().collect(),
            scale: self.scale,
            offset: self.offset,
            decoded: NumberType::Float64,
        };
        let (given, bytes) = match given == stored && !is_scaled || given.is_float() {
            true => (given, Cow::Borrowed(bytes)),
            false => (NumberType::Float64, Cow::Owned(widened(given, bytes)?)),
        };
        let count = bytes.len() / given.size();
        let mut encoded = vec![0; count * stored.size()];
        packing.encode(given, &bytes, &mut encoded)?;
        if let Some(missing) = compared.filter(|_| is_scaled) {
            check_apart(stored, missing, &encoded, given, &bytes)?;
        }
        Ok(Form { data_type: stored.into(), elements: Elements::Bytes(encoded), missing })
    }

    fn times(&self, times: &Times, attributes: &mut Object) -> XarrayResult<Form> {
        refuse(attributes, &["units", "calendar"])?;
        let (units, calendar) = (self.units.as_deref(), self.calendar.as_deref());
        let encoded = encode_times(times, &TimeEncoding { units, calendar, kind: self.kind() })?;
        attributes.set("units", encoded.units);
        attributes.set("calendar", encoded.calendar);
        self.counts(&encoded.values, attributes)
    }

    fn spans(&self, spans: &Spans, attributes: &mut Object) -> XarrayResult<Form> {
        refuse(attributes, &["units", "dtype"])?;
        if self.calendar.is_some() {
            return Err(XarrayError::invalid("spans of time have no calendar"));
        }
        let encoded = encode_spans(spans, self.units.as_deref(), self.kind())?;
        attributes.set("units", encoded.units);
        attributes.set("dtype", format!("timedelta64[{}]", spans.unit().name()));
        self.counts(&encoded.values, attributes)
    }

    /// The kind of numbers that times and spans become.
    fn kind(&self) -> NumberKind {
        match self.data_type {
            _ if self.scale.is_some() || self.offset.is_some() => NumberKind::Floats,
            Some(stored) if stored.is_integer() => NumberKind::Integers,
            Some(_) => NumberKind::Floats,
            None => NumberKind::Free,
        }
    }

    fn counts(&self, counts: &StoredNumbers, attributes: &mut Object) -> XarrayResult<Form> {
        match counts {
            StoredNumbers::Floats(counts) => {
                let packed = self.numbers(NumberType::Float64, bytes_of(counts), attributes)?;
                self.check_rounding(counts, &packed.elements)?;
                Ok(packed)
            }
            StoredNumbers::Integers(counts) if self.data_type.is_none_or(|of| of == NumberType::Int64) => {
                self.numbers(NumberType::Int64, bytes_of(counts), attributes)
            }
            // Missing times become NaN, and so the missing value of the stored type.
            StoredNumbers::Integers(counts) => {
                let counts = counts.iter().map(|count| exact(*count)).collect::<XarrayResult<Vec<_>>>()?;
                self.numbers(NumberType::Float64, bytes_of(&counts), attributes)
            }
        }
    }

    /// Checks that no time or span lies between two packed integers, up to the errors of the arithmetic.
    fn check_rounding(&self, counts: &[f64], elements: &Elements) -> XarrayResult<()> {
        let (Some(stored), Elements::Bytes(bytes)) = (self.data_type, elements) else { return Ok(()) };
        if !stored.is_integer() {
            return Ok(());
        }
        let (scale, offset) = (self.scale.unwrap_or(1.0), self.offset.unwrap_or(0.0));
        let is_between = |(count, bytes): (&f64, &[u8])| {
            let number = Scalar::load(stored, bytes).and_then(Scalar::to_f64).unwrap_or(f64::NAN);
            ((count - offset) / scale - number).abs() > 1e-6
        };
        let position = counts.iter().zip(bytes.chunks(stored.size())).position(is_between);
        position.map_or(Ok(()), |position| {
            let message = format!("element {position} lies between two numbers of the stored units");
            Err(XarrayError::out_of_range(message))
        })
    }
}

/// Returns byte strings padded to the length of the longest one. The length is at least 2, because single bytes would be
/// read as characters of longer strings.
fn padded(values: &[Vec<u8>]) -> XarrayResult<Form> {
    if let Some(position) = values.iter().position(|bytes| bytes.last() == Some(&0)) {
        let message = format!("element {position} ends with a zero, which would be lost as padding");
        return Err(XarrayError::out_of_range(message));
    }
    let longest = values.iter().map(Vec::len).max().unwrap_or(0).max(2);
    let too_long = || XarrayError::out_of_range(format!("an element has {longest} bytes"));
    let length = u32::try_from(longest).map_err(|_| too_long())?;
    let size = longest.checked_mul(values.len()).ok_or_else(too_long)?;
    let mut bytes = zeroed(size).map_err(zarr_array::ArrayError::from)?;
    for (element, value) in bytes.chunks_mut(longest).zip(values) {
        element.iter_mut().zip(value).for_each(|(to, from)| *to = *from);
    }
    Ok(Form::new(types::null_terminated_bytes(length)?, Elements::Bytes(bytes)))
}

/// Returns a missing value as an element of the stored type.
fn element(stored: NumberType, scalar: Scalar) -> XarrayResult<Scalar> {
    let is_finite = |scalar: Scalar| scalar.to_f64().is_none_or(f64::is_finite);
    let element = scalar.element(stored).filter(|element| is_finite(*element) == is_finite(scalar));
    element.ok_or_else(|| {
        let data_type = stored.name();
        XarrayError::invalid(format!("the missing value {scalar} is not a number of {data_type}"))
    })
}

/// Checks that no number was packed to the missing value.
pub(crate) fn check_apart(
    stored: NumberType,
    missing: Scalar,
    encoded: &[u8],
    given: NumberType,
    bytes: &[u8],
) -> XarrayResult<()> {
    let pairs = encoded.chunks(stored.size()).zip(bytes.chunks(given.size()));
    let is_lost = |(encoded, bytes): (&[u8], &[u8])| {
        Scalar::load(stored, encoded) == Some(missing)
            && Scalar::load(given, bytes).is_some_and(|number| !number.is_nan())
    };
    pairs.into_iter().position(is_lost).map_or(Ok(()), |position| {
        let message =
            format!("element {position} would be stored as {missing}, which means that it is missing");
        Err(XarrayError::out_of_range(message))
    })
}

/// Refuses attributes that the encoding sets.
fn refuse(attributes: &Object, names: &[&str]) -> XarrayResult<()> {
    let found = names.iter().find(|name| attributes.contains(name));
    found.map_or(Ok(()), |name| {
        Err(XarrayError::invalid(format!("the attribute {name} is set by the encoding")))
    })
}

/// Returns a count as a float.
fn exact(count: i64) -> XarrayResult<f64> {
    let float = count as f64;
    match count {
        crate::times::NOT_A_TIME => Ok(f64::NAN),
        _ if Scalar::Float(float).to_integer() == Some(count.into()) => Ok(float),
        _ => Err(XarrayError::out_of_range(format!("{count} is not exact in float64"))),
    }
}

/// Returns integers as floats.
fn widened(given: NumberType, bytes: &[u8]) -> XarrayResult<Vec<u8>> {
    let wide = |(position, bytes): (usize, &[u8])| {
        let integer = Scalar::load(given, bytes)
            .and_then(Scalar::to_integer)
            .ok_or_else(|| XarrayError::invalid(format!("numbers of {} cannot be packed", given.name())))?;
        let integer = i64::try_from(integer).map_err(|error| XarrayError::out_of_range(error.to_string()));
        let float = integer.and_then(exact).map_err(|error| error.within(&format!("element {position}")))?;
        Ok(float.to_ne_bytes())
    };
    let wide = bytes.chunks(given.size()).enumerate().map(wide).collect::<XarrayResult<Vec<_>>>()?;
    Ok(wide.concat())
}

/// Returns the type and the memory of numbers.
pub(crate) fn bytes_of_numbers(numbers: &AnyArray) -> XarrayResult<(NumberType, Cow<'_, [u8]>)> {
    macro_rules! memory {
        ($variant:ident, $values:expr) => {
            (NumberType::$variant, Cow::Borrowed(bytes_of($values.as_slice())))
        };
    }
    Ok(match numbers {
        AnyArray::Int8(values) => memory!(Int8, values),
        AnyArray::Int16(values) => memory!(Int16, values),
        AnyArray::Int32(values) => memory!(Int32, values),
        AnyArray::Int64(values) => memory!(Int64, values),
        AnyArray::UInt8(values) => memory!(UInt8, values),
        AnyArray::UInt16(values) => memory!(UInt16, values),
        AnyArray::UInt32(values) => memory!(UInt32, values),
        AnyArray::UInt64(values) => memory!(UInt64, values),
        AnyArray::Float32(values) => memory!(Float32, values),
        AnyArray::Float64(values) => memory!(Float64, values),
        AnyArray::Other { data_type, shape, bytes } => {
            let number = number::of(data_type).filter(|number| {
                let size =
                    shape.iter().try_fold(number.size() as u64, |size, length| size.checked_mul(*length));
                size == Some(bytes.len() as u64)
            });
            let number = number.ok_or_else(|| XarrayError::invalid("the elements are not numbers"))?;
            (number, Cow::Borrowed(&bytes[..]))
        }
        _ => return Err(XarrayError::invalid("the elements are not numbers")),
    })
}

/// Returns elements none of which may be missing.
pub(crate) fn present<T: Clone>(values: &NdVec<Option<T>>, what: &str) -> XarrayResult<Vec<T>> {
    let element = |(position, value): (usize, &Option<T>)| {
        let missing = || {
            XarrayError::out_of_range(format!(
                "element {position} is missing, and {what} have no missing value"
            ))
        };
        value.clone().ok_or_else(missing)
    };
    values.into_iter().enumerate().map(element).collect()
}
