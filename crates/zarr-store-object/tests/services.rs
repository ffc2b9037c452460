//! Requests to the services, and the results of their answers. The answers follow the documentation of the services:
//! "Error responses" and the pages of the operations in the Amazon S3 API Reference, the XML API of Google Cloud
//! Storage, the Blob service REST API of Azure.

use crate::common::{self, Answer, Asked, Server, brief, buckets, key, refused};
use zarr_store_object::object_store::path::Path;
use zarr_traits::StoreErrorKind::{self, Io, PermissionDenied, RangeNotSatisfiable, Unavailable, Uncertain};
use zarr_traits::{
    ByteRange, Bytes, Storage, Version, block_on,
    store::{Copied, Outcome, PutMode, ReadVersion},
};

const SERVICES: [&str; 3] = ["s3", "gs", "az"];

/// Opens a storage of this service over `server`.
fn storage(service: &str, server: &Server) -> Storage {
    let access = brief().retries(0);
    buckets(server, &access).into_iter().find(|(name, _)| *name == service).unwrap().1
}

/// Makes a server that sends these answers one after the other.
fn answering(answers: Vec<Answer>) -> Server {
    Server::numbered(move |n, asked| {
        answers.get(n).unwrap_or_else(|| panic!("unexpected: {asked:?}")).clone()
    })
}

/// Returns each request as its method, its target, and these headers.
fn sent(server: &Server, headers: &[&str]) -> Vec<String> {
    let line = |asked: &Asked| {
        let found =
            headers.iter().filter_map(|name| asked.header(name).map(|value| format!(" {name}={value}")));
        format!("{} {}{}", asked.method, asked.target, found.collect::<String>())
    };
    server.asked().iter().map(line).collect()
}

/// Returns the target of an object.
fn target(service: &str, name: &str) -> String {
    let path = Path::from(name);
    // Google requires encoded slashes within a name.
    let name = if service == "gs" { path.as_ref().replace('/', "%2F") } else { path.to_string() };
    format!("/bucket/{}", name.replace(' ', "%20").replace('#', "%23"))
}

/// Returns an answer about an object, with the headers that each service adds.
fn about(service: &str, status: u16) -> Answer {
    let answer = Answer::new(status).header("Last-Modified", "Fri, 20 Nov 2026 10:00:00 GMT");
    match service {
        "s3" => answer.header("ETag", "\"9b2cf535f27731c974343645a3985328\"").header("x-amz-request-id", "1"),
        "gs" => answer
            .header("ETag", "\"ea8f1c2f\"")
            .header("x-goog-generation", "1757")
            .header("x-goog-metageneration", "1"),
        _ => answer.header("ETag", "\"0x8D4BCC2E4835CD0\"").header("x-ms-blob-type", "BlockBlob"),
    }
}

fn read(storage: &Storage, range: ByteRange) -> Result<(Option<Bytes>, Option<Version>), StoreErrorKind> {
    let reply = block_on(storage.get_ranges(&key("a b/c#0"), &[range], ReadVersion::Report, u64::MAX));
    match reply.map_err(|e| e.kind())? {
        Some(reply) => Ok((Some(reply.bytes[0].clone()), reply.version)),
        None => Ok((None, None)),
    }
}

#[test]
fn ranges_are_requested_in_the_form_of_each_service() {
    for service in SERVICES {
        let target = target(service, "a b/c#0");
        let part = |told: &str, body: &str| about(service, 206).header("Content-Range", told).body(body);
        let size = about(service, 200).declared(10);
        let span = ByteRange::Span { offset: 2, len: 3 };
        let mut table = vec![
            (ByteRange::All, "0123456789", vec![about(service, 200).body("0123456789")], vec!["GET"]),
            (span, "234", vec![part("bytes 2-4/10", "234")], vec!["GET bytes=2-4"]),
            (ByteRange::Suffix(0), "", vec![size.clone()], vec!["HEAD"]),
        ];
        table.push(match service {
            // Azure has no suffix ranges.
            "az" => (
                ByteRange::Suffix(2),
                "89",
                vec![size, part("bytes 8-9/10", "89")],
                vec!["HEAD", "GET bytes=8-9"],
            ),
            _ => (ByteRange::Suffix(2), "89", vec![part("bytes 8-9/10", "89")], vec!["GET bytes=-2"]),
        });
        for (range, bytes, answers, requests) in table {
            let server = answering(answers);
            let (read, version) = read(&storage(service, &server), range).unwrap();
            assert_eq!(
                (read.unwrap(), version.is_some()),
                (Bytes::from(bytes), true),
                "{service}, {range:?}"
            );
            let expected: Vec<String> = requests
                .iter()
                .map(|request| match request.split_once(' ') {
                    Some((method, range)) => format!("{method} {target} range={range}"),
                    None => format!("{request} {target}"),
                })
                .collect();
            assert_eq!(sent(&server, &["range"]), expected, "{service}, {range:?}");
        }
    }
}

/// The condition of a put in the form of each service, and the mark that identifies the put.
#[test]
fn conditions_are_sent_in_the_form_of_each_service() {
    for (service, tag, create, update) in [
        ("s3", "\"9b2cf535f27731c974343645a3985328\"", "if-none-match=*", "if-match="),
        ("gs", "1757", "x-goog-if-generation-match=0", "x-goog-if-generation-match="),
        ("az", "\"0x8D4BCC2E4835CD0\"", "if-none-match=*", "if-match="),
    ] {
        let target = target(service, "a b/c#0");
        let server =
            answering(vec![about(service, 200).declared(10), about(service, 201), about(service, 201)]);
        let storage = storage(service, &server);
        let version = block_on(storage.head(&key("a b/c#0"))).unwrap().unwrap().version.unwrap();
        for how in [PutMode::Create, PutMode::IfUnchanged(&version)] {
            let put = block_on(storage.put_if(&key("a b/c#0"), &["value".into()], how)).unwrap();
            assert_eq!(put, Outcome::Done(Some(version.clone())), "{service}");
        }
        let headers = ["if-match", "if-none-match", "x-goog-if-generation-match"];
        let expected = [
            format!("HEAD {target}"),
            format!("PUT {target} {create}"),
            format!("PUT {target} {update}{tag}"),
        ];
        assert_eq!(sent(&server, &headers), expected, "{service}");
        let mark = |asked: &Asked| {
            let found = asked.headers.iter().find(|(name, _)| name.ends_with("-meta-zarrput"));
            found.map(|(_, value)| value.clone()).unwrap_or_default()
        };
        let marks: Vec<String> = server.asked().iter().map(mark).collect();
        assert!(marks[0].is_empty() && marks[1].len() == 33 && marks[2].len() == 16, "{service}: {marks:?}");
        assert_ne!(marks[1], marks[2], "{service}");
    }
}

#[test]
fn errors_of_reads_are_distinguished_by_their_codes() {
    let size = RangeNotSatisfiable { size: 2 };
    let table: [(&str, u16, &str, Result<(), StoreErrorKind>); 18] = [
        // Only objects can be absent.
        ("s3", 404, "NoSuchKey", Ok(())),
        ("s3", 404, "NoSuchBucket", Err(Io)),
        ("gs", 404, "NoSuchKey", Ok(())),
        ("gs", 404, "NoSuchBucket", Err(Io)),
        ("az", 404, "BlobNotFound", Ok(())),
        ("az", 404, "ContainerNotFound", Err(Io)),
        ("s3", 403, "AccessDenied", Err(PermissionDenied)),
        ("s3", 403, "SignatureDoesNotMatch", Err(PermissionDenied)),
        ("s3", 400, "ExpiredToken", Err(PermissionDenied)),
        ("gs", 401, "AuthenticationRequired", Err(PermissionDenied)),
        ("az", 403, "AuthenticationFailed", Err(PermissionDenied)),
        ("s3", 503, "SlowDown", Err(Unavailable)),
        ("gs", 429, "SlowDown", Err(Unavailable)),
        ("az", 503, "ServerBusy", Err(Unavailable)),
        ("s3", 301, "PermanentRedirect", Err(Io)),
        ("s3", 416, "InvalidRange", Err(size)),
        ("gs", 416, "InvalidRange", Err(size)),
        ("az", 416, "InvalidRange", Err(size)),
    ];
    for (service, status, code, expected) in table {
        let server = Server::new(move |asked| match (asked.method.as_str(), status) {
            ("HEAD", 416) => about(service, 200).declared(2),
            _ => refused(status, code)
                .header("x-amz-bucket-region", "eu-west-3")
                .header("Content-Range", "bytes */2"),
        });
        let storage = storage(service, &server);
        let reply = block_on(storage.get_ranges(
            &key("k"),
            &[ByteRange::Span { offset: 2, len: 3 }],
            ReadVersion::Any,
            u64::MAX,
        ));
        match (reply, expected) {
            (Ok(None), Ok(())) => {}
            (Err(e), Err(kind)) => {
                assert_eq!(e.kind(), kind, "{service}, {status}, {code}: {e:#}");
                let named = matches!(kind, RangeNotSatisfiable { .. }) || format!("{e:#}").contains(code);
                assert!(named && !format!("{e:#}").contains("secret"), "{service}, {status}, {code}: {e:#}");
            }
            (reply, _) => panic!("{service}, {status}, {code}: {reply:?}"),
        }
    }
    let server =
        Server::new(|_| refused(301, "PermanentRedirect").header("x-amz-bucket-region", "eu-west-3"));
    let e = block_on(storage("s3", &server).get(&key("k"), u64::MAX)).unwrap_err();
    assert!(format!("{e:#}").contains("the bucket is in the region \"eu-west-3\""), "{e:#}");
}

#[test]
fn a_condition_that_does_not_hold_is_a_conflict() {
    for (service, create, status, code) in [
        ("s3", true, 412, "PreconditionFailed"),
        ("s3", true, 409, "ConditionalRequestConflict"),
        ("s3", false, 412, "PreconditionFailed"),
        ("s3", false, 404, "NoSuchKey"),
        ("gs", true, 412, "PreconditionFailed"),
        ("gs", false, 412, "PreconditionFailed"),
        ("az", true, 409, "BlobAlreadyExists"),
        ("az", false, 412, "ConditionNotMet"),
    ] {
        let server = Server::new(move |asked| match asked.method.as_str() {
            "HEAD" => about(service, 200).declared(10),
            _ => refused(status, code),
        });
        let storage = storage(service, &server);
        let version = block_on(storage.head(&key("k"))).unwrap().unwrap().version.unwrap();
        let how = if create { PutMode::Create } else { PutMode::IfUnchanged(&version) };
        let put = block_on(storage.put_if(&key("k"), &["value".into()], how));
        assert_eq!(put.unwrap(), Outcome::Conflict, "{service}, create: {create}, {status}");
        assert_eq!(server.count("PUT"), 1);
    }
}

fn xml(body: &str) -> Answer {
    Answer::new(200).header("Content-Type", "application/xml").body(body)
}

/// The requests for a value of 80 MiB: begin, five parts, complete.
fn upload(service: &str, asked: &Asked) -> Answer {
    match (service, asked.method.as_str(), asked.parameter("uploads").is_some()) {
        ("az", "PUT", _) => about(service, 201),
        (_, "POST", true) => {
            xml("<InitiateMultipartUploadResult><Bucket>bucket</Bucket><Key>k</Key><UploadId>u</UploadId>\
             </InitiateMultipartUploadResult>")
        }
        (_, "PUT", _) => about(service, 200),
        (_, "POST", _) => {
            xml("<CompleteMultipartUploadResult><ETag>\"whole-5\"</ETag></CompleteMultipartUploadResult>")
        }
        (_, "DELETE", _) => Answer::new(204),
        _ => refused(404, "NoSuchKey"),
    }
}

fn put_large(service: &str, server: &Server) -> Result<(), StoreErrorKind> {
    block_on(storage(service, server).put(&key("k"), vec![0; 80 << 20])).map_err(|e| e.kind())
}

#[test]
fn large_values_are_put_in_parts() {
    for service in SERVICES {
        let server = Server::new(move |asked| upload(service, asked));
        put_large(service, &server).unwrap();
        let asked = server.asked();
        let parts = asked.iter().filter(|asked| asked.method == "PUT" && asked.length == 16 << 20).count();
        let others: Vec<&str> =
            asked.iter().filter(|asked| asked.length != 16 << 20).map(|asked| &*asked.method).collect();
        // Azure puts blocks, and then a list of them.
        let expected = if service == "az" { vec!["PUT"] } else { vec!["POST", "POST"] };
        assert_eq!((parts, others), (5, expected), "{service}");
        let marked = |asked: &Asked| asked.headers.iter().any(|(name, _)| name.ends_with("-meta-zarrput"));
        assert_eq!(asked.iter().filter(|asked| marked(asked)).count(), 1, "{service}");
    }
}

/// A failed upload is aborted. If the completion gets no answer, the upload may be complete; the mark tells.
#[test]
fn a_failed_upload_is_aborted() {
    type Script = fn(&Asked) -> Option<Answer>;
    let table: [(&str, Script, StoreErrorKind); 4] = [
        (
            "a part",
            |asked| (asked.parameter("partNumber") == Some("3")).then(|| refused(403, "AccessDenied")),
            PermissionDenied,
        ),
        (
            "the first request",
            |asked| asked.parameter("uploads").map(|_| refused(403, "AccessDenied")),
            PermissionDenied,
        ),
        ("the last request", |asked| completes(asked).then(|| refused(500, "InternalError")), Uncertain),
        // S3 begins to answer before it knows the result.
        (
            "the last request, answered 200",
            |asked| completes(asked).then(|| xml("<Error><Code>InternalError</Code></Error>")),
            Uncertain,
        ),
    ];
    for (what, script, kind) in table {
        let server = Server::new(move |asked| script(asked).unwrap_or_else(|| upload("s3", asked)));
        assert_eq!(put_large("s3", &server), Err(kind), "{what}");
        assert_eq!(server.count("DELETE"), usize::from(what != "the first request"), "{what}");
    }
}

fn completes(asked: &Asked) -> bool {
    asked.method == "POST" && asked.parameter("uploadId").is_some()
}

#[test]
fn a_completed_upload_without_an_answer_is_done() {
    for ours in [true, false] {
        let mark = std::sync::Mutex::new("another".to_owned());
        let server = Server::new(move |asked| {
            if asked.parameter("uploads").is_some() && ours {
                *mark.lock().unwrap() = asked.header("x-amz-meta-zarrput").unwrap().to_owned();
            }
            match asked.method.as_str() {
                "HEAD" => {
                    about("s3", 200).declared(80 << 20).header("x-amz-meta-zarrput", &mark.lock().unwrap())
                }
                _ if completes(asked) => refused(404, "NoSuchUpload"),
                _ => upload("s3", asked),
            }
        });
        assert_eq!(put_large("s3", &server).is_ok(), ours);
        assert_eq!(server.count("GET"), 0, "the value is not read back");
    }
}

#[test]
fn deletes_are_sent_in_the_form_of_each_service() {
    let batch = "--batch_1\r\nContent-Type: application/http\r\nContent-ID: 0\r\n\r\nHTTP/1.1 202 Accepted\r\n\
                 x-ms-delete-type-permanent: true\r\nx-ms-request-id: 1\r\nx-ms-version: 2023-11-03\r\n\r\n--batch_1--\r\n";
    let gone = batch
        .replace("202 Accepted", "404 The specified blob does not exist.\r\nx-ms-error-code: BlobNotFound");
    let deleted = xml("<DeleteResult><Deleted><Key>k</Key></Deleted></DeleteResult>");
    let denied = xml(
        "<DeleteResult><Error><Key>k</Key><Code>AccessDenied</Code><Message>no</Message></Error></DeleteResult>",
    );
    let other = |code: &str| {
        xml(&format!("<DeleteResult><Error><Key>other</Key><Code>{code}</Code></Error></DeleteResult>"))
    };
    let of_another =
        |status: &str| batch.replace("Content-ID: 0", "content-id:  1").replace("202 Accepted", status);
    let mixed =
        |body: &str| Answer::new(202).header("Content-Type", "multipart/mixed; boundary=batch_1").body(body);
    for (service, answer, expected, request) in [
        ("s3", deleted, Ok(()), "POST /bucket?delete"),
        ("s3", denied, Err(PermissionDenied), "POST /bucket?delete"),
        ("s3", other("AccessDenied"), Err(PermissionDenied), "POST /bucket?delete"),
        ("s3", other("InternalError"), Err(Uncertain), "POST /bucket?delete"),
        ("s3", refused(403, "AccessDenied"), Err(PermissionDenied), "POST /bucket?delete"),
        ("gs", Answer::new(204), Ok(()), "DELETE /bucket/k"),
        ("gs", refused(404, "NoSuchKey"), Ok(()), "DELETE /bucket/k"),
        ("gs", refused(403, "AccessDenied"), Err(PermissionDenied), "DELETE /bucket/k"),
        ("az", mixed(batch), Ok(()), "POST /bucket?restype=container&comp=batch"),
        ("az", mixed(&gone), Ok(()), "POST /bucket?restype=container&comp=batch"),
        ("az", mixed(&of_another("403 No")), Err(Uncertain), "POST /bucket?restype=container&comp=batch"),
        ("az", mixed(&of_another("404 No")), Err(Uncertain), "POST /bucket?restype=container&comp=batch"),
    ] {
        let what = format!("{service}, {answer:?}");
        let server = answering(vec![answer]);
        let storage = storage(service, &server);
        let outcome = block_on(storage.delete_if(&key("k"), None));
        assert_eq!(outcome.map(|_| ()).map_err(|e| e.kind()), expected, "{what}");
        assert_eq!(sent(&server, &[]), [request], "{what}");
        // There is no conditional delete.
        let outcome = block_on(storage.delete_if(&key("k"), Some(&Version::new(*b"v"))));
        assert_eq!(outcome.unwrap_err().kind(), StoreErrorKind::Unsupported, "{what}");
    }
}

/// The headers and the answers of copies, and what becomes of an answer that tells of an error behind the status 200.
#[test]
fn copies_are_made_by_the_service_where_it_can() {
    let body = |text: &str| Answer::new(200).header("Content-Type", "application/xml").body(text);
    let done = || body("<CopyObjectResult><ETag>\"1\"</ETag></CopyObjectResult>");
    let failed = |code: &str| body(&format!("<?xml version=\"1.0\"?><Error><Code>{code}</Code></Error>"));
    let broken = || failed("InternalError");
    for (service, answer, expected, header) in [
        ("s3", done(), Ok(Copied::Done), "x-amz-copy-source=bucket/a%20b/c%230"),
        ("s3", refused(404, "NoSuchKey"), Ok(Copied::Absent), "x-amz-copy-source=bucket/a%20b/c%230"),
        ("s3", refused(403, "AccessDenied"), Err(PermissionDenied), "x-amz-copy-source=bucket/a%20b/c%230"),
        ("s3", broken(), Err(Uncertain), "x-amz-copy-source=bucket/a%20b/c%230"),
        ("s3", failed("AccessDenied"), Err(PermissionDenied), "x-amz-copy-source=bucket/a%20b/c%230"),
        ("gs", done(), Ok(Copied::Done), "x-goog-copy-source=bucket/a%20b%2Fc%230"),
        ("gs", refused(404, "NoSuchKey"), Ok(Copied::Absent), "x-goog-copy-source=bucket/a%20b%2Fc%230"),
        ("gs", broken(), Err(Uncertain), "x-goog-copy-source=bucket/a%20b%2Fc%230"),
        ("gs", failed("AccessDenied"), Err(PermissionDenied), "x-goog-copy-source=bucket/a%20b%2Fc%230"),
    ] {
        let what = format!("{service}, {answer:?}");
        let server = answering(vec![answer]);
        let handle = || storage(service, &server);
        let copied = block_on(handle().copy_from(&handle(), &key("a b/c#0"), &key("k")));
        assert_eq!(copied.map_err(|e| e.kind()), expected, "{what}");
        let headers = ["x-amz-copy-source", "x-goog-copy-source"];
        assert_eq!(sent(&server, &headers), [format!("PUT /bucket/k {header}")], "{what}");
    }
    // A copy within Azure may still be under way when it is answered.
    let server = Server::new(|asked| panic!("{asked:?}"));
    let [s3, google, azure] = SERVICES.map(|service| storage(service, &server));
    for (from, to) in [(&azure, &azure), (&s3, &google), (&google, &s3)] {
        let copied = block_on(to.copy_from(from, &key("a"), &key("b")));
        assert_eq!(copied.unwrap(), Copied::Unable);
    }
}

#[test]
fn wrong_urls_are_refused_before_anything_is_sent() {
    let server = Server::new(|asked| panic!("{asked:?}"));
    for (url, words) in [
        ("s3://", "names no bucket"),
        ("gs:///a", "names no bucket"),
        ("s3://user:password@bucket/a", "holds credentials"),
        ("az://container:80/a", "holds credentials, or a port"),
        ("s3://bucket/a.zarr?token=secret", "\"s3://bucket/a.zarr?…\" has a query"),
        ("gs://bucket?X-Goog-Signature=secret", "\"gs://bucket?…\" has a query"),
        ("az://container/a?sv=2025&sig=secret", "has a query"),
        ("abfs://container@account.dfs.core.windows.net/a?sig=secret", "has a query"),
        ("s3://bucket/a//b", "no key begins with this prefix"),
        ("http://", "not a URL of a web server"),
    ] {
        let e = common::open(url, &brief().anonymous(true).endpoint(server.url(""))).unwrap_err();
        assert_eq!(e.kind(), StoreErrorKind::InvalidArgument, "{url}: {e:#}");
        assert!(!format!("{e:#} {e:?}").contains("secret"), "{e:#}");
        assert!(format!("{e:#}").contains(words), "{url}: {e:#}");
    }
}
