//! Local stores: their futures do their work while they are polled, so one thread of the crew does all steps of a cell.
//! Other threads help with its parts.

use std::sync::{Arc, Mutex, PoisonError};

use zarr_engine::Gate;
use zarr_traits::{Scratch, block_on};

use super::crew::Crew;
use super::{OPEN, Place, Stored, Task, attempt, block, each, enter, is_large, persist};
use crate::error::ArrayResult;

/// A read or a write of a local store.
struct Local<'a, T: Task> {
    task: &'a Arc<T>,
    place: &'a Place,
    crew: Arc<Crew>,
    /// The largest number of cells at work at once.
    most: usize,
    /// Limits the number of cells that are read block by block at the same time.
    opened: Gate,
}

pub(super) async fn local<T: Task>(task: &Arc<T>, place: &Place) -> ArrayResult<()> {
    let crew = Crew::new(place);
    let most = 2 * crew.width();
    let local = Local { task, place, crew, most, opened: Gate::new(OPEN, u64::MAX) };
    if is_large(&**task, place) {
        return local.one_by_one(0..task.cells()).await;
    }
    let lost = local.all_at_once().await?;
    local.one_by_one(lost).await
}

impl<T: Task> Local<'_, T> {
    /// Makes one attempt at every cell. Returns the cells that lost a race.
    async fn all_at_once(&self) -> ArrayResult<Vec<u64>> {
        let lost = Arc::new(Mutex::new(Vec::new()));
        let (task, crew, found) = (self.task.clone(), self.crew.clone(), lost.clone());
        let place = self.place.clone();
        let shared = self.crew.open(task.cells(), move |number, scratch| {
            place.check()?;
            let cell = task.cell(number);
            let stored = block_on(attempt(&task, &cell, scratch, Some(&crew)));
            match stored.map_err(|e| task.locate(&cell, e))? {
                Stored::Done => place.count(&*task, &cell),
                _ => found.lock().unwrap_or_else(PoisonError::into_inner).push(number),
            }
            Ok(())
        });
        self.crew.drive(shared.over()).await?;
        let mut lost = lost.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(std::mem::take(&mut *lost))
    }

    /// Runs the cells with these numbers, each when there is room for its bytes. After a lost race only the caller
    /// waits, not a worker.
    async fn one_by_one(&self, cells: impl IntoIterator<Item = u64>) -> ArrayResult<()> {
        let one = |number| async move {
            let cell = self.task.cell(number);
            persist(&self.place.storage, || self.cell(&cell))
                .await
                .map_err(|e| self.task.locate(&cell, e))?;
            self.place.count(&**self.task, &cell);
            Ok(())
        };
        self.crew.drive(each(cells, self.most, one)).await
    }

    /// Makes one attempt at a cell.
    async fn cell(&self, cell: &T::Cell) -> ArrayResult<Stored> {
        let (task, crew, own) = (self.task.clone(), self.crew.clone(), cell.clone());
        let blocks = task.blocks(cell);
        if blocks == 1 {
            let once = move |scratch: &mut _| block_on(attempt(&task, &own, scratch, Some(&crew)));
            return self.run(once).await;
        }
        let _open = self.opened.enter(0).await;
        let held = Arc::new(task.hold(cell).await?);
        let opened = Arc::new(crew.run(move |_| block_on(task.open(&own))).await?);
        let (held, opened) = (&held, &opened);
        let one = |number| async move {
            let (task, crew) = (self.task.clone(), self.crew.clone());
            let (cell, held, opened) = (task.block(cell, number), held.clone(), opened.clone());
            let once = move |scratch: &mut _| {
                block_on(block(&task, &cell, &held, Some(&opened), scratch, Some(&crew))).map(drop)
            };
            self.run(once).await
        };
        each(0..blocks, self.most, one).await?;
        Ok(Stored::Done)
    }

    /// Runs work on a cell once there is room for its bytes.
    async fn run<R: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Scratch) -> ArrayResult<R> + Send + 'static,
    ) -> ArrayResult<R> {
        let _permit = enter(&**self.task, self.place).await;
        self.place.check()?;
        let crew = self.crew.clone();
        let with_memory = move |_: &mut _| {
            // Large memory goes from cell to cell, so that not every thread keeps its own.
            let mut scratch = crew.scratches.take_largest();
            let done = work(&mut scratch);
            crew.scratches.give(scratch);
            done
        };
        self.crew.run(with_memory).await
    }
}
