//! Extension objects, codecs and storage transformers, one row for each case of docs/specification/core.md.

use crate::common::Verdict::{Advised, Fine, Refused, Tolerated, Unresolved};
use crate::common::{self, base, check, parse, rows};
use zarr_meta::v3::Extension;
use zarr_meta::{Code, Diagnostic, Strict};

#[test]
fn extension_objects_are_checked() {
    let codecs = |text: &'static str| ("codecs", text);
    rows(&[
        (
            "A.t40",
            &[("chunk_grid", "\"regular\"")],
            Unresolved("member \"/chunk_grid/configuration/chunk_shape\""),
        ),
        ("A.t41", &[("chunk_key_encoding", "\"default\"")], Fine),
        ("A.t42", &[("data_type", "\"uint8\""), codecs("[\"bytes\"]")], Fine),
        ("A.t43", &[codecs(r#"[{"name":"bytes","configuration":{"endian":"little"}},"crc32c"]"#)], Fine),
        ("A.t44", &[("chunk_key_encoding", r#"{"name":"default"}"#)], Fine),
        ("A.t45", &[("chunk_key_encoding", r#"{"name":"default","configuration":{}}"#)], Fine),
        ("A.t46", &[("data_type", r#"{"name":"int32"}"#)], Fine),
        ("A.t47", &[("data_type", r#"{"name":"int32","configuration":{}}"#)], Fine),
        (
            "A.t48",
            &[(
                "chunk_grid",
                r#"{"name":"regular","configuration":{"chunk_shape":[2]},"must_understand":true}"#,
            )],
            Fine,
        ),
        (
            "A.t49",
            &[(
                "chunk_grid",
                r#"{"name":"regular","configuration":{"chunk_shape":[2]},"must_understand":false}"#,
            )],
            Tolerated(Code::MeaninglessWaiver),
        ),
        (
            "A.t49",
            &[("chunk_key_encoding", r#"{"name":"default","must_understand":false}"#)],
            Tolerated(Code::MeaninglessWaiver),
        ),
        (
            "K.3",
            &[("chunk_grid", r#"{"name":"hexagonal","must_understand":false}"#)],
            Unresolved("member \"/chunk_grid\": cannot be understood: unknown chunk grid \"hexagonal\""),
        ),
        (
            "A.t50, as K.3 has it",
            &[("data_type", r#"{"name":"int32","must_understand":false}"#)],
            Tolerated(Code::MeaninglessWaiver),
        ),
        (
            "A.t50",
            &[("data_type", r#"{"name":"Int32","must_understand":false}"#)],
            Unresolved("unknown data type \"Int32\""),
        ),
        (
            "A.t51",
            &[("chunk_grid", r#"{"name":"regular","configuration":{"chunk_shape":[2]},"x":1}"#)],
            Tolerated(Code::ExtensionMember),
        ),
        (
            "A.t52",
            &[("chunk_grid", r#"{"name":"regular","configuration":{"chunk_shape":[2],"x":1}}"#)],
            Tolerated(Code::ConfigurationMember),
        ),
        (
            "A.t52",
            &[("data_type", r#"{"name":"int32","configuration":{"x":1}}"#)],
            Tolerated(Code::ConfigurationMember),
        ),
        (
            "A.t53",
            &[codecs(r#"[{"name":"bytes","configuration":{"endian":"little"}},{"name":"foo"}]"#)],
            Unresolved("member \"/codecs/1\": cannot be understood: unknown codec \"foo\""),
        ),
        (
            "A.t54",
            &[codecs(
                r#"[{"name":"bytes","configuration":{"endian":"little"}},{"name":"foo","must_understand":false}]"#,
            )],
            Advised(Code::SkippedCodec),
        ),
        (
            "A.t55",
            &[("data_type", "\"Int32\"")],
            Unresolved("member \"/data_type\": cannot be understood: unknown data type \"Int32\""),
        ),
        ("A.t56", &[("data_type", "\"<i4\"")], Unresolved("unknown data type \"<i4\"")),
        (
            "A.t57",
            &[codecs(
                r#"[{"name":"bytes","configuration":{"endian":"little"}},{"name":"https://example.org/gzip","configuration":{"level":1}}]"#,
            )],
            Tolerated(Code::AliasName),
        ),
        (
            "A.t58",
            &[(
                "chunk_grid",
                r#"{"name":"regular","configuration":{"chunk_shape":[2]},"must_understand":"false"}"#,
            )],
            Refused("member \"/chunk_grid/must_understand\": expected true or false, found \"false\""),
        ),
        (
            "A.t58",
            &[codecs(r#"[{"name":"bytes","must_understand":0}]"#)],
            Refused("member \"/codecs/0/must_understand\""),
        ),
        (
            "A20",
            &[codecs(r#"[{"configuration":{}}]"#)],
            Refused("member \"/codecs/0\": expected an object with a name"),
        ),
        (
            "A20",
            &[codecs(r#"[{"name":3}]"#)],
            Refused("member \"/codecs/0/name\": expected a string, found 3"),
        ),
        (
            "A20",
            &[codecs(r#"[{"name":"bytes","configuration":null}]"#)],
            Refused("member \"/codecs/0/configuration\": expected an object"),
        ),
        (
            "A20",
            &[("chunk_grid", r#"{"name":"regular","configuration":[2]}"#)],
            Refused("member \"/chunk_grid/configuration\""),
        ),
        ("L75", &[codecs("[null]")], Refused("member \"/codecs/0\"")),
        ("L75", &[codecs("[3]")], Refused("member \"/codecs/0\"")),
        (
            "K4",
            &[codecs(r#"[{"name":"endian","configuration":{"endian":"little"}}]"#)],
            Tolerated(Code::AliasName),
        ),
        (
            "D.08",
            &[codecs(r#"[{"name":"bytes","configuration":{"endian":"little","x":1}}]"#)],
            Tolerated(Code::ConfigurationMember),
        ),
        (
            "D.09",
            &[codecs(
                r#"[{"name":"bytes","configuration":{"endian":"little"}},{"name":"gzip","configuration":{"level":5.0}}]"#,
            )],
            Tolerated(Code::IntegerSpelling),
        ),
    ]);
    // The array can be listed, and its attributes read and written (rule A.t53).
    let text = base(&[codecs(r#"[{"name":"foo"}]"#), ("data_type", "\"what\""), ("fill_value", "{\"x\":1}")]);
    let mut meta = parse(&text).unwrap();
    assert_eq!(meta.document().data_type().name(), "what");
    meta.edit_attributes(|a| a.set("k", 1)).unwrap();
    assert_eq!(meta.to_text(), text.replace("\"attributes\":{}", "\"attributes\":{\"k\":1}"));
    // rules A.t54, K5 and L67
    let text = base(&[codecs(
        r#"[{"name":"bytes","configuration":{"endian":"little"}},{"name":"foo","must_understand":false}]"#,
    )]);
    let (_, resolved) = common::open(&text, &mut Vec::<Diagnostic>::new()).unwrap();
    assert_eq!(resolved.skipped(), ["foo"]);
    // rules A13 and A19
    let gzip =
        |text: &str| Extension::parse(&zarr_meta::json::Value::parse(text).unwrap(), &mut Strict).unwrap();
    assert_eq!(gzip("\"gzip\""), gzip(r#"{"configuration": {}, "name":"gzip", "must_understand":true}"#));
    assert_ne!(gzip("\"gzip\""), gzip(r#"{"name":"gzip","must_understand":false}"#));
}

#[test]
fn codecs_and_storage_transformers_are_checked() {
    const BYTES: &str = r#"{"name":"bytes","configuration":{"endian":"little"}}"#;
    const GZIP: &str = r#"{"name":"gzip","configuration":{"level":1}}"#;
    let row = |id, codecs: &str, words| check(id, &base(&[("codecs", codecs)]), Unresolved(words));
    row("A.t60", "[]", "member \"/codecs\": expected at least one codec, found none");
    row("A.t61", &format!("[{GZIP}]"), "member \"/codecs/0\"");
    row("A.t61", r#"[{"name":"transpose","configuration":{"order":[0]}}]"#, "lack an array → bytes codec");
    row("A.t62", &format!("[{BYTES},{BYTES}]"), "member \"/codecs/1\"");
    row("A.t63", &format!("[\"crc32c\",{BYTES}]"), "member \"/codecs/0\"");
    check(
        "A.t60",
        &base(&[("codecs", "null")]),
        Refused("member \"/codecs\": expected an array, found null"),
    );
    check("A.t60", &base(&[("codecs", "\"bytes\"")]), Refused("member \"/codecs\""));
    rows(&[
        ("A.t64", &[("storage_transformers", "[]")], Fine),
        ("A.t65", &[("storage_transformers", "null")], Tolerated(Code::NullTransformers)),
        (
            "A.t65",
            &[("storage_transformers", "{}")],
            Refused("member \"/storage_transformers\": expected an array"),
        ),
        (
            "A.t66",
            &[("storage_transformers", r#"[{"name":"foo"}]"#)],
            Unresolved(
                "member \"/storage_transformers/0\": cannot be understood: unknown storage transformer \"foo\"",
            ),
        ),
        (
            "A.t67",
            &[("storage_transformers", r#"[{"name":"foo","must_understand":false}]"#)],
            Advised(Code::SkippedTransformer),
        ),
        (
            "A.t67",
            &[("storage_transformers", r#"[{"name":"foo","must_understand":false},{"name":"bar"}]"#)],
            Unresolved("\"bar\""),
        ),
    ]);
}
