//! Chunks that other implementations wrote (`testdata/peers.txt`).
#![cfg(all(
    any(feature = "blosc", feature = "pure"),
    feature = "bytes",
    feature = "crc32c",
    feature = "gzip",
    any(feature = "pure", feature = "zstd")
))]

use std::collections::HashMap;

use zarr_engine::Chain;
use zarr_traits::DataType;
use zarr_traits::json::{Value, json};

use crate::testing::{decode, encode, hex, open};

fn chain_of_bytes(data_type: &str) -> Chain {
    crate::testing::chain(&json!([crate::testing::bytes("little")]), data_type, 2)
}

#[test]
fn chunks_of_other_implementations_decode_to_the_same_elements() {
    let lines = include_str!("../testdata/peers.txt").lines().filter(|line| !line.starts_with('#'));
    let rows = lines.map(|line| {
        let cells: Vec<_> = line.split(" | ").map(str::trim).collect();
        <[&str; 4]>::try_from(cells).unwrap()
    });
    let mut expected = HashMap::new();
    let mut checked = 0;
    for [writer, data_type, codecs, object] in rows {
        if writer == "decoded" {
            expected.insert(data_type, hex(object));
            continue;
        }
        let codecs = Value::parse(codecs).unwrap();
        let (chain, notes) = open(&codecs, DataType::core(data_type).unwrap(), 2).unwrap();
        assert_eq!(notes, [], "{writer} {codecs}");
        let elements = decode(&chain, &[16, 13], &hex(object)).unwrap();
        // no independent source for uint8: two writers must agree
        let little = encode(&chain_of_bytes(data_type), &[16, 13], &elements);
        let expected = expected.entry(data_type).or_insert_with(|| little.clone());
        assert_eq!(little, *expected, "{writer} {codecs}");
        assert_eq!(decode(&chain, &[16, 13], &encode(&chain, &[16, 13], &elements)).unwrap(), elements);
        checked += 1;
    }
    assert_eq!(checked, 32);
}
