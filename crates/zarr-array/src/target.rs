//! A selection resolved against an array: its shape, its plan, and the order of its elements.

use zarr_strided::{Destination, Input, Plain, bytes_of, bytes_of_mut, zeroed};
use zarr_traits::{Dims, byte_len};

use crate::core::Core;
use crate::error::ArrayResult;
use crate::pick::{Order, PickPlan};
use crate::plan::Plan;
use crate::select::{Along, Picked, Selection};

/// The target of a read or a write.
pub(crate) struct Target {
    pub(crate) plan: TargetPlan,
    /// The shape of the selection, with the dimensions that an index drops.
    pub(crate) full: Dims,
    /// The shape without them.
    pub(crate) kept: Vec<u64>,
    /// The selected elements along each dimension.
    pub(crate) places: Vec<Along>,
}

/// The plan of a selection.
pub(crate) enum TargetPlan {
    /// Of ranges with steps, in ascending order.
    Ranges(Plan),
    /// Of anything else, and the order of the selection.
    Lists(PickPlan, Orders),
}

/// The order of the elements of a selection along each of its dimensions.
pub(crate) struct Orders(Vec<Order>);

impl Target {
    pub(crate) fn new(core: &Core, selection: &Selection) -> ArrayResult<Self> {
        Self::resolve(core, selection).map_err(|e| e.in_array(&core.path))
    }

    fn resolve(core: &Core, selection: &Selection) -> ArrayResult<Self> {
        let places = selection.resolve(&core.shape)?;
        let full: Dims = places.iter().map(Along::count).collect();
        byte_len(&full, core.size)?;
        let kept = places.iter().filter(|along| along.keeps()).map(Along::count).collect();
        let ascending: Option<Vec<Picked>> = places.iter().map(Along::ascending).collect();
        let plan = match ascending {
            Some(picked) => TargetPlan::Ranges(Plan::new(&picked, &core.shape, &*core.grid, core.inner())?),
            None => {
                let (plan, orders) = PickPlan::new(core, &places)?;
                TargetPlan::Lists(plan, Orders(orders))
            }
        };
        Ok(Self { plan, full, kept, places })
    }
}

impl Orders {
    /// Returns the shape of the selection if the shape of its plan is `planned`.
    pub(crate) fn shape(&self, planned: &[u64]) -> Dims {
        let dims = self.0.iter().zip(planned);
        dims.map(|(order, count)| order.as_ref().map_or(*count, |order| order.len() as u64)).collect()
    }

    /// Brings the elements of a plan of shape `planned` into the order of the selection, in `ordered`.
    pub(crate) fn reorder<M: Plain>(
        &self,
        memory: Vec<M>,
        planned: &[u64],
        mut ordered: Vec<M>,
        size: usize,
    ) -> ArrayResult<Vec<M>> {
        if self.0.iter().all(Option::is_none) {
            return Ok(memory);
        }
        let places = self.places(planned);
        let places: Vec<&[u64]> = places.iter().map(|list| &list[..]).collect();
        let mut view = Destination::dense(bytes_of_mut(&mut ordered), &self.shape(planned), size)?;
        view.gather(bytes_of(&memory), &places)?;
        Ok(ordered)
    }

    /// Returns elements in the order of a plan of shape `planned`. Of equal positions the last one counts.
    pub(crate) fn apply(&self, input: &Input, planned: &[u64], size: usize) -> ArrayResult<Input> {
        let mut memory: Vec<u8> = zeroed(byte_len(planned, size)?)?;
        let places = self.places(planned);
        let places: Vec<&[u64]> = places.iter().map(|list| &list[..]).collect();
        input.source().scatter(&mut memory, &places)?;
        Ok(Input::sized(memory, size, planned)?)
    }

    /// Returns, for each dimension of the selection, where its elements are in memory of shape `planned`.
    fn places(&self, planned: &[u64]) -> Vec<Vec<u64>> {
        let mut places: Vec<Vec<u64>> = Vec::with_capacity(planned.len());
        let mut stride = 1;
        for (order, count) in self.0.iter().zip(planned).rev() {
            let place = |element: u64| element * stride;
            places.push(match order {
                Some(order) => order.iter().copied().map(place).collect(),
                None => (0..*count).map(place).collect(),
            });
            stride *= count;
        }
        places.reverse();
        places
    }
}
