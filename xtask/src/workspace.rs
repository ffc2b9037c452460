//! The workspace as cargo knows it: packages, their dependencies, and the resolved graph.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::command;

/// The kind of a dependency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Normal,
    Dev,
    Build,
}

/// A line of a `[dependencies]` table.
#[derive(Clone, Debug)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) optional: bool,
    /// The features that it enables.
    pub(crate) features: Vec<String>,
    /// The required versions, such as `^0.1.0`.
    pub(crate) requirement: String,
}

#[cfg(test)]
impl Dependency {
    pub(crate) fn of(name: &str, kind: Kind) -> Self {
        Self {
            name: name.to_owned(),
            kind,
            optional: false,
            features: Vec::new(),
            requirement: "^0.1.0".to_owned(),
        }
    }
}

/// A package of this workspace.
#[derive(Clone, Debug, Default)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) dir: PathBuf,
    pub(crate) published: bool,
    /// Whether it has a library.
    pub(crate) library: bool,
    /// The names of its programs of tests, beside the unit tests.
    pub(crate) tests: Vec<String>,
    pub(crate) description: String,
    pub(crate) license: String,
    pub(crate) repository: String,
    pub(crate) readme: String,
    /// The oldest supported compiler.
    pub(crate) rust_version: String,
    pub(crate) dependencies: Vec<Dependency>,
    pub(crate) default_features: Vec<String>,
}

/// The packages of the workspace, and the graph of all packages with all features on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Workspace {
    pub(crate) packages: Vec<Package>,
    /// The names of the packages that each package needs to be built or run (not to be tested).
    pub(crate) needs: BTreeMap<String, BTreeSet<String>>,
}

impl Workspace {
    /// Loads the workspace from `cargo metadata`.
    pub(crate) fn load() -> Result<Self> {
        let text = command::output(&mut command::cargo([
            "metadata",
            "--format-version=1",
            "--all-features",
            "--locked",
        ]))?;
        let metadata: Value = serde_json::from_str(&text)?;
        Self::parse(&metadata).context("unexpected answer of `cargo metadata`")
    }

    fn parse(metadata: &Value) -> Option<Self> {
        let packages = metadata["packages"].as_array()?;
        let names: BTreeMap<&str, &str> =
            packages.iter().map(|p| Some((p["id"].as_str()?, p["name"].as_str()?))).collect::<Option<_>>()?;
        let members: BTreeSet<&str> =
            metadata["workspace_members"].as_array()?.iter().filter_map(Value::as_str).collect();

        let mut needs: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for node in metadata["resolve"]["nodes"].as_array()? {
            let to = needs.entry((*names.get(node["id"].as_str()?)?).to_owned()).or_default();
            for dependency in node["deps"].as_array()? {
                let kinds = dependency["dep_kinds"].as_array()?;
                if kinds.iter().any(|k| k["kind"].as_str() != Some("dev")) {
                    to.insert((*names.get(dependency["pkg"].as_str()?)?).to_owned());
                }
            }
        }
        let mut own: Vec<Package> = packages
            .iter()
            .filter(|p| p["id"].as_str().is_some_and(|id| members.contains(id)))
            .map(package)
            .collect::<Option<_>>()?;
        own.sort_by(|a, b| a.name.cmp(&b.name));
        Some(Self { packages: own, needs })
    }

    pub(crate) fn published(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|p| p.published)
    }

    pub(crate) fn find(&self, name: &str) -> Option<&Package> {
        self.packages.iter().find(|p| p.name == name)
    }

    /// Returns zarr-traits and the packages of this workspace that it needs, because their types are in its signatures.
    /// They have a version of their own (decision 0038).
    pub(crate) fn traits(&self) -> Vec<&Package> {
        let mut group: Vec<&Package> = self.find("zarr-traits").into_iter().collect();
        let mut next = 0;
        while let Some(package) = group.get(next) {
            let needed = package.dependencies.iter().filter(|d| d.kind == Kind::Normal);
            let needed: Vec<_> = needed.filter_map(|d| self.find(&d.name)).collect();
            for package in needed {
                if !group.iter().any(|of| of.name == package.name) {
                    group.push(package);
                }
            }
            next += 1;
        }
        group.sort_by(|a, b| a.name.cmp(&b.name));
        group
    }

    /// Whether a package is one of [`traits`](Self::traits).
    pub(crate) fn is_of_traits(&self, name: &str) -> bool {
        self.traits().iter().any(|p| p.name == name)
    }

    /// Returns the shortest path of dependencies from `from` to `to`, with all features on, as names.
    pub(crate) fn way(&self, from: &str, to: &str) -> Option<Vec<String>> {
        let mut came: BTreeMap<&str, &str> = BTreeMap::new();
        let mut queue = std::collections::VecDeque::from([from]);
        while let Some(at) = queue.pop_front() {
            for next in self.needs.get(at).into_iter().flatten() {
                if next == from || came.contains_key(next.as_str()) {
                    continue;
                }
                came.insert(next, at);
                if next == to {
                    let mut way = vec![to.to_owned()];
                    let mut step = to;
                    while let Some(&before) = came.get(step) {
                        way.push(before.to_owned());
                        step = before;
                    }
                    way.reverse();
                    return Some(way);
                }
                queue.push_back(next);
            }
        }
        None
    }
}

fn package(value: &Value) -> Option<Package> {
    let text = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
    let dependencies = value["dependencies"].as_array()?.iter().map(|d| {
        let kind = match d["kind"].as_str() {
            Some("dev") => Kind::Dev,
            Some("build") => Kind::Build,
            _ => Kind::Normal,
        };
        let features = d["features"].as_array()?.iter().filter_map(Value::as_str);
        Some(Dependency {
            name: d["name"].as_str()?.to_owned(),
            kind,
            optional: d["optional"].as_bool()?,
            features: features.map(str::to_owned).collect(),
            requirement: d["req"].as_str()?.to_owned(),
        })
    });
    let targets = value["targets"].as_array()?;
    let is = |target: &Value, kinds: &[&str]| {
        target["kind"].as_array().is_some_and(|of| of.iter().any(|kind| kinds.iter().any(|k| kind == k)))
    };
    let library = targets.iter().any(|target| is(target, &["lib", "rlib", "proc-macro"]));
    let tests = targets.iter().filter(|target| is(target, &["test"]));
    let default = value["features"]["default"].as_array();
    Some(Package {
        name: text("name"),
        version: text("version"),
        dir: PathBuf::from(value["manifest_path"].as_str()?).parent()?.to_path_buf(),
        published: value["publish"].as_array().is_none_or(|registries| !registries.is_empty()),
        library,
        tests: tests.filter_map(|target| Some(target["name"].as_str()?.to_owned())).collect(),
        description: text("description"),
        license: text("license"),
        repository: text("repository"),
        readme: text("readme"),
        rust_version: text("rust_version"),
        dependencies: dependencies.collect::<Option<_>>()?,
        default_features: default
            .into_iter()
            .flatten()
            .filter_map(|f| Some(f.as_str()?.to_owned()))
            .collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_path_is_found() {
        let mut workspace = Workspace::default();
        for (from, to) in [("a", "b"), ("b", "c"), ("a", "d"), ("d", "e"), ("e", "c"), ("c", "a")] {
            workspace.needs.entry(from.to_owned()).or_default().insert(to.to_owned());
        }
        assert_eq!(workspace.way("a", "c"), Some(vec!["a".to_owned(), "b".to_owned(), "c".to_owned()]));
        assert_eq!(workspace.way("e", "f"), None);
    }

    #[test]
    fn the_group_of_the_traits_is_what_they_need() {
        let package = |name: &str, needs: &[(&str, Kind)]| Package {
            name: name.to_owned(),
            dependencies: needs.iter().map(|(name, kind)| Dependency::of(name, *kind)).collect(),
            ..Package::default()
        };
        let packages = vec![
            package("zarr-array", &[("zarr-traits", Kind::Normal)]),
            package("zarr-json", &[]),
            package("zarr-number", &[("zarr-json", Kind::Normal)]),
            package("zarr-suite", &[("zarr-traits", Kind::Normal)]),
            package(
                "zarr-traits",
                &[("bytes", Kind::Normal), ("zarr-number", Kind::Normal), ("zarr-suite", Kind::Dev)],
            ),
        ];
        let workspace = Workspace { packages, ..Workspace::default() };
        let names: Vec<&str> = workspace.traits().iter().map(|p| p.name.as_str()).collect();
        assert_eq!(names, ["zarr-json", "zarr-number", "zarr-traits"]);
        assert!(workspace.is_of_traits("zarr-json") && !workspace.is_of_traits("zarr-array"));
    }
}
