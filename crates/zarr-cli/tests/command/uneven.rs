//! Chunks and shards of different lengths: created, described, listed, copied.

use serde_json::{Value, json};

use crate::args;
use crate::harness::{Done, Folder, array, le, zarr};

fn copy(folder: &Folder, source: &str, destination: &str, options: &[&str]) -> Done {
    let mut args = args!["copy", "-q", "--verify", folder.join(source), folder.join(destination)].to_vec();
    args.extend(options.iter().map(Into::into));
    zarr(args)
}

fn grid(lists: &Value) -> Value {
    json!({ "name": "rectilinear", "configuration": { "kind": "inline", "chunk_shapes": lists } })
}

fn regular(shape: &Value) -> Value {
    json!({ "name": "regular", "configuration": { "chunk_shape": shape } })
}

fn elements(folder: &Folder, path: &str) -> Vec<u8> {
    zarr(args!["cat", "-f", "raw", folder.join(path)]).ok().out
}

fn files(folder: &Folder, path: &str) -> Vec<String> {
    folder.files(path).into_iter().filter(|name| name != "zarr.json").collect()
}

/// Makes an array of 6 × 5 numbers in one chunk.
fn numbers(folder: &Folder) -> Vec<u8> {
    let all = le(&(1..31).collect::<Vec<_>>());
    let codecs = json!([{ "name": "bytes", "configuration": { "endian": "little" } }]);
    folder.node("raw.zarr", &array(&[6, 5], "int32", &[6, 5], &json!(0), &codecs));
    folder.write("raw.zarr/c/0/0", all.clone());
    all
}

#[test]
fn an_array_is_created_with_the_given_lengths() {
    let folder = Folder::new();
    let create = |name: &str, options: &[&str]| {
        let made = args!["create", folder.join(name), "--shape", "6,5", "--dtype", "int32"];
        zarr(made.into_iter().chain(options.iter().map(Into::into)))
    };
    for (options, written) in [
        (&["--chunks", "[[1,2,3],[4,1]]"][..], grid(&json!([[1, 2, 3], [4, 1]]))),
        (&["--chunks", "[[[1, 5], 1], 4]"], regular(&json!([1, 4]))),
        (&["--chunks", "[[1,1,1,1,2],5]"], grid(&json!([[[1, 4], 2], 5]))),
        (&["--chunks", "[3, 5]"], regular(&json!([3, 5]))),
        (&["--chunks", "1,5", "--shards", "[[2,4],5]"], grid(&json!([[2, 4], 5]))),
    ] {
        let name = format!("{}.zarr", options[1]);
        let made = create(&name, options);
        // A grid that few readers support gets a note.
        if written["name"] == "regular" {
            made.ok()
        } else {
            made.ok_with_notes()
        };
        let document = folder.document(&name);
        assert_eq!(document["chunk_grid"], written, "{options:?}");
        assert_eq!(document["codecs"][0]["name"] == "sharding_indexed", options.len() > 2);
        assert_eq!(elements(&folder, &name), le(&[0; 30]));
    }
    for (options, words) in [
        (&["--chunks", "[[1,2],5]"][..], "chunk_shapes[0] ends 3 elements before the array, which has 6"),
        (&["--chunks", "[[1,2,3]]"], "chunk_shapes has 1 dimensions, the array has 2"),
        (&["--chunks", "[[0,6],5]"], "chunk_shapes[0][0] is 0, it must be a length above 0"),
        (&["--chunks", "[[6],5]", "--shards", "6,5"], "chunks in shards must have one shape"),
        (&["--chunks", "2,5", "--shards", "[[2,3,1],5]"], "not a multiple of the chunk length 2"),
    ] {
        create("no.zarr", options).fails(2, &[words]);
    }
    let old = create("no.zarr", &["--chunks", "[[1,5],5]", "--zarr-format", "2"]);
    old.fails(6, &["format 2 has no chunk grid \"rectilinear\""]);
}

#[test]
fn uneven_chunks_are_described_and_listed() {
    let folder = Folder::new();
    let all = numbers(&folder);
    // Outside of the array the grid has a chunk of 9 rows, which is not used.
    copy(&folder, "raw.zarr", "a.zarr", &["--chunks", "[[1,2,3,9],[4,1]]"]).ok();
    assert_eq!(elements(&folder, "a.zarr"), all);
    assert_eq!(files(&folder, "a.zarr"), ["c/0/0", "c/0/1", "c/1/0", "c/1/1", "c/2/0", "c/2/1"]);
    let page = zarr(args!["info", folder.join("a.zarr")]).ok();
    let line = "chunks      1–3 × 1–4 (3 × 2 of them), 6 of 6 stored, ";
    assert!(page.text().lines().any(|of| of.starts_with(line)), "{}", page.text());
    let row = zarr(args!["ls", "-l", folder.join("a.zarr")]).ok();
    assert!(row.text().contains("6 × 5  1–3 × 1–4  "), "{}", row.text());
    let info = zarr(args!["info", "--json", folder.join("a.zarr")]).ok().json();
    assert_eq!((&info["chunk_shape"], &info["chunk_counts"]), (&json!(null), &json!([3, 2])));
    assert_eq!(info["stored_chunks"], 6);
    assert_eq!(info["chunk_grid"], grid(&json!([[1, 2, 3, 9], [4, 1]])));
    folder.write("a.zarr/c/3/0", [0; 36 * 4]);
    let listed = zarr(args!["chunks", "--json", folder.join("a.zarr")]).ok();
    let lines: Vec<Value> = listed.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let sizes: Vec<&Value> = lines.iter().map(|line| &line["bytes"]).collect();
    assert_eq!(sizes, [16, 4, 32, 8, 48, 12, 144]);
    assert_eq!(lines[6]["stray"], "a chunk outside of the array");
    let told = zarr(args!["explain", "--json", folder.join("a.zarr"), "-s", "1:3,0:4"]).ok().json();
    assert_eq!((&told["chunks"], &told["bytes"]), (&json!(1), &json!(32)));
    let done = zarr(args!["validate", folder.join("a.zarr")]);
    assert!(done.text().contains("ZM079"), "{}", done.text());

    copy(&folder, "raw.zarr", "b.zarr", &["--chunks", "1,5", "--shards", "[[2,4],5]"]).ok();
    assert_eq!(elements(&folder, "b.zarr"), all);
    let page = zarr(args!["info", folder.join("b.zarr")]).ok();
    for line in [
        "shards        2–4 × 5 (2 × 1 of them), 2 of 2 stored",
        "inner chunks  1 × 5, 2–4 × 1 = 2–4 in each shard",
    ] {
        assert!(
            page.text().lines().any(|of| of.starts_with(line)),
            "{line:?} is missing in\n{}",
            page.text()
        );
    }
    assert!(zarr(args!["chunks", folder.join("b.zarr")]).ok().text().contains("6 of 6 inner chunks in them"));
}

#[test]
fn copies_keep_or_change_uneven_chunks() {
    let folder = Folder::new();
    let all = numbers(&folder);
    let lists = "[[1,2,3],[4,1]]";
    copy(&folder, "raw.zarr", "a.zarr", &["--chunks", lists]).ok();
    copy(&folder, "raw.zarr", "s.zarr", &["--chunks", "1,1", "--shards", lists]).ok();
    let kept = folder.document("a.zarr")["chunk_grid"].clone();
    let lost = "the copy has no shards; those of the source are --shards '[[1,2,3],[4,1]]'";
    for (source, options, grid, note) in [
        ("a.zarr", &[][..], &kept, None),
        ("a.zarr", &["--codecs", "zstd"], &kept, None),
        ("a.zarr", &["--chunks", "4,2"], &regular(&json!([4, 2])), None),
        ("a.zarr", &["--chunks", "[[5,1],5]"], &grid(&json!([[5, 1], 5])), None),
        ("a.zarr", &["--chunks", "2,1", "--shards", "[[2,4],5]"], &grid(&json!([[2, 4], 5])), None),
        ("s.zarr", &[], &kept, None),
        ("s.zarr", &["--shards", "[[5,1],5]"], &grid(&json!([[5, 1], 5])), None),
        ("s.zarr", &["--shards", "none"], &regular(&json!([1, 1])), None),
        ("s.zarr", &["--codecs", "zstd"], &regular(&json!([1, 1])), Some(lost)),
    ] {
        let path = format!("{source} {}.zarr", options.join(" "));
        let done = copy(&folder, source, &path, options);
        match note {
            Some(note) => done.ok_with_notes().says(&[note]),
            None => drop(done.ok()),
        }
        assert_eq!(&folder.document(&path)["chunk_grid"], grid, "{source} {options:?}");
        assert_eq!(elements(&folder, &path), all, "{source} {options:?}");
    }
    let shards = copy(&folder, "a.zarr", "no.zarr", &["--shards", "6,5"]);
    shards.fails(2, &["its chunks have several shapes; give one shape for the inner chunks with --chunks"]);
    copy(&folder, "a.zarr", "no.zarr", &["--zarr-format", "2"]).fails(6, &["no chunk grid \"rectilinear\""]);
    copy(&folder, "a.zarr", "old.zarr", &["--zarr-format", "2", "--chunks", "4,2"]).ok();
    assert_eq!(elements(&folder, "old.zarr"), all);
    let again = copy(&folder, "old.zarr", "no.zarr", &["--chunks", "[[1,5],5]"]);
    again.fails(6, &["in format 2 all chunks must have the same shape"]);
}
