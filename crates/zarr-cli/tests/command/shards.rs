//! `zarr copy` with shards in the copy or in the source.

use std::fs;

use serde_json::{Value, json};

use crate::args;
use crate::harness::{Done, Folder, array, base, le, with, zarr};

fn copy(folder: &Folder, source: &str, destination: &str, options: &[&str]) -> Done {
    let mut args = args!["copy", "-q", "--verify", folder.join(source), folder.join(destination)].to_vec();
    args.extend(options.iter().map(Into::into));
    zarr(args)
}

fn bytes() -> Value {
    json!({ "name": "bytes", "configuration": { "endian": "little" } })
}

/// Returns the sharding codec with inner chunks of this shape, in its full form.
fn sharding(chunk_shape: &Value, codecs: &Value) -> Value {
    json!({ "name": "sharding_indexed", "configuration": {
        "chunk_shape": chunk_shape, "codecs": codecs, "index_codecs": [bytes(), { "name": "crc32c" }],
        "index_location": "end"
    } })
}

/// Makes an array of 7 × 9 numbers in compressed chunks of 2 × 3; the first chunk holds only the fill value.
fn numbers(folder: &Folder) -> Vec<u8> {
    let gzip = json!({ "name": "gzip", "configuration": { "level": 1 } });
    let all: Vec<i32> = (0..63).map(|i| if i / 9 < 2 && i % 9 < 3 { 0 } else { i }).collect();
    let codecs = json!([bytes()]);
    folder.node("raw.zarr", &array(&[7, 9], "int32", &[7, 9], &json!(0), &codecs));
    folder.write("raw.zarr/c/0/0", le(&all));
    let codecs = json!([bytes(), gzip]).to_string();
    copy(folder, "raw.zarr", "plain.zarr", &["--chunks", "2,3", "--codecs", &codecs]).ok();
    le(&all)
}

#[test]
fn shards_are_written_and_read_back() {
    let folder = Folder::new();
    let numbers = numbers(&folder);
    let gzip = json!([bytes(), { "name": "gzip", "configuration": { "level": 1 } }]);
    let zstd = json!([bytes(), { "name": "zstd", "configuration": { "level": 3, "checksum": false } }]);
    // The options; the expected shards, chunks and inner codecs; the expected objects.
    for (options, shards, chunks, codecs, objects) in [
        // No side of the array is a multiple of the shard shape.
        (&["--shards", "4,6"][..], json!([4, 6]), json!([2, 3]), &gzip, 4),
        (&["--shards", "6,6", "--chunks", "3,2"], json!([6, 6]), json!([3, 2]), &gzip, 4),
        (&["--shards", "4,6", "--codecs", "zstd"], json!([4, 6]), json!([2, 3]), &zstd, 4),
        // One shard larger than the array; and shards of one chunk, one of them not stored.
        (&["--shards", "20,30"], json!([20, 30]), json!([2, 3]), &gzip, 1),
        (&["--shards", "2,3"], json!([2, 3]), json!([2, 3]), &gzip, 11),
    ] {
        let path = format!("{}.zarr", options.join(" "));
        copy(&folder, "plain.zarr", &path, options).ok();
        let document = folder.document(&path);
        assert_eq!(document["chunk_grid"]["configuration"]["chunk_shape"], shards, "{options:?}");
        assert_eq!(document["codecs"], json!([sharding(&chunks, codecs)]), "{options:?}");
        assert_eq!(folder.files(&path).len(), 1 + objects, "{options:?}");
        assert_eq!(zarr(args!["cat", "-f", "raw", folder.join(&path)]).ok().out, numbers, "{options:?}");
        zarr(args!["validate", folder.join(&path)]).ok();
    }
}

#[test]
fn an_array_keeps_its_shards_without_options() {
    let folder = Folder::new();
    let numbers = numbers(&folder);
    copy(&folder, "plain.zarr", "a.zarr", &["--shards", "4,6"]).ok();
    let sharded = folder.document("a.zarr");
    copy(&folder, "a.zarr", "b.zarr", &[]).ok();
    assert_eq!(folder.document("b.zarr"), sharded);

    let plain = folder.document("plain.zarr");
    let zstd = json!([bytes(), { "name": "zstd", "configuration": { "level": 3, "checksum": false } }]);
    let lost = "array \"/\": the copy has no shards; those of the source are --shards 4,6";
    // Chunks and codecs mean those inside of the shards.
    for (options, chunks, codecs, note) in [
        (&["--shards", "none"][..], json!([2, 3]), &plain["codecs"], None),
        (&["--chunks", "3,3"], json!([3, 3]), &plain["codecs"], Some(lost)),
        (&["--codecs", "zstd"], json!([2, 3]), &zstd, Some(lost)),
        (&["--shards", "none", "--codecs", "zstd", "--chunks", "5,5"], json!([5, 5]), &zstd, None),
    ] {
        let path = format!("{}.zarr", options.join(" "));
        let done = copy(&folder, "a.zarr", &path, options);
        match note {
            Some(note) => done.ok_with_notes().says(&[note]),
            None => drop(done.ok()),
        }
        let document = folder.document(&path);
        assert_eq!(document["chunk_grid"]["configuration"]["chunk_shape"], chunks, "{options:?}");
        assert_eq!(&document["codecs"], codecs, "{options:?}");
        assert_eq!(zarr(args!["cat", "-f", "raw", folder.join(&path)]).ok().out, numbers, "{options:?}");
    }
    copy(&folder, "a.zarr", "c.zarr", &["--shards", "2,9"]).ok();
    assert_eq!(folder.document("c.zarr")["codecs"], json!([sharding(&json!([2, 3]), &plain["codecs"])]));
    // Without shards, `none` changes nothing.
    copy(&folder, "plain.zarr", "d.zarr", &["--shards", "none"]).ok();
    assert_eq!(folder.document("d.zarr"), plain);
}

#[test]
fn shards_in_shards_and_behind_a_transpose_are_understood() {
    let folder = Folder::new();
    let numbers = numbers(&folder);
    let transpose = json!({ "name": "transpose", "configuration": { "order": [1, 0] } });
    let inner = sharding(&json!([3, 2]), &json!(["bytes"]));
    let codecs = json!([transpose, sharding(&json!([3, 4]), &json!([inner]))]).to_string();
    copy(&folder, "plain.zarr", "a.zarr", &["--chunks", "8,6", "--codecs", &codecs]).ok();
    let document = folder.document("a.zarr");
    // A list with its own sharding codec is used as given, in the full form.
    assert_eq!(document["chunk_grid"]["configuration"]["chunk_shape"], json!([8, 6]));
    let written = sharding(&json!([3, 2]), &json!([bytes()]));
    assert_eq!(document["codecs"], json!([transpose, sharding(&json!([3, 4]), &json!([written]))]));
    copy(&folder, "a.zarr", "b.zarr", &["--codecs", &codecs]).ok();
    assert_eq!(folder.document("b.zarr"), document);

    copy(&folder, "a.zarr", "c.zarr", &["--shards", "none"]).ok();
    let document = folder.document("c.zarr");
    assert_eq!(document["chunk_grid"]["configuration"]["chunk_shape"], json!([2, 3]));
    assert_eq!(document["codecs"], json!([transpose, bytes()]));
    assert_eq!(zarr(args!["cat", "-f", "raw", folder.join("c.zarr")]).ok().out, numbers);
}

#[test]
fn a_scalar_may_be_a_shard() {
    let folder = Folder::new();
    folder.node("a.zarr", &array(&[], "uint8", &[], &json!(0), &json!([{ "name": "bytes" }])));
    folder.write("a.zarr/c", [9]);
    copy(&folder, "a.zarr", "b.zarr", &["--shards", ""]).ok();
    assert_eq!(
        folder.document("b.zarr")["codecs"],
        json!([sharding(&json!([]), &json!([{ "name": "bytes" }]))])
    );
    assert_eq!(zarr(args!["cat", "-f", "raw", folder.join("b.zarr")]).ok().out, [9]);
    // One inner chunk, one entry of the index, and its checksum.
    assert_eq!(fs::metadata(folder.join("b.zarr/c")).unwrap().len(), 1 + 16 + 4);
}

#[test]
fn shapes_that_do_not_fit_are_refused_with_a_hint() {
    let folder = Folder::new();
    numbers(&folder);
    folder.group("h.zarr");
    folder.base("h.zarr/a");
    let codecs = json!([bytes()]);
    folder.node("h.zarr/map", &array(&[2000; 3], "float32", &[100; 3], &json!(0), &codecs));
    for (source, options, code, message) in [
        (
            "plain.zarr",
            &["--shards", "4,4"][..],
            2,
            "shards of [4, 4] are not a multiple of its chunks of [2, 3]; give other chunks with --chunks",
        ),
        (
            "plain.zarr",
            &["--shards", "4,4", "--chunks", "2,3"],
            2,
            "in dimension 1 the shard length 4 is not a multiple of the chunk length 3",
        ),
        ("plain.zarr", &["--shards", "4"], 2, "array \"/\" has rank 2, but the shard shape has rank 1"),
        (
            "plain.zarr",
            &["--shards", "4", "--chunks", "2,3"],
            2,
            "--chunks has rank 2, but --shards has rank 1",
        ),
        ("h.zarr", &["--shards", "2,2"], 2, "the shard shape has rank 2, but no array has that rank"),
        (
            "h.zarr",
            &["--shards", "1000,1000,1000"],
            11,
            "shards of 3.73 GiB exceed the limit of 1.00 GiB per shard",
        ),
    ] {
        copy(&folder, source, "no.zarr", options).exits(code).says(&[message]);
        assert!(!folder.join("no.zarr").exists(), "{options:?}");
    }
}

#[test]
fn arrays_of_another_rank_keep_their_shards() {
    let folder = Folder::new();
    numbers(&folder);
    folder.group("h.zarr");
    folder
        .node("h.zarr/line", &with(base(), &json!({ "codecs": [sharding(&json!([1]), &json!([bytes()]))] })));
    copy(&folder, "plain.zarr", "h.zarr/map", &[]).ok();
    let done = copy(&folder, "h.zarr", "i.zarr", &["--shards", "4,6"]).ok_with_notes();
    assert_eq!(done.err.lines().count(), 1, "{}", done.err);
    done.says(&["array \"/line\" has rank 1, not 2: it keeps its chunks"]);
    assert_eq!(folder.document("i.zarr/line"), folder.document("h.zarr/line"));
    assert_eq!(folder.document("i.zarr/map")["chunk_grid"]["configuration"]["chunk_shape"], json!([4, 6]));
}
