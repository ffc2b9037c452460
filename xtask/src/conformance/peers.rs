//! The peers in conformance/peers: their `peer.toml`, and how they are installed.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;
use zarr_conformance::implementation::Peer;

use crate::build;
use crate::command::{answers, cargo, output, root, target_dir};
use crate::install::{npm, once, python, python_since};

/// The content of a `peer.toml`. See conformance/peers/README.md.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Description {
    name: String,
    version: String,
    language: String,
    url: String,
    command: Vec<String>,
    #[serde(default)]
    serve: bool,
    /// The oldest Python for which there are its packages.
    python: Option<String>,
    install: Install,
}

/// The way to install a peer.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Install {
    /// A requirements file, for a separate Python environment.
    Pip(String),
    /// A `package.json` with a lock file beside it.
    Npm(String),
    /// A project outside of the workspace.
    Cargo(String),
    /// Packages of the workspace. The first is the adapter.
    Workspace(Vec<String>),
}

/// A peer and its source.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) id: String,
    folder: PathBuf,
    description: Description,
}

/// Returns all peers, by name.
pub(super) fn all() -> Result<Vec<Source>> {
    let folder = root().join("conformance/peers");
    let mut found = Vec::new();
    for entry in fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
        let folder = entry?.path();
        let file = folder.join("peer.toml");
        let Ok(text) = fs::read_to_string(&file) else { continue };
        let description = toml::from_str(&text).with_context(|| file.display().to_string())?;
        let id = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        found.push(Source { id, folder, description });
    }
    // Our own implementation comes first.
    found.sort_by_key(|source| (source.id != "zarr", source.id.clone()));
    Ok(found)
}

impl Source {
    /// Returns the folder of the installation.
    fn place(&self) -> PathBuf {
        target_dir().join("peers").join(&self.id)
    }

    /// Returns a program that the peer needs and this machine lacks.
    pub(super) fn missing(&self) -> Option<String> {
        let is_there = |program: &str| answers(Command::new(program).arg("--version"));
        match &self.description.install {
            Install::Pip(_) if self.python().is_none() => {
                Some(format!("python {} or newer", self.description.python.as_deref().unwrap_or("3")))
            }
            Install::Npm(_) if !is_there("node") || !is_there("npm") => Some("node, with npm".to_owned()),
            _ => None,
        }
    }

    /// Returns the Python for the packages of the peer.
    fn python(&self) -> Option<&'static str> {
        python_since(self.description.python.as_deref().unwrap_or("3"))
    }

    /// Returns what is built or installed, for a person.
    pub(super) fn plan(&self) -> String {
        match &self.description.install {
            Install::Workspace(packages) => format!("{} ({})", self.id, packages.join(", ")),
            _ => self.id.clone(),
        }
    }

    /// Installs the peer. Packages of this workspace come from the one build of all steps, or `alone`, which is much less
    /// for somebody who needs nothing else.
    pub(super) fn install(&self, alone: bool) -> Result<String> {
        let place = self.place();
        match &self.description.install {
            Install::Pip(file) => {
                let file = self.folder.join(file);
                let found = self.python().context("there is no Python that is new enough")?;
                once(&place, &read(&file)?, |folder| python(found, folder, &file))
            }
            Install::Npm(file) => {
                let lock = self.folder.join(file).with_file_name("package-lock.json");
                once(&place, &read(&lock)?, |folder| npm(folder, &self.folder))
            }
            Install::Cargo(file) => {
                let mut command = cargo(["build", "--quiet", "--locked", "--manifest-path"]);
                command.arg(self.folder.join(file)).arg("--target-dir").arg(&place);
                output(&mut command).map(|_| "is built".to_owned())
            }
            Install::Workspace(packages) if alone => {
                let mut command = cargo(["build", "--quiet", "--locked"]);
                output(command.args(packages.iter().flat_map(|package| ["--package", package])))
                    .map(|_| "is built".to_owned())
            }
            Install::Workspace(_) => build::all().map(|_| "is built, with all of the workspace".to_owned()),
        }
    }

    /// Returns the peer for the suite.
    pub(super) fn peer(&self) -> Result<Peer> {
        let Description { name, version, language, url, command, serve, .. } = &self.description;
        let place = self.place();
        let program = match &self.description.install {
            Install::Pip(_) => place.join("bin/python"),
            Install::Npm(_) => PathBuf::from("node"),
            Install::Cargo(file) => built(&place, &package(&self.folder.join(file))?),
            Install::Workspace(packages) => {
                built(&target_dir(), packages.first().context("no package of the workspace is named")?)
            }
        };
        let word = |word: &String| -> OsString {
            match word.as_str() {
                "{program}" | "{python}" | "{node}" => program.clone().into(),
                word => word.replace("{peer}", &self.folder.to_string_lossy()).into(),
            }
        };
        let mut peer = Peer::new(&self.id, command.iter().map(word)).serving(*serve);
        peer.name.clone_from(name);
        peer.version.clone_from(version);
        peer.language.clone_from(language);
        peer.url.clone_from(url);
        if let Install::Npm(_) = self.description.install {
            peer.environment.push(("NODE_PATH".into(), place.join("node_modules").into()));
        }
        Ok(peer)
    }
}

/// Returns the path of a program that cargo has built.
fn built(target: &Path, name: &str) -> PathBuf {
    target.join("debug").join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
}

/// Returns the name of the package in a `Cargo.toml`.
fn package(file: &Path) -> Result<String> {
    let document: toml::Table = read(file)?.parse().with_context(|| file.display().to_string())?;
    match document.get("package").and_then(|package| package.get("name")?.as_str()) {
        Some(name) => Ok(name.to_owned()),
        None => bail!("{}: the name of the package is missing", file.display()),
    }
}

fn read(file: &Path) -> Result<String> {
    fs::read_to_string(file).with_context(|| file.display().to_string())
}
