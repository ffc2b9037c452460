//! A selection resolved against an array: its shape, its plan, and the order of its elements.

use zarr_strided::{Dims, byte_len};

use crate::error::{ArrayError, ArrayResult};
use crate::io::core::Core;
use crate::plan::Plan;
use crate::plan::order::Orders;
use crate::select::{Along, Selection};

/// The target of a read or a write.
pub(crate) struct Target {
    /// Its elements are in ascending order.
    pub(crate) plan: Plan,
    /// The order of the selection, where it differs from that of the plan.
    pub(crate) orders: Orders,
    /// The shape of the selection, including the dimensions that an index drops.
    pub(crate) full: Dims,
    /// The shape of the result, without these dimensions.
    pub(crate) kept: Vec<u64>,
    /// The selected elements along each dimension.
    pub(crate) places: Vec<Along>,
}

impl Target {
    pub(crate) fn new(core: &Core, selection: &Selection) -> ArrayResult<Self> {
        Self::resolve(core, selection).map_err(|e| core.in_array(e))
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
        let (plan, orders) = Plan::new(&places, &core.layout())?;
        Ok(Self { plan, orders, full, kept, places })
    }
}
