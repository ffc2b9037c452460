//! The output of `zarr cat`.

use std::io::Read;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::args;
use crate::harness::{Done, Folder, array, base, command, le, with, zarr};

fn cat(folder: &Folder, options: &[&str]) -> Done {
    let mut args = args!["cat", folder.join("a.zarr")].to_vec();
    args.extend(options.iter().map(Into::into));
    zarr(args)
}

fn little() -> Value {
    json!([{ "name": "bytes", "configuration": { "endian": "little" } }])
}

/// Makes an array of 3 × 4 × 5 numbers, counted from 0, in chunks of 2 × 3 × 2.
fn cube(folder: &Folder) {
    let document = array(&[3, 4, 5], "int32", &[2, 3, 2], &json!(0), &little());
    folder.node("a.zarr", &document);
    for (a, b, c) in (0..2).flat_map(|a| (0..2).flat_map(move |b| (0..3).map(move |c| (a, b, c)))) {
        let mut chunk = Vec::new();
        for (x, y, z) in (0..2).flat_map(|x| (0..3).flat_map(move |y| (0..2).map(move |z| (x, y, z)))) {
            let (x, y, z) = (a * 2 + x, b * 3 + y, c * 2 + z);
            chunk.push(if x < 3 && y < 4 && z < 5 { (x * 4 + y) * 5 + z } else { -1 });
        }
        folder.write(&format!("a.zarr/c/{a}/{b}/{c}"), le(&chunk));
    }
}

#[test]
fn raw_has_the_fill_value_for_missing_chunks() {
    let folder = Folder::new();
    folder.base("a.zarr");
    assert_eq!(cat(&folder, &["-f", "raw"]).ok().out, le(&[1, 2, 7, 7]));
}

#[test]
fn raw_is_c_order_and_little_endian_for_any_layout() {
    let folder = Folder::new();
    let codecs = json!([
        { "name": "transpose", "configuration": { "order": [1, 0] } },
        { "name": "bytes", "configuration": { "endian": "big" } }
    ]);
    folder.node("a.zarr", &array(&[2, 3], "uint16", &[2, 3], &json!(0), &codecs));
    folder.write("a.zarr/c/0/0", [0, 0, 1, 0, 0, 1, 1, 1, 0, 2, 1, 2]);
    assert_eq!(cat(&folder, &["-f", "raw"]).ok().out, [0, 0, 1, 0, 2, 0, 0, 1, 1, 1, 2, 1]);
    assert_eq!(cat(&folder, &["-f", "text"]).ok().text(), "0\n1\n2\n256\n257\n258\n");
}

#[test]
fn booleans_print_as_0_and_1_and_other_bytes_are_an_error() {
    let folder = Folder::new();
    folder.node("a.zarr", &array(&[4], "bool", &[4], &json!(false), &json!([{ "name": "bytes" }])));
    folder.write("a.zarr/c/0", [0, 1, 1, 0]);
    assert_eq!(cat(&folder, &["-f", "raw"]).ok().out, [0, 1, 1, 0]);
    assert_eq!(cat(&folder, &["-f", "json"]).ok().text(), "[false,true,true,false]\n");
    folder.write("a.zarr/c/0", [0, 1, 1, 255]);
    cat(&folder, &["-f", "raw"]).fails(5, &["array \"/\": the element at [3] is stored as the byte 255"]);
    assert_eq!(cat(&folder, &["-s", ":3", "-f", "json"]).ok().text(), "[false,true,true]\n");
}

#[test]
fn selections_equal_those_of_python() {
    let folder = Folder::new();
    cube(&folder);
    let at = |x: i32, y: i32, z: i32| (x * 4 + y) * 5 + z;
    let json = |selection: &str| cat(&folder, &["-f", "json", "-s", selection]).ok().json();
    assert_eq!(json("0,0,:"), json!([0, 1, 2, 3, 4]));
    assert_eq!(
        json("-1, 1:3, ::2"),
        json!([[at(2, 1, 0), at(2, 1, 2), at(2, 1, 4)], [at(2, 2, 0), at(2, 2, 2), at(2, 2, 4)]])
    );
    assert_eq!(json("...,-1")[2], json!([at(2, 0, 4), at(2, 1, 4), at(2, 2, 4), at(2, 3, 4)]));
    assert_eq!(json("1,2,3"), json!(at(1, 2, 3)));
    assert_eq!(json("1:100,3:,4:")[1], json!([[at(2, 3, 4)]]));
    assert_eq!(json("2:1"), json!([]));
    assert_eq!(json("1,2:2"), json!([]));
    assert_eq!(json("0:2,2:2"), json!([[], []]));
    let all: Vec<i32> = (0..60).collect();
    assert_eq!(cat(&folder, &["-f", "raw"]).ok().out, le(&all));
    assert_eq!(
        cat(&folder, &["-f", "raw", "-s", "-2:,3"]).ok().out,
        le(&[&all[35..40], &all[55..60]].concat())
    );
    cat(&folder, &["-s", "3"]).fails(2, &["array \"/\": index 3 is outside of dimension 0 of length 3"]);
    cat(&folder, &["-s", ":,:,:,:"]).fails(2, &["array \"/\": ", "4 dimensions", "3"]);
    for large in ["99999999999999999999", "-99999999999999999999", &format!("0:{}", "9".repeat(100))] {
        cat(&folder, &["-s", large]).exits(2).says(&["is too large"]);
    }
    cat(&folder, &["-s", "x"]).exits(2).says(&["\"x\" is not an integer"]);
}

/// The answers are those of NumPy for `numpy.arange(60).reshape(3, 4, 5)`; lists are joined with `numpy.ix_`.
#[test]
fn lists_masks_and_backward_steps_equal_those_of_numpy() {
    let folder = Folder::new();
    cube(&folder);
    for (selection, wanted) in [
        ("::-1,0,0", json!([40, 20, 0])),
        ("0,::-2,4::-3", json!([[19, 16], [9, 6]])),
        ("-1,2:0:-1,:2:-1", json!([[54, 53], [49, 48]])),
        ("[1,2],0,0", json!([20, 40])),
        ("0,[3,0,-1],1", json!([16, 1, 16])),
        ("[2,0],[1,3],[4,0]", json!([[[49, 45], [59, 55]], [[9, 5], [19, 15]]])),
        ("[true,false,true],0,[4]", json!([[4], [44]])),
        ("0,[False,True,True,False],::-4", json!([[9, 5], [14, 10]])),
        ("[],0", json!([])),
        ("1,[],:", json!([])),
        ("[-1],-1,-1:-3:-1", json!([[59, 58]])),
    ] {
        assert_eq!(cat(&folder, &["-f", "json", "-s", selection]).ok().json(), wanted, "{selection}");
    }
    cat(&folder, &["-s", "[0,3]"]).fails(2, &["array \"/\": index 3 is outside of dimension 0 of length 3"]);
    cat(&folder, &["-s", "[true,false]"]).fails(2, &["a mask of 2 does not fit dimension 0 of length 3"]);
    cat(&folder, &["-s", "::0"]).exits(2).says(&["the step of \"::0\" is 0"]);
    cat(&folder, &["-s", "[1:2]"]).exits(2).says(&["\"1:2\" in a list is not an integer"]);
    let explained =
        zarr(args!["explain", "--json", "-s", "[0,2],::-1,[0]", folder.join("a.zarr")]).ok().json();
    assert_eq!([&explained["chunks"], &explained["bytes_result"]], [4, 32]);
}

#[test]
fn lists_and_masks_of_a_selection_can_be_arrays_of_the_store() {
    let folder = Folder::new();
    folder.group("h.zarr");
    folder.base("h.zarr/a");
    folder.node("h.zarr/g/mask", &array(&[4], "bool", &[4], &json!(false), &json!([{ "name": "bytes" }])));
    folder.write("h.zarr/g/mask/c/0", [0, 1, 0, 1]);
    folder.group("h.zarr/g");
    folder.node("h.zarr/list", &array(&[2], "int8", &[2], &json!(-3), &little()));
    folder.node("h.zarr/wide", &array(&[2, 2], "int8", &[2, 2], &json!(0), &little()));
    folder.node("h.zarr/real", &array(&[2], "float32", &[2], &json!(0), &little()));
    let run = |selection| zarr(args!["cat", "-f", "json", "-s", selection, folder.join("h.zarr/a")]);
    assert_eq!(run("@g/mask").ok().json(), json!([2, 7]));
    assert_eq!(run("@/g/mask").ok().json(), json!([2, 7]));
    assert_eq!(run("@list").ok().json(), json!([2, 2]));
    run("@none").fails(3, &["h.zarr", "none"]);
    run("@wide").fails(2, &["array \"/wide\": a list of a selection has one dimension, not 2"]);
    run("@real")
        .fails(2, &["array \"/real\": a list of a selection holds integers or booleans, not float32"]);
}

#[test]
fn every_data_type_has_its_json_and_text() {
    let float = |bits: u64, size: usize| bits.to_le_bytes()[..size].to_vec();
    for (data_type, fill, bytes, wanted, text) in [
        ("int8", json!(0), vec![0xff], json!(-1), "-1"),
        ("uint64", json!(0), vec![0xff; 8], json!(u64::MAX), "18446744073709551615"),
        ("int64", json!(0), i64::MIN.to_le_bytes().to_vec(), json!(i64::MIN), "-9223372036854775808"),
        ("float16", json!(0), float(0x2e66, 2), json!(0.0999755859375), "0.1"),
        ("float32", json!(0), 0.1_f32.to_le_bytes().to_vec(), json!(0.10000000149011612), "0.1"),
        ("float32", json!(0), float(0x7fc0_0001, 4), json!("NaN"), "NaN"),
        ("float64", json!(0), f64::NEG_INFINITY.to_le_bytes().to_vec(), json!("-Infinity"), "-Infinity"),
        ("float64", json!(0), (-0.0_f64).to_le_bytes().to_vec(), json!(-0.0), "-0.0"),
        (
            "complex64",
            json!([0, 0]),
            [float(0x3fc0_0000, 4), float(0xff80_0000, 4)].concat(),
            json!([1.5, "-Infinity"]),
            "1.5-Infinityj",
        ),
        ("r24", json!([0, 0, 0]), vec![0, 255, 16], json!("AP8Q"), "00ff10"),
    ] {
        let folder = Folder::new();
        folder.node("a.zarr", &array(&[], data_type, &[], &fill, &little()));
        folder.write("a.zarr/c", bytes);
        assert_eq!(cat(&folder, &["-f", "json"]).ok().json(), wanted, "{data_type}");
        assert_eq!(cat(&folder, &["-f", "text"]).ok().text(), format!("{text}\n"), "{data_type}");
    }
}

#[test]
fn npy_is_a_header_and_the_elements() {
    let folder = Folder::new();
    cube(&folder);
    let out = cat(&folder, &["-f", "npy", "-s", "1,:2"]).ok().out;
    let (header, elements) = out.split_at(128.min(out.len() - 40));
    assert!(header.starts_with(b"\x93NUMPY\x01\x00"));
    let header = String::from_utf8_lossy(&header[10..]);
    assert!(header.starts_with("{'descr': '<i4', 'fortran_order': False, 'shape': (2, 5), }"), "{header}");
    assert_eq!(elements, le(&(20..30).collect::<Vec<_>>()));
}

#[test]
fn a_file_appears_when_it_is_complete() {
    let folder = Folder::new();
    folder.base("a.zarr");
    let to = |name: &str| {
        let out = folder.join(name);
        cat(&folder, &["-o", out.to_str().unwrap()])
    };
    assert_eq!(to("a.txt").ok().text(), "");
    to("a.json").ok();
    to("a.raw").ok();
    assert_eq!(std::fs::read(folder.join("a.txt")).unwrap(), b"1\n2\n7\n7\n");
    assert_eq!(std::fs::read(folder.join("a.json")).unwrap(), b"[1,2,7,7]\n");
    assert_eq!(std::fs::read(folder.join("a.raw")).unwrap(), le(&[1, 2, 7, 7]));
    assert_eq!(cat(&folder, &["-f", "raw", "-o", "-"]).ok().out, le(&[1, 2, 7, 7]));
    to("a.dat").fails(2, &["a.dat", "--format"]);
    to("none/a.txt").fails(3, &["none/a.txt"]);
    // A failure keeps the old file.
    folder.write("a.zarr/c/1", [0; 9]);
    to("a.txt").fails(5, &["chunk [1]"]);
    assert_eq!(std::fs::read(folder.join("a.txt")).unwrap(), b"1\n2\n7\n7\n");
    assert_eq!(
        folder.files(""),
        ["a.json", "a.raw", "a.txt", "a.zarr/c/0", "a.zarr/c/1", "a.zarr/zarr.json"]
    );
}

#[test]
fn an_array_without_elements_prints_nothing() {
    let folder = Folder::new();
    folder.node("a.zarr", &array(&[2, 0], "float32", &[1, 1], &json!(0), &little()));
    assert_eq!(cat(&folder, &["-f", "raw"]).ok().text(), "");
    assert_eq!(cat(&folder, &["-f", "text"]).ok().text(), "");
    assert_eq!(cat(&folder, &["-f", "json"]).ok().text(), "[[],[]]\n");
    assert_eq!(cat(&folder, &["-f", "npy"]).ok().out.len(), 128);
}

#[test]
fn output_stops_quietly_when_the_pipe_is_closed() {
    let folder = Folder::new();
    let endless = array(&[1 << 62, 1 << 62], "int32", &[1, 1000], &json!(5), &little());
    folder.node("a.zarr", &endless);
    for format in ["raw", "text", "json"] {
        let begun = Instant::now();
        let mut child = command()
            .args(args!["cat", "--format", format, folder.join("a.zarr")])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut some = vec![0; 1 << 20];
        child.stdout.take().unwrap().read_exact(&mut some).unwrap();
        let done = Done::from(child.wait_with_output().unwrap()).ok();
        assert!(done.out.is_empty() && begun.elapsed() < Duration::from_secs(60), "{format}");
        if format == "raw" {
            assert!(some.chunks(4).all(|element| element == [5, 0, 0, 0]));
        }
    }
}

#[test]
fn parts_of_a_large_array_join_without_a_gap() {
    let folder = Folder::new();
    // Three parts: two rows do not fit into one part.
    let shape = [3, 40_000_000];
    folder
        .node("a.zarr", &array(&shape, "uint8", &[2, 10_000_000], &json!(9), &json!([{ "name": "bytes" }])));
    assert_eq!(cat(&folder, &["-f", "raw"]).ok().out, vec![9; 120_000_000]);
    assert_eq!(cat(&folder, &["-f", "raw", "-s", "::2,::3"]).ok().out.len(), 2 * 13_333_334);
}

#[test]
fn an_error_in_the_first_part_leaves_no_output() {
    let folder = Folder::new();
    folder.base("a.zarr");
    folder.write("a.zarr/c/1", [0; 9]);
    for format in ["raw", "text", "json", "npy"] {
        cat(&folder, &["-f", format]).fails(5, &["array \"/\"", "chunk [1]", "9 bytes, expected 8"]);
    }
    // Chunks outside of the selection are not read.
    assert_eq!(cat(&folder, &["-f", "text", "-s", ":2"]).ok().text(), "1\n2\n");
}

#[test]
fn each_kind_of_fault_has_its_exit_code() {
    for (changes, code, parts) in [
        (json!({ "shape": [-4] }), 1, ["member \"/shape/0\"", "-4"]),
        (json!({ "fill_value": 1.5 }), 1, ["member \"/fill_value\"", "1.5"]),
        (json!({ "codecs": [] }), 1, ["member \"/codecs\"", "found none"]),
        (json!({ "codecs": [{ "name": "foo" }] }), 6, ["member \"/codecs/0\"", "unknown codec \"foo\""]),
        (
            json!({ "codecs": [{ "name": "zarrs.gdeflate" }] }),
            6,
            ["unknown codec \"zarrs.gdeflate\"", "it is an experiment of zarrs"],
        ),
        (json!({ "data_type": "strings" }), 6, ["member \"/data_type\"", "unknown data type \"strings\""]),
        (json!({ "zarr_format": 4 }), 6, ["member \"/zarr_format\"", "version 4"]),
        (json!({ "extra": 1 }), 6, ["member \"/extra\"", "must be understood"]),
    ] {
        let folder = Folder::new();
        folder.node("a.zarr", &with(base(), &changes));
        cat(&folder, &["-f", "raw"]).fails(code, &[&["array \"/\""], &parts[..]].concat());
    }
}

/// The disk is full, or a file may not become so large.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_of_input_and_output_and_no_limit() {
    let folder = Folder::new();
    cube(&folder);
    cat(&folder, &["--format", "raw", "-o", "/dev/full"])
        .fails(4, &["\"/dev/full\"", "No space left on device"]);
    let document = array(&[4096], "int32", &[4096], &json!(0), &little());
    folder.node("b.zarr", &document);
    folder.write("b.zarr/c/0", [1; 4 * 4096]);
    let mut limited = std::process::Command::new("sh");
    limited.args(["-c", "trap '' XFSZ; ulimit -f 8; exec \"$ZARR\" copy b.zarr c.zarr"]);
    limited.current_dir(folder.path()).env("ZARR", crate::program());
    Done::from(limited.output().unwrap()).exits(4).says(&["copy of array", "File too large"]);
}

#[test]
fn a_missing_value_of_another_type_is_noted_when_elements_are_decoded() {
    let folder = Folder::new();
    folder.group("h.zarr");
    let attributes = json!({ "_FillValue": "x", "scale_factor": 0.5 });
    let changes = json!({ "attributes": attributes, "dimension_names": ["x"] });
    folder.base("h.zarr/a");
    folder.node("h.zarr/a", &with(base(), &changes));
    let done = zarr(args!["cat", "--decode", "-f", "json", folder.join("h.zarr/a")]).ok_with_notes();
    done.says(&["note: variable \"a\": XV025 _FillValue is \"x\"", "it is ignored"]);
    assert_eq!(done.json(), json!([0.5, 1.0, 3.5, 3.5]));
}

#[test]
fn the_form_of_the_public_conformance_tests_prints_lines() {
    let folder = Folder::new();
    let path = folder.base("a.zarr");
    assert_eq!(zarr([format!("--array_path={}", path.display())]).ok().text(), "1\n2\n7\n7\n");
}
