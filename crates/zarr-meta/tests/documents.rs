//! Documents of arrays and groups, one row for each case of docs/specification/core.md.

use crate::common::Verdict::{Fine, Refused, Tolerated};
use crate::common::{base, check, parse, rows};
use zarr_meta::v3::NodeDocument;
use zarr_meta::{Code, Limits, MetaErrorKind, Strict};

#[test]
fn members_of_the_document_are_checked() {
    rows(&[
        ("BASE", &[], Fine),
        ("A.t1", &[("-attributes", "")], Fine),
        ("A.t2", &[("attributes", "null")], Tolerated(Code::NullAttributes)),
        ("A.t3", &[("attributes", "[]")], Refused("member \"/attributes\": expected an object, found []")),
        ("A.t4", &[("zarr_format", "3.0")], Tolerated(Code::FormatSpelling)),
        ("A.t4", &[("zarr_format", "30e-1")], Tolerated(Code::FormatSpelling)),
        (
            "A.t5",
            &[("zarr_format", "\"3\"")],
            Refused("member \"/zarr_format\": expected the number 3, found \"3\""),
        ),
        ("A.t5", &[("zarr_format", "3.5")], Refused("expected the number 3, found 3.5")),
        ("A.t5", &[("zarr_format", "null")], Refused("expected the number 3, found null")),
        ("A.t6", &[("-node_type", "")], Refused("member \"/node_type\": this member is missing")),
        ("A.t6", &[("node_type", "\"Array\"")], Refused("expected \"array\" or \"group\", found \"Array\"")),
        ("A.t6", &[("node_type", "null")], Refused("expected \"array\" or \"group\", found null")),
        ("A.t7", &[("zarr_format", "4")], Refused("unsupported version 4")),
        ("A.t10", &[("+fill_value", "9")], Tolerated(Code::DuplicateMember)),
        ("A.t11", &[("attributes", r#"{"a":[NaN]}"#)], Tolerated(Code::BareNonFinite)),
        ("A.t12", &[("data_type", "\"float32\""), ("fill_value", "NaN")], Tolerated(Code::BareNonFinite)),
        ("A.t13", &[("attributes", r#"{"a":1e400}"#)], Fine),
        ("A.t14", &[("attributes", r#"{"a":18446744073709551616}"#)], Fine),
        ("A.t17", &[("attributes", r#"{"a":"\ud800"}"#)], Tolerated(Code::LoneSurrogate)),
    ]);
    check("A.t8", &format!("\u{feff}{}", base(&[])), Tolerated(Code::ByteOrderMark));
    check("A.t9", &base(&[]).replace("}}", "},}"), Refused("trailing comma"));
    for text in ["[]", "3", "\"{}\"", "null"] {
        check("A.t15", text, Refused("expected an object"));
    }
    check("A.t15", "", Refused("the document is empty"));
    let broken = [base(&[("attributes", "{\"a\":\"")]).as_bytes(), b"\xff\"}}"].concat();
    let e = zarr_meta::ArrayMeta::parse(&broken, &Limits::default(), &mut Strict).unwrap_err();
    assert_eq!((e.kind(), e.pointer()), (MetaErrorKind::Syntax, "/attributes/a"), "rule A.t16: {e:#}");
    for member in
        ["shape", "data_type", "chunk_grid", "chunk_key_encoding", "fill_value", "codecs", "zarr_format"]
    {
        let deleted = format!("-{member}");
        check("A5, B.t9", &base(&[(&deleted, "")]), Refused("this member is missing"));
    }
    // The last one counts (rule A.t10).
    assert_eq!(parse(&base(&[("+fill_value", "9")])).unwrap().document().fill_value().as_raw(), "9");
}

#[test]
fn errors_name_other_versions_and_drafts() {
    let cases = [
        (
            r#"{"zarr_format":2,"shape":[4],"chunks":[2],"dtype":"<i4"}"#,
            "this document is of Zarr version 2, expected version 3",
        ),
        (r#"{"zarr_format":1}"#, "this document is of Zarr version 1"),
        (r#"{"zarr_format":4,"anything":1}"#, "unsupported version 4 of Zarr"),
        (
            r#"{"zarr_format":"https://purl.org/zarr/spec/protocol/core/3.0","metadata_encoding":"x"}"#,
            "pre-release draft",
        ),
        (r#"{"zarr_format":3,"metadata_key_suffix":".json"}"#, "pre-release draft"),
        (r#"{"shape":[4],"chunk_memory_layout":"C","compressor":{}}"#, "pre-release draft"),
    ];
    for (text, words) in cases {
        let e = NodeDocument::parse(text.as_bytes(), &Limits::default(), &mut Strict).unwrap_err();
        assert!(
            e.kind() == MetaErrorKind::Unsupported && format!("{e:#}").contains(words),
            "rules A.t7 and A41: {e:#}"
        );
    }
    let e = parse(r#"{"shape":[4]}"#).unwrap_err();
    assert_eq!(format!("{e:#}"), "zarr.json: member \"/zarr_format\": this member is missing");
    check(
        "A41",
        &base(&[("chunk_memory_layout", "\"C\"")]),
        Refused("it belongs to drafts of Zarr version 3"),
    );
    check(
        "A40",
        &base(&[("data_type", "[\"int32\"]")]),
        Refused("expected a string or an object with a name"),
    );
    check("A24", &base(&[("compressor", "{}")]), Refused("it belongs to Zarr version 2"));
}

#[test]
fn shapes_are_checked() {
    let (grid, none) = ("chunk_grid", r#"{"name":"regular","configuration":{"chunk_shape":[]}}"#);
    rows(&[
        (
            "A.t20",
            &[("shape", "[-4]")],
            Refused("member \"/shape/0\": expected an integer from 0 to 2^64 - 1, found -4"),
        ),
        ("A.t21", &[("shape", "[4.0]")], Tolerated(Code::IntegerSpelling)),
        ("A.t21", &[("shape", "[4.5]")], Refused("member \"/shape/0\"")),
        ("A.t22", &[("shape", "[true]")], Refused("member \"/shape/0\"")),
        ("A.t23", &[("shape", "4")], Refused("member \"/shape\": expected an array of integers, found 4")),
        ("A.t23", &[("shape", "null")], Refused("member \"/shape\"")),
        ("A.t23", &[("shape", "[\"4\"]")], Refused("member \"/shape/0\"")),
        ("A.t24", &[("shape", "[0]")], Fine),
        ("A.t25", &[("shape", "[]"), (grid, none)], Fine),
        ("A.t26", &[("shape", "[18446744073709551615]")], Fine),
        ("A10", &[("shape", "[18446744073709551616]")], Refused("found 18446744073709551616")),
    ]);
    let shape = |text: &str| parse(&base(&[("shape", text)])).unwrap().shape().to_vec();
    assert_eq!(shape("[4.0]"), [4]);
    assert_eq!(shape("[18446744073709551615]"), [u64::MAX]);
    let long = format!("[{}1]", "1,".repeat(1000));
    let e = parse(&base(&[("shape", &long)])).unwrap_err();
    assert_eq!(e.kind(), MetaErrorKind::LimitExceeded, "rule L95: {e:#}");
}

#[test]
fn dimension_names_are_checked() {
    rows(&[
        ("A.t30", &[("dimension_names", "[null]")], Fine),
        ("A.t31", &[("dimension_names", "null")], Tolerated(Code::NullDimensionNames)),
        (
            "A.t32",
            &[("dimension_names", "[\"x\",\"y\"]")],
            Refused("expected one name for each of 1 dimensions, found 2"),
        ),
        ("A.t32", &[("dimension_names", "\"x\"")], Refused("member \"/dimension_names\": expected an array")),
        ("A.t33", &[("dimension_names", "[\"\"]")], Fine),
        ("A.t34", &[("shape", "[4,4]"), ("dimension_names", "[\"x\",\"x\"]"), two()], Fine),
        (
            "A.t35",
            &[("dimension_names", "[3]")],
            Refused("member \"/dimension_names/0\": expected a string or null, found 3"),
        ),
    ]);
    let names =
        |text: &str| parse(&base(&[("dimension_names", text)])).unwrap().dimension_names().map(<[_]>::to_vec);
    assert_eq!(names("[\"\"]"), Some(vec![Some(String::new())]), "rules A11 and L89");
    assert_eq!(names("[null]"), Some(vec![None]));
    assert_eq!(names("null"), None);
}

fn two() -> (&'static str, &'static str) {
    ("chunk_grid", r#"{"name":"regular","configuration":{"chunk_shape":[2,2]}}"#)
}
