//! Fill values as callers give them.

use zarr_traits::{DataType, FillValue};

use crate::diagnostic::{Ignore, Strict};
use crate::error::MetaResult;
use crate::json::Value;

/// A fill value as a caller gives it: a number, a bool, a JSON form, or the bits of an element.
///
/// A number is converted to the data type by its decimal digits, so `0` suits every numeric type, and `300` is refused
/// for `uint8`. A NaN keeps its payload if it has the width of the data type.
#[derive(Debug, Clone)]
pub struct Fill(Form);

#[derive(Debug, Clone)]
enum Form {
    Json(Value),
    /// The form of a stored document, which may be a tolerated one.
    Stored(Value),
    Bits(FillValue),
}

impl Fill {
    /// Returns a fill value as a stored document has it.
    pub(crate) fn stored(value: Value) -> Self {
        Self(Form::Stored(value))
    }

    /// Returns the JSON form of format 3, and whether it is that of a stored document. `data_type` is asked for the form of
    /// bits.
    pub(crate) fn json(&self, data_type: impl FnOnce() -> MetaResult<DataType>) -> MetaResult<(Value, bool)> {
        match &self.0 {
            Form::Bits(bits) => Ok((super::for_document(&data_type()?, bits)?, false)),
            Form::Json(value) => Ok((value.clone(), false)),
            Form::Stored(value) => Ok((value.clone(), true)),
        }
    }

    /// Returns the element of `data_type`.
    pub(crate) fn bits(&self, data_type: &DataType) -> MetaResult<FillValue> {
        match &self.0 {
            Form::Bits(bits) => Ok(bits.clone()),
            Form::Json(value) => super::read(data_type, value, &mut Strict),
            Form::Stored(value) => super::read(data_type, value, &mut Ignore),
        }
    }
}

impl From<Value> for Fill {
    fn from(value: Value) -> Self {
        Self(Form::Json(value))
    }
}

impl From<FillValue> for Fill {
    fn from(bits: FillValue) -> Self {
        Self(Form::Bits(bits))
    }
}

impl From<f32> for Fill {
    fn from(number: f32) -> Self {
        float(&DataType::Float32, FillValue::of(number))
    }
}

impl From<f64> for Fill {
    fn from(number: f64) -> Self {
        float(&DataType::Float64, FillValue::of(number))
    }
}

/// Returns the JSON form of a float, or its bits if it has none.
fn float(data_type: &DataType, bits: FillValue) -> Fill {
    Fill(super::write(data_type, &bits).map_or(Form::Bits(bits), Form::Json))
}

macro_rules! fill_from {
    ($($t:ty)*) => {
        $(impl From<$t> for Fill {
            fn from(value: $t) -> Self {
                Value::from(value).into()
            }
        })*
    };
}

fill_from!(u8 u16 u32 u64 usize i8 i16 i32 i64 isize bool &str);
