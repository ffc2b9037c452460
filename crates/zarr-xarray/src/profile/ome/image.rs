//! `multiscales` and `omero`: an image in several resolutions.

use zarr_meta::json::Object;
use zarr_meta::{ArrayMeta, NodeMeta};

use super::{OmeGroup, Report, objects, text, twice};
use crate::attribute::number;
use crate::finding::FindingCode;

pub(super) fn check(group: &OmeGroup<'_>, report: &mut Report<'_>) {
    let Some(value) = group.members.get("multiscales") else {
        if group.members.contains("omero") {
            group.error(
                report,
                FindingCode::OmeOmero,
                "omero describes the channels of an image, and there is none",
            );
        }
        return;
    };
    let Some(images) = objects(&group.members, "multiscales").filter(|images| !images.is_empty()) else {
        return group.error(
            report,
            FindingCode::OmeDatasets,
            format!("multiscales is {value}, not a list of images"),
        );
    };
    for image in &images {
        let axes = axes(group, image, report);
        datasets(group, image, &axes, report);
        if image.contains("coordinateTransformations") {
            transformations(group, image, "the image", axes.len(), report);
        }
    }
    omero(group, images.first(), report);
}

/// An axis: its name and its type.
type Axis = (String, Option<String>);

/// Checks the axes of an image, and returns those that can be read.
fn axes(group: &OmeGroup<'_>, image: &Object, report: &mut Report<'_>) -> Vec<Axis> {
    let mut wrong = |message: String| group.error(report, FindingCode::OmeAxes, message);
    let Some(list) = objects(image, "axes") else {
        wrong("axes is absent, or not a list of objects".to_owned());
        return Vec::new();
    };
    let mut axes = Vec::new();
    for axis in &list {
        match text(axis, "name") {
            Some(name) => axes.push((name, text(axis, "type"))),
            None => wrong(format!("the axis {} has no name", axis.to_value())),
        }
        for name in ["type", "unit"] {
            if axis.get(name).is_some_and(|value| value.to_text().is_err() && !value.is_null()) {
                wrong(format!("the {name} of the axis {} is not a text", axis.to_value()));
            }
        }
    }
    if !(2..=5).contains(&list.len()) {
        wrong(format!("there are {} axes, not two to five", list.len()));
    }
    let names: Vec<String> = axes.iter().map(|(name, _)| name.clone()).collect();
    if let Some(name) = twice(&names) {
        wrong(format!("two axes are named {name:?}"));
    }
    // Time is first, then a channel or another axis, then space.
    let ranks: Vec<u8> = axes
        .iter()
        .map(|(_, of)| match of.as_deref() {
            Some("time") => 0,
            Some("space") => 2,
            _ => 1,
        })
        .collect();
    let count = |rank: u8| ranks.iter().filter(|of| **of == rank).count();
    if !(2..=3).contains(&count(2)) {
        wrong(format!("there are {} axes of type space, not two or three", count(2)));
    }
    if count(0) > 1 || count(1) > 1 {
        wrong(
            "there is more than one axis of time, or more than one of a channel or another type".to_owned(),
        );
    }
    if !ranks.is_sorted() {
        wrong("the axes are not in the order time, channel, space".to_owned());
    }
    axes
}

/// Checks the arrays of an image, one for each resolution.
fn datasets(group: &OmeGroup<'_>, image: &Object, axes: &[Axis], report: &mut Report<'_>) {
    let Some(list) = objects(image, "datasets").filter(|list| !list.is_empty()) else {
        return group.error(report, FindingCode::OmeDatasets, "datasets is absent, or not a list of objects");
    };
    let mut smallest: Option<Vec<u64>> = None;
    for dataset in &list {
        let Some(path) = text(dataset, "path") else {
            group.error(
                report,
                FindingCode::OmeDatasets,
                format!("the dataset {} has no path", dataset.to_value()),
            );
            continue;
        };
        transformations(group, dataset, &format!("the dataset {path:?}"), axes.len(), report);
        let Some((_, NodeMeta::Array(array))) = group.hierarchy.at(group.path, &path) else {
            group.error(report, FindingCode::OmeDatasets, format!("the dataset {path:?} is not an array"));
            continue;
        };
        fits(group, &path, array, axes, report);
        let shape = array.shape().to_vec();
        let is_larger = |(one, other): (&u64, &u64)| one > other;
        if let Some(before) = &smallest
            && shape.iter().zip(before).any(is_larger)
        {
            let message = format!("the dataset {path:?} is larger than the one before it");
            group.error(report, FindingCode::OmeDatasets, message);
        }
        smallest = Some(shape);
    }
}

/// An array has the axes of its image.
fn fits(group: &OmeGroup<'_>, path: &str, array: &ArrayMeta, axes: &[Axis], report: &mut Report<'_>) {
    let rank = array.shape().len();
    if rank != axes.len() && !axes.is_empty() {
        let message =
            format!("the dataset {path:?} has {rank} dimensions, and there are {} axes", axes.len());
        return group.error(report, FindingCode::OmeDatasets, message);
    }
    let names: Vec<Option<&str>> = axes.iter().map(|(name, _)| Some(name.as_str())).collect();
    let own = array.dimension_names().map(|names| names.iter().map(Option::as_deref).collect::<Vec<_>>());
    if group.is_v05 && own.as_ref() != Some(&names) {
        let message = format!("the dimension names of the dataset {path:?} are not the names of the axes");
        group.error(report, FindingCode::OmeDatasets, message);
    }
}

/// Checks transformations: one scale, and perhaps a translation behind it, with a number for each axis.
fn transformations(group: &OmeGroup<'_>, object: &Object, place: &str, axes: usize, report: &mut Report<'_>) {
    let mut wrong =
        |message: String| group.error(report, FindingCode::OmeTransformations, format!("{place}: {message}"));
    let Some(list) = objects(object, "coordinateTransformations") else {
        return wrong("coordinateTransformations is absent, or not a list of objects".to_owned());
    };
    let types: Vec<String> = list.iter().map(|of| text(of, "type").unwrap_or_default()).collect();
    let types: Vec<&str> = types.iter().map(String::as_str).collect();
    if !matches!(types[..], ["scale"] | ["scale", "translation"]) {
        wrong(format!("the transformations are {types:?}, not a scale, or a scale and a translation"));
    }
    for (transformation, of) in list.iter().zip(types) {
        // The numbers can be in an array of the store.
        if !["scale", "translation"].contains(&of) || transformation.contains("path") {
            continue;
        }
        let numbers = transformation.get(of).and_then(|value| {
            value.elements()?.map(|element| number(&element)?.to_f64()).collect::<Option<Vec<f64>>>()
        });
        let is_right = |numbers: &Vec<f64>| {
            (numbers.len() == axes || axes == 0) && numbers.iter().all(|number| number.is_finite())
        };
        if !numbers.as_ref().is_some_and(is_right) {
            wrong(format!("the {of} is not a list of {axes} numbers"));
        }
    }
}

/// Checks how the channels are shown.
fn omero(group: &OmeGroup<'_>, image: Option<&Object>, report: &mut Report<'_>) {
    let Some(value) = group.members.get("omero") else { return };
    let channels = value.as_object().and_then(|omero| objects(&omero, "channels"));
    let Some(channels) = channels else {
        return group.error(report, FindingCode::OmeOmero, "omero has no list of channels");
    };
    for (at, channel) in channels.iter().enumerate() {
        let color = text(channel, "color");
        let is_color = |color: &String| color.len() == 6 && color.bytes().all(|c| c.is_ascii_hexdigit());
        if !color.as_ref().is_some_and(is_color) {
            let message = format!("the color of channel {at} is {color:?}, not six hexadecimal digits");
            group.error(report, FindingCode::OmeOmero, message);
        }
        let window = channel.get("window").and_then(|window| window.as_object()).unwrap_or_default();
        let absent: Vec<&str> = ["min", "max", "start", "end"]
            .into_iter()
            .filter(|name| window.get(name).is_none_or(|value| number(&value).is_none()))
            .collect();
        if !absent.is_empty() {
            let message = format!("the window of channel {at} lacks {}", absent.join(", "));
            group.error(report, FindingCode::OmeOmero, message);
        }
    }
    let axes = image.and_then(|image| objects(image, "axes")).unwrap_or_default();
    let axis = axes.iter().position(|axis| text(axis, "type").as_deref() == Some("channel"));
    let path = group.datasets().first().and_then(|first| text(first, "path"));
    let array = path.and_then(|path| group.hierarchy.at(group.path, &path));
    if let (Some(axis), Some((_, NodeMeta::Array(array)))) = (axis, array)
        && let Some(length) = array.shape().get(axis)
        && *length != channels.len() as u64
    {
        let message = format!("omero has {} channels, and the image has {length}", channels.len());
        group.warning(report, FindingCode::OmeOmero, message);
    }
}
