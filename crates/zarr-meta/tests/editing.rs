//! Edited documents keep their spelling, and advice about documents is not an error.

use crate::common::{self, BASE, Edits, base, group, open, parse};
use proptest::prelude::*;
use zarr_meta::json::Value;
use zarr_meta::v3::NodeDocument;
use zarr_meta::{Code, Diagnostic, Limits, MetaErrorKind, Severity, Strict};

#[test]
fn edits_of_an_array_keep_its_spelling() {
    // In the form of zarr-python 3: members in this order, two spaces, NaN tokens in attributes.
    let text = "{\n  \"shape\": [\n    4\n  ],\n  \"data_type\": \"int32\",\n  \"chunk_grid\": {\n    \"name\": \"regular\",\n    \"configuration\": {\n      \"chunk_shape\": [\n        2\n      ]\n    }\n  },\n  \"chunk_key_encoding\": {\n    \"name\": \"default\",\n    \"configuration\": {\n      \"separator\": \"/\"\n    }\n  },\n  \"fill_value\": 7,\n  \"codecs\": [\n    {\n      \"name\": \"bytes\",\n      \"configuration\": {\n        \"endian\": \"little\"\n      }\n    }\n  ],\n  \"attributes\": {},\n  \"zarr_format\": 3,\n  \"node_type\": \"array\",\n  \"storage_transformers\": []\n}\n";
    let mut meta = parse(text).unwrap();
    assert_eq!(meta.to_text(), text);
    meta.edit_attributes(|a| a.set("scale", Value::parse("1e400").unwrap())).unwrap();
    let edited = text.replace("\"attributes\": {}", "\"attributes\": {\n    \"scale\": 1e400\n  }");
    assert_eq!(meta.to_text(), edited);
    meta.set_shape(&[40]).unwrap();
    assert_eq!(meta.to_text(), edited.replace("[\n    4\n  ]", "[\n    40\n  ]"));
    assert_eq!(meta.shape(), [40]);
    assert_eq!(meta.set_shape(&[4, 4]).unwrap_err().kind(), MetaErrorKind::InvalidArgument);

    let mut replaced = parse(text).unwrap();
    replaced.set_attributes(Value::parse("{\"scale\": 1e400}").unwrap()).unwrap();
    replaced.set_shape(&[40]).unwrap();
    assert_eq!(replaced.to_text(), meta.to_text());
    assert_eq!(replaced.set_attributes("x").unwrap_err().pointer(), "/attributes");

    // Attributes that are absent or null become an object.
    for (edits, attributes) in [
        (&[("-attributes", "")][..], ",\"attributes\":{\"a\":1}}"),
        (&[("attributes", "null")], "\"attributes\":{\"a\":1}"),
    ] {
        let mut meta = parse(&base(edits)).unwrap();
        meta.edit_attributes(|a| a.set("a", 1)).unwrap();
        assert!(
            meta.to_text().ends_with(attributes) || meta.to_text().contains(attributes),
            "{}",
            meta.to_text()
        );
    }

    let mut document = parse(&base(&[])).unwrap().document().clone();
    document.set_dimension_names(&[Some("x".to_owned())]).unwrap();
    assert!(document.to_text().ends_with(",\"dimension_names\":[\"x\"]}"));
    document.set_dimension_names(&[None]).unwrap();
    assert_eq!(document.to_text(), base(&[]));
    assert!(document.set_dimension_names(&[]).is_err());
}

#[test]
fn a_rectilinear_grid_grows_with_the_array() {
    // rule C18
    let text = |shape: u64, lists: &str| {
        let grid = format!(
            r#"{{"name":"rectilinear","configuration":{{ "kind":"inline","chunk_shapes":{lists} }}}}"#
        );
        base(&[("shape", &format!("[{shape}]")), ("chunk_grid", &grid)])
    };
    let resize = |meta: &mut zarr_meta::ArrayMeta, shape: &[u64]| {
        meta.resize(shape, &common::registry(), &Limits::default())
    };
    let resized = |from: &str, to: u64| {
        let mut meta = parse(from).unwrap();
        resize(&mut meta, &[to]).unwrap();
        open(&meta.to_text(), &mut Strict).unwrap();
        meta.to_text()
    };
    // If the chunks cover the new shape, only the shape changes, and the grid keeps its spelling.
    for (from, to) in [(6, 3), (6, 6), (3, 6), (6, 0)] {
        assert_eq!(resized(&text(from, "[ [[1,1], 2, 3] ]"), to), text(to, "[ [[1,1], 2, 3] ]"));
    }
    assert_eq!(resized(&text(6, "[4]"), 100), text(100, "[4]"));
    let grown = resized(&text(5, "[[[1,1],2,3]]"), 11);
    assert_eq!(grown.replace(' ', ""), text(11, "[[1,2,3,5]]").replace(' ', ""));
    // Grids without an end do not change.
    assert_eq!(resized(&base(&[]), 9), base(&[("shape", "[9]")]));
    // The codecs must be known only if a chunk is added.
    let foreign = |text: String| text.replace(r#""name":"bytes""#, r#""name":"test.unknown""#);
    for (from, to) in [(base(&[]), base(&[("shape", "[3]")])), (text(6, "[[1,2,3]]"), text(3, "[[1,2,3]]"))] {
        let mut meta = parse(&foreign(from)).unwrap();
        resize(&mut meta, &[3]).unwrap();
        assert_eq!(meta.to_text(), foreign(to));
        let longer = resize(&mut meta, &[7]).map_err(|e| (e.kind(), e.pointer().to_owned()));
        let unknown = (MetaErrorKind::UnknownExtension, "/codecs/0".to_owned());
        assert_eq!(longer, if meta.to_text().contains("regular") { Ok(()) } else { Err(unknown) });
    }
    let mut meta = parse(&text(6, "[[6]]")).unwrap();
    assert_eq!(resize(&mut meta, &[6, 6]).unwrap_err().kind(), MetaErrorKind::InvalidArgument);
    let mut draft = parse(&text(6, "[6]").replace("rectilinear", "rectangular")).unwrap();
    assert_eq!(resize(&mut draft, &[6]).unwrap_err().kind(), MetaErrorKind::UnknownExtension);
    assert_eq!(meta.to_text(), text(6, "[[6]]"));
}

#[test]
fn advice_is_not_an_error() {
    let lint = |text: &str| {
        let mut advice = Vec::new();
        let node = NodeDocument::parse(text.as_bytes(), &Limits::default(), &mut Strict).unwrap();
        node.lint(&mut advice).unwrap();
        assert!(advice.iter().all(|d: &Diagnostic| d.severity() == Severity::Warning));
        node.lint(&mut Strict).unwrap();
        advice.into_iter().map(|d| (d.code, d.pointer)).collect::<Vec<_>>()
    };
    let two = ("chunk_grid", r#"{"name":"regular","configuration":{"chunk_shape":[2,2]}}"#);
    let cases: &[(&str, Edits<'_>, Code, &str)] = &[
        (
            "A.t34, L34",
            &[("shape", "[4,4]"), two, ("dimension_names", "[\"x\",\"x\"]")],
            Code::RepeatedDimensionName,
            "/dimension_names/1",
        ),
        ("L30", &[("chunk_key_encoding", "\"default\"")], Code::ShortHand, "/chunk_key_encoding"),
        (
            "C.2",
            &[("chunk_grid", r#"{"name":"rectilinear","configuration":{}}"#)],
            Code::RareChunkGrid,
            "/chunk_grid",
        ),
        ("L30", &[("codecs", "[\"bytes\"]")], Code::ShortHand, "/codecs/0"),
        ("L31", &[("data_type", r#"{"name":"int32"}"#)], Code::ObjectDataType, "/data_type"),
        (
            "L32",
            &[("chunk_grid", r#"{"name":"regular","must_understand":true}"#)],
            Code::ExplicitWaiver,
            "/chunk_grid",
        ),
        (
            "L52",
            &[("attributes", r#"{"a":[0,{"b/c":9007199254740993}]}"#)],
            Code::LargeInteger,
            "/attributes/a/1/b~1c",
        ),
        ("A18", &[("data_type", "\"Int32\"")], Code::UnregisteredName, "/data_type"),
        (
            "A18",
            &[("storage_transformers", r#"[{"name":"https://x"}]"#)],
            Code::UnregisteredName,
            "/storage_transformers/0",
        ),
        (
            "K9",
            &[(
                "codecs",
                r#"[{"name":"bytes","configuration":{"endian":"little"}},{"name":"numcodecs.zlib"}]"#,
            )],
            Code::UnlistedName,
            "/codecs/1",
        ),
        (
            "K9",
            &[(
                "codecs",
                r#"[{"name":"sharding_indexed","configuration":{"chunk_shape":[1],"codecs":[{"name":"bytes"},{"name":"mine"}],"index_codecs":[{"name":"bytes"}]}}]"#,
            )],
            Code::UnlistedName,
            "/codecs/0/configuration/codecs/1",
        ),
        ("K9", &[("data_type", "\"raw_bytes\"")], Code::UnlistedName, "/data_type"),
        ("K9", &[("chunk_grid", r#"{"name":"gzip"}"#)], Code::UnlistedName, "/chunk_grid"),
        ("L45", &[("data_type", "\"r16\"")], Code::RareDataType, "/data_type"),
        ("L54", &[("data_type", "\"bfloat16\"")], Code::RareDataType, "/data_type"),
        ("L54", &[("data_type", "\"int4\"")], Code::RareDataType, "/data_type"),
        ("L54", &[("data_type", "\"float8_e4m3\"")], Code::RareDataType, "/data_type"),
        ("L54", &[("data_type", "\"complex_float32\"")], Code::RareDataType, "/data_type"),
        ("L53, A25", &[("foo", r#"{"must_understand":false}"#)], Code::AdditionalMember, "/foo"),
        ("L51", &[("attributes", r#"{"a\u0000b":1}"#)], Code::NulInText, "/attributes/a\0b"),
    ];
    for (id, edits, code, pointer) in cases {
        assert_eq!(lint(&base(edits)), [(*code, (*pointer).to_owned())], "rule {id}");
    }
    assert_eq!(lint(&base(&[])), []);
    assert_eq!(
        lint(&base(&[("attributes", r#"{"a":9007199254740992,"b":1e300,"c":-9007199254740992}"#)])),
        []
    );
    assert_eq!(
        lint(&group(r#","foo":{"must_understand":false}"#)),
        [(Code::AdditionalMember, "/foo".to_owned())]
    );
}

proptest! {
    #[test]
    fn a_resize_and_an_attribute_change_no_other_bytes(
        spaces in prop::collection::vec(prop::sample::select(vec!["", " ", "\n", "\n  ", "\t"]), 36),
        order in Just((0..9usize).collect::<Vec<_>>()).prop_shuffle(),
        name in "[a-z]{1,5}",
    ) {
        let write = |shape: &str, attributes: &str| {
            let members: Vec<String> = order.iter().map(|i| {
                let (name, value) = BASE[*i];
                let value = match name { "shape" => shape, "attributes" => attributes, _ => value };
                let s = &spaces[4 * i..];
                format!("{}\"{name}\"{}:{}{value}{}", s[0], s[1], s[2], if *i == order[8] { "" } else { s[3] })
            }).collect();
            format!(" {{{}{}}}\n", members.join(","), spaces[0])
        };
        let text = write("[ 4 ]", "{\"a\" : 1.50 }");
        let mut meta = parse(&text).unwrap();
        prop_assert_eq!(meta.to_text(), text);
        meta.set_shape(&[9]).unwrap();
        meta.edit_attributes(|a| { a.remove("a"); a.set(&name, "v"); a.remove(&name); a.set("b", 1); }).unwrap();
        let edited = meta.to_text();
        let got = Value::parse(&edited).unwrap().as_object().unwrap();
        let squeezed = |v: Option<Value>| v.map(|v| v.as_raw().to_owned()).unwrap_or_default();
        prop_assert_eq!(&edited, &write(&squeezed(got.get("shape")), &squeezed(got.get("attributes"))));
        prop_assert_eq!(got.get("shape").unwrap().to_compact(), "[9]");
        prop_assert_eq!(got.get("attributes").unwrap().to_compact(), "{\"b\":1}");
    }

    #[test]
    fn no_document_makes_the_reader_panic(member in 0..BASE.len(), value in "[\\[\\]{}\",:0-9.eE a-fnul_-]{0,20}", name in prop::sample::select(vec!["name", "configuration", "must_understand", "x"])) {
        for value in [value.clone(), format!("{{\"{name}\":{value}}}"), format!("[{{\"name\":\"bytes\",\"{name}\":{value}}}]")] {
            let _ = open(&base(&[(BASE[member].0, &value)]), &mut Vec::<Diagnostic>::new());
        }
    }
}

#[test]
fn dimensions_get_names_and_a_fill_value_gets_another_in_the_documents_of_formats_3_and_2() {
    let names = |names: &[&str]| {
        let name = |name: &&str| (!name.is_empty()).then(|| (*name).to_owned());
        names.iter().map(name).collect::<Vec<_>>()
    };
    let mut meta = parse(&base(&[])).unwrap();
    let before = meta.to_text();
    meta.set_dimension_names(&names(&["x"])).unwrap();
    assert_eq!(meta.dimension_names(), Some(&names(&["x"])[..]));
    assert!(meta.to_text().contains(r#""dimension_names":["x"]"#), "{}", meta.to_text());
    assert_eq!(
        meta.set_dimension_names(&names(&["x", "y"])).unwrap_err().kind(),
        MetaErrorKind::InvalidArgument
    );
    meta.set_dimension_names(&names(&[""])).unwrap();
    assert_eq!(meta.to_text(), before);
    meta.set_fill_value(9, &Limits::default()).unwrap();
    assert_eq!(meta.document().fill_value().as_raw(), "9");
    assert!(meta.to_text().contains(r#""fill_value":9"#), "{}", meta.to_text());

    let text = r#"{"zarr_format": 2, "shape": [4, 6], "chunks": [2, 3], "dtype": "<f4", "compressor": null, "fill_value": null, "order": "C", "filters": null}"#;
    let read = |text: &str, attributes: &str| {
        let (limits, sink) = (Limits::default(), &mut Vec::<Diagnostic>::new());
        zarr_meta::ArrayMeta::parse_v2(text.as_bytes(), Some(attributes.as_bytes()), &limits, sink).unwrap()
    };
    let mut meta = read(text, r#"{"units": "K"}"#);
    meta.set_dimension_names(&names(&["y", "x"])).unwrap();
    let documents = meta.documents();
    let attributes = documents[1].1.as_deref().unwrap();
    assert!(
        attributes.contains(r#""units": "K""#) && attributes.contains("_ARRAY_DIMENSIONS"),
        "{attributes}"
    );
    assert_eq!(read(text, attributes).dimension_names(), meta.dimension_names());
    let error = meta.set_dimension_names(&names(&["y", ""])).unwrap_err();
    assert!(error.to_string().contains("all dimensions have a name, or none"), "{error}");
    meta.set_dimension_names(&names(&["", ""])).unwrap();
    assert_eq!(meta.attributes().to_value().to_compact(), r#"{"units":"K"}"#);
    assert!(meta.fill_is_undefined());
    meta.set_fill_value("NaN", &Limits::default()).unwrap();
    assert!(!meta.fill_is_undefined());
    assert_eq!(meta.to_text(), text.replace("\"fill_value\": null", "\"fill_value\": \"NaN\""));
    assert_eq!(meta.attributes().to_value().to_compact(), r#"{"units":"K"}"#);
}
