//! Answers of HTTP servers, as sent. An operation ends after a bounded number of requests, with an error or with as many
//! bytes as were requested.
//!
//! The first byte of an input selects the service and the call. The rest are answers, which end with a zero byte. They are
//! given in turn, and from the first one again after the last.

use bytes::Bytes;
use zarr_conformance::server::Fault;
use zarr_traits::store::{PutMode, ReadVersion};
use zarr_traits::{ByteRange, Key, Storage, StoreResult, block_on};

use crate::services::{SERVICES, check_error};

/// The limit of a read.
const MOST: u64 = 1 << 16;

/// The largest number of requests for one range: the range, the size of the object twice, and a range again. A web server
/// may need two requests for the size, and may redirect each request ten times.
const REQUESTS: usize = (1 + 2 * 2 + 1 + 2) * 11;

const SPAN: ByteRange = ByteRange::Span { offset: 3, len: 5 };

/// Ranges that are read with one call.
const READS: [&[ByteRange]; 4] =
    [&[ByteRange::All], &[SPAN], &[ByteRange::Suffix(4)], &[SPAN, ByteRange::Suffix(4)]];

pub(crate) fn run(input: &[u8]) {
    let Some((&first, answers)) = input.split_first() else { return };
    let store = &SERVICES.stores[usize::from(first & 3)];
    let call = usize::from(first >> 2 & 7);
    let answers = answers.split(|byte| *byte == 0).map(|answer| Fault::raw(answer.to_vec())).collect();
    let requests = SERVICES.requests(answers, None, || {
        if let Err(e) = made(store, call) {
            check_error(&e, input);
        }
    });
    // If two ranges are of different versions, both are read again, pinned to each of the two.
    let most = READS.get(call).map_or(1, |ranges| if ranges.len() == 1 { 1 } else { ranges.len() * 3 });
    assert!(requests.len() <= most * REQUESTS, "{} requests", requests.len());
}

fn made(store: &Storage, call: usize) -> StoreResult<()> {
    let key = Key::new("a/b c").expect("a key");
    if let Some(ranges) = READS.get(call) {
        return read(store, &key, ranges);
    }
    block_on(async {
        match call {
            4 => store.head(&key).await.map(|_| ()),
            5 => store.put(&key, "value").await,
            6 => store.put_if(&key, &["value".into()], PutMode::Create).await.map(|_| ()),
            _ => store.delete(&key).await,
        }
    })
}

fn read(store: &Storage, key: &Key, ranges: &[ByteRange]) -> StoreResult<()> {
    let Some(reply) = block_on(store.get_ranges(key, ranges, ReadVersion::Any, MOST))? else { return Ok(()) };
    let size = reply.size.expect("every service sends the size");
    for (range, bytes) in ranges.iter().zip(&reply.bytes) {
        let part = range.resolve(size).expect("the range can be read, so it is inside of the object");
        assert_eq!(bytes.len() as u64, part.end - part.start, "{range:?} of {size} bytes");
    }
    assert!(reply.bytes.iter().map(Bytes::len).sum::<usize>() as u64 <= MOST);
    Ok(())
}

/// Answers of services to each call, and hostile ones.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    const OBJECT: &str = "ETag: \"9a0364b9e99bb480dd25e1f0284c8555\"\r\n\
        Last-Modified: Fri, 20 Nov 2026 10:00:00 GMT\r\nAccept-Ranges: bytes\r\n";
    const END: u64 = u64::MAX;
    let answer = |status: &str, headers: &str, body: &str| {
        format!("HTTP/1.1 {status}\r\n{OBJECT}{headers}Content-Length: {}\r\n\r\n{body}", body.len())
    };
    let error = |status: &str, code: &str| {
        let headers = format!("Content-Type: application/xml\r\nx-ms-error-code: {code}\r\n");
        answer(status, &headers, &format!("<?xml version=\"1.0\"?><Error><Code>{code}</Code></Error>"))
    };
    let part = |range: &str, body: &str| {
        answer("206 Partial Content", &format!("Content-Range: bytes {range}\r\n"), body)
    };
    let head = format!("HTTP/1.1 200 OK\r\n{OBJECT}Content-Length: 10\r\n\r\n");
    let chunked = "Transfer-Encoding: chunked\r\n\r\na\r\n0123456789\r\n0\r\n\r\n";
    let script = |call: u8, answers: &[&str]| {
        let input = |service| [&[call << 2 | service][..], answers.join("\0").as_bytes()].concat();
        (0..4u8).map(input).collect::<Vec<_>>()
    };
    let (whole, two) = (answer("200 OK", "", "0123456789"), part("3-7/10", "34567"));
    let batch = |number: &str, status: &str| {
        let part = format!("--b\r\nContent-ID: {number}\r\n\r\nHTTP/1.1 {status}\r\n\r\n--b--\r\n");
        answer("202 Accepted", "Content-Type: multipart/mixed; boundary=b\r\n", &part)
    };
    let found = |to: &str| answer("302 Found", &format!("Location: {to}\r\n"), "");
    let scripts = [
        script(0, &[&whole]),
        script(0, &[&format!("HTTP/1.1 200 OK\r\n{OBJECT}{chunked}")]),
        script(0, &[&format!("HTTP/1.1 200 OK\r\n{OBJECT}Content-Length: 9\r\n{chunked}")]),
        script(0, &[&error("404 Not Found", "NoSuchKey")]),
        script(0, &[&error("404 Not Found", "NoSuchBucket")]),
        script(0, &[&answer("200 OK", "Content-Encoding: gzip\r\n", "0123456789")]),
        script(0, &[&part("0-4/10", "01234")]),
        script(0, &[&format!("HTTP/1.1 200 OK\r\nContent-Length: {END}\r\n\r\n0")]),
        script(
            0,
            &[&error("503 Slow Down", "SlowDown")
                .replace("ETag", "Retry-After: 18446744073709551615\r\nETag")],
        ),
        script(1, &[&two]),
        script(1, &[&whole]),
        script(1, &[&answer("203 Non-Authoritative Information", "", "0123456789")]),
        script(1, &[&part(&format!("{END}-{END}/{END}"), "34567").replace("206", "203")]),
        script(1, &[&part(&format!("3-{END}/{END}"), "34567")]),
        script(1, &[&part("3-7/*", "34567"), &head]),
        script(1, &[&error("416 Range Not Satisfiable", "InvalidRange"), &head, &two]),
        script(1, &[&found("/bucket/c"), &found("d?e#f"), &two]),
        script(1, &[&found("/bucket/a/b%20c/")]),
        script(2, &[&part("6-9/10", "6789")]),
        script(2, &[&error("405 Method Not Allowed", "MethodNotAllowed"), &head, &part("6-9/10", "6789")]),
        script(3, &[&two, &part("6-9/10", "6789")]),
        script(3, &[&two, &part("6-9/10", "6789").replace("9a0", "9a1")]),
        script(4, &[&head]),
        script(4, &[&error("405 Method Not Allowed", "MethodNotAllowed"), &part("0-0/10", "0")]),
        script(5, &[&answer("200 OK", "", "")]),
        script(6, &[&answer("201 Created", "x-goog-generation: 1\r\n", "")]),
        script(6, &[&error("412 Precondition Failed", "PreconditionFailed"), &head]),
        script(6, &["HTTP/1.1 100 Continue\r\n\r\n", &head]),
        script(7, &["HTTP/1.1 204 No Content\r\n\r\n"]),
        script(7, &[&batch("0", "202 Accepted")]),
        script(7, &[&batch("1", "404 The specified blob does not exist.")]),
        script(
            7,
            &[&answer(
                "200 OK",
                "",
                "<DeleteResult><Error><Key>b</Key><Code>AccessDenied</Code><Message/></Error></DeleteResult>",
            )],
        ),
        script(
            7,
            &[&answer("200 OK", "", "<DeleteResult><Deleted><Key>a/b c</Key></Deleted></DeleteResult>")],
        ),
    ];
    scripts.into_iter().flatten().collect()
}
