//! The checks of OME-Zarr 0.4, 0.5 and 0.6.
//!
//! Specification: [OME-Zarr](https://ngff.openmicroscopy.org/specifications/index.html). Since 0.5 all metadata is in the
//! attribute `ome` of format 3, in 0.4 in the attributes of format 2. In 0.6 axes belong to coordinate systems.

mod axes;
mod image;
mod labels;
mod level;
mod plate;
mod scene;
mod systems;
mod transformation;

use zarr_meta::json::Object;
use zarr_meta::multiscale::{OmeVersion, ome_members};
use zarr_meta::{Format, NodeMeta, Severity};

use super::registered::is_multiscales;
use super::{Hierarchy, Ome, Report, text};
use crate::finding::FindingCode;

/// The members that make a group one of OME-Zarr.
const MEMBERS: [&str; 6] = ["multiscales", "omero", "labels", "image-label", "plate", "well"];

/// A group with metadata of OME-Zarr.
struct OmeGroup<'a> {
    hierarchy: &'a Hierarchy,
    path: &'a str,
    /// The metadata.
    members: Object,
    /// The version whose rules hold.
    version: OmeVersion,
    is_v3: bool,
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
        scene::check(group, report);
    }
}

fn groups(hierarchy: &Hierarchy) -> impl Iterator<Item = OmeGroup<'_>> {
    hierarchy.nodes.iter().filter_map(move |(path, node)| OmeGroup::of(hierarchy, path, node))
}

/// Every group says its version, and all the same.
fn versions(groups: &[OmeGroup<'_>], report: &mut Report<'_>) {
    let mut first: Option<String> = None;
    for group in groups {
        let wrong = |report: &mut Report<'_>, message: String| {
            group.error(report, FindingCode::OmeVersion, message);
        };
        if group.version == OmeVersion::V04 && group.is_v3 {
            wrong(
                report,
                "the metadata is outside of the attribute ome, as in 0.4, which is for format 2".to_owned(),
            );
        }
        // Writers leave it out of the list of labels, and 0.4 has no place for it there.
        let is_list = group.members.contains("labels");
        let Some(version) = group.version_text() else {
            let message = "the version of OME-Zarr is absent";
            match (is_list, group.version) {
                (true, OmeVersion::V04) => {}
                (true, _) | (false, OmeVersion::V04) => {
                    group.warning(report, FindingCode::OmeVersion, message)
                }
                (false, _) => wrong(report, message.to_owned()),
            }
            continue;
        };
        let is_outside = group.version == OmeVersion::V04;
        if !version.parse().is_ok_and(|of: OmeVersion| (of == OmeVersion::V04) == is_outside) {
            let wanted = if is_outside {
                "attributes outside of ome is that of 0.4"
            } else {
                "the attribute ome is that of 0.5 or 0.6"
            };
            wrong(report, format!("the version is {version:?}, and {wanted}"));
        }
        let first = first.get_or_insert_with(|| version.clone());
        if *first != version {
            wrong(report, format!("the version is {version:?}, and {first:?} in other groups"));
        }
    }
}

impl<'a> OmeGroup<'a> {
    /// Returns a node as a group with metadata of OME-Zarr, if it is one.
    fn of(hierarchy: &'a Hierarchy, path: &'a str, node: &NodeMeta) -> Option<Self> {
        let NodeMeta::Group(meta) = node else { return None };
        let attributes = meta.attributes();
        let (members, is_within) = ome_members(&attributes, meta.format());
        let version = match text(&members, "version") {
            _ if !is_within => OmeVersion::V04,
            Some(text) if text.starts_with("0.6") => OmeVersion::V06,
            _ => OmeVersion::V05,
        };
        let is_convention = |name: &str| name == "multiscales" && is_multiscales(&attributes);
        let is_there =
            is_within || MEMBERS.into_iter().any(|name| attributes.contains(name) && !is_convention(name));
        let is_v3 = meta.format() == Format::V3;
        is_there.then_some(Self { hierarchy, path, members, version, is_v3 })
    }

    /// The text of the version: since 0.5 beside the other members, in 0.4 inside of them.
    fn version_text(&self) -> Option<String> {
        if self.version != OmeVersion::V04 {
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

    /// The first image.
    fn image(&self) -> Option<Object> {
        objects(&self.members, "multiscales")?.into_iter().next()
    }

    /// The datasets of the first image.
    fn datasets(&self) -> Vec<Object> {
        self.image().and_then(|image| objects(&image, "datasets")).unwrap_or_default()
    }

    fn error(&self, report: &mut Report<'_>, code: FindingCode, message: impl Into<String>) {
        report.error(&[Ome], self.path, code, message);
    }

    fn warning(&self, report: &mut Report<'_>, code: FindingCode, message: impl Into<String>) {
        report.warning(&[Ome], self.path, code, message);
    }

    /// Returns a function that adds findings of a code.
    fn teller(&self, report: &mut Report<'_>, code: FindingCode) -> impl FnMut(Severity, String) {
        move |severity, message| report.add(&[Ome], severity, self.path, code, message)
    }
}

/// Returns a member that is a list of objects.
fn objects(object: &Object, name: &str) -> Option<Vec<Object>> {
    object.get(name)?.elements()?.map(|element| element.as_object()).collect()
}

/// Returns a member that is an integer.
fn integer_of(object: &Object, name: &str) -> Option<i128> {
    object.get(name)?.as_integer()
}

/// Returns the first text that occurs twice.
fn twice(texts: &[String]) -> Option<&String> {
    texts.iter().enumerate().find(|(at, text)| texts[..*at].contains(text)).map(|(_, text)| text)
}

/// Whether a name has only letters and digits.
fn is_alphanumeric(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric())
}
