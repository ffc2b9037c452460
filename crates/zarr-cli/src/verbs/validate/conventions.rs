//! `zarr validate --conventions`: checks against the conventions of xarray, CF, NZ, GeoZarr and OME-Zarr.

use std::collections::HashMap;

use clap::ValueEnum;
use zarr_array::meta::NodeMeta;
use zarr_xarray::blocking::DataTree;
use zarr_xarray::{Hierarchy, Profile, ProfileFinding};

use super::{Finding, Report};
use crate::args::target::Target;
use crate::exit::{Failure, say};
use crate::visit::Source;

/// The conventions that are checked, and how deep.
#[derive(Debug, clap::Args)]
pub(super) struct Conventions {
    /// Check also against these conventions: what programs need beyond the format. May be repeated.
    #[arg(long = "conventions", value_enum, value_name = "NAME", value_delimiter = ',')]
    chosen: Vec<Convention>,
    /// How deep the conventions are checked.
    #[arg(long, value_enum, default_value_t = Level::Metadata, requires = "chosen")]
    level: Level,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Convention {
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

impl From<Convention> for Profile {
    fn from(convention: Convention) -> Self {
        match convention {
            Convention::Xarray => Self::Xarray,
            Convention::Cf => Self::Cf,
            Convention::Nz => Self::Nz,
            Convention::Geozarr => Self::Geozarr,
            Convention::Ome => Self::Ome,
        }
    }
}

impl Conventions {
    /// Whether conventions are checked.
    pub(super) fn are_chosen(&self) -> bool {
        !self.chosen.is_empty()
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
            return Err(target.fail(Failure::usage("--conventions checks a group, and this node is none")));
        }
        let profiles: Vec<Profile> = self.chosen.iter().map(|convention| (*convention).into()).collect();
        let is_consolidated = target.group(Source::default()).is_ok_and(|group| group.is_consolidated());
        let below = |path: String| match path.strip_prefix(root) {
            Some("") | None => "/".to_owned(),
            Some(rest) => rest.to_owned(),
        };
        let nodes = nodes.into_iter().map(|(path, node)| (below(path), node));
        let mut found = Hierarchy::new(nodes, is_consolidated).check(&profiles);
        if self.level == Level::Data {
            let tree = target.group(Source::DOCUMENTS).map(DataTree::open)?;
            match tree {
                Ok(tree) => found.extend(tree.check_values(&profiles)),
                Err(e) => say(&format!("note: the values of coordinates are not checked: {e:#}")),
            }
        }
        let places = report.nodes.iter().enumerate().map(|(at, node)| (node.path.clone(), at));
        let places: HashMap<String, usize> = places.collect();
        for ProfileFinding { path, severity, finding, .. } in found {
            let path = if path == "/" { target.path.clone() } else { format!("{root}{path}") };
            let code = finding.code;
            let finding = Finding {
                weight: severity.into(),
                title: code.title(),
                explanation: code.explanation(),
                ..Finding::of(code.id(), String::new(), finding.message)
            };
            if let Some(node) = places.get(&path).and_then(|at| report.nodes.get_mut(*at)) {
                node.findings.push(finding);
            }
        }
        Ok(())
    }
}
