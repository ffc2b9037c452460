//! Parallel writers and chunks.

use zarr_xarray::writers_are_apart;

use crate::vectors::tally::{Verdict, check_rows, equal};

#[test]
fn writers_are_apart_where_xarray_says_so() {
    check_rows("align.json", &[(Verdict::Same, 45)], |row, _| {
        let number = |name: &str| row[name].as_u64().unwrap();
        let pieces: Vec<u64> =
            row["writers"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect();
        let whole_borders = !row["partial_borders_allowed"].as_bool().unwrap();
        let found =
            writers_are_apart(number("length"), number("chunk"), &pieces, number("start"), whole_borders);
        equal(&Some(found), &row["safe"].as_bool())
    });
}

#[test]
fn pieces_beyond_the_range_are_not_apart() {
    assert!(!writers_are_apart(u64::MAX, 1, &[u64::MAX, 1], 0, false));
    assert!(!writers_are_apart(10, 0, &[5, 5], 0, false));
    assert!(writers_are_apart(10, 5, &[], 0, true));
}
