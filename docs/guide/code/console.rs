//! Runs the command lines that the guide shows, and compares what they print.

#![allow(clippy::unwrap_used, reason = "this is a test")]

#[path = "../../../conformance/services/tests/command/program.rs"]
mod program;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Stands for any lines as a line, and for the rest of a line at its end.
const LEFT_OUT: &str = "...";

#[test]
fn the_command_lines_of_every_chapter_print_what_is_shown() {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut wrong = String::new();
    for file in chapters(&guide.join("src")) {
        // Every chapter begins with the store of the demonstration, and nothing else.
        let folder = tempfile::tempdir().unwrap();
        copy(&guide.join("../../conformance/demo/weather.zarr"), &folder.path().join("weather.zarr"));
        wrong += &differences(&file, folder.path());
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// They can be pasted into a shell, one after the other.
#[test]
fn the_tasks_of_the_readme_of_the_command_are_done_in_an_empty_folder() {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates/zarr-cli/README.md");
    let folder = tempfile::tempdir().unwrap();
    let wrong = differences(&readme, folder.path());
    assert!(wrong.is_empty(), "{wrong}");
    assert!(folder.path().join("climate.html").exists());
}

#[test]
fn the_first_chapter_shows_the_program_that_is_run() {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = fs::read_to_string(guide.join("code/first.rs")).unwrap();
    let (_, program) = program.split_once("\n\n").unwrap();
    let chapter = fs::read_to_string(guide.join("src/first.md")).unwrap();
    assert!(chapter.contains(program), "src/first.md shows another program than code/first.rs");
}

/// Runs the command lines of a document in a folder. Returns those that print something else than is shown.
fn differences(document: &Path, folder: &Path) -> String {
    let text = fs::read_to_string(document).unwrap();
    let mut wrong = String::new();
    for (line, command, expected) in commands(&text) {
        let printed = run(&command, folder);
        if !matches(&expected, &printed.lines().collect::<Vec<_>>()) {
            let place = format!("{}:{line}", document.display());
            wrong += &format!(
                "{place}: $ {command}\n{printed}--- where this was expected\n{}\n\n",
                expected.join("\n")
            );
        }
    }
    wrong
}

/// The files of the chapters, in the order of their names.
fn chapters(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "md"));
    files.sort();
    files
}

/// The commands in blocks of the language `console`: the number of the line, the command, and the lines it prints.
fn commands(text: &str) -> Vec<(usize, String, Vec<&str>)> {
    let mut found: Vec<(usize, String, Vec<&str>)> = Vec::new();
    let mut inside = false;
    for (number, line) in text.lines().enumerate() {
        if line.starts_with("```") {
            inside = line == "```console";
        } else if !inside {
        } else if let Some(command) = line.strip_prefix("$ ") {
            found.push((number + 1, command.to_owned(), Vec::new()));
        } else {
            let (_, command, output) = found.last_mut().unwrap();
            if output.is_empty() && command.ends_with('\\') {
                *command = format!("{command}\n{line}");
            } else {
                output.push(line);
            }
        }
    }
    found
}

/// What a command prints, with its errors behind, in a folder where `zarr` is a command and `cargo run` the first program.
fn run(command: &str, folder: &Path) -> String {
    let command = command.replace("cargo run", env!("CARGO_BIN_EXE_guide-first"));
    let program = program::program().parent().unwrap();
    let paths = std::env::split_paths(&std::env::var_os("PATH").unwrap()).collect::<Vec<_>>();
    let output = Command::new("sh")
        .args(["-c", &command])
        .current_dir(folder)
        .env("PATH", std::env::join_paths([program.to_owned()].into_iter().chain(paths)).unwrap())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let printed = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    let error = printed.lines().any(|line| line.starts_with("zarr: ") && !line.starts_with("zarr: note:"));
    if output.status.success() == error && output.status.code() != Some(1) {
        return format!("{printed}({})\n", output.status);
    }
    printed
}

/// Whether the lines printed are those expected. Blanks at the end of a line do not count.
fn matches(expected: &[&str], printed: &[&str]) -> bool {
    match (expected.split_first(), printed.split_first()) {
        (None, None) => true,
        (Some((&LEFT_OUT, rest)), _) => (0..=printed.len()).any(|skipped| matches(rest, &printed[skipped..])),
        (Some((expected, rest)), Some((line, others))) => {
            let same = match expected.strip_suffix(LEFT_OUT) {
                Some(start) => line.starts_with(start),
                None => expected.trim_end() == line.trim_end(),
            };
            same && matches(rest, others)
        }
        _ => false,
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (path, to) = (entry.as_ref().unwrap().path(), to.join(entry.unwrap().file_name()));
        if path.is_dir() {
            copy(&path, &to);
        } else {
            fs::copy(path, to).unwrap();
        }
    }
}
