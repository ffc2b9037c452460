//! `zarr info` of a dataset, and `--cdl`.

use serde_json::json;

use crate::args;
use crate::harness::{Folder, array, base, with, zarr};
use crate::weather::{model, weather};

#[test]
fn a_dataset_shows_dimensions_coordinates_and_variables() {
    let folder = Folder::new();
    let path = weather(&folder);
    let page = zarr(args!["info", &path]).ok().text().to_owned();
    let wanted = format!(
        "dataset     {}, Zarr 3, 650 bytes stored of 795 bytes, consolidated
dimensions  time 48, lat 3, station 2
  * time   2020-01-01 … 2020-01-02T23:00  hourly         int32 → datetime
  * lat    60 … 40                        degrees_north  float64
    place  station                                       string
variables                                       units  chunks  stored
    flag   lat                 bool             -      3       12 bytes
    t2m    time, lat, station  int16 → float64  K      24×3×2  494 bytes  2 metre temperature
attributes  Conventions: CF-1.12; title: demo
",
        path.display()
    );
    assert_eq!(page, wanted);
    let short = zarr(args!["info", "--no-values", "--no-attrs", &path]).ok().text().to_owned();
    assert!(!short.contains("2020-01") && !short.contains("title"), "{short}");
}

#[test]
fn the_json_of_a_dataset_has_its_roles_and_types() {
    let folder = Folder::new();
    let path = weather(&folder);
    let info = zarr(args!["info", "--json", &path]).ok().json();
    assert_eq!(info["dims"], json!({ "lat": 3, "station": 2, "time": 48 }));
    assert_eq!(info["coordinates"], json!(["lat", "place", "time"]));
    assert_eq!(info["data_variables"], json!(["flag", "t2m"]));
    assert_eq!(
        info["indexes"],
        json!({
            "lat": { "first": "60", "last": "40" }, "time": { "first": "2020-01-01", "last": "2020-01-02T23:00" }
        })
    );
    assert_eq!(
        info["decoded_type"],
        json!({ "flag": "bool", "lat": "float64", "place": "string", "t2m": "float64", "time": "datetime" })
    );
    assert_eq!((&info["broken"], &info["node_type"]), (&json!({}), &json!("group")));
    let without = zarr(args!["info", "--json", "--no-values", "--no-attrs", &path]).ok().json();
    assert_eq!(without["indexes"]["time"], json!({ "first": null, "last": null }));
    assert!(without.get("attributes").is_none());
}

#[test]
fn broken_variables_have_their_reason() {
    let folder = Folder::new();
    let path = model(&folder);
    folder.group("model.zarr/fine");
    let page = zarr(args!["info", &path]).ok().text().to_owned();
    assert!(page.contains("  * time  2000-02-29, 2000-02-30    int32 → datetime (360_day)\n"), "{page}");
    let late = page.lines().find(|line| line.starts_with("    late ")).unwrap();
    assert!(late.contains("  broken  ") && late.contains("days since tomorrow"), "{page}");
    assert!(page.contains("\ngroups      fine\n"), "{page}");
    let broken = &zarr(args!["info", "--json", &path]).ok().json()["broken"];
    assert!(broken["late"].as_str().unwrap().contains("tomorrow"), "{broken}");
}

#[test]
fn groups_without_named_dimensions_or_with_two_lengths_are_shown_as_groups() {
    let folder = Folder::new();
    folder.group("g.zarr");
    folder.base("g.zarr/a");
    let page = zarr(args!["info", folder.join("g.zarr")]).ok().text().to_owned();
    assert!(page.starts_with("group ") && !page.contains("dataset"), "{page}");
    for (name, length) in [("x", 4), ("y", 6)] {
        let document = array(&[length], "int32", &[2], &json!(0), &base()["codecs"]);
        folder.node(&format!("two.zarr/{name}"), &with(document, &json!({ "dimension_names": ["x"] })));
    }
    folder.group("two.zarr");
    let done = zarr(args!["info", folder.join("two.zarr")]).ok();
    assert!(
        done.text().contains("no dataset") && done.text().contains("  x  int32  4  dimension x\n"),
        "{}",
        done.text()
    );
    let info = zarr(args!["info", "--json", folder.join("two.zarr")]).ok().json();
    assert!(info["no_dataset_because"].as_str().unwrap().contains("length"), "{info}");
}

/// A dataset keeps some kilobytes for each child, and so does `info`.
#[test]
fn a_group_of_very_many_children_is_no_dataset_and_not_all_are_shown() {
    let folder = Folder::new();
    let node = array(&[1], "uint8", &[1], &json!(0), &json!([{ "name": "bytes" }]));
    let node = with(node, &json!({ "dimension_names": ["x"] }));
    for (count, reason) in [(3, json!(null)), (2001, json!("the group has more than 2000 children"))] {
        let nodes: serde_json::Map<_, _> = (0..count).map(|n| (format!("n{n}"), node.clone())).collect();
        let inline = json!({ "kind": "inline", "must_understand": false, "metadata": nodes });
        let group = json!({ "zarr_format": 3, "node_type": "group", "consolidated_metadata": inline });
        let path = folder.node("h.zarr", &group);
        let info = zarr(args!["info", "--json", path]).ok().json();
        let more = if count == 3 { json!(null) } else { json!(1) };
        let children = info["children"].as_array().unwrap().len();
        assert_eq!((children, &info["more_children"]), (count.min(2000), &more));
        assert_eq!(info["no_dataset_because"], reason);
        assert_eq!(info["consolidated_names_absent"].as_array().unwrap().len(), count);
    }
}

#[test]
fn cdl_is_that_of_ncdump() {
    let folder = Folder::new();
    let path = weather(&folder);
    let wanted = "netcdf w {
dimensions:
\tlat = 3 ;
\tstation = 2 ;
\ttime = 48 ;
variables:
\tbyte flag(lat) ;
\t\tflag:dtype = \"bool\" ;
\tdouble lat(lat) ;
\t\tlat:_FillValue = NaN ;
\t\tlat:units = \"degrees_north\" ;
\tstring place(station) ;
\tshort t2m(time, lat, station) ;
\t\tt2m:_FillValue = -32767s ;
";
    let page = zarr(args!["info", "--cdl", &path]).ok().text().to_owned();
    assert!(page.starts_with(wanted), "{page}");
    assert!(page.contains("\t\ttime:units = \"hours since 2020-01-01\" ;\n"), "{page}");
    assert!(
        page.ends_with(
            "\n// global attributes:\n\t\t:Conventions = \"CF-1.12\" ;\n\t\t:title = \"demo\" ;\n}\n"
        ),
        "{page}"
    );
    zarr(args!["info", "--cdl", path.join("lat")]).fails(2, &["--cdl describes a group"]);
    zarr(args!["info", "--cdl", "--json", &path]).exits(2);
}
