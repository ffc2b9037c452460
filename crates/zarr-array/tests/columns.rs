//! Columns, which have the memory layout of Arrow. Arrays of Arrow are tested by `zarr-arrow`.

use crate::common::refused;
use zarr_array::ArrayErrorKind::InvalidArgument;
use zarr_array::blocking::Array;
use zarr_array::traits::Bytes;
use zarr_array::{ArrayMeta, Column, ColumnType, ColumnUnit, DataType, standard};
use zarr_store::MemoryStore;

fn offsets(ends: &[i64]) -> Bytes {
    ends.iter().flat_map(|end| end.to_ne_bytes()).collect()
}

#[test]
fn a_column_that_does_not_fit_its_rows_is_refused() {
    let text = |ends: &[i64], contents: &'static [u8]| {
        Column::new(ColumnType::LargeUtf8, 2, None, [offsets(ends), contents.into()], [])
    };
    let bytes = |bytes: usize| Bytes::from(vec![0; bytes]);
    let numbers = |column_type: ColumnType, rows: usize, bytes: Bytes| {
        Column::new(column_type, rows, None, [bytes], [])
    };
    let lists =
        |rows: usize| Column::new(ColumnType::FixedSizeList(2), rows, None, [], [vec![1_u8; 5].into()]);
    let cases = [
        (numbers(ColumnType::Int32, 2, bytes(7)), "values has 7 bytes"),
        (numbers(ColumnType::Boolean, 9, bytes(1)), "values has 1 bytes"),
        (numbers(ColumnType::Int64, usize::MAX, bytes(8)), "values has 8 bytes"),
        (numbers(ColumnType::LargeUtf8, 0, bytes(8)), "1 buffers, expected 2"),
        (numbers(ColumnType::Struct(vec![]), 0, bytes(8)), "1 buffers, expected 0"),
        (Column::new(ColumnType::Int8, 9, Some(bytes(1)), [bytes(9)], []), "validity has 1 bytes"),
        (text(&[0, 1], b"ab"), "offsets has 16 bytes"),
        (text(&[0, 2, 1], b"ab"), "row 1 is not in the 2 bytes"),
        (text(&[0, 1, 3], b"ab"), "row 1 is not in the 2 bytes"),
        (text(&[-1, 1, 2], b"ab"), "row 0 is not in the 2 bytes"),
        (text(&[0, 1, 2], "é".as_bytes()), "row 0 is not UTF-8"),
        (lists(2), "children of [5] rows, expected [4]"),
        (lists(usize::MAX), "too many elements"),
        (
            Column::structs([("a", Column::from(vec![1_u8])), ("b", Column::from(vec![true; 2]))]),
            "field \"b\"",
        ),
        (Column::structs::<&str>([]), "needs a field"),
    ];
    for (column, expected) in cases {
        let (kind, message) = refused(column);
        assert_eq!(kind, InvalidArgument, "{message}");
        assert!(message.contains(expected), "{message:?}, expected {expected:?}");
    }
}

#[test]
fn a_column_without_rows_may_have_no_offsets() {
    let column = Column::new(ColumnType::Utf8, 0, None, [Bytes::new(), Bytes::new()], []).unwrap();
    assert_eq!((column.len(), column.buffers()[0].len()), (0, 4));
}

#[test]
fn nulls_are_bits() {
    let column = Column::from(vec![0_u8; 10]).with_nulls(|row| row == 1 || row == 9);
    assert_eq!(column.validity().unwrap().as_ref(), [0b1111_1101, 0b1]);
    assert!(column.is_nullable());
    assert_eq!(Column::from(vec![true, false, true]).buffers()[0].as_ref(), [0b101]);
    let times = Column::timestamps(ColumnUnit::Second, vec![0, i64::MIN]);
    assert_eq!(times.validity().unwrap().as_ref(), [0b01]);
    assert!(Column::durations(ColumnUnit::Second, vec![1]).is_nullable());
}

#[test]
fn integers_of_fewer_bits_are_checked() {
    for (name, wrong, fitting) in [
        ("int4", Column::from(vec![8_i8]), Column::from(vec![-8_i8])),
        ("uint2", Column::from(vec![4_u8]), Column::from(vec![3_u8])),
    ] {
        let data_type = crate::common::data_type(name, zarr_array::traits::json::Value::null());
        let meta = ArrayMeta::builder([1], data_type).build().unwrap();
        let array = Array::create(MemoryStore::new(), "/a", meta, &standard()).unwrap();
        assert_eq!(refused(array.write_column(.., &wrong)).0, InvalidArgument, "{name}");
        array.write_column(.., &fitting).unwrap();
        assert_eq!(array.read_column(..).unwrap(), (vec![1], fitting), "{name}");
    }
}

#[test]
fn a_column_of_another_type_is_refused() {
    let meta = ArrayMeta::builder([1], DataType::Int16).build().unwrap();
    let array = Array::create(MemoryStore::new(), "/a", meta, &standard()).unwrap();
    let message = "the data type is int16, not UInt16".to_owned();
    assert_eq!(refused(array.write_column(.., &Column::from(vec![1_u16]))), (InvalidArgument, message));
}
