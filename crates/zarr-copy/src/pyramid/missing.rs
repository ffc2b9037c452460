//! Values that do not count.

use std::str::FromStr;

use zarr_array::meta::json::{Value, ValueKind};
use zarr_array::meta::{Format, Ignore, fill, xarray};
use zarr_array::traits::FillValue;
use zarr_array::traits::number::Numeric;
use zarr_array::{Array, DataType};

use super::method::is_time;
use crate::error::{CopyError, CopyResult};

/// The values that stand for missing elements, beside NaN and NaT. As text `none`, or numbers: `-9999,0`.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub enum MissingValues {
    /// Those that the array declares: `_FillValue` and `missing_value`, and in datasets of format 2 the fill value. The fill
    /// value alone is not missing.
    #[default]
    Declared,
    /// None.
    None,
    /// These: numbers, in the form of a fill value.
    Values(Vec<Value>),
}

impl MissingValues {
    /// Returns the elements that do not count. `is_image`: the array is an image of OME-Zarr, whose fill value is no missing
    /// value also in format 2.
    pub(crate) fn of(&self, array: &Array, is_image: bool) -> CopyResult<Vec<FillValue>> {
        let data_type = array.data_type();
        let mut all = Vec::new();
        match self {
            Self::Declared => {
                all.extend(declared(array, is_image).iter().filter_map(|value| read(data_type, value)))
            }
            Self::None => {}
            Self::Values(values) => {
                for value in values {
                    let element = read(data_type, value).ok_or_else(|| {
                        let value = value.to_compact();
                        CopyError::settings(format!("`missing`: {value} is no element of {data_type}"))
                    })?;
                    all.push(element);
                }
            }
        }
        if is_time(data_type) && *self != Self::None {
            all.push(FillValue::of(i64::MIN));
        }
        all.dedup();
        Ok(all)
    }
}

/// Returns the values that an array declares as missing.
fn declared(array: &Array, is_image: bool) -> Vec<Value> {
    let meta = array.metadata();
    let attributes = meta.attributes();
    let mut all = Vec::new();
    if let Some(value) = attributes.get("missing_value") {
        match value.elements() {
            Some(values) => all.extend(values),
            None => all.push(value),
        }
    }
    match attributes.get(xarray::FILL_VALUE) {
        // xarray encodes floats in format 3.
        Some(value) if value.kind() == ValueKind::String && meta.format() == Format::V3 => {
            all.extend(xarray::attributes_of_format_2(meta).1.filter(|fill| !fill.is_null()));
        }
        Some(value) => all.push(value),
        None => {}
    }
    if !is_image {
        all.extend(xarray::missing_value(meta));
    }
    all
}

/// Returns the element for a number in an attribute.
fn read(data_type: &DataType, value: &Value) -> Option<FillValue> {
    if let Ok(element) = fill::read(data_type, value, &mut Ignore) {
        return Some(element);
    }
    // Attributes of integers may be floats without a fraction.
    let is_integer = matches!(data_type.numeric(), Some(Numeric::Integer { .. }));
    let number =
        value.as_f64().filter(|number| is_integer && number.fract() == 0.0 && number.abs() < 9e15)?;
    let number: Value = Value::parse(&format!("{number:.0}")).ok()?;
    fill::read(data_type, &number, &mut Ignore).ok()
}

impl FromStr for MissingValues {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.trim() == "none" {
            return Ok(Self::None);
        }
        let value = |part: &str| {
            let part = part.trim();
            match part {
                "NaN" | "Infinity" | "-Infinity" => Ok(Value::from(part)),
                _ => Value::parse(part)
                    .ok()
                    .filter(|value| value.kind() == ValueKind::Number)
                    .ok_or_else(|| format!("{part:?} is not a number; `none` stands for no missing values")),
            }
        };
        text.split(',').map(value).collect::<Result<_, _>>().map(Self::Values)
    }
}
