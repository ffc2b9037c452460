//! Values with a shape can only be written to a selection of that shape.

use crate::common::{chains, counted, refused};
use zarr_array::ArrayErrorKind::InvalidArgument;
use zarr_array::{ArrayValues, NdVec};

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
