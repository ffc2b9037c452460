//! What a store that a stranger wrote lists: each key has a value or an error with a key, and a part of a value is the part of the
//! whole.

use zarr_store::{MemoryStore, Prefixed, Targets};
use zarr_traits::store::{Listed, ReadVersion};
use zarr_traits::{ByteRange, Key, Prefix, Storage, block_on};

/// Stores of references that other tools wrote.
pub(crate) const ARCHIVE: &[u8] = include_bytes!("../../../conformance/references/references.zip");

/// The most bytes of a value that is read.
const MOST: u64 = 1 << 18;

/// What is beside the place that references may name.
const SECRET: &str = "what nobody may read";

/// Returns a place that references may name, `allowed/` of a store. It has one object, and a secret is beside it.
pub(crate) fn place(url: &str, key: &str, value: &[u8]) -> Targets {
    let archive = Storage::from(MemoryStore::new());
    put(&archive, key, value);
    put(&archive, "secret", SECRET.as_bytes());
    let below = Prefixed::over(&archive, Prefix::new("allowed/").expect("a prefix"));
    Targets::none().serve(url, below).expect("a place")
}

/// Reads the first keys that a store listed. No value may be the secret.
pub(crate) fn check(store: &Storage, listed: &[Listed]) {
    assert!(listed.is_sorted_by(|a, b| a.key < b.key), "keys are out of order, or there twice");
    for found in listed.iter().take(16) {
        let key = &found.key;
        let whole = match block_on(store.get(key, MOST)) {
            Ok(whole) => whole.expect("a listed key is there"),
            Err(e) => {
                assert!(e.key().is_some(), "{e:#}");
                continue;
            }
        };
        assert_ne!(whole, SECRET, "{key:?}");
        assert!(found.meta.size.is_none_or(|size| size == whole.len() as u64), "{key:?}");
        let middle = whole.len() as u64 / 2;
        let tail = ByteRange::from(middle..whole.len() as u64);
        let tail = block_on(store.get_ranges(key, &[tail], ReadVersion::Any, MOST));
        let tail = tail.expect("the whole can be read, so can a part").expect("a listed key is there");
        assert_eq!(tail.bytes.concat(), whole[middle as usize..], "a part of {key:?} differs");
    }
}

/// Puts a value into a store in memory.
pub(crate) fn put(storage: &Storage, key: &str, value: &[u8]) {
    let key = Key::new(key).expect("a key");
    block_on(storage.put(&key, value.to_vec())).expect("memory takes every value");
}
