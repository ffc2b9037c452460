//! The location of a store as text: `s3://bucket/a.zarr`, `/data/a.zarr`, `https://host/b.zip|zip:a.zarr`. **For store
//! authors.**
//!
//! The text is a [URL pipeline](https://github.com/zarr-rs/zarr/blob/v0.1.0/docs/specification/stores.md#e.6): a root (a
//! URL with a scheme, or a path of the file system), then adapters, which read an object of the store before them as a
//! store, and last perhaps a format with the path of a node. The schemes are a table that is passed in, as in a
//! [`Registry`](zarr_traits::Registry). Each crate of a store offers its own schemes.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::durability::Durability;
use crate::redirects::Redirects;
use crate::trace::Trace;
use crate::url::{percent_decoded, redacted, scheme_of, split_adapters};
use zarr_traits::{BoxFuture, Key, Located, Storage, StoreError, StoreErrorKind, StoreResult};

/// A scheme of URLs, and what opens its stores.
#[derive(Clone)]
pub struct Scheme {
    name: Cow<'static, str>,
    paths: PathEncoding,
    open: Open,
}

/// How paths stand in the URLs of a scheme.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PathEncoding {
    /// Percent-encoded; they end at a `?`.
    Percent,
    /// As they are.
    Plain,
}

/// A function that opens the store of a URL. It gets the text unchanged, which for the scheme `file` may also be a
/// path.
pub type OpenRoot = fn(url: &str, access: &Access) -> StoreResult<Storage>;

/// A closure that opens the store of a URL, and may wait for it.
pub type OpenRootShared =
    dyn for<'a> Fn(&'a str, &'a Access) -> BoxFuture<'a, StoreResult<Storage>> + Send + Sync;

/// A function that reads an object as a store. It gets the storage that holds the object, the key of the object, and
/// the path after the name of the scheme.
pub type OpenAdapter = for<'a> fn(Storage, Key, &'a str, &'a Access) -> BoxFuture<'a, StoreResult<Storage>>;

#[derive(Clone)]
enum Open {
    Root(OpenRoot),
    Shared(Arc<OpenRootShared>),
    Adapter(OpenAdapter),
}

impl Scheme {
    /// The scheme of `name://…`, in lower case, whose stores are opened by a function.
    pub const fn root(name: &'static str, paths: PathEncoding, open: OpenRoot) -> Self {
        Self { name: Cow::Borrowed(name), paths, open: Open::Root(open) }
    }

    /// The scheme of `|name:path` after another store, in lower case.
    pub const fn adapter(name: &'static str, open: OpenAdapter) -> Self {
        Self { name: Cow::Borrowed(name), paths: PathEncoding::Plain, open: Open::Adapter(open) }
    }

    /// The scheme of `name://…`, in lower case, whose stores are opened by a closure. It can have state, such as a
    /// client, and may wait.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use zarr_store::{Access, MemoryStore, OpenRootShared, PathEncoding, Scheme, Schemes};
    /// use zarr_traits::{Storage, block_on};
    ///
    /// let session = Storage::from(MemoryStore::new());
    /// let open: Arc<OpenRootShared> = Arc::new(move |_url, _access| {
    ///     let session = session.clone();
    ///     Box::pin(async move { Ok(session) })
    /// });
    /// let schemes = [Scheme::shared("session", PathEncoding::Plain, open)];
    /// let located = block_on(Schemes::new(&[&schemes]).open("session://a.zarr", &Access::new()))?;
    /// # Ok::<(), zarr_traits::StoreError>(())
    /// ```
    pub fn shared(
        name: impl Into<Cow<'static, str>>,
        paths: PathEncoding,
        open: Arc<OpenRootShared>,
    ) -> Self {
        Self { name: name.into(), paths, open: Open::Shared(open) }
    }

    /// The name before the `:`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Opens the store of `url`.
    async fn open_root(&self, url: &str, access: &Access) -> StoreResult<Storage> {
        match &self.open {
            Open::Root(open) => open(url, access),
            Open::Shared(open) => open(url, access).await,
            Open::Adapter(_) => {
                let message =
                    format!("{:?} is an adapter: write it after another store and a `|`", self.name);
                Err(StoreError::new(StoreErrorKind::InvalidArgument, message))
            }
        }
    }

    /// Returns the function of an adapter.
    fn adapts(&self) -> StoreResult<OpenAdapter> {
        match self.open {
            Open::Adapter(open) => Ok(open),
            Open::Root(_) | Open::Shared(_) => {
                let message = format!("{:?} is not an adapter: it can only start a URL", self.name);
                Err(StoreError::new(StoreErrorKind::InvalidArgument, message))
            }
        }
    }
}

/// Shows the name.
impl fmt::Debug for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Scheme").field(&self.name).finish()
    }
}

/// Credentials and settings for access to a store. Everything is optional.
///
/// Environment variables are never read implicitly; pass them with [`environment`](Self::environment()).
///
/// ```
/// # use zarr_store::Access;
/// let access = Access::new().environment(std::env::vars()).region("eu-central-1");
/// ```
#[derive(Clone, Default)]
#[non_exhaustive]
#[doc(alias = "credentials")]
pub struct Access {
    /// Whether requests are not signed.
    pub anonymous: bool,
    /// The address of the service, if it is not the usual one: `http://127.0.0.1:9000`.
    pub endpoint: Option<String>,
    /// The region of the service.
    pub region: Option<String>,
    /// The section of the user's configuration files that has the credentials.
    pub profile: Option<String>,
    /// Variables with credentials and settings, named as in the environment of the services' own tools.
    pub environment: BTreeMap<String, String>,
    /// The largest number of requests at once. By default a store finds it by itself.
    pub in_flight: Option<usize>,
    /// The largest number of retries of a request.
    pub retries: Option<u32>,
    /// The longest duration of one operation, with all retries and all pages of a listing. The time that its bytes take
    /// at 100 kB/s is added, and the time that listed names take at 100 names/s.
    ///
    /// Retries share it: an attempt without an answer ends after a third of it, at most 20 s, if another attempt can follow;
    /// the last attempt has all the time that is left. Without retries the only attempt has the whole time.
    pub timeout: Option<Duration>,
    /// Whether a missing place of a store, such as a directory, is created. For writers.
    pub create: bool,
    /// Whether links that lead out of a directory store are refused. For stores of strangers.
    pub confined: bool,
    /// The data that a directory has on the disk when a write to it returns. Other stores ignore it: a service keeps
    /// what it has acknowledged.
    pub durability: Durability,
    /// Whether an object that a web server forbids to read counts as absent: some servers answer 403 instead of 404.
    pub forbidden_is_absent: bool,
    /// The hosts to which a web server may redirect a request.
    pub redirects: Redirects,
    /// Certificates in PEM that are trusted beside those of the system: of a service whose certificate the system does
    /// not know, or of its issuer.
    pub root_certificates: Option<Vec<u8>>,
    /// The trace of all requests.
    pub trace: Option<Trace>,
}

impl Access {
    /// Returns access without any settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets whether requests are not signed.
    #[must_use]
    pub fn anonymous(self, anonymous: bool) -> Self {
        Self { anonymous, ..self }
    }

    /// Sets the address of the service.
    #[must_use]
    pub fn endpoint(self, endpoint: impl Into<String>) -> Self {
        Self { endpoint: Some(endpoint.into()), ..self }
    }

    /// Sets the region of the service.
    #[must_use]
    pub fn region(self, region: impl Into<String>) -> Self {
        Self { region: Some(region.into()), ..self }
    }

    /// Sets the section of the user's configuration files.
    #[must_use]
    pub fn profile(self, profile: impl Into<String>) -> Self {
        Self { profile: Some(profile.into()), ..self }
    }

    /// Sets variables with credentials and settings, for example `std::env::vars()`.
    #[must_use]
    #[doc(alias = "credentials")]
    pub fn environment(self, variables: impl IntoIterator<Item = (String, String)>) -> Self {
        Self { environment: variables.into_iter().collect(), ..self }
    }

    /// Sets the largest number of requests at once.
    #[must_use]
    pub fn in_flight(self, requests: usize) -> Self {
        Self { in_flight: Some(requests), ..self }
    }

    /// Sets the largest number of retries of a request.
    #[must_use]
    #[doc(alias = "retry")]
    pub fn retries(self, retries: u32) -> Self {
        Self { retries: Some(retries), ..self }
    }

    /// Sets the longest duration of one operation, which all its [retries share](Self#structfield.timeout).
    #[must_use]
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout: Some(timeout), ..self }
    }

    /// Sets whether a missing place of a store, such as a directory, is created.
    #[must_use]
    pub fn create(self, create: bool) -> Self {
        Self { create, ..self }
    }

    /// Sets whether links that lead out of a directory store are refused.
    #[must_use]
    pub fn confined(self, confined: bool) -> Self {
        Self { confined, ..self }
    }

    /// Sets what a directory has on the disk when a write to it returns.
    #[must_use]
    pub fn durability(self, durability: Durability) -> Self {
        Self { durability, ..self }
    }

    /// Sets whether an object that a web server forbids to read counts as absent.
    #[must_use]
    pub fn forbidden_is_absent(self, absent: bool) -> Self {
        Self { forbidden_is_absent: absent, ..self }
    }

    /// Sets the hosts to which a web server may redirect a request.
    #[must_use]
    pub fn redirects(self, redirects: Redirects) -> Self {
        Self { redirects, ..self }
    }

    /// Sets certificates in PEM that are trusted beside those of the system.
    #[must_use]
    pub fn root_certificates(self, pem: impl Into<Vec<u8>>) -> Self {
        Self { root_certificates: Some(pem.into()), ..self }
    }

    /// Sets the trace of all requests.
    #[must_use]
    pub fn trace(self, trace: Trace) -> Self {
        Self { trace: Some(trace), ..self }
    }

    /// Returns a variable of `environment`, unless it is empty.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.environment.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }
}

/// Omits credentials: the environment, and the secrets of an endpoint.
impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Access")
            .field("anonymous", &self.anonymous)
            .field("endpoint", &self.endpoint.as_deref().map(redacted))
            .field("region", &self.region)
            .field("profile", &self.profile)
            .finish_non_exhaustive()
    }
}

/// A table of schemes, which opens stores.
#[derive(Debug, Clone, Default)]
pub struct Schemes(BTreeMap<String, Scheme>);

/// The names of formats, which can only come last.
const FORMATS: [(&str, Option<u8>); 3] = [("zarr", None), ("zarr2", Some(2)), ("zarr3", Some(3))];

impl Schemes {
    /// Returns the schemes of all `tables`. If a name occurs twice, the last one wins.
    pub fn new(tables: &[&[Scheme]]) -> Self {
        let all = tables.iter().flat_map(|table| table.iter());
        Self(all.map(|scheme| (scheme.name().to_owned(), scheme.clone())).collect())
    }

    /// The names of the schemes, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Whether a scheme has this name.
    pub fn knows(&self, name: &str) -> bool {
        self.0.contains_key(name.to_ascii_lowercase().as_str())
    }

    /// Opens the location `text`.
    ///
    /// # Errors
    /// [`StoreErrorKind::Unsupported`] for an unknown scheme, [`StoreErrorKind::InvalidArgument`] for an invalid text;
    /// and those of the store.
    #[doc(alias = "open_url")]
    pub async fn open(&self, text: &str, access: &Access) -> StoreResult<Located> {
        let (store, node, format) = split_node(text);
        let Pipeline { root, adapters } = Pipeline::parse(store)?;
        let scheme = self.find(scheme_of(root).unwrap_or("file"))?;
        let storage = match &adapters[..] {
            [] => scheme.open_root(root, access).await?,
            [(name, path)] => {
                let adapt = self.find(name)?.adapts()?;
                let (folder, key) = split_object(root, scheme.paths)?;
                adapt(scheme.open_root(&folder, access).await?, key, path, access).await?
            }
            _ => {
                let message = "more than one adapter is not supported";
                return Err(StoreError::new(StoreErrorKind::Unsupported, message));
            }
        };
        let (root, adapters) = split_adapters(store);
        let storage = storage.with_location(Some(&(redacted(root) + adapters)));
        Ok(Located::new(storage, node, format))
    }

    fn find(&self, name: &str) -> StoreResult<&Scheme> {
        self.0.get(name.to_ascii_lowercase().as_str()).ok_or_else(|| {
            let known: Vec<_> = self.names().collect();
            let message = format!("unknown scheme {name:?}, the known ones are: {}", known.join(", "));
            StoreError::new(StoreErrorKind::Unsupported, message)
        })
    }
}

/// A text split at each `|`.
struct Pipeline<'a> {
    root: &'a str,
    /// The names and paths of the adapters.
    adapters: Vec<(&'a str, &'a str)>,
}

impl<'a> Pipeline<'a> {
    fn parse(text: &'a str) -> StoreResult<Self> {
        let (root, adapters) = split_adapters(text);
        if root.is_empty() {
            return Err(StoreError::new(StoreErrorKind::InvalidArgument, "the store name is empty"));
        }
        let adapters = adapters.split('|').skip(1).filter_map(|adapter| adapter.split_once(':')).collect();
        Ok(Self { root, adapters })
    }
}

/// Splits a text into the location of the store, the path of the node, and the format, as in [`Located`].
pub fn split_node(text: &str) -> (&str, String, Option<u8>) {
    if let Some((store, last)) = text.rsplit_once('|')
        && let Some((name, path)) = last.split_once(':')
        && let Some((_, format)) = FORMATS.iter().find(|(known, _)| *known == name)
    {
        return (store, format!("/{}", path.trim_matches('/')), *format);
    }
    (text, "/".to_owned(), None)
}

/// Returns the names in a text: the scheme at its start, and the name after each `|`. Empty for a plain path.
pub fn names_of(text: &str) -> Vec<&str> {
    let Ok(Pipeline { root, adapters }) = Pipeline::parse(text) else { return Vec::new() };
    scheme_of(root).into_iter().chain(adapters.into_iter().map(|(name, _)| name)).collect()
}

/// Splits the location of an object into that of its folder and its key there. The query of a URL stays with the
/// folder.
fn split_object(root: &str, paths: PathEncoding) -> StoreResult<(String, Key)> {
    let wrong = |message| StoreError::new(StoreErrorKind::InvalidArgument, message);
    let Some(scheme) = scheme_of(root) else {
        return Ok(match root.rsplit_once('/') {
            Some(("", name)) => ("/".to_owned(), Key::new(name)?),
            Some((folder, name)) => (folder.to_owned(), Key::new(name)?),
            None => (".".to_owned(), Key::new(root)?),
        });
    };
    let (url, query) =
        root.split_at(root.find('?').filter(|_| paths == PathEncoding::Percent).unwrap_or(root.len()));
    let Some((_, path)) = url[scheme.len() + "://".len()..].split_once('/') else {
        return Err(wrong("the URL has no path, so it names no object"));
    };
    let (folders, name) = path.split_at(path.rfind('/').map_or(0, |at| at + 1));
    if folders.split_terminator('/').any(str::is_empty) {
        return Err(wrong("the URL has an empty folder name"));
    }
    let folder = &url[..url.len() - name.len()];
    let key = match paths {
        PathEncoding::Plain => Key::new(name)?,
        // A fragment is not part of a name.
        PathEncoding::Percent => {
            match percent_decoded(name).filter(|_| !name.contains('#')).map(String::from_utf8) {
                Some(Ok(name)) if !name.contains('/') => Key::new(name)?,
                _ => return Err(wrong("the name of the object is not percent-encoded text")),
            }
        }
    };
    Ok((format!("{folder}{query}"), key))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use zarr_traits::block_on;

    fn opened(url: &str, _: &Access) -> StoreResult<Storage> {
        Err(StoreError::new(StoreErrorKind::Io, format!("opened {url}")))
    }

    fn adapted<'a>(
        _: Storage,
        key: Key,
        path: &'a str,
        _: &'a Access,
    ) -> BoxFuture<'a, StoreResult<Storage>> {
        Box::pin(async move { Err(StoreError::new(StoreErrorKind::Io, format!("{key} at {path}"))) })
    }

    const TABLE: &[Scheme] = &[
        Scheme::root("file", PathEncoding::Percent, opened),
        Scheme::root("https", PathEncoding::Percent, opened),
        Scheme::root("s3", PathEncoding::Plain, opened),
        Scheme::adapter("zip", adapted),
    ];

    #[test]
    fn e50_a_text_leads_to_its_scheme() {
        for (text, said) in [
            ("s3://b/a.zarr", "opened s3://b/a.zarr"),
            ("/data/a.zarr", "opened /data/a.zarr"),
            ("a|b.zarr", "opened a|b.zarr"),
            ("s3://b/d/x.zip|zip:a.zarr/", "opened s3://b/d/"),
            ("x.zip|zip:", "opened ."),
            ("s3://b/x|zarr3:a/b", "opened s3://b/x"),
            ("gs://b/a", "unknown scheme \"gs\", the known ones are: file, https, s3, zip"),
            ("zip://b/a", "\"zip\" is an adapter: write it after another store and a `|`"),
            ("a|s3:b", "\"s3\" is not an adapter: it can only start a URL"),
            ("|zip:a", "the store name is empty"),
        ] {
            let e = block_on(Schemes::new(&[TABLE]).open(text, &Access::new())).unwrap_err();
            assert_eq!(format!("{e:#}"), said, "{text}");
        }
    }

    #[test]
    fn a_closure_with_state_opens_stores_and_may_wait() {
        let storage = Storage::from(crate::MemoryStore::new());
        let open: Arc<OpenRootShared> = Arc::new(move |_, _| {
            let storage = storage.clone();
            Box::pin(async move {
                storage.head(&Key::new("a")?).await?; // a request
                Ok(storage)
            })
        });
        let own = [Scheme::shared(format!("own{}", 1), PathEncoding::Plain, open)];
        let schemes = Schemes::new(&[TABLE, &own]);
        assert!(block_on(schemes.open("OWN1://x", &Access::new())).is_ok());
        let e = block_on(schemes.open("own1://x/y|zip:z", &Access::new())).unwrap_err();
        assert_eq!(format!("{e:#}"), "y at z");
    }

    #[test]
    fn e50_a_node_and_a_format_stand_last() {
        for (text, store, node, format) in [
            ("s3://b/x|zarr3:a/b/", "s3://b/x", "/a/b", Some(3)),
            ("x.zip|zip:y|zarr2:", "x.zip|zip:y", "/", Some(2)),
            ("x|zarr:/a", "x", "/a", None),
            ("x.zip|zip:y", "x.zip|zip:y", "/", None),
            ("x|zarr", "x|zarr", "/", None),
        ] {
            assert_eq!(split_node(text), (store, node.to_owned(), format), "{text}");
        }
        assert_eq!(names_of("S3://b/x.zip|zip:y|zarr3:a"), ["S3", "zip", "zarr3"]);
        assert!(names_of("a|b/c:d").is_empty());
    }

    #[test]
    fn e50_an_object_is_split_from_its_folder() {
        for (text, folder, key) in [
            ("x.zip", ".", "x.zip"),
            ("/x.zip", "/", "x.zip"),
            ("d/x%20?.zip", "d", "x%20?.zip"),
            ("file:///x.zip", "file:///", "x.zip"),
            ("FILE:///d%20/x%20%25.zip", "FILE:///d%20/", "x %.zip"),
            ("https://h/d/x.zip?sig=a/b", "https://h/d/?sig=a/b", "x.zip"),
            ("HTTPS://h/%C3%A9.zip?sig=a%2Fb", "HTTPS://h/?sig=a%2Fb", "é.zip"),
            // Names of objects in a bucket are not percent-encoded.
            ("s3://b/x%20?.zip", "s3://b/", "x%20?.zip"),
            ("S3://b/d/x.zip", "S3://b/d/", "x.zip"),
        ] {
            let e = block_on(Schemes::new(&[TABLE]).open(&format!("{text}|zip:in"), &Access::new()));
            assert_eq!(format!("{:#}", e.unwrap_err()), format!("opened {folder}"), "{text}");
            let is_plain = scheme_of(text).is_none_or(|scheme| scheme.eq_ignore_ascii_case("s3"));
            let paths = if is_plain { PathEncoding::Plain } else { PathEncoding::Percent };
            assert_eq!(split_object(text, paths).unwrap().1.as_str(), key, "{text}");
        }
        for text in [
            "s3://bucket",
            "https://h?x",
            "file:///d/",
            "file:///%2",
            "file:///%FF",
            "https://h/a%2Fb",
            "file:///a#b",
            "s3://b/d//x",
        ] {
            let e = block_on(Schemes::new(&[TABLE]).open(&format!("{text}|zip:"), &Access::new()));
            assert_eq!(e.unwrap_err().kind(), StoreErrorKind::InvalidArgument, "{text}");
        }
    }

    proptest! {
        /// The shown text is the same for all passwords, even wrongly encoded ones.
        #[test]
        fn no_part_of_a_password_is_shown(
            scheme in "s3|gs|az|abfs|http|https|HTTP|file",
            user in "[A-Za-z0-9]{0,20}",
            password in "[!-~]{0,40}",
            host in "[a-z0-9.-]{1,20}",
            path in "(/[a-z0-9.:]{0,8}){0,3}",
        ) {
            let shown = redacted(&format!("{scheme}://{user}:{password}@{host}{path}"));
            let plain = format!("{scheme}://{host}{path}");
            let marked = format!("{scheme}://…@{host}{path}");
            prop_assert!(shown == plain || shown == marked, "{shown}");
            let access = Access::new().endpoint(format!("http://{user}:{password}@{host}{path}"));
            let shown = format!("{access:?}");
            let plain = |hidden: &str| format!("Some(\"http://{hidden}{host}{path}\")");
            prop_assert!(shown.contains(&plain("")) || shown.contains(&plain("…@")), "{shown}");
        }
    }
}
