//! Stores behind a network: the caller's task polls many requests at once, and the crew works on the fetched data.

use std::sync::Arc;

use zarr_engine::Gate;

use super::crew::Crew;
use super::{OPEN, Place, Stored, Task, each, enter, gone, persist};
use crate::error::ArrayResult;

/// A read or a write of a remote store.
struct Remote<'a, T: Task> {
    task: &'a Arc<T>,
    place: &'a Place,
    crew: Arc<Crew>,
    /// The bound on fetched cells that wait for a worker, so that other reads are served as well.
    arrived: Gate,
    /// The largest number of cells at work at once.
    most: usize,
    /// Limits the number of cells that are read block by block at the same time.
    opened: Gate,
}

pub(super) async fn remote<T: Task>(task: &Arc<T>, place: &Place) -> ArrayResult<()> {
    let crew = Crew::new(place);
    let waiting = 2 * crew.width();
    let most = place.gate.width().saturating_add(waiting);
    let [arrived, opened] = [waiting, OPEN].map(|most| Gate::new(most, u64::MAX));
    let remote = &Remote { task, place, crew: crew.clone(), arrived, most, opened };
    let one = |number| async move {
        let cell = task.cell(number);
        let done = persist(&place.storage, || remote.cell(&cell)).await;
        done.map_err(|e| task.locate(&cell, e))?;
        place.count(&**task, &cell);
        Ok(())
    };
    crew.drive(each(0..task.cells(), most, one)).await
}

impl<T: Task> Remote<'_, T> {
    /// Makes one attempt at a cell.
    async fn cell(&self, cell: &T::Cell) -> ArrayResult<Stored> {
        // Take the lock before the gate: a cell inside the gate must not wait for one outside.
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
            self.block(&self.task.block(cell, number), held, Some(opened)).await.map(drop)
        };
        each(0..blocks, self.most, one).await?;
        Ok(Stored::Done)
    }

    /// Runs a cell or a block: polls the store here, and lets the crew do the work.
    async fn block(&self, cell: &T::Cell, held: &T::Held, opened: Option<&T::Opened>) -> ArrayResult<Stored> {
        let mut permit = enter(&**self.task, self.place).await;
        self.place.check()?;
        let found = self.task.fetch(cell, held, opened, None).await?;
        permit.landed(T::bytes(&found));
        let turn = self.arrived.enter(0).await;
        let made = self.work(cell, found).await?;
        drop(turn);
        // The data to store counts until it is stored.
        permit.landed(T::made_bytes(&made));
        let _flying = if T::STORES { Some(self.place.gate.enter_again().await) } else { None };
        self.task.store(cell, made, None).await
    }

    /// Does the work of one cell with as many threads as it has parts.
    async fn work(&self, cell: &T::Cell, found: T::Found) -> ArrayResult<T::Made> {
        let (parts, cell, found) = (T::parts(&found), Arc::new(cell.clone()), Arc::new(found));
        if parts > 0 {
            let (task, cell, inside) = (self.task.clone(), cell.clone(), found.clone());
            let work = move |part, scratch: &mut _| task.part(&cell, &inside, part, scratch);
            self.crew.open(parts, work).over().await?;
        }
        let task = self.task.clone();
        // All parts are done and have dropped their clones.
        let found = Arc::into_inner(found).ok_or_else(gone)?;
        self.crew.run(move |scratch| task.work(&cell, found, scratch)).await
    }
}
