//! The examples and the pages of the documentation of all libraries, with the libraries of [the one build](crate::build).
//!
//! `cargo doc` shares nothing with a build: it checks all packages again, those of others, too. `cargo test --doc` gives
//! rustdoc the libraries of the build. So this program takes the place of rustdoc there, and lets it run the examples and
//! make the pages. Programs have no examples, so their pages are made at night.

use std::ffi::{OsStr, OsString};
use std::process::{Child, Command, Stdio};

use anyhow::{Result, bail};

use crate::build::{beside_cargo, linted, of_the_build, program};
use crate::command::{cargo, run as start, target_dir};

/// The rustdoc whose place this program takes.
const RUSTDOC: &str = "ZARR_RUSTDOC";

/// A second copy of the sources of zarr-store-fs, whose examples are run there. `cargo test --doc` ignores `doctest = false`.
const COPY: &str = "conformance-stepped-fs";

/// Runs the examples and makes the pages of all libraries. A warning is an error.
pub(crate) fn check() -> Result<()> {
    let mut tests = cargo(["test", "--doc", "--quiet", "--no-fail-fast", "--exclude", COPY]);
    // The build can have replaced the file of the program that runs now.
    of_the_build(&mut tests).env("RUSTDOC", program("xtask")?).env(RUSTDOC, beside_cargo("rustdoc"));
    start(&mut tests)
}

/// Makes the pages of these libraries without their default features, so that no link leads to an item that only a feature
/// adds. It takes the libraries that `cargo check` with the same arguments made.
pub(crate) fn minimal<'a>(libraries: impl IntoIterator<Item = &'a str>) -> Result<()> {
    let mut pages = cargo(["doc", "--quiet", "--no-deps", "--no-default-features", "--locked"]);
    pages.args(libraries.into_iter().flat_map(|library| ["-p", library]));
    start(linted(&mut pages).env("RUSTDOCFLAGS", "-Dwarnings"))
}

/// Makes the pages of libraries and programs.
pub(crate) fn pages() -> Result<()> {
    start(
        cargo(["doc", "--workspace", "--no-deps", "--all-features", "--locked"])
            .env("RUSTDOCFLAGS", "-Dwarnings"),
    )
}

/// Does what rustdoc is asked for, if this program was started in its place.
pub(crate) fn instead_of_rustdoc() -> Option<Result<()>> {
    let rustdoc = std::env::var_os(RUSTDOC)?;
    Some(both(&rustdoc, &std::env::args_os().skip(1).collect::<Vec<_>>()))
}

/// Tests the examples of a library while its pages are made. Cargo asks for one library after the other.
fn both(rustdoc: &OsStr, arguments: &[OsString]) -> Result<()> {
    let make = |arguments| Command::new(rustdoc).args(arguments).stdin(Stdio::null()).spawn();
    let mut pages = of_pages(arguments).map(make).transpose()?;
    let tested = Command::new(rustdoc).args(arguments).status()?;
    if let Some(made) = pages.as_mut().map(Child::wait).transpose()?
        && !made.success()
    {
        bail!("rustdoc makes no pages ({made})");
    }
    if !tested.success() {
        bail!("rustdoc failed ({tested})");
    }
    Ok(())
}

/// Returns the arguments that make pages, from those that test the examples, or `None` if these test nothing.
fn of_pages(arguments: &[OsString]) -> Option<Vec<OsString>> {
    arguments.iter().position(|argument| argument == "--test")?;
    let mut pages = Vec::new();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match argument.to_str() {
            Some("--test") => {}
            Some("--test-run-directory" | "--test-args") => _ = arguments.next(),
            _ => pages.push(argument.clone()),
        }
    }
    pages.extend(["-Dwarnings", "--out-dir"].map(OsString::from));
    pages.push(target_dir().join("doc").into());
    Some(pages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_of_tests_are_those_of_pages_and_more() {
        let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        let tests = "--crate-name a --test src/lib.rs --test-run-directory crates/a --test-args --quiet --extern b=b.rlib";
        let pages = of_pages(&words(tests)).unwrap();
        let kept = words("--crate-name a src/lib.rs --extern b=b.rlib -Dwarnings --out-dir");
        assert_eq!(pages[..pages.len() - 1], kept);
        assert_eq!(of_pages(&words("--version")), None);
    }
}
