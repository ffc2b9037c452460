//! Converts data types of format 3 to dtypes.

use zarr_traits::{DataType, Limits};

use super::dtype::{ByteOrder, Dtype, Endian, Field, Kind, Scalar};
use super::time::Time;
use crate::diagnostic::Ignore;
use crate::error::{MetaError, MetaErrorKind, MetaResult};
use crate::json::Value;
use crate::v3::{self, Extension};

/// The deepest nesting of structs.
const DEPTH: usize = 32;

impl Dtype {
    /// Returns the dtype of a data type with this byte order.
    ///
    /// # Errors
    /// If format 2 has no such dtype, or the data type is not valid.
    pub(crate) fn of(data_type: &Extension, order: &ByteOrder, limits: &Limits) -> MetaResult<Self> {
        let mut orders: Box<dyn Iterator<Item = Endian> + '_> = match order {
            ByteOrder::None => Box::new(std::iter::repeat(Endian::Little)),
            ByteOrder::One(endian) => Box::new(std::iter::repeat(*endian)),
            ByteOrder::Mixed(orders) => Box::new(orders.iter().copied()),
        };
        let dtype = of(data_type, &mut *orders, DEPTH)?;
        dtype.size(limits)?;
        Ok(dtype)
    }
}

fn of(data_type: &Extension, orders: &mut dyn Iterator<Item = Endian>, depth: usize) -> MetaResult<Dtype> {
    let name = data_type.name();
    if let "struct" | "structured" | "numcodecs:struct" = name {
        return fields(data_type, orders, depth);
    }
    if let "string" | "bytes" | "variable_length_bytes" | "binary" = name {
        return Ok(Dtype::Object);
    }
    let endian = orders.next().unwrap_or(Endian::Little);
    let scalar = scalar(data_type)?.ok_or_else(|| {
        let message = format!("format 2 has no dtype for the data type {name:?}");
        MetaError::new(MetaErrorKind::Unsupported, message)
    })?;
    Ok(Dtype::Scalar(if scalar.unit() > 1 { Scalar { endian, ..scalar } } else { scalar }))
}

fn scalar(data_type: &Extension) -> MetaResult<Option<Scalar>> {
    let name = data_type.name();
    let sized = |kind, size| Some(Scalar { kind, size, endian: Endian::Little });
    if let Some(DataType::Raw(size)) = DataType::core(name) {
        return Ok(sized(Kind::Raw, size));
    }
    Ok(match name {
        "raw_bytes" => sized(Kind::Raw, integer(data_type, "length_bytes")?),
        "null_terminated_bytes" => sized(Kind::Bytes, integer(data_type, "length_bytes")?),
        "fixed_length_utf32" => {
            let size = integer(data_type, "length_bytes")?;
            sized(Kind::Text, size).filter(|_| size.is_multiple_of(4))
        }
        "numpy.datetime64" => sized(Kind::Datetime(time(data_type)?), 8),
        "numpy.timedelta64" => sized(Kind::Timedelta(time(data_type)?), 8),
        "complex_float32" => Scalar::by_name("complex64"),
        "complex_float64" => Scalar::by_name("complex128"),
        name => Scalar::by_name(name),
    })
}

/// Returns an integer from the configuration.
fn integer(data_type: &Extension, member: &str) -> MetaResult<u32> {
    let value = data_type.configuration().get(member);
    let number = value.as_ref().and_then(Value::as_number).and_then(|n| n.to_integer());
    let number = number.and_then(|n| u32::try_from(n).ok());
    number.ok_or_else(|| MetaError::invalid(format!("expected an integer as {member} of {data_type:?}")))
}

fn time(data_type: &Extension) -> MetaResult<Time> {
    let wrong = || MetaError::invalid(format!("expected a unit of time and a factor in {data_type:?}"));
    let unit = data_type.configuration().get("unit").ok_or_else(wrong)?;
    let scale = i32::try_from(integer(data_type, "scale_factor")?).map_err(|_| wrong())?;
    Time::new(&unit.to_text()?, scale).ok_or_else(wrong)
}

fn fields(
    data_type: &Extension,
    orders: &mut dyn Iterator<Item = Endian>,
    depth: usize,
) -> MetaResult<Dtype> {
    if depth == 0 {
        return Err(MetaError::limit(format!("structs are nested deeper than {DEPTH} levels")));
    }
    let wrong = || MetaError::invalid(format!("expected a list of fields in {data_type:?}"));
    let list = data_type.configuration().get("fields").ok_or_else(wrong)?;
    let mut fields = Vec::new();
    for field in list.elements().ok_or_else(wrong)? {
        let (name, inner, shape) = match field.as_object() {
            Some(members) => {
                let (name, inner) = members.get("name").zip(members.get("data_type")).ok_or_else(wrong)?;
                (name, inner, members.get("shape"))
            }
            None => {
                let mut pair = field.elements().ok_or_else(wrong)?;
                let (name, inner) = pair.next().zip(pair.next()).ok_or_else(wrong)?;
                (name, inner, None)
            }
        };
        let shape = shape.map(|s| v3::lengths(&s, "/shape", usize::MAX, &mut Ignore)).transpose()?;
        let dtype = of(&Extension::parse(&inner, &mut Ignore)?, orders, depth - 1)?;
        fields.push(Field { name: name.to_text()?.into_owned(), dtype, shape: shape.unwrap_or_default() });
    }
    Ok(Dtype::Struct(fields))
}
