//! Images of OME-Zarr 0.4, 0.5 and 0.6.

use zarr_meta::Format;
use zarr_meta::json::{Object, Value};

use super::{
    AxisKind, Channel, Draft, DraftLevel, LabelColor, MOST_CHANNELS, MOST_LEVELS, MultiscaleAxis,
    MultiscaleFormat, has_namespace, invalid, limited, list, numbers, relative, text, unsupported,
};
use crate::error::XarrayResult;

/// The largest number of axes.
const MOST_AXES: usize = 32;

/// Returns the metadata: the member `ome`, or the attributes themselves in 0.4.
pub(super) fn holder(attributes: &Object, format: Format) -> Object {
    let own = attributes.get("ome").and_then(|ome| ome.as_object()).filter(|_| has_namespace(format));
    own.unwrap_or_else(|| attributes.clone())
}

/// Returns the first image that the attributes of a group describe.
pub(super) fn read(attributes: &Object, format: Format) -> XarrayResult<Option<Draft>> {
    let holder = holder(attributes, format);
    let Some(image) = holder.get("multiscales").and_then(|list| list.element(0)) else { return Ok(None) };
    let image = image.as_object().ok_or_else(|| invalid(format!("{} is no object", image.summary())))?;
    let is_within =
        attributes.get("ome").is_some_and(|ome| ome.as_object().is_some()) && has_namespace(format);
    let format = version(&holder, &image, is_within)?;
    let datasets = limited(list(&image, "datasets"), MOST_LEVELS, "levels")?;
    let datasets: Vec<Object> = datasets
        .iter()
        .map(|dataset| dataset.as_object().ok_or_else(|| invalid("a level is no object")))
        .collect::<XarrayResult<_>>()?;
    let first = datasets.first().ok_or_else(|| invalid("there is no list of datasets"))?;
    let axes = axes(&image, first, format)?;
    let after = match format {
        // In 0.6 it leads to another coordinate system.
        MultiscaleFormat::OmeV06 => Vec::new(),
        _ => list(&image, "coordinateTransformations").collect(),
    };
    let level = |dataset: &Object| {
        let path = text(dataset, "path").ok_or_else(|| invalid("a level has no path"))?;
        let path = relative(&path)?;
        let mut transforms: Vec<Value> = list(dataset, "coordinateTransformations").collect();
        // Without a position of its own, the level gets one from its shape.
        let place = match transforms.is_empty() {
            true => None,
            false => {
                transforms.extend(after.iter().cloned());
                let place = place(&transforms, axes.len());
                Some(place.map_err(|e| e.within(&format!("level {path:?}")))?)
            }
        };
        Ok(DraftLevel { path, place, pixels: None })
    };
    let levels = datasets.iter().map(level).collect::<XarrayResult<_>>()?;
    let omero = holder.get("omero").and_then(|omero| omero.as_object()).unwrap_or_default();
    let defaults = omero.get("rdefs").and_then(|defaults| defaults.as_object()).unwrap_or_default();
    let default = |name: &str| defaults.get(name)?.as_u64();
    let label = holder.get("image-label").and_then(|label| label.as_object());
    Ok(Some(Draft {
        format,
        name: text(&image, "name"),
        method: text(&image, "type"),
        axes: Some(axes),
        levels,
        spatial: None,
        channels: channels(&omero)?,
        default_time: default("defaultT"),
        default_depth: default("defaultZ"),
        label_colors: label.as_ref().map(colors).unwrap_or_default(),
        is_label: label.is_some(),
    }))
}

fn version(holder: &Object, image: &Object, is_within: bool) -> XarrayResult<MultiscaleFormat> {
    let said = if is_within { text(holder, "version") } else { text(image, "version") };
    match said.as_deref() {
        Some("0.4") if !is_within => Ok(MultiscaleFormat::OmeV04),
        Some("0.5") if is_within => Ok(MultiscaleFormat::OmeV05),
        // The last release candidate has the same documents.
        Some("0.6" | "0.6rc0") if is_within => Ok(MultiscaleFormat::OmeV06),
        None if !is_within => Ok(MultiscaleFormat::OmeV04),
        None if image.contains("coordinateSystems") => Ok(MultiscaleFormat::OmeV06),
        None => Ok(MultiscaleFormat::OmeV05),
        Some(other) => Err(unsupported(format_args!(
            "OME-Zarr {other:?} {} is not known; known are 0.4, 0.5 and 0.6",
            if is_within { "in the member \"ome\"" } else { "outside of a member \"ome\"" }
        ))),
    }
}

fn axes(image: &Object, first: &Object, format: MultiscaleFormat) -> XarrayResult<Vec<MultiscaleAxis>> {
    let found: Vec<Value> = match format {
        MultiscaleFormat::OmeV06 => {
            let output = list(first, "coordinateTransformations").next();
            let output = output.and_then(|only| only.get("output")?.get("name")?.as_text());
            let system = list(image, "coordinateSystems").find(|system| {
                output.is_none() || system.get("name").and_then(|name| name.as_text()) == output
            });
            let system = system.and_then(|system| system.as_object());
            let system = system.ok_or_else(|| invalid("the coordinate system of the levels is not there"))?;
            limited(list(&system, "axes"), MOST_AXES, "axes")?
        }
        _ => limited(list(image, "axes"), MOST_AXES, "axes")?,
    };
    if found.is_empty() {
        return Err(invalid("there is no list of axes"));
    }
    let axis = |value: &Value| {
        let axis = value.as_object().ok_or_else(|| invalid("an axis is no object"))?;
        let name = text(&axis, "name").ok_or_else(|| invalid("an axis has no name"))?;
        let kind = match text(&axis, "type").as_deref() {
            Some("space") => AxisKind::Space,
            Some("time") => AxisKind::Time,
            Some("channel") => AxisKind::Channel,
            _ => AxisKind::Other,
        };
        Ok(MultiscaleAxis { name, kind, unit: text(&axis, "unit") })
    };
    found.iter().map(axis).collect()
}

/// Returns the scale and the translation that transformations make together, for `rank` axes.
fn place(transforms: &[Value], rank: usize) -> XarrayResult<(Vec<f64>, Vec<f64>)> {
    let (mut scale, mut translation) = (vec![1.0; rank], vec![0.0; rank]);
    for transform in transforms {
        let transform = transform.as_object().ok_or_else(|| invalid("a transformation is no object"))?;
        let kind = text(&transform, "type").unwrap_or_default();
        if kind == "sequence" {
            let inner: Vec<Value> = list(&transform, "transformations").collect();
            let is_nested =
                |one: &Value| one.get("type").and_then(|kind| kind.as_text()).as_deref() == Some("sequence");
            if inner.iter().any(is_nested) {
                return Err(unsupported("a sequence of transformations contains a sequence"));
            }
            let (by, to) = place(&inner, rank)?;
            apply(&mut scale, &mut translation, &by, &to);
            continue;
        }
        let own = || {
            if transform.contains("path") && !transform.contains(&kind) {
                return Err(unsupported(format_args!("the {kind} of a level is stored in an array")));
            }
            let own = numbers(&transform, &kind).filter(|numbers| numbers.len() == rank);
            own.ok_or_else(|| invalid(format!("the {kind} is not a list of {rank} numbers")))
        };
        match kind.as_str() {
            "identity" => {}
            "scale" => apply(&mut scale, &mut translation, &own()?, &vec![0.0; rank]),
            "translation" => apply(&mut scale, &mut translation, &vec![1.0; rank], &own()?),
            other => return Err(unsupported(format_args!("a level has a transformation {other:?}"))),
        }
    }
    Ok((scale, translation))
}

fn apply(scale: &mut [f64], translation: &mut [f64], by: &[f64], to: &[f64]) {
    for (((scale, translation), by), to) in scale.iter_mut().zip(translation).zip(by).zip(to) {
        *scale *= by;
        *translation = *translation * by + to;
    }
}

/// Returns how channels are shown. Members that cannot be read are left out: they only choose colours.
fn channels(omero: &Object) -> XarrayResult<Vec<Channel>> {
    let channel = |value: Value| {
        let channel = value.as_object().unwrap_or_default();
        let window = channel.get("window").and_then(|window| window.as_object()).unwrap_or_default();
        let both = |first: &str, last: &str| {
            let number = |name: &str| window.get(name)?.as_f64().filter(|number| number.is_finite());
            Some((number(first)?, number(last)?))
        };
        Channel {
            label: text(&channel, "label"),
            color: text(&channel, "color").and_then(|color| rgb(&color)),
            window: both("start", "end"),
            limits: both("min", "max"),
            is_active: channel.get("active").and_then(|active| active.as_bool()).unwrap_or(true),
        }
    };
    limited(list(omero, "channels").map(channel), MOST_CHANNELS, "channels")
}

/// Reads a colour of six hexadecimal digits, also with a `#` in front and with an opacity behind.
fn rgb(text: &str) -> Option<[u8; 3]> {
    let digits = text.strip_prefix('#').unwrap_or(text);
    if ![6, 8].contains(&digits.len()) || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let part = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
    Some([part(0)?, part(2)?, part(4)?])
}

/// Returns the colours of an image of labels.
fn colors(label: &Object) -> Vec<LabelColor> {
    let color = |value: Value| {
        let part = |part: Value| part.as_u64().and_then(|part| u8::try_from(part).ok());
        let rgba: Vec<u8> = value.get("rgba")?.elements()?.take(5).map(part).collect::<Option<_>>()?;
        Some(LabelColor { label: value.get("label-value")?.as_i64()?, rgba: rgba.try_into().ok()? })
    };
    list(label, "colors").filter_map(color).collect()
}
