//! The kinds of stores, by URL scheme, and how stores are opened.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use zarr_array::traits::lock::unpoisoned;
use zarr_array::traits::store::Drive;
use zarr_array::traits::{Prefix, StoreError, StoreErrorKind, StoreResult};
use zarr_array::{Storage, block_on};
use zarr_store::{Access, CacheOptions, Cached, Prefixed, Scheme, Schemes, Targets, Traced};
use zarr_store::{names_of, redacted, scheme_of, split_adapters};
use zarr_store_fs::FsStore;
use zarr_store_icechunk::{Contents, Ref, Repository};

use crate::args::{archive, inside};
use crate::exit::{Exit, Failure};

/// The schemes of all stores in this build, except stores in memory.
const TABLES: &[&[Scheme]] = &[
    zarr_store_fs::SCHEMES,
    &[zarr_store::zip::SCHEME],
    zarr_store_icechunk::SCHEMES,
    zarr_store_refs::SCHEMES,
    #[cfg(feature = "zarr-store-object")]
    zarr_store_object::SCHEMES,
];

/// Schemes and the cargo features that they need.
const FEATURES: [(&str, &str); 7] = [
    ("s3", "s3"),
    ("gs", "gcs"),
    ("az", "azure"),
    ("abfs", "azure"),
    ("abfss", "azure"),
    ("http", "http"),
    ("https", "http"),
];

/// The stores that a verb can reach.
#[derive(Debug, Clone)]
pub(crate) struct Stores {
    schemes: Schemes,
    access: Access,
    /// Whether repeated reads are answered from memory.
    is_cached: bool,
    /// The stores that were opened, if they must be durable in the end.
    opened: Option<Arc<Mutex<Vec<Storage>>>>,
}

impl Stores {
    /// Makes the stores with all schemes of this build.
    pub(crate) fn new(access: Access) -> Self {
        Self::of(Schemes::new(TABLES), access)
    }

    pub(crate) fn of(schemes: Schemes, access: Access) -> Self {
        Self { schemes, access, is_cached: false, opened: None }
    }

    /// Returns the same stores with repeated reads answered from memory: for a verb that reads documents several times.
    pub(crate) fn cached(&self) -> Self {
        Self { is_cached: true, ..self.clone() }
    }

    /// Returns the same stores, which remember what is opened until [`sync`](Self::sync).
    pub(crate) fn durable(self) -> Self {
        Self { opened: Some(Arc::default()), ..self }
    }

    /// Waits until everything that was written is on the disk, if that is asked for. One sync at the end takes less time
    /// than one for each object.
    pub(crate) fn sync(&self) -> Result<(), Failure> {
        let opened = self.opened.iter().flat_map(|opened| unpoisoned(opened.lock()).clone());
        opened
            .filter(|storage| storage.capabilities().write)
            .try_for_each(|storage| Ok(block_on(storage.sync())?))
    }

    /// Returns the Icechunk repository that a URL names, its state that is read, and the path in it. Returns `None` for another
    /// URL.
    pub(crate) fn repository(&self, url: &str) -> Result<Option<(Repository, Ref, Prefix)>, Failure> {
        block_on(Repository::at_url(url, &self.schemes, &self.access)).map_err(|e| self.unopened(url, &e))
    }

    /// Opens a path in a state of the repository at a URL, which has these contents.
    pub(crate) fn open_state(
        &self,
        url: &str,
        contents: &Contents,
        at: &Ref,
        below: &Prefix,
    ) -> Result<Storage, Failure> {
        let targets = self.schemes.targets(&self.access);
        let whole = block_on(contents.open(at, targets)).map_err(|e| self.unopened(url, &e))?;
        Ok(self.layered(if below.is_root() { whole } else { Prefixed::over(&whole, below.clone()) }))
    }

    /// The places that references may name.
    pub(crate) fn targets(&self) -> &Targets {
        &self.access.targets
    }

    /// Returns the same stores with links that lead out of a directory refused.
    #[cfg(feature = "serve")]
    pub(crate) fn confined(&self) -> Self {
        let mut stores = self.clone();
        stores.access.confined = true;
        stores
    }

    /// Returns `given` as a URL, or `None` if it is a directory. The path of an archive, or of a node in it, is one. A path behind
    /// an adapter of references is that of a node.
    pub(crate) fn url<'a>(&self, given: &'a Path) -> Option<Cow<'a, str>> {
        let is_url = |text: &&str| {
            // The name of a directory may look like a name with an adapter behind it.
            scheme_of(text).is_some() || !names_of(text).is_empty() && !given.exists()
        };
        match given.to_str().filter(is_url) {
            Some(url) => Some(inside::url(url).map_or(Cow::Borrowed(url), Cow::Owned)),
            None => archive::url(given).map(Cow::Owned),
        }
    }

    /// Returns a destination as a URL: also the name of a new archive.
    pub(crate) fn destination_url<'a>(&self, given: &'a Path) -> Option<Cow<'a, str>> {
        self.url(given).or_else(|| archive::new_url(given).map(Cow::Owned))
    }

    /// Opens the store at a URL. Returns [`Exit::NotFound`] if it is a directory that does not exist.
    pub(super) fn open(&self, url: &str) -> Result<Storage, Failure> {
        self.located(url, &self.access)
    }

    /// Opens the store at a URL for writing. Creates its directory if needed.
    pub(super) fn create(&self, url: &str) -> Result<Storage, Failure> {
        self.located(url, &self.access.clone().create(true))
    }

    fn located(&self, url: &str, access: &Access) -> Result<Storage, Failure> {
        let located = block_on(self.schemes.open(url, access)).map_err(|e| self.unopened(url, &e))?;
        Ok(self.layered(located.storage))
    }

    /// Opens the store in a directory. Returns [`Exit::NotFound`] if it does not exist.
    pub(crate) fn open_directory(&self, path: &Path) -> Result<Storage, Failure> {
        self.directory(path, FsStore::open(path))
    }

    /// Opens the store in a directory for writing. Creates the directory if needed.
    pub(super) fn create_directory(&self, path: &Path) -> Result<Storage, Failure> {
        self.directory(path, FsStore::create(path))
    }

    /// Returns the storage of a directory, confined if that is asked for. Its requests are traced, if a trace is wanted.
    fn directory(&self, path: &Path, opened: StoreResult<FsStore>) -> Result<Storage, Failure> {
        let confined =
            |store: FsStore| if self.access.confined { store.with_confinement() } else { Ok(store) };
        let opened = opened.and_then(confined).map_err(|e| {
            let exit = if is_absent(&e) { Exit::NotFound } else { Failure::from(e.clone()).exit() };
            Failure::new(exit, format!("{e:#}")).within(format_args!("store {path:?}"))
        });
        Ok(self.layered(opened?))
    }

    fn layered(&self, storage: impl Into<Storage>) -> Storage {
        let storage = self.traced(storage);
        if let Some(opened) = &self.opened {
            unpoisoned(opened.lock()).push(storage.clone());
        }
        if self.is_cached { Cached::over(&storage, CacheOptions::default()).0 } else { storage }
    }

    /// Returns a storage whose requests are traced, if a trace is wanted. Stores in the network trace their requests
    /// themselves. Its errors do not name the store: the command does, as the user has written it.
    pub(crate) fn traced(&self, storage: impl Into<Storage>) -> Storage {
        let storage = storage.into().with_location(None);
        match &self.access.trace {
            Some(trace) if storage.capabilities().drive == Drive::Inline => {
                Traced::over(&storage, trace.clone())
            }
            _ => storage,
        }
    }

    /// Returns the known scheme or adapter that differs in one letter from an unknown name.
    fn similar(&self, name: &str) -> Option<&'static str> {
        let others = ["file", "zip", "icechunk", "kerchunk"].into_iter();
        let known =
            FEATURES.iter().map(|(known, _)| *known).chain(others).filter(|known| self.schemes.knows(known));
        let name = name.to_ascii_lowercase();
        let is_unknown = !self.schemes.knows(&name);
        known.into_iter().find(|known| is_unknown && strsim::damerau_levenshtein(&name, known) == 1)
    }

    fn unopened(&self, url: &str, e: &StoreError) -> Failure {
        let exit = match e.kind() {
            _ if is_absent(e) => Exit::NotFound,
            StoreErrorKind::InvalidArgument => Exit::Usage,
            _ => Failure::from(e.clone()).exit(),
        };
        let mut message = format!("{e:#}");
        let mut exit = exit;
        if let Some(known) = names_of(url).into_iter().find_map(|name| self.similar(name)) {
            // A mistyped name, and not a scheme of another program.
            exit = Exit::Usage;
            message += &format!("; did you mean {known:?}?");
        }
        let missing = names_of(url).into_iter().filter(|name| !self.schemes.knows(name));
        let feature = missing.filter_map(|name| {
            FEATURES.iter().find(|(known, _)| name.eq_ignore_ascii_case(known)).map(|(_, feature)| feature)
        });
        for feature in feature.take(1) {
            message += &format!("; they need a build with the cargo feature {feature:?}");
        }
        Failure::new(exit, message).within(format_args!("{:?}", shown(url)))
    }
}

/// Returns a path or a URL without secrets, for messages.
pub(crate) fn shown(given: impl AsRef<Path>) -> PathBuf {
    let given = given.as_ref();
    match given.to_str() {
        Some(url) if scheme_of(url).is_some() => {
            // `redacted` cuts everything behind the `?`; the adapters must stay visible.
            let adapters = url.split_once('?').map_or("", |(_, query)| split_adapters(query).1);
            (redacted(url) + adapters).into()
        }
        _ => given.to_owned(),
    }
}

/// Returns the directory of a store that is a plain directory.
pub(crate) fn directory_of(store: &str) -> Option<PathBuf> {
    let is_directory = match names_of(store)[..] {
        [] => true,
        [name] => scheme_of(store) == Some(name) && name.eq_ignore_ascii_case("file"),
        _ => false,
    };
    is_directory.then(|| zarr_store_fs::path_of(store).ok()).flatten()
}

/// Whether the error says that the store does not exist.
fn is_absent(e: &StoreError) -> bool {
    use std::error::Error;
    let cause = e.source().and_then(|e| e.downcast_ref::<std::io::Error>());
    cause
        .is_some_and(|e| matches!(e.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stores() -> Stores {
        Stores::new(Access::new())
    }

    #[test]
    fn a_url_has_a_scheme_or_an_adapter() {
        let folder = tempfile::tempdir().unwrap();
        let odd = folder.path().join("a|b:c");
        assert!(stores().url(&odd).is_some());
        std::fs::create_dir(&odd).unwrap();
        assert_eq!(stores().url(&odd), None);
        for (given, is_url) in
            [("s3://b/a", true), ("a.zip|zip:", true), ("a|zarr3:b", true), ("a.zarr", false), ("a|b", false)]
        {
            assert_eq!(stores().url(Path::new(given)).is_some(), is_url, "{given}");
        }
    }

    #[test]
    fn an_error_of_opening_gives_the_reason_and_no_secrets() {
        for (url, exit, parts) in [
            (
                "foo://u:secret@h/a?secret",
                Exit::Unsupported,
                &["\"foo://h/a?…\"", "unknown scheme \"foo\", the known ones are: ", "file"][..],
            ),
            ("file:///nowhere/a.zarr", Exit::NotFound, &["\"file:///nowhere/a.zarr\"", "/nowhere/a.zarr"]),
            ("file://host/a.zarr", Exit::Usage, &["another machine"]),
        ] {
            let e = stores().open(url).unwrap_err();
            assert_eq!(e.exit(), exit, "{url}");
            assert!(parts.iter().all(|part| e.message().contains(part)), "{}", e.message());
            assert!(!e.message().contains("secret"), "{}", e.message());
        }
        assert_eq!(shown("https://h/x.zip?sig=secret|zip:a"), Path::new("https://h/x.zip?…|zip:a"));
        let none = Stores::of(Schemes::new(&[]), Access::new());
        let e = none.open("gs://b/a").unwrap_err();
        assert!(
            e.message().ends_with("; they need a build with the cargo feature \"gcs\""),
            "{}",
            e.message()
        );
    }

    #[test]
    fn a_directory_is_known_by_its_url() {
        let path = |store| directory_of(store).map(|path| path.to_str().unwrap().to_owned());
        assert_eq!(path("file:///a%20b"), Some("/a b".to_owned()));
        assert_eq!(path("a/b"), Some("a/b".to_owned()));
        assert_eq!([path("s3://b/a"), path("file:///a.zip|zip:"), path("a.zip|zip:")], [None, None, None]);
    }
}
