//! Arguments that are refused, and arguments at the limits that are accepted.

use zarr_strided::{Destination, Dims, Plain, Source, StridedError, Swap, bytes_of, zeroed};

const HUGE: u64 = 1 << 62;

#[test]
fn lengths_must_be_exact() {
    let mut bytes = [0u8; 20];
    assert!(matches!(Source::dense(&bytes, &[2, 3], 4), Err(StridedError::Length { expected: 24, .. })));
    assert!(Source::dense(&bytes, &[2, 2], 4).is_err());
    assert!(Source::dense(&bytes, &[], 20).is_ok());
    assert!(Source::dense(&bytes, &[], 4).is_err());
    assert!(Source::of(&[0u16; 7], &[2, 3]).is_err());
    assert!(Destination::dense(&mut bytes, &[6], 4).is_err());
    let source = Source::dense(&bytes, &[5], 4).unwrap();
    assert!(source.write_to(&mut [0; 19], Swap::NONE).is_err());
    assert!(source.write_to(&mut [0; 21], Swap::NONE).is_err());
}

#[test]
fn overflowing_shapes_are_errors() {
    for shape in [&[HUGE, 4][..], &[HUGE], &[u64::MAX], &[u64::MAX; 9], &[1 << 32, 1 << 32]] {
        for size in [1, 8, usize::MAX] {
            assert!(Source::dense(&[], shape, size).is_err(), "{shape:?} of {size}");
            assert!(Source::strided(&[0; 8], 0, shape, &vec![1; shape.len()], size).is_err());
        }
    }
    // Repeated elements count, too.
    assert!(Source::strided(&[0; 8], 0, &[HUGE], &[0], 8).is_err());
    assert!(Source::dense(&[], &[1], usize::MAX).is_err());
}

#[test]
fn strides_stay_in_the_buffer() {
    let bytes = [0u8; 10];
    let view = |offset, shape: &[u64], strides: &[i64]| Source::strided(&bytes, offset, shape, strides, 2);
    assert!(view(0, &[5], &[2]).is_ok());
    assert!(view(8, &[5], &[-2]).is_ok());
    assert!(view(1, &[5], &[2]).is_err());
    assert!(view(7, &[5], &[-2]).is_err());
    assert!(view(9, &[], &[]).is_err());
    assert!(view(usize::MAX, &[], &[]).is_err());
    assert!(view(usize::MAX, &[1], &[1]).is_err());
    assert!(view(0, &[2], &[i64::MAX]).is_err());
    assert!(view(0, &[2], &[i64::MIN]).is_err());
    assert!(view(0, &[3, 3], &[i64::MAX / 2, i64::MAX / 2]).is_err());
    assert!(view(0, &[3], &[1, 1]).is_err());
    // elements on both sides of the first
    assert!(view(4, &[3, 3], &[-2, 2]).is_ok());
    assert!(view(4, &[3, 3], &[-2, 3]).is_err());
    // a stride that is never used
    assert!(view(8, &[1], &[i64::MIN]).is_ok());
}

#[test]
fn writable_elements_must_not_overlap() {
    let mut bytes = [0u8; 64];
    let mut view = |shape: &[u64], strides: &[i64], size| {
        Destination::strided(&mut bytes, 0, shape, strides, size).map(|_| ())
    };
    assert!(matches!(view(&[3], &[0], 1), Err(StridedError::Overlap { .. })));
    assert!(view(&[3], &[3], 4).is_err());
    assert!(view(&[3, 4], &[8, 4], 4).is_err());
    assert!(view(&[3, 4], &[16, 4], 4).is_ok());
    assert!(view(&[4, 3], &[4, 16], 4).is_ok());
    assert!(view(&[1, 3], &[0, 4], 4).is_ok());
    assert!(view(&[0, 3], &[0, 0], 4).is_ok());
}

#[test]
fn derived_views_are_checked() {
    let values: Vec<u16> = (0..12).collect();
    let view = Source::of(&values, &[3, 4]).unwrap();
    for (at, shape) in [([0, 0], [4, 1]), ([3, 0], [1, 1]), ([u64::MAX, 0], [2, 1]), ([0, 1], [1, u64::MAX])]
    {
        assert!(matches!(view.sub(&at, &shape), Err(StridedError::OutOfShape { .. })), "{at:?} {shape:?}");
    }
    assert!(view.sub(&[3, 4], &[0, 0]).unwrap().is_empty());
    assert!(matches!(view.sub(&[0], &[1]), Err(StridedError::Rank { expected: 2, got: 1, .. })));
    assert!(matches!(view.step(&[1, 0]), Err(StridedError::Step { dim: 1, .. })));
    assert_eq!(view.step(&[2, u64::MAX]).unwrap().shape(), [2, 1]);
    for order in [&[0][..], &[0, 0], &[0, 2], &[0, u64::MAX], &[0, 1, 2]] {
        assert!(view.permute(order).is_err(), "{order:?}");
        assert_eq!(Dims::from([3, 4]).permuted(order), None, "{order:?}");
    }
    for order in [&[0, 0, 1][..], &[0, 3], &[u64::MAX]] {
        assert_eq!(Dims::from(order).inverse(), None, "{order:?}");
    }
    assert!(matches!(view.squeeze(&[false, true]), Err(StridedError::Squeeze { dim: 0, got: 3, .. })));
    assert!(view.squeeze(&[true]).is_err());
    assert_eq!(view.sub(&[1, 0], &[1, 4]).unwrap().squeeze(&[false, true]).unwrap().shape(), [4]);
}

#[test]
fn put_and_fill_check_shape_size_and_unit() {
    let src = [1u8; 12];
    let mut dst = [0u8; 12];
    let mut put = |shape: &[u64], size, from: &[u64], from_size, swap| {
        let from = Source::dense(&src, from, from_size).unwrap();
        Destination::dense(&mut dst, shape, size).unwrap().put(from, swap)
    };
    assert!(matches!(put(&[12], 1, &[3, 4], 1, Swap::NONE), Err(StridedError::Shape { .. })));
    assert!(put(&[12], 1, &[6], 2, Swap::NONE).is_err());
    let two = Swap::units(2).unwrap();
    assert!(matches!(put(&[4], 3, &[4], 3, two), Err(StridedError::Unit { size: 3, unit: 2, .. })));
    assert!(put(&[3], 4, &[3], 4, two).is_ok());
    let source = Source::dense(&src, &[4], 3).unwrap();
    assert!(source.append_to(&mut vec![], two).is_err());
    assert!(source.write_to(&mut [0; 12], two).is_err());
    let mut view = Destination::dense(&mut dst, &[3], 4).unwrap();
    assert!(matches!(view.fill(&[0; 3]), Err(StridedError::Size { expected: 4, got: 3, .. })));
}

#[test]
fn empty_views_and_empty_elements_work() {
    for shape in [&[0][..], &[3, 0, 2], &[HUGE, HUGE, 0], &[0, u64::MAX]] {
        let mut out = vec![];
        let source = Source::dense(&[], shape, 4).unwrap();
        assert!(source.is_empty() && source.is_filled_with(&[1; 4]) && !source.is_filled_with(&[1; 3]));
        assert_eq!(source.as_dense(), Some(&[][..]));
        source.append_to(&mut out, Swap::NONE).unwrap();
        let mut destination = Destination::dense(&mut out, shape, 4).unwrap();
        destination.put(source, Swap::NONE).unwrap();
        destination.fill(&[1; 4]).unwrap();
        assert_eq!(destination.as_dense_mut(), Some(&mut [][..]));
        assert!(Source::strided(&[], 77, shape, &vec![i64::MIN; shape.len()], 4).is_ok());
    }
    let mut none = [];
    let mut destination = Destination::dense(&mut none, &[5, 7], 0).unwrap();
    destination.fill(&[]).unwrap();
    destination.put(Source::dense(&[], &[5, 7], 0).unwrap(), Swap::NONE).unwrap();
    assert_eq!(destination.len(), 35);
    assert_eq!(zeroed::<[u8; 0]>(9).unwrap().len(), 9);
}

#[test]
fn strides_of_dimensions_of_length_one_are_ignored() {
    let bytes = [0u8; 6];
    let view = Source::strided(&bytes, 0, &[2, 1, 3], &[3, 99, 1], 1).unwrap();
    assert_eq!(view.as_dense(), Some(&bytes[..]));
    assert_eq!(view.permute(&[1, 0, 2]).unwrap().as_dense(), Some(&bytes[..]));
    assert_eq!(view.permute(&[2, 1, 0]).unwrap().as_dense(), None);
    assert_eq!(view.sub(&[1, 0, 1], &[1, 1, 2]).unwrap().as_dense(), Some(&bytes[4..]));
}

#[test]
fn many_dimensions_go_to_the_heap() {
    let shape = Dims::filled(2, 11);
    let values: Vec<u16> = (0..1 << 11).collect();
    let reversed: Dims = (0..11).rev().collect();
    let view = Source::of(&values, &shape).unwrap().permute(&reversed).unwrap();
    let mut out = zeroed::<u16>(1 << 11).unwrap();
    Destination::of(&mut out, &shape).unwrap().put(view, Swap::NONE).unwrap();
    for (i, &value) in out.iter().enumerate() {
        assert_eq!(usize::from(value), i.reverse_bits() >> (usize::BITS - 11));
    }
    let part = Source::of(&out, &shape).unwrap().sub(&Dims::filled(1, 11), &Dims::filled(1, 11)).unwrap();
    assert_eq!(part.as_dense(), Some(bytes_of(&[2047u16])));
}

#[test]
fn dims_are_equal_inline_and_on_the_heap() {
    let mut dims = Dims::default();
    for value in 0..10u64 {
        dims.push(value);
        assert_eq!(dims, (0..=value).collect::<Vec<_>>()[..]);
        assert_eq!(dims, Dims::from((0..=value).collect::<Vec<_>>()));
    }
    assert_eq!(format!("{:?}", Dims::from([2, 3])), "[2, 3]");
    assert_eq!(Dims::new().product(), Some(1));
    assert_eq!(Dims::from([HUGE, 4]).product(), None);
    assert_eq!(Dims::from([HUGE, 4, 0]).product(), Some(0));
    let mut filled = Dims::filled(3, 9);
    filled[8] = 4;
    assert_eq!((&filled).into_iter().sum::<u64>(), 28);
}

#[test]
fn memory_that_cannot_be_allocated_is_an_error() {
    assert!(matches!(zeroed::<u64>(usize::MAX), Err(StridedError::TooLarge { .. })));
    // One byte more than a vector can ever hold, so the allocator is not called.
    let one = Source::strided(&[7], 0, &[isize::MAX as u64], &[0], 1).unwrap();
    assert!(matches!(one.append_to(&mut vec![0], Swap::NONE), Err(StridedError::Memory { .. })));
    assert!(one.is_filled_with(&[7]));
}

#[test]
fn zeroed_is_zero_and_writable() {
    fn check<T: Plain + PartialEq + std::fmt::Debug>(n: usize, zero: T) {
        let mut values = zeroed::<T>(n).unwrap();
        assert!(values.iter().all(|value| *value == zero));
        values.fill(zero);
        assert_eq!((values.len(), bytes_of(&values).len()), (n, n * size_of::<T>()));
    }
    check(0, 0u8);
    check(3, 0.0f64);
    check(5, [0u16; 3]);
    check((4 << 20) + 5, 0u8);
}

#[test]
fn messages_name_what_was_expected() {
    let text = |error: Result<Source<'_>, StridedError>| error.unwrap_err().to_string();
    assert_eq!(
        text(Source::dense(&[0; 20], &[2, 3], 4)),
        "shape [2, 3] of 4-byte elements needs 24 bytes, got 20"
    );
    let view = Source::of(&[0u8; 6], &[2, 3]).unwrap();
    assert_eq!(text(view.sub(&[1, 1], &[1, 3])), "box of shape [1, 3] at [1, 1] is not inside shape [2, 3]");
    assert_eq!(text(view.step(&[1])), "list of steps has 1 dimensions, expected 2");
}

#[cfg(all(feature = "half", feature = "num-complex"))]
#[test]
fn foreign_numbers_are_plain() {
    let halves = [half::f16::from_f32(1.0), half::f16::from_f32(-2.0)];
    assert_eq!(Source::of(&halves, &[2]).unwrap().size(), 2);
    let complex = [num_complex::Complex::new(1.0f32, 2.0)];
    let mut out = vec![];
    Source::of(&complex, &[1]).unwrap().append_to(&mut out, Swap::units(4).unwrap()).unwrap();
    let swapped = [1.0f32, 2.0].map(|x| x.to_bits().swap_bytes());
    assert_eq!(out, bytes_of(&swapped));
}

#[test]
fn places_outside_of_the_buffer_are_refused() {
    let (table, mut picked) = ([1_u16, 2, 3, 4], [0_u16; 4]);
    let table = bytes_of(&table);
    let mut view = Destination::of(&mut picked, &[2, 2]).unwrap();
    view.gather(table, &[&[0, 2], &[1, 0]]).unwrap();
    for wrong in [&[&[0, 2][..], &[2, 0]][..], &[&[0, 1, 2], &[0, 1]], &[&[0, 1]], &[&[u64::MAX, 0], &[1, 0]]]
    {
        assert!(view.gather(table, wrong).is_err());
        let mut bytes = [0; 8];
        assert!(Source::of(&[7_u16; 4], &[2, 2]).unwrap().scatter(&mut bytes, wrong).is_err());
        assert_eq!(bytes, [0; 8]);
    }
    assert!(view.gather(&table[..7], &[&[0, 2], &[1, 0]]).is_err());
    assert_eq!(picked, [2, 1, 4, 3]);
    let mut none = [0_u16; 0];
    Destination::of(&mut none, &[0, 2]).unwrap().gather(&[], &[&[], &[1 << 60, 5]]).unwrap();
}
