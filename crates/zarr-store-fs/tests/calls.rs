//! The system calls of puts, as strace shows them. Without strace, or where files cannot be made without a name, there is
//! nothing to compare.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;
use zarr_store_fs::FsStore;
use zarr_traits::{Key, Storage, block_on};

/// The directory of the store, in the process that strace follows.
const STORE: &str = "STORE_OF_COUNTED_PUTS";

/// A put: its key, whether the store has a single writer, and its calls.
type Case = (&'static str, bool, &'static str);

/// In this order, from an empty directory on.
const CASES: [Case; 8] = [
    // Both directories of the key are missing.
    (
        "a/b/0",
        false,
        "openat newfstatat newfstatat openat mkdirat close openat mkdirat close \
         openat writev linkat newfstatat fstat close",
    ),
    ("a/b/1", false, "openat writev linkat newfstatat fstat close"),
    ("2", false, "openat writev linkat newfstatat fstat close"),
    ("a/b/3", true, "openat writev linkat close"),
    // One directory is missing.
    ("a/c/0", false, "openat newfstatat openat mkdirat close openat writev linkat newfstatat fstat close"),
    // An object is met, and expected from then on.
    ("a/b/1", false, "openat writev linkat openat newfstatat fstat fcntl linkat renameat close close"),
    ("a/b/1", false, "openat openat writev newfstatat fstat fcntl linkat renameat close close"),
    // There is no object, although one was expected.
    ("a/b/5", false, "openat openat writev newfstatat linkat newfstatat fstat close close"),
];

/// The path of a file that is not there. A look for it begins a case.
fn mark(case: usize) -> String {
    format!("/no such file: case {case}")
}

fn put_all(dir: &Path) {
    let store = FsStore::open(dir).unwrap();
    let single = Storage::from(store.clone().with_single_writer());
    let storage = Storage::from(store);
    for (case, (key, is_single, _)) in CASES.iter().enumerate() {
        let (key, storage) = (Key::new(*key).unwrap(), if *is_single { &single } else { &storage });
        assert!(!Path::new(&mark(case)).exists());
        block_on(storage.put(&key, "value")).unwrap();
    }
    assert!(!Path::new(&mark(CASES.len())).exists());
}

#[test]
fn puts_make_these_system_calls() {
    if let Ok(dir) = std::env::var(STORE) {
        return put_all(Path::new(&dir));
    }
    let dir = TempDir::new().unwrap();
    let (store, log) = (dir.path().join("store"), dir.path().join("log"));
    fs::create_dir(&store).unwrap();
    let mut strace = Command::new("strace");
    strace.args(["-f", "-qq", "-o"]).arg(&log).arg(std::env::current_exe().unwrap());
    let done = strace.args(["--exact", "calls::puts_make_these_system_calls"]).env(STORE, &store).output();
    if !done.is_ok_and(|done| done.status.success()) {
        return; // There is no strace, or it may not follow a process.
    }
    let log = fs::read_to_string(log).unwrap();
    let is_mark = |line: &&str, case| line.contains(&format!("\"{}\"", mark(case)));
    for (case, (key, _, expected)) in CASES.iter().enumerate() {
        let thread = log.lines().find(|line| is_mark(line, case)).unwrap().split(' ').next().unwrap();
        // A build with debug assertions looks whether the files that it closes are open.
        let is_ours = |line: &&str| {
            let is_call = !line.contains("F_GETFD") && !line.contains(" resumed>");
            is_call && line.split(' ').next() == Some(thread)
        };
        let calls = log.lines().filter(is_ours).skip_while(|line| !is_mark(line, case)).skip(1);
        let calls: Vec<&str> = calls.take_while(|line| !is_mark(line, case + 1)).collect();
        if calls.iter().any(|call| call.contains("O_EXCL") || call.contains("ENOTSUP")) {
            return; // Files without a name are refused here.
        }
        let name =
            |call: &&str| call.split_whitespace().nth(1).unwrap().split('(').next().unwrap().to_owned();
        assert_eq!(calls.iter().map(name).collect::<Vec<_>>().join(" "), *expected, "{key}: {calls:#?}");
    }
}
