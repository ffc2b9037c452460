//! Ranges of an object: in a new file by default, or in the file itself.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use tempfile::TempDir;
use zarr_store_fs::FsStore;
use zarr_traits::{Key, Span, Storage, block_on, store::Outcome};

/// Replaces two ranges of the object `k`, which holds ten digits.
fn change(store: &FsStore) -> Outcome {
    let spans = [Span { offset: 7, len: 2 }, Span { offset: 1, len: 1 }];
    let storage = Storage::from(store.clone());
    block_on(storage.put_ranges(&Key::new("k").unwrap(), 10, &spans, &"abc".into())).unwrap()
}

#[test]
fn a_new_file_takes_the_place_of_the_object_unless_it_is_changed_in_place() {
    for in_place in [false, true] {
        let dir = TempDir::new().unwrap();
        let store = FsStore::open(dir.path()).unwrap();
        let store = if in_place { store.with_updates_in_place() } else { store };
        let [object, link] = ["k", "link"].map(|name| dir.path().join(name));
        fs::write(&object, "0123456789").unwrap();
        fs::set_permissions(&object, Permissions::from_mode(0o640)).unwrap();
        fs::hard_link(&object, &link).unwrap();

        assert!(matches!(change(&store), Outcome::Done(_)));
        assert_eq!(fs::read_to_string(&object).unwrap(), "0c23456ab9");
        assert_eq!(fs::read_to_string(&link).unwrap() == "0c23456ab9", in_place);
        assert_eq!(fs::metadata(&object).unwrap().mode() & 0o777, 0o640);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2, "nothing is left behind");
    }
}

#[test]
fn the_target_of_a_link_stays_as_it_is() {
    let dir = TempDir::new().unwrap();
    let [object, target] = ["k", "target"].map(|name| dir.path().join(name));
    fs::write(&target, "0123456789").unwrap();
    symlink("target", &object).unwrap();
    let store = FsStore::open(dir.path()).unwrap().with_updates_in_place();
    assert!(matches!(change(&store), Outcome::Done(_)));
    assert_eq!(fs::read_to_string(&target).unwrap(), "0123456789");
    assert_eq!(fs::read_to_string(&object).unwrap(), "0c23456ab9");
    assert!(!fs::symlink_metadata(&object).unwrap().is_symlink(), "a put replaces a link");
}

#[test]
fn each_change_in_place_is_another_version() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("k"), "0123456789").unwrap();
    let store = FsStore::open(dir.path()).unwrap().with_updates_in_place();
    let time = || {
        let file = fs::metadata(dir.path().join("k")).unwrap();
        (file.mtime(), file.mtime_nsec())
    };
    for _ in 0..1000 {
        let before = time();
        let _ = change(&store);
        assert_ne!(time(), before);
    }
}
