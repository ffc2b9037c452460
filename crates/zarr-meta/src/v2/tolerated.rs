//! Members of filters and compressors in forms that numcodecs does not define, and their meaning.
//!
//! GDAL writes the shuffles of blosc as words. netCDF-C up to 4.9 writes integers as strings, and its `shuffle` uses
//! the size of the array's elements, whatever the member says, most often 0. For numcodecs a 0 means no shuffle, but it
//! has no reason to write one, so a 0 is read as that of netCDF-C in arrays of data types that netCDF has.

use zarr_traits::Limits;

use super::array::Codec;
use super::complete::number_of_shuffle;
use super::dtype::{Dtype, Kind, Scalar};
use crate::diagnostic::{Code, Diagnostic, Sink};
use crate::error::MetaResult;
use crate::json::{Object, Value, ValueKind, pointer};

/// The default element size of `shuffle` in numcodecs.
const DEFAULT_SIZE: u64 = 4;

/// A member, interpreted.
pub(super) struct Member {
    name: &'static str,
    value: Value,
    /// The form in the document, if it is not the defined form.
    deviation: Option<String>,
}

impl Member {
    fn defined(name: &'static str, value: Value) -> Self {
        Self { name, value, deviation: None }
    }

    fn read_as(name: &'static str, value: impl Into<Value>, found: impl Into<String>) -> Self {
        Self { name, value: value.into(), deviation: Some(found.into()) }
    }

    /// Returns the value, and reports a deviation. `place` is that of the codec.
    pub(super) fn value(self, place: &str, sink: &mut dyn Sink) -> MetaResult<Value> {
        if let Some(found) = self.deviation {
            let message = format!("{found}, read as {}", self.value);
            sink.report(Diagnostic::new(Code::CodecConfiguration, pointer::join(place, self.name), message))?;
        }
        Ok(self.value)
    }
}

/// Reads the level of a compressor.
pub(super) fn level(given: &Object, default: i32) -> MetaResult<Member> {
    const NAME: &str = "level";
    match given.get(NAME) {
        None => Ok(Member::defined(NAME, default.into())),
        Some(level) => integer(NAME, level),
    }
}

/// Reads the number of the shuffle of blosc.
pub(super) fn shuffle(given: &Object) -> MetaResult<Member> {
    const NAME: &str = "shuffle";
    let Some(shuffle) = given.get(NAME) else { return Ok(Member::defined(NAME, 1.into())) };
    if let "0" | "1" | "2" | "-1" = shuffle.as_raw() {
        return Ok(Member::defined(NAME, shuffle));
    }
    let number = shuffle.to_text().ok().and_then(|word| number_of_shuffle(&word));
    let number = number.ok_or_else(|| shuffle.expected("0, 1, 2 or -1").at("/shuffle"))?;
    Ok(Member::read_as(NAME, number, format!("expected 0, 1, 2 or -1, found {shuffle}")))
}

/// Returns the size of an element in bytes, if netCDF has its data type.
pub(crate) fn netcdf_size(dtype: &Dtype, limits: &Limits) -> Option<u64> {
    let is_netcdf = match dtype {
        Dtype::Scalar(Scalar { kind: Kind::Core(core), .. }) => core.is_integer() || core.is_float(),
        Dtype::Scalar(Scalar { kind: Kind::Bytes, .. }) => true,
        _ => false,
    };
    dtype.size(limits).ok().filter(|_| is_netcdf)
}

/// Reads the element size of `shuffle`, in an array of elements of `netcdf` bytes.
pub(super) fn element_size(given: &Object, netcdf: Option<u64>) -> MetaResult<Member> {
    const NAME: &str = "elementsize";
    let element = netcdf.unwrap_or(DEFAULT_SIZE);
    let Some(size) = given.get(NAME).filter(|size| !size.is_null()) else {
        return Ok(match element {
            DEFAULT_SIZE => Member::defined(NAME, element.into()),
            _ => Member::read_as(NAME, element, "it is missing"),
        });
    };
    let member = integer(NAME, size.clone())?;
    match netcdf {
        Some(element) if member.value.as_raw() == "0" => {
            Ok(Member::read_as(NAME, element, format!("expected a size above 0, found {size}")))
        }
        _ => Ok(member),
    }
}

/// Reads an integer, which may be in a string.
fn integer(name: &'static str, value: Value) -> MetaResult<Member> {
    if value.kind() != ValueKind::String {
        return Ok(Member::defined(name, value));
    }
    let wrong = || value.expected("an integer").at(&pointer::join("", name));
    let number = value.to_text()?.parse::<i32>().map_err(|_| wrong())?;
    Ok(Member::read_as(name, number, format!("expected an integer, found {value}")))
}

/// Returns a filter or compressor with a tolerated member in the form that numcodecs defines. All other text is kept.
/// `netcdf` is the [size](netcdf_size) of an element of the array.
pub(crate) fn restated(codec: &Value, netcdf: Option<u64>) -> Value {
    let read = || {
        let Codec { id, configuration } = Codec::parse(codec).ok()?;
        let member = match &*id {
            "blosc" => shuffle(&configuration),
            "shuffle" => element_size(&configuration, netcdf),
            "zstd" | "gzip" | "zlib" | "bz2" => level(&configuration, 0),
            _ => return None,
        };
        member.ok().filter(|member| member.deviation.is_some())
    };
    match (read(), codec.as_object()) {
        (Some(member), Some(mut object)) => {
            object.set(member.name, member.value);
            object.into()
        }
        _ => codec.clone(),
    }
}
