//! `plate` and `well`: the images of a screening.

use zarr_meta::json::Object;

use super::{OmeGroup, OmeVersion, Report, integer_of, is_alphanumeric, objects, text, twice};
use crate::finding::FindingCode;
use crate::profile::rules::{
    Rule, are, is_count, is_integer, is_object, is_positive, is_text, judge, may, must, should,
};

const PLATE: &[Rule] = &[
    should("name", "a text", is_text),
    may("acquisitions", "a list of objects", |value| are(value, is_object)),
    may("field_count", "an integer of 1 or more", is_positive),
];

const ACQUISITION: &[Rule] = &[
    must("id", "an integer of 0 or more", is_count),
    should("name", "a text", is_text),
    should("maximumfieldcount", "an integer of 1 or more", is_positive),
    may("description", "a text", is_text),
    may("starttime", "an integer of 0 or more", is_count),
    may("endtime", "an integer of 0 or more", is_count),
];

const IMAGE: &[Rule] = &[may("acquisition", "an integer", is_integer)];

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
    let paths: Vec<String> = wells.iter().filter_map(|well| text(well, "path")).collect();
    if let Some(path) = twice(&paths) {
        wrong(format!("the well {path:?} occurs twice"));
    }
    for entry in &wells {
        let Some(path) = text(entry, "path") else {
            wrong(format!("the well {} has no path", entry.to_value().to_compact()));
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
    let acquisitions = objects(&plate, "acquisitions").unwrap_or_default();
    let ids: Vec<String> =
        acquisitions.iter().filter_map(|of| integer_of(of, "id").map(|id| id.to_string())).collect();
    if let Some(id) = twice(&ids) {
        wrong(format!("two acquisitions have the id {id}"));
    }
    for acquisition in &acquisitions {
        judge(acquisition, ACQUISITION, |severity, message| {
            group.teller(report, FindingCode::OmePlate)(severity, format!("an acquisition: {message}"));
        });
    }
    judge(&plate, PLATE, group.teller(report, FindingCode::OmePlate));
}

/// Returns the names of rows or columns, which are different letters and digits.
fn names(plate: &Object, list: &str, wrong: &mut impl FnMut(String)) -> Vec<String> {
    let Some(entries) = objects(plate, list).filter(|entries| !entries.is_empty()) else {
        wrong(format!("{list} is absent, empty, or not a list of objects"));
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
    let Some(images) = images.filter(|images| !images.is_empty()) else {
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
        judge(image, IMAGE, |_, message| wrong(format!("an image: {message}")));
        let (is_path, what) = match group.version {
            OmeVersion::V04 | OmeVersion::V05 => (is_alphanumeric as fn(&str) -> bool, "letters and digits"),
            _ => (is_node_name as fn(&str) -> bool, "a name of letters, digits, and -_."),
        };
        let Some(path) = text(image, "path").filter(|path| is_path(path)) else {
            wrong(format!("the path of the image {} is not {what}", image.to_value().to_compact()));
            continue;
        };
        if group.at(&path).is_none_or(|image| !image.members.contains("multiscales")) {
            wrong(format!("{path:?} is not an image"));
        }
        match integer_of(image, "acquisition") {
            Some(id) if !acquisitions.is_empty() && !acquisitions.contains(&id) => {
                wrong(format!("the acquisition {id} of {path:?} is not one of the plate"));
            }
            None if acquisitions.len() > 1 && !image.contains("acquisition") => {
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

/// Whether a name is one of a node that every store can have.
fn is_node_name(name: &str) -> bool {
    let is_usual = |c: char| c.is_ascii_alphanumeric() || ['-', '_', '.'].contains(&c);
    name.chars().all(is_usual) && name.chars().any(|c| c != '.') && !name.starts_with("__")
}
