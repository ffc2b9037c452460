//! The results of conditional puts with lost answers: `Done` if this put was applied, `Conflict` if not, and an error
//! of kind `Uncertain` if that is unknown (contract of stores, rule 11).

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::common::double::Other::{self, Deletes, Hides, Nothing, Puts};
use crate::common::double::Step::{Applied, Dropped, Forbidden, Pass};
use crate::common::double::{Double, Step};
use crate::common::{Answer, Server, key, object, refused, s3};
use zarr_store_object::ObjectStorage;
use zarr_traits::StoreErrorKind::{self, PermissionDenied, Unavailable, Uncertain};
use zarr_traits::{
    ByteRange, Bytes, Storage, StoreError, block_on,
    store::{Outcome, PutMode, ReadVersion},
};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Told {
    Done,
    Conflict,
    Error(StoreErrorKind),
}

/// Puts "ours" at `k`. Unless it creates the object, the value before is "before".
fn put(storage: &Storage, create: bool) -> Told {
    let stat = block_on(storage.head(&key("k"))).unwrap_or_default();
    let version = stat.and_then(|stat| stat.version);
    let how = if create { PutMode::Create } else { PutMode::IfUnchanged(version.as_ref().unwrap()) };
    match block_on(storage.put_if(&key("k"), &[Bytes::from("ours")], how)) {
        Ok(Outcome::Conflict) => Told::Conflict,
        Ok(_) => Told::Done,
        Err(e) => Told::Error(e.kind()),
    }
}

/// The script, the reported result, the value afterwards, and the number of sent puts.
type Case = (&'static [(Step, Other)], Told, Option<&'static str>, usize);

fn check(cases: &[Case], create: bool, own_retries: bool) {
    for (script, told, there, puts) in cases {
        let what = format!("{script:?}, create: {create}, own retries: {own_retries}");
        let double = Double::new(script);
        if !create {
            double.put("k", "before");
        }
        let store = ObjectStorage::new(Arc::new(double.clone())).unwrap();
        let store = if own_retries { store.with_own_retries() } else { store };
        assert_eq!(put(&Storage::from(store), create), *told, "{what}");
        assert_eq!(double.value("k").as_deref(), *there, "{what}");
        assert_eq!(double.puts.load(Ordering::SeqCst), *puts, "{what}");
    }
}

const ALWAYS_DROPPED: &[(Step, Other)] = &[(Dropped, Nothing); 9];

#[test]
fn a_put_with_an_unknown_result_is_uncertain() {
    // for both kinds of puts
    let cases: [Case; 7] = [
        (&[(Pass, Nothing)], Told::Done, Some("ours"), 1),
        (&[(Applied, Nothing)], Told::Done, Some("ours"), 1),
        (&[(Dropped, Nothing)], Told::Done, Some("ours"), 2),
        // The other writer may have replaced our value, or the one before.
        (&[(Applied, Puts("other"))], Told::Error(Uncertain), Some("other"), 1),
        (&[(Dropped, Puts("other"))], Told::Error(Uncertain), Some("other"), 1),
        (&[(Forbidden, Nothing), (Pass, Nothing)], Told::Error(PermissionDenied), None, 1),
        (&[(Dropped, Nothing), (Forbidden, Nothing)], Told::Error(Uncertain), None, 2),
    ];
    check(
        &cases.map(|case| if case.2.is_none() { (case.0, case.1, Some("before"), case.3) } else { case }),
        false,
        false,
    );
    check(&cases, true, false);
    check(
        &[
            (&[(Applied, Deletes)], Told::Error(Uncertain), None, 1),
            (&[(Applied, Hides)], Told::Error(Uncertain), Some("ours"), 1),
            (ALWAYS_DROPPED, Told::Error(Uncertain), Some("before"), 5),
        ],
        false,
        false,
    );
    // An object that was created and deleted again is created once more.
    check(&[(&[(Applied, Deletes)], Told::Done, Some("ours"), 2)], true, false);
}

/// Two writers may put the same bytes; only one of the puts was applied.
#[test]
fn equal_bytes_of_another_writer_are_not_ours() {
    let cases: [Case; 2] = [
        (&[(Dropped, Puts("ours"))], Told::Error(Uncertain), Some("ours"), 1),
        (&[(Applied, Puts("ours"))], Told::Error(Uncertain), Some("ours"), 1),
    ];
    check(&cases, false, false);
    check(&cases, true, false);
}

/// A refused put was not applied, in any state of the object.
#[test]
fn a_refused_put_is_not_uncertain_even_if_reads_fail() {
    let double = Double::new(&[(Pass, Hides)]);
    double.put("k", "other");
    let storage = Storage::from(ObjectStorage::new(Arc::new(double)).unwrap());
    assert_eq!(put(&storage, true), Told::Error(StoreErrorKind::Io));
}

#[test]
fn a_put_refused_at_the_first_attempt_is_a_conflict() {
    for value in ["other", "ours"] {
        let double = Double::new(&[]);
        double.put("k", value);
        let storage = Storage::from(ObjectStorage::new(Arc::new(double.clone())).unwrap());
        assert_eq!(put(&storage, true), Told::Conflict, "{value}");
        let version = block_on(storage.head(&key("k"))).unwrap().unwrap().version.unwrap();
        double.put("k", "another");
        let mode = PutMode::IfUnchanged(&version);
        let outcome = block_on(storage.put_if(&key("k"), &["ours".into()], mode)).unwrap();
        assert_eq!(outcome, Outcome::Conflict, "{value}");
    }
}

/// A client with its own retries may be refused because of its own first request.
#[test]
fn a_store_with_its_own_retries_recognizes_only_its_own_writes() {
    let double = Double::new(&[]);
    double.put("k", "other");
    let storage = ObjectStorage::new(Arc::new(double.clone())).unwrap().with_own_retries();
    assert_eq!(put(&Storage::from(storage), true), Told::Error(Uncertain));
    check(&[(&[(Pass, Nothing)], Told::Done, Some("ours"), 1)], true, true);
}

/// Answers of S3 to puts, and their results. The stored mark is that of the last put, or none.
#[test]
fn answers_of_s3_to_conditional_puts() {
    let always = usize::MAX;
    // the number of such answers, the answer, whether the put is applied, the result, the number of puts
    let table = [
        (1, Answer::lost(), true, Told::Done, 1),
        (1, Answer::lost(), false, Told::Done, 2),
        (1, refused(500, "InternalError"), true, Told::Done, 1),
        (1, refused(500, "InternalError"), false, Told::Done, 2),
        (1, refused(503, "SlowDown"), false, Told::Done, 2),
        (always, refused(503, "SlowDown"), false, Told::Error(Uncertain), 3),
        // A throttled request was not applied: it is sent again without inspecting the object.
        (1, refused(429, "TooManyRequests"), false, Told::Done, 2),
        (always, refused(429, "TooManyRequests"), false, Told::Error(Unavailable), 3),
        // Another writer puts at the same time; S3 does not say which one won.
        (1, refused(409, "ConditionalRequestConflict"), false, Told::Done, 2),
        (always, refused(409, "ConditionalRequestConflict"), false, Told::Conflict, 3),
        (always, refused(412, "PreconditionFailed"), false, Told::Conflict, 1),
        (always, refused(404, "NoSuchKey"), false, Told::Conflict, 1),
        (always, refused(403, "AccessDenied"), false, Told::Error(PermissionDenied), 1),
        (always, refused(404, "NoSuchBucket"), false, Told::Error(StoreErrorKind::Io), 1),
    ];
    for (times, answer, applied, told, puts) in table {
        let what = format!("{times} times {answer:?}, applied: {applied}");
        let mark = std::sync::Mutex::new(None::<(String, String)>);
        let left = std::sync::atomic::AtomicUsize::new(times);
        let server = Server::new(move |asked| {
            if asked.method != "PUT" {
                let answer = object(asked, b"value");
                return match mark.lock().unwrap().as_ref() {
                    Some((name, value)) => answer.header(name, value).header("x-new", "1"),
                    None => answer,
                };
            }
            let faulty = left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1)).is_ok();
            if !faulty || applied {
                *mark.lock().unwrap() =
                    asked.headers.iter().find(|(n, _)| n.starts_with("x-amz-meta-")).cloned();
            }
            if faulty { answer.clone() } else { Answer::new(200).header("ETag", "\"new\"") }
        });
        assert_eq!(put(&s3(&server), false), told, "{what}");
        assert_eq!(server.count("PUT"), puts, "{what}");
        let conditions = server.asked();
        let conditions =
            conditions.iter().filter(|asked| asked.method == "PUT").map(|asked| asked.header("if-match"));
        assert!(conditions.into_iter().all(|tag| tag == Some("\"tag\"")), "{what}");
    }
}

/// An object of S3 with conditional puts. Its tag depends on the content alone. Of ten puts, the answers to three are lost,
/// whether they were applied or refused.
fn lossy() -> Server {
    let object = std::sync::Mutex::new(None::<(Vec<u8>, Vec<(String, String)>)>);
    let puts = std::sync::atomic::AtomicUsize::new(0);
    Server::new(move |asked| {
        let mut object = object.lock().unwrap();
        let tag = |bytes: &[u8]| {
            let hash = bytes.iter().fold(7_u64, |hash, byte| hash.wrapping_mul(31) ^ u64::from(*byte));
            format!("\"{hash:x}\"")
        };
        let now = object.as_ref().map(|(bytes, _)| tag(bytes));
        if asked.method != "PUT" {
            let Some((bytes, marks)) = &*object else { return refused(404, "NoSuchKey") };
            let answer = Answer::new(200)
                .header("ETag", &tag(bytes))
                .header("Last-Modified", "Fri, 20 Nov 2026 10:00:00 GMT");
            let answer = marks.iter().fold(answer, |answer, (name, value)| answer.header(name, value));
            let is_head = asked.method == "HEAD";
            return if is_head { answer.declared(bytes.len()) } else { answer.body(bytes.clone()) };
        }
        let holds = match asked.header("if-match") {
            Some(wanted) => now.as_deref() == Some(wanted),
            None => asked.header("if-none-match") == Some("*") && now.is_none(),
        };
        let answer = if holds {
            let is_mark = |(name, _): &&(String, String)| name.starts_with("x-amz-meta-");
            *object = Some((asked.body.clone(), asked.headers.iter().filter(is_mark).cloned().collect()));
            Answer::new(200).header("ETag", &tag(&asked.body))
        } else {
            refused(412, "PreconditionFailed")
        };
        let n = puts.fetch_add(1, Ordering::SeqCst);
        if n * 7 % 10 < 3 { Answer::lost() } else { answer }
    })
}

/// Appends a line to the object. Returns the error if that is uncertain.
fn append(storage: &Storage, line: &str) -> Option<StoreError> {
    let key = key("k");
    loop {
        let read = storage.get_ranges(&key, &[ByteRange::All], ReadVersion::Report, 1 << 20);
        let read = block_on(read).unwrap();
        let text = read.as_ref().map_or("", |read| std::str::from_utf8(&read.bytes[0]).unwrap());
        let version = read.as_ref().and_then(|read| read.version.as_ref());
        let how = version.map_or(PutMode::Create, PutMode::IfUnchanged);
        match block_on(storage.put_if(&key, &[format!("{text}{line}\n").into()], how)) {
            Ok(Outcome::Conflict) => {}
            Ok(_) => return None,
            Err(e) => return Some(e),
        }
    }
}

/// Other writers replace the value of a put before its writer looks what became of it.
#[test]
fn appends_with_lost_answers_are_done_once_beside_other_writers() {
    const EACH: usize = 48;
    let server = lossy();
    let errors: Vec<StoreError> = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..3)
            .map(|writer| {
                let storage = s3(&server);
                let appends = (0..EACH).map(move |n| append(&storage, &format!("{writer} {n}")));
                scope.spawn(move || appends.flatten().collect::<Vec<_>>())
            })
            .collect();
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect()
    });
    assert!(errors.is_empty(), "{errors:?}");
    let text = block_on(s3(&server).get(&key("k"), 1 << 20)).unwrap().unwrap();
    let mut lines: Vec<&str> = std::str::from_utf8(&text).unwrap().lines().collect();
    lines.sort_unstable();
    let mut expected: Vec<String> =
        (0..3).flat_map(|writer| (0..EACH).map(move |n| format!("{writer} {n}"))).collect();
    expected.sort_unstable();
    assert_eq!(lines, expected);
}
