//! Chunk grids and key encodings in metadata, one row for each case of docs/specification/grids-and-keys.md.

use std::ops::Range;
use std::sync::Arc;

use crate::common::Verdict::{Fine, Tolerated, Unresolved};
use crate::common::{base, check, open};
use zarr_meta::{ArrayMeta, Code, Diagnostic, Ignore, Limits, Registry};
use zarr_traits::codec::{ArrayBytesCodec, Codec, CodecKind, EncodedSize, PartAccess};
use zarr_traits::extension::{ChunkGridEntry, CodecEntry, Entry};
use zarr_traits::strided::{Destination, Source};
use zarr_traits::{ChunkGrid, ChunkRun, CodecError, CodecResult, Region, Scratch};

fn grid(configuration: &str) -> String {
    format!(r#"{{"name":"regular","configuration":{configuration}}}"#)
}

#[test]
fn regular_grids_are_checked() {
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
    assert_eq!(resolved.grid.span(0, 3), Some(3..4), "rule C.t1: read as 1");
    let (_, resolved) = open(&base(&[]), &mut Vec::<Diagnostic>::new()).unwrap();
    assert_eq!(resolved.grid.count(0, 4), 2, "rule C2");
}

#[test]
fn rectilinear_grids_are_checked() {
    let row = |id, shape: &str, lists: &str, verdict| {
        let grid =
            format!(r#"{{"name":"rectilinear","configuration":{{"kind":"inline","chunk_shapes":{lists}}}}}"#);
        check(id, &base(&[("shape", shape), ("chunk_grid", &grid)]), verdict);
    };
    for (id, shape, lists) in [
        ("C.t10", "[6]", "[4]"),
        ("C.t11", "[6]", "[[1,2,3]]"),
        ("C.t12", "[6]", "[[[4,2]]]"),
        ("C.t13", "[6]", "[[[1,3],3]]"),
        ("C.t14", "[6]", "[[4,4,4]]"),
        ("C16", "[0]", "[[]]"),
        ("C.t19", "[10]", "[3]"),
        ("C.t20", "[4000000000]", "[[[1,4000000000]]]"),
        ("C11", "[6,6,6,6,6]", "[4,[1,2,3],[[4,2]],[[1,3],3],[4,4,4]]"),
        ("C10", "[]", "[]"),
    ] {
        row(id, shape, lists, Fine);
    }
    row("C11", "[6]", "[[4.0,2]]", Tolerated(Code::IntegerSpelling));
    for (id, shape, lists, words) in [
        (
            "C.t15",
            "[6]",
            "[[4,1]]",
            "member \"/chunk_grid/configuration/chunk_shapes/0\": is not valid: chunk_shapes[0] ends",
        ),
        ("C.t16", "[6]", "[[0,6]]", "chunk_shapes/0/0\""),
        ("C.t16", "[6]", "[[[3,0],6]]", "chunk_shapes/0/0/1\""),
        ("C.t16", "[6]", "[[-1,7]]", "chunk_shapes/0/0\""),
        ("C.t17", "[6]", "[[[4,2,1]]]", "chunk_shapes/0/0\""),
        ("C.t17", "[6]", "[[[4]]]", "chunk_shapes/0/0\""),
        ("C16", "[6]", "[[]]", "chunk_shapes/0\""),
        ("C10", "[6]", "[6,6]", "chunk_shapes has 2 dimensions, the array has 1"),
    ] {
        row(id, shape, lists, Unresolved(words));
    }
    for (id, configuration, words) in [
        ("C.t18", r#"{"chunk_shapes":[2]}"#, "kind is missing"),
        ("C.t18", r#"{"kind":"foo","chunk_shapes":[2]}"#, "kind is \"foo\""),
        ("C10", r#"{"kind":"inline"}"#, "chunk_shapes is missing"),
    ] {
        let grid = format!(r#"{{"name":"rectilinear","configuration":{configuration}}}"#);
        check(id, &base(&[("chunk_grid", &grid)]), Unresolved(words));
    }
    for (name, words) in [
        ("rectangular", "unknown chunk grid \"rectangular\": zarrs wrote it before"),
        (
            "zarrs.regular_bounded",
            "unknown chunk grid \"zarrs.regular_bounded\": it is an experiment of zarrs",
        ),
    ] {
        let grid = format!(r#"{{"name":"{name}","configuration":{{"chunk_shape":[2]}}}}"#);
        check("C20", &base(&[("chunk_grid", &grid)]), Unresolved(words));
    }
}

#[test]
fn codecs_are_checked_against_the_chunks_of_the_grid() {
    let shards = |inner: u64| {
        let codec = format!(
            r#"[{{"name":"sharding_indexed","configuration":{{"chunk_shape":[{inner}],"codecs":["bytes"],"index_codecs":["bytes"],"index_location":"end"}}}}]"#
        );
        base(&[("codecs", &codec), ("chunk_grid", &grid(r#"{"chunk_shape":[6]}"#))])
    };
    check("D7.2", &shards(3), Fine);
    let uneven = |lists: &str| {
        let grid =
            format!(r#"{{"name":"rectilinear","configuration":{{"kind":"inline","chunk_shapes":{lists}}}}}"#);
        shards(3).replace(&self::grid(r#"{"chunk_shape":[6]}"#), &grid)
    };
    check("C19", &uneven("[[3,6,9]]"), Fine);
    // Even if it is the last chunk, or lies after the end of the array.
    for lists in ["[[4,3]]", "[[6,3,4]]", "[[6,2]]"] {
        check("C19", &uneven(lists), Unresolved("chunk_shape does not divide"));
    }
    check(
        "D7.t8",
        &shards(4),
        Unresolved(
            "member \"/codecs\": is not valid: codec \"sharding_indexed\" failed to open: chunk_shape does not divide",
        ),
    );
}

/// A grid with chunks of lengths 4 and 2 in both dimensions.
#[derive(Debug)]
struct Uneven;

impl ChunkGrid for Uneven {
    fn rank(&self) -> usize {
        2
    }
    fn count(&self, _: usize, _: u64) -> u64 {
        2
    }
    fn span(&self, _: usize, index: u64) -> Option<Range<u64>> {
        [0..4, 4..6].get(usize::try_from(index).ok()?).cloned()
    }
    fn find(&self, _: usize, position: u64) -> Option<u64> {
        Some(position / 4)
    }
    fn runs(&self, _: usize) -> Vec<ChunkRun> {
        [4, 2].map(|length| ChunkRun::new(length, 1)).to_vec()
    }
}

/// A codec for chunks of at least this many elements, which depends on several dimensions at once.
#[derive(Debug)]
struct AtLeast(u64);

impl ArrayBytesCodec for AtLeast {
    fn access(&self) -> PartAccess<'_> {
        PartAccess::Whole
    }

    fn check_shape(&self, shape: &[u64]) -> CodecResult<()> {
        let enough = shape.iter().product::<u64>() >= self.0;
        enough.then_some(()).ok_or_else(|| CodecError::configuration(format!("{shape:?} is too small")))
    }
    fn decode_into(
        &self,
        _: &[u8],
        _: &[u64],
        _: &Region,
        _: Destination<'_>,
        _: &mut Scratch,
    ) -> CodecResult<()> {
        Ok(())
    }
    fn encode(&self, _: Source<'_>, _: &mut Vec<u8>, _: &mut Scratch) -> CodecResult<()> {
        Ok(())
    }
    fn encoded_size(&self, _: &[u64]) -> EncodedSize {
        EncodedSize::Unknown
    }
}

#[test]
fn codecs_are_checked_against_every_chunk_shape() {
    let registry = Registry::core().overriding(&[
        Entry::ChunkGrid(ChunkGridEntry::new("uneven", |_, _, _| Ok(Arc::new(Uneven)))),
        Entry::Codec(CodecEntry::new("at_least", CodecKind::ArrayBytes, |c, _, _| {
            let least = c.integer("least", 0..=99)?;
            Ok(Codec::ArrayBytes(Arc::new(AtLeast(least.try_into().unwrap()))))
        })),
    ]);
    for (least, refused) in [(4, None), (5, Some("[2, 2] is too small")), (9, Some("[2, 2] is too small"))] {
        let codecs = format!(r#"[{{"name":"at_least","configuration":{{"least":{least}}}}}]"#);
        let text = base(&[("shape", "[6,6]"), ("chunk_grid", r#"{"name":"uneven"}"#), ("codecs", &codecs)]);
        let meta = ArrayMeta::parse(text.as_bytes(), &Limits::default(), &mut Ignore).unwrap();
        let said =
            meta.resolve(&registry, &Limits::default(), &mut Ignore).map(drop).map_err(|e| format!("{e:#}"));
        assert_eq!(said.is_err(), refused.is_some());
        assert!(said.err().is_none_or(|said| said.ends_with(refused.unwrap())));
    }
}

#[test]
fn key_encodings_are_checked() {
    let row = |id, encoding: &str, verdict| check(id, &base(&[("chunk_key_encoding", encoding)]), verdict);
    row("C.t30", r#"{"name":"default","configuration":{"separator":"."}}"#, Fine);
    row(
        "C.t31",
        r#"{"name":"default","configuration":{"separator":"-"}}"#,
        Unresolved("member \"/chunk_key_encoding"),
    );
    row(
        "C.t31, C32",
        r#"{"name":"default","configuration":{"separator":""}}"#,
        Unresolved("member \"/chunk_key_encoding"),
    );
    row(
        "C.t31, C32",
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
    row("C36", r#"{"name":"zarrs.default_suffix"}"#, Unresolved("unknown chunk key encoding"));
    row("C32", r#"{"name":"v2","configuration":{}}"#, Fine);
    row("C36", "\"Default\"", Unresolved("unknown chunk key encoding \"Default\""));

    let key = |shape: &str, chunks: &str, encoding: &str, index: &[u64]| {
        let chunks = grid(&format!(r#"{{"chunk_shape":{chunks}}}"#));
        let text = base(&[("shape", shape), ("chunk_grid", &chunks), ("chunk_key_encoding", encoding)]);
        let (_, resolved) = open(&text, &mut Vec::<Diagnostic>::new()).map_err(|e| e.1).unwrap();
        let mut key = String::new();
        resolved.key_encoding.encode(index, &mut key);
        key
    };
    assert_eq!(key("[4,4]", "[2,2]", "\"default\"", &[1, 0]), "c/1/0", "rule C30");
    assert_eq!(
        key("[4,4]", "[2,2]", r#"{"name":"default","separator":"."}"#, &[1, 0]),
        "c.1.0",
        "rule C.t32"
    );
    assert_eq!(
        key(
            "[4,4]",
            "[2,2]",
            r#"{"name":"default","separator":".","configuration":{"separator":"/"}}"#,
            &[1, 0]
        ),
        "c/1/0"
    );
    assert_eq!(key("[]", "[]", r#"{"name":"v2"}"#, &[]), "0", "rule C.t34");
    assert_eq!(key("[]", "[]", "\"default\"", &[]), "c", "rule C30");
    assert_eq!(
        key("[4]", "[2]", r#"{"name":"v2","configuration":{"separator":"/"}}"#, &[1]),
        "1",
        "rule C.t35"
    );
}

#[test]
fn keys_are_known_even_if_codecs_are_not() {
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

#[test]
fn the_data_type_is_known_even_if_codecs_are_not() {
    let data_type = |name: &str| {
        let text = base(&[("codecs", "[\"foo\"]"), ("data_type", name), ("fill_value", "\"no\"")]);
        let meta = ArrayMeta::parse(text.as_bytes(), &Limits::default(), &mut Ignore).unwrap();
        meta.data_type(&Registry::core(), &Limits::default())
    };
    assert_eq!(data_type("\"int8\"").unwrap().name(), "int8");
    assert_eq!(data_type("\"int7\"").unwrap_err().pointer(), "/data_type");
}
