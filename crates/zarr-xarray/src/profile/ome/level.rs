//! The transformations of a level, and those of the image.

use std::collections::BTreeSet;

use zarr_meta::json::Object;

use super::systems::{Reference, System, unlinked};
use super::{OmeGroup, objects, text, transformation};
use crate::attribute::number;

/// Returns the name of the coordinate system that a level of 0.6 has: its only transformation gives points in it.
pub(super) fn system(dataset: &Object) -> Option<String> {
    let list = objects(dataset, "coordinateTransformations")?;
    text(&list.first()?.get("output")?.as_object()?, "name")
}

/// Checks the transformation of a level of 0.6: one, from the array into the intrinsic coordinate system.
pub(super) fn check(
    group: &OmeGroup<'_>,
    dataset: &Object,
    intrinsic: Option<&System>,
    mut wrong: impl FnMut(String),
) {
    let list = objects(dataset, "coordinateTransformations");
    let Some([of]) = list.as_deref() else {
        return wrong("coordinateTransformations is not a list of one object".to_owned());
    };
    let [input, output] = ["input", "output"].map(|name| of.get(name).and_then(|value| value.as_object()));
    match input {
        None => wrong("input is absent, or not an object".to_owned()),
        Some(input) if text(&input, "path") != text(dataset, "path") => {
            wrong("the path of input is not that of the dataset".to_owned());
        }
        Some(input) if input.contains("name") => wrong("input has a name".to_owned()),
        Some(_) => {}
    }
    match output {
        None => wrong("output is absent, or not an object".to_owned()),
        Some(output) if output.contains("path") => wrong("output has a path".to_owned()),
        Some(output) => match (text(&output, "name"), intrinsic) {
            (None, _) => wrong("output has no name".to_owned()),
            (Some(name), Some(system)) if system.name != name => {
                wrong(format!("output is {name:?}, and {:?} in the level before", system.name));
            }
            (Some(name), None) => wrong(format!("there is no coordinate system {name:?}")),
            _ => {}
        },
    }
    let inner = objects(of, "transformations").unwrap_or_default();
    let types: Vec<String> = inner.iter().map(|of| text(of, "type").unwrap_or_default()).collect();
    let types: Vec<&str> = types.iter().map(String::as_str).collect();
    match (text(of, "type").as_deref(), &types[..]) {
        (Some("scale" | "identity"), _) | (Some("sequence"), ["scale", "translation"]) => {}
        (Some("sequence"), _) => wrong(format!("the sequence is of {types:?}, not of scale and translation")),
        (kind, _) => wrong(format!(
            "the transformation is {:?}, not scale, identity, or a sequence of scale and translation",
            kind.unwrap_or_default()
        )),
    }
    let rank = intrinsic.map(|system| system.axes.len());
    if let Err(message) = transformation::check(group, of, (rank, rank)) {
        wrong(message);
    }
}

/// Checks the transformations of an image of 0.6, which link its intrinsic coordinate system to others.
pub(super) fn of_image(
    group: &OmeGroup<'_>,
    image: &Object,
    systems: &[System],
    intrinsic: Option<&System>,
    mut wrong: impl FnMut(String),
) {
    let own = |name: &str| Reference { path: None, name: name.to_owned() };
    let all: BTreeSet<Reference> = systems.iter().map(|system| own(&system.name)).collect();
    let (mut links, mut are_right) = (Vec::new(), true);
    let list = objects(image, "coordinateTransformations");
    if image.contains("coordinateTransformations") && list.as_ref().is_none_or(Vec::is_empty) {
        wrong("the image: coordinateTransformations is empty, or not a list of objects".to_owned());
    }
    for (number, of) in list.into_iter().flatten().enumerate() {
        let judged = link(group, &of, systems, |ends| {
            let is_intrinsic = |end: &Reference| intrinsic.is_some_and(|system| *end == own(&system.name));
            if !ends.into_iter().any(is_intrinsic) {
                return Err("neither input nor output is the coordinate system of the levels".to_owned());
            }
            let is_elsewhere = ends.iter().any(|end| end.path.is_some());
            if is_elsewhere && !is_plain(&of) {
                return Err("to labels there are only identity, scale and translation".to_owned());
            }
            Ok(())
        });
        match judged {
            Ok(ends) => links.push(ends),
            Err(message) => {
                are_right = false;
                wrong(format!("transformation {number} of the image: {message}"));
            }
        }
    }
    if let Some(system) = unlinked(&all, &links).filter(|_| are_right) {
        wrong(format!("no transformation links the coordinate system {:?} to the others", system.name));
    }
}

/// Checks a transformation between coordinate systems, and returns them.
pub(super) fn link(
    group: &OmeGroup<'_>,
    of: &Object,
    own: &[System],
    are_right: impl Fn([&Reference; 2]) -> Result<(), String>,
) -> Result<(Reference, Reference), String> {
    let (input, output) = (Reference::read(of, "input")?, Reference::read(of, "output")?);
    let ranks = (input.rank(group, own)?, output.rank(group, own)?);
    are_right([&input, &output])?;
    transformation::check(group, of, (Some(ranks.0), Some(ranks.1)))?;
    Ok((input, output))
}

/// Whether a transformation is an identity, a scale, a translation, or a scale and a translation.
fn is_plain(of: &Object) -> bool {
    let types =
        |list: Vec<Object>| list.iter().map(|of| text(of, "type").unwrap_or_default()).collect::<Vec<_>>();
    match text(of, "type").as_deref() {
        Some("identity" | "scale" | "translation") => true,
        Some("sequence") => {
            types(objects(of, "transformations").unwrap_or_default()) == ["scale", "translation"]
        }
        _ => false,
    }
}

/// Checks the transformations of a level of 0.4 and 0.5, or of their image: one scale, and perhaps a translation behind it,
/// with a number for each axis.
pub(super) fn check_older(of: &Object, axes: usize, mut wrong: impl FnMut(String)) {
    let Some(list) = objects(of, "coordinateTransformations") else {
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
