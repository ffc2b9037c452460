//! `zarr pyramid` makes levels of lower resolution.

use std::fs;
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{Done, Folder, command, zarr_in};

fn pyramid(folder: &Folder, arguments: &str) -> Done {
    zarr_in(folder.path(), ["pyramid"].into_iter().chain(arguments.split(' ')))
}

/// Makes a group with an image of 6 rows and 10 columns.
fn image(folder: &Folder) {
    folder.write("numbers.raw", (0..60_u8).collect::<Vec<_>>());
    for arguments in [
        "create a.zarr --group",
        "create a.zarr/0 --dtype uint8 --shape 6,10 --chunks 4,4 --dimension-names y,x --from numbers.raw",
    ] {
        zarr_in(folder.path(), arguments.split(' ')).exits(0);
    }
}

fn elements(folder: &Folder, array: &str) -> Value {
    zarr_in(folder.path(), ["cat", array, "--format", "json"]).ok().json()
}

#[test]
fn levels_are_made_and_named() {
    let folder = Folder::new();
    image(&folder);
    let would = pyramid(&folder, "a.zarr --levels 2 --dry-run").ok();
    assert!(would.text().contains("would make 2 levels of \"/0\" (mean): 8 reads"), "{}", would.text());
    assert!(would.text().ends_with("metadata: OME-Zarr 0.5\n"), "{}", would.text());
    let plan = pyramid(&folder, "a.zarr --levels 2 --dry-run --json").ok().json();
    assert_eq!(plan["levels"][1]["shape"], json!([2, 3]));
    assert_eq!((&plan["method"], &plan["metadata"]), (&json!("mean"), &json!(["OME-Zarr 0.5"])));
    assert!(!folder.join("a.zarr/1").exists());

    let done = pyramid(&folder, "a.zarr --levels 2 --verify").ok();
    assert!(done.text().starts_with("2 levels, 3 chunks, 21 bytes in "), "{}", done.text());
    assert_eq!(
        elements(&folder, "a.zarr/1"),
        json!([[6, 8, 10, 12, 14], [26, 28, 30, 32, 34], [46, 48, 50, 52, 54]])
    );
    zarr_in(folder.path(), ["validate", "--conventions", "ome", "a.zarr"]).ok();
    let group: Value = serde_json::from_slice(&fs::read(folder.join("a.zarr/zarr.json")).unwrap()).unwrap();
    let image = &group["attributes"]["ome"]["multiscales"][0];
    assert_eq!((&image["name"], &image["datasets"][2]["path"]), (&json!("a"), &json!("2")));
    assert!(!folder.join("a.zarr/.zarr-pyramid.json").exists());

    // They exist: there are two ways out.
    pyramid(&folder, "a.zarr --levels 2").fails(2, &["/1, /2 exist", "--if-exists replace", "--resume"]);
    let again = pyramid(&folder, "a.zarr/0 --levels 2 --resume").ok();
    assert_eq!(again.text(), "2 levels, complete already\n");
    let replaced = pyramid(&folder, "a.zarr --levels 1 --method max --if-exists replace --json").ok().json();
    assert_eq!(replaced["levels"].as_array().unwrap().len(), 1);
    assert_eq!(elements(&folder, "a.zarr/1")[0], json!([11, 13, 15, 17, 19]));
    assert!(!folder.join("a.zarr/2").exists());
}

#[test]
fn verbs_take_the_level_of_an_image() {
    let folder = Folder::new();
    image(&folder);
    pyramid(&folder, "a.zarr --levels 2").ok();
    let run = |arguments: &str| zarr_in(folder.path(), arguments.split(' '));
    for level in ["1", "2", "0"] {
        let printed = run(&format!("cat a.zarr --level {level} --format json")).ok().json();
        assert_eq!(printed, elements(&folder, &format!("a.zarr/{level}")));
        let one = run(&format!("stats a.zarr --level {level} --json")).ok().json();
        assert_eq!(one, run(&format!("stats a.zarr/{level} --json")).ok().json());
    }
    // Of small images it is the largest.
    assert_eq!(run("stats a.zarr --level auto --json").ok().json()["elements"], json!(60));
    assert_eq!(run("cat a.zarr --level 2 -s 0,1 --format text").ok().text(), "21\n");

    // Both sides, or a level and an array.
    run("copy a.zarr b.zarr").ok();
    run("write b.zarr/1 -s 0,0 --value 99").ok();
    run("diff a.zarr b.zarr --level 2").ok();
    run("diff a.zarr b.zarr --level 1 -s 1:").ok();
    run("diff a.zarr b.zarr --level 1").exits(1);
    run("diff a.zarr/0 b.zarr --level 0").ok();
    for (arguments, parts) in [
        ("stats a.zarr --level 7", ["there is no level \"7\"", "0, 1, 2"]),
        ("cat a.zarr/1 --level 1", ["--level: \"/1\" is an array", "groups with levels"]),
        ("diff a.zarr/1 b.zarr/1 --level 1", ["--level: \"/1\" is an array", "groups with levels"]),
    ] {
        run(arguments).fails(2, &parts);
    }
    run("create c.zarr --group").ok();
    run("stats c.zarr --level auto").fails(2, &["--level: \"/\" is a group whose attributes name no levels"]);
}

#[test]
fn groups_that_are_written_follow_their_conventions() {
    for (options, conventions) in [("--ome-version 0.6", "ome"), ("--metadata multiscales", "geozarr")] {
        let folder = Folder::new();
        image(&folder);
        pyramid(&folder, &format!("a.zarr --levels 2 {options}")).ok();
        // By default as well: the levels of an image are no dataset.
        for conventions in [conventions, "auto"] {
            let arguments = ["validate", "--json", "--conventions", conventions, "a.zarr"];
            let report = zarr_in(folder.path(), arguments).ok().json().to_string();
            assert!(!report.contains("XV"), "{options}, {conventions}: {report}");
        }
    }
}

/// Makes a plate of one well with an image and its labels.
fn plate(folder: &Folder) {
    let ome = |mut members: Value| {
        members["version"] = json!("0.5");
        json!({ "zarr_format": 3, "node_type": "group", "attributes": { "ome": members } })
    };
    let axes = json!([{ "name": "y", "type": "space" }, { "name": "x", "type": "space" }]);
    let transforms = json!([{ "type": "scale", "scale": [0.5, 0.5] }]);
    let image =
        json!([{ "axes": axes, "datasets": [{ "path": "0", "coordinateTransformations": transforms }] }]);
    let plate = json!({ "name": "p", "rows": [{ "name": "A" }], "columns": [{ "name": "1" }],
        "wells": [{ "path": "A/1", "rowIndex": 0, "columnIndex": 0 }] });
    folder.node("p.zarr", &ome(json!({ "plate": plate })));
    folder.node("p.zarr/A", &json!({ "zarr_format": 3, "node_type": "group", "attributes": {} }));
    folder.node("p.zarr/A/1", &ome(json!({ "well": { "images": [{ "path": "0" }] } })));
    folder.node("p.zarr/A/1/0", &ome(json!({ "multiscales": image })));
    folder.node("p.zarr/A/1/0/labels", &ome(json!({ "labels": ["cells"] })));
    let colors = json!([{ "label-value": 1, "rgba": [255, 0, 0, 255] }]);
    let labels = json!({ "multiscales": image, "image-label": { "colors": colors } });
    folder.node("p.zarr/A/1/0/labels/cells", &ome(labels));
    folder.write("numbers.raw", (0..60_u8).map(|i| i / 7).collect::<Vec<_>>());
    for path in ["A/1/0/0", "A/1/0/labels/cells/0"] {
        let array = format!("p.zarr/{path}");
        let options = "--dtype uint8 --shape 6,10 --chunks 4,4 --dimension-names y,x --from numbers.raw";
        zarr_in(folder.path(), ["create", &array].into_iter().chain(options.split(' '))).exits(0);
    }
}

#[test]
fn images_of_a_plate_get_levels_with_their_labels() {
    let folder = Folder::new();
    plate(&folder);
    let would = pyramid(&folder, "p.zarr --levels 1 --dry-run").ok();
    for part in ["/A/1/0/1 ", "/A/1/0/labels/cells/1 ", "would make 2 levels of 2 images: 12 reads"] {
        assert!(would.text().contains(part), "{}", would.text());
    }
    let plan = pyramid(&folder, "p.zarr --levels 1 --dry-run --json").ok().json();
    assert_eq!(plan["images"][1]["level0"], json!("/A/1/0/labels/cells/0"));
    assert_eq!(plan["images"].as_array().unwrap().len(), 2);
    assert_eq!(
        (&plan["images"][0]["method"], &plan["images"][1]["method"]),
        (&json!("mean"), &json!("mode"))
    );
    // A copy of the plate, and the plate itself.
    let copied = pyramid(&folder, "p.zarr q.zarr --levels 1").ok();
    assert!(copied.text().starts_with("2 levels of 2 images, 4 chunks, "), "{}", copied.text());
    pyramid(&folder, "p.zarr --levels 1 --verify").ok();
    for store in ["p.zarr", "q.zarr"] {
        zarr_in(folder.path(), ["validate", "--conventions", "ome", store]).ok();
        let labels = elements(&folder, &format!("{store}/A/1/0/labels/cells/1"));
        assert_eq!(labels[0], json!([0, 0, 0, 2, 1]));
    }
    assert_eq!(pyramid(&folder, "p.zarr --levels 1").ok().text(), "2 images without work\n");
    let summary = pyramid(&folder, "p.zarr --levels 1 --json").ok().json();
    assert_eq!(summary["complete"], json!(["/A/1/0", "/A/1/0/labels/cells"]));
    assert_eq!((&summary["images"], &summary["was_complete"]), (&json!([]), &json!(true)));
}

#[test]
fn three_processes_one_of_them_killed_make_what_one_makes() {
    let folder = Folder::new();
    let numbers: Vec<u8> = (0..400_u32 * 400).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    folder.write("numbers.raw", numbers);
    for store in ["alone.zarr", "shared.zarr"] {
        let array = format!("{store}/0");
        zarr_in(folder.path(), ["create", store, "--group"]).exits(0);
        let options = "--dtype uint8 --shape 400,400 --chunks 20,20 --dimension-names y,x --from numbers.raw";
        zarr_in(folder.path(), ["create", &array].into_iter().chain(options.split(' '))).exits(0);
    }
    pyramid(&folder, "alone.zarr --levels 3").ok();
    let shared = "shared.zarr --levels 3 --join night-1 --lease 0.5";
    let start = || {
        let mut command = command();
        command.current_dir(folder.path()).arg("pyramid").args(shared.split(' '));
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let mut workers: Vec<Child> = (0..3).map(|_| start()).collect();
    thread::sleep(Duration::from_millis(60));
    let mut killed = workers.remove(0);
    killed.kill().unwrap();
    killed.wait().unwrap();
    for worker in workers {
        let output = worker.wait_with_output().unwrap();
        let [out, err] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
        assert!(output.status.success() && err.is_empty(), "{out}{err:#}");
    }
    // Once more, they are complete, and nothing of the killed process is left.
    assert_eq!(pyramid(&folder, shared).ok().text(), "3 levels, complete already\n");
    let summary = pyramid(&folder, &format!("{shared} --json")).ok().json();
    assert_eq!((&summary["was_complete"], &summary["units"]), (&json!(true), &json!(0)));
    let [alone, together] = ["alone", "shared"].map(|store| folder.contents(&format!("{store}.zarr")));
    let same = |file: &(String, Vec<u8>)| {
        let as_alone = String::from_utf8_lossy(&file.1).replace("\"shared\"", "\"alone\"").into_bytes();
        alone.contains(file) || file.0 == "zarr.json" && alone.contains(&(file.0.clone(), as_alone))
    };
    let differ: Vec<_> = together.iter().filter(|file| !same(file)).map(|file| &file.0).collect();
    assert!(differ.is_empty() && alone.len() == together.len(), "{differ:?}");
    pyramid(&folder, "shared.zarr --join a --if-exists replace")
        .fails(2, &["--if-exists replace", "several workers"]);
    pyramid(&folder, "shared.zarr --join a/b --levels 3").fails(2, &["--join", "not the name of a job"]);
    pyramid(&folder, "shared.zarr b.zarr --join a").exits(2);
}

#[test]
fn a_new_archive_has_level_0_and_the_others() {
    let folder = Folder::new();
    image(&folder);
    pyramid(&folder, "a.zarr b.zarr.zip --levels 2 --dry-run").ok();
    assert_eq!(folder.files(".").iter().filter(|file| file.contains("zip")).count(), 0);
    pyramid(&folder, "a.zarr b.zarr.zip --levels 2 --verify").ok();
    let zipped: Vec<String> = folder.files(".").into_iter().filter(|file| file.contains("zip")).collect();
    assert_eq!(zipped, ["b.zarr.zip"]);
    zarr_in(folder.path(), ["validate", "--conventions", "ome", "b.zarr.zip"]).ok();
    assert_eq!(elements(&folder, "b.zarr.zip/1")[0], json!([6, 8, 10, 12, 14]));
    let attributes = zarr_in(folder.path(), ["attrs", "b.zarr.zip"]).ok();
    assert!(attributes.text().contains("\"name\": \"b\""), "{}", attributes.text());
    pyramid(&folder, "a.zarr b.zarr.zip --levels 2").fails(2, &["b.zarr.zip", "exists"]);
    // An earlier run has ended early.
    fs::create_dir_all(folder.join(".c.zip.zarr-pyramid/c")).unwrap();
    pyramid(&folder, "a.zarr c.zip --levels 2").fails(2, &["--resume"]);
    pyramid(&folder, "a.zarr c.zip --levels 2 --resume").ok();
    assert_eq!(elements(&folder, "c.zip/1"), elements(&folder, "b.zarr.zip/1"));
}

#[test]
fn options_change_the_levels() {
    let folder = Folder::new();
    image(&folder);
    let options =
        "a.zarr --levels 1 --factors x=5 --missing 0,1 --codecs none --chunks 2,2 --metadata none -q";
    assert!(pyramid(&folder, options).ok().text().is_empty());
    assert_eq!(elements(&folder, "a.zarr/1")[0], json!([3, 7]));
    let info = zarr_in(folder.path(), ["info", "a.zarr/1", "--json"]).ok().json();
    assert_eq!(info["shape"], json!([6, 2]));
    let group = fs::read_to_string(folder.join("a.zarr/zarr.json")).unwrap();
    assert!(!group.contains("multiscales"), "{group}");
}

#[test]
fn what_cannot_be_made_is_refused_with_advice() {
    let folder = Folder::new();
    image(&folder);
    for arguments in
        ["create c.zarr --group", "create c.zarr/0 --dtype float64 --shape 64,64 --dimension-names y,x"]
    {
        zarr_in(folder.path(), arguments.split(' ')).ok();
    }
    for (arguments, code, parts) in [
        ("a.zarr", 2, &["no further level is needed", "`--levels`"][..]),
        ("a.zarr --levels 1 --factors z=2", 2, &["`--factors`", "there is no dimension \"z\""]),
        ("c.zarr --levels 1 --max-memory 1kB", 11, &["1000 bytes do not hold one chunk", "`--max-memory`"]),
        ("a.zarr --levels 1 --ome-version 0.4", 2, &["`--ome-version`", "0.4 is not for format 3"]),
        ("a.zarr --levels 1 --metadata ome,none", 2, &["--metadata: none cannot be combined"]),
        ("b.zarr --levels 1", 3, &["b.zarr"]),
    ] {
        pyramid(&folder, arguments).fails(code, parts);
    }
    for arguments in ["a.zarr --method sum", "a.zarr --levels 1 --smallest 9", "a.zarr --ome-version 1"] {
        pyramid(&folder, arguments).exits(2);
    }
    fs::write(folder.join("a.zarr/0/c/1/1"), "no chunk").unwrap();
    pyramid(&folder, "a.zarr --levels 1").fails(5, &["array \"/0\"", "0/c/1/1"]);
    pyramid(&folder, "a.zarr --levels 1").fails(2, &["unfinished levels of \"/0\"", "`--resume`"]);
}

#[test]
fn a_new_group_gets_level_0_and_the_others() {
    let folder = Folder::new();
    image(&folder);
    let made = "create scan.zarr --dtype uint8 --shape 6,10 --from numbers.raw";
    zarr_in(folder.path(), made.split(' ')).exits(0);
    // An array becomes level 0 of a new group.
    let options = "scan.zarr b.zarr --levels 2 --factors 2,2 --chunks 3,5 --metadata none";
    pyramid(&folder, &format!("{options} --dry-run")).ok();
    assert!(!folder.join("b.zarr").exists());
    pyramid(&folder, options).ok();
    assert_eq!(elements(&folder, "b.zarr/0"), elements(&folder, "scan.zarr"));
    assert_eq!(elements(&folder, "b.zarr/2"), json!([[17, 21, 24], [47, 51, 54]]));
    let info = zarr_in(folder.path(), ["info", "b.zarr/0", "--json"]).ok().json();
    assert_eq!(info["chunk_shape"], json!([3, 5]), "{info}");
    pyramid(&folder, options).fails(2, &["b.zarr", "not empty"]);
    let again = pyramid(&folder, &format!("{options} --resume")).ok();
    assert_eq!(again.text(), "2 levels, complete already\n");

    // A group is copied without its levels.
    pyramid(&folder, "a.zarr --levels 2 -q").ok();
    pyramid(&folder, "a.zarr c.zarr --levels 1 --method min --verify -q").ok();
    assert_eq!(elements(&folder, "c.zarr/1")[0], json!([0, 2, 4, 6, 8]));
    assert!(!folder.join("c.zarr/2").exists());
    zarr_in(folder.path(), ["validate", "--conventions", "ome", "c.zarr"]).ok();
    let again = pyramid(&folder, "a.zarr c.zarr --levels 1 --method min --resume").ok();
    assert_eq!(again.text(), "1 level, complete already\n");

    pyramid(&folder, "a.zarr d.zarr --levels 1 --if-exists replace").fails(2, &["DST must be new"]);
    pyramid(&folder, "a.zarr d.zarr --levels 1 --factors q=2").fails(2, &["there is no dimension \"q\""]);
    // An archive gets a hierarchy as a whole.
    let inside = format!("file://{}|zip:sub", folder.join("d.zip").display());
    pyramid(&folder, &format!("a.zarr {inside} --levels 1")).fails(2, &["d.zip"]);
    assert!(!folder.join("d.zarr").exists() && !folder.join("d.zip").exists());
}
