//! The output of `zarr stats`.

use serde_json::{Value, json};

use crate::args;
use crate::harness::{Folder, array, base, le, with, zarr};
use crate::weather::weather;

fn stats(folder: &Folder, name: &str, options: &[&str]) -> Value {
    let mut args = args!["stats", "--json", folder.join(name)].to_vec();
    args.extend(options.iter().map(Into::into));
    zarr(args).ok().json()
}

/// Eight integers, the last four of which are not stored.
fn integers(folder: &Folder) {
    let little = json!([{ "name": "bytes", "configuration": { "endian": "little" } }]);
    folder.node("i.zarr", &array(&[8], "int32", &[4], &json!(5), &little));
    folder.write("i.zarr/c/0", le(&[-3, 5, 2_000_000_000, 5]));
}

#[test]
fn stored_elements_are_summed() {
    let folder = Folder::new();
    integers(&folder);
    let found = stats(&folder, "i.zarr", &["--bins", "0"]);
    let wanted = json!({
        "schema_version": 1, "path": "/", "elements": 8, "missing": 0, "infinite": 0, "minimum": -3,
        "maximum": 2_000_000_000, "mean": 250_000_003.375, "histogram": [], "fill": 6,
    });
    for name in wanted.as_object().unwrap().keys() {
        assert_eq!(found[name], wanted[name], "{name}");
    }
    assert!((found["deviation"].as_f64().unwrap() - 661_437_826.895).abs() < 1.0);
    let part = stats(&folder, "i.zarr", &["-s", "::2", "--bins", "4"]);
    assert_eq!(["elements", "minimum", "fill"].map(|name| part[name].as_i64().unwrap()), [4, -3, 2]);
    let counts: u64 =
        part["histogram"].as_array().unwrap().iter().map(|bin| bin["count"].as_u64().unwrap()).sum();
    assert_eq!(counts, 4);
}

#[test]
fn chunks_that_are_not_stored_take_no_time() {
    let folder = Folder::new();
    folder.group("h.zarr");
    let (path, trace) = (folder.base("h.zarr/a"), folder.join("trace"));
    // A thousand million chunks, one of which is stored, with the elements 1 and 2.
    let attributes = json!({ "scale_factor": 2.0, "add_offset": -14.0 });
    let changes = json!({ "shape": [2_000_000_000], "attributes": attributes, "dimension_names": ["x"] });
    folder.node("h.zarr/a", &with(base(), &changes));
    let done = zarr(args!["stats", "--json", &path, "--trace", &trace]).ok().json();
    assert_eq!((&done["elements"], &done["fill"]), (&json!(2_000_000_000), &json!(1_999_999_998)));
    assert_eq!((&done["minimum"], &done["maximum"]), (&json!(1), &json!(7)));
    assert!((done["mean"].as_f64().unwrap() - (7.0 - 11.0 / 2e9)).abs() < 1e-12, "{done}");
    assert!((done["deviation"].as_f64().unwrap() - (61.0_f64 / 2e9).sqrt()).abs() < 1e-12, "{done}");
    assert!(std::fs::read_to_string(&trace).unwrap().lines().count() < 10);
    let part = stats(&folder, "h.zarr/a", &["--decode", "-s", "1:1999999999"]);
    assert_eq!((&part["elements"], &part["maximum"]), (&json!(1_999_999_998), &json!(0.0)));
    assert_eq!(part["minimum"], json!(-10.0));
    // 2^60 chunks, and more elements than 64 bits count.
    let bytes = json!([{ "name": "bytes" }]);
    folder.node("none.zarr", &array(&[1 << 60, 100], "uint8", &[1, 100], &json!(7), &bytes));
    let none = zarr(args!["stats", folder.join("none.zarr")]).ok();
    let wanted = format!("elements    {}\n", 100_u128 << 60);
    assert!(none.text().starts_with(&wanted) && none.text().contains("mean        7\n"), "{}", none.text());
}

#[test]
fn decoded_elements_are_summed_as_the_attributes_say() {
    let folder = Folder::new();
    weather(&folder);
    let packed = stats(&folder, "w.zarr/t2m", &["--decode", "-s", "time@0"]);
    assert_eq!((&packed["elements"], &packed["missing"]), (&json!(6), &json!(1)));
    assert_eq!((&packed["minimum"], &packed["maximum"]), (&json!(280.0), &json!(280.625)));
    let times = stats(&folder, "w.zarr/time", &["--decode"]);
    assert_eq!(
        (&times["minimum"], &times["mean"]),
        (&json!("2020-01-01T00:00:00"), &json!("2020-01-01T23:30:00"))
    );
    let truths = stats(&folder, "w.zarr/flag", &[]);
    assert_eq!((&truths["minimum"], &truths["maximum"]), (&json!(0), &json!(1)));
}

#[test]
fn equal_elements_have_one_short_bin() {
    let folder = Folder::new();
    let little = json!([{ "name": "bytes", "configuration": { "endian": "little" } }]);
    for (name, fill, wanted) in [
        ("zero", json!(0.0), "  0  16  ########################################\n"),
        ("five", json!(5.5), "  5.5  16  ########################################\n"),
        ("tiny", json!(5e-324), "  5e-324  16  ########################################\n"),
    ] {
        folder.node(name, &array(&[16], "float64", &[4], &fill, &little));
        let text = zarr(args!["stats", folder.join(name)]).ok();
        assert!(text.text().ends_with(wanted), "{}", text.text());
        assert!(text.text().lines().all(|line| line.len() < 80), "{}", text.text());
    }
}

#[test]
fn a_summary_is_for_people() {
    let folder = Folder::new();
    integers(&folder);
    let text = zarr(args!["stats", "--bins", "2", folder.join("i.zarr")]).ok().text().to_owned();
    let wanted = "\
elements    8
missing     0 (0.000 %)
fill value  6 (75.000 %)
minimum     -3
maximum     2000000000
mean        250000003.375
";
    assert!(text.starts_with(wanted), "{text}");
    assert!(text.ends_with("  0 to 2147483648   7  ########################################\n"), "{text}");
    weather(&folder);
    zarr(args!["stats", folder.join("w.zarr/place")]).fails(6, &["array \"/place\"", "not real numbers"]);
}

#[test]
fn a_group_has_a_line_for_each_array() {
    let folder = Folder::new();
    weather(&folder);
    let text = zarr(args!["stats", folder.join("w.zarr")]).ok().text().to_owned();
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0], ["array", "elements", "missing", "minimum", "maximum", "mean", "deviation"]);
    let of = |name: &str| lines.iter().find(|line| line[0] == name).unwrap().clone();
    assert_eq!(of("/flag")[1..5], ["3", "0", "0", "1"]);
    assert_eq!(of("/place")[1..], ["-"; 6]);
    // Of each array the same as alone.
    let all = stats(&folder, "w.zarr", &["--decode", "--bins", "3"]);
    assert_eq!(all["path"], "/");
    let arrays = all["arrays"].as_array().unwrap();
    assert!(arrays.len() > 3 && lines.len() == arrays.len() + 1);
    for array in arrays {
        let path = array["path"].as_str().unwrap();
        if array.get("reason").is_some() {
            assert!(["/place"].contains(&path), "{array}");
            continue;
        }
        let mut alone = stats(&folder, &format!("w.zarr{path}"), &["--decode", "--bins", "3"]);
        alone.as_object_mut().unwrap().remove("schema_version");
        assert_eq!(*array, alone, "{path}");
    }
    zarr(args!["stats", "-s", "0", folder.join("w.zarr")]).fails(2, &["-s selects of an array"]);
    // An array that cannot be read does not hide the others.
    folder.write("w.zarr/time/c/0", [1]);
    let done = zarr(args!["stats", folder.join("w.zarr")]).exits(5);
    done.says(&["array \"/time\"", "c/0"]);
    assert_eq!(done.text().lines().count(), lines.len() - 1);
}
