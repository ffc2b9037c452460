//! `bytemuck::Pod` types as elements.

use crate::common::{self, refused};
use bytemuck::{Pod, Zeroable};
use zarr_array::ArrayErrorKind::InvalidArgument;
use zarr_array::blocking::Array;
use zarr_array::meta::v3::Extension;
use zarr_array::traits::json::{Value, json};
use zarr_array::{ArrayMeta, DataType, FillValue, NdVec, pod, standard};
use zarr_store::MemoryStore;

#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct Point {
    x: f32,
    count: i16,
    tag: [u8; 2],
}
pod!(Point { x, count: "n", tag });

#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct Opaque {
    a: u32,
    b: u16,
    c: u16,
}
pod!(Opaque);

fn points() -> Value {
    json!([{"name": "x", "data_type": "float32"}, {"name": "n", "data_type": "int16"}, {"name": "tag", "data_type": "r16"}])
}

fn structs(fields: Value) -> Array {
    create(common::data_type("struct", json!({ "fields": fields })))
}

fn create(data_type: DataType) -> Array {
    let fill = FillValue::from_bytes(vec![0; data_type.size().unwrap()]);
    let bytes = Extension::new("bytes").with("endian", "big");
    let meta =
        ArrayMeta::builder([4, 5], data_type).chunks([2, 3]).fill(fill).codecs([bytes]).build().unwrap();
    Array::create(MemoryStore::new(), "/a", meta, &standard()).unwrap()
}

#[test]
fn structs_round_trip_in_the_byte_order_of_the_codec() {
    let array = structs(points());
    let values = [1_i16, -2, 3, -4].map(|count| Point { x: f32::from(count) / 2.0, count, tag: *b"ab" });
    array.write([1..3, 2..4], &values).unwrap();
    assert_eq!(array.read::<Point>([1..3, 2..4]).unwrap().as_slice(), values);
    assert_eq!(array.read::<Point>((0, 0)).unwrap()[[] as [u64; 0]], Point::zeroed());
    let mut memory = [Point::zeroed(); 4];
    array.read_into([1..3, 2..4], &mut memory).unwrap();
    assert_eq!(memory, values);
    let rows = array.read_rows([1..3, 2..4]).unwrap();
    assert_eq!(rows.field::<i16>("n").unwrap().as_slice(), [1, -2, 3, -4]);
    let array = array.into_async();
    let values = NdVec::new([2, 2], values.to_vec()).unwrap();
    zarr_array::block_on(array.write([0..2, 0..2], values.clone())).unwrap();
    let into = NdVec::new([2, 2], vec![Point::zeroed(); 4]).unwrap();
    assert_eq!(zarr_array::block_on(array.read_owned([0..2, 0..2], into)).unwrap(), values);
}

#[test]
fn structs_that_do_not_match_are_refused_with_the_reason() {
    let field = |name: &str, data_type: &str| json!({"name": name, "data_type": data_type});
    for (fields, expected) in [
        (
            json!([field("n", "int16"), field("tag", "r16"), field("x", "float32")]),
            "field \"x\": it is at byte 4",
        ),
        (
            json!([field("x", "int32"), field("n", "int16"), field("tag", "r16")]),
            "field \"x\": the data type is int32",
        ),
        (json!([field("x", "float32"), field("n", "int16")]), "the Rust struct has 8"),
        (json!([field("x", "float32"), field("n", "int16"), field("z", "r16")]), "field \"z\" of the array"),
    ] {
        let (kind, message) = refused(structs(fields).read::<Point>(..));
        assert!(kind == InvalidArgument && message.contains(expected), "{message}");
    }
    assert!(create(DataType::Raw(8)).read::<Point>(..).is_err());
}

#[test]
fn raw_types_take_any_type_of_their_size() {
    let array = create(DataType::Raw(8));
    let value = Opaque { a: 1, b: 2, c: 3 };
    array.write((3, 4), &[value]).unwrap();
    assert_eq!(array.read::<Opaque>((3, 3..)).unwrap().as_slice(), [Opaque::zeroed(), value]);
    assert_eq!(
        array.read::<[u8; 8]>((3, 4)).unwrap().as_slice()[0],
        bytemuck::cast::<Opaque, [u8; 8]>(value)
    );
    let (_, message) = refused(create(DataType::Raw(9)).read::<Opaque>(..));
    assert!(message.contains("the data type is r72, not Opaque"), "{message}");
    assert!(structs(points()).read::<Opaque>(..).is_err());
}

/// A byte of a Rust struct can hold values that an integer of four bits cannot represent.
#[test]
fn fields_of_few_bits_are_refused() {
    #[derive(Debug, Clone, Copy, Pod, Zeroable)]
    #[repr(C)]
    struct Small {
        n: i8,
    }
    pod!(Small { n });
    let (_, message) = refused(structs(json!([{"name": "n", "data_type": "int4"}])).read::<Small>(..));
    assert!(message.contains("field \"n\": data type int4 does not use all bits of its bytes"), "{message}");
}
