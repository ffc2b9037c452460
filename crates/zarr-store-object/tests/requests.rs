//! What is sent, how often, and what is recorded.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use crate::common::{self, Answer, Asked, Server, all, at_once, brief, key, object, refused, web};
use zarr_store::{Access, Trace, TracedRequest};
use zarr_traits::{
    ByteRange, Prefix, Storage, StoreErrorKind, block_on,
    store::{PutMode, ReadVersion},
};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Call {
    Read,
    ReadPart,
    Size,
    Put,
    Delete,
}

fn make(storage: &Storage, call: Call) -> Result<(), StoreErrorKind> {
    let key = key("a b/k");
    let part = [ByteRange::Span { offset: 2, len: 3 }];
    let result = block_on(async {
        match call {
            Call::Read => storage.get(&key, u64::MAX).await.map(|_| ()),
            Call::ReadPart => storage.get_ranges(&key, &part, ReadVersion::Any, u64::MAX).await.map(|_| ()),
            Call::Size => storage.head(&key).await.map(|_| ()),
            Call::Put => storage.put_if(&key, &["value".into()], PutMode::Replace).await.map(|_| ()),
            Call::Delete => storage.delete_if(&key, None).await.map(|_| ()),
        }
    });
    result.map_err(|e| e.kind())
}

const CALLS: [Call; 5] = [Call::Read, Call::ReadPart, Call::Size, Call::Put, Call::Delete];

/// The longest time cannot be added to.
#[test]
fn an_operation_may_have_any_time() {
    let value = vec![7; 300_000];
    let served = value.clone();
    let server = Server::new(move |asked| match asked.is_list() {
        true => {
            let object = "<Contents><Key>a</Key><LastModified>2026-11-20T10:00:00Z</LastModified><Size>1</Size></Contents>";
            let next = if asked.parameter("continuation-token").is_none() { "t" } else { "" };
            Answer::new(200).body(format!(
                "<ListBucketResult>{}<NextContinuationToken>{next}</NextContinuationToken></ListBucketResult>",
                object.repeat(200)
            ))
        }
        false if asked.method == "PUT" => Answer::new(200).header("ETag", "\"tag\""),
        false => object(asked, &served),
    });
    let [s3, ..] = all(&server, &brief().timeout(Duration::MAX));
    let (_, storage) = s3;
    assert!(block_on(storage.get(&key("k"), u64::MAX)).unwrap().unwrap() == value);
    block_on(storage.put(&key("k"), value)).unwrap();
    assert_eq!(block_on(storage.list_dir(&Prefix::root())).unwrap().objects.len(), 1);
}

/// 1795168800 is the time in the answers of `object`.
#[test]
fn a_version_says_the_entity_tag_and_the_time_of_the_last_change() {
    let server = Server::new(|asked| object(asked, b"value"));
    for (name, storage) in all(&server, &brief()) {
        let reply = block_on(storage.get_ranges(&key("k"), &[ByteRange::All], ReadVersion::Report, 9));
        let version = reply.unwrap().and_then(|reply| reply.version).unwrap();
        let modified = version.modified().map(|time| time.duration_since(SystemTime::UNIX_EPOCH).unwrap());
        assert_eq!(
            (version.etag(), modified),
            (Some("tag"), Some(Duration::from_secs(1_795_168_800))),
            "{name}"
        );
    }
    let server = Server::new(|_| Answer::new(200).header("ETag", "\"tag\"").body("value"));
    let [.., (_, web)] = all(&server, &brief());
    let reply = block_on(web.get_ranges(&key("k"), &[ByteRange::All], ReadVersion::Report, 9));
    assert_eq!(reply.unwrap().unwrap().version.unwrap().modified(), None);
}

/// An operation on a silent server ends after the whole time, whatever the number of retries, and not before.
#[test]
fn the_time_of_an_operation_is_the_given_one() {
    let second = Duration::from_secs(1);
    let cases = [(0, second * 3), (1, second * 3), (4, second * 3), (0, second * 7 / 10)];
    at_once(cases, |(retries, delay)| {
        let server = Server::new(move |asked| object(asked, b"value").after(delay));
        at_once(all(&server, &Access::new().retries(retries).timeout(second)), |(name, storage)| {
            let began = Instant::now();
            let read = block_on(storage.get(&key("k"), u64::MAX));
            let (took, what) = (began.elapsed(), format!("{name}, {retries} retries, {delay:?}: {read:?}"));
            if delay < second {
                assert_eq!(read.unwrap().unwrap(), "value", "{what}");
                return;
            }
            let message = format!("{:#}", read.unwrap_err());
            assert!(message.contains("no bytes were received for"), "{what}");
            assert!(retries > 0 || message.contains("for 1.0 s"), "{what}");
            // A pause that would end too late is not begun.
            assert!(took > second * 8 / 10 && took < second * 5 / 2, "{what}: after {took:?}");
        });
    });
}

/// A store with two retries makes three attempts, for every operation and service.
#[test]
fn only_temporary_failures_are_retried() {
    use StoreErrorKind::{Io, PermissionDenied, Unavailable, Uncertain, Unsupported};
    // the status, the error of a read and of a write, and whether it is retried
    let statuses = [
        (500, Unavailable, Uncertain, true),
        (502, Unavailable, Uncertain, true),
        (503, Unavailable, Uncertain, true),
        (504, Unavailable, Uncertain, true),
        (408, Unavailable, Uncertain, true),
        (429, Unavailable, Unavailable, true),
        (400, Io, Io, false),
        (401, PermissionDenied, PermissionDenied, false),
        (403, PermissionDenied, PermissionDenied, false),
        (501, Unsupported, Unsupported, false),
    ];
    at_once(statuses, |(status, read, write, again)| {
        let server = Server::new(move |_| refused(status, "Scripted"));
        for (name, storage) in all(&server, &brief()) {
            for call in CALLS {
                // The way from a status to another attempt is the same for all operations and services.
                let calls = if status == 429 { &[Call::Size, Call::Put][..] } else { &[Call::Size] };
                if again && status != 500 && (name != "s3" || !calls.contains(&call)) {
                    continue;
                }
                if name == "http" && matches!(call, Call::Put | Call::Delete) {
                    assert_eq!(make(&storage, call), Err(Unsupported));
                    continue;
                }
                let what = format!("{status}, {name}, {call:?}");
                let before = server.asked().len();
                let expected = if matches!(call, Call::Put | Call::Delete) { write } else { read };
                assert_eq!(make(&storage, call), Err(expected), "{what}");
                let sent = server.asked().split_off(before);
                // A part that cannot be read may be followed by a request for the size: the first requests count.
                let same = |asked: &&Asked| {
                    asked.method == sent[0].method && asked.header("range") == sent[0].header("range")
                };
                assert_eq!(sent.iter().filter(same).count(), if again { 3 } else { 1 }, "{what}: {sent:?}");
            }
        }
    });
}

#[test]
fn a_successful_attempt_ends_the_retries() {
    let answers = [refused(500, "InternalError"), refused(429, "TooManyRequests"), Answer::lost()];
    at_once(answers, |answer| {
        let server = Server::numbered(move |n, asked| match (n % 3 < 2, asked.method.as_str()) {
            (true, _) => answer.clone(),
            (false, "DELETE") => Answer::new(204),
            (false, "PUT") => Answer::new(201).header("ETag", "\"new\""),
            (false, _) => object(asked, b"0123456789"),
        });
        for (name, storage) in all(&server, &brief()) {
            for call in CALLS {
                let one_by_one =
                    !matches!((name, call), ("http", Call::Put | Call::Delete) | ("s3" | "az", Call::Delete));
                if one_by_one {
                    assert_eq!(make(&storage, call), Ok(()), "{name}, {call:?}");
                }
            }
        }
    });
}

/// Each attempt is recorded, with the bytes sent and received.
#[test]
fn every_attempt_is_recorded() {
    let records = Arc::new(Mutex::new(Vec::new()));
    let sink = records.clone();
    let trace = Trace::new(move |request: &TracedRequest| sink.lock().unwrap().push(request.clone()));
    let server = Server::numbered(|n, asked| match n {
        0 => refused(503, "SlowDown"),
        1 => Answer::lost(),
        _ => object(asked, b"0123456789"),
    });
    let access = brief().anonymous(true).endpoint(server.url("")).trace(trace);
    let storage = common::open("s3://bucket", &access).unwrap();
    make(&storage, Call::ReadPart).unwrap();
    make(&storage, Call::Put).unwrap();
    make(&storage, Call::Size).unwrap();
    let records = records.lock().unwrap();
    let target = server.url("/bucket/a%20b/k");
    for (record, (method, range, status, sent, received, attempt)) in records.iter().zip([
        ("GET", Some("bytes=2-4"), "503", 0, refused(503, "SlowDown").len(), 1),
        ("GET", Some("bytes=2-4"), "the connection broke", 0, 0, 2),
        ("GET", Some("bytes=2-4"), "206", 0, 3, 3),
        ("PUT", None, "200", 5, 10, 1),
        ("HEAD", None, "200", 0, 0, 1),
    ]) {
        assert_eq!((&*record.method, record.range.as_deref()), (method, range), "{record:?}");
        assert!(record.status.starts_with(status), "{record:?}");
        assert_eq!((record.sent, record.received, record.attempt), (sent, received, attempt), "{record:?}");
        assert!(record.target == target && record.began.as_secs() > 1_700_000_000, "{record:?}");
    }
    assert_eq!(records.len(), 5);
}

/// Some services ask for a pause. A very long pause ends the request.
#[test]
fn a_requested_pause_is_kept_or_the_request_fails() {
    let pauses = [
        ("0", 3),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 3),
        ("soon", 3),
        ("3600", 1),
        ("99999999999999999999", 3),
    ];
    at_once(pauses, |(after, requests)| {
        let server = Server::new(move |_| refused(503, "SlowDown").header("Retry-After", after));
        assert_eq!(make(&web(&server), Call::Read), Err(StoreErrorKind::Unavailable), "{after}");
        assert_eq!(server.asked().len(), requests, "{after}");
    });
}
