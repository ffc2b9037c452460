//! Directories by URL: `file:///data/a%20b.zarr`, or a plain path.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use zarr_store::{Access, PathEncoding, Scheme};
use zarr_store::{percent_decoded, scheme_of};
use zarr_traits::{Storage, StoreError, StoreErrorKind, StoreResult};

use crate::store::FsStore;

/// The scheme `file`, for URLs and plain paths: a store in a directory.
///
/// The directory must exist, unless [`Access::create`] is set. Without the feature `write` it must always exist.
///
/// ```
/// # use zarr_store::{Access, Schemes};
/// # use zarr_traits::block_on;
/// # let directory = tempfile::tempdir()?;
/// # let url = format!("file://{}/a%20b.zarr", directory.path().display());
/// let schemes = Schemes::new(&[zarr_store_fs::SCHEMES]);
/// let located = block_on(schemes.open(&url, &Access::new().create(true)))?;
/// # assert!(directory.path().join("a b.zarr").is_dir());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub const SCHEMES: &[Scheme] = &[Scheme::root("file", PathEncoding::Percent, open)];

fn open(url: &str, access: &Access) -> StoreResult<Storage> {
    Ok(store(url, access)?.into())
}

fn store(url: &str, access: &Access) -> StoreResult<FsStore> {
    let path = path_of(url)?;
    #[cfg(feature = "write")]
    let store = if access.create { FsStore::create(path)? } else { FsStore::open(path)? };
    #[cfg(feature = "write")]
    let store = store.with_durability(access.durability);
    #[cfg(not(feature = "write"))]
    let store = FsStore::open(path)?;
    if access.confined { store.with_confinement() } else { Ok(store) }
}

/// Returns the path of a `file` URL, with its percent-encoding decoded. A plain path is returned unchanged.
///
/// # Errors
/// [`StoreErrorKind::InvalidArgument`] for a URL of another machine, with a query or a fragment, with a percent sign
/// without two hexadecimal digits behind it, without an absolute path, or with a zero byte.
pub fn path_of(url: &str) -> StoreResult<PathBuf> {
    if scheme_of(url).is_none() {
        return Ok(url.into());
    }
    let refused = |message: &str| {
        let message = format!("{message}: expected file:///path for a directory of this machine");
        StoreError::new(StoreErrorKind::InvalidArgument, message)
    };
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    if !(host.is_empty() || host.eq_ignore_ascii_case("localhost")) {
        return Err(refused("the URL names another machine"));
    }
    if path.is_empty() {
        return Err(refused("the URL has no path"));
    }
    if path.contains(['?', '#']) {
        return Err(refused("the URL has a query or a fragment (write ? and # in names as %3F and %23)"));
    }
    match percent_decoded(path) {
        Some(bytes) if !bytes.contains(&0) => Ok(OsString::from_vec(bytes).into()),
        _ => Err(refused("the path is not percent-encoded (write % in names as %25)")),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn urls_and_paths_name_directories() {
        for (url, path) in [
            ("file:///a%20b/c%25.zarr", &b"/a b/c%.zarr"[..]),
            ("FILE://localhost/%c3%A9|x", "/é|x".as_bytes()),
            ("file:///%FF", b"/\xff"),
            ("file:///", b"/"),
            ("a%20b.zarr?", b"a%20b.zarr?"),
            ("/a:b", b"/a:b"),
        ] {
            assert_eq!(path_of(url).unwrap().as_os_str().as_bytes(), path, "{url}");
        }
    }

    #[test]
    fn a_wrong_file_url_is_an_error_with_the_reason() {
        for (url, why) in [
            ("file://host/a", "another machine"),
            ("file://", "no path"),
            ("file://localhost", "no path"),
            ("file:///a?b", "%3F"),
            ("file:///a#b", "%23"),
            ("file:///a%2", "%25"),
            ("file:///a%zz", "%25"),
            ("file:///a%+1", "%25"),
            ("file:///a%00", "percent"),
        ] {
            let e = path_of(url).unwrap_err();
            assert_eq!(e.kind(), StoreErrorKind::InvalidArgument);
            assert!(format!("{e:#}").contains(why), "{url}: {e:#}");
        }
    }

    #[test]
    fn a_mistyped_url_shows_no_credentials() {
        for (url, shown) in [
            ("s3//KEY:s3cret@bucket/a.zarr", "directory …@bucket/a.zarr"),
            ("https//host/a.zarr?token=s3cret", "directory https//host/a.zarr?…"),
            ("/no/such@place", "directory /no/such@place"),
        ] {
            let text = format!("{:#}", open(url, &Access::new()).unwrap_err());
            assert!(text.contains(shown) && !text.contains("s3cret"), "{text}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_link_out_of_the_directory_is_refused_on_request() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("secret"), "secret").unwrap();
        std::fs::create_dir(folder.path().join("a.zarr")).unwrap();
        std::os::unix::fs::symlink("../secret", folder.path().join("a.zarr/k")).unwrap();
        let url = format!("file://{}/a.zarr", folder.path().display());
        let get = |access: &Access| {
            let storage = open(&url, access).unwrap();
            zarr_traits::block_on(storage.get(&zarr_traits::Key::new("k").unwrap(), 100))
        };
        assert_eq!(get(&Access::new()).unwrap().unwrap(), "secret");
        let e = get(&Access::new().confined(true)).unwrap_err();
        assert_eq!(e.kind(), StoreErrorKind::PermissionDenied, "{e:#}");
    }

    #[cfg(feature = "write")]
    #[test]
    fn a_url_chooses_what_a_power_cut_may_do() {
        use zarr_store::Durability;
        let folder = tempfile::tempdir().unwrap();
        let url = format!("file://{}", folder.path().display());
        let durability = |access: &Access| store(&url, access).unwrap().writing.durability;
        assert_eq!(durability(&Access::new()), Durability::Atomic);
        for chosen in [Durability::Atomic, Durability::Deferred, Durability::Durable] {
            let access = Access::new().durability(chosen);
            assert_eq!(durability(&access), chosen);
            #[cfg(target_os = "linux")]
            assert_eq!(durability(&access.confined(true)), chosen);
        }
    }

    #[cfg(feature = "write")]
    #[test]
    fn a_missing_directory_is_created_only_on_request() {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("file://{}/a/b.zarr", folder.path().display());
        assert!(open(&url, &Access::new()).is_err());
        open(&url, &Access::new().create(true)).unwrap();
        assert!(open(&url, &Access::new()).is_ok());
    }
}
