//! Repositories of strangers: damaged files, what chunks may not name, and bounds.

use std::collections::BTreeMap;

use proptest::prelude::*;
use zarr_store::{MemoryStore, Targets};
use zarr_store_icechunk::{IcechunkLimits, Ref, Repository};
use zarr_traits::{Key, Prefix, Storage, StoreError, StoreErrorKind, StoreResult, block_on};

use crate::build::{
    CHUNK, Flat, MANIFEST, Parts, SNAPSHOT, bytes, document, header, number, numbers, reference, stored,
    table,
};
use crate::cases::archive;
use crate::contents::held;

pub(crate) fn key(text: &str) -> Key {
    Key::new(text).unwrap()
}

/// The storage that serves `s3://bucket/data/`, with `x y.bin`.
fn targets() -> Targets {
    let bucket = Storage::from(MemoryStore::new());
    block_on(bucket.put(&key("x y.bin"), vec![0, 0, 0, 12])).unwrap();
    Targets::none().serve("s3://bucket/data/", bucket).unwrap()
}

fn open_with(files: &BTreeMap<String, Vec<u8>>, at: &str, limits: IcechunkLimits) -> StoreResult<Storage> {
    let repository = Repository::new(&stored(files), Prefix::root()).limits(limits);
    block_on(repository.open(&at.parse()?, targets()))
}

fn open(files: &BTreeMap<String, Vec<u8>>) -> StoreResult<Storage> {
    open_with(files, "branch.main", IcechunkLimits::default())
}

/// The values of the chunks of `a`, with 0 for a missing one; or the first error.
fn values(opened: &Storage) -> StoreResult<Vec<u8>> {
    let value = |number| {
        let chunk = block_on(opened.get(&key(&format!("a/c/{number}")), 1 << 20))?;
        Ok(chunk.map_or(0, |bytes| bytes.first().copied().unwrap_or(1)))
    };
    (0..8).map(value).collect()
}

const VALUES: [u8; 8] = [10, 11, 12, 13, 0, 15, 0, 0];

/// Opens, lists and reads everything.
fn all(files: &BTreeMap<String, Vec<u8>>) -> StoreResult<(Vec<String>, Vec<u8>)> {
    let opened = open(files)?;
    let listed = block_on(opened.list_all(&Prefix::root()))?;
    for prefix in ["", "a/", "a/c/", "g/", "b/"] {
        block_on(opened.list_dir(&Prefix::new(prefix)?))?;
    }
    let values = values(&opened)?;
    for listed in &listed {
        block_on(opened.get(&listed.key, 1 << 20))?;
    }
    Ok((listed.into_iter().map(|listed| listed.key.into()).collect(), values))
}

pub(crate) fn shown(e: &StoreError) -> String {
    format!("{:?}: {e:#}", e.kind())
}

#[test]
fn a_repository_is_read_with_inline_native_and_virtual_chunks() {
    let (keys, values) = all(&Parts::new().built()).unwrap();
    assert_eq!(values, VALUES);
    let chunks = ["a/c/0", "a/c/1", "a/c/2", "a/c/3", "a/c/5", "a/zarr.json", "g/zarr.json", "zarr.json"];
    assert_eq!(keys, chunks);
    let opened = open(&Parts::new().built()).unwrap();
    for absent in [
        "a/c/4",
        "a/c/8",
        "a/c/00",
        "a/c",
        "a/c/0/0",
        "a/x",
        "a/.zarray",
        "c/0",
        "g/c/0",
        "b/zarr.json",
        "xzarr.json",
    ] {
        assert_eq!(block_on(opened.get(&key(absent), 99)).unwrap(), None, "{absent}");
    }
    assert!(block_on(opened.put(&key("a/c/0"), "x")).is_err());
}

pub(crate) type Change = fn(&mut Parts);

/// Changes of a repository, and what its error says, which comes when it is opened or when all is read.
const HOSTILE: &[(&str, Change)] = &[
    // repo
    ("specification version 3 is not known, 1 and 2 are", |p| drop(p.repo.insert(0, number(3, 1)))),
    ("field \"status\" at byte", |p| drop(p.repo.remove(&5))),
    ("Unavailable: key \"repo\": the repository is offline: \"it\\nmoved\"", |p| {
        p.repo.insert(5, table([(0, number(2, 1)), (2, bytes("it\nmoved"))]));
    }),
    ("status of the repository is 9", |p| drop(p.repo.insert(5, table([(0, number(9, 1))])))),
    ("\"snapshot_index\" is 4294967295, but there are 1 snapshots", |p| {
        p.repo.insert(2, Flat::Vector(vec![table([(0, bytes("main")), (1, number(u64::MAX, 4))])]));
    }),
    ("branches are not in the order", |p| {
        let main = table([(0, bytes("main"))]);
        p.repo.insert(2, Flat::Vector(vec![main.clone(), main]));
    }),
    ("no branch \"main\": there are \"other\"", |p| {
        p.repo.insert(2, Flat::Vector(vec![table([(0, bytes("other"))])]));
    }),
    ("no branch \"main\": none is known", |p| drop(p.repo.remove(&2))),
    ("field \"snapshots\" at byte", |p| drop(p.repo.remove(&4))),
    ("field \"name\" at byte", |p| drop(p.repo.insert(2, Flat::Vector(vec![table([])])))),
    ("field \"branches\" at byte", |p| drop(p.repo.insert(2, Flat::Elements(u32::MAX, vec![0; 8])))),
    ("longer than 64 KiB", |p| {
        p.repo.insert(2, Flat::Vector(vec![table([(0, bytes(vec![b'a'; 70_000]))])]));
    }),
    // headers
    ("Corrupt: key \"repo\": this is not a file of Icechunk", |p| {
        drop(p.files.insert("repo".into(), vec![1; 99]))
    }),
    ("specification version 3", |p| drop(p.files.insert("repo".into(), header(3, 6, 0)))),
    ("kind of the file is 1, expected 6", |p| drop(p.files.insert("repo".into(), header(2, 1, 0)))),
    ("compression 2 is not known", |p| drop(p.files.insert("repo".into(), header(2, 6, 2)))),
    ("it is not \"Ichk\"", |p| drop(p.files.insert("repo".into(), header(2, 6, 0)))),
    ("cannot be inflated", |p| drop(p.files.insert("repo".into(), [header(2, 6, 1), vec![7; 99]].concat()))),
    // A frame that says that it has 1 TiB.
    ("more than 2147483648 bytes, which is the limit", |p| {
        let frame =
            [&[0x28, 0xb5, 0x2f, 0xfd, 0xe0][..], &(1_u64 << 40).to_le_bytes(), &[3, 0, 0, 0]].concat();
        p.files.insert("repo".into(), [header(2, 6, 1), frame].concat());
    }),
    // snapshots
    ("no such snapshot", |p| drop(p.files.insert(format!("snapshots/{SNAPSHOT}"), Vec::new()))),
    ("the file is that of the snapshot 0000", |p| drop(p.snapshot.insert(0, Flat::Plain(vec![0; 12])))),
    ("field \"nodes\" at byte", |p| drop(p.snapshot.insert(2, Flat::Elements(u32::MAX, vec![0; 8])))),
    ("nodes are not in the order", |p| drop(p.nodes[2].insert(1, bytes("/a")))),
    ("nodes are not in the order", |p| drop(p.nodes[2].insert(1, bytes("/A")))),
    ("does not begin with \"/\"", |p| drop(p.nodes[2].insert(1, bytes("g")))),
    ("it is not text", |p| drop(p.nodes[2].insert(1, bytes([b'/', 0xff])))),
    ("there are nodes below the array", |p| drop(p.nodes[2].insert(1, bytes("/a/b")))),
    ("kind of the node is not known", |p| drop(p.nodes[1].insert(3, number(3, 1)))),
    ("field \"user_data\" at byte", |p| drop(p.nodes[1].remove(&2))),
    ("field \"id\" at byte", |p| drop(p.nodes[1].remove(&0))),
    ("field \"manifests\" at byte", |p| drop(p.array.remove(&2))),
    ("are more than the file can hold", |p| drop(p.array.insert(2, Flat::Elements(200, vec![0; 800])))),
    ("not one member per dimension", |p| {
        let manifest = table([(0, Flat::Plain(vec![0; 12])), (1, Flat::Elements(2, vec![0; 16]))]);
        p.array.insert(2, Flat::Vector(vec![manifest]));
    }),
    ("65 dimensions, at most 64", |p| drop(p.array.insert(3, Flat::Vector(vec![table([]); 65])))),
    // manifests
    ("manifest that the snapshot names does not exist", |p| {
        p.files.insert(format!("manifests/{MANIFEST}"), Vec::new());
    }),
    ("the file is that of the manifest 0G00", |p| {
        p.manifest.insert(0, Flat::Plain([vec![4], vec![0; 11]].concat()));
    }),
    ("arrays are not in the order", |p| {
        let other = [(0, Flat::Plain(vec![9; 8])), (1, Flat::Vector(Vec::new()))];
        p.arrays.insert(0, BTreeMap::from(other));
    }),
    ("field \"arrays\" at byte", |p| drop(p.manifest.insert(1, Flat::Elements(1 << 30, vec![0; 8])))),
    ("field \"refs\" at byte", |p| drop(p.arrays[1].insert(1, Flat::Elements(9, vec![255; 36])))),
    ("not in the order of their indices", |p| p.refs.swap(0, 1)),
    ("not in the order of their indices", |p| {
        p.refs.insert(4, reference(3, [(1, bytes([14]))]));
    }),
    ("more than 255 dimensions", |p| drop(p.refs[4].insert(0, numbers(&[9; 300])))),
    ("a chunk is one of", |p| p.refs[3] = reference(3, [])),
    ("a chunk is one of", |p| drop(p.refs[3].insert(5, bytes("s3://bucket/data/x")))),
    ("Io: key \"a/c/1\": the reference to", |p| drop(p.files.insert(format!("chunks/{CHUNK}"), Vec::new()))),
    ("RangeNotSatisfiable", |p| drop(p.refs[1].insert(2, number(4, 8)))),
    ("Corrupt: key \"a/c/1\"", |p| drop(p.refs[1].insert(2, number(u64::MAX, 8)))),
    ("Unsupported: key \"a/c/2\"", |p| drop(p.refs[2].insert(7, number(5, 4)))),
    ("does not say the entity tag", |p| drop(p.refs[2].insert(6, bytes("tag")))),
    ("the location \"data/x\" is not a URL", |p| drop(p.refs[2].insert(5, bytes("data/x")))),
    ("the location \"/etc/passwd\" is not a URL", |p| drop(p.refs[2].insert(5, bytes("/etc/passwd")))),
    ("PermissionDenied", |p| drop(p.refs[2].insert(5, bytes("s3://bucket/data-secret/x")))),
    ("PermissionDenied", |p| drop(p.refs[2].insert(5, bytes("file:///etc/passwd")))),
    ("PermissionDenied", |p| drop(p.refs[2].insert(5, bytes("http://169.254.169.254/latest")))),
    ("does not exist", |p| drop(p.refs[2].insert(5, bytes("s3://bucket/data/z")))),
    ("the configuration has no container \"c\"", |p| drop(p.refs[2].insert(5, bytes("vcc://c/x")))),
    ("at most 1024 are accepted", |p| {
        p.refs[2].insert(5, bytes(format!("s3://bucket/data/{}", "x".repeat(2000))));
    }),
    ("a location cannot be inflated", |p| {
        p.refs[2].remove(&5);
        p.refs[2].insert(8, bytes("x"));
    }),
    ("a location cannot be inflated", |p| {
        p.manifest.insert(2, bytes("not a dictionary"));
        p.refs[2].remove(&5);
        p.refs[2].insert(8, bytes(zrip::compress(b"s3://bucket/data/x", 1).unwrap()));
    }),
    ("a location cannot be inflated", |p| {
        p.refs[2].remove(&5);
        p.refs[2].insert(8, bytes(zrip::compress(&[b'a'; 5000], 1).unwrap()));
    }),
    ("compression 0 of locations is not known", |p| {
        p.manifest.insert(3, number(0, 1));
        p.refs[2].remove(&5);
        p.refs[2].insert(8, bytes("s3://bucket/data/x"));
    }),
    ("field \"config\" at byte", |p| {
        p.refs[2].insert(5, bytes("vcc://c/x"));
        p.repo.insert(9, bytes([1, 2, 3]));
    }),
];

#[test]
fn a_hostile_repository_is_an_error_and_never_a_fill_value() {
    for (number, (said, change)) in HOSTILE.iter().enumerate() {
        let mut parts = Parts::new();
        change(&mut parts);
        let files = parts.built();
        let e = all(&files).map(|(_, values)| values).expect_err(said);
        assert!(shown(&e).contains(said), "{number}: {said:?} is not in {:?}", shown(&e));
        // Values without a listing are the right ones, or an error.
        if let Ok(values) = open(&files).and_then(|opened| values(&opened)) {
            assert_eq!(values, VALUES, "{number}: {said}");
        }
    }
}

/// The cases of [`HOSTILE`] that the tests of `zarr serve` and of the package for Python read, too.
const SHARED: [&str; 20] = [
    "specification version 3 is not known, 1 and 2 are",
    "Unavailable: key \"repo\": the repository is offline: \"it\\nmoved\"",
    "\"snapshot_index\" is 4294967295, but there are 1 snapshots",
    "branches are not in the order",
    "field \"branches\" at byte",
    "Corrupt: key \"repo\": this is not a file of Icechunk",
    "more than 2147483648 bytes, which is the limit",
    "no such snapshot",
    "the file is that of the snapshot 0000",
    "nodes are not in the order",
    "kind of the node is not known",
    "manifest that the snapshot names does not exist",
    "the file is that of the manifest 0G00",
    "not in the order of their indices",
    "a chunk is one of",
    "Io: key \"a/c/1\": the reference to",
    "RangeNotSatisfiable",
    "does not say the entity tag",
    "the configuration has no container \"c\"",
    "at most 1024 are accepted",
];

/// Returns all cases of [`HOSTILE`] that are denied, and those in [`SHARED`], as JSON: what the error says, its kind, and the
/// files that differ from those of a repository without errors, in hexadecimal digits.
fn shared() -> String {
    let hex = |file: &[u8]| file.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let member = |(name, file): (&String, &Vec<u8>)| match file.is_empty() {
        true => format!("\"{name}\": null"),
        false => format!("\"{name}\": \"{}\"", hex(file)),
    };
    let whole = Parts::new().built();
    let rows = HOSTILE.iter().filter(|(said, _)| SHARED.contains(said) || *said == "PermissionDenied");
    let rows = rows.map(|(said, change)| {
        let mut parts = Parts::new();
        change(&mut parts);
        let files = parts.built();
        let kind = format!("{:?}", all(&files).unwrap_err().kind());
        let kind = kind.split(' ').next().unwrap();
        // Without the kind and the key, which others show in another way.
        let said = said.strip_prefix(kind).unwrap_or(said).rsplit("\": ").next().unwrap();
        let changed = files.iter().filter(|(name, file)| whole.get(*name) != Some(file)).map(member);
        let changed = changed.collect::<Vec<_>>().join(", ");
        format!("    {{\"said\": {said:?}, \"kind\": {kind:?}, \"files\": {{{changed}}}}}")
    });
    let rows = rows.collect::<Vec<_>>().join(",\n");
    let files = whole.iter().map(|file| format!("    {}", member(file))).collect::<Vec<_>>().join(",\n");
    format!("{{\n  \"files\": {{\n{files}\n  }},\n  \"cases\": [\n{rows}\n  ]\n}}\n")
}

#[test]
fn the_table_of_hostile_repositories_is_that_of_these_tests() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../conformance/references/hostile-repositories.json");
    let text = shared();
    if std::env::var_os("ZARR_WRITE_HOSTILE").is_some() {
        std::fs::write(path, &text).unwrap();
    }
    let is_same = std::fs::read_to_string(path).unwrap() == text;
    assert!(is_same, "ZARR_WRITE_HOSTILE=1 writes the table after a change of these tests");
}

#[test]
fn harmless_oddities_are_read() {
    let changes: [Change; 7] = [
        // Chunks that another snapshot has, or that were there before a resize.
        |p| p.refs.push(reference(8, [(1, bytes([99]))])),
        |p| p.refs.push(reference(u32::MAX, [(1, bytes([99]))])),
        |p| p.arrays.insert(1, BTreeMap::from([(0, Flat::Plain(vec![1; 8])), (1, Flat::Vector(Vec::new()))])),
        // Compressed files and locations, without a dictionary.
        |p| {
            p.refs[2].remove(&5);
            p.refs[2].insert(8, bytes(zrip::compress(b"s3://bucket/data/x%20y.bin", 1).unwrap()));
        },
        |p| {
            for (name, mut file) in p.built() {
                if !name.starts_with("chunks") {
                    let payload = zrip::compress(&file.split_off(39), 1).unwrap();
                    file[38] = 1;
                    p.files.insert(name, [file, payload].concat());
                }
            }
        },
        // A path that no key can name.
        |p| drop(p.nodes[2].insert(1, bytes("/g/../x"))),
        // A broken document: the snapshot knows the shape.
        |p| drop(p.nodes[1].insert(2, bytes("{"))),
    ];
    for (number, change) in changes.iter().enumerate() {
        let mut parts = Parts::new();
        change(&mut parts);
        let (keys, values) = all(&parts.built()).unwrap_or_else(|e| panic!("{number}: {e:#}"));
        assert_eq!(
            (values, keys[..5].join(" ")),
            (VALUES.to_vec(), "a/c/0 a/c/1 a/c/2 a/c/3 a/c/5".to_owned()),
            "{number}"
        );
    }
}

#[test]
fn keys_have_the_encoding_of_the_document() {
    let mut parts = Parts::new();
    for (encoding, first) in [
        (r#"{"name":"v2"}"#, "a/0"),
        (r#"{"name":"default","configuration":{"separator":"."}}"#, "a/c.0"),
        (r#""v2""#, "a/0"),
        (r#"{"name":"other"}"#, "a/c/0"),
    ] {
        let document = document(&[8]).replace(r#"{"name":"default"}"#, encoding);
        parts.nodes[1].insert(2, bytes(document));
        let opened = open(&parts.built()).unwrap();
        assert_eq!(block_on(opened.get(&key(first), 9)).unwrap().as_deref(), Some(&[10][..]), "{encoding}");
        let listed = block_on(opened.list_all(&Prefix::new("a/").unwrap())).unwrap();
        assert_eq!((listed.len(), listed[0].key.as_str()), (6, first), "{encoding}");
    }
}

#[test]
fn a_truncated_file_is_an_error() {
    let whole = Parts::new().built();
    for name in whole.keys() {
        for end in 0..whole[name].len() {
            let mut files = whole.clone();
            files.get_mut(name).unwrap().truncate(end);
            match all(&files) {
                Err(_) => {}
                // Bytes that nothing refers to, at the end.
                Ok((_, values)) => assert_eq!(values, VALUES, "{name} {end}"),
            }
        }
    }
}

#[test]
fn a_wrong_byte_causes_no_panic() {
    let whole = Parts::new().built();
    for name in whole.keys() {
        for at in 0..whole[name].len() {
            for value in [0, 1, 4, 127, 255] {
                let mut files = whole.clone();
                files.get_mut(name).unwrap()[at] = value;
                let _ = all(&files);
                let _ = held(&stored(&files), "");
            }
        }
    }
}

#[test]
fn limits_hold() {
    let files = Parts::new().built();
    let limited = |change: fn(&mut IcechunkLimits)| {
        let mut limits = IcechunkLimits::default();
        change(&mut limits);
        open_with(&files, "branch.main", limits)
    };
    let e = limited(|limits| limits.nodes = 2).unwrap_err();
    assert!(shown(&e).starts_with("LimitExceeded") && shown(&e).contains("has 3 nodes"), "{e:#}");
    let e = limited(|limits| limits.file_bytes = 100).unwrap_err();
    assert!(matches!(e.kind(), StoreErrorKind::TooLarge { .. }), "{e:#}");
    let opened = limited(|limits| limits.listed_chunks = 4).unwrap();
    assert_eq!(block_on(opened.list_all(&Prefix::root())).unwrap_err().kind(), StoreErrorKind::LimitExceeded);
    assert_eq!(values(&opened).unwrap(), VALUES);
    // A bomb.
    let zeros = zrip::compress(&vec![0; 8 << 20], 1).unwrap();
    assert!(zeros.len() < 4000);
    for name in files.keys().filter(|name| !name.starts_with("chunks")) {
        let mut files = files.clone();
        let file = files.get_mut(name).unwrap();
        file.truncate(39);
        file[38] = 1;
        file.extend(&zeros);
        let mut limits = IcechunkLimits::default();
        limits.file_bytes = 1 << 20;
        let e = open_with(&files, "branch.main", limits).and_then(|opened| values(&opened)).unwrap_err();
        assert!(shown(&e).contains("more than 1048576 bytes, which is the limit"), "{name}: {}", shown(&e));
    }
}

#[test]
fn a_name_that_is_not_there_is_an_error_with_the_others() {
    let files = Parts::new().built();
    let open = |at: &str| shown(&open_with(&files, at, IcechunkLimits::default()).unwrap_err());
    for (at, said) in [
        ("branch.none", "Io: key \"repo\": no branch \"none\": there are \"dev\", \"main\""),
        ("branch.t", "no branch"),
        ("tag.none", "no tag \"none\": there are \"t\""),
        ("tag.gone", "the tag \"gone\" was deleted"),
        ("branch.", "\"\" is not the name of a branch"),
        ("tag.a/b", "\"a/b\" is not the name of a tag"),
        ("1CECHNKREP0F1RSTCMTG", "no such snapshot"),
    ] {
        assert!(open(at).contains(said), "{at}: {}", open(at));
    }
    let at = |name: &str| Ref::Branch(name.to_owned());
    let nowhere = Repository::new(&stored(&BTreeMap::new()), Prefix::root());
    let e = block_on(nowhere.open(&at("main"), Targets::none())).unwrap_err();
    assert!(e.to_string().contains("no Icechunk repository is here"), "{e:#}");
}

#[test]
fn names_that_are_not_ascii_are_found_as_local_disks_have_them() {
    let parts = Parts::new();
    let mut files = parts.built();
    files.remove("repo");
    let file = format!("{{\"snapshot\":\"{SNAPSHOT}\"}}").into_bytes();
    files.insert("refs/branch.p%C3%A4th/ref.json".to_owned(), file.clone());
    files.insert("refs/tag.ü/ref.json".to_owned(), file);
    files.insert("refs/branch.bad/ref.json".to_owned(), b"{\"snapshot\":5}".to_vec());
    for at in ["branch.päth", "tag.ü"] {
        assert!(open_with(&files, at, IcechunkLimits::default()).is_ok(), "{at}");
    }
    let e = open_with(&files, "branch.bad", IcechunkLimits::default()).unwrap_err();
    assert!(shown(&e).contains("Corrupt: key \"refs/branch.bad/ref.json\": the file is not"), "{e:#}");
    let e = open_with(&files, "branch.main", IcechunkLimits::default()).unwrap_err();
    assert!(shown(&e).contains("no branch \"main\": there are \"bad\", \"p%C3%A4th\""), "{e:#}");
}

/// The files of a repository of the fixtures, inflated.
pub(crate) fn inflated(repository: &str) -> BTreeMap<String, Vec<u8>> {
    let archive = archive();
    let root = Prefix::new(format!("icechunk/{repository}/")).unwrap();
    let mut files = BTreeMap::new();
    for listed in block_on(archive.list_all(&root)).unwrap() {
        let mut file = block_on(archive.get(&listed.key, 1 << 30)).unwrap().unwrap().to_vec();
        if file.starts_with(b"ICE") && file[38] == 1 {
            let payload = zrip::decompress(&file.split_off(39)).unwrap();
            file[38] = 0;
            file.extend(payload);
        }
        files.insert(root.strip(&listed.key).unwrap().to_owned(), file);
    }
    files
}

fn content(files: &BTreeMap<String, Vec<u8>>) -> StoreResult<Vec<(String, Option<Vec<u8>>)>> {
    let opened = open(files)?;
    let listed = block_on(opened.list_all(&Prefix::root()))?;
    let read =
        |key: Key| Ok((key.to_string(), block_on(opened.get(&key, 1 << 20))?.map(|bytes| bytes.to_vec())));
    listed.into_iter().map(|listed| read(listed.key)).collect()
}

#[test]
fn a_missing_file_is_an_error() {
    for repository in ["v2-basic", "v1-basic", "v2-split", "v2-inline"] {
        let files = inflated(repository);
        let whole = content(&files).unwrap();
        let mut errors = 0;
        for name in files.keys() {
            let mut files = files.clone();
            files.remove(name);
            match content(&files) {
                Ok(found) => assert_eq!(found, whole, "{repository}: {name}"),
                Err(_) => errors += 1,
            }
        }
        assert!(errors > 5, "{repository}: {errors}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 300, ..ProptestConfig::default() })]

    /// Bytes of real files, changed at random.
    #[test]
    fn no_file_makes_the_reader_panic(
        name in prop::sample::select(vec!["v2-virtual-compressed", "v2-virtual-named", "v2-root-array", "v1-expired"]),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut files = inflated(name);
        files.retain(|name, _| !name.starts_with("transactions") && !name.starts_with("overwritten"));
        for (file, at, value) in changes {
            let (_, file) = { let number = file.index(files.len()); files.iter_mut().nth(number).unwrap() };
            let at = at.index(file.len());
            file[at] = value;
        }
        let _ = content(&files);
        let _ = held(&stored(&files), "");
    }
}
