//! Conversion between Rust values and JSON.

use std::collections::BTreeMap;

use serde::Serialize;
use zarr_json::{DEPTH, Document, JsonErrorKind, Object, Value, json};

#[test]
fn rust_values_become_json() {
    assert_eq!(Value::from("a\"b\n").as_raw(), r#""a\"b\n""#);
    assert_eq!(Value::from(vec![Some("y"), None]).as_raw(), r#"["y",null]"#);
    assert_eq!(Value::from(u128::MAX).as_raw(), u128::MAX.to_string());
    assert_eq!(Value::from([0.1_f32, f32::INFINITY]).as_raw(), "[0.1,null]");
    assert_eq!(Value::float(0.1).unwrap().as_raw(), "0.1");
    assert_eq!(Value::float(1e300).unwrap().as_raw(), "1e300");
    assert!(Value::float(f64::NAN).is_err()); // rule L86
    assert!(Value::parse("NaN").is_err());
}

#[test]
fn literals_become_json_in_their_order() {
    let name = "z".to_owned();
    let value = json!({ name: [], "b": {}, "a": [1, -2.5, [null], { "x": true }, 3 + 4], "c": name.len(), });
    assert_eq!(value.as_raw(), r#"{"z":[],"b":{},"a":[1,-2.5,[null],{"x":true},7],"c":1}"#);
    assert_eq!(json!(Some(value.clone())), value);
    assert_eq!((json!(null), json!("x").as_text()), (Value::null(), Some("x".to_owned())));
}

#[test]
fn numbers_are_read_exactly() {
    for (text, unsigned, signed, float) in [
        ("5", Some(5), Some(5), Some(5.0)),
        ("-5", None, Some(-5), Some(-5.0)),
        ("5.0", None, None, Some(5.0)),
        ("18446744073709551615", Some(u64::MAX), None, Some(18446744073709551616.0)),
        ("18446744073709551616", None, None, Some(18446744073709551616.0)),
        ("0.1000000000000000055511151231257827", None, None, Some(0.1)),
        ("1e400", None, None, None),
        ("\"5\"", None, None, None),
    ] {
        let value = Value::parse(text).unwrap();
        assert_eq!((value.as_u64(), value.as_i64(), value.as_f64()), (unsigned, signed, float), "{text}");
    }
}

#[derive(Serialize)]
enum Kind {
    Point,
    Circle { radius: f64 },
    Line(u8, u8),
    Named(&'static str),
}

#[derive(Serialize)]
struct Unit;

#[derive(Serialize)]
struct Wrapped(i128);

#[derive(Serialize)]
struct All {
    z: Vec<Kind>,
    a: (bool, char, Unit, Wrapped),
    none: Option<u8>,
    some: Option<f32>,
    map: BTreeMap<i16, &'static [u8]>,
    float: [f64; 6],
}

#[test]
fn types_are_written_as_serde_json_writes_them() {
    let all = All {
        z: vec![Kind::Point, Kind::Circle { radius: f64::NAN }, Kind::Line(1, 2), Kind::Named("\u{1}\"")],
        a: (true, '\u{e9}', Unit, Wrapped(i128::MIN)),
        none: None,
        some: Some(0.1),
        map: BTreeMap::from([(-1, &[][..]), (2, &[1, 2])]),
        float: [1.0, -0.0, 5e-324, 1e15, 1e-7, 0.1 + 0.2],
    };
    assert_eq!(Value::serialize(&all).unwrap().as_raw(), serde_json::to_string(&all).unwrap());
    let keys = BTreeMap::from([(true, 1)]);
    assert_eq!(Value::serialize(&keys).unwrap().as_raw(), r#"{"true":1}"#);
    for wrong in [
        Value::serialize(&BTreeMap::from([((1, 2), 3)])),
        Value::serialize(&BTreeMap::from([(None::<u8>, 3)])),
    ] {
        assert_eq!(wrong.unwrap_err().kind(), JsonErrorKind::InvalidArgument);
    }
}

/// A number as `serde_json` writes it where it keeps the digits.
#[derive(Serialize)]
#[serde(rename = "$serde_json::private::Number")]
struct Digits {
    #[serde(rename = "$serde_json::private::Number")]
    digits: &'static str,
}

#[test]
fn numbers_of_serde_json_keep_their_digits() {
    let digits = Digits { digits: "123456789012345678901234567890.50" };
    let list = [&digits, &digits];
    let expected = "[123456789012345678901234567890.50,123456789012345678901234567890.50]";
    assert_eq!(Value::serialize(&list).unwrap().as_raw(), expected);
    assert!(Value::serialize(&Digits { digits: "1,2" }).is_err());
}

#[test]
fn values_become_values_of_serde_json() {
    let text =
        r#"{"a":[1,-2,1.5,18446744073709551615,-9223372036854775808,-0,"é"],"b":{"c":null,"d":false}}"#;
    let value = Value::parse(text).unwrap();
    let serde: serde_json::Value = serde_json::from_str(text).unwrap();
    assert_eq!(value.deserialize::<serde_json::Value>().unwrap(), serde);
    for (text, pointer) in [(r#"{"a":[1e400]}"#, "/a/0"), (r#"["\ud800"]"#, "/0")] {
        let value = Document::parse(text.as_bytes(), 9, &mut Vec::new()).unwrap().root;
        assert_eq!(value.deserialize::<serde_json::Value>().unwrap_err().pointer(), pointer, "{text}");
    }
    let large = json!([1_u128 << 64, -(1_i128 << 64)]);
    assert_eq!(
        large.deserialize::<serde_json::Value>().unwrap().to_string(),
        "[1.8446744073709552e+19,-1.8446744073709552e+19]"
    );
    assert_eq!(large.deserialize::<[f32; 2]>().unwrap(), [18446744073709551616.0, -18446744073709551616.0]);
    assert_eq!(large.deserialize::<[i128; 2]>().unwrap(), [1 << 64, -(1 << 64)]);
    let back = Value::serialize(&serde).unwrap();
    assert_eq!(back.deserialize::<serde_json::Value>().unwrap(), serde);
    assert_eq!(back.as_object().unwrap().deserialize::<serde_json::Value>().unwrap(), serde);
    assert_eq!(Object::new().deserialize::<serde_json::Value>().unwrap(), serde_json::json!({}));
}

/// Returns a value of a document, which may have what strict JSON has not.
fn tolerated(text: &str) -> Value {
    Document::parse(text.as_bytes(), DEPTH, &mut Vec::new()).unwrap().root
}

#[test]
fn values_that_mean_the_same_are_found_in_any_spelling() {
    let same = [
        (r#"{"a":1,"b":{"c":[],"d":null}}"#, r#"{ "b": {"d":null, "c":[ ]}, "a": 1 }"#),
        (r#"{"a":1,"a":2}"#, r#"{"\u0061":2}"#),
        ("[1.0, 20e-1, -5]", "[1,2,-5.0]"),
        ("0.00", "0e7"),
        ("12345678901234567890123", "12345678901234567890123.0"),
        (r#""\u00e9\/""#, "\"é/\""),
        (r#""\ud800""#, r#""\ud800""#),
    ];
    for (a, b) in same.map(|(a, b)| (tolerated(a), tolerated(b))) {
        assert!(a.is_same(&b) && b.is_same(&a), "{a} and {b}");
    }
    let different = [
        (r#"{"a":1}"#, r#"{"a":1,"b":1}"#),
        (r#"{"a":1}"#, r#"{"b":1}"#),
        ("[1,2]", "[2,1]"),
        ("[1]", "[1,1]"),
        ("0", "-0.0"),
        ("12345678901234567890123", "12345678901234567890124"),
        ("1", "\"1\""),
        ("null", "false"),
        ("[]", "{}"),
        (r#""\ud800""#, r#""\ud801""#),
    ];
    for (a, b) in different.map(|(a, b)| (tolerated(a), tolerated(b))) {
        assert!(!a.is_same(&b) && !b.is_same(&a), "{a} and {b}");
    }
}
