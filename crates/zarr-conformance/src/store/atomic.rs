//! Rules 7 and 10: reads during writes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use zarr_traits::{
    Bytes, StoreErrorKind, block_on,
    store::{PutMode, ReadVersion},
};

use super::subject::{Subject, key, span};
use crate::report::{Check, Excerpt, Fault, ensure};

/// The number of times an object is replaced while other threads read it.
pub(super) const ROUNDS: u8 = 50;

const SIZE: usize = 60_000;

pub(super) fn one_version(store: &Subject) -> Check {
    let name = "a/spans";
    store.put(name, vec![0; SIZE])?;
    let spans: Vec<_> = (0..12).map(|i| span(i * 5000, 100)).collect();
    stop_when_done(
        || {
            for round in 0..ROUNDS {
                store.put(name, vec![round; SIZE])?;
                thread::yield_now();
            }
            Ok(())
        },
        || match store.ranges(name, &spans, ReadVersion::Any) {
            Err(e) if e.kind() == StoreErrorKind::Changed => Ok(()),
            reply => same(&reply?.ok_or_else(|| gone(name))?.bytes.concat()),
        },
    )
}

pub(super) fn put(store: &Subject) -> Check {
    let name = "a/whole";
    let parts = ["the ", "", "parts of ", "a value"].map(|part| Bytes::from_static(part.as_bytes()));
    let outcome = block_on(store.storage.put_if(&key(name), &parts, PutMode::Replace))?;
    ensure!(matches!(outcome, zarr_traits::store::Outcome::Done(_)), "an unconditional put gave {outcome:?}");
    store.holds(name, Some(b"the parts of a value"))?;
    let many: Vec<Bytes> = (0..3000u32).map(|i| Bytes::from(i.to_be_bytes().to_vec())).collect();
    let _ = block_on(store.storage.put_if(&key(name), &many, PutMode::Replace))?;
    store.holds(name, Some(&many.concat()))?;
    store.put(name, "short")?;
    store.holds(name, Some(b"short"))?;
    let _ = block_on(store.storage.put_if(&key(name), &[], PutMode::Replace))?;
    store.holds(name, Some(b""))?;
    block_on(store.storage.sync())?;
    replaced(store)
}

/// Two writers put values of many sizes, each of one repeated byte. Readers must see whole values.
fn replaced(store: &Subject) -> Check {
    let name = "a/replaced";
    let value = |round: u8, writer: u8| vec![round ^ writer; 1 + 331 * usize::from(round)];
    store.put(name, value(0, 0))?;
    let write = |writer: u8| {
        for round in 0..ROUNDS {
            store.put(name, value(round, writer))?;
            thread::yield_now();
        }
        Ok(())
    };
    stop_when_done(
        || {
            thread::scope(|scope| {
                let other = scope.spawn(|| write(0x80));
                write(0)?;
                other.join().map_err(|_| Fault("a writer panicked".to_owned()))?
            })
        },
        || whole(&store.value(name)?.ok_or_else(|| gone(name))?),
    )
}

/// Checks that this is one of the values of [`replaced`].
fn whole(value: &[u8]) -> Check {
    same(value)?;
    let round = value.first().map_or(0, |byte| usize::from(byte & 0x7F));
    let sizes = [round, round | 0x80].map(|round| 1 + 331 * round);
    ensure!(sizes.contains(&value.len()), "a part of a value: {}", Excerpt(value));
    Ok(())
}

fn same(bytes: &[u8]) -> Check {
    let alike = bytes.first().is_none_or(|first| bytes == vec![*first; bytes.len()]);
    ensure!(alike, "bytes of two values in one answer, the first of {}", Excerpt(bytes));
    Ok(())
}

fn gone(name: &str) -> Fault {
    Fault(format!("{name:?} was absent while it was replaced"))
}

/// Runs `write` once on another thread, and repeats `read` on this thread until `write` is done.
pub(super) fn stop_when_done(write: impl FnOnce() -> Check + Send, mut read: impl FnMut() -> Check) -> Check {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let result = write();
            done.store(true, Ordering::Release);
            result
        });
        let mut result = Ok(());
        while result.is_ok() && !done.load(Ordering::Acquire) && !writer.is_finished() {
            result = read();
        }
        result?;
        writer.join().map_err(|_| Fault("a writer panicked".to_owned()))??;
        read()
    })
}
