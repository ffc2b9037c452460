//! Stored datasets that are appended, and written into regions: what comes back, what is refused, and what an error leaves.

use std::sync::atomic::{AtomicU64, Ordering};

use zarr_conformance::instruments::{Fault, Faulty};
use zarr_hierarchy::zarr_array::{NdVec, Storage, standard};
use zarr_store::MemoryStore;
use zarr_xarray::blocking::Dataset;
use zarr_xarray::{
    Calendar, Encoding, FromOptions, Labels, NewDataset, NewVariable, NumberType, Overlap, TimeUnit, Times,
    XarrayErrorKind,
};

use crate::append::{content, from_documents, open};

const DAY: i64 = 86_400;

/// Packed numbers, texts and times along some days, and a mask that does not have the dimension.
fn days(range: std::ops::Range<i64>, scale: f64, units: &str) -> NewDataset {
    let times =
        Times::new(Calendar::Standard, TimeUnit::Seconds, range.clone().map(|day| day * DAY).collect());
    let numbers: Vec<f64> = range.clone().flat_map(|day| [day as f64, f64::NAN]).collect();
    let shape = [u64::try_from(range.end - range.start).unwrap(), 2];
    let packed = Encoding::new().data_type(NumberType::Int16).scale(scale).missing(-1).chunks([2, 2]);
    let names: Vec<String> = range.map(|day| day.to_string()).collect();
    NewDataset::new()
        .coordinate(
            "time",
            NewVariable::new(["time"], times).encoding(Encoding::new().units(units).chunks([4])),
        )
        .coordinate("x", NewVariable::new(["x"], vec![10.0, 20.0]))
        .variable("t", NewVariable::new(["time", "x"], NdVec::new(shape, numbers).unwrap()).encoding(packed))
        .variable("name", NewVariable::new(["time"], names))
        .variable("mask", NewVariable::new(["x"], vec![true, false]))
}

fn stored(new: NewDataset) -> Storage {
    let storage = Storage::from(MemoryStore::new());
    Dataset::create(storage.clone(), "/", new, &standard()).unwrap();
    storage
}

fn year(range: std::ops::Range<i64>) -> Storage {
    stored(days(range, 0.5, "days since 1970-01-01"))
}

fn check(dataset: &Dataset, days: &[i64]) {
    let times = dataset.variable("time").unwrap().read_times().unwrap().in_unit(TimeUnit::Seconds).unwrap();
    assert_eq!(times.values().iter().map(|second| second / DAY).collect::<Vec<_>>(), days);
    let numbers = dataset.variable("t").unwrap().read_masked::<f64>().unwrap().into_vec();
    assert_eq!(numbers, days.iter().flat_map(|day| [Some(*day as f64), None]).collect::<Vec<_>>());
    let names = dataset.variable("name").unwrap().read_masked::<String>().unwrap().into_vec();
    assert_eq!(names, days.iter().map(|day| Some(day.to_string())).collect::<Vec<_>>());
}

#[test]
fn an_appended_dataset_gets_the_stored_encoding() {
    let storage = year(0..3);
    let more = open(&stored(days(3..8, 0.25, "hours since 1970-01-02")));
    let mut dataset = open(&storage);
    assert_eq!(dataset.continued_along(&more).unwrap(), "time");
    let told = AtomicU64::new(0);
    let count = |bytes| {
        told.fetch_add(bytes, Ordering::Relaxed);
    };
    // Pieces of one chunk.
    let taken = dataset.append_from("time", &more, &FromOptions::new().bytes(1), &count).unwrap();
    assert_eq!(taken.region.get("time"), Some(&(3..8)));
    assert_eq!(taken.variables, ["name", "t", "time"]);
    assert_eq!((taken.bytes, told.into_inner()), (5 * (1 + 4 + 8), 5 * (1 + 4 + 8)));
    let all: Vec<i64> = (0..8).collect();
    check(&dataset, &all);
    check(&open(&storage), &all);
    check(&from_documents(&storage), &all);
}

#[test]
fn labels_that_are_stored_are_refused_left_out_or_overwritten() {
    let storage = year(0..4);
    let before = content(&storage);
    let append = |range, overlap| {
        open(&storage).append_from("time", &open(&year(range)), &FromOptions::new().overlap(overlap), &|_| ())
    };
    let error = append(2..6, Overlap::Fail).unwrap_err();
    assert_eq!((error.kind(), error.variable()), (XarrayErrorKind::Invalid, Some("time")));
    let message = error.to_string();
    assert!(message.contains("begin with 1970-01-03") && message.contains("1970-01-04"), "{message}");
    assert!(append(1..3, Overlap::Replace).unwrap_err().to_string().contains("are not the last stored ones"));
    assert_eq!(content(&storage), before);
    assert_eq!(append(0..3, Overlap::Skip).unwrap().region.get("time"), Some(&(4..4)));
    assert_eq!(append(-3..6, Overlap::Skip).unwrap().region.get("time"), Some(&(4..6)));
    check(&open(&storage), &[0, 1, 2, 3, 4, 5]);
    // Other elements for the last two days.
    open(&storage)
        .isel([("time", 4..6)])
        .unwrap()
        .variable("t")
        .unwrap()
        .write(NdVec::new([2, 2], vec![9.0; 4]).unwrap())
        .unwrap();
    assert_eq!(append(4..7, Overlap::Replace).unwrap().region.get("time"), Some(&(4..7)));
    check(&open(&storage), &[0, 1, 2, 3, 4, 5, 6]);
}

#[test]
fn a_dataset_of_another_form_is_refused_and_nothing_is_written() {
    let storage = year(0..3);
    let before = content(&storage);
    let base = || days(3..5, 0.5, "days since 1970-01-01");
    let numbers = |shape: [u64; 2]| NdVec::new(shape, vec![0.0; 4]).unwrap();
    let without = |name: &str| {
        let mut new = NewDataset::new();
        if name != "t" {
            new = new.variable("t", NewVariable::new(["time", "x"], numbers([2, 2])));
        }
        new.coordinate(
            "time",
            NewVariable::new(
                ["time"],
                Times::new(Calendar::Standard, TimeUnit::Seconds, vec![3 * DAY, 4 * DAY]),
            ),
        )
    };
    for (new, variable, part) in [
        (
            base().coordinate("x", NewVariable::new(["x"], vec![10.0, 21.0])),
            "x",
            "differs from the stored one",
        ),
        (base().variable("new", NewVariable::new(["time"], vec![1, 2])), "new", "an append adds no variable"),
        (without("name"), "name", "must be appended to as well"),
        (base().variable("name", NewVariable::new(["time"], vec![1, 2])), "name", "type"),
        (
            base().variable("t", NewVariable::new(["x", "time"], numbers([2, 2]))),
            "t",
            "it has the dimensions",
        ),
        (
            base().variable("t", NewVariable::new(["time", "x"], numbers([2, 2])).attribute("units", "K")),
            "t",
            "the units are \"K\", expected none",
        ),
        (
            base().variable(
                "t",
                NewVariable::new(["time", "x"], NdVec::new([2, 2], vec![0.0, 1e9, 0.0, 0.0]).unwrap()),
            ),
            "t",
            "element 1",
        ),
    ] {
        let more = open(&stored(new));
        let error = open(&storage).append_from("time", &more, &FromOptions::new(), &|_| ()).unwrap_err();
        assert_eq!(error.variable(), Some(variable), "{error:#}");
        assert!(format!("{error:#}").contains(part), "{error:#}");
        assert_eq!(content(&storage), before, "{part}");
    }
    let other = open(&stored(base().coordinate("x", NewVariable::new(["x"], vec![10.0, 21.0]))));
    let options = FromOptions::new().any_coordinates(true);
    open(&storage).append_from("time", &other, &options, &|_| ()).unwrap();
    check(&open(&storage), &[0, 1, 2, 3, 4]);
}

#[test]
fn a_failed_append_leaves_the_old_dataset_and_can_be_repeated() {
    let more = year(4..8);
    for number in 2.. {
        let storage = year(0..4);
        let (faulty, layer) = Faulty::nth(&storage, number, Fault::System(28));
        let appended = open(&faulty).append_from("time", &open(&more), &FromOptions::new(), &|_| ());
        if layer.faults() == 0 {
            appended.unwrap();
            break;
        }
        let length = open(&storage).dimensions()["time"];
        let all: Vec<i64> = (0..i64::try_from(length).unwrap()).collect();
        check(&open(&storage), &all);
        check(&from_documents(&storage), &all);
        if length == 4 {
            assert!(appended.is_err(), "call {number}");
            open(&storage).append_from("time", &open(&more), &FromOptions::new(), &|_| ()).unwrap();
            check(&open(&storage), &[0, 1, 2, 3, 4, 5, 6, 7]);
        }
    }
}

#[test]
fn chunks_of_an_append_that_failed_are_erased() {
    let storage = year(0..4);
    let before = content(&storage);
    let numbers = NdVec::new([4, 2], vec![0.0, 0.0, 0.0, 0.0, 1e9, 0.0, 0.0, 0.0]).unwrap();
    let more =
        days(4..8, 0.5, "days since 1970-01-01").variable("t", NewVariable::new(["time", "x"], numbers));
    let options = FromOptions::new().bytes(1);
    open(&storage).append_from("time", &open(&stored(more)), &options, &|_| ()).unwrap_err();
    assert_eq!(content(&storage), before);
}

#[test]
fn a_stored_dataset_is_written_where_its_labels_are_or_where_a_selection_is() {
    let storage = year(0..8);
    let part = |range: std::ops::Range<i64>, value: f64| {
        let count = u64::try_from(range.end - range.start).unwrap();
        let numbers = NdVec::new([count, 2], vec![value; usize::try_from(count * 2).unwrap()]).unwrap();
        open(&stored(
            days(range, 0.25, "hours since 1970-01-02")
                .variable("t", NewVariable::new(["time", "x"], numbers)),
        ))
    };
    let rows = |dataset: &Dataset| {
        dataset.isel([("x", 0)]).unwrap().variable("t").unwrap().read::<f64>().unwrap().into_vec()
    };
    let options = FromOptions::new().bytes(1);
    let taken = open(&storage).write_from(&part(2..4, 70.0), &options, &|_| ()).unwrap();
    assert_eq!(
        (taken.region.get("time"), taken.variables),
        (Some(&(2..4)), vec!["name".to_owned(), "t".to_owned()])
    );
    assert_eq!(rows(&open(&storage)), [0.0, 1.0, 70.0, 70.0, 4.0, 5.0, 6.0, 7.0]);
    let selected = open(&storage).sel([("time", Labels::between("1970-01-06", "1970-01-07"))]).unwrap();
    selected.write_from(&part(5..7, 80.0), &options, &|_| ()).unwrap();
    let wanted = [0.0, 1.0, 70.0, 70.0, 4.0, 80.0, 80.0, 7.0];
    assert_eq!(rows(&open(&storage)), wanted);
    let error = selected.write_from(&part(4..6, 90.0), &options, &|_| ()).unwrap_err();
    assert!(error.to_string().contains("not those of the region"), "{error}");
    let error = selected.write_from(&part(5..8, 90.0), &options, &|_| ()).unwrap_err();
    assert!(error.to_string().contains("not those of the region"), "{error}");
    let error = open(&storage).write_from(&part(7..9, 90.0), &options, &|_| ()).unwrap_err();
    assert_eq!(error.kind(), XarrayErrorKind::NotFound, "{error}");
    assert_eq!(rows(&open(&storage)), wanted);
    selected.write_from(&part(4..6, 90.0), &options.any_coordinates(true), &|_| ()).unwrap();
    assert_eq!(rows(&open(&storage)), [0.0, 1.0, 70.0, 70.0, 4.0, 90.0, 90.0, 7.0]);
}
