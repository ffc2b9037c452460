//! Plans of random selections, run on a model: an array whose elements are their own positions.

use proptest::prelude::*;
use zarr_strided::Output;
use zarr_traits::RegularGrid;

use super::joint::Joint;
use super::*;
use crate::select::{Axis, Selection};

/// An array in chunks of `chunk`, each of inner chunks of `inner`.
#[derive(Debug, Clone)]
struct Model {
    shape: Vec<u64>,
    chunk: Vec<u64>,
    inner: Option<Inner>,
    reads_parts: bool,
    gap: u64,
}

impl Model {
    fn plan(&self, selection: &Selection) -> (Plan, Orders, Vec<Along>) {
        let grid = RegularGrid::new(&self.chunk[..]).unwrap();
        let along = selection.resolve(&self.shape).unwrap();
        let Self { shape, inner, reads_parts, gap, .. } = self;
        let layout =
            Layout { shape, grid: &grid, inner: inner.clone(), reads_parts: *reads_parts, gap: *gap };
        let (plan, orders) = Plan::new(&along, &layout).unwrap();
        (plan, orders, along)
    }

    /// The element at a position of the array.
    fn element(&self, at: &[u64]) -> u32 {
        let number = at.iter().zip(&self.shape).fold(0, |number, (at, length)| number * length + at);
        u32::try_from(number).unwrap()
    }

    /// The elements of a box of the array; those beyond its edge are 0.
    fn elements(&self, corner: &[u64], shape: &[u64]) -> Vec<u32> {
        let all = shape.iter().product::<u64>();
        let places = (0..all).map(|number| unravel(number, shape));
        let element = |place: Dims| {
            let at: Dims = corner.iter().zip(&place).map(|(corner, place)| corner + place).collect();
            let is_inside = at.iter().zip(&self.shape).all(|(at, length)| at < length);
            if is_inside { self.element(&at) } else { 0 }
        };
        places.map(element).collect()
    }

    /// The elements of a selection, by its definition.
    fn select(&self, along: &[Along]) -> Vec<u32> {
        let shape: Dims = along.iter().map(Along::count).collect();
        let element = |number: u64| {
            let mut at = Dims::filled(0, self.shape.len());
            for (along, element) in along.iter().zip(&unravel(number, &shape)) {
                along.locate(*element, |dim, position| at[dim] = position);
            }
            self.element(&at)
        };
        (0..shape.product().unwrap()).map(element).collect()
    }

    /// Reads selections by their joint plan, and checks the plan on the way.
    fn read(&self, selections: &[Selection], by_tiles: bool) -> Vec<Vec<u32>> {
        let plans: Vec<_> = selections.iter().map(|selection| self.plan(selection)).collect();
        let outputs: Vec<Output> = plans
            .iter()
            .map(|(plan, ..)| {
                let memory = vec![u32::MAX; usize::try_from(plan.shape().product().unwrap()).unwrap()];
                Output::new(memory, &plan.shape(), plan.cuts().unwrap()).unwrap()
            })
            .collect();
        let (plans, orders): (Vec<Plan>, Vec<(Orders, Vec<Along>)>) =
            plans.into_iter().map(|(plan, orders, along)| (plan, (orders, along))).unzip();
        let joint = Joint::new(plans.into_iter().collect(), by_tiles).unwrap();
        for number in 0..joint.cells() {
            let cell = joint.cell(number);
            for number in 0..joint.blocks(&cell) {
                let block = joint.block(&cell, number);
                let takes = joint.takes(&block);
                self.check_block(&joint, &block, &takes);
                takes.iter().for_each(|take| self.decode(&joint, &block, take, &outputs));
            }
            if joint.is_one_block() {
                assert_eq!(joint.blocks(&cell), 1);
            }
        }
        let shapes: Vec<Dims> = joint.plans().iter().map(Plan::shape).collect();
        let results = outputs.into_iter().zip(shapes).zip(orders);
        let results = results.map(|((output, shape), (orders, along))| {
            let memory: Vec<u32> = output.into_vec().unwrap();
            let full: Dims = along.iter().map(Along::count).collect();
            let mut ordered = vec![0; usize::try_from(full.product().unwrap()).unwrap()];
            match orders.are_same() {
                true => ordered = memory,
                false => orders.reorder(&memory, &shape, &mut ordered, 4).unwrap(),
            }
            assert_eq!(ordered, self.select(&along));
            ordered
        });
        results.collect()
    }

    fn check_block(&self, joint: &Joint, block: &Cell, takes: &[Take]) {
        let mut touched = 0;
        for take in takes {
            assert!(take.part.is_inside(&block.shape), "{take:?}");
            let start = block.start.iter().zip(&block.chunk).zip(&self.chunk);
            start.for_each(|((start, index), length)| assert_eq!(*start, index * length));
            if let Some(inner) = &self.inner {
                let of = |dim: usize| {
                    let (start, length) = (take.part.start()[dim], inner.shape[dim]);
                    (start + take.part.shape()[dim]).div_ceil(length) - start / length
                };
                touched += (0..self.shape.len()).map(of).product::<u64>();
            }
        }
        let together = joint.inner().map_or(1, |inner| inner.together.max(1));
        assert!(touched <= together.max(u64::from(takes.len() == 1 && joint.plans().len() > 1)), "{touched}");
    }

    /// Decodes a take, inner chunk by inner chunk, as a codec does, or all at once.
    fn decode(&self, joint: &Joint, cell: &Cell, take: &Take, outputs: &[Output]) {
        for pick in take.picks.iter() {
            let plan = joint.of(pick);
            let pieces = match &self.inner {
                Some(inner) => pieces(&take.part, &inner.shape),
                None => vec![Region::whole(take.part.shape())],
            };
            for piece in pieces {
                let dims = cell.start.iter().zip(take.part.start()).zip(piece.start());
                let corner: Dims = dims.map(|((a, b), c)| a + b + c).collect();
                let memory = self.elements(&corner, piece.shape());
                let hits = plan.hits(&pick.at, &pick.count, &corner, piece.shape());
                let Some(first) = hits.first() else { continue };
                let tile = plan.tile(first);
                assert!(tile.holds(first) && plan.tiles_of(pick).any(|of| of == tile));
                let mut result = outputs[pick.plan].take(tile.number).expect("each tile once");
                hits.take(zarr_strided::bytes_of(&memory), piece.shape(), &tile.at, &mut result).unwrap();
                if pick.is_dense && self.inner.is_none() {
                    let dense = hits::Hits::Dense { at: pick.at.clone(), count: pick.count.clone() };
                    dense
                        .take(zarr_strided::bytes_of(&memory), piece.shape(), &tile.at, &mut result)
                        .unwrap();
                }
            }
        }
    }
}

/// The parts of a box in the inner chunks that it touches, relative to the box.
fn pieces(part: &Region, inner: &[u64]) -> Vec<Region> {
    let first: Dims = part.start().iter().zip(inner).map(|(at, length)| at / length).collect();
    let ends = part.start().iter().zip(part.shape()).zip(inner);
    let count: Dims =
        ends.zip(&first).map(|(((at, n), length), first)| (at + n).div_ceil(*length) - first).collect();
    let piece = |number: u64| {
        let (mut start, mut shape) = (Dims::new(), Dims::new());
        for (dim, within) in unravel(number, &count).iter().enumerate() {
            let (low, high) = (part.start()[dim], part.start()[dim] + part.shape()[dim]);
            let from = ((first[dim] + within) * inner[dim]).max(low);
            start.push(from - low);
            shape.push(((first[dim] + within + 1) * inner[dim]).min(high) - from);
        }
        Region::new(start, shape).unwrap()
    };
    (0..count.product().unwrap()).map(piece).collect()
}

/// A selection of one dimension of at least one element.
fn axis(length: u64) -> impl Strategy<Value = Axis> {
    let positions = move || prop::collection::vec(0..length, 0..9);
    prop_oneof![
        3 => (0..length, 0..=length, prop_oneof![Just(1_i64), -3..4_i64, Just(9)]).prop_map(move |(a, b, step)| {
            Axis::step(a.min(b)..a.max(b), if step == 0 { 1 } else { step })
        }),
        1 => (0..length).prop_map(Axis::from),
        2 => positions().prop_map(Axis::list),
        1 => Just(Axis::from(..)),
    ]
}

fn selection(shape: Vec<u64>) -> impl Strategy<Value = Selection> {
    let points = |shape: Vec<u64>| {
        let point = shape.iter().map(|length| 0..*length).collect::<Vec<_>>();
        prop::collection::vec(point, 0..12).prop_map(move |points| {
            let axis = |dim: usize| Axis::points(points.iter().map(|point| point[dim]).collect::<Vec<_>>());
            Selection::new((0..shape.len().min(2)).map(axis).collect())
        })
    };
    let axes = shape.iter().map(|length| axis(*length)).collect::<Vec<_>>();
    prop_oneof![4 => axes.prop_map(Selection::new), 1 => points(shape)]
}

prop_compose! {
    fn model()(
        dims in prop::collection::vec((1_u64..24, 1_u64..5, 1_u64..4), 1..4),
        together in 1_u64..12, has_inner: bool, reads_parts: bool, gap in 0_u64..4,
    ) -> Model {
        let inner: Dims = dims.iter().map(|(_, inner, _)| *inner).collect();
        Model {
            shape: dims.iter().map(|(length, ..)| *length).collect(),
            chunk: dims.iter().map(|(_, inner, times)| inner * times).collect(),
            inner: has_inner.then_some(Inner { shape: inner, together }),
            reads_parts: has_inner || reads_parts,
            gap,
        }
    }
}

prop_compose! {
    fn reads()(model in model())(
        selections in prop::collection::vec(selection(model.shape.clone()), 1..4), model in Just(model),
    ) -> (Model, Vec<Selection>) {
        (model, selections)
    }
}

/// Reads selections together, alone, and alone with a take for each tile.
fn check((model, selections): (Model, Vec<Selection>)) {
    let together = model.read(&selections, false);
    for (selection, together) in selections.iter().zip(together) {
        for by_tiles in [false, true] {
            assert_eq!(model.read(std::slice::from_ref(selection), by_tiles)[0], together);
        }
    }
}

#[test]
#[ignore = "large: cargo xtask full"]
fn large_plans_read_each_selected_element_once() {
    proptest!(ProptestConfig::with_cases(20_000), |(case in reads())| check(case));
}

proptest! {
    /// Every selected element is read once, in its place, from the right chunk, in blocks that are small enough.
    #[test]
    fn a_plan_reads_each_selected_element_once(case in reads()) {
        check(case);
    }

    /// A cell is complete if all elements of its chunk inside the array are selected, and whole if the chunk is.
    #[test]
    fn cells_know_what_they_leave_out((model, selections) in reads()) {
        for selection in &selections {
            let (plan, ..) = model.plan(selection);
            for number in 0..plan.cells() {
                let cell = plan.cell(number);
                let chosen = cell.count.product();
                let ends = cell.start.iter().zip(&cell.shape).zip(&model.shape);
                let inside: Dims = ends.map(|((start, n), length)| (length - start).min(*n)).collect();
                prop_assert_eq!(plan.is_complete(&cell), chosen == inside.product());
                prop_assert_eq!(plan.is_whole(&cell), chosen == cell.shape.product());
                prop_assert!(plan.around(&cell).is_inside(&cell.shape));
            }
        }
    }
}

#[test]
fn a_plan_with_a_list_keeps_no_chunks_of_its_ranges() {
    let shape = vec![1 << 50, 2];
    let model = Model { shape, chunk: vec![1, 2], inner: None, reads_parts: true, gap: 0 };
    let (plan, ..) = model.plan(&Selection::from((.., [1])));
    assert_eq!((plan.cells(), plan.tiles()), (1 << 50, 1 << 50));
    let cell = plan.cell(1 << 49);
    assert_eq!(
        (&cell.chunk[..], &cell.at[..], &cell.count[..]),
        (&[1 << 49, 0][..], &[1 << 49, 0][..], &[1, 1][..])
    );
}

#[test]
fn an_empty_selection_has_no_cell_and_a_scalar_has_one() {
    let model = |shape: &[u64]| Model {
        shape: shape.into(),
        chunk: vec![4; shape.len()],
        inner: None,
        reads_parts: true,
        gap: 0,
    };
    let (plan, ..) = model(&[0, 9]).plan(&Selection::from([0..0, 0..9]));
    assert_eq!(plan.cells(), 0);
    let (plan, ..) = model(&[]).plan(&Selection::all());
    assert_eq!(plan.cells(), 1);
    assert!(plan.is_complete(&plan.cell(0)));
}
