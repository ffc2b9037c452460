//! The ways in which a hostile server misbehaves: a table.

use std::time::Duration;

use super::{Fault, When};

/// A way to misbehave. It applies to all requests below a folder, or to a bucket, of its name.
#[derive(Clone, Copy, Debug)]
pub struct Mode {
    /// The name: the first segment of the path.
    pub name: &'static str,
    /// The behaviour of the server.
    pub about: &'static str,
    /// Whether a reader can return the right data.
    pub can_be_read: bool,
    faults: fn(&str) -> Vec<(Limit, Fault)>,
}

/// How many requests a fault applies to.
#[derive(Clone, Copy, Debug)]
enum Limit {
    All,
    First(usize),
}

impl Mode {
    /// Returns the faults of this mode, for a server at `url`.
    pub fn script(&self, url: &str) -> Vec<(When, Fault)> {
        let folder = format!("/{}/", self.name);
        let faults = (self.faults)(url).into_iter().map(|(limit, fault)| {
            let folder = folder.clone();
            let when = When::matching(move |request| request.path.starts_with(&folder));
            (if let Limit::First(count) = limit { when.first(count) } else { when }, fault)
        });
        faults.collect()
    }
}

const fn mode(
    name: &'static str,
    about: &'static str,
    can_be_read: bool,
    faults: fn(&str) -> Vec<(Limit, Fault)>,
) -> Mode {
    Mode { name, about, can_be_read, faults }
}

fn all(fault: Fault) -> Vec<(Limit, Fault)> {
    vec![(Limit::All, fault)]
}

/// All modes.
pub const MODES: &[Mode] = &[
    mode("good", "behaves", true, |_| Vec::new()),
    mode("busy-twice", "answers the first two requests with 503", true, |_| {
        vec![(Limit::First(2), Fault::status(503))]
    }),
    mode("limited-once", "answers the first request with 429 and Retry-After: 1", true, |_| {
        vec![(Limit::First(1), Fault::retry_after(429, "1"))]
    }),
    mode("reset-once", "resets the first connection", true, |_| vec![(Limit::First(1), Fault::Reset)]),
    mode("cut-once", "cuts the first answer after ten bytes", true, |_| {
        vec![(Limit::First(1), Fault::Cut(10))]
    }),
    mode("slow", "sends a kibibyte a second", true, |_| all(Fault::Slow(1024))),
    mode("no-range", "ignores ranges: 200 and the whole object", true, |_| all(Fault::NoRange)),
    mode("busy", "answers everything with 503", false, |_| all(Fault::status(503))),
    mode("retry-later", "answers everything with 503 and Retry-After of ten billion seconds", false, |_| {
        all(Fault::retry_after(503, "9999999999"))
    }),
    mode("forbidden", "answers everything with 403", false, |_| all(Fault::status(403))),
    mode("page", "answers everything with 200 and an HTML page", false, |_| {
        all(Fault::answer(200, &[("Content-Type", "text/html")], "<!doctype html><title>Sign in</title>"))
    }),
    mode("teapot", "answers everything with 999", false, |_| all(Fault::status(999))),
    mode("reset", "resets every connection", false, |_| all(Fault::Reset)),
    mode("cut", "cuts every answer after ten bytes", false, |_| all(Fault::Cut(10))),
    mode("silent", "sends nothing for ten minutes", false, |_| all(Fault::Delay(Duration::from_secs(600)))),
    mode("stalled", "stops after ten bytes for ten minutes", false, |_| {
        all(Fault::Stall(10, Duration::from_secs(600)))
    }),
    mode("short", "sends at most ten bytes, with headers that agree", false, |_| all(Fault::Short(10))),
    mode("shifted-range", "sends another range, and says so", false, |_| all(Fault::ShiftRange(1))),
    mode("lying-range", "sends a Content-Range of another object", false, |_| {
        all(Fault::header("Content-Range", "bytes 0-9/18446744073709551615"))
    }),
    mode("no-length", "sends no Content-Length and closes the connection", true, |_| {
        vec![
            (Limit::All, Fault::Header("Content-Length", None)),
            (Limit::All, Fault::header("Connection", "close")),
        ]
    }),
    mode("huge-length", "claims 8 EiB and sends the object", false, |_| {
        all(Fault::header("Content-Length", "9223372036854775807"))
    }),
    mode("two-lengths", "sends a Content-Length that is no number", false, |_| {
        all(Fault::header("Content-Length", "5, 6"))
    }),
    mode("endless", "repeats the body without end", false, |_| all(Fault::Endless)),
    mode("endless-header", "sends a header of a million lines", false, |_| {
        let lines: String = (0..1_000_000).map(|n| format!("X-{n}: y\r\n")).collect();
        all(Fault::raw(format!("HTTP/1.1 200 OK\r\n{lines}\r\n")))
    }),
    mode("garbage", "sends no HTTP", false, |_| all(Fault::raw("\0\u{1b}[31m not HTTP\r\n\r\n"))),
    mode("compressed", "says that the body is gzip, which it is not", false, |_| {
        all(Fault::header("Content-Encoding", "gzip"))
    }),
    mode("redirect-loop", "redirects every request to itself", false, |url| {
        all(Fault::redirect(302, &format!("{url}/redirect-loop/again")))
    }),
    mode("redirect-host", "redirects to another host (127.0.0.2)", false, |_| {
        all(Fault::redirect(302, "http://127.0.0.2:9/stolen"))
    }),
    mode("redirect-metadata", "redirects to the address of cloud credentials", false, |_| {
        all(Fault::redirect(307, "http://169.254.169.254/latest/meta-data/"))
    }),
    mode("redirect-file", "redirects to a file", false, |_| all(Fault::redirect(302, "file:///etc/passwd"))),
    mode("endless-list", "answers each listing with a page that has a next one, the same", false, |_| {
        all(Fault::answer(
            200,
            &[("Content-Type", "application/xml")],
            "<?xml version=\"1.0\"?><ListBucketResult><IsTruncated>true</IsTruncated>\
             <NextContinuationToken>again</NextContinuationToken></ListBucketResult>",
        ))
    }),
    mode("escaping-list", "lists keys that lead out of the bucket", false, |_| {
        all(Fault::answer(
            200,
            &[("Content-Type", "application/xml")],
            "<?xml version=\"1.0\"?><ListBucketResult><IsTruncated>false</IsTruncated>\
             <Contents><Key>../../etc/passwd</Key><Size>1</Size><LastModified>2026-01-01T00:00:00Z</LastModified>\
             <ETag>\"a\"</ETag></Contents></ListBucketResult>",
        ))
    }),
];
