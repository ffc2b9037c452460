//! What is refused, and with which words.

use zarr_array::blocking::Array;
use zarr_array::meta::json;
use zarr_array::{ArrayMeta, DataType, Storage, block_on};
use zarr_copy::Lengths;
use zarr_copy::pyramid::{Downsample, LevelCount, MultiscaleMetadata, OmeVersion, Pyramid};
use zarr_copy::zarr_hierarchy::blocking::Group;
use zarr_copy::zarr_hierarchy::{standard, zarr_array};
use zarr_store::MemoryStore;

/// Makes a group with the arrays `0`, `words`, `pairs` and `line`.
fn group() -> Storage {
    let storage = Storage::from(MemoryStore::new());
    Group::create(storage.clone(), "/", &standard()).unwrap();
    for (path, shape, data_type) in [
        ("/0", &[600_u64, 600][..], DataType::Complex64),
        ("/words/0", &[600, 600], DataType::String),
        ("/raw/0", &[600, 600], DataType::Raw(3)),
        ("/line/0", &[600], DataType::UInt8),
        ("/scalar/0", &[], DataType::UInt8),
        ("/small/0", &[20, 20], DataType::UInt8),
        ("/named/t2m", &[600, 600], DataType::UInt8),
        ("/huge/0", &[1 << 62, 1 << 62], DataType::UInt8),
        ("/long/0", &[1 << 50, 2], DataType::UInt8),
    ] {
        let chunks: Vec<u64> = shape.iter().map(|n| (*n).min(64)).collect();
        let meta = ArrayMeta::builder(shape, data_type).chunks(chunks).build().unwrap();
        Array::create(storage.clone(), path, meta, &standard()).unwrap();
    }
    storage
}

#[test]
fn a_refusal_says_what_to_do() {
    let storage = group();
    let of = |path: &str| Pyramid::new(storage.clone(), path, &standard());
    for (pyramid, words) in [
        (
            of("/0").method(Downsample::Mode),
            "array \"/0\": cannot take the mode of complex numbers: use nearest or mean",
        ),
        (of("/words/0"), "elements of variable length (string) have no levels"),
        (of("/raw/0"), "cannot take the mean of r24: use nearest"),
        (of("/line/0"), "the array has one dimension; `factors` says by how much it becomes shorter"),
        (of("/scalar/0"), "an array without dimensions has no levels"),
        (of("/small/0"), "no further level is needed: the shape is [20, 20]; `levels` gives their number"),
        (of("/named/t2m"), "the path \"t2m\" has no number 0 in whose place those of the levels would be"),
        (of("/huge/0"), "18446744073709551615 chunks are more than the 68719476736 of which levels are made"),
        (of("/long/0"), "17592186044416 chunks are more than"),
        (of("/nothing"), "there is no node at \"/nothing\""),
        (
            of("/words").factors("y=2".parse::<zarr_copy::pyramid::Factors>().unwrap()),
            "there is no dimension \"y\"",
        ),
        (
            of("/small/0").levels(LevelCount::Further(1)).max_memory(10),
            "10 bytes do not hold one chunk of a level",
        ),
        (
            of("/small/0").levels(LevelCount::Further(1)).chunks(Lengths::Shape(vec![4])),
            "`chunks`: expected 2 lengths",
        ),
        (
            of("/small/0").levels(LevelCount::Further(1)).metadata([MultiscaleMetadata::Ome]),
            "OME-Zarr needs dimensions that are named t, c, z, y, x",
        ),
        (
            of("/small/0").levels(LevelCount::Further(1)).ome_version(OmeVersion::V04),
            "OME-Zarr 0.4 is not for format 3",
        ),
    ] {
        match block_on(pyramid.plan()) {
            Ok(plan) => panic!("{words}: {:?}", plan.levels()),
            Err(e) => assert!(format!("{e:#}").contains(words), "{words}: {e:#}"),
        }
    }
    let alone = Storage::from(MemoryStore::new());
    let meta = ArrayMeta::builder([600, 600], DataType::UInt8).chunks([64, 64]).build().unwrap();
    Array::create(alone.clone(), "/", meta, &standard()).unwrap();
    let e = block_on(Pyramid::new(alone, "/", &standard()).plan()).unwrap_err();
    assert!(format!("{e:#}").contains("is in no group"), "{e:#}");
}

#[test]
fn the_method_follows_from_the_array() {
    let storage = Storage::from(MemoryStore::new());
    Group::create(storage.clone(), "/", &standard()).unwrap();
    for (path, data_type, attributes, wanted) in [
        ("/a/0", DataType::UInt8, json!({}), Downsample::Mean),
        ("/b/0", DataType::Bool, json!({}), Downsample::Mode),
        ("/c/0", DataType::UInt8, json!({ "flag_values": [1, 2] }), Downsample::Mode),
        ("/d/0", DataType::UInt8, json!({ "flag_masks": [1, 2] }), Downsample::Nearest),
        ("/labels/e/0", DataType::UInt32, json!({}), Downsample::Mode),
        ("/labels/f/0", DataType::Float32, json!({}), Downsample::Mean),
    ] {
        let meta = ArrayMeta::builder([600, 600], data_type).chunks([64, 64]).attributes(attributes);
        Array::create(storage.clone(), path, meta.build().unwrap(), &standard()).unwrap();
        let plan = block_on(Pyramid::new(storage.clone(), path, &standard()).plan()).unwrap();
        assert_eq!(plan.method(), wanted, "{path}");
        assert!(plan.notes().any(|note| note.contains("dimensions 0 and 1 become shorter")), "{path}");
    }
}

/// Levels that are replaced are removed: never level 0, or the group.
#[test]
fn level_0_is_never_a_level_to_replace() {
    for path in ["0", "", "/", "../g/0", "a/..", "labels"] {
        let storage = Storage::from(MemoryStore::new());
        let mut group = Group::create(storage.clone(), "/g", &standard()).unwrap();
        let meta =
            ArrayMeta::builder([600, 600], DataType::UInt8).chunks([64, 64]).dimension_names(["y", "x"]);
        Array::create(storage.clone(), "/g/0", meta.build().unwrap(), &standard()).unwrap();
        Group::create(storage.clone(), "/g/labels", &standard()).unwrap();
        let scale = json!([{ "type": "scale", "scale": [1, 1] }]);
        let level = |path: &str| json!({ "path": path, "coordinateTransformations": scale.clone() });
        let axes = json!([{ "name": "y", "type": "space" }, { "name": "x", "type": "space" }]);
        let image = json!({ "axes": axes, "datasets": [level("0"), level(path)] });
        group.set_attributes(json!({ "ome": { "version": "0.5", "multiscales": [image] } })).unwrap();
        let plan = block_on(Pyramid::new(storage.clone(), "/g", &standard()).replace(true).plan());
        if let Ok(plan) = plan {
            block_on(plan.run(zarr_copy::RunOptions::new(), &|_| {})).unwrap_err();
        }
        assert!(Array::open(storage.clone(), "/g/0", &standard()).is_ok(), "{path:?}");
        assert!(Group::open(storage, "/g/labels", &standard()).is_ok(), "{path:?}");
    }
}

/// Times are integers, and NaT is missing; raw bytes have no order.
#[test]
fn times_have_means_and_bytes_their_first_element() {
    let storage = Storage::from(MemoryStore::new());
    Group::create(storage.clone(), "/", &standard()).unwrap();
    let document = |data_type: &str, fill: &str| {
        format!(
            r#"{{"zarr_format": 3, "node_type": "array", "shape": [1, 4], "data_type": {data_type}, "fill_value": {fill},
            "chunk_grid": {{"name": "regular", "configuration": {{"chunk_shape": [1, 4]}}}},
            "chunk_key_encoding": {{"name": "default"}},
            "codecs": [{{"name": "bytes", "configuration": {{"endian": "little"}}}}]}}"#
        )
    };
    let time = r#"{"name": "numpy.datetime64", "configuration": {"unit": "s", "scale_factor": 1}}"#;
    let nat = i64::MIN;
    for (name, data_type, fill, elements, method, wanted) in [
        ("a", time, "0", [10, nat, nat, nat], None, [10, nat]),
        ("b", time, "0", [10, 13, 7, 9], None, [12, 8]),
        ("c", time, "0", [10, 13, nat, 9], Some(Downsample::Nearest), [10, nat]),
        ("d", "\"r64\"", "[0, 0, 0, 0, 0, 0, 0, 0]", [4, 3, 2, 1], Some(Downsample::Nearest), [4, 2]),
    ] {
        let document = document(data_type, fill);
        let meta =
            ArrayMeta::parse(document.as_bytes(), &zarr_array::Limits::default(), &mut Vec::new()).unwrap();
        let array = Array::create(storage.clone(), &format!("/{name}/0"), meta, &standard()).unwrap();
        array
            .write_bytes(.., elements.iter().flat_map(|one| one.to_ne_bytes()).collect::<Vec<u8>>())
            .unwrap();
        let pyramid = Pyramid::new(storage.clone(), &format!("/{name}/0"), &standard());
        let pyramid = pyramid.levels(LevelCount::Further(1)).method(method);
        let plan = block_on(pyramid.plan()).unwrap();
        block_on(plan.run(zarr_copy::RunOptions::new(), &|_| {})).unwrap();
        let made = Array::open(storage.clone(), &format!("/{name}/1"), &standard()).unwrap();
        let made = made.read_bytes(..).unwrap().1;
        let made: Vec<i64> = made.as_chunks().0.iter().map(|raw| i64::from_ne_bytes(*raw)).collect();
        assert_eq!(made, wanted, "{name}");
    }
}
