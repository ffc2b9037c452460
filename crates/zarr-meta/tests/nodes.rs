//! Nodes of any format: their documents, and which bytes an edit keeps.

use zarr_meta::consolidated::ConsolidatedIndex;
use zarr_meta::json;
use zarr_meta::{Code, DocumentName, Documents, Format, GroupMeta, Ignore, Limits, NodeMeta, Strict};

const ARRAY: &str = r#"{
    "chunks": [2, 3],
    "compressor": null,
    "dtype": "<i4",
    "fill_value": 9,
    "filters": null,
    "order": "C",
    "shape": [4, 6],
    "zarr_format": 2,
    "_NCZARR_ARRAY": {"dimrefs": ["/y", "/x"], "storage": "chunked"}
}
"#;
const GROUP: &str = r#"{"zarr_format": 2}"#;
const GROUP_3: &str = r#"{"zarr_format": 3, "node_type": "group"}"#;

fn parse(documents: &[(DocumentName, &'static str)]) -> (Option<NodeMeta>, Vec<Code>) {
    let mut all = Documents::new();
    documents.iter().for_each(|(name, text)| all.insert(*name, *text));
    let mut notes = Vec::new();
    let node = NodeMeta::parse(&all, &Limits::default(), &mut notes).unwrap();
    (node, notes.into_iter().map(|n: zarr_meta::Diagnostic| n.code).collect())
}

#[test]
fn the_newest_document_counts() {
    use DocumentName::{Array2, Attributes2, Group2, Node};
    let cases = [
        (&[][..], None, &[][..]),
        (&[(Attributes2, "{}")], None, &[]), // attributes alone are not a node
        (&[(Node, GROUP_3)], Some((Format::V3, "group")), &[]),
        (&[(Group2, GROUP)], Some((Format::V2, "group")), &[]),
        (&[(Array2, ARRAY)], Some((Format::V2, "array")), &[]),
        (&[(Array2, ARRAY), (Group2, GROUP)], Some((Format::V2, "array")), &[Code::ArrayAndGroup]), // rule H.t10
        (&[(Array2, ARRAY), (Node, GROUP_3)], Some((Format::V3, "group")), &[Code::TwoFormats]), // rules F14 and L73
    ];
    for (documents, expected, codes) in cases {
        let (node, notes) = parse(documents);
        let found = node.map(|n| {
            let kind = if let NodeMeta::Array(_) = n { "array" } else { "group" };
            (n.format(), kind)
        });
        assert_eq!((found, &*notes), (expected, codes), "rule F14: {documents:?}");
    }
}

#[test]
fn an_error_names_its_document() {
    use DocumentName::{Array1, Array2, Attributes1, Group2, Node};
    let of = |documents: &[(DocumentName, &'static str)]| {
        let documents = documents.iter().fold(Documents::new(), |all, (name, text)| all.with(*name, *text));
        NodeMeta::parse(&documents, &Limits::default(), &mut Strict).unwrap_err()
    };
    for (name, texts) in [
        (
            Node,
            [
                "",
                "{",
                "[]",
                r#"{"zarr_format": 3}"#,
                r#"{"zarr_format": 3, "node_type": "array", "shape": [-4]}"#,
            ],
        ),
        (
            Array2,
            ["", "{", "[]", r#"{"zarr_format": 3}"#, r#"{"zarr_format": 2, "shape": [-4], "chunks": [1]}"#],
        ),
        (Group2, ["", "{", "[]", r#"{"zarr_format": 3}"#, r#"{"zarr_format": 2, "x": 1}"#]),
        (
            Array1,
            ["", "{", "[]", r#"{"zarr_format": 3}"#, r#"{"zarr_format": 1, "shape": [-4], "chunks": [1]}"#],
        ),
    ] {
        for text in texts {
            let e = of(&[(name, text), (Attributes1, "{}")]);
            assert_eq!(e.document(), Some(name.as_str()), "{text}: {e:#}");
            assert!(format!("{e:#}").starts_with(&format!("{name}: ")), "{text}: {e:#}");
        }
    }
    let e = ConsolidatedIndex::parse(b"[]", &Limits::default(), &mut Strict).unwrap_err();
    assert!(format!("{e:#}").starts_with(".zmetadata: "), "{e:#}");
}

#[test]
fn readers_ask_for_the_newest_first() {
    let names = |format| {
        let steps = Documents::steps(format).iter();
        steps.map(|s| s.iter().map(|n| n.as_str()).collect::<Vec<_>>().join(" ")).collect::<Vec<_>>()
    };
    assert_eq!(names(None), ["zarr.json", ".zarray .zgroup .zattrs"], "rule F15");
    assert_eq!(names(Some(Format::V1)), ["meta attrs"], "rule F15");
    for name in ["zarr.json", ".zarray", ".zgroup", ".zattrs"] {
        assert_eq!(DocumentName::of(name).map(DocumentName::as_str), Some(name));
    }
    assert_eq!(DocumentName::of("meta"), None, "rule I5");
}

#[test]
fn an_edit_changes_no_other_bytes() {
    let attributes =
        "{\"_ARRAY_DIMENSIONS\": [\"y\", \"x\"], \"_NCZARR_ATTR\": {\"types\": {}}, \"m\": NaN}\n";
    let (node, _) = parse(&[(DocumentName::Array2, ARRAY), (DocumentName::Attributes2, attributes)]);
    let mut array = node.unwrap().array().unwrap();
    array.set_shape(&[5, 6]).unwrap();
    array.edit_attributes(|a| a.set("units", "K")).unwrap();
    let documents = array.documents();
    let (resized, edited) =
        (ARRAY.replace("[4, 6]", "[5, 6]"), attributes.replace("NaN", "NaN, \"units\": \"K\""));
    assert!(documents[0].1.as_ref().unwrap().contains("_NCZARR_ARRAY"), "rules H3 and J24");
    let shape = |text: &str| text.split_whitespace().collect::<String>();
    assert_eq!(shape(documents[0].1.as_ref().unwrap()), shape(&resized));
    assert_eq!(documents[1], (DocumentName::Attributes2, Some(edited)), "rule J24");
    assert_eq!(array.shape(), [5, 6]);
    assert_eq!(array.document().attributes(), array.attributes());
    assert_eq!(array.attributes().get("units").unwrap().as_raw(), "\"K\"");

    array.set_attributes(zarr_meta::json::Object::new()).unwrap();
    assert_eq!(
        array.documents()[1],
        (DocumentName::Attributes2, None),
        "cleared attributes have no document"
    );
}

#[test]
fn broken_attributes_do_not_hide_the_node() {
    for (text, broken, code) in [
        ("{}", false, None),
        ("null", false, Some(Code::NullAttributes)),
        ("{\"a\": ", true, Some(Code::BrokenAttributes)),
        ("[1]", true, Some(Code::BrokenAttributes)),
    ] {
        for (name, document) in [(DocumentName::Array2, ARRAY), (DocumentName::Group2, GROUP)] {
            let (node, notes) = parse(&[(name, document), (DocumentName::Attributes2, text)]);
            let mut node = node.unwrap();
            assert_eq!(notes, code.into_iter().collect::<Vec<_>>(), "rule H.t8: {text}");
            assert_eq!(node.attributes_error().is_some(), broken, "rule H.t8: {text}");
            assert_eq!(node.edit_attributes(|a| a.set("k", 1)).is_err(), broken, "rule H.t8: {text}");
            assert_eq!(
                node.set_attributes(zarr_meta::json::Object::new()).is_err(),
                broken,
                "rule H.t8: {text}"
            );
            let untouched = !node.documents().iter().any(|(n, _)| *n == DocumentName::Attributes2);
            assert_eq!(untouched, broken, "rule H.t8: {text}");
        }
        let documents = Documents::new().with(DocumentName::Group2, GROUP);
        let documents = documents.with(DocumentName::Attributes2, text);
        let strict = NodeMeta::parse(&documents, &Limits::default(), &mut Strict);
        assert_eq!(strict.is_err(), code.is_some(), "rule H.t8: {text}");
    }
}

#[test]
fn groups_of_format_2_keep_unknown_members() {
    let text = r#"{"zarr_format": 2, "_NCZARR_GROUP": {"dims": {}}}"#;
    let (node, notes) = parse(&[(DocumentName::Group2, text)]);
    assert_eq!(notes, [Code::GroupMember], "rule H4");
    let mut group = node.unwrap().group().unwrap();
    group.edit_attributes(|a| a.set("title", "x")).unwrap();
    assert_eq!(
        group.documents(),
        [
            (DocumentName::Group2, Some(text.to_owned())),
            (DocumentName::Attributes2, Some("{\n    \"title\": \"x\"\n}".to_owned())),
        ],
        "rules H4 and J24"
    );
    for bad in [r#"{"zarr_format": 3}"#, r#"{"zarr_format": "2"}"#, "{}", "[]", "{"] {
        let documents = Documents::new().with(DocumentName::Group2, bad);
        assert!(NodeMeta::parse(&documents, &Limits::default(), &mut Ignore).is_err(), "rule H4: {bad}");
    }
}

#[test]
fn new_groups_have_the_documents_of_their_format() {
    let group = GroupMeta::new(Format::V2).unwrap();
    let documents = group.documents();
    assert_eq!(
        documents[0],
        (DocumentName::Group2, Some("{\n    \"zarr_format\": 2\n}".to_owned())),
        "rule H10"
    );
    assert_eq!(documents[1], (DocumentName::Attributes2, None));
    assert_eq!(GroupMeta::new(Format::V3).unwrap().documents()[0].0, DocumentName::Node);
    assert!(GroupMeta::new(Format::V1).is_err(), "rule I1");
}

#[test]
fn a_group_of_format_3_has_a_document_that_can_be_edited() {
    let mut group = GroupMeta::new(Format::V3).unwrap();
    group.document_mut().unwrap().set_attributes(json!({"title": "x"})).unwrap();
    for attributes in [group.document().unwrap().attributes(), group.attributes()] {
        assert_eq!(attributes.get("title").unwrap().to_text().unwrap(), "x");
    }
    let mut group = GroupMeta::new(Format::V2).unwrap();
    assert!(group.document().is_none() && group.document_mut().is_none());
}

/// Consolidated metadata of 20 MB can have 300,000 groups.
#[test]
fn a_group_takes_no_memory_for_an_array() {
    let (node, group) = (size_of::<NodeMeta>(), size_of::<GroupMeta>());
    assert!(node <= group + 8, "a node takes {node} bytes, a group {group}");
}
