//! How a complete copy takes its place in a directory: step by step, so that after each of them, should it be the last one, either
//! what was there or the copy is there, whole and on the disk.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use zarr_array::meta::Documents;
use zarr_array::{Storage, block_on};
use zarr_store_fs::FsStore;

/// One change of the file system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// Makes durable what was written below a directory.
    Sync(PathBuf),
    /// Exchanges the names of two directories at once.
    Exchange(PathBuf, PathBuf),
    /// Gives a directory another name.
    Rename(PathBuf, PathBuf),
    /// Makes the names in a directory durable.
    SyncNames(PathBuf),
    /// Removes a directory with all that is in it.
    Erase(PathBuf),
}

/// What is left of what was replaced, and why.
#[derive(Debug)]
pub(super) struct Left(pub(super) PathBuf, pub(super) io::Error);

/// Gives `copy` the name `destination`, where there is nothing, or an empty directory.
///
/// # Errors
/// Those of `take`, which takes the steps.
pub(super) fn place(
    copy: &Path,
    destination: &Path,
    mut take: impl FnMut(&Step) -> io::Result<()>,
) -> io::Result<()> {
    take(&Step::Sync(copy.to_owned()))?;
    take(&Step::Rename(copy.to_owned(), destination.to_owned()))?;
    take(&Step::SyncNames(above(destination)))
}

/// Puts `copy` in the place of the directory `destination`, and erases what was there once that is durable. Where the file
/// system cannot exchange two names, what is there gets the name `aside` first: for a moment `destination` is not there, while
/// both directories are.
///
/// # Errors
/// Those of `take`, which takes the steps; then what was at `destination` is there as before, or has at least the name `aside`.
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
                let where_it_is = format!("{e}; what was there has the name {aside:?} now");
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

/// Takes a step.
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

/// [`Unsupported`](io::ErrorKind::Unsupported) where the system, or the file system, has no such call.
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

/// First of all the directory stops being a node; if that fails, so does the rest.
fn erase(directory: &Path) -> io::Result<()> {
    for name in Documents::steps(None).iter().copied().flatten() {
        let _ = fs::remove_file(directory.join(name.as_str()));
    }
    fs::remove_dir_all(directory)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with a node, and a copy that is to take its place.
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

    /// What a directory holds, if it is whole.
    fn content(directory: &Path) -> Option<String> {
        let [document, chunk] =
            ["zarr.json", "c/0"].map(|name| fs::read_to_string(directory.join(name)).ok());
        document.filter(|document| Some(document) == chunk.as_ref())
    }

    fn unsupported() -> io::Error {
        io::ErrorKind::Unsupported.into()
    }

    #[test]
    fn the_copy_is_durable_before_what_it_replaces_goes() {
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

    /// The process ends before the step of a number, or that step and all further ones fail.
    #[test]
    fn one_of_both_is_there_wherever_it_ends() {
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
                    // Both are there, under hidden names.
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
    fn what_cannot_be_put_in_place_leaves_what_was_there() {
        let (_folder, [copy, destination, aside]) = folder();
        // The file system cannot exchange names, and the second of two renames fails.
        let result = replace(&copy, &destination, &aside, |step| match step {
            Step::Exchange(..) => Err(unsupported()),
            Step::Rename(from, _) if *from == copy => Err(io::Error::other("no")),
            step => on_disk(step),
        });
        assert_eq!(result.unwrap_err().to_string(), "no");
        assert_eq!(content(&destination).as_deref(), Some("old"));
        assert!(!aside.exists());
    }

    #[test]
    fn a_new_name_is_given_to_what_is_durable() {
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
