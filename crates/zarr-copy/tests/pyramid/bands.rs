//! Levels that are groups: several bands, and their coordinates.

use std::collections::BTreeMap;

use zarr_array::blocking::Array;
use zarr_array::meta::json;
use zarr_array::traits::{Key, Prefix, StoreErrorKind};
use zarr_array::{ArrayMeta, DataType, NdVec, Storage, block_on};
use zarr_conformance::instruments::{Fault, Faulty};
use zarr_copy::pyramid::{LevelCount, MultiscaleMetadata, Pyramid};
use zarr_copy::zarr_hierarchy::blocking::Group;
use zarr_copy::zarr_hierarchy::{standard, zarr_array};
use zarr_copy::{CopyErrorKind, RunOptions};
use zarr_store::MemoryStore;

/// Makes a group whose level 0 is a group of two bands with 5 rows and 6 columns, coordinates and a scalar.
fn group() -> Storage {
    let storage = Storage::from(MemoryStore::new());
    let mut root = Group::create(storage.clone(), "/", &standard()).unwrap();
    let place = json!({ "spatial:dimensions": ["y", "x"], "spatial:transform": [10, 0, 0, 0, -10, 50], "proj:code": "EPSG:1" });
    root.set_attributes(place).unwrap();
    for (name, first) in [("b04", 0_u16), ("b08", 100)] {
        let meta = ArrayMeta::builder([5, 6], DataType::UInt16).chunks([2, 2]).dimension_names(["y", "x"]);
        let array = Array::create(storage.clone(), &format!("/0/{name}"), meta.build().unwrap(), &standard())
            .unwrap();
        array.write(.., &NdVec::new([5, 6], (first..first + 30).collect()).unwrap()).unwrap();
    }
    for (name, values) in
        [("y", vec![45.0, 35.0, 25.0, 15.0, 5.0]), ("x", vec![5.0, 15.0, 25.0, 35.0, 45.0, 55.0])]
    {
        let meta =
            ArrayMeta::builder([values.len() as u64], DataType::Float64).chunks([4]).dimension_names([name]);
        let array = Array::create(storage.clone(), &format!("/0/{name}"), meta.build().unwrap(), &standard())
            .unwrap();
        array.write(.., &values[..]).unwrap();
    }
    let meta = ArrayMeta::builder([], DataType::Int64).chunks([]).attributes(json!({ "crs_wkt": "…" }));
    let array = Array::create(storage.clone(), "/0/spatial_ref", meta.build().unwrap(), &standard()).unwrap();
    array.write(.., &[7_i64]).unwrap();
    storage
}

fn pyramid(storage: &Storage) -> Pyramid {
    Pyramid::new(storage.clone(), "/", &standard()).levels(LevelCount::Further(2)).record_bytes(0)
}

fn run(storage: &Storage, resume: bool) -> Result<bool, CopyErrorKind> {
    let plan = block_on(pyramid(storage).plan()).map_err(|e| e.kind())?;
    let done = block_on(plan.run(RunOptions::new().resume(resume).verify(true), &|_| {}));
    done.map(|done| done.was_complete).map_err(|e| e.kind())
}

fn objects(storage: &Storage) -> BTreeMap<String, Vec<u8>> {
    let get = |key: &Key| block_on(storage.get(key, 1 << 20)).unwrap().unwrap().to_vec();
    let listed = block_on(storage.list_all(&Prefix::root())).unwrap();
    listed.into_iter().map(|object| (object.key.to_string(), get(&object.key))).collect()
}

#[test]
fn bands_and_coordinates_have_levels_and_others_are_kept() {
    let storage = group();
    let plan = block_on(pyramid(&storage).plan()).unwrap();
    let arrays: Vec<&str> = plan.arrays().map(|(path, _)| path).collect();
    assert_eq!(arrays, ["/0/b04", "/0/b08", "/0/x", "/0/y"]);
    assert_eq!(plan.metadata(), [MultiscaleMetadata::Convention]);
    assert_eq!(run(&storage, false), Ok(false));
    let open = |path: &str| Array::open(storage.clone(), path, &standard()).unwrap();
    // (0 + 1 + 6 + 7) / 4 = 3.5 is 4, and 5.5 is 6.
    assert_eq!(open("/1/b04").read::<u16>(0).unwrap().into_vec(), [4, 6, 8]);
    assert_eq!(open("/1/b08").read::<u16>(0).unwrap().into_vec(), [104, 106, 108]);
    assert_eq!(open("/1/y").read::<f64>(..).unwrap().into_vec(), [40.0, 20.0, 5.0]);
    assert_eq!(open("/2/x").read::<f64>(..).unwrap().into_vec(), [20.0, 50.0]);
    assert_eq!(open("/2/spatial_ref").read::<i64>(..).unwrap().into_vec(), [7]);
    let root = Group::open(storage.clone(), "/", &standard()).unwrap();
    assert!(root.is_consolidated());
    let layout = root.attributes().get("multiscales").unwrap().get("layout").unwrap();
    let assets: Vec<_> =
        layout.elements().unwrap().map(|level| level.get("asset").unwrap().as_text().unwrap()).collect();
    assert_eq!(assets, ["0", "1", "2"]);
    let last = layout.element(2).unwrap().to_compact();
    assert!(last.contains(r#""derived_from":"1","transform":{"scale":[2.0,2.0]"#), "{last}");
    assert!(
        last.contains(r#""spatial:shape":[2,2],"spatial:transform":[40.0,0.0,0.0,0.0,-40.0,50.0]"#),
        "{last}"
    );
    assert_eq!(run(&storage, true), Ok(true));
    assert_eq!(run(&storage, false), Err(CopyErrorKind::Taken));
    let one = block_on(pyramid(&storage).levels(LevelCount::Further(1)).replace(true).plan()).unwrap();
    block_on(one.run(RunOptions::new(), &|_| {})).unwrap();
    assert!(objects(&storage).keys().all(|key| !key.starts_with("2/")));
    let e = block_on(pyramid(&storage).metadata([MultiscaleMetadata::Ome]).plan()).unwrap_err();
    assert!(format!("{e:#}").contains("OME-Zarr has one array for each level"), "{e:#}");
}

#[test]
fn levels_of_several_arrays_are_resumed() {
    let whole = group();
    run(&whole, false).unwrap();
    let wanted = objects(&whole);
    let mut interrupted = 0;
    for last in (5..170).step_by(4) {
        let storage = group();
        let mut number = 0;
        let (dying, _) = Faulty::over(&storage, move |_, _| {
            number += 1;
            (number >= last).then_some(Fault::ErrorBefore(StoreErrorKind::Unavailable))
        });
        interrupted += u64::from(run(&dying, false).is_err());
        run(&storage, true).unwrap();
        let made = objects(&storage);
        let differ: Vec<_> =
            made.keys().chain(wanted.keys()).filter(|key| made.get(*key) != wanted.get(*key)).collect();
        assert!(differ.is_empty(), "{last}: {differ:?}");
    }
    assert!(interrupted > 20, "{interrupted}");
}
