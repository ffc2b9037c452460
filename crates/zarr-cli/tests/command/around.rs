//! The hierarchy around a node is found for all spellings of its name, so that its consolidated metadata stays in step.

use std::ffi::OsString;
use std::fs;

use serde_json::json;

use crate::args;
use crate::harness::{Folder, base, with, zarr, zarr_in};

/// Makes a hierarchy with consolidated metadata: `/a`, `/g`, `/g/b`.
fn hierarchy(folder: &Folder) {
    folder.group("h.zarr");
    folder.base("h.zarr/a");
    folder.group("h.zarr/g");
    folder.base("h.zarr/g/b");
    zarr(args!["consolidate", folder.join("h.zarr")]).ok();
}

#[test]
fn a_path_with_dots_is_part_of_its_hierarchy() {
    for below in ["dir/sub", "h.zarr", "h.zarr/g"] {
        let folder = Folder::new();
        hierarchy(&folder);
        fs::create_dir_all(folder.join("dir/sub")).unwrap();
        let up = if below.contains('/') { "../.." } else { ".." };
        let run = |args: &[&str], path: &str| {
            let path = format!("{up}/h.zarr/{path}");
            let args = args.iter().map(|arg| if *arg == "PATH" { &path } else { *arg });
            zarr_in(&folder.join(below), args)
        };
        let info = run(&["info", "--json", "PATH"], "g/b").ok().json();
        assert_eq!(info["path"], "/g/b", "{below}");
        run(&["attrs", "set", "PATH", "units", "K"], "a").ok();
        run(&["create", "PATH", "--shape", "3", "--dtype", "int8"], "g/new").ok();
        run(&["rm", "PATH"], "g/b").ok();
        run(&["attrs", "set", "PATH", "units", "K"], "g/../a/../g").ok();
        run(&["consolidate", "--check", "PATH"], "").ok();
        run(&["rm", "PATH"], "").fails(2, &["3 nodes below it"]);
    }
    // `..` behind a link is the directory above its target.
    #[cfg(unix)]
    {
        let folder = Folder::new();
        hierarchy(&folder);
        std::os::unix::fs::symlink("h.zarr/g/b", folder.join("link")).unwrap();
        let info = zarr_in(folder.path(), ["info", "--json", "link/../../a"]).ok().json();
        assert_eq!(info["path"], "/a");
    }
}

#[test]
fn a_file_url_is_part_of_its_hierarchy() {
    let folder = Folder::new();
    hierarchy(&folder);
    let url = |path: &str| OsString::from(format!("file://{}/h.zarr/{path}", folder.path().display()));
    zarr(args!["attrs", "set", url("a"), "units", "K"]).ok();
    zarr(args!["create", url("g/new"), "--shape", "3", "--dtype", "int8"]).ok();
    zarr(args!["copy", "-q", url("a"), url("g/copy")]).ok();
    zarr(args!["rm", url("g/b")]).ok();
    zarr(args!["consolidate", "--check", folder.join("h.zarr")]).ok();
    // A copy that was interrupted before its marker was deleted.
    folder.write("h.zarr/g/copy/.zarr-copy.json", json!({ "copy_of": "/a", "digest": "" }).to_string());
    zarr(args!["rm", "--unfinished", url("g/copy")]).ok();
    assert!(!folder.join("h.zarr/g/copy/zarr.json").exists());
    zarr(args!["consolidate", "--check", folder.join("h.zarr")]).ok();
    // The part in front of `|zarr:` is the store, and nothing outside of it is read.
    zarr(args!["attrs", "set", url("a|zarr:"), "units", "C"]).ok();
    zarr(args!["consolidate", "--check", folder.join("h.zarr")]).exits(1);
}

#[cfg(all(feature = "s3", feature = "http"))]
#[test]
fn a_url_of_a_service_is_part_of_its_hierarchy() {
    use crate::bucket::Bucket;

    let folder = Folder::new();
    hierarchy(&folder);
    let bucket = Bucket::new();
    // A name that a URL of a web page would decode.
    bucket.upload(&folder.join("h.zarr"), "data/x%20 y/h.zarr");
    let url = |path: &str| OsString::from(format!("s3://bucket/data/x%20 y/h.zarr{path}"));
    let run = |args: &[OsString]| bucket.zarr(args.iter().cloned());
    let check = || {
        let done = run(&args!["consolidate", "--check", url("")]).0;
        assert_eq!(done.text(), "the consolidated metadata and the documents are the same\n");
    };
    let (done, requests) = run(&args!["attrs", "set", url("/a"), "units", "K"]);
    done.ok();
    check();
    // Looks at /h.zarr, and above it until there is no node.
    let above = requests.iter().filter(|(_, target)| !target.contains("h.zarr"));
    assert!(above.count() <= 4 && requests.len() <= 16, "{requests:?}");
    run(&args!["create", url("/g/new"), "--shape", "3", "--dtype", "int8"]).0.ok();
    check();
    run(&args!["copy", "-q", url("/a"), url("/g/copy")]).0.ok();
    check();
    run(&args!["rm", "-r", url("/g/")]).0.ok();
    check();
    // No --force is needed, because it is not the root.
    run(&args!["rm", url("/a")]).0.ok();
    check();
    assert_eq!(bucket.keys(), ["data/x%20 y/h.zarr/zarr.json"]);
    // A new node without a hierarchy around it is a store of its own.
    run(&args!["create", "--group", "s3://bucket/data/other.zarr"]).0.ok();
    assert!(bucket.keys().contains(&"data/other.zarr/zarr.json".to_owned()));
    run(&args!["rm", "s3://bucket/data/other.zarr"]).0.fails(2, &["this is the root of a store"]);
    // Reading looks at the node only.
    let (done, requests) = run(&args!["info", "s3://bucket/data/other.zarr"]);
    done.ok();
    assert!(requests.iter().all(|(_, target)| target.contains("other.zarr")), "{requests:?}");
}

#[test]
fn a_store_is_not_copied_into_itself() {
    let folder = Folder::new();
    hierarchy(&folder);
    folder.base("p.zarr");
    let url = |path: &str| OsString::from(format!("file://{}/{path}", folder.path().display()));
    for (from, to) in [("h.zarr", "h.zarr/g/sub"), ("h.zarr/g", "h.zarr/g/sub")] {
        let before = folder.contents("");
        let [source, target] = [from, to].map(|path| folder.join(path));
        zarr(args!["copy", "-q", &source, &target]).fails(2, &["is inside of", from]);
        zarr(args!["copy", "-q", &source, url(to)]).fails(2, &["is inside of", from]);
        zarr(args!["copy", "-q", url(from), url(to)]).fails(2, &["is inside of", from]);
        assert_eq!(folder.contents(""), before);
    }
    zarr(args!["copy", "-q", "--if-exists", "replace", folder.join("h.zarr"), folder.join("h.zarr/a")])
        .fails(2, &["is inside of"]);
    // A node beside the source may have a name that begins with that of the source.
    zarr(args!["copy", "-q", folder.join("h.zarr/g"), folder.join("h.zarr/g2")]).ok();
    let known = folder.node("h.zarr/a", &with(base(), &json!({ "attributes": { "x": 1 } })));
    zarr(args!["copy", "-q", "--if-exists", "replace", &known, &known]).ok();
}
