//! A store that is built without the feature `write`.

#![cfg(all(unix, not(feature = "write")))]

use zarr_store::{Access, Schemes};
use zarr_store_fs::{FsStore, SCHEMES};
use zarr_traits::{Key, Storage, StoreErrorKind, block_on};

#[test]
fn a_store_without_writes_reads_and_refuses_to_write() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("k"), "value").unwrap();
    let storage = Storage::from(FsStore::open(folder.path()).unwrap());
    let key = Key::new("k").unwrap();
    assert_eq!(block_on(storage.get(&key, 100)).unwrap().unwrap(), "value");
    assert!(!storage.capabilities().write && storage.capabilities().list);
    let e = block_on(storage.put(&key, "other")).unwrap_err();
    assert_eq!(
        (e.kind(), format!("{e:#}").contains("read-only")),
        (StoreErrorKind::Unsupported, true),
        "{e:#}"
    );
    assert_eq!(std::fs::read(folder.path().join("k")).unwrap(), b"value");
}

#[test]
fn a_store_without_writes_creates_no_directory() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing");
    let access = Access::new().create(true);
    assert!(block_on(Schemes::new(&[SCHEMES]).open(missing.to_str().unwrap(), &access)).is_err());
    assert!(!missing.exists());
}
