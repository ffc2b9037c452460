//! The part of HTTP/1.1 that a server for tests needs: reads requests and writes answers.

use std::io::{self, BufRead, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use zarr_traits::Bytes;

/// A received request, and the status of its answer.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct HttpRequest {
    /// `GET`, `PUT` and so on.
    pub method: String,
    /// The path and query as received.
    pub target: String,
    /// The path, percent-decoded.
    pub path: String,
    /// The parameters of the query, percent-decoded.
    pub query: Vec<(String, String)>,
    /// The headers: names in lower case, and values.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Bytes,
    /// The status of the answer, if there was an answer.
    pub status: Option<u16>,
    pub(crate) keep_alive: bool,
}

impl HttpRequest {
    /// Returns the value of a header. `name` is in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        find(&self.headers, name)
    }

    /// Returns the value of a parameter of the query, which may be empty.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        find(&self.query, name)
    }

    /// Returns the range of the request. Any other form of the header is ignored (RFC 9110, 14.2).
    pub(crate) fn range(&self) -> Option<ByteRange> {
        let (first, last) = self.header("range")?.strip_prefix("bytes=")?.split_once('-')?;
        Some(match (first, last) {
            ("", last) => ByteRange::Last(last.parse().ok()?),
            (first, "") => ByteRange::From(first.parse().ok()?, None),
            (first, last) => ByteRange::From(first.parse().ok()?, Some(last.parse().ok()?)),
        })
    }

    /// Reads the next request, if there is one.
    pub(crate) fn read(input: &mut impl BufRead, mut output: &TcpStream) -> io::Result<Option<Self>> {
        let line = line(input)?;
        let mut words = line.split(' ');
        let (Some(method), Some(target), Some(version)) = (words.next(), words.next(), words.next()) else {
            return Ok(None);
        };
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let pairs = query.split('&').filter(|pair| !pair.is_empty());
        let mut request = Self {
            method: method.to_owned(),
            target: target.to_owned(),
            path: decoded(path),
            query: pairs.map(|p| p.split_once('=').unwrap_or((p, ""))).map(plain_pair).collect(),
            headers: headers(input)?,
            ..Self::default()
        };
        request.keep_alive = version == "HTTP/1.1" && request.header("connection") != Some("close");
        if request.header("expect") == Some("100-continue") {
            output.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        }
        if let Some(length) = request.header("content-length") {
            let length = length.parse().map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?;
            let mut body = Vec::new();
            input.by_ref().take(length).read_to_end(&mut body)?;
            request.body = body.into();
        }
        Ok(Some(request))
    }
}

/// The range in a header `Range`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ByteRange {
    /// From a byte to a last byte or to the end.
    From(usize, Option<usize>),
    /// This many bytes at the end.
    Last(usize),
}

/// An answer, and how it is sent.
#[derive(Debug, Default)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Bytes,
    /// Whether it answers `HEAD`: the length of the body is given, but the body is not sent.
    pub(crate) head_only: bool,
    pub(crate) way: Way,
}

/// The way to send an answer.
#[derive(Debug, Default)]
pub(crate) struct Way {
    /// The pause before the answer.
    pub(crate) delay: Duration,
    /// A pause after this many bytes of the body.
    pub(crate) stall: Option<(usize, Duration)>,
    /// The number of bytes of the body after which the connection is reset.
    pub(crate) cut: Option<usize>,
    /// The bytes per second.
    pub(crate) rate: Option<usize>,
    /// Whether the body is repeated without end, in chunks.
    pub(crate) endless: bool,
    /// Bytes to send in place of the answer.
    pub(crate) raw: Option<Bytes>,
    /// Whether the connection is reset without an answer.
    pub(crate) reset: bool,
}

/// The limit of an endless body, so that a failing test does not fill the memory.
const ENDLESS: usize = 256 << 20;

/// A function that waits, or fails if the server is stopped meanwhile.
pub(crate) type Pause<'a> = &'a dyn Fn(Duration) -> io::Result<()>;

impl Reply {
    pub(crate) fn new(status: u16) -> Self {
        Self { status, ..Self::default() }
    }

    pub(crate) fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.set(name, Some(value.into()));
        self
    }

    pub(crate) fn body(mut self, kind: &str, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self.with("Content-Type", kind)
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        find(&self.headers, name)
    }

    /// Sets or removes a header.
    pub(crate) fn set(&mut self, name: &str, value: Option<String>) {
        self.headers.retain(|(n, _)| !n.eq_ignore_ascii_case(name));
        self.headers.extend(value.map(|value| (name.to_owned(), value)));
    }

    /// The status that the client sees.
    pub(crate) fn seen(&self) -> Option<u16> {
        (!self.way.reset && self.way.raw.is_none()).then_some(self.status)
    }

    /// Sends the answer. Returns whether the connection can be used for another request.
    pub(crate) fn send(&self, mut to: &TcpStream, pause: Pause<'_>) -> io::Result<bool> {
        pause(self.way.delay)?;
        if self.way.reset {
            return reset(to).map(|()| false);
        }
        if let Some(raw) = &self.way.raw {
            return to.write_all(raw).map(|()| false);
        }
        to.write_all(self.head().as_bytes())?;
        if self.way.endless {
            return self.send_endless(to, pause).map(|()| false);
        }
        let sent = self.body.len().min(self.way.cut.unwrap_or(usize::MAX));
        let body = if self.head_only { &[] } else { &self.body[..sent] };
        let mut rest = body;
        if let Some((after, time)) = self.way.stall {
            let (first, second) = body.split_at(after.min(body.len()));
            paced(to, first, self.way.rate, pause)?;
            pause(time)?;
            rest = second;
        }
        paced(to, rest, self.way.rate, pause)?;
        if self.way.cut.is_some() {
            return reset(to).map(|()| false);
        }
        // After an answer with a wrong length the connection must end.
        Ok(self.header("content-length").is_none() && self.header("connection") != Some("close"))
    }

    fn head(&self) -> String {
        let mut head = format!("HTTP/1.1 {} \r\n", self.status);
        for (name, value) in &self.headers {
            head += &format!("{name}: {value}\r\n");
        }
        if self.way.endless {
            head += "Transfer-Encoding: chunked\r\n";
        } else if self.header("content-length").is_none() && self.status != 204 && self.status != 304 {
            head += &format!("Content-Length: {}\r\n", self.body.len());
        }
        head + "\r\n"
    }

    fn send_endless(&self, mut to: &TcpStream, pause: Pause<'_>) -> io::Result<()> {
        let piece = if self.body.is_empty() { vec![0; 1 << 16] } else { self.body.to_vec() };
        let head = format!("{:x}\r\n", piece.len());
        let mut sent = 0;
        while sent < ENDLESS {
            pause(Duration::ZERO)?;
            to.write_all(head.as_bytes())?;
            paced(to, &piece, self.way.rate, pause)?;
            to.write_all(b"\r\n")?;
            sent += piece.len();
        }
        Ok(())
    }
}

/// Sends at most `rate` bytes per second.
fn paced(mut to: &TcpStream, bytes: &[u8], rate: Option<usize>, pause: Pause<'_>) -> io::Result<()> {
    const STEPS: usize = 20;
    let Some(rate) = rate else { return to.write_all(bytes) };
    let piece = rate.div_ceil(STEPS).max(1);
    for part in bytes.chunks(piece) {
        to.write_all(part)?;
        pause(Duration::from_secs_f64(part.len() as f64 / rate.max(1) as f64))?;
    }
    Ok(())
}

/// Ends the connection with a reset (RST), not with an end of the stream.
fn reset(connection: &TcpStream) -> io::Result<()> {
    // A reset drops the bytes in the buffer, but on the same machine they have arrived already.
    std::thread::sleep(Duration::from_millis(20));
    socket2::SockRef::from(connection).set_linger(Some(Duration::ZERO))
}

/// Reads a line without its end. Returns an empty text at the end of the input.
pub(crate) fn line(input: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    input.read_line(&mut line)?;
    line.truncate(line.trim_end().len());
    Ok(line)
}

/// Reads headers up to the empty line: names in lower case, and values.
pub(crate) fn headers(input: &mut impl BufRead) -> io::Result<Vec<(String, String)>> {
    let mut headers = Vec::new();
    loop {
        let line = line(input)?;
        if line.is_empty() {
            return Ok(headers);
        }
        if let Some((name, value)) = line.split_once(':') {
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
    }
}

pub(crate) fn find<'a>(pairs: &'a [(String, String)], name: &str) -> Option<&'a str> {
    pairs.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}

/// Decodes a parameter of a query, where `+` is a space.
fn plain_pair((name, value): (&str, &str)) -> (String, String) {
    let plain = |text: &str| decoded(&text.replace('+', " "));
    (plain(name), plain(value))
}

/// Percent-decodes a text.
pub(crate) fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|d| u8::try_from(d).ok());
        let escaped = match tail {
            [high, low, ..] if *first == b'%' => digit(high).zip(digit(low)),
            _ => None,
        };
        bytes.push(escaped.map_or(*first, |(high, low)| high << 4 | low));
        rest = if escaped.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Percent-encodes all characters that have a meaning in a query.
pub(crate) fn encoded(text: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.~/".contains(&b);
    text.bytes().map(|b| if plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes_paths() {
        for (text, plain) in [
            ("/a%20b/%C3%A9", "/a b/é"),
            ("/100%", "/100%"),
            ("%zz%2", "%zz%2"),
            ("/a+b", "/a+b"),
            ("%2F%2f", "//"),
        ] {
            assert_eq!(decoded(text), plain);
        }
        assert_eq!(decoded(&encoded("a b/é&%+")), "a b/é&%+");
    }

    #[test]
    fn one_range_is_read_and_other_forms_are_ignored() {
        for (header, range) in [
            ("bytes=2-5", Some(ByteRange::From(2, Some(5)))),
            ("bytes=2-", Some(ByteRange::From(2, None))),
            ("bytes=-3", Some(ByteRange::Last(3))),
            ("bytes=0-1,4-5", None),
            ("bytes=-", None),
            ("chunks=0-1", None),
        ] {
            let request = HttpRequest {
                headers: vec![("range".to_owned(), header.to_owned())],
                ..HttpRequest::default()
            };
            assert_eq!(request.range(), range, "{header}");
        }
    }
}
