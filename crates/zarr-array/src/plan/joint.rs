//! Several plans over the same array: each chunk and each inner chunk is read once for all of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use zarr_strided::Dims;
use zarr_traits::Region;

use crate::error::{ArrayError, ArrayErrorKind, ArrayResult};
use crate::plan::one_or_many::OneOrMany;
use crate::plan::{Cell, Inner, Pick, Plan, Take};

/// The plans of a read.
#[derive(Debug)]
pub(crate) struct Joint {
    /// At least one. All are of the same array.
    plans: OneOrMany<Plan>,
    /// The distance of elements that are selected in a take, in each dimension of the array; 1 if takes are tiles.
    steps: Dims,
    /// With several plans: the chunks in C order, each with the plans that touch it and the numbers of their cells.
    chunks: Vec<(Dims, Vec<(usize, u64)>)>,
}

/// The largest number of chunks that several plans may touch, each chunk counted once for each plan.
const MOST_CELLS: u64 = 1 << 20;

impl Joint {
    /// Returns the read of one plan. `by_tiles` makes each tile a take of its own.
    #[inline]
    pub(crate) fn one(mut plan: Plan, by_tiles: bool) -> Self {
        plan.by_tiles = by_tiles;
        let steps = if by_tiles { Dims::filled(1, plan.array.len()) } else { plan.steps() };
        Self { plans: OneOrMany::one(plan), steps, chunks: Vec::new() }
    }

    /// Joins plans. Each tile of several plans is a take of its own, and with `by_tiles` also that of a single plan.
    ///
    /// # Errors
    /// When several plans touch too many chunks.
    pub(crate) fn new(plans: OneOrMany<Plan>, by_tiles: bool) -> ArrayResult<Self> {
        let mut plans = match plans {
            OneOrMany::One([plan]) => return Ok(Self::one(plan, by_tiles)),
            OneOrMany::Many(plans) => plans,
        };
        plans.iter_mut().for_each(|plan| plan.by_tiles = true);
        let cells = plans.iter().map(Plan::cells).fold(0, u64::saturating_add);
        if cells > MOST_CELLS {
            let message = format!("the selections touch {cells} chunks, read at most {MOST_CELLS} at once");
            return Err(ArrayError::new(ArrayErrorKind::LimitExceeded, message));
        }
        let mut chunks = BTreeMap::<Dims, Vec<(usize, u64)>>::new();
        for (number, plan) in plans.iter().enumerate() {
            (0..plan.cells()).for_each(|cell| {
                chunks.entry(plan.cell(cell).chunk).or_default().push((number, cell));
            });
        }
        let rank = plans.first().map_or(0, |plan| plan.array.len());
        let (steps, chunks) = (Dims::filled(1, rank), chunks.into_iter().collect());
        Ok(Self { plans: OneOrMany::Many(plans), steps, chunks })
    }

    pub(crate) fn plans(&self) -> &[Plan] {
        &self.plans
    }

    /// The plan of a pick.
    pub(crate) fn of(&self, pick: &Pick) -> &Plan {
        &self.plans[pick.plan]
    }

    /// The number of cells, which is the number of chunks.
    pub(crate) fn cells(&self) -> u64 {
        match &self.plans[..] {
            [plan] => plan.cells(),
            _ => self.chunks.len() as u64,
        }
    }

    /// The number of tiles of all plans.
    pub(crate) fn tiles(&self) -> u64 {
        self.plans.iter().map(Plan::tiles).fold(0, u64::saturating_add)
    }

    /// The number of elements of the largest chunk.
    pub(crate) fn largest_chunk(&self) -> u64 {
        self.plans.iter().map(Plan::largest_chunk).max().unwrap_or(0)
    }

    /// The inner chunks of the chunks, if they have any.
    pub(crate) fn inner(&self) -> Option<&Inner> {
        self.plans.first().and_then(Plan::inner)
    }

    /// Whether each cell is read in one block.
    pub(crate) fn is_one_block(&self) -> bool {
        matches!(&self.plans[..], [plan] if plan.is_one_block())
    }

    /// The distance of elements that are selected in a take, in each dimension of the array.
    pub(crate) fn steps(&self) -> &Dims {
        &self.steps
    }

    /// Returns the cell with this number.
    pub(crate) fn cell(&self, number: u64) -> Cell {
        if let [plan] = &self.plans[..] {
            return plan.cell(number);
        }
        let touching = usize::try_from(number).ok().and_then(|number| self.chunks.get(number));
        let cells = touching.iter().flat_map(|(_, cells)| cells);
        let cells: Vec<(usize, Cell)> =
            cells.map(|(plan, cell)| (*plan, self.plans[*plan].cell(*cell))).collect();
        let mut units = BTreeMap::<Dims, Vec<Take>>::new();
        for (number, cell) in &cells {
            for mut take in self.plans[*number].takes(cell) {
                if let OneOrMany::One([pick]) = &mut take.picks {
                    pick.plan = *number;
                }
                units.entry(self.unit_of(cell, &take, units.len())).or_default().push(take);
            }
        }
        let takes: Arc<[Take]> = units.into_values().map(joined).collect();
        let Some((_, cell)) = cells.into_iter().next() else { return self.plans[0].cell(0) };
        let all = takes.len() as u64;
        Cell { at: Dims::new(), count: Dims::new(), takes: 0..all, all, shared: Some(takes), ..cell }
    }

    /// Returns the number of the unit that is decoded for a take: that of its inner chunk, of a chunk without inner
    /// chunks, or a new one for a box of an uncompressed chunk.
    fn unit_of(&self, cell: &Cell, take: &Take, next: usize) -> Dims {
        match self.plans.first() {
            Some(plan) if plan.inner.is_some() || !plan.reads_parts => plan.unit(cell, &take.part).0,
            _ => [next as u64].into(),
        }
    }

    /// Returns the number of blocks in which a cell is read.
    pub(crate) fn blocks(&self, cell: &Cell) -> u64 {
        self.plans[0].blocks(cell)
    }

    /// Returns a block of a cell.
    pub(crate) fn block(&self, cell: &Cell, number: u64) -> Cell {
        self.plans[0].block(cell, number)
    }

    /// Returns the takes of a cell or block.
    pub(crate) fn takes(&self, cell: &Cell) -> Vec<Take> {
        let Some(shared) = &cell.shared else { return self.plans[0].takes(cell) };
        let [start, end] =
            [cell.takes.start, cell.takes.end].map(|n| usize::try_from(n).unwrap_or(usize::MAX));
        shared.get(start..end).unwrap_or_default().to_vec()
    }

    /// Returns the box around the takes of a cell.
    pub(crate) fn around(&self, cell: &Cell) -> Region {
        match &cell.shared {
            None => self.plans[0].around(cell),
            Some(takes) => around(takes.iter().map(|take| &take.part)),
        }
    }

    /// The number of elements of a cell, of all plans.
    pub(crate) fn elements(&self, cell: &Cell) -> u64 {
        match &cell.shared {
            None => cell.count.product().unwrap_or(u64::MAX),
            Some(takes) => {
                takes.iter().flat_map(|take| take.picks.iter()).map(Pick::len).fold(0, u64::saturating_add)
            }
        }
    }
}

/// Joins takes of one unit.
fn joined(takes: Vec<Take>) -> Take {
    let part = around(takes.iter().map(|take| &take.part));
    let mut picks: Vec<Pick> = Vec::with_capacity(takes.len());
    for take in takes {
        picks.extend(take.widened(part.clone()).picks.into_vec());
    }
    Take { part, picks: picks.into_iter().collect() }
}

/// Returns the box around boxes.
fn around<'a>(boxes: impl IntoIterator<Item = &'a Region>) -> Region {
    let mut all: Option<(Dims, Dims)> = None;
    for region in boxes {
        let start = Dims::from(region.start());
        let end: Dims = region.start().iter().zip(region.shape()).map(|(at, length)| at + length).collect();
        let Some((low, high)) = &mut all else {
            all = Some((start, end));
            continue;
        };
        low.iter_mut().zip(&start).for_each(|(low, at)| *low = (*low).min(*at));
        high.iter_mut().zip(&end).for_each(|(high, at)| *high = (*high).max(*at));
    }
    let (low, high) = all.unwrap_or_default();
    let shape: Dims = low.iter().zip(&high).map(|(low, high)| high - low).collect();
    Region::new(low, shape).unwrap_or_default()
}
