//! `zarr view` writes one file that needs nothing else.

use std::fs;

use serde_json::{Value, json};

use crate::bucket::Bucket;
use crate::first_sight::annotated;
#[cfg(unix)]
use crate::harness::command;
use crate::harness::{Folder, zarr_in};

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("numbers.raw", (0..120_u8).collect::<Vec<_>>());
    for arguments in [
        "create a.zarr --group",
        "create a.zarr/g --group",
        "create a.zarr/g/t --dtype uint8 --shape 20,2,3 --chunks 5,2,3 --from numbers.raw",
        "create a.zarr/one --dtype uint8 --shape 4",
        "attrs set a.zarr/g/t title \"</script><script>alert(1)</script>\"",
    ] {
        zarr_in(folder.path(), arguments.split(' ')).exits(0);
    }
    folder
}

/// Returns the answers in a written page.
fn answers(page: &str) -> Value {
    let start = "<script type=\"application/json\" id=\"answers\">";
    let text = &page[page.find(start).unwrap() + start.len()..];
    serde_json::from_str(&text[..text.find("</script>").unwrap()]).unwrap()
}

/// Returns the answers in the page of a store.
fn viewed(folder: &Folder, arguments: &str) -> Value {
    let arguments = ["view", "-o", "-"].into_iter().chain(arguments.split(' '));
    answers(&String::from_utf8(zarr_in(folder.path(), arguments).ok().out).unwrap())
}

#[test]
fn the_file_holds_the_answers_and_loads_nothing() {
    let folder = folder();
    zarr_in(folder.path(), ["view", "a.zarr", "-o", "a.html", "--colormap", "magma", "--range", "1,5"]).ok();
    let page = fs::read_to_string(folder.join("a.html")).unwrap();
    assert!(page.contains("default-src 'none'; script-src 'sha256-"));
    assert!(!page.contains("src=\"page.js\"") && !page.contains("<script>alert"));
    let answers = answers(&page);
    assert_eq!(answers["node"]["/g/t"]["attributes"][0]["value"], "</script><script>alert(1)</script>");
    let planes = answers["plane"]["/g/t"]["planes"].as_array().unwrap();
    let at: Vec<&Value> = planes.iter().map(|plane| &plane["at"][0]).collect();
    assert_eq!(at, [0, 2, 5, 8, 10, 13, 16, 19]);
    assert_eq!(answers["chunks"]["/g/t"]["stored"], 4);
    assert_eq!(
        (&answers["look"]["colormap"], &answers["look"]["range"]),
        (&json!("magma"), &json!([1.0, 5.0]))
    );
    let one = &answers["plane"]["/one"]["planes"][0];
    assert_eq!((&one["kind"], &one["lows"]), (&json!("curve"), &json!([0.0, 0.0, 0.0, 0.0])));
}

#[cfg(unix)]
#[test]
fn without_a_name_the_page_is_opened_in_the_browser() {
    use std::os::unix::fs::PermissionsExt;

    let folder = folder();
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    folder.write(&format!("bin/{opener}"), "#!/bin/sh\necho \"$1\" > opened\n");
    fs::set_permissions(folder.join(&format!("bin/{opener}")), fs::Permissions::from_mode(0o755)).unwrap();
    fs::create_dir_all(folder.join("temporary")).unwrap();
    let run = |path: &str| {
        let mut command = command();
        command.current_dir(folder.path()).args(["view", "a.zarr/g"]);
        command.env("PATH", path).env("TMPDIR", folder.join("temporary")).output().unwrap()
    };
    let done = run(&format!("{}:/bin:/usr/bin", folder.join("bin").display()));
    let file = String::from_utf8(done.stdout).unwrap();
    assert!(
        done.status.success() && done.stderr.is_empty() && file.trim_end().ends_with("/g.html"),
        "{file}"
    );
    assert_eq!(fs::read_to_string(folder.join("opened")).unwrap(), file);
    assert!(fs::read_to_string(file.trim_end()).unwrap().starts_with("<!doctype html>"));
    // Without a browser the file stays, and a note says what to do.
    let done = run("/nowhere");
    let note = String::from_utf8(done.stderr).unwrap();
    assert!(
        done.status.success() && note.contains("no browser was opened") && note.contains("-o FILE"),
        "{note}"
    );
    assert!(fs::exists(String::from_utf8(done.stdout).unwrap().trim_end()).unwrap());
}

#[test]
fn a_node_is_the_root_of_its_page_and_the_size_is_kept() {
    let folder = folder();
    let answers = viewed(&folder, "a.zarr/g --max-size 0");
    let paths: Vec<&Value> =
        answers["tree"]["nodes"].as_array().unwrap().iter().map(|node| &node["path"]).collect();
    assert_eq!(paths, [&json!("/"), &json!("/t")]);
    assert!(answers["node"]["/t"]["documents"][0]["text"].as_str().unwrap().contains("\"shape\""));
    assert!(answers["plane"]["/t"]["error"].as_str().unwrap().contains("--max-size"));
    zarr_in(folder.path(), ["view", "missing.zarr", "-o", "b.html"]).exits(3);
    assert!(!folder.join("b.html").exists());
    zarr_in(folder.path(), ["view", "a.zarr", "-o", "b.png"]).exits(2);
    assert!(!folder.join("b.png").exists());
}

/// A packed variable with a missing element, flags and texts, along a time and latitudes that rise.
fn weather() -> Folder {
    let folder = Folder::new();
    folder.write("t.raw", [0_i16, 100, -1, 300, 400, 500].map(i16::to_le_bytes).concat());
    folder.write("lat.raw", [-10_f32, 0.0, 10.0].map(f32::to_le_bytes).concat());
    folder.write("time.raw", [0_i32, 1].map(i32::to_le_bytes).concat());
    folder.write("flags.raw", [0_u8, 2, 7]);
    for arguments in [
        "create w.zarr --group",
        "create w.zarr/t --dtype int16 --shape 2,3 --dimension-names time,lat --from t.raw",
        "attrs merge w.zarr/t {\"scale_factor\":0.01,\"add_offset\":273.15,\"_FillValue\":-1,\"units\":\"K\"}",
        "create w.zarr/lat --dtype float32 --shape 3 --dimension-names lat --from lat.raw",
        "attrs merge w.zarr/lat {\"units\":\"degrees_north\"}",
        "create w.zarr/time --dtype int32 --shape 2 --dimension-names time --from time.raw",
        "attrs merge w.zarr/time {\"units\":\"days\u{a0}since\u{a0}2020-07-15\"}",
        "create w.zarr/f --dtype uint8 --shape 3 --dimension-names lat --from flags.raw",
        "attrs merge w.zarr/f {\"flag_values\":[0,2],\"flag_meanings\":\"sea\u{a0}land\"}",
    ] {
        // No-break spaces stand for spaces within an argument.
        let arguments: Vec<String> = arguments.split(' ').map(|one| one.replace('\u{a0}', " ")).collect();
        zarr_in(folder.path(), &arguments).exits(0);
    }
    folder
}

#[test]
fn planes_are_decoded_and_labelled_by_coordinates() {
    let folder = weather();
    // An array alone has the coordinates of its group, too.
    for (store, path) in [("w.zarr", "/t"), ("w.zarr/t", "/")] {
        let answers = viewed(&folder, store);
        let plane = &answers["plane"][path]["planes"][0];
        let values = &plane["layers"][0]["values"];
        assert_eq!((&plane["units"], &values["missing"]), (&json!("K"), &json!(1)), "{plane}");
        let ends = [&values["min"], &values["max"]].map(|end| end.as_f64().unwrap());
        assert!((ends[0] - 273.15).abs() < 1e-9 && (ends[1] - 278.15).abs() < 1e-9, "{ends:?}");
        assert_eq!(plane["rows"]["labels"], json!(["2020-07-15", "2020-07-16"]));
        assert_eq!(
            (&plane["columns"]["labels"], &plane["columns"]["place"]),
            (&json!([-10.0, 0.0, 10.0]), &json!("latitude"))
        );
    }
    let stored = viewed(&folder, "--stored w.zarr");
    let values = &stored["plane"]["/t"]["planes"][0]["layers"][0]["values"];
    assert_eq!(
        (&values["missing"], values["max"].as_f64().map(f64::fract)),
        (&json!(0), Some(0.0)),
        "{values}"
    );
    let answers = viewed(&folder, "w.zarr");
    let flags = &answers["plane"]["/f"]["planes"][0];
    assert_eq!(flags["categories"], json!([[0.0, "sea", 0], [2.0, "land", 1], [7.0, "", 2]]));
    let time = &answers["plane"]["/time"]["planes"][0];
    assert_eq!(
        (&time["kind"], &time["values"]),
        (&json!("texts"), &json!(["2020-07-15T00:00:00", "2020-07-16T00:00:00"]))
    );
    // They are their own labels.
    assert_eq!(time["labels"], json!(null));
    let roles: Vec<(&str, &str)> = answers["tree"]["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|node| (node["path"].as_str().unwrap(), node["role"].as_str().unwrap()))
        .collect();
    let wanted = [
        ("/", "group"),
        ("/f", "variable"),
        ("/lat", "coordinate"),
        ("/t", "variable"),
        ("/time", "coordinate"),
    ];
    assert_eq!(roles, wanted);
    assert_eq!(answers["node"]["/"]["dimensions"][1]["last"], "2020-07-16");
}

#[test]
fn observations_of_anndata_are_points_with_columns_that_colour_them() {
    let folder = Folder::new();
    annotated(&folder);
    let shown = &viewed(&folder, "ad.zarr")["points"]["/"];
    let first = &shown["first"];
    assert_eq!((&first["names"], &first["of"]), (&json!(["X_pca"]), &json!("X_pca")), "{shown}");
    assert_eq!((&first["rows"], &first["step"], &first["x"]["count"]), (&json!(3), &json!(1), &json!(3)));
    let by = &shown["by"];
    assert_eq!(by["ct"]["words"], json!(["B", "NK"]));
    assert_eq!(by["ct"]["values"]["missing"], 1);
    assert_eq!((&by["n"]["words"], &by["batch"]["rows"]), (&json!(null), &json!(3)), "{by}");
    // There is no room for them, and a group that is no AnnData has none.
    let left = &viewed(&folder, "ad.zarr --max-size 0")["points"]["/"];
    assert!(left["error"].as_str().unwrap().contains("--max-size"), "{left}");
    assert_eq!(viewed(&folder, "ad.zarr/obs")["points"], json!({}));
}

/// An image of two channels, two depths and two levels.
fn image() -> Folder {
    let folder = Folder::new();
    folder.write("s0.raw", (0..2 * 2 * 6 * 8_u16).flat_map(u16::to_le_bytes).collect::<Vec<_>>());
    let transform = |scale: f64| format!("[{{\"type\":\"scale\",\"scale\":[1,1,{scale},{scale}]}}]");
    let ome = format!(
        "{{\"ome\":{{\"version\":\"0.5\",\"multiscales\":[{{\"axes\":[{{\"name\":\"c\",\"type\":\"channel\"}},\
         {{\"name\":\"z\",\"type\":\"space\"}},{{\"name\":\"y\",\"type\":\"space\",\"unit\":\"micrometer\"}},\
         {{\"name\":\"x\",\"type\":\"space\",\"unit\":\"micrometer\"}}],\"datasets\":[\
         {{\"path\":\"s0\",\"coordinateTransformations\":{}}},{{\"path\":\"s1\",\"coordinateTransformations\":{}}}]}}],\
         \"omero\":{{\"channels\":[{{\"label\":\"DAPI\",\"color\":\"0000FF\",\"window\":{{\"start\":0,\"end\":100}}}},\
         {{\"color\":\"00FF00\",\"window\":{{\"start\":0,\"end\":1000}}}}]}}}}}}",
        transform(0.5),
        transform(1.0)
    );
    for arguments in [
        vec!["create", "i.zarr", "--group"],
        vec![
            "create",
            "i.zarr/s0",
            "--dtype",
            "uint16",
            "--shape",
            "2,2,6,8",
            "--dimension-names",
            "c,z,y,x",
            "--from",
            "s0.raw",
        ],
        vec![
            "create",
            "i.zarr/s1",
            "--dtype",
            "uint16",
            "--shape",
            "2,2,3,4",
            "--dimension-names",
            "c,z,y,x",
        ],
        vec!["attrs", "merge", "i.zarr", &ome],
    ] {
        zarr_in(folder.path(), &arguments).exits(0);
    }
    folder
}

#[test]
fn images_have_channels_and_levels() {
    let folder = image();
    let answers = viewed(&folder, "i.zarr");
    assert_eq!(answers["tree"]["nodes"][0]["what"], "image");
    let shown = &answers["plane"]["/"];
    let first = usize::try_from(shown["first"].as_u64().unwrap()).unwrap();
    let plane = &shown["planes"][first];
    assert_eq!(
        (&plane["style"], &plane["level"], &plane["at"]),
        (&json!("channels"), &json!("s0"), &json!([0, 1, 0, 0]))
    );
    assert_eq!(plane["layers"][0]["color"], json!([0, 0, 255]));
    assert_eq!(plane["layers"][1]["window"], json!([0.0, 1000.0]));
    assert_eq!(plane["layers"][0]["label"], "DAPI");
    assert_eq!(plane["columns"]["labels"].as_array().unwrap()[..3], [json!(0.0), json!(0.5), json!(1.0)]);
    assert_eq!(answers["node"]["/"]["image"]["levels"][1]["shape"], json!([2, 2, 3, 4]));
    for level in ["s1", "1"] {
        let other = viewed(&folder, &format!("i.zarr --level {level}"));
        assert_eq!(other["plane"]["/"]["planes"][0]["level"], "s1");
    }
    zarr_in(folder.path(), ["attrs", "set", "i.zarr/s1", "_FillValue", "0"]).exits(0);
    let missing = viewed(&folder, "i.zarr --level s1");
    assert_eq!(missing["plane"]["/"]["planes"][0]["layers"][0]["values"]["missing"], 12);
    let wrong = viewed(&folder, "i.zarr --level s7");
    assert!(wrong["plane"]["/"]["error"].as_str().unwrap().contains("s0, s1"));
}

#[test]
fn an_image_on_a_web_server_needs_no_listing() {
    let (folder, bucket) = (image(), Bucket::new());
    for (name, bytes) in folder.contents("i.zarr") {
        bucket.put(&format!("i.zarr/{name}"), bytes);
    }
    let done = zarr_in(folder.path(), ["view", &bucket.web("i.zarr"), "-o", "-"]).ok();
    let answers = answers(&String::from_utf8(done.out).unwrap());
    let nodes = answers["tree"]["nodes"].as_array().unwrap();
    assert_eq!(nodes.iter().map(|node| &node["path"]).collect::<Vec<_>>(), ["/", "/s0", "/s1"]);
    assert_eq!(answers["plane"]["/"]["planes"][0]["style"], "channels");
    // Other groups there have no list of nodes.
    bucket.put("g/zarr.json", r#"{"zarr_format": 3, "node_type": "group"}"#);
    zarr_in(folder.path(), ["view", &bucket.web("g"), "-o", "-"]).fails(6, &["cannot list"]);
}

#[test]
fn an_image_is_printed_in_the_colours_of_its_channels() {
    let folder = image();
    let size = |name: &str| {
        let png = fs::read(folder.join(name)).unwrap();
        let side = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
        // The colour type behind the sides: 2 has red, green and blue.
        (side(16), side(20), png[25])
    };
    for (arguments, wanted) in [
        ("cat i.zarr -o a.png", (8, 6, 2)),
        ("cat i.zarr -o a.png --level s1", (4, 3, 2)),
        ("cat i.zarr -o a.png -s :,0,:,2:6", (4, 6, 2)),
        ("cat i.zarr -o a.png -s 1,0", (8, 6, 0)),
    ] {
        zarr_in(folder.path(), arguments.split(' ')).ok_with_notes();
        assert_eq!(size("a.png"), wanted, "{arguments}");
    }
    for (arguments, exit) in [("cat i.zarr -o b.png --level 7", 2), ("cat i.zarr -o b.png -s 0", 2)] {
        zarr_in(folder.path(), arguments.split(' ')).exits(exit);
        assert!(!folder.join("b.png").exists(), "{arguments}");
    }
}
