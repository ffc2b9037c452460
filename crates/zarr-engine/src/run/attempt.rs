//! One attempt at a cell, and its repetition after a lost race.

use std::future::Future;
use std::sync::Arc;

use zarr_traits::Scratch;

use super::back_off::{ATTEMPTS, BackOff};
use super::cells::{Attempt, Cell, Cells, Sizes, UNCOUNTED};
use super::crew::Crew;
use super::place::Place;
use super::stop::{Stop, caught};
use crate::lock::Permit;

/// The largest number of cells that are read in blocks at once. Each holds the index of a shard.
pub(super) const OPEN: usize = 4;

/// A read or a write, and where it runs.
pub(super) struct Run<'a, C> {
    pub(super) cells: &'a Arc<C>,
    pub(super) sizes: Sizes,
    pub(super) place: &'a Place,
}

impl<C: Cells> Run<'_, C> {
    /// Whether the cells of a local store are so large that they must wait for room in memory. Only cells that several
    /// threads can share are large; with others, waiting would leave threads idle.
    pub(super) fn is_large(&self) -> bool {
        let threads = self.place.pool.as_ref().map_or(1, |pool| pool.width() as u64 + 1);
        let share = self.place.gate.most_bytes() / threads;
        self.sizes.shares && self.sizes.expected > share.min(UNCOUNTED)
    }

    /// Waits for room for the bytes of a cell.
    pub(super) async fn enter(&self) -> Permit {
        self.place.gate.enter(self.sizes.expected).await
    }

    /// Repeats attempts at a cell until it is done, and counts it.
    pub(super) async fn persist<F: Future<Output = Result<(Attempt, u64), C::Error>>>(
        &self,
        number: u64,
        mut once: impl FnMut() -> F,
    ) -> Result<(), C::Error> {
        let mut back_off = BackOff::new(&self.place.storage);
        for _ in 0..ATTEMPTS {
            match once().await.map_err(|e| self.cells.locate(number, e))? {
                (Attempt::Done, bytes) => {
                    self.place.count(bytes);
                    return Ok(());
                }
                (Attempt::AtOnce, _) => continue,
                (Attempt::Again, _) => {}
            }
            back_off.wait().await;
        }
        Err(self.cells.locate(number, Stop::Lost { attempts: ATTEMPTS }.into()))
    }
}

/// Makes one attempt at a cell of a local store, all steps on this thread. If there is a crew, it helps with parts of
/// the work. Returns the size of the cell as well.
pub(super) async fn attempt<C: Cell<Error: From<Stop> + Send + 'static>>(
    slot: &mut Option<C>,
    scratch: &mut Scratch,
    crew: Option<&Arc<Crew<C::Error>>>,
) -> Result<(Attempt, u64), C::Error> {
    let cell = here(slot)?;
    let (blocks, bytes) = (cell.blocks(), cell.bytes());
    if blocks == 1 {
        cell.hold().await?;
        work(slot, scratch, crew).await?;
        return Ok((here(slot)?.store(Some(scratch)).await?, bytes));
    }
    cell.open().await?;
    for number in 0..blocks {
        let block = here(slot)?.block(number);
        work(&mut Some(block), scratch, crew).await?;
    }
    Ok((Attempt::Done, bytes))
}

/// Fetches a cell or a block, and works on it. A cell is as large as a kilobyte, so it stays where it is, unless threads
/// share it.
pub(super) async fn work<C: Cell<Error: From<Stop> + Send + 'static>>(
    slot: &mut Option<C>,
    scratch: &mut Scratch,
    crew: Option<&Arc<Crew<C::Error>>>,
) -> Result<(), C::Error> {
    let cell = here(slot)?;
    cell.fetch(Some(scratch)).await?;
    let parts = cell.parts();
    match crew.filter(|_| parts > 1) {
        Some(crew) => {
            let shared = Arc::new(slot.take().ok_or(Stop::Dropped)?);
            let inside = shared.clone();
            crew.share(parts, scratch, move |part, scratch| caught(|| inside.part(part, scratch)))?;
            // All parts are done and have dropped their clones.
            *slot = Arc::into_inner(shared);
        }
        None => (0..parts).try_for_each(|part| caught(|| cell.part(part, scratch)))?,
    }
    let cell = here(slot)?;
    caught(|| cell.work(scratch)).map(drop)
}

fn here<C>(slot: &mut Option<C>) -> Result<&mut C, Stop> {
    slot.as_mut().ok_or(Stop::Dropped)
}
