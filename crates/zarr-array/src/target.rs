//! A selection resolved against an array: its shape, its plan, and the order of its elements.

use zarr_strided::{Destination, Input, Plain, bytes_of, bytes_of_mut, zeroed};
use zarr_traits::{Dims, byte_len};

use crate::core::Core;
use crate::error::{ArrayError, ArrayErrorKind, ArrayResult};
use crate::pick::PickPlan;
use crate::plan::Plan;
use crate::select::{Along, Picked, Selection};

/// The target of a read or a write.
pub(crate) struct Target {
    pub(crate) plan: TargetPlan,
    /// The order of the selection, where it differs from that of the plan.
    pub(crate) orders: Orders,
    /// The shape of the selection, including the dimensions that an index drops.
    pub(crate) full: Dims,
    /// The shape of the result, without these dimensions.
    pub(crate) kept: Vec<u64>,
    /// The selected elements along each dimension.
    pub(crate) places: Vec<Along>,
}

/// The plan of a selection. Its elements are in ascending order.
pub(crate) enum TargetPlan {
    Ranges(Plan),
    Lists(PickPlan),
}

/// The order of the elements along a dimension of the result.
#[derive(Debug)]
pub(crate) enum Order {
    /// The order of the plan.
    Same,
    Reversed,
    /// For each element of the selection its number in the plan.
    List(Vec<u64>),
}

/// The order of the elements of a selection along each of its dimensions. An empty list stands for the order of the
/// plan in all dimensions.
pub(crate) struct Orders(Vec<Order>);

impl Target {
    pub(crate) fn new(core: &Core, selection: &Selection) -> ArrayResult<Self> {
        Self::resolve(core, selection).map_err(|e| e.in_array(&core.path))
    }

    /// Checks the shape of values or of memory.
    pub(crate) fn check_shape(&self, got: &[u64]) -> ArrayResult<()> {
        if self.kept == got {
            return Ok(());
        }
        let message = format!("the selection has shape {:?}, the values have shape {got:?}", self.kept);
        Err(ArrayError::invalid(message))
    }

    /// Checks values or memory of the caller. Only their number counts if they have no shape.
    pub(crate) fn check_lent(&self, got: &[u64], has_shape: bool) -> ArrayResult<()> {
        match got {
            [got] if !has_shape && self.full.product() == Some(*got) => Ok(()),
            [got] if !has_shape => {
                let message = format!("the selection has shape {:?}, there are {got} values", self.kept);
                Err(ArrayError::invalid(message))
            }
            got => self.check_shape(got),
        }
    }

    fn resolve(core: &Core, selection: &Selection) -> ArrayResult<Self> {
        let places = selection.resolve(&core.shape)?;
        let full: Dims = places.iter().map(Along::count).collect();
        byte_len(&full, core.size)?;
        let kept = places.iter().filter(|along| along.keeps()).map(Along::count).collect();
        let ranges: Option<Vec<Picked>> = places.iter().map(Along::ascending).collect();
        let (plan, orders) = match ranges {
            Some(picked) => {
                let plan = Plan::new(picked, &core.shape, &*core.grid, core.inner())?;
                let is_reversed = |along: &Along| matches!(along, Along::Steps { reversed: true, .. });
                let order = |along: &Along| if is_reversed(along) { Order::Reversed } else { Order::Same };
                let orders = match places.iter().any(is_reversed) {
                    true => places.iter().map(order).collect(),
                    false => Vec::new(),
                };
                (TargetPlan::Ranges(plan), orders)
            }
            None => {
                let (plan, orders) = PickPlan::new(core, &places)?;
                (TargetPlan::Lists(plan), orders)
            }
        };
        Ok(Self { plan, orders: Orders(orders), full, kept, places })
    }
}

impl TargetPlan {
    /// The number of elements along each dimension.
    pub(crate) fn shape(&self) -> Dims {
        match self {
            Self::Ranges(plan) => plan.result_shape(),
            Self::Lists(plan) => plan.shape(),
        }
    }
}

impl Orders {
    /// Whether the plan has the order of the selection.
    pub(crate) fn are_same(&self) -> bool {
        self.0.iter().all(|order| matches!(order, Order::Same))
    }

    /// Brings the elements of a plan of shape `planned` into the order of the selection, in `ordered`.
    pub(crate) fn reorder<M: Plain>(
        &self,
        memory: &[M],
        planned: &[u64],
        ordered: &mut [M],
        size: usize,
    ) -> ArrayResult<()> {
        let places = self.places(planned)?;
        let places: Vec<&[u64]> = places.iter().map(|list| &list[..]).collect();
        let shape: Vec<u64> = places.iter().map(|list| list.len() as u64).collect();
        let mut view = Destination::dense(bytes_of_mut(ordered), &shape, size)?;
        Ok(view.gather(bytes_of(memory), &places)?)
    }

    /// Returns elements in the order of a plan of shape `planned`. If a position is selected twice, its last element is
    /// kept.
    pub(crate) fn apply(&self, input: &Input, planned: &[u64], size: usize) -> ArrayResult<Input> {
        let mut memory: Vec<u8> = zeroed(byte_len(planned, size)?)?;
        let places = self.places(planned)?;
        let places: Vec<&[u64]> = places.iter().map(|list| &list[..]).collect();
        input.source().scatter(&mut memory, &places)?;
        Ok(Input::sized(memory, size, planned)?)
    }

    /// Returns, for each dimension of the selection, where its elements are in memory of shape `planned`.
    fn places(&self, planned: &[u64]) -> ArrayResult<Vec<Vec<u64>>> {
        let mut places: Vec<Vec<u64>> = Vec::with_capacity(planned.len());
        let mut stride = 1;
        for (order, count) in self.0.iter().zip(planned).rev() {
            let place = |element: u64| element * stride;
            places.push(match order {
                Order::Same => list((0..*count).map(place))?,
                Order::Reversed => list((0..*count).rev().map(place))?,
                Order::List(order) => list(order.iter().copied().map(place))?,
            });
            stride *= count;
        }
        places.reverse();
        Ok(places)
    }
}

/// Collects a list. It can be as long as a dimension, so there may be too little memory.
fn list(places: impl Iterator<Item = u64>) -> ArrayResult<Vec<u64>> {
    let (mut list, len) = (Vec::new(), places.size_hint().0);
    list.try_reserve_exact(len).map_err(|_| {
        ArrayError::new(ArrayErrorKind::LimitExceeded, format!("no memory for a list of {len} positions"))
    })?;
    list.extend(places);
    Ok(list)
}
