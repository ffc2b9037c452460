//! ZIP archives that are named like directories: `a.zip`, `a.zip/path`.

use std::fs;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use zarr_array::traits::{Key, Prefix};
use zarr_array::{Storage, block_on};
use zarr_store::zip::ZipStore;
use zarr_store_fs::FsStore;

use crate::args;
use crate::harness::{Folder, zarr, zarr_in};

fn hierarchy(folder: &Folder) {
    folder.group("h.zarr");
    folder.base("h.zarr/a");
    folder.group("h.zarr/g");
    folder.base("h.zarr/g/b");
}

#[test]
fn an_archive_is_named_like_a_directory() {
    let folder = Folder::new();
    hierarchy(&folder);
    let run = |text: &str| zarr_in(folder.path(), text.split(' '));
    run("copy -q h.zarr x%20y.zip").ok();
    assert!(folder.join("x%20y.zip").is_file());
    // The content decides, not the name.
    fs::rename(folder.join("x%20y.zip"), folder.join("x.data")).unwrap();
    assert_eq!(run("ls -R x.data").ok().text(), run("ls -R h.zarr").ok().text());
    assert_eq!(run("cat -f raw x.data/g/b").ok().out, run("cat -f raw h.zarr/g/b").ok().out);
    assert_eq!(run("info --json x.data/g/b").ok().json()["path"], "/g/b");
    run("copy -q x.data back.zarr").ok();
    assert_eq!(folder.files("back.zarr"), folder.files("h.zarr"));
    run("info x.data/g/no").fails(3, &["x.data", "there is no node at \"/g/no\""]);
    run("attrs set x.data/a u 1").fails(6, &["x.data", "read-only"]);
    // An existing file is not replaced, and a file that is no archive is named as such.
    run("copy -q h.zarr x.data").fails(2, &["x.data", "archives are not replaced"]);
    folder.write("text.zip", "text");
    run("copy -q h.zarr text.zip").fails(2, &["text.zip", "exists and is not a directory"]);
    run("info text.zip").fails(3, &["text.zip", "is neither a directory nor a ZIP archive"]);
    run("create a.zip --group").fails(6, &["a.zip", "`zarr copy` writes archives"]);
    assert!(!folder.join("a.zip").exists());
}

#[test]
fn data_of_other_formats_is_named() {
    let folder = Folder::new();
    for (name, start, format) in [
        ("a.nc", &b"\x89HDF\r\n\x1a\n\0"[..], "an HDF5 or NetCDF 4 file"),
        ("b.nc", b"CDF\x02\0\0", "a NetCDF 3 file"),
        ("c.tif", b"II*\0", "a TIFF file"),
        ("d.db", b"SQLite format 3\0", "an SQLite database"),
        ("ice/snapshots/1", b"", "an Icechunk repository (put \"|icechunk:\" behind its name"),
        (
            "r.json",
            b"{\"version\": 1, \"refs\": {}}",
            "a file of kerchunk references (put \"|kerchunk:\" behind its name",
        ),
        (
            "r.parq/.zmetadata",
            b"{\"metadata\": {}, \"record_size\": 1}",
            "a directory of kerchunk references (put \"|kerchunk:\" behind its name",
        ),
        ("n5/attributes.json", b"{}", "an N5 container"),
    ] {
        folder.write(name, start);
        folder.write("ice/manifests/1", "");
        let top = name.split('/').next().unwrap();
        zarr(args!["info", folder.join(top)]).fails(6, &[top, format, "not a Zarr store"]);
    }
    // A document is none of these, whatever it names.
    folder.write("x/zarr.json", r#"{"refs": "zarr.json"}"#);
    folder.write("x/.zmetadata", r#"{"metadata": {".zgroup": {}}}"#);
    for name in ["x/zarr.json", "x/.zmetadata"] {
        let failed = zarr(args!["info", folder.join(name)]).exits(3);
        assert!(!failed.err.contains("kerchunk"), "{}", failed.err);
    }
    folder.write("short", "CD");
    zarr(args!["info", folder.join("short")]).fails(3, &["is neither a directory"]);
}

#[test]
fn references_are_read_where_they_are_allowed() {
    let folder = Folder::new();
    folder.write("elsewhere/x.bin", [7, 8, 9, 10]);
    folder.write("here/y.bin", [0, 5, 6]);
    let array = r#"{"zarr_format": 2, "shape": [6], "chunks": [2], "dtype": "|u1", "compressor": null, "filters": null,
        "fill_value": 0, "order": "C"}"#;
    let references = format!(
        r#"{{"a/.zarray": {array}, "a/0": ["y.bin", 1, 2], "a/1": ["s3://far/x.bin", 2, 2], "a/2": "AB"}}"#
    );
    folder.write("here/refs.json", references);
    let url = folder.join("here/refs.json").to_str().unwrap().to_owned() + "|kerchunk:";
    let node = url.clone() + "a";
    zarr(args!["ls", &url]).ok();
    assert_eq!(zarr(args!["cat", &node, "-s", ":2", "--format", "json"]).ok().text(), "[5,6]\n");
    let refused =
        ["key \"a/1\"", "s3://far/x.bin", "references may not name this place", "`--allow-references`"];
    zarr(args!["cat", "-f", "raw", &node]).fails(8, &refused);
    let place = format!("s3://far/={}/", folder.join("elsewhere").display());
    let allowed = args!["cat", &node, "--format", "json", "--allow-references", place];
    assert_eq!(zarr(allowed).ok().text(), "[5,6,9,10,65,66]\n");
    zarr(args!["attrs", "set", &node, "u", "1"]).fails(6, &["read-only"]);
    zarr(args!["info", "x.json|kerchunk:", "--allow-references", "data"])
        .fails(2, &["--allow-references", "absolute"]);
}

/// Writes the part of the fixtures of references below a prefix into a folder.
pub(crate) fn unpacked(folder: &Folder, prefix: &str) {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/references");
    let fixtures = Storage::from(FsStore::open(fixtures).unwrap());
    let archive = ZipStore::open(&fixtures, Key::new("references.zip").unwrap(), Prefix::root());
    let archive = block_on(archive).unwrap();
    for listed in block_on(archive.list_all(&Prefix::new(prefix).unwrap())).unwrap() {
        let bytes = block_on(archive.get(&listed.key, 1 << 30)).unwrap().unwrap();
        folder.write(listed.key.as_str(), bytes);
        // Some references say when their object was changed.
        let file = fs::File::options().write(true).open(folder.join(listed.key.as_str())).unwrap();
        file.set_modified(UNIX_EPOCH + Duration::from_secs(1_700_000_000)).unwrap();
    }
}

#[test]
fn an_icechunk_repository_is_read_at_a_branch_a_tag_or_a_snapshot() {
    let folder = Folder::new();
    for prefix in ["icechunk/v2-basic/", "icechunk/v2-virtual/", "data/"] {
        unpacked(&folder, prefix);
    }
    let at = |repository: &str, path: &str| {
        let repository = folder.join("icechunk").join(repository);
        format!("{}|icechunk:{path}", repository.to_str().unwrap())
    };
    let main = zarr(args!["ls", "-R", at("v2-basic", "")]).ok().text().to_owned();
    assert!(main.contains("deep/er/b") && !main.contains("lat"), "{main}");
    for state in ["@branch.dev", "@tag.v1.0", "@A0DR3YAWJW7TEGTQM67G", "@branch.dev/|zarr3:"] {
        let other = zarr(args!["ls", "-R", at("v2-basic", state)]).ok().text().to_owned();
        assert!(other.contains("lat"), "{state}: {other}");
    }
    zarr(args!["info", at("v2-basic", "@tag.second%20tag/deep/er/b")]).ok();
    zarr(args!["info", at("v2-basic", "@branch.no")])
        .fails(3, &["no branch \"no\": there are \"dev\", \"main\""]);
    zarr(args!["info", at("v2-basic", "@no")]).fails(2, &["neither \"branch.NAME\" nor \"tag.NAME\""]);
    zarr(args!["info", at("nowhere", "")]).exits(3);
    zarr(args!["attrs", "set", at("v2-basic", ""), "u", "1"]).fails(6, &["read-only"]);
    // Virtual chunks are read where they are allowed.
    let raw = at("v2-virtual", "raw");
    zarr(args!["checksum", &raw]).fails(8, &["file:///zarr-references/data/", "`--allow-references`"]);
    let place = format!("file:///zarr-references/data/={}/", folder.join("data").display());
    zarr(args!["copy", "-q", at("v2-virtual", ""), folder.join("x.zarr"), "--allow-references", &place]).ok();
    let sum = zarr(args!["checksum", &raw, "--allow-references", &place]).ok().text().to_owned();
    let copied = zarr(args!["checksum", folder.join("x.zarr/raw")]).ok().text().to_owned();
    let digest = |text: &str| text.split_whitespace().next().map(str::to_owned);
    assert_eq!(digest(&sum), digest(&copied));
}

#[test]
fn a_directory_may_have_the_name_of_an_archive() {
    let folder = Folder::new();
    hierarchy(&folder);
    fs::rename(folder.join("h.zarr"), folder.join("h.zip")).unwrap();
    zarr(args!["info", folder.join("h.zip/a")]).ok();
    zarr(args!["copy", "-q", folder.join("h.zip/a"), folder.join("h.zip/c")]).ok();
    zarr(args!["attrs", "set", folder.join("h.zip/c"), "u", "1"]).ok();
    assert!(folder.join("h.zip/c/zarr.json").is_file());
}
