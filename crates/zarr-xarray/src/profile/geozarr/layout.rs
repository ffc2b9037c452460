//! The convention `multiscales`: the layout of levels.

use zarr_meta::json::{Object, Value};
use zarr_meta::{NodeMeta, Severity};

use super::members::{SPATIAL, within};
use super::{Hierarchy, Node, Report, teller};
use crate::finding::FindingCode;
use crate::profile::registered::Registered;
use crate::profile::rules::{Rule, are_numbers, are_objects, is_object, is_text, judge, may, must};
use crate::profile::text;

const MULTISCALES: &[Rule] = &[
    must("layout", "a list of one or more objects", are_objects),
    may("resampling_method", "a text", is_text),
];

const LEVEL: &[Rule] = &[
    must("asset", "a path of names, relative to the group", is_path),
    may("derived_from", "a path of names, relative to the group", is_path),
    may("transform", "an object", is_object),
    may("resampling_method", "a text", is_text),
];

const TRANSFORM: &[Rule] =
    &[may("scale", "a list of numbers", are_numbers), may("translation", "a list of numbers", are_numbers)];

pub(super) fn check(hierarchy: &Hierarchy, node: &Node<'_>, report: &mut Report<'_>) {
    let mut tell = teller(report, node.path, FindingCode::MultiscalesLayout);
    if node.is_array {
        return tell(
            Severity::Error,
            "multiscales is a convention of groups, and this is an array".to_owned(),
        );
    }
    let Some(multiscales) = node.attributes.get("multiscales").and_then(|value| value.as_object()) else {
        return tell(Severity::Error, "multiscales is declared, but absent or not an object".to_owned());
    };
    judge(&multiscales, MULTISCALES, &mut tell);
    let layout = multiscales.get("layout").and_then(|layout| layout.elements());
    for (number, entry) in layout.into_iter().flatten().filter_map(|entry| entry.as_object()).enumerate() {
        let place = format!("level {number} of the layout");
        level(hierarchy, node, &entry, within(&place, &mut tell));
    }
}

fn level(hierarchy: &Hierarchy, node: &Node<'_>, entry: &Object, mut tell: impl FnMut(Severity, String)) {
    judge(entry, LEVEL, &mut tell);
    if node.declared.contains(&Registered::Spatial) {
        judge(entry, SPATIAL, &mut tell);
    }
    let transform = entry.get("transform").and_then(|transform| transform.as_object());
    if entry.contains("derived_from") && transform.is_none() {
        tell(Severity::Error, "a level with derived_from has no transform".to_owned());
    }
    let transform = transform.unwrap_or_default();
    judge(&transform, TRANSFORM, within("transform", &mut tell));
    let Some(asset) = text(entry, "asset").filter(|_| entry.get("asset").as_ref().is_some_and(is_path))
    else {
        return;
    };
    match hierarchy.at(node.path, &asset) {
        None => tell(Severity::Error, format!("the asset {asset:?} is not there")),
        Some((_, NodeMeta::Array(array))) => {
            for name in ["scale", "translation"] {
                let count = transform.get(name).and_then(|list| list.elements()).map(Iterator::count);
                let rank = array.shape().len();
                if count.is_some_and(|count| count != rank) {
                    tell(Severity::Error, format!("{name} has not one number for each of {rank} dimensions"));
                }
            }
        }
        Some(_) => {}
    }
}

/// Whether a text is a path below the group: names between slashes, and no `..`.
fn is_path(value: &Value) -> bool {
    value.to_text().is_ok_and(|path| path.split('/').all(|name| !name.is_empty() && !name.contains("..")))
}
