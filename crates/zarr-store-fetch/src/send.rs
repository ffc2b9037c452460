//! Sends requests: with time limits, retries, and an end when they are dropped.

use std::time::Duration;

use js_sys::{Function, Promise, Reflect};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortController, Headers, RequestCache, RequestInit, Response};
use zarr_store::http::{HttpFailure, Why};
use zarr_store::pause;
use zarr_traits::ByteRange;

use crate::answer::{Head, Mark, check_length, header_of};
use crate::body::{broken, receive, silent};
use crate::store::Settings;
use crate::timer::{sleep, within};

/// The longest pause that a server may ask for.
const LONGEST_WISH: Duration = Duration::from_secs(30);
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// A range of one version of an object.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) bytes: Vec<u8>,
    pub(crate) mark: Mark,
}

/// A request that is cancelled when it is dropped. A request that is done is not changed by that.
struct Running {
    response: Response,
    _abort: Abort,
}

struct Abort(AbortController);

impl Drop for Abort {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Settings {
    /// Requests a range of an object, at most `most` bytes of it. `None`: there is no object. `cache` counts for whole
    /// objects only.
    pub(crate) async fn get(
        &self,
        url: &str,
        range: ByteRange,
        most: u64,
        cache: RequestCache,
    ) -> Result<Option<Part>, HttpFailure> {
        self.retrying(async || {
            let sent = self.send("GET", url, header_of(range), cache).await.map_err(|e| match range {
                // The browser may not allow a suffix, to a server of another origin.
                ByteRange::Suffix(_) if e.why == Why::NotTaken => e.because(Why::Unsupported),
                _ => e,
            })?;
            let head = head_of(&sent.response);
            if head.status == 403 && self.forbidden_is_absent {
                return Ok(None);
            }
            let Some(plan) = head.plan(range, most)? else { return Ok(None) };
            let (bytes, seen) = receive(&sent.response, &plan, self.silence).await?;
            let size = check_length(range, head.status, bytes.len() as u64, seen)?;
            Ok(Some(Part { bytes, mark: head.mark(plan.size.or(size)) }))
        })
        .await
    }

    /// Requests the size and the signs of the version. `None`: there is no object.
    ///
    /// The request has a range, because a browser then accepts no encoded body, whose length would be another one.
    pub(crate) async fn head(&self, url: &str) -> Result<Option<Mark>, HttpFailure> {
        let head = self.head_by("HEAD", url, "bytes=0-").await?;
        let size = match (head.status, head.length()) {
            (200 | 206, Some(size)) => size,
            // No first byte: the object is empty.
            (416, _) => head.total().unwrap_or(0),
            (200 | 206 | 405 | 501, _) => return self.size_of_first_byte(url).await,
            _ => return self.absent_or_failed(&head),
        };
        Ok(Some(head.mark(Some(size))))
    }

    /// Returns the size from a request for the first byte, for servers that do not support `HEAD`.
    async fn size_of_first_byte(&self, url: &str) -> Result<Option<Mark>, HttpFailure> {
        let head = self.head_by("GET", url, "bytes=0-0").await?;
        let size = match head.status {
            200 => head.length(),
            206 => head.total(),
            416 => Some(head.total().unwrap_or(0)),
            _ => return self.absent_or_failed(&head),
        };
        let unknown = || HttpFailure::new(Why::Unsupported, "the server does not send the size");
        Ok(Some(head.mark(Some(size.ok_or_else(unknown)?))))
    }

    async fn head_by(&self, method: &str, url: &str, range: &str) -> Result<Head, HttpFailure> {
        self.retrying(async || {
            let sent = self.send(method, url, Some(range.to_owned()), RequestCache::NoStore).await?;
            let head = head_of(&sent.response);
            if head.failure().why.may_pass() { Err(head.failure()) } else { Ok(head) }
        })
        .await
    }

    fn absent_or_failed(&self, head: &Head) -> Result<Option<Mark>, HttpFailure> {
        match head.status {
            404 | 410 => Ok(None),
            403 if self.forbidden_is_absent => Ok(None),
            _ => Err(head.failure()),
        }
    }

    /// Repeats a request whose failure may pass.
    async fn retrying<T>(&self, request: impl AsyncFn() -> Result<T, HttpFailure>) -> Result<T, HttpFailure> {
        let mut attempt = 1;
        loop {
            let failure = match request().await {
                Err(failure) if failure.why.may_pass() && attempt <= self.retries => failure,
                done => return done.map_err(|failure| failure.tried(attempt)),
            };
            let wish = failure.retry_after.unwrap_or_default();
            if wish > LONGEST_WISH {
                return Err(failure.tried(attempt));
            }
            // The pause of the library is not random here, because hashers have no random keys.
            let own = pause(FIRST_PAUSE, LONGEST_PAUSE, attempt).mul_f64(0.5 + js_sys::Math::random() / 2.0);
            sleep(own.max(wish)).await;
            attempt += 1;
        }
    }

    /// Sends a request once, and waits for the head of the answer.
    async fn send(
        &self,
        method: &str,
        url: &str,
        range: Option<String>,
        cache: RequestCache,
    ) -> Result<Running, HttpFailure> {
        let wrong = |_| HttpFailure::new(Why::Wrong, "a header of the request is not valid");
        let headers = Headers::new().map_err(|e| broken(&e))?;
        for (name, value) in &self.headers {
            headers.append(name, value).map_err(wrong)?;
        }
        if let Some(range) = &range {
            headers.set("range", range).map_err(wrong)?;
        }
        let abort = Abort(AbortController::new().map_err(|e| broken(&e))?);
        let init = RequestInit::new();
        init.set_method(method);
        init.set_headers(&headers);
        init.set_credentials(self.credentials.into());
        // Chromium keeps ranges, and returned bytes of two versions under one entity tag.
        init.set_cache(if range.is_some() { RequestCache::NoStore } else { cache });
        init.set_signal(Some(&abort.0.signal()));
        let answer = within(self.silence, fetch(url, &init)).await.ok_or_else(silent)?;
        let response = answer.map_err(|e| broken(&e).because(Why::NotTaken))?;
        Ok(Running { response, _abort: abort })
    }
}

/// Calls the global function `fetch`, which windows, workers and Node have.
async fn fetch(url: &str, init: &RequestInit) -> Result<Response, JsValue> {
    let fetch: Function = Reflect::get(&js_sys::global(), &"fetch".into())?.dyn_into()?;
    let promise: Promise = fetch.call2(&JsValue::UNDEFINED, &url.into(), init)?.dyn_into()?;
    JsFuture::from(promise).await?.dyn_into()
}

fn head_of(response: &Response) -> Head {
    let headers = response.headers();
    let header = |name: &str| headers.get(name).ok().flatten();
    Head {
        status: response.status(),
        content_length: header("content-length"),
        content_range: header("content-range"),
        content_encoding: header("content-encoding"),
        etag: header("etag"),
        last_modified: header("last-modified"),
        retry_after: header("retry-after"),
    }
}
