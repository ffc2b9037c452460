//! The checks of a group: lengths of dimensions, names, the attribute `Conventions`, consolidated metadata.

use std::collections::BTreeMap;

use super::registered::is_multiscales;
use super::{Array, Cf, Geozarr, Group, Hierarchy, LABELLED, Nz, Profile, Report, Xarray, above, text};
use crate::finding::FindingCode;

/// The length of each dimension, by the path of its group.
type Lengths<'a> = BTreeMap<&'a str, BTreeMap<String, u64>>;

/// The checks of the root of the hierarchy.
pub(super) fn root(hierarchy: &Hierarchy, groups: &[Group<'_>], report: &mut Report<'_>) {
    let Some(root) = groups.first() else { return };
    conventions(root, report);
    if !hierarchy.is_consolidated && hierarchy.nodes.len() > 1 {
        let message = "there is no consolidated metadata, so opening reads every document";
        report.warning(&[Xarray], root.path, FindingCode::SlowOpen, message);
    }
}

/// The checks of a group. `known` has the lengths of the dimensions of all groups.
pub(super) fn check(group: &Group<'_>, known: &Lengths<'_>, report: &mut Report<'_>) {
    // Arrays can be the levels of a layout, which are no dataset.
    let has_levels = is_multiscales(&group.attributes);
    let of_dataset: &[Profile] = if has_levels { &[Xarray, Cf, Nz] } else { LABELLED };
    match group.lengths() {
        Err(error) => report.error(of_dataset, group.path, FindingCode::TwoLengths, format!("{error:#}")),
        Ok(own) => {
            let is_scalar = |array: &&Array<'_>| array.dimensions.is_ok() && array.names().is_empty();
            for scalar in group.arrays.iter().filter(is_scalar).filter(|scalar| own.contains_key(scalar.name))
            {
                let message = "a scalar has the name of a dimension";
                report.error(LABELLED, &scalar.path, FindingCode::TwoLengths, message);
            }
            aligned(group, &own, known, report);
        }
    }
    let mut folded: BTreeMap<String, &str> = BTreeMap::new();
    for array in &group.arrays {
        if let Some(other) = folded.insert(array.name.to_lowercase(), array.name) {
            let message = format!("the names {other:?} and {:?} differ only in case", array.name);
            report.warning(&[Cf, Nz, Xarray], &array.path, FindingCode::OddName, message);
        }
        if let Some(count) = chunks(array).filter(|count| array.is_index() && *count > 1) {
            let message =
                format!("the coordinate has {count} chunks; xarray reads all of them to open the dataset");
            report.warning(&[Xarray], &array.path, FindingCode::SlowOpen, message);
        }
    }
}

/// Dimensions with the name of one in a group above have its length.
fn aligned(group: &Group<'_>, own: &BTreeMap<String, u64>, known: &Lengths<'_>, report: &mut Report<'_>) {
    for up in above(group.path) {
        for (name, length) in own {
            let other = known.get(up).and_then(|lengths| lengths.get(name)).filter(|other| *other != length);
            if let Some(other) = other {
                let message =
                    format!("dimension {name:?} has length {length}, and {other} in the group {up:?}");
                report.error(&[Xarray], group.path, FindingCode::Unaligned, message);
            }
        }
    }
}

/// The number of chunks along the only dimension.
fn chunks(array: &Array<'_>) -> Option<u64> {
    let ([length], grid) = (array.meta.shape(), array.meta.document().chunk_grid()) else { return None };
    let shape = grid.configuration().get("chunk_shape")?.elements()?.next()?;
    let chunk: u64 = shape.as_number()?.to_integer()?.try_into().ok()?;
    length.checked_add(chunk.checked_sub(1)?)?.checked_div(chunk)
}

/// The attribute `Conventions` names the conventions.
fn conventions(root: &Group<'_>, report: &mut Report<'_>) {
    let attribute = ["Conventions", "conventions"].into_iter().find(|name| root.attributes.contains(name));
    let named = attribute.and_then(|name| root.attributes.get(name));
    let words: Vec<String> = match &named {
        None => Vec::new(),
        Some(value) => {
            let texts = value.elements().map_or_else(|| vec![value.clone()], Iterator::collect);
            let words = texts.iter().filter_map(|text| text.to_text().ok());
            words.flat_map(|text| text.split([' ', ',']).map(str::to_owned).collect::<Vec<_>>()).collect()
        }
    };
    let registered = root.attributes.get("zarr_conventions");
    let registered: Vec<String> = registered
        .and_then(|list| list.elements())
        .into_iter()
        .flatten()
        .filter_map(|entry| text(&entry.as_object()?, "name"))
        .collect();
    let has = |start: &str| words.iter().chain(&registered).any(|word| word.starts_with(start));
    let shown = named.map_or_else(|| "absent".to_owned(), |value| value.to_string());
    for (profile, start) in [(Cf, "CF"), (Nz, "NZ-")] {
        if !has(start) {
            let message = format!("Conventions is {shown}, and names no version of {start}");
            report.error(&[profile], root.path, FindingCode::ConventionsName, message);
        }
    }
    if attribute.is_none() && registered.is_empty() {
        let message = "neither Conventions nor zarr_conventions is there";
        report.warning(&[Xarray, Geozarr], root.path, FindingCode::ConventionsName, message);
    }
}
