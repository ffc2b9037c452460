//! `multiscales` and `omero`: an image in several resolutions.

use zarr_meta::json::Object;
use zarr_meta::{ArrayMeta, NodeMeta};

use super::axes::{self, Axis};
use super::{OmeGroup, OmeVersion, Report, level, objects, systems, text};
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
    let mut of_first = None;
    for image in &images {
        let axes = match group.version {
            OmeVersion::V04 | OmeVersion::V05 => axes(group, image, report),
            _ => with_systems(group, image, report),
        };
        datasets(group, image, &axes, report);
        of_first.get_or_insert(axes);
    }
    omero(group, &of_first.unwrap_or_default(), report);
}

/// Checks the axes of an image of 0.4 and 0.5 and its transformations, and returns the axes that can be read.
fn axes(group: &OmeGroup<'_>, image: &Object, report: &mut Report<'_>) -> Vec<Axis> {
    let mut wrong = |message: String| group.error(report, FindingCode::OmeAxes, message);
    let axes = axes::read(image, &mut wrong);
    if image.contains("axes") {
        axes::of_image(&axes, &mut wrong);
    }
    let mut wrong = |place: &str, message: String| {
        group.error(report, FindingCode::OmeTransformations, format!("{place}: {message}"));
    };
    for dataset in objects(image, "datasets").unwrap_or_default() {
        let place = format!("the dataset {:?}", text(&dataset, "path").unwrap_or_default());
        level::check_older(&dataset, axes.len(), |message| wrong(&place, message));
    }
    if image.contains("coordinateTransformations") {
        level::check_older(image, axes.len(), |message| wrong("the image", message));
    }
    axes
}

/// Checks the coordinate systems of an image of 0.6 and its transformations, and returns the axes of the arrays.
fn with_systems(group: &OmeGroup<'_>, image: &Object, report: &mut Report<'_>) -> Vec<Axis> {
    let mut wrong = |message: String| group.error(report, FindingCode::OmeSystems, message);
    if image.contains("axes") {
        wrong("axes belong to coordinateSystems since 0.6".to_owned());
    }
    let of_axes = |axes: &[Axis], wrong: &mut dyn FnMut(String)| {
        if !axes::are_of_array(axes) {
            axes::of_image(axes, wrong);
        }
    };
    let systems = systems::read(image, of_axes, &mut wrong);
    let datasets = objects(image, "datasets").unwrap_or_default();
    let intrinsic = datasets.first().and_then(level::system);
    let intrinsic = intrinsic.and_then(|name| systems.iter().find(|system| system.name == name));
    let mut wrong = |message: String| group.error(report, FindingCode::OmeTransformations, message);
    for dataset in &datasets {
        let path = text(dataset, "path").unwrap_or_default();
        level::check(group, dataset, intrinsic, |message| wrong(format!("the dataset {path:?}: {message}")));
    }
    level::of_image(group, image, &systems, intrinsic, wrong);
    intrinsic.map(|system| system.axes.clone()).unwrap_or_default()
}

/// Checks the arrays of an image, one for each resolution.
fn datasets(group: &OmeGroup<'_>, image: &Object, axes: &[Axis], report: &mut Report<'_>) {
    let mut wrong = |message: String| group.error(report, FindingCode::OmeDatasets, message);
    let Some(list) = objects(image, "datasets").filter(|list| !list.is_empty()) else {
        return wrong("datasets is absent, or not a list of objects".to_owned());
    };
    let mut before: Option<&ArrayMeta> = None;
    for dataset in &list {
        let Some(path) = text(dataset, "path") else {
            wrong(format!("the dataset {} has no path", dataset.to_value().to_compact()));
            continue;
        };
        let is_outside = path.starts_with('/') || path.split('/').any(|name| name == "..");
        if is_outside && group.version >= OmeVersion::V06 {
            wrong(format!("the dataset {path:?} is not in the group"));
            continue;
        }
        let Some((_, NodeMeta::Array(array))) = group.hierarchy.at(group.path, &path) else {
            wrong(format!("the dataset {path:?} is not an array"));
            continue;
        };
        fits(group, &path, array, axes, &mut wrong);
        let is_larger = |(one, other): (&u64, &u64)| one > other;
        if before.is_some_and(|before| array.shape().iter().zip(before.shape()).any(is_larger)) {
            wrong(format!("the dataset {path:?} is larger than the one before it"));
        }
        let data_type = |array: &ArrayMeta| array.document().data_type().clone();
        if group.version >= OmeVersion::V06
            && let Some(before) = before.filter(|before| data_type(before) != data_type(array))
        {
            let (own, other) = (data_type(array), data_type(before));
            wrong(format!("the dataset {path:?} has the data type {own}, and the one before it {other}"));
        }
        before = Some(array);
    }
}

/// An array has the axes of its image.
fn fits(group: &OmeGroup<'_>, path: &str, array: &ArrayMeta, axes: &[Axis], wrong: &mut impl FnMut(String)) {
    let rank = array.shape().len();
    if rank != axes.len() && !axes.is_empty() {
        return wrong(format!(
            "the dataset {path:?} has {rank} dimensions, and there are {} axes",
            axes.len()
        ));
    }
    let names: Vec<Option<&str>> = axes.iter().map(|axis| Some(axis.name.as_str())).collect();
    let own = array.dimension_names().map(|names| names.iter().map(Option::as_deref).collect::<Vec<_>>());
    if group.version == OmeVersion::V05 && own.as_ref() != Some(&names) {
        wrong(format!("the dimension names of the dataset {path:?} are not the names of the axes"));
    }
}

/// Checks how the channels are shown.
fn omero(group: &OmeGroup<'_>, axes: &[Axis], report: &mut Report<'_>) {
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
    let axis = axes.iter().position(|axis| axis.of.as_deref() == Some("channel"));
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
