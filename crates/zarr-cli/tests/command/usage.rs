//! The command line itself.

use std::fs;
use std::path::Path;

use crate::args;
use crate::harness::{Folder, command, zarr, zarr_in};

/// The verbs that work on stores.
const VERBS: [&str; 25] = [
    "info",
    "ls",
    "tree",
    "cat",
    "stats",
    "view",
    "serve",
    "copy",
    "sync",
    "diff",
    "pyramid",
    "create",
    "append",
    "write",
    "set",
    "resize",
    "mv",
    "rm",
    "consolidate",
    "migrate",
    "validate",
    "doctor",
    "du",
    "explain",
    "checksum",
];

#[test]
fn completions_name_all_verbs() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let done = zarr(["completions", shell]).ok();
        for verb in ["info", "migrate", "completions", "if-exists"] {
            assert!(done.text().contains(verb), "{shell}: {verb}");
        }
    }
    zarr(["completions", "csh"]).exits(2);
}

#[test]
fn manual_pages_are_written_for_all_verbs() {
    let folder = Folder::new();
    zarr(args!["man", folder.join("new/man1")]).ok();
    for (page, part) in [("zarr.1", "Exit codes"), ("zarr-info.1", "STORE"), ("zarr-copy.1", "if\\-exists")] {
        let text = fs::read_to_string(folder.join("new/man1").join(page)).unwrap();
        assert!(text.contains(".TH") && text.contains(part), "{page}: {text}");
    }
    folder.write("file", "");
    zarr(args!["man", folder.join("file/man1")]).fails(3, &["cannot write manual pages to", "file/man1"]);
}

#[test]
fn colours_are_only_for_terminals_and_can_be_forced() {
    let folder = Folder::new();
    let group = folder.group("h.zarr");
    folder.write("h.zarr/a/zarr.json", "{");
    for (variables, error, finding) in [
        (&[][..], "zarr: ", "  error "),
        (
            &[("CLICOLOR_FORCE", "1")],
            "\u{1b}[1m\u{1b}[31mzarr:\u{1b}[0m ",
            "  \u{1b}[1m\u{1b}[31merror\u{1b}[0m ",
        ),
        (&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], "zarr: ", "  error "),
    ] {
        let run = |verb: &str, store: &Path| {
            let mut command = command();
            for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
                command.env_remove(name);
            }
            command.envs(variables.iter().copied()).arg(verb).arg(store).output().unwrap()
        };
        let missing = run("info", &folder.join("none"));
        let text = String::from_utf8(missing.stderr).unwrap();
        assert!(text.starts_with(error), "{variables:?}: {text:?}");
        let found = String::from_utf8(run("validate", &group).stdout).unwrap();
        assert!(found.contains(finding), "{variables:?}: {found:?}");
    }
}

#[test]
fn help_is_wrapped() {
    for verb in ["info", "cat", "copy", "create", "append", "write", "resize", "mv", "rm"] {
        for option in ["-h", "--help"] {
            let done = zarr([verb, option]).ok();
            let help = done.text().split("Examples:").next().unwrap();
            let longest = help.lines().map(|line| line.chars().count()).max();
            assert!(longest <= Some(100), "{verb} {option}: {longest:?}");
        }
    }
}

#[test]
fn help_and_version_succeed_and_help_has_examples() {
    for verb in [
        "info",
        "tree",
        "ls",
        "cat",
        "chunks",
        "explain",
        "copy",
        "create",
        "append",
        "write",
        "resize",
        "attrs",
        "mv",
        "rm",
        "consolidate",
        "validate",
    ] {
        let help = zarr([verb, "--help"]).ok();
        assert!(
            help.text().contains("Examples:") && help.text().contains(&format!("zarr {verb} ")),
            "{verb}"
        );
    }
    assert!(zarr(["help", "exit"]).ok().text().contains("Exit codes:"));
    assert!(zarr(["--version"]).ok().text().starts_with("zarr 0."));
    assert!(zarr(["--version"]).ok().text().contains("(Rust, https://"));
}

#[test]
fn the_help_fits_on_a_screen_and_names_all_verbs() {
    let help = zarr(["--help"]).ok().text().to_owned();
    assert_eq!(zarr(["-h"]).ok().text(), help);
    assert_eq!(zarr(["help"]).ok().text(), help);
    assert!(help.lines().count() <= 48 && help.lines().all(|line| line.chars().count() <= 100), "{help}");
    for verb in VERBS.iter().copied().chain(["completions", "man", "attrs"]) {
        assert!(help.split(|c: char| !c.is_alphanumeric()).any(|word| word == verb), "{verb}");
    }
    // Old names of verbs still work, and are not shown.
    assert!(["  chunks", "remove-metadata", "sweep"].iter().all(|verb| !help.contains(verb)), "{help}");
    // The words of other tools, and the verbs themselves, of which `zarr help VERB` is the long help.
    let (help, long) = (zarr(["help", "copy"]).ok(), zarr(["copy", "--help"]).ok());
    let options = help.text().split("\nExamples:").next().unwrap();
    assert!(long.text().starts_with(options) && options.contains("--max-memory"), "{options}");
    for (topic, part) in
        [("stores", "--endpoint <URL>"), ("select", "lat=~48.2"), ("exit", "5   corrupt data")]
    {
        assert!(zarr(["help", topic]).ok().text().contains(part), "{topic}");
    }
    zarr(["help", "nothing"]).fails(2, &["neither a verb nor a topic \"nothing\""]);
}

#[test]
fn short_help_has_few_options() {
    const MOST: usize = 12;
    for verb in VERBS.iter().copied().chain(["cp", "chunks"]) {
        let help = zarr([verb, "-h"]).ok().text().to_owned();
        let options = help.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
        let options = options.filter(|line| !line.starts_with("-h,")).count();
        assert!(options <= MOST, "{verb} has {options}:\n{help}");
    }
}

#[test]
fn a_wrong_command_line_exits_with_2() {
    for args in [
        &["nonsense"][..],
        &["cat"],
        &["info", "--what", "x"],
        &["cat", "x", "--format", "xml"],
        &["cat", "x", "-s", "1:2:0"],
        &["chunks"],
        &["explain"],
        &["explain", "x", "-s", "1:2:0"],
        &["copy", "a", "b", "--chunks", "0"],
        &["copy", "a", "b", "--shards", "0"],
        &["copy", "a", "b", "--shards", "nothing"],
        &["copy", "a", "b", "--chunks", "2", "--shards", "4,4"],
        &["copy", "a", "b", "--codecs", "zip"],
        &["copy", "a", "b", "--zarr-format", "4"],
        &["ls", "-l", "--json", "a"],
        &["tree", "-L", "-1", "a"],
        &["create", "a"],
        &["create", "a", "--group", "--shape", "1"],
        &["create", "a", "--shape", "1"],
        &["create", "a", "--group", "--from", "b.npy"],
        &["create", "a", "--shape", "1", "--dtype", "i1", "--from-format", "raw"],
        &["write", "a"],
        &["write", "a", "--value", "1", "--from", "b.npy"],
        &["resize", "a"],
        &["resize", "a", "x"],
        &["mv", "a"],
        &["attrs", "set", "a", "x"],
        &["attrs", "rm", "a"],
        &["consolidate", "a", "--check", "--remove"],
        &[],
    ] {
        let done = zarr(args).exits(2);
        assert!(done.out.is_empty() && !done.err.is_empty(), "{args:?}");
    }
}

#[test]
fn errors_for_missing_nodes_name_what_exists() {
    let folder = Folder::new();
    folder.group("h.zarr");
    folder.base("h.zarr/a/b");
    zarr(args!["info", folder.join("nope")]).fails(3, &["there is no directory", "nope"]);
    zarr(args!["cat", "-f", "raw", folder.join("h.zarr/x/y")])
        .fails(3, &["h.zarr", "there is no node \"x/y\""]);
    zarr(args!["info", folder.join("h.zarr/a")])
        .fails(3, &["there is no node, but there is one in \"b\" below it"]);
    zarr(args!["cat", "-f", "raw", folder.join("h.zarr")])
        .fails(3, &["array \"/\"", "there is a group, not an array"]);
    zarr(args!["info", "foo://bucket/x.zarr"])
        .fails(6, &["unknown scheme \"foo\", the known ones are: ", "file"]);
}

#[test]
fn arrays_of_older_formats_are_read_like_any_other() {
    let folder = Folder::new();
    let two = r#"{"zarr_format":2,"shape":[4],"chunks":[2],"dtype":">i4","compressor":null,"filters":null,"fill_value":7,"order":"C"}"#;
    let one = r#"{"zarr_format":1,"shape":[4],"chunks":[2],"dtype":">i4","compression":"none","compression_opts":null,"fill_value":7,"order":"C"}"#;
    for (name, document, attributes, format) in
        [("a.zarr", ".zarray", ".zattrs", 2), ("b.zarr", "meta", "attrs", 1)]
    {
        let at = |file: &str| format!("{name}/{file}");
        folder.write(&at(document), if format == 2 { two } else { one });
        folder.write(&at(attributes), r#"{"unit":"K"}"#);
        folder.write(&at("0"), [0, 0, 0, 1, 0, 0, 0, 2]);
        let run = |verb: &str, options: &[&str]| {
            let args = args![verb, folder.join(name)].into_iter();
            zarr(args.chain(options.iter().map(Into::into))).ok()
        };
        assert_eq!(run("cat", &["--format", "json"]).text(), "[1,2,7,7]\n", "{name}");
        let info = run("info", &["--json"]).json();
        assert_eq!([&info["zarr_format"], &info["stored_chunks"]], [format, 1], "{name}");
        assert_eq!(
            (&info["data_type"], &info["attributes"]["unit"]),
            (&"int32".into(), &"K".into()),
            "{name}"
        );
        assert!(
            run("info", &[]).text().starts_with("array ")
                && run("info", &[]).text().contains(&format!(", Zarr {format}\n")),
            "{name}"
        );
        assert!(run("chunks", &[]).text().contains("1 of 2"), "{name}: {}", run("chunks", &[]).text());
        run("explain", &[]);
        run("validate", &[]);
    }
    // A file named `meta` need not belong to an array.
    folder.write("c.zarr/meta", "{}");
    zarr(args!["info", folder.join("c.zarr")]).fails(3, &["there is no node"]);
}

#[test]
fn paths_may_be_relative_and_mean_the_same() {
    let folder = Folder::new();
    folder.group("h.zarr");
    folder.base("h.zarr/a");
    let wanted = zarr(args!["cat", "-f", "raw", folder.join("h.zarr/a")]).ok().out;
    for (directory, path) in [("", "h.zarr/a/"), ("h.zarr", "a"), ("h.zarr/a", "."), ("h.zarr/a", "../a")] {
        assert_eq!(
            zarr_in(&folder.join(directory), ["cat", "-f", "raw", path]).ok().out,
            wanted,
            "{directory:?} {path:?}"
        );
    }
    let name = |directory: &str, path| {
        zarr_in(&folder.join(directory), ["info", "--json", path]).ok().json()["path"].clone()
    };
    assert_eq!([name("h.zarr", "a"), name("h.zarr/a", "."), name("", "h.zarr")], ["/a", "/a", "/"]);
}

#[test]
fn errors_name_the_store_the_array_and_the_chunk() {
    let folder = Folder::new();
    folder.group("h.zarr");
    folder.base("h.zarr/a");
    folder.write("h.zarr/a/c/1", [0]);
    zarr_in(folder.path(), ["cat", "-f", "raw", "h.zarr/a"])
        .fails(5, &["store \"h.zarr\": array \"/a\", chunk [1] (key \"a/c/1\"): ", "1 bytes, expected 8"]);
}

#[cfg(unix)]
#[test]
fn errors_of_the_system_exit_with_4() {
    let folder = Folder::new();
    folder.base("a.zarr");
    fs::remove_file(folder.join("a.zarr/c/0")).unwrap();
    std::os::unix::fs::symlink("0", folder.join("a.zarr/c/0")).unwrap();
    zarr(args!["cat", "-f", "raw", folder.join("a.zarr")]).fails(4, &["chunk [0]", "cannot open"]);
}

#[test]
fn control_characters_in_names_are_escaped() {
    let folder = Folder::new();
    folder.group("h.zarr");
    folder.base("h.zarr/a\u{1b}[2J");
    for args in [&["tree"][..], &["ls"], &["ls", "-l"], &["rm", "-r", "--dry-run"]] {
        let done = zarr([args, &[folder.join("h.zarr").to_str().unwrap()]].concat()).ok();
        assert!(done.text().contains("a\\u{1b}[2J") && !done.text().contains('\u{1b}'), "{args:?}");
    }
}
