//! Writes that fail or conflict, and what they leave behind.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Barrier;
use std::thread;

use tempfile::TempDir;
use zarr_store_fs::{Durability, FsStore};
use zarr_traits::{
    ByteRange, Key, Prefix, Storage, StoreErrorKind, block_on,
    store::{Copied, Outcome, PutMode, ReadVersion},
};

fn key(key: &str) -> Key {
    Key::new(key).unwrap()
}

fn names(dir: &Path) -> BTreeSet<String> {
    fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn open_does_not_create_and_create_does_not_empty() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("some/where");
    let e = FsStore::open(&path).unwrap_err();
    assert_eq!(
        format!("{e:#}"),
        format!("cannot open the directory {}: No such file or directory (os error 2)", path.display())
    );
    let storage = Storage::from(FsStore::create(&path).unwrap());
    block_on(storage.put(&key("a"), "x")).unwrap();
    assert!(
        block_on(Storage::from(FsStore::create(&path).unwrap()).get(&key("a"), u64::MAX)).unwrap().is_some()
    );
    assert!(FsStore::open(path.join("a")).is_err(), "a file cannot be the root");
}

/// The number of a file that is too large, on all systems.
const EFBIG: i32 = 27;

/// A full disk, met halfway: here the limit of the file size, which holds for every user.
#[test]
fn a_write_that_fails_leaves_the_old_value_and_no_leftovers() {
    const STORE: &str = "STORE_OF_A_WRITE_THAT_FAILS";
    const SOURCE: &str = "SOURCE_OF_A_COPY_THAT_FAILS";
    if let (Ok(dir), Ok(source)) = (std::env::var(STORE), std::env::var(SOURCE)) {
        let source = Storage::from(FsStore::open(source).unwrap());
        let unseen = Storage::from(FsStore::open(&dir).unwrap().with_no_readers());
        let e = block_on(unseen.copy_from(&source, &key("large"), &key("new"))).unwrap_err();
        assert_eq!((e.kind(), e.raw_os_error()), (StoreErrorKind::Io, Some(EFBIG)), "{e:#}");
        let storage = Storage::from(FsStore::open(dir).unwrap());
        let e = block_on(storage.put(&key("k"), vec![1; 1 << 20])).unwrap_err();
        assert_eq!((e.kind(), e.key()), (StoreErrorKind::Io, Some("k")), "{e:#}");
        assert_eq!(e.raw_os_error(), Some(EFBIG), "{e:#}");
        return;
    }
    let dir = TempDir::new().unwrap();
    let storage = Storage::from(FsStore::open(dir.path()).unwrap());
    block_on(storage.put(&key("k"), "old")).unwrap();
    let source = TempDir::new().unwrap();
    fs::write(source.path().join("large"), vec![1; 1 << 20]).unwrap();
    let limited = "trap '' XFSZ; ulimit -f 64; exec \"$0\" --exact writing::a_write_that_fails_leaves_the_old_value_and_no_leftovers";
    let this = std::env::current_exe().unwrap();
    let mut child = Command::new("sh");
    child.args(["-c", limited]).arg(this).env(STORE, dir.path()).env(SOURCE, source.path());
    let child = child.output().unwrap();
    assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stdout));
    assert_eq!(block_on(storage.get(&key("k"), u64::MAX)).unwrap().unwrap(), "old");
    assert_eq!(names(dir.path()), BTreeSet::from(["k".to_owned()]));
}

/// A copy under a hidden name grows so.
#[test]
fn copies_without_readers_are_whole_also_if_something_is_there_or_the_directory_was_deleted() {
    let [from, to] = [(); 2].map(|()| TempDir::new().unwrap());
    let source = Storage::from(FsStore::open(from.path()).unwrap());
    let store = FsStore::open(to.path()).unwrap().with_no_readers();
    let storage = Storage::from(store);
    for (name, value) in [("a/1", "one"), ("a/2", ""), ("b/1", "other")] {
        block_on(source.put(&key(name), value)).unwrap();
    }
    let copy = |from: &str, to: &str| block_on(storage.copy_from(&source, &key(from), &key(to))).unwrap();
    let read = |name: &str| fs::read_to_string(to.path().join(name)).unwrap();
    for name in ["a/1", "a/2", "b/1", "a/1"] {
        assert_eq!(copy(name, name), Copied::Done);
        assert_eq!(read(name), fs::read_to_string(from.path().join(name)).unwrap(), "{name}");
    }
    // What is there, such as a part that a dead process has left, is replaced.
    fs::write(to.path().join("b/1"), "oth").unwrap();
    assert_eq!(copy("b/1", "b/1"), Copied::Done);
    assert_eq!(read("b/1"), "other");
    fs::create_dir(to.path().join("c")).unwrap();
    assert_eq!(copy("b/1", "c"), Copied::Done);
    assert_eq!(read("c"), "other");
    assert_eq!(copy("a/1", "a/1"), Copied::Done);
    block_on(storage.delete_prefix(&Prefix::new("a/").unwrap())).unwrap();
    assert_eq!(copy("a/1", "a/3"), Copied::Done);
    assert_eq!(read("a/3"), "one");
    assert_eq!(copy("a/4", "a/4"), Copied::Absent);
    assert_eq!(names(to.path()), ["a", "b", "c"].map(str::to_owned).into());
    assert_eq!(names(&to.path().join("a")), BTreeSet::from(["3".to_owned()]));
}

#[test]
fn a_directory_that_may_not_be_written_to_is_named_by_its_number() {
    use std::os::unix::fs::PermissionsExt;
    const EACCES: i32 = 13;
    let dir = TempDir::new().unwrap();
    let storage = Storage::from(FsStore::open(dir.path()).unwrap());
    let mode = |mode| fs::set_permissions(dir.path(), fs::Permissions::from_mode(mode)).unwrap();
    mode(0o555);
    let put = block_on(storage.put(&key("k"), "v"));
    mode(0o755);
    // The superuser may write everywhere.
    if let Err(e) = put {
        assert_eq!((e.kind(), e.raw_os_error()), (StoreErrorKind::PermissionDenied, Some(EACCES)), "{e:#}");
    }
}

#[test]
fn conflicts_leave_no_leftovers() {
    let dir = TempDir::new().unwrap();
    let storage = Storage::from(FsStore::open(dir.path()).unwrap());
    let put = |how| block_on(storage.put_if(&key("k"), &["v".into()], how)).unwrap();
    let Outcome::Done(Some(first)) = put(PutMode::Create) else { panic!("the object existed") };
    assert_eq!(put(PutMode::Create), Outcome::Conflict);
    assert_ne!(put(PutMode::IfUnchanged(&first)), Outcome::Conflict);
    assert_eq!(put(PutMode::IfUnchanged(&first)), Outcome::Conflict);
    assert_eq!(names(dir.path()), BTreeSet::from(["k".to_owned()]));
}

/// Two programs that create the same array, each with its own store.
#[test]
fn only_one_of_many_stores_creates_an_object() {
    let dir = TempDir::new().unwrap();
    let stores = [0; 4].map(|_| Storage::from(FsStore::open(dir.path()).unwrap()));
    let start = Barrier::new(stores.len());
    let create = |storage: &Storage| -> Vec<bool> {
        let round = |round| {
            start.wait();
            let key = key(&format!("a/{round}"));
            block_on(storage.put_if(&key, &["v".into()], PutMode::Create)).unwrap() != Outcome::Conflict
        };
        (0..300).map(round).collect()
    };
    let created: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = stores.iter().map(|store| scope.spawn(|| create(store))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    for round in 0..300 {
        assert_eq!(created.iter().filter(|created| created[round]).count(), 1, "round {round}");
    }
}

/// Inode numbers are reused at once. A version that keeps its file open stays unique.
#[test]
fn a_version_stays_unique_while_it_is_held() {
    let dir = TempDir::new().unwrap();
    let storage = Storage::from(FsStore::open(dir.path()).unwrap());
    let put = |value: &'static str| {
        let _ = block_on(storage.put_if(&key("k"), &[value.into()], PutMode::Replace)).unwrap();
        let reply =
            block_on(storage.get_ranges(&key("k"), &[ByteRange::All], ReadVersion::Report, 9)).unwrap();
        reply.and_then(|reply| reply.version).unwrap()
    };
    let first = put("a");
    let modified = std::fs::metadata(dir.path().join("k")).unwrap().modified().unwrap();
    let told = first.modified().unwrap();
    assert!(told <= modified && modified < told + std::time::Duration::from_secs(1));
    for _ in 0..200 {
        assert_ne!(put("b"), first);
    }
    // It can still be read, without its path.
    let reply = block_on(storage.get_ranges(&key("k"), &[ByteRange::All], ReadVersion::Pinned(&first), 9))
        .unwrap()
        .unwrap();
    assert_eq!(reply.bytes[0], "a");
}

#[test]
fn a_directory_deleted_under_its_writers_is_made_again() {
    let dir = TempDir::new().unwrap();
    let storage = Storage::from(FsStore::open(dir.path()).unwrap());
    let prefix = Prefix::new("a/").unwrap();
    thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for i in 0..500 {
                match block_on(storage.put_if(&key(&format!("a/b/c/{i}")), &["v".into()], PutMode::Replace)) {
                    Ok(outcome) => assert_ne!(outcome, Outcome::Conflict),
                    Err(e) => assert!(format!("{e:#}").contains("deleted repeatedly"), "{e:#}"),
                }
            }
        });
        while !writer.is_finished() {
            block_on(storage.delete_prefix(&prefix)).unwrap();
        }
    });
    block_on(storage.delete_prefix(&prefix)).unwrap();
    assert!(names(dir.path()).is_empty());
}

#[test]
fn sync_returns_and_a_deleted_root_is_an_error() {
    let dir = TempDir::new().unwrap();
    let storage = Storage::from(FsStore::open(dir.path()).unwrap());
    block_on(storage.sync()).unwrap();
    dir.close().unwrap();
    let e = block_on(storage.put_if(&key("a/b"), &["v".into()], PutMode::Replace)).unwrap_err();
    assert_eq!(e.kind(), StoreErrorKind::Io, "{e:#}");
    assert!(block_on(storage.head(&key("a/b"))).unwrap().is_none());
}

/// A private document stays private when it is rewritten. Only root can make files of other owners.
#[test]
fn a_rewrite_keeps_the_permissions_and_the_owner_of_a_file() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
    let dir = TempDir::new().unwrap();
    let atomic = FsStore::open(dir.path()).unwrap();
    let durable = FsStore::open(dir.path()).unwrap().with_durability(Durability::Durable);
    let path = dir.path().join("k");
    for (what, store) in [("without a name", atomic.clone()), ("with a name", atomic), ("durable", durable)] {
        let storage = Storage::from(store);
        for mode in [0o600, 0o640, 0o444, 0o666, 0o4755] {
            block_on(storage.put(&key("k"), "old")).unwrap();
            let is_root = fs::metadata(&path).unwrap().uid() == 0;
            if is_root {
                chown(&path, Some(65534), Some(65534)).unwrap();
            }
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            let before = fs::metadata(&path).unwrap();
            block_on(storage.put(&key("k"), "new")).unwrap();
            let after = fs::metadata(&path).unwrap();
            assert_eq!(fs::read(&path).unwrap(), b"new");
            assert_eq!(after.mode() & 0o7777, mode & 0o777, "{what}, {mode:o}");
            assert_eq!((after.uid(), after.gid()), (before.uid(), before.gid()), "{what}, {mode:o}");
        }
        fs::remove_file(&path).unwrap();
    }
}
