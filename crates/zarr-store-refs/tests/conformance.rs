//! References keep the contract of stores, for reading.

use zarr_conformance::store::check_reading;
use zarr_store::{MemoryStore, Targets};
use zarr_store_refs::Refs;
use zarr_traits::json::{Object, Value};
use zarr_traits::{Bytes, Key, Storage, block_on};

/// Returns the store of a file with a reference for each object, which `reference` makes in `folder`.
fn filled(objects: &[(Key, Bytes)], reference: impl Fn(&Storage, usize, &Bytes) -> Value) -> Storage {
    let folder = Storage::from(MemoryStore::new());
    let mut references = Object::new();
    for (number, (key, value)) in objects.iter().enumerate() {
        references.set(key.as_str(), reference(&folder, number, value));
    }
    let file = Key::new("d/refs.json").unwrap();
    block_on(folder.put(&file, Value::from(references).to_string())).unwrap();
    block_on(Refs::open(&folder, file, Targets::none())).unwrap()
}

fn put(folder: &Storage, name: &str, value: impl Into<Bytes>) {
    block_on(folder.put(&Key::new(format!("d/{name}")).unwrap(), value)).unwrap();
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::from("base64:");
    for group in bytes.chunks(3) {
        let bits =
            group.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        for place in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * place) & 63) as usize];
            text.push(if place <= group.len() { char::from(digit) } else { '=' });
        }
    }
    text
}

#[test]
fn inline_bytes_keep_the_contract() {
    check_reading(|objects| filled(objects, |_, _, value| base64(value).into())).unwrap();
}

#[test]
fn whole_objects_keep_the_contract() {
    let whole = |folder: &Storage, number: usize, value: &Bytes| {
        let name = format!("{number}.bin");
        put(folder, &name, value.clone());
        Value::from_iter([Value::from(name)])
    };
    check_reading(|objects| filled(objects, whole)).unwrap();
}

#[test]
fn ranges_keep_the_contract() {
    let range = |folder: &Storage, number: usize, value: &Bytes| {
        let name = format!("{number}.bin");
        put(folder, &name, [b"before", &value[..], b"behind"].concat());
        Value::from_iter([Value::from(name), 6_u64.into(), (value.len() as u64).into()])
    };
    check_reading(|objects| filled(objects, range)).unwrap();
}
