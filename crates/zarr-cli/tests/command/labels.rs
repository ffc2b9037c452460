//! `-s` by label, and decoded elements.

use serde_json::json;

use crate::args;
use crate::harness::{Done, Folder, zarr, zarr_in};
use crate::weather::{model, weather};

fn cat(folder: &Folder, array: &str, options: &[&str]) -> Done {
    let mut args = args!["cat", folder.join(array)].to_vec();
    args.extend(options.iter().map(Into::into));
    zarr(args)
}

#[test]
fn labels_select_as_positions_do() {
    let folder = Folder::new();
    weather(&folder);
    folder.write("codes.csv", "7\n9\n");
    let create = "create w.zarr/code --from codes.csv --dtype int32 --dimension-names station";
    zarr_in(folder.path(), create.split(' ')).ok();
    for (labels, positions) in [
        ("time=2020-01-01T03:00,lat=50.5,station@1", "3,1,1"),
        ("time=2020-01-02", "24:48"),
        ("time=2020-01-01T22:00:2020-01-02T01:00", "22:26"),
        ("time=2020-01-02T01:00/2020-01-01T22:00", "22:26"),
        ("time=2020-01-01:2020-01-01:6", "0:24:6"),
        ("time=~2020-01-01T05:20,lat=~41", "5,2"),
        ("lat=55:40", ":,1:3"),
        ("lat=:55", ":,1:3"),
        ("time@-1,place=Oslo", "-1,:,0"),
        // A variable that is no coordinate.
        ("time@-1,code=9", "-1,:,1"),
        ("time@::12,place=\"a, \"\"b\"\"\"", "::12,:,1"),
    ] {
        let all = |select: &str| cat(&folder, "w.zarr/t2m", &["-f", "json", "-s", select]).ok().out;
        assert_eq!(all(labels), all(positions), "{labels}");
        let explain = |select: &str| {
            zarr(args!["explain", "--json", "-s", select, folder.join("w.zarr/t2m")]).ok().json()
        };
        assert_eq!(explain(labels), explain(positions), "{labels}");
    }
    assert_eq!(
        cat(&folder, "w.zarr/time", &["-f", "text", "--stored", "-s", "time=2020-01-01T02"]).ok().text(),
        "2\n"
    );
}

#[test]
fn labels_at_a_url_are_found_in_the_hierarchy_around_it() {
    let folder = Folder::new();
    let path = weather(&folder);
    for url in [format!("file://{}/lat", path.display()), format!("file://{}|zarr:lat", path.display())] {
        assert_eq!(zarr(args!["cat", "-f", "text", "-s", "lat=50:61", url]).ok().text(), "60.0\n50.5\n");
    }
}

#[test]
fn wrong_labels_are_refused_with_the_range_of_the_coordinate() {
    let folder = Folder::new();
    weather(&folder);
    folder.base("a.zarr");
    for (array, select, code, parts) in [
        ("w.zarr/t2m", "lat=41", 3, &["array \"/t2m\"", "\"lat\"", "goes from 60 to 40"][..]),
        ("w.zarr/t2m", "time=2021", 3, &["2020-01-01 to 2020-01-02T23:00"]),
        ("w.zarr/t2m", "time=2021:2022", 3, &["no element lies between", "2020-01-01 to 2020-01-02T23:00"]),
        ("w.zarr/t2m", "lat=north", 2, &["\"lat\"", "\"north\" is not a number"]),
        ("w.zarr/t2m", "time=12:00", 2, &["begins with its date"]),
        ("w.zarr/t2m", "depth=3", 3, &["neither a dimension nor a coordinate", "lat, station, time"]),
        ("w.zarr/t2m", "station=3", 2, &["no coordinate", "station@"]),
        ("w.zarr/lat", "time=2020-01-01", 2, &["no dimension \"time\"", "lat"]),
        ("w.zarr/t2m", "lat=40,5", 2, &["cannot be mixed"]),
        ("w.zarr/t2m", "time@99", 2, &["position 99"]),
        ("a.zarr", "lat=40", 2, &["the root of its store"]),
    ] {
        let done = cat(&folder, array, &["-f", "text", "-s", select]);
        match parts {
            // The parser of the command line adds lines of its own.
            ["cannot be mixed"] => done.exits(code).says(parts),
            _ => done.fails(code, parts),
        }
    }
}

#[test]
fn decoded_elements_print_in_every_format() {
    let folder = Folder::new();
    weather(&folder);
    let first = |array: &str, format: &str, select: &str| {
        cat(&folder, array, &["--decode", "-f", format, "-s", select]).ok()
    };
    assert_eq!(first("w.zarr/t2m", "text", "0,:2").text(), "280.0\n280.125\nNaN\n280.375\n");
    assert_eq!(first("w.zarr/t2m", "json", "0,:2").json(), json!([[280.0, 280.125], [null, 280.375]]));
    assert_eq!(first("w.zarr/t2m", "json", "0:0").text(), "[]\n");
    assert_eq!(first("w.zarr/time", "text", ":2").text(), "2020-01-01T00:00:00\n2020-01-01T01:00:00\n");
    assert_eq!(first("w.zarr/time", "json", "0").text(), "\"2020-01-01T00:00:00\"\n");
    assert_eq!(first("w.zarr/place", "text", ":").text(), "Oslo\na, \"b\"\n");
    assert_eq!(first("w.zarr/place", "json", ":").json(), json!(["Oslo", "a, \"b\""]));
    assert_eq!(first("w.zarr/flag", "text", ":").text(), "true\nfalse\ntrue\n");
    assert_eq!(first("w.zarr/flag", "raw", ":").out, [1, 0, 1]);
    assert_eq!(first("w.zarr/t2m", "raw", "0,0,0").out, 280.0_f64.to_le_bytes());
    let npy = first("w.zarr/t2m", "npy", "0,0").out;
    assert!(npy.windows(5).any(|part| part == b"'<f8'"));
    assert!(npy.ends_with(&[280.0_f64, 280.125].map(f64::to_le_bytes).concat()));
    let npy = first("w.zarr/time", "npy", ":2").out;
    assert!(npy.windows(9).any(|part| part == b"'<M8[ns]'"));
    assert!(
        npy.ends_with(&[0_i64, 3600].map(|s| ((1_577_836_800 + s) * 1_000_000_000).to_le_bytes()).concat())
    );
    cat(&folder, "w.zarr/place", &["--decode", "-f", "npy"])
        .fails(6, &["array \"/place\"", "no type", "json"]);
    cat(&folder, "w.zarr/time", &["--decode", "-f", "raw"]).fails(6, &["array \"/time\"", "no raw form"]);
}

#[test]
fn tables_have_a_column_for_each_coordinate() {
    let folder = Folder::new();
    weather(&folder);
    let csv = |options: &[&str]| cat(&folder, "w.zarr/t2m", options).ok().text().to_owned();
    assert_eq!(
        csv(&["-f", "csv", "-s", "time=2020-01-01T00:00,lat=50:60"]),
        "time,lat,station,place,t2m\n\
         2020-01-01T00:00:00,60.0,0,Oslo,280.0\n\
         2020-01-01T00:00:00,60.0,1,\"a, \"\"b\"\"\",280.125\n\
         2020-01-01T00:00:00,50.5,0,Oslo,\n\
         2020-01-01T00:00:00,50.5,1,\"a, \"\"b\"\"\",280.375\n"
    );
    assert_eq!(
        csv(&["-f", "tsv", "--stored", "-s", "time@47,lat@1:,station@1"]),
        "time\tlat\tstation\tt2m\n47\t1\t1\t477\n47\t2\t1\t479\n"
    );
    assert_eq!(csv(&["-f", "csv", "-s", "0:0"]), "time,lat,station,place,t2m\n");
    // More rows than are written at once.
    assert_eq!(csv(&["-f", "csv"]).lines().count(), 289);
    let place = cat(&folder, "w.zarr/time", &["-f", "csv", "-s", "0"]).ok();
    assert_eq!(place.text(), "time,time\n0,2020-01-01T00:00:00\n");
    folder.base("a.zarr");
    assert_eq!(cat(&folder, "a.zarr", &["-f", "csv", "-s", "1:3"]).ok().text(), "dim_0,value\n1,2\n2,7\n");
}

#[test]
fn model_calendars_and_broken_variables_are_said() {
    let folder = Folder::new();
    model(&folder);
    let decoded = |array: &str, format: &str| cat(&folder, array, &["--decode", "-f", format]);
    assert_eq!(decoded("model.zarr/time", "text").ok().text(), "2000-02-29T00:00:00\n2000-02-30T00:00:00\n");
    decoded("model.zarr/time", "npy").fails(6, &["NumPy has no type"]);
    decoded("model.zarr/late", "text").fails(1, &["variable \"late\"", "days since tomorrow"]);
    assert_eq!(decoded("model.zarr/p", "json").ok().json(), json!([0.100_000_001_490_116_12, "Infinity"]));
    assert_eq!(
        decoded("model.zarr/p", "csv").ok().text(),
        "time,p\n2000-02-29T00:00:00,0.1\n2000-02-30T00:00:00,Infinity\n"
    );
    let select = cat(&folder, "model.zarr/p", &["-f", "text", "-s", "time=2000-02-30"]);
    assert_eq!(select.ok().text(), "Infinity\n");
}

#[test]
fn a_copy_of_a_part_has_its_coordinates() {
    let folder = Folder::new();
    weather(&folder);
    let copy = |name: &str, select: &str| {
        zarr(args!["copy", "-q", "--verify", "-s", select, folder.join("w.zarr"), folder.join(name)])
    };
    let text = |array: String| cat(&folder, &array, &["-f", "json"]).ok().out;
    let part = |array: &str, select: &str| {
        cat(&folder, &format!("w.zarr/{array}"), &["-f", "json", "-s", select]).ok().out
    };
    copy("a.zarr", "time=2020-01-02T06:2020-01-02T08,lat=50:60").ok();
    assert_eq!(text("a.zarr/t2m".into()), part("t2m", "30:33,:2"));
    for (array, select) in [("time", "30:33"), ("lat", ":2"), ("flag", ":2"), ("place", ":")] {
        assert_eq!(text(format!("a.zarr/{array}")), part(array, select), "{array}");
    }
    // An index selects one element and keeps its dimension.
    copy("b.zarr", "place=Oslo,lat=~41,time@::-12").ok();
    assert_eq!(text("b.zarr/t2m".into()), part("t2m", "::-12,2:3,0:1"));
    assert_eq!(text("b.zarr/place".into()), part("place", "0:1"));
    // One array, by position and by label.
    for select in ["2,:,[1]", "time@2,station@1"] {
        let name = format!("{}.zarr", select.len());
        zarr(args!["copy", "-q", "-s", select, folder.join("w.zarr/t2m"), folder.join(&name)]).ok();
        assert_eq!(text(name), part("t2m", "2:3,:,1:2"), "{select}");
    }
    for (select, code, message) in [
        ("0:24", 2, "-s selects by the names of dimensions"),
        ("time=2021", 3, "2020-01-01 to 2020-01-02T23:00"),
        ("height=2", 3, "the dimensions are lat, station, time"),
    ] {
        copy("no.zarr", select).fails(code, &[message]);
    }
    assert!(!folder.join("no.zarr").exists());
}

#[test]
fn a_part_of_a_tree_is_selected_in_each_group_that_has_the_dimension() {
    let folder = Folder::new();
    folder.group("tree.zarr");
    let little = json!([{ "name": "bytes", "configuration": { "endian": "little" } }]);
    let array = |path: &str, name: &str, length: u64, values: &[u8]| {
        let document = crate::harness::array(&[length], "uint8", &[length], &json!(0), &little);
        folder.node(
            &format!("tree.zarr/{path}"),
            &crate::harness::with(document, &json!({ "dimension_names": [name] })),
        );
        folder.write(&format!("tree.zarr/{path}/c/0"), values);
    };
    array("x", "x", 4, &[10, 20, 30, 40]);
    array("other", "z", 2, &[7, 8]);
    folder.group("tree.zarr/below");
    array("below/a", "x", 4, &[1, 2, 3, 4]);
    folder.group("tree.zarr/own");
    array("own/x", "x", 2, &[20, 90]);
    zarr(args!["copy", "-q", "-s", "x=20:35", folder.join("tree.zarr"), folder.join("part.zarr")]).ok();
    for (array, wanted) in [("x", "20\n30\n"), ("below/a", "2\n3\n"), ("own/x", "20\n"), ("other", "7\n8\n")]
    {
        assert_eq!(
            cat(&folder, &format!("part.zarr/{array}"), &["-f", "text"]).ok().text(),
            wanted,
            "{array}"
        );
    }
}

#[test]
fn longitudes_go_around_and_a_far_label_has_a_note() {
    let folder = Folder::new();
    weather(&folder);
    folder.write("lon.csv", "0\n90\n180\n270\n");
    zarr(args![
        "create",
        folder.join("w.zarr/lon"),
        "--from",
        folder.join("lon.csv"),
        "--dimension-names",
        "lon",
        "--attrs",
        r#"{"units": "degrees_east"}"#
    ])
    .ok();
    zarr(args!["consolidate", folder.join("w.zarr")]).ok();
    let text = |select: &str| {
        cat(&folder, "w.zarr/lon", &["-f", "text", "-s", select]).ok().text().replace('\n', " ")
    };
    assert_eq!(text("lon=-90"), "270.0 ");
    assert_eq!(text("lon=450"), "90.0 ");
    assert_eq!(text("lon=~359"), "0.0 ");
    assert_eq!(text("lon=270:90"), "270.0 0.0 90.0 ");
    assert_eq!(text("lon=-100:10"), "270.0 0.0 ");
    cat(&folder, "w.zarr/lon", &["-f", "text", "-s", "lon=1"]).fails(3, &["from 0 to 270"]);
    zarr(args!["copy", folder.join("w.zarr"), folder.join("west.zarr"), "-q", "-s", "lon=-90:0"]).ok();
    assert_eq!(zarr(args!["cat", "-f", "text", folder.join("west.zarr/lon")]).ok().text(), "270.0\n0.0\n");
    // Latitudes end at the poles.
    let far = cat(&folder, "w.zarr/t2m", &["-f", "text", "-s", "time@0,lat=~10,station@0"]).ok_with_notes();
    far.says(&["the nearest lat to 10 is 40, which is farther away than the next lat"]);
    let far =
        cat(&folder, "w.zarr/t2m", &["-f", "text", "-s", "time=~2021-01-01,lat@0,station@0"]).ok_with_notes();
    far.says(&["the nearest time to 2021-01-01 is 2020-01-02T23:00"]);
    cat(&folder, "w.zarr/t2m", &["-f", "text", "-s", "time@0,lat=~35,station@0"]).ok();
}
