//! The short wait of a thread before it sleeps.

use std::thread;
use std::time::{Duration, Instant};

/// How long a thread looks for what it waits for. A thread that sleeps is woken by a system call, and starts to work so much
/// later that it misses most of a small read.
pub const LOOK: Duration = Duration::from_micros(50);

/// Waits until `is_there`, for [`LOOK`] at most. Returns whether it is.
pub fn look(is_there: impl Fn() -> bool) -> bool {
    let since = Instant::now();
    while !is_there() && since.elapsed() < LOOK {
        // Other threads of the machine go first.
        thread::yield_now();
    }
    is_there()
}
