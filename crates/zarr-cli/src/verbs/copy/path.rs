//! Paths of destinations: without links, and the names of hidden directories beside them.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use crate::exit::Failure;

/// The largest part of the destination's name, in bytes, that the hidden directory keeps. The hidden name must stay
/// legal.
const STEM: usize = 100;

/// Returns the part of a destination's name that hidden directories beside it have.
pub(super) fn stem(destination: &Path) -> String {
    let name = destination.file_name().unwrap_or_default().to_string_lossy();
    name.char_indices().take_while(|(at, c)| at + c.len_utf8() <= STEM).map(|(_, c)| c).collect()
}

/// Returns the absolute path without links and `..`, so that its parents are the real ones.
pub(super) fn resolved(given: &Path) -> Result<PathBuf, Failure> {
    // A broken link exists, and cannot be the destination.
    let is_there = |path: &Path| fs::symlink_metadata(path).is_ok();
    let here = Path::new("");
    let existing = given.ancestors().find(|p| *p == here || is_there(p)).unwrap_or(here);
    let rest = given.strip_prefix(existing).unwrap_or(here);
    if rest.components().any(|c| !matches!(c, Component::Normal(_))) {
        return Err(Failure::usage(format!("{given:?} has `..` after a directory that does not exist")));
    }
    let directory = fs::canonicalize(if existing == here { Path::new(".") } else { existing });
    let directory = directory.map_err(|e| unusable(given, &e))?;
    Ok(if rest == here { directory } else { directory.join(rest) })
}

pub(super) fn unusable(given: &Path, e: &io::Error) -> Failure {
    Failure::io(e, format_args!("cannot use {given:?} as the destination"))
}
