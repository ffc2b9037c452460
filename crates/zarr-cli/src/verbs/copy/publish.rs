//! Moves a complete copy to its place in a directory. After each step, even if it is the last before a power cut, the
//! old node or the copy is on the disk, whole.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use zarr_array::meta::Documents;
use zarr_array::{Storage, block_on};
use zarr_store_fs::FsStore;

/// One change of the file system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// Makes everything below a directory durable.
    Sync(PathBuf),
    /// Exchanges the names of two directories in one step.
    Exchange(PathBuf, PathBuf),
    /// Renames a directory.
    Rename(PathBuf, PathBuf),
    /// Makes the names in a directory durable.
    SyncNames(PathBuf),
    /// Erases a directory with everything in it.
    Erase(PathBuf),
}

/// The replaced directory that could not be erased, with the error.
#[derive(Debug)]
pub(super) struct Left(pub(super) PathBuf, pub(super) io::Error);

/// Renames `copy` to `destination`, which does not exist or is an empty directory.
///
/// # Errors
/// The errors of `take`, which carries out the steps.
pub(super) fn place(
    copy: &Path,
    destination: &Path,
    mut take: impl FnMut(&Step) -> io::Result<()>,
) -> io::Result<()> {
    take(&Step::Sync(copy.to_owned()))?;
    take(&Step::Rename(copy.to_owned(), destination.to_owned()))?;
    take(&Step::SyncNames(above(destination)))
}

/// Replaces the directory `destination` by `copy`, and erases the old one once that is durable. If the file system
/// cannot exchange two names, the old directory is renamed to `aside` first: for a moment nothing is at `destination`,
/// while both directories exist.
///
/// # Errors
/// The errors of `take`, which carries out the steps. Then the old directory is still at `destination`, or at `aside`.
pub(super) fn replace(
    copy: &Path,
    destination: &Path,
    aside: &Path,
    mut take: impl FnMut(&Step) -> io::Result<()>,
) -> io::Result<Option<Left>> {
    let rename = |from: &Path, to: &Path| Step::Rename(from.to_owned(), to.to_owned());
    take(&Step::Sync(copy.to_owned()))?;
    let old = match take(&Step::Exchange(copy.to_owned(), destination.to_owned())) {
        Ok(()) => copy,
        Err(e) if e.kind() == io::ErrorKind::Unsupported => {
            take(&rename(destination, aside))?;
            if let Err(e) = take(&rename(copy, destination)) {
                let is_back = take(&rename(aside, destination)).is_ok();
                let where_it_is = format!("{e:#}; the old directory is now at {aside:?}");
                return Err(if is_back { e } else { io::Error::new(e.kind(), where_it_is) });
            }
            aside
        }
        Err(e) => return Err(e),
    };
    let erased = take(&Step::SyncNames(above(destination))).and_then(|()| take(&Step::Erase(old.to_owned())));
    Ok(erased.err().map(|e| Left(old.to_owned(), e)))
}

fn above(directory: &Path) -> PathBuf {
    directory.parent().unwrap_or(Path::new("/")).to_owned()
}

/// Carries out a step.
pub(super) fn on_disk(step: &Step) -> io::Result<()> {
    match step {
        Step::Sync(directory) => sync(directory),
        Step::Exchange(one, other) => exchange(one, other),
        Step::Rename(from, to) => fs::rename(from, to),
        Step::SyncNames(directory) => File::open(directory)?.sync_all(),
        Step::Erase(directory) => erase(directory),
    }
}

fn sync(directory: &Path) -> io::Result<()> {
    let synced = FsStore::open(directory).and_then(|store| block_on(Storage::from(store).sync()));
    synced.map_err(io::Error::other)
}

/// Returns [`Unsupported`](io::ErrorKind::Unsupported) if the system or the file system cannot exchange names.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;
    let lacking = [Errno::NOSYS, Errno::INVAL, Errno::NOTSUP, Errno::OPNOTSUPP];
    renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).map_err(|e| match lacking.contains(&e) {
        true => io::Error::new(io::ErrorKind::Unsupported, io::Error::from(e)),
        false => e.into(),
    })
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn exchange(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Removes the documents first, so that a partly erased directory is not a node.
fn erase(directory: &Path) -> io::Result<()> {
    for name in Documents::steps(None).iter().copied().flatten() {
        let _ = fs::remove_file(directory.join(name.as_str()));
    }
    fs::remove_dir_all(directory)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes a folder with a node, and a copy that will replace it.
    fn folder() -> (tempfile::TempDir, [PathBuf; 3]) {
        let folder = tempfile::tempdir().unwrap();
        let paths = [".a.0.partial", "a", ".a.old.partial"].map(|name| folder.path().join(name));
        for (path, content) in paths.iter().zip(["new", "old"]) {
            fs::create_dir_all(path.join("c")).unwrap();
            fs::write(path.join("c/0"), content).unwrap();
            fs::write(path.join("zarr.json"), content).unwrap();
        }
        (folder, paths)
    }

    /// Returns the content of a directory if document and chunk match.
    fn content(directory: &Path) -> Option<String> {
        let [document, chunk] =
            ["zarr.json", "c/0"].map(|name| fs::read_to_string(directory.join(name)).ok());
        document.filter(|document| Some(document) == chunk.as_ref())
    }

    fn unsupported() -> io::Error {
        io::ErrorKind::Unsupported.into()
    }

    #[test]
    fn the_copy_is_durable_before_the_old_node_is_erased() {
        for exchanges in [true, false] {
            let (_folder, [copy, destination, aside]) = folder();
            let mut steps = Vec::new();
            let left = replace(&copy, &destination, &aside, |step| {
                steps.push(step.clone());
                if !exchanges && matches!(step, Step::Exchange(..)) {
                    return Err(unsupported());
                }
                on_disk(step)
            });
            assert!(left.unwrap().is_none());
            let parent = destination.parent().unwrap().to_owned();
            let sync = Step::Sync(copy.clone());
            let exchange = Step::Exchange(copy.clone(), destination.clone());
            let wanted = match exchanges {
                true => vec![sync, exchange, Step::SyncNames(parent), Step::Erase(copy.clone())],
                false => vec![
                    sync,
                    exchange,
                    Step::Rename(destination.clone(), aside.clone()),
                    Step::Rename(copy.clone(), destination.clone()),
                    Step::SyncNames(parent),
                    Step::Erase(aside.clone()),
                ],
            };
            assert_eq!(steps, wanted);
            assert_eq!(content(&destination).as_deref(), Some("new"));
            assert!(!copy.exists() && !aside.exists());
        }
    }

    /// The process ends before step `last`, or all steps from `last` on fail.
    #[test]
    fn the_old_node_or_the_copy_exists_after_every_step() {
        for exchanges in [true, false] {
            for last in 0..6 {
                let (_folder, [copy, destination, aside]) = folder();
                let mut taken = 0;
                let result = replace(&copy, &destination, &aside, |step| {
                    if !exchanges && matches!(step, Step::Exchange(..)) {
                        return Err(unsupported());
                    }
                    if taken == last {
                        return Err(io::Error::other("the power is gone"));
                    }
                    taken += 1;
                    on_disk(step)
                });
                let [at_copy, there, beside] = [&copy, &destination, &aside].map(|path| content(path));
                let case = format!("exchanges {exchanges}, {last} steps, {result:?}");
                match (exchanges, last) {
                    (true, 0..=1) | (false, 0..=1) => {
                        assert_eq!(
                            (there.as_deref(), at_copy.as_deref()),
                            (Some("old"), Some("new")),
                            "{case}"
                        );
                        assert!(result.is_err(), "{case}");
                    }
                    // Both exist under hidden names.
                    (false, 2) => {
                        assert_eq!(
                            (at_copy.as_deref(), beside.as_deref()),
                            (Some("new"), Some("old")),
                            "{case}"
                        );
                        assert!(result.is_err(), "{case}");
                    }
                    _ => {
                        assert_eq!(there.as_deref(), Some("new"), "{case}");
                        let old = if exchanges { at_copy } else { beside };
                        let is_done = taken == if exchanges { 4 } else { 5 };
                        assert_eq!(old.as_deref(), (!is_done).then_some("old"), "{case}");
                        assert_eq!(result.unwrap().is_none(), is_done, "{case}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_failed_replacement_keeps_the_old_node() {
        let (_folder, [copy, destination, aside]) = folder();
        // The file system cannot exchange names, and the second of two renames fails.
        let result = replace(&copy, &destination, &aside, |step| match step {
            Step::Exchange(..) => Err(unsupported()),
            Step::Rename(from, _) if *from == copy => Err(io::Error::other("no")),
            step => on_disk(step),
        });
        assert_eq!(format!("{:#}", result.unwrap_err()), "no");
        assert_eq!(content(&destination).as_deref(), Some("old"));
        assert!(!aside.exists());
    }

    #[test]
    fn the_copy_is_durable_before_it_is_renamed() {
        let (_folder, [copy, destination, _]) = folder();
        fs::remove_dir_all(&destination).unwrap();
        let mut steps = Vec::new();
        let take = |step: &Step| {
            steps.push(step.clone());
            on_disk(step)
        };
        place(&copy, &destination, take).unwrap();
        let parent = destination.parent().unwrap().to_owned();
        let wanted =
            [Step::Sync(copy.clone()), Step::Rename(copy, destination.clone()), Step::SyncNames(parent)];
        assert_eq!(steps, wanted);
        assert_eq!(content(&destination).as_deref(), Some("new"));
    }
}
