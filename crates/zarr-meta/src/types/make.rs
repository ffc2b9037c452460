//! Data types beyond the core, by their usual names.

use crate::json::{Value, json};
use zarr_traits::extension::{Context, Spec};
use zarr_traits::{DataType, Limits, Registry};

use crate::error::{MetaError, MetaResult};

/// Returns the data type of format 3 with this name and configuration, a core type or one of
/// [`DATA_TYPES`](super::DATA_TYPES).
///
/// ```
/// use zarr_meta::json;
/// use zarr_meta::types;
///
/// assert_eq!(types::named("bfloat16", json!({}))?.size(), Some(2));
/// assert!(types::named("float15", json!({})).is_err());
/// # Ok::<(), zarr_meta::MetaError>(())
/// ```
///
/// # Errors
/// When the name is not known, or the configuration does not fit it.
pub fn named(name: &str, configuration: Value) -> MetaResult<DataType> {
    let refused = |e| MetaError::argument(format!("the data type {name:?} cannot be used")).with_source(e);
    let registry = Registry::core().overriding(super::DATA_TYPES);
    let limits = Limits::default();
    let spec = Spec::new(name, configuration).map_err(refused)?;
    let built = registry.data_type(&spec, &Context::new(&registry, &limits));
    built.map(|(data_type, _)| data_type).map_err(refused)
}

/// Returns `numpy.datetime64`: times as steps since the start of 1970. `step` is a unit (`s`, `ms`, `us`, `ns`, `D`, …),
/// or a number of them.
///
/// ```
/// use zarr_meta::types::datetime64;
///
/// assert_eq!(datetime64("ms")?.name(), "numpy.datetime64");
/// assert!(datetime64("15m").is_ok() && datetime64("fortnight").is_err());
/// # Ok::<(), zarr_meta::MetaError>(())
/// ```
///
/// # Errors
/// When there is no such unit.
pub fn datetime64(step: &str) -> MetaResult<DataType> {
    numpy_time("numpy.datetime64", step)
}

/// Returns `numpy.timedelta64`: durations as steps. `step` is that of [`datetime64`].
///
/// # Errors
/// When there is no such unit.
pub fn timedelta64(step: &str) -> MetaResult<DataType> {
    numpy_time("numpy.timedelta64", step)
}

fn numpy_time(name: &str, step: &str) -> MetaResult<DataType> {
    let unit = step.trim_start_matches(|c: char| c.is_ascii_digit());
    let factor = match &step[..step.len() - unit.len()] {
        "" => json!(1),
        digits => json!(digits.parse::<i64>().ok()),
    };
    named(name, json!({ "unit": unit, "scale_factor": factor }))
}

/// Returns `fixed_length_utf32`: text of up to `length` code points.
///
/// # Errors
/// When `length` is 0 or too large.
pub fn fixed_length_utf32(length: u32) -> MetaResult<DataType> {
    named("fixed_length_utf32", json!({ "length_bytes": u64::from(length) * 4 }))
}

/// Returns `null_terminated_bytes`: up to `length` bytes.
///
/// # Errors
/// When `length` is 0 or too large.
pub fn null_terminated_bytes(length: u32) -> MetaResult<DataType> {
    named("null_terminated_bytes", json!({ "length_bytes": length }))
}

/// Returns `struct`: named fields of types of fixed size.
///
/// ```
/// use zarr_meta::{DataType, types};
///
/// let station = types::structure([("lat", DataType::Float32), ("lon", DataType::Float32), ("id", DataType::UInt64)])?;
/// assert_eq!(station.size(), Some(16));
/// # Ok::<(), zarr_meta::MetaError>(())
/// ```
///
/// # Errors
/// When a name is empty or occurs twice, or a field has a variable size.
pub fn structure<N: Into<String>>(fields: impl IntoIterator<Item = (N, DataType)>) -> MetaResult<DataType> {
    let fields = fields
        .into_iter()
        .map(|(name, data_type)| json!({ "name": name.into(), "data_type": json_of(&data_type) }));
    named("struct", json!({ "fields": fields.collect::<Vec<_>>() }))
}

/// Returns a data type as a document has it: its name, or an object with its configuration.
fn json_of(data_type: &DataType) -> Value {
    match data_type {
        DataType::Extension(t) if !t.configuration().is_empty() => {
            json!({ "name": t.name(), "configuration": t.configuration() })
        }
        other => Value::from(&*other.name()),
    }
}
