//! dtypes and fill values of format 2, and their forms in format 3.

use zarr_meta::{ArrayMeta, Code, DATA_TYPES, Diagnostic, Ignore, Limits, Registry};

/// Returns the data type, the fill value and the codec that turns elements into bytes, or the error.
fn lower(dtype: &str, fill: &str, filters: &str) -> Result<(ArrayMeta, [String; 3], Vec<Code>), String> {
    let text = format!(
        r#"{{"zarr_format": 2, "shape": [4], "chunks": [2], "dtype": {dtype}, "compressor": null,
            "fill_value": {fill}, "order": "F", "filters": {filters}}}"#
    );
    let mut notes: Vec<Diagnostic> = Vec::new();
    let meta = ArrayMeta::parse_v2(text.as_bytes(), None, &Limits::default(), &mut notes)
        .map_err(|e| format!("{e:#}"))?;
    let registry = Registry::core().overriding(DATA_TYPES);
    let error = format!("{:#}", meta.resolve(&registry, &Limits::default(), &mut Ignore).unwrap_err());
    if !error.contains("unknown codec") && !error.contains("numcodecs:object") {
        return Err(error);
    }
    let document = meta.document();
    let parts = [
        document.data_type().to_value().to_compact(),
        document.fill_value().to_compact(),
        document.codecs()[0].to_value().to_compact(),
    ];
    let codes = notes.into_iter().map(|n| n.code).filter(|c| *c != Code::UndefinedFill).collect();
    Ok((meta, parts, codes))
}

const LITTLE: &str = r#"{"name":"bytes","configuration":{"endian":"little"}}"#;
const BIG: &str = r#"{"name":"bytes","configuration":{"endian":"big"}}"#;
const BYTES: &str = r#"{"name":"bytes"}"#;

#[test]
fn type_strings_become_data_types() {
    let time = |kind: &str, unit: &str, scale: u32| {
        format!(r#"{{"name":"numpy.{kind}64","configuration":{{"unit":"{unit}","scale_factor":{scale}}}}}"#)
    };
    let sized = |name: &str, n: u32| format!(r#"{{"name":"{name}","configuration":{{"length_bytes":{n}}}}}"#);
    let core = |name: &str| format!("\"{name}\"");
    let cases = [
        ("|b1", core("bool"), "false", BYTES),
        ("|i1", core("int8"), "0", BYTES),
        ("<u1", core("uint8"), "0", BYTES),
        ("<i2", core("int16"), "0", LITTLE),
        (">i8", core("int64"), "0", BIG),
        ("<u4", core("uint32"), "0", LITTLE),
        (">u8", core("uint64"), "0", BIG),
        ("<f2", core("float16"), "0.0", LITTLE),
        (">f4", core("float32"), "0.0", BIG),
        ("<f8", core("float64"), "0.0", LITTLE),
        (">c8", core("complex64"), "[0.0,0.0]", BIG),
        ("<c16", core("complex128"), "[0.0,0.0]", LITTLE),
        ("|V3", sized("raw_bytes", 3), "\"AAAA\"", BYTES),
        ("|S5", sized("null_terminated_bytes", 5), "\"\"", BYTES),
        ("<U3", sized("fixed_length_utf32", 12), "\"\"", LITTLE),
        (">U1", sized("fixed_length_utf32", 4), "\"\"", BIG),
        ("<M8[ns]", time("datetime", "ns", 1), "\"NaT\"", LITTLE),
        (">m8[10s]", time("timedelta", "s", 10), "\"NaT\"", BIG),
        ("<M8", time("datetime", "generic", 1), "\"NaT\"", LITTLE),
        ("<M8[generic]", time("datetime", "generic", 1), "\"NaT\"", LITTLE),
        ("<m8[\u{3bc}s]", time("timedelta", "us", 1), "\"NaT\"", LITTLE),
    ];
    for (dtype, data_type, zero, codec) in cases {
        // Null becomes zero, but the model remembers that it was null (rule G11).
        let (meta, parts, codes) = lower(&format!("\"{dtype}\""), "null", "null").expect(dtype);
        assert_eq!(parts, [&data_type, zero, codec], "rules B.7 and H.3: {dtype}");
        assert!(meta.fill_is_undefined() && meta.v3_obstacles().is_empty() && codes.is_empty(), "{dtype}");
    }
}

#[test]
fn invalid_dtypes_are_refused() {
    for (id, dtype) in [
        ("H.2", "\"\""),
        ("H.2", "\"<\""),
        ("H.2", "\"<i3\""),
        ("H.2", "\"<b2\""),
        ("H.2", "\"<i\""),
        ("H.2", "\"<i04x\""),
        ("H.2", "\"<i+4\""),
        ("H.2, byte order", "\"|i4\""),
        ("H.2, byte order", "\"i4\""),
        ("H.2, byte order", "\"=i4\""),
        ("H.2, byte order", "\"|U3\""),
        ("H.2, byte order", "\"M8[ns]\""),
        ("H.2", "\"<M8[xs]\""),
        ("H.2", "\"<M8[0s]\""),
        ("H.2", "\"<M8[99999999999s]\""),
        ("H.2", "\"<M8[]\""),
        ("H.2", "\"<M4[s]\""),
        ("H.2, long double", "\"<f16\""),
        ("H.2, long double", "\"<c32\""),
        ("no bytes", "\"|S0\""),
        ("no bytes", "\"<U0\""),
        ("no bytes", "\"|V0\""),
        ("L100", "\"|V4294967295\""),
        ("L100", "\"<U4294967295\""),
        ("H13", "\"int7\""),
        ("H13", "\"float\""),
        ("H11", "null"),
        ("H11", "[]"),
        ("H11", "[[\"a\"]]"),
        ("H11", "[[\"a\", \"<i4\", [2], 1]]"),
        ("H11", "[[\"\", \"<i4\"]]"),
        ("H11", "[[\"\", \"|V4\"]]"),
        ("H11", "[[\"a\", \"<i4\"], [\"a\", \"<i4\"]]"),
        ("H11", "[[\"a\", \"|O\"]]"),
        ("H11", "[[\"a\", \"<i4\", [0]]]"),
        ("L100", "[[\"a\", \"<i4\", [4294967296, 4294967296]]]"),
        ("H.6", "\"|O\""),
    ] {
        assert!(lower(dtype, "null", "null").is_err(), "rule {id}: {dtype}");
    }
    let mut deep = "\"<i4\"".to_owned();
    for _ in 0..40 {
        deep = format!("[[\"a\", {deep}]]");
    }
    assert!(lower(&deep, "null", "null").unwrap_err().contains("nested deeper"), "rule L103");
}

#[test]
fn names_of_numpy_are_tolerated() {
    for (dtype, name) in
        [("float32", "float32"), ("bool", "bool"), ("uint8", "uint8"), ("complex64", "complex64")]
    {
        let (_, parts, codes) = lower(&format!("\"{dtype}\""), "null", "null").unwrap();
        assert_eq!(
            (parts[0].trim_matches('"'), &*codes),
            (name, &[Code::DtypeSpelling][..]),
            "rule H13: {dtype}"
        );
    }
    assert_eq!(lower("\"S3\"", "null", "null").unwrap().2, [Code::DtypeSpelling]);
}

#[test]
fn structs_become_data_types() {
    let (meta, parts, _) =
        lower(r#"[["r", "<i4"], ["g", "|u1"], ["p", [["x", "<f8"]]]]"#, "\"BwAAAAkAAAAAAAD4Pw==\"", "null")
            .unwrap();
    assert_eq!(
        parts,
        [
            concat!(
                r#"{"name":"struct","configuration":{"fields":[{"name":"r","data_type":"int32"},"#,
                r#"{"name":"g","data_type":"uint8"},{"name":"p","data_type":{"name":"struct","#,
                r#""configuration":{"fields":[{"name":"x","data_type":"float64"}]}}}]}}"#
            ),
            r#"{"r":7,"g":9,"p":{"x":1.5}}"#,
            LITTLE
        ],
        "rule H11"
    );
    assert!(meta.v3_obstacles().is_empty());

    // Sub-arrays, padding and mixed byte orders are read, but format 3 cannot represent them (rule H12).
    let dtype = r#"[["a", ">i2", [2]], ["", "|V1"], ["t", "<M8[s]"], ["s", "|S2"]]"#;
    let (meta, parts, _) = lower(dtype, "\"AAEAAgAAAAAAAAAAgHg=\"", "null").unwrap();
    assert_eq!(
        parts,
        [
            concat!(
                r#"{"name":"numcodecs:struct","configuration":{"fields":[{"name":"a","data_type":"int16","shape":[2]},"#,
                r#"{"name":"","data_type":"r8"},{"name":"t","data_type":{"name":"numpy.datetime64","configuration":"#,
                r#"{"unit":"s","scale_factor":1}}},{"name":"s","data_type":{"name":"null_terminated_bytes","#,
                r#""configuration":{"length_bytes":2}}}]}}"#
            ),
            r#"{"a":[1,2],"t":"NaT","s":"eA=="}"#,
            r#"{"name":"bytes:fields","configuration":{"endian":["big","little","little","little"]}}"#,
        ],
        "rule H11"
    );
    assert_eq!(meta.v3_obstacles().len(), 2, "rule H.9");
    assert!(format!("{:#}", meta.to_v3(true).unwrap_err()).contains("without new chunks"), "rule H.9");
}

#[test]
fn fill_values_get_the_form_of_format_3() {
    let old: &[Code] = &[Code::OldFill];
    for (dtype, fill, expected, codes) in [
        ("\"|b1\"", "true", "true", &[][..]),
        ("\"|b1\"", "1", "true", &[Code::BoolFill]),
        ("\"<i4\"", "7", "7", &[]),
        ("\"<i4\"", "7.0", "7", &[Code::IntegerFill]),
        ("\"<u8\"", "18446744073709551615", "18446744073709551615", &[]),
        ("\"<f4\"", "-9999", "-9999.0", &[]),
        ("\"<f4\"", "0.1", "0.1", &[]),
        ("\"<f8\"", "\"NaN\"", "\"NaN\"", &[]),
        ("\"<f8\"", "\"-Infinity\"", "\"-Infinity\"", &[]),
        ("\"<f8\"", "\"0.0\"", "0.0", &[Code::NumericStringFill]),
        ("\"<f8\"", "NaN", "\"NaN\"", &[Code::BareNonFinite]),
        ("\">c8\"", "[1.5, \"NaN\"]", "[1.5,\"NaN\"]", &[]),
        ("\"<M8[s]\"", "-9223372036854775808", "\"NaT\"", &[]),
        ("\"<M8[s]\"", "\"NaT\"", "\"NaT\"", old),
        ("\"<M8[s]\"", "17", "17", &[]),
        ("\"|S3\"", "\"\"", "\"\"", &[]),
        ("\"|S3\"", "\"eno=\"", "\"eno=\"", old),
        ("\"|S3\"", "\"enoA\"", "\"eno=\"", &[]),
        ("\"|S3\"", "0", "\"\"", old),
        ("\"|V3\"", "\"AQID\"", "\"AQID\"", &[]),
        ("\"|V3\"", "\"AQ==\"", "\"AQAA\"", old),
        ("[[\"a\", \"|i1\"], [\"b\", \"|V2\"]]", "\"AQID\"", "{\"a\":1,\"b\":\"AgM=\"}", &[]),
        ("\"<U2\"", "\"\u{e9}x\"", "\"\u{e9}x\"", &[]),
        ("\"<U2\"", "\"x\\u0000\"", "\"x\"", &[]),
        ("\"<U2\"", "0", "\"\"", old),
        ("[[\"a\", \"<i4\"]]", "0", "{\"a\":0}", old),
        ("[[\"a\", \">i4\"]]", "\"AAAABw==\"", "{\"a\":7}", &[]),
    ] {
        let (meta, parts, found) = lower(dtype, fill, "null").expect(fill);
        assert_eq!((&*parts[1], &*found), (expected, codes), "rule H.3: {dtype} {fill}");
        assert!(!meta.fill_is_undefined());
    }
    for (dtype, fill) in [
        ("\"|b1\"", "\"true\""),
        ("\"|b1\"", "2"),
        ("\"<i4\"", "\"abc\""),
        ("\"<i4\"", "7.5"),
        ("\"<i4\"", "true"),
        ("\"<i4\"", "2147483648"),
        ("\"<f4\"", "\"0x7fc00001\""),
        ("\"<c8\"", "1"),
        ("\"<c8\"", "[1]"),
        ("\"<M8[s]\"", "\"2020-01-01\""),
        ("\"|S3\"", "\"AQIDBA==\""),
        ("\"|S3\"", "\"zz\""),
        ("\"|S3\"", "1"),
        ("\"<U2\"", "\"abc\""),
        ("\"<U2\"", "\"\\ud800\""),
        ("[[\"a\", \"<i4\"]]", "[1]"),
        ("[[\"a\", \"|b1\"]]", "\"Ag==\""),
        ("[[\"a\", \"<U1\"]]", "\"/////w==\""),
    ] {
        assert!(lower(dtype, fill, "null").is_err(), "rule H.3: {dtype} {fill}");
    }
}

#[test]
fn objects_get_the_data_type_of_their_codec() {
    let private = |id: &str| format!(r#"{{"name":"numcodecs:{id}","configuration":{{}}}}"#);
    let object = r#"{"name":"numcodecs:object"}"#;
    for (id, fill, data_type, lowered, codec, obstacles) in [
        ("vlen-utf8", "\"n/a\"", "\"string\"", "\"n/a\"", r#"{"name":"vlen-utf8"}"#.to_owned(), 0),
        ("vlen-utf8", "\"a\\u0000\"", "\"string\"", "\"a\\u0000\"", r#"{"name":"vlen-utf8"}"#.to_owned(), 0),
        ("vlen-utf8", "0", "\"string\"", "\"\"", r#"{"name":"vlen-utf8"}"#.to_owned(), 0),
        ("vlen-utf8", "null", "\"string\"", "\"\"", r#"{"name":"vlen-utf8"}"#.to_owned(), 0),
        ("vlen-bytes", "\"AQI=\"", "\"bytes\"", "\"AQI=\"", r#"{"name":"vlen-bytes"}"#.to_owned(), 0),
        ("vlen-bytes", "0", "\"bytes\"", "\"\"", r#"{"name":"vlen-bytes"}"#.to_owned(), 0),
        ("categorize", "\"\"", "\"string\"", "\"\"", private("categorize"), 1),
        ("vlen-array", "null", object, "null", private("vlen-array"), 2),
        ("json2", "{\"a\": 1}", object, "{\"a\":1}", private("json2"), 2),
        ("json", "null", object, "null", private("json"), 2),
        ("msgpack", "null", object, "null", private("msgpack"), 2),
        ("msgpack2", "0", object, "0", private("msgpack2"), 2),
        ("pickle", "null", object, "null", private("pickle"), 2),
    ] {
        let (meta, parts, _) = lower("\"|O\"", fill, &format!("[{{\"id\": \"{id}\"}}]")).expect(id);
        assert_eq!(parts, [data_type, lowered, &codec], "rule H.6: {id}");
        assert_eq!(meta.v3_obstacles().len(), obstacles, "rule H.9: {id}");
    }
    for (fill, filters) in [
        ("\"\"", "[{\"id\": \"delta\", \"dtype\": \"<i4\"}, {\"id\": \"vlen-utf8\"}]"),
        ("7", "[{\"id\": \"vlen-utf8\"}]"),
        ("\"é\"", "[{\"id\": \"vlen-bytes\"}]"),
    ] {
        assert!(lower("\"|O\"", fill, filters).is_err(), "rule H.6: {fill} {filters}");
    }
}
