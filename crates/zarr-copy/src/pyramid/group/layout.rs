//! The metadata of the `multiscales` convention, which GeoZarr uses.

use zarr_array::meta::json::{Object, Value};

use super::ome::numbers;
use super::spatial::{Pixels, SHAPE, TRANSFORM};
use crate::pyramid::method::Downsample;

/// The member of a group, an object. In OME-Zarr 0.4 it is a list.
const MEMBER: &str = "multiscales";

/// The list of conventions.
const CONVENTIONS: &str = "zarr_conventions";

/// A convention: the prefix or name of its members, its UUID, repository and description.
const KNOWN: [(&str, &str, &str, &str); 3] = [
    (
        "multiscales",
        "d35379db-88df-4056-af3a-620245f8e347",
        "multiscales",
        "Multiscale layout of zarr datasets",
    ),
    ("spatial:", "689b58e2-cf7b-45e0-9fff-9cfc0883d6b4", "spatial", "Spatial coordinate information"),
    (
        "proj:",
        "f17cb550-5864-4468-aeb7-f3180cfb622f",
        "proj",
        "Coordinate reference system information for geospatial data",
    ),
];

/// Whether attributes place pixels on the earth.
pub(crate) fn has_place(attributes: &Object) -> bool {
    attributes.members().any(|member| {
        let name = member.name_lossy();
        name.starts_with("spatial:") || name.starts_with("proj:")
    })
}

/// A level in a layout.
#[derive(Debug, Clone)]
pub(crate) struct Asset<'a> {
    pub(crate) path: &'a str,
    /// The lengths of rows and columns, and the positions of pixels.
    pub(crate) pixels: Option<([u64; 2], Pixels)>,
}

/// Makes the layout of the group name these levels and no others.
pub(crate) fn write(attributes: &mut Object, levels: &[Asset<'_>], factors: &[u64], method: Downsample) {
    let known = attributes.get(MEMBER).and_then(|of| of.get("layout")?.element(0)?.as_object());
    let mut layout: Vec<Object> = Vec::new();
    for (number, level) in levels.iter().enumerate() {
        // Level 0 keeps its further members.
        let mut entry = known.clone().filter(|_| number == 0).unwrap_or_default();
        entry.set("asset", level.path);
        if number > 0 {
            entry.set("derived_from", levels[number - 1].path);
        }
        if number > 0 || !entry.contains("transform") {
            let scale: Vec<f64> = factors.iter().map(|f| if number == 0 { 1.0 } else { *f as f64 }).collect();
            entry.edit("transform", |transform| {
                transform.set("scale", numbers(&scale));
                transform.set("translation", numbers(&vec![0.0; scale.len()]));
            });
        }
        if let Some((lengths, pixels)) = &level.pixels {
            entry.set(SHAPE, *lengths);
            entry.set(TRANSFORM, pixels.to_value());
        }
        layout.push(entry);
    }
    attributes.edit(MEMBER, |of| {
        of.set("resampling_method", method.name_in_convention());
        of.set("layout", layout);
    });
    if let Some(([rows, columns], pixels)) = levels.first().and_then(|level| level.pixels.as_ref()) {
        pixels.add_box(attributes, [*rows, *columns]);
    }
    name_conventions(attributes);
}

/// Adds the conventions whose members the attributes have to their list.
fn name_conventions(attributes: &mut Object) {
    let mut list: Vec<Value> =
        attributes.get(CONVENTIONS).and_then(|list| list.elements()).into_iter().flatten().collect();
    for (members, uuid, repository, description) in KNOWN {
        let place = format!("zarr-conventions/{repository}/");
        let is_it = |entry: &Value| {
            let text = |name: &str| entry.get(name).and_then(|text| text.as_text());
            // The first of these three that an entry has identifies it.
            match text("uuid") {
                Some(own) => own == uuid,
                None => text("schema_url").or(text("spec_url")).is_some_and(|url| url.contains(&place)),
            }
        };
        let has_members = attributes.members().any(|member| member.name_lossy().starts_with(members));
        if !has_members || list.iter().any(is_it) {
            continue;
        }
        let mut entry = Object::new();
        entry.set("uuid", uuid);
        let base = "https://raw.githubusercontent.com/zarr-conventions";
        entry.set("schema_url", format!("{base}/{repository}/refs/tags/v0.1/schema.json"));
        entry
            .set("spec_url", format!("https://github.com/zarr-conventions/{repository}/blob/v0.1/README.md"));
        entry.set("name", repository);
        entry.set("description", description);
        list.push(entry.into());
    }
    attributes.set(CONVENTIONS, list);
}
