//! Processes share a copy, and some of them are killed.

use std::fs;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use crate::harness::{Folder, command, zarr_in};

/// Makes an array whose copy takes a while: many small chunks.
fn maps(folder: &Folder) {
    let create = "create maps.zarr --dtype int32 --shape 600,40,40 --chunks 1,40,40 --from numbers.raw";
    let numbers: Vec<u8> =
        (0..600_u32 * 1600).flat_map(|i| (i.wrapping_mul(2_654_435_761) >> 8).to_le_bytes()).collect();
    fs::write(folder.path().join("numbers.raw"), numbers).unwrap();
    zarr_in(folder.path(), create.split(' ')).exits(0);
}

fn start(folder: &Folder, arguments: &str) -> Child {
    start_by(command(), folder, arguments)
}

fn start_by(mut command: Command, folder: &Folder, arguments: &str) -> Child {
    command.current_dir(folder.path()).args(arguments.split(' '));
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Ends a copy to `b.zarr` while it copies. On a busy machine a copy may be faster; then the next one is ended.
fn interrupted(
    command: impl Fn() -> Command,
    folder: &Folder,
    arguments: &str,
    end: impl Fn(&mut Child),
) -> Output {
    for _ in 0..100 {
        let mut copy = start_by(command(), folder, arguments);
        let places = || fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
        while copy.try_wait().unwrap().is_none()
            && !places().any(|place| place.join(".zarr-copy.json").exists())
        {
            thread::sleep(Duration::from_millis(1));
        }
        // The number of a process that has ended may be that of another one by now.
        if copy.try_wait().unwrap().is_none() {
            end(&mut copy);
        }
        let output = copy.wait_with_output().unwrap();
        if !output.status.success() {
            return output;
        }
        fs::remove_dir_all(folder.path().join("b.zarr")).unwrap();
    }
    panic!("each of 100 copies was complete before it was ended");
}

#[test]
fn four_processes_two_of_them_killed_make_what_one_makes() {
    let folder = Folder::new();
    maps(&folder);
    for (name, options) in [("stored", ""), ("series", " --chunks 600,4,4 --max-memory 3MB")] {
        zarr_in(folder.path(), format!("copy maps.zarr {name}-alone.zarr{options} -q").split(' ')).ok();
        let shared = format!("copy maps.zarr {name}.zarr{options} --join night-1 --lease 0.5 --verify");
        let mut workers: Vec<Child> = (0..4).map(|_| start(&folder, &shared)).collect();
        for killed in workers.drain(..2) {
            thread::sleep(Duration::from_millis(60));
            let mut killed = killed;
            killed.kill().unwrap();
            killed.wait().unwrap();
        }
        for worker in workers {
            let output = worker.wait_with_output().unwrap();
            let [out, err] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
            assert!(output.status.success() && err.is_empty(), "{out}{err:#}");
        }
        let [alone, together] = ["-alone", ""].map(|which| folder.contents(&format!("{name}{which}.zarr")));
        let differ: Vec<_> =
            together.iter().filter(|file| !alone.contains(file)).map(|file| &file.0).collect();
        assert!(differ.is_empty() && alone.len() == together.len(), "{name}: {differ:?}");
        // Once more, it is complete.
        let done = zarr_in(folder.path(), shared.split(' ')).ok();
        assert!(
            String::from_utf8(done.out)
                .unwrap()
                .starts_with("the copy is complete already; it was not compared")
        );
    }
}

#[test]
fn an_unfinished_shared_copy_is_named_continued_and_erased() {
    let folder = Folder::new();
    maps(&folder);
    let shared = "copy maps.zarr b.zarr --chunks 300,8,8 --max-memory 3MB --join night-1 --lease 0.2 --json";
    interrupted(command, &folder, shared, |copy| copy.kill().unwrap());
    assert!(!folder.path().join("b.zarr/zarr.json").exists());
    let plain = zarr_in(folder.path(), "copy maps.zarr b.zarr".split(' '));
    plain.fails(2, &["unfinished copy that processes share", "--join", "zarr rm --unfinished"]);
    let other = zarr_in(folder.path(), "copy maps.zarr b.zarr --codecs none --join night-1".split(' '));
    other.fails(2, &["another source or with other options"]);
    let erased = zarr_in(folder.path(), "rm --unfinished b.zarr".split(' ')).ok();
    assert!(String::from_utf8(erased.out).unwrap().starts_with("erased an unfinished copy of"));
    assert!(!folder.path().join("b.zarr").exists(), "{:?}", folder.contents("b.zarr"));

    let done = zarr_in(folder.path(), shared.split(' ')).ok();
    let done: serde_json::Value = serde_json::from_slice(&done.out).unwrap();
    assert_eq!(done["was_complete"], false);
    assert_eq!(done["units_bytes"], 2 * 600 * 1600 * 4);
}

#[test]
fn what_cannot_be_shared_is_refused() {
    let folder = Folder::new();
    maps(&folder);
    for (arguments, parts) in [
        ("copy maps.zarr b.zip --join a", ["b.zip", "written as a whole"]),
        ("copy maps.zarr b.zarr --join a/b", ["--join", "not the name of a job"]),
        ("copy maps.zarr b.zarr --join .a", ["--join", "not the name of a job"]),
    ] {
        zarr_in(folder.path(), arguments.split(' ')).fails(2, &parts);
    }
    for arguments in ["copy maps.zarr b.zarr --join a --resume", "copy maps.zarr b.zarr --lease 3"] {
        zarr_in(folder.path(), arguments.split(' ')).exits(2);
    }
    assert!(!folder.path().join("b.zarr").exists());
}

/// Whether this process ignores Ctrl-C, as a background job of a script does. The processes that it starts do so, too.
#[cfg(unix)]
fn ignores_interrupts() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|signals| u64::from_str_radix(signals.trim(), 16).ok());
    ignored.is_some_and(|signals| signals & 0b10 != 0)
}

/// Signals that end a copy, and a process that shares one.
#[cfg(unix)]
#[test]
fn an_interrupted_copy_says_how_to_go_on() {
    if ignores_interrupts() {
        eprintln!("skipped: Ctrl-C is ignored here");
        return;
    }
    let folder = Folder::new();
    maps(&folder);
    let resumed = "`--resume` continues it, and `zarr rm --unfinished` erases it";
    // It ignores the hangup, and no other signal.
    let nohup: fn() -> Command = || {
        let mut nohup = Command::new("nohup");
        nohup.arg(command().get_program()).stdin(Stdio::null());
        nohup
    };
    for (command, signal, options, words) in [
        (command as fn() -> Command, "-INT", "", resumed),
        (command, "-INT", " --join a", "the same command does"),
        (command, "-TERM", "", resumed),
        (nohup, "-INT", "", resumed),
        (nohup, "-TERM", "", resumed),
    ] {
        let arguments = format!("copy maps.zarr b.zarr --chunks 300,8,8 --max-memory 3MB{options}");
        let output = interrupted(command, &folder, &arguments, |copy| {
            Command::new("kill").args([signal, &copy.id().to_string()]).status().unwrap();
        });
        let err = String::from_utf8(output.stderr).unwrap();
        assert!(
            output.status.code() == Some(130) && err.contains("interrupted; ") && err.contains(words),
            "{signal}{options}: {}: {err:#}",
            output.status
        );
        zarr_in(folder.path(), ["rm", "--unfinished", "b.zarr"]).ok();
    }
}
