//! Attributes that name other variables.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use zarr_meta::{ArrayMeta, DataType};
use zarr_xarray::{CoordinateNames, DatasetPlan, DecodeOptions, FindingCode};

use crate::vectors::tally::{Verdict, check_rows, equal, json_of, table};

#[test]
fn related_variables_are_those_that_xarray_finds() {
    let document = table("related.json");
    let known: Vec<&str> =
        document["variables"].as_array().unwrap().iter().map(|n| n.as_str().unwrap()).collect();
    check_rows("related.json", &[(Verdict::Same, 16)], |row, _| {
        let attribute = row["attribute"].as_str().unwrap();
        let array = |attributes: Value| {
            ArrayMeta::builder([], DataType::Int8)
                .chunks([])
                .attributes(json_of(&attributes))
                .build()
                .unwrap()
        };
        let mut arrays: BTreeMap<&str, ArrayMeta> =
            known.iter().map(|name| (*name, array(json!({})))).collect();
        arrays.insert("variable", array(json!({ attribute: row["text"] })));
        let mut options = DecodeOptions::default();
        options.coordinates = CoordinateNames::All;
        let plan =
            DatasetPlan::new(Default::default(), arrays.iter().map(|(name, array)| (*name, array)), &options);
        let plan = plan.map_err(|error| format!("{error:#}"))?;
        let variable = plan.variables["variable"].as_ref().unwrap();
        let found = json!({
            "coordinates": plan.coordinates,
            "attribute_stays": variable.attributes.contains(attribute),
            "kept_in_encoding": variable.encoding.contains(attribute),
        });
        equal(&found, &row["result"])?;
        let is_reported =
            plan.findings.iter().any(|(_, finding)| finding.code == FindingCode::ReferencedNames);
        equal(&is_reported, &row.get("warnings").is_some())
    });
}
