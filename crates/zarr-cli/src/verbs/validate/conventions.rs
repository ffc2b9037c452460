//! `zarr validate --conventions`: checks against the conventions of xarray, CF, NZ, GeoZarr and OME-Zarr.

use std::collections::{HashMap, HashSet};

use clap::ValueEnum;
use zarr_array::meta::NodeMeta;
use zarr_array::meta::multiscale::MultiscaleDocument;
use zarr_xarray::blocking::DataTree;
use zarr_xarray::{Hierarchy, Profile, ProfileFinding};

use super::{Finding, Report};
use crate::args::target::Target;
use crate::exit::{Failure, say};
use crate::visit::Source;

/// The conventions that are checked, and how deep.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct Conventions {
    /// Check also against these conventions: what programs need beyond the format. May be repeated.
    #[arg(
        long = "conventions",
        value_enum,
        value_name = "NAME",
        value_delimiter = ',',
        default_value = "auto",
        hide_default_value = true
    )]
    chosen: Vec<Convention>,
    /// How deep the conventions are checked.
    #[arg(long, value_enum, default_value_t = Level::Metadata)]
    level: Level,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Convention {
    /// Those that the documents follow, which is the default: xarray if dimensions have names, CF if `Conventions` names
    /// it, GeoZarr with attributes `proj:` or `spatial:`, OME-Zarr with `ome`, `multiscales`, `plate` or `well`.
    Auto,
    /// None, only the format.
    None,
    /// The attributes that xarray needs to open a group, and values that it reads differently.
    Xarray,
    /// The CF conventions.
    Cf,
    /// NZ-1.0, the structure that CF needs in Zarr.
    Nz,
    /// GeoZarr: the registered conventions `proj` and `spatial`.
    Geozarr,
    /// OME-Zarr 0.4 and 0.5.
    Ome,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Level {
    /// Documents only.
    Metadata,
    /// Also the values of coordinates, which are read.
    Data,
}

/// The conventions that are checked.
const PROFILES: [(Convention, Profile); 5] = [
    (Convention::Xarray, Profile::Xarray),
    (Convention::Cf, Profile::Cf),
    (Convention::Nz, Profile::Nz),
    (Convention::Geozarr, Profile::Geozarr),
    (Convention::Ome, Profile::Ome),
];

/// Whether the documents of a node follow a convention.
fn follows(node: &NodeMeta, convention: Convention) -> bool {
    let attributes = match node {
        NodeMeta::Array(meta) => meta.document().attributes(),
        NodeMeta::Group(meta) => meta.attributes(),
    };
    let has = |names: &[&str]| names.iter().any(|name| attributes.contains(name));
    match (convention, node) {
        (Convention::Xarray, NodeMeta::Array(meta)) => {
            let names = meta.dimension_names();
            has(&["_ARRAY_DIMENSIONS"]) || names.is_some_and(|names| names.iter().any(Option::is_some))
        }
        (Convention::Cf, NodeMeta::Group(_)) => {
            let named = attributes.get("Conventions").and_then(|named| named.as_text());
            named.is_some_and(|named| named.split([' ', ',', '/']).any(|name| name.starts_with("CF-")))
        }
        (Convention::Geozarr, _) => attributes
            .members()
            .any(|member| ["proj:", "spatial:"].iter().any(|start| member.name_lossy().starts_with(start))),
        (Convention::Ome, NodeMeta::Group(_)) => {
            let is_list = attributes
                .get("multiscales")
                .is_some_and(|of| of.elements().is_some() && of.members().is_none());
            is_list || has(&["ome", "plate", "well", "bioformats2raw.layout"])
        }
        _ => false,
    }
}

/// Whether a group says that its arrays are one image in several resolutions. They share the names of dimensions, not the
/// lengths, and are no dataset.
fn is_image(node: &NodeMeta) -> bool {
    let NodeMeta::Group(meta) = node else { return false };
    // Also an image whose document is wrong.
    !matches!(MultiscaleDocument::read(&meta.attributes(), meta.format()), Ok(None))
}

/// Returns the groups whose arrays have named dimensions, but for images.
fn datasets(nodes: &[(String, NodeMeta)]) -> HashSet<String> {
    let images = nodes.iter().filter(|(_, node)| is_image(node));
    let images: HashSet<&str> = images.map(|(path, _)| path.as_str()).collect();
    let named = nodes.iter().filter(|(_, node)| follows(node, Convention::Xarray));
    let groups = named.map(|(path, _)| above(path)).filter(|group| !images.contains(group));
    groups.map(str::to_owned).collect()
}

/// Returns the path of the group that an array is in.
fn above(path: &str) -> &str {
    match path.rsplit_once('/') {
        Some((above, _)) if !above.is_empty() => above,
        _ => "/",
    }
}

impl Conventions {
    /// Whether conventions may be checked.
    pub(super) fn are_chosen(&self) -> bool {
        self.chosen.iter().any(|chosen| *chosen != Convention::None)
    }

    /// Returns the conventions that are checked.
    fn profiles(&self, nodes: &[(String, NodeMeta)]) -> Vec<Profile> {
        let is_auto = self.chosen.contains(&Convention::Auto);
        let is_followed = |convention: Convention| match convention {
            Convention::Xarray => !datasets(nodes).is_empty(),
            _ => nodes.iter().any(|(_, node)| follows(node, convention)),
        };
        let is_checked =
            |convention: Convention| self.chosen.contains(&convention) || is_auto && is_followed(convention);
        let checked = PROFILES.iter().filter(|(convention, _)| is_checked(*convention));
        checked.map(|(_, profile)| *profile).collect()
    }

    /// Adds the findings about these nodes, which have their paths in the store.
    pub(super) fn check(
        &self,
        target: &Target,
        nodes: Vec<(String, NodeMeta)>,
        report: &mut Report,
    ) -> Result<(), Failure> {
        if !self.are_chosen() {
            return Ok(());
        }
        let root = target.path.trim_end_matches('/');
        let is_group =
            nodes.iter().any(|(path, node)| *path == target.path && matches!(node, NodeMeta::Group(_)));
        if !is_group {
            // By default an array is checked against the format.
            return match self.chosen.as_slice() {
                [Convention::Auto] => Ok(()),
                _ => Err(target.fail(Failure::usage("--conventions checks a group, and this node is none"))),
            };
        }
        let checked = self.profiles(&nodes);
        report.conventions = checked.iter().map(|profile| profile.name()).collect();
        if checked.is_empty() {
            return Ok(());
        }
        let is_consolidated = target.group(Source::default()).is_ok_and(|group| group.is_consolidated());
        let below = |path: String| match path.strip_prefix(root) {
            Some("") | None => "/".to_owned(),
            Some(rest) => rest.to_owned(),
        };
        let nodes = nodes.into_iter().map(|(path, node)| (below(path), node));
        let nodes: Vec<(String, NodeMeta)> = nodes.collect();
        // By default only groups with named dimensions are checked as datasets.
        let is_array = |node: &NodeMeta| matches!(node, NodeMeta::Array(_));
        let arrays = nodes.iter().filter(|(_, node)| is_array(node));
        let groups: HashMap<String, String> =
            arrays.map(|(path, _)| (path.clone(), above(path).to_owned())).collect();
        let datasets = datasets(&nodes);
        let is_auto = self.chosen.contains(&Convention::Auto);
        let is_dataset = |path: &String| !is_auto || datasets.contains(groups.get(path).unwrap_or(path));
        let hierarchy = Hierarchy::new(nodes, is_consolidated);
        let mut found = hierarchy.check(&checked);
        if self.level == Level::Data {
            let tree = target.group(Source::DOCUMENTS).map(DataTree::open)?;
            match tree {
                Ok(tree) => found.extend(tree.check_values(&checked)),
                Err(e) => say(&format!("note: the values of coordinates are not checked: {e:#}")),
            }
        }
        let places = report.nodes.iter().enumerate().map(|(at, node)| (node.path.clone(), at));
        let places: HashMap<String, usize> = places.collect();
        for ProfileFinding { path, mut profiles, severity, finding, .. } in found {
            profiles.retain(|profile| *profile != Profile::Xarray || is_dataset(&path));
            if profiles.is_empty() {
                continue;
            }
            // The conventions that a finding is of, if several are checked.
            let names: Vec<&str> = profiles.iter().map(|profile| profile.name()).collect();
            let of = if checked.len() < 2 { String::new() } else { format!(" ({})", names.join(", ")) };
            let path = if path == "/" { target.path.clone() } else { format!("{root}{path}") };
            let code = finding.code;
            let finding = Finding {
                weight: severity.into(),
                title: code.title(),
                explanation: code.explanation(),
                ..Finding::of(code.id(), String::new(), finding.message + &of)
            };
            if let Some(node) = places.get(&path).and_then(|at| report.nodes.get_mut(*at)) {
                node.findings.push(finding);
            }
        }
        Ok(())
    }
}
