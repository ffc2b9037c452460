//! Directories: a store that the engine has on POSIX systems. Elsewhere zarr-python's own store is used through Python.

use std::ffi::OsString;

use zarr_store::Scheme;
use zarr_traits::{Storage, StoreResult};

#[cfg(unix)]
pub(crate) const SCHEMES: &[Scheme] = zarr_store_fs::SCHEMES;
#[cfg(not(unix))]
pub(crate) const SCHEMES: &[Scheme] = &[];

/// Opens the directory at `path`, which is created if `create` is set. With `single_writer` it has no lock files.
#[cfg(unix)]
pub(crate) fn open(path: &str, create: bool, single_writer: bool) -> StoreResult<Storage> {
    use zarr_store_fs::FsStore;

    let store = if create { FsStore::create(path)? } else { FsStore::open(path)? };
    Ok(if single_writer { store.single_writer() } else { store }.into())
}

#[cfg(not(unix))]
pub(crate) fn open(_: &str, _: bool, _: bool) -> StoreResult<Storage> {
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
