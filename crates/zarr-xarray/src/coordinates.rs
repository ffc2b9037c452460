//! Finds the variables that are coordinates.

use std::collections::BTreeMap;

use zarr_meta::json::{Object, Value};

use crate::conventions::{CoordinateNames, VariablePlan};
use crate::finding::{Finding, FindingCode};
use crate::related::{RELATED, related_names};

/// The attribute that names coordinates.
const COORDINATES: &str = "coordinates";

/// Removes the attributes that name coordinates from a variable, and returns the names of existing variables.
///
/// `coordinates` moves to the encoding. The attributes of [`RELATED`] move if all of their names exist; otherwise the
/// attribute is dropped, as in xarray. An attribute of another form stays.
pub(crate) fn named_by_variable(
    plan: &mut VariablePlan,
    which: CoordinateNames,
    exists: impl Fn(&str) -> bool,
    findings: &mut Vec<Finding>,
) -> Vec<String> {
    if which == CoordinateNames::Off {
        return Vec::new();
    }
    let mut names = Vec::new();
    if let Some(value) = plan.attributes.get(COORDINATES)
        && let Some(found) = listed(&value, findings)
    {
        names.extend(found.into_iter().filter(|name| exists(name)));
        plan.attributes.remove(COORDINATES);
        plan.encoding.set(COORDINATES, value);
    }
    if which == CoordinateNames::All {
        for attribute in RELATED {
            names.extend(related(plan, attribute, &exists, findings));
        }
    }
    names
}

/// Removes the attribute `coordinates` from the attributes of a group, if it is a text, and returns its names.
pub(crate) fn named_by_group(attributes: &mut Object) -> Vec<String> {
    let names = attributes.get(COORDINATES).and_then(|value| Some(words(&value.to_text().ok()?)));
    if names.is_some() {
        attributes.remove(COORDINATES);
    }
    names.unwrap_or_default()
}

/// Returns the names in an attribute `coordinates`: the words of a text, or the texts of a list.
fn listed(value: &Value, findings: &mut Vec<Finding>) -> Option<Vec<String>> {
    if let Ok(text) = value.to_text() {
        return Some(words(&text));
    }
    let list = value.elements().and_then(|elements| {
        elements
            .map(|element| element.to_text().ok().map(|name| name.into_owned()))
            .collect::<Option<Vec<_>>>()
    });
    let code = if list.is_some() { FindingCode::CoordinatesList } else { FindingCode::ReferencedNames };
    findings.push(Finding::new(code, format!("coordinates is {value}")));
    list
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// The names of one attribute of [`RELATED`].
fn related(
    plan: &mut VariablePlan,
    attribute: &str,
    exists: impl Fn(&str) -> bool,
    findings: &mut Vec<Finding>,
) -> Vec<String> {
    let Some(value) = plan.attributes.get(attribute) else { return Vec::new() };
    let mut found = |what: &str| {
        findings.push(Finding::new(FindingCode::ReferencedNames, format!("{attribute} is {value}: {what}")));
    };
    let Some(read) = value.to_text().ok().and_then(|text| related_names(attribute, &text)) else {
        found("it has another form, so it stays an attribute");
        return Vec::new();
    };
    plan.attributes.remove(attribute);
    let missing: Vec<&str> = read.names.iter().map(String::as_str).filter(|name| !exists(name)).collect();
    if !missing.is_empty() {
        found(&format!("there is no variable {}, so the attribute is dropped", missing.join(", ")));
        return Vec::new();
    }
    if read.is_malformed {
        found("the number of keys differs from the number of names");
    }
    plan.encoding.set(attribute, value.clone());
    read.names
}

/// Whether a variable is a coordinate by its name, and whether it has an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ByName {
    /// Its name is not the name of a dimension.
    No,
    /// It has the name of a dimension, but this is not its only dimension.
    Coordinate,
    /// Its only dimension has its name.
    Index,
}

/// Compares the name of a variable with the names of dimensions.
pub(crate) fn by_name(name: &str, own: &[String], dimensions: &BTreeMap<String, u64>) -> ByName {
    match own {
        [only] if only == name => ByName::Index,
        _ if dimensions.contains_key(name) => ByName::Coordinate,
        _ => ByName::No,
    }
}
