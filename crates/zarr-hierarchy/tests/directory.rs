//! Hierarchies in a directory, where folders can exist without objects.

use crate::common::{array_meta, names, open, open_with, store};
use std::fs;
use zarr_hierarchy::blocking::{Group, copy, erase};
use zarr_hierarchy::zarr_array::{Storage, blocking::Array, standard};
use zarr_hierarchy::{CopyOptions, EraseOptions, ExistingNode, GroupOptions, HierarchyErrorKind as Kind};
use zarr_store_fs::FsStore;

#[test]
fn foreign_files_and_folders_are_not_nodes() {
    let folder = tempfile::tempdir().unwrap();
    let storage = Storage::from(FsStore::open(folder.path()).unwrap());
    let root = Group::create(storage.clone(), "/", &standard()).unwrap();
    root.create_array("a/x", array_meta()).unwrap().write(.., &[1, 2, 3, 4]).unwrap();
    for file in [".DS_Store", ".git/HEAD", "a/Thumbs.db", "a/x/.nfs0001"] {
        fs::create_dir_all(folder.path().join(file).parent().unwrap()).unwrap();
        fs::write(folder.path().join(file), "").unwrap();
    }
    fs::create_dir_all(folder.path().join("empty/inside")).unwrap();
    assert_eq!(names(&root.walk().collect::<Vec<_>>()), ["a", "x"]);
    root.move_to("a", &root, "b").unwrap();
    assert!(!folder.path().join("a").exists(), "E36: no empty folder remains");
    assert_eq!(open(&storage).array("b/x").unwrap().read::<i32>(..).unwrap().as_slice(), [1, 2, 3, 4]);
}

#[test]
fn hierarchies_are_copied_between_stores() {
    let (memory, _) = store(&[]);
    let mut root = Group::create(memory.clone(), "/", &standard()).unwrap();
    root.create_array("a/x", array_meta()).unwrap().write(.., &[1, 2, 3, 4]).unwrap();
    root.consolidate().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let disk = Storage::from(FsStore::open(folder.path()).unwrap());
    let copied = copy(memory.clone(), "/", disk.clone(), "/", &CopyOptions::new()).unwrap();
    assert_eq!((copied.documents, copied.objects), (3, 2));
    let there = open(&disk);
    assert!(there.is_consolidated() && there.check_consolidated().unwrap().unwrap().is_empty());
    assert_eq!(there.array("a/x").unwrap().read::<i32>(..).unwrap().as_slice(), [1, 2, 3, 4]);
    let again = |options: &CopyOptions| copy(memory.clone(), "a", disk.clone(), "a", options);
    assert_eq!(again(&CopyOptions::new()).unwrap_err().kind(), Kind::Exists);
    again(&CopyOptions::new().existing(ExistingNode::Replace)).unwrap();
    assert_eq!(open(&disk).check_consolidated().unwrap().unwrap(), []);
    let e = copy(memory.clone(), "none", disk.clone(), "b", &CopyOptions::new()).unwrap_err();
    assert_eq!((e.kind(), e.node()), (Kind::NotFound, Some("/none")));
}

/// Several processes share only the directory; each has its own handle.
#[test]
fn separate_handles_keep_consolidated_metadata_up_to_date() {
    let folder = tempfile::tempdir().unwrap();
    let handle = || Storage::from(FsStore::open(folder.path()).unwrap());
    Group::create(handle(), "/", &standard()).unwrap().consolidate().unwrap();
    std::thread::scope(|scope| {
        for i in 0..4 {
            let root = open(&handle());
            scope.spawn(move || {
                for n in 0..5 {
                    root.create_array(&format!("g{}/x{i}{n}", n % 2), array_meta()).unwrap();
                }
            });
        }
    });
    let root = open_with(&handle(), GroupOptions::new());
    assert_eq!(root.check_consolidated().unwrap().unwrap(), []);
    assert_eq!(root.walk().count(), 2 + 20);
}

#[test]
fn a_path_that_leads_outside_is_named_with_its_store() {
    let folder = tempfile::tempdir().unwrap();
    let storage = Storage::from(FsStore::open(folder.path()).unwrap());
    let root = Group::create(storage.clone(), "/", &standard()).unwrap();
    let (place, why) = (folder.path().display(), "a segment of the key is \".\" or \"..\"");
    let copied = copy(storage.clone(), "../t2m", storage.clone(), "b", &CopyOptions::new());
    for e in [
        Group::open(storage.clone(), "../t2m", &standard()).unwrap_err(),
        Group::create(storage.clone(), "../t2m", &standard()).unwrap_err(),
        erase(storage.clone(), "../t2m", &EraseOptions::new()).unwrap_err(),
        copied.unwrap_err(),
    ] {
        assert_eq!(format!("{e:#}"), format!("node \"../t2m\" of {place}: {why}"));
        assert_eq!(e.kind(), Kind::InvalidArgument);
    }
    let e = Array::open(storage, "../t2m", &standard()).unwrap_err();
    assert_eq!(format!("{e:#}"), format!("array \"../t2m\" of {place}: {why}"));
    let e = format!("{:#}", root.array("../t2m").unwrap_err());
    assert!(e.starts_with(&format!("node \"/\" of {place}: expected a path")) && e.contains("../t2m"), "{e}");
}
