//! What a step costs: seconds on the clock, and CPU seconds of the programs that it started.

use std::time::Instant;

/// Measures from its creation.
#[derive(Debug)]
pub(crate) struct Meter {
    begun: Instant,
    cpu: Option<f64>,
}

/// The cost of a step, in seconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    pub(crate) wall: f64,
    /// CPU time of all programs that ended, with those that they started; `None` where the system does not tell.
    pub(crate) cpu: Option<f64>,
}

impl Meter {
    pub(crate) fn start() -> Self {
        Self { begun: Instant::now(), cpu: cpu() }
    }

    pub(crate) fn cost(&self) -> Cost {
        let cpu = cpu().zip(self.cpu).map(|(now, before)| now - before);
        Cost { wall: self.begun.elapsed().as_secs_f64(), cpu }
    }
}

impl Cost {
    /// Returns both, as columns of a table. A dash stands for what is not known.
    pub(crate) fn columns(self) -> String {
        let cpu = self.cpu.map_or_else(|| "-".to_owned(), |cpu| format!("{cpu:.1}"));
        format!("{:>8.1} {cpu:>8}", self.wall)
    }
}

#[cfg(unix)]
fn cpu() -> Option<f64> {
    use nix::sys::resource::{UsageWho, getrusage};
    use nix::sys::time::TimeValLike;

    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).ok()?;
    let milliseconds = usage.user_time().num_milliseconds() + usage.system_time().num_milliseconds();
    // Fifty days of milliseconds are far below the integers that a float holds exactly.
    u32::try_from(milliseconds).ok().map(|ms| f64::from(ms) / 1000.0)
}

#[cfg(not(unix))]
fn cpu() -> Option<f64> {
    None
}
