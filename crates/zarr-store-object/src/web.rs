//! Web servers, read-only: with or without ranges, entity tags and redirects.
//!
//! If a server supports no ranges, the part is cut out of the whole object. If it does not support `HEAD`, the size
//! comes from a request for the first byte. There is no listing: groups are read through their consolidated metadata.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::stream::{self, BoxStream, StreamExt};
use http::header::{
    CONTENT_ENCODING, CONTENT_LENGTH, ETAG, HeaderName, HeaderValue, IF_MATCH, LAST_MODIFIED, RANGE,
};
use http::{HeaderMap, Method, Request, Response};
use object_store::client::HttpRequestBody;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetRange, GetResult, GetResultPayload, ListResult, MultipartUpload,
    ObjectMeta, ObjectStore, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use zarr_store::http::{HttpFailure, Why};
use zarr_store::{Access, PathEncoding, Scheme, redacted};
use zarr_traits::{Storage, StoreError, StoreErrorKind, StoreResult, store::Store as _};

use crate::asked::{Asked, size_told};
use crate::client::Client;
use crate::cloud::{Place, retries};
use crate::gathered::AtMost;
use crate::get::UNKNOWN;

/// The scheme `name`: `http` or `https`.
pub(crate) const fn scheme(name: &'static str) -> Scheme {
    Scheme::root(name, PathEncoding::Percent, open)
}

/// Opens the store below an `http` or `https` URL. Its query, which may be a signature, is sent with every request.
fn open(url: &str, access: &Access) -> StoreResult<Storage> {
    let (base, query) = url.split_once('?').map_or((url, None), |(base, query)| (base, Some(query)));
    let base = format!("{}/", base.trim_end_matches('/'));
    let uri = base.parse::<http::Uri>().ok();
    let Some(host) = uri.as_ref().and_then(|uri| uri.host()).filter(|host| !host.is_empty()) else {
        let message = format!("{:?} is not a URL of a web server", redacted(url));
        return Err(StoreError::new(StoreErrorKind::InvalidArgument, message));
    };
    let client = Client::new(retries(access), Some(host), access)?;
    let web = Web {
        client,
        base,
        query: query.map(str::to_owned),
        forbidden_is_absent: access.forbidden_is_absent,
    };
    let storage = Place { container: "", prefix: "" }.storage(Arc::new(web), access)?;
    let capabilities = storage.capabilities().read_only().without_list();
    Ok(Storage::from(storage.with_capabilities(capabilities)))
}

/// A folder of a web server.
struct Web {
    client: Client,
    /// The URL of the folder, with a `/` at the end.
    base: String,
    query: Option<String>,
    forbidden_is_absent: bool,
}

impl fmt::Debug for Web {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl fmt::Display for Web {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&redacted(&self.base))
    }
}

impl Web {
    /// Returns the URL of an object, with percent-encoded special characters.
    fn url(&self, path: &Path) -> String {
        let mut url = self.base.clone();
        for byte in path.as_ref().bytes() {
            match byte {
                b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                    url.push(char::from(byte))
                }
                _ => url += &format!("%{byte:02X}"),
            }
        }
        match &self.query {
            Some(query) => format!("{url}?{query}"),
            None => url,
        }
    }

    async fn ask(
        &self,
        method: Method,
        path: &Path,
        headers: HeaderMap,
        options: &GetOptions,
    ) -> Result<Response<Bytes>> {
        let mut request = Request::new(HttpRequestBody::empty());
        *request.method_mut() = method;
        *request.uri_mut() = self
            .url(path)
            .parse()
            .map_err(|_| failed(HttpFailure::new(Why::Wrong, "the key cannot be part of a URL")))?;
        *request.headers_mut() = headers;
        if let Some(most) = options.extensions.get::<AtMost>() {
            request.extensions_mut().insert(*most);
        }
        let absent =
            |source: HttpFailure| Error::NotFound { path: path.to_string(), source: Box::new(source) };
        match self.client.send(request).await {
            Ok(answer) if answer.status().is_success() => Ok(answer),
            Ok(answer) => {
                let told = HttpFailure::new(Why::Wrong, format!("the server answered {}", answer.status()));
                match answer.status().as_u16() {
                    404 => Err(absent(told)),
                    412 => Err(Error::Precondition { path: path.to_string(), source: Box::new(told) }),
                    _ => Err(failed(told)),
                }
            }
            Err(e) if e.why == Why::Folder || e.status == Some(410) => Err(absent(e)),
            Err(e) if e.status == Some(403) && self.forbidden_is_absent => Err(absent(e)),
            Err(e) => Err(failed(e)),
        }
    }

    /// Returns the size of an object, from `HEAD`, or from a request for its first byte if the server does not support
    /// `HEAD`.
    async fn head(&self, path: &Path, headers: HeaderMap, options: &GetOptions) -> Result<GetResult> {
        let told = match self.ask(Method::HEAD, path, headers.clone(), options).await {
            Ok(answer) => number(answer.headers(), &CONTENT_LENGTH).map(|size| (answer, size)),
            Err(e) if HttpFailure::within(&e).is_some_and(|e| e.why == Why::Unsupported) => None,
            Err(e) => return Err(e),
        };
        let (answer, size) = match told {
            Some(told) => told,
            None => {
                let mut headers = headers;
                headers.insert(RANGE, HeaderValue::from_static("bytes=0-0"));
                match self.ask(Method::GET, path, headers, options).await {
                    Ok(answer) => {
                        let size = size_told(answer.headers());
                        let unknown = || {
                            failed(HttpFailure::new(Why::Unsupported, "the server does not send the size"))
                        };
                        (answer, size.ok_or_else(unknown)?)
                    }
                    Err(e) => match HttpFailure::within(&e).map(|e| e.why) {
                        Some(Why::Range(Some(size))) => (Response::new(Bytes::new()), size),
                        _ => return Err(e),
                    },
                }
            }
        };
        Ok(result(path, answer.headers(), size, 0..size, Bytes::new()))
    }
}

fn failed(e: HttpFailure) -> Error {
    Error::Generic { store: "web server", source: Box::new(e) }
}

fn number(headers: &HeaderMap, name: &HeaderName) -> Option<u64> {
    headers.get(name)?.to_str().ok()?.trim().parse().ok()
}

fn result(
    path: &Path,
    headers: &HeaderMap,
    size: u64,
    range: std::ops::Range<u64>,
    bytes: Bytes,
) -> GetResult {
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let e_tag = text(ETAG).map(str::to_owned);
    let modified = text(LAST_MODIFIED).and_then(|time| httpdate::parse_http_date(time).ok());
    let meta = ObjectMeta {
        location: path.clone(),
        last_modified: modified.unwrap_or(UNKNOWN).into(),
        size,
        e_tag,
        version: None,
    };
    let payload = GetResultPayload::Stream(stream::once(async { Ok(bytes) }).boxed());
    GetResult { payload, meta, range, attributes: <_>::default(), extensions: <_>::default() }
}

#[async_trait]
impl ObjectStore for Web {
    async fn get_opts(&self, path: &Path, options: GetOptions) -> Result<GetResult> {
        let mut headers = HeaderMap::new();
        let value = |text: &str| {
            HeaderValue::from_str(text)
                .map_err(|_| failed(HttpFailure::new(Why::Wrong, "the entity tag is not a valid header")))
        };
        if let Some(tag) = &options.if_match {
            headers.insert(IF_MATCH, value(tag)?);
        }
        if options.head {
            return self.head(path, headers, &options).await;
        }
        let range = match &options.range {
            None => None,
            Some(GetRange::Bounded(range)) => Some(format!("bytes={}-{}", range.start, range.end - 1)),
            Some(GetRange::Offset(first)) => Some(format!("bytes={first}-")),
            Some(GetRange::Suffix(n)) => Some(format!("bytes=-{n}")),
        };
        if let Some(range) = &range {
            headers.insert(RANGE, value(range)?);
        }
        let answer = self.ask(Method::GET, path, headers, &options).await?;
        if let Some(coding) = answer.headers().get(CONTENT_ENCODING).filter(|coding| *coding != "identity") {
            let text = format!("the server sends the bytes in the coding {coding:?}, which has no ranges");
            return Err(failed(HttpFailure::new(Why::Unsupported, text)));
        }
        let size = match (&range, answer.body().len() as u64) {
            (Some(_), _) => size_told(answer.headers()),
            // The body was not read, because it is larger than the caller accepts.
            (None, 0) => Some(number(answer.headers(), &CONTENT_LENGTH).unwrap_or(0)),
            // Beside chunks a length in the head has no meaning.
            (None, len) => Some(len),
        };
        let Some(size) = size else {
            let text = "the server does not send the size with a range";
            return Err(failed(HttpFailure::new(Why::Unsupported, text)));
        };
        // The client has checked that the answer has this part.
        let asked = range.as_deref().and_then(Asked::parse);
        let part = asked.map_or(Ok(0..size), |asked| asked.within(size)).map_err(failed)?;
        let (parts, body) = answer.into_parts();
        Ok(result(path, &parts.headers, size, part, body))
    }

    async fn put_opts(&self, _: &Path, _: PutPayload, _: PutOptions) -> Result<PutResult> {
        Err(read_only())
    }

    async fn put_multipart_opts(&self, _: &Path, _: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        Err(read_only())
    }

    fn delete_stream(&self, _: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        stream::once(async { Err(read_only()) }).boxed()
    }

    fn list(&self, _: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        stream::once(async { Err(read_only()) }).boxed()
    }

    async fn list_with_delimiter(&self, _: Option<&Path>) -> Result<ListResult> {
        Err(read_only())
    }

    async fn copy_opts(&self, _: &Path, _: &Path, _: CopyOptions) -> Result<()> {
        Err(read_only())
    }
}

/// Never reached, because the handle is read-only.
fn read_only() -> Error {
    Error::NotSupported { source: "a web server can only be read".into() }
}
