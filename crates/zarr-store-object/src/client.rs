//! The client that all requests go through, to buckets and web servers alike: it tries again what may pass, holds answers to
//! what was asked for, bounds time and memory, and tells about every request.
//!
//! `object_store` is told to try nothing again, so that there is one place that does, and one that knows whether a
//! conditional write was sent more than once: never.

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use bytes::{Bytes, BytesMut};
use http::header::{ACCEPT_ENCODING, CONTENT_TYPE, HeaderName, IF_MATCH, IF_NONE_MATCH, LOCATION, RANGE};
use http::request::Parts;
use http::{HeaderValue, Method, Request, Response, StatusCode};
use object_store::client::HttpRequestBody;
use reqwest::redirect;
use rustls_platform_verifier::BuilderVerifierExt;
use zarr_traits::location::redacted;
use zarr_traits::{Access, StoreError, StoreErrorKind, StoreResult, Trace};

use crate::asked::{Asked, size_told};
use crate::failure::{Failure, Why};
use crate::retries::{Retries, Tries, may_pass, retry_after};

/// The most bytes of one answer that are held in memory, unless the caller says less: 4 GiB.
const LARGEST: u64 = 4 << 30;

/// Said when the last place where credentials could have come from has none.
const NO_CREDENTIALS: &str = "no credentials were found, in the environment, in a profile, or of this machine; \
                              what is public can be read anonymously";

/// What a caller takes of a whole object; the rest is not read. Travels with the request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AtMost(pub(crate) u64);

/// A client. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Client(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    http: reqwest::Client,
    retries: Retries,
    /// For the service that gives machines of a cloud their credentials, which is there at once or not at all.
    brief: Retries,
    trace: Option<Trace>,
}

impl Client {
    /// `redirects`: how many may be followed; services of clouds never redirect where one should go.
    pub(crate) fn new(retries: Retries, redirects: usize, access: &Access) -> StoreResult<Self> {
        let wrong = |e: &dyn std::fmt::Display| {
            StoreError::new(StoreErrorKind::InvalidArgument, format!("no client can be made: {e}"))
        };
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .and_then(BuilderVerifierExt::with_platform_verifier)
            .map_err(|e| wrong(&e))?
            .with_no_client_auth();
        let policy = redirect::Policy::custom(move |attempt| match attempt.previous().last() {
            _ if redirects == 0 => attempt.stop(),
            Some(from) if attempt.url().path().strip_suffix('/') == Some(from.path()) => attempt.stop(),
            _ if attempt.previous().len() > redirects => attempt.error("too many redirections"),
            _ => attempt.follow(),
        });
        let mut builder = reqwest::Client::builder()
            .tls_backend_preconfigured(tls)
            .user_agent(concat!("zarr-store-object/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(retries.silence)
            .redirect(policy)
            .retry(reqwest::retry::never())
            .no_proxy();
        for proxy in proxies(access).map_err(|e| wrong(&e.without_url()))? {
            builder = builder.proxy(proxy);
        }
        let http = builder.build().map_err(|e| wrong(&e))?;
        let (timeout, silence) = (Duration::from_secs(2), Duration::from_secs(1));
        let brief = Retries { again: 0, timeout, silence, ..retries.clone() };
        Ok(Self(Arc::new(Inner { http, retries, brief, trace: access.trace.clone() })))
    }

    /// Sends a request until there is an answer to it. An answer is a success, or a status that says something of the object:
    /// 404, 409, 412. All else is a failure.
    pub(crate) async fn send(&self, request: Request<HttpRequestBody>) -> Result<Response<Bytes>, Failure> {
        let (mut parts, body) = request.into_parts();
        parts.headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        if is_of_machine(&parts) {
            let sent = self.send_with(&self.0.brief, parts, body).await;
            return sent.map_err(|e| Failure {
                text: format!("{NO_CREDENTIALS} ({})", e.text),
                why: Why::Refused,
                ..e
            });
        }
        self.send_with(&self.0.retries, parts, body).await
    }

    async fn send_with(
        &self,
        retries: &Retries,
        parts: Parts,
        body: HttpRequestBody,
    ) -> Result<Response<Bytes>, Failure> {
        let once = is_conditional_write(&parts);
        let mut tries = Tries::new(retries);
        loop {
            let tried = self.attempt(&parts, body.clone(), &tries).await;
            let (failure, asked) = match tried {
                Ok(answer) if may_pass(answer.status().as_u16()) => {
                    (refusal(&answer), retry_after(answer.headers()))
                }
                Ok(answer) => match judged(&parts, answer) {
                    Err(failure) if failure.why == Why::Broken => (failure, None),
                    judged => {
                        return judged.map_err(|failure| Failure { attempts: tries.attempt, ..failure });
                    }
                },
                Err(failure) => (failure, None),
            };
            let again = match failure.why {
                Why::NotSent => true,
                Why::Broken => !once,
                _ => false,
            };
            if !again || !tries.next(asked).await {
                return Err(Failure { attempts: tries.attempt, ..failure });
            }
        }
    }

    /// Sends it once, and tells about that.
    async fn attempt(
        &self,
        parts: &Parts,
        body: HttpRequestBody,
        tries: &Tries<'_>,
    ) -> Result<Response<Bytes>, Failure> {
        let (began, since) = (Instant::now(), SystemTime::now());
        let sent = body.content_length() as u64;
        let result = self.exchange(parts, body, tries).await;
        if let Some(trace) = &self.0.trace {
            let mut told = zarr_traits::Request::default();
            told.method = parts.method.to_string();
            told.target = redacted(&parts.uri.to_string());
            told.range = parts.headers.get(RANGE).and_then(|range| range.to_str().ok()).map(str::to_owned);
            (told.status, told.received) = match &result {
                Ok(answer) => (answer.status().as_str().to_owned(), answer.body().len() as u64),
                Err(failure) => (failure.text.clone(), 0),
            };
            told.sent = sent;
            told.attempt = tries.attempt;
            told.began = since.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
            told.took = began.elapsed();
            trace.tell(&told);
        }
        result
    }

    async fn exchange(
        &self,
        parts: &Parts,
        body: HttpRequestBody,
        tries: &Tries<'_>,
    ) -> Result<Response<Bytes>, Failure> {
        let sending = tries.retries.silence + tries.retries.moving(body.content_length() as u64);
        let left = tries.left(body.content_length() as u64);
        let mut request =
            self.0.http.request(parts.method.clone(), parts.uri.to_string()).headers(parts.headers.clone());
        if body.content_length() > 0 {
            request = request.body(reqwest::Body::wrap(body));
        }
        let answer = within(sending.min(left), request.send()).await?;
        let (status, headers) = (answer.status(), answer.headers().clone());
        let body = match expected(parts, &answer) {
            Expected::Nothing => Bytes::new(),
            Expected::UpTo(most) => self.receive(answer, most, tries).await?,
        };
        let mut response = Response::new(body);
        (*response.status_mut(), *response.headers_mut()) = (status, headers);
        Ok(response)
    }

    /// The body of an answer.
    async fn receive(
        &self,
        mut answer: reqwest::Response,
        most: u64,
        tries: &Tries<'_>,
    ) -> Result<Bytes, Failure> {
        let promised = answer.content_length();
        // What is promised is reserved only as far as it is no threat.
        let reserved = promised.unwrap_or(0).min(most).min(64 << 20);
        let mut body = BytesMut::with_capacity(usize::try_from(reserved).unwrap_or(0));
        let mut first = None;
        loop {
            let left = tries.left(body.len() as u64 + promised.unwrap_or(0));
            let Some(part) = within(tries.retries.silence.min(left), answer.chunk()).await? else { break };
            if (body.len() + part.len()) as u64 > most {
                return Err(Failure::new(
                    Why::TooLarge,
                    format!("the answer has more than the {most} bytes expected"),
                ));
            }
            // Small answers come in one part, which is handed on as it is.
            match first.take() {
                None if body.is_empty() => first = Some(part),
                None => body.extend_from_slice(&part),
                Some(before) => {
                    let before: Bytes = before;
                    body.extend_from_slice(&before);
                    body.extend_from_slice(&part);
                }
            }
        }
        let body = first.unwrap_or_else(|| body.freeze());
        match promised {
            Some(promised) if promised != body.len() as u64 => Err(Failure::new(
                Why::Broken,
                format!("the answer ended after {} of {promised} bytes", body.len()),
            )),
            _ => Ok(body),
        }
    }
}

/// What of a body is read.
enum Expected {
    /// There is none, or more than the caller takes.
    Nothing,
    UpTo(u64),
}

fn expected(parts: &Parts, answer: &reqwest::Response) -> Expected {
    let at_most = parts.extensions.get::<AtMost>().map_or(LARGEST, |most| most.0);
    if parts.method == Method::HEAD {
        return Expected::Nothing;
    }
    if !answer.status().is_success() {
        // What a service says about a failure is read as far as it is of use.
        return Expected::UpTo(1 << 20);
    }
    let asked = parts.headers.get(RANGE).and_then(|range| Asked::parse(range.to_str().ok()?));
    if answer.status() == StatusCode::PARTIAL_CONTENT
        && let Some(most) = asked.and_then(Asked::len)
    {
        return Expected::UpTo(most.min(at_most));
    }
    match answer.content_length() {
        Some(promised) if promised > at_most && parts.extensions.get::<AtMost>().is_some() => {
            Expected::Nothing
        }
        _ => Expected::UpTo(at_most),
    }
}

/// `work` within a time.
async fn within<T>(time: Duration, work: impl Future<Output = reqwest::Result<T>>) -> Result<T, Failure> {
    match tokio::time::timeout(time, work).await {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(e)) => Err(broken(&e)),
        Err(_) => Err(Failure::new(Why::Broken, format!("nothing came for {} s", time.as_secs_f32()))),
    }
}

/// An error of the connection, in the words of its innermost cause.
fn broken(e: &reqwest::Error) -> Failure {
    let mut cause: &dyn std::error::Error = e;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    // A reqwest::Error without a cause would show its URL.
    let words = if cause.is::<reqwest::Error>() { String::new() } else { format!(": {cause}") };
    match () {
        () if e.is_redirect() => Failure::new(Why::Wrong, format!("the redirection is not followed{words}")),
        () if e.is_connect() => Failure::new(Why::NotSent, format!("no connection{words}")),
        () if e.is_builder() => Failure::new(Why::Wrong, format!("no request can be made{words}")),
        () => Failure::new(Why::Broken, format!("the connection broke{words}")),
    }
}

/// Whether a request asks for the credentials that machines of a cloud have.
fn is_of_machine(parts: &Parts) -> bool {
    let hosts = ["169.254.169.254", "metadata.google.internal", "metadata"];
    parts.uri.host().is_some_and(|host| hosts.contains(&host))
}

/// Whether sending it twice could apply it and then say that it was not.
fn is_conditional_write(parts: &Parts) -> bool {
    let generation = HeaderName::from_static("x-goog-if-generation-match");
    let conditions = [&IF_MATCH, &IF_NONE_MATCH, &generation];
    matches!(parts.method, Method::PUT | Method::POST | Method::DELETE)
        && conditions.iter().any(|name| parts.headers.contains_key(*name))
}

/// The answer, if it is one to this request.
fn judged(parts: &Parts, answer: Response<Bytes>) -> Result<Response<Bytes>, Failure> {
    let status = answer.status();
    let ranged = parts.headers.get(RANGE).and_then(|range| Asked::parse(range.to_str().ok()?));
    match (status, ranged) {
        (StatusCode::NOT_FOUND, _) if !is_no_container(&answer) => Ok(answer),
        (StatusCode::CONFLICT | StatusCode::PRECONDITION_FAILED | StatusCode::NOT_MODIFIED, _) => Ok(answer),
        (StatusCode::PARTIAL_CONTENT, Some(asked)) => {
            asked.check(&answer)?;
            Ok(answer)
        }
        // A server without ranges gives all of it.
        (StatusCode::OK, Some(asked)) => asked.cut(answer),
        _ if status.is_success() => Ok(answer),
        _ if status.is_redirection() && leads_to_folder(parts, &answer) => {
            Err(Failure::new(Why::Folder, "there is a folder of that name, and no object"))
        }
        _ => Err(refusal(&answer)),
    }
}

/// Whether a redirection only adds a `/`.
fn leads_to_folder(parts: &Parts, answer: &Response<Bytes>) -> bool {
    let target =
        answer.headers().get(LOCATION).and_then(|target| target.to_str().ok()?.parse::<http::Uri>().ok());
    target.is_some_and(|target| target.path().strip_suffix('/') == Some(parts.uri.path()))
}

/// A 404 that is not about an object: the bucket or container is not there, and nothing in it can be absent.
fn is_no_container(answer: &Response<Bytes>) -> bool {
    code(answer)
        .is_some_and(|code| matches!(&*code, "NoSuchBucket" | "ContainerNotFound" | "AccountNotFound"))
}

/// The failure that a status stands for.
fn refusal(answer: &Response<Bytes>) -> Failure {
    let status = answer.status();
    let why = match status.as_u16() {
        401 | 403 | 407 => Why::Refused,
        416 => Why::Range(size_told(answer.headers())),
        405 | 501 | 505 => Why::Unsupported,
        code if may_pass(code) => Why::Broken,
        _ => Why::Wrong,
    };
    let mut text = format!("the service answered {}", status.as_u16());
    if let Some(reason) = status.canonical_reason() {
        text += &format!(" {reason}");
    }
    if let Some(code) = code(answer) {
        text += &format!(" ({code})");
        // The services' codes for what no other credentials will mend.
        if matches!(&*code, "ExpiredToken" | "ExpiredTokenException" | "TokenRefreshRequired") {
            text += ": the credentials have expired";
            return Failure::new(Why::Refused, text).with_status(status.as_u16());
        }
    }
    if status.is_redirection() {
        text += match answer.headers().get("x-amz-bucket-region").and_then(|region| region.to_str().ok()) {
            Some(region) => format!(": the bucket is in the region {region:?}"),
            None => ": redirections are not followed here".to_owned(),
        }
        .as_str();
    }
    Failure::new(why, text).with_status(status.as_u16())
}

/// The service's own name for what went wrong: of Azure in a header, of S3 and Google in the XML of the body.
fn code(answer: &Response<Bytes>) -> Option<String> {
    let plain = |text: &str| {
        let text = text.trim();
        let fits = (1..=64).contains(&text.len())
            && text.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
        fits.then(|| text.to_owned())
    };
    if let Some(code) = answer.headers().get("x-ms-error-code") {
        return plain(code.to_str().ok()?);
    }
    let is_xml = answer.headers().get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().ends_with(b"xml"));
    let text = std::str::from_utf8(answer.body()).ok().filter(|text| is_xml || text.starts_with("<?xml"))?;
    let (_, behind) = text.split_once("<Code>")?;
    plain(behind.split_once("</Code>")?.0)
}

/// The proxies that the environment names, in the variables that all such programs know.
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

#[cfg(any(feature = "aws", feature = "azure", feature = "gcp"))]
mod service {
    //! The client as `object_store` calls it.

    use async_trait::async_trait;
    use object_store::ClientOptions;
    use object_store::client::{
        HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService,
    };

    use super::Client;

    #[async_trait]
    impl HttpService for Client {
        async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
            // Of this kind nothing is tried again.
            let answer = self.send(request).await.map_err(|e| HttpError::new(HttpErrorKind::Unknown, e))?;
            Ok(answer.map(Into::into))
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
    fn what_services_say_is_understood() {
        let said = |status: u16, body: &'static str| {
            let mut answer = Response::new(Bytes::from_static(body.as_bytes()));
            *answer.status_mut() = StatusCode::from_u16(status).unwrap();
            answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/xml"));
            answer
        };
        let get = Request::get("http://h/a").body(()).unwrap().into_parts().0;
        assert!(judged(&get, said(404, "<Error><Code>NoSuchKey</Code></Error>")).is_ok());
        for (status, body, why, text) in [
            (404, "<Error><Code>NoSuchBucket</Code></Error>", Why::Wrong, "404 Not Found (NoSuchBucket)"),
            (403, "<Error><Code>AccessDenied</Code></Error>", Why::Refused, "403 Forbidden (AccessDenied)"),
            (
                400,
                "<Error><Code>ExpiredToken</Code></Error>",
                Why::Refused,
                "(ExpiredToken): the credentials have expired",
            ),
            (403, "<Code>secret/with?odd</Code>", Why::Refused, "403 Forbidden"),
            (501, "", Why::Unsupported, "501 Not Implemented"),
            (503, "", Why::Broken, "503 Service Unavailable"),
            (301, "", Why::Wrong, "redirections are not followed here"),
        ] {
            let failure = judged(&get, said(status, body)).unwrap_err();
            assert_eq!(failure.why, why, "{status} {body}");
            assert!(failure.text.ends_with(text), "{}", failure.text);
        }
    }

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
