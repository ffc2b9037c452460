//! Nothing from a server is held before it is known to be within bounds: bodies of any length, declared or not, whole
//! objects, ranges, errors, redirects.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::common::double::Double;
use crate::common::{Answer, Asked, Server, all, brief, key, object, refused, web};
use zarr_store_object::ObjectStorage;
use zarr_traits::StoreErrorKind::{self, Io, PermissionDenied, TooLarge, Unavailable, Unsupported};
use zarr_traits::{ByteRange, Bytes, Storage, StoreResult, block_on, store::ReadVersion};

/// The bytes in socket buffers, which may have been sent without being read.
const BUFFERED: u64 = 32 << 20;
const SPAN: ByteRange = ByteRange::Span { offset: 3, len: 5 };

fn read(storage: &Storage, range: ByteRange) -> StoreResult<Option<Bytes>> {
    let reply = block_on(storage.get_ranges(&key("k"), &[range], ReadVersion::Any, u64::MAX))?;
    Ok(reply.map(|reply| reply.bytes[0].clone()))
}

/// Checks the result of reading [`SPAN`] in all stores, and that no more of the answer is sent than buffers hold.
fn check(
    what: &str,
    answer: impl Fn(&Asked) -> Answer + Send + Sync + 'static,
    expected: Result<Option<&str>, StoreErrorKind>,
) {
    let server = Server::new(answer);
    for (name, storage) in all(&server, &brief()) {
        let before = server.sent();
        match (read(&storage, SPAN), expected) {
            (Ok(bytes), Ok(expected)) => {
                assert_eq!(bytes.as_deref(), expected.map(str::as_bytes), "{what}, {name}")
            }
            (Err(e), Err(kind)) => assert_eq!(e.kind(), kind, "{what}, {name}: {e:#}"),
            (read, _) => panic!("{what}, {name}: {read:?}"),
        }
        let sent = server.sent() - before;
        assert!(sent < BUFFERED * 3, "{what}, {name}: {sent} bytes were sent");
    }
}

fn whole() -> Answer {
    Answer::new(200).header("ETag", "\"tag\"").header("Last-Modified", "Fri, 20 Nov 2026 10:00:00 GMT")
}

fn part(told: &str) -> Answer {
    whole().status(206).header("Content-Range", told)
}

#[test]
fn a_server_without_ranges_is_read_up_to_the_end_of_the_range() {
    let head = |asked: &Asked, size: usize, answer: Answer| match asked.method.as_str() {
        "HEAD" => object(asked, &vec![0; size]),
        _ => answer,
    };
    check("small", |_| whole().body("0123456789"), Ok(Some("34567")));
    check("ends with the range", |_| whole().body("01234567"), Ok(Some("34567")));
    check(
        "large",
        move |asked| head(asked, 10, whole().body("0123456789").declared(1 << 40).endless()),
        Ok(Some("34567")),
    );
    check(
        "too short",
        |asked| object(asked, b"0123").status(if asked.method == "HEAD" { 200 } else { 416 }),
        Err(StoreErrorKind::RangeNotSatisfiable { size: 4 }),
    );
    check(
        "of unknown size",
        move |asked| head(asked, 10, whole().body("0123456789").endless()),
        Err(Unsupported),
    );
    let server = Server::new(|asked| {
        if asked.method == "HEAD" { object(asked, b"0123456789") } else { whole().body("0123456789") }
    });
    for (name, storage) in all(&server, &brief()) {
        assert_eq!(read(&storage, ByteRange::Suffix(4)).unwrap().unwrap(), "6789", "{name}");
        assert_eq!(read(&storage, ByteRange::Suffix(40)).unwrap().unwrap(), "0123456789", "{name}");
    }
}

/// Only 206 says that the body is a part.
#[test]
fn an_answer_with_another_success_is_a_whole_object() {
    check("small", |_| whole().status(203).body("0123456789"), Ok(Some("34567")));
    let end = u64::MAX;
    for told in [format!("bytes {end}-{end}/{end}"), "bytes 3-7/10".to_owned()] {
        let told = told.clone();
        let answer = move |_: &Asked| part(&told).status(203).body("34567");
        check("a part", answer, Err(StoreErrorKind::RangeNotSatisfiable { size: 5 }));
    }
    check("nothing", |_| whole().status(204), Err(StoreErrorKind::RangeNotSatisfiable { size: 0 }));
}

#[test]
fn a_part_is_not_taken_for_the_whole_object() {
    for (told, body, fits) in [
        ("bytes 0-9/10", "0123456789", true),
        ("bytes 0-4/10", "01234", false),
        ("bytes 5-9/10", "56789", false),
        ("bytes 0-4/*", "01234", false),
        ("nonsense", "01234", false),
    ] {
        let server = Server::new(move |_| part(told).body(body));
        for (name, storage) in all(&server, &brief().retries(0)) {
            match read(&storage, ByteRange::All) {
                Ok(bytes) => assert!(fits && bytes.unwrap() == body, "{told}, {name}"),
                Err(e) => assert!(!fits && e.kind() == Unavailable, "{told}, {name}: {e:#}"),
            }
        }
    }
}

/// The length in the head has no meaning beside chunks.
#[test]
fn the_size_of_an_object_is_that_of_its_bytes() {
    let server =
        Server::new(|_| whole().header("Transfer-Encoding", "chunked").body("a\r\n0123456789\r\n0\r\n\r\n"));
    let web = web(&server);
    let reply =
        block_on(web.get_ranges(&key("k"), &[ByteRange::All], ReadVersion::Any, 100)).unwrap().unwrap();
    assert_eq!((reply.bytes[0].as_ref(), reply.size), (&b"0123456789"[..], Some(10)));
}

#[test]
fn an_answer_with_more_than_the_range_is_refused() {
    check("in chunks", |_| part("bytes 3-7/10").body("34567").endless(), Err(TooLarge { size: None }));
    check(
        "declared",
        |_| part("bytes 3-7/10").body("34567").declared(1 << 40).endless(),
        Err(TooLarge { size: None }),
    );
    check("of another range", |_| part("bytes 3-9/10").body("3456789"), Err(TooLarge { size: None }));
    check("of fewer bytes", |_| part("bytes 3-5/10").body("345"), Err(Unavailable));
    // Bytes behind the declared length are not part of the answer.
    check("longer than declared", |_| part("bytes 3-7/10").body("34567890").declared(5), Ok(Some("34567")));
    check("shorter than declared", |_| part("bytes 3-7/10").body("345").declared(5), Err(Unavailable));
}

#[test]
fn the_body_of_an_error_is_read_up_to_a_limit() {
    let long = |status: u16, code: &str| refused(status, code).endless();
    check("absent", move |_| long(404, "NoSuchKey"), Ok(None));
    check("forbidden", move |_| long(403, "AccessDenied"), Err(PermissionDenied));
    check("wrong", move |_| long(400, "InvalidRequest").declared(1 << 40), Err(Io));
    check("busy", move |_| long(503, "SlowDown"), Err(Unavailable));
}

#[test]
fn a_whole_object_is_read_up_to_the_limit() {
    let value = || Bytes::from(vec![7; 1000]);
    let storage = |double: Double| ObjectStorage::new(Arc::new(double)).unwrap();
    let double = Double::default();
    double.put("k", Box::leak("7".repeat(1000).into_boxed_str()));
    let store = Storage::from(storage(double.clone()));
    let get =
        |ranges: &[ByteRange], most| block_on(store.get_ranges(&key("k"), ranges, ReadVersion::Any, most));
    let span = |offset, len| ByteRange::Span { offset, len };
    for (ranges, most, sizes) in [
        (vec![ByteRange::All], 1000, Ok(vec![1000])),
        (vec![ByteRange::All], 999, Err(["1000 bytes", "most"])),
        (vec![ByteRange::All], 0, Err(["1000 bytes", "0"])),
        (vec![ByteRange::All, span(0, 10)], 1010, Ok(vec![1000, 10])),
        (vec![ByteRange::All, span(0, 10)], 1009, Err(["1000 bytes", "most"])),
        (vec![ByteRange::All, ByteRange::All], 2000, Ok(vec![1000, 1000])),
        (vec![ByteRange::All, ByteRange::All], 1999, Err(["1999 bytes", "limit"])),
        (vec![span(0, 10), span(20, 10)], 20, Ok(vec![10, 10])),
        (vec![span(0, 10), span(20, 10)], 19, Err(["20 bytes", "19"])),
        (vec![ByteRange::Suffix(10)], 10, Ok(vec![10])),
        (vec![ByteRange::Suffix(10)], 9, Err(["1000 bytes", "9"])),
        (
            vec![span(0, u64::MAX), span(1, u64::MAX)],
            u64::MAX - 1,
            Err(["18446744073709551615 bytes", "18446744073709551614"]),
        ),
        (vec![], 0, Ok(vec![])),
    ] {
        match (get(&ranges, most), sizes) {
            (Ok(reply), Ok(sizes)) => {
                let reply = reply.unwrap();
                assert_eq!(
                    reply.bytes.iter().map(Bytes::len).collect::<Vec<_>>(),
                    sizes,
                    "{ranges:?}, {most}"
                );
            }
            (Err(e), Err(words)) => {
                assert!(
                    matches!(e.kind(), TooLarge { .. }) && e.key() == Some("k"),
                    "{ranges:?}, {most}: {e:#}"
                );
                assert!(
                    words.iter().all(|word| format!("{e:#}").contains(word)),
                    "{ranges:?}, {most}: {e:#}"
                );
            }
            (reply, _) => panic!("{ranges:?}, {most}: {reply:?}"),
        }
    }
    let gets = double.gets.load(Ordering::SeqCst);
    let _ = get(&[span(0, 10), span(20, 10)], 19);
    assert_eq!(double.gets.load(Ordering::SeqCst), gets, "a read that cannot fit makes no request");
    assert_eq!(value().len(), 1000);
}

/// If its length is declared, the body is not read; otherwise it is read up to the limit.
#[test]
fn a_whole_object_that_is_too_large_is_not_received() {
    for declared in [Some(1 << 40), None] {
        let server = Server::new(move |_| {
            let answer = whole().body("0123456789").endless();
            declared.map_or(answer.clone(), |length| answer.declared(length))
        });
        for (name, storage) in all(&server, &brief()) {
            let before = server.sent();
            let e = block_on(storage.get(&key("k"), 1000)).unwrap_err();
            assert!(matches!(e.kind(), TooLarge { .. }), "{name}: {e:#}");
            assert!(server.sent() - before < BUFFERED, "{name}");
        }
    }
}

#[test]
fn an_object_within_the_limit_is_received_in_any_form() {
    let value: Vec<u8> = (0..3 << 20).map(|n: u32| n.to_le_bytes()[n as usize % 3]).collect();
    let served = value.clone();
    let server = Server::new(move |asked| object(asked, &served));
    for (name, storage) in all(&server, &brief()) {
        assert!(read(&storage, ByteRange::All).unwrap().unwrap() == value, "{name}");
        let whole = block_on(storage.get(&key("k"), value.len() as u64)).unwrap().unwrap();
        assert!(whole == value, "{name}");
        let span = ByteRange::Span { offset: 7, len: 2 << 20 };
        assert!(read(&storage, span).unwrap().unwrap() == value[7..7 + (2 << 20)], "{name}");
    }
}

#[test]
fn redirects_are_followed_ten_times() {
    for (times, followed) in [(0, true), (1, true), (10, true), (11, false), (1000, false)] {
        let server = Server::numbered(move |n, asked| match n < times {
            true => Answer::new(302).header("Location", &format!("/{n}")),
            false => object(asked, b"0123456789"),
        });
        match read(&web(&server), SPAN) {
            Ok(bytes) => assert!(followed && bytes.unwrap() == "34567", "{times}"),
            Err(e) => {
                assert!(
                    !followed && e.kind() == Io && format!("{e:#}").contains("redirect"),
                    "{times}: {e:#}"
                )
            }
        }
        assert_eq!(server.count("GET"), (times + 1).min(11), "{times}");
    }
}
