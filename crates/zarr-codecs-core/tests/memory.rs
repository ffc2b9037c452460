//! Tests that measure all memory of the process, one at a time: what bombs take, and what a steady use allocates.
#![cfg(all(
    any(feature = "blosc", feature = "pure"),
    feature = "bytes",
    feature = "conditional",
    feature = "gzip",
    feature = "n5_default",
    feature = "transpose",
    any(feature = "pure", feature = "zstd")
))]
#![allow(clippy::unwrap_used, reason = "these are tests")]

#[path = "memory/bombs.rs"]
mod bombs;
#[path = "memory/steady.rs"]
mod steady;
#[path = "../src/testing.rs"]
mod testing;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Waits until no other test runs.
fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}
