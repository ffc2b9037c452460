//! Elements that go in: `create --from`, `append`, `write`.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::args;
use crate::harness::{Done, Folder, array, base2, command, le, with, zarr, zarr_in};

pub(crate) fn run(folder: &Folder, line: &str) -> Done {
    zarr_in(folder.path(), line.split(' '))
}

/// Runs `zarr` with `input` on standard input.
pub(crate) fn piped(folder: &Folder, line: &str, input: &[u8]) -> Done {
    let mut child = command()
        .current_dir(folder.path())
        .args(line.split(' '))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // An error may end the command before it has read everything.
    let _ = stdin.write_all(input);
    drop(stdin);
    Done::from(child.wait_with_output().unwrap())
}

fn elements(folder: &Folder, path: &str) -> Value {
    run(folder, &format!("cat -f json {path}")).ok().json()
}

/// Makes a NumPy file of version 1.
fn npy(descr: &str, is_fortran: bool, shape: &str, elements: &[u8]) -> Vec<u8> {
    let order = if is_fortran { "True" } else { "False" };
    let dict = format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n");
    let length = u16::try_from(dict.len()).unwrap().to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], dict.as_bytes(), elements].concat()
}

#[test]
fn a_numpy_file_becomes_an_array_and_the_same_file_again() {
    for (descr, shape, bytes, wanted) in [
        ("'<i4'", "(2, 2)", le(&[1, 2, 3, 4]), json!([[1, 2], [3, 4]])),
        ("'|b1'", "(3,)", vec![0, 1, 1], json!([false, true, true])),
        ("'<f8'", "()", 1.5_f64.to_le_bytes().to_vec(), json!(1.5)),
        ("'<c8'", "(1,)", [1.0_f32.to_le_bytes(), 2.0_f32.to_le_bytes()].concat(), json!([[1.0, 2.0]])),
        (
            "'<M8[D]'",
            "(2,)",
            [18262_i64.to_le_bytes(), i64::MIN.to_le_bytes()].concat(),
            json!(["2020-01-01T00:00:00", null]),
        ),
        ("'<U2'", "(2,)", le(&[0xe9, 0, 0x61, 0x1f600]), json!(["\u{e9}", "a\u{1f600}"])),
        ("'|S3'", "(2,)", b"a\0\0bcd".to_vec(), json!(["YQ==", "YmNk"])),
        ("'<i2'", "(0, 3)", vec![], json!([])),
        (
            "[('a', '<i2'), ('b', [('c', '|u1'), ('d', '<M8[s]')])]",
            "(1,)",
            vec![1, 0, 2, 3, 0, 0, 0, 0, 0, 0, 0],
            json!([{ "a": 1, "b": { "c": 2, "d": 3 } }]),
        ),
    ] {
        let folder = Folder::new();
        folder.write("in.npy", npy(descr, false, shape, &bytes));
        run(&folder, "create a.zarr --from in.npy").exits(0);
        let printed = elements(&folder, "a.zarr");
        assert_eq!(printed, wanted, "{descr}");
        run(&folder, "cat a.zarr -o out.npy").ok();
        let out = fs::read(folder.join("out.npy")).unwrap();
        assert!(out.ends_with(&bytes), "{descr}");
        let header = String::from_utf8_lossy(&out[10..out.len() - bytes.len()]).into_owned();
        assert!(header.contains(descr) && header.contains(shape), "{header}");
        let strays = folder.files("").into_iter().filter(|file| file.contains("partial")).count();
        assert_eq!(strays, 0);
        // From standard input.
        piped(&folder, "create b.zarr --from -", &out).exits(0);
        assert_eq!(elements(&folder, "b.zarr"), printed, "{descr}");
    }
}

#[test]
fn fields_of_several_elements_are_read_but_not_created() {
    let folder = Folder::new();
    let descr = "[('a', '>i2'), ('b', '|u1', (2,)), ('', '|V1')]";
    folder.write("in.npy", npy(descr, false, "(2,)", &[0, 1, 2, 3, 0, 0, 4, 5, 6, 0]));
    run(&folder, "create a.zarr --from in.npy").fails(2, &["format 3", "numcodecs:struct"]);
    let dtype = json!([["a", ">i2"], ["b", "|u1", [2]], ["", "|V1"]]);
    folder.array2(
        "b.zarr",
        &with(base2(), &json!({ "dtype": dtype, "chunks": [1], "shape": [1], "fill_value": null })),
    );
    folder.write("b.zarr/0", [0, 1, 2, 3, 0]);
    let out = run(&folder, "cat -f npy b.zarr").ok().out;
    assert!(String::from_utf8_lossy(&out).contains("[('a', '<i2'), ('b', '|u1', (2,)), ('', '|V1')]"));
    assert!(out.ends_with(&[1, 0, 2, 3, 0]));
}

#[test]
fn strings_of_variable_length_take_text_of_a_numpy_file() {
    let folder = Folder::new();
    folder.write(
        "in.npy",
        npy(
            "'>U2'",
            false,
            "(3,)",
            &[0, 0, 0, 97, 0, 0, 0, 98, 0, 0, 0, 99, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        ),
    );
    run(&folder, "create a.zarr --from in.npy --dtype str --chunks 2").ok();
    assert_eq!(folder.document("a.zarr")["data_type"], "string");
    assert_eq!(elements(&folder, "a.zarr"), json!(["ab", "c", ""]));
    // NumPy gets the width of the longest.
    let out = run(&folder, "cat -f npy a.zarr").ok().out;
    assert!(String::from_utf8_lossy(&out).contains("'descr': '<U2'"));
    assert!(out.ends_with(&le(&[97, 98, 99, 0, 0, 0])));
    folder.write("bad.npy", npy("'<U1'", false, "(1,)", &[0, 0, 0x11, 0]));
    run(&folder, "create b.zarr --from bad.npy --dtype str")
        .fails(2, &["bad.npy", "0x110000", "not a character"]);
    assert!(!folder.join("b.zarr").exists());
}

#[test]
fn byte_order_and_fortran_order_do_not_matter() {
    let folder = Folder::new();
    folder.write("big.npy", npy("'>i2'", false, "(2, 3)", &[0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6]));
    folder.write("fortran.npy", npy("'<i2'", true, "(2, 3)", &[1, 0, 4, 0, 2, 0, 5, 0, 3, 0, 6, 0]));
    let wanted = json!([[1, 2, 3], [4, 5, 6]]);
    for file in ["big", "fortran"] {
        run(&folder, &format!("create {file}.zarr --from {file}.npy --chunks 1,2")).ok();
        assert_eq!(elements(&folder, &format!("{file}.zarr")), wanted, "{file}");
    }
    run(&folder, "create shaped.zarr --from big.npy --shape 3,2").ok();
    assert_eq!(elements(&folder, "shaped.zarr"), json!([[1, 2], [3, 4], [5, 6]]));
    run(&folder, "create no.zarr --from fortran.npy --shape 3,2").fails(2, &["fortran.npy", "shape [2, 3]"]);
}

#[test]
fn raw_bytes_need_a_shape_and_a_data_type() {
    let folder = Folder::new();
    folder.write("in.raw", [0, 1, 0, 2, 0, 3]);
    run(&folder, "create a.zarr --from in.raw --shape 3 --dtype >i2").ok();
    assert_eq!(elements(&folder, "a.zarr"), json!([1, 2, 3]));
    assert_eq!(folder.document("a.zarr")["codecs"][0]["configuration"]["endian"], "big");
    piped(
        &folder,
        "create b.zarr --from - --shape 3,1 --dtype i2 --shards 3,1 --chunks 1,1",
        &[1, 0, 2, 0, 3, 0],
    )
    .ok();
    assert_eq!(elements(&folder, "b.zarr"), json!([[1], [2], [3]]));
    run(&folder, "create c.zarr --from in.raw --dtype i2").fails(2, &["--shape"]);
    run(&folder, "create c.zarr --from in.raw --shape 3").fails(2, &["in.raw", "--dtype"]);
    run(&folder, "create c.zarr --from in.raw --shape 3 --dtype str").fails(6, &["in.raw", "string"]);
    assert!(!folder.join("c.zarr").exists());
}

#[test]
fn rows_of_numbers_become_an_array() {
    let folder = Folder::new();
    folder.write("in.csv", "x, y\r\n1,2.5\n-3,nan\n");
    run(&folder, "create a.zarr --from in.csv").ok();
    assert_eq!(elements(&folder, "a.zarr"), json!([[1.0, 2.5], [-3.0, "NaN"]]));
    folder.write("in.tsv", "1\t2\n3\t4\n");
    run(&folder, "create b.zarr --from in.tsv --dtype i1 --shape 4").ok();
    assert_eq!(elements(&folder, "b.zarr"), json!([1, 2, 3, 4]));
    folder.write("days.csv", "day\n2020-01-01\n2020-01-03\n");
    run(&folder, "create c.zarr --from days.csv --dtype datetime64[D]").exits(0);
    assert_eq!(elements(&folder, "c.zarr"), json!(["2020-01-01T00:00:00", "2020-01-03T00:00:00"]));
    piped(&folder, "create d.zarr --from - --from-format csv --dtype f4", b"1\n2\n").ok();
    assert_eq!(elements(&folder, "d.zarr"), json!([1.0, 2.0]));
    for (text, parts) in [
        ("1,2\n3\n", ["line", "2"]),
        ("1,2\n3,x\n", ["line 2: column 2", "\"x\""]),
        ("a,b\nc,d\n", ["line 2: column 1", "\"c\""]),
    ] {
        folder.write("bad.csv", text);
        run(&folder, "create e.zarr --from bad.csv").fails(2, &["bad.csv", parts[0], parts[1]]);
        assert!(!folder.join("e.zarr").exists());
    }
    folder.write("names.csv", "a\nb\n");
    run(&folder, "create e.zarr --from names.csv --dtype str")
        .fails(6, &["texts are read from a table as `cat -f csv` prints it"]);
}

#[test]
fn bad_input_leaves_nothing() {
    let folder = Folder::new();
    folder.group("h.zarr");
    folder.base("h.zarr/a");
    folder.write("h.zarr/files/notes.txt", "");
    let whole = npy("'<i4'", false, "(4,)", &le(&[1, 2, 3, 4]));
    folder.write("short.npy", &whole[..whole.len() - 1]);
    folder.write("long.npy", [&whole[..], &[0]].concat());
    folder.write("in.npy", &whole);
    folder.write("text.npy", "text");
    folder.write("bool.npy", npy("'|b1'", false, "(2,)", &[1, 2]));
    folder.write("object.npy", npy("'|O'", false, "(1,)", b"pickled"));
    let before = folder.contents("");
    for (line, code, parts) in [
        ("h.zarr/new --from short.npy", 2, ["15 bytes", "expected 16"]),
        ("h.zarr/new --from long.npy", 2, ["17 bytes", "expected 16"]),
        ("h.zarr/new --from text.npy", 2, ["text.npy", "not a NumPy file"]),
        ("h.zarr/new --from bool.npy", 2, ["bool.npy", "the byte 2"]),
        ("h.zarr/new --from object.npy", 6, ["object.npy", "|O"]),
        ("h.zarr/new --from none.npy", 3, ["none.npy", "cannot read"]),
        ("h.zarr/new --from in.npy --shape 5", 2, ["there are 4 elements", "5 for shape [5] are needed"]),
        ("h.zarr/new --from in.npy --dtype f4", 2, ["int32", "float32 is needed"]),
        ("h.zarr/a --from in.npy", 2, ["h.zarr", "there is a node already"]),
        ("h.zarr/a --from in.npy --if-exists replace", 2, ["--from replaces nothing", "zarr mv"]),
        ("h.zarr/a/b --from in.npy", 2, ["\"/a\" is an array", "below"]),
        ("h.zarr/files --from in.npy", 2, ["files/notes.txt", "belongs to no node"]),
        ("new.zarr --from in.npy --chunks 2,2", 2, ["1 dimensions", "chunk shape 2"]),
    ] {
        run(&folder, &format!("create {line}")).fails(code, &parts);
        assert_eq!(folder.contents(""), before, "{line}");
        assert!(!folder.join("new.zarr").exists());
    }
}

#[test]
fn large_input_is_cut_into_boxes_of_chunks() {
    let folder = Folder::new();
    // A row of chunks does not fit into one part, so the file is read in places.
    let elements = &(0..251).collect::<Vec<u8>>().repeat(540_000)[..3 * 45_000_000];
    folder.write("in.raw", elements);
    run(
        &folder,
        "create a.zarr --from in.raw --shape 3,45000000 --dtype u1 --chunks 3,7000000 --codecs none",
    )
    .ok();
    assert!(run(&folder, "cat -f raw a.zarr").ok().out == elements);
}

#[test]
fn an_array_grows_by_its_input() {
    let folder = Folder::new();
    folder.group("h.zarr");
    folder.node(
        "h.zarr/a",
        &array(
            &[2, 3],
            "int32",
            &[2, 2],
            &json!(0),
            &json!([{ "name": "bytes", "configuration": { "endian": "little" } }]),
        ),
    );
    zarr(args!["consolidate", folder.join("h.zarr")]).ok();
    folder.write("row.npy", npy("'<i4'", false, "(3,)", &le(&[1, 2, 3])));
    folder.write(
        "rows.npy",
        npy(
            "'>i4'",
            false,
            "(2, 3)",
            &[0, 0, 0, 4, 0, 0, 0, 5, 0, 0, 0, 6, 0, 0, 0, 7, 0, 0, 0, 8, 0, 0, 0, 9],
        ),
    );
    folder.write("columns.csv", "10\n11\n12\n13\n14\n");
    assert_eq!(run(&folder, "append h.zarr/a --from row.npy").ok().text(), "appended 2..3 of dimension 0\n");
    let told = run(&folder, "append h.zarr/a --from rows.npy --json").ok().json();
    assert_eq!(
        told,
        json!({ "schema_version": 1, "path": "/a", "axis": 0, "start": 3, "end": 5, "shape": [5, 3] })
    );
    assert_eq!(
        run(&folder, "append h.zarr/a --axis -1 --from columns.csv").ok().text(),
        "appended 3..4 of dimension 1\n"
    );
    piped(&folder, "append h.zarr/a --from -", &le(&[20, 21, 22, 23])).ok();
    let wanted =
        json!([[0, 0, 0, 10], [0, 0, 0, 11], [1, 2, 3, 12], [4, 5, 6, 13], [7, 8, 9, 14], [20, 21, 22, 23]]);
    assert_eq!(elements(&folder, "h.zarr/a"), wanted);
    zarr(args!["consolidate", "--check", folder.join("h.zarr")]).ok();
    run(&folder, "append h.zarr/a --from row.npy")
        .fails(2, &["\"/a\"", "shape [3] cannot be appended along dimension 0 of shape [6, 4]"]);
    run(&folder, "append h.zarr/a --axis 2 --from row.npy")
        .fails(2, &["--along: dimension 2", "2 dimensions"]);
    run(&folder, "append h.zarr/a").fails(2, &["--from is needed"]);
    piped(&folder, "append h.zarr/a --from -", &le(&[1])).fails(2, &["1 elements cannot be appended"]);
    piped(&folder, "append h.zarr/a --from -", &[1]).fails(2, &["standard input", "whole elements"]);
    assert_eq!(elements(&folder, "h.zarr/a"), wanted);
    assert_eq!(piped(&folder, "append h.zarr/a --from -", &[]).ok().text(), "appended 6..6 of dimension 0\n");
}

#[test]
fn several_processes_append_at_once() {
    let folder = Folder::new();
    run(&folder, "create a.zarr --shape 0,4 --dtype i4 --chunks 3,4").ok();
    let rows: Vec<_> = (1..=6)
        .map(|n| {
            folder.write(&format!("{n}.raw"), le(&[n; 8]));
            command()
                .current_dir(folder.path())
                .args(["append", "a.zarr", "--from", &format!("{n}.raw")])
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    for child in rows {
        Done::from(child.wait_with_output().unwrap()).ok();
    }
    let elements = elements(&folder, "a.zarr");
    let mut firsts: Vec<i64> = elements
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            assert!(row.as_array().unwrap().iter().all(|n| n == &row[0]));
            row[0].as_i64().unwrap()
        })
        .collect();
    firsts.sort_unstable();
    assert_eq!(firsts, [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6]);
}

#[test]
fn a_part_of_an_array_is_overwritten() {
    let folder = Folder::new();
    run(&folder, "create a.zarr --shape 3,4 --dtype i2 --chunks 2,3").ok();
    assert_eq!(run(&folder, "write a.zarr -s 1,::2 --value 7").ok().text(), "wrote 2 elements\n");
    folder.write("in.npy", npy("'<i2'", false, "(2, 2)", &[1, 0, 2, 0, 3, 0, 4, 0]));
    run(&folder, "write a.zarr -s ::-2,[3,0] --from in.npy").ok();
    assert_eq!(elements(&folder, "a.zarr"), json!([[4, 0, 0, 3], [7, 0, 7, 0], [2, 0, 0, 1]]));
    piped(&folder, "write a.zarr -s :,1 --from -", &[5, 0, 6, 0, 7, 0]).ok();
    folder.write("row.csv", "8,9\n");
    run(&folder, "write a.zarr -s 0,2: --from row.csv").ok();
    assert_eq!(elements(&folder, "a.zarr"), json!([[4, 5, 8, 9], [7, 6, 7, 0], [2, 7, 0, 1]]));
    run(&folder, "write a.zarr -s 0 --from in.npy").fails(2, &["in.npy", "shape [2, 2]", "[1, 4] is needed"]);
    run(&folder, "write a.zarr -s 0 --from row.csv").fails(2, &["row.csv", "2 elements, 4"]);
    run(&folder, "write a.zarr -s 0 --value 1.5").fails(2, &["--value", "\"1.5\""]);
    run(&folder, "write a.zarr -s 0").exits(2).says(&["--from", "--value"]);
    run(&folder, "create s.zarr --shape 3 --dtype str --chunks 2").ok();
    let told = run(&folder, "write s.zarr -s 1: --value text --json").ok().json();
    assert_eq!(told, json!({ "schema_version": 1, "path": "/", "elements": 2 }));
    assert_eq!(elements(&folder, "s.zarr"), json!(["", "text", "text"]));
}
