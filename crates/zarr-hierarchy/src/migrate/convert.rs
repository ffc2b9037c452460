//! Converts one node from an older format to format 3.

use zarr_array::meta::path::{ListedName, listed};
use zarr_array::meta::{NodeMeta, xarray};
use zarr_array::{ArrayErrorKind, ArrayMeta, Format};

use super::MigrateOptions;
use super::survey::Place;
use crate::error::HierarchyError;

/// The node in format 3 with notes about tolerated deviations and changed meanings; or the reasons why it cannot be
/// converted.
pub(super) type Converted = Result<(NodeMeta, Vec<String>), Vec<HierarchyError>>;

/// Converts the node that the older documents make. Returns `None` if they make no node.
pub(super) fn convert(place: &Place, options: &MigrateOptions) -> Option<Converted> {
    let (node, tolerated) = match place.node(place.old, &options.limits) {
        Ok(found) => found?,
        Err(e) => return Some(Err(vec![e.into()])),
    };
    let mut notes: Vec<String> = tolerated.iter().map(ToString::to_string).collect();
    let converted = match &node {
        NodeMeta::Group(group) => {
            group.to_format(Format::V3).map(NodeMeta::Group).map_err(|e| vec![e.into()])
        }
        NodeMeta::Array(meta) => array(meta, options, &mut notes),
    };
    let name = place.prefix.as_str().trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    match if name.is_empty() { ListedName::Node } else { listed(name) } {
        ListedName::Node => {}
        ListedName::Odd(note) => notes.push(note.to_string()),
        _ => {
            let mut all = vec![unsupported("format 3 does not allow this name for a node")];
            all.extend(converted.err().into_iter().flatten());
            return Some(Err(all));
        }
    }
    Some(converted.map(|node| (node, notes)))
}

fn array(
    array: &ArrayMeta,
    options: &MigrateOptions,
    notes: &mut Vec<String>,
) -> Result<NodeMeta, Vec<HierarchyError>> {
    let mut converted = array.to_v3(options.keep_dimensions).map_err(|e| {
        // The error holds the first obstacle already.
        let others = array.v3_obstacles().iter().skip(1).map(|obstacle| unsupported(obstacle));
        [e.into()].into_iter().chain(others).collect::<Vec<_>>()
    })?;
    let missing = xarray::missing_value(array).filter(|_| options.fill_attribute);
    if let Some(missing) = missing {
        let data_type = converted.document().data_type().clone();
        match xarray::fill_value_attribute(&data_type, &missing) {
            Some(attribute) => {
                let set = converted.edit_attributes(|all| all.set(xarray::FILL_VALUE, attribute));
                set.map_err(|e| vec![e.into()])?;
            }
            None => notes.push(format!(
                "elements equal to the fill value will not be missing values to xarray, which has no mask for {}",
                data_type.name()
            )),
        }
    }
    Ok(NodeMeta::Array(converted))
}

fn unsupported(message: &str) -> HierarchyError {
    HierarchyError::new(ArrayErrorKind::Unsupported, message)
}
