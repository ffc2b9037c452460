//! Stores with a URL: every verb accepts one, with the same result as for the directory.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::args;
use crate::harness::{Folder, base, base2, le, with, zarr, zarr_in};

/// Returns the URL of a directory.
fn url(path: &Path) -> String {
    let text = path.to_str().unwrap();
    format!("file://{}", text.replace('%', "%25").replace(' ', "%20"))
}

/// Returns a URL with the name of a node.
fn node(path: &Path, node: &str) -> OsString {
    format!("{}|zarr:{node}", url(path)).into()
}

/// Makes a hierarchy with consolidated metadata, and an array of format 2.
fn hierarchy() -> Folder {
    let folder = Folder::new();
    folder.group("a b/h.zarr");
    folder.base("a b/h.zarr/a");
    folder.group("a b/h.zarr/g");
    folder.node("a b/h.zarr/g/b", &with(base(), &json!({ "attributes": { "unit": "K" } })));
    zarr(args!["consolidate", folder.join("a b/h.zarr")]).ok();
    folder.array2("old.zarr", &base2());
    folder
}

#[test]
fn reading_by_url_equals_reading_by_path() {
    let folder = hierarchy();
    let root = folder.join("a b/h.zarr");
    for (verb, path) in [
        (&["info"][..], ""),
        (&["info"], "a"),
        (&["info", "--json", "--count"], "g/b"),
        (&["info", "--json"], "g"),
        (&["tree", "--sizes"], ""),
        (&["tree", "--json", "--no-consolidated"], "g"),
        (&["ls", "-l", "-R"], ""),
        (&["ls", "--json"], "g"),
        (&["cat", "-f", "raw"], "a"),
        (&["cat", "--format", "json", "-s", "1:3"], "g/b"),
        (&["chunks", "--json"], "g/b"),
        (&["chunks"], "a"),
        (&["explain", "-s", "1:3"], "a"),
        (&["validate", "--json"], ""),
        (&["validate"], "g"),
        (&["attrs", "get"], "g/b"),
        (&["consolidate", "--check"], ""),
        (&["rm", "-r", "--dry-run"], "g"),
    ] {
        let run = |place: OsString| zarr(verb.iter().map(OsString::from).chain([place])).ok();
        let by_path = run(if path.is_empty() { root.clone().into() } else { root.join(path).into() });
        let by_url = run(if path.is_empty() { url(&root).into() } else { node(&root, path) });
        let told = by_url.text().replace(&url(&root), root.to_str().unwrap()).replace("a%20b", "a b");
        assert_eq!(told, by_path.text(), "{verb:?} {path:?}");
    }
    let old = folder.join("old.zarr");
    let by_path = zarr(args!["cat", "-f", "raw", &old]).ok().out;
    for place in [url(&old), url(&old) + "|zarr2:", url(&old) + "|zarr:"] {
        assert_eq!(zarr(args!["cat", "-f", "raw", place]).ok().out, by_path);
    }
    zarr(args!["cat", "-f", "raw", url(&old) + "|zarr3:"])
        .fails(3, &["old.zarr", "there is no node of format 3 at \"/\""]);
    zarr(args!["migrate", "v3", "--dry-run", url(&old)]).ok();
}

#[test]
fn an_archive_is_read_by_its_url() {
    let folder = hierarchy();
    let root = folder.join("a b/h.zarr");
    zarr(args!["copy", "-q", &root, format!("{}|zip:", folder.join("x y%.zip").display())]).ok();
    let url = format!("{}|zip:|zarr:a", url(&folder.join("x y%.zip")));
    assert!(url.contains("/x%20y%25.zip"), "{url}");
    assert_eq!(
        zarr(args!["cat", "-f", "raw", url]).ok().out,
        zarr(args!["cat", "-f", "raw", root.join("a")]).ok().out
    );
}

#[test]
fn changes_by_url_equal_changes_by_path() {
    let steps = |place: &dyn Fn(&Folder, &str) -> OsString| {
        let folder = Folder::new();
        let at = |path: &str| place(&folder, path);
        zarr(args!["create", "--group", at("")]).ok();
        zarr(args!["create", at("x/y"), "--shape", "4", "--dtype", "int32", "--chunks", "2"]).ok();
        zarr(args!["create", at("x/z"), "--shape", "4", "--dtype", "int32", "--zarr-format", "3"]).ok();
        zarr(args!["consolidate", at("")]).ok();
        zarr(args!["attrs", "set", at("x/y"), "unit", "K"]).ok();
        zarr(args!["attrs", "merge", at(""), r#"{"a": 1, "b": 2}"#]).ok();
        zarr(args!["attrs", "rm", at(""), "a"]).ok();
        zarr(args!["create", at("x/z"), "--shape", "6", "--dtype", "uint8", "--if-exists", "replace"]).ok();
        zarr(args!["create", at("x/z"), "--group"]).fails(2, &["h.zarr", "\"/x/z\"", "already"]);
        zarr(args!["rm", at("x/y")]).ok();
        zarr(args!["rm", at("")]).fails(2, &["h.zarr", "2 nodes below it would be erased as well"]);
        folder
    };
    let by_path = steps(&|folder, path| folder.join("h.zarr").join(path).into());
    let by_url = steps(&|folder, path| node(&folder.join("h.zarr"), path));
    assert_eq!(by_url.contents("h.zarr"), by_path.contents("h.zarr"));
    zarr(args!["rm", "-r", "--force", url(&by_url.join("h.zarr"))]).ok();
    assert!(!by_url.join("h.zarr").exists());

    let migrated = |place: &dyn Fn(&Path) -> OsString| {
        let folder = Folder::new();
        folder.array2("old.zarr", &base2());
        let old = place(&folder.join("old.zarr"));
        zarr(args!["migrate", "v3", "-q", &old, place(&folder.join("new.zarr"))]).ok();
        zarr(args!["migrate", "v3", "-q", &old]).ok();
        zarr(args!["remove-metadata", "v2", "-q", &old]).ok();
        folder.contents("")
    };
    assert_eq!(migrated(&|path| url(path).into()), migrated(&|path| path.into()));
}

#[test]
fn a_missing_node_is_named_by_its_url() {
    let folder = hierarchy();
    let root = folder.join("a b/h.zarr");
    zarr(args!["info", url(&folder.join("no.zarr"))]).fails(3, &["no.zarr", "cannot open the directory"]);
    zarr(args!["info", node(&root, "g/x")]).fails(3, &["a%20b/h.zarr", "there is no node at \"/g/x\""]);
    zarr(args!["info", node(&root, "__x")]).fails(3, &["there is no node"]);
    zarr(args!["create", "--group", node(&root, "g/../x")]).exits(2);
    zarr(args!["create", "--group", node(&root, "a/x")]).fails(2, &["\"/a\" is an array"]);
    let asks = url(&folder.join("n.zarr")) + "|zarr2:";
    zarr(args!["create", "--group", "--zarr-format", "3", &asks]).fails(2, &["--zarr-format"]);
    assert!(!folder.join("n.zarr").exists());
    zarr(args!["create", "--group", &asks]).ok();
    assert_eq!(folder.files("n.zarr"), [".zgroup"]);
    zarr(args!["info", "s3:/x"]).fails(3, &["there is no directory"]);
    let archive = format!("{}|zip:", folder.join("nowhere.zip").display());
    zarr(args!["info", archive]).fails(3, &["nowhere.zip", "no such archive"]);
}

#[test]
fn a_store_in_memory_is_refused() {
    zarr(["create", "--group", "memory://"]).fails(6, &["unknown scheme \"memory\""]);
}

#[cfg(unix)]
#[test]
fn a_path_that_is_not_text_is_accepted() {
    use std::os::unix::ffi::OsStrExt;
    let folder = Folder::new();
    let name = std::ffi::OsStr::from_bytes(b"b\xff.zarr");
    let made = folder.base("a.zarr");
    fs::rename(made, folder.path().join(name)).unwrap();
    assert_eq!(zarr(args!["cat", "-f", "raw", folder.path().join(name)]).ok().out, le(&[1, 2, 7, 7]));
    // Its URL can escape any byte.
    let by_url = format!("{}/b%FF.zarr", url(folder.path()));
    assert_eq!(zarr(args!["cat", "-f", "raw", by_url]).ok().out, le(&[1, 2, 7, 7]));
}

#[cfg(unix)]
#[test]
fn rm_by_url_keeps_the_target_of_a_link() {
    let folder = hierarchy();
    std::os::unix::fs::symlink("../../../old.zarr", folder.join("a b/h.zarr/g/link")).unwrap();
    zarr(args!["rm", node(&folder.join("a b/h.zarr"), "g/link")]).fails(2, &["is a link"]);
    assert!(folder.join("old.zarr/.zarray").exists());
}

#[test]
fn a_copy_by_url_equals_the_copy_by_path() {
    let folder = hierarchy();
    let [root, by_path, by_url] = ["a b/h.zarr", "path.zarr", "url.zarr"].map(|name| folder.join(name));
    let options = ["--chunks", "1", "--codecs", "zstd", "--verify", "-q"];
    let copy = |from: &OsString, to: &OsString| {
        zarr(args!["copy", from, to].into_iter().chain(options.map(OsString::from)))
    };
    copy(&root.clone().into(), &by_path.into()).ok();
    copy(&url(&root).into(), &url(&by_url).into()).ok();
    assert_eq!(folder.contents("url.zarr"), folder.contents("path.zarr"));
    // An existing node stays.
    copy(&url(&root).into(), &url(&by_url).into()).fails(2, &["url.zarr", "the place is not empty"]);
    zarr(args!["copy", "--if-exists", "replace", url(&root), url(&by_url)])
        .fails(2, &["url.zarr", "only directories can be replaced"]);
    zarr(args!["copy", "--resume", url(&root), url(&by_url)]).fails(2, &["it holds no unfinished copy"]);
    // Into a hierarchy, whose consolidated metadata is updated.
    copy(&node(&root, "a"), &node(&by_url, "new/a")).ok();
    assert_eq!(folder.consolidated("url.zarr"), ["a", "g", "new", "g/b", "new/a"]);
    copy(&node(&root, "a"), &node(&by_url, "a/x")).fails(2, &["\"/a\" is an array"]);
    // In the format that the URL asks for.
    let old: OsString = format!("{}|zarr2:", url(&folder.join("two.zarr"))).into();
    zarr(args!["copy", "-q", "--zarr-format", "3", url(&root), &old])
        .fails(2, &["--zarr-format 3", "two.zarr", "asks for format 2"]);
    copy(&node(&root, "a"), &old).ok();
    assert!(folder.join("two.zarr/.zarray").exists());
}

/// Makes a group of two arrays. The second has a broken chunk, so a copy with other codecs stops there.
fn interrupted() -> Folder {
    let folder = Folder::new();
    folder.group("h.zarr");
    folder.base("h.zarr/a");
    folder.base("h.zarr/b");
    folder.write("h.zarr/b/c/1", [0]);
    folder
}

#[test]
fn an_interrupted_copy_is_resumed() {
    for place in [|path: &Path| OsString::from(path), |path: &Path| OsString::from(url(path))] {
        let folder = interrupted();
        let [from, to] = ["h.zarr", "i.zarr"].map(|name| folder.join(name));
        let copy = |options: &[&str]| {
            zarr(
                args!["copy", "-q", "--resume", "--codecs", "gzip", &from, place(&to)]
                    .into_iter()
                    .chain(options.iter().map(Into::into)),
            )
        };
        copy(&[]).exits(5).says(&["\"/b\", chunk [1]", "is not complete; `--resume` continues it"]);
        zarr(args!["info", place(&to)]).exits(3);
        folder.write("h.zarr/b/c/1", le(&[3, 4]));
        copy(&[]).ok();
        let files = ["a/c/0", "a/zarr.json", "b/c/0", "b/c/1", "b/zarr.json", "zarr.json"];
        assert_eq!(folder.files("i.zarr"), files);
        assert_eq!(zarr(args!["cat", "-f", "raw", to.join("b")]).ok().out, le(&[1, 2, 3, 4]));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}

#[test]
fn a_running_copy_is_not_resumed_by_another_process() {
    let folder = interrupted();
    let copy = || {
        zarr(args![
            "copy",
            "-q",
            "--resume",
            "--codecs",
            "gzip",
            folder.join("h.zarr"),
            folder.join("i.zarr")
        ])
    };
    copy().exits(5);
    let hidden = |entry: Result<fs::DirEntry, _>| {
        Some(entry.unwrap().path()).filter(|p| p.extension().unwrap() == "partial")
    };
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().filter_map(hidden).collect();
    let [left] = &left[..] else { panic!("{left:?}") };
    folder.write("h.zarr/b/c/1", le(&[3, 4]));
    let marker = fs::File::open(left.join(".zarr-copy.json")).unwrap();
    marker.lock().unwrap();
    copy().ok();
    assert!(left.join("a/c/0").exists());
    fs::remove_dir_all(folder.join("i.zarr")).unwrap();
    let made = fs::metadata(left.join("a/c/0")).unwrap().modified().unwrap();
    drop(marker);
    copy().ok();
    assert!(!left.exists());
    assert_eq!(fs::metadata(folder.join("i.zarr/a/c/0")).unwrap().modified().unwrap(), made);
}

#[test]
fn only_the_same_copy_is_resumed() {
    let folder = interrupted();
    let [from, to] = ["h.zarr", "i.zarr"].map(|name| url(&folder.join(name)));
    zarr(args!["copy", "-q", "--codecs", "gzip", &from, &to]).exits(5);
    zarr(args!["copy", "-q", "--codecs", "gzip", &from, &to])
        .fails(2, &["i.zarr", "an unfinished copy of", "h.zarr\"", "`--resume`"]);
    zarr(args!["copy", "-q", "--resume", "--codecs", "zstd", &from, &to]).fails(2, &["other options"]);
    folder.base("other.zarr");
    zarr(args!["copy", "-q", "--resume", folder.join("other.zarr"), &to]).fails(2, &["another source"]);
    // A chunk that changed meanwhile is copied again: one that the copy has, and one that is broken in the copy.
    folder.write("h.zarr/b/c/1", le(&[3, 4]));
    folder.write("h.zarr/a/c/0", le(&[5, 6]));
    folder.write("i.zarr/b/c/0", [0]);
    zarr(args!["copy", "-q", "--resume", "--codecs", "gzip", &from, &to]).ok();
    assert_eq!(zarr(args!["cat", "-f", "raw", folder.join("i.zarr/a")]).ok().out, le(&[5, 6, 7, 7]));
    assert_eq!(zarr(args!["cat", "-f", "raw", folder.join("i.zarr/b")]).ok().out, le(&[1, 2, 3, 4]));
}

#[test]
fn an_unfinished_copy_is_named_and_erased() {
    let folder = interrupted();
    let [from, to] = ["h.zarr", "i.zarr"].map(|name| url(&folder.join(name)));
    zarr(args!["copy", "-q", "--codecs", "gzip", &from, &to]).exits(5);
    zarr(args!["rm", &to]).fails(3, &["i.zarr", "no node at \"/\"", "h.zarr\"", "`zarr rm --unfinished`"]);
    zarr(args!["rm", "--unfinished", folder.join("j.zarr")])
        .fails(3, &["there is no unfinished copy to", "j.zarr"]);
    let dry = ["rm", "--unfinished", "--dry-run", &to];
    // The progress of the other array depends on timing.
    let left = ["/.zarr-copy.json", "/a", "/b"]
        .into_iter()
        .filter(|name| folder.join(&format!("i.zarr{name}")).exists());
    let left: Vec<_> = left.collect();
    assert_eq!(left[0], "/.zarr-copy.json");
    let text: String = left.iter().map(|name| format!("{name} (not a node)\n")).collect();
    assert_eq!(zarr(dry).ok().text(), text);
    // The path names the same place.
    let by_path = args!["rm", "--unfinished", "--dry-run", folder.join("i.zarr")];
    assert_eq!(zarr(by_path).ok().text(), text);
    let left: Vec<_> = left.iter().map(|path| json!({ "path": path })).collect();
    let wanted = json!({ "schema_version": 1, "dry_run": true, "nodes": [], "not_nodes": left });
    assert_eq!(zarr([&dry[..], &["--json"]].concat()).ok().json(), wanted);
    let erased = zarr(args!["rm", "--unfinished", &to]).ok();
    assert!(erased.text().starts_with("erased an unfinished copy of "), "{}", erased.text());
    assert!(!folder.join("i.zarr").exists());
    // Nothing else is erased.
    zarr(args!["rm", "--unfinished", &from]).fails(3, &["h.zarr", "there is no unfinished copy at \"/\""]);
    folder.write("h.zarr/.zarr-copy.json", "{}");
    zarr(args!["rm", "--unfinished", &from]).fails(3, &["there is no unfinished copy"]);
}

#[test]
fn options_for_stores_may_stand_anywhere() {
    let folder = hierarchy();
    let a = url(&folder.join("a b/h.zarr/a"));
    let options =
        ["--anon", "--endpoint", "http://127.0.0.1:1", "--region", "x", "--retries", "0", "--timeout", "0.5"];
    let options = options.map(OsString::from);
    let wanted = zarr(args!["cat", "-f", "raw", &a]).ok().out;
    assert_eq!(zarr(options.iter().cloned().chain(args!["cat", "-f", "raw", &a])).ok().out, wanted);
    assert_eq!(zarr(args!["cat", "-f", "raw", &a].into_iter().chain(options)).ok().out, wanted);
    zarr(args!["cat", "-f", "raw", &a, "--endpoint", "here"]).fails(2, &["--endpoint", "expected a URL"]);
    zarr(args!["cat", "-f", "raw", &a, "--in-flight", "0"]).exits(2);
    zarr(args!["--array_path", &a, "info", &a]).fails(2, &["--array_path"]);
    let file = folder.join("trace.jsonl");
    zarr(args!["cat", "-f", "raw", &a, "--trace", &file]).ok();
    let requests: Vec<Value> =
        fs::read_to_string(&file).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let chunk = requests.iter().find(|request| request["target"] == "c/0").unwrap();
    assert_eq!([&chunk["method"], &chunk["received"]], [&json!("GET"), &json!(8)]);
    assert!(requests.iter().any(|request| request["target"] == "c/1" && request["status"] == "absent"));
    // Documents that were read to find the array are not read again.
    assert_eq!(requests.iter().filter(|request| request["target"] == "zarr.json").count(), 1);
    // The same for a copy: its chunk, its document, and the group above with its consolidated metadata.
    let root = folder.join("a b/h.zarr");
    let told = |to: OsString| {
        zarr(args!["copy", "-q", root.join("a"), to, "--trace", &file]).ok();
        let text = fs::read_to_string(&file).unwrap();
        let requests = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let told = requests.map(|r| format!("{} {}", r["method"], r["target"]).replace('"', ""));
        told.collect::<Vec<String>>()
    };
    let mut written = told(root.join("new").into());
    written.retain(|request| ["PUT", "COPY"].contains(&request.split(' ').next().unwrap()));
    assert_eq!(written, ["COPY c/0", "PUT zarr.json", "PUT zarr.json"]);
    // Packing reads the content.
    let packed = told(format!("{}|zip:", folder.join("t.zip").display()).into());
    assert!(packed.ends_with(&["GET zarr.json".to_owned(), "GET c/0".to_owned()]), "{packed:?}");
    // A path is traced as well, even if the command fails.
    folder.write("bad.zarr/zarr.json", "{");
    zarr(args!["info", folder.join("bad.zarr"), "--trace", &file]).exits(1);
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("\"target\": \"zarr.json\"") && text.ends_with("}\n"), "{text}");
    zarr_in(folder.path(), args!["cat", "-f", "raw", &a, "--trace", "no/trace"]).fails(3, &["no/trace"]);
}

#[test]
fn durable_verbs_end_with_a_sync() {
    let folder = Folder::new();
    folder.group("h.zarr");
    for line in [
        "create h.zarr/a --shape 4 --dtype int32 --chunks 2",
        "write h.zarr/a -s 0:2 --value 5",
        "resize h.zarr/a 8",
        "attrs set h.zarr/a x 1",
        "consolidate h.zarr",
        "mv h.zarr/a h.zarr/b",
        "rm h.zarr/b",
    ] {
        zarr_in(folder.path(), line.split(' ').chain(["--durable", "--trace", "trace"])).exits(0);
        let text = fs::read_to_string(folder.join("trace")).unwrap();
        let requests = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let methods: Vec<String> = requests.map(|r| r["method"].as_str().unwrap().to_owned()).collect();
        let changes = ["PUT", "DELETE", "COPY"];
        let last = methods.iter().rposition(|method| changes.contains(&&method[..])).unwrap();
        assert!(methods[last..].contains(&"SYNC".to_owned()), "{line}: {methods:?}");
    }
    zarr_in(folder.path(), ["ls", "h.zarr", "--durable"]).fails(2, &["--durable is for verbs that write"]);
}

#[test]
fn a_copy_can_be_packed_and_read_in_its_archive() {
    let folder = hierarchy();
    let root = folder.join("a b/h.zarr");
    let zip = |below: &str| format!("{}|zip:{below}", folder.join("x.zip").display());
    for below in ["", "in/h.zarr"] {
        zarr(args!["copy", "-q", "--verify", &root, zip(below)]).ok();
        zarr(args!["copy", "-q", &root, zip("")]).fails(2, &["x.zip", "archives are not replaced"]);
        let tree = |store: OsString| zarr(args!["ls", "-l", "-R", store]).ok().out;
        assert_eq!(tree(zip(below).into()), tree(root.clone().into()));
        let [from, to] = [node(&root, "a"), (zip(below) + "|zarr3:a").into()];
        assert_eq!(
            zarr(args!["cat", "-f", "raw", to]).ok().out,
            zarr(args!["cat", "-f", "raw", from]).ok().out
        );
        zarr(args!["attrs", "set", zip(below), "a", "1"]).fails(6, &["x.zip", "read-only"]);
        // No other file is left.
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
        fs::remove_file(folder.join("x.zip")).unwrap();
    }
    zarr(args!["copy", "-q", &root, "s3://b/x.zip|zip:"]).fails(6, &["local files only"]);
    zarr(args!["copy", "-q", &root, zip("") + "|zarr3:a"]).fails(2, &["no groups above"]);

    // An interrupted copy is resumed here as well.
    let folder = interrupted();
    let [from, to] =
        [folder.join("h.zarr").into(), OsString::from(format!("{}|zip:", folder.join("y.zip").display()))];
    zarr(args!["copy", "-q", "--resume", "--codecs", "gzip", &from, &to]).exits(5);
    folder.write("h.zarr/b/c/1", le(&[3, 4]));
    zarr(args!["copy", "-q", "--resume", "--codecs", "gzip", &from, &to]).ok();
    assert_eq!(
        zarr(args!["cat", "-f", "raw", format!("{}|zarr:b", to.to_str().unwrap())]).ok().out,
        le(&[1, 2, 3, 4])
    );
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

/// A job that is queued again must not fail because an earlier run has finished.
#[test]
fn a_complete_copy_is_resumed_without_a_change() {
    for place in [|path: &Path| OsString::from(path), |path: &Path| OsString::from(url(path))] {
        let folder = hierarchy();
        let (from, to) = (folder.join("a b/h.zarr"), place(&folder.join("i.zarr")));
        let copy = |options: &[&str]| {
            zarr(args!["copy", "--resume", &from, &to].into_iter().chain(options.iter().map(Into::into)))
        };
        copy(&["-q", "--codecs", "zstd"]).ok();
        let before = folder.contents("");
        let done = copy(&["--codecs", "zstd"]).ok();
        assert_eq!(done.text(), "the copy is complete already\n");
        let done = copy(&["--codecs", "zstd", "--verify"]).ok();
        assert!(done.text().starts_with("the copy is complete already; compared "), "{}", done.text());
        assert_eq!(folder.contents(""), before);
        // Another copy is no copy of this source with these options.
        copy(&["--codecs", "gzip"]).fails(2, &["i.zarr"]);
        zarr(args!["copy", "--resume", from.join("a"), &to]).fails(2, &["i.zarr"]);
        folder.write("i.zarr/a/c/0", [0]);
        copy(&["--codecs", "zstd", "--verify"]).exits(5);
        assert_eq!(fs::read(folder.join("i.zarr/a/c/0")).unwrap(), [0]);
    }
}
