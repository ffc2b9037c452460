//! Conversion of arrays and groups from format 3 to format 2 and back.

use zarr_meta::json::{Value, json};
use zarr_meta::v3::Extension;
use zarr_meta::{
    ArrayBuilder2, ArrayMeta, Code, DataType, Diagnostic, DocumentName, Fill, FillValue, Format, GroupMeta,
    Ignore, Limits, MetaErrorKind, Strict, parse_json, types,
};

use crate::common::{base, open, registry};

fn v3(edits: &[(&str, &str)]) -> ArrayMeta {
    let encoding = ("chunk_key_encoding", r#"{"name":"v2","configuration":{"separator":"."}}"#);
    let edits: Vec<_> = [encoding].into_iter().chain(edits.iter().copied()).collect();
    ArrayMeta::parse(base(&edits).as_bytes(), &Limits::default(), &mut Ignore).unwrap()
}

fn codecs(list: &str) -> (&'static str, String) {
    ("codecs", format!("[{list}]").replace('\'', "\""))
}

const BYTES: &str = "{'name':'bytes','configuration':{'endian':'little'}}";

#[test]
fn the_document_is_in_the_style_of_zarr_python() {
    let list = format!(
        "{{'name':'transpose','configuration':{{'order':[0]}}}},{BYTES},{{'name':'zstd','configuration':{{'level':3,'checksum':false}}}}"
    );
    let (name, list) = codecs(&list);
    let meta = v3(&[(name, &list), ("dimension_names", "[\"x\"]"), ("attributes", "{\"a\":1}")]);
    let old = meta.to_v2().unwrap();
    assert_eq!(
        old.documents(),
        [
            (
                DocumentName::Array2,
                Some(
                    r#"{
    "chunks": [
        2
    ],
    "compressor": {
        "id": "zstd",
        "level": 3
    },
    "dimension_separator": ".",
    "dtype": "<i4",
    "fill_value": 7,
    "filters": null,
    "order": "C",
    "shape": [
        4
    ],
    "zarr_format": 2
}"#
                    .to_owned()
                )
            ),
            (
                DocumentName::Attributes2,
                Some("{\n    \"a\": 1,\n    \"_ARRAY_DIMENSIONS\": [\n        \"x\"\n    ]\n}".to_owned())
            ),
        ],
        "rules H10, D6.t6 and J2"
    );
    // Back to format 3.
    let again = old.to_v3(false).unwrap();
    assert_eq!(again.format(), Format::V3);
    assert_eq!(again.attributes(), meta.attributes());
    assert_eq!(again.dimension_names(), meta.dimension_names());
    assert_eq!(again.document().codecs(), &meta.document().codecs()[1..]);
}

#[test]
fn data_types_and_fill_values_come_back() {
    let sized = |name: &str, n: u32| format!(r#"{{"name":"{name}","configuration":{{"length_bytes":{n}}}}}"#);
    for (data_type, fill, endian, dtype, raised) in [
        ("\"bool\"".to_owned(), "true", None, "\"|b1\"", "true"),
        ("\"uint64\"".to_owned(), "18446744073709551615", Some("big"), "\">u8\"", "18446744073709551615"),
        ("\"float32\"".to_owned(), "0.1", Some("little"), "\"<f4\"", "0.1"),
        ("\"float64\"".to_owned(), "\"NaN\"", Some("big"), "\">f8\"", "\"NaN\""),
        ("\"complex64\"".to_owned(), "[\"-Infinity\",0.5]", Some("little"), "\"<c8\"", "[\"-Infinity\",0.5]"),
        (sized("raw_bytes", 3), "\"AQID\"", None, "\"|V3\"", "\"AQID\""),
        (sized("null_terminated_bytes", 3), "\"eno=\"", None, "\"|S3\"", "\"enoA\""), // rule H14: full width
        (sized("fixed_length_utf32", 8), "\"\u{e9}\"", Some("big"), "\">U2\"", "\"\u{e9}\""),
        (
            r#"{"name":"numpy.datetime64","configuration":{"unit":"s","scale_factor":10}}"#.to_owned(),
            "\"NaT\"",
            Some("little"),
            "\"<M8[10s]\"",
            "-9223372036854775808",
        ),
        (
            concat!(
                r#"{"name":"struct","configuration":{"fields":[{"name":"a","data_type":"int16"},"#,
                r#"{"name":"p","data_type":{"name":"struct","configuration":{"fields":[{"name":"b","data_type":"bool"}]}}}]}}"#
            )
            .to_owned(),
            r#"{"a":1,"p":{"b":true}}"#,
            Some("big"),
            r#"[["a",">i2"],["p",[["b","|b1"]]]]"#,
            "\"AAEB\"",
        ),
    ] {
        let endian = endian.map_or(String::new(), |e| format!(",'configuration':{{'endian':'{e:#}'}}"));
        let (name, list) = codecs(&format!("{{'name':'bytes'{endian}}}"));
        let meta = v3(&[("data_type", &data_type), ("fill_value", fill), (name, &list)]);
        let old = meta.to_v2().unwrap_or_else(|e| panic!("{data_type}: {e:#}"));
        let text = Value::parse(&old.to_text()).unwrap();
        assert_eq!(text.get("dtype").unwrap().to_compact(), dtype, "rule B.7: {data_type}");
        assert_eq!(text.get("fill_value").unwrap().to_compact(), raised, "rule H14: {data_type}");
        assert_eq!(old.document().data_type(), meta.document().data_type(), "rule B.7: {data_type}");
        assert_eq!(old.document().fill_value(), meta.document().fill_value(), "rule H14: {data_type}");
        assert_eq!(old.document().codecs(), meta.document().codecs(), "{data_type}");
    }
    for (data_type, codec, fill, id) in
        [("string", "vlen-utf8", "\"n/a\"", "vlen-utf8"), ("bytes", "vlen-bytes", "\"AQI=\"", "vlen-bytes")]
    {
        let (name, list) = codecs(&format!("{{'name':'{codec}'}}"));
        let meta = v3(&[("data_type", &format!("\"{data_type}\"")), ("fill_value", fill), (name, &list)]);
        let old = meta.to_v2().unwrap();
        assert!(old.to_text().contains(&format!("\"id\": \"{id}\"")), "rule H.6");
        assert_eq!(old.document().data_type().name(), data_type);
        assert_eq!(old.document().fill_value().as_raw(), fill);
    }
}

#[test]
fn codecs_come_back() {
    for (list, obstacle) in [
        ("{'name':'numcodecs.delta','configuration':{'astype':'<i2','dtype':'<i4'}},BYTES", true),
        ("BYTES,{'name':'gzip','configuration':{'level':5}}", true),
        (
            "BYTES,{'name':'blosc','configuration':{'cname':'zstd','clevel':1,'shuffle':'bitshuffle','typesize':4,'blocksize':0}}",
            true,
        ),
        (
            "BYTES,{'name':'numcodecs.shuffle','configuration':{'elementsize':4}},{'name':'numcodecs.zlib','configuration':{'level':1}}",
            true,
        ),
        ("BYTES,{'name':'crc32c'}", true),
        ("BYTES,{'name':'gzip','configuration':{'level':1}},{'name':'crc32c'}", true),
        (
            "BYTES,{'name':'zstd','configuration':{'level':1,'checksum':true}},{'name':'gzip','configuration':{'level':1}}",
            true,
        ),
        ("{'name':'numcodecs.delta','configuration':{'dtype':'<i8'}},BYTES", false),
        ("{'name':'numcodecs.packbits'},BYTES", false),
        ("{'name':'bitround','configuration':{'keepbits':3}},BYTES", false),
        (
            "{'name':'transpose','configuration':{'order':[0]}},{'name':'transpose','configuration':{'order':[0]}},BYTES",
            false,
        ),
        ("{'name':'sharding_indexed','configuration':{}}", false),
        ("BYTES,{'name':'adler32'}", false),
        ("BYTES,{'name':'foo'}", false),
    ] {
        let (name, given) = codecs(&list.replace("BYTES", BYTES));
        let meta = v3(&[(name, &given)]);
        match meta.to_v2() {
            Ok(old) => {
                assert_eq!((true, old.document().codecs()), (obstacle, meta.document().codecs()), "{list}")
            }
            Err(e) => assert_eq!((false, MetaErrorKind::Unsupported), (obstacle, e.kind()), "{list}: {e:#}"),
        }
    }
}

#[test]
fn arrays_without_equivalent_in_format_2_are_refused() {
    for (edits, message) in [
        (&[("data_type", "\"bfloat16\"")][..], "member \"/data_type\": format 2 has no dtype"),
        (
            &[("chunk_key_encoding", r#"{"name":"default"}"#)],
            "member \"/chunk_key_encoding\": the encoding \"default\" has other chunk keys",
        ),
        (
            &[("chunk_grid", r#"{"name":"rectilinear"}"#)],
            "member \"/chunk_grid\": format 2 has no chunk grid",
        ),
        (&[("storage_transformers", r#"[{"name":"x"}]"#)], "member \"/storage_transformers\""),
        (&[("dimension_names", "[null]")], "member \"/dimension_names\""),
        (&[("extra", r#"{"must_understand": false}"#)], "member \"/extra\""),
        (&[("data_type", "\"float32\""), ("fill_value", "\"0x7fc00001\"")], "member \"/fill_value\""),
    ] {
        let error = format!("{:#}", v3(edits).to_v2().unwrap_err());
        assert!(error.starts_with(message), "{edits:?}: {error:#}");
    }
}

/// Both builders take the same names of types and the same forms of fill values.
#[test]
fn both_builders_take_the_same_data_types_and_fill_values() {
    let dtype = |builder: ArrayBuilder2| {
        let text = builder.chunks([2]).build().unwrap_or_else(|e| panic!("{e}")).to_text();
        let member = |name: &str| Value::parse(&text).unwrap().get(name).unwrap();
        (member("dtype").as_text().unwrap(), member("fill_value"))
    };
    let of = |name: &str| dtype(ArrayMeta::builder_v2([4], name)).0;
    for (given, written) in [
        ("int16", "<i2"),
        ("<i2", "<i2"),
        (">i2", ">i2"),
        ("|u1", "|u1"),
        ("u1", "|u1"),
        ("|b1", "|b1"),
        (">f8", ">f8"),
        ("<c8", "<c8"),
        ("|S5", "|S5"),
        ("S5", "|S5"),
        (">U3", ">U3"),
        ("|V3", "|V3"),
        ("r24", "|V3"),
        (">M8[ns]", ">M8[ns]"),
        ("<m8[15m]", "<m8[15m]"),
        ("string", "|O"),
    ] {
        assert_eq!(of(given), written, "{given}");
    }
    let time = types::datetime64("ms").unwrap();
    assert_eq!(dtype(ArrayMeta::builder_v2([4], time.clone())).0, "<M8[ms]");
    for (data_type, fill, written) in [
        (DataType::Float32, Fill::from(f32::NAN), json!("NaN")),
        (DataType::Int16, 7.into(), json!(7)),
        (DataType::Int16, FillValue::of(7_i16).into(), json!(7)),
        (DataType::String, "x".into(), json!("x")),
        (time, FillValue::of(7_i64).into(), json!(7)),
    ] {
        let new = ArrayMeta::builder([4], data_type.clone()).chunks([2]).fill(fill.clone()).build().unwrap();
        let new = Value::parse(&new.to_text()).unwrap().get("fill_value").unwrap();
        assert_eq!(dtype(ArrayMeta::builder_v2([4], data_type.clone()).fill(fill)).1, written, "{data_type}");
        assert_eq!(new, written, "{data_type}");
    }
    for (given, part) in [
        ("i2", "give \"<i2\", \">i2\" or the name \"int16\""),
        ("<i3", "expected a dtype such as \"<f4\""),
        ("|O", "use \"string\" or \"bytes\""),
        ("float15", "format 2 has no dtype for the data type \"float15\""),
    ] {
        let error = format!("{:#}", ArrayMeta::builder_v2([4], given).chunks([2]).build().unwrap_err());
        assert!(error.contains("\"/data_type\"") && error.contains(part), "{given}: {error}");
    }
    // Format 3 has no type strings, and names the data type that they mean.
    let error = types::named("<i2", json!({})).unwrap_err();
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert!(source.contains("its name is \"int16\""), "{source}");
}

#[test]
fn arrays_of_format_2_are_built_from_parts() {
    let meta = ArrayMeta::builder_v2([6, 4], Extension::new("float32"))
        .chunks([3, 2])
        .big_endian()
        .fortran_order()
        .separator('/')
        .filters([json!({"id": "delta", "dtype": ">f4"})])
        .compressor(json!({"level": 1, "id": "zlib"}))
        .dimension_names(["y", "x"])
        .attributes(json!({"units": "K"}))
        .build()
        .unwrap();
    assert!(meta.fill_is_undefined());
    assert_eq!(meta.dimension_names().unwrap().len(), 2);
    let names: Vec<_> = meta.document().codecs().iter().map(Extension::name).collect();
    assert_eq!(names, ["transpose", "numcodecs.delta", "bytes", "numcodecs.zlib"]);
    let text = meta.to_text();
    for part in
        ["\"dtype\": \">f4\"", "\"order\": \"F\"", "\"dimension_separator\": \"/\"", "\"fill_value\": null"]
    {
        assert!(text.contains(part), "{part} in {text}");
    }
    // Strings need an object codec, which is added if it is missing.
    let strings = ArrayMeta::builder_v2([3], Extension::new("string")).chunks([2]).fill("").build().unwrap();
    assert_eq!(strings.document().codecs()[0].name(), "vlen-utf8");
    let objects = ArrayMeta::builder_v2([3], Extension::new("string")).chunks([2]);
    let objects = objects.filters([json!({"id": "json2"})]).build().unwrap();
    assert_eq!(objects.document().codecs()[0].name(), "numcodecs:json2");

    let new = || ArrayMeta::builder_v2([4], Extension::new("int32")).chunks([2]);
    // Without a chunk shape one is chosen, as for arrays of format 3.
    for (shape, data_type, chunks) in [(4, "int32", 4), (1 << 20, "<f8", 1 << 16), (0, "string", 1024)] {
        let text = ArrayMeta::builder_v2([shape], data_type).build().unwrap().to_text();
        let expected = format!("\"chunks\": [\n        {chunks}\n    ]");
        assert!(text.contains(&expected), "{text}");
    }
    for (what, builder) in [
        ("rank", ArrayMeta::builder_v2([4, 4], Extension::new("int32")).chunks([2])),
        ("chunk 0", new().chunks([0])),
        ("separator", new().separator('-')),
        ("fill value", new().fill("x")),
        ("compressor", new().compressor(json!({"level": 1}))),
        ("names", new().dimension_names(["x", "y"])),
        ("attributes", new().attributes(json!([]))),
        ("data type", ArrayMeta::builder_v2([4], Extension::new("int4")).chunks([2])),
    ] {
        assert!(builder.build().is_err(), "{what}");
    }
}

#[test]
fn groups_change_their_format() {
    let group = GroupMeta::new(Format::V2).unwrap().with_attributes(json!({"title": "x"})).unwrap();
    let new = group.to_format(Format::V3).unwrap();
    assert_eq!((new.format(), new.attributes().len()), (Format::V3, 1));
    assert_eq!(new.to_format(Format::V2).unwrap().documents(), group.documents());
    assert!(group.to_format(Format::V1).is_err(), "rule I1");
}

#[test]
fn a_built_array_can_become_one_of_format_2() {
    let meta = ArrayMeta::builder([4], DataType::Int32)
        .chunks([2])
        .chunk_key_encoding(Extension::new("v2").with("separator", "/"))
        .build()
        .unwrap();
    let old = meta.to_v2().unwrap();
    let mut notes: Vec<Diagnostic> = Vec::new();
    let documents = old.documents();
    let text = documents[0].1.as_ref().unwrap();
    ArrayMeta::parse_v2(text.as_bytes(), None, &Limits::default(), &mut notes).unwrap();
    assert_eq!(notes.into_iter().map(|n| n.code).collect::<Vec<Code>>(), []);
    assert!(old.to_v2().is_ok() && meta.to_v3(true).is_ok(), "what is there already stays");
}

/// zarr-python 3.1 writes the fill value of `structured` as the little-endian bytes of the element in base64, whatever
/// the byte order of the elements is.
#[test]
fn the_fill_value_of_a_struct_may_be_base64() {
    let data_type = concat!(
        r#"{"name":"structured","configuration":{"fields":[["a","int16"],"#,
        r#"["p",{"name":"structured","configuration":{"fields":[["b","bool"]]}}]]}}"#
    );
    for (fill, endian, raised) in [
        ("\"AQAB\"", "big", Some("AAEB")),
        ("\"AQAB\"", "little", Some("AQAB")),
        (r#"{"a":1,"p":"AQ=="}"#, "big", Some("AAEB")),
        ("\"AQA=\"", "big", None),
        ("\"AQABAA==\"", "big", None),
    ] {
        let (name, list) = codecs(&format!("{{'name':'bytes','configuration':{{'endian':'{endian}'}}}}"));
        let meta = v3(&[("data_type", data_type), ("fill_value", fill), (name, &list)]);
        let old = meta.to_v2().ok();
        let text = |old: &ArrayMeta| Value::parse(&old.to_text()).unwrap();
        let found = old.as_ref().map(|old| text(old).get("fill_value").unwrap());
        assert_eq!(found, raised.map(|raised| json!(raised)), "rule H14: {fill} {endian}");
    }
}

/// Both names of raw bytes have the dtype V, which becomes the name that zarr-python and TensorStore read.
#[test]
fn raw_bytes_come_back_under_the_name_that_others_read() {
    let raw = r#"{"name":"raw_bytes","configuration":{"length_bytes":3}}"#;
    let of = |data_type: &str| {
        format!(
            r#"{{"name":"struct","configuration":{{"fields":[{{"name":"a","data_type":"int8"}},{{"name":"b","data_type":{data_type}}}]}}}}"#
        )
    };
    let (inside, inside_raw) = (of("\"r24\""), of(raw));
    let in_struct = json!([["a", "|i1"], ["b", "|V3"]]);
    for (data_type, fill, dtype, raised, again, fill_again) in [
        ("\"r24\"", "[1,2,3]", json!("|V3"), "AQID", raw, "\"AQID\""),
        (raw, "\"AQID\"", json!("|V3"), "AQID", raw, "\"AQID\""),
        (
            &inside,
            r#"{"a":1,"b":[1,2,3]}"#,
            in_struct.clone(),
            "AQECAw==",
            &inside_raw,
            r#"{"a":1,"b":"AQID"}"#,
        ),
        (&inside_raw, r#"{"a":1,"b":"AQID"}"#, in_struct, "AQECAw==", &inside_raw, r#"{"a":1,"b":"AQID"}"#),
    ] {
        let (name, list) = codecs("{'name':'bytes'}");
        let meta = v3(&[("data_type", data_type), ("fill_value", fill), (name, &list)]);
        let old = meta.to_v2().unwrap();
        let text = Value::parse(&old.to_text()).unwrap();
        let found = (text.get("dtype").unwrap(), text.get("fill_value").unwrap());
        assert_eq!(found, (dtype, json!(raised)), "{data_type}");
        let new = old.to_v3(false).unwrap();
        assert_eq!(new.document().data_type().to_value().to_compact(), again, "rule B.7: {data_type}");
        assert_eq!(new.document().fill_value().to_compact(), fill_again, "{data_type}");
        let same = |one: &ArrayMeta, other| one.has_same_chunks(other, &registry(), &Limits::default());
        assert!(same(&meta, &old).unwrap() && same(&new, &meta).unwrap(), "{data_type}");
    }
    let int8s = v3(&[("data_type", "\"r32\""), ("fill_value", "[0,0,0,0]")]).to_v2().unwrap();
    assert!(!int8s.has_same_chunks(&v3(&[]), &registry(), &Limits::default()).unwrap());
}

/// A tolerated spelling is a note, not an error: the converted document has the specified form.
#[test]
fn tolerated_spellings_are_converted() {
    let raw = r#"{"name":"raw_bytes","configuration":{"length_bytes":3}}"#;
    let fields = r#"{"name":"struct","configuration":{"fields":[{"name":"a","data_type":"int16"},{"name":"b","data_type":"r16"}]}}"#;
    let keys =
        |beside: &str, inside: &str| format!(r#"{{"name":"v2"{beside},"configuration":{{{inside}}}}}"#);
    let list = |codec: &str| codecs(&format!("{BYTES},{codec}")).1;
    let plain = keys("", "");
    let (beside, both) = (keys(r#","separator":"/""#, ""), keys(r#","separator":".""#, r#""separator":"/""#));
    for (edits, member, raised) in [
        (&[("data_type", "\"bool\""), ("fill_value", "1")][..], "fill_value", json!(true)),
        (&[("fill_value", "7.0")], "fill_value", json!(7)),
        (&[("data_type", "\"float32\""), ("fill_value", "\"0.5\"")], "fill_value", json!(0.5)),
        (&[("data_type", "\"float32\""), ("fill_value", "NaN")], "fill_value", json!("NaN")),
        (&[("data_type", "\"complex64\""), ("fill_value", "[1,\"2\"]")], "fill_value", json!([1.0, 2.0])),
        (&[("data_type", "\"r24\""), ("fill_value", "\"AQID\"")], "fill_value", json!("AQID")),
        (&[("data_type", "\"r24\""), ("fill_value", "[1,2.0,3]")], "fill_value", json!("AQID")),
        (&[("data_type", raw), ("fill_value", "\"AQID\"")], "fill_value", json!("AQID")),
        (&[("data_type", raw), ("fill_value", "[1,2,3]")], "fill_value", json!("AQID")),
        (
            &[("data_type", fields), ("fill_value", r#"{"a":1.0,"b":"AgM="}"#)],
            "fill_value",
            json!("AQACAw=="),
        ),
        (&[("data_type", fields), ("fill_value", "\"AQACAw==\"")], "fill_value", json!("AQACAw==")),
        (&[("data_type", "\"bytes\""), ("fill_value", "[1.0]"), VLEN], "fill_value", json!("AQ==")),
        (
            &[("data_type", "\"variable_length_bytes\""), ("fill_value", "\"AQ==\""), VLEN],
            "dtype",
            json!("|O"),
        ),
        (&[("shape", "[4.0]")], "shape", json!([4])),
        (
            &[("chunk_grid", r#"{"name":"regular","configuration":{"chunk_shape":[2.0]}}"#)],
            "chunks",
            json!([2]),
        ),
        (&[("chunk_key_encoding", &beside)], "dimension_separator", json!("/")),
        (&[("chunk_key_encoding", &both)], "dimension_separator", json!("/")),
        (
            &[("codecs", &list("{'name':'zstd','configuration':{'level':3.0}}"))],
            "compressor",
            json!({"id": "zstd", "level": 3}),
        ),
        (
            &[("codecs", &list("{'name':'zstd','configuration':{'level':3},'extra':1}"))],
            "compressor",
            json!({"id": "zstd", "level": 3}),
        ),
        (&[("storage_transformers", "null")], "order", json!("C")),
        (&[("extra", "null")], "order", json!("C")),
        (&[("attributes", r#"{"a":NaN,"\ud800":"\ud800"}"#)], "order", json!("C")),
    ] {
        let edits: Vec<_> = [("chunk_key_encoding", &*plain)].into_iter().chain(edits.to_vec()).collect();
        let (meta, resolved) =
            open(&base(&edits), &mut Ignore).unwrap_or_else(|e| panic!("{edits:?}: {}", e.1));
        let old = meta.to_v2().unwrap_or_else(|e| panic!("{edits:?}: {e:#}"));
        let text = parse_json(old.to_text().as_bytes(), &Limits::default(), &mut Ignore).unwrap().root;
        assert_eq!(text.get(member).unwrap(), raised, "{edits:?}");
        let again = old.resolve(&registry(), &Limits::default(), &mut Strict).unwrap();
        assert_eq!(again.fill, resolved.fill, "{edits:?}");

        let like = meta.to_builder(resolved.data_type.clone()).build();
        let like = like.unwrap_or_else(|e| panic!("{edits:?}, built: {e:#}"));
        assert_eq!(like.attributes(), meta.attributes(), "{edits:?}");
        let again = like.resolve(&registry(), &Limits::default(), &mut Strict).unwrap();
        assert_eq!(again.fill, resolved.fill, "{edits:?}");
    }
    // New metadata is strict about the values of the caller.
    let given = ArrayMeta::builder_v2([4], Extension::new("bool")).chunks([2]).fill(1);
    assert_eq!(given.build().unwrap_err().kind(), MetaErrorKind::Deviation(Code::BoolFill));
}

const VLEN: (&str, &str) = ("codecs", r#"[{"name":"vlen-bytes"}]"#);
