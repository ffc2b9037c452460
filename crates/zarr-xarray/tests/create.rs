//! Datasets that are written: what comes back, what is refused, and how many requests it takes.

use zarr_conformance::instruments::Counting;
use zarr_hierarchy::blocking::Group;
use zarr_hierarchy::zarr_array::{NdVec, Registry, Storage, block_on, standard, traits::Prefix};
use zarr_store::MemoryStore;
use zarr_xarray::blocking::Dataset;
use zarr_xarray::{
    Calendar, Decoded, Encoding, NewDataset, NewVariable, NumberType, TimeUnit, Times, XarrayErrorKind,
};

fn storage() -> Storage {
    Storage::from(MemoryStore::new())
}

/// Two days in a calendar of 360 days.
fn times() -> Times {
    Times::new(Calendar::Days360, TimeUnit::Seconds, vec![0, 86_400])
}

fn packed() -> NewVariable {
    let values = NdVec::new([2, 3], vec![280.15, 281.0, f64::NAN, 279.5, 273.15, 300.0]).unwrap();
    let encoding = Encoding::new().data_type(NumberType::Int16).scale(0.01).offset(273.15).missing(-32767);
    NewVariable::new(["time", "x"], values).attribute("units", "K").encoding(encoding.chunks([1, 3]))
}

fn weather() -> NewDataset {
    let names = vec!["a".to_owned(), "b".to_owned(), "c".to_owned()];
    NewDataset::new()
        .attribute("title", "weather")
        .coordinate("time", NewVariable::new(["time"], times()))
        .coordinate("name", NewVariable::new(["x"], names))
        .variable("t", packed())
}

#[test]
fn a_dataset_comes_back() {
    let storage = storage();
    let created = Dataset::create(storage.clone(), "/run/1", weather(), &standard()).unwrap();
    let opened = Dataset::open(Group::open(storage, "/run/1", &standard()).unwrap()).unwrap();
    for dataset in [created, opened] {
        assert!(dataset.group().is_consolidated());
        assert_eq!(dataset.coordinates().collect::<Vec<_>>(), ["name", "time"]);
        assert_eq!(dataset.indexes().collect::<Vec<_>>(), ["time"]);
        let second = dataset.sel([("time", "1970-01-02")]).unwrap().variable("t").unwrap();
        assert_eq!(second.read_raw::<i16>().unwrap().into_vec(), [635, 0, 2685]);
        let masked = dataset.variable("t").unwrap().read_masked::<f64>().unwrap();
        assert_eq!((masked[[0, 0]], masked[[0, 2]]), (Some(280.15), None));
        assert_eq!(dataset.variable("time").unwrap().read_times().unwrap().get(1), times().get(1));
        let names = dataset.variable("name").unwrap().read_masked::<String>().unwrap();
        assert_eq!(names[[2]].as_deref(), Some("c"));
    }
}

#[test]
fn a_refused_dataset_leaves_the_store_as_it_was() {
    let of = |variable: NewVariable| NewDataset::new().variable("v", variable);
    let line = || NewVariable::new(["x"], vec![1.0, f64::NAN]);
    let with = |encoding: Encoding| of(line().encoding(encoding));
    let integers = Encoding::new().data_type(NumberType::Int8);
    let missing_text = NdVec::new([1], vec![None]).unwrap();
    let large = Encoding::new().data_type(NumberType::Float32).missing(1e300);
    for (new, kind, part) in [
        (with(integers.clone()), XarrayErrorKind::OutOfRange, "element 1"),
        (with(integers.clone().missing(1000)), XarrayErrorKind::Invalid, "1000"),
        (with(large), XarrayErrorKind::Invalid, "missing value"),
        (
            of(NewVariable::new(["x"], vec![1e300]).encoding(Encoding::new().data_type(NumberType::Float32))),
            XarrayErrorKind::OutOfRange,
            "element 0",
        ),
        (
            with(Encoding::new().data_type(NumberType::Int8).scale(0.5).missing(2)),
            XarrayErrorKind::OutOfRange,
            "element 0",
        ),
        (
            of(NewVariable::new(["t"], times())
                .encoding(integers.clone().scale(2.0).units("days since 1970-01-01"))),
            XarrayErrorKind::OutOfRange,
            "element 1 lies between",
        ),
        (with(Encoding::new().scale(0.0)), XarrayErrorKind::Invalid, "scale_factor"),
        (with(Encoding::new().chunks([1, 1])), XarrayErrorKind::Invalid, "chunk"),
        (with(Encoding::new().units("days")), XarrayErrorKind::Invalid, "units"),
        (of(line().attribute("scale_factor", 2)), XarrayErrorKind::Invalid, "scale_factor"),
        (of(line().attribute("units", "days since 2000-01-01")), XarrayErrorKind::Invalid, "attributes"),
        (of(NewVariable::new(["x", "y"], vec![1.0])), XarrayErrorKind::Invalid, "dimensions"),
        (of(NewVariable::new(["x"], Decoded::Texts(missing_text))), XarrayErrorKind::OutOfRange, "element 0"),
        (of(NewVariable::new(["t"], times()).attribute("units", "days")), XarrayErrorKind::Invalid, "units"),
        (of(line()).variable("w", NewVariable::new(["x"], vec![1.0])), XarrayErrorKind::Invalid, "length"),
        (NewDataset::new().variable("a/b", line()), XarrayErrorKind::Invalid, "a/b"),
        (NewDataset::new().variable("..", line()), XarrayErrorKind::Invalid, ".."),
    ] {
        let storage = storage();
        let Err(error) = Dataset::create(storage.clone(), "/", new, &standard()) else {
            panic!("{part}: it is not refused")
        };
        assert_eq!(error.kind(), kind, "{error:#}");
        assert!(format!("{error:#}").contains(part), "{error:#}");
        assert_eq!(block_on(storage.list(&Prefix::root(), None)).unwrap().entries.len(), 0, "{error:#}");
    }
    // The registry has no codec for the arrays.
    let storage = storage();
    assert!(Dataset::create(storage.clone(), "/", weather(), &Registry::core()).is_err());
    assert_eq!(block_on(storage.list(&Prefix::root(), None)).unwrap().entries.len(), 0);
}

#[test]
fn an_existing_node_is_not_replaced() {
    let storage = storage();
    Dataset::create(storage.clone(), "/", weather(), &standard()).unwrap();
    let before = block_on(storage.list(&Prefix::root(), None)).unwrap().entries.len();
    let other = NewDataset::new().variable("u", NewVariable::new(["x"], vec![1.0]));
    let error = Dataset::create(storage.clone(), "/", other, &standard()).unwrap_err();
    assert_eq!(error.kind(), XarrayErrorKind::Access, "{error:#}");
    assert_eq!(block_on(storage.list(&Prefix::root(), None)).unwrap().entries.len(), before);
}

#[test]
fn each_chunk_and_each_document_is_put_once() {
    let (storage, counting) = Counting::over(&storage());
    Dataset::create(storage, "/", weather(), &standard()).unwrap();
    // Four chunks, three arrays, and the group with and without consolidated metadata.
    assert_eq!(counting.counts().puts, 4 + 3 + 2);
}
