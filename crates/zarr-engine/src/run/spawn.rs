//! The threads that the scheduler asks for.

use std::fmt;

/// A thread pool, for example an adapter to rayon with `rayon::spawn_fifo(job)` and `rayon::current_num_threads()`.
///
/// Blocking calls may be made from a worker of the pool. The calling thread does all work that no other worker has started,
/// so the call ends even if no worker is ever free.
///
/// Async calls leave the work to the pool and need a free worker. They hang while every worker waits for them: in a
/// `block_on` of an async call (use the blocking call instead), or in a blocking write to a chunk whose lock an async
/// write holds.
pub trait Spawn: Send + Sync + fmt::Debug {
    /// Runs `job` on a worker, after earlier jobs. Must not run it on the calling thread.
    fn spawn(&self, job: Box<dyn FnOnce() + Send>);

    /// The number of workers.
    fn width(&self) -> usize;

    /// Whether jobs wait for a worker. If so, a long task lets them go first from time to time.
    fn is_busy(&self) -> bool {
        true
    }
}
