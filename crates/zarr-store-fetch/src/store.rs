//! The handle on a folder of a web server.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use js_sys::Reflect;
use web_sys::{Headers, RequestCache, RequestCredentials, Url};
use zarr_store::http::{HttpFailure, Why};
use zarr_store::redacted;
use zarr_traits::store::{Answer, Capabilities, Head, ObjectMeta, Op, Read, ReadVersion, Store, ready};
use zarr_traits::{BoxFuture, StoreError, StoreErrorKind, StoreResult};

use crate::detached::detached;
use crate::name::url_of;

/// Ranges with a smaller gap between them are read as one.
const MERGE_GAP: u64 = 64 << 10;

/// A folder of a web server, read with `fetch`. Cheap to clone.
///
/// ```no_run
/// use zarr_store_fetch::{Credentials, FetchStore};
/// use zarr_traits::Storage;
///
/// # fn example() -> zarr_traits::StoreResult<()> {
/// let store = FetchStore::new("https://example.org/weather.zarr")?
///     .with_header("authorization", "Bearer …")?
///     .with_credentials(Credentials::Include);
/// let storage = Storage::from(store);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct FetchStore(Arc<Settings>);

/// Whether the browser sends its cookies and its stored credentials.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Credentials {
    /// Never.
    Omit,
    /// Only to the origin of the page.
    #[default]
    SameOrigin,
    /// Always.
    Include,
}

#[derive(Clone)]
pub(crate) struct Settings {
    /// The URL of the folder, without its query.
    base: String,
    /// The query of the URL with its `?`, or nothing.
    query: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) credentials: Credentials,
    pub(crate) cache: RequestCache,
    pub(crate) retries: u32,
    pub(crate) silence: Duration,
    pub(crate) in_flight: usize,
    pub(crate) forbidden_is_absent: bool,
    /// Whether the server has refused a suffix range, and sent a range with a start instead.
    pub(crate) no_suffix: Arc<AtomicBool>,
}

impl FetchStore {
    /// Returns the store below an `http` or `https` URL. A relative URL is relative to the page or the worker. The query
    /// of the URL, which may be a signature, is sent with every request. Makes no request.
    ///
    /// # Errors
    /// [`InvalidArgument`](StoreErrorKind::InvalidArgument) if this is not such a URL, or has a user name or password,
    /// which `fetch` refuses: send them as a [header](Self::with_header).
    pub fn new(url: &str) -> StoreResult<Self> {
        let wrong = |why: &str| {
            let message = format!("{:?} {why}", redacted(url));
            StoreError::new(StoreErrorKind::InvalidArgument, message)
        };
        let parsed = parse(url).ok_or_else(|| wrong("is not a URL"))?;
        if !["http:", "https:"].contains(&parsed.protocol().as_str()) {
            return Err(wrong("is not the URL of a web server"));
        }
        if !parsed.username().is_empty() || !parsed.password().is_empty() {
            return Err(wrong("has a user name or password: send them as a header"));
        }
        let base = format!("{}{}", parsed.origin(), parsed.pathname());
        Ok(Self(Arc::new(Settings {
            base,
            query: parsed.search(),
            headers: Vec::new(),
            credentials: Credentials::default(),
            cache: RequestCache::Default,
            retries: 4,
            silence: Duration::from_secs(30),
            in_flight: 16,
            forbidden_is_absent: false,
            no_suffix: Arc::default(),
        })))
    }

    /// Adds a header to every request. To a server of another origin, a browser sends it only if that server allows it.
    ///
    /// # Errors
    /// [`InvalidArgument`](StoreErrorKind::InvalidArgument) if the name or the value is not valid.
    pub fn with_header(self, name: &str, value: &str) -> StoreResult<Self> {
        let is_valid = Headers::new().and_then(|headers| headers.append(name, value)).is_ok();
        if !is_valid {
            let message = format!("the header {name:?} has a name or a value that is not valid");
            return Err(StoreError::new(StoreErrorKind::InvalidArgument, message));
        }
        Ok(self.with(|settings| settings.headers.push((name.to_owned(), value.to_owned()))))
    }

    /// Sets whether the browser sends its cookies and its stored credentials. By default only to the origin of the page.
    #[must_use]
    pub fn with_credentials(self, credentials: Credentials) -> Self {
        self.with(|settings| settings.credentials = credentials)
    }

    /// Sets how the cache of the browser is used for whole objects. By default as for any other request. Ranges are never
    /// cached, because Chromium returned ranges of two versions as those of one.
    #[must_use]
    pub fn with_cache(self, cache: RequestCache) -> Self {
        self.with(|settings| settings.cache = cache)
    }

    /// Sets how often a request is repeated that fails because the server is busy or the connection breaks; 4 by
    /// default. The pauses between the attempts grow from a tenth of a second to five seconds, or are as long as the
    /// server asks for, up to half a minute.
    #[must_use]
    pub fn with_retries(self, retries: u32) -> Self {
        self.with(|settings| settings.retries = retries)
    }

    /// Sets how long a server may send nothing before a request is repeated; half a minute by default.
    #[must_use]
    pub fn with_silence(self, silence: Duration) -> Self {
        self.with(|settings| settings.silence = silence)
    }

    /// Sets how many requests run at a time; 16 by default. A browser opens at most six connections to a server without
    /// HTTP/2, and lets further requests wait.
    #[must_use]
    pub fn with_in_flight(self, requests: usize) -> Self {
        self.with(|settings| settings.in_flight = requests.max(1))
    }

    /// Sets whether the status 403 means that there is no object. Buckets that may not be listed answer so.
    #[must_use]
    pub fn with_forbidden_as_absent(self, is_absent: bool) -> Self {
        self.with(|settings| settings.forbidden_is_absent = is_absent)
    }

    fn with(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(Arc::make_mut(&mut self.0));
        self
    }

    async fn read(&self, read: Read<'_>) -> StoreResult<Answer> {
        let pinned = match read.version {
            ReadVersion::Pinned(version) => Some(version.clone()),
            _ => None,
        };
        let reports = !matches!(read.version, ReadVersion::Any);
        if read.ranges.is_empty() {
            let meta = self.head(Head::new(read.key)).await?.into_head()?;
            let is_other = |meta: &ObjectMeta| pinned.is_some() && meta.version != pinned;
            return match meta {
                Some(meta) if is_other(&meta) => {
                    Err(HttpFailure::new(Why::Changed, "the object is no longer the requested version")
                        .into())
                }
                meta => Ok(Answer::Read(meta)),
            };
        }
        let (settings, ranges, most) = (self.0.clone(), read.ranges.to_vec(), read.into.limit());
        let url = url_of(&self.0.base, &self.0.query, read.key);
        let found = detached(async move { settings.read(&url, &ranges, pinned.as_ref(), most).await });
        let Some(found) = found.await.unwrap_or_else(|| Err(ended()))? else { return Ok(Answer::Read(None)) };
        for part in found.parts {
            read.into.share(part)?;
        }
        let version = found.mark.version().filter(|_| reports);
        Ok(Answer::Read(Some(ObjectMeta::new(found.mark.size(), version))))
    }

    async fn head(&self, head: Head<'_>) -> StoreResult<Answer> {
        let (settings, url) = (self.0.clone(), url_of(&self.0.base, &self.0.query, head.key));
        let found = detached(async move { Ok(settings.head(&url).await?) });
        let mark = found.await.unwrap_or_else(|| Err(ended()))?;
        Ok(Answer::Head(mark.map(|mark| ObjectMeta::new(mark.size(), mark.version()))))
    }
}

impl Store for FetchStore {
    fn capabilities(&self) -> Capabilities {
        let mut capabilities = Capabilities::remote(self.0.in_flight, MERGE_GAP).read_only().without_list();
        capabilities.suffix = true;
        capabilities
    }

    fn location(&self) -> Option<String> {
        Some(redacted(&self.0.base))
    }

    fn call<'a>(&'a self, op: Op<'a>) -> BoxFuture<'a, StoreResult<Answer>> {
        match op {
            Op::Read(read) => {
                let key = read.key;
                Box::pin(async move { self.read(read).await.map_err(|e| e.with_key(key)) })
            }
            Op::Head(head) => {
                Box::pin(async move { self.head(head).await.map_err(|e| e.with_key(head.key)) })
            }
            op => ready(op.unsupported()),
        }
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The query and the headers may hold credentials.
        f.debug_struct("Settings").field("url", &self.base).finish_non_exhaustive()
    }
}

impl From<Credentials> for RequestCredentials {
    fn from(credentials: Credentials) -> Self {
        match credentials {
            Credentials::Omit => Self::Omit,
            Credentials::SameOrigin => Self::SameOrigin,
            Credentials::Include => Self::Include,
        }
    }
}

/// Parses a URL, relative to the page or the worker if there is one.
fn parse(url: &str) -> Option<Url> {
    let location = |global| Reflect::get(&global, &"location".into());
    let page = location(js_sys::global().into()).ok()?;
    match Reflect::get(&page, &"href".into()).ok().and_then(|page| page.as_string()) {
        Some(page) => Url::new_with_base(url, &page).ok(),
        None => Url::new(url).ok(),
    }
}

fn ended() -> StoreError {
    StoreError::new(StoreErrorKind::Io, "the task of the request ended without an answer")
}
