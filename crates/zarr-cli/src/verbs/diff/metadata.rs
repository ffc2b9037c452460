//! Compares the metadata of two nodes by its meaning, so that formats may differ.

use std::collections::BTreeSet;

use zarr_array::meta::json::{Object, Value};
use zarr_array::meta::{ArrayMeta, Format, Ignore, NodeMeta, xarray};
use zarr_array::{Limits, Registry};

use super::report::Difference;
use crate::args::target::registry;
use crate::out::json::sorted;

/// Returns the differences of two nodes; with `encoding` also of formats, chunks and codecs.
pub(super) fn compare(a: &NodeMeta, b: &NodeMeta, encoding: bool) -> Vec<Difference> {
    let mut found = Vec::new();
    match (a, b) {
        (NodeMeta::Array(a), NodeMeta::Array(b)) => {
            arrays(a, b, encoding, &mut found);
            let [of_a, of_b] = [(a, b), (b, a)].map(|(one, other)| attributes(one, other.format()));
            objects(&of_a, &of_b, &mut found);
        }
        (NodeMeta::Group(a), NodeMeta::Group(b)) => objects(&a.attributes(), &b.attributes(), &mut found),
        (NodeMeta::Array(_), NodeMeta::Group(_)) => {
            found.push(Difference::new("node", Some("array"), Some("group")));
        }
        (NodeMeta::Group(_), NodeMeta::Array(_)) => {
            found.push(Difference::new("node", Some("group"), Some("array")));
        }
    }
    if encoding && a.format() != b.format() {
        let [a, b] = [a, b].map(|node| Some(node.format().number()));
        found.push(Difference::new("zarr_format", a, b));
    }
    found
}

fn arrays(a: &ArrayMeta, b: &ArrayMeta, encoding: bool, found: &mut Vec<Difference>) {
    let (registry, limits) = (registry(), Limits::default());
    let resolve = |meta: &ArrayMeta| meta.resolve(&registry, &limits, &mut Ignore).ok();
    let (of_a, of_b) = (resolve(a), resolve(b));
    let both = of_a.as_ref().zip(of_b.as_ref());
    let (doc_a, doc_b) = (a.document(), b.document());
    let mut add = |name, is_same: bool, value: &dyn Fn(&ArrayMeta) -> Value| {
        if !is_same {
            found.push(Difference::new(name, Some(value(a)), Some(value(b))));
        }
    };
    add("shape", a.shape() == b.shape(), &|meta| meta.shape().iter().copied().collect());
    let is_same = both.map_or(doc_a.data_type() == doc_b.data_type(), |(a, b)| a.data_type == b.data_type);
    add("data_type", is_same, &|meta| meta.document().data_type().to_value());
    // Null in format 2 leaves missing elements undefined.
    let is_undefined = a.fill_is_undefined() || b.fill_is_undefined();
    let is_same = both.map_or(doc_a.fill_value() == doc_b.fill_value(), |(a, b)| a.fill == b.fill);
    add("fill_value", is_undefined || is_same, &|meta| meta.document().fill_value().clone());
    let names = |meta: &ArrayMeta| -> Value {
        let names = meta.dimension_names();
        names.map(|names| names.iter().map(Option::as_deref).collect::<Value>()).into()
    };
    let has_names = |meta: &ArrayMeta| meta.dimension_names().unwrap_or_default().iter().any(Option::is_some);
    let is_same = a.dimension_names() == b.dimension_names() || !(has_names(a) || has_names(b));
    add("dimension_names", is_same, &names);
    if encoding {
        let is_same =
            both.map_or(doc_a.chunk_grid() == doc_b.chunk_grid(), |(a, b)| a.grid.agrees_with(&*b.grid));
        add("chunk_grid", is_same, &|meta| meta.document().chunk_grid().to_value());
        add("codecs", doc_a.codecs() == doc_b.codecs() || same_chunks(a, b, &registry), &|meta| {
            meta.document().codecs().iter().map(|codec| codec.to_value()).collect()
        });
    }
}

fn same_chunks(a: &ArrayMeta, b: &ArrayMeta, registry: &Registry) -> bool {
    a.has_same_chunks(b, registry, &Limits::default()).unwrap_or(false)
}

/// Returns the attributes of an array. Beside an array of format 3, those of an older one are as they would be there.
fn attributes(array: &ArrayMeta, other: Format) -> Object {
    if array.format() != Format::V3 && other == Format::V3 {
        return xarray::attributes_of_format_3(array);
    }
    let mut attributes = array.attributes();
    // These are compared as the names of dimensions.
    if array.format() != Format::V3 && array.dimension_names().is_some() {
        attributes.remove(xarray::DIMENSIONS);
    }
    attributes
}

/// Adds the attributes that differ.
fn objects(a: &Object, b: &Object, found: &mut Vec<Difference>) {
    let names = |object: &Object| object.members().map(|member| member.name_lossy().into_owned()).collect();
    let (in_a, in_b): (BTreeSet<String>, BTreeSet<String>) = (names(a), names(b));
    for name in in_a.union(&in_b) {
        let [a, b] = [a, b].map(|object| object.get(name));
        let is_same = match (&a, &b) {
            (Some(a), Some(b)) => same(a, b),
            _ => false,
        };
        if !is_same {
            found.push(Difference::attribute(name, a, b));
        }
    }
}

/// Whether two values are equal. The members of objects may have any order.
fn same(a: &Value, b: &Value) -> bool {
    a == b || sorted(a) == sorted(b)
}
