//! Where a read puts its elements.

use zarr_strided::{Destination, Dims, Output};

use crate::error::{ArrayError, ArrayErrorKind, ArrayResult};
use crate::plan::{Pick, Plan, Tile};

/// The memory of the results of a read.
pub(crate) enum Sink<'a> {
    /// One for each plan, whose tiles any thread fills, each tile once.
    Tiles(&'a [Output]),
    /// That of the only plan, which the calling thread fills.
    View(Destination<'a>),
}

/// A part of a result that is being filled.
pub(crate) struct Open<'a> {
    pub(crate) tile: Tile,
    pub(crate) memory: Destination<'a>,
}

impl Sink<'_> {
    /// Returns the part of the result of a pick that holds an element.
    #[inline]
    pub(crate) fn open(&mut self, plan: &Plan, pick: &Pick, element: &[u64]) -> ArrayResult<Open<'_>> {
        match self {
            Self::Tiles(outputs) => {
                let tile = plan.tile(element);
                let memory = take(outputs, pick, tile.number)?;
                Ok(Open { tile, memory })
            }
            Self::View(view) => {
                let (at, end) = (Dims::filled(0, element.len()), view.shape().into());
                Ok(Open { tile: Tile { number: 0, at, end }, memory: view.reborrow() })
            }
        }
    }

    /// Fills the elements of a pick.
    pub(crate) fn fill(&mut self, plan: &Plan, pick: &Pick, element: &[u8]) -> ArrayResult<()> {
        match self {
            Self::Tiles(outputs) => {
                plan.tiles_of(pick).try_for_each(|tile| Ok(take(outputs, pick, tile)?.fill(element)?))
            }
            Self::View(view) => Ok(view.reborrow().sub(&pick.at, &pick.count)?.fill(element)?),
        }
    }
}

fn take<'a>(outputs: &'a [Output], pick: &Pick, tile: u64) -> ArrayResult<Destination<'a>> {
    let taken = outputs.get(pick.plan).and_then(|output| output.take(tile));
    taken.ok_or_else(|| ArrayError::new(ArrayErrorKind::Panic, "a part of the result was decoded twice"))
}
