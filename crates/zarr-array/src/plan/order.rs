//! The order of the elements of a selection, where it differs from that of the plan.

use zarr_strided::{Destination, Input, Plain, byte_len, bytes_of, bytes_of_mut, zeroed};

use crate::error::{ArrayError, ArrayErrorKind, ArrayResult};

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

impl Orders {
    /// Returns the order of each dimension, or that of the plan for an empty list.
    pub(crate) fn new(orders: Vec<Order>) -> Self {
        Self(orders)
    }

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
