//! Broken nodes do not hide other nodes, and no bytes cause a panic.

use crate::common::{self, ARRAY, GROUP, consolidated, open, open_with, store};
use zarr_hierarchy::blocking::Group;
use zarr_hierarchy::zarr_array::meta::Limits;
use zarr_hierarchy::zarr_array::standard;
use zarr_hierarchy::{Child, GroupOptions, NodeKind, UnresolvedArrays};

/// Documents that are invalid, each in another way.
const BROKEN: &[&str] = &[
    "",
    "{",
    "null",
    "[]",
    "17",
    "\u{feff}",
    r#"{"zarr_format":3}"#,
    r#"{"zarr_format":4,"node_type":"group"}"#,
    r#"{"zarr_format":2,"shape":[4],"chunks":[2]}"#,
    r#"{"zarr_format":3,"node_type":"table"}"#,
    r#"{"zarr_format":3,"node_type":"array"}"#,
    r#"{"zarr_format":3,"node_type":"group","unknown":{}}"#,
    r#"{"zarr_format":3,"node_type":"group","attributes":[]}"#,
    r#"{"zarr_format":3,"node_type":"group","consolidated_metadata":{"kind":"?"}}"#,
];

/// Rule F25, and rule F48 for consolidated metadata.
#[test]
fn every_third_node_is_broken_and_the_others_are_listed() {
    let deep = format!("{}1{}", "[".repeat(500), "]".repeat(500));
    let long =
        format!(r#"{{"zarr_format":3,"node_type":"group","attributes":{{"a":"{}"}}}}"#, "a".repeat(50_000));
    let broken: Vec<&str> = BROKEN.iter().copied().chain([&deep[..], &long]).collect();
    let mut objects = vec![("zarr.json".to_owned(), GROUP)];
    for (i, text) in broken.iter().enumerate() {
        objects.push((format!("{i:02}a/zarr.json"), GROUP));
        objects.push((format!("{i:02}b/zarr.json"), text));
        objects.push((format!("{i:02}c/zarr.json"), ARRAY));
        // The children of a broken node are not listed.
        objects.push((format!("{i:02}b/x/zarr.json"), ARRAY));
    }
    let objects: Vec<(&str, &str)> = objects.iter().map(|(key, text)| (&key[..], *text)).collect();
    let (storage, _) = store(&objects);
    let mut limits = Limits::default();
    limits.metadata_bytes = 40 << 10;
    let options = GroupOptions::new().limits(limits);
    let mut root = open_with(&storage, options.clone());
    let children = root.children().unwrap();
    let one_by_one = open_with(&storage, options.at_once(1));
    assert_eq!(children.len(), 3 * broken.len());
    for (i, child) in children.iter().enumerate() {
        match i % 3 {
            0 => assert_eq!(child.kind(), Some(NodeKind::Group), "{}", child.path()),
            1 => assert_eq!(child.error().unwrap().node(), Some(&child.path()[..])),
            _ => assert_eq!(child.kind(), Some(NodeKind::Array), "{}", child.path()),
        }
    }
    assert_eq!(root.walk().count(), children.len());
    let found = |child: &Child| (child.path(), child.kind(), child.error().map(ToString::to_string));
    let all = |children: Vec<Child>| children.iter().map(found).collect::<Vec<_>>();
    assert_eq!(all(one_by_one.children().unwrap()), all(children), "as with threads");
    assert_eq!(all(one_by_one.walk().collect()), all(root.walk().collect()));
    assert!(root.consolidate().is_err());
    let report = root.consolidate_with(UnresolvedArrays::LeaveOut).unwrap();
    assert_eq!((report.nodes, report.left_out.len()), (2 * broken.len(), broken.len()));
    assert_eq!(root.children().unwrap().len(), 2 * broken.len());
    assert_eq!(
        root.check_consolidated().unwrap().unwrap().len(),
        broken.len(),
        "each broken node is a difference"
    );
}

/// Rule F48: the same in consolidated metadata.
#[test]
fn broken_documents_in_consolidated_metadata_hide_no_other_node() {
    let json = BROKEN[2..].iter().filter(|text| **text != "\u{feff}");
    let entries: Vec<String> =
        json.enumerate().map(|(i, text)| format!(r#""{i:02}b":{text},"{i:02}c":{ARRAY}"#)).collect();
    let map = consolidated(&format!("{{{}}}", entries.join(",")));
    let root = open(&store(&[("zarr.json", &map)]).0);
    let children = root.children().unwrap();
    assert_eq!(children.len(), 2 * entries.len());
    for pair in children.chunks(2) {
        assert!(pair[0].error().is_some() && pair[1].kind() == Some(NodeKind::Array), "{}", pair[0].path());
    }
}

#[test]
fn changed_bytes_never_cause_a_panic() {
    let map = consolidated(&format!(r#"{{"a":{GROUP},"a/x":{ARRAY}}}"#));
    let old = r#"{"zarr_consolidated_format":1,"metadata":{".zgroup":{"zarr_format":2},"a/.zgroup":{"zarr_format":2}}}"#;
    let look = |name: &str, text: &[u8], beside: &[(&str, &str)]| {
        let (storage, _) = store(beside);
        let key = common::key(name);
        zarr_hierarchy::zarr_array::block_on(storage.put(&key, text.to_vec())).unwrap();
        if let Ok(mut root) = Group::open(storage, "/", &standard()) {
            for child in root.walk() {
                let _ = child.open();
            }
            let _ = root.check_consolidated();
            let _ = root.create_group("n");
            let _ = root.remove_consolidated();
        }
    };
    for (name, text, beside) in [
        ("zarr.json", map.as_bytes(), &[][..]),
        (".zmetadata", old.as_bytes(), &[(".zgroup", common::GROUP2)]),
    ] {
        for at in 0..text.len() {
            look(name, &text[..at], beside);
            for bit in [0, 2, 5, 7] {
                let mut text = text.to_vec();
                text[at] ^= 1 << bit;
                look(name, &text, beside);
            }
        }
    }
}

/// A document that is too long to be read is not written.
#[test]
fn consolidated_metadata_stays_within_the_limits() {
    let (storage, _) = store(&[("zarr.json", GROUP), ("x/zarr.json", ARRAY)]);
    let mut limits = Limits::default();
    limits.metadata_bytes = 380;
    let mut root = open_with(&storage, GroupOptions::new().limits(limits));
    let e = root.consolidate().unwrap_err();
    assert_eq!(e.kind(), zarr_hierarchy::HierarchyErrorKind::LimitExceeded);
    assert_eq!(common::text(&storage, "zarr.json"), GROUP);
}

/// An error of the store is not a broken node: such a node must not be left out as unreadable.
#[test]
fn an_error_of_the_store_is_not_a_broken_node() {
    use std::error::Error;
    use zarr_conformance::instruments::{Fault, Faulty};
    use zarr_hierarchy::HierarchyErrorKind as Kind;
    use zarr_hierarchy::zarr_array::traits::{StoreError, StoreErrorKind};

    for (fault, expected) in [
        (StoreErrorKind::Unavailable, Kind::Unavailable),
        (StoreErrorKind::PermissionDenied, Kind::PermissionDenied),
        (StoreErrorKind::Io, Kind::Io),
    ] {
        let (storage, _) = store(&[("zarr.json", GROUP), ("a/zarr.json", GROUP)]);
        let (faulty, _) = Faulty::over(&storage, move |_, call| {
            (call.target() == "a/zarr.json").then_some(Fault::ErrorBefore(fault))
        });
        let e = open(&faulty).consolidate_with(UnresolvedArrays::LeaveOut).unwrap_err();
        assert_eq!((e.kind(), e.node()), (expected, Some("/a")), "{e:#}");
        let below = e.source().unwrap();
        assert_eq!(below.downcast_ref::<StoreError>().unwrap().kind(), fault);
        assert_eq!(common::text(&storage, "zarr.json"), GROUP, "nothing was written");
    }
}

/// Attributes of format 2 have their own document. While it is broken, the attributes are not empty.
#[test]
fn unreadable_attributes_are_not_empty() {
    type Table = std::collections::BTreeMap<String, f64>;
    let (storage, _) = store(&[(".zgroup", common::GROUP2), (".zattrs", r#"{"a": NaN, "b": 1}"#)]);
    let mut root = open(&storage);
    assert!(root.attributes_as::<Table>().unwrap()["a"].is_nan());
    let e = root.attributes_as::<std::collections::BTreeMap<String, bool>>().unwrap_err();
    assert!(format!("{e:#}").starts_with("node \"/\": member \"/attributes/a\": invalid type"), "{e:#}");
    root.set_attribute("c", &2.5).unwrap();
    assert_eq!(open(&storage).attributes_as::<Table>().unwrap()["c"], 2.5);
    let (storage, _) = store(&[(".zgroup", common::GROUP2), (".zattrs", "{")]);
    assert!(open(&storage).attributes_as::<Table>().is_err());
}

/// A document beyond the limit is refused before its bytes are read.
#[test]
fn documents_beyond_the_limit_are_not_read() {
    let long = " ".repeat(1001);
    let mut limits = Limits::default();
    limits.metadata_bytes = 1000;
    for (objects, bytes_read) in [
        (&[("zarr.json", &long[..])][..], 0),
        (&[(".zgroup", &long)], 0),
        (&[(".zgroup", common::GROUP2), (".zmetadata", &long)], common::GROUP2.len()),
    ] {
        let (storage, counting) = store(objects);
        let options = GroupOptions::new().limits(limits.clone());
        let e = Group::open_with(storage, "/", &standard(), &options).unwrap_err();
        assert_eq!(e.kind(), zarr_hierarchy::HierarchyErrorKind::LimitExceeded);
        assert!(format!("{e:#}").contains("the object has 1001 bytes, at most 1000 are accepted"), "{e:#}");
        assert_eq!(counting.counts().bytes_read, bytes_read as u64, "{e:#}");
    }
}
