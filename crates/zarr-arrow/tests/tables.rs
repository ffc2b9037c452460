//! Variables and tables as arrays of Arrow.

use zarr_arrow::arrow_60;
use zarr_arrow::arrow_60::arrow_array::cast::AsArray;
use zarr_arrow::arrow_60::arrow_array::types::{
    DurationSecondType, Float64Type, Int32Type, TimestampSecondType,
};
use zarr_arrow::arrow_60::arrow_array::{Array, RecordBatch};
use zarr_arrow::arrow_60::arrow_schema::{DataType, TimeUnit as Unit};
use zarr_hierarchy::zarr_array::{NdVec, Storage, standard};
use zarr_store::MemoryStore;
use zarr_xarray::blocking::Dataset;
use zarr_xarray::{
    Calendar, DecodeOptions, Decoded, Encoding, NewDataset, NewVariable, NumberType, Spans, TimeUnit, Times,
    XarrayErrorKind,
};

/// Two days and three stations; each variable but the indexes has a missing element.
fn stored() -> Dataset {
    let storage = Storage::from(MemoryStore::new());
    let packed = Encoding::new().data_type(NumberType::Int16).scale(0.5).missing(-1);
    let days = |calendar| Times::new(calendar, TimeUnit::Seconds, vec![0, 86_400]);
    let numbers = NdVec::new([2, 3], vec![0.0, 1.0, f64::NAN, 3.0, 4.0, 5.0]).unwrap();
    let new = NewDataset::new()
        .coordinate("time", NewVariable::new(["time"], days(Calendar::Standard)))
        .coordinate("x", NewVariable::new(["x"], vec!["a".to_owned(), "b".to_owned(), "c".to_owned()]))
        .variable("t", NewVariable::new(["time", "x"], numbers).encoding(packed))
        .variable("n", NewVariable::new(["time", "x"], NdVec::new([2, 3], (0_i32..6).collect()).unwrap()))
        .variable("flag", NewVariable::new(["x"], vec![true, false, true]))
        .variable("span", NewVariable::new(["time"], Spans::new(TimeUnit::Seconds, vec![60, i64::MIN])))
        .variable("model", NewVariable::new(["time"], days(Calendar::Days360)));
    Dataset::create(storage.clone(), "/", new, &standard()).unwrap();
    let group = zarr_hierarchy::blocking::Group::open(storage, "/", &standard()).unwrap();
    let mut options = DecodeOptions::default();
    options.times = Some(TimeUnit::Seconds);
    Dataset::open_with(group, &options).unwrap()
}

#[test]
fn missing_elements_are_null() {
    let dataset = stored();
    let read = |name: &str| arrow_60::array(&dataset.variable(name).unwrap().read_column().unwrap()).unwrap();
    let t = read("t");
    let found: Vec<_> = t.as_primitive::<Float64Type>().iter().collect();
    assert_eq!(found, [Some(0.0), Some(1.0), None, Some(3.0), Some(4.0), Some(5.0)]);
    assert_eq!(read("n").null_count(), 0);
    assert_eq!(read("flag").as_boolean().iter().flatten().collect::<Vec<_>>(), [true, false, true]);
    let time = read("time");
    assert_eq!(*time.data_type(), DataType::Timestamp(Unit::Second, None));
    assert_eq!(time.as_primitive::<TimestampSecondType>().values()[..], [0, 86_400]);
    let model = dataset.variable("model").unwrap().read_column().unwrap_err();
    assert_eq!((model.kind(), model.variable()), (XarrayErrorKind::Unsupported, Some("model")));
}

#[test]
fn parts_with_and_without_missing_elements_have_the_same_schema() {
    let dataset = stored();
    let [first, second] = [0..1, 1..2].map(|day| {
        let part = dataset.isel([("time", day)]).unwrap();
        arrow_60::record_batch(&part.read_table(["t", "n"]).unwrap()).unwrap()
    });
    assert_eq!((first["t"].null_count(), second["t"].null_count()), (1, 0));
    assert_eq!(first.schema(), second.schema());
}

#[test]
fn a_table_has_a_row_for_each_position_with_its_indexes() {
    let dataset = stored();
    let rows = |table: &RecordBatch| {
        let x = table["x"].as_string::<i64>().iter().flatten().map(str::to_owned).collect::<Vec<_>>();
        let time = table["time"].as_primitive::<TimestampSecondType>().values().to_vec();
        let n = table["n"].as_primitive::<Int32Type>().values().to_vec();
        (time, x, n)
    };
    let table = arrow_60::record_batch(&dataset.read_table(["t", "n"]).unwrap()).unwrap();
    let names: Vec<_> = table.schema().fields().iter().map(|field| field.name().clone()).collect();
    assert_eq!(names, ["time", "x", "t", "n"]);
    let (time, x, n) = rows(&table);
    assert_eq!((time, n), (vec![0, 0, 0, 86_400, 86_400, 86_400], (0..6).collect()));
    assert_eq!(x, ["a", "b", "c", "a", "b", "c"]);
    let part = dataset.isel([("x", 1..3)]).unwrap().isel([("time", 1..2)]).unwrap();
    let (time, x, n) = rows(&arrow_60::record_batch(&part.read_table(["n"]).unwrap()).unwrap());
    assert_eq!((time, x, n), (vec![86_400; 2], vec!["b".to_owned(), "c".to_owned()], vec![4, 5]));
    for names in [&["t", "flag"][..], &[]] {
        assert_eq!(dataset.read_table(names).unwrap_err().kind(), XarrayErrorKind::Invalid);
    }
}

#[test]
fn spans_are_durations() {
    let dataset = stored();
    let variable = dataset.variable("span").unwrap();
    let Decoded::Spans { spans, .. } = variable.read_any().unwrap() else { panic!("no spans") };
    let read = arrow_60::array(&variable.read_column().unwrap()).unwrap();
    assert_eq!((read.null_count(), read.is_null(1)), (1, true));
    if spans.unit() == TimeUnit::Seconds {
        assert_eq!(read.as_primitive::<DurationSecondType>().value(0), 60);
    }
}
