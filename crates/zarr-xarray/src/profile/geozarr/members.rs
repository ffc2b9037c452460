//! The conventions `spatial`, `proj`, `uom` and `license`.

use zarr_meta::Severity;
use zarr_meta::json::{Object, Value};

use super::Node;
use crate::profile::registered::Registered;
use crate::profile::rules::{
    Rule, are, are_numbers, has_length, is_object, is_positive, is_text, judge, may, must,
};

/// The attributes of `spatial`. Those of a level are also members of its entry in a layout.
pub(super) const SPATIAL: &[Rule] = &[
    may("spatial:dimensions", "two names", |value| has_length(value, 2) && are(value, is_text)),
    may("spatial:bbox", "four numbers", |value| has_length(value, 4) && are_numbers(value)),
    may("spatial:transform", "six numbers", |value| has_length(value, 6) && are_numbers(value)),
    may("spatial:shape", "two integers of 1 or more", |value| {
        has_length(value, 2) && are(value, is_positive)
    }),
    may("spatial:registration", "\"pixel\" or \"node\"", |value| is_one_of(value, &["pixel", "node"])),
    may("spatial:transform_type", "a text", is_text),
];

const PROJ: &[Rule] = &[
    may("proj:code", "an authority, a colon and a code", is_code),
    may("proj:wkt2", "a text", is_text),
    may("proj:projjson", "an object", is_object),
];

const UOM: &[Rule] = &[must("ucum", "an object", is_object), may("description", "a text", is_text)];
const UCUM: &[Rule] = &[must("unit", "a text", is_text), may("version", "a text", is_text)];

const LICENSE: &[Rule] = &[
    may("spdx", "a text", is_text),
    may("url", "a text", is_text),
    may("text", "a text", is_text),
    may("file", "a text", is_text),
    may("path", "a text", is_text),
];

/// Checks the members of a convention that a node declares.
pub(super) fn check(convention: Registered, node: &Node<'_>, mut tell: impl FnMut(Severity, String)) {
    match convention {
        Registered::Spatial => spatial(node, tell),
        Registered::Proj => {
            judge(node.attributes, PROJ, &mut tell);
            one_of(node.attributes, PROJ_ONE, "the attributes", tell);
        }
        Registered::Uom => {
            let Some(uom) = object(node.attributes, "uom", &mut tell) else { return };
            judge(&uom, UOM, within("uom", &mut tell));
            if let Some(ucum) = uom.get("ucum").and_then(|ucum| ucum.as_object()) {
                judge(&ucum, UCUM, within("ucum of uom", &mut tell));
            }
        }
        Registered::License => {
            let Some(license) = object(node.attributes, "license", &mut tell) else { return };
            judge(&license, LICENSE, within("license", &mut tell));
            one_of(&license, LICENSE_ONE, "license", tell);
        }
        Registered::Multiscales => {}
    }
}

const PROJ_ONE: &[&str] = &["proj:code", "proj:wkt2", "proj:projjson"];
const LICENSE_ONE: &[&str] = &["spdx", "url", "text", "file", "path"];

fn spatial(node: &Node<'_>, mut tell: impl FnMut(Severity, String)) {
    judge(node.attributes, SPATIAL, &mut tell);
    let Some(names) = node.attributes.get("spatial:dimensions") else {
        if node.is_array {
            tell(Severity::Error, "spatial:dimensions is absent".to_owned());
        }
        return;
    };
    // The arrays of a group can be in groups below it.
    let is_known =
        |name: &String| node.dimensions.contains(name) || node.dimensions.is_empty() && !node.is_array;
    let names = names.elements().into_iter().flatten().filter_map(|name| name.as_text());
    for name in names.filter(|name| !is_known(name)) {
        tell(Severity::Error, format!("spatial:dimensions names {name:?}, which is not a dimension"));
    }
}

/// Tells if none of these members is there.
fn one_of(of: &Object, names: &[&str], place: &str, mut tell: impl FnMut(Severity, String)) {
    if !names.iter().any(|name| of.contains(name)) {
        tell(Severity::Error, format!("{place}: one of {} must be there", names.join(", ")));
    }
}

/// Returns the object of a convention.
fn object(attributes: &Object, name: &str, tell: &mut impl FnMut(Severity, String)) -> Option<Object> {
    let object = attributes.get(name).and_then(|value| value.as_object());
    if object.is_none() {
        tell(Severity::Error, format!("{name} is absent, or not an object"));
    }
    object
}

/// Puts a place before each message.
pub(super) fn within(place: &str, tell: &mut impl FnMut(Severity, String)) -> impl FnMut(Severity, String) {
    move |severity, message| tell(severity, format!("{place}: {message}"))
}

fn is_one_of(value: &Value, texts: &[&str]) -> bool {
    value.to_text().is_ok_and(|text| texts.contains(&&*text))
}

/// Whether a text is that of an authority and a code: `EPSG:32633`.
fn is_code(value: &Value) -> bool {
    let Some(text) = value.as_text() else { return false };
    matches!(text.split(':').collect::<Vec<_>>()[..], [authority, code] if !authority.is_empty() && !code.is_empty())
}
