//! Coordinate systems of 0.6, and what links them.

use std::collections::BTreeSet;

use zarr_meta::json::{Object, Value};

use super::axes::{self, Axis};
use super::{OmeGroup, OmeVersion, objects, text, twice};

/// A coordinate system.
#[derive(Debug)]
pub(super) struct System {
    pub(super) name: String,
    pub(super) axes: Vec<Axis>,
}

/// A reference to a coordinate system: its name, and the path of its group, if it is in another one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Reference {
    pub(super) path: Option<String>,
    pub(super) name: String,
}

/// Reads `coordinateSystems`, and tells what is wrong. `of_axes` judges the axes of each.
pub(super) fn read(
    of: &Object,
    mut of_axes: impl FnMut(&[Axis], &mut dyn FnMut(String)),
    mut wrong: impl FnMut(String),
) -> Vec<System> {
    let Some(list) = objects(of, "coordinateSystems").filter(|list| !list.is_empty()) else {
        wrong("coordinateSystems is absent, empty, or not a list of objects".to_owned());
        return Vec::new();
    };
    let mut systems = Vec::new();
    for system in &list {
        let name = text(system, "name").filter(|name| !name.is_empty());
        if name.is_none() {
            wrong(format!("the coordinate system {} has no name", system.to_value().to_compact()));
        }
        let name = name.unwrap_or_default();
        let mut wrong = |message: String| wrong(format!("the coordinate system {name:?}: {message}"));
        let axes = axes::read(system, &mut wrong);
        of_axes(&axes, &mut wrong);
        systems.push(System { name, axes });
    }
    let names: Vec<String> = systems.iter().map(|system| system.name.clone()).collect();
    if let Some(name) = twice(&names) {
        wrong(format!("two coordinate systems are named {name:?}"));
    }
    systems
}

impl Reference {
    /// Reads `input` or `output` of a transformation between coordinate systems.
    pub(super) fn read(of: &Object, member: &str) -> Result<Self, String> {
        let value = of.get(member).ok_or_else(|| format!("{member} is absent"))?;
        let object = value.as_object().ok_or_else(|| format!("{member} is {value}, not an object"))?;
        let path = object.get("path").filter(|path: &Value| !path.is_null());
        let path = path.map(|path| path.as_text().ok_or_else(|| format!("the path of {member} is {path}")));
        let name = text(&object, "name").ok_or_else(|| format!("{member} has no name"))?;
        Ok(Self { path: path.transpose()?, name })
    }

    /// Returns the number of axes of the coordinate system, in `own` or in an image at the path.
    pub(super) fn rank(&self, group: &OmeGroup<'_>, own: &[System]) -> Result<usize, String> {
        let Self { path, name } = self;
        let rank = |systems: &[System]| systems.iter().find(|of| of.name == *name).map(|of| of.axes.len());
        match path {
            None => rank(own).ok_or_else(|| format!("there is no coordinate system {name:?}")),
            Some(path) => {
                let image = group.at(path).filter(|image| image.version == OmeVersion::V06);
                let image = image.and_then(|image| image.image());
                let image = image.ok_or_else(|| format!("{path:?} is not an image of 0.6"))?;
                let systems = read(&image, |_, _| {}, |_| {});
                rank(&systems).ok_or_else(|| format!("{path:?} has no coordinate system {name:?}"))
            }
        }
    }
}

/// Returns a coordinate system that no transformations link to the first one, if there is such a system.
pub(super) fn unlinked<'a>(
    systems: &'a BTreeSet<Reference>,
    links: &[(Reference, Reference)],
) -> Option<&'a Reference> {
    let mut seen: BTreeSet<&Reference> = systems.first().into_iter().collect();
    loop {
        let before = seen.len();
        for (one, other) in links {
            if seen.contains(one) || seen.contains(other) {
                seen.extend([one, other]);
            }
        }
        if seen.len() == before {
            return systems.iter().find(|system| !seen.contains(system));
        }
    }
}
