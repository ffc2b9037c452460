//! The metadata of images in OME-Zarr 0.4, 0.5 and 0.6: adding levels.

use zarr_array::meta::json::{Object, Value};
use zarr_array::meta::multiscale::{AxisKind, MultiscaleAxis, OmeVersion};

use crate::pyramid::method::Downsample;

/// A level with its position.
#[derive(Debug, Clone)]
pub(crate) struct Placed<'a> {
    pub(crate) path: &'a str,
    pub(crate) scale: &'a [f64],
    pub(crate) translation: &'a [f64],
}

/// Returns the axes of a new image whose dimensions have these names: `t`, `c`, `z`, `y`, `x`, in this order. `None` if
/// OME-Zarr does not allow them.
pub(crate) fn axes_of(names: &[Option<String>]) -> Option<Vec<MultiscaleAxis>> {
    use AxisKind::{Channel, Space, Time};
    const KNOWN: [(&str, AxisKind); 5] =
        [("t", Time), ("c", Channel), ("z", Space), ("y", Space), ("x", Space)];
    let place = |name: &Option<String>| KNOWN.iter().position(|(known, _)| Some(*known) == name.as_deref());
    let places: Vec<usize> = names.iter().map(place).collect::<Option<_>>()?;
    let is_ordered = places.is_sorted_by(|one, other| one < other);
    (is_ordered && names.len() >= 2 && places.contains(&3) && places.contains(&4)).then(|| {
        let axis = |at: &usize| MultiscaleAxis::new(KNOWN[*at].0, KNOWN[*at].1);
        places.iter().map(axis).collect()
    })
}

/// Makes the image of the group name these levels and no others. A new image has these axes and the name.
pub(crate) fn write(
    attributes: &mut Object,
    (version, axes, name): (OmeVersion, &[MultiscaleAxis], &str),
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
    (version, axes, name): (OmeVersion, &[MultiscaleAxis], &str),
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
fn new(version: OmeVersion, axes: &[MultiscaleAxis], name: &str) -> Object {
    let mut image = Object::new();
    if version == OmeVersion::V04 {
        image.set("version", version.text());
    }
    image.set("name", name);
    let axes = axes.iter().map(|axis| {
        let mut object = Object::new();
        object.set("name", axis.name.as_str());
        if let Some(kind) = axis.kind.type_name() {
            object.set("type", kind);
        }
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
