//! The rules of section D.7.

use std::sync::Arc;

use zarr_traits::codec::{ArrayArrayCodec, Codec, CodecKind, Effect, EncodedSize, Repr};
use zarr_traits::extension::{CodecEntry, Entry};
use zarr_traits::json::{Object, Value, json};
use zarr_traits::strided::{Destination, Dims, Source, Swap};
use zarr_traits::{ByteRange, CodecErrorKind, CodecResult, FillValue, Limits, Region, Scratch};

use crate::common::*;

const FF: &str = "ffffffffffffffffffffffffffffffff";
const ELEMENTS: [u8; 4] = [7, 0, 9, 0];

fn end() -> Vec<u8> {
    hex(&format!(
        "07 09 | 0000000000000000 0100000000000000 | {FF} | 0100000000000000 0100000000000000 | {FF} | ca64ea54"
    ))
}

fn start() -> Vec<u8> {
    hex(&format!(
        "4400000000000000 0100000000000000 | {FF} | 4500000000000000 0100000000000000 | {FF} | ad9db648 | 07 09"
    ))
}

/// Returns codecs with inner chunks of one `uint8`.
fn plain(location: &str) -> Value {
    json!([sharding(&[1], &json!(["bytes"]), &checked(), location)])
}

/// Returns the same codecs with an index without a checksum, and the shard of `entries` and `data` for them.
fn unchecked(location: &str, data: &[u8], entries: &[[u64; 2]]) -> (Value, Vec<u8>) {
    let codecs = json!([sharding(&[1], &json!(["bytes"]), &json!([bytes("little")]), location)]);
    let index: Vec<u8> = entries.iter().flatten().flat_map(|n| n.to_le_bytes()).collect();
    let object = if location == "end" { [data, &index].concat() } else { [&index, data].concat() };
    (codecs, object)
}

fn region(start: u64, len: u64) -> Region {
    Region::new([start], [len]).unwrap()
}

fn without(member: &str) -> Value {
    changed(&plain("end"), |configuration| drop(configuration.remove(member).unwrap()))
}

fn with(member: &str, value: Value) -> Value {
    changed(&plain("end"), |configuration| configuration.set(member, value))
}

/// Returns the codecs with another configuration of the first one.
fn changed(codecs: &Value, change: impl FnOnce(&mut Object)) -> Value {
    let mut codecs: Vec<Value> = codecs.elements().unwrap().collect();
    let mut codec = codecs[0].as_object().unwrap();
    codec.edit("configuration", change);
    codecs[0] = codec.to_value();
    codecs.into()
}

#[test]
fn shards_are_encoded_to_the_golden_bytes() {
    // rules D7.t1 to D7.t3
    for (codecs, encoded) in
        [(plain("end"), end()), (without("index_location"), end()), (plain("start"), start())]
    {
        let chain = chain(&codecs, "uint8", &[0], 1);
        assert_eq!(encode(&chain, &[4], &ELEMENTS), encoded);
        assert_eq!(decode(&chain, &[4], &encoded).unwrap(), ELEMENTS);
        for (at, element) in ELEMENTS.iter().enumerate() {
            let part = region(at as u64, 1);
            assert_eq!(decode_part(&chain, &[4], &part, &encoded).unwrap(), [*element]);
            assert_eq!(partial(&chain, &[4], &part, &encoded).unwrap().unwrap().0, [*element]);
        }
        assert_eq!(chain.encoded_size(&[4]), EncodedSize::AtMost(4 + 68)); // rule D7.16
    }
}

#[test]
fn a_partial_read_reads_the_index_and_then_only_touched_inner_chunks() {
    // rule D7.10
    let whole = chain(&plain("end"), "uint8", &[0], 1);
    for most in [Region::whole(&[4]), region(1, 3)] {
        let (_, asked) = partial(&whole, &[4], &most, &end()).unwrap().unwrap();
        assert_eq!(asked.index, [ByteRange::All], "for most of the shard the object is read whole");
    }
    let (_, asked) = partial(&whole, &[4], &region(1, 2), &end()).unwrap().unwrap();
    assert_eq!(asked, Asked { index: vec![ByteRange::Suffix(68)], pieces: vec![(1, 1)] });
    let chain = chain(&plain("start"), "uint8", &[0], 1);
    let (_, asked) = partial(&chain, &[4], &region(0, 2), &start()).unwrap().unwrap();
    assert_eq!(asked.index, [ByteRange::Span { offset: 0, len: 68 }]);
    assert_eq!(asked.pieces, [(0x44, 1)]);
    let (_, asked) = partial(&chain, &[4], &region(2, 0), &start()).unwrap().unwrap();
    assert_eq!(asked, Asked::default(), "an empty part reads nothing");
}

#[test]
fn all_three_members_are_required() {
    // rule D7.t4
    for member in ["chunk_shape", "codecs", "index_codecs"] {
        let e = refused(&without(member), 1);
        assert_eq!(e.kind(), CodecErrorKind::Configuration);
        assert_eq!(e.pointer(), format!("/0/configuration/{member}"));
        assert!(format!("{e:#}").ends_with(&format!("{member} is missing")), "{e:#}");
    }
    for (member, bad) in [
        ("index_location", json!("middle")),
        ("index_location", json!(1)),
        ("codecs", json!({})),
        ("codecs", json!([])),
        ("index_codecs", json!(null)),
        ("chunk_shape", json!(1)),
    ] {
        let e = refused(&with(member, bad), 1);
        assert_eq!(e.kind(), CodecErrorKind::Configuration);
        assert_eq!(e.pointer(), format!("/0/configuration/{member}"), "{e:#}");
    }
}

#[test]
fn errors_and_notes_of_inner_codecs_have_a_pointer() {
    // rule D7.1
    let e = refused(&with("codecs", json!([{"name": "bytes", "configuration": {"endian": "?"}}])), 1);
    assert_eq!(e.pointer(), "/0/configuration/codecs/0/configuration/endian");
    let e = refused(&with("codecs", json!(["bytes", "nobody"])), 1);
    assert_eq!((e.kind(), e.pointer()), (CodecErrorKind::UnknownExtension, "/0/configuration/codecs/1"));
    for (bad, pointer) in [
        (json!([7]), ""),
        (json!([{}]), "/name"),
        (json!([{"name": "bytes", "configuration": null}]), "/configuration"), // rule A20
        (json!([{"name": "bytes", "must_understand": 0}]), "/must_understand"), // rule A.t58
    ] {
        let e = refused(&with("index_codecs", bad), 1);
        assert_eq!(e.pointer(), format!("/0/configuration/index_codecs/0{pointer}"));
        assert_eq!(e.kind(), CodecErrorKind::Configuration);
    }
    let codecs = with("codecs", json!([{"name": "bytes", "configuration": {"x": 1}, "y/": 1}]));
    let codecs = changed(&codecs, |configuration| {
        configuration.set("z", 1);
        let crc32c = json!({"name": "crc32c", "configuration": {"w": 1}});
        configuration.set("index_codecs", json!([bytes("little"), crc32c]));
    });
    let (_, notes) = Opening::default().open(&codecs, "uint8", &[0], 1).unwrap();
    let pointers: Vec<_> = notes.iter().map(|note| &note.pointer[..]).collect();
    let expected = [
        "/0/configuration/codecs/0/y~1",
        "/0/configuration/codecs/0/configuration/x",
        "/0/configuration/index_codecs/1/configuration/w",
        "/0/configuration/z",
    ];
    assert_eq!(pointers, expected);
    let waived = with("codecs", json!(["bytes", {"name": "nobody", "must_understand": false}])); // rule A.t54
    let (chain, notes) = Opening::default().open(&waived, "uint8", &[0], 1).unwrap();
    assert_eq!(
        (&*notes[0].pointer, chain.skipped()),
        ("/0/configuration/codecs/1", &["nobody".to_owned()][..])
    );
    assert_eq!(decode(&chain, &[4], &end()).unwrap(), ELEMENTS);
    let src = Source::of(&ELEMENTS, &[4]).unwrap();
    let e = chain.encode(src, &mut Vec::new(), &mut Scratch::new()).unwrap_err();
    assert_eq!(e.kind(), CodecErrorKind::Unsupported, "{e:#}");
}

#[test]
fn an_index_may_be_big_endian_and_without_checksum() {
    // rule D7.t5
    let codecs = json!([sharding(&[1], &json!(["bytes"]), &json!([bytes("big")]), "end")]);
    let chain = chain(&codecs, "uint8", &[0], 1);
    let encoded = hex(&format!(
        "07 09 | 0000000000000000 0000000000000001 | {FF} | 0000000000000001 0000000000000001 | {FF}"
    ));
    assert_eq!(encode(&chain, &[4], &ELEMENTS), encoded);
    assert_eq!(decode(&chain, &[4], &encoded).unwrap(), ELEMENTS);
}

#[test]
fn an_index_may_be_transposed() {
    // rule D7.4
    let codecs =
        json!([sharding(&[1], &json!(["bytes"]), &json!([transpose(&[1, 0]), bytes("little")]), "end")]);
    let chain = chain(&codecs, "uint8", &[0], 1);
    let encoded = encode(&chain, &[4], &ELEMENTS);
    let none = "ffffffffffffffff";
    let one = "0100000000000000";
    assert_eq!(
        encoded,
        hex(&format!("07 09 | 0000000000000000 {none} {one} {none} | {one} {none} {one} {none}"))
    );
    assert_eq!(partial(&chain, &[4], &region(2, 2), &encoded).unwrap().unwrap().0, [9, 0]);
}

#[test]
fn an_index_of_unknown_size_is_refused() {
    // rule D7.t6
    let gzip = json!({"name": "gzip", "configuration": {"level": 1}});
    let inside = sharding(&[1, 1], &json!([bytes("little")]), &checked(), "end");
    for bad in [json!([bytes("little"), gzip]), json!([inside])] {
        let e = refused(&with("index_codecs", bad), 1);
        assert_eq!(e.kind(), CodecErrorKind::Configuration);
        assert_eq!(e.pointer(), "/0/configuration/index_codecs");
    }
}

#[test]
fn a_damaged_index_fails_its_checksum() {
    // rule D7.t7
    for (codecs, mut encoded) in [(plain("end"), end()), (plain("start"), start())] {
        let chain = chain(&codecs, "uint8", &[0], 1);
        let at = if codecs == plain("end") { 2 + 20 } else { 20 };
        encoded[at] ^= 1;
        let errors = [
            decode(&chain, &[4], &encoded).unwrap_err(),
            decode_part(&chain, &[4], &region(0, 1), &encoded).unwrap_err(),
            partial(&chain, &[4], &region(0, 1), &encoded).unwrap_err(),
        ];
        for e in errors {
            assert_eq!(e.kind(), CodecErrorKind::Checksum);
            let said = "codec \"sharding_indexed\" failed to decode: in the index of the shard: codec \"crc32c\" \
                        failed to decode: the stored checksum is ";
            assert!(format!("{e:#}").starts_with(said), "{e:#}");
        }
    }
}

#[test]
fn shapes_of_inner_chunks_must_divide_the_shard() {
    // rules D7.t8 and D7.t9
    let chain = chain(&with("chunk_shape", json!([3])), "uint8", &[0], 1);
    assert!(chain.check_shape(&[6]).is_ok());
    let e = chain.check_shape(&[2]).unwrap_err();
    assert_eq!(
        (e.kind(), &format!("{e:#}")[..]),
        (
            CodecErrorKind::Configuration,
            "codec \"sharding_indexed\" failed to open: inner chunks of shape [3] do not divide a shard of [2]"
        )
    );
    assert!(chain.check_shape(&[2, 2]).is_err());
    assert_eq!(chain.encoded_size(&[2]), EncodedSize::Unknown);
    for (bad, element) in
        [(json!([0]), ""), (json!([1, 1]), ""), (json!([]), ""), (json!([-1]), "/0"), (json!([1.5]), "/0")]
    {
        let e = refused(&with("chunk_shape", bad), 1);
        assert_eq!(e.kind(), CodecErrorKind::Configuration);
        assert_eq!(e.pointer(), format!("/0/configuration/chunk_shape{element}"));
    }
    // the shape of a shard in a shard is checked when the chain is built
    let e = refused(&json!([sharding(&[2], &plain("end"), &checked(), "end")]), 2);
    assert_eq!(e.pointer(), "/0/configuration/chunk_shape");
    let inside = json!([sharding(&[3], &json!(["bytes"]), &checked(), "end")]);
    let e = refused(&json!([sharding(&[2], &inside, &checked(), "end")]), 1);
    assert_eq!(e.pointer(), "/0/configuration/codecs");
}

#[test]
fn inner_chunks_divide_the_shape_that_reaches_the_codec() {
    // rules D7.2 and D.9e
    let reshape = |shape: Value| json!({"name": "reshape", "configuration": {"shape": shape}});
    // 2 x 3 x 4 becomes 6 x 4, then 4 x 6, then a shard with inner chunks of 2 x 3, each stored as a row of 6
    let inner = json!([transpose(&[1, 0]), reshape(json!([-1])), "bytes"]);
    let codecs = json!([
        reshape(json!([[0, 1], [2]])),
        transpose(&[1, 0]),
        sharding(&[2, 3], &inner, &json!([bytes("little")]), "end")
    ]);
    let (chain, elements) = (chain(&codecs, "uint8", &[0], 3), Vec::from_iter(0..24));
    let (shape, count) = ([2, 3, 4], 4_usize);
    assert!(chain.check_shape(&shape).is_ok());
    assert!(chain.check_shape(&[2, 1, 4]).is_err(), "the shape becomes 2 x 4 instead of 6 x 4");
    let encoded = encode(&chain, &shape, &elements);
    assert_eq!(encoded.len(), 24 + 16 * count);
    // inner chunk [0, 0]: columns 0 and 1 of rows 0 to 2; its transpose has three rows of two
    assert_eq!(encoded[..6], [0, 1, 4, 5, 8, 9]);
    assert_eq!(encoded[6..12], [12, 13, 16, 17, 20, 21]);
    assert_eq!(decode(&chain, &shape, &encoded).unwrap(), elements);
    for part in [([0, 0, 0], [2, 3, 1]), ([1, 1, 1], [1, 2, 2]), ([0, 1, 0], [2, 1, 4])] {
        let part = Region::new(part.0, part.1).unwrap();
        let mut expected = Vec::new();
        let whole = Source::of(&elements, &shape).unwrap();
        whole.sub(part.start(), part.shape()).unwrap().append_to(&mut expected, Swap::NONE).unwrap();
        assert_eq!(decode_part(&chain, &shape, &part, &encoded).unwrap(), expected, "{part:?}");
    }
}

#[test]
fn with_codecs_after_sharding_the_object_is_read_whole() {
    // rule D7.t10
    for after in [json!({"name": "gzip", "configuration": {"level": 1}}), json!("crc32c")] {
        let codecs = plain("end").elements().unwrap().chain([after]).collect();
        let chain = chain(&codecs, "uint8", &[0], 1);
        let encoded = encode(&chain, &[4], &ELEMENTS);
        assert_eq!(decode(&chain, &[4], &encoded).unwrap(), ELEMENTS);
        assert_eq!(decode_part(&chain, &[4], &region(1, 2), &encoded).unwrap(), [0, 9]);
        assert!(partial(&chain, &[4], &region(1, 2), &encoded).unwrap().is_none());
    }
}

#[test]
fn shards_nest_up_to_the_limit() {
    // rule D7.t11
    let nested = |depth| {
        let mut codecs = json!(["bytes"]);
        for _ in 0..depth {
            codecs = json!([sharding(&[1], &codecs, &checked(), "end")]);
        }
        codecs
    };
    for depth in [2, 3, 4] {
        let chain = chain(&nested(depth), "uint8", &[0], 1);
        let encoded = encode(&chain, &[4], &ELEMENTS);
        assert_eq!(decode(&chain, &[4], &encoded).unwrap(), ELEMENTS);
        assert_eq!(partial(&chain, &[4], &region(1, 2), &encoded).unwrap().unwrap().0, [0, 9]);
    }
    for depth in [5, 40] {
        let e = refused(&nested(depth), 1);
        assert_eq!(e.kind(), CodecErrorKind::LimitExceeded, "{e:#}");
    }
}

#[test]
fn a_shard_may_have_no_dimensions() {
    // rule D7.t12
    let codecs = json!([sharding(&[], &json!(["bytes"]), &checked(), "end")]);
    let chain = chain(&codecs, "uint8", &[0], 0);
    let encoded = encode(&chain, &[], &[5]);
    assert_eq!(encoded.len(), 1 + 20);
    assert_eq!(decode(&chain, &[], &encoded).unwrap(), [5]);
    let missing = encode(&chain, &[], &[0]);
    assert_eq!((missing.len(), &missing[..16]), (20, &hex(FF)[..]));
    assert_eq!(decode(&chain, &[], &missing).unwrap(), [0]);
}

#[test]
fn a_shard_without_elements_is_an_index_without_entries() {
    // rule L90
    let chain = chain(&plain("end"), "uint8", &[0], 1);
    let encoded = encode(&chain, &[0], &[]);
    assert_eq!(encoded, [0; 4]);
    assert_eq!(decode(&chain, &[0], &encoded).unwrap(), [0_u8; 0]);
    assert!(decode(&chain, &[0], &[]).is_err());
}

#[test]
fn a_short_object_is_corrupt_and_never_fill_values() {
    // rule D7.t13
    for location in ["end", "start"] {
        let chain = chain(&plain(location), "uint8", &[0], 1);
        for len in [0, 1, 67] {
            let object = vec![0xff; len];
            let errors = [
                decode(&chain, &[4], &object).unwrap_err(),
                decode_part(&chain, &[4], &region(1, 1), &object).unwrap_err(),
                partial(&chain, &[4], &region(1, 1), &object).unwrap_err(),
            ];
            assert!(errors.iter().all(|e| e.kind() == CodecErrorKind::Corrupt), "{errors:?}");
            let said = format!("{len} bytes are too few for an index of 68");
            assert!(errors[0].to_string().ends_with(&said), "{}", errors[0]);
        }
    }
}

/// Checks that inner chunk 1 fails with a message that contains `why`, and that all others are read.
fn broken(location: &str, entry: [u64; 2], why: &str) {
    let base = if location == "start" { 64 } else { 0 };
    let missing = [u64::MAX; 2];
    let entries = [[base, 1], entry, missing, [base + 1, 1]];
    let (codecs, object) = unchecked(location, &[7, 9], &entries);
    let chain = chain(&codecs, "uint8", &[3], 1);
    let mut errors = vec![
        decode(&chain, &[4], &object).unwrap_err(),
        decode_part(&chain, &[4], &region(1, 1), &object).unwrap_err(),
    ];
    for e in &errors {
        let said = format!("{e:#}");
        assert!(said.starts_with("codec \"sharding_indexed\" failed to decode: "), "{said}");
        assert!(said.contains("inner chunk [1]") && said.contains(why), "{said}");
    }
    errors.push(partial(&chain, &[4], &region(1, 2), &object).map(drop).unwrap_err());
    assert!(errors.iter().all(|e| e.kind() == CodecErrorKind::Corrupt), "{errors:?}");
    for (part, expected) in [(region(0, 1), &[7][..]), (region(2, 2), &[3, 9])] {
        assert_eq!(decode_part(&chain, &[4], &part, &object).unwrap(), expected);
        assert_eq!(partial(&chain, &[4], &part, &object).unwrap().unwrap().0, expected);
    }
}

#[test]
fn an_invalid_entry_fails_only_its_inner_chunk() {
    // rules D7.t14 to D7.t16
    const MAX: u64 = u64::MAX;
    for location in ["end", "start"] {
        for entry in [[MAX, 1], [MAX, 0], [0, MAX], [64, MAX]] {
            broken(location, entry, "both numbers are 2^64 - 1"); // rule D7.t15
        }
        for entry in [[MAX - 1, 2], [1 << 63, 1 << 63], [70, MAX - 1]] {
            broken(location, entry, "beyond 2^64"); // rule D7.t16
        }
        for entry in [[66, 1], [MAX - 1, 1], [66, 1 << 50], [1 << 63, 1]] {
            broken(location, entry, "outside");
        }
    }
    broken("end", [2, 1], "the index");
    broken("end", [0, 66], "the index");
    broken("start", [0, 1], "overlap the index");
    broken("start", [63, 1], "overlap the index");
    broken("end", [0, 0], "got 0 bytes, expected 1"); // rule D7.t14
    broken("start", [64, 0], "got 0 bytes, expected 1");
    broken("start", [0, 0], "overlap the index");
    broken("end", [0, 2], "got 2 bytes, expected 1");
}

#[test]
fn gaps_any_order_shared_bytes_and_an_old_index_are_read() {
    // rule D7.t17
    let old: Vec<u8> = [[0_u64, 1]; 4].iter().flatten().flat_map(|n| n.to_le_bytes()).collect();
    for (location, base) in [("end", 0), ("start", 64)] {
        let data = [&[7, 1, 1, 9, 8][..], &old].concat();
        let entries = [[base + 4, 1], [base + 3, 1], [base, 1], [base + 3, 1]];
        let (codecs, object) = unchecked(location, &data, &entries);
        let chain = chain(&codecs, "uint8", &[3], 1);
        assert_eq!(decode(&chain, &[4], &object).unwrap(), [8, 9, 7, 9]);
        let (got, asked) = partial(&chain, &[4], &region(0, 2), &object).unwrap().unwrap();
        assert_eq!(got, [8, 9]);
        assert_eq!(asked.pieces, [(base + 4, 1), (base + 3, 1)]);
    }
}

#[test]
fn the_index_covers_the_whole_shard() {
    // rule D7.t19
    // Shape 5 in shards of 4: the engine pads the second shard with the fill value.
    let chain = chain(&plain("end"), "uint8", &[3], 1);
    let encoded = encode(&chain, &[4], &[1, 3, 3, 3]);
    assert_eq!(encoded.len(), 1 + 68);
    assert_eq!(encoded[17..65], hex(FF).repeat(3)[..]);
}

#[test]
fn fill_values_are_compared_by_their_bits() {
    // rule D7.15
    let codecs = json!([sharding(&[1], &json!([bytes("little")]), &checked(), "end")]);
    let nan = f32::from_bits(0x7fc0_0001);
    for (fill, elements, stored) in
        [(0.0_f32, [0.0, -0.0], 1), (-0.0, [-0.0, -0.0], 0), (nan, [nan, f32::from_bits(0x7fc0_0002)], 1)]
    {
        let chain = chain(&codecs, "float32", FillValue::of(fill).bytes(), 1);
        let elements: Vec<u8> = elements.iter().flat_map(|x| x.to_ne_bytes()).collect();
        let encoded = encode(&chain, &[2], &elements);
        assert_eq!(encoded.len(), 36 + 4 * stored);
        assert_eq!(decode(&chain, &[2], &encoded).unwrap(), elements);
    }
}

/// Adds one to every `uint8`, also to the fill value.
#[derive(Debug)]
struct Plus(Repr);

fn add(src: &Source<'_>, mut dst: Destination<'_>, n: u8) -> CodecResult<()> {
    let mut all = Vec::new();
    src.append_to(&mut all, Swap::NONE)?;
    all.iter_mut().for_each(|byte| *byte = byte.wrapping_add(n));
    Ok(dst.put(Source::dense(&all, src.shape(), 1)?, Swap::NONE)?)
}

impl ArrayArrayCodec for Plus {
    fn encoded_repr(&self) -> CodecResult<Repr> {
        let fill = FillValue::of(self.0.fill.bytes()[0].wrapping_add(1));
        Ok(Repr::new(self.0.data_type.clone(), fill, self.0.rank))
    }
    fn encoded_shape(&self, shape: &[u64]) -> CodecResult<Dims> {
        Ok(shape.into())
    }
    fn effect(&self) -> Effect<'_> {
        Effect::Elementwise
    }
    fn decode(&self, src: Source<'_>, dst: Destination<'_>, _: &mut Scratch) -> CodecResult<()> {
        add(&src, dst, 255)
    }
    fn encode(&self, src: Source<'_>, dst: Destination<'_>, _: &mut Scratch) -> CodecResult<()> {
        add(&src, dst, 1)
    }
}

#[test]
fn missing_inner_chunks_have_the_fill_value_at_this_place_of_the_chain() {
    // rule D7.t20
    const PLUS: Entry = Entry::Codec(CodecEntry::new("test.plus", CodecKind::ArrayArray, |_, repr, _| {
        Ok(Codec::ArrayArray(Arc::new(Plus(repr.clone()))))
    }));
    let codecs = [json!("test.plus")].into_iter().chain(plain("end").elements().unwrap()).collect();
    let (chain, _) =
        Opening { more: &[PLUS], ..Opening::default() }.open(&codecs, "uint8", &[255], 1).unwrap();
    assert_eq!(decode(&chain, &[4], &end()).unwrap(), [6, 255, 8, 255]);
    assert_eq!(encode(&chain, &[4], &[6, 255, 8, 255]), end());
}

#[test]
fn errors_of_inner_codecs_name_the_inner_chunk() {
    // rule D7.11
    let codecs = json!([sharding(&[1, 2], &json!(["bytes", "crc32c"]), &checked(), "end")]);
    let chain = chain(&codecs, "uint8", &[0], 2);
    let mut encoded = encode(&chain, &[2, 4], &[1, 2, 3, 4, 5, 6, 7, 8]);
    encoded[12] ^= 1;
    let e = decode(&chain, &[2, 4], &encoded).unwrap_err();
    assert_eq!(e.kind(), CodecErrorKind::Checksum);
    let said = "codec \"sharding_indexed\" failed to decode: in inner chunk [1, 0]: codec \"crc32c\" failed";
    assert!(format!("{e:#}").starts_with(said), "{e:#}");
    let lower = Region::new([1, 2], [1, 2]).unwrap();
    assert_eq!(partial(&chain, &[2, 4], &lower, &encoded).unwrap().unwrap().0, [7, 8]);
    let damaged = Region::new([1, 1], [1, 2]).unwrap();
    assert_eq!(partial(&chain, &[2, 4], &damaged, &encoded).unwrap_err().kind(), CodecErrorKind::Checksum);
}

#[test]
fn an_index_that_exceeds_memory_is_an_error_and_never_allocated() {
    // rule L102
    let shape = [1 << 40];
    let part = region(5, 1);
    let chain = chain(&plain("end"), "uint8", &[0], 1);
    assert_eq!(chain.check_shape(&shape).unwrap_err().kind(), CodecErrorKind::LimitExceeded);
    let e = decode_part(&chain, &shape, &part, &[0; 16]).unwrap_err();
    assert_eq!(e.kind(), CodecErrorKind::LimitExceeded);
    let e = partial(&chain, &shape, &part, &[0; 16]).unwrap_err();
    assert_eq!(e.kind(), CodecErrorKind::LimitExceeded);
    assert!(chain.check_shape(&[1 << 26]).is_ok());
    for location in ["end", "start"] {
        let all = Opening { limits: Limits::unlimited(), ..Opening::default() };
        let (chain, _) = all.open(&plain(location), "uint8", &[0], 1).unwrap();
        assert!(chain.check_shape(&shape).is_ok());
        for e in [
            decode_part(&chain, &shape, &part, &[0; 16]).unwrap_err(),
            partial(&chain, &shape, &part, &[0; 16]).unwrap_err(),
        ] {
            assert_eq!(e.kind(), CodecErrorKind::Corrupt, "{e:#}");
        }
        for n in [1 << 60, u64::MAX] {
            assert!(chain.check_shape(&[n]).is_err());
            assert!(decode_part(&chain, &[n], &part, &[0; 16]).is_err());
        }
    }
}
