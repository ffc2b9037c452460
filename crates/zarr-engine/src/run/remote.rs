//! Stores behind a network: the caller's task polls many requests at once, and the crew works on the fetched data.

use std::sync::Arc;

use super::attempt::{OPEN, Run};
use super::cells::{Attempt, Cell, Cells};
use super::crew::Crew;
use super::local::each;
use super::stop::{Stop, caught};
use crate::lock::{Gate, Permit};

/// A read or a write of a remote store.
struct Remote<'a, C: Cells> {
    run: Run<'a, C>,
    crew: Arc<Crew<C::Error>>,
    /// The bound on fetched cells that wait for a worker, so that other reads are served as well.
    arrived: Gate,
    /// The largest number of cells at work at once.
    most: usize,
    /// Limits the number of cells that are read block by block at the same time.
    opened: Gate,
}

pub(super) async fn remote<C: Cells>(run: Run<'_, C>) -> Result<(), C::Error> {
    let crew = Crew::new(run.place);
    let waiting = 2 * crew.width();
    let most = run.place.gate.width().saturating_add(waiting);
    let [arrived, opened] = [waiting, OPEN].map(|most| Gate::new(most, u64::MAX));
    let remote = &Remote { run, crew: crew.clone(), arrived, most, opened };
    let one = |number| remote.run.persist(number, move || remote.cell(number));
    crew.drive(each(0..remote.run.sizes.cells, most, one)).await
}

impl<C: Cells> Remote<'_, C> {
    /// Makes one attempt at a cell. Returns its size as well.
    async fn cell(&self, number: u64) -> Result<(Attempt, u64), C::Error> {
        let mut cell = self.run.cells.cell(number);
        let (blocks, bytes) = (cell.blocks(), cell.bytes());
        if blocks == 1 {
            // Take the lock before the gate: a cell inside the gate must not wait for one outside.
            cell.hold().await?;
            // The data to store counts until it is stored.
            let (mut cell, _permit) = self.worked(cell).await?;
            let _flying =
                if self.run.sizes.stores { Some(self.run.place.gate.enter_again().await) } else { None };
            return Ok((cell.store(None).await?, bytes));
        }
        let _open = self.opened.enter(0).await;
        {
            let _flying = self.run.place.gate.enter(0).await;
            cell.open().await?;
        }
        let cell = &cell;
        let one = |number| async move { self.worked(cell.block(number)).await.map(drop) };
        each(0..blocks, self.most, one).await?;
        Ok((Attempt::Done, bytes))
    }

    /// Fetches a cell or a block, and lets the crew work on it. Returns it with the room for its bytes.
    async fn worked(&self, mut cell: C::Cell) -> Result<(C::Cell, Permit), C::Error> {
        let mut permit = self.run.enter().await;
        self.run.place.check()?;
        permit.landed(cell.fetch(None).await?);
        let _turn = self.arrived.enter(0).await;
        let (cell, made) = self.work(cell).await?;
        permit.landed(made);
        Ok((cell, permit))
    }

    /// Does the work of one cell with as many threads as it has parts. Returns the bytes to store, too.
    async fn work(&self, cell: C::Cell) -> Result<(C::Cell, u64), C::Error> {
        let (parts, cell) = (cell.parts(), Arc::new(cell));
        if parts > 0 {
            let inside = cell.clone();
            let work = move |part, scratch: &mut _| caught(|| inside.part(part, scratch));
            self.crew.open(parts, work).over().await?;
        }
        // All parts are done and have dropped their clones.
        let mut cell = Arc::into_inner(cell).ok_or(Stop::Dropped)?;
        self.crew.run(move |scratch| caught(|| cell.work(scratch)).map(|made| (cell, made))).await
    }
}
