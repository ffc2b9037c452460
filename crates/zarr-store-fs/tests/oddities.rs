//! Other things in directories: links, pipes, devices, leftovers of writers, names that no key can have.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use tempfile::TempDir;
use zarr_store_fs::FsStore;
use zarr_traits::{
    ByteRange, Key, Prefix, Storage, StoreErrorKind, StoreResult, block_on,
    store::{Answer, List, Op, PutMode, Read, ReadBuffer, ReadVersion, Stored},
};

struct Fixture {
    dir: TempDir,
    store: FsStore,
}

impl Fixture {
    fn new() -> Self {
        let dir = TempDir::new().unwrap();
        fs::create_dir(dir.path().join("root")).unwrap();
        let store = FsStore::open(dir.path().join("root")).unwrap();
        Self { dir, store }
    }

    fn file(&self, name: &str, value: &str) {
        let path = self.dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, value).unwrap();
    }

    fn link(&self, to: &str, name: &str) {
        symlink(to, self.dir.path().join("root").join(name)).unwrap();
    }
}

fn key(key: &str) -> Key {
    Key::new(key).unwrap()
}

fn get(store: &FsStore, name: &str) -> StoreResult<Option<String>> {
    let value = block_on(Storage::from(store.clone()).get(&key(name), u64::MAX))?;
    Ok(value.map(|value| String::from_utf8(value.to_vec()).unwrap()))
}

fn list(store: &FsStore) -> StoreResult<Vec<String>> {
    let keys = block_on(Storage::from(store.clone()).list_all(&Prefix::root()))?;
    Ok(keys.into_iter().map(|listed| String::from(listed.key)).collect())
}

/// Returns the error kind of every way to read an object, or `None` without an error.
fn kinds(store: &FsStore, name: &str) -> Vec<Option<StoreErrorKind>> {
    let storage = Storage::from(store.clone());
    let (key, all, span) = (key(name), [ByteRange::All], [ByteRange::Span { offset: 0, len: 4 }]);
    let mut kinds = Vec::new();
    for version in [ReadVersion::Any, ReadVersion::Report] {
        for ranges in [&all, &span] {
            for expected in [0, 4, 5000] {
                let mut buffer = ReadBuffer::new(5000).expecting(expected);
                kinds.push(
                    block_on(storage.read(Read::new(&key, ranges, &mut buffer).version(version))).err(),
                );
            }
        }
    }
    kinds.push(block_on(storage.head(&key)).err());
    kinds.into_iter().map(|e| e.map(|e| e.kind())).collect()
}

/// Each key is listed by its own path and once through a link, not once for each order of the links.
#[test]
fn directories_that_link_to_each_other_are_listed_quickly() {
    let at = Fixture::new();
    let root = at.dir.path().join("root");
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    for name in names {
        fs::create_dir(root.join(name)).unwrap();
        fs::write(root.join(name).join("k"), "v").unwrap();
    }
    for from in names {
        for to in names.iter().filter(|to| **to != from) {
            at.link(&format!("../{to}"), &format!("{from}/to-{to}"));
        }
    }
    let keys = list(&FsStore::open(&root).unwrap()).unwrap();
    assert!(keys.contains(&"a/k".to_owned()) && keys.contains(&"a/to-b/k".to_owned()), "{keys:?}");
    assert_eq!(keys.len(), names.len() * names.len());
}

/// In a hostile directory other stores hang, or read until the memory is full.
#[test]
fn reading_a_file_that_is_not_regular_is_an_error() {
    let at = Fixture::new();
    let root = at.dir.path().join("root");
    mknodat(CWD, root.join("pipe"), FileType::Fifo, Mode::RWXU, 0).unwrap();
    let _listener = UnixListener::bind(root.join("socket")).unwrap();
    for device in ["zero", "null", "random", "tty"] {
        at.link(&format!("/dev/{device}"), device);
    }
    at.link("itself", "itself");
    for name in ["pipe", "socket", "zero", "null", "random", "tty", "itself"] {
        for kind in kinds(&at.store, name) {
            assert_eq!(kind, Some(StoreErrorKind::Io), "{name}");
        }
    }
    // They are listed, so that reading them returns the error.
    assert_eq!(list(&at.store).unwrap(), ["itself", "null", "pipe", "random", "socket", "tty", "zero"]);
}

/// A FIFO can have the name of a document, so a directory with a FIFO is not listed as if it were empty.
#[test]
fn a_directory_with_an_irregular_file_is_listed() {
    let at = Fixture::new();
    let root = at.dir.path().join("root");
    for directory in ["pipe", "device", "empty"] {
        fs::create_dir_all(root.join(directory)).unwrap();
    }
    mknodat(CWD, root.join("pipe/zarr.json"), FileType::Fifo, Mode::RWXU, 0).unwrap();
    at.link("/dev/null", "device/zarr.json");
    let dir = block_on(Storage::from(at.store.clone()).list_dir(&Prefix::root())).unwrap();
    let prefixes: Vec<&str> = dir.prefixes.iter().map(Prefix::as_str).collect();
    assert_eq!(prefixes, ["device/", "pipe/"]);
    assert!(dir.objects.is_empty());
    assert_eq!(list(&at.store).unwrap(), ["device/zarr.json", "pipe/zarr.json"]);
}

/// The disk behind a link is not mounted, or git-annex has not fetched the content: the object is not absent.
#[test]
fn what_is_behind_a_broken_link_is_an_error_and_not_absent() {
    let at = Fixture::new();
    at.file("root/a/zarr.json", "{}");
    for (to, name) in [("../../disk/c", "a/c"), ("no/where", "chunk"), ("../disk", "node"), ("b", "a/b")] {
        at.link(to, name);
    }
    // The target of a link may be a link that leads nowhere.
    at.link("chunk", "twice");
    for name in ["a/c", "a/c/0", "a/c/0/0", "chunk", "chunk/0", "node/zarr.json", "twice"] {
        for kind in kinds(&at.store, name) {
            assert_eq!(kind, Some(StoreErrorKind::Io), "{name}");
        }
    }
    let e = get(&at.store, "a/c/0/0").unwrap_err();
    assert_eq!(format!("{e:#}"), "key \"a/c/0/0\": the link \"a/c\" leads nowhere");
    for name in ["a/d", "a/d/0/0", "b", "a/zarr.json/0"] {
        assert_eq!(get(&at.store, name).unwrap(), None, "{name}");
    }
    assert_eq!(list(&at.store).unwrap(), ["a/b", "a/c", "a/zarr.json", "chunk", "node", "twice"]);
    let storage = Storage::from(at.store.clone());
    let dir = block_on(storage.list_dir(&Prefix::root())).unwrap();
    let prefixes: Vec<&str> = dir.prefixes.iter().map(Prefix::as_str).collect();
    assert_eq!(prefixes, ["a/", "chunk/", "node/", "twice/"]);
    for prefix in ["node/", "a/c/", "a/c/0/"] {
        let e = block_on(storage.list(&Prefix::new(prefix).unwrap(), None)).unwrap_err();
        assert_eq!(e.kind(), StoreErrorKind::Io, "{prefix}");
    }
    // A put replaces the link, and deleting removes it.
    block_on(storage.put(&key("chunk"), "x")).unwrap();
    assert_eq!(get(&at.store, "chunk").unwrap().unwrap(), "x");
    block_on(storage.delete(&key("a/c"))).unwrap();
    assert_eq!(get(&at.store, "a/c/0/0").unwrap(), None);
}

#[test]
fn links_out_of_the_root_are_followed_unless_confined() {
    let at = Fixture::new();
    at.file("secret", "password");
    at.file("outside/a/b", "password");
    at.file("root/data/inside", "mine");
    at.link("../secret", "file");
    at.link("../outside", "dir");
    at.link("data/../data/inside", "near");
    at.link("data", "there");

    let expected = ["data/inside", "dir/a/b", "file", "near", "there/inside"];
    assert_eq!(list(&at.store).unwrap(), expected);
    assert_eq!(get(&at.store, "file").unwrap().unwrap(), "password");

    let confined = at.store.clone().with_confinement().unwrap();
    assert_eq!(get(&confined, "near").unwrap().unwrap(), "mine");
    assert_eq!(get(&confined, "there/inside").unwrap().unwrap(), "mine");
    for name in ["file", "dir/a/b", "dir/a/absent"] {
        for kind in kinds(&confined, name) {
            assert_eq!(kind, Some(StoreErrorKind::PermissionDenied), "{name}");
        }
    }
    assert_eq!(list(&confined).unwrap(), ["data/inside", "dir", "file", "near", "there/inside"]);
    let storage = Storage::from(confined.clone());
    let e = block_on(storage.put(&key("dir/a/new"), "x")).unwrap_err();
    assert_eq!(e.kind(), StoreErrorKind::PermissionDenied, "{e:#}");
    let e = block_on(storage.delete_if(&key("dir/a/b"), None)).unwrap_err();
    assert_eq!(e.kind(), StoreErrorKind::PermissionDenied, "{e:#}");
    let outside = |name| fs::read_to_string(at.dir.path().join(name)).unwrap();
    assert_eq!(outside("outside/a/b"), "password");

    // A put replaces a link, and deleting its prefix deletes the link. Neither follows it.
    block_on(storage.put(&key("file"), "new")).unwrap();
    block_on(Storage::from(at.store.clone()).delete_prefix(&Prefix::root())).unwrap();
    assert_eq!((&*outside("secret"), &*outside("outside/a/b")), ("password", "password"));
    assert!(list(&at.store).unwrap().is_empty());
}

#[test]
fn deleting_a_prefix_removes_a_link_and_keeps_its_target() {
    let at = Fixture::new();
    at.file("outside/a/b", "theirs");
    at.link("../outside", "dir");
    let storage = Storage::from(at.store.clone());
    block_on(storage.delete_prefix(&Prefix::new("dir/").unwrap())).unwrap();
    assert_eq!(get(&at.store, "dir/a/b").unwrap(), None);
    assert_eq!(fs::read_to_string(at.dir.path().join("outside/a/b")).unwrap(), "theirs");
}

#[test]
fn a_link_to_a_parent_directory_is_neither_followed_nor_listed() {
    let at = Fixture::new();
    at.file("root/a/b/c", "x");
    at.link("..", "a/b/up");
    // The listing would be endless, and an error would hide everything else.
    assert_eq!(list(&at.store).unwrap(), ["a/b/c"]);
    assert_eq!(get(&at.store, "a/b/up/b/c").unwrap().unwrap(), "x");
}

#[test]
fn memory_is_not_taken_for_an_object_beyond_the_limit() {
    let at = Fixture::new();
    fs::File::create(at.store.path().join("huge")).unwrap().set_len(1 << 40).unwrap();
    let (key, limit) = (key("huge"), 1 << 30);
    let mut buffer = ReadBuffer::new(limit).expecting(limit);
    let read = Read::new(&key, &[ByteRange::All], &mut buffer);
    let e = block_on(Storage::from(at.store.clone()).read(read)).unwrap_err();
    assert_eq!(e.kind(), StoreErrorKind::TooLarge { size: Some(1 << 40) }, "{e:#}");
    let Stored::Memory { memory, .. } = buffer.into_stored() else { panic!("no memory is shared") };
    assert_eq!(memory.capacity(), 0);
}

#[test]
fn a_listing_that_refuses_links_refuses_those_to_directories() {
    let at = Fixture::new();
    at.file("root/a/k", "x");
    at.file("outside/k", "theirs");
    let storage = Storage::from(at.store.clone());
    let list = || {
        let (root, below) = (Prefix::root(), Prefix::new("a/").unwrap());
        let all = block_on(storage.call(Op::List(List::new(&root).refusing_links())));
        let some = block_on(storage.call(Op::List(List::new(&below).refusing_links())));
        [all, some].map(|answer| {
            answer.and_then(Answer::into_page).map(|page| page.entries.len()).map_err(|e| e.kind())
        })
    };
    // A put replaces a link to a file, and does not follow it.
    at.link("../outside/k", "file");
    assert_eq!(list(), [Ok(2), Ok(1)]);
    for (to, name) in [("../outside", "b"), ("a", "here"), ("..", "a/up")] {
        at.link(to, name);
        assert_eq!(list()[0], Err(StoreErrorKind::PermissionDenied), "{name}");
        assert_eq!(list()[1].is_err(), name.starts_with("a/"), "{name}");
        fs::remove_file(at.store.path().join(name)).unwrap();
    }
}

#[test]
fn leftovers_of_writers_are_neither_listed_nor_keys() {
    let at = Fixture::new();
    at.file("root/a/zarr.json", "{}");
    let leftovers = [
        "a/zarr.json_00c0ffee00c0ffee.__lock",
        "a/c.__lock",
        "a/zarr.0123abcd.partial",
        "b/d.__lock",
        "e.partial/f",
    ];
    for name in leftovers {
        at.file(&format!("root/{name}"), "half of a val");
    }
    assert_eq!(list(&at.store).unwrap(), ["a/zarr.json"]);
    let storage = Storage::from(at.store.clone());
    let dir = block_on(storage.list_dir(&Prefix::root())).unwrap();
    assert_eq!(dir.prefixes, [Prefix::new("a/").unwrap()], "b/ holds no object");
    for name in leftovers {
        assert_eq!(get(&at.store, name).unwrap_err().kind(), StoreErrorKind::InvalidArgument);
        assert_eq!(
            block_on(storage.put(&key(name), "x")).unwrap_err().kind(),
            StoreErrorKind::InvalidArgument
        );
    }
    for name in ["a/", "b/"] {
        block_on(storage.delete_prefix(&Prefix::new(name).unwrap())).unwrap();
    }
    let left: Vec<_> =
        fs::read_dir(at.store.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["e.partial"]);
}

/// Other stores panic on them.
#[test]
fn names_that_no_key_can_have_are_not_listed() {
    let at = Fixture::new();
    at.file("root/a", "x");
    for name in [&b"\xFF\xFE"[..], b"back\\slash"] {
        fs::write(at.store.path().join(OsStr::from_bytes(name)), "x").unwrap();
    }
    assert_eq!(list(&at.store).unwrap(), ["a"]);
}

#[test]
fn an_object_cannot_also_be_a_directory() {
    let at = Fixture::new();
    let storage = Storage::from(at.store.clone());
    block_on(storage.put(&key("a/b/c"), "x")).unwrap();
    for how in [PutMode::Replace, PutMode::Create] {
        let e = block_on(storage.put_if(&key("a"), &["y".into()], how)).unwrap_err();
        assert_eq!(e.kind(), StoreErrorKind::Io, "{e:#}");
        let e = block_on(storage.put_if(&key("a/b/c/d"), &["y".into()], how)).unwrap_err();
        assert_eq!(e.kind(), StoreErrorKind::Io, "{e:#}");
    }
    assert_eq!(get(&at.store, "a").unwrap(), None);
    assert_eq!(get(&at.store, "a/b/c").unwrap().unwrap(), "x");
    // Once it is empty, it is not a prefix any more and gives way.
    assert!(block_on(storage.delete_if(&key("a/b/c"), None)).is_ok());
    for how in [PutMode::Create, PutMode::Replace] {
        assert!(block_on(storage.put_if(&key("a"), &["y".into()], how)).is_ok());
    }
    assert_eq!(list(&at.store).unwrap(), ["a"]);
}

#[test]
fn a_path_that_is_too_long_is_an_error_that_names_the_key() {
    let at = Fixture::new();
    let name = ["0123456789"; 500].join("/");
    let e = block_on(Storage::from(at.store.clone()).put(&key(&name), "x")).unwrap_err();
    assert_eq!((e.kind(), e.key()), (StoreErrorKind::InvalidArgument, Some(&*name)));
}
