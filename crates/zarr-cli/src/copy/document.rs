//! The documents of a copy: what the source says, in the form that every implementation reads (checklist A.8).

use zarr_array::blocking::Array;
use zarr_array::meta::ArrayMeta;
use zarr_array::meta::diagnostic::Ignore;
use zarr_array::meta::json::{Object, Value};
use zarr_array::meta::path::DOCUMENT;
use zarr_array::meta::v3::{ArrayDocument, Extension, GroupDocument};
use zarr_array::traits::{Bytes, Outcome, Prefix, Put};
use zarr_array::{DataType, Limits, Storage, block_on};

use super::codecs::written;
use super::plan::Change;
use crate::exit::{Exit, Failure};
use crate::target::registry;

/// The codecs of the chunks inside of a shard, however deep; any other codec as it is.
fn unsharded(codec: &Extension) -> Vec<Extension> {
    if codec.name() != "sharding_indexed" {
        return vec![codec.clone()];
    }
    let inner = codec.configuration().get("codecs").and_then(|codecs| codecs.elements());
    let inner = inner.into_iter().flatten().filter_map(|value| Extension::parse(&value, &mut Ignore).ok());
    inner.flat_map(|codec| unsharded(&codec)).collect()
}

/// The metadata of the copy of an array.
///
/// Attributes, and members that may be ignored, are kept as they are spelled.
pub(crate) fn array(source: &Array, change: &Change) -> Result<ArrayMeta, Failure> {
    let document = source.metadata().document();
    let (shape, data_type) = (source.shape(), source.data_type());
    let codecs: Vec<Extension> = match (&change.codecs, &change.chunks) {
        (Some(codecs), _) => codecs.0.clone(),
        // New chunks are no shards: what was inside of shards becomes the codecs of the chunks.
        (None, Some(_)) => document.codecs().iter().flat_map(unsharded).collect(),
        (None, None) => document.codecs().to_vec(),
    };
    let registry = registry();
    let codecs: Vec<Extension> =
        codecs.iter().filter_map(|codec| written(codec, data_type, shape.len(), &registry)).collect();
    let mut builder = ArrayMeta::builder(shape, data_type.clone())
        .fill(source.fill().clone())
        .chunk_key_encoding(key_encoding(document))
        .codecs(codecs.into_iter().map(|codec| with_order(codec, source.data_type())));
    builder = match (&change.chunks, chunk_shape(source)) {
        (Some(chunks), _) if chunks.len() == shape.len() => builder.chunks(chunks.clone()),
        (_, Some(chunks)) => builder.chunks(chunks),
        (_, None) => builder.chunk_grid(as_object(document.chunk_grid())),
    };
    if let Some(names) = document.dimension_names() {
        builder = builder.dimension_names(names.to_vec());
    }
    let made = builder.build()?;
    let mut root = made.document().to_value().as_object().unwrap_or_default();
    keep(&mut root, &document.attributes(), document.additional());
    Ok(ArrayMeta::parse(root.to_value().to_pretty().as_bytes(), &Limits::unlimited(), &mut Vec::new())?)
}

/// The document of the copy of a group. Consolidated metadata is left out: it describes documents that are others now.
pub(crate) fn group(source: &GroupDocument) -> Result<String, Failure> {
    let mut root = GroupDocument::new().to_value().as_object().unwrap_or_default();
    keep(&mut root, &source.attributes(), source.additional());
    let text = root.to_value().to_pretty();
    GroupDocument::parse(text.as_bytes(), &Limits::unlimited(), &mut Vec::new())?;
    Ok(text)
}

/// Puts a document where there is none.
pub(crate) fn put(storage: &Storage, document: Bytes) -> Result<(), Failure> {
    let key = Prefix::root().key(DOCUMENT)?;
    match block_on(storage.writer()?.put(&key, &[document], Put::Create))? {
        Outcome::Done(_) => Ok(()),
        _ => Err(Failure::new(Exit::Io, "somebody else has written the document of the copy")),
    }
}

fn keep(root: &mut Object, attributes: &Object, additional: impl Iterator<Item = (String, Value)>) {
    root.set("attributes", attributes);
    for (name, value) in additional.filter(|(_, value)| !value.is_null()) {
        root.set(&name, value);
    }
}

/// Little-endian, where the user leaves it open and it matters.
fn with_order(codec: Extension, data_type: &DataType) -> Extension {
    let is_open = codec.name() == "bytes" && !codec.configuration().contains("endian");
    if is_open && !data_type.swap().is_none() { codec.with("endian", "little") } else { codec }
}

/// The shape of a chunk, where all chunks have the same.
fn chunk_shape(source: &Array) -> Option<Vec<u64>> {
    if source.metadata().document().chunk_grid().name() != "regular" {
        return None;
    }
    let grid = source.chunk_grid();
    (0..grid.rank()).map(|dim| grid.lengths(dim).first().copied()).collect()
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
