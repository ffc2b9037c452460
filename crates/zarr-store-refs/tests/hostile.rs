//! References of strangers: what they may not read, wrong files, and bounds.

use std::net::TcpListener;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::join_all;
use futures_util::stream::{self, TryStreamExt as _};
use proptest::prelude::*;
use zarr_conformance::instruments::{Counting, Network, Simulated};
use zarr_store::{Access, MemoryStore, Schemes, Targets};
use zarr_store_refs::{Refs, RefsLimits};
use zarr_traits::json::Value;
use zarr_traits::store::ReadVersion;
use zarr_traits::{ByteRange, Bytes, Key, Prefix, Storage, StoreErrorKind, StoreResult, block_on};

use crate::cases::{document, text};

/// Returns rows of the table that the tests of `zarr serve` and of the package for Python read, too.
pub(crate) fn hostile(part: &str) -> Vec<Value> {
    document("hostile.json").get(part).unwrap().elements().unwrap().collect()
}

/// Returns bytes in hexadecimal digits.
pub(crate) fn bytes(row: &Value, name: &str) -> Vec<u8> {
    let digits = text(row, name);
    let pair = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
    (0..digits.len()).step_by(2).map(pair).collect()
}

fn key(text: &str) -> Key {
    Key::new(text).unwrap()
}

/// Returns a store with a file of references, and `data/x.bin` of 100 bytes beside it.
fn folder(references: impl AsRef<[u8]>) -> Storage {
    let storage = Storage::from(MemoryStore::new());
    let bytes: Vec<u8> = (0..100).collect();
    block_on(storage.put(&key("d/refs.json"), Bytes::copy_from_slice(references.as_ref()))).unwrap();
    block_on(storage.put(&key("d/x.bin"), bytes.clone())).unwrap();
    block_on(storage.put(&key("y.bin"), bytes)).unwrap();
    storage
}

fn open(references: impl AsRef<[u8]>, targets: Targets) -> StoreResult<Storage> {
    block_on(Refs::open(&folder(references), key("d/refs.json"), targets))
}

/// Returns the bytes of the key `a/0`, or its error.
fn read(value: &str, targets: Targets) -> String {
    let opened = open(format!(r#"{{"a/0": {value}, "a/1": "fine"}}"#), targets).unwrap();
    assert_eq!(block_on(opened.get(&key("a/1"), 9)).unwrap().as_deref(), Some(&b"fine"[..]), "{value}");
    match block_on(opened.get(&key("a/0"), 1 << 20)) {
        Ok(Some(bytes)) => format!("{} bytes from {}", bytes.len(), bytes.first().copied().unwrap_or(0)),
        Ok(None) => "absent".to_owned(),
        Err(e) => format!("{:?}: {e:#}", e.kind()),
    }
}

#[test]
fn a_reference_reads_only_what_is_allowed_and_never_a_fill_value() {
    let served = || Targets::none().serve("s3://bucket/data/", folder("{}")).unwrap();
    for (value, said) in [
        (r#"["x.bin"]"#, "100 bytes from 0"),
        (r#"["./x.bin", 7, 5]"#, "5 bytes from 7"),
        (r#"["../y.bin", 7, 5]"#, "5 bytes from 7"),
        (r#"["x.bin", 95, 5]"#, "5 bytes from 95"),
        (r#"["x.bin", 95, 0]"#, "0 bytes from 0"),
        (r#"["s3://bucket/data/y.bin", 1, 2]"#, "2 bytes from 1"),
        (r#""base64:BQD6/w==""#, "4 bytes from 5"),
        (r#"{"a": 1}"#, "7 bytes from 123"),
    ] {
        assert_eq!(read(value, served()), said, "{value}");
    }
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let rows = hostile("values");
    assert!(rows.len() > 25);
    for row in rows {
        let (value, kind, said) = (text(&row, "value"), text(&row, "kind"), text(&row, "said"));
        let answer = read(&value.replace("PORT", &port), served());
        assert!(answer.starts_with(&kind) && answer.contains("key \"a/0\""), "{value}: {answer}");
        assert!(answer.contains(&said) && !answer.contains("secret@"), "{value}: {answer}");
    }
    listener.set_nonblocking(true).unwrap();
    assert_eq!(listener.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
}

#[test]
fn a_link_and_a_folder_of_another_name_do_not_lead_out_of_an_allowed_folder() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    for folder in ["data", "data-secret"] {
        std::fs::create_dir(root.join(folder)).unwrap();
        std::fs::write(root.join(folder).join("x.bin"), "0123456789").unwrap();
    }
    #[cfg(unix)]
    std::os::unix::fs::symlink(root.join("data-secret"), root.join("data/link")).unwrap();
    let schemes = Schemes::new(&[zarr_store_fs::SCHEMES]);
    for place in [format!("{}/data", root.display()), format!("file://{}/data/", root.display())] {
        let targets = schemes.targets(&Access::new().targets(Targets::none().allow(place).unwrap()));
        let read = |path: &str| read(&format!("[\"{}/{path}\", 2, 3]", root.display()), targets.clone());
        assert_eq!(read("data/x.bin"), "3 bytes from 50");
        for path in ["data-secret/x.bin", "data/../data-secret/x.bin", "data/link/x.bin"] {
            let answer = read(path);
            assert!(!answer.contains("bytes from"), "{path}: {answer}");
        }
    }
}

#[test]
fn a_relative_location_leads_out_of_the_store_only_where_it_is_allowed() {
    let read = |location: &str, place: &str| {
        let storage = folder(r#"{"a/0": ["../../d/x.bin", 2, 3]}"#).with_location(Some(location));
        let targets = Targets::none().serve(place, folder("{}")).unwrap();
        let opened = block_on(Refs::open(&storage, key("d/refs.json"), targets)).unwrap();
        block_on(opened.get(&key("a/0"), 9)).map(|bytes| bytes.map(|bytes| bytes.len())).map_err(|e| e.kind())
    };
    let denied = Err(StoreErrorKind::PermissionDenied);
    for (location, place, answer) in [
        ("/data/refs", "/data", Ok(Some(3))),
        ("file:///da%20ta/refs/", "/da ta", Ok(Some(3))),
        ("s3://b/refs", "s3://b", Ok(Some(3))),
        ("/data/refs", "/data/refs", denied),
        ("/data/x.zip|zip:refs", "/data", denied),
        ("data/refs", "/data", denied),
    ] {
        assert_eq!(read(location, place), answer, "{location}");
    }
}

#[test]
fn wrong_files_are_refused_when_they_are_opened() {
    for row in hostile("files") {
        let (kind, said) = (text(&row, "kind"), text(&row, "said"));
        let content = match row.get("hex") {
            Some(_) => bytes(&row, "hex"),
            None => text(&row, "text").into_bytes(),
        };
        let e = open(content, Targets::none()).unwrap_err();
        let (found, shown) = (format!("{:?}", e.kind()), format!("{e:#}"));
        assert!(found.starts_with(&kind) && shown.contains(&said), "{row:?}: {found}: {shown}");
        assert!(shown.contains("d/refs.json"), "{shown}");
    }
    let e = block_on(Refs::open(&folder("{}"), key("d/other.json"), Targets::none())).unwrap_err();
    assert_eq!(e.kind(), StoreErrorKind::Io);
}

#[test]
fn limits_hold() {
    let limited = |text: &str, change: fn(&mut RefsLimits)| {
        let mut limits = RefsLimits::default();
        change(&mut limits);
        block_on(Refs::open_with(&folder(text), key("d/refs.json"), Targets::none(), limits))
    };
    let many = r#"{"a":"1","b":"2","c":"3"}"#;
    let e = limited(many, |limits| limits.references = 2).unwrap_err();
    assert_eq!(e.kind(), StoreErrorKind::LimitExceeded);
    assert!(limited(many, |limits| limits.references = 3).is_ok());
    let e = limited(many, |limits| limits.json_bytes = 9).unwrap_err();
    assert!(matches!(e.kind(), StoreErrorKind::TooLarge { .. }), "{e:#}");
    let long = format!(r#"{{"a":["{}"],"b":"2"}}"#, "x".repeat(200));
    let opened = limited(&long, |limits| limits.location_bytes = 100).unwrap();
    assert_eq!(block_on(opened.get(&key("a"), 9)).unwrap_err().kind(), StoreErrorKind::Corrupt);
    assert!(block_on(opened.get(&key("b"), 9)).is_ok());
}

#[test]
fn keys_are_listed_in_pages_and_the_last_of_equal_keys_counts() {
    let mut text = r#"{"a/b/c":"old","../x":"bad","a//b":"bad","z":"last""#.to_owned();
    for number in 0..20_500 {
        text.push_str(&format!(r#","n/{number}":"v""#));
    }
    text.push_str(r#","a/b/c":"new","a/0":"1","a-":"2"}"#);
    let opened = open(text, Targets::none()).unwrap();
    assert_eq!(block_on(opened.get(&key("a/b/c"), 9)).unwrap().as_deref(), Some(&b"new"[..]));
    let all = block_on(opened.list_all(&Prefix::root())).unwrap();
    assert_eq!(all.len(), 20_504);
    assert!(all.is_sorted_by(|a, b| a.key < b.key));
    let page = block_on(opened.list(&Prefix::new("n/").unwrap(), Some(&key("n/0")))).unwrap();
    assert_eq!((page.entries.len(), page.more, page.entries[0].key.as_str()), (10_000, true, "n/1"));
    let dir = block_on(opened.list_dir(&Prefix::root())).unwrap();
    assert_eq!(dir.objects.iter().map(|o| o.key.as_str()).collect::<Vec<_>>(), ["a-", "z"]);
    assert_eq!(dir.prefixes.iter().map(Prefix::as_str).collect::<Vec<_>>(), ["a/", "n/"]);
    assert!(block_on(opened.put(&key("a/0"), "x")).is_err());
}

#[test]
fn a_reference_is_read_as_an_object_of_its_length() {
    let opened = open(r#"{"a":["x.bin",10,20],"b":["x.bin"]}"#, Targets::none()).unwrap();
    let ranges = [ByteRange::Suffix(3), ByteRange::Span { offset: 1, len: 2 }, ByteRange::Suffix(99)];
    let reply = block_on(opened.get_ranges(&key("a"), &ranges, ReadVersion::Report, 99)).unwrap().unwrap();
    assert_eq!(
        (&reply.bytes[0][..], &reply.bytes[1][..], reply.size),
        (&[27, 28, 29][..], &[11, 12][..], Some(20))
    );
    assert_eq!(reply.bytes[2].len(), 20);
    let pinned = ReadVersion::Pinned(reply.version.as_ref().unwrap());
    assert!(block_on(opened.get_ranges(&key("a"), &ranges, pinned, 99)).unwrap().is_some());
    let beyond = [ByteRange::Span { offset: 19, len: 2 }];
    let e = block_on(opened.get_ranges(&key("a"), &beyond, ReadVersion::Any, 99)).unwrap_err();
    assert_eq!(e.kind(), StoreErrorKind::RangeNotSatisfiable { size: 20 });
    let e = block_on(opened.get(&key("a"), 19)).unwrap_err();
    assert_eq!(e.kind(), StoreErrorKind::TooLarge { size: Some(20) });
    assert_eq!(block_on(opened.size(&key("a"))).unwrap(), Some(20));
    assert_eq!(block_on(opened.size(&key("b"))).unwrap(), Some(100));
    assert_eq!(block_on(opened.size(&key("c"))).unwrap(), None);
}

#[test]
fn neighbouring_ranges_of_several_keys_are_one_request() {
    let storage = folder("{}");
    let mut text = String::from("{");
    for number in 0..50 {
        text.push_str(&format!(r#""a/{number}":["s3://b/d/x.bin",{},1],"#, 2 * (49 - number)));
    }
    text.push_str(r#""b":["s3://b/d/none.bin",0,1]}"#);
    let network = Network::default().round_trip(Duration::from_millis(20)).merge_gap(4);
    let (far, simulated) = Simulated::virtually(&storage, network);
    let (far, counting) = Counting::over(&far);
    let targets = Targets::none().serve("s3://b/", far).unwrap();
    let opened = open(text, targets).unwrap();
    let read_all = async {
        let keys: Vec<Key> = (0..50).map(|number| key(&format!("a/{number}"))).collect();
        let reads = keys.iter().map(|key| opened.get(key, 1));
        let mut reads: Vec<_> = reads.map(Box::pin).collect();
        // A read that is dropped leaves the others alive.
        assert!(reads.remove(0).now_or_never().is_none());
        join_all(reads).await
    };
    let bytes = simulated.run(read_all);
    for (number, bytes) in bytes.into_iter().enumerate() {
        assert_eq!(bytes.unwrap().unwrap()[..], [2 * (48 - u8::try_from(number).unwrap())]);
    }
    assert_eq!((counting.counts().requests(), simulated.round_trips()), (2, 1));
    // As the engine starts reads: the first is polled again before the others are there.
    let one_by_one = stream::iter((0..50).map(Ok)).try_for_each_concurrent(50, |number| {
        let opened = &opened;
        async move { opened.get(&key(&format!("a/{number}")), 1).await.map(drop) }
    });
    simulated.run(one_by_one).unwrap();
    assert_eq!((counting.counts().requests(), simulated.round_trips()), (4, 2));
    let e = simulated.run(opened.get(&key("b"), 1)).unwrap_err();
    assert!(format!("{e:#}").contains("does not exist"), "{e:#}");
}

#[test]
fn threads_that_read_one_object_each_get_their_bytes() {
    let mut text = String::from("{");
    for number in 0..100 {
        text.push_str(&format!(r#""a/{number}":["s3://b/d/x.bin",{number},1],"#));
    }
    text.push_str(r#""b":"x"}"#);
    let (far, _) = Simulated::over(&folder("{}"), Network::default().round_trip(Duration::ZERO));
    let opened = open(text, Targets::none().serve("s3://b/", far).unwrap()).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..8_u8 {
            let opened = &opened;
            scope.spawn(move || {
                for round in 0..2000_u16 {
                    let number = u8::try_from((round * 7 + u16::from(thread) * 13) % 100).unwrap();
                    let read = block_on(opened.get(&key(&format!("a/{number}")), 1));
                    assert_eq!(read.unwrap().as_deref(), Some(&[number][..]));
                }
            });
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Bytes that look like references, with templates.
    #[test]
    fn no_file_makes_the_reader_panic(parts in prop::collection::vec(prop::sample::select(vec![
        "{", "}", "[", "]", ",", ":", "\"refs\"", "\"version\"", "1", "0", "\"gen\"", "\"key\"", "\"url\"", "\"a/{{i}}\"",
        "\"dimensions\"", "\"i\"", "\"stop\"", "\"templates\"", "\"{{i//0}}\"", "\"base64:\"", "null", "-1", "1e9", "\"offset\"",
    ]), 0..40)) {
        let text = parts.concat();
        if let Ok(opened) = open(&text, Targets::none()) {
            for listed in block_on(opened.list_all(&Prefix::root())).unwrap() {
                let _ = block_on(opened.get(&listed.key, 100));
            }
        }
        let rules = format!(r#"{{"version":1,"refs":{{}},"gen":[{text}]}}"#);
        let _ = open(rules, Targets::none());
    }
}
