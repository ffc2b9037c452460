//! Tests of the program `zarr-conformance`, with shell scripts as adapters, and of the fixtures that it brings.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../conformance");

/// Runs the program in a new folder, with this script in `adapter.sh`. Returns the exit code, what it printed, and the
/// folder.
fn program(script: &str, arguments: &[&str]) -> (Option<i32>, String, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let work = folder.path().join("work");
    fs::create_dir(&work).unwrap();
    fs::write(work.join("adapter.sh"), script).unwrap();
    fs::write(work.join("known.toml"), KNOWN).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_zarr-conformance"));
    let done = command.args(arguments).current_dir(work).env("TMPDIR", folder.path()).output().unwrap();
    let said = [done.stdout, done.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
    (done.status.code(), said, folder)
}

const KNOWN: &str =
    "[[deviation]]\ncases = [\"v2.dtype.*\"]\nreason = \"it crashes\"\nreference = \"none\"\n";
const ONE: &str = "--case=v2.dtype.b1.s1.zp2";
/// It describes arrays, wrongly, and reads none.
const REFUSES: &str = "if [ $1 = info ]; then echo '{}'; else echo no >&2; exit 1; fi";
/// It crashes for some arrays of a category.
const CRASHES: &str = "case $2 in */v2-dtype/*) kill -SEGV $$ ;; esac; exit 89";
const WRITTEN: &str = "--case=write.v2.dtype.b1.s1.zp2";

#[test]
fn verdicts_decide_the_exit_code() {
    for (script, arguments, code, says) in [
        // Nothing is implemented, which is not a failure.
        ("exit 89", &[ONE][..], 0, "writing is not judged"),
        ("exit 89", &["--case=v3.shard.*", "--case=neg.shard.*"], 0, "0 fail unexpectedly"),
        // Crashes and refusals are found, and named with their cases.
        ("kill -SEGV $$", &[ONE], 1, "UNEXPECTED mine: v2.dtype.b1.s1.zp2 read: broken"),
        (REFUSES, &[ONE, "--name=x"], 1, "UNEXPECTED x: v2.dtype.b1.s1.zp2 read: refused"),
        // An adapter that refuses everything does not work.
        ("echo no >&2; exit 1", &[ONE, "--name=x"], 2, "x: no call succeeded; the first message is: no"),
        ("echo no >&2; exit 1", &["--case=neg.meta-*"], 2, "no call succeeded; the first message is: no"),
        // An adapter that does not start ends the run, unlike one that crashes for all chosen cases.
        ("pyton3 adapter.py", &[], 2, "mine: the adapter does not start: adapter.sh: "),
        (
            "echo no module >&2; exit 3",
            &[],
            2,
            "mine: the adapter does not start: exit code 3 is not documented: no module",
        ),
        ("echo no module >&2; exit 1", &[], 2, "mine: no call succeeded; the first message is: no module"),
        (
            "exit 89",
            &["--serve"],
            2,
            "mine: the adapter does not answer \"serve\"; leave out --serve if it has no such call: ended",
        ),
        (CRASHES, &["--case=v2.dtype.*"], 1, "got killed by signal 11 (Segmentation fault)"),
        ("exit 3", &[ONE, "--expect=known.toml"], 0, "0/1 ~1"),
        ("exit 3", &[ONE, "--expect=unknown.toml"], 2, "unknown.toml"),
        // A reader makes it possible to judge what is written.
        ("exit 89", &[WRITTEN, "--peer=other=sh adapter.sh"], 0, "1 to write"),
        ("exit 89", &[WRITTEN], 2, "writing is not asked"),
        ("exit 89", &[WRITTEN, "--peer=mine=sh adapter.sh"], 2, "two peers"),
        ("exit 89", &["--peer=sh adapter.sh"], 2, "NAME=COMMAND"),
        ("exit 89", &[ONE, "--case=v9.*"], 2, "no case matches \"v9.*\""),
        ("exit 89", &["--fixtures=elsewhere"], 2, "elsewhere/manifest.json"),
    ] {
        let mut all = vec!["run", "--command=sh adapter.sh"];
        if !arguments.contains(&"--fixtures=elsewhere") {
            all.extend(["--fixtures", FIXTURES]);
        }
        all.extend(arguments);
        let (found, said, folder) = program(script, &all);
        assert!(found == Some(code) && said.contains(says), "{script} {arguments:?}: {found:?} {said}");
        assert!(!said.contains("stores of"), "their folder is removed: {said}");
        let reports = names(&folder.path().join("work/zarr-conformance"));
        let expected: &[&str] = if code == 2 { &[] } else { &["index.html", "junit.xml", "report.json"] };
        assert_eq!(reports, expected, "{arguments:?}");
        assert_eq!(names(folder.path()), ["work"], "no files stay behind");
    }
}

#[test]
fn the_bundled_stores_are_those_of_the_repository() {
    let (code, said, folder) = program("exit 89", &["run", "--command=sh adapter.sh", ONE, "--keep"]);
    assert!(code == Some(0) && said.contains("0/1 (1)") && said.contains("/fixtures\n"), "{said}");
    let kept = names(folder.path()).into_iter().find(|name| name.starts_with("zarr-conformance-")).unwrap();
    let unpacked = files(&folder.path().join(kept).join("fixtures"));
    for (name, bytes) in &unpacked {
        assert!(fs::read(Path::new(FIXTURES).join(name)).unwrap() == *bytes, "{name}");
    }
    for top in ["v1", "v2", "v3", "reject"] {
        let all = files(&Path::new(FIXTURES).join(top));
        assert_eq!(all.keys().find(|name| !unpacked.contains_key(&format!("{top}/{name}"))), None);
    }
}

#[test]
fn stores_are_not_unpacked_among_other_files() {
    let (code, said, _folder) = program("", &["unpack", "."]);
    assert!(code == Some(2) && said.contains("not empty"), "{said}");
}

/// Returns the names in a folder; none if it does not exist.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Returns all files below a folder by name.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for name in names(folder) {
        let path = folder.join(&name);
        if path.is_dir() {
            found.extend(files(&path).into_iter().map(|(below, bytes)| (format!("{name}/{below}"), bytes)));
        } else {
            found.insert(name, fs::read(path).unwrap());
        }
    }
    found
}
