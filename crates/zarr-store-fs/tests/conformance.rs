//! The store keeps the contract of stores, with each of its options and below a layer.

use std::sync::Mutex;

use tempfile::TempDir;
use zarr_conformance::store::check;
use zarr_store::Prefixed;
use zarr_store_fs::{Durability, FsStore};
use zarr_traits::{Prefix, Storage};

/// Runs the suite on stores in temporary directories.
fn suite(make: impl Fn(FsStore) -> Storage) {
    let dirs = Mutex::new(Vec::new());
    check(|| {
        let dir = TempDir::new().unwrap();
        let store = FsStore::open(dir.path()).unwrap();
        dirs.lock().unwrap().push(dir);
        make(store)
    })
    .unwrap();
}

#[test]
fn as_it_is() {
    suite(Storage::from);
}

#[test]
fn with_small_pages() {
    suite(|store| store.with_page(3).into());
}

#[cfg(target_os = "linux")]
#[test]
fn confined() {
    suite(|store| store.with_confinement().unwrap().into());
}

#[test]
fn durable() {
    suite(|store| store.with_durability(Durability::Durable).into());
}

#[test]
fn single_writer() {
    suite(|store| store.with_single_writer().into());
    suite(|store| store.with_no_readers().into());
}

#[test]
fn in_place() {
    suite(|store| store.with_updates_in_place().into());
    suite(|store| store.with_updates_in_place().with_single_writer().into());
}

#[test]
fn prefixed() {
    suite(|store| Prefixed::over(&store.into(), Prefix::new("two/levels/").unwrap()));
}
