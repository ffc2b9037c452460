//! Appends: what comes back, what is refused, what readers see, and several writers at once.

use std::error::Error;
use std::iter;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use zarr_conformance::instruments::{Counting, Fault, Faulty};
use zarr_hierarchy::blocking::Group;
use zarr_hierarchy::zarr_array::traits::{Prefix, StoreError};
use zarr_hierarchy::zarr_array::{NdVec, Storage, block_on, standard};
use zarr_hierarchy::{GroupOptions, UseConsolidated};
use zarr_store::MemoryStore;
use zarr_store_fs::FsStore;
use zarr_xarray::blocking::Dataset;
use zarr_xarray::{
    Append, Calendar, Encoding, Format, NewDataset, NewVariable, NumberType, TimeUnit, Times, XarrayErrorKind,
};

const DAY: i64 = 86_400;

/// Variables of each kind along days: packed numbers, texts, and the times themselves.
fn days(from: i64, to: i64) -> NewDataset {
    let times = Times::new(Calendar::Standard, TimeUnit::Seconds, (from..to).map(|day| day * DAY).collect());
    let numbers: Vec<f64> = (from..to).flat_map(|day| [day as f64, f64::NAN]).collect();
    let shape = [u64::try_from(to - from).unwrap(), 2];
    NewDataset::new()
        .coordinate("time", NewVariable::new(["time"], times))
        .variable("t", NewVariable::new(["time", "x"], NdVec::new(shape, numbers).unwrap()))
        .variable(
            "name",
            NewVariable::new(["time"], (from..to).map(|day| day.to_string()).collect::<Vec<_>>()),
        )
}

/// The first days, with their encodings.
fn create(storage: &Storage) {
    let packed = Encoding::new().data_type(NumberType::Int16).scale(0.5).missing(-1).chunks([2, 2]);
    let times = Times::new(Calendar::Standard, TimeUnit::Seconds, (0..3).map(|day| day * DAY).collect());
    let numbers = NdVec::new([3, 2], (0..3).flat_map(|day| [f64::from(day), f64::NAN]).collect()).unwrap();
    let new = days(0, 3)
        .attribute("title", "days")
        .coordinate("x", NewVariable::new(["x"], vec![10.0, 20.0]))
        .coordinate("time", NewVariable::new(["time"], times).encoding(Encoding::new().chunks([4])))
        .variable("t", NewVariable::new(["time", "x"], numbers).encoding(packed));
    Dataset::create(storage.clone(), "/", new, &standard()).unwrap();
}

fn memory() -> Storage {
    let storage = Storage::from(MemoryStore::new());
    create(&storage);
    storage
}

pub(crate) fn open(storage: &Storage) -> Dataset {
    Dataset::open(Group::open(storage.clone(), "/", &standard()).unwrap()).unwrap()
}

pub(crate) fn from_documents(storage: &Storage) -> Dataset {
    let options = GroupOptions::new().use_consolidated(UseConsolidated::Ignore);
    Dataset::open(Group::open_with(storage.clone(), "/", &standard(), &options).unwrap()).unwrap()
}

/// All objects of a store.
pub(crate) fn content(storage: &Storage) -> Vec<(String, Vec<u8>)> {
    let keys = block_on(storage.list(&Prefix::root(), None)).unwrap().entries;
    let get = |key| block_on(storage.get(key, u64::MAX)).unwrap().unwrap().to_vec();
    keys.iter().map(|entry| (entry.key.as_str().to_owned(), get(&entry.key))).collect()
}

/// Checks that all variables have the same days, each of them once and in the order of `days`.
fn check(dataset: &Dataset, days: &[i64]) {
    let times = dataset.variable("time").unwrap().read_times().unwrap();
    let seconds = times.in_unit(TimeUnit::Seconds).unwrap();
    assert_eq!(seconds.values().iter().map(|second| second / DAY).collect::<Vec<_>>(), days);
    let numbers = dataset.variable("t").unwrap().read_masked::<f64>().unwrap().into_vec();
    let wanted: Vec<_> = days.iter().flat_map(|day| [Some(*day as f64), None]).collect();
    assert_eq!(numbers, wanted);
    let names = dataset.variable("name").unwrap().read_masked::<String>().unwrap().into_vec();
    assert_eq!(
        names.into_iter().flatten().collect::<Vec<_>>(),
        days.iter().map(i64::to_string).collect::<Vec<_>>()
    );
}

#[test]
fn appended_parts_come_back_in_the_stored_encodings() {
    let storage = memory();
    let mut dataset = open(&storage);
    let all: Vec<i64> = (0..9).collect();
    for (from, to) in [(3, 4), (4, 4), (4, 9)] {
        dataset.append("time", days(from, to)).unwrap();
        let days = &all[..usize::try_from(to).unwrap()];
        for dataset in [&dataset, &open(&storage), &from_documents(&storage)] {
            check(dataset, days);
        }
    }
    let raw = dataset.variable("t").unwrap().read_raw::<i16>().unwrap();
    assert_eq!(raw.into_vec()[8..12], [8, -1, 10, -1]);
    assert_eq!(dataset.attributes().get("title").unwrap().to_text().unwrap(), "days");

    // Without consolidated metadata the documents have the new shapes.
    let mut group = Group::open(storage.clone(), "/", &standard()).unwrap();
    group.remove_consolidated().unwrap();
    let mut dataset = open(&storage);
    dataset.append("time", days(9, 10).attribute("title", "more")).unwrap();
    check(&dataset, &(0..10).collect::<Vec<_>>());
    assert_eq!(open(&storage).attributes().get("title").unwrap().to_text().unwrap(), "more");
}

#[test]
fn times_get_the_stored_units_and_calendar() {
    let storage = memory();
    let mut dataset = open(&storage);
    let times =
        Times::new(Calendar::ProlepticGregorian, TimeUnit::Nanoseconds, vec![3 * DAY * 1_000_000_000]);
    dataset.append("time", days(3, 4).coordinate("time", NewVariable::new(["time"], times))).unwrap();
    check(&dataset, &[0, 1, 2, 3]);
    assert_eq!(dataset.variable("time").unwrap().read_raw::<i64>().unwrap().into_vec(), [0, 1, 2, 3]);
}

#[test]
fn other_variables_are_overwritten_and_indexes_are_compared() {
    let storage = Storage::from(MemoryStore::new());
    let of = |dimension: &str, values: Vec<f32>| NewVariable::new([dimension], values);
    let new = |values: &[f32]| NewDataset::new().variable("v", of("time", values.to_vec()));
    let first = new(&[1.0]).coordinate("x", of("x", vec![1.0, 2.0])).variable("s", of("x", vec![0.0; 2]));
    let mut dataset = Dataset::create(storage.clone(), "/", first, &standard()).unwrap();
    let more = new(&[2.0]).coordinate("x", of("x", vec![1.0, 2.0])).variable("s", of("x", vec![5.0; 2]));
    dataset.append("time", more.clone()).unwrap();
    assert_eq!(dataset.variable("s").unwrap().read::<f32>().unwrap().into_vec(), [5.0; 2]);
    let before = content(&storage);
    let error = dataset.append("time", more.coordinate("x", of("x", vec![1.0, 3.0]))).unwrap_err();
    assert_eq!((error.kind(), error.variable()), (XarrayErrorKind::Invalid, Some("x")));
    assert_eq!(content(&storage), before);
}

#[test]
fn a_refused_append_leaves_the_store_as_it_was() {
    let storage = memory();
    let of = |values: Vec<f64>| NewVariable::new(["time", "x"], NdVec::new([1, 2], values).unwrap());
    let time = |calendar, unit, count| NewVariable::new(["time"], Times::new(calendar, unit, vec![count]));
    let half_a_day = time(Calendar::Standard, TimeUnit::Seconds, 3 * DAY + DAY / 2);
    let names = NewVariable::new(["time"], vec!["a".to_owned(), "b".to_owned()]);
    let missing = NewDataset::new().coordinate("time", time(Calendar::Standard, TimeUnit::Seconds, 3 * DAY));
    let integers = NewVariable::new(["time", "x"], NdVec::new([1, 2], vec![1_i64, 2]).unwrap());
    let turned = NewVariable::new(["x", "time"], NdVec::new([2, 1], vec![1.0, 2.0]).unwrap());
    let rows: [(NewDataset, XarrayErrorKind, &str); 13] = [
        (missing, XarrayErrorKind::Invalid, "name"),
        (days(3, 4).variable("u", NewVariable::new(["time"], vec![1.0])), XarrayErrorKind::Invalid, "u"),
        (days(3, 4).variable("name", names), XarrayErrorKind::Invalid, "positions"),
        (
            days(3, 4).variable("name", NewVariable::new(["time"], vec![1.0])),
            XarrayErrorKind::Invalid,
            "type",
        ),
        (days(3, 4).variable("t", integers), XarrayErrorKind::Invalid, "int64"),
        (days(3, 4).variable("t", of(vec![0.0, 1e6])), XarrayErrorKind::OutOfRange, "element 1"),
        (days(3, 4).variable("t", of(vec![-0.5, 0.0])), XarrayErrorKind::OutOfRange, "missing"),
        (days(3, 4).variable("t", turned), XarrayErrorKind::Invalid, "dimensions"),
        (
            days(3, 4).variable("t", NewVariable::new(["time"], vec![1.0])),
            XarrayErrorKind::Invalid,
            "dimensions",
        ),
        (
            days(3, 4).variable("t", of(vec![0.0; 2]).attribute("units", "K")),
            XarrayErrorKind::Invalid,
            "units",
        ),
        (
            days(3, 4).variable("t", of(vec![0.0; 2]).encoding(Encoding::new().scale(2.0))),
            XarrayErrorKind::Invalid,
            "encoding",
        ),
        (days(3, 4).coordinate("time", half_a_day), XarrayErrorKind::OutOfRange, "element 0"),
        (
            days(3, 4).coordinate("time", time(Calendar::Days360, TimeUnit::Seconds, 3 * DAY)),
            XarrayErrorKind::Invalid,
            "360_day",
        ),
    ];
    let before = content(&storage);
    for (more, kind, part) in rows {
        for how in [Append::Alone, Append::Shared] {
            let error = open(&storage).append_with("time", more.clone(), how).unwrap_err();
            assert_eq!(error.kind(), kind, "{error:#}");
            assert!(format!("{error:#}").contains(part), "{error:#}");
        }
    }
    assert!(open(&storage).append("nope", days(3, 4)).is_err());
    assert!(open(&storage).isel([("time", 0..2)]).unwrap().append("time", days(3, 4)).is_err());
    assert_eq!(content(&storage), before);
}

/// The encodings of [`day`].
fn packed() -> Encoding {
    Encoding::new().data_type(NumberType::Int16).scale(0.25).offset(100.0).missing(-1).missing_value(-1)
}

fn hourly() -> Encoding {
    Encoding::new().units("hours since 2020-01-01").calendar("standard").data_type(NumberType::Int32)
}

/// All of a day, the same for the first day and each later one.
fn day(number: i64, format: Format) -> NewDataset {
    let first = 18_262 * DAY; // 2020-01-01
    let hours = (0..24).map(|hour| first + number * DAY + hour * 3600).collect();
    let hours = Times::new(Calendar::Standard, TimeUnit::Seconds, hours);
    let values = NdVec::new([24, 2], (0..24).flat_map(|hour| [f64::from(hour), f64::NAN]).collect()).unwrap();
    let area = NdVec::new([2], vec![1.5, 2.5]).unwrap();
    let zstd = [zarr_meta::codecs::zstd(3)];
    let chunks = packed().chunks([12, 1]).codecs(zstd).coordinates(["area"]);
    let chunks = if format == Format::V3 { chunks.shards([24, 2]) } else { chunks };
    let names = (0..24).map(|hour| format!("{number} {hour}")).collect::<Vec<_>>();
    NewDataset::new()
        .format(format)
        .attribute("title", "days")
        .coordinate("time", NewVariable::new(["time"], hours).encoding(hourly().chunks([24])))
        .coordinate("x", NewVariable::new(["x"], vec![1.0, 2.0]).encoding(Encoding::new().missing(f64::NAN)))
        .coordinate("area", NewVariable::new(["x"], area).encoding(Encoding::new().without_missing()))
        .variable("t", NewVariable::new(["time", "x"], values).attribute("units", "K").encoding(chunks))
        .variable("name", NewVariable::new(["time"], names).encoding(Encoding::new().chunks([24])))
}

#[test]
fn the_first_day_and_later_days_are_the_same_dataset() {
    for format in [Format::V3, Format::V2] {
        let storage = Storage::from(MemoryStore::new());
        let mut dataset = Dataset::create(storage.clone(), "/", day(0, format), &standard()).unwrap();
        dataset.append("time", day(1, format)).unwrap();
        open(&storage).append("time", day(2, format)).unwrap();
        let dataset = open(&storage);
        let raw = dataset.variable("time").unwrap().read_raw::<i32>().unwrap().into_vec();
        assert_eq!(raw, (0..72).collect::<Vec<_>>());
        let values = dataset.variable("t").unwrap().read::<f64>().unwrap().into_vec();
        let hours: Vec<f64> = values.into_iter().step_by(2).collect();
        assert_eq!(hours, (0..72).map(|hour| f64::from(hour % 24)).collect::<Vec<_>>());
        dataset.write_region(day(1, format)).unwrap();
    }
}

/// Units that are too coarse for the first day are replaced by finer ones, which later days use as well.
#[test]
fn refined_units_are_no_other_encoding() {
    let day = |number: i64| {
        let encoding = Encoding::new().units("days since 1970-01-01").data_type(NumberType::Int64);
        let hours = Times::new(Calendar::Standard, TimeUnit::Seconds, vec![number * DAY + 3600]);
        NewDataset::new().coordinate("time", NewVariable::new(["time"], hours).encoding(encoding))
    };
    let storage = Storage::from(MemoryStore::new());
    let mut dataset = Dataset::create(storage, "/", day(0), &standard()).unwrap();
    dataset.append("time", day(1)).unwrap();
    assert_eq!(dataset.variable("time").unwrap().read_raw::<i64>().unwrap().into_vec(), [1, 25]);
}

#[test]
fn an_encoding_that_differs_from_the_stored_one_is_refused_by_name() {
    let storage = Storage::from(MemoryStore::new());
    Dataset::create(storage.clone(), "/", day(0, Format::V3), &standard()).unwrap();
    let before = content(&storage);
    let refused = |variable: &str, encoding: Encoding, name: &str| {
        let mut more = day(1, Format::V3);
        let new = match variable {
            "t" => NewVariable::new(["time", "x"], NdVec::new([24, 2], vec![0.0; 48]).unwrap()),
            "x" => NewVariable::new(["x"], vec![1.0, 2.0]),
            _ => {
                let hours = (24..48).map(|hour| 18_262 * DAY + hour * 3600).collect();
                NewVariable::new(["time"], Times::new(Calendar::Standard, TimeUnit::Seconds, hours))
            }
        };
        more = more.variable(variable, new.encoding(encoding));
        let error = open(&storage).append("time", more).unwrap_err();
        assert_eq!(error.kind(), XarrayErrorKind::Invalid, "{error}");
        let text = format!("{error:#}");
        assert!(text.contains("its stored encoding is kept") && text.contains(name), "{name}: {text}");
    };
    refused("t", packed().data_type(NumberType::Int32), "data_type is int16, and int32 is given");
    refused("t", packed().scale(0.5), "scale is 0.25, and 0.5 is given");
    refused("t", packed().offset(0.0), "offset is 100, and 0 is given");
    refused("t", packed().missing(-2), "missing is -1, and -2 is given");
    refused("t", packed().without_missing(), "missing is -1, and none is given");
    refused("t", packed().missing_value(-2), "missing_value is -1, and -2 is given");
    refused("t", packed().coordinates(["time"]), "coordinates is area, and time is given");
    refused("t", packed().units("hours"), "units is none, and hours is given");
    refused("t", packed().texts_as_bytes(), "texts_as_bytes is false, and true is given");
    refused("t", packed().chunks([24, 1]), "other chunks than the given [24, 1]");
    refused("t", packed().shards([24, 1]), "other shards than the given [24, 1]");
    refused("t", packed().codecs([zarr_meta::codecs::zstd(4)]), "other codecs than the given [\"zstd\"]");
    refused("x", Encoding::new().missing(9.0), "missing is none, and 9 is given");
    refused("time", hourly().units("hours since 2020-01-02"), "units is hours since 2020-01-01");
    refused("time", hourly().units("minutes since 2020-01-01"), "and minutes since 2020-01-01 is given");
    refused("time", hourly().calendar("noleap"), "calendar is standard, and noleap is given");
    assert_eq!(content(&storage), before);
}

/// The labels of an index that is in order must go on. With other writers none may be there already.
#[test]
fn labels_that_are_stored_already_are_refused() {
    let cases = [
        (
            Append::Alone,
            [2, 4],
            Some("begin with 1970-01-03, which does not come after the last stored one, 1970-01-03"),
        ),
        (Append::Alone, [0, 1], Some("begin with 1970-01-01")),
        (Append::Alone, [3, 4], None),
        (Append::Alone, [7, 8], None),
        (Append::Shared, [2, 4], Some("the new label 1970-01-03 is stored already")),
        (Append::Shared, [7, 8], None),
    ];
    for (how, [from, to], message) in cases {
        let storage = memory();
        let before = content(&storage);
        let appended = open(&storage).append_with("time", days(from, to), how);
        match (appended, message) {
            (Ok(()), None) => {}
            (Err(error), Some(message)) => {
                assert_eq!((error.kind(), error.variable()), (XarrayErrorKind::Invalid, Some("time")));
                assert!(error.to_string().contains(message), "{error}");
                assert_eq!(content(&storage), before, "{how:?} {from}");
            }
            (appended, message) => panic!("{how:?} {from}: {appended:?}, expected {message:?}"),
        }
    }
    // Other writers may be faster, so the order is theirs.
    let storage = memory();
    open(&storage).append_with("time", days(7, 8), Append::Shared).unwrap();
    open(&storage).append_with("time", days(5, 6), Append::Shared).unwrap();
    check(&open(&storage), &[0, 1, 2, 7, 5]);
    // An index without order may get any label.
    open(&storage).append("time", days(4, 5)).unwrap();
    check(&open(&storage), &[0, 1, 2, 7, 5, 4]);
}

#[test]
fn an_append_with_an_old_handle_writes_nothing() {
    let storage = memory();
    let mut old = open(&storage);
    open(&storage).append("time", days(3, 5)).unwrap();
    let before = content(&storage);
    let error = old.append("time", days(3, 4)).unwrap_err();
    assert_eq!((error.kind(), error.variable()), (XarrayErrorKind::Access, Some("time")));
    assert_eq!(content(&storage), before);
}

/// The number of a full disk in Linux.
const FULL: i32 = 28;

#[test]
fn a_failed_append_is_undone_and_can_be_repeated() {
    let all = [0, 1, 2, 3];
    for how in [Append::Alone, Append::Shared] {
        // The first call opens the dataset.
        for number in 2.. {
            let storage = memory();
            let (faulty, layer) = Faulty::nth(&storage, number, Fault::System(FULL));
            let appended = open(&faulty).append_with("time", days(3, 4), how);
            if layer.faults() == 0 {
                appended.unwrap();
                break;
            }
            if let Err(e) = &appended {
                let mut causes = iter::successors(e.source(), |e| (*e).source());
                let found = causes.find_map(|e| e.downcast_ref::<StoreError>()?.raw_os_error());
                assert_eq!(found, Some(FULL), "{how:?}, call {number}: {e:#}");
            }
            let seen = open(&storage);
            let length = usize::try_from(seen.dimensions()["time"]).unwrap();
            check(&seen, &all[..length]);
            check(&from_documents(&storage), &all[..length]);
            if length == 3 {
                assert!(appended.is_err(), "{how:?}, call {number}");
                open(&storage).append_with("time", days(3, 4), how).unwrap();
                check(&open(&storage), &all);
            }
        }
    }
}

#[test]
fn an_append_costs_few_requests() {
    let storage = Storage::from(MemoryStore::new());
    let of = |length: u64| {
        let mut new = NewDataset::new()
            .coordinate("time", NewVariable::new(["time"], vec![0_i64; length.try_into().unwrap()]));
        for number in 0..26 {
            let values =
                NdVec::new([length, 2], vec![1.0_f32; usize::try_from(length * 2).unwrap()]).unwrap();
            new = new.variable(&format!("v{number}"), NewVariable::new(["time", "x"], values));
        }
        new
    };
    let mut first = of(4);
    for number in 0..26 {
        let values = NdVec::new([4, 2], vec![1.0_f32; 8]).unwrap();
        let chunks = Encoding::new().chunks([1, 2]);
        first =
            first.variable(&format!("v{number}"), NewVariable::new(["time", "x"], values).encoding(chunks));
    }
    Dataset::create(storage.clone(), "/", first, &standard()).unwrap();
    let (counted, counting) = Counting::over(&storage);
    let mut dataset = open(&counted);
    for (how, most) in [(Append::Alone, 87), (Append::Shared, 89)] {
        let before = counting.counts();
        dataset.append_with("time", of(1), how).unwrap();
        let used = counting.counts() - before;
        assert!(used.requests() <= most, "{how:?}: {used:?}");
    }
}

/// Appends `count` times two days that begin with `first`.
fn append_days(storage: &Storage, first: i64, count: i64) {
    for number in 0..count {
        let from = first + 2 * number;
        open(storage).append_with("time", days(from, from + 2), Append::Shared).unwrap();
    }
}

/// Checks that all pairs of days are there, each whole and once, in any order.
fn check_pairs(storage: &Storage, writers: i64, count: i64) {
    let dataset = open(storage);
    let times = dataset.variable("time").unwrap().read_times().unwrap().in_unit(TimeUnit::Seconds).unwrap();
    let found: Vec<i64> = times.values().iter().map(|second| second / DAY).collect();
    check(&dataset, &found);
    let (start, pairs) = found.split_at(3);
    assert_eq!(start, [0, 1, 2]);
    let mut firsts: Vec<i64> = pairs
        .as_chunks()
        .0
        .iter()
        .map(|[first, second]| {
            assert_eq!(first + 1, *second);
            *first
        })
        .collect();
    firsts.sort_unstable();
    let wanted: Vec<i64> =
        (0..writers).flat_map(|writer| (0..count).map(move |n| 1000 * (writer + 1) + 2 * n)).collect();
    assert_eq!(firsts, wanted);
}

#[test]
fn threads_that_append_together_lose_nothing_and_readers_see_whole_parts() {
    let storage = memory();
    let (writers, count) = (4, 4);
    let is_done = Arc::new(AtomicBool::new(false));
    let reader = std::thread::spawn({
        let (storage, is_done) = (storage.clone(), is_done.clone());
        move || {
            while !is_done.load(Ordering::Relaxed) {
                let dataset = open(&storage);
                let times = dataset.variable("time").unwrap().read_times().unwrap();
                let found = times.in_unit(TimeUnit::Seconds).unwrap();
                check(&dataset, &found.values().iter().map(|second| second / DAY).collect::<Vec<_>>());
            }
        }
    });
    std::thread::scope(|scope| {
        for writer in 0..writers {
            let storage = &storage;
            scope.spawn(move || append_days(storage, 1000 * (writer + 1), count));
        }
    });
    is_done.store(true, Ordering::Relaxed);
    reader.join().unwrap();
    check_pairs(&storage, writers, count);
    check(&from_documents(&storage), &{
        let times = open(&storage).variable("time").unwrap().read_times().unwrap();
        times
            .in_unit(TimeUnit::Seconds)
            .unwrap()
            .values()
            .iter()
            .map(|second| second / DAY)
            .collect::<Vec<_>>()
    });
}

/// The variable that makes the test below a writer: the directory and the number of the writer.
const WRITER: &str = "ZARR_XARRAY_APPEND_WRITER";

#[test]
fn processes_that_append_together_lose_nothing() {
    if let Ok(writer) = std::env::var(WRITER) {
        let (number, directory) = writer.split_once(' ').unwrap();
        let storage = Storage::from(FsStore::open(directory).unwrap());
        return append_days(&storage, 1000 * number.parse::<i64>().unwrap(), 3);
    }
    let directory = tempfile::tempdir().unwrap();
    let storage = Storage::from(FsStore::create(directory.path()).unwrap());
    create(&storage);
    let program = std::env::current_exe().unwrap();
    let writer = |number: i64| {
        let mut writer = Command::new(&program);
        writer.args(["--exact", "append::processes_that_append_together_lose_nothing"]);
        writer.env(WRITER, format!("{number} {}", directory.path().display())).spawn().unwrap()
    };
    let writers: Vec<_> = (1..=3).map(writer).collect();
    for mut writer in writers {
        assert!(writer.wait().unwrap().success());
    }
    check_pairs(&storage, 3, 3);
}
