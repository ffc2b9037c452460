//! `numpy.datetime64` and `numpy.timedelta64`: times and durations as 64-bit counts of steps.
//!
//! | member | value |
//! |---|---|
//! | `unit` | one of `Y M W D h m s ms us ns ps fs as generic`; `μs` is `us` |
//! | `scale_factor` | units in a step, from 1 to 2147483647 |
//!
//! Both members are required and no others are permitted. A time counts the steps since the start of 1970 (UTC). The
//! smallest integer means "not a time" and is `"NaT"` in JSON.

use std::sync::Arc;

use crate::json::{Object, Value};
use zarr_traits::extension::{Configuration, Context, DataTypeEntry, Entry};
use zarr_traits::{CodecError, CodecResult, ExtensionType, FillValue, Layout};

use super::{not_an_element, unexpected};

/// The entry of `numpy.datetime64` in a registry.
pub(super) const DATETIME: Entry =
    Entry::DataType(DataTypeEntry::new("numpy.datetime64", |configuration, _: &Context<'_>| {
        open("numpy.datetime64", configuration)
    }));

/// The entry of `numpy.timedelta64` in a registry.
pub(super) const TIMEDELTA: Entry =
    Entry::DataType(DataTypeEntry::new("numpy.timedelta64", |configuration, _: &Context<'_>| {
        open("numpy.timedelta64", configuration)
    }));

const UNITS: [&str; 14] = ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as", "generic"];
const NOT_A_TIME: i64 = i64::MIN;

#[derive(Debug)]
struct Time {
    name: &'static str,
    unit: &'static str,
    scale_factor: i64,
}

fn open(name: &'static str, configuration: &mut Configuration<'_>) -> CodecResult<Arc<dyn ExtensionType>> {
    let wrong = |message: String| CodecError::configuration(message).at("/configuration/unit");
    let given = configuration.optional_string("unit")?.ok_or_else(|| wrong("unit is missing".to_owned()))?;
    let spelled = match &*given {
        // The letter mu, which is registered, and the micro sign, which looks the same.
        "\u{3bc}s" => "us",
        "\u{b5}s" => {
            configuration.note("unit", "unit is written with the micro sign U+00B5, read as \"us\"");
            "us"
        }
        other => other,
    };
    let unit = UNITS.into_iter().find(|unit| *unit == spelled);
    let unit = unit.ok_or_else(|| {
        let shown: String = given.chars().take(20).collect();
        wrong(format!("unit is {shown:?}, it must be one of {}", UNITS.join(", ")))
    })?;
    let scale_factor = configuration.integer("scale_factor", 1..=i64::from(i32::MAX))?;
    configuration.no_more()?;
    Ok(Arc::new(Time { name, unit, scale_factor }))
}

impl ExtensionType for Time {
    fn name(&self) -> &str {
        self.name
    }

    fn configuration(&self) -> Object {
        Object::from_iter([("unit", Value::from(self.unit)), ("scale_factor", self.scale_factor.into())])
    }

    fn layout(&self) -> Layout {
        Layout::Fixed { size: 8, unit: 8 }
    }

    fn fill_from_json(&self, value: &Value) -> CodecResult<FillValue> {
        let steps = if value == "NaT" { Some(NOT_A_TIME) } else { value.as_i64() };
        steps.map(FillValue::of).ok_or_else(|| unexpected("an integer of 64 bits or \"NaT\"", value))
    }

    fn fill_to_json(&self, fill: &FillValue) -> CodecResult<Value> {
        let bytes = fill.bytes().try_into().map_err(|_| not_an_element("an element has 8 bytes"))?;
        Ok(match i64::from_ne_bytes(bytes) {
            NOT_A_TIME => "NaT".into(),
            steps => steps.into(),
        })
    }
}
