//! Documents of the specifications and their judgement, and those of this project.

use super::*;

/// Returns the rows of a fixture.
pub(super) fn rows(name: &str) -> Vec<Value> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// Returns the findings of a profile that are errors, and those that are warnings.
fn judged(nodes: &Value, profile: Profile) -> [Vec<String>; 2] {
    let found = hierarchy(nodes).check(&[profile]);
    [Severity::Error, Severity::Warning].map(|severity| {
        let of = found.iter().filter(|found| found.severity == severity);
        of.map(|found| format!("{} {}", found.path, found.finding)).collect()
    })
}

#[test]
fn registered_conventions_are_judged_as_their_specifications_say() {
    for row in rows("conventions.json") {
        let document = &row["document"];
        let mut nodes = json!({ "/": { "attributes": document["attributes"] } });
        let array = json!({ "shape": [1, 1], "dimension_names": ["y", "x"] });
        if document["node_type"] == "array" {
            nodes = json!({ "/": root(), "/a": array });
            nodes["/a"]["attributes"] = document["attributes"].clone();
        }
        let layout = document["attributes"]["multiscales"]["layout"].as_array().cloned().unwrap_or_default();
        for asset in layout.iter().filter_map(|level| level["asset"].as_str()) {
            let path = format!("/{}", asset.trim_matches('/'));
            if path != "/" && !asset.contains("..") {
                let group = &path[..path.rfind('/').unwrap()];
                if !group.is_empty() {
                    nodes[group] = json!({});
                }
                nodes[path] = array.clone();
            }
        }
        let [errors, warnings] = judged(&nodes, Geozarr);
        let of_form = |found: &&String| !found.contains("XV013");
        let warnings: Vec<&String> = warnings.iter().filter(of_form).collect();
        assert_eq!(errors.is_empty(), row["valid"], "{}: {errors:?}", row["name"]);
        assert_eq!(warnings.is_empty(), row["name"] != "identity-twice", "{}: {warnings:?}", row["name"]);
    }
}

#[test]
fn a_convention_is_known_by_its_first_identifier() {
    let schema = |repository: &str, tag: &str| {
        format!("https://raw.githubusercontent.com/{repository}/refs/tags/{tag}/schema.json")
    };
    let text = |repository: &str, tag: &str| format!("https://github.com/{repository}/blob/{tag}/README.md");
    let proj = "f17cb550-5864-4468-aeb7-f3180cfb622f";
    for (entry, is_proj) in [
        (json!({ "uuid": proj }), true),
        (json!({ "uuid": proj.to_uppercase() }), true),
        (json!({ "schema_url": schema("zarr-conventions/proj", "v0.1") }), true),
        (json!({ "schema_url": schema("zarr-experimental/geo-proj", "v1") }), true),
        (json!({ "spec_url": text("zarr-conventions/geo-proj", "v1") }), true),
        (
            json!({ "schema_url": schema("zarr-conventions/proj", "main"), "spec_url": text("zarr-conventions/proj", "v0.1") }),
            false,
        ),
        (json!({ "uuid": "another", "schema_url": schema("zarr-conventions/proj", "v0.1") }), false),
        (json!({ "spec_url": text("elsewhere/proj", "v0.1") }), false),
    ] {
        // Without its members a declared convention is wrong, and with them one that is not declared.
        for (members, is_right) in [(json!({}), !is_proj), (json!({ "proj:code": "EPSG:1" }), is_proj)] {
            let mut attributes = members.clone();
            attributes["zarr_conventions"] = json!([entry]);
            let [errors, _] = judged(&json!({ "/": { "attributes": attributes } }), Geozarr);
            assert_eq!(errors.is_empty(), is_right, "{entry} {members}: {errors:?}");
        }
    }
}

/// A document of OME-Zarr with what it needs around it: arrays, images, wells.
struct Surrounded {
    version: String,
    nodes: Value,
}

impl Surrounded {
    fn new(row: &Value) -> Self {
        let mut of = Self { version: row["version"].as_str().unwrap().to_owned(), nodes: json!({}) };
        let mut document = row["document"].clone();
        repair(row, of.members(&mut document));
        let members = of.members(&mut document).clone();
        if row["kind"] == "label" && members.get("multiscales").is_none() {
            let image = of.image("intrinsic", 2);
            of.members(&mut document)["multiscales"] = image;
        }
        of.put("", &document);
        for well in list(&members["plate"]["wells"]) {
            let Some(path) = well["path"].as_str() else { continue };
            let well = of.attributes(json!({ "well": { "images": [{ "path": "0" }] } }));
            of.put(&format!("/{path}"), &well);
            of.put_image(&format!("/{path}/0"), "intrinsic", 2);
        }
        for path in list(&members["well"]["images"]).iter().filter_map(|image| image["path"].as_str()) {
            of.put_image(&format!("/{path}"), "intrinsic", 2);
        }
        let of_image = list(&members["multiscales"][0]["coordinateTransformations"]);
        for link in list(&members["scene"]["coordinateTransformations"]).iter().chain(&of_image) {
            for end in ["input", "output"].map(|end| &link[end]) {
                if let (Some(path), Some(name)) = (end["path"].as_str(), end["name"].as_str()) {
                    let rank = link["translation"].as_array().map_or(3, Vec::len);
                    of.put_image(&format!("/{path}"), name, rank);
                }
            }
        }
        of
    }

    /// Returns the metadata in attributes.
    fn members<'a>(&self, attributes: &'a mut Value) -> &'a mut Value {
        if attributes.get("ome").is_some() { &mut attributes["ome"] } else { attributes }
    }

    fn attributes(&self, mut members: Value) -> Value {
        let number = if self.version == "0.6" { "0.6rc0" } else { &self.version };
        if self.version == "0.4" {
            for image in members.as_object_mut().unwrap().values_mut() {
                let image = if image.is_array() { &mut image[0] } else { image };
                image["version"] = json!(number);
            }
            return members;
        }
        members["version"] = json!(number);
        json!({ "ome": members })
    }

    /// Returns the multiscales of an image of one level.
    fn image(&self, system: &str, rank: usize) -> Value {
        let names = ["t", "c", "z", "y", "x"];
        let kinds = ["time", "channel", "space", "space", "space"];
        let axes: Vec<Value> =
            (5 - rank..5).map(|at| json!({ "name": names[at], "type": kinds[at] })).collect();
        let mut scale = json!({ "type": "scale", "scale": vec![1; rank] });
        if *self.version < *"0.6" {
            return json!([{ "axes": axes, "version": self.version,
                "datasets": [{ "path": "0", "coordinateTransformations": [scale] }] }]);
        }
        scale["input"] = json!({ "path": "0" });
        scale["output"] = json!({ "name": system });
        json!([{ "coordinateSystems": [{ "name": system, "axes": axes }],
            "datasets": [{ "path": "0", "coordinateTransformations": [scale] }] }])
    }

    fn put_image(&mut self, path: &str, system: &str, rank: usize) {
        let attributes = self.attributes(json!({ "multiscales": self.image(system, rank) }));
        self.put(path, &attributes);
    }

    /// Puts a group, and the arrays that it speaks of.
    fn put(&mut self, path: &str, attributes: &Value) {
        let place = if path.is_empty() { "/" } else { path };
        self.nodes[place] = json!({ "attributes": attributes });
        let mut attributes = attributes.clone();
        let members = self.members(&mut attributes).clone();
        let is_label = members.get("image-label").is_some();
        let image = &members["multiscales"][0];
        let first = &image["datasets"][0]["coordinateTransformations"][0]["output"]["name"];
        let systems = list(&image["coordinateSystems"]);
        let system = systems.iter().find(|system| system["name"] == *first).or(systems.first());
        let axes = list(system.map_or(&image["axes"], |system| &system["axes"]));
        let channels = list(&members["omero"]["channels"]).len().max(1);
        for (number, dataset) in list(&image["datasets"]).iter().enumerate() {
            let Some(name) = dataset["path"].as_str() else { continue };
            let length = |axis: &Value| if axis["type"] == "channel" { channels } else { 64 >> number };
            let mut array = json!({
                "shape": axes.iter().map(length).collect::<Vec<_>>(), "fill_value": 0,
                "data_type": if is_label { "uint8" } else { "uint16" },
                "dimension_names": axes.iter().map(|axis| axis["name"].clone()).collect::<Vec<_>>(),
            });
            if axes.len() > 1 && axes.iter().any(|axis| axis["name"].is_null()) {
                array["dimension_names"] = json!(null);
            }
            self.nodes[format!("{path}/{name}")] = array;
        }
        self.put_matrices(path, image);
    }

    /// Puts the arrays in which transformations have matrices.
    fn put_matrices(&mut self, path: &str, of: &Value) {
        for inner in list(&of["coordinateTransformations"]).iter().chain(&list(&of["transformations"])) {
            if let Some(name) = inner["path"].as_str() {
                self.nodes[format!("{path}/{name}")] = json!({ "shape": [3, 4] });
            }
            self.put_matrices(path, inner);
        }
    }
}

/// Repairs what many documents have wrong beside the flaw that they are for, so that this one is found: in 0.4 and 0.6 the
/// paths of wells are a column and a row, which 0.5 has exchanged; and references to coordinate systems are texts.
fn repair(row: &Value, members: &mut Value) {
    if row["kind"] == "plate" && row["version"] != "0.5" {
        let plate = members["plate"].as_object_mut().unwrap();
        for (name, list) in [("rows", plate.remove("columns")), ("columns", plate.remove("rows"))] {
            plate.extend(list.map(|list| (name.to_owned(), list)));
        }
    }
    if row["kind"] == "transforms" && row["valid"] == false {
        let image = &mut members["multiscales"][0];
        let first = image["datasets"][0]["coordinateTransformations"][0]["output"].clone();
        let refer = |of: &mut Value, end: &str, member: &str| {
            if let Some(name) = of[end].as_str() {
                of[end] = match (member, name) {
                    ("name", "array") => json!({ member: first }),
                    _ => json!({ member: name }),
                };
            }
        };
        for dataset in image["datasets"].as_array_mut().unwrap() {
            refer(&mut dataset["coordinateTransformations"][0], "input", "path");
            refer(&mut dataset["coordinateTransformations"][0], "output", "name");
        }
        for link in image
            .get_mut("coordinateTransformations")
            .into_iter()
            .flat_map(|list| list.as_array_mut().unwrap())
        {
            refer(link, "input", "name");
            refer(link, "output", "name");
        }
    }
}

fn list(value: &Value) -> Vec<Value> {
    value.as_array().cloned().unwrap_or_default()
}

#[test]
fn documents_of_ome_zarr_are_judged_as_its_text_says() {
    let mut wrong = Vec::new();
    for row in rows("ome_documents.json") {
        let nodes = Surrounded::new(&row).nodes;
        let format = if row["version"] == "0.4" { Format::V2 } else { Format::V3 };
        let found = in_format(&nodes, format).check(&[Ome]);
        let count = |severity| found.iter().filter(|found| found.severity == severity).count();
        let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
        // Strict documents that are not valid lack something that should be there.
        let is_right =
            match (row["valid"] == true && row.get("by_text").is_none(), row.get("strict").is_some()) {
                (true, true) => errors + warnings == 0,
                (true, false) => errors == 0,
                (false, true) if row.get("by_text").is_none() => warnings > 0,
                (false, _) => errors > 0,
            };
        if !is_right {
            let found: Vec<String> = found.iter().map(|of| format!("{} {}", of.path, of.finding)).collect();
            wrong.push(format!("{} {}: {found:#?}", row["version"], row["source"]));
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
}

/// An image of 0.6 with two levels, labels and one more coordinate system, and a scene beside it.
fn image_06() -> Value {
    let axes = json!([{ "name": "y", "type": "space", "discrete": false }, { "name": "x", "type": "space" }]);
    let level = |path: &str, scale: f64| {
        json!({ "path": path, "coordinateTransformations": [{ "type": "scale", "scale": [scale, scale],
            "input": { "path": path }, "output": { "name": "physical" } }] })
    };
    let image = json!({ "coordinateSystems": [{ "name": "physical", "axes": axes }, { "name": "world", "axes": axes }],
        "datasets": [level("0", 1.0), level("1", 2.0)],
        "coordinateTransformations": [
            { "type": "rotation", "rotation": [[0, 1], [-1, 0]], "input": { "name": "physical" }, "output": { "name": "world" } },
            { "type": "identity", "input": { "name": "physical", "path": null }, "output": { "name": "physical", "path": "labels/a" } }] });
    let array = |length: u64| json!({ "shape": [length, length], "data_type": "uint16", "fill_value": 0 });
    let mut labels = image.clone();
    labels["coordinateTransformations"] = json!([{ "type": "translation", "translation": [1, 1],
        "input": { "name": "world" }, "output": { "name": "physical" } }]);
    json!({
        "/": { "attributes": { "ome": { "version": "0.6", "scene": { "coordinateTransformations": [
            { "type": "identity", "input": { "name": "physical", "path": "i" }, "output": { "name": "world", "path": "i/labels/a" } }] } } } },
        "/i": { "attributes": { "ome": { "version": "0.6", "multiscales": [image] } } },
        "/i/0": array(8), "/i/1": array(4),
        "/i/labels": { "attributes": { "ome": { "version": "0.6", "labels": ["a"] } } },
        "/i/labels/a": { "attributes": { "ome": { "version": "0.6", "multiscales": [labels], "image-label": { "colors": [{ "label-value": 1 }] } } } },
        "/i/labels/a/0": array(8), "/i/labels/a/1": array(4),
    })
}

#[test]
fn each_rule_of_ome_zarr_0_6_is_checked() {
    assert_eq!(judged(&image_06(), Ome), [vec![""; 0], vec![]]);
    let image = |pointer: &str| format!("/i/attributes/ome/multiscales/0/{pointer}");
    let level = |pointer: &str| image(&format!("datasets/1/coordinateTransformations/0{pointer}"));
    let link = |pointer: &str| image(&format!("coordinateTransformations/0{pointer}"));
    let with = |members: Value| {
        let mut of = json!({ "input": { "name": "physical" }, "output": { "name": "world" } });
        of.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        of
    };
    let scale = json!({ "type": "scale", "scale": [2.0] });
    let part = |axis: u64| json!({ "inputAxes": [axis], "outputAxes": [axis], "transformation": scale });
    let scene = |pointer: &str| format!("/attributes/ome/scene{pointer}");
    for (pointer, value, wanted) in [
        // All have the same version.
        ("/i/attributes/ome/version".to_owned(), json!("0.6rc0"), "XV032"),
        // Coordinate systems have different names, and axes.
        (image("coordinateSystems"), json!([]), "XV041"),
        (image("coordinateSystems/1/name"), json!("physical"), "XV041"),
        (image("coordinateSystems/1/name"), json!(""), "XV041"),
        (image("coordinateSystems/0/axes/0/discrete"), json!("no"), "XV041"),
        (image("coordinateSystems/0/axes/0/longName"), json!(1), "XV041"),
        (image("coordinateSystems/0/axes/0/name"), json!(""), "XV041"),
        (image("coordinateSystems/0/axes/0/type"), json!("array"), "XV041"),
        (image("axes"), json!([]), "XV041"),
        // Levels are in the group, of one type, and not longer than the one before.
        (image("datasets/1/path"), json!("../i/1"), "XV034"),
        ("/i/1/data_type".to_owned(), json!("uint8"), "XV034"),
        ("/i/1/shape".to_owned(), json!([4]), "XV034"),
        // Their transformation takes the array into the one coordinate system.
        (level("/input"), json!("1"), "XV035"),
        (level("/input/path"), json!("0"), "XV035"),
        (level("/input/name"), json!("physical"), "XV035"),
        (level("/output"), json!("physical"), "XV035"),
        (level("/output/name"), json!("world"), "XV035"),
        (level("/output/path"), json!("."), "XV035"),
        (level("/scale"), json!([2.0, 0.0]), "XV035"),
        (level("/type"), json!("affine"), "XV035"),
        (
            level(""),
            json!({ "type": "sequence", "transformations": [scale], "input": { "path": "1" },
            "output": { "name": "physical" } }),
            "XV035",
        ),
        // Those of the image link it to known coordinate systems, and all to each other.
        (link("/input/name"), json!("nowhere"), "XV035"),
        (link("/input/path"), json!("labels/b"), "XV035"),
        (link("/input"), json!({ "name": "world" }), "XV035"),
        (link("/output"), json!({ "name": "world", "path": "labels/a" }), "XV035"),
        (link("/output"), json!({ "name": "physical" }), "XV035"),
        (image("coordinateTransformations"), json!([]), "XV035"),
        // Types of transformations with their members.
        (link(""), with(json!({ "type": "shear" })), "XV035"),
        (link(""), with(json!({ "type": "translation", "translation": [1] })), "XV035"),
        (link(""), with(json!({ "type": "translation", "translation": [1, 2], "path": "t" })), "XV035"),
        (link(""), with(json!({ "type": "affine", "affine": [[1, 0], [0, 1]] })), "XV035"),
        (link(""), with(json!({ "type": "affine", "path": "t" })), "XV035"),
        (link("/rotation"), json!([[1, 0, 0], [0, 1, 0], [0, 0, 1]]), "XV035"),
        (link(""), with(json!({ "type": "mapAxis", "mapAxis": [1, 1] })), "XV035"),
        (link(""), with(json!({ "type": "projectAxis", "createdOutputs": [0] })), "XV035"),
        (link(""), with(json!({ "type": "sequence", "transformations": [] })), "XV035"),
        (link(""), with(json!({ "type": "byDimension", "transformations": [part(0)] })), "XV035"),
        (link(""), with(json!({ "type": "byDimension", "transformations": [part(0), part(0)] })), "XV035"),
        (link(""), with(json!({ "type": "bijection", "forward": { "type": "identity" } })), "XV035"),
        (link(""), with(json!({ "type": "coordinates", "path": "0", "interpolation": "sinc" })), "XV035"),
        (link(""), with(json!({ "type": "displacements" })), "XV035"),
        // A scene links named coordinate systems of its images.
        (scene(""), json!({}), "XV042"),
        (scene("/coordinateSystems"), json!([{ "name": "alone", "axes": [{ "name": "x" }] }]), "XV042"),
        (scene("/coordinateTransformations/0/input"), json!("physical"), "XV042"),
        (scene("/coordinateTransformations/0/input/name"), json!("nowhere"), "XV042"),
        (scene("/coordinateTransformations/0/type"), json!("scale"), "XV042"),
    ] {
        let mut nodes = image_06();
        let (node, pointer) = match pointer.split_once("/attributes") {
            Some((node, rest)) => (if node.is_empty() { "/" } else { node }, format!("/attributes{rest}")),
            None => pointer.rsplit_once('/').map(|(node, name)| (node, format!("/{name}"))).unwrap(),
        };
        let (above, name) = pointer.rsplit_once('/').unwrap();
        let above = nodes[node].pointer_mut(above).unwrap_or_else(|| panic!("{node} {pointer}"));
        match name.parse::<usize>() {
            Ok(index) => above[index] = value.clone(),
            Err(_) => above[name] = value.clone(),
        }
        let [errors, _] = judged(&nodes, Ome);
        assert!(errors.iter().any(|error| error.contains(wanted)), "{pointer} {value}: {errors:?}");
    }
}

#[test]
fn transformations_of_all_types_are_valid() {
    let part = |axis: u64| json!({ "inputAxes": [axis], "outputAxes": [1 - axis], "transformation": { "type": "scale", "scale": [2] } });
    for of in [
        json!({ "type": "affine", "affine": [[1, 0, 5], [0, 1, 5]] }),
        json!({ "type": "affine", "path": "0" }),
        json!({ "type": "rotation", "path": "0" }),
        json!({ "type": "mapAxis", "mapAxis": [1, 0] }),
        json!({ "type": "projectAxis", "droppedInputs": [0], "createdOutputs": [1] }),
        json!({ "type": "sequence", "transformations": [{ "type": "projectAxis", "droppedInputs": [0] },
            { "type": "projectAxis", "createdOutputs": [1] }, { "type": "identity" }] }),
        json!({ "type": "byDimension", "transformations": [part(0), part(1)] }),
        json!({ "type": "bijection", "forward": { "type": "coordinates", "path": "0" },
            "inverse": { "type": "displacements", "path": "1", "interpolation": "cubic" } }),
    ] {
        let mut nodes = image_06();
        let link =
            nodes["/i"].pointer_mut("/attributes/ome/multiscales/0/coordinateTransformations/0").unwrap();
        let ends = (link["input"].clone(), link["output"].clone());
        *link = of.clone();
        (link["input"], link["output"]) = ends;
        assert_eq!(judged(&nodes, Ome), [vec![""; 0], vec![]], "{of}");
    }
}
