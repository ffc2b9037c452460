//! The metadata of images in OME-Zarr 0.4, 0.5 and 0.6: reading what a group has, and adding levels.

use std::fmt;
use std::str::FromStr;

use zarr_array::meta::json::{Object, Value};

use crate::error::{CopyError, CopyResult};
use crate::pyramid::method::Downsample;

/// A version of OME-Zarr. As text `0.4`, `0.5`, `0.6`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum OmeVersion {
    /// For groups of format 2.
    V04,
    /// For groups of format 3.
    V05,
    /// For groups of format 3, with coordinate systems.
    V06,
}

impl OmeVersion {
    /// Returns the text.
    pub fn text(self) -> &'static str {
        match self {
            Self::V04 => "0.4",
            Self::V05 => "0.5",
            Self::V06 => "0.6",
        }
    }
}

impl fmt::Display for OmeVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl FromStr for OmeVersion {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "0.4" => Ok(Self::V04),
            "0.5" => Ok(Self::V05),
            // The last release candidate has the same documents.
            "0.6" | "0.6rc0" => Ok(Self::V06),
            _ => Err(format!("{text:?} is not a known version of OME-Zarr: expected 0.4, 0.5 or 0.6")),
        }
    }
}

/// An axis of an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Axis {
    pub(crate) name: String,
    /// `space`, `time`, `channel`, or another text.
    pub(crate) kind: String,
}

/// An image that a group describes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Image {
    pub(crate) version: OmeVersion,
    pub(crate) axes: Vec<Axis>,
    /// The paths of the levels below the group, level 0 first.
    pub(crate) paths: Vec<String>,
    /// The scale and translation of level 0.
    pub(crate) scale: Vec<f64>,
    pub(crate) translation: Vec<f64>,
    /// The coordinate system of the levels, in version 0.6.
    system: Option<String>,
}

/// A level with its position.
#[derive(Debug, Clone)]
pub(crate) struct Placed<'a> {
    pub(crate) path: &'a str,
    pub(crate) scale: &'a [f64],
    pub(crate) translation: &'a [f64],
}

/// Returns the image that the attributes of a group describe: the first, if there are several.
///
/// # Errors
/// If the version is unknown, or the position of level 0 cannot be understood.
pub(crate) fn read(attributes: &Object) -> CopyResult<Option<Image>> {
    let ome = attributes.get("ome").and_then(|ome| ome.as_object());
    let (holder, version) = match &ome {
        Some(ome) => {
            let version = ome.get("version").and_then(|version| version.as_text()).unwrap_or_default();
            (ome, version.parse().map_err(CopyError::unsupported)?)
        }
        None => (attributes, OmeVersion::V04),
    };
    let Some(image) = holder.get("multiscales").and_then(|list| list.element(0)) else { return Ok(None) };
    let wrong = |what: &str| CopyError::unsupported(format!("the multiscales of the group: {what}"));
    let image = image.as_object().ok_or_else(|| wrong("expected an object"))?;
    let version = match image.get("version").and_then(|version| version.as_text()) {
        Some(own) if ome.is_none() => own.parse().map_err(CopyError::unsupported)?,
        _ => version,
    };
    let datasets: Vec<Value> =
        image.get("datasets").and_then(|list| list.elements()).into_iter().flatten().collect();
    let path = |dataset: &Value| dataset.get("path").and_then(|path| path.as_text());
    let paths: Option<Vec<String>> = datasets.iter().map(path).collect();
    let paths = paths.filter(|paths| !paths.is_empty()).ok_or_else(|| wrong("a level has no path"))?;
    let systems = || image.get("coordinateSystems").into_iter().filter_map(|list| list.elements()).flatten();
    let mut transforms: Vec<Value> = list(&datasets[0], "coordinateTransformations");
    let mut system = None;
    if version == OmeVersion::V06 {
        let output = transforms.first().and_then(|only| only.get("output")?.get("name")?.as_text());
        system = Some(output.ok_or_else(|| wrong("level 0 has no output"))?);
        if let Some(sequence) = transforms.first().and_then(|only| only.get("transformations")) {
            transforms = sequence.elements().into_iter().flatten().collect();
        }
    }
    let axes = match &system {
        None => image.get("axes"),
        Some(system) => systems()
            .find(|known| known.get("name").and_then(|name| name.as_text()).as_ref() == Some(system))
            .and_then(|known| known.get("axes")),
    };
    let text = |axis: &Value, name: &str| axis.get(name).and_then(|text| text.as_text());
    let axis = |axis: Value| {
        Some(Axis { name: text(&axis, "name")?, kind: text(&axis, "type").unwrap_or_default() })
    };
    let axes: Option<Vec<Axis>> = axes.and_then(|axes| axes.elements()?.map(axis).collect());
    let axes = axes.ok_or_else(|| wrong("there are no axes"))?;
    let (mut scale, mut translation) = (vec![1.0; axes.len()], vec![0.0; axes.len()]);
    for transform in transforms {
        let kind = text(&transform, "type").unwrap_or_default();
        let numbers = |name: &str| -> Option<Vec<f64>> {
            let numbers: Vec<f64> =
                transform.get(name)?.elements()?.map(|n| n.as_f64()).collect::<Option<_>>()?;
            (numbers.len() == axes.len()).then_some(numbers)
        };
        match kind.as_str() {
            "identity" => {}
            "scale" => {
                scale = numbers("scale").ok_or_else(|| wrong("the scale of level 0 is no list of numbers"))?
            }
            "translation" => {
                translation = numbers("translation")
                    .ok_or_else(|| wrong("the translation of level 0 is no list of numbers"))?;
            }
            other => return Err(wrong(&format!("level 0 has a transformation {other:?}"))),
        }
    }
    Ok(Some(Image { version, axes, paths, scale, translation, system }))
}

/// Returns the axes of a new image whose dimensions have these names: `t`, `c`, `z`, `y`, `x`, in this order. `None` if
/// OME-Zarr does not allow them.
pub(crate) fn axes_of(names: &[Option<String>]) -> Option<Vec<Axis>> {
    const KNOWN: [(&str, &str); 5] =
        [("t", "time"), ("c", "channel"), ("z", "space"), ("y", "space"), ("x", "space")];
    let place = |name: &Option<String>| KNOWN.iter().position(|(known, _)| Some(*known) == name.as_deref());
    let places: Vec<usize> = names.iter().map(place).collect::<Option<_>>()?;
    let is_ordered = places.is_sorted_by(|one, other| one < other);
    (is_ordered && names.len() >= 2 && places.contains(&3) && places.contains(&4)).then(|| {
        let axis = |at: &usize| Axis { name: KNOWN[*at].0.to_owned(), kind: KNOWN[*at].1.to_owned() };
        places.iter().map(axis).collect()
    })
}

/// Makes the image of the group name these levels and no others. A new image has these axes and the name.
pub(crate) fn write(
    attributes: &mut Object,
    (version, axes, name): (OmeVersion, &[Axis], &str),
    levels: &[Placed<'_>],
    method: Downsample,
) {
    match version {
        OmeVersion::V04 => write_in(attributes, (version, axes, name), levels, method),
        _ => attributes.edit("ome", |ome| {
            if !ome.contains("version") {
                ome.set("version", version.text());
            }
            write_in(ome, (version, axes, name), levels, method);
        }),
    }
}

fn write_in(
    holder: &mut Object,
    (version, axes, name): (OmeVersion, &[Axis], &str),
    levels: &[Placed<'_>],
    method: Downsample,
) {
    let mut images: Vec<Value> =
        holder.get("multiscales").and_then(|list| list.elements()).into_iter().flatten().collect();
    let mut image = match images.first().and_then(Value::as_object) {
        Some(image) => image,
        None => new(version, axes, name),
    };
    let system = image.get("coordinateSystems").and_then(|list| list.element(0)?.get("name")?.as_text());
    let known: Vec<Value> =
        image.get("datasets").and_then(|list| list.elements()).into_iter().flatten().collect();
    let output = known.first().and_then(|level| {
        level.get("coordinateTransformations")?.element(0)?.get("output")?.get("name")?.as_text()
    });
    let system = output.or(system).unwrap_or_default();
    let datasets = levels.iter().enumerate().map(|(number, level)| match known.first() {
        // Level 0 keeps its entry.
        Some(first) if number == 0 => first.clone(),
        _ => dataset(version, level, &system).into(),
    });
    image.set("datasets", datasets.collect::<Value>());
    if levels.len() > 1 {
        image.set("type", method.name());
        let mut about = Object::new();
        about.set("method", "zarr pyramid");
        about.set("version", env!("CARGO_PKG_VERSION"));
        image.set("metadata", about);
    }
    match images.first_mut() {
        Some(first) => *first = image.into(),
        None => images.push(image.into()),
    }
    holder.set("multiscales", images);
}

/// Returns a new image without levels.
fn new(version: OmeVersion, axes: &[Axis], name: &str) -> Object {
    let mut image = Object::new();
    if version == OmeVersion::V04 {
        image.set("version", version.text());
    }
    image.set("name", name);
    let axes = axes.iter().map(|axis| {
        let mut object = Object::new();
        object.set("name", axis.name.as_str());
        object.set("type", axis.kind.as_str());
        object
    });
    let axes: Value = axes.collect();
    if version < OmeVersion::V06 {
        image.set("axes", axes);
        return image;
    }
    let mut system = Object::new();
    system.set("name", "physical");
    system.set("axes", axes);
    image.set("coordinateSystems", [system]);
    image
}

/// Returns the entry of a level.
fn dataset(version: OmeVersion, level: &Placed<'_>, system: &str) -> Object {
    let transform = |kind: &str, of: &[f64]| {
        let mut object = Object::new();
        object.set("type", kind);
        object.set(kind, numbers(of));
        object
    };
    let mut transforms = vec![transform("scale", level.scale)];
    if level.translation.iter().any(|at| *at != 0.0) {
        transforms.push(transform("translation", level.translation));
    }
    let mut dataset = Object::new();
    dataset.set("path", level.path);
    if version < OmeVersion::V06 {
        dataset.set("coordinateTransformations", transforms);
        return dataset;
    }
    let mut only = match transforms.len() {
        1 => transforms.remove(0),
        _ => {
            let mut sequence = Object::new();
            sequence.set("type", "sequence");
            sequence.set("transformations", transforms);
            sequence
        }
    };
    only.edit("input", |input| input.set("path", level.path));
    only.edit("output", |output| output.set("name", system));
    dataset.set("coordinateTransformations", [only]);
    dataset
}

/// Returns numbers as JSON. Positions are finite, because those of level 0 are numbers of JSON.
pub(super) fn numbers(of: &[f64]) -> Value {
    of.iter().map(|number| Value::float(*number).unwrap_or_else(|_| Value::null())).collect()
}

fn list(value: &Value, name: &str) -> Vec<Value> {
    value.get(name).and_then(|list| list.elements()).into_iter().flatten().collect()
}
