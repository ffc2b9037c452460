//! The output of `zarr stats`.

use serde_json::{Value, json};

use crate::args;
use crate::harness::{Folder, array, base, le, with, zarr};
use crate::weather::{climate, weather};

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
    let done = zarr(args!["stats", "--json", "--stored", &path, "--trace", &trace]).ok().json();
    assert_eq!((&done["elements"], &done["fill"]), (&json!(2_000_000_000), &json!(1_999_999_998)));
    assert_eq!((&done["minimum"], &done["maximum"]), (&json!(1), &json!(7)));
    assert!((done["mean"].as_f64().unwrap() - (7.0 - 11.0 / 2e9)).abs() < 1e-12, "{done}");
    assert!((done["deviation"].as_f64().unwrap() - (61.0_f64 / 2e9).sqrt()).abs() < 1e-12, "{done}");
    assert!(std::fs::read_to_string(&trace).unwrap().lines().count() < 10);
    let part = stats(&folder, "h.zarr/a", &["-s", "1:1999999999"]);
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
    let packed = stats(&folder, "w.zarr/t2m", &["-s", "time@0"]);
    assert_eq!((&packed["elements"], &packed["missing"]), (&json!(6), &json!(1)));
    assert_eq!((&packed["minimum"], &packed["maximum"]), (&json!(280.0), &json!(280.625)));
    let times = stats(&folder, "w.zarr/time", &[]);
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
mean        250000003
deviation   661437826
";
    assert!(text.starts_with(wanted), "{text}");
    assert!(text.ends_with("  0 to 2147483648   7  ########################################\n"), "{text}");
    weather(&folder);
    let exact = zarr(args!["stats", "--precision", "12", folder.join("i.zarr")]).ok().text().to_owned();
    assert!(exact.contains("mean        250000003.375\n"), "{exact}");
    let t2m = folder.join("w.zarr/t2m");
    let short = zarr(args!["stats", "--precision", "4", &t2m]).ok_with_notes();
    assert!(short.text().contains("mean       298\n"), "{}", short.text());
    short.says(&["--weights 'cos(lat)' weights them"]);
    // One latitude needs no weights.
    zarr(args!["stats", "-s", "lat@0", &t2m]).ok();
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
    assert_eq!(of("/place")[1..], ["2", "0", "Oslo", "a,", "\"b\"", "2", "distinct", "-"]);
    // Of each array the same as alone.
    let all = stats(&folder, "w.zarr", &["--bins", "3"]);
    assert_eq!(all["path"], "/");
    let arrays = all["arrays"].as_array().unwrap();
    assert!(arrays.len() > 3 && lines.len() == arrays.len() + 1);
    for array in arrays {
        let path = array["path"].as_str().unwrap();
        assert!(array.get("reason").is_none(), "{array}");
        let mut alone = stats(&folder, &format!("w.zarr{path}"), &["--bins", "3"]);
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

#[test]
fn texts_and_flags_are_counted() {
    let folder = Folder::new();
    weather(&folder);
    let text = zarr(args!["stats", folder.join("w.zarr/place")]).ok().text().to_owned();
    assert!(text.starts_with("elements  2\ndistinct  2\n"), "{text}");
    assert!(text.contains("lengths   4 to "), "{text}");
    let found = stats(&folder, "w.zarr/place", &[]);
    assert_eq!(
        (&found["distinct"], &found["first"], &found["shortest"]),
        (&json!(2), &json!("Oslo"), &json!(4))
    );
    assert_eq!(found["most"].as_array().unwrap().len(), 2);
    // Flags by their meanings.
    let attributes = json!({ "flag_values": [0, 1, 2], "flag_meanings": "sea land ice" });
    let little = json!([{ "name": "bytes" }]);
    let mask = array(&[6], "int8", &[6], &json!(0), &little);
    folder.node("mask.zarr", &with(mask, &json!({ "attributes": attributes })));
    folder.write("mask.zarr/c/0", [0, 0, 0, 1, 1, 2]);
    let text = zarr(args!["stats", folder.join("mask.zarr")]).ok().text().to_owned();
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().take(2).collect()).collect();
    assert_eq!(rows[rows.len() - 3..], [["sea", "3"], ["land", "2"], ["ice", "1"]]);
    assert_eq!(stats(&folder, "mask.zarr", &[])["flags"], json!({ "sea": 3, "land": 2, "ice": 1 }));
}

#[test]
fn a_row_for_each_label_or_period() {
    let folder = Folder::new();
    let path = climate(&folder);
    let rows = |options: &[&str]| {
        let args = args!["stats", path.join("t2m")].into_iter().chain(options.iter().map(Into::into));
        zarr(args).ok().text().to_owned()
    };
    let days = rows(&["--by", "time"]);
    let lines: Vec<&str> = days.lines().collect();
    assert_eq!((lines.len(), lines[0]), (367, "time,count,missing,min,max,mean,std"));
    assert!(lines[1].starts_with("2020-01-01,20,1,"), "{}", lines[1]);
    let months = rows(&["--by", "month"]);
    let lines: Vec<&str> = months.lines().collect();
    assert_eq!((lines.len(), lines[0]), (13, "month,count,missing,min,max,mean,std"));
    assert!(lines[2].starts_with("2020-02,580,29,"), "{}", lines[2]);
    assert!(rows(&["--by", "year"]).lines().nth(1).unwrap().starts_with("2020,7320,366,"));
    // The same numbers as of all elements of a label.
    let json = |options: &[&str]| {
        let args =
            args!["stats", "--json", path.join("t2m")].into_iter().chain(options.iter().map(Into::into));
        zarr(args).ok().json()
    };
    let lats = json(&["--by", "lat"]);
    assert_eq!(lats["by"], "lat");
    for row in lats["rows"].as_array().unwrap() {
        let alone = json(&["-s", &format!("lat={}", row["lat"].as_str().unwrap())]);
        assert_eq!((&row["min"], &row["max"]), (&alone["minimum"], &alone["maximum"]));
        for (one, other) in [("mean", "mean"), ("std", "deviation")] {
            let (one, other) = (row[one].as_f64().unwrap(), alone[other].as_f64().unwrap());
            assert!((one - other).abs() < 1e-9, "{row} {alone}");
        }
    }
    // A part, and weights: the mean of four latitudes.
    let weighed = json(&["--weights", "cos(lat)", "-s", "time=2020-07-16,lon=7.5"]);
    let plain = json(&["--by", "lat", "-s", "time=2020-07-16,lon=7.5"]);
    let (mut sum, mut all) = (0.0, 0.0);
    for row in plain["rows"].as_array().unwrap() {
        let weight = row["lat"].as_str().unwrap().parse::<f64>().unwrap().to_radians().cos();
        sum += weight * row["mean"].as_f64().unwrap();
        all += weight;
    }
    assert!((weighed["rows"][0]["mean"].as_f64().unwrap() - sum / all).abs() < 1e-9, "{weighed}");
    let fails = |options: &[&str], parts: &[&str]| {
        let args = args!["stats", path.join("t2m")].into_iter().chain(options.iter().map(Into::into));
        zarr(args).fails(2, parts);
    };
    fails(
        &["--by", "latt"],
        &["--by: the array has no dimension \"latt\": its dimensions are time, lat, lon"],
    );
    fails(&["--weights", "cos(time)"], &["--weights"]);
    zarr(args!["stats", "--by", "time", &path]).fails(2, &["--by and --weights are for an array"]);
}

#[test]
fn means_over_dimensions_are_a_dataset() {
    let folder = Folder::new();
    let path = climate(&folder);
    let series = folder.join("series.zarr");
    let done = zarr(args!["stats", "--mean", "lat,lon", "--weights", "cos(lat)", "-o", &series, &path]).ok();
    assert!(done.text().ends_with(": the mean over lat, lon of t2m\n"), "{}", done.text());
    let info = zarr(args!["info", "--json", &series]).ok().json();
    assert_eq!((&info["dims"], &info["data_variables"]), (&json!({ "time": 366 }), &json!(["t2m"])));
    assert_eq!(info["indexes"]["time"]["last"], "2020-12-31");
    let day = zarr(args!["cat", "-f", "json", "-s", "time=2020-07-16", series.join("t2m")]).ok();
    let row = zarr(args![
        "stats",
        "--json",
        "--weights",
        "cos(lat)",
        "-s",
        "time=2020-07-16:2020-07-16",
        path.join("t2m")
    ]);
    let mean = row.ok().json()["rows"][0]["mean"].as_f64().unwrap();
    assert!((day.json().as_f64().unwrap() - mean).abs() < 1e-9, "{} {mean}", day.text());
    let attributes = zarr(args!["attrs", series.join("t2m")]).ok();
    assert!(attributes.text().contains("lat: mean lon: mean"), "{}", attributes.text());
    zarr(args!["stats", "--mean", "x", "-o", folder.join("no.zarr"), &path])
        .fails(2, &["--mean: no variable"]);
    zarr(args!["stats", "--mean", "lat", &path]).exits(2);
}
