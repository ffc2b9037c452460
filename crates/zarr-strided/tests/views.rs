//! Views of any Rust type and any strides: of slices, and of arrays of the crate `ndarray`.

use ndarray::{Array2, Array3, Axis, s};
use zarr_strided::{Cut, Cuts, Destination, Input, Output, Source, Swap, View, ViewMut};

/// An offset, a shape, strides, and the elements of such a view.
type Case<'a> = (usize, &'a [u64], &'a [i64], &'a [&'a str]);

#[test]
fn elements_of_a_view_are_in_c_order() {
    let words = ["a", "b", "c", "d", "e", "f"].map(String::from);
    let cases: [Case<'_>; 6] = [
        (0, &[2, 3], &[3, 1], &["a", "b", "c", "d", "e", "f"]),
        (5, &[6], &[-1], &["f", "e", "d", "c", "b", "a"]),
        (0, &[3, 2], &[1, 3], &["a", "d", "b", "e", "c", "f"]),
        (1, &[2, 2], &[0, 4], &["b", "f", "b", "f"]),
        (2, &[], &[], &["c"]),
        (9, &[0, 7], &[100, 100], &[]),
    ];
    for (offset, shape, strides, expected) in cases {
        let view = View::strided(&words, offset, shape, strides).unwrap();
        assert_eq!(*view.elements(), *expected, "{shape:?} {strides:?}");
        assert_eq!(view.shape(), shape);
    }
    for (offset, shape, strides) in [(0, &[7], &[1]), (0, &[2], &[-1]), (3, &[2], &[i64::MAX])] {
        assert!(View::strided(&words, offset, shape, strides).is_err(), "{shape:?} {strides:?}");
    }
    assert!(View::strided(&[(); 3], 0, &[4], &[1]).is_err());
    assert_eq!(View::strided(&[(); 3], 0, &[3], &[1]).unwrap().elements().len(), 3);
}

#[test]
fn assigned_elements_replace_those_of_the_view_only() {
    let mut words = vec![String::from("old"); 6];
    let columns = ViewMut::strided(&mut words, 0, &[2, 2], &[3, 2]).unwrap();
    columns.assign(["a", "b", "c", "d"].map(String::from).to_vec()).unwrap();
    assert_eq!(words, ["a", "old", "b", "c", "old", "d"]);
    assert!(ViewMut::of(&mut words).assign(vec![String::new()]).is_err());
    assert!(ViewMut::strided(&mut words, 0, &[2, 3], &[0, 1]).is_err(), "elements overlap");
}

#[test]
fn dense_elements_take_any_shape_and_others_only_dimensions_of_length_1() {
    let values: Vec<u8> = (0..12).collect();
    let dense = Source::of(&values, &[3, 4]).unwrap();
    let columns = dense.sub(&[0, 1], &[3, 2]).unwrap();
    let cases: [(&Source<'_>, &[u64], bool); 8] = [
        (&dense, &[12], true),
        (&dense, &[2, 6], true),
        (&dense, &[2, 5], false),
        (&columns, &[3, 2], true),
        (&columns, &[1, 3, 1, 2], true),
        (&columns, &[6], false),
        (&columns, &[2, 3], false),
        (&columns, &[0, 3, 2], false),
    ];
    for (view, shape, holds) in cases {
        let mut before = Vec::new();
        view.append_to(&mut before, Swap::NONE).unwrap();
        match view.reshape(shape) {
            Ok(reshaped) => {
                let mut after = Vec::new();
                reshaped.append_to(&mut after, Swap::NONE).unwrap();
                assert_eq!((after, reshaped.shape(), true), (before, shape, holds));
            }
            Err(_) => assert!(!holds, "{shape:?}"),
        }
    }
}

#[test]
fn views_of_ndarray_are_read_and_written_where_they_lie() {
    let mut cube = Array3::from_shape_fn((4, 5, 6), |(i, j, k)| i32::try_from(100 * i + 10 * j + k).unwrap());
    let before = cube.clone();
    let source: Source<'_> = View::from(cube.slice(s![..;2, 1..4, ..;-1])).into();
    let mut bytes = Vec::new();
    source.append_to(&mut bytes, Swap::NONE).unwrap();
    let read: Vec<i32> = bytes.chunks_exact(4).map(|b| i32::from_ne_bytes(b.try_into().unwrap())).collect();
    assert_eq!(read, cube.slice(s![..;2, 1..4, ..;-1]).iter().copied().collect::<Vec<_>>());

    let target = ViewMut::from(cube.slice_mut(s![1, .., ..;-2]).reversed_axes());
    let mut target = Destination::from(target);
    assert_eq!(target.shape(), [3, 5]);
    target.put(Source::of(&(0..15).collect::<Vec<i32>>(), &[3, 5]).unwrap(), Swap::NONE).unwrap();
    let mut expected = before;
    let values = Array2::from_shape_vec((3, 5), (0..15).collect()).unwrap();
    expected.slice_mut(s![1, .., ..;-2]).reversed_axes().assign(&values);
    assert_eq!(cube, expected);
}

#[test]
fn lent_views_of_ndarray_are_filled_cell_by_cell() {
    let mut table = Array2::<u16>::zeros((4, 6));
    let view = ViewMut::from(table.slice_mut(s![.., 1..5]));
    let rows = Cuts::new(vec![Cut::even(0, 1, 4, 1).unwrap(), Cut::whole(4)]);
    Output::lend(view.into(), rows, |output| {
        let threads: Vec<_> = (0..4_u16)
            .map(|row| {
                let output = output.clone();
                std::thread::spawn(move || {
                    output.take(row.into()).unwrap().fill(&(row + 1).to_ne_bytes()).unwrap();
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    })
    .unwrap();
    for (row, values) in table.axis_iter(Axis(0)).enumerate() {
        let n = u16::try_from(row + 1).unwrap();
        assert_eq!(values.to_vec(), [0, n, n, n, n, 0]);
    }
    let flipped = View::from(table.slice(s![..;-1, 2]));
    let bytes = Input::lend(flipped.into(), |input| {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            input.source().append_to(&mut bytes, Swap::NONE).unwrap();
            bytes
        })
        .join()
        .unwrap()
    });
    assert_eq!(bytes, zarr_strided::bytes_of(&[4_u16, 3, 2, 1]));
}
