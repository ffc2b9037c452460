//! Copies that replace a node never lose the source, through any handles.

use std::path::Path;

use crate::common::hooked::slow;
use crate::common::{ARRAY, ARRAY2, GROUP, GROUP2, key, keys, store, text};
use std::sync::atomic::Ordering;
use zarr_hierarchy::blocking::copy;
use zarr_hierarchy::zarr_array::Storage;
use zarr_hierarchy::zarr_array::traits::{
    BoxFuture, Prefix, StoreResult, block_on,
    store::{Answer, Capabilities, Op, Store},
};
use zarr_hierarchy::{CopyOptions, ExistingNode, HierarchyErrorKind as Kind};
use zarr_store::{MemoryStore, Prefixed};
use zarr_store_fs::FsStore;

fn replace() -> CopyOptions {
    CopyOptions::new().existing(ExistingNode::Replace)
}

/// Makes a group `x` with an array `x/y`, beside a group that equals `x` but has no children.
const OBJECTS: [(&str, &str); 6] = [
    ("other/zarr.json", GROUP),
    ("x/notes.txt", "kept"),
    ("x/y/c/0", "chunk"),
    ("x/y/zarr.json", ARRAY),
    ("x/zarr.json", GROUP),
    ("zarr.json", GROUP),
];

fn fill(storage: &Storage) {
    for (name, value) in OBJECTS {
        block_on(storage.put(&key(name), value)).unwrap();
    }
}

/// Returns all objects with their contents.
fn contents(storage: &Storage) -> Vec<(String, String)> {
    keys(storage).into_iter().map(|name| (name.clone(), text(storage, &name))).collect()
}

fn everything() -> Vec<(String, String)> {
    OBJECTS.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn a_source_that_overlaps_the_destination_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let at = |below: &str| Storage::from(FsStore::open(folder.path().join(below)).unwrap());
    let memory = MemoryStore::new();
    let whole = Storage::from(memory.clone());
    let below = |prefix: &str| Prefixed::over(&whole, Prefix::new(prefix).unwrap()).made_of(&whole);
    fill(&Storage::from(FsStore::create(folder.path()).unwrap()));
    fill(&whole);
    let handles: [(Storage, Storage, &str); 9] = [
        (at(""), at(""), "two handles of a directory"),
        (Storage::from(memory.clone()), Storage::from(memory.clone()), "two handles of a memory store"),
        (whole.clone(), whole.clone(), "one handle"),
        (at("x"), at(""), "source deeper"),
        (at(""), at("x"), "destination deeper"),
        (at("x"), at("x"), "both deeper"),
        (below("x/"), whole.clone(), "source below a prefix"),
        (whole.clone(), below("x/"), "destination below a prefix"),
        (below("x/"), below("x/"), "both below a prefix"),
    ];
    for (from, to, what) in handles {
        let (deep_from, deep_to) = (is_deep(&from), is_deep(&to));
        for (source, target) in [("/x", "/x"), ("/x", "/x/y"), ("/x/y", "/x"), ("/x/y", "/x/y")] {
            let path = |path: &str, deep: bool| {
                if deep { format!("/{}", &path[2..].trim_matches('/')) } else { path.to_owned() }
            };
            let (source, target) = (path(source, deep_from), path(target, deep_to));
            let e = copy(from.clone(), &source, to.clone(), &target, &replace()).unwrap_err();
            assert_eq!(e.kind(), Kind::InvalidArgument, "{what}: {source} to {target}: {e:#}");
            assert!(format!("{e:#}").contains("and the destination contains the other"), "{e:#}");
        }
    }
    assert_eq!(contents(&at("")), everything());
    assert_eq!(contents(&whole), everything());
    assert_eq!(files(folder.path()), OBJECTS.len(), "no temporary file is left");
}

/// Whether the root of a storage is the group `x`.
fn is_deep(storage: &Storage) -> bool {
    block_on(storage.get(&key("notes.txt"), 100)).unwrap().is_some()
}

fn files(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| if path.is_dir() { files(&path) } else { 1 }).sum()
}

#[test]
fn a_destination_that_only_looks_like_the_source_is_replaced() {
    for (source, target) in [("/x", "/x"), ("/x", "/x/y"), ("/x/y", "/x"), ("/", "/"), ("/x/y", "/")] {
        let (from, _) = store(&OBJECTS);
        let (to, _) = store(&OBJECTS);
        copy(from.clone(), source, to.clone(), target, &replace()).unwrap();
        assert_eq!(contents(&from), everything());
        let prefix = |path: &str| format!("{}/", path.trim_matches('/')).trim_start_matches('/').to_owned();
        let below = |storage: &Storage, path: &str| -> Vec<(String, String)> {
            let inner = |(name, value): (String, String)| {
                name.strip_prefix(&prefix(path)).map(|name| (name.to_owned(), value))
            };
            contents(storage).into_iter().filter_map(inner).collect()
        };
        assert_eq!(below(&to, target), below(&from, source), "{source} to {target}");
    }
    // Beside each other in one store.
    let (storage, _) = store(&OBJECTS);
    copy(storage.clone(), "/x", storage.clone(), "/other", &replace()).unwrap();
    assert_eq!(text(&storage, "other/y/c/0"), "chunk");
    assert_eq!(text(&storage, "x/y/c/0"), "chunk");
}

/// A store whose listing differs from its objects.
#[derive(Debug)]
struct Unlisted {
    read: Storage,
    listed: Storage,
}

impl Store for Unlisted {
    fn capabilities(&self) -> Capabilities {
        self.read.capabilities().read_only()
    }

    fn call<'a>(&'a self, op: Op<'a>) -> BoxFuture<'a, StoreResult<Answer>> {
        if op.lists() { self.listed.call(op) } else { self.read.call(op) }
    }
}

#[test]
fn a_source_without_a_node_is_refused_before_anything_is_erased() {
    let (to, counting) = store(&OBJECTS);
    let empty = Storage::from(MemoryStore::new());
    let folder = [("zarr.json", GROUP), ("x/notes.txt", "no document")];
    // The document exists, but the listing lacks it.
    let (read, _) = store(&[("x/zarr.json", GROUP)]);
    let unlisted = |objects: &[(&str, &str)]| {
        let listed = MemoryStore::new();
        for (name, value) in objects {
            block_on(Storage::from(listed.clone()).put(&key(name), value.to_string())).unwrap();
        }
        Storage::from(Unlisted { read: read.clone(), listed: listed.into() })
    };
    for (from, what) in [
        (empty, "empty"),
        (store(&folder).0, "a folder"),
        (unlisted(&[]), "nothing is listed"),
        (unlisted(&[("x/y/zarr.json", ARRAY), ("x/notes.txt", "")]), "only a child is listed"),
    ] {
        let before = counting.counts();
        let e = copy(from, "/x", to.clone(), "/x", &replace()).unwrap_err();
        assert_eq!((e.kind(), e.node()), (Kind::NotFound, Some("/x")), "{what}: {e:#}");
        let used = counting.counts() - before;
        assert_eq!((used.puts, used.deletes, used.delete_prefixes), (0, 0, 0), "{what}");
    }
    assert_eq!(contents(&to), everything());
}

/// Documents of one depth are copied together: first those that make no node, then those that do, and groups after
/// their children.
#[test]
fn a_copy_keeps_several_documents_in_flight() {
    let names: Vec<String> =
        (0..20).flat_map(|i| [format!("g/x{i}/.zarray"), format!("g/x{i}/.zattrs")]).collect();
    let mut objects: Vec<(&str, &str)> = names.iter().map(|name| (&name[..], ARRAY2)).collect();
    objects.extend([(".zgroup", GROUP2), ("g/.zgroup", GROUP2), ("g/.zattrs", "{}")]);
    let (storage, _) = store(&objects);
    for (options, most) in [(CopyOptions::new(), 8), (CopyOptions::new().at_once(3), 3)] {
        let (from, waited) = slow(&storage);
        let (to, _) = store(&[]);
        let copied = copy(from, "/", to.clone(), "/", &options).unwrap();
        assert_eq!((copied.documents, copied.objects), (43, 0));
        assert_eq!(waited.load(Ordering::SeqCst), most);
        assert_eq!(contents(&to), contents(&storage));
    }
}
