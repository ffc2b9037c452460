//! Local stores: their futures do their work while they are polled, so one thread of the crew does all steps of a cell.
//! Other threads help with its parts.

use std::future::Future;
use std::sync::{Arc, Mutex};

use futures_util::{StreamExt, TryStreamExt, stream};
use zarr_traits::lock::unpoisoned;
use zarr_traits::{Scratch, block_on};

use super::attempt::{OPEN, Run, attempt, work};
use super::cells::{Attempt, Cell, Cells};
use super::crew::Crew;
use crate::lock::Gate;

/// A read or a write of a local store.
struct Local<'a, C: Cells> {
    run: Run<'a, C>,
    crew: Arc<Crew<C::Error>>,
    /// The largest number of cells at work at once.
    most: usize,
    /// Limits the number of cells that are read block by block at the same time.
    opened: Gate,
}

pub(super) async fn local<C: Cells>(run: Run<'_, C>) -> Result<(), C::Error> {
    let crew = Crew::new(run.place);
    let most = 2 * crew.width();
    let local = Local { crew, most, opened: Gate::new(OPEN, u64::MAX), run };
    if local.run.is_large() {
        return local.one_by_one(0..local.run.sizes.cells).await;
    }
    let lost = local.all_at_once().await?;
    local.one_by_one(lost).await
}

impl<C: Cells> Local<'_, C> {
    /// Makes one attempt at every cell. Returns the cells that lost a race.
    async fn all_at_once(&self) -> Result<Vec<u64>, C::Error> {
        let lost = Arc::new(Mutex::new(Vec::new()));
        let (cells, crew, found) = (self.run.cells.clone(), self.crew.clone(), lost.clone());
        let place = self.run.place.clone();
        let shared = self.crew.open(self.run.sizes.cells, move |number, scratch| {
            place.check()?;
            let attempt = block_on(attempt(&mut Some(cells.cell(number)), scratch, Some(&crew)));
            match attempt.map_err(|e| cells.locate(number, e))? {
                (Attempt::Done, bytes) => place.count(bytes),
                _ => unpoisoned(found.lock()).push(number),
            }
            Ok(())
        });
        self.crew.drive(shared.over()).await?;
        Ok(std::mem::take(&mut *unpoisoned(lost.lock())))
    }

    /// Runs the cells with these numbers, each when there is room for its bytes. After a lost race only the caller
    /// waits, not a worker.
    async fn one_by_one(&self, cells: impl IntoIterator<Item = u64>) -> Result<(), C::Error> {
        let one = |number| self.run.persist(number, move || self.cell(number));
        self.crew.drive(each(cells, self.most, one)).await
    }

    /// Makes one attempt at a cell. Returns its size as well.
    async fn cell(&self, number: u64) -> Result<(Attempt, u64), C::Error> {
        let mut cell = self.run.cells.cell(number);
        let (blocks, bytes) = (cell.blocks(), cell.bytes());
        if blocks == 1 {
            let crew = self.crew.clone();
            return self.work(move |scratch| block_on(attempt(&mut Some(cell), scratch, Some(&crew)))).await;
        }
        let _open = self.opened.enter(0).await;
        let open = move |_: &mut _| block_on(cell.open()).map(|()| cell);
        let cell = &self.crew.run(open).await?;
        let one = |number| async move {
            let (block, crew) = (cell.block(number), self.crew.clone());
            self.work(move |scratch| block_on(work(&mut Some(block), scratch, Some(&crew)))).await
        };
        each(0..blocks, self.most, one).await?;
        Ok((Attempt::Done, bytes))
    }

    /// Runs work on a cell once there is room for its bytes.
    async fn work<R: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Scratch) -> Result<R, C::Error> + Send + 'static,
    ) -> Result<R, C::Error> {
        let _permit = self.run.enter().await;
        self.run.place.check()?;
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

/// Runs a future for each of `things`, at most `most` at once. The first error ends it.
pub(super) async fn each<T, E, F: Future<Output = Result<(), E>>>(
    things: impl IntoIterator<Item = T>,
    most: usize,
    one: impl FnMut(T) -> F,
) -> Result<(), E> {
    stream::iter(things).map(Ok).try_for_each_concurrent(most, one).await
}
