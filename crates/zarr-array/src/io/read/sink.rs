//! Where a read puts its elements.

use zarr_strided::{Destination, Dims, Output, Source, Swap};

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
                plan.tiles_of(pick).try_for_each(|tile| Ok(take(outputs, pick, tile.number)?.fill(element)?))
            }
            Self::View(view) => Ok(view.reborrow().sub(&pick.at, &pick.count)?.fill(element)?),
        }
    }

    /// Puts all elements of a pick.
    pub(crate) fn put(
        &mut self,
        plan: &Plan,
        pick: &Pick,
        elements: &Source<'_>,
        swap: Swap,
    ) -> ArrayResult<()> {
        match self {
            Self::Tiles(outputs) => plan.tiles_of(pick).try_for_each(|tile| {
                let apart =
                    |from: &Dims, to: &Dims| to.iter().zip(from).map(|(to, from)| to - from).collect();
                let (at, count): (Dims, Dims) = (apart(&pick.at, &tile.at), apart(&tile.at, &tile.end));
                Ok(take(outputs, pick, tile.number)?.put(elements.sub(&at, &count)?, swap)?)
            }),
            Self::View(view) => {
                Ok(view.reborrow().sub(&pick.at, &pick.count)?.put(elements.clone(), swap)?)
            }
        }
    }
}

fn take<'a>(outputs: &'a [Output], pick: &Pick, tile: u64) -> ArrayResult<Destination<'a>> {
    let taken = outputs.get(pick.plan).and_then(|output| output.take(tile));
    taken.ok_or_else(|| ArrayError::new(ArrayErrorKind::Panic, "a part of the result was decoded twice"))
}
