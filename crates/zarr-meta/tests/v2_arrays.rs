//! Documents of arrays of format 2, and their meaning in format 3.

use crate::common;
use zarr_meta::json::Value;
use zarr_meta::{
    ArrayMeta, Code, DATA_TYPES, DataType, Diagnostic, Ignore, Limits, MetaErrorKind, MetaResult, Registry,
    Strict,
};

/// Returns an array of format 2 with members set, or deleted (`-` before the name).
fn zarray(edits: &[(&str, &str)]) -> String {
    let mut members = vec![
        ("zarr_format", "2"),
        ("shape", "[4, 6]"),
        ("chunks", "[2, 3]"),
        ("dtype", "\"<i4\""),
        ("compressor", "null"),
        ("fill_value", "9"),
        ("order", "\"C\""),
        ("filters", "null"),
    ];
    for (name, value) in edits {
        members.retain(|(n, _)| n != &name.trim_start_matches('-'));
        if !name.starts_with('-') {
            members.push((name, value));
        }
    }
    let members: Vec<String> = members.iter().map(|(n, v)| format!("\"{n}\": {v}")).collect();
    format!("{{{}}}", members.join(", "))
}

fn read(edits: &[(&str, &str)]) -> MetaResult<(ArrayMeta, Vec<Code>)> {
    let mut notes: Vec<Diagnostic> = Vec::new();
    let meta = ArrayMeta::parse_v2(zarray(edits).as_bytes(), None, &Limits::default(), &mut notes)?;
    Ok((meta, notes.into_iter().map(|n| n.code).collect()))
}

fn registry() -> Registry {
    Registry::core().overriding(DATA_TYPES)
}

#[test]
fn members_are_checked() {
    type Row<'a> = (&'a str, &'a [(&'a str, &'a str)], Result<&'a [Code], MetaErrorKind>);
    let ok = |codes: &'static [Code]| Ok(codes);
    let cases: &[Row<'_>] = &[
        ("H2", &[], ok(&[])),
        ("H.t1", &[("zarr_format", "1")], Err(MetaErrorKind::Unsupported)),
        ("H.t1", &[("zarr_format", "3")], Err(MetaErrorKind::Unsupported)),
        ("H.t1", &[("zarr_format", "\"2\"")], Err(MetaErrorKind::Invalid)),
        ("H2", &[("zarr_format", "2.0")], ok(&[Code::FormatSpelling])),
        ("H2", &[("-shape", "")], Err(MetaErrorKind::Invalid)),
        ("H2", &[("-chunks", "")], Err(MetaErrorKind::Invalid)),
        ("H2", &[("-dtype", "")], Err(MetaErrorKind::Invalid)),
        ("H8", &[("-filters", "")], ok(&[Code::MissingMember])),
        ("H8", &[("-compressor", "")], ok(&[Code::MissingMember])),
        ("H8", &[("-order", "")], ok(&[Code::MissingMember])),
        ("H8", &[("-fill_value", "")], ok(&[Code::MissingMember, Code::UndefinedFill])),
        ("H6", &[("order", "\"F\"")], ok(&[])),
        ("H6, H.t2", &[("order", "\"A\"")], Err(MetaErrorKind::Invalid)),
        ("H.t2", &[("order", "\"c\"")], Err(MetaErrorKind::Invalid)),
        ("H.t3", &[("dimension_separator", "\"-\"")], Err(MetaErrorKind::Invalid)),
        ("H.t3", &[("dimension_separator", "\"/../\"")], Err(MetaErrorKind::Invalid)),
        ("H.t3", &[("dimension_separator", "null")], ok(&[Code::NullSeparator])),
        ("H7", &[("dimension_separator", "\"/\"")], ok(&[])),
        ("H.t4", &[("foo", "1"), ("_NCZARR_ARRAY", "{}")], ok(&[])),
        ("H.t5", &[("compressor", "{}")], Err(MetaErrorKind::Invalid)),
        ("H.t5", &[("compressor", "{\"id\": 3}")], Err(MetaErrorKind::Invalid)),
        ("H.t5", &[("compressor", "\"zlib\"")], Err(MetaErrorKind::Invalid)),
        ("H5", &[("filters", "{\"id\": \"delta\"}")], Err(MetaErrorKind::Invalid)),
        ("H5", &[("filters", "[]")], ok(&[])),
        ("H5", &[("filters", "[null]")], Err(MetaErrorKind::Invalid)),
        ("H9", &[("chunks", "[2]")], Err(MetaErrorKind::Invalid)),
        ("H9", &[("chunks", "[-2, 3]")], Err(MetaErrorKind::Invalid)),
        ("H9", &[("shape", "[-4, 6]")], Err(MetaErrorKind::Invalid)),
        ("H9", &[("chunks", "[8, 9]")], ok(&[])),
        ("H9", &[("chunks", "[0, 3]")], Err(MetaErrorKind::Invalid)),
        ("H9", &[("shape", "[0, 6]"), ("chunks", "[0, 3]")], ok(&[Code::ZeroChunk])),
        ("H.t7", &[("shape", "[]"), ("chunks", "[]")], ok(&[])),
        ("H.t9", &[("dtype", "\"<f8\""), ("fill_value", "NaN")], ok(&[Code::BareNonFinite])),
    ];
    for (id, edits, expected) in cases {
        let found = read(edits).map(|(_, codes)| codes).map_err(|e| e.kind());
        assert_eq!(found.as_deref(), expected.as_ref().map(|c| *c), "rule {id}: {edits:?}");
        let strict =
            ArrayMeta::parse_v2(zarray(edits).as_bytes(), None, &Limits::default(), &mut Strict).is_ok();
        let deviations = |codes: &[Code]| codes.iter().any(|c| *c != Code::UndefinedFill);
        assert_eq!(
            strict,
            expected.as_ref().is_ok_and(|codes| !deviations(codes)),
            "rule {id}, strict: {edits:?}"
        );
    }
}

#[test]
fn the_model_has_the_same_meaning_in_format_3() {
    let edits = [
        ("order", "\"F\""),
        ("dimension_separator", "\"/\""),
        ("compressor", "{\"id\": \"zlib\", \"level\": 3}"),
    ];
    let attributes = r#"{"_ARRAY_DIMENSIONS": ["y", "x"], "m": NaN}"#;
    let text = zarray(&edits);
    let mut meta =
        ArrayMeta::parse_v2(text.as_bytes(), Some(attributes.as_bytes()), &Limits::default(), &mut Ignore)
            .unwrap();
    let model = meta.document().to_value();
    assert_eq!(
        model.to_compact(),
        concat!(
            r#"{"zarr_format":3,"node_type":"array","shape":[4,6],"data_type":"int32","#,
            r#""chunk_grid":{"name":"regular","configuration":{"chunk_shape":[2,3]}},"#,
            r#""chunk_key_encoding":{"name":"v2","configuration":{"separator":"/"}},"fill_value":9,"#,
            r#""codecs":[{"name":"transpose","configuration":{"order":[1,0]}},"#,
            r#"{"name":"bytes","configuration":{"endian":"little"}},"#,
            r#"{"name":"numcodecs.zlib","configuration":{"level":3}}],"#,
            r#""attributes":{"_ARRAY_DIMENSIONS":["y","x"],"m":NaN},"dimension_names":["y","x"]}"#
        ),
        "rules H.9 and J2"
    );
    assert!(meta.v3_obstacles().is_empty());
    let names =
        |meta: &ArrayMeta| meta.dimension_names().map(|n| n.iter().flatten().cloned().collect::<String>());
    for (value, expected) in [
        (r#"["b","a"]"#, Some("ba")),
        (r#"["b"]"#, None),
        (r#"["b", null]"#, None),
        (r#""yx""#, None),
        (r#"["y","x"]"#, Some("yx")),
    ] {
        meta.edit_attributes(|a| a.set("_ARRAY_DIMENSIONS", Value::parse(value).unwrap())).unwrap();
        assert_eq!(names(&meta).as_deref(), expected, "rule J2: {value}");
    }
    assert_eq!(meta.to_text(), text, "an edit of attributes does not change the document of the array");

    let converted = meta.to_v3(false).unwrap();
    assert_eq!(converted.attributes().to_value().to_compact(), r#"{"m":NaN}"#, "rule H.9");
    assert_eq!(names(&converted).as_deref(), Some("yx"));
    assert!(meta.to_v3(true).unwrap().attributes().contains("_ARRAY_DIMENSIONS"));
    let like = meta.to_builder(DataType::Int32).build().unwrap();
    assert_eq!((like.attributes(), names(&like)), (converted.attributes(), Some("yx".to_owned())));

    meta.edit_attributes(|a| a.set("_ARRAY_DIMENSIONS", "yx")).unwrap();
    let like = meta.to_builder(DataType::Int32).build().unwrap();
    assert!(
        like.attributes().contains("_ARRAY_DIMENSIONS") && names(&like).is_none(),
        "it is no list of names"
    );
}

#[test]
fn an_array_that_cannot_be_understood_can_be_listed() {
    // The node has its shape, its dtype and its attributes, but its chunks cannot be read (rules H.t6 and B8).
    let cases = [
        (("dtype", "\"<i3\""), "member \"/dtype\": expected a dtype such as \"<f4\", found \"<i3\""),
        (("dtype", "\"|O\""), "member \"/filters\": an array of objects needs an object codec"),
        (("fill_value", "\"abc\""), "member \"/fill_value\": expected an integer, found \"abc\""),
        (
            ("compressor", r#"{"id": "foo"}"#),
            "member \"/dtype\": cannot be understood: unknown codec \"bytes\"",
        ),
        (
            ("compressor", "{\"id\": \"blosc\", \"shuffle\": 7}"),
            "member \"/compressor/shuffle\": expected 0, 1",
        ),
    ];
    for (edit, message) in cases {
        let (mut meta, _) = read(&[edit]).unwrap();
        assert_eq!(meta.shape(), [4, 6]);
        meta.edit_attributes(|a| a.set("k", 1)).unwrap();
        let error = format!("{:#}", meta.resolve(&registry(), &Limits::default(), &mut Ignore).unwrap_err());
        assert!(error.starts_with(message), "{edit:?}: {error:#}");
        assert!(!meta.v3_obstacles().is_empty() && meta.to_v3(true).is_err(), "{edit:?}");
    }
    let (meta, _) = read(&[("compressor", "{\"id\": \"foo\"}")]).unwrap();
    assert_eq!(meta.document().codecs()[1].name(), "numcodecs.foo", "rule H.t6");
}

/// The reader of an error sees the older document, not the codecs of the model (rule H.t6).
#[test]
fn errors_and_notes_name_members_of_the_document_itself() {
    let cases: &[(&[(&str, &str)], &str)] = &[
        (
            &[("compressor", r#"{"id": "foo", "x": 1}"#)],
            "\"/compressor\": cannot be understood: unknown codec \"foo\"",
        ),
        (&[("filters", r#"[{"id": "foo"}]"#)], "\"/filters/0\": cannot be understood: unknown codec \"foo\""),
        (
            &[("order", "\"F\""), ("filters", r#"[{"id": "gzip", "level": 1}, {"id": "foo"}]"#)],
            "\"/filters/1\": cannot be understood: unknown codec \"foo\"",
        ),
        (
            &[("dtype", "\"|O\""), ("fill_value", "null"), ("filters", r#"[{"id": "pickle"}]"#)],
            "\"/dtype\": cannot be understood: unknown data type",
        ),
        (
            &[("filters", r#"[{"id": "packbits"}]"#)],
            "\"/filters/0\": cannot be understood: unknown codec \"packbits\"",
        ),
        (&[("compressor", r#"{"id": "gzip", "level": 77}"#)], "\"/compressor/level\": is not valid"),
    ];
    for (edits, message) in cases {
        let (meta, _) = read(edits).unwrap();
        let e =
            format!("{:#}", meta.resolve(&common::registry(), &Limits::default(), &mut Ignore).unwrap_err());
        assert!(e.starts_with(&format!("member {message}")), "{edits:?}: {e:#}");
    }
    let (meta, _) = read(&[("compressor", r#"{"id": "gzip", "level": 5.0}"#)]).unwrap();
    let mut notes: Vec<Diagnostic> = Vec::new();
    let _ = meta.resolve(&common::registry(), &Limits::default(), &mut notes).unwrap();
    assert_eq!(notes[0].pointer, "/compressor/level");
}

#[test]
fn documents_of_format_3_have_no_private_names() {
    let (meta, _) = read(&[("dtype", r#"[["a", "<i2"], ["", "|V2"]]"#), ("fill_value", "null")]).unwrap();
    let name = |meta: &ArrayMeta| meta.resolve(&registry(), &Limits::default(), &mut Ignore).unwrap_err();
    // The registry knows the data type, but no codec.
    assert!(format!("{:#}", name(&meta)).contains("unknown codec"), "{:#}", name(&meta));
    let copied = meta.document().to_text();
    let copied = ArrayMeta::parse(copied.as_bytes(), &Limits::default(), &mut Ignore).unwrap();
    assert_eq!(
        format!("{:#}", name(&copied)),
        "member \"/data_type\": cannot be understood: unknown data type \"numcodecs:struct\": for data of older formats \
         the crate zarr-meta has it"
    );
}
