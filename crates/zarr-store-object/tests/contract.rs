//! The store keeps the contract of stores over any `object_store`.

use std::sync::Arc;

use zarr_conformance::store::check;
use zarr_store_object::ObjectStorage;
use zarr_store_object::object_store::memory::InMemory;
use zarr_traits::{Storage, store::Store as _};

fn memory() -> ObjectStorage {
    ObjectStorage::new(Arc::new(InMemory::new())).unwrap()
}

#[test]
fn as_it_is() {
    check(|| memory().into()).unwrap();
}

#[test]
fn below_a_prefix() {
    check(|| memory().below("two/levels").unwrap().into()).unwrap();
}

#[test]
fn without_suffix_ranges() {
    check(|| {
        let store = memory();
        let mut can = store.capabilities();
        can.suffix = false;
        Storage::from(store.with_capabilities(can))
    })
    .unwrap();
}

#[test]
fn large_values_in_parts() {
    check(|| memory().with_multipart_above(1000).into()).unwrap();
}
