//! Arrays of format 1.

use crate::common;
use zarr_meta::{
    ArrayMeta, Code, Diagnostic, DocumentName, Documents, Format, Ignore, Limits, MetaErrorKind, NodeMeta,
};

/// Returns the example of the specification with members set, or deleted (`-` before the name).
fn meta(edits: &[(&str, &str)]) -> String {
    let mut members = vec![
        ("chunks", "[10, 10]"),
        ("compression", "\"zlib\""),
        ("compression_opts", "1"),
        ("dtype", "\"<i4\""),
        ("fill_value", "42"),
        ("order", "\"C\""),
        ("shape", "[20, 20]"),
        ("zarr_format", "1"),
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

fn read(edits: &[(&str, &str)], literal: bool) -> Result<(ArrayMeta, Vec<Code>), MetaErrorKind> {
    let mut notes: Vec<Diagnostic> = Vec::new();
    let text = meta(edits);
    let array = ArrayMeta::parse_v1(text.as_bytes(), Some(b"{}"), literal, &Limits::default(), &mut notes);
    Ok((array.map_err(|e| e.kind())?, notes.into_iter().map(|n| n.code).collect()))
}

fn codecs(array: &ArrayMeta) -> String {
    let codecs: Vec<String> = array.document().codecs().iter().map(|c| c.to_value().to_compact()).collect();
    codecs.join(" ").replace(r#","configuration":{"#, ":{").replace(r#"{"name":"#, "{")
}

const BYTES: &str = r#"{"bytes":{"endian":"little"}}"#;

#[test]
fn the_example_of_the_specification_is_read() {
    let attributes = br#"{"foo": 42}"#;
    let (text, limits) = (meta(&[]), Limits::default());
    let array = ArrayMeta::parse_v1(text.as_bytes(), Some(attributes), false, &limits, &mut Ignore).unwrap();
    assert_eq!((array.format(), array.shape()), (Format::V1, &[20, 20][..]), "rule I.t1");
    assert_eq!(array.document().fill_value().as_raw(), "42");
    assert_eq!(
        array.document().chunk_key_encoding().to_value().to_compact(),
        r#"{"name":"v2","configuration":{"separator":"."}}"#,
        "rule I1"
    );
    assert_eq!(codecs(&array), format!(r#"{BYTES} {{"numcodecs.zlib":{{"level":1}}}}"#));
    assert_eq!(
        array.documents(),
        [
            (DocumentName::Array1, Some(text)),
            (DocumentName::Attributes1, Some(String::from_utf8_lossy(attributes).into_owned()))
        ]
    );
    let old = array.to_v2().unwrap();
    assert!(old.to_text().contains("\"id\": \"zlib\"") && old.attributes().contains("foo"), "rule I6");
    assert_eq!(old.document().codecs(), array.document().codecs());
    assert_eq!(array.to_v3(true).unwrap().format(), Format::V3);
}

#[test]
fn format_1_is_never_written() {
    let (mut array, _) = read(&[], false).unwrap();
    for result in [
        array.set_shape(&[30, 20]),
        array.set_attributes(zarr_meta::json::Object::new()),
        array.edit_attributes(|a| a.set("k", 1)),
    ] {
        assert_eq!(result.unwrap_err().kind(), MetaErrorKind::Unsupported, "format 1 is read-only");
    }
}

#[test]
fn members_are_checked() {
    for (id, edits, expected) in [
        ("I2", &[("extra", "1")][..], Ok(&[][..])),
        ("I2", &[("-shape", "")], Err(MetaErrorKind::Invalid)),
        ("I5", &[("-compression", "")], Err(MetaErrorKind::Invalid)),
        ("I5", &[("-compression_opts", "")], Err(MetaErrorKind::Invalid)),
        ("I5", &[("-fill_value", "")], Err(MetaErrorKind::Invalid)),
        ("I5", &[("-order", "")], Err(MetaErrorKind::Invalid)),
        ("I5", &[("zarr_format", "9")], Err(MetaErrorKind::Unsupported)),
        ("I5", &[("zarr_format", "2")], Err(MetaErrorKind::Unsupported)),
        ("I2", &[("order", "\"A\"")], Err(MetaErrorKind::Invalid)),
        ("I2", &[("compression", "{}")], Err(MetaErrorKind::Invalid)),
        ("I2", &[("compression_opts", "{}")], Err(MetaErrorKind::Invalid)),
        ("I7", &[("shape", "[]"), ("chunks", "[]")], Err(MetaErrorKind::Unsupported)),
        ("I4", &[("fill_value", "null")], Ok(&[Code::UndefinedFill])), // rule I.t3
        ("I4", &[("dtype", "\"<f8\""), ("fill_value", "NaN")], Ok(&[Code::BareNonFinite])),
        ("I3", &[("dtype", "[[\"a\", \"<i4\"]]"), ("fill_value", "null")], Ok(&[Code::UndefinedFill])),
    ] {
        let found = read(edits, false);
        let found = found.as_ref().map(|(_, codes)| &**codes).map_err(|e| *e);
        assert_eq!(found, expected, "rule {id}: {edits:?}");
    }
    // There is no rule for the fill values of byte strings (rule I4).
    let (array, _) = read(&[("dtype", "\"|S4\""), ("fill_value", "\"AQI=\"")], false).unwrap();
    assert!(array.to_v3(true).is_err(), "rule I4");
}

#[test]
fn attributes_may_be_absent() {
    let documents = Documents::new().with(DocumentName::Array1, meta(&[]));
    let mut notes: Vec<Diagnostic> = Vec::new();
    let node = NodeMeta::parse(&documents, &Limits::default(), &mut notes).unwrap();
    assert!(matches!(node, Some(NodeMeta::Array(_))));
    assert_eq!(notes.iter().map(|n| n.code).collect::<Vec<_>>(), [Code::MissingAttributes], "rule I.t4");
}

#[test]
fn compressions_become_codecs() {
    let lzma = |rest: &str| format!(r#"{{"numcodecs.lzma":{{{rest}}}}}"#);
    for (compression, options, expected) in [
        ("none", "null", String::new()),
        ("zlib", "9", r#"{"numcodecs.zlib":{"level":9}}"#.to_owned()),
        ("zlib", "null", r#"{"numcodecs.zlib":{"level":1}}"#.to_owned()),
        ("gzip", "5", r#"{"numcodecs.zlib":{"level":5}}"#.to_owned()),
        ("bz2", "3", r#"{"numcodecs.bz2":{"level":3}}"#.to_owned()),
        ("lzma", "null", lzma(r#""format":1,"check":0,"preset":1"#)),
        (
            "lzma",
            r#"{"format": 3, "filters": [{"id": 33}]}"#, // rule I.t6
            lzma(r#""format":3,"filters":[{"id":33}],"check":0"#),
        ),
        (
            "blosc",
            r#"{"cname": "zlib", "clevel": 3, "shuffle": 2}"#,
            r#"{"blosc":{"cname":"zlib","clevel":3,"shuffle":"bitshuffle","typesize":4,"blocksize":0}}"#
                .to_owned(),
        ),
        (
            "blosc",
            "null",
            r#"{"blosc":{"cname":"lz4","clevel":5,"shuffle":"shuffle","typesize":4,"blocksize":0}}"#
                .to_owned(),
        ),
        ("foo", "1", r#"{"numcodecs.foo":{"compression_opts":1}}"#.to_owned()),
    ] {
        let name = format!("\"{compression}\"");
        let (array, codes) = read(&[("compression", &name), ("compression_opts", options)], false).unwrap();
        assert_eq!(codecs(&array), format!("{BYTES} {expected}").trim_end(), "{compression} {options}");
        assert_eq!(codes.contains(&Code::CompressionAlias), compression == "gzip");
    }
    let (array, codes) = read(&[("compression", "null"), ("compression_opts", "null")], false).unwrap();
    assert_eq!((&*codecs(&array), &*codes), (BYTES, &[Code::CompressionAlias][..]));
}

/// Errors name the members of format 1, not those of the model.
#[test]
fn errors_name_the_members_of_format_1() {
    for (compression, options, message) in [
        ("foo", "1", "member \"/compression\": cannot be understood: unknown codec \"foo\""),
        ("blosc", r#"{"shuffle": 7}"#, "member \"/compression_opts/shuffle\": expected 0, 1, 2 or -1"),
    ] {
        let name = format!("\"{compression}\"");
        let (array, _) = read(&[("compression", &name), ("compression_opts", options)], false).unwrap();
        let e =
            format!("{:#}", array.resolve(&common::registry(), &Limits::default(), &mut Ignore).unwrap_err());
        assert!(e.starts_with(message), "{e:#}");
    }
}

#[test]
fn order_f_is_c_unless_blosc_compressed_it() {
    let order = ("order", "\"F\"");
    for (compression, literal, transposed, told) in [
        ("blosc", false, true, false),
        ("blosc", true, true, false),
        ("zlib", false, false, true),
        ("zlib", true, true, true),
        ("none", false, false, true),
    ] {
        let name = format!("\"{compression}\"");
        let edits = [order, ("compression", &name), ("compression_opts", "null")];
        let (array, codes) = read(&edits, literal).unwrap();
        assert_eq!(codecs(&array).contains("transpose"), transposed, "rule I8: {compression} {literal}");
        assert_eq!(codes == [Code::OrderOfVersion1], told, "rule I8: {compression} {literal}");
        let converted = array.to_v2().unwrap();
        assert_eq!(
            converted.to_text().contains("\"order\": \"F\""),
            transposed,
            "rule I8: never order F for C"
        );
    }
}
