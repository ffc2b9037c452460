//! Arrays of Arrow, read from and written to arrays in Zarr.
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{
    Array as _, ArrayRef, BinaryArray, BinaryViewArray, BooleanArray, DurationMillisecondArray,
    FixedSizeBinaryArray, Float16Array, Float32Array, Int8Array, Int64Array, LargeBinaryArray,
    LargeStringArray, StringArray, StringViewArray, TimestampSecondArray, UInt16Array,
};
use zarr_array::ArrayErrorKind::{Corrupt, InvalidArgument, LimitExceeded, Unsupported};
use zarr_array::blocking::Array;
use zarr_array::traits::extension::{Context, Spec};
use zarr_array::traits::json::{Value, json};
use zarr_array::{
    ArrayErrorKind, ArrayMeta, ArrayResult, Column, DataType, FillValue, Limits, Selection, Storage,
    block_on, standard,
};
use zarr_arrow::arrow_60::{self, arrow_array, arrow_schema};
use zarr_conformance::instruments::Counting;
use zarr_store::MemoryStore;

/// Calls of `read_column` and `write_column` with arrays of Arrow.
trait ByArrow {
    fn read_arrow(&self, selection: impl Into<Selection>) -> ArrayResult<(Vec<u64>, ArrayRef)>;
    fn write_arrow(
        &self,
        selection: impl Into<Selection>,
        values: &dyn arrow_array::Array,
    ) -> ArrayResult<()>;
}

impl ByArrow for Array {
    fn read_arrow(&self, selection: impl Into<Selection>) -> ArrayResult<(Vec<u64>, ArrayRef)> {
        self.read_column(selection).map(arrays)
    }

    fn write_arrow(
        &self,
        selection: impl Into<Selection>,
        values: &dyn arrow_array::Array,
    ) -> ArrayResult<()> {
        self.write_column(selection, &arrow_60::column(values).unwrap())
    }
}

fn arrays((shape, column): (Vec<u64>, Column)) -> (Vec<u64>, ArrayRef) {
    (shape, arrow_60::array(&column).unwrap())
}

/// Returns a data type of the standard registry by its name and configuration. Null means no configuration.
fn data_type(name: &str, configuration: Value) -> DataType {
    let (registry, limits) = (standard(), Limits::default());
    let spec = Spec::new(name, configuration).unwrap();
    registry.data_type(&spec, &Context::new(&registry, &limits)).unwrap().0
}

/// Returns the kind and the message of an error, without the name of the array, which is `/a`.
fn refused<T>(result: ArrayResult<T>) -> (ArrayErrorKind, String) {
    let e = result.err().unwrap();
    let text = format!("{e:#}");
    (e.kind(), text.strip_prefix("array \"/a\": ").unwrap_or(&text).to_owned())
}

/// Creates an array of 3 x 4 elements in chunks of 2 x 3.
fn create(storage: impl Into<Storage>, data_type: DataType, fill: impl Into<Arc<[u8]>>) -> Array {
    let fill = FillValue::from_bytes(fill);
    let meta = ArrayMeta::builder([3, 4], data_type).chunks([2, 3]).fill(fill).build().unwrap();
    Array::create(storage, "/a", meta, &standard()).unwrap()
}

/// Creates the same array with a data type of the standard registry and a fill value of zeros.
fn array(name: &str, configuration: Value) -> Array {
    let data_type = data_type(name, configuration);
    let fill = vec![0; data_type.size().unwrap_or(0)];
    create(MemoryStore::new(), data_type, fill)
}

fn time(kind: &str, unit: &str, scale: i32) -> Array {
    array(&format!("numpy.{kind}64"), json!({"unit": unit, "scale_factor": scale}))
}

#[test]
fn every_type_round_trips() {
    let fixed = json!({"length_bytes": 8});
    let bytes: Vec<&[u8]> = vec![b"a\0b", b""];
    let raw: Vec<&[u8]> = vec![b"a\0b45678", b"\0\0\0\0\0\0\0\0"];
    let halves = [1.5, -2.0].map(half::f16::from_f32).to_vec();
    let cases: Vec<(Array, ArrayRef)> = vec![
        (array("bool", Value::null()), Arc::new(BooleanArray::from(vec![true, false]))),
        (array("int8", Value::null()), Arc::new(Int8Array::from(vec![-1, 2]))),
        (array("uint16", Value::null()), Arc::new(UInt16Array::from(vec![1, 65535]))),
        (array("int64", Value::null()), Arc::new(Int64Array::from(vec![i64::MIN, 2]))),
        (array("float16", Value::null()), Arc::new(Float16Array::from(halves))),
        (array("float32", Value::null()), Arc::new(Float32Array::from(vec![1.5, f32::INFINITY]))),
        (array("string", Value::null()), Arc::new(LargeStringArray::from(vec!["é漢", ""]))),
        (array("bytes", Value::null()), Arc::new(LargeBinaryArray::from(bytes.clone()))),
        (array("fixed_length_utf32", fixed.clone()), Arc::new(LargeStringArray::from(vec!["é漢", ""]))),
        (array("null_terminated_bytes", fixed.clone()), Arc::new(LargeBinaryArray::from(bytes))),
        (array("raw_bytes", fixed), Arc::new(FixedSizeBinaryArray::try_from(raw.clone()).unwrap())),
        (array("r64", Value::null()), Arc::new(FixedSizeBinaryArray::try_from(raw).unwrap())),
        (time("datetime", "s", 1), Arc::new(TimestampSecondArray::from(vec![Some(-1), None]))),
        (time("timedelta", "ms", 1), Arc::new(DurationMillisecondArray::from(vec![None, Some(7)]))),
    ];
    for (array, values) in cases {
        let name = array.data_type().to_string();
        array.write_arrow((1, 1..3), &values).unwrap();
        let (shape, read) = array.read_arrow((1, 1..3)).unwrap();
        assert_eq!((shape, &read), (vec![2], &values), "{name}");
        // A slice does not start at the start of its buffer.
        array.write_arrow((2, 3), &values.slice(1, 1)).unwrap();
        assert_eq!(&array.read_arrow((2, 3..)).unwrap().1, &values.slice(1, 1), "{name}");
        let (shape, all) = block_on(array.clone().into_async().read_column(..)).map(arrays).unwrap();
        assert_eq!((shape, all.len(), &all.slice(5, 2)), (vec![3, 4], 12, &values), "{name}");
        let (kind, message) = refused(array.write_arrow((1, 1..4), &values));
        assert_eq!(
            (kind, message.as_str()),
            (InvalidArgument, "the selection has shape [3], there are 2 values")
        );
    }
}

#[test]
fn strings_and_bytes_are_written_from_every_layout() {
    let array = array("string", Value::null());
    let words = vec!["", "漢字", "a string that is longer than a view holds"];
    let layouts: [ArrayRef; 3] = [
        Arc::new(StringArray::from(words.clone())),
        Arc::new(StringViewArray::from(words.clone())),
        Arc::new(LargeStringArray::from(words.clone())),
    ];
    for layout in layouts {
        array.write_arrow((0, ..3), &layout).unwrap();
        assert_eq!(array.read::<String>((0, ..3)).unwrap().as_slice(), words, "{}", layout.data_type());
        array.write_arrow((0, ..2), &layout.slice(1, 2)).unwrap();
        assert_eq!(
            array.read_arrow((0, ..2)).unwrap().1.as_string::<i64>(),
            &LargeStringArray::from(words[1..].to_vec())
        );
    }
    let array = self::array("bytes", Value::null());
    let blobs: Vec<&[u8]> = vec![&[0xff], &[], b"bytes that are longer than a view holds"];
    let layouts: [ArrayRef; 2] =
        [Arc::new(BinaryArray::from(blobs.clone())), Arc::new(BinaryViewArray::from(blobs.clone()))];
    for layout in layouts {
        array.write_arrow((0, ..3), &layout).unwrap();
        assert_eq!(array.read::<Vec<u8>>((0, ..3)).unwrap().into_vec(), blobs, "{}", layout.data_type());
    }
}

#[test]
fn values_without_an_equivalent_in_arrow_or_the_array_are_refused() {
    let invalid = |message: &str| (InvalidArgument, message.to_owned());
    let string = array("string", Value::null());
    let words = StringArray::from(vec![Some("a"), None]);
    assert_eq!(
        refused(string.write_arrow((1, 2..), &words)),
        invalid("the element at [1, 3] is null, but string has no null")
    );
    let numbers = UInt16Array::from(vec![None, Some(1)]);
    let e = invalid("the element at [1, 2] is null, but uint16 has no null");
    assert_eq!(refused(array("uint16", Value::null()).write_arrow((1, 2..), &numbers)), e);
    let numbers = UInt16Array::from(vec![1, 2]);
    assert_eq!(
        refused(string.write_arrow((1, 2..), &numbers)),
        invalid("the data type is string, not UInt16")
    );
    assert_eq!(refused(array("int16", Value::null()).write_arrow((1, 2..), &numbers)).0, InvalidArgument);
    assert_eq!(
        refused(array("bytes", Value::null()).write_arrow((1, 2..), &StringArray::from(vec!["", ""]))).0,
        InvalidArgument
    );
    let long = invalid("the element at [1, 3] has 3 code points, at most 2 fit");
    let utf32 = array("fixed_length_utf32", json!({"length_bytes": 8}));
    assert_eq!(refused(utf32.write_arrow((1, 2..), &StringArray::from(vec!["ab", "abc"]))), long);
    utf32.write_bytes((2, 3), [0, 0x11_0000_u32].map(u32::to_ne_bytes).concat()).unwrap();
    assert_eq!(
        refused(utf32.read_arrow((2.., ..))),
        (Corrupt, "the element at [2, 3] holds 0x110000, which is not a character".into())
    );

    let hours = time("datetime", "h", 6);
    let e = (Unsupported, "Arrow has no type for numpy.datetime64 in steps of 6 h".to_owned());
    assert_eq!(refused(hours.read_arrow(..)), e);
    assert_eq!(refused(time("datetime", "M", 1).read_arrow(..)).0, Unsupported);
    hours.write_arrow((0, 0), &Int64Array::from(vec![7])).unwrap(); // plain steps can be written
    assert_eq!(hours.read::<i64>((0, 0)).unwrap().as_slice(), [7]);
    let seconds = time("datetime", "s", 1);
    let e = invalid("the element at [0, 0] is out of range, because that number means NaT");
    assert_eq!(refused(seconds.write_arrow((0, 0), &TimestampSecondArray::from(vec![i64::MIN]))), e);
    assert_eq!(
        refused(seconds.write_arrow((0, 0), &DurationMillisecondArray::from(vec![1]))).0,
        InvalidArgument
    );
    let e = (Unsupported, "Arrow has no type for complex64".to_owned());
    assert_eq!(refused(array("complex64", Value::null()).read_arrow(..)), e);
}

#[test]
fn a_long_fill_value_does_not_exceed_the_limit_of_a_result() {
    let mut limits = Limits::default();
    limits.result_bytes = 1900;
    for data_type in [DataType::String, DataType::Bytes] {
        let array = create(MemoryStore::new(), data_type, vec![b'x'; 1000]).with_limits(limits.clone());
        assert_eq!(array.read_arrow((0, 0)).unwrap().1.len(), 1);
        assert_eq!(refused(array.read_arrow((0, ..2))).0, LimitExceeded);
    }
}

#[test]
fn l92_strings_of_arrow_that_share_the_bytes_of_the_fill_value_but_not_its_length_are_stored() {
    for (fill, words) in [("ab", ["", "abab"]), ("a", ["aa", ""]), ("", ["", "ab"])] {
        let (storage, counting) = Counting::over(&Storage::from(MemoryStore::new()));
        let array = create(storage, DataType::String, fill.as_bytes());
        let before = counting.counts();
        array.write_arrow(.., &StringArray::from(vec![fill; 12])).unwrap();
        assert_eq!((counting.counts() - before).puts, 0, "{fill:?}");
        let words = StringArray::from(words.repeat(6));
        array.write_arrow(.., &words).unwrap();
        assert_eq!((counting.counts() - before).puts, 4, "{fill:?}");
        assert!(array.read_arrow(..).unwrap().1.as_string::<i64>().iter().eq(words.iter()), "{fill:?}");
    }
}

#[test]
fn structs_are_columns() {
    use arrow_array::{Int32Array, StructArray, TimestampMillisecondArray};
    use zarr_array::data_types;

    let place = data_types::structure([("lat", DataType::Float32), ("lon", DataType::Float32)]).unwrap();
    let station = data_types::structure([
        ("number", DataType::Int32),
        ("name", data_types::fixed_length_utf32(8).unwrap()),
        ("since", data_types::datetime64("ms").unwrap()),
        ("place", place),
        ("open", DataType::Bool),
        ("code", DataType::Raw(2)),
    ])
    .unwrap();
    let meta = ArrayMeta::builder([4], station).chunks([3]).build().unwrap();
    let array = Array::create(MemoryStore::new(), "/a", meta, &standard()).unwrap();
    let (_, read) = array.read_arrow(1..3).unwrap();
    assert_eq!(
        read.as_struct().column_by_name("number").unwrap().as_primitive(),
        &Int32Array::from(vec![0, 0])
    );

    let field = |name: &str, column: &ArrayRef, nullable| {
        Arc::new(arrow_schema::Field::new(name, column.data_type().clone(), nullable))
    };
    let lat: ArrayRef = Arc::new(Float32Array::from(vec![59.5, -0.25]));
    let lon: ArrayRef = Arc::new(Float32Array::from(vec![10.5, -78.5]));
    let place: ArrayRef =
        Arc::new(StructArray::from(vec![(field("lat", &lat, false), lat), (field("lon", &lon, false), lon)]));
    let columns: [(&str, ArrayRef, bool); 6] = [
        ("number", Arc::new(Int32Array::from(vec![7, 8])), false),
        ("name", Arc::new(LargeStringArray::from(vec!["Oslo", "Quito"])), false),
        ("since", Arc::new(TimestampMillisecondArray::from(vec![Some(5), None])), true),
        ("place", place, false),
        ("open", Arc::new(BooleanArray::from(vec![true, false])), false),
        ("code", Arc::new(FixedSizeBinaryArray::try_from_iter([b"no", b"ec"].into_iter()).unwrap()), false),
    ];
    let all = columns.iter().map(|(name, column, nullable)| (field(name, column, *nullable), column.clone()));
    let values = StructArray::from(all.clone().collect::<Vec<_>>());
    array.write_arrow(1..3, &values).unwrap();
    let (shape, read) = array.read_arrow(1..3).unwrap();
    assert_eq!((shape, read.as_struct()), (vec![2], &values));
    assert_eq!(array.read_rows(2).unwrap().field::<f32>("place.lon").unwrap().as_slice(), [-78.5]);

    let fewer = StructArray::from(all.take(2).collect::<Vec<_>>());
    assert_eq!(refused(array.write_arrow(1..3, &fewer)).0, InvalidArgument);
    assert_eq!(refused(array.write_arrow(1..3, &Int32Array::from(vec![1, 2]))).0, InvalidArgument);
    let wrong: ArrayRef = Arc::new(StringArray::from(vec!["x", "y"]));
    let mut others: Vec<_> =
        columns.iter().map(|(name, column, n)| (field(name, column, *n), column.clone())).collect();
    others[0] = (field("number", &wrong, false), wrong);
    let (_, message) = refused(array.write_arrow(1..3, &StructArray::from(others)));
    assert!(message.contains("field \"number\""), "{message}");
}
