//! The JSON layer: what it keeps, tolerates and refuses, and hostile input.

use zarr_json::{
    DEPTH, DeviationKind, Document, JsonDeviation, JsonErrorKind, JsonResult, MOST_DEVIATIONS, Value,
    ValueKind,
};

fn parse(bytes: impl AsRef<[u8]>) -> JsonResult<(Document, Vec<JsonDeviation>)> {
    let mut notes = Vec::new();
    Document::parse(bytes.as_ref(), DEPTH, &mut notes).map(|d| (d, notes))
}

fn error(bytes: impl AsRef<[u8]>) -> String {
    let e = parse(bytes).unwrap_err();
    assert!(!format!("{e:#}").contains('\n'), "one line: {e:#}");
    format!("{e:#}")
}

#[test]
fn valid_texts_come_back_byte_for_byte() {
    for text in [
        "{}",
        " [ ] \n",
        "\t{ \"a\" : 1 ,\r\n\"b\":[ 1.50 , -0 , 1e400 , 1E+5 ] } ",
        "3",
        "\"x\\u00e9\\/\"",
        "true",
        "null",
        "-0.0",
        "123456789012345678901234567890.5e-7",
        "{\"\":{\"\":{}}}",
        "[[[]],{\"a\":[{}]}]",
    ] {
        let (document, notes) = parse(text).unwrap();
        assert_eq!(document.to_text(), text);
        assert_eq!(notes, []);
    }
}

#[test]
fn deviations_are_tolerated_and_reported() {
    let cases = [
        ("rule A.t8", "\u{feff}{}", DeviationKind::ByteOrderMark, ""),
        ("rule A.t10", r#"{"a":1,"b":{"x":1,"y":2,"x":3}}"#, DeviationKind::DuplicateMember, "/b/x"),
        ("rule A.t10", r#"{"a":1,"\u0061":2}"#, DeviationKind::DuplicateMember, "/a"),
        ("rule A.t11", r#"{"a":[1,NaN]}"#, DeviationKind::NonFinite, "/a/1"),
        ("rule A.t11", r#"{"a":-Infinity}"#, DeviationKind::NonFinite, "/a"),
        ("rule A.t11", r#"[0,{"b":Infinity}]"#, DeviationKind::NonFinite, "/1/b"),
        ("rule A.t17", r#"{"a":"\ud800"}"#, DeviationKind::LoneSurrogate, "/a"),
        ("rule A.t17", r#"{"\udc00x":1}"#, DeviationKind::LoneSurrogate, ""),
    ];
    for (id, text, kind, pointer) in cases {
        let (document, notes) = parse(text).unwrap();
        assert_eq!(notes.len(), 1, "{id} {notes:?}");
        assert_eq!((notes[0].kind, &*notes[0].pointer), (kind, pointer), "{id} {text}");
        assert_eq!(document.to_text(), text.trim_start_matches('\u{feff}'), "{id}");
        if kind != DeviationKind::ByteOrderMark {
            let strict = Value::parse(text).unwrap_err();
            assert_eq!((strict.kind(), strict.pointer()), (JsonErrorKind::Deviation(kind), pointer), "{id}");
        }
    }
}

#[test]
fn errors_name_the_place() {
    let cases = [
        (
            "rule A.t9",
            "{\"a\":[1,\n 2,]}",
            "line 2, column 4 (byte 12): member \"/a/2\": trailing comma: expected a value, found ']'",
        ),
        (
            "rule A.t9",
            "{\"a\":1,}",
            "line 1, column 8 (byte 7): trailing comma: expected a member name, found '}'",
        ),
        ("empty", "", "line 1, column 1 (byte 0): the document is empty"),
        ("empty", " \n ", "line 2, column 2 (byte 3): the document is empty"),
        (
            "cut",
            "{\"shape\":[4,6",
            "line 1, column 14 (byte 13): member \"/shape/1\": expected ',' or ']', found the end of the document",
        ),
        (
            "cut",
            "{\"a\":\"x",
            "line 1, column 8 (byte 7): member \"/a\": expected the end of a string, found the end of the document",
        ),
        (
            "cut",
            "{\"a\"",
            "line 1, column 5 (byte 4): expected ':' after a member name, found the end of the document",
        ),
        ("cut", "tru", "line 1, column 1 (byte 0): expected a value, found 't'"),
        ("two", "{}{}", "line 1, column 3 (byte 2): expected the end of the document, found '{'"),
        (
            "quotes",
            "{'a':1}",
            "line 1, column 2 (byte 1): expected a member name in double quotes, found '\\''",
        ),
        ("hex", "{\"a\":0x9}", "line 1, column 7 (byte 6): member \"/a\": expected ',' or '}', found 'x'"),
        ("zero", "[01]", "line 1, column 3 (byte 2): member \"/0\": a number must not start with 0"),
        ("plus", "[+1]", "line 1, column 2 (byte 1): member \"/0\": expected a value, found '+'"),
        ("dot", "[1.]", "line 1, column 4 (byte 3): member \"/0\": expected a digit, found ']'"),
        ("minus", "[-]", "line 1, column 3 (byte 2): member \"/0\": expected a digit, found ']'"),
        ("nan", "[nan]", "line 1, column 2 (byte 1): member \"/0\": expected a value, found 'n'"),
        ("escape", "[\"é\\x\"]", "line 1, column 4 (byte 4): member \"/0\": unknown escape in a string"),
        (
            "escape",
            "[\"\\u12\"]",
            "line 1, column 3 (byte 2): member \"/0\": expected four hexadecimal digits after \\u",
        ),
        (
            "control",
            "[\"a\nb\"]",
            "line 1, column 4 (byte 3): member \"/0\": control character U+000A in a string must be escaped",
        ),
        ("bracket", "[1}", "line 1, column 3 (byte 2): member \"/0\": expected ',' or ']', found '}'"),
        (
            "comment",
            "{/**/}",
            "line 1, column 2 (byte 1): expected a member name in double quotes, found '/'",
        ),
        ("comma", "[,1]", "line 1, column 2 (byte 1): member \"/0\": expected a value, found ','"),
    ];
    for (id, text, message) in cases {
        assert_eq!(error(text), message, "{id}");
        assert_eq!(parse(text).unwrap_err().kind(), JsonErrorKind::Syntax, "{id}");
    }
}

#[test]
fn invalid_utf8_is_refused_with_its_place() {
    // rule A.t16
    assert_eq!(
        error(b"{\"attributes\":\n{\"\xc3(\":1}}"),
        "line 2, column 3 (byte 17): member \"/attributes\": expected UTF-8, found the byte 0xc3"
    );
    assert_eq!(
        error(b"{\"a\":\"x\xff\"}"),
        "line 1, column 8 (byte 7): member \"/a\": expected UTF-8, found the byte 0xff"
    );
    assert!(error(b"\xff\xfe{\0}\0").contains("UTF-16"));
    // An earlier error is reported first.
    assert!(error(b"{\"a\":,\"b\":\"\xff\"}").contains("expected a value, found ','"));
    assert!(error(b"{}\xff").ends_with("found the byte 0xff"));
}

#[test]
fn hostile_texts_are_refused_quickly() {
    // 100,000 levels, complete, unclosed, and below a member.
    for text in ["[".repeat(100_000), "[".repeat(100_000) + &"]".repeat(100_000), "{\"a\":".repeat(100_000)] {
        let e = parse(&text).unwrap_err();
        assert_eq!(e.kind(), JsonErrorKind::LimitExceeded);
        assert!(e.to_string().contains("nested more than 128 levels deep"), "{e}");
        assert!(e.to_string().len() < 100, "issue 37: {e}");
    }
    // The caller sets the limit, and one level more is an error.
    let nested = |n: usize| "[".repeat(n) + &"]".repeat(n);
    assert!(parse(nested(128)).is_ok());
    assert!(parse(nested(129)).is_err());
    let unlimited = |text: String| Document::parse(text.as_bytes(), usize::MAX, &mut Vec::new()).unwrap();
    let deep = unlimited(nested(100_000));
    let pretty = unlimited(nested(1000)).root.to_pretty();
    assert_eq!(pretty.matches('\n').count(), 1998);
    assert_eq!(deep.root.to_compact().len(), 200_000);
    drop(deep);

    // Many deviations do not give many reports, and long names do not give long pointers.
    let (_, notes) = parse(format!("{{\"{}\":[{}0]}}", "k".repeat(1 << 20), "NaN,".repeat(100_000))).unwrap();
    assert_eq!(notes.len(), MOST_DEVIATIONS);
    assert!(notes.iter().all(|n| n.pointer.len() < 300));

    // Many names are sorted, not compared pair by pair. Many equal names do not give many reports.
    let names: String = (0..200_000).map(|i| format!("\"{}\":0,", i % 199_999)).collect();
    let (_, notes) = parse(format!("{{{names}\"z\":0}}")).unwrap();
    assert_eq!(notes.len(), 1);
    assert_eq!((notes[0].kind, &*notes[0].pointer), (DeviationKind::DuplicateMember, "/0"));
    let (_, notes) = parse(format!("{{{}\"z\":0}}", "\"a\":0,".repeat(100_000))).unwrap();
    assert_eq!(notes.len(), MOST_DEVIATIONS);
}

#[test]
fn each_value_has_its_kind() {
    let (document, _) = parse(r#"{"n":null,"t":true,"i":4,"f":-1.5e3,"s":"a\u00e9","a":[1,"]",{}],"o":{"k":1},"x":NaN,"y":-Infinity}"#).unwrap();
    let object = document.root.as_object().unwrap();
    let kind = |name| object.get(name).unwrap().kind();
    assert_eq!(
        ["n", "t", "i", "f", "s", "a", "o", "x", "y"].map(kind),
        [
            ValueKind::Null,
            ValueKind::Bool,
            ValueKind::Number,
            ValueKind::Number,
            ValueKind::String,
            ValueKind::Array,
            ValueKind::Object,
            ValueKind::NonFinite,
            ValueKind::NonFinite
        ]
    );
    assert_eq!(object.get("s").unwrap().to_text().unwrap(), "aé");
    assert_eq!(object.get("a").unwrap().elements().unwrap().count(), 3);
    assert_eq!(object.get("i").unwrap().as_number().unwrap().to_integer(), Some(4));
    assert_eq!(object.get("t").unwrap().as_bool(), Some(true));
    assert_eq!(
        format!("{:#}", object.get("i").unwrap().to_text().unwrap_err()),
        "expected a string, found 4"
    );
    assert!(object.get("missing").is_none() && !object.contains("missing"));
    assert_eq!(object.len(), 9);
}

#[test]
fn a_lone_surrogate_fails_only_as_text() {
    // rule A.t17
    let (document, _) = parse(r#"{"a":"x\ud800","\ud800":1,"b":"ok"}"#).unwrap();
    let object = document.root.as_object().unwrap();
    assert_eq!(object.get("b").unwrap().to_text().unwrap(), "ok");
    assert!(format!("{:#}", object.get("a").unwrap().to_text().unwrap_err()).contains("lone surrogate"));
    assert_eq!(object.get("a").unwrap().as_raw(), r#""x\ud800""#);
    let named = object.members().nth(1).unwrap();
    assert!(named.name().is_err());
    assert_eq!(named.name_value().as_raw(), r#""\ud800""#);
}

#[test]
fn the_last_of_repeated_members_counts() {
    // rules A.t10 and L76
    let (document, _) = parse(r#"{"a":1, "b":0, "a":2}"#).unwrap();
    let mut object = document.root.as_object().unwrap();
    assert_eq!(object.get("a").unwrap().as_raw(), "2");
    assert_eq!(object.to_value().as_raw(), r#"{"a":1, "b":0, "a":2}"#);
    object.set("a", 3);
    assert_eq!(object.to_value().as_raw(), r#"{ "b":0, "a":3}"#);
    assert_eq!(object.remove("a").unwrap().as_raw(), "3");
    assert_eq!(object.to_value().as_raw(), r#"{ "b":0}"#);
}

#[test]
fn edits_keep_everything_else() {
    let python =
        "{\n  \"shape\": [\n    1.0e2\n  ],\n  \"attributes\": {\n    \"a\": 1.50\n  },\n  \"z\": NaN\n}";
    let (document, _) = parse(python).unwrap();
    let mut root = document.root.as_object().unwrap();
    root.edit("attributes", |attributes| {
        attributes.set("b", Value::parse(r#"{"c":[1,2],"d":{}}"#).unwrap());
        attributes.set("a", 2);
    });
    let edited = "{\n  \"shape\": [\n    1.0e2\n  ],\n  \"attributes\": {\n    \"a\": 2,\n    \"b\": {\n      \"c\": [\n        1,\n        2\n      ],\n      \"d\": {}\n    }\n  },\n  \"z\": NaN\n}";
    assert_eq!(root.to_value().as_raw(), edited);

    root.edit("attributes", |attributes| {
        attributes.remove("b");
        attributes.set("a", Value::parse("1.50").unwrap());
    });
    assert_eq!(root.to_value().as_raw(), python);

    // Nested empty objects get the right indentation.
    let (document, _) = parse("{\n    \"attributes\": {}\n}\n").unwrap();
    let mut root = document.root.as_object().unwrap();
    root.edit("attributes", |a| a.edit("deep", |d| d.set("x", 1)));
    let text = "{\n    \"attributes\": {\n        \"deep\": {\n            \"x\": 1\n        }\n    }\n}";
    assert_eq!(root.to_value().as_raw(), text);

    // A new member on one line gets the white space of its neighbours.
    let (document, _) = parse(r#"{"a": 1, "b": {"c": 2, "d": 3}}"#).unwrap();
    let mut root = document.root.as_object().unwrap();
    root.edit("b", |b| b.set("e \"\u{1}é", vec![1, 2]));
    assert_eq!(root.to_value().as_raw(), r#"{"a": 1, "b": {"c": 2, "d": 3, "e \"\u0001é": [1,2]}}"#);
    root.remove("a");
    root.remove("b");
    assert_eq!(root.to_value().as_raw(), "{}");
    root.set("x", "y");
    assert_eq!(root.to_value().as_raw(), r#"{ "x": "y"}"#);
}

#[test]
fn setting_an_equal_value_changes_nothing() {
    let text = "{\"a\": [1,\n 2]}";
    let mut object = parse(text).unwrap().0.root.as_object().unwrap();
    object.set("a", vec![1, 2]);
    assert_eq!(object.to_value().as_raw(), text);
    object.set("a", Value::parse("[1, 2.0]").unwrap());
    assert_eq!(object.to_value().as_raw(), "{\"a\": [1,2.0]}");
}
