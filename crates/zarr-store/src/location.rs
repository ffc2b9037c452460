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

use crate::access::Access;
use crate::targets::{Opener, Targets};
use crate::url::{PathEncoding, has_query, percent_decoded, redacted, scheme_of, split_adapters};
use zarr_traits::{BoxFuture, Key, Located, Storage, StoreError, StoreErrorKind, StoreResult};

/// A scheme of URLs, and what opens its stores.
#[derive(Clone)]
pub struct Scheme {
    name: Cow<'static, str>,
    paths: PathEncoding,
    open: Open,
}

/// A function that opens the store of a URL. It gets the text unchanged, which for the scheme `file` may also be a
/// path.
pub type OpenRoot = fn(url: &str, access: &Access) -> StoreResult<Storage>;

/// A closure that opens the store of a URL, and may wait for it.
pub type OpenRootShared =
    dyn for<'a> Fn(&'a str, &'a Access) -> BoxFuture<'a, StoreResult<Storage>> + Send + Sync;

/// A function that reads what is before an adapter, an object or a folder, as a store.
pub type OpenAdapter = for<'a> fn(Below<'a>) -> BoxFuture<'a, StoreResult<Storage>>;

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

/// What is before an adapter in a URL, which the adapter reads as a store. **For store authors.**
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Below<'a> {
    /// The URL or path before the `|` of the adapter, which may have adapters itself.
    pub root: &'a str,
    /// The text after the name of the adapter and its `:`.
    pub path: &'a str,
    /// The settings of the caller.
    pub access: &'a Access,
    /// The schemes that the caller knows.
    pub schemes: &'a Schemes,
}

impl<'a> Below<'a> {
    /// Returns the storage of the folder that holds the object at the root, and the key of the object. For an object in an
    /// archive it is the storage of the whole archive.
    ///
    /// # Errors
    /// [`StoreErrorKind::InvalidArgument`] if the root names no object; and
    /// those of the store.
    pub fn object(self) -> BoxFuture<'a, StoreResult<(Storage, Key)>> {
        Box::pin(self.schemes.open_object(self.root, self.access))
    }

    /// Returns the storage of everything below the root.
    ///
    /// # Errors
    /// Those of the store.
    pub fn folder(self) -> BoxFuture<'a, StoreResult<Storage>> {
        self.schemes.open_store(self.root, self.access)
    }

    /// Returns the places that references may name, opened as this store is.
    pub fn targets(self) -> Targets {
        self.schemes.targets(self.access)
    }
}

/// A table of schemes, which opens stores.
#[derive(Debug, Clone, Default)]
pub struct Schemes(BTreeMap<String, Scheme>);

/// The most adapters in one URL.
const ADAPTERS: usize = 4;

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
        let storage = self.open_store(store, access).await?;
        let (root, adapters) = split_adapters(store);
        let storage = storage.with_location(Some(&(redacted(root) + adapters)));
        Ok(Located::new(storage, node, format))
    }

    /// Returns the places that references may name by these settings, which are opened by these schemes with the same
    /// settings. Links that lead out of a local folder are refused.
    pub fn targets(&self, access: &Access) -> Targets {
        let targets = access.targets.clone();
        let access = access.clone().confined(true).create(false).targets(Targets::none());
        targets.opened_by(Arc::new(Opening { schemes: self.clone(), access }))
    }

    /// Opens the store of a URL or path, which may end in adapters: the last one reads what those before it are.
    fn open_store<'a>(&'a self, text: &'a str, access: &'a Access) -> BoxFuture<'a, StoreResult<Storage>> {
        Box::pin(async move {
            let Pipeline { root, adapters } = Pipeline::parse(text)?;
            let Some((name, path)) = adapters.last() else {
                return self.root(root)?.open_root(root, access).await;
            };
            if adapters.len() > ADAPTERS {
                let message = format!("more than {ADAPTERS} adapters are not supported");
                return Err(StoreError::new(StoreErrorKind::Unsupported, message));
            }
            let root = &text[..text.len() - "|:".len() - name.len() - path.len()];
            self.find(name)?.adapts()?(Below { root, path, access, schemes: self }).await
        })
    }

    /// Opens the folder of the object at a URL or path, and returns the key of the object in it. The folder of an object in
    /// an archive is the whole archive.
    async fn open_object(&self, text: &str, access: &Access) -> StoreResult<(Storage, Key)> {
        let Pipeline { root, adapters } = Pipeline::parse(text)?;
        let Some((_, path)) = adapters.last() else {
            let scheme = self.root(root)?;
            let (folder, key) = split_object(root, scheme.paths)?;
            return Ok((scheme.open_root(&folder, access).await?, key));
        };
        let name = path.trim_start_matches('/');
        if name.is_empty() {
            let message = "the adapter has no path behind it, so it names no object";
            return Err(StoreError::new(StoreErrorKind::InvalidArgument, message));
        }
        let key = Key::new(name)?;
        Ok((self.open_store(&text[..text.len() - path.len()], access).await?, key))
    }

    /// Returns the scheme of a URL or path.
    fn root(&self, root: &str) -> StoreResult<&Scheme> {
        self.find(scheme_of(root).unwrap_or("file"))
    }

    fn find(&self, name: &str) -> StoreResult<&Scheme> {
        self.0.get(name.to_ascii_lowercase().as_str()).ok_or_else(|| {
            let known: Vec<_> = self.names().collect();
            let message = format!("unknown scheme {name:?}, the known ones are: {}", known.join(", "));
            StoreError::new(StoreErrorKind::Unsupported, message)
        })
    }
}

/// What opens the places that references name.
struct Opening {
    schemes: Schemes,
    access: Access,
}

impl Opener for Opening {
    fn folder<'a>(&'a self, root: &'a str) -> BoxFuture<'a, StoreResult<Storage>> {
        self.schemes.open_store(root, &self.access)
    }

    fn object<'a>(&'a self, root: &'a str) -> BoxFuture<'a, StoreResult<(Storage, Key)>> {
        Box::pin(self.schemes.open_object(root, &self.access))
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
    if paths == PathEncoding::Plain && has_query(root) {
        return Err(wrong("the URL has a query, and stores with this scheme take none"));
    }
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

    fn adapted(below: Below<'_>) -> BoxFuture<'_, StoreResult<Storage>> {
        Box::pin(async move {
            let (_, key) = below.object().await?;
            Err(StoreError::new(StoreErrorKind::Io, format!("{key} at {}", below.path)))
        })
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
            ("a|s3:b|zip:c", "\"s3\" is not an adapter: it can only start a URL"),
            ("x.zip|zip:|zip:", "the adapter has no path behind it, so it names no object"),
            ("s3://b/d/x.zip|zip:y.zip|zip:z|zarr:", "opened s3://b/d/"),
            ("x|zip:1|zip:2|zip:3|zip:4|zip:5", "more than 4 adapters are not supported"),
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
            "s3://b/d/x.zip?token=secret",
        ] {
            let e =
                block_on(Schemes::new(&[TABLE]).open(&format!("{text}|zip:"), &Access::new())).unwrap_err();
            assert_eq!(e.kind(), StoreErrorKind::InvalidArgument, "{text}");
            assert!(!format!("{e:#}").contains("secret"), "{e:#}");
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
