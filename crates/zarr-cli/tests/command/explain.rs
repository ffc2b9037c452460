//! `zarr explain` shows the cost of reads, without reading data.

use std::fs;

use serde_json::{Value, json};

use crate::args;
use crate::harness::{Folder, array, zarr};

/// Makes arrays of 256 × 256 bytes: one plain chunk; one chunk with a checksum, which is read whole; one shard with
/// inner chunks of 64 × 64 with checksums; and chunks of 64 × 64, two of them missing.
fn arrays() -> Folder {
    let folder = Folder::new();
    let plain = json!([{ "name": "bytes" }]);
    let sum = r#"["bytes","crc32c"]"#;
    folder.node("plain", &array(&[256, 256], "uint8", &[256, 256], &json!(0), &plain));
    folder.write("plain/c/0/0", vec![1; 1 << 16]);
    for (name, options) in [
        ("whole", &["--codecs", sum][..]),
        ("shards", &["--chunks", "64,64", "--shards", "256,256", "--codecs", sum]),
        ("holes", &["--chunks", "64,64", "--codecs", sum]),
    ] {
        let mut args = args!["copy", "-q", folder.join("plain"), folder.join(name)].to_vec();
        args.extend(options.iter().map(Into::into));
        zarr(args).ok();
    }
    for hole in ["holes/c/0/0", "holes/c/1/1"] {
        fs::remove_file(folder.join(hole)).unwrap();
    }
    folder
}

fn text(folder: &Folder, path: &str, selection: &str) -> String {
    zarr(args!["explain", "-s", selection, folder.join(path)]).ok().text().to_owned()
}

#[test]
fn json_has_the_cost_of_a_read() {
    let folder = arrays();
    let names = [
        "chunks",
        "chunks_stored",
        "inner_chunks",
        "requests",
        "ranges_wanted",
        "ranges",
        "bytes",
        "bytes_useful",
        "bytes_result",
    ];
    for (path, selection, wanted) in [
        // Two rows of three become one range, with the gap between them.
        ("plain", "0:2,0:3", [1, 1, 0, 1, 1, 1, 259, 6, 6]),
        ("plain", "...", [1, 1, 0, 1, 1, 1, 1 << 16, 1 << 16, 1 << 16]),
        ("whole", "0,0", [1, 1, 0, 1, 1, 1, (1 << 16) + 4, (1 << 16) + 4, 1]),
        // The index of 16 entries with its checksum, then two adjacent inner chunks.
        ("shards", "0:10,60:70", [1, 1, 2, 2, 3, 2, 260 + 2 * 4100, 2 * 4100, 100]),
        ("holes", "0:128,0:128", [4, 2, 0, 4, 4, 4, 2 * 4100, 2 * 4100, 1 << 14]),
        ("holes", "5:5", [0; 9]),
        ("shards", "5:5", [0; 9]),
    ] {
        let done = zarr(args!["explain", "--json", "-s", selection, folder.join(path)]).ok();
        let told = done.json();
        let numbers: Vec<Value> = names.iter().map(|name| told[name].clone()).collect();
        assert_eq!(json!(numbers), json!(wanted), "{path} {selection}");
        assert!(told["peak_memory"].as_u64() >= told["bytes_result"].as_u64(), "{path} {selection}");
        assert_eq!(told.as_object().unwrap().len(), ["schema_version"].len() + names.len() + 1);
    }
}

#[test]
fn text_has_the_cost_of_a_read_and_a_hint() {
    let folder = arrays();
    let wanted = "\
reads        64.0 KiB in 1 request for 1 byte (65,540 ×)
result       scalar, 1 byte
chunks       1 touched, 1 of them stored
ranges       1
peak memory  about 128 KiB
hint: the selection touches 1 chunk of 64.0 KiB, uncompressed, for 1 byte of result; smaller chunks would help
";
    assert_eq!(text(&folder, "whole", "0,0"), wanted);
    let wanted = "\
reads         8.26 KiB in 2 requests for 100 bytes (84 ×)
result        10 × 10, 100 bytes
shards        1 touched, 1 of them stored
inner chunks  2 touched
ranges        3 wanted, 2 after merging those close together
of them       8.01 KiB in chunks, 96 %: the others are indexes and gaps
peak memory   about 12.4 KiB
";
    assert_eq!(text(&folder, "shards", "0:10,60:70"), wanted);
    let wanted = "\
reads        0 bytes in 0 requests for 0 bytes
result       0 × 256, 0 bytes
chunks       0 touched, 0 of them stored
ranges       0
peak memory  about 0 bytes
";
    assert_eq!(text(&folder, "holes", "5:5"), wanted);
}

#[test]
fn there_is_a_hint_only_where_another_shape_is_sure_to_help() {
    let folder = arrays();
    let sum = r#"["bytes","crc32c"]"#;
    let copy = |name: &str, options: [&str; 4]| {
        let mut args = args!["copy", "-q", folder.join("plain"), folder.join(name), "--codecs", sum].to_vec();
        args.extend(options.map(Into::into));
        zarr(args).ok();
    };
    copy("large", ["--chunks", "256,256", "--shards", "512,256"]);
    for (path, selection, hint) in [
        (
            "large",
            "3:5,3",
            Some(
                "touches 1 inner chunk of 64.0 KiB, uncompressed, for 2 bytes of result; smaller inner chunks",
            ),
        ),
        // Without compression only the selected rows are read.
        (
            "plain",
            ":,0",
            Some("touches 1 chunk of 64.0 KiB, uncompressed, for 256 bytes of result; smaller chunks"),
        ),
        // No hint: most of the chunk is used, only a part is read, chunks are small, or no chunk is stored.
        ("whole", "0:64", None),
        ("plain", "0,0", None),
        ("holes", "1,200", None),
        ("holes", "0,0", None),
        // Smaller chunks would not help here.
        ("whole", "::128,::128", None),
    ] {
        let text = text(&folder, path, selection);
        let found = text.lines().find(|line| line.starts_with("hint: "));
        assert_eq!(found.is_some(), hint.is_some(), "{path} {selection}: {text}");
        assert!(found.unwrap_or_default().contains(hint.unwrap_or_default()), "{text}");
    }
}

#[test]
fn errors_are_the_same_as_in_cat() {
    let folder = arrays();
    let shard = folder.join("shards/c/0/0");
    let mut bytes = fs::read(&shard).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(shard, bytes).unwrap();
    let explain = |path: &str, selection: &str| zarr(args!["explain", "-s", selection, folder.join(path)]);
    explain("shards", "0,0").fails(5, &["array \"/\", chunk [0, 0] (key \"c/0/0\")", "index", "checksum"]);
    explain("plain", "256").fails(2, &["array \"/\"", "index 256 is outside of dimension 0"]);
    explain("plain", "0,0,0").fails(2, &["the selection has 3 dimensions, the array has 2"]);
    explain("plain", "::0").exits(2);
    folder.group("group");
    explain("group", "0").fails(3, &["there is a group, not an array"]);
    // No data is read, so chunks may hold anything.
    fs::write(folder.join("holes/c/3/3"), "?").unwrap();
    explain("holes", "-1,-1").ok();
}

/// A whole array that is larger than any memory has a cost, too.
#[test]
fn an_array_larger_than_memory_is_explained() {
    let folder = Folder::new();
    let chunks = json!([{ "name": "bytes" }]);
    folder.node("huge", &array(&[1000, 1 << 40], "uint8", &[1, 1 << 40], &json!(0), &chunks));
    let text = zarr(args!["explain", folder.join("huge")]).ok().text().to_owned();
    assert!(text.contains("chunks       1000 touched") && text.contains("1000 TiB"), "{text}");
}

/// The store is asked for each chunk, so their number is limited.
#[test]
fn a_part_of_too_many_chunks_is_explained_instead_of_all() {
    let folder = Folder::new();
    let chunks = json!([{ "name": "bytes" }]);
    folder.node("many", &array(&[1 << 40], "uint8", &[1], &json!(0), &chunks));
    let parts =
        ["array \"/\"", "touches 1099511627776 chunks", "choose a part with `-s`, such as `-s 0:100`"];
    zarr(args!["explain", folder.join("many")]).fails(11, &parts);
    assert!(text(&folder, "many", "0:100").contains("100 touched"));
}
