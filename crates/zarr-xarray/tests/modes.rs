//! Datasets that are replaced, added to, and written in parts by several workers; trees of datasets.

use zarr_conformance::instruments::Counting;
use zarr_hierarchy::blocking::Group;
use zarr_hierarchy::zarr_array::{ExistingNode, NdVec, Storage, block_on, standard, traits::Prefix};
use zarr_store::MemoryStore;
use zarr_xarray::blocking::{DataTree, Dataset};
use zarr_xarray::{
    Calendar, DecodedType, Encoding, Format, NewDataset, NewVariable, NumberType, TimeUnit, XarrayErrorKind,
};

fn memory() -> Storage {
    Storage::from(MemoryStore::new())
}

fn open(storage: &Storage) -> Dataset {
    Dataset::open(Group::open(storage.clone(), "/", &standard()).unwrap()).unwrap()
}

fn create(storage: &Storage, new: NewDataset) -> Dataset {
    Dataset::create(storage.clone(), "/", new, &standard()).unwrap()
}

/// The number of objects of a store.
fn objects(storage: &Storage) -> usize {
    block_on(storage.list(&Prefix::root(), None)).unwrap().entries.len()
}

fn line(values: Vec<f32>) -> NewVariable {
    NewVariable::new(["x"], values)
}

#[test]
fn datasets_of_both_formats_come_back() {
    for format in [Format::V2, Format::V3] {
        let storage = memory();
        let packed = Encoding::new().data_type(NumberType::Int8).scale(0.5).missing(-1);
        let new = NewDataset::new()
            .format(format)
            .coordinate("x", line(vec![1.0, 2.0]))
            .variable("packed", NewVariable::new(["x"], vec![0.0, f64::NAN]).encoding(packed))
            .variable("zero", NewVariable::new(["x"], vec![0_i32, 5]))
            .variable("text", NewVariable::new(["x"], vec!["ä".to_owned(), String::new()]))
            .variable("bytes", NewVariable::new(["x"], vec![b"a".to_vec(), b"bcd".to_vec()]))
            .variable("flag", NewVariable::new(["x"], vec![true, false]));
        create(&storage, new);
        let dataset = open(&storage);
        assert_eq!((dataset.group().format(), dataset.group().is_consolidated()), (format, true));
        let read = |name: &str| dataset.variable(name).unwrap();
        assert_eq!(read("packed").read_masked::<f64>().unwrap().into_vec(), [Some(0.0), None]);
        assert_eq!(read("zero").read::<i32>().unwrap().into_vec(), [0, 5], "{format}");
        let texts = read("text").read_masked::<String>().unwrap().into_vec();
        assert_eq!(texts, [Some("ä".to_owned()), Some(String::new())]);
        let bytes = read("bytes").read_masked::<Vec<u8>>().unwrap().into_vec();
        assert_eq!(bytes, [Some(b"a".to_vec()), Some(b"bcd".to_vec())]);
        assert_eq!(read("flag").read_masked::<bool>().unwrap().into_vec(), [Some(true), Some(false)]);
    }
}

#[test]
fn elements_that_would_not_come_back_are_refused() {
    let of = |values: Vec<Vec<u8>>| NewVariable::new(["x"], values);
    let codecs = Encoding::new().chunks([1]).shards([2]);
    for (new, kind, part) in [
        (NewDataset::new().variable("b", of(vec![b"a\0".to_vec()])), XarrayErrorKind::OutOfRange, "padding"),
        (
            NewDataset::new().format(Format::V2).variable("s", line(vec![1.0, 2.0]).encoding(codecs)),
            XarrayErrorKind::Invalid,
            "format 2",
        ),
        (NewDataset::new().existing(ExistingNode::Open), XarrayErrorKind::Invalid, "added"),
        (
            NewDataset::new().variable("t", line(vec![1.0]).encoding(Encoding::new().coordinates(["h"]))),
            XarrayErrorKind::Invalid,
            "\"h\"",
        ),
    ] {
        let storage = memory();
        let error = Dataset::create(storage.clone(), "/", new, &standard()).unwrap_err();
        assert_eq!(error.kind(), kind, "{error:#}");
        assert!(format!("{error:#}").contains(part), "{error:#}");
        assert_eq!(objects(&storage), 0);
    }
}

#[test]
fn added_variables_are_there_and_others_are_overwritten() {
    let storage = memory();
    let packed = Encoding::new().data_type(NumberType::Int8).scale(0.5);
    let new = NewDataset::new()
        .attribute("title", "old")
        .coordinate("x", line(vec![1.0, 2.0]))
        .variable("t", line(vec![0.0, 1.0]).encoding(packed));
    let mut dataset = create(&storage, new);
    let lone = NewVariable::new([] as [&str; 0], NdVec::new([], vec![7.0]).unwrap());
    let more = NewDataset::new()
        .coordinate("x", line(vec![1.0, 2.0]))
        .coordinate("lone", lone)
        .variable("t", line(vec![2.0, 3.0]))
        .variable("u", line(vec![8.0, 9.0]).encoding(Encoding::new().coordinates([] as [&str; 0])));
    dataset.add(more).unwrap();
    for dataset in [dataset, open(&storage)] {
        assert_eq!(dataset.coordinates().collect::<Vec<_>>(), ["lone", "x"]);
        assert_eq!(dataset.variable("t").unwrap().read_raw::<i8>().unwrap().into_vec(), [4, 6]);
        assert_eq!(dataset.variable("u").unwrap().read::<f32>().unwrap().into_vec(), [8.0, 9.0]);
        assert_eq!(dataset.attributes().get("title").unwrap().to_text().unwrap(), "old");
    }
}

#[test]
fn a_refused_addition_writes_nothing() {
    let storage = memory();
    let mut dataset = create(&storage, NewDataset::new().coordinate("x", line(vec![1.0, 2.0])));
    Group::open(storage.clone(), "/", &standard()).unwrap().create_group("below").unwrap();
    let (counted, counting) = Counting::over(&storage);
    let of =
        |name: &str, values| NewDataset::new().variable("t", line(vec![0.0, 1.0])).variable(name, values);
    for (more, part) in [
        (of("u", line(vec![1.0])), "length"),
        (of("x", line(vec![1.0, 3.0])), "index"),
        (of("x", NewVariable::new(["y"], vec![1.0_f32, 2.0])), "dimensions"),
        (of("below", line(vec![1.0, 2.0])), "node"),
    ] {
        let error = open(&counted).add(more).unwrap_err();
        assert_eq!(error.kind(), XarrayErrorKind::Invalid, "{error:#}");
        assert!(format!("{error:#}").contains(part), "{error:#}");
    }
    assert_eq!(counting.counts().puts, 0);
    dataset.add(of("u", line(vec![1.0, 2.0]))).unwrap();
}

#[test]
fn a_replaced_dataset_leaves_nothing_behind() {
    let storage = memory();
    create(&storage, NewDataset::new().variable("old", line(vec![1.0; 3])));
    let new = NewDataset::new().variable("new", line(vec![2.0])).existing(ExistingNode::Replace);
    create(&storage, new);
    assert_eq!(open(&storage).variables().collect::<Vec<_>>(), ["new"]);
    assert_eq!(objects(&storage), 3);
}

#[test]
fn workers_fill_a_template_by_its_partitions() {
    for (encoding, wanted) in [
        (Encoding::new().chunks([2, 3]), vec![(0, 4, 2), (2, 4, 2), (4, 4, 1)]),
        (Encoding::new().chunks([1, 1]).shards([4, 2]), vec![(0, 2, 4), (0, 2, 4), (4, 2, 1), (4, 2, 1)]),
    ] {
        let storage = memory();
        let numbers = DecodedType::Numbers(NumberType::Int32);
        let times = DecodedType::Times(Calendar::NoLeap, TimeUnit::Seconds);
        let units = Encoding::new().units("days since 2000-01-01");
        let new = NewDataset::new()
            .variable("t", NewVariable::later(["y", "x"], [5, 4], numbers).encoding(encoding))
            .variable("when", NewVariable::later(["y"], [5], times).encoding(units));
        let (counted, counting) = Counting::over(&storage);
        create(&counted, new);
        assert_eq!(counting.counts().puts, 2 + 2, "documents only");
        let dataset = open(&counted);
        let regions: Vec<_> = dataset.variable("t").unwrap().partitions(60).unwrap().collect();
        let shapes: Vec<_> = regions.iter().map(|region| (region["y"].start, &region["x"])).collect();
        assert_eq!(shapes.len(), wanted.len(), "{shapes:?}");
        let before = counting.counts();
        std::thread::scope(|scope| {
            for (region, (start, width, height)) in regions.iter().zip(&wanted) {
                let dataset = &dataset;
                scope.spawn(move || {
                    let part = dataset.isel(region.clone()).unwrap().variable("t").unwrap();
                    assert_eq!((region["y"].start, part.shape()), (*start, &[*height, *width][..]));
                    let count = usize::try_from(width * height).unwrap();
                    part.write(NdVec::new(part.shape(), vec![1_i32; count]).unwrap()).unwrap();
                });
            }
        });
        let used = counting.counts() - before;
        assert_eq!(used.reads, 0, "no chunk is read first");
        assert_eq!(open(&storage).variable("t").unwrap().read::<i32>().unwrap().into_vec(), [1; 20]);
    }
    let later = NewVariable::later(["x"], [1], DecodedType::Spans(TimeUnit::Seconds));
    let refused = Dataset::create(memory(), "/", NewDataset::new().variable("t", later), &standard());
    assert!(format!("{:#}", refused.unwrap_err()).contains("units"));
}

#[test]
fn a_tree_repeats_no_index_and_is_aligned() {
    for format in [Format::V2, Format::V3] {
        let storage = memory();
        let x = || line(vec![1.0, 2.0]);
        let new = || NewDataset::new().format(format);
        let datasets = [
            ("/", new().coordinate("x", x()).attribute("title", "tree")),
            ("/a/b", new().coordinate("x", x()).variable("t", line(vec![5.0, 6.0]))),
        ];
        let created = DataTree::create(storage.clone(), "/", datasets, &standard()).unwrap();
        let (counted, counting) = Counting::over(&storage);
        let options = zarr_hierarchy::GroupOptions::new().format(format);
        let opened = DataTree::open(Group::open_with(counted, "/", &standard(), &options).unwrap()).unwrap();
        assert_eq!(counting.counts().requests(), if format == Format::V3 { 1 } else { 3 });
        for tree in [created, opened] {
            assert_eq!(tree.paths().collect::<Vec<_>>(), ["/", "/a", "/a/b"]);
            tree.check_aligned().unwrap();
            let below = tree.dataset("/a/b").unwrap();
            assert_eq!(below.inherited().collect::<Vec<_>>(), ["x"]);
            assert_eq!(below.variable("t").unwrap().read::<f32>().unwrap().into_vec(), [5.0, 6.0]);
        }
        for (other, part) in [
            (new().variable("t", line(vec![1.0])), "length"),
            (new().coordinate("x", line(vec![1.0, 3.0])), "index"),
        ] {
            let storage = memory();
            let datasets = [("/", new().coordinate("x", x())), ("/a", other)];
            let error = DataTree::create(storage.clone(), "/", datasets, &standard()).unwrap_err();
            assert!(format!("{error:#}").contains(part), "{error:#}");
            assert_eq!(objects(&storage), 0);
        }
        let datasets = [("/", new().variable("a", x())), ("/a", new())];
        assert!(DataTree::create(memory(), "/", datasets, &standard()).is_err());
        assert!(DataTree::create(memory(), "/", [("/a", new()), ("a", new())], &standard()).is_err());
    }
}
