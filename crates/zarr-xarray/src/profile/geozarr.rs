//! The checks of GeoZarr: the registered conventions `proj` and `spatial`.
//!
//! Specification: [proj](https://github.com/zarr-conventions/proj) and
//! [spatial](https://github.com/zarr-conventions/spatial), version 1.

use zarr_meta::json::{Object, Value};

use super::{Geozarr, Group, Report, text};
use crate::attribute::number;
use crate::finding::FindingCode;

const PROJ: &str = "f17cb550-5864-4468-aeb7-f3180cfb622f";
const SPATIAL: &str = "689b58e2-cf7b-45e0-9fff-9cfc0883d6b4";

/// The members of `spatial:` that are lists of numbers, and the lengths that they may have in two and three dimensions.
const LISTS: [(&str, [usize; 2]); 3] =
    [("spatial:bbox", [4, 6]), ("spatial:transform", [6, 9]), ("spatial:shape", [2, 3])];

pub(super) fn check(group: &Group<'_>, report: &mut Report<'_>) {
    let dimensions: Vec<String> = group.arrays.iter().flat_map(|array| array.names().to_vec()).collect();
    node(group.path, &group.attributes, &dimensions, report);
    for array in &group.arrays {
        node(&array.path, &array.attributes, array.names(), report);
    }
}

/// Checks the conventions of a node, whose `spatial:dimensions` must be among `dimensions`.
fn node(path: &str, attributes: &Object, dimensions: &[String], report: &mut Report<'_>) {
    let mut wrong = |message: String| report.error(&[Geozarr], path, FindingCode::GeozarrForm, message);
    let Some(list) = attributes.get("zarr_conventions") else { return };
    let Some(entries) = list.elements() else {
        return wrong(format!("zarr_conventions is {list}, not a list"));
    };
    let mut known = Vec::new();
    for entry in entries {
        match entry.as_object().and_then(|entry| text(&entry, "uuid")) {
            Some(uuid) => known.push(uuid),
            None => wrong(format!("the entry {entry} of zarr_conventions has no uuid")),
        }
    }
    let has = |uuid: &str| known.iter().any(|known| known == uuid);
    if has(PROJ)
        && !["proj:code", "proj:wkt2", "proj:projjson"].into_iter().any(|name| attributes.contains(name))
    {
        wrong("proj:code, proj:wkt2 and proj:projjson are all absent".to_owned());
    }
    if has(SPATIAL) {
        spatial(attributes, dimensions, &mut wrong);
    }
}

fn spatial(attributes: &Object, dimensions: &[String], wrong: &mut impl FnMut(String)) {
    let names = attributes.get("spatial:dimensions");
    let listed: Option<Vec<String>> = names.as_ref().and_then(|names| {
        names.elements()?.map(|name| name.to_text().ok().map(|name| name.into_owned())).collect()
    });
    let rank = match (names, listed) {
        (None, _) => return wrong("spatial:dimensions is absent".to_owned()),
        (Some(_), Some(listed)) if (2..=3).contains(&listed.len()) => {
            for name in listed.iter().filter(|name| !dimensions.contains(name)) {
                wrong(format!("spatial:dimensions names {name:?}, which is not a dimension"));
            }
            listed.len()
        }
        (Some(names), _) => return wrong(format!("spatial:dimensions is {names}, not two or three names")),
    };
    for (name, lengths) in LISTS {
        let Some(value) = attributes.get(name) else { continue };
        let numbers =
            |value: &Value| value.elements()?.map(|element| number(&element)).collect::<Option<Vec<_>>>();
        let wanted = lengths[rank - 2];
        if numbers(&value).is_none_or(|numbers| numbers.len() != wanted) {
            wrong(format!("{name} is {value}, not {wanted} numbers"));
        }
    }
}
