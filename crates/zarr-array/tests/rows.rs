//! Structs by their fields, and as Rust structs.

use crate::common::{self, refused};
use zarr_array::ArrayErrorKind::{Corrupt, InvalidArgument};
use zarr_array::blocking::Array;
use zarr_array::meta::v3::Extension;
use zarr_array::traits::json::{Value, json};
use zarr_array::{
    AnyArray, ArrayMeta, DataType, FillValue, NdVec, Rows, Storage, WriteElement, block_on, row, standard,
};
use zarr_store::MemoryStore;

fn data_type(name: &str, fields: Value) -> DataType {
    common::data_type(name, json!({ "fields": fields }))
}

fn create(storage: impl Into<Storage>, data_type: DataType, fill: Option<Vec<u8>>, endian: &str) -> Array {
    let fill = FillValue::from_bytes(fill.unwrap_or_else(|| vec![0; data_type.size().unwrap()]));
    let bytes = Extension::new("bytes").with("endian", endian);
    let meta =
        ArrayMeta::builder([4, 5], data_type).chunks([2, 3]).fill(fill).codecs([bytes]).build().unwrap();
    Array::create(storage, "/a", meta, &standard()).unwrap()
}

/// Fields `x` (float32), `p` (`a`: int16, `b`: uint8) and `t` (three code points).
fn fields() -> Value {
    let inner = json!({"fields": [{"name": "a", "data_type": "int16"}, {"name": "b", "data_type": "uint8"}]});
    json!([
        {"name": "x", "data_type": "float32"},
        {"name": "p", "data_type": {"name": "struct", "configuration": inner}},
        {"name": "t", "data_type": {"name": "fixed_length_utf32", "configuration": {"length_bytes": 12}}}
    ])
}

#[test]
fn bt57_fields_lie_packed_in_the_byte_order_of_the_codec() {
    let data_type = data_type(
        "struct",
        json!([
            {"name": "x", "data_type": "float32"}, {"name": "y", "data_type": "uint8"}
        ]),
    );
    for (endian, stored) in [("little", [0, 0, 0x80, 0x3f, 2]), ("big", [0x3f, 0x80, 0, 0, 2])] {
        let storage = Storage::from(MemoryStore::new());
        let array = create(storage.clone(), data_type.clone(), None, endian);
        let mut rows = array.rows([2, 3]).unwrap();
        rows.set("x", &[1.0_f32; 6]).unwrap();
        rows.set("y", &[2_u8; 6]).unwrap();
        array.write_rows([0..2, 0..3], rows).unwrap();
        let key = array.chunk_key(&[0, 0]).unwrap();
        let object = block_on(storage.get(&key, 100)).unwrap().unwrap();
        assert_eq!(object, stored.repeat(6), "{endian}");
        let rows = array.read_rows((1, 1..4)).unwrap();
        assert_eq!(rows.field::<f32>("x").unwrap().as_slice(), [1.0, 1.0, 0.0]);
        assert_eq!(rows.field::<u8>("y").unwrap().as_slice(), [2, 2, 0]);
    }
}

#[test]
fn bt62_nested_fields_have_paths_and_unset_fields_are_the_fill_value() {
    let fill = [&1.5_f32.to_ne_bytes()[..], &7_i16.to_ne_bytes(), &[9], &[0; 12]].concat();
    let array = create(MemoryStore::new(), data_type("struct", fields()), Some(fill), "big");
    let mut rows = array.rows([2, 2]).unwrap();
    rows.set("p.a", &[1_i16, -2, 3, -4]).unwrap();
    rows.set("t", &["é", "", "abc", "漢"].map(str::to_owned)).unwrap();
    array.write_rows([1..3, 2..4], rows).unwrap();

    let rows = array.read_rows((1, ..)).unwrap();
    assert_eq!((rows.shape(), rows.fields().len()), (&[5][..], 3));
    assert_eq!(rows.field::<f32>("x").unwrap().as_slice(), [1.5; 5]);
    assert_eq!(rows.field::<i16>("p.a").unwrap().as_slice(), [7, 7, 1, -2, 7]);
    assert_eq!(rows.field::<u8>("p.b").unwrap().as_slice(), [9; 5]);
    assert_eq!(rows.field::<String>("t").unwrap().as_slice(), ["", "", "é", "", ""]);

    let (shape, bytes) = array.read_bytes((1, ..)).unwrap();
    let same = Rows::from_bytes(array.data_type(), shape, bytes).unwrap();
    assert_eq!(array.read_any((1, ..)).unwrap(), AnyArray::Rows(same.clone()));
    assert_eq!(same.field::<i16>("p.a").unwrap(), rows.field::<i16>("p.a").unwrap());
}

#[test]
fn rows_refuse_wrong_fields_types_and_shapes() {
    let array = create(MemoryStore::new(), data_type("struct", fields()), None, "little");
    let mut rows = array.rows([2]).unwrap();
    let invalid = |message: &str| (InvalidArgument, message.to_owned());
    let wrong = invalid("field \"x\": the data type is float32, not int32");
    assert_eq!(refused(rows.field::<i32>("x")), wrong);
    assert_eq!(refused(rows.set("x", &[1_i32, 2])), wrong);
    let none = invalid("field \"p.c\": no such field, the fields are [\"x\", \"p\", \"t\"]");
    assert_eq!(refused(rows.field::<i32>("p.c")), none);
    assert!(rows.field::<f32>("x.y").is_err() && rows.field::<f32>("").is_err());
    assert_eq!(refused(rows.set("x", &[1_f32])), invalid("field \"x\": 1 values do not fill shape [2]"));
    let long = invalid("field \"t\": the element at [1] has 4 code points, at most 3 fit");
    assert_eq!(refused(rows.set("t", &["", "abcd"].map(str::to_owned))), long);
    let other = create(
        MemoryStore::new(),
        data_type("struct", json!([{"name": "x", "data_type": "r152"}])),
        None,
        "little",
    );
    assert_eq!(
        refused(other.write_rows((0, 0..2), rows.clone())),
        invalid("the rows have another data type")
    );
    assert_eq!(refused(array.write_rows((0, 0..3), rows.clone())).0, InvalidArgument);
    let bytes = Rows::from_bytes(array.data_type(), [3], rows.into_bytes());
    assert_eq!(refused(bytes), invalid("rows of shape [3] have 57 bytes, not 38"));
    assert!(Rows::from_bytes(&DataType::Int8, [1], vec![0]).is_err());
    let plain = create(MemoryStore::new(), DataType::Int16, None, "little");
    let no_fields = invalid("the data type is int16, which has no fields");
    assert_eq!(refused(plain.read_rows(..)), no_fields);
    assert_eq!(refused(plain.rows([1])), no_fields);
    // An error about a stored value names the row of the array.
    array.write_bytes((2, 3), [&[0; 7][..], &0x11_0000_u32.to_ne_bytes(), &[0; 8]].concat()).unwrap();
    let rows = array.read_rows((2, 1..)).unwrap();
    let corrupt = "field \"t\": the element at [2, 3] holds 0x110000, which is not a character";
    assert_eq!(refused(rows.field::<String>("t")), (Corrupt, corrupt.to_owned()));
}

#[test]
fn h11_sub_arrays_add_dimensions_and_padding_has_no_name() {
    let inner = json!({"fields": [{"name": "v", "data_type": "int16", "shape": [2]}, {"name": "w", "data_type": "int8"}]});
    let data_type = data_type(
        "numcodecs:struct",
        json!([
            {"name": "", "data_type": "r8"},
            {"name": "s", "data_type": {"name": "numcodecs:struct", "configuration": inner}, "shape": [3]},
            {"name": "s.w", "data_type": "uint8"}
        ]),
    );
    let mut rows = Rows::from_bytes(&data_type, [2], (0..34).collect()).unwrap();
    let w: NdVec<u8> = rows.field("s.w").unwrap();
    assert_eq!(
        (w.shape(), w.as_slice()),
        (&[2][..], &[16, 33][..]),
        "a field with the whole name comes first"
    );
    let expected: Vec<_> =
        [1_u8, 3, 6, 8, 11, 13, 18, 20, 23, 25, 28, 30].map(|at| i16::from_ne_bytes([at, at + 1])).to_vec();
    let v: NdVec<i16> = rows.field("s.v").unwrap();
    assert_eq!((v.shape(), v.as_slice()), (&[2, 3, 2][..], &expected[..]));
    rows.set("s.v", &[0_i16; 12]).unwrap();
    let zeroed = [1, 2, 3, 4, 6, 7, 8, 9, 11, 12, 13, 14];
    let bytes: Vec<u8> = (0..34).map(|at| if zeroed.contains(&(at % 17)) { 0 } else { at }).collect();
    assert_eq!(rows.into_bytes(), bytes);
    assert!(Rows::from_bytes(&data_type, [2], vec![0; 34]).unwrap().field::<[u8; 1]>("").is_err());
}

#[derive(Debug, Clone, PartialEq)]
struct Place {
    a: i16,
    b: u8,
}
row!(Place { a, b });

#[derive(Debug, Clone, PartialEq)]
struct Record {
    text: String,
    x: f32,
    place: Place,
}
row!(Record { x, place: "p", text: "t" });

#[derive(Debug, Clone, PartialEq)]
struct Part {
    a: i16,
    x: f32,
}
row!(Part { a: "p.a", x });

#[derive(Debug, Clone)]
struct Parts {
    x: f32,
    a: i16,
    b: u8,
    text: String,
}
row!(Parts { x, a: "p.a", b: "p.b", text: "t" });

#[derive(Debug, Clone)]
struct X {
    x: f32,
}
row!(X { x });

#[test]
fn b35_rust_structs_are_elements() {
    let array = create(MemoryStore::new(), data_type("struct", fields()), None, "big");
    let record = |n: i16| Record { text: n.to_string(), x: f32::from(n) / 2.0, place: Place { a: n, b: 1 } };
    let records: Vec<_> = (10..16).map(record).collect();
    array.write([1..3, 2..5], &records).unwrap();
    assert_eq!(array.read::<Record>([1..3, 2..5]).unwrap().into_vec(), records);
    let blank = Record { text: String::new(), x: 0.0, place: Place { a: 0, b: 0 } };
    assert_eq!(array.read::<Record>((1, 1..4)).unwrap().into_vec(), [blank, record(10), record(11)]);
    assert_eq!(array.read_rows((2, 4)).unwrap().field::<Place>("p").unwrap().as_slice(), [record(15).place]);
    let parts: NdVec<Part> = array.read((2, 3..)).unwrap();
    assert_eq!(parts.as_slice(), [Part { a: 14, x: 7.0 }, Part { a: 15, x: 7.5 }]);
    // A write would lose the fields that the Rust type does not have.
    let read_only = |what: &str| (InvalidArgument, format!("the rows {what}, so they can only be read"));
    assert_eq!(refused(array.write((0, 0), &[X { x: 1.0 }])), read_only("have no field \"p\""));
    // The same if the type has all fields, but in parts.
    let parts = Parts { x: 1.0, a: 1, b: 2, text: String::new() };
    let e = read_only("have \"p.a\", which is not a whole field");
    assert_eq!(refused(array.write((0, 0), &[parts])), e);
    let long = Record { text: "abcd".to_owned(), ..record(1) };
    let e = refused(array.write((3, 1..3), &[record(1), long]));
    assert_eq!(e.1, "field \"t\": the element at [3, 2] has 4 code points, at most 3 fit");
}

#[test]
fn a_rust_struct_is_checked_before_anything_is_read() {
    let with = |x: &str, p: Value| json!([{"name": "x", "data_type": x}, {"name": "p", "data_type": p}]);
    let place = |b: &str| {
        let fields = json!([{"name": "a", "data_type": "int16"}, {"name": "b", "data_type": b}]);
        json!({"name": "struct", "configuration": {"fields": fields}})
    };
    for (fields, expected) in [
        (with("float64", place("uint8")), "field \"x\": the data type is float64, not float32"),
        (with("float32", place("int8")), "field \"p\": field \"b\": the data type is int8, not uint8"),
        (with("float32", json!("int16")), "field \"p\": the data type is int16, not Place"),
        (with("float32", place("uint8")), "field \"t\": no such field, the fields are [\"x\", \"p\"]"),
    ] {
        let array = create(MemoryStore::new(), data_type("struct", fields), None, "little");
        assert_eq!(refused(array.read::<Record>((0, 0..0))), (InvalidArgument, expected.to_owned()));
    }
    let shaped = data_type(
        "numcodecs:struct",
        json!([
            {"name": "a", "data_type": "int16", "shape": [1]}, {"name": "b", "data_type": "uint8"}
        ]),
    );
    let e = Place::fits(&shaped).unwrap_err();
    assert_eq!(format!("{e:#}"), "field \"a\": a sub-array of shape [1] is not a single element", "rule H11");
    let array = create(MemoryStore::new(), DataType::Int16, None, "little");
    assert_eq!(refused(array.read::<Place>(..)).1, "the data type is int16, not Place");
}
