//! Stores behind a network: polled on the task of the caller, many requests at once; the crew works on what has
//! arrived.

use std::sync::Arc;

use zarr_engine::Gate;

use super::crew::Crew;
use super::{OPEN, Place, REMOTE, Stored, Task, each, enter, gone, persist};
use crate::error::ArrayResult;
use crate::plan::Cell;

/// A read or a write on its way.
struct Remote<'a, T: Task> {
    task: &'a Arc<T>,
    place: &'a Place,
    crew: Arc<Crew>,
    /// Bounds the cells that have arrived and wait for a worker: others want to be served as well.
    arrived: Gate,
    /// Cells that may be under way at once.
    most: usize,
    /// Bounds those that are read in blocks.
    opened: Gate,
}

pub(super) async fn remote<T: Task>(task: &Arc<T>, place: &Place) -> ArrayResult<()> {
    let crew = Crew::new(place);
    let waiting = 2 * crew.width();
    let most = place.gate.width().saturating_add(waiting);
    let [arrived, opened] = [waiting, OPEN].map(|most| Gate::new(most, u64::MAX));
    let remote = &Remote { task, place, crew: crew.clone(), arrived, most, opened };
    let one = |number| async move {
        let cell = task.plan().cell(number);
        let done = persist(REMOTE, || remote.cell(&cell)).await;
        done.map_err(|e| task.locate(&cell, e))
    };
    crew.drive(each(0..task.plan().cells(), most, one)).await
}

impl<T: Task> Remote<'_, T> {
    /// One attempt at a cell.
    async fn cell(&self, cell: &Cell) -> ArrayResult<Stored> {
        // Locks come before the gate: whoever is inside must not wait for someone who is not.
        let held = self.task.hold(cell).await?;
        let blocks = self.task.blocks(cell);
        if blocks == 1 {
            return self.block(cell, &held, None).await;
        }
        let _open = self.opened.enter(0).await;
        let opened = {
            let _flying = self.place.gate.enter(0).await;
            self.task.open(cell).await?
        };
        let (held, opened) = (&held, &opened);
        let one = |number| async move {
            self.block(&self.task.plan().block(cell, number), held, Some(opened)).await.map(drop)
        };
        each(0..blocks, self.most, one).await?;
        Ok(Stored::Done)
    }

    /// A cell, or a block of one: the store is polled here, the work is done by the crew.
    async fn block(&self, cell: &Cell, held: &T::Held, opened: Option<&T::Opened>) -> ArrayResult<Stored> {
        let mut permit = enter(&**self.task, self.place).await;
        let found = self.task.fetch(cell, held, opened, None).await?;
        permit.landed(T::bytes(&found));
        let turn = self.arrived.enter(0).await;
        let made = self.work(cell, found).await?;
        drop(turn);
        // What is to be stored is held until it is.
        permit.landed(T::made_bytes(&made));
        let _flying = if T::STORES { Some(self.place.gate.enter_again().await) } else { None };
        self.task.store(cell, made, None).await
    }

    /// The work of one cell, by as many threads as it has parts for.
    async fn work(&self, cell: &Cell, found: T::Found) -> ArrayResult<T::Made> {
        let (parts, cell, found) = (T::parts(&found), Arc::new(cell.clone()), Arc::new(found));
        if parts > 0 {
            let (task, cell, inside) = (self.task.clone(), cell.clone(), found.clone());
            let work = move |part, scratch: &mut _| task.part(&cell, &inside, part, scratch);
            self.crew.open(parts, work).over().await?;
        }
        let task = self.task.clone();
        // The parts are over, and let go of what was found.
        let found = Arc::into_inner(found).ok_or_else(gone)?;
        self.crew.run(move |scratch| task.work(&cell, found, scratch)).await
    }
}
