//! Properties of the JSON layer: nothing is lost, an edit changes one member, no bytes make the reader panic.

use proptest::prelude::*;
use zarr_json::{DEPTH, Document, JsonDeviation, JsonResult, Value, ValueKind};

fn parse(bytes: impl AsRef<[u8]>) -> JsonResult<(Document, Vec<JsonDeviation>)> {
    let mut notes = Vec::new();
    Document::parse(bytes.as_ref(), DEPTH, &mut notes).map(|d| (d, notes))
}

/// Returns JSON values with everything that must be kept: odd numbers, escapes, white space, empty names, nesting.
fn any_json() -> impl Strategy<Value = String> {
    let space = || prop::sample::select(vec!["", " ", "\n  ", "\t", " \r\n"]);
    let string = || {
        prop::collection::vec(
            prop::sample::select(vec![
                "a",
                "é",
                "\\n",
                "\\u00e9",
                "\\\"",
                "/",
                "\\/",
                "😀",
                "\\ud83d\\ude00",
                " ",
                ",",
            ]),
            0..4,
        )
        .prop_map(|parts| format!("\"{}\"", parts.concat()))
    };
    let leaf = prop_oneof![
        string(),
        prop::sample::select(vec![
            "null",
            "true",
            "false",
            "0",
            "-0",
            "1.50",
            "1e400",
            "-12E-3",
            "12345678901234567890123"
        ])
        .prop_map(str::to_owned),
        any::<i64>().prop_map(|n| n.to_string()),
    ];
    leaf.prop_recursive(4, 40, 5, move |inner| {
        let element = (space(), inner.clone(), space()).prop_map(|(a, v, b)| format!("{a}{v}{b}"));
        let array = (prop::collection::vec(element, 0..5), space())
            .prop_map(|(e, s)| if e.is_empty() { format!("[{s}]") } else { format!("[{}]", e.join(",")) });
        let member = (space(), string(), space(), space(), inner, space());
        let object = (prop::collection::vec(member, 0..5), space()).prop_map(|(members, s)| {
            let mut members: Vec<_> = members;
            // A number makes the names unique, whatever their escapes.
            for (i, m) in members.iter_mut().enumerate() {
                m.1 = format!("{}{i}\"", &m.1[..m.1.len() - 1]);
            }
            let text: Vec<String> =
                members.iter().map(|(a, n, b, c, v, d)| format!("{a}{n}{b}:{c}{v}{d}")).collect();
            if text.is_empty() { format!("{{{s}}}") } else { format!("{{{}}}", text.join(",")) }
        });
        prop_oneof![array, object]
    })
}

/// Returns the whole tree of a value, read with the accessors.
fn rebuild(value: &Value) -> String {
    match value.kind() {
        ValueKind::Array => {
            let parts: Vec<String> = value.elements().unwrap().map(|e| rebuild(&e)).collect();
            format!("[{}]", parts.join(","))
        }
        ValueKind::Object => {
            let object = value.as_object().unwrap();
            let quoted = |m: &zarr_json::Member| Value::from(&*m.name().unwrap()).as_raw().to_owned();
            let parts: Vec<String> =
                object.members().map(|m| format!("{}:{}", quoted(m), rebuild(&m.value()))).collect();
            format!("{{{}}}", parts.join(","))
        }
        ValueKind::String => Value::from(&*value.to_text().unwrap()).as_raw().to_owned(),
        _ => value.as_raw().to_owned(),
    }
}

/// Whether two values are equal, apart from the last bit of floats: `serde_json` rounds some of them wrongly.
fn same(a: &serde_json::Value, b: &serde_json::Value) -> bool {
    use serde_json::Value::{Array, Number, Object};
    match (a, b) {
        (Number(a), Number(b)) if a.is_f64() && b.is_f64() => {
            let bits = |n: &serde_json::Number| n.as_f64().unwrap().to_bits();
            bits(a).abs_diff(bits(b)) <= 1
        }
        (Array(a), Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Object(a), Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_value_has_the_same_parts_with_and_without_marks(text in any_json()) {
        // What is made of members has no marks, and neither has a text with many values.
        let (document, _) = parse(&text).unwrap();
        let copied = zarr_json::Object::from_iter([("copy", document.root.clone())]).to_value();
        let many = format!("[{text}, {text}, [{}0]]", "0, ".repeat(3000));
        let (many, _) = parse(&many).unwrap();
        let expected = rebuild(&document.root);
        prop_assert_eq!(&rebuild(&copied.get("copy").unwrap()), &expected);
        for nth in 0..2 {
            let again = many.root.element(nth).unwrap();
            prop_assert_eq!(again.as_raw(), document.root.as_raw());
            prop_assert_eq!(&rebuild(&again), &expected);
        }
        if let (Some(members), Some(object)) = (document.root.members(), document.root.as_object()) {
            let each: Vec<String> = members.map(|member| format!("{member:?}")).collect();
            let listed: Vec<String> = object.members().map(|member| format!("{member:?}")).collect();
            prop_assert_eq!(each, listed);
            prop_assert_eq!(object.to_value().to_string(), document.root.to_string());
        }
    }

    #[test]
    fn a_document_is_written_as_it_was_read(text in any_json()) {
        let (document, notes) = parse(&text).unwrap();
        prop_assert_eq!(&document.to_text(), &text);
        prop_assert!(notes.is_empty(), "{:?}", notes);
        let compact = document.root.to_compact();
        let pretty = document.root.to_pretty();
        prop_assert_eq!(&Value::parse(&compact).unwrap(), &document.root);
        prop_assert_eq!(&Value::parse(&pretty).unwrap().to_compact(), &compact);
        // serde_json reads the same value, if it can represent it.
        let ours = document.root.deserialize::<serde_json::Value>();
        if let (Ok(serde), Ok(ours)) = (serde_json::from_str::<serde_json::Value>(&text), ours) {
            prop_assert!(same(&ours, &serde), "{} {}", ours, serde);
            // What is written for a value reads as the same value.
            let again = Value::serialize(&serde).unwrap();
            // It writes `1e+22` where Rust writes `1e22`.
            prop_assert_eq!(again.as_raw(), serde.to_string().replace("e+", "e"));
        }
        // The parts that the accessors find make the whole value.
        let rebuilt = rebuild(&document.root);
        prop_assert_eq!(rebuild(&Value::parse(&rebuilt).unwrap()), rebuilt);
    }

    #[test]
    fn an_edit_changes_one_member(a in any_json(), b in any_json(), c in any_json(), new in any_json()) {
        let text = format!("{{ \"a\" : {a} ,\n\"b\": {b}, \"c\":{c} }}");
        let mut object = Value::parse(&text).unwrap().as_object().unwrap();
        object.set("b", Value::parse("\"unique\"").unwrap());
        let edited = object.to_value().to_string();
        prop_assert_eq!(edited, format!("{{ \"a\" : {a} ,\n\"b\": \"unique\", \"c\":{c} }}"));
        object.set("d", Value::parse(&new).unwrap());
        object.remove("b");
        let edited = object.to_value();
        let prefix = format!("{{ \"a\" : {a} , \"c\":{c}, \"d\":");
        prop_assert!(edited.as_raw().starts_with(&prefix), "{}", edited);
        prop_assert_eq!(Value::parse(edited.as_raw()).unwrap().as_object().unwrap().get("d").unwrap(), Value::parse(&new).unwrap());
    }

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(prop::sample::select(b"{}[]\",:\\u0d8 -+.eE19NaInfity\xc3\n".to_vec()), 0..60)) {
        let ours = parse(&bytes);
        if let Ok((document, _)) = &ours {
            let _ = (document.root.to_pretty(), document.root.deserialize::<serde_json::Value>());
            if let Some(object) = document.root.as_object() {
                prop_assert_eq!(object.to_value().to_string(), document.root.to_string());
            }
        }
        // Everything that serde_json accepts is accepted here.
        if serde_json::from_slice::<serde_json::Value>(&bytes).is_ok() {
            prop_assert!(ours.is_ok());
        }
    }
}
