//! The tree of nodes, and the metadata of one node, as JSON.

use std::collections::HashSet;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use zarr_array::meta::NodeMeta;
use zarr_array::meta::json::{Object, Value};
use zarr_xarray::Multiscale;

use crate::args::target::Target;
use crate::exit::Failure;
use crate::listed::{Listed, list};
use crate::out::{json, picture};
use crate::scene::Scenes;
use crate::visit::Source;

/// The largest number of nodes in a tree. A browser becomes slow beyond it.
const MOST: usize = 5000;

/// Returns the nodes at and below the target, parents before children, with paths below the target. Only nodes whose path is
/// `shown` are in it.
pub(crate) fn tree(target: &Target, shown: impl Fn(&str) -> bool) -> Result<Object, Failure> {
    let mut all =
        list(target, Source::default(), usize::MAX)?.filter(|listed| shown(listed.below(&target.path)));
    let mut roles = Roles::default();
    let nodes: Vec<Object> = all
        .by_ref()
        .take(MOST)
        .map(|listed| {
            let path = format!("/{}", listed.below(&target.path));
            roles.add(&path, &listed);
            let mut object = listed.to_json();
            object.set("path", path);
            object.set("kind", listed.kind());
            if let Some(array) = &listed.array {
                object.set("type", array.data_type());
                object.set("lengths", array.shape());
                object.set("chunks", array.chunks());
                object.set("pipeline", array.codecs());
                object.set("bytes", array.uncompressed.and_then(|bytes| u64::try_from(bytes).ok()));
                object.set("counts", array.grid.as_ref().map(|grid| grid.counts.clone()));
                object.set("names", names(&listed));
                for name in ["units", "long_name", "standard_name"] {
                    object.set(name, listed.attributes.get(name).and_then(|text| text.as_text()));
                }
            } else {
                object.set("what", what(&listed.attributes));
            }
            object
        })
        .collect();
    let nodes: Value = nodes.into_iter().map(|node| roles.complete(node)).collect();
    let name = target.store.file_name().unwrap_or(target.store.as_os_str()).to_string_lossy().into_owned();
    let name = if target.path == "/" { name } else { format!("{name}{}", target.path) };
    let more = all.count() as u64;
    Ok(json::document([("name", name.into()), ("nodes", nodes), ("more_nodes", more.into())]))
}

/// Returns the names of the dimensions of an array, in both formats.
fn names(listed: &Listed) -> Option<Vec<String>> {
    let named = listed.array.as_ref()?.named();
    if !named.is_empty() {
        return named.iter().cloned().collect();
    }
    listed.attributes.get("_ARRAY_DIMENSIONS")?.elements()?.map(|name| name.as_text()).collect()
}

/// Returns what a group is: `image`, `plate`, `well`, `anndata` or nothing special.
fn what(attributes: &Object) -> &'static str {
    let ome = attributes.get("ome").and_then(|ome| ome.as_object());
    let own = ome.as_ref().unwrap_or(attributes);
    if own.contains("multiscales") {
        return "image";
    }
    if own.contains("plate") {
        return "plate";
    }
    if own.contains("well") {
        return "well";
    }
    match attributes.get("encoding-type").and_then(|text| text.as_text()).as_deref() {
        Some("anndata") => "anndata",
        Some("dataframe") => "table",
        _ => "",
    }
}

/// Which arrays are coordinates, and which only describe others.
#[derive(Debug, Default)]
struct Roles {
    coordinates: HashSet<String>,
    others: HashSet<String>,
}

impl Roles {
    fn add(&mut self, path: &str, listed: &Listed) {
        let Some(array) = &listed.array else { return };
        let (group, name) = path.rsplit_once('/').unwrap_or_default();
        if names(listed).is_some_and(|names| names == [name]) {
            self.coordinates.insert(path.to_owned());
        }
        if array.lengths().is_empty() {
            self.others.insert(path.to_owned());
        }
        for attribute in ["coordinates", "bounds", "grid_mapping"] {
            let of = if attribute == "coordinates" { &mut self.coordinates } else { &mut self.others };
            let text = listed.attributes.get(attribute).and_then(|text| text.as_text()).unwrap_or_default();
            let names = text.split_whitespace().take(100);
            of.extend(names.map(|name| format!("{group}/{}", name.trim_end_matches(':'))));
        }
    }

    /// Adds the role to a node.
    fn complete(&self, mut node: Object) -> Object {
        let path = node.get("path").and_then(|path| path.as_text()).unwrap_or_default();
        let role = match () {
            () if !node.contains("lengths") => "group",
            () if self.others.contains(&path) => "other",
            () if self.coordinates.contains(&path) => "coordinate",
            () => "variable",
        };
        node.set("role", role);
        node
    }
}

/// Returns the documents and the attributes of the target, and what is wrong with them; of a group also its dimensions and
/// the levels of its image.
pub(crate) fn node(scenes: &Scenes, target: &Target) -> Result<Object, Failure> {
    let (node, notes) = target.node()?;
    let (documents, attributes) = match &node {
        NodeMeta::Array(meta) => (meta.documents(), meta.attributes()),
        NodeMeta::Group(meta) => (meta.documents(), meta.attributes()),
    };
    let documents = documents.into_iter().filter_map(|(name, text)| {
        Some(json::object([("name", name.as_str().into()), ("text", text?.into())]))
    });
    let attributes = attributes.members().map(|member| {
        let value = member.value();
        let shown = value.to_text().map_or_else(|_| value.to_compact(), |text| text.into_owned());
        json::object([("name", member.name_lossy().into_owned().into()), ("value", shown.into())])
    });
    let mut shown = json::document([
        ("documents", documents.collect()),
        ("attributes", attributes.collect()),
        ("notes", notes.iter().map(ToString::to_string).collect()),
    ]);
    if matches!(node, NodeMeta::Group(_)) {
        let around = scenes.around(target);
        shown.set("dimensions", around.dimensions());
        shown.set("image", around.image.as_ref().map(image));
    }
    Ok(shown)
}

/// Returns the levels, axes, channels and labels of an image.
fn image(image: &Multiscale) -> Object {
    let numbers = |of: &[f64]| of.iter().copied().map(json::float).collect::<Value>();
    let levels = image.levels.iter().map(|level| {
        json::object([
            ("path", level.path.as_str().into()),
            ("shape", level.shape.clone().into()),
            ("scale", numbers(&level.scale)),
            ("translation", numbers(&level.translation)),
        ])
    });
    let axes = image.axes.iter().map(|axis| {
        json::object([("name", axis.name.as_str().into()), ("unit", axis.unit.as_deref().into())])
    });
    json::object([
        ("format", image.format.to_string().into()),
        ("name", image.name.as_deref().into()),
        ("method", image.method.as_deref().into()),
        ("axes", axes.collect()),
        ("levels", levels.collect()),
        ("labels", image.labels.iter().map(String::as_str).collect()),
    ])
}

/// Returns the colour maps of the page: the colours of each as base64, three bytes a colour.
pub(crate) fn look() -> Object {
    let mut maps = Object::new();
    for (name, colours) in picture::tables() {
        maps.set(&name, STANDARD.encode(colours));
    }
    json::document([("colormaps", maps.into())])
}
