//! Every store and layer of this crate keeps the contract.
#![allow(clippy::unwrap_used, reason = "a test that fails panics")]

use zarr_conformance::store::check;
use zarr_store::{Consolidated, Counting, MemoryStore, Prefixed};
use zarr_traits::{Key, Prefix, Storage};

fn memory() -> Storage {
    Storage::from(MemoryStore::new())
}

#[test]
fn memory_store() {
    check(memory).unwrap();
    check(|| Storage::from(MemoryStore::new().with_page(3))).unwrap();
}

#[test]
fn prefixed() {
    for prefix in ["", "p/", "two/levels/"] {
        check(|| Prefixed::over(&memory(), Prefix::new(prefix).unwrap())).unwrap();
    }
}

#[test]
fn counting() {
    check(|| Counting::over(&memory()).0).unwrap();
}

#[test]
fn consolidated() {
    for covers in [|_: &Key| true, |key: &Key| key.name() == "zarr.json", |_: &Key| false] {
        check(|| Consolidated::over(&memory(), Prefix::root(), [], covers).0).unwrap();
    }
}
