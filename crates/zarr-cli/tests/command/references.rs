//! References of kerchunk and Icechunk repositories: what they hold, in archives, over HTTP, damaged, and copied.

use std::fs;
use std::time::{Duration, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::archives::unpacked;
use crate::args;
use crate::harness::{Done, Folder, zarr};

/// A folder with parts of the fixtures, and the files that they refer to.
fn fixtures(prefixes: &[&str]) -> Folder {
    let folder = Folder::new();
    for prefix in prefixes.iter().chain(&["data/"]) {
        unpacked(&folder, prefix);
    }
    folder
}

/// The option that allows the places of the fixtures.
fn allowed(folder: &Folder) -> String {
    format!("--allow-references=file:///zarr-references/data/={}/", folder.join("data").display())
}

fn url(folder: &Folder, place: &str) -> String {
    folder.join(place).to_str().unwrap().to_owned()
}

fn archive() -> String {
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../../conformance/references/references.zip");
    fixtures.to_owned()
}

/// The digest of a node.
fn digest(done: Done) -> String {
    let done = done.ok();
    done.text().split_whitespace().next().unwrap().to_owned()
}

#[test]
fn an_archive_holds_references_and_repositories() {
    let folder = fixtures(&["icechunk/v2-history/", "kerchunk/weather.parq/"]);
    unpacked(&folder, "kerchunk/");
    for (inner, outer) in [
        ("icechunk/v2-history", "icechunk:@branch.side"),
        ("icechunk/v2-history", "icechunk:@tag.keep/x"),
        ("kerchunk/inline.json", "kerchunk:lat"),
        ("kerchunk/weather.parq", "kerchunk:lat"),
    ] {
        let of = |place: String| zarr(args!["checksum", format!("{place}|{outer}"), allowed(&folder)]);
        let in_archive = digest(of(format!("{}|zip:{inner}", archive())));
        assert_eq!(in_archive, digest(of(url(&folder, inner))), "{inner} {outer}");
    }
    // A relative location leads anywhere in the archive, and not out of it.
    let relative = format!("{}|zip:kerchunk/relative.json|kerchunk:a", archive());
    let own = url(&folder, "kerchunk/relative.json") + "|kerchunk:a";
    let beside = format!("--allow-references={}/", folder.join("data").display());
    assert_eq!(digest(zarr(args!["checksum", relative])), digest(zarr(args!["checksum", own, beside])));
    // References may name what an archive holds.
    let place = format!("--allow-references=file:///zarr-references/data/={}|zip:data/", archive());
    let node = url(&folder, "kerchunk/weather.json") + "|kerchunk:lat";
    assert_eq!(
        digest(zarr(args!["checksum", &node, place])),
        digest(zarr(args!["checksum", &node, allowed(&folder)]))
    );
    zarr(args!["info", format!("{}|zip:|kerchunk:", archive())]).exits(3);
    zarr(args!["info", format!("{}|zip:no|icechunk:", archive())])
        .fails(2, &["the archive has nothing below \"no/\""]);
}

/// The findings with a code, with the paths of their nodes.
fn dangling(report: &Value) -> Vec<(&str, &Value)> {
    let nodes = report["nodes"].as_array().unwrap().iter();
    let all = nodes.flat_map(|node| {
        let findings = node["findings"].as_array().unwrap().iter();
        findings.map(|finding| (node["path"].as_str().unwrap(), finding))
    });
    all.filter(|(_, finding)| finding["code"] == "dangling-reference").collect()
}

#[test]
fn validate_names_each_target_that_dangles_once() {
    let folder = fixtures(&["icechunk/v2-virtual/"]);
    let store = url(&folder, "icechunk/v2-virtual") + "|icechunk:";
    let place = |file: &str| {
        let to = folder.join("data").join(file);
        format!("--allow-references=file:///zarr-references/data/{file}={}", to.display())
    };
    zarr(args!["validate", "--data", &store, allowed(&folder)]).ok();
    // One file is not allowed.
    let report = |code| {
        let options = args![place("raw.bin"), place("grid.h5")];
        zarr(args!["validate", "--data", "--json", &store].into_iter().chain(options)).exits(code).json()
    };
    let forbidden = report(8);
    let found = dangling(&forbidden);
    assert_eq!(found.len(), 1, "{found:?}");
    let (path, finding) = found[0];
    let whole = "file:///zarr-references/data/whole.bin";
    assert_eq!((path, &finding["key"], &finding["index"]), ("/inl", &json!("inl/c/2"), &json!([2])));
    assert_eq!(
        (&finding["target"], &finding["reason"], &finding["chunks"]),
        (&json!(whole), &json!("not allowed"), &json!(1))
    );
    let said = format!(
        "\"{whole}\" is not allowed: allow it, or a folder above it, with `--allow-references`; 1 chunk refers to it"
    );
    assert_eq!(finding["message"], said);
    // One is missing, and one was changed after some of the references were made.
    fs::remove_file(folder.join("data/raw.bin")).unwrap();
    let grid = fs::File::options().write(true).open(folder.join("data/grid.h5")).unwrap();
    grid.set_modified(UNIX_EPOCH + Duration::from_secs(1_800_000_000)).unwrap();
    let damaged = report(5);
    let found = dangling(&damaged);
    let what = |path: &str| {
        let (_, finding) = found.iter().find(|(of, _)| *of == path).unwrap();
        let chunks = finding["chunks"].as_u64().unwrap();
        let target = finding["target"].as_str().unwrap().rsplit('/').next().unwrap();
        (target, finding["reason"].as_str().unwrap(), chunks, finding["key"].as_str().unwrap())
    };
    assert_eq!(found.len(), 3, "{found:?}");
    let (target, reason, chunks, key) = what("/raw");
    assert_eq!((target, reason, key), ("raw.bin", "missing", "raw/c/0/0"));
    assert!(chunks > 1);
    assert_eq!(what("/inl"), ("whole.bin", "not allowed", 1, "inl/c/2"));
    let (target, reason, chunks, key) = what("/h5");
    assert_eq!((target, reason, key), ("grid.h5", "changed", "h5/c/0/0"));
    assert!(chunks > 1);
    // As text.
    let done = zarr(args!["validate", "--data", &store, place("raw.bin"), place("grid.h5")]).exits(5);
    let line = "error dangling-reference in chunk [0, 0] (key \"h5/c/0/0\"): \"file:///zarr-references/data/grid.h5\" has changed since";
    assert!(done.text().contains(line), "{}", done.text());
    // A file that became shorter.
    let raw = fs::File::create(folder.join("data/raw.bin")).unwrap();
    raw.set_len(100).unwrap();
    let damaged = report(5);
    assert!(dangling(&damaged).iter().any(|(path, of)| *path == "/raw" && of["reason"] == "too short"));
}

#[test]
fn validate_names_the_targets_of_references_of_kerchunk() {
    let folder = fixtures(&["kerchunk/"]);
    fs::remove_file(folder.join("data/classic.nc")).unwrap();
    let store = url(&folder, "kerchunk/classic.json") + "|kerchunk:";
    let report = zarr(args!["validate", "--data", "--json", &store, allowed(&folder)]).exits(5).json();
    let found = dangling(&report);
    assert!(found.len() > 1, "{report}");
    for (_, finding) in found {
        assert_eq!(
            (&finding["target"], &finding["reason"]),
            (&json!("/zarr-references/data/classic.nc"), &json!("missing"))
        );
    }
}
