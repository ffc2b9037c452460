//! Cases without rows of xarray: `between`, messages, and descending times.

use zarr_xarray::{
    Calendar, Index, IndexValues, Label, LabelPositions, Method, StoredCounts, TimeUnit, TimeUnits,
    XarrayErrorKind, decode_times,
};

fn floats(values: &[f64]) -> Index {
    Index::new(IndexValues::Floats(values.to_vec()))
}

fn days(counts: &[i64]) -> Index {
    let units = TimeUnits::parse("days since 2000-01-01", Calendar::Days360, &mut Vec::new()).unwrap();
    let times = decode_times(StoredCounts::Integers(counts), &units, TimeUnit::Nanoseconds).unwrap();
    Index::new(IndexValues::Times(times))
}

#[test]
fn between_takes_its_ends_in_any_order() {
    for values in [[10.0, 20.0, 30.0, 40.0], [40.0, 30.0, 20.0, 10.0]] {
        let index = floats(&values);
        for (one, other) in [(15.0, 30.0), (30.0, 15.0)] {
            let range = index.between(&one.into(), &other.into()).unwrap();
            let mut found = values[range].to_vec();
            found.sort_by(f64::total_cmp);
            assert_eq!(found, [20.0, 30.0]);
        }
    }
}

#[test]
fn intervals_of_time_on_axes_in_any_order() {
    let counts: Vec<i64> = (0..90).collect();
    let rising = days(&counts);
    assert_eq!(rising.between(&"2000-02".into(), &"2000-01-30".into()).unwrap(), 29..60);
    assert_eq!(rising.find(&"2000-02".into()).unwrap(), LabelPositions::Range(30..60));
    assert_eq!(rising.find(&"2000-02-30".into()).unwrap(), LabelPositions::One(59));
    let falling = days(&counts.iter().rev().copied().collect::<Vec<_>>());
    assert_eq!(falling.between(&"2000-02".into(), &"2000-01-30".into()).unwrap(), 30..61);
    assert_eq!(falling.slice(Some(&"2000-02".into()), Some(&"2000-01-30".into())).unwrap(), 30..61);
    assert_eq!(falling.slice(Some(&"2000-01".into()), Some(&"2000-02".into())).unwrap(), 60..60);
    assert_eq!(falling.find(&"2000-02".into()).unwrap(), LabelPositions::Range(30..60));
}

#[test]
fn an_error_names_the_neighbours_of_a_missing_label() {
    for (index, label, words) in [
        (floats(&[10.0, 20.0]), Label::from(15.0), &["15", "10", "20"][..]),
        (floats(&[20.0, 10.0]), Label::from(25.0), &["25", "20"]),
        (days(&[0, 3]), Label::from("2000-01-02"), &["2000-01-02", "2000-01-01", "2000-01-04"]),
        (Index::new(IndexValues::Texts(vec!["a".into(), "c".into()])), Label::from("b"), &["\"a\"", "\"c\""]),
        (Index::new(IndexValues::SmallFloats(vec![0.1, 0.2])), Label::from(0.15), &["0.1", "0.2"]),
    ] {
        let error = index.find(&label).unwrap_err();
        assert_eq!(error.kind(), XarrayErrorKind::NotFound);
        assert!(words.iter().all(|word| format!("{error:#}").contains(word)), "{error:#}");
    }
}

#[test]
fn labels_of_another_type_are_refused() {
    let integers = Index::new(IndexValues::Integers(vec![1, 2]));
    for (index, label) in [
        (&integers, Label::from("1")),
        (&integers, true.into()),
        (&floats(&[1.0]), "1".into()),
        (&days(&[0]), 0.into()),
        (&days(&[0]), "noon".into()),
        (&Index::new(IndexValues::Booleans(vec![true])), 1.into()),
    ] {
        assert_eq!(index.find(&label).unwrap_err().kind(), XarrayErrorKind::Invalid, "{label}");
        assert_eq!(index.slice(Some(&label), None).unwrap_err().kind(), XarrayErrorKind::Invalid, "{label}");
    }
}

#[test]
fn integers_and_fractions_compare_without_rounding() {
    let large = 1_i64 << 53;
    let index = Index::new(IndexValues::Integers(vec![large, large + 1]));
    assert_eq!(index.find(&(large + 1).into()).unwrap(), LabelPositions::One(1));
    assert_eq!(index.slice(Some(&(large as f64 + 0.0).into()), None).unwrap(), 0..2);
    let unsigned = Index::new(IndexValues::Unsigned(vec![0, u64::MAX]));
    assert_eq!(unsigned.find_near(&1e30.into(), Method::Pad, None).unwrap(), 1);
    assert_eq!(unsigned.find_near(&(-1.0).into(), Method::Nearest, None).unwrap(), 0);
    assert!(unsigned.find(&f64::INFINITY.into()).is_err());
}
