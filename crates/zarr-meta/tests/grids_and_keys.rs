//! Checklist C.1 and C.3: chunk grids and key encodings, as far as metadata decides.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::Verdict::{Fine, Tolerated, Unresolved};
use common::{base, check, open};
use zarr_meta::{ArrayMeta, Code, Diagnostic, Ignore, Limits, Registry};

fn grid(configuration: &str) -> String {
    format!(r#"{{"name":"regular","configuration":{configuration}}}"#)
}

#[test]
fn c1_regular_grids() {
    let row = |id, shape: &str, configuration: &str, verdict| {
        check(id, &base(&[("shape", shape), ("chunk_grid", &grid(configuration))]), verdict);
    };
    row("C.t1", "[0]", r#"{"chunk_shape":[0]}"#, Tolerated(Code::ZeroChunk));
    row("C.t2", "[4]", r#"{"chunk_shape":[0]}"#, Unresolved("member \"/chunk_grid"));
    row("C.t3", "[4]", r#"{"chunk_shape":[2,2]}"#, Unresolved("member \"/chunk_grid"));
    row("C.t3", "[]", r#"{"chunk_shape":[2]}"#, Unresolved("member \"/chunk_grid"));
    row("C.t4", "[4]", r#"{"chunk_shape":[-2]}"#, Unresolved("member \"/chunk_grid"));
    row("C.t4", "[4]", r#"{"chunk_shape":[2.0]}"#, Tolerated(Code::IntegerSpelling));
    row("C.t4", "[4]", r#"{"chunk_shape":[2.5]}"#, Unresolved("member \"/chunk_grid"));
    row("C.t4", "[4]", r#"{"chunk_shape":["2"]}"#, Unresolved("member \"/chunk_grid"));
    row("C.t4", "[4]", r#"{"chunk_shape":2}"#, Unresolved("member \"/chunk_grid"));
    row(
        "C.t4",
        "[4]",
        r#"{"chunk_shape":[18446744073709551616]}"#,
        Unresolved("member \"/chunk_grid/configuration/chunk_shape/0\""),
    );
    row("C.t4", "[4]", "{}", Unresolved("member \"/chunk_grid"));
    row("C.t5", "[4]", r#"{"chunk_shape":[10]}"#, Fine);
    row("C1", "[4]", r#"{"chunk_shape":[18446744073709551615]}"#, Fine);

    let text = base(&[("shape", "[0]"), ("chunk_grid", &grid(r#"{"chunk_shape":[0]}"#))]);
    let (_, resolved) = open(&text, &mut Vec::<Diagnostic>::new()).unwrap();
    assert_eq!(resolved.grid.span(0, 3), Some(3..4), "C.t1: read as 1");
    let (_, resolved) = open(&base(&[]), &mut Vec::<Diagnostic>::new()).unwrap();
    assert_eq!(resolved.grid.count(0, 4), 2, "C2");
}

#[test]
fn codecs_are_held_against_the_chunks_when_opened() {
    let shards = |inner: u64| {
        let codec = format!(
            r#"[{{"name":"sharding_indexed","configuration":{{"chunk_shape":[{inner}],"codecs":["bytes"],"index_codecs":["bytes"],"index_location":"end"}}}}]"#
        );
        base(&[("codecs", &codec), ("chunk_grid", &grid(r#"{"chunk_shape":[6]}"#))])
    };
    check("D7.2", &shards(3), Fine);
    check(
        "D7.t8",
        &shards(4),
        Unresolved(
            "member \"/codecs\": is not valid: codec \"sharding_indexed\" failed to open: chunk_shape does not divide",
        ),
    );
}

#[test]
fn c3_key_encodings() {
    let row = |id, encoding: &str, verdict| check(id, &base(&[("chunk_key_encoding", encoding)]), verdict);
    row("C.t30", r#"{"name":"default","configuration":{"separator":"."}}"#, Fine);
    row(
        "C.t31",
        r#"{"name":"default","configuration":{"separator":"-"}}"#,
        Unresolved("member \"/chunk_key_encoding"),
    );
    row(
        "C.t31",
        r#"{"name":"default","configuration":{"separator":""}}"#,
        Unresolved("member \"/chunk_key_encoding"),
    );
    row(
        "C.t31",
        r#"{"name":"default","configuration":{"separator":3}}"#,
        Unresolved("member \"/chunk_key_encoding"),
    );
    row("C.t32", r#"{"name":"default","separator":"/"}"#, Tolerated(Code::MisplacedSeparator));
    row("C.t32", r#"{"name":"default","separator":"-"}"#, Unresolved("member \"/chunk_key_encoding"));
    row("C.t32", r#"{"name":"foo","separator":"/"}"#, Unresolved("unknown chunk key encoding \"foo\""));
    row(
        "C.t33",
        r#"{"name":"foo"}"#,
        Unresolved(
            "member \"/chunk_key_encoding\": cannot be understood: unknown chunk key encoding \"foo\"",
        ),
    );
    row("C36", "\"Default\"", Unresolved("unknown chunk key encoding \"Default\""));

    let key = |shape: &str, chunks: &str, encoding: &str, index: &[u64]| {
        let chunks = grid(&format!(r#"{{"chunk_shape":{chunks}}}"#));
        let text = base(&[("shape", shape), ("chunk_grid", &chunks), ("chunk_key_encoding", encoding)]);
        let (_, resolved) = open(&text, &mut Vec::<Diagnostic>::new()).map_err(|e| e.1).unwrap();
        let mut key = String::new();
        resolved.key_encoding.encode(index, &mut key);
        key
    };
    assert_eq!(key("[4,4]", "[2,2]", "\"default\"", &[1, 0]), "c/1/0", "C30");
    assert_eq!(key("[4,4]", "[2,2]", r#"{"name":"default","separator":"."}"#, &[1, 0]), "c.1.0", "C.t32");
    assert_eq!(
        key(
            "[4,4]",
            "[2,2]",
            r#"{"name":"default","separator":".","configuration":{"separator":"/"}}"#,
            &[1, 0]
        ),
        "c/1/0"
    );
    assert_eq!(key("[]", "[]", r#"{"name":"v2"}"#, &[]), "0", "C.t34");
    assert_eq!(key("[]", "[]", "\"default\"", &[]), "c", "C30");
    assert_eq!(key("[4]", "[2]", r#"{"name":"v2","configuration":{"separator":"/"}}"#, &[1]), "1", "C.t35");
}

#[test]
fn keys_are_known_where_codecs_are_not() {
    let keys = |encoding: &str| {
        let text = base(&[("codecs", "[\"foo\"]"), ("chunk_key_encoding", encoding)]);
        let meta = ArrayMeta::parse(text.as_bytes(), &Limits::default(), &mut Ignore).unwrap();
        meta.key_encoding(&Registry::core(), &Limits::default())
    };
    let mut key = String::new();
    keys(r#"{"name":"default","separator":"."}"#).unwrap().encode(&[1], &mut key);
    assert_eq!(key, "c.1");
    assert_eq!(keys("\"foo\"").unwrap_err().pointer(), "/chunk_key_encoding");
}
