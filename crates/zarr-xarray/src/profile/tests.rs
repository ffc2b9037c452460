//! Each code on documents that are made for it, and stores that ome-zarr-py has written.

use serde_json::{Value, json};
use zarr_meta::{GroupMeta, Ignore, Limits};

use super::*;

mod documents;

/// Makes a hierarchy from documents of format 3: paths, and for arrays their members.
fn hierarchy(nodes: &Value) -> Hierarchy {
    in_format(nodes, Format::V3)
}

/// Makes a hierarchy whose groups have this format.
fn in_format(nodes: &Value, format: Format) -> Hierarchy {
    let one = |(path, members): (&String, &Value)| {
        let members = members.as_object().unwrap();
        let mut document = json!({ "zarr_format": 3, "node_type": "group", "attributes": {} });
        if members.contains_key("shape") {
            document = json!({
                "zarr_format": 3, "node_type": "array", "data_type": "float64", "fill_value": 0,
                "chunk_grid": { "name": "regular", "configuration": { "chunk_shape": members["shape"] } },
                "chunk_key_encoding": { "name": "default" }, "codecs": ["bytes"], "attributes": {},
            });
        }
        document.as_object_mut().unwrap().extend(members.clone());
        let text = document.to_string();
        let node = match members.contains_key("shape") {
            true => {
                NodeMeta::Array(ArrayMeta::parse(text.as_bytes(), &Limits::default(), &mut Ignore).unwrap())
            }
            false => NodeMeta::Group(group_in(&text, format)),
        };
        (path.clone(), node)
    };
    Hierarchy::new(nodes.as_object().unwrap().iter().map(one), true)
}

fn group(document: &str) -> GroupMeta {
    group_in(document, Format::V3)
}

fn group_in(document: &str, format: Format) -> GroupMeta {
    let document: Value = serde_json::from_str(document).unwrap();
    let attributes = zarr_meta::json::Value::serialize(&document["attributes"]).unwrap();
    GroupMeta::new(format).unwrap().with_attributes(attributes).unwrap()
}

/// Returns the findings of one profile as `E XV001 /path`.
fn found(hierarchy: &Hierarchy, profile: Profile) -> Vec<String> {
    let short = |found: &ProfileFinding| {
        let severity = if found.severity == Severity::Error { 'E' } else { 'W' };
        format!("{severity} {} {}", found.finding.code, found.path)
    };
    let mut all: Vec<String> = hierarchy.check(&[profile]).iter().map(short).collect();
    all.dedup();
    all
}

/// Checks one array `/a` along `x` with these members beside a proper coordinate and root.
fn array(members: &Value, profile: Profile) -> Vec<String> {
    let mut document = json!({ "shape": [2], "dimension_names": ["x"] });
    document.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    let nodes = json!({ "/": root(), "/a": document, "/x": coordinate() });
    found(&hierarchy(&nodes), profile)
}

fn root() -> Value {
    json!({ "attributes": { "Conventions": "CF-1.12 NZ-1.0" } })
}

fn coordinate() -> Value {
    json!({ "shape": [2], "dimension_names": ["x"] })
}

#[test]
fn each_profile_finds_what_it_knows_about_an_array() {
    let attributes = |value: Value| json!({ "attributes": value });
    let packed = |value: Value| json!({ "data_type": "int16", "attributes": value });
    for (members, profile, wanted) in [
        (json!({}), Xarray, &[][..]),
        (json!({}), Cf, &[]),
        (json!({ "dimension_names": [null] }), Nz, &["E XV001 /a"]),
        (json!({ "dimension_names": [""] }), Xarray, &["E XV001 /a"]),
        (json!({ "dimension_names": null }), Cf, &["E XV001 /a"]),
        (json!({ "shape": [3] }), Geozarr, &["E XV002 /"]),
        (attributes(json!({ "_FillValue": -9999.0 })), Xarray, &["E XV003 /a"]),
        (attributes(json!({ "_FillValue": -9999.0 })), Nz, &[]),
        (attributes(json!({ "_FillValue": "AAAAAAAA+H8=" })), Xarray, &[]),
        (attributes(json!({ "_FillValue": "AAAAAAAA+H8=" })), Nz, &["W XV003 /a"]),
        (packed(json!({ "scale_factor": 0.5 })), Cf, &[]),
        (packed(json!({ "scale_factor": "x" })), Cf, &["E XV005 /a"]),
        (packed(json!({ "scale_factor": [0.5] })), Cf, &["W XV005 /a"]),
        (packed(json!({ "scale_factor": 2 })), Xarray, &["W XV005 /a"]),
        (attributes(json!({ "_FillValue": {} })), Cf, &["E XV006 /a"]),
        (packed(json!({ "_FillValue": 70000 })), Cf, &["E XV006 /a"]),
        (packed(json!({ "missing_value": "none" })), Cf, &["E XV006 /a"]),
        (packed(json!({ "missing_value": 1, "_FillValue": 2 })), Cf, &["W XV006 /a"]),
        (attributes(json!({ "units": "days since tomorrow" })), Xarray, &["E XV007 /a"]),
        (attributes(json!({ "units": "days since 1-1-1", "calendar": "noleap" })), Cf, &["W XV007 /a"]),
        (attributes(json!({ "units": "days since 2000-01-01", "calendar": "mayan" })), Cf, &["E XV008 /a"]),
        (attributes(json!({ "units": "days since 0850-01-01" })), Cf, &["W XV008 /a"]),
        (attributes(json!({ "coordinates": "x nowhere" })), Cf, &["E XV009 /a"]),
        (attributes(json!({ "cell_measures": "area" })), Xarray, &["E XV009 /a"]),
        (attributes(json!({ "bounds": "x" })), Cf, &["E XV010 /x"]),
        (attributes(json!({ "standard_name": "latitude" })), Cf, &["E XV015 /a"]),
        (attributes(json!({ "standard_name": "time", "units": "days since 2000-01-01" })), Cf, &[]),
        (attributes(json!({ "scale_factor": 0.5 })), Cf, &["E XV016 /a"]),
        (attributes(json!({ "zarr_conventions": [{ "name": "proj" }] })), Geozarr, &["E XV017 /a"]),
        (
            attributes(json!({
                "zarr_conventions": [{ "uuid": "689b58e2-cf7b-45e0-9fff-9cfc0883d6b4" }],
                "spatial:dimensions": ["y", "x"], "spatial:bbox": [1, 2]
            })),
            Geozarr,
            &["E XV017 /a"],
        ),
        (attributes(json!({ "grid_mapping": "x" })), Cf, &["W XV018 /x"]),
        (attributes(json!({ "_ncprivate": 1 })), Nz, &["W XV020 /a"]),
        (
            json!({
                "data_type": "int16", "attributes": { "scale_factor": 0.5 },
                "codecs": [{ "name": "numcodecs.fixedscaleoffset", "configuration": {} }, "bytes"]
            }),
            Nz,
            &["W XV021 /a"],
        ),
    ] {
        assert_eq!(array(&members, profile), wanted, "{members} {}", profile.name());
    }
}

#[test]
fn groups_are_checked_for_names_conventions_and_alignment() {
    let long = json!({ "shape": [3], "dimension_names": ["x"] });
    let tree = json!({ "/": root(), "/x": coordinate(), "/g": {}, "/g/y": long });
    assert_eq!(found(&hierarchy(&tree), Xarray), ["E XV019 /g"]);
    assert_eq!(found(&hierarchy(&tree), Cf), [""; 0]);
    let names = json!({ "/": root(), "/x": coordinate(), "/X": coordinate(), "/a b": coordinate(), "/2": coordinate() });
    assert_eq!(found(&hierarchy(&names), Cf), ["W XV014 /2", "W XV014 /a b", "W XV014 /x"]);
    let none = json!({ "/": {}, "/x": coordinate() });
    for (profile, wanted) in
        [(Cf, "E XV013 /"), (Nz, "E XV013 /"), (Xarray, "W XV013 /"), (Geozarr, "W XV013 /")]
    {
        assert_eq!(found(&hierarchy(&none), profile), [wanted]);
    }
    let chunks = json!({ "name": "regular", "configuration": { "chunk_shape": [1] } });
    let chunked = json!({ "shape": [2], "dimension_names": ["x"], "chunk_grid": chunks });
    let slow = Hierarchy { is_consolidated: false, ..hierarchy(&json!({ "/": root(), "/x": chunked })) };
    assert_eq!(found(&slow, Xarray), ["W XV012 /", "W XV012 /x"]);
}

#[test]
fn zeros_of_format_2_are_missing() {
    for (fill, is_found) in [("0", true), ("null", false), ("7", false)] {
        let text = format!(
            r#"{{"zarr_format":2,"shape":[2],"chunks":[2],"dtype":"<i2","compressor":null,"filters":null,"order":"C",
            "fill_value":{fill}}}"#
        );
        let attributes = br#"{"_ARRAY_DIMENSIONS":["x"]}"#;
        let meta =
            ArrayMeta::parse_v2(text.as_bytes(), Some(attributes), &Limits::default(), &mut Ignore).unwrap();
        let nodes =
            [("/".to_owned(), NodeMeta::Group(group(&root().to_string()))), ("/x".to_owned(), meta.into())];
        let found = found(&Hierarchy::new(nodes, true), Cf);
        assert_eq!(found == ["W XV004 /x"], is_found, "{fill} {found:?}");
    }
}

/// Returns the documents of a store of the fixture.
fn ome(name: &str) -> Value {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/ome.json");
    let stores: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    stores[name].clone()
}

/// Makes the hierarchy of documents.
fn stored(documents: &Value) -> Hierarchy {
    let documents = documents.as_object().unwrap();
    let mut nodes = Vec::new();
    for (key, document) in documents {
        let (folder, name) = key.rsplit_once('/').unwrap_or(("", key));
        let beside = if folder.is_empty() { ".zattrs".to_owned() } else { format!("{folder}/.zattrs") };
        let attributes = documents.get(&beside).map(|attributes| attributes.to_string().into_bytes());
        let text = document.to_string();
        let mut sink = Ignore;
        let limits = Limits::default();
        let node = match name {
            "zarr.json" if document["node_type"] == "array" => {
                ArrayMeta::parse(text.as_bytes(), &limits, &mut sink).unwrap().into()
            }
            "zarr.json" => NodeMeta::Group(group(&text)),
            ".zarray" => ArrayMeta::parse_v2(text.as_bytes(), attributes.as_deref(), &limits, &mut sink)
                .unwrap()
                .into(),
            ".zgroup" => {
                let attributes: Value =
                    attributes.map_or(json!({}), |text| serde_json::from_slice(&text).unwrap());
                let meta = GroupMeta::new(Format::V2).unwrap();
                NodeMeta::Group(
                    meta.with_attributes(zarr_meta::json::Value::serialize(&attributes).unwrap()).unwrap(),
                )
            }
            _ => continue,
        };
        nodes.push((format!("/{folder}"), node));
    }
    Hierarchy::new(nodes, true)
}

#[test]
fn stores_of_ome_zarr_py_are_valid() {
    for (name, wanted) in [
        ("image_v4", &[][..]),
        // ome-zarr-py leaves out the version beside the list of labels.
        ("image_v5", &["W XV032 /labels"]),
        // It gives plates no name, which they should have.
        ("plate_v4", &["W XV038 /"]),
        ("plate_v5", &["W XV038 /"]),
    ] {
        assert_eq!(found(&stored(&ome(name)), Ome), wanted, "{name}");
    }
}

#[test]
fn each_code_of_ome_zarr_is_found() {
    let image = "/attributes/ome/multiscales/0";
    let inside = |pointer: &str| format!("{image}/{pointer}");
    let omero = "/attributes/ome/omero/channels".to_owned();
    let color = "/attributes/ome/image-label/colors/0".to_owned();
    let plate = "/attributes/ome/plate".to_owned();
    let wells = "/attributes/ome/plate/wells/0".to_owned();
    let images = "/attributes/ome/well/images".to_owned();
    for (store, key, pointer, value, wanted) in [
        ("image_v5", "zarr.json", "/attributes/ome/version".to_owned(), json!("0.4"), "E XV032 /"),
        ("image_v5", "zarr.json", "/attributes/ome/version".to_owned(), json!(5), "E XV032 /"),
        ("image_v5", "zarr.json", inside("axes"), json!("cyx"), "E XV033 /"),
        ("image_v5", "zarr.json", inside("axes/1/name"), json!("x"), "E XV033 /"),
        ("image_v5", "zarr.json", inside("axes/2/type"), json!("time"), "E XV033 /"),
        ("image_v5", "zarr.json", inside("axes/0/name"), json!("t"), "E XV034 /"),
        ("image_v5", "zarr.json", inside("datasets"), json!([]), "E XV034 /"),
        ("image_v5", "zarr.json", inside("datasets/0/path"), json!("s9"), "E XV034 /"),
        ("image_v5", "zarr.json", inside("datasets/0/path"), json!("s4"), "E XV034 /"),
        ("image_v5", "s0/zarr.json", "/dimension_names/0".to_owned(), json!("z"), "E XV034 /"),
        ("image_v5", "s0/zarr.json", "/shape".to_owned(), json!([2, 1, 1]), "E XV034 /"),
        ("image_v5", "zarr.json", inside("datasets/0/coordinateTransformations"), json!([]), "E XV035 /"),
        (
            "image_v5",
            "zarr.json",
            inside("datasets/0/coordinateTransformations/0/scale"),
            json!([1, 2]),
            "E XV035 /",
        ),
        (
            "image_v5",
            "zarr.json",
            inside("datasets/0/coordinateTransformations/0/type"),
            json!("affine"),
            "E XV035 /",
        ),
        ("image_v5", "zarr.json", omero.clone() + "/0/color", json!("blue"), "E XV036 /"),
        ("image_v5", "zarr.json", omero.clone() + "/0/window", json!({ "min": 0 }), "E XV036 /"),
        ("image_v5", "zarr.json", omero, json!([]), "W XV036 /"),
        (
            "image_v5",
            "labels/zarr.json",
            "/attributes/ome/labels/0".to_owned(),
            json!("x"),
            "E XV037 /labels",
        ),
        (
            "image_v5",
            "labels/cells/s0/zarr.json",
            "/data_type".to_owned(),
            json!("float32"),
            "E XV037 /labels",
        ),
        (
            "image_v5",
            "labels/cells/zarr.json",
            color.clone() + "/rgba",
            json!([0, 0, 256, 1]),
            "E XV037 /labels/cells",
        ),
        ("image_v5", "labels/cells/zarr.json", color + "/label-value", json!("a"), "E XV037 /labels/cells"),
        ("plate_v5", "zarr.json", wells.clone() + "/rowIndex", json!(1), "E XV038 /"),
        ("plate_v5", "zarr.json", wells + "/path", json!("A/2"), "E XV038 /"),
        ("plate_v5", "zarr.json", plate.clone() + "/rows/0/name", json!("A-1"), "E XV038 /"),
        ("plate_v5", "zarr.json", plate + "/columns", json!(null), "E XV038 /"),
        ("plate_v5", "A/1/zarr.json", images.clone() + "/0/path", json!("9"), "E XV039 /A/1"),
        ("plate_v5", "A/1/zarr.json", images, json!(3), "E XV039 /A/1"),
    ] {
        let mut documents = ome(store);
        *documents[key].pointer_mut(&pointer).unwrap_or_else(|| panic!("{store} {key} {pointer}")) = value;
        let found = found(&stored(&documents), Ome);
        assert!(found.iter().any(|found| found == wanted), "{key} {pointer}: {found:?}");
    }
    assert_eq!(found(&hierarchy(&json!({ "/": {} })), Ome), ["E XV032 /"]);
}
