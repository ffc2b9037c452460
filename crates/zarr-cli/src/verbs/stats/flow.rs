//! Reads the parts of an array on several threads, and joins their results in the order of the parts.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::mpsc::sync_channel;
use std::thread;

use zarr_array::Storage;
use zarr_array::traits::lock::unpoisoned;

use crate::crew;
use crate::exit::{Exit, Failure};
use crate::slabs::Budget;
use crate::sparse::{Part, Parts};

/// The size of a part. A part has whole rows of chunks, so it may be larger. Small parts stay in memory that is used again.
pub(super) const BUDGET: Budget = Budget { bytes: 16 << 20, ..Budget::DEFAULT };

/// Calls `job` with each part, on several threads, and `take` with the results, in the order of the parts. So sums do not
/// depend on the threads. `size` is the memory of a part in bytes.
pub(super) fn in_order<R: Send>(
    storage: &Storage,
    parts: &Parts<'_>,
    size: impl Fn(&Part) -> u64 + Sync,
    job: impl Fn(Part) -> Result<R, Failure> + Sync,
    take: impl FnMut(R) + Send,
) -> Result<(), Failure> {
    let width = crew::width(storage);
    let (send, receive) = sync_channel(width);
    let joined = Mutex::new(Joined { next: 0, waiting: BTreeMap::new(), take });
    let work = |(number, part)| {
        let result = job(part)?;
        unpoisoned(joined.lock()).add(number, result);
        Ok(())
    };
    thread::scope(|scope| {
        let list = move || {
            let mut number = 0_u64;
            parts.each(|part| {
                // Nobody receives after an error, which is returned elsewhere.
                send.send((number, part)).map_err(|_| Failure::silent(Exit::Ok))?;
                number += 1;
                Ok(())
            })
        };
        let listed = thread::Builder::new().spawn_scoped(scope, list);
        let listed = listed.map_err(|e| Failure::io(&e, "cannot start a thread"))?;
        crew::each(width, receive.into_iter().map(Ok), |(_, part)| size(part), work)?;
        // A panic goes on in this thread.
        listed.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Results that wait for those before them.
struct Joined<R, F> {
    next: u64,
    waiting: BTreeMap<u64, R>,
    take: F,
}

impl<R, F: FnMut(R)> Joined<R, F> {
    fn add(&mut self, number: u64, result: R) {
        self.waiting.insert(number, result);
        while let Some(result) = self.waiting.remove(&self.next) {
            (self.take)(result);
            self.next += 1;
        }
    }
}
