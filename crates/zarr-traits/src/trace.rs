//! What stores tell about the requests they make.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// One request to a store, after it has ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Request {
    /// What was asked: `GET`, `PUT`, `DELETE`, `HEAD`, `LIST` or whatever else the service calls it.
    pub method: String,
    /// Of what: a URL without its secrets, or a key.
    pub target: String,
    /// Which bytes of it, as HTTP writes it: `bytes=0-99`, `bytes=-4`.
    pub range: Option<String>,
    /// What came of it: the status of HTTP, or `ok`, `absent`, `conflict`, or a kind of error.
    pub status: String,
    /// Bytes of the value that were sent.
    pub sent: u64,
    /// Bytes of values that came.
    pub received: u64,
    /// Which try it was, from 1 on.
    pub attempt: u32,
    /// When it began, since the epoch of Unix.
    pub began: Duration,
    /// How long it took.
    pub took: Duration,
}

/// Whom to tell about requests. Called on whatever thread a request ends, and must not wait.
#[derive(Clone)]
pub struct Trace(Arc<dyn Fn(&Request) + Send + Sync>);

impl Trace {
    /// Calls `tell` with every request.
    pub fn new(tell: impl Fn(&Request) + Send + Sync + 'static) -> Self {
        Self(Arc::new(tell))
    }

    /// Tells about a request.
    pub fn tell(&self, request: &Request) {
        (self.0)(request);
    }
}

impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Trace")
    }
}
