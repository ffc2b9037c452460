//! The levels of the fixtures: elements, chunks, positions.

use zarr_array::block_on;
use zarr_array::blocking::Array;
use zarr_array::traits::Prefix;
use zarr_array::traits::json::Value;
use zarr_array::traits::number::Numeric;
use zarr_copy::RunOptions;
use zarr_copy::pyramid::{Downsample, Factors, LevelCount, downsample};
use zarr_copy::zarr_hierarchy::blocking::Group;
use zarr_copy::zarr_hierarchy::{standard, zarr_array};

use super::fixtures::{cases, element, elements, numbers};

#[test]
fn elements_are_those_of_the_rules() {
    let mut count = 0;
    for case in cases() {
        for (method, levels) in case.methods() {
            let storage = case.storage();
            let plan = block_on(case.pyramid(&storage).method(method).plan()).unwrap();
            block_on(plan.run(RunOptions::new().verify(true), &|_| {})).unwrap();
            for (level, wanted) in plan.levels().iter().zip(&levels) {
                let array = Array::open(storage.clone(), &level.path, &standard()).unwrap();
                let is_float =
                    matches!(array.data_type().numeric(), Some(Numeric::Float(_) | Numeric::Complex(_)));
                let wanted: Vec<String> = wanted.iter().map(|value| element(value, is_float)).collect();
                assert_eq!(elements(&array), wanted, "{}, {method}, level {}", case.name, level.path);
                count += 1;
            }
            assert_eq!(plan.levels().len(), levels.len(), "{}", case.name);
        }
    }
    assert_eq!(count, 232);
}

#[test]
fn a_block_in_memory_is_the_next_level() {
    for case in cases() {
        let storage = case.storage();
        let level0 = block_on(zarr_array::Array::open(storage.clone(), "0", &standard())).unwrap();
        // In format 2 the group decides whether the fill value is missing.
        let is_alone = level0.metadata().format() != zarr_array::Format::V2;
        for (method, _) in case.methods().into_iter().filter(|_| is_alone) {
            let plan = block_on(
                case.pyramid(&storage).method(method).levels(LevelCount::Further(1)).replace(true).plan(),
            );
            let plan = plan.unwrap();
            block_on(plan.run(RunOptions::new(), &|_| {})).unwrap();
            let level = &plan.levels()[0];
            let part: Vec<_> = level0.shape().iter().map(|length| 0..*length).collect();
            let factors = numbers(&case.expected.get("factors").unwrap());
            let (shape, bytes) =
                block_on(downsample(&level0, &part, &Factors::Each(factors), method)).unwrap();
            let stored = Array::open(storage.clone(), &level.path, &standard()).unwrap();
            assert_eq!(shape, stored.shape(), "{}, {method}", case.name);
            let wanted = match stored.data_type() {
                zarr_array::DataType::Bool => {
                    stored.read::<bool>(..).unwrap().into_vec().into_iter().map(u8::from).collect()
                }
                _ => stored.read_bytes(..).unwrap().1,
            };
            assert_eq!(bytes, wanted, "{}, {method}", case.name);
        }
    }
}

#[test]
fn levels_are_stored_like_level_0() {
    for case in cases() {
        let storage = case.storage();
        let plan = block_on(case.pyramid(&storage).method(Downsample::Nearest).plan()).unwrap();
        block_on(plan.run(RunOptions::new(), &|_| {})).unwrap();
        let level0 = Array::open(storage.clone(), "0", &standard()).unwrap();
        let stored: Vec<Value> = case.expected.get("stored").unwrap().elements().unwrap().collect();
        for (level, stored) in plan.levels().iter().zip(&stored) {
            let array = Array::open(storage.clone(), &level.path, &standard()).unwrap();
            let list =
                |name: &str| stored.get(name).filter(|list| !list.is_null()).map(|list| numbers(&list));
            assert_eq!(Some(array.shape().to_vec()), list("shape"), "{}", case.name);
            assert_eq!((Some(&level.chunks), &level.shards), (list("chunks").as_ref(), &list("shards")));
            let outer = list("shards").or(list("chunks"));
            assert_eq!(array.chunk_shape(&vec![0; array.shape().len()]), outer, "{}", case.name);
            assert_eq!(array.data_type(), level0.data_type());
            assert_eq!(array.fill(), level0.fill());
            assert_eq!(array.metadata().dimension_names(), level0.metadata().dimension_names());
            let keys = [&array, &level0].map(|of| of.metadata().document().chunk_key_encoding().clone());
            assert_eq!(keys[0], keys[1], "{}", case.name);
            // Chunks that hold only the fill value are not stored.
            let fill = elements_of_fill(&array);
            let is_full =
                |chunk: &zarr_array::Chunk| elements_of(&array, chunk).iter().any(|one| *one != fill);
            let full = array.chunks(..).unwrap().filter(is_full).count();
            let prefix = Prefix::new(format!("{}/", level.path)).unwrap();
            let objects = block_on(storage.list_all(&prefix)).unwrap();
            let documents = |name: &str| matches!(name, "zarr.json" | ".zarray" | ".zattrs");
            let chunks = objects.iter().filter(|object| !documents(object.key.name())).count();
            assert_eq!(chunks, full, "{}, level {}", case.name, level.path);
        }
    }
}

fn elements_of(array: &Array, chunk: &zarr_array::Chunk) -> Vec<Vec<u8>> {
    let size = array.data_type().memory_size();
    let bytes = match array.data_type() {
        zarr_array::DataType::Bool => {
            array.read::<bool>(chunk).unwrap().into_vec().into_iter().map(u8::from).collect()
        }
        _ => array.read_bytes(chunk).unwrap().1,
    };
    bytes.chunks_exact(size).map(<[u8]>::to_vec).collect()
}

fn elements_of_fill(array: &Array) -> Vec<u8> {
    array.fill().bytes().to_vec()
}

#[test]
fn the_group_names_the_levels_and_where_they_are() {
    for case in cases() {
        for (method, key) in
            [(Downsample::Max, "transforms box"), (Downsample::Nearest, "transforms nearest")]
        {
            let storage = case.storage();
            let Ok(plan) = block_on(case.pyramid(&storage).method(method).plan()) else { continue };
            block_on(plan.run(RunOptions::new(), &|_| {})).unwrap();
            let attributes = Group::open(storage, "/", &standard()).unwrap().attributes();
            let Some(transforms) = case.expected.get(key) else {
                let Some(spatial) = case.expected.get("spatial") else { continue };
                let layout = attributes.get("multiscales").unwrap().get("layout").unwrap();
                for (level, wanted) in layout.elements().unwrap().zip(spatial.elements().unwrap()) {
                    for name in ["spatial:transform", "spatial:shape"] {
                        assert_eq!(level.get(name), wanted.get(name), "{}: {name}", case.name);
                    }
                }
                continue;
            };
            let wanted: Vec<Value> = transforms.elements().unwrap().collect();
            for (level, wanted) in plan.levels().iter().zip(&wanted[1..]) {
                let list = |name: &str| -> Vec<f64> {
                    wanted.get(name).unwrap().elements().unwrap().map(|n| n.as_f64().unwrap()).collect()
                };
                assert_eq!(level.scale, list("scale"), "{}", case.name);
                assert_eq!(level.translation, list("translation"), "{}", case.name);
            }
        }
    }
}

/// The examples of the specifications.
#[test]
fn documents_have_the_form_of_their_version() {
    let compact = |text: &str| text.split_whitespace().collect::<String>();
    for (name, wanted) in [
        (
            "u2-even-v2",
            r#"{"path":"1","coordinateTransformations":[{"type":"scale","scale":[1.3,1.3]},
               {"type":"translation","translation":[10.325,-19.675]}]}"#,
        ),
        (
            "u1-odd",
            r#"{"path":"1","coordinateTransformations":[{"type":"scale","scale":[1.0,0.5]},
               {"type":"translation","translation":[0.25,0.125]}]}"#,
        ),
        ("i2-negative-sharded", r#""input":{"path":"1"},"output":{"name":"physical"}"#),
        (
            "geo",
            r#"{"asset":"1","derived_from":"0","transform":{"scale":[2.0,2.0],"translation":[0.0,0.0]},
               "spatial:shape":[8,9],"spatial:transform":[20.0,0.0,500000.0,0.0,-20.0,5000000.0]}"#,
        ),
    ] {
        let case = cases().into_iter().find(|case| case.name == name).unwrap();
        let storage = case.storage();
        let before = Group::open(storage.clone(), "/", &standard()).unwrap().attributes();
        let plan = block_on(case.pyramid(&storage).plan()).unwrap();
        block_on(plan.run(RunOptions::new(), &|_| {})).unwrap();
        let group = Group::open(storage.clone(), "/", &standard()).unwrap();
        let attributes = group.attributes().to_value().to_compact();
        assert!(attributes.contains(&compact(wanted)), "{name}: {attributes}");
        if name == "geo" {
            assert!(group.is_consolidated(), "readers of the convention want it");
            for (known, kept) in before.members().map(|m| (m.name_lossy().into_owned(), m.value())) {
                let now = group.attributes().get(&known).unwrap();
                assert!(now == kept || known == "zarr_conventions", "{known}");
            }
            assert!(attributes.contains("d35379db-88df-4056-af3a-620245f8e347"), "{attributes}");
        }
        // The same again is complete.
        let again = block_on(plan.run(RunOptions::new().resume(true), &|_| {})).unwrap();
        assert!(again.was_complete, "{name}");
    }
}
