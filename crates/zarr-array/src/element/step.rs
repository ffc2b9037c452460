//! The steps in which times and spans of time are counted.
//!
//! A step is `scale_factor` times `unit`. Its length is given in attoseconds, the finest unit; 128 bits of them cover
//! more than any time type of a library. Steps of years and months are given in months, because they have no fixed
//! length.

use zarr_traits::DataType;

use super::is_named;
use crate::error::{ArrayError, ArrayResult};

pub(crate) const DATETIME: &str = "numpy.datetime64";
pub(crate) const TIMEDELTA: &str = "numpy.timedelta64";

pub(crate) const SECOND: i128 = 1_000_000_000_000_000_000;

/// The unit in which times are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Month,
    Attosecond,
}

/// The step of an array of times.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) unit: Unit,
    /// The length of a step in that unit.
    pub(crate) length: i128,
    /// The step as messages show it.
    pub(crate) shown: String,
}

impl Step {
    /// Returns the step of `data_type` if that is the extension `name`.
    pub(crate) fn of(data_type: &DataType, name: &str) -> ArrayResult<Option<Self>> {
        let DataType::Extension(extension) = data_type else { return Ok(None) };
        if !is_named(data_type, &[name]) {
            return Ok(None);
        }
        let configuration = extension.configuration();
        let unit = configuration.get("unit").and_then(|unit| unit.as_text());
        let unit = unit.as_deref().unwrap_or("generic");
        let scale = configuration.get("scale_factor").and_then(|scale| scale.as_i64());
        let scale = scale.and_then(|scale| i32::try_from(scale).ok()).filter(|scale| *scale > 0);
        let no_length = |reason: String| {
            ArrayError::invalid(format!("a step of this {name} has no length, {reason}: read i64"))
        };
        let scale = scale.ok_or_else(|| no_length("its scale_factor is missing or invalid".to_owned()))?;
        let (unit_length, of) = match unit {
            "Y" => (12, Unit::Month),
            "M" => (1, Unit::Month),
            "W" => (7 * 86_400 * SECOND, Unit::Attosecond),
            "D" => (86_400 * SECOND, Unit::Attosecond),
            "h" => (3600 * SECOND, Unit::Attosecond),
            "m" => (60 * SECOND, Unit::Attosecond),
            "s" => (SECOND, Unit::Attosecond),
            "ms" => (SECOND / 1000, Unit::Attosecond),
            "us" => (SECOND / 1_000_000, Unit::Attosecond),
            "ns" => (SECOND / 1_000_000_000, Unit::Attosecond),
            "ps" => (SECOND / 1_000_000_000_000, Unit::Attosecond),
            "fs" => (SECOND / 1_000_000_000_000_000, Unit::Attosecond),
            "as" => (1, Unit::Attosecond),
            _ => return Err(no_length(format!("its unit is {unit:?}"))),
        };
        let shown = format!("{scale} {unit}");
        Ok(Some(Self { unit: of, length: unit_length * i128::from(scale), shown }))
    }
}
