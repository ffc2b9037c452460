//! `zarr append DST SRC` and `zarr write DST SRC`: elements of a store are written into another one.

use std::fs;

use serde_json::json;

use crate::args;
use crate::harness::{Done, Folder, zarr, zarr_in};
use crate::weather::weather;

fn run(folder: &Folder, line: &str) -> Done {
    zarr_in(folder.path(), line.split(' '))
}

/// Makes `w.zarr` of 48 hours, its first 30 hours in `a.zarr` and its last 18 in `b.zarr`.
fn parts(folder: &Folder) {
    weather(folder);
    run(folder, "copy w.zarr a.zarr -q -s time@0:30").ok();
    run(folder, "copy w.zarr b.zarr -q -s time@30:48").ok();
}

#[test]
fn a_dataset_is_appended_in_one_command() {
    let folder = Folder::new();
    parts(&folder);
    assert_eq!(
        run(&folder, "append a.zarr b.zarr").ok().text(),
        "time 30 → 48 (2020-01-02T06:00 … 2020-01-02T23:00): t2m, time; 288 bytes written\n"
    );
    run(&folder, "diff w.zarr a.zarr").ok();
    run(&folder, "consolidate --check a.zarr").ok();
    // Again, and a part that overlaps.
    run(&folder, "append a.zarr b.zarr --along time").fails(
        2,
        &["store \"a.zarr\"", "from \"b.zarr\"", "2020-01-02T06:00", "does not come after", "--overlap skip"],
    );
    assert_eq!(
        run(&folder, "append a.zarr b.zarr --along time --overlap skip").ok().text(),
        "time 48: all labels are stored already, nothing is written\n"
    );
    let done = run(&folder, "append a.zarr b.zarr --along time --overlap replace --json").ok().json();
    assert_eq!(
        (&done["variables"], &done["region"], &done["bytes"]),
        (&json!(["t2m", "time"]), &json!({ "time": [30, 48] }), &json!(288))
    );
    run(&folder, "diff w.zarr a.zarr").ok();
}

#[test]
fn datasets_that_do_not_fit_are_refused() {
    let folder = Folder::new();
    parts(&folder);
    let before = folder.contents("a.zarr");
    run(&folder, "append a.zarr w.zarr --along lat").fails(2, &["from \"w.zarr\"", "\"time\" has length 48"]);
    run(&folder, "append a.zarr b.zarr --along latt")
        .fails(2, &["no dimension \"latt\"", "lat, station, time"]);
    run(&folder, "append a.zarr b.zarr --along 0").fails(2, &["give the name"]);
    run(&folder, "append a.zarr b.zarr/t2m").fails(2, &["\"/t2m\" is an array", "name both"]);
    run(&folder, "append a.zarr/t2m b.zarr").fails(2, &["\"/\" is a group", "name both"]);
    run(&folder, "append a.zarr a.zarr").fails(2, &["stored already", "--along names the dimension"]);
    run(&folder, "append a.zarr nothing.zarr").fails(3, &["nothing.zarr"]);
    run(&folder, "append a.zarr").exits(2);
    run(&folder, "append a.zarr b.zarr --from x").exits(2);
    // Another latitude.
    run(&folder, "write b.zarr/lat -s 0 --value 61").ok();
    run(&folder, "append a.zarr b.zarr --along time")
        .fails(2, &["variable \"lat\"", "differs from the stored"]);
    assert_eq!(folder.contents("a.zarr"), before);
    run(&folder, "append a.zarr b.zarr --along time --coords ignore").ok();
    assert_eq!(run(&folder, "cat a.zarr/lat -f text").ok().text(), "60.0\n50.5\n40.0\n");
}

#[test]
fn a_part_of_a_dataset_is_written_where_its_labels_are_or_where_it_is_told() {
    let folder = Folder::new();
    parts(&folder);
    run(&folder, "copy w.zarr c.zarr -q").ok();
    run(&folder, "write c.zarr/t2m -s 30: --value 7").ok();
    assert_eq!(
        run(&folder, "write c.zarr b.zarr").ok().text(),
        "time 30..48 (2020-01-02T06:00 … 2020-01-02T23:00): t2m; 216 bytes written\n"
    );
    run(&folder, "diff w.zarr c.zarr").ok();
    run(&folder, "write c.zarr b.zarr -s time@0:18").fails(2, &["\"time\"", "not those of the region"]);
    run(&folder, "write c.zarr b.zarr -s time@0:18 --coords ignore").ok();
    let cat = |name: &str, select: &str| {
        run(&folder, &format!("cat {name} -f text -s {select}")).ok().text().to_owned()
    };
    assert_eq!(cat("c.zarr/t2m", "0,:,0"), cat("b.zarr/t2m", "0,:,0"));
    assert_eq!(cat("c.zarr/t2m", "18,:,0"), cat("w.zarr/t2m", "18,:,0"));
    run(&folder, "write a.zarr b.zarr").fails(3, &["variable \"time\"", "not stored one after the other"]);
    run(&folder, "write c.zarr b.zarr -s 0:18").fails(2, &["this is a group"]);
}

#[test]
fn arrays_are_appended_and_written_as_they_are_stored() {
    let folder = Folder::new();
    parts(&folder);
    let length = |name: &str| run(&folder, &format!("info --json {name}")).ok().json()["shape"].clone();
    assert_eq!(
        run(&folder, "append a.zarr/t2m b.zarr/t2m").ok().text(),
        "appended 30..48 of dimension \"time\"\n"
    );
    assert_eq!(
        run(&folder, "append --along time a.zarr/time b.zarr/time").ok().text(),
        "appended 30..48 of dimension \"time\"\n"
    );
    run(&folder, "diff w.zarr a.zarr").ok();
    run(&folder, "append --along lat a.zarr/t2m b.zarr/t2m").fails(2, &["[18, 3, 2] cannot be appended"]);
    run(&folder, "append --along latt a.zarr/t2m b.zarr/t2m").fails(2, &["--along", "did you mean \"lat\"?"]);
    run(&folder, "append --axis 3 a.zarr/t2m b.zarr/t2m").fails(2, &["the array has 3 dimensions"]);
    run(&folder, "append a.zarr/t2m b.zarr/lat")
        .fails(2, &["the data type is int16, and that of the new elements float64"]);
    run(&folder, "attrs set b.zarr/t2m scale_factor 0.25").ok();
    run(&folder, "append a.zarr/t2m b.zarr/t2m")
        .fails(2, &["\"scale_factor\" is 0.125", "0.25", "name the groups"]);
    run(&folder, "attrs set b.zarr/t2m scale_factor 0.125").ok();
    run(&folder, "write a.zarr/t2m b.zarr/t2m -s 0:18").ok();
    run(&folder, "write a.zarr/t2m b.zarr/t2m -s 0:17")
        .fails(2, &["have shape [18, 3, 2], [17, 3, 2] is needed"]);
    // One hour, and a dimension that an index drops.
    zarr_in(folder.path(), args!["copy", "b.zarr/t2m", "hour.zarr", "-q", "-s", "3"]).ok();
    run(&folder, "write a.zarr/t2m hour.zarr -s 20").ok();
    assert_eq!(length("a.zarr/t2m"), json!([48, 3, 2]));
    let cat = |name: &str, select: &str| {
        run(&folder, &format!("cat {name} -f text -s {select}")).ok().text().to_owned()
    };
    assert_eq!(cat("a.zarr/t2m", "20,:,0"), cat("b.zarr/t2m", "3,:,0"));
}

#[test]
fn decoded_elements_are_written_as_the_variable_stores_them() {
    let folder = Folder::new();
    weather(&folder);
    let cat = |options: &str| run(&folder, &format!("cat --stored w.zarr/{options}")).ok().text().to_owned();
    run(&folder, "write w.zarr/t2m -s 0,0,0 --value 271.5").ok();
    assert_eq!(cat("t2m -f text -s 0,0,0"), "124\n");
    run(&folder, "write w.zarr/t2m -s time=2020-01-01T01,lat=60 --value missing").ok();
    assert_eq!(cat("t2m -f text -s 1,0"), "-32767\n-32767\n");
    run(&folder, "write w.zarr/time -s 47 --value 2020-01-05T06").ok();
    assert_eq!(cat("time -f text -s 47"), "102\n");
    run(&folder, "write w.zarr/place -s 0 --value missing").ok();
    assert_eq!(cat("place -f text -s 0"), "missing\n");
    run(&folder, "write w.zarr/lat -s 0 --value 61.5").ok();
    run(&folder, "write w.zarr/flag -s 0 --value false").ok();
    folder.write("row.csv", "a,b\n280.125,280.25\n281,281.125\n282,nan\n");
    run(&folder, "write w.zarr/t2m -s 2 --from row.csv").ok();
    assert_eq!(cat("t2m -f json -s 2").replace([' ', '\n'], ""), "[[193,194],[200,201],[208,-32767]]");
    run(&folder, "write w.zarr/t2m -s 0 --value 1e9").fails(2, &["--value", "element 0"]);
    run(&folder, "write w.zarr/t2m -s 0 --value warm")
        .fails(2, &["\"warm\" is not an element of data type float64"]);
    run(&folder, "write w.zarr/time -s 0 --value 2020-13").fails(2, &["2020-13"]);
    run(&folder, "write w.zarr/time -s 0 --value 2020-01-01T00:30").fails(2, &["--value"]);
    run(&folder, "write w.zarr/flag -s 0 --value missing").fails(2, &["expected true or false"]);
    run(&folder, "write w.zarr/time --from row.csv").fails(2, &["row.csv", "line 2"]);
    run(&folder, "write w.zarr/t2m -s 0 --stored --value 193").ok();
    assert_eq!(cat("t2m -f json -s 0,0,0"), "193\n");
}

/// A process that is killed between two shapes leaves arrays of different lengths, and a marker.
#[test]
fn an_interrupted_append_is_named_and_undone_or_finished() {
    let folder = Folder::new();
    let path = weather(&folder);
    for (name, part) in [("a.zarr", "time@:24"), ("b.zarr", "time@24:")] {
        zarr(args!["copy", "-q", "-s", part, &path, folder.join(name)]).exits(0);
    }
    let store = folder.join("a.zarr");
    let old = ["a.zarr/zarr.json", "a.zarr/time/zarr.json"]
        .map(|file| (file, fs::read(folder.join(file)).unwrap()));
    zarr(args!["append", &store, folder.join("b.zarr")]).ok();
    let marker = json!({
        "append_along": "time", "from": 24, "to": 48,
        "arrays": [{ "name": "t2m", "axis": 0 }, { "name": "time", "axis": 0 }],
    });
    let interrupt = || {
        old.iter().for_each(|(file, bytes)| folder.write(file, bytes));
        folder.write("a.zarr/.zarr-append.json", marker.to_string());
        let done = zarr(args!["validate", &store]).exits(1);
        assert!(
            done.text().contains("error interrupted-append: along \"time\", 24 → 48, of t2m, time"),
            "{}",
            done.text()
        );
        let done = zarr(args!["doctor", &store]).ok();
        assert!(done.text().contains("interrupted-append"), "{}", done.text());
    };
    let hours = || zarr(args!["info", "--json", &store]).exits(0).json()["dims"]["time"].clone();
    interrupt();
    let undone = "undid an interrupted append along \"time\", 24 → 48, of t2m, time\n";
    assert_eq!(zarr(args!["rm", "--unfinished", &store]).ok().text(), undone);
    assert_eq!(hours(), 24);
    zarr(args!["validate", &store]).ok();
    zarr(args!["append", &store, folder.join("b.zarr")]).ok();
    assert_eq!(hours(), 48);
    let whole = folder.contents("a.zarr");
    interrupt();
    let done = zarr(args!["append", "--overlap", "skip", &store, folder.join("b.zarr")]).ok_with_notes();
    done.says(&["an earlier append was interrupted", "is finished: along \"time\", 24 → 48"]);
    assert_eq!(folder.contents("a.zarr"), whole);
    zarr(args!["validate", &store]).ok();
}
