//! Answers requests: the method, the host and the origin are judged here.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode, Uri};
use zarr_array::Storage;
use zarr_array::traits::{Prefix, StoreError, StoreErrorKind, StoreResult};

use super::conditions::Wanted;
use super::listing::Listing;
use super::object::{Body, Object, empty, full, object};
use super::page::{self, Page, Reply};
use super::path::{Place, is_outside, place};
use crate::exit::{Exit, say};
use crate::out::json;

/// The storage that is served, and the requests that may read it.
#[derive(Debug)]
pub(super) struct Served {
    pub(super) storage: Storage,
    /// The place in the store that is `/` of the URL.
    pub(super) root: Prefix,
    /// Origins whose pages may read in a browser, besides those of this machine. `*` is all.
    pub(super) origins: Vec<String>,
    /// Whether the `Host` of a request must be this machine's. Without this check, a web page could read the store through
    /// a domain that it points to 127.0.0.1 (DNS rebinding).
    pub(super) only_this_machine: bool,
    pub(super) page: Arc<Page>,
}

type Answer = Response<Body>;

/// Answers a request. The content of a request is ignored.
pub(super) async fn answer<B>(served: &Served, request: &Request<B>) -> Answer {
    let headers = request.headers();
    let mut answer = match *request.method() {
        _ if served.only_this_machine && !names_this_machine(headers) => {
            plain(StatusCode::MISDIRECTED_REQUEST, "this server answers at localhost only")
        }
        _ if is_page(request.uri()) && request.uri().path() != page::PATH && served.refuses(headers) => {
            plain(StatusCode::FORBIDDEN, "the page answers no pages of other origins")
        }
        Method::GET | Method::HEAD => {
            let only_head = request.method() == Method::HEAD;
            found(served, request.uri(), headers, only_head).await.unwrap_or_else(|e| failed(&e))
        }
        Method::OPTIONS => allowed(StatusCode::NO_CONTENT, empty()),
        _ => allowed(StatusCode::METHOD_NOT_ALLOWED, full("this server is for reading\n")),
    };
    let policy =
        if is_page(request.uri()) { page::POLICY } else { "default-src 'none'; style-src 'unsafe-inline'" };
    let common = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::CACHE_CONTROL, "no-cache"),
        (header::VARY, "Origin, Accept"),
    ];
    for (name, value) in common {
        set(&mut answer, name, value);
    }
    let origin =
        headers.get(header::ORIGIN).filter(|origin| origin.to_str().is_ok_and(|name| served.allows(name)));
    if let Some(origin) = origin {
        answer.headers_mut().insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        for (name, value) in [
            (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, HEAD, OPTIONS"),
            (header::ACCESS_CONTROL_ALLOW_HEADERS, "Range, If-Match, If-None-Match, If-Range"),
            (header::ACCESS_CONTROL_EXPOSE_HEADERS, "Accept-Ranges, Content-Length, Content-Range, ETag"),
            (header::ACCESS_CONTROL_MAX_AGE, "600"),
        ] {
            set(&mut answer, name, value);
        }
    }
    answer
}

/// Whether a request is for the page or for one of its files and answers.
fn is_page(uri: &Uri) -> bool {
    uri.path().starts_with(page::PATH)
}

impl Served {
    /// Whether a browser sends the request for a page of another site, which must not make this server work: the answer would
    /// be hidden from it, but not the load.
    fn refuses(&self, headers: &HeaderMap) -> bool {
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        text("sec-fetch-site") == Some("cross-site")
            && !text("origin").is_some_and(|origin| self.allows(origin))
    }

    fn allows(&self, origin: &str) -> bool {
        let host = origin.split_once("://").map(|(_, host)| host);
        host.is_some_and(is_this_machine) || self.origins.iter().any(|given| given == "*" || given == origin)
    }
}

/// Whether the `Host` of a request is this machine. Programs that send none are not browsers.
fn names_this_machine(headers: &HeaderMap) -> bool {
    headers.get(header::HOST).is_none_or(|host| host.to_str().is_ok_and(is_this_machine))
}

/// Whether `host[:port]` is a name or a loopback address of this machine. An address of IPv6 has brackets.
fn is_this_machine(host: &str) -> bool {
    let end = if host.starts_with('[') { host.find(']').map(|at| at + 1) } else { host.find(':') };
    let (name, port) = host.split_at(end.unwrap_or(host.len()));
    if !(port.is_empty()
        || port.strip_prefix(':').is_some_and(|port| port.bytes().all(|c| c.is_ascii_digit())))
    {
        return false;
    }
    match name.strip_prefix('[').and_then(|name| name.strip_suffix(']')) {
        Some(address) => address.parse().is_ok_and(|address: Ipv6Addr| address.is_loopback()),
        None => {
            let is_loopback = |address: Ipv4Addr| address.is_loopback();
            name.eq_ignore_ascii_case("localhost") || name.parse().is_ok_and(is_loopback)
        }
    }
}

/// Whether a client asks for a page, as browsers do and programs that read stores do not.
fn is_browser(headers: &HeaderMap) -> bool {
    let accepts = headers.get(header::ACCEPT).and_then(|types| types.to_str().ok()).unwrap_or_default();
    accepts.split(',').any(|kind| kind.split(';').next().is_some_and(|kind| kind.trim() == "text/html"))
}

/// Answers a request for the object or the folder that the URL names.
async fn found(served: &Served, uri: &Uri, headers: &HeaderMap, only_head: bool) -> StoreResult<Answer> {
    if let Some(what) = uri.path().strip_prefix(page::PATH) {
        let reply = page::reply(&served.page, what, uri.query().unwrap_or_default()).await?;
        return Ok(reply.map_or_else(|| plain(StatusCode::NOT_FOUND, "there is no such page"), with_reply));
    }
    if uri.path() == "/" && uri.query().is_none() && is_browser(headers) {
        let mut answer = of(StatusCode::FOUND, empty());
        set(&mut answer, header::LOCATION, page::PATH);
        return Ok(answer);
    }
    let answer = match place(&served.root, uri.path()) {
        None => None,
        Some(Place::Object(key)) => {
            let found = object(&served.storage, &key, headers, only_head).await?;
            found.map(|object| with_object(object, kind(key.name())))
        }
        Some(Place::Folder(folder)) if served.storage.capabilities().list => {
            let found = Listing::read(&served.storage, &folder).await?;
            found.map(|listing| with_listing(&listing, served, &folder, uri, headers))
        }
        Some(Place::Folder(_)) => {
            let message = "the store behind this server cannot be listed; name an object";
            Some(plain(StatusCode::NOT_IMPLEMENTED, message))
        }
    };
    Ok(answer.unwrap_or_else(|| plain(StatusCode::NOT_FOUND, "there is no such object")))
}

fn with_object(object: Object, kind: &'static str) -> Answer {
    let Object { etag, size, wanted, body } = object;
    let (status, len) = match &wanted {
        Wanted::Whole => (StatusCode::OK, Some(size)),
        Wanted::Part(range) => (StatusCode::PARTIAL_CONTENT, Some(range.end - range.start)),
        Wanted::NotModified => (StatusCode::NOT_MODIFIED, None),
        Wanted::Failed => (StatusCode::PRECONDITION_FAILED, Some(0)),
        Wanted::Unsatisfiable => (StatusCode::RANGE_NOT_SATISFIABLE, Some(0)),
    };
    let mut answer = of(status, body);
    set(&mut answer, header::CONTENT_TYPE, kind);
    set(&mut answer, header::ACCEPT_RANGES, "bytes");
    if let Some(len) = len {
        answer.headers_mut().insert(header::CONTENT_LENGTH, len.into());
    }
    if let Some(etag) = etag {
        set(&mut answer, header::ETAG, &etag);
    }
    match wanted {
        Wanted::Part(range) => {
            let part = format!("bytes {}-{}/{size}", range.start, range.end.saturating_sub(1));
            set(&mut answer, header::CONTENT_RANGE, &part);
        }
        Wanted::Unsatisfiable => set(&mut answer, header::CONTENT_RANGE, &format!("bytes */{size}")),
        _ => {}
    }
    answer
}

/// Answers with JSON if the URL or the client asks for it, otherwise with a page.
fn with_listing(
    listing: &Listing,
    served: &Served,
    folder: &Prefix,
    uri: &Uri,
    headers: &HeaderMap,
) -> Answer {
    let accepts = headers.get(header::ACCEPT).and_then(|types| types.to_str().ok());
    let (text, kind) = if uri.query() == Some("format=json") || accepts == Some("application/json") {
        (listing.to_json(), "application/json")
    } else {
        let path = folder.as_str().strip_prefix(served.root.as_str()).unwrap_or_default();
        (listing.to_html(path, *folder == served.root), "text/html; charset=utf-8")
    };
    let mut answer = of(StatusCode::OK, full(text));
    set(&mut answer, header::CONTENT_TYPE, kind);
    answer
}

/// Answers to the page. A failure is JSON as well, so that the page can show the reason.
fn with_reply(reply: Reply) -> Answer {
    let (status, kind, text) = match reply {
        Reply::Text(kind, text) => (StatusCode::OK, kind, text),
        Reply::Failed(exit, message) => {
            let status = match exit {
                Exit::NotFound => StatusCode::NOT_FOUND,
                Exit::Usage => StatusCode::BAD_REQUEST,
                _ => StatusCode::UNPROCESSABLE_ENTITY,
            };
            (status, "application/json", with_error(&message))
        }
        Reply::Busy => {
            let error = with_error("too many requests wait for an answer, try again");
            (StatusCode::SERVICE_UNAVAILABLE, "application/json", error)
        }
    };
    let mut answer = of(status, full(text));
    set(&mut answer, header::CONTENT_TYPE, kind);
    if status == StatusCode::SERVICE_UNAVAILABLE {
        set(&mut answer, header::RETRY_AFTER, "1");
    }
    answer
}

fn with_error(message: &str) -> String {
    json::line(&json::object([("error", message.into())]).into())
}

/// The content type of an object. Stored pages are never shown as pages.
fn kind(name: &str) -> &'static str {
    let is_json = name.ends_with(".json") || zarr_array::meta::is_document(name);
    if is_json { "application/json" } else { "application/octet-stream" }
}

/// Answers with the status of an error. Its message may name places of this machine, so it goes to stderr.
fn failed(e: &StoreError) -> Answer {
    say(&format!("note: {e:#}"));
    let (status, message) = match e.kind() {
        _ if is_outside(e) => (StatusCode::NOT_FOUND, "there is no such object"),
        StoreErrorKind::InvalidArgument => (StatusCode::NOT_FOUND, "there is no such object"),
        StoreErrorKind::PermissionDenied => (StatusCode::FORBIDDEN, "the store denies access"),
        StoreErrorKind::Unavailable => (StatusCode::SERVICE_UNAVAILABLE, "the store is busy or down"),
        StoreErrorKind::Changed => (StatusCode::SERVICE_UNAVAILABLE, "the object is changing, try again"),
        _ => (StatusCode::BAD_GATEWAY, "the store cannot be read"),
    };
    plain(status, message)
}

fn plain(status: StatusCode, message: &str) -> Answer {
    let mut answer = of(status, full(format!("{message}\n")));
    set(&mut answer, header::CONTENT_TYPE, "text/plain; charset=utf-8");
    answer
}

fn allowed(status: StatusCode, body: Body) -> Answer {
    let mut answer = of(status, body);
    set(&mut answer, header::ALLOW, "GET, HEAD, OPTIONS");
    answer
}

fn of(status: StatusCode, body: Body) -> Answer {
    let mut answer = Response::new(body);
    *answer.status_mut() = status;
    answer
}

/// Sets a header. All values are text that headers may hold.
fn set(answer: &mut Answer, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        answer.headers_mut().insert(name, value);
    }
}
