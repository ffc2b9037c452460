//! The timer: wall clock, and user and system time of the process.

use std::time::Instant;

/// Returns the result of `work`, its seconds, and the seconds of all processors in it.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (T, f64, f64) {
    let (cpu, wall) = (cpu_seconds(), Instant::now());
    let result = work();
    let seconds = wall.elapsed().as_secs_f64();
    (result, seconds, cpu_seconds() - cpu)
}

fn cpu_seconds() -> f64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
}
