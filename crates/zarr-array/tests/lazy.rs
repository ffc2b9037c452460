//! Lazy views, against a model that holds all elements.

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use zarr_array::blocking::Array;
use zarr_array::{
    ArrayErrorKind, ArrayMeta, Axis, DataType, LazyView, NdVec, Selection, Storage, block_on, standard,
};
use zarr_conformance::instruments::Counting;
use zarr_store::MemoryStore;

use crate::common::{message, refused};

/// A step that makes a view from views.
#[derive(Debug, Clone)]
enum Step {
    /// The positions in each dimension: numbers that are reduced to the length of the dimension.
    Select(Vec<Part>),
    /// Dimensions `n..` come first.
    Rotate(usize),
    /// Joined with another array of the same shape, before or behind it.
    Concat(usize, bool),
    Stack(usize, bool),
}

#[derive(Debug, Clone)]
enum Part {
    All,
    Index(u64),
    Range(u64, u64, i64),
    List(Vec<u64>),
    Points(u64),
}

/// All elements of a view.
#[derive(Debug, Clone, PartialEq)]
struct Model(NdVec<u32>);

impl Model {
    fn build(shape: Vec<u64>, at: impl Fn(&[u64]) -> u32) -> Self {
        let count: u64 = shape.iter().product();
        let values = (0..count).map(|mut number| {
            let mut index = vec![0; shape.len()];
            for (dim, length) in shape.iter().enumerate().rev() {
                index[dim] = number % length;
                number /= length;
            }
            at(&index)
        });
        Self(NdVec::new(shape.clone(), values.collect()).unwrap())
    }

    fn shape(&self) -> &[u64] {
        self.0.shape()
    }

    /// Returns the elements at these positions. `None` is a dimension that is dropped; the points of all dimensions vary
    /// along the first of them.
    fn select(&self, lists: &[(Vec<u64>, bool)], points: &[usize]) -> Self {
        let first = points.first().copied();
        let follows = |dim: usize| points.contains(&dim) && Some(dim) != first;
        let dims: Vec<usize> = (0..lists.len()).filter(|dim| lists[*dim].1 && !follows(*dim)).collect();
        let shape = dims.iter().map(|dim| lists[*dim].0.len() as u64).collect();
        Self::build(shape, |index| {
            let of = |dim: usize| {
                dims.iter().position(|d| *d == dim).map_or(0, |n| usize::try_from(index[n]).unwrap())
            };
            let at: Vec<u64> = (0..lists.len())
                .map(|dim| lists[dim].0[if follows(dim) { of(first.unwrap()) } else { of(dim) }])
                .collect();
            *self.0.get(&at).unwrap()
        })
    }

    fn concat(&self, behind: &Self, dim: usize) -> Self {
        let mut shape = self.shape().to_vec();
        let length = shape[dim];
        shape[dim] += behind.shape()[dim];
        Self::build(shape, |index| {
            let mut index = index.to_vec();
            match index[dim].checked_sub(length) {
                None => *self.0.get(&index).unwrap(),
                Some(n) => {
                    index[dim] = n;
                    *behind.0.get(&index).unwrap()
                }
            }
        })
    }

    fn deeper(&self, dim: usize) -> Self {
        let mut shape = self.shape().to_vec();
        shape.insert(dim, 1);
        Self(NdVec::new(shape, self.0.as_slice().to_vec()).unwrap())
    }
}

/// Returns an array of this shape whose elements differ, and its model.
fn array(shape: &[u64], first: u32) -> (Array, Model) {
    let chunks: Vec<u64> = shape.iter().map(|n| n.div_ceil(2).max(1)).collect();
    let meta = ArrayMeta::builder(shape, DataType::UInt32).chunks(chunks).build().unwrap();
    let array = Array::create(MemoryStore::new(), "/a", meta, &standard()).unwrap();
    let count = u32::try_from(shape.iter().product::<u64>()).unwrap();
    let values = NdVec::new(shape, (first..first + count).collect()).unwrap();
    array.write(.., &values).unwrap();
    (array, Model(values))
}

fn select(view: &LazyView<Array>, model: &Model, parts: &[Part]) -> (LazyView<Array>, Model) {
    let (mut axes, mut lists, mut points) = (Vec::new(), Vec::new(), Vec::new());
    for (dim, length) in model.shape().iter().copied().enumerate() {
        let part = parts.get(dim).filter(|_| length > 0).unwrap_or(&Part::All);
        let (axis, list, keeps) = match part {
            Part::All => (Axis::from(..), (0..length).collect(), true),
            Part::Index(n) => (Axis::from(n % length), vec![n % length], false),
            Part::Range(from, count, step) => {
                let from = from % length;
                let to = from + count % (length - from + 1);
                let all: Vec<u64> = if *step < 0 { (from..to).rev().collect() } else { (from..to).collect() };
                let list = all.into_iter().step_by(usize::try_from(step.unsigned_abs()).unwrap()).collect();
                (Axis::step(from..to, *step), list, true)
            }
            Part::List(list) => {
                let list: Vec<u64> = list.iter().map(|n| n % length).collect();
                (Axis::list(list.iter().copied()), list, true)
            }
            Part::Points(seed) => {
                points.push(dim);
                let list: Vec<u64> = (0..4).map(|n| (seed >> (4 * n)) % length).collect();
                (Axis::points(list.iter().copied()), list, true)
            }
        };
        axes.push(axis);
        lists.push((list, keeps));
    }
    (view.select(Selection::new(axes)).unwrap(), model.select(&lists, &points))
}

/// Applies a step to a view and to its model.
fn apply(view: LazyView<Array>, model: Model, step: &Step, number: u32) -> (LazyView<Array>, Model) {
    let rank = model.shape().len();
    match step {
        Step::Select(parts) => select(&view, &model, parts),
        Step::Rotate(n) => {
            let order: Vec<usize> = (0..rank).map(|dim| (dim + n) % rank.max(1)).collect();
            let shape = order.iter().map(|dim| model.shape()[*dim]).collect();
            let rotated = Model::build(shape, |index| {
                let mut of = vec![0; rank];
                order.iter().zip(index).for_each(|(dim, n)| of[*dim] = *n);
                *model.0.get(&of).unwrap()
            });
            (view.transpose(&order).unwrap(), rotated)
        }
        Step::Concat(dim, first) | Step::Stack(dim, first) => {
            let stacks = matches!(step, Step::Stack(..));
            if (rank == 0 && !stacks) || rank > 4 {
                return (view, model);
            }
            let (other, other_model) = array(model.shape(), 1000 * number);
            let other = other.lazy();
            let (a, b) = if *first { (other, view) } else { (view, other) };
            let (ma, mb) = if *first { (other_model, model) } else { (model, other_model) };
            if stacks {
                let dim = dim % (rank + 1);
                let joined = ma.deeper(dim).concat(&mb.deeper(dim), dim);
                (LazyView::stack([a, b], dim).unwrap(), joined)
            } else {
                let dim = dim % rank;
                (LazyView::concat([a, b], dim).unwrap(), ma.concat(&mb, dim))
            }
        }
    }
}

fn part() -> impl Strategy<Value = Part> {
    prop_oneof![
        Just(Part::All),
        (0..8_u64).prop_map(Part::Index),
        (0..8_u64, 0..9_u64, prop_oneof![-3..0_i64, 1..4_i64]).prop_map(|(a, b, c)| Part::Range(a, b, c)),
        prop::collection::vec(0..16_u64, 0..6).prop_map(Part::List),
        any::<u64>().prop_map(Part::Points),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => prop::collection::vec(part(), 0..4).prop_map(Step::Select),
        1 => (0..4_usize).prop_map(Step::Rotate),
        1 => (0..4_usize, any::<bool>()).prop_map(|(dim, first)| Step::Concat(dim, first)),
        1 => (0..4_usize, any::<bool>()).prop_map(|(dim, first)| Step::Stack(dim, first)),
    ]
}

#[test]
fn any_composition_reads_what_the_steps_one_by_one_would() {
    let case = (prop::collection::vec(0..6_u64, 0..4), prop::collection::vec(step(), 1..6));
    TestRunner::new(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })
        .run(&case, |(shape, steps)| {
            let (array, mut model) = array(&shape, 0);
            let mut view = array.lazy();
            for (number, step) in (1..).zip(&steps) {
                (view, model) = apply(view, model, step, number);
                prop_assert_eq!(view.shape(), model.shape());
            }
            prop_assert_eq!(&view.read::<u32>().unwrap(), &model.0);
            Ok(())
        })
        .unwrap();
}

#[test]
fn a_write_goes_to_the_elements_that_a_read_comes_from() {
    let ((a, _), (b, _)) = (array(&[4, 6], 0), array(&[4, 6], 100));
    let both = LazyView::concat([a.lazy(), b.lazy()], 1).unwrap();
    let view = both.select((1..3, Axis::step(4..9, -2))).unwrap().transpose(&[1, 0]).unwrap();
    let values = NdVec::new([3, 2], vec![1_u32, 2, 3, 4, 5, 6]).unwrap();
    view.write(values.clone()).unwrap();
    assert_eq!(view.read::<u32>().unwrap(), values);
    assert_eq!(a.read::<u32>((1, 3..)).unwrap().as_slice(), [9, 5, 11]);
    assert_eq!(b.read::<u32>((2, ..4)).unwrap().as_slice(), [4, 113, 2, 115]);
    let wrong = view.write(NdVec::new([2, 3], vec![0_u32; 6]).unwrap());
    assert_eq!(message(wrong), "the view has shape [3, 2], the values have shape [2, 3]");
}

#[test]
fn strings_are_moved_to_their_places() {
    let meta = |length: u64| ArrayMeta::builder([length], DataType::String).chunks([2]).build().unwrap();
    let texts = |first: char| (0..3).map(|n| format!("{first}{n}")).collect::<Vec<_>>();
    let views = ['a', 'b'].map(|first| {
        let array = Array::create(MemoryStore::new(), "/a", meta(3), &standard()).unwrap();
        array.write(.., &texts(first)).unwrap();
        array.lazy()
    });
    let view = LazyView::concat(views, 0).unwrap().select(Axis::list([4, 0, 5, 2])).unwrap();
    assert_eq!(view.read::<String>().unwrap().as_slice(), ["b1", "a0", "b2", "a2"]);
}

#[test]
fn only_chunks_of_the_view_are_read_each_once() {
    let (storage, counting) = Counting::over(&Storage::from(MemoryStore::new()));
    let views = (0..3_u32).map(|n| {
        let meta = ArrayMeta::builder([8, 8], DataType::UInt32).chunks([4, 4]).build().unwrap();
        let array = Array::create(storage.clone(), &format!("/{n}"), meta, &standard()).unwrap();
        array.write(.., &[n; 64]).unwrap();
        array.lazy()
    });
    let all = LazyView::concat(views, 0).unwrap();
    let view = all.select((6..18, [1, 7, 1])).unwrap().select((Axis::step(.., -1), 0)).unwrap();
    let before = counting.counts();
    assert_eq!(view.read::<u32>().unwrap().as_slice(), [2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0]);
    assert_eq!((counting.counts() - before).reads, 4);
    let cost = view.explain().unwrap();
    assert_eq!((cost.chunks, cost.requests, cost.bytes_result), (4, 4, 48));
}

#[test]
fn views_that_do_not_fit_are_refused() {
    let (a, b) = (array(&[4, 6], 0).0.lazy(), array(&[4, 5], 0).0.lazy());
    let meta = ArrayMeta::builder([4, 6], DataType::Int8).build().unwrap();
    let other = Array::create(MemoryStore::new(), "/a", meta, &standard()).unwrap().lazy();
    let cases = [
        (
            LazyView::concat([a.clone(), b.clone()], 0),
            "a view of shape [4, 5] cannot follow one of shape [4, 6] along dimension 0",
        ),
        (LazyView::concat([a.clone(), other], 0), "a view of int8 cannot join one of uint32"),
        (LazyView::concat([], 0), "there is no view to concatenate"),
        (LazyView::concat([a.clone()], 2), "there is no dimension 2 in views of shape [4, 6]"),
        (LazyView::stack([a.clone()], 3), "a view of shape [4, 6] has no place for dimension 3"),
        (a.transpose(&[0, 0]), "[0, 0] is not an order of the 2 dimensions of the view"),
        (a.select((4, ..)), "index 4 of dimension 0 is not inside its length 4"),
    ];
    for (result, expected) in cases {
        assert_eq!(refused(result), (ArrayErrorKind::InvalidArgument, expected.to_owned()));
    }
    assert_eq!(LazyView::concat([a, b], 1).unwrap().shape(), [4, 11]);
}

#[test]
fn an_async_handle_has_the_same_views() {
    let (array, model) = array(&[4, 6], 0);
    let view = array.into_async().lazy().select((.., 2..4)).unwrap().transpose(&[1, 0]).unwrap();
    let read = block_on(view.read::<u32>()).unwrap();
    assert_eq!((read[[0, 1]], read[[1, 3]]), (model.0[[1, 2]], model.0[[3, 3]]));
    block_on(view.write(NdVec::new([2, 4], vec![7_u32; 8]).unwrap())).unwrap();
    assert_eq!(block_on(view.read::<u32>()).unwrap().as_slice(), [7; 8]);
}
