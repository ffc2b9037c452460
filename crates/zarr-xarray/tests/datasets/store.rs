//! The stores of the table, in memory.

use std::path::Path;
use std::sync::OnceLock;

use serde_json::Value;
use zarr_hierarchy::zarr_array::{Storage, block_on, traits::Key};
use zarr_store::MemoryStore;

use crate::vectors::tally::exact;

/// The document of the table.
pub(crate) fn table() -> &'static Value {
    static TABLE: OnceLock<Value> = OnceLock::new();
    TABLE.get_or_init(|| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/datasets.json");
        exact(&std::fs::read_to_string(path).unwrap())
    })
}

/// Returns a store of the table.
pub(crate) fn store(name: &str) -> Storage {
    let storage = Storage::from(MemoryStore::new());
    for (key, value) in table()["stores"][name].as_object().unwrap() {
        let value = match value.as_str() {
            Some(text) => text.as_bytes().to_vec(),
            None => bytes(value["base64"].as_str().unwrap()),
        };
        block_on(storage.put(&Key::new(key.as_str()).unwrap(), value)).unwrap();
    }
    storage
}

/// Decodes base64.
pub(crate) fn bytes(text: &str) -> Vec<u8> {
    let digit = |c: u8| match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        other => panic!("{other} is not base64"),
    };
    let digits: Vec<u8> = text.trim_end_matches('=').bytes().map(digit).collect();
    let group = |digits: &[u8]| {
        let bits = (0..4).fold(0_u32, |bits, at| bits << 6 | u32::from(digits.get(at).copied().unwrap_or(0)));
        bits.to_be_bytes()[1..digits.len()].to_vec()
    };
    digits.chunks(4).flat_map(group).collect()
}
