//! `labels` and `image-label`: images of integers that mark parts of another image.

use zarr_meta::NodeMeta;
use zarr_meta::json::Value;

use super::{OmeGroup, OmeVersion, Report, integer_of, objects, text};
use crate::finding::FindingCode;
use crate::number::{self, NumberType};
use crate::profile::rules::{Rule, are, has_length, is_integer, is_text, judge, may, must, should};

pub(super) fn check(group: &OmeGroup<'_>, report: &mut Report<'_>) {
    if let Some(value) = group.members.get("labels") {
        let paths: Option<Vec<String>> = value
            .elements()
            .and_then(|list| list.map(|path| path.to_text().ok().map(|path| path.into_owned())).collect());
        match paths {
            Some(paths) => paths.iter().for_each(|path| listed(group, path, report)),
            None => {
                group.error(report, FindingCode::OmeLabels, format!("labels is {value}, not a list of paths"))
            }
        }
    }
    if group.members.contains("image-label") {
        label(group, report);
    }
}

/// A listed image of labels has integers, and as many resolutions as its image.
fn listed(group: &OmeGroup<'_>, path: &str, report: &mut Report<'_>) {
    let labels = group.at(path).filter(|labels| labels.members.contains("multiscales"));
    let Some(labels) = labels else {
        return group.error(report, FindingCode::OmeLabels, format!("the listed {path:?} is not an image"));
    };
    let datasets = labels.datasets();
    for dataset in &datasets {
        let array = text(dataset, "path").and_then(|path| group.hierarchy.at(labels.path, &path));
        let Some((_, NodeMeta::Array(array))) = array else { continue };
        let data_type = array.document().data_type();
        let number = zarr_meta::DataType::core(data_type.name()).as_ref().and_then(number::of);
        if !number.is_some_and(NumberType::is_integer) {
            let message = format!("the labels {path:?} have the data type {data_type}, not an integer");
            group.error(report, FindingCode::OmeLabels, message);
        }
    }
    let Some(image) = group.at("..").filter(|image| image.members.contains("multiscales")) else { return };
    let (own, of_image) = (datasets.len(), image.datasets().len());
    if own != of_image {
        let message = format!("the labels {path:?} have {own} resolutions, and the image has {of_image}");
        group.error(report, FindingCode::OmeLabels, message);
    }
}

const COLOR: &[Rule] =
    &[must("label-value", "an integer", is_integer), may("rgba", "four integers from 0 to 255", is_color)];

const PROPERTY: &[Rule] = &[must("label-value", "an integer", is_integer)];

const LABEL: &[Rule] = &[should("colors", "a list", |value| value.elements().is_some())];

/// In 0.4 the version is inside.
const LABEL_04: &[Rule] = &[should("version", "a text", is_text)];

/// The colors and properties of labels.
fn label(group: &OmeGroup<'_>, report: &mut Report<'_>) {
    let Some(label) = group.object("image-label") else {
        return group.error(report, FindingCode::OmeLabels, "image-label is not an object");
    };
    judge(&label, LABEL, group.teller(report, FindingCode::OmeLabels));
    if group.version == OmeVersion::V04 {
        judge(&label, LABEL_04, group.teller(report, FindingCode::OmeLabels));
    }
    let mut wrong = |message: String| group.error(report, FindingCode::OmeLabels, message);
    if !group.members.contains("multiscales") {
        wrong("image-label describes an image, and there is none".to_owned());
    }
    for (name, rules) in [("colors", COLOR), ("properties", PROPERTY)] {
        let Some(value) = label.get(name) else { continue };
        let Some(list) = objects(&label, name).filter(|list| !list.is_empty()) else {
            wrong(format!("{name} is {value}, not a list of one or more objects"));
            continue;
        };
        let mut seen = Vec::new();
        for entry in &list {
            judge(entry, rules, |_, message| wrong(format!("an entry of {name}: {message}")));
            if let Some(value) = integer_of(entry, "label-value") {
                if seen.contains(&value) {
                    wrong(format!("{name} has the label {value} twice"));
                }
                seen.push(value);
            }
        }
    }
    if let Some(source) = label.get("source") {
        let image = source.as_object().map(|source| text(&source, "image").unwrap_or("../../".to_owned()));
        match image {
            None => wrong(format!("source is {source}, not an object")),
            Some(image) if !group.hierarchy.has_group(group.path, &image) => {
                group.warning(
                    report,
                    FindingCode::OmeLabels,
                    format!("the source image {image:?} is not there"),
                );
            }
            Some(_) => {}
        }
    }
}

/// Whether a value has four numbers of a color.
fn is_color(value: &Value) -> bool {
    has_length(value, 4) && are(value, |part| part.as_u64().is_some_and(|part| part <= 255))
}
