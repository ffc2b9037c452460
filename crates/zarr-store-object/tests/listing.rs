//! Listings are complete and ascending for stores with any order, and bounded for any answers.

use std::sync::Arc;
use std::time::Duration;

use crate::common::double::Double;
use crate::common::{Answer, Asked, Server, all, brief, buckets, deleted, key, open, prefix, s3};
use zarr_store_object::ObjectStorage;
use zarr_store_object::object_store::local::LocalFileSystem;
use zarr_traits::StoreErrorKind::{Io, LimitExceeded, TooLarge, Unavailable, Unsupported};
use zarr_traits::{Key, Prefix, Storage, StoreResult, block_on, store::Dir};

fn list_all(storage: &Storage, below: &str) -> StoreResult<Vec<String>> {
    let keys = block_on(storage.list_all(&prefix(below)))?;
    Ok(keys.into_iter().map(|listed| String::from(listed.key)).collect())
}

fn keys_of(dir: &Dir) -> Vec<Key> {
    dir.objects.iter().map(|listed| listed.key.clone()).collect()
}

fn list_dir(storage: &Storage, below: &str) -> StoreResult<Dir> {
    block_on(storage.list_dir(&prefix(below)))
}

/// Directories of a file system are read in the order on the disk.
#[test]
fn a_store_that_lists_in_any_order_is_listed_completely() {
    let folder = tempfile::tempdir().unwrap();
    for directory in 0..50 {
        let path = folder.path().join(format!("c/{directory}"));
        std::fs::create_dir_all(&path).unwrap();
        for file in 0..100 {
            std::fs::write(path.join(file.to_string()), "").unwrap();
        }
    }
    let files = LocalFileSystem::new_with_prefix(folder.path()).unwrap();
    let storage = Storage::from(ObjectStorage::new(Arc::new(files)).unwrap());
    let mut expected: Vec<String> = (0..5000).map(|n| format!("c/{}/{}", n / 100, n % 100)).collect();
    expected.sort_unstable();
    assert!(list_all(&storage, "").unwrap() == expected);
    assert!(
        list_all(&storage, "c/7/").unwrap()
            == expected.iter().filter(|k| k.starts_with("c/7/")).cloned().collect::<Vec<_>>()
    );
    let dir = list_dir(&storage, "c/").unwrap();
    assert!(dir.objects.is_empty() && dir.prefixes.len() == 50 && dir.prefixes.is_sorted());
    let dir = list_dir(&storage, "c/7/").unwrap();
    assert!(dir.objects.len() == 100 && dir.prefixes.is_empty() && keys_of(&dir).is_sorted());
    block_on(storage.delete_prefix(&prefix("c/"))).unwrap();
    assert_eq!(list_all(&storage, "").unwrap(), [""; 0]);
}

#[test]
fn a_listing_beyond_the_memory_limit_is_an_error() {
    let double = Double::default();
    for n in 0..100 {
        double.put(&format!("c/{n}"), "");
    }
    let storage = ObjectStorage::new(Arc::new(double)).unwrap();
    for (most, fits) in [(100 * 100, true), (2000, false)] {
        let storage = Storage::from(storage.clone().with_listing_limit(most));
        match (list_all(&storage, ""), list_dir(&storage, "c/")) {
            (Ok(keys), Ok(dir)) => assert!(fits && keys.len() == 100 && dir.objects.len() == 100),
            (Err(e), Err(f)) => {
                assert!(!fits && e.kind() == LimitExceeded && f.kind() == LimitExceeded, "{e:#}, {f}");
                assert!(format!("{e:#}").contains("2000"), "{e:#}");
            }
            (keys, dir) => panic!("{keys:?}, {dir:?}"),
        }
    }
}

#[test]
fn objects_that_mark_folders_are_not_listed() {
    let double = Double::default();
    for (path, value) in [("a", ""), ("a-b", "1"), ("a/b", "1"), ("c", ""), ("d/e", ""), ("d/e/f", "")] {
        double.put(path, value);
    }
    let storage = Storage::from(ObjectStorage::new(Arc::new(double)).unwrap());
    assert_eq!(list_all(&storage, "").unwrap(), ["a-b", "a/b", "c", "d/e/f"]);
    let dir = list_dir(&storage, "").unwrap();
    assert_eq!((keys_of(&dir), dir.prefixes), (vec![key("a-b"), key("c")], vec![prefix("a/"), prefix("d/")]));
}

/// Returns a page as S3 (and Google) or Azure write it.
fn page(asked: &Asked, keys: &[&str], prefixes: &[&str], token: Option<&str>) -> Answer {
    let is_azure = asked.parameter("comp").is_some();
    let date = if is_azure { "Fri, 20 Nov 2026 10:00:00 GMT" } else { "2026-11-20T10:00:00Z" };
    let items: String = keys
        .iter()
        .map(|key| match is_azure {
            true => format!(
                "<Blob><Name>{key}</Name><Properties><Last-Modified>{date}</Last-Modified><Content-Length>1\
                 </Content-Length><Content-Type>x</Content-Type></Properties></Blob>"
            ),
            false => format!(
                "<Contents><Key>{key}</Key><LastModified>{date}</LastModified><Size>1</Size></Contents>"
            ),
        })
        .collect();
    let groups: String = prefixes
        .iter()
        .map(|prefix| match is_azure {
            true => format!("<BlobPrefix><Name>{prefix}</Name></BlobPrefix>"),
            false => format!("<CommonPrefixes><Prefix>{prefix}</Prefix></CommonPrefixes>"),
        })
        .collect();
    let token = token.unwrap_or_default();
    let text = match is_azure {
        true => format!(
            "<EnumerationResults><Blobs>{items}{groups}</Blobs><NextMarker>{token}</NextMarker>\
             </EnumerationResults>"
        ),
        false => format!(
            "<ListBucketResult>{items}{groups}<NextContinuationToken>{token}</NextContinuationToken>\
             </ListBucketResult>"
        ),
    };
    Answer::new(200).header("Content-Type", "application/xml").body(text)
}

fn token(asked: &Asked) -> Option<&str> {
    asked.parameter("continuation-token").or(asked.parameter("marker"))
}

#[test]
fn services_are_listed_page_by_page() {
    let server = Server::new(|asked| {
        let is_dir = asked.parameter("delimiter").is_some();
        let behind = asked.parameter("start-after").map(|after| after.replace("%2F", "/"));
        match (token(asked), behind.as_deref()) {
            _ if !asked.is_list() => Answer::new(404),
            (None, None) if is_dir => page(asked, &["a/0"], &["a/1/"], Some("t")),
            (Some("t"), None) if is_dir => page(asked, &["a/2"], &["a/3/"], None),
            (None, None) => page(asked, &["a/0", "a/1/x"], &[], Some("t")),
            (Some("t"), None) => page(asked, &["a/2", "a/3/y"], &[], None),
            // S3 and Google start again behind a key. Their first page may be empty with more to come.
            (None, Some("a/1/x")) => page(asked, &[], &[], Some("u")),
            (Some("u"), Some("a/1/x")) => page(asked, &["a/2", "a/3/y"], &[], None),
            other => panic!("{other:?}"),
        }
    });
    for (name, storage) in buckets(&server, &brief()) {
        assert_eq!(list_all(&storage, "a/").unwrap(), ["a/0", "a/1/x", "a/2", "a/3/y"], "{name}");
        let dir = list_dir(&storage, "a/").unwrap();
        assert_eq!(keys_of(&dir), [key("a/0"), key("a/2")], "{name}");
        assert_eq!(dir.prefixes, [prefix("a/1/"), prefix("a/3/")], "{name}");
        assert!(server.asked().iter().all(|asked| asked.parameter("prefix") == Some("a%2F")), "{name}");
    }
}

/// Azure with a hierarchical namespace, and directory buckets of S3, have their own order.
#[test]
fn unordered_services_are_listed_whole_and_sorted() {
    let server = Server::new(|asked| match token(asked) {
        None => page(asked, &["a/x", "a-b"], &[], Some("t")),
        Some("t") => page(asked, &["c", "b"], &[], None),
        other => panic!("{other:?}"),
    });
    let [.., (_, azure)] = buckets(&server, &brief());
    let access = brief().anonymous(true).endpoint(server.url(""));
    let express = open("s3://bucket--use1-az4--x-s3", &access).unwrap();
    for storage in [azure, express] {
        assert_eq!(list_all(&storage, "").unwrap(), ["a-b", "a/x", "b", "c"]);
    }
    // From a service that should list in order this is an error: keys could be missing unnoticed.
    let e = list_all(&s3(&server), "").unwrap_err();
    assert_eq!(e.kind(), Io, "{e:#}");
    assert!(format!("{e:#}").contains("order"), "{e:#}");
}

#[test]
fn an_endless_listing_is_an_error() {
    type Script = fn(usize, &Asked) -> Answer;
    let scripts: [(&str, Script, usize); 5] = [
        ("the same token", |_, asked| page(asked, &["a"], &["b/"], Some("t")), 2),
        ("the same names", |n, asked| page(asked, &["a"], &["b/"], Some(&n.to_string())), 1001),
        ("no names", |n, asked| page(asked, &[], &[], Some(&n.to_string())), 1001),
        ("names that no key can have", |n, asked| page(asked, &[&format!("{n:09}\\")], &[], Some("t")), 1001),
        ("two tokens in turn", |n, asked| page(asked, &[], &[], Some(["t", "u"][n % 2])), 1001),
    ];
    for (number, (what, script, most)) in scripts.into_iter().enumerate() {
        let server = Server::numbered(script);
        let buckets = buckets(&server, &brief().timeout(Duration::from_secs(600)));
        // A thousand pages take long: one service stands for all three.
        let chosen = if most > 2 { number % 3..number % 3 + 1 } else { 0..3 };
        for (name, storage) in &buckets[chosen] {
            let before = server.asked().len();
            let listed = match *name {
                "gs" => list_dir(storage, "").map(|_| ()),
                _ => list_all(storage, "").map(|_| ()),
            };
            let e = listed.unwrap_err();
            assert!(matches!(e.kind(), Io | LimitExceeded), "{what}, {name}: {e:#}");
            let requests = server.asked().len() - before;
            assert!(requests <= most + 1, "{what}, {name}: {requests} requests");
        }
    }
}

/// Each page takes a moment, and its names do not earn the time that it takes.
#[test]
fn a_listing_ends_with_the_time_of_its_operation() {
    let moment = Duration::from_millis(20);
    let server =
        Server::numbered(move |n, asked| page(asked, &[], &["b/"], Some(&n.to_string())).after(moment));
    for (name, storage) in buckets(&server, &brief().timeout(moment * 20)) {
        for is_dir in [false, true] {
            let before = server.asked().len();
            let e = if is_dir {
                list_dir(&storage, "").map(|_| ()).unwrap_err()
            } else {
                list_all(&storage, "").map(|_| ()).unwrap_err()
            };
            assert_eq!(e.kind(), Unavailable, "{name}: {e:#}");
            let requests = server.asked().len() - before;
            assert!(requests <= 21, "{name}: {requests} requests");
        }
    }
}

#[test]
fn an_endless_page_is_not_read() {
    for declared in [None, Some(1 << 40)] {
        let server = Server::new(move |asked| {
            let answer = page(asked, &["a"], &[], None).endless();
            declared.map_or(answer.clone(), |length| answer.declared(length))
        });
        for (name, storage) in buckets(&server, &brief()) {
            let before = server.sent();
            let e = list_all(&storage, "").map(|_| ()).unwrap_err();
            assert_eq!(e.kind(), TooLarge { size: None }, "{name}: {e:#}");
            let e = list_dir(&storage, "").map(|_| ()).unwrap_err();
            assert_eq!(e.kind(), TooLarge { size: None }, "{name}: {e:#}");
            assert!(server.sent() - before < 100 << 20, "{name}: {} bytes", server.sent() - before);
        }
    }
}

/// Returns a page with an object and a prefix.
fn page_with(members: &str) -> String {
    let object = "<Key>a/b</Key><Size>1</Size><LastModified>2026-11-20T10:00:00.000Z</LastModified>";
    let prefix = "<CommonPrefixes><Prefix>a/c/</Prefix></CommonPrefixes>";
    format!("<ListBucketResult>{members}<Contents>{object}</Contents>{prefix}</ListBucketResult>")
}

/// A page that is no listing, that says that more follows without saying where, or that has fewer names than it says, hides
/// keys.
#[test]
fn an_answer_that_is_no_complete_listing_is_an_error() {
    let truncated = ["true", "1", "TRUE", "True", " true ", "yes", ""]
        .map(|text| page_with(&format!("<IsTruncated>{text}</IsTruncated><NextMarker>a</NextMarker>")));
    let fewer = ["<KeyCount>3</KeyCount><IsTruncated>false</IsTruncated>", "<KeyCount> 41 </KeyCount>"]
        .map(page_with);
    let others =
        ["<html><body>Please log in</body></html>", "<Error><Code>InternalError</Code></Error>", "", "{}"];
    for body in others.map(str::to_owned).into_iter().chain(truncated).chain(fewer) {
        let answer = Answer::new(200).body(body.clone());
        let server = Server::new(move |_| answer.clone());
        for (name, storage) in buckets(&server, &brief()) {
            let kinds = [list_all(&storage, "a/").map(|_| ()), list_dir(&storage, "a/").map(|_| ())];
            for listed in kinds {
                assert_eq!(listed.unwrap_err().kind(), Io, "{name}: {body}");
            }
            let e = block_on(storage.delete_prefix(&prefix("a/"))).unwrap_err();
            assert_eq!(e.kind(), Io, "{name}: {body}");
        }
    }
}

/// Some services do not count prefixes, or count nothing.
#[test]
fn a_complete_listing_is_known_in_all_its_forms() {
    let truncated = [
        "",
        "<IsTruncated>false</IsTruncated>",
        "<IsTruncated>0</IsTruncated>",
        "<IsTruncated> False </IsTruncated>",
    ];
    let counts =
        ["", "<KeyCount>2</KeyCount>", "<KeyCount>1</KeyCount>", "<KeyCount>0</KeyCount>", "<KeyCount/>"];
    for (members, count) in truncated.iter().flat_map(|members| counts.map(|count| (members, count))) {
        let answer = Answer::new(200).body(page_with(&format!("{members}{count}")));
        let server = Server::new(move |_| answer.clone());
        let [(_, s3), (_, google), _] = buckets(&server, &brief());
        for storage in [s3, google] {
            let dir = list_dir(&storage, "a/").unwrap();
            let found = (keys_of(&dir), dir.prefixes);
            assert_eq!(found, (vec![key("a/b")], vec![prefix("a/c/")]), "{members} {count}");
        }
    }
}

/// A service may list an object twice, on two pages, while others are written.
#[test]
fn a_name_that_is_listed_twice_is_one_key() {
    let server = Server::new(|asked| match token(asked) {
        None => page(asked, &["a/0", "a/0"], &["a/1/", "a/1/"], Some("t")),
        _ => page(asked, &["a/2", "a/2"], &["a/1/"], None),
    });
    for (name, storage) in buckets(&server, &brief()) {
        let dir = list_dir(&storage, "a/").unwrap();
        assert_eq!(keys_of(&dir), [key("a/0"), key("a/2")], "{name}");
        assert_eq!(dir.prefixes, [prefix("a/1/")], "{name}");
    }
    let [.., (_, azure)] = buckets(&server, &brief());
    assert_eq!(list_all(&azure, "a/").unwrap(), ["a/0", "a/2"]);
}

/// Names that no key can have hide no others, and objects outside of the prefix are left out.
#[test]
fn names_that_no_key_can_have_are_left_out() {
    let server = Server::new(|asked| {
        let objects = ["a/../c", "a//b", "a/b", "a/b\\c", "a/c/.", "a/d/&#46;./e", "z/b"];
        page(asked, &objects, &["a/../", "a//", "a/d/", "z/"], None)
    });
    for (name, storage) in buckets(&server, &brief()) {
        assert_eq!(list_all(&storage, "a/").unwrap(), ["a/b"], "{name}");
        let dir = list_dir(&storage, "a/").unwrap();
        assert_eq!((keys_of(&dir), dir.prefixes), (vec![key("a/b")], vec![prefix("a/d/")]), "{name}");
    }
}

/// Services represent an empty folder by an empty object, whose name ends with `/`.
#[test]
fn folders_are_not_listed_wherever_pages_end() {
    let folders = |asked: &Asked, names: &[&str], token| {
        let answer = page(asked, names, &[], token);
        let text = String::from_utf8(answer.bytes().to_vec()).unwrap();
        answer.body(text.replace("<Size>1</Size>", "<Size>0</Size>"))
    };
    let server = Server::new(move |asked| {
        let after = asked.parameter("start-after").map(|after| after.replace("%2F", "/"));
        match (token(asked), after.as_deref()) {
            // A page of folders only, followed by keys.
            (None, None) => folders(asked, &["a/", "a/b/"], Some("t")),
            (Some("t"), None) => page(asked, &["a/b/c"], &[], Some("u")),
            // A folder at the end of a page, and its objects on the next page.
            (None, Some("a/b/c")) => page(asked, &["a/d"], &[], Some("v")),
            (None, Some("a/d")) => folders(asked, &["a/d0", "a/e/"], Some("w")),
            (Some("w"), Some("a/d")) => page(asked, &["a/e/f"], &[], None),
            other => panic!("{other:?}"),
        }
    });
    let keys = list_all(&s3(&server), "a/").unwrap();
    assert_eq!(keys, ["a/b/c", "a/d", "a/d0", "a/e/f"]);
}

/// Neither `a` nor the folder `a/` itself is below `a/`.
#[test]
fn an_object_is_not_deleted_with_the_folder_of_its_name() {
    let server = Server::new(|asked| match asked.method.as_str() {
        "GET" => page(asked, &["a/", "a/b"], &[], None),
        _ => deleted(asked),
    });
    block_on(s3(&server).delete_prefix(&prefix("a/"))).unwrap();
    let asked = server.asked();
    let sent = String::from_utf8(asked.last().unwrap().body.clone()).unwrap();
    assert!(sent.contains("<Key>a/b</Key>") && !sent.contains("<Key>a</Key>"), "{sent}");
}

#[test]
fn a_web_server_cannot_be_listed() {
    let server = Server::new(|_| Answer::new(404));
    let [.., (_, web)] = all(&server, &brief());
    assert_eq!(list_all(&web, "").unwrap_err().kind(), Unsupported);
    assert!(!web.capabilities().list && server.asked().is_empty());
}

/// Everything below a prefix is deleted, in as few requests as the service allows.
#[test]
fn everything_below_a_prefix_is_deleted_in_batches() {
    fn names(n: usize) -> Vec<String> {
        (0..n).map(|n| format!("a/{n:04}")).collect()
    }
    let script = |asked: &Asked| match asked.method.as_str() {
        "GET" if asked.parameter("start-after").is_none() => {
            let names = names(1000);
            page(asked, &names.iter().map(String::as_str).collect::<Vec<_>>(), &[], None)
        }
        "GET" => page(asked, &[], &[], None),
        "POST" => deleted(asked),
        _ => Answer::new(204),
    };
    for (variables, posts, deletes) in
        [(vec![], 1, 0), (vec![("AWS_DISABLE_BULK_DELETE".to_owned(), "true".to_owned())], 0, 1000)]
    {
        let server = Server::new(script);
        let access = brief().anonymous(true).endpoint(server.url("")).environment(variables).in_flight(4);
        let storage = open("s3://bucket", &access).unwrap();
        block_on(storage.delete_prefix(&prefix("a/"))).unwrap();
        assert_eq!((server.count("POST"), server.count("DELETE")), (posts, deletes));
        assert!(server.most_at_once() <= 4);
    }
}

/// Nothing outside of the prefix is read or deleted.
#[test]
fn a_store_below_a_prefix_sees_only_its_objects() {
    let double = Double::default();
    for path in ["x/a", "x/b/c", "xy", "y"] {
        double.put(path, "1");
    }
    let storage = ObjectStorage::new(Arc::new(double.clone())).unwrap().below("x").unwrap();
    let storage = Storage::from(storage);
    assert_eq!(list_all(&storage, "").unwrap(), ["a", "b/c"]);
    block_on(storage.delete_prefix(&Prefix::root())).unwrap();
    let left = |path: &str| double.value(path).is_some();
    assert_eq!([left("x/a"), left("x/b/c"), left("xy"), left("y")], [false, false, true, true]);
    let long = Key::new(vec!["k".repeat(250); 5].join("/")).unwrap();
    let e = block_on(storage.get(&long, u64::MAX)).unwrap_err();
    assert!(format!("{e:#}").contains("at most 1024 bytes"), "{e:#}");
}
