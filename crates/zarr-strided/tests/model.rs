//! Compares every operation with a model that moves one element at a time.

use proptest::prelude::*;
use proptest::sample::{Index, select};
use zarr_strided::{Destination, Source, Swap, swap_in_place};

/// Miri takes a second per case.
const CASES: u32 = if cfg!(miri) { 8 } else { 300 };
const SIZES: [usize; 10] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32];

/// A layout in its own buffer: the arguments of `strided`.
#[derive(Clone, Debug)]
struct Place {
    buffer: usize,
    offset: usize,
    shape: Vec<u64>,
    strides: Vec<i64>,
    size: usize,
}

impl Place {
    /// Returns the byte offsets of the elements, in C order.
    fn elements(&self) -> Vec<usize> {
        let mut all = vec![self.offset as i64];
        for (&n, &stride) in self.shape.iter().zip(&self.strides) {
            all = all.iter().flat_map(|at| (0..n as i64).map(move |i| at + i * stride)).collect();
        }
        all.iter().map(|&at| at as usize).collect()
    }

    fn source<'a>(&self, bytes: &'a [u8]) -> Source<'a> {
        Source::strided(bytes, self.offset, &self.shape, &self.strides, self.size).unwrap()
    }

    fn destination<'a>(&self, bytes: &'a mut [u8]) -> Destination<'a> {
        Destination::strided(bytes, self.offset, &self.shape, &self.strides, self.size).unwrap()
    }

    /// Returns the elements, one after the other.
    fn gather(&self, bytes: &[u8], swap: Swap) -> Vec<u8> {
        let mut out: Vec<u8> =
            self.elements().iter().flat_map(|&at| bytes[at..at + self.size].to_vec()).collect();
        for unit in out.chunks_mut(swap.unit()) {
            unit.reverse();
        }
        out
    }

    /// Writes the elements to their places: the inverse of `gather`.
    fn scatter(&self, elements: &[u8], bytes: &mut [u8]) {
        for (at, element) in self.elements().into_iter().zip(elements.chunks(self.size)) {
            bytes[at..at + self.size].copy_from_slice(element);
        }
    }
}

/// Rank 0 to 5 and few elements, but sometimes enough for whole tiles.
fn shapes() -> impl Strategy<Value = Vec<u64>> {
    prop_oneof![
        6 => prop::collection::vec(0..6u64, 0..=5),
        3 => prop::collection::vec(1..5u64, 1..=5),
        2 => (1..3u64, 1..80u64, 1..80u64).prop_map(|(a, b, c)| vec![a, b, c]),
        1 => (30..70u64, 1..4u64, 30..70u64).prop_map(|(a, b, c)| vec![a, b, c]),
    ]
}

/// Elements that do not overlap: dimensions nested in any order, with gaps, each forwards or backwards.
fn apart(shape: Vec<u64>, size: usize) -> impl Strategy<Value = Place> {
    let rank = shape.len();
    let order = Just((0..rank).collect::<Vec<_>>()).prop_shuffle();
    let in_order = Just((0..rank).rev().collect::<Vec<_>>());
    let gaps = prop_oneof![
        Just(vec![0; rank]),
        prop::collection::vec(prop_oneof![3 => Just(0usize), 1 => 0..20usize], rank)
    ];
    let flips = prop_oneof![
        Just(vec![false; rank]),
        prop::collection::vec(prop_oneof![3 => Just(false), 1 => Just(true)], rank)
    ];
    (prop_oneof![in_order, order], gaps, flips, 0..9usize).prop_map(move |(order, gaps, flips, before)| {
        let mut place =
            Place { buffer: 0, offset: before, shape: shape.clone(), strides: vec![0; rank], size };
        let mut span = size;
        for dim in order {
            let stride = span + gaps[dim];
            let reach = stride * (shape[dim].max(1) as usize - 1);
            span += reach + gaps[dim];
            place.strides[dim] = stride as i64;
            if flips[dim] {
                place.strides[dim] = -place.strides[dim];
                place.offset += reach;
            }
        }
        place.buffer = before + span;
        place
    })
}

/// Any strides: elements may repeat and overlap.
fn anywhere(shape: Vec<u64>, size: usize) -> impl Strategy<Value = Place> {
    let rank = shape.len();
    prop::collection::vec(prop_oneof![Just(0), -70..70i64, Just(size as i64)], rank).prop_map(
        move |strides| {
            let reach = |side: fn(i64) -> bool| -> usize {
                let all = shape.iter().zip(&strides).map(|(&n, &s)| (n.max(1) as i64 - 1) * s);
                all.filter(|&reach| side(reach)).sum::<i64>().unsigned_abs() as usize
            };
            let (below, above) = (reach(|n| n < 0), reach(|n| n > 0));
            Place { buffer: below + above + size, offset: below, shape: shape.clone(), strides, size }
        },
    )
}

fn sources(shape: Vec<u64>, size: usize) -> impl Strategy<Value = Place> {
    prop_oneof![apart(shape.clone(), size), anywhere(shape, size)]
}

fn swaps(size: usize) -> impl Strategy<Value = Swap> {
    let units: Vec<Swap> = (1..=16).filter(|n| size.is_multiple_of(*n)).filter_map(Swap::units).collect();
    select(units)
}

/// Places along a dimension: any, or one after the other.
fn lists(len: usize) -> impl Strategy<Value = Vec<u64>> {
    let run = (0..20_u64).prop_map(move |first| (first..first + len as u64).collect());
    prop_oneof![prop::collection::vec(0..20_u64, len), run]
}

fn shape_and_size() -> impl Strategy<Value = (Vec<u64>, usize)> {
    (shapes(), select(&SIZES[..]))
}

/// Returns bytes that differ from their neighbours.
fn noise(len: usize) -> Vec<u8> {
    (0..len as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
}

/// Every size and unit in whole tiles and at their edges, in each order of dimensions.
#[test]
fn tiles_transpose_each_element() {
    let orders = [[0usize, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    for (size, order) in SIZES.into_iter().flat_map(|size| orders.map(|order| (size, order))) {
        let shape = if size < 3 { vec![3u64, 131, 67] } else { vec![3u64, 37, 35] };
        let mut from = Place { buffer: size, offset: 0, shape, strides: vec![0; 3], size };
        for dim in order {
            from.strides[dim] = from.buffer as i64;
            from.buffer *= from.shape[dim] as usize;
        }
        let src = noise(from.buffer);
        for swap in [1, 2, 4, 8, 16].into_iter().filter(|unit| size % unit == 0).filter_map(Swap::units) {
            let mut out = vec![0xEE; src.len()];
            from.source(&src).write_to(&mut out, swap).unwrap();
            assert!(out == from.gather(&src, swap), "elements of {size} in order {order:?}, {swap:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(CASES) })]

    #[test]
    fn put_moves_each_element(
        (to, from, swap) in shape_and_size()
            .prop_flat_map(|(shape, size)| (apart(shape.clone(), size), sources(shape, size), swaps(size)))
    ) {
        let src = noise(from.buffer);
        let mut dst = vec![0xEE; to.buffer];
        let mut expected = dst.clone();
        to.scatter(&from.gather(&src, swap), &mut expected);
        to.destination(&mut dst).put(from.source(&src), swap).unwrap();
        prop_assert_eq!(dst, expected);
    }

    #[test]
    fn runs_pair_each_element_with_that_at_the_same_position(
        (to, from) in (shapes(), select(&SIZES[..]), select(&SIZES[..]))
            .prop_flat_map(|(shape, to, from)| (apart(shape.clone(), to), sources(shape, from)))
    ) {
        let src = noise(from.buffer);
        let mut dst = vec![0xEE; to.buffer];
        // Each destination element is filled with the first byte of its source element.
        let firsts = from.elements().iter().flat_map(|&at| vec![src[at]; to.size]).collect::<Vec<u8>>();
        let mut expected = dst.clone();
        to.scatter(&firsts, &mut expected);
        let source = from.source(&src);
        let runs = to.destination(&mut dst).runs(&source).unwrap();
        let (count, bytes) = (runs.len(), runs.run_bytes());
        prop_assert_eq!(count * bytes, to.elements().len() * to.size);
        let mut seen = 0;
        for (made, given) in runs {
            prop_assert_eq!((made.len(), made.len() / to.size), (bytes, given.len() / from.size));
            for (made, given) in made.chunks_mut(to.size).zip(given.chunks(from.size)) {
                made.fill(given[0]);
            }
            seen += 1;
        }
        prop_assert_eq!(seen, count);
        prop_assert_eq!(dst, expected);
    }

    #[test]
    fn gather_and_scatter_move_each_element(
        (to, places, seed) in shape_and_size().prop_flat_map(|(shape, size)| {
            let lists: Vec<_> = shape.iter().map(|n| lists(*n as usize)).collect();
            (apart(shape, size), lists, any::<u8>())
        })
    ) {
        let last: u64 = places.iter().map(|list| list.iter().max().copied().unwrap_or(0)).sum();
        let table: Vec<u8> = noise((last as usize + 1) * to.size).iter().map(|n| n ^ seed).collect();
        let mut at = vec![0];
        for list in &places {
            at = at.iter().flat_map(|at| list.iter().map(move |place| at + *place as usize)).collect();
        }
        let element = |place: &usize| &table[place * to.size..][..to.size];
        let lists: Vec<&[u64]> = places.iter().map(|list| &list[..]).collect();

        let mut bytes = noise(to.buffer);
        let mut expected = bytes.clone();
        to.scatter(&at.iter().flat_map(element).copied().collect::<Vec<u8>>(), &mut expected);
        to.destination(&mut bytes).gather(&table, &lists).unwrap();
        prop_assert_eq!(&bytes, &expected);

        let (mut got, mut expected) = (vec![0; table.len()], vec![0; table.len()]);
        for (at, element) in at.iter().zip(to.gather(&bytes, Swap::NONE).chunks(to.size)) {
            expected[at * to.size..][..to.size].copy_from_slice(element);
        }
        to.source(&bytes).scatter(&mut got, &lists).unwrap();
        prop_assert_eq!(got, expected);
    }

    #[test]
    fn append_and_write_gather_in_c_order(
        (from, swap) in shape_and_size().prop_flat_map(|(shape, size)| (sources(shape, size), swaps(size)))
    ) {
        let src = noise(from.buffer);
        let expected = from.gather(&src, swap);
        let mut appended = vec![1, 2, 3];
        from.source(&src).append_to(&mut appended, swap).unwrap();
        prop_assert_eq!(&appended[..3], &[1, 2, 3]);
        prop_assert_eq!(&appended[3..], &expected);
        let mut written = vec![0xEE; expected.len()];
        from.source(&src).write_to(&mut written, swap).unwrap();
        prop_assert_eq!(&written, &expected);
        let source = from.source(&src);
        if let Some(dense) = source.as_dense() {
            prop_assert_eq!(dense, from.gather(&src, Swap::NONE));
        }
    }

    #[test]
    fn a_filled_view_is_recognised_until_one_bit_differs(
        place in shape_and_size().prop_flat_map(|(shape, size)| apart(shape, size)),
        kind in 0..3,
        bit: Index,
    ) {
        let element = match kind {
            0 => vec![0; place.size],
            1 => vec![7; place.size],
            _ => noise(place.size),
        };
        let mut dst = vec![0xEE; place.buffer];
        let mut expected = dst.clone();
        let all = place.elements();
        place.scatter(&element.repeat(all.len()), &mut expected);
        place.destination(&mut dst).fill(&element).unwrap();
        prop_assert_eq!(&dst, &expected);
        prop_assert!(place.source(&dst).is_filled_with(&element));
        prop_assert!(!place.source(&dst).is_filled_with(&[0; 33]));
        if !all.is_empty() {
            let bit = bit.index(all.len() * place.size * 8);
            let (element_at, rest) = (bit / (place.size * 8), bit % (place.size * 8));
            dst[all[element_at] + rest / 8] ^= 1 << (rest % 8);
            prop_assert!(!place.source(&dst).is_filled_with(&element));
        }
    }

    #[test]
    fn overlapping_sources_can_be_tested_for_a_fill(
        place in shape_and_size().prop_flat_map(|(shape, size)| anywhere(shape, size)),
        equal: bool,
    ) {
        let src = if equal { vec![9; place.buffer] } else { noise(place.buffer) };
        let element = vec![9; place.size];
        let expected = place.gather(&src, Swap::NONE).iter().all(|&byte| byte == 9);
        prop_assert_eq!(place.source(&src).is_filled_with(&element), expected);
    }

    #[test]
    fn derived_views_have_the_selected_elements(
        (place, order) in shape_and_size().prop_flat_map(|(shape, size)| {
            let order: Vec<u64> = (0..shape.len() as u64).collect();
            (apart(shape, size), Just(order).prop_shuffle())
        }),
        cuts in prop::collection::vec((any::<Index>(), any::<Index>(), 1..4u64), 5),
    ) {
        let rank = place.shape.len();
        let mut model = place.clone();
        let (mut at, mut box_shape, mut steps) = (vec![], vec![], vec![]);
        for (dim, (begin, end, step)) in cuts.into_iter().take(rank).enumerate() {
            let n = place.shape[dim] as usize;
            let begin = begin.index(n + 1);
            let end = begin + end.index(n - begin + 1);
            at.push(begin as u64);
            box_shape.push((end - begin) as u64);
            steps.push(step);
            model.offset = (model.offset as i64 + begin as i64 * place.strides[dim]) as usize;
            model.shape[dim] = ((end - begin) as u64).div_ceil(step);
            model.strides[dim] *= step as i64;
        }
        let (shape, strides) = (model.shape.clone(), model.strides.clone());
        model.shape = order.iter().map(|&dim| shape[dim as usize]).collect();
        model.strides = order.iter().map(|&dim| strides[dim as usize]).collect();

        let src = noise(place.buffer);
        let view = place.source(&src).sub(&at, &box_shape).unwrap().step(&steps).unwrap();
        let view = view.permute(&order).unwrap();
        let gathered = model.gather(&src, Swap::NONE);
        let mut out = vec![];
        view.append_to(&mut out, Swap::NONE).unwrap();
        prop_assert_eq!(&out, &gathered);
        let keep: Vec<bool> = view.shape().iter().map(|&n| n != 1).collect();
        let mut squeezed = vec![];
        view.squeeze(&keep).unwrap().append_to(&mut squeezed, Swap::NONE).unwrap();
        prop_assert_eq!(&squeezed, &gathered);

        let mut dst = vec![0xEE; place.buffer];
        let mut expected = dst.clone();
        model.scatter(&gathered, &mut expected);
        let part = place.destination(&mut dst).sub(&at, &box_shape).unwrap().step(&steps).unwrap();
        let mut part = part.permute(&order).unwrap().squeeze(&keep).unwrap();
        part.put(view.squeeze(&keep).unwrap(), Swap::NONE).unwrap();
        if let Some(dense) = part.as_dense_mut() {
            prop_assert_eq!(dense, &gathered);
        }
        prop_assert_eq!(dst, expected);
    }

    #[test]
    fn swap_in_place_does_not_change_a_partial_unit(len in 0..200usize, swap in swaps(16)) {
        let mut bytes = noise(len);
        let mut expected = bytes.clone();
        for unit in expected.chunks_exact_mut(swap.unit()) {
            unit.reverse();
        }
        swap_in_place(&mut bytes, swap);
        prop_assert_eq!(bytes, expected);
    }
}
