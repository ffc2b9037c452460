//! Parts of variables that are written.

use zarr_conformance::instruments::Counting;
use zarr_hierarchy::blocking::Group;
use zarr_hierarchy::zarr_array::{NdVec, Storage, standard};
use zarr_store::MemoryStore;
use zarr_xarray::blocking::{Dataset, Variable};
use zarr_xarray::{
    Calendar, Decoded, Encoding, Labels, NewDataset, NewVariable, NumberType, Spans, TimeUnit, Times,
    XarrayErrorKind,
};

/// Variables of each kind along four days, each day a chunk.
fn stored() -> Storage {
    let storage = Storage::from(MemoryStore::new());
    let days = |unit, scale| {
        Times::new(Calendar::NoLeap, unit, (0_i64..4).map(|day| day * 86_400 * scale).collect())
    };
    let of = |values: Decoded| NewVariable::new(["time"], values);
    let packed = Encoding::new().data_type(NumberType::Int16).scale(0.5).missing(-1).chunks([1, 2]);
    let numbers = NdVec::new([4, 2], vec![0.0; 8]).unwrap();
    let new = NewDataset::new()
        .coordinate("time", of(days(TimeUnit::Seconds, 1).into()))
        .variable("packed", NewVariable::new(["time", "x"], numbers).encoding(packed))
        .variable("plain", of(vec![0_i32; 4].into()))
        .variable("name", of(vec![String::new(); 4].into()))
        .variable("flag", of(vec![false; 4].into()))
        .variable("when", of(days(TimeUnit::Milliseconds, 1000).into()))
        .variable("span", of(Spans::new(TimeUnit::Seconds, vec![60; 4]).into()));
    Dataset::create(storage.clone(), "/", new, &standard()).unwrap();
    storage
}

fn open(storage: &Storage) -> Dataset {
    Dataset::open(Group::open(storage.clone(), "/", &standard()).unwrap()).unwrap()
}

#[test]
fn a_region_of_each_kind_comes_back() {
    let storage = stored();
    let dataset = open(&storage);
    let region = dataset.sel([("time", Labels::between("1970-01-02", "1970-01-03"))]).unwrap();
    let times = Times::new(Calendar::NoLeap, TimeUnit::Nanoseconds, vec![i64::MIN, 9 * 86_400_000_000_000]);
    let packed = NdVec::new([2, 2], vec![1.5, f64::NAN, -3.0, 4.0]).unwrap();
    let written: [(&str, Decoded); 6] = [
        ("packed", packed.into()),
        ("plain", vec![7_i32, 8].into()),
        ("name", vec!["a".to_owned(), "b".to_owned()].into()),
        ("flag", vec![true, true].into()),
        ("when", times.into()),
        ("span", Spans::new(TimeUnit::Seconds, vec![120, i64::MIN]).into()),
    ];
    for (name, values) in written {
        region.variable(name).unwrap().write(values).unwrap();
    }
    let again = open(&storage);
    let raw = again.variable("packed").unwrap().read_raw::<i16>().unwrap();
    assert_eq!(raw.into_vec(), [0, 0, 3, -1, -6, 8, 0, 0]);
    assert_eq!(again.variable("plain").unwrap().read::<i32>().unwrap().into_vec(), [0, 7, 8, 0]);
    let names = again.variable("name").unwrap().read_masked::<String>().unwrap().into_vec();
    assert_eq!(names.into_iter().flatten().collect::<Vec<_>>(), ["", "a", "b", ""]);
    let flags = again.variable("flag").unwrap().read_masked::<bool>().unwrap().into_vec();
    assert_eq!(flags.into_iter().flatten().collect::<Vec<_>>(), [false, true, true, false]);
    let when = again.variable("when").unwrap().read_times().unwrap();
    assert_eq!((when.get(1), when.get(2).unwrap().to_string()), (None, "1970-01-10".to_owned()));
    assert_eq!(again.variable("span").unwrap().read_raw::<i64>().unwrap().into_vec(), [1, 2, i64::MIN, 1]);
}

#[test]
fn a_refused_region_sends_no_request() {
    let (storage, counting) = Counting::over(&stored());
    let dataset = open(&storage);
    let first = dataset.isel([("time", 0..1)]).unwrap();
    let of = |name: &str| first.variable(name).unwrap();
    let time = |unit, count| Decoded::from(Times::new(Calendar::NoLeap, unit, vec![count]));
    let pair = |first: f64, second: f64| Decoded::from(NdVec::new([1, 2], vec![first, second]).unwrap());
    let other_calendar = Times::new(Calendar::Days360, TimeUnit::Seconds, vec![0]);
    let rows: [(Variable, Decoded, XarrayErrorKind, &str); 10] = [
        (of("packed"), pair(0.0, 1e6), XarrayErrorKind::OutOfRange, "element 1"),
        (of("packed"), pair(0.0, -0.5), XarrayErrorKind::OutOfRange, "missing"),
        (of("packed"), vec![0.0].into(), XarrayErrorKind::Invalid, "shape"),
        (of("plain"), vec![1.0].into(), XarrayErrorKind::Invalid, "float64"),
        (of("plain"), vec![true].into(), XarrayErrorKind::Invalid, "type"),
        (of("time"), time(TimeUnit::Seconds, 0), XarrayErrorKind::Invalid, "index"),
        (of("when"), time(TimeUnit::Seconds, 1), XarrayErrorKind::OutOfRange, "element 0"),
        (of("when"), other_calendar.into(), XarrayErrorKind::Invalid, "360_day"),
        (
            of("span"),
            Spans::new(TimeUnit::Seconds, vec![61]).into(),
            XarrayErrorKind::OutOfRange,
            "element 0",
        ),
        (
            of("name"),
            Decoded::Texts(NdVec::new([1], vec![None]).unwrap()),
            XarrayErrorKind::OutOfRange,
            "element 0",
        ),
    ];
    let before = counting.counts();
    for (variable, values, kind, part) in rows {
        let Err(error) = variable.write(values) else { panic!("{part}: it is not refused") };
        assert_eq!(error.kind(), kind, "{error:#}");
        assert!(format!("{error:#}").contains(part), "{error:#}");
    }
    assert_eq!((counting.counts() - before).requests(), 0);
    of("packed").write(pair(1.0, 2.0)).unwrap();
    assert_eq!((counting.counts() - before).requests(), 1, "a whole chunk");
}

#[test]
fn labels_name_the_region_of_a_write() {
    let storage = stored();
    let (counted, counting) = Counting::over(&storage);
    let dataset = open(&counted);
    let time = |days: &[i64]| {
        let seconds = days.iter().map(|day| day * 86_400).collect();
        NewVariable::new(["time"], Times::new(Calendar::NoLeap, TimeUnit::Seconds, seconds))
    };
    let of = |days: &[i64]| NewDataset::new().coordinate("time", time(days));
    let plain = |values: Vec<i32>| NewVariable::new(["time"], values);
    for (part, kind) in [
        (of(&[1, 3]).variable("plain", plain(vec![7, 8])), XarrayErrorKind::NotFound),
        (of(&[3, 4]).variable("plain", plain(vec![7, 8])), XarrayErrorKind::NotFound),
        (of(&[1, 2]).variable("none", plain(vec![7, 8])), XarrayErrorKind::NotFound),
        (of(&[1, 2]).variable("plain", plain(vec![7])), XarrayErrorKind::Invalid),
        (NewDataset::new().variable("plain", plain(vec![7; 4])), XarrayErrorKind::Invalid),
        (
            of(&[1, 2]).variable("plain", plain(vec![7, 8]).encoding(Encoding::new().scale(2.0))),
            XarrayErrorKind::Invalid,
        ),
    ] {
        let error = dataset.write_region(part).unwrap_err();
        assert_eq!(error.kind(), kind, "{error:#}");
    }
    assert_eq!(counting.counts().puts, 0);
    let packed = NewVariable::new(["time", "x"], NdVec::new([2, 2], vec![0.5, 1.0, 1.5, 2.0]).unwrap());
    let part = of(&[1, 2]).variable("plain", plain(vec![7, 8])).variable("packed", packed);
    dataset.write_region(part).unwrap();
    let again = open(&storage);
    assert_eq!(again.variable("plain").unwrap().read::<i32>().unwrap().into_vec(), [0, 7, 8, 0]);
    let raw = again.variable("packed").unwrap().read_raw::<i16>().unwrap();
    assert_eq!(raw.into_vec(), [0, 0, 1, 2, 3, 4, 0, 0]);
}
