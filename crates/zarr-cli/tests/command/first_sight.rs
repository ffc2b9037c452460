//! `zarr STORE`: the first sight of each kind of store.

use std::fs;

use serde_json::{Value, json};

use crate::args;
use crate::harness::{Folder, array, base, le, with, zarr, zarr_in};
use crate::weather::{climate, weather};

fn look(folder: &Folder, store: &str) -> String {
    zarr_in(folder.path(), [store]).ok().text().to_owned()
}

fn group(attributes: &Value) -> Value {
    json!({ "zarr_format": 3, "node_type": "group", "attributes": attributes })
}

#[test]
fn a_place_without_a_verb_is_looked_at() {
    let folder = Folder::new();
    weather(&folder);
    let wanted = zarr_in(folder.path(), ["info", "w.zarr"]).ok().text().to_owned();
    assert_eq!(look(&folder, "w.zarr"), wanted);
    let json = zarr_in(folder.path(), ["w.zarr/t2m", "--json"]).ok().json();
    assert_eq!(json["shape"], json!([48, 3, 2]));
    zarr_in(folder.path(), ["none.zarr"]).fails(3, &["there is no directory \"none.zarr\""]);
    zarr_in(folder.path(), ["nonsense"]).exits(2).says(&["unrecognized subcommand 'nonsense'"]);
    // A verb stays one, also if there is a directory of its name.
    folder.base("tree");
    zarr_in(folder.path(), ["tree"]).exits(2);
    assert!(look(&folder, "./tree").starts_with("array "));
}

#[test]
fn a_dataset_fits_on_a_screen() {
    let folder = Folder::new();
    climate(&folder);
    let text = look(&folder, "climate.zarr");
    let lines: Vec<&str> = text.lines().collect();
    assert!(
        lines[0].starts_with("dataset     climate.zarr, Zarr 3, ") && lines[0].ends_with(", consolidated")
    );
    assert_eq!(
        lines[1..5],
        [
            "dimensions  time 366, lat 4, lon 5",
            "  * time  2020-01-01 … 2020-12-31  daily          int32 → datetime",
            "  * lat   60 … 37.5 by -7.5        degrees_north  float64",
            "  * lon   0 … 30 by 7.5            degrees_east   float64",
        ]
    );
    assert!(lines[5].starts_with("variables ") && lines[5].contains("units  chunks  stored"), "{text}");
    assert!(lines[6].starts_with("    t2m    time, lat, lon  int16 → float64  K      61×4×5  "), "{text}");
    assert!(lines[6].ends_with("2 metre temperature"), "{text}");
    assert_eq!(lines[7], "attributes  Conventions: CF-1.12; title: Daily temperature, made up");
    assert_eq!(lines.len(), 8, "{text}");
    // A grid mapping is no variable to look at.
    let mapping = json!({ "grid_mapping_name": "latitude_longitude" });
    let crs = array(&[], "int32", &[], &json!(0), &base()["codecs"]);
    folder.node("climate.zarr/crs", &with(crs, &json!({ "dimension_names": [], "attributes": mapping })));
    let text = zarr_in(folder.path(), ["climate.zarr", "--no-consolidated"]).ok().text().to_owned();
    assert!(text.contains("\nother       crs (latitude_longitude)\n"), "{text}");
    let unnamed = json!({ "dimension_names": [], "attributes": { "crs_wkt": "PROJCRS[]" } });
    let crs = array(&[], "int32", &[], &json!(0), &base()["codecs"]);
    folder.node("climate.zarr/crs", &with(crs, &unnamed));
    let text = zarr_in(folder.path(), ["climate.zarr", "--no-consolidated"]).ok().text().to_owned();
    assert!(text.contains("\nother       crs (grid mapping)\n"), "{text}");
}

#[test]
fn attributes_take_one_line_or_all() {
    let folder = Folder::new();
    folder.node("g.zarr", &group(&json!({ "a": "x".repeat(200), "b": [1, 2] })));
    let text = look(&folder, "g.zarr");
    let line = text.lines().find(|line| line.starts_with("attributes")).unwrap();
    assert!(line.chars().count() == 100 && line.ends_with("xx…"), "{line}");
    let all = zarr_in(folder.path(), ["g.zarr", "--attrs"]).ok();
    assert!(all.text().contains("\"b\": [1, 2]"), "{}", all.text());
    let none = zarr_in(folder.path(), ["g.zarr", "--no-attrs"]).ok();
    assert!(!none.text().contains("attributes"), "{}", none.text());
}

#[test]
fn an_array_shows_what_is_stored_and_its_ends() {
    let folder = Folder::new();
    folder.base("a.zarr");
    let wanted = "\
array       a.zarr, Zarr 3
shape       4 int32, dimensions not named
chunks      2, 1 of 2 stored, 8 bytes of 16 bytes
codecs      bytes(endian=little)
fill value  7
values      1 … 7 (first, last)
";
    assert_eq!(look(&folder, "a.zarr"), wanted);
    let json = zarr_in(folder.path(), ["a.zarr", "--json"]).ok().json();
    assert_eq!(json["stored_bytes"], 8);
    // Floats have few digits.
    folder.node("f.zarr", &array(&[2], "float64", &[2], &json!(0.0), &base()["codecs"]));
    folder.write("f.zarr/c/0", [0.1 + 0.2, -1.0 / 3.0].map(f64::to_le_bytes).concat());
    assert!(look(&folder, "f.zarr").contains("\nvalues      0.3 … -0.333333 (first, last)\n"));
    // Packed elements are shown as what they mean.
    let packed = json!({ "attributes": { "scale_factor": 0.01, "add_offset": 273.15 } });
    folder.node("p.zarr", &with(base(), &packed));
    assert!(look(&folder, "p.zarr").contains("\nvalues      273.22 … 273.22 (first, last)\n"));
    // An element that cannot be read hides nothing else.
    folder.write("a.zarr/c/0", [1]);
    let text = look(&folder, "a.zarr");
    assert!(!text.contains("values") && text.contains("fill value  7"), "{text}");
    let short = zarr_in(folder.path(), ["a.zarr", "--no-values"]).ok();
    assert!(!short.text().contains("values"), "{}", short.text());
}

#[test]
fn an_empty_group_says_what_comes_next() {
    let folder = Folder::new();
    folder.group("new.zarr");
    let wanted =
        "group       new.zarr, Zarr 3, empty\nnext        zarr create new.zarr/NAME --shape … --dtype …\n";
    assert_eq!(look(&folder, "new.zarr"), wanted);
}

#[test]
fn thousands_of_arrays_alike_take_one_line() {
    let folder = Folder::new();
    let node = array(&[100], "float32", &[100], &json!(0.0), &base()["codecs"]);
    let node = with(node, &json!({ "dimension_names": ["x"] }));
    let mut nodes: serde_json::Map<_, _> = (0..3000).map(|n| (format!("v{n:04}"), node.clone())).collect();
    nodes.insert("w".to_owned(), with(node, &json!({ "shape": [5] })));
    nodes.insert("x".to_owned(), group(&json!({})));
    let inline = json!({ "kind": "inline", "must_understand": false, "metadata": nodes });
    folder.node("many.zarr", &with(group(&json!({})), &json!({ "consolidated_metadata": inline })));
    let text = look(&folder, "many.zarr");
    assert!(text.starts_with("group       many.zarr, Zarr 3: 3,001 arrays, 1 group"), "{text}");
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    let run = ["v0000", "…", "v2999", "float32", "100", "dimension", "x", "(3,000", "alike)"];
    assert!(lines.iter().any(|line| *line == run), "{text}");
    assert!(lines.iter().any(|line| line.starts_with(&["w", "float32", "5"])), "{text}");
    assert!(lines.iter().any(|line| *line == ["x", "group"]), "{text}");
    assert!(text.lines().count() < 10, "{text}");
}

/// Makes `ad.zarr`: three observations of four variables, a sparse matrix, a category, and a nullable column.
pub(crate) fn annotated(folder: &Folder) {
    let encoded = |kind: &str, more: Value| {
        let mut attributes = json!({ "encoding-type": kind, "encoding-version": "0.1.0" });
        attributes.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        group(&attributes)
    };
    let numbers = |length: u64, kind: &str| array(&[length], kind, &[length], &json!(0), &base()["codecs"]);
    folder.node("ad.zarr", &encoded("anndata", json!({})));
    folder.node("ad.zarr/X", &encoded("csr_matrix", json!({ "shape": [3, 4] })));
    for (name, length, kind) in [("data", 6, "float32"), ("indices", 6, "int32"), ("indptr", 4, "int32")] {
        folder.node(&format!("ad.zarr/X/{name}"), &numbers(length, kind));
    }
    let table =
        |columns: &[&str]| encoded("dataframe", json!({ "_index": "_index", "column-order": columns }));
    folder.node("ad.zarr/obs", &table(&["ct", "n", "batch"]));
    folder.node("ad.zarr/obs/_index", &numbers(3, "int64"));
    folder.node("ad.zarr/obs/n", &numbers(3, "int64"));
    folder.node("ad.zarr/obs/ct", &encoded("categorical", json!({ "ordered": false })));
    folder.node("ad.zarr/obs/ct/codes", &numbers(3, "int8"));
    let texts = with(numbers(2, "string"), &json!({ "codecs": [{ "name": "vlen-utf8" }], "fill_value": "" }));
    folder.node("ad.zarr/obs/ct/categories", &texts);
    folder.write("ad.zarr/obs/ct/categories/c/0", [&le(&[2, 1])[..], b"B", &le(&[2]), b"NK"].concat());
    folder.write("ad.zarr/obs/ct/codes/c/0", [1, 0, 255]);
    folder.node("ad.zarr/obs/batch", &encoded("nullable-integer", json!({})));
    folder.node("ad.zarr/obs/batch/values", &numbers(3, "int64"));
    folder.node("ad.zarr/obs/batch/mask", &with(numbers(3, "bool"), &json!({ "fill_value": false })));
    folder.node("ad.zarr/var", &table(&[]));
    folder.node("ad.zarr/var/_index", &numbers(4, "int64"));
    folder.node("ad.zarr/obsm", &encoded("dict", json!({})));
    let matrix = array(&[3, 2], "float32", &[3, 2], &json!(0.0), &base()["codecs"]);
    folder.node("ad.zarr/obsm/X_pca", &matrix);
    folder.node("ad.zarr/uns", &encoded("dict", json!({})));
    folder.node("ad.zarr/uns/title", &numbers(1, "int64"));
}

#[test]
fn anndata_is_shown_as_tables_and_matrices() {
    let folder = Folder::new();
    annotated(&folder);
    let text = look(&folder, "ad.zarr");
    assert!(text.starts_with("anndata     ad.zarr 0.1.0: 3 obs × 4 var, "), "{text}");
    for line in [
        "X           csr float32, 6 of 12 stored (50.0 %)",
        "obs         ct categorical (2: B, NK), n int64, batch nullable int64",
        "var         no columns",
        "obsm        X_pca 3 × 2 float32",
        "uns         title",
    ] {
        assert!(text.lines().any(|of| of == line), "{line:?} is missing in\n{text}");
    }
    let without = zarr_in(folder.path(), ["ad.zarr", "--no-values"]).ok().text().to_owned();
    assert!(without.contains("ct categorical (2), n int64"), "{without}");
    let json = zarr(args!["info", "--json", folder.join("ad.zarr")]).ok().json();
    assert_eq!((&json["kind"], &json["node_type"]), (&json!("anndata"), &json!("group")));
}

/// Returns the attributes of an image of two channels in three levels.
fn image(name: &str, unit: Option<&str>) -> Value {
    let axis = |name: &str, kind: &str| {
        let mut axis = json!({ "name": name, "type": kind });
        if let Some(unit) = unit.filter(|_| kind == "space") {
            axis["unit"] = json!(unit);
        }
        axis
    };
    let level = |path: &str, scale: f64| {
        let transform = json!({ "type": "scale", "scale": [1.0, scale, scale] });
        json!({ "path": path, "coordinateTransformations": [transform] })
    };
    json!({ "ome": {
        "version": "0.5",
        "multiscales": [{
            "name": name,
            "axes": [axis("c", "channel"), axis("y", "space"), axis("x", "space")],
            "datasets": [level("s0", 0.5), level("s1", 1.0), level("s2", 2.0), level("s3", 4.0)],
        }],
        "omero": { "channels": [
            { "label": "DAPI", "color": "0000FF", "window": { "start": 0, "end": 9, "min": 0, "max": 9 }, "active": true },
            { "label": "GFP", "color": "00FF00", "window": { "start": 0, "end": 9, "min": 0, "max": 9 }, "active": true },
        ] },
    } })
}

/// Makes an image with its levels.
fn levels(folder: &Folder, path: &str, attributes: &Value, data_type: &str) {
    folder.node(path, &group(attributes));
    // The sides are halved and cut, but for one.
    for (level, height, width) in [("s0", 41, 45), ("s1", 20, 22), ("s2", 10, 15), ("s3", 5, 5)] {
        let shape = [2, height, width];
        let document = array(&shape, data_type, &[1, height, height], &json!(0), &base()["codecs"]);
        let names = json!({ "dimension_names": ["c", "y", "x"] });
        folder.node(&format!("{path}/{level}"), &with(document, &names));
    }
}

#[test]
fn an_image_shows_axes_channels_levels_and_labels() {
    let folder = Folder::new();
    levels(&folder, "image.zarr", &image("cells", Some("micrometer")), "uint16");
    folder.node("image.zarr/labels", &group(&json!({ "ome": { "version": "0.5", "labels": ["nuclei"] } })));
    levels(&folder, "image.zarr/labels/nuclei", &image("nuclei", None), "uint32");
    let text = look(&folder, "image.zarr");
    let wanted = "\
image       image.zarr \"cells\", OME-Zarr 0.5, Zarr 3, 0 bytes stored
axes        c 2 (DAPI #0000FF, GFP #00FF00), y 41, x 45; uint16; pixel 0.5 × 0.5 micrometer
levels      s0 2×41×45   s1 ÷2   s2 2×10×15   s3 ÷8
labels      nuclei (uint32, 4 levels)
";
    assert_eq!(text, wanted);
    let label = look(&folder, "image.zarr/labels/nuclei");
    assert!(label.contains("\nnote        no unit on y, x: sizes are in pixels\n"), "{label}");
    let json = zarr(args!["info", "--json", folder.join("image.zarr")]).ok().json();
    assert_eq!((&json["kind"], &json["labels"]), (&json!("image"), &json!(["nuclei"])));
    assert_eq!(json["levels"][1], json!({ "path": "s1", "shape": [2, 20, 22], "scale": [1.0, 1.0, 1.0] }));
    // A document that does not fit hides nothing else.
    fs::remove_dir_all(folder.join("image.zarr/s1")).unwrap();
    let text = look(&folder, "image.zarr");
    assert!(text.contains("\nno image    ") && text.contains("s1"), "{text}");
}

#[test]
fn a_plate_is_drawn_with_its_wells() {
    let folder = Folder::new();
    let plate = json!({ "ome": { "version": "0.5", "plate": {
        "rows": [{ "name": "A" }, { "name": "B" }],
        "columns": [{ "name": "1" }, { "name": "2" }, { "name": "3" }],
        "wells": [
            { "path": "A/1", "rowIndex": 0, "columnIndex": 0 }, { "path": "B/3", "rowIndex": 1, "columnIndex": 2 },
        ],
    } } });
    folder.node("plate.zarr", &group(&plate));
    folder.group("plate.zarr/A");
    let well =
        json!({ "ome": { "version": "0.5", "well": { "images": [{ "path": "0" }, { "path": "1" }] } } });
    folder.node("plate.zarr/A/1", &group(&well));
    levels(&folder, "plate.zarr/A/1/0", &image("field", None), "uint16");
    let text = look(&folder, "plate.zarr");
    let wanted = "\
plate       plate.zarr, OME-Zarr 0.5: 2 rows × 3 columns, 2 of 6 wells, 2 fields in A/1, 0 bytes stored
               1  2  3
            A  ●  ·  ·
            B  ·  ·  ●
images      c 2 (DAPI #0000FF, GFP #00FF00), y 41, x 45; uint16; pixel 0.5 × 0.5, no unit, 4 levels, as in the first field
";
    assert_eq!(text, wanted);
    let json = zarr(args!["info", "--json", folder.join("plate.zarr")]).ok().json();
    assert_eq!((&json["kind"], &json["wells"]), (&json!("plate"), &json!(["A/1", "B/3"])));
}

#[test]
fn tables_of_anndata_are_printed_with_their_columns_in_order() {
    let folder = Folder::new();
    annotated(&folder);
    folder.write("ad.zarr/obs/_index/c/0", [10_u64, 11, 12].map(u64::to_le_bytes).concat());
    folder.write("ad.zarr/obs/n/c/0", [1_u64, 2, 3].map(u64::to_le_bytes).concat());
    folder.write("ad.zarr/obs/batch/mask/c/0", [0, 1, 0]);
    let text = zarr_in(folder.path(), ["cat", "-f", "csv", "ad.zarr/obs"]).ok().text().to_owned();
    assert_eq!(text, "_index,ct,n,batch\n10,NK,1,0\n11,B,2,\n12,,3,0\n");
    let part =
        zarr_in(folder.path(), ["cat", "-f", "tsv", "-s", "::-2", "ad.zarr/obs"]).ok().text().to_owned();
    assert_eq!(part, "_index\tct\tn\tbatch\n12\t\t3\t0\n10\tNK\t1\t0\n");
    zarr_in(folder.path(), ["cat", "-f", "json", "ad.zarr/obs"])
        .fails(3, &["there is a group, not an array"]);
}

#[test]
fn a_dataset_is_printed_as_a_table() {
    let folder = Folder::new();
    let path = weather(&folder);
    let done = zarr(args!["cat", "-f", "csv", "-s", "time=2020-01-01T05:2020-01-01T06,lat=50.5", &path]);
    let done = done.ok_with_notes();
    done.says(&["not in the table, because of other dimensions: flag"]);
    let lines: Vec<&str> = done.text().lines().collect();
    assert_eq!(lines[0], "time,lat,station,place,t2m");
    assert_eq!(lines.len(), 5, "{lines:?}");
    assert!(lines[1].starts_with("2020-01-01T05:00:00,50.5,0,Oslo,"), "{lines:?}");
    folder.group("empty.zarr");
    zarr(args!["cat", "-f", "csv", folder.join("empty.zarr")])
        .fails(6, &["no variables with named dimensions"]);
}

#[test]
fn words_of_other_tools_name_the_verb() {
    let folder = Folder::new();
    for (word, hint) in [
        ("rechunk", "zarr copy SRC DST --chunks"),
        ("mean", "zarr stats STORE/PATH"),
        ("Plot", "zarr view STORE"),
        ("head", "zarr cat STORE/PATH -s :5"),
        ("rename", "zarr mv"),
        ("verify", "zarr validate STORE"),
        ("version", "zarr --version"),
    ] {
        zarr_in(folder.path(), [word, "x.zarr"]).fails(2, &["is not a verb; this does it: ", hint]);
    }
    // A store of this name is looked at.
    fs::create_dir(folder.join("head")).unwrap();
    zarr_in(folder.path(), ["head"]).fails(3, &["there is no node"]);
}

/// Servers of files do not list. The documents of the groups name the nodes.
#[cfg(all(feature = "s3", feature = "http"))]
#[test]
fn groups_on_a_web_server_are_walked_by_what_their_documents_name() {
    let folder = Folder::new();
    annotated(&folder);
    let datasets = json!([{ "path": "s0" }, { "path": "s1" }]);
    let image = |name: &str| json!({ "ome": { "version": "0.5", "multiscales": [{ "name": name, "datasets": datasets }] } });
    folder.node("image.zarr", &group(&image("image")));
    for level in ["s0", "s1", "labels/cells/s0", "labels/cells/s1"] {
        folder.base(&format!("image.zarr/{level}"));
    }
    folder.node("image.zarr/labels", &group(&json!({ "ome": { "labels": ["cells"] } })));
    folder.node("image.zarr/labels/cells", &group(&image("cells")));
    folder.group("plain.zarr");
    folder.base("plain.zarr/a");
    let bucket = crate::bucket::Bucket::new();
    for store in ["ad.zarr", "image.zarr", "plain.zarr"] {
        bucket.upload(&folder.join(store), store);
    }
    let note = "the store cannot list its objects, so the nodes are those that its documents name";
    let done = zarr(args![bucket.web("ad.zarr")]).exits(0);
    done.says(&[note]);
    assert_eq!(done.err.lines().count(), 1, "{}", done.err);
    for line in
        ["X           csr float32, 6 of 12 stored (50.0 %)", "obs         ct categorical (2: B, NK), n int64"]
    {
        assert!(done.text().contains(line), "{line:?} is missing in\n{}", done.text());
    }
    let tree = zarr(args!["tree", "--json", bucket.web("image.zarr")]).exits(0).text().to_owned();
    for path in ["\"/s1\"", "\"/labels\"", "\"/labels/cells\"", "\"/labels/cells/s1\""] {
        assert!(tree.contains(path), "{path} is missing in\n{tree}");
    }
    // The note comes once, and no other one about the same.
    let copy = folder.join("copy.zarr");
    let sizes = "the sizes of objects are not known, so the advice is about documents only";
    for (arguments, exit, notes) in [
        (args!["validate", bucket.web("image.zarr")].to_vec(), 1, &[note][..]),
        (args!["copy", "-q", bucket.web("image.zarr"), &copy].to_vec(), 0, &[note]),
        (args!["doctor", bucket.web("image.zarr")].to_vec(), 0, &[note, sizes]),
    ] {
        let done = zarr(arguments).exits(exit);
        done.says(notes);
        assert_eq!(done.err.lines().count(), notes.len(), "{}", done.err);
    }
    zarr(args!["du", bucket.web("image.zarr")]).exits(6).says(&["the stored bytes are not known"]);
    assert_eq!(folder.files("copy.zarr"), folder.files("image.zarr"));
    // A group whose children are not known is described as well.
    let plain = zarr(args!["info", bucket.web("plain.zarr")]).ok();
    assert!(plain.text().contains("children    unknown"), "{}", plain.text());
    let json = zarr(args!["info", "--json", bucket.web("plain.zarr")]).ok().json();
    assert_eq!((&json["children"], &json["node_type"]), (&json!(null), &json!("group")));
    zarr(args!["tree", bucket.web("plain.zarr")]).fails(6, &["cannot list"]);
}
