//! The versions of Arrow in one program.

use zarr_array::{Column, ColumnType, ColumnUnit};
use zarr_arrow::{arrow_59, arrow_60};

/// A table with a column of each layout, and with nulls.
fn table() -> Column {
    let pairs = Column::new(ColumnType::FixedSizeList(2), 3, None, [], [vec![1_u8, 2, 3, 4, 5, 6].into()]);
    let words = ["", "é漢", "a string that is longer than a view holds"];
    Column::structs([
        ("number", Column::from(vec![1.5_f32, -2.0, 0.0]).with_nulls(|row| row == 2)),
        ("half", Column::from([1.5, -2.0, 0.0].map(half::f16::from_f32).to_vec())),
        ("flag", Column::from(vec![true, false, true])),
        ("time", Column::timestamps(ColumnUnit::Millisecond, vec![-1, i64::MIN, 7])),
        ("span", Column::durations(ColumnUnit::Nanosecond, vec![1, 2, 3])),
        ("text", Column::texts(words).with_nulls(|row| row == 0)),
        ("bytes", Column::byte_strings(words)),
        ("pair", pairs.unwrap()),
    ])
    .unwrap()
}

#[test]
fn a_table_is_the_same_in_all_versions() {
    let table = table();
    let (old, new) = (arrow_59::record_batch(&table).unwrap(), arrow_60::record_batch(&table).unwrap());
    assert_eq!((old.num_rows(), new.num_rows()), (3, 3));
    assert_eq!(format!("{:?}", old.columns()), format!("{:?}", new.columns()));
    let nullable: Vec<bool> = new.schema().fields().iter().map(|field| field.is_nullable()).collect();
    assert_eq!(nullable, [true, false, false, true, true, true, false, false]);
}

/// Arrays round trip in each version, also slices, whose buffers begin before them.
#[test]
fn arrays_become_columns_and_arrays_again() {
    macro_rules! check {
        ($version:ident) => {{
            use $version::arrow_array::Array as _;
            for column in table().children() {
                let array = $version::array(column).unwrap();
                let back = $version::array(&$version::column(&array).unwrap()).unwrap();
                assert_eq!(array.as_ref(), back.as_ref(), "{column:?}");
                for (start, length) in [(1, 2), (2, 1), (1, 0)] {
                    let slice = array.slice(start, length);
                    let back = $version::array(&$version::column(&slice).unwrap()).unwrap();
                    assert_eq!(slice.as_ref(), back.as_ref(), "{start}, {length}: {column:?}");
                }
            }
        }};
    }
    check!(arrow_59);
    check!(arrow_60);
}

#[test]
fn numbers_and_contents_are_not_copied() {
    let column = Column::from(vec![1_i32, 2, 3]);
    let array = arrow_60::array(&column).unwrap();
    let start = column.buffers()[0].as_ptr();
    assert_eq!(arrow_60::arrow_array::Array::to_data(&array).buffers()[0].as_ptr(), start);
    assert_eq!(arrow_60::column(&array).unwrap().buffers()[0].as_ptr(), start);
}

#[test]
fn other_types_are_refused() {
    let batch = arrow_60::record_batch(&Column::from(vec![1_u8])).unwrap_err().to_string();
    assert!(batch.contains("structs without nulls, not UInt8"), "{batch}");
    let nothing = arrow_60::column(&arrow_60::arrow_array::NullArray::new(2)).unwrap_err().to_string();
    assert!(nothing.contains("an array of Null as a column"), "{nothing}");
}
