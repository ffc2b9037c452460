//! Records of the requests that stores make.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

/// The record of one request to a store, made when the request has ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TracedRequest {
    /// The operation: `GET`, `PUT`, `DELETE`, `HEAD`, `LIST` or another name of the service.
    pub method: String,
    /// The object of the operation: a URL without its secrets, or a key.
    pub target: String,
    /// The range of bytes, as HTTP writes it: `bytes=0-99`, `bytes=-4`.
    pub range: Option<String>,
    /// The result: the status of HTTP, or `ok`, `absent`, `conflict`, or a kind of error.
    pub status: String,
    /// The number of bytes of the value that were sent.
    pub sent: u64,
    /// The number of bytes of values that were received.
    pub received: u64,
    /// The number of the attempt, from 1 on.
    pub attempt: u32,
    /// The start time, since the Unix epoch.
    pub began: Duration,
    /// The duration of the request.
    pub took: Duration,
}

impl TracedRequest {
    /// Returns a first attempt without a range and without a value to send.
    pub fn new(method: impl Into<String>, target: impl Into<String>) -> Self {
        Self { method: method.into(), target: target.into(), attempt: 1, ..Self::default() }
    }
}

/// A function that is called with the record of every request. It runs on the thread where the request ends, and must
/// not block.
#[derive(Clone)]
pub struct Trace(Arc<dyn Fn(&TracedRequest) + Send + Sync>);

impl Trace {
    /// Calls `tell` with the record of every request.
    pub fn new(tell: impl Fn(&TracedRequest) + Send + Sync + 'static) -> Self {
        Self(Arc::new(tell))
    }

    /// Calls the function with a record.
    pub fn tell(&self, request: &TracedRequest) {
        (self.0)(request);
    }

    /// Starts a request and its clock.
    pub fn begin(&self, request: TracedRequest) -> Underway {
        let began = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Underway { trace: self.clone(), request: TracedRequest { began, ..request }, since: Instant::now() }
    }
}

impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Trace")
    }
}

/// A running request. If it is dropped before it [ends](Self::end), it is not recorded.
#[derive(Debug)]
#[must_use]
pub struct Underway {
    trace: Trace,
    request: TracedRequest,
    since: Instant,
}

impl Underway {
    /// Ends the request with `status`, and with `received` bytes of values.
    pub fn end(self, status: impl Into<String>, received: u64) {
        let (status, took) = (status.into(), self.since.elapsed());
        self.trace.tell(&TracedRequest { status, received, took, ..self.request });
    }
}
