//! Encodes a variable in memory: the document of its array, and the elements to be stored.

use std::borrow::Cow;

use zarr_array::traits::strided::bytes_of;
use zarr_array::{AnyArray, Array, DataType, NdVec, Selection};
use zarr_meta::ArrayMeta;
use zarr_meta::json::{Object, Value};

use crate::decoded::Decoded;
use crate::error::{XarrayError, XarrayErrorKind, XarrayResult};
use crate::fill_value::{Missing, write_fill_value};
use crate::kernel::Packing;
use crate::new_variable::{Encoding, MissingValue, NewVariable};
use crate::number::{NumberType, Scalar};
use crate::times::encode::{Encoded, NumberKind, TimeEncoding, encode_spans, encode_times};
use crate::times::{Spans, Times};

/// The number of arrays that are written at the same time.
pub(crate) const AT_ONCE: usize = 8;

/// The default limit on the size of a chunk, in bytes.
const CHUNK: u64 = 4 << 20;

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
    pub(crate) elements: Elements,
}

/// The elements to be stored.
#[derive(Debug)]
pub(crate) enum Elements {
    /// In C order and the byte order of the machine.
    Bytes(Vec<u8>),
    Texts(NdVec<String>),
}

impl Elements {
    /// Writes the elements to a selection of an array.
    pub(crate) async fn write(self, array: &Array, selection: Selection) -> XarrayResult<()> {
        match self {
            Self::Bytes(bytes) => array.write_bytes(selection, bytes).await?,
            Self::Texts(texts) => array.write(selection, texts).await?,
        }
        Ok(())
    }
}

/// Encodes a variable. `coordinates` is the attribute of that name.
///
/// # Errors
/// `Invalid` for dimensions, attributes and encodings that do not fit. `OutOfRange` for an element that the stored type
/// does not have.
pub(crate) fn encode(variable: &NewVariable, coordinates: Option<&str>) -> XarrayResult<Ready> {
    let NewVariable { dimensions, values, attributes, encoding } = variable;
    if let Some(name) = RESERVED.into_iter().find(|name| attributes.contains(name)) {
        return Err(XarrayError::invalid(format!("the attribute {name} is set by an encoding")));
    }
    let shape = values.shape();
    if shape.len() != dimensions.len() {
        let (rank, names) = (shape.len(), dimensions.len());
        return Err(XarrayError::invalid(format!("the elements have {rank} dimensions, but {names} names")));
    }
    let mut attributes = attributes.clone();
    if let Some(names) = coordinates {
        attributes.set("coordinates", names);
    }
    let (data_type, elements) = match values {
        Decoded::Numbers(numbers) => {
            encoding.check_no_units()?;
            let (given, bytes) = bytes_of_numbers(numbers)?;
            encoding.numbers(given, &bytes, &mut attributes)?
        }
        Decoded::Times { times, .. } => encoding.times(times, &mut attributes)?,
        Decoded::Spans { spans, .. } => encoding.spans(spans, &mut attributes)?,
        Decoded::Booleans(truths) => {
            encoding.check_plain("booleans")?;
            let truths = present(truths, "booleans")?.into_iter().map(u8::from).collect();
            (DataType::Bool, Elements::Bytes(truths))
        }
        Decoded::Texts(texts) => {
            encoding.check_plain("texts")?;
            let texts = present(texts, "texts")?;
            (DataType::String, Elements::Texts(NdVec::new(shape, texts)?))
        }
        Decoded::Bytes(_) | Decoded::Other(_) => {
            return Err(XarrayError::new(
                XarrayErrorKind::Unsupported,
                "byte strings and elements of other types are not written",
            ));
        }
    };
    Ok(Ready { meta: encoding.document(shape, data_type, dimensions, attributes)?, elements })
}

impl Encoding {
    fn check_plain(&self, elements: &str) -> XarrayResult<()> {
        let is_packed = self.data_type.is_some() || self.scale.is_some() || self.offset.is_some();
        let is_plain = !is_packed && !matches!(self.missing, MissingValue::Number(_));
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
    fn numbers(
        &self,
        given: NumberType,
        bytes: &[u8],
        attributes: &mut Object,
    ) -> XarrayResult<(DataType, Elements)> {
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
        if let Some(missing) = missing {
            attributes.set("_FillValue", write_fill_value(&Missing::Number(missing)));
        }
        let compared = missing.filter(|missing| !missing.is_nan());
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
        Ok((stored.data_type(), Elements::Bytes(encoded)))
    }

    fn times(&self, times: &Times, attributes: &mut Object) -> XarrayResult<(DataType, Elements)> {
        refuse(attributes, &["units", "calendar"])?;
        let (units, calendar) = (self.units.as_deref(), self.calendar.as_deref());
        let encoded = encode_times(times, &TimeEncoding { units, calendar, kind: self.kind() })?;
        attributes.set("units", encoded.units);
        attributes.set("calendar", encoded.calendar);
        self.counts(&encoded.values, attributes)
    }

    fn spans(&self, spans: &Spans, attributes: &mut Object) -> XarrayResult<(DataType, Elements)> {
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

    fn counts(&self, counts: &Encoded, attributes: &mut Object) -> XarrayResult<(DataType, Elements)> {
        match counts {
            Encoded::Floats(counts) => {
                let packed = self.numbers(NumberType::Float64, bytes_of(counts), attributes)?;
                self.check_rounding(counts, &packed.1)?;
                Ok(packed)
            }
            Encoded::Integers(counts) if self.data_type.is_none_or(|of| of == NumberType::Int64) => {
                self.numbers(NumberType::Int64, bytes_of(counts), attributes)
            }
            // Missing times become NaN, and so the missing value of the stored type.
            Encoded::Integers(counts) => {
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
            let number = stored.load(bytes).and_then(Scalar::to_f64).unwrap_or(f64::NAN);
            ((count - offset) / scale - number).abs() > 1e-6
        };
        let position = counts.iter().zip(bytes.chunks(stored.size())).position(is_between);
        position.map_or(Ok(()), |position| {
            let message = format!("element {position} lies between two numbers of the stored units");
            Err(XarrayError::out_of_range(message))
        })
    }

    /// Builds the document of the array.
    fn document(
        &self,
        shape: &[u64],
        data_type: DataType,
        dimensions: &[String],
        attributes: Object,
    ) -> XarrayResult<ArrayMeta> {
        let is_float = NumberType::of(&data_type).is_some_and(NumberType::is_float);
        let size = data_type.size().unwrap_or(16) as u64;
        let chunks = self.chunks.clone().unwrap_or_else(|| chunks(shape, size));
        let mut builder =
            ArrayMeta::builder(shape, data_type).chunks(chunks).attributes(attributes.to_value());
        if !dimensions.is_empty() {
            builder = builder.dimension_names(dimensions.iter().map(String::as_str));
        }
        if is_float {
            builder = builder.fill(f64::NAN);
        }
        if let Some(shards) = &self.shards {
            builder = builder.shards(shards.clone());
        }
        if let Some(codecs) = &self.codecs {
            builder = builder.codecs(codecs.iter().cloned());
        }
        builder.build().map_err(|error| XarrayError::invalid(error.to_string()))
    }
}

/// Returns a missing value as an element of the stored type.
fn element(stored: NumberType, scalar: Scalar) -> XarrayResult<Scalar> {
    let is_finite = |scalar: Scalar| scalar.to_f64().is_none_or(f64::is_finite);
    let element = stored.element(scalar).filter(|element| is_finite(*element) == is_finite(scalar));
    element.ok_or_else(|| {
        let data_type = stored.data_type();
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
        stored.load(encoded) == Some(missing) && given.load(bytes).is_some_and(|number| !number.is_nan())
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
        let integer = given.load(bytes).and_then(Scalar::to_integer).ok_or_else(|| {
            XarrayError::invalid(format!("numbers of {} cannot be packed", given.data_type()))
        })?;
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
            let number = NumberType::of(data_type).filter(|number| {
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

/// Returns the shape of chunks of at most [`CHUNK`] bytes. The longest length is halved until they are small enough.
fn chunks(shape: &[u64], size: u64) -> Vec<u64> {
    let mut chunks: Vec<u64> = shape.iter().map(|length| (*length).max(1)).collect();
    let is_large = |chunks: &[u64]| {
        let bytes = chunks.iter().try_fold(size, |bytes, length| bytes.checked_mul(*length));
        bytes.is_none_or(|bytes| bytes > CHUNK)
    };
    while is_large(&chunks)
        && let Some(longest) = chunks.iter_mut().max()
        && *longest > 1
    {
        *longest = longest.div_ceil(2);
    }
    chunks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_have_at_most_4_mib() {
        assert_eq!(chunks(&[], 8), Vec::<u64>::new());
        assert_eq!(chunks(&[0, 3], 8), [1, 3]);
        assert_eq!(chunks(&[1000, 721, 1440], 4), [125, 91, 90]);
        assert_eq!(chunks(&[u64::MAX, u64::MAX], 16), [512, 512]);
    }
}
