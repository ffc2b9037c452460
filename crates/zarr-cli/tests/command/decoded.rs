//! What people read and type is decoded: `cat`, `stats`, `write`, `append` and `create` by the attributes of the array.

use std::fs;

use serde_json::{Value, json};

use crate::args;
use crate::from::{piped, run};
use crate::harness::{Folder, array, base2, le, with, zarr, zarr_in};
use crate::weather::{model, weather};

/// Makes an array of one dimension with one chunk.
fn line(folder: &Folder, path: &str, data_type: &str, attributes: &Value, bytes: &[u8]) {
    let size = match data_type {
        "int8" | "uint8" => 1,
        "int16" => 2,
        "int64" | "float64" => 8,
        _ => 4,
    };
    let length = (bytes.len() / size) as u64;
    let little = json!([{ "name": "bytes", "configuration": { "endian": "little" } }]);
    let document = array(&[length], data_type, &[length], &json!(0), &little);
    folder.node(
        path,
        &with(document, &json!({ "dimension_names": [format!("x{length}")], "attributes": attributes })),
    );
    folder.write(&format!("{path}/c/0"), bytes);
}

/// Makes `h.zarr` with an array of each kind of elements.
fn kinds(folder: &Folder) {
    folder.group("h.zarr");
    let packed = json!({ "scale_factor": 0.01, "add_offset": 273.15, "_FillValue": -32767 });
    let bytes = [2258_i16, -32767, 0, -12, 32000].map(i16::to_le_bytes).concat();
    line(folder, "h.zarr/packed", "int16", &packed, &bytes);
    let thin = json!({ "scale_factor": 0.3333333333333333, "_FillValue": -32767 });
    line(folder, "h.zarr/third", "int16", &thin, &bytes);
    let large = [9_007_199_254_740_993_i64, -1, i64::MAX, 0].map(i64::to_le_bytes).concat();
    line(folder, "h.zarr/large", "int64", &json!({ "_FillValue": -1 }), &large);
    line(folder, "h.zarr/plain", "int64", &json!({ "units": "m" }), &large);
    let signed = json!({ "_Unsigned": "true", "_FillValue": -1 });
    line(folder, "h.zarr/unsigned", "int8", &signed, &[0, 1, 200, 255]);
    let real = [0.1_f32, f32::NAN, f32::INFINITY, -0.0, 1e-30].map(f32::to_le_bytes).concat();
    line(folder, "h.zarr/real", "float32", &json!({ "_FillValue": "NaN" }), &real);
    let time = json!({ "units": "hours since 2020-01-01", "_FillValue": -99 });
    line(folder, "h.zarr/time", "int32", &time, &le(&[0, 1, -99, 8784]));
    let span = json!({ "units": "hours", "dtype": "timedelta64[ns]" });
    line(folder, "h.zarr/span", "int32", &span, &le(&[0, 30, -6, 24]));
    let model = json!({ "units": "days since 2000-02-29", "calendar": "360_day" });
    line(folder, "h.zarr/model", "int32", &model, &le(&[0, 1, 360]));
    line(folder, "h.zarr/truth", "int8", &json!({ "dtype": "bool" }), &[0, 1, 1, 0]);
    let bools = array(&[3], "bool", &[3], &json!(false), &json!([{ "name": "bytes" }]));
    folder.node("h.zarr/bool", &bools);
    folder.write("h.zarr/bool/c/0", [0, 1, 1]);
    for (name, options) in [("text", ""), ("nullable", r#"{"_FillValue":"none"}"#)] {
        let path = format!("h.zarr/{name}");
        let mut args = args!["create", folder.join(&path), "--shape", "3", "--dtype", "str"].to_vec();
        if !options.is_empty() {
            args.extend(args!["--attrs", options]);
        }
        zarr(args).ok();
        for (at, value) in ["Oslo", "a, \"b\" \u{e9}", "none"].iter().enumerate() {
            zarr(args!["write", "--stored", folder.join(&path), "-s", at.to_string(), "--value", value]).ok();
        }
    }
    zarr(args!["create", folder.join("h.zarr/date"), "--shape", "2", "--dtype", "datetime64[s]"]).exits(0);
    run(folder, "write h.zarr/date -s 0 --value 2020-01-01T06:00").ok();
    run(folder, "write h.zarr/date -s 1 --value NaT").ok();
}

/// What `cat` prints in a format, `write` reads, and stores the same bytes again.
#[test]
fn what_cat_prints_write_stores_again() {
    let folder = Folder::new();
    kinds(&folder);
    let all = ["text", "json", "csv", "tsv", "npy", "raw"].map(|format| (format, ""));
    let decoded = [("npy", " --decode"), ("raw", " --decode")];
    let stored = [("json", " --stored"), ("csv", " --stored")];
    for (name, ways) in [
        ("packed", [&all[..], &decoded, &stored].concat()),
        ("third", [&all[..], &decoded].concat()),
        ("large", [&all[..], &stored].concat()),
        ("plain", all.to_vec()),
        ("unsigned", [&all[..], &stored].concat()),
        ("real", all.to_vec()),
        ("time", [&all[..], &stored].concat()),
        ("span", all.to_vec()),
        ("model", all.to_vec()),
        ("truth", [&all[..], &stored].concat()),
        ("bool", [&all[..], &decoded].concat()),
        // Texts have no raw form.
        ("text", all[..5].to_vec()),
        ("nullable", [&all[..5], &stored].concat()),
        ("date", [&all[..], &stored].concat()),
    ] {
        let path = format!("h.zarr/{name}");
        let chunk = folder.join(&path).join("c/0");
        let wanted = fs::read(&chunk).unwrap();
        for (format, option) in ways {
            let printed = run(&folder, &format!("cat -f {format}{option} {path}")).ok().out;
            fs::remove_file(&chunk).unwrap();
            piped(&folder, &format!("write {path} --from - --from-format {format}{option}"), &printed).ok();
            let shown = String::from_utf8_lossy(&printed);
            assert_eq!(fs::read(&chunk).unwrap(), wanted, "{name} {format}{option}: {shown}");
        }
    }
}

#[test]
fn text_is_decoded_and_bytes_are_stored() {
    let folder = Folder::new();
    kinds(&folder);
    for (name, text, json) in [
        ("packed", "295.73\nNaN\n273.15\n273.03\n593.15\n", "[295.73,null,273.15,273.03,593.15]\n"),
        (
            "large",
            "9007199254740993\nNaN\n9223372036854775807\n0\n",
            "[9007199254740993,null,9223372036854775807,0]\n",
        ),
        (
            "plain",
            "9007199254740993\n-1\n9223372036854775807\n0\n",
            "[9007199254740993,-1,9223372036854775807,0]\n",
        ),
        ("unsigned", "0\n1\n200\nNaN\n", "[0,1,200,null]\n"),
        (
            "real",
            "0.1\nNaN\nInfinity\n-0.0\n1e-30\n",
            "[0.10000000149011612,\"NaN\",\"Infinity\",-0.0,1.0000000031710769e-30]\n",
        ),
        (
            "time",
            "2020-01-01T00:00:00\n2020-01-01T01:00:00\n--\n2021-01-01T00:00:00\n",
            "[\"2020-01-01T00:00:00\",\"2020-01-01T01:00:00\",null,\"2021-01-01T00:00:00\"]\n",
        ),
        ("span", "PT0S\nP1DT6H\n-PT6H\nP1D\n", "[\"PT0S\",\"P1DT6H\",\"-PT6H\",\"P1D\"]\n"),
        ("truth", "false\ntrue\ntrue\nfalse\n", "[false,true,true,false]\n"),
        ("nullable", "Oslo\na, \"b\" é\n--\n", "[\"Oslo\",\"a, \\\"b\\\" é\",null]\n"),
        ("date", "2020-01-01T06:00:00\n--\n", "[\"2020-01-01T06:00:00\",null]\n"),
    ] {
        for options in ["", " --decode"] {
            let cat = |format: &str| run(&folder, &format!("cat -f {format}{options} h.zarr/{name}")).ok();
            assert_eq!(cat("text").text(), text, "{name}");
            if name != "real" || options.is_empty() {
                assert_eq!(cat("json").text(), json, "{name}");
            }
        }
    }
    let stored = |format: &str| run(&folder, &format!("cat -f {format} h.zarr/packed")).ok().out;
    let bytes = [2258_i16, -32767, 0, -12, 32000].map(i16::to_le_bytes).concat();
    assert_eq!(stored("raw"), bytes);
    assert!(stored("npy").ends_with(&bytes));
    let done = run(&folder, "cat -f csv --stored h.zarr/packed").ok();
    assert_eq!(done.text(), "x5,packed\n0,2258\n1,-32767\n2,0\n3,-12\n4,32000\n");
    run(&folder, "cat --stored --decode h.zarr/packed").exits(2).says(&["--stored", "--decode"]);
    run(&folder, "cat -f csv --stored h.zarr").fails(2, &["--stored", "decoded"]);
}

#[test]
fn a_format_that_was_not_chosen_is_raw_with_a_note() {
    let folder = Folder::new();
    folder.base("a.zarr");
    let done = run(&folder, "cat a.zarr").ok_with_notes();
    done.says(&["raw bytes; a later release prints text here: give -f raw or -f text"]);
    assert_eq!(done.out, le(&[1, 2, 7, 7]));
    for options in ["-q", "-f raw", "--quiet -o -"] {
        assert_eq!(run(&folder, &format!("cat {options} a.zarr")).ok().out, le(&[1, 2, 7, 7]), "{options}");
    }
}

#[test]
fn attributes_that_cannot_be_understood_are_an_error_that_names_stored() {
    let folder = Folder::new();
    model(&folder);
    for verb in ["cat -f text", "cat -f csv", "stats", "write --value 3", "cat -f npy --decode"] {
        let line = format!("{verb} model.zarr/late");
        run(&folder, &line).fails(1, &["array \"/late\"", "days since tomorrow", "--stored leaves elements"]);
    }
    assert_eq!(run(&folder, "cat -f text --stored model.zarr/late").ok().text(), "0\n0\n");
    run(&folder, "write --stored --value 3 model.zarr/late").ok();
    assert_eq!(run(&folder, "cat -f raw model.zarr/late").ok().out, le(&[3, 3]));
    run(&folder, "stats --stored model.zarr/late").ok();
    run(&folder, "stats model.zarr").exits(1).says(&["array \"/late\"", "--stored"]);
    let all = run(&folder, "stats --stored model.zarr").ok();
    assert!(all.text().contains("/late") && all.text().contains("/time"), "{}", all.text());
    // A coordinate that cannot be decoded.
    run(&folder, "attrs set model.zarr/time calendar moon").ok();
    let table = run(&folder, "cat -f csv model.zarr/p").ok_with_notes();
    table.says(&["the column \"time\" has positions", "unknown calendar \"moon\""]);
    assert_eq!(table.text(), "time,p\n0,0.1\n1,Infinity\n");
    // Counts that are too far away for a time.
    let far = json!({ "units": "days since 2000-01-01" });
    line(&folder, "model.zarr/far", "int64", &far, &i64::MAX.to_le_bytes());
    run(&folder, "cat -f text model.zarr/far").fails(1, &["array \"/far\"", "--stored"]);
}

#[test]
fn an_array_alone_is_decoded_by_its_own_attributes() {
    let folder = Folder::new();
    let little = json!([{ "name": "bytes", "configuration": { "endian": "little" } }]);
    let document = array(&[2, 2], "int16", &[2, 2], &json!(0), &little);
    let attributes = json!({ "scale_factor": 0.1 });
    for names in [json!(null), json!(["x", "x"]), json!(["y", null])] {
        let changes = json!({ "dimension_names": names, "attributes": attributes });
        folder.node("a.zarr", &with(document.clone(), &changes));
        folder.write("a.zarr/c/0/0", [1, 0, 2, 0, 3, 0, 4, 0]);
        assert_eq!(run(&folder, "cat -f json a.zarr").ok().text(), "[[0.1,0.2],\n [0.3,0.4]]\n");
        assert_eq!(run(&folder, "cat -f json -s 1,:1 a.zarr").ok().json(), json!([0.3]));
        run(&folder, "write a.zarr -s 0,0 --value 0.7").ok();
        assert_eq!(run(&folder, "cat -f json --stored a.zarr").ok().json(), json!([[7, 2], [3, 4]]));
    }
    assert_eq!(
        run(&folder, "cat -f csv a.zarr").ok().text(),
        "y,dim_1,value\n0,0,0.7\n0,1,0.2\n1,0,0.3\n1,1,0.4\n"
    );
}

/// The document of the array says enough.
#[test]
fn decoding_costs_no_request_more() {
    let folder = Folder::new();
    kinds(&folder);
    for name in ["plain", "packed", "real", "time"] {
        let requests = |options: &str| {
            run(&folder, &format!("cat -f text {options} --trace trace h.zarr/{name}")).ok();
            fs::read_to_string(folder.join("trace")).unwrap().lines().count()
        };
        assert_eq!(requests("-s ..."), requests("--stored"), "{name}");
    }
}

/// Most arrays of format 2 have a fill value, and no missing element.
#[test]
fn a_fill_value_of_format_2_alone_is_not_missing() {
    let folder = Folder::new();
    folder.group2("h.zarr");
    folder.array2("h.zarr/a", &base2());
    folder.write("h.zarr/a/.zattrs", r#"{"_ARRAY_DIMENSIONS": ["x"]}"#);
    assert_eq!(run(&folder, "cat -f text h.zarr/a").ok().text(), "1\n2\n7\n7\n");
    assert_eq!(run(&folder, "stats --json h.zarr/a").ok().json()["missing"], 0);
    assert_eq!(run(&folder, "cat -f text --decode h.zarr/a").ok().text(), "1\n2\nNaN\nNaN\n");
    folder.write("h.zarr/a/.zattrs", r#"{"_ARRAY_DIMENSIONS": ["x"], "scale_factor": 0.5}"#);
    assert_eq!(run(&folder, "cat -f text h.zarr/a").ok().text(), "0.5\n1.0\nNaN\nNaN\n");
}

#[test]
fn bounds_of_times_have_the_units_of_their_axis() {
    let folder = Folder::new();
    folder.group("h.zarr");
    let time = json!({ "units": "hours since 2020-01-01", "bounds": "b" });
    line(&folder, "h.zarr/time", "int32", &time, &le(&[0, 6]));
    let little = json!([{ "name": "bytes", "configuration": { "endian": "little" } }]);
    let document = array(&[2, 2], "int32", &[2, 2], &json!(0), &little);
    folder.node("h.zarr/b", &with(document, &json!({ "dimension_names": ["x2", "nv"] })));
    folder.write("h.zarr/b/c/0/0", le(&[0, 6, 6, 12]));
    let text = "2020-01-01T00:00:00\n2020-01-01T06:00:00\n2020-01-01T06:00:00\n2020-01-01T12:00:00\n";
    assert_eq!(run(&folder, "cat -f text h.zarr/b").ok().text(), text);
    assert_eq!(run(&folder, "cat -f text --stored h.zarr/b").ok().text(), "0\n6\n6\n12\n");
}

#[test]
fn statistics_are_those_of_decoded_elements() {
    let folder = Folder::new();
    kinds(&folder);
    let stats = |line: &str| run(&folder, &format!("stats --json {line}")).ok().json();
    let large = stats("h.zarr/large");
    assert_eq!(
        [&large["missing"], &large["minimum"], &large["maximum"]],
        [&json!(1), &json!(0), &json!(i64::MAX)]
    );
    let packed = stats("h.zarr/packed");
    assert_eq!([&packed["minimum"], &packed["maximum"]], [&json!(273.03), &json!(593.15)]);
    assert_eq!(stats("--stored h.zarr/packed")["minimum"], -32767);
    assert_eq!(stats("h.zarr/time")["maximum"], "2021-01-01T00:00:00");
    assert_eq!(stats("--stored h.zarr/time")["maximum"], 8784);
    let text = run(&folder, "stats h.zarr/large").ok();
    assert!(text.text().contains("maximum    9223372036854775807\n"), "{}", text.text());
    run(&folder, "stats --stored --by x5 h.zarr/packed").exits(2);
    let group = run(&folder, "stats --json h.zarr").ok().json();
    let row = group["arrays"].as_array().unwrap().iter().find(|row| row["path"] == "/packed").unwrap();
    assert_eq!(row["minimum"], 273.03);
    let stored = run(&folder, "stats --json --stored h.zarr").ok().json();
    let row = stored["arrays"].as_array().unwrap().iter().find(|row| row["path"] == "/packed").unwrap();
    assert_eq!(row["minimum"], -32767);
}

#[test]
fn rows_of_a_table_must_be_where_the_array_has_them() {
    let folder = Folder::new();
    weather(&folder);
    let table = run(&folder, "cat w.zarr/t2m -f csv -s 3").ok().text().to_owned();
    folder.write("a.csv", &table);
    run(&folder, "write w.zarr/t2m -s 3 --from a.csv").ok();
    run(&folder, "write w.zarr/t2m -s 4 --from a.csv").fails(
        2,
        &[
            "a.csv",
            "line 2",
            "column \"time\" has \"2020-01-01T03:00:00\"",
            "\"2020-01-01T04:00:00\"",
            "--coords ignore",
        ],
    );
    run(&folder, "write w.zarr/t2m -s 4 --from a.csv --coords ignore").ok();
    let element = |at: u32| run(&folder, &format!("cat w.zarr/t2m -f json -s {at}")).ok().out;
    assert_eq!(element(4), element(3));
    let mut rows: Vec<&str> = table.lines().collect();
    rows.swap(1, 3);
    folder.write("b.csv", rows.join("\n"));
    run(&folder, "write w.zarr/t2m -s 3 --from b.csv").fails(2, &["b.csv", "line 2", "column \"lat\""]);
    run(&folder, "write w.zarr/t2m -s 3 --from b.csv --coords ignore")
        .fails(2, &["b.csv", "line 3", "rows must be in the order of the array"]);
    folder.write("short.csv", rows[..4].join("\n"));
    run(&folder, "write w.zarr/t2m -s 3 --from short.csv --coords ignore").fails(2, &["short.csv"]);
    let numbers = table.replace("60.0", "60").replace("40.0", "4e1");
    folder.write("c.csv", numbers);
    run(&folder, "write w.zarr/t2m -s 3 --from c.csv").ok();
    // Columns of several variables.
    folder.write("d.csv", "station,other,place\n0,1,Oslo\n1,2,Bergen\n");
    run(&folder, "write w.zarr/place --from d.csv").ok();
    assert_eq!(run(&folder, "cat w.zarr/place -f json").ok().json(), json!(["Oslo", "Bergen"]));
    folder.write("e.csv", "station,a,b\n0,1,Oslo\n1,2,Bergen\n");
    run(&folder, "write w.zarr/place --from e.csv").fails(2, &["no column of the table is named \"place\""]);
}

#[test]
fn text_is_appended_and_created_as_the_attributes_say() {
    let folder = Folder::new();
    weather(&folder);
    folder.write("new.csv", "time,time\n0,2020-01-03T00:00:00\n1,2020-01-03T01:00:00\n");
    run(&folder, "append w.zarr/time --from new.csv").ok();
    assert_eq!(run(&folder, "cat w.zarr/time -f json --stored -s -3:").ok().json(), json!([47, 48, 49]));
    let hours = run(&folder, "cat w.zarr/t2m -f csv --stored -s 46:48").ok();
    folder.write("hours.csv", hours.text());
    run(&folder, "append w.zarr/t2m --stored --from hours.csv").ok();
    let part = |select: &str| run(&folder, &format!("cat w.zarr/t2m -f json -s {select}")).ok().out;
    assert_eq!(part("48:50"), part("46:48"));
    let wrong = hours.text().replace(",1,0,", ",2,0,");
    folder.write("wrong.csv", wrong);
    run(&folder, "append w.zarr/t2m --stored --from wrong.csv").fails(2, &["wrong.csv", "column \"lat\""]);

    folder.write("in.json", "[[1.5, null], [2.25, -1e1]]");
    let attrs = r#"{"scale_factor":0.25,"_FillValue":-99}"#;
    let create = |name: &str, more: &[&str]| {
        let mut args = args!["create", folder.join(name), "--dtype", "i2", "--attrs", attrs].to_vec();
        args.extend(more.iter().map(Into::into));
        zarr_in(folder.path(), args)
    };
    create("c.zarr", &["--from", "in.json"]).ok();
    let stored = |name: &str| run(&folder, &format!("cat {name} -f json --stored")).ok().json();
    assert_eq!(stored("c.zarr"), json!([[6, -99], [9, -40]]));
    folder.write("in.txt", "1.5\n--\n");
    create("d.zarr", &["--from", "in.txt"]).ok();
    assert_eq!(stored("d.zarr"), json!([6, -99]));
    folder.write("in.csv", "6,-99\n");
    create("e.zarr", &["--from", "in.csv", "--stored"]).ok();
    assert_eq!(stored("e.zarr"), json!([[6, -99]]));
    create("f.zarr", &["--from", "in.csv", "--zarr-format", "2", "--fill", "-99"]).ok();
    assert_eq!(stored("f.zarr"), json!([[24, -396]]));
    let time = r#"{"units":"days since 2020-01-01"}"#;
    folder.write("days.csv", "0\n");
    let days = args!["create", "t.zarr", "--from", "days.csv", "--dtype", "i4", "--attrs", time];
    zarr_in(folder.path(), days).fails(2, &["line 1", "\"0\" is not a time", "--stored"]);
    folder.write("far.txt", "1e9\n");
    create("g.zarr", &["--from", "far.txt"]).fails(2, &["far.txt", "line 1"]);
    assert!(!folder.join("g.zarr").exists());
}

#[test]
fn lists_that_are_no_array_are_refused() {
    let folder = Folder::new();
    run(&folder, "create a.zarr --shape 2,2 --dtype i4").ok();
    for (text, parts) in [
        ("[[1, 2], [3]]", &["lengths 2 and 1"][..]),
        ("[[1, 2], 3]", &["an element where a list is expected"]),
        ("[[1, 2], [3, [4]]]", &["a list where an element is expected"]),
        ("[[1, 2], [3, 4]", &["ends too early"]),
        ("[[1, 2], [3, 4]] 5", &["more behind the JSON"]),
        ("[[1, 2], [3, 4.5]]", &["element 3", "4.5"]),
        ("[[1, 2], [3, x]]", &["element 3"]),
        ("[1, 2, 3, 4]", &["shape [4], [2, 2] is needed"]),
        ("", &["ends too early"]),
        ("]", &["element 0"]),
    ] {
        piped(&folder, "write a.zarr --from - --from-format json", text.as_bytes())
            .fails(2, &[&["standard input"], parts].concat());
    }
    let deep = "[".repeat(1_000_000);
    piped(&folder, "write a.zarr --from - --from-format json", deep.as_bytes()).fails(2, &["64 lists"]);
    piped(&folder, "write a.zarr --from - --from-format json", b" [[1,2],\n\t[3 , 4] ]\n").ok();
    assert_eq!(run(&folder, "cat a.zarr -f json").ok().json(), json!([[1, 2], [3, 4]]));
    run(&folder, "create c.zarr --shape 2 --dtype complex64").exits(0);
    piped(&folder, "write c.zarr --from - --from-format json", b"[[1,2],[3,4]]").ok();
    assert_eq!(run(&folder, "cat c.zarr -f json").ok().json(), json!([[1.0, 2.0], [3.0, 4.0]]));
    run(&folder, "create s.zarr --shape 1 --dtype str").ok();
    piped(&folder, "write s.zarr --from - --from-format text", b"a\\nb\n").fails(2, &["line 1", "backslash"]);
    piped(&folder, "write s.zarr --from - --from-format json", b"[\"a\\n\\\"]b\"]").ok();
    assert_eq!(run(&folder, "cat s.zarr -f json").ok().json(), json!(["a\n\"]b"]));
    let csv = run(&folder, "cat s.zarr -f csv").ok().out;
    piped(&folder, "write s.zarr --from - --from-format csv", &csv).ok();
    assert_eq!(run(&folder, "cat s.zarr -f json").ok().json(), json!(["a\n\"]b"]));
}
