//! Documents of format 2, with other chunks, codecs and fill values.

use zarr_array::Limits;
use zarr_array::meta::json::{Document, Value};
use zarr_array::meta::{ArrayMeta, DocumentName, Documents, Ignore, NodeMeta};

use super::change::Layout;
use crate::exit::Failure;

/// Filters that make bytes of objects; an array of objects begins with one (checklist H.6).
const OBJECTS: [&str; 5] = ["vlen-utf8", "vlen-bytes", "vlen-array", "json2", "msgpack2"];

/// The metadata of an array of format 2 with the chunks and codecs of a layout, and with another fill value if one is given.
/// Everything else is as it is spelled.
pub(crate) fn changed(meta: &ArrayMeta, layout: &Layout, fill: Option<Value>) -> Result<ArrayMeta, Failure> {
    let limits = Limits::unlimited();
    let mut documents = Documents::new();
    for (name, text) in meta.documents() {
        let Some(text) = text else { continue };
        let text =
            if name == DocumentName::Array2 { array(&text, layout, fill.as_ref(), &limits)? } else { text };
        documents.insert(name, text);
    }
    match NodeMeta::parse(&documents, &limits, &mut Ignore)? {
        Some(NodeMeta::Array(meta)) => Ok(meta),
        _ => unreachable!("the documents of an array are those of an array"),
    }
}

fn array(text: &str, layout: &Layout, fill: Option<&Value>, limits: &Limits) -> Result<String, Failure> {
    let mut document = Document::parse(text.as_bytes(), limits, &mut Ignore)?;
    let mut members = document.root.as_object().unwrap_or_default();
    if let Some(chunks) = &layout.chunks {
        members.set("chunks", chunks.iter().copied().collect::<Value>());
    }
    if let Some(codecs) = &layout.old {
        let filters = match members.get("filters").and_then(|filters| filters.elements()?.next()) {
            Some(first) if is_object_codec(&first) => with_first(first, &codecs.filters),
            _ => codecs.filters.clone(),
        };
        members.set("filters", filters);
        members.set("compressor", codecs.compressor.clone());
    }
    if let Some(fill) = fill {
        members.set("fill_value", fill.clone());
    }
    document.root = members.to_value();
    Ok(document.to_text())
}

/// The filters, and the one that elements cannot do without in front of them.
fn with_first(first: Value, filters: &Value) -> Value {
    let mut given = filters.elements().into_iter().flatten().peekable();
    let first = if given.peek().is_some_and(is_object_codec) { None } else { Some(first) };
    first.into_iter().chain(given).collect()
}

fn is_object_codec(filter: &Value) -> bool {
    let id = filter.as_object().and_then(|filter| filter.get("id"));
    id.is_some_and(|id| id.to_text().is_ok_and(|id| OBJECTS.contains(&&*id)))
}
