//! The client that sends all requests, to buckets and web servers alike. It retries temporary failures, checks that an
//! answer fits its request, bounds time and memory, and records every request.
//!
//! `object_store` is told not to retry, so that only this client does, and sends a conditional write once.

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, HeaderName, IF_MATCH, IF_NONE_MATCH, RANGE};
use http::request::Parts;
use http::{HeaderValue, Method, Request, Response};
use object_store::client::HttpRequestBody;
use reqwest::redirect;
use zarr_store::http::{HttpFailure, Why};
use zarr_store::{Access, Trace, redacted};
use zarr_traits::{StoreError, StoreErrorKind, StoreResult};

use crate::answer::judged;
use crate::gathered::{self, Gathered};
use crate::pace::{Pace, START};
use crate::redirects::{Names, Refused, followed};
use crate::retries::{Retries, Tries};
use crate::tls;
use crate::window::{Rest, Window, too_large};

/// The message if no source of credentials has any.
const NO_CREDENTIALS: &str = "no credentials were found, in the environment, in a profile, or of this machine; \
                              what is public can be read anonymously";

/// A client. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Client(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    http: reqwest::Client,
    retries: Retries,
    /// Retries for the service that gives machines in a cloud their credentials: it answers at once, or is absent.
    brief: Retries,
    pace: Pace,
    trace: Option<Trace>,
}

impl Client {
    /// Builds a client. For the web server `host` it follows the redirects that `access` allows, for cloud services none.
    ///
    /// # Errors
    /// [`StoreErrorKind::InvalidArgument`] if a proxy is not a URL, or certificates are missing.
    pub(crate) fn new(retries: Retries, host: Option<&str>, access: &Access) -> StoreResult<Self> {
        let wrong = |e: &dyn std::fmt::Display| {
            StoreError::new(StoreErrorKind::InvalidArgument, format!("the HTTP client cannot be built: {e}"))
        };
        let mut builder = reqwest::Client::builder()
            .tls_backend_preconfigured(tls::config(access)?)
            .user_agent(concat!("zarr-store-object/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(retries.silence)
            .retry(reqwest::retry::never())
            // The query of a URL may have a signature.
            .referer(false)
            .no_proxy();
        builder = match host {
            None => builder.redirect(redirect::Policy::none()),
            Some(host) => builder.redirect(followed(access.redirects.clone())).dns_resolver(Names::new(
                host,
                &access.redirects,
                proxy_hosts(access),
            )),
        };
        for proxy in proxies(access).map_err(|e| wrong(&e.without_url()))? {
            builder = builder.proxy(proxy);
        }
        let http = builder.build().map_err(|e| wrong(&e))?;
        let brief = Retries { again: 0, timeout: Duration::from_secs(1), ..retries.clone() };
        let pace = Pace::new(access.in_flight.unwrap_or(START));
        Ok(Self(Arc::new(Inner { http, retries, brief, pace, trace: access.trace.clone() })))
    }

    /// Sends a request until it gets a usable answer: a success, or a status that says something about the object (304, 404,
    /// 409, 412). Any other status is a failure.
    pub(crate) async fn send(
        &self,
        request: Request<HttpRequestBody>,
    ) -> Result<Response<Bytes>, HttpFailure> {
        let (mut parts, body) = request.into_parts();
        parts.headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        if is_of_machine(&parts) {
            let sent = self.send_with(&self.0.brief, parts, body).await;
            return sent.map_err(|mut e| {
                e.text = format!("{NO_CREDENTIALS} ({})", e.text);
                e.because(Why::Refused)
            });
        }
        self.send_with(&self.0.retries, parts, body).await
    }

    async fn send_with(
        &self,
        retries: &Retries,
        parts: Parts,
        body: HttpRequestBody,
    ) -> Result<Response<Bytes>, HttpFailure> {
        let once = is_conditional_write(&parts);
        let _turn = self.0.pace.turn().await;
        let mut tries = Tries::new(retries);
        loop {
            let answer = self.attempt(&parts, body.clone(), &tries).await;
            let failure = match answer.and_then(|answer| judged(&parts, answer)) {
                Err(failure) => failure,
                answer => return answer,
            };
            let again = failure.why.may_pass() && !(once && failure.why == Why::Broken);
            if !again || !tries.next(failure.retry_after).await {
                return Err(failure.tried(tries.attempt));
            }
        }
    }

    /// Sends a request once, and records it.
    async fn attempt(
        &self,
        parts: &Parts,
        body: HttpRequestBody,
        tries: &Tries<'_>,
    ) -> Result<Response<Bytes>, HttpFailure> {
        let underway = self.0.trace.as_ref().map(|trace| {
            let target = redacted(&parts.uri.to_string());
            let mut request = zarr_store::TracedRequest::new(parts.method.as_str(), target);
            request.range = parts.headers.get(RANGE).and_then(|range| range.to_str().ok()).map(str::to_owned);
            (request.sent, request.attempt) = (body.content_length() as u64, tries.attempt);
            trace.begin(request)
        });
        let result = self.exchange(parts, body, tries).await;
        if let Some(underway) = underway {
            match &result {
                Ok(answer) => underway.end(answer.status().as_str(), answer.body().len() as u64),
                Err(failure) => underway.end(&*failure.text, 0),
            }
        }
        result
    }

    async fn exchange(
        &self,
        parts: &Parts,
        body: HttpRequestBody,
        tries: &Tries<'_>,
    ) -> Result<Response<Bytes>, HttpFailure> {
        let length = body.content_length() as u64;
        let longest = patience(tries, length).saturating_add(tries.moving(length)).min(tries.left(length));
        let mut request =
            self.0.http.request(parts.method.clone(), parts.uri.to_string()).headers(parts.headers.clone());
        if length > 0 {
            request = request.body(reqwest::Body::wrap(body));
        }
        let sent = Instant::now();
        let answer = within(longest, request.send()).await;
        match &answer {
            // Another service, which is nearer.
            _ if is_of_machine(parts) => {}
            Ok(answer) if !Why::of_status(answer.status().as_u16(), None).may_pass() => {
                self.0.pace.answered(sent.elapsed());
            }
            Err(failure) if failure.why != Why::NotTaken => {}
            _ => self.0.pace.refused(),
        }
        let answer = answer?;
        let window = Window::of(parts, answer.status(), answer.content_length())?;
        let mut response = Response::new(());
        (*response.status_mut(), *response.headers_mut()) = (answer.status(), answer.headers().clone());
        window.finish(&mut response);
        let body = receive(answer, &window, tries).await?;
        Ok(response.map(|()| body))
    }
}

/// Returns the window of a body.
async fn receive(
    mut answer: reqwest::Response,
    window: &Window,
    tries: &Tries<'_>,
) -> Result<Bytes, HttpFailure> {
    let declared = answer.content_length();
    let wanted = declared.map_or(0, |declared| declared.min(window.skip.saturating_add(window.keep)));
    let (mut skipped, mut body) = (0, Gathered::new(window.keep, declared));
    while window.rest == Rest::Refused || (body.len() as u64) < window.keep {
        let moved = skipped + body.len() as u64;
        let longest = patience(tries, moved.saturating_add(wanted));
        let Some(mut part) = within(longest, answer.chunk()).await? else { break };
        let unwanted = part.len().min(usize::try_from(window.skip - skipped).unwrap_or(usize::MAX));
        skipped += unwanted as u64;
        let _ = part.split_to(unwanted);
        if window.rest != Rest::Refused {
            part.truncate(body.room());
        }
        body.push(part).map_err(|refused| match refused {
            gathered::Refused::TooMuch => too_large("more", window.keep),
            gathered::Refused::NoMemory => {
                HttpFailure::new(Why::NoMemory, "there is no memory for the answer")
            }
        })?;
    }
    let expected = match (&window.rest, declared) {
        (Rest::Refused, Some(declared)) => declared,
        (Rest::Cut(..), _) => window.keep,
        _ => return Ok(body.into_bytes()),
    };
    match body.len() as u64 {
        len if len == expected => Ok(body.into_bytes()),
        len => {
            Err(HttpFailure::new(Why::Broken, format!("the answer ended after {len} of {expected} bytes")))
        }
    }
}

/// Returns how long the current attempt may be silent, if the operation moves `bytes` in all. The last attempt has all the
/// time that is left.
fn patience(tries: &Tries<'_>, bytes: u64) -> Duration {
    let left = tries.left(bytes);
    if tries.attempt > tries.retries.again { left } else { left.min(tries.retries.silence) }
}

/// Runs `work` with a time limit.
async fn within<T>(time: Duration, work: impl Future<Output = reqwest::Result<T>>) -> Result<T, HttpFailure> {
    match tokio::time::timeout(time, work).await {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(e)) => Err(broken(&e)),
        Err(_) => Err(HttpFailure::new(
            Why::Broken,
            format!("no bytes were received for {:.1} s", time.as_secs_f32()),
        )),
    }
}

/// Returns the failure for an error of the connection, in the words of its innermost cause.
fn broken(e: &reqwest::Error) -> HttpFailure {
    let mut cause: &dyn std::error::Error = e;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    if let Some(why) = tls::refusal(e) {
        return HttpFailure::new(Why::Wrong, format!("no secure connection: {why}"));
    }
    // A reqwest::Error without a cause would show its URL.
    let words = if cause.is::<reqwest::Error>() { String::new() } else { format!(": {cause}") };
    match () {
        () if e.is_redirect() || cause.is::<Refused>() => {
            HttpFailure::new(Why::Wrong, format!("the redirect is not followed{words}"))
        }
        () if e.is_connect() => HttpFailure::new(Why::NotTaken, format!("no connection{words}")),
        () if e.is_builder() => HttpFailure::new(Why::Wrong, format!("the request is not valid{words}")),
        () => HttpFailure::new(Why::Broken, format!("the connection broke{words}")),
    }
}

/// Whether a request asks a cloud service for the credentials of the machine.
fn is_of_machine(parts: &Parts) -> bool {
    let hosts = ["169.254.169.254", "metadata.google.internal", "metadata"];
    parts.uri.host().is_some_and(|host| hosts.contains(&host))
}

/// Whether a request must be sent once: a second one could be refused because the first was applied.
fn is_conditional_write(parts: &Parts) -> bool {
    let generation = HeaderName::from_static("x-goog-if-generation-match");
    let conditions = [&IF_MATCH, &IF_NONE_MATCH, &generation];
    matches!(parts.method, Method::PUT | Method::POST | Method::DELETE)
        && conditions.iter().any(|name| parts.headers.contains_key(*name))
}

/// Returns the proxies that the usual environment variables name.
fn proxies(access: &Access) -> reqwest::Result<Vec<reqwest::Proxy>> {
    let named = |name: &str| access.variable(name).or_else(|| access.variable(&name.to_ascii_lowercase()));
    let except = || reqwest::NoProxy::from_string(named("NO_PROXY").unwrap_or_default());
    let mut found = Vec::new();
    if let Some(url) = access.variable("http_proxy") {
        found.push(reqwest::Proxy::http(url)?.no_proxy(except()));
    }
    if let Some(url) = named("HTTPS_PROXY") {
        found.push(reqwest::Proxy::https(url)?.no_proxy(except()));
    }
    if let Some(url) = named("ALL_PROXY") {
        found.push(reqwest::Proxy::all(url)?.no_proxy(except()));
    }
    Ok(found)
}

/// Returns the hosts of the [`proxies`].
fn proxy_hosts(access: &Access) -> impl Iterator<Item = &str> {
    let names = ["http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
    names.into_iter().filter_map(|name| {
        let url = access.variable(name)?;
        let authority = url.split_once("://").map_or(url, |(_, rest)| rest).split(['/', '?', '#']).next()?;
        let place = authority.rsplit('@').next()?;
        Some(place.rsplit_once(':').map_or(place, |(host, _)| host))
    })
}

#[cfg(any(feature = "aws", feature = "azure", feature = "gcp"))]
mod service {
    //! The client as `object_store` calls it.

    use async_trait::async_trait;
    use object_store::ClientOptions;
    use object_store::client::{
        HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService,
    };

    use super::Client;
    use crate::deletes::Deletes;
    use crate::nameable::{is_listing, listing};

    #[async_trait]
    impl HttpService for Client {
        async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
            let is_listing = is_listing(request.method(), request.uri());
            let deletes = Deletes::of(request.method(), request.uri(), request.body().as_bytes());
            let answer = self.send(request).await;
            let answer = answer.and_then(|answer| match deletes {
                _ if is_listing => listing(answer),
                Some(deletes) => deletes.judged(answer),
                None => Ok(answer),
            });
            // Failures of this kind are not retried.
            answer.map(|answer| answer.map(Into::into)).map_err(|e| HttpError::new(HttpErrorKind::Unknown, e))
        }
    }

    impl HttpConnector for Client {
        fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
            Ok(HttpClient::new(self.clone()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditional_writes_are_known() {
        let parts = |method: &str, header: &str| {
            let request = Request::builder().method(method).uri("http://h/a").header(header, "*");
            request.body(()).unwrap().into_parts().0
        };
        assert!(is_conditional_write(&parts("PUT", "if-none-match")));
        assert!(is_conditional_write(&parts("PUT", "x-goog-if-generation-match")));
        assert!(!is_conditional_write(&parts("GET", "if-match")));
        assert!(!is_conditional_write(&parts("PUT", "content-md5")));
    }
}
