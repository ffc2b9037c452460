//! Directories: a store that the engine has on POSIX systems. Elsewhere zarr-python's own store is used through Python.

use std::ffi::OsString;
use std::time::Duration;

use zarr_store::Scheme;
use zarr_traits::{Storage, StoreResult};

#[cfg(unix)]
pub(crate) const SCHEMES: &[Scheme] = zarr_store_fs::SCHEMES;
#[cfg(not(unix))]
pub(crate) const SCHEMES: &[Scheme] = &[];

/// How a directory is read and written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Options<'a> {
    /// Whether there are no lock files.
    pub(crate) single_writer: bool,
    /// Whether parts of uncompressed chunks are written into their files.
    pub(crate) updates_in_place: bool,
    /// The number of files that stay open.
    pub(crate) open_files: usize,
    /// What is durable when a write returns: `atomic`, `deferred` or `durable`.
    pub(crate) durability: Option<&'a str>,
}

/// Opens the directory at `path`, which is created if `create` is set. Returns it, and the same store whose writes fail where
/// those of the first wait for another writer of an object.
#[cfg(unix)]
pub(crate) fn open(path: &str, create: bool, options: Options<'_>) -> StoreResult<(Storage, Storage)> {
    use zarr_store_fs::FsStore;

    let mut store = if create { FsStore::create(path)? } else { FsStore::open(path)? };
    if options.single_writer {
        store = store.with_single_writer();
    }
    if options.updates_in_place {
        store = store.with_updates_in_place();
    }
    if options.open_files > 0 {
        store = store.with_open_files(options.open_files);
    }
    if let Some(durability) = options.durability {
        store = store.with_durability(durability.parse()?);
    }
    let hasty = store.clone().with_lock_timeout(Duration::ZERO);
    let storage = Storage::from(store);
    // A layer of its own: it has the threads of the other, but does not wait for writers in these threads either.
    let hasty = Storage::from(hasty).made_of(&storage);
    Ok((storage, hasty))
}

#[cfg(not(unix))]
pub(crate) fn open(_: &str, _: bool, _: Options<'_>) -> StoreResult<(Storage, Storage)> {
    Err(unsupported())
}

/// Returns the path of a `file` URL.
#[cfg(unix)]
pub(crate) fn path_of(url: &str) -> StoreResult<OsString> {
    zarr_store_fs::path_of(url).map(Into::into)
}

#[cfg(not(unix))]
pub(crate) fn path_of(_: &str) -> StoreResult<OsString> {
    Err(unsupported())
}

#[cfg(not(unix))]
fn unsupported() -> zarr_traits::StoreError {
    let message = "directories are supported on POSIX systems only: use zarr-python's LocalStore";
    zarr_traits::StoreError::new(zarr_traits::StoreErrorKind::Unsupported, message)
}
