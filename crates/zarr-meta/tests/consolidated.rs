//! Both forms of consolidated metadata.

use zarr_meta::consolidated::{ConsolidatedForm, ConsolidatedIndex, Difference, remove_inline, same};
use zarr_meta::json::Value;
use zarr_meta::v3::GroupDocument;
use zarr_meta::{Code, Ignore, Limits, MetaErrorKind};

const GROUP: &str = r#"{"zarr_format":3,"node_type":"group","attributes":{}}"#;

fn inline(metadata: &str) -> (ConsolidatedIndex, Vec<Code>) {
    let mut notes = Vec::new();
    let metadata = Value::parse(metadata).unwrap().as_object().unwrap();
    let index = ConsolidatedIndex::inline(&metadata, &mut notes).unwrap();
    (index, notes.into_iter().map(|note| note.code).collect())
}

fn keys(index: &ConsolidatedIndex) -> Vec<&str> {
    index.documents().map(|(key, _)| key).collect()
}

#[test]
fn paths_become_keys_and_odd_ones_are_reported() {
    use Code::{ConsolidatedKey as Key, ImplicitGroup as Implicit};
    let cases: &[(&[&str], &[&str], &[Code])] = &[
        (&["a", "a/x"], &["a/x/zarr.json", "a/zarr.json"], &[]),
        (&["/a"], &["a/zarr.json"], &[Key]),           // rule F41
        (&["/a", "a"], &["a/zarr.json"], &[Key, Key]), // rule F.t4: the same node
        (&["a/"], &["a/zarr.json"], &[Key]),           // rule F.t4
        (&["a/b"], &["a/b/zarr.json"], &[Implicit]),   // rule F.t10
        (&["a/b/c", "a/b/d", "a"], &["a/b/c/zarr.json", "a/b/d/zarr.json", "a/zarr.json"], &[Implicit]),
        (&["", "..", "a//b", "a/../b", "."], &[], &[Key; 5]),
    ];
    for (paths, wanted, codes) in cases {
        let members: Vec<String> = paths.iter().map(|path| format!("{path:?}:{GROUP}")).collect();
        let (index, notes) = inline(&format!("{{{}}}", members.join(",")));
        assert_eq!((keys(&index), &notes[..]), (wanted.to_vec(), *codes), "{paths:?}");
    }
}

/// A document that is not metadata is kept as it is, and does not hide other nodes (rule F48).
#[test]
fn documents_of_nodes_are_not_parsed() {
    let (index, notes) = inline(&format!(r#"{{"a":17,"b":{GROUP},"c":{{"codecs":"?"}}}}"#));
    assert_eq!((index.paths().count(), notes.len()), (3, 0));
    assert_eq!(index.get("a/zarr.json").unwrap().as_raw(), "17");
}

#[test]
fn consolidated_metadata_of_an_array_is_removed() {
    let array = r#"{"zarr_format":3,"node_type":"array","attributes":{"consolidated_metadata":1}"#;
    let marked = |member: &str| format!(r#"{{"x":{array},"consolidated_metadata":{member}}}}}"#);
    for member in ["null", r#"{"kind":"inline","must_understand":false,"metadata":{}}"#, "17"] {
        let (index, notes) = inline(&marked(member));
        let found = index.get("x/zarr.json").unwrap().to_compact();
        assert_eq!((found, notes.len()), (format!("{array}}}"), 0), "{member}");
    }
    // The member of a group stays, because readers of group documents know it.
    let group = r#"{"zarr_format":3,"node_type":"group","consolidated_metadata":null}"#;
    assert_eq!(inline(&format!(r#"{{"g":{group}}}"#)).0.get("g/zarr.json").unwrap().as_raw(), group);
}

/// The keys of format 2 are those of the store (rule F50).
#[test]
fn format_2_has_the_keys_of_the_store() {
    let parse = |text: &str| ConsolidatedIndex::parse(text.as_bytes(), &Limits::default(), &mut Ignore);
    let index = parse(
        r#"{"zarr_consolidated_format":1,"metadata":{".zgroup":{"zarr_format":2},".zattrs":{},
        "a/.zarray":{},"/a/.zattrs":{},"a/0.0":{},"x":1}}"#,
    );
    let index = index.unwrap();
    assert_eq!(keys(&index), [".zattrs", ".zgroup", "a/.zarray", "a/.zattrs"]);
    assert_eq!(index.paths().collect::<Vec<_>>(), ["", "a"]);
    // rule F.t7
    let e = parse(r#"{"zarr_consolidated_format":2,"metadata":{}}"#).unwrap_err();
    assert_eq!(e.kind(), MetaErrorKind::Unsupported);
    for bad in [
        r#"{"metadata":{}}"#,
        r#"{"zarr_consolidated_format":"1"}"#,
        "[]",
        "{",
        r#"{"zarr_consolidated_format":1,"metadata":[]}"#,
    ] {
        assert!(parse(bad).is_err(), "{bad}");
    }
}

#[test]
fn written_metadata_is_ordered_complete_and_read_back() {
    let mut index = ConsolidatedIndex::new(ConsolidatedForm::Inline);
    for path in ["b", "z/y/x", "a/b", "a"] {
        index.insert(&format!("{path}/zarr.json"), Value::parse(GROUP).unwrap());
    }
    let array = Value::parse(r#"{"zarr_format":3,"node_type":"array","shape":[1.50]}"#).unwrap();
    index.insert("a/b/t/zarr.json", array.clone());
    let text = index.write_into(GROUP.as_bytes(), &Limits::default()).unwrap();
    let group = GroupDocument::parse(text.as_bytes(), &Limits::default(), &mut zarr_meta::Strict).unwrap();
    let metadata = group.consolidated().unwrap();
    let names: Vec<_> = metadata.members().map(|m| m.name_lossy().into_owned()).collect();
    assert_eq!(
        names,
        ["a", "b", "z", "a/b", "z/y", "a/b/t", "z/y/x"],
        "rule F49: by depth, groups in between"
    );
    assert_eq!(metadata.get("a/b/t").unwrap().to_compact(), array.as_raw(), "the document is not changed");
    let marker = r#""consolidated_metadata":{"kind":"inline","must_understand":false,"metadata":{}}"#;
    assert!(metadata.get("a").unwrap().to_compact().contains(marker), "rule F42");
    let (again, notes) = (ConsolidatedIndex::inline(&metadata, &mut Ignore).unwrap(), Vec::<Code>::new());
    assert!(notes.is_empty());
    assert_eq!(again.differences(&index), [Difference::Gone("z".into()), Difference::Gone("z/y".into())]);
    let removed = remove_inline(text.as_bytes(), &Limits::default()).unwrap();
    assert_eq!(removed, GROUP);
}

#[test]
fn format_2_is_written_as_others_read_it() {
    let mut index = ConsolidatedIndex::new(ConsolidatedForm::Object);
    index.insert("g/a/.zarray", Value::parse("{}").unwrap());
    index.insert(".zgroup", Value::parse(r#"{"zarr_format":2,"consolidated_metadata":{}}"#).unwrap()); // rule F51
    let text = index.to_text();
    let wanted = r#"{"zarr_consolidated_format":1,"metadata":{".zgroup":{"zarr_format":2},"g/.zgroup":{"zarr_format":2},"g/a/.zarray":{}}}"#;
    assert_eq!(Value::parse(&text).unwrap().to_compact(), wanted);
    index.remove_subtree("g");
    assert_eq!(keys(&index), [".zgroup"]);
}

#[test]
fn equal_values_may_differ_in_spelling() {
    let value = |text: &str| Value::parse(text).unwrap();
    for (a, b) in [
        (r#"{"a":1,"b":[1,2]}"#, r#"{ "b" : [1, 2], "a" : 1.0 }"#),
        (r#""é""#, r#""\u00e9""#),
        ("1e2", "100"),
        ("0.1", "1e-1"),
        ("null", " null "),
    ] {
        assert!(same(&value(a), &value(b)), "{a} {b}");
    }
    for (a, b) in [
        ("1", "2"),
        ("9007199254740993", "9007199254740992"),
        ("[1,2]", "[2,1]"),
        ("[1]", "[1,1]"),
        (r#"{"a":1}"#, r#"{"b":1}"#),
        (r#"{"a":1}"#, "{}"),
        ("null", "false"),
        (r#""1""#, "1"),
    ] {
        assert!(!same(&value(a), &value(b)), "{a} {b}");
    }
}

#[test]
fn differences_name_the_nodes() {
    let (ours, _) = inline(&format!(
        r#"{{"a":{GROUP},"b":{GROUP},"g":{{"node_type":"group","zarr_format":3,"consolidated_metadata":null}}}}"#
    ));
    let (theirs, _) = inline(&format!(
        r#"{{"a":{{"zarr_format":3,"node_type":"group","attributes":{{"x":1}}}},"c":{GROUP},"g":{GROUP}}}"#
    ));
    let wanted =
        [Difference::Changed("a".into()), Difference::Gone("b".into()), Difference::Missing("c".into())];
    assert_eq!(ours.differences(&theirs), wanted);
    let index =
        |text: &str| ConsolidatedIndex::parse(text.as_bytes(), &Limits::default(), &mut Ignore).unwrap();
    let bare = index(r#"{"zarr_consolidated_format":1,"metadata":{"a/.zarray":{}}}"#);
    let empty = index(r#"{"zarr_consolidated_format":1,"metadata":{"a/.zarray":{},"a/.zattrs":{}}}"#);
    assert_eq!(bare.differences(&empty), [], "rule F52");
}

/// A store may have any content. Each of these maps must be read quickly.
#[test]
fn hostile_maps_are_read_quickly() {
    for (levels, nodes, reports) in [(100_000, 0, 1), (2_000, 1, 100)] {
        let deep = vec!["a"; levels].join("/");
        let (index, notes) = inline(&format!("{{{deep:?}:{GROUP}}}"));
        assert_eq!((index.paths().count(), notes.len()), (nodes, reports));
        assert!(index.to_member().as_raw().len() < 8 << 20);
    }
    let wide: Vec<String> = (0..20_000).map(|i| format!(r#""g{i}/x/a":{GROUP}"#)).collect();
    let (index, notes) = inline(&format!("{{{}}}", wide.join(",")));
    assert_eq!((index.paths().count(), notes.len()), (20_000, 100));
}
