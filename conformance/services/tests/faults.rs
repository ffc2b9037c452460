//! Faults of a service and their results: the right bytes or a clear error, in bounded time, with a bounded number of
//! requests, and never `None` for an existing chunk.

use std::time::Duration;

use zarr_services::{Fault, Server, When};
use zarr_store::Access;
use zarr_traits::{
    ByteRange, Bytes, Key, Storage, StoreErrorKind, StoreResult, Version, block_on,
    store::{Outcome, PutMode, ReadVersion},
};

use crate::common::{at_once, opened, s3};

const VALUE: [u8; 1000] = [7; 1000];
const SPAN: ByteRange = ByteRange::Span { offset: 2, len: 5 };

fn key() -> Key {
    Key::new("a/c/0").unwrap()
}

/// Limits of two retries, three seconds in total, and one second without a byte.
fn brief(access: Access) -> Access {
    access.retries(2).timeout(Duration::from_secs(3))
}

/// Returns a server with one object, opened as S3 and as a plain web server.
fn both() -> (Server, [(&'static str, Storage); 2]) {
    let server = Server::s3();
    server.insert("/bucket/a/c/0", &VALUE[..]);
    let bucket = opened("s3://bucket", &brief(s3(&server.url(""))));
    let web = opened(&server.url("/bucket"), &brief(Access::new()));
    (server, [("s3", bucket), ("http", web)])
}

fn read(storage: &Storage, range: ByteRange) -> StoreResult<Option<Bytes>> {
    let reply = block_on(storage.get_ranges(&key(), &[range], ReadVersion::Any, u64::MAX))?;
    Ok(reply.map(|reply| reply.bytes[0].clone()))
}

/// The expected result of a read.
enum Then {
    /// The right bytes.
    Right,
    Absent,
    /// An error of this kind, with these words.
    Error(StoreErrorKind, &'static str),
}

#[test]
fn reads_return_the_right_bytes_or_an_error() {
    use StoreErrorKind::{Io, PermissionDenied, TooLarge, Unavailable, Unsupported};
    use Then::{Absent, Error, Right};
    let xml = |status, code: &str| {
        let body = format!("<?xml version=\"1.0\"?><Error><Code>{code}</Code></Error>");
        Fault::answer(status, &[("Content-Type", "application/xml")], body)
    };
    let minute = Duration::from_secs(60);
    // how often the fault occurs, the fault, the result, and the number of requests
    let always = usize::MAX;
    let table: Vec<(usize, Fault, Then, usize)> = vec![
        (2, Fault::status(500), Right, 3),
        (1, Fault::status(502), Right, 2),
        (1, Fault::status(504), Right, 2),
        (1, Fault::status(408), Right, 2),
        (1, Fault::retry_after(429, "1"), Right, 2),
        (1, Fault::retry_after(503, "Thu, 01 Jan 1970 00:00:00 GMT"), Right, 2),
        (always, Fault::status(500), Error(Unavailable, "500 Internal Server Error (tried 3 times)"), 3),
        (always, Fault::status(503), Error(Unavailable, "503 Service Unavailable (tried 3 times)"), 3),
        (always, Fault::retry_after(429, "3600"), Error(Unavailable, "429 Too Many Requests"), 1),
        (always, Fault::status(501), Error(Unsupported, "501 Not Implemented"), 1),
        (always, Fault::status(505), Error(Unsupported, "505"), 1),
        (always, Fault::status(400), Error(Io, "400 Bad Request"), 1),
        (always, Fault::status(401), Error(PermissionDenied, "401 Unauthorized"), 1),
        (always, Fault::status(403), Error(PermissionDenied, "403 Forbidden"), 1),
        (always, xml(400, "ExpiredToken"), Error(PermissionDenied, "the credentials have expired"), 1),
        (always, xml(403, "ExpiredToken"), Error(PermissionDenied, "the credentials have expired"), 1),
        (always, xml(404, "NoSuchKey"), Absent, 1),
        (always, xml(404, "NoSuchBucket"), Error(Io, "404 Not Found (NoSuchBucket)"), 1),
        (1, Fault::Reset, Right, 2),
        (always, Fault::Reset, Error(Unavailable, "(tried 3 times)"), 3),
        (1, Fault::Cut(3), Right, 2),
        (always, Fault::Cut(3), Error(Unavailable, "(tried 3 times)"), 3),
        (1, Fault::Short(3), Right, 2),
        (always, Fault::Short(3), Error(Unavailable, "other bytes than requested"), 3),
        (1, Fault::ShiftRange(1), Right, 2),
        (always, Fault::ShiftRange(1), Error(Unavailable, "other bytes than requested"), 3),
        (1, Fault::header("Content-Range", "nonsense"), Right, 2),
        (1, Fault::Header("Content-Range", None), Right, 2),
        (1, Fault::Stall(2, minute), Right, 2),
        (always, Fault::Stall(2, minute), Error(Unavailable, "no bytes were received for"), 3),
        (1, Fault::Delay(Duration::from_secs(2)), Right, 2),
        (always, Fault::Endless, Error(TooLarge { size: None }, "at most 5 are accepted"), 1),
        (always, Fault::NoRange, Right, 1),
        (1, Fault::raw("nonsense\r\n\r\n"), Right, 2),
        (1, Fault::raw(""), Right, 2),
    ];
    at_once(table.into_iter().enumerate(), |(number, (times, fault, then, requests))| {
        let (server, storages) = both();
        for (name, storage) in storages {
            let what = format!("{number}: {name}, {times} times {fault:?}");
            server.heal();
            server.forget();
            server.script(When::on("GET", "").first(times), fault.clone());
            match (&then, read(&storage, SPAN)) {
                (Right, Ok(Some(bytes))) => assert_eq!(bytes, VALUE[2..7], "{what}"),
                (Absent, Ok(None)) => {}
                (Error(kind, words), Err(e)) => {
                    assert_eq!(e.kind(), *kind, "{what}: {e:#}");
                    assert!(format!("{e:#}").contains(words), "{what}: {e:#}");
                    assert_eq!(e.key(), Some("a/c/0"), "{what}");
                }
                (_, other) => panic!("{what}: {other:?}"),
            }
            let gets = server.requests().iter().filter(|request| request.method == "GET").count();
            assert_eq!(gets, requests, "{what}");
        }
    });
}

#[test]
fn a_slow_body_ends_with_an_error() {
    let (server, storages) = both();
    server.script(When::any(), Fault::Slow(100));
    at_once(storages, |(name, storage)| {
        let e = read(&storage, ByteRange::All).unwrap_err();
        assert_eq!(e.kind(), StoreErrorKind::Unavailable, "{name}: {e:#}");
    });
}

#[test]
fn a_body_beyond_the_limit_is_not_read() {
    let (server, storages) = both();
    for (name, storage) in storages {
        let e = block_on(storage.get(&key(), 10)).unwrap_err();
        assert_eq!(e.kind(), StoreErrorKind::TooLarge { size: Some(1000) }, "{name}: {e:#}");
        server.script(When::any(), Fault::Endless);
        let e = block_on(storage.get(&key(), 10)).unwrap_err();
        assert!(matches!(e.kind(), StoreErrorKind::TooLarge { .. }), "{name}: {e:#}");
        server.heal();
    }
}

#[test]
fn an_object_that_is_replaced_between_two_reads_is_noticed() {
    let (server, storages) = both();
    for (name, storage) in storages {
        let reply =
            block_on(storage.get_ranges(&key(), &[ByteRange::Suffix(4)], ReadVersion::Report, u64::MAX));
        let version: Version = reply.unwrap().unwrap().version.unwrap();
        server.script(When::on("GET", "").first(1), Fault::Replace(Bytes::from(vec![8; 1000])));
        let again = block_on(storage.get_ranges(&key(), &[SPAN], ReadVersion::Pinned(&version), u64::MAX));
        assert_eq!(again.unwrap_err().kind(), StoreErrorKind::Changed, "{name}");
        server.insert("/bucket/a/c/0", &VALUE[..]);
        // within one call: the second request finds another object, and both ranges are read again
        server.heal();
        server.script(When::on("GET", "").nth(2), Fault::Replace(Bytes::from(vec![9; 1000])));
        let reply =
            block_on(storage.get_ranges(&key(), &[SPAN, ByteRange::Suffix(5)], ReadVersion::Any, u64::MAX));
        assert_eq!(reply.unwrap().unwrap().bytes, [vec![9; 5], vec![9; 5]], "{name}");
        server.insert("/bucket/a/c/0", &VALUE[..]);
        server.heal();
    }
}

#[test]
fn redirections_are_followed_only_for_web_servers() {
    let (server, [(_, bucket), (_, web)]) = both();
    let other = Server::http();
    other.insert("/there", &VALUE[..]);
    for status in [301, 302, 307, 308] {
        server.heal();
        server.script(When::on("GET", "a/c/0"), Fault::redirect(status, &other.url("/there")));
        assert_eq!(read(&web, SPAN).unwrap().unwrap(), VALUE[2..7], "{status}");
        let e = read(&bucket, SPAN).unwrap_err();
        assert_eq!(e.kind(), StoreErrorKind::Io, "{status}: {e:#}");
    }
    server.heal();
    server.script(When::on("GET", "a/c/0"), Fault::redirect(302, &server.url("/bucket/a/c/0")));
    let e = read(&web, SPAN).unwrap_err();
    assert!(format!("{e:#}").contains("redirect"), "in a circle: {e:#}");
    // the region from S3's answer
    server.heal();
    server.script(When::any(), Fault::answer(301, &[("x-amz-bucket-region", "eu-west-3")], ""));
    let e = read(&bucket, SPAN).unwrap_err();
    assert!(format!("{e:#}").contains("in the region \"eu-west-3\""), "{e:#}");
}

#[test]
fn bytes_in_another_coding_are_refused() {
    let (server, [_, (_, web)]) = both();
    server.script(When::any(), Fault::header("Content-Encoding", "gzip"));
    let e = read(&web, ByteRange::All).unwrap_err();
    assert_eq!(e.kind(), StoreErrorKind::Unsupported, "{e:#}");
}

#[test]
fn the_size_is_known_without_head() {
    let (server, [_, (_, web)]) = both();
    server.script(When::on("HEAD", ""), Fault::status(405));
    assert_eq!(block_on(web.size(&key())).unwrap(), Some(1000));
    server.insert("/bucket/a/c/0", "");
    assert_eq!(block_on(web.size(&key())).unwrap(), Some(0));
}

#[test]
fn a_forbidden_object_is_absent_only_with_the_option() {
    let (server, [_, (_, web)]) = both();
    server.script(When::any(), Fault::status(403));
    assert_eq!(read(&web, SPAN).unwrap_err().kind(), StoreErrorKind::PermissionDenied);
    let lenient = opened(&server.url("/bucket"), &Access::new().forbidden_is_absent(true));
    assert_eq!(read(&lenient, SPAN).unwrap(), None);
}

/// A put, its fault, and its result.
#[test]
fn writes_are_applied_once_or_not_at_all_and_report_which() {
    let new = Bytes::from_static(b"the new value");
    let lost = || Fault::Reset.applied();
    let failed = || Fault::status(500).applied();
    let always = usize::MAX;
    // conditional: times, fault, done (None: an error of that kind), is the new value there, requests PUT HEAD GET
    type Case = (&'static str, usize, Fault, Result<bool, StoreErrorKind>, bool, [usize; 3]);
    let cases: Vec<Case> = vec![
        ("the answer is lost", 1, lost(), Ok(true), true, [1, 1, 0]),
        ("applied, but the answer is 500", 1, failed(), Ok(true), true, [1, 1, 0]),
        ("not applied, 500", 1, Fault::status(500), Ok(true), true, [2, 1, 0]),
        ("not applied, 503", 2, Fault::status(503), Ok(true), true, [3, 2, 0]),
        ("reset before it is applied", 1, Fault::Reset, Ok(true), true, [2, 1, 0]),
        ("never", always, Fault::status(500), Err(StoreErrorKind::Uncertain), false, [3, 3, 0]),
        ("forbidden", always, Fault::status(403), Err(StoreErrorKind::PermissionDenied), false, [1, 0, 0]),
        ("another was quicker", always, Fault::status(412), Ok(false), false, [1, 0, 0]),
    ];
    for create in [true, false] {
        for (name, times, fault, done, there, requests) in cases.clone() {
            let (server, [(_, bucket), _]) = both();
            let version = block_on(bucket.head(&key())).unwrap().unwrap().version.unwrap();
            if create {
                server.remove("/bucket/a/c/0");
            }
            server.forget();
            server.script(When::on("PUT", "").first(times), fault);
            let how = if create { PutMode::Create } else { PutMode::IfUnchanged(&version) };
            let outcome = block_on(bucket.put_if(&key(), std::slice::from_ref(&new), how));
            match (done, outcome) {
                (Ok(true), Ok(Outcome::Done(_))) | (Ok(false), Ok(Outcome::Conflict)) => {}
                (Err(kind), Err(e)) => assert_eq!(e.kind(), kind, "{name}, {create}: {e:#}"),
                (_, outcome) => panic!("{name}, {create}: {outcome:?}"),
            }
            let old = (!create).then(|| Bytes::from_static(&VALUE));
            let value = server.get("/bucket/a/c/0");
            assert_eq!(value, if there { Some(new.clone()) } else { old }, "{name}, {create}");
            let log = server.requests();
            let count = |method: &str| log.iter().filter(|request| request.method == method).count();
            let counts = [count("PUT"), count("HEAD"), count("GET")];
            // a 412 to Create does not prove that there is an object: one more request
            let requests = if create && name == "another was quicker" { [3, 3, 0] } else { requests };
            assert_eq!(counts, requests, "{name}, {create}");
        }
    }
    for (times, fault, puts) in [(2, Fault::status(500), 3), (1, lost(), 2), (1, Fault::Reset, 2)] {
        let (server, [(_, bucket), _]) = both();
        server.script(When::on("PUT", "").first(times), fault);
        block_on(bucket.put(&key(), new.clone())).unwrap();
        assert_eq!(server.get("/bucket/a/c/0"), Some(new.clone()));
        assert_eq!(server.requests().iter().filter(|request| request.method == "PUT").count(), puts);
    }
}

#[test]
fn large_values_are_uploaded_in_parts_and_become_visible_at_the_end() {
    let server = Server::s3();
    // Long time limits, because this takes long on a busy machine.
    let bucket = opened("s3://bucket", &s3(&server.url("")));
    let large = Bytes::from((0..(65 << 20) / 4).flat_map(u32::to_le_bytes).collect::<Vec<u8>>());
    let sent = |method: &str| server.requests().iter().filter(|request| request.method == method).count();
    server.forget();
    block_on(bucket.put(&key(), large.clone())).unwrap();
    assert_eq!([sent("POST"), sent("PUT")], [2, 5], "begin and end, and parts of 16 MiB");
    assert!(server.get("/bucket/a/c/0") == Some(large.clone()));

    server.insert("/bucket/a/c/0", "old");
    server.forget();
    server.script(When::on("PUT", "").nth(2), Fault::status(403));
    let e = block_on(bucket.put(&key(), large)).unwrap_err();
    assert_eq!(e.kind(), StoreErrorKind::PermissionDenied, "{e:#}");
    assert_eq!(server.get("/bucket/a/c/0").unwrap(), "old");
    assert_eq!(sent("DELETE"), 1, "the uploaded parts are deleted");
}

#[test]
fn a_large_value_whose_completion_gets_no_answer_is_put() {
    let server = Server::s3();
    let bucket = opened("s3://bucket", &s3(&server.url("")));
    let large = Bytes::from(vec![7; 65 << 20]);
    // The first request completes the upload but its answer is lost; the retry finds no upload.
    server.script(When::on("POST", "uploadId").first(1), Fault::Reset.applied());
    block_on(bucket.put(&key(), large.clone())).unwrap();
    assert!(server.get("/bucket/a/c/0") == Some(large));
}

#[test]
fn errors_and_traces_contain_no_credentials() {
    use std::sync::{Arc, Mutex};
    let server = Server::s3();
    let told = Arc::new(Mutex::new(String::new()));
    let sink = told.clone();
    let trace =
        zarr_store::Trace::new(move |request| sink.lock().unwrap().push_str(&format!("{request:?}\n")));
    let secrets = ["TOPSECRET", "TOPKEY", "TOPSIG", "TOPUSER"];
    let access = brief(Access::new())
        .environment(
            [("AWS_ACCESS_KEY_ID", "TOPKEY"), ("AWS_SECRET_ACCESS_KEY", "TOPSECRET")]
                .map(|(name, value)| (name.to_owned(), value.to_owned())),
        )
        .trace(trace);
    let host = server.address();
    let storages = [
        opened("s3://bucket", &access.clone().endpoint(format!("http://TOPUSER:TOPSECRET@{host}"))),
        opened(&format!("http://TOPUSER:TOPSECRET@{host}/bucket?sig=TOPSIG"), &access),
    ];
    for fault in [
        Fault::status(500),
        Fault::status(403),
        Fault::Reset,
        Fault::Cut(1),
        Fault::redirect(302, "http://127.0.0.1:1/x?sig=TOPSIG"),
        Fault::answer(400, &[], "TOPSECRET"),
    ] {
        server.heal();
        server.script(When::any(), fault.clone());
        for storage in &storages {
            let e = read(storage, SPAN).unwrap_err();
            let shown = format!("{e:#} {e:?} {storage:?} {access:?}");
            for secret in secrets {
                assert!(!shown.contains(secret), "{fault:?}: {shown}");
            }
        }
    }
    let told = told.lock().unwrap();
    assert!(told.lines().count() > 10);
    assert!(secrets.iter().all(|secret| !told.contains(secret)), "{told}");
}
