//! The metadata documents of a copy: those of the source, in the form that every implementation reads.

use zarr_array::meta::codecs::written;
use zarr_array::meta::consolidated::ConsolidatedForm;
use zarr_array::meta::json::{Object, Value};
use zarr_array::meta::v3::{ArrayDocument, Extension, GroupDocument};
use zarr_array::meta::{ArrayMeta, DocumentName, Format, GroupMeta, Ignore, parse_json, xarray};
use zarr_array::traits::Prefix;
use zarr_array::traits::store::PutMode;
use zarr_array::{Array, ArrayErrorKind, Limits, Registry, Storage, node};

use crate::change::Layout;
use crate::error::{CopyError, CopyResult};

/// The member of a group's document of format 3 with consolidated metadata.
const CONSOLIDATED: &str = "consolidated_metadata";

/// Returns the metadata of the copy of an array.
///
/// Attributes and ignorable members keep their bytes; so does the whole document if nothing in it changes.
pub(crate) fn array(
    source: &Array,
    layout: &Layout,
    format: Format,
    registry: &Registry,
) -> CopyResult<ArrayMeta> {
    let meta = source.metadata();
    match (format, meta.format()) {
        (Format::V3, from) => {
            let document = meta.document();
            let keys = match from {
                Format::V3 => key_encoding(document),
                _ => Extension::new("default").with("separator", "/"),
            };
            // In older formats xarray stores the names of dimensions and the missing value elsewhere.
            let attributes = match from {
                Format::V3 => meta.attributes(),
                _ => xarray::attributes_of_format_3(meta),
            };
            new(source, layout, keys, &attributes, document.additional(), registry)
        }
        // The documents of the source, with the changes.
        (Format::V2, Format::V2) => Ok(meta.with_members2(&layout.members2(None)?)?),
        (Format::V2, _) => {
            let keys = Extension::new("v2").with("separator", ".");
            let (attributes, fill) = xarray::attributes_of_format_2(meta);
            let members = layout.members2(fill)?;
            let made = new(source, layout, keys, &attributes, std::iter::empty(), registry)?;
            Ok(made.to_v2()?.with_members2(&members)?)
        }
        _ => Err(CopyError::unsupported("arrays of format 1 can be read, but not written")),
    }
}

/// Makes new metadata of format 3.
fn new(
    source: &Array,
    layout: &Layout,
    keys: Extension,
    attributes: &Object,
    additional: impl Iterator<Item = (String, Value)>,
    registry: &Registry,
) -> CopyResult<ArrayMeta> {
    let document = source.metadata().document();
    let (shape, data_type) = (source.shape(), source.data_type());
    if data_type.name().contains(':') {
        let reason = source.metadata().v3_obstacles().join("; ");
        return Err(CopyError::unsupported(format!("format 3 has no equivalent data type: {reason}")));
    }
    // Leave out codecs that exist only in the models of older formats.
    let is_public = |codec: &&Extension| !codec.name().contains(':');
    let codecs: Vec<Extension> = layout.codecs.iter().filter(is_public).cloned().collect();
    let mut builder = ArrayMeta::builder(shape, data_type.clone())
        .fill(source.fill().clone())
        .chunk_key_encoding(keys)
        .codecs(written(&codecs, data_type, shape.len(), registry));
    builder = match &layout.chunks {
        Some(chunks) => chunks.cut(builder, layout.shards.as_ref())?,
        None => builder.chunk_grid(as_object(document.chunk_grid())),
    };
    if let Some(names) = document.dimension_names() {
        builder = builder.dimension_names(names.to_vec());
    }
    // Codecs of the source are kept, also if the builder would refuse them.
    if codecs == document.codecs() {
        builder = builder.unusual();
    }
    let made = builder.build()?;
    let mut root = made.document().to_value().as_object().unwrap_or_default();
    keep(&mut root, attributes, additional);
    let made =
        ArrayMeta::parse(root.to_value().to_pretty().as_bytes(), &Limits::unlimited(), &mut Vec::new())?;
    // Then a mirror of the source finds nothing to do.
    let is_spelled_well =
        source.metadata().format() == Format::V3 && says_the_same(document, made.document());
    Ok(if is_spelled_well { source.metadata().clone() } else { made })
}

/// Whether two documents of format 3 say the same, beside the order of members, members that are empty, and the spelling of
/// numbers.
fn says_the_same(one: &ArrayDocument, other: &ArrayDocument) -> bool {
    let additional = |document: &ArrayDocument| document.additional().collect::<Object>();
    one.shape() == other.shape()
        && one.data_type() == other.data_type()
        && one.chunk_grid() == other.chunk_grid()
        && one.chunk_key_encoding() == other.chunk_key_encoding()
        && one.codecs() == other.codecs()
        && one.storage_transformers().is_empty()
        && one.dimension_names() == other.dimension_names()
        && one.fill_value().is_same(other.fill_value())
        && one.attributes() == other.attributes()
        && additional(one).is_same(&additional(other))
}

/// Returns a document without the empty consolidated metadata that some writers put into consolidated metadata.
fn without_nested(text: &[u8]) -> Option<Object> {
    let mut root = object(text)?;
    let Some(mut all) = root.get(CONSOLIDATED).and_then(|all| all.as_object()) else { return Some(root) };
    let Some(mut nodes) = all.get("metadata").and_then(|nodes| nodes.as_object()) else { return Some(root) };
    let documents: Vec<_> =
        nodes.members().map(|node| (node.name_lossy().into_owned(), node.value())).collect();
    for (path, document) in documents {
        let Some(mut document) = document.as_object() else { continue };
        let nested = document.get(CONSOLIDATED).and_then(|all| all.get("metadata")?.as_object());
        if nested.is_some_and(|nested| nested.members().next().is_none()) {
            document.remove(CONSOLIDATED);
            nodes.set(&path, document.to_value());
        }
    }
    all.set("metadata", nodes.to_value());
    root.set(CONSOLIDATED, all.to_value());
    Some(root)
}

fn object(text: &[u8]) -> Option<Object> {
    parse_json(text, &Limits::unlimited(), &mut Ignore).ok()?.root.as_object()
}

/// Puts the consolidated metadata of the source at the root of a storage, if what is there says the same.
pub(crate) async fn put_back(storage: &Storage, format: Format, text: &[u8]) -> CopyResult<()> {
    let key = Prefix::root().key(ConsolidatedForm::of(format).holder())?;
    let there = storage.get(&key, Limits::default().metadata_bytes).await?.unwrap_or_default();
    let both = without_nested(text).zip(without_nested(&there));
    if both.is_some_and(|(one, other)| one.is_same(&other)) && *there != *text {
        let _ = storage.put_document(&key, text.to_vec(), PutMode::Replace).await?;
    }
    Ok(())
}

/// Returns the metadata of the copy of a group, without consolidated metadata: the documents of the copy differ.
pub(crate) fn group(source: &GroupMeta, format: Format) -> CopyResult<GroupMeta> {
    if format == Format::V2 && source.format() == Format::V2 {
        return Ok(source.clone());
    }
    let group = source.to_format(format)?;
    let Some(new) = group.document() else { return Ok(group) };
    let mut root = new.to_value().as_object().unwrap_or_default();
    let additional: Vec<_> = source.document().into_iter().flat_map(GroupDocument::additional).collect();
    keep(&mut root, &source.attributes(), additional.into_iter());
    let own = source.document().map(|document| document.to_value());
    if own.is_some_and(|own| own.is_same(&root.to_value())) {
        return Ok(source.clone());
    }
    let text = root.to_value().to_pretty();
    Ok(GroupDocument::parse(text.as_bytes(), &Limits::unlimited(), &mut Vec::new())?.into())
}

/// Puts new documents. In a `resumed` copy, replaces those that differ.
pub(crate) async fn put(
    storage: &Storage,
    documents: Vec<(DocumentName, Option<String>)>,
    resumed: bool,
) -> CopyResult<()> {
    for (name, text) in documents {
        let Some(text) = text else { continue };
        let key = Prefix::root().key(name.as_str())?;
        let there = if resumed { storage.get(&key, Limits::default().metadata_bytes).await? } else { None };
        match there {
            Some(there) if there == text.as_bytes() => {}
            Some(_) => drop(storage.put_document(&key, text, PutMode::Replace).await?),
            None if node::put_new(storage, &key, text.clone()).await? => {}
            // A worker of a joined copy that was only slow has written it just now.
            None if resumed => drop(storage.put_document(&key, text, PutMode::Replace).await?),
            None => {
                return Err(CopyError::node(
                    ArrayErrorKind::Conflict,
                    "another writer has written the document of the copy",
                ));
            }
        }
    }
    Ok(())
}

/// Whether two documents mean the same: beside white space, the order of members and the spelling of numbers. The first may have consolidated metadata as
/// well.
pub(crate) fn same(one: &[u8], other: &[u8], is_consolidated: bool) -> bool {
    let root = |text: &[u8]| {
        let mut root = object(text)?;
        if is_consolidated {
            root.remove(CONSOLIDATED);
        }
        Some(root)
    };
    root(one).zip(root(other)).is_some_and(|(one, other)| one.is_same(&other))
}

fn keep(root: &mut Object, attributes: &Object, additional: impl Iterator<Item = (String, Value)>) {
    root.set("attributes", attributes);
    for (name, value) in additional.filter(|(_, value)| !value.is_null()) {
        root.set(&name, value);
    }
}

/// Returns the chunk key encoding with an explicit separator in its configuration.
fn key_encoding(document: &ArrayDocument) -> Extension {
    let encoding = document.chunk_key_encoding();
    let default = match encoding.name() {
        "default" => "/",
        "v2" => ".",
        _ => return as_object(encoding),
    };
    // Drafts of the specification had it beside the name.
    let beside = encoding.to_value().as_object().and_then(|object| object.get("separator"));
    let separator = encoding.configuration().get("separator").or(beside);
    Extension::new(encoding.name()).with("separator", separator.unwrap_or_else(|| default.into()))
}

fn as_object(extension: &Extension) -> Extension {
    let configuration = extension.configuration();
    let plain = Extension::new(extension.name());
    if configuration.is_empty() { plain } else { plain.with_configuration(&configuration) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_the_same_by_their_exact_values() {
        for (one, other, is_same) in [
            (r#"{"a": 1, "b": 2}"#, r#"{"b":2.0,"a":1}"#, true),
            (r#"{"fill_value": 9007199254740993}"#, r#"{"fill_value": 9007199254740992}"#, false),
            (r#"{"attributes": {"consolidated_metadata": 1}}"#, r#"{"attributes": {}}"#, false),
        ] {
            assert_eq!(same(one.as_bytes(), other.as_bytes(), false), is_same, "{one} {other}");
        }
    }
}
