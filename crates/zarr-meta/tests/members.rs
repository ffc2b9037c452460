//! Members that the specification does not define, and groups, one row for each case of the rules.

use crate::common::Verdict::{Fine, Refused, Tolerated};
use crate::common::{base, group, parse, rows};
use zarr_meta::v3::{GroupDocument, NodeDocument};
use zarr_meta::{Code, Limits, Strict};

#[test]
fn additional_members_are_checked() {
    rows(&[
        ("A.t70", &[("foo", "1")], Refused("member \"/foo\": unknown member that must be understood")),
        ("A.t70", &[("foo", "\"must_understand\"")], Refused("member \"/foo\"")),
        ("A.t70", &[("foo", "[]")], Refused("member \"/foo\"")),
        ("A.t71", &[("foo", r#"{"a":1}"#)], Refused("member \"/foo\"")),
        ("A.t71", &[("foo", r#"{"must_understand":true}"#)], Refused("member \"/foo\"")),
        ("A.t71", &[("foo", r#"{"must_understand":"false"}"#)], Refused("member \"/foo\"")),
        ("A.t72", &[("foo", r#"{"must_understand":false,"a":1}"#)], Fine),
        ("A.t73", &[("foo", r#"{"must_understand":false,"name":"foo"}"#)], Fine),
        ("A.t74", &[("foo", "null")], Tolerated(Code::NullMember)),
        ("A.t75", &[("consolidated_metadata", "null")], Tolerated(Code::NullMember)),
        (
            "A27",
            &[("consolidated_metadata", r#"{"kind":"inline","metadata":{}}"#)],
            Refused("only groups have it"),
        ),
    ]);
    // An additional member is kept (rule A29).
    let text = base(&[("foo", r#"{ "must_understand":false, "a":1.0 }"#)]);
    let mut meta = parse(&text).unwrap();
    meta.edit_attributes(|a| a.set("k", 1)).unwrap();
    meta.set_shape(&[8]).unwrap();
    assert_eq!(
        meta.to_text(),
        text.replace("\"attributes\":{}", "\"attributes\":{\"k\":1}")
            .replace("\"shape\":[4]", "\"shape\":[8]")
    );
    let additional: Vec<_> = meta.document().additional().collect();
    assert_eq!((additional.len(), &*additional[0].0), (1, "foo"));
}

#[test]
fn members_of_groups_are_checked() {
    let check = |id: &str, members: &str, code: Option<Code>| {
        let (limits, mut notes) = (Limits::default(), Vec::new());
        let document = GroupDocument::parse(group(members).as_bytes(), &limits, &mut notes)
            .unwrap_or_else(|e| panic!("rule {id}: {e:#}"));
        assert_eq!(notes.iter().map(|n| n.code).collect::<Vec<_>>(), Vec::from_iter(code), "rule {id}");
        assert_eq!(
            GroupDocument::parse(group(members).as_bytes(), &limits, &mut Strict).is_err(),
            code.is_some(),
            "rule {id}"
        );
        assert_eq!(document.to_text(), group(members));
        document
    };
    let refuse = |id: &str, members: &str, words: &str| {
        let e =
            GroupDocument::parse(group(members).as_bytes(), &Limits::default(), &mut Vec::new()).unwrap_err();
        assert!(format!("{e:#}").contains(words), "rule {id}: {e:#}");
    };
    check("A.t76", r#","foo":{"must_understand":false}"#, None);
    assert!(
        check("A.t77", r#","consolidated_metadata":null"#, Some(Code::NullConsolidated))
            .consolidated()
            .is_none()
    );
    check("A.t74", r#","foo":null"#, Some(Code::NullMember));
    refuse("A26", r#","foo":{}"#, "member \"/foo\": unknown member that must be understood");
    refuse("L93", r#","fill_value":0"#, "member \"/fill_value\"");
    refuse("A7", r#","attributes":3"#, "member \"/attributes\": expected an object");

    let inline = r#","consolidated_metadata":{"kind":"inline","must_understand":false,"metadata":{"a":{"zarr_format":3,"node_type":"group"},"b":{"broken":1}}}"#;
    let document = check("F40", inline, None);
    let map = document.consolidated().unwrap();
    assert_eq!(map.members().map(|m| m.name_lossy()).collect::<Vec<_>>(), ["a", "b"]);
    let read = |name| NodeDocument::from_value(map.get(name).unwrap(), &Limits::default(), &mut Strict);
    assert!(matches!(read("a"), Ok(NodeDocument::Group(_))), "rule F48");
    assert!(read("b").is_err(), "rule F48: one bad node does not block the others");

    let form = Some(Code::ConsolidatedForm);
    assert!(
        check("F49", r#","consolidated_metadata":{"kind":"inline","metadata":{}}"#, form)
            .consolidated()
            .is_some()
    );
    check(
        "F49",
        r#","consolidated_metadata":{"kind":"inline","must_understand":false,"metadata":{},"x":1}"#,
        form,
    );
    let other = check("F.t5", r#","consolidated_metadata":{"kind":"other","must_understand":false}"#, form);
    assert!(other.consolidated().is_none());
    refuse("F.t5", r#","consolidated_metadata":{"kind":"other"}"#, "member \"/consolidated_metadata\"");
    refuse(
        "F40",
        r#","consolidated_metadata":{"kind":"inline","metadata":[]}"#,
        "member \"/consolidated_metadata\"",
    );
    refuse("F40", r#","consolidated_metadata":[]"#, "expected an object");

    let mut document = document;
    document.remove_consolidated();
    document.edit_attributes(|a| a.set("t", "x"));
    assert_eq!(document.to_text(), group("").replace("{}", "{\"t\":\"x\"}"));

    let e = parse(&group("")).unwrap_err();
    assert_eq!(format!("{e:#}"), "zarr.json: expected an array, found a group");
    let e = GroupDocument::parse(base(&[]).as_bytes(), &Limits::default(), &mut Strict).unwrap_err();
    assert_eq!(format!("{e:#}"), "zarr.json: expected a group, found an array");
}

#[test]
fn many_deviations_are_reported_in_part() {
    let many: String = (0..100_000).map(|i| format!(",\"m{i}\":null")).collect();
    let mut notes = Vec::new();
    GroupDocument::parse(group(&many).as_bytes(), &Limits::default(), &mut notes).unwrap();
    assert_eq!(notes.len(), 100);
    assert!(notes[99].message.ends_with("further reports are left out"));
    let many = format!("[{}]", vec!["\"x\""; 100_000].join(","));
    rows(&[
        ("L103", &[("codecs", &many)], Refused("member \"/codecs\": expected at most 32 elements")),
        ("L103", &[("storage_transformers", &many)], Refused("expected at most 32 elements")),
        (
            "L95",
            &[("shape", &many.replace("\"x\"", "1"))],
            Refused("member \"/shape\": the array has more than 64 dimensions"),
        ),
    ]);
}
