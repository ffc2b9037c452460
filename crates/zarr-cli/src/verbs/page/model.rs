//! The tree of nodes, and the metadata of one node, as JSON.

use zarr_array::meta::NodeMeta;
use zarr_array::meta::json::{Object, Value};

use crate::args::target::Target;
use crate::exit::Failure;
use crate::listed::list;
use crate::out::json;
use crate::visit::Source;

/// The largest number of nodes in a tree. A browser becomes slow beyond it.
const MOST: usize = 5000;

/// Returns the nodes at and below the target, parents before children, with paths below the target. Only nodes whose path is
/// `shown` are in it.
pub(crate) fn tree(target: &Target, shown: impl Fn(&str) -> bool) -> Result<Object, Failure> {
    let mut all =
        list(target, Source::default(), usize::MAX)?.filter(|listed| shown(listed.below(&target.path)));
    let nodes = all.by_ref().take(MOST).map(|listed| {
        let mut object = listed.to_json();
        object.set("path", format!("/{}", listed.below(&target.path)));
        object.set("kind", listed.kind());
        if let Some(array) = &listed.array {
            object.set("type", array.data_type());
            object.set("lengths", array.shape());
            object.set("chunks", array.chunks());
            object.set("pipeline", array.codecs());
            object.set("bytes", array.uncompressed.and_then(|bytes| u64::try_from(bytes).ok()));
            object.set("counts", array.grid.as_ref().map(|grid| grid.counts.clone()));
        }
        object
    });
    let nodes: Value = nodes.collect();
    let name = target.store.file_name().unwrap_or(target.store.as_os_str()).to_string_lossy().into_owned();
    let name = if target.path == "/" { name } else { format!("{name}{}", target.path) };
    let more = all.count() as u64;
    Ok(json::document([("name", name.into()), ("nodes", nodes), ("more_nodes", more.into())]))
}

/// Returns the documents and the attributes of the target, and what is wrong with them.
pub(crate) fn node(target: &Target) -> Result<Object, Failure> {
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
    Ok(json::document([
        ("documents", documents.collect()),
        ("attributes", attributes.collect()),
        ("notes", notes.iter().map(ToString::to_string).collect()),
    ]))
}
