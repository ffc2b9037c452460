//! Stores behind a network: polled on the task of the caller, many requests at once; the pool works on what has arrived.

use std::sync::Arc;
use std::thread;
use std::time::Instant;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use zarr_engine::Gate;
use zarr_traits::Scratch;

use super::batch::Batch;
use super::scratches::Scratches;
use super::{ATTEMPTS, Place, REMOTE, Stored, Task, back_off, conflict, gone};
use crate::error::ArrayResult;

pub(super) async fn pump<T: Task>(task: &Arc<T>, place: &Place, in_flight: usize) -> ArrayResult<()> {
    let width = place.cpu.pool().map_or(1, |pool| pool.width().max(1));
    // Of what has arrived, no more than this waits in the queue of the pool: others want to be served as well.
    let queued = Gate::new(2 * width, u64::MAX);
    let most = in_flight.saturating_add(2 * width);
    let mut flying = FuturesUnordered::new();
    let mut next = 0;
    loop {
        while next < task.cells() && flying.len() < most {
            flying.push(remote(task.clone(), next, place.clone(), queued.clone()));
            next += 1;
        }
        match flying.next().await {
            None => return Ok(()),
            Some(done) => done?,
        }
    }
}

/// One cell: the store is polled here, the work is done on the pool.
async fn remote<T: Task>(task: Arc<T>, cell: u64, place: Place, queued: Gate) -> ArrayResult<()> {
    let steps = async {
        let gate = &place.gate;
        for attempt in 0..ATTEMPTS {
            let begun = Instant::now();
            // Locks come before the gate: whoever is inside must not wait for someone who is not.
            let mut held = task.hold(cell).await?;
            let mut permit = gate.enter(task.expected_bytes()).await;
            let found = task.fetch(cell, &mut held, None).await?;
            permit.landed(T::bytes(&found));
            let turn = queued.enter(0).await;
            let made = shared_work(&task, cell, found, &place).await?;
            drop(turn);
            // What is to be stored is held until it is.
            permit.landed(T::made_bytes(&made));
            let flying = if T::STORES { Some(gate.enter_again().await) } else { None };
            let stored = task.store(cell, made, None).await?;
            drop((flying, permit, held));
            match stored {
                Stored::Done => return Ok(()),
                Stored::AtOnce => continue,
                Stored::Again => {}
            }
            let wait = back_off(REMOTE, attempt, begun);
            place.cpu.run(move || thread::sleep(wait)).await?;
        }
        Err(conflict())
    };
    steps.await.map_err(|e| task.locate(cell, e))
}

/// What a worker does with a batch; the one who finishes it has the result.
type Work<T> = fn(&Batch<T>, &T, &mut Scratch) -> ArrayResult<Option<<T as Task>::Made>>;

/// The work of one cell, on as many workers as it has parts for.
async fn shared_work<T: Task>(
    task: &Arc<T>,
    cell: u64,
    found: T::Found,
    place: &Place,
) -> ArrayResult<T::Made> {
    let parts = T::parts(&found);
    let helpers = place.cpu.pool().map_or(1, |pool| pool.width()).min(parts);
    let batch = Arc::new(Batch::new(cell, found, parts));
    // Each lets go of the task before anybody is told that it is done.
    let on_worker = |work: Work<T>| {
        let (task, batch, scratches) = (task.clone(), batch.clone(), place.storage.shared::<Scratches>());
        place.cpu.run(move || {
            let mut scratch = scratches.take();
            let made = work(&batch, &task, &mut scratch);
            scratches.give(scratch);
            drop((task, batch));
            made
        })
    };
    let help = |_| {
        on_worker(|batch, task, scratch| {
            while batch.help(task, scratch) {}
            Ok(None)
        })
    };
    let finish = on_worker(|batch, task, scratch| batch.finish(task, scratch).map(Some));
    let mut made = None;
    let mut working: FuturesUnordered<_> = (1..helpers).map(help).chain([finish]).collect();
    while let Some(done) = working.next().await {
        made = done??.or(made);
    }
    made.ok_or_else(gone)
}
