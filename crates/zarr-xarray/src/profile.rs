//! Checks the documents of a hierarchy against the conventions that programs expect: xarray, CF, NZ, GeoZarr, OME-Zarr.

mod array;
mod geozarr;
mod group;
mod ome;
mod registered;
mod roles;
mod rules;
mod values;

use std::collections::BTreeMap;

use zarr_meta::json::Object;
use zarr_meta::{ArrayMeta, Format, NodeMeta, Severity};

use crate::dimensions::{Dimensions, dimensions, lengths, visible_attributes};
use crate::element_kind::ElementKind;
use crate::error::XarrayResult;
use crate::finding::{Finding, FindingCode};

/// A set of conventions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Profile {
    /// The attributes that xarray needs to open a group, and values that it reads differently.
    Xarray,
    /// The CF conventions, as far as documents show them.
    Cf,
    /// NZ-1.0, the structure that CF needs in Zarr format 3.
    Nz,
    /// GeoZarr: the registered conventions `multiscales`, `spatial`, `proj`, and with them `uom` and `license`.
    Geozarr,
    /// OME-Zarr 0.4, 0.5 and 0.6: images, labels, plates, wells and scenes.
    Ome,
}

use Profile::{Cf, Geozarr, Nz, Ome, Xarray};

/// The profiles of labelled datasets.
const LABELLED: &[Profile] = &[Xarray, Cf, Nz, Geozarr];

impl Profile {
    /// All profiles.
    pub const ALL: [Self; 5] = [Xarray, Cf, Nz, Geozarr, Ome];

    /// The name: `xarray`, `cf`, `nz`, `geozarr`, `ome`.
    pub const fn name(self) -> &'static str {
        match self {
            Xarray => "xarray",
            Cf => "cf",
            Nz => "nz",
            Geozarr => "geozarr",
            Ome => "ome",
        }
    }

    /// Returns the profile of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|profile| profile.name() == name)
    }
}

/// The documents of a hierarchy.
///
/// ```
/// use zarr_xarray::{Hierarchy, Profile};
///
/// let hierarchy = Hierarchy::new([], false);
/// assert!(hierarchy.check(&[Profile::Xarray]).is_empty());
/// ```
#[derive(Debug, Clone)]
pub struct Hierarchy {
    /// The nodes by path: `/`, `/a/b`.
    nodes: BTreeMap<String, NodeMeta>,
    is_consolidated: bool,
}

/// A finding about a node.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProfileFinding {
    /// The path of the node.
    pub path: String,
    /// The checked profiles that it is about.
    pub profiles: Vec<Profile>,
    /// Whether the finding breaks a profile. The same code can be an error of one profile and a warning of another.
    pub severity: Severity,
    /// The code and the message.
    pub finding: Finding,
}

impl Hierarchy {
    /// Returns the hierarchy of these nodes, with their paths below its root: `/`, `/a/b`. `is_consolidated` says whether
    /// the root has consolidated metadata.
    pub fn new(nodes: impl IntoIterator<Item = (String, NodeMeta)>, is_consolidated: bool) -> Self {
        Self { nodes: nodes.into_iter().collect(), is_consolidated }
    }

    /// Checks all documents. Reads nothing. Findings of several profiles are reported once, in the order of paths.
    pub fn check(&self, profiles: &[Profile]) -> Vec<ProfileFinding> {
        let mut report = Report { profiles, found: Vec::new() };
        if !self.nodes.is_empty() && profiles.iter().any(|profile| LABELLED.contains(profile)) {
            self.labelled(&mut report);
        }
        if !self.nodes.is_empty() && profiles.contains(&Ome) {
            ome::check(self, &mut report);
        }
        let mut found = report.found;
        found.sort_by(|a, b| (&a.path, a.finding.code).cmp(&(&b.path, b.finding.code)));
        found
    }

    /// Checks groups as datasets.
    fn labelled(&self, report: &mut Report<'_>) {
        let groups: Vec<Group<'_>> = self.groups().collect();
        let known = groups.iter().filter_map(|group| Some((group.path, group.lengths().ok()?))).collect();
        group::root(self, &groups, report);
        for group in &groups {
            group::check(group, &known, report);
            geozarr::check(self, group, report);
            for array in &group.arrays {
                array::check(group, array, report);
                roles::check(self, group, array, report);
            }
        }
    }

    fn groups(&self) -> impl Iterator<Item = Group<'_>> {
        self.nodes.iter().filter_map(|(path, node)| {
            let NodeMeta::Group(meta) = node else { return None };
            let arrays = self.below(path).filter_map(|(name, node)| match node {
                NodeMeta::Array(meta) => Some(Array::new(path, name, meta)),
                NodeMeta::Group(_) => None,
            });
            Some(Group { path, attributes: meta.attributes(), arrays: arrays.collect() })
        })
    }

    /// The nodes directly below a group, with their names.
    fn below<'a>(&'a self, path: &str) -> impl Iterator<Item = (&'a str, &'a NodeMeta)> {
        let start = format!("{}/", path.trim_end_matches('/'));
        let nodes = self.nodes.range(start.clone()..).take_while({
            let start = start.clone();
            move |(path, _)| path.starts_with(&start)
        });
        let name = move |path: &'a str| path.get(start.len()..).filter(|n| !n.is_empty() && !n.contains('/'));
        nodes.filter_map(move |(path, node)| Some((name(path)?, node)))
    }

    /// Returns the node at a path relative to a group, which may have `..` in it.
    fn at(&self, group: &str, path: &str) -> Option<(&str, &NodeMeta)> {
        let mut parts: Vec<&str> = group.split('/').filter(|part| !part.is_empty()).collect();
        for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
            if part == ".." { parts.pop().map(|_| ())? } else { parts.push(part) }
        }
        let (path, node) = self.nodes.get_key_value(&format!("/{}", parts.join("/")))?;
        Some((path, node))
    }

    /// Whether a group, or a group above it, has an array of this name.
    fn has_array(&self, group: &str, name: &str) -> bool {
        let is_array = |path: &str| matches!(self.at(path, name), Some((_, NodeMeta::Array(_))));
        above(group).chain([group]).any(is_array)
    }
}

/// The paths of the groups above a path, the root first.
fn above(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/')
        .map(|(at, _)| if at == 0 { "/" } else { &path[..at] })
        .filter(move |up| *up != path)
}

/// A group as a dataset.
struct Group<'a> {
    path: &'a str,
    attributes: Object,
    arrays: Vec<Array<'a>>,
}

impl Group<'_> {
    /// The length of each dimension.
    fn lengths(&self) -> XarrayResult<BTreeMap<String, u64>> {
        lengths(self.arrays.iter().filter_map(|array| Some((array.name, array.dimensions.as_ref().ok()?))))
    }

    fn array(&self, name: &str) -> Option<&Array<'_>> {
        self.arrays.iter().find(|array| array.name == name)
    }
}

/// An array as a variable.
struct Array<'a> {
    path: String,
    name: &'a str,
    meta: &'a ArrayMeta,
    kind: ElementKind,
    dimensions: XarrayResult<Dimensions>,
    attributes: Object,
}

impl<'a> Array<'a> {
    fn new(group: &str, name: &'a str, meta: &'a ArrayMeta) -> Self {
        Self {
            path: format!("{}/{name}", group.trim_end_matches('/')),
            name,
            meta,
            kind: ElementKind::of(meta.document().data_type()),
            dimensions: dimensions(meta),
            attributes: visible_attributes(meta),
        }
    }

    /// The names of the dimensions; none if one has no name.
    fn names(&self) -> &[String] {
        self.dimensions.as_ref().map_or(&[], |dimensions| &dimensions.names)
    }

    /// Returns an attribute that is a text.
    fn text(&self, name: &str) -> Option<String> {
        text(&self.attributes, name)
    }

    /// Whether the array is a coordinate with the labels of a dimension.
    fn is_index(&self) -> bool {
        self.names() == [self.name]
    }

    fn is_v3(&self) -> bool {
        self.meta.format() == Format::V3
    }
}

/// Returns a member that is a text.
fn text(object: &Object, name: &str) -> Option<String> {
    Some(object.get(name)?.to_text().ok()?.into_owned())
}

/// The findings for the chosen profiles.
struct Report<'a> {
    profiles: &'a [Profile],
    found: Vec<ProfileFinding>,
}

impl Report<'_> {
    /// Adds an error, if one of its profiles is checked.
    fn error(&mut self, of: &[Profile], path: &str, code: FindingCode, message: impl Into<String>) {
        self.add(of, Severity::Error, path, code, message);
    }

    /// Adds a warning, if one of its profiles is checked.
    fn warning(&mut self, of: &[Profile], path: &str, code: FindingCode, message: impl Into<String>) {
        self.add(of, Severity::Warning, path, code, message);
    }

    fn add(
        &mut self,
        of: &[Profile],
        severity: Severity,
        path: &str,
        code: FindingCode,
        message: impl Into<String>,
    ) {
        let profiles: Vec<Profile> =
            of.iter().copied().filter(|profile| self.profiles.contains(profile)).collect();
        if !profiles.is_empty() {
            let finding = Finding::new(code, message);
            self.found.push(ProfileFinding { path: path.to_owned(), profiles, severity, finding });
        }
    }
}

#[cfg(test)]
mod tests;
