//! `zarr copy` moves objects as stored if the chunks stay the same, and encodes elements again if they change.

use std::fs;

use serde_json::{Value, json};

use crate::args;
use crate::harness::{Done, Folder, array, base, base2, with, zarr};

fn copy(folder: &Folder, source: &str, destination: &str, options: &[&str]) -> Done {
    let args = args!["copy", "-q", folder.join(source), folder.join(destination)].into_iter();
    zarr(args.chain(options.iter().map(Into::into)))
}

fn url(folder: &Folder, path: &str) -> String {
    format!("file://{}", folder.join(path).display())
}

fn cat(folder: &Folder, path: &str) -> String {
    zarr(args!["cat", "--format", "json", folder.join(path)]).ok().text().replace('\n', "")
}

/// Returns the bytes of a chunk.
fn chunk(folder: &Folder, path: &str) -> Vec<u8> {
    fs::read(folder.join(path)).unwrap()
}

const PRECISION_8: &str = r#"[{"name":"zfp","configuration":{"mode":"fixed_precision","precision":8}}]"#;

/// Makes an array of 64 × 64 floats in one chunk.
fn floats(folder: &Folder) {
    let little = json!([{ "name": "bytes", "configuration": { "endian": "little" } }]);
    folder.node("raw.zarr", &array(&[64, 64], "float32", &[64, 64], &json!(0.0), &little));
    let mut state = 1_u32;
    let mut next = |i: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (i as f32 * 0.1).sin() * 1000.0 + (state >> 24) as f32
    };
    folder.write("raw.zarr/c/0/0", (0..64 * 64).flat_map(|i| next(i).to_le_bytes()).collect::<Vec<u8>>());
}

#[test]
fn a_lossy_array_is_copied_without_a_change() {
    let folder = Folder::new();
    floats(&folder);
    copy(&folder, "raw.zarr", "z1.zarr", &["--codecs", PRECISION_8, "--chunks", "16,32"]).exits(0);
    copy(&folder, "z1.zarr", "z2.zarr", &[]).ok();
    copy(&folder, "z2.zarr", "z3.zarr", &["--verify"]).ok();
    // An option that equals the source changes nothing.
    copy(&folder, "z3.zarr", "z4.zarr", &["--codecs", PRECISION_8, "--chunks", "16,32", "--shards", "none"])
        .ok();
    for copied in ["z2.zarr", "z3.zarr", "z4.zarr"] {
        assert_eq!(folder.contents(copied), folder.contents("z1.zarr"), "{copied}");
    }
}

#[test]
fn objects_are_moved_even_if_they_are_corrupt() {
    let folder = Folder::new();
    floats(&folder);
    let codecs = "transpose(1,0),bytes:big,zstd:3,crc32c";
    copy(&folder, "raw.zarr", "plain.zarr", &["--chunks", "24,24", "--codecs", codecs]).ok();
    copy(&folder, "raw.zarr", "shards.zarr", &["--chunks", "8,8", "--shards", "24,24"]).ok();
    let uneven = ["--chunks", "[[10,20,34],32]", "--codecs", "gzip"];
    copy(&folder, "raw.zarr", "uneven.zarr", &uneven).ok();
    copy(&folder, "raw.zarr", "old.zarr", &["--chunks", "24,24", "--zarr-format", "2"]).ok();
    for (store, gone) in
        [("plain.zarr", "c/1/1"), ("shards.zarr", "c/0/2"), ("uneven.zarr", "c/2/0"), ("old.zarr", "1.1")]
    {
        fs::remove_file(folder.join(store).join(gone)).unwrap();
        // Corrupt objects are moved as well: nothing is decoded.
        let broken = folder.join(store).join(gone.replace(['1', '2'], "0"));
        fs::write(broken, "no chunk").unwrap();
        for (place, options) in [
            (folder.join("copy").display().to_string(), &[][..]),
            (folder.join("copy").display().to_string(), &["--verify", "--resume"]),
            (url(&folder, "copy"), &["--verify"]),
            (url(&folder, "copy"), &["--resume"]),
        ] {
            let args = args!["copy", "-q", folder.join(store), &place].into_iter();
            zarr(args.chain(options.iter().map(Into::into))).ok();
            assert_eq!(folder.contents("copy"), folder.contents(store), "{store} {options:?}");
            fs::remove_dir_all(folder.join("copy")).unwrap();
        }
    }
}

#[test]
fn arrays_of_a_hierarchy_are_moved_unless_they_change() {
    let folder = Folder::new();
    floats(&folder);
    folder.group("h");
    for name in ["a", "g/b", "g/c"] {
        copy(&folder, "raw.zarr", &format!("h/{name}"), &["--chunks", "32,32"]).ok();
        folder.write(&format!("h/{name}/c/0/1"), "no chunk");
    }
    folder.base("h/g/line");
    copy(&folder, "h", "i", &["--include", "g/b"]).ok();
    assert_eq!(folder.contents("i/g/b"), folder.contents("h/g/b"));
    assert!(!folder.join("i/g/c").exists());
    // An array of another rank keeps its chunks, and is moved.
    folder.write("h/g/line/c/1", "too long for a chunk of eight bytes");
    fs::remove_dir_all(folder.join("h/a")).unwrap();
    for name in ["b", "c"] {
        fs::remove_file(folder.join(&format!("h/g/{name}/c/0/1"))).unwrap();
    }
    copy(&folder, "h", "j", &["--chunks", "64,64"]).ok_with_notes();
    assert_eq!(chunk(&folder, "j/g/line/c/1"), chunk(&folder, "h/g/line/c/1"));
    assert_eq!(folder.files("j/g/b"), ["c/0/0", "zarr.json"]);
}

/// The copy has its own keys.
#[test]
fn another_format_of_the_same_chunks_moves_them() {
    let folder = Folder::new();
    let broken = b"no chunk";
    let old = with(base2(), &json!({ "shape": [4, 4], "chunks": [2, 2], "order": "F" }));
    let zlib = with(old.clone(), &json!({ "compressor": { "id": "zlib", "level": 1 } }));
    let delta = json!([{ "id": "delta", "dtype": ">i4" }]);
    for (name, document) in [
        ("old", old.clone()),
        ("zlib", zlib),
        ("slash", with(old.clone(), &json!({ "dimension_separator": "/" }))),
        ("delta", with(old, &json!({ "filters": delta }))),
    ] {
        folder.write(&format!("{name}/.zarray"), with_nulls(document).to_string());
        let key = if name == "slash" { "1/0" } else { "1.0" };
        folder.write(&format!("{name}/{key}"), broken);
        let made = copy(&folder, name, "new", &["--zarr-format", "3", "--verify"]);
        match name {
            // Some readers lack the codec that the chunks keep.
            "zlib" => made.ok_with_notes().says(&["array \"/\"", "\"numcodecs.zlib\"", "--codecs"]),
            "delta" => made.ok_with_notes().says(&["\"numcodecs.delta\""]),
            _ => drop(made.ok()),
        }
        assert_eq!(folder.files("new"), ["c/1/0", "zarr.json"], "{name}");
        assert_eq!(chunk(&folder, "new/c/1/0"), broken);
        fs::remove_dir_all(folder.join("new")).unwrap();
    }
    let one = json!({
        "zarr_format": 1, "shape": [2, 2], "chunks": [2, 2], "dtype": "<i2", "compression": "none",
        "compression_opts": null, "fill_value": 0, "order": "C"
    });
    folder.write("one/meta", one.to_string());
    folder.write("one/attrs", "{}");
    folder.write("one/0.0", broken);
    copy(&folder, "one", "new", &["--zarr-format", "3"]).ok();
    assert_eq!(chunk(&folder, "new/c/0/0"), broken);

    // To format 2, keeping the fill value.
    folder.base("v3");
    folder.write("v3/c/1", broken);
    copy(&folder, "v3", "v2", &["--zarr-format", "2"]).ok();
    assert_eq!(folder.files("v2"), [".zarray", "0", "1"]);
    assert_eq!(chunk(&folder, "v2/1"), broken);
    // With another fill value, elements that were not stored are stored.
    folder.base("x");
    let masked = json!({ "dimension_names": ["x"], "fill_value": 0 });
    folder.node("x", &with(base(), &masked));
    copy(&folder, "x", "y", &["--zarr-format", "2"]).ok();
    assert_eq!(
        folder.files("y"),
        [".zarray", ".zattrs", "0", "1"],
        "null leaves undefined what is not stored"
    );
    assert_eq!(cat(&folder, "y"), "[1,2,0,0]");
}

/// Sets missing members to null: `with` removes null members, and format 2 requires them.
fn with_nulls(mut document: Value) -> Value {
    for name in ["compressor", "filters"] {
        if document.get(name).is_none() {
            document[name] = Value::Null;
        }
    }
    document
}

#[test]
fn verify_reports_what_it_compared() {
    let folder = Folder::new();
    floats(&folder);
    folder.group("h");
    folder.base("h/line");
    copy(&folder, "raw.zarr", "h/map", &[]).ok();
    let run = |source: &str, options: &[&str]| {
        let _ = fs::remove_dir_all(folder.join("copy"));
        let args = args!["copy", folder.join(source), folder.join("copy")].into_iter();
        zarr(args.chain(options.iter().map(Into::into)))
    };
    for (source, options, text) in [
        ("h/line", &[][..], "copied 1 array, 16 bytes of elements; moved 1 object of 8 bytes as stored\n"),
        ("h/line", &["--verify"], "copied 1 array, 16 bytes of elements; compared 1 object of 8 bytes\n"),
        ("h/line", &["--chunks", "1"], "copied 1 array, 16 bytes of elements\n"),
        (
            "h/line",
            &["--chunks", "1", "--verify"],
            "copied 1 array, 16 bytes of elements; compared 16 bytes of elements\n",
        ),
        (
            "h",
            &["--chunks", "16,16", "--verify"],
            "copied 1 group and 2 arrays, 16.0 KiB of elements; compared 1 object of 8 bytes, 16.0 KiB of elements\n",
        ),
    ] {
        assert_eq!(run(source, options).exits(0).text(), text, "{options:?}");
    }
    let lossy = run("raw.zarr", &["--codecs", PRECISION_8, "--verify"]).ok_with_notes();
    lossy.says(&["array \"/\"", "\"zfp\"", "may change values"]);
    assert_eq!(
        lossy.text(),
        "copied 1 array, 16.0 KiB of elements; compared 16.0 KiB of elements with what lossy codecs keep of them\n"
    );
}

#[test]
fn a_lossy_array_is_encoded_again_only_on_request() {
    let folder = Folder::new();
    floats(&folder);
    copy(&folder, "raw.zarr", "z1.zarr", &["--codecs", PRECISION_8]).ok_with_notes();
    // A second loss is reported, and the copy is correct.
    let again = copy(&folder, "z1.zarr", "z2.zarr", &["--chunks", "32,32", "--verify"]).ok_with_notes();
    again.says(&["array \"/\"", "encoded again", "\"zfp\"", "not every reader supports"]);
    assert_eq!(again.err.lines().count(), 2, "{}", again.err);
    // A lossless copy has no note, even if the source is lossy.
    copy(&folder, "z1.zarr", "z3.zarr", &["--codecs", "zstd", "--verify"]).ok();
    assert_eq!(cat(&folder, "z3.zarr"), cat(&folder, "z1.zarr"));
    // An interrupted copy is resumed and completed.
    let options = ["--codecs", PRECISION_8, "--resume"];
    folder.group("h");
    copy(&folder, "raw.zarr", "h/a", &["--codecs", "gzip"]).ok();
    copy(&folder, "raw.zarr", "h/b", &["--codecs", "gzip", "--chunks", "32,64"]).ok();
    folder.write("h/b/c/1/0", "broken");
    copy(&folder, "h", "i", &options).exits(5);
    copy(&folder, "raw.zarr", "h/c", &["--codecs", "gzip", "--chunks", "32,64"]).ok();
    fs::copy(folder.join("h/c/c/1/0"), folder.join("h/b/c/1/0")).unwrap();
    fs::remove_dir_all(folder.join("h/c")).unwrap();
    copy(&folder, "h", "i", &[&options[..], &["--verify"]].concat()).ok_with_notes();
    assert_eq!(chunk(&folder, "i/a/c/0/0"), chunk(&folder, "z1.zarr/c/0/0"));
}

/// A copy to format 3 that is encoded again gets codecs that every reader has.
#[test]
fn codecs_that_some_readers_lack_are_replaced_where_chunks_change() {
    let folder = Folder::new();
    let old = |name: &str, changes: Value| {
        folder.array2(name, &with_nulls(with(base2(), &changes)));
        fs::remove_file(folder.join(name).join("0")).unwrap();
    };
    old("zlib", json!({ "compressor": { "id": "zlib", "level": 7 } }));
    old("lzma", json!({ "compressor": { "id": "lzma", "preset": 1 } }));
    old("bytes", json!({ "filters": [{ "id": "crc32" }, { "id": "delta", "dtype": "|u1" }] }));
    folder.write("new/0", "");
    let to_3 = ["--zarr-format", "3", "--chunks", "1"];
    let codecs = |path: &str| folder.document(path)["codecs"].clone();
    let big = json!({ "name": "bytes", "configuration": { "endian": "big" } });

    copy(&folder, "zlib", "a", &to_3).ok();
    assert_eq!(codecs("a"), json!([big, { "name": "gzip", "configuration": { "level": 7 } }]));
    copy(&folder, "lzma", "b", &to_3).ok_with_notes().says(&[
        "array \"/\"",
        "\"numcodecs.lzma\"",
        "--codecs",
    ]);
    assert_eq!(codecs("b")[1]["name"], "numcodecs.lzma");
    copy(&folder, "bytes", "c", &to_3).ok_with_notes().says(&["\"numcodecs:delta\"", "left out"]);
    // The same for a source of format 3, and for inner chunks.
    let zlib = r#"[{"name":"numcodecs.zlib","configuration":{"level":2}}]"#;
    copy(&folder, "a", "d", &["--codecs", zlib, "--shards", "4"]).ok();
    assert_eq!(codecs("d")[0]["configuration"]["codecs"][1]["name"], "numcodecs.zlib", "given codecs stay");
    copy(&folder, "d", "e", &["--shards", "2"]).ok();
    let gzip = json!({ "name": "gzip", "configuration": { "level": 2 } });
    let little = json!({ "name": "bytes", "configuration": { "endian": "little" } });
    assert_eq!(codecs("e")[0]["configuration"]["codecs"], json!([little, gzip]));
    // Moved objects keep their codecs, and so do copies of format 2.
    copy(&folder, "zlib", "f", &["--zarr-format", "3"]).ok_with_notes();
    assert_eq!(codecs("f")[1]["name"], "numcodecs.zlib");
    copy(&folder, "d", "g", &[]).ok();
    copy(&folder, "zlib", "h", &["--chunks", "4"]).ok();
    assert_eq!(fs::read_to_string(folder.join("h/.zarray")).unwrap().matches("\"zlib\"").count(), 1);
    // A note about several arrays is one line.
    folder.group2("many");
    for i in 0..5 {
        old(&format!("many/a{i}"), json!({ "compressor": { "id": "lzma", "preset": 1 } }));
    }
    let done = copy(&folder, "many", "i", &to_3).ok_with_notes();
    assert_eq!(done.err.lines().count(), 1, "{}", done.err);
    done.says(&["array \"/a0\" and 4 more: ", "\"numcodecs.lzma\""]);
}

/// Files as GDAL 3 and netCDF-C 4.8 write them.
#[test]
fn codecs_of_other_programs_are_read_correctly_and_written_strictly() {
    let folder = Folder::new();
    let element = |i: u8| (0..8).map(move |byte| if byte < 2 { i + byte * 16 } else { 0 });
    let elements: Vec<u8> = (0..4).flat_map(element).collect();
    let numbers: Vec<u64> = elements.chunks(8).map(|b| u64::from_le_bytes(b.try_into().unwrap())).collect();
    let shuffled: Vec<u8> = (0..8)
        .flat_map(|byte| (0..4).map(move |i| (byte, i)))
        .map(|(byte, i)| elements[i * 8 + byte])
        .collect();
    let text = json!(numbers).to_string();
    // One uncompressed frame of blosc, whose header has the shuffle.
    let frame = [&[2, 1, 0x33, 8, 32, 0, 0, 0, 32, 0, 0, 0, 48, 0, 0, 0][..], &elements].concat();
    for (name, filters, compressor, chunk, strict) in [
        (
            "nczarr",
            json!([{ "id": "shuffle", "elementsize": "0" }]),
            json!(null),
            &shuffled,
            json!({ "id": "shuffle", "elementsize": 8 }),
        ),
        (
            "number",
            json!([{ "id": "shuffle", "elementsize": 0 }]),
            json!(null),
            &shuffled,
            json!({ "id": "shuffle", "elementsize": 8 }),
        ),
        (
            "gdal",
            json!(null),
            json!({ "id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": "NONE", "blocksize": 0 }),
            &frame,
            json!({ "id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 0, "blocksize": 0 }),
        ),
    ] {
        let changes = json!({ "dtype": "<u8", "chunks": [4], "filters": filters, "compressor": compressor });
        folder.array2(name, &with_nulls(with(base2(), &changes)));
        folder.write(&format!("{name}/0"), chunk);
        assert_eq!(cat(&folder, name), text, "{name}");
        zarr(args!["validate", folder.join(name)]).exits(1).text().contains("ZM050").then_some(()).unwrap();
        for (copied, options) in [("same", &[][..]), ("cut", &["--chunks", "3"])] {
            let to = format!("{name}-{copied}");
            copy(&folder, name, &to, &[&["--verify"], options].concat()).ok();
            assert_eq!(cat(&folder, &to), text, "{to}");
            let document: Value =
                serde_json::from_slice(&fs::read(folder.join(&to).join(".zarray")).unwrap()).unwrap();
            let found = if compressor.is_null() { &document["filters"][0] } else { &document["compressor"] };
            assert_eq!(found, &strict, "{to}");
            zarr(args!["validate", folder.join(&to)]).ok();
        }
        let to = format!("{name}-3");
        copy(&folder, name, &to, &["--zarr-format", "3", "--verify"]).exits(0);
        assert_eq!(cat(&folder, &to), text, "{to}");
        assert_eq!(&fs::read(folder.join(&to).join("c/0")).unwrap(), chunk);
    }
}
