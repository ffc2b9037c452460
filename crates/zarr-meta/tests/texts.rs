//! JSON texts of documents: their deviations as diagnostics, and their limits.

use zarr_meta::json::{JsonError, Value};
use zarr_meta::{Code, Diagnostic, Ignore, Limits, MetaError, MetaErrorKind, Strict, parse_json};

#[test]
fn deviations_of_a_text_are_diagnostics() {
    let limits = Limits::default();
    for (id, text, code, pointer) in [
        ("rule A.t8", "\u{feff}{}", Code::ByteOrderMark, ""),
        ("rule A.t10", r#"{"a":1,"b":{"x":1,"y":2,"x":3}}"#, Code::DuplicateMember, "/b/x"),
        ("rule A.t11", r#"{"a":[1,NaN]}"#, Code::BareNonFinite, "/a/1"),
        ("rule A.t17", r#"{"a":"\ud800"}"#, Code::LoneSurrogate, "/a"),
    ] {
        let mut notes: Vec<Diagnostic> = Vec::new();
        parse_json(text.as_bytes(), &limits, &mut notes).unwrap();
        assert_eq!(notes.len(), 1, "{id} {notes:?}");
        assert_eq!((notes[0].code, &*notes[0].pointer), (code, pointer), "{id} {text}");
        let strict = parse_json(text.as_bytes(), &limits, &mut Strict).unwrap_err();
        assert_eq!((strict.kind(), strict.pointer()), (MetaErrorKind::Deviation(code), pointer), "{id}");
        // Those before a syntax error are reported, and the first of them stops a strict reader.
        let broken = format!("{text}!");
        notes.clear();
        let e = parse_json(broken.as_bytes(), &limits, &mut notes).unwrap_err();
        assert_eq!((e.kind(), notes.len()), (MetaErrorKind::Syntax, 1), "{id}");
        let e = parse_json(broken.as_bytes(), &limits, &mut Strict).unwrap_err();
        assert_eq!(e.kind(), MetaErrorKind::Deviation(code), "{id}");
    }
}

#[test]
fn a_text_beyond_a_limit_is_refused() {
    let mut limits = Limits::unlimited();
    limits.metadata_bytes = 5;
    let e = parse_json(b"[1,2,3]", &limits, &mut Ignore).unwrap_err();
    assert_eq!(e.to_string(), "the document has 7 bytes, more than 5");
    limits.metadata_bytes = 7;
    limits.json_depth = 1;
    assert!(parse_json(b"[1,2,3]", &limits, &mut Ignore).is_ok());
    let e = parse_json(b"[[1,2]]", &limits, &mut Ignore).unwrap_err();
    assert_eq!((e.kind(), e.pointer()), (MetaErrorKind::LimitExceeded, "/0"));
}

#[test]
fn errors_of_json_keep_their_kind_and_place() {
    let kind = |result: Result<Value, JsonError>| MetaError::from(result.unwrap_err());
    let syntax = kind(Value::parse("[1,\n]"));
    assert_eq!(syntax.kind(), MetaErrorKind::Syntax);
    assert_eq!(syntax.to_string(), Value::parse("[1,\n]").unwrap_err().to_string());
    assert_eq!(syntax.position().map(|at| (at.line, at.column)), Some((2, 1)));
    assert_eq!(kind(Value::parse("[NaN]")).kind(), MetaErrorKind::Deviation(Code::BareNonFinite));
    assert_eq!(kind(Value::float(f64::NAN)).kind(), MetaErrorKind::InvalidArgument);
    let text = MetaError::from(Value::from(5).to_text().unwrap_err());
    assert_eq!((text.kind(), &*text.to_string()), (MetaErrorKind::Invalid, "expected a string, found 5"));
}
