//! Google Cloud Storage by what it answers: no server speaks its XML interface closely enough, so that the answers here are
//! written after its documentation, and what is checked is what we send and how we read them.
#![allow(clippy::unwrap_used, reason = "these are tests")]

mod common;

use common::opened;
use zarr_services::{Fault, Server, When};
use zarr_traits::{Access, ByteRange, Bytes, ReadVersion, Key, Outcome, PutMode, Storage, StoreErrorKind, block_on};

fn google() -> (Server, Storage) {
    let server = Server::writable_http();
    let token = [("GOOGLE_BEARER_TOKEN".to_owned(), "token".to_owned())];
    let access = Access::new().environment(token).endpoint(server.url("")).retries(1);
    let storage = opened("gs://bucket/below", &access);
    (server, storage)
}

fn key() -> Key {
    Key::new("a b/c#0").unwrap()
}

/// What Google adds to an answer about an object.
const OBJECT: [(&str, &str); 4] = [
    ("ETag", "\"ea8f1c2f\""),
    ("x-goog-generation", "1757"),
    ("x-goog-metageneration", "1"),
    ("Last-Modified", "Fri, 20 Nov 2026 10:00:00 GMT"),
];

#[test]
fn a_part_is_read_and_its_generation_is_known() {
    let (server, storage) = google();
    let range = [("Content-Range", "bytes 2-4/10")];
    let headers: Vec<_> = OBJECT.into_iter().chain(range).collect();
    server.script(When::any(), Fault::answer(206, &headers, "234"));
    let ranges = [ByteRange::Span { offset: 2, len: 3 }];
    let reply = block_on(storage.get_ranges(&key(), &ranges, ReadVersion::Report, u64::MAX)).unwrap().unwrap();
    assert_eq!((&reply.bytes[0][..], reply.size), (&b"234"[..], Some(10)));
    let sent = &server.requests()[0];
    assert_eq!((sent.method.as_str(), sent.target.as_str()), ("GET", "/bucket/below%2Fa%20b%2Fc%230"));
    assert_eq!(sent.header("authorization"), Some("Bearer token"));
    assert_eq!(sent.header("range"), Some("bytes=2-4"));

    // an update names the generation, and a creation the one that means none
    server.heal();
    server.forget();
    server.script(When::any(), Fault::answer(200, &[("ETag", "\"new\""), ("x-goog-generation", "1758")], ""));
    let version = reply.version.unwrap();
    let put =
        |how| block_on(storage.put_if(&key(), &[Bytes::from_static(b"new")], how)).unwrap();
    assert!(matches!(put(PutMode::IfUnchanged(&version)), Outcome::Done(Some(_))));
    assert!(matches!(put(PutMode::Create), Outcome::Done(Some(_))));
    let sent = server.requests();
    let conditions: Vec<_> = sent.iter().map(|put| put.header("x-goog-if-generation-match")).collect();
    assert_eq!(conditions, [Some("1757"), Some("0")]);
}

#[test]
fn what_it_refuses_is_a_conflict_and_nothing_else() {
    let (server, storage) = google();
    let xml = |code: &str| format!("<?xml version='1.0'?><Error><Code>{code}</Code></Error>");
    let put = |how| block_on(storage.put_if(&key(), &[Bytes::from_static(b"new")], how));
    let head = Fault::answer(200, &OBJECT, "");
    server.script(When::on("PUT", ""), Fault::answer(412, &[], xml("PreconditionFailed")));
    server.script(When::on("HEAD", ""), head);
    assert_eq!(put(PutMode::Create).unwrap(), Outcome::Conflict);
    for (status, code, kind) in [
        (403, "AccessDenied", StoreErrorKind::PermissionDenied),
        (404, "NoSuchBucket", StoreErrorKind::Io),
        (503, "ServiceUnavailable", StoreErrorKind::Unavailable),
    ] {
        server.heal();
        let xml = Fault::answer(status, &[("Content-Type", "application/xml")], xml(code));
        server.script(When::any(), xml);
        let e = block_on(storage.get(&key())).unwrap_err();
        assert_eq!(e.kind(), kind, "{e}");
        assert!(e.to_string().contains(code), "{e}");
    }
    server.heal();
    let absent = Fault::answer(404, &[("Content-Type", "application/xml")], xml("NoSuchKey"));
    server.script(When::any(), absent);
    assert_eq!(block_on(storage.get(&key())).unwrap(), None);
}
