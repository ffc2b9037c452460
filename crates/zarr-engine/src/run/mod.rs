//! The scheduler of reads and writes. Each cell is fetched, worked on and stored. Two feeders differ only in where the store
//! is polled.
//!
//! Futures of *inline* stores do their work while they are polled, so threads of the pool poll them: each fetches and
//! works on one cell after the other. Futures of *remote* stores wait, so the caller's task polls many at once, and
//! only the work goes to the pool. A caller that may block takes part in all work.

mod alone;
mod attempt;
mod back_off;
mod batch;
mod cells;
pub mod clock;
mod crew;
mod local;
mod look;
mod place;
mod progress;
mod remote;
mod scratches;
mod spans;
mod spawn;
mod stop;
mod threads;

use std::sync::Arc;

use zarr_traits::store::Drive;

pub use back_off::{ATTEMPTS, BackOff};
pub use cells::{Attempt, Cell, Cells, PART, SMALL, Sizes, UNCOUNTED};
pub use look::{LOOK, look};
pub use place::Place;
pub use progress::{Amount, Progress};
pub use scratches::Scratches;
pub use spawn::Spawn;
pub use stop::{Stop, caught};
pub use threads::on_threads;

use alone::alone;
use attempt::Run;
use local::local;
use remote::remote;

/// Runs every cell. At the end no other clone of `cells` is left, unless an error or a drop ended it early.
///
/// # Errors
/// The first error of a cell, [located](Cells::locate), and a [`Stop`].
pub async fn run<C: Cells>(cells: &Arc<C>, place: &Place) -> Result<(), C::Error> {
    let run = Run { cells, sizes: cells.sizes(), place };
    if let Some(progress) = &place.progress {
        progress.expect(Amount { chunks: run.sizes.cells, bytes: run.sizes.bytes });
    }
    let stays = place.pool.is_none() || place.may_block && run.sizes.is_small;
    let work = async {
        match place.storage.capabilities().drive {
            _ if run.sizes.cells == 0 => Ok(()),
            Drive::Inline if stays => alone(run).await,
            Drive::Inline => local(run).await,
            _ => remote(run).await,
        }
    };
    match &place.progress {
        Some(progress) => progress.unless_cancelled(work).await,
        None => work.await,
    }
}
