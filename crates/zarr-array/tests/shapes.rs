//! Values with a shape can only be written to a selection of that shape.

use crate::common::{chains, counted, refused};
use zarr_array::ArrayErrorKind::InvalidArgument;
use zarr_array::{ArrayValues, NdVec, Selection, View, ViewMut};

#[test]
fn values_of_another_shape_are_refused_and_nothing_is_written() {
    let (array, counting) = counted(&[4, 6], &[2, 3], &chains()[0]);
    let of = |shape: &[u64]| NdVec::new(shape, (1..7).collect::<Vec<u16>>()).unwrap();
    for shape in [&[3, 2][..], &[6], &[1, 2, 3], &[2, 3, 1]] {
        let before = counting.counts();
        let (kind, message) = refused(array.write([0..2, 1..4], &of(shape)));
        let expected = format!("the selection has shape [2, 3], the values have shape {shape:?}");
        assert_eq!((kind, message), (InvalidArgument, expected));
        assert_eq!((counting.counts() - before).requests(), 0);
    }
    array.write([0..2, 1..4], &of(&[2, 3])).unwrap();
    array.write([2..4, 1..4], &of(&[2, 3])).unwrap();
    // An index drops its dimension also in a write.
    array.write((0, 0..6), &of(&[6])).unwrap();
    assert!(array.write((0, 0..6), &of(&[1, 6])).is_err());
    assert_eq!(array.read::<u16>([0..3, 1..4]).unwrap().as_slice(), [2, 3, 4, 4, 5, 6, 1, 2, 3]);
}

#[test]
fn flat_lists_must_have_the_number_of_selected_elements() {
    fn write(values: &(impl ArrayValues<u16> + ?Sized)) -> bool {
        let (array, _) = counted(&[4, 6], &[2, 3], &chains()[0]);
        array.write([0..2, 1..4], values).is_ok()
    }
    let six: Vec<u16> = (0..6).collect();
    assert!(write(&six) && write(&six[..]) && write(&[1, 2, 3, 4, 5, 6]));
    assert!(!write(&six[1..]) && !write(&[1]) && !write(&vec![0; 7]));
}

#[cfg(feature = "ndarray")]
#[test]
fn arrays_of_ndarray_are_written_in_their_shape_from_any_memory_order() {
    let (array, _) = counted(&[4, 6], &[2, 3], &chains()[0]);
    let values = ndarray::Array2::from_shape_fn((2, 3), |(y, x)| u16::try_from(10 * y + x).unwrap());
    array.write([0..2, 0..3], &values).unwrap();
    assert_eq!(array.read::<u16>([0..2, 0..3]).unwrap().into_ndarray(), values.clone().into_dyn());
    let (kind, message) = refused(array.write([0..2, 0..3], &values.t()));
    assert_eq!(
        (kind, message.contains("the values have shape [3, 2]")),
        (InvalidArgument, true),
        "{message}"
    );
    array.write([0..3, 0..2], &values.t()).unwrap();
    assert_eq!(array.read::<u16>([0..3, 0..2]).unwrap().into_ndarray(), values.t().into_dyn());
    array.write((3, 0..3), &values.slice(ndarray::s![1, ..;-1])).unwrap();
    assert_eq!(array.read::<u16>((3, 0..3)).unwrap().as_slice(), [12, 11, 10]);
}

#[cfg(feature = "ndarray")]
#[test]
fn arrays_of_ndarray_are_filled_in_their_shape_in_any_memory_order() {
    let (array, _) = counted(&[4, 6], &[2, 3], &chains()[0]);
    array.write(.., &(0..24).collect::<Vec<u16>>()).unwrap();
    let mut canvas = ndarray::Array2::<u16>::zeros((5, 8));
    array.read_into([1..3, 0..6], &mut canvas.slice_mut(ndarray::s![1..3, 1..7])).unwrap();
    array
        .read_into((3, 0..4), &mut canvas.slice_mut(ndarray::s![..;-1, 7]).slice_mut(ndarray::s![..4]))
        .unwrap();
    let rows = [
        [0, 0, 0, 0, 0, 0, 0, 0],
        [0, 6, 7, 8, 9, 10, 11, 21],
        [0, 12, 13, 14, 15, 16, 17, 20],
        [0, 0, 0, 0, 0, 0, 0, 19],
        [0, 0, 0, 0, 0, 0, 0, 18],
    ];
    assert_eq!(canvas, ndarray::arr2(&rows));
    let (kind, message) = refused(array.read_into([0..2, 0..3], &mut ndarray::Array2::<u16>::zeros((3, 2))));
    assert_eq!(
        (kind, message.contains("the values have shape [3, 2]")),
        (InvalidArgument, true),
        "{message}"
    );
}

#[test]
fn memory_with_strides_is_read_into_and_written_from() {
    for chain in chains() {
        let (array, _) = counted(&[4, 6], &[2, 3], &chain);
        let values: Vec<u16> = (0..24).collect();
        // Columns of six rows are the transposed array; the last one comes first.
        array.write(.., &View::strided(&values, 20, &[4, 6], &[1, -4]).unwrap()).unwrap();
        let cases: [(Selection, &[u64], &[i64], usize); 5] = [
            ((..).into(), &[4, 6], &[1, -4], 20),
            ((2, ..).into(), &[6], &[-4], 22),
            ((.., [5, 0, 0]).into(), &[4, 3], &[3, 1], 0),
            ((-1, -2).into(), &[], &[], 7),
            ((1..1, ..).into(), &[0, 6], &[1, 1], 0),
        ];
        for (selection, shape, strides, offset) in cases {
            let expected = array.read::<u16>(selection.clone()).unwrap();
            let mut memory = vec![99_u16; 24];
            let mut view = ViewMut::strided(&mut memory, offset, shape, strides).unwrap();
            array.read_into(selection.clone(), &mut view).unwrap();
            let read = View::strided(&memory, offset, shape, strides).unwrap();
            assert_eq!(*read.elements(), *expected.as_slice(), "{selection:?}");
            let kept = memory.iter().filter(|value| **value == 99).count();
            assert_eq!(kept, 24 - expected.as_slice().len(), "{selection:?}");
            assert!(array.read_into(selection, &mut ViewMut::of(&mut [0_u16; 5])).is_err());
        }
        assert_eq!(array.read::<u16>((0, ..)).unwrap().as_slice(), [20, 16, 12, 8, 4, 0]);
    }
}

#[test]
fn memory_without_values_is_read_into() {
    let (array, _) = counted(&[4, 6], &[2, 3], &chains()[0]);
    array.write(1, &[1_u16, 2, 3, 4, 5, 6]).unwrap();
    let mut memory = Vec::<u16>::with_capacity(6);
    assert_eq!(array.read_uninit(1, &mut memory.spare_capacity_mut()[..6]).unwrap(), [1, 2, 3, 4, 5, 6]);
    assert!(array.read_uninit::<u16>(1, &mut memory.spare_capacity_mut()[..5]).is_err());
}

#[test]
fn bytes_of_other_owners_are_written() {
    let (array, _) = counted(&[4, 6], &[2, 3], &chains()[0]);
    let shared: std::sync::Arc<[u8]> = (1..7_u16).flat_map(u16::to_ne_bytes).collect();
    array.write_bytes(1, shared.clone()).unwrap();
    array.write_bytes([2..4, 0..3], shared).unwrap();
    assert_eq!(array.read::<u16>([1..3, 0..4]).unwrap().as_slice(), [1, 2, 3, 4, 1, 2, 3, 7]);
}
