//! Writers in several processes, some of which die.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::fcntl::{FcntlArg, fcntl};
use nix::libc;
use tempfile::TempDir;
use zarr_store_fs::FsStore;
use zarr_traits::{
    ByteRange, Bytes, Key, Storage, StoreErrorKind, StoreResult, Version, block_on,
    store::{Outcome, PutMode, ReadVersion},
};

/// Returns the store as a storage.
fn on(store: &FsStore) -> Storage {
    Storage::from(store.clone())
}

/// The environment variable with the directory, for a process that a test starts.
const DIR: &str = "DIRECTORY_OF_A_TEST";
/// The environment variable with the number of the process.
const NUMBER: &str = "NUMBER_OF_A_PROCESS";

fn key() -> Key {
    Key::new("a/k").unwrap()
}

fn put(store: &FsStore, value: impl Into<Bytes>, how: PutMode<'_>) -> StoreResult<Outcome> {
    block_on(on(store).put_if(&key(), &[value.into()], how))
}

fn read(store: &FsStore) -> (Bytes, Version) {
    let reply = block_on(on(store).get_ranges(&key(), &[ByteRange::All], ReadVersion::Report, u64::MAX))
        .unwrap()
        .unwrap();
    (reply.bytes[0].clone(), reply.version.unwrap())
}

fn names(dir: &Path) -> BTreeSet<String> {
    fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

fn random(below: u64) -> u64 {
    RandomState::new().build_hasher().finish() % below
}

/// Runs this test again in a new process, where [`role`] is not `None`.
fn start(test: &str, dir: &Path, number: usize) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", &format!("processes::{test}")]).env(DIR, dir).env(NUMBER, number.to_string());
    command.stdout(Stdio::null()).spawn().unwrap()
}

fn role() -> Option<(PathBuf, usize)> {
    Some((std::env::var_os(DIR)?.into(), std::env::var(NUMBER).unwrap().parse().unwrap()))
}

fn wait_for(file: &Path) {
    while !file.exists() {
        thread::sleep(Duration::from_micros(200));
    }
}

/// Adds one to a counter in the object, with as many attempts as needed. Returns the old value.
fn count(store: &FsStore, number: usize) -> u8 {
    loop {
        let (value, version) = read(store);
        let mut counters = value.to_vec();
        counters[number] += 1;
        if put(store, counters, PutMode::IfUnchanged(&version)).unwrap() != Outcome::Conflict {
            return value[number];
        }
    }
}

/// Two programs that update parts of one chunk, each with its own store.
#[test]
fn stores_of_one_directory_lose_no_update() {
    let dir = TempDir::new().unwrap();
    let _ = put(&FsStore::open(dir.path()).unwrap(), vec![0; 4], PutMode::Replace).unwrap();
    thread::scope(|scope| {
        for number in 0..4 {
            let store = FsStore::open(dir.path()).unwrap();
            scope.spawn(move || {
                for i in 0..250 {
                    assert_eq!(count(&store, number), i, "an update of {number} was lost");
                }
            });
        }
    });
    assert_eq!(read(&FsStore::open(dir.path()).unwrap()).0, [250; 4][..]);
    assert_eq!(names(&dir.path().join("a")), BTreeSet::from(["k".to_owned()]));
}

/// The same with processes that are killed and continue.
#[test]
fn processes_lose_no_update_when_some_are_killed() {
    const UPDATES: u8 = 200;
    if let Some((dir, number)) = role() {
        let store = FsStore::open(dir.join("store")).unwrap();
        // The length of this file is the number of updates known to be done.
        let path = dir.join(number.to_string());
        let mut log = OpenOptions::new().create(true).append(true).open(&path).unwrap();
        let done = u8::try_from(fs::metadata(path).unwrap().len()).unwrap();
        let counted = read(&store).0[number];
        assert!([done, done + 1].contains(&counted), "{counted} updates of {number} where {done} were done");
        // The process was killed after an update, before it had noted it.
        (done..counted).for_each(|_| log.write_all(b"x").unwrap());
        for i in counted..UPDATES {
            assert_eq!(count(&store, number), i, "an update of {number} was lost");
            log.write_all(b"x").unwrap();
        }
        return;
    }
    let dir = TempDir::new().unwrap();
    let store = FsStore::create(dir.path().join("store")).unwrap();
    let _ = put(&store, vec![0; 4], PutMode::Replace).unwrap();
    let start = |number| start("processes_lose_no_update_when_some_are_killed", dir.path(), number);
    let mut processes: Vec<_> = (0..4).map(start).collect();
    for _ in 0..16 {
        thread::sleep(Duration::from_millis(5 + random(20)));
        let number = usize::try_from(random(4)).unwrap();
        let process = &mut processes[number];
        if process.try_wait().unwrap().is_none_or(|status| !status.success()) {
            process.kill().unwrap();
            process.wait().unwrap();
        }
        *process = start(number);
    }
    for mut process in processes {
        assert!(process.wait().unwrap().success());
    }
    assert_eq!(read(&store).0, [UPDATES; 4][..]);
}

#[test]
fn a_killed_writer_leaves_a_whole_value_and_blocks_no_other() {
    const SIZE: usize = 20_000;
    if let Some((dir, _)) = role() {
        let store = FsStore::open(&dir).unwrap();
        for i in 0_u8.. {
            let _ = put(&store, vec![i; SIZE + usize::from(i)], PutMode::Replace).unwrap();
            File::create(dir.join("started")).unwrap();
        }
    }
    let dir = TempDir::new().unwrap();
    let store = FsStore::open(dir.path()).unwrap();
    for _ in 0..100 {
        let mut writer = start("a_killed_writer_leaves_a_whole_value_and_blocks_no_other", dir.path(), 0);
        wait_for(&dir.path().join("started"));
        thread::sleep(Duration::from_micros(random(1000)));
        writer.kill().unwrap();
        writer.wait().unwrap();

        let (value, version) = read(&store);
        assert_eq!(value, vec![value[0]; SIZE + usize::from(value[0])]);
        let start = Instant::now();
        assert_ne!(put(&store, "next", PutMode::IfUnchanged(&version)).unwrap(), Outcome::Conflict);
        assert!(start.elapsed() < Duration::from_secs(5));
        assert_eq!(read(&store).0, "next");
        fs::remove_file(dir.path().join("started")).unwrap();
    }
    store.sweep(Duration::ZERO).unwrap();
    assert_eq!(names(&dir.path().join("a")), BTreeSet::from(["k".to_owned()]));
}

/// Only the lock file of the current object stays, and the next writer takes it over.
#[test]
fn a_killed_writer_of_new_objects_leaves_no_temporary_file() {
    const SIZE: usize = 500_000;
    if let Some((dir, number)) = role() {
        let store = FsStore::open(&dir).unwrap();
        for i in 0.. {
            let key = Key::new(format!("a/{number}.{i}")).unwrap();
            let _ = block_on(on(&store).put_if(&key, &[vec![1; SIZE].into()], PutMode::Replace)).unwrap();
            File::create(dir.join("started")).unwrap();
        }
    }
    let dir = TempDir::new().unwrap();
    if !links_unnamed(dir.path()) {
        return;
    }
    for number in 0..30 {
        let mut writer = start("a_killed_writer_of_new_objects_leaves_no_temporary_file", dir.path(), number);
        wait_for(&dir.path().join("started"));
        thread::sleep(Duration::from_micros(random(1000)));
        writer.kill().unwrap();
        writer.wait().unwrap();
        fs::remove_file(dir.path().join("started")).unwrap();
    }
    for name in names(&dir.path().join("a")) {
        match name.strip_suffix(".__lock") {
            Some(object) => assert!(!object.contains('_'), "{name} is a temporary"),
            None => assert_eq!(fs::metadata(dir.path().join("a").join(name)).unwrap().len(), SIZE as u64),
        }
    }
}

/// Whether the file system has unnamed files, and the kernel can link them.
fn links_unnamed(dir: &Path) -> bool {
    use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, open};
    let file = open(dir, OFlags::TMPFILE | OFlags::WRONLY, Mode::RWXU);
    file.is_ok_and(|file| linkat(file, "", CWD, dir.join("linked"), AtFlags::EMPTY_PATH).is_ok())
}

/// A process stops while it holds the lock: a laptop sleeps, a debugger pauses it, a network hangs.
#[test]
fn a_stopped_holder_of_the_lock_blocks_writers_until_it_dies() {
    if let Some((dir, _)) = role() {
        let file = File::create(dir.join("a/k.__lock")).unwrap();
        let whole = libc::flock { l_type: 1, l_whence: 0, l_start: 0, l_len: 0, l_pid: 0 };
        fcntl(&file, FcntlArg::F_OFD_SETLK(&whole)).unwrap();
        File::create(dir.join("held")).unwrap();
        thread::sleep(Duration::from_secs(60));
    }
    let dir = TempDir::new().unwrap();
    let store = FsStore::open(dir.path()).unwrap();
    let _ = put(&store, "old", PutMode::Replace).unwrap();
    let mut holder = start("a_stopped_holder_of_the_lock_blocks_writers_until_it_dies", dir.path(), 0);
    wait_for(&dir.path().join("held"));

    let hasty = store.clone().with_lock_timeout(Duration::from_millis(100));
    let version = read(&store).1;
    for how in [PutMode::Replace, PutMode::IfUnchanged(&version)] {
        let e = put(&hasty, "hasty", how).unwrap_err();
        let file = dir.path().join("a/k.__lock");
        let expected =
            format!("timed out after 100ms: another process holds the lock file {}", file.display());
        assert_eq!((e.kind(), e.key()), (StoreErrorKind::Io, Some("a/k")));
        assert!(format!("{e:#}").contains(&expected), "{e:#}");
    }
    for version in [None, Some(&version)] {
        let e = block_on(on(&hasty).delete_if(&key(), version)).unwrap_err();
        assert_eq!(e.kind(), StoreErrorKind::Io, "{e:#}");
    }
    assert_eq!(read(&store).0, "old");
    assert_eq!(names(&dir.path().join("a")), BTreeSet::from(["k".to_owned(), "k.__lock".to_owned()]));

    thread::scope(|scope| {
        let writers = [(); 2].map(|()| scope.spawn(|| put(&store, "new", PutMode::Replace)));
        thread::sleep(Duration::from_millis(100));
        assert!(writers.iter().all(|writer| !writer.is_finished()));
        // Writers of other objects do not wait.
        let other = Key::new("a/other").unwrap();
        let _ = block_on(on(&hasty).put_if(&other, &["v".into()], PutMode::Replace)).unwrap();

        holder.kill().unwrap();
        holder.wait().unwrap();
        let start = Instant::now();
        for writer in writers {
            let _ = writer.join().unwrap().unwrap();
        }
        assert!(start.elapsed() < Duration::from_secs(5));
    });
    assert_eq!(read(&store).0, "new");
    assert_eq!(names(&dir.path().join("a")), BTreeSet::from(["k".to_owned(), "other".to_owned()]));
}
