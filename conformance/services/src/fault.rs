//! What a server does other than it should, and for which requests.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;

use crate::http::{ByteRange, Reply, Request};
use crate::objects::Objects;

/// Which requests a [`Fault`] is for: those that match, or some of these by their number.
pub struct When {
    matches: Box<dyn Fn(&Request) -> bool + Send>,
    after: usize,
    count: usize,
}

impl When {
    /// Every request.
    pub fn any() -> Self {
        Self::matching(|_| true)
    }

    /// Requests with this method, and with `part` in their path (decoded) or their target (as sent).
    pub fn on(method: &str, part: &str) -> Self {
        let (method, part) = (method.to_owned(), part.to_owned());
        Self::matching(move |r| r.method == method && (r.path.contains(&part) || r.target.contains(&part)))
    }

    /// Requests for which `matches` holds.
    pub fn matching(matches: impl Fn(&Request) -> bool + Send + 'static) -> Self {
        Self { matches: Box::new(matches), after: 0, count: usize::MAX }
    }

    /// Only the first `count` of them, from now on.
    #[must_use]
    pub fn first(self, count: usize) -> Self {
        Self { after: 0, count, ..self }
    }

    /// Only the `n`-th of them, from now on; the first one is 1.
    #[must_use]
    pub fn nth(self, n: usize) -> Self {
        Self { after: n.saturating_sub(1), count: 1, ..self }
    }

    /// Whether it is for this request, which is counted if it matches.
    pub(crate) fn counts(&mut self, request: &Request) -> bool {
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

/// What a server does other than it should.
///
/// Several for the same request are applied one after the other, in the order in which they were scripted. Except as
/// [`Applied`](Self::Applied), those that answer in the place of the server leave the request undone.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Fault {
    /// Answers [this](Self::answer): [`status`](Self::status), [`retry_after`](Self::retry_after) and
    /// [`redirect`](Self::redirect) are such answers.
    Answer {
        /// The status.
        status: u16,
        /// Names and values.
        headers: Vec<(String, String)>,
        /// The body.
        body: Bytes,
    },
    /// Sends these bytes, whatever they are, and ends the connection.
    Raw(Bytes),
    /// Resets the connection (RST) instead of answering.
    Reset,
    /// The request is done; then this is what comes of the answer. So answers of `PUT` get lost.
    Applied(Box<Fault>),

    /// Waits before the request is done.
    Delay(Duration),
    /// Before the request is done its object gets this value, and with it another entity tag.
    Replace(Bytes),
    /// Acts as if no range were asked for: 200, and all of the object.
    NoRange,
    /// Takes, and names in `Content-Range`, a range that begins so many bytes further on than was asked for.
    ShiftRange(usize),

    /// Sends at most so many bytes, and headers that agree with that.
    Short(usize),
    /// Sets a header of the answer, or takes it away. The connection ends with the true body after a `Content-Length`,
    /// and after `Connection: close`.
    Header(&'static str, Option<String>),
    /// Sends the header and so many bytes of the body, then resets the connection (RST).
    Cut(usize),
    /// Stops after so many bytes of the body, for so long.
    Stall(usize, Duration),
    /// Sends the body with so many bytes a second.
    Slow(usize),
    /// Sends the body over and over, in chunks and without a length (up to 256 MiB).
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

    /// The request is done, but this is what comes of the answer.
    #[must_use]
    pub fn applied(self) -> Self {
        Self::Applied(Box::new(self))
    }

    /// Answers this.
    pub fn answer(status: u16, headers: &[(&str, &str)], body: impl Into<Bytes>) -> Self {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Self::Answer { status, headers, body: body.into() }
    }

    /// Whether the request is done, so that there is an answer to change.
    pub(crate) fn is_applied(&self) -> bool {
        !matches!(self, Self::Answer { .. } | Self::Raw(_) | Self::Reset)
    }

    /// How long the server waits before it does the request.
    pub(crate) fn delay(&self) -> Duration {
        if let Self::Delay(time) = self { *time } else { Duration::ZERO }
    }

    /// Changes what is asked for, or what is there.
    pub(crate) fn before(&self, request: &mut Request, objects: &mut Objects) {
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

/// Changes the last byte that `Content-Range` names: so many are sent.
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
