//! Tests of the server as a client sees it, without and with faults.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use zarr_services::client::{HttpAnswer, request};
use zarr_services::{Fault, Server, When};

const VALUE: &[u8] = b"0123456789";

fn ask(server: &Server, method: &str, target: &str, headers: &[(&str, &str)], body: &[u8]) -> HttpAnswer {
    request(server.address(), method, target, headers, body).unwrap()
}

/// Starts a plain server with ten digits under `/a b/c`.
fn digits() -> Server {
    let server = Server::http();
    server.insert("/a b/c", VALUE);
    server
}

#[test]
fn ranges_and_conditions_are_answered() {
    let server = digits();
    let tag = ask(&server, "HEAD", "/a%20b/c", &[], b"").header("etag").unwrap().to_owned();
    for (headers, status, range, body) in [
        (vec![], 200, None, "0123456789"),
        (vec![("Range", "bytes=2-4")], 206, Some("bytes 2-4/10"), "234"),
        (vec![("Range", "bytes=7-")], 206, Some("bytes 7-9/10"), "789"),
        (vec![("Range", "bytes=7-99")], 206, Some("bytes 7-9/10"), "789"),
        (vec![("Range", "bytes=-3")], 206, Some("bytes 7-9/10"), "789"),
        (vec![("Range", "bytes=-99")], 206, Some("bytes 0-9/10"), "0123456789"),
        (vec![("Range", "bytes=0-1,4-5")], 200, None, "0123456789"),
        (vec![("If-Match", &tag)], 200, None, "0123456789"),
        (vec![("If-Match", &tag), ("Range", "bytes=0-0")], 206, Some("bytes 0-0/10"), "0"),
        (vec![("If-None-Match", &tag)], 304, None, ""),
    ] {
        let answer = ask(&server, "GET", "/a%20b/c", &headers, b"");
        let seen = (answer.status, answer.header("content-range"), answer.text());
        assert_eq!(seen, (status, range, body.to_owned()), "{headers:?}");
    }
    for (target, headers, status) in [
        ("/a%20b/c", vec![("Range", "bytes=10-")], 416),
        ("/a%20b/c", vec![("Range", "bytes=-0")], 416),
        ("/a%20b/c", vec![("If-Match", "\"other\"")], 412),
        ("/a%20b/d", vec![], 404),
    ] {
        assert_eq!(ask(&server, "GET", target, &headers, b"").status, status, "{target} {headers:?}");
    }
    let answer = ask(&server, "HEAD", "/a%20b/c", &[], b"");
    assert_eq!((answer.status, answer.header("content-length"), &*answer.text()), (200, Some("10"), ""));
}

#[test]
fn a_plain_server_is_read_only_by_default() {
    assert_eq!(ask(&digits(), "PUT", "/x", &[], b"1").status, 405);
    let server = Server::writable_http();
    assert_eq!(ask(&server, "PUT", "/x", &[("If-None-Match", "*")], b"1").status, 200);
    assert_eq!(ask(&server, "PUT", "/x", &[("If-None-Match", "*")], b"2").status, 412);
    assert_eq!(server.get("/x").unwrap(), "1");
    assert_eq!(ask(&server, "DELETE", "/x", &[], b"").status, 204);
    assert_eq!(server.paths(), Vec::<String>::new());
}

/// The answer to `GET` of the ten digits with `Range: bytes=2-5`: status, header, body, how it ended.
#[test]
fn scripted_faults_occur() {
    type Seen = (u16, (&'static str, Option<&'static str>), &'static str, Option<ErrorKind>);
    let eof = Some(ErrorKind::UnexpectedEof);
    let reset = Some(ErrorKind::ConnectionReset);
    let good = ("content-range", Some("bytes 2-5/10"));
    let second = Duration::from_millis(1);
    let cases: Vec<(Fault, Seen)> = vec![
        (Fault::status(500), (500, ("retry-after", None), "this is a scripted 500\n", None)),
        (Fault::retry_after(429, "7"), (429, ("retry-after", Some("7")), "", None)),
        (Fault::redirect(307, "/x"), (307, ("location", Some("/x")), "", None)),
        (Fault::NoRange, (200, ("content-range", None), "0123456789", None)),
        (Fault::ShiftRange(3), (206, ("content-range", Some("bytes 5-8/10")), "5678", None)),
        (Fault::Short(3), (206, ("content-range", Some("bytes 2-4/10")), "234", None)),
        (
            Fault::header("Content-Range", "bytes 0-3/10"),
            (206, ("content-range", Some("bytes 0-3/10")), "2345", None),
        ),
        (Fault::Header("ETag", None), (206, ("etag", None), "2345", None)),
        (Fault::header("Content-Encoding", "gzip"), (206, ("content-encoding", Some("gzip")), "2345", None)),
        (Fault::header("Content-Length", "99999999999"), (206, good, "2345", eof)),
        (Fault::header("Content-Length", "2"), (206, good, "23", None)),
        (Fault::Cut(3), (206, good, "234", reset)),
        (Fault::Cut(0), (206, good, "", reset)),
        (Fault::Stall(1, second), (206, good, "2345", None)),
        (Fault::Delay(second), (206, good, "2345", None)),
        (Fault::Slow(1000), (206, good, "2345", None)),
        (Fault::Replace("abcdefgh".into()), (206, ("content-range", Some("bytes 2-5/8")), "cdef", None)),
    ];
    for (fault, seen) in cases {
        let server = digits();
        server.script(When::any(), fault.clone());
        let answer = ask(&server, "GET", "/a%20b/c", &[("Range", "bytes=2-5")], b"");
        let header = (seen.1.0, answer.header(seen.1.0));
        assert_eq!((answer.status, header, &*answer.text(), answer.broken), seen, "{fault:?}");
        server.heal();
        assert_eq!(ask(&server, "GET", "/a%20b/c", &[], b"").status, 200);
    }
}

#[test]
fn raw_bytes_can_replace_an_answer() {
    for (fault, error) in [
        (Fault::Reset, ErrorKind::ConnectionReset),
        (Fault::raw(""), ErrorKind::InvalidData),
        (Fault::raw("\0\x01garbage\r\n\r\n"), ErrorKind::InvalidData),
    ] {
        let server = digits();
        server.script(When::any(), fault.clone());
        let answer = request(server.address(), "GET", "/a%20b/c", &[], b"");
        assert_eq!(answer.unwrap_err().kind(), error, "{fault:?}");
        assert_eq!(server.requests()[0].status, None);
    }
}

#[test]
fn a_body_can_be_endless() {
    let server = digits();
    server.script(When::any(), Fault::Endless);
    let mut connection = TcpStream::connect(server.address()).unwrap();
    connection.write_all(b"GET /a%20b/c HTTP/1.1\r\n\r\n").unwrap();
    let mut seen = vec![0; 1 << 20];
    connection.read_exact(&mut seen).unwrap();
    let head = String::from_utf8_lossy(&seen[..400]).to_ascii_lowercase();
    assert!(head.contains("transfer-encoding: chunked") && !head.contains("content-length"), "{head}");
    assert!(head.contains("\r\n\r\na\r\n0123456789\r\na\r\n"), "{head}");
}

#[test]
fn a_fault_counts_its_requests() {
    let statuses = |when: When| {
        let server = digits();
        server.script(when, Fault::status(503));
        let mut seen = Vec::new();
        for target in ["/a%20b/c", "/x", "/a%20b/c", "/a%20b/c"] {
            seen.push(ask(&server, "GET", target, &[], b"").status);
        }
        seen
    };
    assert_eq!(statuses(When::any()), [503, 503, 503, 503]);
    assert_eq!(statuses(When::on("GET", "/a b/")), [503, 404, 503, 503]);
    assert_eq!(statuses(When::on("PUT", "/a b/")), [200, 404, 200, 200]);
    assert_eq!(statuses(When::on("GET", "/a b/").first(2)), [503, 404, 503, 200]);
    assert_eq!(statuses(When::on("GET", "/a b/").nth(2)), [200, 404, 503, 200]);
    assert_eq!(statuses(When::matching(|r| r.target.ends_with('x'))), [200, 503, 200, 200]);
}

/// The answer of a `PUT` gets lost, or the `PUT` itself.
#[test]
fn an_answer_can_get_lost_after_the_request_is_done() {
    for (fault, kept) in [
        (Fault::status(500), false),
        (Fault::status(500).applied(), true),
        (Fault::Reset, false),
        (Fault::Reset.applied(), true),
    ] {
        let server = Server::s3();
        server.script(When::on("PUT", "/b/k"), fault.clone());
        let answer = request(server.address(), "PUT", "/b/k", &[], b"1");
        assert_ne!(answer.map(|a| a.status).unwrap_or(500), 200);
        assert_eq!(server.get("/b/k").is_some(), kept, "{fault:?}");
    }
}

#[test]
fn requests_and_answers_are_logged() {
    let server = digits();
    ask(&server, "GET", "/a%20b/c?x=%31+2&y", &[("Range", "bytes=0-3"), ("X-Own", "1")], b"");
    ask(&server, "HEAD", "/a%20b/c", &[], b"");
    let log = server.requests();
    let [get, head] = &log[..] else { panic!("{log:?}") };
    assert_eq!((&*get.method, &*get.path, &*get.target), ("GET", "/a b/c", "/a%20b/c?x=%31+2&y"));
    assert_eq!((get.parameter("x"), get.parameter("y"), get.parameter("z")), (Some("1 2"), Some(""), None));
    assert_eq!((get.header("range"), get.header("x-own")), (Some("bytes=0-3"), Some("1")));
    assert_eq!((get.status, head.status), (Some(206), Some(200)));
    server.forget();
    assert_eq!(server.requests().len(), 0);
}

#[test]
fn connections_are_kept_for_the_next_request() {
    let server = digits();
    let mut connection = TcpStream::connect(server.address()).unwrap();
    for _ in 0..3 {
        connection.write_all(b"GET /a%20b/c HTTP/1.1\r\nRange: bytes=-1\r\n\r\n").unwrap();
        let mut seen = Vec::new();
        while !seen.ends_with(b"\r\n\r\n9") {
            let mut byte = [0];
            connection.read_exact(&mut byte).unwrap();
            seen.push(byte[0]);
        }
    }
    assert_eq!(server.requests().len(), 3);

    server.script(When::any(), Fault::header("Connection", "close"));
    connection.write_all(b"HEAD /a%20b/c HTTP/1.1\r\n\r\n").unwrap();
    connection.read_to_end(&mut Vec::new()).unwrap();
}

/// A test can end while its server waits.
#[test]
fn a_server_stops_in_the_middle_of_a_stall() {
    let server = digits();
    let address = server.address();
    server.script(When::any(), Fault::Delay(Duration::from_secs(600)));
    let client = std::thread::spawn(move || request(address, "GET", "/a%20b/c", &[], b""));
    while server.requests().is_empty() {
        std::thread::yield_now();
    }
    let since = Instant::now();
    drop(server);
    assert!(client.join().unwrap().is_err());
    assert!(since.elapsed() < Duration::from_secs(300));
    assert!(TcpStream::connect(address).is_err());
}

/// Returns the texts between `<name>` and `</name>`.
fn all(answer: &HttpAnswer, name: &str) -> Vec<String> {
    let (text, open, close) = (answer.text(), format!("<{name}>"), format!("</{name}>"));
    text.split(&open).skip(1).map(|part| part.split(&close).next().unwrap().to_owned()).collect()
}

#[test]
fn lists_have_pages_as_in_s3() {
    let server = Server::s3();
    for key in ["a/0", "a/1/x", "a/1/y", "a/2", "b", "c & d"] {
        server.insert(&format!("/bucket/{key}"), key.as_bytes());
    }
    server.insert("/other/a/3", "");
    for (query, keys, prefixes) in [
        ("", vec!["a/0", "a/1/x", "a/1/y", "a/2", "b", "c &amp; d"], vec![]),
        ("&delimiter=%2F", vec!["b", "c &amp; d"], vec!["a/"]),
        ("&prefix=a%2F&delimiter=/", vec!["a/0", "a/2"], vec!["a/1/"]),
        ("&prefix=a/1", vec!["a/1/x", "a/1/y"], vec![]),
        ("&start-after=a/1/x", vec!["a/1/y", "a/2", "b", "c &amp; d"], vec![]),
        ("&prefix=c&encoding-type=url", vec!["c%20%26%20d"], vec![]),
        ("&prefix=none", vec![], vec![]),
    ] {
        let answer = ask(&server, "GET", &format!("/bucket?list-type=2{query}"), &[], b"");
        assert_eq!(all(&answer, "Key"), keys, "{query}");
        let groups: Vec<String> = all(&answer, "CommonPrefixes");
        let groups: Vec<&str> =
            groups.iter().map(|g| &g["<Prefix>".len()..g.len() - "</Prefix>".len()]).collect();
        assert_eq!(groups, prefixes, "{query}");
    }
    // In pages of one, to the end.
    let (mut seen, mut token) = (Vec::new(), String::new());
    loop {
        let answer = ask(
            &server,
            "GET",
            &format!("/bucket?list-type=2&max-keys=1&delimiter=/&prefix=a/{token}"),
            &[],
            b"",
        );
        seen.extend(all(&answer, "Key"));
        let Some(next) = all(&answer, "NextContinuationToken").pop() else { break };
        token = format!("&continuation-token={next}");
    }
    assert_eq!(seen, ["a/0", "a/2"]);
}

#[test]
fn writes_work_as_in_s3() {
    let server = Server::s3();
    let put = |target, headers: &[(&str, &str)], body| ask(&server, "PUT", target, headers, body);
    let first = put("/b/k", &[("If-None-Match", "*"), ("x-amz-meta-id", "7")], b"1");
    let tag = first.header("etag").unwrap();
    assert_eq!(ask(&server, "HEAD", "/b/k", &[], b"").header("x-amz-meta-id"), Some("7"));
    assert_eq!(put("/b/k", &[("If-None-Match", "*")], b"2").status, 412);
    assert_eq!(put("/b/k", &[("If-Match", tag)], b"2").status, 200);
    assert_eq!(put("/b/k", &[("If-Match", tag)], b"3").status, 412);
    assert_eq!(put("/b/none", &[("If-Match", tag)], b"3").status, 404);
    assert_eq!(server.get("/b/k").unwrap(), "2");

    server.insert("/b/x", "");
    server.insert("/b/x & y", "");
    let keys = b"<Delete><Object><Key>x</Key></Object><Object><Key>x &amp; y</Key></Object></Delete>";
    assert_eq!(all(&ask(&server, "POST", "/b?delete", &[], keys), "Key"), ["x", "x &amp; y"]);
    assert_eq!(server.paths(), ["/b/k"]);
}

#[test]
fn values_are_joined_from_parts() {
    let server = Server::s3();
    let begin = || all(&ask(&server, "POST", "/b/k?uploads", &[], b""), "UploadId").remove(0);
    let id = begin();
    for (number, part) in [("2", "world"), ("1", "hello "), ("3", "unused")] {
        let target = format!("/b/k?partNumber={number}&uploadId={id}");
        assert_eq!(ask(&server, "PUT", &target, &[], part.as_bytes()).status, 200);
    }
    assert_eq!(server.get("/b/k"), None);
    let parts = b"<Part><PartNumber>1</PartNumber></Part><Part><PartNumber>2</PartNumber></Part>";
    let complete = format!("/b/k?uploadId={id}");
    assert_eq!(ask(&server, "POST", &complete, &[("If-Match", "\"x\"")], parts).status, 404);
    assert_eq!(ask(&server, "POST", &complete, &[("If-None-Match", "*")], parts).status, 200);
    assert_eq!(server.get("/b/k").unwrap(), "hello world");
    assert_eq!(ask(&server, "POST", &complete, &[], parts).status, 404);

    let abort = format!("/b/k?uploadId={}", begin());
    assert_eq!(ask(&server, "DELETE", &abort, &[], b"").status, 204);
    assert_eq!(ask(&server, "DELETE", &abort, &[], b"").status, 404);
}
