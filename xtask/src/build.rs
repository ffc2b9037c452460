//! The one build: all targets of the workspace with all features, compiled under the lints of clippy.
//!
//! Every step runs the files of this build. A call of cargo with `-p` selects other features, and so would compile the
//! crates again; [tidy](crate::tidy) refuses it. Compiling under clippy lints the crates without a second compilation.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::command::{cargo, shown};

/// What is built.
const ALL: [&str; 3] = ["--workspace", "--all-features", "--locked"];

/// What a program of the build is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A program to use, or an example.
    Program,
    /// The unit tests of a library or of a program.
    Unit,
    /// A file of `tests`.
    Test,
    /// A benchmark, which does everything once unless it is told to measure.
    Benchmark,
}

/// A program of the build.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// The name of its package.
    pub(crate) package: String,
    /// The folder of its package.
    pub(crate) folder: PathBuf,
    /// The name of its target.
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) file: PathBuf,
}

/// The programs of the build, and the number of warnings of the compiler and of clippy.
#[derive(Debug, Default)]
pub(crate) struct Build {
    pub(crate) programs: Vec<Program>,
    pub(crate) warnings: usize,
}

impl Build {
    /// Returns a program to use.
    pub(crate) fn program(&self, name: &str) -> Result<PathBuf> {
        self.find(|program| program.kind == Kind::Program && program.name == name)
            .with_context(|| format!("the workspace has no program {name:?}"))
    }

    /// Returns the tests in `tests` of a package.
    pub(crate) fn tests(&self, package: &str, name: &str) -> Result<PathBuf> {
        self.find(|p| p.kind == Kind::Test && p.package == package && p.name == name)
            .with_context(|| format!("the package {package} has no tests {name:?}"))
    }

    /// Fails if there was a warning.
    pub(crate) fn without_warnings(&self) -> Result<()> {
        match self.warnings {
            0 => Ok(()),
            warnings => bail!("{warnings} warnings"),
        }
    }

    fn find(&self, is_it: impl Fn(&Program) -> bool) -> Option<PathBuf> {
        self.programs.iter().find(|program| is_it(program)).map(|program| program.file.clone())
    }

    /// Adds a message of cargo.
    fn add(&mut self, message: &Value) {
        if message["reason"] == "compiler-message" {
            eprint!("{}", message["message"]["rendered"].as_str().unwrap_or_default());
            self.warnings += usize::from(message["message"]["level"] == "warning");
        }
        self.programs.extend(Program::of(message));
    }
}

/// Builds everything that is not up to date. A second call takes a second or two.
pub(crate) fn all() -> Result<Build> {
    let mut command = cargo(["build"]);
    of(of_the_build(&mut command).arg("--all-targets"))
}

/// Runs `cargo check` with these arguments, under the lints of clippy.
pub(crate) fn check<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Result<Build> {
    of(linted(cargo(["check", "--quiet", "--locked"]).args(arguments)))
}

/// Runs a command of cargo, and returns what it built.
fn of(command: &mut Command) -> Result<Build> {
    command.arg("--message-format=json");
    println!("$ {}", shown(command));
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
    let mut build = Build::default();
    for line in child.stdout.take().into_iter().flat_map(|out| BufReader::new(out).lines()) {
        build.add(&serde_json::from_str(&line?).context("unexpected answer of cargo")?);
    }
    if !child.wait()?.success() {
        bail!("`{}` failed", shown(command));
    }
    Ok(build)
}

/// Builds everything, and returns a program.
pub(crate) fn program(name: &str) -> Result<PathBuf> {
    all()?.program(name)
}

/// Adds to a command of cargo what makes it take the libraries of the build.
pub(crate) fn of_the_build(command: &mut Command) -> &mut Command {
    linted(command.args(ALL))
}

impl Program {
    /// Returns the program that a message of cargo reports.
    fn of(message: &Value) -> Option<Self> {
        let file = PathBuf::from(message["executable"].as_str()?);
        let kind = match (message["profile"]["test"].as_bool()?, message["target"]["kind"][0].as_str()?) {
            (_, "custom-build") => return None,
            (true, "test") => Kind::Test,
            (true, "bench") => Kind::Benchmark,
            (true, _) => Kind::Unit,
            (false, _) => Kind::Program,
        };
        let folder = Path::new(message["manifest_path"].as_str()?).parent()?.to_path_buf();
        Some(Self {
            package: package_name(message["package_id"].as_str()?)?.to_owned(),
            name: message["target"]["name"].as_str()?.to_owned(),
            folder,
            kind,
            file,
        })
    }
}

/// Returns the name in the id of a package: `path+file:///folder/name#0.1.0` or `path+file:///folder#name@0.1.0`.
fn package_name(id: &str) -> Option<&str> {
    let (path, version) = id.rsplit_once('#')?;
    match version.split_once('@') {
        Some((name, _)) => Some(name),
        None => path.rsplit('/').next(),
    }
}

/// Lets clippy compile the packages of the workspace, if it is installed.
pub(crate) fn linted(command: &mut Command) -> &mut Command {
    if let Some(driver) = clippy() {
        command.env("RUSTC_WORKSPACE_WRAPPER", driver);
    }
    command
}

/// Returns the compiler with the lints of clippy.
pub(crate) fn clippy() -> Option<PathBuf> {
    Some(beside_cargo("clippy-driver")).filter(|driver| driver.is_file())
}

/// Returns a program beside the cargo that runs this one.
pub(crate) fn beside_cargo(name: &str) -> PathBuf {
    let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    Path::new(cargo::<&str>([]).get_program()).with_file_name(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn programs_are_found_in_the_messages_of_cargo() {
        let mut build = Build::default();
        let artifact = |id: &str, kind: &str, name: &str, test: bool| {
            json!({
                "reason": "compiler-artifact", "package_id": id, "manifest_path": "/w/crates/zarr-array/Cargo.toml",
                "target": { "kind": [kind], "name": name }, "profile": { "test": test }, "executable": format!("/t/{name}"),
            })
        };
        let id = "path+file:///w/crates/zarr-array#0.1.0";
        for (kind, name, test) in [
            ("test", "all", true),
            ("lib", "zarr_array", true),
            ("bench", "plan", true),
            ("example", "combinations", false),
            ("custom-build", "build-script-build", false),
        ] {
            build.add(&artifact(id, kind, name, test));
        }
        build.add(&artifact("path+file:///w/crates/cli#zarr-cli@0.1.0", "bin", "zarr", false));
        build.add(&json!({ "reason": "compiler-artifact", "executable": null }));
        build
            .add(&json!({ "reason": "compiler-message", "message": { "level": "warning", "rendered": "" } }));
        let kinds: Vec<_> = build.programs.iter().map(|program| (program.kind, &*program.package)).collect();
        assert_eq!(
            kinds,
            [
                (Kind::Test, "zarr-array"),
                (Kind::Unit, "zarr-array"),
                (Kind::Benchmark, "zarr-array"),
                (Kind::Program, "zarr-array"),
                (Kind::Program, "zarr-cli"),
            ]
        );
        assert_eq!(build.warnings, 1);
        assert_eq!(build.program("zarr").unwrap(), Path::new("/t/zarr"));
        assert_eq!(build.tests("zarr-array", "all").unwrap(), Path::new("/t/all"));
        assert!(build.program("all").is_err());
    }
}
