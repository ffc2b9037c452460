//! The checks of OME-Zarr 0.4 and 0.5.
//!
//! Specification: [OME-Zarr](https://ngff.openmicroscopy.org/0.5/). In 0.5 all metadata is in the attribute `ome` of
//! format 3, in 0.4 in the attributes of format 2.

mod image;
mod labels;
mod plate;

use zarr_meta::json::{Object, Value};
use zarr_meta::{Format, NodeMeta};

use super::{Hierarchy, Ome, Report, text};
use crate::attribute::number;
use crate::finding::FindingCode;

/// The members that make a group one of OME-Zarr.
const MEMBERS: [&str; 6] = ["multiscales", "omero", "labels", "image-label", "plate", "well"];

/// The versions that are checked.
const V04: &str = "0.4";
const V05: &str = "0.5";

/// A group with metadata of OME-Zarr.
struct OmeGroup<'a> {
    hierarchy: &'a Hierarchy,
    path: &'a str,
    /// The metadata.
    members: Object,
    /// Whether the metadata is that of 0.5.
    is_v05: bool,
}

pub(super) fn check(hierarchy: &Hierarchy, report: &mut Report<'_>) {
    let groups: Vec<OmeGroup<'_>> = groups(hierarchy).collect();
    if groups.is_empty() {
        let message = "no group has metadata of OME-Zarr";
        report.error(&[Ome], "/", FindingCode::OmeVersion, message);
    }
    versions(&groups, report);
    for group in &groups {
        image::check(group, report);
        labels::check(group, report);
        plate::check(group, report);
    }
}

fn groups(hierarchy: &Hierarchy) -> impl Iterator<Item = OmeGroup<'_>> {
    hierarchy.nodes.iter().filter_map(move |(path, node)| OmeGroup::of(hierarchy, path, node))
}

/// Every group says its version, and all the same.
fn versions(groups: &[OmeGroup<'_>], report: &mut Report<'_>) {
    let mut first: Option<String> = None;
    for group in groups {
        let found = group.version();
        // Writers leave it out of the list of labels, and 0.4 has no place for it there.
        let is_list = group.members.contains("labels");
        let Some(version) = found else {
            let message = "the version of OME-Zarr is absent";
            match (is_list, group.is_v05) {
                (true, true) => report.warning(&[Ome], group.path, FindingCode::OmeVersion, message),
                (true, false) => {}
                (false, _) => report.error(&[Ome], group.path, FindingCode::OmeVersion, message),
            }
            continue;
        };
        let wanted = if group.is_v05 { V05 } else { V04 };
        if version != wanted {
            let place = if group.is_v05 { "the attribute ome" } else { "attributes outside of ome" };
            let message = format!("the version is {version:?}, and {place} is that of {wanted}");
            report.error(&[Ome], group.path, FindingCode::OmeVersion, message);
        }
        let first = first.get_or_insert_with(|| version.clone());
        if *first != version {
            let message = format!("the version is {version:?}, and {first:?} in other groups");
            report.error(&[Ome], group.path, FindingCode::OmeVersion, message);
        }
    }
}

impl<'a> OmeGroup<'a> {
    /// Returns a node as a group with metadata of OME-Zarr, if it is one.
    fn of(hierarchy: &'a Hierarchy, path: &'a str, node: &NodeMeta) -> Option<Self> {
        let NodeMeta::Group(meta) = node else { return None };
        let attributes = meta.attributes();
        let namespace = attributes.get("ome").and_then(|ome| ome.as_object());
        let namespace = namespace.filter(|_| meta.format() == Format::V3);
        let is_v05 = namespace.is_some();
        let members = namespace.unwrap_or(attributes);
        let is_there = is_v05 || MEMBERS.into_iter().any(|name| members.contains(name));
        is_there.then_some(Self { hierarchy, path, members, is_v05 })
    }

    /// The version: beside the other members in 0.5, inside of them in 0.4.
    fn version(&self) -> Option<String> {
        if self.is_v05 {
            return text(&self.members, "version");
        }
        let inside = |name: &str| {
            let value = self.members.get(name)?;
            let first = value.elements().and_then(|mut list| list.next()).unwrap_or(value);
            text(&first.as_object()?, "version")
        };
        ["multiscales", "plate", "well", "image-label", "omero"].into_iter().find_map(inside)
    }

    fn object(&self, name: &str) -> Option<Object> {
        self.members.get(name)?.as_object()
    }

    /// Returns another group with metadata of OME-Zarr.
    fn at(&self, path: &str) -> Option<Self> {
        let (path, node) = self.hierarchy.at(self.path, path)?;
        Self::of(self.hierarchy, path, node)
    }

    /// The datasets of the first image.
    fn datasets(&self) -> Vec<Object> {
        let image = objects(&self.members, "multiscales").and_then(|images| images.into_iter().next());
        image.and_then(|image| objects(&image, "datasets")).unwrap_or_default()
    }

    fn error(&self, report: &mut Report<'_>, code: FindingCode, message: impl Into<String>) {
        report.error(&[Ome], self.path, code, message);
    }

    fn warning(&self, report: &mut Report<'_>, code: FindingCode, message: impl Into<String>) {
        report.warning(&[Ome], self.path, code, message);
    }
}

/// Returns a member that is a list of objects.
fn objects(object: &Object, name: &str) -> Option<Vec<Object>> {
    object.get(name)?.elements()?.map(|element| element.as_object()).collect()
}

/// Returns an integer.
fn integer(value: &Value) -> Option<i128> {
    let is_integer = value.as_number().is_some_and(|number| number.is_plain_integer());
    is_integer.then(|| number(value)?.to_integer())?
}

/// Returns a member that is an integer.
fn integer_of(object: &Object, name: &str) -> Option<i128> {
    integer(&object.get(name)?)
}

/// Returns the first text that occurs twice.
fn twice(texts: &[String]) -> Option<&String> {
    texts.iter().enumerate().find(|(at, text)| texts[..*at].contains(text)).map(|(_, text)| text)
}

/// Whether a name has only letters and digits.
fn is_alphanumeric(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric())
}
