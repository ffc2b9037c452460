//! The hidden directories that interrupted copies to a directory have left.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use zarr_copy::marker;

use super::path::stem;
use crate::args::around::resolved;
use crate::exit::Failure;

/// An unfinished copy in which no process works. Its marker stays locked meanwhile.
#[derive(Debug)]
pub(crate) struct Left {
    pub(crate) path: PathBuf,
    /// The text of the marker.
    pub(super) text: Vec<u8>,
    pub(super) lock: File,
}

/// Returns what interrupted copies to `destination` have left.
pub(crate) fn left(destination: &Path) -> Result<Vec<Left>, Failure> {
    let destination = resolved(destination)?;
    let failed = |e: io::Error| Failure::io(&e, format_args!("cannot list the directory of {destination:?}"));
    let Some(parent) = destination.parent() else { return Ok(Vec::new()) };
    left_in(parent, &stem(&destination)).map_err(failed)
}

/// Returns what copies to names with this stem have left in `parent`, sorted by path.
pub(super) fn left_in(parent: &Path, stem: &str) -> io::Result<Vec<Left>> {
    let stem = format!(".{stem}.");
    let is_hidden = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.strip_prefix(&stem).and_then(|rest| rest.strip_suffix(".partial")).is_some_and(|middle| {
            middle.split('.').count() == 2 && middle.split('.').all(|number| number.parse::<u32>().is_ok())
        })
    };
    let entries = fs::read_dir(parent)?.collect::<io::Result<Vec<_>>>()?;
    let mut paths: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).collect();
    paths.retain(|path| is_hidden(path) && !path.is_symlink());
    paths.sort_unstable();
    Ok(paths.into_iter().filter_map(Left::at).collect())
}

impl Left {
    /// Returns `None` if a process works there, or if there is no marker.
    fn at(path: PathBuf) -> Option<Self> {
        let lock = File::open(path.join(marker::NAME)).ok()?;
        lock.try_lock().ok()?;
        let mut text = Vec::new();
        (&lock).take(marker::LARGEST).read_to_end(&mut text).ok()?;
        Some(Self { path, text, lock })
    }

    /// Returns the source of the copy, as its marker names it.
    pub(crate) fn source(&self) -> String {
        marker::source(&self.text).unwrap_or_else(|| "an unknown source".to_owned())
    }
}
