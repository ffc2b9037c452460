//! `plate` and `well`: the images of a screening.

use zarr_meta::json::Object;

use super::{OmeGroup, Report, integer_of, is_alphanumeric, objects, text, twice};
use crate::finding::FindingCode;

pub(super) fn check(group: &OmeGroup<'_>, report: &mut Report<'_>) {
    if group.members.contains("plate") {
        plate(group, report);
    }
    if group.members.contains("well") {
        well(group, report);
    }
}

fn plate(group: &OmeGroup<'_>, report: &mut Report<'_>) {
    let mut wrong = |message: String| group.error(report, FindingCode::OmePlate, message);
    let Some(plate) = group.object("plate") else { return wrong("plate is not an object".to_owned()) };
    let rows = names(&plate, "rows", &mut wrong);
    let columns = names(&plate, "columns", &mut wrong);
    let Some(wells) = objects(&plate, "wells") else {
        return wrong("wells is absent, or not a list of objects".to_owned());
    };
    for entry in &wells {
        let Some(path) = text(entry, "path") else {
            wrong(format!("the well {} has no path", entry.to_value()));
            continue;
        };
        let name = |list: &[String], index: &str| {
            list.get(usize::try_from(integer_of(entry, index)?).ok()?).cloned()
        };
        let place = name(&rows, "rowIndex").zip(name(&columns, "columnIndex"));
        if place.map(|(row, column)| format!("{row}/{column}")).as_ref() != Some(&path) {
            wrong(format!("the well {path:?} is not the row and the column of rowIndex and columnIndex"));
        }
        if group.at(&path).is_none_or(|well| !well.members.contains("well")) {
            wrong(format!("the well {path:?} is not a group with the member well"));
        }
    }
    if let Some(value) = plate.get("acquisitions") {
        let ids: Option<Vec<String>> = objects(&plate, "acquisitions").and_then(|list| {
            let id = |entry: &Object| integer_of(entry, "id").filter(|id| *id >= 0).map(|id| id.to_string());
            list.iter().map(id).collect()
        });
        if ids.as_ref().is_none_or(|ids| twice(ids).is_some()) {
            wrong(format!("the acquisitions {value} have no different ids of 0 or more"));
        }
    }
    let count = plate.get("field_count");
    if count.is_some() && integer_of(&plate, "field_count").is_none_or(|count| count < 1) {
        wrong("field_count is not an integer of 1 or more".to_owned());
    }
    if !group.is_v05 && text(&plate, "version").is_none() {
        wrong("plate has no version".to_owned());
    }
}

/// Returns the names of rows or columns, which are different letters and digits.
fn names(plate: &Object, list: &str, wrong: &mut impl FnMut(String)) -> Vec<String> {
    let Some(entries) = objects(plate, list) else {
        wrong(format!("{list} is absent, or not a list of objects"));
        return Vec::new();
    };
    let names: Vec<String> = entries.iter().map(|entry| text(entry, "name").unwrap_or_default()).collect();
    if let Some(name) = names.iter().find(|name| !is_alphanumeric(name)) {
        wrong(format!("the name {name:?} in {list} is not letters and digits"));
    }
    if let Some(name) = twice(&names) {
        wrong(format!("{list} has the name {name:?} twice"));
    }
    names
}

fn well(group: &OmeGroup<'_>, report: &mut Report<'_>) {
    let mut wrong = |message: String| group.error(report, FindingCode::OmeWell, message);
    let images = group.object("well").and_then(|well| objects(&well, "images"));
    let Some(images) = images else {
        return wrong("well has no list of images".to_owned());
    };
    let plate = group.at("../..").and_then(|plate| plate.object("plate"));
    let acquisitions: Vec<i128> = plate
        .and_then(|plate| objects(&plate, "acquisitions"))
        .into_iter()
        .flatten()
        .filter_map(|entry| integer_of(&entry, "id"))
        .collect();
    let mut paths = Vec::new();
    for image in &images {
        let Some(path) = text(image, "path").filter(|path| is_alphanumeric(path)) else {
            wrong(format!("the path of the image {} is not letters and digits", image.to_value()));
            continue;
        };
        if group.at(&path).is_none_or(|image| !image.members.contains("multiscales")) {
            wrong(format!("{path:?} is not an image"));
        }
        match integer_of(image, "acquisition") {
            Some(id) if !acquisitions.is_empty() && !acquisitions.contains(&id) => {
                wrong(format!("the acquisition {id} of {path:?} is not one of the plate"));
            }
            None if acquisitions.len() > 1 => {
                wrong(format!("{path:?} names no acquisition, and the plate has several"));
            }
            _ => {}
        }
        paths.push(path);
    }
    if let Some(path) = twice(&paths) {
        wrong(format!("the path {path:?} occurs twice"));
    }
}
