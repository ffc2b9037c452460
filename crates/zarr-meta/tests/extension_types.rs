//! Data types beyond the core: configurations, elements and fill values, one row for each case of the rules.

use crate::common::Verdict::{self, Fine, Tolerated, Unresolved};
use crate::common::{base, check, registry};
use zarr_meta::json::{Value, json};
use zarr_meta::types::StructType;
use zarr_meta::{
    ArrayMeta, Code, DataType, Diagnostic, FillValue, Limits, MetaErrorKind, MetaResult, Strict, fill,
};
use zarr_traits::extension::{Context, Note, Spec};
use zarr_traits::{CodecError, CodecErrorKind, CodecResult, Layout};

const LITTLE: &str = r#"[{"name":"bytes","configuration":{"endian":"little"}}]"#;

/// Checks rows of a table: the id of a rule, data type, fill value, verdict.
fn rows(rows: &[(&str, &str, &str, Verdict)]) {
    for (id, data_type, value, verdict) in rows {
        let edits = [("data_type", *data_type), ("fill_value", *value), ("codecs", LITTLE)];
        check(&format!("{id} {data_type} {value}"), &base(&edits), *verdict);
    }
}

fn noted(name: &str, configuration: &Value, limits: &Limits) -> CodecResult<(DataType, Vec<Note>)> {
    let registry = registry();
    let context = Context::new(&registry, limits);
    registry.data_type(&Spec::new(name, configuration.clone())?, &context)
}

fn open(name: &str, configuration: &Value) -> CodecResult<DataType> {
    noted(name, configuration, &Limits::default()).map(|(data_type, _)| data_type)
}

fn made(name: &str, configuration: Value) -> DataType {
    open(name, &configuration).unwrap()
}

fn refused(name: &str, configuration: &Value) -> CodecError {
    open(name, configuration).unwrap_err()
}

fn read(data_type: &DataType, value: &str) -> MetaResult<FillValue> {
    fill::read(data_type, &Value::parse(value).unwrap(), &mut Vec::<Diagnostic>::new())
}

/// Asserts that `value` is the little-endian element `hex`, which is written as `written`.
fn golden(data_type: &DataType, value: &str, hex: &str, written: &str) {
    let element = read(data_type, value).unwrap_or_else(|e| panic!("{value}: {e:#}"));
    let mut bytes = element.bytes().to_vec();
    if cfg!(target_endian = "big") {
        data_type.swap_bytes(&mut bytes);
    }
    let shown: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
    assert_eq!(shown, hex.replace(' ', ""), "{value}");
    let again = fill::write(data_type, &element).unwrap();
    assert_eq!(again.to_compact(), written, "{value}");
    assert_eq!(fill::read(data_type, &again, &mut Strict).unwrap(), element, "{value}");
}

/// Returns little-endian elements with their byte order swapped.
fn turned(data_type: &DataType, hex: &str) -> String {
    let hex = hex.replace(' ', "");
    let mut bytes: Vec<u8> =
        (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect();
    data_type.swap_bytes(&mut bytes);
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn points() -> DataType {
    made(
        "struct",
        json!({"fields": [{"name": "x", "data_type": "float32"}, {"name": "y", "data_type": "uint8"}]}),
    )
}

#[test]
fn fixed_length_utf32_is_read_and_written() {
    const EIGHT: &str = r#"{"name":"fixed_length_utf32","configuration":{"length_bytes":8}}"#;
    rows(&[
        ("B.t54", EIGHT, r#""ab""#, Fine),
        ("B.t55 L12", EIGHT, r#""abc""#, Unresolved("a string of 3 code points, at most 2 fit")),
        ("B33", EIGHT, "null", Unresolved("expected a string, found null")),
        (
            "B33",
            EIGHT,
            "0",
            Unresolved("member \"/fill_value\": not a fill value of data type fixed_length_utf32"),
        ),
        (
            "B.t56 L12",
            r#"{"name":"fixed_length_utf32","configuration":{"length_bytes":6}}"#,
            "\"\"",
            Unresolved("member \"/data_type/configuration/length_bytes\""),
        ),
        (
            "D.08",
            r#"{"name":"fixed_length_utf32","configuration":{"length_bytes":8,"x":1}}"#,
            "\"\"",
            Tolerated(Code::ConfigurationMember),
        ),
    ]);
    for configuration in
        [json!({"length_bytes": 0}), json!({"length_bytes": "8"}), json!({}), json!({"length_bytes": -4})]
    {
        assert_eq!(refused("fixed_length_utf32", &configuration).pointer(), "/configuration/length_bytes");
    }
    let text = made("fixed_length_utf32", json!({"length_bytes": 8}));
    assert!(matches!(text.layout(), Layout::Fixed { size: 8, unit: 4 }));
    golden(&text, r#""ab""#, "61000000 62000000", r#""ab""#);
    golden(&text, r#""é""#, "e9000000 00000000", r#""é""#);
    golden(&text, r#""\u0000𝒳""#, "00000000 b3d40100", r#""\u0000𝒳""#);
    golden(&text, r#""a\u0000\u0000\u0000""#, "61000000 00000000", r#""a""#);
    for code in [0xD800_u32, 0x11_0000, u32::MAX] {
        let stored: Vec<u8> = [u32::from('a'), code].iter().flat_map(|c| c.to_ne_bytes()).collect();
        let e = fill::write(&text, &FillValue::from_bytes(stored)).unwrap_err();
        assert!(format!("{e:#}").contains("is not a character"), "{e:#}");
    }
    assert!(fill::write(&text, &FillValue::from_bytes([0; 4])).is_err());
}

#[test]
fn bytes_of_fixed_length_are_read_and_written() {
    const FIVE: &str = r#"{"name":"null_terminated_bytes","configuration":{"length_bytes":5}}"#;
    const RAW: &str = r#"{"name":"raw_bytes","configuration":{"length_bytes":2}}"#;
    rows(&[
        ("B40", FIVE, "\"QQ==\"", Fine),
        ("B40", FIVE, "\"\"", Fine),
        ("B40", FIVE, "\"QUJDREVG\"", Unresolved("a string of 6 bytes, at most 5 fit")),
        ("B40", FIVE, "\"QQ\"", Unresolved("expected a string in base64, found \"QQ\"")),
        ("B40", FIVE, "0", Unresolved("expected a string in base64, found 0")),
        ("B41", RAW, "\"AQI=\"", Fine),
        ("B41", RAW, "[1,2]", Fine),
        ("B41", RAW, "[1,256]", Unresolved("expected a string in base64 of 2 bytes, found [1,256]")),
        ("B41", RAW, "\"AQ==\"", Unresolved("expected a string in base64 of 2 bytes")),
    ]);
    let string = made("null_terminated_bytes", json!({"length_bytes": 5}));
    golden(&string, "\"QQ==\"", "4100000000", "\"QQ==\"");
    golden(&string, "\"AEEAAAA=\"", "0041000000", "\"AEE=\"");
    golden(&string, "\"\"", "0000000000", "\"\"");
    let raw = made("raw_bytes", json!({"length_bytes": 3}));
    golden(&raw, "\"AQAA\"", "010000", "\"AQAA\"");
    golden(&raw, "[1,0,255]", "0100ff", "\"AQD/\"");
    for name in ["null_terminated_bytes", "raw_bytes"] {
        assert_eq!(refused(name, &json!({"length_bytes": 0})).pointer(), "/configuration/length_bytes");
        assert!(matches!(
            made(name, json!({"length_bytes": 3})).layout(),
            Layout::Fixed { size: 3, unit: 1 }
        ));
    }
}

#[test]
fn times_are_read_and_written() {
    const TENTHS: &str = r#"{"name":"numpy.datetime64","configuration":{"unit":"us","scale_factor":10}}"#;
    const MICRO: &str = r#"{"name":"numpy.timedelta64","configuration":{"unit":"µs","scale_factor":1}}"#;
    const MU: &str = r#"{"name":"numpy.timedelta64","configuration":{"unit":"μs","scale_factor":1}}"#;
    const ANY: &str = r#"{"name":"numpy.datetime64","configuration":{"unit":"generic","scale_factor":1}}"#;
    rows(&[
        ("B.t50", TENTHS, "\"NaT\"", Fine),
        ("B.t51", TENTHS, "-9223372036854775808", Fine),
        ("B.t52", ANY, "0", Fine),
        ("B34", MU, "0", Fine),
        ("B34", MICRO, "0", Tolerated(Code::CodecConfiguration)),
        ("B34", TENTHS, "9223372036854775808", Unresolved("expected an integer of 64 bits or \"NaT\"")),
        ("B34", TENTHS, "\"nat\"", Unresolved("found \"nat\"")),
        ("B34", TENTHS, "1.5", Unresolved("found 1.5")),
    ]);
    let us = json!({"unit": "us", "scale_factor": 10});
    for (configuration, member) in [
        (json!({"unit": "xs", "scale_factor": 1}), "unit"), // rule B.t53
        (json!({"unit": "us", "scale_factor": 0}), "scale_factor"),
        (json!({"unit": "us", "scale_factor": 2_147_483_648_u32}), "scale_factor"),
        (json!({"unit": "us"}), "scale_factor"),
        (json!({"scale_factor": 1}), "unit"),
        (json!({"unit": 1, "scale_factor": 1}), "unit"),
        (json!({"unit": "us", "scale_factor": 1, "epoch": 0}), "epoch"),
    ] {
        for name in ["numpy.datetime64", "numpy.timedelta64"] {
            let e = refused(name, &configuration);
            assert_eq!(e.pointer(), format!("/configuration/{member}"), "{e:#}");
            assert_eq!(e.kind(), CodecErrorKind::Configuration, "{e:#}");
        }
    }
    for unit in ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as", "generic"] {
        made("numpy.datetime64", json!({"unit": unit, "scale_factor": i32::MAX}));
    }
    let time = made("numpy.datetime64", us.clone());
    assert_eq!(time, made("numpy.datetime64", json!({"unit": "μs", "scale_factor": 10})));
    assert_ne!(time, made("numpy.timedelta64", us));
    golden(&time, "\"NaT\"", "0000000000000080", "\"NaT\"");
    golden(&time, "-9223372036854775808", "0000000000000080", "\"NaT\"");
    golden(&time, "-2", "feffffffffffffff", "-2");
    assert_eq!(turned(&time, "0102030405060708"), "0807060504030201");
}

#[test]
fn structs_are_read_and_written() {
    const XY: &str = r#"{"name":"struct","configuration":{"fields":[{"name":"x","data_type":"float32"},{"name":"y","data_type":"uint8"}]}}"#;
    const NESTED: &str = r#"{"name":"struct","configuration":{"fields":[{"name":"p","data_type":{"name":"struct","configuration":{"fields":[{"name":"x","data_type":"int16"},{"name":"y","data_type":"int16"}]}}},{"name":"z","data_type":"uint8"}]}}"#;
    rows(&[
        ("B.t57", XY, r#"{"x":1.0,"y":2}"#, Fine),
        ("B.t57", XY, r#"{"y":2,"x":"0x7fc00001"}"#, Fine),
        ("B.t58 L18", XY, r#"{"x":1.0}"#, Unresolved("member \"/fill_value\": the field \"y\" is missing")),
        ("B.t58", XY, r#"{"x":1.0,"y":2,"z":3}"#, Unresolved("member \"/fill_value/z\": unknown field")),
        (
            "B.t58",
            XY,
            r#"{"x":1.0,"y":256}"#,
            Unresolved("member \"/fill_value/y\": expected an integer from 0 to 255"),
        ),
        ("B.t58", XY, "null", Unresolved("expected an object with all fields, found null")),
        ("B.t58", XY, "0", Unresolved("expected an object with all fields, found 0")),
        ("B.t59", XY, "\"AACAPwI=\"", Tolerated(Code::Base64Fill)),
        ("B.t59", XY, "\"AACAPw==\"", Unresolved("or 5 bytes in base64")),
        ("B.t1", XY, r#"{"x":1,"y":2.0}"#, Tolerated(Code::IntegerFill)),
        ("A.t12", XY, r#"{"x":NaN,"y":2}"#, Tolerated(Code::BareNonFinite)),
        ("B.t62", NESTED, r#"{"p":{"x":1,"y":2},"z":3}"#, Fine),
        (
            "B.t62",
            NESTED,
            r#"{"p":{"x":1},"z":3}"#,
            Unresolved("member \"/fill_value/p\": the field \"y\" is missing"),
        ),
        ("B.t62", NESTED, r#"{"p":{"x":1,"y":"2"},"z":3}"#, Unresolved("member \"/fill_value/p/y\"")),
    ]);
    check(
        "B.t60",
        &base(&[("data_type", XY), ("fill_value", r#"{"x":1.0,"y":2}"#), ("codecs", "[\"bytes\"]")]),
        Unresolved("member \"/codecs/0\""),
    );
    let points = points();
    golden(&points, r#"{"x":1.0,"y":2}"#, "0000803f 02", r#"{"x":1.0,"y":2}"#);
    golden(&points, "\"AACAPwI=\"", "0000803f 02", r#"{"x":1.0,"y":2}"#);
    golden(&points, r#"{"y":2,"x":"0x7fc00001"}"#, "0100c07f 02", r#"{"x":"0x7fc00001","y":2}"#);
    // This value is rounded once. Rounding to a double first would give the wrong neighbour.
    golden(&points, r#"{"x":16777217.000000000000001,"y":0}"#, "0100804b 00", r#"{"x":16777218.0,"y":0}"#);
    golden(&points, r#"{"x":-0.0,"y":0}"#, "00000080 00", r#"{"x":-0.0,"y":0}"#);
    assert!(fill::write(&points, &FillValue::from_bytes([0; 4])).is_err());
    assert_eq!(turned(&points, "0000803f 02 0100c07f 03"), "3f80000002".to_owned() + "7fc0000103");
}

#[test]
fn invalid_fields_of_structs_are_refused() {
    let field = |name: &str, data_type: Value| json!({"name": name, "data_type": data_type});
    let fields = |list: &[Value]| json!({ "fields": list });
    let x = field("x", json!("int8"));
    let string = |name: &str| fields(&[x.clone(), field("s", json!(name))]);
    for (id, configuration, kind, pointer) in [
        ("B.t61", fields(&[x.clone(), x.clone()]), CodecErrorKind::Configuration, "fields/1/name"),
        ("B.t61", fields(&[]), CodecErrorKind::Configuration, "fields"),
        ("B.t61", json!({}), CodecErrorKind::Configuration, "fields"),
        ("B.t61", json!({"fields": {"x": "int8"}}), CodecErrorKind::Configuration, "fields"),
        ("B.t61", fields(&[field("", json!("r8"))]), CodecErrorKind::Configuration, "fields/0/name"),
        (
            "B35",
            fields(&[json!({"name": 1, "data_type": "int8"})]),
            CodecErrorKind::Configuration,
            "fields/0/name",
        ),
        ("B35", fields(&[json!({"name": "x"})]), CodecErrorKind::Configuration, "fields/0"),
        ("B35", fields(&[json!(["x", "int8"])]), CodecErrorKind::Configuration, "fields/0"),
        ("B.t64", string("string"), CodecErrorKind::Unsupported, "fields/1/data_type"),
        ("B.t64", string("variable_length_bytes"), CodecErrorKind::Unsupported, "fields/1/data_type"),
        ("B35", string("int9"), CodecErrorKind::UnknownExtension, "fields/1/data_type"),
        (
            "B.t56",
            fields(&[field(
                "s",
                json!({"name": "fixed_length_utf32", "configuration": {"length_bytes": 6}}),
            )]),
            CodecErrorKind::Configuration,
            "fields/0/data_type/configuration/length_bytes",
        ),
        // A member for documents of format 2 only, and one that might be an offset.
        (
            "H11",
            fields(&[json!({"name": "x", "data_type": "int8", "shape": [2]})]),
            CodecErrorKind::Configuration,
            "fields/0",
        ),
        (
            "B35",
            fields(&[json!({"name": "x", "data_type": "int8", "offset": 4})]),
            CodecErrorKind::Configuration,
            "fields/0",
        ),
    ] {
        let e = refused("struct", &configuration);
        assert_eq!(
            (e.kind(), e.pointer()),
            (kind, &*format!("/configuration/{pointer}")),
            "rule {id}: {e:#}"
        );
    }
    // rules B.t63 and L82
    assert_eq!(made("struct", fields(&[field("x", json!({"name": "int8"}))])), made("struct", fields(&[x])));
    // A deviation inside of a field is reported at its place.
    let inside = fields(&[field(
        "t",
        json!({"name": "numpy.datetime64", "configuration": {"unit": "µs", "scale_factor": 1}}),
    )]);
    let (_, notes) = noted("struct", &inside, &Limits::default()).unwrap();
    assert_eq!(notes[0].pointer, "/configuration/fields/0/data_type/configuration/unit");
}

#[test]
fn structured_is_read_and_written() {
    let (old, new) =
        (r#"{"name":"structured","configuration":{"fields":[["x","float32"],["y","uint8"]]}}"#, points());
    rows(&[("B.t65", old, "\"AACAPwI=\"", Fine), ("B.t65", old, r#"{"x":1.0,"y":2}"#, Fine)]);
    let configuration = json!({"fields": [["x", "float32"], ["y", "uint8"]]});
    let old = made("structured", configuration.clone());
    assert_eq!(old.name(), "structured", "rule B.t66: the codec bytes knows it by this name");
    assert_ne!(old, new);
    golden(&old, "\"AACAPwI=\"", "0000803f 02", r#"{"x":1.0,"y":2}"#);
    let element = read(&old, "\"AACAPwI=\"").unwrap();
    let meta = ArrayMeta::builder([2], old.clone()).chunks([2]).fill(element).build().unwrap();
    assert_eq!(meta.document().fill_value(), &Value::from("AACAPwI="), "older readers read no other form");
    let DataType::Extension(extension) = &old else { panic!("{old}") };
    assert_eq!(Value::from(extension.configuration()), configuration);
    for fields in [
        json!([["x"]]),
        json!([["x", "int8", [2]]]),
        json!([{"name": "x", "data_type": "int8"}]),
        json!([["", "r8"]]),
    ] {
        assert!(
            refused("structured", &json!({ "fields": fields }))
                .pointer()
                .starts_with("/configuration/fields/0")
        );
    }
    let deep = made(
        "structured",
        json!({"fields": [["p", {"name": "structured", "configuration": {"fields": [["x", "int16"]]}}]]}),
    );
    golden(&deep, "\"AQA=\"", "0100", r#"{"p":{"x":1}}"#);
}

#[test]
fn sub_arrays_and_padding_have_a_private_name() {
    let inner = json!({"name": "numcodecs:struct", "configuration": {"fields": [
        {"name": "a", "data_type": "int16", "shape": [2]}, {"name": "", "data_type": "r8"}]}});
    let configuration = json!({"fields": [
        {"name": "m", "data_type": "uint16", "shape": [2, 2]},
        {"name": "", "data_type": "r16"},
        {"name": "p", "data_type": inner, "shape": [2]},
        {"name": "c", "data_type": "complex64"},
        {"name": "s", "data_type": {"name": "fixed_length_utf32", "configuration": {"length_bytes": 8}}},
        {"name": "", "data_type": "r8"},
    ]});
    let data_type = made("numcodecs:struct", configuration.clone());
    let value = r#"{"m":[[1,2],[3,4]],"p":[{"a":[5,6]},{"a":[7,8]}],"c":[1.0,2.0],"s":"ab"}"#;
    let bytes = "0100020003000400 0000 0500060000 0700080000 0000803f00000040 6100000062000000 00";
    golden(&data_type, value, bytes, value);
    assert_eq!(
        turned(&data_type, bytes),
        "0001000200030004 0000 0005000600 0007000800 3f80000040000000 0000006100000062 00".replace(' ', "")
    );
    let fields = StructType::of(&data_type).unwrap().fields();
    let layout: Vec<_> = fields.iter().map(|f| (&*f.name, f.offset, f.count, f.size)).collect();
    let expected =
        [("m", 0, 4, 8), ("", 8, 1, 2), ("p", 10, 2, 10), ("c", 20, 1, 8), ("s", 28, 1, 8), ("", 36, 1, 1)];
    assert_eq!(layout, expected);
    assert!(StructType::of(&DataType::Int8).is_none());

    // Documents of format 3 cannot have this name. Without private members it is a plain struct.
    let e = ArrayMeta::builder([2], data_type.clone()).chunks([2]).build().unwrap_err();
    assert_eq!((e.kind(), e.pointer()), (MetaErrorKind::InvalidArgument, "/data_type"), "{e:#}");
    assert_eq!(data_type.name(), "numcodecs:struct");
    let plain = json!({"fields": [{"name": "x", "data_type": "float32"}, {"name": "y", "data_type": "uint8", "shape": []}]});
    assert_eq!(made("numcodecs:struct", plain), points());

    for (value, words) in [
        (r#"{"m":[[1,2],[3]]}"#, "member \"/m/1\": expected an array of 2"),
        (r#"{"m":[1,2,3,4]}"#, "member \"/m\""),
        (r#"{"m":[[1,2],[3,4]],"p":[{"a":[5,6]},{"a":[7,"8"]}]}"#, "member \"/p/1/a/1\""),
        (r#"{"m":[[1,2],[3,4]],"p":[{"a":[5,6],"":[0]},{"a":[7,8]}]}"#, "member \"/p/0/\": unknown field"),
    ] {
        let e = read(&data_type, value).unwrap_err();
        assert!(format!("{e:#}").contains(words), "{value}: {e:#}");
    }
    for field in [
        json!({"name": "", "data_type": "uint8"}),
        json!({"name": "", "data_type": "r8", "shape": [2]}),
        json!({"name": "", "data_type": "r8"}), // only padding
        json!({"name": "x", "data_type": "int8", "shape": [0]}),
        json!({"name": "x", "data_type": "int8", "shape": 2}),
        json!({"name": "x", "data_type": "int8", "shape": [-1]}),
        json!({"name": "x", "data_type": "int8", "shape": vec![1; 65]}),
        json!({"name": "x", "data_type": "int8", "offset": 1}),
    ] {
        let e = refused("numcodecs:struct", &json!({"fields": [field]}));
        assert!(e.pointer().starts_with("/configuration/fields"), "{e:#}");
    }
}

#[test]
fn a_struct_of_bytes_needs_no_byte_order() {
    let data_type = made(
        "struct",
        json!({"fields": [{"name": "a", "data_type": "uint8"}, {"name": "b", "data_type": "r16"}]}),
    );
    assert!(matches!(data_type.layout(), Layout::Fixed { size: 3, unit: 1 }));
    assert!(matches!(points().layout(), Layout::Packed { size: 5 }));
}

#[test]
fn a_hostile_configuration_is_refused_before_anything_is_allocated() {
    let limit = |e: CodecError| assert_eq!(e.kind(), CodecErrorKind::LimitExceeded, "{e:#}");
    for name in ["fixed_length_utf32", "null_terminated_bytes", "raw_bytes"] {
        limit(refused(name, &json!({"length_bytes": 4_294_967_292_u32})));
        for bytes in [json!(1_u64 << 32), json!(u64::MAX), json!(i64::MAX), json!(1e300)] {
            assert_eq!(
                refused(name, &json!({ "length_bytes": bytes })).kind(),
                CodecErrorKind::Configuration
            );
        }
        let huge = noted(name, &json!({"length_bytes": 1 << 30}), &Limits::unlimited()).unwrap().0;
        assert_eq!(huge.size(), Some(1 << 30));
    }
    for shape in [json!([u64::MAX, u64::MAX]), json!([1_u64 << 32, 1_u64 << 32]), json!([1_u64 << 40])] {
        limit(refused(
            "numcodecs:struct",
            &json!({"fields": [{"name": "x", "data_type": "int8", "shape": shape}]}),
        ));
    }
    let huge = json!({"name": "a", "data_type": "r4294967288"});
    limit(refused("struct", &json!({"fields": [huge]})));
    let large = |name: &str| json!({"name": name, "data_type": {"name": "raw_bytes", "configuration": {"length_bytes": 40_000_000}}});
    limit(refused("struct", &json!({"fields": [large("a"), large("b")]})));

    let nested = |depth: usize| {
        let within = |inner| json!({"fields": [{"name": "x", "data_type": inner}]});
        let inner = (1..depth)
            .fold(json!("int16"), |inner, _| json!({"name": "struct", "configuration": within(inner)}));
        within(inner)
    };
    assert_eq!(made("struct", nested(32)).size(), Some(2));
    limit(refused("struct", &nested(33)));
    limit(refused("struct", &nested(100)));

    let many = 20_000;
    let fields: Vec<Value> =
        (0..many).map(|i| json!({"name": i.to_string(), "data_type": "int16"})).collect();
    let data_type = made("struct", json!({ "fields": fields }));
    assert_eq!(data_type.size(), Some(2 * many));
    let zero = fill::write(&data_type, &FillValue::from_bytes(vec![0; 2 * many])).unwrap();
    assert!(fill::read(&data_type, &zero, &mut Strict).unwrap().is_zero());
}

#[test]
fn numbers_of_few_bits_are_read_and_written() {
    for (name, value, hex, written) in [
        ("bfloat16", "1.5", "c03f", "1.5"),
        ("bfloat16", r#""NaN""#, "c07f", r#""NaN""#),
        ("bfloat16", r#""0x7fc1""#, "c17f", r#""0x7fc1""#),
        ("bfloat16", "0.1", "cd3d", "0.1"),
        ("float8_e3m4", r#""NaN""#, "78", r#""NaN""#),
        ("float8_e4m3", r#""-Infinity""#, "f8", r#""-Infinity""#),
        ("float8_e4m3fn", "448", "7e", "448.0"), // rule B43
        ("float8_e5m2", r#""Infinity""#, "7c", r#""Infinity""#), // rule B.t75
        ("float8_e4m3b11fnuz", "30", "7f", "30.0"),
        ("float8_e5m2fnuz", r#""NaN""#, "80", r#""NaN""#),
        ("float8_e8m0fnu", "0.25", "7d", "0.25"),
        ("float8_e8m0fnu", r#""0xff""#, "ff", r#""NaN""#),
        ("float6_e3m2fn", "-28", "3f", "-28.0"),
        ("float4_e2m1fn", "-0.5", "09", "-0.5"),
        ("float4_e2m1fn", r#""0xf7""#, "07", "6.0"),
        ("complex_float16", r#"[1, "NaN"]"#, "003c 007e", r#"[1.0,"NaN"]"#), // rule B21
        ("complex_bfloat16", "[1, -2]", "803f 00c0", "[1.0,-2.0]"),
        ("complex_float8_e5m2", r#"["Infinity", 0]"#, "7c 00", r#"["Infinity",0.0]"#), // rule B29
        ("complex_float4_e2m1fn", "[6, -6]", "07 0f", "[6.0,-6.0]"),
        ("int4", "-8", "f8", "-8"), // rule B30
        ("uint4", "15", "0f", "15"),
        ("int2", "-1", "ff", "-1"),
        ("uint2", "3", "03", "3"),
    ] {
        let data_type = made(name, json!({}));
        golden(&data_type, value, hex, written);
        assert_eq!(data_type.size().unwrap(), hex.replace(' ', "").len() / 2, "{name}");
    }
    let bfloat = made("complex_bfloat16", json!({}));
    assert_eq!(turned(&bfloat, "803f 00c0"), "3f80c000", "each half has a byte order");
    for (name, core) in [("complex_float32", DataType::Complex64), ("complex_float64", DataType::Complex128)]
    {
        assert_eq!(noted(name, &json!({}), &Limits::default()).unwrap(), (core, Vec::new()), "rule B22");
    }
}

#[test]
fn values_that_numbers_of_few_bits_lack_are_refused() {
    for (name, value) in [
        ("int4", "8"),
        ("int4", "-9"),
        ("uint2", "4"),
        ("uint4", "-1"),
        ("int2", "0.5"),
        ("float8_e4m3fnuz", r#""Infinity""#), // rule B.t75
        ("float4_e2m1fn", r#""NaN""#),        // rule B.t76
        ("float4_e2m1fn", "8"),
        ("float8_e8m0fnu", "0"), // rule B27
        ("float8_e8m0fnu", "-1"),
        ("bfloat16", r#""0x7fc""#),
        ("bfloat16", "1e40"),
        ("complex_float16", "1"),
        ("complex_float16", "[1]"),
    ] {
        let e = read(&made(name, json!({})), value).unwrap_err();
        assert_eq!(e.kind(), MetaErrorKind::Invalid, "{name} {value}: {e:#}");
    }
    rows(&[
        ("B.t73", r#""int4""#, "8", Unresolved("an integer from -8 to 7")),
        ("B20", r#""float8_e4m3fn""#, r#""n""#, Unresolved("expected a number, \"NaN\" or \"0x…\"")),
        ("B20", r#""float4_e2m1fn""#, r#""n""#, Unresolved("expected a number, \"0x…\"")),
        ("B20", r#""bfloat16""#, "1", Fine),
        ("B20", r#""bfloat16""#, r#""1""#, Tolerated(Code::NumericStringFill)),
    ]);
}
