//! The documents of a copy: what the source says, in the form that every implementation reads (checklist A.8).

use zarr_array::blocking::Array;
use zarr_array::meta::json::{Object, Value};
use zarr_array::meta::v3::{ArrayDocument, Extension, GroupDocument};
use zarr_array::meta::{ArrayMeta, DocumentName, Format, GroupMeta, xarray};
use zarr_array::traits::{Bytes, Outcome, Prefix, Put};
use zarr_array::{Limits, Storage, block_on};

use super::change::Layout;
use super::old;
use super::written::written;

use crate::exit::{Exit, Failure};
use crate::target::registry;

/// The metadata of the copy of an array.
///
/// Attributes, and members that may be ignored, are kept as they are spelled.
pub(crate) fn array(source: &Array, layout: &Layout, format: Format) -> Result<ArrayMeta, Failure> {
    let meta = source.metadata();
    match (format, meta.format()) {
        (Format::V3, from) => {
            let document = meta.document();
            let keys = match from {
                Format::V3 => key_encoding(document),
                _ => Extension::new("default").with("separator", "/"),
            };
            let attributes = attributes(meta);
            new(source, layout, keys, &attributes, document.additional())
        }
        // Its documents as they are, but for what is changed.
        (Format::V2, Format::V2) => old::changed(meta, layout, None),
        (Format::V2, _) => {
            let keys = Extension::new("v2").with("separator", ".");
            let (mut attributes, fill) = (meta.attributes(), xarray::fill_value_of_format_2(meta));
            if fill.is_some() {
                attributes.remove(xarray::FILL_VALUE);
            }
            if meta.shape().is_empty() {
                attributes.set(xarray::DIMENSIONS, Value::from_iter(Vec::<u64>::new()));
            }
            let made = new(source, layout, keys, &attributes, std::iter::empty())?;
            old::changed(&made.to_v2()?, layout, fill)
        }
        _ => Err(Failure::unsupported("arrays of format 1 are read, and not written")),
    }
}

/// New metadata of format 3.
fn new(
    source: &Array,
    layout: &Layout,
    keys: Extension,
    attributes: &Object,
    additional: impl Iterator<Item = (String, Value)>,
) -> Result<ArrayMeta, Failure> {
    let document = source.metadata().document();
    let (shape, data_type) = (source.shape(), source.data_type());
    if data_type.name().contains(':') {
        let reason = source.metadata().v3_obstacles().join("; ");
        return Err(Failure::unsupported(format!("format 3 has no data type like its own: {reason}")));
    }
    // What only models of older formats have: the elements are there, whatever they were encoded by.
    let is_public = |codec: &&Extension| !codec.name().contains(':');
    let codecs: Vec<Extension> = layout.codecs.iter().filter(is_public).cloned().collect();
    let mut builder = ArrayMeta::builder(shape, data_type.clone())
        .fill(source.fill().clone())
        .chunk_key_encoding(keys)
        .codecs(written(&codecs, data_type, shape.len(), &registry()));
    builder = match &layout.chunks {
        Some(chunks) => builder.chunks(chunks.clone()),
        None => builder.chunk_grid(as_object(document.chunk_grid())),
    };
    if let Some(shards) = &layout.shards {
        builder = builder.shards(shards.clone());
    }
    if let Some(names) = document.dimension_names() {
        builder = builder.dimension_names(names.to_vec());
    }
    let made = builder.build()?;
    let mut root = made.document().to_value().as_object().unwrap_or_default();
    keep(&mut root, attributes, additional);
    Ok(ArrayMeta::parse(root.to_value().to_pretty().as_bytes(), &Limits::unlimited(), &mut Vec::new())?)
}

/// The attributes that an array has in format 3: what xarray says by them in older formats has another place there
/// (checklist J2, J3, J.2).
fn attributes(meta: &ArrayMeta) -> Object {
    let mut attributes = meta.attributes();
    if meta.format() == Format::V3 {
        return attributes;
    }
    let missing = xarray::missing_value(meta);
    if meta.dimension_names().is_some() || meta.shape().is_empty() {
        attributes.remove(xarray::DIMENSIONS);
    }
    let missing = missing.and_then(|value| xarray::fill_value_attribute(meta.document().data_type(), &value));
    if let Some(missing) = missing {
        attributes.set(xarray::FILL_VALUE, missing);
    }
    attributes
}

/// The metadata of the copy of a group. Consolidated metadata is left out: it describes documents that are others now.
pub(crate) fn group(source: &GroupMeta, format: Format) -> Result<GroupMeta, Failure> {
    if format == Format::V2 && source.format() == Format::V2 {
        return Ok(source.clone());
    }
    let group = source.to_format(format)?;
    let Some(new) = group.document() else { return Ok(group) };
    let mut root = new.to_value().as_object().unwrap_or_default();
    let additional: Vec<_> = source.document().into_iter().flat_map(GroupDocument::additional).collect();
    keep(&mut root, &source.attributes(), additional.into_iter());
    let text = root.to_value().to_pretty();
    Ok(GroupDocument::parse(text.as_bytes(), &Limits::unlimited(), &mut Vec::new())?.into())
}

/// Puts documents where there are none.
pub(crate) fn put(storage: &Storage, documents: Vec<(DocumentName, Option<String>)>) -> Result<(), Failure> {
    for (name, text) in documents {
        let Some(text) = text else { continue };
        let key = Prefix::root().key(name.as_str())?;
        match block_on(storage.writer()?.put(&key, &[Bytes::from(text)], Put::Create))? {
            Outcome::Done(_) => {}
            _ => return Err(Failure::new(Exit::Io, "somebody else has written the document of the copy")),
        }
    }
    Ok(())
}

fn keep(root: &mut Object, attributes: &Object, additional: impl Iterator<Item = (String, Value)>) {
    root.set("attributes", attributes);
    for (name, value) in additional.filter(|(_, value)| !value.is_null()) {
        root.set(&name, value);
    }
}

/// With its separator in its place, and said.
fn key_encoding(document: &ArrayDocument) -> Extension {
    let encoding = document.chunk_key_encoding();
    let default = match encoding.name() {
        "default" => "/",
        "v2" => ".",
        _ => return as_object(encoding),
    };
    // Drafts had it beside the name.
    let beside = encoding.to_value().as_object().and_then(|object| object.get("separator"));
    let separator = encoding.configuration().get("separator").or(beside);
    Extension::new(encoding.name()).with("separator", separator.unwrap_or_else(|| default.into()))
}

fn as_object(extension: &Extension) -> Extension {
    let configuration = extension.configuration();
    let plain = Extension::new(extension.name());
    if configuration.is_empty() { plain } else { plain.with_configuration(&configuration) }
}
