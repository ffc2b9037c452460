//! The command line itself.

use std::fs;

use crate::args;
use crate::harness::{Folder, zarr, zarr_in};

#[test]
fn help_and_version_are_no_errors_and_show_examples() {
    for verb in ["info", "cat", "chunks", "explain", "copy", "validate"] {
        let help = zarr([verb, "--help"]).ok();
        assert!(
            help.text().contains("Examples:") && help.text().contains(&format!("zarr {verb} ")),
            "{verb}"
        );
    }
    assert!(zarr(["--help"]).ok().text().contains("Exit codes:"));
    assert!(zarr(["--version"]).ok().text().starts_with("zarr 0."));
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
        &[],
    ] {
        let done = zarr(args).exits(2);
        assert!(done.out.is_empty() && !done.err.is_empty(), "{args:?}");
    }
}

#[test]
fn what_is_not_there_is_named_with_what_is() {
    let folder = Folder::new();
    folder.group("h.zarr");
    folder.base("h.zarr/a/b");
    zarr(args!["info", folder.join("nope")]).fails(3, &["there is no directory", "nope"]);
    zarr(args!["cat", folder.join("h.zarr/x/y")]).fails(3, &["h.zarr", "there is no node \"x/y\""]);
    zarr(args!["info", folder.join("h.zarr/a")])
        .fails(3, &["there is no zarr.json, but there is one in \"b\" below it"]);
    zarr(args!["cat", folder.join("h.zarr")]).fails(3, &["array \"/\"", "there is a group, not an array"]);
    zarr(args!["info", "s3://bucket/x.zarr"]).fails(6, &["\"s3\" is not supported yet"]);
}

#[test]
fn an_array_of_an_older_format_is_named_as_what_it_is() {
    let folder = Folder::new();
    folder.write("old.zarr/.zarray", "{}");
    for verb in ["info", "cat", "chunks", "explain", "validate"] {
        zarr(args![verb, folder.join("old.zarr")]).fails(6, &["format 2", "not supported yet"]);
    }
}

#[test]
fn paths_may_be_relative_and_mean_the_same() {
    let folder = Folder::new();
    folder.group("h.zarr");
    folder.base("h.zarr/a");
    let wanted = zarr(args!["cat", folder.join("h.zarr/a")]).ok().out;
    for (directory, path) in [("", "h.zarr/a/"), ("h.zarr", "a"), ("h.zarr/a", "."), ("h.zarr/a", "../a")] {
        assert_eq!(
            zarr_in(&folder.join(directory), ["cat", path]).ok().out,
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
    zarr_in(folder.path(), ["cat", "h.zarr/a"])
        .fails(5, &["store \"h.zarr\": array \"/a\", chunk [1] (key \"a/c/1\"): ", "1 bytes, expected 8"]);
}

#[cfg(unix)]
#[test]
fn what_the_system_refuses_exits_with_4() {
    let folder = Folder::new();
    folder.base("a.zarr");
    fs::remove_file(folder.join("a.zarr/c/0")).unwrap();
    std::os::unix::fs::symlink("0", folder.join("a.zarr/c/0")).unwrap();
    zarr(args!["cat", folder.join("a.zarr")]).fails(4, &["chunk [0]", "cannot open"]);
}
