//! Lists of codecs in the form that is written to a document.

use zarr_traits::{DataType, Registry};

use super::element::Element;
use super::inside;
use crate::json::{Object, Value};
use crate::v2::complete::{complete, integer, spelled};
use crate::v3::Extension;
use crate::v3::sharding::Sharding;

/// Returns `codecs` in the form that every implementation reads: objects under their registered names, spelled as
/// specified, with all members that some reader requires. The array has elements of `data_type` in chunks of `rank`
/// dimensions.
///
/// A codec that `registry` lacks is left out if it may be skipped, and kept unchanged otherwise.
pub fn written(
    codecs: &[Extension],
    data_type: &DataType,
    rank: usize,
    registry: &Registry,
) -> Vec<Extension> {
    full(&understood(codecs, registry), Element::of(data_type), rank, registry)
}

/// Returns `codecs` without those that readers skip, also inside of shards.
fn understood(codecs: &[Extension], registry: &Registry) -> Vec<Extension> {
    let is_read = |codec: &&Extension| codec.must_understand() || registry.codec(codec.name()).is_ok();
    let inner = |codec: &Extension| match inside(codec) {
        Some(mut shards) => {
            shards.codecs = understood(&shards.codecs, registry);
            shards.index_codecs = understood(&shards.index_codecs, registry);
            shards.to_extension()
        }
        None => codec.clone(),
    };
    codecs.iter().filter(is_read).map(inner).collect()
}

/// Returns each of `codecs` in its full form. The first codec encodes elements like `element`.
pub(crate) fn full(
    codecs: &[Extension],
    mut element: Element,
    rank: usize,
    registry: &Registry,
) -> Vec<Extension> {
    let mut all = Vec::with_capacity(codecs.len());
    for codec in codecs {
        all.push(one(codec, element, rank, registry));
        element = element.after(codec);
    }
    all
}

fn one(codec: &Extension, element: Element, rank: usize, registry: &Registry) -> Extension {
    if let Some(mut shards) = inside(codec) {
        shards.codecs = full(&shards.codecs, element, rank, registry);
        shards.index_codecs = full(&shards.index_codecs, Element::OF_INDEX, rank + 1, registry);
        return shards.to_extension();
    }
    let entry = registry.codec(codec.name());
    if entry.is_err() && !codec.must_understand() {
        return codec.clone();
    }
    let name = entry.map_or(codec.name(), |entry| entry.name());
    let given = codec.configuration();
    let plain = Extension::new(name);
    match name {
        "bytes" if !element.has_order => plain,
        "bytes" => plain.with("endian", given.get("endian").unwrap_or_else(|| "little".into())),
        "transpose" => plain.with("order", order(&given, rank)),
        "gzip" => plain.with("level", integer(&given, "level").unwrap_or_else(|| 5.into())),
        "zstd" => complete(&with(plain, &given, &["level", "checksum"]), element.size),
        "blosc" => {
            let members = ["cname", "clevel", "shuffle", "typesize", "blocksize"];
            complete(&with(plain, &given, &members), element.size)
        }
        "crc32c" => plain,
        // The configuration of the shards is invalid, which is reported when the document is resolved.
        Sharding::NAME => codec.clone(),
        // zarr-python requires a configuration for numcodecs, even an empty one.
        _ if given.is_empty() && !name.starts_with("numcodecs.") => plain,
        _ => plain.with_configuration(&given),
    }
}

/// Returns the order of a transpose as a list of dimensions. Drafts of the specification had "C" and "F".
fn order(given: &Object, rank: usize) -> Value {
    let Some(order) = given.get("order") else { return Vec::<Value>::new().into() };
    match order.to_text().as_deref() {
        Ok("F") => (0..rank).rev().collect(),
        Ok(_) => (0..rank).collect(),
        Err(_) => match order.elements() {
            Some(dims) => dims.map(|dim| spelled(&dim)).collect(),
            None => order,
        },
    }
}

/// Returns `codec` with the members of `given` that have these names.
fn with(codec: Extension, given: &Object, names: &[&str]) -> Extension {
    let present = names.iter().filter_map(|name| given.get(name).map(|value| (name, value)));
    present.fold(codec, |codec, (name, value)| codec.with(name, value))
}
