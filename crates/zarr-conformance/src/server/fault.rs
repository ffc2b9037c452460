//! Faults of a server, and the requests that they apply to.

use std::fmt;
use std::time::Duration;

use zarr_traits::Bytes;

use super::http::{ByteRange, HttpRequest, Reply};
use super::objects::Objects;

/// Selects requests for a [`Fault`]: all that match, or some of these by their number.
pub struct When {
    matches: Box<dyn Fn(&HttpRequest) -> bool + Send>,
    after: usize,
    count: usize,
}

impl When {
    /// Selects every request.
    pub fn any() -> Self {
        Self::matching(|_| true)
    }

    /// Selects requests with this method, and with `part` in their path (decoded) or their target (as sent).
    pub fn on(method: &str, part: &str) -> Self {
        let (method, part) = (method.to_owned(), part.to_owned());
        Self::matching(move |r| r.method == method && (r.path.contains(&part) || r.target.contains(&part)))
    }

    /// Selects requests for which `matches` is true.
    pub fn matching(matches: impl Fn(&HttpRequest) -> bool + Send + 'static) -> Self {
        Self { matches: Box::new(matches), after: 0, count: usize::MAX }
    }

    /// Selects only the first `count` of them, from now on.
    #[must_use]
    pub fn first(self, count: usize) -> Self {
        Self { after: 0, count, ..self }
    }

    /// Selects only the `n`-th of them, from now on, counted from 1.
    #[must_use]
    pub fn nth(self, n: usize) -> Self {
        Self { after: n.saturating_sub(1), count: 1, ..self }
    }

    /// Counts a matching request. Returns whether it is selected.
    pub(crate) fn counts(&mut self, request: &HttpRequest) -> bool {
        if !(self.matches)(request) {
            return false;
        }
        if self.after > 0 {
            self.after -= 1;
            return false;
        }
        let now = self.count > 0;
        self.count = self.count.saturating_sub(1);
        now
    }
}

impl fmt::Debug for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("When").field("after", &self.after).field("count", &self.count).finish_non_exhaustive()
    }
}

/// A fault of a server.
///
/// Several faults for the same request are applied in the order in which they were scripted. A fault that replaces the
/// answer leaves the request undone, unless it is [`Applied`](Self::Applied).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Fault {
    /// Sends this answer. See [`answer`](Self::answer), [`status`](Self::status), [`retry_after`](Self::retry_after)
    /// and [`redirect`](Self::redirect).
    Answer {
        /// The status.
        status: u16,
        /// The headers: names and values.
        headers: Vec<(String, String)>,
        /// The body.
        body: Bytes,
    },
    /// Sends these bytes, whatever they are, and ends the connection.
    Raw(Bytes),
    /// Resets the connection (RST) instead of answering.
    Reset,
    /// The request takes effect; then this fault replaces the answer. So the answer of a `PUT` gets lost.
    Applied(Box<Fault>),

    /// Waits before the request takes effect.
    Delay(Duration),
    /// Before the request takes effect its object gets this value, and so another entity tag.
    Replace(Bytes),
    /// Ignores the range: 200, and the whole object.
    NoRange,
    /// Shifts the range by this many bytes, also in `Content-Range`.
    ShiftRange(usize),

    /// Sends at most this many bytes, with matching headers.
    Short(usize),
    /// Sets or removes a header of the answer. With `Content-Length` or `Connection: close` the connection ends after
    /// the true body.
    Header(&'static str, Option<String>),
    /// Sends the header and this many bytes of the body, then resets the connection (RST).
    Cut(usize),
    /// Pauses after this many bytes of the body, for this time.
    Stall(usize, Duration),
    /// Sends the body with this many bytes per second.
    Slow(usize),
    /// Repeats the body without end, in chunks and without a length (up to 256 MiB).
    Endless,
}

impl Fault {
    /// Answers with this status and a text that says so.
    pub fn status(status: u16) -> Self {
        Self::answer(status, &[], format!("this is a scripted {status}\n"))
    }

    /// Answers with this status (429, 503) and a header `Retry-After`: seconds, or a date.
    pub fn retry_after(status: u16, when: &str) -> Self {
        Self::answer(status, &[("Retry-After", when)], "")
    }

    /// Answers with this status (301, 302, 307, 308) and a header `Location`.
    pub fn redirect(status: u16, location: &str) -> Self {
        Self::answer(status, &[("Location", location)], "")
    }

    /// Sends these bytes, whatever they are, and ends the connection.
    pub fn raw(bytes: impl Into<Bytes>) -> Self {
        Self::Raw(bytes.into())
    }

    /// Sets a header of the answer.
    pub fn header(name: &'static str, value: &str) -> Self {
        Self::Header(name, Some(value.to_owned()))
    }

    /// Lets the request take effect before this fault replaces the answer.
    #[must_use]
    pub fn applied(self) -> Self {
        Self::Applied(Box::new(self))
    }

    /// Sends this answer.
    pub fn answer(status: u16, headers: &[(&str, &str)], body: impl Into<Bytes>) -> Self {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Self::Answer { status, headers, body: body.into() }
    }

    /// Whether the request takes effect, so that there is an answer to change.
    pub(crate) fn is_applied(&self) -> bool {
        !matches!(self, Self::Answer { .. } | Self::Raw(_) | Self::Reset)
    }

    /// The time that the server waits before the request takes effect.
    pub(crate) fn delay(&self) -> Duration {
        if let Self::Delay(time) = self { *time } else { Duration::ZERO }
    }

    /// Changes the request or the objects.
    pub(crate) fn before(&self, request: &mut HttpRequest, objects: &mut Objects) {
        match self {
            Self::Replace(bytes) => objects.insert(&request.path, bytes.clone(), Vec::new()),
            Self::NoRange => request.headers.retain(|(name, _)| name != "range"),
            Self::ShiftRange(by) => {
                if let Some(ByteRange::From(first, last)) = request.range() {
                    let last = last.map_or(String::new(), |last| (last + by).to_string());
                    request.headers.retain(|(name, _)| name != "range");
                    request.headers.push(("range".to_owned(), format!("bytes={}-{last}", first + by)));
                }
            }
            _ => {}
        }
    }

    /// Changes the answer.
    pub(crate) fn after(&self, reply: &mut Reply) {
        match self {
            Self::Answer { status, headers, body } => {
                let head_only = reply.head_only;
                *reply = Reply { status: *status, headers: headers.clone(), head_only, ..Reply::default() };
                reply.body = body.clone();
            }
            Self::Raw(bytes) => reply.way.raw = Some(bytes.clone()),
            Self::Reset => reply.way.reset = true,
            Self::Applied(fault) => {
                reply.way.delay += fault.delay();
                fault.after(reply);
            }
            Self::Delay(_) | Self::Replace(_) | Self::NoRange | Self::ShiftRange(_) => {}
            Self::Short(most) => {
                let most = (*most).min(reply.body.len());
                reply.body.truncate(most);
                shorten_range(reply, most);
            }
            Self::Header(name, value) => reply.set(name, value.clone()),
            Self::Cut(after) => reply.way.cut = Some(*after),
            Self::Stall(after, time) => reply.way.stall = Some((*after, *time)),
            Self::Slow(rate) => reply.way.rate = Some(*rate),
            Self::Endless => reply.way.endless = true,
        }
    }
}

/// Changes the last byte in `Content-Range` for an answer of `bytes` bytes.
fn shorten_range(reply: &mut Reply, bytes: usize) {
    let named = reply.header("content-range").and_then(|range| {
        let (range, size) = range.strip_prefix("bytes ")?.split_once('/')?;
        let first: usize = range.split_once('-')?.0.parse().ok()?;
        Some(format!("bytes {first}-{}/{size}", (first + bytes).saturating_sub(1)))
    });
    if named.is_some() {
        reply.set("Content-Range", named);
    }
}
