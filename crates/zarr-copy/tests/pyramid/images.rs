//! Images with their labels, and the images of plates.

use std::collections::BTreeMap;

use zarr_array::blocking::Array;
use zarr_array::meta::json;
use zarr_array::meta::json::Value;
use zarr_array::traits::{Key, Prefix, StoreErrorKind};
use zarr_array::{ArrayMeta, DataType, NdVec, Storage, block_on};
use zarr_conformance::instruments::{Fault, Faulty};
use zarr_copy::pyramid::{Downsample, LevelCount, Pyramid, PyramidPlans};
use zarr_copy::zarr_hierarchy::blocking::Group;
use zarr_copy::zarr_hierarchy::{standard, zarr_array};
use zarr_copy::{CopyErrorKind, RunOptions};
use zarr_store::MemoryStore;

/// Makes a group with these members of OME-Zarr 0.5.
fn group(storage: &Storage, path: &str, members: Value) {
    let mut ome = members.as_object().unwrap();
    ome.set("version", "0.5");
    let mut group = Group::create(storage.clone(), path, &standard()).unwrap();
    group.set_attributes(json!({ "ome": ome.to_value() })).unwrap();
}

/// Makes an image with level 0 alone.
fn image(storage: &Storage, path: &str, names: &[&str], shape: &[u64], is_label: bool) {
    let axes: Value = names
        .iter()
        .map(|name| json!({ "name": *name, "type": if *name == "c" { "channel" } else { "space" } }))
        .collect();
    let scale: Value = shape.iter().map(|_| Value::from(1_u64)).collect();
    let transforms = json!([{ "type": "scale", "scale": scale }]);
    let image =
        json!({ "axes": axes, "datasets": [{ "path": "0", "coordinateTransformations": transforms }] });
    let members = match is_label {
        true => json!({ "multiscales": [image], "image-label": {} }),
        false => json!({ "multiscales": [image] }),
    };
    group(storage, path, members);
    let meta = ArrayMeta::builder(shape.to_vec(), DataType::UInt8).chunks(vec![4; shape.len()]);
    let meta = meta.dimension_names(names.iter().copied()).build().unwrap();
    let place = format!("{}/0", path.trim_end_matches('/'));
    let array = Array::create(storage.clone(), &place, meta, &standard()).unwrap();
    let count: u64 = shape.iter().product();
    let numbers = (0..count).map(|i| u8::try_from(if is_label { i % 7 / 3 } else { i % 251 }).unwrap());
    array.write(.., &NdVec::new(shape.to_vec(), numbers.collect()).unwrap()).unwrap();
}

/// Makes an image of two channels, and labels without channels.
fn labelled() -> Storage {
    let storage = Storage::from(MemoryStore::new());
    image(&storage, "/", &["c", "y", "x"], &[2, 9, 7], false);
    group(&storage, "/labels", json!({ "labels": ["cells", "absent"] }));
    image(&storage, "/labels/cells", &["y", "x"], &[9, 7], true);
    storage
}

/// Makes a plate of two wells, with three images. One has labels, and one is of a single element.
fn plate() -> Storage {
    let storage = Storage::from(MemoryStore::new());
    let well = |path: &str, column: u64| json!({ "path": path, "rowIndex": 0, "columnIndex": column });
    let plate = json!({
        "rows": [{ "name": "A" }], "columns": [{ "name": "1" }, { "name": "2" }, { "name": "3" }],
        "wells": [well("A/1", 0), well("A/2", 1), well("A/3", 2)],
    });
    group(&storage, "/", json!({ "plate": plate }));
    Group::create(storage.clone(), "/A", &standard()).unwrap();
    for (path, images) in
        [("/A/1", json!([{ "path": "0" }, { "path": "1" }])), ("/A/2", json!([{ "path": "0" }]))]
    {
        group(&storage, path, json!({ "well": { "images": images } }));
    }
    image(&storage, "/A/1/0", &["y", "x"], &[9, 7], false);
    image(&storage, "/A/1/1", &["y", "x"], &[1, 1], false);
    image(&storage, "/A/2/0", &["y", "x"], &[6, 12], false);
    group(&storage, "/A/2/0/labels", json!({ "labels": ["cells"] }));
    image(&storage, "/A/2/0/labels/cells", &["y", "x"], &[6, 12], true);
    storage
}

fn pyramid(storage: &Storage, path: &str) -> Pyramid {
    Pyramid::new(storage.clone(), path, &standard()).levels(LevelCount::Further(2)).threads(1).record_bytes(0)
}

fn plan(pyramid: &Pyramid) -> Result<PyramidPlans, CopyErrorKind> {
    block_on(pyramid.plan_all()).map_err(|e| e.kind())
}

fn run(pyramid: &Pyramid, resume: bool) -> Result<bool, CopyErrorKind> {
    let options = RunOptions::new().resume(resume);
    let done = block_on(plan(pyramid)?.run(options, &|_| {}));
    done.map(|done| done.was_complete).map_err(|e| e.kind())
}

fn shape(storage: &Storage, path: &str) -> Vec<u64> {
    Array::open(storage.clone(), path, &standard()).unwrap().shape().to_vec()
}

/// Returns the paths of the levels that a group names.
fn named(storage: &Storage, path: &str) -> Vec<String> {
    let group = Group::open(storage.clone(), path, &standard()).unwrap();
    let image = group.attributes().get("ome").unwrap().get("multiscales").unwrap().element(0).unwrap();
    let datasets = image.get("datasets").unwrap().elements().unwrap();
    datasets.map(|level| level.get("path").unwrap().as_text().unwrap()).collect()
}

fn objects(storage: &Storage) -> BTreeMap<String, Vec<u8>> {
    let get = |key: &Key| block_on(storage.get(key, 1 << 20)).unwrap().unwrap().to_vec();
    let listed = block_on(storage.list_all(&Prefix::root())).unwrap();
    listed.into_iter().map(|object| (object.key.to_string(), get(&object.key))).collect()
}

#[test]
fn labels_get_as_many_levels_as_their_image() {
    let storage = labelled();
    let max = pyramid(&storage, "/").method(Downsample::Max).levels(LevelCount::Further(3));
    let plans = plan(&max).unwrap();
    let methods: Vec<Downsample> = plans.plans().iter().map(|plan| plan.method()).collect();
    assert_eq!(methods, [Downsample::Max, Downsample::Mode]);
    let notes: Vec<&str> = plans.notes().collect();
    assert_eq!(notes, [r#""/labels/absent" is in the list of labels, but is not there"#]);
    let [sum, image, labels] = [plans.estimate(), plans.plans()[0].estimate(), plans.plans()[1].estimate()];
    assert_eq!((sum.reads, sum.memory), (image.reads + labels.reads, image.memory.max(labels.memory)));
    assert_eq!(run(&max, false), Ok(false));
    assert_eq!(shape(&storage, "/3"), [2, 2, 1]);
    assert_eq!(shape(&storage, "/labels/cells/3"), [2, 1]);
    assert_eq!((named(&storage, "/").len(), named(&storage, "/labels/cells").len()), (4, 4));
    // Of 0, 0, 0, 1 and of a tie the mode is the smallest: no label is invented.
    let first = Array::open(storage.clone(), "/labels/cells/1", &standard()).unwrap();
    assert!(first.read::<u8>(..).unwrap().into_vec().iter().all(|label| *label <= 2));
    // Both are complete.
    assert_eq!(run(&max, false), Err(CopyErrorKind::Taken));
    assert_eq!(run(&max, true), Ok(true));
    // Both are made again.
    assert_eq!(run(&pyramid(&storage, "/").replace(true), false), Ok(false));
    assert_eq!((named(&storage, "/").len(), named(&storage, "/labels/cells").len()), (3, 3));
}

#[test]
fn labels_that_come_later_follow_the_levels_of_their_image() {
    let storage = labelled();
    let alone = pyramid(&storage, "/0")
        .levels(LevelCount::Further(1))
        .factors("y=3,x=2".parse::<zarr_copy::pyramid::Factors>().unwrap());
    block_on(block_on(alone.plan()).unwrap().run(RunOptions::new(), &|_| {})).unwrap();
    assert_eq!(named(&storage, "/labels/cells"), ["0"]);
    let plans = plan(&pyramid(&storage, "/")).unwrap();
    assert_eq!((plans.plans().len(), plans.complete()), (1, &["/".to_owned()][..]));
    assert_eq!(run(&pyramid(&storage, "/"), false), Ok(false));
    assert_eq!(shape(&storage, "/labels/cells/1"), [3, 4]);
    assert_eq!(named(&storage, "/labels/cells"), ["0", "1"]);
}

#[test]
fn labels_with_another_number_of_levels_are_refused() {
    let storage = labelled();
    let labels = pyramid(&storage, "/labels/cells").levels(LevelCount::Further(1));
    block_on(block_on(labels.plan()).unwrap().run(RunOptions::new(), &|_| {})).unwrap();
    let e = block_on(pyramid(&storage, "/").plan_all()).unwrap_err();
    assert_eq!(e.kind(), CopyErrorKind::Taken);
    assert!(e.to_string().contains("they have 1 further levels, and their image has 2"), "{e}");
    assert_eq!(run(&pyramid(&storage, "/").replace(true), false), Ok(false));
    assert_eq!(named(&storage, "/labels/cells").len(), 3);
}

#[test]
fn images_of_a_plate_without_levels_get_them() {
    let storage = plate();
    let well = plan(&pyramid(&storage, "/A/1")).unwrap();
    assert_eq!((well.plans().len(), well.complete()), (1, &["/A/1/1".to_owned()][..]));
    assert_eq!(run(&pyramid(&storage, "/A/1"), false), Ok(false));
    let plans = plan(&pyramid(&storage, "/")).unwrap();
    let made: Vec<String> = plans.plans().iter().map(|plan| plan.group()).collect();
    assert_eq!(made, ["/A/2/0", "/A/2/0/labels/cells"]);
    assert_eq!(plans.complete(), ["/A/1/0", "/A/1/1"]);
    assert_eq!(plans.notes().collect::<Vec<_>>(), [r#""/A/3" is in the list of wells, but is none"#]);
    assert_eq!(plans.bytes(), 2 * 6 * 12);
    assert_eq!(run(&pyramid(&storage, "/"), false), Ok(false));
    assert_eq!(named(&storage, "/A/2/0").len(), 3);
    assert_eq!(shape(&storage, "/A/2/0/labels/cells/2"), [2, 3]);
    // Nothing is left to do.
    assert_eq!(run(&pyramid(&storage, "/"), false), Ok(true));
}

#[test]
fn a_killed_run_over_several_images_is_resumed_to_the_same_bytes() {
    for make in [plate, labelled] {
        let whole = make();
        run(&pyramid(&whole, "/"), false).unwrap();
        let wanted = objects(&whole);
        for last in (10..110).step_by(3) {
            let storage = make();
            let mut number = 0;
            let (failing, _) = Faulty::over(&storage, move |_, _| {
                number += 1;
                (number >= last).then_some(Fault::ErrorBefore(StoreErrorKind::Unavailable))
            });
            let _ = run(&pyramid(&failing, "/"), false);
            run(&pyramid(&storage, "/"), true).unwrap();
            assert!(objects(&storage) == wanted, "{last}");
        }
    }
}

#[test]
fn nothing_is_begun_if_a_place_is_taken() {
    let storage = plate();
    Group::create(storage.clone(), "/A/2/0/1", &standard()).unwrap();
    let before = objects(&storage);
    assert_eq!(run(&pyramid(&storage, "/"), false), Err(CopyErrorKind::Taken));
    assert!(objects(&storage) == before);
}
