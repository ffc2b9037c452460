//! Lock files: other files in their place, leftovers of dead writers, and working without lock files.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use nix::fcntl::{FcntlArg, fcntl};
use nix::libc;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use tempfile::TempDir;
use zarr_store_fs::FsStore;
use zarr_traits::{
    ByteRange, Key, Prefix, Storage, StoreErrorKind, StoreResult, block_on,
    store::{Outcome, PutMode, ReadVersion},
};

/// Returns the store as a storage.
fn on(store: &FsStore) -> Storage {
    Storage::from(store.clone())
}

const HOUR: Duration = Duration::from_secs(3600);

struct Fixture {
    dir: TempDir,
    store: FsStore,
}

impl Fixture {
    fn new() -> Self {
        let dir = TempDir::new().unwrap();
        let store = FsStore::open(dir.path()).unwrap().with_lock_timeout(Duration::from_millis(50));
        Self { dir, store }
    }

    /// Makes a file of a writer that died long ago.
    fn leftover(&self, name: &str, content: &str) -> File {
        let path = self.dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        let file = File::options().write(true).open(path).unwrap();
        file.set_modified(SystemTime::now() - 2 * HOUR).unwrap();
        file
    }

    /// Makes a file of a running writer; it is locked while the file is open.
    fn locked(&self, name: &str) -> File {
        let file = self.leftover(name, "");
        assert!(try_lock(&file));
        file
    }

    fn names(&self, dir: &str) -> BTreeSet<String> {
        let entries = fs::read_dir(self.dir.path().join(dir)).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.dir.path().join(name)).unwrap()
    }

    fn delete_prefix(&self, prefix: &str) -> StoreResult<()> {
        block_on(on(&self.store).delete_prefix(&Prefix::new(prefix).unwrap()))
    }
}

fn try_lock(file: &File) -> bool {
    let whole = libc::flock { l_type: 1, l_whence: 0, l_start: 0, l_len: 0, l_pid: 0 };
    fcntl(file, FcntlArg::F_OFD_SETLK(&whole)).is_ok()
}

/// Takes a lock file as the protocol says.
fn taken(path: &Path) -> File {
    loop {
        let file = File::options().create(true).truncate(false).write(true).open(path).unwrap();
        let ino = file.metadata().unwrap().ino();
        while !try_lock(&file) {
            thread::yield_now();
        }
        if fs::metadata(path).is_ok_and(|there| there.ino() == ino) {
            return file;
        }
    }
}

fn key(key: &str) -> Key {
    Key::new(key).unwrap()
}

fn put(store: &FsStore, name: &str, value: &str) -> StoreResult<Outcome> {
    block_on(on(store).put_if(&key(name), &[value.to_owned().into()], PutMode::Replace))
}

fn set<const N: usize>(names: [&str; N]) -> BTreeSet<String> {
    names.map(str::to_owned).into()
}

/// TensorStore renames its lock file to the object: data left in it gets into its next value.
#[test]
fn a_lock_file_of_a_dead_writer_is_taken_over_without_its_content() {
    let at = Fixture::new();
    for content in [String::new(), "stale".repeat(1000)] {
        at.leftover("a/k.__lock", &content);
        let _ = put(&at.store, "a/k", "value").unwrap();
        assert_eq!(at.read("a/k"), "value");
        assert_eq!(at.names("a"), set(["k"]));
    }
    at.leftover("a/k.__lock", "stale");
    let _ = block_on(on(&at.store).delete_if(&key("a/k"), None)).unwrap();
    assert!(at.names("a").is_empty());
}

/// In a hostile directory other stores hang, or write elsewhere.
#[test]
fn a_lock_that_is_not_a_regular_file_is_an_error() {
    let at = Fixture::new();
    let root = at.dir.path();
    at.leftover("precious", "precious");
    for name in ["dir", "pipe", "link", "nowhere"] {
        at.leftover(name, "old");
    }
    fs::create_dir(root.join("dir.__lock")).unwrap();
    mknodat(CWD, root.join("pipe.__lock"), FileType::Fifo, Mode::RWXU, 0).unwrap();
    symlink("precious", root.join("link.__lock")).unwrap();
    symlink("new", root.join("nowhere.__lock")).unwrap();
    // Only with a reader can a pipe be opened for writing without waiting.
    let reader = || File::options().read(true).write(true).open(root.join("pipe.__lock")).unwrap();
    for has_reader in [false, true] {
        let reader = has_reader.then(reader);
        for name in ["dir", "pipe", "link", "nowhere"] {
            let delete = || block_on(on(&at.store).delete_if(&key(name), None));
            for e in [put(&at.store, name, "new").unwrap_err(), delete().unwrap_err()] {
                assert_eq!(e.kind(), StoreErrorKind::Io, "{e:#}");
                assert!(format!("{e:#}").contains(&format!("{name}.__lock is not a regular file")), "{e:#}");
            }
            assert_eq!(at.read(name), "old");
        }
        drop(reader);
    }
    assert_eq!(at.read("precious"), "precious");
    assert!(!root.join("new").exists());
}

#[test]
fn a_new_value_is_not_lost_beside_a_writer_that_found_no_object() {
    beside_a_writer_that_found_no_object(256);
}

#[test]
#[ignore = "large: cargo xtask full"]
fn large_a_new_value_is_not_lost_beside_a_writer_that_found_no_object() {
    beside_a_writer_that_found_no_object(3000);
}

/// As TensorStore does: the other writer finds no object while it holds the lock, and renames its lock file to the object.
fn beside_a_writer_that_found_no_object(rounds: u32) {
    let at = Fixture::new();
    let (object, lock) = (at.dir.path().join("a/k"), at.dir.path().join("a/k.__lock"));
    fs::create_dir(at.dir.path().join("a")).unwrap();
    let patient = at.store.clone().with_lock_timeout(HOUR);
    let mut renamed = 0;
    for round in 0..rounds {
        let start = Barrier::new(2);
        thread::scope(|scope| {
            let other = scope.spawn(|| {
                start.wait();
                // Begins at different moments of the put.
                (0..round % 64 * 16).for_each(|_| std::hint::spin_loop());
                let held = taken(&lock);
                let absent = !object.exists();
                if absent {
                    fs::write(&lock, "theirs").unwrap();
                    fs::rename(&lock, &object).unwrap();
                } else {
                    fs::remove_file(&lock).unwrap();
                }
                drop(held);
                absent
            });
            start.wait();
            let _ = put(&patient, "a/k", "ours").unwrap();
            renamed += u32::from(other.join().unwrap());
        });
        assert_eq!(at.read("a/k"), "ours", "round {round}");
        fs::remove_file(&object).unwrap();
    }
    assert!(renamed > 0, "the other writer was never the first");
    assert_eq!(at.names("a"), set([]));
}

#[test]
fn a_new_object_whose_lock_is_held_is_visible_and_the_end_of_the_wait_is_uncertain() {
    let at = Fixture::new();
    let held = at.locked("a/k.__lock");
    let e = put(&at.store, "a/k", "new").unwrap_err();
    // Where files without a name are refused, the object is not visible before the writer has the lock.
    let (kind, names): (_, &[&str]) = match at.names("a").contains("k") {
        true => (StoreErrorKind::Uncertain, &["k", "k.__lock"]),
        false => (StoreErrorKind::Io, &["k.__lock"]),
    };
    assert_eq!(e.kind(), kind, "{e:#}");
    assert!(format!("{e:#}").contains("a/k.__lock"), "{e:#}");
    assert_eq!(at.names("a"), names.iter().map(|name| (*name).to_owned()).collect());
    drop(held);
    let _ = put(&at.store, "a/k", "newer").unwrap();
    assert_eq!((at.read("a/k"), at.names("a")), ("newer".to_owned(), set(["k"])));
}

#[test]
fn a_missing_object_is_deleted_without_a_lock() {
    let at = Fixture::new();
    let _held = at.locked("a/k.__lock");
    let _ = block_on(on(&at.store).delete_if(&key("a/k"), None)).unwrap();
    let _ = block_on(on(&at.store).delete_if(&key("b/k"), None)).unwrap();
    assert_eq!(at.names(""), set(["a"]), "no directory is created");
}

#[test]
fn a_single_writer_uses_no_lock_files() {
    let at = Fixture::new();
    let single = at.store.clone().with_single_writer();
    let _held = at.locked("a/k.__lock");
    assert!(put(&at.store, "a/k", "value").is_err());
    let _ = put(&single, "a/k", "value").unwrap();
    let reply =
        block_on(on(&single).get_ranges(&key("a/k"), &[ByteRange::All], ReadVersion::Report, u64::MAX))
            .unwrap()
            .unwrap();
    let unchanged = PutMode::IfUnchanged(reply.version.as_ref().unwrap());
    let update = || block_on(on(&single).put_if(&key("a/k"), &["new".into()], unchanged)).unwrap();
    assert_ne!(update(), Outcome::Conflict);
    assert_eq!(update(), Outcome::Conflict);
    assert_eq!(at.names("a"), set(["k", "k.__lock"]));
    let _ = block_on(on(&single).delete_if(&key("a/k"), None)).unwrap();
    assert_eq!(at.names("a"), set(["k.__lock"]));
}

/// The names of the object and of its lock file cannot both be legal then.
#[test]
fn a_name_too_long_for_a_lock_file_can_be_put_but_not_updated() {
    let at = Fixture::new();
    let key = key(&format!("a/{}", "x".repeat(250)));
    let put = |store: &FsStore, how| block_on(on(store).put_if(&key, &["v".into()], how));
    let Outcome::Done(Some(version)) = put(&at.store, PutMode::Create).unwrap() else {
        panic!("the key is new")
    };
    assert_eq!(put(&at.store, PutMode::Create).unwrap(), Outcome::Conflict);
    let _ = put(&at.store, PutMode::Replace).unwrap();
    let version =
        block_on(on(&at.store).head(&key)).unwrap().and_then(|stat| stat.version).unwrap_or(version);
    let e = put(&at.store, PutMode::IfUnchanged(&version)).unwrap_err();
    assert_eq!(e.kind(), StoreErrorKind::Unsupported, "{e:#}");
    let e = block_on(on(&at.store).delete_if(&key, Some(&version))).unwrap_err();
    assert_eq!(e.kind(), StoreErrorKind::Unsupported, "{e:#}");
    assert_ne!(
        put(&at.store.clone().with_single_writer(), PutMode::IfUnchanged(&version)).unwrap(),
        Outcome::Conflict
    );
    let _ = block_on(on(&at.store).delete_if(&key, None)).unwrap();
    assert!(at.names("a").is_empty());
}

#[test]
fn deleting_a_prefix_waits_for_writers_and_leaves_their_files_alone() {
    let at = Fixture::new();
    let _ = put(&at.store, "a/b/k", "value").unwrap();
    let _ = put(&at.store, "a/c/k", "value").unwrap();
    at.leftover("a/c/gone.__lock", "");
    at.leftover("a/c/gone_00c0ffee00c0ffee.__lock", "half of a val");
    let held = at.locked("a/b/k.__lock");
    let e = at.delete_prefix("a/").unwrap_err();
    assert!(format!("{e:#}").contains("a/b/k.__lock"), "{e:#}");
    assert_eq!(at.read("a/b/k"), "value");
    drop(held);

    let first = at.locked("a/b/first.__lock");
    // This is the name of a temporary file, and of the lock of another key.
    let second = at.locked("a/b/k_00c0ffee00c0ffee.__lock");
    at.delete_prefix("a/").unwrap();
    assert_eq!(at.names("a"), set(["b"]));
    assert_eq!(at.names("a/b"), set(["first.__lock", "k_00c0ffee00c0ffee.__lock"]));
    drop((first, second));
    at.delete_prefix("a/").unwrap();
    assert!(at.names("").is_empty());
}

/// The same without locks.
#[test]
fn a_directory_deleted_under_the_lock_is_made_again() {
    let at = Fixture::new();
    let store = FsStore::open(at.dir.path()).unwrap();
    thread::scope(|scope| {
        let writers = [(); 2].map(|()| {
            scope.spawn(|| {
                for i in 0..300 {
                    match put(&store, &format!("a/b/{}", i % 3), "value") {
                        Ok(outcome) => assert_ne!(outcome, Outcome::Conflict),
                        Err(e) => assert!(format!("{e:#}").contains("deleted repeatedly"), "{e:#}"),
                    }
                }
            })
        });
        while !writers.iter().all(|writer| writer.is_finished()) {
            let _ = fs::remove_dir_all(at.dir.path().join("a"));
        }
    });
    let start = Instant::now();
    let _ = put(&store, "a/b/0", "last").unwrap();
    assert!(start.elapsed() < Duration::from_secs(5));
    at.delete_prefix("a/").unwrap();
    assert!(at.names("").is_empty());
}

#[test]
fn sweeping_deletes_only_files_of_dead_writers() {
    let at = Fixture::new();
    let leftovers = ["k.__lock", "a/b/k_00c0ffee00c0ffee.__lock", "a/long.__lock"];
    for name in leftovers {
        at.leftover(name, "half of a val");
    }
    for name in ["a/b/k", "a/of_zarr_python.partial"] {
        at.leftover(name, "value");
    }
    let held = at.locked("a/held.__lock");
    let young = at.leftover("a/young.__lock", "");
    young.set_modified(SystemTime::now()).unwrap();
    let outside = TempDir::new().unwrap();
    fs::write(outside.path().join("theirs.__lock"), "").unwrap();
    symlink(outside.path(), at.dir.path().join("link")).unwrap();

    assert_eq!(at.store.sweep(3 * HOUR).unwrap(), 0);
    assert_eq!(at.store.sweep(HOUR).unwrap(), 3);
    assert_eq!(at.names(""), set(["a", "link"]));
    assert_eq!(at.names("a"), set(["b", "held.__lock", "of_zarr_python.partial", "young.__lock"]));
    assert_eq!(at.names("a/b"), set(["k"]));
    assert!(outside.path().join("theirs.__lock").exists());
    drop(held);
    assert_eq!(at.store.sweep(Duration::ZERO).unwrap(), 2);
    assert_eq!(at.store.sweep(Duration::MAX).unwrap(), 0);
}

/// A put succeeds even if its temporary file was swept as a leftover.
#[test]
fn sweeping_does_not_disturb_a_running_writer() {
    let at = Fixture::new();
    let store = FsStore::open(at.dir.path()).unwrap();
    thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for i in 0..300 {
                let _ = put(&store, "a/k", &i.to_string()).unwrap();
            }
        });
        while !writer.is_finished() {
            at.store.sweep(Duration::ZERO).unwrap();
        }
    });
    assert_eq!(at.read("a/k"), "299");
    assert_eq!(at.names("a"), set(["k"]));
}
