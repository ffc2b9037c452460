//! The options of a row, as options of this crate.

use serde_json::Value;
use zarr_hierarchy::zarr_array::standard;
use zarr_hierarchy::{Group, GroupOptions, UseConsolidated};
use zarr_xarray::{CoordinateNames, DecodeOptions, FillIsMissing, SpanDecoding, TimeUnit, XarrayResult};

use crate::datasets::store::store;

/// Opens the group of a row.
pub(crate) async fn open(row: &Value) -> XarrayResult<Group> {
    let options = &row["options"];
    let consolidated = match options["consolidated"].as_bool() {
        None => UseConsolidated::IfPresent,
        Some(true) => UseConsolidated::Require,
        Some(false) => UseConsolidated::Ignore,
    };
    let storage = store(row["store"].as_str().unwrap());
    let how = GroupOptions::new().use_consolidated(consolidated);
    let root = Group::open_with(storage, "/", &standard(), &how).await?;
    match row.get("group").or(options.get("group")).and_then(Value::as_str) {
        Some(path) => Ok(root.group(path).await?),
        None => Ok(root),
    }
}

pub(crate) fn decoding(row: &Value) -> DecodeOptions {
    let mut decoding = DecodeOptions::default();
    for (name, value) in row["options"].as_object().into_iter().flatten() {
        match (name.as_str(), value) {
            ("decode_coords", Value::String(_)) => decoding.coordinates = CoordinateNames::All,
            ("decode_times", Value::Bool(false)) => decoding.times = None,
            ("decode_times", value) => {
                decoding.times = Some(value.get("time_unit").map_or(TimeUnit::Nanoseconds, unit));
            }
            ("decode_timedelta", Value::Bool(false)) => decoding.spans = SpanDecoding::Off,
            ("decode_timedelta", value) => {
                let unit = value.get("time_unit").map_or(TimeUnit::Nanoseconds, unit);
                decoding.spans = SpanDecoding::ByUnits(unit);
            }
            ("drop_variables", names) => {
                let names = names.as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned());
                decoding.dropped = names.collect();
            }
            ("mask_and_scale", value) => decoding.mask_and_scale = value.as_bool().unwrap(),
            ("use_zarr_fill_value_as_mask", Value::Bool(true)) => {
                decoding.fill_is_missing = FillIsMissing::Always;
            }
            ("concat_characters", value) => decoding.texts = value.as_bool().unwrap(),
            ("consolidated" | "group", _) => {}
            (name, value) => panic!("unknown option {name}: {value}"),
        }
    }
    decoding
}

fn unit(name: &Value) -> TimeUnit {
    TimeUnit::ALL.into_iter().find(|unit| unit.name() == name.as_str().unwrap()).unwrap()
}
